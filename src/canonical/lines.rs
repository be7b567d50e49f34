//! Which line of a text a byte is on.

/// Where the lines of a text begin.
#[derive(Debug, Clone)]
pub struct Lines(Vec<usize>);

impl Lines {
    /// Of this text.
    pub fn of(text: &[u8]) -> Self {
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        Self(
            std::iter::once(0)
                .chain(ends.map(|(at, _)| at + 1))
                .collect(),
        )
    }

    /// The line, from 1, of the byte at `offset`.
    pub fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset)
    }

    /// The column, from 1 and in bytes, of the byte at `offset`.
    pub fn column(&self, offset: usize) -> usize {
        let start = self.0.get(self.at(offset) - 1);
        offset - start.copied().unwrap_or_default() + 1
    }
}
