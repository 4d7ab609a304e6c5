//! From characters to tokens, like the scanner of the reference.
//!
//! Only block style: anything that starts a list in brackets, a mapping in braces, an anchor, an alias, a tag or a
//! directive ends in a refusal, so scanning stops there.

use super::reader::{END, Mark, Reader, is_end_or_blank};
use super::{Cause, Stop};
use crate::document::Style;

/// The maximum number of characters between the start of a key and its colon.
const MAX_KEY: usize = 1024;

/// The kind of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// The end of the text.
    End,
    /// `...`.
    DocumentEnd,
    /// A list starts.
    Sequence,
    /// A mapping starts.
    Mapping,
    /// A list or a mapping ends.
    BlockEnd,
    /// `-`.
    Entry,
    /// A key comes.
    Key,
    /// `:`.
    Value,
    /// Text.
    Scalar(String, Style),
}

/// A token and its position.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Characters before its start and before its end.
    pub(super) start: usize,
    pub(super) end: usize,
    /// The column of its start.
    pub(super) column: usize,
    /// For `:`, whether a comment follows on its line; for text, whether empty lines follow.
    pub(super) trailing: bool,
    /// Whether a comment before it is kept with it, or for a block the one after its `|`.
    pub(super) leading: bool,
}

/// A place where a key may start whose colon has not been found yet.
struct SimpleKey {
    /// The number of tokens before it.
    token: usize,
    /// Whether only a key can be there.
    required: bool,
    at: Mark,
}

/// The scanner.
pub(super) struct Scanner<'a> {
    pub(super) reader: &'a mut Reader,
    tokens: Vec<Token>,
    /// The column of the innermost block; `None` outside all blocks.
    pub(super) indent: Option<usize>,
    indents: Vec<Option<usize>>,
    /// Whether a key may start here.
    pub(super) allow_key: bool,
    key: Option<SimpleKey>,
    /// The line of the last token, if that is a `:`.
    value_line: Option<usize>,
    /// The number of tokens before each comment that is kept with the next one.
    comments: Vec<usize>,
}

/// Returns all tokens of the text.
pub(super) fn tokens(reader: &mut Reader) -> Result<Vec<Token>, Stop> {
    let mut scanner = Scanner {
        reader,
        tokens: Vec::new(),
        indent: None,
        indents: Vec::new(),
        allow_key: true,
        key: None,
        value_line: None,
        comments: Vec::new(),
    };
    while scanner.advance()? {}
    let Scanner { mut tokens, comments, .. } = scanner;
    for at in comments {
        if let Some(token) = tokens.get_mut(at) {
            token.leading = true;
        }
    }
    Ok(tokens)
}

