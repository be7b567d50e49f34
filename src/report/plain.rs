//! A change in plain words, for every format whose sink shows text as it is: annotations, JUnit, SARIF, GitLab.
//!
//! Everything here is escaped by [`escape::line`] or [`escape::block`] already; what the sink itself treats in a special
//! way is left to its renderer.

use super::{Finding, Located, escape};
use crate::canonical::{to_compact, to_pretty};
use crate::drift::catalogue;
use crate::drift::words::Run;
use crate::judgement::Proof;
use crate::policy::Action;

/// How much of a value is told in a sentence. The whole of it is in the JSON report.
const VALUE_CHARACTERS: usize = 300;

/// How much of a text is told word by word.
const TEXT_CHARACTERS: usize = 2_000;

/// The key of the component, or `server`.
pub(super) fn component(located: &Located) -> &str {
    located
        .judged
        .change
        .component
        .as_deref()
        .unwrap_or("server")
}

/// `breaking tool-removed: tool:list_stations@`
pub(super) fn title(located: &Located) -> String {
    let change = &located.judged.change;
    let title = format!("{} {}: {}", change.level, change.rule, component(located));
    escape::line(&title)
}

/// What changed, in one line.
pub(super) fn sentence(located: &Located) -> String {
    let change = &located.judged.change;
    let mut sentence = escape::short(&change.message, 400);
    if !change.pointer.is_empty() {
        sentence += &format!(" ({})", escape::short(&change.pointer, 200));
    }
    sentence
}

/// What changed, how that is known and what to do, a line each.
pub(super) fn lines(located: &Located) -> Vec<String> {
    let change = &located.judged.change;
    let mut lines = vec![sentence(located)];
    if !change.words.is_empty() {
        lines.push(words(&change.words));
    } else if !change.pointer.is_empty() || change.component.is_none() {
        for (label, value) in [("old", &change.old), ("new", &change.new)] {
            if let Some(value) = value {
                let value = escape::short(&to_compact(value), VALUE_CHARACTERS);
                lines.push(format!("{label}: {value}"));
            }
        }
    }
    match &change.proof {
        Some(Proof::Witness(instance)) => {
            let call = escape::short(&to_compact(instance), 2 * VALUE_CHARACTERS);
            lines.push(format!("{}: {call}", witness_label(located)));
        }
        Some(Proof::Undecided(reason)) => {
            lines.push(format!("not decided: {}", escape::short(reason, 200)));
        }
        Some(Proof::Subsumed) | None => {}
    }
    if let Some(rule) = catalogue::find(change.rule) {
        lines.push(format!("What to do: {}", rule.advice));
    }
    lines.push(judgement(located));
    lines
}

/// What a witness shows.
pub(super) fn witness_label(located: &Located) -> &'static str {
    match located.judged.change.rule.starts_with("output-") {
        true => "may be returned now, and the old contract forbids it",
        false => "worked before, fails now",
    }
}

/// Both judgements, what happens, and the name by which the change is accepted.
fn judgement(located: &Located) -> String {
    let judged = &located.judged;
    let happens = match judged.action {
        Action::Block => "blocks",
        Action::Warn => "warns",
        Action::Audit => "does not fail",
        Action::Accepted => "was accepted",
    };
    format!(
        "Level {}, exposure {}; the change {} {happens}.",
        judged.change.level, judged.change.exposure, judged.id
    )
}

/// Old and new value, whole and laid out, up to `most` characters each.
pub(super) fn values(located: &Located, most: usize) -> String {
    let change = &located.judged.change;
    let mut out = String::new();
    for (label, value) in [("old", &change.old), ("new", &change.new)] {
        if let Some(value) = value {
            out += &format!(
                "{label}:\n{}\n",
                escape::short_block(&to_pretty(value), most)
            );
        }
    }
    out
}

/// A word diff in the manner of `git diff --word-diff`, on several lines if the text has them.
pub(super) fn words(runs: &[Run]) -> String {
    let text: String = runs
        .iter()
        .map(|run| match run {
            Run::Same(text) => text.clone(),
            Run::Removed(text) => format!("[-{text}-]"),
            Run::Added(text) => format!("{{+{text}+}}"),
        })
        .collect();
    escape::short_block(&text, TEXT_CHARACTERS)
}

/// A finding in one line.
pub(super) fn finding(finding: &Finding) -> String {
    let note = &finding.note;
    let about = note
        .component
        .as_deref()
        .map(|key| format!("{key}: "))
        .unwrap_or_default();
    escape::short(&format!("{about}{}", note.message), 1_000)
}
