//! Small texts of a page: calls, names, links, hints in the words of the reader.

use std::collections::BTreeMap;

use super::super::annotations::{AnnotationLevel, severity};
use super::super::escape::{self, Visible};
use super::super::fold::{Group, fold};
use super::super::{Finding, Located, ServerReport, rules};
use super::code;
use crate::canonical::Json;
use crate::drift::Change;
use crate::judgement::Proof;
use crate::policy::Bump;
use crate::rules::RuleId;
use crate::surface::{ComponentKey, Kind};

/// How much of a text that an approver has to read is shown.
const TEXT_CHARACTERS: usize = 2_000;

/// How much of a call is shown.
const CALL_CHARACTERS: usize = 160;

pub(super) fn version(server: &ServerReport) -> Option<String> {
    let version = &server.version;
    let shown = |version: &str| escape::markdown(&escape::short(version, 40));
    let (baseline, current) = (&version.baseline, &version.current);
    let moved = match (baseline, current) {
        (Some(was), Some(is)) if was == is => shown(is),
        (Some(was), Some(is)) => format!("{} → {}", shown(was), shown(is)),
        _ => return None,
    };
    let needs_bump = !server.third_party && version.required > Bump::None && !version.ok;
    let needs = needs_bump.then(|| version.required.word());
    let changed = baseline != current;
    (changed || needs.is_some()).then(|| match needs {
        Some(bump) => format!("Version: {moved}, needs a {bump}."),
        None => format!("Version: {moved}."),
    })
}

/// The call that shows a change, in one line.
pub(super) fn call(change: &Change) -> String {
    let Some(Proof::Witness(instance)) = &change.proof else {
        return String::new();
    };
    let arguments = match change.rule.side() {
        Some(_) => instance,
        None => instance.get("arguments").unwrap_or(instance),
    };
    escape::code(&escape::short_value(arguments, CALL_CHARACTERS))
}

/// A changed text, whole, as a diff.
pub(super) fn difference(change: &Change) -> String {
    let side = |sign: char, value: &Option<Json>| -> String {
        let text = match value {
            Some(Json::String(text)) => escape::short_block(text, TEXT_CHARACTERS),
            Some(other) => escape::short_value(other, TEXT_CHARACTERS),
            None => return String::new(),
        };
        text.lines()
            .map(|line| format!("{sign} {line}\n"))
            .collect()
    };
    let both = side('-', &change.old) + &side('+', &change.new);
    escape::fenced("diff", &Visible::of_parts(both.trim_end().to_owned()))
}

/// A component as people call it: `` `get_forecast` ``, `` prompt `greet` ``.
pub(super) fn named(key: &ComponentKey) -> String {
    let name = code(key.called());
    match key.kind() {
        Kind::Tool => name,
        other => format!("{} {name}", other.noun()),
    }
}

/// A message without the keys that only a baseline has: `` `tool:greet@` `` is `` `greet` ``.
pub(super) fn plain_keys(text: &str) -> String {
    let parts = text.split(' ').map(|word| {
        let key = word.trim_matches('`').parse::<ComponentKey>();
        match key {
            Ok(key) if key.tool_name().is_some_and(|it| !it.is_empty()) => {
                format!("`{}`", key.called())
            }
            _ => word.to_owned(),
        }
    });
    parts.collect::<Vec<_>>().join(" ")
}

/// A help text with inputs in place of flags: `` `--pass-env NAME` `` is `` `pass-env:` ``.
pub(super) fn in_words_of_the_action(help: &str) -> String {
    let parts = help.split('`').enumerate().map(|(at, part)| {
        let flag = part.strip_prefix("--").filter(|_| at % 2 == 1);
        match flag.map(|it| it.split_once([' ', '=']).unwrap_or((it, ""))) {
            Some((name, value)) if crate::settings::is_input(name) => {
                let placeholder = value.chars().all(|it| !it.is_ascii_lowercase());
                if placeholder {
                    format!("{name}:")
                } else {
                    format!("{name}: {value}")
                }
            }
            _ => part.to_owned(),
        }
    });
    parts.collect::<Vec<_>>().join("`")
}

