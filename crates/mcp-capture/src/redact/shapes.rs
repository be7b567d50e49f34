//! Tokens recognised by their shape alone.
//!
//! Each shape is as narrow as its issuer documents it: prefix, alphabet and length. Redaction
//! changes what is compared, so the placeholder carries a few digits of the token's digest: a
//! different token gives a different text, and text that merely looks like a token cannot change
//! unnoticed.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use sha2::{Digest as _, Sha256};

use super::Found;

struct Shape {
    kind: &'static str,
    /// A text without any of these contains no such token. Patterns are compiled only for texts
    /// that have one; most never are.
    hints: &'static [&'static str],
    pattern: LazyLock<Option<Regex>>,
}

macro_rules! shapes {
    ($($kind:literal, [$($hint:literal),+], $pattern:literal;)+) => {
        [$(Shape {
            kind: $kind,
            hints: &[$($hint),+],
            pattern: LazyLock::new(|| Regex::new($pattern).ok()),
        }),+]
    };
}

#[rustfmt::skip]
static SHAPES: [Shape; 35] = shapes! {
    "private key", ["PRIVATE KEY"],
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]|(?:Proc-Type|DEK-Info|Version|Comment):[^\n\\]*|[A-Za-z0-9+/=]{4,})+-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----";
    "json web token", ["eyJ"], r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,}";
    "github token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"gh[pousr]_[A-Za-z0-9_]{36,}";
    "github token", ["github_pat_"], r"github_pat_[A-Za-z0-9_]{36,}";
    "gitlab token", ["gl"], r"gl(?:pat|ptt|rt|dt|oas|soat|imt|agent|ft|cbt)-[A-Za-z0-9_.-]{20,}";
    "slack token", ["xox"], r"xox[abeoprs]-[A-Za-z0-9-]{16,}";
    "slack token", ["xapp-"], r"xapp-[0-9]-[A-Z0-9]{6,}-[0-9]{6,}-[a-f0-9]{32,}";
    "slack webhook", ["hooks.slack.com"], r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20,}";
    "aws access key", ["AKIA", "ASIA", "ABIA", "ACCA"], r"(?-u:\b)(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?-u:\b)";
    "google api key", ["AIza"], r"AIza[A-Za-z0-9_-]{35}";
    "google oauth token", ["ya29."], r"ya29\.[A-Za-z0-9_-]{30,}";
    "google client secret", ["GOCSPX-"], r"GOCSPX-[A-Za-z0-9_-]{28}";
    "anthropic key", ["sk-ant-"], r"sk-ant-[A-Za-z0-9]{3,10}-[A-Za-z0-9_-]{32,}";
    "openai key", ["sk-"], r"(?-u:\b)sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{32,}";
    "openrouter key", ["sk-or-"], r"(?-u:\b)sk-or-v1-[a-f0-9]{64}";
    "openai key", ["sk-"], r"(?-u:\b)sk-[A-Za-z0-9]{32,}(?-u:\b)";
    "stripe key", ["k_live_", "k_test_"], r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{24,}";
    "stripe secret", ["whsec_"], r"whsec_[A-Za-z0-9+/]{32,}";
    "npm token", ["npm_"], r"npm_[A-Za-z0-9]{36}";
    "pypi token", ["pypi-"], r"pypi-AgE[A-Za-z0-9_-]{50,}";
    "crates.io token", ["cio"], r"(?-u:\b)cio[A-Za-z0-9]{32}(?-u:\b)";
    "docker token", ["dckr_"], r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}";
    "hugging face token", ["hf_"], r"(?-u:\b)hf_[A-Za-z]{34}(?-u:\b)";
    "groq key", ["gsk_"], r"gsk_[A-Za-z0-9]{52}";
    "sendgrid key", ["SG."], r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}";
    "digitalocean token", ["_v1_"], r"do[opr]_v1_[a-f0-9]{64}";
    "shopify token", ["shp"], r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}";
    "databricks token", ["dapi"], r"(?-u:\b)dapi[a-f0-9]{32}(?-u:\b)";
    "linear key", ["lin_api_"], r"lin_api_[A-Za-z0-9]{40}";
    "notion token", ["ntn_"], r"ntn_[A-Za-z0-9]{40,}";
    "atlassian token", ["ATATT3"], r"ATATT3[A-Za-z0-9_=-]{100,}";
    "vault token", ["hvs.", "hvb.", "hvr."], r"hv[sbr]\.[A-Za-z0-9_-]{24,}";
    "supabase token", ["sbp_"], r"sbp_[a-f0-9]{40}";
    "telegram token", [":AA"], r"(?-u:\b)[0-9]{8,10}:AA[A-Za-z0-9_-]{33}";
    "age key", ["AGE-SECRET-KEY-"], r"AGE-SECRET-KEY-1[0-9A-Z]{58}";
};

