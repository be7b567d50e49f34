//! The door to files in which other tools keep what they pinned: read, verified, compared and written as those tools do.
//!
//! Most of them keep digests and no definitions. Such a file can say that something moved and never what; `import` says
//! so before anybody relies on it.

use crate::rules::RuleId;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::compare::{self, PinError, Placed};
use super::fastmcp::{self, FlatManifest};
use super::hangar::{self, Pins};
use super::kiwi::disk;
use super::lock_v1::{self, LockV1};
use super::toolpin::lock::{Integrity, LockError, Plan, ToolPinLock};
use super::toolpin::signature::{self, Covered, Envelope, PrivateKey, Schema, SignatureError};
use super::toolpin::targets::{self, Probe, Subject};
use super::toolpin::write::{Server, WriteError, iso_time, relock};
use crate::canonical::{Document, Json, Object, Text, parse, parse_document, to_pretty};
use crate::surface::{Note, Surface};

/// A file of another tool.
#[derive(Clone, Debug)]
pub enum Contents {
    /// FastMCP's flat manifest.
    FastMcp(FlatManifest),
    /// MCP Hangar's pins, by server.
    Hangar(BTreeMap<String, Pins>),
    /// ToolPin's lock, version 2.
    ToolPin(ToolPinLock),
    /// The vendor-neutral draft.
    LockV1(LockV1),
}

impl Contents {
    /// Recognises a document by its members; none if it is nobody's of these. A document that is somebody's and does not
    /// hold is an error in that tool's words.
    pub fn recognise(document: &Json, path: &str) -> Option<Result<Self, LockError>> {
        if document.get("lockfileVersion").is_some() && document.get("lockfile_version").is_none() {
            return Some(ToolPinLock::read(document, path).map(Self::ToolPin));
        }
        if document.get("specVersion").is_some() && document.get("entries").is_some() {
            return Some(LockV1::read(document).map(Self::LockV1));
        }
        if let Some(pins) = Pins::read(document) {
            return Some(Ok(Self::Hangar(pins)));
        }
        let manifest = FlatManifest::read(document)?;
        Some(Ok(Self::FastMcp(manifest)))
    }

    /// Whose file this is, in messages.
    pub fn format(&self) -> &'static str {
        match self {
            Self::FastMcp(_) => "a FastMCP manifest",
            Self::Hangar(_) => "MCP Hangar's pins",
            Self::ToolPin(_) => "a ToolPin lock",
            Self::LockV1(_) => "a lock of the draft mcp-lock/1",
        }
    }

    /// What such a file records, and what is lost with that.
    pub fn records(&self) -> String {
        match self {
            Self::FastMcp(manifest) => format!(
                "it stores {} digests of key and inputSchema, and no definitions, descriptions, annotations or output schemas",
                manifest.digests.len()
            ),
            Self::Hangar(servers) => {
                let tools: usize = servers.values().map(|pins| pins.tools.len()).sum();
                format!(
                    "it stores digests of {tools} tools (name, description, inputSchema, outputSchema), and no definitions; \
                     annotations are not covered"
                )
            }
            Self::ToolPin(lock) => format!(
                "it stores one digest of the whole tool list for each of {} entries, and no definitions; output schemas and \
                 annotations are not covered; trust, evidence and client configuration stay in the lock",
                lock.entries.len()
            ),
            Self::LockV1(lock) => format!(
                "it stores one digest of the tool list for each of {} entries, and no definitions",
                lock.entries().len()
            ),
        }
    }

    /// The entries: the key (or place) of each, and the server that it is about. A manifest without entries has none.
    fn known(&self) -> Vec<(String, String)> {
        match self {
            Self::FastMcp(_) => Vec::new(),
            Self::Hangar(servers) => servers.keys().map(|it| (it.clone(), it.clone())).collect(),
            Self::ToolPin(lock) => lock
                .entries
                .iter()
                .map(|(key, plan)| {
                    let name = plan.name.to_string_lossy();
                    (key.to_string_lossy().to_owned(), name.to_owned())
                })
                .collect(),
            Self::LockV1(lock) => lock
                .entries()
                .iter()
                .enumerate()
                .map(|(index, entry)| {
                    let name = entry.get("name").and_then(Json::as_str).unwrap_or_default();
                    (index.to_string(), name.to_owned())
                })
                .collect(),
        }
    }
}

