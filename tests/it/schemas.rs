//! The published JSON Schemas describe exactly what the program writes and reads.

use std::path::{Path, PathBuf};

use jsonschema::Validator;
use mcp_keel::capture::Eras;
use mcp_keel::config::Config;
use mcp_keel::drift;
use mcp_keel::judgement::{Exposure, Level, Proof};
use mcp_keel::policy::{
    Acceptance, Action, Date, Enforcement, FailOn, Policy, Unknown, check_version,
};
use mcp_keel::report::{
    Comparison, Cost, Failure, Finding, Located, Place, Report, ServerReport, Status, to_json,
};
use serde_json::{Value, json};

use crate::surfaces::in_file;

const TODAY: Date = Date {
    year: 2026,
    month: 6,
    day: 15,
};

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(at(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn schema(name: &str) -> Value {
    serde_json::from_str(&read(&format!("docs/schema/{name}.schema.json"))).unwrap()
}

fn validator(name: &str) -> Validator {
    let schema = schema(name);
    jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
    jsonschema::draft202012::new(&schema).unwrap()
}

/// A validator's errors for an instance.
fn complaints(validator: &Validator, instance: &Value) -> Vec<String> {
    validator
        .iter_errors(instance)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

fn server(status: Status, changes: Vec<Located>) -> ServerReport {
    ServerReport {
        name: "s".to_owned(),
        status,
        changes,
        findings: Vec::new(),
        version: check_version(Some("1.0.0"), None, None),
        cost: Cost::default(),
        definitions: Vec::new(),
        components: 0,
        accept_with: String::new(),
        third_party: false,
        listed: Vec::new(),
    }
}

fn report(servers: Vec<ServerReport>) -> Value {
    serde_json::from_str(&to_json(&Report::new(
        Comparison::Check,
        servers,
        Vec::new(),
    )))
    .unwrap()
}

#[test]
fn every_member_of_every_schema_is_described() {
    fn walk(at: &str, schema: &Value) {
        for (member, inner) in schema.as_object().into_iter().flatten() {
            for (name, property) in match member.as_str() {
                "properties" | "$defs" => inner.as_object(),
                _ => None,
            }
            .into_iter()
            .flatten()
            {
                let described =
                    property.get("title").is_some() && property.get("description").is_some();
                // A bare reference is described at its target.
                let described = described || property.get("$ref").is_some();
                assert!(described, "{at}/{name} is not described");
                walk(&format!("{at}/{name}"), property);
            }
            if matches!(member.as_str(), "additionalProperties" | "items") {
                walk(&format!("{at}/*"), inner);
            }
            for inner in inner.as_array().into_iter().flatten() {
                walk(at, inner);
            }
        }
    }
    for name in ["baseline", "report", "config"] {
        let schema = schema(name);
        assert_eq!(
            schema["$id"],
            format!(
                "https://raw.githubusercontent.com/mcp-keel/mcp-keel/main/docs/schema/{name}.schema.json"
            )
        );
        walk(name, &schema);
    }
    assert_eq!(schema("baseline")["$id"], mcp_keel::baseline::SCHEMA_URL);
}

#[test]
fn a_baseline_is_valid_and_a_damaged_one_is_not() {
    let validator = validator("baseline");
    let baseline: Value = serde_json::from_str(&read("fixtures/demo/mcp-baseline.json")).unwrap();
    assert_eq!(complaints(&validator, &baseline), [""; 0]);

    let component = "/servers/weather/components/tool:get_alerts@";
    type Edit = fn(&mut Value);
    let edits: [(&str, Edit); 7] = [
        ("", |root| {
            root.as_object_mut().unwrap().remove("integrity");
        }),
        ("", |root| root["pinnedAt"] = json!("today")),
        ("/manifestVersion", |version| *version = json!(2)),
        ("/servers/weather/scheme", |scheme| {
            *scheme = json!("keel-2")
        }),
        ("/servers/weather/surface", |digest| {
            *digest = json!("sha256:00")
        }),
        ("/servers/weather/components", |components| {
            components["greet"] = components["tool:get_alerts@"].clone();
        }),
        (component, |component| {
            component["digests"]["fastmcp"] = component["fingerprint"].clone();
        }),
    ];
    for (place, edit) in edits {
        let mut damaged = baseline.clone();
        edit(damaged.pointer_mut(place).unwrap());
        assert_ne!(damaged, baseline, "{place}");
        assert!(!validator.is_valid(&damaged), "{place}: {damaged}");
    }
}

/// Every pair in `fixtures/rules`, judged, so that every kind of change is in a report.
fn judged(policy: &Policy) -> Vec<ServerReport> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(at("fixtures/rules"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    assert!(!folders.is_empty());
    let one = |folder: &PathBuf| {
        let (old, new) = (
            in_file(&folder.join("old.json")),
            in_file(&folder.join("new.json")),
        );
        let changes: Vec<Located> = policy
            .judge("s", drift::compare(&old, &new), TODAY)
            .into_iter()
            .map(|judged| Located {
                judged,
                location: Some(Place {
                    path: "mcp-baseline.json".into(),
                    line: 1,
                }),
                source: Some(Place {
                    path: "src/tools.ts".into(),
                    line: 12,
                }),
            })
            .collect();
        let status = if changes.is_empty() {
            Status::Clean
        } else {
            Status::Drifted
        };
        let findings = new.notes.iter().map(|note| Finding {
            action: policy.judge_note(note),
            note: note.clone(),
        });
        ServerReport {
            findings: findings.collect(),
            cost: Cost::new(Some(&old), Some(&new)),
            ..server(status, changes)
        }
    };
    folders.iter().map(one).collect()
}

#[test]
fn a_report_of_every_rule_is_valid() {
    let validator = validator("report");
    let mut servers = judged(&Policy::strict());
    assert!(servers.iter().any(|it| {
        it.changes
            .iter()
            .any(|it| !it.judged.change.words.is_empty())
    }));
    assert!(servers.iter().any(|it| !it.findings.is_empty()));
    assert_eq!(complaints(&validator, &report(servers.clone())), [""; 0]);

    // Each proof, whether or not the fixtures contain it, and an accepted change without a
    // location.
    let drifted = servers
        .iter_mut()
        .find(|it| !it.changes.is_empty())
        .unwrap();
    let accepted = drifted.changes[0].judged.id.clone();
    let witness = mcp_keel::canonical::parse_str("{\"city\":\"Oslo\"}").unwrap();
    for proof in [
        Proof::Witness(witness),
        Proof::Subsumed,
        Proof::Undecided("too deep".into()),
    ] {
        let kind = match proof {
            Proof::Witness(_) => "witness",
            Proof::Subsumed => "subsumed",
            _ => "undecided",
        };
        drifted.changes[0].judged.change.proof = Some(proof);
        drifted.changes[0].location = None;
        let report = report(vec![drifted.clone()]);
        let change = &report["servers"][0]["changes"][0];
        assert_eq!(change["proof"]["kind"], kind);
        assert_eq!(complaints(&validator, &report), [""; 0]);
        let mut damaged = report.clone();
        damaged["servers"][0]["changes"][0]["proof"]["kind"] = json!("guess");
        assert!(!validator.is_valid(&damaged));
    }
    let policy = Policy {
        accept: vec![Acceptance {
            change: accepted.clone(),
            reason: "r".into(),
            owner: "@o".into(),
            expires: None,
            line: 1,
        }],
        ..Policy::strict()
    };
    let servers = judged(&policy);
    let mut changes = servers.iter().flat_map(|it| &it.changes);
    assert!(changes.any(|it| it.judged.id == accepted && it.judged.action == Action::Accepted));
    assert_eq!(complaints(&validator, &report(servers)), [""; 0]);
}

#[test]
fn a_report_of_a_server_that_could_not_be_captured_is_valid() {
    let validator = validator("report");
    let failure = Failure {
        stderr: "\u{1b}[31mboom\n".into(),
        command: "x".into(),
        paste: "mask = []".into(),
        ..Failure::new(
            "the command `x` does not exist".into(),
            "check the spelling".into(),
        )
    };
    let report = report(vec![server(Status::Undetermined(failure), Vec::new())]);
    assert_eq!(report["verdict"], "undetermined");
    assert_eq!(complaints(&validator, &report), [""; 0]);
    for (place, value) in [
        ("/servers/0/error", Value::Null),
        ("/servers/0/status", json!("clean")),
        ("/servers/0/counts/breaking", json!(-1)),
        ("/verdict", json!("maybe")),
    ] {
        let mut damaged = report.clone();
        *damaged.pointer_mut(place).unwrap() = value;
        assert!(!validator.is_valid(&damaged), "{place}");
    }
}

/// The JSON model of a TOML document; dates become strings.
fn model(item: &toml_edit::Item) -> Value {
    use toml_edit::{Item, TableLike, Value as Toml};
    let table = |table: &dyn TableLike| -> Value {
        let members = table.iter();
        members.map(|(name, item)| (name, model(item))).collect()
    };
    match item {
        Item::None => Value::Null,
        Item::Table(it) => table(it),
        Item::ArrayOfTables(tables) => tables.iter().map(|it| table(it)).collect(),
        Item::Value(Toml::String(text)) => json!(text.value()),
        Item::Value(Toml::Integer(number)) => json!(number.value()),
        Item::Value(Toml::Float(number)) => json!(number.value()),
        Item::Value(Toml::Boolean(flag)) => json!(flag.value()),
        Item::Value(Toml::Datetime(date)) => json!(date.value().to_string()),
        Item::Value(Toml::InlineTable(it)) => table(it),
        Item::Value(Toml::Array(items)) => {
            let items = items.iter().cloned();
            items.map(|it| model(&Item::Value(it))).collect()
        }
    }
}

/// The example under this heading of a document.
fn example(document: &str, heading: &str) -> String {
    let (_, rest) = document.split_once(heading).expect(heading);
    let (_, rest) = rest.split_once("```toml\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_documented_configuration_is_valid() {
    let validator = validator("config");
    for (document, heading) in [
        ("docs/configuration.md", "## A full example\n"),
        ("README.md", "## Configuration\n"),
    ] {
        let text = example(&read(document), heading);
        Config::parse(Path::new(document), &text).unwrap();
        let value = model(text.parse::<toml_edit::DocumentMut>().unwrap().as_item());
        assert_eq!(complaints(&validator, &value), [""; 0], "{document}");
    }
    let text = example(&read("docs/configuration.md"), "## A full example\n");
    for (right, wrong) in [
        ("enforcement =", "enforcment ="),
        ("pass-env =", "pass_env ="),
        ("[policy.rules]", "[policy.rule]"),
        ("baseline =", "basline ="),
        ("owner =", "ownr ="),
        ("repeat = 3", "repeat = 11"),
        ("settle = 5", "settle = 0"),
        ("args =", "arguments ="),
        ("reason = \"the folder", "why = \"the folder"),
        ("\"block\"", "\"blok\""),
    ] {
        assert!(text.contains(right), "{right}");
        let text = text.replacen(right, wrong, 1);
        let value = model(text.parse::<toml_edit::DocumentMut>().unwrap().as_item());
        assert!(!validator.is_valid(&value), "{wrong}");
        assert!(
            Config::parse(Path::new("mcp-keel.toml"), &text).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn every_key_of_the_configuration_is_documented() {
    let document = read("docs/configuration.md");
    let schema = schema("config");
    for place in [
        "/properties",
        "/properties/policy/properties",
        "/$defs/server/properties",
        "/$defs/server/properties/client/properties",
        "/$defs/acceptance/properties",
        "/$defs/mask/properties",
        "/$defs/profile/properties",
    ] {
        for key in schema.pointer(place).unwrap().as_object().unwrap().keys() {
            assert!(document.contains(&format!("`{key}`")), "{place}: {key}");
        }
    }
}

#[test]
fn the_words_of_the_schemas_are_those_of_the_program() {
    fn same<T: Copy>(schema: &str, place: &str, all: &[T], word: fn(T) -> &'static str) {
        let schema = self::schema(schema);
        let mut listed: Vec<&str> = schema
            .pointer(place)
            .and_then(Value::as_array)
            .unwrap_or_else(|| panic!("{place}"))
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let mut known: Vec<&str> = all.iter().map(|it| word(*it)).collect();
        listed.sort_unstable();
        known.sort_unstable();
        assert_eq!(listed, known, "{place}");
    }
    let policy = |key: &str| format!("/properties/policy/properties/{key}/enum");
    let change = |member: &str| format!("/$defs/change/properties/{member}/enum");
    let words = mcp_keel::policy::RuleSetting::WORDS;
    same(
        "config",
        &policy("enforcement"),
        Enforcement::ALL,
        Enforcement::word,
    );
    // MCP Hangar's current name for `allow_degraded` is also allowed.
    let unknown: Vec<&str> = Unknown::ALL
        .iter()
        .map(|it| it.word())
        .chain([Unknown::ALLOW_ALIAS])
        .collect();
    same("config", &policy("unknown"), &unknown, |word| word);
    same("config", &policy("fail-on"), FailOn::ALL, FailOn::word);
    let eras = "/$defs/server/properties/era/enum";
    same("config", eras, Eras::ALL, Eras::word);
    same(
        "config",
        &policy("fail-on-exposure"),
        Exposure::ALL,
        Exposure::word,
    );
    same(
        "config",
        &policy("rules/additionalProperties"),
        &words,
        |word| word,
    );
    same("report", &change("level"), Level::ALL, Level::word);
    same("report", &change("exposure"), Exposure::ALL, Exposure::word);
    same("report", &change("action"), Action::ALL, Action::word);
    same(
        "report",
        "/properties/verdict/enum",
        mcp_keel::policy::Verdict::ALL,
        mcp_keel::policy::Verdict::word,
    );
    same(
        "report",
        "/$defs/server/properties/version/properties/required/enum",
        mcp_keel::policy::Bump::ALL,
        mcp_keel::policy::Bump::word,
    );
}
