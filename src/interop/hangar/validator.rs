//! MCP Hangar's validator: `enforcement` applies to a tool whose digest differs from its pin,
//! `unknown` to one without a pin.
//!
//! It never notices a removed tool; `mcp-hangar pin --check` does, and so does `check`.

use super::Pins;
use crate::policy::{Enforcement, Unknown};

/// The validator's result for one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validation {
    /// Whether it matches its pin, or is unknown and allowed.
    pub valid: bool,
    /// Whether it is hidden from callers.
    pub blocked: bool,
    /// The event, if any: the expected digest (`None` for an unknown tool) and the policy that
    /// applied.
    pub event: Option<(Option<String>, &'static str)>,
}

/// Hangar's `DigestValidator`: checks a served tool against the pins and the two policies.
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
