//! Changes in, verdict out.
//!
//! Each change gets one action, by rules that are stated here and nowhere else:
//!
//! 1. A change that somebody accepted, with reason and owner and not past its date, is `accepted`.
//! 2. A change below both thresholds (`fail-on`, `fail-on-exposure`) is `audit`: told, never failing.
//! 3. A rule that `[policy.rules]` gives an action has that action.
//! 4. A component that the baseline does not know follows `unknown`, every other change `enforcement`.
//!
//! `enforcement = "audit"` is a cap, not a default: nothing fails under it, whatever single rules say; only `unknown`,
//! where it is given, still speaks for components that the baseline does not know. Where it is not given, it follows
//! `enforcement`. Pure: today's date is an argument.

mod acceptance;
mod version;

use std::collections::BTreeMap;

use crate::drift::Change;
use crate::judgement::{Exposure, Level};
use crate::keyword_enum::keyword_enum;
use crate::rules::{DefaultAction, RuleId};
use crate::sentences::run as sentences;
use crate::surface::Note;

pub use acceptance::{Acceptance, Date};
pub(crate) use version::direction;
pub use version::{Bump, Moved, VersionCheck, check_version};

/// What happens because of a change. Ordered: the worst is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Somebody accepted it.
    Accepted,
    /// Told, and nothing else.
    Audit,
    /// A warning.
    Warn,
    /// The check fails.
    Block,
}

keyword_enum!(Action { Accepted = "accepted", Audit = "audit", Warn = "warn", Block = "block" });

/// What to do with a known component that changed or vanished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Enforcement {
    /// Tell, never fail.
    Audit,
    /// Warn, never fail.
    Warn,
    /// Fail.
    Block,
}

keyword_enum!(Enforcement { Audit = "audit", Warn = "warn", Block = "block" });

/// What to do with a component that the baseline does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// Tell, never fail.
    Allow,
    /// Warn, never fail.
    Warn,
    /// Fail.
    Block,
}

impl Unknown {
    /// All of them, least first.
    pub const ALL: &'static [Self] = &[Self::Allow, Self::Warn, Self::Block];

    /// The name that MCP Hangar has given to `allow_degraded` since its release 1.2.1. Both mean the same.
    pub const ALLOW_ALIAS: &'static str = "allow_unverified";

    /// The word for it in every format.
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

/// The level from which on a change can fail the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailOn {
    /// None does.
    None,
    /// `breaking`
    Breaking,
    /// `risky` and worse
    Risky,
    /// `additive` and worse
    Additive,
    /// Every change.
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

/// What `[policy.rules]` says of one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleSetting {
    /// The action for every change of this rule.
    Action(Action),
    /// The level that every change of this rule counts as.
    Level(Level),
}

impl RuleSetting {
    /// The words that may stand there.
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

/// The whole policy.
#[derive(Clone, Debug)]
pub struct Policy {
    /// For known components.
    pub enforcement: Enforcement,
    /// For unknown ones; none means as `enforcement`.
    pub unknown: Option<Unknown>,
    /// Threshold on the level.
    pub fail_on: FailOn,
    /// Threshold on the exposure; `None` means that exposure alone never fails.
    pub fail_on_exposure: Exposure,
    /// Whether drift needs a version that says so.
    pub require_version_bump: bool,
    /// Single rules.
    pub rules: BTreeMap<RuleId, RuleSetting>,
    /// Accepted changes.
    pub accept: Vec<Acceptance>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            enforcement: Enforcement::Block,
            unknown: None,
            fail_on: FailOn::Any,
            fail_on_exposure: Exposure::None,
            require_version_bump: false,
            rules: BTreeMap::new(),
            accept: Vec::new(),
        }
    }
}

/// A change together with what happens because of it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The change; its level may have been set by the policy.
    pub change: Change,
    /// Its identity.
    pub id: String,
    /// What happens.
    pub action: Action,
    /// What would have happened under `enforcement = "block"`.
    pub would_block: bool,
}

/// What a run says in one word. Ordered: over several servers the greatest counts. Drift that blocks is certain, so
/// it stands above a server that could not be captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Nothing to do.
    Pass,
    /// Something to look at.
    Warn,
    /// A server could not be captured: nothing is claimed of it.
    Undetermined,
    /// The check fails.
    Block,
}

