//! The characters of a text as the reference's YAML reader sees them.

use std::ops::Range;

/// The character that stands for the end of the text.
pub(super) const END: char = '\0';

/// Reports whether `c` ends a line for the reference's reader, or is the end.
pub(super) fn is_end(c: char) -> bool {
    matches!(c, END | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Reports whether `c` ends a line, is the end, or is a blank.
pub(super) fn is_end_or_blank(c: char) -> bool {
    is_end(c) || matches!(c, ' ' | '\t')
}

/// A place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// The number of characters before it.
    pub(super) index: usize,
    /// The line, from 0.
    pub(super) line: usize,
    /// The column, from 0.
    pub(super) column: usize,
}

/// A cursor over characters that knows the bytes they come from.
pub(super) struct Reader {
    characters: Vec<(char, usize)>,
    end: usize,
    at: Mark,
}

impl Reader {
    /// Reads `text`, which starts at byte `base` of the file. CRLF and CR become line feeds.
    pub(super) fn new(text: &str, base: usize) -> Self {
        let characters = text
            .char_indices()
            .filter(|(at, c)| *c != '\r' || !text[at + 1..].starts_with('\n'))
            .map(|(at, c)| (if c == '\r' { '\n' } else { c }, base + at))
            .collect();
        Self { characters, end: base + text.len(), at: Mark { index: 0, line: 0, column: 0 } }
    }

    /// Returns the character `ahead` of the cursor.
    pub(super) fn peek(&self, ahead: usize) -> char {
        self.characters.get(self.at.index + ahead).map_or(END, |(c, _)| *c)
    }

    /// Moves over `count` characters, at most to the end.
    pub(super) fn forward(&mut self, count: usize) {
        for _ in 0..count {
            let Some((c, _)) = self.characters.get(self.at.index) else { return };
            self.at.index += 1;
            // The other line ends count as characters of their line, as in the reference.
            match c {
                '\n' => {
                    self.at.line += 1;
                    self.at.column = 0;
                }
                '\u{feff}' => {}
                _ => self.at.column += 1,
            }
        }
    }

    /// Returns the next `count` characters and moves over them.
    pub(super) fn take(&mut self, count: usize) -> String {
        let text = (0..count).map(|ahead| self.peek(ahead)).collect();
        self.forward(count);
        text
    }

    /// Returns the number of characters from the cursor on for which `wanted` holds, up to the end.
    pub(super) fn count(&self, wanted: impl Fn(char) -> bool) -> usize {
        self.characters[self.at.index..].iter().take_while(|(c, _)| wanted(*c)).count()
    }

    /// Returns the position of the cursor.
    pub(super) fn mark(&self) -> Mark {
        self.at
    }

    /// Moves over a line end and returns the character it stands for.
    pub(super) fn line_break(&mut self) -> Option<char> {
        match self.peek(0) {
            '\n' | '\u{85}' => {
                self.forward(1);
                Some('\n')
            }
            c @ ('\u{2028}' | '\u{2029}') => {
                self.forward(1);
                Some(c)
            }
            _ => None,
        }
    }

    /// Reports whether `...` is at the cursor, followed by a blank or a line end.
    pub(super) fn at_document_end(&self) -> bool {
        (0..3).all(|ahead| self.peek(ahead) == '.') && is_end_or_blank(self.peek(3))
    }

    /// Returns the bytes of the file between two positions.
    pub(super) fn bytes(&self, start: usize, end: usize) -> Range<usize> {
        self.byte(start)..self.byte(end)
    }

    fn byte(&self, index: usize) -> usize {
        self.characters.get(index).map_or(self.end, |(_, at)| *at)
    }

    /// Returns the first character that the reader refuses, with its bytes.
    pub(super) fn refused(&self) -> Option<(char, Range<usize>)> {
        let refused = |c: char| {
            (c.is_control() && !matches!(c, '\t' | '\n' | '\u{85}')) || matches!(c, '\u{fffe}' | '\u{ffff}')
        };
        let (c, at) = self.characters.iter().find(|(c, _)| refused(*c))?;
        Some((*c, *at..*at + c.len_utf8()))
    }
}