/// The first line that names an error, or else the last one.
pub(super) fn naming_an_error<'a>(lines: &[&'a str]) -> Option<&'a str> {
    const WORDS: [&str; 12] = [
        "error",
        "exception",
        "fatal",
        "panic",
        "cannot",
        "not found",
        "no such",
        "not set",
        "missing",
        "denied",
        "failed",
        "required",
    ];
    let names = |line: &&&str| {
        let line = line.to_lowercase();
        WORDS.iter().any(|word| line.contains(word))
    };
    lines.iter().find(names).or(lines.last()).copied()
}

/// The changes as shown: by component, the component with the worst first.
pub(super) fn in_order(changes: &[Located]) -> Vec<Group<'_>> {
    let mut by_component: BTreeMap<Option<&str>, Vec<Group<'_>>> = BTreeMap::new();
    let mut many = Vec::new();
    for group in fold(changes) {
        if group.components.is_empty() {
            by_component
                .entry(group.change.judged.change.component.as_deref())
                .or_default()
                .push(group)
        } else {
            many.push(vec![group])
        }
    }
    let mut groups: Vec<Vec<Group<'_>>> =
        many.into_iter().chain(by_component.into_values()).collect();
    for group in &mut groups {
        group.sort_by_key(|group| std::cmp::Reverse(severity(group.change)));
    }
    groups
        .sort_by_key(|group| std::cmp::Reverse(group.first().map(|group| severity(group.change))));
    groups.into_iter().flatten().collect()
}

/// Whether two changes, or two groups of them, are of the same component.
pub(super) fn is_about_same(one: &Group<'_>, other: &Group<'_>) -> bool {
    let of = |group: &Group<'_>| group.change.judged.change.component.clone();
    one.components == other.components && of(one) == of(other)
}

pub(super) fn noun(components: &[&ComponentKey]) -> String {
    let mut kinds: Vec<Kind> = components.iter().map(|key| key.kind()).collect();
    kinds.dedup();
    match kinds[..] {
        [kind] => format!("{}s", kind.noun()),
        _ => "components".to_owned(),
    }
}

pub(super) fn rule_link(rule: RuleId) -> String {
    format!("[{rule}]({})", rules::address(rule))
}

pub(super) fn finding_text(finding: &Finding) -> String {
    let note = &finding.note;
    let word = match AnnotationLevel::from(finding.action) {
        AnnotationLevel::Failure => "**blocks**: ",
        AnnotationLevel::Warning => "warning: ",
        AnnotationLevel::Notice => "",
    };
    let component = note
        .component
        .as_ref()
        .map(|key| named(key) + ": ")
        .unwrap_or_default();
    let message = escape::markdown(&escape::short(&plain_keys(&note.message), 500));
    format!("- {word}{component}{message} ({})\n", rule_link(note.rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_in_the_words_of_the_reader() {
        assert_eq!(
            in_words_of_the_action("name it with `--pass-env NAME` or `--era modern`; `--nothing`"),
            "name it with `pass-env:` or `era: modern`; `--nothing`"
        );
        assert_eq!(
            plain_keys("`/description` of `tool:forecast@` varies"),
            "`/description` of `forecast` varies"
        );
        assert_eq!(
            plain_keys("of tool:forecast@ varies"),
            "of `forecast` varies"
        );
    }

    #[test]
    fn the_first_line_that_names_an_error_is_shown() {
        let lines = [
            "> start",
            "Error: Cannot find module",
            "    at node:internal",
        ];
        assert_eq!(naming_an_error(&lines), Some(lines[1]));
        assert_eq!(naming_an_error(&["one", "two"]), Some("two"));
        assert_eq!(naming_an_error(&[]), None);
    }
}
