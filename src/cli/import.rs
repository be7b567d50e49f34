//! `mcp-keel import`: converts another tool's file, or a list that a test keeps, into a baseline, and reports what it has that a
//! baseline does not, and what it does not record.
//!
//! A file with definitions becomes a baseline. A file with digests only cannot: with `--with`, a
//! source that has the definitions is compared with the digests, and becomes the baseline if all of
//! them match.

use std::path::Path;

use super::args::ImportArgs;
use super::output;
use super::progress::Progress;
use crate::baseline::{render, server_entry, store};
use crate::canonical::parse;
use crate::interop::{Lock, Origin};
use crate::release::Release;
use crate::report::escape;
use crate::run::request::SandboxRequest;
use crate::run::{Error, Exit, sources};
use crate::source::{Dialect, Loaded, Pins, Source, SourceError};
use crate::surface::Kind;

pub(super) async fn run(args: ImportArgs) -> Result<Exit, Error> {
    let source = Source::parse(&args.file).map_err(|problem| {
        Error::usage(
            problem,
            "`mcp-keel import --help` lists what can be imported",
        )
    })?;
    if matches!(source, Source::Stdio(_) | Source::Http(_)) {
        return Err(Error::usage(
            format!("{} is a server, not a file", args.file),
            "`mcp-keel pin` writes its baseline",
        ));
    }
    let loaded = match source.load(Dialect::Json) {
        Err(SourceError::DigestsOnly { .. }) => held(&args).await?,
        loaded => loaded?,
    };
    if loaded.format == BASELINE {
        return Err(Error::usage(
            format!("{} is already a baseline of mcp-keel", args.file),
            "there is nothing to import",
        ));
    }
    let Some((own, surface)) = loaded.servers.first_key_value() else {
        return Err(Error::usage(
            format!("{} has no server", args.file),
            "name another file",
        ));
    };
    if surface.components.is_empty() {
        return Err(Error::usage(
            format!("{} lists nothing", args.file),
            "name a file with tools, or pin the server: `mcp-keel pin`",
        ));
    }
    let name = args.server.clone().unwrap_or_else(|| own.clone());
    let entry = server_entry(surface, &Release::of_server(surface));
    let entries = [(name.clone(), entry)].into();
    if args.output.exists() && !args.force {
        return Err(Error::usage(
            format!("{} already exists", args.output.display()),
            "name another file with -o, or use --force",
        ));
    }
    store::write(&args.output, &render(&entries))?;
    output::print(&told(&args, &name, &loaded))?;
    Ok(Exit::Pass)
}

/// How a source that is a baseline of our own calls its format.
const BASELINE: &str = "a baseline";

fn told(args: &ImportArgs, name: &str, loaded: &Loaded) -> String {
    let line = |text: &str| escape::short(text, 300);
    let mut text = format!("{} is {}.\n", line(&args.file), line(&loaded.format));
    for surface in loaded.servers.values() {
        text.push_str(&format!(
            "converted: {} with {} components\n",
            escape::short(name, 100),
            surface.components.len()
        ));
        for part in surface.not_recorded() {
            text.push_str(&format!("not recorded: {}\n", line(&part)));
        }
    }
    for lost in &loaded.lost {
        text.push_str(&format!("not taken over: {}\n", line(lost)));
    }
    text.push_str(&format!("wrote {}\n", args.output.display()));
    if !loaded.launch.is_empty() {
        text.push_str(&format!(
            "it says how the server is reached; for mcp-keel.toml:\n  [server.{}]\n",
            escape::short(name, 100)
        ));
        for setting in &loaded.launch {
            text.push_str(&format!("  {}\n", line(setting)));
        }
    }
    text
}

/// A file with digests only, compared with a source that has the definitions.
async fn held(args: &ImportArgs) -> Result<Loaded, Error> {
    let path = Path::new(&args.file);
    let bytes = crate::files::read(path).map_err(|error| {
        Error::usage(
            format!("{}: cannot read it: {error}", args.file),
            "name the file by its path",
        )
    })?;
    let pins = parse(&bytes).ok().and_then(|it| Pins::recognise(&it));
    let lock = match &pins {
        Some(_) => None,
        None => Lock::parse(path, &bytes)?,
    };
    let (format, records) = match (&pins, &lock) {
        (Some(pins), _) => (pins.format(), pins.records()),
        (None, Some(lock)) => (lock.format(), lock.records()),
        (None, None) => {
            return Err(Error::usage(
                format!("{}: unknown format", args.file),
                "`mcp-keel import --help` lists what can be imported",
            ));
        }
    };
    let Some(source) = &args.with else {
        let as_it_is = match lock {
            Some(_) => format!(
                "`mcp-keel check --baseline {}` uses the file as it is; ",
                args.file
            ),
            None => String::new(),
        };
        return Err(Error::usage(
            format!("{} is {format}: {records}", args.file),
            format!(
                "a digest cannot be turned back into a definition. {as_it_is}`mcp-keel import {} --with \"stdio:COMMAND\"` takes the definitions from the server, if they match the pinned digests",
                args.file
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
    let mut lost = vec![format!(
        "{records}; the definitions of {} tools come from {source}, and match the pinned digests",
        surface.of_kind(Kind::Tool).count()
    )];
    let mismatches = match (&pins, &lock) {
        (Some(pins), _) => {
            lost.extend(pins.lost());
            let help = "an import takes one server";
            let compared = pins.mismatches(args.server.as_deref(), &surface);
            compared.map_err(|problem| Error::usage(problem, help))?
        }
        (None, Some(lock)) => {
            let entries = lock.only_entry()?;
            let moved = lock.compare(&entries, &surface, Origin::Unknown);
            let moved = moved.map_err(|error| {
                Error::usage(error.to_string(), "the source has no such digest")
            })?;
            let changes = moved.changes.iter().map(|(change, _)| change);
            changes
                .map(|change| match &change.component {
                    Some(key) => format!("{key}: {}", change.message),
                    None => change.message.clone(),
                })
                .collect()
        }
        (None, None) => Vec::new(),
    };
    if !mismatches.is_empty() {
        return Err(Error::usage(
            format!(
                "{source} is not what {} pins:\n{}",
                args.file,
                mismatches.join("\n")
            ),
            "import from the version that was pinned, or look at the drift with `mcp-keel check` first",
        ));
    }
    let name = match &pins {
        // Its entries are called CLIENT:SERVER.
        Some(pins) => pins
            .servers()
            .first()
            .and_then(|key| key.rsplit(':').next().map(str::to_owned)),
        None => None,
    };
    let name = name.unwrap_or_else(|| "default".to_owned());
    Ok(Loaded {
        format: format.to_owned(),
        servers: [(name, surface)].into(),
        lost,
        ..Loaded::default()
    })
}
