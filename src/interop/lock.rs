//! The entry point to other tools' lock files: read, verified, compared and written as those tools
//! do.
//!
//! Most of them store digests without definitions. Such a file can show that something changed but
//! never what; `import` says so before anyone relies on it.

use crate::rules::RuleId;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::compare::{self, PinError, Placed};
use super::contents::Contents;
use super::error::InteropError;
use super::fastmcp;
use super::hangar;
use super::kiwi::disk;
use super::lock_v1;
use super::toolpin::lock::LockEntry;
use super::toolpin::targets::{self, Probe, Subject};
use super::toolpin::write::{Server, WriteError, iso_time, relock};
use crate::canonical::{Document, Json, Object, Text, parse_document, to_pretty};
use crate::surface::{Note, Surface};

/// The server in question.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub name: &'a str,
    /// Whether the name is only the default: then a file with a single server is about this one.
    pub is_unnamed: bool,
}

/// How a server is reached; some pins are bound to it.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// Over HTTP: `scheme://host[:port]`.
    Remote(&'a str),
    Command(&'a [String]),
    /// Not known, so not compared.
    Unknown,
}

/// The result of comparing a surface with pins.
#[derive(Debug, Default)]
pub struct Compared {
    /// The changes, and where in the file each is pinned.
    pub changes: Vec<Placed>,
    /// Other notes on the entries.
    pub notes: Vec<Note>,
}

/// The result of rewriting a file.
#[derive(Debug)]
pub struct Update {
    pub changes: Vec<Placed>,
    /// The new text; `None` if the file is current.
    pub text: Option<String>,
}

/// Another tool's file, detected and read.
#[derive(Clone, Debug)]
pub struct Lock {
    path: PathBuf,
    contents: Contents,
    text: LockText,
}

#[derive(Clone, Debug)]
enum LockText {
    /// With line numbers.
    Json(Document),
    Yaml,
}

impl Lock {
    /// Reads a file; `None` if it does not exist or is not another tool's. Anything unrecognised is
    /// left to the reader of mcp-keel's own baselines, which has the best error message.
    pub fn read(path: &Path) -> Result<Option<Self>, InteropError> {
        match crate::files::read(path) {
            Ok(bytes) => Self::parse(path, &bytes),
            Err(_) => Ok(None),
        }
    }

    /// [`Lock::read`] for content that was already read, or comes from elsewhere.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Option<Self>, InteropError> {
        let is_yaml = path
            .extension()
            .is_some_and(|it| it == "yaml" || it == "yml");
        let (value, text) = if is_yaml {
            let value =
                disk::parse_document(path, bytes).map_err(|error| InteropError::Unreadable {
                    problem: error.to_string(),
                })?;
            (value, LockText::Yaml)
        } else {
            match parse_document(bytes) {
                // mcp-keel's own, and possibly large.
                Ok(document) if document.value.get("manifestVersion").is_some() => return Ok(None),
                Ok(document) => (document.value.clone(), LockText::Json(document)),
                Err(_) => return Ok(None),
            }
        };
        if value.get("manifestVersion").is_some() {
            return Ok(None);
        }
        let name = path.display().to_string();
        match Contents::recognise(&value, &name) {
            None => Ok(None),
            // An empty object belongs to no tool.
            Some(Ok(Contents::FastMcp(manifest))) if manifest.digests.is_empty() => Ok(None),
            Some(Ok(contents)) => Ok(Some(Self {
                path: path.to_owned(),
                contents,
                text,
            })),
            Some(Err(error)) => Err(InteropError::Unsound { place: name, error }),
        }
    }

    /// The name of the format in messages.
    pub fn format(&self) -> &'static str {
        self.contents.format()
    }

    /// What the file records, and what it does not.
    pub fn records(&self) -> String {
        self.contents.records()
    }

    pub fn servers(&self) -> Vec<String> {
        let known = self.contents.known().into_iter();
        let mut servers: Vec<String> = known.map(|(_, name)| name).collect();
        servers.dedup();
        servers
    }

    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The line of a place in it, as named by [`Compared`].
    pub fn line(&self, place: &str) -> usize {
        match &self.text {
            LockText::Json(document) => document.line(place),
            LockText::Yaml => 1,
        }
    }

    /// Whether every entry is intact. Call before any server is started: an attacker who can edit
    /// one entry can edit another.
    pub fn verify(&self) -> Result<(), InteropError> {
        let edited = |place: &str, problem: &str| InteropError::Edited {
            path: self.path.clone(),
            place: place.to_owned(),
            problem: problem.to_owned(),
        };
        match &self.contents {
            Contents::ToolPin(lock) => {
                if lock.entries.is_empty() {
                    return Err(edited("servers", "lockfile has no server entries"));
                }
                for (key, plan) in &lock.entries {
                    let key = key.to_string_lossy();
                    let unsound = |error| InteropError::Unsound {
                        place: key.to_owned(),
                        error,
                    };
                    if let Some(problem) = plan.integrity().map_err(unsound)?.problem() {
                        return Err(edited(key, problem));
                    }
                }
            }
            Contents::LockV1(lock) => {
                if lock.entries().is_empty() {
                    return Err(edited("entries", "lockfile has no server entries"));
                }
                if let Some(violation) = lock.violations().first() {
                    return Err(edited(&violation.path, &violation.code));
                }
            }
            Contents::FastMcp(_) | Contents::Hangar(_) => {}
        }
        Ok(())
    }

    /// The keys (or places) of the entries for a server: by its name, or all of them if no name was
    /// given and they are about a single server.
    pub fn entries(&self, asked: Asked<'_>) -> Result<Vec<String>, InteropError> {
        if let Contents::FastMcp(_) = self.contents {
            return Ok(Vec::new());
        }
        let known = self.contents.known();
        let named: Vec<String> = known
            .iter()
            .filter(|(key, name)| key == asked.name || name == asked.name)
            .map(|(key, _)| key.clone())
            .collect();
        let one_server = known.windows(2).all(|pair| pair[0].1 == pair[1].1);
        if named.is_empty() && one_server && asked.is_unnamed {
            return Ok(known.into_iter().map(|(key, _)| key).collect());
        }
        if named.is_empty() {
            let mut known: Vec<String> = known.into_iter().map(|(_, name)| name).collect();
            known.dedup();
            return Err(InteropError::NoServer {
                path: self.path.clone(),
                server: asked.name.to_owned(),
                known,
            });
        }
        Ok(named)
    }

    pub fn can_be_signed(&self) -> bool {
        matches!(self.contents, Contents::ToolPin(_))
    }

    /// The only entry of the file, if no server was named.
    pub fn only_entry(&self) -> Result<Vec<String>, InteropError> {
        let known = self.contents.known();
        if matches!(self.contents, Contents::FastMcp(_)) || known.len() == 1 {
            return Ok(known.into_iter().map(|(key, _)| key).collect());
        }
        let by_key = matches!(self.contents, Contents::ToolPin(_));
        let shown = known
            .into_iter()
            .map(|(key, name)| if by_key { key } else { name });
        Err(InteropError::Several {
            path: self.path.clone(),
            known: shown.collect(),
        })
    }

    /// Compares a surface with the pins of these entries, as the file's own tool does.
    pub fn compare(
        &self,
        entries: &[String],
        surface: &Surface,
        origin: Origin<'_>,
    ) -> Result<Compared, InteropError> {
        let compared = compared(&self.contents, entries, surface, origin);
        compared.map_err(|error| self.no_digest(error))
    }

    fn no_digest(&self, error: impl Into<PinError>) -> InteropError {
        InteropError::NoDigest {
            path: self.path.clone(),
            error: error.into(),
        }
    }

    /// The file with the server's current tools pinned, at a time since 1970.
    pub fn update(
        &self,
        asked: Asked<'_>,
        server: &Server<'_>,
        surface: &Surface,
        now: Duration,
    ) -> Result<Update, InteropError> {
        match &self.contents {
            Contents::ToolPin(lock) => {
                let is_asked = |key: &Text, plan: &LockEntry| {
                    *key == *asked.name
                        || *asked.name == *plan.name.to_string_lossy()
                        || asked.is_unnamed
                };
                let entries = lock
                    .entries
                    .iter()
                    .filter(|(key, plan)| is_asked(key, plan));
                let (mut keys, mut changes) = (Vec::new(), Vec::new());
                for (key, plan) in entries {
                    let key = key.to_string_lossy();
                    keys.push(key.to_owned());
                    let moved = compare::toolpin(key, plan, surface);
                    changes.extend(moved.map_err(|error| self.no_digest(error))?);
                }
                // Unchanged pins are not rewritten: a lock contains times, and only those would
                // change.
                if !keys.is_empty() && changes.is_empty() {
                    return Ok(Update {
                        changes,
                        text: None,
                    });
                }
                let before = match &self.text {
                    LockText::Json(document) => Some(&document.value),
                    LockText::Yaml => None,
                };
                let text = relock(before, &keys, server, surface, &iso_time(now));
                let text = Some(text.map_err(|error| self.no_digest(error))?);
                Ok(Update { changes, text })
            }
            Contents::FastMcp(pins) => {
                let changes = compare::fastmcp(pins, surface);
                let changes = changes.map_err(|error| self.no_digest(error))?;
                let digests = fastmcp::digests(surface);
                let digests = digests.map_err(|error| self.no_digest(error))?;
                let object = digests
                    .into_iter()
                    .map(|(key, hex)| (Text::from(key), Json::string(hex)))
                    .collect::<Object>();
                Ok(Update {
                    changes,
                    text: Some(to_pretty(&Json::Object(object)) + "\n"),
                })
            }
            Contents::Hangar(_) | Contents::LockV1(_) => Err(InteropError::ReadOnly {
                path: self.path.clone(),
                format: self.format(),
            }),
        }
    }

    pub fn create(
        path: &Path,
        server: &Server<'_>,
        surface: &Surface,
        now: Duration,
    ) -> Result<String, InteropError> {
        relock(None, &[], server, surface, &iso_time(now)).map_err(|error| InteropError::NoDigest {
            path: path.to_owned(),
            error: error.into(),
        })
    }
}

