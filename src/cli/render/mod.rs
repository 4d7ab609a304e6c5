//! Rendering of outcomes: one file per verb.

pub(crate) mod agents;
pub(crate) mod audit;
pub(crate) mod available;
pub(crate) mod bump;
pub(crate) mod cache;
pub(crate) mod catalog;
pub(crate) mod create;
pub(crate) mod diff;
pub(crate) mod disable;
pub(crate) mod doctor;
pub(crate) mod error;
pub(crate) mod explain;
pub(crate) mod export;
mod finding;
pub(crate) mod fmt;
pub(crate) mod import;
pub(crate) mod install;
pub(crate) mod kept;
pub(crate) mod link;
pub(crate) mod list;
mod listing;
pub(crate) mod login;
mod many;
pub(crate) mod mcp;
pub(crate) mod outdated;
pub(crate) mod pack;
pub(crate) mod plugins;
pub(crate) mod policy;
pub(crate) mod publish;
pub(crate) mod registry;
pub(crate) mod remove;
pub(crate) mod run;
pub(crate) mod search;
pub(crate) mod self_check;
pub(crate) mod show;
mod steps;
mod table;
pub(crate) mod test;
pub(crate) mod tools;
pub(crate) mod tree;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod update;
pub(crate) mod usage;
pub(crate) mod validate;
pub(crate) mod verify;
pub(crate) mod versions;
pub(crate) mod why;

pub(in crate::cli) use table::wrapped;

use std::borrow::Cow;

use serde::Serialize;

use super::printer::clean;
use super::style::escape_json;
use skillpm_core::ops::list::ListedSkill;
use skillpm_core::scope::Roots;
use skillpm_format::spec::is_object_id;
use skillpm_format::text::{and, is_plain_line};

/// Returns a text as one clean line.
pub(crate) fn one_line(text: &str) -> String {
    line_of(text).into_owned()
}

/// Works like [`one_line`], without a copy if the text is such a line already, as most are.
fn line_of(text: &str) -> Cow<'_, str> {
    if is_plain_line(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(clean(text).split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns JSON in lines, with escapes for control characters.
fn json_text(value: &impl Serialize) -> String {
    // A value without foreign types, and with only strings as keys of maps, always serializes.
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    escape_json(&text).into_owned() + "\n"
}

/// Returns the requested revision; `None` if none was requested and the source has no branches.
fn asked_for(skill: &ListedSkill) -> Option<&str> {
    let has_branches = matches!(skill.source_type, Some("github" | "git"));
    skill.requested.as_deref().or(has_branches.then_some("the default branch"))
}

/// Returns a revision for display: seven digits of a commit or a digest, and at most twenty characters of a
/// package's version.
fn short_revision(revision: &str) -> String {
    let digits = revision.trim_start_matches("sha256:");
    let length = if is_object_id(digits) { 7 } else { 20 };
    digits.chars().take(length).collect()
}

/// Returns a path as people would write it, in one line.
fn short_path(roots: &Roots, path: &str) -> String {
    one_line(&roots.short(path))
}

/// Returns a text such as `1 skill` or `2 skills`.
fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// Returns a text such as `1 entry` or `2 entries`.
fn entries(number: usize) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") }
}

/// Returns a text such as `1 skill is` or `2 skills are`.
fn skills_are(number: usize) -> String {
    format!("{} {}", count(number, "skill"), if number == 1 { "is" } else { "are" })
}

/// Returns the number of each kind in `of`, in the order of `kinds`, without zeros: `2 skills added`, `1
/// unchanged`. The first text says what is counted.
fn counted<K: PartialEq>(what: &str, of: &[K], kinds: &[(K, &str)]) -> Vec<String> {
    let numbers = kinds.iter().map(|(kind, word)| (of.iter().filter(|one| *one == kind).count(), word));
    let text = |(at, (number, word))| match at {
        0 => format!("{} {word}", count(number, what)),
        _ => format!("{number} {word}"),
    };
    numbers.filter(|(number, _)| *number > 0).enumerate().map(text).collect()
}

/// Returns the words in backticks.
fn quoted(words: &[impl AsRef<str>]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("`{}`", one_line(word.as_ref()))).collect();
    and(&words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(and(&[""; 0]), "");
        assert_eq!(and(&["a"]), "a");
        assert_eq!(and(&["a", "b", "c"]), "a, b and c");
        let kinds = [("x", "old"), ("y", "new"), ("z", "gone")];
        assert_eq!(counted("skill", &["z", "y", "z"], &kinds), ["1 skill new", "2 gone"]);
        assert_eq!(quoted(&["a", "b\n"]), "`a` and `b`");
        assert_eq!((count(1, "error"), count(0, "error")), ("1 error".into(), "0 errors".into()));
    }
}
