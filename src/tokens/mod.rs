//! Counts tokens as the tokenizer `o200k_base` does, exactly and offline.
//!
//! A text is cut into pieces ([`pieces`]), and each piece is merged from its bytes, the pair of the
//! lowest rank first ([`ranks`]). Long pieces are merged through a heap, so that no text of a server
//! takes more than `n log n` steps.

mod pieces;
mod ranks;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use ranks::rank;
use smol_str::SmolStr;

/// The name of the tokenizer.
pub(crate) const NAME: &str = "o200k_base";

/// Counts the tokens of texts, and remembers those of short pieces: the texts of a server consist of the same
/// few thousand.
#[derive(Default)]
pub(crate) struct Counter {
    known: HashMap<SmolStr, usize>,
}

impl Counter {
    /// The longest piece that is remembered: it is kept in place.
    const LONGEST: usize = 23;
    const MOST: usize = 20_000;

    /// The number of tokens of a text. Names of special tokens in it are text like any other.
    pub(crate) fn count(&mut self, text: &str) -> usize {
        let pieces = pieces::Pieces::of(text);
        pieces.map(|it| self.piece(it)).sum()
    }

    fn piece(&mut self, piece: &str) -> usize {
        if piece.len() < 2 {
            return 1;
        }
        if piece.len() > Self::LONGEST {
            return count_piece(piece.as_bytes());
        }
        if let Some(known) = self.known.get(piece) {
            return *known;
        }
        let tokens = count_piece(piece.as_bytes());
        if self.known.len() < Self::MOST {
            self.known.insert(piece.into(), tokens);
        }
        tokens
    }
}

/// Two neighbours that make a token: its rank, and where they begin and end.
type Pair = Reverse<(u32, usize, usize)>;

fn count_piece(piece: &[u8]) -> usize {
    if piece.len() < 2 || rank(piece).is_some() {
        return 1;
    }
    // Each part begins where it is and ends where the next one begins; a part that was merged into
    // the one before it ends nowhere.
    let mut end: Vec<usize> = (1..=piece.len()).collect();
    let mut before: Vec<usize> = (0..piece.len()).map(|at| at.saturating_sub(1)).collect();
    let pair = |from: usize, to: usize| -> Option<Pair> {
        Some(Reverse((rank(&piece[from..to])?, from, to)))
    };
    let mut pairs: BinaryHeap<Pair> = (0..piece.len() - 1)
        .filter_map(|at| pair(at, at + 2))
        .collect();
    let mut parts = piece.len();
    while let Some(Reverse((_, from, to))) = pairs.pop() {
        let middle = end[from];
        // One of the two is part of another token by now.
        if middle == MERGED || middle >= to || end[middle] != to {
            continue;
        }
        end[from] = to;
        end[middle] = MERGED;
        parts -= 1;
        if to < piece.len() {
            before[to] = from;
            pairs.extend(pair(from, end[to]));
        }
        if from > 0 {
            pairs.extend(pair(before[from], to));
        }
    }
    parts
}

const MERGED: usize = 0;

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        Counter::default().count(text)
    }

    /// As `gpt-tokenizer` and `js-tiktoken` count them; `.ci/tokens` compares more.
    #[test]
    fn tokens_are_counted_as_the_published_tokenizer_counts_them() {
        for (text, tokens) in [
            ("", 0),
            ("hello world", 2),
            ("x  y", 3),
            ("It's  DON'T\n\n  ok", 6),
            ("na\u{ef}ve caf\u{e9} \u{6771}\u{4eac} 12345", 8),
            // Not a special token: a server may write what it likes.
            ("<|endoftext|>", 7),
            ("a\u{2028}b", 3),
            (
                r#"{"type":"object","properties":{"city":{"type":"string"}}}"#,
                14,
            ),
            ("supercalifragilisticexpialidocious", 10),
        ] {
            assert_eq!(count(text), tokens, "{text:?}");
        }
    }

    #[test]
    fn what_is_remembered_counts_as_at_first() {
        let mut counter = Counter::default();
        let text = "na\u{ef}ve properties properties supercalifragilistic 12345";
        assert_eq!(counter.count(text), counter.count(text));
        assert_eq!(counter.count(text), count(text));
    }

    #[test]
    fn a_long_piece_is_merged_like_a_short_one() {
        // Sixteen letters are two tokens wherever they are.
        assert_eq!(count(&"a".repeat(4096)), 512);
    }
}
