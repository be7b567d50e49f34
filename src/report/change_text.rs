//! A change in plain text, for formats whose sink shows text as it is: annotations, JUnit, SARIF,
//! GitLab.
//!
//! Everything here is already [`Visible`]; the renderer handles whatever is special in its sink.

use std::collections::HashMap;

use super::escape::{self, Visible};
use super::{Finding, Located};
use crate::canonical::{Json, pointer, to_pretty};
use crate::drift::Change;
use crate::drift::text_diff::Run;
use crate::judgement::Proof;
use crate::policy::{Action, Decision};
use crate::rules::{RuleId, Side};
use crate::surface::{ComponentKey, Kind};

/// The word before the advice of a rule.
pub(super) const WHAT_TO_DO: &str = "What to do";

/// How much of a value is shown in a sentence. The whole of it is in the JSON report.
const VALUE_CHARACTERS: usize = 300;

/// How much of a text is shown word by word.
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

/// The component as people call it: `list_stations`, `prompt greet`; or `server`.
pub(super) fn name(located: &Located) -> Visible {
    let Some(key) = &located.judged.change.component else {
        return Visible::of_parts("server".to_owned());
    };
    let name = escape::short(key.called(), 120);
    match key.kind() {
        Kind::Tool => name,
        other => Visible::of_parts(format!("{} {name}", other.noun())),
    }
}

/// What changed, how that is known, and the id of the change: nothing that depends on the policy.
pub(super) fn facts(located: &Located) -> Vec<Visible> {
    let judged = &located.judged;
    let mut lines = lines_until_proof(located);
    lines[0] = Visible::of_parts(format!("{}: {}", judged.change.level, lines[0]));
    lines.push(Visible::of_parts(format!(
        "{}, change = \"{}\"",
        judged.change.rule.id(),
        judged.id
    )));
    lines
}

/// `breaking tool-removed: tool:list_stations@`
pub(super) fn title(located: &Located) -> Visible {
    let change = &located.judged.change;
    let title = format!("{} {}: {}", change.level, change.rule, component(located));
    escape::line(&title)
}

/// What changed, in one line.
pub(super) fn sentence(located: &Located) -> Visible {
    let change = &located.judged.change;
    let mut sentence = escape::short(&change.message, 400).into_string();
    if !change.pointer.is_empty() {
        sentence += &format!(" ({})", escape::short(&change.pointer, 200));
    }
    if let Some(alike) = look_alike(change) {
        sentence += &format!(" ({alike})");
    }
    Visible::of_parts(sentence)
}

/// Old and new as code points, if a reader would mistake them for the same text.
pub(super) fn look_alike(change: &Change) -> Option<Visible> {
    const CHARACTERS: usize = 120;
    let mut pairs: Vec<(&str, &str)> = change
        .words
        .windows(2)
        .filter_map(|pair| match pair {
            [Run::Removed(old), Run::Added(new)] => Some((old.as_str(), new.as_str())),
            _ => None,
        })
        .collect();
    let values = (change.old.as_ref(), change.new.as_ref());
    let compact = |value: Option<&Json>| value.map(crate::canonical::to_compact);
    let (old, new) = (compact(values.0), compact(values.1));
    if let (Some(old), Some(new)) = (&old, &new) {
        pairs.push((old, new));
    }
    let (old, new) = pairs
        .into_iter()
        .find(|(old, new)| escape::look_alike(old, new))?;
    let shown = |text: &str| escape::code_points(text).cut(CHARACTERS);
    Some(Visible::of_parts(format!(
        "the two look alike but differ: {} → {}",
        shown(old),
        shown(new)
    )))
}

/// Old and new in one line, where they fit: `required: no → yes`, `maximum: 10 → 7`.
pub(super) fn compared(change: &Change) -> Option<Visible> {
    const CHARACTERS: usize = 60;
    match change.rule {
        RuleId::InputPropertyBecameRequired
        | RuleId::OutputPropertyBecameRequired
        | RuleId::PromptArgumentBecameRequired => {
            return Some(Visible::of_parts(from_to("required", "no", "yes")));
        }
        RuleId::InputPropertyBecameOptional
        | RuleId::OutputPropertyBecameOptional
        | RuleId::PromptArgumentBecameOptional => {
            return Some(Visible::of_parts(from_to("required", "yes", "no")));
        }
        RuleId::ToolOrderChanged => return moved(change.old.as_ref()?, change.new.as_ref()?),
        // The values have a digest for each component, which no one can read.
        RuleId::ServerNotPinned | RuleId::ServerRemoved => {
            return listed(change.new.as_ref().or(change.old.as_ref())?);
        }
        _ => {}
    }
    let is_scalar = |value: &Json| !matches!(value, Json::Object(_) | Json::Array(_));
    let (old, new) = (change.old.as_ref()?, change.new.as_ref()?);
    let (was, is) = (escape::value(old), escape::value(new));
    let fits = was.chars().count() + is.chars().count() <= CHARACTERS;
    if !(is_scalar(old) && is_scalar(new) && fits) {
        return None;
    }
    let of = pointer::tokens(&change.pointer).last().unwrap_or_default();
    let of = escape::short(&of, 60);
    Some(Visible::of_parts(from_to(&of, &was, &is)))
}

