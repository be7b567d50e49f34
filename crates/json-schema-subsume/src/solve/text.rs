//! Texts that match some patterns, do not match others and have a length: found, or shown not to
//! exist.
//!
//! A pattern becomes an automaton. `^` and `$` are transitions that are only open at the start and
//! at the end of the text, so that they may be anywhere. A look-ahead at the very start of an
//! anchored pattern is a separate pattern. Non-regular features (other look-around, backreferences)
//! are not supported, and then nothing is claimed. Engines disagree about whether `.` matches a
//! carriage return, so non-existence is shown under both readings.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use crate::pattern::{Cursor, is_ecmascript_property};

/// Constraints on a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
    pub(crate) patterns: Vec<(String, bool)>,
    pub(crate) excluded: HashSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found<T> {
    One(T),
    None,
    Unknown,
}

/// Longer texts are not built.
pub(crate) const MAX_TEXT: u64 = 200_000;
const MAX_STATES: usize = 3_000;
const MAX_WORK: usize = 120_000;
const MAX_LETTERS: usize = 700;

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

/// Searches for a text.
pub(crate) fn find(wanted: &Texts) -> Found<String> {
    if wanted.most.is_some_and(|most| most < wanted.least) {
        return Found::None;
    }
    if wanted.patterns.is_empty() {
        return unpatterned(wanted);
    }
    let mut result = Found::None;
    for dot in [DOT_ECMA, DOT_OTHERS] {
        result = match find_with(wanted, dot) {
            Some(Found::None) => Found::None,
            Some(found) => return found,
            None => return Found::Unknown,
        };
        if !wanted
            .patterns
            .iter()
            .any(|(pattern, _)| pattern.contains('.'))
        {
            break;
        }
    }
    result
}

fn unpatterned(wanted: &Texts) -> Found<String> {
    if wanted.least > MAX_TEXT {
        return Found::Unknown;
    }
    let mut length = wanted.least;
    while length <= wanted.most.unwrap_or(u64::MAX).min(wanted.least + 1) {
        let letters = ('a'..='z').chain('A'..='Z').chain('\u{a1}'..='\u{2fff}');
        let count = usize::try_from(length).unwrap_or(0);
        for letter in letters {
            let text: String = std::iter::repeat_n(letter, count).collect();
            if !wanted.excluded.contains(&text) {
                return Found::One(text);
            }
            if count == 0 {
                break;
            }
        }
        length += 1;
    }
    if wanted.most == Some(0) {
        Found::None
    } else {
        Found::Unknown
    }
}

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

/// A regular expression.
#[derive(Clone, Debug)]
enum Expression {
    Set(Ranges),
    Start,
    End,
    Sequence(Vec<Expression>),
    Either(Vec<Expression>),
    Repeat(Box<Expression>, usize, Option<usize>),
}

/// A pattern: an expression, and what must or must not follow its start.
struct Pattern {
    main: Expression,
    ahead: Vec<(Expression, bool)>,
}

struct Parser<'d> {
    text: Cursor,
    dot: &'d [(u32, u32)],
    depth: usize,
}

