//! What adopted skills need: other tools know nothing of it.

use std::collections::BTreeSet;

use super::in_directories;
use crate::advice::Warning;
use crate::agents::Agent;
use crate::context::Context;
use crate::error::Result;
use crate::install::plan::{Content, Wanted};
use crate::install::scope::Scope;
use crate::install::state::{Files, Found, Survey};
use crate::name::SkillName;
use crate::ops::install::needs::{Needer, Needs, Pick};
use crate::ops::install::restore::Worker;
use crate::tree::FileSet;

/// What comes along with what is adopted.
#[derive(Default)]
pub(super) struct Brought {
    /// The skills, which nobody asked for.
    pub(super) skills: Vec<(Wanted, FileSet)>,
    /// What needs what; `None` where nothing needs anything.
    needs: Option<Needs>,
    pub(super) warnings: Vec<Warning>,
}

impl Brought {
    /// Finds what the skills `came`, which are adopted, need and nobody has. What cannot be had is told: a skill
    /// that is there already is adopted without it.
    ///
    /// # Errors
    ///
    /// A policy or an agent's directory that cannot be read.
    pub(super) fn find(
        context: &Context,
        scope: &Scope,
        files: &Files,
        everyone: &[&'static Agent],
        came: Vec<Needer>,
    ) -> Result<Self> {
        let mut brought = Self::default();
        if came.iter().all(Needer::is_content) {
            return Ok(brought);
        }
        let mut worker = Worker::new(context, scope, files)?;
        let mut needs = Needs::new(files);
        for needer in &came {
            needs.asked(needer);
        }
        let mut open = came;
        while let Some(needer) = open.pop() {
            let picks = needs.of(&mut worker, &needer).unwrap_or_else(|error| {
                brought.warnings.push(error.into());
                Vec::new()
            });
            for pick in picks {
                if is_in_the_way(context, scope, everyone, &pick.name)? {
                    let told = format!(
                        "`{}` needs `{}`, but something else is in its place",
                        needer.name, pick.name
                    );
                    brought.warnings.push(Warning::new("in-the-way", told));
                    continue;
                }
                let next = pick.needer();
                match take(&mut worker, pick) {
                    Ok(skill) => {
                        brought.skills.push(skill);
                        open.push(next);
                    }
                    Err(error) => brought
                        .warnings
                        .push(error.context(format!("`{}` needs `{}`", needer.name, next.name)).into()),
                }
            }
        }
        brought.warnings.extend(needs.warnings());
        brought.warnings.append(&mut worker.restore.fetched.warnings);
        brought.needs = Some(needs);
        Ok(brought)
    }

    /// Writes into what is to be locked of `wanted` what it needs of the skills `there`.
    pub(super) fn write(&self, wanted: &mut Wanted, there: &BTreeSet<SkillName>) {
        if let (Some(needs), Content::Locked(locked)) = (&self.needs, &mut wanted.content) {
            needs.write(&wanted.name, locked);
            // What could not be had would stop each installation from now on.
            locked.dependencies.retain(|name| there.iter().any(|there| there.as_str() == name));
        }
    }
}

fn take(worker: &mut Worker<'_>, pick: Pick) -> Result<(Wanted, FileSet)> {
    let name = pick.name.clone();
    let (locked, set) = worker.take(&name, &pick.newest()?)?;
    Ok((Wanted::new(name, Content::Locked(locked), None), set))
}

/// Whether something lies where the skill `name` would be put or linked.
fn is_in_the_way(
    context: &Context,
    scope: &Scope,
    everyone: &[&'static Agent],
    name: &SkillName,
) -> Result<bool> {
    let survey = Survey::take(&context.settings, scope, &[name], everyone)?;
    let at_agents = in_directories(&survey, everyone, name).into_iter().map(|(_, found)| found);
    let mut found = survey.canonical.get(name).into_iter().chain(at_agents);
    Ok(found.any(|found| !matches!(found, Found::Absent | Found::OurLink)))
}
