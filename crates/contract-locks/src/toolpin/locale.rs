//! ECMAScript's `localeCompare` in the locale en-US, as in V8 with ICU.
//!
//! ToolPin sorts by it, so its digests depend on the locale of the machine it ran on: in Danish and
//! Estonian even for ASCII names. Its published action runs in en-US (or C, which has the same
//! order), and this does the same.

use std::cmp::Ordering;
use std::sync::LazyLock;

use icu_collator::options::CollatorOptions;
use icu_collator::provider::{
    Baked as Collations, CollationDiacriticsV1, CollationJamoV1, CollationMetadataV1,
    CollationReorderingV1, CollationRootV1, CollationSpecialPrimariesV1, CollationTailoringV1,
};
use icu_collator::{Collator, CollatorPreferences};
use icu_normalizer::provider::{
    Baked as Normalizations, NormalizerNfdDataV1, NormalizerNfdTablesV1,
};
use icu_provider::DataMarker as _;
use icu_provider::prelude::{DataError, DataErrorKind, DataProvider, DataRequest, DataResponse};

use exact_json::Text;

// The root collation is that of en-US: English has no tailoring.
static COLLATOR: LazyLock<Option<Collator>> = LazyLock::new(|| {
    let (preferences, options) = (CollatorPreferences::default(), CollatorOptions::default());
    Collator::try_new_unstable(&RootOnly, preferences, options).ok()
});

/// The compiled data without the tailorings of other languages: they are a megabyte.
struct RootOnly;

macro_rules! provide {
    ($($marker:ty => $provider:expr),+ $(,)?) => {
        $(impl DataProvider<$marker> for RootOnly {
            fn load(&self, request: DataRequest) -> Result<DataResponse<$marker>, DataError> {
                $provider.load(request)
            }
        })+
    };
}

provide! {
    CollationRootV1 => Collations,
    CollationDiacriticsV1 => Collations,
    CollationJamoV1 => Collations,
    CollationMetadataV1 => Collations,
    CollationReorderingV1 => Collations,
    CollationSpecialPrimariesV1 => Collations,
    NormalizerNfdDataV1 => Normalizations,
    NormalizerNfdTablesV1 => Normalizations,
}

impl DataProvider<CollationTailoringV1> for RootOnly {
    fn load(&self, _: DataRequest) -> Result<DataResponse<CollationTailoringV1>, DataError> {
        Err(DataErrorKind::IdentifierNotFound.with_marker(CollationTailoringV1::INFO))
    }
}

/// `one.localeCompare(other)`. Ignorable characters and canonical equivalents compare equal: sort
/// stably.
pub fn compare(one: &str, other: &str) -> Ordering {
    match &*COLLATOR {
        Some(collator) => collator.as_borrowed().compare(one, other),
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
            collator
                .as_borrowed()
                .compare_utf16(&units(one), &units(other))
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