/// Why a file of another tool is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InteropError {
    /// A YAML file that cannot be read.
    #[error("{problem}")]
    Unreadable {
        /// What is wrong, with the path.
        problem: String,
    },
    /// A file that its own tool would not read, in that tool's words.
    #[error("{place}: {error}")]
    Unsound {
        /// The file, or the key of an entry.
        place: String,
        /// The tool's sentence.
        error: LockError,
    },
    /// An entry that does not hold.
    #[error("{}: {place}: {problem}", path.display())]
    Edited {
        path: PathBuf,
        /// The key or the place of the entry.
        place: String,
        /// What is wrong with it.
        problem: String,
    },
    /// No entry about a server.
    #[error("{} has no server `{server}`", path.display())]
    NoServer {
        path: PathBuf,
        /// The server that was asked for.
        server: String,
        /// The servers that it has.
        known: Vec<String>,
    },
    /// More entries than one where only one can be meant.
    #[error("{} holds {} entries: {}", path.display(), known.len(), known.join(", "))]
    Several {
        path: PathBuf,
        /// The entries.
        known: Vec<String>,
    },
    /// The convention has no digest for what the server lists.
    #[error("{}: {error}", path.display())]
    NoDigest { path: PathBuf, error: PinError },
    /// A file that mcp-keel does not write.
    #[error("{} is {format}, which mcp-keel reads and does not write", path.display())]
    ReadOnly {
        path: PathBuf,
        /// Whose it is.
        format: &'static str,
    },
}

impl InteropError {
    pub fn help(&self) -> String {
        match self {
            Self::Unreadable { .. } => "check the file".to_owned(),
            Self::Unsound { .. } => {
                "restore the committed file, or write it anew with the tool that it belongs to"
                    .to_owned()
            }
            Self::Edited { .. } => {
                "a lock is not edited by hand: restore the committed file, or lock the server again"
                    .to_owned()
            }
            Self::NoServer { known, .. } => format!("name one before `--`: {}", known.join(", ")),
            Self::Several { .. } => {
                "check them with `mcp-keel check --baseline`, and pin each server with `mcp-keel pin`"
                    .to_owned()
            }
            Self::NoDigest { .. } => {
                "the convention of this file has no digest for such a tool".to_owned()
            }
            Self::ReadOnly { .. } => {
                "write it with the tool that it belongs to, or pin into a baseline of our own with --baseline FILE"
                    .to_owned()
            }
        }
    }
}

/// The server that a file is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub name: &'a str,
    /// Whether the name is only the default: then a file about one server is about this one.
    pub is_unnamed: bool,
}

