//! Decides about single changes: which are pending, and entries for the configuration.
//!
//! The changes come from a check, or from the JSON report of one. Nothing is written unless every requested
//! change was found.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::check::{CheckRequest, check};
use super::observer::Observer;
use super::plan::today;
use super::{Error, secrets};
use crate::config::edit::{Document, Entry};
use crate::config::suggestion;
use crate::drift::is_change_id;
use crate::git::{self, Repository};
use crate::policy::{Action, Date, Decision};
use crate::report::{self, Located, Report, Status, escape};
use crate::rules::RuleId;
use crate::sentences::decide as sentences;

/// Where the changes come from.
pub(crate) struct ChangesRequest {
    pub(crate) check: CheckRequest,
    /// The JSON report of an earlier check.
    pub(crate) report: Option<PathBuf>,
}

/// The report with the changes to decide about.
pub(crate) async fn changes(
    request: &ChangesRequest,
    observer: Arc<dyn Observer>,
) -> Result<Report, Error> {
    let Some(path) = &request.report else {
        return Ok(check(&request.check, observer).await?.report);
    };
    let text = crate::files::read_to_string(path).map_err(|error| {
        Error::usage(
            format!("{}: cannot read it: {error}", path.display()),
            "name a report that `mcp-keel check --report json=FILE` wrote",
        )
    })?;
    let report = report::from_json(&text).map_err(|error| {
        Error::usage(
            format!("{}: {error}", path.display()),
            "name a report that `mcp-keel check --report json=FILE` wrote",
        )
    })?;
    Ok(report)
}

/// One change that is neither pinned nor accepted.
#[derive(Clone, Copy)]
pub(crate) struct Pending<'a> {
    pub(crate) server: &'a str,
    pub(crate) located: &'a Located,
}

/// The changes that are neither pinned nor accepted.
pub(crate) fn pending(report: &Report) -> Vec<Pending<'_>> {
    let all = every(report);
    all.filter(|it| it.located.judged.action != Action::Accepted)
        .collect()
}

fn every(report: &Report) -> impl Iterator<Item = Pending<'_>> {
    report.servers.iter().flat_map(|server| {
        let changes = server.changes.iter();
        changes.map(|located| Pending {
            server: &server.name,
            located,
        })
    })
}

/// Servers whose changes are not known, and why.
pub(crate) fn unknown(report: &Report) -> Vec<(&str, &str)> {
    let mut unknown = Vec::new();
    for server in &report.servers {
        if let Status::Undetermined(failure) = &server.status {
            unknown.push((server.name.as_str(), failure.message.as_str()));
        }
    }
    unknown
}

/// Which changes are meant.
#[derive(Default)]
pub(crate) struct Selection {
    pub(crate) ids: Vec<String>,
    /// Every pending change of these rules and tools, or every one if there are none.
    pub(crate) all: bool,
    pub(crate) rules: Vec<String>,
    /// Names of tools, or keys of components.
    pub(crate) tools: Vec<String>,
    pub(crate) servers: Vec<String>,
}

/// The meant changes.
pub(crate) fn select<'a>(
    report: &'a Report,
    selection: &Selection,
) -> Result<Vec<Pending<'a>>, Error> {
    let of_servers = |it: &Pending<'_>| {
        selection.servers.is_empty() || selection.servers.iter().any(|name| name == it.server)
    };
    let mut found: Vec<Pending<'a>> = Vec::new();
    for id in &selection.ids {
        let change = one(report, id)?;
        if !found.iter().any(|it| same(it, &change)) {
            found.push(change);
        }
    }
    if selection.all {
        let rules = rules(&selection.rules)?;
        let is_meant = |it: &Pending<'_>| {
            let change = &it.located.judged.change;
            let rule = rules.is_empty() || rules.contains(&change.rule);
            let key = change.component.as_ref();
            let is_named = |name: &String| {
                key.is_some_and(|key| key.as_str() == name || key.tool_name() == Some(name))
            };
            rule && (selection.tools.is_empty() || selection.tools.iter().any(is_named))
        };
        let meant = pending(report)
            .into_iter()
            .filter(|it| of_servers(it) && is_meant(it));
        let before = found.len();
        for change in meant {
            if !found.iter().any(|it| same(it, &change)) {
                found.push(change);
            }
        }
        if found.len() == before && selection.ids.is_empty() {
            return Err(Error::usage(
                "no pending change matches",
                "`mcp-keel pending` lists them with their rules and components",
            ));
        }
    }
    Ok(found)
}

fn same(one: &Pending<'_>, other: &Pending<'_>) -> bool {
    one.located.judged.id == other.located.judged.id
}

fn rules(names: &[String]) -> Result<Vec<RuleId>, Error> {
    let rule = |name: &String| {
        name.parse().map_err(|_| {
            let close = suggestion(name, RuleId::all().map(RuleId::id));
            Error::usage(
                format!("there is no rule `{name}`"),
                close.map_or_else(
                    || "`mcp-keel rules` lists them".to_owned(),
                    |close| format!("did you mean `{close}`?"),
                ),
            )
        })
    };
    names.iter().map(rule).collect()
}

