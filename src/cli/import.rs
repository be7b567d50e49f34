//! `mcp-keel import`: from the file of another tool to a baseline of ours, saying what could not be carried over.
//!
//! A file with definitions becomes a baseline. A file with digests only cannot: with `--with`, a source that has the
//! definitions is held against the digests, and becomes the baseline if every one of them holds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::args::ImportArgs;
use super::output;
use super::progress::Progress;
use crate::baseline::foreign::Foreign;
use crate::baseline::{render, server_entry, store};
use crate::canonical::{Json, Object, Text, parse};
use crate::drift::pinned;
use crate::release::Release;
use crate::report::escape;
use crate::run::{Error, Exit, check_lock, sources};
use crate::source::Dialect;
use crate::surface::{ClientProfile, Kind, Lists, Scope, Surface};

/// More files than this are no folder of tools.
const MAX_FILES: usize = 10_000;

/// What was read, and what the original did not record.
struct Imported {
    format: &'static str,
    servers: BTreeMap<String, Surface>,
    missing: Vec<String>,
}

pub(super) async fn run(args: ImportArgs) -> Result<Exit, Error> {
    let imported = match definitions(&args)? {
        Some(imported) => imported,
        None => {
            let file = check_lock::read(&args.file)?.ok_or_else(|| {
                Error::usage(
                    format!("{}: no format that is known here", args.file.display()),
                    "known: FastMCP's manifest, MCP Hangar's pins, ToolPin's mcp-lock.json, mcp-lock/1, .mcpc.json of \
                     mcp-contracts, snapshots of mcpdiff, folders of toolsnaps, saved tools/list results",
                )
            })?;
            held(&args, &file.pins).await?
        }
    };
    let entries = imported
        .servers
        .iter()
        .map(|(name, surface)| {
            (
                name.clone(),
                server_entry(surface, &Release::of_server(surface)),
            )
        })
        .collect();
    if args.output.exists() && !args.force {
        return Err(Error::usage(
            format!("{} is there already", args.output.display()),
            "name another file with -o, or say --force",
        ));
    }
    store::write(&args.output, &render(&entries))?;
    let mut text = format!("{} is {}.\n", args.file.display(), imported.format);
    for (name, surface) in &imported.servers {
        let count = surface.components.len();
        text.push_str(&format!(
            "carried over: {} with {count} components\n",
            escape::short(name, 100)
        ));
    }
    for missing in &imported.missing {
        text.push_str(&format!(
            "not carried over: {}\n",
            escape::short(missing, 300)
        ));
    }
    text.push_str(&format!("wrote {}\n", args.output.display()));
    output::print(&text)?;
    Ok(Exit::Pass)
}

/// A file or folder that holds definitions; none if it is of another kind.
fn definitions(args: &ImportArgs) -> Result<Option<Imported>, Error> {
    let unreadable = |error: std::io::Error| {
        Error::usage(
            format!("{}: cannot read it: {error}", args.file.display()),
            "check the path",
        )
    };
    let name = args.server.clone().unwrap_or_else(|| "default".to_owned());
    let unrecorded = [
        "the server's name, version, protocol and instructions: the original did not record them",
        "prompts, resources and resource templates: the original records tools only",
        "the order of the tools: the original does not keep it",
    ];
    if args.file.is_dir() {
        let tools = toolsnaps(&args.file).map_err(unreadable)?;
        if tools.is_empty() {
            return Ok(None);
        }
        return Ok(Some(Imported {
            format: "a folder of toolsnaps",
            servers: [(name, surface(&Json::Null, tools, Lists::default()))].into(),
            missing: unrecorded.map(str::to_owned).into(),
        }));
    }
    let bytes = crate::bounded::read(&args.file).map_err(unreadable)?;
    let Ok(document) = parse(&bytes) else {
        return Ok(None);
    };
    if document.get("manifestVersion").is_some() {
        return Err(Error::usage(
            format!("{} is a baseline of ours already", args.file.display()),
            "there is nothing to import",
        ));
    }
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
            missing.push(unrecorded[0].to_owned());
            Json::Null
        }
    };
    for (kind, given) in [
        ("prompts", holder.get("prompts")),
        ("resources", holder.get("resources")),
        ("resource templates", holder.get("resourceTemplates")),
    ] {
        if given.is_none() {
            missing.push(format!("{kind}: the file has none"));
        }
    }
    let is_mcpc = args.file.to_string_lossy().ends_with(".mcpc.json");
    Ok(Some(Imported {
        format: if is_mcpc {
            "a contract of mcp-contracts"
        } else {
            "a snapshot with definitions"
        },
        servers: [(name, surface(&initialize, tools, lists))].into(),
        missing,
    }))
}

