//! `tree`: shows skills, and the skills that they need.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::list::{ListRequest, ListedSkill, SkillState, installed};
use crate::advice::{Verb, Warning};
use crate::context::Context;
use crate::error::Result;
use crate::fetch::dependencies::{InstalledOrigins, dependencies};
use crate::name::SkillName;
use crate::scope::Scopes;
use crate::scope::not_installed::unknown;
use crate::scope::state::Files;
use crate::scope_kind::ScopeKind;
use crate::spec::SourceSpec;

/// A request for the dependencies of skills.
#[derive(Debug, Clone, Default)]
pub struct TreeRequest {
    /// The skill whose dependencies, or dependents, are shown; `None` means all.
    pub name: Option<String>,
    /// The scope; `None` means both.
    pub scope: Option<ScopeKind>,
    /// Whether to show the skills that need it instead.
    pub invert: bool,
}

/// A skill and its dependencies. The JSON form of a value of this type is an interface: fields are only
/// added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TreeSkill {
    /// The entry of `list`.
    #[serde(flatten)]
    pub skill: ListedSkill,
    /// Whether the manifest requests it.
    pub asked_for: bool,
    /// The skills that it needs.
    pub needs: Vec<NeedView>,
    /// The names of the skills that need it, in any scope that was examined.
    pub needed_by: Vec<String>,
}

/// A skill that another one needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NeedView {
    /// The text as written: a name, a name with a range of versions, or a source.
    pub text: String,
    /// The name, if the text states it or the skill is known.
    pub name: Option<String>,
    /// The scope in which it is installed; `None` if it is not.
    pub scope: Option<ScopeKind>,
    /// Why the text is invalid.
    pub problem: Option<String>,
}

/// The outcome: skills and their dependencies.
#[derive(Debug, Clone, Default)]
pub struct TreeOutcome {
    /// The skills of both scopes, project before user, then by name.
    pub skills: Vec<TreeSkill>,
    /// The requested scope.
    pub scope: Option<ScopeKind>,
    /// The indices of the skills at which trees begin.
    pub roots: Vec<usize>,
    /// The requested name, if some skills need it but it is not installed.
    pub absent: Option<String>,
    /// Whether trees lead from a skill to those that need it.
    pub inverted: bool,
    /// The roots of the scopes.
    pub places: BTreeMap<ScopeKind, String>,
    /// Warnings about what could not be examined.
    pub warnings: Vec<Warning>,
    /// For each skill, the indices of the skills that it needs.
    targets: Vec<Vec<Option<usize>>>,
    /// For each skill, the indices of the skills that need it.
    dependents: Vec<Vec<usize>>,
}

impl TreeOutcome {
    /// Returns the dependencies of the skill at index `at`, each with its own index if it is installed.
    pub fn dependencies(&self, at: usize) -> impl Iterator<Item = (&NeedView, Option<usize>)> {
        self.skills[at].needs.iter().zip(self.targets[at].iter().copied())
    }

    /// Returns the indices of the skills that need the one at `at`.
    pub fn dependents(&self, at: usize) -> &[usize] {
        &self.dependents[at]
    }

    /// Returns the indices of the skills that need `name`, which is not installed.
    pub fn lacking(&self, name: &str) -> Vec<usize> {
        let needs = |one: &TreeSkill| {
            one.needs.iter().any(|need| need.scope.is_none() && need.name.as_deref() == Some(name))
        };
        (0..self.skills.len()).filter(|at| needs(&self.skills[*at])).collect()
    }
}

/// Returns the installed skills and what they need.
///
/// # Errors
///
/// Fails for a manifest or lockfile that cannot be read, and for a name that is neither installed nor needed.
pub fn tree(context: &Context, request: &TreeRequest) -> Result<TreeOutcome> {
    // A dependency may be in the other scope, but an error there does not affect the requested one.
    let both = survey(context, None);
    let mut outcome = match request.scope {
        Some(scope) => both.or_else(|_| survey(context, Some(scope)))?,
        None => both?,
    };
    (outcome.inverted, outcome.scope) = (request.invert, request.scope);
    let wanted = |at: usize| request.scope.is_none_or(|only| outcome.skills[at].skill.scope == only);
    match &request.name {
        Some(name) => {
            let is_it = |at: &usize| outcome.skills[*at].skill.name == *name && wanted(*at);
            outcome.roots = (0..outcome.skills.len()).filter(is_it).collect();
            if outcome.roots.is_empty() {
                if outcome.lacking(name).is_empty() {
                    return Err(unknown(context, request.scope, (&Verb::Tree.call(), name)));
                }
                outcome.absent = Some(name.clone());
            }
        }
        None => outcome.roots = roots(&outcome).into_iter().filter(|at| wanted(*at)).collect(),
    }
    Ok(outcome)
}

