//! ToolPin's rules about a lock's target: whether it can be pinned at all, and what is known about
//! it offline.
//!
//! Nothing here contacts a registry. What ToolPin would learn from one is `unavailable`, as ToolPin
//! itself says when it cannot reach it; a publisher's claim is `declared`, never `passed`.

use super::locale;
use super::scan::scan_server;
use crate::canonical::{Json, Object};

/// One problem, in ToolPin's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// `info`, `warning` or `critical`.
    pub severity: &'static str,
    /// Such as `mutable_oci_tag`.
    pub code: &'static str,
    pub message: String,
}

/// What is known about a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    pub issues: Vec<Issue>,
    /// What may be shown next to its name.
    pub badges: Vec<String>,
    /// Codes with their status: `passed`, `declared`, `failed`, `unavailable`.
    pub evidence: Vec<(&'static str, &'static str)>,
}

impl Verified {
    /// Whether nothing critical was found.
    pub fn ok(&self) -> bool {
        self.issues.iter().all(|issue| issue.severity != "critical")
    }

    fn issue(&mut self, severity: &'static str, code: &'static str, message: String) {
        self.issues.push(Issue {
            severity,
            code,
            message,
        });
    }

    fn badge(&mut self, badge: &str) {
        if !self.badges.iter().any(|it| it == badge) {
            self.badges.push(badge.to_owned());
        }
    }
}

/// Whether the server's tools were captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Not requested.
    NotAsked,
    /// Skipped (`--skip-live-verification`; a package without `--allow-execute`).
    Skipped,
    Seen,
    Failed(String),
}

/// What to verify: a server's name, description and selected target.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub name: &'a str,
    pub version: &'a str,
    /// The registry's description of it.
    pub description: &'a str,
    /// `selectedTarget` of a lock: `kind` and its details.
    pub target: Option<&'a Json>,
    /// The registry's `_meta`, with the publisher's declared capabilities and attestations.
    pub meta: Option<&'a Json>,
}

/// ToolPin's `verify`, offline.
pub fn verify(subject: Subject<'_>, probe: &Probe) -> Verified {
    let mut found = Verified::default();
    let text = |member: &str| {
        let value = subject.target.and_then(|it| it.get(member));
        value.and_then(Json::as_str).unwrap_or_default()
    };
    let is_package = text("kind") == "package";
    if is_package {
        declared(&text, subject.target, &mut found);
    }
    let attestations = meta(subject.meta, "dev.toolpin/attestations").and_then(Json::as_array);
    let attestations: Vec<&str> = attestations
        .unwrap_or_default()
        .iter()
        .filter_map(|it| it.get("type")?.as_str())
        .collect();
    for _ in &attestations {
        found.evidence.push(("attestation_declared", "declared"));
    }
    for finding in scan_server(subject.name, subject.description) {
        let severity = finding.severity.word();
        found.issue(
            severity,
            finding.code,
            format!("{}: {}", finding.subject, finding.message),
        );
        found.badge("description-scan-advisory");
    }
    if meta(subject.meta, "dev.toolpin/capabilities").is_some() {
        found.badge("capability-pinned");
    }
    for attestation in attestations {
        found.badge(&format!("{attestation}-declared"));
    }
    match (subject.target, is_package) {
        (None, _) => found.issue(
            "critical",
            "no_install_target",
            format!(
                "No install target is available for {}@{}.",
                subject.name, subject.version
            ),
        ),
        (Some(target), true) => {
            package(&text, target, &mut found);
            match probe {
                Probe::NotAsked => {}
                Probe::Skipped => {
                    found.issue(
                        "warning",
                        "package_execution_skipped",
                        "Live package probe skipped: ToolPin does not execute server packages during verification \
                         without --allow-execute. Network artifact checks still ran."
                            .to_owned(),
                    );
                    found
                        .evidence
                        .push(("tool_description_hash", "unavailable"));
                }
                probe => live(probe, "Package", "package_probe_failed", &mut found),
            }
        }
        (Some(_), false) => {
            found.badge("remote-target");
            let blocked = remote(text("url"), &mut found);
            match probe {
                Probe::Skipped => {
                    found.issue(
                        "warning",
                        "remote_probe_skipped",
                        "Remote tool-description hashing was skipped; capability pin is metadata-only.".to_owned(),
                    );
                    found
                        .evidence
                        .push(("tool_description_hash", "unavailable"));
                }
                probe if !blocked => live(probe, "Remote", "remote_probe_failed", &mut found),
                _ => {}
            }
        }
    }
    found
}

fn meta<'a>(meta: Option<&'a Json>, member: &str) -> Option<&'a Json> {
    meta?.get(member)
}

