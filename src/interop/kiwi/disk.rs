//! The disk access of chains: reads and hashes manifests and the files they name. Nothing is
//! written here.

use std::path::{Component, Path, PathBuf};

use super::lockfile::{Lockfile, LockfileError};
use super::{Link, Refused, Variant, integrity, links, yaml};
use crate::canonical::reader::parse_python;
use crate::canonical::{Json, ReadError};
use crate::fingerprint::Digest;

/// Maximum length of a chain. Real ones have three links; the original stops at ten.
const MAX_LINKS: usize = 10;
/// Maximum size of a manifest or file.
const MAX_BYTES: u64 = 64 << 20;
/// The extensions of a manifest, in order of preference.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// Why a chain cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiskError {
    #[error("{}: cannot read it: {source}", path.display())]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("no file")]
    NoFile,
    #[error("{} is a whole chain, and {others} more files were named", path.display())]
    WholeChain { path: PathBuf, others: usize },
    #[error("{}: larger than {} MiB", .0.display(), MAX_BYTES >> 20)]
    TooLarge(PathBuf),
    #[error("{}: not JSON: {problem}", path.display())]
    Json { path: PathBuf, problem: ReadError },
    #[error("{}: {problem}", path.display())]
    Yaml {
        path: PathBuf,
        problem: yaml::YamlError,
    },
    #[error("{}: {problem}", path.display())]
    Shape { path: PathBuf, problem: String },
    #[error("{}: {problem}", path.display())]
    Lockfile {
        path: PathBuf,
        problem: LockfileError,
    },
    #[error("no manifest of `{id}` in {}", folder.display())]
    NoManifest { id: String, folder: PathBuf },
}

impl DiskError {
    pub fn help(&self) -> &'static str {
        match self {
            Self::Io { .. } => "check the path and its permissions",
            Self::NoFile => "name a chain, a lockfile or manifests",
            Self::WholeChain { .. } => {
                "name one chain, or manifests from the tool to its primitive"
            }
            Self::TooLarge(_) => "name the manifest, not an archive",
            Self::Json { .. } | Self::Yaml { .. } => {
                "a manifest is JSON, or YAML with the extension .yaml or .yml; docs/verify.md shows one"
            }
            Self::Shape { .. } => {
                "docs/verify.md shows a manifest, a resolved chain and a lockfile"
            }
            Self::Lockfile { .. } => "create a new one with `mcp-keel chain freeze`",
            Self::NoManifest { .. } => {
                "put ID.yaml or ID.json in the same directory, or name every manifest from the tool to its primitive"
            }
        }
    }
}

/// What a file contains.
#[derive(Clone, Debug)]
pub enum Found {
    /// A resolved chain, leaf first.
    Chain(Vec<Link>),
    Lock(Lockfile),
    /// A lockfile with the links that it pins.
    Locked(Lockfile, Vec<Link>),
    /// The manifest of one tool.
    Manifest(Json),
}

/// Reads a file and detects what it is.
pub fn read(path: &Path) -> Result<Found, DiskError> {
    let document = read_document(path)?;
    if let Some((lock, links)) = together(path, &document)? {
        return Ok(Found::Locked(lock, links));
    }
    let chain = match &document {
        Json::Array(_) => Some(&document),
        other => other.get("chain").filter(|it| it.as_array().is_some()),
    };
    if let Some(chain) = chain {
        let links = links(chain);
        return links
            .map(Found::Chain)
            .ok_or_else(|| shape(path, "a link of the chain is not an object"));
    }
    if document.get("resolved_chain").is_some() || document.get("lockfile_version").is_some() {
        return Lockfile::from_json(&document)
            .map(Found::Lock)
            .map_err(|problem| DiskError::Lockfile {
                path: path.to_owned(),
                problem,
            });
    }
    match document {
        Json::Object(_) => Ok(Found::Manifest(document)),
        other => Err(shape(
            path,
            format!(
                "expected a manifest, a chain or a lockfile, found {}",
                other.kind()
            ),
        )),
    }
}

/// A lockfile and its links in one document: `{"lockfile", "chain"}`, or a lockfile with a member
/// `chain` or `manifests`, which the original's reader ignores.
fn together(path: &Path, document: &Json) -> Result<Option<(Lockfile, Vec<Link>)>, DiskError> {
    let lock = match document.get("lockfile") {
        Some(lock) => lock,
        None if document.get("resolved_chain").is_some() => document,
        None => return Ok(None),
    };
    let Some(chain) = ["chain", "manifests"]
        .into_iter()
        .find_map(|name| document.get(name))
    else {
        return Ok(None);
    };
    let lock = Lockfile::from_json(lock).map_err(|problem| DiskError::Lockfile {
        path: path.to_owned(),
        problem,
    })?;
    match links(chain) {
        Some(links) => Ok(Some((lock, links))),
        None => Err(shape(
            path,
            "the links of a lockfile must be an array of objects",
        )),
    }
}

