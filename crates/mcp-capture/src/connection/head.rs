//! Bounds what comes before an answer begins.
//!
//! A server may send any number of interim answers (1xx) first. hyper skips them without a limit
//! and hardly yields in between, so that a flood of them would even keep timeouts from firing.
//! [`Bounded`] counts, and closes the connection.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// No answer is expected to begin.
const UNBOUNDED: usize = usize::MAX;

/// How many bytes may still come.
#[derive(Debug, Clone)]
pub(super) struct Allowance(Arc<AtomicUsize>);

impl Allowance {
    pub(super) fn new() -> Self {
        Self(Arc::new(AtomicUsize::new(UNBOUNDED)))
    }

    /// A request is sent: until its answer begins, at most `bytes` may come.
    pub(super) fn limit(&self, bytes: usize) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    /// The answer began. Its body is bounded by its reader.
    pub(super) fn lift(&self) {
        self.0.store(UNBOUNDED, Ordering::Relaxed);
    }

    fn spend(&self, bytes: usize) -> io::Result<()> {
        let left = self.0.load(Ordering::Relaxed);
        if left == UNBOUNDED {
            return Ok(());
        }
        let left = left.checked_sub(bytes);
        let left = left.ok_or_else(|| io::Error::other("endless interim answers"))?;
        self.0.store(left, Ordering::Relaxed);
        Ok(())
    }
}

/// A stream whose reading is counted.
#[derive(Debug)]
pub(super) struct Bounded<S> {
    pub(super) stream: S,
    pub(super) allowance: Allowance,
}

impl<S: AsyncRead + Unpin> AsyncRead for Bounded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        if let Poll::Ready(Ok(())) = read {
            self.allowance.spend(buf.filled().len() - before)?;
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Bounded<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn what_comes_before_an_answer_is_bounded_but_not_what_comes_after() {
        let allowance = Allowance::new();
        let mut stream = Bounded {
            stream: &[7_u8; 100][..],
            allowance: allowance.clone(),
        };
        allowance.limit(10);
        let mut ten = [0; 10];
        stream.read_exact(&mut ten).await.expect("ten bytes");
        assert!(stream.read_exact(&mut ten).await.is_err());
        allowance.lift();
        stream.read_exact(&mut ten).await.expect("ten more");
    }
}
