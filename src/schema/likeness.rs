//! Whether two names can mean one thing, and which of many belong together.
//!
//! Letters in common are no evidence: opposites have most of theirs in common (`startvm`, `stopvm`).
//! Names are compared word by word, and a word that is neither the same nor a known synonym needs
//! the texts of both things to speak for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::lexicon::{
    ACTING, AMBIGUOUS, CONTRASTING, DESTRUCTIVE, ENDINGS, HARMLESS, IDENTIFYING, KINDS, LIGHT,
    NEAR, OPPOSITES, PRIVILEGED, QUALIFYING, READING, SCOPE, SECRET, SYNONYMS, TURNED, TURNING,
    VERBS, Words,
};

/// What has a name: a tool does something, a member is something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Tool,
    Member,
}

/// How two names relate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// The same except for case, separators, plural and version.
    Spelling,
    /// The same except for synonyms, abbreviations and a word that went from one end to the other.
    Synonyms,
    /// One has words more, which do not say what is done.
    Extended,
    /// Verbs of reading, or words for an identifier, were exchanged.
    Near,
    /// Only the texts can say.
    Unknown(Difference),
    /// Another thing.
    Opposed,
}

/// The words in which two names differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) gone: Vec<String>,
    pub(crate) fresh: Vec<String>,
    pub(crate) kind: DifferenceKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DifferenceKind {
    /// What comes before the verb, such as `browser_click` and `page_click`.
    Namespace,
    /// What the same verb is about.
    Object,
    /// Words that only one of the names has, and no verb in the rest.
    Length,
    /// What is done, as far as is known.
    Action,
    /// Too many words to say what belongs to what.
    Several,
}

fn is(word: &str, list: Words) -> bool {
    list.contain(word)
}

/// The word that represents the group of each synonym.
static MEANT: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| {
    let groups = SYNONYMS.iter();
    groups
        .flat_map(|group| group.iter().map(|word| (*word, group[0])))
        .collect()
});

/// The word that represents a group of synonyms.
fn meant(word: &str) -> &str {
    MEANT.get(word).copied().unwrap_or(word)
}

fn near(one: &str, other: &str) -> bool {
    NEAR.iter()
        .any(|group| group.contains(&one) && group.contains(&other))
}

/// A word in the singular, spelled as in the United States.
fn plain(word: &str) -> String {
    let one = match word {
        _ if word.len() < 4 || word.ends_with("ss") || word.ends_with("us") => word.to_owned(),
        _ if word.ends_with("ies") && word.len() > 4 => format!("{}y", &word[..word.len() - 3]),
        _ if ["ses", "xes", "zes", "ches", "shes"]
            .iter()
            .any(|it| word.ends_with(it)) =>
        {
            word[..word.len() - if word.ends_with("ses") { 1 } else { 2 }].to_owned()
        }
        _ => word.strip_suffix('s').unwrap_or(word).to_owned(),
    };
    for (british, american) in [
        ("isation", "ization"),
        ("ise", "ize"),
        ("yse", "yze"),
        ("our", "or"),
        ("ogue", "og"),
    ] {
        if let Some(rest) = one.strip_suffix(british)
            && rest.len() > 2
        {
            return format!("{rest}{american}");
        }
    }
    one
}

/// What the forms of a word have in common (`close`, `closes`, `closing`).
pub(crate) fn stem(word: &str) -> String {
    let word = plain(word);
    let rest = ["ing", "ed", "e"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending))
        .filter(|rest| rest.len() > 2)
        .unwrap_or(&word);
    let mut letters: Vec<char> = rest.chars().collect();
    if let [.., one, other] = letters[..]
        && one == other
        && letters.len() > 3
    {
        letters.pop();
    }
    letters.into_iter().collect()
}

/// The stems of the words of a text.
pub(crate) fn stems(text: &str) -> BTreeSet<String> {
    text.split(|it: char| !it.is_alphanumeric())
        .filter(|it| !it.is_empty())
        .map(|it| stem(&it.to_lowercase()))
        .collect()
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|it| it.is_ascii_digit())
}

/// `v2`, `v1beta1`.
fn is_version(word: &str) -> bool {
    let Some(rest) = word.strip_prefix('v') else {
        return false;
    };
    let rest = rest.trim_start_matches(|it: char| it.is_ascii_digit());
    let stage = ["alpha", "beta", "rc"]
        .iter()
        .find_map(|stage| rest.strip_prefix(stage))
        .unwrap_or(rest);
    word.len() > 1
        && word[1..].starts_with(|it: char| it.is_ascii_digit())
        && (stage.is_empty() || is_number(stage))
}

