//! Whether an agent told its model the last time what is computed now.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::agents;
use crate::agents::listing::{Asked, listing, recorded};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scope::project_root;

/// The agent whose sessions record what was listed.
const CHECKED: &str = "claude-code";

/// What a session says was listed, beside what is computed. The JSON form of this and the other values here is an
/// interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckOutcome {
    /// The file of the session.
    pub session: String,
    /// The number of skills whose lines are equal.
    pub equal: usize,
    /// The skills whose lines differ.
    pub different: Vec<DifferentLine>,
    /// The names that were computed and not listed.
    pub not_listed: Vec<String>,
    /// The names that were listed and not computed: those that come with the agent are among them.
    pub not_computed: Vec<String>,
}

/// A skill that is listed in another way than computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DifferentLine {
    /// The name.
    pub name: String,
    /// The line that was computed.
    pub computed: String,
    /// The line that was listed.
    pub listed: String,
}

impl CheckOutcome {
    /// Reports whether all that was computed was listed so.
    pub fn agrees(&self) -> bool {
        self.different.is_empty() && self.not_listed.is_empty()
    }
}

/// Compares what is computed for the agent `name` with its newest session in the working directory.
///
/// # Errors
///
/// Fails for an agent whose sessions do not say what was listed, and if there is no session that says so.
pub fn check(context: &Context, name: &str, window: Option<u64>) -> Result<CheckOutcome> {
    let agent = agents::find(name)?;
    if agent.id != CHECKED {
        return Err(Error::usage(format!("sessions of `{}` do not record what was listed", agent.id)));
    }
    let settings = &context.settings;
    let project = project_root(settings)?;
    let asked = Asked { settings, project: &project, window };
    let recorded = recorded(asked)?.ok_or_else(|| {
        Error::usage(format!("no session of {} in this directory records what was listed", agent.name))
            .hint("start a session here, and try again")
    })?;
    let computed = listing(agent, asked).and_then(|listing| listing.text).unwrap_or_default();
    let (computed, mut listed) = (lines(&computed), lines(&recorded.text));
    let mut outcome = CheckOutcome {
        session: recorded.file.display().to_string(),
        equal: 0,
        different: Vec::new(),
        not_listed: Vec::new(),
        not_computed: Vec::new(),
    };
    for (name, line) in computed {
        match listed.remove(name) {
            Some(other) if other == line => outcome.equal += 1,
            Some(other) => outcome.different.push(DifferentLine {
                name: name.to_owned(),
                computed: line.to_owned(),
                listed: other.to_owned(),
            }),
            None => outcome.not_listed.push(name.to_owned()),
        }
    }
    outcome.not_computed = listed.into_keys().map(str::to_owned).collect();
    Ok(outcome)
}

/// Returns the entries of a listing by name. A description may have several lines.
fn lines(text: &str) -> BTreeMap<&str, &str> {
    let starts =
        text.match_indices("- ").map(|(at, _)| at).filter(|at| *at == 0 || text[..*at].ends_with('\n'));
    let starts: Vec<usize> = starts.collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let entries = starts.iter().zip(ends).map(|(start, end)| text[*start..end].trim_end());
    entries
        .map(|entry| {
            let name = entry.trim_start_matches("- ");
            let name = name.split_once(": ").map_or(name, |(name, _)| name);
            (name, entry)
        })
        .collect()
}
