//! Rules about which values of a type are possible.

macro_rules! value_families {
    ($rules:tt { $($families:tt)* } $next:ident $($after:ident)*) => { $next! { $rules { $($families)*

    "enum-value-removed" EnumValueRemoved,
        r#"{"type": "object", "properties": {"units": {"enum": ["metric", "imperial", "kelvin"]}}}"# =>
        r#"{"type": "object", "properties": {"units": {"enum": ["metric", "imperial"]}}}"#,
        input InputEnumValueRemoved: Breaking None "an enum value of a parameter was removed",
        "Prompts, saved calls and generated code use the value by name. Every such call is rejected; the witness is \
         one. An `enum` on a parameter that had none is the same change.",
        "Keep accepting the value, mapped to its replacement. If it must go, announce it in the description first.";
        output OutputEnumValueRemoved: Additive None "an enum value of a result member was removed",
        "Every remaining value was possible before.",
        "Accept it.";

    "enum-value-added" EnumValueAdded,
        r#"{"type": "object", "properties": {"units": {"enum": ["metric", "imperial"]}}}"# =>
        r#"{"type": "object", "properties": {"units": {"enum": ["metric", "imperial", "kelvin"]}}}"#,
        input InputEnumValueAdded: Additive Low "an enum value of a parameter was added",
        "Every old value is still accepted. A new value of a parameter like `action` can be a new capability, and \
         models will use it.",
        "Review the value like a new tool: another unit is harmless, a `delete` is not.";
        output OutputEnumValueAdded: Breaking Low "an enum value of a result member was added",
        "Readers have no code for the new value, and clients that validate reject it; the witness has it. A new \
         value is safe in arguments and unsafe in results.",
        "Return the new value only if asked for it. A list that will grow should be a plain string.";

    "const-changed" ConstChanged,
        r#"{"type": "object", "properties": {"mode": {"const": "fast"}}, "required": ["mode"]}"# =>
        r#"{"type": "object", "properties": {"mode": {"const": "quick"}}, "required": ["mode"]}"#,
        input InputConstChanged: Breaking None "`const` of a parameter changed",
        "Every call that sends the old value is rejected; the witness is one. Constants often tag a union or a \
         version, so this is usually a rename.",
        "Accept the old value as well.";
        output OutputConstChanged: Breaking None "`const` of a result member changed",
        "Readers compare the member with the promised value, often to tell kinds of results apart. Clients that \
         validate reject the new value; the witness has it.",
        "Keep the value, or add the new kind of result beside the old one.";

    "bound-tightened" BoundTightened,
        r#"{"type": "object", "properties": {"limit": {"type": "integer", "maximum": 100}}}"# =>
        r#"{"type": "object", "properties": {"limit": {"type": "integer", "maximum": 50}}}"#,
        input InputBoundTightened: Breaking None "a limit on a parameter was tightened",
        "Numbers, lengths or counts that were allowed are rejected now. The witness is the first value beyond the \
         new limit. A new limit where there was none is the same change.",
        "Clamp the value in the server if that is safe. Announce limits before enforcing them.";
        output OutputBoundTightened: Additive None "a limit on results was tightened",
        "Every new result satisfies the old schema.",
        "Accept it.";

    "bound-loosened" BoundLoosened,
        r#"{"type": "object", "properties": {"limit": {"type": "integer", "maximum": 50}}}"# =>
        r#"{"type": "object", "properties": {"limit": {"type": "integer", "maximum": 100}}}"#,
        input InputBoundLoosened: Additive Low "a limit on a parameter was loosened",
        "Every old value is still accepted. The tool can be asked for more: longer texts, larger pages, bigger \
         numbers.",
        "Accept it, unless the limit was a safeguard, such as a maximum amount of money or number of deletions.";
        output OutputBoundLoosened: Breaking Low "a limit on results was loosened",
        "Readers sized columns and buffers by the old limit, and clients that validate reject what exceeds it; the \
         witness does.",
        "Keep the limit, or bump the major version.";

    "pattern-added" PatternAdded,
        r#"{"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}"# =>
        r#"{"type": "object", "properties": {"key": {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"}}, "required": ["key"]}"#,
        input InputPatternAdded: Breaking None "a parameter now has a `pattern`",
        "Strings that do not match are rejected; the witness is one that was accepted. The server may always have \
         rejected it, but the schema did not say so.",
        "Test the pattern with real values, including other scripts and lower case.";
        output OutputPatternAdded: Additive None "a result member now has a `pattern`",
        "The server promises more. Every new result satisfies the old schema.",
        "Accept it, and keep the promise.";

    "pattern-removed" PatternRemoved,
        r#"{"type": "object", "properties": {"key": {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"}}, "required": ["key"]}"# =>
        r#"{"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}"#,
        input InputPatternRemoved: Additive None "a parameter no longer has a `pattern`",
        "Every old value is still accepted. A pattern can be a safeguard, such as one that kept slashes out of a \
         file name.",
        "Accept it if the server checks the text itself.";
        output OutputPatternRemoved: Breaking None "a result member no longer has a `pattern`",
        "Readers parse the text by its pattern. Other texts are possible now, and clients that validate reject them; \
         the witness has one.",
        "Keep the pattern, and return other texts under another name.";

    "pattern-changed" PatternChanged,
        r#"{"type": "object", "properties": {"key": {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"}}, "required": ["key"]}"# =>
        r#"{"type": "object", "properties": {"key": {"type": "string", "pattern": "^[a-z]+-[0-9]+$"}}, "required": ["key"]}"#,
        input InputPatternChanged: Breaking None "`pattern` of a parameter changed",
        "If every string that matched still matches, the change is additive. Otherwise the witness contains a string \
         that only the old pattern accepts. Patterns with lookaround or backreferences cannot be compared: \
         undecided and risky.",
        "Make the new pattern a superset of the old one.";
        output OutputPatternChanged: Breaking None "`pattern` of a result member changed",
        "If every string of the new pattern matches the old one, nothing is lost. Otherwise the witness has one that \
         the old pattern rejects.",
        "Narrow the patterns of results; do not widen them.";

    "format-added" FormatAdded,
        r#"{"type": "object", "properties": {"site": {"type": "string"}}, "required": ["site"]}"# =>
        r#"{"type": "object", "properties": {"site": {"type": "string", "format": "uri"}}, "required": ["site"]}"#,
        input InputFormatAdded: Risky None "a parameter now has a `format`",
        "In current drafts `format` is an annotation that most validators do not check, but servers built on zod or \
         pydantic do. The schema does not tell, so the level is risky and the proof undecided.",
        "If the server checks the format, treat it as breaking. If not, drop the keyword or describe the form.";
        output OutputFormatAdded: Additive None "a result member now has a `format`",
        "The server promises more. Every new result satisfies the old schema.",
        "Accept it, and check that the values have the format.";

    "format-removed" FormatRemoved,
        r#"{"type": "object", "properties": {"site": {"type": "string", "format": "uri"}}, "required": ["site"]}"# =>
        r#"{"type": "object", "properties": {"site": {"type": "string"}}, "required": ["site"]}"#,
        input InputFormatRemoved: Additive None "a parameter no longer has a `format`",
        "Every old value is still accepted. Models lose a hint about what to send.",
        "Describe the expected form if it still matters.";
        output OutputFormatRemoved: Risky None "a result member no longer has a `format`",
        "Readers parse the text by its format, and the schema no longer promises it. Whether other texts will be \
         returned is unknown, so this is risky and undecided.",
        "Keep the format while the values have it.";

    "format-changed" FormatChanged,
        r#"{"type": "object", "properties": {"when": {"type": "string", "format": "date"}}, "required": ["when"]}"# =>
        r#"{"type": "object", "properties": {"when": {"type": "string", "format": "date-time"}}, "required": ["when"]}"#,
        input InputFormatChanged: Risky None "`format` of a parameter changed",
        "A server that checks formats rejects old calls; one that does not may misread them. The schema does not \
         tell which, so the level is risky and the proof undecided.",
        "Accept both forms in the server.";
        output OutputFormatChanged: Risky None "`format` of a result member changed",
        "Readers parse the text by the old format. Validators may not notice; parsers will.",
        "Return the new form under a new name.";

    "content-changed" ContentChanged,
        r#"{"type": "object", "properties": {"data": {"type": "string", "contentEncoding": "base64"}}}"# =>
        r#"{"type": "object", "properties": {"data": {"type": "string", "contentEncoding": "base32"}}}"#,
        input InputContentChanged: Risky None "`contentEncoding` or `contentMediaType` of a parameter changed",
        "Validators ignore these keywords, so every old call is accepted, and then decoded as something else.",
        "Accept both encodings, or use a new parameter for the new one.";
        output OutputContentChanged: Risky None "`contentEncoding` or `contentMediaType` of a result member changed",
        "No validator notices, but readers decode the text as something else.",
        "Return the new encoding under a new name, and keep the old one for a release.";

    "items-changed" ItemsChanged,
        r#"{"type": "object", "properties": {"point": {"type": "array"}}, "required": ["point"]}"# =>
        r#"{"type": "object", "properties": {"point": {"type": "array", "uniqueItems": true}}, "required": ["point"]}"#,
        input InputItemsChanged: Breaking None "what an array may contain changed",
        "Arrays that were accepted may be rejected: items have a schema now, must be unique, or a tuple's positions \
         changed. The witness is such an array. Changes inside the items' schema are reported separately.",
        "Be lenient: drop duplicates and ignore unknown items instead of rejecting the call.";
        output OutputItemsChanged: Additive None "what an array in results may contain changed",
        "A tighter rule is a stronger promise. A looser one allows unexpected items and is breaking with a witness.",
        "Keep promises about items, or bump the major version.";

    } $($after)* } };
}
pub(in crate::rules) use value_families;
