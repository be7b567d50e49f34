//! What each provider accepts: the one place to change when a provider changes its rules.
//!
//! A keyword that is not listed is an annotation or a vendor extension: all three providers, or
//! their SDKs, drop those without changing which calls are possible.

use std::fmt::Write as _;

use super::Provider;
use crate::canonical::Json;

/// At most this many violations are collected.
pub const MOST_VIOLATIONS: usize = 100;

/// The walker stops at this nesting depth (references included); no provider accepts as much.
pub(super) const DEEPEST: usize = 256;

/// What happens to a keyword.
#[derive(Clone, Copy)]
pub(super) enum Fate {
    /// Accepted as is.
    Yes,
    /// The provider's SDK, or any client, rewrites it without admitting new calls. The text says
    /// how.
    Fixed(&'static str),
    /// Rejected, or dropped together with its constraint.
    No,
    /// Accepted with certain values only. The text says which.
    Only(&'static str, fn(&Json) -> bool),
}

use Fate::{Fixed, No, Only, Yes};

// The conditional fates, with the text for the table and the messages.

const CLOSED: Fate = Only("only `false` (added if missing)", |value| {
    value.as_bool() == Some(false)
});
const OPEN_OR_CLOSED: Fate = Only(
    "only `true`, `false` and `{}`, which are dropped",
    |value| value.as_bool().is_some() || is_empty(value),
);
const ANY_STRING: Fate = Only("only if it matches every name", |value| {
    let says = value.as_object().map(|it| it.iter().map(|(name, _)| name));
    let only_type = says.is_some_and(|mut names| names.all(|name| name == "type"));
    only_type && (is_empty(value) || value.get("type").and_then(Json::as_str) == Some("string"))
});
const ONE_SCHEMA: Fate = Only("only one schema for all items", |value| {
    value.as_array().is_none()
});
const ONE_BRANCH: Fate = Only("only one branch, which is merged", |value| {
    value.as_array().is_some_and(|all| all.len() == 1)
});
const WITHOUT_REF: Fate = Only("only branches without `$ref`", |value| {
    let branches = value.as_array().unwrap_or_default();
    branches.iter().all(|it| it.get("$ref").is_none())
});
const SCALAR: Fate = Only("only a scalar", is_scalar);
const SCALARS: Fate = Only("only scalars", |value| {
    value.as_array().unwrap_or_default().iter().all(is_scalar)
});
const STRING: Fate = Only("only a string, which becomes an `enum`", |value| {
    value.as_text().is_some()
});
/// `null` among them is expressed by `nullable`.
const STRINGS: Fate = Only("only strings", |value| {
    let is_string = |it: &Json| matches!(it, Json::String(_) | Json::Null);
    value.as_array().unwrap_or_default().iter().all(is_string)
});
const ZERO_OR_ONE: Fate = Only(
    "only 0 and 1",
    |value| matches!(value, Json::Number(it) if [0.0, 1.0].contains(&it.to_f64())),
);
const PLAIN_PATTERN: Fate = Only(
    "only without lookaround, backreferences and word boundaries",
    is_plain_pattern,
);
const OPENAI_FORMAT: Fate = Only(
    "only date-time, time, date, duration, email, hostname, ipv4, ipv6, uuid",
    is_common_format,
);
const ANTHROPIC_FORMAT: Fate = Only(
    "only date-time, time, date, duration, email, hostname, uri, ipv4, ipv6, uuid",
    |value| is_common_format(value) || value.as_str() == Some("uri"),
);
const AS_ANY_OF: Fate = Fixed("becomes `anyOf`");
const ALL_REQUIRED: Fate = Fixed("all become required, the optional ones nullable");
const ONE_TYPE: Fate = Fixed("a list becomes `nullable` and `anyOf`");
const INLINED: Fate = Fixed("is inlined");

/// Every keyword that restricts which calls are possible, with its fate: OpenAI strict, Anthropic
/// strict, Gemini.
pub(super) const KEYWORDS: &[(&str, [Fate; 3])] = &[
    ("type", [Yes, Yes, ONE_TYPE]),
    ("enum", [Yes, SCALARS, STRINGS]),
    ("const", [Yes, SCALAR, STRING]),
    ("properties", [Yes, Yes, Yes]),
    ("required", [ALL_REQUIRED, Yes, Yes]),
    ("additionalProperties", [CLOSED, CLOSED, OPEN_OR_CLOSED]),
    ("patternProperties", [No, No, No]),
    ("propertyNames", [No, No, ANY_STRING]),
    ("unevaluatedProperties", [No, No, No]),
    ("minProperties", [No, No, Yes]),
    ("maxProperties", [No, No, Yes]),
    ("dependentRequired", [No, No, No]),
    ("dependentSchemas", [No, No, No]),
    ("dependencies", [No, No, No]),
    ("items", [ONE_SCHEMA, ONE_SCHEMA, ONE_SCHEMA]),
    ("prefixItems", [Yes, No, No]),
    ("additionalItems", [No, No, No]),
    ("unevaluatedItems", [No, No, No]),
    ("contains", [No, No, No]),
    ("minContains", [No, No, No]),
    ("maxContains", [No, No, No]),
    ("uniqueItems", [No, No, No]),
    ("minItems", [Yes, ZERO_OR_ONE, Yes]),
    ("maxItems", [Yes, No, Yes]),
    ("minLength", [Yes, No, Yes]),
    ("maxLength", [Yes, No, Yes]),
    ("pattern", [Yes, PLAIN_PATTERN, Yes]),
    ("format", [OPENAI_FORMAT, ANTHROPIC_FORMAT, Yes]),
    ("minimum", [Yes, No, Yes]),
    ("maximum", [Yes, No, Yes]),
    ("exclusiveMinimum", [Yes, No, No]),
    ("exclusiveMaximum", [Yes, No, No]),
    ("multipleOf", [Yes, No, No]),
    ("anyOf", [Yes, Yes, Yes]),
    ("oneOf", [AS_ANY_OF, AS_ANY_OF, AS_ANY_OF]),
    ("allOf", [ONE_BRANCH, WITHOUT_REF, ONE_BRANCH]),
    ("not", [No, No, No]),
    ("if", [No, No, No]),
    ("then", [No, No, No]),
    ("else", [No, No, No]),
    ("$ref", [Yes, Yes, INLINED]),
    ("$dynamicRef", [No, No, No]),
    ("$recursiveRef", [No, No, No]),
];

/// A provider's other limits.
pub(super) struct Limits {
    /// For a tool's name.
    pub(super) name: Naming,
    /// For a property's name.
    pub(super) property: Option<Naming>,
    /// Whether a schema may refer to itself.
    pub(super) recursion: bool,
    /// Whether an array must declare `items`.
    pub(super) items_needed: bool,
    /// Whether `anyOf` allows no other keywords beside it, except annotations.
    pub(super) lone_any_of: bool,
    /// Levels of nested objects, including the arguments themselves.
    pub(super) levels: Option<usize>,
    pub(super) properties: Option<usize>,
    pub(super) enum_values: Option<usize>,
    /// Characters of all property and definition names and of all `enum` and `const` values.
    pub(super) characters: Option<usize>,
    /// An enum with more strings than the first number may have at most the second number of
    /// characters.
    pub(super) long_enum: Option<(usize, usize)>,
    /// Optional properties in total (per request, so a single tool may not have more).
    pub(super) optional: Option<usize>,
    /// Properties with more than one type in total (per request, too).
    pub(super) unions: Option<usize>,
}

#[derive(Clone, Copy)]
pub(super) struct Naming {
    /// Allowed besides ASCII letters and digits.
    pub(super) also: &'static str,
    /// Maximum number of characters.
    pub(super) longest: usize,
    /// Whether the first character must be a letter or `_`.
    pub(super) starts_with_letter: bool,
}

impl Naming {
    pub(super) fn takes(&self, name: &str) -> bool {
        let fits = |c: char| c.is_ascii_alphanumeric() || self.also.contains(c);
        let starts = |c: char| c.is_ascii_alphabetic() || c == '_';
        !name.is_empty()
            && name.chars().count() <= self.longest
            && name.chars().all(fits)
            && (!self.starts_with_letter || name.starts_with(starts))
    }

    /// "letters, digits and `_-`, at most 64 characters".
    pub(super) fn describe(&self) -> String {
        let first = if self.starts_with_letter {
            ", starting with a letter or `_`"
        } else {
            ""
        };
        format!(
            "letters, digits and `{}`, at most {} characters{first}",
            self.also, self.longest
        )
    }
}

const OPENAI: Limits = Limits {
    name: Naming {
        also: "_-",
        longest: 64,
        starts_with_letter: false,
    },
    property: None,
    recursion: true,
    items_needed: true,
    lone_any_of: false,
    levels: Some(10),
    properties: Some(5_000),
    enum_values: Some(1_000),
    characters: Some(120_000),
    long_enum: Some((250, 15_000)),
    optional: None,
    unions: None,
};

const ANTHROPIC: Limits = Limits {
    name: Naming {
        also: "_-",
        longest: 128,
        starts_with_letter: false,
    },
    property: Some(Naming {
        also: "_.-",
        longest: 64,
        starts_with_letter: false,
    }),
    recursion: false,
    items_needed: false,
    lone_any_of: false,
    levels: None,
    properties: None,
    enum_values: None,
    characters: None,
    long_enum: None,
    optional: Some(24),
    unions: Some(16),
};

const GEMINI: Limits = Limits {
    name: Naming {
        also: "_.:-",
        longest: 64,
        starts_with_letter: true,
    },
    property: None,
    recursion: false,
    items_needed: true,
    lone_any_of: true,
    levels: None,
    properties: None,
    enum_values: None,
    characters: None,
    long_enum: None,
    optional: None,
    unions: None,
};

impl Provider {
    pub(super) fn limits(self) -> &'static Limits {
        match self {
            Provider::OpenAi => &OPENAI,
            Provider::Anthropic => &ANTHROPIC,
            Provider::Gemini => &GEMINI,
        }
    }

    /// The fate of a keyword; `None` if it does not restrict which calls are possible.
    pub(super) fn fate(self, keyword: &str) -> Option<Fate> {
        let (_, fates) = KEYWORDS.iter().find(|(name, _)| *name == keyword)?;
        Some(fates[self as usize])
    }
}

/// The table for `docs/providers.md`.
pub fn markdown() -> String {
    let mut out = String::from("| keyword |");
    for provider in Provider::ALL {
        let _ = write!(out, " {provider} |");
    }
    out += "\n|---|---|---|---|\n";
    for (keyword, fates) in KEYWORDS {
        let _ = write!(out, "| `{keyword}` |");
        for fate in fates {
            let _ = match fate {
                Yes => write!(out, " yes |"),
                No => write!(out, " **no** |"),
                Fixed(how) => write!(out, " fixed: {how} |"),
                Only(which, _) => write!(out, " {which} |"),
            };
        }
        out.push('\n');
    }
    out
}

fn is_empty(value: &Json) -> bool {
    value.as_object().is_some_and(|it| it.is_empty())
}

fn is_scalar(value: &Json) -> bool {
    !matches!(value, Json::Array(_) | Json::Object(_))
}

fn is_common_format(value: &Json) -> bool {
    const KNOWN: &[&str] = &[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    ];
    value.as_str().is_some_and(|it| KNOWN.contains(&it))
}

/// Rejects what the grammar behind strict tool use cannot express. An escaped backslash does not
/// start an escape, so the pattern is read from the left.
fn is_plain_pattern(value: &Json) -> bool {
    let Some(pattern) = value.as_str() else {
        return false;
    };
    if ["(?=", "(?!", "(?<=", "(?<!"]
        .iter()
        .any(|it| pattern.contains(it))
    {
        return false;
    }
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character == '\\' && matches!(characters.next(), Some('b' | 'B' | 'k' | '1'..='9')) {
            return false;
        }
    }
    true
}
