//! Entries in JSON, with or without comments.

use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value as Ast};
use jsonc_parser::tokens::{Token, TokenAndRange};
use serde_json::{Map, Value};

use super::lines::{indentation, line_end, replaced, starts_line};
use super::redact::Member;
use super::{Added, Field, Key, Result, ServersError};
use crate::interop::json::parse as read;

/// The indentation of a level where a file shows none.
const UNIT: &str = "  ";

/// A parsed text.
struct Parsed<'t> {
    text: &'t str,
    /// The value; `None` for a text of blanks and comments.
    root: Option<Ast<'t>>,
    /// All tokens, comments included.
    tokens: Vec<TokenAndRange<'t>>,
}

/// A value to write: one that the caller has, or an object with keys in order.
enum New<'a> {
    Value(&'a Value),
    Object(Vec<(&'a str, Self)>),
}

/// Returns the keys at the top of `text` with their values. Numbers are as [`number`] returns them.
pub(super) fn parse(text: &str, comments: bool) -> Result<Map<String, Value>> {
    match Parsed::new(text, comments)?.root.as_ref().map(value) {
        None => Ok(Map::new()),
        Some(Value::Object(map)) => Ok(map),
        Some(_) => Err(ServersError::no_mapping("the file")),
    }
}

/// Returns the keys at the top of `text`, with what is in their values.
pub(super) fn members(text: &str, comments: bool) -> Result<Vec<Member>> {
    Ok(Parsed::new(text, comments)?.root.as_ref().map(|root| members_of(text, root)).unwrap_or_default())
}

fn members_of(text: &str, value: &Ast<'_>) -> Vec<Member> {
    let properties = value.as_object().into_iter().flat_map(|object| &object.properties);
    let member = |property: &ObjectProp<'_>| {
        let (value, inner) = (range(&property.value), members_of(text, &property.value));
        let key = jsonc_parser::common::Ranged::range(&property.name);
        Member::new(text, property.name.as_str(), key.start..key.end, value, inner)
    };
    properties.map(member).collect()
}

/// Returns `text` with the entry `key` of `fields` added.
pub(super) fn add(text: &str, comments: bool, key: Key<'_>, fields: &[Field]) -> Result<Added> {
    let entry = New::Object(fields.iter().map(|(name, value)| (*name, New::Value(value))).collect());
    let parsed = Parsed::new(text, comments)?;
    let Some(root) = &parsed.root else {
        let end = line_end(text);
        let file = New::Object(vec![(key.table, New::Object(vec![(key.name, entry)]))]);
        // Comments stay, each on a line of its own.
        let kept = if text.trim().is_empty() { "" } else { text };
        let between = if kept.is_empty() || kept.ends_with('\n') { "" } else { end };
        let text = format!("{kept}{between}{}{end}", written(&file, "", UNIT, end));
        return Ok(Added { text, with_table: true });
    };
    let root = object(root, "the file")?;
    if let Some((_, table)) = member(root, key.table)? {
        let table = object(&table.value, &format!("`{}`", key.table))?;
        return Ok(Added { text: parsed.with(table, key.name, &entry), with_table: false });
    }
    let table = New::Object(vec![(key.name, entry)]);
    Ok(Added { text: parsed.with(root, key.table, &table), with_table: true })
}

/// Returns `text` with `field` set in the entry `key`.
pub(super) fn set(text: &str, comments: bool, key: Key<'_>, field: &Field) -> Result<String> {
    let parsed = Parsed::new(text, comments)?;
    let (_, at) = parsed.table(key)?;
    let (_, entry) = member(at, key.name)?.ok_or_else(ServersError::notation)?;
    let entry = object(&entry.value, &format!("`{}`", key.name))?;
    let (name, new) = field;
    Ok(match member(entry, name)? {
        Some((_, old)) if value(&old.value) == *new => text.to_owned(),
        Some((_, old)) => replaced(text, range(&old.value), &inline(&New::Value(new))),
        None => parsed.with(entry, name, &New::Value(new)),
    })
}

/// Returns `text` without the entry `key`, and without its table if that is empty then and `with_table` says so.
pub(super) fn remove(text: &str, comments: bool, key: Key<'_>, with_table: bool) -> Result<String> {
    let parsed = Parsed::new(text, comments)?;
    let (root, table) = parsed.table(key)?;
    let (at, _) = member(table, key.name)?.ok_or_else(ServersError::notation)?;
    if with_table
        && table.properties.len() == 1
        && let Some((of_table, _)) = member(root, key.table)?
    {
        return Ok(parsed.without(root, of_table));
    }
    Ok(parsed.without(table, at))
}

impl<'t> Parsed<'t> {
    fn new(text: &'t str, comments: bool) -> Result<Self> {
        let parsed = read(text, comments).map_err(|(at, reason)| ServersError::syntax(text, at, reason))?;
        Ok(Self { text, root: parsed.value, tokens: parsed.tokens.unwrap_or_default() })
    }

    /// Returns the file and the table of servers.
    fn table(&self, key: Key<'_>) -> Result<(&Object<'t>, &Object<'t>)> {
        let root = self.root.as_ref().ok_or_else(ServersError::notation)?;
        let root = object(root, "the file")?;
        let (_, table) = member(root, key.table)?.ok_or_else(ServersError::notation)?;
        Ok((root, object(&table.value, &format!("`{}`", key.table))?))
    }

    /// Returns the range of the comma that follows byte `at`, perhaps after comments.
    fn comma_after(&self, at: usize) -> Option<Range<usize>> {
        let next = self.tokens.partition_point(|token| token.range.start < at);
        let is_comment = |token: &Token<'_>| matches!(token, Token::CommentLine(_) | Token::CommentBlock(_));
        let token = self.tokens[next..].iter().find(|token| !is_comment(&token.token))?;
        (token.token == Token::Comma).then_some(token.range.start..token.range.end)
    }

    /// Reports whether a comment to the end of the line is the last token before byte `at`.
    fn follows_line_comment(&self, at: usize) -> bool {
        let next = self.tokens.partition_point(|token| token.range.start < at);
        let last = next.checked_sub(1).and_then(|last| self.tokens.get(last));
        last.is_some_and(|token| matches!(token.token, Token::CommentLine(_)))
    }

    /// Returns the indentation of a level: that of the first key of the file.
    fn unit(&self) -> &str {
        let Some(Ast::Object(root)) = &self.root else { return UNIT };
        let first = root.properties.first().filter(|first| starts_line(self.text, first.range.start));
        let unit = first.map_or("", |first| indentation(self.text, first.range.start));
        if unit.is_empty() { UNIT } else { unit }
    }

    /// Returns the text with a member at the end of `object`.
    fn with(&self, object: &Object<'t>, name: &str, value: &New<'_>) -> String {
        let (text, end) = (self.text, line_end(self.text));
        let (open, close) = (object.range.start + 1, object.range.end - 1);
        let base = indentation(text, object.range.start);
        let Some(last) = object.properties.last() else {
            let indent = format!("{base}{}", self.unit());
            let kept = open + text[open..close].trim_end().len();
            let member = format!("{end}{indent}{}{end}{base}", self.member(name, value, &indent));
            return replaced(text, kept..close, &member);
        };
        let comma = self.comma_after(last.range.end);
        let first = object.properties.first().unwrap_or(last).range.start;
        if !text[open..first].contains('\n') {
            let member = format!("{}: {}", quoted(name), inline(value));
            return match comma {
                Some(comma) => replaced(text, comma.end..comma.end, &format!(" {member},")),
                None => replaced(text, last.range.end..last.range.end, &format!(", {member}")),
            };
        }
        let sibling = if starts_line(text, last.range.start) { last.range.start } else { first };
        let indent = indentation(text, sibling);
        let member = self.member(name, value, indent);
        // After the comments that follow the last member.
        let after = comma.as_ref().map_or(last.range.end, |comma| comma.end);
        let at = after + text[after..close].trim_end().len();
        let trailing = if comma.is_some() { "," } else { "" };
        let new = replaced(text, at..at, &format!("{end}{indent}{member}{trailing}"));
        if comma.is_some() { new } else { replaced(&new, last.range.end..last.range.end, ",") }
    }

    fn member(&self, name: &str, value: &New<'_>, indent: &str) -> String {
        format!("{}: {}", quoted(name), written(value, indent, self.unit(), line_end(self.text)))
    }

    /// Returns the text without the member `at` of `object`. Comments stay.
    fn without(&self, object: &Object<'t>, at: usize) -> String {
        let text = self.text;
        let member = object.properties[at].range;
        let comma = self.comma_after(member.end);
        let end = comma.as_ref().map_or(member.end, |comma| comma.end);
        let before = text[..member.start].trim_end().len();
        // The rest of this line must not become part of a comment before it.
        let line = text[end..].split('\n').next().unwrap_or_default();
        let keeps_line_end = self.follows_line_comment(member.start) && !line.trim().is_empty();
        let start = if keeps_line_end { member.start } else { before };
        if object.properties.len() == 1 {
            let (open, close) = (object.range.start + 1, object.range.end - 1);
            let is_blank = text[open..start].trim().is_empty() && text[end..close].trim().is_empty();
            return replaced(text, if is_blank { open..close } else { start..end }, "");
        }
        let previous =
            at.checked_sub(1).filter(|_| comma.is_none()).map(|previous| &object.properties[previous]);
        let new = replaced(text, start..end, "");
        // The last member has no comma, so its neighbour must not have one either.
        match previous.and_then(|previous| self.comma_after(previous.range.end)) {
            Some(comma) => replaced(&new, comma, ""),
            None => new,
        }
    }
}

fn object<'v, 't>(value: &'v Ast<'t>, what: &str) -> Result<&'v Object<'t>> {
    value.as_object().ok_or_else(|| ServersError::no_mapping(what))
}

/// Returns the member `name` of `object` with its index.
fn member<'o, 't>(object: &'o Object<'t>, name: &str) -> Result<Option<(usize, &'o ObjectProp<'t>)>> {
    let mut named = object.properties.iter().enumerate().filter(|(_, member)| member.name.as_str() == name);
    match (named.next(), named.next()) {
        (_, Some(_)) => Err(ServersError::twice(name)),
        (first, None) => Ok(first),
    }
}

fn range(value: &Ast<'_>) -> Range<usize> {
    use jsonc_parser::common::Ranged as _;
    value.start()..value.end()
}

/// Returns `value` as other crates know it.
fn value(ast: &Ast<'_>) -> Value {
    match ast {
        Ast::StringLit(text) => text.value.as_ref().into(),
        Ast::NumberLit(text) => number(text.value),
        Ast::BooleanLit(boolean) => boolean.value.into(),
        Ast::NullKeyword(_) => Value::Null,
        Ast::Array(array) => array.elements.iter().map(value).collect(),
        Ast::Object(object) => {
            let members = object.properties.iter();
            Value::Object(
                members.map(|member| (member.name.as_str().to_owned(), value(&member.value))).collect(),
            )
        }
    }
}

/// Returns a number as an object with its text: numbers of other entries are compared as they are written.
pub(super) fn number(text: &str) -> Value {
    Value::Object(Map::from_iter([("number".to_owned(), text.into())]))
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Returns `value` on one line.
fn inline(value: &New<'_>) -> String {
    match value {
        New::Value(Value::Array(items)) => {
            let items: Vec<_> = items.iter().map(Value::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        New::Value(value) => value.to_string(),
        New::Object(members) => {
            let members: Vec<_> =
                members.iter().map(|(name, value)| format!("{}: {}", quoted(name), inline(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
    }
}

/// Returns `value` with a line for each member of an object, for a line that is indented by `indent`.
fn written(value: &New<'_>, indent: &str, unit: &str, end: &str) -> String {
    let New::Object(members) = value else { return inline(value) };
    let inner = format!("{indent}{unit}");
    let member = |(name, value): &(&str, New<'_>)| {
        format!("{end}{inner}{}: {}", quoted(name), written(value, &inner, unit, end))
    };
    let members: Vec<_> = members.iter().map(member).collect();
    format!("{{{}{end}{indent}}}", members.join(","))
}
