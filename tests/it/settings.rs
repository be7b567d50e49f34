//! One table of settings: everything generated from it is current, and the program agrees with it.

use std::fmt::Write as _;

use mcp_keel::canonical::{Json, Object, parse_str, to_pretty};
use mcp_keel::config::foreign;
use mcp_keel::report::Format;
use mcp_keel::settings::{
    self, ALL, Form, Group, Input, Setting, Split, Table, Unset, ValueKind, inputs,
};

use crate::generated::{assert_blocks_current, assert_current, committed};
use crate::keel::Keel;

/// A help text as a sentence of a document: what a reader would type is code, and a flag has the
/// setting's name there.
fn as_markdown(text: &str) -> String {
    in_words(text, |word, rest| format!("`{word}`{rest}"))
}

/// The same without markup.
fn as_plain(text: &str) -> String {
    in_words(text, |word, rest| format!("{word}{rest}"))
}

fn in_words(text: &str, code: fn(&str, &str) -> String) -> String {
    let word = |word: &str| {
        let end = word.trim_end_matches([';', ',', '.', ':', ')']).len();
        let (name, rest) = word.split_at(end);
        if let Some(flag) = name.strip_prefix("--") {
            return code(flag, rest);
        }
        if name.starts_with("${") || name.starts_with('{') || name.starts_with(".") {
            return code(name, rest);
        }
        word.to_owned()
    };
    // Existing code spans are kept.
    let parts = text.split('`').enumerate().map(|(index, part)| {
        if index % 2 == 1 {
            format!("`{part}`")
        } else {
            part.split(' ').map(word).collect::<Vec<_>>().join(" ")
        }
    });
    parts.collect()
}

fn sentence(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("{}.", text.trim_end_matches('.'))
    }
}

fn joined(sentences: &[String]) -> String {
    let parts: Vec<&str> = sentences.iter().map(String::as_str).collect();
    let parts: Vec<&str> = parts.into_iter().filter(|it| !it.is_empty()).collect();
    parts.join(" ")
}

/// In a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The values of a setting, beyond its help.
fn values(setting: &Setting) -> String {
    match setting.kind {
        ValueKind::Word(_) => format!("One of {}", setting.listed_words().join(", ")),
        ValueKind::Number { from, to } => format!("From {from} to {to}"),
        _ => String::new(),
    }
}

fn split(setting: &Setting, input: Input) -> String {
    match input.split {
        Split::Lines => {
            let value = setting.flag.map_or("value", |it| it.value);
            format!("One {value} per line")
        }
        Split::Words => "Several are separated by spaces, commas or lines".to_owned(),
        Split::Whole | Split::Shell => String::new(),
    }
}

fn yaml_inputs() -> String {
    let mut yaml = String::new();
    let mut group = None;
    for (setting, input) in inputs() {
        if group.replace(setting.group) != Some(setting.group) {
            let _ = writeln!(yaml, "  # {}", setting.group.heading());
        }
        let default = match (input.default, setting.unset.text()) {
            (None, Some(text)) => format!("Default: {text}"),
            _ => String::new(),
        };
        let description = joined(&[
            sentence(&as_plain(setting.help)),
            sentence(&values(setting)),
            sentence(&split(setting, input)),
            sentence(&as_plain(input.note)),
            sentence(&as_plain(&default)),
        ]);
        // A JSON string is a YAML string.
        let _ = writeln!(
            yaml,
            "  {}:\n    description: {description:?}\n    required: false",
            input.name
        );
        if let Some(default) = input.default {
            let _ = writeln!(yaml, "    default: {default:?}");
        }
    }
    yaml
}

#[test]
fn the_inputs_of_both_actions_are_current() {
    assert_blocks_current("action.yml", &[("inputs", yaml_inputs())]);
    let environment: String = inputs()
        .map(|(_, input)| {
            let variable = input.name.to_uppercase().replace('-', "_");
            format!(
                "        INPUT_{variable}: ${{{{ inputs.{} }}}}\n",
                input.name
            )
        })
        .collect();
    assert_blocks_current(
        "host/action.yml",
        &[("inputs", yaml_inputs()), ("environment", environment)],
    );
}

/// The default of a setting in a document.
fn default_cell(unset: Unset) -> String {
    match unset {
        Unset::Nothing => String::new(),
        Unset::Value(value) => format!("`{value}`"),
        Unset::InWords(text) => as_markdown(text),
    }
}

