//! The rule catalogue: every rule once, with its reasons. `rules`, `explain`, `docs/rules.md`, the configuration and
//! every report format read this table.

mod component;
mod containment;
mod finding;
mod pin;
mod scan;
mod server;
mod stability;
mod tool;

use std::sync::LazyLock;

use crate::judgement::{Exposure, Level};

/// What a rule speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A difference between two surfaces.
    Change,
    /// Something noticed in one surface, or in the policy: reported, never drift.
    Finding,
}

/// One rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name, stable for ever.
    pub id: &'static str,
    /// What it speaks of.
    pub subject: Subject,
    /// One line.
    pub summary: &'static str,
    /// What such a change usually does to callers. The change itself says what it does in its case.
    pub level: Level,
    /// What it usually does to those who approved the server.
    pub exposure: Exposure,
    /// Why it matters.
    pub rationale: &'static str,
    /// What to do.
    pub advice: &'static str,
    /// A pair in which it fires.
    pub example: Example,
}

/// A pair of sources in which a rule fires.
#[derive(Clone, Copy, Debug)]
pub enum Example {
    /// Two captures, as in `fixtures/rules/<id>/`.
    Surfaces {
        /// The old one.
        old: &'static str,
        /// The new one.
        new: &'static str,
    },
    /// Two schemas of a tool that is otherwise the same: `inputSchema` for the rules that begin with `input-`,
    /// `outputSchema` for the others.
    Schemas {
        /// The old one.
        old: &'static str,
        /// The new one.
        new: &'static str,
    },
    /// It speaks of the configuration or of the run, not of a surface.
    Elsewhere(&'static str),
}

/// A rule whose example is the pair of files under `fixtures/rules/<id>/`.
macro_rules! rule {
    ($subject:ident $id:literal, $level:ident, $exposure:ident, $summary:expr, $rationale:expr, $advice:expr $(,)?) => {
        $crate::drift::catalogue::Rule {
            id: $id,
            subject: $crate::drift::catalogue::Subject::$subject,
            summary: $summary,
            level: $crate::judgement::Level::$level,
            exposure: $crate::judgement::Exposure::$exposure,
            rationale: $rationale,
            advice: $advice,
            example: $crate::drift::catalogue::Example::Surfaces {
                old: include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/fixtures/rules/",
                    $id,
                    "/old.json"
                )),
                new: include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/fixtures/rules/",
                    $id,
                    "/new.json"
                )),
            },
        }
    };
}
use rule;

static ALL: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let mut rules: Vec<Rule> = [
        server::RULES,
        tool::RULES,
        component::RULES,
        finding::RULES,
        stability::RULES,
        containment::RULES,
        pin::RULES,
        scan::RULES,
    ]
    .into_iter()
    .flatten()
    .copied()
    .collect();
    rules.extend(crate::schema::RULES.iter().map(|rule| Rule {
        id: rule.id,
        subject: Subject::Change,
        summary: rule.summary,
        level: rule.level,
        exposure: rule.exposure,
        rationale: rule.rationale,
        advice: rule.advice,
        example: Example::Schemas {
            old: rule.example_old,
            new: rule.example_new,
        },
    }));
    rules.sort_by_key(|rule| rule.id);
    rules
});

/// All rules, by id.
pub fn all() -> &'static [Rule] {
    &ALL
}

/// The rule of this id.
pub fn find(id: &str) -> Option<&'static Rule> {
    ALL.binary_search_by_key(&id, |rule| rule.id)
        .ok()
        .map(|index| &ALL[index])
}
