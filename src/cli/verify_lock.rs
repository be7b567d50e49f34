//! `mcp-keel verify --lock`: checks a ToolPin lock against its own digests.

use std::path::Path;

use super::args::{TextOrJson, VerifyArgs};
use super::output;
use crate::canonical::{Json, Object, Text};
use crate::interop::Verification;
use crate::interop::toolpin::signature::{self, Status};
use crate::report::escape;
use crate::run::{Error, Exit};

pub(super) fn run(path: &Path, args: &VerifyArgs) -> Result<Exit, Error> {
    let verified = Verification::of(path)?;
    let signature = verified.signature(
        &signature::file(path, args.signature.as_deref()),
        args.public_key.as_deref(),
        args.toolpin_policy.as_deref(),
    )?;
    output::print(&match args.format {
        TextOrJson::Json => json(&verified, &signature),
        TextOrJson::Terminal => terminal(path, &verified, &signature),
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
    if let Status::Invalid(problem) = &signature {
        output::complain(&format!("error: {}", escape::short(problem, 400)));
        failed = true;
    }
    if let Some(expected) = &args.expect_digest
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

fn json(verified: &Verification, signature: &Status) -> String {
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
        ("signature", status(signature)),
    ]);
    output::json(&document)
}

fn terminal(path: &Path, verified: &Verification, signature: &Status) -> String {
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
    match signature {
        Status::Absent | Status::Invalid(_) => {}
        Status::Unchecked(file) => text.push_str(&format!(
            "{} was not verified: name the signer's key with --public-key\n",
            escape::short(&file.display().to_string(), 200)
        )),
        Status::Valid {
            fingerprint,
            signed_at,
        } => text.push_str(&format!(
            "signature valid  key {fingerprint}, signed at {}\n",
            escape::short(signed_at, 100)
        )),
    }
    text
}

fn status(signature: &Status) -> Json {
    let mut members = vec![("status", Json::string(signature.word()))];
    match signature {
        Status::Absent | Status::Unchecked(_) => {}
        Status::Invalid(problem) => members.push(("message", Json::string(problem.as_str()))),
        Status::Valid {
            fingerprint,
            signed_at,
        } => {
            members.push(("publicKeyFingerprint", Json::string(fingerprint.as_str())));
            members.push(("signedAt", Json::string(signed_at.as_str())));
        }
    }
    Json::object(members)
}
