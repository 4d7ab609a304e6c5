//! Dependencies of restored skills: locked ones are restored, and the rest is resolved.

use std::collections::BTreeSet;

use super::{Restorer, is_wanted};
use crate::advice::{Verb, message};
use crate::error::{Error, Result};
use crate::install::plan::Content;
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::ops::dependencies::{
    Brought, Deciding, Keep, decide, locked_dependent, problem, resolve, write_all,
};
use crate::ops::install::InstallRequest;
use crate::resolve::{Assignment, Dependent};

impl Restorer<'_> {
    /// Adds the dependencies of the skills that were resolved, and those that the lockfile names but does not
    /// contain.
    ///
    /// # Errors
    ///
    /// Fails as [`resolve`] does, and with `locked` or `frozen`, for anything that is missing.
    pub(super) fn complete(&mut self, request: &InstallRequest) -> Result<Assignment> {
        let mut open = std::mem::take(&mut self.came);
        if !request.no_deps {
            self.torn(request, &mut open)?;
        }
        if request.no_deps || open.iter().all(Dependent::is_independent) {
            return Ok(Assignment::default());
        }
        let problem = problem(self.files).renew(open);
        let brought = resolve(&mut self.fetcher.sources, problem, None)?;
        let Brought { assignment, selected, warnings, .. } = brought;
        for one in selected {
            let name = one.skill.name;
            let newest = one.candidate.newest(&name)?;
            let (locked, set) = self.fetcher.take(&name, &newest)?;
            self.want(&name, Content::Locked(locked), false, Some(set));
        }
        write_all(&assignment, &mut self.desired.wanted);
        self.fetcher.warnings.extend(warnings);
        Ok(assignment)
    }

    /// Decides the versions of skills of registries, if the manifest requests some that are not locked.
    ///
    /// # Errors
    ///
    /// Fails as [`decide`] does.
    pub(super) fn choose_versions(&mut self, request: &InstallRequest) -> Result<()> {
        let files = self.files;
        let of_registries = files.lock.skills.iter().filter(|(_, locked)| locked.origin.has_versions());
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
        let is_locked = |name, entry| {
            files.lock.skills.get(name).is_some_and(|locked| locked.is_allowed_by(&files.manifest, entry))
        };
        let mut requested = files.manifest.skills().iter().filter(|(_, entry)| entry.origin.has_versions());
        let is_open = requested.any(|(name, entry)| !is_locked(name, entry));
        let is_torn = || {
            files.lock.skills.values().filter(|locked| locked.origin.has_versions()).any(|locked| {
                let is_there = |name: &String| SkillName::new(name).is_ok_and(|name| files.knows(&name));
                !locked.dependencies.iter().all(is_there)
            })
        };
        if request.forbids_change().is_some() || (!is_open && outside.is_empty() && !is_torn()) {
            return Ok(());
        }
        let how = Deciding { keep: Keep::Locked, minimal: request.minimal, alone: request.no_deps };
        let warnings = decide(&mut self.fetcher.sources, files, &[], how)?;
        self.fetcher.warnings.extend(warnings);
        Ok(())
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
