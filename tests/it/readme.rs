//! What the documents show is what the program does.

use std::path::{Path, PathBuf};

use crate::keel::Keel;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A terminal's output as a picture: one `text` per line, one `tspan` per run of a colour.
fn picture(printed: &str) -> String {
    const LINE: usize = 19;
    const COLUMN: f64 = 8.4;
    let lines: Vec<&str> = printed.lines().collect();
    let (width, height) = (80.0 * COLUMN + 32.0, lines.len() * LINE + 32);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height}\" width=\"{width:.0}\" height=\"{height}\" role=\"img\" aria-label=\"mcp-keel demo\">\n\
         <style>text {{ font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #e6edf3; white-space: pre; }} \
         .c31 {{ fill: #ff7b72; }} .c32 {{ fill: #7ee787; }} .c33 {{ fill: #f2cc60; }} .c35 {{ fill: #d2a8ff; }} .c36 {{ fill: #76e3ea; }} \
         .c1 {{ font-weight: 700; }} .c2 {{ fill: #9da7b3; }}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n"
    );
    let escaped = |text: &str| mcp_keel::report::escape::xml(text);
    // A colour may go on in the next line.
    let mut classes: Vec<String> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let y = 16 + LINE * at + 14;
        out += &format!("<text x=\"16\" y=\"{y}\" xml:space=\"preserve\">");
        for (part_at, part) in line.split("\u{1b}[").enumerate() {
            let text = if part_at == 0 {
                part
            } else {
                let (codes, text) = part.split_once('m').unwrap();
                let codes = codes
                    .split(';')
                    .filter(|it| !["0", "39", "22", ""].contains(it));
                classes = codes.map(|it| format!("c{it}")).collect();
                text
            };
            let indent = text.len() - text.trim_start().len();
            out += &text[..indent];
            let text = &text[indent..];
            if text.is_empty() || classes.is_empty() {
                out += &escaped(text);
            } else {
                let text = escaped(text);
                out += &format!("<tspan class=\"{}\">{text}</tspan>", classes.join(" "));
            }
        }
        out += "</text>\n";
    }
    out + "</svg>\n"
}

#[test]
fn the_picture_in_the_readme_is_the_demos_output() {
    let printed = Keel::new()
        .run(&["demo", "--color", "always"])
        .exits(0)
        .stdout;
    let report = printed.find("BLOCK").unwrap();
    let begin = printed[..report].rfind('\n').map_or(0, |it| it + 1);
    // From the verdict to the calls that fail now.
    let parts: Vec<&str> = printed[begin..].split("\n\n").take(4).collect();
    let shown = parts.join("\n\n");
    assert!(shown.contains("worked before, fails now"), "{shown}");
    let picture = picture(&shown);
    assert!(picture.len() < 150_000);
    crate::generated::assert_current("docs/images/demo.svg", &picture);
    assert!(read("README.md").contains("](docs/images/demo.svg)"));
}

#[test]
fn every_snippet_of_json_in_the_documents_parses() {
    let mut snippets = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for (word, block) in blocks(&text) {
            if word != "json" {
                continue;
            }
            if let Err(error) = serde_json::from_str::<serde_json::Value>(block) {
                panic!("{}: {error}\n{block}", document.display());
            }
            snippets += 1;
        }
    }
    assert!(snippets > 0, "{snippets}");
}

/// The fenced blocks of a document: the info string, and the text.
fn blocks(document: &str) -> Vec<(&str, &str)> {
    let mut blocks = Vec::new();
    let mut rest = document;
    while let Some((_, after)) = rest.split_once("\n```") {
        let (word, after) = after.split_once('\n').unwrap();
        let (text, after) = after.split_once("```").expect("every fence is closed");
        blocks.push((word, text));
        rest = after;
    }
    blocks
}

