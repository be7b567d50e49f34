//! The ranks of `o200k_base`, searched where they are in the binary: nothing is unpacked or built
//! when the program starts.
//!
//! The tokens are sorted and cut into blocks of [`BLOCK`]. `o200k_base.ranks` has, one after the
//! other:
//!
//! - for each block, the first four bytes of its first token (padded with zeros), and where the bytes
//!   of its tokens begin (three bytes);
//! - the lower 16 bits of each token's rank, then the upper two, four tokens to a byte;
//! - for each token, how many bytes it shares with the one before it in its block, and how many are
//!   its own, in half a byte each; 255 if one of the two is 15 or more;
//! - for each token, the bytes that are its own, behind those two numbers as a byte each if they
//!   were not written before.
//!
//! `.ci/tokens --write` makes the file from the published ranks, and a test compares it with them.

use std::cmp::Ordering;
use std::ops::Range;

/// Every token except the special ones.
const TOKENS: usize = 199_998;

/// How many tokens make a block.
const BLOCK: usize = 20;

const HEADS: usize = TOKENS.div_ceil(BLOCK) * 7;
const LOWER: usize = TOKENS * 2;
const UPPER: usize = TOKENS.div_ceil(4);

/// The embedded ranks.
static RANKS: Ranks = {
    let file: &[u8] = include_bytes!("o200k_base.ranks");
    let (heads, rest) = file.split_at(HEADS);
    let (lower, rest) = rest.split_at(LOWER);
    let (upper, rest) = rest.split_at(UPPER);
    let (lengths, own) = rest.split_at(TOKENS);
    Ranks {
        heads: heads.as_chunks().0,
        lower: lower.as_chunks().0,
        upper,
        lengths,
        own,
    }
};

struct Ranks {
    heads: &'static [[u8; 7]],
    lower: &'static [[u8; 2]],
    upper: &'static [u8],
    lengths: &'static [u8],
    own: &'static [u8],
}

/// The rank of a token.
pub(super) fn rank(token: &[u8]) -> Option<u32> {
    let mut start = [0; 4];
    let known = token.len().min(4);
    start[..known].copy_from_slice(&token[..known]);
    let start = u32::from_be_bytes(start);
    // The last block whose first token is not behind this one.
    let mut from = 0;
    let mut to = RANKS.heads.len();
    while from < to {
        let middle = usize::midpoint(from, to);
        let [a, b, c, d, ..] = RANKS.heads[middle];
        let is_behind = match u32::from_be_bytes([a, b, c, d]).cmp(&start) {
            Ordering::Equal => Entries::of(middle)
                .next()
                .is_some_and(|it| &RANKS.own[it.1] > token),
            order => order.is_gt(),
        };
        if is_behind {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    let block = from.checked_sub(1)?;
    // How many bytes the entry before the current one has in common with the token.
    let mut matched = 0;
    for (at, (shared, own)) in Entries::of(block).enumerate() {
        match shared.cmp(&matched) {
            // It differs from the token where the one before it does: still too low.
            Ordering::Greater => continue,
            // It is higher than the one before it where that one equals the token.
            Ordering::Less => return None,
            Ordering::Equal => {}
        }
        let (own, wanted) = (&RANKS.own[own], &token[matched..]);
        let same = own.iter().zip(wanted).take_while(|(a, b)| a == b).count();
        matched += same;
        match (own.get(same), wanted.get(same)) {
            (None, None) => return Some(rank_at(block * BLOCK + at)),
            // It begins with the token, or a higher byte follows: so do all behind it.
            (Some(_), None) => return None,
            (Some(has), Some(wanted)) if has > wanted => return None,
            _ => {}
        }
    }
    None
}

fn rank_at(token: usize) -> u32 {
    let upper = RANKS.upper[token / 4] >> (token % 4 * 2) & 3;
    u32::from(upper) << 16 | u32::from(u16::from_le_bytes(RANKS.lower[token]))
}

/// The tokens of a block: how many bytes each shares with the one before it, and where its own are.
struct Entries {
    lengths: std::slice::Iter<'static, u8>,
    at: usize,
}

impl Entries {
    fn of(block: usize) -> Self {
        let [.., a, b, c] = RANKS.heads[block];
        let first = block * BLOCK;
        Self {
            lengths: RANKS.lengths[first..TOKENS.min(first + BLOCK)].iter(),
            at: u32::from_le_bytes([a, b, c, 0]) as usize,
        }
    }
}

impl Iterator for Entries {
    type Item = (usize, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        let both = *self.lengths.next()?;
        let (mut shared, mut length) = (both >> 4, both & 15);
        if both == 255 {
            (shared, length) = (RANKS.own[self.at], RANKS.own[self.at + 1]);
            self.at += 2;
        }
        let from = self.at;
        self.at += usize::from(length);
        Some((shared.into(), from..self.at))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest as _, Sha256};

    use super::*;

    /// Every token of the file, in order.
    fn tokens() -> Vec<Vec<u8>> {
        let mut tokens: Vec<Vec<u8>> = Vec::new();
        for (shared, own) in (0..RANKS.heads.len()).flat_map(Entries::of) {
            let mut token = tokens.last().map_or(Vec::new(), |it| it[..shared].to_vec());
            token.extend(&RANKS.own[own]);
            tokens.push(token);
        }
        tokens
    }

    /// The digest of `o200k_base.tiktoken`, as tiktoken has it.
    const PUBLISHED: &str = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d";

    #[test]
    fn the_ranks_are_the_published_ones() {
        let mut ranked: Vec<(Option<u32>, Vec<u8>)> =
            tokens().into_iter().map(|it| (rank(&it), it)).collect();
        assert_eq!(ranked.len(), TOKENS);
        ranked.sort();
        let mut published = Vec::new();
        for (rank, token) in ranked {
            let rank = rank.expect("every token is found");
            writeln!(published, "{} {rank}", STANDARD.encode(token)).expect("written to memory");
        }
        let digest = Sha256::digest(&published);
        assert_eq!(
            digest
                .iter()
                .map(|it| format!("{it:02x}"))
                .collect::<String>(),
            PUBLISHED
        );
    }

    #[test]
    fn what_is_not_a_token_has_no_rank() {
        let tokens = tokens();
        let known: std::collections::HashSet<&[u8]> = tokens.iter().map(Vec::as_slice).collect();
        assert_eq!(rank(b""), None);
        // Neighbours of tokens: shorter and longer ones, and another byte at the end.
        for token in tokens.iter().step_by(7) {
            let mut others = vec![token[..token.len() - 1].to_vec()];
            others.extend([0, b'e', 255].map(|it| [token.as_slice(), &[it]].concat()));
            for step in [1, 255] {
                let mut other = token.clone();
                if let Some(last) = other.last_mut() {
                    *last = last.wrapping_add(step);
                }
                others.push(other);
            }
            for other in others {
                assert_eq!(
                    rank(&other).is_some(),
                    known.contains(&other[..]),
                    "{other:?}"
                );
            }
        }
    }
}
