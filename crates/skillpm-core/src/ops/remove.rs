//! `remove`: removes skills.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::export::DroppedEntries;
use crate::advice::{Message, Verb, message};
use crate::change::Begun;
use crate::change::agent_targets::AgentTargets;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
pub use crate::fetch::select::ALL;
use crate::interop::skills_lock::FILE_NAME;
use crate::name::SkillName;
use crate::reporter::Choice;
use crate::resolve::graph::{closure, dependents};
use crate::scope::Scope;
use crate::scope::changes::{PathChange, PathEffect};
use crate::scope::not_installed::installed_names;
use crate::scope::plan::{ChangedFiles, Goal, Wanted};
use crate::scope::state::Files;
use crate::scope_kind::ScopeKind;

/// A request to remove skills.
#[derive(Debug, Clone, Default)]
pub struct RemoveRequest {
    /// The names under which the skills are installed; [`ALL`] means all.
    pub names: Vec<String>,
    /// The scope; `None` means the project.
    pub scope: Option<ScopeKind>,
    /// Whether to only plan.
    pub dry_run: bool,
    /// Whether to remove edited skills too; the edited copy is saved in the store.
    pub force: bool,
}

/// The outcome of a removal. Its JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct RemoveOutcome {
    /// The scope.
    #[serde(skip)]
    pub scope: Option<ScopeKind>,
    /// The names.
    pub removed: Vec<String>,
    /// The dependencies that were removed as well: no other skill needs them.
    pub unneeded: Vec<String>,
    /// Messages about copies that were saved, about what stays in place for another scope, and about what skillpm did not
    /// make, a sentence each.
    pub kept: Vec<Message>,
    /// The paths that were or would be changed.
    pub paths: Vec<PathChange>,
    /// The entries that left the project's `skills-lock.json`, or would leave it: from there the npm tool would bring
    /// the skills back.
    pub skills_lock: Vec<String>,
    /// Which of manifest and lockfile changed or would change.
    #[serde(rename = "files_changed")]
    pub files: ChangedFiles,
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// Whether `undo` restores them.
    pub undoable: bool,
}

/// Removes skills: copies, links, and their entries in manifest and lockfile.
///
/// # Errors
///
/// Fails for a name that is not installed, for a skill that a remaining one needs, for an edited copy without
/// `force`, and if something cannot be written.
pub fn remove(context: &Context, request: &RemoveRequest) -> Result<RemoveOutcome> {
    let scope = Scope::new(&context.settings, request.scope.unwrap_or(ScopeKind::Project))?;
    if !request.dry_run && request.names.iter().any(|name| name == ALL) {
        ask_for_all(context, &scope)?;
    }
    let begun = Begun::begin(context, &scope, request.dry_run)?;
    let files = begun.files();
    let names = if request.names.iter().any(|name| name == ALL) {
        files.requested().cloned().collect()
    } else {
        installed_names(context, &scope, files, (&Verb::Remove.call(), &request.names))?
    };
    let unneeded = no_longer_needed(&scope, files, &names)?;
    let texts = |names: &[SkillName]| names.iter().map(ToString::to_string).collect();
    let (removed, gone_too) = (texts(&names), texts(&unneeded));
    let remove: Vec<_> = names.into_iter().chain(unneeded).collect();
    let put = seen_by_fewer(context, &scope, files, &remove);
    let locked = remove.iter().filter_map(|name| files.lock.skills.get_key_value(name));
    // A file of another tool keeps no skill here.
    let forgotten = DroppedEntries::of(context, &scope, locked);
    let goal = Goal { put, remove, force: request.force, ..Goal::default() };
    let applied = begun.plan(goal)?.apply(BTreeMap::new())?;
    let write = |forgotten: &Option<DroppedEntries>| match forgotten {
        Some(forgotten) if !request.dry_run => forgotten.write(),
        _ => Ok(()),
    };
    let forgotten = forgotten.and_then(|forgotten| write(&forgotten).map(|()| forgotten));
    let (skills_lock, unchanged) = match forgotten {
        Ok(forgotten) => (forgotten.map(|forgotten| forgotten.entries).unwrap_or_default(), None),
        Err(error) => {
            (Vec::new(), Some(format!("`skills-lock.json` was not changed: {}", error.with_causes())))
        }
    };
    let told = applied.saved.iter().cloned().chain(applied.shared()).chain(applied.foreign.iter().cloned());
    let kept = told.map(Message::from).chain(unchanged.map(Message::from));
    let mut paths = applied.paths.clone();
    if !skills_lock.is_empty() {
        let file = scope.root.join(FILE_NAME);
        paths.push(PathChange::new(&context.settings, &scope, file, PathEffect::Replaced));
    }
    Ok(RemoveOutcome {
        scope: Some(scope.kind),
        removed,
        unneeded: gone_too,
        kept: kept.collect(),
        paths,
        skills_lock,
        files: applied.plan.files(),
        dry_run: request.dry_run,
        undoable: applied.undoable,
    })
}

