//! The tools for clients that know no skills: list, search, load, read.

mod skills;

use serde_json::{Map, Value};

pub(crate) use skills::{call, definitions};

/// A tool, as a client sees it.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    /// Its name.
    pub(crate) name: String,
    /// Its name for people.
    pub(crate) title: String,
    /// What it does and when to call it.
    pub(crate) description: String,
    /// Its arguments, as a JSON Schema.
    pub(crate) input: Map<String, Value>,
    /// Whether it changes nothing.
    pub(crate) is_read_only: bool,
}

/// The answer of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// The text for the model.
    pub(crate) text: String,
    /// The same as a value, for programs.
    pub(crate) value: Option<Value>,
    /// Whether it says why the call failed.
    pub(crate) is_error: bool,
}
