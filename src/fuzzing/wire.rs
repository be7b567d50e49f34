//! Framing: what a server's bytes come to.

/// The first bytes say how the rest is cut into pieces and how much may be read: however a stream is cut, the same
/// messages come out of it; no more is held than was allowed.
pub fn stdio(input: &[u8]) {
    let Some(([limit, cuts @ ..], stream)) = input.split_first_chunk::<9>() else {
        return;
    };
    let limit = match limit {
        0..=127 => usize::MAX,
        _ => usize::from(*limit) * 4,
    };
    let whole = crate::capture::fuzzed::read(stream, &[u8::MAX], limit);
    let pieces = crate::capture::fuzzed::read(stream, cuts, limit);
    if stream.len() <= limit {
        assert_eq!(whole, pieces);
    } else {
        assert!(whole.failure.is_some() && pieces.failure.is_some());
    }
}
