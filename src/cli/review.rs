//! `mcp-keel review`: component by component on a terminal, into the baseline. Nothing is written before the end.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use super::args::ReviewArgs;
use super::output::{self, Color, Delivery};
use super::progress::Progress;
use super::{keys, reference};
use crate::canonical::to_pretty;
use crate::launch::own_programs;
use crate::report::{Located, Style, escape, one_change};
use crate::run::pin::{Observation, PinRequest, observe};
use crate::run::repeat::Purpose;
use crate::run::review::{Item, accepted, items, unchanged};
use crate::run::sign_lock::SignRequest;
use crate::run::{Error, Exit};
use crate::sentences::counted;
use crate::settings::{COMMAND, Given, SERVERS, URL};

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Accept,
    Skip,
    Explain,
    Open,
    AcceptAll,
    Quit,
}

impl Key {
    /// The next key that means something; others, and the end of a line, do nothing.
    fn read() -> Self {
        loop {
            match keys::read() {
                Some('a') => return Self::Accept,
                Some('s') => return Self::Skip,
                Some('e' | '?') => return Self::Explain,
                Some('o') => return Self::Open,
                Some('A') => return Self::AcceptAll,
                Some('q') | None => return Self::Quit,
                Some(_) => {}
            }
        }
    }
}

pub(super) async fn run(args: ReviewArgs) -> Result<Exit, Error> {
    if !output::is_attended() {
        return Err(Error::usage(
            "review needs a terminal",
            "without one, `mcp-keel check` shows what differs, and `mcp-keel pin --only TOOL` accepts it",
        ));
    }
    // Before a server could put a program of that name on the PATH.
    let editor = Editor::of_user();
    let given = &args.flags.given;
    let observation = observed(given, Purpose::Pin).await?;
    observation.without_conflicts()?;
    let undetermined = !observation.failed().is_empty();
    for (server, error) in observation.failed() {
        let sentence = format!("{server} could not be captured: {}", error.message());
        output::complain(&format!("warning: {}", escape::line(&sentence)));
    }
    let exit = if undetermined {
        Exit::Undetermined
    } else {
        Exit::Pass
    };
    let items = items(&observation, observation.policy());
    if items.is_empty() {
        output::print("Nothing to review: the baseline is what the servers list.\n")?;
        return Ok(exit);
    }
    let taken = go_through(&items, editor.as_ref())?;
    let chosen = accepted(&taken);
    if taken.is_empty() || !confirmed(&taken)? {
        output::print("Nothing was written.\n")?;
        return Ok(exit);
    }
    // What is written is what was shown.
    let mut again = given.clone();
    if !given.has(COMMAND) && !given.has(URL) {
        again.set(SERVERS, chosen.keys().map(OsString::from).collect());
    }
    unchanged(&chosen, &observation, &observed(&again, Purpose::Check).await?)?;
    let left = items.len() - taken.len();
    drop(taken);
    drop(items);
    let outcome = observation.write(Some(&chosen), &Progress::start(true))?;
    if let Some((_, error)) = outcome.failed.into_iter().find(|(server, _)| chosen.contains_key(server)) {
        return Err(error);
    }
    let crate::report::Comparison::Pin { written } = &outcome.report.comparison else {
        return Ok(exit);
    };
    let files: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    let rest = match left {
        0 => "Nothing is left.".to_owned(),
        left => format!("{} left.", counted(left, "component")),
    };
    let files = escape::line(&files.join(", ")).into_string();
    output::print(&format!("Written. {rest} Commit {files}.\n"))?;
    Ok(exit)
}

async fn observed(given: &Given, purpose: Purpose) -> Result<Observation, Error> {
    let progress = Arc::new(Progress::start(Delivery::new(given).quiet));
    let request = PinRequest::new(given, false, SignRequest::default());
    observe(request, purpose, progress).await
}

/// Asks about each item. Returns what was accepted.
fn go_through<'i, 'a>(
    items: &'i [Item<'a>],
    editor: Option<&Editor>,
) -> Result<Vec<&'i Item<'a>>, Error> {
    let style = output::style(Color::Auto);
    let mut taken = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let place = format!("{} of {}: {} of {}", index + 1, items.len(), item.name, item.seen.name);
        output::print(&format!("\n{}\n{}", escape::line(&place), shown(item, style)))?;
        loop {
            output::print("[a]ccept [s]kip [e]xplain [o]pen [A]ccept all that is left [q]uit? ")?;
            let key = Key::read();
            output::print("\n")?;
            match key {
                Key::Accept => taken.push(item),
                Key::Skip => {}
                Key::Quit => return Ok(taken),
                Key::AcceptAll => {
                    taken.extend(&items[index..]);
                    return Ok(taken);
                }
                Key::Explain => {
                    explain(item)?;
                    continue;
                }
                Key::Open => {
                    open(item, editor)?;
                    continue;
                }
            }
            break;
        }
    }
    Ok(taken)
}

