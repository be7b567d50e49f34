//! Whether every text that one pattern matches is matched by another.
//!
//! Patterns are compared as regular languages: both are turned into automata and walked side by side over the
//! characters that either tells apart. The walk ends with a proof or with the shortest text that only the first
//! one matches. What is not regular (look-around, references to groups) or not anchored in a simple way is not
//! understood, and then nothing is claimed. Engines disagree about whether `.` matches a carriage return, so a
//! proof has to hold under both readings.

use std::collections::{BTreeSet, HashMap, VecDeque};

use super::super::pattern::Cursor;

/// What is known about two patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Inclusion {
    /// Every text of the first is a text of the second.
    Holds,
    /// This text matches the first and not the second.
    Fails(String),
    /// One of them is not understood, or the walk would be too long.
    Unknown,
}

const MAX_STATES: usize = 1_500;
const MAX_PAIRS: usize = 1_500;
const MAX_WORK: usize = 60_000;

/// Compares two patterns.
pub(crate) fn included(one: &str, other: &str) -> Inclusion {
    let mut result = Inclusion::Holds;
    for dot in [DOT_ECMA, DOT_OTHERS] {
        match included_with(one, other, dot) {
            Inclusion::Holds => {}
            different => {
                result = different;
                break;
            }
        }
    }
    result
}

fn included_with(one: &str, other: &str, dot: &[(u32, u32)]) -> Inclusion {
    let (Some(mine), Some(theirs)) = (Automaton::of(one, dot), Automaton::of(other, dot)) else {
        return Inclusion::Unknown;
    };
    let letters = letters(&[&mine, &theirs]);
    if letters.len() > 400 {
        return Inclusion::Unknown;
    }
    walk(&mine, &theirs, &letters)
}

type Ranges = Vec<(u32, u32)>;

const LAST: u32 = 0x10_ffff;
const DOT_ECMA: &[(u32, u32)] = &[(0, 9), (11, 12), (14, 0x2027), (0x202a, LAST)];
const DOT_OTHERS: &[(u32, u32)] = &[(0, 9), (11, LAST)];
const DIGIT: &[(u32, u32)] = &[(48, 57)];
const WORD: &[(u32, u32)] = &[(48, 57), (65, 90), (95, 95), (97, 122)];
const SPACE: &[(u32, u32)] = &[
    (9, 13),
    (32, 32),
    (0xa0, 0xa0),
    (0x1680, 0x1680),
    (0x2000, 0x200a),
    (0x2028, 0x2029),
    (0x202f, 0x202f),
    (0x205f, 0x205f),
    (0x3000, 0x3000),
    (0xfeff, 0xfeff),
];

fn negated(ranges: &[(u32, u32)]) -> Ranges {
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable();
    let mut out = Vec::new();
    let mut next = 0;
    for (from, to) in sorted {
        if from > next {
            out.push((next, from - 1));
        }
        next = next.max(to.saturating_add(1));
    }
    if next <= LAST {
        out.push((next, LAST));
    }
    out
}

/// A nondeterministic automaton with empty moves.
#[derive(Default)]
struct Automaton {
    empty: Vec<Vec<usize>>,
    moves: Vec<Vec<(Ranges, usize)>>,
    start: usize,
    end: usize,
}

impl Automaton {
    fn of(pattern: &str, dot: &[(u32, u32)]) -> Option<Self> {
        let mut parser = Parser {
            text: Cursor::new(pattern),
            dot,
            automaton: Self::default(),
        };
        let all: Ranges = vec![(0, LAST)];
        let start = parser.automaton.state()?;
        let end = parser.automaton.state()?;
        // Alternatives without `^` may begin anywhere: behind a loop that the anchored ones do not pass.
        let anywhere = parser.automaton.state()?;
        parser.automaton.empty[start].push(anywhere);
        parser.automaton.moves[anywhere].push((all.clone(), anywhere));
        loop {
            let anchored = parser.text.take('^');
            let (from, to, closed) = parser.sequence(true)?;
            let begin = if anchored { start } else { anywhere };
            parser.automaton.empty[begin].push(from);
            if closed {
                parser.automaton.empty[to].push(end);
            } else {
                let tail = parser.automaton.state()?;
                parser.automaton.empty[to].push(tail);
                parser.automaton.moves[tail].push((all.clone(), tail));
                parser.automaton.empty[tail].push(end);
            }
            if !parser.text.take('|') {
                break;
            }
        }
        if !parser.text.is_at_the_end() {
            return None;
        }
        let mut automaton = parser.automaton;
        automaton.start = start;
        automaton.end = end;
        Some(automaton)
    }

