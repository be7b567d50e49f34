//! ToolPin's `mcp-lock.json`, version 2: read and verified as ToolPin 0.5 does.
//!
//! Reading keeps and drops the same members as ToolPin, because its digests cover only what it
//! keeps: members unknown to ToolPin are not covered by any of its digests, so a change there goes
//! unnoticed. Errors are ToolPin's own sentences.

use super::canonical;
use super::trust::{Claims, artifact_claims, rank, score, tier, trust};
use crate::sri;
use exact_json::{Json, Number, Object, Text};

/// The time if there is none: `new Date(0)`.
const NEVER: &str = "1970-01-01T00:00:00.000Z";

/// The clients that ToolPin writes configurations for. It rejects any other.
pub const CLIENTS: [&str; 12] = [
    "claude", "cursor", "vscode", "codex", "opencode", "windsurf", "cline", "continue", "gemini",
    "zed", "roo", "generic",
];

/// A lock that was read. Its entries may be invalid: see [`LockEntry::integrity`].
#[derive(Clone, Debug)]
pub struct ToolPinLock {
    /// The entries by key, usually `SERVER:CLIENT`, in file order.
    pub entries: Vec<(Text, LockEntry)>,
}

/// One entry, with exactly the members that ToolPin keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockEntry {
    pub name: Text,
    pub version: Text,
    /// The client that it was locked for.
    pub client: Text,
    /// `project` or `global`; a missing scope counts as `project`.
    pub scope: Option<Text>,
    /// What is installed or connected to, as written.
    pub target: Json,
    /// Score, tier, evidence and the rest, without members unknown to ToolPin.
    pub trust: Json,
    /// The client's configuration, as written; null and missing differ.
    pub config: Option<Json>,
    /// The notes that are strings.
    pub notes: Vec<Json>,
    /// The capability manifest, as written.
    pub manifest: Option<Json>,
    resolved_at: Text,
    locked_at: Option<Text>,
    resolved: Option<Json>,
    original: Option<Json>,
    locked: Option<Locked>,
    pub integrity: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Locked {
    target: Option<Json>,
    config: Option<Json>,
    manifest: Option<Json>,
}

/// Whether an entry's stored digest matches its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Integrity {
    Holds,
    Missing,
    Differs,
}

impl Integrity {
    /// ToolPin's sentence for the problem, if any.
    pub fn problem(&self) -> Option<&'static str> {
        match self {
            Self::Holds => None,
            Self::Missing => Some("lock integrity is missing"),
            Self::Differs => Some("locked entry integrity does not match its contents"),
        }
    }

    /// The word in reports.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Holds => "ok",
            Self::Missing => "missing",
            Self::Differs => "mismatch",
        }
    }
}

/// Optional requirements of a check, as in ToolPin's `ci`.
#[derive(Clone, Copy, Debug, Default)]
pub struct DriftOptions {
    /// The current side was verified, so a lower tier is drift.
    pub verify_capable: bool,
    /// A tier that was not earned again is drift.
    pub strict_tier: bool,
}

/// Why a lock or its digest is not available: ToolPin's own sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LockError(pub String);

impl From<canonical::DuplicateKey> for LockError {
    fn from(error: canonical::DuplicateKey) -> Self {
        Self(error.to_string())
    }
}

impl ToolPinLock {
    /// From a document. `path` is for ToolPin's message.
    pub fn read(document: &Json, path: &str) -> Result<Self, LockError> {
        let invalid = || LockError(format!("Invalid lockfile schema in {path}"));
        let root = document.as_object().ok_or_else(invalid)?;
        let version = root.get("lockfileVersion").and_then(number);
        if version == Some(1.0) {
            return Err(LockError(
                "Unsupported lockfileVersion 1 in v0.1; regenerate the lockfile with the current ToolPin release."
                    .to_owned(),
            ));
        }
        if version != Some(2.0) || root.get("generatedAt").and_then(Json::as_text).is_none() {
            return Err(invalid());
        }
        let servers = root
            .get("servers")
            .and_then(Json::as_object)
            .ok_or_else(invalid)?;
        let mut entries: Vec<(Text, LockEntry)> = Vec::new();
        for (key, _) in servers.iter() {
            if entries.iter().any(|(it, _)| it == key) {
                continue;
            }
            // Of repeated members the last counts, in the position of the first.
            let value = servers.iter().filter(|(it, _)| *it == key).last();
            let Some((_, value)) = value else { continue };
            entries.push((key.clone(), LockEntry::read(value, key.to_string_lossy())?));
        }
        Ok(Self { entries })
    }

