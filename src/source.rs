//! Anything that can be read as a surface: a baseline, a capture, a saved list, a git revision, a
//! live server.

use std::collections::BTreeMap;
use std::path::Path;

use crate::baseline::{BaselineError, Manifest};
use crate::canonical::reader::parse_unless;
use crate::canonical::{Json, ReadError};
use crate::capture::http::{HttpAddress, Template};
use crate::capture::{CaptureFailure, Captured};
use crate::files;
use crate::git::{self, Repository};
use crate::surface::{
    CacheHint, Caching, ClientProfile, Era, Kind, KindSet, Lists, Scope, Surface, list_members,
};

/// The surfaces of a source by server name. Most sources have one.
pub type Surfaces = BTreeMap<String, Surface>;

/// The largest source, in bytes and in values: a hundred thousand tools and more. A baseline is held to the
/// bounds of every committed file ([`files::MAX_BYTES`], `canonical::reader::MAX_VALUES`), a live server to
/// those of a capture.
const MAX_BYTES: u64 = 256 << 20;
const MAX_VALUES: usize = 10_000_000;

/// A source that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    #[error("{what}: {problem}")]
    Unreadable {
        what: String,
        problem: String,
        help: String,
    },
    #[error("{what}: not JSON: {error}")]
    NotJson { what: String, error: ReadError },
    #[error("{what}: {problem}")]
    NotASource { what: String, problem: String },
    /// An invalid baseline.
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    /// A live server that could not be captured (exit 3).
    #[error("{what}: {failure}")]
    Capture {
        what: String,
        failure: Box<CaptureFailure>,
    },
}

impl SourceError {
    pub fn help(&self) -> String {
        match self {
            Self::Unreadable { help, .. } => help.clone(),
            Self::NotJson { .. } | Self::NotASource { .. } => {
                "a source is a baseline, a capture, a saved `tools/list` result, `-`, `git:REF:PATH`, `stdio:COMMAND` or an `http(s)://` endpoint"
                    .to_owned()
            }
            Self::Baseline(error) => error.help().to_owned(),
            Self::Capture { failure, .. } => failure.help(),
        }
    }
}

/// How to read numbers that JSON does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Json,
    /// `NaN` and `Infinity` as CPython reads them.
    Python,
}

/// A source as named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Stdin,
    /// `git:REF:PATH`
    Git {
        revision: String,
        path: String,
    },
    /// `stdio:COMMAND`
    Stdio(Vec<String>),
    Http(HttpAddress),
    File(String),
}

impl Source {
    pub fn parse(name: &str) -> Result<Self, String> {
        if name == "-" {
            return Ok(Self::Stdin);
        }
        if let Some(rest) = name.strip_prefix("git:") {
            return match rest.split_once(':') {
                Some((revision, path)) if !revision.is_empty() && !path.is_empty() => {
                    Ok(Self::Git {
                        revision: revision.to_owned(),
                        path: path.to_owned(),
                    })
                }
                _ => Err(format!(
                    "`{name}`: expected git:REF:PATH, such as git:main:mcp-baseline.json"
                )),
            };
        }
        if let Some(command) = name.strip_prefix("stdio:") {
            return match shlex::split(command) {
                Some(words) if !words.is_empty() => Ok(Self::Stdio(words)),
                _ => Err(format!(
                    "`{name}`: expected stdio: and a command, such as \"stdio:node dist/index.js\""
                )),
            };
        }
        if name.starts_with("http://") || name.starts_with("https://") {
            // Not `${NAME}`: whatever a shell left in place here is not for mcp-keel to expand.
            return match HttpAddress::new(&Template::new(name), &|_| None) {
                Ok(endpoint) => Ok(Self::Http(endpoint)),
                // Not quoted: the address may contain credentials.
                Err(error) => Err(format!("{error}: {}", error.help())),
            };
        }
        Ok(Self::File(name.to_owned()))
    }

