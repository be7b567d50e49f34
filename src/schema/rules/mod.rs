//! What each schema rule means: one table, read by `rules`, `explain`, the documentation and the reports.
//!
//! Input and output rules mirror each other, and their texts do not: for arguments it hurts when less is accepted
//! than before, for results when more can come back. Each family of rules has a file; every rule has an example
//! pair of schemas on which a test makes it fire.

mod annotations;
mod members;
mod structure;
mod types;
mod values;

use super::Side;
use crate::judgement::{Exposure, Level};

/// One rule of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// The stable id, `input-…` or `output-…`.
    pub id: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The level it usually has. The proof decides in each case.
    pub level: Level,
    /// The exposure it usually has.
    pub exposure: Exposure,
    /// What happens to a caller or to an agent.
    pub rationale: &'static str,
    /// A schema before a change that the rule describes.
    pub example_old: &'static str,
    /// The same schema after it.
    pub example_new: &'static str,
    /// What to do about it.
    pub advice: &'static str,
}

/// Both rules of a family. Texts that are the same for both sides are written once.
macro_rules! family {
    ($name:literal, $old:expr => $new:expr,
     input: $in_level:ident $in_exposure:ident $in_summary:expr, $in_rationale:expr, $in_advice:expr;
     output: $out_level:ident $out_exposure:ident $out_summary:expr, $out_rationale:expr, $out_advice:expr $(;)?) => {
        [
            $crate::schema::rules::RuleInfo {
                id: concat!("input-", $name),
                summary: $in_summary,
                level: $crate::judgement::Level::$in_level,
                exposure: $crate::judgement::Exposure::$in_exposure,
                rationale: $in_rationale,
                example_old: $old,
                example_new: $new,
                advice: $in_advice,
            },
            $crate::schema::rules::RuleInfo {
                id: concat!("output-", $name),
                summary: $out_summary,
                level: $crate::judgement::Level::$out_level,
                exposure: $crate::judgement::Exposure::$out_exposure,
                rationale: $out_rationale,
                example_old: $old,
                example_new: $new,
                advice: $out_advice,
            },
        ]
    };
}

use family;

const FAMILIES: usize = members::RULES.len()
    + types::RULES.len()
    + values::RULES.len()
    + structure::RULES.len()
    + annotations::RULES.len();

/// Two rules a family, and one that only arguments have.
const COUNT: usize = 2 * FAMILIES + 1;

const fn table() -> [RuleInfo; COUNT] {
    let lists: [&[[RuleInfo; 2]]; 5] = [
        members::RULES,
        types::RULES,
        values::RULES,
        structure::RULES,
        annotations::RULES,
    ];
    let mut all = [members::INPUT_ONLY; COUNT];
    let mut at = 0;
    let mut list = 0;
    while list < lists.len() {
        let mut index = 0;
        while index < lists[list].len() {
            all[at] = lists[list][index][0];
            all[at + 1] = lists[list][index][1];
            at += 2;
            index += 1;
        }
        list += 1;
    }
    all
}

const TABLE: [RuleInfo; COUNT] = table();

/// Every rule of this room.
pub const RULES: &[RuleInfo] = &TABLE;

/// The rule of this id.
pub fn rule(id: &str) -> Option<&'static RuleInfo> {
    RULES.iter().find(|rule| rule.id == id)
}

/// The id of a family's rule on one side.
pub(crate) fn id(side: Side, family: &str) -> &'static str {
    let prefix = match side {
        Side::Input => "input-",
        Side::Output => "output-",
    };
    RULES
        .iter()
        .map(|rule| rule.id)
        .find(|id| id.strip_prefix(prefix) == Some(family))
        .unwrap_or(match side {
            Side::Input => "input-schema-unclassified",
            Side::Output => "output-schema-unclassified",
        })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::canonical::parse_str;
    use crate::schema::compare;

    #[test]
    fn every_rule_fires_on_its_own_example() {
        let mut wrong = Vec::new();
        for rule in RULES {
            let side = if rule.id.starts_with("input-") {
                Side::Input
            } else {
                Side::Output
            };
            let old = parse_str(rule.example_old).expect(rule.id);
            let new = parse_str(rule.example_new).expect(rule.id);
            let found = compare(&old, &new, side);
            let judged = found
                .changes
                .iter()
                .find(|change| change.rule == rule.id)
                .map(|change| (change.level, change.exposure));
            if judged != Some((rule.level, rule.exposure)) {
                wrong.push(format!("{}: {judged:?} in {found:?}", rule.id));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn every_rule_has_one_id_and_real_prose() {
        let ids: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), RULES.len());
        for rule in RULES {
            assert!(rule.rationale.len() > 90, "{} needs a rationale", rule.id);
            assert!(rule.advice.len() >= 10, "{} needs advice", rule.id);
            assert!(rule.rationale.ends_with('.'), "{}", rule.id);
            assert!(!rule.summary.ends_with('.'), "{}", rule.id);
        }
    }
}
