//! `mcp-keel verify --lock`: a lock of ToolPin against its own digests, before anybody relies on it.

use std::path::Path;

use super::args::TextOrJson;
use super::output;
use crate::baseline::foreign::toolpin::Integrity;
use crate::baseline::foreign::{Foreign, LockV1, lock_v1};
use crate::canonical::{Json, Object, Text, parse};
use crate::report::escape;
use crate::run::{Error, Exit};

/// What was found about a lock.
struct Verified {
    digest: String,
    entries: Vec<Entry>,
    /// What else is wrong, by the rules of the draft.
    violations: Vec<String>,
}

struct Entry {
    key: String,
    integrity: Integrity,
    computed: String,
}

impl Entry {
    fn word(&self) -> &'static str {
        match self.integrity {
            Integrity::Holds => "ok",
            Integrity::Missing => "missing",
            Integrity::Differs => "mismatch",
        }
    }
}

pub(super) fn run(path: &Path, expected: Option<&str>, format: TextOrJson) -> Result<Exit, Error> {
    let verified = verify(path)?;
    output::print(&match format {
        TextOrJson::Json => json(&verified),
        TextOrJson::Terminal => terminal(path, &verified),
    })?;
    let mut failed = false;
    for entry in &verified.entries {
        let what = match entry.integrity {
            Integrity::Holds => continue,
            Integrity::Missing => "lock integrity is missing",
            Integrity::Differs => "locked entry integrity does not match its contents",
        };
        output::complain(&format!(
            "error: {}: {what}",
            escape::short(&entry.key, 200)
        ));
        failed = true;
    }
    for violation in &verified.violations {
        output::complain(&format!("error: {}", escape::short(violation, 400)));
        failed = true;
    }
    if let Some(expected) = expected
        && expected.trim() != verified.digest
    {
        output::complain(&format!(
            "error: lockfile digest mismatch: expected {}, got {}",
            escape::short(expected.trim(), 100),
            verified.digest
        ));
        failed = true;
    }
    Ok(if failed {
        Exit::Verification
    } else {
        Exit::Pass
    })
}

/// Reads a lock and computes what it should state. What cannot be read, or has no digest, is wrong usage (exit 2).
fn verify(path: &Path) -> Result<Verified, Error> {
    let name = path.display().to_string();
    let bytes = crate::bounded::read(path).map_err(|error| {
        Error::usage(format!("{name}: cannot read it: {error}"), "check the path")
    })?;
    let document = parse(&bytes).map_err(|error| {
        Error::usage(
            format!("Invalid lockfile JSON in {name}: {error}"),
            "restore the committed file",
        )
    })?;
    let help = "a lock is written by ToolPin or by `mcp-keel pin --format toolpin`; restore the committed file";
    let unsound =
        |error: crate::baseline::foreign::LockError| Error::usage(error.to_string(), help);
    let lock = match Foreign::recognise(&document, &name) {
        Some(lock) => lock.map_err(unsound)?,
        None => {
            return Err(Error::usage(
                format!("Invalid lockfile schema in {name}"),
                help,
            ));
        }
    };
    match lock {
        Foreign::ToolPin(lock) => {
            let mut entries = Vec::new();
            for (key, plan) in &lock.entries {
                entries.push(Entry {
                    key: key.to_string_lossy().to_owned(),
                    integrity: plan.integrity().map_err(unsound)?,
                    computed: plan.computed().map_err(unsound)?,
                });
            }
            Ok(Verified {
                digest: lock.digest().map_err(unsound)?,
                entries,
                violations: Vec::new(),
            })
        }
        Foreign::LockV1(lock) => {
            let unsupported = |it: &lock_v1::Violation| it.code == "unsupported-spec-version";
            if lock.violations().iter().any(unsupported) {
                let problem = format!("{name}: unsupported-spec-version at $.specVersion");
                return Err(Error::usage(problem, "this mcp-keel reads specVersion 1"));
            }
            draft(&lock).map_err(unsound)
        }
        other => Err(Error::usage(
            format!("Invalid lockfile schema in {name}"),
            format!(
                "this is {}, and not a lock; `mcp-keel check --baseline` reads it",
                other.format()
            ),
        )),
    }
}

fn draft(lock: &LockV1) -> Result<Verified, crate::baseline::foreign::LockError> {
    let mut entries = Vec::new();
    for entry in lock.entries() {
        let text = |member: &str| entry.get(member).and_then(Json::as_str).unwrap_or_default();
        let computed = lock_v1::entry_integrity(entry)?;
        let integrity = match entry.get("integrity").and_then(Json::as_str) {
            None => Integrity::Missing,
            Some(stored) if stored == computed => Integrity::Holds,
            Some(_) => Integrity::Differs,
        };
        entries.push(Entry {
            key: format!("{}:{}", text("name"), text("client")),
            integrity,
            computed,
        });
    }
    let violations = lock.violations();
    // Those two are told entry by entry already.
    let told = ["integrity-mismatch", "missing-field:integrity"];
    Ok(Verified {
        digest: lock.digest()?,
        entries,
        violations: violations
            .iter()
            .filter(|it| !told.contains(&it.code.as_str()))
            .map(|it| format!("{} at {}", it.code, it.path))
            .collect(),
    })
}

fn json(verified: &Verified) -> String {
    let entries = verified
        .entries
        .iter()
        .map(|entry| {
            let value = Json::object([
                ("integrity", Json::string(entry.word())),
                ("computed", Json::string(entry.computed.as_str())),
            ]);
            (Text::from(entry.key.as_str()), value)
        })
        .collect::<Object>();
    let document = Json::object([
        ("digest", Json::string(verified.digest.as_str())),
        ("entries", Json::Object(entries)),
    ]);
    output::json(&document)
}

fn terminal(path: &Path, verified: &Verified) -> String {
    let mut text = format!("{}  {}\n", path.display(), verified.digest);
    for entry in &verified.entries {
        text.push_str(&format!(
            "{:8}  {}  {}\n",
            entry.word(),
            escape::short(&entry.key, 200),
            entry.computed
        ));
    }
    if verified.entries.is_empty() {
        text.push_str("lockfile has no server entries\n");
    }
    text
}
