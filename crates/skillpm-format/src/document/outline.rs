//! Frontmatter as entries with the comments that belong to them.
//!
//! A comment on its own line belongs to the entry after it, or, if it is indented deeper than that entry, to
//! the entry before it. After the last entry it stays there, unless it is indented. Between a key and the
//! lines below it there is no entry before: such a comment belongs to the first entry below, or to the key
//! itself if that has a text. A trailing comment belongs to the entry on its line; after a closing bracket
//! that is the entry of the whole list or mapping. Comments are found between tokens, so a `#` inside a text
//! does not start one.
//!
//! A switch for the linter applies to its own line or to the line after it. It always stays before that line,
//! and if it applies to a list or mapping in brackets, that collection stays on one line.

use std::ops::Range;

use super::repair::is_switch;
use super::tree::{Layout, Node, Style, Value};
use super::views::PEOPLE_FIELDS;
use crate::text::line_start;

/// The keys of `OpenClaw`'s blocks below `metadata`, today's and those of its former names.
pub(crate) const OPENCLAW_BLOCKS: [&str; 5] = ["openclaw", "clawdbot", "moltbot", "clawdis", "clawdhub"];

/// A line of a mapping or a list, with everything attached to it.
#[derive(Debug)]
pub(super) struct OutlineEntry<'a> {
    /// The key; `None` for the entry of a list.
    pub(super) key: Option<&'a Node>,
    pub(super) value: Shape<'a>,
    /// Comments on lines before it.
    pub(super) before: Vec<&'a str>,
    /// A comment after its key, or after its value if that is on one line.
    pub(super) beside: Option<&'a str>,
    /// Comments on lines after it.
    pub(super) after: Vec<&'a str>,
    column: usize,
    /// The byte at which its value starts; 0 if there is no value.
    content: usize,
}

/// The content of an entry. Entries are referred to by index into [`Outline::entries`].
#[derive(Debug)]
pub(super) enum Shape<'a> {
    Scalar(&'a Node),
    /// A block scalar that starts at byte `header`.
    Block(&'a Node, usize),
    /// A collection that is left as written.
    Verbatim(&'a str),
    Mapping(Vec<usize>),
    Sequence(Vec<usize>),
}

/// All entries, in the order of the source.
#[derive(Debug)]
pub(super) struct Outline<'a> {
    /// The whole text.
    pub(super) text: &'a str,
    pub(super) entries: Vec<OutlineEntry<'a>>,
    /// The entries of the outermost collection.
    pub(super) root: Vec<usize>,
    /// Comments, if there is no entry at all.
    pub(super) alone: Vec<&'a str>,
    /// Comments after the last entry that are no deeper than the outermost entries.
    pub(super) end: Vec<&'a str>,
}

/// A place that cannot be turned into an entry.
#[derive(Debug)]
pub(super) struct Unsupported(pub(super) Range<usize>);

struct Comment<'a> {
    text: &'a str,
    column: usize,
    own_line: bool,
    /// The byte at which it starts.
    at: usize,
    /// The number of entries before it.
    behind: usize,
    /// The entry of the collection whose closing bracket is before it.
    closed: Option<usize>,
}

struct Scan<'a> {
    text: &'a str,
    cursor: usize,
    entries: Vec<OutlineEntry<'a>>,
    comments: Vec<Comment<'a>>,
    /// The last collection in brackets that has its own entry: the end of the collection, and that entry.
    closed: (usize, usize),
    /// The number of comments before the end of the last complete entry.
    settled: usize,
    /// Whether the scan is inside a collection in brackets that gets lines of its own: so do all in it.
    opens: bool,
}

impl<'a> Outline<'a> {
    /// Reads `root`, which covers the bytes `within` of `text`, with all comments there.
    pub(super) fn new(text: &'a str, within: Range<usize>, root: &'a Node) -> Result<Self, Unsupported> {
        let (entries, comments) = (Vec::new(), Vec::new());
        let mut scan =
            Scan { text, cursor: within.start, entries, comments, closed: (0, 0), settled: 0, opens: false };
        let shape = scan.shape(root)?;
        scan.skip_to(within.end)?;
        let (Shape::Mapping(root) | Shape::Sequence(root)) = shape else {
            return Err(Unsupported(root.span.clone()));
        };
        let (mut outline, comments) =
            (Self { text, entries: scan.entries, root, alone: Vec::new(), end: Vec::new() }, scan.comments);
        for comment in comments {
            outline.attach(&comment);
        }
        Ok(outline)
    }