    /// The digest of the whole lock: of the entries, without the digests and times stated in the
    /// file.
    pub fn digest(&self) -> Result<String, LockError> {
        let servers = self
            .entries
            .iter()
            .map(|(key, plan)| (key.clone(), plan.payload()))
            .collect::<Object>();
        let payload = Json::object([
            ("lockfileVersion", Json::integer(2)),
            ("servers", Json::Object(servers)),
        ]);
        Ok(sri(&canonical::to_string(&payload)?))
    }
}

impl LockEntry {
    pub fn read(value: &Json, key: &str) -> Result<Self, LockError> {
        let refuse = |what: &str| LockError(format!("Invalid lockfile entry {key}: {what}"));
        let entry = value.as_object().ok_or_else(|| refuse("expected object"))?;
        let text = |member: &str| entry.get(member).and_then(Json::as_text).cloned();
        let name = text("name").ok_or_else(|| refuse("missing name"))?;
        let version = text("version").ok_or_else(|| refuse("missing version"))?;
        let client = text("client")
            .filter(|it| it.as_str().is_some_and(|it| CLIENTS.contains(&it)))
            .ok_or_else(|| refuse("invalid client"))?;
        let target =
            record(entry.get("selectedTarget")).ok_or_else(|| refuse("invalid selectedTarget"))?;
        let trust = trust(entry.get("trust"), key)?;
        let notes = entry
            .get("notes")
            .and_then(Json::as_array)
            .ok_or_else(|| refuse("invalid notes"))?;
        let manifest = entry.get("capabilityManifest");
        if manifest.is_some_and(|it| !is_manifest(it)) {
            return Err(refuse("invalid capabilityManifest"));
        }
        if entry
            .get("integrity")
            .is_some_and(|it| it.as_text().is_none())
        {
            return Err(refuse("invalid integrity"));
        }
        let scope = match entry.get("scope") {
            None => None,
            Some(Json::String(scope)) if *scope == *"project" || *scope == *"global" => {
                Some(scope.clone())
            }
            Some(_) => return Err(refuse("invalid scope")),
        };
        Ok(Self {
            name,
            version,
            client,
            scope,
            target: target.clone(),
            trust,
            config: entry.get("config").cloned(),
            notes: notes
                .iter()
                .filter(|it| it.as_text().is_some())
                .cloned()
                .collect(),
            manifest: manifest.cloned(),
            resolved_at: text("resolvedAt").unwrap_or_else(|| Text::from(NEVER)),
            locked_at: text("lockedAt"),
            resolved: strings(entry.get("resolved"), &["source", "name", "version"]),
            original: strings(entry.get("original"), &["name", "version", "client"]).filter(|it| {
                let client = it.get("client").and_then(Json::as_str);
                client.is_some_and(|it| CLIENTS.contains(&it))
            }),
            locked: locked(entry.get("locked")),
            integrity: text("integrity"),
        })
    }

    /// The digest of the entry's contents.
    pub fn computed(&self) -> Result<String, LockError> {
        Ok(sri(&canonical::to_string(&self.payload())?))
    }

    pub fn integrity(&self) -> Result<Integrity, LockError> {
        let computed = self.computed()?;
        Ok(match self.integrity.as_ref() {
            None => Integrity::Missing,
            Some(stored) if stored.to_string_lossy().is_empty() => Integrity::Missing,
            Some(stored) if *stored == *computed.as_str() => Integrity::Holds,
            Some(_) => Integrity::Differs,
        })
    }

    /// Everything that the digest covers.
    fn payload(&self) -> Json {
        let mut payload = Object::new();
        let text = |it: &Text| Json::String(it.clone());
        payload.push("name", text(&self.name));
        payload.push("version", text(&self.version));
        payload.push("client", text(&self.client));
        payload.push("scope", Json::String(self.scope_or_default()));
        payload.push("selectedTarget", self.target.clone());
        payload.push("trust", self.trust.clone());
        given(&mut payload, "config", self.config.as_ref());
        payload.push("notes", Json::Array(self.notes.clone()));
        given(
            &mut payload,
            "capabilityManifest",
            covered(self.manifest.as_ref()).as_ref(),
        );
        payload.push("resolvedAt", text(&self.resolved_at));
        given(
            &mut payload,
            "lockedAt",
            self.locked_at.as_ref().map(text).as_ref(),
        );
        given(&mut payload, "resolved", self.resolved.as_ref());
        given(&mut payload, "original", self.original.as_ref());
        let mut inner = Object::new();
        if let Some(locked) = &self.locked {
            given(&mut inner, "selectedTarget", locked.target.as_ref());
            given(&mut inner, "config", locked.config.as_ref());
            given(
                &mut inner,
                "capabilityManifest",
                covered(locked.manifest.as_ref()).as_ref(),
            );
        }
        payload.push("locked", Json::Object(inner));
        Json::Object(payload)
    }

