//! A short way through frontmatter that is written as nearly everybody writes it.
//!
//! Lines of `key: value` with plain or quoted text, a block of text, a list or one mapping below a
//! key: that needs no YAML parser, and the parser is what reading a skill spends its time in. This
//! reader makes the very tree that [`super::tree::parse`] makes, or says nothing at all: whatever
//! is not plainly one of those shapes is left to the parser. The tests compare the two.

use std::ops::Range;

use super::tree::{Layout, Node, Style, Value};

/// The longest key, in bytes; YAML stops looking for the colon much later.
const MAX_KEY: usize = 100;
/// The most entries of one collection: repeated keys are looked for by comparing each with each.
const MAX_ENTRIES: usize = 64;

/// Reads `yaml`, which stands at byte `base` of the file. `None` where the parser has to.
pub(super) fn parse(yaml: &str, base: usize) -> Option<Node> {
    if !yaml.ends_with('\n') || !is_usual(yaml) {
        return None;
    }
    let mut reader = Reader { yaml, base, at: 0 };
    let root = reader.mapping(0)?;
    (reader.at == yaml.len()).then_some(root)
}

/// Whether `yaml` has only characters that mean nothing special to a parser: no control character
/// but LF, and none that YAML 1.1 takes for a line end or leaves out.
fn is_usual(yaml: &str) -> bool {
    // Without an early end, so that the compiler can look at many bytes at a time.
    let (odd, wide) = yaml.bytes().fold((false, false), |(odd, wide), byte| {
        (odd | (byte < b' ' && byte != b'\n') | (byte == 0x7f), wide | (byte >= 0x80))
    });
    let is_odd =
        |c| matches!(c, '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    !odd && !(wide && yaml.chars().any(is_odd))
}

/// A line without its end.
struct Line<'a> {
    text: &'a str,
    /// How many spaces it starts with.
    indent: usize,
}

struct Reader<'a> {
    yaml: &'a str,
    base: usize,
    /// Where the next line starts.
    at: usize,
}