#[test]
#[cfg(unix)]
fn every_command_in_the_readme_runs() {
    use std::os::unix::fs::PermissionsExt as _;
    // A stand-in for the reader's own server: `node` starts the demo's.
    let keel = Keel::new().file(
        "bin/node",
        &format!(
            "#!/bin/sh\nexec '{}' demo --serve pinned\n",
            env!("CARGO_BIN_EXE_mcp-keel")
        ),
    );
    // What `init` finds: a package that is built.
    keel.write(
        "package.json",
        r#"{"name": "weather", "bin": "dist/index.js"}"#,
    );
    keel.write("dist/index.js", "");
    let node = keel.folder().join("bin/node");
    std::fs::set_permissions(&node, std::fs::Permissions::from_mode(0o755)).unwrap();
    let readme = read("README.md");
    let commands: Vec<&str> = blocks(&readme)
        .into_iter()
        .filter(|(word, _)| *word == "console")
        .flat_map(|(_, text)| text.lines())
        .filter(|line| line.starts_with("mcp-keel "))
        .collect();
    assert!(commands.len() >= 3, "{commands:?}");
    for line in commands {
        let words = shlex::split(line.split(" # ").next().unwrap()).unwrap();
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        if line.contains("git:") {
            // It compares the baseline with that of another branch.
            crate::machine::repository(keel.folder());
        }
        if line.contains("--url") {
            // These need a server at an address, which `it::http` tests. Here only their flags are
            // checked.
            keel.run(&[&words[..], &["--help"]].concat()).exits(0);
            continue;
        }
        keel.run_on_path(&words, &node).exits(0);
    }
}

/// Fails unless these words are a command line of mcp-keel: commands, flags and their values.
#[track_caller]
fn parses(keel: &Keel, page: &str, line: &str, words: &[String]) {
    // `baseline list|remove` is two commands.
    let alternatives = words.iter().position(|it| it.contains('|'));
    if let Some(at) = alternatives {
        for one in words[at].split('|') {
            let mut words = words.to_vec();
            words[at] = one.to_owned();
            parses(keel, page, line, &words);
        }
        return;
    }
    // A placeholder where only certain words are allowed.
    let words = words.iter().map(|it| match it.as_str() {
        "COMMAND" => "check",
        "PROFILE" => "keel",
        other => other,
    });
    // What follows `--` is the server's.
    let ours: Vec<&str> = words.take_while(|it| *it != "--").collect();
    let help: &[&str] = if ours.first() == Some(&"help") {
        &[]
    } else {
        &["--help"]
    };
    let run = keel.run(&[&ours[..], help].concat());
    assert_eq!(run.code, 0, "{page}: {line}\n{}", run.stderr);
}

#[test]
fn every_command_in_the_documents_parses() {
    let keel = Keel::new();
    let mut commands = 0;
    for document in documents() {
        let page = document.display().to_string();
        let text = std::fs::read_to_string(&document).unwrap();
        let shown = blocks(&text).into_iter();
        let shown = shown.filter(|(word, _)| *word == "console");
        for line in shown.flat_map(|(_, text)| text.lines()) {
            // In a block with prompts, other lines are output.
            let is_output = text.contains("\n$ ") && !line.starts_with("$ ");
            let line = line.strip_prefix("$ ").unwrap_or(line);
            let Some(words) = shlex::split(line).filter(|it| !it.is_empty() && !is_output) else {
                continue;
            };
            let words: Vec<String> = words
                .into_iter()
                .skip_while(|it| {
                    it.split_once('=')
                        .is_some_and(|(name, _)| !name.contains('/'))
                })
                .collect();
            let program = words[0].as_str();
            let rest = &words[1..];
            match program {
                "mcp-keel" => parses(&keel, &page, line, rest),
                "npx" | "uvx" if rest[0] == "mcp-keel" => {
                    parses(&keel, &page, line, &rest[1..]);
                }
                "cargo" if rest.iter().any(|it| it == "--") => {
                    let ours = rest.iter().skip_while(|it| *it != "--").skip(1);
                    parses(&keel, &page, line, &ours.cloned().collect::<Vec<_>>());
                }
                "cargo" | "git" => {}
                file if file.contains('/') => {
                    assert!(root().join(file).is_file(), "{page}: {line}");
                }
                _ => panic!("{page}: a command that no test knows: {line}"),
            }
            commands += 1;
        }
        // And in prose.
        let prose = text.split("```").step_by(2).collect::<Vec<_>>().concat();
        for code in prose.split('`').skip(1).step_by(2) {
            let words = code
                .strip_prefix("mcp-keel ")
                .filter(|it| !it.starts_with('('));
            if let Some(words) = words.and_then(shlex::split) {
                parses(&keel, &page, code, &words);
                commands += 1;
            }
        }
    }
    assert!(commands > 80, "{commands}");
}

