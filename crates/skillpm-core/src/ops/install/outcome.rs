//! The outcome of an installation.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::available::{Available, OfferedPlugin};
use super::desired::DesiredNotes;
use super::replaced;
use super::request::InstallRequest;
use crate::advice::{Verb, Warning, message};
use crate::change::Planned;
use crate::change::consent::NewVersion;
use crate::codes;
use crate::context::Context;
use crate::error::{NamedFailure, Result};
use crate::fetch::policy_check::PolicyDecision;
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::resolve::graph::dependents;
use crate::scope::Scope;
use crate::scope::agent_view::Unseen;
use crate::scope::changes::PathChange;
use crate::scope::health::problem;
use crate::scope::plan::{ChangedFiles, Content, Goal, Location, NewLink, Plan, Step, Wanted};
use crate::scope::receipts::PreviousInstall;
use crate::scope::state::Files;
use crate::scope_kind::ScopeKind;
use crate::text::conflict_line;

/// The outcome of an installation. The JSON form is an interface: fields are only ever added.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct InstallOutcome {
    /// The scope of the skills.
    pub scope: Option<ScopeKind>,
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// The requested skills, sorted by name.
    pub skills: Vec<InstalledSkill>,
    /// The steps that were or would be taken, in order.
    pub steps: Vec<Step>,
    /// The links that were or would be made.
    pub links: Vec<NewLink>,
    /// The paths that were or would be changed.
    pub paths: Vec<PathChange>,
    /// Which files changed or would change.
    #[serde(rename = "files_changed")]
    pub files: ChangedFiles,
    /// The ids of the agents that have links or copies of their own.
    pub agents: Vec<String>,
    /// The ids of the agents, of this machine or named by the manifest, that see all of these skills.
    pub seen_by: Vec<String>,
    /// After the first installation in a git repository: what is new to git.
    #[serde(skip)]
    pub new_in_git: Option<NewInGit>,
    /// The ids of the agents that the person at the terminal said they use, if they were asked.
    #[serde(skip)]
    pub remembered: Vec<String>,
    /// The agents of this machine that do not see all skills of the scope.
    pub unseen: Vec<Unseen>,
    /// Skills that were edited and left as they are: the outcome is not what was requested.
    pub left_modified: Vec<String>,
    /// Skills in which an update left conflicts, and that are left as they are.
    pub left_in_conflict: Vec<String>,
    /// Skills that cannot be read and are left as they are; the warnings say why.
    pub left_unreadable: Vec<String>,
    /// The requested skills that could not be installed; the warnings say why.
    pub left_out: Vec<NamedFailure>,
    /// The changes in the versions that took the place of others.
    pub reviewed: Vec<NewVersion>,
    /// In a dry run: the skills with new capabilities without consent.
    pub refused: Vec<String>,
    /// The policy lines that decided about the sources.
    pub decided: Vec<PolicyDecision>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
    /// With `list`: the content of the sources.
    #[serde(skip)]
    pub available: Vec<Available>,
    /// With `list` and a marketplace: its plugins, if none of them was named.
    #[serde(skip)]
    pub plugins: Vec<OfferedPlugin>,
    /// If a file changed: those of these skills whose source exists only on this machine, as a path outside the
    /// project.
    #[serde(skip)]
    pub only_here: Vec<String>,
    /// The directory of the skills, relative to the working directory.
    #[serde(skip)]
    pub place: String,
    /// The warnings about saved copies of edited skills.
    #[serde(skip)]
    pub saved: Vec<Warning>,
}

/// Paths that a first installation made in a git repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewInGit {
    /// The paths, as lines of a `.gitignore`.
    pub paths: Vec<String>,
    /// The `.gitignore` that would name them.
    pub file: PathBuf,
}

/// A requested skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InstalledSkill {
    /// The name under which it is installed.
    pub name: String,
    /// The version as the skill states it.
    pub version: Option<String>,
    /// The source.
    pub source: String,
    /// The directory in the source.
    pub path: Option<String>,
    /// The commit.
    pub revision: Option<String>,
    /// The digest; `None` for an editable skill.
    pub digest: Option<String>,
    /// Whether it is a link to a directory in which it is written.
    pub editable: bool,
    /// Whether it is currently hidden from agents.
    pub disabled: bool,
    /// The skills that need it, if it is not requested.
    pub needed_by: Vec<String>,
    /// The change.
    pub change: Change,
}

/// The change of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "InstallChange")]
pub enum Change {
    /// It was added.
    Added,
    /// It replaced another version.
    Updated,
    /// It is the version of before, and took the place of other files.
    Replaced,
    /// It was already installed.
    Unchanged,
    /// It is no longer requested.
    Removed,
    /// It was edited, and left as it is.
    Kept,
    /// Agents no longer see it.
    Disabled,
    /// Agents see it again.
    Enabled,
}

