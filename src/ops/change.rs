//! What verbs that change a scope share.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::absent::not_yet_installed;
use super::install::audience::{Audience, Ids};
use super::install::restore::{Care, Replaces, Restore, look_after};
use crate::agents::{self, Agent};
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::fs;
use crate::install::placed::{Placed, Untouched};
use crate::install::places::Places;
use crate::install::plan::{
    ChangedFiles, Conflict, ConflictKind, Content, Goal, NewLink, Place, Plan, Step, Wanted, plan,
};
use crate::install::scope::{Scope, ScopeKind};
use crate::install::sources;
use crate::install::state::{Files, HAS_REPOSITORY, Survey, not_kept};
use crate::install::transaction::Transaction;
use crate::install::trees::Lying;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::store::{Note, Store, Why};
use crate::tree::FileSet;

/// Looks at the places that `goal` is about and plans.
///
/// # Errors
///
/// What is in the way, with the places; a place that cannot be looked at.
pub(super) fn make_plan(context: &Context, scope: &Scope, goal: &Goal, files: &Files) -> Result<Plan> {
    let put = goal.put.iter().map(|wanted| &wanted.name);
    let names: Vec<&SkillName> = put.chain(&goal.remove).chain(goal.left.keys()).collect();
    let (watched, mut chosen) = watched(goal, files);
    let shared = shared(context, scope, &names)?;
    let take = |scope: &Scope| {
        let mut survey = Survey::take(&context.settings, scope, &names, &watched)?;
        survey.shared.clone_from(&shared);
        Ok::<_, Error>(survey)
    };
    let mut survey = take(scope)?;
    survey.sources = sources::here(&context.settings, scope, sources::coming(goal))?;
    let mut planned = plan(goal, files, &survey);
    let everything = || {
        let all = sources::coming(goal).chain(sources::there(files)).chain(sources::left(goal));
        sources::here(&context.settings, scope, all)
    };
    // Which trees may go is decided by their bytes, not by what is remembered of them.
    if planned.as_ref().is_ok_and(Plan::takes_trees) {
        survey = take(&scope.unindexed())?;
        survey.sources = everything()?;
        planned = plan(goal, files, &survey);
    }
    if let Err(conflicts) = &planned {
        (survey.fetched, survey.untouched) = unedited(context, scope, conflicts);
        if !(survey.fetched.is_empty() && survey.untouched.is_empty()) {
            survey.sources = everything()?;
            planned = plan(goal, files, &survey);
        }
    }
    // Where nobody asked for links there are none of ours; elsewhere one may be.
    if let Some(error) =
        std::iter::from_fn(|| chosen.pop_first()).find_map(|agent| survey.unreadable.remove(agent))
    {
        return Err(error.into());
    }
    let plan = planned.map_err(|conflicts| in_the_way(context, scope, &conflicts))?;
    check_places(context, scope, &plan)?;
    Ok(plan)
}

/// Those of `names` that the other scope which has its skills in the same directory knows: all, where its files cannot
/// be read.
fn shared(context: &Context, scope: &Scope, names: &[&SkillName]) -> Result<BTreeSet<SkillName>> {
    let Some(twin) = scope.twin(&context.settings)? else { return Ok(BTreeSet::new()) };
    let files = Files::read(&twin).ok();
    let is_known = |name: &&&SkillName| files.as_ref().is_none_or(|files| files.knows(name));
    Ok(names.iter().filter(is_known).map(|name| (*name).clone()).collect())
}

/// What is told of the skills that stay in place though `plan` takes them out of `scope`, or out of sight there.
pub(super) fn told_shared(scope: &Scope, plan: &Plan) -> impl Iterator<Item = String> {
    let whose = match scope.kind {
        ScopeKind::Project => "your own skills have",
        ScopeKind::User => "the project in your home directory has",
    };
    plan.shared.iter().map(move |name| format!("`{name}` was kept: {whose} it too"))
}