#[test]
fn every_configuration_in_the_documents_is_valid() {
    let mut configurations = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for (word, block) in blocks(&text) {
            if word != "toml" {
                continue;
            }
            // An excerpt about a server whose command is elsewhere in the file.
            let mut whole = block.to_owned();
            if let Some((_, rest)) = block.split_once("[[server.") {
                let (name, _) = rest.split_once('.').unwrap();
                if !block.contains(&format!("[server.{name}]")) {
                    whole = format!("[server.{name}]\ncommand = [\"x\"]\n{block}");
                }
            }
            let parsed = mcp_keel::config::Config::parse(Path::new("mcp-keel.toml"), &whole);
            assert!(
                parsed.is_ok(),
                "{}: {:?}\n{block}",
                document.display(),
                parsed.err()
            );
            configurations += 1;
        }
    }
    assert!(configurations > 10, "{configurations}");
}

#[test]
fn the_workflow_in_the_readme_is_the_one_to_copy() {
    let readme = read("README.md");
    let shown = blocks(&readme)
        .into_iter()
        .find(|(word, _)| *word == "yaml")
        .map(|(_, text)| text);
    assert_eq!(shown, Some(read("docs/workflows/check.yml").as_str()));
}

/// Whether `shown` is `printed`, where a line `...` matches any number of lines.
fn shows(shown: &[&str], printed: &[&str]) -> bool {
    match shown {
        [] => printed.is_empty(),
        ["...", rest @ ..] => (0..=printed.len()).any(|left| shows(rest, &printed[left..])),
        [line, rest @ ..] => printed.first() == Some(line) && shows(rest, &printed[1..]),
    }
}

#[test]
#[cfg(unix)]
fn the_tutorial_shows_the_real_output() {
    let keel = Keel::new();
    let program = Path::new(env!("CARGO_BIN_EXE_mcp-keel"));
    let path = format!(
        "{}:{}",
        program.parent().unwrap().display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let tutorial = read("docs/tutorial.md");
    let mut commands = 0;
    for (word, text) in blocks(&tutorial) {
        if word == "toml" {
            keel.write("mcp-keel.toml", text);
            continue;
        }
        assert_eq!(word, "console", "a block that no test runs:\n{text}");
        for step in text.split("$ ").skip(1) {
            let (command, shown) = step.split_once('\n').unwrap();
            let output = std::process::Command::new("sh")
                .args(["-c", command])
                .current_dir(keel.folder())
                .env_clear()
                .env("PATH", &path)
                .env("HOME", keel.folder())
                .envs([
                    ("GIT_CONFIG_GLOBAL", "/dev/null"),
                    ("GIT_CONFIG_SYSTEM", "/dev/null"),
                ])
                .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "reader")))
                .envs(
                    ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"]
                        .map(|name| (name, "reader@example.com")),
                )
                .output()
                .unwrap();
            let printed = String::from_utf8(output.stdout).unwrap();
            let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
            let code = command
                .rsplit_once("# exits with ")
                .map_or(0, |(_, code)| code.trim().parse().unwrap());
            assert_eq!(
                output.status.code(),
                Some(code),
                "{command}\n{printed}{complaints}"
            );
            let shown: Vec<&str> = shown.lines().collect();
            let lines: Vec<&str> = printed.lines().collect();
            assert!(
                shows(&shown, &lines),
                "docs/tutorial.md shows something else for `{command}`, which prints:\n{printed}"
            );
            commands += 1;
        }
    }
    assert!(commands > 8, "{commands}");
}

