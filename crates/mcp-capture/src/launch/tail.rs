//! The tail of a server's stderr.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::JoinSet;

/// How much is kept: enough for a long stack trace, bounded for a server that logs forever.
pub const STDERR_KEPT: usize = 64 * 1024;

/// Drains pipes continuously, so that a talkative server never blocks on them, and keeps the tail.
#[derive(Debug)]
pub(super) struct Tail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    /// One per pipe; dropping them ends them.
    tasks: JoinSet<()>,
}

impl Tail {
    pub(super) fn of(pipe: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let mut tail = Self {
            kept: Arc::default(),
            tasks: JoinSet::new(),
        };
        tail.also(pipe);
        tail
    }

    /// Keeps the tail of another pipe too, interleaved as written.
    pub(super) fn also(&mut self, mut pipe: impl AsyncRead + Unpin + Send + 'static) {
        let shared = Arc::clone(&self.kept);
        self.tasks.spawn(async move {
            let mut chunk = vec![0; 16 * 1024];
            while let Ok(count) = pipe.read(&mut chunk).await
                && count > 0
            {
                push(
                    &mut shared.lock().unwrap_or_else(PoisonError::into_inner),
                    &chunk[..count],
                );
            }
        });
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().copied().collect()
    }

    /// Waits until the pipes have ended, which happens when their last writer is gone, but at most
    /// `patience`.
    pub(super) async fn ended(&mut self, patience: Duration) {
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(patience, ended).await;
    }
}

fn push(kept: &mut VecDeque<u8>, bytes: &[u8]) {
    kept.extend(bytes);
    let excess = kept.len().saturating_sub(STDERR_KEPT);
    kept.drain(..excess);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_tail_is_kept() {
        let mut kept = VecDeque::new();
        for number in 0..20_000u32 {
            push(&mut kept, &number.to_be_bytes());
        }
        assert_eq!(kept.len(), STDERR_KEPT);
        let end: Vec<u8> = kept.iter().rev().take(4).rev().copied().collect();
        assert_eq!(end, 19_999u32.to_be_bytes());
    }
}
