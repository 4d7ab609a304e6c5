//! The lenient second attempt at frontmatter that is not YAML.
//!
//! Other clients load such files: most have a single `description` with an unquoted colon. Every top-level key is
//! parsed separately; if that fails, its value is taken literally as text. Positions stay those of the file, because no
//! text is rewritten.

use std::collections::BTreeMap;
use std::ops::Range;

use super::problem::{FaultKind, Problem, ProblemKind};
use super::tree::{self, Layout, NoTree, Node, Style, Value};
use crate::text::{ConflictMark, line_start, lines};

/// The text after the `#` of every switch for the linter: `# skillpm: allow name-directory`.
pub(crate) const SWITCH: &str = "skillpm:";

/// Reports whether a comment is a switch for the linter, given the text after its sign.
pub(crate) fn is_switch(comment: &str) -> bool {
    comment.trim_start().starts_with(SWITCH)
}

/// One top-level key with its value, as byte ranges of the YAML text.
struct BrokenField {
    key: Range<usize>,
    /// The range from the end of the colon to the end of the last line that belongs to the key.
    rest: Range<usize>,
    /// Whether the value starts with a bracket; `None` while no part of it has been read.
    is_flow: Option<bool>,
    /// Whether it is a block after `|` or `>`, in which trailing blank lines may count.
    is_block: bool,
    /// The number of opening brackets in it minus the closing ones.
    depth: isize,
}

impl BrokenField {
    fn new(key: Range<usize>, colon_end: usize) -> Self {
        Self { key, rest: colon_end..colon_end, is_flow: None, is_block: false, depth: 0 }
    }

    /// Adds `text`, which ends at byte `end`.
    fn add(&mut self, text: &str, end: usize) {
        self.rest.end = end;
        if self.is_flow.is_none() && !text.trim().is_empty() {
            self.is_flow = Some(text.trim_start().starts_with(['{', '[']));
            self.is_block = text.trim_start().starts_with(['|', '>']);
        }
        for bracket in text.matches(['{', '[', '}', ']']) {
            self.depth += if matches!(bracket, "{" | "[") { 1 } else { -1 };
        }
    }

    /// Reports whether the value starts with a bracket and has not closed all of them.
    fn is_open(&self) -> bool {
        self.is_flow == Some(true) && self.depth > 0
    }
}

/// Parses `yaml` key by key. Returns `None` if the text does not consist of `key: value` lines.
pub(super) fn repair(yaml: &str, base: usize, problems: &mut Vec<Problem>) -> Option<Node> {
    let mut found = Vec::new();
    let cleaned = without_conflicts(yaml, base, &mut found);
    let entries = entries(&cleaned)?;
    let mut pairs: Vec<(Node, Node)> = Vec::new();
    let mut seen = BTreeMap::new();
    for entry in entries {
        let (key, value) = parse_entry(&cleaned, base, &entry, &mut found)?;
        found.extend(tree::duplicate(&key, &mut seen));
        pairs.push((key, value));
    }
    let span = pairs.first()?.0.span.start..pairs.last()?.1.span.end;
    problems.append(&mut found);
    Some(Node { span, value: Value::Mapping { pairs, layout: Layout::Block } })
}

/// Blanks out the marker lines of a merge conflict, so that all other bytes keep their place.
fn without_conflicts(yaml: &str, base: usize, problems: &mut Vec<Problem>) -> String {
    let mut cleaned = yaml.to_owned();
    if !yaml.contains("<<<<<<<") && !yaml.contains(">>>>>>>") {
        return cleaned;
    }
    for (at, line) in lines(yaml, 0..yaml.len()) {
        if ConflictMark::of(line).is_some() {
            cleaned.replace_range(at..at + line.len(), &" ".repeat(line.len()));
            let span = base + at..base + at + line.len();
            problems.push(Problem { kind: ProblemKind::ConflictMarker, span });
        }
    }
    cleaned
}

/// Splits `yaml` into its top-level keys. Returns `None` if a line belongs to none of them.
fn entries(yaml: &str) -> Option<Vec<BrokenField>> {
    let mut entries: Vec<BrokenField> = Vec::new();
    // Whether the last entry has a line that is itself a key unless it is inside brackets.
    let mut doubtful = false;
    for (at, line) in lines(yaml, 0..yaml.len()) {
        let quoted = line.starts_with(['"', '\'']);
        let is_open = entries.last().is_some_and(BrokenField::is_open);
        match key_and_colon(line) {
            Some(_) if quoted && is_open => {
                doubtful = true;
                entries.last_mut()?.add(line, at + line.len());
            }
            Some(_) if doubtful && is_open => return None,
            Some((length, colon)) => {
                doubtful = false;
                let mut entry = BrokenField::new(at..at + length, at + colon + 1);
                entry.add(&line[colon + 1..], at + line.len());
                entries.push(entry);
            }
            // Blank lines and comments end nothing. Those at the end of a block may be part of it.
            None if line.trim().is_empty() => {
                if let Some(block) = entries.last_mut().filter(|entry| entry.is_block) {
                    block.rest.end = yaml.len().min(at + line.len() + 1);
                }
            }
            None if line.starts_with('#') => {
                if let Some(block) = entries.last_mut() {
                    block.is_block = false;
                }
            }
            None if quoted || line.starts_with([' ', '\t', '-', '{', '}', '[', ']']) => {
                entries.last_mut()?.add(line, at + line.len());
            }
            None => return None,
        }
    }
    let is_open = entries.last().is_some_and(BrokenField::is_open);
    (!doubtful || !is_open).then_some(entries)
}

