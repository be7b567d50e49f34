//! MCP Hangar's validator, in our words: `enforcement` for a tool with another digest than its pin, `unknown` for one without.
//!
//! It never notices a tool that is gone; `mcp-hangar pin --check` does, and so does `check`.

use super::Pins;
use crate::policy::{Enforcement, Unknown};

/// What Hangar's validator says of one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validation {
    /// Whether it is as pinned, or unknown and allowed.
    pub valid: bool,
    /// Whether it is kept from callers.
    pub blocked: bool,
    /// The event, where there is something to tell: what was expected (nothing, for an unknown tool) and which policy
    /// spoke.
    pub event: Option<(Option<String>, &'static str)>,
}

/// Hangar's `DigestValidator`: a tool that is served, against the pins and the two policies.
pub fn validate(
    pins: &Pins,
    tool: &str,
    observed: &str,
    enforcement: Enforcement,
    unknown: Unknown,
) -> Validation {
    let Some(allowed) = pins.tools.get(tool) else {
        return match unknown {
            Unknown::Allow => Validation {
                valid: true,
                blocked: false,
                event: None,
            },
            policy => Validation {
                valid: false,
                blocked: policy == Unknown::Block,
                event: Some((None, policy.word())),
            },
        };
    };
    if allowed.contains(observed) {
        return Validation {
            valid: true,
            blocked: false,
            event: None,
        };
    }
    Validation {
        valid: false,
        blocked: enforcement == Enforcement::Block,
        event: Some((allowed.first().cloned(), enforcement.word())),
    }
}
