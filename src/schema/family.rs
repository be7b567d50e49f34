//! What is at stake in each family of rules: which part of the receiver's schema rejects because of
//! it. Every match is exhaustive, so that a new family without an answer does not compile.

use super::walk::{SchemaFinding, mentions_reference};
use super::{Family, Side};
use crate::canonical::{Json, Object, Text, pointer};
use json_schema_subsume::References;
use json_schema_subsume::document::Document;
use json_schema_subsume::guard;
use json_schema_subsume::keywords::{Topic, topic};
use json_schema_subsume::value::{missing, same};

/// What a receiver would have to drop for a finding to be harmless.
enum RelevantKeywords {
    /// Those about these topics, at the finding's place.
    About(&'static [Topic]),
    /// The keyword that its pointer ends with.
    Own,
    /// That its member is required, rejected or limited.
    Member,
    /// Whether its member is required.
    Required,
    /// The patterns of names.
    Patterns,
    /// Everything at its place.
    Place,
    /// Nothing rejects because of it.
    Nothing,
}

fn relevant_keywords(family: Family) -> RelevantKeywords {
    match family {
        Family::PropertyTypeChanged
        | Family::PropertyTypeNarrowed
        | Family::PropertyTypeWidened => RelevantKeywords::About(&[Topic::Type]),
        Family::NullableAdded | Family::NullableRemoved => {
            RelevantKeywords::About(&[Topic::Type, Topic::Values, Topic::Alternatives])
        }
        Family::EnumValueAdded | Family::EnumValueRemoved | Family::ConstChanged => {
            RelevantKeywords::About(&[Topic::Values, Topic::Alternatives])
        }
        Family::BoundTightened | Family::BoundLoosened => RelevantKeywords::Own,
        Family::PatternAdded | Family::PatternChanged | Family::PatternRemoved => {
            RelevantKeywords::About(&[Topic::Pattern])
        }
        Family::PropertyBecameRequired
        | Family::PropertyBecameOptional
        | Family::PropertyRequiredWithDefault => RelevantKeywords::Required,
        Family::PropertyAddedRequired
        | Family::PropertyAddedOptional
        | Family::PropertyRemoved
        | Family::PropertyRenamed => RelevantKeywords::Member,
        Family::AdditionalPropertiesClosed | Family::AdditionalPropertiesOpened => {
            RelevantKeywords::About(&[Topic::Undeclared])
        }
        Family::PropertyNamesChanged => RelevantKeywords::About(&[Topic::Names]),
        Family::ConditionalChanged => RelevantKeywords::About(&[Topic::Condition]),
        Family::NotChanged => RelevantKeywords::About(&[Topic::Not]),
        Family::DependencyChanged => RelevantKeywords::About(&[Topic::Dependencies]),
        Family::PatternPropertiesChanged => RelevantKeywords::Patterns,
        Family::ItemsChanged => {
            RelevantKeywords::About(&[Topic::Items, Topic::Contains, Topic::Unique])
        }
        Family::UnionBranchRemoved
        | Family::UnionBranchAdded
        | Family::CompositionChanged
        | Family::SchemaEmptied
        | Family::SchemaUnclassified
        | Family::DialectChanged => RelevantKeywords::Place,
        Family::FormatAdded
        | Family::FormatChanged
        | Family::FormatRemoved
        | Family::ContentChanged
        | Family::RefRestructured
        | Family::DefinitionsChanged
        | Family::EquivalentRestructured
        | Family::SchemaSpellingChanged
        | Family::DefaultChanged
        | Family::DefaultAdded
        | Family::DefaultRemoved
        | Family::DescriptionChanged
        | Family::TitleChanged
        | Family::ExamplesChanged
        | Family::DeprecatedChanged
        | Family::AccessChanged
        | Family::VendorKeywordChanged
        | Family::McpHeaderAdded
        | Family::McpHeaderRemoved
        | Family::McpHeaderChanged => RelevantKeywords::Nothing,
    }
}

/// Whether a finding of this family can be why something is rejected.
pub(crate) fn can_break(family: Family) -> bool {
    !matches!(relevant_keywords(family), RelevantKeywords::Nothing)
}

/// The family whose rule names what a keyword rejects.
pub(crate) fn of_keyword(keyword: &str, side: Side) -> Family {
    let either = |input, output| match side {
        Side::Input => input,
        Side::Output => output,
    };
    match topic(keyword) {
        Some(Topic::Type) => Family::PropertyTypeChanged,
        Some(Topic::Values) => either(Family::EnumValueRemoved, Family::EnumValueAdded),
        Some(Topic::Bound) => either(Family::BoundTightened, Family::BoundLoosened),
        Some(Topic::Pattern) => Family::PatternChanged,
        Some(Topic::Required) => either(
            Family::PropertyBecameRequired,
            Family::PropertyBecameOptional,
        ),
        Some(Topic::Undeclared) => either(
            Family::AdditionalPropertiesClosed,
            Family::AdditionalPropertiesOpened,
        ),
        Some(Topic::Names) => Family::PropertyNamesChanged,
        Some(Topic::Items | Topic::Contains | Topic::Unique) => Family::ItemsChanged,
        Some(Topic::Not) => Family::NotChanged,
        Some(Topic::Dependencies) => Family::DependencyChanged,
        _ => Family::CompositionChanged,
    }
}

/// The receiver with all of the sender's members allowed at a place, for a finding about members
/// that neither names: a rejection because of a removed member is not about them.
pub(crate) fn with_named_members(
    receiver: &Document,
    sender: &Document,
    finding: &SchemaFinding,
    side: Side,
) -> Option<Document> {
    if !matches!(
        finding.family,
        Family::AdditionalPropertiesClosed | Family::AdditionalPropertiesOpened
    ) {
        return None;
    }
    let (sender_at, at) = match side {
        Side::Input => (&finding.site.0, &finding.site.1),
        Side::Output => (&finding.site.1, &finding.site.0),
    };
    let named = sender.at(sender_at)?.get("properties")?.as_object()?;
    let mut root = receiver.root.clone();
    let Json::Object(object) = pointer::resolve_mut(&mut root, at)? else {
        return None;
    };
    let own: Vec<Text> = object
        .get("properties")
        .and_then(Json::as_object)
        .into_iter()
        .flat_map(Object::iter)
        .map(|(name, _)| name.clone())
        .collect();
    for (name, _) in named.iter().filter(|(name, _)| !own.contains(name)) {
        allow(object, name);
    }
    Some(Document {
        root,
        draft: receiver.draft,
    })
}

/// A document in which a finding's place is as in another one: what is at stake in the finding, and nothing else.
pub(crate) struct Exchange<'a> {
    pub(crate) finding: &'a SchemaFinding,
    pub(crate) side: Side,
}

