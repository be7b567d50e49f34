//! pyproject.toml: scripts; and files that make a FastMCP server.

use std::path::Path;

use super::{Candidate, files, text};
use crate::files::Tree;

/// How far below the folder a server is looked for.
const DEEP: usize = 3;

/// The most files whose text is looked at.
const MANY: usize = 300;

pub(super) fn candidates(folder: &Path) -> Vec<Candidate> {
    let manifest = text(folder, "pyproject.toml").and_then(|it| Tree::from_toml(&it).ok());
    let mut found = Vec::new();
    let has = |name: &str| folder.join(name).exists();
    let setup = Setup::of(&has);
    if let Some(manifest) = &manifest {
        let at = |names: &[&str]| names.iter().try_fold(manifest, |it, name| it.get(name));
        let tables = [
            (at(&["project", "scripts"]), "project.scripts"),
            (at(&["tool", "poetry", "scripts"]), "tool.poetry.scripts"),
        ];
        for (table, place) in tables {
            for (name, target) in table.into_iter().flat_map(Tree::members) {
                let origin = format!("pyproject.toml: {place}.{name}");
                let module = target.text().and_then(|it| it.split(':').next());
                found.push(setup.script(&has, name, module, &origin));
            }
        }
    }
    for path in files(folder, DEEP, ".py").into_iter().take(MANY) {
        let Some(source) = text(folder, &path) else {
            continue;
        };
        let is_server = source.contains("FastMCP(")
            || (source.contains("stdio_server") && source.contains("mcp.server"));
        if !is_server {
            continue;
        }
        if source.contains("__main__") || source.contains(".run(") {
            found.push(setup.file(&path, &format!("{path}: FastMCP")));
        } else if source.contains("FastMCP(") {
            let mut candidate = setup.tool(&has, "fastmcp", &format!("{path}: FastMCP"));
            candidate.command.extend(["run".to_owned(), path.clone()]);
            found.push(candidate);
        }
    }
    found
}

/// How a project's Python is installed.
struct Setup {
    /// `uv run` and the like.
    runner: Vec<&'static str>,
    python: &'static str,
    build: Option<&'static str>,
}

impl Setup {
    fn of(has: &dyn Fn(&str) -> bool) -> Self {
        if has("uv.lock") {
            return Self {
                runner: vec!["uv", "run"],
                python: "python",
                build: Some("pipx install uv && uv sync --locked"),
            };
        }
        let python = if has(".venv/bin/python") {
            ".venv/bin/python"
        } else if has("venv/bin/python") {
            "venv/bin/python"
        } else {
            "python3"
        };
        let build = match (python, has("requirements.txt"), has("pyproject.toml")) {
            (".venv/bin/python", true, _) => {
                Some("python3 -m venv .venv && .venv/bin/pip install -r requirements.txt")
            }
            (".venv/bin/python", _, true) => {
                Some("python3 -m venv .venv && .venv/bin/pip install .")
            }
            ("venv/bin/python", true, _) => {
                Some("python3 -m venv venv && venv/bin/pip install -r requirements.txt")
            }
            ("venv/bin/python", _, true) => Some("python3 -m venv venv && venv/bin/pip install ."),
            (_, true, _) => Some("pip install -r requirements.txt"),
            (_, _, true) => Some("pip install ."),
            _ => None,
        };
        Self {
            runner: Vec::new(),
            python,
            build,
        }
    }

    fn candidate(&self, words: &[&str], origin: &str) -> Candidate {
        let command = [&self.runner[..], words].concat();
        Candidate::new(&command, origin)
            .built_by(self.build)
            .on_runner()
    }

    /// A script of the package: its program if it is installed beside the interpreter, else its module.
    fn script(
        &self,
        has: &dyn Fn(&str) -> bool,
        name: &str,
        module: Option<&str>,
        origin: &str,
    ) -> Candidate {
        let beside = self.python.replace("/python", &format!("/{name}"));
        if !self.runner.is_empty() {
            return self.candidate(&[name], origin);
        }
        if beside != self.python && has(&beside) {
            return self.candidate(&[&beside], origin).needing(&beside);
        }
        match module {
            Some(module) if self.python != "python3" => {
                self.candidate(&[self.python, "-m", module], origin)
            }
            _ => self.candidate(&[name], origin),
        }
    }

    fn file(&self, path: &str, origin: &str) -> Candidate {
        self.candidate(&[self.python, path], origin)
    }

    fn tool(&self, has: &dyn Fn(&str) -> bool, name: &str, origin: &str) -> Candidate {
        self.script(has, name, None, origin)
    }
}
