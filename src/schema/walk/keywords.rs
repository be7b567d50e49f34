//! Keywords that validators read, family by family.

use super::{Effect, Place, Walker};
use crate::canonical::{Json, Object};
use crate::judgement::{Exposure, Level};
use crate::schema::phrases::{keyword_changed, keyword_without_effect, shown_list};
use crate::schema::{Family, Side};
use json_schema_subsume::item_of;
use json_schema_subsume::keywords::{Holds, Topic, holds, topic};
use json_schema_subsume::kinds::Kinds;
use json_schema_subsume::value::{missing, same};

impl Walker<'_> {
    /// Compares everything but annotations.
    pub(super) fn keywords(&mut self, old: &Object, new: &Object, place: &Place) {
        self.type_keyword(old, new, place);
        // Without a common type the keywords of one type are irrelevant for the other: the change
        // of type carries both schemas and covers everything below.
        let kinds = |node: &Object| node.get("type").map_or(Kinds::ANY, Kinds::of_keyword);
        if kinds(old).and(kinds(new)).iter().next().is_none() {
            if let Some(finding) = self.findings.last_mut() {
                finding.old = Some(Json::Object(old.clone()));
                finding.new = Some(Json::Object(new.clone()));
            }
            return;
        }
        self.other_keywords(old, new, place);
    }

    fn other_keywords(&mut self, old: &Object, new: &Object, place: &Place) {
        self.values(old, new, place);
        self.bounds(old, new, place);
        self.counts(old, new, place);
        self.texts(old, new, place);
        self.members(old, new, place);
        self.items(old, new, place);
        for keyword in [
            "patternProperties",
            "propertyNames",
            "dependentRequired",
            "dependentSchemas",
            "dependencies",
        ] {
            if old.get(keyword) == new.get(keyword) {
                self.entered(keyword, old, new, place);
            } else {
                self.rare_members(keyword, old, new, place);
            }
        }
        self.composition(old, new, place);
        self.beside_reference(old, new, place);
        if old.get("nullable") != new.get("nullable") {
            let at = place.clone().token("nullable");
            let mut finding = self.finding(Family::EquivalentRestructured, &at);
            finding.message = keyword_without_effect(
                self.at(place),
                "nullable",
                old.get("nullable"),
                new.get("nullable"),
            );
            finding.old = old.get("nullable").cloned();
            finding.new = new.get("nullable").cloned();
            self.push(finding, place);
        }
    }

    fn type_keyword(&mut self, old: &Object, new: &Object, place: &Place) {
        let (was, is) = (old.get("type"), new.get("type"));
        if was == is {
            return;
        }
        let names = |value: Option<&Json>| -> Vec<String> {
            match value {
                Some(Json::Array(list)) => list
                    .iter()
                    .filter_map(Json::as_str)
                    .map(str::to_owned)
                    .collect(),
                Some(one) => one.as_str().map(str::to_owned).into_iter().collect(),
                None => Vec::new(),
            }
        };
        let node = |object: &Object| Json::Object(object.clone());
        self.types(&names(was), &names(is), &node(old), &node(new), place);
    }

    /// Compares two sets of type names; an empty one allows everything.
    pub(super) fn types(
        &mut self,
        was: &[String],
        is: &[String],
        old: &Json,
        new: &Json,
        place: &Place,
    ) {
        let kinds = |names: &[String]| {
            if names.is_empty() {
                Kinds::ANY
            } else {
                Kinds::of_keyword(&Json::Array(
                    names
                        .iter()
                        .map(|name| Json::string(name.as_str()))
                        .collect(),
                ))
            }
        };
        let (before, after) = (kinds(was), kinds(is));
        let here = self.at(place);
        let (family, effect) = if before == after {
            (Family::PropertyTypeChanged, Effect::Either)
        } else if before.and(after) == before {
            (Family::PropertyTypeWidened, Effect::Widens)
        } else if before.and(after) == after {
            (Family::PropertyTypeNarrowed, Effect::Narrows)
        } else {
            (Family::PropertyTypeChanged, Effect::Either)
        };
        // Arguments are an object, whatever the root says. A result may be any value.
        let root = self.side == Side::Input && place.old.is_empty() && place.name.is_empty();
        let mut finding = self.finding(family, place);
        if root && (was.is_empty() || is.is_empty()) {
            finding.family = Family::EquivalentRestructured;
            finding.effect = Effect::Neutral;
            finding.message = format!(
                "{here}: {} (no effect: it is always an object)",
                types_changed(was, is)
            );
        } else {
            finding.effect = effect;
            finding.message = if before == after {
                format!("{here}: type written differently")
            } else {
                format!("{here}: {}", types_changed(was, is))
            };
        }
        finding.level_if_safe = if finding.effect == Effect::Neutral {
            Level::Cosmetic
        } else {
            Level::Additive
        };
        finding.exposure = match effect {
            Effect::Widens => Exposure::Low,
            _ => Exposure::None,
        };
        // The same on both sides: what the sentence is about, or the schemas that imply it.
        (finding.old, finding.new) = match (old.get("type"), new.get("type")) {
            (None, None) => (Some(old.clone()), Some(new.clone())),
            (was, is) => (was.cloned(), is.cloned()),
        };
        self.push(finding, place);
    }

    fn values(&mut self, old: &Object, new: &Object, place: &Place) {
        let list = |node: &Object| -> Option<Vec<Json>> {
            match (node.get("const"), node.get("enum")) {
                (Some(value), _) => Some(vec![value.clone()]),
                (None, Some(Json::Array(values))) => Some(values.clone()),
                _ => None,
            }
        };
        let differs = |keyword| old.get(keyword) != new.get(keyword);
        if !differs("const") && !differs("enum") {
            return;
        }
        let (was, is) = (list(old), list(new));
        let here = self.at(place);
        let both_constant = old.contains("const") && new.contains("const");
        let keyword = if new.contains("enum") || old.contains("enum") {
            "enum"
        } else {
            "const"
        };
        let at = place.clone().token(keyword);
        let (gone, fresh) = match (&was, &is) {
            (Some(was), Some(is)) => (missing(was, is), missing(is, was)),
            (Some(was), None) => (Vec::new(), was.clone()),
            (None, Some(is)) => (is.clone(), Vec::new()),
            (None, None) => return,
        };
        let mut base = self.finding(Family::EnumValueRemoved, &at);
        base.old = old.get("enum").or_else(|| old.get("const")).cloned();
        base.new = new.get("enum").or_else(|| new.get("const")).cloned();
        base.level_if_safe = Level::Additive;
        if both_constant && !gone.is_empty() {
            base.family = Family::ConstChanged;
            base.message = format!(
                "{here}: const {} → {}",
                shown_list(&gone),
                shown_list(&fresh)
            );
            base.effect = Effect::Either;
            self.push(base, place);
            return;
        }
        match (&was, &is) {
            (None, Some(values)) => {
                base.message = format!(
                    "{here}: {keyword} {} added; other values are no longer allowed",
                    shown_list(values)
                );
                base.effect = Effect::Narrows;
                self.push(base, place);
            }
            (Some(values), None) => {
                base.family = Family::EnumValueAdded;
                base.message = format!(
                    "{here}: {keyword} {} removed; other values are now allowed",
                    shown_list(values)
                );
                base.effect = Effect::Widens;
                base.exposure = Exposure::Low;
                self.push(base, place);
            }
            _ if gone.is_empty() && fresh.is_empty() => {
                let respelled = |keyword| same_list(keyword, old.get(keyword), new.get(keyword));
                if respelled("const") && respelled("enum") {
                    self.spelling = true;
                } else if old.contains("const") == new.contains("const") {
                    // Both say what is allowed, and one of them changed.
                    base.family = Family::ConstChanged;
                    base.effect = Effect::Either;
                    base.message = keyword_changed(here, "enum", old.get("enum"), new.get("enum"));
                    self.push(base, place);
                } else {
                    base.family = Family::EquivalentRestructured;
                    base.level_if_safe = Level::Cosmetic;
                    base.message =
                        format!("{here}: const and a single enum value exchanged (same value)");
                    self.push(base, place);
                }
            }
            _ => {
                if !gone.is_empty() {
                    let mut finding = base.clone();
                    finding.message = format!("{here}: {} removed", enum_values(&gone));
                    finding.effect = Effect::Narrows;
                    self.push(finding, place);
                }
                if !fresh.is_empty() {
                    let mut finding = base;
                    finding.family = Family::EnumValueAdded;
                    finding.message = format!("{here}: {} added", enum_values(&fresh));
                    finding.effect = Effect::Widens;
                    finding.exposure = Exposure::Low;
                    self.push(finding, place);
                }
            }
        }
    }

    fn items(&mut self, old: &Object, new: &Object, place: &Place) {
        let leading = |node: &Object| match (node.get("prefixItems"), node.get("items")) {
            (Some(Json::Array(list)), _) | (None, Some(Json::Array(list))) => list.len(),
            _ => 0,
        };
        let keywords = [
            "items",
            "prefixItems",
            "additionalItems",
            "unevaluatedItems",
        ];
        let differs = keywords
            .iter()
            .any(|keyword| old.get(keyword) != new.get(keyword))
            || keywords
                .iter()
                .filter_map(|keyword| old.get(keyword))
                .any(super::mentions_reference);
        if differs {
            let plain = |node: &Object| {
                !matches!(node.get("items"), Some(Json::Array(_)))
                    && !node.contains("prefixItems")
                    && !node.contains("unevaluatedItems")
            };
            match (old.get("items"), new.get("items")) {
                (Some(was), Some(is)) if plain(old) && plain(new) => {
                    let inner = place.below("items").named("[]");
                    self.node(was, is, &inner);
                    if old.get("additionalItems") != new.get("additionalItems") {
                        self.items_changed("additionalItems", old, new, place);
                    }
                }
                _ => {
                    let same_draft_forms = leading(old) == leading(new)
                        && same_option(old.get("unevaluatedItems"), new.get("unevaluatedItems"))
                        && (0..=leading(old)).all(|index| {
                            let of = |node: &Object, draft| item_of(node, draft, index).cloned();
                            same_option(
                                of(old, self.old.draft).as_ref(),
                                of(new, self.new.draft).as_ref(),
                            )
                        });
                    if same_draft_forms && leading(old) > 0 {
                        let mut finding = self.finding(Family::ItemsChanged, place);
                        finding.message =
                            format!("{}: items written for another draft", self.at(place));
                        finding.effect = Effect::Either;
                        finding.level_if_safe = Level::Additive;
                        finding.old = Some(Json::Object(old.clone()));
                        finding.new = Some(Json::Object(new.clone()));
                        self.push(finding, place);
                    } else {
                        for keyword in keywords {
                            if old.get(keyword) == new.get(keyword) {
                                self.entered(keyword, old, new, place);
                            } else {
                                self.items_changed(keyword, old, new, place);
                            }
                        }
                    }
                }
            }
        }
        for keyword in ["contains", "uniqueItems"] {
            if old.get(keyword) == new.get(keyword) {
                self.entered(keyword, old, new, place);
            } else {
                self.items_changed(keyword, old, new, place);
            }
        }
    }

    /// Enters what is equal as text but refers to what may have changed.
    fn entered(&mut self, keyword: &str, old: &Object, new: &Object, place: &Place) {
        let (Some(was), Some(is)) = (old.get(keyword), new.get(keyword)) else {
            return;
        };
        if !super::mentions_reference(was) {
            return;
        }
        let mut inner = place.below(keyword);
        let is_followed = !matches!(
            topic(keyword),
            Some(Topic::Contains | Topic::Names | Topic::Not | Topic::Condition)
        );
        if !is_followed {
            inner = inner.negated();
        }
        match (holds(keyword, was), was, is) {
            (Some(Holds::One), ..) => self.node(was, is, &inner),
            (Some(Holds::List), Json::Array(was), Json::Array(is)) => {
                for (index, (was, is)) in was.iter().zip(is).enumerate() {
                    self.node(was, is, &inner.clone().token(&index.to_string()));
                }
            }
            (Some(Holds::Map), Json::Object(was), Json::Object(is)) => {
                for ((name, was), (_, is)) in was.iter().zip(is.iter()) {
                    let inner = inner.clone().token(name.to_string_lossy());
                    self.node(was, is, &inner.named(name.to_string_lossy()));
                }
            }
            _ => {}
        }
    }

    fn items_changed(&mut self, keyword: &str, old: &Object, new: &Object, place: &Place) {
        let (was, is) = (old.get(keyword), new.get(keyword));
        if same_option(was, is) {
            self.spelling = true;
            return;
        }
        let at = place.clone().token(keyword);
        let mut finding = self.finding(Family::ItemsChanged, &at);
        finding.old = was.cloned();
        finding.new = is.cloned();
        finding.level_if_safe = Level::Additive;
        let off = |value: Option<&Json>| matches!(value, None | Some(Json::Bool(false)));
        finding.effect = match (was, is) {
            _ if keyword == "uniqueItems" && off(was) && off(is) => Effect::Neutral,
            _ if keyword == "uniqueItems" && off(was) => Effect::Narrows,
            _ if keyword == "uniqueItems" => Effect::Widens,
            (None, _) => Effect::Narrows,
            (_, None) => Effect::Widens,
            _ => Effect::Either,
        };
        finding.message = if finding.effect == Effect::Neutral {
            finding.family = Family::EquivalentRestructured;
            finding.level_if_safe = Level::Cosmetic;
            keyword_without_effect(self.at(place), keyword, was, is)
        } else {
            keyword_changed(self.at(place), keyword, was, is)
        };
        self.push(finding, place);
    }

    fn composition(&mut self, old: &Object, new: &Object, place: &Place) {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let (was, is) = (old.get(keyword), new.get(keyword));
            let quiet = was == is && !was.is_some_and(super::mentions_reference);
            if quiet {
                continue;
            }
            match (was.and_then(Json::as_array), is.and_then(Json::as_array)) {
                (Some(was), Some(is)) if was.len() == is.len() => {
                    for (index, (one, other)) in was.iter().zip(is).enumerate() {
                        let inner = place.below(keyword).token(&index.to_string());
                        let inner = if keyword == "oneOf" {
                            inner.negated()
                        } else {
                            inner
                        };
                        self.node(one, other, &inner);
                    }
                }
                _ => {
                    let mut finding =
                        self.finding(Family::CompositionChanged, &place.clone().token(keyword));
                    finding.old = was.cloned();
                    finding.new = is.cloned();
                    finding.effect = Effect::Either;
                    finding.level_if_safe = Level::Additive;
                    finding.message = keyword_changed(self.at(place), keyword, was, is);
                    self.push(finding, place);
                }
            }
        }
        let conditional = ["if", "then", "else"];
        let differs = |keyword: &&str| old.get(keyword) != new.get(keyword);
        if conditional.iter().any(differs) {
            self.opaque(Family::ConditionalChanged, &conditional, old, new, place);
        } else {
            for keyword in conditional {
                self.entered(keyword, old, new, place);
            }
        }
        if differs(&"not") {
            self.opaque(Family::NotChanged, &["not"], old, new, place);
        } else {
            self.entered("not", old, new, place);
        }
    }

    /// Keywords that are compared as a whole.
    fn opaque(
        &mut self,
        family: Family,
        keywords: &[&str],
        old: &Object,
        new: &Object,
        place: &Place,
    ) {
        let part = |node: &Object| -> Option<Json> {
            let members: Vec<(&str, Json)> = keywords
                .iter()
                .filter_map(|keyword| Some((*keyword, node.get(keyword)?.clone())))
                .collect();
            (!members.is_empty()).then(|| Json::object(members))
        };
        let (was, is) = (part(old), part(new));
        if same_option(was.as_ref(), is.as_ref()) {
            self.spelling = true;
            return;
        }
        let mut finding = self.finding(family, place);
        finding.effect = match (&was, &is) {
            (None, _) => Effect::Narrows,
            (_, None) => Effect::Widens,
            _ => Effect::Either,
        };
        finding.level_if_safe = Level::Additive;
        finding.message = match family {
            Family::NotChanged => {
                keyword_changed(self.at(place), "not", old.get("not"), new.get("not"))
            }
            _ => {
                let happened = match (&was, &is) {
                    (None, _) => "added",
                    (_, None) => "removed",
                    _ => "changed",
                };
                format!("{}: if/then/else {happened}", self.at(place))
            }
        };
        finding.old = was;
        finding.new = is;
        self.push(finding, place);
    }

    /// A reference with constraints next to it.
    fn beside_reference(&mut self, old: &Object, new: &Object, place: &Place) {
        let text = |node: &Object| {
            ["$ref", "$dynamicRef", "$recursiveRef"]
                .iter()
                .find_map(|keyword| node.get(keyword).and_then(Json::as_str).map(str::to_owned))
        };
        let (was, is) = (text(old), text(new));
        match (&was, &is) {
            (None, None) => {}
            (Some(from), Some(to)) => {
                let node = |reference: &str| Json::object([("$ref", Json::string(reference))]);
                self.node(&node(from), &node(to), place);
            }
            _ => {
                let at = place.clone().token("$ref");
                let mut finding = self.finding(Family::CompositionChanged, &at);
                finding.old = was.map(Json::string);
                finding.new = is.map(Json::string);
                finding.effect = Effect::Either;
                finding.level_if_safe = Level::Additive;
                finding.message = keyword_changed(
                    self.at(place),
                    "$ref",
                    finding.old.as_ref(),
                    finding.new.as_ref(),
                );
                self.push(finding, place);
            }
        }
    }
}

/// `` enum value `a` ``, `` enum values `a`, `b` ``
fn enum_values(list: &[Json]) -> String {
    let s = if list.len() == 1 { "" } else { "s" };
    format!("enum value{s} {}", shown_list(list))
}

/// Whether two lists of values have the same members, in any order.
fn same_list(keyword: &str, one: Option<&Json>, other: Option<&Json>) -> bool {
    match (one, other) {
        (Some(Json::Array(one)), Some(Json::Array(other))) if keyword == "enum" => {
            missing(one, other).is_empty() && missing(other, one).is_empty()
        }
        _ => same_option(one, other),
    }
}

pub(super) fn same_option(one: Option<&Json>, other: Option<&Json>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => same(one, other),
        _ => false,
    }
}

fn types_changed(was: &[String], is: &[String]) -> String {
    match (was, is) {
        ([], is) => format!("type {} added", is.join(" or ")),
        (was, []) => format!("type {} removed", was.join(" or ")),
        (was, is) => format!("type {} → {}", was.join(" or "), is.join(" or ")),
    }
}