    fn scope_or_default(&self) -> Text {
        self.scope.clone().unwrap_or_else(|| Text::from("project"))
    }

    /// A pinned hash of the capability manifest.
    pub fn pinned(&self, hash: &str) -> Option<&Json> {
        self.manifest.as_ref()?.get(hash)
    }

    /// What changed between a locked plan and the current one, in ToolPin's words and order.
    pub fn drift(
        &self,
        current: &LockEntry,
        options: DriftOptions,
    ) -> Result<Vec<String>, LockError> {
        let mut messages = Vec::new();
        messages.extend(self.integrity()?.problem().map(str::to_owned));
        let shown = |text: &Text| text.to_string_lossy().to_owned();
        let mut moved = |what: &str, old: &Text, new: &Text| {
            if old != new {
                messages.push(format!("{what} changed {} -> {}", shown(old), shown(new)));
            }
        };
        moved("version", &self.version, &current.version);
        moved(
            "scope",
            &self.scope_or_default(),
            &current.scope_or_default(),
        );
        if differ(Some(&self.target), Some(&current.target))? {
            messages.push("selected install target changed".to_owned());
        }
        let (old, new) = (score(&self.trust), score(&current.trust));
        if old.0 > new.0 {
            messages.push(format!("trust score decreased {} -> {}", old.1, new.1));
        }
        let (old, new) = (tier(&self.trust), tier(&current.trust));
        if rank(new) < rank(old) {
            let why = match artifact_claims(&self.trust, &current.trust) {
                Claims::Changed => Some(" (artifact integrity claims changed)"),
                Claims::Unavailable => {
                    Some(" (locked entry has no locally verified artifact claims to compare)")
                }
                Claims::Intact if options.verify_capable => Some(""),
                Claims::Intact if options.strict_tier => Some(
                    " (strict-tier: an unverified run cannot re-earn the locked tier; run toolpin ci --verify)",
                ),
                Claims::Intact => None,
            };
            if let Some(why) = why {
                messages.push(format!("trust tier decreased {old} -> {new}{why}"));
            }
        }
        if differ(self.config.as_ref(), current.config.as_ref())? {
            messages.push("client config changed".to_owned());
        }
        let (old, new) = (
            base(self.manifest.as_ref()),
            base(current.manifest.as_ref()),
        );
        if differ(old.as_ref(), new.as_ref())? {
            messages.push("capability manifest changed".to_owned());
        }
        messages.extend(self.surface_drift(current)?);
        Ok(messages)
    }

    /// The part of [`LockEntry::drift`] that a live server can answer: the pinned hashes.
    pub fn surface_drift(&self, current: &LockEntry) -> Result<Vec<String>, LockError> {
        let mut messages = Vec::new();
        if let Some(locked) = self.pinned("toolSurfaceHash") {
            // If present, the two older hashes are ignored.
            let current = current.pinned("toolSurfaceHash");
            messages.extend(surface_message(locked, current)?.map(str::to_owned));
            return Ok(messages);
        }
        for (hash, name) in [
            ("toolDescriptionHash", "tool-description"),
            ("toolManifestHash", "tool-manifest"),
        ] {
            match (self.pinned(hash), current.pinned(hash)) {
                (Some(old), Some(new)) => {
                    if differ(Some(&plain_hash(old)), Some(&plain_hash(new)))? {
                        messages.push(format!("{name} hash changed"));
                    }
                }
                (Some(_), None) => {
                    messages.push(format!("{name} hash pin could not be refreshed"));
                }
                (None, _) => {}
            }
        }
        Ok(messages)
    }
}

fn surface_message(
    locked: &Json,
    current: Option<&Json>,
) -> Result<Option<&'static str>, LockError> {
    let Some(current) = current else {
        return Ok(Some("tool surface hash pin could not be refreshed"));
    };
    let coverage = |hash: &Json| -> Vec<Json> {
        hash.get("coverage")
            .and_then(Json::as_array)
            .unwrap_or_default()
            .to_vec()
    };
    let (old, new) = (coverage(locked), coverage(current));
    if old == new {
        let same = !differ(Some(&surface_hash(locked)), Some(&surface_hash(current)))?;
        return Ok((!same).then_some("tool input schemas changed"));
    }
    let narrower =
        new.iter().all(|field| old.contains(field)) && old.iter().any(|field| !new.contains(field));
    Ok(narrower.then_some("tool surface coverage downgraded"))
}

/// Whether two values differ in ToolPin's canonical form; a missing one differs from every other.
fn differ(one: Option<&Json>, other: Option<&Json>) -> Result<bool, LockError> {
    let text = |value: Option<&Json>| value.map(canonical::to_string).transpose();
    Ok(text(one)? != text(other)?)
}