/// Returns the outcome of an installation that is `planned`, with the `notes` about the desired state. `files` are the
/// manifest and the lockfile before it.
pub(super) fn planned(
    context: &Context,
    scope: &Scope,
    request: &InstallRequest,
    planned: &Planned<'_, '_>,
    files: &Files,
    notes: DesiredNotes,
) -> Result<InstallOutcome> {
    let (plan, goal) = (planned.plan(), planned.goal());
    let DesiredNotes { modified, conflicts, unreadable, left_out, warnings, decided } = notes;
    let left = [&modified[..], &conflicts, &unreadable].concat();
    let mut outcome = outcome(scope, goal, plan, files, &left);
    outcome.dry_run = request.dry_run;
    outcome.warnings = warnings;
    outcome.left_out = left_out;
    outcome.decided = decided;
    outcome.warnings.extend(files.conflicts.as_ref().map(|conflicts| mended(scope, files, conflicts)));
    outcome.warnings.extend(merged(scope, files));
    outcome.warnings.extend(still_disabled(scope, request, goal));
    outcome.warnings.extend(stays(context, scope, plan)?);
    outcome.warnings.extend_from_slice(planned.foreign());
    outcome.paths = planned.paths().to_vec();
    if !request.restores() {
        outcome.warnings.extend(replaced::told(goal, files));
    }
    outcome.left_modified = modified.iter().map(ToString::to_string).collect();
    outcome.warnings.extend(conflicts.iter().map(|name| left_in_conflict(scope.kind, name)));
    outcome.left_in_conflict = conflicts.iter().map(ToString::to_string).collect();
    outcome.left_unreadable = unreadable.iter().map(ToString::to_string).collect();
    Ok(outcome)
}

/// Returns the warning about a skill with unresolved conflicts, which no installation replaces.
fn left_in_conflict(scope: ScopeKind, name: &SkillName) -> Warning {
    let told = message!(
        format_args!("`{name}` is in conflict and was left as is: "),
        Verb::Update.within(scope).word(name),
        " lists what to resolve"
    );
    Warning::new(problem::MERGE_UNFINISHED.id, told)
}

fn outcome(scope: &Scope, goal: &Goal, plan: &Plan, files: &Files, modified: &[SkillName]) -> InstallOutcome {
    let mut steps: BTreeMap<&SkillName, Vec<&Step>> = BTreeMap::new();
    for step in &plan.steps {
        steps.entry(step.name()).or_default().push(step);
    }
    let steps_of = |wanted: &Wanted| steps.get(&wanted.name).map(Vec::as_slice).unwrap_or_default();
    let modified: BTreeSet<_> = modified.iter().collect();
    let mut skills: Vec<_> = goal
        .put
        .iter()
        .map(|wanted| installed(wanted, change_of(wanted, steps_of(wanted), files, &modified), files))
        .collect();
    for name in &goal.remove {
        let locked = files.lock.skills.get(name).cloned();
        let gone = locked.map(|locked| Wanted::new(name.clone(), Content::Locked(locked), None));
        skills.extend(gone.map(|gone| installed(&gone, Change::Removed, files)));
    }
    // Skills that were placed and are already gone are not reported, nor are those that come because another
    // skill needs them.
    let put: BTreeSet<_> = goal.put.iter().map(|wanted| &wanted.name).collect();
    let gone = goal.left.iter().filter(|(name, _)| steps.contains_key(name) && !put.contains(name));
    skills.extend(gone.map(|(name, was)| match was {
        PreviousInstall::Copy(locked, _) => {
            let gone = Wanted::new(name.clone(), Content::Locked((**locked).clone()), None);
            installed(&gone, Change::Removed, files)
        }
        PreviousInstall::Link(link) => InstalledSkill {
            name: name.to_string(),
            version: None,
            source: link.source.clone(),
            path: None,
            revision: None,
            digest: None,
            editable: true,
            disabled: false,
            needed_by: Vec::new(),
            change: Change::Removed,
        },
    }));
    let mut by = needed_by(goal, files);
    for skill in &mut skills {
        skill.needed_by = by.remove(&skill.name).unwrap_or_default();
    }
    skills.sort_by(|a, b| a.name.cmp(&b.name));
    let seen: BTreeSet<_> =
        goal.put.iter().filter(|wanted| !wanted.disabled).flat_map(Wanted::linked).collect();
    InstallOutcome {
        skills,
        steps: plan.steps.clone(),
        links: plan.links.clone(),
        files: plan.files(),
        agents: seen.into_iter().map(ToOwned::to_owned).collect(),
        scope: Some(scope.kind),
        ..InstallOutcome::default()
    }
}

/// Returns the skills that are not requested once `goal` is reached, with those that need them.
fn needed_by(goal: &Goal, files: &Files) -> BTreeMap<String, Vec<String>> {
    if files.manifest_text.is_none() && goal.put.iter().all(|wanted| wanted.requirement.is_none()) {
        return BTreeMap::new();
    }
    let mut locked: BTreeMap<&SkillName, &Locked> = files.lock.skills.iter().collect();
    locked.extend(goal.put.iter().filter_map(|wanted| Some((&wanted.name, wanted.content.locked()?))));
    for name in &goal.remove {
        locked.remove(name);
    }
    let mut by = dependents(locked);
    let put = goal.put.iter().filter(|wanted| wanted.is_asked()).map(|wanted| &wanted.name);
    let entries = goal.entries.iter().filter(|(_, entry)| !entry.dependency).map(|(name, _)| name);
    for asked in files.manifest.asked().chain(entries).chain(put) {
        by.remove(asked);
    }
    let text = |(name, by): (SkillName, BTreeSet<SkillName>)| {
        (name.into(), by.into_iter().map(Into::into).collect())
    };
    by.into_iter().map(text).collect()
}