/// An item with its signatures, the descriptions of what is new, and its changes.
fn shown(item: &Item<'_>, style: Style) -> String {
    let mut text = String::new();
    for (mark, line) in item.lines() {
        text += &format!("  {mark} {}\n", escape::line(&line));
    }
    for description in item.new_descriptions() {
        let block = escape::short_block(&description, 4_000).into_string();
        for line in block.lines() {
            text += &format!("      {line}\n");
        }
    }
    for located in &item.changes {
        text += &one_change(located, style);
    }
    text
}

/// Shows what will be written, and asks. Only a `y` means yes.
fn confirmed(taken: &[&Item<'_>]) -> Result<bool, Error> {
    let mut text = String::from("\nThis will be written:\n");
    let mut before = None;
    for item in taken {
        let place = (&item.seen.path, &item.seen.name);
        if before != Some(place) {
            let heading = format!("{}, {}", place.0.display(), place.1);
            text += &format!("  {}\n", escape::line(&heading));
            before = Some(place);
        }
        for (mark, line) in item.lines() {
            text += &format!("    {mark} {}\n", escape::line(&line));
        }
    }
    let count = counted(taken.len(), "component");
    output::print(&format!("{text}Write {count}? [y/n] "))?;
    let answer = loop {
        match keys::read() {
            Some('y' | 'Y') => break true,
            Some('n' | 'N' | 'q') | None => break false,
            Some(_) => {}
        }
    };
    output::print("\n")?;
    Ok(answer)
}

/// What the user's variables name.
struct Editor {
    words: Vec<String>,
    program: Result<PathBuf, String>,
}

impl Editor {
    fn of_user() -> Option<Self> {
        let variable = |name: &str| crate::own_env::var(name)?.into_string().ok();
        let line = ["VISUAL", "EDITOR"].into_iter().find_map(variable)?;
        let words = shlex::split(&line)?;
        let program = own_programs::named(words.first()?);
        Some(Self { words, program })
    }
}

/// The rules of an item, each once, and its values in full.
fn explain(item: &Item<'_>) -> Result<(), Error> {
    let mut explained = Vec::new();
    for Located { judged, .. } in &item.changes {
        let change = &judged.change;
        if !explained.contains(&change.rule) {
            explained.push(change.rule);
            reference::explain(change.rule.id())?;
        }
        for (label, value) in [("old", &change.old), ("new", &change.new)] {
            if let Some(value) = value {
                let text = escape::short_block(&to_pretty(value), 20_000);
                output::print(&format!("{label}:\n{text}\n"))?;
            }
        }
    }
    Ok(())
}

/// Opens the line that declares the tool in the user's editor, or says where it is.
fn open(item: &Item<'_>, editor: Option<&Editor>) -> Result<(), Error> {
    let sources = item.changes.iter().filter_map(|it| it.source.as_ref());
    let locations = item.changes.iter().filter_map(|it| it.location.as_ref());
    let Some(place) = sources.chain(locations).next() else {
        return output::print("The line that declares it is not known.\n");
    };
    let shown = format!("{}:{}", place.slashed(), place.line);
    let Some(Editor { words, program }) = editor else {
        return output::print(&format!("{}\n", escape::line(&shown)));
    };
    let program = match program {
        Ok(program) => program,
        Err(problem) => {
            output::complain(&format!("warning: {}", escape::line(problem)));
            return output::print(&format!("{}\n", escape::line(&shown)));
        }
    };
    let mut command = Command::new(program);
    command.args(&words[1..]);
    let is_code = words[0].ends_with("code") || words[0].ends_with("codium");
    if is_code {
        command.arg("--goto").arg(shown);
    } else {
        command.arg(format!("+{}", place.line)).arg(&place.path);
    }
    if command.status().is_err() {
        output::complain(&format!(
            "warning: cannot start {}",
            escape::line(&words[0])
        ));
    }
    Ok(())
}
