//! What may stand after a flag: parsers that list and suggest what they know.

use std::path::PathBuf;

use clap::ValueEnum as _;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::Format;
use crate::config::suggestion;
use crate::policy::Unknown;

/// `KEY=VALUE`
pub(super) fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(
            "expected KEY=VALUE; --pass-env NAME hands over a variable that is set here".to_owned(),
        ),
    }
}

/// `FORMAT=FILE`
pub(super) fn report_file(text: &str) -> Result<(Format, PathBuf), String> {
    let Some((format, path)) = text.split_once('=').filter(|(_, path)| !path.is_empty()) else {
        return Err("expected FORMAT=FILE, such as json=report.json".to_owned());
    };
    // A lock is no report.
    let parsed = <Format as clap::ValueEnum>::from_str(format, false).ok();
    let format = parsed.filter(|it| *it != Format::ToolPin).ok_or_else(|| {
        let known: Vec<String> = <Format as clap::ValueEnum>::value_variants()
            .iter()
            .filter(|it| **it != Format::ToolPin)
            .filter_map(|it| Some(it.to_possible_value()?.get_name().to_owned()))
            .collect();
        let help = match suggestion(format, known.iter().map(String::as_str)) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("known: {}", known.join(", ")),
        };
        format!("there is no format `{format}`; {help}")
    })?;
    Ok((format, PathBuf::from(path)))
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

/// A parser for one of a few words, which clap lists in the help and suggests from.
pub(super) fn words<T>(
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
