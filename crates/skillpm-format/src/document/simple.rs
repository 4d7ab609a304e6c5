//! A fast path for frontmatter in the form in which nearly everybody writes it.
//!
//! Lines of `key: value` with plain or quoted text, a block of text, a list or one mapping below a key: that needs no
//! YAML parser, which takes most of the time spent on reading a skill. This reader builds exactly the tree that
//! [`super::tree::parse`] builds, or nothing at all: anything that is not clearly one of those shapes is left to the
//! parser. The tests compare the two.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::tree::{Layout, Node, Style, Value};

/// The maximum length of a key, in bytes; YAML stops looking for the colon much later.
const MAX_KEY: usize = 100;
/// The usual maximum number of entries in a mapping.
const USUAL_ENTRIES: usize = 6;
/// The usual maximum number of bytes in a text of several lines.
const USUAL_BLOCK: usize = 1024;
/// The maximum number of entries of one collection: duplicate keys are found by comparing all pairs.
const MAX_ENTRIES: usize = 64;

/// Reads `yaml`, which starts at byte `base` of the file. Returns `None` if it needs the parser.
pub(super) fn parse(yaml: &str, base: usize) -> Option<Node> {
    if !yaml.ends_with('\n') || !is_usual(yaml) {
        return None;
    }
    let mut reader = Reader { yaml, base, at: 0, next: Line::first(yaml), end: 0 };
    let root = reader.mapping(0)?;
    (reader.at == yaml.len()).then_some(root)
}

/// Reports whether `yaml` has only characters without a special meaning to a parser: no control character except LF,
/// and none that YAML 1.1 treats as a line end or drops.
fn is_usual(yaml: &str) -> bool {
    // The loop runs to the end, so that the compiler can process many bytes at a time.
    let is_control = |byte: u8| u8::from(byte < b' ') & u8::from(byte != b'\n') | u8::from(byte == 0x7f);
    let (controls, all) =
        yaml.bytes().fold((0, 0), |(controls, all), byte| (controls | is_control(byte), all | byte));
    let is_odd =
        |c| matches!(c, '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    controls == 0 && (all.is_ascii() || !yaml.chars().any(is_odd))
}

/// A line without its line ending.
#[derive(Clone, Copy)]
struct Line<'a> {
    text: &'a str,
    /// The number of spaces it starts with.
    indent: usize,
}

impl<'a> Line<'a> {
    /// Returns the first line of `text`. Returns `None` if no line has an end.
    fn first(text: &'a str) -> Option<Self> {
        let text = &text[..memchr::memchr(b'\n', text.as_bytes())?];
        Some(Self { text, indent: spaces(text.bytes()) })
    }
}

struct Reader<'a> {
    yaml: &'a str,
    base: usize,
    /// Where the next line starts.
    at: usize,
    /// The next line, which is needed several times.
    next: Option<Line<'a>>,
    /// The end of the last value read, as a byte of the file.
    end: usize,
}

