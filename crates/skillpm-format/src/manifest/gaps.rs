//! The text between the items of a list, or of an inline table, when items are added or removed: it may contain
//! comments that the user wants to keep.
//!
//! A comment after a comma on the same line belongs to the item before it; comments on their own lines belong to the
//! item below.

use toml_edit::{Array, Decor, InlineTable, RawString, Value};

use super::above::Above;

/// Items separated by commas, and the text around each.
trait Items {
    /// The text between a bracket and the only item of a line.
    const PAD: &'static str;

    fn count(&self) -> usize;

    /// Returns the text in front of item `at`, after the last comma or the opening bracket.
    fn before(&self, at: usize) -> String;

    fn set_before(&mut self, at: usize, text: &str);

    /// Returns the text after item `at`, before its comma or, if it has none, before `end`.
    fn after(&self, at: usize) -> String;

    fn set_after(&mut self, at: usize, text: &str);

    /// Returns the text in front of the closing bracket.
    fn end(&self) -> String;

    fn set_end(&mut self, text: &str);

    /// Reports whether the last item has a comma too.
    fn has_last_comma(&self) -> bool;
}

fn text_of(text: Option<&RawString>, default: &str) -> String {
    text.and_then(RawString::as_str).unwrap_or(default).to_owned()
}

impl Items for Array {
    const PAD: &'static str = "";

    fn count(&self) -> usize {
        self.len()
    }

    fn before(&self, at: usize) -> String {
        let default = if at == 0 { "" } else { " " };
        text_of(self.get(at).and_then(|value| value.decor().prefix()), default)
    }

    fn set_before(&mut self, at: usize, text: &str) {
        if let Some(value) = self.get_mut(at) {
            value.decor_mut().set_prefix(text);
        }
    }

    fn after(&self, at: usize) -> String {
        text_of(self.get(at).and_then(|value| value.decor().suffix()), "")
    }

    fn set_after(&mut self, at: usize, text: &str) {
        if let Some(value) = self.get_mut(at) {
            value.decor_mut().set_suffix(text);
        }
    }

    fn end(&self) -> String {
        text_of(Some(self.trailing()), "")
    }

    fn set_end(&mut self, text: &str) {
        self.set_trailing(text);
    }

    fn has_last_comma(&self) -> bool {
        self.trailing_comma()
    }
}

/// Returns the key of item `at`.
fn key_at(table: &InlineTable, at: usize) -> Option<String> {
    table.iter().nth(at).map(|(key, _)| key.to_owned())
}

impl Items for InlineTable {
    const PAD: &'static str = " ";

    fn count(&self) -> usize {
        self.len()
    }

    fn before(&self, at: usize) -> String {
        let key = key_at(self, at);
        text_of(key.and_then(|key| self.key(&key)).and_then(|key| key.leaf_decor().prefix()), " ")
    }

    fn set_before(&mut self, at: usize, text: &str) {
        if let Some(key) = key_at(self, at)
            && let Some(mut key) = self.key_mut(&key)
        {
            key.leaf_decor_mut().set_prefix(text);
        }
    }

    fn after(&self, at: usize) -> String {
        let is_last = at + 1 == self.len() && !self.trailing_comma();
        let value = self.iter().nth(at).map(|(_, value)| value);
        text_of(value.and_then(|value| value.decor().suffix()), if is_last { " " } else { "" })
    }

    fn set_after(&mut self, at: usize, text: &str) {
        if let Some((_, value)) = self.iter_mut().nth(at) {
            value.decor_mut().set_suffix(text);
        }
    }

    fn end(&self) -> String {
        text_of(Some(self.trailing()), "")
    }

    fn set_end(&mut self, text: &str) {
        self.set_trailing(text);
    }

    fn has_last_comma(&self) -> bool {
        self.trailing_comma()
    }
}

/// Changes `list` to the texts of `new`, item by item.
pub(super) fn set_list(list: &mut Array, new: &Array) {
    let is_wanted = |value: &Value| new.iter().any(|wanted| wanted.as_str() == value.as_str());
    let indent = indent(list);
    for at in (0..list.len()).rev() {
        if !list.get(at).is_some_and(is_wanted) {
            take_from_list(list, at);
        }
    }
    for (at, wanted) in new.iter().enumerate() {
        match (at..list.len()).find(|at| list.get(*at).and_then(Value::as_str) == wanted.as_str()) {
            Some(there) if there == at => continue,
            Some(there) => take_from_list(list, there),
            None => {}
        }
        let decor = room(list, at, &indent);
        list.insert_formatted(at, wanted.clone());
        if let Some(value) = list.get_mut(at) {
            *value.decor_mut() = decor;
        }
    }
    while list.len() > new.len() {
        take_from_list(list, list.len() - 1);
    }
}