    fn attach(&mut self, comment: &Comment<'a>) {
        let next = comment.behind;
        let owner = match next.checked_sub(1).map(|last| &self.entries[last]) {
            // If there is no entry before, only the following one is left.
            None => Some(next),
            // Between a key and its value there is no entry before, however deep the comment is.
            Some(last) => match &last.value {
                Shape::Mapping(entries) | Shape::Sequence(entries) if entries.first() == Some(&next) => {
                    Some(next)
                }
                Shape::Scalar(_) | Shape::Block(..) | Shape::Verbatim(_) if comment.at < last.content => {
                    Some(next - 1)
                }
                _ => {
                    let precedes =
                        |entry: &&OutlineEntry<'_>| comment.column <= entry.column || comment.is_switch();
                    self.entries.get(next).filter(precedes).map(|_| next)
                }
            },
        };
        if let Some(owner) = owner.and_then(|owner| self.entries.get_mut(owner)).filter(|_| comment.own_line)
        {
            owner.before.push(comment.text);
            return;
        }
        if self.is_at_the_end(comment) {
            self.end.push(comment.text);
            return;
        }
        // If the key already has a comment beside it, the last entry takes the one after the bracket.
        let closed = comment.closed.filter(|closed| self.entries[*closed].beside.is_none());
        match closed.or(next.checked_sub(1)).and_then(|last| self.entries.get_mut(last)) {
            Some(last) if !comment.own_line && last.beside.is_none() => last.beside = Some(comment.text),
            Some(last) => last.after.push(comment.text),
            None => self.alone.push(comment.text),
        }
    }

    /// Reports whether `comment` is after all entries and belongs to none: the last entry may move before others.
    fn is_at_the_end(&self, comment: &Comment<'_>) -> bool {
        let root = self.root.first().and_then(|first| self.entries.get(*first));
        comment.own_line
            && comment.behind == self.entries.len()
            && root.is_some_and(|root| comment.column <= root.column || comment.is_switch())
    }

    /// Returns all comments, in no particular order.
    pub(super) fn comments(&self) -> Vec<&'a str> {
        let of = |entry: &OutlineEntry<'a>| {
            [&entry.before[..], entry.beside.as_slice(), &entry.after[..]].concat()
        };
        self.entries
            .iter()
            .flat_map(of)
            .chain(self.alone.iter().copied())
            .chain(self.end.iter().copied())
            .collect()
    }
}

impl Comment<'_> {
    fn is_switch(&self) -> bool {
        self.text.strip_prefix('#').is_some_and(is_switch)
    }
}

