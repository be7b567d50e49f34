//! Where links lead, and where they are.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// As many as the kernel follows.
const MOST_LINKS: usize = 40;

/// Everything that decides where an absolute path leads: each link on the way, as a path without links, and at the end
/// what they lead to. What does not exist stays as it is written.
pub fn links_on_the_way(path: &Path) -> Vec<PathBuf> {
    let mut links = Vec::new();
    let mut at = PathBuf::new();
    let mut ahead = reversed(path);
    while let Some(part) = ahead.pop() {
        match Path::new(&part).components().next() {
            Some(Component::ParentDir) => {
                at.pop();
            }
            Some(Component::Normal(name)) => {
                let next = at.join(name);
                match std::fs::read_link(&next) {
                    Ok(target) if links.len() < MOST_LINKS => {
                        links.push(next);
                        if target.is_absolute() {
                            at = PathBuf::new();
                        }
                        ahead.extend(reversed(&target));
                    }
                    _ => at = next,
                }
            }
            Some(Component::CurDir) | None => {}
            Some(Component::Prefix(_) | Component::RootDir) => at.push(part),
        }
    }
    links.push(at);
    links
}

fn reversed(path: &Path) -> Vec<OsString> {
    let parts = path.components().map(|part| part.as_os_str().to_owned());
    parts.rev().collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn every_link_on_the_way_is_named_where_it_is() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/bin")).unwrap();
        std::fs::write(root.join("real/bin/git"), "").unwrap();
        symlink("real", root.join("current")).unwrap();
        symlink(root.join("current/bin"), root.join("bin")).unwrap();
        symlink("../../bin/git", root.join("real/bin/g")).unwrap();
        let of = |path: &str| {
            let way = links_on_the_way(&root.join(path));
            let inside = way.iter().map(|it| it.strip_prefix(&root).unwrap());
            let inside: Vec<String> = inside.map(|it| it.display().to_string()).collect();
            inside.join(" ")
        };
        assert_eq!(of("real/bin/git"), "real/bin/git");
        assert_eq!(of("bin/git"), "bin current real/bin/git");
        assert_eq!(of("real/bin/g"), "real/bin/g bin current real/bin/git");
        assert_eq!(of("bin/missing/x"), "bin current real/bin/missing/x");
        symlink("loop", root.join("loop")).unwrap();
        assert_eq!(links_on_the_way(&root.join("loop")).len(), MOST_LINKS + 1);
    }
}
