//! The one place where untrusted text becomes safe to show.
//!
//! A server can name a tool with terminal escapes, right-to-left overrides, invisible characters,
//! workflow commands, mentions, markup. None of them reaches a sink unescaped; each is shown in a
//! visible form, so that a reviewer still sees that it was there. And no two texts look the same:
//! an escape in the original is distinguished from one made here, and a truncated text ends with a
//! digest of the whole.
//!
//! Two steps. [`line`], [`block`], [`value`] and their shortened forms make text [`Visible`]; a
//! terminal needs no more. The functions for other sinks take text or visible text, and add what
//! their sink needs: [`markdown`], [`code`] and [`fenced`] for Markdown as GitHub renders it,
//! [`html`] for elements and attributes, [`xml`] for XML 1.0, [`command_data`] and
//! [`command_property`] for workflow commands, [`sarif`] for messages in SARIF.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use crate::canonical::{Json, Text, is_unseen, to_compact};
use crate::fingerprint::Digest;

/// Text in which everything is visible: no control characters, escape sequences, invisible
/// characters or workflow commands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Visible(String);

impl Visible {
    /// From parts that are visible or written by mcp-keel.
    pub fn of_parts(text: String) -> Self {
        Self(text)
    }

    pub fn into_string(self) -> String {
        self.0
    }

    /// At most `most` characters of it, with a count and a digest in place of the rest.
    pub fn cut(self, most: usize) -> Self {
        let length = self.0.chars().count();
        if length <= most {
            return self;
        }
        let kept: String = self.0.chars().take(most).collect();
        Self(kept + &rest_of(&self.0, length - most, "characters"))
    }

    /// At most `most` characters, including the marker.
    pub fn cut_to_fit(self, most: usize) -> Self {
        if self.0.chars().count() <= most && !self.looks_cut() {
            self
        } else {
            self.cut(most.saturating_sub(MARK_CHARACTERS))
        }
    }

    /// At most `most` bytes, including the marker.
    pub fn cut_to_bytes(self, most: usize) -> Self {
        let kept = most.saturating_sub(MARK_CHARACTERS + 2);
        if self.0.len() <= kept || (self.0.len() <= most && !self.looks_cut()) {
            return self;
        }
        let end = (0..=kept)
            .rev()
            .find(|at| self.0.is_char_boundary(*at))
            .unwrap_or(0);
        let more = self.0.len() - end;
        Self(self.0[..end].to_owned() + &rest_of(&self.0, more, "bytes"))
    }

    /// Whether it ends like a truncated text: the original may contain such a marker.
    fn looks_cut(&self) -> bool {
        self.0.ends_with(')') && self.0.contains("… (")
    }
}

/// The longest truncation marker: 20 digits of a count, 16 of a digest, the words between them.
const MARK_CHARACTERS: usize = 64;

/// The marker for the rest of a truncated text. The digest covers the whole, so that two texts with
/// the same beginning differ.
fn rest_of(whole: &str, more: usize, unit: &str) -> String {
    let digest = Digest::of(whole).hex();
    format!("… ({more} more {unit}, sha256 {})", &digest[..16])
}

impl fmt::Display for Visible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Deref for Visible {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<Visible> for String {
    fn from(visible: Visible) -> Self {
        visible.0
    }
}

impl From<Visible> for Text {
    fn from(visible: Visible) -> Self {
        visible.0.into()
    }
}

/// What can be shown: any text, which is made visible first, or text that is already visible.
pub trait Shown {
    fn in_line(&self) -> Cow<'_, str>;
    fn in_block(&self) -> Cow<'_, str>;
}

impl Shown for str {
    fn in_line(&self) -> Cow<'_, str> {
        escaped(self.chars().map(Ok), Layout::Line).into()
    }

    fn in_block(&self) -> Cow<'_, str> {
        escaped(self.chars().map(Ok), Layout::Block).into()
    }
}

impl Shown for String {
    fn in_line(&self) -> Cow<'_, str> {
        self.as_str().in_line()
    }

    fn in_block(&self) -> Cow<'_, str> {
        self.as_str().in_block()
    }
}

impl Shown for Cow<'_, str> {
    fn in_line(&self) -> Cow<'_, str> {
        (**self).in_line()
    }

    fn in_block(&self) -> Cow<'_, str> {
        (**self).in_block()
    }
}

