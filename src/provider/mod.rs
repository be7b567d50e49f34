//! Whether a model provider's strict mode accepts a tool as declared.
//!
//! MCP allows all of JSON Schema in a tool's `inputSchema`; each model provider accepts a subset.
//! The provider rejects a tool outside its subset, often together with every other tool in the
//! request, so that a harmless-looking `format` can make a whole server unusable for a client.
//!
//! The promise: what a provider accepts is in one [table], never in a condition of the walker;
//! `docs/providers.md` prints that table, and `sources.md` next to this file cites the source of
//! each row. Rewrites that the providers' own SDKs perform without admitting calls that the tool
//! would reject (closing an object, requiring a parameter and making it nullable) do not count
//! against a tool; dropping a constraint does. Pure and linear: each subschema is visited once,
//! references are followed within the document only, and nothing is fetched.

pub mod table;
mod walk;

#[cfg(test)]
mod tests;

use crate::canonical::Json;
use crate::keyword_enum::keyword_enum;

/// A provider and its mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provider {
    /// Function calling with `strict: true` (the Structured Outputs subset).
    OpenAi,
    /// Tool use with `strict: true` (the structured outputs limitations).
    Anthropic,
    /// Function declarations (the `Schema` object, a subset of OpenAPI 3.0).
    Gemini,
}

keyword_enum!(Provider { OpenAi = "openai-strict", Anthropic = "anthropic-strict", Gemini = "gemini" });

/// One thing in a tool's definition that a provider rejects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where in the definition: `/inputSchema/properties/x/oneOf`.
    pub pointer: String,
    /// The JSON Schema keyword, or `name`.
    pub keyword: String,
    /// Why, as the end of a sentence that names the keyword. May quote the server: escape before
    /// printing.
    pub reason: String,
}

/// What the provider rejects in a tool, in the order of the definition; totals come last. At most
/// [`table::MOST_VIOLATIONS`] are returned.
pub fn violations(provider: Provider, definition: &Json) -> Vec<Violation> {
    walk::violations(provider, definition)
}
