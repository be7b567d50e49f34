//! The rules: each defined once, with its id, its texts and its properties.
//!
//! One table generates [`RuleId`], [`Family`] and [`Rule`]; its entries are in the files of this
//! directory, one file per subject. `rules`, `explain`, `docs/rules.md`, the table of default
//! actions in `docs/policy.md`, the configuration and every report format read it. A rule's id is
//! written there and nowhere else.

mod component;
mod conformance;
mod containment;
mod finding;
mod pin;
mod protocol;
mod scan;
mod schema;
mod server;
mod skill;
mod stability;
mod tool;

use std::sync::LazyLock;

use serde::Serialize;

use crate::canonical::Text;
use crate::judgement::{Exposure, Level};

/// What a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A difference between two surfaces.
    Change,
    /// Something noticed in one surface or in the policy: reported, but not drift.
    Finding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// `inputSchema`: old calls must still be accepted.
    Input,
    /// `outputSchema`: new results must still satisfy the old schema.
    Output,
}

/// What the program needs to know about a rule besides its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// It is about a component or a server that is not in the baseline.
    Unknown,
    /// Its component was removed.
    Removed,
    /// It is about a tool's input schema as a whole.
    Input,
    /// It is about a tool's output schema as a whole.
    Output,
    /// It is about what a model provider accepts.
    Provider,
    /// A finding that warns by default.
    Warns,
    /// A finding that follows the enforcement, as a change does.
    Blocks,
    /// A finding that follows the enforcement where the policy demands a version that says what the drift does.
    RequiredBump,
    /// A finding that leaves the server undetermined, unless the policy tolerates it.
    Undetermined,
}

/// The action of a rule that `[policy.rules]` does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultAction {
    /// As `enforcement`.
    Enforcement,
    /// As `unknown`, or else `enforcement`.
    Unknown,
    /// As `enforcement` under `require-version-bump`; else reported only.
    RequiredBump,
    /// No verdict about the server.
    Undetermined,
    Warn,
    /// Reported only.
    Audit,
}

#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Never changes.
    pub id: RuleId,
    pub subject: Subject,
    /// One line.
    pub summary: &'static str,
    /// The usual effect on callers; each change has its own level.
    pub level: Level,
    /// The usual effect on the people who approved the server.
    pub exposure: Exposure,
    /// Why it matters.
    pub rationale: &'static str,
    /// What to do.
    pub advice: &'static str,
    /// A pair in which it fires.
    pub example: Example,
    tags: &'static [Tag],
}