impl<T: Shown + ?Sized> Shown for &T {
    fn in_line(&self) -> Cow<'_, str> {
        (**self).in_line()
    }

    fn in_block(&self) -> Cow<'_, str> {
        (**self).in_block()
    }
}

/// Lone surrogates are shown as such, and not as the replacement character.
impl Shown for Text {
    fn in_line(&self) -> Cow<'_, str> {
        let units = char::decode_utf16(self.utf16());
        let characters = units.map(|it| it.map_err(|lone| lone.unpaired_surrogate()));
        escaped(characters, Layout::Line).into()
    }

    fn in_block(&self) -> Cow<'_, str> {
        let units = char::decode_utf16(self.utf16());
        let characters = units.map(|it| it.map_err(|lone| lone.unpaired_surrogate()));
        escaped(characters, Layout::Block).into()
    }
}

impl Shown for Visible {
    fn in_line(&self) -> Cow<'_, str> {
        if self.0.contains('\n') {
            replaced(&self.0, |it| it == '\n').into()
        } else {
            self.0.as_str().into()
        }
    }

    fn in_block(&self) -> Cow<'_, str> {
        self.0.as_str().into()
    }
}

/// Text for one line of a terminal.
pub fn line(text: &(impl Shown + ?Sized)) -> Visible {
    Visible(text.in_line().into_owned())
}

/// Text that may keep its line breaks, each line safe by itself.
pub fn block(text: &(impl Shown + ?Sized)) -> Visible {
    Visible(text.in_block().into_owned())
}

/// [`line`], truncated to `most` characters, never silently.
pub fn short(text: &(impl Shown + ?Sized), most: usize) -> Visible {
    line(text).cut(most)
}

/// [`block`], truncated to `most` characters.
pub fn short_block(text: &(impl Shown + ?Sized), most: usize) -> Visible {
    block(text).cut(most)
}

/// A value as JSON in one line. JSON's own escapes show invisible characters, so that it is still
/// the JSON that was sent.
pub fn value(value: &Json) -> Visible {
    Visible(json(to_compact(value)))
}

/// [`value`], truncated to `most` characters.
pub fn short_value(json: &Json, most: usize) -> Visible {
    value(json).cut(most)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Line,
    Block,
}

/// Text with an escape for everything invisible; a lone surrogate is an `Err`.
///
/// A backslash is doubled only where it would read as the beginning of an escape, a whole run at a
/// time (like quotes on a Windows command line): `C:\dir` and `^\d+$` are unchanged.
fn escaped(characters: impl Iterator<Item = Result<char, u16>>, layout: Layout) -> String {
    let mut out = String::with_capacity(characters.size_hint().0);
    let mut backslashes = 0;
    let mut characters = characters.peekable();
    while let Some(next) = characters.next() {
        if next == Ok('\\') {
            backslashes += 1;
            continue;
        }
        let begins_an_escape = match next {
            Ok('\n' | 'n' | 'r' | 't') => layout == Layout::Line,
            Ok('u') => characters.peek() == Some(&Ok('{')),
            Ok(other) => is_unseen(other),
            Err(_) => true,
        };
        let times = if begins_an_escape { 2 } else { 1 };
        out.extend(std::iter::repeat_n('\\', times * backslashes));
        backslashes = 0;
        match next {
            Ok('\n') if layout == Layout::Line => out += "\\n",
            Ok('\r') if layout == Layout::Line => out += "\\r",
            Ok('\t') if layout == Layout::Line => out += "\\t",
            Ok(unseen) if unseen != '\n' && is_unseen(unseen) => out += &code_point(unseen.into()),
            Ok(seen) => out.push(seen),
            Err(lone) => out += &code_point(lone.into()),
        }
    }
    out.extend(std::iter::repeat_n('\\', backslashes));
    without_commands(out, code_point)
}

/// Visible text in which these characters are also shown as code points.
fn replaced(visible: &str, is: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(visible.len() + 8);
    for character in visible.chars() {
        if is(character) {
            let run = out.len() - out.trim_end_matches('\\').len();
            out.extend(std::iter::repeat_n('\\', run));
            out += &code_point(character.into());
        } else {
            out.push(character);
        }
    }
    out
}

