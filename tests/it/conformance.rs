//! Lists are judged as clients judge them: by the protocol's schema of the revision, by dialects,
//! by names.

use mcp_keel::canonical::{Json, parse_str, to_compact};
use mcp_keel::conformance;
use mcp_keel::drift::compare;
use mcp_keel::judgement::Level;
use mcp_keel::rules::RuleId;
use mcp_keel::surface::{ClientProfile, Kind, Lists, Scope, Surface};
use serde_json::{Value, json};

const REVISIONS: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];

/// A surface of one revision with these components of one kind.
fn surface(revision: &str, kind: Kind, components: &[Value]) -> Surface {
    let mut lists = Lists::default();
    *lists.of_mut(kind) = components
        .iter()
        .map(|it| parse_str(&it.to_string()).unwrap())
        .collect();
    let greeting = Json::object([("protocolVersion", Json::string(revision))]);
    Surface::new(&greeting, lists, ClientProfile::default(), Scope::FULL)
}

fn tools(revision: &str, tools: &[Value]) -> Surface {
    surface(revision, Kind::Tool, tools)
}

/// The rules of what clients object to.
fn objections(surface: &Surface) -> Vec<RuleId> {
    let notes = conformance::notes(surface, |_, _| false);
    notes.into_iter().map(|note| note.rule).collect()
}

fn tool(schema: Value) -> Value {
    json!({"name": "a", "inputSchema": schema})
}

/// Rule and level of each change.
fn changes(old: &Surface, new: &Surface) -> Vec<(RuleId, Level)> {
    let changes = compare(old, new).into_iter();
    changes.map(|it| (it.rule, it.level)).collect()
}