fn github_table() -> String {
    let mut table = "| input | default | meaning |\n|---|---|---|\n".to_owned();
    for (setting, input) in inputs() {
        let default = match input.default {
            Some(default) => format!("`{default}`"),
            None => default_cell(setting.unset),
        };
        let meaning = joined(&[
            sentence(&as_markdown(setting.help)),
            sentence(&values(setting)),
            sentence(&split(setting, input).replace("NAME: ${VARIABLE}", "`NAME: ${VARIABLE}`")),
            sentence(&as_markdown(input.note)),
        ]);
        let _ = writeln!(
            table,
            "| `{}` | {} | {} |",
            input.name,
            cell(&default),
            cell(&meaning)
        );
    }
    table
}

#[test]
fn the_words_of_a_setting_are_those_that_the_program_knows() {
    let known: Vec<&str> = Format::ALL.iter().map(|it| it.word()).collect();
    assert_eq!(settings::FORMAT.listed_words(), known);
    let known: Vec<&str> = foreign::Format::ALL.iter().map(|it| it.word()).collect();
    assert_eq!(settings::FROM_FORMAT.listed_words(), known);
}

fn type_cell(setting: &Setting) -> String {
    match setting.kind {
        ValueKind::Switch => "boolean".to_owned(),
        ValueKind::Text | ValueKind::File => "string".to_owned(),
        ValueKind::Number { from, to } => format!("whole number, {from} to {to}"),
        ValueKind::Word(_) => {
            let words = setting.listed_words().into_iter();
            let words: Vec<String> = words.map(|it| format!("`\"{it}\"`")).collect();
            words.join(", ")
        }
        ValueKind::Files | ValueKind::Names | ValueKind::List | ValueKind::Command => {
            "array of strings".to_owned()
        }
        ValueKind::Pairs | ValueKind::Headers => "table of strings".to_owned(),
        ValueKind::Part | ValueKind::Reports => unreachable!("{} is not a key", setting.name),
        ValueKind::Table(words) => words.to_owned(),
    }
}

/// How a flag relates to the corresponding key.
fn precedence(setting: &Setting) -> String {
    match setting.flag {
        Some(flag) if matches!(flag.form, Form::Long | Form::Short(_)) => match setting.kind {
            ValueKind::Pairs => format!("`--{} {}` adds to it and wins", setting.name, flag.value),
            ValueKind::Headers => format!(
                "`--{} \"{}\"` adds to it and wins",
                setting.name, flag.value
            ),
            ValueKind::Names => format!("`--{} {}` adds to it", setting.name, flag.value),
            ValueKind::Files => String::new(),
            ValueKind::Switch => format!("`--{}` turns it on", setting.name),
            _ => format!("`--{}` overrides it", setting.name),
        },
        _ => String::new(),
    }
}

fn key_table(of: Table) -> String {
    let mut table = "| key | type | default | meaning |\n|---|---|---|---|\n".to_owned();
    for setting in ALL {
        let Some(key) = setting.key.filter(|it| it.table == of) else {
            continue;
        };
        let is_text = !matches!(setting.kind, ValueKind::Switch | ValueKind::Number { .. });
        let default = match (key.unset, setting.unset) {
            (Some(words), _) => words.to_owned(),
            (None, Unset::Value(value)) if is_text => format!("`\"{value}\"`"),
            (None, unset) => default_cell(unset),
        };
        let meaning = joined(&[
            sentence(&as_markdown(setting.help)),
            setting.details.to_owned(),
            sentence(&precedence(setting)),
        ]);
        let _ = writeln!(
            table,
            "| `{}` | {} | {default} | {} |",
            key.name,
            key.type_in_words
                .map_or_else(|| type_cell(setting), str::to_owned),
            cell(&meaning)
        );
    }
    // The address of a server over HTTP is listed where a command is, too.
    if of == Table::Server {
        let command = table.find("| `cwd`").unwrap();
        table.insert_str(
            command,
            "| `url` | string | this or `command` | The address of a server over HTTP, see below. |\n",
        );
    }
    table
}

fn flag_cell(setting: &Setting) -> String {
    let Some(flag) = setting.flag else {
        return String::new();
    };
    let shown = match flag.form {
        Form::Long if flag.value.is_empty() => format!("--{}", setting.name),
        Form::Long => format!("--{} {}", setting.name, flag.value),
        Form::Short(letter) => format!("-{letter}, --{}", setting.name),
        Form::Positional => format!("{}...", flag.value),
        Form::Trailing => format!("-- {}...", flag.value),
    };
    format!("`{shown}`")
}

