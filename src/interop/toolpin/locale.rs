//! ECMAScript's `localeCompare` in the locale en-US, as in V8 with ICU.
//!
//! ToolPin sorts by it, so its digests depend on the locale of the machine it ran on: in Danish and
//! Estonian even for ASCII names. Its published action runs in en-US (or C, which has the same
//! order), and this does the same.

use std::cmp::Ordering;
use std::sync::LazyLock;

use icu_collator::options::CollatorOptions;
use icu_collator::{Collator, CollatorBorrowed, CollatorPreferences};

use crate::canonical::Text;

// The root collation is that of en-US: English has no tailoring.
static COLLATOR: LazyLock<Option<CollatorBorrowed<'static>>> = LazyLock::new(|| {
    Collator::try_new(CollatorPreferences::default(), CollatorOptions::default()).ok()
});

/// `one.localeCompare(other)`. Ignorable characters and canonical equivalents compare equal: sort
/// stably.
pub fn compare(one: &str, other: &str) -> Ordering {
    match &*COLLATOR {
        Some(collator) => collator.compare(one, other),
        // Unreachable, because the data is compiled in; byte order is the closest substitute.
        None => one.cmp(other),
    }
}

/// [`compare`] for strings that may contain lone surrogates.
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
