//! JSON of other tools: where each value is in the text, and texts as JavaScript writes them.

use std::fmt;

use indexmap::IndexMap;
use indexmap::map::Entry;
use jsonc_parser::ast::{ObjectProp, Value as Ast};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::tokens::TokenAndRange;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, ParseResult, parse_to_ast};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;

use super::ForeignError;
use crate::text::{conflict_line, line_column};

/// A JSON value. Objects keep the order of their keys, and numbers are doubles, as in JavaScript.
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
    Object(IndexMap<String, Self>),
}

impl Json {
    /// Returns the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns `true` or `false`.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// Returns a number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns a number that counts something: a whole one that is not negative.
    pub fn as_count(&self) -> Option<usize> {
        self.as_f64().filter(|number| number.fract() == 0.0)?.to_string().parse().ok()
    }

    /// Returns the values of a list; none of anything else.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::Array(items) => items,
            _ => &[],
        }
    }

    /// Returns the keys and values of an object, in their order; none of anything else.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Self)> {
        let entries = match self {
            Self::Object(entries) => Some(entries),
            _ => None,
        };
        entries.into_iter().flatten().map(|(key, value)| (key.as_str(), value))
    }
}

impl std::ops::Index<&str> for Json {
    type Output = Self;

    /// Returns the value of a key; `null` if there is none.
    fn index(&self, key: &str) -> &Self {
        match self {
            Self::Object(entries) => entries.get(key).unwrap_or(&Self::Null),
            _ => &Self::Null,
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<&Ast<'_>> for Json {
    fn from(ast: &Ast<'_>) -> Self {
        match ast {
            Ast::NullKeyword(_) => Self::Null,
            Ast::BooleanLit(boolean) => Self::Bool(boolean.value),
            Ast::NumberLit(number) => Self::Number(number.value.parse().unwrap_or(f64::NAN)),
            Ast::StringLit(text) => text.value.as_ref().into(),
            Ast::Array(array) => Self::Array(array.elements.iter().map(Self::from).collect()),
            Ast::Object(object) => {
                let entry = |property: &ObjectProp<'_>| {
                    (property.name.as_str().to_owned(), Self::from(&property.value))
                };
                Self::Object(object.properties.iter().map(entry).collect())
            }
        }
    }
}

/// Reads settings as programs written in JavaScript keep them: JSON, with comments and trailing commas allowed.
///
/// # Errors
///
/// Fails with a byte of `text` and what is wrong there.
pub fn read_settings(text: &str) -> Result<Json, (usize, String)> {
    let parsed = parse(text, true)?;
    Ok(parsed.value.as_ref().map_or(Json::Null, Json::from))
}

/// Parses `text`, with its tokens, and with comments and trailing commas if `comments` allows them. An error is a byte of
/// the text and what is wrong there.
pub(super) fn parse(text: &str, comments: bool) -> Result<ParseResult<'_>, (usize, String)> {
    // Comments that are collected as tokens are not refused.
    let strategy =
        if comments { CommentCollectionStrategy::AsTokens } else { CommentCollectionStrategy::Off };
    let collect = CollectOptions { comments: strategy, tokens: true };
    let options = ParseOptions {
        allow_comments: comments,
        allow_trailing_commas: comments,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &collect, &options).map_err(|error| {
        let reason = error.kind().to_string();
        let mut letters = reason.chars();
        let first = letters.next().map(|first| first.to_ascii_lowercase());
        let reason: String = first.into_iter().chain(letters).collect();
        (error.range().start, reason)
    })?;
    // The parser takes these as they are, and no other reader of JSON does.
    let control = |token: &TokenAndRange<'_>| {
        let source = &text[token.range.start..token.range.end];
        Some(token.range.start + source.find(|c| c < ' ')?)
    };
    match parsed.tokens.iter().flatten().find_map(control).filter(|_| !comments) {
        Some(at) => Err((at, "a control character in a string must be escaped".to_owned())),
        None => Ok(parsed),
    }
}

/// A parsed text whose parts know their positions.
pub(super) struct Reader<'a> {
    text: &'a str,
    root: Ast<'a>,
}

/// A value of the text.
pub(super) type Part<'a> = &'a Ast<'a>;

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Result<Self, ForeignError> {
        if let Some(line) = conflict_line(text) {
            return Err(ForeignError {
                line,
                column: 1,
                message: "there are merge-conflict markers".to_owned(),
                hint: "choose either side, or restore the file from version control, and run the command again",
            });
        }
        let fault = |(at, message)| fault(text, at, message, NOT_JSON);
        let root = parse(text, false).map_err(fault)?.value;
        root.map(|root| Self { text, root }).ok_or_else(|| fault((0, "it is empty".to_owned())))
    }

    /// Returns the whole text as one value.
    pub(super) fn root(&self) -> Part<'_> {
        &self.root
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
        fault(self.text, part.start(), message.into(), hint)
    }

    /// Returns the entries of an object. A duplicate key is an error, because two readers could use different ones.
    pub(super) fn object<'r>(
        &self,
        part: Part<'r>,
        what: &str,
    ) -> Result<IndexMap<&'r str, Part<'r>>, ForeignError> {
        let object = part.as_object().ok_or_else(|| self.fault(part, format!("{what} must be an object")))?;
        let mut entries = IndexMap::new();
        for property in &object.properties {
            match entries.entry(property.name.as_str()) {
                Entry::Vacant(entry) => drop(entry.insert(&property.value)),
                Entry::Occupied(entry) => {
                    return Err(self.fault(&property.value, format!("`{}` appears twice", entry.key())));
                }
            }
        }
        Ok(entries)
    }
}

const NOT_JSON: &str = "restore the file from version control, or move it away";

fn fault(text: &str, at: usize, message: String, hint: &'static str) -> ForeignError {
    let (line, column) = line_column(text, at);
    ForeignError { line, column, message, hint }
}

/// Returns the byte of `text` at which `part` of it starts.
pub fn offset(text: &str, part: &RawValue) -> usize {
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
        f.write_str(&serde_json::to_string_pretty(self).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(value) => {
                RawValue::from_string(number(*value)).map_err(S::Error::custom)?.serialize(serializer)
            }
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => serializer.collect_seq(items),
            Self::Object(entries) => {
                // Keys that are array indices come first, by number.
                let mut entries: Vec<_> = entries.iter().collect();
                entries.sort_by_key(|(key, _)| index(key).map_or((true, 0), |index| (false, index)));
                serializer.collect_map(entries)
            }
        }
    }
}

fn index(key: &str) -> Option<u32> {
    let index: u32 = key.parse().ok()?;
    (index != u32::MAX && index.to_string() == key).then_some(index)
}

/// Returns a number as JavaScript writes it: the shortest digits that read back, with an exponent only for very large and
/// very small numbers.
fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0" } else { "null" }.to_owned();
    }
    let shortest = format!("{value:e}");
    let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    match exponent.parse().unwrap_or_default() {
        -6..=20 => value.to_string(),
        exponent @ 21.. => format!("{digits}e+{exponent}"),
        exponent => format!("{digits}e{exponent}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stringify(text: &str) -> String {
        Json::from(Reader::new(text).expect(text).root()).to_string()
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
