//! Diffs of changed texts, by words and by lines.
//!
//! All of them compare numbers that stand for words or lines, so that the algorithm is compiled
//! once.

use std::collections::HashMap;
use std::ops::Range;

use similar::algorithms::{Capture, Compact, Replace, patience};
use similar::{DiffOp, DiffTag, group_diff_ops};

/// Above this total size no word diff is made; the change has old and new anyway.
const MAX_BYTES: usize = 200_000;

/// A run of unchanged, removed or added words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run {
    Same(String),
    Removed(String),
    Added(String),
}

pub fn diff(old: &str, new: &str) -> Vec<Run> {
    if old.len() + new.len() > MAX_BYTES {
        return vec![Run::Removed(old.to_owned()), Run::Added(new.to_owned())];
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (words(old).collect(), words(new).collect());
    let mut runs = Vec::new();
    for op in operations(&old, &new) {
        let text = |of: &[&str], range: Range<usize>| of[range].concat();
        match op.tag() {
            DiffTag::Equal => runs.push(Run::Same(text(&old, op.old_range()))),
            DiffTag::Delete => runs.push(Run::Removed(text(&old, op.old_range()))),
            DiffTag::Insert => runs.push(Run::Added(text(&new, op.new_range()))),
            DiffTag::Replace => {
                runs.push(Run::Removed(text(&old, op.old_range())));
                runs.push(Run::Added(text(&new, op.new_range())));
            }
        }
    }
    runs
}

/// A group of changed lines with the unchanged ones around it.
pub struct Hunk<'t> {
    /// The lines of both sides, counted from zero.
    pub old: Range<usize>,
    pub new: Range<usize>,
    /// Each line with its mark: space, `-` or `+`. A line ends with its line end, if it has one.
    pub lines: Vec<(char, &'t str)>,
}

/// The lines that differ, in groups with at most `context` unchanged lines around them.
pub fn hunks<'t>(old: &'t str, new: &'t str, context: usize) -> Vec<Hunk<'t>> {
    let lines = |text: &'t str| text.split_inclusive('\n').collect::<Vec<&str>>();
    let (old, new) = (lines(old), lines(new));
    let groups = group_diff_ops(operations(&old, &new), context);
    let hunk = |group: Vec<DiffOp>| {
        let (first, last) = (group.first()?, group.last()?);
        let mut lines = Vec::new();
        for op in &group {
            let mark = |of: &[&'t str], range: Range<usize>, mark: char| {
                of[range].iter().map(|it| (mark, *it)).collect::<Vec<_>>()
            };
            match op.tag() {
                DiffTag::Equal => lines.extend(mark(&old, op.old_range(), ' ')),
                DiffTag::Delete => lines.extend(mark(&old, op.old_range(), '-')),
                DiffTag::Insert => lines.extend(mark(&new, op.new_range(), '+')),
                DiffTag::Replace => {
                    lines.extend(mark(&old, op.old_range(), '-'));
                    lines.extend(mark(&new, op.new_range(), '+'));
                }
            }
        }
        Some(Hunk {
            old: first.old_range().start..last.old_range().end,
            new: first.new_range().start..last.new_range().end,
            lines,
        })
    };
    groups.into_iter().filter_map(hunk).collect()
}

/// A text in runs of white space and runs of everything else.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_space = rest.chars().next()?.is_whitespace();
        let end = rest.find(|it: char| it.is_whitespace() != is_space);
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(word)
    })
}

/// How to get from one sequence to the other. Patience keeps the anchors that a person would choose.
fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut numbers = |words: &[&str]| -> Vec<u32> {
        let mut number = |word: &&str| {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            *known.entry((*word).to_owned()).or_insert(next)
        };
        words.iter().map(&mut number).collect()
    };
    let (old, new) = (numbers(old), numbers(new));
    let mut capture = Compact::new(Replace::new(Capture::new()), &old, &new);
    let (all_old, all_new) = (0..old.len(), 0..new.len());
    match patience::diff(&mut capture, &old, all_old, &new, all_new) {
        Ok(()) => capture.into_inner().into_inner().into_ops(),
        // A capture never fails.
        Err(never) => match never {},
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_changed_words_are_marked() {
        let runs = diff("Reads a file from disk.", "Reads a directory from disk.");
        assert_eq!(
            runs,
            [
                Run::Same("Reads a ".into()),
                Run::Removed("file".into()),
                Run::Added("directory".into()),
                Run::Same(" from disk.".into()),
            ]
        );
    }
}
