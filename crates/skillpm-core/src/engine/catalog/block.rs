//! A catalog between marks in a file that people write, such as `AGENTS.md`.

use std::ops::Range;

/// The line after the catalog.
pub(crate) const END: &str = "<!-- end of the skillpm catalog -->";
/// The start of the first line, which identifies it even if its advice changes. A blank or a colon follows.
const START_MARK: &[u8] = b"<!-- skillpm catalog";
/// The text around the command in a first line that skillpm wrote.
const ADVICE: (&str, &str) =
    ("<!-- skillpm catalog: `skillpm catalog --write", "` keeps this part up to date -->");
/// The byte-order mark that some editors put before the first line.
const BOM: &[u8] = b"\xef\xbb\xbf";
/// The byte-order marks of UTF-16.
const UTF_16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// The reason why a file cannot hold a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// A start marker without an end marker.
    #[error("line {0}: the catalog that starts here has no end marker, a line with `{END}`")]
    NoEnd(usize),
    /// An end marker without a start marker.
    #[error("line {0}: end marker without a start marker")]
    NoStart(usize),
    /// A second catalog.
    #[error("line {0}: a second catalog starts here")]
    Second(usize),
    /// The file is UTF-16 or is not text.
    #[error("it is UTF-16 or has a NUL, but a catalog must be UTF-8 text")]
    NotUtf8,
    /// The text for the block has a line that would start or end one.
    #[error("line {0} of the text is a marker of the catalog itself")]
    Mark(usize),
}

/// Returns the line before the catalog. `rest` follows `skillpm catalog --write` in the command that writes it.
pub fn start(rest: &str) -> String {
    // The line is an HTML comment, which a `>` could end, and the command is in backticks.
    let is_harmless = |c: char| !c.is_control() && !matches!(c, '<' | '>' | '`');
    let rest = if rest.chars().all(is_harmless) { rest } else { "FILE" };
    format!("{} {rest}{}", ADVICE.0, ADVICE.1)
}

/// Returns the bytes of `file` with `text` as its block: between its markers if it has them, otherwise in a new block
/// at its end. All other bytes stay, except that the command in the start marker of an existing block is updated;
/// `rest` follows `skillpm catalog --write` in it.
///
/// A new block is not added for an empty text. Line endings in the block follow the first line of the file.
///
/// # Errors
///
/// Fails if `text` has a line that is a marker, because the file could not be read again; if markers do not match,
/// because it is not clear which bytes are ours; and if the file is UTF-16, because its text and the block would have
/// different encodings.
pub fn put(file: &[u8], text: &str, rest: &str) -> Result<Vec<u8>, BlockError> {
    if UTF_16_MARKS.iter().any(|mark| file.starts_with(mark)) || memchr::memchr(0, file).is_some() {
        return Err(BlockError::NotUtf8);
    }
    let is_mark = |line: &str| line.trim_ascii() == END || is_start(line.trim_ascii().as_bytes());
    if let Some(at) = text.lines().position(is_mark) {
        return Err(BlockError::Mark(at + 1));
    }
    let end = match memchr::memchr(b'\n', file) {
        Some(at) if file[..at].ends_with(b"\r") => "\r\n",
        _ => "\n",
    };
    let inner: String = text.lines().flat_map(|line| [line, end]).collect();
    let start = start(rest);
    if let Some(Block { mark, inside }) = find(file)? {
        let is_new = file[inside.clone()] != *inner.as_bytes();
        let old = &file[mark.clone()];
        let first = if is_new && is_ours(old) { start.as_bytes() } else { old };
        let (before, between) = (&file[..mark.start], &file[mark.end..inside.start]);
        return Ok([before, first, between, inner.as_bytes(), &file[inside.end..]].concat());
    }
    if text.is_empty() {
        return Ok(file.to_owned());
    }
    let gap = match file {
        [] => "",
        _ if !file.ends_with(b"\n") => &end.repeat(2),
        _ if file.ends_with(b"\n\n") || file.ends_with(b"\n\r\n") => "",
        _ => end,
    };
    Ok([
        file,
        gap.as_bytes(),
        start.as_bytes(),
        end.as_bytes(),
        inner.as_bytes(),
        END.as_bytes(),
        end.as_bytes(),
    ]
    .concat())
}

