//! Whether a model provider's strict mode takes a tool as it is declared.
//!
//! MCP allows all of JSON Schema in a tool's `inputSchema`; the providers that models are called through take a part
//! of it each. A tool outside that part is refused at the provider's door, often with every other tool of the same
//! request, so that a harmless-looking `format` can take a whole server away from a client.
//!
//! The promise: what a provider takes is one [table], never a condition in the walker; `docs/providers.md` prints that
//! table, and `sources.md` beside this file says where each row comes from. Rewritings that the providers' own SDKs do, and that let no call through that the tool
//! would refuse (closing an object, requiring a parameter and letting it be null), do not count against a tool;
//! dropping a constraint does. Pure and linear: each subschema is looked at once, references are followed within the
//! document only, and nothing is ever fetched.

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

/// One thing in a tool's definition that a provider does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where in the definition: `/inputSchema/properties/x/oneOf`.
    pub pointer: String,
    /// What it is about: a JSON Schema keyword, or `name`.
    pub keyword: String,
    /// Why, as the end of a sentence that names the keyword. May quote the server: escape it before printing.
    pub reason: String,
}

/// What the provider does not take about a tool, in the order of the definition; totals come last. At most
/// [`table::MOST_VIOLATIONS`]: whoever needs more has enough to do.
pub fn violations(provider: Provider, definition: &Json) -> Vec<Violation> {
    walk::violations(provider, definition)
}