fn has_definition(tool: &Json) -> bool {
    tool.get("name").is_some()
        && (tool.get("inputSchema").is_some() || tool.get("description").is_some())
}

/// A list of definitions: an array, or an object by name. Members in snake case are given the protocol's names.
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

/// One file a tool, `.json` or `.snap`, in the order of their names.
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
        if let Ok(tool) = parse(&crate::bounded::read(&path)?)
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

/// A file with digests only, held against a source that has the definitions.
async fn held(args: &ImportArgs, pins: &Foreign) -> Result<Imported, Error> {
    let Some(source) = &args.with else {
        return Err(Error::usage(
            format!(
                "{} is {}: {}",
                args.file.display(),
                pins.format(),
                only_digests(pins)
            ),
            format!(
                "a digest cannot be turned back into what it was taken of. `mcp-keel check --baseline {0}` uses the file as it \
                 is; `mcp-keel import {0} --with \"stdio:COMMAND\"` takes the definitions from the server, if they are those \
                 that were pinned",
                args.file.display()
            ),
        ));
    };
    let found = sources::read(
        source,
        Dialect::Json,
        &args.sandbox.request(),
        &Progress::start(false),
    )
    .await?;
    let surface = sources::one(found, None, source)?;
    let compared = match pins {
        Foreign::FastMcp(manifest) => pinned::fastmcp(manifest, &surface),
        Foreign::Hangar(servers) => match (servers.iter().next(), servers.len()) {
            (Some((name, pins)), 1) => pinned::hangar(name, pins, &surface, None),
            _ => return Err(several(args, servers.keys().map(String::as_str))),
        },
        Foreign::ToolPin(lock) => match &lock.entries[..] {
            [(key, plan)] => pinned::toolpin(key.to_string_lossy(), plan, &surface),
            many => {
                return Err(several(
                    args,
                    many.iter().map(|(key, _)| key.to_string_lossy()),
                ));
            }
        },
        Foreign::LockV1(lock) => match lock.entries() {
            [entry] => pinned::lock_v1(0, entry, &surface),
            many => {
                let names = many.iter().filter_map(|it| it.get("name")?.as_str());
                return Err(several(args, names));
            }
        },
    };
    let moved = compared
        .map_err(|error| Error::usage(error.to_string(), "the source has no such digest"))?;
    if !moved.is_empty() {
        let list: Vec<String> = moved
            .iter()
            .map(|(change, _)| match &change.component {
                Some(key) => format!("{key}: {}", change.message),
                None => change.message.clone(),
            })
            .collect();
        return Err(Error::usage(
            format!(
                "{source} is not what {} pins:\n{}",
                args.file.display(),
                list.join("\n")
            ),
            "import from the version that was pinned, or look at the drift with `mcp-keel check` first",
        ));
    }
    let tools_only = surface.of_kind(Kind::Tool).count();
    let name = args.server.clone().unwrap_or_else(|| "default".to_owned());
    Ok(Imported {
        format: pins.format(),
        missing: vec![format!(
            "{}; the definitions of {tools_only} tools come from {source}, and have the digests that were pinned",
            only_digests(pins)
        )],
        servers: [(name, surface)].into(),
    })
}

fn several<'a>(args: &ImportArgs, names: impl Iterator<Item = &'a str>) -> Error {
    let names: Vec<&str> = names.collect();
    Error::usage(
        format!(
            "{} holds {} entries: {}",
            args.file.display(),
            names.len(),
            names.join(", ")
        ),
        "check them with `mcp-keel check --baseline`, and pin each server with `mcp-keel pin`",
    )
}

/// What such a file records, and what is lost with that.
fn only_digests(pins: &Foreign) -> String {
    match pins {
        Foreign::FastMcp(manifest) => format!(
            "it stores {} digests of key and inputSchema, and no definitions, descriptions, annotations or output schemas",
            manifest.digests.len()
        ),
        Foreign::Hangar(servers) => {
            let tools: usize = servers.values().map(|pins| pins.tools.len()).sum();
            format!(
                "it stores digests of {tools} tools (name, description, inputSchema, outputSchema), and no definitions; \
                 annotations are not covered"
            )
        }
        Foreign::ToolPin(lock) => format!(
            "it stores one digest of the whole tool list for each of {} entries, and no definitions; output schemas and \
             annotations are not covered; trust, evidence and client configuration stay in the lock",
            lock.entries.len()
        ),
        Foreign::LockV1(lock) => format!(
            "it stores one digest of the tool list for each of {} entries, and no definitions",
            lock.entries().len()
        ),
    }
}
