//! Programs that are simply there, and images.

use std::path::Path;

use super::{Candidate, text};

pub(super) fn candidates(folder: &Path) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = programs(folder)
        .iter()
        .map(|path| {
            let program = format!("./{path}");
            Candidate::new(&[&program], path).needing(path).on_runner()
        })
        .collect();
    if text(folder, "Dockerfile").is_some() {
        let image = std::path::absolute(folder).ok();
        let image = image
            .as_deref()
            .and_then(Path::file_name)
            .map(|it| it.to_string_lossy().to_lowercase())
            .filter(|it| {
                it.chars()
                    .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
            })
            .unwrap_or_else(|| "server".to_owned());
        let build = format!("docker build --tag {image} .");
        let run = ["docker", "run", "--rm", "-i", &image];
        found.push(
            Candidate::new(&run, "Dockerfile")
                .built_by(Some(&build))
                .on_runner(),
        );
    }
    found
}

/// Executable files in the folder and in its `bin`.
#[cfg(unix)]
fn programs(folder: &Path) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut found = Vec::new();
    for place in ["", "bin/"] {
        let entries = std::fs::read_dir(folder.join(place)).into_iter().flatten();
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_program = entry
                .metadata()
                .is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
            let is_script = ["sh", "bash", "py", "js", "ts", "md", "toml", "json"]
                .iter()
                .any(|it| name.ends_with(&format!(".{it}")));
            let is_known =
                ["gradlew", "mvnw", "configure", "install", "setup"].contains(&name.as_str());
            if is_program && !is_script && !is_known && !name.starts_with('.') {
                found.push(format!("{place}{name}"));
            }
        }
    }
    found.sort();
    found
}

#[cfg(not(unix))]
fn programs(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|it| it.file_name().to_string_lossy().into_owned());
    names.filter(|it| it.ends_with(".exe")).collect()
}
