//! What changed in one component: each member goes to its rule, the rest is unclassified.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, content, located, meta, prompt, provider, skill, tool};
use crate::canonical::{Json, Object, Text, pointer};
use crate::judgement::{Exposure, Level};
use crate::rules::RuleId;
use crate::schema::Work;
use crate::surface::{Component, Kind};
use crate::wording::what_happened;

/// The message of a change that is only one of spelling.
pub(super) const RESPELLED: &str =
    "same meaning, written differently: order of members or spelling of a number";

pub(crate) fn added(component: &Component) -> Change {
    let (rule, exposure) = match component.kind {
        Kind::Tool => (
            RuleId::ToolAdded,
            tool::exposure_of_new(&component.definition),
        ),
        Kind::Prompt => (RuleId::PromptAdded, Exposure::Medium),
        Kind::Resource => (RuleId::ResourceAdded, Exposure::Low),
        Kind::Template => (RuleId::TemplateAdded, Exposure::Low),
        Kind::Skill => (RuleId::SkillAdded, Exposure::High),
        Kind::Content => match content::subject(&component.definition) {
            // New authorization.
            content::Subject::Scopes => (RuleId::ScopeAdded, Exposure::High),
            content::Subject::Card => (RuleId::ServerCardChanged, Exposure::Low),
            content::Subject::Document => (RuleId::ContentAdded, Exposure::Medium),
        },
    };
    // To approve a new document is to approve what it may reach.
    let exposure = exposure.max(meta::access_of_new(&component.definition));
    let icons = component.definition.get("icons");
    let exposure = exposure.max(icons.map_or(Exposure::None, |icons| {
        meta::icon_exposure(None, Some(icons))
    }));
    let description = component
        .definition
        .get("description")
        .and_then(Json::as_text)
        .map(|text| text.to_string_lossy());
    let noun = component.kind.noun();
    let message = match description {
        Some(text) if !text.is_empty() => format!("new {noun}: {text}"),
        _ => format!("new {noun}"),
    };
    let mut change = Change::new(rule, "", message)
        .values(None, Some(&component.contract()))
        .exposure(exposure);
    change.component = Some(component.key.clone());
    change
}

pub(super) fn removed(component: &Component, work: &Work) -> Change {
    let rule = match component.kind {
        Kind::Tool => RuleId::ToolRemoved,
        Kind::Prompt => RuleId::PromptRemoved,
        Kind::Resource => RuleId::ResourceRemoved,
        Kind::Template => RuleId::TemplateRemoved,
        Kind::Skill => RuleId::SkillRemoved,
        Kind::Content => match content::subject(&component.definition) {
            content::Subject::Scopes => RuleId::ScopeRemoved,
            content::Subject::Card => RuleId::ServerCardChanged,
            content::Subject::Document => RuleId::ContentRemoved,
        },
    };
    let message = format!("{} removed", component.kind.noun());
    let mut change = Change::new(rule, "", message).values(Some(&component.contract()), None);
    if component.kind == Kind::Tool {
        change.proof = tool::call_that_worked(&component.definition, work);
    }
    change.component = Some(component.key.clone());
    change
}

/// Every difference between two definitions of one component.
pub(super) fn compare(old: &Component, new: &Component, work: &Work, changes: &mut Vec<Change>) {
    let (before, after) = (old.contract(), new.contract());
    if before == after {
        return;
    }
    let first = changes.len();
    let mut respelled = false;
    if let (Json::Object(one), Json::Object(other)) = (&*before, &*after) {
        let (one_named, other_named) = (one.by_name(), other.by_name());
        let names: BTreeSet<_> = one_named.keys().chain(other_named.keys()).collect();
        for name in names {
            let member = Member {
                name: name.to_string_lossy(),
                old: one_named.get(*name).copied(),
                new: other_named.get(*name).copied(),
                work,
            };
            if member.old != member.new {
                respelled |= member.is_respelled(new.kind);
                member.compare(new.kind, changes);
            }
        }
        // The members that both have, in the order sent.
        let common = |object: &Object, other: &BTreeMap<&Text, &Json>| -> Vec<Text> {
            let names = object.iter().map(|(name, _)| name);
            names
                .filter(|name| other.contains_key(name))
                .cloned()
                .collect()
        };
        respelled |= common(one, &other_named) != common(other, &one_named);
    }
    if respelled || (changes.len() == first && before.same_value(&after)) {
        changes.push(respelling(&after));
    }
    if changes.len() == first {
        let message = "changed in a way that no rule describes".to_owned();
        changes.push(
            Change::new(RuleId::UnclassifiedChange, "", message)
                .values(Some(&before), Some(&after)),
        );
    }
    // In addition to the change that explains the difference, never instead of it.
    if new.kind == Kind::Tool {
        meta::add_calls(&before, work, &mut changes[first..]);
        provider::compare(&before, &after, changes);
    }
    for change in &mut changes[first..] {
        change.component = Some(new.key.clone());
    }
}

/// One member of a definition that differs, in meaning or in spelling.
pub(super) struct Member<'a> {
    pub(super) name: &'a str,
    pub(super) old: Option<&'a Json>,
    pub(super) new: Option<&'a Json>,
    /// The remaining steps for comparing schemas.
    pub(super) work: &'a Work,
}