impl<'a> Scan<'a> {
    fn shape(&mut self, node: &'a Node) -> Result<Shape<'a>, Unsupported> {
        match &node.value {
            Value::Scalar { style: Style::Literal | Style::Folded, text } => {
                let header = self.header(node)?;
                // After the header there is only a comment, and a block without lines may end anywhere.
                let line = &self.text[header..];
                let line = &line[..line.find(['\n', '\r']).unwrap_or(line.len())];
                // Readers disagree on what is kept of a block that has only empty lines.
                let keeps = line.split('#').next().is_some_and(|indicators| indicators.contains('+'));
                if text.is_empty() && keeps {
                    return Err(Unsupported(header..header + 1));
                }
                self.skip_to(header + line.len())?;
                self.cursor = self.cursor.max(node.span.end);
                Ok(Shape::Block(node, header))
            }
            Value::Scalar { .. } => {
                self.skip_to(node.span.start)?;
                self.cursor = self.cursor.max(node.span.end);
                Ok(Shape::Scalar(node))
            }
            Value::Sequence { layout: Layout::Flow, .. } | Value::Mapping { layout: Layout::Flow, .. }
                if !can_be_block(self.text, node) =>
            {
                self.verbatim(node)
            }
            Value::Sequence { items, layout } => {
                let outer = self.open(*layout);
                let items: Result<_, _> = items.iter().map(|item| self.item(item, *layout)).collect();
                self.close(node, *layout, outer);
                items.map(Shape::Sequence)
            }
            Value::Mapping { pairs, layout } => {
                let outer = self.open(*layout);
                let pairs: Result<_, _> = pairs.iter().map(|(key, value)| self.pair(key, value)).collect();
                self.close(node, *layout, outer);
                pairs.map(Shape::Mapping)
            }
        }
    }

    /// Enters a collection, which opens all in it if it is in brackets. Returns what [`Self::close`] needs.
    fn open(&mut self, layout: Layout) -> bool {
        let outer = self.opens;
        self.opens |= layout == Layout::Flow;
        outer
    }

    /// Leaves a collection: moves past the closing bracket.
    fn close(&mut self, node: &Node, layout: Layout, outer: bool) {
        self.opens = outer;
        if layout == Layout::Flow {
            self.cursor = self.cursor.max(node.span.end);
        }
    }

    fn item(&mut self, node: &'a Node, layout: Layout) -> Result<usize, Unsupported> {
        if layout == Layout::Block {
            self.skip_while(|c, _| c != '-')?;
            self.cursor += 1;
        } else {
            self.skip_to(node.span.start)?;
        }
        let column = self.column(self.cursor.saturating_sub(1));
        self.entry(None, node, column)
    }

    fn pair(&mut self, key: &'a Node, value: &'a Node) -> Result<usize, Unsupported> {
        self.skip_to(key.span.start)?;
        if key.text().is_none_or(str::is_empty) || key.is_absent() {
            return Err(Unsupported(key.span.clone()));
        }
        self.cursor = key.span.end;
        let column = self.column(key.span.start);
        self.entry(Some(key), value, column)
    }

    fn entry(&mut self, key: Option<&'a Node>, node: &'a Node, column: usize) -> Result<usize, Unsupported> {
        let number = self.entries.len();
        let value = Shape::Scalar(node);
        let (before, after) = (Vec::new(), Vec::new());
        let content = if node.is_absent() { 0 } else { node.span.start };
        self.entries.push(OutlineEntry { key, value, before, beside: None, after, column, content });
        let is_flow = matches!(
            node.value,
            Value::Sequence { layout: Layout::Flow, .. } | Value::Mapping { layout: Layout::Flow, .. }
        );
        if is_flow {
            self.skip_to(node.span.start)?;
        }
        let is_for_people = key.and_then(Node::text).is_some_and(|key| PEOPLE_FIELDS.contains(&key));
        let is_short = !self.opens && matches!(node.value, Value::Sequence { .. });
        let stays = is_flow
            && (is_short || is_for_people || is_of_openclaw(key, node) || self.has_switch(node, number));
        self.entries[number].value = if stays { self.verbatim(node)? } else { self.shape(node)? };
        if is_flow {
            self.closed = (node.span.end, number);
        }
        self.settled = self.comments.len();
        Ok(number)
    }

    /// Returns a collection that is left as written.
    fn verbatim(&mut self, node: &Node) -> Result<Shape<'a>, Unsupported> {
        self.skip_to(node.span.start)?;
        self.cursor = node.span.end;
        Ok(Shape::Verbatim(&self.text[node.span.clone()]))
    }

