//! The tokens of a Python file, in logical lines.
//!
//! Covers only what docstrings and calls need: strings of all kinds, comments, brackets, continued lines
//! and indentation. Reading never fails; if the rest of a file cannot be read, the result is marked.

use std::ops::Range;

/// The maximum nesting depth of formatted strings.
const MAX_NESTED: usize = 16;

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token<'a> {
    /// A name or a keyword.
    Name(&'a str),
    /// A number.
    Number(&'a str),
    /// A plain string.
    Text(String),
    /// A formatted string or bytes, as the text between the quotes.
    Formatted(&'a str),
    /// Any other token.
    Op(&'a str),
}

impl Token<'_> {
    pub(super) fn is_op(&self, text: &str) -> bool {
        matches!(self, Token::Op(op) if *op == text)
    }

    pub(super) fn is_name(&self, text: &str) -> bool {
        matches!(self, Token::Name(name) if *name == text)
    }
}

/// A logical line, which is a statement or several separated by semicolons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// The indentation.
    pub(super) indent: usize,
    /// The byte of its first token.
    pub(super) at: usize,
    /// The indices of its tokens.
    pub(super) words: Range<usize>,
}

/// The tokens of a file.
#[derive(Debug, Default)]
pub(super) struct Source<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    pub(super) lines: Vec<Line>,
    /// Whether a string or bracket has no end, so nothing after it is reliable.
    pub(super) broken: bool,
}

impl<'a> Source<'a> {
    /// Returns the tokens of a line.
    pub(super) fn words(&self, line: &Line) -> &[Token<'a>] {
        &self.tokens[line.words.clone()]
    }

    /// Reports whether these names, joined by dots, occur in the file.
    pub(super) fn mentions(&self, names: &[&str]) -> bool {
        self.tokens.windows(names.len() * 2 - 1).any(|here| {
            here.iter().enumerate().all(|(index, token)| {
                if index % 2 == 0 { token.is_name(names[index / 2]) } else { token.is_op(".") }
            })
        })
    }

    /// Returns the number of calls of anything called `name`, on any object.
    pub(super) fn calls(&self, name: &str) -> usize {
        self.tokens.windows(2).filter(|pair| pair[0].is_name(name) && pair[1].is_op("(")).count()
    }
}

const LONG_OPS: [&str; 24] = [
    "**=", "//=", ">>=", "<<=", "...", "->", ":=", "**", "//", "==", "!=", "<=", ">=", "<<", ">>", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=",
];

/// Splits a file into tokens in linear time.
pub(super) fn read(text: &str) -> Source<'_> {
    let mut reader = Reader { text, at: 0, depth: 0, source: Source::default() };
    reader.run();
    reader.source
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    source: Source<'a>,
}