impl Member<'_> {
    fn compare(&self, kind: Kind, changes: &mut Vec<Change>) {
        let first = changes.len();
        match (kind, self.name) {
            (Kind::Tool, "inputSchema" | "outputSchema") => return tool::schema(self, changes),
            // Spelling is reported once for the whole definition, not per member.
            _ if self.means_the_same() => return,
            (Kind::Skill, _) => skill::member(self, changes),
            (Kind::Content, name) if name != "_meta" => content::member(self, changes),
            (Kind::Tool, "annotations") => tool::annotations(self, changes),
            (Kind::Tool, "execution") => meta::execution(self, changes),
            (Kind::Prompt, "arguments") => prompt::arguments(self, changes),
            (_, "description") => self.text(
                changes,
                match kind {
                    Kind::Tool => RuleId::ToolDescriptionChanged,
                    Kind::Prompt => RuleId::PromptDescriptionChanged,
                    Kind::Resource => RuleId::ResourceDescriptionChanged,
                    Kind::Template => RuleId::TemplateDescriptionChanged,
                    Kind::Skill | Kind::Content => RuleId::UnclassifiedChange,
                },
            ),
            (_, "title") => self.whole(
                changes,
                match kind {
                    Kind::Tool => RuleId::ToolTitleChanged,
                    Kind::Prompt => RuleId::PromptTitleChanged,
                    Kind::Resource => RuleId::ResourceTitleChanged,
                    Kind::Template => RuleId::TemplateTitleChanged,
                    Kind::Skill | Kind::Content => RuleId::UnclassifiedChange,
                },
            ),
            (_, "icons") => {
                let rule = match kind {
                    Kind::Tool => RuleId::ToolIconsChanged,
                    Kind::Prompt => RuleId::PromptIconsChanged,
                    Kind::Resource => RuleId::ResourceIconsChanged,
                    Kind::Template => RuleId::TemplateIconsChanged,
                    Kind::Skill | Kind::Content => RuleId::UnclassifiedChange,
                };
                self.each(rule, changes);
                let exposure = meta::icon_exposure(self.old, self.new);
                for change in &mut changes[first..] {
                    change.exposure = change.exposure.max(exposure);
                }
            }
            (_, "_meta") => {
                let rule = match kind {
                    Kind::Tool => RuleId::ToolMetaChanged,
                    Kind::Prompt => RuleId::PromptMetaChanged,
                    Kind::Resource => RuleId::ResourceMetaChanged,
                    Kind::Template => RuleId::TemplateMetaChanged,
                    Kind::Skill => RuleId::UnclassifiedChange,
                    Kind::Content => RuleId::ContentMetaChanged,
                };
                meta::compare(kind, self, rule, changes);
            }
            (Kind::Resource, "name") => self.whole(changes, RuleId::ResourceNameChanged),
            (Kind::Template, "name") => self.whole(changes, RuleId::TemplateNameChanged),
            (Kind::Resource, "mimeType") => self.whole(changes, RuleId::ResourceMimeTypeChanged),
            (Kind::Template, "mimeType") => self.whole(changes, RuleId::TemplateMimeTypeChanged),
            (Kind::Resource, "annotations") => {
                meta::annotations(self, RuleId::ResourceAnnotationChanged, changes);
            }
            (Kind::Template, "annotations") => {
                meta::annotations(self, RuleId::TemplateAnnotationChanged, changes);
            }
            _ => self.each(RuleId::UnclassifiedChange, changes),
        }
        if changes.len() == first {
            self.whole(changes, RuleId::UnclassifiedChange);
        }
    }

    /// Whether only the spelling differs. The schema room reports that for schemas.
    fn is_respelled(&self, kind: Kind) -> bool {
        let schema = kind == Kind::Tool && matches!(self.name, "inputSchema" | "outputSchema");
        !schema && self.means_the_same()
    }

    pub(super) fn means_the_same(&self) -> bool {
        matches!((self.old, self.new), (Some(one), Some(other)) if one.same_value(other))
    }

    pub(super) fn pointer(&self) -> String {
        pointer::join("", self.name)
    }

    /// One change for the whole member.
    pub(super) fn whole(&self, changes: &mut Vec<Change>, rule: RuleId) {
        let message = format!("`{}` {}", self.name, what_happened(self.old, self.new));
        changes.push(Change::new(rule, self.pointer(), message).values(self.old, self.new));
    }

    /// One change for a text that a model or a person reads.
    fn text(&self, changes: &mut Vec<Change>, rule: RuleId) {
        let message = text_message(self.name, self.old, self.new);
        changes.push(Change::new(rule, self.pointer(), message).text(self.old, self.new));
    }

    /// One change for each place inside the member that differs.
    pub(super) fn each(&self, rule: RuleId, changes: &mut Vec<Change>) {
        let (Some(old), Some(new)) = (self.old, self.new) else {
            return self.whole(changes, rule);
        };
        for difference in located::differences(old, new) {
            let at = format!("{}{}", self.pointer(), difference.pointer);
            let name = at.trim_start_matches('/').replace('/', ".");
            let message = format!(
                "`{name}` {}",
                what_happened(difference.old.as_ref(), difference.new.as_ref())
            );
            changes.push(
                Change::new(rule, at, message)
                    .values(difference.old.as_ref(), difference.new.as_ref()),
            );
        }
    }
}

/// `description changed`
pub(super) fn text_message<T>(name: &str, old: Option<T>, new: Option<T>) -> String {
    match (old.is_some(), new.is_some()) {
        (false, _) => format!("{name} added"),
        (_, false) => format!("{name} removed"),
        _ => format!("{name} changed"),
    }
}

/// The change of a definition that means the same and is written differently. Which of two members
/// of one name counts depends on the parser, so one of them can hide a text from reviewers.
fn respelling(after: &Json) -> Change {
    match after.repeated_members().first() {
        None => Change::new(RuleId::DefinitionRespelled, "", RESPELLED.to_owned()),
        Some((_, name)) => {
            let message = format!(
                "`{}` is given more than once: which value counts depends on the parser",
                name.to_string_lossy()
            );
            let mut change = Change::new(RuleId::DefinitionRespelled, "", message);
            change.level = Level::Risky;
            change.exposure = Exposure::High;
            change
        }
    }
}
