//! JSON files that others wrote: values with their positions in the text, for messages.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{Error, ErrorKind, FilePosition, Result};
use crate::interop::json::{offset, without_place};
use crate::text::line_column;

/// The text of a file, parsed as JSON.
#[derive(Debug)]
pub(super) struct Json {
    name: String,
    text: String,
    value: Value,
}

/// One step from a value to a part of it.
#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// A value of a [`Json`], and the steps to it.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    file: &'a Json,
    steps: Vec<Step<'a>>,
    value: &'a Value,
}

impl Json {
    /// Parses the bytes of the file that messages call `name`.
    pub(super) fn parse(name: &str, bytes: Vec<u8>) -> Result<Self> {
        let text = String::from_utf8(bytes)
            .map_err(|_| Error::integrity(format!("`{name}` cannot be read: it is not UTF-8")))?;
        let json = text.strip_prefix('\u{feff}').unwrap_or(&text);
        match serde_json::from_str(json) {
            Ok(value) => Ok(Self { name: name.to_owned(), value, text: json.to_owned() }),
            Err(error) => {
                let line = json.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
                // The parser counts bytes.
                let before = line.floor_char_boundary(error.column().saturating_sub(1).min(line.len()));
                let column = line[..before].chars().count() + 1;
                // The position is stated once, in the form of all messages.
                let message = without_place(&error);
                let place = FilePosition::new(name.as_ref(), error.line().max(1), column);
                Err(Error::at(ErrorKind::Integrity, place, message))
            }
        }
    }

    /// Returns the top-level value.
    pub(super) fn root(&self) -> Node<'_> {
        Node { file: self, steps: Vec::new(), value: &self.value }
    }
}

impl<'a> Node<'a> {
    /// Returns the member `key`, if this is an object that has it; `null` counts as missing.
    pub(super) fn get(&self, key: &'a str) -> Option<Self> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(self.step(Step::Key(key), value))
    }

    /// Returns the member `key`.
    pub(super) fn required(&self, key: &'a str) -> Result<Self> {
        self.get(key).ok_or_else(|| self.fault(&format!("there is no `{key}`")))
    }

    /// Returns the text of the member `key`, or `None` if there is no such member.
    pub(super) fn text_of(&self, key: &'a str) -> Result<Option<&'a str>> {
        self.get(key).map(|node| node.text(key)).transpose()
    }

    /// Returns the value as a string; messages call it `what`.
    pub(super) fn text(&self, what: &str) -> Result<&'a str> {
        self.value.as_str().ok_or_else(|| self.wrong(what, "a string"))
    }

    /// Returns the value as a string, if it is one.
    pub(super) fn as_text(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    /// Returns the value as a boolean; messages call it `what`.
    pub(super) fn boolean(&self, what: &str) -> Result<bool> {
        self.value.as_bool().ok_or_else(|| self.wrong(what, "`true` or `false`"))
    }

    /// Checks that this is an object; messages call it `what`.
    pub(super) fn object(self, what: &str) -> Result<Self> {
        if self.value.is_object() { Ok(self) } else { Err(self.wrong(what, "an object")) }
    }

    /// Returns the items of the list; messages call it `what`.
    pub(super) fn list(&self, what: &str) -> Result<Vec<Self>> {
        let items = self.value.as_array().ok_or_else(|| self.wrong(what, "a list"))?;
        Ok(items.iter().enumerate().map(|(at, value)| self.step(Step::Index(at), value)).collect())
    }

    /// Returns the items of a list; a single string counts as a list of one.
    pub(super) fn texts(&self, what: &str) -> Result<Vec<Self>> {
        if self.value.is_string() { Ok(vec![self.clone()]) } else { self.list(what) }
    }

    /// Returns the names of the members, if this is an object.
    pub(super) fn keys(&self) -> Vec<&'a str> {
        self.value.as_object().into_iter().flat_map(|object| object.keys().map(String::as_str)).collect()
    }

    /// Returns the position, as `file:line:column`.
    pub(super) fn place(&self) -> String {
        self.position().to_string()
    }