    /// The content of a source that is not live.
    fn read(&self) -> Result<Vec<u8>, SourceError> {
        match self {
            Self::Stdin => bounded("standard input", std::io::stdin().lock()),
            Self::File(path) => {
                let help =
                    "check the path; a live server is named as \"stdio:COMMAND\" or by its URL";
                files::read_at_most(Path::new(path), MAX_BYTES)
                    .map_err(|error| unreadable(path, &error.to_string(), help))
            }
            Self::Git { revision, path } => git_show(revision, path),
            Self::Stdio(_) | Self::Http(_) => Ok(Vec::new()),
        }
    }

    /// The source's name for messages.
    pub fn name(&self) -> String {
        match self {
            Self::Stdin => "standard input".to_owned(),
            Self::File(path) => path.clone(),
            Self::Git { revision, path } => format!("git:{revision}:{path}"),
            Self::Stdio(command) => format!("stdio:{}", command.join(" ")),
            Self::Http(endpoint) => endpoint.to_string(),
        }
    }

    /// The surfaces of a source that is not live.
    pub fn surfaces(&self, dialect: Dialect) -> Result<Surfaces, SourceError> {
        parse_source(&self.name(), &self.read()?, dialect)
    }
}

/// The surfaces in a text: a baseline, a capture, a saved list result. `name` is for messages.
pub fn parse_source(name: &str, bytes: &[u8], dialect: Dialect) -> Result<Surfaces, SourceError> {
    let what = name.to_owned();
    let python = dialect == Dialect::Python;
    let document = match parse_unless(bytes, "manifestVersion", MAX_VALUES, python) {
        Ok(document) => document,
        // A baseline with conflict markers is not JSON; its own reader has the better message.
        Err(_) if bytes.windows(15).any(|it| it == b"manifestVersion") => None,
        Err(error) => return Err(SourceError::NotJson { what, error }),
    };
    let Some(document) = document else {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let servers = Manifest::parse(Path::new(&what), text)?.into_servers();
        let surfaces = servers.into_iter();
        return Ok(surfaces.map(|(name, it)| (name, it.surface)).collect());
    };
    let (name, surface) =
        from_document(document).map_err(|problem| SourceError::NotASource { what, problem })?;
    Ok([(name, surface)].into())
}

/// A capture, a saved list result, or the JSON-RPC response around one.
pub(crate) fn from_document(mut document: Json) -> Result<(String, Surface), String> {
    if document.get("tools").is_none()
        && let Json::Object(members) = &mut document
        && let Some(result) = members.take("result")
    {
        document = result;
    }
    let listed: Vec<Kind> = Kind::ALL
        .iter()
        .copied()
        .filter(|kind| document.get(kind.list_member()).is_some())
        .collect();
    let mut lists = Lists::default();
    let mut kinds = KindSet::LISTED;
    for kind in Kind::ALL.iter().copied() {
        let member = kind.list_member();
        let list = match &mut document {
            Json::Object(members) => members.take(member),
            _ => None,
        };
        match list {
            Some(Json::Array(items)) => *lists.of_mut(kind) = items,
            Some(other) => return Err(format!("`{member}` is {}, not an array", other.kind())),
            None if kind == Kind::Tool => return Err("it has no `tools` array".to_owned()),
            None if kind.is_core() => kinds = kinds.and(KindSet::TOOLS),
            None => {}
        }
    }
    if let Some(caching) = document.get("caching") {
        lists.caching = Caching::from_json(caching);
    }
    for kind in Kind::ALL.iter().copied() {
        let Some(listing) = kind.listing() else {
            continue;
        };
        let method = listing.method;
        let in_document = |member: &str| document.get(member).and_then(|it| it.get(method));
        // In a file of others, a wrong hint may be where a right one would be.
        let hints = in_document("caching").map(|it| list_members(kind, it));
        let mut members = in_document("listMembers")
            .and_then(Json::as_object)
            .cloned()
            .unwrap_or_default();
        for (name, value) in hints.iter().flat_map(|it| it.iter()) {
            members.push(name.clone(), value.clone());
        }
        if !members.is_empty() {
            lists.other_members.insert(method, Json::Object(members));
        }
    }
    // A saved answer has its own hint.
    lists.caching.add(Kind::Tool, CacheHint::of(&document));
    let greeting = document
        .get("initialize")
        .or_else(|| document.get("discover"));
    let client = document
        .get("client")
        .map(ClientProfile::from_json)
        .unwrap_or_default();
    let says = |kind: Kind| listed.contains(&kind);
    let kinds = kinds.recorded(says, greeting.and_then(|it| it.get("capabilities")));
    let scope = Scope {
        server: greeting.is_some(),
        kinds,
        ..Scope::FULL
    };
    let name = document
        .get("server")
        .and_then(Json::as_str)
        .unwrap_or("default")
        .to_owned();
    let mut surface = Surface::new(greeting.unwrap_or(&Json::Null), lists, client, scope);
    if let Some(revision) = document.get("protocolVersion").and_then(Json::as_str) {
        revision.clone_into(&mut surface.protocol_version);
    }
    surface.over_http = document.get("transport").and_then(Json::as_str) == Some("http");
    Ok((name, surface))
}