/// The words of a name in the singular, without its version (`v2`, `v1_1`; a bare number is none),
/// and with numbers at the end of a word as words of their own.
fn normal(words: &[String]) -> Vec<String> {
    let mut normal: Vec<String> = Vec::new();
    let mut after_version = false;
    for (index, word) in words.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| words[before].as_str());
        let kind = before.is_some_and(|it| is(it, KINDS));
        if (is_version(word) && !kind) || (after_version && is_number(word)) {
            after_version = true;
            continue;
        }
        after_version = false;
        // These say nothing in a name.
        if ["of", "the"].contains(&word.as_str()) {
            continue;
        }
        let letters = word.trim_end_matches(|it: char| it.is_ascii_digit());
        let digits = &word[letters.len()..];
        let attached = letters.strip_suffix('v').filter(|rest| rest.len() > 2);
        match (letters, digits) {
            ("", _) | (_, "") => normal.push(plain(word)),
            // `searchv2`
            (_, _) if attached.is_some() => normal.extend(attached.map(plain)),
            (_, _) => normal.extend([letters.to_owned(), digits.to_owned()]),
        }
    }
    normal
}

/// A name without what is only spelling: case, separators, plural and version.
pub(crate) fn spelled(words: &[String]) -> String {
    let normal = normal(words).concat();
    if normal.is_empty() {
        words.concat()
    } else {
        normal
    }
}

/// The words of a name with those that are written as one taken apart (`startvm`,
/// `GETUSERPASSWORD`), by the words of the other name and by the verbs that are known.
fn apart(words: &[String], others: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for word in words {
        let known = is(word, VERBS) || is(word, SECRET) || others.contains(word);
        let plain_letters = word.is_ascii() && word.len() > 5;
        if known || !plain_letters || meant(word) != word.as_str() {
            found.push(word.clone());
        } else {
            take_apart(word, others, &mut found);
        }
    }
    found
}

fn take_apart(word: &str, others: &[String], found: &mut Vec<String>) {
    let listed = |piece: &str| is(piece, VERBS) || is(piece, SECRET) || is(piece, DESTRUCTIVE);
    let shared = |piece: &str| piece.len() > 2 && others.iter().any(|it| it == piece);
    let lengths = || (3..word.len() - 1).rev();
    // Longest first.
    let at_start = lengths().find(|at| {
        let (piece, rest) = word.split_at(*at);
        !is(rest, ENDINGS)
            && (shared(piece) || (listed(piece) && (*at > 3 || shared(rest) || listed(rest))))
    });
    if let Some(at) = at_start {
        found.push(word[..at].to_owned());
        found.extend(apart(&[plain(&word[at..])], others));
        return;
    }
    let at_end = (2..word.len() - 2).find(|at| {
        let piece = &word[*at..];
        shared(piece) || is(piece, SECRET)
    });
    match at_end {
        Some(at) => found.extend([word[..at].to_owned(), word[at..].to_owned()]),
        None => found.push(word.to_owned()),
    }
}

/// Whether two words are one, spelled differently: an abbreviation (`repo`, `repository`) or two
/// letters in another order.
fn respelled(one: &str, other: &str) -> bool {
    let vowel = |it: u8| b"aeiouy".contains(&it);
    let abbreviates = |short: &str, long: &str| {
        let Some(rest) = long.strip_prefix(short) else {
            return false;
        };
        // Where a word was cut, and not where two were joined (`host`, `hostname`).
        short.len() > 2
            && rest.len() > 2
            && !is(rest, ENDINGS)
            && !is(short, VERBS)
            && !is(long, VERBS)
            && short.bytes().last().is_some_and(|it| !vowel(it))
            && rest.bytes().next().is_some_and(vowel)
    };
    let swapped = || {
        let (one, other) = (one.as_bytes(), other.as_bytes());
        let Some(at) = one.iter().zip(other).position(|(one, other)| one != other) else {
            return false;
        };
        one.len() == other.len()
            && one.len() > 5
            && at > 0
            && at + 1 < one.len()
            && (one[at], one[at + 1]) == (other[at + 1], other[at])
            && one[at + 2..] == other[at + 2..]
    };
    abbreviates(one, other) || abbreviates(other, one) || swapped()
}

/// Whether two words mean the same.
fn alike(one: &str, other: &str) -> bool {
    one == other || meant(one) == meant(other) || respelled(one, other)
}

