//! `mcp-keel import`: converts another tool's file into a baseline, and reports what could not be
//! converted.
//!
//! A file with definitions becomes a baseline. A file with digests only cannot: with `--with`, a
//! source that has the definitions is compared with the digests, and becomes the baseline if all of
//! them match.

use super::args::ImportArgs;
use super::output;
use super::progress::Progress;
use crate::baseline::{render, server_entry, store};
use crate::canonical::parse;
use crate::interop::definitions::{self, Definitions};
use crate::interop::{Lock, Origin};
use crate::release::Release;
use crate::report::escape;
use crate::run::request::SandboxRequest;
use crate::run::{Error, Exit, sources};
use crate::source::Dialect;
use crate::surface::Kind;

pub(super) async fn run(args: ImportArgs) -> Result<Exit, Error> {
    let unreadable = |error: std::io::Error| {
        Error::usage(
            format!("{}: cannot read it: {error}", args.file.display()),
            "check the path",
        )
    };
    if !args.file.is_dir() {
        let bytes = crate::files::read(&args.file).map_err(unreadable)?;
        if parse(&bytes).is_ok_and(|it| it.get("manifestVersion").is_some()) {
            return Err(Error::usage(
                format!("{} is already a baseline of mcp-keel", args.file.display()),
                "there is nothing to import",
            ));
        }
    }
    let imported = match definitions::read(&args.file).map_err(unreadable)? {
        Some(imported) => imported,
        None => {
            let lock = Lock::read(&args.file)?.ok_or_else(|| {
                Error::usage(
                    format!("{}: unknown format", args.file.display()),
                    "supported: FastMCP's manifest, MCP Hangar's pins, ToolPin's mcp-lock.json, mcp-lock/1, .mcpc.json of mcp-contracts, snapshots of mcpdiff, folders of toolsnaps, saved tools/list results",
                )
            })?;
            held(&args, &lock).await?
        }
    };
    let name = args.server.as_deref().unwrap_or("default");
    let surface = &imported.surface;
    let entry = server_entry(surface, &Release::of_server(surface));
    let entries = [(name.to_owned(), entry)].into();
    if args.output.exists() && !args.force {
        return Err(Error::usage(
            format!("{} already exists", args.output.display()),
            "name another file with -o, or use --force",
        ));
    }
    store::write(&args.output, &render(&entries))?;
    let mut text = format!("{} is {}.\n", args.file.display(), imported.format);
    text.push_str(&format!(
        "converted: {} with {} components\n",
        escape::short(name, 100),
        surface.components.len()
    ));
    for missing in &imported.missing {
        text.push_str(&format!("not converted: {}\n", escape::short(missing, 300)));
    }
    text.push_str(&format!("wrote {}\n", args.output.display()));
    output::print(&text)?;
    Ok(Exit::Pass)
}

/// A file with digests only, compared with a source that has the definitions.
async fn held(args: &ImportArgs, lock: &Lock) -> Result<Definitions, Error> {
    let Some(source) = &args.with else {
        return Err(Error::usage(
            format!(
                "{} is {}: {}",
                args.file.display(),
                lock.format(),
                lock.records()
            ),
            format!(
                "a digest cannot be turned back into a definition. `mcp-keel check --baseline {0}` uses the file as it is; `mcp-keel import {0} --with \"stdio:COMMAND\"` takes the definitions from the server, if they match the pinned digests",
                args.file.display()
            ),
        ));
    };
    let found = sources::read(
        source,
        Dialect::Json,
        &SandboxRequest::new(&args.flags.given),
        &Progress::start(false),
    )
    .await?;
    let surface = sources::one(found, None, source)?;
    let entries = lock.only_entry()?;
    let moved = lock
        .compare(&entries, &surface, Origin::Unknown)
        .map_err(|error| Error::usage(error.to_string(), "the source has no such digest"))?
        .changes;
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
    Ok(Definitions {
        format: lock.format(),
        missing: vec![format!(
            "{}; the definitions of {tools_only} tools come from {source}, and match the pinned digests",
            lock.records()
        )],
        surface,
    })
}
