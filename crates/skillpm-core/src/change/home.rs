//! The scope for a change.

use crate::advice::{Opt, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs;
use crate::scope::Scope;
use crate::scope::transaction::Transaction;
use crate::scope_kind::ScopeKind;

/// Returns the scope to change: `asked`, otherwise the project. The user's home does not become a project
/// silently: people in it mean their own skills, and anyone who means a project says so or has a manifest
/// there. Clears away what a killed run left there first, unless this is a `dry_run`.
pub(crate) fn to_change(context: &Context, asked: Option<ScopeKind>, dry_run: bool) -> Result<Scope> {
    let settings = &context.settings;
    let scope = Scope::new(settings, asked.unwrap_or(ScopeKind::Project))?;
    if asked.is_some() || scope.other_scope(settings)?.is_none() || is_used(&scope)? {
        return Ok(scope);
    }
    // A killed run's change is rolled back or finished in its own scope, also if this one fails.
    if !dry_run && Transaction::is_begun(&scope) {
        drop(Transaction::begin(&scope, settings, &*context.reporter)?);
        return to_change(context, asked, true);
    }
    let question = "this is your home directory, not a project: install for you, in every project?";
    if context.interact.confirm(question) == Some(true) {
        return Scope::new(settings, ScopeKind::User);
    }
    Err(Error::usage(format!("`{}` is your home directory, not a project", scope.root.display()))
        .hint(message!("add ", (Opt::Scope, "user"), " to change your own skills, which every project sees"))
        .hint(message!((Opt::Scope, "project"), " makes the home directory a project all the same")))
}

fn is_used(scope: &Scope) -> Result<bool> {
    Ok(fs::kind(&scope.manifest)?.is_some() || fs::kind(&scope.lockfile)?.is_some())
}
