//! Framing: the messages in a server's bytes.

use crate::capture::http::sse::{Decoder, Event, TooLong};

/// The first bytes determine how the rest is split and how much may be read: however a stream is
/// split, it yields the same messages, and no more than the limit is buffered.
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

/// The first bytes determine how the rest is split and how long an event may be: however a stream
/// is split, it yields the same events, and no more than the limit is buffered.
pub fn sse(input: &[u8]) {
    let Some(([limit, cuts @ ..], stream)) = input.split_first_chunk::<9>() else {
        return;
    };
    let limit = match limit {
        0..=127 => usize::MAX,
        _ => usize::from(limit - 128) * 4,
    };
    let mut pieces = Vec::new();
    let mut rest = stream;
    for cut in cuts.iter().cycle() {
        let (piece, after) = rest.split_at(usize::from((*cut).max(1)).min(rest.len()));
        pieces.push(piece);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    let whole = events(&[stream], limit);
    let single: Vec<&[u8]> = stream.chunks(1).collect();
    assert_eq!(whole, events(&pieces, limit));
    assert_eq!(whole, events(&single, limit));
    if stream.len() <= limit {
        assert!(whole.2);
    }
    for event in &whole.0 {
        assert!(event.data.len() <= stream.len().min(limit));
    }
}

/// The result of a stream: its events, where and when to resume it, and whether it stayed within
/// the limit. Events that arrived together with an overlong line are lost with it.
fn events(pieces: &[&[u8]], limit: usize) -> (Vec<Event>, Option<String>, bool) {
    let mut decoder = Decoder::new(limit);
    let mut events = Vec::new();
    for piece in pieces {
        match decoder.push(piece) {
            Ok(more) => events.extend(more),
            Err(TooLong) => return (Vec::new(), None, false),
        }
    }
    let again = format!("{:?} {:?}", decoder.last_id(), decoder.retry());
    (events, Some(again), true)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The committed seeds, through the same functions as the fuzz targets.
    #[test]
    fn every_committed_seed_still_passes() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
        for (name, target) in [("sse", super::sse as fn(&[u8])), ("stdio", super::stdio)] {
            let seeds = std::fs::read_dir(corpus.join(name)).expect("there are seeds");
            let mut count = 0;
            for seed in seeds {
                let path = seed.expect("it can be listed").path();
                let bytes = std::fs::read(&path).expect("it can be read");
                let replayed = std::panic::catch_unwind(|| target(&bytes));
                assert!(replayed.is_ok(), "{}", path.display());
                count += 1;
            }
            assert!(count > 0, "{name} has no seeds");
        }
    }
}
