//! The program under test, run in its own folder with a scrubbed environment.

use std::path::Path;
use std::process::{Command, Stdio};

/// A folder, and the program run in it.
pub(crate) struct Keel {
    folder: tempfile::TempDir,
}

/// What a run printed, and its exit code.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Keel {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// In a new folder below this one.
    pub(crate) fn under(folder: &Path) -> Self {
        Self {
            folder: tempfile::tempdir_in(folder).unwrap(),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file into the folder.
    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        self.write(name, text);
        self
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.folder().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder().join(name)).unwrap()
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        self.run_with_input(args, "")
    }

    /// Runs it with the scripted server, which lists these tools.
    #[track_caller]
    pub(crate) fn run_serving(&self, args: &[&str], tools: &str) -> Run {
        let [program, scenario] = serving(tools);
        self.run(&[args, &["--", &program, &scenario]].concat())
    }

    /// A folder with the configuration of one server, `it`, that follows a scenario; `more` are
    /// further lines of its section.
    pub(crate) fn following(scenario: &str, more: &str) -> Self {
        let keel = Self::new();
        keel.follow(scenario, more);
        keel
    }

    /// Rewrites scenario and configuration. Boots are counted from the start.
    pub(crate) fn follow(&self, scenario: &str, more: &str) {
        self.write("scenario.json", scenario);
        let words: Vec<String> = crate::scripted::scripted("scenario.json")
            .iter()
            .map(|word| format!("{word:?}"))
            .collect();
        let server = format!("[server.it]\ncommand = [{}]\n{more}\n", words.join(", "));
        self.write("mcp-keel.toml", &server);
        let _ = std::fs::remove_file(self.folder().join("boots"));
    }

    /// Runs it with the folder of `program` first on the PATH.
    #[cfg(unix)]
    pub(crate) fn run_on_path(&self, args: &[&str], program: &Path) -> Run {
        let mut path = program.parent().unwrap().as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        self.run_in(args, "", &path, &[])
    }

    /// Runs it with these additional variables.
    pub(crate) fn run_with_env(&self, args: &[&str], env: &[(&str, &str)]) -> Run {
        let path = std::env::var_os("PATH").unwrap_or_default();
        self.run_in(args, "", &path, env)
    }

    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> Run {
        self.run_in(
            args,
            input,
            &std::env::var_os("PATH").unwrap_or_default(),
            &[],
        )
    }

    fn run_in(
        &self,
        args: &[&str],
        input: &str,
        path: &std::ffi::OsStr,
        env: &[(&str, &str)],
    ) -> Run {
        use std::io::Write as _;
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-keel"))
            .args(args)
            .current_dir(self.folder())
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.folder())
            .envs(env.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A program that does not read its input closes it, which is fine.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Run {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

impl Run {
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout:\n{}\nstderr:\n{}",
            self.stdout, self.stderr
        );
        self
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        let all = format!("{}{}", self.stdout, self.stderr);
        // Wrapped lines read as one.
        let flat = all.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            all.contains(text) || flat.contains(text),
            "`{text}` is not in:\n{all}"
        );
        self
    }

    /// Like [`Run::says`], for the facts in a message, however it is worded.
    #[track_caller]
    pub(crate) fn names(mut self, facts: &[&str]) -> Self {
        for fact in facts {
            self = self.says(fact);
        }
        self
    }

    #[track_caller]
    pub(crate) fn says_nothing_of(self, text: &str) -> Self {
        let all = format!("{}{}", self.stdout, self.stderr);
        assert!(!all.contains(text), "`{text}` is in:\n{all}");
        self
    }

    /// The report, parsed as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.stdout, self.stderr))
    }
}

/// The rules of a list of changes or findings in a JSON report.
#[track_caller]
pub(crate) fn rules_of(list: &serde_json::Value) -> Vec<&str> {
    let list = list.as_array().unwrap().iter();
    list.map(|it| it["rule"].as_str().unwrap()).collect()
}

/// The command line of a scripted server with these tools.
pub(crate) fn serving(tools: &str) -> [String; 2] {
    let words = crate::scripted::scripted(&format!("{{\"tools\": {tools}}}"));
    words.try_into().expect("a program and a scenario")
}
