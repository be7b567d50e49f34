//! Rules about the members of an object: what may, must and must not be there.

macro_rules! member_families {
    ($rules:tt { $($families:tt)* } $next:ident $($after:ident)*) => { $next! { $rules { $($families)*

    "property-added-optional" PropertyAddedOptional,
        r#"{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}"#,
        input InputPropertyAddedOptional: Additive Low "an optional parameter was added",
        "Nobody who called the tool before sent this parameter, and nobody has to send it now, so every old call is accepted. \
         Agents see a new thing they can ask for and may start to use it on their own. That is why those who approved the \
         tool may care about it although callers do not: a parameter that takes a command, a token or an address widens what \
         the tool can be made to do.",
        "Accept it when the new parameter belongs to what the tool was approved for. Look twice at names and descriptions that \
         ask for secrets, commands or the text of the conversation.";
        output OutputPropertyAddedOptional: Additive Low "an optional member was added to results",
        "Results may carry a member that the old schema does not name. Where the old schema leaves results open, a client that \
         validates them with it still accepts them. Where it closes them with `additionalProperties: false`, such a client \
         refuses every result that has the new member, and the change is breaking with a witness.",
        "Nothing to do while results are open. If you publish closed result schemas, treat every new member as a breaking \
         change and bump the major version.";

    "property-added-required" PropertyAddedRequired,
        r#"{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string"}, "units": {"type": "string"}}, "required": ["city", "units"]}"#,
        input InputPropertyAddedRequired: Breaking Low "a required parameter was added",
        "Every call that worked yesterday lacks the new parameter, so every one of them is refused today. Agents that read the \
         tool list at the start of a session recover after an error or two; prompts, scripts, cached tool lists and pinned \
         workflows do not. The witness is simply an old minimal call. A new mandatory parameter is also a classic way to make \
         every call carry data that nobody agreed to send.",
        "Make the parameter optional and give the old behaviour as its default. If it must be required, bump the major version \
         and say in the tool's description what to send. Ask why a tool that worked without it cannot any more.";
        output OutputPropertyAddedRequired: Additive Low "results have a new member that is always there",
        "The server promises one member more than before. Readers who know the old schema ignore it where results are open, and \
         their validators refuse it where the old schema closes results: only then does this break, with a witness.",
        "Nothing to do while results are open. With closed result schemas, publish the member as a breaking change.";

    "property-removed" PropertyRemoved,
        r#"{"type": "object", "properties": {"city": {"type": "string"}, "units": {"type": "string"}}, "required": ["units"]}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": false}"#,
        input InputPropertyRemoved: Breaking None "a parameter was removed",
        "What happens to a caller who still sends the parameter depends on whether the new schema is open. A closed one refuses \
         the call, which is at least loud: the witness shows it. An open one accepts the call and the server drops the value \
         without a word, so a filter no longer filters and a limit no longer limits. That case is reported as risky, because no \
         call fails, and it is often the worse of the two.",
        "Keep the parameter as deprecated for a release, or reject it with a clear error. If it was renamed, keep the old name as \
         an alias. When it is gone for good, bump the major version.";
        output OutputPropertyRemoved: Breaking Medium "a member of results was removed",
        "Readers that were promised the member find nothing there. If it was required, a client that validates results with the \
         old schema refuses them, and the witness is such a result. If it was optional, readers had to cope without it already, \
         and the change is risky: agents that relied on it lose information they used to act on. A result that says less is \
         also harder to review.",
        "Keep returning the member, or announce its end a release ahead. If the information moved elsewhere in the result, \
         return it in both places for a while.";

    "property-became-required" PropertyBecameRequired,
        r#"{"type": "object", "properties": {"city": {"type": "string"}, "units": {"enum": ["metric", "imperial"]}}, "required": ["city"]}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string"}, "units": {"enum": ["metric", "imperial"]}}, "required": ["city", "units"]}"#,
        input InputPropertyBecameRequired: Breaking None "an optional parameter became required",
        "Callers were told that they may leave this parameter out, and many did: agents send what the schema asks for and little \
         more. Every such call is refused now. The witness is one of them, an object with the old required parameters and \
         nothing else, which the old schema accepts and the new one does not. Nothing in the tool's name or description has to \
         change for this to happen, so a reviewer who reads prose only will not see it. Over 290 pairs of \
         consecutive releases of published servers it was seen 81 times.",
        "If the server can still choose a value, keep the parameter optional and publish that value as its default. If it \
         cannot, bump the major version, and let the error name the parameter and its allowed values, so that an agent can \
         repair the call by itself. Check whether a generator did it: a type without `Optional` or without `.optional()` is \
         enough.";
        output OutputPropertyBecameRequired: Additive None "a member of results is always there now",
        "The server promises more than before: a member that could be missing is now in every result. Every new result satisfies \
         the old schema, so nobody who reads results can be hurt by it. Readers may drop the code that copes with its absence, \
         and from then on they depend on the promise.",
        "Accept it. Keep the promise afterwards: making the member optional again is a breaking change.";

    "property-became-optional" PropertyBecameOptional,
        r#"{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string"}}}"#,
        input InputPropertyBecameOptional: Additive None "a required parameter became optional",
        "Every old call sends the parameter, so every old call is accepted. New callers may leave it out, and what the server \
         does then is not in the schema unless there is a default. Agents tend to stop sending what is not asked for, so the \
         tool will in practice be called without it more and more.",
        "Accept it, and see that a default or the description says what happens when the parameter is missing.";
        output OutputPropertyBecameOptional: Breaking None "a promised member of results may be missing now",
        "Readers were told that the member is always there and read it without looking. Now a result may come without it. A \
         client that validates results with the old schema refuses such a result, and the witness is one; a client that does \
         not validate fails a little later, with an error about something undefined.",
        "Keep the member in every result, with an explicit null if need be and if the schema allows it. Otherwise bump the \
         major version.";

    "property-renamed" PropertyRenamed,
        r#"{"type": "object", "properties": {"file_path": {"type": "string", "description": "Path of the file to read"}}, "required": ["file_path"]}"# =>
        r#"{"type": "object", "properties": {"filePath": {"type": "string", "description": "Path of the file to read"}}, "required": ["filePath"]}"#,
        input InputPropertyRenamed: Breaking Low "a parameter has another name",
        "A parameter vanished and another appeared with the same schema and a like name or text: most likely it is the same one. \
         Renames come with a new naming style, a new framework or a tidy-up, and they feel harmless to those who make them. \
         To a caller they are a removal and an addition at once. If the new name is required or the object is closed, the old \
         call is refused, and the witness uses the old name; if not, the value is silently ignored, which is reported as risky.",
        "Accept both names for at least one release and prefer the new one. If only the style changed, leave the old names: \
         agents do not care about camel case, and callers do.";
        output OutputPropertyRenamed: Breaking Low "a member of results has another name",
        "A member vanished from results and another with the same schema and a like name appeared. Readers of the old name find \
         nothing. If the old name was promised, a validating client refuses the result; otherwise readers see less than before \
         without being told.",
        "Return the value under both names for at least one release.";

    "additional-properties-closed" AdditionalPropertiesClosed,
        r#"{"type": "object", "properties": {"city": {"type": "string"}}}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": false}"#,
        input InputAdditionalPropertiesClosed: Cosmetic None "members that the schema does not name are refused now",
        "Callers send what a schema declares, and everything declared is still accepted, so no declared call breaks and the \
         change is cosmetic by itself. Most of the time it is not even a decision: another version of the schema generator \
         closes objects by default, on all tools at once. Two groups do notice. A model that invents parameters gets an error \
         where it used to be indulged, and whoever still sends a parameter that was removed is refused; that second case is \
         reported with the removal, with its witness. An object that declares no members is a free-form map, and closing that \
         is breaking.",
        "Accept it, once for all tools. Strict model providers ask for closed objects, so it is usually a good sign. Do not \
         close an object in the same release in which you remove parameters from it.";
        output OutputAdditionalPropertiesClosed: Cosmetic None "results are closed now",
        "The server promises to return nothing but the members it declares. Every new result satisfies the old schema, which \
         was open. The promise has a price that falls due later: from now on every new member of results is a breaking change \
         for clients that validate.",
        "Leave results open unless you have a reason: open results can grow. If you close them, mean it.";

    "additional-properties-opened" AdditionalPropertiesOpened,
        r#"{"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": false}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string"}}}"#,
        input InputAdditionalPropertiesOpened: Additive Medium "members that the schema does not name are accepted now",
        "Every old call is still accepted. What changed is what else is: the server now takes members that nobody declared, and \
         no reviewer can tell from the contract what it does with them. Misspelt parameters, which a closed object refused \
         loudly, are now ignored in silence. For those who approved the tool the door is wider than it was.",
        "Accept it if the generator changed and nothing else. If a tool forwards unknown members to another system, say so in \
         its description, or close the object again.";
        output OutputAdditionalPropertiesOpened: Risky Medium "results may carry members that the schema does not name",
        "The old schema promised that results have no other members than the declared ones, and clients that validate rely on \
         it. The new one no longer says so. As long as the server returns what it declares nothing changes, and whether it will \
         cannot be read from a schema, so this is risky and the proof is undecided.",
        "Keep the result closed if clients validate it, or announce that results may grow.";

    "property-names-changed" PropertyNamesChanged,
        r#"{"type": "object", "properties": {"labels": {"type": "object", "additionalProperties": {"type": "string"}}}}"# =>
        r#"{"type": "object", "properties": {"labels": {"type": "object", "additionalProperties": {"type": "string"}, "propertyNames": {"pattern": "^[a-z]+$"}}}}"#,
        input InputPropertyNamesChanged: Breaking None "the rule for names of members changed",
        "`propertyNames` says which keys a free-form map may have. A tighter rule refuses maps that were fine: labels with a \
         capital letter, headers with a dash. The witness is a map with such a key. A looser rule takes nothing from anybody.",
        "Normalise keys in the server instead of refusing them, or announce the rule before it is enforced.";
        output OutputPropertyNamesChanged: Additive None "the rule for names of members changed",
        "For results the direction turns around: a tighter rule for keys is a stronger promise and harmless, a looser one lets \
         keys through that the old schema refuses, and then it is breaking with a witness.",
        "Keep the promise you made about keys, or bump the major version when you give it up.";

    "pattern-properties-changed" PatternPropertiesChanged,
        r#"{"type": "object", "properties": {"env": {"type": "object", "patternProperties": {"^X_": {"type": "string"}}}}}"# =>
        r#"{"type": "object", "properties": {"env": {"type": "object", "patternProperties": {"^X_": {"type": "integer"}}}}}"#,
        input InputPatternPropertiesChanged: Breaking None "the members by pattern changed",
        "`patternProperties` gives a schema to all members whose names match. When that schema, or the pattern, gets tighter, \
         maps that were accepted are refused. The witness is a map with one member that matches the pattern and has a value of \
         the old kind.",
        "Accept the old kind of value beside the new one for a release.";
        output OutputPatternPropertiesChanged: Breaking None "the members by pattern changed",
        "Results may now carry, under a matching name, a value that the old schema refuses. A reader who parsed these values the \
         old way fails on the new ones; the witness is such a result.",
        "Use a new pattern for the new kind of value and keep the old one as it was.";

    "dependency-changed" DependencyChanged,
        r#"{"type": "object", "properties": {"user": {"type": "string"}, "domain": {"type": "string"}}}"# =>
        r#"{"type": "object", "properties": {"user": {"type": "string"}, "domain": {"type": "string"}}, "dependentRequired": {"user": ["domain"]}}"#,
        input InputDependencyChanged: Breaking None "what depends on the presence of a parameter changed",
        "A parameter may be sent only together with another now. Calls that sent it alone are refused, and the witness is one of \
         them. Agents find such rules hard to see: they stand apart from the parameters, and no property mentions them.",
        "Say the rule in the descriptions of both parameters. Better still, derive the missing one from the one that is there.";
        output OutputDependencyChanged: Additive None "what depends on the presence of a member changed",
        "Results are bound by a further rule: when one member is there, so is another. That is a stronger promise and hurts no \
         reader. Dropping such a rule is the dangerous direction, because readers may have relied on the pair.",
        "Accept a new rule; think twice before dropping an old one.";

    // Results have no defaults that a reader fills in, so this one has no mirror image.
    "property-required-with-default" PropertyRequiredWithDefault,
        r#"{"type": "object", "properties": {"city": {"type": "string"}, "units": {"type": "string", "default": "metric"}}, "required": ["city"]}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string"}, "units": {"type": "string", "default": "metric"}}, "required": ["city", "units"]}"#,
        input InputPropertyRequiredWithDefault: Breaking None "a parameter with a default is listed as required",
        "By the letter of the schema a call without the parameter is refused, default or not: validators do not fill in defaults. \
         In practice some generators list every parameter that has a default as required, while the server fills it in and \
         accepts the call. So a caller who applies defaults before sending does not notice, a strict client refuses to send \
         the call, and a lenient one is served as before. It is called breaking because the schema is the contract, and the \
         witness shows the call.",
        "Take the parameter out of `required`; a default and a requirement contradict each other. In zod, put `.default()` \
         on the input type and generate the schema for input; in pydantic, use the validation mode.";
        otherwise PropertyBecameRequired;

    } $($after)* } };
}
pub(in crate::rules) use member_families;
