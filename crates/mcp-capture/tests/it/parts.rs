//! What the scripts of the test servers have in common: endless bytes, and bytes that are not text.
//!
//! `examples/scripted-server.rs` uses them over stdio and documents `stream`, `hostile/http.rs`
//! uses them over HTTP.

use std::io::{BufWriter, Write};

use serde_json::Value;

/// The bytes in hexadecimal digits.
pub(crate) fn bytes_of(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex
        .chars()
        .map(|digit| u8::try_from(digit.to_digit(16).expect("a hex digit")).expect("one digit"))
        .collect();
    let pairs = digits.chunks(2);
    pairs.map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Writes the parts of a `stream`, and flushes after the last one.
pub(crate) fn stream(parts: &Value, to: &mut BufWriter<impl Write>) -> std::io::Result<()> {
    stream_part(parts, 0, to)?;
    to.flush()
}

fn stream_part(part: &Value, count: u64, to: &mut impl Write) -> std::io::Result<()> {
    match part {
        Value::String(text) if text.contains("$n") => {
            to.write_all(text.replace("$n", &count.to_string()).as_bytes())
        }
        Value::String(text) => to.write_all(text.as_bytes()),
        Value::Array(parts) => parts
            .iter()
            .try_for_each(|part| stream_part(part, count, to)),
        part => {
            let times = part["times"].as_u64().expect("`times` is a number");
            let between = part["between"].as_str().unwrap_or_default();
            // A short text repeated many times is written in large pieces.
            if let Some(text) = part["of"].as_str()
                && between.is_empty()
                && !text.contains("$n")
            {
                let fits = (64 * 1024 / text.len().max(1)).max(1) as u64;
                let block = text.repeat(usize::try_from(fits).expect("64 KiB"));
                let mut left = times;
                while times == 0 || left >= fits {
                    to.write_all(block.as_bytes())?;
                    left = left.saturating_sub(fits);
                }
                return (0..left).try_for_each(|_| to.write_all(text.as_bytes()));
            }
            for count in 0.. {
                if times > 0 && count == times {
                    break;
                }
                if count > 0 {
                    to.write_all(between.as_bytes())?;
                }
                stream_part(&part["of"], count, to)?;
            }
            Ok(())
        }
    }
}
