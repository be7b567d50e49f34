//! Writes a ToolPin lock that ToolPin accepts: a new entry for a captured server, or new pins for
//! an existing entry.
//!
//! ToolPin's decisions about a server (trust, evidence, badges, notes, configuration) are kept
//! unchanged. mcp-keel does not score servers, so its own entries claim nothing: score 0, tier
//! `unverified`.

use std::time::Duration;

use super::digest::{COVERAGE, hashes};
use super::lock::{LockEntry, LockError};
use super::{locale, scan};
use crate::canonical::{Json, Object, Text, to_pretty};
use crate::fingerprint::Refusal;
use crate::policy::Date;
use crate::surface::{Kind, Surface};

#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// ToolPin has no digest for what the server lists.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The lock is invalid.
    #[error(transparent)]
    Lock(#[from] LockError),
}

/// A server locked for the first time.
#[derive(Clone, Debug)]
pub struct Server<'a> {
    pub name: &'a str,
    pub version: &'a str,
    /// Program and arguments.
    pub command: &'a [String],
    /// The names of the variables passed to it.
    pub secrets: Vec<String>,
}

/// The lock `before` (`None`: a new one) with these tools pinned for a server at the time `now`: in
/// all of `keys`, or in a new entry. Formatted like ToolPin: two spaces, a final newline.
pub fn relock(
    before: Option<&Json>,
    keys: &[String],
    server: &Server<'_>,
    surface: &Surface,
    now: &str,
) -> Result<String, WriteError> {
    let mut lock = match before {
        Some(document) => document.clone(),
        None => Json::object([
            ("lockfileVersion", Json::integer(2)),
            ("generatedAt", Json::string(now)),
            ("updatedAt", Json::string(now)),
            ("servers", Json::object([])),
        ]),
    };
    let Json::Object(root) = &mut lock else {
        return Ok(to_pretty(&lock) + "\n");
    };
    set(root, "updatedAt", Json::string(now));
    if let Some(Json::Object(servers)) = root.get_mut("servers") {
        if keys.is_empty() {
            let key = format!("{}:generic", server.name);
            servers.push(key.as_str(), new_entry(server, surface, now)?);
        }
        for key in keys {
            if let Some(Json::Object(entry)) = servers.get_mut(key) {
                repin(entry, surface, now)?;
                seal(entry, key)?;
            }
        }
    }
    Ok(to_pretty(&lock) + "\n")
}

/// Writes the hashes of these tools into both copies of an entry's capability manifest.
fn repin(entry: &mut Object, surface: &Surface, now: &str) -> Result<(), WriteError> {
    let pins = pins(surface, now)?;
    let set_all = |manifest: Option<&mut Json>| {
        if let Some(Json::Object(manifest)) = manifest {
            for (name, value) in &pins {
                set(manifest, name, value.clone());
            }
        }
    };
    set_all(entry.get_mut("capabilityManifest"));
    if let Some(Json::Object(locked)) = entry.get_mut("locked") {
        set_all(locked.get_mut("capabilityManifest"));
    }
    set(entry, "lockedAt", Json::string(now));
    Ok(())
}

/// Writes an entry's digest into it.
fn seal(entry: &mut Object, key: &str) -> Result<(), WriteError> {
    let plan = LockEntry::read(&Json::Object(entry.clone()), key)?;
    set(entry, "integrity", Json::string(plan.computed()?));
    Ok(())
}

fn pins(surface: &Surface, now: &str) -> Result<Vec<(&'static str, Json)>, Refusal> {
    let hashes = hashes(surface)?;
    let count = |count: usize| Json::integer(i64::try_from(count).unwrap_or(i64::MAX));
    let hash = |digest: crate::fingerprint::Digest, coverage: bool| {
        let mut hash = Object::new();
        hash.push("algorithm", Json::string("sha256"));
        if coverage {
            hash.push("coverage", Json::Array(COVERAGE.map(Json::string).into()));
        }
        hash.push("value", Json::string(digest.hex()));
        hash.push("toolCount", count(hashes.tools));
        hash.push("generatedAt", Json::string(now));
        Json::Object(hash)
    };
    // The scan of the server's own name is not part of this member.
    let mut tools_only = surface.clone();
    tools_only.scope.server = false;
    let findings = scan::scan(&tools_only)
        .into_iter()
        .map(|finding| {
            Json::object([
                ("severity", Json::string(finding.severity.word())),
                ("code", Json::string(finding.code)),
                ("subject", Json::string(finding.subject)),
                ("message", Json::string(finding.message)),
            ])
        })
        .collect();
    let scan = Json::object([
        ("version", Json::integer(1)),
        ("generatedAt", Json::string(now)),
        (
            "scannedDescriptions",
            count(surface.of_kind(Kind::Tool).count()),
        ),
        ("findings", Json::Array(findings)),
    ]);
    Ok(vec![
        ("toolDescriptionHash", hash(hashes.description, false)),
        ("toolSurfaceHash", hash(hashes.surface, true)),
        ("toolManifestHash", hash(hashes.manifest, false)),
        ("toolDescriptionScan", scan),
    ])
}