/// The position of a block in a file, as byte ranges.
struct Block {
    /// The start marker, without blanks around it.
    mark: Range<usize>,
    /// The whole lines between the markers.
    inside: Range<usize>,
}

fn find(file: &[u8]) -> Result<Option<Block>, BlockError> {
    let (mut at, mut open, mut found) = (0, None, None);
    for (number, line) in file.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let (number, start) = (number + 1, at);
        at += line.len();
        let mark = if start == 0 { line.strip_prefix(BOM).unwrap_or(line) } else { line }.trim_ascii();
        if mark == END.as_bytes() {
            let (mark, begin, _) = open.take().ok_or(BlockError::NoStart(number))?;
            found = Some(Block { mark, inside: begin..start });
        } else if is_start(mark) {
            if open.is_some() || found.is_some() {
                return Err(BlockError::Second(number));
            }
            let end = start + line.trim_ascii_end().len();
            open = Some((end - mark.len()..end, at, number));
        }
    }
    match open {
        Some((.., line)) => Err(BlockError::NoEnd(line)),
        None => Ok(found),
    }
}

/// Reports whether skillpm wrote the start marker, with today's wording or the one without a file name.
fn is_ours(mark: &[u8]) -> bool {
    let rest = mark.strip_prefix(ADVICE.0.as_bytes());
    rest.is_some_and(|rest| rest.ends_with(ADVICE.1.as_bytes()))
}

