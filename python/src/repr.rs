//! What Python shows of a value where a person looks at it.

use std::fmt::Write as _;
use std::path::Path;

/// Longer texts are cut: a list of skills is to be read at a glance.
const SHORT: usize = 60;

/// Builds `Name(field='text', ...)`.
pub(crate) struct Repr {
    text: String,
    first: bool,
}

impl Repr {
    pub(crate) fn of(class: &str) -> Self {
        Self { text: format!("{class}("), first: true }
    }

    /// Adds a field with `value` as it is.
    pub(crate) fn plain(mut self, field: &str, value: impl std::fmt::Display) -> Self {
        let comma = if self.first { "" } else { ", " };
        let _ = write!(self.text, "{comma}{field}={value}");
        self.first = false;
        self
    }

    /// Adds a text in quotes.
    pub(crate) fn text(self, field: &str, value: &str) -> Self {
        self.plain(field, quoted(value))
    }

    /// Adds the start of a text in quotes.
    pub(crate) fn short(self, field: &str, value: &str) -> Self {
        match value.char_indices().nth(SHORT) {
            Some((end, _)) => self.plain(field, quoted(&format!("{}...", &value[..end]))),
            None => self.text(field, value),
        }
    }

    pub(crate) fn path(self, field: &str, value: &Path) -> Self {
        self.text(field, &value.to_string_lossy())
    }

    /// Adds a text where there is one.
    pub(crate) fn maybe(self, field: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(field, value),
            None => self,
        }
    }

    pub(crate) fn finish(mut self) -> String {
        self.text.push(')');
        self.text
    }
}

/// `value` in single quotes, on one line.
fn quoted(value: &str) -> String {
    let mut text = String::from("'");
    for c in value.chars() {
        match c {
            '\'' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            c if c.is_control() => _ = write!(text, "\\x{:02x}", u32::from(c)),
            c => text.push(c),
        }
    }
    text.push('\'');
    text
}