fn key_cell(setting: &Setting) -> String {
    setting.key.map_or_else(String::new, |key| {
        let within = match key.table {
            Table::Top => "",
            Table::Server | Table::Http => "server.NAME.",
            Table::Client => "server.NAME.client.",
            Table::Policy => "policy.",
        };
        format!("`{within}{}`", key.name)
    })
}

fn all_settings() -> String {
    let mut text = String::new();
    for group in Group::ALL {
        let _ = write!(
            text,
            "\n## {}\n\n| flag | key | input | default | meaning |\n|---|---|---|---|---|\n",
            group.heading()
        );
        for setting in ALL.iter().filter(|it| it.group == *group) {
            let input = setting.input.map(|it| format!("`{}`", it.name));
            let default = match (setting.unset, setting.input.and_then(|it| it.default)) {
                (Unset::Nothing, Some(default)) => format!("`{default}`"),
                (Unset::Value(value), Some(default)) if value != default => {
                    format!("`{value}`; in the action `{default}`")
                }
                (unset, _) => default_cell(unset),
            };
            let meaning = joined(&[
                sentence(&as_markdown(setting.help)),
                sentence(&values(setting)),
            ]);
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} |",
                cell(&flag_cell(setting)),
                key_cell(setting),
                input.unwrap_or_default(),
                cell(&default),
                cell(&meaning)
            );
        }
    }
    text + "\n"
}

#[test]
fn the_tables_of_the_documents_are_current() {
    assert_blocks_current(
        "docs/configuration.md",
        &[
            ("top level", key_table(Table::Top)),
            ("server", key_table(Table::Server)),
            ("http", key_table(Table::Http)),
            ("client", key_table(Table::Client)),
            ("policy", key_table(Table::Policy)),
        ],
    );
    assert_blocks_current("docs/github.md", &[("inputs", github_table())]);
    assert_blocks_current("docs/settings.md", &[("settings", all_settings())]);
}

fn text(text: &str) -> Json {
    Json::string(text)
}

/// A member of an object by its name, created if missing.
fn member<'a>(object: &'a mut Json, name: &str) -> &'a mut Json {
    let Json::Object(members) = object else {
        panic!("{name}: no object around it");
    };
    if !members.contains(name) {
        members.push(name, Json::Object(Object::new()));
    }
    members.get_mut(name).unwrap()
}

/// The schema of a key, as far as it is generated.
fn schema_members(setting: &Setting) -> Vec<(&'static str, Json)> {
    let object = |members: &[(&str, Json)]| {
        let members = members.iter();
        Json::Object(
            members
                .map(|(name, value)| ((*name).into(), value.clone()))
                .collect(),
        )
    };
    let strings = || object(&[("type", text("string"))]);
    let mut title = setting.key.unwrap().name.replace('-', " ");
    title[..1].make_ascii_uppercase();
    let details = setting.details.replace("See below.", "");
    let description = joined(&[
        sentence(&as_markdown(setting.help)),
        without_links(&details).trim().to_owned(),
    ]);
    let mut members = vec![("title", text(&title)), ("description", text(&description))];
    if setting.key.unwrap().type_in_words.is_none() {
        let integer = |number: u64| Json::integer(i64::try_from(number).unwrap());
        members.extend(match setting.kind {
            ValueKind::Switch => vec![("type", text("boolean"))],
            ValueKind::Text | ValueKind::File => vec![("type", text("string"))],
            ValueKind::Number { from, to } => vec![
                ("type", text("integer")),
                ("minimum", integer(from)),
                ("maximum", integer(to)),
            ],
            ValueKind::Word(words) => {
                let words = words.iter().map(|it| text(it.name));
                vec![("enum", Json::Array(words.collect()))]
            }
            ValueKind::Files | ValueKind::Names | ValueKind::List => {
                vec![("type", text("array")), ("items", strings())]
            }
            ValueKind::Command => vec![
                ("type", text("array")),
                ("items", strings()),
                ("minItems", Json::integer(1)),
            ],
            ValueKind::Pairs | ValueKind::Headers => vec![
                ("type", text("object")),
                ("additionalProperties", strings()),
            ],
            ValueKind::Part | ValueKind::Reports | ValueKind::Table(_) => Vec::new(),
        });
    }
    if let Unset::Value(value) = setting.unset {
        let value = match setting.kind {
            ValueKind::Switch => Json::Bool(value == "true"),
            ValueKind::Number { .. } => Json::integer(value.parse().unwrap()),
            _ => text(value),
        };
        members.push(("default", value));
    }
    members
}