/// The commands in the `console` blocks of a page.
fn console(page: &str) -> Vec<String> {
    let text = read(page);
    blocks(&text)
        .into_iter()
        .filter(|(word, _)| *word == "console")
        .flat_map(|(_, text)| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

/// Runs a line of a page with a shell, as a reader would.
#[cfg(unix)]
fn typed(keel: &Keel, line: &str) -> std::process::Output {
    let program = Path::new(env!("CARGO_BIN_EXE_mcp-keel"));
    let path = format!(
        "{}:{}:{}",
        keel.folder().join("tools").display(),
        program.parent().unwrap().display(),
        std::env::var("PATH").unwrap_or_default()
    );
    std::process::Command::new("sh")
        .args(["-c", line])
        .current_dir(keel.folder())
        .env_clear()
        .env("PATH", path)
        .env("HOME", keel.folder())
        .envs([
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ])
        .output()
        .unwrap()
}

#[cfg(unix)]
#[track_caller]
fn runs(keel: &Keel, line: &str, code: i32) {
    let output = typed(keel, line);
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert_eq!(output.status.code(), Some(code), "{line}\n{said}");
}

#[test]
#[cfg(unix)]
fn the_commands_about_setting_up_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let script = "#!/bin/sh\nexec mcp-keel demo --serve pinned\n";
    let keel = Keel::new()
        .file("tools/node", script)
        .file("package.json", r#"{"bin": "dist/index.js"}"#)
        .file("dist/index.js", "");
    let node = keel.folder().join("tools/node");
    std::fs::set_permissions(&node, std::fs::Permissions::from_mode(0o755)).unwrap();
    let lines = console("docs/init.md");
    assert!(lines.len() >= 6, "{lines:?}");
    for line in &lines {
        runs(&keel, line, 0);
    }
}

#[test]
#[cfg(unix)]
fn the_commands_about_deciding_run_and_their_ids_are_the_demos() {
    let config = "[server.weather]\ncommand = [\"mcp-keel\", \"demo\", \"--serve\", \"drifted\"]\n";
    let keel = Keel::new();
    runs(
        &keel,
        "mcp-keel pin weather -- mcp-keel demo --serve pinned",
        0,
    );
    runs(&keel, "git init -q && git config user.name Ada", 0);
    keel.write("mcp-keel.toml", config);
    let lines = console("docs/deciding.md");
    assert!(lines.len() >= 4, "{lines:?}");
    for line in &lines {
        let code = i32::from(line == "mcp-keel check");
        runs(&keel, line, code);
    }
}

#[test]
#[cfg(unix)]
fn the_commands_about_history_run() {
    let keel = Keel::new();
    let pin = "mcp-keel pin weather -- mcp-keel demo --serve";
    runs(
        &keel,
        "git init -q && git config user.name Ada && git config user.email a@b.c",
        0,
    );
    for (edition, tag) in [("pinned", "v1.3.0"), ("drifted", "v1.4.0")] {
        runs(&keel, &format!("{pin} {edition}"), 0);
        runs(
            &keel,
            &format!("git add . && git commit -qm {tag} && git tag {tag}"),
            0,
        );
    }
    let lines = console("docs/history.md");
    assert!(lines.len() >= 8, "{lines:?}");
    for line in &lines {
        runs(&keel, line, 0);
    }
}

/// Every Markdown file that people read.
fn documents() -> Vec<PathBuf> {
    let mut documents: Vec<PathBuf> = [root().to_owned(), root().join("docs")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "md"))
        .collect();
    documents.sort();
    assert!(documents.len() > 20, "{documents:?}");
    documents
}

/// The anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    heading
        .trim()
        .to_lowercase()
        .chars()
        .filter(|it| it.is_alphanumeric() || " -_".contains(*it))
        .map(|it| if it == ' ' { '-' } else { it })
        .collect()
}

#[test]
fn every_link_in_the_documents_is_valid() {
    let mut links = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        let prose = text.split("```").step_by(2).collect::<Vec<_>>().concat();
        for link in prose.split("](").skip(1) {
            let target = link.split(')').next().unwrap();
            if target.starts_with("https://") {
                continue;
            }
            let (file, fragment) = target.split_once('#').unwrap_or((target, ""));
            let path = match file {
                "" => document.clone(),
                _ => document.parent().unwrap().join(file),
            };
            assert!(path.exists(), "{}: {target}", document.display());
            if !fragment.is_empty() {
                let there = std::fs::read_to_string(&path).unwrap();
                let found = there
                    .lines()
                    .filter_map(|line| line.strip_prefix('#'))
                    .any(|heading| anchor(heading.trim_start_matches('#')) == fragment);
                assert!(found, "{}: {target}", document.display());
            }
            links += 1;
        }
    }
    assert!(links > 100, "{links}");
}

#[test]
fn every_page_is_in_the_index() {
    let index = read("docs/README.md");
    for document in documents() {
        let name = document.file_name().unwrap().to_str().unwrap();
        let is_page = document.parent() == Some(&root().join("docs")) && name != "README.md";
        assert!(
            !is_page || index.contains(&format!("({name})")),
            "docs/README.md does not list {name}"
        );
    }
}

#[test]
fn every_test_named_in_the_security_policy_exists() {
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
    for folder in ["src", "tests", "crates"] {
        sources(&root.join(folder), &mut all);
    }
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
        assert!(all.contains(&wanted), "no test is called `{name}`");
    }
}
