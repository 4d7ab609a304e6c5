//! Positions of the protocol, and the bytes of a text that they mean.

use std::ops;

use lsp_types::{Position, Range};
use skillpm_format::document::LineIndex;

/// The lines of a text. They end with LF, CRLF or CR, as the protocol says.
pub(crate) struct Lines<'a> {
    text: &'a str,
    index: LineIndex<'a>,
    /// Whether columns count bytes; otherwise they count units of UTF-16.
    utf8: bool,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str, utf8: bool) -> Self {
        Self { text, index: LineIndex::new(text), utf8 }
    }

    /// Returns the position of byte `offset`; an offset beyond the end means the end.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        // A byte-order mark is before the first line.
        let before = &self.text[self.index.start(offset).min(offset)..offset];
        let column = if self.utf8 { before.len() } else { before.encode_utf16().count() };
        let number = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Position::new(number(self.index.line(offset) - 1), number(column))
    }

    pub(crate) fn range(&self, span: &ops::Range<usize>) -> Range {
        Range::new(self.position(span.start), self.position(span.end))
    }

    /// Returns the byte at `position`; a column beyond the end of its line means that end.
    pub(crate) fn offset(&self, position: Position) -> usize {
        let number = |number| usize::try_from(number).unwrap_or(usize::MAX);
        let (line, column) = (number(position.line), number(position.character));
        let Some(span) = self.index.span(line.saturating_add(1)) else { return self.text.len() };
        let start = span.start;
        let line = self.text[span].trim_end_matches(['\r', '\n']);
        if self.utf8 {
            return start + line.floor_char_boundary(column);
        }
        let mut units = 0;
        let reaches = |(_, character): &(usize, char)| {
            units += character.len_utf16();
            units > column
        };
        start + line.char_indices().find(reaches).map_or(line.len(), |(at, _)| at)
    }

    /// Returns the bytes in `range`; a range that ends before it starts is empty.
    pub(crate) fn span(&self, range: Range) -> ops::Range<usize> {
        let start = self.offset(range.start);
        start..self.offset(range.end).max(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_units_of_the_encoding() {
        let text = "a\r\né😀x\r\ry\n";
        let (wide, narrow) = (Lines::new(text, false), Lines::new(text, true));
        for (offset, line, units, bytes) in [
            (0, 0, 0, 0),
            (1, 0, 1, 1),
            (3, 1, 0, 0),
            (5, 1, 1, 2),
            (9, 1, 3, 6),
            (10, 1, 4, 7),
            (12, 3, 0, 0),
            (14, 4, 0, 0),
        ] {
            for (lines, column) in [(&wide, units), (&narrow, bytes)] {
                assert_eq!(lines.position(offset), Position::new(line, column), "{offset}");
                assert_eq!(lines.offset(Position::new(line, column)), offset);
            }
        }
        assert_eq!(wide.position(6), Position::new(1, 1), "inside of a character");
        assert_eq!(wide.offset(Position::new(1, 2)), 5, "between halves of a pair");
        assert_eq!([wide.offset(Position::new(1, 99)), narrow.offset(Position::new(9, 9))], [10, 14]);
        assert_eq!(wide.span(Range::new(Position::new(1, 1), Position::new(0, 0))), 5..5);
    }
}
