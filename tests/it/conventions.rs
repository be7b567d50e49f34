//! The conventions that people already use: what their tools print, we print (`fixtures/golden`, or the folder that
//! `MCP_KEEL_GOLDEN` names). Each test tells how many vectors it went through.

use std::path::{Path, PathBuf};

use mcp_keel::canonical::reader::parse_python;
use mcp_keel::canonical::{Json, locale, parse, parse_str, toolpin as canonical};
use mcp_keel::fingerprint::{Profile, hangar, manifest, toolpin};
use mcp_keel::scan;
use mcp_keel::surface::{ClientProfile, Component, Kind, Lists, Scope, Surface, component_key};

/// The folder of the vectors.
pub(crate) fn golden_folder() -> PathBuf {
    match std::env::var_os("MCP_KEEL_GOLDEN") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/golden"),
    }
}

pub(crate) fn golden(file: &str) -> Json {
    let path = golden_folder().join(file);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    parse(&bytes).unwrap()
}

pub(crate) fn rows<'a>(file: &'a Json, member: &str) -> &'a [Json] {
    let rows = file.get(member).and_then(Json::as_array).unwrap();
    assert!(!rows.is_empty());
    rows
}

pub(crate) fn text<'a>(row: &'a Json, member: &str) -> &'a str {
    row.get(member)
        .and_then(Json::as_str)
        .unwrap_or_else(|| panic!("{member} of {row}"))
}

pub(crate) fn tell(file: &str, what: &str, count: usize) {
    assert!(count > 0, "{file}: no vectors");
    eprintln!("{file}: {count} {what}");
}

fn component(definition: Json) -> Component {
    Component {
        kind: Kind::Tool,
        key: component_key(Kind::Tool, &definition),
        definition,
    }
}

pub(crate) fn surface(tools: &[Json]) -> Surface {
    let lists = Lists {
        tools: tools.to_vec(),
        ..Lists::default()
    };
    Surface::new(&Json::Null, lists, ClientProfile::default(), Scope::TOOLS)
}

#[test]
fn hangar_digests_of_both_eras_and_their_halves() {
    let file = golden("tools.json");
    let mut count = 0;
    for row in rows(&file, "tools") {
        let id = text(row, "id");
        let digests = row.get("digests").unwrap();
        let tool = parse_python(text(row, "raw").as_bytes()).map(component);
        let current = digests.get("hangar_1_2_1_up_jcs").unwrap();
        let first = digests.get("hangar_1_2_0_json_dumps").unwrap();
        let expected = |row: &Json, member: &str| row.get(member).and_then(Json::as_str).map(str::to_owned);
        let of = |profile| {
            let tool = tool.as_ref().ok()?;
            let tools = [tool.definition.clone()];
            let digests = manifest(&surface(&tools), profile, &[]).ok()?;
            digests.into_iter().next().map(|(_, hex)| hex)
        };
        assert_eq!(of(Profile::Hangar), expected(current, "sha256"), "{id}");
        assert_eq!(of(Profile::Hangar120), expected(first, "sha256"), "{id}: 1.2.0");
        assert_eq!(of(Profile::HangarStructure), expected(current, "structure_sha256"), "{id}: structure");
        if current.get("parts_error").is_none() {
            assert_eq!(of(Profile::HangarDescription), expected(current, "description_sha256"), "{id}: description");
        }
        count += 1;
    }
    tell("tools.json", "tools, Hangar 1.2.0 and 1.2.1 and later", count);
}

#[test]
fn toolpin_digests_of_single_tools() {
    let file = golden("tools.json");
    let mut count = 0;
    for row in rows(&file, "tools") {
        let id = text(row, "id");
        let expected = row.get("digests").and_then(|it| it.get("toolpin_0_2_up_single_tool_list")).unwrap();
        let Ok(tool) = parse_str(text(row, "raw")) else {
            assert!(expected.get("parse_error").is_some(), "{id}");
            continue;
        };
        let printed = manifest(&surface(&[tool.clone()]), Profile::ToolPin, &[]);
        match expected.get("toolManifestHash") {
            Some(_) => {
                for (name, hex) in printed.unwrap() {
                    assert_eq!(hex, text(expected, &name), "{id} {name}");
                }
            }
            None => assert!(printed.unwrap_err().to_string().contains("NFC"), "{id}"),
        }
        match expected.get("canonicalJson").and_then(Json::as_str) {
            Some(canonical) => assert_eq!(canonical::to_string(&tool).unwrap(), canonical, "{id}"),
            // Long texts are not in the file.
            None => assert_eq!(canonical::to_string(&tool).is_err(), expected.get("canonicalJson_error").is_some(), "{id}"),
        }
        count += 1;
    }
    tell("tools.json", "tools, ToolPin", count);
}

