//! Whether a `pattern` is a regular expression of ECMAScript, as the official clients compile it.
//!
//! They use the `u` flag, under which `\:` and `(?i)` are errors. Names of Unicode properties are not
//! checked, so what is called wrong is wrong.

/// Whether JavaScript compiles a pattern with the `u` flag.
pub(super) fn compiles(pattern: &str) -> bool {
    jsonschema_regex::is_valid_ecma_regex(pattern) && !has_needless_escape(pattern)
}

/// Whether a character is escaped that the `u` flag does not allow to be.
fn has_needless_escape(pattern: &str) -> bool {
    let mut in_class = false;
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match character {
            '[' => in_class = true,
            ']' => in_class = false,
            '\\' => match characters.next() {
                Some('-') if in_class => {}
                Some(it) if it.is_alphanumeric() || "^$\\.*+?()[]{}|/".contains(it) => {}
                _ => return true,
            },
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `new RegExp(pattern, "u")` of Node.js decides.
    #[test]
    fn patterns_compile_as_in_javascript() {
        for pattern in [
            "",
            "^[a-z0-9_-]+$",
            r"^\d{4}-\d{2}-\d{2}$",
            "a|b|",
            "(?:a|b)*?",
            r"(?<year>\d+)\k<year>",
            r"(a)\1",
            r"\p{L}+",
            r"[\p{Lu}\w-]",
            r"[^\]\-]",
            "(?=a)b",
            "(?<!a)b",
            "(?i:a)",
            "(?i-m:a)",
            r"\u{1F600}",
            r"\uD83D\uDE00",
            r"\x41\cA\0",
            "a{2}",
            "a{2,}b{02,3}",
            r"[\b]",
            "[]",
            "[^]",
            "[a-]",
            "[-a]",
            "[[]",
            "é*",
            r"\/",
            ".",
            r"^https?://[^\s/$.?#].[^\s]*$",
            "[+--]",
            r"\k<a>(?<a>x)",
        ] {
            assert!(compiles(pattern), "{pattern}");
        }
        for pattern in [
            "(?i)abc[",
            "(?i)abc",
            "(?P<a>x)",
            r"^https\:",
            "(",
            ")",
            "a)",
            "[a",
            "*",
            "a**",
            "a++",
            "?",
            "{",
            "a{",
            "}",
            "]",
            "a{2",
            "a{,2}",
            "a{3,2}",
            r"\",
            r"\A",
            r"\Z",
            r"\z",
            r"\_",
            r"\-",
            r"\1",
            r"(a)\2",
            r"\k<a>",
            r"\k",
            r"\p",
            r"\pL",
            r"\x4",
            r"\u12",
            r"\u{110000}",
            r"\c1",
            r"\01",
            "[z-a]",
            r"[\w-a]",
            r"[a-\d]",
            "(?=a)*",
            "(?<=a)+",
            "^*",
            r"\b+",
            "(?#x)",
            "(?>a)",
            "a*+",
            "(?<1>a)",
            "(?<>a)",
            "(?-:a)",
            "(?ii:a)",
            r"[\1]",
            "(?a",
        ] {
            assert!(!compiles(pattern), "{pattern}");
        }
    }
}
