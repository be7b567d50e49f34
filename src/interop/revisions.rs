//! Compares two revisions of a lock, such as the base branch's and the pull request's: what changed
//! between them, as far as digests show.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::{self, PinError, Placed};
use super::fastmcp::{FlatManifest, Moved};
use super::hangar::Pins;
use super::lock_v1::LockV1;
use super::toolpin::lock::{DriftOptions, LockEntry, ToolPinLock};
use super::{Contents, Lock};
use crate::canonical::{Json, pointer};
use crate::drift::Change;
use crate::rules::RuleId;
use crate::surface::{ComponentKey, Kind};

#[derive(Debug, Default)]
pub struct Revised {
    /// The changed pins, and their place in the new file.
    pub changes: Vec<Placed>,
    /// Other differences, in the words of the file's tool.
    pub notes: Vec<String>,
}

/// A revision, and its entries for the server in question.
pub type Revision<'a> = (&'a Lock, &'a [String]);

/// What changed for a server between the revisions; `None` if they are not files of the same tool,
/// which cannot be compared.
pub fn compare(
    (old, of_old): Revision<'_>,
    (new, of_new): Revision<'_>,
) -> Result<Option<Revised>, PinError> {
    let entries: BTreeSet<&str> = of_old.iter().chain(of_new).map(String::as_str).collect();
    Ok(Some(match (old.contents(), new.contents()) {
        (Contents::FastMcp(old), Contents::FastMcp(new)) => fastmcp(old, new),
        (Contents::Hangar(old), Contents::Hangar(new)) => hangar(&entries, old, new),
        (Contents::ToolPin(old), Contents::ToolPin(new)) => toolpin(&entries, old, new)?,
        (Contents::LockV1(old), Contents::LockV1(new)) => lock_v1((old, of_old), (new, of_new)),
        _ => return Ok(None),
    }))
}

/// The change for a server that only the new revision pins.
pub fn not_pinned() -> Change {
    let message = "the baseline did not have this server".to_owned();
    Change::new(RuleId::ServerNotPinned, "", message)
}

/// The change for a server that only the old revision pins.
pub fn gone() -> Change {
    let message = "the baseline no longer pins this server".to_owned();
    Change::new(RuleId::ServerRemoved, "", message)
}

fn fastmcp(old: &FlatManifest, new: &FlatManifest) -> Revised {
    let changes = old.drift(&new.digests).into_iter().map(|moved| {
        let key = moved.key();
        let change = match moved {
            Moved::Changed(_, before, now) => compare::digest_changed("fastmcp", before, now),
            Moved::Added(..) => compare::added_unseen(),
            Moved::Removed(_, before) => compare::removed(key, before),
        };
        (compare::of(change, key), pointer::join("", key))
    });
    Revised {
        changes: changes.collect(),
        notes: Vec::new(),
    }
}

fn hangar(
    entries: &BTreeSet<&str>,
    old: &BTreeMap<String, Pins>,
    new: &BTreeMap<String, Pins>,
) -> Revised {
    let mut revised = Revised::default();
    let nothing = Pins::default();
    for server in entries {
        let pins = |of: &'_ BTreeMap<String, Pins>| of.get(*server).cloned();
        let (old, new) = (pins(old), pins(new));
        let (old, new) = (
            old.as_ref().unwrap_or(&nothing),
            new.as_ref().unwrap_or(&nothing),
        );
        let at = pointer::join("/digests", server);
        if old.upstream != new.upstream {
            let shown = |pins: &Pins| pins.upstream.clone().unwrap_or_else(|| "none".to_owned());
            let message = format!(
                "the pins were bound to {}, now to {}",
                shown(old),
                shown(new)
            );
            let (was, is) = (Json::string(shown(old)), Json::string(shown(new)));
            let change = Change::new(RuleId::PinUpstreamChanged, "", message);
            revised
                .changes
                .push((change.values(Some(&was), Some(&is)), at.clone()));
        }
        let shown = |allowed: &BTreeSet<String>| {
            let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
            allowed.join(" or ")
        };
        let tools: BTreeSet<&String> = old.tools.keys().chain(new.tools.keys()).collect();
        for tool in tools {
            let key = ComponentKey::new(Kind::Tool, tool, "");
            let change = match (old.tools.get(tool), new.tools.get(tool)) {
                (Some(before), Some(now)) if before == now => continue,
                (Some(before), Some(now)) => {
                    compare::digest_changed("hangar", &shown(before), &shown(now))
                }
                (Some(before), None) => compare::removed(&key, &shown(before)),
                (None, _) => compare::added_unseen(),
            };
            revised
                .changes
                .push((compare::of(change, &key), pointer::join(&at, tool)));
        }
    }
    revised
}

