//! `skills-lock.json`, the project lockfile of the npm tool `skills`.

use std::collections::BTreeSet;
use std::fmt;

use indexmap::IndexMap;

use super::ForeignError;
use super::json::{Json, Part, Reader};

/// The name of the file.
pub const FILE_NAME: &str = "skills-lock.json";
/// The format version that is read and written.
const VERSION: f64 = 1.0;

/// The fields of an entry that skillpm knows, in the order in which the tool writes them.
const FIELDS: &[&str] = &[
    "source",
    "sourceUrl",
    "ref",
    "sourceType",
    "skillPath",
    "version",
    "via",
    "computedHash",
    "subagents",
    "wellKnownDigest",
];

/// A lockfile: entries by the name that the skill states.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SkillsLock {
    /// The entries.
    pub skills: IndexMap<String, LockedEntry>,
    /// Everything else at the top level of the file.
    rest: IndexMap<String, Json>,
}

/// The entry of one skill. Fields that skillpm does not know stay as they are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LockedEntry(IndexMap<String, Json>);

impl LockedEntry {
    /// Returns an entry with these fields, without those that have no value.
    pub fn new<'a>(fields: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> Self {
        let mut entry = Self::default();
        for (field, value) in fields {
            entry.set(field, value);
        }
        entry
    }

    /// Returns the text of a field.
    pub fn get(&self, field: &str) -> Option<&str> {
        self.0.get(field).and_then(Json::as_str)
    }

    /// Sets a field, at the position where the tool writes it, or removes it.
    pub fn set(&mut self, field: &str, value: Option<&str>) {
        let rank = |name: &str| FIELDS.iter().position(|known| *known == name);
        let Some(value) = value else { return drop(self.0.shift_remove(field)) };
        let after = |name: &String| rank(name).is_some_and(|at| Some(at) > rank(field));
        let at = self.0.get_index_of(field).or_else(|| self.0.keys().position(after));
        self.0.shift_insert(at.unwrap_or(self.0.len()), field.to_owned(), value.into());
    }

    /// Copies the source of the skill from `new`. Other fields stay.
    pub fn update(&mut self, new: &Self) {
        // For the same repository, only the tool knows whether a page on GitLab was typed.
        let is = |entry: &Self, kind| entry.get("sourceType") == Some(kind);
        let is_page = is(self, "gitlab") && is(new, "git") && self.get("sourceUrl") == new.get("sourceUrl");
        for field in
            ["source", "sourceUrl", "ref", "sourceType", "skillPath", "computedHash", "wellKnownDigest"]
        {
            let value = if is_page && field == "sourceType" { Some("gitlab") } else { new.get(field) };
            self.set(field, value);
        }
    }
}

impl SkillsLock {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Returns the first error, with its position: unlike in the tool itself, the file is never treated as empty.
    pub fn parse(text: &str) -> Result<Self, ForeignError> {
        let reader = Reader::new(text)?;
        let mut rest = top(&reader, VERSION)?;
        rest.shift_remove("version");
        let skills = rest.shift_remove("skills");
        let skills = skills.ok_or_else(|| reader.fault(reader.root(), "there is no `skills`"))?;
        let mut lock = Self::default();
        for (name, part) in reader.object(skills, "`skills`")? {
            let entry = entry(&reader, name, part, &["source", "sourceType", "computedHash"])?;
            lock.skills.insert(name.to_owned(), LockedEntry(entry));
        }
        lock.rest = rest.into_iter().map(|(key, part)| (key.to_owned(), part.into())).collect();
        Ok(lock)
    }

    /// Returns the entry of the skill `name`.
    pub fn get(&self, name: &str) -> Option<&LockedEntry> {
        self.skills.get(name)
    }

    /// Sets the entry of the skill `name`: fields of an old entry that skillpm does not know stay.
    pub fn set(&mut self, name: &str, entry: LockedEntry) {
        match self.skills.get_mut(name) {
            Some(old) => old.update(&entry),
            None => drop(self.skills.insert(name.to_owned(), entry)),
        }
    }
}