    fn state(&mut self) -> Option<usize> {
        if self.empty.len() >= MAX_STATES {
            return None;
        }
        self.empty.push(Vec::new());
        self.moves.push(Vec::new());
        Some(self.empty.len() - 1)
    }

    /// Everything that is reached without reading.
    fn closure(&self, states: &mut BTreeSet<usize>) {
        let mut queue: Vec<usize> = states.iter().copied().collect();
        while let Some(state) = queue.pop() {
            for next in &self.empty[state] {
                if states.insert(*next) {
                    queue.push(*next);
                }
            }
        }
    }

    fn step(&self, states: &BTreeSet<usize>, letter: u32) -> BTreeSet<usize> {
        let mut out: BTreeSet<usize> = states
            .iter()
            .flat_map(|state| &self.moves[*state])
            .filter(|(ranges, _)| {
                ranges
                    .iter()
                    .any(|(from, to)| (*from..=*to).contains(&letter))
            })
            .map(|(_, to)| *to)
            .collect();
        self.closure(&mut out);
        out
    }
}

struct Parser<'d> {
    text: Cursor,
    dot: &'d [(u32, u32)],
    automaton: Automaton,
}

impl Parser<'_> {
    /// A sequence of atoms: where it starts and ends, and whether a closing `$` stood behind it.
    fn sequence(&mut self, top: bool) -> Option<(usize, usize, bool)> {
        let start = self.automaton.state()?;
        let mut end = start;
        loop {
            match self.text.peek() {
                None | Some('|' | ')') => return Some((start, end, false)),
                Some('$') if top => {
                    self.text.at += 1;
                    // Only at the very end of an alternative is a `$` simple.
                    return matches!(self.text.peek(), None | Some('|'))
                        .then_some((start, end, true));
                }
                Some('^' | '$') => return None,
                Some(_) => {
                    let begin = self.text.at;
                    let (from, to) = self.atom()?;
                    let (least, most) = self.count()?;
                    let after = self.text.at;
                    end = self.repeat(end, (from, to), begin, least, most)?;
                    self.text.at = after;
                }
            }
        }
    }

    /// Copies an atom as often as its count says, by reading it again.
    fn repeat(
        &mut self,
        end: usize,
        first: (usize, usize),
        begin: usize,
        least: usize,
        most: Option<usize>,
    ) -> Option<usize> {
        let mut end = end;
        let mut copies = vec![first];
        let wanted = most.unwrap_or(least.max(1)).max(1);
        if wanted > 256 {
            return None;
        }
        while copies.len() < wanted {
            self.text.at = begin;
            copies.push(self.atom()?);
        }
        let finish = self.automaton.state()?;
        for (index, (from, to)) in copies.iter().enumerate() {
            if index >= least {
                self.automaton.empty[end].push(finish);
            }
            self.automaton.empty[end].push(*from);
            end = *to;
            if most.is_none() && index + 1 == wanted {
                self.automaton.empty[end].push(*from);
            }
        }
        if most == Some(0) {
            // Nothing at all: the single copy is never entered.
            let empty = self.automaton.state()?;
            self.automaton.empty[finish].push(empty);
            return Some(empty);
        }
        self.automaton.empty[end].push(finish);
        Some(finish)
    }

    fn atom(&mut self) -> Option<(usize, usize)> {
        let character = self.text.peek()?;
        self.text.at += 1;
        let ranges: Ranges = match character {
            '(' => return self.group(),
            '[' => self.class()?,
            '.' => self.dot.to_vec(),
            '\\' => self.escape()?,
            '*' | '+' | '?' | '{' | '}' | ']' => return None,
            other => vec![(other as u32, other as u32)],
        };
        let (from, to) = (self.automaton.state()?, self.automaton.state()?);
        self.automaton.moves[from].push((ranges, to));
        Some((from, to))
    }

    fn group(&mut self) -> Option<(usize, usize)> {
        self.text.take_head_of_group()?;
        let (start, end) = (self.automaton.state()?, self.automaton.state()?);
        loop {
            let (from, to, _) = self.sequence(false)?;
            self.automaton.empty[start].push(from);
            self.automaton.empty[to].push(end);
            if !self.text.take('|') {
                break;
            }
        }
        self.text.take(')').then_some((start, end))
    }

    fn escape(&mut self) -> Option<Ranges> {
        let character = self.text.peek()?;
        self.text.at += 1;
        let one = |it: char| vec![(it as u32, it as u32)];
        Some(match character {
            'd' => DIGIT.to_vec(),
            'D' => negated(DIGIT),
            'w' => WORD.to_vec(),
            'W' => negated(WORD),
            's' => SPACE.to_vec(),
            'S' => negated(SPACE),
            'n' => one('\n'),
            'r' => one('\r'),
            't' => one('\t'),
            'f' => one('\u{c}'),
            'v' => one('\u{b}'),
            'x' => self.code_point(2)?,
            'u' => self.code_point(4)?,
            other if other.is_ascii_alphanumeric() => return None,
            other => one(other),
        })
    }

    fn code_point(&mut self, digits: usize) -> Option<Ranges> {
        let value = u32::from_str_radix(&self.text.take_text(digits)?, 16).ok()?;
        // Half of a surrogate pair is not a character.
        char::from_u32(value)?;
        Some(vec![(value, value)])
    }

    fn class(&mut self) -> Option<Ranges> {
        let inverted = self.text.take('^');
        let mut ranges: Ranges = Vec::new();
        let mut first = true;
        while first || self.text.peek()? != ']' {
            // An empty class and a leading bracket mean different things to different engines.
            if first && self.text.peek()? == ']' {
                return None;
            }
            first = false;
            let from = self.member()?;
            let ranged =
                self.text.peek() == Some('-') && self.text.behind(1).is_some_and(|it| it != ']');
            if !ranged {
                ranges.extend(from);
                continue;
            }
            self.text.at += 1;
            let to = self.member()?;
            match (from.as_slice(), to.as_slice()) {
                ([(low, same_low)], [(high, same_high)])
                    if low == same_low && high == same_high && low <= high =>
                {
                    ranges.push((*low, *high));
                }
                _ => return None,
            }
        }
        self.text.at += 1;
        Some(if inverted { negated(&ranges) } else { ranges })
    }

    fn member(&mut self) -> Option<Ranges> {
        let character = self.text.peek()?;
        self.text.at += 1;
        match character {
            '\\' if self.text.peek() == Some('b') => None,
            '\\' => self.escape(),
            '[' => None,
            // Set operations of newer engines.
            '&' if self.text.peek() == Some('&') => None,
            other => Some(vec![(other as u32, other as u32)]),
        }
    }

    fn count(&mut self) -> Option<(usize, Option<usize>)> {
        let Some(range) = self.text.take_count()? else {
            return Some((1, Some(1)));
        };
        self.text.take('?');
        if matches!(self.text.peek(), Some('+' | '*' | '{')) {
            return None;
        }
        range.1.is_none_or(|most| most >= range.0).then_some(range)
    }
}

