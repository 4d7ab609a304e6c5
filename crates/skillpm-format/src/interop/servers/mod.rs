//! The entries of MCP servers in the configuration files of their clients: read, added, changed and removed.
//!
//! Such a file belongs to its client and its user, so an edit changes the bytes of one entry and keeps everything else:
//! comments, order, indentation, line ends. Each format locates the entry with a parser that knows positions, and edits
//! the text there. The edited text is then parsed again and compared with the original: an edit that would change
//! anything else is an error.

mod json;
mod lines;
mod redact;
mod toml;
mod yaml;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

pub use self::redact::Shown;
use crate::text::line_column;

/// The byte order mark, which some editors write at the start of a file.
const BOM: char = '\u{feff}';

/// The format of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON.
    Json,
    /// JSON with comments and trailing commas.
    Jsonc,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// Where the entry of a server is in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key<'a> {
    /// The key at the top of the file that holds all servers: `mcpServers`.
    pub table: &'a str,
    /// The key of the server below it. Letters, digits, `-` and `_` only, so that no format needs quotes.
    pub name: &'a str,
}

/// A field of an entry: its key, and a text, a list of texts, a number or a boolean.
pub type Field = (&'static str, Value);

/// A text with the new entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// The whole text of the file.
    pub text: String,
    /// Whether the file had no table of servers, so it was added too.
    pub with_table: bool,
}

/// An error for a file that cannot be read or edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServersError {
    /// The file is not in its format.
    #[error("{line}:{column}: {reason}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in characters.
        column: usize,
        /// The problem.
        reason: String,
    },
    /// The file is in its format, but the entry cannot have a place in it.
    #[error("{0}")]
    Shape(String),
}

impl ServersError {
    /// Returns the syntax error at byte `at` of `text`.
    fn syntax(text: &str, at: usize, reason: impl Into<String>) -> Self {
        let (line, column) = line_column(text, at);
        Self::Syntax { line, column, reason: reason.into() }
    }

    /// Returns the error for `what`, which has to be a mapping and is not.
    fn no_mapping(what: &str) -> Self {
        Self::Shape(format!("{what} is not a table of keys and values"))
    }

    /// Returns the error for the key `name`, which occurs twice.
    fn twice(name: &str) -> Self {
        Self::Shape(format!("the key `{name}` occurs twice"))
    }

    /// Returns the error for notation that cannot be edited without changing more than the entry.
    fn notation() -> Self {
        Self::Shape(
            "it is written in a way that cannot be edited without changing more than the entry".into(),
        )
    }
}

type Result<T, E = ServersError> = std::result::Result<T, E>;

impl Format {
    /// Returns the servers below `table` in `text`, by name. Values are as JSON; in YAML, scalars are texts.
    ///
    /// # Errors
    ///
    /// Fails for text that is not in this format, and if `table` is no mapping.
    pub fn servers(self, text: &str, table: &str) -> Result<BTreeMap<String, Value>> {
        match self.parse(body(text).1)?.remove(table) {
            None | Some(Value::Null) => Ok(BTreeMap::new()),
            Some(Value::Object(servers)) => Ok(servers.into_iter().collect()),
            Some(_) => Err(ServersError::no_mapping(&format!("`{table}`"))),
        }
    }

    /// Returns `text` with the entry `key` of `fields` added. There must be no such entry yet.
    ///
    /// # Errors
    ///
    /// Fails for text that is not in this format, and if the entry cannot have a place in it.
    pub fn add(self, text: &str, key: Key<'_>, fields: &[Field]) -> Result<Added> {
        if self.servers(text, key.table)?.contains_key(key.name) {
            return Err(ServersError::Shape(format!("`{}` is there already", key.name)));
        }
        let (mark, text) = body(text);
        let added = match self {
            Self::Json => json::add(text, false, key, fields),
            Self::Jsonc => json::add(text, true, key, fields),
            Self::Toml => toml::add(text, key, fields),
            Self::Yaml => yaml::add(text, key, fields),
        }?;
        self.check(text, &added.text, key, |_| Some(fields))?;
        Ok(Added { text: format!("{mark}{}", added.text), ..added })
    }

    /// Returns `text` with `fields` set in the entry `key`. Other fields of the entry stay.
    ///
    /// # Errors
    ///
    /// Fails for text that is not in this format, without the entry, and if the entry is written in a way that cannot be
    /// edited in place.
    pub fn change(self, text: &str, key: Key<'_>, fields: &[Field]) -> Result<String> {
        let (mark, text) = body(text);
        let mut changed = text.to_owned();
        for field in fields {
            changed = match self {
                Self::Json => json::set(&changed, false, key, field),
                Self::Jsonc => json::set(&changed, true, key, field),
                Self::Toml => toml::set(&changed, key, field),
                Self::Yaml => yaml::set(&changed, key, field),
            }?;
        }
        self.check(text, &changed, key, |_| Some(fields))?;
        Ok(format!("{mark}{changed}"))
    }