    /// Reports whether a switch is after the closing bracket of `node`, the value of entry `number`, or on its own line
    /// before it or the entry.
    fn has_switch(&self, node: &Node, number: usize) -> bool {
        let rest = &self.text[node.span.end..];
        let line = &rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())];
        let comment = line.trim_start_matches([' ', '\t']);
        // Comments before a parent of the entry apply to the parent's line.
        let mut before = self.comments[self.settled..].iter().filter(|comment| comment.behind >= number);
        (comment.len() < line.len() && comment.strip_prefix('#').is_some_and(is_switch))
            || before.any(|comment| comment.own_line && comment.is_switch())
    }

    /// Returns the position of the `|` or `>` of a block scalar.
    fn header(&mut self, node: &Node) -> Result<usize, Unsupported> {
        self.skip_while(|c, _| !matches!(c, '|' | '>'))?;
        if self.cursor > node.span.end { Err(Unsupported(node.span.clone())) } else { Ok(self.cursor) }
    }

    /// Moves to byte `to`, over blanks, punctuation and comments.
    fn skip_to(&mut self, to: usize) -> Result<(), Unsupported> {
        if self.cursor >= to {
            return Ok(());
        }
        self.skip_while(|_, at| at < to)
    }

    /// Moves over blanks, punctuation and comments while `wanted` returns true.
    fn skip_while(&mut self, wanted: impl Fn(char, usize) -> bool) -> Result<(), Unsupported> {
        while let Some(c) = self.text[self.cursor..].chars().next().filter(|c| wanted(*c, self.cursor)) {
            let before = self.text[..self.cursor].chars().next_back();
            match c {
                '#' if before.is_none_or(char::is_whitespace) => self.comment(),
                // A key marked by a question mark may be anything.
                '?' => return Err(Unsupported(self.cursor..self.cursor + 1)),
                c => self.cursor += c.len_utf8(),
            }
        }
        Ok(())
    }

    fn comment(&mut self) {
        let start = self.cursor;
        let rest = &self.text[start..];
        let end = start + rest.find(['\n', '\r']).unwrap_or(rest.len());
        let own_line = self.text[line_start(self.text, start)..start].trim().is_empty();
        let (text, column) = (self.text[start..end].trim_end(), self.column(start));
        let behind = self.entries.len();
        let (closed, number) = self.closed;
        // Only blanks may be between them.
        let gap = self.text.get(closed..start).filter(|gap| !own_line && gap.trim().is_empty());
        let closed = gap.filter(|_| closed > 0).map(|_| number);
        self.comments.push(Comment { text, column, own_line, at: start, behind, closed });
        self.cursor = end;
    }

    fn column(&self, at: usize) -> usize {
        self.text[line_start(self.text, at)..at].chars().count()
    }
}

/// Reports whether `node`, the value of `key`, is `metadata` with the block of an agent whose reader knows keys on one line
/// alone.
///
/// Source: `OpenClaw`'s page on skills, which wants a JSON object on a single line there.
pub(crate) fn is_of_openclaw(key: Option<&Node>, node: &Node) -> bool {
    let is_block = |(key, _): &(Node, Node)| key.text().is_some_and(|key| OPENCLAW_BLOCKS.contains(&key));
    key.and_then(Node::text) == Some("metadata") && node.pairs().iter().any(is_block)
}

/// Reports whether the flow collection `node` can be written with one entry per line: it has entries, its keys are
/// texts, and it contains no comment.
pub(super) fn can_be_block(text: &str, node: &Node) -> bool {
    let mut leaves = Vec::new();
    !is_empty(node) && collect(node, &mut leaves) && {
        let mut at = node.span.start;
        leaves.iter().chain([&(node.span.end..node.span.end)]).all(|leaf| {
            let gap = text.get(at..leaf.start).unwrap_or_default();
            at = at.max(leaf.end);
            !gap.contains(['#', '?'])
        })
    }
}

fn is_empty(node: &Node) -> bool {
    match &node.value {
        Value::Sequence { items, .. } => items.is_empty(),
        Value::Mapping { pairs, .. } => pairs.is_empty(),
        Value::Scalar { .. } => false,
    }
}

/// Adds the scalars of `node` in the order of the text. Returns false if a key is not text.
fn collect(node: &Node, leaves: &mut Vec<Range<usize>>) -> bool {
    match &node.value {
        Value::Scalar { .. } => leaves.push(node.span.clone()),
        Value::Sequence { items, .. } => return items.iter().all(|item| collect(item, leaves)),
        Value::Mapping { pairs, .. } => {
            return pairs.iter().all(|(key, value)| {
                key.text().is_some_and(|text| !text.is_empty())
                    && collect(key, leaves)
                    && collect(value, leaves)
            });
        }
    }
    true
}

/// Reports whether there is an empty collection anywhere in `node`: it has no form with one entry per line.
pub(super) fn has_empty(node: &Node) -> bool {
    is_empty(node)
        || match &node.value {
            Value::Scalar { .. } => false,
            Value::Sequence { items, .. } => items.iter().any(has_empty),
            Value::Mapping { pairs, .. } => pairs.iter().any(|(_, value)| has_empty(value)),
        }
}
