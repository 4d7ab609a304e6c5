//! `undo`: restores the scope as it was before the last change.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::admission::PolicySubject;
use crate::advice::{Message, Opt, Verb, Warning, message};
use crate::agents;
use crate::change::agent_targets::{AgentTargets, Ids};
use crate::change::{keep_replaced, keep_tool_files, kept_by};
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::fetch::policy_check::PolicyCheck;
use crate::fs;
use crate::lockfile::Lockfile;
use crate::manifest::Manifest;
use crate::name::SkillName;
use crate::ops::install::own;
use crate::refusal::Limits;
use crate::scope::Scope;
use crate::scope::changes::{self, PathChange};
use crate::scope::health::problem;
use crate::scope::plan::{ChangedFiles, Location, Plan, Step};
use crate::scope::state::{Files, HAS_REPOSITORY, not_kept};
use crate::scope::transaction::undo::{Bytes, Changed, ChangedKind, Coming, Stop, Undo};
use crate::scope::transaction::{Record, Transaction};
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;
use crate::spec::Reference;
use crate::store::{Note, Store, Why};

/// The largest manifest or lockfile that is read, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// A request to take back the last change.
#[derive(Debug, Clone, Default)]
pub struct UndoRequest {
    /// The scope; `None` means the project.
    pub scope: Option<ScopeKind>,
    /// Whether to only plan.
    pub dry_run: bool,
    /// Whether to take back later changes too, which are saved in the store.
    pub force: bool,
}

/// The outcome of an undo. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each says something of its own")]
pub struct UndoOutcome {
    /// The scope.
    pub scope: Option<ScopeKind>,
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// Whether an earlier run was interrupted while it took the change back, and this one finished.
    pub finished: bool,
    /// Whether the undone change had itself undone another one, which is now made again.
    pub redone: bool,
    /// The skills, sorted by name.
    pub skills: Vec<UndoneSkill>,
    /// The steps that were or would be taken, in order.
    pub steps: Vec<Step>,
    /// The paths that were or would be changed.
    pub paths: Vec<PathChange>,
    /// Which files changed or would change.
    #[serde(rename = "files_changed")]
    pub files: ChangedFiles,
    /// The files that are removed, because they did not exist before.
    #[serde(rename = "files_removed")]
    pub files_gone: ChangedFiles,
    /// Messages about copies that were saved, a sentence each.
    pub kept: Vec<Message>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
    /// Whether this change can be taken back in turn.
    #[serde(skip)]
    pub undoable: bool,
}

/// A skill and what happened to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UndoneSkill {
    /// The name under which it is or was installed.
    pub name: String,
    /// The change.
    pub change: Undone,
}

/// The change of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Undone {
    /// It is installed again.
    Back,
    /// It is gone.
    Gone,
    /// The previous copy or link is in its place.
    Replaced,
    /// Agents no longer see it.
    Disabled,
    /// Agents see it again.
    Enabled,
    /// Only links or copies of agents changed.
    Links,
}

