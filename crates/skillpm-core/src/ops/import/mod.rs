//! `import`: what other tools installed becomes skillpm's to keep.
//!
//! Everything that another tool left is collected, tied to the bytes of its source and compared with what is on disk,
//! and written down by one transaction, as an installation is. Copies that nobody edited are brought to the bytes of
//! their source; edited ones, and what cannot be tied to a source, stay as they are and are reported.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Serialize;

use self::claims::Claims;
pub(super) use self::claims::agent_dirs;
use self::classify::{Action, Judge};
use self::dependencies::Brought;
use super::change::Begun;
use super::home;
use crate::advice::{Message, Warning};
use crate::agents::{self, Agent};
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::fs;
use crate::install::plan::{ChangedFiles, Goal, Location, Plan, Step};
use crate::install::scope::{Scope, ScopeKind, exists};
use crate::install::state::{Files, OnDisk, Survey};
use crate::manifest::Agents;
use crate::name::SkillName;

mod adopt;
mod claims;
mod classify;
mod dependencies;

/// A request to adopt skills.
#[derive(Debug, Clone, Default)]
pub struct ImportRequest {
    /// A lockfile of another tool; everything that other tools left in the scope if it is `None`.
    pub file: Option<PathBuf>,
    /// Skills of no known source that become the scope's own, by the names or paths of their directories. Nothing else is
    /// adopted then.
    pub skills: Vec<String>,
    /// The scope; the project if it is `None`.
    pub scope: Option<ScopeKind>,
    /// Plan only.
    pub dry_run: bool,
}

/// The outcome: what was adopted, and what was not. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ImportOutcome {
    /// Where the skills are.
    pub scope: Option<ScopeKind>,
    /// Whether nothing was changed because a plan was asked for.
    pub dry_run: bool,
    /// The files of other tools that were read.
    pub read: Vec<String>,
    /// The skills that were found, sorted by name.
    pub skills: Vec<ImportedSkill>,
    /// What was or would be done on disk, in order.
    pub steps: Vec<Step>,
    /// Which of manifest and lockfile changed or would change.
    #[serde(rename = "files_changed")]
    pub files: ChangedFiles,
    /// The agents that the manifest names now and did not name before.
    pub agents: Vec<String>,
    /// The skills that came along because others need them.
    pub needed: Vec<SkillName>,
    /// What a person should know.
    pub warnings: Vec<Warning>,
}

impl ImportOutcome {
    /// Reports whether something is not as the files of other tools say.
    pub fn has_findings(&self) -> bool {
        let told = |skill: &ImportedSkill| match skill.verdict {
            Verdict::Edited => true,
            // Nobody claimed to know where it comes from.
            Verdict::Left => skill.found_in != FoundIn::Directory,
            Verdict::Adopted | Verdict::Tracked => false,
        };
        self.skills.iter().any(told)
    }
}

/// A skill that was found. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportedSkill {
    /// The name under which it is installed.
    pub name: String,
    /// What became of it.
    pub verdict: Verdict,
    /// What reported it.
    pub found_in: FoundIn,
    /// Where it comes from.
    pub source: Option<String>,
    /// The directory in the source.
    pub path: Option<String>,
    /// The commit.
    pub revision: Option<String>,
    /// The digest that is locked.
    pub digest: Option<String>,
    /// Why, as the end of a sentence.
    pub reason: Message,
}

/// The result for a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is in manifest and lockfile, and is there as in its source.
    Adopted,
    /// It is in manifest and lockfile; what is there was edited, and stays.
    Edited,
    /// It is not in manifest and lockfile, and stays as it is.
    Left,
    /// It was in manifest or lockfile already.
    Tracked,
}

/// The origin of the report about a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoundIn {
    /// `skills-lock.json`.
    SkillsLock,
    /// `.skill-lock.json` of the user.
    GlobalLock,
    /// The frontmatter of the copy, which `gh skill` wrote.
    GhSkill,
    /// Nobody: a directory with a `SKILL.md`.
    Directory,
}

/// The number of times that what is there is read and compared before concurrent changes are reported.
const ATTEMPTS: usize = 3;

