//! Entries in YAML: lines below a key at the top of the file.

use std::ops::Range;

use serde_json::{Map, Value};

use super::lines::{
    after_line, indentation, line_end, line_start, replaced, starts_line, with_lines, without_lines,
};
use super::redact::Member;
use super::{Added, Field, Key, Result, ServersError};
use crate::document::{Layout, Node, ProblemKind, Value as Yaml, parse_yaml};

/// The indentation of a level.
const UNIT: &str = "  ";

/// A key with its value.
type Pair = (Node, Node);

/// Returns the keys at the top of `text` with their values. Scalars are texts.
pub(super) fn parse(text: &str) -> Result<Map<String, Value>> {
    match tree(text)?.map(|root| root.to_json()) {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(map)) => Ok(map),
        Some(_) => Err(ServersError::no_mapping("the file")),
    }
}

/// Returns the keys at the top of `text`, with what is in their values.
pub(super) fn members(text: &str) -> Result<Vec<Member>> {
    Ok(tree(text)?.map(|root| members_of(text, &root)).unwrap_or_default())
}

fn members_of(text: &str, node: &Node) -> Vec<Member> {
    let member = |(key, value): &Pair| {
        let name = key.text().unwrap_or_default();
        Member::new(text, name, key.span.clone(), value.span.clone(), members_of(text, value))
    };
    // A key may be a list, or have lines.
    let is_plain = |(key, _): &&Pair| key.text().is_some() && !text[key.span.clone()].contains('\n');
    node.pairs().iter().filter(is_plain).map(member).collect()
}

/// Returns `text` with the entry `key` of `fields` added.
pub(super) fn add(text: &str, key: Key<'_>, fields: &[Field]) -> Result<Added> {
    let end = line_end(text);
    let entry = |indent: &str| {
        let mut lines = vec![format!("{indent}{}:", key.name)];
        lines.extend(fields.iter().map(|(name, value)| format!("{indent}{UNIT}{name}: {}", written(value))));
        lines.join(end)
    };
    let with_table =
        |indent: &str| format!("{indent}{}:{end}{}", key.table, entry(&format!("{indent}{UNIT}")));
    let Some(root) = tree(text)? else {
        return Ok(Added { text: with_lines(text, text.len(), &with_table("")), with_table: true });
    };
    let pairs = block(&root, "the file")?;
    let Some(table) = pair(pairs, key.table)? else {
        let indent = pairs.first().map_or("", |(first, _)| indentation(text, first.span.start));
        return Ok(Added { text: with_lines(text, text.len(), &with_table(indent)), with_table: true });
    };
    let deeper = format!("{}{UNIT}", indentation(text, table.0.span.start));
    let text = match &table.1 {
        value if value.is_absent() => with_lines(text, after_line(text, table.0.span.end), &entry(&deeper)),
        Node { value: Yaml::Mapping { pairs, .. }, span } if pairs.is_empty() => {
            let key_end = table.0.span.end;
            let colon = key_end + text[key_end..span.start].find(':').map_or(0, |at| at + 1);
            let text = replaced(text, colon..span.end, "");
            with_lines(&text, after_line(&text, key_end), &entry(&deeper))
        }
        value => {
            let servers = block(value, &format!("`{}`", key.table))?;
            let last = servers.last().ok_or_else(ServersError::notation)?;
            let indent = indentation(text, last.0.span.start);
            with_lines(text, lines(text, last)?.end, &entry(indent))
        }
    };
    Ok(Added { text, with_table: false })
}

/// Returns `text` with `field` set in the entry `key`.
pub(super) fn set(text: &str, key: Key<'_>, field: &Field) -> Result<String> {
    let root = tree(text)?.ok_or_else(ServersError::notation)?;
    let (_, (_, entry)) = entry(&root, key)?;
    let fields = block(entry, &format!("`{}`", key.name))?;
    let (name, new) = (field.0, written(&field.1));
    let Some(old) = pair(fields, name)? else {
        let last = fields.last().ok_or_else(ServersError::notation)?;
        let indent = indentation(text, last.0.span.start);
        return Ok(with_lines(text, lines(text, last)?.end, &format!("{indent}{name}: {new}")));
    };
    let span = &old.1.span;
    let is_inline = !text[old.0.span.start..span.end].contains('\n') && !old.1.is_absent();
    if is_inline {
        return Ok(if text[span.clone()] == new {
            text.to_owned()
        } else {
            replaced(text, span.clone(), &new)
        });
    }
    let range = lines(text, old)?;
    let indent = indentation(text, old.0.span.start);
    let at = range.start;
    Ok(with_lines(&without_lines(text, range), at, &format!("{indent}{name}: {new}")))
}

/// Returns `text` without the entry `key`, and without its table if that is empty then and `with_table` says so.
pub(super) fn remove(text: &str, key: Key<'_>, with_table: bool) -> Result<String> {
    let root = tree(text)?.ok_or_else(ServersError::notation)?;
    let (table, found) = entry(&root, key)?;
    if table.1.pairs().len() > 1 {
        return Ok(without_lines(text, lines(text, found)?));
    }
    if with_table {
        return Ok(without_lines(text, lines(text, table)?));
    }
    let text = without_lines(text, lines(text, found)?);
    let key_end = table.0.span.end;
    let colon = key_end + text[key_end..].find(':').map_or(0, |at| at + 1);
    Ok(replaced(&text, colon..colon, " {}"))
}

/// Parses `text`; `None` if it has no value.
fn tree(text: &str) -> Result<Option<Node>> {
    let (root, problems) = parse_yaml(text).map_err(|(at, reason)| ServersError::syntax(text, at, reason))?;
    let several = problems.iter().find(|problem| problem.kind == ProblemKind::SeveralDocuments);
    match several {
        Some(problem) => Err(ServersError::syntax(text, problem.span.start, "it has several documents")),
        None => Ok(root.filter(|root| !root.is_absent())),
    }
}

/// Returns the table of servers and the entry in it.
fn entry<'n>(root: &'n Node, key: Key<'_>) -> Result<(&'n Pair, &'n Pair)> {
    let table = pair(block(root, "the file")?, key.table)?.ok_or_else(ServersError::notation)?;
    let servers = block(&table.1, &format!("`{}`", key.table))?;
    Ok((table, pair(servers, key.name)?.ok_or_else(ServersError::notation)?))
}

/// Returns the pairs of a mapping with a line for each.
fn block<'n>(node: &'n Node, what: &str) -> Result<&'n [Pair]> {
    match &node.value {
        Yaml::Mapping { layout: Layout::Block, pairs } => Ok(pairs),
        Yaml::Mapping { .. } => Err(ServersError::notation()),
        _ => Err(ServersError::no_mapping(what)),
    }
}

fn pair<'n>(pairs: &'n [Pair], name: &str) -> Result<Option<&'n Pair>> {
    let mut named = pairs.iter().filter(|(key, _)| key.text() == Some(name));
    match (named.next(), named.next()) {
        (_, Some(_)) => Err(ServersError::twice(name)),
        (first, None) => Ok(first),
    }
}

/// Returns the lines of a pair.
fn lines(text: &str, (key, value): &Pair) -> Result<Range<usize>> {
    if !starts_line(text, key.span.start) {
        return Err(ServersError::notation());
    }
    Ok(line_start(text, key.span.start)..after_line(text, key.span.end.max(value.span.end)))
}

/// Returns `value` on one line. YAML reads what JSON writes.
fn written(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", ")),
        value => value.to_string(),
    }
}
