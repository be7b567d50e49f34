//! MCP Hangar's pins: which digests are allowed for which tool.
//!
//! If a set has two digests for one tool, Hangar compares an arbitrary one; here any of them
//! matches. An unreadable pin is kept as one that nothing matches: it fails instead of being
//! dropped.

pub mod digest;
pub mod validator;

use std::collections::{BTreeMap, BTreeSet};

use crate::canonical::Json;
use crate::fingerprint::{Digest, Refusal};
use crate::surface::{Kind, Surface};

/// Replaces a pin that cannot be read.
pub const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToolDigest {
    pub tool: String,
    /// 64 lower-case hexadecimal digits.
    pub sha256: String,
    /// Always `sha256` so far; explicit in case another is added.
    pub algorithm: &'static str,
}

impl ToolDigest {
    /// Rejects what Hangar rejects, in its words; also a final newline, which Python's `$` accepts.
    pub fn new(tool: &str, sha256: &str) -> Result<Self, &'static str> {
        if tool.is_empty() {
            return Err("tool_name cannot be empty");
        }
        let hex = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
        if sha256.len() != 64 || !sha256.bytes().all(hex) {
            return Err("sha256 must be exactly 64 lowercase hex characters");
        }
        Ok(Self {
            tool: tool.to_owned(),
            sha256: sha256.to_owned(),
            algorithm: "sha256",
        })
    }
}

/// A pin as spelled in a configuration: trimmed, lower case, with or without `sha256:`.
pub fn normalise(pin: &str) -> String {
    let pin = pin.trim().to_lowercase();
    match pin.strip_prefix("sha256:") {
        Some(hex) => hex.to_owned(),
        None => pin,
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    /// The allowed digests by tool; never an empty set.
    pub tools: BTreeMap<String, BTreeSet<String>>,
    /// Where they were taken from, if they are bound to it.
    pub upstream: Option<String>,
}

impl Pins {
    /// Allows another digest for a tool.
    pub fn allow(&mut self, tool: &str, pin: &str) {
        let digest = ToolDigest::new(tool, &normalise(pin)).map(|it| it.sha256);
        let digest = digest.unwrap_or_else(|_| NOTHING.to_owned());
        self.tools
            .entry(tool.to_owned())
            .or_default()
            .insert(digest);
    }

    /// The pins of each server in a document: the output of `mcp-hangar pin --json`, or a configuration with
    /// `mcp_servers.NAME.tool_projection.pins`.
    pub fn read(document: &Json) -> Option<BTreeMap<String, Self>> {
        let mut servers = BTreeMap::new();
        let allow = |pins: &mut Self, listed: &Json| {
            for (tool, value) in listed.as_object()?.iter() {
                let tool = tool.to_string_lossy();
                match value {
                    Json::Array(any) => any
                        .iter()
                        .for_each(|it| pins.allow(tool, it.as_str().unwrap_or_default())),
                    one => pins.allow(tool, one.as_str().unwrap_or_default()),
                }
            }
            Some(())
        };
        if let Some(digests) = document.get("digests").and_then(Json::as_object) {
            for (server, listed) in digests.iter() {
                let mut pins = Self::default();
                allow(&mut pins, listed)?;
                servers.insert(server.to_string_lossy().to_owned(), pins);
            }
            return Some(servers);
        }
        for (server, spec) in document.get("mcp_servers")?.as_object()?.iter() {
            let Some(projection) = spec.get("tool_projection") else {
                continue;
            };
            let upstream = projection
                .get("upstream")
                .and_then(Json::as_str)
                .filter(|it| !it.is_empty());
            let mut pins = Self {
                upstream: upstream.map(str::to_owned),
                ..Self::default()
            };
            if let Some(listed) = projection.get("pins") {
                allow(&mut pins, listed)?;
            }
            servers.insert(server.to_string_lossy().to_owned(), pins);
        }
        Some(servers)
    }

    /// What `mcp-hangar pin --check` finds: a pinned tool with a different digest, or missing; a
    /// tool without a pin is not drift. A changed upstream comes first, under the name
    /// `(upstream)`.
    pub fn drift(&self, observed: &BTreeMap<String, String>, upstream: Option<&str>) -> Vec<Drift> {
        let mut found = Vec::new();
        if let (Some(bound), Some(now)) = (self.upstream.as_deref(), upstream)
            && bound != now
        {
            found.push(Drift {
                tool: "(upstream)".to_owned(),
                expected: bound.to_owned(),
                observed: Some(now.to_owned()),
            });
        }
        for (tool, allowed) in &self.tools {
            let now = observed.get(tool);
            if !now.is_some_and(|it| allowed.contains(it)) {
                found.push(Drift {
                    tool: tool.clone(),
                    expected: allowed.iter().cloned().collect::<Vec<_>>().join(" or "),
                    observed: now.cloned(),
                });
            }
        }
        found
    }
}

/// A pin that does not match the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    /// The tool, or `(upstream)`.
    pub tool: String,
    pub expected: String,
    /// The current digest; `None` if the tool was removed.
    pub observed: Option<String>,
}

/// The upstream to which Hangar binds the pins of a stdio server: the program's name and a digest
/// of the whole command.
pub fn stdio_upstream(command: &[String]) -> Option<String> {
    let program = std::path::Path::new(command.first()?)
        .file_name()?
        .to_string_lossy();
    let mut hex = Digest::of(command.join("\0")).hex();
    hex.truncate(16);
    Some(format!("stdio:{program}:{hex}"))
}

/// The same for a server over HTTP: its origin.
pub fn remote_upstream(origin: &str) -> String {
    format!("remote:{origin}")
}

/// The digest of each tool of a surface by its key, in the order listed.
pub fn digests(surface: &Surface) -> Result<Vec<(String, String)>, Refusal> {
    surface
        .of_kind(Kind::Tool)
        .map(|tool| Ok((tool.key.to_string(), digest::digest(tool)?.hex())))
        .collect()
}
