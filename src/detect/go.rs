//! go.mod: the main packages of a module.

use std::path::Path;

use super::{Candidate, files, text};

pub(super) fn candidates(folder: &Path) -> Vec<Candidate> {
    if text(folder, "go.mod").is_none() {
        return Vec::new();
    }
    let mut packages: Vec<String> = Vec::new();
    for path in files(folder, 3, ".go") {
        let is_main = text(folder, &path).is_some_and(|source| {
            source.lines().any(|line| line.trim() == "package main")
                && source.contains("func main(")
        });
        let package = match path.rsplit_once('/') {
            Some((folder, _)) => format!("./{folder}"),
            None => ".".to_owned(),
        };
        if is_main && !packages.contains(&package) {
            packages.push(package);
        }
    }
    let candidate = |package: &String| {
        Candidate::new(&["go", "run", package], "go.mod")
            .built_by(Some("go build ./..."))
            .on_runner()
            .slow(300)
    };
    packages.iter().map(candidate).collect()
}
