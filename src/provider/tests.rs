use std::fmt::Write as _;

use super::Provider::{Anthropic, Gemini, OpenAi};
use super::*;
use crate::canonical::parse_str;

fn found(provider: Provider, definition: &str) -> Vec<(String, String)> {
    let definition = parse_str(definition).unwrap();
    let found = violations(provider, &definition);
    found
        .into_iter()
        .map(|it| (it.pointer, it.keyword))
        .collect()
}

/// The keywords that a provider rejects in a tool whose parameter `x` has this schema.
fn parameter(provider: Provider, schema: &str) -> Vec<String> {
    let definition = format!(
        r#"{{"name":"t","inputSchema":{{"type":"object","properties":{{"x":{schema}}}}}}}"#
    );
    found(provider, &definition)
        .into_iter()
        .map(|it| it.1)
        .collect()
}

/// The keywords that a provider rejects in this arguments schema.
fn arguments(provider: Provider, schema: &str) -> Vec<String> {
    let definition = format!(r#"{{"name":"t","inputSchema":{schema}}}"#);
    found(provider, &definition)
        .into_iter()
        .map(|it| it.1)
        .collect()
}

/// A parameter's schema, and whether OpenAI, Anthropic and Gemini accept it.
const PARAMETERS: &[(&str, [bool; 3])] = &[
    (r#"{"type":"string"}"#, [true, true, true]),
    (r#"{"type":["string","null"]}"#, [true, true, true]),
    (
        r#"{"anyOf":[{"type":"string"},{"type":"null"}],"default":null,"title":"X"}"#,
        [true, true, true],
    ),
    (r#"{}"#, [false, false, false]),
    (r#"true"#, [false, false, false]),
    (r#"{"description":"anything"}"#, [false, false, false]),
    (r#"{"enum":["a","b"]}"#, [true, true, true]),
    (r#"{"enum":["a",null]}"#, [true, true, true]),
    (r#"{"enum":[1,2]}"#, [true, true, false]),
    (r#"{"enum":[{"a":1}]}"#, [true, false, false]),
    (r#"{"const":"a"}"#, [true, true, true]),
    (r#"{"const":1}"#, [true, true, false]),
    (r#"{"const":[1]}"#, [true, false, false]),
    (r#"{"type":"object"}"#, [true, true, true]),
    (
        r#"{"type":"object","additionalProperties":false}"#,
        [true, true, true],
    ),
    (
        r#"{"type":"object","additionalProperties":true}"#,
        [false, false, true],
    ),
    (
        r#"{"type":"object","additionalProperties":{}}"#,
        [false, false, true],
    ),
    (
        r#"{"type":"object","additionalProperties":{"type":"string"}}"#,
        [false, false, false],
    ),
    (
        r#"{"type":"object","patternProperties":{"^a":{"type":"string"}}}"#,
        [false, false, false],
    ),
    (
        r#"{"type":"object","propertyNames":{"type":"string"}}"#,
        [false, false, true],
    ),
    (
        r#"{"type":"object","propertyNames":{"pattern":"^a"}}"#,
        [false, false, false],
    ),
    (
        r#"{"type":"object","unevaluatedProperties":false}"#,
        [false, false, false],
    ),
    (
        r#"{"type":"object","minProperties":1}"#,
        [false, false, true],
    ),
    (
        r#"{"type":"object","maxProperties":1}"#,
        [false, false, true],
    ),
    (
        r#"{"type":"object","dependentRequired":{"a":["b"]}}"#,
        [false, false, false],
    ),
    (
        r#"{"type":"object","dependentSchemas":{"a":{}}}"#,
        [false, false, false],
    ),
    (
        r#"{"type":"object","dependencies":{"a":["b"]}}"#,
        [false, false, false],
    ),
    (
        r#"{"type":"array","items":{"type":"string"}}"#,
        [true, true, true],
    ),
    (r#"{"type":"array"}"#, [false, true, false]),
    (r#"{"type":["array","null"]}"#, [false, true, false]),
    (r#"{"type":"array","items":{}}"#, [false, false, false]),
    (
        r#"{"type":"array","items":[{"type":"string"}]}"#,
        [false, false, false],
    ),
    (
        r#"{"type":"array","prefixItems":[{"type":"string"}]}"#,
        [true, false, false],
    ),
    (
        r#"{"type":"array","items":{"type":"string"},"additionalItems":false}"#,
        [false, false, false],
    ),
    (
        r#"{"type":"array","items":{"type":"string"},"unevaluatedItems":false}"#,
        [false, false, false],
    ),
    (
        r#"{"type":"array","items":{"type":"string"},"contains":{"const":"a"}}"#,
        [false, false, false],
    ),
    (
        r#"{"type":"array","items":{"type":"string"},"minContains":1}"#,
        [false, false, false],
    ),
    (
        r#"{"type":"array","items":{"type":"string"},"maxContains":1}"#,
        [false, false, false],
    ),
    (
        r#"{"type":"array","items":{"type":"string"},"uniqueItems":true}"#,
        [false, false, false],
    ),
    (
        r#"{"type":"array","items":{"type":"string"},"minItems":1}"#,
        [true, true, true],
    ),
    (
        r#"{"type":"array","items":{"type":"string"},"minItems":2}"#,
        [true, false, true],
    ),
    (
        r#"{"type":"array","items":{"type":"string"},"maxItems":2}"#,
        [true, false, true],
    ),
    (r#"{"type":"string","minLength":1}"#, [true, false, true]),
    (r#"{"type":"string","maxLength":1}"#, [true, false, true]),
    (
        r#"{"type":"string","pattern":"^[a-z]+$"}"#,
        [true, true, true],
    ),
    (
        r#"{"type":"string","pattern":"^(?!a)"}"#,
        [true, false, true],
    ),
    (r#"{"type":"string","pattern":"a\\b"}"#, [true, false, true]),
    (
        r#"{"type":"string","pattern":"a\\\\b"}"#,
        [true, true, true],
    ),
    (
        r#"{"type":"string","pattern":"(a)\\1"}"#,
        [true, false, true],
    ),
    (r#"{"type":"string","format":"uuid"}"#, [true, true, true]),
    (r#"{"type":"string","format":"uri"}"#, [false, true, true]),
    (
        r#"{"type":"string","format":"binary"}"#,
        [false, false, true],
    ),
    (r#"{"type":"number","minimum":0}"#, [true, false, true]),
    (r#"{"type":"number","maximum":0}"#, [true, false, true]),
    (
        r#"{"type":"number","exclusiveMinimum":0}"#,
        [true, false, false],
    ),
    (
        r#"{"type":"number","exclusiveMaximum":0}"#,
        [true, false, false],
    ),
    (r#"{"type":"number","multipleOf":2}"#, [true, false, false]),
    (
        r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#,
        [true, true, true],
    ),
    (
        r#"{"type":"string","anyOf":[{"type":"string"}]}"#,
        [true, true, false],
    ),
    (r#"{"anyOf":[{"required":["a"]}]}"#, [false, false, false]),
    (
        r#"{"oneOf":[{"type":"string"},{"type":"integer"}]}"#,
        [true, true, true],
    ),
    (r#"{"allOf":[{"type":"string"}]}"#, [true, true, true]),
    (
        r#"{"allOf":[{"type":"string"},{"enum":["a"]}]}"#,
        [false, true, false],
    ),
    (
        r##"{"allOf":[{"$ref":"#/properties/x/else"}],"else":{"type":"string"}}"##,
        [false, false, false],
    ),
    (
        r#"{"type":"string","not":{"const":"a"}}"#,
        [false, false, false],
    ),
    (
        r#"{"type":"string","if":{"const":"a"}}"#,
        [false, false, false],
    ),
    (
        r#"{"type":"string","then":{"const":"a"}}"#,
        [false, false, false],
    ),
    (
        r#"{"type":"string","else":{"const":"a"}}"#,
        [false, false, false],
    ),
    (
        r##"{"type":"array","items":{"$ref":"#/properties/x"}}"##,
        [true, false, false],
    ),
    (
        r##"{"$ref":"https://example.com/schema.json"}"##,
        [false, false, false],
    ),
    (r##"{"$ref":"#name"}"##, [false, false, false]),
    (r##"{"$ref":"#/$defs/none"}"##, [false, false, false]),
    (r##"{"$dynamicRef":"#x"}"##, [false, false, false]),
    (r##"{"$recursiveRef":"#"}"##, [false, false, false]),
    (
        r#"{"type":"string","examples":["a"],"deprecated":true,"x-order":1,"$comment":"c"}"#,
        [true, true, true],
    ),
];

#[test]
fn every_keyword_of_a_parameter_is_judged_by_the_table() {
    for (schema, taken) in PARAMETERS {
        for (provider, taken) in Provider::ALL.iter().zip(taken) {
            let found = parameter(*provider, schema);
            assert_eq!(found.is_empty(), *taken, "{provider} {schema}: {found:?}");
        }
    }
}

#[test]
fn every_keyword_of_the_table_has_an_example() {
    for (keyword, _) in table::KEYWORDS {
        let quoted = format!("\"{keyword}\"");
        let has = |text: &str| text.contains(&quoted);
        let shown = PARAMETERS.iter().any(|(schema, _)| has(schema));
        assert!(shown || *keyword == "properties", "{keyword}");
    }
}

#[test]
fn the_arguments_must_be_one_object() {
    for provider in Provider::ALL {
        let taken = |schema| arguments(*provider, schema).is_empty();
        assert!(taken(r#"{"type":"object"}"#) && taken("{}"));
        assert!(taken(
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}"#
        ));
        assert!(
            !taken("true") && !taken(r#"{"type":"string"}"#),
            "{provider}"
        );
        assert!(
            !taken(r#"{"type":"object","anyOf":[{"type":"object"}]}"#),
            "{provider}"
        );
        assert!(!taken(r#"{"oneOf":[{"type":"object"}]}"#), "{provider}");
        assert!(found(*provider, r#"{"name":"t"}"#).is_empty(), "{provider}");
    }
    let merged = r#"{"allOf":[{"type":"object"}]}"#;
    assert!(arguments(OpenAi, merged).is_empty() && arguments(Gemini, merged).is_empty());
    assert_eq!(arguments(Anthropic, merged), ["allOf"]);
}

#[test]
fn names_must_match_each_providers_characters_and_length() {
    let long = |n: usize| "a".repeat(n);
    for (name, taken) in [
        ("read_file-2".to_owned(), [true, true, true]),
        ("2fa".to_owned(), [true, true, false]),
        ("a.b".to_owned(), [false, false, true]),
        ("a b".to_owned(), [false, false, false]),
        (String::new(), [false, false, false]),
        (long(64), [true, true, true]),
        (long(65), [false, true, false]),
        (long(129), [false, false, false]),
    ] {
        for (provider, taken) in Provider::ALL.iter().zip(taken) {
            let definition = format!(r#"{{"name":"{name}"}}"#);
            assert_eq!(
                found(*provider, &definition).is_empty(),
                taken,
                "{provider} {name}"
            );
        }
    }
    let definition = r#"{"name":"t","inputSchema":{"properties":{"$top":{"type":"integer"}}}}"#;
    let at = (
        "/inputSchema/properties/$top".to_owned(),
        "properties".to_owned(),
    );
    assert_eq!(found(Anthropic, definition), [at]);
    assert!(found(OpenAi, definition).is_empty());
}

/// A schema with this many optional properties, each with this schema.
fn wide(count: usize, each: &str) -> String {
    let mut schema = r#"{"type":"object","properties":{"#.to_owned();
    for index in 0..count {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(schema, r#"{comma}"p{index}":{each}"#);
    }
    schema + "}}"
}

#[test]
fn totals_are_counted_over_the_whole_tool() {
    let deep = |levels: usize| {
        (1..levels).fold(
            r#"{"type":"object","properties":{}}"#.to_owned(),
            |below, _| format!(r#"{{"type":"object","properties":{{"x":{below}}}}}"#),
        )
    };
    assert!(arguments(OpenAi, &deep(10)).is_empty());
    assert_eq!(arguments(OpenAi, &deep(11)), ["properties"]);
    assert!(arguments(Anthropic, &deep(11)).is_empty());

    let string = r#"{"type":"string"}"#;
    assert!(arguments(OpenAi, &wide(5_000, string)).is_empty());
    assert_eq!(arguments(OpenAi, &wide(5_001, string)), ["properties"]);
    assert!(arguments(Anthropic, &wide(24, string)).is_empty());
    assert_eq!(arguments(Anthropic, &wide(25, string)), ["required"]);
    assert_eq!(
        arguments(Anthropic, &wide(17, r#"{"type":["string","null"]}"#)),
        ["anyOf"]
    );

    let values = |count: usize, width: usize| {
        let all: Vec<String> = (0..count).map(|it| format!(r#""{it:0width$}""#)).collect();
        format!(r#"{{"enum":[{}]}}"#, all.join(","))
    };
    assert!(parameter(OpenAi, &values(1_000, 4)).is_empty());
    assert_eq!(parameter(OpenAi, &values(1_001, 4)), ["enum"]);
    assert!(parameter(OpenAi, &values(250, 100)).is_empty());
    assert_eq!(parameter(OpenAi, &values(251, 100)), ["enum"]);
    assert_eq!(parameter(OpenAi, &values(200, 601)), ["properties"]);
}

#[test]
fn a_shared_definition_is_checked_once_and_reported_where_it_is_defined() {
    let definition = r##"{"name":"t","inputSchema":{"properties":{"a":{"$ref":"#/%24defs/d~1e"},"b":{"$ref":"#/$defs/d~1e"}},
        "$defs":{"d/e":{"type":"string","not":{}},"unused":{"not":{}}}}}"##;
    let at = ("/inputSchema/$defs/d~1e/not".to_owned(), "not".to_owned());
    assert_eq!(found(Gemini, definition), [at]);
}

#[test]
fn a_hostile_schema_terminates() {
    // Each definition references the next one twice: exponential if expanded.
    let mut doubling = String::new();
    let mut chain = String::new();
    for index in 0..20_000 {
        let next = index + 1;
        let _ = write!(
            doubling,
            r##""d{index}":{{"anyOf":[{{"$ref":"#/$defs/d{next}"}},{{"$ref":"#/$defs/d{next}"}}]}},"##
        );
        let _ = write!(chain, r##""d{index}":{{"$ref":"#/$defs/d{next}"}},"##);
    }
    let many = wide(20_000, r##"{"$ref":"#/properties/p19999"}"##);
    for provider in Provider::ALL {
        for definitions in [&doubling, &chain] {
            let schema = format!(
                r##"{{"$ref":"#/$defs/d0","$defs":{{{definitions}"d20000":{{"type":"string"}}}}}}"##
            );
            assert!(!arguments(*provider, &schema).is_empty());
        }
        assert!(arguments(*provider, &many).len() <= table::MOST_VIOLATIONS);
        let mutual =
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##;
        assert_eq!(arguments(*provider, mutual).is_empty(), *provider == OpenAi);
    }
}
