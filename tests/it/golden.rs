//! Vectors printed by the original implementations (`fixtures/golden`, see its README) hold here
//! too.

use crate::interop::conventions::{golden, manifest};
use mcp_keel::canonical::python::{NonFinite, dumps};
use mcp_keel::canonical::reader::parse_python;
use mcp_keel::canonical::{Json, jcs, parse_str, to_canonical};
use mcp_keel::interop::fastmcp::digest as fastmcp;
use mcp_keel::surface::{ClientProfile, Component, ComponentKey, Kind, Lists, Scope, Surface};

fn rows<'a>(file: &'a Json, member: &str) -> &'a [Json] {
    let rows = file.get(member).and_then(Json::as_array).unwrap();
    assert!(!rows.is_empty());
    rows
}

fn text<'a>(row: &'a Json, member: &str) -> &'a str {
    row.get(member)
        .and_then(Json::as_str)
        .unwrap_or_else(|| panic!("{member} of {row}"))
}

#[test]
fn numbers_print_as_in_python_and_in_rfc_8785() {
    for row in rows(&golden("numbers.json"), "rows") {
        let number = parse_str(text(row, "literal")).unwrap();
        assert_eq!(
            dumps(&number, NonFinite::Infinity).unwrap(),
            text(row, "python_json")
        );
        match row.get("jcs").and_then(Json::as_str) {
            Some(expected) => assert_eq!(jcs::to_string(&number).unwrap(), expected),
            None => assert!(jcs::to_string(&number).is_err(), "{row}"),
        }
    }
}

#[test]
fn the_canonical_form_distinguishes_all_numbers_and_is_rfc_8785_where_that_is_exact() {
    let file = golden("numbers.json");
    for row in rows(&file, "rows") {
        let number = parse_str(text(row, "literal")).unwrap();
        let ours = to_canonical(&number);
        let again = parse_str(&ours).unwrap();
        let (Json::Number(number), Json::Number(again)) = (&number, &again) else {
            panic!("{row}")
        };
        assert_eq!(
            number.decimal(),
            again.decimal(),
            "{ours} is not the number {row}"
        );
    }
}

fn tool(raw: &Json, meta: Option<&Json>) -> Component {
    let mut definition = raw.clone();
    if let (Json::Object(object), Some(meta)) = (&mut definition, meta) {
        object.push("_meta", meta.clone());
    }
    Component {
        kind: Kind::Tool,
        key: ComponentKey::of(Kind::Tool, &definition),
        definition,
    }
}

#[test]
fn fastmcp_recipe_and_its_variants() {
    use fastmcp::Field::{Annotations, Description, Meta, OutputSchema};
    let variants: [(&str, &[fastmcp::Field]); 6] = [
        ("recipe", &[]),
        ("with_description", &[Description]),
        ("with_outputSchema", &[OutputSchema]),
        ("with_annotations", &[Annotations]),
        ("with__meta", &[Meta]),
        (
            "with_description_outputSchema_annotations",
            &[Description, OutputSchema, Annotations],
        ),
    ];
    for row in rows(&golden("tools.json"), "tools") {
        let raw = parse_python(text(row, "raw").as_bytes());
        let expected = row.get("digests").and_then(|d| d.get("fastmcp")).unwrap();
        let Ok(raw) = raw else {
            panic!("{} should be readable", text(row, "id"))
        };
        for version in ["unversioned", "v1.0.0", "int_2"] {
            let Some(expected) = expected.get(version) else {
                assert!(expected.get("parse_error").is_some());
                assert!(fastmcp::digest(&tool(&raw, None), &[]).is_err());
                continue;
            };
            let tool = tool(&raw, expected.get("_meta"));
            for (variant, fields) in variants {
                let digest = fastmcp::digest(&tool, fields).map(|digest| digest.hex());
                let wanted = expected.get(variant).and_then(Json::as_str);
                assert_eq!(
                    digest.as_deref().ok(),
                    wanted,
                    "{} {version} {variant}: {digest:?}",
                    text(row, "id")
                );
            }
        }
    }
}

#[test]
fn fastmcp_keys() {
    let mut keys = 0;
    for row in rows(&golden("fastmcp_keys.json"), "rows") {
        // A FastMCP server sends the version as the string it made of it; versions it rejects are
        // never sent.
        let Some(expected) = row.get("key").and_then(Json::as_str) else {
            continue;
        };
        let version = row.get("version").cloned().unwrap_or(Json::Null);
        let meta = Json::object([("fastmcp", Json::object([("version", version)]))]);
        let definition =
            Json::object([("name", row.get("name").unwrap().clone()), ("_meta", meta)]);
        assert_eq!(ComponentKey::of(Kind::Tool, &definition), expected);
        keys += 1;
    }
    crate::interop::conventions::tell("fastmcp_keys.json", "keys", keys);
}

#[test]
fn fastmcp_manifest_from_the_wire_equals_the_servers_own() {
    use fastmcp::Field::{Annotations, Description, Meta, OutputSchema};
    let file = golden("fastmcp_wire.json");
    for (version, row) in file
        .get("versions")
        .and_then(Json::as_object)
        .unwrap()
        .iter()
    {
        let mut lists = Lists::default();
        for page in rows(row.get("wire").unwrap(), "raw_pages") {
            let answer = parse_str(page.as_str().unwrap()).unwrap();
            let tools = answer.get("result").and_then(|result| result.get("tools"));
            lists
                .tools
                .extend(tools.and_then(Json::as_array).unwrap().to_vec());
        }
        let surface = Surface::new(&Json::Null, lists, ClientProfile::default(), Scope::TOOLS);
        let server_side = row.get("server_side").unwrap();
        let ours = manifest(&surface, "fastmcp", &[]).unwrap();
        assert!(!ours.is_empty());
        for (key, hex) in ours {
            let expected = server_side.get("manifest").unwrap();
            assert_eq!(
                expected.get(&key).and_then(Json::as_str),
                Some(&*hex),
                "{version:?} {key}"
            );
        }
        for (variant, field) in [
            ("with_description", Description),
            ("with_outputSchema", OutputSchema),
            ("with_annotations", Annotations),
            ("with__meta", Meta),
        ] {
            for (key, hex) in manifest(&surface, "fastmcp", &[field]).unwrap() {
                let expected = server_side
                    .get("variants")
                    .and_then(|v| v.get(&key))
                    .unwrap();
                assert_eq!(text(expected, variant), hex, "{version:?} {key} {variant}");
            }
        }
    }
}
