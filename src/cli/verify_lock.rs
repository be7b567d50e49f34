//! `mcp-keel verify --lock`: a lock of ToolPin against its own digests, before anybody relies on it.

use std::path::Path;

use super::args::TextOrJson;
use super::output;
use crate::canonical::{Json, Object, Text};
use crate::interop::Verification;
use crate::report::escape;
use crate::run::{Error, Exit};

pub(super) fn run(path: &Path, expected: Option<&str>, format: TextOrJson) -> Result<Exit, Error> {
    let verified = Verification::of(path)?;
    output::print(&match format {
        TextOrJson::Json => json(&verified),
        TextOrJson::Terminal => terminal(path, &verified),
    })?;
    let mut failed = false;
    for entry in &verified.entries {
        let Some(what) = entry.integrity.problem() else {
            continue;
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

fn json(verified: &Verification) -> String {
    let entries = verified
        .entries
        .iter()
        .map(|entry| {
            let value = Json::object([
                ("integrity", Json::string(entry.integrity.word())),
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

fn terminal(path: &Path, verified: &Verification) -> String {
    let mut text = format!("{}  {}\n", path.display(), verified.digest);
    for entry in &verified.entries {
        text.push_str(&format!(
            "{:8}  {}  {}\n",
            entry.integrity.word(),
            escape::short(&entry.key, 200),
            entry.computed
        ));
    }
    if verified.entries.is_empty() {
        text.push_str("lockfile has no server entries\n");
    }
    text
}
