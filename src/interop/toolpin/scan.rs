//! ToolPin's six codes, with ToolPin's results: same findings, same order, same words.
//!
//! Its patterns are ECMAScript's, without the `u` flag. Rust's would differ in ways that an
//! attacker can exploit, so here `\b` and letters are ASCII, `\s` is ECMAScript's set (no U+0085,
//! but U+FEFF), and case folding never maps a letter outside ASCII to one inside.

use std::sync::LazyLock;

use super::locale;
use crate::canonical::{Json, Text};
use crate::scan::mentions::Mentions;
use crate::scan::{Pattern, Severity, ecmascript};
use crate::surface::{Kind, Surface};

/// One finding as ToolPin prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolPinFinding {
    /// `agent_instruction_override` and five others.
    pub code: &'static str,
    /// Never critical.
    pub severity: Severity,
    /// `tool:NAME` or `server:NAME`
    pub subject: String,
    /// One of a few fixed texts.
    pub message: String,
}

struct Detector {
    code: &'static str,
    severity: Severity,
    pattern: LazyLock<Pattern>,
    message: &'static str,
}

static DETECTORS: [Detector; 4] = [
    Detector {
        code: "hidden_control_characters",
        severity: Severity::Warning,
        pattern: LazyLock::new(|| {
            Pattern::new(
                r"[\x{0}-\x{8}\x{B}\x{C}\x{E}-\x{1F}\x{7F}-\x{9F}\x{61C}\x{200B}-\x{200F}\x{202A}-\x{202E}\x{2060}-\x{206F}\x{FEFF}]",
            )
        }),
        message: "description contains hidden or control characters",
    },
    Detector {
        code: "agent_instruction_override",
        severity: Severity::Warning,
        pattern: LazyLock::new(|| {
            ecmascript(
                r"\b(ignore|disregard|override)\s+(all\s+)?(previous|prior|above|system|developer)\s+instructions?\b",
            )
        }),
        message: "asks the agent to ignore higher-priority instructions",
    },
    Detector {
        code: "agent_hidden_behavior",
        severity: Severity::Warning,
        pattern: LazyLock::new(|| {
            ecmascript(
                r"\b(do\s+not|don't|never)\s+(tell|inform|notify|mention|reveal)\s+(the\s+)?user\b",
            )
        }),
        message: "asks the agent to hide behavior from the user",
    },
    Detector {
        code: "agent_forced_tool_order",
        severity: Severity::Info,
        pattern: LazyLock::new(|| {
            ecmascript(
                r"\b(always|must|required to)\s+(call|use|invoke|run)\s+[a-zA-Z0-9_.:/-]+(\s+first)?\b",
            )
        }),
        message: "forces tool ordering in descriptive metadata",
    },
];

/// A tool as ToolPin sees it.
struct Entry {
    name: String,
    units: Vec<u16>,
    description: String,
    description_units: Vec<u16>,
}

/// The findings for the tools of a surface, and for the server's own name and description if the
/// source has them.
pub fn scan(surface: &Surface) -> Vec<ToolPinFinding> {
    let entry = |definition: &Json| {
        let name = text_of(definition.get("name"), "undefined");
        let description = match definition.get("description") {
            None | Some(Json::Null) => Text::from(""),
            given => text_of(given, ""),
        };
        Entry {
            units: name.utf16().collect(),
            name: name.to_string_lossy().to_owned(),
            description_units: description.utf16().collect(),
            description: description.to_string_lossy().to_owned(),
        }
    };
    let tools: Vec<Entry> = surface
        .of_kind(Kind::Tool)
        .map(|tool| entry(&tool.definition))
        .collect();
    let mut findings = of_entries(&tools, "tool");
    if surface.scope.server && surface.server_name().is_some() {
        findings.extend(of_entries(&[entry(&surface.server_info)], "server"));
    }
    findings
}

/// The findings for a server's name and description, as stated by a registry.
pub fn scan_server(name: &str, description: &str) -> Vec<ToolPinFinding> {
    let entry = Entry {
        units: name.encode_utf16().collect(),
        name: name.to_owned(),
        description_units: description.encode_utf16().collect(),
        description: description.to_owned(),
    };
    of_entries(&[entry], "server")
}

fn of_entries(entries: &[Entry], prefix: &str) -> Vec<ToolPinFinding> {
    let subject = |entry: &Entry| format!("{prefix}:{}", entry.name);
    let mut findings = Vec::new();
    for entry in entries {
        let text = format!("{}\n{}", entry.name, entry.description);
        for detector in &DETECTORS {
            if detector.pattern.is_match(&text) {
                findings.push(ToolPinFinding {
                    code: detector.code,
                    severity: detector.severity,
                    subject: subject(entry),
                    message: detector.message.to_owned(),
                });
            }
        }
    }
    // Each name once, in the order listed.
    let mut names: Vec<&Entry> = Vec::new();
    let mut counts = std::collections::HashMap::new();
    for entry in entries {
        let count = counts.entry(&entry.units).or_insert(0_usize);
        *count += 1;
        if *count == 1 {
            names.push(entry);
        }
    }
    for name in &names {
        let count = counts.get(&name.units).copied().unwrap_or_default();
        if count > 1 {
            findings.push(ToolPinFinding {
                code: "duplicate_tool_name",
                severity: Severity::Warning,
                subject: subject(name),
                message: format!(
                    "tool name appears {count} times in this server's tools/list response"
                ),
            });
        }
    }
    let mentions = Mentions::of(names.iter().map(|name| name.units.as_slice()));
    for entry in entries {
        let siblings = mentions.in_text(&entry.description_units).into_iter();
        for sibling in siblings.map(|index| names[index]) {
            if sibling.units != entry.units {
                findings.push(ToolPinFinding {
                    code: "cross_tool_instruction",
                    severity: Severity::Info,
                    subject: subject(entry),
                    message: format!(
                        "description instructs the agent to use sibling tool {}",
                        sibling.name
                    ),
                });
            }
        }
    }
    findings.sort_by_cached_key(|finding| {
        Collated(format!(
            "{}:{}:{}",
            finding.subject, finding.code, finding.message
        ))
    });
    findings
}

/// Text ordered by `localeCompare`.
struct Collated(String);

impl Ord for Collated {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        locale::compare(&self.0, &other.0)
    }
}

impl PartialOrd for Collated {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Collated {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Collated {}

/// A value in an ECMAScript template string.
fn text_of(value: Option<&Json>, missing: &str) -> Text {
    match value {
        None => Text::from(missing),
        Some(Json::String(text)) => text.clone(),
        Some(Json::Number(number)) => {
            Text::from(number.to_ecmascript().unwrap_or("Infinity".to_owned()))
        }
        Some(Json::Object(_)) => Text::from("[object Object]"),
        Some(other) => Text::from(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert!(DETECTORS.iter().all(|detector| detector.pattern.is_valid()));
    }
}
