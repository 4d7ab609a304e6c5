//! `list`: what is installed.

mod foreign;
mod outcome;
mod skill;

use std::collections::BTreeSet;

pub use self::outcome::{ListOutcome, ListedSkill, SkillState};
use self::skill::listed;
pub(super) use self::skill::{failures, one};
use crate::advice::{Message, Verb, Warning, message};
use crate::agents;
use crate::context::Context;
use crate::error::{ErrorKind, Result};
use crate::manifest;
use crate::name::SkillName;
use crate::scope::health::problem;
use crate::scope::listings;
use crate::scope::not_installed::{no_longer_asked, not_installed, other_lock};
use crate::scope::state::{AgentState, Depth, Files, ScopeState};
use crate::scope::transaction::Transaction;
use crate::scope::{Scope, Scopes};
use crate::scope_kind::ScopeKind;

/// A request to list skills.
#[derive(Debug, Clone, Default)]
pub struct ListRequest {
    /// Only this scope; both if it is `None`.
    pub scope: Option<ScopeKind>,
    /// Only these skills; all if it is empty.
    pub names: Vec<String>,
    /// Only what one of these agents sees, by id or alias; all if it is empty.
    pub agents: Vec<String>,
}

/// Lists what is installed.
///
/// # Errors
///
/// Fails for a manifest or lockfile that cannot be read, for a name that is not there, and for an unknown agent.
pub fn list(context: &Context, request: &ListRequest) -> Result<ListOutcome> {
    let agents: Vec<_> = request.agents.iter().map(|name| agents::find(name)).collect::<Result<_, _>>()?;
    let ids = agents.iter().map(|agent| agent.id.to_owned()).collect();
    let request = &ListRequest { agents: ids, ..request.clone() };
    let everything = |request: &ListRequest| look(context, request, ListedKind::Everything);
    let mut outcome = everything(request)?;
    let has = |outcome: &ListOutcome, name: &str| outcome.skills.iter().any(|skill| skill.name == name);
    if request.names.is_empty() && agents.is_empty() {
        outcome.hints = crate::hints::list::of(&outcome, request.scope);
    } else if request.names.iter().any(|name| !has(&outcome, name)) || outcome.skills.is_empty() {
        let all = everything(&ListRequest { scope: request.scope, ..ListRequest::default() })?;
        if let Some(name) = request.names.iter().find(|name| !has(&all, name)) {
            let known = all.skills.iter().map(|skill| skill.name.as_str());
            return Err(not_installed(request.scope, name, known));
        }
        outcome.hints = match agents.iter().find(|agent| !agent.is_universal()) {
            _ if !outcome.skills.is_empty() => Vec::new(),
            Some(agent) if !all.skills.is_empty() => {
                vec![crate::hints::list::show_to(agent, request.scope, &request.names)]
            }
            _ if agents.is_empty() || all.skills.is_empty() => crate::hints::list::of(&all, request.scope),
            _ => Vec::new(),
        };
    }
    Ok(outcome)
}

impl ListRequest {
    fn is_named(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|other| other == name)
    }
}

/// Works like [`list`], of what is in the scopes themselves: nothing of other tools, and nothing of projects around
/// this one.
pub(super) fn installed(context: &Context, request: &ListRequest) -> Result<ListOutcome> {
    look(context, request, ListedKind::Installed)
}

/// The kind of listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListedKind {
    /// The skills in the scopes.
    Installed,
    /// All that agents see here.
    Everything,
}

fn look(context: &Context, request: &ListRequest, what: ListedKind) -> Result<ListOutcome> {
    let settings = &context.settings;
    let mut outcome = ListOutcome::default();
    let mut scopes = Scopes::new(settings, request.scope)?;
    let twins = scopes.settle_twins(settings)?;
    for scope in &scopes.there {
        outcome.warnings.extend(Transaction::cut_off(scope));
        if let Some(closed) = closed(scope, request.scope)? {
            outcome.warnings.push(closed);
        } else {
            list_scope(context, scope, request, what, &mut outcome)?;
        }
        if what == ListedKind::Everything && scope.kind == ScopeKind::Project {
            for outer in scope.outer(settings)? {
                list_outer(context, &outer, request, &mut outcome)?;
            }
        }
    }
    if twins {
        tell_once(&mut outcome.skills);
    } else {
        outcome.warnings.extend(listings::warnings(&listings::overridden(settings, &scopes.there)));
    }
    outcome.warnings.extend(scopes.missing.into_iter().map(Warning::from));
    Ok(outcome)
}

