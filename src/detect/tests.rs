use super::*;

fn found(files: &[(&str, &str)]) -> Found {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    detect(folder.path())
}

fn commands(files: &[(&str, &str)]) -> Vec<String> {
    let found = found(files);
    let line = |it: &Candidate| it.command.join(" ");
    found.candidates.iter().map(line).collect()
}

#[test]
fn a_node_package_names_its_program() {
    let manifest = r#"{"bin": {"a": "./dist/cli.js", "b": "../out.js"}, "main": "dist/index.js",
        "scripts": {"start": "node dist/cli.js --stdio", "dev": "tsc && node x.js", "build": "tsc"}}"#;
    let files = [("package.json", manifest), ("package-lock.json", "{}")];
    assert_eq!(
        commands(&files),
        [
            "node dist/cli.js",
            "node dist/index.js",
            "node dist/cli.js --stdio"
        ]
    );
    let first = &found(&files).candidates[0];
    assert_eq!(first.origin, "package.json: bin.a");
    assert_eq!(first.build.as_deref(), Some("npm ci && npm run build"));
    assert_eq!(first.needs.as_ref().unwrap().path, "dist/cli.js");
}

#[test]
fn a_python_package_names_its_scripts_and_its_servers() {
    let server = "from fastmcp import FastMCP\nmcp = FastMCP('a')\n";
    let runs = format!("{server}if __name__ == '__main__':\n    mcp.run()\n");
    assert_eq!(commands(&[("server.py", &runs)]), ["python3 server.py"]);
    assert_eq!(
        commands(&[("server.py", server)]),
        ["fastmcp run server.py"]
    );
    let project = "[project]\nname = 'x'\n[project.scripts]\nx-server = 'x.server:main'\n";
    let files = [
        ("pyproject.toml", project),
        ("uv.lock", ""),
        ("src/x/server.py", &runs),
    ];
    assert_eq!(
        commands(&files),
        ["uv run x-server", "uv run python src/x/server.py"]
    );
    let files = [
        ("pyproject.toml", project),
        (".venv/bin/python", ""),
        (".venv/bin/x-server", ""),
    ];
    assert_eq!(commands(&files), [".venv/bin/x-server"]);
    // What is installed is not the server of this folder.
    assert!(
        commands(&[
            ("node_modules/a/server.py", &runs),
            (".venv/lib/server.py", &runs)
        ])
        .is_empty()
    );
}

#[test]
fn a_rust_package_runs_what_is_built_or_builds_it() {
    let manifest = "[package]\nname = 'a'\n";
    let files = [("Cargo.toml", manifest), ("src/main.rs", "")];
    assert_eq!(commands(&files), ["cargo run --quiet --release --bin a"]);
    let files = [
        ("Cargo.toml", manifest),
        ("src/main.rs", ""),
        ("target/release/a", ""),
    ];
    assert_eq!(commands(&files), ["./target/release/a"]);
}

#[test]
fn a_go_module_runs_its_main_packages() {
    let main = "package main\n\nfunc main() {}\n";
    let files = [
        ("go.mod", "module a"),
        ("cmd/a/main.go", main),
        ("b.go", "package b"),
    ];
    assert_eq!(commands(&files), ["go run ./cmd/a"]);
}

#[test]
fn lists_of_servers_are_found_too() {
    let found = found(&[(".mcp.json", "{}"), ("server.json", "{}")]);
    assert!(found.candidates.is_empty());
    assert_eq!(
        found.lists,
        [Path::new(".mcp.json"), Path::new("server.json")]
    );
}
