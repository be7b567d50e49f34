//! `init`: from a folder to a first check in one go.

use crate::keel::{Keel, serving};

/// A folder whose `bin/NAME` is this shell script, executable.
#[cfg(unix)]
fn program(keel: &Keel, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    keel.write(name, &format!("#!/bin/sh\n{script}\n"));
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(keel.folder().join(name), mode).unwrap();
}

/// The line of a shell that becomes a scripted server.
fn server(name: &str) -> String {
    let [program, _] = serving("[]");
    let scenario = format!(
        r#"{{"tools": [{{"name": "greet", "description": "Says hello.", "inputSchema": {{"type": "object"}}}}], "serverInfo": {{"name": "{name}", "version": "1.0.0"}}}}"#
    );
    format!("exec '{program}' '{scenario}'")
}

#[test]
#[cfg(unix)]
fn a_plain_binary_is_set_up_and_checked_in_one_go() {
    let keel = Keel::new();
    program(&keel, "greeter", &server("greeter"));
    crate::machine::repository(keel.folder());
    let run = keel
        .run(&["init", "--yes", "--team", "octo/contracts"])
        .exits(0);
    run.names(&[
        "found ./greeter",
        "greet",
        "wrote mcp-keel.toml",
        "wrote mcp-baseline.json",
        "wrote .github/workflows/mcp-keel.yml",
        "wrote .gitattributes",
        "set git's diff and merge drivers",
        "Commit them: git add mcp-keel.toml mcp-baseline.json",
    ]);
    keel.run(&["check"]).exits(0).says("PASS greeter");
    let config = keel.read("mcp-keel.toml");
    assert!(
        config.contains("[server.greeter]\ncommand = [\"./greeter\"]"),
        "{config}"
    );
    let attributes = keel.read(".gitattributes");
    assert!(attributes.contains("mcp-baseline.json diff=mcp-keel merge=mcp-keel"));
    let owners = keel.read(".github/CODEOWNERS");
    let owned: Vec<&str> = owners.lines().filter(|it| it.starts_with('/')).collect();
    let files = [
        "/mcp-baseline.json",
        "/mcp-keel.toml",
        "/.github/workflows/mcp-keel.yml",
        "/.github/CODEOWNERS",
    ];
    assert_eq!(owned, files.map(|it| format!("{it} @octo/contracts")));
    // Once is enough.
    keel.run(&["init", "--yes"]).exits(2).names(&[
        "mcp-keel.toml and mcp-baseline.json exist already",
        "--force",
    ]);
    keel.write("mcp-keel.toml", "# edited\n");
    keel.run(&["init", "--yes"]).exits(2);
    assert_eq!(keel.read("mcp-keel.toml"), "# edited\n");
    keel.run(&["init", "--yes", "--force"]).exits(0);
    assert_eq!(keel.read(".gitattributes"), attributes);
    keel.run(&["check"]).exits(0);
}

#[test]
#[cfg(unix)]
fn git_works_with_and_without_mcp_keel_on_the_path() {
    let keel = Keel::new();
    program(&keel, "greeter", &server("greeter"));
    crate::machine::repository(keel.folder());
    keel.run(&["init", "--yes"]).exits(0);
    let system = "/usr/local/bin:/usr/bin:/bin";
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_mcp-keel"));
    let with = format!("{}:{system}", program.parent().unwrap().display());
    let git = |path: &str, args: &[&str]| {
        let output = std::process::Command::new("git")
            .args(args)
            .current_dir(keel.folder())
            .env_clear()
            .env("PATH", path)
            .env("HOME", keel.folder())
            .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|it| (it, "Ada")))
            .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|it| (it, "a@b.c")))
            .output()
            .unwrap();
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed).into_owned();
        (output.status.code(), printed)
    };
    git(&with, &["add", "."]);
    git(&with, &["commit", "-qm", "set up"]);
    let pinned = keel.read("mcp-baseline.json");
    // A valid baseline of another list.
    let [scripted, scenario] = crate::keel::serving(r#"[{"name": "wave"}]"#);
    keel.run(&["pin", "greeter", "--force", "--", &scripted, &scenario])
        .exits(0);
    let (code, shown) = git(&with, &["diff"]);
    assert!(
        code == Some(0) && shown.contains("tool-removed"),
        "{code:?} {shown}"
    );
    let (code, shown) = git(system, &["diff"]);
    assert!(
        code == Some(0) && shown.contains("+        \"tool:wave@\": {"),
        "{code:?} {shown}"
    );
    git(system, &["commit", "-qam", "wave"]);
    let (code, shown) = git(system, &["log", "-p", "-1"]);
    assert!(
        code == Some(0) && shown.contains("tool:wave@"),
        "{code:?} {shown}"
    );
    // Merged as text where that is possible.
    git(system, &["checkout", "-qb", "topic", "HEAD~1"]);
    keel.write(
        "mcp-baseline.json",
        &pinned.replace("\"$schema\"", " \"$schema\""),
    );
    git(system, &["commit", "-qam", "topic"]);
    let (code, shown) = git(system, &["merge", "-q", "-m", "merged", "main"]);
    let merged = keel.read("mcp-baseline.json");
    assert!(
        merged.contains("tool:wave@") && merged.contains("   \"$schema\""),
        "{code:?} {shown} {merged}"
    );
}

