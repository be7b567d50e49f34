//! Enums whose variants have a keyword each: the word in flags, configuration keys and every report.

/// `ALL`, `word()`, `Display` and `FromStr` for an enum, from one list of its variants and their keywords.
macro_rules! keyword_enum {
    ($type:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// All of them, least first.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word for it in every format.
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
    };
}

pub(crate) use keyword_enum;