impl Exchange<'_> {
    /// The sender's document with this change and no other.
    pub(crate) fn only(&self, sender: &Document, receiver: &Document) -> Option<Document> {
        self.exchanged(sender, receiver, self.side == Side::Input, false)
    }

    /// The sender's document with everything that changed at this change's place.
    pub(crate) fn place(&self, sender: &Document, receiver: &Document) -> Option<Document> {
        self.exchanged(sender, receiver, self.side == Side::Input, true)
    }

    /// The receiver's document without this change. Where that cannot be written, without anything that rejects because
    /// of it.
    pub(crate) fn reverted(&self, sender: &Document, receiver: &Document) -> Option<Document> {
        self.exchanged(receiver, sender, self.side == Side::Output, false)
            .or_else(|| {
                let mut relaxed = receiver.clone();
                relax(&mut relaxed, sender, self.finding, self.side)?;
                Some(relaxed)
            })
    }

    /// `base` with what `other` has at this finding's place.
    fn exchanged(
        &self,
        base: &Document,
        other: &Document,
        base_is_old: bool,
        whole: bool,
    ) -> Option<Document> {
        let finding = self.finding;
        let ordered = |sites: &(String, String)| {
            let (old, new) = sites.clone();
            if base_is_old { (old, new) } else { (new, old) }
        };
        let mut root = base.root.clone();
        let (base_at, other_at) = ordered(match &finding.written {
            // A reference beside keywords, where a reference alone was: it is not exchanged for what it leads to.
            Some(written) if !whole && own_keyword(finding) == "$ref" => written,
            _ => &finding.site,
        });
        let theirs = other.at(&other_at)?;
        let node = pointer::resolve_mut(&mut root, &base_at)?;
        let exact = match (&mut *node, theirs) {
            (Json::Object(object), Json::Object(from)) if !whole => {
                exchange(object, from, finding, base_is_old)?
            }
            _ => false,
        };
        let mut theirs = theirs;
        if !exact {
            // A reference is exchanged where it is written: others may lead to the same place.
            let places = finding.written.as_ref().map(ordered);
            let written = places.as_ref().and_then(|(base_at, other_at)| {
                let theirs = other.at(other_at)?;
                (base.at(base_at)? != theirs).then_some((base_at, theirs))
            });
            let at = match written {
                Some((at, node)) => {
                    theirs = node;
                    at
                }
                None => &base_at,
            };
            *pointer::resolve_mut(&mut root, at)? = theirs.clone();
        }
        if mentions_reference(theirs) {
            add_definitions(&mut root, &other.root);
        }
        let document = Document {
            root,
            draft: base.draft,
        };
        guard(&References::new(&document))
            .is_ok()
            .then_some(document)
    }
}

