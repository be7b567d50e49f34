//! Why a server could not be started.

use std::io;
use std::path::{Path, PathBuf};

use super::LaunchSpec;

/// Why a server could not be started. [`LaunchError::help`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("no command was given to start the server")]
    NoCommand,
    /// Neither a file nor a program on the PATH.
    #[error("the command `{command}` does not exist")]
    NotFound { command: String },
    #[error("`{command}` is not executable")]
    NotExecutable { command: String },
    #[error("`{command}` is a directory, not a program")]
    IsDirectory { command: String },
    #[error("`{command}` exists, but the interpreter that its first line names does not")]
    NoInterpreter { command: String },
    /// Built for another machine, or a script without a `#!` line.
    #[error("`{command}` is not a program that this machine can run")]
    WrongFormat { command: String },
    #[error("the working directory `{}` does not exist", .cwd.display())]
    NoWorkingDirectory { cwd: PathBuf },
    #[error("`{name}` is not a valid name for an environment variable")]
    BadVariable { name: String },
    /// A variable that carries privileges of the workflow run.
    #[error("`{name}` is not passed on to a server under test")]
    RunnersVariable { name: String },
    /// It would get something that the base of the pull request does not give it.
    #[error("not started, and not asked: {why}")]
    Withheld { why: String },
    /// A variable or an answer that its configuration needs is missing on this machine.
    #[error("{problem}")]
    Unset { problem: String, help: String },
    /// The user leaves it out.
    #[error("skipped, as `--skip` says")]
    Skipped,
    /// A sandbox is required but not available.
    #[error(
        "the server was not started, because its sandbox is required and is not whole here: {why}"
    )]
    NoSandbox { why: String },
    /// A program that the sandbox hides.
    #[error("`{command}` is hidden from the server by the sandbox")]
    Hidden { command: String },
    #[error("`{command}` could not be started: {source}")]
    Other { command: String, source: io::Error },
}

impl LaunchError {
    pub fn help(&self) -> String {
        match self {
            Self::NoCommand => "write the command after `--`, or as `command = [...]` in mcp-keel.toml".into(),
            Self::NotFound { command } if command.contains(char::is_whitespace) => {
                "the command and its arguments are separate words: `-- node dist/index.js`, or `command = [\"node\", \"dist/index.js\"]`".into()
            }
            Self::NotFound { command } if command.contains(['/', '\\']) => {
                "check the path (it is relative to the server's working directory), and check that the server has been built".into()
            }
            Self::NotFound { .. } => "check the spelling and that it is installed and on the PATH".into(),
            Self::NotExecutable { command } => {
                format!("make it executable (`chmod +x {command}`), or start it through its interpreter")
            }
            Self::IsDirectory { .. } => "name the program inside it".into(),
            Self::NoInterpreter { .. } => "install the interpreter, or start the script through an installed one".into(),
            Self::WrongFormat { .. } => "build it for this machine, or start it through its interpreter".into(),
            Self::NoWorkingDirectory { .. } => "check `cwd`; it is relative to the folder of mcp-keel.toml".into(),
            Self::BadVariable { name } if name.contains(['*', '?']) => {
                "patterns are not supported, so that nothing is passed on by accident: name each variable".into()
            }
            Self::BadVariable { .. } => "a name is not empty and holds no `=`; write `--env NAME=VALUE` and `--pass-env NAME`".into(),
            Self::RunnersVariable { .. } => {
                "it carries privileges of the workflow run; if the server really needs a token, give it its own: `--env NAME=VALUE`".into()
            }
            Self::Withheld { .. } => {
                "the base branch and the workflow decide which variables go where: merge this configuration first, or let a maintainer accept it with the label".into()
            }
            Self::Unset { help, .. } => help.clone(),
            Self::Skipped => {
                "without `--skip` it is checked; to check some servers only, name them".into()
            }
            Self::NoSandbox { .. } => {
                "run it on a newer kernel, or without `--sandbox-required` (`sandbox-required` in mcp-keel.toml)".into()
            }
            Self::Hidden { .. } => {
                "of a home folder the sandbox shows tools, caches and the working copy: move the program there, or use `--sandbox off`".into()
            }
            Self::Other { .. } => "start the command by hand in the same directory to see more".into(),
        }
    }

    /// Why `spec` did not start. The operating system has one error number for several causes (a
    /// missing command, interpreter or working directory is always "not found"), so look again.
    pub(super) fn diagnose(spec: &LaunchSpec, path: Option<&Path>, source: io::Error) -> Self {
        let command = spec.command.first().cloned().unwrap_or_default();
        let file = path.filter(|file| file.exists());
        match (source.kind(), file) {
            (_, Some(file)) if file.is_dir() => Self::IsDirectory { command },
            (io::ErrorKind::NotFound, None) => Self::NotFound { command },
            (io::ErrorKind::NotFound, Some(_)) => Self::NoInterpreter { command },
            (io::ErrorKind::PermissionDenied, _) => Self::NotExecutable { command },
            _ if is_wrong_format(&source) => Self::WrongFormat { command },
            _ => Self::Other { command, source },
        }
    }
}

#[cfg(unix)]
fn is_wrong_format(error: &io::Error) -> bool {
    error.raw_os_error() == Some(nix::errno::Errno::ENOEXEC as i32)
}

#[cfg(not(unix))]
fn is_wrong_format(error: &io::Error) -> bool {
    // ERROR_BAD_EXE_FORMAT
    error.raw_os_error() == Some(193)
}
