//! ToolPin's six codes, with ToolPin's results: same findings, same order, same words.
//!
//! Its patterns are ECMAScript's, without the `u` flag, and Rust's would say something else in places that an attacker can
//! choose: `\b` and letters are ASCII here, `\s` is ECMAScript's set (no U+0085, but U+FEFF), and case folding never
//! takes a letter beyond ASCII for one within it.

use std::sync::LazyLock;

use super::{Pattern, Severity};
use crate::canonical::{Json, Text, locale};
use crate::surface::{Kind, Surface};

/// One finding as ToolPin prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
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

/// An ECMAScript pattern with the flag `i` and without `u`: ASCII words, ASCII case, ECMAScript's white space.
pub(super) fn ecmascript(source: &str) -> Pattern {
    const SPACE: &str = r"[\t\n\x{B}\x{C}\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]";
    let source = source.replace(r"\s", &format!("(?u:{SPACE})"));
    Pattern::new(&format!("(?i-u:{source})"))
}

/// A tool as ToolPin sees it.
struct Entry {
    name: String,
    units: Vec<u16>,
    description: String,
    description_units: Vec<u16>,
}

/// The findings over the tools of a surface, and over the server's own name and description where the source knows them.
pub fn scan(surface: &Surface) -> Vec<Finding> {
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

/// The findings over a server's name and description, as a registry states them.
pub fn scan_server(name: &str, description: &str) -> Vec<Finding> {
    let entry = Entry {
        units: name.encode_utf16().collect(),
        name: name.to_owned(),
        description_units: description.encode_utf16().collect(),
        description: description.to_owned(),
    };
    of_entries(&[entry], "server")
}

fn of_entries(entries: &[Entry], prefix: &str) -> Vec<Finding> {
    let subject = |entry: &Entry| format!("{prefix}:{}", entry.name);
    let mut findings = Vec::new();
    for entry in entries {
        let text = format!("{}\n{}", entry.name, entry.description);
        for detector in &DETECTORS {
            if detector.pattern.is_match(&text) {
                findings.push(Finding {
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
            findings.push(Finding {
                code: "duplicate_tool_name",
                severity: Severity::Warning,
                subject: subject(name),
                message: format!(
                    "tool name appears {count} times in this server's tools/list response"
                ),
            });
        }
    }
    for entry in entries {
        for sibling in names.iter().filter(|it| it.units != entry.units) {
            if instructs_to_use(&entry.description_units, &sibling.units) {
                findings.push(Finding {
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

/// A text in the order of `localeCompare`.
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

/// Whether `\b(always\s+)?(call|use|invoke|run)\s+NAME\b` matches, with the flag `i`. (The optional word changes
/// nothing: what it would match is preceded by a word boundary anyway.)
///
/// By hand and not as a pattern, because a name may hold anything and folds its case as ECMAScript does, unit by unit.
pub(super) fn instructs_to_use(description: &[u16], name: &[u16]) -> bool {
    const VERBS: [&[u8]; 4] = [b"call", b"use", b"invoke", b"run"];
    let name: Vec<u16> = name.iter().map(|unit| fold(*unit)).collect();
    let boundary = |at: usize| {
        let word = |unit: Option<&u16>| {
            unit.is_some_and(|unit| {
                u8::try_from(*unit).is_ok_and(|it| it.is_ascii_alphanumeric() || it == b'_')
            })
        };
        let before = at.checked_sub(1).and_then(|it| description.get(it));
        word(before) != word(description.get(at))
    };
    let is_verb = |at: usize, verb: &[u8]| {
        description.get(at..at + verb.len()).is_some_and(|units| {
            units.iter().zip(verb).all(|(unit, letter)| {
                u8::try_from(*unit).is_ok_and(|it| it.eq_ignore_ascii_case(letter))
            })
        })
    };
    let is_name = |at: usize| {
        description.get(at..at + name.len()).is_some_and(|units| {
            units
                .iter()
                .zip(&name)
                .all(|(unit, wanted)| fold(*unit) == *wanted)
        })
    };
    (0..description.len()).filter(|at| boundary(*at)).any(|at| {
        VERBS.iter().filter(|verb| is_verb(at, verb)).any(|verb| {
            let mut after = at + verb.len();
            while description.get(after).is_some_and(|unit| is_space(*unit)) {
                after += 1;
                // The name may itself begin with white space, so every length of the gap is tried.
                if is_name(after) && boundary(after + name.len()) {
                    return true;
                }
            }
            false
        })
    })
}

/// ECMAScript's `\s`.
fn is_space(unit: u16) -> bool {
    matches!(unit,
        0x9..=0xd | 0x20 | 0xa0 | 0x1680 | 0x2000..=0x200a | 0x2028 | 0x2029 | 0x202f | 0x205f | 0x3000 | 0xfeff)
}

/// ECMAScript's `Canonicalize` of a unit, with the flag `i` and without `u`: its upper case where that is one unit, but
/// never one within ASCII for one beyond it.
fn fold(unit: u16) -> u16 {
    let Some(character) = char::from_u32(u32::from(unit)) else {
        return unit;
    };
    let mut upper = character.to_uppercase();
    let (Some(first), None) = (upper.next(), upper.next()) else {
        return unit;
    };
    match u16::try_from(u32::from(first)) {
        Ok(folded) if unit >= 128 && folded < 128 => unit,
        Ok(folded) => folded,
        Err(_) => unit,
    }
}

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
    fn every_pattern_is_one() {
        assert!(DETECTORS.iter().all(|detector| detector.pattern.is_valid()));
    }

    #[test]
    fn case_folds_as_in_ecmascript() {
        let units = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
        let uses = |text: &str, name: &str| instructs_to_use(&units(text), &units(name));
        assert!(uses("Always CALL Delete_All.", "delete_all"));
        assert!(uses("use \u{c9}t\u{e9}n now", "\u{e9}t\u{c9}n"));
        assert!(
            !uses("use t\u{e9} now", "t\u{e9}"),
            "no word ends in an accent"
        );
        assert!(!uses("use \u{17f}top", "stop"), "a long s is no s");
        assert!(
            !uses("use \u{2126}", "\u{3c9}"),
            "the sign for ohm is no omega"
        );
        assert!(!uses("reuse a", "a") && !uses("use ab", "a") && uses("use\u{feff}a", "a"));
    }
}
