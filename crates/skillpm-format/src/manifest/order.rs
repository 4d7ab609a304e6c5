//! The order of the skills in a manifest: if they are sorted by name, a new one is put between its neighbours. Two
//! branches that each add a skill then seldom write to the same place.

use toml_edit::{Item, RawString, Table};

use super::above::is_line;
use super::gaps::apart;

/// Reports whether the lines of `table` are sorted by key. Entries of several lines, `pdf.path = ".."`, are left as
/// they are, and then all others too.
pub(super) fn is_sorted(table: &Table) -> bool {
    let is_dotted = |(_, item): (&str, &Item)| item.as_table().is_some_and(Table::is_dotted);
    !table.iter().any(is_dotted) && lines(table).is_sorted()
}

fn lines(table: &Table) -> impl Iterator<Item = &str> {
    table.iter().filter(|(_, item)| is_line(item)).map(|(key, _)| key)
}

/// Moves the line of `new`, the last of `table`, to its place among the others, which are sorted. A comment directly
/// above a line stays with it; a comment set apart at the head of the section stays there.
pub(super) fn sort(table: &mut Table, new: &str) {
    let old_first = lines(table).next().map(ToOwned::to_owned);
    table.sort_values_by(|a, _, b, _| a.get().cmp(b.get()));
    let Some(first) = old_first.filter(|first| first != new && lines(table).next() == Some(new)) else {
        return;
    };
    let Some(head) = take_head(table, &first) else { return };
    if let Some(mut key) = table.key_mut(new) {
        key.leaf_decor_mut().set_prefix(head);
    }
}

/// Takes the text above the line of `key` that is set apart from it.
fn take_head(table: &mut Table, key: &str) -> Option<String> {
    let mut key = table.key_mut(key)?;
    let above = key.leaf_decor().prefix().and_then(RawString::as_str).unwrap_or_default().to_owned();
    let head = apart(&above);
    let rest = above[head.len()..].to_owned();
    key.leaf_decor_mut().set_prefix(rest);
    Some(head.to_owned())
}
