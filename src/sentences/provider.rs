//! Why a provider's strict mode rejects a tool: what follows the name of a keyword.

pub(crate) const LEVELS: &str = "levels of nested objects";
pub(crate) const PROPERTIES: &str = "properties in total";
pub(crate) const ENUM_VALUES: &str = "enum values in total";
pub(crate) const CHARACTERS: &str = "characters of names and values in total";
pub(crate) const OPTIONAL: &str = "optional properties in total";
pub(crate) const UNIONS: &str = "properties with more than one type in total";

pub(crate) fn must_be(naming: &str) -> String {
    format!("must be {naming}")
}

pub(crate) fn names_must_be(naming: &str) -> String {
    format!("names must be {naming}")
}

pub(crate) fn arguments_not_an_object(found: &str) -> String {
    format!("must be `object` for the arguments, not {found}")
}

pub(crate) fn unsupported() -> String {
    "is not supported".to_owned()
}

pub(crate) fn unsupported_at_top_level() -> String {
    "is not supported at the top level of the arguments".to_owned()
}

pub(crate) fn supported_only(found: &str, supported: &str) -> String {
    format!("is {found}; supported: {supported}")
}

/// `what` is one of the totals above.
pub(crate) fn too_many(count: usize, what: &str, most: usize) -> String {
    format!("makes {count} {what}; the limit is {most}")
}

pub(crate) fn describes_nothing(schema: &str) -> String {
    format!("is required: {schema} does not describe the value")
}

pub(crate) fn accepts_anything() -> String {
    "is required: the schema accepts any value".to_owned()
}

pub(crate) fn nested_deeper(levels: usize) -> String {
    format!("is nested more than {levels} levels deep")
}

pub(crate) fn not_alone(other: &str) -> String {
    format!("must be the only keyword of its schema, which also has `{other}`")
}

pub(crate) fn enum_too_long(values: usize, characters: usize, most: usize) -> String {
    format!("has more than {values} values and {characters} characters; the limit is {most}")
}

pub(crate) fn missing_from_array() -> String {
    "is missing from an array".to_owned()
}

pub(crate) fn reference_leads_out(reference: &str) -> String {
    format!("is {reference}, but must point into the same schema")
}

pub(crate) fn reference_leads_nowhere(reference: &str) -> String {
    format!("is {reference}, which does not exist")
}

pub(crate) fn reference_recursive(reference: &str) -> String {
    format!("is {reference}, which makes the schema recursive")
}
