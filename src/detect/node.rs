//! package.json: `bin`, `main`, `scripts`.

use std::path::Path;

use super::{Candidate, is_inside, plain, text};
use crate::canonical::{Json, parse_str};

pub(super) fn candidates(folder: &Path) -> Vec<Candidate> {
    let Some(manifest) = text(folder, "package.json").and_then(|it| parse_str(&it).ok()) else {
        return Vec::new();
    };
    let build = build(folder, &manifest);
    let mut found = Vec::new();
    let mut script = |path: &str, origin: &str| {
        let path = plain(path);
        if is_inside(path) {
            let candidate = Candidate::new(&["node", path], origin).built_by(Some(&build));
            found.push(candidate.needing(path));
        }
    };
    match manifest.get("bin") {
        Some(Json::String(path)) => script(path.to_string_lossy(), "package.json: bin"),
        Some(Json::Object(programs)) => {
            for (name, path) in programs.iter() {
                if let Some(path) = path.as_str() {
                    let origin = format!("package.json: bin.{}", name.to_string_lossy());
                    script(path, &origin);
                }
            }
        }
        _ => {}
    }
    if let Some(main) = manifest.get("main").and_then(Json::as_str) {
        script(main, "package.json: main");
    }
    let scripts = manifest.get("scripts").and_then(Json::as_object);
    for name in ["mcp", "start:mcp", "mcp:start", "start", "serve", "dev"] {
        let line = scripts.and_then(|it| it.get(name)).and_then(Json::as_str);
        let Some(words) = line.and_then(simple) else {
            continue;
        };
        // Not `npm start`, which prints lines of its own among the messages.
        let Some((program, arguments)) = words.split_first() else {
            continue;
        };
        let local = format!("node_modules/.bin/{program}");
        let program = match program.as_str() {
            "node" | "npx" | "deno" | "bun" => program.clone(),
            _ if folder.join(&local).exists() => local,
            _ => continue,
        };
        let mut command = vec![program];
        command.extend(arguments.iter().cloned());
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let origin = format!("package.json: scripts.{name}");
        let mut candidate = Candidate::new(&words, &origin).built_by(Some(&build));
        let file = arguments.iter().find(|it| !it.starts_with('-'));
        if let Some(file) = file.filter(|it| it.contains('.') && is_inside(plain(it))) {
            candidate = candidate.needing(plain(file));
        }
        found.push(candidate);
    }
    for path in ["dist/index.js", "build/index.js", "index.js", "server.js"] {
        if folder.join(path).is_file() {
            let candidate = Candidate::new(&["node", path], path).built_by(Some(&build));
            found.push(candidate.needing(path));
        }
    }
    found
}

/// The words of a script that needs no shell.
fn simple(line: &str) -> Option<Vec<String>> {
    let words = shlex::split(line)?;
    let needs_shell = line.contains(['|', '&', ';', '<', '>', '$', '`', '*', '(']);
    let sets_variable = words.first().is_some_and(|it| it.contains('='));
    (!needs_shell && !sets_variable && !words.is_empty()).then_some(words)
}

/// How CI installs and builds it.
fn build(folder: &Path, manifest: &Json) -> String {
    let has = |name: &str| folder.join(name).is_file();
    let (install, run) = if has("pnpm-lock.yaml") {
        (
            "corepack enable && pnpm install --frozen-lockfile",
            "pnpm run build",
        )
    } else if has("yarn.lock") {
        (
            "corepack enable && yarn install --immutable",
            "yarn run build",
        )
    } else if has("package-lock.json") {
        ("npm ci", "npm run build")
    } else {
        ("npm install", "npm run build")
    };
    let scripts = manifest.get("scripts");
    let is_built = scripts.and_then(|it| it.get("build")).is_some();
    // npm runs `prepare` after installing.
    if is_built {
        format!("{install} && {run}")
    } else {
        install.to_owned()
    }
}
