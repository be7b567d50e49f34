//! What the README shows is what the program does.

use crate::keel::Keel;

fn readme() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_report_that_it_shows_is_the_demos() {
    let readme = readme();
    let block = readme.split("<!-- demo -->").nth(1).unwrap();
    let shown = block
        .trim()
        .trim_start_matches("```text\n")
        .trim_end_matches("```");
    let printed = Keel::new().run(&["demo"]).exits(0).stdout;
    assert!(
        printed.contains(shown.trim_end()),
        "refresh the block in README.md from `mcp-keel demo`:\n{printed}"
    );
}

#[test]
#[cfg(unix)]
fn every_command_that_it_names_runs() {
    use std::os::unix::fs::PermissionsExt as _;
    // A stand-in for the reader's own server: `node` starts the demo's.
    let keel = Keel::new().file(
        "bin/node",
        &format!(
            "#!/bin/sh\nexec '{}' demo --serve pinned\n",
            env!("CARGO_BIN_EXE_mcp-keel")
        ),
    );
    let node = keel.folder().join("bin/node");
    std::fs::set_permissions(&node, std::fs::Permissions::from_mode(0o755)).unwrap();
    let readme = readme();
    let blocks = readme
        .split("```console\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap());
    let commands: Vec<&str> = blocks
        .flat_map(str::lines)
        .filter(|line| line.starts_with("mcp-keel "))
        .collect();
    assert!(commands.len() >= 3, "{commands:?}");
    for line in commands {
        let words = shlex::split(line.split(" # ").next().unwrap()).unwrap();
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        if line.contains("git:") {
            continue; // `a_revision_in_git_is_a_source` runs it.
        }
        if line.contains("--url") {
            // These want a server at an address; `it::http` runs such. That the flags are known is seen here.
            let run = keel.run_on_path(&words, &node);
            assert!(
                !run.stderr.contains("unexpected argument"),
                "{}",
                run.stderr
            );
            continue;
        }
        keel.run_on_path(&words, &node).exits(0);
    }
}

#[test]
fn every_test_that_the_security_policy_names_exists() {
    fn sources(folder: &std::path::Path, out: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, out);
            } else if path.extension().is_some_and(|it| it == "rs") {
                out.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = String::new();
    sources(&root.join("src"), &mut all);
    sources(&root.join("tests"), &mut all);
    let policy = std::fs::read_to_string(root.join("SECURITY.md")).unwrap();
    let named: Vec<&str> = policy
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|it| it.contains('_') && !it.contains([' ', '.', '/']) && *it != "pull_request")
        .filter(|it| !it.starts_with("pull_request") && !it.starts_with("schema_"))
        .collect();
    assert!(named.len() > 20, "{named:?}");
    for name in named {
        let wanted = match name.strip_prefix('*') {
            Some(ending) => format!("{ending}("),
            None => format!("fn {name}("),
        };
        assert!(all.contains(&wanted), "there is no test `{name}`");
    }
}
