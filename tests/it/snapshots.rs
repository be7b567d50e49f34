//! What people and machines read, as files that a person can open: `tests/snapshots`.
//!
//! A scene ([`scenes`]) is a server before and after, run through the real program. Each scene has
//! one file per format, `SCENE.FORMAT.EXT`; `help` contains the help of each command, `errors` the
//! responses to common mistakes. A changed sentence shows up as a changed file. One command accepts
//! the current output:
//!
//! ```text
//! MCP_KEEL_UPDATE=1 cargo test --locked snapshots
//! ```
//!
//! Nothing in a file depends on the machine, the time or the version.

mod errors;
mod help;
mod pages;
mod scenes;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mcp_keel::report::{Format, Style, from_json, terminal};
use serde_json::Value;

use crate::generated;
use crate::github::Pull;
use scenes::{Scene, Verb};

const BASELINE: &str = "mcp-baseline.json";

/// The formats of `--report`, and the extension of their files.
fn formats() -> impl Iterator<Item = (&'static str, &'static str)> {
    Format::ALL.iter().map(|it| (it.word(), it.extension()))
}

/// Compares a snapshot file with the current output, or replaces it.
#[derive(Default)]
struct Comparison {
    differences: Vec<String>,
}

impl Comparison {
    fn file(&mut self, name: &str, current: &str) {
        let path = folder().join(name);
        let current = without_version(current);
        if generated::is_update() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, current).unwrap();
            return;
        }
        match std::fs::read_to_string(&path) {
            Ok(committed) if committed == current => {}
            Ok(committed) => {
                let diff = similar::TextDiff::from_lines(&committed, &current);
                let diff = diff.unified_diff().header("committed", "now").to_string();
                self.differences
                    .push(format!("tests/snapshots/{name}:\n{diff}"));
            }
            Err(_) => self
                .differences
                .push(format!("tests/snapshots/{name} is missing")),
        }
    }

    #[track_caller]
    fn finish(self) {
        assert!(
            self.differences.is_empty(),
            "{}\n\nAccept with: MCP_KEEL_UPDATE=1 cargo test --locked snapshots",
            self.differences.join("\n")
        );
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots")
}

/// A release must not change every file. No server of a scene has this version.
fn without_version(text: &str) -> String {
    text.replace(env!("CARGO_PKG_VERSION"), "$VERSION")
}