/// Takes back the last change of a scope: restores trees, links, manifest and lockfile. This is a change in
/// turn: taking it back repeats the first one.
///
/// # Errors
///
/// Fails if there is nothing to take back; without `force`, for later changes; for a record that this user
/// did not make here, or that is damaged; for a policy that refuses what would be restored; and if something
/// cannot be written. Nothing has been changed then.
pub fn undo(context: &Context, request: &UndoRequest) -> Result<UndoOutcome> {
    let settings = &context.settings;
    let scope = Scope::new(settings, request.scope.unwrap_or(ScopeKind::Project))?;
    let begun = Transaction::is_begun(&scope);
    if !begun && !Record::is_there(&scope)? {
        return Err(nothing(context, &scope));
    }
    if begun && request.dry_run {
        let message = format!("a change {} is not finished", scope.kind.within());
        return Err(Error::new(ErrorKind::Findings, message).hint(message!(
            "skillpm is running there, or was interrupted: ",
            Verb::Undo.within(scope.kind),
            " finishes it first"
        )));
    }
    let transaction =
        (!request.dry_run).then(|| Transaction::begin(&scope, settings, &*context.reporter)).transpose()?;
    // A user who repeats the command after a killed run wants the change taken back once.
    if transaction.as_ref().is_some_and(Transaction::has_finished_undo) {
        return Ok(UndoOutcome { scope: Some(scope.kind), finished: true, ..UndoOutcome::default() });
    }
    let record = Record::read(settings, &scope)?.ok_or_else(|| nothing(context, &scope))?;
    if let Some(other) = record.scope().filter(|other| *other != scope.kind) {
        // The home directory is a project only for a user who is in it.
        let there = other == ScopeKind::Project && !scope.is_root(&settings.cwd)?;
        return Err(in_other(&scope, other, there.then_some(&scope.root)));
    }
    let undo = Undo::plan(settings, &scope, &record, request.force).map_err(|stop| match stop {
        Stop::Changed(changed) => changed_since(&changed),
        Stop::Failed(error) => error,
    })?;
    admit(context, &scope, &record, &undo)?;
    // Files that cannot be read may be what is undone.
    let now = Files::read(&scope).ok();
    let now = now.as_ref();
    let mut outcome = UndoOutcome {
        scope: Some(scope.kind),
        skills: skills(&undo.steps),
        files: undo.files(),
        files_gone: undo.files_gone(),
        warnings: conflict(&scope, &undo)
            .into_iter()
            .chain(still_used(settings, &scope, now, &undo))
            .collect(),
        kept: no_longer_used(settings, &scope, now, &undo),
        paths: changes::of_steps(settings, &scope, &undo.steps, undo.files(), undo.files_gone()),
        redone: record.is_undo(),
        dry_run: request.dry_run,
        ..UndoOutcome::default()
    };
    if let Some(transaction) = transaction.filter(|_| !undo.is_empty()) {
        for file in &undo.keep_files {
            outcome.kept.push(keep_file(context, file)?.into());
        }
        let plan = Plan { keep: undo.keep.clone(), ..Plan::default() };
        let steps = Plan { steps: undo.steps.clone(), ..Plan::default() };
        let mut kept = keep_tool_files(context, &scope, &steps)?;
        kept.extend(keep_replaced(context, &scope, &plan)?);
        transaction.take_back(&record, &undo)?;
        outcome.kept.extend(kept_by(&transaction, &scope, kept).into_iter().map(Message::from));
        outcome.undoable = transaction.is_undoable();
    }
    outcome.steps = undo.steps;
    Ok(outcome)
}

/// The outcome of removing the record of the last change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Forgotten {
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// Whether there was a record.
    pub forgotten: bool,
    /// The size in bytes.
    pub bytes: u64,
}

/// Removes the record of the last change of a scope, which then cannot be taken back any more.
///
/// # Errors
///
/// Fails if it cannot be examined or removed.
pub fn forget(context: &Context, request: &UndoRequest) -> Result<Forgotten> {
    let settings = &context.settings;
    let scope = Scope::new(settings, request.scope.unwrap_or(ScopeKind::Project))?;
    if !Transaction::is_begun(&scope) && !Record::is_there(&scope)? {
        return Ok(Forgotten { dry_run: request.dry_run, forgotten: false, bytes: 0 });
    }
    let transaction =
        (!request.dry_run).then(|| Transaction::begin(&scope, settings, &*context.reporter)).transpose()?;
    let bytes = fs::usage(&Record::place(&scope))?.bytes;
    if let Some(transaction) = transaction {
        transaction.forget()?;
    }
    Ok(Forgotten { dry_run: request.dry_run, forgotten: true, bytes })
}

