//! Cargo.toml: the binaries of a package.

use std::path::Path;

use super::{Candidate, text};
use crate::files::Tree;

const BUILD: &str = "cargo build --release --locked";

pub(super) fn candidates(folder: &Path) -> Vec<Candidate> {
    let Some(manifest) = text(folder, "Cargo.toml").and_then(|it| Tree::from_toml(&it).ok()) else {
        return Vec::new();
    };
    let mut names: Vec<String> = Vec::new();
    for program in manifest.get("bin").map(Tree::items).unwrap_or_default() {
        names.extend(program.get("name").and_then(Tree::text).map(str::to_owned));
    }
    let package = manifest.get("package").and_then(|it| it.get("name"));
    if let Some(name) = package.and_then(Tree::text)
        && folder.join("src/main.rs").is_file()
        && !names.iter().any(|it| it == name)
    {
        names.push(name.to_owned());
    }
    let mut found = Vec::new();
    for name in names {
        let origin = format!("Cargo.toml: {name}");
        let built = |profile: &str| {
            let path = format!("target/{profile}/{name}");
            let program = format!("./{path}");
            let candidate = Candidate::new(&[&program], &origin);
            candidate.built_by(Some(BUILD)).needing(&path).on_runner()
        };
        if folder.join(format!("target/release/{name}")).is_file() {
            found.push(built("release"));
            continue;
        }
        // It builds what is missing, and nothing in CI, where it is built before.
        let run = ["cargo", "run", "--quiet", "--release", "--bin", &name];
        let run = Candidate::new(&run, &origin).built_by(Some(BUILD));
        found.push(run.on_runner().slow(600));
    }
    found
}