/// Returns the top level of one of the tool's files, which must have this `version`.
pub(super) fn top<'r>(
    reader: &'r Reader<'r>,
    version: f64,
) -> Result<IndexMap<&'r str, Part<'r>>, ForeignError> {
    let top = reader.object(reader.root(), "the file")?;
    let Some(part) = top.get("version").copied() else {
        return Err(reader.fault(reader.root(), "there is no `version`"));
    };
    match part.into() {
        Json::Number(number) if number.to_bits() == version.to_bits() => Ok(top),
        Json::Number(number) if number > version => Err(reader.fault_at(
            part,
            format!(
                "it has version {}, this skillpm reads version {}",
                Json::Number(number),
                Json::Number(version)
            ),
            "update skillpm",
        )),
        Json::Number(number) => Err(reader.fault_at(
            part,
            format!(
                "it has version {}, which is older than version {}",
                Json::Number(number),
                Json::Number(version)
            ),
            "the tool itself replaces such a file: install the skills again with it, or with skillpm",
        )),
        _ => Err(reader.fault(part, "`version` must be a number")),
    }
}

/// Returns the fields of one entry. The known ones must be strings, and `required` ones must be present.
pub(super) fn entry(
    reader: &Reader<'_>,
    name: &str,
    part: Part<'_>,
    required: &[&str],
) -> Result<IndexMap<String, Json>, ForeignError> {
    let strings: BTreeSet<&str> =
        FIELDS.iter().filter(|field| **field != "subagents").chain(required).copied().collect();
    let mut fields = IndexMap::new();
    for (field, part) in reader.object(part, &format!("the entry of `{name}`"))? {
        let value = Json::from(part);
        if strings.contains(field) && value.as_str().is_none() {
            return Err(reader.fault(part, format!("`{field}` of `{name}` must be a string")));
        }
        fields.insert(field.to_owned(), value);
    }
    match required.iter().find(|field| !fields.contains_key(**field)) {
        Some(missing) => Err(reader.fault(part, format!("the entry of `{name}` has no `{missing}`"))),
        None => Ok(fields),
    }
}

