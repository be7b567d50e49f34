//! Word diffs of changed texts.

use similar::{Algorithm, ChangeTag, TextDiff};

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
    let mut runs: Vec<Run> = Vec::new();
    // Patience keeps the anchors that a person would choose; explicit, because the default has
    // changed before.
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Patience)
        .diff_words(old, new);
    for change in diff.iter_all_changes() {
        let word = change.value();
        match (runs.last_mut(), change.tag()) {
            (Some(Run::Same(run)), ChangeTag::Equal)
            | (Some(Run::Removed(run)), ChangeTag::Delete)
            | (Some(Run::Added(run)), ChangeTag::Insert) => run.push_str(word),
            (_, ChangeTag::Equal) => runs.push(Run::Same(word.to_owned())),
            (_, ChangeTag::Delete) => runs.push(Run::Removed(word.to_owned())),
            (_, ChangeTag::Insert) => runs.push(Run::Added(word.to_owned())),
        }
    }
    runs
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
