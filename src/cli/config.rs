//! `mcp-keel config`: the settings in force, and where each of them comes from.

use super::args::{ConfigArgs, TextOrJson};
use super::output::{self, Notes};
use crate::canonical::Json;
use crate::report::escape;
use crate::run::in_force::{InForce, SettingsInForce, Source, Value, settings_in_force};
use crate::run::{Error, Exit};
use crate::settings::{Group, Setting};

/// Values up to this width are aligned in a column.
const WIDEST: usize = 44;

pub(super) fn run(args: &ConfigArgs) -> Result<Exit, Error> {
    let settings = settings_in_force(&args.flags.given, &Notes)?;
    output::print(&match args.format {
        TextOrJson::Terminal => terminal(&settings),
        TextOrJson::Json => output::json(&json(&settings)),
    })?;
    Ok(Exit::Pass)
}

/// One heading per group of settings of the run, and one per server.
pub(super) fn terminal(settings: &SettingsInForce) -> String {
    let mut sections: Vec<(String, Vec<&InForce>)> = Vec::new();
    for group in Group::ALL {
        let of_group = settings.run.iter().filter(|it| it.setting.group == *group);
        sections.push((group.heading().to_owned(), of_group.collect()));
    }
    for (name, of_server) in &settings.servers {
        let heading = format!("[server.{}]", escape::line(name));
        sections.push((heading, of_server.iter().collect()));
    }
    let mut blocks = Vec::new();
    for (heading, listed) in sections {
        let rows: Vec<[String; 3]> = listed.iter().flat_map(|it| rows(it)).collect();
        if rows.is_empty() {
            continue;
        }
        let width = |column: usize| {
            let widths = rows.iter().map(|row| row[column].chars().count());
            widths.filter(|it| *it <= WIDEST).max().unwrap_or_default()
        };
        let (name, value) = (width(0), width(1));
        let lines = rows.iter().map(|row| {
            format!(
                "  {:name$}  {:value$}  {}\n",
                row[0],
                row[1],
                row[2],
                name = name,
                value = value
            )
        });
        blocks.push(format!("{heading}\n{}", lines.collect::<String>()));
    }
    blocks.join("\n")
}

fn rows(in_force: &InForce) -> Vec<[String; 3]> {
    let setting = in_force.setting;
    let row = |value: &Value| {
        [
            setting.name.to_owned(),
            escape::line(&value.text).to_string(),
            source(setting, &value.source),
        ]
    };
    in_force.values.iter().map(row).collect()
}

fn source(setting: &Setting, source: &Source) -> String {
    match source {
        Source::Default => "default".to_owned(),
        Source::ActionDefault => "default of the action".to_owned(),
        Source::File { path, line } => {
            format!("{}:{line}", escape::line(&path.to_string_lossy()))
        }
        Source::ServerList => "server list (from)".to_owned(),
        Source::Flag => setting.typed(),
        Source::Input => {
            let name = setting.input.map_or(setting.name, |it| it.name);
            format!("input {name}")
        }
    }
}

fn json(settings: &SettingsInForce) -> Json {
    let path = |path: &std::path::Path| Json::string(path.to_string_lossy().replace('\\', "/"));
    let value = |value: &Value| {
        let mut members = vec![if value.is_description {
            ("description", Json::string(value.text.as_str()))
        } else {
            ("value", Json::string(value.text.as_str()))
        }];
        let from = match &value.source {
            Source::Default => "default",
            Source::ActionDefault => "action",
            Source::File { .. } => "file",
            Source::ServerList => "list",
            Source::Flag => "flag",
            Source::Input => "input",
        };
        members.push(("from", Json::string(from)));
        if let Source::File { path: file, line } = &value.source {
            let line = i64::try_from(*line).unwrap_or(i64::MAX);
            members.extend([("file", path(file)), ("line", Json::integer(line))]);
        }
        Json::object(members)
    };
    let setting = |it: &InForce| {
        Json::object([
            ("name", Json::string(it.setting.name)),
            (
                "group",
                Json::string(it.setting.group.heading().to_ascii_lowercase()),
            ),
            ("values", Json::Array(it.values.iter().map(value).collect())),
        ])
    };
    let list = |listed: &[InForce]| Json::Array(listed.iter().map(setting).collect());
    let servers = settings.servers.iter().map(|(name, listed)| {
        Json::object([
            ("name", Json::string(name.as_str())),
            ("settings", list(listed)),
        ])
    });
    Json::object([
        ("settingsVersion", Json::integer(1)),
        (
            "config",
            settings.config.as_deref().map_or(Json::Null, path),
        ),
        ("settings", list(&settings.run)),
        ("servers", Json::Array(servers.collect())),
    ])
}
