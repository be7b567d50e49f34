//! One table of keywords: what each is about, which values it takes in which draft, and where it contains schemas.

use std::ops::RangeInclusive;

use exact_json::Json;

use crate::document::Draft;
use crate::kinds::{JsonKind, Kinds};
use crate::value::as_count;

/// A keyword of JSON Schema, of any draft, or of OpenAPI.
#[derive(Debug)]
pub struct Keyword {
    /// As it is written.
    pub name: &'static str,
    /// What it is about.
    pub topic: Topic,
    /// How its value contains schemas.
    pub holds: &'static [Holds],
    /// Whether a schema inside that accepts more can make the schema around it refuse more.
    pub changes_polarity: bool,
    /// What its value has to be, by draft. A draft that is missing here ignores the keyword.
    takes: &'static [(RangeInclusive<Draft>, Shape)],
}

/// What a keyword is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// The kind of a value.
    Type,
    /// Which values there are.
    Values,
    /// A limit of numbers, lengths or counts.
    Bound,
    /// What a text looks like.
    Pattern,
    /// Which members there have to be.
    Required,
    /// Members by name.
    Members,
    /// Members that nothing else names.
    Undeclared,
    /// Names of members.
    Names,
    /// Members that depend on others.
    Dependencies,
    /// Items by index.
    Items,
    /// What some items have to be.
    Contains,
    /// Items that are not equal.
    Unique,
    /// Schemas that all apply.
    Conjunction,
    /// Schemas of which some apply.
    Alternatives,
    /// A schema that must not apply.
    Not,
    /// Schemas that depend on another one.
    Condition,
    /// A schema that is elsewhere.
    Reference,
    /// Schemas for references.
    Definitions,
    /// What a text is to contain: an annotation here, as in the specification, though some validators assert it.
    Content,
    /// OpenAPI's `nullable`, which is read as a type.
    Nullable,
    /// For people, generators and tools; no validator reads it.
    Annotation,
}

impl Topic {
    /// Whether its keywords decide which values are accepted.
    pub fn is_asserted(self) -> bool {
        !matches!(
            self,
            Self::Definitions | Self::Content | Self::Nullable | Self::Annotation
        )
    }
}

/// Where schemas are inside a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// The keyword's value is a schema.
    One,
    /// The keyword's value is a list of schemas.
    List,
    /// The keyword's value maps names to schemas.
    Map,
}

/// What the value of a keyword has to be.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Schema,
    SomeSchemas,
    SchemaOrSchemas,
    SchemasByName,
    SchemasOrNamesByName,
    Names,
    NamesByName,
    Types,
    List,
    Number,
    Positive,
    Count,
    Flag,
    Text,
}

const fn row(
    name: &'static str,
    topic: Topic,
    takes: &'static [(RangeInclusive<Draft>, Shape)],
    holds: &'static [Holds],
) -> Keyword {
    Keyword {
        name,
        topic,
        holds,
        changes_polarity: false,
        takes,
    }
}

impl Keyword {
    const fn changing_polarity(mut self) -> Self {
        self.changes_polarity = true;
        self
    }

    /// Whether a draft takes this value. One that ignores the keyword takes any.
    pub(crate) fn takes(&self, draft: Draft, value: &Json) -> bool {
        self.takes
            .iter()
            .find(|(drafts, _)| drafts.contains(&draft))
            .is_none_or(|(_, shape)| shape.fits(value))
    }
}

impl Shape {
    fn fits(self, value: &Json) -> bool {
        // Draft 4 has no boolean schemas, but servers' intent is clear.
        let is_schema = |value: &Json| matches!(value, Json::Object(_) | Json::Bool(_));
        let is_name = |value: &Json| value.as_text().is_some();
        let is_list_of = |value: &Json, fits: &dyn Fn(&Json) -> bool| {
            value.as_array().is_some_and(|list| list.iter().all(fits))
        };
        let is_map_of = |value: &Json, fits: &dyn Fn(&Json) -> bool| {
            value
                .as_object()
                .is_some_and(|map| map.iter().all(|(_, value)| fits(value)))
        };
        let is_filled = || value.as_array().is_some_and(|list| !list.is_empty());
        let is_type = |value: &Json| {
            value.as_str().is_some()
                && JsonKind::ALL
                    .iter()
                    .any(|kind| Kinds::of_keyword(value).has(*kind))
        };
        match self {
            Self::Schema => is_schema(value),
            Self::SomeSchemas => is_filled() && is_list_of(value, &is_schema),
            Self::SchemaOrSchemas => is_schema(value) || is_list_of(value, &is_schema),
            Self::SchemasByName => is_map_of(value, &is_schema),
            Self::SchemasOrNamesByName => is_map_of(value, &|value| {
                is_schema(value) || is_list_of(value, &is_name)
            }),
            Self::Names => is_list_of(value, &is_name),
            Self::NamesByName => is_map_of(value, &|value| is_list_of(value, &is_name)),
            Self::Types => is_type(value) || (is_filled() && is_list_of(value, &is_type)),
            Self::List => value.as_array().is_some(),
            Self::Number => matches!(value, Json::Number(_)),
            Self::Positive => matches!(value, Json::Number(number) if number.to_f64() > 0.0),
            Self::Count => as_count(value).is_some(),
            Self::Flag => matches!(value, Json::Bool(_)),
            Self::Text => is_name(value),
        }
    }
}

