//! Text: without quotes, in quotes and in blocks.

use super::reader::{END, Mark, is_end, is_end_or_blank};
use super::scan::{Kind, Scanner, Token};
use super::{Cause, Stop};
use crate::document::Style;

/// Returns the character that a backslash before `c` in double quotes stands for.
fn escaped(c: char) -> Option<char> {
    Some(match c {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        ' ' | '"' | '/' | '\\' => c,
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        _ => return None,
    })
}

impl Scanner<'_> {
    /// Scans text without quotes.
    pub(super) fn plain(&mut self) -> Token {
        let start = self.reader.mark();
        let indent = self.indent.map_or(0, |indent| indent + 1);
        let mut text = String::new();
        let mut spaces = String::new();
        let mut end = start;
        while self.reader.peek(0) != '#' {
            let length = self.plain_length();
            if length == 0 {
                break;
            }
            self.allow_key = false;
            text.push_str(&spaces);
            text.push_str(&self.reader.take(length));
            end = self.reader.mark();
            spaces = self.plain_spaces();
            if spaces.is_empty() || self.reader.mark().column < indent {
                break;
            }
        }
        Token {
            end: end.index,
            trailing: spaces.starts_with('\n'),
            ..self.token(Kind::Scalar(text, Style::Plain), start)
        }
    }

    /// Returns the number of characters up to a blank, a line end or a colon that ends a key.
    fn plain_length(&self) -> usize {
        let mut length = 0;
        loop {
            let c = self.reader.peek(length);
            if is_end_or_blank(c) || (c == ':' && is_end_or_blank(self.reader.peek(length + 1))) {
                return length;
            }
            length += 1;
        }
    }

    /// Returns the blanks and line ends inside plain text, folded; an empty text if the plain text ends.
    fn plain_spaces(&mut self) -> String {
        let blanks = self.reader.count(|c| c == ' ');
        let blanks = self.reader.take(blanks);
        let Some(first) = self.reader.line_break() else {
            return blanks;
        };
        self.allow_key = true;
        let mut breaks = String::new();
        if self.reader.at_document_end() {
            return String::new();
        }
        loop {
            if self.reader.peek(0) == ' ' {
                self.reader.forward(1);
            } else if let Some(c) = self.reader.line_break() {
                breaks.push(c);
                if self.reader.at_document_end() {
                    return String::new();
                }
            } else {
                return folded(first, &breaks);
            }
        }
    }

    /// Scans text in quotes.
    pub(super) fn quoted(&mut self, quote: char) -> Result<Token, Stop> {
        let start = self.reader.mark();
        self.reader.forward(1);
        let mut text = String::new();
        self.quoted_word(quote, start, &mut text)?;
        while self.reader.peek(0) != quote {
            self.quoted_spaces(start, &mut text)?;
            self.quoted_word(quote, start, &mut text)?;
        }
        self.reader.forward(1);
        let style = if quote == '"' { Style::DoubleQuoted } else { Style::SingleQuoted };
        Ok(self.token(Kind::Scalar(text, style), start))
    }

    fn quoted_word(&mut self, quote: char, start: Mark, text: &mut String) -> Result<(), Stop> {
        let double = quote == '"';
        loop {
            let length = self.reader.count(|c| !is_end_or_blank(c) && !matches!(c, '\'' | '"' | '\\'));
            text.push_str(&self.reader.take(length));
            match (self.reader.peek(0), double) {
                ('\'', false) if self.reader.peek(1) == '\'' => {
                    text.push('\'');
                    self.reader.forward(2);
                }
                (c @ '\'', true) | (c @ ('"' | '\\'), false) => {
                    text.push(c);
                    self.reader.forward(1);
                }
                ('\\', true) => self.escape(start, text)?,
                _ => return Ok(()),
            }
        }
    }

    fn escape(&mut self, start: Mark, text: &mut String) -> Result<(), Stop> {
        let refused = self.stop(Cause::Escape);
        self.reader.forward(1);
        let c = self.reader.peek(0);
        if let Some(plain) = escaped(c) {
            text.push(plain);
            self.reader.forward(1);
            return Ok(());
        }
        let length = match c {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ if self.reader.line_break().is_some() => return self.quoted_breaks(start, text),
            _ => return Err(refused),
        };
        self.reader.forward(1);
        let digits = self.reader.take(length);
        if !digits.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(refused);
        }
        match u32::from_str_radix(&digits, 16) {
            // Half of a surrogate pair counts as one character.
            Ok(number @ ..=0x0010_FFFF) => text.push(char::from_u32(number).unwrap_or('\u{fffd}')),
            _ => return Err(refused),
        }
        Ok(())
    }

    fn quoted_spaces(&mut self, start: Mark, text: &mut String) -> Result<(), Stop> {
        let blanks = self.reader.count(|c| matches!(c, ' ' | '\t'));
        let blanks = self.reader.take(blanks);
        if self.reader.peek(0) == END {
            return Err(Stop {
                cause: Cause::Unclosed,
                span: self.reader.bytes(start.index, start.index + 1),
            });
        }
        if let Some(first) = self.reader.line_break() {
            let mut breaks = String::new();
            self.quoted_breaks(start, &mut breaks)?;
            text.push_str(&folded(first, &breaks));
        } else {
            text.push_str(&blanks);
        }
        Ok(())
    }

    fn quoted_breaks(&mut self, start: Mark, text: &mut String) -> Result<(), Stop> {
        loop {
            if self.reader.at_document_end() {
                let span = self.reader.bytes(start.index, start.index + 1);
                return Err(Stop { cause: Cause::Unclosed, span });
            }
            let blanks = self.reader.count(|c| matches!(c, ' ' | '\t'));
            self.reader.forward(blanks);
            match self.reader.line_break() {
                Some(c) => text.push(c),
                None => return Ok(()),
            }
        }
    }

    /// Scans a block after `|` or `>`.
    pub(super) fn block_scalar(&mut self, indicator: char) -> Result<Token, Stop> {
        let start = self.reader.mark();
        self.reader.forward(1);
        let (keep, increment, leading) = self.block_header()?;
        let least = self.indent.map_or(0, |indent| indent + 1);
        // Only at the top level can a block be as far left as the end of the document.
        let may_end = least == 0 && increment.is_none();
        let (indent, mut breaks) = if let Some(increment) = increment {
            let indent = least.max(1) + increment - 1;
            (indent, self.block_breaks(indent))
        } else {
            let (breaks, deepest) = self.block_indentation();
            (least.max(deepest), breaks)
        };
        let mut text = String::new();
        let mut last = String::new();
        while self.reader.mark().column == indent && self.reader.peek(0) != END {
            text.push_str(&breaks);
            let leading_blank = matches!(self.reader.peek(0), ' ' | '\t');
            let length = self.reader.count(|c| !is_end(c));
            text.push_str(&self.reader.take(length));
            last = self.reader.line_break().map(String::from).unwrap_or_default();
            breaks = self.block_breaks(indent);
            let ends = may_end && self.reader.mark().column == 0 && self.reader.at_document_end();
            if ends || self.reader.mark().column != indent || self.reader.peek(0) == END {
                break;
            }
            let folds = indicator == '>' && last == "\n" && !leading_blank;
            if !folds || matches!(self.reader.peek(0), ' ' | '\t') {
                text.push_str(&last);
            } else if breaks.is_empty() {
                text.push(' ');
            }
        }
        if keep != Some(false) {
            text.push_str(&last);
        }
        let end = self.reader.mark();
        let trailing = keep != Some(true) && !breaks.is_empty();
        if keep == Some(true) {
            text.push_str(&breaks);
        } else if trailing {
            self.skip();
        }
        let style = if indicator == '|' { Style::Literal } else { Style::Folded };
        Ok(Token { end: end.index, trailing, leading, ..self.token(Kind::Scalar(text, style), start) })
    }

    /// Returns whether the last line ends are kept (`+`) or dropped (`-`), how much the block is indented, and whether
    /// it has a comment.
    fn block_header(&mut self) -> Result<(Option<bool>, Option<usize>, bool), Stop> {
        let (mut keep, mut increment) = (None, None);
        for _ in 0..2 {
            match self.reader.peek(0) {
                c @ ('+' | '-') if keep.is_none() => keep = Some(c == '+'),
                c @ '1'..='9' if increment.is_none() => increment = c.to_digit(10).map(|n| n as usize),
                _ => break,
            }
            self.reader.forward(1);
        }
        let glued = self.reader.peek(0) == '#';
        let blanks = self.reader.count(|c| c == ' ');
        self.reader.forward(blanks);
        let has_comment = self.reader.peek(0) == '#' && !glued;
        if has_comment {
            let comment = self.reader.count(|c| !is_end(c));
            self.reader.forward(comment);
        }
        if !is_end(self.reader.peek(0)) {
            return Err(self.stop(Cause::BlockHeader));
        }
        self.reader.line_break();
        Ok((keep, increment, has_comment))
    }

    /// Returns the line ends before the first line with text, and the deepest indentation among them.
    fn block_indentation(&mut self) -> (String, usize) {
        let (mut breaks, mut deepest) = (String::new(), 0);
        loop {
            if self.reader.peek(0) == ' ' {
                self.reader.forward(1);
                deepest = deepest.max(self.reader.mark().column);
            } else if let Some(c) = self.reader.line_break() {
                breaks.push(c);
            } else {
                return (breaks, deepest);
            }
        }
    }

    /// Returns the line ends of empty lines in a block; the cursor moves over the indentation.
    fn block_breaks(&mut self, indent: usize) -> String {
        let mut breaks = String::new();
        loop {
            while self.reader.mark().column < indent && self.reader.peek(0) == ' ' {
                self.reader.forward(1);
            }
            match self.reader.line_break() {
                Some(c) => breaks.push(c),
                None => return breaks,
            }
        }
    }
}

/// Returns the meaning of a line end and the empty lines after it in folded text.
fn folded(first: char, breaks: &str) -> String {
    match (first, breaks) {
        ('\n', "") => " ".to_owned(),
        ('\n', breaks) => breaks.to_owned(),
        (first, breaks) => format!("{first}{breaks}"),
    }
}