fn code_point(number: u32) -> String {
    format!("\\u{{{number:x}}}")
}

/// Whether two different texts could be mistaken for each other: the same characters in another
/// composition, or non-ASCII characters in place of others.
pub fn look_alike(one: &str, other: &str) -> bool {
    let composed = |text: &str| {
        icu_normalizer::ComposingNormalizerBorrowed::new_nfc()
            .normalize(text)
            .into_owned()
    };
    let same_place =
        |(one, other): (char, char)| one == other || !one.is_ascii() || !other.is_ascii();
    one != other
        && (composed(one) == composed(other)
            || (one.chars().count() == other.chars().count()
                && one.chars().zip(other.chars()).all(same_place)))
}

/// Text with every non-ASCII character as its code point.
pub fn code_points(text: &(impl Shown + ?Sized)) -> Visible {
    Visible(replaced(&text.in_line(), |it| !it.is_ascii()))
}

/// What a runner takes for a command at the start of a log line.
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

/// A runner parses every line that a step prints. `::error::` is a command at the start of a line
/// (and wrapping may put any word there), `##[error]` and `##vso[` anywhere. Their second character
/// is shown as its code point.
fn without_commands(text: String, escape: fn(u32) -> String) -> String {
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
            out += &escape(first.into());
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

/// JSON that may be shown, and printed in a workflow: invisible characters and commands can only be
/// in its strings, where any character may be escaped.
pub fn json(document: String) -> String {
    let mut out = String::with_capacity(document.len());
    for character in document.chars() {
        if is_unseen(character) && character != '\n' {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                out += &json_escape((*unit).into());
            }
        } else {
            out.push(character);
        }
    }
    without_commands(out, json_escape)
}

fn json_escape(unit: u32) -> String {
    format!("\\u{unit:04x}")
}

/// Text within a line of Markdown. Words stay words; a word with anything that Markdown or GitHub
/// acts upon (a mention, a reference, a URL, a commit, markup, an emoji name) is shown as code,
/// where it has no effect. Text between two backticks was meant as code, and becomes code.
///
/// Backslashes or entities would not do: GitHub looks for mentions and references after rendering
/// them.
pub fn markdown(text: &(impl Shown + ?Sized)) -> String {
    let mut out = String::new();
    let text = text.in_line();
    let mut rest = &*text;
    while !rest.is_empty() {
        let (words, quoted) = rest.split_at(rest.find('`').unwrap_or(rest.len()));
        inert_or_code(&mut out, words);
        let quotes = quoted.len() - quoted.trim_start_matches('`').len();
        let inner = &quoted[quotes..];
        match inner.find('`') {
            // A pair of single backticks around something.
            Some(end) if quotes == 1 && !inner[..end].trim_matches(' ').is_empty() => {
                span(&mut out, &inner[..end]);
                rest = &inner[end + 1..];
            }
            // Others quote nothing, and are shown.
            _ => {
                if quotes > 0 {
                    span(&mut out, &quoted[..quotes]);
                }
                rest = inner;
            }
        }
    }
    if out.ends_with(' ') {
        out.pop();
        span(&mut out, " ");
    }
    out
}

/// Words without backticks. A space that a renderer would drop (at either end, or after another) is
/// shown.
fn inert_or_code(out: &mut String, words: &str) {
    let mut rest = words;
    while !rest.is_empty() {
        let end = rest.find(' ').unwrap_or(rest.len());
        let (word, spaces) = rest.split_at(end);
        let closes = out.ends_with('`') && word.chars().all(|it| PUNCTUATION.contains(it));
        // Only the first word of a line can begin a list.
        let begins_a_list = out.is_empty() && is_list_marker(word);
        if word.is_empty() || closes || (is_inert(word) && !begins_a_list) {
            *out += word;
        } else if begins_a_list {
            span(out, word);
        } else {
            let [before, code, after] = without_punctuation(word);
            *out += before;
            span(out, code);
            *out += after;
        }
        let count = spaces.len() - spaces.trim_start_matches(' ').len();
        rest = &spaces[count..];
        match count {
            0 => {}
            1 if !out.is_empty() => out.push(' '),
            _ => span(out, &spaces[..count]),
        }
    }
}

/// Punctuation of a sentence: after code (`a`, `b`) it is not markup.
const PUNCTUATION: &str = ",.;:!?)";