/// A pair of sources in which a rule fires.
#[derive(Clone, Copy, Debug)]
pub enum Example {
    /// Two captures, as in `fixtures/rules/<id>/`.
    Surfaces {
        old: &'static str,
        new: &'static str,
    },
    /// Two schemas of a tool that is otherwise the same, on the rule's side.
    Schemas {
        old: &'static str,
        new: &'static str,
    },
    /// It is about the configuration or the run, not about a surface.
    Elsewhere(&'static str),
}

/// The example of a rule: its own sentence, or else the pair of files in `fixtures/rules/<id>/`.
macro_rules! example {
    ($id:literal, $text:literal) => {
        Example::Elsewhere($text)
    };
    ($id:literal,) => {
        Example::Surfaces {
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
        }
    };
}

/// Generates [`RuleId`], [`Family`] and the table of rules. An entry is
///
/// ```text
/// "the-id" TheId [Tags] Subject Level Exposure, "summary", "rationale", "advice";
/// ```
///
/// with one more text if no pair of captures can show the rule. A family of schema rules is
///
/// ```text
/// "family" Family, old schema => new schema,
///     input InputFamily: Level Exposure "summary", "rationale", "advice";
///     output OutputFamily: Level Exposure "summary", "rationale", "advice";
/// ```
///
/// and one that only applies to arguments ends in `otherwise Family;`, the family of the same
/// change in results.
macro_rules! define_rules {
    (
        { $(
            $id:literal $rule:ident [$($tag:ident)*] $subject:ident $level:ident $exposure:ident,
            $summary:literal, $rationale:literal, $advice:expr $(, $example:literal)?;
        )* }
        { $(
            $name:literal $family:ident, $old:literal => $new:literal,
            input $in_rule:ident: $in_level:ident $in_exposure:ident
                $in_summary:literal, $in_rationale:literal, $in_advice:literal;
            $(output $out_rule:ident: $out_level:ident $out_exposure:ident
                $out_summary:literal, $out_rationale:literal, $out_advice:literal;)?
            $(otherwise $other:ident;)?
        )* }
    ) => {
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub enum RuleId {
            $(#[doc = $summary] $rule,)*
            $(#[doc = $in_summary] $in_rule, $(#[doc = $out_summary] $out_rule,)?)*
        }

        impl RuleId {
            /// Its id in configurations, reports and documents.
            pub const fn id(self) -> &'static str {
                match self {
                    $(Self::$rule => $id,)*
                    $(
                        Self::$in_rule => concat!("input-", $name),
                        $(Self::$out_rule => concat!("output-", $name),)?
                    )*
                }
            }

            /// Which of a tool's schemas it is about, if any.
            pub fn side(self) -> Option<Side> {
                match self {
                    $(Self::$in_rule => Some(Side::Input), $(Self::$out_rule => Some(Side::Output),)?)*
                    _ if self.has(Tag::Input) => Some(Side::Input),
                    _ if self.has(Tag::Output) => Some(Side::Output),
                    _ => None,
                }
            }
        }

        /// What happened to a schema on either side: a rule for arguments and, with few exceptions,
        /// one for results.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Family {
            $(#[doc = concat!("`", $name, "`")] $family,)*
        }

        impl Family {
            pub fn rule(self, side: Side) -> RuleId {
                match (self, side) {
                    $(
                        (Self::$family, Side::Input) => RuleId::$in_rule,
                        $((Self::$family, Side::Output) => RuleId::$out_rule,)?
                        $((Self::$family, Side::Output) => Self::$other.rule(side),)?
                    )*
                }
            }
        }

        /// In the order of [`RuleId`].
        static TABLE: &[Rule] = &[
            $(Rule {
                id: RuleId::$rule,
                subject: Subject::$subject,
                summary: $summary,
                level: Level::$level,
                exposure: Exposure::$exposure,
                rationale: $rationale,
                advice: $advice,
                example: example!($id, $($example)?),
                tags: &[$(Tag::$tag),*],
            },)*
            $(
                Rule {
                    id: RuleId::$in_rule,
                    subject: Subject::Change,
                    summary: $in_summary,
                    level: Level::$in_level,
                    exposure: Exposure::$in_exposure,
                    rationale: $in_rationale,
                    advice: $in_advice,
                    example: Example::Schemas { old: $old, new: $new },
                    tags: &[],
                },
                $(Rule {
                    id: RuleId::$out_rule,
                    subject: Subject::Change,
                    summary: $out_summary,
                    level: Level::$out_level,
                    exposure: Exposure::$out_exposure,
                    rationale: $out_rationale,
                    advice: $out_advice,
                    example: Example::Schemas { old: $old, new: $new },
                    tags: &[],
                },)?
            )*
        ];
    };
}

use component::component_rules;
use conformance::conformance_rules;
use containment::containment_rules;
use finding::finding_rules;
use pin::pin_rules;
use protocol::protocol_rules;
use scan::scan_rules;
use schema::{
    annotation_families, member_families, structure_families, type_families, value_families,
};
use server::server_rules;
use skill::skill_rules;
use stability::stability_rules;
use tool::tool_rules;

// Each file adds its entries and passes all of them to the next.
server_rules! { {} {}
    tool_rules component_rules skill_rules conformance_rules finding_rules stability_rules containment_rules pin_rules scan_rules
    protocol_rules
    member_families type_families value_families structure_families annotation_families
    define_rules
}

impl RuleId {
    /// All ids, in alphabetical order.
    pub fn all() -> impl Iterator<Item = Self> {
        SORTED.iter().map(|rule| rule.id)
    }

    pub fn rule(self) -> &'static Rule {
        &TABLE[self as usize]
    }

    pub fn subject(self) -> Subject {
        self.rule().subject
    }

    /// Whether it is about a component or a server that is not in the baseline.
    pub fn is_about_unknown(self) -> bool {
        self.has(Tag::Unknown)
    }

    /// Whether its component is no longer listed.
    pub fn removes_component(self) -> bool {
        self.has(Tag::Removed)
    }

    /// Whether it is about what a model provider accepts.
    pub fn is_of_provider(self) -> bool {
        self.has(Tag::Provider)
    }

    /// Its action unless `[policy.rules]` names it.
    pub fn default_action(self) -> DefaultAction {
        let by_tag = self.rule().tags.iter().find_map(|tag| match tag {
            Tag::Unknown => Some(DefaultAction::Unknown),
            Tag::RequiredBump => Some(DefaultAction::RequiredBump),
            Tag::Undetermined => Some(DefaultAction::Undetermined),
            Tag::Warns => Some(DefaultAction::Warn),
            Tag::Blocks => Some(DefaultAction::Enforcement),
            Tag::Removed | Tag::Input | Tag::Output | Tag::Provider => None,
        });
        by_tag.unwrap_or(match self.subject() {
            Subject::Change => DefaultAction::Enforcement,
            Subject::Finding => DefaultAction::Audit,
        })
    }

    fn has(self, tag: Tag) -> bool {
        self.rule().tags.contains(&tag)
    }
}

impl Ord for RuleId {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.id().cmp(other.id())
    }
}

impl PartialOrd for RuleId {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl std::fmt::Display for RuleId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.id())
    }
}

impl std::fmt::Debug for RuleId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id())
    }
}

impl std::str::FromStr for RuleId {
    type Err = UnknownRule;

    fn from_str(id: &str) -> Result<Self, UnknownRule> {
        let found = SORTED.binary_search_by_key(&id, |rule| rule.id.id());
        found.map(|at| SORTED[at].id).map_err(|_| UnknownRule)
    }
}

impl From<RuleId> for Text {
    fn from(rule: RuleId) -> Self {
        rule.id().into()
    }
}

impl Serialize for RuleId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

/// No rule has this id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownRule;

static SORTED: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
    let mut rules: Vec<&Rule> = TABLE.iter().collect();
    rules.sort_by_key(|rule| rule.id);
    rules
});

pub fn all() -> impl Iterator<Item = &'static Rule> {
    SORTED.iter().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_found_by_its_id() {
        for rule in all() {
            assert_eq!(rule.id.id().parse(), Ok(rule.id));
            assert_eq!(rule.id.rule().id, rule.id);
        }
        assert_eq!("tool-remove".parse::<RuleId>(), Err(UnknownRule));
    }

    #[test]
    fn rules_are_sorted_by_id() {
        let ids: Vec<&str> = all().map(|rule| rule.id.id()).collect();
        assert!(ids.is_sorted_by(|one, other| one < other), "{ids:?}");
        assert!(RuleId::ToolAdded < RuleId::ToolRemoved);
    }
}
