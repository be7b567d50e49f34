//! Compares a surface with digests that another tool pinned. Without definitions only the fact of a
//! change is known, and for conventions with halves, which half.

use std::collections::BTreeMap;

use super::fastmcp::{FlatManifest, Moved};
use super::hangar::Pins;
use super::toolpin::digest as toolpin_digest;
use super::toolpin::lock::{LockEntry, LockError};
use super::{fastmcp, hangar, lock_v1};
use crate::canonical::{Json, pointer};
use crate::drift::{Change, component, server_not_pinned};
use crate::fingerprint::{Digest, Refusal};
use crate::rules::RuleId;
use crate::surface::{ComponentKey, Kind, Surface};

/// A change, and its place in the lock file.
pub type Placed = (Change, String);

/// Why a surface cannot be compared with pins.
#[derive(Debug, thiserror::Error)]
pub enum PinError {
    /// The convention has no digest for what the server lists.
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Lock(#[from] LockError),
}

/// FastMCP's `check_drift`, in its order, with a reason for each key.
pub fn fastmcp(pins: &FlatManifest, surface: &Surface) -> Result<Vec<Placed>, PinError> {
    let current = fastmcp::digests(surface)?;
    let moved = pins.drift(&current);
    Ok(moved
        .into_iter()
        .map(|moved| {
            let change = match moved {
                Moved::Changed(_, before, now) => digest_changed("fastmcp", before, now),
                Moved::Added(key, _) => added(surface, key),
                Moved::Removed(key, before) => removed(key, before),
            };
            let place = pointer::join("", moved.key());
            (of(change, moved.key()), place)
        })
        .collect())
}

/// MCP Hangar's pins: any allowed digest matches, and `upstream` must be the one they are bound to.
pub fn hangar(
    server: &str,
    pins: &Pins,
    surface: &Surface,
    upstream: Option<&str>,
) -> Result<Vec<Placed>, PinError> {
    let name_of = |key: &str| {
        let tool = surface.component(key)?;
        tool.definition.get("name")?.as_str().map(str::to_owned)
    };
    let mut observed = BTreeMap::new();
    let mut keys = BTreeMap::new();
    for (key, digest) in hangar::digests(surface)? {
        let name = name_of(&key).unwrap_or_else(|| key.clone());
        keys.insert(name.clone(), key);
        observed.insert(name, digest);
    }
    let mut changes = Vec::new();
    for drift in pins.drift(&observed, upstream) {
        let place = format!(
            "{}{}",
            pointer::join("/digests", server),
            pointer::join("", &drift.tool)
        );
        let change = match (&drift.observed, drift.tool.as_str()) {
            (Some(now), "(upstream)") => {
                let message = format!(
                    "the pins were taken from {}, but this is {now}",
                    drift.expected
                );
                let old = Json::string(drift.expected.as_str());
                let new = Json::string(now.as_str());
                Change::new(RuleId::PinUpstreamChanged, "", message).values(Some(&old), Some(&new))
            }
            (Some(now), tool) => {
                let key = keys.get(tool).map_or(tool, String::as_str);
                of(digest_changed("hangar", &drift.expected, now), key)
            }
            (None, tool) => {
                let key = ComponentKey::new(Kind::Tool, tool, "");
                of(removed(&key, &drift.expected), &key)
            }
        };
        changes.push((change, place));
    }
    // Hangar calls a tool without a pin unknown, and the policy says what that means.
    for (name, key) in keys
        .iter()
        .filter(|(name, _)| !pins.tools.contains_key(*name))
    {
        let place = pointer::join("/digests", name);
        changes.push((of(added(surface, key), key), place));
    }
    Ok(changes)
}

/// An entry of a ToolPin lock: the hashes that it pins, in ToolPin's words.
pub fn toolpin(key: &str, locked: &LockEntry, surface: &Surface) -> Result<Vec<Placed>, PinError> {
    let place = format!("{}/capabilityManifest", pointer::join("/servers", key));
    let pinned = ["toolSurfaceHash", "toolDescriptionHash", "toolManifestHash"];
    let Some(hash) = pinned.iter().find(|hash| locked.pinned(hash).is_some()) else {
        let mut change = server_not_pinned(surface);
        change.message = format!("{key} pins no tools: it was locked with no tools listed");
        return Ok(vec![(change, place)]);
    };
    let current = live(locked, surface)?;
    let messages = locked.surface_drift(&current)?;
    let (old, new) = (locked.pinned(hash), current.pinned(hash));
    Ok(messages
        .into_iter()
        .map(|message| {
            let at = format!("{place}/{hash}");
            let change = Change::new(RuleId::LockSurfaceChanged, format!("/{hash}"), message);
            (change.values(old, new), at)
        })
        .collect())
}

/// The locked entry as it would be written for this surface: every hash that it pins, recomputed
/// over what it covers.
pub fn live(locked: &LockEntry, surface: &Surface) -> Result<LockEntry, PinError> {
    let hashes = toolpin_digest::hashes(surface)?;
    let mut current = locked.clone();
    let Some(Json::Object(members)) = &mut current.manifest else {
        return Ok(current);
    };
    let mut set = |hash: &str, digest: Digest| {
        if let Some(Json::Object(pin)) = members.get_mut(hash) {
            for (member, value) in [
                ("value", Json::string(digest.hex())),
                ("toolCount", count(hashes.tools)),
            ] {
                if let Some(stored) = pin.get_mut(member) {
                    *stored = value;
                }
            }
        }
    };
    set("toolDescriptionHash", hashes.description);
    set("toolManifestHash", hashes.manifest);
    // A lock decides what it covers; a narrower pin is compared over exactly that.
    let coverage = locked
        .pinned("toolSurfaceHash")
        .and_then(|it| it.get("coverage")?.as_array());
    let coverage: Vec<&str> = coverage
        .unwrap_or_default()
        .iter()
        .filter_map(Json::as_str)
        .collect();
    let surface_hash = if toolpin_digest::COVERAGE
        .iter()
        .all(|field| coverage.contains(field))
    {
        hashes.surface
    } else {
        toolpin_digest::surface_hash_over(surface, &coverage)?
    };
    set("toolSurfaceHash", surface_hash);
    Ok(current)
}

/// An entry of the draft `mcp-lock/1`.
pub fn lock_v1(index: usize, entry: &Json, surface: &Surface) -> Result<Vec<Placed>, PinError> {
    let place = format!("/entries/{index}/surface");
    let Some(pin) = entry.get("surface") else {
        let mut change = server_not_pinned(surface);
        change.message = "the entry pins no tools: it has no `surface`".to_owned();
        return Ok(vec![(change, place)]);
    };
    let coverage = pin
        .get("coverage")
        .and_then(Json::as_array)
        .unwrap_or_default();
    let coverage: Vec<&str> = coverage.iter().filter_map(Json::as_str).collect();
    let now = lock_v1::surface_hash(surface, &coverage)?;
    if pin.get("hash").and_then(Json::as_str) == Some(now.as_str()) {
        return Ok(Vec::new());
    }
    let message = format!("the surface hash over {} changed", coverage.join(", "));
    let change = Change::new(RuleId::LockSurfaceChanged, "/surface", message);
    Ok(vec![(
        change.values(pin.get("hash"), Some(&Json::string(now))),
        place,
    )])
}

fn count(tools: usize) -> Json {
    Json::integer(i64::try_from(tools).unwrap_or(i64::MAX))
}

pub(super) fn digest_changed(profile: &str, before: &str, now: &str) -> Change {
    let message = format!(
        "its {profile} digest changed. The file stores no definition, so it does not show what changed"
    );
    let (old, new) = (Json::string(before), Json::string(now));
    Change::new(RuleId::PinDigestChanged, "", message).values(Some(&old), Some(&new))
}

fn added(surface: &Surface, key: &str) -> Change {
    match surface.component(key) {
        Some(tool) => component::added(tool),
        None => added_unseen(),
    }
}

/// A new tool of which only the digest is known.
pub(super) fn added_unseen() -> Change {
    Change::new(RuleId::ToolAdded, "", "new tool".to_owned())
}

pub(super) fn removed(key: &str, before: &str) -> Change {
    let noun = key_of(key).kind().noun();
    let old = Json::string(before);
    Change::new(RuleId::ToolRemoved, "", format!("{noun} removed")).values(Some(&old), None)
}

pub(super) fn of(mut change: Change, key: &str) -> Change {
    change.component = Some(key_of(key));
    change
}

/// A key as written in a lock file; some files only have the tool's name.
fn key_of(key: &str) -> ComponentKey {
    key.parse()
        .unwrap_or_else(|_| ComponentKey::new(Kind::Tool, key, ""))
}
