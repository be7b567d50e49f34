//! Rules about which kinds of value are possible.

macro_rules! type_families {
    ($rules:tt { $($families:tt)* } $next:ident $($after:ident)*) => { $next! { $rules { $($families)*

    "property-type-changed" PropertyTypeChanged,
        r#"{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}"# =>
        r#"{"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}"#,
        input InputPropertyTypeChanged: Breaking None "a parameter has another type",
        "Values of the old type are refused, and the witness has one. Agents read the type from the schema and adapt, as long as \
         they read it again; scripts, saved workflows and prompts with examples in them do not. Types that change back and \
         forth from release to release have been seen in the field.",
        "Accept both types in the server and say so with a list of types. If only the generator changed its mind, pin its \
         version or state the type explicitly.";
        output OutputPropertyTypeChanged: Breaking None "a member of results has another type",
        "Readers parse the member as what they were promised. A number that arrives as text, or text that arrives as an object, \
         fails in whatever way their language fails. The witness is a result with a value of the new type, which the old schema \
         refuses.",
        "Return the value under a new name in the new type, and keep the old one for a release.";

    "property-type-narrowed" PropertyTypeNarrowed,
        r#"{"type": "object", "properties": {"id": {"type": ["integer", "string"]}}, "required": ["id"]}"# =>
        r#"{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}"#,
        input InputPropertyTypeNarrowed: Breaking None "a parameter takes fewer types",
        "One of the types that the parameter took is refused now. Callers who used that one are turned away, and the witness is \
         such a call; all others notice nothing. A typical case is an identifier that could be sent as number or text and is \
         now checked, or `number` that became `integer` and refuses 0.5.",
        "Convert in the server what can be converted without loss. If a type must go, announce it first.";
        output OutputPropertyTypeNarrowed: Additive None "a member of results has fewer types",
        "Results are more predictable than before: one of several types can no longer occur. Every new result satisfies the old \
         schema, so no reader is hurt.",
        "Accept it. Widening the type again later would break those who rely on the narrow one.";

    "property-type-widened" PropertyTypeWidened,
        r#"{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}"# =>
        r#"{"type": "object", "properties": {"id": {"type": ["integer", "string"]}}, "required": ["id"]}"#,
        input InputPropertyTypeWidened: Additive Low "a parameter takes more types",
        "Every old value is still accepted, and values of further types are accepted beside them. Callers notice nothing. Those \
         who approved the tool may: a parameter that took a number and now takes text, or an object, can carry more than it \
         used to, including text that somebody else wrote.",
        "Accept it when the wider type has a purpose. A type that disappeared altogether accepts anything, which is rarely \
         meant.";
        output OutputPropertyTypeWidened: Breaking Low "a member of results may have a type it never had",
        "Readers were promised one type and may now meet another. A client that validates with the old schema refuses such a \
         result, and the witness is one; a client that does not fails when it uses the value.",
        "Keep the type and convert in the server, or return the new kind of value under a new name.";

    "nullable-removed" NullableRemoved,
        r#"{"type": "object", "properties": {"branch": {"type": ["string", "null"]}}}"# =>
        r#"{"type": "object", "properties": {"branch": {"type": "string"}}}"#,
        input InputNullableRemoved: Breaking None "a parameter may no longer be null",
        "Callers who sent an explicit null are refused. There are more of them than one thinks: many clients, and models that \
         have been shown a nullable parameter, fill in every parameter and write null for \"nothing\". The witness is a call \
         with the null. Over 290 pairs of consecutive releases of published servers it was seen 427 times, more than any \
         other narrowing, because generators flip it for whole servers at once. Leaving the parameter out still works if \
         it is optional.",
        "Accept null in the server as if the parameter were missing, and keep saying so in the schema. If a framework upgrade \
         did this, look for its setting for optional types before you publish.";
        output OutputNullableRemoved: Additive None "a member of results is never null now",
        "Results are more predictable: where null could stand, a value stands. Every new result satisfies the old schema.",
        "Accept it. Keep in mind that readers will drop their checks for null, so that null can never come back quietly.";

    "nullable-added" NullableAdded,
        r#"{"type": "object", "properties": {"branch": {"type": "string"}}}"# =>
        r#"{"type": "object", "properties": {"branch": {"type": ["string", "null"]}}}"#,
        input InputNullableAdded: Additive None "a parameter may be null now",
        "Every old value is still accepted, and an explicit null is accepted too. No caller can be hurt by it. Generators \
         flip this for whole servers at once when their idea of an optional type changes.",
        "Accept it. See that null and a missing parameter mean the same to the server, because clients will mix them.";
        output OutputNullableAdded: Breaking None "a member of results may be null now",
        "Readers were promised a value and may find null. Validating clients refuse the result, and the witness is one; others \
         fail at the first use of the value.",
        "Leave the member out instead of returning null if it was optional, or return an empty value of the old type.";

    "union-branch-removed" UnionBranchRemoved,
        r#"{"type": "object", "properties": {"target": {"anyOf": [{"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}, {"type": "array", "items": {"type": "string"}}]}}}"# =>
        r#"{"type": "object", "properties": {"target": {"anyOf": [{"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}]}}}"#,
        input InputUnionBranchRemoved: Breaking None "one of several forms of a parameter is gone",
        "The parameter could be written in several ways, and one of them is no longer accepted. Branches are compared by what they \
         mean, not by their position, so a reordering is not reported. The witness is a call in the form that is gone, unless \
         another branch happens to accept it, in which case nothing is lost and the change is additive.",
        "Keep accepting the old form and translate it. If the branch was split or merged, compare the witness with what the new \
         branches accept.";
        output OutputUnionBranchRemoved: Additive None "one of several forms of a result is gone",
        "Results take fewer forms than before. Every form that is left was possible already, so readers who handle them all are \
         fine, and the code for the lost form is dead.",
        "Accept it.";

    "union-branch-added" UnionBranchAdded,
        r#"{"type": "object", "properties": {"target": {"anyOf": [{"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}, {"type": "array", "items": {"type": "string"}}]}}}"# =>
        r#"{"type": "object", "properties": {"target": {"anyOf": [{"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}, {"type": "array", "items": {"type": "string"}}, {"type": "string", "pattern": "^/"}]}}}"#,
        input InputUnionBranchAdded: Additive Low "a parameter can be written in a further form",
        "Every old form is still accepted and there is one more. Callers notice nothing. Approvers may want to see what the new \
         form can express: a branch that takes a path or a query where only an identifier was possible is more power.",
        "Accept it when the new form is within what the tool was approved for.";
        output OutputUnionBranchAdded: Breaking Low "results may come in a form they never had",
        "Readers know the old forms and have no code for the new one. Validating clients refuse it, and the witness is a result \
         in the new form. Discriminated unions in results look extensible and are not: whoever switches over the tag falls \
         through.",
        "Announce that further forms may come, from the first version on. Otherwise return new forms only to callers who ask \
         for them.";

    } $($after)* } };
}
pub(in crate::rules) use type_families;
