//! What a model would see of the skills.

use std::path::PathBuf;

use super::cases::Subject;
use super::request::TestRequest;
use crate::advice::{Opt, message};
use crate::agents::listing::{Asked, ListingEntry, State, listing_with};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scope::project_root;

/// A skill, as a model would see it.
pub(super) struct Listed {
    pub(super) name: String,
    /// What is listed of its description, and the instructions where these are searched.
    pub(super) text: String,
    /// Its file, without links.
    pub(super) file: Option<PathBuf>,
    /// Why a model does not see it.
    pub(super) hidden: Option<String>,
    /// Whether a model sees only its name.
    pub(super) by_name: bool,
}

/// Returns what the agent of `request` would list if `subjects` were installed; without one, `subjects` themselves.
pub(super) fn listed(context: &Context, request: &TestRequest, subjects: &[Subject]) -> Result<Vec<Listed>> {
    let Some(agent) = request.agent else {
        let own = |subject: &Subject| Listed {
            name: subject.name.clone(),
            text: format!("{}\n{}", subject.description.as_deref().unwrap_or_default(), subject.body),
            file: Some(subject.file.clone()),
            by_name: false,
            hidden: subject.description.is_none().then(|| "it has no description".to_owned()),
        };
        return Ok(subjects.iter().map(own).collect());
    };
    let settings = &context.settings;
    let project = project_root(settings)?;
    let asked = Asked { settings, project: &project, window: request.window };
    let dirs: Vec<PathBuf> = subjects.iter().map(|subject| subject.dir.clone()).collect();
    let listing = listing_with(agent, asked, &dirs).ok_or_else(|| {
        Error::usage(format!("how `{}` lists skills is unknown", agent.id)).hint(message!(
            "leave out ",
            Opt::Agent,
            " to rank the names and descriptions of the skills alone"
        ))
    })?;
    let entry = |entry: ListingEntry| {
        let body = subjects.iter().find(|subject| subject.file == entry.real).map(|subject| &*subject.body);
        let (text, hidden) = shown(&entry);
        Listed {
            text: format!("{text}\n{}", body.unwrap_or_default()),
            by_name: entry.state == State::NameOnly,
            name: entry.name,
            file: Some(entry.real),
            hidden,
        }
    };
    Ok(listing.entries.into_iter().map(entry).collect())
}

/// Returns what is listed of a description, and why nothing is.
fn shown(entry: &ListingEntry) -> (String, Option<String>) {
    let hidden = match &entry.state {
        // Which descriptions go is not fixed: it may be listed.
        State::Whole | State::Uncertain | State::Contested(_) => return (entry.description.clone(), None),
        State::Cut(characters) => return (entry.description.chars().take(*characters).collect(), None),
        State::NameOnly => return (String::new(), None),
        State::Omitted => "there is no room for it".to_owned(),
        State::Hidden(why) | State::NotLoaded(why) => why.to_string(),
        State::Shadowed(winner) => format!("`{}` has the same name and wins", winner.display()),
    };
    (String::new(), Some(hidden))
}
