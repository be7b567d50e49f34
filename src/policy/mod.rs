//! Turns changes into a verdict.
//!
//! Each change gets one action, by rules that are stated here and nowhere else:
//!
//! 1. A rejected change blocks, whatever the thresholds, rules and `unknown` say.
//! 2. An accepted change, with reason and owner and not expired, is `accepted`.
//! 3. Where `fail-on` is set, a change below both thresholds (`fail-on`, `fail-on-exposure`) is
//!    `audit`: reported, never failing.
//! 4. A rule with an action in `[policy.rules]` has that action.
//! 5. A change that the [`Preset`] does not fail is `warn`: the baseline is behind.
//! 6. A component that is not in the baseline follows `unknown`, every other change `enforcement`.
//!
//! `enforcement = "audit"` is a cap, not a default: nothing fails under it, whatever single rules
//! say; only `unknown`, if set, still applies to components that are not in the baseline. If unset,
//! it follows `enforcement`. Pure: today's date is an argument.

mod acceptance;
mod version;

use std::collections::BTreeMap;

use crate::drift::Change;
use crate::judgement::{Exposure, Level};
use crate::keyword_enum::keyword_enum;
use crate::rules::{DefaultAction, RuleId};
use crate::surface::Note;

pub use acceptance::{Acceptance, Date, Decision, Rejection};
pub use version::{Bump, Moved, VersionCheck, check_version};

/// What a change leads to. Ordered: the worst is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    Accepted,
    /// Reported only.
    Audit,
    Warn,
    /// The check fails.
    Block,
}

keyword_enum!(Action { Accepted = "accepted", Audit = "audit", Warn = "warn", Block = "block" });

/// What to do about a known component that changed or was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Enforcement {
    /// Report, never fail.
    Audit,
    /// Warn, never fail.
    Warn,
    /// Fail.
    Block,
}

keyword_enum!(Enforcement { Audit = "audit", Warn = "warn", Block = "block" });

/// What to do about a component that is not in the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// Report, never fail.
    Allow,
    /// Warn, never fail.
    Warn,
    /// Fail.
    Block,
}

impl Unknown {
    /// From the least to the most severe.
    pub const ALL: &'static [Self] = &[Self::Allow, Self::Warn, Self::Block];

    /// MCP Hangar's name for `allow_degraded` since its release 1.2.1. Both mean the same.
    pub const ALLOW_ALIAS: &'static str = "allow_unverified";

    /// Its keyword in every format.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow_degraded",
            Self::Warn => "warn",
            Self::Block => "block",
        }
    }
}

impl std::fmt::Display for Unknown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

impl std::str::FromStr for Unknown {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        let known = Self::ALL.iter().copied().find(|it| it.word() == word);
        known
            .or((word == Self::ALLOW_ALIAS).then_some(Self::Allow))
            .ok_or(())
    }
}

/// The lowest level that can fail the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailOn {
    None,
    /// `breaking`
    Breaking,
    /// `risky` and worse
    Risky,
    /// `additive` and worse
    Additive,
    Any,
}

keyword_enum!(FailOn { None = "none", Breaking = "breaking", Risky = "risky", Additive = "additive", Any = "any" });

impl FailOn {
    fn reached_by(self, level: Level) -> bool {
        match self {
            FailOn::None => false,
            FailOn::Breaking => level >= Level::Breaking,
            FailOn::Risky => level >= Level::Risky,
            FailOn::Additive => level >= Level::Additive,
            FailOn::Any => true,
        }
    }
}

/// Which changes can fail where `fail-on` is not set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// What breaks or may surprise a caller, what an approver has to read, and every component that
    /// appeared or disappeared. The rest is a warning that the baseline is behind.
    #[default]
    Default,
    /// Every change.
    Strict,
}

keyword_enum!(Preset { Default = "default", Strict = "strict" });

/// An entry of `[policy.rules]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleSetting {
    /// The action for every change of this rule.
    Action(Action),
    /// The level for every change of this rule.
    Level(Level),
}

impl RuleSetting {
    /// The allowed values.
    pub const WORDS: [&'static str; 7] = [
        "audit", "warn", "block", "breaking", "risky", "additive", "cosmetic",
    ];
}

