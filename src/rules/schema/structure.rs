//! Rules about how a schema is put together.

macro_rules! structure_families {
    ($rules:tt { $($families:tt)* } $next:ident $($after:ident)*) => { $next! { $rules { $($families)*

    "composition-changed" CompositionChanged,
        r#"{"type": "object", "properties": {"n": {"type": "integer", "allOf": [{"minimum": 1}]}}, "required": ["n"]}"# =>
        r#"{"type": "object", "properties": {"n": {"type": "integer", "allOf": [{"minimum": 1}, {"maximum": 5}]}}, "required": ["n"]}"#,
        input InputCompositionChanged: Breaking None "the schemas that a parameter is composed of changed",
        "`allOf`, `anyOf` and `oneOf` beside other keywords add conditions. When their list changes, what is accepted may get \
         smaller or larger in ways that no single keyword shows. The pair is put to the provers as a whole: a witness makes it \
         breaking, a proof makes it cosmetic.",
        "Read the witness. If there is none, the new composition says the same as the old one.";
        output OutputCompositionChanged: Cosmetic None "the schemas that a member of results is composed of changed",
        "A further condition on results is a stronger promise. A condition that is gone may let results through that readers do \
         not expect; then there is a witness and the change is breaking.",
        "Read the witness, if there is one.";

    "conditional-changed" ConditionalChanged,
        r#"{"type": "object", "properties": {"kind": {"type": "string"}, "url": {"type": "string"}}, "required": ["kind"]}"# =>
        r#"{"type": "object", "properties": {"kind": {"type": "string"}, "url": {"type": "string"}}, "required": ["kind"], "if": {"properties": {"kind": {"const": "example"}}}, "then": {"required": ["url"]}}"#,
        input InputConditionalChanged: Breaking None "a condition between parameters changed",
        "With `if`, `then` and `else` a schema asks for one thing when another holds. A new condition refuses calls that were \
         fine, and the witness meets the condition without doing what it asks. Models read conditions badly: expect calls that \
         violate them.",
        "Say the condition in the descriptions of the parameters it concerns, and let the server's error repeat it.";
        output OutputConditionalChanged: Additive None "a condition between members of results changed",
        "A new condition is a stronger promise about results and hurts no reader. A condition that is gone takes a promise back, \
         and where a result can show it the change is breaking with a witness.",
        "Accept new conditions; keep old ones.";

    "not-changed" NotChanged,
        r#"{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}"# =>
        r#"{"type": "object", "properties": {"name": {"type": "string", "not": {"enum": ["example", "root"]}}}, "required": ["name"]}"#,
        input InputNotChanged: Breaking None "what a parameter must not be changed",
        "`not` takes values away. A new or wider one refuses calls that were accepted; the witness uses one of the values that \
         are gone.",
        "Refuse such values in the server with a message that says why. A schema cannot explain.";
        output OutputNotChanged: Additive None "what a member of results must not be changed",
        "A wider `not` is a stronger promise about results; a narrower one lets values come back that were excluded, and then \
         there is a witness.",
        "Accept what is excluded additionally; keep what was excluded before.";

    "ref-restructured" RefRestructured,
        r##"{"type": "object", "properties": {"unit": {"$ref": "#/$defs/Unit"}}, "$defs": {"Unit": {"type": "string"}}}"## =>
        r##"{"type": "object", "properties": {"unit": {"type": "string"}}, "$defs": {"Unit": {"type": "string"}}}"##,
        input InputRefRestructured: Cosmetic None "the same schema is reached another way",
        "A reference was inlined, or a schema moved behind one, or a definition was renamed. What is accepted is compared behind \
         the reference and reported there, so this line only explains why the text of the schema differs. Some clients and \
         model providers do not follow references at all; for them an inlined schema is better.",
        "Accept it. If a provider of yours cannot follow references, see whether the schema moved in the right direction.";
        output OutputRefRestructured: Cosmetic None "the same result schema is reached another way",
        "A reference was inlined, or a schema moved behind one, or a definition was renamed. What results may look like is \
         compared behind the reference and reported there.",
        "Accept it; the differences that matter have lines of their own.";

    "definitions-changed" DefinitionsChanged,
        r#"{"type": "object", "$defs": {"Unit": {"type": "string"}}}"# =>
        r#"{"type": "object", "$defs": {"Unit": {"type": "integer"}}}"#,
        input InputDefinitionsChanged: Cosmetic None "the table of definitions changed",
        "A definition was added, removed, or changed without anything referring to it. A definition does nothing by itself: what \
         a call reaches through it is compared and reported where it is used. Generators carry the definitions of a whole \
         server into every tool, so one new type shows up in all of them.",
        "Accept it. A generator option usually prunes definitions that are not used, which also saves tokens.";
        output OutputDefinitionsChanged: Cosmetic None "the table of definitions of results changed",
        "A definition was added, removed, or changed without anything referring to it. It does nothing by itself; what a result \
         reaches through it is reported where it is used.",
        "Accept it, and prune definitions that are not used.";

    "equivalent-restructured" EquivalentRestructured,
        r#"{"type": "object", "properties": {"branch": {"type": ["string", "null"]}}}"# =>
        r#"{"type": "object", "properties": {"branch": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}"#,
        input InputEquivalentRestructured: Cosmetic None "a schema is written differently and accepts the same",
        "A list of types became an `anyOf`, a single-valued `enum` became a `const`, a bound is spelled another way. The provers \
         confirmed that nothing is lost. It is what upgrading a schema library looks like. Two things can still differ: the \
         number of tokens that the tool costs, and whether a strict provider accepts the spelling.",
        "Accept it, once for all tools that the generator touched.";
        output OutputEquivalentRestructured: Cosmetic None "a result schema is written differently and accepts the same",
        "The schema says the same in other words, and the provers confirmed that no result is possible that was not possible \
         before.",
        "Accept it, once for all tools that the generator touched.";

    "schema-spelling-changed" SchemaSpellingChanged,
        r#"{"type": "object", "properties": {"n": {"minimum": 1, "type": "integer"}}}"# =>
        r#"{"properties": {"n": {"type": "integer", "minimum": 1.0}}, "type": "object"}"#,
        input InputSchemaSpellingChanged: Cosmetic None "the order of members or the spelling of numbers changed",
        "JSON objects have no order, `required` and `enum` are sets, and 1.0 is 1. The bytes differ and the schema does not. It \
         still deserves a line: a server whose schemas are reordered on every start cannot be fingerprinted by naive tools, and \
         prompt caches miss.",
        "Accept it. If it comes back with every capture, the server builds its schemas from an unordered set: sort it.";
        output OutputSchemaSpellingChanged: Cosmetic None "the order of members or the spelling of numbers changed",
        "JSON objects have no order, `required` and `enum` are sets, and 1.0 is 1. The bytes of the result schema differ and its \
         meaning does not.",
        "Accept it. If it comes back with every capture, make the server's output deterministic.";

    "schema-emptied" SchemaEmptied,
        r#"{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"# =>
        r#"{"$schema": "http://json-schema.org/draft-07/schema#"}"#,
        input InputSchemaEmptied: Risky Medium "the schema lost its type and all its parameters",
        "Everything is accepted now, so no call is refused by the schema, and yet nothing works: a model that sees no parameters \
         sends none. It is nearly always an accident. A schema library and a framework of versions that do not fit produce a \
         bare `$schema` without any error, and the server starts happily.",
        "Look at the versions of the schema library and of the framework before anything else. Boot the server and list its \
         tools in a test.";
        output OutputSchemaEmptied: Breaking Medium "the result schema lost everything it said",
        "The promise about results is gone: anything may come back, and the witness is a result that the old schema refuses. \
         It is nearly always an accident of the schema generator.",
        "Check the versions of the schema library and of the framework. If the schema was dropped on purpose, remove it \
         instead of leaving an empty one.";

    "schema-unclassified" SchemaUnclassified,
        r#"{"type": "object", "properties": {"a": true}}"# =>
        r#"{"type": "object", "properties": {"a": false}}"#,
        input InputSchemaUnclassified: Breaking None "the schema changed in a way that no rule describes",
        "Every difference is reported, and this is the line for what no other rule explains: a schema that turned into `false`, a \
         keyword with a value that makes no sense, a reference out of the document. The provers still decide the level: \
         breaking with a witness, cosmetic with a proof, and risky where neither was found.",
        "Read the old and the new value. If you meet this line with a schema that makes sense, tell us: a rule is missing.";
        output OutputSchemaUnclassified: Cosmetic None "the result schema changed in a way that no rule describes",
        "Every difference is reported, and this is the line for what no other rule explains. The provers still decide the level: \
         breaking with a witness, cosmetic with a proof, risky where neither was found.",
        "Read the old and the new value. If you meet this line with a schema that makes sense, tell us: a rule is missing.";

    "dialect-changed" DialectChanged,
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}"# =>
        r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}"#,
        input InputDialectChanged: Cosmetic None "the schema names another dialect",
        "`$schema` says in which draft a schema is written. The drafts agree on nearly everything that tools use; where they do \
         not (tuples, `$ref` with neighbours, booleans for exclusive bounds) each side is read by its own draft, and what that \
         changes is reported by itself. Without `$schema` the protocol means 2020-12.",
        "Accept it. Leave `$schema` out, or name 2020-12.";
        output OutputDialectChanged: Cosmetic None "the result schema names another dialect",
        "`$schema` says in which draft a schema is written. Each side is read by its own draft, and what that changes is \
         reported by itself.",
        "Accept it. Leave `$schema` out, or name 2020-12.";

    } $($after)* } };
}
pub(in crate::rules) use structure_families;
