//! The outcome of a search.

use std::borrow::Cow;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::Warning;
use crate::engine::SourceKind;
use crate::error::Error;
use crate::ranking::Document;

/// The outcome of a search.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct SearchOutcome {
    /// The best matches, best first.
    pub skills: Vec<FoundSkill>,
    /// The number of all matches.
    pub total: usize,
    /// Similar names, if nothing matches.
    pub suggestions: Vec<String>,
    /// The file that keeps the answer to the question whether to search skills.sh, if it was asked now.
    #[serde(skip)]
    pub remembered: Option<PathBuf>,
    /// Why registries could not be searched.
    #[serde(skip)]
    pub failures: Vec<Error>,
    /// Warnings for the user.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// A skill in one place. Another place may have a skill of the same name.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FoundSkill {
    /// The name.
    pub name: String,
    /// The newest version, or the one that is installed, if it is known.
    pub version: Option<String>,
    /// What it does and when to use it. Empty for a skill of skills.sh, which has no descriptions.
    pub description: String,
    /// The tags.
    pub tags: Vec<String>,
    /// The kind of place.
    pub found_in: FoundIn,
    /// The name of its registry.
    pub registry: Option<String>,
    /// The scope of a skill that is available here.
    pub scope: Option<SourceKind>,
    /// The source to install it from, as typed; `None` for a skill that is available here.
    pub source: Option<String>,
    /// Whether a skill of this name is available here.
    pub installed: bool,
    /// The other registries that have a skill of this name.
    pub also_in: Vec<String>,
    /// How often a skill of skills.sh was installed, as that site counts.
    pub installs: Option<u64>,
}

impl FoundSkill {
    /// Returns what tells it from others: its description, or what skills.sh says of it.
    pub fn about(&self) -> Cow<'_, str> {
        match (&self.source, self.installs) {
            (Some(source), Some(installs)) if self.description.is_empty() => {
                let repository = source.split('@').next().unwrap_or(source);
                let noun = if installs == 1 { "install" } else { "installs" };
                format!("{} {noun}, from {repository}", grouped(installs)).into()
            }
            _ => self.description.as_str().into(),
        }
    }

    /// Returns the texts that are searched.
    pub(super) fn document(&self) -> Document<'_> {
        Document { name: &self.name, tags: &self.tags, description: &self.description }
    }
}

/// Returns `number` with a comma before each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let comma = |at: usize| at > 0 && (digits.len() - at).is_multiple_of(3);
    digits
        .char_indices()
        .flat_map(|(at, digit)| comma(at).then_some(',').into_iter().chain([digit]))
        .collect()
}

/// The kind of place in which a skill was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "SearchPlace")]
pub enum FoundIn {
    /// A registry.
    #[serde(rename = "registry")]
    Registry,
    /// The project or the user has it.
    #[serde(rename = "installed")]
    Installed,
    /// The public site skills.sh.
    #[serde(rename = "skills.sh")]
    SkillsSh,
}
