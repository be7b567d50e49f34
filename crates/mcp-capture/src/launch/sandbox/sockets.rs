//! The local sockets of outside processes that a process could connect to.
//!
//! No rule of Landlock covers them, and a seccomp filter does not see an address. So a server gets
//! local sockets of its own only where it could reach none of others: behind one can be a container
//! engine, the user's session bus, a terminal multiplexer.

#![allow(
    clippy::disallowed_methods,
    reason = "/proc and sockets, not files of a user"
)]

use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// The sockets of container engines. Who reaches one is root of the machine.
const ENGINES: [&str; 6] = [
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
    "/run/crio/crio.sock",
    "/run/buildkit/buildkitd.sock",
];

/// Where programs keep sockets. Those of another network namespace are not in the kernel's list.
const FOLDERS: [&str; 4] = ["/run", "/var/run", "/tmp", "/var/tmp"];

/// How deep these are searched, and how many entries are looked at.
const DEEPEST: usize = 5;
const MOST: usize = 50_000;

/// The engines that can be reached from here; `host` is `DOCKER_HOST`.
pub(super) fn engines(host: Option<&str>) -> Vec<String> {
    let host = host.and_then(|it| it.strip_prefix("unix://"));
    let mut found: Vec<String> = Vec::new();
    for socket in ENGINES.into_iter().chain(host) {
        // `/var/run` is usually a link.
        let is_known = |it: &String| it.strip_prefix("/var").unwrap_or(it) == socket;
        if !found.iter().any(is_known) && UnixStream::connect(socket).is_ok() {
            found.push(socket.to_owned());
        }
    }
    found
}

/// Whether this process could connect to a socket of another one. What cannot be known counts as
/// yes. `abstract_too`: whether the kernel would let it connect to one without a file.
pub(super) fn are_reachable(abstract_too: bool) -> bool {
    let Ok(listed) = std::fs::read_to_string("/proc/net/unix") else {
        return true;
    };
    let names = listed.lines().skip(1).filter_map(|line| {
        let name = line.split_whitespace().nth(7)?;
        // A path can contain spaces.
        line.find(name).map(|at| &line[at..])
    });
    for name in names {
        if name.starts_with('@') {
            if abstract_too {
                return true;
            }
        } else if can_connect(Path::new(name)) {
            return true;
        }
    }
    let mounted = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mounted = mounted.lines().filter_map(|it| it.split(' ').nth(4));
    if mounted.map(Path::new).any(can_connect) {
        return true;
    }
    FOLDERS.iter().any(|it| has_one(Path::new(it)))
}

/// Whether something listens there for us. A file that a program left behind is not a socket any
/// more; one for datagrams is another protocol.
fn can_connect(path: &Path) -> bool {
    use std::io::ErrorKind::{ConnectionRefused, NotFound, PermissionDenied};
    let is_socket = std::fs::metadata(path).is_ok_and(|it| it.file_type().is_socket());
    let refused = [ConnectionRefused, NotFound, PermissionDenied];
    is_socket && UnixStream::connect(path).map_or_else(|it| !refused.contains(&it.kind()), |_| true)
}

/// Whether there is a socket below a folder; too many entries count as one.
fn has_one(folder: &Path) -> bool {
    let mut level: Vec<PathBuf> = vec![folder.to_owned()];
    let mut seen = 0;
    for _ in 0..DEEPEST {
        let mut next = Vec::new();
        for folder in level {
            let read = std::fs::read_dir(&folder).into_iter().flatten();
            for entry in read.filter_map(Result::ok) {
                seen += 1;
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                if seen > MOST || kind.is_socket() && can_connect(&entry.path()) {
                    return true;
                }
                if kind.is_dir() {
                    next.push(entry.path());
                }
            }
        }
        level = next;
    }
    false
}