use Draft::{Four, Seven, Six, Y2019, Y2020};
use Holds::{List, Map, One};

const ALWAYS: RangeInclusive<Draft> = Four..=Y2020;
const SINCE_6: RangeInclusive<Draft> = Six..=Y2020;
const SINCE_7: RangeInclusive<Draft> = Seven..=Y2020;
const SINCE_2019: RangeInclusive<Draft> = Y2019..=Y2020;
const UP_TO_7: RangeInclusive<Draft> = Four..=Seven;
const UP_TO_2019: RangeInclusive<Draft> = Four..=Y2019;
const COUNT: &[(RangeInclusive<Draft>, Shape)] = &[(ALWAYS, Shape::Count)];
const NUMBER: &[(RangeInclusive<Draft>, Shape)] = &[(ALWAYS, Shape::Number)];
const EXCLUSIVE: &[(RangeInclusive<Draft>, Shape)] =
    &[(Four..=Four, Shape::Flag), (SINCE_6, Shape::Number)];
const SOME_SCHEMAS: &[(RangeInclusive<Draft>, Shape)] = &[(ALWAYS, Shape::SomeSchemas)];
const CONDITION: &[(RangeInclusive<Draft>, Shape)] = &[(SINCE_7, Shape::Schema)];
const UNEVALUATED: &[(RangeInclusive<Draft>, Shape)] = &[(SINCE_2019, Shape::Schema)];

