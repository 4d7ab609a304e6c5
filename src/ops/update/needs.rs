//! What new versions need: brought, or taken in another version than the one that is locked.

use super::find::{Come, Finder, Installed, Job, Work, nothing};
use crate::error::{Error, Result};
use crate::install::plan::requirement_of;
use crate::name::SkillName;
use crate::ops::diff::VersionDiff;
use crate::ops::install::needs::{Needs, Pick};

impl Finder<'_> {
    /// Brings what the new versions need and nobody has installed.
    ///
    /// # Errors
    ///
    /// As [`Needs::of`].
    pub(super) fn complete(&mut self) -> Result<()> {
        let open = std::mem::take(&mut self.came);
        if open.is_empty() {
            return Ok(());
        }
        let mut needs = Needs::new(self.files);
        for needer in &open {
            needs.renewed(needer);
        }
        // Each with the installed skill for which it comes.
        let mut open: Vec<_> = open.into_iter().map(|needer| (needer.name.clone(), needer)).collect();
        while let Some((root, needer)) = open.pop() {
            let picks = match needs.of(&mut self.worker, &needer) {
                Ok(picks) => picks,
                Err(error) => {
                    self.give_up(&root, error)?;
                    open.retain(|(other, _)| *other != root);
                    continue;
                }
            };
            for pick in picks {
                open.push((root.clone(), pick.needer()));
                self.take_needed(pick)?;
            }
        }
        for job in &mut self.found.jobs {
            match &mut job.work {
                Work::New(newer) => needs.write(&job.name, &mut newer.new),
                Work::Come(come) => needs.write(&job.name, &mut come.locked),
                Work::Decide { .. } | Work::Abort { .. } => {}
            }
        }
        self.found.warnings.extend(needs.warnings());
        self.drop_unneeded();
        Ok(())
    }

    /// Leaves the skill `root` as it is: what its new version needs cannot be had.
    fn give_up(&mut self, root: &SkillName, error: Error) -> Result<()> {
        self.found.jobs.retain(|job| job.name != *root);
        let Some((name, locked)) = self.files.lock.skills.get_key_value(root) else { return Err(error) };
        let entry = self.files.manifest.skills().get(root).cloned();
        let entry = entry.unwrap_or_else(|| requirement_of(locked));
        self.fail(&Installed { name, entry, locked }, error)
    }

    /// Leaves out what was to come for a skill that stays as it is.
    fn drop_unneeded(&mut self) {
        let jobs = self.found.jobs.iter();
        let anew = jobs.filter_map(|job| Some((&job.name, Some(job.new_version()?)))).collect();
        let stay = self.files.staying(std::iter::empty(), &anew);
        let is_needed = |job: &Job| !matches!(job.work, Work::Come(_)) || stay.contains(&job.name);
        self.found.jobs.retain(is_needed);
    }

    fn take_needed(&mut self, pick: Pick) -> Result<()> {
        let name = pick.name.clone();
        let newest = pick.newest()?;
        // What it was to become by what is locked is of no use any more.
        self.found.jobs.retain(|job| job.name != name);
        self.found.others.retain(|other| other.name != name.as_str());
        if let Some((name, locked)) = self.files.lock.skills.get_key_value(&name) {
            let installed = Installed { name, entry: requirement_of(locked), locked };
            return self.renew(&installed, &newest, None);
        }
        let (locked, set) = self.worker.take(&name, &newest)?;
        let diff = VersionDiff::new(&nothing(), &set)?;
        let work = Work::Come(Box::new(Come { locked, set, diff }));
        self.found.jobs.push(Job { name, entry: None, disabled: false, work });
        Ok(())
    }
}
