//! Members: declared, required, additional, by pattern, by dependency.

use std::collections::{BTreeMap, BTreeSet};

use super::rename::{Candidate, renamed};
use super::{Effect, Place, Walker, mentions};
use crate::canonical::{Json, Object, Text};
use crate::judgement::{Exposure, Level};
use crate::schema::phrases::{keyword_changed, keyword_without_effect, quoted_names};
use crate::schema::{Family, Side};
use json_schema_subsume::document::Document;
use json_schema_subsume::value::same;
use json_schema_subsume::words;

fn required_of(node: &Object) -> BTreeSet<&Text> {
    node.get("required")
        .and_then(Json::as_array)
        .unwrap_or(&[])
        .iter()
        .filter_map(Json::as_text)
        .collect()
}

fn properties_of(node: &Object) -> BTreeMap<&Text, &Json> {
    node.get("properties")
        .and_then(Json::as_object)
        .map(Object::by_name)
        .unwrap_or_default()
}

/// The members that only the first of two objects has.
fn only_in<'a>(node: &'a Object, other: &Object) -> Vec<Candidate<'a>> {
    let required = required_of(node);
    let theirs = properties_of(other);
    properties_of(node)
        .into_iter()
        .filter(|(name, _)| !theirs.contains_key(name))
        .map(|(name, schema)| Candidate {
            name,
            schema,
            required: required.contains(name),
        })
        .collect()
}

