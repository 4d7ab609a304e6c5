//! `why`: explains why a skill is installed, and which agents see it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::agents::{AgentView, AgentsRequest, ListedState, ListedView, agents};
use super::list::{ListedSkill, SkillState};
use super::tree::{TreeOutcome, TreeSkill, survey};
use crate::advice::{Verb, Warning};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs;
use crate::manifest::Manifest;
use crate::name::SkillName;
use crate::path::normal;
use crate::scope::agent_view::{Form, Role};
use crate::scope::not_installed::unknown;
use crate::scope::state::read_manifest;
use crate::scope::{Roots, Scope, Scopes};
use crate::scope_kind::ScopeKind;
use crate::text::closest;

/// A request to explain why a skill is installed.
#[derive(Debug, Clone, Default)]
pub struct WhyRequest {
    /// The name under which it is installed.
    pub name: String,
    /// The scope; `None` means both.
    pub scope: Option<ScopeKind>,
}

/// The explanation for a name. The JSON form of this and the other values here is an interface: fields are
/// only added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WhyOutcome {
    /// The requested name.
    pub name: String,
    /// The skills of this name that skillpm installed, project before user.
    pub installed: Vec<WhySkill>,
    /// Other skills of this name, project before user.
    pub elsewhere: Vec<Elsewhere>,
    /// The most similar name of a skill, if nothing with this name is installed.
    pub closest: Option<String>,
    /// The requested scope.
    #[serde(skip)]
    pub scope: Option<ScopeKind>,
    /// Warnings about what could not be examined.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
    /// The project and the user's home, for shorter paths.
    #[serde(skip)]
    pub roots: Roots,
}

/// An installed skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WhySkill {
    /// The entry of `list`.
    #[serde(flatten)]
    pub skill: ListedSkill,
    /// The manifest line that requests it.
    pub asked: Option<RequestedIn>,
    /// The skills that need it.
    pub needed_by: Vec<String>,
    /// The agents that see it, by place.
    pub seen: Vec<SeenBy>,
    /// The agents in use whose models do not get to see it whole.
    pub listed: Vec<ListedBy>,
    /// Another skill of this name that agents use instead.
    pub shadowed_by: Option<String>,
    /// Others of this name that agents do not use because of it.
    pub shadows: Vec<String>,
}

/// How an agent lists a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedBy {
    /// The agent's id.
    pub agent: &'static str,
    /// How much of the skill its model gets to see.
    #[serde(flatten)]
    pub skill: ListedView,
}

/// A line of a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RequestedIn {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The text of the line.
    pub text: Option<String>,
}

/// Agents that see a skill in one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SeenBy {
    /// Their ids.
    pub agents: Vec<&'static str>,
    /// The place.
    pub path: String,
    /// The form of the skill there.
    pub form: Form,
}

/// Another skill with the name: skillpm did not install it, or installed it in the other scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Elsewhere {
    /// The scope in whose directories it is.
    pub scope: ScopeKind,
    /// The path.
    pub path: String,
    /// The form.
    pub form: Form,
    /// The target of its link.
    pub target: Option<String>,
    /// The agents that see it.
    pub agents: Vec<&'static str>,
    /// Whether skillpm installed it.
    pub installed: bool,
}

