//! Secrets with known values: those held by environment variables.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use regex::{Regex, RegexBuilder};

use super::Found;

/// Values shorter than this are not searched for.
pub const SHORTEST: usize = 8;

/// Total bytes searched for: enough for a few hundred secrets, bounded for an environment full of
/// them.
const MOST: usize = 64 * 1024;

/// Known values in the encodings that are searched for.
#[derive(Clone, Debug, Default)]
pub struct Values {
    names: BTreeMap<String, String>,
    pattern: Option<Regex>,
}

/// Whether a variable of this name usually holds a secret.
pub fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let anywhere = [
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "APIKEY",
        "API_KEY",
        "ACCESS_KEY",
        "PRIVATE_KEY",
    ];
    let last_word = [
        "KEY",
        "KEYS",
        "AUTH",
        "PASS",
        "PWD",
        "PAT",
        "BEARER",
        "DSN",
        "AUTHORIZATION",
        "COOKIE",
    ];
    let last = name.rsplit(['_', '-', '.']).next().unwrap_or_default();
    anywhere.iter().any(|it| name.contains(it))
        || (name != "PWD" && name != "OLDPWD" && last_word.contains(&last))
}

/// Whether a variable holds a secret, judging by its name and value.
pub fn is_secret(name: &str, value: &str) -> bool {
    looks_secret(name) || password_of(value).is_some() || super::shapes::matches(value)
}

impl Values {
    pub(super) fn new<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut values = Self::default();
        values.add(variables);
        values
    }

    pub(super) fn add<'a>(&mut self, variables: impl IntoIterator<Item = (&'a str, &'a str)>) {
        let names = &mut self.names;
        let mut room = MOST.saturating_sub(names.keys().map(String::len).sum());
        for (name, value) in variables {
            let secret = if looks_secret(name) {
                value.trim()
            } else {
                password_of(value).unwrap_or_default()
            };
            // A path says where a secret is kept and is not itself one; neither is our own
            // placeholder.
            let is_path = secret.starts_with('/') || secret.starts_with("~/");
            if is_path || secret == name || "redacted".contains(secret) {
                continue;
            }
            for form in forms(secret) {
                if form.len() >= SHORTEST && form.len() <= room {
                    room -= form.len();
                    names.entry(form).or_insert_with(|| label(name));
                }
            }
        }
        // Longest first: if one value is a prefix of another, the longer one is replaced whole.
        let mut forms: Vec<&str> = names.keys().map(String::as_str).collect();
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        let escaped: Vec<String> = forms.into_iter().map(regex::escape).collect();
        self.pattern = if escaped.is_empty() {
            None
        } else {
            RegexBuilder::new(&escaped.join("|"))
                .size_limit(64 * 1024 * 1024)
                .build()
                .ok()
        };
    }

    pub(super) fn replace(&self, text: &str, found: &mut Found) -> Option<String> {
        let pattern = self.pattern.as_ref()?;
        if !pattern.is_match(text) {
            return None;
        }
        let clean = pattern.replace_all(text, |matched: &regex::Captures<'_>| {
            let name = self.names.get(&matched[0]).map_or("", String::as_str);
            found.insert(name.to_owned());
            format!("[redacted: {name}]")
        });
        Some(clean.into_owned())
    }

    /// The start of a value that is cut off at the end of the text, or the end of the text.
    pub(super) fn cut(&self, text: &str) -> usize {
        let begins = |form: &String| {
            let longest = form.len().min(text.len());
            let ends = (4..=longest)
                .rev()
                .filter(|end| form.is_char_boundary(*end));
            ends.map(|end| &form[..end])
                .find(|start| text.ends_with(start))
                .map(|start| text.len() - start.len())
        };
        self.names
            .keys()
            .filter_map(begins)
            .min()
            .unwrap_or(text.len())
    }
}

/// A variable's name for display.
fn label(name: &str) -> String {
    if name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
        && name.len() <= 100
    {
        name.to_owned()
    } else {
        "a variable".to_owned()
    }
}

/// The password in `scheme://user:password@host`.
fn password_of(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    let (_, password) = user.split_once(':')?;
    (!password.is_empty()).then_some(password)
}

