//! Removes secrets from text.
//!
//! A server under test is untrusted code with credentials nearby, and its output ends up in
//! baselines, reports and public logs. This room promises: text that went through
//! [`Secrets::redact`] contains no known secret value, plain or in a common encoding, and nothing
//! shaped like a well-known kind of token. The placeholder says what was there, never its value.
//!
//! Not promised: a value shorter than [`SHORTEST`] is not searched for (it would match ordinary
//! words), and a server that deliberately smuggles a secret can encode it in a way that is not
//! searched for.

mod shapes;
mod values;

use std::collections::BTreeSet;

use exact_json::{Json, Text};

pub use values::{SHORTEST, Values, is_secret, looks_secret};

/// The secrets to search for: every well-known shape, and the known values.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    values: Values,
}

/// What was found in a text: variable names or token kinds. Never the secret itself.
pub type Found = BTreeSet<String>;

impl Secrets {
    /// Searches for these values, each under the name of the variable that holds it.
    pub fn new<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self {
            values: Values::new(variables),
        }
    }

    pub fn learn<'a>(&mut self, variables: impl IntoIterator<Item = (&'a str, &'a str)>) {
        self.values.add(variables);
    }

    /// The text without its secrets, or `None` if it has none. What was found is added to `found`.
    pub fn redact(&self, text: &str, found: &mut Found) -> Option<String> {
        let without_values = self.values.replace(text, found);
        let text = without_values.as_deref().unwrap_or(text);
        shapes::replace(text, found).or(without_values)
    }

    pub fn clean(&self, text: String) -> String {
        self.redact(&text, &mut Found::new()).unwrap_or(text)
    }

    /// [`Secrets::clean`] for truncated text: the `…` may have split a secret.
    pub fn clean_cut(&self, text: String) -> String {
        let text = self.clean(text);
        if !text.contains('…') {
            return text;
        }
        let mut pieces: Vec<String> = text.split('…').map(str::to_owned).collect();
        let last = pieces.len() - 1;
        for piece in &mut pieces[..last] {
            let end = self.values.cut(piece).min(shapes::cut(piece));
            if end < piece.len() {
                piece.truncate(end);
                piece.push_str("[redacted]");
            }
        }
        pieces.join("…")
    }

    /// The end of a stream without its secrets. If the stream was cut (`is_cut`), its first line
    /// may begin inside a secret and is dropped.
    pub fn clean_end(&self, bytes: &[u8], is_cut: bool) -> Vec<u8> {
        let bytes = match bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) if is_cut => &bytes[end + 1..],
            None if is_cut => &[],
            _ => bytes,
        };
        let text = String::from_utf8_lossy(bytes);
        match self.redact(&text, &mut Found::new()) {
            Some(text) => text.into_bytes(),
            None => bytes.to_vec(),
        }
    }

    /// Removes secrets from every string and member name of a value. Numbers and structure are
    /// kept.
    pub fn redact_json(&self, value: &mut Json, found: &mut Found) {
        match value {
            Json::String(text) => self.redact_text(text, found),
            Json::Array(items) => {
                for item in items {
                    self.redact_json(item, found);
                }
            }
            Json::Object(object) => {
                for (name, item) in object.iter_mut() {
                    self.redact_text(name, found);
                    self.redact_json(item, found);
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    fn redact_text(&self, text: &mut Text, found: &mut Found) {
        // Redacting a string also drops its lone surrogates.
        if let Some(clean) = self.redact(text.to_string_lossy(), found) {
            *text = Text::from(clean);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exact_json::{parse_str, to_compact};

    const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

    #[test]
    fn strings_and_member_names_are_redacted_and_numbers_are_kept() {
        let secrets = Secrets::new([("API_KEY", "correct-horse")]);
        let mut found = Found::new();
        let text = format!(
            r#"{{"a correct-horse b":["{TOKEN}",1e400,"x"],"n":{{"deep":"correct-horse\ud800"}}}}"#
        );
        let mut value = parse_str(&text).unwrap();
        secrets.redact_json(&mut value, &mut found);
        let digest = shapes::digest(TOKEN);
        assert_eq!(
            to_compact(&value),
            format!(
                r#"{{"a [redacted: API_KEY] b":["[redacted: github token #{digest}]",1e400,"x"],"n":{{"deep":"[redacted: API_KEY]{}"}}}}"#,
                '\u{fffd}'
            )
        );
        assert_eq!(Vec::from_iter(found), ["API_KEY", "github token"]);
    }

    #[test]
    fn redaction_is_idempotent() {
        let secrets = Secrets::new([("API_KEY", "correct-horse"), ("OTHER_TOKEN", "redacted")]);
        let once = secrets.clean(format!("correct-horse {TOKEN}"));
        assert_eq!(secrets.clean(once.clone()), once);
    }

    #[test]
    fn a_truncated_secret_is_not_partly_shown() {
        let secrets = Secrets::new([("API_KEY", "correct-horse-battery")]);
        assert_eq!(
            secrets.clean_cut("so: correct-horse-ba…".into()),
            "so: [redacted]…"
        );
        assert_eq!(secrets.clean_cut("so: ghp_0123…".into()), "so: [redacted]…");
        assert_eq!(
            secrets.clean_cut("no secret here…".into()),
            "no secret here…"
        );
        let end = secrets.clean_end(b"orse-battery\nnext correct-horse-battery\n", true);
        assert_eq!(String::from_utf8_lossy(&end), "next [redacted: API_KEY]\n");
        let whole = secrets.clean_end(b"first\nnext", false);
        assert_eq!(String::from_utf8_lossy(&whole), "first\nnext");
    }
}
