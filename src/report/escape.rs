//! The one place where text from outside becomes safe to show.
//!
//! A server can name a tool with terminal escapes, right-to-left overrides, characters that nobody sees, workflow
//! commands, mentions, markup. None of them reaches a sink as itself; each is shown as what it is, so that a reviewer
//! still sees that it was there.
//!
//! [`line`] and [`block`] are for plain text and are the first step of everything else. [`markdown`], [`code`] and
//! [`fenced`] are for Markdown as GitHub renders it, [`html`] is for elements and attributes, [`xml`] for XML 1.0,
//! [`command_data`] and [`command_property`] for workflow commands, [`sarif`] for messages in SARIF.

use crate::canonical::is_invisible;

/// Text for one line of a terminal: no control, no escape sequence, nothing invisible, no workflow command.
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
    without_commands(out)
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
    without_commands(out)
}

/// [`line`], cut to `most` characters with a count of what was left out: a cut is never silent.
pub fn short(text: &str, most: usize) -> String {
    cut(line(text), most)
}

/// [`block`], cut to `most` characters with a count of what was left out.
pub fn short_block(text: &str, most: usize) -> String {
    cut(block(text), most)
}

fn cut(escaped: String, most: usize) -> String {
    let length = escaped.chars().count();
    if length <= most {
        return escaped;
    }
    let kept: String = escaped.chars().take(most).collect();
    format!("{kept}… ({} more characters)", length - most)
}

fn push_visible(out: &mut String, character: char) {
    if character.is_control() || is_invisible(character) {
        push_code_point(out, character);
    } else {
        out.push(character);
    }
}

fn push_code_point(out: &mut String, character: char) {
    out.push_str(&format!("\\u{{{:x}}}", u32::from(character)));
}

/// What a runner takes for a command when it stands first in a line of a log.
const COMMANDS: [&str; 16] = [
    "add-mask",
    "add-matcher",
    "add-path",
    "debug",
    "echo",
    "endgroup",
    "error",
    "group",
    "internal-set-repo-path",
    "notice",
    "remove-matcher",
    "save-state",
    "set-env",
    "set-output",
    "stop-commands",
    "warning",
];

