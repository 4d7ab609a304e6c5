//! The text above the lines of a manifest when lines are removed: a comment directly above the entry of a skill is
//! removed with it, and all others stay. Comments at the head of the file or of a section are about more than the first
//! entry, so they stay too, as do those inside an entry that loses a line.

use toml_edit::{DocumentMut, Item, RawString, Table};

use super::gaps::apart;

/// The fate of a comment directly above a removed line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Above {
    /// It is removed too.
    Goes,
    /// It stays, as at the head of a section.
    Stays,
}

/// Removes `key` from `table`, whose items are on their own lines, and moves the text to keep above it to the next
/// item. Returns the text that is left over if there is no next item.
pub(super) fn take_line(table: &mut Table, key: &str, comment: Above) -> String {
    let above = above(table, key);
    let (is_first, next) = neighbours(table, key);
    table.remove(key);
    let kept = kept(&above, is_first || comment == Above::Stays);
    match next {
        Some(next) => {
            put_above(table, &next, kept);
            String::new()
        }
        None => kept.to_owned(),
    }
}

/// Reports whether `key` is the first line of `table`, and returns the key of the next one.
fn neighbours(table: &Table, key: &str) -> (bool, Option<String>) {
    let mut lines = table.iter().filter(|(_, item)| is_line(item)).map(|(key, _)| key);
    let is_first = lines.next() == Some(key);
    let next = if is_first { lines.next() } else { lines.skip_while(|other| *other != key).nth(1) };
    (is_first, next.map(ToOwned::to_owned))
}

/// Returns the text to keep above the header of `table`, which is about to be removed.
pub(super) fn kept_of_header(document: &DocumentMut, table: &Table) -> String {
    let first = next_position(document.as_table(), 0);
    let is_first = document.as_table().get_values().is_empty() && table.position() == first;
    kept(&text_of(table.decor().prefix()), is_first).to_owned()
}

/// Puts `text` above the header that follows `position`, or at the end of the file.
pub(super) fn put_behind(document: &mut DocumentMut, position: Option<isize>, text: &str) {
    if text.is_empty() {
        return;
    }
    let next = next_position(document.as_table(), position.unwrap_or(0));
    match next.and_then(|next| table_at(document.as_table_mut(), next)) {
        Some(table) => {
            let all = joined(text, &text_of(table.decor().prefix()));
            table.decor_mut().set_prefix(all);
        }
        None => document.set_trailing(joined(text, &text_of(Some(document.trailing())))),
    }
}

/// Takes the head of the file from its place, for the header of the section `name`, which is about to be written as the
/// first one: otherwise the header would end up above the comment about the whole file.
pub(super) fn take_head(document: &mut DocumentMut, name: &str) -> String {
    if document.is_empty() {
        let head = text_of(Some(document.trailing()));
        document.set_trailing("");
        let has_end = head.is_empty() || head.ends_with('\n');
        return if has_end { head } else { head + "\n" };
    }
    // The section exists without its own header if there are headers below it: `[skills.pdf]`.
    let is_first = document.iter().next().is_some_and(|(first, item)| {
        first == name && item.as_table().is_some_and(|table| !has_header(table) && !table.is_dotted())
    });
    let next = if is_first { next_position(document.as_table(), 0) } else { None };
    let Some(table) = next.and_then(|next| table_at(document.as_table_mut(), next)) else {
        return String::new();
    };
    let above = text_of(table.decor().prefix());
    let head = apart(&above);
    if !head.is_empty() {
        table.decor_mut().set_prefix(format!("\n{}", &above[head.len()..]));
    }
    head.to_owned()
}

fn text_of(text: Option<&RawString>) -> String {
    text.and_then(RawString::as_str).unwrap_or_default().to_owned()
}

/// Returns the part of the text `above` an entry that stays without it: `whole` lines, or those that are set apart.
fn kept(above: &str, whole: bool) -> &str {
    if whole { above.rfind('\n').map_or("", |end| &above[..=end]) } else { apart(above) }
}

/// Joins two texts with no more blank lines between them than one of them has.
fn joined(text: &str, next: &str) -> String {
    let mut next = next;
    if !text.is_empty() && apart(text).len() == text.len() {
        while let Some((line, rest)) = next.split_once('\n')
            && line.trim().is_empty()
        {
            next = rest;
        }
    }
    text.to_owned() + next
}

/// Reports whether an item is written on lines below the header of its table.
pub(super) fn is_line(item: &Item) -> bool {
    item.is_value() || item.as_table().is_some_and(Table::is_dotted)
}

fn above(table: &Table, key: &str) -> String {
    match table.get_key_value(key) {
        // `pdf.github = "a/b"`: the text is above its first line.
        Some((_, Item::Table(inner))) => match inner.iter().next() {
            Some((first, _)) => above(inner, first),
            None => String::new(),
        },
        Some((key, _)) => text_of(key.leaf_decor().prefix()),
        None => String::new(),
    }
}

fn put_above(table: &mut Table, key: &str, text: &str) {
    match table.get_key_value_mut(key) {
        Some((_, Item::Table(inner))) => {
            let first = inner.iter().next().map(|(key, _)| key.to_owned());
            if let Some(first) = first {
                put_above(inner, &first, text);
            }
        }
        Some((mut key, _)) => {
            let all = joined(text, &text_of(key.leaf_decor().prefix()));
            key.leaf_decor_mut().set_prefix(all);
        }
        None => {}
    }
}

/// Reports whether `table` is written with its own header.
fn has_header(table: &Table) -> bool {
    !(table.is_dotted() || table.is_implicit() && table.get_values().is_empty())
}

/// Returns the position of the first header after `position` in `table` and below.
fn next_position(table: &Table, position: isize) -> Option<isize> {
    let inner = table.iter().filter_map(|(_, item)| item.as_table());
    let places = inner.flat_map(|inner| {
        let own = inner.position().filter(|own| has_header(inner) && *own > position);
        [own, next_position(inner, position)]
    });
    places.flatten().min()
}

/// Returns the table with the header at `position`.
fn table_at(table: &mut Table, position: isize) -> Option<&mut Table> {
    table.iter_mut().filter_map(|(_, item)| item.as_table_mut()).find_map(|inner| {
        if has_header(inner) && inner.position() == Some(position) {
            Some(inner)
        } else {
            table_at(inner, position)
        }
    })
}