impl<'a> Reader<'a> {
    /// The next line, which stays the next one; `None` at the end.
    fn peek(&self) -> Option<Line<'a>> {
        let rest = &self.yaml[self.at..];
        let text = &rest[..memchr::memchr(b'\n', rest.as_bytes())?];
        Some(Line { text, indent: text.len() - text.trim_start_matches(' ').len() })
    }

    /// Goes behind `line`, which is the next one.
    fn skip(&mut self, line: &Line<'_>) {
        self.at += line.text.len() + 1;
    }

    /// The indentation of the lines that belong to the key above them; `None` where there are none.
    fn indent_below(&self) -> Option<usize> {
        self.peek().map(|line| line.indent).filter(|indent| *indent > 0)
    }

    /// The lines with `indent` as a mapping. Others may only follow where they belong further out.
    fn mapping(&mut self, indent: usize) -> Option<Node> {
        let start = self.at + indent;
        let mut end = start;
        let mut pairs: Vec<(Node, Node)> = Vec::new();
        while let Some(line) = self.next_of(indent, !pairs.is_empty())? {
            let length = key_length(&line.text[indent..])?;
            let name = &line.text[indent..indent + length];
            if pairs.len() == MAX_ENTRIES || pairs.iter().any(|(key, _)| key.text() == Some(name)) {
                return None;
            }
            let key = scalar(self.span(indent..indent + length), name, Style::Plain);
            self.skip(&line);
            let value = self.value(&line, indent + length + 1, indent, &key)?;
            end = value.span.end;
            pairs.push((key, value));
        }
        (!pairs.is_empty()).then(|| Node {
            span: self.base + start..end,
            value: Value::Mapping { pairs, layout: Layout::Block },
        })
    }

    /// The lines with `indent` as a list.
    fn list(&mut self, indent: usize) -> Option<Node> {
        let start = self.at + indent;
        let mut end = start;
        let mut items = Vec::new();
        while let Some(line) = self.next_of(indent, !items.is_empty())? {
            let text = line.text[indent..].strip_prefix("- ")?;
            let from = line.text.len() - text.trim_start_matches(' ').len();
            self.skip(&line);
            let item = self.inline(&line, from)?;
            end = item.span.end;
            if items.len() == MAX_ENTRIES {
                return None;
            }
            items.push(item);
        }
        (!items.is_empty()).then(|| Node {
            span: self.base + start..end,
            value: Value::Sequence { items, layout: Layout::Block },
        })
    }

    /// The next line if it has `indent`; `Some(None)` where the collection ends before it, and
    /// `None` where it belongs to nothing.
    #[expect(clippy::option_option, reason = "the outer one is for `?` and means: ask the parser")]
    fn next_of(&self, indent: usize, may_end: bool) -> Option<Option<Line<'a>>> {
        match self.peek() {
            Some(line) if line.indent == indent => Some(Some(line)),
            None if may_end => Some(None),
            Some(line) if line.indent == 0 && may_end => Some(None),
            _ => None,
        }
    }

    /// What stands behind the colon, which ends before byte `from` of `line`, or below that line.
    fn value(&mut self, line: &Line<'a>, from: usize, indent: usize, key: &Node) -> Option<Node> {
        let rest = &line.text[from..];
        let text = rest.trim_start_matches(' ');
        let from = line.text.len() - text.len();
        match text.as_bytes().first() {
            None => match self.indent_below() {
                Some(below) if indent == 0 => {
                    let is_list = self.peek()?.text[below..].starts_with("- ");
                    if is_list { self.list(below) } else { self.mapping(below) }
                }
                Some(below) if below > indent => None,
                _ => Some(scalar(key.span.end..key.span.end, "", Style::Plain)),
            },
            Some(b'>' | b'|') if indent == 0 => self.block(text),
            Some(_) => self.inline(line, from),
        }
    }

    /// The text that starts at byte `from` of `line`, which was skipped, and ends on it.
    fn inline(&self, line: &Line<'a>, from: usize) -> Option<Node> {
        let text = line.text[from..].trim_end_matches(' ');
        let first = *text.as_bytes().first()?;
        // What belongs to a plain text goes on where the next line is indented deeper.
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
                Some(scalar(span, inner, style))
            }
            _ if is_plain(text) => Some(scalar(span, text, Style::Plain)),
            _ => None,
        }
    }

    /// The block of text below the line, skipped, that ends with `header`.
    fn block(&mut self, header: &str) -> Option<Node> {
        let (style, strip) = match header {
            ">" => (Style::Folded, false),
            ">-" => (Style::Folded, true),
            "|" => (Style::Literal, false),
            "|-" => (Style::Literal, true),
            _ => return None,
        };
        let indent = self.indent_below()?;
        // The parser says that a block starts with its text, not with its header.
        let start = self.base + self.at + indent;
        let mut text = String::new();
        while let Some(line) = self.next_of(indent, !text.is_empty())? {
            // Spaces at an end are folded by rules of their own.
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
        Some(Node { span: start..self.base + self.at, value: Value::Scalar { text, style } })
    }

    /// Bytes of the next line as bytes of the file.
    fn span(&self, of_line: Range<usize>) -> Range<usize> {
        let start = self.base + self.at;
        start + of_line.start..start + of_line.end
    }
}

fn scalar(span: Range<usize>, text: &str, style: Style) -> Node {
    Node { span, value: Value::Scalar { text: text.to_owned(), style } }
}

/// The length of the key that `line` starts with, if it does and a value may follow.
fn key_length(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let length = bytes.iter().take(MAX_KEY).take_while(|byte| is_key(byte)).count();
    let ends = bytes.get(length) == Some(&b':') && matches!(bytes.get(length + 1), None | Some(b' '));
    (ends && bytes[0].is_ascii_alphanumeric()).then_some(length)
}

