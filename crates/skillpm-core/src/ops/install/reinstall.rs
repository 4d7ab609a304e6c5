//! `install` without sources: brings back what is locked, and what the manifest asks for beyond that.

use super::goal;
use super::outcome::InstallOutcome;
use super::request::InstallRequest;
use super::restore::restore;
use crate::advice::{Opt, Verb, Warning, message};
use crate::change::home;
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs;
use crate::scope::Scope;
use crate::scope::not_installed::no_manifest;
use crate::scope::state::Files;
use crate::scope::transaction::Transaction;
use crate::tree::leftovers::is_code;

/// Restores the skills of the manifest and the lockfile.
pub(super) fn reinstall(context: &Context, request: &InstallRequest) -> Result<InstallOutcome> {
    check_restore(request)?;
    let scope = &home::to_change(context, request.scope, request.dry_run)?;
    // Their content is read once, under the lock.
    let is_absent = |file| Ok::<_, Error>(fs::real_path(file)?.is_none());
    let is_new = || Ok::<_, Error>(is_absent(&scope.manifest)? && is_absent(&scope.lockfile)?);
    let is_begun = Transaction::is_begun(scope);
    if !is_begun && is_new()? {
        return Err(no_manifest(context, scope));
    }
    // A merge conflict in the lockfile is repaired if the lockfile may change.
    let mends = !request.locked && !request.frozen;
    let read = if mends { Files::read_mended } else { Files::read };
    let mut outcome = goal::reach(context, scope, request, read, |state| {
        // By now the change of a killed run has been rolled back or completed, and it may have been the first
        // one.
        if is_begun && is_new()? {
            return Err(no_manifest(context, scope));
        }
        restore(context, state, request)
    })?;
    if request.frozen {
        let names: Vec<_> = outcome.skills.iter().map(|skill| skill.name.clone()).collect();
        outcome.warnings.extend(names.iter().filter_map(|name| unlocked_code(scope, name)));
    }
    Ok(outcome)
}

/// Refuses flags that only choose among the skills of a source.
fn check_restore(request: &InstallRequest) -> Result<()> {
    let options = if request.list {
        message!(Opt::List)
    } else if !request.skills.is_empty() {
        message!(Opt::Skill)
    } else if request.reference.is_some() {
        message!(Opt::Tag, ", ", Opt::Branch, " or ", Opt::Rev)
    } else if request.alias.is_some() {
        message!(Opt::As)
    } else if request.editable {
        message!(Opt::Editable)
    } else {
        return Ok(());
    };
    Err(Error::usage(message!(options, " needs a source"))
        .hint("name one, such as `owner/repo` or `./skills`; without a source the lockfile is restored"))
}

/// Returns a warning about code in the directory of the skill `name` that is not part of it: in a fresh clone, it was
/// committed.
fn unlocked_code(scope: &Scope, name: &str) -> Option<Warning> {
    let leftovers = scope.index.leftovers(&scope.skills_dir().join(name));
    let code = leftovers.iter().find(|leftover| is_code(leftover))?;
    let told = format!("`{name}` has code that no digest covers: `{code}`");
    let verify = Verb::Verify.within(scope.kind).flag(Opt::Strict).word(name);
    let hints = vec![message!(verify, " names each file")];
    Some(Warning { hints, ..Warning::new(codes::UNLOCKED_CODE, told) })
}
