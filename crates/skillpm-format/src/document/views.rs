//! The values of the specification's fields, read leniently.

use super::Document;
use super::tree::{Node, Value};
use crate::text::trimmed;

/// The fields in the specification.
pub const SPEC_FIELDS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// Fields of agents whose value is text for users, even if it looks like a list: `argument-hint: [file]`.
pub const PEOPLE_FIELDS: [&str; 2] = ["argument-hint", "when_to_use"];

impl Document {
    /// Returns the value of a top-level key. If the key occurs twice, the last one counts.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.frontmatter()?.get(key)
    }

    /// Returns the text of a top-level key, without surrounding white space.
    fn trimmed(&self, key: &str) -> Option<&str> {
        Some(trimmed(self.get(key)?.text()?))
    }

    /// Returns the name as written. Returns `None` if it is missing or not text.
    pub fn name(&self) -> Option<&str> {
        self.trimmed("name")
    }

    /// Returns the description. Returns `None` if it is missing or not text.
    pub fn description(&self) -> Option<&str> {
        self.trimmed("description")
    }

    /// Returns the license; a list is joined with commas.
    pub fn license(&self) -> Option<String> {
        self.flat("license")
    }

    /// Returns the environment that the skill needs; a list is joined with commas.
    pub fn compatibility(&self) -> Option<String> {
        self.flat("compatibility")
    }

    fn flat(&self, key: &str) -> Option<String> {
        Some(self.get(key)?.flat_text()?.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// Returns the tools that the skill requests: the entries of a list, or a text split at spaces and commas outside
    /// parentheses, so that `Bash(git add:*) Read` gives two.
    pub fn allowed_tools(&self) -> Vec<String> {
        match self.get("allowed-tools").map(|node| &node.value) {
            Some(Value::Sequence { items, .. }) => {
                items.iter().filter_map(Node::text).map(|text| text.trim().to_owned()).collect()
            }
            Some(Value::Scalar { text, .. }) => split_tools(text).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the value of `key` in `metadata`, if it is text.
    pub fn metadata_get(&self, key: &str) -> Option<&str> {
        Some(self.get("metadata")?.get(key)?.text()?.trim())
    }

    /// Returns the version as written: `metadata.version`, otherwise a top-level `version`.
    pub fn version(&self) -> Option<&str> {
        self.metadata_get("version")
            .filter(|text| !text.is_empty())
            .or_else(|| self.trimmed("version"))
            .filter(|text| !text.is_empty())
    }

    /// Returns the top-level entries whose keys are not in the specification.
    pub fn unknown_fields(&self) -> impl Iterator<Item = &(Node, Node)> {
        self.frontmatter()
            .map(Node::pairs)
            .unwrap_or_default()
            .iter()
            .filter(|(key, _)| key.text().is_none_or(|text| !SPEC_FIELDS.contains(&text)))
    }
}

/// Splits at spaces and commas that are not inside parentheses.
pub(crate) fn split_tools(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c == ',' || c.is_whitespace())
    })
    .filter(|tool| !tool.is_empty())
}
