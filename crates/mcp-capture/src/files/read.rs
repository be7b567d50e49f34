//! Bounded reading of regular files.

use std::fs::{File, FileType, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::{Component, Path};

/// Larger than any file mcp-keel reads whole.
pub const MAX_BYTES: u64 = 64 * 1024 * 1024;

pub fn read(path: &Path) -> Result<Vec<u8>> {
    read_at_most(path, MAX_BYTES)
}

/// [`read`] with the caller's size limit.
pub fn read_at_most(path: &Path, most: u64) -> Result<Vec<u8>> {
    whole(open(path)?, most)
}

pub fn read_to_string(path: &Path) -> Result<String> {
    String::from_utf8(read(path)?).map_err(|_| Error::new(ErrorKind::InvalidData, "not UTF-8"))
}

/// [`read_at_most`] that does not follow a symbolic link.
pub fn read_unfollowed(path: &Path, most: u64) -> Result<Vec<u8>> {
    if std::fs::symlink_metadata(path)?.is_symlink() {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "not a regular file (link)",
        ));
    }
    whole(open_regular(path, Links::Refuse)?, most)
}

/// At most the first `most` bytes of a file.
pub fn read_start(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut start = Vec::new();
    open(path)?.take(most).read_to_end(&mut start)?;
    Ok(start)
}

/// Opens a file for reading piece by piece. Reads never block.
pub fn open(path: &Path) -> Result<File> {
    if is_stream(path) {
        File::open(path)
    } else {
        open_regular(path, Links::Follow)
    }
}

/// A file that already reports a size over the limit is not read at all.
fn whole(file: File, most: u64) -> Result<Vec<u8>> {
    if file.metadata()?.len() > most {
        return Err(too_large(most));
    }
    drain(file, most)
}

/// Everything from `reader`, unless it is more than `most` bytes.
pub fn drain(reader: impl Read, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large(most));
    }
    Ok(bytes)
}

fn too_large(most: u64) -> Error {
    let mebibyte = 1 << 20;
    let most = if most >= mebibyte {
        format!("{} MiB", most / mebibyte)
    } else {
        format!("{most} bytes")
    };
    Error::new(ErrorKind::FileTooLarge, format!("larger than {most}"))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Follow,
    Refuse,
}

/// Checks the path before opening it: some devices act on being opened, and a socket cannot be opened, so
/// only this check can name it.
fn open_regular(path: &Path, links: Links) -> Result<File> {
    regular(std::fs::metadata(path)?.file_type())?;
    open_and_look(path, links)
}

/// Opens without waiting for the other end of a pipe, then checks what was opened: the path may have changed
/// since the first check.
fn open_and_look(path: &Path, links: Links) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use nix::fcntl::OFlag;
        use std::os::unix::fs::OpenOptionsExt as _;
        let mut flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        flags.set(OFlag::O_NOFOLLOW, links == Links::Refuse);
        options.custom_flags(flags.bits());
    }
    #[cfg(not(unix))]
    let _ = links;
    let file = options.open(path)?;
    regular(file.metadata()?.file_type())?;
    Ok(file)
}

/// An error that names what it is, for anything but a regular file.
pub fn regular(kind: FileType) -> Result<()> {
    if kind.is_file() {
        Ok(())
    } else if kind.is_dir() {
        let message = "not a regular file (directory)";
        Err(Error::new(ErrorKind::IsADirectory, message))
    } else if is_socket(kind) {
        let message = "not a regular file (socket)";
        Err(Error::new(ErrorKind::InvalidInput, message))
    } else {
        let message = "not a regular file (pipe or device)";
        Err(Error::new(ErrorKind::InvalidInput, message))
    }
}

#[cfg(unix)]
fn is_socket(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    kind.is_socket()
}

#[cfg(not(unix))]
fn is_socket(_: FileType) -> bool {
    false
}

/// Whether a path is a stream this process was started with: standard input, or a descriptor such as
/// `/dev/fd/63`, which is how a shell passes the output of a command. Pipes are allowed there. So is
/// `/dev/null`, the usual empty file.
fn is_stream(path: &Path) -> bool {
    let parts: Option<Vec<&str>> = path
        .components()
        .map(|part| match part {
            Component::RootDir => Some("/"),
            Component::Normal(name) => name.to_str(),
            // `..` can lead anywhere.
            _ => None,
        })
        .collect();
    match parts.as_deref() {
        Some(["/", "dev", "stdin" | "null"]) => true,
        Some(["/", "dev", "fd", number] | ["/", "proc", "self", "fd", number]) => {
            number.bytes().all(|byte| byte.is_ascii_digit())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_inherited_streams_may_be_pipes() {
        for path in [
            "/dev/stdin",
            "/dev/null",
            "/dev/fd/63",
            "/proc/self/fd/0",
            "/dev/./fd/3",
        ] {
            assert!(is_stream(Path::new(path)), "{path}");
        }
        for path in [
            "/dev/zero",
            "/dev/tty",
            "/dev/fd",
            "/dev/fd/../../tmp/pipe",
            "/dev/../tmp/pipe",
            "dev/stdin",
            "/proc/1/fd/0",
        ] {
            assert!(!is_stream(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_file_over_the_limit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read_at_most(&path, 5).unwrap(), b"12345");
        let error = read_at_most(&path, 4).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "larger than 4 bytes");
        assert_eq!(read_start(&path, 4).unwrap(), b"1234");
        assert_eq!(read_start(&path, 9).unwrap(), b"12345");
    }

    #[test]
    fn a_directory_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = read(folder.path()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IsADirectory);
        assert_eq!(error.to_string(), "not a regular file (directory)");
    }

    #[cfg(unix)]
    #[test]
    fn special_files_are_refused_without_blocking() {
        use nix::sys::stat::Mode;
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for (path, kind) in [
            (&pipe, "pipe or device"),
            (&link, "pipe or device"),
            (&socket, "socket"),
        ] {
            let error = read(path).unwrap_err();
            assert_eq!(error.to_string(), format!("not a regular file ({kind})"));
        }
    }

    /// A pipe that replaces the file between the check and the opening.
    #[cfg(unix)]
    #[test]
    fn opening_a_pipe_does_not_block() {
        use nix::sys::stat::Mode;
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
        let error = open_and_look(&pipe, Links::Follow).unwrap_err();
        assert_eq!(error.to_string(), "not a regular file (pipe or device)");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_unless_forbidden() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "text").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(read(&link).unwrap(), b"text");
        assert_eq!(read_unfollowed(&file, 9).unwrap(), b"text");
        let error = read_unfollowed(&link, 9).unwrap_err();
        assert_eq!(error.to_string(), "not a regular file (link)");
        assert!(open_and_look(&link, Links::Refuse).is_err());
    }
}