/// Where a server is reached, which some pins are bound to.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// Over HTTP: `scheme://host[:port]`.
    Remote(&'a str),
    /// Started with this command.
    Command(&'a [String]),
    /// Not known, and not compared.
    Unknown,
}

/// What a comparison of a surface with pins found.
#[derive(Debug, Default)]
pub struct Compared {
    /// What moved, and where in the file it is pinned.
    pub changes: Vec<Placed>,
    /// What else is worth saying about the entries.
    pub notes: Vec<Note>,
}

/// What writing a file anew comes to.
#[derive(Debug)]
pub struct Update {
    /// What moves with it.
    pub changes: Vec<Placed>,
    /// The new text; none if the file is current.
    pub text: Option<String>,
}

/// What a lock says of itself, and what it should say.
#[derive(Debug)]
pub struct Verification {
    /// Which form a signature of it has.
    pub schema: Schema,
    /// The digest of the whole lock.
    pub digest: String,
    /// Each entry.
    pub entries: Vec<EntryIntegrity>,
    /// What else is wrong, by the rules of the convention.
    pub violations: Vec<String>,
}

#[derive(Debug)]
pub struct EntryIntegrity {
    pub key: String,
    /// Whether the stored digest is that of the contents.
    pub integrity: Integrity,
    /// The digest of the contents.
    pub computed: String,
}

/// A file of another tool, recognised and read.
#[derive(Clone, Debug)]
pub struct Lock {
    path: PathBuf,
    contents: Contents,
    text: LockText,
}

#[derive(Clone, Debug)]
enum LockText {
    /// With the line of everything.
    Json(Document),
    Yaml,
}

impl Lock {
    /// Reads a file; none if it is not there, or not another tool's. Whatever does not look like one is left to the reader of
    /// our own baselines, which says best what is wrong with it.
    pub fn read(path: &Path) -> Result<Option<Self>, InteropError> {
        match crate::files::read(path) {
            Ok(bytes) => Self::parse(path, &bytes),
            Err(_) => Ok(None),
        }
    }

    /// [`Lock::read`] for a file that was read already, or comes from elsewhere.
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
                // Ours, and possibly large.
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
            // An empty object is nobody's file.
            Some(Ok(Contents::FastMcp(manifest))) if manifest.digests.is_empty() => Ok(None),
            Some(Ok(contents)) => Ok(Some(Self {
                path: path.to_owned(),
                contents,
                text,
            })),
            Some(Err(error)) => Err(InteropError::Unsound { place: name, error }),
        }
    }

    /// Whose file this is, in messages.
    pub fn format(&self) -> &'static str {
        self.contents.format()
    }

    /// What such a file records, and what is lost with that.
    pub fn records(&self) -> String {
        self.contents.records()
    }

    /// The servers that it has entries about.
    pub fn servers(&self) -> Vec<String> {
        let known = self.contents.known().into_iter();
        let mut servers: Vec<String> = known.map(|(_, name)| name).collect();
        servers.dedup();
        servers
    }

    /// What is in it.
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The line of a place in it, such as [`Compared`] names them.
    pub fn line(&self, place: &str) -> usize {
        match &self.text {
            LockText::Json(document) => document.line(place),
            LockText::Yaml => 1,
        }
    }

    /// Whether every entry holds. To be asked before any server is started: whoever can edit one entry can edit another.
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

    /// The keys (or places) of the entries about a server: by its name, or all of them if they are about one server only
    /// and no name was given.
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

    /// Whether mcp-keel can sign it.
    pub fn can_be_signed(&self) -> bool {
        matches!(self.contents, Contents::ToolPin(_))
    }

    /// The only entry of the file, where nothing says which one is meant.
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

    /// A surface against the pins of these entries, as the tool of the file compares them.
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

    /// The file with what a server lists pinned for it, at a time since 1970.
    pub fn update(
        &self,
        asked: Asked<'_>,
        server: &Server<'_>,
        surface: &Surface,
        now: Duration,
    ) -> Result<Update, InteropError> {
        match &self.contents {
            Contents::ToolPin(lock) => {
                let is_asked = |key: &Text, plan: &Plan| {
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
                // What is pinned already is not written again: a lock states times, and they would be all that changed.
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

    /// A new ToolPin lock with one entry.
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

/// Why a file is not a lock that can be verified without a server.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub struct NotALock {
    /// What is wrong, in the tool's words where it has any.
    pub problem: String,
    pub help: String,
}

impl Verification {
    /// Reads a lock and computes what it should state.
    pub fn of(path: &Path) -> Result<Self, NotALock> {
        let name = path.display().to_string();
        let refuse = |problem: String, help: &str| NotALock {
            problem,
            help: help.to_owned(),
        };
        let bytes = crate::files::read(path).map_err(|error| {
            refuse(format!("{name}: cannot read it: {error}"), "check the path")
        })?;
        let document = parse(&bytes).map_err(|error| {
            let problem = format!("Invalid lockfile JSON in {name}: {error}");
            refuse(problem, "restore the committed file")
        })?;
        let help = "a lock is written by ToolPin or by `mcp-keel pin --format toolpin`; restore the committed file";
        let unsound = |error: LockError| refuse(error.to_string(), help);
        let invalid = || format!("Invalid lockfile schema in {name}");
        let contents = match Contents::recognise(&document, &name) {
            Some(contents) => contents.map_err(unsound)?,
            None => return Err(refuse(invalid(), help)),
        };
        match contents {
            Contents::ToolPin(lock) => Self::of_toolpin(&lock).map_err(unsound),
            Contents::LockV1(lock) => {
                let unsupported = |it: &lock_v1::Violation| it.code == "unsupported-spec-version";
                if lock.violations().iter().any(unsupported) {
                    let problem = format!("{name}: unsupported-spec-version at $.specVersion");
                    return Err(refuse(problem, "this mcp-keel reads specVersion 1"));
                }
                Self::of_draft(&lock).map_err(unsound)
            }
            other @ (Contents::FastMcp(_) | Contents::Hangar(_)) => {
                let help = format!(
                    "this is {}, and not a lock; `mcp-keel check --baseline` reads it",
                    other.format()
                );
                Err(refuse(invalid(), &help))
            }
        }
    }

    /// The lock's signature in a file, which need not be there, with a public key and the policy file that was signed with
    /// it.
    pub fn signature(
        &self,
        file: &Path,
        key: Option<&Path>,
        policy: Option<&Path>,
    ) -> Result<signature::Status, SignatureError> {
        signature::status(file, || self.covered(policy), key)
    }

    /// The text of a signature file for the lock, made at a time since 1970; none if the one that is there is this key's and
    /// still covers the lock and the policy.
    pub fn sign(
        &self,
        file: &Path,
        key: &PrivateKey,
        policy: Option<&Path>,
        now: Duration,
    ) -> Result<Option<String>, SignatureError> {
        // Nothing is signed that would not be trusted.
        for entry in &self.entries {
            if let Some(problem) = entry.integrity.problem() {
                return Err(LockError(format!("{}: {problem}", entry.key)).into());
            }
        }
        let covered = self.covered(policy)?;
        if let Ok(before) = Envelope::read(file, self.schema)
            && before.problem(&covered, &key.public())?.is_none()
        {
            return Ok(None);
        }
        Ok(Some(Envelope::sign(&covered, key, now)?.to_text()))
    }

    fn covered(&self, policy: Option<&Path>) -> Result<Covered, SignatureError> {
        Ok(Covered {
            schema: self.schema,
            lock: self.digest.clone(),
            policy: signature::policy_digest(policy)?,
        })
    }

    fn of_toolpin(lock: &ToolPinLock) -> Result<Self, LockError> {
        let mut entries = Vec::new();
        for (key, plan) in &lock.entries {
            entries.push(EntryIntegrity {
                key: key.to_string_lossy().to_owned(),
                integrity: plan.integrity()?,
                computed: plan.computed()?,
            });
        }
        Ok(Self {
            schema: Schema::ToolPin,
            digest: lock.digest()?,
            entries,
            violations: Vec::new(),
        })
    }

    fn of_draft(lock: &LockV1) -> Result<Self, LockError> {
        let mut entries = Vec::new();
        for entry in lock.entries() {
            let text = |member: &str| entry.get(member).and_then(Json::as_str).unwrap_or_default();
            let computed = lock_v1::entry_integrity(entry)?;
            let integrity = match entry.get("integrity").and_then(Json::as_str) {
                None => Integrity::Missing,
                Some(stored) if stored == computed => Integrity::Holds,
                Some(_) => Integrity::Differs,
            };
            entries.push(EntryIntegrity {
                key: format!("{}:{}", text("name"), text("client")),
                integrity,
                computed,
            });
        }
        let violations = lock.violations();
        // These two are in the list of entries already.
        let listed = ["integrity-mismatch", "missing-field:integrity"];
        Ok(Self {
            schema: Schema::Draft,
            digest: lock.digest()?,
            entries,
            violations: violations
                .iter()
                .filter(|it| !listed.contains(&it.code.as_str()))
                .map(|it| format!("{} at {}", it.code, it.path))
                .collect(),
        })
    }
}
