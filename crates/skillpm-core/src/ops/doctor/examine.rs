//! Finds problems in scopes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::{machine, pending, prerequisites};
use crate::advice::{Message, message};
use crate::agents::Agent;
use crate::change::agent_targets::AgentTargets;
use crate::change::consent::ConsentGate;
use crate::change::make_plan;
use crate::context::Context;
use crate::digest::Digest;
use crate::document::Document;
use crate::error::{Error, Result};
use crate::fetch::alarms::alarms;
use crate::fetch::fetcher::{admit, asked, spec_of};
use crate::fetch::policy_check::{PolicyCheck, admission_of, skill_file};
use crate::fs::{self, Kind};
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::ops::install::editable;
use crate::scope::Scope;
use crate::scope::editable::Editable;
use crate::scope::health::problem;
use crate::scope::health::{DesiredSkill, Finding, Inspection, Remedy, check};
use crate::scope::listings;
use crate::scope::merges::has_conflicts;
use crate::scope::plan::{Content, Goal, Location, Step, Wanted};
use crate::scope::state::{Depth, Files, ScopeState};
use crate::scope_kind::ScopeKind;
use crate::settings::{Policies, Settings};
use crate::store::Store;
use crate::tree::FileSet;

/// The key under which findings of two scopes are the same.
type FindingKey = (&'static str, PathBuf, Option<&'static str>);

/// The key under which two findings are the same.
pub(super) type Key = (FindingKey, Option<ScopeKind>);

fn place_of(finding: &Finding) -> FindingKey {
    (finding.id, finding.path.clone(), finding.agent)
}

/// Returns the key of `finding`.
pub(super) fn key(finding: &Finding) -> Key {
    (place_of(finding), finding.scope)
}

/// Returns what to report about a policy for `scope` that cannot be read.
fn policy(context: &Context, scope: &Scope, error: &Error) -> Finding {
    let hint = error.hints().first().cloned().unwrap_or_else(|| "correct the file".into());
    Finding::new(&problem::POLICY_UNREADABLE, policy_file(context, scope), told(error)).advice(hint)
}

/// Returns the file of the policy for `scope` that cannot be read: one that holds for every scope is reported once.
fn policy_file(context: &Context, scope: &Scope) -> PathBuf {
    let reads = |policies: Policies| {
        let settings = Settings { policies, ..context.settings.clone() };
        admission_of(&Context { settings, ..context.clone() }, scope, []).is_ok()
    };
    let Policies { machine, named } = &context.settings.policies;
    match (machine, named) {
        (Some(file), _) if !reads(Policies { machine: machine.clone(), named: None }) => file.clone(),
        (_, Some(file)) if !reads(Policies { machine: None, named: named.clone() }) => file.clone(),
        _ => scope.manifest.clone(),
    }
}

/// Returns the alarms that an installation showed about the skills in `scope`.
fn alarms_in(scope: &Scope, store: Option<&Store>) -> Vec<Finding> {
    let files = Files::read(scope).unwrap_or_default();
    let mut found = Vec::new();
    let is_beside = |name: &str| SkillName::exact(name).is_some_and(|name| files.knows(&name));
    for (name, locked) in &files.lock.skills {
        let place = scope.skill_dir(name);
        // Usually it is as it is locked, and one file of the store has all of it.
        let is_locked = scope.index.digest_of(&place) == Some(locked.digest);
        let stored = store.filter(|_| is_locked).and_then(|store| store.get(&locked.digest).ok()?);
        // Unreadable files are a finding of their own.
        let Some(set) = stored.or_else(|| scope.index.trees().files(&place).ok()) else { continue };
        let document = skill_file(&set).and_then(|file| set.read(file).ok());
        let told = document.map(|bytes| alarms(name, &set, &Document::from_bytes(bytes), &is_beside));
        for alarm in told.and_then(Result::ok).unwrap_or_default() {
            let finding = Finding::new(&problem::SKILL_ALARM, &place, alarm.message);
            found.push(Finding { scope: Some(scope.kind), ..finding.skill(name.as_str()) });
        }
    }
    found
}

/// Returns `error` in one line, with its cause.
pub(super) fn told(error: &Error) -> Message {
    Message::joined([error.message().clone()].into_iter().chain(error.causes().take(1)), ": ")
}

/// Looks for problems, and repairs them.
pub(super) struct Doctor<'a> {
    pub(super) context: &'a Context,
    /// The store, if it can be opened.
    pub(super) store: Option<Store>,
    /// The scopes that are examined.
    pub(super) scopes: Vec<Scope>,
}

