//! Limits of numbers, lengths and counts, patterns and formats.

use super::keywords::same_option;
use super::{Effect, Place, Walker};
use crate::canonical::{Decimal, Json, Object};
use crate::judgement::{Exposure, Level};
use crate::schema::phrases::{keyword_change, keyword_changed, keyword_without_effect, shown};
use crate::schema::{Family, Side};
use json_schema_subsume::bounds_of;
use json_schema_subsume::document::Draft;
use json_schema_subsume::kinds::{JsonKind, Kinds};
use json_schema_subsume::value::{as_count, as_i64};

/// Limits of counts, and whether they are lower limits.
const COUNTS: &[(&str, bool)] = &[
    ("minLength", true),
    ("maxLength", false),
    ("minItems", true),
    ("maxItems", false),
    ("minProperties", true),
    ("maxProperties", false),
    ("minContains", true),
    ("maxContains", false),
];

/// The tightest lower or upper limit of a number.
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

    /// The first integer inside.
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

    /// Whether everything inside `self` is inside `other`; for integers only, if that is what they
    /// limit.
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
        .is_some_and(|types| !Kinds::of_keyword(types).has(JsonKind::Fraction))
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
            let limit = |bound: &'_ Option<Bound>| -> Option<(&'static str, Json)> {
                let bound = bound.as_ref()?;
                let keyword = if bound.exclusive { exclusive } else { plain };
                Some((keyword, bound.number.clone()))
            };
            let (from, to) = (limit(&was), limit(&is));
            let from = from.as_ref().map(|(keyword, number)| (*keyword, number));
            let to = to.as_ref().map(|(keyword, number)| (*keyword, number));
            finding.effect = effect;
            finding.level_if_safe = Level::Additive;
            let safe = |bound: &Option<Bound>| {
                bound.as_ref().is_some_and(|bound| {
                    matches!(&bound.number, Json::Number(number) if number.literal().trim_start_matches('-') == "9007199254740991")
                })
            };
            let moved = |here| {
                let limit = if safe(&was) || safe(&is) {
                    " (JavaScript's limit of exact integers, which generators add on their own)"
                } else {
                    ""
                };
                format!("{here}: {}{limit}", bound_moved(from, to))
            };
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
                        format!("{}: {} (same limit)", self.at(place), bound_moved(from, to));
                }
                Effect::Widens => {
                    finding.family = Family::BoundLoosened;
                    finding.message = moved(self.at(place));
                    finding.exposure = Exposure::Low;
                }
                Effect::Either => {
                    finding.family = Family::SchemaUnclassified;
                    finding.message = format!(
                        "{}: {} (not a number)",
                        self.at(place),
                        keyword_change(keyword, old.get(keyword), new.get(keyword))
                    );
                }
                Effect::Narrows => {
                    finding.message = moved(self.at(place));
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
        finding.message = keyword_changed(self.at(place), "multipleOf", was, is);
        self.push(finding, place);
    }

    pub(super) fn counts(&mut self, old: &Object, new: &Object, place: &Place) {
        for (keyword, lower) in COUNTS {
            let (was, is) = (old.get(keyword), new.get(keyword));
            if was == is {
                continue;
            }
            if same_option(was, is) {
                self.spelling = true;
                continue;
            }
            let at = place.clone().token(keyword);
            // Without a count, `contains` asks for one.
            let contained = old.contains("contains") || new.contains("contains");
            let least = u64::from(*keyword == "minContains" && contained);
            let limit = |value: Option<&Json>| match value {
                None => Some(if *lower { least } else { u64::MAX }),
                Some(value) => as_count(value),
            };
            let mut finding = self.finding(Family::BoundTightened, &at);
            finding.old = was.cloned();
            finding.new = is.cloned();
            finding.level_if_safe = Level::Additive;
            let effect = match (limit(was), limit(is)) {
                (Some(was), Some(is)) if was == is => Effect::Neutral,
                (Some(was), Some(is)) if (was < is) == *lower => Effect::Narrows,
                (Some(_), Some(_)) => Effect::Widens,
                _ => Effect::Either,
            };
            finding.message = keyword_changed(self.at(place), keyword, was, is);
            match effect {
                Effect::Neutral => {
                    finding.family = Family::EquivalentRestructured;
                    finding.level_if_safe = Level::Cosmetic;
                    finding.message = keyword_without_effect(self.at(place), keyword, was, is);
                }
                Effect::Widens => {
                    finding.family = Family::BoundLoosened;
                    finding.exposure = Exposure::Low;
                }
                _ => {}
            }
            finding.effect = effect;
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
            let mut finding = self.finding(Family::ContentChanged, &at);
            finding.message = keyword_changed(self.at(place), keyword, was, is);
            finding.old = was.cloned();
            finding.new = is.cloned();
            let (added, removed) = (was.is_none(), is.is_none());
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
                    finding.family = if added {
                        Family::PatternAdded
                    } else if removed {
                        Family::PatternRemoved
                    } else {
                        Family::PatternChanged
                    };
                }
                "format" => {
                    // An annotation: nothing breaks by it, but validators that assert it reject.
                    let asked = match self.side {
                        Side::Input => !removed,
                        Side::Output => !added,
                    };
                    if asked {
                        finding.level_if_safe = Level::Risky;
                    }
                    finding.family = if added {
                        Family::FormatAdded
                    } else if removed {
                        Family::FormatRemoved
                    } else {
                        Family::FormatChanged
                    };
                }
                // Since 2019 these describe and do not constrain.
                _ => finding.level_if_safe = Level::Risky,
            }
            self.push(finding, place);
        }
    }
}

/// A limit of numbers: its keyword and its value.
type Limit<'a> = Option<(&'a str, &'a Json)>;

/// `maximum 10 → 7`, `maximum 10 → exclusiveMaximum 10`
fn bound_moved(old: Limit<'_>, new: Limit<'_>) -> String {
    match (old, new) {
        (Some((was, old)), Some((is, new))) if was != is => {
            format!("{was} {} → {is} {}", shown(old), shown(new))
        }
        (Some((keyword, _)), _) | (None, Some((keyword, _))) => keyword_change(
            keyword,
            old.map(|(_, number)| number),
            new.map(|(_, number)| number),
        ),
        (None, None) => String::new(),
    }
}