/// Replaces `[text](address)` with the text.
fn without_links(markdown: &str) -> String {
    let mut plain = String::new();
    let mut rest = markdown;
    while let Some((before, link)) = rest.split_once('[') {
        plain += before;
        match link.split_once("](") {
            Some((shown, after)) if !shown.contains([' ', '`', '"']) => {
                plain += shown;
                rest = after.split_once(')').unwrap().1;
            }
            _ => {
                plain += "[";
                rest = link;
            }
        }
    }
    plain + rest
}

#[test]
fn the_schema_of_the_configuration_is_current() {
    let path = "docs/schema/config.schema.json";
    let mut schema = parse_str(&committed(path)).unwrap();
    for setting in ALL {
        let Some(key) = setting.key else { continue };
        let within: &[&str] = match key.table {
            Table::Top => &["properties"],
            Table::Server | Table::Http => &["$defs", "server", "properties"],
            Table::Client => &["$defs", "server", "properties", "client", "properties"],
            Table::Policy => &["properties", "policy", "properties"],
        };
        let mut place = &mut schema;
        for name in within.iter().chain([&key.name]) {
            place = member(place, name);
        }
        // Hand-written parts (examples, the members of a table) are kept.
        for (name, value) in schema_members(setting) {
            *member(place, name) = value;
        }
    }
    assert_current(path, &(to_pretty(&schema) + "\n"));
}

#[test]
fn names_are_used_once() {
    let unique = |mut names: Vec<String>| {
        names.sort();
        let before = names.len();
        names.dedup();
        assert_eq!(names.len(), before, "{names:?}");
    };
    unique(ALL.iter().map(|it| it.name.to_owned()).collect());
    unique(inputs().map(|(_, it)| it.name.to_owned()).collect());
    unique(
        ALL.iter()
            .map(|it| key_cell(it))
            .filter(|it| !it.is_empty())
            .collect(),
    );
    assert!(settings::keys(&[Table::Http]).contains(&"headers"));
}

#[test]
fn help_texts_are_one_line_without_a_full_stop() {
    for setting in ALL {
        let help = setting.help;
        assert!(!help.ends_with('.') && !help.contains("  "), "{help}");
        let details = setting.details;
        assert!(details.is_empty() || details.ends_with('.'), "{details}");
    }
}

/// The words in the table are those of the types that read them.
#[test]
fn words_are_those_of_the_program() {
    use mcp_keel::settings as table;
    fn same(setting: &Setting, words: &[&str]) {
        let mut known: Vec<&str> = setting.words().iter().map(|it| it.name).collect();
        let mut words = words.to_vec();
        known.sort_unstable();
        words.sort_unstable();
        assert_eq!(known, words, "{}", setting.name);
    }
    macro_rules! words {
        ($type:ty) => {
            &<$type>::ALL.iter().map(|it| it.word()).collect::<Vec<_>>()
        };
    }
    same(table::ERA, words!(mcp_keel::capture::Eras));
    same(
        table::TRANSPORT,
        words!(mcp_keel::capture::http::HttpTransport),
    );
    same(table::SANDBOX, words!(mcp_keel::launch::sandbox::Level));
    same(
        table::FROM_FORMAT,
        words!(mcp_keel::config::foreign::Format),
    );
    same(table::POLICY, words!(mcp_keel::policy::Preset));
    same(table::FAIL_ON, words!(mcp_keel::policy::FailOn));
    same(
        table::FAIL_ON_EXPOSURE,
        words!(mcp_keel::judgement::Exposure),
    );
    same(table::ENFORCEMENT, words!(mcp_keel::policy::Enforcement));
    let mut formats = words!(mcp_keel::report::Format).clone();
    formats.push("toolpin");
    same(table::FORMAT, &formats);
    let mut unknown = words!(mcp_keel::policy::Unknown).clone();
    unknown.push(mcp_keel::policy::Unknown::ALLOW_ALIAS);
    same(table::UNKNOWN, &unknown);
}

