//! A token that cannot be printed by accident.

/// A token for GitHub's API. Neither `Debug` nor `Display` shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// From a variable; `None` if it is empty or cannot be sent in a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let sendable = text.bytes().all(|byte| byte.is_ascii_graphic());
        (!text.is_empty() && sendable).then(|| Self(text.to_owned()))
    }

    /// The token itself, for the one header that carries it.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// The workflow command that makes the runner mask it from then on. The only output that
    /// contains it.
    pub fn mask_command(&self) -> String {
        format!("::add-mask::{}\n", self.0.replace('%', "%25"))
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(***)")
    }
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_shown() {
        let token = Token::new(" ghs_secret \n").expect("a token");
        assert_eq!(token.reveal(), "ghs_secret");
        assert_eq!(format!("{token} {token:?}"), "*** Token(***)");
        assert_eq!(Token::new(" "), None);
        assert_eq!(Token::new("two\nlines"), None);
    }
}
