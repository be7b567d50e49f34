//! Room for the descriptors of a server, made before it is started.
//!
//! The kernel enlarges a process's table of descriptors when it is full. If the process has threads
//! by then, it first waits until no processor can still be reading the old table: 10 to 20 ms. Node
//! opens more than 64 files at once while it loads a server, and so waits. A new process gets a
//! table that has room for the highest descriptor of its parent, and keeps it even though that
//! descriptor is closed when a program is executed: the server sees nothing of it.

use std::os::fd::OwnedFd;
use std::sync::OnceLock;

/// Held until the program exits.
static HIGHEST: OnceLock<Option<OwnedFd>> = OnceLock::new();

/// Enlarges the table of this process, and so of the programs that it starts itself; what those start
/// (a server behind a launcher) has a table of its own size. To be called before there are threads:
/// with them it would wait, too.
pub(super) fn make_room() {
    HIGHEST.get_or_init(|| {
        // The first is above the limit of descriptors on some machines.
        let mut numbers = [1023, 255].into_iter();
        numbers.find_map(|number| rustix::io::fcntl_dupfd_cloexec(std::io::stdin(), number).ok())
    });
}
