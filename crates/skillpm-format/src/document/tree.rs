//! Frontmatter as a tree with the position of everything.
//!
//! Built from parser events, so that a plain scalar keeps its source text: `1.10` stays `1.10` and `yes` stays `yes`.
//! Aliases are never expanded, so a small file cannot become a large tree.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, StructureStyle};

use super::problem::{FaultKind, Problem, ProblemKind};

/// The maximum nesting depth of collections, the top-level mapping included.
pub const MAX_DEPTH: usize = 16;
/// The maximum number of values and keys.
pub const MAX_NODES: usize = 10_000;

/// The notation of a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// In single quotes.
    SingleQuoted,
    /// In double quotes.
    DoubleQuoted,
    /// A block after `|`.
    Literal,
    /// A block after `>`.
    Folded,
    /// Not valid YAML; the text as written.
    Raw,
    /// A reference such as `*x`, which is not expanded.
    Alias,
}

/// The notation of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One entry per line.
    Block,
    /// In brackets or braces.
    Flow,
}

/// A value of the frontmatter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Text. Numbers, booleans and dates are text too: nothing is interpreted.
    Scalar {
        /// The text, without quotes and escapes.
        text: String,
        /// The notation.
        style: Style,
    },
    /// A list.
    Sequence {
        /// The entries.
        items: Vec<Node>,
        /// The notation.
        layout: Layout,
    },
    /// Keys and values in the order of the source, repeated keys included.
    Mapping {
        /// The entries.
        pairs: Vec<(Node, Node)>,
        /// The notation.
        layout: Layout,
    },
}

/// A value and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The range of bytes in the file; empty directly after the key if there is no value.
    pub span: Range<usize>,
    /// The value.
    pub value: Value,
}

impl Node {
    /// Returns the text of a scalar. Returns `None` for collections and aliases.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { style: Style::Alias, .. } | Value::Sequence { .. } | Value::Mapping { .. } => {
                None
            }
            Value::Scalar { text, .. } => Some(text),
        }
    }

    /// Returns the text of a scalar, or the texts of a list of scalars joined with commas.
    pub fn flat_text(&self) -> Option<String> {
        match &self.value {
            Value::Sequence { items, .. } => {
                let texts: Option<Vec<&str>> = items.iter().map(Self::text).collect();
                Some(texts?.join(", "))
            }
            _ => self.text().map(str::to_owned),
        }
    }

    /// Reports whether the value is missing, as after `key:`. Empty quotes are a value.
    pub fn is_absent(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, style: Style::Plain } if text.is_empty())
    }

    /// Returns the entries of a mapping; an empty slice for anything else.
    pub fn pairs(&self) -> &[(Self, Self)] {
        match &self.value {
            Value::Mapping { pairs, .. } => pairs,
            _ => &[],
        }
    }

    /// Returns the entry of `key` in a mapping. If the key occurs twice, the last one counts.
    pub fn entry(&self, key: &str) -> Option<&(Self, Self)> {
        self.pairs().iter().rev().find(|(name, _)| name.text() == Some(key))
    }

    /// Returns the value of `key` in a mapping, like [`Node::entry`].
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|(_, value)| value)
    }

    /// Returns the value as JSON. Scalars are strings, as written; a missing value is `null`.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Scalar { .. } if self.is_absent() => serde_json::Value::Null,
            Value::Scalar { text, .. } => text.as_str().into(),
            Value::Sequence { items, .. } => items.iter().map(Self::to_json).collect(),
            Value::Mapping { pairs, .. } => pairs
                .iter()
                .map(|(key, value)| (key.flat_text().unwrap_or_default(), value.to_json()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }

    /// Returns the value as JSON with the types of YAML 1.2's core schema: a plain `1.0` is a number and a plain `true`
    /// is a boolean, as other programs read them.
    pub fn to_typed_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Scalar { text, style: Style::Plain } => core_scalar(text),
            Value::Scalar { text, .. } => text.as_str().into(),
            Value::Sequence { items, .. } => items.iter().map(Self::to_typed_json).collect(),
            Value::Mapping { pairs, .. } => pairs
                .iter()
                .map(|(key, value)| (key.flat_text().unwrap_or_default(), value.to_typed_json()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }

    /// Returns the block of text at the end of this value, if it ends in one. At the very end of a frontmatter, readers
    /// differ on its last line feed: some take the one before `---` for a part of that line.
    pub fn last_block(&self) -> Option<&Self> {
        match &self.value {
            Value::Scalar { style: Style::Literal | Style::Folded, .. } => Some(self),
            Value::Scalar { .. } => None,
            Value::Sequence { items, .. } => items.last()?.last_block(),
            Value::Mapping { pairs, .. } => pairs.last()?.1.last_block(),
        }
    }

    /// Returns the kind of this value, with its article.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Scalar { style: Style::Alias, .. } => "an alias",
            Value::Scalar { .. } if self.is_absent() => "empty",
            Value::Scalar { .. } => "text",
            Value::Sequence { .. } => "a list",
            Value::Mapping { .. } => "a mapping",
        }
    }
}