/// What the metadata alone declares about a package.
fn declared<'a>(text: &dyn Fn(&str) -> &'a str, target: Option<&Json>, found: &mut Verified) {
    let (kind, identifier, version) = (text("registryType"), text("identifier"), text("version"));
    if !version.is_empty() && !is_floating(version) {
        found.evidence.push(("package_pin", "declared"));
    } else if kind != "oci" {
        found.evidence.push(("package_pin", "failed"));
    }
    match kind {
        "oci" if is_oci_pin(identifier) => {
            found.evidence.push(("digest_present", "declared"));
            found.evidence.push(("package_pin", "declared"));
        }
        "oci" => found.evidence.push(("digest_present", "failed")),
        "mcpb" => {
            let hash = target.and_then(|it| it.get("fileSha256"));
            let status = if is_sha256(hash) {
                "declared"
            } else {
                "failed"
            };
            found.evidence.push(("file_hash_present", status));
        }
        _ => {}
    }
}

fn package<'a>(text: &dyn Fn(&str) -> &'a str, target: &Json, found: &mut Verified) {
    let (identifier, version) = (text("identifier"), text("version"));
    match text("registryType") {
        "oci" if is_oci_pin(identifier) => {
            found.badge("digest-pinned");
            found.evidence.push(("oci_digest_verified", "unavailable"));
        }
        "oci" => {
            let reason = if identifier.contains("@sha256:") {
                "does not contain a valid sha256 digest pin"
            } else {
                "is not pinned by digest"
            };
            let message = format!("OCI image {identifier} {reason}.");
            found.issue("critical", "mutable_oci_tag", message);
        }
        "npm" if version.is_empty() || is_floating(version) => {
            let at = if version.is_empty() {
                String::new()
            } else {
                format!("@{version}")
            };
            let message = format!(
                "npm integrity verification failed for {identifier}{at}: npm package target must declare an exact version."
            );
            found.issue("critical", "npm_version_missing", message);
            found.evidence.push(("npm_integrity_verified", "failed"));
        }
        "npm" => found
            .evidence
            .push(("npm_integrity_verified", "unavailable")),
        "mcpb" if is_sha256(target.get("fileSha256")) => {
            found.badge("fileSha256");
            found.evidence.push(("mcpb_sha256_verified", "unavailable"));
        }
        "mcpb" => {
            let message = "MCPB package is missing a valid 64-character fileSha256.".to_owned();
            found.issue("critical", "missing_mcpb_hash", message);
        }
        _ => {}
    }
}

/// Whether the address must not be contacted.
fn remote(url: &str, found: &mut Verified) -> bool {
    let Some((scheme, host)) = scheme_and_host(url) else {
        let message = "Remote MCP URL is invalid: Invalid URL.".to_owned();
        found.issue("critical", "invalid_remote_url", message);
        found.evidence.push(("remote_transport_trust", "failed"));
        return true;
    };
    if scheme == "https" {
        return false;
    }
    if scheme == "http" && is_loopback(&host) {
        let message = format!(
            "Remote MCP URL {url} uses loopback HTTP; treat it as a local runtime target, not trusted public remote metadata."
        );
        found.issue("warning", "local_http_remote", message);
        found
            .evidence
            .push(("remote_transport_trust", "unavailable"));
        return false;
    }
    let message =
        format!("Remote MCP URL {url} must use HTTPS unless it is a loopback local fixture.");
    found.issue("critical", "insecure_remote", message);
    found.evidence.push(("remote_transport_trust", "failed"));
    true
}

fn live(probe: &Probe, label: &str, code: &'static str, found: &mut Verified) {
    match probe {
        Probe::Failed(reason) => {
            let message = format!("{label} capability verification failed: {reason}");
            found.issue("critical", code, message);
            found.evidence.push(("tool_description_hash", "failed"));
        }
        Probe::Seen => {
            for badge in [
                "tool-description-pinned",
                "tool-surface-pinned",
                "tool-manifest-pinned",
            ] {
                found.badge(badge);
            }
            found.evidence.push(("tool_description_hash", "passed"));
            found.evidence.push(("tool_surface_hash", "passed"));
        }
        Probe::NotAsked | Probe::Skipped => {}
    }
}

/// Whether an image is named by digest: it ends in `@sha256:` and 64 hexadecimal digits.
pub fn is_oci_pin(identifier: &str) -> bool {
    let Some(at) = identifier.len().checked_sub(72) else {
        return false;
    };
    let (Some(marker), Some(digits)) = (identifier.get(at..at + 8), identifier.get(at + 8..))
    else {
        return false;
    };
    marker.eq_ignore_ascii_case("@sha256:") && digits.bytes().all(|it| it.is_ascii_hexdigit())
}

