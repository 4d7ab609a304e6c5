//! The base protocol: messages in JSON, each after headers that state its length.

use std::io::{self, BufRead, ErrorKind, Read as _, Write};

use serde_json::Value;

/// The size in bytes of the largest message: more than any text in it may have.
const MAX: u64 = 64 << 20;
/// The size in bytes of the largest header.
const MAX_HEADER: u64 = 1 << 10;

/// Reads a message, which may not be JSON. Returns `None` at the end.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<serde_json::Result<Value>>> {
    let wrong = |what: &str| io::Error::new(ErrorKind::InvalidData, what);
    let (mut length, mut line, mut is_first) = (None, Vec::new(), true);
    loop {
        line.clear();
        input.by_ref().take(MAX_HEADER).read_until(b'\n', &mut line)?;
        if line.is_empty() && is_first {
            return Ok(None);
        }
        is_first = false;
        let text = std::str::from_utf8(&line).ok().and_then(|line| line.strip_suffix('\n'));
        let text = text.ok_or_else(|| wrong("a header of a message is cut off"))?.trim_end_matches('\r');
        if text.is_empty() {
            break;
        }
        let (name, value) =
            text.split_once(':').ok_or_else(|| wrong("a message has a header without a colon"))?;
        if name.eq_ignore_ascii_case("Content-Length") {
            length = value.trim().parse().ok().filter(|length| *length <= MAX);
        }
    }
    let length = length.ok_or_else(|| wrong("a message has no `Content-Length`, or one that cannot be"))?;
    // Grows with what arrives, and not to what is stated.
    let mut bytes = Vec::new();
    if input.take(length).read_to_end(&mut bytes)? as u64 != length {
        return Err(wrong("a message is cut off"));
    }
    Ok(Some(serde_json::from_slice(&bytes)))
}

/// Writes a message.
pub(crate) fn write(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = Vec::new();
        write(&mut bytes, &"é".into()).expect("a vector");
        assert_eq!(bytes, "Content-Length: 4\r\n\r\n\"é\"".as_bytes());
        bytes.splice(0..0, b"content-type: x\r\n".iter().copied());
        let mut input = &bytes[..];
        let message = read(&mut input).expect("a frame").expect("a message");
        assert_eq!(message.expect("JSON"), "é");
        assert!(read(&mut input).expect("the end").is_none());
    }

    #[test]
    fn what_is_no_frame_is_refused_before_it_takes_memory() {
        for text in [
            "x\r\n\r\n{}",
            "Content-Length: -1\r\n\r\n{}",
            "Content-Length: 99999999999999\r\n\r\n{}",
            "Content-Length: 99999999999999999999999\r\n\r\n{}",
            "Content-Length: 3\r\n\r\n{}",
            "Content-Length: 3\r\n",
            "\r\n\r\n{}",
            "{}",
        ] {
            assert_eq!(read(&mut text.as_bytes()).expect_err(text).kind(), ErrorKind::InvalidData, "{text}");
        }
        let long = "x".repeat(1 << 20);
        assert!(read(&mut long.as_bytes()).is_err());
        assert!(read(&mut &b"Content-Length: 1\n\n{"[..]).expect("a frame").expect("a message").is_err());
    }
}