impl Scanner<'_> {
    /// Scans a token. Returns `false` at the end.
    fn advance(&mut self) -> Result<bool, Stop> {
        if let Some(line) = self.skip() {
            self.comment(line);
        }
        self.forget_stale_key()?;
        self.value_line = None;
        let column = self.reader.mark().column;
        self.unwind(Some(column));
        let blank_next = is_end_or_blank(self.reader.peek(1));
        match self.reader.peek(0) {
            END => return self.end().map(|()| false),
            '.' if column == 0 && self.reader.at_document_end() => self.document_end()?,
            '-' if blank_next => self.entry()?,
            '?' if blank_next => self.complex_key()?,
            ':' if blank_next => self.value()?,
            style @ ('|' | '>') => {
                self.forget_key()?;
                self.allow_key = true;
                let token = self.block_scalar(style)?;
                if token.leading && self.comments.last() == Some(&self.tokens.len()) {
                    let span = self.reader.bytes(token.start, token.start + 1);
                    return Err(Stop { cause: Cause::Comment, span });
                }
                self.tokens.push(token);
            }
            quote @ ('"' | '\'') => {
                self.save_key()?;
                self.allow_key = false;
                let token = self.quoted(quote)?;
                self.tokens.push(token);
            }
            c if starts_plain(c) || (matches!(c, '-' | '?' | ':') && !blank_next) => {
                self.save_key()?;
                self.allow_key = false;
                let token = self.plain();
                self.tokens.push(token);
            }
            '[' | '{' => return Err(self.stop(Cause::Flow)),
            '&' => return Err(self.stop(Cause::Anchor)),
            '*' => return Err(self.stop(Cause::Alias)),
            '!' => return Err(self.stop(Cause::Tag)),
            '\t' => return Err(self.stop(Cause::Tab)),
            c => return Err(self.stop(Cause::Start(c))),
        }
        Ok(true)
    }

    /// Returns a refusal of the character at the cursor.
    pub(super) fn stop(&self, cause: Cause) -> Stop {
        let at = self.reader.mark().index;
        Stop { cause, span: self.reader.bytes(at, at + 1) }
    }

    /// Returns a token from `start` to the cursor.
    pub(super) fn token(&self, kind: Kind, start: Mark) -> Token {
        Token {
            kind,
            start: start.index,
            end: self.reader.mark().index,
            column: start.column,
            trailing: false,
            leading: false,
        }
    }

    /// Moves over blanks, comments and line ends, and returns the line of the first comment. Empty lines are comments
    /// too; they count as part of the line before them after a line end that does not count as one.
    pub(super) fn skip(&mut self) -> Option<usize> {
        let mut first = None;
        if self.reader.mark().index == 0 && self.reader.peek(0) == '\u{feff}' {
            self.reader.forward(1);
        }
        loop {
            let blanks = self.reader.count(|c| c == ' ');
            self.reader.forward(blanks);
            if self.reader.peek(0) == '#' {
                first.get_or_insert(self.reader.mark().line);
                let comment = self.reader.count(|c| !super::reader::is_end(c));
                self.reader.forward(comment);
                while self.reader.line_break().is_some() {}
                self.allow_key = true;
            } else if self.reader.line_break().is_some() {
                self.allow_key = true;
                // After an empty line even tabs are skipped.
                if self.reader.peek(0) == '\n' {
                    first.get_or_insert(self.reader.mark().line);
                    let blank = self
                        .reader
                        .count(|c| matches!(c, '\n' | '\t' | ' ' | '\u{85}' | '\u{2028}' | '\u{2029}'));
                    self.reader.forward(blank);
                }
            } else {
                return first;
            }
        }
    }

    /// Remembers where comments that start on `line` are kept: with the text before them, otherwise with a `:` on that
    /// line, otherwise with the next token.
    fn comment(&mut self, line: usize) {
        match self.tokens.last_mut() {
            Some(Token { kind: Kind::Scalar(..), .. }) => {}
            Some(value) if self.value_line == Some(line) => value.trailing = true,
            _ => self.comments.push(self.tokens.len()),
        }
    }

    fn end(&mut self) -> Result<(), Stop> {
        self.unwind(None);
        self.forget_key()?;
        let at = self.reader.mark();
        self.tokens.push(self.token(Kind::End, at));
        Ok(())
    }

    fn document_end(&mut self) -> Result<(), Stop> {
        self.unwind(None);
        self.forget_key()?;
        self.allow_key = false;
        self.indicator(Kind::DocumentEnd, 3);
        Ok(())
    }

    fn entry(&mut self) -> Result<(), Stop> {
        if !self.allow_key {
            return Err(self.stop(Cause::Entry));
        }
        self.open(Kind::Sequence);
        self.allow_key = true;
        self.forget_key()?;
        self.indicator(Kind::Entry, 1);
        Ok(())
    }

    fn complex_key(&mut self) -> Result<(), Stop> {
        if !self.allow_key {
            return Err(self.stop(Cause::Start('?')));
        }
        self.open(Kind::Mapping);
        self.allow_key = true;
        self.forget_key()?;
        self.indicator(Kind::Key, 1);
        Ok(())
    }

    fn value(&mut self) -> Result<(), Stop> {
        if let Some(key) = self.key.take() {
            let SimpleKey { token, at, .. } = key;
            let here = |kind| Token {
                kind,
                start: at.index,
                end: at.index,
                column: at.column,
                trailing: false,
                leading: false,
            };
            self.tokens.insert(token, here(Kind::Key));
            if self.add_indent(at.column) {
                self.tokens.insert(token, here(Kind::Mapping));
            }
            self.allow_key = false;
        } else {
            if !self.allow_key {
                return Err(self.stop(Cause::Colon));
            }
            self.open(Kind::Mapping);
            self.allow_key = true;
            self.forget_key()?;
        }
        self.indicator(Kind::Value, 1);
        Ok(())
    }

    /// Starts a block at the cursor, if it is deeper than the one around it.
    fn open(&mut self, kind: Kind) {
        let at = self.reader.mark();
        if self.add_indent(at.column) {
            self.tokens.push(self.token(kind, at));
        }
    }

    fn indicator(&mut self, kind: Kind, length: usize) {
        let at = self.reader.mark();
        self.reader.forward(length);
        self.value_line = (kind == Kind::Value).then_some(at.line);
        self.tokens.push(self.token(kind, at));
    }

    /// Ends the blocks that are deeper than `column`.
    fn unwind(&mut self, column: Option<usize>) {
        while self.indent > column {
            self.indent = self.indents.pop().flatten();
            let at = self.reader.mark();
            self.tokens.push(self.token(Kind::BlockEnd, at));
        }
    }

    fn add_indent(&mut self, column: usize) -> bool {
        let deeper = self.indent < Some(column);
        if deeper {
            self.indents.push(self.indent);
            self.indent = Some(column);
        }
        deeper
    }

    fn save_key(&mut self) -> Result<(), Stop> {
        let at = self.reader.mark();
        if self.allow_key {
            self.forget_key()?;
            let required = self.indent == Some(at.column);
            self.key = Some(SimpleKey { token: self.tokens.len(), required, at });
        }
        Ok(())
    }

    fn forget_key(&mut self) -> Result<(), Stop> {
        match self.key.take() {
            Some(SimpleKey { required: true, at, .. }) => {
                Err(Stop { cause: Cause::NoColon, span: self.reader.bytes(at.index, at.index + 1) })
            }
            _ => Ok(()),
        }
    }

    /// Forgets a key whose colon did not follow on the same line and close enough, as every key requires.
    fn forget_stale_key(&mut self) -> Result<(), Stop> {
        let now = self.reader.mark();
        match &self.key {
            Some(SimpleKey { at, .. }) if at.line != now.line || now.index - at.index > MAX_KEY => {
                self.forget_key()
            }
            _ => Ok(()),
        }
    }
}

/// Reports whether text without quotes may start with `c`.
fn starts_plain(c: char) -> bool {
    !is_end_or_blank(c)
        && !matches!(
            c,
            '-' | '?'
                | ':'
                | ','
                | '['
                | ']'
                | '{'
                | '}'
                | '#'
                | '&'
                | '*'
                | '!'
                | '|'
                | '>'
                | '\''
                | '"'
                | '%'
                | '@'
                | '`'
        )
}
