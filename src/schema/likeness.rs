//! Whether two names can mean one thing, and which of many belong together.

/// Opposites: a thing with one of these words is never renamed to the other.
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
    ("acquire", "release"),
    ("approve", "deny"),
    ("archive", "restore"),
    ("attach", "detach"),
    ("backup", "restore"),
    ("borrow", "lend"),
    ("cancel", "create"),
    ("collapse", "expand"),
    ("commit", "rollback"),
    ("demote", "promote"),
    ("finish", "start"),
    ("forbid", "allow"),
    ("freeze", "thaw"),
    ("get", "put"),
    ("lock", "release"),
    ("merge", "split"),
    ("pop", "push"),
    ("reduce", "increase"),
    ("development", "production"),
    ("external", "internal"),
    ("live", "sandbox"),
    ("live", "test"),
    ("local", "remote"),
    ("admin", "guest"),
    ("admin", "member"),
    ("admin", "user"),
    ("apply", "plan"),
    ("production", "sandbox"),
    ("production", "staging"),
    ("production", "test"),
    ("real", "simulated"),
    ("safe", "unsafe"),
    ("all", "none"),
    ("allowlist", "blocklist"),
    ("allowlist", "denylist"),
    ("answer", "question"),
    ("background", "foreground"),
    ("ban", "pardon"),
    ("blacklist", "whitelist"),
    ("block", "follow"),
    ("buyer", "seller"),
    ("charge", "refund"),
    ("client", "server"),
    ("close", "forward"),
    ("cold", "hot"),
    ("earliest", "latest"),
    ("editor", "viewer"),
    ("failure", "pass"),
    ("fire", "hire"),
    ("give", "take"),
    ("hard", "soft"),
    ("horizontal", "vertical"),
    ("host", "sandbox"),
    ("issue", "revoke"),
    ("lower", "raise"),
    ("member", "owner"),
    ("negative", "positive"),
    ("newest", "oldest"),
    ("primary", "secondary"),
    ("publish", "retract"),
    ("quarantine", "release"),
    ("reader", "writer"),
    ("receiver", "sender"),
    ("recipient", "sender"),
    ("since", "until"),
];

/// Synonyms; the first of each group represents the others.
const SYNONYMS: &[&[&str]] = &[
    &["application", "app"],
    &["argument", "arg"],
    &["configuration", "config", "cfg"],
    &["delete", "del", "remove", "rm"],
    &["description", "desc"],
    &["development", "dev"],
    &["directory", "dir", "folder"],
    &["environment", "env"],
    &["get", "fetch", "retrieve"],
    &["height", "h"],
    &["identifier", "id"],
    &["job", "task"],
    &["latitude", "lat"],
    &["longitude", "lon", "lng"],
    &["maximum", "max"],
    &["message", "msg"],
    &["minimum", "min"],
    &["number", "num"],
    &["organization", "organisation", "org"],
    &["parameter", "param"],
    &["production", "prod"],
    &["query", "q"],
    &["repository", "repo"],
    &["search", "find"],
    &["source", "src", "from"],
    &["start", "begin"],
    &["target", "destination", "dest", "dst", "to"],
    &["temperature", "temp"],
    &["value", "val"],
    &["width", "w"],
];

/// Prefixes that turn a word into its opposite.
const TURNING: &[&str] = &["un", "dis", "de", "non", "mis", "anti"];

/// Prefixes of which one turns a word into the opposite of what the other makes of it (`enqueue`,
/// `dequeue`).
const TURNED: &[(&str, &str)] = &[
    ("as", "de"),
    ("at", "de"),
    ("en", "de"),
    ("en", "dis"),
    ("for", "back"),
    ("im", "ex"),
    ("in", "de"),
    ("in", "ex"),
    ("in", "out"),
    ("inter", "intra"),
    ("over", "under"),
    ("pre", "post"),
    ("up", "down"),
];

/// Words of tools that read.
const READING: &[&str] = &[
    "analyse",
    "analyze",
    "ask",
    "browse",
    "can",
    "check",
    "compare",
    "count",
    "describe",
    "detect",
    "diff",
    "display",
    "enumerate",
    "estimate",
    "examine",
    "explain",
    "explore",
    "fetch",
    "find",
    "get",
    "has",
    "inspect",
    "is",
    "list",
    "locate",
    "lookup",
    "ls",
    "monitor",
    "peek",
    "preview",
    "print",
    "query",
    "read",
    "retrieve",
    "review",
    "scan",
    "search",
    "select",
    "show",
    "summarise",
    "summarize",
    "test",
    "validate",
    "verify",
    "view",
    "watch",
];

