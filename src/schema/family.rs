//! What the provers know of each family: which keywords refuse an instance on its behalf, and what is at stake at its
//! place. Every match names every family, so that a new one without an answer does not compile.

use super::{Family, Side};

/// The keywords that refuse on behalf of a family, at its own place. None means that any may, there and below.
pub(crate) fn keywords_for(family: Family) -> &'static [&'static str] {
    match family {
        Family::PropertyTypeChanged
        | Family::PropertyTypeNarrowed
        | Family::PropertyTypeWidened => &["type"],
        Family::NullableAdded | Family::NullableRemoved => &["type", "enum", "const"],
        Family::EnumValueAdded | Family::EnumValueRemoved | Family::ConstChanged => {
            &["enum", "const"]
        }
        Family::BoundTightened | Family::BoundLoosened => &[
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "minProperties",
            "maxProperties",
        ],
        Family::PatternAdded | Family::PatternChanged | Family::PatternRemoved => &["pattern"],
        // A format is an annotation; nothing refuses on its behalf.
        Family::FormatAdded | Family::FormatChanged | Family::FormatRemoved => &["format"],
        Family::ContentChanged => &["contentEncoding", "contentMediaType"],
        Family::PropertyBecameRequired
        | Family::PropertyBecameOptional
        | Family::PropertyAddedRequired
        | Family::PropertyRequiredWithDefault => &["required"],
        Family::AdditionalPropertiesClosed | Family::AdditionalPropertiesOpened => {
            &["additionalProperties", "unevaluatedProperties"]
        }
        Family::PropertyNamesChanged => &["propertyNames"],
        Family::ConditionalChanged => &["if", "required", "additionalProperties"],
        Family::PropertyAddedOptional
        | Family::PropertyRemoved
        | Family::PropertyRenamed
        | Family::PatternPropertiesChanged
        | Family::DependencyChanged
        | Family::UnionBranchRemoved
        | Family::UnionBranchAdded
        | Family::ItemsChanged
        | Family::CompositionChanged
        | Family::NotChanged
        | Family::RefRestructured
        | Family::DefinitionsChanged
        | Family::EquivalentRestructured
        | Family::SchemaSpellingChanged
        | Family::SchemaEmptied
        | Family::SchemaUnclassified
        | Family::DialectChanged
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
        | Family::McpHeaderChanged => &[],
    }
}

/// What a finding puts at stake, where it is about a member of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stake {
    /// What the member may hold.
    Value,
    /// Whether the member is there at all.
    Presence,
    /// Whether the member is there, if the receiver requires it; else what it may hold.
    PresenceIfRequired,
    /// Only members that the sender does not name.
    UndeclaredMembers,
}

pub(crate) fn stake(family: Family, side: Side) -> Stake {
    match family {
        Family::AdditionalPropertiesClosed | Family::AdditionalPropertiesOpened => {
            Stake::UndeclaredMembers
        }
        Family::PropertyBecameRequired | Family::PropertyBecameOptional => Stake::Presence,
        Family::PropertyAddedRequired
        | Family::PropertyAddedOptional
        | Family::PropertyRequiredWithDefault => match side {
            Side::Input => Stake::Presence,
            Side::Output => Stake::Value,
        },
        Family::PropertyRemoved => match side {
            Side::Input => Stake::Value,
            Side::Output => Stake::PresenceIfRequired,
        },
        Family::PropertyRenamed
        | Family::PropertyNamesChanged
        | Family::PatternPropertiesChanged
        | Family::DependencyChanged
        | Family::PropertyTypeChanged
        | Family::PropertyTypeNarrowed
        | Family::PropertyTypeWidened
        | Family::NullableRemoved
        | Family::NullableAdded
        | Family::UnionBranchRemoved
        | Family::UnionBranchAdded
        | Family::EnumValueRemoved
        | Family::EnumValueAdded
        | Family::ConstChanged
        | Family::BoundTightened
        | Family::BoundLoosened
        | Family::PatternAdded
        | Family::PatternRemoved
        | Family::PatternChanged
        | Family::FormatAdded
        | Family::FormatRemoved
        | Family::FormatChanged
        | Family::ContentChanged
        | Family::ItemsChanged
        | Family::CompositionChanged
        | Family::ConditionalChanged
        | Family::NotChanged
        | Family::RefRestructured
        | Family::DefinitionsChanged
        | Family::EquivalentRestructured
        | Family::SchemaSpellingChanged
        | Family::SchemaEmptied
        | Family::SchemaUnclassified
        | Family::DialectChanged
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
        | Family::McpHeaderChanged => Stake::Value,
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
