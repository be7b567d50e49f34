//! Rules about which values of a kind are possible.

macro_rules! value_families {
    ($rules:tt { $($families:tt)* } $next:ident $($after:ident)*) => { $next! { $rules { $($families)*

    "enum-value-removed" EnumValueRemoved,
        r#"{"type": "object", "properties": {"units": {"enum": ["metric", "imperial", "kelvin"]}}}"# =>
        r#"{"type": "object", "properties": {"units": {"enum": ["metric", "imperial"]}}}"#,
        input InputEnumValueRemoved: Breaking None "a value that a parameter took is refused now",
        "The schema offered the value by name, so callers used it by name: in prompts, in saved calls, in code generated from the \
         schema. Every such call is refused, and the witness is one with the lost value. A parameter that was free and now has \
         a list is the same change in a stronger form.",
        "Keep accepting the value and map it to what replaced it. If it must go, mark it in the description a release ahead.";
        output OutputEnumValueRemoved: Additive None "a value can no longer occur in results",
        "The list of possible values is shorter. Every value that is left was possible before, so readers who handle the old list \
         handle the new one.",
        "Accept it.";

    "enum-value-added" EnumValueAdded,
        r#"{"type": "object", "properties": {"units": {"enum": ["metric", "imperial"]}}}"# =>
        r#"{"type": "object", "properties": {"units": {"enum": ["metric", "imperial", "kelvin"]}}}"#,
        input InputEnumValueAdded: Additive Low "a parameter takes a further value",
        "Every old value is still accepted. The new one is an additional thing that the tool can be told to do, and agents will \
         use it as soon as they see it. A new value of a parameter called `action` can be a new capability, which is why the \
         change has an exposure although no caller is hurt.",
        "Read the new value as you would read a new tool: a further unit is nothing, a further `delete` is something.";
        output OutputEnumValueAdded: Breaking Low "results may contain a value they never contained",
        "Readers were given a list and wrote code for it. The new value falls through their switch, and clients that validate \
         refuse the result; the witness is one. Adding a value is safe for what comes in and unsafe for what goes out.",
        "Return the new value only where it was asked for, or declare the member as free text from the start if the list is \
         going to grow.";

    "const-changed" ConstChanged,
        r#"{"type": "object", "properties": {"mode": {"const": "fast"}}, "required": ["mode"]}"# =>
        r#"{"type": "object", "properties": {"mode": {"const": "quick"}}, "required": ["mode"]}"#,
        input InputConstChanged: Breaking None "a parameter must have another fixed value",
        "The parameter had one possible value, and it has another now: every call that sends it is refused. Constants serve as \
         tags of unions and as versions of a protocol, so this is usually a rename or a new version. The witness sends the \
         old value.",
        "Accept the old value beside the new one.";
        output OutputConstChanged: Breaking None "a member of results has another fixed value",
        "Readers compare the member with the value they were promised, often to find out what kind of result they have. They do \
         not recognise the new value, and validating clients refuse it; the witness is such a result.",
        "Keep the value, or introduce the new kind of result beside the old one.";

    "bound-tightened" BoundTightened,
        r#"{"type": "object", "properties": {"limit": {"type": "integer", "maximum": 100}}}"# =>
        r#"{"type": "object", "properties": {"limit": {"type": "integer", "maximum": 50}}}"#,
        input InputBoundTightened: Breaking None "a limit on a parameter got tighter",
        "Numbers, lengths or counts that were inside the limits are outside now. Callers who worked near the old limit are \
         refused, and the witness is the first value beyond the new one. Limits that appear where none were are the same \
         change: a text that may suddenly have 100 characters at most refuses long ones.",
        "Clamp the value in the server instead of refusing the call, where that is safe. Announce limits before you enforce \
         them.";
        output OutputBoundTightened: Additive None "a limit on results got tighter",
        "Results stay within narrower limits than promised. Every new result satisfies the old schema.",
        "Accept it.";

    "bound-loosened" BoundLoosened,
        r#"{"type": "object", "properties": {"limit": {"type": "integer", "maximum": 50}}}"# =>
        r#"{"type": "object", "properties": {"limit": {"type": "integer", "maximum": 100}}}"#,
        input InputBoundLoosened: Additive Low "a limit on a parameter got looser",
        "Everything that was inside the limits still is. The tool can be asked for more than before: longer texts, larger pages, \
         bigger numbers. That is more convenience for callers and more load and reach for whoever runs it.",
        "Accept it, unless the limit was a safeguard: a maximum for an amount of money or a number of deletions deserves a \
         question.";
        output OutputBoundLoosened: Breaking Low "results may exceed a promised limit",
        "Readers sized buffers, columns and loops by the old limit. Results beyond it are possible now, and validating clients \
         refuse them; the witness is the first value beyond the old limit.",
        "Keep the promise, or bump the major version.";

    "pattern-added" PatternAdded,
        r#"{"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}"# =>
        r#"{"type": "object", "properties": {"key": {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"}}, "required": ["key"]}"#,
        input InputPatternAdded: Breaking None "a parameter must match a pattern now",
        "Texts that do not match are refused before the server looks at them. The witness is a text that was fine. Often the \
         server always refused such texts, with a better message, and the pattern only says so earlier; the schema cannot \
         tell us, and a caller who sent something unusual that worked is turned away.",
        "Check the pattern against what callers really send, letters in other scripts and lower case included, before you \
         publish it.";
        output OutputPatternAdded: Additive None "a member of results matches a pattern now",
        "The server promises more about the text than before. Every new result satisfies the old schema.",
        "Accept it, and keep the promise.";

    "pattern-removed" PatternRemoved,
        r#"{"type": "object", "properties": {"key": {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"}}, "required": ["key"]}"# =>
        r#"{"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}"#,
        input InputPatternRemoved: Additive None "a parameter no longer has to match a pattern",
        "Every text that matched is still accepted, and others are accepted beside them. A pattern is also a fence: one that kept \
         slashes out of a file name or spaces out of a command is worth asking about when it goes.",
        "Accept it if the server checks the text itself.";
        output OutputPatternRemoved: Breaking None "a member of results need not match its pattern any more",
        "Readers took the text apart by the pattern they were promised. Texts of another shape are possible now, and validating \
         clients refuse them; the witness is one.",
        "Keep the pattern for what it describes and return other texts under another name.";

    "pattern-changed" PatternChanged,
        r#"{"type": "object", "properties": {"key": {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"}}, "required": ["key"]}"# =>
        r#"{"type": "object", "properties": {"key": {"type": "string", "pattern": "^[a-z]+-[0-9]+$"}}, "required": ["key"]}"#,
        input InputPatternChanged: Breaking None "the pattern of a parameter changed",
        "Two patterns are compared as sets of texts. If every text that matched the old one matches the new one, nothing is lost \
         and the change is additive. If not, the witness contains a text that only the old one takes. Patterns with look-around \
         or references to groups cannot be compared, and then the answer is undecided and the level risky.",
        "Write the new pattern as a superset of the old one. Test it with the values in your own documentation.";
        output OutputPatternChanged: Breaking None "the pattern of a member of results changed",
        "If every text of the new pattern matches the old one, readers lose nothing. If not, results may contain texts that the \
         old pattern refuses, and the witness has one.",
        "Narrow patterns of results freely; do not widen them.";

    "format-added" FormatAdded,
        r#"{"type": "object", "properties": {"site": {"type": "string"}}, "required": ["site"]}"# =>
        r#"{"type": "object", "properties": {"site": {"type": "string", "format": "uri"}}, "required": ["site"]}"#,
        input InputFormatAdded: Risky None "a parameter has a format now",
        "In the current drafts `format` is an annotation: a validator need not check it, and most do not unless told to. Servers \
         that generate their schema from zod or pydantic do check it. So whether a text that is no such thing is refused cannot \
         be read from the schema. We say so: the level is risky and the proof undecided, never a witness that half of the \
         validators would not confirm.",
        "If the server checks the format, treat the change as breaking and say so in the release notes. If it does not, drop \
         the keyword or explain the expected form in the description.";
        output OutputFormatAdded: Additive None "a member of results has a format now",
        "The server says more about the text than before. Every new result satisfies the old schema.",
        "Accept it, and see that the values really have the format.";

    "format-removed" FormatRemoved,
        r#"{"type": "object", "properties": {"site": {"type": "string", "format": "uri"}}, "required": ["site"]}"# =>
        r#"{"type": "object", "properties": {"site": {"type": "string"}}, "required": ["site"]}"#,
        input InputFormatRemoved: Additive None "a parameter no longer has a format",
        "Every text that had the format is still accepted. Agents lose a hint about what to send, and may send something else: a \
         name where an address was expected.",
        "Say the expected form in the description if it still matters.";
        output OutputFormatRemoved: Risky None "a member of results no longer has a format",
        "Readers parse the text by its format: as a date, as an address. The schema no longer says that they can. Whether other \
         texts will come back cannot be read from it, and many validators never checked, so the level is risky and the proof \
         undecided.",
        "Keep the format as long as the values have it.";

    "format-changed" FormatChanged,
        r#"{"type": "object", "properties": {"when": {"type": "string", "format": "date"}}, "required": ["when"]}"# =>
        r#"{"type": "object", "properties": {"when": {"type": "string", "format": "date-time"}}, "required": ["when"]}"#,
        input InputFormatChanged: Risky None "a parameter has another format",
        "Texts of the old format are not texts of the new one: a date is not a date with a time. A server that checks formats \
         refuses old calls, one that does not accepts them and may misread them. The schema does not tell which, so the level \
         is risky and the proof undecided.",
        "Accept both forms in the server. They are easy to tell apart.";
        output OutputFormatChanged: Risky None "a member of results has another format",
        "Readers parse the text by the old format and meet another. Whether validators notice depends on whether they check \
         formats at all; parsers will notice.",
        "Return the new form under a new name.";

    "content-changed" ContentChanged,
        r#"{"type": "object", "properties": {"data": {"type": "string", "contentEncoding": "base64"}}}"# =>
        r#"{"type": "object", "properties": {"data": {"type": "string", "contentEncoding": "base32"}}}"#,
        input InputContentChanged: Risky None "the encoding or media type of a text changed",
        "`contentEncoding` and `contentMediaType` say what is inside a text. Validators of the current drafts do not look, so every \
         old call is accepted by the schema, and then the server decodes it as something it is not. The failure comes later and \
         its message is worse.",
        "Accept both encodings, or use a new parameter for the new one.";
        output OutputContentChanged: Risky None "the encoding or media type of a text in results changed",
        "Readers decode the text by what they were told. No validator complains, and the decoded data is garbage.",
        "Return the new encoding under a new name and keep the old one for a release.";

    "items-changed" ItemsChanged,
        r#"{"type": "object", "properties": {"point": {"type": "array"}}, "required": ["point"]}"# =>
        r#"{"type": "object", "properties": {"point": {"type": "array", "uniqueItems": true}}, "required": ["point"]}"#,
        input InputItemsChanged: Breaking None "what a list may contain changed",
        "Lists that were accepted may be refused: because items have a schema where they had none, because they have to differ \
         from each other, because the positions of a tuple mean something else. The witness is such a list. Changes inside the \
         schema of the items are reported one by one, at their own place.",
        "Be lenient with lists: drop duplicates and ignore what is not understood, rather than refusing the whole call.";
        output OutputItemsChanged: Additive None "what a list in results may contain changed",
        "A tighter rule for the items of a result is a stronger promise and hurts nobody. A looser one lets items through that \
         readers do not expect, and then it is breaking with a witness.",
        "Keep promises about the items of lists, or bump the major version.";

    } $($after)* } };
}
pub(in crate::rules) use value_families;
