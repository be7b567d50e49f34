//! Contracts as text, for git.

use std::fmt::Write as _;

use super::escape;
use crate::baseline::signature;
use crate::canonical::Json;
use crate::surface::{Component, Surface};

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
