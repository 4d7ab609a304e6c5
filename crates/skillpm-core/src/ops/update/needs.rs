//! What new versions need: brought, or taken in another version than the one that is locked.

use super::find::{Come, Finder, Installed, Job, Work, nothing};
use crate::error::{Error, Result};
use crate::install::plan::requirement_of;
use crate::name::SkillName;
use crate::ops::diff::VersionDiff;
use crate::ops::install::needs::{Needer, Needs, Pick, can_be_left_out};
use crate::store::Store;

/// The installed skill whose new version needs what cannot be had, and why.
struct NotFor(SkillName, Error);

impl Finder<'_> {
    /// Brings what the new versions need and nobody has installed.
    ///
    /// # Errors
    ///
    /// As [`Needs::of`].
    pub(super) fn complete(&mut self) -> Result<()> {
        let mut came = std::mem::take(&mut self.came);
        if came.is_empty() {
            return Ok(());
        }
        // What one skill brings, others may count on: when it stays as it is, all is looked at anew without it.
        let mut needs = loop {
            match self.bring(&came) {
                Ok(needs) => break needs,
                Err(NotFor(root, error)) => {
                    came.retain(|needer| needer.name != root);
                    self.give_up(&root, error)?;
                }
            }
        };
        self.held_by_others(&came, &mut needs)?;
        for job in &mut self.found.jobs {
            match &mut job.work {
                Work::New(newer) => needs.write(&job.name, &mut newer.new),
                Work::Come(come) => needs.write(&job.name, &mut come.locked),
                Work::Decide { .. } | Work::Return { .. } | Work::Abort { .. } => {}
            }
        }
        self.found.warnings.extend(needs.warnings());
        self.drop_unneeded();
        Ok(())
    }

    /// Brings what the new versions `came` need, and what that needs, if all of it can be had: else nothing.
    fn bring(&mut self, came: &[Needer]) -> Result<Needs, NotFor> {
        let mut needs = Needs::new(self.files);
        for needer in came {
            needs.renewed(needer);
        }
        // Each with the installed skill for which it comes.
        let mut open: Vec<_> = came.iter().map(|needer| (needer.name.clone(), needer.clone())).collect();
        let mut picked = Vec::new();
        while let Some((root, needer)) = open.pop() {
            let picks = match needs.of(&mut self.worker, &needer) {
                Ok(picks) => picks,
                Err(error) => return Err(NotFor(root, error)),
            };
            for pick in picks {
                open.push((root.clone(), pick.needer()));
                picked.push((root.clone(), pick));
            }
        }
        let told = self.found.warnings.len();
        let mut jobs = Vec::new();
        for (root, pick) in picked {
            let name = pick.name.clone();
            match self.take_needed(pick) {
                Ok(job) => jobs.push(job),
                Err(error) => {
                    self.found.warnings.truncate(told);
                    let what = format!("`{root}` needs `{name}`, which cannot be installed");
                    let error = can_be_left_out(error.context(what));
                    return Err(NotFor(root, error));
                }
            }
        }
        for job in jobs {
            // What it was to become by what is locked is of no use any more.
            self.found.jobs.retain(|old| old.name != job.name);
            self.found.others.retain(|other| other.name != job.name.as_str());
            self.found.jobs.push(job);
        }
        Ok(needs)
    }

    /// Looks at the skills that stay as they are and need one that comes: a new version may be out of their range.
    fn held_by_others(&self, came: &[Needer], needs: &mut Needs) -> Result<()> {
        let comes = |name: &String| came.iter().any(|needer| needer.name.as_str() == name);
        let store = Store::new(&self.context.settings).ok();
        for (name, locked) in &self.files.lock.skills {
            if comes(&name.to_string()) || !locked.dependencies.iter().any(comes) {
                continue;
            }
            // Without its files here nobody can tell, and an installation tells it.
            if let Some(set) = store.as_ref().and_then(|store| store.get(&locked.digest).ok()?)
                && let Some(needer) = Needer::locked(name, locked, &set)?
            {
                needs.of_unchanged(&needer);
            }
        }
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

    /// Leaves out what was to come, or to come back, for a skill that nothing needs any more.
    pub(super) fn drop_unneeded(&mut self) {
        let anew = self.found.jobs.iter().map(|job| (&job.name, Some(job.locks()))).collect();
        let stay = self.files.staying(std::iter::empty(), &anew);
        let comes = |job: &Job| matches!(job.work, Work::Come(_) | Work::Return { .. });
        self.found.jobs.retain(|job| !comes(job) || stay.contains(&job.name));
    }

    /// Takes a skill in that others need.
    fn take_needed(&mut self, pick: Pick) -> Result<Job> {
        let name = pick.name.clone();
        let newest = pick.newest()?;
        if let Some((name, locked)) = self.files.lock.skills.get_key_value(&name) {
            let written = self.files.manifest.skills().get(name).cloned();
            let entry = written.unwrap_or_else(|| requirement_of(locked));
            let installed = Installed { name, entry, locked };
            return self.renew(&installed, &newest, None);
        }
        let (locked, set) = self.worker.take(&name, &newest)?;
        let diff = VersionDiff::new(&nothing(), &set)?;
        let work = Work::Come(Box::new(Come { locked, set, diff }));
        Ok(Job { name, entry: None, disabled: false, work })
    }
}
