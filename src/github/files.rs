//! The two files that the runner reads after a step: its summary and its outputs.

use std::path::Path;

use crate::report::SUMMARY_LIMIT;

/// How much room the summary file has left: an earlier command of the same step may have written to
/// it. GitHub drops an oversized one entirely.
pub fn summary_room(path: &Path) -> usize {
    let used = std::fs::metadata(path).map_or(0, |it| it.len());
    SUMMARY_LIMIT.saturating_sub(usize::try_from(used).unwrap_or(usize::MAX))
}

/// Appends to a file of the runner.
pub fn append(path: &Path, text: &str) -> std::io::Result<()> {
    crate::files::append(path, text.as_bytes())
}

/// Outputs as the runner reads them: each value between two lines of a fresh random delimiter, so
/// that no value can end early and set another output.
pub fn outputs(values: &[(&str, String)]) -> String {
    let mut out = String::new();
    for (name, value) in values {
        let delimiter = loop {
            let drawn = format!("mcp-keel-{}", unguessable());
            if !value.contains(&drawn) {
                break drawn;
            }
        };
        out += &format!("{name}<<{delimiter}\n{value}\n{delimiter}\n");
    }
    out
}

/// 32 unpredictable hexadecimal digits: the standard library seeds its hash maps from the operating
/// system's random source.
pub fn unguessable() -> String {
    use std::hash::{BuildHasher as _, Hasher as _};
    let mut digits = String::new();
    for _ in 0..2 {
        let drawn = std::collections::hash_map::RandomState::new();
        digits += &format!("{:016x}", drawn.build_hasher().finish());
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_set_another_output() {
        let text = outputs(&[
            ("verdict", "block".to_owned()),
            ("report", "a\nverdict=pass\nEOF\nb".to_owned()),
        ]);
        let mut lines = text.lines();
        let first = lines.next().and_then(|it| it.strip_prefix("verdict<<"));
        assert_eq!(lines.next(), Some("block"));
        assert_eq!(lines.next(), first);
        let second = lines.next().and_then(|it| it.strip_prefix("report<<"));
        assert_ne!(first, second);
        let rest: Vec<&str> = lines.collect();
        assert_eq!(rest.len(), 5);
        assert_eq!(rest.last().copied(), second);
    }
}