/// Gives a digest to each link that states none.
pub fn with_digests(links: Vec<Link>, variant: Variant) -> Vec<Link> {
    let complete = |mut link: Link| {
        if link.stored().is_none()
            && let Ok(digest) = integrity(&link.0, variant)
            && let Json::Object(object) = &mut link.0
        {
            object.retain(|name, _| *name != *"content_hash" && *name != *"integrity");
            object.push("content_hash", Json::string(digest));
        }
        link
    };
    links.into_iter().map(complete).collect()
}

/// Reads JSON or YAML, depending on the extension.
pub fn read_document(path: &Path) -> Result<Json, DiskError> {
    parse_document(path, &read_bytes(path)?)
}

/// [`read_document`] for a file that was already read.
pub fn parse_document(path: &Path, bytes: &[u8]) -> Result<Json, DiskError> {
    let is_yaml = path
        .extension()
        .is_some_and(|it| it.eq_ignore_ascii_case("yaml") || it.eq_ignore_ascii_case("yml"));
    if is_yaml {
        return match std::str::from_utf8(bytes) {
            Ok(text) => yaml::parse(text).map_err(|problem| DiskError::Yaml {
                path: path.to_owned(),
                problem,
            }),
            Err(_) => Err(shape(path, "not UTF-8")),
        };
    }
    parse_python(bytes).map_err(|problem| DiskError::Json {
        path: path.to_owned(),
        problem,
    })
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, DiskError> {
    crate::files::read_at_most(path, MAX_BYTES).map_err(|source| match source.kind() {
        std::io::ErrorKind::FileTooLarge => DiskError::TooLarge(path.to_owned()),
        _ => DiskError::Io {
            path: path.to_owned(),
            source,
        },
    })
}

fn shape(path: &Path, problem: impl Into<String>) -> DiskError {
    DiskError::Shape {
        path: path.to_owned(),
        problem: problem.into(),
    }
}

/// The chain of the manifests at `paths`, leaf first. A single path is followed through `executor`,
/// in its own directory.
pub fn resolve(paths: &[PathBuf], variant: Variant) -> Result<Vec<Link>, DiskError> {
    if let [leaf] = paths {
        return follow(leaf, variant);
    }
    paths.iter().map(|path| link(path, variant)).collect()
}

fn follow(leaf: &Path, variant: Variant) -> Result<Vec<Link>, DiskError> {
    let folder = folder_of(leaf);
    let mut chain = vec![link(leaf, variant)?];
    while let Some(executor) = chain
        .last()
        .and_then(|link| link.member("executor_id"))
        .and_then(Json::as_str)
        .map(str::to_owned)
    {
        if chain.len() >= MAX_LINKS || chain.iter().any(|link| link.id() == executor) {
            return Err(shape(
                leaf,
                format!("its chain loops back to `{executor}` or has more than {MAX_LINKS} links"),
            ));
        }
        let path = find(&folder, &executor)?;
        chain.push(link(&path, variant)?);
    }
    Ok(chain)
}

/// The manifests of the entries of a lockfile, from their directory.
pub fn resolve_locked(
    lock: &Lockfile,
    folder: &Path,
    variant: Variant,
) -> Result<Vec<Link>, DiskError> {
    lock.chain
        .iter()
        .map(|entry| {
            let id = entry
                .get("tool_id")
                .and_then(Json::as_str)
                .unwrap_or_default();
            link(&find(folder, id)?, variant)
        })
        .collect()
}

pub fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// The manifest of a tool: the file with its name.
fn find(folder: &Path, id: &str) -> Result<PathBuf, DiskError> {
    // An id that leaves the directory is not a file name.
    let is_name = matches!(
        Path::new(id).components().collect::<Vec<_>>()[..],
        [Component::Normal(_)]
    );
    ENDINGS
        .iter()
        .filter(|_| is_name)
        .map(|ending| folder.join(format!("{id}.{ending}")))
        .find(|path| path.is_file())
        .ok_or_else(|| DiskError::NoManifest {
            id: id.to_owned(),
            folder: folder.to_owned(),
        })
        .and_then(|path| stays_below(folder, &path).map(|()| path))
}

/// One link from its manifest, with the files it names read and hashed.
///
/// A file with a `manifest` member is already a link and keeps its stated digest. Any other is the
/// manifest itself, as kiwi-mcp stores it, and its digest is computed. Digests that a manifest
/// states for its files are ignored: the files are read.
pub fn link(path: &Path, variant: Variant) -> Result<Link, DiskError> {
    let Found::Manifest(document) = read(path)? else {
        return Err(shape(path, "expected the manifest of one tool"));
    };
    if document.get("tool_id").and_then(Json::as_str).is_none() {
        return Err(shape(path, "`tool_id` must be a string"));
    }
    let is_link = document
        .get("manifest")
        .is_some_and(|it| it.as_object().is_some());
    let manifest = if is_link {
        document.get("manifest").cloned()
    } else {
        Some(document.clone())
    };
    let executor = ["executor_id", "executor"]
        .into_iter()
        .find_map(|name| document.get(name))
        .cloned();
    let mut members = Vec::new();
    for name in ["tool_id", "version", "tool_type"] {
        if let Some(value) = document.get(name) {
            members.push((name, value.clone()));
        }
    }
    members.push(("executor_id", executor.unwrap_or(Json::Null)));
    members.push(("manifest", manifest.clone().unwrap_or(Json::Null)));
    let files = files(path, &document, manifest.as_ref())?;
    if !files.is_empty() {
        members.push(("file_hashes", Json::Array(files)));
    }
    let mut found = Json::object(members);
    let stored = Link(document.clone())
        .stored()
        .filter(|_| is_link)
        .map(str::to_owned);
    let digest = match stored {
        Some(stored) => stored,
        None => integrity(&found, variant).map_err(|Refused(problem)| shape(path, problem))?,
    };
    if let Json::Object(object) = &mut found {
        object.push("content_hash", Json::string(digest));
    }
    Ok(Link(found))
}

/// The files of a manifest: those listed in `files` (or `file_hashes`), else its entry point.
fn files(path: &Path, document: &Json, manifest: Option<&Json>) -> Result<Vec<Json>, DiskError> {
    let listed = ["files", "file_hashes"]
        .into_iter()
        .find_map(|name| document.get(name).and_then(Json::as_array));
    if let Some(listed) = listed {
        return listed.iter().map(|file| one_file(path, file)).collect();
    }
    let entry_point = manifest.and_then(|it| {
        let config = it.get("config").and_then(|it| it.get("entrypoint"));
        it.get("entrypoint").or(config)
    });
    match entry_point {
        Some(name @ Json::String(_)) => Ok(vec![one_file(path, name)?]),
        _ => Ok(Vec::new()),
    }
}

fn one_file(manifest: &Path, file: &Json) -> Result<Json, DiskError> {
    let name = file
        .as_str()
        .or_else(|| file.get("path").and_then(Json::as_str));
    let Some(name) = name else {
        return Err(shape(
            manifest,
            "a file must be a path, or an object with `path`",
        ));
    };
    let inside = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !inside || name.is_empty() {
        return Err(shape(
            manifest,
            format!("the file `{name}` is outside the manifest's directory"),
        ));
    }
    let folder = folder_of(manifest);
    let path = folder.join(name);
    stays_below(&folder, &path)?;
    let bytes = read_bytes(&path)?;
    Ok(Json::object([
        ("path", Json::string(name)),
        (
            "sha256",
            Json::string(Digest::of(without_signature(&bytes)).hex()),
        ),
        ("is_executable", Json::Bool(is_executable(&path))),
    ]))
}

/// Refuses a path that links lead out of a folder.
fn stays_below(folder: &Path, path: &Path) -> Result<(), DiskError> {
    let real = |path: &Path| {
        path.canonicalize().map_err(|source| DiskError::Io {
            path: path.to_owned(),
            source,
        })
    };
    if real(path)?.starts_with(real(folder)?) {
        Ok(())
    } else {
        Err(shape(path, "a link leads out of the manifest's folder"))
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|it| it.permissions().mode() & 0o111 != 0)
}

/// Windows has no executable mode, so the documented variant cannot be verified there for files
/// that have it elsewhere.
#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    false
}

/// The bytes without the signature that kiwi-mcp writes as a comment on the first line (or below a
/// `#!` line): it contains the digest of the rest.
fn without_signature(bytes: &[u8]) -> Vec<u8> {
    let is_signature = |line: &[u8]| {
        [&b"# "[..], b"// ", b"-- ", b"<!-- "].iter().any(|mark| {
            line.strip_prefix(*mark)
                .is_some_and(|it| it.starts_with(b"kiwi-mcp:validated:"))
        })
    };
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let at = usize::from(lines.first().is_some_and(|line| line.starts_with(b"#!")));
    if lines.get(at).is_some_and(|line| is_signature(line)) {
        lines.remove(at);
    }
    lines.concat()
}
