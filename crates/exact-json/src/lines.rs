//! Maps byte offsets to lines and columns.

/// The byte offset where each line begins.
#[derive(Debug, Clone)]
pub struct Lines(Vec<usize>);

impl Lines {
    pub fn of(text: &[u8]) -> Self {
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        Self(
            std::iter::once(0)
                .chain(ends.map(|(at, _)| at + 1))
                .collect(),
        )
    }

    /// The one-based line of the byte at `offset`.
    pub fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset)
    }

    /// The one-based column, in bytes, of the byte at `offset`.
    pub fn column(&self, offset: usize) -> usize {
        let start = self.0.get(self.at(offset) - 1);
        offset - start.copied().unwrap_or_default() + 1
    }
}
