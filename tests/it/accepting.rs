//! Saying yes to whole components: `pin --only` in a script, `review` on a terminal.

use serde_json::Value;

use crate::keel::{Keel, serving};

const PINNED: &str = r#"[
  {"name": "alert", "description": "Warns of a storm.", "inputSchema": {"type": "object"}},
  {"name": "find_place", "description": "Finds a place by its name on the map.", "inputSchema": {"type": "object"}},
  {"name": "rain", "description": "How much rain fell.", "inputSchema": {"type": "object", "properties": {"days": {"type": "integer", "maximum": 10}}}}
]"#;

/// Every tool differs: one is reworded, one renamed, one has another bound, one is new.
const SERVED: &str = r#"[
  {"name": "alert", "description": "Warns of a storm and of hail.", "inputSchema": {"type": "object"}},
  {"name": "findPlace", "description": "Finds a place by its name on the map.", "inputSchema": {"type": "object"}},
  {"name": "rain", "description": "How much rain fell.", "inputSchema": {"type": "object", "properties": {"days": {"type": "integer", "maximum": 7}}}},
  {"name": "snow", "description": "How much snow fell.", "inputSchema": {"type": "object"}}
]"#;

fn scenario(tools: &str, version: &str) -> String {
    format!(
        r#"{{"boots": "boots", "serverInfo": {{"name": "weather", "version": "{version}"}}, "tools": {tools}}}"#
    )
}

/// The server, pinned, and then as it is served.
fn drifted() -> Keel {
    let keel = Keel::following(&scenario(PINNED, "1.0.0"), "");
    keel.run(&["pin"]).exits(0);
    keel.follow(&scenario(SERVED, "1.1.0"), "");
    keel
}

/// The signatures of the baseline.
fn signatures(keel: &Keel) -> Vec<String> {
    let baseline: Value = serde_json::from_str(&keel.read("mcp-baseline.json")).unwrap();
    let components = baseline["servers"]["it"]["components"].as_object().unwrap();
    let signatures = components.values();
    signatures
        .map(|it| it["signature"].as_str().unwrap().to_owned())
        .collect()
}

/// The components that a check still reports.
fn reported(keel: &Keel) -> Vec<String> {
    let report = keel.run(&["check", "--format", "json"]).json();
    let changes = report["servers"][0]["changes"].as_array().unwrap();
    let mut components: Vec<String> = changes
        .iter()
        .map(|it| it["component"].as_str().unwrap_or("server").to_owned())
        .collect();
    components.dedup();
    components
}

#[test]
fn only_the_named_components_are_accepted_as_the_server_sends_them() {
    let keel = drifted();
    keel.run(&["pin", "--only", "rain"]).exits(0).names(&[
        "rain",
        "Not accepted, and still different in it: server, alert, findPlace, find_place, snow",
    ]);
    assert_eq!(
        signatures(&keel),
        ["alert()", "find_place()", "rain(days?: integer ..7)"]
    );
    keel.run(&["check"]).exits(1).says_nothing_of("maximum 10");
    // A rename by its new name, both halves; several at once.
    keel.run(&["pin", "--only", "findPlace", "tool:snow"]).exits(0);
    assert_eq!(
        signatures(&keel),
        ["alert()", "findPlace()", "rain(days?: integer ..7)", "snow()"]
    );
    assert_eq!(reported(&keel), ["server", "tool:alert@"]);
    keel.run(&["pin", "--only", "server"]).exits(0);
    assert_eq!(reported(&keel), ["tool:alert@"]);
    keel.run(&["pin", "--only", "alert"]).exits(0);
    keel.run(&["check"]).exits(0);
    // What everything was accepted to is what `pin` writes.
    let by_and_by = keel.read("mcp-baseline.json");
    keel.run(&["pin"]).exits(0).says("already up to date");
    assert_eq!(keel.read("mcp-baseline.json"), by_and_by);
}

#[test]
fn a_name_that_means_nothing_or_too_much_is_an_error_and_nothing_is_written() {
    let keel = drifted();
    let before = keel.read("mcp-baseline.json");
    keel.run(&["pin", "--only", "rain", "snwo"])
        .exits(2)
        .names(&["no server has `snwo`", "did you mean `snow`?"]);
    assert_eq!(keel.read("mcp-baseline.json"), before);
    // The same tool of two servers.
    let config = keel.read("mcp-keel.toml");
    keel.write(
        "mcp-keel.toml",
        &format!("{config}{}", config.replace("server.it", "server.two")),
    );
    keel.run(&["pin", "two"]).exits(0);
    keel.run(&["pin", "--only", "rain"])
        .exits(2)
        .names(&["in several servers: it, two", "mcp-keel pin it --only rain"]);
    keel.run(&["pin", "it", "--only", "rain"]).exits(0);
    // A server without an entry is pinned as a whole.
    let [program, scenario] = serving(PINNED);
    keel.run(&["pin", "new", "--only", "rain", "--", &program, &scenario])
        .exits(2)
        .says("not in the baseline yet");
}