#[test]
fn a_root_without_type_object_is_refused_in_every_revision() {
    let fine = tool(json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    for revision in REVISIONS {
        assert!(objections(&tools(revision, std::slice::from_ref(&fine))).is_empty());
        for schema in [
            json!({"properties": {"a": {"type": "string"}}}),
            json!({"type": "string"}),
            json!({"type": ["object", "null"]}),
        ] {
            let old = tools(revision, std::slice::from_ref(&fine));
            let new = tools(revision, &[tool(schema.clone())]);
            assert_eq!(
                objections(&new),
                [RuleId::ListRefused],
                "{revision} {schema}"
            );
            assert!(
                changes(&old, &new).contains(&(RuleId::ListNowRefused, Level::Breaking)),
                "{revision} {schema}"
            );
            assert!(changes(&new, &new).is_empty());
        }
    }
}

#[test]
fn an_output_root_that_is_not_an_object_is_refused_before_2026_07_28_only() {
    let with = |output: Value| json!({"name": "a", "inputSchema": {"type": "object"}, "outputSchema": output});
    for output in [
        json!({"type": "array"}),
        json!({"oneOf": [{"type": "object"}]}),
    ] {
        let refused = |revision| objections(&tools(revision, &[with(output.clone())]));
        assert_eq!(refused("2025-06-18"), [RuleId::ListRefused]);
        assert_eq!(refused("2025-11-25"), [RuleId::ListRefused]);
        assert!(refused("2026-07-28").is_empty());
        // The legacy era has no such member at all.
        assert!(refused("2025-03-26").is_empty());
    }
    let boolean = tool(json!({"type": "object", "properties": {"a": true}}));
    assert_eq!(
        objections(&tools("2025-11-25", std::slice::from_ref(&boolean))),
        [RuleId::ListRefused]
    );
    assert!(objections(&tools("2026-07-28", &[boolean])).is_empty());
}

#[test]
fn a_refusal_says_how_many_tools_are_lost() {
    let fine = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let bad = json!({"name": "c", "description": null, "inputSchema": {}});
    let old = tools("2025-11-25", &[fine("a"), fine("b")]);
    let new = tools("2025-11-25", &[fine("a"), fine("b"), bad]);
    let changes = compare(&old, &new);
    let refused: Vec<_> = changes
        .iter()
        .filter(|it| it.rule == RuleId::ListNowRefused)
        .collect();
    assert_eq!(refused.len(), 1, "one for the component");
    assert_eq!(
        refused[0].message,
        "`description` must be a string, and is null: clients that validate refuse the whole list (3 tools); and at 1 \
         more place"
    );
    assert_eq!(refused[0].pointer, "/description");
}

#[test]
fn what_was_refused_before_is_a_finding_and_not_drift() {
    let bad = tool(json!({}));
    let also_bad = json!({"name": "b", "inputSchema": {}});
    let old = tools("2025-11-25", std::slice::from_ref(&bad));
    let new = tools("2025-11-25", &[bad, also_bad]);
    // Clients that validate had already lost the list.
    let (rule, level) = (RuleId::ListNowRefused, Level::Risky);
    assert_eq!(
        changes(&old, &new),
        [(RuleId::ToolAdded, Level::Additive), (rule, level)]
    );
    assert_eq!(objections(&old), [RuleId::ListRefused]);
}

#[test]
fn a_renamed_tool_keeps_its_earlier_refusals() {
    let schema = json!({"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}});
    let named = |name: &str| json!({"name": name, "description": "The forecast for a city.", "inputSchema": schema});
    let old = tools("2025-11-25", &[named("get_forecast")]);
    let new = tools("2025-11-25", &[named("getForecast")]);
    assert_eq!(
        changes(&old, &new),
        [(RuleId::ToolRenamed, Level::Breaking)]
    );
}

#[test]
fn another_revision_can_make_a_list_invalid() {
    let listed = [
        json!({"name": "a", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}}),
    ];
    let found = changes(&tools("2026-07-28", &listed), &tools("2025-11-25", &listed));
    assert!(
        found.contains(&(RuleId::ListNowRefused, Level::Breaking)),
        "{found:?}"
    );
    assert!(
        changes(&tools("2025-06-18", &listed), &tools("2025-11-25", &listed))
            .iter()
            .all(|(rule, _)| *rule == RuleId::ProtocolVersionChanged)
    );
}

#[test]
fn schemas_are_validated_in_their_dialect() {
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let found = |schema: Value| objections(&tools(revision, &[tool(schema)]));
        let int = json!({"type": "object", "properties": {"n": {"type": "int"}}});
        assert_eq!(found(int), [RuleId::SchemaInvalid], "{revision}");
        let external =
            json!({"type": "object", "properties": {"n": {"$ref": "https://a.example/n"}}});
        assert_eq!(found(external), [RuleId::SchemaRefExternal], "{revision}");
        let tuple = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": {"n": {"type": "array", "items": [{"type": "string"}]}}});
        assert_eq!(found(tuple), [RuleId::ClientRefusesTool], "{revision}");
        let name = json!({"type": "object", "properties": {"a b": {"type": "string"}}});
        assert_eq!(found(name), [RuleId::ClientRefusesTool], "{revision}");
        let root = json!({"type": "object", "oneOf": [{"required": ["a"]}]});
        assert_eq!(found(root), [RuleId::ClientRefusesTool], "{revision}");
    }
    // There is a default dialect since 2025-11-25.
    let old_form = json!({"type": "object", "properties": {"n": {"items": [{}]}}});
    let found = |revision| objections(&tools(revision, &[tool(old_form.clone())]));
    assert_eq!(found("2025-06-18"), [RuleId::ClientRefusesTool]);
    assert_eq!(found("2025-11-25"), [RuleId::SchemaInvalid]);
}

#[test]
fn a_schema_nested_too_deep_is_reported() {
    let mut schema = json!({"type": "string"});
    for _ in 0..70 {
        schema = json!({"type": "object", "properties": {"a": schema}});
    }
    let new = tools("2025-11-25", &[tool(schema)]);
    assert_eq!(objections(&new), [RuleId::SchemaTooLarge]);
    let old = tools("2025-11-25", &[]);
    assert!(changes(&old, &new).contains(&(RuleId::SchemaNowTooLarge, Level::Risky)));
}

#[test]
fn names_are_judged_for_added_tools_too() {
    let named = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let old = tools("2025-11-25", &[named("a")]);
    for (name, rule) in [
        ("b c", RuleId::ToolNameNowInvalid),
        ("b\u{1b}[31m", RuleId::ToolNameNowInvalid),
        (&"b".repeat(200), RuleId::ToolNameNowInvalid),
        (&"b".repeat(60), RuleId::ToolNameNowTooLong),
    ] {
        let new = tools("2025-11-25", &[named("a"), named(name)]);
        let found = compare(&old, &new);
        let about_name: Vec<_> = found.iter().filter(|it| it.rule == rule).collect();
        assert_eq!(about_name.len(), 1, "{name:?} {found:?}");
        let quoted = about_name[0].message.contains('\u{1b}');
        assert!(!quoted, "a control character is named, not quoted");
        assert!(changes(&new, &new).is_empty());
    }
}

#[test]
fn ten_thousand_tools_are_judged_in_little_more_than_the_time_to_read_them() {
    let bad =
        |at: usize| json!({"name": format!("tool {at}"), "inputSchema": {"required": [1, 2, 3]}});
    let all: Vec<Value> = (0..10_000).map(bad).collect();
    // Two rules about each: nothing is quadratic in the number of components.
    assert_eq!(objections(&tools("2025-11-25", &all)).len(), 30_000);
}

/// Replacement values.
fn probes() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1.0),
        json!(0.5),
        json!(-1),
        json!(2),
        json!("x"),
        json!("object"),
        json!("user"),
        json!("light"),
        json!("required"),
        json!([]),
        json!([1]),
        json!(["user"]),
        json!([{}]),
        json!({}),
        json!({"a": 1}),
        json!({"a": true}),
        json!({"type": "object"}),
        json!({"src": "https://a.example/b.png"}),
    ]
}

