//! Other tools' files with definitions: mcp-contracts contracts, mcpdiff snapshots, toolsnaps
//! directories, saved lists. They become a surface, with a list of what the original did not
//! record.

use std::path::{Path, PathBuf};

use crate::canonical::{Json, Object, Text, parse};
use crate::surface::{ClientProfile, Lists, Scope, Surface};

/// A directory with more files than this is not a directory of tools.
const MAX_FILES: usize = 10_000;

#[derive(Debug)]
pub struct Definitions {
    /// The name of the format in messages.
    pub format: &'static str,
    pub surface: Surface,
    /// What the file does not record.
    pub missing: Vec<String>,
}

/// Reads a file or directory with definitions; `None` if it is something else.
pub fn read(path: &Path) -> std::io::Result<Option<Definitions>> {
    if path.is_dir() {
        let tools = toolsnaps(path)?;
        if tools.is_empty() {
            return Ok(None);
        }
        return Ok(Some(Definitions {
            format: "a folder of toolsnaps",
            surface: surface(&Json::Null, tools, Lists::default()),
            missing: vec![
                "the server's name, version, protocol and instructions: not recorded in the original".to_owned(),
                "prompts, resources and resource templates: the original records tools only"
                    .to_owned(),
                "the order of the tools: the original does not record it".to_owned(),
            ],
        }));
    }
    let bytes = crate::files::read(path)?;
    let Ok(document) = parse(&bytes) else {
        return Ok(None);
    };
    let holder = ["contract", "snapshot", "surface", "result", "server"]
        .iter()
        .filter_map(|member| document.get(member))
        .find(|inner| inner.get("tools").is_some());
    let holder = match document.get("tools") {
        Some(_) => &document,
        None => match holder {
            Some(holder) => holder,
            None => return Ok(None),
        },
    };
    let mut missing = Vec::new();
    let tools = list(holder.get("tools"), "name", &mut missing);
    if tools.iter().any(|tool| !has_definition(tool)) || tools.is_empty() {
        return Ok(None);
    }
    let lists = Lists {
        prompts: list(holder.get("prompts"), "name", &mut missing),
        resources: list(holder.get("resources"), "uri", &mut missing),
        resource_templates: list(holder.get("resourceTemplates"), "uriTemplate", &mut missing),
        ..Lists::default()
    };
    let info = ["serverInfo", "server", "server_info"]
        .iter()
        .filter_map(|member| holder.get(member).or_else(|| document.get(member)))
        .find(|info| info.get("name").is_some());
    let initialize = match info {
        Some(info) => Json::object([("serverInfo", info.clone())]),
        None => {
            missing.push(
                "the server's name, version, protocol and instructions: not recorded in the original"
                    .to_owned(),
            );
            Json::Null
        }
    };
    for (kind, given) in [
        ("prompts", holder.get("prompts")),
        ("resources", holder.get("resources")),
        ("resource templates", holder.get("resourceTemplates")),
    ] {
        if given.is_none() {
            missing.push(format!("{kind}: not in the file"));
        }
    }
    let is_mcpc = path.to_string_lossy().ends_with(".mcpc.json");
    Ok(Some(Definitions {
        format: if is_mcpc {
            "a contract of mcp-contracts"
        } else {
            "a snapshot with definitions"
        },
        surface: surface(&initialize, tools, lists),
        missing,
    }))
}

fn has_definition(tool: &Json) -> bool {
    tool.get("name").is_some()
        && (tool.get("inputSchema").is_some() || tool.get("description").is_some())
}

/// A list of definitions: an array, or an object by name. Members in snake case are renamed to the
/// protocol's names.
fn list(value: Option<&Json>, identity: &str, missing: &mut Vec<String>) -> Vec<Json> {
    let items: Vec<Json> = match value {
        Some(Json::Array(items)) => items.clone(),
        Some(Json::Object(by_name)) => by_name
            .iter()
            .map(|(name, item)| match item {
                Json::Object(members) if !members.contains(identity) => {
                    let mut named = Object::new();
                    named.push(identity, Json::String(name.clone()));
                    for (member, value) in members.iter() {
                        named.push(member.clone(), value.clone());
                    }
                    Json::Object(named)
                }
                other => other.clone(),
            })
            .collect(),
        _ => Vec::new(),
    };
    items
        .into_iter()
        .map(|item| match item {
            Json::Object(members) => {
                let renamed = members
                    .iter()
                    .map(|(member, value)| {
                        let named = match member.as_str() {
                            Some("input_schema") => "inputSchema",
                            Some("output_schema") => "outputSchema",
                            Some("mime_type") => "mimeType",
                            Some("uri_template") => "uriTemplate",
                            _ => return (member.clone(), value.clone()),
                        };
                        let note = format!(
                            "the spelling of `{}`: it is `{named}` on the wire",
                            member.to_string_lossy()
                        );
                        if !missing.contains(&note) {
                            missing.push(note);
                        }
                        (Text::from(named), value.clone())
                    })
                    .collect::<Object>();
                Json::Object(renamed)
            }
            other => other,
        })
        .collect()
}

/// One file per tool, `.json` or `.snap`, in the order of their names.
fn toolsnaps(folder: &Path) -> std::io::Result<Vec<Json>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)?
        .take(MAX_FILES)
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|it| it == "json" || it == "snap")
        })
        .collect();
    paths.sort();
    let mut tools = Vec::new();
    for path in paths {
        if let Ok(tool) = parse(&crate::files::read(&path)?)
            && has_definition(&tool)
        {
            tools.push(tool);
        }
    }
    Ok(tools)
}

fn surface(initialize: &Json, tools: Vec<Json>, lists: Lists) -> Surface {
    let lists = Lists { tools, ..lists };
    Surface::new(initialize, lists, ClientProfile::default(), Scope::FULL)
}