pub(super) fn given(payload: &mut Object, name: &str, value: Option<&Json>) {
    if let Some(value) = value {
        payload.push(name, value.clone());
    }
}

pub(super) fn members(value: &Json, names: &[&str]) -> Object {
    let mut kept = Object::new();
    for name in names {
        given(&mut kept, name, value.get(name));
    }
    kept
}

/// The manifest without its hashes, times and scan.
fn base(manifest: Option<&Json>) -> Option<Json> {
    let kept = members(
        manifest?,
        &[
            "version",
            "serverName",
            "serverVersion",
            "registrySource",
            "packageTypes",
            "transports",
            "remoteHosts",
            "secrets",
        ],
    );
    Some(Json::Object(kept))
}

/// What the digest of an entry covers of a manifest.
fn covered(manifest: Option<&Json>) -> Option<Json> {
    let manifest = manifest?;
    let Some(Json::Object(mut kept)) = base(Some(manifest)) else {
        return None;
    };
    for hash in ["toolDescriptionHash", "toolManifestHash"] {
        given(&mut kept, hash, manifest.get(hash).map(plain_hash).as_ref());
    }
    let surface = manifest.get("toolSurfaceHash").map(surface_hash);
    given(&mut kept, "toolSurfaceHash", surface.as_ref());
    Some(Json::Object(kept))
}

fn plain_hash(hash: &Json) -> Json {
    Json::Object(members(hash, &["algorithm", "value", "toolCount"]))
}

fn surface_hash(hash: &Json) -> Json {
    Json::Object(members(
        hash,
        &["algorithm", "coverage", "value", "toolCount"],
    ))
}

pub(super) fn record(value: Option<&Json>) -> Option<&Json> {
    value.filter(|it| matches!(it, Json::Object(_)))
}

/// An object with only these members, if all of them are strings.
fn strings(value: Option<&Json>, names: &[&str]) -> Option<Json> {
    let value = record(value)?;
    let all = names
        .iter()
        .all(|name| value.get(name).and_then(Json::as_text).is_some());
    all.then(|| Json::Object(members(value, names)))
}

fn locked(value: Option<&Json>) -> Option<Locked> {
    let value = record(value)?;
    let manifest = value.get("capabilityManifest");
    if manifest.is_some_and(|it| !is_manifest(it)) {
        return None;
    }
    Some(Locked {
        target: value.get("selectedTarget").cloned(),
        config: value.get("config").cloned(),
        manifest: manifest.cloned(),
    })
}

fn number(value: &Json) -> Option<f64> {
    match value {
        Json::Number(number) => Some(Number::to_f64(number)),
        _ => None,
    }
}

pub(super) fn is_finite(value: Option<&Json>) -> bool {
    value.and_then(number).is_some_and(f64::is_finite)
}

pub(super) fn is_string(value: Option<&Json>) -> bool {
    value.is_some_and(|it| it.as_text().is_some())
}

fn is_array(value: Option<&Json>) -> bool {
    value.is_some_and(|it| it.as_array().is_some())
}

fn is_manifest(value: &Json) -> bool {
    let is_hash = |hash: &Json| {
        hash.get("algorithm").and_then(Json::as_str) == Some("sha256")
            && is_string(hash.get("value"))
            && hash.get("toolCount").and_then(number).is_some()
            && is_string(hash.get("generatedAt"))
    };
    let is_surface = |hash: &Json| {
        let coverage = hash.get("coverage").and_then(Json::as_array);
        let known =
            |field: &Json| matches!(field.as_str(), Some("name" | "description" | "inputSchema"));
        is_hash(hash) && coverage.is_some_and(|fields| fields.iter().all(known))
    };
    let is_scan = |scan: &Json| {
        scan.get("version").and_then(number) == Some(1.0)
            && is_string(scan.get("generatedAt"))
            && scan.get("scannedDescriptions").and_then(number).is_some()
            && is_array(scan.get("findings"))
    };
    let unless = |member: &str, is: &dyn Fn(&Json) -> bool| value.get(member).is_none_or(is);
    value.get("version").and_then(number) == Some(1.0)
        && [
            "serverName",
            "serverVersion",
            "registrySource",
            "generatedAt",
        ]
        .iter()
        .all(|member| is_string(value.get(member)))
        && ["packageTypes", "transports", "remoteHosts", "secrets"]
            .iter()
            .all(|member| is_array(value.get(member)))
        && unless("toolDescriptionHash", &is_hash)
        && unless("toolSurfaceHash", &is_surface)
        && unless("toolManifestHash", &is_hash)
        && unless("toolDescriptionScan", &is_scan)
}