fn toolpin(
    entries: &BTreeSet<&str>,
    old: &ToolPinLock,
    new: &ToolPinLock,
) -> Result<Revised, PinError> {
    let mut revised = Revised::default();
    let entry = |lock: &'_ ToolPinLock, key: &str| -> Option<LockEntry> {
        let found = lock
            .entries
            .iter()
            .find(|(it, _)| it.to_string_lossy() == key);
        found.map(|(_, plan)| plan.clone())
    };
    for key in entries {
        let (before, now) = match (entry(old, key), entry(new, key)) {
            (Some(before), Some(now)) => (before, now),
            (Some(_), None) => {
                revised.notes.push(format!("{key}: entry removed"));
                continue;
            }
            (None, Some(_)) => {
                revised.notes.push(format!("{key}: entry added"));
                continue;
            }
            (None, None) => continue,
        };
        let surface = before.surface_drift(&now)?;
        let place = format!("{}/capabilityManifest", pointer::join("/servers", key));
        for message in &surface {
            let change = Change::new(
                RuleId::LockSurfaceChanged,
                "/capabilityManifest",
                message.clone(),
            );
            let (was, is) = (before.manifest.as_ref(), now.manifest.as_ref());
            revised
                .changes
                .push((change.values(was, is), place.clone()));
        }
        let pinned = ["toolSurfaceHash", "toolDescriptionHash", "toolManifestHash"];
        let moved = pinned.iter().any(|it| before.pinned(it) != now.pinned(it));
        if moved && surface.is_empty() {
            let note = format!("{key}: the tools were pinned again with wider coverage");
            revised.notes.push(note);
        }
        let others = before.drift(&now, DriftOptions::default())?.into_iter();
        let others = others.filter(|it| !surface.contains(it));
        revised
            .notes
            .extend(others.map(|it| format!("{key}: {it}")));
    }
    Ok(revised)
}

