//! Limits of numbers, lengths and counts, patterns and formats.

use super::keywords::same_option;
use super::{Effect, Place, Walker, shown};
use crate::canonical::{Decimal, Json, Object};
use crate::judgement::{Exposure, Level};
use crate::schema::document::Draft;
use crate::schema::kinds::{Kind, Kinds};
use crate::schema::solve::bounds_of;
use crate::schema::value::{as_count, as_i64};
use crate::schema::{Family, Side};

const COUNTS: &[(&str, bool, &str)] = &[
    ("minLength", true, "length"),
    ("maxLength", false, "length"),
    ("minItems", true, "number of items"),
    ("maxItems", false, "number of items"),
    ("minProperties", true, "number of members"),
    ("maxProperties", false, "number of members"),
    ("minContains", true, "number of matching items"),
    ("maxContains", false, "number of matching items"),
];

/// The tightest limit of a number, from below or above.
struct Bound {
    number: Json,
    value: Decimal,
    exclusive: bool,
}

impl Bound {
    fn of(node: &Object, lower: bool, draft: Draft) -> Option<Self> {
        bounds_of(node, lower, draft)
            .into_iter()
            .map(|(number, exclusive)| Self {
                number: Json::Number(number.clone()),
                value: number.decimal(),
                exclusive,
            })
            .reduce(|one, other| {
                if other.within(&one, lower, false) {
                    other
                } else {
                    one
                }
            })
    }

    /// The first whole number inside.
    fn whole(&self, lower: bool) -> Option<i64> {
        let Json::Number(number) = &self.number else {
            return None;
        };
        let value = as_i64(number)?;
        match (self.exclusive, lower) {
            (false, _) => Some(value),
            (true, true) => value.checked_add(1),
            (true, false) => value.checked_sub(1),
        }
    }

    /// Whether everything inside `self` is inside `other`; for whole numbers only, if that is what they limit.
    fn within(&self, other: &Self, lower: bool, whole: bool) -> bool {
        if whole && let (Some(mine), Some(theirs)) = (self.whole(lower), other.whole(lower)) {
            return if lower {
                mine >= theirs
            } else {
                mine <= theirs
            };
        }
        let beyond = if lower {
            self.value > other.value
        } else {
            self.value < other.value
        };
        beyond || (self.value == other.value && (self.exclusive || !other.exclusive))
    }
}

fn whole_only(node: &Object) -> bool {
    node.get("type")
        .is_some_and(|types| !Kinds::of_keyword(types).has(Kind::Fraction))
}

