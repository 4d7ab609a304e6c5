//! What a tool is, what a call gives, and what it answers.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::words;
use crate::advice::Wording;
use crate::error::{Error, Result};
use crate::session::provenance::LockedOrigin;
use crate::text::visible;

/// The number of characters of the message of an error, and of its hints together.
pub const MAX_ERROR: usize = 2_000;

/// A tool, as a client sees it.
#[derive(Debug, Clone)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// What it does and when to call it.
    pub description: String,
    /// The arguments, as a JSON Schema.
    pub input: Map<String, Value>,
    /// Whether it changes nothing.
    pub is_read_only: bool,
}

/// The number of bytes of a text that one answer has, unless the call asks for more.
pub const MAX_TEXT: usize = 64 << 10;

/// The answer of a tool. It has no `structuredContent`: of an answer that has both, some clients show a model that alone,
/// and some show it both.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The text for the model.
    pub text: String,
    /// What it should know about the text, such as how to go on.
    pub notes: Vec<String>,
    /// What a program may want to know besides.
    pub meta: Option<Value>,
    /// Whether it says why the call failed.
    pub is_error: bool,
    /// The skill whose instructions it has.
    pub loaded: Option<String>,
    /// Where that skill comes from, if it is locked.
    pub origin: Option<LockedOrigin>,
}

/// The arguments of a call.
pub(super) struct Given<'a>(pub(super) &'a Map<String, Value>);

impl Given<'_> {
    /// Refuses arguments that are not among `known`: a model that guessed a name has to learn that it was wrong.
    pub(super) fn only(&self, known: &[&str]) -> Result<()> {
        match self.0.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => {
                let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
                Err(Error::usage(format!(
                    "there is no argument `{key}`; this tool takes {}",
                    known.join(" and ")
                )))
            }
            None => Ok(()),
        }
    }

    pub(super) fn text(&self, name: &str) -> Result<&str> {
        self.optional_text(name)?.ok_or_else(|| Error::usage(format!("the argument `{name}` is missing")))
    }

    pub(super) fn optional_text(&self, name: &str) -> Result<Option<&str>> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Error::usage(format!("the argument `{name}` is not a string"))),
        }
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<usize>> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64().and_then(|number| usize::try_from(number).ok()) {
                Some(number) => Ok(Some(number)),
                None => Err(Error::usage(format!("the argument `{name}` must be a whole number, 0 or more"))),
            },
        }
    }

    /// Returns the argument `limit`: `usual` if it is not given, and `max` at most.
    pub(super) fn limit(&self, usual: usize, max: usize) -> Result<usize> {
        match self.number("limit")? {
            None => Ok(usual),
            Some(limit) if (1..=max).contains(&limit) => Ok(limit),
            Some(_) => Err(Error::usage(format!("the argument `limit` must be between 1 and {max}"))),
        }
    }
}

impl Answer {
    pub(super) fn success(text: String) -> Self {
        Self { text, notes: Vec::new(), meta: None, is_error: false, loaded: None, origin: None }
    }

    /// Returns the answer that says why nothing was done.
    pub fn refused(reason: &str) -> Self {
        Self { is_error: true, ..Self::success(reason.to_owned()) }
    }

    /// Returns the answer that says why a call failed, and what to do: in the words of the tools, or of `user` for what
    /// only a person can do. Either may quote a long argument, and is shortened.
    pub(super) fn failed(error: &Error, user: &dyn Wording) -> Self {
        let text = shortened(words::worded(&error.with_causes(), user), MAX_ERROR);
        let mut hints = String::new();
        for hint in error.hints() {
            let _ = write!(hints, "\n{}", words::hint(hint, user));
        }
        let text = text + &shortened(hints, MAX_ERROR);
        Self::refused(&visible(&text))
    }
}

/// Returns `text` with at most `max` characters, and a mark where it was longer.
pub fn shortened(mut text: String, max: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(max) {
        text.truncate(end);
        text.push('…');
    }
    text
}
