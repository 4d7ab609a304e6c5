//! `doctor`: what is broken, and what of it can be repaired without losing anything.

mod machine;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::change::make_plan;
use super::fetcher::{admit, asked, spec_of};
use super::install::agent_targets::AgentTargets;
use super::install::editable;
use super::policy_check::{PolicyCheck, admission_of};
use super::update::has_conflicts;
use crate::advice::{Message, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs::{self, Kind};
use crate::install::editable::Editable;
use crate::install::health::problem::{self, Severity};
use crate::install::health::{DesiredSkill, Finding, Inspection, Remedy, check};
use crate::install::plan::{Content, Goal, Location, Plan, Step, Wanted};
use crate::install::scope::{Scope, ScopeKind, Scopes};
use crate::install::state::{Files, read_manifest};
use crate::install::transaction::Transaction;
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::settings::{Policies, Settings};
use crate::store::{self, Note, Store, Why, downloads};
use crate::tree::FileSet;

/// A request to examine scopes.
#[derive(Debug, Clone, Default)]
pub struct DoctorRequest {
    /// Only this scope; both, the store and the downloads if it is `None`.
    pub scope: Option<ScopeKind>,
    /// Repair what can be repaired without losing anything.
    pub fix: bool,
    /// Show what would be repaired.
    pub dry_run: bool,
}

/// The findings. The JSON form of a value of this type is an interface: fields are only added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DoctorOutcome {
    /// What is wrong or worth knowing: project, user, then the store and the downloads.
    pub findings: Vec<Diagnosis>,
    /// Whether nothing was repaired because it was only to be shown.
    pub dry_run: bool,
    /// What a person should know about what was done.
    #[serde(skip)]
    pub kept: Vec<Message>,
}

/// Something that is wrong, or worth knowing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// What it is: `link-missing`.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where; `None` for the store and the downloads.
    pub scope: Option<ScopeKind>,
    /// The skill that it is about.
    pub skill: Option<String>,
    /// The agent that it is about.
    pub agent: Option<&'static str>,
    /// Where it is.
    pub path: String,
    /// What is wrong.
    pub message: Message,
    /// What `--fix` does about it.
    pub fix: Option<String>,
    /// What a person can do about it.
    pub advice: Option<Message>,
    /// Whether it was repaired.
    pub fixed: bool,
    /// Why it could not be.
    pub failure: Option<Message>,
}

impl DoctorOutcome {
    /// Returns what is still wrong: notes are not, and neither is what was repaired.
    pub fn wrong(&self) -> impl Iterator<Item = &Diagnosis> {
        self.findings.iter().filter(|finding| finding.severity > Severity::Note && !finding.fixed)
    }
}

/// Looks for what is broken, and repairs it where that was asked for and is safe.
///
/// # Errors
///
/// Fails if a scope that was asked for is not there. What is wrong is no error: it is in the outcome.
pub fn doctor(context: &Context, request: &DoctorRequest) -> Result<DoctorOutcome> {
    let mut scopes = Scopes::new(&context.settings, request.scope)?;
    scopes.settle_twins(&context.settings)?;
    let doctor = Doctor { context, store: Store::new(&context.settings).ok(), scopes: scopes.there };
    let whole = request.scope.is_none();
    let before = doctor.look(whole);
    let mut repairs = Repairs::default();
    if request.fix && !request.dry_run {
        for scope in &doctor.scopes {
            let here = before.iter().filter(|finding| finding.scope == Some(scope.kind));
            if here.clone().any(|finding| finding.remedy.is_safe()) {
                doctor.repair(scope, &mut repairs);
            }
        }
        for finding in before.iter().filter(|finding| finding.scope.is_none()) {
            if let Err(error) = doctor.clear(finding) {
                repairs.failed(finding, &error);
            }
        }
    }
    let mut findings: Vec<_> = before.iter().map(diagnosis).collect();
    if request.fix && !request.dry_run {
        // What counts is what is there now, not what was tried.
        let after = doctor.look(whole);
        let still: BTreeSet<_> = after.iter().map(key).collect();
        for (finding, diagnosis) in before.iter().zip(&mut findings) {
            diagnosis.fixed = !still.contains(&key(finding));
            diagnosis.failure = repairs.failures.get(&key(finding)).cloned().filter(|_| !diagnosis.fixed);
        }
        let known: BTreeSet<_> = before.iter().map(key).collect();
        findings.extend(after.iter().filter(|finding| !known.contains(&key(finding))).map(diagnosis));
    }
    Ok(DoctorOutcome { findings, dry_run: request.dry_run, kept: repairs.kept })
}