/// Every keyword, by name.
#[rustfmt::skip]
pub static KEYWORDS: &[Keyword] = &[
    row("$anchor", Topic::Annotation, &[], &[]),
    row("$comment", Topic::Annotation, &[], &[]),
    row("$defs", Topic::Definitions, &[], &[Map]),
    row("$dynamicAnchor", Topic::Annotation, &[], &[]),
    row("$dynamicRef", Topic::Reference, &[], &[]),
    row("$id", Topic::Annotation, &[], &[]),
    row("$recursiveAnchor", Topic::Annotation, &[], &[]),
    row("$recursiveRef", Topic::Reference, &[], &[]),
    row("$ref", Topic::Reference, &[(ALWAYS, Shape::Text)], &[]),
    row("$schema", Topic::Annotation, &[], &[]),
    row("$vocabulary", Topic::Annotation, &[], &[]),
    row("additionalItems", Topic::Items, &[(UP_TO_2019, Shape::Schema)], &[One]),
    row("additionalProperties", Topic::Undeclared, &[(ALWAYS, Shape::Schema)], &[One]),
    row("allOf", Topic::Conjunction, SOME_SCHEMAS, &[List]),
    row("anyOf", Topic::Alternatives, SOME_SCHEMAS, &[List]),
    row("const", Topic::Values, &[], &[]),
    row("contains", Topic::Contains, &[(SINCE_6, Shape::Schema)], &[One]).changing_polarity(),
    row("contentEncoding", Topic::Content, &[], &[]),
    row("contentMediaType", Topic::Content, &[], &[]),
    row("contentSchema", Topic::Content, &[], &[One]),
    row("default", Topic::Annotation, &[], &[]),
    row("definitions", Topic::Definitions, &[], &[Map]),
    row("dependencies", Topic::Dependencies, &[(UP_TO_7, Shape::SchemasOrNamesByName)], &[Map]),
    row("dependentRequired", Topic::Dependencies, &[(SINCE_2019, Shape::NamesByName)], &[]),
    row("dependentSchemas", Topic::Dependencies, &[(SINCE_2019, Shape::SchemasByName)], &[Map]),
    row("deprecated", Topic::Annotation, &[], &[]),
    row("description", Topic::Annotation, &[], &[]),
    row("else", Topic::Condition, CONDITION, &[One]),
    row("enum", Topic::Values, &[(ALWAYS, Shape::List)], &[]),
    row("example", Topic::Annotation, &[], &[]),
    row("examples", Topic::Annotation, &[], &[]),
    row("exclusiveMaximum", Topic::Bound, EXCLUSIVE, &[]),
    row("exclusiveMinimum", Topic::Bound, EXCLUSIVE, &[]),
    row("format", Topic::Content, &[], &[]),
    row("id", Topic::Annotation, &[], &[]),
    row("if", Topic::Condition, CONDITION, &[One]).changing_polarity(),
    row("items", Topic::Items, &[(UP_TO_2019, Shape::SchemaOrSchemas), (Y2020..=Y2020, Shape::Schema)], &[One, List]),
    row("maxContains", Topic::Contains, &[(SINCE_2019, Shape::Count)], &[]),
    row("maxItems", Topic::Bound, COUNT, &[]),
    row("maxLength", Topic::Bound, COUNT, &[]),
    row("maxProperties", Topic::Bound, COUNT, &[]),
    row("maximum", Topic::Bound, NUMBER, &[]),
    row("minContains", Topic::Contains, &[(SINCE_2019, Shape::Count)], &[]),
    row("minItems", Topic::Bound, COUNT, &[]),
    row("minLength", Topic::Bound, COUNT, &[]),
    row("minProperties", Topic::Bound, COUNT, &[]),
    row("minimum", Topic::Bound, NUMBER, &[]),
    row("multipleOf", Topic::Bound, &[(ALWAYS, Shape::Positive)], &[]),
    row("not", Topic::Not, &[(ALWAYS, Shape::Schema)], &[One]).changing_polarity(),
    row("nullable", Topic::Nullable, &[], &[]),
    row("oneOf", Topic::Alternatives, SOME_SCHEMAS, &[List]).changing_polarity(),
    row("pattern", Topic::Pattern, &[(ALWAYS, Shape::Text)], &[]),
    row("patternProperties", Topic::Members, &[(ALWAYS, Shape::SchemasByName)], &[Map]),
    row("prefixItems", Topic::Items, &[(Y2020..=Y2020, Shape::SomeSchemas)], &[List]),
    row("properties", Topic::Members, &[(ALWAYS, Shape::SchemasByName)], &[Map]),
    row("propertyNames", Topic::Names, &[(SINCE_6, Shape::Schema)], &[One]),
    row("readOnly", Topic::Annotation, &[], &[]),
    row("required", Topic::Required, &[(ALWAYS, Shape::Names)], &[]),
    row("then", Topic::Condition, CONDITION, &[One]),
    row("title", Topic::Annotation, &[], &[]),
    row("type", Topic::Type, &[(ALWAYS, Shape::Types)], &[]),
    row("unevaluatedItems", Topic::Items, UNEVALUATED, &[One]),
    row("unevaluatedProperties", Topic::Undeclared, UNEVALUATED, &[One]),
    row("uniqueItems", Topic::Unique, &[(ALWAYS, Shape::Flag)], &[]),
    row("writeOnly", Topic::Annotation, &[], &[]),
];

/// The keyword of a name; `None` for what no draft knows.
pub fn keyword(name: &str) -> Option<&'static Keyword> {
    let at = KEYWORDS
        .binary_search_by(|keyword| keyword.name.cmp(name))
        .ok()?;
    KEYWORDS.get(at)
}

/// What a keyword is about; `None` for what no draft knows.
pub fn topic(name: &str) -> Option<Topic> {
    keyword(name).map(|keyword| keyword.topic)
}

/// Whether, and how, a keyword's value contains schemas.
pub fn holds(name: &str, value: &Json) -> Option<Holds> {
    keyword(name)?
        .holds
        .iter()
        .copied()
        .find(|holds| match holds {
            One => matches!(value, Json::Object(_) | Json::Bool(_)),
            List => matches!(value, Json::Array(_)),
            Map => matches!(value, Json::Object(_)),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted() {
        assert!(KEYWORDS.is_sorted_by(|one, other| one.name < other.name));
    }

    #[test]
    fn a_value_fits_a_keyword_of_its_draft() {
        for (name, draft, value, fits) in [
            ("exclusiveMinimum", Four, "true", true),
            ("exclusiveMinimum", Six, "true", false),
            ("items", Y2019, "[{}]", true),
            ("items", Y2020, "[{}]", false),
            ("prefixItems", Seven, "5", true),
            ("dependencies", Seven, r#"{"a": ["b"], "c": {}}"#, true),
            ("dependencies", Seven, r#"{"a": 1}"#, false),
            ("type", Y2020, r#"["string", "null"]"#, true),
            ("type", Y2020, "[]", false),
            ("type", Y2020, r#""text""#, false),
            ("multipleOf", Y2020, "0", false),
            ("minLength", Y2020, "-1", false),
            ("description", Y2020, "null", true),
        ] {
            let value = exact_json::parse_str(value).expect("JSON");
            let keyword = keyword(name).expect("a keyword");
            assert_eq!(keyword.takes(draft, &value), fits, "{name}: {value}");
        }
    }
}
