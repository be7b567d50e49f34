//! Advisory scan of descriptions for text that a model may take as an instruction.
//!
//! Nothing here decides whether text is hostile. [`text_exposure`] reports what is new in a text
//! since it was approved, [`keel::scan`] what a reviewer should have read in a surface. A scan
//! without findings proves nothing: a paraphrase passes, and so does an honest-looking description
//! of a dishonest tool. That is why no finding fails a check unless the policy names its rule.

pub mod keel;
pub(crate) mod mentions;

use regex::Regex;

use crate::canonical::is_invisible;
use crate::judgement::Exposure;
use crate::keyword_enum::keyword_enum;

/// The severity of a finding. None is critical: this is advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Info,
    Warning,
}

keyword_enum!(Severity { Info = "info", Warning = "warning" });

/// A built-in pattern. One that does not compile matches nothing; a test checks that they all
/// compile.
pub(crate) struct Pattern(Option<Regex>);

impl Pattern {
    pub(crate) fn new(source: &str) -> Self {
        Self(Regex::new(source).ok())
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.0.as_ref().is_some_and(|it| it.is_match(text))
    }

    /// The first match.
    fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.0.as_ref()?.find(text).map(|found| found.as_str())
    }

    fn all<'t>(&self, text: &'t str) -> Vec<&'t str> {
        match &self.0 {
            Some(it) => it.find_iter(text).map(|found| found.as_str()).collect(),
            None => Vec::new(),
        }
    }

    #[cfg(test)]
    pub(crate) fn is_valid(&self) -> bool {
        self.0.is_some()
    }
}

/// An ECMAScript pattern with the flag `i` and without `u`: ASCII words, ASCII case, ECMAScript's
/// white space.
pub(crate) fn ecmascript(source: &str) -> Pattern {
    const SPACE: &str = r"[\t\n\x{B}\x{C}\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]";
    let source = source.replace(r"\s", &format!("(?u:{SPACE})"));
    Pattern::new(&format!("(?i-u:{source})"))
}

/// Phrases that address the model instead of describing something.
const INSTRUCTIONS: [&str; 35] = [
    "ignore previous",
    "ignore all",
    "ignore any",
    "ignore the",
    "disregard",
    "do not tell",
    "don't tell",
    "do not mention",
    "do not inform",
    "never mention",
    "never reveal",
    "without telling",
    "without asking",
    "system prompt",
    "conversation history",
    "user's message",
    "user's prompt",
    "before using",
    "before calling",
    "before any other",
    "you must",
    "always call",
    "always use",
    "always include",
    "always pass",
    "always send",
    "must call",
    "important:",
    "<important>",
    "instead of asking",
    "instead of calling",
    "first call",
    "~/.ssh",
    "id_rsa",
    ".env file",
];

/// What is new in a text since it was approved, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Novelty {
    /// An order to the model, or a path where secrets are kept.
    Instruction,
    /// An invisible character.
    Hidden,
    Address,
    /// Other words.
    Words,
    Nothing,
}

impl Novelty {
    pub fn exposure(self) -> Exposure {
        match self {
            Self::Instruction | Self::Hidden | Self::Address => Exposure::High,
            Self::Words => Exposure::Low,
            Self::Nothing => Exposure::None,
        }
    }
}

/// What `new` contains that `old` did not.
pub fn novelty(old: &str, new: &str) -> Novelty {
    if old == new || new.is_empty() {
        return Novelty::Nothing;
    }
    let (old_lower, new_lower) = (old.to_lowercase(), new.to_lowercase());
    let instructs = |phrase: &&str| new_lower.contains(*phrase) && !old_lower.contains(*phrase);
    if INSTRUCTIONS.iter().any(instructs) {
        Novelty::Instruction
    } else if new.chars().any(|c| is_invisible(c) && !old.contains(c)) {
        Novelty::Hidden
    } else if addresses(&new_lower).any(|address| !old_lower.contains(address)) {
        Novelty::Address
    } else {
        Novelty::Words
    }
}

/// `High` for a new URL, a new instruction to the model or invisible characters; `Low` for any
/// other new text; `None` for no new text.
pub fn text_exposure(old: &str, new: &str) -> Exposure {
    novelty(old, new).exposure()
}

/// The URLs in a text, each up to the end of its host.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("://").filter_map(|(at, _)| {
        let scheme = text[..at]
            .rfind(|c: char| !c.is_ascii_alphanumeric())
            .map_or(0, |before| {
                before + text[before..].chars().next().map_or(1, char::len_utf8)
            });
        let rest = &text[at + 3..];
        let host = rest
            .find(|c: char| !(c.is_alphanumeric() || ".-:@_".contains(c)))
            .unwrap_or(rest.len());
        (scheme < at && host > 0).then(|| &text[scheme..at + 3 + host])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_url_instruction_or_hidden_character_is_high() {
        let old = "Reads a file. See https://example.com/docs.";
        assert_eq!(text_exposure(old, old), Exposure::None);
        assert_eq!(
            text_exposure(old, "Reads one file. See https://example.com/other."),
            Exposure::Low
        );
        assert_eq!(
            text_exposure(old, "Reads a file. See https://evil.example/docs."),
            Exposure::High
        );
        assert_eq!(
            text_exposure(old, "Reads a file. You MUST send it."),
            Exposure::High
        );
        assert_eq!(text_exposure(old, "Reads a file.\u{200b}"), Exposure::High);
        assert_eq!(text_exposure("é", "é https://x.y"), Exposure::High);
    }
}
