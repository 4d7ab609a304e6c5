//! Lines and columns for display.

use std::ops::Range;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::Serialize;

/// The number of bytes in a block, for which the characters before it are counted.
const BLOCK: usize = 4096;

/// A position in a text. Both numbers start at 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

/// The lines of a text, to turn byte offsets into [`Position`]s.
///
/// Lines end with LF, CRLF or CR. A byte-order mark does not count as a character of the first line, as in editors. The
/// lines are found when the first position is requested: most texts have nothing to report.
#[derive(Debug, Clone)]
pub struct LineIndex<'a> {
    text: &'a str,
    starts: OnceLock<Vec<usize>>,
    /// The number of characters before each block of the text, for lines that are longer than a block.
    blocks: OnceLock<Vec<usize>>,
}

impl<'a> LineIndex<'a> {
    /// Returns the index of `text`.
    pub fn new(text: &'a str) -> Self {
        Self { text, starts: OnceLock::new(), blocks: OnceLock::new() }
    }

    /// Returns the offset of each line; there is at least one line.
    fn starts(&self) -> &[usize] {
        self.starts.get_or_init(|| {
            let bytes = self.text.as_bytes();
            let first = if self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
            let ends = memchr::memchr2_iter(b'\n', b'\r', bytes)
                .filter(|at| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n'));
            std::iter::once(first).chain(ends.map(|at| at + 1)).collect()
        })
    }

    /// Returns the position of the character at byte `offset`; an offset beyond the end means the end.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.line(offset);
        let start = self.starts()[line - 1];
        // The byte-order mark is before the first line.
        let start = start.min(offset);
        let column = if offset - start <= BLOCK {
            characters(&self.text.as_bytes()[start..offset])
        } else {
            self.characters_before(offset) - self.characters_before(start)
        };
        Position { line, column: column + 1 }
    }

    /// Returns the number of characters before byte `offset`, not counting a byte-order mark at the start.
    pub(crate) fn offset(&self, offset: usize) -> usize {
        let offset = self.text.floor_char_boundary(offset);
        let has_mark = offset > 0 && self.text.starts_with('\u{feff}');
        self.characters_before(offset) - usize::from(has_mark)
    }

    /// Returns the bytes of the line `line`, from 1, with its end. Returns `None` if there are fewer lines.
    pub fn span(&self, line: usize) -> Option<Range<usize>> {
        let starts = self.starts().get(line.checked_sub(1)?..)?;
        Some(*starts.first()?..starts.get(1).copied().unwrap_or(self.text.len()))
    }

    /// Returns the offset of the line that contains byte `offset`.
    pub fn start(&self, offset: usize) -> usize {
        self.starts()[self.line(offset) - 1]
    }

    /// Returns the number of characters that start before byte `offset`, in a time that does not grow with
    /// the text.
    fn characters_before(&self, offset: usize) -> usize {
        let bytes = self.text.as_bytes();
        let blocks = self.blocks.get_or_init(|| {
            let counts = bytes.chunks(BLOCK).scan(0, |before, block| {
                *before += characters(block);
                Some(*before)
            });
            std::iter::once(0).chain(counts).collect()
        });
        let block = offset / BLOCK;
        blocks[block] + characters(&bytes[block * BLOCK..offset])
    }

    /// Returns the line of byte `offset`, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.starts().partition_point(|start| *start <= offset).max(1)
    }

    /// Returns the number of lines; an empty text has one.
    pub fn count(&self) -> usize {
        self.starts().len()
    }
}

/// Returns the number of characters that start in `bytes`, a part of a text.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| !matches!(byte, 0x80..=0xbf)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_long_lines_are_those_of_short_ones() {
        let line = "aé日b".repeat(BLOCK);
        let text = format!("\u{feff}x\n{line}\n{line}");
        let index = LineIndex::new(&text);
        let start = text.find('a').unwrap();
        for at in (0..line.len()).step_by(997).chain([0, 1, BLOCK, BLOCK + 1, line.len()]) {
            let at = line.floor_char_boundary(at);
            let column = line[..at].chars().count() + 1;
            assert_eq!(index.position(start + at), Position { line: 2, column }, "{at}");
            assert_eq!(index.position(start + line.len() + 1 + at), Position { line: 3, column }, "{at}");
        }
    }

    #[test]
    fn columns_count_characters_and_every_line_end_counts_once() {
        let index = LineIndex::new("\u{feff}aé日b\r\nx\ry\n");
        let at = |offset| {
            let Position { line, column } = index.position(offset);
            (line, column)
        };
        assert_eq!(at(0), (1, 1), "the mark itself");
        assert_eq!(at(3), (1, 1));
        assert_eq!(at(9), (1, 4), "after é and 日");
        assert_eq!(at(12), (2, 1));
        assert_eq!(at(14), (3, 1));
        assert_eq!(at(16), (4, 1));
        assert_eq!(at(999), (4, 1));
        assert_eq!(index.count(), 4);
        assert_eq!([0, 3, 9, 12].map(|at| index.offset(at)), [0, 0, 3, 6]);
        assert_eq!([0, 9, 12, 16].map(|at| index.start(at)), [3, 3, 12, 16]);
        assert_eq!(LineIndex::new("").position(0), Position { line: 1, column: 1 });
    }
}
