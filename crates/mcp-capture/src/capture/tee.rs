//! The transport under rmcp: lines in both directions, recorded as they come.
//!
//! rmcp gets the server's own messages ([`decode`]) and its messages are sent as they are. Memory is bounded at every
//! point ([`Limits`]): a line, the values in it, all answers together, and answers that the server has not read.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorCode, ErrorData, JsonRpcMessage, NumberOrString,
    ServerJsonRpcMessage,
};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::Limits;
use super::decode::{Decoded, Decoder};
use super::error::CaptureError;
use super::introduction::Introduction;
use super::lists::method_named;
use super::opening::{DISCOVER, INITIALIZE};
use super::record::Record;

/// The size of the read buffer.
const CHUNK: usize = 64 * 1024;

/// How many lines are decoded before other tasks have their turn.
const IN_A_ROW: usize = 16;

/// The transport for one server.
pub(super) struct Tee<R> {
    lines: Lines<R>,
    decoder: Decoder,
    record: Arc<Record>,
    introduction: Introduction,
    /// How long `server/discover` is waited for.
    patience: Option<Duration>,
    /// The `server/discover` that is waited for, and until when.
    discover: Option<(i64, Instant)>,
    out: Outbox,
    ready: VecDeque<ServerJsonRpcMessage>,
    /// Lines since other tasks had their turn.
    lines_in_a_row: usize,
}