    fn position(&self) -> FilePosition {
        let offset = find(&self.file.text, &self.steps).unwrap_or(0);
        let (line, column) = line_column(&self.file.text, offset);
        FilePosition::new(self.file.name.as_ref(), line, column)
    }

    /// Returns an error with `message` and this position.
    pub(super) fn fault(&self, message: &str) -> Error {
        Error::at(ErrorKind::Integrity, self.position(), message)
    }

    fn wrong(&self, what: &str, kind: &str) -> Error {
        self.fault(&format!("`{what}` must be {kind}"))
    }

    fn step(&self, step: Step<'a>, value: &'a Value) -> Self {
        let mut steps = self.steps.clone();
        steps.push(step);
        Self { file: self.file, steps, value }
    }
}

/// Returns the offset in `text`, which is JSON, of the value at the end of `steps`.
fn find(text: &str, steps: &[Step<'_>]) -> Option<usize> {
    let mut part: &RawValue = serde_json::from_str(text).ok()?;
    for step in steps {
        part = match step {
            // If a key occurs twice, this takes the last one, as the parser of the values does.
            Step::Key(key) => {
                let members: BTreeMap<String, &RawValue> = serde_json::from_str(part.get()).ok()?;
                members.get(*key).copied()?
            }
            Step::Index(at) => {
                let items: Vec<&RawValue> = serde_json::from_str(part.get()).ok()?;
                items.get(*at).copied()?
            }
        };
    }
    Some(offset(text, part))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILE: &str = "{\n  \"a\": [1, {\"é]\\\"\": \"x\", \"b\": true}],\n  \"c\": {}, \"c\": \"last\"\n}";

    #[test]
    fn each_value_has_its_place() {
        let json = Json::parse("f.json", FILE.into()).expect("JSON");
        let a = json.root().get("a").expect("there");
        assert_eq!(a.place(), "f.json:2:8");
        let items = a.list("a").expect("a list");
        assert_eq!(items[1].get("é]\"").expect("there").place(), "f.json:2:21");
        assert_eq!(items[1].get("b").expect("there").fault("no").to_string(), "f.json:2:31: no");
        assert_eq!(json.root().get("c").expect("there").place(), "f.json:3:17");
        assert_eq!(json.root().text_of("c").expect("a string"), Some("last"));
        let wrong = json.root().text_of("a").expect_err("a list");
        assert_eq!(wrong.to_string(), "f.json:2:8: `a` must be a string");
        let missing = json.root().required("z").expect_err("nothing");
        assert_eq!(missing.to_string(), "f.json:1:1: there is no `z`");
    }

    #[test]
    fn what_is_no_json_says_where() {
        let error = |text: &str| Json::parse("f.json", text.into()).expect_err(text).to_string();
        assert_eq!(error("{\n \"é\": x}"), "f.json:2:7: expected value");
        assert_eq!(error(""), "f.json:1:1: EOF while parsing a value");
        assert!(error(&"[".repeat(100_000)).contains("recursion limit"));
        let error = Json::parse("f.json", vec![b'"', 0xff, b'"']).expect_err("not UTF-8");
        assert_eq!(error.to_string(), "`f.json` cannot be read: it is not UTF-8");
        assert!(Json::parse("f.json", "\u{feff}{}".into()).is_ok());
    }

    proptest! {
        #[test]
        fn places_are_those_of_the_values(key in "[ a\"\\\\,:{}\\[\\]é]{0,5}", number in 0..999_i32, before in "[ \n\t]{0,3}") {
            let key_text = serde_json::to_string(&key).expect("a string");
            let text = format!("{before}[[{{}}, \"]\"], {{\"{key}x\": [1,{before}2]{before},{key_text}{before}:{before}{number}}}]");
            if let Ok(json) = Json::parse("f", text.clone().into()) {
                let items = json.root().list("root").expect("a list");
                let steps: Vec<_> = items[1].steps.iter().copied().chain([Step::Key(&key)]).collect();
                let at = find(&text, &steps).expect("there");
                let rest = text[at..].trim_end_matches([']', '}']);
                prop_assert_eq!(rest, number.to_string());
            }
        }
    }
}