/// Those of the trees in the way that nobody edited: they came from a source, or skillpm put them there. Their bytes
/// are read: what goes must be what is known of it. What a lockfile says nothing of may have been brought by another
/// tool, from the same source, so that it is asked of the record alone.
fn unedited(
    context: &Context,
    scope: &Scope,
    conflicts: &[Conflict],
) -> (BTreeSet<Digest>, BTreeSet<(Place, SkillName)>) {
    use ConflictKind::{Modified, Untracked};
    let (mut fetched, mut untouched) = (BTreeSet::new(), BTreeSet::new());
    let mut trees =
        conflicts.iter().filter(|conflict| matches!(conflict.kind, Modified | Untracked)).peekable();
    if trees.peek().is_none() {
        return (fetched, untouched);
    }
    let placed = Placed::of(&context.settings, scope).untouched();
    for Conflict { name, place, kind } in trees {
        let Ok(path) = scope.place(&context.settings, place, name) else { continue };
        let Some(digest) = scope.index.trees().digest(&path) else { continue };
        let is_other_line_ends = || scope.index.trees().is_other_line_ends(&path);
        if *kind == Modified && (is_fetched(context, &digest) || is_other_line_ends()) {
            fetched.insert(digest);
        } else if placed.has(place, name, &digest) || is_merged_copy(context, place, &digest) {
            untouched.insert((place.clone(), name.clone()));
        }
    }
    (fetched, untouched)
}

/// Whether the tree with `digest` at `place` is what a merge made for the copies of agents: nobody wrote there since.
fn is_merged_copy(context: &Context, place: &Place, digest: &Digest) -> bool {
    matches!(place, Place::Agent(_))
        && Store::new(&context.settings).is_ok_and(|store| store.is_merged(digest))
}

/// Whether the tree with `digest` came from a source, as whatever the store has: nobody edited it, and nothing is
/// lost where it goes.
pub(super) fn is_fetched(context: &Context, digest: &Digest) -> bool {
    Store::new(&context.settings).is_ok_and(|store| store.is_whole(digest))
}

/// Tells trees that nobody edited, though they are not what is locked: they came from a source, or they are what skillpm
/// put there by another lockfile.
pub(super) struct Unedited<'a> {
    context: &'a Context,
    scope: &'a Scope,
    /// What skillpm put there; it is read where the store does not know a tree.
    placed: OnceCell<Untouched<'a>>,
}

impl<'a> Unedited<'a> {
    /// Nothing is read yet.
    pub(super) fn new(context: &'a Context, scope: &'a Scope) -> Self {
        Self { context, scope, placed: OnceCell::new() }
    }

    /// Whether nobody edited the tree with `digest` at the place of `name`.
    pub(super) fn has(&self, place: &Place, name: &SkillName, digest: &Digest) -> bool {
        let placed =
            || self.placed.get_or_init(|| Placed::of(&self.context.settings, self.scope).untouched());
        let path = self.scope.place(&self.context.settings, place, name);
        // Nothing that somebody wrote goes with line ends.
        let other_line_ends = || path.is_ok_and(|path| self.scope.index.trees().is_other_line_ends(&path));
        is_fetched(self.context, digest) || placed().has(place, name, digest) || other_line_ends()
    }
}

/// The agents whose directories have to be looked into for `goal`, and those of them that somebody chose.
pub(super) fn watched(goal: &Goal, files: &Files) -> (Vec<&'static Agent>, Ids) {
    let names = goal.put.iter().map(|wanted| &wanted.name).chain(&goal.remove);
    let locked = names.filter_map(|name| files.lock.skills.get(name));
    let targets = files.manifest.agents().targets.iter().flatten();
    let known =
        targets.chain(locked.flat_map(|locked| &locked.agents)).filter_map(|id| agents::find(id).ok());
    let chosen =
        known.map(|agent| agent.id).chain(goal.put.iter().flat_map(|wanted| {
            wanted.agents.iter().map(|agent| agent.id).chain(wanted.leaving.iter().copied())
        }));
    let chosen: Ids = chosen.collect();
    // A skill that goes out of sight may be linked anywhere.
    let gone = !goal.remove.is_empty() || !goal.left.is_empty();
    // So may one that no lockfile knows.
    let is_anywhere = |wanted: &Wanted| wanted.disabled || matches!(wanted.content, Content::Editable(_));
    let everywhere = gone || goal.put.iter().any(is_anywhere);
    let watched = agents::all().iter().filter(|agent| everywhere || chosen.contains(agent.id)).collect();
    (watched, chosen)
}