impl Walker<'_> {
    pub(super) fn bounds(&mut self, old: &Object, new: &Object, place: &Place) {
        for lower in [true, false] {
            let (plain, exclusive) = if lower {
                ("minimum", "exclusiveMinimum")
            } else {
                ("maximum", "exclusiveMaximum")
            };
            if old.get(plain) == new.get(plain) && old.get(exclusive) == new.get(exclusive) {
                continue;
            }
            let (was, is) = (
                Bound::of(old, lower, self.old.draft),
                Bound::of(new, lower, self.new.draft),
            );
            let keyword = if new.contains(exclusive) && old.get(plain) == new.get(plain) {
                exclusive
            } else if new.contains(plain) || old.contains(plain) {
                plain
            } else {
                exclusive
            };
            let at = place.clone().token(keyword);
            let mut finding = self.finding(Family::BoundTightened, &at);
            finding.old = old.get(keyword).cloned();
            finding.new = new.get(keyword).cloned();
            let called = self.called(place);
            let side = if lower { "lower" } else { "upper" };
            let effect = match (&was, &is) {
                (None, Some(_)) => Effect::Narrows,
                (Some(_), None) => Effect::Widens,
                (Some(was), Some(is)) => {
                    let whole = whole_only(old) && whole_only(new);
                    match (was.within(is, lower, whole), is.within(was, lower, whole)) {
                        (true, true) => Effect::Neutral,
                        (true, false) => Effect::Widens,
                        (false, _) => Effect::Narrows,
                    }
                }
                (None, None) => Effect::Either,
            };
            let word = |bound: &Option<Bound>| match bound {
                Some(bound) if bound.exclusive => format!("beyond {}", bound.number),
                Some(bound) => bound.number.to_string(),
                None => "none".to_owned(),
            };
            finding.effect = effect;
            finding.level_if_safe = Level::Additive;
            let mut moved = format!("from {} to {}", word(&was), word(&is));
            let safe = |bound: &Option<Bound>| {
                bound.as_ref().is_some_and(|it| {
                    matches!(&it.number, Json::Number(number) if number.literal().trim_start_matches('-') == "9007199254740991")
                })
            };
            if safe(&was) || safe(&is) {
                moved.push_str(
                    ", the limit of exact integers in JavaScript, which generators add by themselves",
                );
            }
            match effect {
                Effect::Neutral => {
                    if same_option(old.get(plain), new.get(plain))
                        && same_option(old.get(exclusive), new.get(exclusive))
                    {
                        self.spelling = true;
                        continue;
                    }
                    finding.family = Family::EquivalentRestructured;
                    finding.level_if_safe = Level::Cosmetic;
                    finding.message =
                        format!("the {side} bound of {called} is spelled differently");
                }
                Effect::Widens => {
                    finding.family = Family::BoundLoosened;
                    finding.message = format!("the {side} bound of {called} was loosened {moved}");
                    finding.exposure = Exposure::Low;
                }
                Effect::Either => {
                    finding.family = Family::SchemaUnclassified;
                    finding.message = format!("the {side} bound of {called} is not a number");
                }
                Effect::Narrows => {
                    finding.message = format!("the {side} bound of {called} was tightened {moved}");
                }
            }
            self.push(finding, place);
        }
        self.multiple(old, new, place);
    }

    fn multiple(&mut self, old: &Object, new: &Object, place: &Place) {
        let (was, is) = (old.get("multipleOf"), new.get("multipleOf"));
        if was == is {
            return;
        }
        if same_option(was, is) {
            self.spelling = true;
            return;
        }
        let at = place.clone().token("multipleOf");
        let mut finding = self.finding(Family::BoundTightened, &at);
        finding.old = was.cloned();
        finding.new = is.cloned();
        finding.level_if_safe = Level::Additive;
        finding.effect = match (was, is) {
            (None, _) => Effect::Narrows,
            (_, None) => Effect::Widens,
            _ => Effect::Either,
        };
        if finding.effect == Effect::Widens {
            finding.family = Family::BoundLoosened;
        }
        let word = |it: Option<&Json>| {
            it.map_or_else(
                || "any number".to_owned(),
                |it| format!("a multiple of {it}"),
            )
        };
        finding.message = format!(
            "{} was {} and is {} now",
            self.called(place),
            word(was),
            word(is)
        );
        self.push(finding, place);
    }

    pub(super) fn counts(&mut self, old: &Object, new: &Object, place: &Place) {
        for (keyword, lower, what) in COUNTS {
            let (was, is) = (old.get(keyword), new.get(keyword));
            if was == is {
                continue;
            }
            if same_option(was, is) {
                self.spelling = true;
                continue;
            }
            let at = place.clone().token(keyword);
            let limit = |value: Option<&Json>| match value {
                None => Some(if *lower { 0 } else { u64::MAX }),
                Some(value) => as_count(value),
            };
            let called = self.called(place);
            let mut finding = self.finding(Family::BoundTightened, &at);
            finding.old = was.cloned();
            finding.new = is.cloned();
            finding.level_if_safe = Level::Additive;
            let word =
                |value: Option<&Json>| value.map_or_else(|| "none".to_owned(), Json::to_string);
            let side = if *lower { "smallest" } else { "greatest" };
            let (verb, effect) = match (limit(was), limit(is)) {
                (Some(was), Some(is)) if was == is => ("is spelled differently", Effect::Neutral),
                (Some(was), Some(is)) if (was < is) == *lower => ("was tightened", Effect::Narrows),
                (Some(_), Some(_)) => ("was loosened", Effect::Widens),
                _ => ("changed", Effect::Either),
            };
            match effect {
                Effect::Neutral => {
                    finding.family = Family::EquivalentRestructured;
                    finding.level_if_safe = Level::Cosmetic;
                }
                Effect::Widens => {
                    finding.family = Family::BoundLoosened;
                    finding.exposure = Exposure::Low;
                }
                _ => {}
            }
            finding.effect = effect;
            finding.message = format!(
                "the {side} {what} of {called} {verb}, from {} to {}",
                word(was),
                word(is)
            );
            self.push(finding, place);
        }
    }

    pub(super) fn texts(&mut self, old: &Object, new: &Object, place: &Place) {
        for keyword in [
            "pattern",
            "format",
            "contentEncoding",
            "contentMediaType",
            "contentSchema",
        ] {
            let (was, is) = (old.get(keyword), new.get(keyword));
            if was == is {
                continue;
            }
            let at = place.clone().token(keyword);
            let called = self.called(place);
            let mut finding = self.finding(Family::ContentChanged, &at);
            finding.old = was.cloned();
            finding.new = is.cloned();
            let (added, removed) = (was.is_none(), is.is_none());
            let word = |it: Option<&Json>| it.map(shown).unwrap_or_default();
            finding.effect = if added {
                Effect::Narrows
            } else if removed {
                Effect::Widens
            } else {
                Effect::Either
            };
            finding.level_if_safe = Level::Additive;
            match keyword {
                "pattern" => {
                    (finding.family, finding.message) = if added {
                        (
                            Family::PatternAdded,
                            format!("{called} must match {} now", word(is)),
                        )
                    } else if removed {
                        (
                            Family::PatternRemoved,
                            format!("{called} no longer has to match {}", word(was)),
                        )
                    } else {
                        (
                            Family::PatternChanged,
                            format!(
                                "{called} must match {} now, and had to match {}",
                                word(is),
                                word(was)
                            ),
                        )
                    };
                }
                "format" => {
                    // An annotation: nothing breaks by it, and validators that assert it refuse.
                    let asked = match self.side {
                        Side::Input => !removed,
                        Side::Output => !added,
                    };
                    if asked {
                        finding.level_if_safe = Level::Risky;
                    }
                    (finding.family, finding.message) = if added {
                        (
                            Family::FormatAdded,
                            format!("{called} has the format {} now", word(is)),
                        )
                    } else if removed {
                        (
                            Family::FormatRemoved,
                            format!("{called} no longer has the format {}", word(was)),
                        )
                    } else {
                        (
                            Family::FormatChanged,
                            format!(
                                "{called} has the format {} now, and had {}",
                                word(is),
                                word(was)
                            ),
                        )
                    };
                }
                _ => {
                    finding.message = format!("`{keyword}` of {called} changed");
                    // From 2019 on these describe and do not constrain.
                    finding.level_if_safe = Level::Risky;
                }
            }
            self.push(finding, place);
        }
    }
}
