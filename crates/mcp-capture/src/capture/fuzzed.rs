//! The wire without a server and without rmcp, for fuzzing.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use rmcp::transport::Transport as _;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Limits;
use super::inbox::Inbox;
use super::opening::Opening;
use super::wire::Wire;
use crate::surface::{ClientProfile, Kind};

/// The result of reading a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// What rmcp receives.
    pub(crate) messages: Vec<String>,
    /// What the server receives.
    pub(crate) replies: Vec<u8>,
    /// The stored answers.
    pub(crate) answers: Vec<String>,
    /// Announcements by kind, and whether there was noise or a message.
    pub(crate) counts: Vec<usize>,
    /// The first line of noise.
    pub(crate) noise: String,
    /// Why reading stopped.
    pub(crate) failure: Option<String>,
}

/// Reads a stream in pieces of these sizes, cyclically; `u8::MAX` is everything left, zero is one
/// byte.
pub(crate) fn read(stream: &[u8], cuts: &[u8], limit: usize) -> Seen {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime without drivers");
    }
    RUNTIME.with(|runtime| runtime.block_on(seen(stream, cuts, limit)))
}

async fn seen(stream: &[u8], cuts: &[u8], limit: usize) -> Seen {
    let inbox = Arc::new(Inbox::default());
    let open = [
        (0, "initialize"),
        (1, "tools/list"),
        (2, "prompts/list"),
        (3, "tools/list"),
    ];
    for (id, method) in open {
        inbox.opened(id, method);
    }
    let reader = Pieces {
        rest: stream.to_vec(),
        cuts: cuts.to_vec(),
        next: 0,
    };
    let limits = Limits {
        bytes: limit,
        ..Limits::default()
    };
    let written = Written::default();
    let (mut wire, sender) = Wire::new(
        reader,
        written.clone(),
        &ClientProfile::default(),
        Opening::Initialize,
        inbox.clone(),
        &limits,
    );
    let mut messages = Vec::new();
    while let Some(message) = wire.receive().await {
        messages.push(serde_json::to_string(&message).expect("a message is JSON"));
        assert!(wire.held() <= stream.len().min(limit).saturating_mul(2) + 256 * 1024);
    }
    for _ in 0..4 {
        // The writing half is another task, and never waits.
        tokio::task::yield_now().await;
    }
    sender.close().await;
    let noise = inbox.all_noise();
    let mut counts: Vec<usize> = Kind::ALL.iter().map(|kind| inbox.changes(*kind)).collect();
    counts.extend([
        noise.lines,
        inbox.has_moved().into(),
        inbox.has_spoken().into(),
    ]);
    let mut answers: Vec<String> = open
        .iter()
        .map(|(id, _)| format!("{id}: {:?}", inbox.take(*id)))
        .collect();
    answers.push(format!("{:?}", inbox.take_greeting()));
    let replies = written.0.lock().unwrap_or_else(PoisonError::into_inner);
    Seen {
        messages,
        replies: replies.clone(),
        answers,
        counts,
        noise: noise.first,
        failure: inbox.take_failure().map(|error| error.to_string()),
    }
}

struct Pieces {
    rest: Vec<u8>,
    cuts: Vec<u8>,
    next: usize,
}

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let wanted = match self.cuts.get(self.next).copied().unwrap_or(u8::MAX) {
            u8::MAX => usize::MAX,
            size => usize::from(size.max(1)),
        };
        self.next = (self.next + 1) % self.cuts.len().max(1);
        let count = wanted.min(self.rest.len()).min(buffer.remaining());
        let piece: Vec<u8> = self.rest.drain(..count).collect();
        buffer.put_slice(&piece);
        Poll::Ready(Ok(()))
    }
}

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl AsyncWrite for Written {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        written.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