/// The words of either name that the other one does not have, not even as a synonym.
fn differing(old: &[String], new: &[String]) -> (Vec<String>, Vec<String>) {
    let mut fresh: Vec<String> = new.to_vec();
    let mut gone = old.to_vec();
    let same: [fn(&str, &str) -> bool; 2] = [|one, other| one == other, alike];
    for same in same {
        gone.retain(|it| {
            let partner = fresh.iter().position(|other| same(it, other));
            partner.map(|at| fresh.remove(at)).is_none()
        });
    }
    (gone, fresh)
}

/// How the name of one thing relates to that of another.
pub(crate) fn relation(old: &[String], new: &[String], of: Named) -> Relation {
    if spelled(old) == spelled(new) {
        return Relation::Spelling;
    }
    let (was, is) = (normal(old), normal(new));
    if opposed(&was, &is, of) {
        return Relation::Opposed;
    }
    let (was, is) = (apart(&was, &is), apart(&is, &was));
    if opposed(&was, &is, of) {
        return Relation::Opposed;
    }
    let (gone, fresh) = differing(&was, &is);
    if gone.is_empty() && fresh.is_empty() {
        return if was.iter().zip(&is).all(|(one, other)| alike(one, other))
            || turned_around(&was, &is)
        {
            Relation::Synonyms
        } else {
            Relation::Opposed
        };
    }
    if of == Named::Member {
        return member_relation(&was, &is, gone, fresh);
    }
    if gone.is_empty() {
        extension(&was, &is, gone, fresh)
    } else if fresh.is_empty() {
        extension(&is, &was, gone, fresh)
    } else {
        exchange(&was, &is, gone, fresh)
    }
}

/// The verb went to the other end (`issue_search`, `search_issues`), or another word went from one
/// end to the other and the verb stayed (`web_search_exa`, `exa_web_search`); but not `usd_eur` and
/// `eur_usd`.
fn turned_around(old: &[String], new: &[String]) -> bool {
    let moved = |from: &[String], to: &[String]| {
        let (Some((first, rest)), Some((last, before))) = (from.split_first(), to.split_last())
        else {
            return false;
        };
        let rest_same = rest
            .iter()
            .zip(before)
            .all(|(one, other)| alike(one, other));
        let verb = is(first, VERBS) || (rest.len() > 1 && has_verb(rest));
        verb && rest_same && alike(first, last)
    };
    moved(old, new) || moved(new, old)
}

fn has_verb(words: &[String]) -> bool {
    words.iter().any(|it| is(it, VERBS))
}

/// Whether it is certain which word of a name says what is done: a verb that is not a noun as well,
/// or comes first, before other words or for reading.
fn has_certain_verb(name: &[String], among: &[String]) -> bool {
    let certain = |it: &String| is(it, VERBS) && !is(it, AMBIGUOUS);
    let first = name.first().filter(|it| among.contains(it));
    let leads = first.is_some_and(|it| is(it, VERBS) && (name.len() > 1 || is(it, READING)));
    leads || among.iter().any(certain)
}

/// One name of a tool has words more than the other.
fn extension(short: &[String], long: &[String], gone: Vec<String>, fresh: Vec<String>) -> Relation {
    let extra = if gone.is_empty() { &fresh } else { &gone };
    let verb = has_certain_verb(short, short);
    let acts = short.iter().any(|it| is(it, VERBS) && !is(it, READING));
    let is_prefix = long.iter().zip(extra).all(|(one, other)| one == other);
    let harmless = |word: &String| {
        is_number(word)
            || is(word, QUALIFYING)
            || is(word, LIGHT)
            || (is(word, READING) && !acts)
            // The verb is there already, so that this is not one.
            || (!is(word, VERBS) && verb)
    };
    // A namespace, or what an action is about.
    if extra.iter().all(harmless) {
        return Relation::Extended;
    }
    if !is_prefix && extra.iter().any(|it| is(it, VERBS) && !is(it, READING)) {
        return Relation::Opposed;
    }
    if !verb && extra.iter().any(|it| is(it, VERBS)) {
        return Relation::Opposed;
    }
    Relation::Unknown(Difference {
        gone,
        fresh,
        kind: DifferenceKind::Length,
    })
}