#[test]
fn the_whole_tool_in_rfc_8785() {
    let file = golden("tools.json");
    let mut count = 0;
    for row in rows(&file, "tools") {
        let id = text(row, "id");
        let whole = row.get("digests").and_then(|it| it.get("whole_tool")).unwrap();
        let jcs = whole.get("jcs_python_jcs").unwrap();
        let Ok(tool) = parse_str(text(row, "raw")) else { continue };
        let ours = manifest(&surface(&[tool]), Profile::Jcs, &[]).ok();
        let ours = ours.and_then(|digests| digests.into_iter().next().map(|(_, hex)| hex));
        assert_eq!(ours.as_deref(), jcs.get("sha256").and_then(Json::as_str), "{id}");
        count += 1;
    }
    tell("tools.json", "tools, RFC 8785", count);
}

#[test]
fn toolpin_digests_and_orders_of_tool_lists() {
    let file = golden("toolpin_tool_sets.json");
    for set in rows(&file, "sets") {
        let id = text(set, "id");
        let tools = set.get("tools").and_then(Json::as_array).unwrap();
        for (name, hex) in manifest(&surface(tools), Profile::ToolPin, &[]).unwrap() {
            assert_eq!(hex, text(set, &name), "{id} {name}");
        }
        let mut names: Vec<&str> = tools.iter().filter_map(|tool| tool.get("name")?.as_str()).collect();
        names.sort_by(|one, other| locale::compare(one, other));
        let order = set.get("localeCompare_order_en_US").and_then(Json::as_array).unwrap();
        let order: Vec<&str> = order.iter().filter_map(Json::as_str).collect();
        assert_eq!(names, order, "{id}");
        assert_eq!(toolpin::hashes(&surface(tools)).unwrap().tools, tools.len());
    }
    tell("toolpin_tool_sets.json", "lists", rows(&file, "sets").len());
}

#[test]
fn toolpin_scan_has_the_findings_of_the_original() {
    let file = golden("toolpin_scan.json");
    for case in rows(&file, "cases") {
        let id = text(case, "id");
        let tools = case.get("tools").and_then(Json::as_array).unwrap();
        let ours: Vec<String> = scan::toolpin::scan(&surface(tools))
            .into_iter()
            .map(|it| format!("{} {} {} {}", it.severity, it.code, it.subject, it.message))
            .collect();
        let theirs: Vec<String> = case
            .get("findings")
            .and_then(Json::as_array)
            .unwrap()
            .iter()
            .map(|it| {
                let subject = it.get("subject").and_then(Json::as_text).unwrap().to_string_lossy();
                let message = it.get("message").and_then(Json::as_text).unwrap().to_string_lossy();
                format!("{} {} {subject} {message}", text(it, "severity"), text(it, "code"))
            })
            .collect();
        assert_eq!(ours, theirs, "{id}");
    }
    tell("toolpin_scan.json", "cases", rows(&file, "cases").len());
    let mut characters = 0;
    let hidden = |character: char| {
        let tool = Json::object([("name", Json::string("a")), ("description", Json::string(character.to_string()))]);
        !scan::toolpin::scan(&surface(&[tool])).is_empty()
    };
    for range in rows(&file, "hidden_control_character_ranges_hex") {
        let bound = |at: usize| u32::from_str_radix(range.as_array().unwrap()[at].as_str().unwrap(), 16).unwrap();
        for code in bound(0)..=bound(1) {
            assert!(char::from_u32(code).is_some_and(hidden), "{code:x}");
            characters += 1;
        }
        for code in [bound(0).wrapping_sub(1), bound(1) + 1] {
            assert!(!char::from_u32(code).is_some_and(hidden), "{code:x}");
        }
    }
    tell("toolpin_scan.json", "hidden characters", characters);
}

#[test]
fn hangar_pin_prints_the_digests_of_the_original() {
    let file = golden("hangar_pin_cli.json");
    let expected = file.get("pin").and_then(|it| it.get("stdout")?.get("digests")?.get("replay")).unwrap();
    for raw in rows(&file, "tools_v1_raw") {
        let tool = component(parse_python(raw.as_str().unwrap().as_bytes()).unwrap());
        let name = tool.definition.get("name").and_then(Json::as_str).unwrap();
        assert_eq!(hangar::digest(&tool).unwrap().hex(), text(expected, name), "{name}");
    }
    tell("hangar_pin_cli.json", "tools", rows(&file, "tools_v1_raw").len());
}