/// A word that is shown as code, without the sentence's punctuation: what is before it (an opening
/// bracket whose partner is after it), the word, and what is after it.
fn without_punctuation(word: &str) -> [&str; 3] {
    let mut code = word;
    let mut before = "";
    while let Some((at, last)) = code.char_indices().next_back()
        && PUNCTUATION.contains(last)
    {
        // `f(x)` keeps its bracket, `(f(x))` loses the outer pair.
        if last == ')' && code.matches('(').count() >= code.matches(')').count() {
            match code[..at].strip_prefix('(') {
                Some(inner) if before.is_empty() && !inner.starts_with(')') => {
                    before = "(";
                    code = inner;
                    continue;
                }
                _ => break,
            }
        }
        code = &code[..at];
    }
    if code.is_empty() || (code.starts_with('(') && code.trim_matches('(').is_empty()) {
        return ["", word, ""];
    }
    [before, code, &word[before.len() + code.len()..]]
}

/// Code, separated from code before it: two adjacent code spans would read as one with another
/// fence.
fn span(out: &mut String, visible: &str) {
    if out.ends_with('`') {
        out.push(' ');
    }
    *out += &code(&Visible(visible.to_owned()));
}

/// `1.` or `1)`, which begin a list at the beginning of a line.
fn is_list_marker(word: &str) -> bool {
    let rest = word.trim_start_matches(|character: char| character.is_ascii_digit());
    rest.len() < word.len() && matches!(rest, "." | ")")
}

/// Whether a word means nothing to Markdown or to GitHub, anywhere in a line but as a list marker.
fn is_inert(word: &str) -> bool {
    if word == "→" {
        return true;
    }
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
    // `ABC-123` may be a reference that the repository defines; seven hexadecimal digits may be a
    // commit.
    let is_reference = body.contains('-') && body.bytes().any(|byte| byte.is_ascii_digit());
    let is_commit = body
        .split(|character: char| !character.is_ascii_alphanumeric())
        .any(|run| run.len() >= 7 && run.bytes().all(|byte| byte.is_ascii_hexdigit()));
    body.chars().all(harmless)
        && (first.is_alphanumeric() || matches!(first, '(' | '"' | '\''))
        && !is_reference
        && !is_commit
        && !starts_with(body.trim_start_matches(['(', '"', '\'']), "www.")
        && !body.to_ascii_lowercase().contains("www.")
}