/// Returns the reason why the skills of `scope` are not examined, where `only` asks for another scope: a link leads out of
/// the project. The other scope has nothing to do with that.
pub(super) fn closed(scope: &Scope, only: Option<ScopeKind>) -> Result<Option<Warning>> {
    match scope.check_skills_inside() {
        Err(error) if only.is_none() && error.kind() == ErrorKind::Integrity => {
            let what = format!("the skills of the {} were not checked: ", scope.kind);
            Ok(Some(Warning::new(error.code(), message!(what, error.message()))))
        }
        checked => checked.map(|()| None),
    }
}

/// In the home directory both scopes have the same skills: what one of them installed is reported there only, all else
/// as the user's.
fn tell_once(skills: &mut Vec<ListedSkill>) {
    let is_known = |skill: &&ListedSkill| !skill.state.is_unknown();
    let of_project = skills.iter().filter(|skill| skill.scope == ScopeKind::Project).filter(is_known);
    let of_project: BTreeSet<_> = of_project.map(|skill| skill.name.clone()).collect();
    skills.retain(|skill| {
        is_known(&skill) || skill.scope == ScopeKind::User && !of_project.contains(&skill.name)
    });
}

/// Adds the skills of a project around the one that is worked in: agents that walk up to the root of the repository see them
/// too. Hints about these are for those who work there.
fn list_outer(
    context: &Context,
    outer: &Scope,
    request: &ListRequest,
    outcome: &mut ListOutcome,
) -> Result<()> {
    if outer.check_skills_inside().is_err() {
        return Ok(());
    }
    let mut found = ListOutcome::default();
    list_scope(context, outer, request, ListedKind::Installed, &mut found)?;
    let place = outer.shown(&context.settings, &outer.root);
    outcome
        .skills
        .extend(found.skills.into_iter().map(|skill| ListedSkill { outer: Some(place.clone()), ..skill }));
    Ok(())
}

fn list_scope(
    context: &Context,
    scope: &Scope,
    request: &ListRequest,
    what: ListedKind,
    outcome: &mut ListOutcome,
) -> Result<()> {
    let settings = &context.settings;
    let state = ScopeState::read(settings, scope, Depth::Metadata)?;
    let files = &state.files;
    if files.manifest_text.is_none() && files.lock_text.is_none() && scope.kind == ScopeKind::Project {
        outcome.other_lock = other_lock(scope);
    }
    state.check_readable()?;
    let names = state.names();
    let before = outcome.skills.len();
    if !names.is_empty() {
        let unexamined = state.unexamined_dirs().into_iter();
        outcome
            .warnings
            .extend(unexamined.map(|(problem, error)| Warning::new(problem.id, error.with_causes())));
    }
    outcome.skills.reserve(names.len());
    let other_files = scope.other_scope(settings)?.and_then(|other_files| Files::read(&other_files).ok());
    let mut there: BTreeSet<&str> = BTreeSet::new();
    for name in names.iter().filter(|name| request.is_named(name.as_str())) {
        let Some(mut skill) = state.skill(name)? else { continue };
        if skill.is_left_over(scope) {
            continue;
        }
        outcome.warnings.extend(failures(&mut skill));
        let in_sight = !skill.is_hidden && skill.state != SkillState::Missing;
        if skill.is_disabled() && in_sight {
            let is_shared = other_files.as_ref().is_some_and(|other_files| other_files.knows(name));
            let told = message!(
                format_args!("`{name}` is disabled in `{}`, but agents see it: ", manifest::FILE_NAME),
                way_out_of_sight(scope.kind, name, is_shared)
            );
            outcome.warnings.push(Warning::new(problem::DISABLED_VISIBLE.id, told));
        }
        if !skill.state.is_unknown() && !skill.is_disabled() {
            there.insert(name.as_str());
        }
        outcome.skills.push(listed(&state, &skill));
    }
    let unseen = state.unseen(&there);
    if !unseen.is_empty() {
        outcome.unseen.push((scope.kind, unseen));
    }
    if what == ListedKind::Everything {
        foreign::list(context, &state, outcome);
    }
    let sees = |name: &str| {
        let named = |agent: &&AgentState| request.agents.iter().any(|id| id == agent.agent.id);
        state.agents().all.iter().filter(named).any(|agent| state.sees(agent, name))
    };
    let (mut at, is_all) = (0, request.agents.is_empty());
    outcome.skills.retain(|skill| {
        at += 1;
        at <= before || request.is_named(&skill.name) && (is_all || sees(&skill.name))
    });
    let is_untracked =
        |skill: &ListedSkill| skill.scope == scope.kind && skill.state == SkillState::Untracked;
    if request.names.is_empty() {
        let kept = files.kept();
        let left = files.lock.skills.keys().filter(|name| !kept.contains(*name));
        outcome.warnings.extend(left.map(|name| no_longer_asked(scope.kind, name)));
    }
    if request.names.is_empty() && outcome.skills.iter().any(is_untracked) {
        let left = state.no_longer_asked();
        outcome.warnings.extend(left.iter().map(|name| no_longer_asked(scope.kind, name)));
    }
    Ok(())
}