/// Words of a tool's name were exchanged for others.
fn exchange(old: &[String], new: &[String], gone: Vec<String>, fresh: Vec<String>) -> Relation {
    let shared: Vec<String> = old
        .iter()
        .filter(|it| !gone.contains(it))
        .cloned()
        .collect();
    let verbs = |words: &[String]| words.iter().any(|it| is(it, VERBS));
    let one = gone.len() == 1 && fresh.len() == 1;
    if one && is_number(&gone[0]) && is_number(&fresh[0]) {
        // `search2` after `search1`; but a level, a size or a door has a number too.
        let number = |word: &str| word.parse::<u32>().unwrap_or(0);
        let last = old.last() == gone.first() && new.last() == fresh.first();
        let follows = number(&fresh[0]) == number(&gone[0]).saturating_add(1);
        return if last && follows && number(&fresh[0]) < 10 && has_certain_verb(old, &shared) {
            Relation::Extended
        } else {
            Relation::Opposed
        };
    }
    if one && near(&gone[0], &fresh[0]) {
        return Relation::Near;
    }
    let suffix = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(|(one, other)| alike(one, other))
        .count();
    let heads = (&old[..old.len() - suffix], &new[..new.len() - suffix]);
    let kind = if verbs(&gone) && verbs(&fresh) && !shared.is_empty() {
        return Relation::Opposed;
    } else if shared.is_empty() && !one {
        DifferenceKind::Several
    } else if has_certain_verb(old, &shared) && !verbs(&gone) && !verbs(&fresh) {
        let remainder = old.get(old.len() - suffix);
        let before_verb = remainder.is_some_and(|it| is(it, VERBS) && !is(it, AMBIGUOUS));
        if before_verb && !verbs(heads.0) && !verbs(heads.1) {
            DifferenceKind::Namespace
        } else {
            DifferenceKind::Object
        }
    } else {
        DifferenceKind::Action
    };
    Relation::Unknown(Difference { gone, fresh, kind })
}

/// Members: what they are comes last in their names, and what tells them apart before.
fn member_relation(
    old: &[String],
    new: &[String],
    gone: Vec<String>,
    fresh: Vec<String>,
) -> Relation {
    if gone.is_empty() || fresh.is_empty() {
        let extra = if gone.is_empty() { &fresh } else { &gone };
        return if extra.iter().any(|it| is_number(it) || is(it, CONTRASTING)) {
            Relation::Opposed
        } else {
            Relation::Extended
        };
    }
    if gone.iter().any(|it| is_number(it)) && fresh.iter().any(|it| is_number(it)) {
        return Relation::Opposed;
    }
    let one = gone.len() == 1 && fresh.len() == 1;
    let last = old.last() == gone.last() && new.last() == fresh.last();
    let identify = |words: &[String]| words.iter().all(|it| is(it, IDENTIFYING));
    if one && last && old.len() > 1 && identify(&gone) && identify(&fresh) {
        return Relation::Near;
    }
    let kind = if one && last && old.len() > 1 {
        DifferenceKind::Object
    } else {
        DifferenceKind::Several
    };
    Relation::Unknown(Difference { gone, fresh, kind })
}

/// Whether a new name says something that the old one did not; plural and version do not count.
pub(crate) fn says_more(old: &[String], new: &[String]) -> bool {
    !differing(&normal(old), &normal(new)).1.is_empty()
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

/// What comes before the words that two names of tools have in common at the end, and whether
/// these begin with a verb. Neither of the beginnings has a verb or means the opposite.
pub(crate) fn prefixes(old: &[String], new: &[String]) -> Option<(String, String, bool)> {
    let pairs = old.iter().rev().zip(new.iter().rev());
    let suffix = pairs.take_while(|(one, other)| one == other).count();
    let (mine, theirs) = (&old[..old.len() - suffix], &new[..new.len() - suffix]);
    let any = suffix > 0 && mine.len().max(theirs.len()) > 0 && mine.len().max(theirs.len()) < 4;
    let certain = |it: &str| is(it, VERBS) && !is(it, AMBIGUOUS);
    let acting = mine.iter().chain(theirs).any(|it| certain(it));
    (any && !acting && !opposed(&normal(old), &normal(new), Named::Tool)).then(|| {
        let verb = certain(&plain(&old[old.len() - suffix]));
        (mine.join("_"), theirs.join("_"), verb)
    })
}

/// Whether the same verb is in both names, and what it is about was exchanged.
pub(crate) fn objects<'w>(old: &'w [String], new: &'w [String]) -> Option<(&'w str, &'w str)> {
    let (one, other) = exchanged(old, new)?;
    let verb = |word: &str| is(&plain(word), VERBS);
    let rest: Vec<String> = old.iter().filter(|it| *it != one).cloned().collect();
    let shared = has_certain_verb(old, &rest);
    let numbers = is_number(one) || is_number(other);
    (shared && !verb(one) && !verb(other) && !numbers)
        .then_some((one, other))
        .filter(|_| !opposed(&normal(old), &normal(new), Named::Tool))
}