#[test]
#[cfg(unix)]
fn a_node_package_is_found_by_its_manifest_and_its_workflow_builds_it() {
    let keel = Keel::new();
    program(&keel, "tools/node", &server("weather"));
    keel.write(
        "package.json",
        r#"{"name": "w", "bin": "dist/index.js", "scripts": {"build": "tsc"}}"#,
    );
    keel.write("package-lock.json", "{}");
    let node = keel.folder().join("tools/node");
    // Nothing is written for a server that is not built.
    keel.run_on_path(&["init", "--yes"], &node)
        .exits(3)
        .names(&["dist/index.js does not exist", "npm ci && npm run build"]);
    assert!(!keel.folder().join("mcp-keel.toml").exists());
    keel.write("dist/index.js", "");
    keel.run_on_path(&["init", "--yes"], &node)
        .exits(0)
        .says("found node dist/index.js (package.json: bin; 1 tool)");
    keel.run_on_path(&["check"], &node).exits(0).says("weather");
    let workflow = keel.read(".github/workflows/mcp-keel.yml");
    assert!(workflow.contains("- run: npm ci && npm run build"));
    assert!(workflow.contains("permissions: {}"));
}

#[test]
#[cfg(unix)]
fn a_folder_with_only_a_list_of_servers_is_set_up() {
    let keel = Keel::new();
    let [program, scenario] = serving(r#"[{"name": "a", "inputSchema": {"type": "object"}}]"#);
    let list = serde_json::json!({"mcpServers": {"one": {"command": program, "args": [scenario]}}});
    keel.write(".mcp.json", &list.to_string());
    keel.run(&["init", "--yes", "--ci", "none"])
        .exits(0)
        .says("found .mcp.json");
    assert!(
        keel.read("mcp-keel.toml")
            .contains("from = [\".mcp.json\"]")
    );
    assert!(!keel.folder().join(".github").exists());
    keel.run(&["check"]).exits(0).says("one");
}

#[test]
#[cfg(unix)]
fn a_server_that_needs_a_secret_says_which_variable_it_asked_for() {
    let keel = Keel::new();
    let script = format!(
        "if [ -z \"$WEATHER_API_KEY\" ]; then echo 'Error: WEATHER_API_KEY is required' >&2; exit 1; fi\n{}",
        server("weather")
    );
    program(&keel, "weather", &script);
    keel.run(&["init", "--yes"]).exits(3).names(&[
        "the server asks for WEATHER_API_KEY",
        "--pass-env WEATHER_API_KEY",
    ]);
    assert!(!keel.folder().join("mcp-keel.toml").exists());
    let env = [("WEATHER_API_KEY", "geheim-geheim")];
    keel.run_with_env(&["init", "--yes"], &env)
        .exits(3)
        .says("set here and not passed on");
    keel.run_with_env(&["init", "--yes", "--pass-env", "WEATHER_API_KEY"], &env)
        .exits(0);
    assert!(
        keel.read("mcp-keel.toml")
            .contains("pass-env = [\"WEATHER_API_KEY\"]")
    );
    keel.run_with_env(&["check"], &env).exits(0);
}

#[test]
#[cfg(unix)]
fn gitlab_and_pre_commit_files_are_written_on_request_and_never_over_others() {
    let keel = Keel::new().file(".pre-commit-config.yaml", "repos: []\n");
    program(&keel, "a", &server("a"));
    keel.run(&["init", "--yes", "--ci", "gitlab", "--pre-commit"])
        .exits(0)
        .names(&["wrote .gitlab-ci.yml", "kept .pre-commit-config.yaml"]);
    assert_eq!(keel.read(".pre-commit-config.yaml"), "repos: []\n");
    assert!(!keel.folder().join(".github").exists());
}

#[test]
fn an_empty_folder_has_no_server_and_says_how_to_name_one() {
    let keel = Keel::new();
    keel.run(&["init", "--yes"])
        .exits(3)
        .says("mcp-keel init -- COMMAND");
    let [program, scenario] = serving("[]");
    keel.run(&["init", "--yes", "--ci", "none", "--", &program, &scenario])
        .exits(0);
    keel.run(&["check"]).exits(0);
}