/// Refuses places that lead out of the project before anything is done, so that a dry run says it too.
fn check_places(context: &Context, scope: &Scope, plan: &Plan) -> Result<()> {
    let places = Places::new(scope, &context.settings);
    for step in &plan.steps {
        for place in std::iter::once(step.place().0).chain(step.goes_to()) {
            places.dir(&place)?;
        }
    }
    if plan.lock.is_some() {
        scope.check_inside(&scope.lockfile)?;
    }
    if plan.manifest.is_some() {
        scope.check_inside(&scope.manifest)?;
    }
    Ok(())
}

fn in_the_way(context: &Context, scope: &Scope, conflicts: &[Conflict]) -> Error {
    let line = |conflict: &Conflict| {
        let name = conflict.name.as_str();
        let dir = scope.dir(&context.settings, &conflict.place);
        let path = dir.map_or_else(|_| name.to_owned(), |dir| dir.join(name).display().to_string());
        match &conflict.kind {
            ConflictKind::Modified => format!("`{path}` was edited since it was installed"),
            ConflictKind::Untracked => format!("`{path}` already exists and was not installed by skillpm"),
            ConflictKind::Link => format!("`{path}` is a link to somewhere else"),
            ConflictKind::SameName(other) => format!(
                "`{}` and the skill `{other}`, which already exists, are the same name on some file systems",
                conflict.name
            ),
            ConflictKind::OtherSource(origin) => {
                format!("`{name}` is already installed from `{}`, and this is another skill", origin.typed())
            }
            ConflictKind::OtherPath(origin, old) => format!(
                "`{name}` is already installed from `{old}` in `{}`, and this is another skill",
                origin.typed()
            ),
            ConflictKind::NotASkill if matches!(fs::kind(Path::new(&path)), Ok(Some(fs::Kind::File))) => {
                format!("`{path}` is a file where skillpm would put a skill or a link")
            }
            ConflictKind::NotASkill => not_kept(Path::new(&path)),
            ConflictKind::Repository => format!("`{path}` {HAS_REPOSITORY}"),
            ConflictKind::Source => {
                format!("`{path}` is both the source of `{name}` and the place where skillpm would put it")
            }
            ConflictKind::OnlyCopy => {
                format!("`{path}` is what `{name}` is installed from: no other copy would remain")
            }
        }
    };
    let lines: Vec<_> = conflicts.iter().map(line).collect();
    let error = match &lines[..] {
        [one] => Error::new(ErrorKind::Findings, one.clone()),
        many => Error::new(
            ErrorKind::Findings,
            format!("{} paths are in the way:\n  {}", many.len(), many.join("\n  ")),
        ),
    };
    if let Some(other) = conflicts.iter().find_map(|conflict| match &conflict.kind {
        ConflictKind::SameName(other) => Some(other),
        _ => None,
    }) {
        error.hint(format!(
            "nothing was changed; `--as NAME` installs the new one under another name, and `skillpm remove{} {other}` makes room for it",
            scope.kind.flag()
        ))
    } else if conflicts
        .iter()
        .any(|conflict| matches!(conflict.kind, ConflictKind::OtherSource(_) | ConflictKind::OtherPath(..)))
    {
        error.hint("nothing was changed; `--as NAME` installs it under another name beside the existing one; `--force` replaces that")
    } else if let Some(source) = conflicts.iter().find(|conflict| conflict.kind == ConflictKind::Source) {
        let (flag, name) = (scope.kind.flag(), &source.name);
        let error = error.hint(format!("nothing was changed; `skillpm import{flag} {name}` moves it to `skills/{name}` and installs it from there"));
        match source.place {
            Place::Agent(_) => error.hint("`skillpm install --editable` leaves it where it is"),
            _ => error,
        }
    } else if conflicts
        .iter()
        .any(|conflict| matches!(conflict.kind, ConflictKind::NotASkill | ConflictKind::Repository))
    {
        error.hint("move it away and run the command again: nothing was changed")
    } else {
        error.hint("nothing was changed; `--force` replaces it anyway; the store keeps a copy")
    }
}

/// How skills are changed that are installed.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    /// Plan only.
    pub(super) dry_run: bool,
    /// Replace what is in the way; it is kept in the store.
    pub(super) force: bool,
    /// Bring back what is missing of the skills.
    pub(super) bring: bool,
}

/// What is to change of skills that are installed.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// The skills, and whether each is to be disabled.
    pub(super) skills: BTreeMap<SkillName, bool>,
    /// The agents that get links and copies; all that are to have some where it is `None`.
    pub(super) only: Option<Ids>,
    /// Agents of which it is told who still shows them what they were not to see.
    pub(super) taken: Ids,
}

