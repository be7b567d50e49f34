//! What the tools of a server cost in a model's context.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::canonical::Json;
use crate::surface::{ComponentKey, Kind, Surface};

/// About how many tokens the tools of a server cost, before and now.
///
/// The text of a tool is the JSON object of its `name`, `description` and `inputSchema`, in this
/// order and without spaces, as clients hand it to a model. What a provider wraps around it differs
/// and is not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Tokens of the pinned tools.
    #[serde(rename = "baselineTokens")]
    pub baseline: usize,
    /// Tokens of the current tools.
    #[serde(rename = "currentTokens")]
    pub current: usize,
    /// Each tool, sorted by key.
    pub tools: Vec<ToolCost>,
}

/// What one tool costs; `None` where it does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCost {
    #[serde(with = "super::document::key")]
    pub component: ComponentKey,
    #[serde(rename = "baselineTokens")]
    pub baseline: Option<usize>,
    #[serde(rename = "currentTokens")]
    pub current: Option<usize>,
}

impl Cost {
    pub fn new(old: Option<&Surface>, new: Option<&Surface>) -> Self {
        let (old, new) = (tokens_by_tool(old), tokens_by_tool(new));
        let mut tools: BTreeMap<&ComponentKey, ToolCost> = BTreeMap::new();
        for key in old.keys().chain(new.keys()) {
            tools.entry(key).or_insert_with(|| ToolCost {
                component: (*key).clone(),
                baseline: old.get(key).copied(),
                current: new.get(key).copied(),
            });
        }
        Self {
            baseline: old.values().sum(),
            current: new.values().sum(),
            tools: tools.into_values().collect(),
        }
    }
}

fn tokens_by_tool(surface: Option<&Surface>) -> BTreeMap<&ComponentKey, usize> {
    let mut text = String::new();
    let mut tokens = BTreeMap::new();
    for tool in surface.into_iter().flat_map(|all| all.of_kind(Kind::Tool)) {
        write_counted(&tool.definition, &mut text);
        tokens.insert(&tool.key, estimate(&text));
    }
    tokens
}

/// The members of a tool that a model reads as one JSON object, in the order in which clients send
/// them, in place of what `out` holds.
fn write_counted(definition: &Json, out: &mut String) {
    out.clear();
    for name in ["name", "description", "inputSchema"] {
        if let Some(value) = definition.get(name) {
            out.push(if out.is_empty() { '{' } else { ',' });
            out.push('"');
            out.push_str(name);
            out.push_str("\":");
            crate::canonical::write_compact(out, value);
        }
    }
    if out.is_empty() {
        out.push('{');
    }
    out.push('}');
}

/// Characters that tokenizers keep together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Letters of one or two bytes: Latin, Greek, Cyrillic, Arabic and the like.
    Letter,
    Digit,
    Space,
    /// Punctuation, and what takes three bytes or more, such as Chinese.
    Other,
}

impl Class {
    fn of(character: char) -> Self {
        match character {
            '0'..='9' => Self::Digit,
            _ if character.is_whitespace() => Self::Space,
            _ if character.is_alphabetic() && character.len_utf8() < 3 => Self::Letter,
            _ => Self::Other,
        }
    }

    /// Tokens of this many bytes of one class. A space belongs to the word behind it.
    fn tokens(self, bytes: usize) -> usize {
        match self {
            Self::Letter => bytes.div_ceil(10),
            Self::Digit => bytes.div_ceil(3),
            Self::Space => bytes / 10,
            Self::Other => bytes.div_ceil(4),
        }
    }
}

/// About how many tokens a text is. Every model has a tokenizer of its own; docs/formats.md says how
/// far this is from one of them.
fn estimate(text: &str) -> usize {
    let mut tokens = 0;
    let mut run = (Class::Space, 0);
    for character in text.chars() {
        let class = Class::of(character);
        if class != run.0 {
            tokens += run.0.tokens(run.1);
            run = (class, 0);
        }
        run.1 += character.len_utf8();
    }
    tokens + run.0.tokens(run.1)
}

#[cfg(test)]
mod tests {
    use super::estimate;

    #[test]
    fn tokens_are_estimated_by_runs_of_alike_characters() {
        for (text, tokens) in [
            ("", 0),
            ("hello world", 2),
            ("12345", 2),
            ("a.b", 3),
            ("supercalifragilistic", 2),
            ("\n\n  ", 0),
            // Twelve letters of two bytes each.
            (
                "\u{43f}\u{440}\u{43e}\u{433}\u{43d}\u{43e}\u{437}\u{43f}\u{440}\u{43e}\u{433}\u{43d}",
                3,
            ),
            ("\u{5929}\u{6c14}\u{9884}\u{62a5}", 3),
        ] {
            assert_eq!(estimate(text), tokens, "{text:?}");
        }
    }

    /// The counts of `o200k_base`, by an implementation that is exact.
    #[test]
    fn an_estimate_is_near_the_count_of_a_tokenizer() {
        for (text, exact) in [
            (
                r#"{"name":"get_forecast","description":"Returns the weather forecast for a city.\n\nArgs:\n    city: The name of the city\n    days: How many days, at most 7","inputSchema":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":1,"maximum":7,"default":3}},"required":["city"],"additionalProperties":false}}"#,
                88,
            ),
            (
                r#"{"name":"listOpenPullRequests","description":"List open pull requests (e.g. https://github.example/o/r/pulls) as Markdown; see `perPage`.","inputSchema":{"type":"object"}}"#,
                43,
            ),
            (
                r#"{"name":"pogoda","description":"Возвращает прогноз погоды для указанного города. Если страна не указана, используется страна по умолчанию.","inputSchema":{}}"#,
                37,
            ),
            (
                r#"{"name":"tianqi","description":"返回指定城市的天气预报。如果未指定国家,则使用默认国家。","inputSchema":{}}"#,
                32,
            ),
        ] {
            let estimated = estimate(text);
            assert!(
                estimated.abs_diff(exact) * 10 <= exact,
                "{estimated}, but exactly {exact}: {text}"
            );
        }
    }
}
