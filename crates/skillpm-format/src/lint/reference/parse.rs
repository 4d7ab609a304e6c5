//! From tokens to the tree, and the faults that the reference refuses in it.

use std::collections::BTreeSet;

use super::reader::Reader;
use super::scan::{Kind, Token};
use super::{Cause, Stop};
use crate::document::{Layout, Node, Style, Value};

/// The maximum nesting depth that the reference's interpreter can handle.
const MAX_DEPTH: usize = 245;

/// Parses `tokens`. Returns `None` if there is no value at all.
pub(super) fn parse(tokens: &[Token], reader: &Reader) -> Result<Option<Node>, Stop> {
    let comments = tokens.iter().map(Comments::of).collect();
    let mut parser = Parser { tokens, reader, comments, at: 0 };
    if parser.is(&[&Kind::End]) {
        return Ok(None);
    }
    let root = parser.node(false, 0)?;
    if parser.is(&[&Kind::DocumentEnd]) {
        parser.at += 1;
    }
    if parser.is(&[&Kind::End]) { Ok(Some(root)) } else { Err(parser.stop(Cause::Documents)) }
}

struct Parser<'a> {
    tokens: &'a [Token],
    reader: &'a Reader,
    /// The comments that each token has to keep.
    comments: Vec<Comments>,
    at: usize,
}

/// The comments that a token has to keep. It has room for those before it and for those after it, once each.
#[derive(Debug, Clone, Copy, Default)]
struct Comments {
    before: bool,
    behind: bool,
}

impl Comments {
    fn of(token: &Token) -> Self {
        // Comments after a `:` are added when the token is taken.
        Self { before: token.leading, behind: token.trailing && token.kind != Kind::Value }
    }
}

