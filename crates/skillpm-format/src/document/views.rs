//! What the specification's fields say, read leniently.

use super::Document;
use super::tree::{Node, Value};
use crate::text::trimmed;

/// The fields that the specification has.
pub const SPEC_FIELDS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// Fields of agents whose value is a text that people read, even where it looks like a list: `argument-hint: [file]`.
pub const PEOPLE_FIELDS: [&str; 2] = ["argument-hint", "when_to_use"];

impl Document {
    /// The value of a top-level key. Where the key is there twice the last one counts.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.frontmatter()?.get(key)
    }

    /// The text of a top-level key, without white space around it.
    fn trimmed(&self, key: &str) -> Option<&str> {
        Some(trimmed(self.get(key)?.text()?))
    }

    /// The name as written; `None` where there is none or it is not text.
    pub fn name(&self) -> Option<&str> {
        self.trimmed("name")
    }

    /// The description; `None` where there is none or it is not text.
    pub fn description(&self) -> Option<&str> {
        self.trimmed("description")
    }

    /// The license, a list of them joined with commas.
    pub fn license(&self) -> Option<String> {
        self.flat("license")
    }

    /// What the skill needs around it, a list joined with commas.
    pub fn compatibility(&self) -> Option<String> {
        self.flat("compatibility")
    }

    fn flat(&self, key: &str) -> Option<String> {
        Some(self.get(key)?.flat_text()?.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// The tools that the skill asks for: the entries of a list, or a text split at spaces and
    /// commas outside parentheses, so that `Bash(git add:*) Read` is two.
    pub fn allowed_tools(&self) -> Vec<String> {
        match self.get("allowed-tools").map(|node| &node.value) {
            Some(Value::Sequence { items, .. }) => {
                items.iter().filter_map(Node::text).map(|text| text.trim().to_owned()).collect()
            }
            Some(Value::Scalar { text, .. }) => split_tools(text).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    }

    /// The value of `key` in `metadata`, where it is text.
    pub fn metadata_get(&self, key: &str) -> Option<&str> {
        Some(self.get("metadata")?.get(key)?.text()?.trim())
    }

    /// The version as written: `metadata.version`, else a top-level `version`.
    pub fn version(&self) -> Option<&str> {
        self.metadata_get("version")
            .filter(|text| !text.is_empty())
            .or_else(|| self.trimmed("version"))
            .filter(|text| !text.is_empty())
    }

    /// The top-level entries whose keys the specification does not have.
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
