//! Anything that can be read as a surface: a baseline, a capture, a list of tools as people have it, another tool's file; from
//! a file, a folder, standard input or a git revision, or from a live server.

mod capture_document;
mod foreign;
mod members;
mod pins;
mod shapes;

use std::collections::BTreeMap;
use std::path::Path;

use contract_locks::chain::yaml;

use crate::baseline::{BaselineError, Manifest};
use crate::canonical::reader::parse_unless;
use crate::canonical::{Json, ReadError, parse};
use crate::capture::CaptureFailure;
use crate::capture::http::{HttpAddress, Template};
use crate::files;
use crate::git::{self, Repository};
use crate::surface::Surface;

pub use capture_document::capture_document;
pub(crate) use capture_document::captured;
pub(crate) use pins::Pins;
pub use shapes::Loaded;
use shapes::Refused;

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
    /// Another tool's file that has digests instead of definitions.
    #[error("{what} is {format}: {records}")]
    DigestsOnly {
        what: String,
        format: &'static str,
        records: String,
    },
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
            Self::NotJson { .. } | Self::NotASource { .. } => SHAPES.to_owned(),
            Self::DigestsOnly { what, .. } => format!(
                "a digest cannot be turned back into a definition: `mcp-keel import {what} --with \"stdio:COMMAND\"` takes the definitions from the server, if they match"
            ),
            Self::Baseline(error) => error.help().to_owned(),
            Self::Capture { failure, .. } => failure.help(),
        }
    }
}

/// What a source can be, for people who named something else.
const SHAPES: &str = "known are a baseline, a capture, an object with `tools`, an array of tools, tools by name, answers to \
    `tools/list` (also several, one a line), a folder with one file a tool, `fastmcp inspect`, mcpdesc, and the files of \
    mcp-contracts, mcp-toolguard and mcpward; by path, as -, git:REF:PATH, \"stdio:COMMAND\" or URL (docs/sources.md)";

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
        Ok(self.load(dialect)?.servers)
    }

    /// A source that is not live, with what its format is and what is lost.
    pub fn load(&self, dialect: Dialect) -> Result<Loaded, SourceError> {
        let what = self.name();
        let bytes = match self {
            Self::Stdin => bounded(&what, std::io::stdin().lock())?,
            Self::File(path) if Path::new(path).is_dir() => {
                return of_folder(&what, files_of_tools(path)?);
            }
            Self::File(path) => {
                let help =
                    "check the path; a live server is named as \"stdio:COMMAND\" or by its URL";
                files::read_at_most(Path::new(path), MAX_BYTES)
                    .map_err(|error| unreadable(path, &error.to_string(), help))?
            }
            Self::Git { revision, path } => {
                let shown = git_show(revision, path)?;
                match git_folder(&shown) {
                    Some(names) => {
                        let folder = path.trim_end_matches('/');
                        let files = names.into_iter().map(|name| {
                            let content = git_show(revision, &format!("{folder}/{name}"))?;
                            Ok((name, content))
                        });
                        return of_folder(&what, files.collect::<Result<_, SourceError>>()?);
                    }
                    None => shown,
                }
            }
            Self::Stdio(_) | Self::Http(_) => Vec::new(),
        };
        load(&what, &bytes, dialect)
    }
}

/// The surfaces in a text. `name` is for messages.
pub fn parse_source(name: &str, bytes: &[u8], dialect: Dialect) -> Result<Surfaces, SourceError> {
    Ok(load(name, bytes, dialect)?.servers)
}

fn load(name: &str, bytes: &[u8], dialect: Dialect) -> Result<Loaded, SourceError> {
    let what = name.to_owned();
    let python = dialect == Dialect::Python;
    let unusable = |problem| SourceError::NotASource {
        what: what.clone(),
        problem,
    };
    let document = match parse_unless(bytes, "manifestVersion", MAX_VALUES, python) {
        Ok(document) => document,
        // A baseline with conflict markers is not JSON; its own reader has the better message.
        Err(_) if contains(bytes, b"manifestVersion") => None,
        Err(_) if is_yaml(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            let document = yaml::parse_core(&text).map_err(|error| unusable(error.to_string()))?;
            Some(document)
        }
        Err(error) => match one_a_line(bytes) {
            Some(messages) => return shapes::of_messages(messages).map_err(unusable),
            None => return Err(SourceError::NotJson { what, error }),
        },
    };
    let Some(document) = document else {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let servers = Manifest::parse(Path::new(&what), text)?.into_servers();
        let servers = servers.into_iter();
        return Ok(Loaded {
            format: "a baseline".to_owned(),
            servers: servers
                .map(|(name, pinned)| (name, pinned.surface))
                .collect(),
            ..Loaded::default()
        });
    };
    shapes::recognise(document).map_err(|refused| match refused {
        Refused::Unusable(problem) => unusable(problem),
        Refused::DigestsOnly { format, records } => SourceError::DigestsOnly {
            what: what.clone(),
            format,
            records,
        },
    })
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

/// Whether a text that is not JSON is a description of a server in YAML.
fn is_yaml(bytes: &[u8]) -> bool {
    bytes.starts_with(b"mcpdesc:") || contains(bytes, b"\nmcpdesc:")
}

/// The messages of a text with one a line, as a server over stdio writes them. Other lines are logs that went to stdout.
fn one_a_line(bytes: &[u8]) -> Option<Vec<Json>> {
    let lines = bytes.split(|byte| *byte == b'\n');
    let messages: Vec<Json> = lines
        .filter(|line| line.starts_with(b"{"))
        .map(|line| parse(line).ok())
        .collect::<Option<_>>()?;
    (messages.len() > 1).then_some(messages)
}

/// A folder with more files than this is not a folder of tools.
const MAX_FILES: usize = 10_000;

fn is_file_of_tool(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    matches!(extension, Some("json" | "snap"))
}

fn files_of_tools(folder: &str) -> Result<Vec<(String, Vec<u8>)>, SourceError> {
    let wrong = |error: std::io::Error| unreadable(folder, &error.to_string(), "check the path");
    let entries = std::fs::read_dir(folder).map_err(wrong)?;
    let mut names: Vec<String> = entries
        .take(MAX_FILES)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| is_file_of_tool(name))
        .collect();
    names.sort();
    let files = names.into_iter().map(|name| {
        let content = files::read(&Path::new(folder).join(&name)).map_err(wrong)?;
        Ok((name, content))
    });
    files.collect()
}

fn of_folder(what: &str, files: Vec<(String, Vec<u8>)>) -> Result<Loaded, SourceError> {
    let definitions = files.into_iter().map(|(name, content)| {
        let definition = parse(&content).map_err(|error| SourceError::NotJson {
            what: format!("{what}/{name}"),
            error,
        })?;
        Ok((name, definition))
    });
    let definitions = definitions.collect::<Result<_, SourceError>>()?;
    shapes::of_folder(definitions).map_err(|problem| SourceError::NotASource {
        what: what.to_owned(),
        problem,
    })
}

/// The files of tools in what git shows of a folder.
fn git_folder(shown: &[u8]) -> Option<Vec<String>> {
    let listing = std::str::from_utf8(shown).ok()?.strip_prefix("tree ")?;
    let (_, names) = listing.split_once("\n\n")?;
    let names = names.lines().take(MAX_FILES);
    Some(
        names
            .filter(|name| is_file_of_tool(name))
            .map(str::to_owned)
            .collect(),
    )
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