impl Walker<'_> {
    /// Compares `properties`, `required` and `additionalProperties`.
    pub(super) fn members(&mut self, old: &Object, new: &Object, place: &Place) {
        let (was, is) = (properties_of(old), properties_of(new));
        let (old_required, new_required) = (required_of(old), required_of(new));
        let mut handled: BTreeSet<&Text> = BTreeSet::new();
        let (removed, added) = (only_in(old, new), only_in(new, old));
        for (from, to) in renamed((&was, &removed), (&is, &added)) {
            handled.extend([from.name, to.name]);
            self.renamed(from, to, place);
        }
        for candidate in removed
            .iter()
            .filter(|candidate| !handled.contains(candidate.name))
        {
            self.removed(candidate, new_required.contains(candidate.name), place);
        }
        for candidate in added
            .iter()
            .filter(|candidate| !handled.contains(candidate.name))
        {
            self.added(candidate, old_required.contains(candidate.name), place);
        }
        handled.extend(removed.iter().chain(&added).map(|candidate| candidate.name));
        for (name, schema) in &was {
            if let Some(other) = is.get(name) {
                let inner = place
                    .below("properties")
                    .token(name.to_string_lossy())
                    .named(name.to_string_lossy());
                self.node(schema, other, &inner);
            }
        }
        let changed_requirement: BTreeSet<&Text> = old_required
            .symmetric_difference(&new_required)
            .copied()
            .filter(|name| !handled.contains(name))
            .collect();
        for name in changed_requirement {
            let schema = is.get(name).or_else(|| was.get(name)).copied();
            self.requirement(name, schema, new_required.contains(name), place);
        }
        if old.get("required") != new.get("required") && old_required == new_required {
            self.spelling = true;
        }
        if old.get("properties").is_some() != new.get("properties").is_some()
            && was.is_empty()
            && is.is_empty()
        {
            self.equivalent("properties", old, new, place);
        }
        self.further("additionalProperties", old, new, place);
        self.further("unevaluatedProperties", old, new, place);
    }

    fn equivalent(&mut self, keyword: &str, old: &Object, new: &Object, place: &Place) {
        let at = place.clone().token(keyword);
        let mut finding = self.finding(Family::EquivalentRestructured, &at);
        finding.message =
            keyword_without_effect(self.at(place), keyword, old.get(keyword), new.get(keyword));
        finding.old = old.get(keyword).cloned();
        finding.new = new.get(keyword).cloned();
        self.push(finding, place);
    }

    fn member_place(&self, name: &Text, place: &Place) -> Place {
        place
            .below("properties")
            .token(name.to_string_lossy())
            .named(name.to_string_lossy())
    }

    fn renamed(&mut self, from: &Candidate<'_>, to: &Candidate<'_>, place: &Place) {
        let at = self.member_place(from.name, place);
        let mut finding = self.finding(Family::PropertyRenamed, &at);
        let new_name = to.name.to_string_lossy();
        finding.new_pointer = self.member_place(to.name, place).new;
        finding.old = Some(from.schema.clone());
        finding.new = Some(to.schema.clone());
        finding.effect = Effect::Either;
        finding.level_if_safe = Level::Risky;
        finding.exposure = named_exposure(new_name).max(described_exposure(to.schema));
        let message = |refused| {
            let effect = match (self.side, refused) {
                (Side::Input, true) => "calls with the old name are refused",
                (Side::Input, false) => "a value sent under the old name is now silently ignored",
                (Side::Output, _) => "readers of the old name find nothing",
            };
            format!(
                "{} is now called `{new_name}`: {effect}",
                self.at(&at).property()
            )
        };
        finding.message = message(true);
        finding.message_if_safe = Some(message(false));
        let names = (from.name.clone(), to.name.clone());
        let (own, partner) = match self.side {
            Side::Input => names,
            Side::Output => (names.1, names.0),
        };
        finding.member = Some(own);
        finding.partner = Some(partner);
        self.push(finding, place);
    }

    fn removed(&mut self, gone: &Candidate<'_>, still_required: bool, place: &Place) {
        let at = self.member_place(gone.name, place);
        let here = self.at(&at);
        let mut finding = self.finding(Family::PropertyRemoved, &at);
        finding.old = Some(gone.schema.clone());
        finding.member = Some(gone.name.clone());
        finding.level_if_safe = Level::Risky;
        finding.effect = Effect::Either;
        match self.side {
            Side::Input => {
                finding.message = format!(
                    "{} removed: calls that send it are refused",
                    here.property()
                );
                finding.message_if_safe = Some(format!(
                    "{} removed: a value sent for it is now silently ignored",
                    here.property()
                ));
            }
            Side::Output => {
                finding.exposure = Exposure::Medium;
                let was = if gone.required {
                    ": it was required, so readers rely on it"
                } else {
                    " (it was optional)"
                };
                finding.message = format!("{} removed{was}", here.property());
            }
        }
        if still_required {
            finding.message.push_str("; `required` still lists it");
        }
        self.push(finding, place);
    }

    fn added(&mut self, fresh: &Candidate<'_>, was_required: bool, place: &Place) {
        let at = self.member_place(fresh.name, place);
        let here = self.at(&at);
        let has_default = fresh.schema.get("default").is_some();
        let family = match (fresh.required, has_default, self.side) {
            (true, true, Side::Input) => Family::PropertyRequiredWithDefault,
            (true, ..) => Family::PropertyAddedRequired,
            (false, ..) => Family::PropertyAddedOptional,
        };
        let mut finding = self.finding(family, &at);
        finding.new = Some(fresh.schema.clone());
        finding.member = Some(fresh.name.clone());
        finding.effect = Effect::Either;
        finding.level_if_safe = Level::Additive;
        let name = fresh.name.to_string_lossy();
        finding.exposure = if self.side == Side::Input {
            named_exposure(name).max(described_exposure(fresh.schema))
        } else {
            Exposure::Low
        };
        match (self.side, fresh.required) {
            (Side::Input, true) => {
                let effect = if has_default {
                    " with a default: calls without it are refused unless the client fills in defaults"
                } else {
                    ": calls without it are refused"
                };
                finding.message = format!("new required {}{effect}", here.property());
            }
            (Side::Input, false) => {
                finding.message = format!("new optional {}", here.property());
                // A new optional parameter rejects no call that does not send it.
                finding.effect = if was_required {
                    Effect::Either
                } else {
                    Effect::Widens
                };
            }
            (Side::Output, _) => {
                finding.message = format!(
                    "new {}: the old schema refuses undeclared properties",
                    here.property()
                );
                finding.message_if_safe = Some(format!("new {}", here.property()));
            }
        }
        self.push(finding, place);
    }

    fn requirement(&mut self, name: &Text, schema: Option<&Json>, now: bool, place: &Place) {
        let at = self.member_place(name, place);
        let here = self.at(&at);
        let has_default = schema.is_some_and(|schema| schema.get("default").is_some());
        let family = match (now, has_default, self.side) {
            (true, true, Side::Input) => Family::PropertyRequiredWithDefault,
            (true, ..) => Family::PropertyBecameRequired,
            (false, ..) => Family::PropertyBecameOptional,
        };
        let mut finding = self.finding(family, &at);
        finding.member = Some(name.clone());
        finding.old = Some(Json::Bool(!now));
        finding.new = Some(Json::Bool(now));
        finding.level_if_safe = Level::Additive;
        finding.effect = if now { Effect::Narrows } else { Effect::Widens };
        finding.message = match (self.side, now) {
            (Side::Input, true) if has_default => format!(
                "{here} added to `required` although it has a default: calls without it are refused unless the \
                 client fills in defaults"
            ),
            (Side::Input, true) => {
                format!("{here} added to `required`: calls without it are refused")
            }
            (Side::Input, false) => format!("{here} removed from `required`"),
            (Side::Output, true) => format!("{here} added to `required`: it is now always there"),
            (Side::Output, false) => {
                format!("{here} removed from `required`: it may now be missing")
            }
        };
        self.push(finding, place);
    }

    /// `additionalProperties` and `unevaluatedProperties`.
    fn further(&mut self, keyword: &str, old: &Object, new: &Object, place: &Place) {
        let (was, is) = (old.get(keyword), new.get(keyword));
        if was == is && !was.is_some_and(super::mentions_reference) {
            return;
        }
        let open = |value: Option<&Json>| match value {
            None | Some(Json::Bool(true)) => true,
            Some(Json::Object(schema)) => schema.is_empty(),
            _ => false,
        };
        let shut = |value: Option<&Json>| value == Some(&Json::Bool(false));
        let at = place.clone().token(keyword);
        let here = self.at(place);
        // Where `unevaluatedProperties` is, what is allowed here counts as looked at.
        let looks_around =
            |document: &Document| mentions(&document.root, &|name| name == "unevaluatedProperties");
        let matters =
            was.is_some() != is.is_some() && (looks_around(self.old) || looks_around(self.new));
        if open(was) && open(is) && !matters {
            let mut finding = self.finding(Family::EquivalentRestructured, &at);
            finding.message = keyword_without_effect(here, keyword, was, is);
            finding.old = was.cloned();
            finding.new = is.cloned();
            self.push(finding, place);
            return;
        }
        if !open(was) && !shut(was) && !open(is) && !shut(is) {
            let inner = place.below(keyword).named("*");
            if let (Some(was), Some(is)) = (was, is) {
                self.node(was, is, &inner);
            }
            return;
        }
        let only_written = open(was) && open(is);
        let closes = (!open(is) && (open(was) || shut(is))) || (only_written && is.is_none());
        let mut finding = self.finding(
            if closes {
                Family::AdditionalPropertiesClosed
            } else {
                Family::AdditionalPropertiesOpened
            },
            &at,
        );
        finding.old = was.cloned();
        finding.new = is.cloned();
        finding.effect = if only_written {
            Effect::Either
        } else if closes {
            Effect::Narrows
        } else {
            Effect::Widens
        };
        let message = |declared_affected| {
            let is_false = |value: Option<&Json>| value == Some(&Json::Bool(false));
            let consequence = if !closes {
                if is_false(was) && !matches!(is, None | Some(Json::Bool(true))) {
                    "undeclared properties are now allowed if they match"
                } else {
                    "undeclared properties are now allowed"
                }
            } else if is.is_some() && !is_false(is) {
                "undeclared properties must now match"
            } else if self.side == Side::Output {
                "results no longer have undeclared properties"
            } else if declared_affected {
                "undeclared properties are now refused"
            } else {
                "undeclared properties are now refused; declared ones are not affected"
            };
            format!("{}; {consequence}", keyword_changed(here, keyword, was, is))
        };
        finding.message = message(true);
        if closes {
            // A caller that sends undeclared members notices; a reader of results does not.
            finding.level_if_safe = match self.side {
                Side::Input => Level::Risky,
                Side::Output => Level::Cosmetic,
            };
            finding.message_if_safe = Some(message(false));
        } else {
            finding.level_if_safe = match self.side {
                Side::Input => Level::Additive,
                Side::Output => Level::Risky,
            };
            finding.exposure = Exposure::Medium;
        }
        self.push(finding, place);
    }

    /// `patternProperties`, `propertyNames`, `dependent*`, `dependencies`.
    pub(super) fn rare_members(
        &mut self,
        keyword: &str,
        old: &Object,
        new: &Object,
        place: &Place,
    ) {
        let (was, is) = (old.get(keyword), new.get(keyword));
        let family = match keyword {
            "propertyNames" => Family::PropertyNamesChanged,
            "patternProperties" => Family::PatternPropertiesChanged,
            _ => Family::DependencyChanged,
        };
        let at = place.clone().token(keyword);
        let mut finding = self.finding(family, &at);
        finding.old = was.cloned();
        finding.new = is.cloned();
        if was.zip(is).is_some_and(|(was, is)| same(was, is)) {
            self.spelling = true;
            return;
        }
        finding.level_if_safe = Level::Additive;
        finding.effect = match (was, is) {
            (None, _) => Effect::Narrows,
            (_, None) => Effect::Widens,
            _ => Effect::Either,
        };
        let here = self.at(place);
        // A name is always a string.
        let all_names = |value: Option<&Json>| match value {
            None | Some(Json::Bool(true)) => true,
            Some(Json::Object(schema)) => schema
                .iter()
                .all(|(keyword, value)| keyword == "type" && value.as_str() == Some("string")),
            _ => false,
        };
        if keyword == "propertyNames" && all_names(was) && all_names(is) {
            finding.family = Family::EquivalentRestructured;
            finding.level_if_safe = Level::Cosmetic;
            finding.effect = Effect::Neutral;
            finding.message = keyword_without_effect(here, keyword, was, is);
            self.push(finding, place);
            return;
        }
        finding.message = match (keyword, changed_members(was, is)) {
            ("patternProperties", Some(names)) => {
                format!(
                    "{here}: patternProperties changed ({})",
                    quoted_names(&names)
                )
            }
            (_, Some(names)) if family == Family::DependencyChanged => {
                format!("{here}: {keyword} of {} changed", quoted_names(&names))
            }
            _ => keyword_changed(here, keyword, was, is),
        };
        self.push(finding, place);
    }
}