impl Doctor<'_> {
    /// Returns what is wrong in the scopes, and if it is `whole`, in the store and among the downloads.
    pub(super) fn look(&self, whole: bool) -> Vec<Finding> {
        let mut found: Vec<Finding> = Vec::new();
        for scope in &self.scopes {
            let here = self.check(scope);
            // In the home directory both scopes have the same directories: what is wrong with one of them is told
            // once, as the user's.
            let told: BTreeSet<_> = here.iter().filter(|f| f.skill.is_none()).map(place_of).collect();
            found.retain(|f| f.skill.is_some() || !told.contains(&place_of(f)));
            found.extend(here);
        }
        found.extend(prerequisites::unmet(self.context, &self.scopes));
        found.extend(prerequisites::lacking(&self.context.settings, &self.scopes));
        if whole {
            // The directory of settings is a scope's too.
            let told: BTreeSet<_> = found.iter().map(place_of).collect();
            let of_user = pending::of_user(&self.context.settings).into_iter();
            found.extend(of_user.filter(|finding| !told.contains(&place_of(finding))));
            found.extend(self.crowded());
            found.extend(self.overridden());
            found.extend(machine::look(self.store.as_ref(), self.context.settings.dirs.cache.as_deref()));
        }
        found
    }

    /// Returns the agents that have no room to list all skills, which are those of both scopes.
    fn crowded(&self) -> Vec<Finding> {
        let settings = &self.context.settings;
        let mut agents: Vec<&'static Agent> = Vec::new();
        for scope in &self.scopes {
            let files = Files::read(scope).unwrap_or_default();
            let limited = listings::limited(&ScopeState::of(settings, scope, files, Depth::Metadata));
            agents.extend(limited.into_iter().filter(|agent| !agents.contains(agent)).collect::<Vec<_>>());
        }
        let finding = |one: listings::Crowded| {
            let dir = one.agent.user_dirs(settings).next().unwrap_or_default();
            Finding::new(&problem::LISTING_CROWDED, dir, one.told())
                .agent(Some(one.agent.id))
                .advice(one.advice())
        };
        listings::crowded(settings, agents).into_iter().map(finding).collect()
    }

    /// Returns the skills of the project that agents do not take, because the user has others of their names.
    fn overridden(&self) -> Vec<Finding> {
        let project = self.scopes.iter().find(|scope| scope.kind == ScopeKind::Project);
        let finding = |one: listings::Overridden| {
            let dir = project.map(|scope| scope.skills_dir().join(one.name.as_str())).unwrap_or_default();
            let found = Finding::new(&problem::USER_COPY_WINS, dir, one.told()).advice(one.advice());
            found.skill(one.name.as_str())
        };
        listings::overridden(&self.context.settings, &self.scopes).into_iter().map(finding).collect()
    }

    /// Returns what is wrong in `scope`.
    pub(super) fn check(&self, scope: &Scope) -> Vec<Finding> {
        let desired = |state: &ScopeState<'_>| self.desired(state);
        let look = Inspection::take(&self.context.settings, scope, self.store.as_ref(), &desired);
        let mut found = check(&look);
        found.extend(pending::of_scope(&self.context.settings, &look));
        found.sort_by(|a, b| a.order().cmp(&b.order()));
        self.leave_others(&look, &mut found);
        self.admit(scope, &mut found);
        found.extend(alarms_in(scope, self.store.as_ref()));
        found
    }

    /// Leaves out what is found of skills that do not belong to this scope. In the home directory both scopes have the
    /// same directories: what the files of the other one know is neither left over nor a stranger's here, and what
    /// neither knows is the user's.
    fn leave_others(&self, look: &Inspection<'_>, found: &mut Vec<Finding>) {
        let Ok(Some(other)) = look.scope.other_scope(&self.context.settings) else { return };
        let is_told_by_twin = look.scope.kind == ScopeKind::Project && self.scopes.len() > 1;
        // What is in files that cannot be read may be any skill.
        let files = Files::read(&other).ok();
        let is_theirs = |name: &str| {
            files.as_ref().is_none_or(|files| SkillName::exact(name).is_some_and(|name| files.knows(&name)))
        };
        found.retain(|finding| match &finding.skill {
            Some(name) => look.knows(name) || !is_told_by_twin && !is_theirs(name),
            None => true,
        });
    }

    /// Leaves what a policy keeps out where it is: it comes back no more than with an installation. A policy that
    /// cannot be read stops every installation.
    fn admit(&self, scope: &Scope, found: &mut Vec<Finding>) {
        let mut unreadable = None;
        let mut gate = Files::read(scope).and_then(|files| {
            let gate = PolicyCheck::new(self.context, scope, &files.manifest);
            Ok((gate.inspect_err(|error| unreadable = Some(policy(self.context, scope, error)))?, files))
        });
        for finding in found.iter_mut() {
            let Some(step) = bringing(&finding.remedy) else { continue };
            let refused = match &mut gate {
                Ok((gate, files)) => self.ask(scope, gate, files, step).err().map(|error| told(&error)),
                Err(error) => Some(told(error)),
            };
            if let Some(why) = refused {
                finding.remedy = Remedy::Advice(message!("it cannot be brought back: ", why));
            }
        }
        found.extend(unreadable);
    }

    /// Asks `gate` whether what `step` brings back may come.
    fn ask(&self, scope: &Scope, gate: &mut PolicyCheck, files: &Files, step: &Step) -> Result<()> {
        let name = step.name();
        match (step, files.lock.skills.get(name), files.manifest.skills().get(name)) {
            (Step::Put { place, digest, .. }, Some(locked), _) => {
                admit(gate, files, name, locked)?;
                let set = self.content(scope, place, name, digest)?;
                gate.skill(name, &set)?;
                ConsentGate::new(self.context, scope, files).admit(name, &set)
            }
            (Step::Edit { .. }, _, Some(entry)) => {
                gate.source(asked(&spec_of(entry)))?;
                match Editable::of(&self.context.settings, scope, entry)? {
                    Some(editable) => gate.directory(name, &editable.directory),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Returns what the files of the scope with `state` ask for, and what an installation would do about where the
    /// skills are.
    fn desired(&self, state: &ScopeState<'_>) -> BTreeMap<SkillName, DesiredSkill> {
        let (settings, scope, files) = (&self.context.settings, state.scope, &state.files);
        let targets = AgentTargets::known(settings, scope, files);
        let mut desired = BTreeMap::new();
        let kept = files.kept();
        let names: Vec<_> = match files.manifest_text {
            Some(_) => {
                let needed = kept.iter().filter(|name| files.is_only_needed(name));
                files.manifest.asked().chain(needed).collect()
            }
            None => files.lock.skills.keys().collect(),
        };
        for name in names {
            let entry = files.manifest.skills().get(name);
            let disabled = entry.is_some_and(|entry| entry.disabled);
            let editable = entry.filter(|entry| entry.editable);
            // The directory of an agent that sees no skill in it can go.
            let editable = editable.map(|entry| match Editable::of(settings, scope, entry) {
                Ok(Some(found)) if disabled => Ok(found),
                _ => editable::find(self.context, scope, name, entry),
            });
            let content = match (&editable, files.lock.skills.get(name)) {
                (Some(Ok(editable)), _) => Some(Content::Editable(editable.clone())),
                (None, Some(locked)) => Some(Content::AsItIs(locked.clone())),
                // There is nothing to lead to, or it was never installed.
                (Some(Err(_)), _) | (None, None) => None,
            };
            let merge = match files.lock.skills.get(name) {
                Some(locked) => merge(scope, name, locked, disabled),
                None => Ok(false),
            };
            let (agents, personal, home) = (Vec::new(), BTreeSet::new(), Ok(Vec::new()));
            let mut wish = DesiredSkill { agents, personal, disabled, editable, merge, home };
            if let Some(content) = content {
                let mut wanted = Wanted { disabled, ..Wanted::new(name.clone(), content, None) };
                targets.assign(&mut wanted);
                wish.agents.clone_from(&wanted.agents);
                wish.personal.clone_from(&wanted.personal);
                let disabled_dir = scope.disabled_skill_dir(name);
                if disabled || wish.editable.is_some() || matches!(fs::kind(&disabled_dir), Ok(Some(_))) {
                    wish.home = self.home(state, wanted);
                }
            } else if wish.editable.is_none() {
                continue;
            }
            desired.insert(name.clone(), wish);
        }
        desired
    }

    /// Returns what an installation would do in the canonical place of `wanted` and among the disabled.
    fn home(&self, state: &ScopeState<'_>, wanted: Wanted) -> Result<Vec<Step>> {
        let goal = Goal { put: vec![wanted], only: Some(BTreeSet::new()), ..Goal::default() };
        let plan = make_plan(self.context, state, &goal)?;
        Ok(plan.steps.into_iter().filter(|step| !matches!(step.place().0, Location::Agent(_))).collect())
    }

    /// Returns the tree with `digest`: of the store, or for a copy the canonical one.
    pub(super) fn content(
        &self,
        scope: &Scope,
        place: &Location,
        name: &SkillName,
        digest: &Digest,
    ) -> Result<FileSet> {
        if matches!(place, Location::Agent(_)) {
            return Ok(scope.index.trees().read(&scope.skill_dir(name))?.files);
        }
        let stored = self.store.as_ref().map(|store| store.get(digest)).transpose()?.flatten();
        stored.ok_or_else(|| Error::io(format!("the tree of `{name}` is no longer in the store")))
    }
}

/// Reports whether an update left conflicts in the skill `name`, wherever it is.
fn merge(scope: &Scope, name: &SkillName, locked: &Locked, disabled: bool) -> Result<bool> {
    let dir = if disabled { scope.disabled_skill_dir(name) } else { scope.skill_dir(name) };
    match fs::kind(&dir) {
        Ok(Some(Kind::Directory)) => has_conflicts(scope, name, locked, &dir),
        // That it is not there is reported on its own.
        _ => Ok(false),
    }
}

/// Returns the step of `remedy` that brings a skill back: from the store, or by a link to the directory of an editable
/// one.
fn bringing(remedy: &Remedy) -> Option<&Step> {
    let Remedy::Steps(steps) = remedy else { return None };
    let brings = |step: &&Step| match step {
        Step::Put { place, .. } => matches!(place, Location::Canonical | Location::Disabled),
        other => matches!(other, Step::Edit { .. }),
    };
    steps.iter().find(brings)
}