/// Adopts what other tools installed.
///
/// Sources are fetched and compared first; only then is the scope locked, and changed in one transaction.
///
/// # Errors
///
/// Fails for a file of another tool or of a policy that cannot be read, a scope that cannot be changed. A skill that
/// cannot be adopted is no error: the outcome says why.
pub fn import(context: &Context, request: &ImportRequest) -> Result<ImportOutcome> {
    // What is adopted is read to the byte.
    let scope = home::to_change(context, request.scope, request.dry_run)?.unindexed();
    if !request.skills.is_empty() {
        return adopt::adopt(context, &scope, request);
    }
    // What is read is what others leave who are at work here.
    if !request.dry_run && fs::kind(&scope.work_dir())?.is_some() {
        drop(Begun::begin(context, &scope, false)?);
    }
    for _ in 1..ATTEMPTS {
        if let Some(outcome) = attempt(context, &scope, request)? {
            return Ok(outcome);
        }
    }
    attempt(context, &scope, request)?.ok_or_else(|| {
        let message = format!("manifest or lockfile of the {} changed while skillpm was running", scope.kind);
        Error::new(ErrorKind::Findings, message).hint("nothing was changed by skillpm: run the command again")
    })
}

/// Works like [`import`], of all that other tools installed in `scope`. `None` if manifest or lockfile changed before
/// the scope was locked: nothing was done then.
fn attempt(context: &Context, scope: &Scope, request: &ImportRequest) -> Result<Option<ImportOutcome>> {
    let files = Files::read(scope)?;
    let everyone = everyone(context, scope, &files);
    let Claims { claims, read } = claims::collect(context, scope, &files, &everyone, request)?;
    let names: Vec<SkillName> = claims.iter().filter_map(claims::Claim::install_name).collect();
    let survey = Survey::take(&context.settings, scope, &names.iter().collect::<Vec<_>>(), &everyone)?;
    let mut judge = Judge::new(context, scope, &files, &survey, &everyone)?;
    let mut judged: Vec<_> = claims.iter().map(|claim| judge.classify(claim)).collect();
    let (came, mut warnings) = judge.into_parts();
    let mut brought = Brought::find(context, scope, &files, &everyone, came)?;
    warnings.append(&mut brought.warnings);
    let along = std::mem::take(&mut brought.skills);
    let needed: Vec<_> = along.iter().map(|(wanted, _)| wanted.name.clone()).collect();
    let audience = FoundTargets::of(&files, &survey, &everyone, &judged);
    for (skill, action) in &mut judged {
        audience.make_room(&survey, skill, action);
    }
    let mut goal = Goal {
        manifest_agents: Some(audience.manifest).filter(|agents| agents != files.manifest.agents()),
        copy: audience.copy,
        ..Goal::default()
    };
    let adopted = judged.iter().filter_map(|(_, action)| action.name());
    let there = adopted.chain(files.lock.skills.keys()).chain(files.manifest.skills().keys()).chain(&needed);
    let there: BTreeSet<SkillName> = there.cloned().collect();
    let settled = |mut wanted| {
        brought.write(&mut wanted, &there);
        wanted.agents.clone_from(&audience.agents);
        wanted
    };
    let mut contents = BTreeMap::new();
    let mut skills = Vec::new();
    for (skill, action) in judged {
        skills.push(skill);
        match action {
            Action::Nothing => {}
            Action::Record(wanted) => goal.record.push(settled(wanted)),
            Action::Put { wanted, set, known } => {
                contents.insert(wanted.name.clone(), set);
                goal.known.insert(wanted.name.clone(), known);
                goal.put.push(settled(wanted));
            }
        }
    }
    for (wanted, set) in along {
        contents.insert(wanted.name.clone(), set);
        goal.put.push(settled(wanted));
    }
    skills.sort_by(|a, b| a.name.cmp(&b.name));
    let mut plan = Plan::default();
    if !goal.put.is_empty() || !goal.record.is_empty() {
        let begun = Begun::begin(context, scope, request.dry_run)?;
        let now = begun.files();
        if files.lock_text != now.lock_text || files.manifest_text != now.manifest_text {
            return Ok(None);
        }
        let applied = begun.plan(goal)?.apply(contents)?;
        warnings.extend(applied.saved);
        plan = applied.plan;
    }
    let before = files.manifest.agents().targets.clone().unwrap_or_default();
    let manifest = plan.manifest.as_ref();
    let now = manifest.and_then(|manifest| manifest.agents().targets.clone()).unwrap_or_default();
    Ok(Some(ImportOutcome {
        skills,
        read,
        files: plan.files(),
        steps: plan.steps,
        agents: now.into_iter().filter(|agent| !before.contains(agent)).collect(),
        needed,
        dry_run: request.dry_run,
        scope: Some(scope.kind),
        warnings,
    }))
}

