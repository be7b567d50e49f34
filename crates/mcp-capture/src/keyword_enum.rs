//! Enums whose variants have keywords: the words in flags, configuration keys and reports.

/// `ALL`, `word()`, `Display`, `FromStr` and serde's traits for an enum, from one list of its
/// variants and keywords.
#[doc(hidden)]
#[macro_export]
macro_rules! keyword_enum {
    ($type:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// From the least to the greatest.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its keyword in every format.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl std::str::FromStr for $type {
            type Err = ();

            fn from_str(word: &str) -> Result<Self, ()> {
                Self::ALL.iter().copied().find(|it| it.word() == word).ok_or(())
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = String::deserialize(deserializer)?;
                word.parse().map_err(|()| {
                    <D::Error as serde::de::Error>::unknown_variant(&word, &[$($word),+])
                })
            }
        }
    };
}

pub(crate) use keyword_enum;
