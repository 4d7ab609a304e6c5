//! `install`: installs skills from sources, or exactly what the lockfile records.
//!
//! `fetch` or `restore` determines the desired state, as a value; `goal` changes the scope to it.

pub(super) mod agent_targets;
mod around;
mod ask;
mod attributes;
mod available;
mod choose;
pub(super) mod chosen;
mod desired;
pub(super) mod editable;
mod fetch;
mod goal;
pub(super) mod incomplete;
mod listing;
mod marketplace;
pub(super) mod names;
mod outcome;
mod project;
mod reinstall;
mod replaced;
mod request;
pub(super) mod restore;
pub(super) mod select;
mod typed;
mod words;

pub use self::available::{Available, OfferedPlugin};
pub(super) use self::choose::unprotected;
pub(super) use self::chosen::{ALL, typed};
pub use self::desired::LeftOut;
pub use self::outcome::{Change, InstallOutcome, InstalledSkill};
pub use self::request::InstallRequest;
pub(super) use self::select::candidates;
#[cfg(feature = "create")]
pub(super) use self::typed::check_no_directory;
pub use super::consent::{Allow, NewVersion};

use self::agent_targets::AgentTargets;
use super::fetcher::Sources;
use super::home;
use crate::advice::{Opt, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::install::scope::Scope;
use crate::install::state::Files;

/// Installs skills.
///
/// Sources are fetched and checked first; only then is the scope locked, and changed in one transaction.
///
/// # Errors
///
/// Fails for anything that can be wrong with a source, its content, the scope or the request. Nothing has been changed
/// then.
pub fn install(context: &Context, request: &InstallRequest) -> Result<InstallOutcome> {
    let request = &*words::with_skills_named(context, request)?;
    if request.restores() {
        return reinstall::reinstall(context, request);
    }
    if request.frozen {
        return Err(Error::usage(message!(
            Opt::Frozen,
            " only restores what is locked, so it takes no source"
        ))
        .hint(message!("remove the source, or use ", Opt::Locked)));
    }
    if request.list {
        return listing::list(context, request);
    }
    from_sources(context, request)
}

/// Installs the skills that `request` chooses from sources.
fn from_sources(context: &Context, request: &InstallRequest) -> Result<InstallOutcome> {
    let scope = home::to_change(context, request.scope, request.dry_run)?;
    // What is wrong with the files is told before anything is fetched.
    let before = Files::read(&scope)?;
    AgentTargets::check(&scope, &before)?;
    AgentTargets::named(&context.settings, &scope, &request.agents)?;
    let specs = typed::parse_all(context, &scope, &before.manifest, request)?;
    let mut sources = Sources::new(context, &scope, &before.manifest)?;
    let selection = match &request.marketplace {
        Some(typed) => marketplace::choose(&mut sources, request, typed)?,
        None if request.from_project => project::choose(context, &scope, request)?,
        None => choose::choose(&mut sources, request, &specs)?,
    };
    let fetched = fetch::fetch(sources, request, selection, &before)?;
    let read = |scope: &Scope| Files::read_since(scope, before.clone());
    goal::reach(context, &scope, request, read, |state| Ok(fetched.desired(&state.files)))
}