/// Returns the length of the key that `line` starts with and the position of its colon, if it starts with a key.
fn key_and_colon(line: &str) -> Option<(usize, usize)> {
    let length = match line.chars().next()? {
        quote @ ('"' | '\'') => quoted_length(line, quote)?,
        _ => line.split_once(':')?.0.trim_end().len(),
    };
    let (key, after) = line.split_at(length);
    let plain = key.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let rest = after.trim_start().strip_prefix(':')?;
    let is_key = plain || key.starts_with(['"', '\'']);
    (is_key && (rest.is_empty() || rest.starts_with([' ', '\t'])))
        .then_some((length, line.len() - rest.len() - 1))
}

/// Returns the length of the quoted text that `line` starts with, quotes included.
fn quoted_length(line: &str, quote: char) -> Option<usize> {
    let mut characters = line.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        let is_double = quote == '\'' && characters.peek().is_some_and(|(_, next)| *next == quote);
        if (c == '\\' && quote == '"') || (c == quote && is_double) {
            characters.next();
        } else if c == quote {
            return Some(at + 1);
        }
    }
    None
}

/// Returns the key and the value of `entry`: parsed if that works, otherwise raw.
fn parse_entry(
    yaml: &str,
    base: usize,
    entry: &BrokenField,
    problems: &mut Vec<Problem>,
) -> Option<(Node, Node)> {
    let slice = &yaml[entry.key.start..entry.rest.end];
    let (fault, span) = match tree::parse(slice, base + entry.key.start, problems) {
        Ok(Some(Node { value: Value::Mapping { mut pairs, .. }, .. })) if pairs.len() == 1 => {
            return pairs.pop();
        }
        // More than one value where the top level has one key: this repair is not meant for that.
        Ok(_) | Err(NoTree::Limit(_)) => return None,
        Err(NoTree::Syntax { fault, span }) => (fault, span),
    };
    let rest = without_switch(yaml, entry.rest.clone());
    let text = raw_text(&yaml[rest.clone()]);
    let key = &yaml[entry.key.clone()];
    let (key, style) = match key.chars().next() {
        Some('"') => (unquoted(key)?, Style::DoubleQuoted),
        Some('\'') => (key[1..key.len() - 1].replace("''", "'"), Style::SingleQuoted),
        _ => (key.to_owned(), Style::Plain),
    };
    let value = value_span(yaml, rest, base);
    let fault = refine(fault, &yaml[value.start - base..value.end - base]);
    let span = if fault == FaultKind::Colon { span } else { value.clone() };
    let kind = ProblemKind::Repaired { key: key.clone(), fault, raw: text.clone() };
    problems.push(Problem { kind, span });
    let key = Node {
        span: base + entry.key.start..base + entry.key.end,
        value: Value::Scalar { text: key, style },
    };
    Some((key, Node { span: value, value: Value::Scalar { text, style: Style::Raw } }))
}

/// Returns `rest` without a switch for the linter at the end of its last line: it is never part of the value.
fn without_switch(yaml: &str, rest: Range<usize>) -> Range<usize> {
    let text = &yaml[rest.clone()];
    let line = line_start(text, text.len());
    let is_own = |at: usize| text[..at].ends_with([' ', '\t', '\n', '\r']) && is_switch(&text[at + 1..]);
    let mut marks = text.match_indices('#').map(|(at, _)| at).filter(|at| *at >= line);
    match marks.find(|at| is_own(*at)) {
        Some(at) if !text[..at].trim().is_empty() => rest.start..rest.start + at,
        _ => rest,
    }
}

/// Returns the bytes of the file from the first to the last character of the value after the colon.
fn value_span(yaml: &str, rest: Range<usize>, base: usize) -> Range<usize> {
    let text = &yaml[rest.clone()];
    let start = rest.start + (text.len() - text.trim_start().len());
    let end = rest.start + text.trim_end().len();
    base + start.min(end)..base + end
}

/// Returns the value as one line of text, its lines joined the way YAML folds them.
fn raw_text(rest: &str) -> String {
    let mut lines: Vec<&str> =
        rest.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.len() > 1 && lines[0].starts_with(['|', '>']) && lines[0].len() <= 3 {
        lines.remove(0);
    }
    let text = lines.join(" ");
    unquoted(&text).unwrap_or(text)
}

/// Returns the content of `text` if one pair of quotes surrounds all of it, with escapes decoded.
fn unquoted(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut plain = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' if quote == '"' => match characters.next()? {
                escaped @ ('"' | '\'' | '\\' | '/') => plain.push(escaped),
                'n' | 't' | 'r' => plain.push(' '),
                other => plain.extend(['\\', other]),
            },
            // Quotes inside: these two are not a pair.
            c if c == quote => return None,
            c => plain.push(c),
        }
    }
    Some(plain)
}

/// Returns a more precise fault, now that the value is known.
fn refine(fault: FaultKind, value: &str) -> FaultKind {
    match (fault, value.chars().next()) {
        (fault @ (FaultKind::Control(_) | FaultKind::Tab | FaultKind::AfterQuote | FaultKind::Escape), _) => {
            fault
        }
        (_, Some(quote @ ('"' | '\''))) if value[1..].contains(quote) => FaultKind::AfterQuote,
        (_, Some('"' | '\'')) => FaultKind::UnclosedQuote,
        (_, Some('[' | '{')) => FaultKind::Brackets,
        (_, Some(c @ ('@' | '`' | '%' | '*' | '&' | '!' | ',' | ']' | '}')))
        | (FaultKind::Other(_), Some(c @ ('-' | '?' | '|' | '>'))) => FaultKind::ReservedStart(c),
        (fault, _) => fault,
    }
}