#[test]
fn on_the_default_branch_in_ci_single_components_need_yes_too() {
    let keel = drifted();
    crate::machine::repository(keel.folder());
    let ci = [("CI", "true"), ("GITHUB_REF", "refs/heads/main")];
    keel.run_with_env(&["pin", "--only", "rain"], &ci)
        .exits(2)
        .says("--yes");
    keel.run_with_env(&["pin", "--only", "rain", "--yes"], &ci)
        .exits(0);
}

#[test]
fn pin_lists_apart_what_it_accepts_beyond_the_tools_that_the_branch_touches() {
    let source = |rain: u32| {
        format!(
            "import {{ server }} from './server.js';\n\nserver.registerTool('alert', {{\n  description: 'Warns of a storm and of hail.',\n}}, alert);\n\n\n\nserver.registerTool('rain', {{\n  maximum: {rain},\n}}, rain);\n"
        )
    };
    let keel = drifted();
    // The reworded `alert` is on main already, and was not pinned there.
    keel.write("src/tools.ts", &source(10));
    keel.write(".gitignore", "boots\n");
    crate::machine::repository(keel.folder());
    crate::machine::git(keel.folder(), &["checkout", "-qb", "topic"]);
    keel.write("src/tools.ts", &source(7));
    crate::machine::git(keel.folder(), &["commit", "-qam", "rain"]);
    keel.run(&["pin"]).exits(0).says(
        "Accepted beyond the tools of it that this branch touches: alert (src/tools.ts:3).",
    );
    keel.run(&["pin"]).exits(0).says_nothing_of("beyond");
}

#[test]
fn review_needs_a_terminal() {
    let keel = drifted();
    keel.run(&["review"])
        .exits(2)
        .names(&["needs a terminal", "mcp-keel pin --only TOOL"]);
}

#[cfg(unix)]
mod on_a_terminal {
    use std::io::{Read as _, Write as _};
    use std::process::{Child, Command, Stdio};
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    use super::*;

    /// The program on a pseudo-terminal.
    struct Terminal {
        input: std::fs::File,
        printed: Receiver<Vec<u8>>,
        said: String,
        child: Child,
    }

    const KEYS: &str = "[q]uit? ";

    impl Terminal {
        fn start(keel: &Keel, args: &[&str]) -> Self {
            let pair = nix::pty::openpty(None, None).unwrap();
            let stdio = || Stdio::from(pair.slave.try_clone().unwrap());
            let child = Command::new(env!("CARGO_BIN_EXE_mcp-keel"))
                .args(args)
                .current_dir(keel.folder())
                .env_clear()
                .env("PATH", std::env::var_os("PATH").unwrap_or_default())
                .env("HOME", keel.folder())
                .stdin(stdio())
                .stdout(stdio())
                .stderr(stdio())
                .spawn()
                .unwrap();
            drop(pair.slave);
            let input = std::fs::File::from(pair.master);
            let mut output = input.try_clone().unwrap();
            let (sender, printed) = channel();
            std::thread::spawn(move || {
                let mut bytes = [0; 4096];
                // The end of a terminal is an error.
                while let Ok(count @ 1..) = output.read(&mut bytes) {
                    let _ = sender.send(bytes[..count].to_vec());
                }
            });
            Self {
                input,
                printed,
                said: String::new(),
                child,
            }
        }

        /// What is printed until this text is.
        #[track_caller]
        fn until(&mut self, text: &str) -> String {
            let mut seen = String::new();
            while !seen.contains(text) {
                let Ok(bytes) = self.printed.recv_timeout(Duration::from_secs(120)) else {
                    let _ = self.child.kill();
                    panic!("no `{text}` in:\n{}{seen}", self.said);
                };
                seen += &String::from_utf8_lossy(&bytes);
            }
            self.said += &seen;
            seen.replace('\r', "")
        }

        fn press(&mut self, keys: &str) {
            self.input.write_all(keys.as_bytes()).unwrap();
        }

