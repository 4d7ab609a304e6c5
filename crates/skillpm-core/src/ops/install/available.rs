//! What sources offer, for display.

use super::chosen::typed;
use crate::advice::Message;
use crate::source::discover::Candidate;
use crate::spec::SourceSpec;

/// A skill that a source holds.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Available {
    /// The source, in full.
    pub source: String,
    /// The name as the skill writes it, or that of its directory if it cannot be read.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The directory in the source; empty is its root.
    pub path: String,
    /// Why it cannot be installed.
    pub problem: Option<String>,
}

/// A plugin of a marketplace.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct OfferedPlugin {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The version according to the marketplace.
    pub version: Option<String>,
    /// Where it is, in full; `None` if skillpm cannot fetch it.
    pub source: Option<String>,
    /// The directories of its skills; `None` if they are not known without fetching it.
    pub skills: Option<Vec<String>>,
    /// Why it cannot be installed.
    pub problem: Option<Message>,
}

/// Returns the form of a candidate that `--list` shows.
pub(super) fn available(spec: &SourceSpec, root: &str, candidate: &Candidate) -> Available {
    Available {
        source: typed(&spec.origin, spec.reference.as_ref()),
        name: candidate.title(root).to_owned(),
        description: candidate.meta.as_ref().map(|meta| meta.description.clone()).unwrap_or_default(),
        path: candidate.path.clone(),
        problem: candidate.meta.as_ref().err().cloned(),
    }
}