impl std::str::FromStr for RuleSetting {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word.parse() {
            Ok(Action::Accepted) => Err(()),
            Ok(action) => Ok(Self::Action(action)),
            Err(()) => word.parse().map(Self::Level),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Policy {
    /// For known components.
    pub enforcement: Enforcement,
    /// For unknown ones; `None` means as `enforcement`.
    pub unknown: Option<Unknown>,
    pub preset: Preset,
    /// `None` means as the preset.
    pub fail_on: Option<FailOn>,
    /// `None` means as the preset, or, with `fail_on`, that exposure alone never fails.
    pub fail_on_exposure: Option<Exposure>,
    /// Whether drift requires a matching version bump.
    pub require_version_bump: bool,
    /// How many tokens the tools of a server may cost.
    pub context_limit: Option<usize>,
    /// By how many percent they may exceed the baseline; 0 is a ratchet.
    pub context_growth: Option<usize>,
    pub rules: BTreeMap<RuleId, RuleSetting>,
    pub accept: Vec<Acceptance>,
    pub reject: Vec<Rejection>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            enforcement: Enforcement::Block,
            unknown: None,
            preset: Preset::default(),
            fail_on: None,
            fail_on_exposure: None,
            require_version_bump: false,
            context_limit: None,
            context_growth: None,
            rules: BTreeMap::new(),
            accept: Vec::new(),
            reject: Vec::new(),
        }
    }
}

/// A change and its action.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The change; the policy may have set its level.
    pub change: Change,
    pub id: String,
    pub action: Action,
    /// Whether it would block under `enforcement = "block"`.
    pub would_block: bool,
    /// The entry of the configuration that decided it.
    pub decision: Option<Decision>,
}

/// The overall result of a run. Ordered: over several servers the greatest counts. Blocking drift
/// is certain, so it ranks above a server that could not be captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Pass,
    Warn,
    /// A server could not be captured, so there is no verdict about it.
    Undetermined,
    /// The check fails.
    Block,
}

keyword_enum!(Verdict { Pass = "pass", Warn = "warn", Undetermined = "undetermined", Block = "block" });

impl Policy {
    /// Under which every change blocks.
    pub fn strict() -> Self {
        Self {
            preset: Preset::Strict,
            ..Self::default()
        }
    }

    /// The lowest level that can fail.
    pub fn fail_on(&self) -> FailOn {
        self.fail_on.unwrap_or(match self.preset {
            Preset::Default => FailOn::Risky,
            Preset::Strict => FailOn::Any,
        })
    }

    /// The lowest exposure that can fail; `None` if exposure alone never does.
    pub fn fail_on_exposure(&self) -> Exposure {
        let by_preset = match (self.preset, self.fail_on) {
            (Preset::Default, None) => Exposure::Medium,
            _ => Exposure::None,
        };
        self.fail_on_exposure.unwrap_or(by_preset)
    }

    /// Whether a component that appeared or disappeared can fail whatever its level and exposure.
    pub fn fails_on_components(&self) -> bool {
        self.fail_on.is_none()
    }

    /// Judges the changes of one server.
    pub fn judge(&self, server: &str, changes: Vec<Change>, today: Date) -> Vec<Judged> {
        let decisions = self.decisions(today);
        changes
            .into_iter()
            .map(|mut change| {
                // The id is taken before the policy applies: setting a level must not orphan an
                // acceptance.
                let id = change.id(server);
                if let Some(RuleSetting::Level(level)) = self.rules.get(&change.rule) {
                    change.level = *level;
                }
                let decision = decisions.get(id.as_str()).cloned();
                let (action, would_block) = match &decision {
                    Some(Decision::Accepted { .. }) => (Action::Accepted, false),
                    // As a rule that is set to block: only `audit` is a cap.
                    Some(Decision::Rejected { .. }) => match self.enforcement {
                        Enforcement::Audit => (Action::Audit, true),
                        _ => (Action::Block, true),
                    },
                    None => (
                        self.action(&change, self.enforcement),
                        self.action(&change, Enforcement::Block) == Action::Block,
                    ),
                };
                Judged {
                    change,
                    id,
                    action,
                    would_block,
                    decision,
                }
            })
            .collect()
    }

    /// What the configuration says about changes, by id. A rejection outranks an acceptance; of several
    /// entries the first that applies counts.
    fn decisions(&self, today: Date) -> BTreeMap<&str, Decision> {
        let rejected = self.reject.iter().map(|it| {
            let decision = Decision::Rejected {
                reason: it.reason.clone(),
                owner: it.owner.clone(),
            };
            (it.change.as_str(), decision)
        });
        let in_force = self.accept.iter().filter(|it| !it.is_expired(today));
        let accepted = in_force.map(|it| {
            let decision = Decision::Accepted {
                reason: it.reason.clone(),
                owner: it.owner.clone(),
                until: it.expires,
            };
            (it.change.as_str(), decision)
        });
        let mut decisions = BTreeMap::new();
        for (change, decision) in rejected.chain(accepted) {
            decisions.entry(change).or_insert(decision);
        }
        decisions
    }