fn nothing(context: &Context, scope: &Scope) -> Error {
    let other = match scope.kind {
        ScopeKind::Project => ScopeKind::User,
        ScopeKind::User => ScopeKind::Project,
    };
    let there = Scope::new(&context.settings, other).and_then(|other| Record::is_there(&other));
    if there.unwrap_or(false) { in_other(scope, other, None) } else { nothing_in(scope) }
}

fn nothing_in(scope: &Scope) -> Error {
    Error::new(ErrorKind::Findings, format!("there is nothing to undo {}", scope.kind.within()))
}

/// Returns the error that the scope `other`, with the directory `dir`, has something to undo.
fn in_other(scope: &Scope, other: ScopeKind, dir: Option<&Path>) -> Error {
    nothing_in(scope).hint(message!(
        "the last change was in the other scope: ",
        Verb::Undo.call().option(Opt::Scope, other).project(dir),
        " undoes it"
    ))
}

/// Returns the error for later changes.
fn changed_since(changed: &[Changed]) -> Error {
    let line = |Changed { path, kind }: &Changed| match kind {
        ChangedKind::Edited => format!("`{}` was edited since", path.display()),
        ChangedKind::Came => format!("something else is in `{}` now", path.display()),
        ChangedKind::Link => format!("`{}` is another link now", path.display()),
        ChangedKind::Repository => format!("`{}` {HAS_REPOSITORY}", path.display()),
        ChangedKind::NotASkill => not_kept(path),
    };
    let lines: Vec<_> = changed.iter().map(line).collect();
    let message = match &lines[..] {
        [one] => one.clone(),
        many => format!("{} paths were changed since:\n  {}", many.len(), many.join("\n  ")),
    };
    let error = Error::new(ErrorKind::Findings, message);
    if changed.iter().any(|changed| matches!(changed.kind, ChangedKind::NotASkill | ChangedKind::Repository))
    {
        error.hint("move it away and run the command again: nothing was changed")
    } else {
        error.hint(message!(
            "nothing was changed; ",
            Opt::Force,
            " replaces it anyway; the store keeps a copy"
        ))
    }
}

