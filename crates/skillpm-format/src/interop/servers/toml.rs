//! Entries in TOML: a table of its own at the end of the file.

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{Document, Item, TableLike};

use super::lines::{after_line, line_end, line_start, replaced, with_lines, without_line_end, without_lines};
use super::redact::Member;
use super::{Added, Field, Key, Result, ServersError};

/// Returns the keys at the top of `text` with their values.
pub(super) fn parse(text: &str) -> Result<Map<String, Value>> {
    document(text)?;
    let table: toml::Table =
        toml::from_str(text).map_err(|error| fault(text, error.span(), error.message()))?;
    match serde_json::to_value(table) {
        Ok(Value::Object(map)) => Ok(map),
        _ => Err(ServersError::notation()),
    }
}

/// Returns the keys at the top of `text`, with what is in their values.
pub(super) fn members(text: &str) -> Result<Vec<Member>> {
    Ok(members_of(text, document(text)?.as_table()))
}

fn members_of(text: &str, table: &dyn TableLike) -> Vec<Member> {
    let names = table.iter().filter_map(|(name, _)| table.get_key_value(name));
    names.flat_map(|(key, item)| member(text, key, item)).collect()
}

/// Returns the member `key` with the value `item`, and its headers as members without a value.
fn member(text: &str, key: &toml_edit::Key, item: &Item) -> Vec<Member> {
    let header = |table: &toml_edit::Table| {
        let span = table.span().filter(|_| !table.is_implicit() && !table.is_dotted());
        span.map(|span| Member::new(text, "", span.clone(), span.end..span.end, Vec::new()))
    };
    let at = key.span().unwrap_or_default();
    let (value, inner, headers): (_, _, Vec<_>) = match item {
        Item::None => return Vec::new(),
        Item::Value(value) => {
            let inner = value.as_inline_table().map(|table| members_of(text, table)).unwrap_or_default();
            let value = value.span().unwrap_or(at.end..at.end);
            return vec![Member::new(text, key.get(), at, value, inner)];
        }
        Item::Table(table) => (at.clone(), members_of(text, table), header(table).into_iter().collect()),
        Item::ArrayOfTables(tables) => {
            let inner = tables.iter().flat_map(|table| members_of(text, table)).collect();
            (at.clone(), inner, tables.iter().filter_map(header).collect())
        }
    };
    let table = Member { has_lines: true, ..Member::new(text, key.get(), at, value, inner) };
    headers.into_iter().chain([table]).collect()
}

/// Returns `text` with the entry `key` of `fields` added.
pub(super) fn add(text: &str, key: Key<'_>, fields: &[Field]) -> Result<Added> {
    let document = document(text)?;
    if let Some(table) = document.get(key.table) {
        servers(table, key.table)?;
    }
    let end = line_end(text);
    let mut lines = vec![format!("[{}.{}]", key.table, key.name)];
    lines.extend(fields.iter().map(|(name, value)| format!("{name} = {}", written(value))));
    // An empty line sets it apart. It is there even after an empty line, so that removing the entry is the inverse.
    let apart = if text.is_empty() { "" } else { end };
    let text = with_lines(text, text.len(), &format!("{apart}{}", lines.join(end)));
    Ok(Added { text, with_table: false })
}

/// Returns `text` with `field` set in the entry `key`.
pub(super) fn set(text: &str, key: Key<'_>, field: &Field) -> Result<String> {
    let document = document(text)?;
    let entry = entry(&document, key)?;
    let (name, new) = (field.0, written(&field.1));
    if let Some(old) = entry.get(name) {
        let span = old.as_value().and_then(toml_edit::Value::span).ok_or_else(ServersError::notation)?;
        return Ok(if text[span.clone()] == new { text.to_owned() } else { replaced(text, span, &new) });
    }
    // Below the last field of the table, and above its sub-tables.
    let last = entry.iter().filter_map(|(_, item)| item.as_value()?.span()).map(|span| span.end).max();
    match (last, entry_is_inline(&document, key)) {
        (Some(last), false) => Ok(with_lines(text, after_line(text, last), &format!("{name} = {new}"))),
        _ => Err(ServersError::notation()),
    }
}