/// Whether a value is 64 hexadecimal digits.
pub fn is_sha256(value: Option<&Json>) -> bool {
    let text = value.and_then(Json::as_str);
    text.is_some_and(|it| it.len() == 64 && it.bytes().all(|it| it.is_ascii_hexdigit()))
}

/// ToolPin's test for a version that may move. It is coarse: `exact` contains an `x`, and `>=1.0`
/// passes.
pub fn is_floating(version: &str) -> bool {
    let trimmed = version.trim().to_lowercase();
    trimmed == "latest" || version.contains(['~', '^', 'x', 'X', '*'])
}

/// The scheme of an address and its host, with the port unless it is the default.
fn scheme_and_host(url: &str) -> Option<(String, String)> {
    let (scheme, rest) = url.trim().split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let plain = |it: u8| it.is_ascii_alphanumeric() || b"+.-".contains(&it);
    if !scheme.starts_with(|it: char| it.is_ascii_lowercase()) || !scheme.bytes().all(plain) {
        return None;
    }
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority
        .rsplit('@')
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let usual = match scheme.as_str() {
        "https" => ":443",
        "http" => ":80",
        _ => "",
    };
    let host = match host.strip_suffix(usual) {
        Some(host) if !usual.is_empty() => host.to_owned(),
        _ => host,
    };
    (!host.is_empty() && !host.contains(char::is_whitespace)).then_some((scheme, host))
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name == "localhost"
        || name.ends_with(".localhost")
        || name == "::1"
        || (name.starts_with("127.") && name.parse::<std::net::Ipv4Addr>().is_ok())
}

/// The capability manifest of a registry's server, without hashes and times: what it may reach, and
/// which secrets it needs (by name, never by value).
pub fn capability_manifest(server: &Json) -> Json {
    let member = |name: &str| server.get(name).cloned().unwrap_or(Json::Null);
    let raw = server.get("raw");
    let list = |name: &str| {
        raw.and_then(|it| it.get(name)?.as_array())
            .unwrap_or_default()
    };
    let mut hosts: Vec<String> = list("remotes")
        .iter()
        .filter_map(|remote| scheme_and_host(remote.get("url")?.as_str()?))
        .map(|(_, host)| host)
        .collect();
    hosts.sort_by(|one, other| one.encode_utf16().cmp(other.encode_utf16()));
    hosts.dedup();
    let mut secrets = Vec::new();
    for (owners, inputs, source) in [
        ("packages", "environmentVariables", "env"),
        ("remotes", "headers", "header"),
    ] {
        for owner in list(owners) {
            let inputs = owner
                .get(inputs)
                .and_then(Json::as_array)
                .unwrap_or_default();
            for input in inputs {
                let is_set = |flag: &str| input.get(flag).and_then(Json::as_bool) == Some(true);
                if is_set("isSecret") || is_set("isRequired") {
                    let name = input.get("name").cloned().unwrap_or(Json::Null);
                    let sort = format!("{source}:{}", name.as_str().unwrap_or_default());
                    let secret = Json::object([
                        ("name", name),
                        ("source", Json::string(source)),
                        ("required", Json::Bool(is_set("isRequired"))),
                    ]);
                    secrets.push((sort, secret));
                }
            }
        }
    }
    // Sorted but not deduplicated: ToolPin says that it removes duplicates, but does not.
    secrets.sort_by(|(one, _), (other, _)| locale::compare(one, other));
    let mut manifest = Object::new();
    manifest.push("version", Json::integer(1));
    manifest.push("serverName", member("name"));
    manifest.push("serverVersion", member("version"));
    manifest.push("registrySource", member("registrySource"));
    manifest.push("packageTypes", sorted_set(server.get("packageTypes")));
    manifest.push("transports", sorted_set(server.get("transports")));
    manifest.push(
        "remoteHosts",
        Json::Array(hosts.into_iter().map(Json::string).collect()),
    );
    manifest.push(
        "secrets",
        Json::Array(secrets.into_iter().map(|(_, it)| it).collect()),
    );
    Json::Object(manifest)
}

fn sorted_set(value: Option<&Json>) -> Json {
    let mut texts: Vec<_> = value
        .and_then(Json::as_array)
        .unwrap_or_default()
        .iter()
        .filter_map(Json::as_text)
        .cloned()
        .collect();
    texts.sort_by(|one, other| one.cmp_utf16(other));
    texts.dedup();
    Json::Array(texts.into_iter().map(Json::String).collect())
}