/// A component of each kind with every member of every revision.
fn full(kind: Kind) -> Value {
    let icons =
        json!([{"src": "data:,", "mimeType": "image/png", "sizes": ["1x1"], "theme": "dark"}]);
    let annotations =
        json!({"audience": ["user"], "priority": 0.5, "lastModified": "2025-01-01T00:00:00Z"});
    let schema = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
        "properties": {"a": {"type": "string"}}, "required": ["a"]});
    match kind {
        Kind::Tool => {
            json!({"name": "a", "title": "A", "description": "d", "inputSchema": schema, "outputSchema": schema,
            "annotations": {"title": "t", "readOnlyHint": true, "destructiveHint": true, "idempotentHint": true,
                "openWorldHint": true},
            "execution": {"taskSupport": "optional"}, "icons": icons, "_meta": {"a": 1}})
        }
        Kind::Prompt => {
            json!({"name": "a", "title": "A", "description": "d", "icons": icons, "_meta": {"a": 1},
            "arguments": [{"name": "a", "title": "A", "description": "d", "required": true}]})
        }
        Kind::Resource => {
            json!({"uri": "a:b", "name": "a", "title": "A", "description": "d", "mimeType": "m", "size": 1,
            "annotations": annotations, "icons": icons, "_meta": {"a": 1}})
        }
        Kind::Template => {
            json!({"uriTemplate": "a:{b}", "name": "a", "title": "A", "description": "d", "mimeType": "m",
            "annotations": annotations, "icons": icons, "_meta": {"a": 1}})
        }
        Kind::Skill | Kind::Content => unreachable!("not a list of the protocol itself"),
    }
}

/// Every component that differs from `value` at one place.
fn mutations(value: &Value) -> Vec<Value> {
    let mut found = probes();
    match value {
        Value::Object(object) => {
            for name in object.keys() {
                let mut without = object.clone();
                without.remove(name);
                found.push(Value::Object(without));
                for inner in mutations(&object[name]) {
                    let mut with = object.clone();
                    with.insert(name.clone(), inner);
                    found.push(Value::Object(with));
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                for inner in mutations(item) {
                    let mut with = items.clone();
                    with[at] = inner;
                    found.push(Value::Array(with));
                }
            }
        }
        _ => {}
    }
    found
}

/// The table in the program agrees with the official schemas. Run with
/// `MCP_KEEL_MCP_SCHEMA=FOLDER`, a folder with `2025-11-25.json` and the others.
#[test]
#[ignore = "needs MCP_KEEL_MCP_SCHEMA"]
fn mcp_schema_agrees_on_every_component() {
    let folder = crate::machine::folder_of("MCP_KEEL_MCP_SCHEMA");
    let mut compared = [0, 0];
    for revision in REVISIONS {
        let text = std::fs::read_to_string(folder.join(format!("{revision}.json"))).unwrap();
        let official: Value = serde_json::from_str(&text).unwrap();
        for (kind, name) in [
            (Kind::Tool, "Tool"),
            (Kind::Prompt, "Prompt"),
            (Kind::Resource, "Resource"),
            (Kind::Template, "ResourceTemplate"),
        ] {
            let definitions = ["$defs", "definitions"]
                .into_iter()
                .find(|it| official.get(it).is_some());
            let definitions = definitions.unwrap();
            let mut schema = official.clone();
            schema["$ref"] = json!(format!("#/{definitions}/{name}"));
            let validator = jsonschema::options()
                // An annotation; `uri` says what a string is for.
                .should_validate_formats(false)
                .build(&schema)
                .unwrap();
            for component in mutations(&full(kind)) {
                let surface = surface(revision, kind, std::slice::from_ref(&component));
                let named = surface
                    .notes
                    .iter()
                    .all(|it| it.rule != RuleId::ComponentMalformed);
                let accepted = named && !objections(&surface).contains(&RuleId::ListRefused);
                let official = validator.is_valid(&component);
                compared[usize::from(official)] += 1;
                assert_eq!(
                    accepted,
                    official,
                    "{revision} {name}: {}",
                    to_compact(&parse_str(&component.to_string()).unwrap())
                );
            }
        }
    }
    assert!(compared.iter().all(|it| *it > 1_000), "{compared:?}");
}
