//! JP's typed `verify` block: the bytes of a command or of a file against a digest, before anything is started.
//!
//! `command` hashes the program that the server's own PATH leads to; `file` reads the path directly, executable or not;
//! `none` says that somebody thought about it. Digests are compared as hexadecimal text in any case, and nothing else
//! is forgiven: no prefix, no blanks.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sha1::Sha1;
use sha2::{Sha256, Sha512};

use crate::keyword_enum::keyword_enum;
use crate::launch::{LaunchSpec, candidates};

/// A digest's algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// SHA-256
    #[default]
    Sha256,
    /// SHA-512
    Sha512,
    /// SHA-1: two files with one digest can be made, so it does not answer deliberate tampering.
    Sha1,
}

keyword_enum!(Algorithm { Sha256 = "sha256", Sha512 = "sha512", Sha1 = "sha1" });

impl Algorithm {
    /// How many hexadecimal digits it has.
    fn digits(self) -> usize {
        match self {
            Algorithm::Sha1 => 40,
            Algorithm::Sha256 => 64,
            Algorithm::Sha512 => 128,
        }
    }
}

/// A digest that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Its algorithm.
    pub algorithm: Algorithm,
    /// Hexadecimal digits, as written.
    pub value: String,
}

/// The `type` of a verify block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The program that is started.
    Command,
    /// A file.
    File,
    /// Nothing.
    None,
}

keyword_enum!(Kind { Command = "command", File = "file", None = "none" });

/// What is to be verified of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verify {
    /// The program that is started.
    Command(Expected),
    /// A file: a JAR, an installed entry point.
    File {
        /// Where it is.
        path: PathBuf,
        /// Its digest.
        expected: Expected,
    },
    /// Nothing, and somebody decided so.
    None,
}

impl Verify {
    /// Its `type`.
    pub fn kind(&self) -> Kind {
        match self {
            Verify::Command(_) => Kind::Command,
            Verify::File { .. } => Kind::File,
            Verify::None => Kind::None,
        }
    }

    /// What is expected, unless nothing is verified.
    pub fn expected(&self) -> Option<&Expected> {
        match self {
            Verify::Command(expected) | Verify::File { expected, .. } => Some(expected),
            Verify::None => None,
        }
    }
}

/// What was read and held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The file.
    pub path: PathBuf,
    /// Its digest.
    pub got: String,
}

/// Why a server must not be started (exit 4).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// Other bytes.
    #[error("Checksum mismatch for server: {server} ({}), expected {}, got {got}", path.display(), expected.value)]
    Mismatch {
        /// The server.
        server: String,
        /// What was read.
        path: PathBuf,
        /// What it should be.
        expected: Expected,
        /// What it is.
        got: String,
    },
    /// No such program.
    #[error("Cannot locate binary: {command}, error: cannot find binary path (server: {server})")]
    NoBinary {
        /// The server.
        server: String,
        /// As given.
        command: String,
    },
    /// A file that cannot be read.
    #[error("Cannot read file: {} (server: {server}), error: {source}", path.display())]
    Unreadable {
        /// The server.
        server: String,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

impl VerifyError {
    /// How to go on.
    pub fn help(&self) -> String {
        match self {
            Self::Mismatch { expected, got, .. } => {
                let found = expected.value.as_str();
                let digits = expected.algorithm.digits();
                let is_hex = found.bytes().all(|byte| byte.is_ascii_hexdigit());
                if !is_hex || found.len() != digits {
                    return format!(
                        "`value` must be the {digits} hexadecimal digits of {} and nothing else (no prefix, no blanks); \
                         the server was not started",
                        expected.algorithm
                    );
                }
                format!(
                    "the server was not started. If the new bytes are wanted, write value = \"{got}\" into its verify block"
                )
            }
            Self::NoBinary { .. } => {
                "it must be an executable file, or on the PATH that the server gets; for a file that is not executable \
                 write type = \"file\" with its path"
                    .to_owned()
            }
            Self::Unreadable { .. } => {
                "`path` is relative to the folder of mcp-keel.toml; check it and whether the server has been built".to_owned()
            }
        }
    }
}

/// Verifies the bytes of one server. Nothing was verified where `verify` says so.
pub fn verify(
    server: &str,
    verify: &Verify,
    launch: &LaunchSpec,
) -> Result<Option<Verified>, VerifyError> {
    let (path, expected) = match verify {
        Verify::None => return Ok(None),
        Verify::File { path, expected } => (path.clone(), expected),
        Verify::Command(expected) => {
            let command = launch.command.first().cloned().unwrap_or_default();
            let found = locate(&command, launch).ok_or_else(|| VerifyError::NoBinary {
                server: server.to_owned(),
                command,
            })?;
            (found, expected)
        }
    };
    let got = digest(&path, expected.algorithm).map_err(|source| VerifyError::Unreadable {
        server: server.to_owned(),
        path: path.clone(),
        source,
    })?;
    if got.eq_ignore_ascii_case(&expected.value) {
        return Ok(Some(Verified { path, got }));
    }
    Err(VerifyError::Mismatch {
        server: server.to_owned(),
        path,
        expected: expected.clone(),
        got,
    })
}

/// The hexadecimal digest of a file, read piece by piece.
pub fn digest(path: &Path, algorithm: Algorithm) -> std::io::Result<String> {
    match algorithm {
        Algorithm::Sha256 => stream::<Sha256>(path),
        Algorithm::Sha512 => stream::<Sha512>(path),
        Algorithm::Sha1 => stream::<Sha1>(path),
    }
}

fn stream<D: sha2::Digest>(path: &Path) -> std::io::Result<String> {
    use std::fmt::Write as _;
    let mut file = crate::files::open(path)?;
    let mut hasher = D::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => hasher.update(&buffer[..read]),
        }
    }
    Ok(hasher
        .finalize()
        .iter()
        .fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        }))
}

/// The executable file that the command leads to, on the PATH that the server gets.
pub fn locate(command: &str, launch: &LaunchSpec) -> Option<PathBuf> {
    let environment = crate::launch::environment(launch, crate::own_env::vars()).ok()?;
    let path = environment.variables.get(OsStr::new("PATH"));
    candidates(command, launch.cwd.as_deref(), path.map(AsRef::as_ref))
        .into_iter()
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    let Ok(found) = std::fs::metadata(file) else {
        return false;
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if found.permissions().mode() & 0o111 == 0 {
            return false;
        }
    }
    found.is_file()
}
