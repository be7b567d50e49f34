//! ECMAScript's `localeCompare` in the locale en-US, as V8 with ICU answers it.
//!
//! ToolPin sorts by it, and so its digests depend on the locale of whoever ran it: in Danish and Estonian even for
//! names of ASCII letters only. Its published action runs in en-US (or C, which is the same order), and so do we.

use std::cmp::Ordering;
use std::sync::LazyLock;

use icu_collator::options::CollatorOptions;
use icu_collator::{Collator, CollatorBorrowed, CollatorPreferences};

use crate::canonical::Text;

// The root collation is that of en-US: English tailors nothing.
static COLLATOR: LazyLock<Option<CollatorBorrowed<'static>>> = LazyLock::new(|| {
    Collator::try_new(CollatorPreferences::default(), CollatorOptions::default()).ok()
});

/// `one.localeCompare(other)`. Ignorable characters and canonical equivalents compare equal: sort stably.
pub fn compare(one: &str, other: &str) -> Ordering {
    match &*COLLATOR {
        Some(collator) => collator.compare(one, other),
        // The data is compiled in, so this is never taken; byte order is the nearest thing to it.
        None => one.cmp(other),
    }
}

/// [`compare`] for strings that may hold lone surrogates.
pub fn compare_text(one: &Text, other: &Text) -> Ordering {
    match (&*COLLATOR, one.as_str(), other.as_str()) {
        (Some(_), Some(one), Some(other)) => compare(one, other),
        (Some(collator), _, _) => {
            let units = |text: &Text| text.utf16().collect::<Vec<u16>>();
            collator.compare_utf16(&units(one), &units(other))
        }
        (None, _, _) => one.cmp_utf16(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_before_digits_before_letters_and_lower_case_first_only_as_a_tie_break() {
        let order = ["_a", "-a", "1", "a", "A", "a_b", "ab", "aB", "b", "B"];
        for pair in order.windows(2) {
            assert_eq!(compare(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        }
        assert_eq!(compare("a\u{ad}b", "ab"), Ordering::Equal);
        assert_eq!(compare("\u{e9}", "e\u{301}"), Ordering::Equal);
    }
}