impl Reader<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn run(&mut self) {
        while self.at < self.text.len() {
            let indent = self.indent();
            let (start, at) = (self.source.tokens.len(), self.at);
            self.line();
            let words = start..self.source.tokens.len();
            if !words.is_empty() {
                self.source.lines.push(Line { indent, at, words });
            }
        }
        self.source.broken |= self.depth > 0;
    }

    fn indent(&mut self) -> usize {
        let mut indent = 0;
        loop {
            match self.byte(0) {
                b' ' => indent += 1,
                b'\t' => indent = (indent / 8 + 1) * 8,
                b'\x0c' => indent = 0,
                _ => return indent,
            }
            self.at += 1;
        }
    }

    /// Reads one logical line and the line ending after it.
    fn line(&mut self) {
        while self.at < self.text.len() {
            match self.byte(0) {
                b'\n' | b'\r' => {
                    self.at += 1;
                    if self.depth == 0 {
                        return;
                    }
                }
                b' ' | b'\t' | b'\x0c' => self.at += 1,
                b'\\' => self.at += 1 + usize::from(self.byte(1) == b'\r') + usize::from(self.byte(1) != 0),
                b'#' => {
                    let rest = &self.text.as_bytes()[self.at..];
                    self.at += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
                }
                _ => self.word(),
            }
            // A continued line may stop inside a multi-byte character.
            self.at = self.text.ceil_char_boundary(self.at);
        }
    }

    fn word(&mut self) {
        let rest = &self.text[self.at..];
        let first = rest.chars().next().unwrap_or(' ');
        if matches!(first, '"' | '\'') {
            return self.string("");
        }
        if first.is_alphabetic() || first == '_' || !first.is_ascii() {
            let fits = |c: char| c.is_alphanumeric() || c == '_' || !c.is_ascii();
            let length = rest.find(|c| !fits(c)).unwrap_or(rest.len());
            let name = &rest[..length];
            self.at += length;
            if matches!(self.byte(0), b'"' | b'\'') && is_prefix(name) {
                return self.string(name);
            }
            return self.source.tokens.push(Token::Name(name));
        }
        if first.is_ascii_digit() || (first == '.' && self.byte(1).is_ascii_digit()) {
            return self.number();
        }
        let long = LONG_OPS.into_iter().find(|op| rest.starts_with(op));
        let op = long.unwrap_or(&rest[..first.len_utf8()]);
        self.at += op.len();
        match op {
            "(" | "[" | "{" => self.depth += 1,
            ")" | "]" | "}" => {
                self.source.broken |= self.depth == 0;
                self.depth = self.depth.saturating_sub(1);
            }
            _ => {}
        }
        self.source.tokens.push(Token::Op(op));
    }

    fn number(&mut self) {
        let start = self.at;
        loop {
            let signed = matches!(self.byte(0), b'e' | b'E') && matches!(self.byte(1), b'+' | b'-');
            match self.byte(0) {
                _ if signed && !self.text[start..self.at].starts_with("0x") => self.at += 2,
                b'.' | b'_' => self.at += 1,
                byte if byte.is_ascii_alphanumeric() => self.at += 1,
                _ => break,
            }
        }
        self.source.tokens.push(Token::Number(&self.text[start..self.at]));
    }

    /// Reads the string whose opening quote is next.
    fn string(&mut self, prefix: &str) {
        let bytes = self.text.as_bytes();
        let has = |kind: char| prefix.chars().any(|c| c.eq_ignore_ascii_case(&kind));
        let quote = quote_at(bytes, self.at);
        let start = self.at + quote;
        let formatted = has('f') || has('t');
        let (end, whole) = match skip_string(bytes, self.at, formatted, 0) {
            Some(end) => (end, true),
            // The rest cannot be read reliably, and searching for the end of each string would take quadratic time.
            None if quote == 3 || formatted => (bytes.len(), false),
            None => (line_end(bytes, self.at), false),
        };
        self.source.broken |= !whole;
        self.at = end;
        let inner = if whole { &self.text[start..end - quote] } else { "" };
        self.source.tokens.push(if formatted || has('b') || !whole {
            Token::Formatted(inner)
        } else if has('r') {
            Token::Text(inner.to_owned())
        } else {
            Token::Text(unescaped(inner))
        });
    }
}

fn is_prefix(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    matches!(lower.as_str(), "r" | "u" | "b" | "f" | "t" | "br" | "rb" | "fr" | "rf" | "tr" | "rt")
}

/// Returns the number of quotes at `at`: 3 for triple quotes, otherwise 1.
fn quote_at(bytes: &[u8], at: usize) -> usize {
    let quote = bytes[at];
    if bytes[at..].starts_with(&[quote; 3]) { 3 } else { 1 }
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr::memchr2(b'\n', b'\r', &bytes[at..]).map_or(bytes.len(), |length| at + length)
}

/// Returns the end of the string whose quotes are at `at`; `None` if it has no end.
fn skip_string(bytes: &[u8], at: usize, formatted: bool, nested: usize) -> Option<usize> {
    let quote = bytes[at];
    let length = quote_at(bytes, at);
    let mut at = at + length;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            // In raw strings, too, a quote after a backslash does not end the string.
            b'\\' => at += 2,
            b'\n' | b'\r' if length == 1 => return None,
            _ if byte == quote && bytes[at..].starts_with(&[quote; 3][..length]) => return Some(at + length),
            b'{' if formatted && bytes.get(at + 1) == Some(&b'{') => at += 2,
            b'{' if formatted => at = skip_field(bytes, at + 1, quote, nested + 1)?,
            _ => at += 1,
        }
    }
    None
}