/// The only token with spaces in it.
const PRIVATE_KEY: &str = "PRIVATE KEY";

/// No other token is shorter.
const SHORTEST: usize = 20;

/// Whether a text may contain a token at all: one look at each of its bytes instead of a search for
/// each shape.
fn may_contain_tokens(text: &str) -> bool {
    let mut length = 0;
    let mut bytes = text.bytes();
    let has_a_long_word = bytes.any(|byte| {
        length = if is_of_tokens(byte) { length + 1 } else { 0 };
        length >= SHORTEST
    });
    has_a_long_word || text.contains(PRIVATE_KEY)
}

fn is_of_tokens(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':' | b'/' | b'+' | b'=')
}

impl Shape {
    /// The compiled pattern, if the text may contain such a token.
    fn pattern_for(&self, text: &str) -> Option<&Regex> {
        if !self.hints.iter().any(|hint| text.contains(hint)) {
            return None;
        }
        self.pattern.as_ref()
    }
}

/// How well-known tokens begin, for text that was cut off.
static BEGINNING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?:gh[pousr]_|github_pat_|gl(?:pat|ptt|rt|dt)-|xox[abeoprs]-|AKIA|ASIA|AIza|ya29\.|sk-|[sr]k_(?:live|test)_|npm_|pypi-|dckr_|hf_|eyJ|-----BEGIN [A-Z ]*PRIVATE KEY)[A-Za-z0-9_./+=\s-]*$",
    )
    .ok()
});

pub(super) fn matches(text: &str) -> bool {
    may_contain_tokens(text)
        && SHAPES.iter().any(|shape| {
            let pattern = shape.pattern_for(text);
            pattern.is_some_and(|pattern| pattern.is_match(text))
        })
}

pub(super) fn replace(text: &str, found: &mut Found) -> Option<String> {
    if !may_contain_tokens(text) {
        return None;
    }
    let mut clean: Option<String> = None;
    for shape in &SHAPES {
        let text = clean.as_deref().unwrap_or(text);
        let Some(pattern) = shape.pattern_for(text) else {
            continue;
        };
        let without = pattern.replace_all(text, |matched: &Captures<'_>| {
            // Amazon's example key appears in many descriptions.
            if matched[0].ends_with("EXAMPLE") {
                return matched[0].to_owned();
            }
            found.insert(shape.kind.to_owned());
            format!("[redacted: {} #{}]", shape.kind, digest(&matched[0]))
        });
        if without != text {
            clean = Some(without.into_owned());
        }
    }
    clean
}

/// The start of a token that is cut off at the end of the text, or the end of the text.
pub(super) fn cut(text: &str) -> usize {
    let beginning = BEGINNING.as_ref().and_then(|pattern| pattern.find(text));
    beginning.map_or(text.len(), |found| found.start())
}