impl Parser<'_> {
    fn pattern(text: &str, dot: &[(u32, u32)]) -> Option<Pattern> {
        let start = text
            .strip_prefix("^(?!")
            .or_else(|| text.strip_prefix("^(?="));
        let Some(inner) = start else {
            return Some(Pattern {
                main: Self::whole(text, dot)?,
                ahead: Vec::new(),
            });
        };
        let wanted = text.as_bytes()[3] == b'=';
        let close = closing(inner)?;
        let content = Self::whole(&format!("^(?:{})", &inner[..close]), dot)?;
        let behind = &inner[close + 1..];
        if behind.starts_with(['*', '+', '?', '{']) || top_level_alternatives(behind) {
            return None;
        }
        // The rest starts at the same place.
        let mut pattern = Self::pattern(&format!("^{behind}"), dot)?;
        pattern.ahead.push((content, wanted));
        Some(pattern)
    }

    fn whole(text: &str, dot: &[(u32, u32)]) -> Option<Expression> {
        let mut parser = Parser {
            text: Cursor::new(text),
            dot,
            depth: 0,
        };
        let expression = parser.alternatives()?;
        parser.text.is_at_the_end().then_some(expression)
    }

    fn alternatives(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > 40 {
            return None;
        }
        let mut branches = vec![self.sequence()?];
        while self.text.take('|') {
            branches.push(self.sequence()?);
        }
        self.depth -= 1;
        Some(match branches.len() {
            1 => branches.remove(0),
            _ => Expression::Either(branches),
        })
    }

    fn sequence(&mut self) -> Option<Expression> {
        let mut parts = Vec::new();
        loop {
            match self.text.peek() {
                None | Some('|' | ')') => return Some(Expression::Sequence(parts)),
                Some('^') => {
                    self.text.at += 1;
                    parts.push(Expression::Start);
                }
                Some('$') => {
                    self.text.at += 1;
                    parts.push(Expression::End);
                }
                Some(_) => {
                    let atom = self.atom()?;
                    let (least, most) = self.count()?;
                    parts.push(if (least, most) == (1, Some(1)) {
                        atom
                    } else {
                        Expression::Repeat(Box::new(atom), least, most)
                    });
                    continue;
                }
            }
            // Engines disagree about repeated assertions.
            if matches!(self.text.peek(), Some('*' | '+' | '?' | '{')) {
                return None;
            }
        }
    }

    fn atom(&mut self) -> Option<Expression> {
        let character = self.text.peek()?;
        self.text.at += 1;
        Some(Expression::Set(match character {
            '(' => {
                self.text.take_head_of_group()?;
                let inner = self.alternatives()?;
                return self.text.take(')').then_some(inner);
            }
            '[' => self.class()?,
            '.' => self.dot.to_vec(),
            '\\' => self.escape()?,
            '*' | '+' | '?' | '{' | '}' | ']' => return None,
            other => vec![(other as u32, other as u32)],
        }))
    }

    fn escape(&mut self) -> Option<Ranges> {
        let character = self.text.peek()?;
        self.text.at += 1;
        let one = |letter: char| vec![(letter as u32, letter as u32)];
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
            'p' | 'P' => self.property(character == 'P')?,
            other if other.is_ascii_alphanumeric() => return None,
            other => one(other),
        })
    }

    /// `\p{L}`: a Unicode property.
    fn property(&mut self, inverted: bool) -> Option<Ranges> {
        if !self.text.take('{') {
            return None;
        }
        let name = self.text.take_until('}')?;
        if !is_ecmascript_property(&name) {
            return None;
        }
        let class = regex_syntax::Parser::new()
            .parse(&format!("\\p{{{name}}}"))
            .ok()?;
        let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) =
            class.kind()
        else {
            return None;
        };
        let ranges: Ranges = class
            .iter()
            .map(|range| (range.start() as u32, range.end() as u32))
            .collect();
        Some(if inverted { negated(&ranges) } else { ranges })
    }

    fn code_point(&mut self, digits: usize) -> Option<Ranges> {
        let digits = self.text.take_text(digits)?;
        // `from_str_radix` would take a sign.
        let value = u32::from_str_radix(&digits, 16)
            .ok()
            .filter(|_| !digits.starts_with('+'))?;
        // Half of a surrogate pair is not a character.
        char::from_u32(value)?;
        Some(vec![(value, value)])
    }

    fn class(&mut self) -> Option<Ranges> {
        let inverted = self.text.take('^');
        let mut ranges: Ranges = Vec::new();
        let mut first = true;
        while first || self.text.peek()? != ']' {
            // Engines disagree about an empty class and a leading bracket.
            if first && self.text.peek()? == ']' {
                return None;
            }
            first = false;
            let from = self.member()?;
            let ranged = self.text.peek() == Some('-')
                && self.text.behind(1).is_some_and(|next| next != ']');
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

/// The end of the group whose content `text` starts with.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut escaped, mut class) = (0, false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ']' => class = false,
            _ if class => {}
            '[' => class = true,
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn top_level_alternatives(text: &str) -> bool {
    let (mut depth, mut escaped, mut class) = (0_i32, false, false);
    for character in text.chars() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ']' => class = false,
            _ if class => {}
            '[' => class = true,
            '(' => depth += 1,
            ')' => depth -= 1,
            '|' if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Guard {
    Always,
    AtStart,
    AtEnd,
}

/// A nondeterministic automaton, determinised lazily.
struct Automaton {
    empty: Vec<Vec<(Guard, usize)>>,
    moves: Vec<Vec<(Ranges, usize)>>,
    end: usize,
    subsets: Vec<Vec<usize>>,
    known: HashMap<Vec<usize>, usize>,
    steps: Vec<HashMap<u32, usize>>,
}

impl Automaton {
    /// For an expression that may match anywhere in a text.
    fn of(expression: &Expression) -> Option<Self> {
        let mut automaton = Self {
            empty: Vec::new(),
            moves: Vec::new(),
            end: 0,
            subsets: Vec::new(),
            known: HashMap::new(),
            steps: Vec::new(),
        };
        let all: Ranges = vec![(0, LAST)];
        let start = automaton.state()?;
        automaton.moves[start].push((all.clone(), start));
        let from = automaton.state()?;
        automaton.empty[start].push((Guard::Always, from));
        let to = automaton.build(expression, from)?;
        // Nothing is read after `$`: the loop is not entered through it.
        let tail = automaton.state()?;
        automaton.empty[to].push((Guard::Always, tail));
        automaton.moves[tail].push((all, tail));
        automaton.end = tail;
        let first = automaton.closed(vec![start], true, false);
        automaton.intern(first);
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

    fn build(&mut self, expression: &Expression, from: usize) -> Option<usize> {
        let to = self.state()?;
        match expression {
            Expression::Set(ranges) => self.moves[from].push((ranges.clone(), to)),
            Expression::Start => self.empty[from].push((Guard::AtStart, to)),
            Expression::End => self.empty[from].push((Guard::AtEnd, to)),
            Expression::Sequence(parts) => {
                let mut at = from;
                for part in parts {
                    at = self.build(part, at)?;
                }
                self.empty[at].push((Guard::Always, to));
            }
            Expression::Either(branches) => {
                for branch in branches {
                    let begin = self.state()?;
                    self.empty[from].push((Guard::Always, begin));
                    let end = self.build(branch, begin)?;
                    self.empty[end].push((Guard::Always, to));
                }
            }
            Expression::Repeat(inner, least, most) => {
                let mut at = from;
                for _ in 0..*least {
                    at = self.build(inner, at)?;
                }
                match most {
                    Some(most) => {
                        for _ in *least..*most {
                            self.empty[at].push((Guard::Always, to));
                            at = self.build(inner, at)?;
                        }
                        self.empty[at].push((Guard::Always, to));
                    }
                    None => {
                        let hub = self.state()?;
                        self.empty[at].push((Guard::Always, hub));
                        let end = self.build(inner, hub)?;
                        self.empty[end].push((Guard::Always, hub));
                        self.empty[hub].push((Guard::Always, to));
                    }
                }
            }
        }
        Some(to)
    }

    fn closed(&self, states: Vec<usize>, at_start: bool, at_end: bool) -> Vec<usize> {
        let mut found: BTreeSet<usize> = states.iter().copied().collect();
        let mut queue = states;
        while let Some(state) = queue.pop() {
            for (guard, next) in &self.empty[state] {
                let open = match guard {
                    Guard::Always => true,
                    Guard::AtStart => at_start,
                    Guard::AtEnd => at_end,
                };
                if open && found.insert(*next) {
                    queue.push(*next);
                }
            }
        }
        found.into_iter().collect()
    }

    fn intern(&mut self, subset: Vec<usize>) -> usize {
        if let Some(known) = self.known.get(&subset) {
            return *known;
        }
        let id = self.subsets.len();
        self.known.insert(subset.clone(), id);
        self.subsets.push(subset);
        self.steps.push(HashMap::new());
        id
    }

    fn step(&mut self, from: usize, letter: u32, work: &mut usize) -> usize {
        if let Some(known) = self.steps[from].get(&letter) {
            *work += 1;
            return *known;
        }
        let mut next: Vec<usize> = self.subsets[from]
            .iter()
            .flat_map(|state| &self.moves[*state])
            .filter(|(ranges, _)| has(ranges, letter))
            .map(|(_, to)| *to)
            .collect();
        *work += 1 + self.subsets[from].len() / 4;
        next.sort_unstable();
        next.dedup();
        let next = self.closed(next, false, false);
        let id = self.intern(next);
        self.steps[from].insert(letter, id);
        id
    }

    /// Whether a text that ends here matches. `start`: nothing was read.
    fn accepts(&self, at: usize, start: bool) -> bool {
        self.closed(self.subsets[at].clone(), start, true)
            .contains(&self.end)
    }

    /// Whether nothing that follows can match.
    fn is_dead(&self, at: usize) -> bool {
        self.subsets[at].is_empty()
    }
}

fn has(ranges: &[(u32, u32)], letter: u32) -> bool {
    ranges
        .iter()
        .any(|(from, to)| (*from..=*to).contains(&letter))
}

/// Patterns as several automata whose answers are combined.
struct Part {
    automaton: Automaton,
    /// Which pattern it belongs to.
    of: usize,
    /// Whether the pattern needs it to match.
    wanted: bool,
}

fn find_with(wanted: &Texts, dot: &[(u32, u32)]) -> Option<Found<String>> {
    let mut parts = Vec::new();
    for (index, (pattern, _)) in wanted.patterns.iter().enumerate() {
        let pattern = Parser::pattern(pattern, dot)?;
        parts.push(Part {
            automaton: Automaton::of(&pattern.main)?,
            of: index,
            wanted: true,
        });
        for (ahead, sign) in &pattern.ahead {
            parts.push(Part {
                automaton: Automaton::of(ahead)?,
                of: index,
                wanted: *sign,
            });
        }
    }
    let apart: BTreeSet<u32> = wanted
        .excluded
        .iter()
        .flat_map(|text| text.chars().map(|letter| letter as u32))
        .collect();
    if apart.len() > MAX_LETTERS {
        return None;
    }
    let letters = letters(&parts, &apart);
    if letters.len() > MAX_LETTERS {
        return None;
    }
    Some(walk(wanted, &mut parts, &letters))
}

/// One character for each set that the automata cannot distinguish, preferably a readable one. Those of excluded texts
/// stand for themselves alone.
fn letters(parts: &[Part], apart: &BTreeSet<u32>) -> Vec<u32> {
    let mut cuts: BTreeSet<u32> = BTreeSet::from([0]);
    let mut cut = |from: u32, to: u32| {
        cuts.insert(from);
        cuts.insert(to.saturating_add(1));
    };
    for part in parts {
        for (ranges, _) in part.automaton.moves.iter().flatten() {
            for (from, to) in ranges {
                cut(*from, *to);
            }
        }
    }
    for character in apart {
        cut(*character, *character);
    }
    let cuts: Vec<u32> = cuts.into_iter().filter(|cut| *cut <= LAST).collect();
    let pleasant = ['a', 'A', '1', '-', '_', ' ', '/', '.', '!', 'é'].map(|letter| letter as u32);
    let mut seen: HashMap<Vec<bool>, usize> = HashMap::new();
    let mut out: Vec<u32> = Vec::new();
    for (index, from) in cuts.iter().enumerate() {
        let to = cuts.get(index + 1).map_or(LAST, |next| next - 1);
        let liked = pleasant
            .iter()
            .copied()
            .find(|letter| (*from..=to).contains(letter));
        let valid = || (*from..=to).find(|letter| char::from_u32(*letter).is_some());
        let Some(letter) = liked.or_else(valid) else {
            continue;
        };
        if apart.contains(&letter) {
            out.push(letter);
            continue;
        }
        // Characters that no automaton distinguishes are one letter.
        let mark: Vec<bool> = parts
            .iter()
            .flat_map(|part| part.automaton.moves.iter().flatten())
            .map(|(ranges, _)| has(ranges, letter))
            .collect();
        match seen.get(&mark) {
            Some(at) if liked.is_some() && !pleasant.contains(&out[*at]) => out[*at] = letter,
            Some(_) => {}
            None => {
                seen.insert(mark, out.len());
                out.push(letter);
            }
        }
    }
    out.sort_by_key(|letter| {
        pleasant
            .iter()
            .position(|other| other == letter)
            .unwrap_or(99)
    });
    out
}

fn walk(wanted: &Texts, parts: &mut [Part], letters: &[u32]) -> Found<String> {
    // An excluded text is tracked letter by letter, as long as one still fits.
    let excluded: Vec<Vec<u32>> = wanted
        .excluded
        .iter()
        .map(|text| text.chars().map(|letter| letter as u32).collect())
        .collect();
    let trie = |text: &[u32]| -> Option<Vec<u32>> {
        excluded
            .iter()
            .any(|word| word.starts_with(text))
            .then(|| text.to_vec())
    };
    type State = (Vec<usize>, u64, Option<Vec<u32>>);
    struct Visit {
        state: State,
        from: usize,
        letter: u32,
        length: u64,
    }
    let accepted = |parts: &[Part], visit: &Visit| {
        let start = visit.length == 0;
        wanted
            .patterns
            .iter()
            .enumerate()
            .all(|(index, (_, sign))| {
                let matches = parts
                    .iter()
                    .zip(&visit.state.0)
                    .filter(|(part, _)| part.of == index)
                    .all(|(part, at)| part.automaton.accepts(*at, start) == part.wanted);
                matches == *sign
            })
    };
    let first: State = (
        vec![0; parts.len()],
        0,
        trie(&[]).filter(|_| !excluded.is_empty()),
    );
    let mut visits = vec![Visit {
        state: first.clone(),
        from: 0,
        letter: 0,
        length: 0,
    }];
    let mut seen: HashSet<State> = HashSet::from([first]);
    let mut queue: VecDeque<usize> = VecDeque::from([0]);
    let mut work = 0;
    while let Some(at) = queue.pop_front() {
        let visit = &visits[at];
        let length = visit.length;
        if wanted.most.is_some_and(|most| length > most) {
            continue;
        }
        let is_excluded = visit
            .state
            .2
            .as_ref()
            .is_some_and(|text| excluded.contains(text));
        if length >= wanted.least && !is_excluded && accepted(parts, visit) {
            let mut text = Vec::new();
            let mut back = at;
            while back != 0 {
                text.push(visits[back].letter);
                back = visits[back].from;
            }
            let text = text
                .iter()
                .rev()
                .filter_map(|letter| char::from_u32(*letter));
            return Found::One(text.collect());
        }
        for letter in letters {
            let (states, _, prefix) = visits[at].state.clone();
            let mut next = Vec::with_capacity(states.len());
            for (part, state) in parts.iter_mut().zip(&states) {
                next.push(part.automaton.step(*state, *letter, &mut work));
            }
            work += 1;
            if work > MAX_WORK {
                return Found::Unknown;
            }
            let hopeless = parts.iter().zip(&next).any(|(part, state)| {
                wanted.patterns[part.of].1 && part.wanted && part.automaton.is_dead(*state)
            });
            if hopeless {
                continue;
            }
            let prefix = prefix.and_then(|mut text| {
                text.push(*letter);
                trie(&text)
            });
            // The empty text is never the same as a longer one: `^` may still match there.
            let state: State = (next, (length + 1).min(wanted.least.max(1)), prefix);
            if seen.insert(state.clone()) {
                visits.push(Visit {
                    state,
                    from: at,
                    letter: *letter,
                    length: length + 1,
                });
                queue.push_back(visits.len() - 1);
            }
        }
    }
    Found::None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(one: &str, other: &str) -> Found<String> {
        find(&Texts {
            patterns: vec![(one.into(), true), (other.into(), false)],
            ..Texts::default()
        })
    }

    #[test]
    fn wider_patterns_include_narrower_ones() {
        for (one, other) in [
            ("^[A-Z][A-Z0-9]+$", "^[A-Z][A-Z0-9_]+$"),
            ("^[A-Z][A-Z0-9]+-\\d+$", "^[A-Z][A-Z0-9_]+-\\d+(?:-\\d+)*$"),
            ("^a$", "a"),
            ("^(?:a|b)$", "^[a-c]$"),
            ("^a{2,3}$", "^a+$"),
            ("(^a$)", "^^a$"),
            ("^[a-z]+$", "^\\p{L}+$"),
            ("^ab", "^(?!tmp)"),
            ("^(?!t)", "^(?!tmp)"),
        ] {
            assert_eq!(only(one, other), Found::None, "{one} in {other}");
        }
    }

    #[test]
    fn a_text_that_only_one_matches_is_found() {
        for (one, other, text) in [
            ("a", "^a$", "aa"),
            ("^[a-c]+$", "^[ab]+$", "c"),
            ("^(?!tmp)", "^[^t]", ""),
            ("", "^(?!tmp)", "tmp"),
        ] {
            assert_eq!(only(one, other), Found::One(text.into()), "{one} {other}");
        }
        assert_eq!(only("(a)\\1", "b"), Found::Unknown);
    }

    /// Each letter of an excluded text is a letter of its own, however many there are.
    #[test]
    fn a_long_excluded_text_hides_no_letter() {
        let wanted = Texts {
            patterns: vec![("^[p-w]$".into(), true)],
            excluded: HashSet::from(["p".to_owned(), "x".repeat(250)]),
            ..Texts::default()
        };
        assert_eq!(find(&wanted), Found::One("q".into()));
    }

    #[test]
    fn the_start_of_an_empty_text_is_not_that_of_a_longer_one() {
        assert_eq!(only("", "$^"), Found::One("a".into()));
        assert_eq!(only("$^", "^$"), Found::None);
    }

    #[test]
    fn lengths_and_excluded_texts_count() {
        let mut wanted = Texts {
            least: 2,
            most: Some(3),
            patterns: vec![("^a*$".into(), true)],
            excluded: HashSet::from(["aa".to_owned()]),
        };
        assert_eq!(find(&wanted), Found::One("aaa".into()));
        wanted.excluded.insert("aaa".into());
        assert_eq!(find(&wanted), Found::None);
    }
}