/// Returns the value of a plain scalar in the core schema of YAML 1.2 (section 10.3.2). JSON has no infinity and no NaN:
/// these stay texts, as do integers with more than 64 bits.
fn core_scalar(text: &str) -> serde_json::Value {
    let radix =
        |prefix, radix| text.strip_prefix(prefix).and_then(|digits| u64::from_str_radix(digits, radix).ok());
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return serde_json::Value::Null,
        "true" | "True" | "TRUE" => return true.into(),
        "false" | "False" | "FALSE" => return false.into(),
        _ => {}
    }
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    if let Some(number) = radix("0o", 8).or_else(|| radix("0x", 16)) {
        number.into()
    } else if let Ok(number) = unsigned.parse::<i64>() {
        number.into()
    } else if text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
        && let Some(number) = text.parse().ok().and_then(serde_json::Number::from_f64)
    {
        number.into()
    } else {
        text.into()
    }
}

/// The reason why there is no tree.
#[derive(Debug)]
pub(super) enum NoTree {
    /// A limit; another attempt would not help.
    Limit(Problem),
    /// Not YAML.
    Syntax { fault: FaultKind, span: Range<usize> },
}

/// Parses `yaml`, which starts at byte `base` of the file. Returns `None` if there is no value at all.
pub(super) fn parse(yaml: &str, base: usize, problems: &mut Vec<Problem>) -> Result<Option<Node>, NoTree> {
    let mut options = Options::default();
    options.flow_nesting_limit = MAX_DEPTH;
    options.block_nesting_limit = MAX_DEPTH;
    options.disallow_directives = true;
    let mut builder = Builder { yaml, base, stack: Vec::new(), root: None, nodes: 0, problems: Vec::new() };
    for event in Parser::new_from_str_with_options(yaml, options) {
        let (event, span) = event.map_err(|error| builder.no_tree(&error))?;
        let span = builder.offset(&span.start)..builder.offset(&span.end);
        if matches!(event, Event::DocumentStart(..)) && builder.root.is_some() {
            builder.problem(ProblemKind::SeveralDocuments, span);
            break;
        }
        builder.event(event, span).map_err(NoTree::Limit)?;
    }
    problems.append(&mut builder.problems);
    Ok(builder.root)
}

/// Parses a file of YAML. Returns its value, `None` for an empty file, and the problems that are no obstacle.
pub(crate) fn parse_yaml(text: &str) -> Result<(Option<Node>, Vec<Problem>), (usize, String)> {
    let mut problems = Vec::new();
    match parse(text, 0, &mut problems) {
        Ok(root) => Ok((root, problems)),
        Err(NoTree::Syntax { fault, span }) => Err((span.start, fault.to_string())),
        Err(NoTree::Limit(problem)) => {
            Err((problem.span.start, "it has too many values or levels".to_owned()))
        }
    }
}

/// A collection that is not finished.
struct Open {
    start: usize,
    end: usize,
    layout: Layout,
    content: Content,
}

/// The content of a collection so far; a mapping may have a key that is waiting for its value.
enum Content {
    Sequence(Vec<Node>),
    Mapping { pairs: Vec<(Node, Node)>, key: Option<Node>, seen: BTreeMap<String, Range<usize>> },
}

/// Builds nodes from events. It has its own stack, so depth costs no machine stack.
struct Builder<'a> {
    yaml: &'a str,
    base: usize,
    stack: Vec<Open>,
    root: Option<Node>,
    nodes: usize,
    problems: Vec<Problem>,
}

