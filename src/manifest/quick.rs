//! The form in which skills are added to manifests, read line by line.
//!
//! Every verb reads the manifest, and of thousands of skills a TOML parser takes more time than all else that is
//! read. So a table `[skills]` that comes first is read here, where each of its lines is one of those that
//! skillpm writes; the rest is left to the parser. What is not exactly of that form, or wrong in any
//! way, is left to it as a whole: this reader has no messages, and nothing that it takes means something else in TOML.

use std::collections::BTreeMap;

use super::requirement::{self, Said};
use super::{Manifest, ManifestError, Requirement};
use crate::name::SkillName;

/// Reads `text`, or returns `None` where it is not of the form.
pub(super) fn read(text: &str) -> Option<Manifest> {
    let mut skills: Vec<(SkillName, Requirement)> = Vec::new();
    // What is left to the parser: the lines behind the table, at their places in the file.
    let mut rest = String::new();
    let mut is_open = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        if is_open && content.starts_with('[') {
            rest.push_str(&text[at..]);
            break;
        }
        at += line.len();
        rest.push('\n');
        match content {
            "[skills]" if !is_open => is_open = true,
            _ if content.is_empty() || is_comment(content) => {}
            _ if is_open => skills.push(entry(content)?),
            _ => return None,
        }
    }
    if !is_open {
        return None;
    }
    let count = skills.len();
    let skills: BTreeMap<_, _> = skills.into_iter().collect();
    let (manifest, goes_on) = if rest.trim_start().is_empty() {
        (Manifest::default(), false)
    } else {
        Manifest::parse_parts(&rest).ok()?
    };
    // A name may be there twice, and the table may go on elsewhere.
    let is_all = skills.len() == count && !goes_on;
    is_all.then(|| Manifest { skills, text: text.to_owned(), ..manifest })
}