/// The keyword that a finding is about; empty if it is about a schema as a whole.
fn own_keyword(finding: &SchemaFinding) -> &str {
    finding
        .pointer
        .strip_prefix(finding.site.0.as_str())
        .and_then(|rest| rest.strip_prefix('/'))
        .unwrap_or_default()
}

/// Exchanges keywords of one schema. `false` if the whole schema has to be exchanged, `None` if nothing is at stake.
fn exchange(
    object: &mut Object,
    from: &Object,
    finding: &SchemaFinding,
    base_is_old: bool,
) -> Option<bool> {
    let keyword = own_keyword(finding);
    let copied = |object: &mut Object, keywords: &[&str]| {
        copy(object, from, |name| keywords.contains(&name));
        Some(true)
    };
    let copied_about = |object: &mut Object, topics: &[Topic]| {
        copy(object, from, |name| is_about(name, topics));
        Some(true)
    };
    let has_alternatives = |object: &Object| object.contains("anyOf") || object.contains("oneOf");
    match relevant_keywords(finding.family) {
        RelevantKeywords::Nothing => None,
        RelevantKeywords::Own => match keyword {
            "minimum" | "exclusiveMinimum" => copied(object, &["minimum", "exclusiveMinimum"]),
            "maximum" | "exclusiveMaximum" => copied(object, &["maximum", "exclusiveMaximum"]),
            keyword => copied(object, &[keyword]),
        },
        RelevantKeywords::Required => {
            exchange_required(object, from, finding.member.as_ref()?);
            Some(true)
        }
        RelevantKeywords::Member => {
            for member in finding.member.iter().chain(&finding.partner) {
                exchange_required(object, from, member);
                exchange_member(object, from, member);
            }
            Some(true)
        }
        RelevantKeywords::Patterns => copied(object, &["patternProperties"]),
        RelevantKeywords::About(topics) => match finding.family {
            Family::PropertyTypeChanged
            | Family::PropertyTypeNarrowed
            | Family::PropertyTypeWidened => {
                let union = |object: &Object| !object.contains("type") && has_alternatives(object);
                if union(object) || union(from) {
                    return Some(false);
                }
                copied_about(object, topics)
            }
            Family::NullableAdded | Family::NullableRemoved => {
                let allowed = (finding.family == Family::NullableAdded) == base_is_old;
                Some(same_union(object, from) && set_null(object, allowed))
            }
            Family::EnumValueAdded | Family::EnumValueRemoved => {
                let plain =
                    |object: &Object| !object.contains("const") && !has_alternatives(object);
                let theirs = from.get("enum").and_then(Json::as_array);
                let more = (finding.family == Family::EnumValueAdded) == base_is_old;
                let is_plain = plain(object) && plain(from);
                let has_union = has_alternatives(object) || has_alternatives(from);
                match (object.get_mut("enum"), theirs) {
                    (Some(Json::Array(values)), Some(theirs)) if is_plain => {
                        if more {
                            values.extend(missing(theirs, values));
                        } else {
                            values.retain(|value| theirs.iter().any(|other| same(other, value)));
                        }
                        Some(true)
                    }
                    _ if has_union => Some(false),
                    _ => copied_about(object, &[Topic::Values]),
                }
            }
            Family::ConstChanged if has_alternatives(object) || has_alternatives(from) => {
                Some(false)
            }
            Family::ItemsChanged => copied_about(object, &[topic(keyword).unwrap_or(Topic::Items)]),
            Family::DependencyChanged
                if !object.contains("dependencies") && !from.contains("dependencies") =>
            {
                copied(object, &[keyword])
            }
            Family::AdditionalPropertiesClosed | Family::AdditionalPropertiesOpened => {
                copied(object, &[keyword])
            }
            _ => copied_about(object, topics),
        },
        RelevantKeywords::Place => match (finding.family, keyword) {
            (Family::CompositionChanged, "allOf" | "anyOf" | "oneOf") => copied(object, &[keyword]),
            (Family::CompositionChanged, "$ref") => {
                copied(object, &["$ref", "$dynamicRef", "$recursiveRef"])
            }
            (Family::UnionBranchAdded, _) => {
                Some(exchange_branch(object, from, finding, base_is_old).is_some())
            }
            (Family::UnionBranchRemoved, _) => {
                Some(exchange_branch(object, from, finding, !base_is_old).is_some())
            }
            _ => Some(false),
        },
    }
}