/// Text as inline code in Markdown, also in a table: characters that are not allowed in a cell
/// (`|`) are shown as code points.
pub fn code(text: &(impl Shown + ?Sized)) -> String {
    let text = text.in_line();
    let shown = match text.trim_matches(' ') {
        // An empty code span is not code. Empty braces are unambiguous: not a code point.
        "" if text.is_empty() => "\\u{}".to_owned(),
        "" => replaced(&text, |_| true),
        _ => replaced(&text, |it| it == '|'),
    };
    let fence = "`".repeat(longest_run(&shown, '`') + 1);
    let pad = if shown.starts_with(['`', ' ']) || shown.ends_with(['`', ' ']) {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{shown}{pad}{fence}")
}

/// Text as a fenced block in Markdown, with a final newline. The fence is longer than any run of
/// backticks in it.
pub fn fenced(language: &str, text: &(impl Shown + ?Sized)) -> String {
    let shown = text.in_block();
    let fence = "`".repeat((longest_run(&shown, '`') + 1).max(3));
    format!("{fence}{language}\n{shown}\n{fence}\n")
}

fn longest_run(text: &str, of: char) -> usize {
    text.split(|character| character != of)
        .map(str::len)
        .max()
        .unwrap_or(0)
}

/// One line of text for an HTML element or attribute. In Markdown on GitHub it must also be inside
/// `<code>`, because mentions are looked for in all other text.
pub fn html(text: &(impl Shown + ?Sized)) -> String {
    entities(&text.in_line())
}

/// Several lines of text for an HTML element.
pub fn html_block(text: &(impl Shown + ?Sized)) -> String {
    entities(&text.in_block())
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

/// Text for an element or an attribute of XML 1.0, which cannot represent most control characters
/// at all. Line breaks are kept; `]]>` cannot arise, since `>` is always an entity.
pub fn xml(text: &(impl Shown + ?Sized)) -> String {
    entities(&text.in_block())
}

/// The message of a workflow command.
pub fn command_data(text: &(impl Shown + ?Sized)) -> String {
    text.in_block().replace('%', "%25").replace('\n', "%0A")
}

/// The value of a property of a workflow command.
pub fn command_property(text: &(impl Shown + ?Sized)) -> String {
    command_data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Plain text for a message in SARIF, in which brackets make links and braces are placeholders
/// (3.11.5 and 3.11.6 of the standard).
pub fn sarif(text: &(impl Shown + ?Sized)) -> String {
    let mut out = String::new();
    for character in text.in_block().chars() {
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
    fn nothing_that_affects_a_terminal_survives_and_everything_is_visible() {
        let hostile = "a\u{1b}[31mred\u{7}\u{202e}evil\u{200b}\u{e0041}\u{9b}2J\nnext";
        assert_eq!(
            &*line(hostile),
            "a\\u{1b}[31mred\\u{7}\\u{202e}evil\\u{200b}\\u{e0041}\\u{9b}2J\\nnext"
        );
        assert_eq!(&*block("a\n\u{1b}b"), "a\n\\u{1b}b");
    }

    #[test]
    fn a_truncation_states_how_much_is_missing_and_a_digest() {
        assert_eq!(&*short("abcdef", 6), "abcdef");
        assert_eq!(
            &*short("abcdefgh", 3),
            "abc… (5 more characters, sha256 9c56cc51b374c3ba)"
        );
        assert_ne!(short("abcdefgh", 3), short("abcdefgi", 3));
    }

    #[test]
    fn an_escape_in_the_original_is_distinguished_from_one_made_here() {
        for (text, shown) in [
            ("\u{202e}", "\u{202e}"),
            ("\\u{202e}", "\\\\u{202e}"),
            ("\n", "\\n"),
            ("\\n", "\\\\n"),
            ("\\\n", "\\\\\\n"),
            ("C:\\dir\\new ^\\d+$ \\", "C:\\dir\\\\new ^\\d+$ \\"),
            ("::error::x ##[group]", ":\\u{3a}error::x #\\u{23}[group]"),
            ("a\u{a0}b\u{fe0f}", "a\\u{a0}b\\u{fe0f}"),
        ] {
            assert_eq!(
                &*line(text),
                shown.replace("\u{202e}", "\\u{202e}"),
                "{text:?}"
            );
        }
        assert_eq!(&*block("C:\\new\tx\r\n"), "C:\\new\\u{9}x\\u{d}\n");
    }

    #[test]
    fn the_punctuation_of_a_sentence_is_not_part_of_the_code() {
        for (text, shown) in [
            ("@octo/weather: gone", "`@octo/weather`: gone"),
            ("see https://a.example/b.", "see `https://a.example/b`."),
            (
                "ABC-123, #4; and :smile:!",
                "`ABC-123`, `#4`; and `:smile`:!",
            ),
            ("(see @a) or (@b)", "(see `@a`) or (`@b`)"),
            ("f(@x) and (f(@x)).", "`f(@x)` and (`f(@x)`)."),
            ("... ?! :: @: (*)", "`...` `?!` `::` `@`: (`*`)"),
            ("1. [x]: y", "`1.` `[x]`: y"),
            ("`a`: **b**: `c`", "`a`: `**b**`: `c`"),
        ] {
            assert_eq!(markdown(text), shown, "{text}");
        }
    }

    #[test]
    fn a_value_is_shown_as_json() {
        let value = crate::canonical::parse_str(
            r#"{"pattern":"^\\d+\n$","t":"a\nb \u202e\ud800 ::error::"}"#,
        );
        assert_eq!(
            &*super::value(&value.unwrap()),
            r#"{"pattern":"^\\d+\n$","t":"a\nb \u202e\ud800 :\u003aerror::"}"#
        );
    }

    #[test]
    fn lookalike_texts_are_recognised() {
        assert!(look_alike("paypal", "p\u{430}ypal"));
        assert!(look_alike("caf\u{e9}", "cafe\u{301}"));
        assert!(!look_alike("paypal", "paypel"));
        assert!(!look_alike("paypal", "paypal"));
        assert_eq!(&*code_points("p\u{430}y"), "p\\u{430}y");
    }
}