/// Returns all installed skills with their dependencies.
pub(super) fn survey(context: &Context, scope: Option<ScopeKind>) -> Result<TreeOutcome> {
    let listed = installed(context, &ListRequest { scope, ..ListRequest::default() })?;
    let mut outcome = TreeOutcome { warnings: listed.warnings, ..TreeOutcome::default() };
    let (mut asked, mut scopes) = (BTreeSet::new(), BTreeMap::new());
    // `list` has reported the missing ones.
    for scope in Scopes::new(&context.settings, scope)?.there {
        let files = Files::read(&scope)?;
        asked.extend(files.manifest.asked().map(|name| (scope.kind, name.to_string())));
        outcome.places.insert(scope.kind, scope.root.display().to_string());
        scopes.insert(scope.kind, (scope, files));
    }
    let there: BTreeMap<_, _> =
        listed.skills.iter().enumerate().map(|(at, skill)| ((skill.scope, skill.name.clone()), at)).collect();
    let installed: BTreeMap<_, _> = scopes
        .iter()
        .map(|(kind, (scope, files))| (*kind, InstalledOrigins::new(context, scope, files)))
        .collect();
    outcome.dependents = vec![Vec::new(); listed.skills.len()];
    for (at, skill) in listed.skills.into_iter().enumerate() {
        // A skill of the project may depend on one of the user, but not the other way round.
        let find = |name: &str| {
            let mut kinds =
                [ScopeKind::Project, ScopeKind::User].into_iter().filter(|kind| *kind >= skill.scope);
            kinds.find_map(|kind| there.get(&(kind, name.to_owned())).map(|at| (kind, *at)))
        };
        let comes_from = |spec: &SourceSpec| {
            let name = SkillName::new(&skill.name).ok()?;
            installed.get(&skill.scope)?.find(&name, spec).cloned()
        };
        let (mut needed, mut targets) = (Vec::new(), Vec::new());
        for need in dependencies(Path::new(&skill.location), &skill.dependencies, comes_from) {
            let found = need.name.as_deref().and_then(find);
            let (scope, target) = found.unzip();
            needed.push(NeedView { text: need.text, name: need.name, scope, problem: need.problem });
            targets.push(target);
        }
        for target in targets.iter().flatten().collect::<BTreeSet<_>>() {
            outcome.dependents[*target].push(at);
        }
        let asked_for = asked.contains(&(skill.scope, skill.name.clone()));
        outcome.targets.push(targets);
        outcome.skills.push(TreeSkill { skill, asked_for, needs: needed, needed_by: Vec::new() });
    }
    for (at, by) in outcome.dependents.iter().enumerate() {
        outcome.skills[at].needed_by =
            by.iter().map(|other| outcome.skills[*other].skill.name.clone()).collect();
    }
    Ok(outcome)
}

/// Returns where trees begin: at skills that the user requested, at those that nothing needs, and at one
/// skill of each cycle that nothing else leads to. If inverted, at skills that need nothing.
fn roots(outcome: &TreeOutcome) -> Vec<usize> {
    let all = 0..outcome.skills.len();
    let next = |at: usize| -> Vec<usize> {
        if outcome.inverted {
            outcome.dependents(at).to_vec()
        } else {
            outcome.dependencies(at).filter_map(|(_, target)| target).collect()
        }
    };
    let begins = |at: &usize| {
        let one = &outcome.skills[*at];
        if outcome.inverted {
            outcome.dependencies(*at).all(|(_, target)| target.is_none())
        } else {
            one.asked_for || one.needed_by.is_empty()
        }
    };
    let mut roots: Vec<usize> = all.clone().filter(begins).collect();
    let mut reached = BTreeSet::new();
    let mut open = roots.clone();
    for at in all {
        while let Some(at) = open.pop() {
            if reached.insert(at) {
                open.extend(next(at));
            }
        }
        if !reached.contains(&at) {
            roots.push(at);
            open.push(at);
        }
    }
    roots.sort_unstable();
    roots
}

impl TreeSkill {
    /// Returns short remarks about special properties and problems.
    pub fn marks(&self) -> Vec<&'static str> {
        let skill = &self.skill;
        let mut marks = Vec::new();
        if skill.disabled {
            marks.push(if skill.seen_by.is_empty() { "disabled" } else { "disabled, and still seen" });
        }
        if skill.editable {
            marks.push("editable");
        }
        match skill.state {
            SkillState::Ok | SkillState::Disabled | SkillState::Editable => {
                marks.extend(skill.modified.then_some(SkillState::Modified.word()));
            }
            state => marks.push(state.word_for(skill.editable)),
        }
        marks
    }
}