/// Explains why the skill of this name is installed, where it came from and which agents see it.
///
/// # Errors
///
/// Fails for a manifest or lockfile that cannot be read, and for an unknown name. A skill of this name that
/// is only elsewhere is not an error: the outcome says where.
pub fn why(context: &Context, request: &WhyRequest) -> Result<WhyOutcome> {
    let name = SkillName::new(&request.name).map_or_else(|_| request.name.clone(), String::from);
    let tree = survey(context, None)?;
    // In the home directory the directories of both scopes are the same.
    let twins = Scopes::new(&context.settings, None)?.are_twins(&context.settings)?;
    let is_one = |one: ScopeKind, other: ScopeKind| twins || one == other;
    // All agents: the user may be looking for a skill that no agent of this machine reads.
    let mut all = agents(context, &AgentsRequest { all: true, ..AgentsRequest::default() })?;
    let wanted = |kind: ScopeKind| request.scope.is_none_or(|only| only == kind);
    let mut places = Places::new();
    for agent in &all.agents {
        let is_here = agent.detected || !agent.chosen.is_empty();
        for dir in &agent.directories {
            for skill in dir.skills.iter().filter(|skill| skill.name == name) {
                let path = Path::new(&dir.path).join(&name);
                let place = places.entry((dir.scope, path.display().to_string())).or_insert_with(|| SeenIn {
                    form: skill.form,
                    target: skill.target.clone(),
                    leads: skill.target.as_ref().map(|target| normal(&Path::new(&dir.path).join(target))),
                    owners: Vec::new(),
                    agents: Vec::new(),
                });
                if dir.role == Role::Own {
                    place.owners.push(agent.id);
                }
                if is_here && dir.role != Role::Other && skill.form != Form::Broken {
                    place.agents.push(agent.id);
                }
            }
        }
    }
    let mut outcome = WhyOutcome {
        name,
        scope: request.scope,
        warnings: std::mem::take(&mut all.warnings),
        roots: std::mem::take(&mut all.roots),
        ..WhyOutcome::default()
    };
    let is_installed =
        |one: &&TreeSkill| one.skill.name == outcome.name && one.skill.state != SkillState::Untracked;
    let installed: Vec<&TreeSkill> = tree.skills.iter().filter(is_installed).collect();
    for one in installed.iter().filter(|one| wanted(one.skill.scope)) {
        let other = installed.iter().find(|other| other.skill.scope != one.skill.scope);
        // In the home directory it is one place of both.
        let other = other.filter(|other| other.skill.location != one.skill.location);
        let other = other.map(|other| other.skill.location.clone());
        // The project comes before the user.
        let (shadowed_by, shadows) = match one.skill.scope {
            ScopeKind::Project => (None, other.into_iter().collect()),
            ScopeKind::User => (other, Vec::new()),
        };
        outcome.installed.push(WhySkill {
            asked: asked(context, one)?,
            needed_by: one.needed_by.clone(),
            seen: seen(one, &places, &is_one),
            listed: listed(one, &all.agents),
            shadowed_by,
            shadows,
            skill: one.skill.clone(),
        });
    }
    outcome.elsewhere = elsewhere(&places, &installed, &outcome.installed, &is_one);
    if outcome.installed.is_empty() {
        outcome.closest = likely(&outcome.name, &tree);
    }
    outcome.warnings.extend(tree.warnings);
    // The page itself says who takes which copy.
    outcome.warnings.retain(|warning| warning.code != codes::USER_COPY_WINS);
    outcome.warnings.dedup();
    if outcome.installed.is_empty() && outcome.elsewhere.is_empty() {
        let error = unknown(context, request.scope, (&Verb::Why.call(), &request.name));
        // It may be in a place that could not be examined.
        return Err(outcome.warnings.into_iter().fold(error, Error::hint));
    }
    Ok(outcome)
}

/// Whether the directories of two scopes are the same.
type IsOne<'a> = &'a dyn Fn(ScopeKind, ScopeKind) -> bool;

/// The places of skills with the name.
type Places = BTreeMap<(ScopeKind, String), SeenIn>;

/// A place of a skill with the name.
struct SeenIn {
    form: Form,
    target: Option<String>,
    /// The target of the link, from its text.
    leads: Option<PathBuf>,
    /// The agents whose own directory contains it.
    owners: Vec<&'static str>,
    /// The agents that see it.
    agents: Vec<&'static str>,
}

