//! Brings the dependencies of new versions, or takes them in a version other than the locked one.

use std::collections::BTreeSet;

use super::ask::AskedSkill;
use super::find::{Added, Finder, Installed, UpdateJob, Work, nothing};
use super::outcome::UpdateChange;
use super::request::UpdateRequest;
use crate::advice::Warning;
use crate::error::{Error, Result};
use crate::fetch::dependencies::{
    Asked, Brought, BroughtSkill, Deciding, Offered, Unsatisfied, locked_dependent, out_of_range_for,
    resolve, write,
};
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::diff::VersionDiff;
use crate::resolve::{Assignment, Dependent};
use crate::scope::state::Files;
use crate::store::Store;
use crate::updates::{Status, admitting};
use crate::version::Version;

impl Finder<'_> {
    /// Takes in the new versions of the skills of registries `released`, and what the new versions depend on: all that the
    /// search brings.
    ///
    /// The check has decided versions before, which is what the outcome says of sources. That decision is a search of its
    /// own: it knows nothing of what the new versions from other sources need, and what these exclude is newer all the same.
    pub(super) fn complete(&mut self, mut released: Vec<AskedSkill<'_>>) -> Result<()> {
        let mut incoming = std::mem::take(&mut self.incoming);
        if self.request.no_deps {
            incoming.clear();
        }
        if incoming.is_empty() && released.is_empty() {
            return Ok(());
        }
        // Others may rely on what one skill brings: if it stays as it is, everything is resolved again without it.
        let (assignment, warnings) = loop {
            let Unsatisfied { root, error } = match self.bring(&incoming, &released) {
                Ok(brought) => break brought,
                Err(unsatisfied) => unsatisfied,
            };
            let is_root = |name: &SkillName| root.as_ref() == Some(name);
            if let Some(at) = incoming.iter().position(|skill| is_root(&skill.name)) {
                self.give_up(&incoming.remove(at).name, error)?;
                continue;
            }
            let is_one = released.iter().any(|(one, _)| is_root(one.name));
            let (failed, rest): (Vec<_>, Vec<_>) =
                released.into_iter().partition(|(one, _)| !is_one || is_root(one.name));
            if failed.is_empty() {
                return Err(error);
            }
            released = rest;
            self.fail_all(&failed.iter().map(|(one, _)| one).collect::<Vec<_>>(), error)?;
        };
        for (installed, candidate) in released {
            if candidate.status == Status::LockedOtherwise {
                // The search's result for the old spelling is not needed any more.
                self.found.jobs.retain(|job| job.name != *installed.name);
                self.get((installed, candidate))?;
            } else if !self.found.jobs.iter().any(|job| job.name == *installed.name) {
                self.other(&installed, UpdateChange::Unchanged);
            }
        }
        self.found.warnings.extend(warnings);
        if self.request.no_deps {
            return Ok(());
        }
        for job in &mut self.found.jobs {
            match &mut job.work {
                Work::New(newer) => write(&assignment, &job.name, &mut newer.new),
                Work::Added(added) => write(&assignment, &job.name, &mut added.locked),
                Work::Decide { .. } | Work::Abort { .. } => {}
            }
        }
        let held = self.held_by_others(&assignment)?;
        self.found.warnings.extend(held);
        self.drop_unneeded();
        Ok(())
    }

    /// Brings the versions of the skills of registries `released`, and what the new versions `incoming` need, if all of it is
    /// available, otherwise nothing. Returns which skill satisfies which dependency, with the warnings.
    fn bring(
        &mut self,
        incoming: &[Dependent],
        released: &[AskedSkill<'_>],
    ) -> Result<(Assignment, Vec<Warning>), Unsatisfied> {
        let free: BTreeSet<SkillName> = released.iter().map(|(one, _)| one.name.clone()).collect();
        let UpdateRequest { minimal, no_deps: alone, .. } = *self.request;
        let how = Deciding { free: Some(&free), minimal, alone };
        self.requests.retain(|request| free.contains(&request.key));
        let asked = Asked { requests: &self.requests, incoming: incoming.to_vec(), how, ..Asked::default() };
        let Brought { assignment, skills, warnings, .. } =
            resolve(&mut self.fetcher.sources, self.files, asked)?;
        let number = self.found.warnings.len();
        let jobs = self.take_all(skills).inspect_err(|_| self.found.warnings.truncate(number))?;
        for job in jobs {
            // Its update according to the lockfile is obsolete.
            self.found.jobs.retain(|old| old.name != job.name);
            self.found.others.retain(|other| other.name != job.name.as_str());
            if let Work::New(_) = job.work {
                self.found.states.entry(job.name.to_string()).or_insert(Status::Changed.into());
            }
            self.found.jobs.push(job);
        }
        Ok((assignment, warnings))
    }

    /// Takes in the skills that come because of others, or none of them.
    fn take_all(&mut self, skills: Vec<BroughtSkill>) -> Result<Vec<UpdateJob>, Unsatisfied> {
        let take = |BroughtSkill { name, offered, found }| {
            self.take_needed(&name, offered).map_err(|error| Unsatisfied::new(&name, found, error))
        };
        skills.into_iter().map(take).collect()
    }

    /// Looks at the skills that stay as they are and depend on one that comes, and returns what to report if its new
    /// version is out of their range.
    fn held_by_others(&self, assignment: &Assignment) -> Result<Vec<Warning>> {
        let new = self.found.jobs.iter().filter(|job| job.new_version().is_some());
        let new: BTreeSet<&str> = new.map(|job| job.name.as_str()).collect();
        let comes = |name: &String| new.contains(name.as_str());
        let store = Store::new(&self.context.settings).ok();
        let mut warnings = Vec::new();
        for (name, locked) in &self.files.lock.skills {
            if comes(&name.to_string()) || !locked.dependencies.iter().any(comes) {
                continue;
            }
            // Without its files here this is unknown, and an installation reports it.
            if let Some(set) = store.as_ref().and_then(|store| store.get(&locked.digest).ok()?)
                && let Some(skill) = locked_dependent(name, locked, &set)?
            {
                warnings.extend(out_of_range_for(self.scope.kind, assignment, &skill));
            }
        }
        Ok(warnings)
    }

    /// Leaves the skill `root` as it is: what its new version needs is not available.
    fn give_up(&mut self, root: &SkillName, error: Error) -> Result<()> {
        self.found.jobs.retain(|job| job.name != *root);
        let Some(installed) = installed(self.files, root) else { return Err(error) };
        self.fail(&installed, error)
    }

    /// Leaves out what was to come, or to come back, for a skill that nothing needs any more.
    pub(super) fn drop_unneeded(&mut self) {
        let anew = self.found.jobs.iter().map(|job| (&job.name, Some(job.locks()))).collect();
        let stay = self.files.staying(std::iter::empty(), &anew);
        let comes = |job: &UpdateJob| matches!(job.work, Work::Added(_));
        self.found.jobs.retain(|job| !comes(job) || stay.contains(&job.name));
    }

    /// Takes the skill `name` in, on which others depend.
    fn take_needed(&mut self, name: &SkillName, offered: Offered) -> Result<UpdateJob> {
        let newest = offered.newest(name)?;
        if let Some(installed) = installed(self.files, name) {
            self.check_merged(&installed)?;
            let mut job = self.renew(&installed, &newest, None)?;
            job.entry = job.new_version().and_then(|new| self.admitting(&installed, new));
            return Ok(job);
        }
        let (locked, set) = self.fetcher.take(name, &newest)?;
        let diff = Some(VersionDiff::new(&nothing(), &set)?);
        let work = Work::Added(Box::new(Added { locked, set, diff }));
        Ok(UpdateJob { name: name.clone(), entry: None, disabled: false, work })
    }

    /// Returns the new manifest entry of a skill that was requested in any version, if its entry does not admit `new`.
    fn admitting(&self, installed: &Installed<'_>, new: &Locked) -> Option<Requirement> {
        let Installed { name, locked, .. } = installed;
        let is_requested = self.requests.iter().any(|request| request.key == **name && !request.within);
        let entry = self.files.manifest.skills().get(name).filter(|_| is_requested)?;
        let version = Version::new(new.revision.as_deref()?).ok()?;
        admitting(entry, locked, self.files, &version)
    }
}

/// Returns what is locked as `name`, with its manifest entry.
fn installed<'f>(files: &'f Files, name: &SkillName) -> Option<Installed<'f>> {
    let (name, locked) = files.lock.skills.get_key_value(name)?;
    let entry = files.manifest.skills().get(name).cloned().unwrap_or_else(|| locked.requirement());
    Some(Installed { name, entry, locked })
}
