//! The model of a `SKILL.md`: YAML frontmatter and a Markdown body.
//!
//! Reading never fails: a [`Document`] holds whatever could be read and a list of [`Problem`]s. Other code decides
//! whether a problem matters: an agent loads what it can ([`crate::skill::load`]), the linter enforces the
//! specification ([`crate::lint::check`]).

mod encoding;
mod format;
mod lines;
mod links;
mod outline;
mod prefilter;
mod problem;
mod repair;
mod scalar;
mod split;
mod target;
#[cfg(test)]
mod tests;
mod tree;
mod views;

use std::ops::Range;
use std::sync::OnceLock;

pub(crate) use encoding::is_forbidden;
pub(crate) use format::block_lines;
pub use format::{Unformattable, format};
pub use lines::{LineIndex, Position};
pub use links::{Link, MAX_MARKDOWN, Markdown};
pub(crate) use outline::{OPENCLAW_BLOCKS, is_of_openclaw};
pub(crate) use prefilter::Prefilter;
pub use problem::{FaultKind, Hint, Problem, ProblemKind};
pub(crate) use repair::{SWITCH, is_switch};
pub use scalar::{double_quoted, write_scalar};
pub(crate) use scalar::{is_null, is_number_or_boolean, resolves};
pub use split::{MAX_FRONTMATTER, Parts, Split, split, split_prefix};
pub(crate) use target::Target;
pub(crate) use tree::parse_yaml;
pub use tree::{Layout, MAX_DEPTH, MAX_NODES, Node, Style, Value};
pub use views::{PEOPLE_FIELDS, SPEC_FIELDS};

/// A `SKILL.md`.
#[derive(Debug, Clone)]
pub struct Document {
    text: String,
    frontmatter: Option<Node>,
    parts: Option<Parts>,
    body: Range<usize>,
    problems: Vec<Problem>,
    /// Computed on first use: code that only loads skills never needs it.
    markdown: OnceLock<Markdown>,
    sketch: OnceLock<Prefilter>,
}