/// Writes the bytes of the file, as the tool does.
impl fmt::Display for SkillsLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut skills: Vec<_> = self.skills.iter().collect();
        // JavaScript sorts by UTF-16 code units.
        skills.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
        let skills = skills.into_iter().map(|(name, entry)| (name.clone(), Json::Object(entry.0.clone())));
        let own = [("version", Json::Number(VERSION)), ("skills", Json::Object(skills.collect()))];
        let own = own.into_iter().map(|(key, value)| (key.to_owned(), value));
        let top = own.chain(self.rest.clone()).collect();
        writeln!(f, "{}", Json::Object(top))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HASH: &str = "36bedcba5ce07ea8192e75eee422ebbd0e96d37a02fb5c45d456b0aacce88194";

    fn example() -> String {
        format!(
            "{{\n  \"version\": 1,\n  \"skills\": {{\n    \"axiom-sre\": {{\n      \"source\": \"axiomhq/skills\",\n      \
             \"sourceType\": \"github\",\n      \"skillPath\": \"skills/sre/SKILL.md\",\n      \
             \"computedHash\": \"{HASH}\"\n    }}\n  }}\n}}\n"
        )
    }

    /// INTEROP, section 1: the file of a real repository.
    #[test]
    fn the_example_reads_and_writes_byte_for_byte() {
        let lock = SkillsLock::parse(&example()).expect("valid");
        assert_eq!(lock.get("axiom-sre").expect("there").get("skillPath"), Some("skills/sre/SKILL.md"));
        assert_eq!(lock.to_string(), example());
        assert_eq!(SkillsLock::default().to_string(), "{\n  \"version\": 1,\n  \"skills\": {}\n}\n");
    }

    #[test]
    fn keys_are_sorted_as_the_tool_sorts_and_unknown_fields_stay() {
        let text = "{\"skills\":{\"\u{ff41}\":E,\"😀\":E,\"b\":E,\"B\":E,\"10\":E,\"9\":E},\"version\":1,\"x\":{\"b\":1,\"a\":2}}";
        let entry =
            r#"{"computedHash":"h","new":{"z":1.0},"sourceType":"local","source":"./x","subagents":["a"]}"#;
        let mut lock = SkillsLock::parse(&text.replace('E', entry)).expect("valid");
        let written = lock.to_string();
        let keys: Vec<_> = written
            .lines()
            .filter(|l| l.starts_with("    \"") && l.ends_with('{'))
            .map(|l| l.trim_end_matches(": {").trim())
            .collect();
        assert_eq!(keys, ["\"9\"", "\"10\"", "\"B\"", "\"b\"", "\"😀\"", "\"\u{ff41}\""]);
        assert!(written.ends_with("  },\n  \"x\": {\n    \"b\": 1,\n    \"a\": 2\n  }\n}\n"), "{written}");
        lock.skills.retain(|name, _| name == "b");
        lock.set(
            "b",
            LockedEntry::new([
                ("source", Some("o/r")),
                ("sourceType", Some("github")),
                ("ref", Some("v1")),
                ("computedHash", Some("i")),
            ]),
        );
        let entry = &lock.skills[0];
        assert_eq!(
            Json::Object(entry.0.clone()).to_string().split_whitespace().collect::<String>(),
            r#"{"ref":"v1","computedHash":"i","new":{"z":1},"sourceType":"github","source":"o/r","subagents":["a"]}"#
        );
    }

    /// A page on GitLab is a git repository for all programs except the tool.
    #[test]
    fn the_type_stays_where_the_address_does() {
        let entry = |kind, url| {
            LockedEntry::new([("source", Some(url)), ("sourceUrl", Some(url)), ("sourceType", Some(kind))])
        };
        let mut old = entry("gitlab", "https://git.example.com/a.git");
        old.update(&entry("git", "https://git.example.com/a.git"));
        assert_eq!(old.get("sourceType"), Some("gitlab"));
        old.update(&entry("git", "https://git.example.com/b.git"));
        assert_eq!(old, entry("git", "https://git.example.com/b.git"));
    }

    /// Lockfile classes of the threat model (lk01, lk04, lk09, lk23) for this file: reported with the
    /// position, and never treated as an empty lock.
    #[test]
    fn hostile_files() {
        let good = example();
        let cases: [(String, &str); 14] = [
            (String::new(), "1:1: it is empty"),
            ("[]".into(), "1:1: the file must be an object"),
            (
                good.replace("axiom-sre", "axiom\nsre"),
                "4:11: a control character in a string must be escaped",
            ),
            ("{\"skills\": {}}".into(), "1:1: there is no `version`"),
            ("{\"version\": 1}".into(), "1:1: there is no `skills`"),
            ("{\n \"version\": \"1\", \"skills\": {}}".into(), "2:13: `version` must be a number"),
            (
                "{\"version\": 2, \"skills\": []}".into(),
                "1:13: it has version 2, this skillpm reads version 1",
            ),
            (
                "{\"version\": 0.5, \"skills\": {}}".into(),
                "1:13: it has version 0.5, which is older than version 1",
            ),
            ("{\"version\": 1, \"skills\": {\"x\": 3}}".into(), "1:32: the entry of `x` must be an object"),
            (good.replace("\"axiomhq/skills\"", "7"), "5:17: `source` of `axiom-sre` must be a string"),
            (good.replace("computedHash", "hash"), "4:18: the entry of `axiom-sre` has no `computedHash`"),
            (good[..good.len() - 4].to_owned(), "3:13: unterminated object"),
            (
                good.replace("    \"axiom", "<<<<<<< HEAD\n    \"axiom"),
                "4:1: there are merge-conflict markers",
            ),
            (
                "{\"version\": 1, \"skills\": {\"x\": {\"source\": \"\", \"source\": \"\"}}}".into(),
                "1:57: `source` appears twice",
            ),
        ];
        for (text, message) in cases {
            let error = SkillsLock::parse(&text).expect_err(message).to_string();
            assert_eq!(error, message, "{text}");
        }
        let deep = format!("{{\"version\": 1, \"skills\": {}{}}}", "[".repeat(50_000), "]".repeat(50_000));
        assert!(SkillsLock::parse(&deep).is_err());
    }

    proptest! {
        #[test]
        fn nothing_panics_and_what_is_read_is_written(text in "(\\{\"version\":1,\"skills\":\\{)?\\PC{0,60}") {
            let _ = SkillsLock::parse(&text);
        }

        #[test]
        fn any_entry_round_trips(name in "\\PC{1,8}", fields in proptest::collection::btree_map("[a-zA-Z0-9]{1,6}", "\\PC{0,8}", 0..4)) {
            let mut lock = SkillsLock::default();
            let mut entry = LockedEntry::new([("source", Some("o/r")), ("sourceType", Some("github")), ("computedHash", Some("h"))]);
            for (field, value) in &fields {
                entry.set(field, Some(value));
            }
            lock.set(&name, entry);
            let text = lock.to_string();
            prop_assert_eq!(SkillsLock::parse(&text).expect("valid").to_string(), text);
        }
    }
}
