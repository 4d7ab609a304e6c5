//! `remove`: skills that go.

use std::collections::BTreeMap;

use super::change::{installed_names, keep_replaced, make_plan};
use crate::context::Context;
use crate::error::Result;
use crate::install::plan::Goal;
use crate::install::scope::{Scope, ScopeKind};
use crate::install::state::Files;
use crate::install::transaction::Transaction;

/// What is to go.
#[derive(Debug, Clone, Default)]
pub struct RemoveRequest {
    /// The names under which the skills are installed.
    pub names: Vec<String>,
    /// The scope; the project where it is `None`.
    pub scope: Option<ScopeKind>,
    /// Plan only.
    pub dry_run: bool,
    /// Also skills that were edited; the edited copy is kept in the store.
    pub force: bool,
}

/// What went. Its JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct RemoveOutcome {
    /// The names.
    pub removed: Vec<String>,
    /// What is told of edited copies that were kept, a sentence each.
    pub kept: Vec<String>,
    /// Whether nothing was changed because a plan was asked for.
    pub dry_run: bool,
    /// Whether `undo` brings them back.
    pub undoable: bool,
}

/// Removes skills: copies, links, and their entries in manifest and lockfile.
///
/// # Errors
///
/// A name that is not installed; an edited copy without `force`; anything that cannot be written.
pub fn remove(context: &Context, request: &RemoveRequest) -> Result<RemoveOutcome> {
    let scope = Scope::new(&context.settings, request.scope.unwrap_or(ScopeKind::Project))?;
    let transaction = (!request.dry_run)
        .then(|| Transaction::begin(&scope, &context.settings, &*context.reporter))
        .transpose()?;
    let files = Files::read(&scope)?;
    let names = installed_names(&scope, &files, &request.names)?;
    let goal = Goal { remove: names, force: request.force, ..Goal::default() };
    let plan = make_plan(context, &scope, &goal, &files)?;
    let mut outcome = RemoveOutcome {
        removed: goal.remove.iter().map(ToString::to_string).collect(),
        dry_run: request.dry_run,
        ..RemoveOutcome::default()
    };
    if let Some(transaction) = transaction {
        outcome.kept = keep_replaced(context, &scope, &plan)?;
        transaction.apply(&plan, &files, &BTreeMap::new())?;
        outcome.undoable = transaction.is_undoable();
    }
    Ok(outcome)
}
