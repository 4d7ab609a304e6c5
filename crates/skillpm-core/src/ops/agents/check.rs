//! Whether an agent told its model the last time what is computed now.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::agents;
use crate::agents::listing::{Asked, ListingEntry, State, listing, recorded};
use crate::agents::sessions::claude_code::name_in;
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
    /// Those of them that were listed by name only, since there was no room for their descriptions.
    pub by_name: Vec<String>,
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

/// Compares what is computed for the one agent in `names` with its newest session in the working directory.
///
/// # Errors
///
/// Fails for several agents, for one whose sessions do not record the listing, and if no session in the working directory
/// does.
pub fn check(context: &Context, names: &[String], window: Option<u64>) -> Result<CheckOutcome> {
    let [name] = names else { return Err(several()) };
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
    let entries = listing(agent, asked).map(|listing| listing.entries).unwrap_or_default();
    let computed: Vec<_> = entries.iter().filter_map(computed).collect();
    let mut listed = lines(&recorded.text, &computed);
    let mut outcome = CheckOutcome {
        session: recorded.file.display().to_string(),
        equal: 0,
        by_name: Vec::new(),
        different: Vec::new(),
        not_listed: Vec::new(),
        not_computed: Vec::new(),
    };
    for Computed { name, lines } in &computed {
        match listed.remove(name.as_str()) {
            Some(other) if lines.iter().any(|line| line == other) => {
                outcome.equal += 1;
                if lines.first().is_some_and(|whole| whole != other) {
                    outcome.by_name.push(name.clone());
                }
            }
            Some(other) => outcome.different.push(DifferentLine {
                name: name.clone(),
                computed: lines.first().cloned().unwrap_or_default(),
                listed: other.to_owned(),
            }),
            None => outcome.not_listed.push(name.clone()),
        }
    }
    outcome.not_computed = listed.into_keys().map(str::to_owned).collect();
    Ok(outcome)
}

/// Returns the error for several agents where one is wanted.
pub(super) fn several() -> Error {
    Error::usage("a listing is that of one agent").hint("name one of them")
}

/// A skill with the lines that it may have, that with the most first.
struct Computed {
    name: String,
    lines: Vec<String>,
}

/// Returns what is computed of a skill, if it is listed.
fn computed(entry: &ListingEntry) -> Option<Computed> {
    let bare = || format!("- {}", entry.name);
    let lines = match (&entry.state, &entry.line) {
        (State::Whole | State::Cut(_), Some(line)) => vec![line.clone()],
        (State::Uncertain, Some(line)) => vec![line.clone(), bare()],
        (State::NameOnly, _) => vec![bare()],
        _ => return None,
    };
    Some(Computed { name: entry.name.clone(), lines })
}

/// Returns the entries of a listing by name. A description may have several lines, which may begin like an entry: those of
/// the `computed` skills are looked for first.
fn lines<'a>(text: &'a str, computed: &'a [Computed]) -> BTreeMap<&'a str, &'a str> {
    let mut entries = BTreeMap::new();
    let mut rest = text;
    while !rest.is_empty() {
        let starts = |line: &String| {
            rest.strip_prefix(line).is_some_and(|after| after.is_empty() || after.starts_with('\n'))
        };
        let length = |one: &'a Computed| {
            let lengths = one.lines.iter().filter(|line| starts(line)).map(String::len);
            lengths.max().map(|length| (length, Some(one.name.as_str())))
        };
        let whole = computed.iter().filter_map(length).max_by_key(|(length, _)| *length);
        let (end, name) = whole.unwrap_or_else(|| (next_entry(rest), name_of(rest)));
        if let Some(name) = name {
            entries.entry(name).or_insert(rest[..end].trim_end());
        }
        rest = rest[end..].trim_start_matches('\n');
    }
    entries
}

/// Returns where the entry at the start of `text` ends: before the next line that begins as one.
fn next_entry(text: &str) -> usize {
    let ends = text.match_indices('\n').map(|(at, _)| at);
    ends.into_iter().find(|at| name_of(&text[at + 1..]).is_some()).unwrap_or(text.len())
}

/// Returns the name of the entry that `text` begins with.
fn name_of(text: &str) -> Option<&str> {
    name_in(text.lines().next()?)
}