/// Adds the branch that a finding is about, or takes it away.
fn exchange_branch(
    object: &mut Object,
    from: &Object,
    finding: &SchemaFinding,
    add: bool,
) -> Option<()> {
    let (keyword, index) = finding.branch.as_ref()?;
    if !same_union(object, from) || !from.contains(keyword) {
        return None;
    }
    let Json::Array(branches) = object.get_mut(keyword)? else {
        return None;
    };
    if add {
        branches.push(from.get(keyword)?.as_array()?.get(*index)?.clone());
    } else if *index < branches.len() && branches.len() > 1 {
        branches.remove(*index);
    } else {
        return None;
    }
    Some(())
}

/// Whether alternatives are written with the same keyword, or only `from` has any.
fn same_union(object: &Object, from: &Object) -> bool {
    let plain = |keyword| !object.contains(keyword);
    let both = |keyword| object.contains(keyword) == from.contains(keyword);
    (plain("anyOf") && plain("oneOf")) || (both("anyOf") && both("oneOf"))
}

/// Allows `null` or refuses it; `false` if that is not a matter of one keyword.
fn set_null(object: &mut Object, allowed: bool) -> bool {
    let null = Json::string("null");
    for keyword in ["anyOf", "oneOf"] {
        let Some(Json::Array(branches)) = object.get_mut(keyword) else {
            continue;
        };
        let before = branches.len();
        if allowed {
            branches.push(Json::object([("type", null)]));
        } else {
            branches.retain(|branch| {
                branch.get("type") != Some(&null)
                    && branch.get("const") != Some(&Json::Null)
                    && branch.get("enum") != Some(&Json::Array(vec![Json::Null]))
            });
        }
        return branches.len() != before && !branches.is_empty();
    }
    if object.contains("const") {
        return false;
    }
    match object.get_mut("type") {
        Some(Json::Array(types)) if allowed => types.push(null),
        Some(Json::Array(types)) => {
            types.retain(|kind| *kind != null);
            if types.is_empty() {
                return false;
            }
        }
        Some(kind) if allowed => *kind = Json::Array(vec![kind.clone(), null]),
        _ => return false,
    }
    if let Some(Json::Array(values)) = object.get_mut("enum") {
        values.retain(|value| *value != Json::Null);
        if allowed {
            values.push(Json::Null);
        }
        return !values.is_empty();
    }
    true
}

/// Gives `object` such keywords as another schema has them.
fn copy(object: &mut Object, from: &Object, wanted: impl Fn(&str) -> bool) {
    let is_wanted = |name: &Text| name.as_str().is_some_and(&wanted);
    object.retain(|name, _| !is_wanted(name));
    for (name, value) in from.iter().filter(|(name, _)| is_wanted(name)) {
        object.push(name.clone(), value.clone());
    }
}

fn is_about(keyword: &str, topics: &[Topic]) -> bool {
    topic(keyword).is_some_and(|topic| topics.contains(&topic))
}

fn exchange_required(object: &mut Object, from: &Object, member: &Text) {
    let listed = from
        .get("required")
        .and_then(Json::as_array)
        .and_then(|names| names.iter().find(|listed| listed.as_text() == Some(member)));
    not_required(object, member);
    if let Some(name) = listed {
        if !object.contains("required") {
            object.push("required", Json::Array(Vec::new()));
        }
        if let Some(Json::Array(names)) = object.get_mut("required") {
            names.push(name.clone());
        }
    }
}

fn exchange_member(object: &mut Object, from: &Object, member: &Text) {
    let schema = from
        .get("properties")
        .and_then(Json::as_object)
        .and_then(|members| members.iter().find(|(name, _)| *name == member));
    if let Some(Json::Object(properties)) = object.get_mut("properties") {
        properties.retain(|name, _| name != member);
    }
    if let Some((_, schema)) = schema {
        if !object.contains("properties") {
            object.push("properties", Json::Object(Object::new()));
        }
        if let Some(Json::Object(properties)) = object.get_mut("properties") {
            properties.push(member.clone(), schema.clone());
        }
    }
}

