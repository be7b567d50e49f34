//! How git is asked: for what the clone has, and nothing else.
//!
//! A repository is what a pull request made of it, and git runs programs that configuration and environment name. Here
//! it runs none: no pager, no hook, no file-system monitor, no text conversion, no credential helper, no prompt. It
//! talks to no network either: an object that a partial clone lacks is not there.

use std::process::{Command, Stdio};

/// `git`, to be given a subcommand that reads.
pub(crate) fn git() -> Command {
    let mut git = Command::new("git");
    git.arg("--no-pager");
    for setting in [
        // In a container the files belong to somebody else; git would refuse to read them.
        "safe.directory=*",
        "core.fsmonitor=false",
        "core.hooksPath=/dev/null",
        "core.askPass=",
        "credential.helper=",
        "protocol.allow=never",
    ] {
        git.args(["-c", setting]);
    }
    git.env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env_remove("GIT_ASKPASS")
        .env_remove("SSH_ASKPASS")
        .env_remove("GIT_EXTERNAL_DIFF")
        .stdin(Stdio::null());
    git
}
