//! JSON as JavaScript stores and writes it: objects in order, numbers as doubles.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::ForeignError;
use crate::text::{conflict_line, line_column};

/// A JSON value. Objects keep the order of their keys.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Any number.
    Number(f64),
    /// Text.
    String(String),
    /// A list.
    Array(Vec<Self>),
    /// Keys and values.
    Object(Vec<(String, Self)>),
}

impl Json {
    /// Returns the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Values;
        impl<'de> Visitor<'de> for Values {
            type Value = Json;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
                Ok(Json::Bool(value))
            }

            #[expect(clippy::cast_precision_loss, reason = "JavaScript has doubles only, and rounds alike")]
            fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
                Ok(Json::Number(value as f64))
            }

            #[expect(clippy::cast_precision_loss, reason = "JavaScript has doubles only, and rounds alike")]
            fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
                Ok(Json::Number(value as f64))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
                Ok(Json::Number(value))
            }

            fn visit_str<E>(self, text: &str) -> Result<Json, E> {
                Ok(text.into())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
                let mut array = Vec::new();
                while let Some(item) = items.next_element()? {
                    array.push(item);
                }
                Ok(Json::Array(array))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
                let mut object: Vec<(String, Json)> = Vec::new();
                let mut places: BTreeMap<String, usize> = BTreeMap::new();
                while let Some((key, value)) = entries.next_entry::<String, Json>()? {
                    // Equivalent to [`set`], but takes linear instead of quadratic time in the number of
                    // keys.
                    match places.entry(key.clone()) {
                        Entry::Occupied(at) => object[*at.get()].1 = value,
                        Entry::Vacant(at) => {
                            at.insert(object.len());
                            object.push((key, value));
                        }
                    }
                }
                Ok(Json::Object(object))
            }
        }
        deserializer.deserialize_any(Values)
    }
}

/// Sets `key` of an object: if it exists already, its value changes but not its position, as in JavaScript.
pub(super) fn set<T>(object: &mut Vec<(String, T)>, key: String, value: T) {
    match object.iter_mut().find(|(name, _)| *name == key) {
        Some((_, old)) => *old = value,
        None => object.push((key, value)),
    }
}

/// A reader for a text whose parts know their positions.
pub(super) struct Reader<'a> {
    text: &'a str,
}

/// A value of the text that has not been parsed yet.
pub(super) type Part<'a> = &'a RawValue;

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text }
    }

    /// Returns the whole text as one value.
    pub(super) fn root(&self) -> Result<Part<'a>, ForeignError> {
        if let Some(line) = conflict_line(self.text) {
            return Err(ForeignError {
                line,
                column: 1,
                message: "there are merge-conflict markers".to_owned(),
                hint: "choose either side, or restore the file from version control, and run the command again",
            });
        }
        serde_json::from_str(self.text).map_err(|error| ForeignError {
            line: error.line().max(1),
            column: error.column().max(1),
            message: without_place(&error),
            hint: NOT_JSON,
        })
    }

    /// Returns an error that reports `part` as wrong.
    pub(super) fn fault(&self, part: Part<'_>, message: impl Into<String>) -> ForeignError {
        self.fault_at(part, message, NOT_JSON)
    }

    pub(super) fn fault_at(
        &self,
        part: Part<'_>,
        message: impl Into<String>,
        hint: &'static str,
    ) -> ForeignError {
        let (line, column) = line_column(self.text, offset(self.text, part));
        ForeignError { line, column, message: message.into(), hint }
    }

    /// Returns the entries of an object. A duplicate key is an error, because two readers could use different ones.
    pub(super) fn object(&self, part: Part<'a>, what: &str) -> Result<Vec<(String, Part<'a>)>, ForeignError> {
        let Entries(entries) = serde_json::from_str(part.get())
            .map_err(|_| self.fault(part, format!("{what} must be an object")))?;
        let mut seen = BTreeSet::new();
        for (key, value) in &entries {
            if !seen.insert(key) {
                return Err(self.fault(value, format!("`{key}` appears twice")));
            }
        }
        Ok(entries)
    }

    /// Returns any value.
    pub(super) fn value(&self, part: Part<'_>) -> Result<Json, ForeignError> {
        serde_json::from_str(part.get()).map_err(|error| self.fault(part, without_place(&error)))
    }
}

const NOT_JSON: &str = "restore the file from version control, or move it away";

struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Objects;
        impl<'de> Visitor<'de> for Objects {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Entries<'de>, A::Error> {
                let mut object = Vec::new();
                while let Some(entry) = entries.next_entry()? {
                    object.push(entry);
                }
                Ok(Entries(object))
            }
        }
        deserializer.deserialize_map(Objects)
    }
}

/// Returns the byte of `text` at which `part` of it starts.
pub fn offset(text: &str, part: Part<'_>) -> usize {
    // Both point into the same text.
    (part.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// Returns the message of `error` without its position, which is reported separately.
pub fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

/// Writes the text of `JSON.stringify(value, null, 2)`.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        write(&mut text, self, 0);
        f.write_str(&text)
    }
}

fn write(text: &mut String, value: &Json, depth: usize) {
    match value {
        Json::Null => text.push_str("null"),
        Json::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Json::Number(value) => number(text, *value),
        Json::String(value) => string(text, value),
        Json::Array(items) => block(text, depth, ['[', ']'], items, |text, item| {
            write(text, item, depth + 1);
        }),
        Json::Object(entries) => block(text, depth, ['{', '}'], ordered(entries), |text, (key, value)| {
            string(text, key);
            text.push_str(": ");
            write(text, value, depth + 1);
        }),
    }
}

fn block<T>(
    text: &mut String,
    depth: usize,
    [open, close]: [char; 2],
    items: impl IntoIterator<Item = T>,
    mut each: impl FnMut(&mut String, T),
) {
    text.push(open);
    let mut empty = true;
    for item in items {
        text.push_str(if empty { "\n" } else { ",\n" });
        text.push_str(&"  ".repeat(depth + 1));
        each(text, item);
        empty = false;
    }
    if !empty {
        text.push('\n');
        text.push_str(&"  ".repeat(depth));
    }
    text.push(close);
}

/// Returns the entries of an object in JavaScript's order: keys that are array indices first, by number.
fn ordered(entries: &[(String, Json)]) -> Vec<&(String, Json)> {
    let mut ordered: Vec<_> = entries.iter().collect();
    ordered.sort_by_key(|(key, _)| index(key).map_or((true, 0), |index| (false, index)));
    ordered
}

fn index(key: &str) -> Option<u32> {
    let index: u32 = key.parse().ok()?;
    (index != u32::MAX && index.to_string() == key).then_some(index)
}

fn string(text: &mut String, value: &str) {
    // A string always serializes.
    text.push_str(&serde_json::to_string(value).unwrap_or_default());
}

/// Writes a number as JavaScript does: the shortest digits that read back, with an exponent only for very large and
/// very small numbers.
fn number(text: &mut String, value: f64) {
    if value == 0.0 || !value.is_finite() {
        text.push_str(if value == 0.0 { "0" } else { "null" });
        return;
    }
    let shortest = format!("{value:e}");
    let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = match exponent {
        -6..=20 => write!(text, "{value}"),
        21.. => write!(text, "{digits}e+{exponent}"),
        _ => write!(text, "{digits}e{exponent}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stringify(text: &str) -> String {
        serde_json::from_str::<Json>(text).expect(text).to_string()
    }

    /// The right side is the output of Node 20.
    #[test]
    fn numbers_are_written_as_javascript_writes_them() {
        for (text, written) in [
            ("1.0", "1"),
            ("-0", "0"),
            ("1e3", "1000"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("1.5e300", "1.5e+300"),
            ("0.000001", "0.000001"),
            ("1e-7", "1e-7"),
            ("-1.25e-9", "-1.25e-9"),
            ("12345678901234567890", "12345678901234567000"),
            ("0.1", "0.1"),
        ] {
            assert_eq!(stringify(text), written, "{text}");
        }
    }

    #[test]
    fn values_are_written_as_javascript_writes_them() {
        assert_eq!(stringify("{ }"), "{}");
        assert_eq!(stringify("[]"), "[]");
        assert_eq!(
            stringify(r#"{"b":[1,{"z":null}],"10":true,"2":false,"01":"\u00e9\u001f\u2028\/\"\\\n"}"#),
            "{\n  \"2\": false,\n  \"10\": true,\n  \"b\": [\n    1,\n    {\n      \"z\": null\n    }\n  ],\n  \
             \"01\": \"é\\u001f\u{2028}/\\\"\\\\\\n\"\n}"
        );
        assert_eq!(stringify(r#"{"a":1,"b":2,"a":3}"#), "{\n  \"a\": 3,\n  \"b\": 2\n}");
    }
}
