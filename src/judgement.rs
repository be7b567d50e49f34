//! The vocabulary of a verdict: what a change does to callers, what it does to the people who
//! approved the server, and how that is known. `schema`, `drift`, `policy` and `report` use it.

use crate::canonical::Json;
use crate::keyword_enum::keyword_enum;

/// What a change does to callers. Ordered: the worst is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// No caller can notice.
    Cosmetic,
    /// More is possible than before.
    Additive,
    /// A caller may behave differently, though every old call is still accepted.
    Risky,
    /// A call or an expectation that used to be valid no longer is.
    Breaking,
}

/// What a change does to the people who approved the server. Ordered: the worst is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exposure {
    /// Nothing that was not approved.
    None,
    /// Slightly more than was approved.
    Low,
    /// More than was approved.
    Medium,
    /// Something an approver must see.
    High,
}

/// How a level is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// A concrete instance that the old contract accepts and the new one rejects (for output: the reverse),
    /// confirmed by a validator.
    Witness(Json),
    /// Every old call is still accepted (for output: every new result satisfies the old schema).
    Subsumed,
    /// Neither could be shown; with the reason.
    Undecided(String),
}

keyword_enum!(Level { Cosmetic = "cosmetic", Additive = "additive", Risky = "risky", Breaking = "breaking" });
keyword_enum!(Exposure { None = "none", Low = "low", Medium = "medium", High = "high" });
