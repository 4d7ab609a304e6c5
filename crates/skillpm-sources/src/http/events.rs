//! Streams of events (`text/event-stream`), as the HTML standard has them.

/// The media type.
pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// A mark that a stream may begin with. It does not belong to the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The events of a stream so far.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// The data of the event that has not ended yet, each line of it with its end.
    data: Vec<u8>,
    /// Whether the last byte was a carriage return, after which a line feed belongs to the same end.
    after_return: bool,
    /// Whether the first line has ended: only that line may begin with a byte order mark.
    has_begun: bool,
}

impl Events {
    /// Reads the next `bytes` and returns the data of the first event in them that `is_wanted`.
    pub(super) fn next(&mut self, bytes: &[u8], is_wanted: &dyn Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
        let mut rest = bytes;
        while let Some(at) = memchr::memchr2(b'\n', b'\r', rest) {
            let is_second_half = at == 0 && rest[0] == b'\n' && self.after_return;
            self.after_return = rest[at] == b'\r';
            self.line.extend_from_slice(&rest[..at]);
            rest = &rest[at + 1..];
            if is_second_half {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let mark: &[u8] =
                if std::mem::replace(&mut self.has_begun, true) { b"" } else { BYTE_ORDER_MARK };
            if let Some(data) =
                self.end_line(line.strip_prefix(mark).unwrap_or(&line)).filter(|data| is_wanted(data))
            {
                return Some(data);
            }
        }
        self.after_return &= rest.is_empty();
        self.line.extend_from_slice(rest);
        None
    }

    /// Takes in a whole `line`. Returns the data of the event that it ends, if it ends one.
    fn end_line(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if line.is_empty() {
            let mut data = std::mem::take(&mut self.data);
            return data.pop().map(|_| data);
        }
        if let Some(value) = line.strip_prefix(b"data") {
            match value {
                [b':', b' ', value @ ..] | [b':', value @ ..] => self.data.extend_from_slice(value),
                [] => {}
                // Another field, which starts in the same way.
                _ => return None,
            }
            self.data.push(b'\n');
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads `text` in pieces of `size` bytes and returns the data of all events.
    fn all(text: &[u8], size: usize) -> Vec<String> {
        let mut events = Events::default();
        let found = std::cell::RefCell::new(Vec::new());
        for piece in text.chunks(size) {
            let keep = |data: &[u8]| {
                found.borrow_mut().push(String::from_utf8_lossy(data).into_owned());
                false
            };
            assert_eq!(events.next(piece, &keep), None);
        }
        found.into_inner()
    }

    #[test]
    fn events_have_data_in_lines() {
        let text = b": hello\r\nid: 1\ndata:\n\nevent: message\r\ndata: {\"a\":\r\ndata:1}\r\n\r\nretry: 3\r\rdatum: x\n\ndata: last";
        for size in [1, 2, 3, 7, 1000] {
            assert_eq!(all(text, size), ["", "{\"a\":\n1}"], "{size}");
        }
    }

    #[test]
    fn a_byte_order_mark_at_the_start_is_no_data() {
        for size in [1, 2, 3, 1000] {
            let text = "\u{feff}data: one\n\n\u{feff}data: none\n\ndata: \u{feff}two\n\n";
            assert_eq!(all(text.as_bytes(), size), ["one", "\u{feff}two"], "{size}");
        }
    }

    #[test]
    fn the_first_wanted_event_ends_the_reading() {
        let mut events = Events::default();
        let text = b"data: one\n\ndata: two\n\ndata: three\n\n";
        assert_eq!(events.next(text, &|data| data == b"two").as_deref(), Some(&b"two"[..]));
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "(data|:| |\n|\r|a|é){0,40}", size in 1_usize..9) {
            prop_assert_eq!(all(text.as_bytes(), size), all(text.as_bytes(), 1000));
        }
    }
}
