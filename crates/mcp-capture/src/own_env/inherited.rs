//! Descriptors that a shell, a runner or a test left open. No process that mcp-keel starts may
//! inherit them.

#![allow(
    clippy::disallowed_methods,
    reason = "mcp-keel's own descriptors and /proc, not files of a user"
)]

/// Closes every descriptor above stderr that would survive `exec`, except those to keep.
/// Close-on-exec descriptors are harmless.
pub(crate) fn close(kept: impl Fn(i32) -> bool) {
    let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten();
    let numbers: Vec<i32> = open
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2 && !kept(*number))
        .collect();
    for number in numbers {
        let path = format!("/proc/self/fdinfo/{number}");
        // `flags:` is octal; O_CLOEXEC is 02000000 on every architecture that releases are built
        // for.
        let info = std::fs::read_to_string(path).unwrap_or_default();
        let flags = info
            .lines()
            .find_map(|line| line.strip_prefix("flags:"))
            .and_then(|flags| i64::from_str_radix(flags.trim(), 8).ok());
        if flags.is_some_and(|flags| flags & 0o2_000_000 == 0) {
            let _ = nix::unistd::close(number);
        }
    }
}

/// Whether an argument names a descriptor by path: a file that a shell opened for mcp-keel, as in
/// `--config <(command)`.
pub(super) fn is_named(number: i32) -> bool {
    std::env::args_os().any(|argument| names(&argument.to_string_lossy(), number))
}

fn names(argument: &str, number: i32) -> bool {
    let mut found = argument.match_indices("/fd/");
    found.any(|(at, it)| {
        let digits = argument[at + it.len()..].split(|it: char| !it.is_ascii_digit());
        digits.take(1).any(|digits| digits.parse() == Ok(number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_is_named_by_its_path() {
        for argument in ["/dev/fd/63", "--config=/proc/self/fd/63", "json=/dev/fd/63"] {
            assert!(names(argument, 63), "{argument}");
            assert!(!names(argument, 6), "{argument}");
        }
        assert!(!names("63", 63));
    }
}
