//! Counts tokens as the tokenizer `o200k_base` does, exactly and offline.
//!
//! A text is cut into pieces ([`pieces`]), and each piece is merged from its bytes, the pair of the
//! lowest rank first. The ranks are embedded as a finite-state map that is searched as it is: there
//! is nothing to unpack or to build when the program starts. Long pieces are merged through a heap,
//! so that no text of a server takes more than `n log n` steps.

mod pieces;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::LazyLock;

use fst::Map;

/// The name of the tokenizer.
pub(crate) const NAME: &str = "o200k_base";

/// Every token except the special ones, with its rank.
static RANKS: LazyLock<Option<Map<&'static [u8]>>> =
    LazyLock::new(|| Map::new(&include_bytes!("o200k_base.fst")[..]).ok());

/// The number of tokens of a text. Names of special tokens in it are text like any other.
pub(crate) fn count(text: &str) -> usize {
    let Some(ranks) = &*RANKS else {
        return 0;
    };
    let pieces = pieces::Pieces::of(text);
    pieces.map(|it| count_piece(ranks, it.as_bytes())).sum()
}

/// Two neighbours that make a token: its rank, and where they begin and end.
type Pair = Reverse<(u64, usize, usize)>;

fn count_piece(ranks: &Map<&'static [u8]>, piece: &[u8]) -> usize {
    if piece.len() < 2 || ranks.contains_key(piece) {
        return 1;
    }
    // Each part begins where it is and ends where the next one begins; a part that was merged into
    // the one before it ends nowhere.
    let mut end: Vec<usize> = (1..=piece.len()).collect();
    let mut before: Vec<usize> = (0..piece.len()).map(|at| at.saturating_sub(1)).collect();
    let pair = |from: usize, to: usize| -> Option<Pair> {
        let rank = ranks.get(&piece[from..to])?;
        Some(Reverse((rank, from, to)))
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
    fn a_long_piece_is_merged_like_a_short_one() {
        // Sixteen letters are two tokens wherever they are.
        assert_eq!(count(&"a".repeat(4096)), 512);
    }
}