/// `maximum: 10 → 7`
fn from_to(of: &str, was: &str, is: &str) -> String {
    if of.is_empty() {
        format!("{was} → {is}")
    } else {
        format!("{of}: {was} → {is}")
    }
}

/// Whether the sentences of a rule have the old and the new value in them.
pub(super) fn sentence_has_values(rule: RuleId) -> bool {
    matches!(
        rule,
        RuleId::AppDomainChanged
            | RuleId::AppResourceChanged
            | RuleId::CacheScopeChanged
            | RuleId::CapabilityChanged
            | RuleId::ProtocolVersionChanged
            | RuleId::ServerCardNowDisagrees
            | RuleId::TaskSupportNarrowed
            | RuleId::TaskSupportStated
            | RuleId::TaskSupportWidened
            | RuleId::ToolRenamed
            | RuleId::ToolVersionChanged
            | RuleId::InputAdditionalPropertiesClosed
            | RuleId::InputAdditionalPropertiesOpened
            | RuleId::InputBoundLoosened
            | RuleId::InputBoundTightened
            | RuleId::InputConstChanged
            | RuleId::InputContentChanged
            | RuleId::InputDefaultChanged
            | RuleId::InputFormatChanged
            | RuleId::InputMcpHeaderChanged
            | RuleId::InputPatternChanged
            | RuleId::InputPropertyTypeChanged
            | RuleId::InputPropertyTypeNarrowed
            | RuleId::InputPropertyTypeWidened
            | RuleId::OutputAdditionalPropertiesClosed
            | RuleId::OutputAdditionalPropertiesOpened
            | RuleId::OutputBoundLoosened
            | RuleId::OutputBoundTightened
            | RuleId::OutputConstChanged
            | RuleId::OutputContentChanged
            | RuleId::OutputDefaultChanged
            | RuleId::OutputFormatChanged
            | RuleId::OutputMcpHeaderChanged
            | RuleId::OutputPatternChanged
            | RuleId::OutputPropertyTypeChanged
            | RuleId::OutputPropertyTypeNarrowed
            | RuleId::OutputPropertyTypeWidened
    )
}

/// The names of components, from an object with their keys.
fn listed(components: &Json) -> Option<Visible> {
    const MOST: usize = 12;
    let keys: Vec<&str> = components
        .as_object()?
        .iter()
        .filter_map(|(key, _)| key.as_str())
        .collect();
    let mut shown: Vec<String> = keys
        .iter()
        .take(MOST)
        .map(|key| {
            let parsed = key.parse::<ComponentKey>();
            let name = parsed.as_ref().map_or(*key, ComponentKey::called);
            escape::short(name, 60).into_string()
        })
        .collect();
    if keys.len() > MOST {
        shown.push(format!("and {} more", keys.len() - MOST));
    }
    (!shown.is_empty()).then(|| Visible::of_parts(shown.join(", ")))
}

/// The fewest tools that changed their place, with their old and new one.
fn moved(old: &Json, new: &Json) -> Option<Visible> {
    const MOST: usize = 3;
    let names = |list: &Json| -> Option<Vec<String>> {
        let names = list.as_array()?.iter();
        names.map(|it| it.as_str().map(str::to_owned)).collect()
    };
    let (old, new) = (names(old)?, names(new)?);
    // The first of each name, as the last one put in.
    let was: HashMap<&String, usize> = old
        .iter()
        .enumerate()
        .rev()
        .map(|(at, name)| (name, at))
        .collect();
    let was = |name: &String| was.get(name).copied();
    let places: Vec<usize> = new.iter().filter_map(was).collect();
    if places.len() != new.len() {
        return None;
    }
    let kept = longest_increasing(&places);
    let moved: Vec<(&String, usize, usize)> = new
        .iter()
        .zip(&places)
        .enumerate()
        .filter(|(_, (_, was))| kept.binary_search(was).is_err())
        .map(|(is, (name, was))| (name, was + 1, is + 1))
        .collect();
    let mut shown: Vec<String> = moved
        .iter()
        .take(MOST)
        .map(|(key, was, is)| {
            let name = key.parse::<ComponentKey>();
            let name = name.as_ref().map_or(key.as_str(), ComponentKey::identity);
            format!(
                "{} moved from {} to {}",
                escape::short(name, 60),
                ordinal(*was),
                ordinal(*is)
            )
        })
        .collect();
    if moved.len() > MOST {
        shown.push(format!("{} more moved", moved.len() - MOST));
    }
    (!shown.is_empty()).then(|| Visible::of_parts(shown.join("; ")))
}