impl Document {
    /// Reads a file's bytes. Bytes that are not UTF-8 are replaced and reported.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        let (text, problem) = encoding::decode(bytes);
        Self::read(text, problem.into_iter().collect(), None)
    }

    /// Reads the part before the body like [`Document::from_bytes`]. If the start of the body is already known, `parts`
    /// are the parts of a longer text that starts with `bytes`.
    pub fn of_start(mut bytes: Vec<u8>, parts: Parts) -> Self {
        bytes.truncate(parts.body);
        let whole = bytes.len();
        let (text, problem) = encoding::decode(bytes);
        // Replaced text has a different length, and so different parts.
        let known = (text.len() == whole && problem.is_none()).then_some(Split::Found(parts));
        Self::read(text, problem.into_iter().collect(), known)
    }

    /// Reads a text.
    pub fn parse(text: String) -> Self {
        Self::read(text, Vec::new(), None)
    }

    fn read(text: String, mut problems: Vec<Problem>, known: Option<Split>) -> Self {
        // In UTF-16 the byte-order mark is the least of the problems.
        if text.as_bytes().starts_with(split::BOM) && problems.is_empty() {
            problems.push(Problem { kind: ProblemKind::Bom, span: 0..split::BOM.len() });
        }
        if let Some(at) = memchr::memchr(0, text.as_bytes()) {
            problems.push(Problem { kind: ProblemKind::Nul, span: at..at + 1 });
        }
        let mut document = Self {
            body: 0..text.len(),
            text,
            frontmatter: None,
            parts: None,
            problems,
            markdown: OnceLock::new(),
            sketch: OnceLock::new(),
        };
        match known.unwrap_or_else(|| split(document.text.as_bytes())) {
            Split::Found(parts) => document.read_frontmatter(&parts),
            Split::Unclosed(open) => document.problem(ProblemKind::UnclosedFrontmatter, open),
            Split::Missing(at) => document.missing(at),
            // These never occur for a whole text.
            Split::NeedMore | Split::TooLarge(_) => {}
        }
        document
    }

    /// Returns the same text as another reader sees it: with `frontmatter` as its metadata, and without problems.
    /// `yaml` is the range of bytes between its delimiters, each three bytes long.
    pub(crate) fn seen_as(&self, yaml: Range<usize>, frontmatter: Node) -> Self {
        let (start, end) = (yaml.start, yaml.end + 3);
        let parts = Parts { bom: 0, open: start - 3..start, close: yaml.end..end, yaml, body: end };
        let body = end..self.text.len();
        let text = self.text.clone();
        Self {
            text,
            frontmatter: Some(frontmatter),
            parts: Some(parts),
            body,
            problems: Vec::new(),
            markdown: OnceLock::new(),
            sketch: OnceLock::new(),
        }
    }

    /// Returns the same text as seen by a reader that has one problem with it and reads no metadata.
    pub(crate) fn seen_with(&self, problem: Problem) -> Self {
        let body = 0..self.text.len();
        Self {
            text: self.text.clone(),
            frontmatter: None,
            parts: None,
            body,
            problems: vec![problem],
            markdown: OnceLock::new(),
            sketch: OnceLock::new(),
        }
    }

    fn problem(&mut self, kind: ProblemKind, span: Range<usize>) {
        self.problems.push(Problem { kind, span });
    }

    fn missing(&mut self, at: usize) {
        let length = self.text[at..].find(['\n', '\r']).unwrap_or(self.text.len() - at);
        self.problem(ProblemKind::MissingFrontmatter(Hint::of(&self.text)), at..at + length);
    }

    fn read_frontmatter(&mut self, parts: &Parts) {
        self.body = parts.body..self.text.len();
        self.parts = Some(parts.clone());
        if parts.open.start > parts.bom {
            self.problem(ProblemKind::LeadingBlankLines, parts.bom..parts.open.start);
        }
        let size = parts.yaml.len();
        if size > MAX_FRONTMATTER {
            return self.problem(ProblemKind::TooLarge(size), parts.open.clone());
        }
        let yaml = &self.text[parts.yaml.clone()];
        encoding::control_characters(yaml, parts.yaml.start, &mut self.problems);
        let tree = read_tree(yaml, parts.yaml.start, &mut self.problems);
        match tree {
            Some(Node { value: Value::Mapping { .. }, .. }) | None => self.frontmatter = tree,
            Some(node) => self.problem(ProblemKind::NotAMapping(node.kind()), node.span),
        }
    }

    /// Returns the whole text, including a byte-order mark. Every span is a range in it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text, so that its memory can be reused for the next one.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Returns the frontmatter, a mapping; `None` if it is missing or unreadable.
    pub fn frontmatter(&self) -> Option<&Node> {
        self.frontmatter.as_ref()
    }

    /// Returns the range of bytes between the delimiter lines.
    pub fn yaml_span(&self) -> Option<Range<usize>> {
        self.parts.as_ref().map(|parts| parts.yaml.clone())
    }

    /// Returns the range of the opening delimiter; an empty range at the start if it is missing.
    pub fn opening_span(&self) -> Range<usize> {
        self.parts.as_ref().map_or(0..0, |parts| parts.open.clone())
    }

    /// Returns everything after the frontmatter, or the whole text if no frontmatter was found.
    pub fn body(&self) -> &str {
        &self.text[self.body.clone()]
    }

    /// Returns the range of [`Document::body`], up to the end of the text.
    pub fn body_span(&self) -> Range<usize> {
        self.body.clone()
    }

    /// Returns the links, the code and the HTML of the body, with spans of the whole text. Parsed once.
    pub fn markdown(&self) -> &Markdown {
        self.markdown.get_or_init(|| Markdown::parse(self.body(), self.body.start))
    }

    /// Returns what a quick look at the body shows that it may contain. Computed once.
    pub(crate) fn sketch(&self) -> &Prefilter {
        self.sketch.get_or_init(|| Prefilter::of(self.body()))
    }

    /// Reports whether the body may have an HTML comment, as far as is known already.
    pub(crate) fn may_have_comment(&self) -> bool {
        self.sketch.get().is_none_or(|sketch| sketch.comment)
    }

    /// Returns the problems with the text itself, in the order in which they were found.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns the line index of the text. Built on every call: keep it to look up several positions.
    pub fn line_index(&self) -> LineIndex<'_> {
        LineIndex::new(&self.text)
    }

    /// Returns the line of byte `offset`, from 1: like [`Self::line_index`], but for a single place near the start.
    pub(crate) fn line(&self, offset: usize) -> usize {
        let bytes = self.text.as_bytes();
        let ends = memchr::memchr2_iter(b'\n', b'\r', &bytes[..offset.min(bytes.len())]);
        ends.filter(|at| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n')).count() + 1
    }

    /// Returns the position of byte `offset`.
    pub fn position(&self, offset: usize) -> Position {
        self.line_index().position(offset)
    }
}

/// Reads a text that is entirely YAML, in the same way as frontmatter but without repairs. Returns `None` if it has no
/// value at all.
///
/// # Errors
///
/// Fails if it is not YAML, or larger than any frontmatter may be.
pub fn read_yaml(yaml: &str, problems: &mut Vec<Problem>) -> Result<Option<Node>, Problem> {
    if yaml.len() > MAX_FRONTMATTER {
        return Err(Problem { kind: ProblemKind::TooLarge(yaml.len()), span: 0..0 });
    }
    tree::parse(yaml, 0, problems).map_err(|error| match error {
        tree::NoTree::Limit(problem) => problem,
        tree::NoTree::Syntax { fault, span } => Problem { kind: ProblemKind::Yaml(fault), span },
    })
}

/// Parses strictly first, then key by key. An empty frontmatter is a mapping without entries.
fn read_tree(yaml: &str, base: usize, problems: &mut Vec<Problem>) -> Option<Node> {
    match tree::parse(yaml, base, problems) {
        Ok(Some(node)) => Some(node),
        Ok(None) => {
            let value = Value::Mapping { pairs: Vec::new(), layout: Layout::Block };
            Some(Node { span: base..base + yaml.len(), value })
        }
        Err(tree::NoTree::Limit(problem)) => {
            problems.push(problem);
            None
        }
        Err(tree::NoTree::Syntax { fault, span }) => {
            let repaired = repair::repair(yaml, base, problems);
            if repaired.is_none() {
                problems.push(Problem { kind: ProblemKind::Yaml(fault), span });
            }
            repaired
        }
    }
}
