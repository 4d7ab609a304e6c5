//! A catalog between marks in a file that people write, such as `AGENTS.md`.

use std::ops::Range;

/// The line before the catalog.
pub const START: &str = "<!-- skillpm catalog: `skillpm catalog --write` keeps this part up to date -->";
/// The line after it.
pub const END: &str = "<!-- end of the skillpm catalog -->";
/// What the first line is known by, so that its advice may change. A blank or a colon follows.
const START_MARK: &[u8] = b"<!-- skillpm catalog";
/// What some editors put before the first line.
const BOM: &[u8] = b"\xef\xbb\xbf";
/// What a file in UTF-16 starts with.
const UTF_16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// Why a file cannot hold a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// A first line without a last one.
    #[error("line {0}: the catalog that starts here has no end, a line with `{END}`")]
    NoEnd(usize),
    /// A last line without a first one.
    #[error("line {0}: a catalog ends here that starts nowhere")]
    NoStart(usize),
    /// A second catalog.
    #[error("line {0}: a second catalog starts here")]
    Second(usize),
    /// UTF-16, or no text at all.
    #[error("it is UTF-16 or has a NUL, and a catalog is text in UTF-8")]
    NotUtf8,
    /// A text for the block that would start or end one.
    #[error("line {0} of the text is a mark of the catalog itself")]
    Mark(usize),
}

/// Returns the bytes of a file that holds `text` between the marks: `file` with what is between its marks
/// replaced, or, where it has none, with a block at its end. All other bytes stay as they are.
///
/// A block with nothing in it is not added. The lines of the block end as the first line of the file does.
///
/// # Errors
///
/// A text with one of the marks in it: the file could not be read again. Marks that do not belong together: which
/// bytes are ours cannot be told then. A file in UTF-16: nobody could read both it and the block.
pub fn put(file: &[u8], text: &str) -> Result<Vec<u8>, BlockError> {
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
    if let Some(inside) = find(file)? {
        let before = &file[..inside.start];
        return Ok([before, inner.as_bytes(), &file[inside.end..]].concat());
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
        START.as_bytes(),
        end.as_bytes(),
        inner.as_bytes(),
        END.as_bytes(),
        end.as_bytes(),
    ]
    .concat())
}

/// The bytes between the marks: whole lines.
fn find(file: &[u8]) -> Result<Option<Range<usize>>, BlockError> {
    let (mut at, mut open, mut found) = (0, None, None);
    for (number, line) in file.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let (number, start) = (number + 1, at);
        at += line.len();
        let mark = if start == 0 { line.strip_prefix(BOM).unwrap_or(line) } else { line }.trim_ascii();
        if mark == END.as_bytes() {
            let (begin, _) = open.take().ok_or(BlockError::NoStart(number))?;
            found = Some(begin..start);
        } else if is_start(mark) {
            if open.is_some() || found.is_some() {
                return Err(BlockError::Second(number));
            }
            open = Some((at, number));
        }
    }
    match open {
        Some((_, line)) => Err(BlockError::NoEnd(line)),
        None => Ok(found),
    }
}

fn is_start(line: &[u8]) -> bool {
    let advice = line.strip_prefix(START_MARK).and_then(|rest| rest.strip_suffix(b"-->"));
    advice.is_some_and(|advice| matches!(advice, [b' ' | b'\t' | b':', ..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block(text: &str) -> String {
        format!("{START}\n{text}{END}\n")
    }

    fn put_text(file: &str, text: &str) -> Result<String, BlockError> {
        put(file.as_bytes(), text).map(|bytes| String::from_utf8(bytes).expect("text"))
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
        assert_eq!(first, format!("# A\r\n\r\n{START}\r\na\r\nb\r\n{END}\r\n"));
        assert_eq!(put_text(&first, "a\nb\n").as_ref(), Ok(&first));
    }

    /// The advice in the first line may be another one, and blanks around marks do not matter.
    #[test]
    fn marks_are_known_by_their_starts() {
        let file = format!("x\n  <!-- skillpm catalog -->\nold\n\t{END} \ny");
        assert_eq!(put_text(&file, "new\n"), Ok(file.replace("old", "new")));
        for other in [format!("`{START}`\n"), "<!-- skillpm catalogue -->\n".to_owned()] {
            assert!(put_text(&other, "a\n").expect("no mark").starts_with(&other));
        }
    }

    /// What was written would not be known again.
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
        for (file, error) in [
            (format!("x\n{START}\n"), BlockError::NoEnd(2)),
            (format!("{END}\n"), BlockError::NoStart(1)),
            (format!("{START}\n{START}\n{END}\n"), BlockError::Second(2)),
            (format!("{START}\n{END}\n{START}\n{END}\n"), BlockError::Second(3)),
            (format!("{START}\n{END}\n{END}\n"), BlockError::NoStart(3)),
        ] {
            assert_eq!(put_text(&file, "a\n"), Err(error), "{file}");
        }
    }

    #[test]
    fn what_is_no_text_in_utf_8_is_refused() {
        for file in [&b"\xff\xfe#\0\n\0"[..], b"\xfe\xff\0#\0\n", b"#\0\n\0", b"\xff\xfe", b"# A\n\0"] {
            assert_eq!(put(file, "a\n"), Err(BlockError::NotUtf8), "{file:?}");
            assert_eq!(put(file, ""), Err(BlockError::NotUtf8), "{file:?}");
        }
        assert!(put(b"# Caf\xe9\n", "a\n").is_ok(), "what is none of these stays as it is");
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
            let new = put(&file, "new\n").expect("one block");
            // A file's first line tells how new lines end; the marks stay as they are.
            let first = new.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let end = if first.ends_with(b"\r") { "\r\n" } else { "\n" };
            let block = format!("{START}\nnew{end}{END}\n");
            let expected = [&before[..], b"\n", block.as_bytes(), &after].concat();
            prop_assert_eq!(new, expected);
        }
    }
}
