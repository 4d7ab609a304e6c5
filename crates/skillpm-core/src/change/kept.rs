//! Saving what a change replaces and a user may want back, before anything is replaced.

use std::collections::BTreeMap;
use std::path::Path;

use crate::advice::{Opt, Verb, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::error::Result;
use crate::fetch::fetcher::keep;
use crate::fs;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::scope::evidence::Unedited;
use crate::scope::plan::{Goal, Location, Plan, Step};
use crate::scope::state::Files;
use crate::scope::transaction::Transaction;
use crate::scope::trees::OnDiskTree;
use crate::store::{Note, Store, Why};
use crate::tree::FileSet;
use crate::tree::leftovers::comes_back;

/// Adds to `contents` the trees that `plan` copies from where they are installed, or from the store if the
/// installed ones were edited.
pub(crate) fn add_contents(
    context: &Context,
    scope: &Scope,
    plan: &Plan,
    contents: &mut BTreeMap<SkillName, FileSet>,
) -> Result<()> {
    for step in &plan.steps {
        let Step::Put { name, digest, .. } = step else { continue };
        if contents.contains_key(name) {
            continue;
        }
        let mut set = None;
        for path in [scope.skill_dir(name), scope.disabled_skill_dir(name)] {
            if fs::kind(&path)?.is_some() {
                set = Some(scope.index.trees().read(&path)?.files);
                break;
            }
        }
        if set.as_ref().is_none_or(|set| set.digest().ok() != Some(*digest)) {
            set = Store::new(&context.settings)?.get(digest)?.or(set);
        }
        contents.extend(set.map(|set| (name.clone(), set)));
    }
    Ok(())
}

/// Saves the trees that `plan` replaces and that no lockfile knows. Returns a message for each one that a
/// user wrote, without duplicates; [`kept_by`] completes the messages once the change is made.
pub(crate) fn keep_replaced(context: &Context, scope: &Scope, plan: &Plan) -> Result<Vec<String>> {
    let mut told = Vec::new();
    let unedited = Unedited::new(&context.settings, scope);
    // They came from a source once: returning to them then needs no download.
    for (at, name) in &plan.store {
        let path = scope.place(&context.settings, at, name)?;
        let OnDiskTree { files: set, digest, .. } = scope.index.trees().read(&path)?;
        // The user's part of a merged skill has already been saved, readable only by the user.
        if !unedited.is_fetched(&digest) && !unedited.is_merged_copy(at, &digest) {
            Store::new(&context.settings)?.put(&set).map_err(|error| error.context(lost(&path)))?;
        }
    }
    told.extend(keep_tool_files(context, scope, plan)?);
    for (at, name) in &plan.keep {
        let path = scope.place(&context.settings, at, name)?;
        let store = Store::new(&context.settings)?;
        let is_link = fs::kind(&path)? == Some(fs::Kind::Symlink);
        if is_link || plan.given_up.contains(&(at.clone(), name.clone())) {
            let note = Note::new(name.as_str(), Why::Foreign, path.clone());
            store.keep_whole(&path, &note).map_err(|error| error.context(lost(&path)))?;
            let shown = scope.shown(&context.settings, &path);
            told.push(format!("`{shown}`, which is not skillpm's, was saved"));
            continue;
        }
        let note = Note::new(name.as_str(), why_kept(plan, at, name), path.clone());
        let files = scope.index.trees().read(&path)?.files;
        let kept = store.keep(&files, Some(note)).map_err(|error| error.context(lost(&path)))?;
        context.reporter.detail(&format!("your copy of `{name}` is in `{}`", kept.display()));
        // Copies for several agents are often identical.
        let line = format!("your edited `{name}` was saved");
        if !told.contains(&line) {
            told.push(line);
        }
    }
    Ok(told)
}

/// Saves the trees that `plan` removes or replaces and in which tools left files that do not come back by themselves.
/// Returns a message for each.
pub(crate) fn keep_tool_files(context: &Context, scope: &Scope, plan: &Plan) -> Result<Vec<String>> {
    let mut told = Vec::new();
    for step in plan.steps.iter().filter(|step| step.takes_tree()) {
        let (place, name) = step.place();
        let at = plan.current_location(&place, name);
        if plan.given_up.contains(&(at.clone(), name.clone())) {
            continue;
        }
        let path = scope.place(&context.settings, &at, name)?;
        told.extend(keep_leftovers(context, scope, name, &path).map_err(|error| error.context(lost(&path)))?);
    }
    Ok(told)
}

/// Returns the message that what is at `path` stays because it could not be saved.
fn lost(path: &Path) -> String {
    format!("`{}` could not be kept, so it was not replaced", path.display())
}

/// Saves the tree of `name` at `path`, which is to be removed, with what tools left in it, if any of that does not come
/// back by itself. No digest covers it, so the store has it nowhere else. Returns a message about it.
fn keep_leftovers(context: &Context, scope: &Scope, name: &SkillName, path: &Path) -> Result<Option<String>> {
    let leftovers = scope.index.trees().leftovers(path);
    let kept: Vec<_> = leftovers.iter().filter(|leftover| !comes_back(leftover)).collect();
    let Some(first) = kept.first() else { return Ok(None) };
    let note = Note::new(name.as_str(), Why::WithToolFiles, path.to_owned());
    Store::new(&context.settings)?.keep_whole(path, &note)?;
    let more = if kept.len() == 1 { String::new() } else { format!(" and {} more", kept.len() - 1) };
    let shown = scope.shown(&context.settings, path);
    Ok(Some(format!("`{shown}` was saved with `{first}`{more}, which tools left in it")))
}

/// Returns a warning about each path that `plan` leaves as it is, because skillpm did not make it or it was edited.
pub(crate) fn foreign_left(context: &Context, scope: &Scope, plan: &Plan) -> Result<Vec<Warning>> {
    let shown = |at: &Location, name: &SkillName| -> Result<String> {
        let path = scope.place(&context.settings, at, name)?;
        Ok(scope.shown(&context.settings, &path))
    };
    let foreign = plan.foreign.iter().map(|(at, name)| {
        let told = format!("`{}` is not skillpm's: left as it is", shown(at, name)?);
        Ok(Warning::new(codes::FOREIGN_LEFT, told))
    });
    let left = plan.left.iter().map(|(agent, name)| {
        let place = Location::Agent(agent.clone());
        let (what, code) = match fs::read_link(&scope.place(&context.settings, &place, name)?)? {
            Some(target) => (format!("is a link to `{}`", target.display()), codes::FOREIGN_LEFT),
            None => ("was edited".to_owned(), codes::EDITED_LEFT),
        };
        let told = message!(
            format_args!("`{}` {what} and was left as is: ", shown(&place, name)?),
            Verb::Link.within(scope.kind).option(Opt::Agent, agent).flag(Opt::Force).word(name),
            " replaces it; the store keeps your copy"
        );
        Ok(Warning::new(code, told))
    });
    foreign.chain(left).collect()
}

/// Returns why the tree of `name` at `at` is saved before `plan` is carried out. A plan without steps takes a
/// change back.
fn why_kept(plan: &Plan, at: &Location, name: &SkillName) -> Why {
    let of_it = |step: &&Step| step.place() == (at.clone(), name);
    match plan.steps.iter().find(of_it) {
        _ if plan.steps.is_empty() && plan.lock.is_none() => Why::TakenBack,
        Some(Step::Remove { .. }) => Why::Removed,
        _ => Why::Replaced,
    }
}

/// Saves, as edits, the edited and merged trees whose copies `plan` gives to agents. At the next change they show that the
/// copies are unedited.
pub(crate) fn keep_copies(
    context: &Context,
    plan: &Plan,
    files: &Files,
    contents: &BTreeMap<SkillName, FileSet>,
) {
    for step in &plan.steps {
        let Step::Put { place: Location::Agent(_), name, digest, .. } = step else { continue };
        let locked = plan.lock.as_ref().unwrap_or(&files.lock).skills.get(name);
        let set = contents.get(name).filter(|_| locked.is_none_or(|locked| locked.digest != *digest));
        if let Some(set) = set {
            // If this fails, the next change asks for `--force` and loses nothing.
            let _ = Store::new(&context.settings).and_then(|store| store.keep_merged(set));
        }
    }
}

/// Returns the warnings `told` about saved copies, with the command that restores them. Whether there is such a command is
/// known only after `transaction` has made the change: if no record of it can be written, it cannot be taken back.
pub(crate) fn kept_by(transaction: &Transaction<'_>, scope: &Scope, told: Vec<String>) -> Vec<Warning> {
    let back = if transaction.is_undoable() {
        message!(Verb::Undo.within(scope.kind), " restores it")
    } else {
        message!(Verb::Undo.call().flag(Opt::List), " shows it")
    };
    told.into_iter().map(|told| Warning::new(codes::EDITED_SAVED, message!(told, "; ", &back))).collect()
}

/// Puts the trees that `plan` removes because nothing names their skills any more into the store, unless they are
/// already there. A branch that names them can then restore them from the store.
pub(crate) fn keep_left(
    context: &Context,
    scope: &Scope,
    goal: &Goal,
    plan: &Plan,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    let unedited = Unedited::new(&context.settings, scope);
    for step in &plan.steps {
        if let Step::Remove { place, name, old } = step
            && goal.left.contains_key(name)
            && !unedited.is_fetched(old)
        {
            let path = scope.place(&context.settings, place, name)?;
            keep(context, scope.index.trees().read(&path)?.files, warnings)?;
        }
    }
    Ok(())
}