impl<R: AsyncRead + Unpin + Send + 'static> Tee<R> {
    /// A transport that reads from `reader` within `limits`.
    pub(super) fn new(
        reader: R,
        writer: impl AsyncWrite + Unpin + Send + 'static,
        introduction: Introduction,
        patience: Option<Duration>,
        record: Arc<Record>,
        limits: &Limits,
    ) -> (Self, StdinKept) {
        let (out, writing) = Outbox::open(writer, limits.unread);
        let tee = Self {
            lines: Lines::new(reader, limits),
            decoder: Decoder::new(Arc::clone(&record), limits),
            record,
            introduction,
            patience,
            discover: None,
            out,
            ready: VecDeque::new(),
            lines_in_a_row: 0,
        };
        (tee, StdinKept(writing))
    }

    /// The memory of bytes that were read but not yet decoded.
    #[cfg(any(test, fuzzing))]
    pub(super) fn held(&self) -> usize {
        self.lines.buffer.capacity()
    }

    /// The next message for rmcp; `None` if there will be none.
    async fn next(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if self.record.has_failed() {
                return None;
            }
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let line = match self.discover {
                None => self.lines.next().await,
                Some((id, until)) => tokio::select! {
                    biased;
                    line = self.lines.next() => line,
                    () = tokio::time::sleep_until(until) => return Some(self.give_up_discover(id)),
                },
            };
            if let Err(error) = self.decode(line)? {
                self.record.fail(error);
            }
            // A flood must not keep timeouts from firing, nor rmcp from answering.
            self.lines_in_a_row += 1;
            if self.lines_in_a_row >= IN_A_ROW {
                self.lines_in_a_row = 0;
                tokio::task::yield_now().await;
            }
        }
    }

    /// Decodes a line. `None` if it was the last.
    fn decode(
        &mut self,
        line: Result<Option<Range<usize>>, CaptureError>,
    ) -> Option<Result<(), CaptureError>> {
        let line = match line {
            Ok(line) => line?,
            Err(error) => return Some(Err(error)),
        };
        let decoded = match self.decoder.line(&self.lines.buffer[line]) {
            Ok(decoded) => decoded,
            Err(error) => return Some(Err(error)),
        };
        for message in decoded {
            match message {
                Decoded::Message(message) => self.ready.push_back(message),
                Decoded::Reply(line) => {
                    if let Err(error) = self.out.reply(line) {
                        return Some(Err(error));
                    }
                }
            }
        }
        Some(Ok(()))
    }

    /// The server is silent about `server/discover`, as one that does not know it may be.
    fn give_up_discover(&mut self, id: i64) -> ServerJsonRpcMessage {
        self.discover = None;
        self.record.give_up_discover(id);
        let error = ErrorData::new(ErrorCode(-32001), "Request timed out", None);
        ServerJsonRpcMessage::error(error, Some(NumberOrString::Number(id)))
    }

    fn message(&mut self, message: &ClientJsonRpcMessage) -> Result<(), serde_json::Error> {
        let line = self.introduction.line(message)?;
        match message {
            JsonRpcMessage::Request(request) => {
                let method = method_named(request.request.method());
                let is_opening = matches!(method, Some(INITIALIZE | DISCOVER));
                if is_opening && !self.record.is_handshake_done() {
                    self.decoder.opening_sent(&line);
                } else if !self.record.is_handshake_done() {
                    self.record.handshake_done();
                }
                if let (NumberOrString::Number(id), Some(method)) = (&request.id, method) {
                    self.record.request_sent(*id, method);
                    let patience = self.patience.filter(|_| method == DISCOVER);
                    self.discover = patience.map(|patience| (*id, Instant::now() + patience));
                }
                self.out.write(line);
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::InitializedNotification(_) = notification.notification {
                    self.record.handshake_done();
                }
                self.out.write(line);
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {
                if let Err(error) = self.out.reply(line) {
                    self.record.fail(error);
                }
            }
        }
        Ok(())
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Transport<RoleClient> for Tee<R> {
    type Error = serde_json::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        // At once, not in the future: rmcp may run several of them in any order.
        std::future::ready(self.message(&message))
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.next().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// The lines of a reader, within bounds.
struct Lines<R> {
    reader: R,
    /// Read but not yet decoded, except for its first `taken` bytes.
    buffer: Vec<u8>,
    taken: usize,
    /// Up to here `buffer` has no newline.
    searched: usize,
    /// All bytes so far.
    total: usize,
    most: usize,
    longest: usize,
    ended: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new(reader: R, limits: &Limits) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            taken: 0,
            searched: 0,
            total: 0,
            most: limits.bytes,
            longest: limits.answer_bytes,
            ended: false,
        }
    }

    /// The range of the next non-empty line in the buffer; `None` at the end. Cancel-safe: rmcp
    /// drops this future whenever something else happens first.
    async fn next(&mut self) -> Result<Option<Range<usize>>, CaptureError> {
        loop {
            let newline = self.buffer[self.searched..]
                .iter()
                .position(|byte| *byte == b'\n');
            let end = match newline {
                Some(at) => self.searched + at + 1,
                // A last line without a newline still counts.
                None if self.ended && self.taken < self.buffer.len() => self.buffer.len(),
                None if self.ended => return Ok(None),
                None => {
                    self.searched = self.buffer.len();
                    self.fill().await?;
                    continue;
                }
            };
            let line = &self.buffer[self.taken..end];
            let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
            let start = end - line.trim_ascii_start().len();
            let length = line.trim_ascii().len();
            self.taken = end;
            self.searched = end;
            if length > 0 {
                return Ok(Some(start..start + length));
            }
        }
    }

    async fn fill(&mut self) -> Result<(), CaptureError> {
        // Decoded bytes are dropped once per chunk, not once per line: a flood of short lines stays
        // linear.
        self.buffer.drain(..self.taken);
        self.searched -= self.taken;
        self.taken = 0;
        if self.buffer.is_empty() {
            // A long line does not keep its memory until the end.
            self.buffer.shrink_to(CHUNK);
        }
        self.buffer.reserve(CHUNK);
        let count = self.reader.read_buf(&mut self.buffer).await;
        let count = count.map_err(CaptureError::Read)?;
        self.ended = count == 0;
        self.total = self.total.saturating_add(count);
        let waiting = self.buffer.len();
        if self.total > self.most {
            let limit = self.most;
            return Err(CaptureError::TooManyBytes { limit });
        }
        if waiting > self.longest && !self.buffer[waiting - count..].contains(&b'\n') {
            let limit = self.longest;
            return Err(CaptureError::LongLine { limit });
        }
        Ok(())
    }
}

/// Lines to the server, which its reading never holds up.
#[derive(Debug)]
struct Outbox {
    lines: mpsc::UnboundedSender<Vec<u8>>,
    /// Bytes that the server has not read yet.
    unread: Arc<AtomicUsize>,
    most: usize,
}

impl Outbox {
    fn open(
        writer: impl AsyncWrite + Unpin + Send + 'static,
        most: usize,
    ) -> (Self, JoinHandle<()>) {
        let (lines, written) = mpsc::unbounded_channel();
        let unread = Arc::new(AtomicUsize::new(0));
        let writing = tokio::spawn(write(written, writer, Arc::clone(&unread)));
        let outbox = Self {
            lines,
            unread,
            most,
        };
        (outbox, writing)
    }

    fn write(&self, mut line: String) {
        line.push('\n');
        self.unread.fetch_add(line.len(), Ordering::Relaxed);
        // Without a reader the server is gone, which the reading side explains better.
        let _ = self.lines.send(line.into_bytes());
    }

    /// Writes the answer to a request of the server, which must read its answers.
    fn reply(&self, line: String) -> Result<(), CaptureError> {
        self.write(line);
        let limit = self.most;
        if self.unread.load(Ordering::Relaxed) > limit {
            Err(CaptureError::Unread { limit })
        } else {
            Ok(())
        }
    }
}

/// Writes lines, all available ones at once, until it is ended.
async fn write(
    mut lines: mpsc::UnboundedReceiver<Vec<u8>>,
    mut writer: impl AsyncWrite + Unpin,
    unread: Arc<AtomicUsize>,
) {
    while let Some(mut bytes) = lines.recv().await {
        while let Ok(more) = lines.try_recv() {
            bytes.extend(more);
        }
        if writer.write_all(&bytes).await.is_err() || writer.flush().await.is_err() {
            break;
        }
        unread.fetch_sub(bytes.len(), Ordering::Relaxed);
    }
    // Keep stdin open: a server that closed its stdout would end with it, and the two must be
    // distinguished.
    std::future::pending::<()>().await;
}

/// Keeps the server's stdin open until it is closed or dropped.
#[derive(Debug)]
pub(super) struct StdinKept(JoinHandle<()>);

impl Drop for StdinKept {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl StdinKept {
    /// Closes the server's stdin.
    pub(super) async fn close(mut self) {
        self.0.abort();
        let _ = (&mut self.0).await;
    }
}
