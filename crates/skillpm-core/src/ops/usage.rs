//! `usage`: which skills were used on this machine, when, how often, by which agent, and which never.
//!
//! It reads what agents themselves recorded ([`crate::agents::sessions`]) and the audit log, when it is asked to. Nothing
//! is stored, and nothing but names, times, directories and numbers is told.

mod audit_log;
mod outcome;
mod whereabouts;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub use self::outcome::{AgentUsage, ProjectUsage, RecordsOf, SkillUsage, UsageOutcome, UsageState};
use self::whereabouts::Whereabouts;
use super::list::{ListRequest, ListedSkill, list};
use crate::agents::sessions::{AGENTS, Caller, SessionUse, Sessions, Wanted, not_read, sessions};
use crate::agents::{self, Agent};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs::{self, Moment};
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;
use crate::text::{past_time, timestamp};

/// A request for the uses of skills.
#[derive(Debug, Clone, Default)]
pub struct UsageRequest {
    /// The agents, by id or alias. If empty, all whose sessions can be read, and the audit log.
    pub agents: Vec<String>,
    /// Only sessions in this directory or below; relative to the working directory.
    pub project: Option<PathBuf>,
    /// Only what happened since: a date, a time, or `30d`, `12h`, `2w` ago.
    pub since: Option<String>,
    /// Only skills that are installed in this scope; all if it is `None`.
    pub scope: Option<ScopeKind>,
}

/// Returns what the records of agents on this machine, and the audit log, tell of the use of skills.
///
/// # Errors
///
/// Fails for an unknown agent or one whose sessions cannot be read, for a time that cannot be read, and if the scope
/// or the audit log cannot be read.
pub fn usage(context: &Context, request: &UsageRequest) -> Result<UsageOutcome> {
    let settings = &context.settings;
    let since = request.since.as_deref().map(time_of).transpose()?;
    let project = request.project.as_deref().map(|dir| directory(settings, dir)).transpose()?;
    let wanted = Wanted { since, project: project.as_deref() };
    let installed = list(context, &ListRequest { scope: request.scope, ..ListRequest::default() })?;
    let mut whereabouts = Whereabouts::new(settings, &installed.skills);
    let mut tally = Tally::default();
    for agent in asked(&request.agents)? {
        let here = whereabouts.here(agent);
        let is_skill = |name: &str| here.contains(name);
        if let Some(found) = sessions(agent, settings, wanted, &is_skill) {
            tally.add(agent.id, agent.name, found);
        }
    }
    if request.agents.is_empty() {
        tally.add(audit_log::ID, audit_log::NAME, audit_log::read(settings, wanted)?);
    }
    for skill in installed.skills.iter().filter(|skill| !skill.disabled) {
        tally.install(skill);
    }
    let mut skills: Vec<SkillUsage> = Vec::new();
    for (name, row) in std::mem::take(&mut tally.rows) {
        if request.scope.is_none() || !row.installed.is_empty() {
            skills.push(row.finish(name, &tally.records, &mut whereabouts));
        }
    }
    skills
        .sort_by(|one, other| (one.state, other.uses, &one.name).cmp(&(other.state, one.uses, &other.name)));
    Ok(UsageOutcome {
        since: since.map(text_of),
        project: project.map(fs::into_text),
        agents: tally.records,
        skills,
        warnings: installed.warnings,
    })
}

/// Returns the agents that are asked for.
fn asked(names: &[String]) -> Result<Vec<&'static Agent>> {
    if names.is_empty() {
        return AGENTS.iter().map(|id| Ok(agents::find(id)?)).collect();
    }
    let mut asked: Vec<&Agent> = Vec::new();
    for name in names {
        let agent = agents::find(name)?;
        if !AGENTS.contains(&agent.id) {
            return Err(not_read(agent));
        }
        if !asked.contains(&agent) {
            asked.push(agent);
        }
    }
    Ok(asked)
}

fn time_of(text: &str) -> Result<i64> {
    past_time(text, Moment::now().seconds.saturating_mul(1000)).ok_or_else(|| {
        Error::usage(format!("`{text}` is not a time"))
            .hint("write a date such as `2026-11-01`, or how long ago it was: `30d`, `12h`, `2w`")
    })
}

