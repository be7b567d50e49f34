//! `mcp-keel review`: change by change on a terminal. Nothing is written before the end.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use super::args::ReviewArgs;
use super::output::{self, Color, Delivery};
use super::progress::Progress;
use super::{keys, reference};
use crate::canonical::to_pretty;
use crate::config::edit::Entry;
use crate::launch::own_programs;
use crate::policy::Decision;
use crate::report::{escape, one_change};
use crate::run::check::CheckRequest;
use crate::run::decide::{self, ChangesRequest, Pending};
use crate::run::{Error, Exit};
use crate::sentences::decide as sentences;
use crate::settings::CONFIG;

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Accept,
    Reject,
    Skip,
    AcceptUntil,
    Explain,
    Open,
    AcceptAll,
    Quit,
}

impl Key {
    fn of(key: char) -> Option<Self> {
        Some(match key {
            'a' => Self::Accept,
            'r' => Self::Reject,
            's' | '\n' | '\r' => Self::Skip,
            't' => Self::AcceptUntil,
            'e' | '?' => Self::Explain,
            'o' => Self::Open,
            'A' => Self::AcceptAll,
            'q' => Self::Quit,
            _ => return None,
        })
    }
}

pub(super) async fn run(args: ReviewArgs) -> Result<Exit, Error> {
    if !output::is_attended() {
        return Err(Error::usage(
            "review needs a terminal",
            "without one, `mcp-keel pending` lists the changes, and `mcp-keel accept ID --reason TEXT` accepts one",
        ));
    }
    // Before a server could put a program of that name on the PATH.
    let editor = Editor::of_user();
    let given = &args.flags.given;
    let request = ChangesRequest {
        check: CheckRequest::new(given),
        report: None,
    };
    let progress = Arc::new(Progress::start(Delivery::new(given).quiet));
    let report = decide::changes(&request, progress).await?;
    let pending = decide::pending(&report);
    for (server, problem) in decide::unknown(&report) {
        let sentence = sentences::not_captured(server, problem);
        output::complain(&format!("warning: {}", escape::line(&sentence)));
    }
    output::print(&format!("{}\n", sentences::pending(pending.len())))?;
    if pending.is_empty() {
        return Ok(Exit::Pass);
    }
    let mut review = Review {
        entries: Vec::new(),
        reason: None,
        owner: args.owner,
        editor,
    };
    let finished = review.go_through(&pending)?;
    let entries = review.entries;
    if entries.is_empty() {
        output::print(&format!("{}\n", sentences::nothing_decided()))?;
        return Ok(Exit::Pass);
    }
    let question = sentences::write_now(entries.len());
    if !finished && output::asks(&question)? != Some(true) {
        output::print(&format!("{}\n", sentences::nothing_decided()))?;
        return Ok(Exit::Pass);
    }
    let path = decide::write(given.path(CONFIG).as_deref(), &entries)?;
    let is_accepted = |it: &&Entry| matches!(it.decision, Decision::Accepted { .. });
    let accepted = entries.iter().filter(is_accepted).count();
    let path = path.display().to_string();
    output::print(&format!(
        "{}\n{}\n",
        sentences::decided(accepted, entries.len() - accepted, &path),
        sentences::left(pending.len() - accepted)
    ))?;
    Ok(Exit::Pass)
}

struct Review {
    entries: Vec<Entry>,
    /// The last reason, offered again.
    reason: Option<String>,
    owner: Option<String>,
    editor: Option<Editor>,
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

impl Review {
    /// Returns whether it came to the end.
    fn go_through(&mut self, pending: &[Pending<'_>]) -> Result<bool, Error> {
        let style = output::style(Color::Auto);
        for (index, change) in pending.iter().enumerate() {
            let place = sentences::place(index + 1, pending.len(), change.server);
            let shown = one_change(change.located, style);
            output::print(&format!("\n{}\n{shown}", escape::line(&place)))?;
            loop {
                output::print(&format!("{} ", sentences::keys()))?;
                let Some(key) = keys::read() else {
                    return Ok(false);
                };
                let Some(key) = Key::of(key) else {
                    output::print("\n")?;
                    continue;
                };
                output::print("\n")?;
                match key {
                    Key::Skip => break,
                    Key::Quit => return Ok(false),
                    Key::Explain => {
                        reference::explain(change.located.judged.change.rule.id())?;
                        values(change)?;
                    }
                    Key::Open => open(change, self.editor.as_ref())?,
                    Key::AcceptAll => {
                        let Some(decision) = self.accepted(None)? else {
                            continue;
                        };
                        for change in &pending[index..] {
                            self.entries.push(decide::entry(change, decision.clone()));
                        }
                        return Ok(true);
                    }
                    Key::Accept | Key::AcceptUntil | Key::Reject => {
                        if let Some(decision) = self.decision(key)? {
                            self.entries.push(decide::entry(change, decision));
                            break;
                        }
                    }
                }
            }
        }
        Ok(true)
    }

    /// The decision behind a key; `None` to ask for another key.
    fn decision(&mut self, key: Key) -> Result<Option<Decision>, Error> {
        match key {
            Key::Accept => self.accepted(None),
            Key::AcceptUntil => {
                let asked = output::answer(&format!("{} ", sentences::until()))?;
                let asked = asked.unwrap_or_default();
                match decide::last_day(asked.trim()) {
                    Ok(until) => self.accepted(Some(until)),
                    Err(error) => {
                        output::complain(&error.to_string());
                        Ok(None)
                    }
                }
            }
            _ => Ok(self.why()?.map(|reason| Decision::Rejected {
                reason,
                owner: self.owner.clone(),
            })),
        }
    }

    fn accepted(&mut self, until: Option<crate::policy::Date>) -> Result<Option<Decision>, Error> {
        let owner = match decide::owner(self.owner.as_deref()) {
            Ok(owner) => owner,
            Err(_) => {
                let asked = output::answer(&format!("{} ", sentences::who()))?;
                match asked.as_deref().map(str::trim) {
                    Some(owner) if !owner.is_empty() => owner.to_owned(),
                    _ => return Ok(None),
                }
            }
        };
        self.owner = Some(owner.clone());
        Ok(self.why()?.map(|reason| Decision::Accepted {
            reason,
            owner,
            until,
        }))
    }

    /// The reason; an empty line is the last one again. `None` if there is none.
    fn why(&mut self) -> Result<Option<String>, Error> {
        let question = sentences::why(self.reason.as_deref());
        let asked = output::answer(&format!("{} ", escape::line(&question)))?;
        let asked = asked.map(|it| it.trim().to_owned());
        let reason = asked.filter(|it| !it.is_empty()).or(self.reason.clone());
        self.reason.clone_from(&reason);
        Ok(reason)
    }
}

/// Old and new in full.
fn values(change: &Pending<'_>) -> Result<(), Error> {
    let change = &change.located.judged.change;
    for (label, value) in [("old", &change.old), ("new", &change.new)] {
        if let Some(value) = value {
            let text = escape::short_block(&to_pretty(value), 20_000);
            output::print(&format!("{label}:\n{text}\n"))?;
        }
    }
    Ok(())
}

/// Opens the line that declares the tool in the user's editor, or says where it is.
fn open(change: &Pending<'_>, editor: Option<&Editor>) -> Result<(), Error> {
    let located = change.located;
    let Some(place) = located.source.as_ref().or(located.location.as_ref()) else {
        return output::print(&format!("{}\n", sentences::no_place()));
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
