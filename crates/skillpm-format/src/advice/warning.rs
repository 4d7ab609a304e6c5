//! Warnings of verbs.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::Message;

/// Something that the user should know although the verb continued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Warning {
    /// The kind of warning, for programs. Codes do not change.
    pub code: &'static str,
    /// The problem.
    pub message: Message,
    /// The hints, one line each.
    pub hints: Vec<Message>,
}

impl Warning {
    /// Returns a warning without hints.
    pub fn new(code: &'static str, message: impl Into<Message>) -> Self {
        Self { code, message: message.into(), hints: Vec::new() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(f)
    }
}

impl From<Warning> for Message {
    fn from(warning: Warning) -> Self {
        warning.message
    }
}

impl PartialEq<&str> for Warning {
    fn eq(&self, text: &&str) -> bool {
        self.message == *text
    }
}

impl PartialEq<String> for Warning {
    fn eq(&self, text: &String) -> bool {
        self.message == *text
    }
}