/// The defaults in the table are those of the program.
#[test]
fn defaults_are_those_of_the_program() {
    use mcp_keel::settings as table;
    let value = |setting: &Setting| match setting.unset {
        Unset::Value(value) => value,
        other => panic!("{}: {other:?}", setting.name),
    };
    let limits = mcp_keel::capture::Limits::default();
    let seconds = limits.request.as_secs().to_string();
    assert_eq!(limits.request, limits.start);
    let policy = mcp_keel::policy::Policy::default();
    for (setting, default) in [
        (table::TIMEOUT, seconds.as_str()),
        (table::ERA, mcp_keel::capture::Eras::default().word()),
        (
            table::TRANSPORT,
            mcp_keel::capture::http::HttpTransport::default().word(),
        ),
        (
            table::SANDBOX,
            mcp_keel::launch::sandbox::Level::default().word(),
        ),
        (table::POLICY, policy.preset.word()),
        (table::ENFORCEMENT, policy.enforcement.word()),
        (table::BASELINE, mcp_keel::baseline::DEFAULT_PATH),
    ] {
        assert_eq!(value(setting), default, "{}", setting.name);
    }
    assert_eq!(policy.unknown, None);
    assert_eq!((policy.fail_on, policy.fail_on_exposure), (None, None));
    assert!(!policy.require_version_bump);
}

const CONFIGURATION: &str = r#"baseline = "contracts/{server}.json"

[server.weather]
command = ["node", "dist/index.js", "a b"]
env = { API_BASE = "http://127.0.0.1:9", API_TOKEN = "hunter2-of-the-file" }
timeout = 60
sandbox = "strict"

[server.search]
url = "https://search.example/mcp?key=hunter2-of-the-address"
headers = { X-Key = "hunter2-of-the-header" }

[server.notes]
command = ["uv", "run", "notes-server"]
timeout = 20

[server.notes.profile.editor]
client = "vscode"
env = { NOTES_MODE = "editor" }

[policy]
unknown = "warn"
fail-on = "risky"
"#;

/// The values of a setting, each with its origin.
fn in_force(settings: &serde_json::Value, name: &str) -> Vec<String> {
    let settings = settings.as_array().unwrap();
    let found = settings.iter().find(|it| it["name"] == name);
    let values = found.map_or(&[][..], |it| it["values"].as_array().unwrap());
    let shown = values.iter().map(|it| {
        let value = it["value"].as_str().or(it["description"].as_str());
        let line = it["line"].as_u64().map(|it| format!(":{it}"));
        let from = it["from"].as_str().unwrap();
        format!("{} <- {from}{}", value.unwrap(), line.unwrap_or_default())
    });
    shown.collect()
}