impl From<WriteError> for PinError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Refused(refusal) => Self::Refused(refusal),
            WriteError::Lock(error) => Self::Lock(error),
        }
    }
}

fn compared(
    contents: &Contents,
    entries: &[String],
    surface: &Surface,
    origin: Origin<'_>,
) -> Result<Compared, PinError> {
    let mut found = Compared::default();
    let is_asked = |key: &str| entries.iter().any(|it| it == key);
    match contents {
        Contents::FastMcp(manifest) => found.changes = compare::fastmcp(manifest, surface)?,
        Contents::Hangar(servers) => {
            let upstream = match origin {
                Origin::Remote(origin) => Some(hangar::remote_upstream(origin)),
                Origin::Command(command) => hangar::stdio_upstream(command),
                Origin::Unknown => None,
            };
            for (key, pins) in servers.iter().filter(|(key, _)| is_asked(key)) {
                let moved = compare::hangar(key, pins, surface, upstream.as_deref())?;
                found.changes.extend(moved);
            }
        }
        Contents::ToolPin(lock) => {
            for (key, plan) in &lock.entries {
                let key = key.to_string_lossy();
                if !is_asked(key) {
                    continue;
                }
                found.changes.extend(compare::toolpin(key, plan, surface)?);
                let subject = Subject {
                    name: plan.name.to_string_lossy(),
                    version: plan.version.to_string_lossy(),
                    description: "",
                    target: Some(&plan.target),
                    meta: None,
                };
                for issue in targets::verify(subject, &Probe::Seen).issues {
                    found.notes.push(Note {
                        rule: RuleId::LockTarget,
                        component: None,
                        message: format!("{key}: {} ({})", issue.message, issue.code),
                    });
                }
            }
        }
        Contents::LockV1(lock) => {
            for (index, entry) in lock.entries().iter().enumerate() {
                if is_asked(&index.to_string()) {
                    lock_v1::entry_integrity(entry)?;
                    found
                        .changes
                        .extend(compare::lock_v1(index, entry, surface)?);
                }
            }
        }
    }
    // One server locked for several clients drifts once, not once per client.
    let mut seen: Vec<(String, String)> = Vec::new();
    found.changes.retain(|(change, _)| {
        let key = (
            change.pointer.clone(),
            format!("{:?}{}", change.component, change.message),
        );
        let new = !seen.contains(&key);
        seen.push(key);
        new
    });
    Ok(found)
}
