//! Paths, without asking the file system.

use std::path::{Component, Path, PathBuf};

/// A path without `.` and `..`, as it is written: links are not looked at. What would lead above the root stays there; a
/// relative path keeps the `..` that it begins with.
pub fn without_dots(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                let is_name = matches!(out.components().next_back(), Some(Component::Normal(_)));
                if is_name {
                    out.pop();
                } else if !out.has_root() {
                    out.push("..");
                }
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_resolved_as_they_are_written() {
        for (path, expected) in [
            ("/a/./b/../c", "/a/c"),
            ("/../a", "/a"),
            ("a/../../b", "../b"),
            ("./a", "a"),
        ] {
            assert_eq!(without_dots(Path::new(path)), Path::new(expected), "{path}");
        }
    }
}
