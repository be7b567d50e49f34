//! A Server-Sent Events parser per the HTML standard, independent of chunking.
//!
//! Pure: bytes in, events out. Data stays bytes, because what a digest covers must not be decoded
//! on the way.

use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// Its type; empty means `message`.
    pub name: String,
    /// Its lines of data, joined by newlines.
    pub data: Vec<u8>,
}

/// A line or an event is longer than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

/// The state between two chunks.
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    /// The incomplete line.
    line: Vec<u8>,
    first_line: bool,
    /// The last byte was a CR: a following LF belongs to it.
    after_cr: bool,
    data: Vec<u8>,
    has_data: bool,
    name: String,
    last_id: Option<String>,
    retry: Option<Duration>,
}

impl Decoder {
    /// A decoder for one stream whose events may have `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            first_line: true,
            after_cr: false,
            data: Vec::new(),
            has_data: false,
            name: String::new(),
            last_id: None,
            retry: None,
        }
    }

    /// The id of the last event that had one: where to resume the stream.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// How long the server wants a client to wait before that.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// The events that are complete with these bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_cr) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &rest[..end.unwrap_or(rest.len())];
            if self.line.len() + self.data.len() + part.len() > self.limit {
                return Err(TooLong);
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { break };
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            let line = if std::mem::take(&mut self.first_line) {
                line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line)
            } else {
                &line
            };
            if line.is_empty() {
                events.extend(self.dispatch());
            } else {
                self.field(line);
            }
        }
        Ok(events)
    }

    fn dispatch(&mut self) -> Option<Event> {
        let event = Event {
            name: std::mem::take(&mut self.name),
            data: std::mem::take(&mut self.data),
        };
        std::mem::take(&mut self.has_data).then_some(event)
    }

    fn field(&mut self, line: &[u8]) {
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = match colon {
            // A comment, which keeps a connection open.
            Some(0) => return,
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) => {
                self.last_id = Some(String::from_utf8_lossy(value).into_owned());
            }
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let digits = std::str::from_utf8(value).unwrap_or_default();
                // More milliseconds than fit mean never.
                self.retry = Some(Duration::from_millis(digits.parse().unwrap_or(u64::MAX)));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splitting the bytes in two anywhere, or into single bytes, gives the same events.
    fn events(bytes: &[u8]) -> Vec<(String, String)> {
        let read = |chunks: &[&[u8]]| -> Vec<Event> {
            let mut decoder = Decoder::new(1000);
            let events = chunks.iter().map(|it| decoder.push(it).expect("short"));
            events.flatten().collect()
        };
        let whole = read(&[bytes]);
        for at in 0..=bytes.len() {
            assert_eq!(read(&[&bytes[..at], &bytes[at..]]), whole, "cut at {at}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(&single), whole);
        let text = |event: Event| {
            let data = String::from_utf8_lossy(&event.data).into_owned();
            (event.name, data)
        };
        whole.into_iter().map(text).collect()
    }

    fn data(bytes: &[u8]) -> Vec<String> {
        events(bytes).into_iter().map(|(_, data)| data).collect()
    }

    #[test]
    fn lines_end_with_lf_cr_or_both_in_any_chunks() {
        assert_eq!(
            data(b"data: a\n\ndata: b\r\rdata: c\r\n\r\n"),
            ["a", "b", "c"]
        );
        assert_eq!(data(b"data: a\r\ndata: b\n\r\n"), ["a\nb"]);
        assert_eq!(data(b"\n\r\n\rdata: a\n\n"), ["a"]);
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_first_line() {
        assert_eq!(
            data(b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n"),
            ["a"]
        );
    }

    #[test]
    fn exactly_one_space_after_the_colon_is_dropped() {
        assert_eq!(
            data(b"data:a\n\ndata: b\n\ndata:  c\n\ndata\n\ndata:\ndata:\n\n"),
            ["a", "b", " c", "", "\n"]
        );
    }

    #[test]
    fn comments_and_unknown_fields_are_ignored() {
        assert_eq!(data(b": ping\n\n:\n\nfoo: bar\nfoo\n\n"), [""; 0]);
        assert_eq!(
            events(b"event: endpoint\ndata: /x\n\nevent: lost\n\ndata: y\n\n"),
            [
                ("endpoint".into(), "/x".into()),
                (String::new(), "y".into())
            ]
        );
    }

    #[test]
    fn an_incomplete_event_at_the_end_is_dropped() {
        assert_eq!(data(b"data: a\n\ndata: b\n"), ["a"]);
    }

    #[test]
    fn the_last_id_is_kept_and_retry_is_a_number() {
        let mut decoder = Decoder::new(1000);
        decoder
            .push(b"id: 1\nretry: 500\ndata:\n\nid: a\0b\nretry: soon\n\n")
            .expect("short");
        assert_eq!(
            (decoder.last_id(), decoder.retry()),
            (Some("1"), Some(Duration::from_millis(500)))
        );
        decoder
            .push(b"id\nretry: 99999999999999999999999\n\n")
            .expect("short");
        assert_eq!(
            (decoder.last_id(), decoder.retry()),
            (Some(""), Some(Duration::from_millis(u64::MAX)))
        );
    }

    #[test]
    fn an_overlong_event_is_rejected_in_any_chunks() {
        let mut decoder = Decoder::new(10);
        assert_eq!(decoder.push(b"data: 45678\n"), Err(TooLong));
        let mut decoder = Decoder::new(10);
        assert!(decoder.push(b"data:").is_ok() && decoder.push(b"67890").is_ok());
        assert_eq!(decoder.push(b"1"), Err(TooLong));
        let mut decoder = Decoder::new(10);
        assert!(decoder.push(b"data:1\n").is_ok() && decoder.push(b"data:2345").is_ok());
        assert_eq!(decoder.push(b"6"), Err(TooLong));
    }

    #[test]
    fn bytes_that_are_not_unicode_are_kept() {
        let mut decoder = Decoder::new(1000);
        let found = decoder.push(b"data: \xff\x00\n\n").expect("short");
        assert_eq!(found[0].data, b"\xff\x00");
    }
}