/// `1st`, `12th`
fn ordinal(number: usize) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// A longest increasing subsequence of distinct numbers, in order.
fn longest_increasing(numbers: &[usize]) -> Vec<usize> {
    // The position of the smallest last number of a subsequence of each length, and what comes
    // before each number in its subsequence.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(numbers.len());
    for (at, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|end| numbers[*end] < *number);
        before.push(length.checked_sub(1).map(|it| ends[it]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut found = Vec::new();
    let mut at = ends.last().copied();
    while let Some(position) = at {
        found.push(numbers[position]);
        at = before[position];
    }
    found.reverse();
    found
}

/// What changed, how that is known and what to do, one line each.
pub(super) fn lines(located: &Located) -> Vec<Visible> {
    let change = &located.judged.change;
    let mut lines = lines_until_proof(located);
    let advice = change.rule.rule().advice;
    lines.push(Visible::of_parts(format!("{WHAT_TO_DO}: {advice}")));
    lines.extend(decision(located));
    lines.push(judgement(located));
    lines
}

fn lines_until_proof(located: &Located) -> Vec<Visible> {
    let change = &located.judged.change;
    let mut lines = vec![sentence(located)];
    if !change.words.is_empty() {
        lines.push(words(&change.words));
    } else if !change.pointer.is_empty() || change.component.is_none() {
        for (label, value) in [("old", &change.old), ("new", &change.new)] {
            if let Some(value) = value {
                let value = escape::short_value(value, VALUE_CHARACTERS);
                lines.push(Visible::of_parts(format!("{label}: {value}")));
            }
        }
    }
    match &change.proof {
        Some(Proof::Witness(instance)) => {
            let call = escape::short_value(instance, 2 * VALUE_CHARACTERS);
            let label = witness_label(change);
            lines.push(Visible::of_parts(format!("{label}: {call}")));
        }
        Some(Proof::Undecided(reason)) => {
            let reason = escape::short(reason, 200);
            lines.push(Visible::of_parts(format!("not decided: {reason}")));
        }
        Some(Proof::Subsumed) | None => {}
    }
    lines
}

/// Who accepted or rejected it in the configuration, and why.
pub(super) fn decision(located: &Located) -> Option<Visible> {
    let sentence = match located.judged.decision.as_ref()? {
        Decision::Accepted {
            reason,
            owner,
            until,
        } => {
            let until = until.map_or_else(String::new, |day| format!(" until {day}"));
            format!("accepted by {owner}{until}: {reason}")
        }
        Decision::Rejected { reason, owner } => {
            let by = owner
                .as_ref()
                .map_or_else(String::new, |owner| format!(" by {owner}"));
            format!("rejected{by}: {reason}")
        }
    };
    Some(escape::short(&sentence, 400))
}

/// What a witness shows.
pub(super) fn witness_label(change: &Change) -> &'static str {
    match change.rule.side() {
        Some(Side::Output) => "can now be returned, and the old contract forbids it",
        _ => "worked before, fails now",
    }
}

/// Both judgements, the action, and the id for accepting the change.
fn judgement(located: &Located) -> Visible {
    let judged = &located.judged;
    let happens = match judged.action {
        Action::Block => "blocks",
        Action::Warn => "warns",
        Action::Audit => "does not fail",
        Action::Accepted => "was accepted",
    };
    Visible::of_parts(format!(
        "Level {}, exposure {}; change {} {happens}.",
        judged.change.level.word(),
        judged.change.exposure.word(),
        judged.id
    ))
}

/// Old and new value, whole and pretty-printed, up to `most` characters each.
pub(super) fn values(located: &Located, most: usize) -> Visible {
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
    Visible::of_parts(out)
}

pub(super) fn joined(lines: &[Visible], between: &str) -> Visible {
    let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
    Visible::of_parts(lines.join(between))
}

/// A word diff in the style of `git diff --word-diff`, on several lines if the text has them.
pub(super) fn words(runs: &[Run]) -> Visible {
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
pub(super) fn finding(finding: &Finding) -> Visible {
    let note = &finding.note;
    let about = note
        .component
        .as_deref()
        .map(|key| format!("{key}: "))
        .unwrap_or_default();
    escape::short(&format!("{about}{}", note.message), 1_000)
}
