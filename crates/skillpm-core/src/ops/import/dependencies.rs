//! The dependencies of adopted skills, of which other tools know nothing.

use std::collections::BTreeSet;

use super::agents::in_directories;
use crate::advice::Warning;
use crate::agents::Agent;
use crate::change::agent_targets::AgentTargets;
use crate::context::Context;
use crate::error::Result;
use crate::fetch::dependencies::{self, Asked, BroughtSkill, HasRoom, Offered, Unsatisfied, resolve, write};
use crate::fetch::fetcher::Fetcher;
use crate::name::SkillName;
use crate::resolve::{Assignment, Dependent, OnUnresolved};
use crate::scope::plan::{Content, Wanted};
use crate::scope::state::{OnDisk, ScopeState, Survey};
use crate::tree::FileSet;

/// The skills that come along with adopted skills.
#[derive(Default)]
pub(super) struct Brought {
    /// The new skills, which are not requested.
    pub(super) skills: Vec<(Wanted, FileSet)>,
    /// Installed skills that change their versions so that all fit together.
    pub(super) changed: Vec<(Wanted, FileSet)>,
    /// Which skill satisfies which dependency.
    assignment: Assignment,
    pub(super) warnings: Vec<Warning>,
}

impl Brought {
    /// Finds the missing dependencies of the adopted skills `incoming`. Unavailable ones are reported: an installed skill is
    /// adopted without them.
    pub(super) fn find(
        context: &Context,
        state: &ScopeState<'_>,
        everyone: &[&'static Agent],
        incoming: Vec<Dependent>,
    ) -> Result<Self> {
        if incoming.iter().all(Dependent::is_independent) {
            return Ok(Self::default());
        }
        let roots: Vec<SkillName> = incoming.iter().map(|skill| skill.name.clone()).collect();
        let mut fetcher = Fetcher::new(context, state.scope, &state.files)?;
        let has_room = |name: &SkillName| has_room(state, everyone, name);
        let (has_room, on_unresolved): (HasRoom<'_>, _) = (&has_room, OnUnresolved::Skip);
        let asked =
            Asked { incoming, by_user: true, has_room: Some(has_room), on_unresolved, ..Asked::default() };
        let dependencies::Brought { assignment, skills, warnings, unresolved } =
            resolve(&mut fetcher.sources, &state.files, asked)?;
        let mut brought = Self { assignment, ..Self::default() };
        brought.warnings.extend(unresolved.into_iter().map(Warning::from));
        let mut left_out = BTreeSet::new();
        let agents = AgentTargets::known(&context.settings, state.scope, &state.files);
        for BroughtSkill { name, offered, found } in skills {
            match (take(&mut fetcher, &name, offered), found) {
                (Ok(skill), Some(_)) => brought.skills.push(skill),
                (Ok((mut wanted, set)), None) => {
                    agents.assign(&mut wanted);
                    brought.changed.push((wanted, set));
                }
                (Err(error), found) => {
                    brought.warnings.push(Unsatisfied::new(&name, found, error).error.into());
                    left_out.insert(name);
                }
            }
        }
        if !left_out.is_empty() {
            // Dependencies of only one of these are useless.
            let reached = brought.assignment.reached(&roots, &left_out);
            brought.skills.retain(|(wanted, _)| reached.contains(&wanted.name));
        }
        brought.warnings.extend(warnings);
        brought.warnings.append(&mut fetcher.warnings);
        Ok(brought)
    }

    /// Writes into what is to be locked of `wanted` what it depends on of the skills `there`.
    pub(super) fn write(&self, wanted: &mut Wanted, there: &BTreeSet<SkillName>) {
        if let Content::Locked(locked) = &mut wanted.content {
            write(&self.assignment, &wanted.name, locked);
            // A dependency that is not available would block every future installation.
            locked.dependencies.retain(|name| there.iter().any(|there| there.as_str() == name));
        }
    }
}

fn take(fetcher: &mut Fetcher<'_>, name: &SkillName, offered: Offered) -> Result<(Wanted, FileSet)> {
    let (locked, set) = fetcher.take(name, &offered.newest(name)?)?;
    Ok((Wanted::new(name.clone(), Content::Locked(locked), None), set))
}

/// Returns whether nothing is where the skill `name` would be put or linked.
fn has_room(state: &ScopeState<'_>, everyone: &[&'static Agent], name: &SkillName) -> Result<bool> {
    let survey = Survey::take(state, &[name], everyone)?;
    let at_agents = in_directories(&survey, everyone, name).into_iter().map(|(_, found)| found);
    let mut found = survey.canonical.get(name).into_iter().chain(at_agents);
    Ok(found.all(|found| matches!(found, OnDisk::Absent | OnDisk::OurLink)))
}