/// Returns what gets a disabled skill out of agents' sight, which the other scope in the same directory may have, too.
fn way_out_of_sight(scope: ScopeKind, name: &SkillName, is_shared: bool) -> Message {
    match scope {
        _ if !is_shared => message!(Verb::Install.within(scope), " moves it away"),
        ScopeKind::Project => {
            message!(
                "your own skills include it too; ",
                Verb::Remove.within(scope).word(name),
                " leaves it to them"
            )
        }
        ScopeKind::User => {
            message!(
                "this project has it too; ",
                Verb::Remove.within(scope).word(name),
                " leaves it to the project"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;
    use crate::fs;
    use crate::ops::catalog::{CatalogRequest, catalog};
    use crate::ops::show::{ShowRequest, show};

    fn at_home(world: &World) -> Context {
        let mut settings = world.settings(&[]);
        settings.cwd = world.home().to_owned();
        Context::silent(settings)
    }

    /// In the home directory a skill of the user is the user's, in every verb, and listed once.
    #[test]
    fn in_the_home_directory_a_skill_is_the_user_s() {
        let world = World::new();
        world.skill("../home/.agents/skills/pdf", "pdf");
        let context = at_home(&world);
        let listed = list(&context, &ListRequest::default()).expect("lists").skills;
        let listed: Vec<_> = listed.iter().map(|skill| (&*skill.name, skill.scope)).collect();
        assert_eq!(listed, [("pdf", ScopeKind::User)]);
        let told = |scope| {
            let request = CatalogRequest { scope, ..CatalogRequest::default() };
            catalog(&context, &request).expect("works").catalog.count
        };
        for scope in [None, Some(ScopeKind::Project), Some(ScopeKind::User)] {
            let shown = show(&context, &ShowRequest { name: "pdf".into(), scope, ..ShowRequest::default() })
                .expect("shows");
            assert_eq!(shown.scope, Some(ScopeKind::User), "{scope:?}");
            assert_eq!(told(scope), 1, "{scope:?}");
        }
        world
            .write("../home/.config/skillpm/skillpm.toml", "[skills.pdf]\npath = \"./x\"\ndisabled = true\n");
        for scope in [None, Some(ScopeKind::Project), Some(ScopeKind::User)] {
            assert_eq!(told(scope), 0, "{scope:?}");
        }
    }

    #[test]
    fn what_one_scope_installed_is_told_there() {
        let world = World::new();
        world.skill("../home/.agents/skills/pdf", "pdf");
        let one = |scope, state| {
            let request = ListRequest { scope: Some(scope), ..ListRequest::default() };
            let mut skills = list(&at_home(&world), &request).expect("lists").skills;
            assert_eq!((skills.len(), skills[0].state), (1, SkillState::Untracked));
            ListedSkill { state, ..skills.remove(0) }
        };
        let (ours, other) = (SkillState::Ok, SkillState::Untracked);
        for (project, user, told) in [
            (other, other, &[ScopeKind::User][..]),
            (other, ours, &[ScopeKind::User]),
            (ours, other, &[ScopeKind::Project]),
            (ours, ours, &[ScopeKind::Project, ScopeKind::User]),
        ] {
            let mut skills = vec![one(ScopeKind::Project, project), one(ScopeKind::User, user)];
            tell_once(&mut skills);
            let scopes: Vec<_> = skills.iter().map(|skill| skill.scope).collect();
            assert_eq!(scopes, told, "{project:?} {user:?}");
        }
    }

    /// THREATS 2: who follows the words mends the scope that they are about.
    #[test]
    fn a_run_that_was_cut_off_is_told_with_what_finishes_it() {
        let world = World::new();
        for (root, finishes) in
            [(world.project(), "`doctor` with `fix` cleans"), (world.home(), "`fix` and `scope=user`")]
        {
            let begun = root.join(".agents/.skillpm-tx");
            fs::create_dir_all(&begun).expect("creates");
            let told = list(&world.context(), &ListRequest::default()).expect("lists").warnings;
            let [told] = &told[..] else { panic!("{told:?}") };
            assert!(
                told.to_string().contains("was interrupted") && told.to_string().contains(finishes),
                "{told}"
            );
            fs::remove_tree(&begun).expect("removes");
        }
        assert!(list(&world.context(), &ListRequest::default()).expect("lists").warnings.is_empty());
    }
}