fn take_from_list(list: &mut Array, at: usize) {
    hand_on(list, at, Above::Goes);
    list.remove(at);
}

/// Removes `key` from `table`.
pub(super) fn take_key(table: &mut InlineTable, key: &str, comment: Above) {
    let at = table.iter().position(|(other, _)| other == key);
    if let Some(at) = at {
        hand_on(table, at, comment);
        table.remove(key);
    }
}

/// Adds `key`, which is not there yet, at the end of `table`.
pub(super) fn add_key(table: &mut InlineTable, key: &str, mut value: Value) {
    let indent = indent(table);
    let decor = room(table, table.len(), &indent);
    let text = |text: Option<&RawString>| text_of(text, "");
    *value.decor_mut() = Decor::new(" ", text(decor.suffix()));
    table.insert(key, value);
    table.set_before(table.len() - 1, &text(decor.prefix()));
}

/// Moves the text to keep around item `at`, which is about to be removed, to the next item.
fn hand_on(items: &mut impl Items, at: usize, comment: Above) {
    let is_last = at + 1 == items.count();
    let behind = items.after(at) + &if is_last { items.end() } else { items.before(at + 1) };
    let stays = at == 0 || comment == Above::Stays;
    let text = without_item(&items.before(at), &behind, stays, is_last);
    if is_last { items.set_end(&text) } else { items.set_before(at + 1, &text) }
}

/// Returns the text to keep between two items when the one between them is removed, with the texts `before` and
/// `behind` it. Comments on their own lines above it are removed unless they `stay`.
fn without_item(before: &str, behind: &str, stay: bool, is_last: bool) -> String {
    let Some((start, indent)) = before.rsplit_once('\n') else {
        // It shares its line with the item in front of it.
        return if is_last || behind.contains('\n') { behind } else { before }.to_owned();
    };
    let line = before.find('\n').map_or(0, |end| end + 1);
    let kept = if stay { start.len() + 1 } else { line + apart(&before[line..]).len() };
    // A comment on its line is removed with it.
    let rest = match behind.split_once('\n') {
        Some((_, rest)) => rest,
        None if is_last => behind,
        None => indent,
    };
    before[..kept].to_owned() + rest
}

/// Returns the text in front of items that are on their own lines.
fn indent(items: &impl Items) -> String {
    let mut before = (0..items.count()).rev().map(|at| items.before(at));
    let indent = before.find_map(|text| Some(text.rsplit_once('\n')?.1.to_owned()));
    indent.unwrap_or_else(|| "    ".to_owned())
}

/// Makes room for a new item at `at`, with `indent` if it gets its own line, and returns the text to put around it.
fn room<I: Items>(items: &mut I, at: usize, indent: &str) -> Decor {
    let count = items.count();
    if at < count {
        let before = items.before(at);
        if let Some((line, rest)) = before.split_once('\n') {
            items.set_before(at, &format!("\n{rest}"));
            return Decor::new(format!("{line}\n{indent}"), "");
        }
        items.set_before(at, " ");
        return Decor::new(if at == 0 { &*before } else { " " }, "");
    }
    let is_open = count > 0 && !items.has_last_comma();
    let behind = if is_open { items.after(count - 1) } else { String::new() } + &items.end();
    let (before, rest) = match behind.split_once('\n') {
        Some((line, rest)) => (format!("{line}\n{indent}"), format!("\n{rest}")),
        None if count == 0 => (I::PAD.to_owned(), I::PAD.to_owned()),
        None => (" ".to_owned(), behind),
    };
    if is_open {
        items.set_after(count - 1, "");
        items.set_end("");
        Decor::new(before, rest)
    } else {
        items.set_end(&rest);
        Decor::new(before, "")
    }
}

/// Returns the part of `text` above an item that is not directly above it: up to the last blank line.
pub(super) fn apart(text: &str) -> &str {
    let mut end = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if line.ends_with('\n') && line.trim().is_empty() {
            end = at;
        }
    }
    &text[..end]
}
