//! Brings the dependencies of new versions, or takes them in a version other than the locked one.

use super::find::{Come, Finder, Installed, UpdateJob, Work, nothing};
use super::outcome::UpdateChange;
use crate::advice::Warning;
use crate::error::{Error, Result};
use crate::install::plan::requirement_of;
use crate::install::state::Files;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::dependencies::{
    Asked, Brought, Deciding, Offered, Selected, Unsatisfied, VersionRequest, can_be_left_out,
    locked_dependent, out_of_range_for, resolve, write,
};
use crate::ops::diff::VersionDiff;
use crate::resolve::{Assignment, Dependent, Finder as Found};
use crate::store::Store;
use crate::updates::admitting;
use crate::version::Version;

impl Finder<'_> {
    /// Brings what the new versions depend on and nobody has installed.
    ///
    /// # Errors
    ///
    /// Fails as [`resolve`] does.
    pub(super) fn complete(&mut self) -> Result<()> {
        let mut came = std::mem::take(&mut self.came);
        if came.is_empty() {
            return Ok(());
        }
        // Others may rely on what one skill brings: if it stays as it is, everything is resolved again without it.
        let (assignment, warnings) = loop {
            match self.bring(&came) {
                Ok(brought) => break brought,
                Err(Unsatisfied { root: Some(root), error })
                    if came.iter().any(|skill| skill.name == root) =>
                {
                    came.retain(|skill| skill.name != root);
                    self.give_up(&root, error)?;
                }
                Err(Unsatisfied { error, .. }) => return Err(error),
            }
        };
        self.leave_locked(&mut came);
        for job in &mut self.found.jobs {
            match &mut job.work {
                Work::New(newer) => write(&assignment, &job.name, &mut newer.new),
                Work::Come(come) => write(&assignment, &job.name, &mut come.locked),
                Work::Decide { .. } | Work::Return { .. } | Work::Abort { .. } => {}
            }
        }
        self.found.warnings.extend(warnings);
        let held = self.held_by_others(&came, &assignment)?;
        self.found.warnings.extend(held);
        self.drop_unneeded();
        Ok(())
    }

    /// Brings the dependencies of the new versions `came`, and their dependencies in turn, if all of them are
    /// available, otherwise nothing. Returns which skill satisfies which dependency, with the warnings.
    fn bring(&mut self, came: &[Dependent]) -> Result<(Assignment, Vec<Warning>), Unsatisfied> {
        let how = Deciding { minimal: self.request.minimal, ..Deciding::default() };
        let comes = |request: &&VersionRequest| came.iter().any(|skill| skill.name == request.key);
        let requests: Vec<_> = self.requests.iter().filter(comes).cloned().collect();
        let asked = Asked { requests: &requests, came: came.to_vec(), how, ..Asked::default() };
        let before = self.fetcher.sources.versions.clone();
        let Brought { assignment, selected, changed, warnings, .. } =
            resolve(&mut self.fetcher.sources, self.files, asked)?;
        let told = self.found.warnings.len();
        let jobs = self.take_all(selected, changed).inspect_err(|_| {
            self.found.warnings.truncate(told);
            // Nothing of it was taken in, so nothing of it is decided.
            self.fetcher.sources.versions = before;
        })?;
        for job in jobs {
            // What it was to become according to the lockfile is no longer of use.
            self.found.jobs.retain(|old| old.name != job.name);
            self.found.others.retain(|other| other.name != job.name.as_str());
            self.found.jobs.push(job);
        }
        Ok((assignment, warnings))
    }

    /// Takes in the skills that come, `selected`, and those whose versions are `changed`.
    fn take_all(
        &mut self,
        selected: Vec<Selected>,
        changed: Vec<(SkillName, Offered)>,
    ) -> Result<Vec<UpdateJob>, Unsatisfied> {
        let mut jobs = Vec::new();
        for (name, offered) in changed {
            jobs.push(self.take_needed(&name, offered)?);
        }
        for Selected { name, offered, found: Found { root, .. } } in selected {
            let job = self.take_needed(&name, offered).map_err(|error| {
                let what = format!("`{root}` needs `{name}`, which cannot be installed");
                Unsatisfied { root: Some(root), error: can_be_left_out(error.context(what)) }
            })?;
            jobs.push(job);
        }
        Ok(jobs)
    }

    /// Leaves the skills of registries as they are of which the last decision is that they keep their locked versions.
    fn leave_locked(&mut self, came: &mut Vec<Dependent>) {
        let (files, versions) = (self.files, &self.fetcher.sources.versions);
        let is_taken_back = |job: &UpdateJob| {
            let Work::New(newer) = &job.work else { return false };
            let (old, new) = (&newer.old, &newer.new);
            let is_other = (&old.origin, &old.revision) != (&new.origin, &new.revision);
            old.released().is_some() && is_other && versions.keeps(old)
        };
        let (gone, jobs) = std::mem::take(&mut self.found.jobs).into_iter().partition(is_taken_back);
        self.found.jobs = jobs;
        let gone: Vec<UpdateJob> = gone;
        came.retain(|skill| gone.iter().all(|job| job.name != skill.name));
        for job in &gone {
            if let Some(installed) = installed(files, &job.name) {
                self.other(&installed, UpdateChange::Unchanged);
            }
        }
    }

    /// Looks at the skills that stay as they are and depend on one that comes, and returns what to report if its new
    /// version is out of their range.
    fn held_by_others(&self, came: &[Dependent], assignment: &Assignment) -> Result<Vec<Warning>> {
        let comes = |name: &String| came.iter().any(|skill| skill.name.as_str() == name);
        let store = Store::new(&self.context.settings).ok();
        let mut told = Vec::new();
        for (name, locked) in &self.files.lock.skills {
            if comes(&name.to_string()) || !locked.dependencies.iter().any(comes) {
                continue;
            }
            // Without its files here this is unknown, and an installation reports it.
            if let Some(set) = store.as_ref().and_then(|store| store.get(&locked.digest).ok()?)
                && let Some(skill) = locked_dependent(name, locked, &set)?
            {
                told.extend(out_of_range_for(self.scope.kind, assignment, &skill));
            }
        }
        Ok(told)
    }

    /// Leaves the skill `root` as it is: what its new version needs is not available.
    fn give_up(&mut self, root: &SkillName, error: Error) -> Result<()> {
        self.found.jobs.retain(|job| job.name != *root);
        let Some(installed) = installed(self.files, root) else { return Err(error) };
        self.fetcher.sources.versions.keep(installed.locked);
        self.fail(&installed, error)
    }

    /// Leaves out what was to come, or to come back, for a skill that nothing needs any more.
    pub(super) fn drop_unneeded(&mut self) {
        let anew = self.found.jobs.iter().map(|job| (&job.name, Some(job.locks()))).collect();
        let stay = self.files.staying(std::iter::empty(), &anew);
        let comes = |job: &UpdateJob| matches!(job.work, Work::Come(_) | Work::Return { .. });
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
        let diff = VersionDiff::new(&nothing(), &set)?;
        let work = Work::Come(Box::new(Come { locked, set, diff }));
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
    let entry = files.manifest.skills().get(name).cloned().unwrap_or_else(|| requirement_of(locked));
    Some(Installed { name, entry, locked })
}