/// Asks a person whether all skills of `scope` are meant. Where nobody can be asked, they are.
fn ask_for_all(context: &Context, scope: &Scope) -> Result<()> {
    let files = Files::read(scope)?;
    let whose = scope.kind.within();
    let names: Vec<_> = files.requested().cloned().collect();
    let question = match names.len() + no_longer_needed(scope, &files, &names)?.len() {
        0 => return Ok(()),
        1 => format!("do you want to remove the only skill {whose}?"),
        all => format!("do you want to remove all {all} skills {whose}?"),
    };
    match context.interact.confirm(&question) {
        Some(false) => Err(Error::new(ErrorKind::Findings, "nothing was changed")),
        Some(true) | None => Ok(()),
    }
}

/// Returns the skills that the user may pick for removal: the requested ones, with their sources.
///
/// # Errors
///
/// Fails for a manifest or lockfile that cannot be read.
pub fn removable(context: &Context, scope: Option<ScopeKind>) -> Result<Vec<Choice>> {
    let scope = Scope::new(&context.settings, scope.unwrap_or(ScopeKind::Project))?;
    let files = Files::read(&scope)?;
    let choice = |name: &SkillName| {
        let entry = files.manifest.skills().get(name).map(|entry| entry.origin.to_string());
        let source = entry.or_else(|| Some(files.lock.skills.get(name)?.origin.to_string()));
        Choice::new(name.as_str(), &source.unwrap_or_default())
    };
    Ok(files.requested().map(choice).collect())
}

/// Returns the skills that stay because others need them, but that some agents saw only for the skills
/// `names`, which are removed. If the manifest or the lockfile names an unknown agent, everything stays as
/// visible as it is.
fn seen_by_fewer(context: &Context, scope: &Scope, files: &Files, names: &[SkillName]) -> Vec<Wanted> {
    let Ok(mut targets) = AgentTargets::read(&context.settings, scope, files) else { return Vec::new() };
    targets.on_remove(names);
    let mut along = targets.affected(&[]);
    for wanted in &mut along {
        targets.assign(wanted);
    }
    along
}

/// Returns the dependencies that no other skill needs any more without `names`.
fn no_longer_needed(scope: &Scope, files: &Files, names: &[SkillName]) -> Result<Vec<SkillName>> {
    let lock = &files.lock.skills;
    let gone: BTreeSet<&SkillName> = names.iter().collect();
    let asked: Vec<&SkillName> = match files.manifest_text {
        Some(_) => files.manifest.asked().collect(),
        None => lock.keys().collect(),
    };
    let roots = asked.into_iter().filter(|name| !gone.contains(name));
    let stay = closure(roots, |name| lock.get(name).filter(|_| !gone.contains(name)));
    let by_name = dependents(lock);
    if let Some(name) = names.iter().find(|name| stay.contains(*name)) {
        let by =
            by_name.get(name).into_iter().flatten().filter(|by| stay.contains(*by) && !gone.contains(by));
        let told: Vec<String> = by.map(ToString::to_string).collect();
        let error = Error::new(ErrorKind::Findings, format!("`{name}` is needed by `{}`", told.join("`, `")));
        return Err(error.hint(message!(
            "nothing was changed; ",
            Verb::Remove.within(scope.kind).words(with_needers(names, &by_name, &stay)),
            " removes all of them"
        )));
    }
    let kept = files.kept().into_iter().filter(|name| lock.contains_key(name));
    Ok(kept.filter(|name| !stay.contains(name) && !gone.contains(name)).collect())
}

/// Returns the skills `names` and all that need them, directly or not, out of those that `stay`.
fn with_needers(
    names: &[SkillName],
    needers: &BTreeMap<SkillName, BTreeSet<SkillName>>,
    stay: &BTreeSet<SkillName>,
) -> Vec<String> {
    let mut all: Vec<&SkillName> = names.iter().collect();
    let mut at = 0;
    while let Some(name) = all.get(at) {
        for needer in needers.get(*name).into_iter().flatten().filter(|needer| stay.contains(*needer)) {
            if !all.contains(&needer) {
                all.push(needer);
            }
        }
        at += 1;
    }
    all.into_iter().map(ToString::to_string).collect()
}
