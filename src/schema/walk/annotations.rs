//! Keywords that validators ignore and models read: titles, descriptions, defaults, vendor
//! keywords.

use super::{Effect, MAX_DEPTH, Place, Walker, named_exposure};
use crate::canonical::{Json, Object};
use crate::judgement::{Exposure, Level};
use crate::scan::{self, Novelty};
use crate::schema::phrases::{PlaceName, keyword_changed, shortened};
use crate::schema::{Family, Side};
use json_schema_subsume::keywords::{Holds, Topic, holds, topic};

impl Walker<'_> {
    /// Compares annotations; a node reached by reference provides what the referring node lacks.
    pub(super) fn annotations(
        &mut self,
        old: &Object,
        new: &Object,
        old_target: Option<&Object>,
        new_target: Option<&Object>,
        place: &Place,
    ) {
        let names: std::collections::BTreeSet<&str> = old
            .iter()
            .chain(new.iter())
            .chain(old_target.into_iter().flat_map(Object::iter))
            .chain(new_target.into_iter().flat_map(Object::iter))
            .filter_map(|(keyword, _)| keyword.as_str())
            .filter(|keyword| matches!(topic(keyword), Some(Topic::Annotation) | None))
            .collect();
        for keyword in names {
            let of = |node: &Object, target: Option<&Object>| {
                node.get(keyword)
                    .or_else(|| target.and_then(|target| target.get(keyword)))
                    .cloned()
            };
            let (was, is) = (of(old, old_target), of(new, new_target));
            if was == is {
                continue;
            }
            self.annotation(keyword, was, is, place);
        }
    }

    /// Annotations at any depth of two schemas that demand the same, such as one beside a reference in
    /// a branch: what is matched by meaning or followed has no place of its own.
    pub(super) fn annotations_inside(
        &mut self,
        old: &Json,
        new: &Json,
        place: &Place,
        depth: usize,
    ) {
        let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else {
            return;
        };
        if depth > MAX_DEPTH || old == new {
            return;
        }
        self.annotations(old, new, None, None, place);
        for (name, was) in old.iter() {
            let Some(keyword) = name.as_str() else {
                continue;
            };
            let Some(is) = new.get(keyword) else {
                continue;
            };
            let below = place.below(keyword);
            match (holds(keyword, was), was, is) {
                (Some(Holds::One), ..) => self.annotations_inside(was, is, &below, depth + 1),
                (Some(Holds::List), Json::Array(was), Json::Array(is)) => {
                    for (index, (was, is)) in was.iter().zip(is).enumerate() {
                        let inner = below.clone().token(&index.to_string());
                        self.annotations_inside(was, is, &inner, depth + 1);
                    }
                }
                (Some(Holds::Map), Json::Object(was), Json::Object(is)) => {
                    let named = is.by_name();
                    for (name, was) in was.iter() {
                        if let Some(is) = named.get(name) {
                            let name = name.to_string_lossy();
                            let mut inner = below.clone().token(name);
                            if keyword == "properties" {
                                inner = inner.named(name);
                            }
                            self.annotations_inside(was, is, &inner, depth + 1);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn annotation(&mut self, keyword: &str, was: Option<Json>, is: Option<Json>, place: &Place) {
        let here = self.at(place);
        let (old, new) = (was.as_ref(), is.as_ref());
        let at = place.clone().token(keyword);
        let mut finding = self.finding(Family::SchemaUnclassified, &at);
        finding.effect = Effect::Neutral;
        match keyword {
            "title" => {
                finding.family = Family::TitleChanged;
                finding.message = annotation_changed(here, keyword, old, new);
            }
            "description" => {
                finding.family = Family::DescriptionChanged;
                let text = |text: Option<&Json>| {
                    text.and_then(Json::as_str).unwrap_or_default().to_owned()
                };
                let novelty = scan::novelty(&text(old), &text(new));
                finding.exposure = novelty.exposure();
                finding.message = annotation_changed(here, keyword, old, new);
                finding.message += match novelty {
                    Novelty::Instruction => " and now contains an instruction to the model",
                    Novelty::Hidden => " and now contains invisible characters",
                    Novelty::Address => " and now contains an address that was not there before",
                    Novelty::Words | Novelty::Nothing => "",
                };
            }
            "default" => {
                let family = match (old, new) {
                    (None, _) => Family::DefaultAdded,
                    (_, None) => Family::DefaultRemoved,
                    _ => Family::DefaultChanged,
                };
                finding.family = family;
                finding.message = keyword_changed(here, keyword, old, new);
                if family == Family::DefaultChanged && self.side == Side::Input {
                    finding.message += "; calls without it now mean something else";
                }
                finding.level_if_safe = match (family, self.side) {
                    (Family::DefaultChanged | Family::DefaultRemoved, Side::Input) => Level::Risky,
                    _ => Level::Cosmetic,
                };
                let spelled = old.zip(new).is_some_and(|(was, is)| was.same_value(is));
                if spelled {
                    finding.level_if_safe = Level::Cosmetic;
                    finding.message = format!("{here}: default written differently (same value)");
                }
                // `null` as a default means none: most generators write it, some omit it.
                if family != Family::DefaultChanged && old.or(new) == Some(&Json::Null) {
                    finding.level_if_safe = Level::Cosmetic;
                }
            }
            "examples" | "example" => {
                finding.family = Family::ExamplesChanged;
                finding.message = annotation_changed(here, keyword, old, new);
            }
            "deprecated" => {
                finding.family = Family::DeprecatedChanged;
                let now = new.and_then(Json::as_bool) == Some(true);
                finding.message = if now {
                    format!("{here}: now deprecated")
                } else {
                    format!("{here}: no longer deprecated")
                };
                finding.level_if_safe = if now { Level::Risky } else { Level::Cosmetic };
            }
            "readOnly" | "writeOnly" => {
                finding.family = Family::AccessChanged;
                finding.message = keyword_changed(here, keyword, old, new);
                finding.level_if_safe = Level::Risky;
            }
            "$schema" | "$id" | "id" | "$vocabulary" => {
                finding.family = Family::DialectChanged;
                finding.message = keyword_changed(here, keyword, old, new);
            }
            "$anchor" | "$dynamicAnchor" | "$recursiveAnchor" => {
                finding.family = Family::RefRestructured;
                finding.message = keyword_changed(here, keyword, old, new);
            }
            "x-mcp-header" => {
                let (family, level, exposure) = match (&was, &is) {
                    (None, _) => (Family::McpHeaderAdded, Level::Risky, Exposure::Medium),
                    (_, None) => (Family::McpHeaderRemoved, Level::Risky, Exposure::None),
                    _ => (Family::McpHeaderChanged, Level::Risky, Exposure::Medium),
                };
                finding.family = family;
                finding.level_if_safe = level;
                // Proxies and logs would then contain a secret.
                let name = place.name.rsplit('.').next().unwrap_or_default();
                let secret = named_exposure(name) == Exposure::High;
                finding.exposure = if secret && is.is_some() {
                    Exposure::High
                } else {
                    exposure
                };
                finding.message = keyword_changed(here, keyword, old, new);
                finding.message += match new {
                    Some(_) => {
                        "; its value is sent in an HTTP header, which proxies and logs can read"
                    }
                    None => "; its value is no longer sent in an HTTP header",
                };
            }
            _ => {
                finding.family = Family::VendorKeywordChanged;
                let keyword = format!("keyword `{}`", shortened(keyword));
                finding.message = annotation_changed(here, &keyword, old, new);
            }
        }
        finding.old = was;
        finding.new = is;
        self.push(finding, place);
    }
}

/// A keyword that is only for people and models: `title changed`.
fn annotation_changed(
    at: PlaceName<'_>,
    keyword: &str,
    old: Option<&Json>,
    new: Option<&Json>,
) -> String {
    let what = match (old, new) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    };
    format!("{at}: {keyword} {what}")
}