fn new_entry(server: &Server<'_>, surface: &Surface, now: &str) -> Result<Json, WriteError> {
    let text = |text: &str| Json::string(text);
    let target = target(server);
    let package = target.get("registryType").cloned().unwrap_or(Json::Null);
    let mut secrets = server.secrets.clone();
    secrets.sort_by(|one, other| locale::compare(one, other));
    let secrets = secrets
        .iter()
        .map(|name| {
            Json::object([
                ("name", text(name)),
                ("source", text("env")),
                ("required", Json::Bool(true)),
            ])
        })
        .collect();
    let mut manifest = Object::new();
    for (name, value) in [
        ("version", Json::integer(1)),
        ("serverName", text(server.name)),
        ("serverVersion", text(server.version)),
        ("registrySource", text("manual")),
        ("packageTypes", Json::Array(vec![package])),
        ("transports", Json::Array(vec![text("stdio")])),
        ("remoteHosts", Json::Array(Vec::new())),
        ("secrets", Json::Array(secrets)),
        ("generatedAt", text(now)),
    ] {
        manifest.push(name, value);
    }
    for (name, value) in pins(surface, now)? {
        manifest.push(name, value);
    }
    let manifest = Json::Object(manifest);
    let config = config(server);
    let named = |client: bool| {
        let mut named = vec![
            ("name", text(server.name)),
            ("version", text(server.version)),
        ];
        if client {
            named.push(("client", text("generic")))
        } else {
            named.insert(0, ("source", text("manual")))
        }
        Json::object(named)
    };
    let locked = Json::object([
        ("selectedTarget", target.clone()),
        ("config", config.clone()),
        ("capabilityManifest", manifest.clone()),
    ]);
    let mut entry = Object::new();
    for (name, value) in [
        ("name", text(server.name)),
        ("version", text(server.version)),
        ("client", text("generic")),
        ("scope", text("project")),
        ("selectedTarget", target),
        ("trust", trust()),
        ("config", config),
        (
            "notes",
            Json::Array(vec![text("Locked by mcp-keel from a live tools/list.")]),
        ),
        ("capabilityManifest", manifest),
        ("resolvedAt", text(now)),
        ("lockedAt", text(now)),
        ("resolved", named(false)),
        ("original", named(true)),
        ("locked", locked),
    ] {
        entry.push(name, value);
    }
    seal(&mut entry, server.name)?;
    Ok(Json::Object(entry))
}

fn trust() -> Json {
    let evidence = |code: &str, message: &str, method: &str| {
        Json::object([
            ("code", Json::string(code)),
            ("status", Json::string("passed")),
            ("message", Json::string(message)),
            ("source", Json::string("mcp-keel")),
            ("verificationMethod", Json::string(method)),
            ("verifiedByToolPin", Json::Bool(false)),
        ])
    };
    let texts = |texts: &[&str]| Json::Array(texts.iter().map(|it| Json::string(*it)).collect());
    Json::object([
        ("score", Json::integer(0)),
        ("tier", Json::string("unverified")),
        (
            "capReason",
            Json::string("locked by mcp-keel, which does not score servers"),
        ),
        (
            "evidence",
            Json::Array(vec![
                evidence(
                    "tool_description_hash",
                    "Live tools/list descriptions were hashed into the capability manifest.",
                    "live-tools-list",
                ),
                evidence(
                    "tool_surface_hash",
                    "Live tools/list names, descriptions, and input schemas were hashed into the capability manifest.",
                    "live-tools-list",
                ),
            ]),
        ),
        (
            "badges",
            texts(&[
                "tool-description-pinned",
                "tool-surface-pinned",
                "tool-manifest-pinned",
            ]),
        ),
        ("issues", Json::Array(Vec::new())),
    ])
}

/// The package that a launcher runs, or just the command.
fn target(server: &Server<'_>) -> Json {
    let program = server
        .command
        .first()
        .map(String::as_str)
        .unwrap_or_default();
    let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let package = server
        .command
        .iter()
        .skip(1)
        .find(|it| !it.starts_with('-'));
    let split = |package: &str, at: &str| match package[1.min(package.len())..].split_once(at) {
        Some(_) => package
            .rsplit_once(at)
            .map(|(name, version)| (name.to_owned(), version.to_owned())),
        None => None,
    };
    let (kind, identifier, version) = match (program, package) {
        ("npx" | "bunx", Some(package)) => match split(package, "@") {
            Some((name, version)) => ("npm", name, Some(version)),
            None => ("npm", package.clone(), None),
        },
        ("uvx", Some(package)) => match split(package, "==").or_else(|| split(package, "@")) {
            Some((name, version)) => ("pypi", name, Some(version)),
            None => ("pypi", package.clone(), None),
        },
        _ => ("local", server.command.join(" "), None),
    };
    let mut target = Object::new();
    target.push("kind", Json::string("package"));
    target.push("registryType", Json::string(kind));
    target.push("identifier", Json::string(identifier));
    if let Some(version) = version {
        target.push("version", Json::string(version));
    }
    target.push("transport", Json::string("stdio"));
    Json::Object(target)
}

fn config(server: &Server<'_>) -> Json {
    let (program, arguments) = match server.command.split_first() {
        Some((program, arguments)) => (program.as_str(), arguments),
        None => ("", &[][..]),
    };
    let env = server
        .secrets
        .iter()
        .map(|name| {
            (
                Text::from(name.as_str()),
                Json::string(format!("${{{name}}}")),
            )
        })
        .collect::<Object>();
    let launch = Json::object([
        ("command", Json::string(program)),
        (
            "args",
            Json::Array(
                arguments
                    .iter()
                    .map(|it| Json::string(it.as_str()))
                    .collect(),
            ),
        ),
        ("env", Json::Object(env)),
    ]);
    Json::object([("mcpServers", Json::object([(server.name, launch)]))])
}

fn set(object: &mut Object, name: &str, value: Json) {
    match object.get_mut(name) {
        Some(stored) => *stored = value,
        None => object.push(name, value),
    }
}

/// A time since 1970, formatted like ECMAScript's `toISOString`.
pub fn iso_time(since: Duration) -> String {
    let seconds = since.as_secs();
    let day = Date::from_unix_seconds(seconds);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!(
        "{day}T{hour:02}:{minute:02}:{second:02}.{:03}Z",
        since.subsec_millis()
    )
}