#[test]
fn config_prints_what_is_in_force_and_where_it_comes_from() {
    let keel = Keel::new().file("mcp-keel.toml", CONFIGURATION);
    let run = [
        "config",
        "--timeout",
        "5",
        "--env",
        "API_BASE=http://127.0.0.1:1",
        "--enforcement",
        "warn",
        "--format",
        "json",
    ];
    let run = keel.run(&run).exits(0).says_nothing_of("hunter2");
    let settings = run.json();
    assert_eq!(settings["config"], "mcp-keel.toml");
    let of_run = |name: &str| in_force(&settings["settings"], name);
    assert_eq!(of_run("baseline"), ["contracts/{server}.json <- file:1"]);
    assert_eq!(of_run("fail-on"), ["risky <- file:23"]);
    assert_eq!(of_run("enforcement"), ["warn <- flag"]);
    // `--enforcement` also replaces `unknown` from the file.
    assert_eq!(of_run("unknown"), ["as enforcement <- default"]);
    assert_eq!(of_run("policy"), ["default <- default"]);
    assert_eq!(
        of_run("fail-on-exposure"),
        ["medium, or none with --fail-on or strict <- default"]
    );
    // Only the action has them.
    assert_eq!(of_run("comment"), [""; 0]);

    let server = |name: &str| {
        let servers = settings["servers"].as_array().unwrap();
        let found = servers.iter().find(|it| it["name"] == name);
        found.unwrap_or_else(|| panic!("{name}: {settings}"))["settings"].clone()
    };
    let weather = server("weather");
    let of_weather = |name: &str| in_force(&weather, name);
    assert_eq!(
        of_weather("command"),
        ["node dist/index.js 'a b' <- file:4"]
    );
    assert_eq!(of_weather("timeout"), ["5 <- flag"]);
    assert_eq!(
        of_weather("env"),
        [
            "API_TOKEN=[redacted] <- file:5",
            "API_BASE=http://127.0.0.1:1 <- flag"
        ]
    );
    assert_eq!(of_weather("sandbox"), ["strict <- file:7"]);
    assert_eq!(of_weather("era"), ["auto <- default"]);
    // It has no effect for a server over stdio.
    assert_eq!(of_weather("transport"), [""; 0]);

    let search = server("search");
    assert_eq!(
        in_force(&search, "url"),
        ["https://search.example/mcp?key=[redacted] <- file:10"]
    );
    assert_eq!(
        in_force(&search, "header"),
        ["X-Key: [redacted] <- file:11"]
    );
    assert_eq!(in_force(&search, "transport"), ["auto <- default"]);
    let editor = server("notes@editor");
    assert_eq!(in_force(&editor, "client"), ["vscode <- file:18"]);
    assert_eq!(
        in_force(&editor, "env"),
        [
            "NOTES_MODE=editor <- file:19",
            "API_BASE=http://127.0.0.1:1 <- flag"
        ]
    );

    // The terminal shows the same, in a table.
    let run = keel.run(&["config", "weather", "--timeout", "5"]).exits(0);
    let rows: Vec<Vec<&str>> = run
        .stdout
        .lines()
        .map(|it| it.split_whitespace().collect())
        .collect();
    for row in [
        &["[server.weather]"][..],
        &["timeout", "5", "--timeout"],
        &["fail-on", "risky", "mcp-keel.toml:23"],
        &["servers", "weather", "SERVER"],
    ] {
        assert!(rows.iter().any(|it| it == row), "{row:?}: {}", run.stdout);
    }
    run.says_nothing_of("hunter2")
        .says_nothing_of("server.notes");
}

#[test]
fn config_rejects_what_check_rejects() {
    let keel = Keel::new().file("mcp-keel.toml", "[server.a]\ncomand = [\"x\"]\n");
    keel.run(&["config"])
        .exits(2)
        .says("mcp-keel.toml:2")
        .says("did you mean `command`?");
    keel.run(&["config", "--timeuot", "3"])
        .exits(2)
        .says("--timeout");
    let keel = Keel::new().file("mcp-keel.toml", CONFIGURATION);
    keel.run(&["config", "wether"])
        .exits(2)
        .says("did you mean `weather`?");
    // Without a server there are still defaults.
    Keel::new()
        .run(&["config"])
        .exits(0)
        .says("mcp-baseline.json");
}

#[test]
fn a_typed_address_overrides_how_the_configuration_reaches_the_server() {
    let keel = Keel::new().file("mcp-keel.toml", CONFIGURATION);
    let typed = [
        "config",
        "search",
        "--url",
        "http://127.0.0.1:9/mcp",
        "--format",
        "json",
    ];
    let settings = keel.run(&typed).exits(0).json();
    let search = &settings["servers"][0]["settings"];
    assert_eq!(in_force(search, "url"), ["http://127.0.0.1:9/mcp <- flag"]);
    assert_eq!(in_force(search, "header"), [""; 0]);
    let typed = [
        "config", "weather", "--format", "json", "--", "node", "x.js",
    ];
    let settings = keel.run(&typed).exits(0).json();
    let weather = &settings["servers"][0]["settings"];
    assert_eq!(in_force(weather, "command"), ["node x.js <- flag"]);
    assert_eq!(in_force(weather, "timeout"), ["60 <- file:6"]);
}

#[test]
fn every_flag_is_listed_under_its_heading() {
    let help = Keel::new().run(&["check", "--help"]).exits(0).stdout;
    let mut heading = "";
    let mut found = Vec::new();
    for line in help.lines() {
        if let Some(title) = line.strip_suffix(':').filter(|it| !it.starts_with(' ')) {
            heading = title;
        }
        let words = line.split_whitespace().take(2);
        if let Some(flag) = words.filter_map(|it| it.strip_prefix("--")).next() {
            found.push((heading, flag));
        }
    }
    for setting in ALL {
        let is_named = |form| matches!(form, Form::Long | Form::Short(_));
        if setting.flag.is_some_and(|it| is_named(it.form)) {
            let wanted = (setting.group.heading(), setting.name);
            assert!(found.contains(&wanted), "{wanted:?} is not in {found:?}");
        }
    }
}
