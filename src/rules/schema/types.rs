//! Rules about which types of values are possible.

macro_rules! type_families {
    ($rules:tt { $($families:tt)* } $next:ident $($after:ident)*) => { $next! { $rules { $($families)*

    "property-type-changed" PropertyTypeChanged,
        r#"{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}"# =>
        r#"{"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}"#,
        input InputPropertyTypeChanged: Breaking None "`type` of a parameter changed",
        "Values of the old type are rejected; the witness has one. Agents that read the schema again adapt; scripts, \
         saved workflows and prompts with examples do not.",
        "Accept both types with a list of types. If only the generator changed, pin its version or state the type.";
        output OutputPropertyTypeChanged: Breaking None "`type` of a result member changed",
        "Readers parse the member as the old type. The witness has a value of the new type, which the old schema \
         rejects.",
        "Return the new type under a new name, and keep the old one for a release.";

    "property-type-narrowed" PropertyTypeNarrowed,
        r#"{"type": "object", "properties": {"id": {"type": ["integer", "string"]}}, "required": ["id"]}"# =>
        r#"{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}"#,
        input InputPropertyTypeNarrowed: Breaking None "a parameter accepts fewer types",
        "Values of one type are rejected; the witness has one. For example, an id may no longer be a number, or \
         `number` became `integer` and rejects 0.5.",
        "Convert in the server what converts without loss, or announce the change first.";
        output OutputPropertyTypeNarrowed: Additive None "a result member has fewer types",
        "Every new result satisfies the old schema.",
        "Accept it. Widening the type again would be breaking.";

    "property-type-widened" PropertyTypeWidened,
        r#"{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}"# =>
        r#"{"type": "object", "properties": {"id": {"type": ["integer", "string"]}}, "required": ["id"]}"#,
        input InputPropertyTypeWidened: Additive Low "a parameter accepts more types",
        "Every old value is still accepted. A parameter that took a number and now takes text or an object can carry \
         more than was approved.",
        "Accept it if the wider type has a purpose. A parameter without any `type` is rarely intended.";
        output OutputPropertyTypeWidened: Breaking Low "a result member has more types",
        "Clients that validate reject the new type, and the witness has it; others fail when they use the value.",
        "Convert in the server, or return the new kind of value under a new name.";

    "nullable-removed" NullableRemoved,
        r#"{"type": "object", "properties": {"branch": {"type": ["string", "null"]}}}"# =>
        r#"{"type": "object", "properties": {"branch": {"type": "string"}}}"#,
        input InputNullableRemoved: Breaking None "a parameter may no longer be null",
        "Many clients and models fill in every parameter and send null for \"nothing\"; such calls are rejected, and \
         the witness is one. In 290 pairs of consecutive releases this occurred 427 times, more than any other \
         narrowing, because generators change it for whole servers.",
        "Treat null like a missing parameter, and say so in the schema. After a framework upgrade, look for its \
         setting for optional types.";
        output OutputNullableRemoved: Additive None "a result member is no longer null",
        "Every new result satisfies the old schema.",
        "Accept it. Readers will drop their null checks, so null cannot return quietly.";

    "nullable-added" NullableAdded,
        r#"{"type": "object", "properties": {"branch": {"type": "string"}}}"# =>
        r#"{"type": "object", "properties": {"branch": {"type": ["string", "null"]}}}"#,
        input InputNullableAdded: Additive None "a parameter may now be null",
        "Every old value is still accepted. Generators change this for whole servers at once.",
        "Accept it. Check that null and a missing parameter mean the same to the server.";
        output OutputNullableAdded: Breaking None "a result member may now be null",
        "Readers expect a value. Clients that validate reject null, and the witness has it; others fail when they \
         use the value.",
        "Omit an optional member instead of returning null, or return an empty value.";

    "union-branch-removed" UnionBranchRemoved,
        r#"{"type": "object", "properties": {"target": {"anyOf": [{"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}, {"type": "array", "items": {"type": "string"}}]}}}"# =>
        r#"{"type": "object", "properties": {"target": {"anyOf": [{"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}]}}}"#,
        input InputUnionBranchRemoved: Breaking None "a branch was removed from a parameter's union",
        "One form of the parameter is no longer accepted; the witness uses it. Branches are compared by meaning, so \
         reordering is not reported. If another branch accepts the form, the change is additive.",
        "Keep accepting the old form and convert it.";
        output OutputUnionBranchRemoved: Additive None "a branch was removed from a union in results",
        "Every remaining form was possible before.",
        "Accept it.";

    "union-branch-added" UnionBranchAdded,
        r#"{"type": "object", "properties": {"target": {"anyOf": [{"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}, {"type": "array", "items": {"type": "string"}}]}}}"# =>
        r#"{"type": "object", "properties": {"target": {"anyOf": [{"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}, {"type": "array", "items": {"type": "string"}}, {"type": "string", "pattern": "^/"}]}}}"#,
        input InputUnionBranchAdded: Additive Low "a branch was added to a parameter's union",
        "Every old value is still accepted. The new branch may allow more than was approved, such as a path where \
         only an id was possible.",
        "Accept it if it fits what the tool was approved for.";
        output OutputUnionBranchAdded: Breaking Low "a branch was added to a union in results",
        "Readers have no code for the new form, and clients that validate reject it; the witness uses it.",
        "Announce from the start that forms may be added. Otherwise return a new form only if asked for it.";

    } $($after)* } };
}
pub(in crate::rules) use type_families;
