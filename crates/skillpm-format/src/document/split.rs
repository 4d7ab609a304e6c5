//! The start and the end of the frontmatter.

use std::ops::Range;

/// The maximum number of bytes of frontmatter, without its delimiters.
pub const MAX_FRONTMATTER: usize = 64 * 1024;

/// The UTF-8 byte-order mark.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// The parts of a text, as byte ranges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// The length of the byte-order mark: 0 or 3.
    pub bom: usize,
    /// The opening `---` with the blanks after it, without its line end.
    pub open: Range<usize>,
    /// The text between the two delimiter lines.
    pub yaml: Range<usize>,
    /// The closing `---` with the blanks after it, without its line end.
    pub close: Range<usize>,
    /// The first byte after the closing line.
    pub body: usize,
}

/// The result of looking for frontmatter at the start of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Split {
    /// Both delimiters were found.
    Found(Parts),
    /// The first line that is not blank is not `---`; the number is the start of that line.
    Missing(usize),
    /// The opening delimiter was found here, but no closing one.
    Unclosed(Range<usize>),
    /// More bytes are needed to decide. Never the result for a whole text.
    NeedMore,
    /// There is no closing delimiter within [`MAX_FRONTMATTER`]. Never the result for a whole text.
    TooLarge(Range<usize>),
}

/// Finds the frontmatter in a whole text.
pub fn split(text: &[u8]) -> Split {
    scan(text, true)
}

/// Finds the frontmatter in the first bytes of a text, for callers that stop reading after it.
///
/// The prefix may end anywhere, even inside a character. Any result except [`Split::NeedMore`] is the result for the
/// whole text, apart from [`Split::TooLarge`] and from more than [`MAX_FRONTMATTER`] of blank lines, which mean "stop
/// reading". A document made of the bytes before [`Parts::body`] has everything except the body.
pub fn split_prefix(prefix: &[u8]) -> Split {
    scan(prefix, false)
}

fn scan(bytes: &[u8], whole: bool) -> Split {
    let bom = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
    if !whole && bytes.len() < BOM.len() && BOM.starts_with(bytes) {
        return Split::NeedMore;
    }
    let mut lines = Lines { bytes, at: bom, whole };
    let open = loop {
        match lines.next() {
            Line::Whole(line) if is_blank(&bytes[line.clone()]) => {
                if line.end > MAX_FRONTMATTER && !whole {
                    return Split::Missing(line.start);
                }
            }
            Line::Whole(line) if is_delimiter(&bytes[line.clone()]) => break line,
            Line::Whole(line) => return Split::Missing(line.start),
            Line::Cut(start) if is_possible_opening(&bytes[start..]) => return Split::NeedMore,
            Line::Cut(start) => return Split::Missing(start),
            Line::End => return Split::Missing(bytes.len()),
        }
    };
    let start = lines.at;
    loop {
        match lines.next() {
            Line::Whole(line) if is_delimiter(&bytes[line.clone()]) => {
                return Split::Found(Parts {
                    bom,
                    open,
                    yaml: start..line.start,
                    close: line,
                    body: lines.at,
                });
            }
            Line::Whole(line) if !whole && line.end - start > MAX_FRONTMATTER => {
                return Split::TooLarge(open);
            }
            Line::Whole(_) => {}
            Line::Cut(_) if bytes.len() - start > MAX_FRONTMATTER => return Split::TooLarge(open),
            Line::Cut(_) => return Split::NeedMore,
            Line::End => return Split::Unclosed(open),
        }
    }
}

/// A cursor over lines that end with LF, CRLF or CR.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    whole: bool,
}

enum Line {
    /// A line without its line ending.
    Whole(Range<usize>),
    /// The bytes end inside the line that starts here, and more may follow.
    Cut(usize),
    End,
}

