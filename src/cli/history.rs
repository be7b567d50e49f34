//! The contract through git: `log`, `changelog`, and the drivers `git-diff` and `git-merge`.

use std::path::{Path, PathBuf};

use super::args::{ChangelogArgs, LogArgs, TextOrJson};
use super::output::{self, Color};
use crate::canonical::Json;
use crate::drift::Change;
use crate::report::changelog::{Notes, changelog as notes_of};
use crate::report::{escape, signature, terminal};
use crate::run::history::{self, Place, Revision};
use crate::run::plan::today;
use crate::run::{Error, Exit};

/// `mcp-keel log`: when the contract changed.
pub(super) fn log(args: LogArgs) -> Result<Exit, Error> {
    let place = Place::find(args.place.baseline, args.place.config)?;
    let mut revisions = place.log(&mut |note| {
        output::complain(&format!("note: {}", escape::line(note)));
    })?;
    if let Some(tool) = &args.tool {
        for revision in &mut revisions {
            revision.changes.retain(|(_, it)| is_about(it, tool));
        }
        revisions.retain(|it| !it.changes.is_empty());
    }
    match args.format {
        TextOrJson::Json => {
            let listed = revisions.iter().map(revision_json).collect();
            let document = Json::object([("revisions", Json::Array(listed))]);
            output::print(&output::json(&document))?;
        }
        TextOrJson::Terminal => {
            let mut text = String::new();
            for revision in &revisions {
                text += &revision_text(revision);
            }
            if revisions.is_empty() {
                text = match &args.tool {
                    Some(tool) => {
                        format!("No commit of the baseline is about {}.", escape::line(tool))
                    }
                    None => "No commit touched the baseline.".to_owned(),
                } + "\n";
            }
            output::print(&text)?;
        }
    }
    Ok(Exit::Pass)
}

fn is_about(change: &Change, tool: &str) -> bool {
    let key = change.component.as_ref();
    key.is_some_and(|it| it.as_str() == tool || it.tool_name() == Some(tool))
}

fn revision_text(revision: &Revision) -> String {
    let mut names = String::new();
    for tag in &revision.tags {
        names += &format!("  {}", escape::short(tag, 60));
    }
    let mut text = format!(
        "{}  {}{names}  {}\n",
        revision.date,
        revision.commit.get(..10).unwrap_or(&revision.commit),
        escape::short(&revision.subject, 100)
    );
    for (server, old, new) in &revision.versions {
        let line = match (old, new) {
            (Some(old), Some(new)) => format!("{server}: version {old} → {new}"),
            (None, Some(new)) => format!("{server}: version {new}"),
            (Some(old), None) => format!("{server}: version {old} → none"),
            (None, None) => server.clone(),
        };
        text += &format!("  {}\n", escape::short(&line, 200));
    }
    for (server, change) in &revision.changes {
        let component = change.component.as_deref().unwrap_or(server);
        text += &format!(
            "  {:<9} {}  {}\n",
            change.level,
            escape::short(component, 120),
            escape::short(&change.message, 300)
        );
    }
    text + "\n"
}

fn revision_json(revision: &Revision) -> Json {
    let strings = |it: &[String]| it.iter().map(|it| Json::string(it.as_str())).collect();
    let changes = revision.changes.iter().map(|(server, change)| {
        Json::object([
            ("server", Json::string(server.as_str())),
            (
                "component",
                Json::string(change.component.as_deref().unwrap_or("server")),
            ),
            ("rule", Json::string(change.rule.id())),
            ("level", Json::string(change.level.word())),
            ("exposure", Json::string(change.exposure.word())),
            ("message", Json::string(change.message.as_str())),
        ])
    });
    Json::object([
        ("commit", Json::string(revision.commit.as_str())),
        ("date", Json::string(revision.date.as_str())),
        ("subject", Json::string(revision.subject.as_str())),
        ("tags", Json::Array(strings(&revision.tags))),
        ("changes", Json::Array(changes.collect())),
    ])
}

/// `mcp-keel changelog`: release notes.
pub(super) fn changelog(args: ChangelogArgs) -> Result<Exit, Error> {
    let place = Place::find(args.place.baseline, args.place.config)?;
    let range = place.range(&args.range)?;
    let version = match &range.versions[..] {
        [(_, _, Some(version))] => Some(version.clone()),
        _ => None,
    };
    let is_released = range.to != history::UNRELEASED;
    let title = if is_released {
        range.to.trim_start_matches('v').to_owned()
    } else {
        version.unwrap_or_else(|| range.to.clone())
    };
    let date = today().to_string();
    let package = history::package_name();
    let server = range.changes.first().map(|(name, _)| name.clone());
    let package = package.or(server).unwrap_or_else(|| "server".to_owned());
    let notes = Notes {
        title: &title,
        date: range.date.as_deref().or(Some(&date)),
        package: &package,
        changes: &range.changes,
    };
    output::print(&notes_of(&notes, args.style))?;
    Ok(Exit::Pass)
}

/// `mcp-keel git-diff`: with one argument a file as readable text (textconv), else a diff between two files.
pub(super) fn git_diff(arguments: &[PathBuf]) -> Result<Exit, Error> {
    if let [file] = arguments {
        let text = match history::side(file) {
            Ok(Some(manifest)) => {
                let servers = manifest.servers().iter();
                signature::facts(servers.map(|(name, it)| (name.as_str(), &it.surface)))
            }
            Ok(None) => String::new(),
            // Git shows what is there, whatever it is.
            Err(_) => crate::baseline::store::read_text(file)?,
        };
        output::print(&text)?;
        return Ok(Exit::Pass);
    }
    let [path, old, _, _, new, ..] = arguments else {
        return Err(Error::usage(
            "expected one file, or the arguments that git passes to a diff driver",
            "set it up with `git config diff.mcp-keel.command \"mcp-keel git-diff\"`",
        ));
    };
    let shown = escape::line(&path.to_string_lossy()).into_string();
    let sides = (history::side(old), history::side(new));
    match sides {
        (Ok(old), Ok(new)) => {
            let report = history::report(old.as_ref(), new.as_ref());
            let text = terminal(&report, output::style(Color::Auto));
            output::print(&format!("mcp-keel diff {shown}\n\n{text}\n"))?;
        }
        (Err(error), _) | (_, Err(error)) => {
            let note = format!(
                "mcp-keel: {shown} is not a readable baseline ({}); as text:",
                error.message()
            );
            output::print(&format!(
                "{}\n{}",
                escape::line(&note),
                history::text_diff(old, new)
            ))?;
        }
    }
    Ok(Exit::Pass)
}

/// `mcp-keel git-merge`: exits with 1 if there is a conflict, as git expects it.
pub(super) fn git_merge(
    ancestor: &Path,
    ours: &Path,
    theirs: &Path,
    path: Option<&str>,
) -> Result<Exit, Error> {
    let conflicts = history::merge_files(ancestor, ours, theirs)?;
    if conflicts.is_empty() {
        return Ok(Exit::Pass);
    }
    let path = path.map_or_else(|| ours.display().to_string(), str::to_owned);
    let mut text = format!("mcp-keel: {path}: both sides changed the same things differently:");
    for place in &conflicts {
        text += &format!("\n  {place}");
    }
    text +=
        "\ntake one side as a whole (`git checkout --ours` or `--theirs`), then run `mcp-keel pin`";
    output::complain(&escape::block(&text));
    Ok(Exit::Drift)
}
