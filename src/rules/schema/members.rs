//! Rules about the members of an object: optional, required and forbidden ones.

macro_rules! member_families {
    ($rules:tt { $($families:tt)* } $next:ident $($after:ident)*) => { $next! { $rules { $($families)*

    "property-added-optional" PropertyAddedOptional,
        r#"{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}"#,
        input InputPropertyAddedOptional: Additive Low "an optional parameter was added",
        "Every old call is still accepted. Models see a new option and may use it: a parameter for a command, token \
         or URL widens what the tool can do.",
        "Accept it if it fits what the tool was approved for. Look closely at parameters for secrets, commands or \
         the conversation.";
        output OutputPropertyAddedOptional: Additive Low "an optional member was added to results",
        "If the old schema is open, clients that validate still accept results. If it is closed \
         (`additionalProperties: false`), they reject the new member, and the change is breaking with a witness.",
        "Nothing to do while results are open. Otherwise bump the major version.";

    "property-added-required" PropertyAddedRequired,
        r#"{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string"}, "units": {"type": "string"}}, "required": ["city", "units"]}"#,
        input InputPropertyAddedRequired: Breaking Low "a required parameter was added",
        "Every old call is rejected; the witness is one. Agents that read the tool list again recover, but prompts, \
         scripts and cached lists do not. It is also a way to make every call carry data that no one agreed to \
         send.",
        "Make it optional with the old behaviour as its default. Otherwise bump the major version and describe what \
         to send.";
        output OutputPropertyAddedRequired: Additive Low "a required member was added to results",
        "Readers ignore it if the old schema is open. If it is closed, clients that validate reject it, and the \
         change is breaking with a witness.",
        "Nothing to do while results are open. Otherwise bump the major version.";

    "property-removed" PropertyRemoved,
        r#"{"type": "object", "properties": {"city": {"type": "string"}, "units": {"type": "string"}}, "required": ["units"]}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": false}"#,
        input InputPropertyRemoved: Breaking None "a parameter was removed",
        "A closed schema rejects calls that still send it; the witness is one. An open schema accepts them and the \
         server silently ignores the value: a filter no longer filters. That is reported as risky and is often \
         worse.",
        "Keep the parameter as deprecated for a release, or as an alias if it was renamed. Then bump the major \
         version.";
        output OutputPropertyRemoved: Breaking Medium "a member was removed from results",
        "If it was required, clients that validate reject results without it; the witness is one. If it was optional \
         the change is risky: readers lose information, and results are harder to review.",
        "Keep returning it, or announce its end a release ahead. If it moved, return it in both places for a while.";

    "property-became-required" PropertyBecameRequired,
        r#"{"type": "object", "properties": {"city": {"type": "string"}, "units": {"enum": ["metric", "imperial"]}}, "required": ["city"]}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string"}, "units": {"enum": ["metric", "imperial"]}}, "required": ["city", "units"]}"#,
        input InputPropertyBecameRequired: Breaking None "an optional parameter became required",
        "Calls without the parameter are rejected; the witness is one. Neither the name nor the description has to \
         change for this, so a reviewer of prose will miss it.",
        "Keep it optional with a default, or bump the major version and name the parameter in the error. Check the \
         generator: a type without `Optional` or `.optional()` is enough.";
        output OutputPropertyBecameRequired: Additive None "an optional result member became required",
        "Every new result satisfies the old schema.",
        "Accept it. Making the member optional again is breaking.";

    "property-became-optional" PropertyBecameOptional,
        r#"{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string"}}}"#,
        input InputPropertyBecameOptional: Additive None "a required parameter became optional",
        "Every old call is still accepted. Models tend to stop sending what is not required, and without a `default` \
         the schema does not say what happens then.",
        "Accept it, and document what happens without the parameter.";
        output OutputPropertyBecameOptional: Breaking None "a required result member became optional",
        "Readers rely on the member. Clients that validate reject results without it, and the witness is one; others \
         fail when they use it.",
        "Return the member in every result, or bump the major version.";

    "property-renamed" PropertyRenamed,
        r#"{"type": "object", "properties": {"file_path": {"type": "string", "description": "Path of the file to read"}}, "required": ["file_path"]}"# =>
        r#"{"type": "object", "properties": {"filePath": {"type": "string", "description": "Path of the file to read"}}, "required": ["filePath"]}"#,
        input InputPropertyRenamed: Breaking Low "a parameter was renamed",
        "A parameter is gone, and a new one has the same schema and the same description or spelling. If the new name is required or \
         the object is closed, old calls are rejected and the witness uses the old name; otherwise the value is \
         silently ignored, which is risky.",
        "Accept both names for at least a release. If only the naming style changed, keep the old names.";
        output OutputPropertyRenamed: Breaking Low "a result member was renamed",
        "A member is gone, and a new one has the same schema and the same description or spelling. If the old one was required, clients \
         that validate reject the result; otherwise readers silently lose it.",
        "Return the value under both names for at least a release.";

    "additional-properties-closed" AdditionalPropertiesClosed,
        r#"{"type": "object", "properties": {"city": {"type": "string"}}}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": false}"#,
        input InputAdditionalPropertiesClosed: Risky None "`additionalProperties` is now `false`",
        "Every declared call is still accepted, but members that the schema does not name are rejected. Usually a new version of the schema generator closes all objects at \
         once. A model that invents parameters now gets an error. Closing an object without declared properties, a \
         free-form map, is breaking.",
        "Accept it once for all tools: strict providers require closed objects. Do not close an object in the \
         release that removes parameters from it.";
        output OutputAdditionalPropertiesClosed: Cosmetic None "`additionalProperties` of results is now `false`",
        "Every new result satisfies the old schema. From now on, each new member breaks clients that validate.",
        "Leave results open unless you have a reason to close them.";

    "additional-properties-opened" AdditionalPropertiesOpened,
        r#"{"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": false}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string"}}}"#,
        input InputAdditionalPropertiesOpened: Additive Medium "`additionalProperties` is no longer `false`",
        "Every old call is still accepted, but so are undeclared members, and the contract does not say what the \
         server does with them. Misspelt parameters are now ignored instead of rejected.",
        "Accept it if only the generator changed. If the tool forwards unknown members, say so in its description, \
         or close the object again.";
        output OutputAdditionalPropertiesOpened: Risky Medium "`additionalProperties` of results is no longer \
         `false`",
        "The old schema ruled out undeclared members, and clients that validate rely on it. Whether the server will \
         return any cannot be read from the schema, so this is risky and undecided.",
        "Keep results closed if clients validate them, or announce that they may grow.";

    "property-names-changed" PropertyNamesChanged,
        r#"{"type": "object", "properties": {"labels": {"type": "object", "additionalProperties": {"type": "string"}}}}"# =>
        r#"{"type": "object", "properties": {"labels": {"type": "object", "additionalProperties": {"type": "string"}, "propertyNames": {"pattern": "^[a-z]+$"}}}}"#,
        input InputPropertyNamesChanged: Breaking None "`propertyNames` of a parameter changed",
        "A tighter rule rejects maps that were accepted, such as labels with a capital letter; the witness is one. A \
         looser rule breaks no call.",
        "Normalise keys in the server instead of rejecting them.";
        output OutputPropertyNamesChanged: Additive None "`propertyNames` of results changed",
        "A tighter rule is a stronger promise. A looser one allows keys that the old schema rejects and is breaking \
         with a witness.",
        "Keep the promise, or bump the major version.";

    "pattern-properties-changed" PatternPropertiesChanged,
        r#"{"type": "object", "properties": {"env": {"type": "object", "patternProperties": {"^X_": {"type": "string"}}}}}"# =>
        r#"{"type": "object", "properties": {"env": {"type": "object", "patternProperties": {"^X_": {"type": "integer"}}}}}"#,
        input InputPatternPropertiesChanged: Breaking None "`patternProperties` of a parameter changed",
        "A tighter pattern or schema rejects maps that were accepted. The witness has a matching member with a value \
         of the old kind.",
        "Accept the old kind of value as well for a release.";
        output OutputPatternPropertiesChanged: Breaking None "`patternProperties` of results changed",
        "A matching member may now have a value that the old schema rejects; the witness has one.",
        "Use a new pattern for the new kind of value.";

    "dependency-changed" DependencyChanged,
        r#"{"type": "object", "properties": {"user": {"type": "string"}, "domain": {"type": "string"}}}"# =>
        r#"{"type": "object", "properties": {"user": {"type": "string"}, "domain": {"type": "string"}}, "dependentRequired": {"user": ["domain"]}}"#,
        input InputDependencyChanged: Breaking None "`dependentRequired` or `dependentSchemas` of a parameter \
         changed",
        "A parameter may now only be sent together with another. The witness sends it alone. Models easily miss such \
         rules.",
        "Describe the rule in both parameters, or derive the missing one in the server.";
        output OutputDependencyChanged: Additive None "`dependentRequired` or `dependentSchemas` of a result member \
         changed",
        "A new rule is a stronger promise. Dropping one is dangerous, because readers may rely on both members being \
         present.",
        "Accept a new rule; keep an old one.";

    // Readers do not fill in defaults of results, so this rule has no counterpart there.
    "property-required-with-default" PropertyRequiredWithDefault,
        r#"{"type": "object", "properties": {"city": {"type": "string"}, "units": {"type": "string", "default": "metric"}}, "required": ["city"]}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string"}, "units": {"type": "string", "default": "metric"}}, "required": ["city", "units"]}"#,
        input InputPropertyRequiredWithDefault: Breaking None "a parameter with a default became required",
        "Validators do not fill in defaults, so the schema rejects calls without the parameter. Some generators list \
         every parameter with a default as required, while the server accepts the call. The schema is the contract, \
         so this is breaking.",
        "Remove it from `required`. In zod, generate the schema for input; in pydantic, use validation mode.";
        otherwise PropertyBecameRequired;

    } $($after)* } };
}
pub(in crate::rules) use member_families;
