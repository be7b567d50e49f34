//! Work, counted in steps.

/// The budget for all questions about one pair of schemas: no clock is read.
pub(crate) struct Budget {
    steps: u64,
    left: std::cell::Cell<u64>,
}

impl Budget {
    pub(crate) fn new(steps: u64) -> Self {
        Self {
            steps,
            left: std::cell::Cell::new(steps),
        }
    }

    /// Takes steps; returns whether there were enough.
    pub(crate) fn take(&self, steps: u64) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(steps));
        left >= steps
    }

    pub(crate) fn left(&self) -> u64 {
        self.left.get()
    }

    pub(crate) fn taken(&self) -> u64 {
        self.steps - self.left()
    }

    /// A separate budget of at most this many steps. What is taken from it must be taken here too.
    pub(crate) fn part(&self, steps: u64) -> Self {
        Self::new(steps.min(self.left()))
    }
}
