//! The file a command resolves to, and its digest.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sha1::Sha1;
use sha2::{Sha256, Sha512};

use crate::keyword_enum::keyword_enum;
use crate::launch::{LaunchSpec, candidates};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    #[default]
    Sha256,
    Sha512,
    /// SHA-1: collisions can be made, so it does not protect against deliberate tampering.
    Sha1,
}

keyword_enum!(Algorithm { Sha256 = "sha256", Sha512 = "sha512", Sha1 = "sha1" });

impl Algorithm {
    /// The number of hexadecimal digits.
    pub fn digits(self) -> usize {
        match self {
            Algorithm::Sha1 => 40,
            Algorithm::Sha256 => 64,
            Algorithm::Sha512 => 128,
        }
    }
}

/// The hexadecimal digest of a file, read in chunks.
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

/// The executable that the command resolves to, on the PATH that the server gets.
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
