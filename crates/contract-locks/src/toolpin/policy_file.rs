//! ToolPin's policy file, as far as a signature covers it: validated as ToolPin does, and hashed.
//!
//! The rules in it are for ToolPin; nothing here applies them.

use super::canonical;
use super::lock::{CLIENTS, LockError};
use crate::sri;
use exact_json::{Json, Object};

/// ToolPin's default path.
pub const DEFAULT_PATH: &str = ".toolpin/policy.json";

/// What the value of a member must be.
enum Shape {
    Version,
    Score,
    Tier,
    Flag,
    Sources,
    Clients,
    Texts,
}

/// The members in the order in which ToolPin checks them.
const MEMBERS: [(&str, Shape); 16] = [
    ("version", Shape::Version),
    ("minTrustScore", Shape::Score),
    ("minTrustTier", Shape::Tier),
    ("requireToolPinVerifiedEvidence", Shape::Flag),
    ("allowedSources", Shape::Sources),
    ("deniedSources", Shape::Sources),
    ("allowedClients", Shape::Clients),
    ("deniedClients", Shape::Clients),
    ("deniedServers", Shape::Texts),
    ("deniedPackageTypes", Shape::Texts),
    ("deniedTransports", Shape::Texts),
    ("deniedRemoteHosts", Shape::Texts),
    ("denyRemoteEndpoints", Shape::Flag),
    ("denyRequiredSecrets", Shape::Flag),
    ("requireDigestPinnedOci", Shape::Flag),
    ("requireMcpbSha256", Shape::Flag),
];

/// The digest of a policy. `path` is for messages.
pub fn digest(document: &Json, path: &str) -> Result<String, LockError> {
    let refuse = |what: String| LockError(format!("Invalid policy schema in {path}: {what}"));
    let given = document
        .as_object()
        .ok_or_else(|| refuse("expected object".to_owned()))?;
    for (name, _) in given.iter() {
        if !MEMBERS.iter().any(|(known, _)| *name == **known) {
            let name = name.to_string_lossy();
            return Err(refuse(format!("unknown policy key {name}")));
        }
    }
    let mut policy = Object::new();
    for (name, shape) in &MEMBERS {
        if let Some(value) = given.get(name) {
            policy.push(*name, shape.read(value, name).map_err(refuse)?);
        }
    }
    Ok(sri(canonical::to_string(&Json::Object(policy))?))
}

impl Shape {
    fn read(&self, value: &Json, name: &str) -> Result<Json, String> {
        let number = match value {
            Json::Number(number) => Some(number.to_f64()),
            _ => None,
        };
        let fits = match self {
            Self::Version => number == Some(1.0),
            Self::Score => number.is_some_and(|it| (0.0..=100.0).contains(&it)),
            Self::Tier => matches!(
                value.as_str(),
                Some("verified" | "conditional" | "unverified" | "blocked")
            ),
            Self::Flag => value.as_bool().is_some(),
            Self::Sources | Self::Clients | Self::Texts => value
                .as_array()
                .is_some_and(|items| items.iter().all(|it| it.as_text().is_some())),
        };
        if !fits {
            return Err(match self {
                Self::Version => "unsupported version".to_owned(),
                Self::Score => format!("{name} must be 0-100"),
                Self::Tier => {
                    format!("{name} must be verified, conditional, unverified, or blocked")
                }
                Self::Flag => format!("{name} must be a boolean"),
                Self::Sources | Self::Clients | Self::Texts => {
                    format!("{name} must be an array of strings")
                }
            });
        }
        let texts = value.as_array().unwrap_or_default();
        match self {
            Self::Sources => {
                let sources: Option<Vec<Json>> = texts.iter().map(source).collect();
                let unknown = || format!("{name} contains an unknown registry source");
                Ok(Json::Array(sources.ok_or_else(unknown)?))
            }
            Self::Clients => {
                let is_client =
                    |it: &Json| it.as_str().is_some_and(|client| CLIENTS.contains(&client));
                if texts.iter().all(is_client) {
                    Ok(value.clone())
                } else {
                    Err(format!("{name} contains an unknown client"))
                }
            }
            _ => Ok(value.clone()),
        }
    }
}

/// A registry under ToolPin's current name for it.
fn source(value: &Json) -> Option<Json> {
    match value.as_str()? {
        "pulse" => Some(Json::string("pulsemcp")),
        "toolpin" | "official" | "docker" | "pulsemcp" | "smithery" | "glama" => {
            Some(value.clone())
        }
        _ => None,
    }
}
