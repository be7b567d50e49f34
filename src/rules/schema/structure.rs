//! Rules about the composition of a schema.

macro_rules! structure_families {
    ($rules:tt { $($families:tt)* } $next:ident $($after:ident)*) => { $next! { $rules { $($families)*

    "composition-changed" CompositionChanged,
        r#"{"type": "object", "properties": {"n": {"type": "integer", "allOf": [{"minimum": 1}]}}, "required": ["n"]}"# =>
        r#"{"type": "object", "properties": {"n": {"type": "integer", "allOf": [{"minimum": 1}, {"maximum": 5}]}}, "required": ["n"]}"#,
        input InputCompositionChanged: Breaking None "`allOf`, `anyOf` or `oneOf` of a parameter changed",
        "The conditions beside the other keywords changed, so more or less may be accepted. The schemas are compared \
         as a whole: a witness makes it breaking, a proof additive. If the same values are accepted, it is another rule: \
         `equivalent-restructured`.",
        "Read the witness. Without one, the new composition accepts at least what was sent.";
        output OutputCompositionChanged: Additive None "`allOf`, `anyOf` or `oneOf` of a result member changed",
        "A new condition is a stronger promise. A removed one may allow unexpected results; then there is a witness \
         and the change is breaking.",
        "Read the witness, if there is one.";

    "conditional-changed" ConditionalChanged,
        r#"{"type": "object", "properties": {"kind": {"type": "string"}, "url": {"type": "string"}}, "required": ["kind"]}"# =>
        r#"{"type": "object", "properties": {"kind": {"type": "string"}, "url": {"type": "string"}}, "required": ["kind"], "if": {"properties": {"kind": {"const": "example"}}}, "then": {"required": ["url"]}}"#,
        input InputConditionalChanged: Breaking None "`if`, `then` or `else` between parameters changed",
        "A new condition rejects calls that were accepted; the witness meets the condition without satisfying it. \
         Models often violate conditions.",
        "Describe the condition in the parameters' descriptions, and repeat it in the server's error.";
        output OutputConditionalChanged: Additive None "`if`, `then` or `else` between result members changed",
        "A new condition is a stronger promise. A removed one withdraws a promise; if a result can show it, the \
         change is breaking with a witness.",
        "Accept new conditions; keep old ones.";

    "not-changed" NotChanged,
        r#"{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}"# =>
        r#"{"type": "object", "properties": {"name": {"type": "string", "not": {"enum": ["example", "root"]}}}, "required": ["name"]}"#,
        input InputNotChanged: Breaking None "`not` of a parameter changed",
        "A new or wider `not` rejects calls that were accepted; the witness uses such a value.",
        "Reject such values in the server, with a message that says why.";
        output OutputNotChanged: Additive None "`not` of a result member changed",
        "A wider `not` is a stronger promise. A narrower one allows values that were excluded; then there is a \
         witness.",
        "Accept new exclusions; keep old ones.";

    "ref-restructured" RefRestructured,
        r##"{"type": "object", "properties": {"unit": {"$ref": "#/$defs/Unit"}}, "$defs": {"Unit": {"type": "string"}}}"## =>
        r##"{"type": "object", "properties": {"unit": {"type": "string"}}, "$defs": {"Unit": {"type": "string"}}}"##,
        input InputRefRestructured: Cosmetic None "a `$ref` was inlined, added or renamed",
        "What is accepted is compared behind the reference and reported there. Keywords beside it that the draft \
         ignores are reported here. Some clients and providers do not follow references.",
        "Accept it.";
        output OutputRefRestructured: Cosmetic None "a `$ref` in the result schema was inlined, added or renamed",
        "Results are compared behind the reference, and differences are reported there. Keywords beside it that the \
         draft ignores are reported here.",
        "Accept it.";

    "definitions-changed" DefinitionsChanged,
        r#"{"type": "object", "$defs": {"Unit": {"type": "string"}}}"# =>
        r#"{"type": "object", "$defs": {"Unit": {"type": "integer"}}}"#,
        input InputDefinitionsChanged: Cosmetic None "unused definitions changed",
        "A definition that nothing refers to was added, removed or changed. What is reached through a definition is \
         reported where it is used.",
        "Accept it. Most generators can prune unused definitions, which also saves tokens.";
        output OutputDefinitionsChanged: Cosmetic None "unused definitions of the result schema changed",
        "A definition that nothing refers to was added, removed or changed. What is reached through a definition is \
         reported where it is used.",
        "Accept it, and prune unused definitions.";

    "equivalent-restructured" EquivalentRestructured,
        r#"{"type": "object", "properties": {"branch": {"type": ["string", "null"]}}}"# =>
        r#"{"type": "object", "properties": {"branch": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}"#,
        input InputEquivalentRestructured: Cosmetic None "a schema is written differently but accepts the same",
        "For example, a list of types became `anyOf`, or a one-value `enum` became `const`. It is proved that \
         nothing is lost. Token cost, and whether a strict provider accepts it, can still differ.",
        "Accept it once for all tools that the generator touched.";
        output OutputEquivalentRestructured: Cosmetic None "a result schema is written differently but means the \
         same",
        "It is proved that no new result is possible.",
        "Accept it once for all tools that the generator touched.";

    "schema-spelling-changed" SchemaSpellingChanged,
        r#"{"type": "object", "properties": {"n": {"minimum": 1, "type": "integer"}}}"# =>
        r#"{"properties": {"n": {"type": "integer", "minimum": 1.0}}, "type": "object"}"#,
        input InputSchemaSpellingChanged: Cosmetic None "the order of members or the spelling of numbers changed",
        "The schema means the same, but its bytes differ: prompt caches miss, and naive fingerprints change.",
        "Accept it. If it differs in every capture, sort what the server builds the schema from.";
        output OutputSchemaSpellingChanged: Cosmetic None "the order of members or the spelling of numbers changed \
         in results",
        "The result schema means the same; only its bytes differ.",
        "Accept it. If it differs in every capture, make the server's output deterministic.";

    "schema-emptied" SchemaEmptied,
        r#"{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"# =>
        r#"{"$schema": "http://json-schema.org/draft-07/schema#"}"#,
        input InputSchemaEmptied: Risky Medium "the schema lost its type and all parameters",
        "Everything is accepted, yet nothing works: a model that sees no parameters sends none. It is almost always \
         an accident of mismatched schema library and framework versions.",
        "Check those versions first. Start the server and list its tools in a test.";
        output OutputSchemaEmptied: Breaking Medium "the result schema lost everything it said",
        "Anything may be returned; the witness is a result that the old schema rejects. It is almost always an \
         accident of the schema generator.",
        "Check the versions of schema library and framework. If it was dropped on purpose, remove the schema \
         instead.";

    "schema-unclassified" SchemaUnclassified,
        r#"{"type": "object", "allOf": [{"minProperties": 1}]}"# =>
        r#"{"type": "object", "allOf": ["minProperties 1"]}"#,
        input InputSchemaUnclassified: Risky None "the schema changed in a way that no rule describes",
        "For example, it is no longer a schema. The level is proved as usual: breaking with a witness, cosmetic with a \
         proof, otherwise risky.",
        "Read the old and new values. If the schema makes sense, please open an issue: a rule is missing.";
        output OutputSchemaUnclassified: Risky None "the result schema changed in a way that no rule describes",
        "The level is proved as usual: breaking with a witness, cosmetic with a proof, otherwise risky.",
        "Read the old and new values. If the schema makes sense, please open an issue: a rule is missing.";

    "dialect-changed" DialectChanged,
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}"# =>
        r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}"#,
        input InputDialectChanged: Cosmetic None "`$schema` changed",
        "The drafts agree on most keywords. Where they do not (tuples, siblings of `$ref`, exclusive bounds), each \
         side is read by its own draft and differences are reported. Without `$schema`, 2020-12 applies.",
        "Accept it. Omit `$schema`, or use 2020-12.";
        output OutputDialectChanged: Cosmetic None "`$schema` of the result schema changed",
        "Each side is read by its own draft, and differences are reported.",
        "Accept it. Omit `$schema`, or use 2020-12.";

    } $($after)* } };
}
pub(in crate::rules) use structure_families;