/// Runs a scene in every format, and as the action on a pull request.
#[track_caller]
fn show(scene: &Scene) {
    let mut comparison = Comparison::default();
    let keel = scene.stage();
    let mut args = vec![scene.verb.word().to_owned(), "--quiet".to_owned()];
    for (format, _) in formats() {
        args.push("--report".into());
        args.push(format!("{format}=reports/{format}"));
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    keel.write("reports/folder", "");
    let baseline = keel.folder().join(BASELINE);
    let before = std::fs::read(&baseline).ok();
    keel.run(&args).exits(scene.exit);
    for (format, extension) in formats() {
        let text = keel.read(&format!("reports/{format}"));
        comparison.file(&format!("{}.{format}.{extension}", scene.name), &text);
    }
    if let Some(expected) = scene.counts {
        let report: Value = serde_json::from_str(&keel.read("reports/json")).unwrap();
        let counts = &report["servers"][0]["counts"];
        let count = |level: &str| counts[level].as_u64().unwrap();
        let others = count("additive") + count("cosmetic");
        let found = [count("breaking"), count("risky"), others];
        assert_eq!(found, expected, "breaking, risky and other changes");
    }
    opens_in_a_browser(&keel.read("reports/html"));
    let mut report = from_json(&keel.read("reports/json")).unwrap();
    // The JSON report does not say which files were written.
    if let mcp_keel::report::Comparison::Pin { written } = &mut report.comparison
        && std::fs::read(&baseline).ok() != before
    {
        written.push(PathBuf::from(BASELINE));
    }
    assert_eq!(
        terminal(&report, Style::default()),
        keel.read("reports/terminal"),
        "the report that is shown at other widths is not the one that was made"
    );
    for width in [60, 100] {
        let style = Style {
            width,
            ..Style::default()
        };
        let name = format!("{}.terminal-{width}.txt", scene.name);
        let text = terminal(&report, style);
        comparison.file(&name, &text);
    }
    if scene.verb == Verb::Check {
        let mut pull = Pull::around(scene.stage());
        // The kernel's capabilities must not show.
        pull.set("INPUT_SANDBOX", "off");
        pull.run().exits(scene.exit);
        let (run, annotations) = pull.one_run(scene.conclusion());
        let comments = pull.comments().join("\n");
        comparison.file(&format!("{}.comment.md", scene.name), &comments);
        let text = check_run(&run, &annotations);
        comparison.file(&format!("{}.check-run.md", scene.name), &text);
    }
    comparison.finish();
}

/// A check run as GitHub shows it: its title and summary, then one annotation per place.
fn check_run(run: &Value, annotations: &[Value]) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let output = &run["output"];
    let mut page = format!(
        "{}: {}\n\n{}\n",
        text(&run["conclusion"]),
        text(&output["title"]),
        text(&output["summary"])
    );
    if let Some(more) = output["text"].as_str() {
        page += &format!("\n{more}\n");
    }
    page += "\n## Annotations\n";
    for it in annotations {
        page += &format!(
            "\n### {}: {}:{}: {}\n\n{}\n",
            text(&it["annotation_level"]),
            text(&it["path"]),
            it["start_line"],
            text(&it["title"]),
            text(&it["message"])
        );
    }
    page
}

/// One test per scene, by its name.
macro_rules! scenes {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                show(&scenes::$name());
            }
        )*

        fn all() -> Vec<Scene> {
            vec![$(scenes::$name()),*]
        }
    };
}

scenes!(
    clean,
    one_breaking_change,
    medium_drift,
    description_poisoned,
    rename,
    first_pin,
    pin_again,
    does_not_start,
    unstable,
    fleet,
    sixty_tools_alike,
    accepted,
    hostile_text,
);

#[test]
fn no_snapshot_is_left_over() {
    let mut known = BTreeSet::new();
    for scene in all() {
        let mut name = |rest: &str| {
            known.insert(format!("{}.{rest}", scene.name));
        };
        for (format, extension) in formats() {
            name(&format!("{format}.{extension}"));
        }
        name("terminal-60.txt");
        name("terminal-100.txt");
        if scene.verb == Verb::Check {
            name("comment.md");
            name("check-run.md");
        }
    }
    // The results of hostile servers: written by `tests/hostile`.
    known.insert("hostile.txt".to_owned());
    known.extend(help::names().into_iter().map(|it| format!("help/{it}")));
    known.extend(errors::names().into_iter().map(|it| format!("errors/{it}")));
    known.extend(pages::names().into_iter().map(|it| format!("pages/{it}")));
    let mut found = BTreeSet::new();
    for place in ["", "help", "errors", "pages"] {
        for entry in std::fs::read_dir(folder().join(place)).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                let path = entry.path();
                let name = path.strip_prefix(folder()).unwrap();
                found.insert(name.to_string_lossy().into_owned());
            }
        }
    }
    for left in found.difference(&known) {
        assert!(
            generated::is_update(),
            "tests/snapshots/{left} belongs to no scene, command or mistake"
        );
        std::fs::remove_file(folder().join(left)).unwrap();
    }
}

/// A page is complete and self-contained.
#[track_caller]
fn opens_in_a_browser(page: &str) {
    assert!(page.starts_with("<!doctype html>"), "{page}");
    assert!(page.trim_end().ends_with("</html>"), "{page}");
    for outside in ["<script ", "<link", "<img", "@import", "src="] {
        assert!(!page.contains(outside), "{outside} in {page}");
    }
    assert_eq!(page.matches("<script>").count(), 1, "{page}");
}