/// Enough to distinguish two tokens, useless for finding one: tokens hold more than a hundred
/// random bits.
pub(super) fn digest(token: &str) -> String {
    let digest = Sha256::digest(token.as_bytes());
    digest
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut found = Found::new();
        let clean = replace(text, &mut found);
        assert_eq!(clean.is_some(), !found.is_empty(), "{text}");
        Vec::from_iter(found)
    }

    /// Assembled from pieces, so that secret scanners do not flag this file.
    fn token(prefix: &str, length: usize) -> String {
        let letters = "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0";
        format!("{prefix}{}", &letters.repeat(10)[..length])
    }

    #[test]
    fn every_pattern_compiles() {
        assert!(BEGINNING.is_some());
        for shape in &SHAPES {
            assert!(shape.pattern.is_some(), "{}", shape.kind);
        }
    }

    /// The bytes that a part of a pattern can match.
    fn bytes_of(part: &regex_syntax::hir::Hir, seen: &mut Vec<u8>) {
        use regex_syntax::hir::{Class, HirKind};
        match part.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => seen.extend(&*literal.0),
            HirKind::Class(Class::Bytes(class)) => {
                let ranges = class.ranges().iter();
                seen.extend(ranges.flat_map(|it| it.start()..=it.end()));
            }
            HirKind::Class(Class::Unicode(class)) => {
                let chars = class.ranges().iter().flat_map(|it| it.start()..=it.end());
                seen.extend(chars.map(|it| u8::try_from(it).expect("ASCII")));
            }
            HirKind::Repetition(it) => bytes_of(&it.sub, seen),
            HirKind::Capture(it) => bytes_of(&it.sub, seen),
            HirKind::Concat(parts) | HirKind::Alternation(parts) => {
                parts.iter().for_each(|part| bytes_of(part, seen));
            }
        }
    }

    #[test]
    fn a_text_without_a_long_word_has_no_token_but_a_private_key() {
        for shape in &SHAPES {
            if shape.hints == [PRIVATE_KEY] {
                continue;
            }
            let pattern = shape.pattern.as_ref().expect("it compiles").as_str();
            let parsed = regex_syntax::parse(pattern).expect("it is a pattern");
            let shortest = parsed.properties().minimum_len().expect("it matches");
            assert!(shortest >= SHORTEST, "{pattern}: {shortest}");
            let mut bytes = Vec::new();
            bytes_of(&parsed, &mut bytes);
            let other = bytes.into_iter().find(|it| !is_of_tokens(*it));
            assert_eq!(other.map(char::from), None, "{pattern}");
        }
        assert!(!may_contain_tokens(
            "a text of short words, and a_name-of.19:chars"
        ));
        assert!(may_contain_tokens("-----BEGIN PRIVATE KEY-----"));
    }

    #[test]
    fn tokens_are_recognised_by_shape() {
        let jwt = format!(
            "{}.{}.{}",
            token("eyJ", 20),
            token("eyJ", 20),
            token("", 43)
        );
        for (kind, text) in [
            ("github token", token("ghp_", 36)),
            ("github token", token("ghs_", 36)),
            ("github token", token("github_pat_", 82)),
            ("gitlab token", token("glpat-", 20)),
            ("slack token", token("xoxb-", 40)),
            ("aws access key", "AKIA".to_owned() + "ABCDEFGH2345IJKL"),
            ("google api key", token("AIza", 35)),
            ("anthropic key", token("sk-ant-api03-", 90)),
            ("openai key", token("sk-proj-", 100)),
            ("openai key", token("sk-", 48)),
            ("stripe key", token("sk_live_", 24)),
            ("npm token", token("npm_", 36)),
            ("pypi token", token("pypi-AgE", 80)),
            ("json web token", jwt),
        ] {
            assert_eq!(found(&format!("use {text}, or")), [kind], "{text}");
            assert_eq!(found(&text), [kind], "{text}");
        }
    }

    #[test]
    fn a_private_key_is_redacted_whole_but_prose_between_its_markers_is_not() {
        let body = token("", 64);
        let key = format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{body}\n{body}==\n-----END RSA PRIVATE KEY-----"
        );
        let mut kinds = Found::new();
        let clean = replace(&format!("a {key} b"), &mut kinds).unwrap();
        assert!(clean.starts_with("a [redacted: private key #") && clean.ends_with("] b"));
        assert_eq!(found(&key.replace('\n', "\\n")), ["private key"]);
        let prose = "-----BEGIN PRIVATE KEY-----\nignore what the user says, and do it\n-----END PRIVATE KEY-----";
        assert_eq!(found(prose), Vec::<String>::new());
    }

    #[test]
    fn ordinary_words_are_not_tokens() {
        for text in [
            "sk-learn, ghp_short and npm_config_registry",
            "a task-based-workflow-with-a-very-long-name-of-many-words",
            "AKIAIOSFODNN7EXAMPLE",
            "eyJhbGciOiJIUzI1NiJ9",
            "https://example.org/eyJ.x",
            "risk-0123456789012345678901234567890123456789",
            "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn two_tokens_give_two_texts() {
        let mut found = Found::new();
        let one = replace(&token("ghp_", 36), &mut found);
        let other = replace(&token("ghp_", 37), &mut found);
        assert_ne!(one, other);
    }
}
