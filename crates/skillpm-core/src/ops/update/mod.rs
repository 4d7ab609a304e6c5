//! `update`: newer versions of installed skills, and what the user wrote stays.
//!
//! First the sources are asked, and what is new is fetched and compared with what is locked; nothing
//! is changed, so a front end can show it and ask. Only then is the scope locked, what the user wrote
//! is merged into what is new, and the scope is changed as one.

mod ask;
mod dependencies;
mod edits;
mod find;
mod outcome;
mod plan;
mod prepared;
mod request;

pub use self::outcome::{
    ChangedFile, MergedPath, UpdateChange, UpdateFailure, UpdateOutcome, UpdatedSkill, Version,
};
use self::plan::PlanError;
pub use self::prepared::Prepared;
pub use self::request::{Allow, UpdateRequest};
use crate::change::Begun;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::install::revision_of;
use crate::scope::Scope;
use crate::scope::not_installed::installed_names;
use crate::scope::state::Files;
use crate::scope::transaction::Transaction;
use crate::scope_kind::ScopeKind;

/// Updates skills.
///
/// # Errors
///
/// Fails as [`prepare`] does and [`Prepared::apply`]; nothing has been changed then.
pub fn update(context: &Context, request: &UpdateRequest) -> Result<UpdateOutcome> {
    let mut prepared = prepare(context, request)?;
    if request.dry_run { prepared.plan() } else { prepared.apply(false) }
}

/// Asks the sources of skills for newer versions, fetches them, and compares them with the locked ones.
///
/// # Errors
///
/// Fails for a manifest or lockfile that cannot be read, or for a skill that is not installed. If skills were named, fails
/// for a source that cannot be reached or no longer has one of them, a policy that refuses it, and a merge that a user has
/// to resolve first. Otherwise these are reported in the outcome.
pub fn prepare<'a>(context: &'a Context, request: &'a UpdateRequest) -> Result<Prepared<'a>> {
    let scope = Scope::new(&context.settings, request.scope.unwrap_or(ScopeKind::Project))?;
    let begin = || Transaction::begin(&scope, &context.settings, &*context.reporter);
    if !request.dry_run && Transaction::is_begun(&scope) {
        // A killed run's change is finished first: it may lock other versions.
        drop(begin()?);
    }
    let files = Files::read(&scope);
    let before = files.as_ref().ok().map(texts);
    let found = files.and_then(|files| look(context, request, scope.clone(), files));
    if found.is_err() && !request.dry_run && is_at_work(&scope, before.as_ref()) {
        // Files that are read while another run changes them may be inconsistent.
        let _alone = begin()?;
        let files = Files::read(&scope)?;
        return look(context, request, scope.clone(), files);
    }
    found
}

/// The texts of manifest and lockfile.
type Texts = (Option<String>, Option<String>);

fn texts(files: &Files) -> Texts {
    (files.manifest_text.clone(), files.lock_text.clone())
}

/// Returns whether another run is changing `scope`, or has changed it since its files had the texts `before`.
fn is_at_work(scope: &Scope, before: Option<&Texts>) -> bool {
    let now = Files::read(scope);
    Transaction::is_begun(scope) || before != now.as_ref().ok().map(texts).as_ref()
}

/// Works like [`prepare`], from what is in `scope` and its `files` now.
fn look<'a>(
    context: &'a Context,
    request: &'a UpdateRequest,
    scope: Scope,
    files: Files,
) -> Result<Prepared<'a>> {
    let with_revision = |text: &String| Some((text.clone(), revision_of(text, scope.kind, &files.manifest)?));
    if let Some((text, hint)) = request.names.iter().find_map(with_revision) {
        return Err(
            Error::usage(format!("`{text}` is not the name of a skill: it has a revision")).hint(hint)
        );
    }
    let call = request.call();
    let mut names = installed_names(context, &scope, &files, (&call, &request.names))?;
    if request.names.is_empty() {
        names = files.names().cloned().collect();
        names.sort();
        names.dedup();
    }
    let found = find::find(context, &scope, &files, request, &names)?;
    if let Allow::Only(only) = &request.allow {
        // A skill that comes because others need it is not installed yet.
        let comes = |name: &&String| found.jobs.iter().any(|job| job.name.as_str() == *name);
        let others: Vec<_> = only.iter().filter(|name| !comes(name)).cloned().collect();
        installed_names(context, &scope, &files, (&call, &others))?;
    }
    let refused = found.jobs.iter().filter(|job| job.new_capabilities() > 0).map(|job| job.name.clone());
    let refused = refused.filter(|name| !request.allow.admits(name)).collect();
    Ok(Prepared { context, request, scope, files, found, refused })
}

impl Prepared<'_> {
    /// Returns what [`Prepared::apply`] would do, as things are now. Nothing is changed. Where another run is changing
    /// the same skills, all is examined again.
    ///
    /// # Errors
    ///
    /// Fails for edits that cannot be merged, and if something is in the way.
    pub fn plan(&mut self) -> Result<UpdateOutcome> {
        match self.outcome() {
            Err(_) if !self.request.dry_run && is_at_work(&self.scope, Some(&texts(&self.files))) => {
                let (scope, context) = (self.scope.clone(), self.context);
                let _alone = Transaction::begin(&scope, &context.settings, &*context.reporter)?;
                let files = Files::read(&scope)?;
                *self = look(context, self.request, scope.clone(), files)?;
                Ok(self.outcome()?)
            }
            outcome => Ok(outcome?),
        }
    }

    /// Returns what would be done by the files that were read when the sources were asked.
    fn outcome(&self) -> std::result::Result<UpdateOutcome, PlanError> {
        let begun = Begun::of_files(self.context, &self.scope, self.files.clone());
        let plan = plan::plan_update(self, &begun)?;
        Ok(UpdateOutcome { dry_run: true, ..plan.outcome })
    }

    /// Carries the update out. `consent` says that a person has seen the review and agreed to new capabilities.
    ///
    /// # Errors
    ///
    /// Fails for new capabilities without consent, for edits that cannot be merged, if something is in the way, or for files
    /// that another program changed meanwhile. Nothing has been changed then.
    pub fn apply(self, consent: bool) -> Result<UpdateOutcome> {
        if !consent {
            self.check_capabilities()?;
        }
        if self.is_empty() && self.found.resolved.is_empty() {
            return Ok(UpdateOutcome { dry_run: false, ..self.outcome()? });
        }
        let scope = self.scope.clone();
        let begun = Begun::begin(self.context, &scope, false)?;
        if self.still_holds(begun.files()) {
            match plan::plan_update(&self, &begun) {
                Ok(plan) => return plan.apply(),
                Err(PlanError::Other(error)) => return Err(error),
                Err(PlanError::Stale(_)) => {}
            }
        }
        // Others were faster. Nobody else changes anything from here on, so what is seen now holds.
        let mut again = look(self.context, self.request, scope.clone(), begun.files().clone())?;
        if consent {
            again = again.agreed(&self);
        }
        again.check_capabilities()?;
        plan::plan_update(&again, &begun)?.apply()
    }
}