/// Words that promise that nothing happens: a thing that loses or gains one is another thing.
const HARMLESS: &[&str] = &[
    "dry",
    "fake",
    "mock",
    "noop",
    "readonly",
    "sandbox",
    "sandboxed",
    "simulate",
    "simulated",
    "simulation",
];

/// Words of tools that change something.
const ACTING: &[&str] = &[
    "apply", "buy", "change", "charge", "commit", "create", "deploy", "edit", "grant", "insert",
    "install", "invite", "merge", "modify", "move", "mutate", "patch", "pay", "post", "publish",
    "push", "put", "save", "sell", "send", "set", "share", "shell", "submit", "trade", "transfer",
    "update", "upload", "withdraw",
];

/// Words that name secrets: a thing that gains one is another thing.
const SECRET: &[&str] = &[
    "credential",
    "credentials",
    "passphrase",
    "password",
    "passwords",
    "secret",
    "secrets",
    "token",
    "tokens",
];

/// Words that make something destructive: a thing that gains one is not just renamed.
const DESTRUCTIVE: &[&str] = &[
    "abort",
    "ban",
    "bypass",
    "cancel",
    "clear",
    "delete",
    "destroy",
    "discard",
    "drop",
    "erase",
    "escalate",
    "evict",
    "exec",
    "execute",
    "expel",
    "expire",
    "flush",
    "force",
    "forget",
    "format",
    "impersonate",
    "invalidate",
    "kick",
    "kill",
    "nuke",
    "override",
    "overwrite",
    "prune",
    "purge",
    "refund",
    "remove",
    "reset",
    "retract",
    "revoke",
    "rm",
    "rollback",
    "scrub",
    "shred",
    "shutdown",
    "spoof",
    "sudo",
    "suspend",
    "terminate",
    "trash",
    "truncate",
    "uninstall",
    "wipe",
    "write",
];

/// The word that represents a group of synonyms.
fn meant(word: &str) -> &str {
    SYNONYMS
        .iter()
        .find(|group| group.contains(&word))
        .map_or(word, |group| group[0])
}

/// Whether two names are the same, word by word, except for synonyms.
pub(crate) fn synonymous(old: &[String], new: &[String]) -> bool {
    old.len() == new.len()
        && old
            .iter()
            .zip(new)
            .all(|(one, other)| meant(one) == meant(other))
}

/// The words of a name that another one does not have, not even as a synonym.
fn only_in<'w>(one: &'w [String], other: &[String]) -> Vec<&'w str> {
    one.iter()
        .filter(|it| !other.iter().any(|other| meant(other) == meant(it)))
        .map(String::as_str)
        .collect()
}

/// Whether a new name says something that the old one did not; a version does not count.
pub(crate) fn says_more(old: &[String], new: &[String]) -> bool {
    !only_in(&without_version(new), old).is_empty()
}

/// The one word in which two names of several words differ.
pub(crate) fn exchanged<'w>(old: &'w [String], new: &'w [String]) -> Option<(&'w str, &'w str)> {
    if old.len() != new.len() || old.len() < 2 {
        return None;
    }
    let mut differing = old.iter().zip(new).filter(|(one, other)| one != other);
    let (one, other) = differing.next()?;
    differing.next().is_none().then_some((one, other))
}

/// Whether one name means the opposite of another, or acts, destroys or handles secrets where the
/// other does not.
pub(crate) fn opposed(old: &[String], new: &[String]) -> bool {
    let (gone, fresh) = (only_in(old, new), only_in(new, old));
    let listed = |one: &str, other: &str| {
        OPPOSITES.iter().any(|(mine, theirs)| {
            (*mine, *theirs) == (one, other) || (*theirs, *mine) == (one, other)
        })
    };
    let opposite = |one: &str, other: &str| {
        listed(one, other)
            || listed(meant(one), meant(other))
            || TURNING.iter().any(|prefix| {
                one.strip_prefix(prefix) == Some(other) || other.strip_prefix(prefix) == Some(one)
            })
            || TURNED.iter().any(|(mine, theirs)| {
                turned(one, other, mine, theirs) || turned(other, one, mine, theirs)
            })
    };
    let among = |words: &[&str], of: &[&str]| words.iter().any(|it| of.contains(it));
    let acts_instead = |reads: &[&str], acts: &[&str]| among(reads, READING) && among(acts, ACTING);
    // What a tool does comes first in its name.
    let other_verb = exchanged(old, new).is_some_and(|(one, other)| {
        let first = old.first().is_some_and(|it| it == one);
        first && meant(one) != meant(other) && READING.contains(&one) != READING.contains(&other)
    });
    gone.iter()
        .any(|one| fresh.iter().any(|other| opposite(one, other)))
        || among(&gone, DESTRUCTIVE) != among(&fresh, DESTRUCTIVE)
        || among(&gone, SECRET) != among(&fresh, SECRET)
        || among(&gone, HARMLESS) != among(&fresh, HARMLESS)
        || acts_instead(&gone, &fresh)
        || acts_instead(&fresh, &gone)
        || other_verb
        // An acting word, where the other name has none at all.
        || (gone.is_empty() && among(&fresh, ACTING))
        || (fresh.is_empty() && among(&gone, ACTING))
}