/// The forms in which a value may appear in text.
fn forms(value: &str) -> Vec<String> {
    if value.len() < SHORTEST {
        return Vec::new();
    }
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = value
        .bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect();
    let json = serde_json::Value::from(value).to_string();
    let mut forms = vec![
        value.to_owned(),
        json.trim_matches('"').to_owned(),
        percent.to_ascii_lowercase(),
        percent,
        hex.to_ascii_uppercase(),
        hex,
    ];
    // Base64 of the same bytes depends on what precedes them (such as `user:` in basic
    // authentication). This generates the three alignments, without the characters shared with the
    // neighbours.
    for before in 0..3usize {
        let bytes = [&vec![0; before], value.as_bytes()].concat();
        let encoded = BASE64_STANDARD.encode(&bytes);
        let from = [0, 2, 3][before];
        let until = bytes.len() * 8 / 6;
        if let Some(inner) = encoded.get(from..until) {
            forms.push(inner.replace('+', "-").replace('/', "_"));
            forms.push(inner.to_owned());
        }
    }
    // `Bearer VALUE`: the value after a word.
    if let Some((_, last)) = value.rsplit_once(' ')
        && !value.contains('\n')
        && last.len() >= 2 * SHORTEST
    {
        forms.push(last.to_owned());
    }
    // A multi-line key may be printed line by line.
    let lines = value.lines().map(str::trim);
    forms.extend(
        lines
            .filter(|line| line.len() >= 2 * SHORTEST && !line.starts_with("-----"))
            .map(str::to_owned),
    );
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(variables: &[(&str, &str)], text: &str) -> String {
        let values = Values::new(variables.iter().copied());
        values
            .replace(text, &mut Found::new())
            .unwrap_or_else(|| text.to_owned())
    }

    #[test]
    fn names_of_secrets_are_distinguished_from_ordinary_ones() {
        for name in [
            "GITHUB_TOKEN",
            "api_key",
            "OPENAI_APIKEY",
            "AWS_SECRET_ACCESS_KEY",
            "DB_PASSWORD",
            "MYSQL_PWD",
            "NPM_AUTH",
            "INPUT_TOKEN",
            "SENTRY_DSN",
            "ACTIONS_RUNTIME_TOKEN",
            "GOOGLE_APPLICATION_CREDENTIALS",
        ] {
            assert!(looks_secret(name), "{name}");
        }
        for name in [
            "PWD",
            "OLDPWD",
            "HOME",
            "GIT_AUTHOR_NAME",
            "KEYBOARD",
            "SSH_AUTH_SOCK",
            "PATH",
        ] {
            assert!(!looks_secret(name), "{name}");
        }
    }

    #[test]
    fn a_value_is_found_in_the_usual_encodings() {
        let value = "p@ss \"word\"/~ü";
        let known = [("MY_PASSWORD", value)];
        for text in [
            value.to_owned(),
            serde_json::Value::from(value).to_string(),
            "p%40ss%20%22word%22%2F~%C3%BC".to_owned(),
            "p%40ss%20%22word%22%2f~%c3%bc".to_owned(),
            value.bytes().map(|byte| format!("{byte:02x}")).collect(),
        ] {
            let clean = clean(&known, &text);
            assert!(
                clean.trim_matches('"') == "[redacted: MY_PASSWORD]",
                "{text}: {clean}"
            );
        }
        for before in ["", "a", "ab", "user:"] {
            let encoded = BASE64_STANDARD.encode(format!("{before}{value}"));
            let clean = clean(&known, &encoded);
            assert!(
                clean.contains("[redacted: MY_PASSWORD]"),
                "{before}: {encoded}: {clean}"
            );
            assert!(clean.len() < "[redacted: MY_PASSWORD]".len() + before.len() * 2 + 6);
        }
    }

    #[test]
    fn short_values_paths_and_ordinary_variables_are_not_redacted() {
        let known = [
            ("API_KEY", "1234567"),
            ("KEY", "/etc/keys/server.pem"),
            ("LANG", "C.UTF-8 and more"),
        ];
        let text = "1234567 /etc/keys/server.pem C.UTF-8 and more";
        assert_eq!(clean(&known, text), text);
    }

    #[test]
    fn the_password_in_a_url_is_a_secret() {
        let known = [("DATABASE_URL", "postgres://me:correct-horse@db/x")];
        assert_eq!(
            clean(&known, "at db with correct-horse"),
            "at db with [redacted: DATABASE_URL]"
        );
    }

    #[test]
    fn the_longer_of_two_overlapping_values_is_replaced_whole() {
        let known = [("A_TOKEN", "abcdefgh"), ("B_TOKEN", "abcdefghijkl")];
        assert_eq!(
            clean(&known, "abcdefghijkl abcdefgh"),
            "[redacted: B_TOKEN] [redacted: A_TOKEN]"
        );
    }

    #[test]
    fn each_line_of_a_key_is_a_secret() {
        let key = "-----BEGIN X-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nshort\n-----END X-----\n";
        let known = [("DEPLOY_KEY", key)];
        assert_eq!(
            clean(&known, "> MIIEvQIBADANBgkqhkiG9w0BAQEFAASC <"),
            "> [redacted: DEPLOY_KEY] <"
        );
    }
}
