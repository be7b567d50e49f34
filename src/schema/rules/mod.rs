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

/// Makes [`Family`], its ids and [`RULES`] of the entries of the files beside this one. An entry is
///
/// ```text
/// "family" Family, old example => new example,
///     input InputFamily: Level Exposure "summary", "rationale", "advice";
///     output OutputFamily: Level Exposure "summary", "rationale", "advice";
/// ```
///
/// A family that only arguments have ends in `otherwise Family;` instead: what the same change is called for results.
macro_rules! define_families {
    ({ $(
        $name:literal $family:ident, $old:literal => $new:literal,
        input $in_rule:ident: $in_level:ident $in_exposure:ident $in_summary:literal, $in_rationale:literal, $in_advice:literal;
        $(output $out_rule:ident: $out_level:ident $out_exposure:ident $out_summary:literal, $out_rationale:literal, $out_advice:literal;)?
        $(otherwise $other:ident;)?
    )* }) => {
        /// What happened to a schema, whichever side it is on. Each family is a rule for arguments, and nearly each one
        /// for results.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Family {
            $(#[doc = concat!("`", $name, "`")] $family,)*
        }

        impl Family {
            /// The id of its rule on this side.
            pub fn id(self, side: Side) -> &'static str {
                match (self, side) {
                    $(
                        (Self::$family, Side::Input) => concat!("input-", $name),
                        $((Self::$family, Side::Output) => { let _ = stringify!($out_rule); concat!("output-", $name) })?
                        $((Self::$family, Side::Output) => Self::$other.id(side),)?
                    )*
                }
            }
        }

        /// Every rule of this room.
        pub const RULES: &[RuleInfo] = &[$(
            RuleInfo {
                id: concat!("input-", $name),
                summary: $in_summary,
                level: Level::$in_level,
                exposure: Exposure::$in_exposure,
                rationale: $in_rationale,
                example_old: $old,
                example_new: $new,
                advice: $in_advice,
            },
            $(RuleInfo {
                id: concat!("output-", $name),
                summary: $out_summary,
                level: Level::$out_level,
                exposure: Exposure::$out_exposure,
                rationale: $out_rationale,
                example_old: $old,
                example_new: $new,
                advice: $out_advice,
            },)?
        )*];
    };
}

use annotations::annotation_families;
use members::member_families;
use structure::structure_families;
use types::type_families;
use values::value_families;

// Each file adds its entries and calls the next one.
member_families! { {} type_families value_families structure_families annotation_families define_families }

/// The rule of this id.
pub fn rule(id: &str) -> Option<&'static RuleInfo> {
    RULES.iter().find(|rule| rule.id == id)
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
