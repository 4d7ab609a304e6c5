//! The form in which lockfiles are written, read line by line.
//!
//! Nearly every lockfile that is read is one that was written by [`Lockfile`]'s `Display`, and every verb
//! reads it: a thousand entries take a TOML parser five times as long. What is not exactly of that form
//! is left to it, faults and all: this reader has no messages, and nothing that it takes means something
//! else in TOML.

use std::collections::BTreeSet;

use super::{HEADING, Locked, Lockfile, RawEntry, VERSION};
use crate::name::SkillName;

const TEXTS: [&str; 8] = ["name", "alias-of", "version", "source", "path", "requested", "revision", "digest"];
const LISTS: [&str; 2] = ["dependencies", "agents"];

/// No entry has fewer bytes.
const SMALLEST: usize = 100;

/// Reads `text`, or returns `None` where it is not of the form or something is wrong with it.
pub(super) fn read(text: &str) -> Option<Lockfile> {
    let rest = text.strip_prefix(HEADING)?.strip_prefix("\nversion = ")?;
    let rest = rest.strip_prefix(VERSION.to_string().as_str())?.strip_prefix('\n')?;
    // Thousands of entries are moved each time that the list of them grows.
    let count = memchr::memmem::find_iter(rest.as_bytes(), "\n[[skill]]\n").count();
    let mut skills: Vec<(SkillName, Locked)> = Vec::with_capacity(count.min(rest.len() / SMALLEST));
    let mut lines = rest.split_terminator('\n').peekable();
    while let Some(line) = lines.next() {
        if !line.is_empty() || lines.next() != Some("[[skill]]") {
            return None;
        }
        let mut texts: [Option<String>; TEXTS.len()] = Default::default();
        let mut lists: [Vec<String>; LISTS.len()] = Default::default();
        while let Some(line) = lines.next_if(|line| !line.is_empty()) {
            let (key, value) = line.split_at_checked(line.find(' ')?)?;
            let value = value.strip_prefix(" = ")?;
            let is_key = |known: &&str| *known == key;
            let is_first = match (TEXTS.iter().position(is_key), LISTS.iter().position(is_key)) {
                (Some(at), _) => texts[at].replace(string(value)?).is_none(),
                (_, Some(at)) => std::mem::replace(&mut lists[at], list(value)?).is_empty(),
                _ => return None,
            };
            if !is_first {
                return None;
            }
        }
        let [name, alias_of, version, source, path, requested, revision, digest] = texts;
        let (name, source, digest) = (name?, source?, digest?);
        let [dependencies, agents] = lists;
        let entry = RawEntry {
            name,
            version,
            source,
            path,
            requested,
            revision,
            digest,
            dependencies,
            alias_of,
            agents,
        };
        let (name, locked) = entry.check().ok()?;
        // They are written in order, and what is in order is not there twice.
        if skills.last().is_some_and(|(last, _)| *last >= name) {
            return None;
        }
        skills.push((name, locked));
    }
    // Of names in ASCII no two are alike.
    let mut keys = BTreeSet::new();
    if !skills.iter().all(|(name, _)| name.as_str().is_ascii())
        && !skills.iter().all(|(name, _)| keys.insert(name.collision_key()))
    {
        return None;
    }
    let skills = skills.into_iter().collect();
    // A line that ends with the file is no line that was written.
    (rest.is_empty() || rest.ends_with('\n')).then_some(Lockfile { skills })
}

/// A string in which nothing is escaped.
fn string(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let is_odd = |byte: u8| byte.is_ascii_control() || matches!(byte, b'"' | b'\\');
    // To the end, so that the compiler can look at many bytes at a time.
    let odd = inner.as_bytes().iter().fold(0, |any, byte| any | u8::from(is_odd(*byte)));
    (odd == 0).then(|| inner.to_owned())
}

/// A list of such strings that is not empty.
fn list(text: &str) -> Option<Vec<String>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    // `", "` cannot be a part of one: it would have quotation marks.
    inner.split(", ").map(string).collect()
}
