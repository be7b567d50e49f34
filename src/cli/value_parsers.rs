//! What may follow a flag: parsers that list and suggest what they know.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::args::Format;
use crate::policy::Unknown;
use crate::report;
use crate::run::request::{MOST_PARTS, Part};

/// `KEY=VALUE`
pub(super) fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(
            "expected KEY=VALUE; --pass-env NAME hands over a variable that is set here".to_owned(),
        ),
    }
}

/// `ID=VALUE`
pub(super) fn input(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((id, value)) if !id.is_empty() => Ok((id.to_owned(), value.to_owned())),
        // The text may be a secret: clap would show it.
        _ => Err("expected ID=VALUE".to_owned()),
    }
}

/// `I/N`
pub(super) fn part(text: &str) -> Result<Part, String> {
    text.parse()
        .map_err(|()| format!("expected I/N, such as 1/4, with N at most {MOST_PARTS}"))
}

/// `--unknown`, with the current name of `allow_degraded` as an alias.
pub(super) fn unknown() -> impl TypedValueParser<Value = Unknown> {
    let words = Unknown::ALL.iter().map(|it| {
        let value = PossibleValue::new(it.word());
        match it {
            Unknown::Allow => value.alias(Unknown::ALLOW_ALIAS),
            _ => value,
        }
    });
    PossibleValuesParser::new(words).try_map(|found| {
        found
            .parse::<Unknown>()
            .map_err(|()| "not one of the words".to_owned())
    })
}

/// `--format`
pub(super) fn format() -> impl TypedValueParser<Value = Format> {
    const TOOLPIN: &str = "toolpin";
    let formats = report::Format::ALL
        .iter()
        .map(|it| PossibleValue::new(it.word()).help(it.purpose()));
    let lock = PossibleValue::new(TOOLPIN)
        .help("`pin` only: write a ToolPin lock, and report on the terminal")
        .hide(true);
    PossibleValuesParser::new(formats.chain([lock])).try_map(|found| {
        if found == TOOLPIN {
            return Ok(Format::ToolPin);
        }
        found
            .parse()
            .map(Format::Report)
            .map_err(|()| "not one of the words".to_owned())
    })
}

/// A parser for one of a few words, which clap lists in the help and suggests from.
pub(super) fn keyword<T>(
    all: &'static [T],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + std::str::FromStr<Err = ()> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.iter().map(|it| word(*it))).try_map(|found| {
        found
            .parse::<T>()
            .map_err(|()| "not one of the words".to_owned())
    })
}