impl SeenIn {
    /// Reports whether it is the skill `one`: its canonical copy, a link to that, or a copy with the same
    /// files.
    fn is_of(&self, path: &str, one: &ListedSkill) -> bool {
        let copied = self.owners.iter().any(|owner| one.agents.iter().any(|agent| agent == owner));
        match self.form {
            Form::Canonical => path == one.location,
            Form::Link => true,
            Form::Copy => copied,
            // The link to an editable skill is in the canonical place itself.
            Form::Broken => path == one.location || self.leads.as_deref() == Some(Path::new(&one.location)),
            Form::Foreign => false,
        }
    }
}

/// Returns the manifest line that requests it.
fn asked(context: &Context, one: &TreeSkill) -> Result<Option<RequestedIn>> {
    if !one.asked_for {
        return Ok(None);
    }
    let scope = Scope::new(&context.settings, one.skill.scope)?;
    let (_, text) = read_manifest(&scope)?;
    let line = text.as_deref().zip(SkillName::new(&one.skill.name).ok());
    let line = line.and_then(|(text, name)| Manifest::line_of(text, &name));
    let at = |line: usize| text.as_deref()?.lines().nth(line - 1).map(|line| line.trim().to_owned());
    Ok(Some(RequestedIn { file: scope.manifest.display().to_string(), text: line.and_then(at), line }))
}

/// Returns where agents see an installed skill: its canonical copy, links to it and copies of it.
fn seen(one: &TreeSkill, places: &Places, is_one: IsOne<'_>) -> Vec<SeenBy> {
    let of_it = places.iter().filter(|((scope, path), place)| {
        is_one(*scope, one.skill.scope) && !place.agents.is_empty() && place.is_of(path, &one.skill)
    });
    of_it
        .map(|((_, path), place)| SeenBy {
            agents: place.agents.clone(),
            path: path.clone(),
            form: place.form,
        })
        .collect()
}

/// Returns how agents list an installed skill that they do not list whole.
fn listed(one: &TreeSkill, agents: &[AgentView]) -> Vec<ListedBy> {
    let is_it = |skill: &&ListedView| {
        let dir = Path::new(&skill.file).parent().and_then(Path::file_name);
        skill.installed == Some(one.skill.scope)
            && dir.is_some_and(|dir| dir == one.skill.name.as_str())
            && skill.state != ListedState::Whole
    };
    let of = |agent: &AgentView| {
        let skill = agent.listing.as_ref()?.skills.iter().find(is_it)?.clone();
        Some(ListedBy { agent: agent.id, skill })
    };
    agents.iter().filter_map(of).collect()
}

/// Returns the places of other skills: all but those of the skills in `told`. For a skill that is `installed` but not in
/// `told`, the canonical place is enough.
fn elsewhere(
    places: &Places,
    installed: &[&TreeSkill],
    told: &[WhySkill],
    is_one: IsOne<'_>,
) -> Vec<Elsewhere> {
    let others = places.iter().filter_map(|((scope, path), place)| {
        let owner =
            installed.iter().find(|one| is_one(one.skill.scope, *scope) && place.is_of(path, &one.skill));
        let is_told = told.iter().any(|why| is_one(why.skill.scope, *scope));
        let is_source = |why: &WhySkill| {
            let real = |path: &str| fs::real_path(Path::new(path)).ok().flatten();
            why.skill.editable && real(path).is_some_and(|path| real(&why.skill.location) == Some(path))
        };
        if told.iter().any(is_source) || owner.is_some() && (is_told || place.form != Form::Canonical) {
            return None;
        }
        Some(Elsewhere {
            scope: *scope,
            path: path.clone(),
            form: place.form,
            target: place.target.clone(),
            agents: place.agents.clone(),
            installed: owner.is_some(),
        })
    });
    others.collect()
}

/// Returns the most similar name of an installed skill.
fn likely(name: &str, tree: &TreeOutcome) -> Option<String> {
    let names = tree.skills.iter().map(|one| one.skill.name.as_str()).filter(|other| *other != name);
    closest(name, names).map(ToOwned::to_owned)
}