impl Builder<'_> {
    /// Returns the byte of the file at `marker`.
    fn offset(&self, marker: &granit_parser::Marker) -> usize {
        let bytes = marker.byte_offset().unwrap_or_else(|| {
            self.yaml.char_indices().nth(marker.index()).map_or(self.yaml.len(), |(at, _)| at)
        });
        self.base + self.yaml.floor_char_boundary(bytes)
    }

    fn problem(&mut self, kind: ProblemKind, span: Range<usize>) {
        self.problems.push(Problem { kind, span });
    }

    fn event(&mut self, event: Event<'_>, span: Range<usize>) -> Result<(), Problem> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.properties(anchor, tag.is_some(), &span);
                // The parser reports `~` both for `~` and for a missing value; only the span distinguishes them.
                let text = if span.is_empty() { String::new() } else { text.into_owned() };
                self.add(Node { span, value: Value::Scalar { text, style: Style::from(style) } })
            }
            Event::Alias(_) => {
                self.problem(ProblemKind::Alias, span.clone());
                let text = self.yaml[span.start - self.base..span.end - self.base].to_owned();
                self.add(Node { span, value: Value::Scalar { text, style: Style::Alias } })
            }
            Event::SequenceStart(layout, anchor, tag) => {
                self.properties(anchor, tag.is_some(), &span);
                self.open(span, layout, Content::Sequence(Vec::new()))
            }
            Event::MappingStart(layout, anchor, tag) => {
                self.properties(anchor, tag.is_some(), &span);
                let content = Content::Mapping { pairs: Vec::new(), key: None, seen: BTreeMap::new() };
                self.open(span, layout, content)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(&span),
            _ => Ok(()),
        }
    }

    fn properties(&mut self, anchor: usize, tag: bool, span: &Range<usize>) {
        if anchor != 0 {
            self.problem(ProblemKind::Anchor, span.clone());
        }
        if tag {
            self.problem(ProblemKind::Tag, span.clone());
        }
    }

    fn open(&mut self, span: Range<usize>, layout: StructureStyle, content: Content) -> Result<(), Problem> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(Problem { kind: ProblemKind::TooDeep, span });
        }
        let layout = if layout == StructureStyle::Flow { Layout::Flow } else { Layout::Block };
        self.stack.push(Open { start: span.start, end: span.end, layout, content });
        Ok(())
    }

    fn close(&mut self, end: &Range<usize>) -> Result<(), Problem> {
        let Some(open) = self.stack.pop() else { return Ok(()) };
        // For the parser, a block ends where the next item starts; for people it ends with its last entry.
        let end = if open.layout == Layout::Flow { end.end } else { open.end };
        let layout = open.layout;
        let value = match open.content {
            Content::Sequence(items) => Value::Sequence { items, layout },
            Content::Mapping { pairs, .. } => Value::Mapping { pairs, layout },
        };
        self.add(Node { span: open.start..end.max(open.start), value })
    }

    fn add(&mut self, mut node: Node) -> Result<(), Problem> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(Problem { kind: ProblemKind::TooManyValues, span: node.span });
        }
        let Some(open) = self.stack.last_mut() else {
            self.root.get_or_insert(node);
            return Ok(());
        };
        open.end = open.end.max(node.span.end);
        match &mut open.content {
            Content::Sequence(items) => items.push(node),
            Content::Mapping { pairs, key, seen } => {
                if let Some(name) = key.take() {
                    if node.is_absent() && node.span.is_empty() {
                        node.span = name.span.end..name.span.end;
                    }
                    pairs.push((name, node));
                } else {
                    self.problems.extend(duplicate(&node, seen));
                    *key = Some(node);
                }
            }
        }
        Ok(())
    }

    fn no_tree(&self, error: &ScanError) -> NoTree {
        let start = self.offset(error.marker());
        let length = self.yaml[start - self.base..].chars().next().map_or(0, char::len_utf8);
        let span = start..start + length;
        match error.kind() {
            ErrorKind::RecursionLimitExceeded => NoTree::Limit(Problem { kind: ProblemKind::TooDeep, span }),
            kind => NoTree::Syntax { fault: fault(kind, error), span },
        }
    }
}

/// Returns the problem with `key` if `seen` already contains it.
pub(super) fn duplicate(key: &Node, seen: &mut BTreeMap<String, Range<usize>>) -> Option<Problem> {
    match seen.entry(key.text()?.to_owned()) {
        Entry::Vacant(slot) => {
            slot.insert(key.span.clone());
            None
        }
        Entry::Occupied(slot) => {
            let kind = ProblemKind::DuplicateKey { key: slot.key().clone(), first: slot.get().clone() };
            Some(Problem { kind, span: key.span.clone() })
        }
    }
}

/// Returns the parser's error in plain words if it is a common one.
fn fault(kind: &ErrorKind, error: &ScanError) -> FaultKind {
    match kind {
        ErrorKind::MappingValueNotAllowed => FaultKind::Colon,
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            FaultKind::AfterQuote
        }
        ErrorKind::UnclosedQuotedScalar => FaultKind::UnclosedQuote,
        ErrorKind::UnknownQuotedScalarEscape
        | ErrorKind::InvalidQuotedScalarHexEscape
        | ErrorKind::InvalidLowSurrogateHexEscape
        | ErrorKind::InvalidLowSurrogate
        | ErrorKind::MissingLowSurrogate
        | ErrorKind::UnpairedLowSurrogate
        | ErrorKind::InvalidUnicodeEscape => FaultKind::Escape,
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::MisplacedFlowCollectionEnd
        | ErrorKind::MismatchedFlowCollectionEnd { .. }
        | ErrorKind::ExpectedFlowMappingSeparator
        | ErrorKind::ExpectedFlowSequenceSeparator => FaultKind::Brackets,
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart => FaultKind::Tab,
        ErrorKind::UnexpectedCharacter { character } if character.is_control() => {
            FaultKind::Control(*character)
        }
        ErrorKind::UnexpectedCharacter { character } => FaultKind::ReservedStart(*character),
        ErrorKind::UnknownAnchor | ErrorKind::MissingAnchorOrAliasName => FaultKind::ReservedStart('*'),
        _ => FaultKind::Other(error.info()),
    }
}

impl From<ScalarStyle> for Style {
    fn from(style: ScalarStyle) -> Self {
        match style {
            ScalarStyle::Plain => Self::Plain,
            ScalarStyle::SingleQuoted => Self::SingleQuoted,
            ScalarStyle::DoubleQuoted => Self::DoubleQuoted,
            ScalarStyle::Literal => Self::Literal,
            ScalarStyle::Folded => Self::Folded,
        }
    }
}