/// A capture as JSON: the lists exactly as sent, with nothing added.
pub fn capture_document(server: &str, captured: &Captured) -> Json {
    let notes = captured
        .surface
        .notes
        .iter()
        .map(|note| {
            Json::object([
                ("rule", Json::string(note.rule)),
                (
                    "component",
                    note.component.as_deref().map_or(Json::Null, Json::string),
                ),
                ("message", Json::string(note.message.as_str())),
            ])
        })
        .collect();
    let mut members = vec![
        ("captureVersion", Json::integer(1)),
        ("server", Json::string(server)),
    ];
    match captured.era {
        Era::Legacy => members.push(("initialize", captured.greeting.clone())),
        Era::Modern => {
            // The response lists what the server supports, not what was negotiated.
            let revision = captured.surface.protocol_version.as_str();
            members.push(("protocolVersion", Json::string(revision)));
            members.push(("discover", captured.greeting.clone()));
        }
    }
    if captured.surface.over_http {
        members.push(("transport", Json::string("http")));
    }
    let stated = captured.surface.scope.kinds;
    let stated = stated.to_state(&captured.surface.capabilities);
    let core = Kind::ALL.iter().copied().filter(|kind| kind.is_core());
    for kind in core.chain(stated) {
        members.push((
            kind.list_member(),
            Json::Array(captured.lists.of(kind).to_vec()),
        ));
    }
    let caching = &captured.lists.caching;
    if !caching.is_empty() {
        members.push(("caching", caching.to_json()));
    }
    let others = &captured.lists.other_members;
    if !others.is_empty() {
        let by_method = others.iter().map(|(method, it)| (*method, it.clone()));
        members.push(("listMembers", Json::object(by_method)));
    }
    members.push(("client", captured.surface.client.to_json()));
    members.push(("notes", Json::Array(notes)));
    Json::object(members)
}

fn unreadable(what: &str, problem: &str, help: &str) -> SourceError {
    SourceError::Unreadable {
        what: what.to_owned(),
        problem: format!("cannot read it: {problem}"),
        help: help.to_owned(),
    }
}

fn bounded(what: &str, reader: impl std::io::Read) -> Result<Vec<u8>, SourceError> {
    files::drain(reader, MAX_BYTES)
        .map_err(|error| unreadable(what, &error.to_string(), "check its content"))
}

fn git_show(revision: &str, path: &str) -> Result<Vec<u8>, SourceError> {
    let what = format!("git:{revision}:{path}");
    let help = "check the revision and the path with `git show REF:PATH`; a shallow clone may lack the revision";
    // A revision that begins with a dash would be an option.
    if revision.starts_with('-') {
        return Err(unreadable(&what, "not a revision", help));
    }
    let repository = Repository::around(Path::new("."))
        .ok_or_else(|| unreadable(&what, "not in a git repository", help))?;
    let mut git = repository
        .git()
        .map_err(|problem| unreadable(&what, &problem, help))?;
    git.args(["show", "--no-textconv", "--no-ext-diff", "--end-of-options"])
        .arg(format!("{revision}:{path}"));
    git::output(git, files::MAX_BYTES).map_err(|problem| unreadable(&what, &problem, help))
}