/// The names of members that differ between two tables; `None` if one of them is not a table, or
/// both are empty.
fn changed_members(was: Option<&Json>, is: Option<&Json>) -> Option<Vec<String>> {
    let table = |value: Option<&'_ Json>| -> Option<BTreeMap<String, Json>> {
        match value {
            None => Some(BTreeMap::new()),
            Some(Json::Object(members)) => Some(
                members
                    .iter()
                    .map(|(name, value)| (name.to_string_lossy().to_owned(), value.clone()))
                    .collect(),
            ),
            Some(_) => None,
        }
    };
    let (was, is) = (table(was)?, table(is)?);
    let names: BTreeSet<&String> = was
        .keys()
        .chain(is.keys())
        .filter(|name| was.get(*name) != is.get(*name))
        .collect();
    (!names.is_empty()).then(|| names.into_iter().cloned().collect())
}

/// The exposure of a new parameter, by its name.
pub(in crate::schema) fn named_exposure(name: &str) -> Exposure {
    const SECRETS: &[&str] = &[
        "token",
        "password",
        "passwd",
        "passphrase",
        "secret",
        "credential",
        "credentials",
        "apikey",
        "auth",
        "authorization",
        "cookie",
        "privatekey",
    ];
    const COMMANDS: &[&str] = &[
        "command",
        "commands",
        "cmd",
        "shell",
        "script",
        "exec",
        "execute",
        "code",
        "eval",
        "bash",
        "sql",
        "expression",
        "javascript",
        "python",
    ];
    let words = words(name);
    let joined = words.concat();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    // A page token is a position in a list, not a secret.
    let paging = has(&[
        "page",
        "next",
        "continuation",
        "cursor",
        "sync",
        "resume",
        "delta",
        "max",
        "count",
        "limit",
        "budget",
        "tokens",
    ]);
    if (has(SECRETS) && !paging)
        || joined.contains("apikey")
        || joined.contains("privatekey")
        || joined.contains("accesskey")
    {
        return Exposure::High;
    }
    // A "country code" is not code to run.
    let harmless = has(&[
        "country", "language", "lang", "currency", "status", "error", "zip", "postal", "region",
        "response",
    ]);
    if has(COMMANDS) && !harmless {
        return Exposure::Medium;
    }
    Exposure::Low
}

/// The exposure of a new parameter, by its text.
fn described_exposure(schema: &Json) -> Exposure {
    let text = schema
        .get("description")
        .and_then(Json::as_str)
        .unwrap_or_default();
    match crate::scan::novelty("", text) {
        // A URL in the text of something new is usually a link to its documentation.
        crate::scan::Novelty::Address => Exposure::Medium,
        other => other.exposure(),
    }
}