        #[track_caller]
        fn ends(mut self, code: i32) -> String {
            while let Ok(bytes) = self.printed.recv_timeout(Duration::from_secs(120)) {
                self.said += &String::from_utf8_lossy(&bytes);
            }
            let status = self.child.wait().unwrap();
            assert_eq!(status.code(), Some(code), "{}", self.said);
            self.said.replace('\r', "")
        }
    }

    #[test]
    fn review_accepts_whole_components_and_writes_at_the_end() {
        let keel = drifted();
        let before = keel.read("mcp-baseline.json");
        let mut terminal = Terminal::start(&keel, &["review"]);
        let first = terminal.until(KEYS);
        assert!(first.contains("1 of 5: server of it"), "{first}");
        // Enter does nothing, and neither does a key without a meaning.
        terminal.press("\n\nx");
        terminal.press("s");
        let alert = terminal.until(KEYS);
        assert!(alert.contains("2 of 5: alert of it"), "{alert}");
        assert!(alert.contains("and of hail"), "{alert}");
        terminal.press("e");
        let explained = terminal.until(KEYS);
        assert!(explained.contains("What to do"), "{explained}");
        terminal.press("o");
        let opened = terminal.until(KEYS);
        assert!(opened.contains("mcp-baseline.json:"), "{opened}");
        terminal.press("s");
        let renamed = terminal.until(KEYS);
        assert!(renamed.contains("- find_place()"), "{renamed}");
        assert!(renamed.contains("+ findPlace()"), "{renamed}");
        terminal.press("a");
        let rain = terminal.until(KEYS);
        assert!(rain.contains("- rain(days?: integer ..10)"), "{rain}");
        assert!(rain.contains("worked before, fails now"), "{rain}");
        terminal.press("a");
        let snow = terminal.until(KEYS);
        assert!(snow.contains("+ snow()\n      How much snow fell."), "{snow}");
        terminal.press("s");
        let list = terminal.until("[y/n] ");
        let expected = "This will be written:\n  mcp-baseline.json, it\n    - find_place()\n    + findPlace()\n    - rain(days?: integer ..10)\n    + rain(days?: integer ..7)\nWrite 2 components? ";
        assert!(list.contains(expected), "{list}");
        assert_eq!(keel.read("mcp-baseline.json"), before);
        terminal.press("\ny");
        let said = terminal.ends(0);
        assert!(
            said.contains("Written. 3 components left. Commit mcp-baseline.json."),
            "{said}"
        );
        assert_eq!(
            signatures(&keel),
            ["alert()", "findPlace()", "rain(days?: integer ..7)"]
        );
        assert_eq!(reported(&keel), ["server", "tool:alert@", "tool:snow@"]);
    }

    #[test]
    fn all_that_is_left_is_accepted_at_once_and_quitting_writes_nothing_without_a_yes() {
        let keel = drifted();
        let before = keel.read("mcp-baseline.json");
        for (keys, last) in [("q", "Nothing was written."), ("aq", "[y/n] ")] {
            let mut terminal = Terminal::start(&keel, &["review"]);
            for key in keys.chars() {
                terminal.until(KEYS);
                terminal.press(&key.to_string());
            }
            terminal.until(last);
            terminal.press("n");
            assert!(terminal.ends(0).contains("Nothing was written."));
            assert_eq!(keel.read("mcp-baseline.json"), before);
        }
        let mut terminal = Terminal::start(&keel, &["review"]);
        terminal.until(KEYS);
        terminal.press("A");
        terminal.until("[y/n] ");
        terminal.press("y");
        assert!(terminal.ends(0).contains("Nothing is left."));
        keel.run(&["check"]).exits(0);
        keel.run(&["pin"]).exits(0).says("already up to date");
        let terminal = Terminal::start(&keel, &["review"]);
        assert!(terminal.ends(0).contains("Nothing to review"));
    }

    #[test]
    fn a_server_that_changed_meanwhile_is_noticed() {
        let keel = drifted();
        let before = keel.read("mcp-baseline.json");
        // The third start is the one before writing.
        let other = SERVED.replace("..", "").replace("of hail", "of fire");
        let turned = format!(
            r#"{{"boots": "boots", "tools": {SERVED}, "boot": [{{}}, {{}}, {{"tools": {other}}}]}}"#
        );
        keel.follow(&turned, "");
        let mut terminal = Terminal::start(&keel, &["review"]);
        terminal.until(KEYS);
        terminal.press("A");
        terminal.until("[y/n] ");
        terminal.press("y");
        let said = terminal.ends(3);
        assert!(said.contains("something else than"), "{said}");
        assert_eq!(keel.read("mcp-baseline.json"), before);
    }
}
