//! Parsers for the values of flags, which list and suggest what they accept.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// A parser for one of a fixed set of words, which clap lists in the help and suggests from.
pub(super) fn keyword<T>(
    all: &'static [T],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.iter().map(|it| word(*it))).try_map(move |found| {
        let named = all.iter().find(|it| word(**it) == found);
        named
            .copied()
            .ok_or_else(|| "not one of the words".to_owned())
    })
}

/// `KEY=VALUE`
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| "expected KEY=VALUE".to_owned())?;
    Ok((name.to_owned(), value.to_owned()))
}
