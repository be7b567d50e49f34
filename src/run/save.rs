//! Remembers how a server is started or reached: `[server.NAME]` from what was typed.
//!
//! A value that looks like a secret is never written: its variable is passed on, or named.

use std::path::{Path, PathBuf};

use super::Error;
use crate::capture::http::Template;
use crate::config::Config;
use crate::config::edit::{Document, NewServer, NewValue};
use crate::redact::is_secret;
use crate::sentences::pin as sentences;
use crate::settings::{self, Given, Scope, Setting, Table, ValueKind, in_scopes};

/// What to write, and what could not be written.
#[derive(Debug, Default)]
pub(crate) struct Saved {
    pub(crate) server: NewServer,
    /// Sentences about values that are not written.
    pub(crate) notes: Vec<String>,
}

/// The table of a typed server; `None` if none was typed.
pub(crate) fn typed(given: &Given, name: &str) -> Option<Saved> {
    let command = given.texts(settings::COMMAND);
    let is_url = given.has(settings::URL);
    if command.is_empty() && !is_url {
        return None;
    }
    let mut saved = Saved::default();
    saved.server.name = name.to_owned();
    let values = &mut saved.server.values;
    if !command.is_empty() {
        values.push(("command", NewValue::Texts(command)));
    }
    let mut pass = given.texts(settings::PASS_ENV);
    for setting in in_scopes(&[Scope::Server, Scope::Sandbox]) {
        let Some(key) = setting.key.filter(|it| is_of_server(it.table)) else {
            continue;
        };
        // The client is in the baseline.
        let is_done = [settings::COMMAND, settings::PASS_ENV, settings::CLIENT]
            .iter()
            .any(|it| it.name == setting.name);
        if is_done || !given.has(setting) {
            continue;
        }
        if setting.name == settings::ENV.name {
            let (secret, plain): (Vec<_>, Vec<_>) = given
                .pairs(setting)
                .into_iter()
                .partition(|(name, value)| is_secret(name, value));
            for (name, _) in secret {
                saved.notes.push(sentences::secret_not_saved(&name));
                pass.push(name);
            }
            if !plain.is_empty() {
                values.push((key.name, NewValue::Pairs(plain)));
            }
        } else if setting.name == settings::HEADER.name {
            let mut headers = Vec::new();
            for header in given.texts(setting) {
                let (name, value) = header.split_once(':').unwrap_or((&header, ""));
                match Template::new(value.trim()).shown() {
                    Some(value) => headers.push((name.trim().to_owned(), value.to_owned())),
                    None => saved.notes.push(sentences::header_not_saved(name.trim())),
                }
            }
            if !headers.is_empty() {
                values.push((key.name, NewValue::Pairs(headers)));
            }
        } else if let Some(value) = value(given, setting) {
            values.push((key.name, value));
        }
    }
    if !pass.is_empty() {
        values.push(("pass-env", NewValue::Texts(pass)));
    }
    Some(saved)
}

fn is_of_server(table: Table) -> bool {
    matches!(table, Table::Server | Table::Http)
}

fn value(given: &Given, setting: &'static Setting) -> Option<NewValue> {
    Some(match setting.kind {
        ValueKind::Switch => given.switch(setting).then_some(NewValue::Switch)?,
        ValueKind::Number { .. } => NewValue::Number(given.number(setting)?),
        ValueKind::Command => NewValue::Texts(shlex::split(&given.text(setting)?)?),
        ValueKind::Text | ValueKind::File | ValueKind::Word(_) => {
            NewValue::Text(given.text(setting)?)
        }
        _ => return None,
    })
}

/// Whether the configuration has this server already.
pub(crate) fn is_known(given: &Given, name: &str) -> bool {
    let path = path(given);
    path.exists() && Config::read(&path).is_ok_and(|it| !it.named(name).is_empty())
}

fn path(given: &Given) -> PathBuf {
    let default = || PathBuf::from(crate::config::DEFAULT_PATH);
    given.path(settings::CONFIG).unwrap_or_else(default)
}

/// Writes the table of a typed server. Returns the file, and what was not written.
pub(crate) fn save(given: &Given, name: &str) -> Result<(PathBuf, Vec<String>), Error> {
    let path = path(given);
    let Some(saved) = typed(given, name) else {
        return Err(Error::usage(
            "--save needs a command or an address",
            "pass the command after `--`, or the address with --url",
        ));
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    if !matches!(folder.to_str(), Some("" | ".")) {
        return Err(Error::usage(
            format!(
                "{} is in another folder, and the command is relative to this one",
                path.display()
            ),
            "save it in the folder of the configuration, or write [server.NAME] yourself",
        ));
    }
    let baseline = given.text(settings::BASELINE);
    edit(&path, |document| {
        if let Some(baseline) = &baseline {
            document.set_baseline(baseline);
        }
        document.add_server(&saved.server);
    })?;
    Ok((path, saved.notes))
}

/// Changes a configuration, or begins one. Returns whether it was written.
fn edit(path: &Path, change: impl FnOnce(&mut Document)) -> Result<bool, Error> {
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