/// Returns what happens to a skill, judging by the steps that are about it.
fn change_of(wanted: &Wanted, steps: &[&Step], files: &Files, modified: &BTreeSet<&SkillName>) -> Change {
    let name = &wanted.name;
    let mut steps = steps.iter();
    let old = files.lock.skills.get(name);
    match wanted.content.locked() {
        _ if modified.contains(name) => Change::Kept,
        Some(locked) if old.is_some_and(|old| old.digest != locked.digest) => Change::Updated,
        _ if steps.clone().any(|step| matches!(step, Step::Disable { .. })) => Change::Disabled,
        _ if steps.clone().any(|step| matches!(step, Step::Enable { .. })) => Change::Enabled,
        Some(_) if old.is_none() => Change::Added,
        // It was a copy, and is a link now.
        None if old.is_some() => Change::Updated,
        _ => {
            let of_step = |step: &&Step| match step {
                Step::Put { place: Location::Canonical | Location::Disabled, replaces, .. } => {
                    Some(if replaces.is_some() { Change::Replaced } else { Change::Added })
                }
                Step::Edit { .. } => Some(Change::Added),
                _ => None,
            };
            steps.find_map(of_step).unwrap_or(Change::Unchanged)
        }
    }
}

fn installed(wanted: &Wanted, change: Change, files: &Files) -> InstalledSkill {
    let entry = wanted.requirement.as_ref().or_else(|| files.manifest.skills().get(&wanted.name));
    let locked = wanted.content.locked();
    let origin = locked.map(|locked| &locked.origin).or(entry.map(|entry| &entry.origin));
    let path = match locked {
        Some(locked) => locked.path.clone(),
        None => entry.and_then(|entry| entry.path.clone()),
    };
    InstalledSkill {
        name: wanted.name.to_string(),
        version: locked.and_then(|locked| locked.version.clone()),
        source: origin.map(ToString::to_string).unwrap_or_default(),
        path,
        revision: locked.and_then(|locked| locked.revision.clone()),
        digest: locked.map(|locked| locked.digest.to_string()),
        editable: locked.is_none(),
        disabled: wanted.disabled,
        needed_by: Vec::new(),
        change,
    }
}

/// Returns the warnings about skills that nothing names any more, and that stay because they were edited.
/// They are reported only once, since the record of what was placed is written without them.
fn stays(context: &Context, scope: &Scope, plan: &Plan) -> Result<Vec<Warning>> {
    let told = plan.stays.iter().map(|(place, name)| {
        let path = scope.place(&context.settings, place, name)?;
        let told = format!(
            "`{name}` is no longer requested, but `{}` was edited since it was installed: it was kept, and is yours from now on",
            path.display()
        );
        Ok(Warning::new(codes::EDITED_KEPT, told))
    });
    told.collect()
}

/// Returns the warning about a lockfile that was repaired after a merge.
fn mended(scope: &Scope, files: &Files, conflicts: &BTreeSet<SkillName>) -> Warning {
    let file = scope.lockfile.file_name().unwrap_or_default().display();
    let names: Vec<_> = conflicts.iter().map(|name| format!("`{name}`")).collect();
    let anew =
        if names.is_empty() { String::new() } else { format!("; resolved again: {}", names.join(", ")) };
    let told = if files.lock_text.as_deref().and_then(conflict_line).is_some() {
        format!("`{file}` had merge-conflict markers; both sides were combined{anew}")
    } else {
        format!("`{file}` had skills twice, as a merge can leave them; duplicates were removed{anew}")
    };
    Warning::new(codes::LOCK_REPAIRED, told)
}

/// Returns the warning about a manifest to which both sides of a merge added skills.
fn merged(scope: &Scope, files: &Files) -> Option<Warning> {
    files.manifest_text.as_deref().and_then(conflict_line)?;
    let file = scope.manifest.file_name().unwrap_or_default().display();
    let told = format!("`{file}` had merge-conflict markers; the skills of both sides are in it now");
    Some(Warning::new(codes::MANIFEST_MERGED, told))
}

/// Warns about skills that were named but that no agent sees.
fn still_disabled(scope: &Scope, request: &InstallRequest, goal: &Goal) -> Option<Warning> {
    let names: Vec<_> = goal.put.iter().filter(|wanted| wanted.disabled).map(|w| w.name.as_str()).collect();
    let (first, told) = (names.first()?, names.join("`, `"));
    let stay = if names.len() == 1 { "stays" } else { "stay" };
    let enable = Verb::Enable.within(scope.kind).word(first);
    let told = message!(format_args!("`{told}` {stay} disabled: "), enable, " shows it to agents again");
    (!request.restores()).then(|| Warning::new(codes::STILL_DISABLED, told))
}