/// The draft's entries have no keys: name, client and scope identify them.
fn lock_v1((old, of_old): (&LockV1, &[String]), (new, of_new): (&LockV1, &[String])) -> Revised {
    let mut revised = Revised::default();
    let asked = |lock: &'_ LockV1, entries: &[String]| -> BTreeMap<String, (usize, Json)> {
        let text = |entry: &Json, member: &str| {
            let found = entry.get(member).and_then(Json::as_str);
            found.unwrap_or_default().to_owned()
        };
        let of = lock.entries().iter().enumerate();
        let of = of.filter(|(index, _)| entries.contains(&index.to_string()));
        of.map(|(index, entry)| {
            let identity = ["name", "client", "scope"].map(|it| text(entry, it));
            (identity.join(":"), (index, entry.clone()))
        })
        .collect()
    };
    let (old, new) = (asked(old, of_old), asked(new, of_new));
    for (identity, (index, now)) in &new {
        let Some((_, before)) = old.get(identity) else {
            revised.notes.push(format!("{identity}: entry added"));
            continue;
        };
        if before.get("surface") != now.get("surface") {
            let message = "the entry pins a different surface".to_owned();
            let change = Change::new(RuleId::LockSurfaceChanged, "/surface", message);
            let change = change.values(before.get("surface"), now.get("surface"));
            let place = format!("/entries/{index}/surface");
            revised.changes.push((change, place));
        } else if before != now {
            revised.notes.push(format!(
                "{identity}: the entry changed, but not the surface that it pins"
            ));
        }
    }
    let gone = old.keys().filter(|identity| !new.contains_key(*identity));
    let gone = gone.map(|identity| format!("{identity}: entry removed"));
    revised.notes.extend(gone);
    revised
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn lock(text: &str) -> Lock {
        let lock = Lock::parse(Path::new("pins.json"), text.as_bytes()).expect("readable");
        lock.expect("a file of pins")
    }

    /// The rule and the component of each change, and the notes.
    fn moved(old: &str, new: &str, entries: &[&str]) -> (Vec<String>, Vec<String>) {
        let entries: Vec<String> = entries.iter().map(|it| (*it).to_owned()).collect();
        let revised = compare((&lock(old), &entries), (&lock(new), &entries))
            .expect("comparable")
            .expect("files of one tool");
        let changes = revised.changes.into_iter();
        let changes = changes.map(|(it, _)| {
            let component = it.component.map(|it| it.to_string()).unwrap_or_default();
            format!("{} {component}", it.rule).trim_end().to_owned()
        });
        (changes.collect(), revised.notes)
    }

    #[test]
    fn pins_of_hangar_are_compared_tool_by_tool() {
        let [a, b] = ["a", "b"].map(|it| it.repeat(64));
        let pins = |upstream: &str, tools: &str| {
            format!(
                r#"{{"mcp_servers":{{"files":{{"tool_projection":{{"upstream":"{upstream}","pins":{{{tools}}}}}}}}}}}"#
            )
        };
        let old = pins(
            "stdio:x",
            &format!(r#""kept":"{a}","changed":"{a}","gone":"{a}""#),
        );
        let new = pins(
            "stdio:y",
            &format!(r#""kept":"{a}","changed":["{a}","{b}"],"new":"{b}""#),
        );
        let (changes, notes) = moved(&old, &new, &["files"]);
        let expected = [
            "pin-upstream-changed",
            "pin-digest-changed tool:changed@",
            "tool-removed tool:gone@",
            "tool-added tool:new@",
        ];
        assert_eq!(changes, expected);
        assert_eq!(notes, Vec::<String>::new());
        assert_eq!(moved(&old, &old, &["files"]).0, Vec::<String>::new());
        assert_eq!(moved(&old, &new, &["others"]).0, Vec::<String>::new());
    }

    #[test]
    fn entries_of_the_draft_are_identified_by_name_client_and_scope() {
        let entry = |client: &str, hash: &str, target: &str| {
            format!(
                r#"{{"name":"files","client":"{client}","target":"{target}","surface":{{"hash":"{hash}","coverage":["name"]}}}}"#
            )
        };
        let lock = |entries: &[String]| {
            format!(r#"{{"specVersion":1,"entries":[{}]}}"#, entries.join(","))
        };
        let old = lock(&[
            entry("zed", "a", "x"),
            entry("cursor", "a", "x"),
            entry("old", "a", "x"),
        ]);
        // A different order, and every kind of change.
        let new = lock(&[
            entry("cursor", "b", "x"),
            entry("zed", "a", "y"),
            entry("new", "a", "x"),
        ]);
        let (changes, notes) = moved(&old, &new, &["0", "1", "2"]);
        assert_eq!(changes, ["lock-surface-changed"]);
        let expected = [
            "files:new:: entry added",
            "files:zed:: the entry changed, but not the surface that it pins",
            "files:old:: entry removed",
        ];
        assert_eq!(notes, expected);
    }

    #[test]
    fn files_of_two_tools_are_not_compared() {
        let flat = lock(r#"{"tool:a@": "00"}"#);
        let draft = lock(r#"{"specVersion":1,"entries":[]}"#);
        let compared = compare((&flat, &[]), (&draft, &[])).expect("readable");
        assert!(compared.is_none());
    }
}
