//! Words that this project does not use, because native readers stumble over them. `docs` and code comments use plain
//! ones instead: reported, printed, listed, `None` if, "per server".

use std::path::{Path, PathBuf};

/// As whole words, in any case, also as parts of snake-case names.
pub(crate) const AVOIDED: [&str; 8] = [
    "told",
    "stands",
    "whoever",
    "whomever",
    "nobody",
    "somebody",
    "anybody",
    "everybody",
];

/// Files in which a word is quoted on purpose.
const ALLOWED: &[(&str, &str)] = &[("src/sentences/page.rs", "told")];

const READ: [&str; 12] = [
    ".ci",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "action.yml",
    "benches",
    "docs",
    "examples",
    "host",
    "src",
    "tests",
];

fn files(path: &Path, out: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            files(&entry.unwrap().path(), out);
        }
    } else {
        out.push(path.to_owned());
    }
}

#[test]
fn avoided_words_are_not_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for name in READ {
        files(&root.join(name), &mut all);
    }
    assert!(all.len() > 300, "only {} files", all.len());
    let mut found = Vec::new();
    for path in all {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        // Snapshots follow the sources, and this file has the list.
        if name.starts_with("tests/snapshots/") || name == "tests/it/words.rs" {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            for word in line.split(|it: char| !it.is_alphanumeric()) {
                let word = word.to_lowercase();
                if AVOIDED.contains(&word.as_str()) && !ALLOWED.contains(&(&name, &word)) {
                    found.push(format!("{name}:{}: {}", number + 1, line.trim()));
                }
            }
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}