/// The key under which findings of two scopes are the same.
type FindingKey = (&'static str, PathBuf, Option<&'static str>);

/// The key under which two findings are the same.
type Key = (FindingKey, Option<ScopeKind>);

fn place_of(finding: &Finding) -> FindingKey {
    (finding.id, finding.path.clone(), finding.agent)
}

fn key(finding: &Finding) -> Key {
    (place_of(finding), finding.scope)
}

/// The outcome of the repairs.
#[derive(Debug, Default)]
struct Repairs {
    failures: BTreeMap<Key, Message>,
    kept: Vec<Message>,
}

impl Repairs {
    fn failed(&mut self, finding: &Finding, error: &Error) {
        let hint = error.hints().first().map(|hint| message!("; ", hint));
        self.failures.insert(key(finding), message!(told(error), hint));
    }
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

/// Returns `error` in one line, with its cause.
fn told(error: &Error) -> Message {
    Message::joined([error.message().clone()].into_iter().chain(error.causes().take(1)), ": ")
}

struct Doctor<'a> {
    context: &'a Context,
    store: Option<Store>,
    scopes: Vec<Scope>,
}

impl Doctor<'_> {
    fn look(&self, whole: bool) -> Vec<Finding> {
        let mut found: Vec<Finding> = Vec::new();
        for scope in &self.scopes {
            let here = self.check(scope);
            // In the home directory both scopes have the same directories: what is wrong with one of them is told
            // once, as the user's.
            let told: BTreeSet<_> = here.iter().filter(|f| f.skill.is_none()).map(place_of).collect();
            found.retain(|f| f.skill.is_some() || !told.contains(&place_of(f)));
            found.extend(here);
        }
        if whole {
            found.extend(machine::look(self.store.as_ref(), self.context.settings.dirs.cache.as_deref()));
        }
        found
    }

    fn check(&self, scope: &Scope) -> Vec<Finding> {
        let wishes = |files: &Files| self.wishes(scope, files);
        let look = Inspection::take(&self.context.settings, scope, self.store.as_ref(), &wishes);
        let mut found = check(&look);
        self.leave_others(&look, &mut found);
        self.admit(scope, &mut found);
        found
    }

    /// Leaves out what is found of skills that do not belong to this scope. In the home directory both scopes have the
    /// same directories: what the files of the other one know is neither left over nor a stranger's here, and what
    /// neither knows is the user's.
    fn leave_others(&self, look: &Inspection, found: &mut Vec<Finding>) {
        let Ok(Some(twin)) = look.scope.other_scope(&self.context.settings) else { return };
        let is_told_by_twin = look.scope.kind == ScopeKind::Project && self.scopes.len() > 1;
        // What is in files that cannot be read may be any skill.
        let files = Files::read(&twin).ok();
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
    ///
    /// # Errors
    ///
    /// Fails for a policy that refuses the source or what is in the skill, or for files that cannot be read.
    fn ask(&self, scope: &Scope, gate: &mut PolicyCheck, files: &Files, step: &Step) -> Result<()> {
        let name = step.name();
        match (step, files.lock.skills.get(name), files.manifest.skills().get(name)) {
            (Step::Put { place, digest, .. }, Some(locked), _) => {
                admit(gate, files, name, locked)?;
                gate.skill(name, &self.content(scope, place, name, digest)?)
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

    /// Returns what `files` ask for, and what an installation would do about where the skills are.
    fn wishes(&self, scope: &Scope, files: &Files) -> BTreeMap<SkillName, DesiredSkill> {
        let settings = &self.context.settings;
        let audience = AgentTargets::known(settings, scope, files);
        let mut wishes = BTreeMap::new();
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
            // Nobody needs the directory of what nobody sees.
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
            let mut wish =
                DesiredSkill { agents: Vec::new(), disabled, editable, merge, home: Ok(Vec::new()) };
            if let Some(content) = content {
                let mut wanted = Wanted { disabled, ..Wanted::new(name.clone(), content, None) };
                audience.assign(&mut wanted);
                wish.agents.clone_from(&wanted.agents);
                let aside = scope.disabled_skill_dir(name);
                if disabled || wish.editable.is_some() || matches!(fs::kind(&aside), Ok(Some(_))) {
                    wish.home = self.home(scope, files, wanted);
                }
            } else if wish.editable.is_none() {
                continue;
            }
            wishes.insert(name.clone(), wish);
        }
        wishes
    }

    /// Returns what an installation would do in the canonical place of `wanted` and among the disabled.
    fn home(&self, scope: &Scope, files: &Files, wanted: Wanted) -> Result<Vec<Step>> {
        let goal = Goal { put: vec![wanted], only: Some(BTreeSet::new()), ..Goal::default() };
        let plan = make_plan(self.context, scope, &goal, files)?;
        Ok(plan.steps.into_iter().filter(|step| !matches!(step.place().0, Location::Agent(_))).collect())
    }

    /// Repairs what can be repaired in `scope`, which no other process changes meanwhile.
    fn repair(&self, scope: &Scope, repairs: &mut Repairs) {
        let begun = Transaction::begin(scope, &self.context.settings, &*self.context.reporter);
        let transaction = match begun {
            Ok(transaction) => transaction,
            Err(error) => {
                let found = self.check(scope);
                return found.iter().filter(|f| f.remedy.is_safe()).for_each(|f| repairs.failed(f, &error));
            }
        };
        // What was begun is finished now. The rest is examined again: nobody can change it any more, and what is
        // remembered is not enough for what changes something.
        let found = self.check(&scope.unindexed());
        let broken: Vec<_> = found.iter().filter(|f| matches!(f.remedy, Remedy::Steps(_))).collect();
        // All at once where that goes, which is faster; else one by one, so that one stops no other.
        if self.apply(scope, &transaction, &broken).is_err() {
            for finding in broken {
                if let Err(error) = self.apply(scope, &transaction, &[finding]) {
                    repairs.failed(finding, &error);
                }
            }
        }
        for finding in found.iter().filter(|finding| finding.remedy == Remedy::Sweep) {
            match self.sweep(&finding.path) {
                Ok(kept) => repairs.kept.extend(kept.map(Message::from)),
                Err(error) => repairs.failed(finding, &error),
            }
        }
    }

    fn apply(&self, scope: &Scope, transaction: &Transaction<'_>, findings: &[&Finding]) -> Result<()> {
        let mut plan = Plan::default();
        let mut contents = BTreeMap::new();
        for finding in findings {
            let Remedy::Steps(steps) = &finding.remedy else { continue };
            for step in steps {
                if let Step::Put { place, name, digest, .. } = step {
                    contents.insert(name.clone(), self.content(scope, place, name, digest)?);
                }
                plan.steps.push(step.clone());
            }
        }
        // Both files stay as they are. The manifest says where links to editable skills lead.
        let manifest = read_manifest(scope).map(|(manifest, _)| manifest).unwrap_or_default();
        transaction.apply(&plan, &Files { manifest, ..Files::default() }, &contents)
    }

    /// Returns the tree with `digest`: of the store, or for a copy the canonical one.
    fn content(
        &self,
        scope: &Scope,
        place: &Location,
        name: &SkillName,
        digest: &crate::digest::Digest,
    ) -> Result<FileSet> {
        if matches!(place, Location::Agent(_)) {
            return Ok(scope.index.trees().read(&scope.skill_dir(name))?.files);
        }
        let stored = self.store.as_ref().map(|store| store.get(digest)).transpose()?.flatten();
        stored.ok_or_else(|| Error::io(format!("the tree of `{name}` is no longer in the store")))
    }

    /// Removes what a killed run left at `path`, a directory of agents or skills. What the store does not have is put
    /// there first; returns what to report about that.
    fn sweep(&self, path: &Path) -> Result<Option<String>> {
        let mut told = None;
        if fs::kind(path)? == Some(Kind::Directory) {
            let set = store::read(path)?;
            let store =
                self.store.as_ref().ok_or_else(|| Error::config("there is no store to keep it in"))?;
            if !store.is_whole(&set.digest()?) {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let note = Note::new(&name, Why::LeftOver, path.to_owned());
                let kept = store.keep(&set, Some(note))?;
                told = Some(format!(
                    "the former content of `{}` was saved in `{}`",
                    path.display(),
                    kept.display()
                ));
            }
        }
        fs::remove_tree(path)?;
        Ok(told)
    }

    /// Removes what is wrong in the store or among the downloads.
    fn clear(&self, finding: &Finding) -> Result<()> {
        let wait = |dir: &Path| self.context.reporter.waiting_for_lock(dir);
        match (&finding.remedy, &self.store, &self.context.settings.dirs.cache) {
            (Remedy::Discard(digest), Some(store), _) => {
                let lock = store.lock(|| wait(store.root()))?;
                // Somebody may have put a whole one there in the meantime.
                match lock.filter(|_| !store.is_whole(digest)) {
                    Some(lock) => lock.take(digest),
                    None => Ok(()),
                }
            }
            (Remedy::Clear, Some(store), _) if finding.path.starts_with(store.root()) => {
                let _alone = store.lock(|| wait(store.root()))?;
                Ok(fs::remove_tree(&finding.path)?)
            }
            (Remedy::Clear, _, Some(cache)) => downloads::take(cache, &finding.path).map(drop),
            _ => Ok(()),
        }
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

fn diagnosis(finding: &Finding) -> Diagnosis {
    let advice = match &finding.remedy {
        Remedy::Advice(advice) => Some(advice.clone()),
        _ => None,
    };
    Diagnosis {
        id: finding.id,
        severity: finding.severity,
        scope: finding.scope,
        skill: finding.skill.clone(),
        agent: finding.agent,
        path: finding.path.display().to_string(),
        message: finding.message.clone(),
        fix: fix(finding),
        advice,
        fixed: false,
        failure: None,
    }
}

/// Returns what `--fix` does, in words.
fn fix(finding: &Finding) -> Option<String> {
    Some(match &finding.remedy {
        Remedy::None | Remedy::Advice(_) => return None,
        Remedy::Finish => "finish it".to_owned(),
        Remedy::Sweep => "remove it; the store keeps what it does not have yet".to_owned(),
        Remedy::Discard(_) => "delete it; it is fetched again when needed".to_owned(),
        Remedy::Clear => "remove it".to_owned(),
        Remedy::Steps(steps) => match &steps[..] {
            [Step::Remove { .. }, Step::Link { .. }] => "put a link in its place".to_owned(),
            [Step::Remove { .. }] => "remove it: the installed skill has the same files".to_owned(),
            [Step::Disable { .. }, ..] => "move it to the disabled skills, edits and all".to_owned(),
            [Step::Enable { .. }, ..] => "move it back, edits and all".to_owned(),
            [.., Step::Edit { .. }] => "link it to its directory".to_owned(),
            [Step::Remove { .. }, ..] => "remove it: it is what is locked".to_owned(),
            [Step::Unlink { .. }, ..] => "remove the link".to_owned(),
            [Step::Link { .. }, ..] if finding.id == problem::LINK_MISSING.id => "make the link".to_owned(),
            [Step::Link { .. }, ..] => "put a link to the installed skill in its place".to_owned(),
            [Step::Put { place: Location::Canonical | Location::Disabled, .. }, ..] => {
                "restore it from the store".to_owned()
            }
            _ => "make the copy".to_owned(),
        },
    })
}