/// Returns what reported the skills that are in `scope` and that skillpm did not install, by the names of their
/// directories. What cannot be read says nothing.
pub(super) fn found_in(context: &Context, scope: &Scope, files: &Files) -> BTreeMap<String, FoundIn> {
    let everyone = everyone(context, scope, files);
    let found = claims::collect(context, scope, files, &everyone, &ImportRequest::default());
    let claims = found.map(|found| found.claims).unwrap_or_default();
    claims.into_iter().map(|claim| (claim.directory, claim.found_in)).collect()
}

/// Returns all agents. Of those that share a directory, the ones that the manifest names and those that are here come
/// first, because what is in it is reported about the first.
fn everyone(context: &Context, scope: &Scope, files: &Files) -> Vec<&'static Agent> {
    let named: Vec<&str> = named(files).map(|agent| agent.id).collect();
    let mut everyone: Vec<_> = agents::all().iter().collect();
    everyone.sort_by_key(|agent| {
        (!named.contains(&agent.id), !agent.detected(&context.settings, &scope.root, &exists))
    });
    everyone
}

fn named(files: &Files) -> impl Iterator<Item = &'static Agent> {
    files.manifest.agents().targets.iter().flatten().filter_map(|target| agents::find(target).ok())
}

/// Returns what is at the places of the skill `name` in the directories of agents. Of those that share one, the first
/// of `everyone` is reported.
fn in_directories<'a>(
    survey: &'a Survey,
    everyone: &[&'static Agent],
    name: &SkillName,
) -> Vec<(&'static Agent, &'a OnDisk)> {
    let mut seen = BTreeSet::new();
    let first = everyone.iter().filter(|agent| survey.dirs.get(agent.id).is_some_and(|dir| seen.insert(dir)));
    first.filter_map(|agent| Some((*agent, survey.at(agent.id, name)?))).collect()
}

/// The agents that see the skills that are adopted.
struct FoundTargets {
    agents: Vec<&'static Agent>,
    manifest: Agents,
    copy: bool,
}

impl FoundTargets {
    /// Returns the agents that have a link to an adopted skill or a copy of it, and those that the manifest names.
    /// Nobody is added: who saw none of the skills sees none of them afterwards.
    fn of(
        files: &Files,
        survey: &Survey,
        everyone: &[&'static Agent],
        judged: &[(ImportedSkill, Action)],
    ) -> Self {
        let mut agents: Vec<&'static Agent> = named(files).collect();
        let (mut links, mut copies) = (false, false);
        for (agent, found) in judged
            .iter()
            .filter_map(|(_, action)| action.name())
            .flat_map(|name| in_directories(survey, everyone, name))
        {
            links |= *found == OnDisk::OurLink;
            copies |= matches!(found, OnDisk::Tree(_));
            let sees = matches!(found, OnDisk::OurLink | OnDisk::Tree(_));
            if sees && agents.iter().all(|other| other.id != agent.id) {
                agents.push(agent);
            }
        }
        let manifest = files.manifest.agents();
        let old: Vec<&str> = named(files).map(|agent| agent.id).collect();
        let new = agents.iter().map(|agent| agent.id).filter(|id| !old.contains(id));
        let new: Vec<String> = new.map(ToOwned::to_owned).collect();
        let mut targets = manifest.targets.clone();
        if !new.is_empty() {
            targets.get_or_insert_default().extend(new);
        }
        // If skillpm keeps links already, it goes on to do so.
        let copy = manifest.copy || (copies && !links && files.lock.skills.is_empty());
        Self { agents, manifest: Agents { targets, copy, ..manifest.clone() }, copy }
    }

    /// Takes back the adoption of a skill where an agent has something else in its place: only the
    /// entries are written then.
    fn make_room(&self, survey: &Survey, skill: &mut ImportedSkill, action: &mut Action) {
        let Action::Put { wanted, .. } = action else { return };
        let in_the_way = self.agents.iter().find(|agent| {
            let served = survey.served.contains(agent.id);
            let found = survey.at(agent.id, &wanted.name);
            let own = || survey.has_repository(&Location::Agent(agent.id.to_owned()), &wanted.name);
            // A copy that is to be one is left as it is.
            let stays = || match (found, wanted.content.locked()) {
                (Some(OnDisk::Tree(Some(tree))), Some(locked)) => self.copy && *tree == locked.digest,
                _ => false,
            };
            !served && (matches!(found, Some(OnDisk::OtherLink(_) | OnDisk::Other)) || own() && !stays())
        });
        if let Some(agent) = in_the_way {
            skill.verdict = Verdict::Edited;
            let why = format!(
                "something else is in its place in the directory of {}, and was left as is",
                agent.id
            );
            skill.reason = why.into();
            *action = Action::Record(wanted.clone());
        }
    }
}
