//! English that sentences all over the program are made of.

/// `1 change`, `2 changes`
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// With a capital as its first letter.
pub(crate) fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

/// `a`, `a and b`, `a, b and c`
pub(crate) fn join_with_and<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.collect();
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// What happened to a member: it `is new`, `was removed` or `changed`.
pub(crate) fn what_happened<T>(old: Option<T>, new: Option<T>) -> &'static str {
    match (old.is_some(), new.is_some()) {
        (false, _) => "is new",
        (_, false) => "was removed",
        _ => "changed",
    }
}