/// A runner reads every line that a step prints. `::error::` is a command when it begins a line (and wrapping may put
/// any word there), `##[error]` and `##vso[` wherever they stand. Their second character is shown as its code point.
fn without_commands(text: String) -> String {
    if !text.contains("::") && !text.contains("##") {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let is_command = rest.strip_prefix("::").is_some_and(names_a_command)
            || rest
                .strip_prefix("##")
                .is_some_and(|rest| rest.starts_with('[') || starts_with(rest, "vso["));
        out.push(first);
        rest = &rest[first.len_utf8()..];
        if is_command {
            push_code_point(&mut out, first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

fn names_a_command(rest: &str) -> bool {
    COMMANDS.iter().any(|name| {
        starts_with(rest, name)
            && matches!(
                rest.as_bytes().get(name.len()),
                Some(b' ' | b':' | b'\n') | None
            )
    })
}

fn starts_with(text: &str, prefix: &str) -> bool {
    text.as_bytes()
        .get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
}

/// JSON that may be printed in a workflow: `##[` can stand only in its strings, where `#` may be written as an escape.
pub fn json(document: String) -> String {
    document
        .replace("##[", "#\\u0023[")
        .replace("##v", "#\\u0023v")
        .replace("##V", "#\\u0023V")
}

/// Text within a line of Markdown. Words stay words; a word with anything in it that Markdown or GitHub acts upon (a
/// mention, a reference, an address, a commit, markup, an emoji's name) is shown in code, where nothing acts.
///
/// Backslashes or entities would not do: GitHub looks for mentions and references after it has rendered them.
pub fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (index, part) in line(text).split('`').enumerate() {
        // What stands between two backticks was meant as code; elsewhere a backtick is only dropped from the words.
        if index % 2 == 1 && !part.trim_matches(' ').is_empty() {
            separate(&mut out);
            out += &code(part);
            continue;
        }
        for piece in part.split_inclusive(' ') {
            let word = piece.trim_end_matches(' ');
            // What closes a clause after code (`a`, `b`) is no markup there.
            let closes = out.ends_with('`') && word.chars().all(|it| ",.;:!?)".contains(it));
            if word.is_empty() || closes || is_inert(word) {
                out += piece;
            } else {
                separate(&mut out);
                out += &code(word);
                out += &piece[word.len()..];
            }
        }
    }
    out.trim_matches(' ').to_owned()
}

/// Two code spans side by side would read as one with another fence.
fn separate(out: &mut String) {
    if out.ends_with('`') {
        out.push(' ');
    }
}

/// Whether a word means nothing to Markdown or to GitHub, wherever it stands in a line.
fn is_inert(word: &str) -> bool {
    let body = word.strip_suffix(':').unwrap_or(word);
    let harmless = |character: char| {
        character.is_ascii_alphanumeric()
            || (!character.is_ascii() && !character.is_whitespace())
            || matches!(
                character,
                ',' | '.' | ';' | '!' | '?' | '\'' | '"' | '(' | ')' | '-' | '/' | '%'
            )
    };
    let first = body.chars().next().unwrap_or('-');
    let begins_a_list = {
        let rest = body.trim_start_matches(|character: char| character.is_ascii_digit());
        rest.len() < body.len() && matches!(rest, "." | ")")
    };
    // `ABC-123` may be a reference that the repository defines; seven hexadecimal digits may be a commit.
    let is_reference = body.contains('-') && body.bytes().any(|byte| byte.is_ascii_digit());
    let is_commit = body
        .split(|character: char| !character.is_ascii_alphanumeric())
        .any(|run| run.len() >= 7 && run.bytes().all(|byte| byte.is_ascii_hexdigit()));
    body.chars().all(harmless)
        && (first.is_alphanumeric() || matches!(first, '(' | '"' | '\''))
        && !begins_a_list
        && !is_reference
        && !is_commit
        && !starts_with(body.trim_start_matches(['(', '"', '\'']), "www.")
        && !body.to_ascii_lowercase().contains("www.")
}

/// Text as inline code in Markdown, in a table too: what cannot stand in a cell (`|`) is shown as its code point.
pub fn code(text: &str) -> String {
    let shown = line(text).replace('|', "\\u{7c}");
    if shown.trim().is_empty() {
        // Code of nothing but spaces is shown as nothing.
        return format!(
            "`{}`",
            shown.replace(' ', "\\u{20}") + if shown.is_empty() { "\"\"" } else { "" }
        );
    }
    let fence = "`".repeat(longest_run(&shown, '`') + 1);
    let pad = if shown.starts_with(['`', ' ']) || shown.ends_with(['`', ' ']) {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{shown}{pad}{fence}")
}

/// Text as a fenced block in Markdown, with final newline. The fence is longer than any run of backticks in it.
pub fn fenced(language: &str, text: &str) -> String {
    let shown = block(text);
    let fence = "`".repeat((longest_run(&shown, '`') + 1).max(3));
    let newline = if shown.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{shown}{newline}{fence}\n")
}

fn longest_run(text: &str, of: char) -> usize {
    text.split(|character| character != of)
        .map(str::len)
        .max()
        .unwrap_or(0)
}

/// Text of one line for an element or an attribute of HTML. In Markdown on GitHub it has to stand in `<code>` as well,
/// because mentions are looked for in all other text.
pub fn html(text: &str) -> String {
    entities(&line(text))
}

/// Text of several lines for an element of HTML.
pub fn html_block(text: &str) -> String {
    entities(&block(text))
}

fn entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// Text for an element or an attribute of XML 1.0, which has no way at all to write most control characters. Line
/// breaks are kept; `]]>` cannot arise, since `>` is always written as an entity.
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in entities(&block(text)).chars() {
        match character {
            '\u{fffe}' | '\u{ffff}' => push_code_point(&mut out, character),
            other => out.push(other),
        }
    }
    out
}

/// The message of a workflow command.
pub fn command_data(text: &str) -> String {
    block(text)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property of a workflow command.
pub fn command_property(text: &str) -> String {
    command_data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Plain text for a message in SARIF, in which brackets make links and braces are placeholders (3.11.5 and 3.11.6 of
/// the standard).
pub fn sarif(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in block(text).chars() {
        match character {
            '\\' | '[' | ']' => {
                out.push('\\');
                out.push(character);
            }
            '{' => out.push_str("{{"),
            '}' => out.push_str("}}"),
            other => out.push(other),
        }
    }
    out
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
