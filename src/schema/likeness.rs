//! Whether two names can be one thing under two names, and which of many belong together.

/// Words that mean the opposite of each other: what goes under one is never what comes under the other.
const OPPOSITES: &[(&str, &str)] = &[
    ("accept", "decline"),
    ("accept", "reject"),
    ("add", "remove"),
    ("add", "delete"),
    ("after", "before"),
    ("allow", "block"),
    ("allow", "deny"),
    ("approve", "reject"),
    ("asc", "desc"),
    ("ascending", "descending"),
    ("begin", "end"),
    ("bottom", "top"),
    ("buy", "sell"),
    ("child", "parent"),
    ("close", "open"),
    ("column", "row"),
    ("create", "delete"),
    ("create", "remove"),
    ("create", "destroy"),
    ("credit", "debit"),
    ("decrease", "increase"),
    ("decrement", "increment"),
    ("decrypt", "encrypt"),
    ("deposit", "withdraw"),
    ("disable", "enable"),
    ("down", "up"),
    ("download", "upload"),
    ("decode", "encode"),
    ("end", "start"),
    ("exclude", "include"),
    ("export", "import"),
    ("first", "last"),
    ("from", "to"),
    ("get", "set"),
    ("grant", "revoke"),
    ("head", "tail"),
    ("height", "width"),
    ("hide", "show"),
    ("in", "out"),
    ("input", "output"),
    ("insert", "delete"),
    ("join", "leave"),
    ("lat", "lng"),
    ("lat", "lon"),
    ("latitude", "longitude"),
    ("left", "right"),
    ("load", "save"),
    ("login", "logout"),
    ("lower", "upper"),
    ("max", "min"),
    ("maximum", "minimum"),
    ("new", "old"),
    ("next", "prev"),
    ("next", "previous"),
    ("off", "on"),
    ("pause", "resume"),
    ("private", "public"),
    ("pull", "push"),
    ("read", "write"),
    ("receive", "send"),
    ("redo", "undo"),
    ("source", "destination"),
    ("source", "target"),
    ("dst", "src"),
    ("start", "stop"),
    ("success", "failure"),
    ("x", "y"),
];

/// Prefixes that turn a word into its opposite.
const TURNING: &[&str] = &["un", "dis", "de", "non"];

/// Words that make something destructive: what gains one is not the same thing under another name.
const DESTRUCTIVE: &[&str] = &[
    "clear",
    "delete",
    "destroy",
    "drop",
    "erase",
    "execute",
    "exec",
    "format",
    "kill",
    "overwrite",
    "purge",
    "remove",
    "reset",
    "revoke",
    "terminate",
    "truncate",
    "uninstall",
    "wipe",
    "write",
];

/// Whether one name means the opposite of another, or something that destroys where the other does not.
pub(crate) fn opposed(old: &[String], new: &[String]) -> bool {
    let gone: Vec<&String> = old.iter().filter(|it| !new.contains(it)).collect();
    let fresh: Vec<&String> = new.iter().filter(|it| !old.contains(it)).collect();
    let opposite = |one: &str, other: &str| {
        OPPOSITES.iter().any(|(mine, theirs)| {
            (*mine, *theirs) == (one, other) || (*theirs, *mine) == (one, other)
        }) || TURNING.iter().any(|prefix| {
            one.strip_prefix(prefix) == Some(other) || other.strip_prefix(prefix) == Some(one)
        })
    };
    let destroys = |words: &[&String]| words.iter().any(|it| DESTRUCTIVE.contains(&it.as_str()));
    gone.iter()
        .any(|one| fresh.iter().any(|other| opposite(one, other)))
        || destroys(&gone) != destroys(&fresh)
}

/// The words of a name without its version (`v2`, `2`).
pub(crate) fn without_version(words: &[String]) -> Vec<String> {
    words
        .iter()
        .filter(|word| {
            let digits = word.strip_prefix('v').unwrap_or(word);
            digits.is_empty() || !digits.chars().all(|it| it.is_ascii_digit())
        })
        .cloned()
        .collect()
}

/// Of scored pairs those that belong together: each thing in one pair at most, and no exchange between pairs scores
/// more in all. Scores are positive; the order of equal ones is that of the indices.
pub(crate) fn assigned(mut scored: Vec<(usize, usize, u32)>) -> Vec<(usize, usize, u32)> {
    scored.sort_by_key(|(old, new, score)| (std::cmp::Reverse(*score), *old, *new));
    let mut pairs: Vec<(usize, usize, u32)> = Vec::new();
    for pair in &scored {
        if pairs.iter().all(|it| it.0 != pair.0 && it.1 != pair.1) {
            pairs.push(*pair);
        }
    }
    let score = |old: usize, new: usize| {
        scored
            .iter()
            .find(|it| it.0 == old && it.1 == new)
            .map(|it| it.2)
    };
    for _ in 0..64 {
        let mut better = None;
        for (index, (old, new, own)) in pairs.iter().enumerate() {
            // Another one takes its partner, and it finds one that is free.
            for (other, _, theirs) in scored.iter().filter(|it| it.1 == *new && it.0 != *old) {
                if pairs.iter().any(|it| it.0 == *other) {
                    continue;
                }
                let free = scored
                    .iter()
                    .find(|it| it.0 == *old && pairs.iter().all(|pair| pair.1 != it.1));
                if let Some(free) = free
                    && free.2 + theirs > *own
                {
                    better = Some((vec![index], vec![*free, (*other, *new, *theirs)]));
                }
            }
            // Two pairs exchange partners.
            for (second, (other, their_new, theirs)) in pairs.iter().enumerate().skip(index + 1) {
                if let (Some(one), Some(two)) = (score(*old, *their_new), score(*other, *new))
                    && one + two > own + theirs
                {
                    let exchanged = vec![(*old, *their_new, one), (*other, *new, two)];
                    better = Some((vec![index, second], exchanged));
                }
            }
        }
        let Some((gone, fresh)) = better else { break };
        let mut index = 0;
        pairs.retain(|_| {
            index += 1;
            !gone.contains(&(index - 1))
        });
        pairs.extend(fresh);
    }
    pairs.sort_unstable();
    pairs
}

#[cfg(test)]
mod tests {
    use super::super::example_values::words;
    use super::*;

    #[test]
    fn opposites_are_never_one_thing() {
        for (old, new) in [
            ("encrypt_file", "decrypt_file"),
            ("enableUser", "disableUser"),
            ("user", "user_delete"),
            ("lock", "unlock"),
            ("startDate", "endDate"),
            ("minItems", "maxItems"),
            ("read_query", "write_query"),
        ] {
            assert!(opposed(&words(old), &words(new)), "{old} {new}");
            assert!(opposed(&words(new), &words(old)), "{new} {old}");
        }
        for (old, new) in [
            ("startRef", "startTarget"),
            ("search", "searchItems"),
            ("delete_user", "delete_account"),
        ] {
            assert!(!opposed(&words(old), &words(new)), "{old} {new}");
        }
    }

    #[test]
    fn an_exchange_that_scores_more_in_all_is_made() {
        let scored = vec![(0, 0, 90), (0, 1, 85), (1, 0, 88)];
        assert_eq!(assigned(scored), [(0, 1, 85), (1, 0, 88)]);
    }
}