keyword_enum!(Verdict { Pass = "pass", Warn = "warn", Undetermined = "undetermined", Block = "block" });

impl Policy {
    /// Judges the changes of one server.
    pub fn judge(&self, server: &str, changes: Vec<Change>, today: Date) -> Vec<Judged> {
        changes
            .into_iter()
            .map(|mut change| {
                // The identity is taken before the policy speaks: setting a level must not orphan an acceptance.
                let id = change.id(server);
                if let Some(RuleSetting::Level(level)) = self.rules.get(&change.rule) {
                    change.level = *level;
                }
                let accepted = self
                    .accept
                    .iter()
                    .any(|it| it.change == id && !it.is_expired(today));
                let (action, would_block) = if accepted {
                    (Action::Accepted, false)
                } else {
                    (
                        self.action(&change, self.enforcement),
                        self.action(&change, Enforcement::Block) == Action::Block,
                    )
                };
                Judged {
                    change,
                    id,
                    action,
                    would_block,
                }
            })
            .collect()
    }

    /// What happens because of a change, if enforcement is this.
    fn action(&self, change: &Change, enforcement: Enforcement) -> Action {
        let reached = self.fail_on.reached_by(change.level)
            || (self.fail_on_exposure != Exposure::None
                && change.exposure >= self.fail_on_exposure);
        if !reached {
            return Action::Audit;
        }
        let unknown = self
            .unknown
            .filter(|_| change.rule.is_about_unknown())
            .map(Unknown::action);
        let by_default = unknown.unwrap_or(enforcement.action());
        let action = self.set_action(change).unwrap_or(by_default);
        match enforcement {
            Enforcement::Audit => action.min(by_default),
            _ => action,
        }
    }

    fn set_action(&self, change: &Change) -> Option<Action> {
        match self.rules.get(&change.rule) {
            Some(RuleSetting::Action(action)) => Some(*action),
            _ => None,
        }
    }

    /// What happens because of a finding: what the policy says of its rule, or else what the rule does by default.
    pub fn judge_note(&self, note: &Note) -> Action {
        let wanted = match self.rules.get(&note.rule) {
            Some(RuleSetting::Action(action)) => *action,
            Some(RuleSetting::Level(level)) if self.fail_on.reached_by(*level) => Action::Block,
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

    /// Whether a capture that is unreliable for this reason is compared all the same, as far as it stands still. Unless
    /// the policy says so of the rule, nothing is claimed about such a server, whatever the enforcement.
    pub fn tolerates(&self, rule: RuleId) -> bool {
        match self.rules.get(&rule) {
            Some(RuleSetting::Action(action)) => *action < Action::Block,
            Some(RuleSetting::Level(level)) => !self.fail_on.reached_by(*level),
            None => false,
        }
    }

    /// Notes about the acceptances themselves: those that have expired, and those that match nothing unless a change
    /// has the id beside the note.
    pub fn acceptance_notes(&self, today: Date) -> Vec<(Note, Option<String>)> {
        let note = |acceptance: &Acceptance| {
            let Acceptance {
                change,
                line,
                owner,
                ..
            } = acceptance;
            let (rule, message) = if acceptance.is_expired(today) {
                let message = sentences::acceptance_expired(change, *line, owner);
                (RuleId::AcceptanceExpired, message)
            } else {
                let message = sentences::acceptance_unused(change, *line, owner);
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
        self.accept.iter().map(note).collect()
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
    /// The action that it stands for.
    pub fn action(self) -> Action {
        match self {
            Enforcement::Audit => Action::Audit,
            Enforcement::Warn => Action::Warn,
            Enforcement::Block => Action::Block,
        }
    }
}

/// The verdict over all actions of a run.
pub fn verdict(actions: impl IntoIterator<Item = Action>) -> Verdict {
    match actions.into_iter().max() {
        Some(Action::Block) => Verdict::Block,
        Some(Action::Warn) => Verdict::Warn,
        _ => Verdict::Pass,
    }
}

#[cfg(test)]
mod tests;