/// What changed.
#[derive(Debug, Default)]
pub(super) struct Changed {
    /// What was or would be done, in order.
    pub(super) steps: Vec<Step>,
    /// The links that were or would be made.
    pub(super) links: Vec<NewLink>,
    /// Which files changed or would change.
    pub(super) files: ChangedFiles,
    /// The agents that see each of the skills through a link or copy of their own.
    pub(super) agents: BTreeMap<SkillName, Vec<String>>,
    /// What a person should know.
    pub(super) warnings: Vec<String>,
}

/// Changes who sees skills that are installed, as `edit` says.
///
/// # Errors
///
/// What `edit` answers; what is in the way; anything that cannot be written.
pub(super) fn rearrange(
    context: &Context,
    scope: &Scope,
    how: How,
    edit: impl FnOnce(&Files, &mut Audience<'_>) -> Result<Edits>,
) -> Result<Changed> {
    let settings = &context.settings;
    // A plan is only looked at: it takes no lock and mends nothing.
    let transaction =
        (!how.dry_run).then(|| Transaction::begin(scope, settings, &*context.reporter)).transpose()?;
    let files = Files::read(scope)?;
    let mut audience = Audience::read(settings, scope, &files)?;
    let edits = edit(&files, &mut audience)?;
    if let Some(name) = edits.skills.keys().find(|name| audience.entry(name).is_none()) {
        return Err(Error::config(format!(
            "`{name}` is in the lockfile and not in `{}`",
            scope.manifest.display()
        ))
        .hint(format!(
            "`skillpm install{}` removes what the manifest does not name; restore the entry to keep it",
            scope.kind.flag()
        )));
    }
    let copy = files.manifest.agents().copy;
    // Copies need the bytes, if anybody gets one.
    let comes = edits.only.as_ref().is_none_or(|only| !only.is_empty());
    let care = Care { bring: how.bring, replaces: Replaces::Nothing, copy: copy && comes, check: false };
    let Restore { mut fetched, .. } = look_after(context, scope, &files, &edits.skills, care)?;
    let mut changed = Changed { warnings: std::mem::take(&mut fetched.warnings), ..Changed::default() };
    for wanted in &mut fetched.wanted {
        let was = audience.entry(&wanted.name).filter(|entry| entry.disabled != wanted.disabled);
        wanted.requirement = was;
        audience.dress(wanted);
        changed.agents.insert(wanted.name.clone(), wanted.linked().map(ToOwned::to_owned).collect());
        changed.warnings.extend(audience.still_seeing(&edits.taken, wanted).into_iter().map(
            |(agent, other)| {
                format!("`{agent}` still sees `{}`: it reads the same directory as `{other}`", wanted.name)
            },
        ));
    }
    let put: BTreeSet<_> = fetched.wanted.iter().map(|wanted| &wanted.name).collect();
    let mut entries = audience.entries(&put);
    // What was never installed has nothing to move.
    for (name, disabled) in edits.skills.iter().filter(|(name, _)| !put.contains(name)) {
        check_unlocked(context, scope, name, *disabled)?;
        if how.bring {
            changed.warnings.push(not_yet_installed(scope.kind, name));
        }
        let entry = entries.remove(name).or_else(|| audience.entry(name));
        entries.extend(entry.map(|entry| (name.clone(), Requirement { disabled: *disabled, ..entry })));
    }
    let goal = Goal {
        entries,
        manifest_agents: audience.manifest(false),
        put: fetched.wanted,
        only: edits.only,
        copy,
        force: how.force,
        ..Goal::default()
    };
    let plan = make_plan(context, scope, &goal, &files)?;
    if let Some(transaction) = transaction {
        changed.warnings.extend(keep_replaced(context, scope, &plan)?);
        add_contents(context, scope, &plan, &mut fetched.contents)?;
        keep_copies(context, &plan, &files, &fetched.contents);
        transaction.apply(&plan, &files, &fetched.contents)?;
    }
    changed.warnings.extend(told_shared(scope, &plan));
    changed.files = plan.files();
    (changed.steps, changed.links) = (plan.steps, plan.links);
    Ok(changed)
}

/// Refuses to disable or enable the skill `name`, of which no lockfile knows, where its tree would have to move: nobody
/// knows whether that is what is asked for.
fn check_unlocked(context: &Context, scope: &Scope, name: &SkillName, disabled: bool) -> Result<()> {
    let from = if disabled { Place::Canonical } else { Place::Disabled };
    let path = scope.place(&context.settings, &from, name)?;
    if fs::kind(&path)? != Some(fs::Kind::Directory) {
        return Ok(());
    }
    let (verb, flag) = (if disabled { "disable" } else { "enable" }, scope.kind.flag());
    Err(Error::config(format!("`{name}` is in `{}`, but not in the lockfile", path.display())).hint(format!(
        "nothing was changed; `skillpm install{flag}` locks it, then `skillpm {verb}{flag} {name}` moves it"
    )))
}

/// Adds to `contents` the trees that `plan` copies from where they are installed, or from the store where what lies there
/// was edited.
///
/// # Errors
///
/// A tree that cannot be read.
pub(super) fn add_contents(
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

/// Saves what `plan` replaces and no lockfile knows, and tells where that lies which a user wrote. [`kept_by`] says more of it, once the change is
/// made.
///
/// # Errors
///
/// Where it cannot be saved: then nothing may be replaced.
pub(super) fn keep_replaced(context: &Context, scope: &Scope, plan: &Plan) -> Result<Vec<String>> {
    let mut told = Vec::new();
    let lost = |path: &Path| format!("`{}` could not be kept, so it was not replaced", path.display());
    // They came from a source once: who goes back to them need not fetch them again.
    for (at, name) in &plan.store {
        let path = scope.place(&context.settings, at, name)?;
        let Lying { files: set, digest, .. } = scope.index.trees().read(&path)?;
        // What users wrote into a skill that was merged is kept already, for nobody else to read.
        if !is_fetched(context, &digest) && !is_merged_copy(context, at, &digest) {
            Store::new(&context.settings)?.put(&set).map_err(|error| error.context(lost(&path)))?;
        }
    }
    for (at, name) in &plan.keep {
        let path = scope.place(&context.settings, at, name)?;
        let store = Store::new(&context.settings)?;
        let note = Note::new(name.as_str(), why_kept(plan, at, name), path.clone());
        let files = scope.index.trees().read(&path)?.files;
        let kept = store.keep(&files, Some(note)).map_err(|error| error.context(lost(&path)))?;
        context.reporter.detail(&format!("your copy of `{name}` is in `{}`", kept.display()));
        told.push(format!("your edited `{name}` was saved"));
    }
    Ok(told)
}

/// Why the tree of `name` at `at` is kept before `plan` is carried out: one without steps takes a change back.
fn why_kept(plan: &Plan, at: &Place, name: &SkillName) -> Why {
    let of_it = |step: &&Step| step.place() == (at.clone(), name);
    match plan.steps.iter().find(of_it) {
        _ if plan.steps.is_empty() && plan.lock.is_none() => Why::TakenBack,
        Some(Step::Remove { .. }) => Why::Removed,
        _ => Why::Replaced,
    }
}

/// Keeps edited and merged trees of which agents get copies by `plan`, as what somebody edited: the next change knows
/// by them that nobody edited the copies.
pub(super) fn keep_copies(
    context: &Context,
    plan: &Plan,
    files: &Files,
    contents: &BTreeMap<SkillName, FileSet>,
) {
    for step in &plan.steps {
        let Step::Put { place: Place::Agent(_), name, digest, .. } = step else { continue };
        let locked = plan.lock.as_ref().unwrap_or(&files.lock).skills.get(name);
        let set = contents.get(name).filter(|_| locked.is_none_or(|locked| locked.digest != *digest));
        if let Some(set) = set {
            // Without it the next change asks for `--force`, and loses nothing.
            let _ = Store::new(&context.settings).and_then(|store| store.keep_merged(set));
        }
    }
}

/// What is `told` of copies that were kept, with the command that brings them back. Whether there is one is not known
/// before `transaction` has made the change: where nothing can be remembered of it, it cannot be taken back.
pub(super) fn kept_by(transaction: &Transaction<'_>, scope: &Scope, told: Vec<String>) -> Vec<String> {
    let back = if transaction.is_undoable() {
        format!("`skillpm undo{}` restores it", scope.kind.flag())
    } else {
        "`skillpm undo --list` shows it".to_owned()
    };
    told.into_iter().map(|told| format!("{told}; {back}")).collect()
}