/// Adds the definitions that a document does not have.
fn add_definitions(root: &mut Json, other: &Json) {
    let Json::Object(root) = root else {
        return;
    };
    for keyword in ["$defs", "definitions"] {
        let Some(Json::Object(theirs)) = other.get(keyword) else {
            continue;
        };
        if !root.contains(keyword) {
            root.push(keyword, Json::Object(Object::new()));
        }
        let Some(Json::Object(own)) = root.get_mut(keyword) else {
            continue;
        };
        let names: Vec<Text> = own.iter().map(|(name, _)| name.clone()).collect();
        for (name, schema) in theirs.iter().filter(|(name, _)| !names.contains(name)) {
            own.push(name.clone(), schema.clone());
        }
    }
}

/// Removes what a finding is about from a receiver.
fn relax(
    receiver: &mut Document,
    sender: &Document,
    finding: &SchemaFinding,
    side: Side,
) -> Option<()> {
    let (sender_at, at) = match side {
        Side::Input => (&finding.site.0, &finding.site.1),
        Side::Output => (&finding.site.1, &finding.site.0),
    };
    let node = pointer::resolve_mut(&mut receiver.root, at)?;
    let relevant = relevant_keywords(finding.family);
    let object = match (&relevant, node) {
        (RelevantKeywords::Nothing, _) => return None,
        (RelevantKeywords::Place, node) => {
            *node = Json::Bool(true);
            return Some(());
        }
        (_, Json::Object(object)) => object,
        (_, node) => {
            *node = Json::Bool(true);
            return Some(());
        }
    };
    match relevant {
        RelevantKeywords::About(topics) => {
            object.retain(|name, _| !name.as_str().is_some_and(|name| is_about(name, topics)));
        }
        RelevantKeywords::Own => match pointer::tokens(&finding.pointer).last()?.as_str() {
            "minimum" | "exclusiveMinimum" => remove(object, &["minimum", "exclusiveMinimum"]),
            "maximum" | "exclusiveMaximum" => remove(object, &["maximum", "exclusiveMaximum"]),
            keyword => remove(object, &[keyword]),
        },
        RelevantKeywords::Required => not_required(object, finding.member.as_ref()?),
        RelevantKeywords::Member => {
            for member in finding.member.iter().chain(&finding.partner) {
                not_required(object, member);
                allow(object, member);
            }
        }
        RelevantKeywords::Patterns => {
            let mut patterns = Object::new();
            let theirs = sender
                .at(sender_at)
                .and_then(|schema| schema.get("patternProperties"));
            for (pattern, _) in [object.get("patternProperties"), theirs]
                .into_iter()
                .flatten()
                .filter_map(Json::as_object)
                .flat_map(Object::iter)
            {
                patterns.push(pattern.clone(), Json::Bool(true));
            }
            remove(object, &["patternProperties"]);
            object.push("patternProperties", Json::Object(patterns));
        }
        RelevantKeywords::Place | RelevantKeywords::Nothing => {}
    }
    Some(())
}

fn remove(object: &mut Object, keywords: &[&str]) {
    object.retain(|name, _| keywords.iter().all(|keyword| name != *keyword));
}

fn not_required(object: &mut Object, member: &Text) {
    if let Some(Json::Array(names)) = object.get_mut("required") {
        names.retain(|name| name.as_text() != Some(member));
    }
}

/// Allows any value for a member.
fn allow(object: &mut Object, member: &Text) {
    if !object.contains("properties") {
        object.push("properties", Json::Object(Object::new()));
    }
    if let Some(Json::Object(properties)) = object.get_mut("properties") {
        properties.retain(|name, _| name != member);
        properties.push(member.clone(), Json::Bool(true));
    }
}

#[cfg(test)]
mod tests {
    use crate::canonical::parse_str;
    use crate::rules::{self, Example};
    use crate::schema::compare;

    #[test]
    fn every_rule_fires_on_its_own_example() {
        let mut wrong = Vec::new();
        for rule in rules::all() {
            let Example::Schemas { old, new } = rule.example else {
                continue;
            };
            let side = rule.id.side().expect("a schema rule has a side");
            let found = compare(&parse_str(old).unwrap(), &parse_str(new).unwrap(), side);
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
}