/// Whether one name means the opposite of another, or acts, destroys or handles secrets where the
/// other does not.
fn opposed(old: &[String], new: &[String], of: Named) -> bool {
    let (gone, fresh) = differing(old, new);
    let opposite = |one: &str, other: &str| {
        listed(one, other) || listed(meant(one), meant(other)) || turned_words(one, other)
    };
    let among = |words: &[String], of: Words| words.iter().any(|it| is(it, of));
    let acts_instead =
        |reads: &[String], acts: &[String]| among(reads, READING) && among(acts, ACTING);
    // What a tool does comes first in its name.
    let other_verb = exchanged(old, new).is_some_and(|(one, other)| {
        let first = old.first().is_some_and(|it| it == one);
        first && !alike(one, other) && is(one, READING) != is(other, READING)
    });
    let reaches = |list: Words| of == Named::Tool && among(&gone, list) != among(&fresh, list);
    gone.iter()
        .any(|one| fresh.iter().any(|other| opposite(one, other)))
        || among(&gone, DESTRUCTIVE) != among(&fresh, DESTRUCTIVE)
        || among(&gone, SECRET) != among(&fresh, SECRET)
        || among(&gone, HARMLESS) != among(&fresh, HARMLESS)
        || reaches(SCOPE)
        || reaches(PRIVILEGED)
        || names_key(&gone) != names_key(&fresh)
        || acts_instead(&gone, &fresh)
        || acts_instead(&fresh, &gone)
        || other_verb
        // An acting word, where the other name has none at all.
        || (gone.is_empty() && among(&fresh, ACTING))
        || (fresh.is_empty() && among(&gone, ACTING))
}

/// Whether these words are the name of a secret in two words.
fn names_key(words: &[String]) -> bool {
    words.windows(2).any(|pair| {
        pair[1] == "key" && ["api", "access", "private", "signing"].contains(&pair[0].as_str())
    })
}

fn listed(one: &str, other: &str) -> bool {
    OPPOSITES.contain(&format!("{}:{}", one.min(other), one.max(other)))
}

/// Whether one word is made of the other by a prefix (`lock`, `unlock`), or both of one by two
/// (`enqueue`, `dequeue`), or two words that are joined with opposites (`checkin`, `checkout`).
fn turned_words(one: &str, other: &str) -> bool {
    let prefixed = |one: &str, other: &str| {
        TURNING
            .iter()
            .any(|prefix| one.strip_prefix(prefix) == Some(other) && other.len() > 2)
    };
    prefixed(one, other)
        || prefixed(other, one)
        || TURNED.iter().any(|(mine, theirs)| {
            turned(one, other, mine, theirs) || turned(other, one, mine, theirs)
        })
        || joined_with_opposites(one, other)
}

/// `checkin` and `checkout`, `lowercase` and `uppercase`: after what they have in common, opposites
/// are left.
fn joined_with_opposites(one: &str, other: &str) -> bool {
    if !one.is_ascii() || !other.is_ascii() {
        return false;
    }
    let same = |pairs: &mut dyn Iterator<Item = (u8, u8)>| -> usize {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let start = same(&mut one.bytes().zip(other.bytes()));
    let end = same(&mut one.bytes().rev().zip(other.bytes().rev()));
    let tails = (&one[start..], &other[start..]);
    let heads = (&one[..one.len() - end], &other[..other.len() - end]);
    (start > 2 && listed(tails.0, tails.1)) || (end > 2 && listed(heads.0, heads.1))
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
    texts: (&BTreeSet<String>, &BTreeSet<String>),
) -> bool {
    exchanged(names.0, names.1).is_some_and(|(one, other)| {
        let says = |word: &str| (texts.0.contains(&stem(word)), texts.1.contains(&stem(word)));
        let both_read = is(one, READING) && is(other, READING);
        !both_read
            && !alike(&plain(one), &plain(other))
            && says(one) == (true, false)
            && says(other) == (false, true)
    })
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

    fn related(old: &str, new: &str) -> Relation {
        relation(&words(old), &words(new), Named::Tool)
    }

    #[test]
    fn opposites_are_another_thing() {
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
            assert_eq!(related(old, new), Relation::Opposed, "{old} {new}");
            assert_eq!(related(new, old), Relation::Opposed, "{new} {old}");
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
            assert_ne!(related(old, new), Relation::Opposed, "{old} {new}");
        }
    }

    #[test]
    fn an_exchange_with_a_higher_total_is_made() {
        let scored = vec![(0, 0, 90), (0, 1, 85), (1, 0, 88)];
        assert_eq!(assigned(scored), [(0, 1, 85), (1, 0, 88)]);
    }
}
