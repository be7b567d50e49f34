//! Contracts as text: one signature line per tool, for a committed page and for git.

use std::fmt::Write as _;

use super::escape;
use crate::canonical::{Json, to_compact};
use crate::surface::{Component, Kind, Surface};

/// `get_forecast(city: string, days?: integer)`
pub fn signature(component: &Component) -> String {
    let name = name(component);
    if component.kind != Kind::Tool {
        return name;
    }
    let schema = component.definition.get("inputSchema");
    let parameters: Vec<String> = parameters(schema)
        .into_iter()
        .map(|(name, schema, required)| {
            let optional = if required { "" } else { "?" };
            format!(
                "{}{optional}: {}",
                escape::short(&name, 60),
                kind_of(schema)
            )
        })
        .collect();
    let result = component.definition.get("outputSchema").map(kind_of);
    let result = result.map_or_else(String::new, |it| format!(" -> {it}"));
    format!("{name}({}){result}", parameters.join(", "))
}

fn name(component: &Component) -> String {
    escape::short(component.key.name(), 200).into_string()
}

/// The members of a schema, with whether they are required, in the order of the schema.
fn parameters(schema: Option<&Json>) -> Vec<(String, &Json, bool)> {
    let Some(properties) = schema.and_then(|it| it.get("properties")?.as_object()) else {
        return Vec::new();
    };
    let required = schema
        .and_then(|it| it.get("required"))
        .and_then(Json::as_array);
    let is_required = |name: &str| {
        let mut required = required.unwrap_or_default().iter();
        required.any(|it| it.as_str() == Some(name))
    };
    properties
        .iter()
        .map(|(name, schema)| {
            let name = name.to_string_lossy().to_owned();
            let required = is_required(&name);
            (name, schema, required)
        })
        .collect()
}

/// The type of a schema in a word or two.
fn kind_of(schema: &Json) -> String {
    if let Some(values) = schema.get("enum").and_then(Json::as_array) {
        let values: Vec<String> = values.iter().take(6).map(to_compact).collect();
        return escape::short(&values.join(" | "), 120).into_string();
    }
    if let Some(value) = schema.get("const") {
        return escape::short(&to_compact(value), 60).into_string();
    }
    let word = match schema.get("type") {
        Some(Json::String(word)) => word.to_string_lossy().to_owned(),
        Some(Json::Array(words)) => {
            let words: Vec<&str> = words.iter().filter_map(Json::as_str).collect();
            words.join(" | ")
        }
        _ => "any".to_owned(),
    };
    let item = schema.get("items").filter(|_| word == "array");
    let word = match item {
        Some(item) => format!("array of {}", kind_of(item)),
        None => word,
    };
    escape::short(&word, 60).into_string()
}

/// The description, as one line.
fn described(component: &Component) -> Option<String> {
    let text = component.definition.get("description")?.as_str()?;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}

/// A page with one line per component, beside the JSON.
pub fn page<'a>(servers: impl IntoIterator<Item = (&'a str, &'a Surface)>) -> String {
    let mut out = String::from("<!-- Written by mcp-keel from the baseline. Do not edit. -->\n");
    for (name, surface) in servers {
        let _ = writeln!(out, "\n# {}\n", escape::markdown(&escape::short(name, 120)));
        let version = surface.server_version();
        if let Some(version) = version {
            let _ = writeln!(
                out,
                "Version {}.\n",
                escape::markdown(&escape::short(version, 60))
            );
        }
        for kind in Kind::ALL.iter().copied() {
            let components = surface.of_kind(kind);
            for component in sorted(components) {
                let word = if kind == Kind::Tool {
                    String::new()
                } else {
                    format!("{} ", kind.noun())
                };
                let line = escape::code(&escape::short(&signature(component), 400));
                let _ = write!(out, "- {word}{line}");
                if let Some(text) = described(component) {
                    let text = escape::short(super::listing::first_sentence(&text), 200);
                    let _ = write!(out, ": {}", escape::markdown(&text));
                }
                out.push('\n');
            }
        }
    }
    out
}

fn sorted<'a>(components: impl Iterator<Item = &'a Component>) -> Vec<&'a Component> {
    let mut components: Vec<&Component> = components.collect();
    components.sort_by(|one, other| one.key.as_str().cmp(other.key.as_str()));
    components
}

/// Everything that a contract says, one fact per line, for `git log -p`.
pub fn facts<'a>(servers: impl IntoIterator<Item = (&'a str, &'a Surface)>) -> String {
    let mut out = String::new();
    for (name, surface) in servers {
        let _ = writeln!(out, "server {}", escape::line(name));
        let _ = writeln!(out, "  serverInfo {}", escape::value(&surface.server_info));
        let _ = writeln!(
            out,
            "  capabilities {}",
            escape::value(&surface.capabilities)
        );
        if let Some(text) = &surface.instructions {
            let _ = writeln!(
                out,
                "  instructions {}",
                escape::line(text.to_string_lossy())
            );
        }
        for component in sorted(surface.components.iter()) {
            let _ = writeln!(out, "\n{} {}", component.kind.noun(), signature(component));
            let Some(definition) = component.definition.as_object() else {
                continue;
            };
            for (member, value) in definition.iter() {
                let member = member.to_string_lossy();
                if member == "name" {
                    continue;
                }
                let schema = matches!(member, "inputSchema" | "outputSchema").then_some(value);
                let Some(schema) = schema.and_then(Json::as_object) else {
                    let _ = writeln!(out, "  {} {}", escape::line(member), escape::value(value));
                    continue;
                };
                for (keyword, value) in schema.iter() {
                    let keyword = keyword.to_string_lossy();
                    let properties = value.as_object().filter(|_| keyword == "properties");
                    let Some(properties) = properties else {
                        let _ = writeln!(
                            out,
                            "  {member} {} {}",
                            escape::line(keyword),
                            escape::value(value)
                        );
                        continue;
                    };
                    for (name, value) in properties.iter() {
                        let name = escape::line(name.to_string_lossy()).into_string();
                        let _ = writeln!(out, "  {member} .{name} {}", escape::value(value));
                    }
                }
            }
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::parse_str;

    #[test]
    fn a_signature_is_one_line() {
        let definition = r#"{"name": "a", "inputSchema": {"properties": {"x": {"type": "string"},
            "n": {"type": "array", "items": {"type": "integer"}}, "e": {"enum": ["b", 1]}}, "required": ["x"]},
            "outputSchema": {"type": "object"}}"#;
        let component = Component {
            kind: Kind::Tool,
            key: "tool:a@".parse().unwrap(),
            definition: parse_str(definition).unwrap(),
        };
        assert_eq!(
            signature(&component),
            "a(x: string, n?: array of integer, e?: \"b\" | 1) -> object"
        );
    }
}