impl<'a> Reader<'a> {
    /// Returns the next line without consuming it. Returns `None` at the end.
    fn peek(&self) -> Option<Line<'a>> {
        self.next
    }

    /// Moves past `line`, which is the next one.
    fn skip(&mut self, line: &Line<'_>) {
        self.at += line.text.len() + 1;
        self.next = Line::first(&self.yaml[self.at..]);
    }

    /// Returns the indentation of the lines that belong to the key above them. Returns `None` if there are none.
    fn indent_below(&self) -> Option<usize> {
        self.peek().map(|line| line.indent).filter(|indent| *indent > 0)
    }

    /// Reads the lines with `indent` as a mapping. Others may only follow if they belong further out.
    fn mapping(&mut self, indent: usize) -> Option<Node> {
        let start = self.base + self.at + indent;
        let mut pairs: Vec<(Node, Node)> = Vec::with_capacity(USUAL_ENTRIES);
        while let Some(line) = self.next_of(indent, !pairs.is_empty())? {
            let length = key_length(&line.text[indent..])?;
            let name = &line.text[indent..indent + length];
            if pairs.len() == MAX_ENTRIES || pairs.iter().any(|(key, _)| key.text() == Some(name)) {
                return None;
            }
            let key = self.scalar(self.span(indent..indent + length), name, Style::Plain);
            self.skip(&line);
            let value = self.value(&line, indent + length + 1, indent)?;
            pairs.push((key, value));
        }
        (!pairs.is_empty())
            .then_some(Node { span: start..self.end, value: Value::Mapping { pairs, layout: Layout::Block } })
    }

    /// Reads the lines with `indent` as a list.
    fn list(&mut self, indent: usize) -> Option<Node> {
        let start = self.base + self.at + indent;
        let mut items = Vec::new();
        while let Some(line) = self.next_of(indent, !items.is_empty())? {
            let text = line.text[indent..].strip_prefix("- ")?;
            let from = line.text.len() - text.len() + spaces(text.bytes());
            self.skip(&line);
            let item = self.inline(&line, from)?;
            if items.len() == MAX_ENTRIES {
                return None;
            }
            items.push(item);
        }
        (!items.is_empty()).then_some(Node {
            span: start..self.end,
            value: Value::Sequence { items, layout: Layout::Block },
        })
    }

    /// Returns the next line if it has `indent`. Returns `Some(None)` if the collection ends before it, and `None` if
    /// the line belongs to nothing.
    #[expect(clippy::option_option, reason = "the outer one is for `?` and means: ask the parser")]
    fn next_of(&self, indent: usize, may_end: bool) -> Option<Option<Line<'a>>> {
        match self.peek() {
            Some(line) if line.indent == indent => Some(Some(line)),
            None if may_end => Some(None),
            Some(line) if line.indent == 0 && may_end => Some(None),
            _ => None,
        }
    }

    /// Reads the value after the colon, which ends before byte `from` of `line`, or below that line. The key was the
    /// last thing read.
    fn value(&mut self, line: &Line<'a>, from: usize, indent: usize) -> Option<Node> {
        let rest = &line.text[from..];
        let text = &rest[spaces(rest.bytes())..];
        let from = line.text.len() - text.len();
        match text.as_bytes().first() {
            None => match self.indent_below() {
                Some(below) if indent == 0 => {
                    let is_list = self.peek()?.text[below..].starts_with("- ");
                    if is_list { self.list(below) } else { self.mapping(below) }
                }
                Some(below) if below > indent => None,
                _ => Some(self.scalar(self.end..self.end, "", Style::Plain)),
            },
            Some(b'>' | b'|') if indent == 0 => self.block(text),
            Some(_) => self.inline(line, from),
        }
    }

    /// Reads the text that starts at byte `from` of `line`, already skipped, and ends on it.
    fn inline(&mut self, line: &Line<'a>, from: usize) -> Option<Node> {
        let text = &line.text[from..];
        let text = &text[..text.len() - spaces(text.bytes().rev())];
        let first = *text.as_bytes().first()?;
        // A plain text continues if the next line is indented deeper.
        if self.indent_below().is_some_and(|below| below > line.indent) {
            return None;
        }
        let start = self.base + self.at - line.text.len() - 1 + from;
        let span = start..start + text.len();
        match first {
            b'"' | b'\'' => {
                let inner = text.get(1..text.len() - 1).filter(|_| text.len() > 1)?;
                let closed = text.as_bytes()[text.len() - 1] == first;
                if !closed || memchr::memchr2(first, b'\\', inner.as_bytes()).is_some() {
                    return None;
                }
                let style = if first == b'"' { Style::DoubleQuoted } else { Style::SingleQuoted };
                Some(self.scalar(span, inner, style))
            }
            _ if is_plain(text) => Some(self.scalar(span, text, Style::Plain)),
            _ => None,
        }
    }

    /// Reads the block of text below the line, already skipped, that ends with `header`.
    fn block(&mut self, header: &str) -> Option<Node> {
        let (style, strip) = match header {
            ">" => (Style::Folded, false),
            ">-" => (Style::Folded, true),
            "|" => (Style::Literal, false),
            "|-" => (Style::Literal, true),
            _ => return None,
        };
        let indent = self.indent_below()?;
        // The parser reports that a block starts with its text, not with its header.
        let start = self.base + self.at + indent;
        // More than needed, for a text that makes up most of the frontmatter; growing it would move it each time.
        let mut text = String::with_capacity((self.yaml.len() - self.at).min(USUAL_BLOCK));
        while let Some(line) = self.next_of(indent, !text.is_empty())? {
            // Trailing spaces have their own folding rules.
            if line.text.ends_with(' ') {
                return None;
            }
            if !text.is_empty() {
                text.push(if style == Style::Folded { ' ' } else { '\n' });
            }
            text.push_str(&line.text[indent..]);
            self.skip(&line);
        }
        if !strip {
            text.push('\n');
        }
        self.end = self.base + self.at;
        Some(Node { span: start..self.end, value: Value::scalar(text.into(), style) })
    }

    fn scalar(&mut self, span: Range<usize>, text: &'a str, style: Style) -> Node {
        self.end = span.end;
        Node { span, value: Value::scalar(text.into(), style) }
    }

    /// Returns bytes of the next line as bytes of the file.
    fn span(&self, of_line: Range<usize>) -> Range<usize> {
        let start = self.base + self.at;
        start + of_line.start..start + of_line.end
    }
}

/// Returns the number of leading spaces in `bytes`.
fn spaces(bytes: impl Iterator<Item = u8>) -> usize {
    bytes.take_while(|byte| *byte == b' ').count()
}

/// Returns the length of the key that `line` starts with, if it starts with one and a value may follow.
fn key_length(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let length = bytes.iter().take(MAX_KEY).take_while(|byte| is_key(byte)).count();
    let ends = bytes.get(length) == Some(&b':') && matches!(bytes.get(length + 1), None | Some(b' '));
    (ends && bytes[0].is_ascii_alphanumeric()).then_some(length)
}

/// Reports whether every YAML parser reads `text` as text without quotes.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let starts = bytes.first().is_some_and(|byte| {
        byte.is_ascii_alphanumeric() || *byte >= 0x80 || matches!(byte, b'/' | b'(' | b'_' | b'$')
    });
    starts
        && memchr::memchr2_iter(b':', b'#', bytes).all(|at| match bytes[at] {
            b':' => bytes.get(at + 1).is_some_and(|next| *next != b' '),
            _ => at > 0 && bytes[at - 1] != b' ',
        })
}
