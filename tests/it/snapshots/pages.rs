//! Pages of a pull request that no other scene has: what merging approves, the first baseline, acceptance, the merge queue,
//! a check that cannot be made, many changes. Each is one file in `tests/snapshots/pages`.

use serde_json::json;

use super::{Comparison, scenes};
use crate::github::Pull;
use crate::keel::Keel;

/// What is in `tests/snapshots/pages`.
pub(super) fn names() -> Vec<String> {
    let names = [
        "approval",
        "approval-accepted",
        "clean-again",
        "first-pin",
        "many-changes",
        "merge-queue",
        "no-baseline",
        "weakened",
        "wrong-input",
    ];
    names.map(|it| format!("{it}.md")).to_vec()
}

const BASELINE: &str = "mcp-baseline.json";

fn around(keel: Keel) -> Pull {
    let mut pull = Pull::around(keel);
    // The kernel's capabilities must not show.
    pull.set("INPUT_SANDBOX", "off");
    pull
}

/// A pull request whose server and baseline have drifted together.
fn repinned() -> Pull {
    let keel = scenes::medium_drift().stage();
    let before = keel.read(BASELINE);
    keel.run(&["pin"]).exits(0);
    let mut pull = around(keel);
    pull.on_base(BASELINE, &before);
    pull
}

#[track_caller]
fn is(name: &str, page: &str) {
    let mut comparison = Comparison::default();
    comparison.file(&format!("pages/{name}.md"), page);
    comparison.finish();
}

#[test]
fn approval() {
    let pull = repinned();
    pull.run().exits(0);
    is("approval", &pull.comments()[0]);
}

#[test]
fn a_merge_queue() {
    let mut pull = repinned();
    let event = json!({"merge_group": {"head_sha": pull.merge, "base_sha": pull.base}});
    pull.keel.write("runner/event.json", &event.to_string());
    pull.set("GITHUB_EVENT_NAME", "merge_group");
    pull.head = pull.merge.clone();
    pull.run().exits(0);
    let (run, _) = pull.one_run("neutral");
    is("merge-queue", run["output"]["summary"].as_str().unwrap());
}

#[test]
fn a_first_pin() {
    let mut pull = around(scenes::clean().stage());
    let baseline = pull.on_base.remove(BASELINE).unwrap();
    pull.on_head(BASELINE, &baseline);
    pull.run().exits(0);
    is("first-pin", &pull.comments()[0]);
}

#[test]
fn no_baseline_yet() {
    let keel = scenes::clean().stage();
    std::fs::remove_file(keel.folder().join(BASELINE)).unwrap();
    let mut pull = around(keel);
    pull.set("INPUT_BASELINE-ARTIFACT", "true");
    pull.run().exits(2);
    is("no-baseline", &pull.summary());
}

#[test]
fn clean_again() {
    let keel = scenes::one_breaking_change().stage();
    let pull = around(keel);
    pull.run().exits(1);
    let clean = scenes::clean().stage().read("weather.scenario");
    pull.keel.write("weather.scenario", &clean);
    pull.run().exits(0);
    is("clean-again", &pull.comments()[0]);
}

#[test]
fn a_weakened_check() {
    let pull = around(scenes::one_breaking_change().stage());
    let config = pull.keel.read("mcp-keel.toml");
    pull.keel.write(
        "mcp-keel.toml",
        &format!("{config}[policy]\nfail-on = \"none\"\n"),
    );
    pull.run().exits(1);
    is("weakened", &pull.comments()[0]);
}

#[test]
fn a_wrong_input() {
    let mut pull = around(scenes::clean().stage());
    pull.set("INPUT_FAIL-ON", "sometimes");
    pull.run().exits(2);
    is("wrong-input", &pull.summary());
}

#[test]
fn three_hundred_changes() {
    let pull = around(scenes::three_hundred_changes().stage());
    pull.run().exits(1);
    is("many-changes", &pull.comments()[0]);
}