/// Asks the policy about the skills that would be restored: it may have changed since.
fn admit(context: &Context, scope: &Scope, record: &Record, undo: &Undo) -> Result<()> {
    let comes: Vec<_> = undo.coming(record).collect();
    if comes.is_empty() {
        return Ok(());
    }
    let text = |new: Option<&[u8]>, file: &Path| -> Result<String> {
        let bytes = match new {
            Some(bytes) => bytes.to_owned(),
            None => fs::read_capped(file, MAX_FILE)?.unwrap_or_default(),
        };
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let [manifest, lockfile] = undo.texts();
    // A file that was invalid before the change becomes invalid again, which is not a reason to refuse.
    let manifest = Manifest::parse(&text(manifest, &scope.manifest)?).unwrap_or_default();
    let lock = Lockfile::parse(&text(lockfile, &scope.lockfile)?).unwrap_or_default();
    let mut gate = PolicyCheck::new(context, scope, &manifest)?;
    for Coming { name, digest, bytes } in comes {
        let Some(locked) = lock.skills.get(name) else { continue };
        let reference = match manifest.skills().get(name) {
            Some(requirement) if locked.meets(requirement) => requirement.reference.clone(),
            _ => locked.revision.clone().map(Reference::Rev),
        };
        let (origin, path) = (&locked.origin, locked.path.as_deref());
        gate.source(PolicySubject { origin, path, reference: reference.as_ref() })?;
        // A skill that the user edited is the user's own, like any tree in place.
        if locked.digest == digest {
            match bytes {
                Bytes::Beside(directory) => gate.directory(name, &directory)?,
                Bytes::Stored(set) => gate.skill(name, set)?,
            }
        }
    }
    Ok(())
}

/// Returns the warning that the restored lockfile is as a merge left it, before an installation repaired it.
fn conflict(scope: &Scope, undo: &Undo) -> Option<Warning> {
    let [_, lockfile] = undo.texts();
    let error = Lockfile::parse(std::str::from_utf8(lockfile?).ok()?).err()?;
    let told = || {
        message!(
            "`skillpm.lock` still has what a merge left in it, so no command can use it: run ",
            Verb::Install.within(scope.kind),
            " to repair it before you commit it"
        )
    };
    error.is_of_merge().then(|| Warning::new(problem::LOCK_CONFLICT.id, told()))
}

/// Returns the directories of the scope's own skills that `undo` takes out of the manifest, as after an import: they stay,
/// and may have been edited.
fn no_longer_used(settings: &Settings, scope: &Scope, now: Option<&Files>, undo: &Undo) -> Vec<Message> {
    if !undo.files().manifest && !undo.files_gone().manifest {
        return Vec::new();
    }
    let [manifest, _] = undo.texts();
    let text = manifest.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
    let (Some(now), Ok(then)) = (now, Manifest::parse(text)) else { return Vec::new() };
    let left = now.manifest.skills().iter().filter(|(name, entry)| entry.editable && !then.asks_for(name));
    let places = left.filter_map(|(name, _)| own::place(scope, name).ok()).filter(|place| fs::exists(place));
    let told = places.map(|place| {
        let place = scope.shown(settings, &place);
        format!("`{place}` stays as it is; nothing is installed from it any more").into()
    });
    told.collect()
}

/// Returns a warning about links that `undo` removes and the next installation makes again, because the user uses their
/// agents.
fn still_used(settings: &Settings, scope: &Scope, now: Option<&Files>, undo: &Undo) -> Option<Warning> {
    let skills = skills(&undo.steps);
    let stays =
        |name: &SkillName| skills.iter().any(|one| one.name == name.as_str() && one.change == Undone::Links);
    let unlinked = undo.steps.iter().filter_map(|step| match step {
        Step::Unlink { place: Location::Agent(id), name } if stays(name) => agents::find(id).ok(),
        _ => None,
    });
    let ids: Ids = unlinked.map(|agent| agent.id).collect();
    if ids.is_empty() {
        return None;
    }
    AgentTargets::read(settings, scope, now?).ok()?.still_used(&ids)
}

/// Saves `file`, which was edited and gets its old text, in the store. Returns a message with the place.
fn keep_file(context: &Context, file: &Path) -> Result<String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let real = fs::real_path(file)?.unwrap_or_else(|| file.to_owned());
    let store = Store::new(&context.settings)?;
    let set = fs::gather(BTreeMap::from([(name.clone(), real)]))?.skill("", &Limits::default())?;
    let note = Note::new(&name, Why::TakenBack, file.to_owned());
    let kept = store.keep(&set, Some(note)).map_err(|error| {
        error.context(format!("`{}` could not be kept, so it was not replaced", file.display()))
    })?;
    Ok(format!("your `{name}` was saved as `{}`", kept.join(&name).display()))
}

/// Returns the effect of the steps on each skill.
fn skills(steps: &[Step]) -> Vec<UndoneSkill> {
    let mut skills: BTreeMap<&SkillName, Undone> = BTreeMap::new();
    for step in steps {
        let (place, name) = step.place();
        let change = match (step, place) {
            (Step::Disable { .. }, _) => Undone::Disabled,
            (Step::Enable { .. }, _) => Undone::Enabled,
            (_, Location::Agent(_)) => Undone::Links,
            (Step::Put { replaces: Some(_), .. }, _) => Undone::Replaced,
            (Step::Remove { .. } | Step::Unlink { .. }, _) => Undone::Gone,
            _ => Undone::Back,
        };
        let entry = skills.entry(name).or_insert(change);
        *entry = match (*entry, change) {
            (Undone::Links, change) => change,
            (before, Undone::Links) => before,
            (Undone::Gone, Undone::Back) => Undone::Replaced,
            (_, change) => change,
        };
    }
    skills.into_iter().map(|(name, change)| UndoneSkill { name: name.to_string(), change }).collect()
}