impl Lines<'_> {
    fn next(&mut self) -> Line {
        let start = self.at;
        let rest = &self.bytes[start..];
        let Some(length) = memchr::memchr2(b'\n', b'\r', rest) else {
            if !self.whole {
                return Line::Cut(start);
            }
            if rest.is_empty() {
                return Line::End;
            }
            self.at = self.bytes.len();
            return Line::Whole(start..self.at);
        };
        let end = match (rest[length], rest.get(length + 1)) {
            (b'\r', Some(b'\n')) => 2,
            // The next byte may be the second half of a line end.
            (b'\r', None) if !self.whole => return Line::Cut(start),
            _ => 1,
        };
        self.at = start + length + end;
        Line::Whole(start..start + length)
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t'))
}

fn is_delimiter(line: &[u8]) -> bool {
    line.strip_prefix(b"---").is_some_and(is_blank)
}

/// Reports whether a line that starts with `cut` may still become the opening delimiter or a blank line.
fn is_possible_opening(cut: &[u8]) -> bool {
    let cut = cut.strip_suffix(b"\r").unwrap_or(cut);
    is_blank(cut) || is_delimiter(cut) || b"---".starts_with(cut)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns YAML and body of `text`.
    fn parts(text: &str) -> Option<(&str, &str)> {
        match split(text.as_bytes()) {
            Split::Found(parts) => Some((&text[parts.yaml], &text[parts.body..])),
            _ => None,
        }
    }

    /// S0-FR-007, S0-FR-011, S0-US5.5.
    #[test]
    fn delimiters_stand_on_their_own_lines() {
        assert_eq!(parts("---\na: b\n---\nbody\n"), Some(("a: b\n", "body\n")));
        assert_eq!(parts("---\r\na: b\r\n---\r\nbody\r\n"), Some(("a: b\r\n", "body\r\n")), "oddity 24");
        assert_eq!(parts("---\ra: b\r---\rbody"), Some(("a: b\r", "body")));
        assert_eq!(parts("--- \t\na: b\n--- \nbody"), Some(("a: b\n", "body")), "oddity 25");
        assert_eq!(parts("\n \n---\na: b\n---"), Some(("a: b\n", "")), "oddity 26");
        assert_eq!(parts("\u{feff}---\na: b\n---\n"), Some(("a: b\n", "")), "oddity 23");
        assert_eq!(
            parts("---\na: x --- y\n ---\n----\n---\n---\n"),
            Some(("a: x --- y\n ---\n----\n", "---\n"))
        );
        assert_eq!(parts("---\n---\n"), Some(("", "")));
    }

    #[test]
    fn what_is_missing_is_told() {
        for (text, at) in
            [("", 0), ("# Title\n---\n", 0), ("\n\nx", 2), ("----\n", 0), ("---x\n", 0), (" ---\n", 0)]
        {
            assert_eq!(split(text.as_bytes()), Split::Missing(at), "{text:?}");
        }
        assert_eq!(split(b"---\na: b\n"), Split::Unclosed(0..3));
        assert_eq!(split(b"---"), Split::Unclosed(0..3));
    }

    #[test]
    fn a_prefix_is_enough_or_asks_for_more() {
        let text = "\u{feff}\n---\r\nname: \u{e9}\r\n---\r\nbody";
        for cut in 0..text.len() - 4 {
            assert_eq!(split_prefix(&text.as_bytes()[..cut]), Split::NeedMore, "{cut}");
        }
        assert_eq!(split_prefix(&text.as_bytes()[..text.len() - 4]), split(text.as_bytes()));
        assert_eq!(split_prefix(b"# He"), Split::Missing(0));
        let long = format!("---\n{}", "x".repeat(MAX_FRONTMATTER + 1));
        assert_eq!(split_prefix(long.as_bytes()), Split::TooLarge(0..3));
    }

    proptest! {
        #[test]
        fn an_answer_from_a_prefix_is_the_answer(text in "(\u{feff})?(---|-| |a|\n|\r|\r\n|\u{e9}){0,20}", cut in 0_usize..80) {
            let bytes = text.as_bytes();
            let early = split_prefix(&bytes[..cut.min(bytes.len())]);
            if early != Split::NeedMore {
                prop_assert_eq!(early, split(bytes));
            }
        }
    }
}