/// The change with this id.
fn one<'a>(report: &'a Report, id: &str) -> Result<Pending<'a>, Error> {
    if !is_change_id(id) {
        return Err(Error::usage(
            format!("`{id}` is not the id of a change"),
            "expected all of its 32 hexadecimal digits, as a report and `mcp-keel pending` show them",
        ));
    }
    match every(report).find(|it| it.located.judged.id == id) {
        Some(change) => Ok(change),
        None => {
            let unknown = unknown(report);
            let message = sentences::no_change(id);
            if let Some((server, problem)) = unknown.first() {
                return Err(Error::undetermined(
                    sentences::no_change_known(id, server, problem),
                    "make the server start, then accept the change; or name the report of an earlier check with --report",
                ));
            }
            let pending = pending(report);
            let help = if pending.is_empty() {
                sentences::pending(0)
            } else {
                let ids = pending.iter().map(|it| it.located.judged.id.as_str());
                let ids: Vec<&str> = ids.take(10).collect();
                let more = pending.len() - ids.len();
                let more = if more > 0 {
                    format!(" and {more} more")
                } else {
                    String::new()
                };
                format!("pending: {}{more}", ids.join(", "))
            };
            Err(Error::usage(message, help))
        }
    }
}

/// A last day: a date, or a number of days from today.
pub(crate) fn last_day(text: &str) -> Result<Date, Error> {
    let days = text
        .strip_suffix('d')
        .and_then(|it| it.parse::<u16>().ok())
        .map(|days| {
            let day = std::time::Duration::from_secs(86_400);
            let then = super::plan::since_1970() + day * u32::from(days);
            Date::from_unix_seconds(then.as_secs())
        });
    let expected = sentences::last_day();
    match days.or_else(|| text.parse().ok()) {
        Some(date) if date < today() => Err(Error::usage(
            format!("--until {text} is in the past"),
            expected,
        )),
        Some(date) => Ok(date),
        None => Err(Error::usage(format!("`{text}` is not a date"), expected)),
    }
}

/// Who decides: the given name, or that of git's configuration.
pub(crate) fn owner(given: Option<&str>) -> Result<String, Error> {
    if let Some(given) = given {
        return match given.trim() {
            "" => Err(Error::usage("--owner is empty", "name a person or a team")),
            owner => Ok(owner.to_owned()),
        };
    }
    let name = Repository::around(Path::new(".")).and_then(|it| {
        let mut git = it.git().ok()?;
        git.args(["config", "--get", "user.name"]);
        let printed = git::output(git, 4096).ok()?;
        String::from_utf8(printed).ok()
    });
    match name.as_deref().map(str::trim) {
        Some(name) if !name.is_empty() => Ok(name.to_owned()),
        _ => Err(Error::usage(
            "the acceptance has no owner",
            "add --owner NAME, such as --owner @maintainers; without it, git's user.name is used",
        )),
    }
}

/// A reason that is not empty.
pub(crate) fn reason(text: &str) -> Result<String, Error> {
    match text.trim() {
        "" => Err(Error::usage(
            "the reason is empty",
            "say why in a few words: --reason \"the provider dropped the default\"",
        )),
        reason => Ok(reason.to_owned()),
    }
}

/// The entry for a change.
pub(crate) fn entry(change: &Pending<'_>, decision: Decision) -> Entry {
    let judged = &change.located.judged;
    let about = judged.change.component.as_deref().unwrap_or("server");
    // A comment is committed and read by people.
    let about = format!(
        "{}: {}: {}",
        change.server,
        about,
        escape::line(&judged.change.message)
    );
    Entry {
        change: judged.id.clone(),
        decision,
        about: secrets::clean(&escape::short(&about, 160)),
    }
}

/// Writes entries into the configuration, all or none. Returns its path.
pub(crate) fn write(config: Option<&Path>, entries: &[Entry]) -> Result<PathBuf, Error> {
    let path = config.unwrap_or(Path::new(crate::config::DEFAULT_PATH));
    edit(path, |document| {
        for entry in entries {
            document.decide(entry);
        }
    })?;
    Ok(path.to_owned())
}

/// Changes a configuration, or begins one. Returns whether it was written.
pub(crate) fn edit(path: &Path, change: impl FnOnce(&mut Document)) -> Result<bool, Error> {
    let failed = |error: std::io::Error| {
        Error::usage(
            format!("{}: cannot write it: {error}", path.display()),
            "check the path and its permissions",
        )
    };
    let _lock = crate::files::lock(path).map_err(failed)?;
    let text = match crate::files::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        text => text.map_err(failed)?,
    };
    let mut document = Document::parse(path, &text)?;
    change(&mut document);
    let text = document.finish(path)?;
    crate::files::replace_if_different(path, text.as_bytes()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_day_is_a_date_or_a_number_of_days_and_not_in_the_past() {
        assert_eq!(last_day("2999-12-31").unwrap().to_string(), "2999-12-31");
        assert_eq!(last_day("0d").unwrap(), today());
        assert!(last_day("30d").unwrap() > today());
        for wrong in ["2001-01-01", "soon", "d", "-1d", "2027-02-30"] {
            assert!(last_day(wrong).is_err(), "{wrong}");
        }
    }
}
