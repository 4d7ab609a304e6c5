//! `install`: installs skills from sources, or exactly what the lockfile records.
//!
//! `fetch` or `restore` determines the desired state, as a value; `goal` changes the scope to it.

mod among;
mod around;
mod attributes;
mod available;
mod choose;
mod chosen;
mod desired;
pub(super) mod editable;
mod fetch;
mod goal;
mod listing;
mod marketplace;
mod outcome;
pub(super) mod own;
mod pick;
mod project;
mod reinstall;
mod replaced;
mod request;
pub(super) mod restore;
mod typed;
mod who;
mod words;

pub use self::available::{Available, OfferedPlugin};
pub(super) use self::choose::unprotected;
pub use self::outcome::{Change, InstallOutcome, InstalledSkill, NewInGit};
pub use self::request::InstallRequest;
#[cfg(feature = "create")]
pub(super) use self::typed::check_no_directory;
pub(super) use self::typed::revision_of;
pub use crate::change::consent::{Allow, NewVersion};

use crate::advice::{Opt, message};
use crate::change::agent_targets::AgentTargets;
use crate::change::home;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fetch::fetcher::Sources;
use crate::scope::Scope;
use crate::scope::state::Files;

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
    // Problems of the files are reported before anything is fetched.
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
    let may_ask = request.agents.is_empty() && !request.dry_run;
    let used = if may_ask { who::ask(context, &scope, &before)? } else { None };
    let trouble = used.as_ref().and_then(|used| who::remember(context, used));
    // What is not remembered counts at least here.
    let named = used.clone().filter(|_| trouble.is_some()).unwrap_or_else(|| request.agents.clone());
    let request = &InstallRequest { agents: named, ..request.clone() };
    let read = |scope: &Scope| Files::read_since(scope, before.clone());
    let mut outcome = goal::reach(context, &scope, request, read, |state| Ok(fetched.desired(&state.files)))?;
    outcome.remembered = used.filter(|_| trouble.is_none()).unwrap_or_default();
    outcome.warnings.extend(trouble);
    Ok(outcome)
}
