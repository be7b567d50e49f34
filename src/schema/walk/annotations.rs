//! Keywords that no validator reads and every model does: titles, descriptions, defaults, vendor keywords.

use super::{Effect, Place, Walker, shown};
use crate::canonical::{Json, Object};
use crate::judgement::{Exposure, Level};
use crate::scan::{self, Novelty};
use crate::schema::document::is_prose;
use crate::schema::{Family, Side};

impl Walker<'_> {
    /// Compares annotations; a node reached by reference lends what the referring node does not say.
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
            .filter(|keyword| is_prose(keyword) || is_vendor(keyword))
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

    fn annotation(&mut self, keyword: &str, was: Option<Json>, is: Option<Json>, place: &Place) {
        let called = self.called(place);
        let at = place.clone().token(keyword);
        let mut finding = self.finding(Family::SchemaUnclassified, &at);
        finding.effect = Effect::Neutral;
        let verb = match (&was, &is) {
            (None, _) => "was added",
            (_, None) => "was removed",
            _ => "changed",
        };
        match keyword {
            "title" => {
                finding.family = Family::TitleChanged;
                finding.message = format!("the title of {called} {verb}");
            }
            "description" => {
                finding.family = Family::DescriptionChanged;
                let text = |it: &Option<Json>| {
                    it.as_ref()
                        .and_then(Json::as_str)
                        .unwrap_or_default()
                        .to_owned()
                };
                let (old_text, new_text) = (text(&was), text(&is));
                let novelty = scan::novelty(&old_text, &new_text);
                finding.exposure = novelty.exposure();
                let remark = match novelty {
                    Novelty::Instruction => " and now contains an instruction to the model",
                    Novelty::Hidden => " and now contains characters that nobody sees",
                    Novelty::Address => " and now contains an address that was not there",
                    Novelty::Words | Novelty::Nothing => "",
                };
                finding.message = format!("the description of {called} {verb}{remark}");
            }
            "default" => {
                let value = |it: &Option<Json>| it.as_ref().map(shown).unwrap_or_default();
                let (family, message) = match (&was, &is) {
                    (None, _) => (
                        Family::DefaultAdded,
                        format!("{called} now has the default {}", value(&is)),
                    ),
                    (_, None) => (
                        Family::DefaultRemoved,
                        format!("{called} no longer has the default {}", value(&was)),
                    ),
                    _ => (
                        Family::DefaultChanged,
                        format!(
                            "the default of {called} changed from {} to {}: a call that leaves it out now means something else",
                            value(&was),
                            value(&is)
                        ),
                    ),
                };
                finding.family = family;
                finding.message = message;
                finding.level_if_safe = match (family, self.side) {
                    (Family::DefaultChanged | Family::DefaultRemoved, Side::Input) => Level::Risky,
                    _ => Level::Cosmetic,
                };
                let spelled = was
                    .as_ref()
                    .zip(is.as_ref())
                    .is_some_and(|(was, is)| was.same_value(is));
                if spelled {
                    finding.level_if_safe = Level::Cosmetic;
                    finding.message = format!("the default of {called} is spelled differently");
                }
                // `null` as a default says "nothing": most generators write it, some leave it out.
                if family != Family::DefaultChanged
                    && was.as_ref().or(is.as_ref()) == Some(&Json::Null)
                {
                    finding.level_if_safe = Level::Cosmetic;
                }
            }
            "examples" | "example" => {
                finding.family = Family::ExamplesChanged;
                finding.message =
                    format!("the examples of {called} {}", verb.replace("was", "were"));
            }
            "deprecated" => {
                finding.family = Family::DeprecatedChanged;
                let now = is.as_ref().and_then(Json::as_bool) == Some(true);
                finding.message = if now {
                    format!("{called} is deprecated now")
                } else {
                    format!("{called} is no longer deprecated")
                };
                finding.level_if_safe = if now { Level::Risky } else { Level::Cosmetic };
            }
            "readOnly" | "writeOnly" => {
                finding.family = Family::AccessChanged;
                finding.message = format!("`{keyword}` of {called} {verb}");
                finding.level_if_safe = Level::Risky;
            }
            "$schema" | "$id" | "id" | "$vocabulary" => {
                finding.family = Family::DialectChanged;
                finding.message = match keyword {
                    "$schema" => format!(
                        "the dialect of the schema {verb}{}",
                        is.as_ref()
                            .map(|it| format!(" ({})", shown(it)))
                            .unwrap_or_default()
                    ),
                    _ => format!("the identifier `{keyword}` {verb}"),
                };
            }
            "$anchor" | "$dynamicAnchor" | "$recursiveAnchor" => {
                finding.family = Family::RefRestructured;
                finding.message = format!("the anchor `{keyword}` {verb}");
            }
            "x-mcp-header" => {
                let (family, level, exposure) = match (&was, &is) {
                    (None, _) => (Family::McpHeaderAdded, Level::Risky, Exposure::Medium),
                    (_, None) => (Family::McpHeaderRemoved, Level::Risky, Exposure::None),
                    _ => (Family::McpHeaderChanged, Level::Risky, Exposure::Medium),
                };
                finding.family = family;
                finding.level_if_safe = level;
                finding.exposure = exposure;
                finding.message = match &is {
                    Some(header) => format!(
                        "{called} is now copied into the HTTP header {}, which proxies and logs can read",
                        shown(header)
                    ),
                    None => format!("{called} is no longer copied into an HTTP header"),
                };
            }
            _ => {
                finding.family = Family::VendorKeywordChanged;
                finding.message = format!("the keyword `{keyword}` of {called} {verb}");
            }
        }
        finding.old = was;
        finding.new = is;
        self.push(finding, place);
    }
}

/// Keywords that no draft knows.
fn is_vendor(keyword: &str) -> bool {
    !is_prose(keyword) && !super::keywords::KNOWN.contains(&keyword)
}
