//! The error type of a run and of every command, and how commands exit.

use crate::baseline::BaselineError;
use crate::config::ConfigError;
use crate::interop::toolpin::signature::SignatureError;
use crate::interop::{InteropError, NotALock};
use crate::policy::Verdict;
use crate::report::escape;
use crate::source::SourceError;

/// How a command ended. "Drift" and "could not check" never share a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Nothing at or above the threshold.
    Pass,
    /// Drift that the policy blocks.
    Drift,
    /// Invalid usage, configuration or baseline.
    Usage,
    /// A server could not be booted or captured.
    Undetermined,
    /// Bytes on disk differ from the approved ones.
    Verification,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Exit::Pass => 0,
            Exit::Drift => 1,
            Exit::Usage => 2,
            Exit::Undetermined => 3,
            Exit::Verification => 4,
        }
    }
}

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass | Verdict::Warn => Exit::Pass,
            Verdict::Block => Exit::Drift,
            Verdict::Undetermined => Exit::Undetermined,
        }
    }
}

/// Why a command failed. Its text names the place, what was expected and how to go on.
#[derive(Debug)]
pub struct Error {
    message: String,
    help: String,
    stderr: Vec<String>,
    exit: Exit,
    /// Whether only a variable or an answer is missing on this machine.
    is_unset: bool,
}

impl Error {
    /// Something that the user can fix.
    pub(crate) fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
            stderr: Vec::new(),
            exit: Exit::Usage,
            is_unset: false,
        }
    }

    /// A variable or an answer that is missing on this machine.
    pub(crate) fn unset(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            is_unset: true,
            ..Self::usage(message, help)
        }
    }

    pub(crate) fn is_unset(&self) -> bool {
        self.is_unset
    }

    /// How to go on.
    pub(crate) fn help(&self) -> &str {
        &self.help
    }

    /// Bytes that differ from the approved ones.
    pub(crate) fn verification(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            exit: Exit::Verification,
            ..Self::usage(message, help)
        }
    }

    /// A server without a verdict.
    pub(crate) fn undetermined(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            exit: Exit::Undetermined,
            ..Self::usage(message, help)
        }
    }

    /// With another help line.
    pub(crate) fn with_help(mut self, help: String) -> Self {
        self.help = help;
        self
    }

    /// What is wrong, without the help line.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub fn exit(&self) -> Exit {
        self.exit
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A line of a message may come from a server: indented, it cannot pass for one of
        // mcp-keel's.
        let indented = |text: &str| escape::block(text).replace('\n', "\n  ");
        write!(f, "error: {}", indented(&self.message))?;
        if !self.help.is_empty() {
            write!(f, "\nhelp: {}", indented(&self.help))?;
        }
        if !self.stderr.is_empty() {
            write!(f, "\nthe last lines of its stderr:")?;
            for line in &self.stderr {
                write!(f, "\n  | {}", escape::short(line, 400))?;
            }
        }
        Ok(())
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        let is_unset = error.is_unset();
        Self {
            is_unset,
            ..Self::usage(error.to_string(), error.help())
        }
    }
}

impl From<BaselineError> for Error {
    fn from(error: BaselineError) -> Self {
        Self::usage(error.to_string(), error.help())
    }
}

impl From<InteropError> for Error {
    fn from(error: InteropError) -> Self {
        Self::usage(error.to_string(), error.help())
    }
}

impl From<SignatureError> for Error {
    fn from(error: SignatureError) -> Self {
        Self::usage(error.to_string(), error.help())
    }
}

impl From<NotALock> for Error {
    fn from(error: NotALock) -> Self {
        Self::usage(error.problem, error.help)
    }
}

impl From<SourceError> for Error {
    fn from(error: SourceError) -> Self {
        let (exit, stderr) = match &error {
            SourceError::Capture { failure, .. } => (Exit::Undetermined, failure.last_lines(12)),
            _ => (Exit::Usage, Vec::new()),
        };
        Self {
            message: error.to_string(),
            help: error.help(),
            stderr,
            exit,
            is_unset: false,
        }
    }
}
