//! `link` and `unlink`: show installed skills to agents, or hide them.

mod used;
pub(super) mod visibility;

pub use self::used::{UseAgentsOutcome, UseAgentsRequest, use_agents};

use schemars::JsonSchema;
use serde::Serialize;

use self::visibility::{Changed, Edits, VisibilityOptions, rearrange};
use crate::advice::{Call, Opt, Verb, Warning, message};
use crate::change::agent_targets::{AgentTargets, Ids, needs_link};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fetch::select::ALL;
use crate::name::SkillName;
use crate::resolve::graph::closure;
use crate::scope::Scope;
use crate::scope::changes::PathChange;
use crate::scope::not_installed::{installed_names, user_has_some};
use crate::scope::plan::{ChangedFiles, NewLink, Step};
use crate::scope::state::Files;
use crate::scope_kind::ScopeKind;
use crate::text::and;

/// A request to show skills to agents, or to hide them.
#[derive(Debug, Clone, Default)]
pub struct LinkRequest {
    /// The agents, by id or alias. `*` means all on the machine, and for [`unlink`] all that see something.
    pub agents: Vec<String>,
    /// The names under which the skills are installed. If empty, all of the scope, and those that are
    /// installed later.
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
pub struct LinkOutcome {
    /// The scope.
    pub scope: Option<ScopeKind>,
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// The ids of the agents that were named.
    pub agents: Vec<String>,
    /// Those of them that need a link.
    #[serde(skip)]
    pub linked_agents: Vec<String>,
    /// The skills, with the agents that now have a link or copy of their own.
    pub skills: Vec<LinkedSkill>,
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
}

/// A skill and the agents that see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LinkedSkill {
    /// The name under which it is installed.
    pub name: String,
    /// The ids of the agents that have a link or copy of their own, or would if it were not disabled.
    pub agents: Vec<String>,
}

/// Shows installed skills to more agents.
///
/// # Errors
///
/// Fails for an unknown agent or skill, if something is in the way, and if something cannot be written.
/// Nothing has been changed then.
pub fn link(context: &Context, request: &LinkRequest) -> Result<LinkOutcome> {
    run(context, request, true)
}

/// Removes the links or copies of agents.
///
/// # Errors
///
/// Fails as [`link`] does, and for a copy that was edited, without `force`.
pub fn unlink(context: &Context, request: &LinkRequest) -> Result<LinkOutcome> {
    run(context, request, false)
}

fn run(context: &Context, request: &LinkRequest, link: bool) -> Result<LinkOutcome> {
    let scope = Scope::new(&context.settings, request.scope.unwrap_or(ScopeKind::Project))?;
    if request.agents.is_empty() {
        return Err(
            Error::usage("no agent is named").hint(message!("name one, such as ", (Opt::Agent, "cursor")))
        );
    }
    let all_of_them = !link && request.agents.iter().any(|agent| agent == ALL);
    let given: Vec<_> = request.agents.iter().filter(|agent| link || *agent != ALL).cloned().collect();
    let mut named = AgentTargets::named(&context.settings, &scope, &given)?;
    let mut warnings: Vec<Warning> = Vec::new();
    let unlinked: Vec<_> = named.iter().filter(|id| !needs_link(id)).map(|id| format!("`{id}`")).collect();
    if !unlinked.is_empty() {
        let do_so = match unlinked[..] {
            [_] => "reads `.agents/skills` itself and needs no link",
            _ => "read `.agents/skills` themselves and need no link",
        };
        warnings.push(Warning::new(codes::AGENT_NEEDS_NO_LINK, format!("{} {do_so}", and(&unlinked))));
    }
    let how = VisibilityOptions { dry_run: request.dry_run, force: request.force, bring: link };
    let call = if link { Verb::Link } else { Verb::Unlink }.call();
    let call = call.options(request.agents.iter().map(|agent| (Opt::Agent, agent)));
    let changed = rearrange(context, &scope, how, |files, targets| {
        let names = match &request.names[..] {
            [] => None,
            given => Some(installed_names(context, &scope, files, (&call, given))?),
        };
        let all = known(context, &scope, files, &call)?;
        if all_of_them {
            named.extend(targets.chosen());
        }
        if link {
            targets.add(&named, names.as_deref());
        } else {
            warnings.extend(targets.still_used(&named));
            targets.take(&named, names.as_deref());
        }
        if names.is_none() && link {
            warnings.extend(apart(&scope, targets, &named));
        }
        let disabled =
            |name: &SkillName| files.manifest.skills().get(name).is_some_and(|entry| entry.disabled);
        // An agent that sees a skill also sees what it needs.
        let asked = names.unwrap_or(all);
        let needed = closure(&asked, |name| files.lock.skills.get(name));
        let needed = needed.into_iter().filter(|name| files.is_only_needed(name));
        let skills =
            asked.iter().cloned().chain(needed).map(|name| (name.clone(), disabled(&name))).collect();
        let (only, taken) = if link { (named.clone(), Ids::new()) } else { (Ids::new(), named.clone()) };
        Ok(Edits { skills, only: Some(only), taken })
    })?;
    let Changed { steps, links, paths, files, agents, warnings: more } = changed;
    warnings.extend(more);
    Ok(LinkOutcome {
        scope: Some(scope.kind),
        agents: named.iter().map(|id| (*id).to_owned()).collect(),
        linked_agents: named.iter().filter(|id| needs_link(id)).map(|id| (*id).to_owned()).collect(),
        skills: agents
            .into_iter()
            .map(|(name, agents)| LinkedSkill { name: name.to_string(), agents })
            .collect(),
        steps,
        links,
        paths,
        files,
        dry_run: request.dry_run,
        warnings,
    })
}

/// Returns the skills that manifest and lockfile request. `call` is what needs some.
fn known(context: &Context, scope: &Scope, files: &Files, call: &Call) -> Result<Vec<SkillName>> {
    let names: Vec<_> = files.requested().cloned().collect();
    if names.is_empty() {
        let install = Verb::Install.within(scope.kind).word("owner/repo");
        let install = install.options(call.named().filter_map(|(option, agent)| Some((option, agent?))));
        let hint = message!(install, " installs skills and links them at once");
        let error = Error::usage(format!("no skills are installed {}", scope.kind.within()));
        return Err(match user_has_some(&context.settings, scope, call) {
            Some(told) => error.hint(told),
            None => error.hint(hint),
        });
    }
    Ok(names)
}

/// Returns a warning about the skills that the default does not reach.
fn apart(scope: &Scope, targets: &AgentTargets<'_>, named: &Ids) -> Option<Warning> {
    let names = targets.apart(named);
    let (first, told) = (names.first()?, names.join("`, `"));
    let have = if names.len() == 1 {
        "names its own agents and was left as is"
    } else {
        "name their own agents and were left as is"
    };
    let agent = named.iter().find(|id| needs_link(id)).unwrap_or(&"NAME");
    let told = message!(
        format_args!("`{told}` {have}: name it to link it, as in "),
        Verb::Link.within(scope.kind).option(Opt::Agent, agent).word(first)
    );
    Some(Warning::new(codes::AGENTS_OF_THEIR_OWN, told))
}