/// Whether `line` is a comment of plain characters.
fn is_comment(line: &str) -> bool {
    line.starts_with('#') && is_plain(line)
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// The skill in a line `name = { key = value, key = value }`.
fn entry(line: &str) -> Option<(SkillName, Requirement)> {
    let (key, value) = line.split_once(" = ")?;
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let name = SkillName::new(key).ok().filter(|_| key.bytes().all(is_bare))?;
    let mut rest = value.strip_prefix("{ ")?;
    let mut pairs: Vec<(&str, Value<'_>)> = Vec::with_capacity(4);
    loop {
        let (key, after) = rest.split_once(" = ")?;
        if key.is_empty() || !key.bytes().all(is_bare) || pairs.iter().any(|(other, _)| *other == key) {
            return None;
        }
        let (value, after) = value_of(after)?;
        pairs.push((key, value));
        match after.strip_prefix(", ") {
            Some(next) => rest = next,
            None if after == " }" => break,
            None => return None,
        }
    }
    Some((name, requirement::read(&Pairs(pairs)).ok()?))
}

/// The value that `text` starts with, and what follows it.
fn value_of(text: &str) -> Option<(Value<'_>, &str)> {
    if let Some((flag, after)) =
        ["true", "false"].iter().find_map(|word| Some((*word, text.strip_prefix(word)?)))
    {
        return Some((Value::Flag(flag == "true"), after));
    }
    let Some(mut rest) = text.strip_prefix('[') else {
        let (string, after) = string(text)?;
        return Some((Value::Text(string), after));
    };
    let mut list = Vec::new();
    if let Some(after) = rest.strip_prefix(']') {
        return Some((Value::List(list), after));
    }
    loop {
        let (string, after) = string(rest)?;
        list.push(string);
        match after.strip_prefix(", ") {
            Some(next) => rest = next,
            None => return Some((Value::List(list), after.strip_prefix(']')?)),
        }
    }
}

/// The string that `text` starts with, in which nothing is escaped, and what follows it.
fn string(text: &str) -> Option<(&str, &str)> {
    let (inner, after) = text.strip_prefix('"')?.split_once('"')?;
    (is_plain(inner) && !inner.contains('\\')).then_some((inner, after))
}

enum Value<'a> {
    Text(&'a str),
    Flag(bool),
    List(Vec<&'a str>),
}

/// What is said of one skill. Its errors say nothing: the parser is asked what is wrong.
struct Pairs<'a>(Vec<(&'a str, Value<'a>)>);

impl Pairs<'_> {
    fn get(&self, key: &str) -> Option<&Value<'_>> {
        self.0.iter().find(|(other, _)| *other == key).map(|(_, value)| value)
    }

    fn wrong(&self) -> ManifestError {
        self.fault(String::new())
    }
}

impl Said for Pairs<'_> {
    fn fault(&self, message: String) -> ManifestError {
        ManifestError { line: 1, column: 1, message, hint: None }
    }

    fn known(&self, known: &[&str]) -> Result<(), ManifestError> {
        if self.0.iter().all(|(key, _)| known.contains(key)) { Ok(()) } else { Err(self.wrong()) }
    }

    fn string(&self, key: &str) -> Result<Option<&str>, ManifestError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Text(text)) if !text.is_empty() => Ok(Some(text)),
            Some(_) => Err(self.wrong()),
        }
    }

    fn strings(&self, key: &str) -> Result<Option<Vec<String>>, ManifestError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::List(list)) => Ok(Some(list.iter().map(|text| (*text).to_owned()).collect())),
            Some(_) => Err(self.wrong()),
        }
    }

    fn flag(&self, key: &str) -> Result<bool, ManifestError> {
        match self.get(key) {
            None => Ok(false),
            Some(Value::Flag(flag)) => Ok(*flag),
            Some(_) => Err(self.wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a manifest says, and where.
    fn said(manifest: &Manifest) -> String {
        let Manifest { skills, agents, lint, policy, text, .. } = manifest;
        format!("{skills:?} {agents:?} {lint:?} {policy:?} {text:?}")
    }

    /// What is read here is what the parser reads.
    fn same(text: &str) -> bool {
        let Some(quick) = read(text) else { return false };
        let parsed = Manifest::parse_any(text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
        assert_eq!(said(&quick), said(&parsed), "{text:?}");
        true
    }

    #[test]
    fn what_skillpm_writes_is_read() {
        for text in [
            "[skills]\n",
            "[skills]\npdf = { github = \"a/b\", path = \"skills/pdf\", tag = \"v1\" }\n",
            "# ours\n\n[skills]\nx = { path = \"../x\", agents = [], disabled = true }\n# y\ny = { git = \"https://a.b/c\" }",
            "[skills]\nx = { path = \"./x\", agents = [\"goose\", \"roo\"] }\n\n[agents]\ntargets = [\"goose\"]\n",
            "[skills]\nx = { npm = \"x\" }\n[lint]\nprofile = \"strict\"\n[policy]\nallow = [\n  \"github:a\",\n]\n",
        ] {
            assert!(same(text), "{text:?}");
        }
    }

    /// Wrong or in another form: what is said of it is the parser's.
    #[test]
    fn anything_else_is_the_parsers() {
        for text in [
            "",
            "[agents]\ncopy = true\n",
            "[agents]\n[skills]\n",
            "[skills]\r\nx = { path = \"x\" }\r\n",
            "[skills] # ours\n",
            "[skills]\nx={path=\"x\"}\n",
            "[skills]\nx = { path = \"x\" } # why\n",
            "[skills]\nx = { path = 'x' }\n",
            "[skills]\nx = { path = \"\\u0041\" }\n",
            "[skills]\nx = { path = \"x\", path = \"y\" }\n",
            "[skills]\nx = { path = \"x\" }\nx = { path = \"y\" }\n",
            "[skills]\nx = { path = \"x\", nonsense = true }\n",
            "[skills]\nx = { path = \"\" }\n",
            "[skills]\nX = { path = \"x\" }\n",
            "[skills]\nx = { path = \"x\" }\n[skills.y]\npath = \"y\"\n",
            "[skills]\nx = { path = \"x\" }\n[skills]\n",
            "[skills]\n<<<<<<< HEAD\nx = { path = \"x\" }\n",
            "[skills]\nx = { path = \"x\" }\n[nonsense]\n",
            "[skills]\nx = { path = \"x\" }\n[[skills]]\n",
            "\u{feff}[skills]\nx = { path = \"x\" }\n",
        ] {
            assert!(!same(text), "{text:?}");
        }
    }

    proptest! {
        /// Lines of all kinds, in any order.
        #[test]
        fn nothing_is_read_in_another_way(
            lines in proptest::collection::vec(
                prop_oneof![
                    4 => "[a-c]{1,2} = \\{ (path|github|git|name|tag|agents|disabled|subdir) = (\"[a-z/.]{0,4}\"|true|\\[\\]|\\[\"a\"\\])(, (path|tag|agents|disabled|subdir) = (\"[a-z/]{0,3}\"|false|\\[\"a\", \"b\"\\]))? \\}",
                    2 => Just("[skills]".to_owned()),
                    1 => Just("[agents]".to_owned()),
                    1 => Just("[skills.z]".to_owned()),
                    1 => Just("path = \"x\"".to_owned()),
                    1 => Just("targets = [".to_owned()),
                    1 => Just("]".to_owned()),
                    1 => "# [ -~]{0,5}",
                    1 => Just(String::new()),
                    1 => "[ -~\t]{0,12}",
                ],
                0..9,
            ),
            first: bool,
        ) {
            let start = if first { "[skills]\n" } else { "" };
            same(&(start.to_owned() + &lines.join("\n")));
        }
    }
}