/// Returns `text` without the entry `key`.
pub(super) fn remove(text: &str, key: Key<'_>) -> Result<String> {
    let document = document(text)?;
    let table = document.get(key.table).ok_or_else(ServersError::notation)?;
    let (name, item) =
        servers(table, key.table)?.get_key_value(key.name).ok_or_else(ServersError::notation)?;
    let mut spans = Vec::new();
    collect(name, item, &mut spans);
    let mut lines: Vec<_> =
        spans.into_iter().map(|span| line_start(text, span.start)..after_line(text, span.end)).collect();
    lines.sort_by_key(|range| range.start);
    let mut new = text.to_owned();
    for range in merged(lines).into_iter().rev() {
        let above = without_line_end(&new[..range.start]);
        let is_set_apart = new[range.clone()].starts_with('[') && (above.is_empty() || above.ends_with('\n'));
        let start = if is_set_apart { above.len() } else { range.start };
        new = without_lines(&new, start..range.end);
    }
    Ok(new)
}

fn document(text: &str) -> Result<Document<&str>> {
    Document::parse(text).map_err(|error| fault(text, error.span(), error.message()))
}

fn fault(text: &str, span: Option<Range<usize>>, message: &str) -> ServersError {
    let reason = message.lines().collect::<Vec<_>>().join(", ");
    ServersError::syntax(text, span.map_or(0, |span| span.start), reason)
}

/// Returns the table of servers, which must not be one line.
fn servers<'i>(item: &'i Item, name: &str) -> Result<&'i dyn TableLike> {
    match item {
        Item::Table(table) => Ok(table),
        Item::Value(toml_edit::Value::InlineTable(_)) => Err(ServersError::notation()),
        _ => Err(ServersError::no_mapping(&format!("`{name}`"))),
    }
}

fn entry<'d>(document: &'d Document<&str>, key: Key<'_>) -> Result<&'d dyn TableLike> {
    let table = document.get(key.table).ok_or_else(ServersError::notation)?;
    let entry = servers(table, key.table)?.get(key.name).ok_or_else(ServersError::notation)?;
    entry.as_table_like().ok_or_else(|| ServersError::no_mapping(&format!("`{}`", key.name)))
}

fn entry_is_inline(document: &Document<&str>, key: Key<'_>) -> bool {
    let entry = document.get(key.table).and_then(|table| table.get(key.name));
    entry.is_some_and(Item::is_value)
}

/// Adds the spans of everything that `item` below `key` consists of: headers, and keys with their values.
fn collect(key: &toml_edit::Key, item: &Item, spans: &mut Vec<Range<usize>>) {
    let below = |table: &toml_edit::Table, spans: &mut Vec<Range<usize>>| {
        if !table.is_implicit() && !table.is_dotted() {
            spans.extend(table.span());
        }
        for (name, _) in table {
            if let Some((key, item)) = table.get_key_value(name) {
                collect(key, item, spans);
            }
        }
    };
    match item {
        Item::None => {}
        Item::Value(value) => {
            if let (Some(key), Some(value)) = (key.span(), value.span()) {
                spans.push(key.start..value.end);
            }
        }
        Item::Table(table) => below(table, spans),
        Item::ArrayOfTables(tables) => tables.iter().for_each(|table| below(table, spans)),
    }
}

/// Joins ranges that touch; they are sorted by their start.
fn merged(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match all.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => all.push(range),
        }
    }
    all
}

fn written(value: &Value) -> String {
    match value {
        Value::String(text) => toml_edit::Value::from(text.as_str()).to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", ")),
        value => value.to_string(),
    }
}
