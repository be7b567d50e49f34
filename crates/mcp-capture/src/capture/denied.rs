//! What a server in a sandbox says about something that it was denied.
//!
//! The kernel denies silently, so this is all that is known. A server may have another reason to say
//! it, and need not say anything.

use super::inbox::shortened;
use crate::launch::sandbox::Level;
use crate::surface::{CaptureNote, NoteKind};

/// How programs say that the system refused something, in small letters.
const REFUSALS: [&str; 4] = [
    "eacces",
    "eperm",
    "permission denied",
    "operation not permitted",
];

/// The same of a name that cannot be looked up, because there is no network.
const NO_NAMES: [&str; 2] = ["eai_again", "temporary failure in name resolution"];

/// A finding with the first line of a server's stderr that speaks of a refusal.
pub(super) fn denied(level: Level, stderr: &[u8]) -> Option<CaptureNote> {
    if level == Level::Off {
        return None;
    }
    let text = String::from_utf8_lossy(stderr);
    let speaks_of_one = |line: &&str| {
        let line = line.to_lowercase();
        let holds = |words: &[&str]| words.iter().any(|it| line.contains(it));
        holds(&REFUSALS) || (level == Level::Strict && holds(&NO_NAMES))
    };
    let lines: Vec<&str> = text.lines().filter(speaks_of_one).collect();
    let first = lines.first()?;
    let more = match lines.len() - 1 {
        0 => String::new(),
        1 => ", and one more line like it".to_owned(),
        more => format!(", and {more} more lines like it"),
    };
    let message = format!(
        "the server says that something was denied: `{}`{more}",
        shortened(first)
    );
    Some(CaptureNote::new(NoteKind::SandboxDenied, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_speaks_of_a_refusal_is_quoted_and_the_others_are_counted() {
        let said = |text: &str| denied(Level::Strict, text.as_bytes()).map(|note| note.message);
        assert_eq!(said("started\nlistening\n"), None);
        let first = "Error: EACCES: permission denied, open '/home/me/.bashrc'";
        assert_eq!(
            said(&format!("started\n  {first}\n")),
            Some(format!(
                "the server says that something was denied: `{first}`"
            ))
        );
        for other in [
            "PermissionError: [Errno 13] Permission denied: '/etc/x'",
            "getaddrinfo EAI_AGAIN example.org",
            "[Errno -3] Temporary failure in name resolution",
            "mount: Operation not permitted",
        ] {
            assert_eq!(
                said(&format!("{first}\n{other}\n{other}\n")),
                Some(format!(
                    "the server says that something was denied: `{first}`, and 2 more lines like it"
                ))
            );
            assert!(said(other).is_some_and(|it| it.contains(other)), "{other}");
        }
        // Where there is a network, the sandbox has no part in that.
        assert_eq!(
            denied(Level::Fs, b"getaddrinfo EAI_AGAIN example.org"),
            None
        );
        assert_eq!(denied(Level::Off, first.as_bytes()), None);
    }
}
