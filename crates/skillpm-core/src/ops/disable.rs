//! `disable` and `enable`: hide skills from agents without removing them.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::{Verb, Warning, message};
use crate::context::Context;
use crate::error::Result;
use crate::fetch::select::ALL;
use crate::name::SkillName;
use crate::ops::link::visibility::{Changed, Edits, VisibilityOptions, rearrange};
use crate::scope::Scope;
use crate::scope::changes::PathChange;
use crate::scope::health::problem;
use crate::scope::merges::has_conflicts;
use crate::scope::not_installed::installed_names;
use crate::scope::plan::{ChangedFiles, NewLink, Step};
use crate::scope_kind::ScopeKind;

/// A request to disable or enable skills.
#[derive(Debug, Clone, Default)]
pub struct DisableRequest {
    /// The names under which the skills are installed; `*` means all.
    pub names: Vec<String>,
    /// The scope; `None` means the project.
    pub scope: Option<ScopeKind>,
    /// Whether to only plan.
    pub dry_run: bool,
    /// Whether to replace what is in the way, which is saved in the store.
    pub force: bool,
}

/// The outcome of the change. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct DisableOutcome {
    /// The scope.
    pub scope: Option<ScopeKind>,
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// The skills, sorted by name.
    pub skills: Vec<DisabledSkill>,
    /// The steps that were or would be taken, in order.
    pub steps: Vec<Step>,
    /// The links that were or would be made.
    pub links: Vec<NewLink>,
    /// The paths that were or would be changed.
    pub paths: Vec<PathChange>,
    /// Which files changed or would change.
    #[serde(rename = "files_changed")]
    pub files: ChangedFiles,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
    /// The directory of the disabled skills, relative to the working directory.
    #[serde(skip)]
    pub place: String,
}

/// A skill that was named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DisabledSkill {
    /// The name under which it is installed.
    pub name: String,
    /// Whether this changed its state.
    pub changed: bool,
    /// The ids of the agents that have a link or copy of their own, or would if it were not disabled.
    pub agents: Vec<String>,
}

/// Hides skills from agents. Moves their files aside as they are, including edits.
///
/// # Errors
///
/// Fails for a name that is not installed, if something is in the way, and if something cannot be written.
/// Nothing has been changed then.
pub fn disable(context: &Context, request: &DisableRequest) -> Result<DisableOutcome> {
    run(context, request, true)
}

/// Shows skills to agents again. Fetches nothing unless the files were deleted.
pub fn enable(context: &Context, request: &DisableRequest) -> Result<DisableOutcome> {
    run(context, request, false)
}

fn run(context: &Context, request: &DisableRequest, disabled: bool) -> Result<DisableOutcome> {
    let scope = Scope::new(&context.settings, request.scope.unwrap_or(ScopeKind::Project))?;
    let how = VisibilityOptions { dry_run: request.dry_run, force: request.force, bring: !disabled };
    let (mut names, mut unchanged, mut in_conflict) = (Vec::new(), BTreeSet::new(), Vec::new());
    let changed = rearrange(context, &scope, how, |files, targets| {
        names = if request.names.iter().any(|name| name == ALL) {
            files.names().cloned().collect::<BTreeSet<_>>().into_iter().collect()
        } else {
            let verb = if disabled { Verb::Disable } else { Verb::Enable };
            installed_names(context, &scope, files, (&verb.call(), &request.names))?
        };
        names.sort();
        let is_so = |name: &&SkillName| targets.entry(name).is_some_and(|entry| entry.disabled == disabled);
        unchanged.extend(names.iter().filter(is_so).cloned());
        if !disabled {
            let left_open = |name: &&SkillName| {
                let disabled_dir = scope.disabled_skill_dir(name);
                let locked = files.lock.skills.get(*name);
                // An error here is reported when the skill is moved.
                locked
                    .is_some_and(|locked| has_conflicts(&scope, name, locked, &disabled_dir).unwrap_or(false))
            };
            in_conflict
                .extend(names.iter().filter(|name| !unchanged.contains(*name)).filter(left_open).cloned());
        }
        let skills = names.iter().map(|name| (name.clone(), disabled)).collect();
        Ok(Edits { skills, ..Edits::default() })
    })?;
    let Changed { steps, links, paths, files, mut agents, mut warnings } = changed;
    warnings.extend(in_conflict.iter().map(|name| {
        let told = message!(
            format_args!("an update left conflicts in `{name}`, which agents see again: "),
            Verb::Update.within(scope.kind).word(name),
            " shows what to resolve"
        );
        Warning::new(problem::MERGE_UNFINISHED.id, told)
    }));
    let skills = names
        .into_iter()
        .map(|name| DisabledSkill {
            changed: !unchanged.contains(&name),
            agents: agents.remove(&name).unwrap_or_default(),
            name: name.to_string(),
        })
        .collect();
    let place = scope.shown(&context.settings, &scope.disabled_dir());
    let (scope, dry_run) = (Some(scope.kind), request.dry_run);
    Ok(DisableOutcome { scope, dry_run, skills, steps, links, paths, files, warnings, place })
}