    /// Returns `text` without the entry `key`, and without the table of servers if it is empty then and `with_table`
    /// says so.
    ///
    /// # Errors
    ///
    /// Fails for text that is not in this format, and if the entry is written in a way that cannot be removed alone.
    pub fn remove(self, text: &str, key: Key<'_>, with_table: bool) -> Result<String> {
        let (mark, text) = body(text);
        let removed = match self {
            Self::Json => json::remove(text, false, key, with_table),
            Self::Jsonc => json::remove(text, true, key, with_table),
            Self::Toml => toml::remove(text, key),
            Self::Yaml => yaml::remove(text, key, with_table),
        }?;
        self.check(text, &removed, key, |_| None)?;
        Ok(format!("{mark}{removed}"))
    }

    /// Reports whether `text` has no keys and no comments.
    pub fn is_empty(self, text: &str) -> bool {
        let text = body(text).1.trim();
        let empty = matches!(self, Self::Json | Self::Jsonc)
            && text.strip_prefix('{').is_some_and(|rest| rest.trim() == "}");
        text.is_empty() || empty
    }

    /// Returns `text` as it may be shown: with its keys and its notation, and of the servers below `table` the values of
    /// `own` alone. Other values and all comments are hidden, because any of them may be a secret. The lines stay, so
    /// that a difference between two such texts is where it is between the files.
    pub fn redacted(self, text: &str, table: &str, own: Option<Shown<'_>>) -> String {
        let (mark, text) = body(text);
        let members = match self {
            Self::Json => json::members(text, false),
            Self::Jsonc => json::members(text, true),
            Self::Toml => toml::members(text),
            Self::Yaml => yaml::members(text),
        };
        // Nothing is shown of a text that is not in its format.
        let shown = members.map(|members| redact::shown_ranges(&members, table, own)).unwrap_or_default();
        format!("{mark}{}", redact::redacted(text, shown))
    }

    /// Returns the keys at the top of `text` with their values.
    fn parse(self, text: &str) -> Result<Map<String, Value>> {
        match self {
            Self::Json => json::parse(text, false),
            Self::Jsonc => json::parse(text, true),
            Self::Toml => toml::parse(text),
            Self::Yaml => yaml::parse(text),
        }
    }

    /// Checks that `new` differs from `old` in the entry `key` only, and that the entry has the fields that `wanted`
    /// returns; there is no entry if it returns `None`.
    fn check<'f>(
        self,
        old: &str,
        new: &str,
        key: Key<'_>,
        wanted: impl FnOnce(&Self) -> Option<&'f [Field]>,
    ) -> Result<()> {
        let (mut old, mut new) = (self.parse(old)?, self.parse(new).map_err(|_| ServersError::notation())?);
        take(&mut old, key);
        let entry = take(&mut new, key);
        let is_right = match (wanted(&self), &entry) {
            (None, entry) => entry.is_none(),
            (Some(fields), Some(Value::Object(entry))) => {
                fields.iter().all(|(name, value)| entry.get(*name) == Some(&self.as_read(value)))
            }
            (Some(_), _) => false,
        };
        if is_right && old == new { Ok(()) } else { Err(ServersError::notation()) }
    }

    /// Returns `value` as [`Self::parse`] returns it.
    fn as_read(self, value: &Value) -> Value {
        match value {
            Value::Bool(_) | Value::Number(_) if self == Self::Yaml => value.to_string().into(),
            Value::Number(number) if matches!(self, Self::Json | Self::Jsonc) => {
                json::number(&number.to_string())
            }
            value => value.clone(),
        }
    }
}

/// Returns the byte order mark of `text`, if it has one, and the rest.
fn body(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BOM) { BOM.len_utf8() } else { 0 })
}

/// Takes the entry `key` out of `file`, and its table if nothing else is in it.
fn take(file: &mut Map<String, Value>, key: Key<'_>) -> Option<Value> {
    let table = file.get_mut(key.table)?;
    let entry = table.as_object_mut().and_then(|servers| servers.remove(key.name));
    if table.is_null() || table.as_object().is_some_and(Map::is_empty) {
        file.remove(key.table);
    }
    entry
}

#[cfg(test)]
mod tests;
