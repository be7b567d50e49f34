//! The names of tools: their characters, their length, and their length with the prefix that
//! clients add.

/// The protocol's limit.
const LONGEST: usize = 128;

/// The limit of models' APIs.
const LONGEST_WITH_PREFIX: usize = 64;

/// Why a name violates the protocol's rules (SEP-986).
pub(super) fn problem(name: &str) -> Option<String> {
    let is_allowed =
        |character: &char| character.is_ascii_alphanumeric() || "_.-".contains(*character);
    if name.is_empty() {
        return Some("the name is empty (allowed: 1 to 128 of A-Z a-z 0-9 _ . -)".to_owned());
    }
    if let Some(character) = name.chars().find(|it| !is_allowed(it)) {
        let shown = if character.is_ascii_graphic() {
            format!("`{character}`")
        } else {
            format!("U+{:04X}", u32::from(character))
        };
        return Some(format!(
            "the name contains {shown} (allowed: A-Z a-z 0-9 _ . -)"
        ));
    }
    let length = name.chars().count();
    (length > LONGEST).then(|| format!("the name has {length} characters (allowed: {LONGEST})"))
}

/// Why a name is too long with the client's prefix `mcp__SERVER__`. The server's own name is used,
/// which is what most people call it; the configured name is not known here.
pub(super) fn too_long(server: Option<&str>, name: &str) -> Option<String> {
    let is_kept = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    let server = server.unwrap_or_default();
    let server: String = server
        .chars()
        .map(|character| if is_kept(character) { character } else { '_' })
        .collect();
    let full = format!("mcp__{server}__{name}");
    let length = full.chars().count();
    (length > LONGEST_WITH_PREFIX).then(|| {
        format!(
            "`{full}`, as clients call it, has {length} characters; models' APIs allow {LONGEST_WITH_PREFIX}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_1_to_128_letters_digits_and_three_signs() {
        for name in ["getUser", "DATA_EXPORT_v2", "admin.tools.list", "a-b"] {
            assert_eq!(problem(name), None, "{name}");
        }
        assert_eq!(problem(&"a".repeat(128)), None);
        for name in ["", "a b", "a/b", "a,b", "é", "a\u{1b}[0m", "a\u{202e}b"] {
            assert!(problem(name).is_some(), "{name:?}");
        }
        assert!(problem(&"a".repeat(129)).is_some());
    }

    #[test]
    fn the_prefix_counts() {
        let name = "a".repeat(64 - "mcp__weather_api__".len());
        assert_eq!(too_long(Some("weather api"), &name), None);
        let message = too_long(Some("weather api"), &format!("{name}a")).unwrap();
        assert!(message.contains("65") && message.contains("mcp__weather_api__a"));
    }
}