/// Whether two words differ in these prefixes only, and the rest says something.
fn turned(one: &str, other: &str, mine: &str, theirs: &str) -> bool {
    match (one.strip_prefix(mine), other.strip_prefix(theirs)) {
        (Some(rest), Some(same)) => rest == same && rest.len() > 2,
        _ => false,
    }
}

/// Whether two texts say what was exchanged in the names: each has the word of its own name and not that of the other.
/// Such texts are no evidence that the names mean one thing, however much else they have in common. Words for reading are
/// close enough.
pub(crate) fn texts_follow(
    names: (&[String], &[String]),
    says: impl Fn(&str) -> (bool, bool),
) -> bool {
    exchanged(names.0, names.1).is_some_and(|(one, other)| {
        let both_read = READING.contains(&one) && READING.contains(&other);
        !both_read
            && meant(one) != meant(other)
            && says(stem(one)) == (true, false)
            && says(stem(other)) == (false, true)
    })
}

/// The beginning that forms of a word have in common (`close`, `closes`, `closing`).
fn stem(word: &str) -> &str {
    word.trim_end_matches(['e', 's'])
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

/// The best assignment of scored pairs: each thing in one pair at most, and no exchange between
/// pairs has a higher total. Scores are positive; ties are broken by index.
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
            // Another one takes its partner, and it gets a free one.
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
    fn opposites_are_never_paired_as_members() {
        for (old, new) in [
            ("encrypt_file", "decrypt_file"),
            ("enableUser", "disableUser"),
            ("user", "user_delete"),
            ("lock", "unlock"),
            ("startDate", "endDate"),
            ("minItems", "maxItems"),
            ("read_query", "write_query"),
            ("getUser", "deleteUser"),
            ("open", "close"),
            ("attach", "detach"),
            ("create_order", "cancel_order"),
            ("read_file", "edit_file"),
            ("show", "run_shell"),
            ("from", "target"),
            ("user", "send_user"),
            ("get_user", "get_user_password"),
            ("deploy_staging", "deploy_production"),
            ("deploy_test", "deploy_prod"),
            ("workspace", "nuke_workspace"),
            ("list_users", "list_admins_token"),
            ("enqueue_job", "dequeue_job"),
            ("inbound_rule", "outbound_rule"),
            ("raise_limit", "lower_limit"),
            ("hire_person", "fire_person"),
            ("get_user", "impersonate_user"),
            ("is_admin", "make_admin"),
            ("test_webhook", "trigger_webhook"),
            ("verify_email", "spoof_email"),
            ("validate_token", "issue_token"),
            ("get_token", "invalidate_token"),
            ("dry_run_migration", "run_migration"),
            ("sandbox_exec", "host_exec"),
        ] {
            assert!(opposed(&words(old), &words(new)), "{old} {new}");
            assert!(opposed(&words(new), &words(old)), "{new} {old}");
        }
        for (old, new) in [
            ("startRef", "startTarget"),
            ("search", "searchItems"),
            ("delete_user", "delete_account"),
            ("delete_user", "remove_user"),
            ("v1_search", "v2_search"),
            ("start_job", "start_task"),
            ("from", "source"),
            ("to", "target"),
            ("get_weather", "fetch_weather"),
            ("list_files", "enumerate_files"),
            ("get_weather", "weather"),
            ("weather_get", "weather_report"),
            ("entry", "item"),
        ] {
            assert!(!opposed(&words(old), &words(new)), "{old} {new}");
        }
    }

    #[test]
    fn an_exchange_with_a_higher_total_is_made() {
        let scored = vec![(0, 0, 90), (0, 1, 85), (1, 0, 88)];
        assert_eq!(assigned(scored), [(0, 1, 85), (1, 0, 88)]);
    }
}