/// Returns a time in the format of RFC 3339.
fn text_of(time: i64) -> String {
    timestamp(time.div_euclid(1000), u32::try_from(time.rem_euclid(1000)).unwrap_or_default())
}

/// Returns a directory as agents record it: absolute, without links.
fn directory(settings: &Settings, dir: &Path) -> Result<PathBuf> {
    let dir = settings.cwd.join(dir);
    Ok(fs::real_path(&dir)?.unwrap_or(dir))
}

/// What is counted.
#[derive(Debug, Default)]
struct Tally {
    records: Vec<RecordsOf>,
    rows: BTreeMap<String, TallyRow>,
}

/// What is counted of one skill.
#[derive(Debug, Default)]
struct TallyRow {
    /// Each use and attempt, with the agent.
    uses: Vec<(&'static str, SessionUse)>,
    /// The number of sessions in which it was listed, by agent.
    listed: BTreeMap<&'static str, usize>,
    /// The scopes in which it is installed.
    installed: BTreeSet<ScopeKind>,
    /// The agents that see it.
    seen_by: BTreeSet<String>,
}

impl Tally {
    fn add(&mut self, id: &'static str, name: &'static str, found: Sessions) {
        let uses = found.uses.iter().filter(|used| used.is_ok).count();
        let first = found.first.map(text_of);
        self.records.push(RecordsOf {
            id,
            name,
            sessions: found.count,
            uses,
            first,
            left_out: found.left_out,
        });
        for used in found.uses {
            self.rows.entry(used.skill.clone()).or_default().uses.push((id, used));
        }
        for (name, sessions) in found.listed {
            self.rows.entry(name).or_default().listed.insert(id, sessions);
        }
    }

    fn install(&mut self, skill: &ListedSkill) {
        let row = self.rows.entry(skill.name.clone()).or_default();
        row.installed.insert(skill.scope);
        row.seen_by.extend(skill.seen_by.iter().cloned());
    }
}

impl TallyRow {
    fn finish(self, name: String, records: &[RecordsOf], whereabouts: &mut Whereabouts<'_>) -> SkillUsage {
        let found = whereabouts.find(&name, &self.uses, &self.listed);
        let has_sessions = |id: &str| records.iter().any(|agent| agent.id == id && agent.sessions > 0);
        let state = if !self.uses.is_empty() {
            if found == Some(false) { UsageState::Missing } else { UsageState::Used }
        } else if !self.listed.is_empty() {
            UsageState::NeverPicked
        } else if self.seen_by.iter().any(|id| has_sessions(id)) {
            UsageState::NeverUsed
        } else {
            UsageState::Unknown
        };
        let mut agents: BTreeMap<&'static str, AgentUsage> = BTreeMap::new();
        let mut projects: BTreeMap<&Path, ProjectUsage> = BTreeMap::new();
        for (id, used) in &self.uses {
            agents.entry(id).or_insert_with(|| AgentUsage::new(id)).note(used);
            if let Some(project) = &used.project {
                projects.entry(project).or_insert_with(|| ProjectUsage::new(project)).note(used);
            }
        }
        for (id, sessions) in self.listed {
            agents.entry(id).or_insert_with(|| AgentUsage::new(id)).listed = sessions;
        }
        let loaded = || self.uses.iter().map(|(_, used)| used).filter(|used| used.is_ok);
        let by = |caller| loaded().filter(|used| used.by == caller).count();
        SkillUsage {
            name,
            state,
            uses: loaded().count(),
            failed: self.uses.len() - loaded().count(),
            by_model: by(Caller::Model),
            by_person: by(Caller::Person),
            first: loaded().filter_map(|used| used.time).min().map(text_of),
            last: loaded().filter_map(|used| used.time).max().map(text_of),
            listed: agents.values().map(|agent| agent.listed).sum(),
            agents: agents.into_values().collect(),
            projects: projects.into_values().collect(),
            installed: self.installed.into_iter().collect(),
            found,
        }
    }
}