/// Returns the end of the replacement field whose opening brace is before `at`. It may contain strings with the same
/// quotes, but not after a colon.
fn skip_field(bytes: &[u8], mut at: usize, quote: u8, nested: usize) -> Option<usize> {
    if nested > MAX_NESTED {
        return None;
    }
    let mut depth = 0_usize;
    let mut in_format = false;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'{' if in_format => at = skip_field(bytes, at + 1, quote, nested + 1)?,
            b'}' if in_format || depth == 0 => return Some(at + 1),
            _ if in_format && byte == quote => return None,
            b':' if depth == 0 && !in_format => {
                in_format = true;
                at += 1;
            }
            b'"' | b'\'' if !in_format => {
                let before = &bytes[..at];
                let letters = before.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).take(3);
                let formatted = letters.into_iter().any(|byte| matches!(byte, b'f' | b'F' | b't' | b'T'));
                at = skip_string(bytes, at, formatted, nested)?;
            }
            b'(' | b'[' | b'{' => {
                depth += 1;
                at += 1;
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            _ => at += 1,
        }
    }
    None
}

/// Returns the value of a string, with its escapes replaced.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let Some(escape) = after.chars().next() else {
            out.push('\\');
            return out;
        };
        let mut used = escape.len_utf8();
        let mut code = |digits: usize| {
            let hex = after.get(1..=digits)?;
            let c = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32)?;
            used += digits;
            Some(c)
        };
        match escape {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            '\\' | '\'' | '"' => out.push(escape),
            '\n' => {}
            'x' => out.extend(code(2)),
            'u' => out.extend(code(4)),
            'U' => out.extend(code(8)),
            _ => {
                out.push('\\');
                out.push(escape);
            }
        }
        rest = &after[used..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<Token<'_>> {
        read(text).tokens
    }

    #[test]
    fn strings_of_all_kinds() {
        for (source, expected) in [
            ("'a'", Token::Text("a".into())),
            ("\"it's\"", Token::Text("it's".into())),
            ("'''a\n'b'''", Token::Text("a\n'b".into())),
            ("r'\\n'", Token::Text("\\n".into())),
            ("'\\n\\x41\\u00e9\\\\\\'\\d\\\nx'", Token::Text("\nAé\\'\\dx".into())),
            ("u'x'", Token::Text("x".into())),
            ("b'x'", Token::Formatted("x")),
            ("f'{x}'", Token::Formatted("{x}")),
            ("f'{x['a']}'", Token::Formatted("{x['a']}")),
            ("f\"{x:'>9}\"", Token::Formatted("{x:'>9}")),
            ("f'{{'", Token::Formatted("{{")),
            ("f'{f\"{f'{1}'}\"}'", Token::Formatted("{f\"{f'{1}'}\"}")),
            ("f'{x:{y}}'", Token::Formatted("{x:{y}}")),
            ("''", Token::Text(String::new())),
        ] {
            let found = read(source);
            assert_eq!((&found.tokens[..], found.broken), (&[expected][..], false), "{source}");
        }
    }

    #[test]
    fn logical_lines() {
        let source = read("#!/x\nif a: # c\n\tb(1,\n  2)\n\\\nd = \\\n 1e-5\n\n'''\n# '''; x->y\n");
        let lines: Vec<_> = source.lines.iter().map(|line| (line.indent, line.words.len())).collect();
        assert_eq!(lines, [(0, 3), (8, 6), (0, 3), (0, 5)]);
        assert!(source.tokens.contains(&Token::Number("1e-5")) && source.tokens.contains(&Token::Op("->")));
        assert!(!source.broken);
    }

    #[test]
    fn what_has_no_end_is_told() {
        for source in ["'a\nb = 1\n", "f'{", "'''", "(", ")", "f'{'", "\"\\", "f'{x:'}'"] {
            assert!(read(source).broken, "{source}");
        }
        assert!(texts("'a\nb = 1\n").contains(&Token::Name("b")));
    }

    proptest! {
        #[test]
        fn any_text_is_taken_apart(text in "(a|f|r|'|\"|'''|\"\"\"|\\{|\\}|\\(|\\)|:|\\\\|\n|\r| |\t|#|é|1|\\.|=|日){0,60}") {
            let source = read(&text);
            prop_assert!(source.lines.iter().all(|line| !line.words.is_empty()));
            prop_assert_eq!(source.lines.last().map_or(0, |line| line.words.end), source.tokens.len());
        }
    }
}
