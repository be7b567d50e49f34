//! What clients now reject and did not before.

use std::collections::{BTreeMap, BTreeSet};

use super::Change;
use crate::canonical::pointer;
use crate::conformance::{Demand, Reader, Violation, grouped};
use crate::judgement::Level;
use crate::surface::{Component, Kind, Surface};

/// One change per component and requirement that it no longer meets. `renamed` maps new keys to old
/// ones.
pub(super) fn compare(
    (old, new): (&Surface, &Surface),
    old_components: &BTreeMap<&str, &Component>,
    new_components: &BTreeMap<&str, &Component>,
    renamed: &BTreeMap<&str, &Component>,
    changes: &mut Vec<Change>,
) {
    let (old_reader, new_reader) = (Reader::new(old), Reader::new(new));
    let alike = new_reader.reads_like(&old_reader);
    let mut found = Vec::new();
    for (key, component) in new_components {
        let before = old_components.get(key).or_else(|| renamed.get(key));
        let lost = new_reader.lost_document(&old_reader, component);
        let is_same = before.is_some_and(|it| it.definition == component.definition);
        if alike && is_same && lost.is_none() {
            continue;
        }
        let known: BTreeSet<(Demand, String)> = before
            .map(|before| old_reader.violations(before))
            .unwrap_or_default()
            .iter()
            .map(identity)
            .collect();
        let mut violations = new_reader.violations(component);
        violations.retain(|it| !known.contains(&identity(it)));
        // A new tool has no callers yet, and its dialect costs no other tool.
        violations.retain(|it| it.demand != Demand::OutputDialect || before.is_some());
        if !violations.iter().any(|it| it.demand == Demand::App) {
            violations.extend(lost);
        }
        for violation in grouped(violations) {
            let value =
                |of: &Component| pointer::resolve(&of.definition, &violation.pointer).cloned();
            let mut change = Change::new(
                violation.demand.change(),
                place_of_change(&violation.pointer),
                violation.message.clone(),
            );
            change.old = before.and_then(|before| value(before));
            change.new = value(component);
            change.component = Some(violation.component);
            // Current clients accept it.
            if violation.demand == Demand::OutputDialect {
                change.level = Level::Risky;
            }
            found.push((violation.demand, component.kind, change));
        }
    }
    if found.iter().any(|(demand, ..)| *demand == Demand::Wire) {
        let refused = refused_before(&old_reader, old_components);
        for (demand, kind, change) in &mut found {
            // Clients that validate had already lost it.
            if *demand == Demand::Wire && refused.contains(kind) {
                change.level = Level::Risky;
            }
        }
    }
    changes.extend(found.into_iter().map(|(_, _, change)| change));
}

/// By what a violation is recognised in another version of its component.
fn identity(violation: &Violation) -> (Demand, String) {
    let pointer = match violation.demand {
        // A document has two places where it can be named.
        Demand::App => String::new(),
        _ => violation.pointer.clone(),
    };
    (violation.demand, pointer)
}

/// A schema that clients refuse is a change of the component: no single call fails because of it, and
/// every breaking change inside a schema has a call that does. The sentence names the place.
fn place_of_change(pointer: &str) -> String {
    match pointer.split('/').nth(1) {
        Some("inputSchema" | "outputSchema") => String::new(),
        _ => pointer.to_owned(),
    }
}

/// The lists that clients already rejected.
fn refused_before(reader: &Reader<'_>, components: &BTreeMap<&str, &Component>) -> BTreeSet<Kind> {
    let refused = components.values().filter(|component| {
        let violations = reader.violations(component);
        violations.iter().any(|it| it.demand == Demand::Wire)
    });
    refused.map(|component| component.kind).collect()
}
