//! The one place where text from outside becomes safe to show.
//!
//! A server can name a tool with terminal escapes, right-to-left overrides or characters that nobody sees. None of
//! them reaches a sink as itself; each is shown as what it is, so that a reviewer still sees that it was there.

use crate::canonical::is_invisible;

/// Text for one line of a terminal: no control, no escape sequence, nothing invisible.
pub fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other => push_visible(&mut out, other),
        }
    }
    out
}

/// Text that may keep its line breaks and tabs, each line safe by itself.
pub fn block(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => out.push('\n'),
            '\t' => out.push_str("    "),
            '\r' => {}
            other => push_visible(&mut out, other),
        }
    }
    out
}

/// [`line`], cut to `most` characters with a count of what was left out: a cut is never silent.
pub fn short(text: &str, most: usize) -> String {
    let escaped = line(text);
    let length = escaped.chars().count();
    if length <= most {
        return escaped;
    }
    let kept: String = escaped.chars().take(most).collect();
    format!("{kept}… ({} more characters)", length - most)
}

fn push_visible(out: &mut String, character: char) {
    if character.is_control() || is_invisible(character) {
        out.push_str(&format!("\\u{{{:x}}}", u32::from(character)));
    } else {
        out.push(character);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_on_a_terminal_survives_and_everything_is_seen() {
        let hostile = "a\u{1b}[31mred\u{7}\u{202e}evil\u{200b}\u{e0041}\u{9b}2J\nnext";
        let shown = line(hostile);
        assert_eq!(
            shown,
            "a\\u{1b}[31mred\\u{7}\\u{202e}evil\\u{200b}\\u{e0041}\\u{9b}2J\\nnext"
        );
        assert_eq!(block("a\n\u{1b}b"), "a\n\\u{1b}b");
    }

    #[test]
    fn a_cut_says_how_much_it_cut() {
        assert_eq!(short("abcdef", 6), "abcdef");
        assert_eq!(short("abcdefgh", 3), "abc… (5 more characters)");
    }
}