fn is_start(line: &[u8]) -> bool {
    let advice = line.strip_prefix(START_MARK).and_then(|rest| rest.strip_suffix(b"-->"));
    advice.is_some_and(|advice| matches!(advice, [b' ' | b'\t' | b':', ..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The text after `--write`.
    const REST: &str = "AGENTS.md";
    /// The start marker that older versions wrote.
    const OLD: &str = "<!-- skillpm catalog: `skillpm catalog --write` keeps this part up to date -->";

    fn block(text: &str) -> String {
        format!("{}\n{text}{END}\n", start(REST))
    }

    fn put_text(file: &str, text: &str) -> Result<String, BlockError> {
        put(file.as_bytes(), text, REST).map(|bytes| String::from_utf8(bytes).expect("text"))
    }

    #[test]
    fn a_block_is_added_once_and_then_replaced() {
        for (file, gap) in [("", ""), ("# A\n", "\n"), ("# A", "\n\n"), ("# A\n\n", "")] {
            let first = put_text(file, "a\n").expect("no marks");
            assert_eq!(first, format!("{file}{gap}{}", block("a\n")));
            assert_eq!(put_text(&first, "a\n").as_ref(), Ok(&first));
            let more = format!("{first}\nmore");
            assert_eq!(put_text(&more, "b\n"), Ok(format!("{file}{gap}{}\nmore", block("b\n"))));
            assert_eq!(put_text(&more, ""), Ok(format!("{file}{gap}{}\nmore", block(""))));
        }
        assert_eq!(put_text("# A\n", ""), Ok("# A\n".to_owned()), "nothing is nothing");
    }

    #[test]
    fn line_ends_are_those_of_the_file() {
        let first = put_text("# A\r\n", "a\nb\n").expect("no marks");
        let start = start(REST);
        assert_eq!(first, format!("# A\r\n\r\n{start}\r\na\r\nb\r\n{END}\r\n"));
        assert_eq!(put_text(&first, "a\nb\n").as_ref(), Ok(&first));
    }

    /// The advice in the first line may differ, and blanks around markers do not matter.
    #[test]
    fn marks_are_known_by_their_starts() {
        let file = format!("x\n  <!-- skillpm catalog -->\nold\n\t{END} \ny");
        assert_eq!(put_text(&file, "new\n"), Ok(file.replace("old", "new")));
        for other in [format!("`{}`\n", start(REST)), "<!-- skillpm catalogue -->\n".to_owned()] {
            assert!(put_text(&other, "a\n").expect("no mark").starts_with(&other));
        }
    }

    /// The command in the first line can be typed: it names the file, and changes with the options of the catalog. The
    /// older first line is recognized, and a file in which nothing else changes is up to date.
    #[test]
    fn the_command_comes_with_a_new_text() {
        let old = format!("\u{feff}  {OLD} \r\nold\r\n{END}\r\n");
        assert_eq!(put_text(&old, "old\n").as_ref(), Ok(&old));
        let new = put_text(&old, "new\n").expect("one block");
        assert_eq!(new, format!("\u{feff}  {} \r\nnew\r\n{END}\r\n", start(REST)));
        let other = put(new.as_bytes(), "other\n", "docs/A.md --format markdown").expect("one block");
        let first = "<!-- skillpm catalog: `skillpm catalog --write docs/A.md --format markdown` keeps this part up to date -->";
        assert!(String::from_utf8_lossy(&other).contains(first));
        let own = format!("<!-- skillpm catalog: ask Ada -->\nold\n{END}\n");
        assert_eq!(put_text(&own, "new\n"), Ok(own.replace("old", "new")));
        for rest in ["a-->b.md", "a`b.md", "a\nb.md"] {
            assert_eq!(start(rest), start("FILE"), "{rest:?}");
        }
    }

    /// A text with a marker in it could not be read again.
    #[test]
    fn a_text_that_is_a_mark_is_refused() {
        for (text, line) in [
            (END.to_owned(), 1),
            (format!("none\n  {END}\t"), 2),
            ("a\r\n<!-- skillpm catalog -->\r\n".into(), 2),
        ] {
            for file in [String::new(), block("old\n")] {
                assert_eq!(put_text(&file, &text), Err(BlockError::Mark(line)), "{text}");
            }
        }
        let beside = format!("see {END}\n");
        assert_eq!(put_text("", &beside), Ok(block(&beside)));
    }

    #[test]
    fn a_byte_order_mark_belongs_to_no_line() {
        let file = format!("\u{feff}{}", block("old\n"));
        assert_eq!(put_text(&file, "new\n"), Ok(file.replace("old", "new")));
    }

    #[test]
    fn marks_that_do_not_belong_together_are_told() {
        let start = start(REST);
        for (file, error) in [
            (format!("x\n{start}\n"), BlockError::NoEnd(2)),
            (format!("{END}\n"), BlockError::NoStart(1)),
            (format!("{start}\n{start}\n{END}\n"), BlockError::Second(2)),
            (format!("{start}\n{END}\n{start}\n{END}\n"), BlockError::Second(3)),
            (format!("{start}\n{END}\n{END}\n"), BlockError::NoStart(3)),
        ] {
            assert_eq!(put_text(&file, "a\n"), Err(error), "{file}");
        }
    }

    #[test]
    fn what_is_no_text_in_utf_8_is_refused() {
        for file in [&b"\xff\xfe#\0\n\0"[..], b"\xfe\xff\0#\0\n", b"#\0\n\0", b"\xff\xfe", b"# A\n\0"] {
            assert_eq!(put(file, "a\n", REST), Err(BlockError::NotUtf8), "{file:?}");
            assert_eq!(put(file, "", REST), Err(BlockError::NotUtf8), "{file:?}");
        }
        assert!(put(b"# Caf\xe9\n", "a\n", REST).is_ok(), "other bytes were left as they are");
    }

    proptest! {
        #[test]
        fn all_other_bytes_stay(
            before in proptest::collection::vec(1_u8..0xfe, 0..40),
            after in proptest::collection::vec(1_u8..0xfe, 0..40),
            old in "[a\n]{0,5}",
        ) {
            let old = if old.is_empty() { old } else { old + "\n" };
            let file = [&before[..], b"\n", block(&old).as_bytes(), &after].concat();
            let new = put(&file, "new\n", REST).expect("one block");
            // The first line of the file decides how new lines end; the markers stay as they are.
            let first = new.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let end = if first.ends_with(b"\r") { "\r\n" } else { "\n" };
            let start = start(REST);
            let block = format!("{start}\nnew{end}{END}\n");
            let expected = [&before[..], b"\n", block.as_bytes(), &after].concat();
            prop_assert_eq!(new, expected);
        }
    }
}