/// One character for each set that the automata cannot tell apart, pleasant ones where possible.
fn letters(automata: &[&Automaton]) -> Vec<u32> {
    let mut cuts: BTreeSet<u32> = BTreeSet::from([0]);
    for automaton in automata {
        for (ranges, _) in automaton.moves.iter().flatten() {
            for (from, to) in ranges {
                cuts.insert(*from);
                cuts.insert(to.saturating_add(1));
            }
        }
    }
    let cuts: Vec<u32> = cuts.into_iter().filter(|it| *it <= LAST).collect();
    let pleasant = ['a', 'A', '1', '-', '_', ' ', '/', '.', '!', 'é'].map(|it| it as u32);
    cuts.iter()
        .enumerate()
        .filter_map(|(index, from)| {
            let to = cuts.get(index + 1).map_or(LAST, |next| next - 1);
            let liked = pleasant
                .iter()
                .copied()
                .find(|it| (*from..=to).contains(it));
            let valid = || (*from..=to).find(|it| char::from_u32(*it).is_some());
            liked.or_else(valid)
        })
        .collect()
}

fn walk(mine: &Automaton, theirs: &Automaton, letters: &[u32]) -> Inclusion {
    type Pair = (BTreeSet<usize>, BTreeSet<usize>);
    let begin = |automaton: &Automaton| {
        let mut states = BTreeSet::from([automaton.start]);
        automaton.closure(&mut states);
        states
    };
    let first: Pair = (begin(mine), begin(theirs));
    let mut seen: HashMap<Pair, ()> = HashMap::from([(first.clone(), ())]);
    let mut queue = VecDeque::from([(first, String::new())]);
    let mut work = 0;
    while let Some(((one, other), text)) = queue.pop_front() {
        if one.contains(&mine.end) && !other.contains(&theirs.end) {
            return Inclusion::Fails(text);
        }
        for letter in letters {
            work += 1 + one.len() + other.len();
            let next_one = mine.step(&one, *letter);
            if next_one.is_empty() {
                continue;
            }
            let next: Pair = (next_one, theirs.step(&other, *letter));
            if seen.contains_key(&next) {
                continue;
            }
            if seen.len() >= MAX_PAIRS || work > MAX_WORK {
                return Inclusion::Unknown;
            }
            let mut longer = text.clone();
            longer.extend(char::from_u32(*letter));
            seen.insert(next.clone(), ());
            queue.push_back((next, longer));
        }
    }
    Inclusion::Holds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_patterns_include_narrower_ones() {
        for (one, other) in [
            ("^[A-Z][A-Z0-9]+$", "^[A-Z][A-Z0-9_]+$"),
            ("^[A-Z][A-Z0-9]+-\\d+$", "^[A-Z][A-Z0-9_]+-\\d+(?:-\\d+)*$"),
            ("^a{2,3}$", "^a+$"),
            ("^a{2}$", "^(a|b){1,2}$"),
            ("^ab", "a"),
            ("^a|^b", "^[ab]"),
            ("^https://", "^https?://"),
            ("^x?$", "^x*$"),
            ("^(foo|bar)$", "^[a-z]{3}$"),
            ("x", ""),
            ("^a.c$", "^a.+$"),
            ("^a{0}$", "^$"),
        ] {
            assert_eq!(included(one, other), Inclusion::Holds, "{one} in {other}");
        }
    }

    #[test]
    fn otherwise_a_text_shows_the_difference() {
        let fails = |one: &str, other: &str| match included(one, other) {
            Inclusion::Fails(text) => text,
            different => panic!("{one} {other} {different:?}"),
        };
        assert_eq!(fails("^[A-Z]+$", "^[A-F]+$"), "G");
        assert_eq!(fails("^a+$", "^a{1,3}$"), "aaaa");
        assert!(fails("a", "^a").ends_with('a'));
        assert_eq!(fails("^a?$", "^a$"), "");
        assert_eq!(fails("^a", "^a$").len(), 2);
    }

    #[test]
    fn what_is_not_understood_is_not_claimed() {
        for pattern in [
            "(?!a)b",
            "(a)\\1",
            "a$b",
            "(^a)",
            "[[:alpha:]]",
            "a\\b",
            "a**",
        ] {
            assert_eq!(included(pattern, "^z"), Inclusion::Unknown, "{pattern}");
        }
    }
}