/// Whether `text` is text without quotes to every YAML parser.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tree;
    use super::*;

    /// What the parser makes of `yaml`, if it has nothing to say about it.
    fn parsed(yaml: &str, base: usize) -> Option<Node> {
        let mut problems = Vec::new();
        let text = "-".repeat(base) + yaml;
        super::super::encoding::control_characters(yaml, base, &mut problems);
        let node = tree::parse(&text[base..], base, &mut problems).ok()??;
        problems.is_empty().then_some(node)
    }

    /// The two agree on `yaml`; returns whether the short way was taken.
    fn agree(yaml: &str) -> bool {
        let simple = parse(yaml, 4);
        assert!(
            simple.is_none() || simple == parsed(yaml, 4),
            "{yaml:?}\n{simple:#?}\n{:#?}",
            parsed(yaml, 4)
        );
        simple.is_some()
    }

    #[test]
    fn usual_frontmatter_takes_the_short_way() {
        for yaml in [
            "name: pdf\n",
            "name: pdf\ndescription: Reads PDF files. Use it for PDF, e.g. http://x/#y.\n",
            "name:   a  \nlicense:\nversion: 1.10\nx: 2026-01-01\n",
            "description: \"Use when: it matters\"\nname: 'x # y'  \nz: \"\"\n",
            "description: >-\n  Reads.\n  # Writes: it.\nname: x\n",
            "description: |\n    a\n    b\n",
            "description: >\n  a\nx: |-\n  b\n  - c\n",
            "metadata:\n  author: me\n  version: \"1.0\"\n  empty:\nname: x\n",
            "metadata:\n  a: b\n",
            "allowed-tools:\n  - Read\n  -   \"Bash(git:*)\"\nname: x\n",
            "name: 技能\ndescription: Größe — “x” 日本\n",
            "a.b_c-D9: null\nt: ~x\n",
        ] {
            let simple = !yaml.contains('~');
            assert_eq!(agree(yaml), simple, "{yaml:?}");
        }
    }

    #[test]
    fn the_parser_reads_the_rest() {
        for yaml in [
            "",
            "name: x",
            "\n",
            "# comment\nname: x\n",
            "name: x # comment\n",
            "name: x\n\nb: c\n",
            "name: a: b\n",
            "name: a:\n",
            "name: x\nname: y\n",
            "name: x\r\n",
            "name: a\tb\n",
            "name: \"a\\nb\"\n",
            "name: 'it''s'\n",
            "name: \"a\" b\n",
            "name: \"\n",
            "name: [a]\n",
            "name: &a b\n",
            "name: x\n  y\n",
            "- a\n",
            "? a\n",
            "--- a\n",
            "...\n",
            "a: b\n...\n",
            " a: b\n",
            "a:\n- b\n",
            "a:\n  b:\n    c: d\n",
            "a:\n   b: c\n  d: e\n",
            "a:\n  - b: c\n",
            "a:\n  - - b\n",
            "a: >+\n  b\n",
            "a: >\n  b\n\n  c\n",
            "a: >\n  b\n   c\n",
            "a: >\n  b \n  c\n",
            "a: >\nb: c\n",
            "a: |2\n  b\n",
            "a: b\u{85}c\n",
            "a: b\u{2028}c\n",
            "a: \u{feff}b\n",
            "a: \u{7f}\n",
            "@a: b\n",
            "\"a\": b\n",
            "a : b\n",
            "a:b\n",
        ] {
            assert!(!agree(yaml), "{yaml:?}");
        }
        let many: String = (0..=MAX_ENTRIES).map(|n| format!("k{n}: v\n")).collect();
        assert!(!agree(&many));
        assert!(!agree(&format!("{}: v\n", "k".repeat(MAX_KEY + 1))));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn usual_lines_are_read_as_the_parser_reads_them(
            yaml in "((name|a|b-c|d_1|\\.x|-|é)(:|: |:  )(x|1\\.0|yes|a b|\"q: r\"|'s # t'|\"\"|''|a:b|a#b|a #b|é—日|/x|\\(y\\)|-|--- z|,|\\[|>-|>|\\||\\|-|\\|\\+|&a|\\*a|!b|%c|@|`|~|\\?|<<|=|\\{)?( |  )?\n( |  |    |  - |  -  )?(x|\"y\"|k: v|k:|- l|k: \"v\" |z: 'w')?\n?){1,6}"
        ) {
            agree(&yaml);
        }

        #[test]
        fn any_lines_are_read_as_the_parser_reads_them(
            yaml in "(name|description|metadata|a|: |:|\n|  |   |\n  |\n  - |- |\"|'|,|é|日|\u{80}|\u{85}|\u{2028}|\u{feff}|#| #|&a|\\.\\.\\.|---|%|\\?|\\||>-|>|\\\\|@|~|\t){0,30}\n"
        ) {
            agree(&yaml);
        }
    }

    /// The frontmatter of the examples and of the test data.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "test data lies outside of every room of the program")]
    fn real_frontmatter_is_read_as_the_parser_reads_it() {
        let mut dirs = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")];
        match std::env::var_os("SKILLPM_TESTDATA") {
            Some(data) => dirs.push(data.into()),
            None => eprintln!("SKILLPM_TESTDATA is not set: the real skills are not tested"),
        }
        let (mut short, mut all) = (0, 0);
        while let Some(dir) = dirs.pop() {
            for entry in std::fs::read_dir(dir).expect("a directory") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    dirs.push(path);
                } else if path.extension().is_some_and(|extension| extension == "md") {
                    let text = String::from_utf8_lossy(&std::fs::read(path).expect("reads")).into_owned();
                    let super::super::Split::Found(parts) = super::super::split(text.as_bytes()) else {
                        continue;
                    };
                    short += usize::from(agree(&text[parts.yaml]));
                    all += 1;
                }
            }
        }
        eprintln!("{short} of {all} took the short way");
        assert!(short * 2 > all, "{short} of {all}");
    }
}
