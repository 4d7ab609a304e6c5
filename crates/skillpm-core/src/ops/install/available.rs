//! Skills and plugins that sources offer, for display.

use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::Message;
use crate::fetch::typed_source::typed;
use crate::source::discover::Candidate;
use crate::spec::SourceSpec;

/// A skill that a source holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Available {
    /// The full source.
    pub source: String,
    /// The skill's own name, or that of its directory if it cannot be read.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The directory in the source; empty is its root.
    pub path: String,
    /// Why it cannot be installed.
    pub problem: Option<String>,
}

/// A plugin of a marketplace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OfferedPlugin {
    /// The name.
    pub name: String,
    /// The purpose of the plugin.
    pub description: String,
    /// The version according to the marketplace.
    pub version: Option<String>,
    /// The full source; `None` if skillpm cannot fetch it.
    pub source: Option<String>,
    /// The directories of its skills; `None` if only fetching it would tell.
    pub skills: Option<Vec<String>>,
    /// Why it cannot be installed.
    pub problem: Option<Message>,
}

/// Returns a candidate in the form that `--list` shows.
pub(super) fn available(spec: &SourceSpec, root: &str, candidate: &Candidate) -> Available {
    Available {
        source: typed(&spec.origin, spec.reference.as_ref()),
        name: candidate.title(root).to_owned(),
        description: candidate.meta.as_ref().map(|meta| meta.description.clone()).unwrap_or_default(),
        path: candidate.path.clone(),
        problem: candidate.meta.as_ref().err().cloned(),
    }
}
