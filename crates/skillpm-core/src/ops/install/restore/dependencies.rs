//! Dependencies of restored skills: locked ones are restored, and the rest is resolved.

use std::collections::BTreeSet;

use super::{Restorer, is_wanted};
use crate::advice::{Verb, message};
use crate::error::{Error, Result};
use crate::fetch::dependencies::{
    Asked, Brought, BroughtSkill, Deciding, Unsatisfied, locked_dependent, resolve,
};
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::ops::install::InstallRequest;
use crate::resolve::{Assignment, Dependent};
use crate::scope::plan::Content;

impl Restorer<'_> {
    /// Finds what the skills that came need, what the lockfile names but does not contain, and the versions of skills of
    /// registries that are not locked, and takes in what comes or changes with that.
    pub(super) fn complete(&mut self, request: &InstallRequest) -> Result<Assignment> {
        let mut incoming = std::mem::take(&mut self.incoming);
        if !request.no_deps {
            self.torn(request, &mut incoming)?;
        }
        let fresh = self.open_versions(request)?;
        let is_alone = request.no_deps || incoming.iter().all(Dependent::is_independent);
        if fresh.is_empty() && is_alone {
            return Ok(Assignment::default());
        }
        let how = Deciding { minimal: request.minimal, alone: request.no_deps, ..Deciding::default() };
        let asked = Asked { incoming, fresh, how, ..Asked::default() };
        let brought = resolve(&mut self.fetcher.sources, self.files, asked)?;
        let Brought { assignment, skills, warnings, .. } = brought;
        for BroughtSkill { name, offered, found } in skills {
            let newest = offered.newest(&name);
            let taken = newest.and_then(|newest| self.fetcher.take(&name, &newest));
            let (locked, set) = taken.map_err(|error| Unsatisfied::new(&name, found, error))?;
            let disabled = self.files.manifest.skills().get(&name).is_some_and(|entry| entry.disabled);
            self.want(&name, Content::Locked(locked), disabled, Some(set));
        }
        self.fetcher.warnings.extend(warnings);
        Ok(assignment)
    }

    /// Returns the skills of registries whose versions are to be decided: those that are not locked as the manifest requests
    /// them, and those that need what is no longer in any file.
    fn open_versions(&self, request: &InstallRequest) -> Result<BTreeSet<SkillName>> {
        let files = self.files;
        let of_registries = files.lock.skills.iter().filter(|(_, locked)| locked.released().is_some());
        let outside = of_registries.filter(|(_, locked)| {
            locked.overridden_by(&files.manifest).is_some_and(|range| !locked.is_in(range))
        });
        let outside: Vec<&SkillName> = outside.map(|(name, _)| name).collect();
        if let (Some(name), Some(option)) = (outside.first(), request.forbids_change()) {
            return Err(Error::config(message!(
                format_args!("`{name}` is locked in a version other than its `[override]` says, and "),
                option,
                " forbids changing it"
            ))
            .hint(message!("run ", Verb::Install, " without it and commit `skillpm.lock`")));
        }
        if request.forbids_change().is_some() {
            return Ok(BTreeSet::new());
        }
        let requested = files.manifest.skills().iter().filter(|(_, entry)| entry.released().is_some());
        let open = requested.filter(|(name, entry)| !self.is_locked(name, entry)).map(|(name, _)| name);
        let is_there = |name: &String| SkillName::new(name).is_ok_and(|name| files.knows(&name));
        let torn =
            files.lock.skills.iter().filter(|(_, locked)| {
                locked.released().is_some() && !locked.dependencies.iter().all(is_there)
            });
        Ok(open.chain(outside).chain(torn.map(|(name, _)| name)).cloned().collect())
    }

    /// Adds to `open` the locked skills that need others that are no longer in any file, as after a merge
    /// that lost an entry.
    fn torn(&mut self, request: &InstallRequest, open: &mut Vec<Dependent>) -> Result<()> {
        let is_there = |name: &String| {
            SkillName::new(name).is_ok_and(|name| {
                self.files.lock.skills.contains_key(&name) || self.files.manifest.skills().contains_key(&name)
            })
        };
        let settled = |name: &SkillName| open.iter().any(|skill| skill.name == *name);
        let torn = self.files.lock.skills.iter().filter(|(name, locked)| {
            is_wanted(self.files, &self.kept, name, locked)
                && !locked.dependencies.iter().all(is_there)
                && !settled(name)
        });
        let torn: Vec<(&SkillName, &Locked)> = torn.collect();
        for (name, locked) in torn {
            if let Some(option) = request.forbids_change() {
                return Err(Error::config(message!(
                    format_args!("`{name}` needs skills that are not in the lockfile, but "),
                    option,
                    " forbids changing it"
                ))
                .hint(message!(
                    "run ",
                    Verb::Install,
                    " without it and commit `skillpm.lock`"
                )));
            }
            let set = self.fetcher.content(name, locked)?;
            open.extend(locked_dependent(name, locked, &set)?);
        }
        Ok(())
    }

    /// Returns the skills that stay: those that the manifest requests, and those that they need as far as is
    /// known by now.
    pub(super) fn kept(&self) -> BTreeSet<SkillName> {
        let wanted = self.desired.wanted.iter();
        let anew = wanted.filter_map(|one| Some((&one.name, Some(one.content.locked()?)))).collect();
        self.files.staying(std::iter::empty(), &anew)
    }

    /// Returns the skills whose desired state is already settled.
    pub(super) fn settled(&self) -> BTreeSet<SkillName> {
        self.desired.wanted.iter().map(|wanted| wanted.name.clone()).collect()
    }
}
