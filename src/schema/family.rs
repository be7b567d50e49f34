//! What is at stake in each family of rules: which part of the receiver's schema rejects because of
//! it. Every match is exhaustive, so that a new family without an answer does not compile.

use super::document::Document;
use super::interpretation::at_mut;
use super::walk::SchemaFinding;
use super::{Family, Side};
use crate::canonical::{Json, Object, Text, pointer};

/// What a receiver would have to drop for a finding to be harmless.
enum Stake {
    /// These keywords at its place.
    Keywords(&'static [&'static str]),
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

fn stake(family: Family) -> Stake {
    match family {
        Family::PropertyTypeChanged
        | Family::PropertyTypeNarrowed
        | Family::PropertyTypeWidened => Stake::Keywords(&["type"]),
        Family::NullableAdded | Family::NullableRemoved => {
            Stake::Keywords(&["type", "enum", "const", "anyOf", "oneOf"])
        }
        Family::EnumValueAdded | Family::EnumValueRemoved | Family::ConstChanged => {
            Stake::Keywords(&["enum", "const", "anyOf", "oneOf"])
        }
        Family::BoundTightened | Family::BoundLoosened => Stake::Own,
        Family::PatternAdded | Family::PatternChanged | Family::PatternRemoved => {
            Stake::Keywords(&["pattern"])
        }
        Family::PropertyBecameRequired
        | Family::PropertyBecameOptional
        | Family::PropertyRequiredWithDefault => Stake::Required,
        Family::PropertyAddedRequired
        | Family::PropertyAddedOptional
        | Family::PropertyRemoved
        | Family::PropertyRenamed => Stake::Member,
        Family::AdditionalPropertiesClosed | Family::AdditionalPropertiesOpened => {
            Stake::Keywords(&["additionalProperties", "unevaluatedProperties"])
        }
        Family::PropertyNamesChanged => Stake::Keywords(&["propertyNames"]),
        Family::ConditionalChanged => Stake::Keywords(&["if", "then", "else"]),
        Family::NotChanged => Stake::Keywords(&["not"]),
        Family::DependencyChanged => {
            Stake::Keywords(&["dependentRequired", "dependentSchemas", "dependencies"])
        }
        Family::PatternPropertiesChanged => Stake::Patterns,
        Family::ItemsChanged => Stake::Keywords(&[
            "items",
            "prefixItems",
            "additionalItems",
            "unevaluatedItems",
            "contains",
            "minContains",
            "maxContains",
            "uniqueItems",
        ]),
        Family::UnionBranchRemoved
        | Family::UnionBranchAdded
        | Family::CompositionChanged
        | Family::SchemaEmptied
        | Family::SchemaUnclassified
        | Family::DialectChanged => Stake::Place,
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
        | Family::McpHeaderChanged => Stake::Nothing,
    }
}

/// Whether a finding of this family may have a witness.
pub(crate) fn carries(family: Family) -> bool {
    !matches!(stake(family), Stake::Nothing)
}

/// The family whose rule names what a keyword rejects.
pub(crate) fn of_keyword(keyword: &str, side: Side) -> Family {
    let either = |input, output| match side {
        Side::Input => input,
        Side::Output => output,
    };
    match keyword {
        "type" => Family::PropertyTypeChanged,
        "enum" | "const" => either(Family::EnumValueRemoved, Family::EnumValueAdded),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf"
        | "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
        | "maxProperties" => either(Family::BoundTightened, Family::BoundLoosened),
        "pattern" => Family::PatternChanged,
        "required" => either(
            Family::PropertyBecameRequired,
            Family::PropertyBecameOptional,
        ),
        "additionalProperties" | "unevaluatedProperties" => either(
            Family::AdditionalPropertiesClosed,
            Family::AdditionalPropertiesOpened,
        ),
        "propertyNames" => Family::PropertyNamesChanged,
        "items" | "prefixItems" | "additionalItems" | "unevaluatedItems" | "contains"
        | "minContains" | "maxContains" | "uniqueItems" => Family::ItemsChanged,
        "not" => Family::NotChanged,
        "dependentRequired" | "dependentSchemas" | "dependencies" => Family::DependencyChanged,
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
    let Json::Object(object) = at_mut(&mut root, at)? else {
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

/// The receiver without what a finding is about; `None` if nothing rejects because of it or the
/// place is gone.
pub(crate) fn relaxed(
    receiver: &Document,
    sender: &Document,
    finding: &SchemaFinding,
    side: Side,
) -> Option<Document> {
    let mut relaxed = receiver.clone();
    relax(&mut relaxed, sender, finding, side)?;
    Some(relaxed)
}

/// Removes what a finding is about from a receiver.
pub(crate) fn relax(
    receiver: &mut Document,
    sender: &Document,
    finding: &SchemaFinding,
    side: Side,
) -> Option<()> {
    let (sender_at, at) = match side {
        Side::Input => (&finding.site.0, &finding.site.1),
        Side::Output => (&finding.site.1, &finding.site.0),
    };
    let node = at_mut(&mut receiver.root, at)?;
    let stake = stake(finding.family);
    let object = match (&stake, node) {
        (Stake::Nothing, _) => return None,
        (Stake::Place, node) => {
            *node = Json::Bool(true);
            return Some(());
        }
        (_, Json::Object(object)) => object,
        (_, node) => {
            *node = Json::Bool(true);
            return Some(());
        }
    };
    match stake {
        Stake::Keywords(keywords) => remove(object, keywords),
        Stake::Own => match pointer::tokens(&finding.pointer).last()?.as_str() {
            "minimum" | "exclusiveMinimum" => remove(object, &["minimum", "exclusiveMinimum"]),
            "maximum" | "exclusiveMaximum" => remove(object, &["maximum", "exclusiveMaximum"]),
            keyword => remove(object, &[keyword]),
        },
        Stake::Required => not_required(object, finding.member.as_ref()?),
        Stake::Member => {
            for member in finding.member.iter().chain(&finding.partner) {
                not_required(object, member);
                allow(object, member);
            }
        }
        Stake::Patterns => {
            let mut patterns = Object::new();
            let theirs = sender
                .at(sender_at)
                .and_then(|it| it.get("patternProperties"));
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
        Stake::Place | Stake::Nothing => {}
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