    /// The action for a change under this enforcement.
    fn action(&self, change: &Change, enforcement: Enforcement) -> Action {
        let reached = self.can_fail(change);
        if !reached && self.fail_on.is_some() {
            return Action::Audit;
        }
        let unknown = self
            .unknown
            .filter(|_| change.rule.is_about_unknown())
            .map(Unknown::action);
        let by_default = match unknown {
            Some(unknown) => unknown,
            None if reached => enforcement.action(),
            None => enforcement.action().min(Action::Warn),
        };
        let action = self.set_action(change).unwrap_or(by_default);
        match enforcement {
            Enforcement::Audit => action.min(by_default),
            _ => action,
        }
    }

    /// Whether the thresholds, or the preset, let a change fail.
    fn can_fail(&self, change: &Change) -> bool {
        let exposure = self.fail_on_exposure();
        let of_component = change.rule.is_about_unknown() || change.rule.removes_component();
        self.fail_on().reached_by(change.level)
            || (exposure != Exposure::None && change.exposure >= exposure)
            || (self.fails_on_components() && of_component)
    }

    fn set_action(&self, change: &Change) -> Option<Action> {
        match self.rules.get(&change.rule) {
            Some(RuleSetting::Action(action)) => Some(*action),
            _ => None,
        }
    }

    /// The action for a finding: the configured one, or else its rule's default.
    pub fn judge_note(&self, note: &Note) -> Action {
        let wanted = match self.rules.get(&note.rule) {
            Some(RuleSetting::Action(action)) => *action,
            Some(RuleSetting::Level(level)) if self.fail_on().reached_by(*level) => Action::Block,
            Some(RuleSetting::Level(_)) => Action::Audit,
            None => match note.rule.default_action() {
                DefaultAction::Enforcement | DefaultAction::Unknown => self.enforcement.action(),
                DefaultAction::RequiredBump if self.require_version_bump => {
                    self.enforcement.action()
                }
                DefaultAction::Warn => Action::Warn,
                DefaultAction::Audit
                | DefaultAction::Undetermined
                | DefaultAction::RequiredBump => Action::Audit,
            },
        };
        match (self.enforcement, self.rules.get(&note.rule)) {
            (Enforcement::Warn, Some(RuleSetting::Action(_))) => wanted,
            (enforcement, _) => wanted.min(enforcement.action()),
        }
    }

    /// Whether to compare a capture that is unreliable for this reason, as far as it is stable.
    /// Unless the policy configures the rule, there is no verdict about such a server, whatever the
    /// enforcement.
    pub fn tolerates(&self, rule: RuleId) -> bool {
        match self.rules.get(&rule) {
            Some(RuleSetting::Action(action)) => *action < Action::Block,
            Some(RuleSetting::Level(level)) => !self.fail_on().reached_by(*level),
            None => false,
        }
    }

    /// Notes about acceptances and rejections themselves: expired ones, and unused ones unless a
    /// change has the id next to the note.
    pub fn acceptance_notes(&self, today: Date) -> Vec<(Note, Option<String>)> {
        let note = |acceptance: &Acceptance| {
            let Acceptance {
                change,
                line,
                owner,
                ..
            } = acceptance;
            let (rule, message) = if acceptance.is_expired(today) {
                let message =
                    format!("the acceptance of {change} (line {line}, owner {owner}) has expired");
                (RuleId::AcceptanceExpired, message)
            } else {
                let message = format!(
                    "the acceptance of {change} (line {line}, owner {owner}) matches no change"
                );
                (RuleId::AcceptanceUnused, message)
            };
            let note = Note {
                rule,
                component: None,
                message,
            };
            let void_if_change = (!acceptance.is_expired(today)).then(|| acceptance.change.clone());
            (note, void_if_change)
        };
        let unused = |rejection: &Rejection| {
            let Rejection { change, line, .. } = rejection;
            let note = Note {
                rule: RuleId::AcceptanceUnused,
                component: None,
                message: format!("the rejection of {change} (line {line}) matches no change"),
            };
            (note, Some(change.clone()))
        };
        let accepted = self.accept.iter().map(note);
        accepted.chain(self.reject.iter().map(unused)).collect()
    }
}

impl Unknown {
    fn action(self) -> Action {
        match self {
            Unknown::Allow => Action::Audit,
            Unknown::Warn => Action::Warn,
            Unknown::Block => Action::Block,
        }
    }
}

impl Enforcement {
    pub fn action(self) -> Action {
        match self {
            Enforcement::Audit => Action::Audit,
            Enforcement::Warn => Action::Warn,
            Enforcement::Block => Action::Block,
        }
    }
}

/// The verdict for all actions of a run.
pub fn verdict(actions: impl IntoIterator<Item = Action>) -> Verdict {
    match actions.into_iter().max() {
        Some(Action::Block) => Verdict::Block,
        Some(Action::Warn) => Verdict::Warn,
        _ => Verdict::Pass,
    }
}

#[cfg(test)]
mod tests;