/// The tokens before which the value of a key is empty.
const AFTER_VALUE: &[&Kind] = &[&Kind::Key, &Kind::Value, &Kind::BlockEnd];

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn is(&self, kinds: &[&Kind]) -> bool {
        self.peek().is_some_and(|token| kinds.contains(&&token.kind))
    }

    /// Takes the next token if it is of `kind`.
    fn take(&mut self, kind: &Kind) -> bool {
        let there = self.is(&[kind]);
        self.at += usize::from(there);
        there
    }

    fn stop(&self, cause: Cause) -> Stop {
        let at = self.peek().map_or(0, |token| token.start);
        Stop { cause, span: self.reader.bytes(at, at + 1) }
    }

    /// Passes the comments of the last token to the next one, as in the reference. It fails if there is no room.
    fn hand_on(&mut self) -> Result<(), Stop> {
        if self.is(&[&Kind::End]) {
            return Ok(());
        }
        let last = std::mem::take(&mut self.comments[self.at - 1]);
        let next = self.comments[self.at];
        if (last.before && next.before) || (last.behind && next.behind) {
            return Err(self.stop(Cause::Comment));
        }
        self.comments[self.at] =
            Comments { before: last.before || next.before, behind: last.behind || next.behind };
        Ok(())
    }

    /// Passes on the comments of the `:` that was taken last, unless a key follows.
    fn hand_on_behind_colon(&mut self) -> Result<(), Stop> {
        let colon = self.at - 1;
        self.comments[colon].behind |= self.tokens[colon].trailing;
        if !self.is(&[&Kind::Key]) {
            self.hand_on()?;
        }
        // If there is no value, they belong to the missing value.
        if self.is(AFTER_VALUE) {
            self.comments[self.at].behind = false;
        }
        Ok(())
    }

    fn node(&mut self, indentless: bool, depth: usize) -> Result<Node, Stop> {
        let Some(token) = self.peek() else { return Err(self.stop(Cause::Content)) };
        if depth > MAX_DEPTH {
            return Err(self.stop(Cause::Depth));
        }
        match &token.kind {
            Kind::Scalar(text, style) => {
                let value = Value::Scalar { text: text.clone(), style: *style };
                let node = Node { span: self.reader.bytes(token.start, token.end), value };
                self.at += 1;
                Ok(node)
            }
            Kind::Entry if indentless => self.sequence(true, depth),
            Kind::Sequence => self.sequence(false, depth),
            Kind::Mapping => self.mapping(depth),
            _ => Err(self.stop(Cause::Content)),
        }
    }

    /// Returns a missing value, after the previous token.
    fn empty(&self) -> Node {
        let end = self.at.checked_sub(1).map_or(0, |before| self.tokens[before].end);
        let value = Value::Scalar { text: String::new(), style: Style::Plain };
        Node { span: self.reader.bytes(end, end), value }
    }

    fn sequence(&mut self, indentless: bool, depth: usize) -> Result<Node, Stop> {
        let start = self.peek().map_or(0, |token| token.start);
        self.at += usize::from(!indentless);
        let after: &[&Kind] = if indentless {
            &[&Kind::Entry, &Kind::Key, &Kind::Value, &Kind::BlockEnd]
        } else {
            &[&Kind::Entry, &Kind::BlockEnd]
        };
        let mut items = Vec::new();
        if indentless {
            self.comments[self.at].behind = false;
        }
        while self.take(&Kind::Entry) {
            self.hand_on()?;
            items.push(if self.is(after) { self.empty() } else { self.node(false, depth + 1)? });
        }
        if indentless {
            // The list keeps the comments before its end.
            self.comments[self.at].before = false;
        } else if !self.take(&Kind::BlockEnd) {
            return Err(self.stop(Cause::Block));
        }
        let end = items.last().map_or(0, |item| item.span.end);
        let start = self.reader.bytes(start, start).start;
        Ok(Node { span: start..end.max(start), value: Value::Sequence { items, layout: Layout::Block } })
    }

    fn mapping(&mut self, depth: usize) -> Result<Node, Stop> {
        let start = self.peek().map_or(0, |token| token.start);
        self.at += 1;
        let mut pairs = Vec::new();
        let mut seen = BTreeSet::new();
        let mut column = None;
        while !self.take(&Kind::BlockEnd) {
            if !self.is(&[&Kind::Key, &Kind::Value]) {
                return Err(self.stop(Cause::Block));
            }
            let has_key = self.take(&Kind::Key);
            if has_key {
                self.hand_on()?;
            }
            let key =
                if has_key && !self.is(AFTER_VALUE) { self.node(true, depth + 1)? } else { self.empty() };
            let merge = is_plain(&key, &["<<"]);
            check_key(&key, &mut seen)?;
            let has_value = self.take(&Kind::Value);
            if has_value {
                self.hand_on_behind_colon()?;
            }
            let first = self.at;
            let value =
                if has_value && !self.is(AFTER_VALUE) { self.node(true, depth + 1)? } else { self.empty() };
            if merge {
                // A merged value is not a field itself.
                check_merge(&key, &value)?;
                continue;
            }
            self.check_indent(&value, first, &mut column)?;
            pairs.push((key, not_text(value)));
        }
        self.hand_on()?;
        let end = pairs.last().map_or(0, |(_, value)| value.span.end);
        let start = self.reader.bytes(start, start).start;
        Ok(Node { span: start..end.max(start), value: Value::Mapping { pairs, layout: Layout::Block } })
    }

    /// Checks that the mappings below one mapping are in the same column.
    fn check_indent(&self, value: &Node, first: usize, column: &mut Option<usize>) -> Result<(), Stop> {
        if let Value::Mapping { .. } = value.value {
            let own = self.tokens[first].column;
            if *column.get_or_insert(own) != own {
                let start = value.span.start;
                return Err(Stop { cause: Cause::SiblingIndent, span: start..start });
            }
        }
        Ok(())
    }
}

/// Reports whether `node` is one of `texts`, without quotes.
fn is_plain(node: &Node, texts: &[&str]) -> bool {
    matches!(&node.value, Value::Scalar { text, style: Style::Plain } if texts.contains(&text.as_ref()))
}

/// Checks that the value of `<<` is a mapping or a list of mappings.
fn check_merge(key: &Node, value: &Node) -> Result<(), Stop> {
    let is_mapping = |node: &Node| matches!(node.value, Value::Mapping { .. });
    let mergeable = match &value.value {
        Value::Sequence { items, .. } => items.iter().all(is_mapping),
        _ => is_mapping(value),
    };
    if mergeable { Ok(()) } else { Err(Stop { cause: Cause::Merge, span: key.span.clone() }) }
}

/// Replaces `=` and `<<` without quotes, which have a meaning in YAML 1.1, by values that are not text.
fn not_text(node: Node) -> Node {
    if is_plain(&node, &["=", "<<"]) {
        Node { value: Value::Mapping { pairs: Vec::new(), layout: Layout::Flow }, ..node }
    } else {
        node
    }
}

/// Checks that a key is text and occurs only once.
fn check_key(key: &Node, seen: &mut BTreeSet<String>) -> Result<(), Stop> {
    let refused = |cause| Err(Stop { cause, span: key.span.clone() });
    match &key.value {
        Value::Scalar { text, .. } if seen.insert(text.clone()) => Ok(()),
        Value::Scalar { .. } => refused(Cause::Duplicate),
        _ => refused(Cause::KeyKind),
    }
}
