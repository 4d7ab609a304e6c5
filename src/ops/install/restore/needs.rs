//! What restored skills need: what of it is locked comes back, and the rest is resolved.

use std::collections::BTreeSet;

use super::Worker;
use crate::advice::{Verb, message};
use crate::error::{Error, Result};
use crate::install::plan::Content;
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::ops::install::InstallRequest;
use crate::ops::install::needs::{Needer, Needs};

impl Worker<'_> {
    /// Brings what the skills need that were resolved, and what the lockfile names and does not have.
    ///
    /// # Errors
    ///
    /// As [`Needs::of`]; with `locked` or `frozen`, anything that is missing.
    pub(super) fn complete(&mut self, request: &InstallRequest) -> Result<Option<Needs>> {
        let mut open = std::mem::take(&mut self.came);
        if !request.no_deps {
            self.torn(request, &mut open)?;
        }
        if request.no_deps || open.iter().all(Needer::is_content) {
            return Ok(None);
        }
        let mut needs = Needs::new(self.files);
        for needer in &open {
            needs.renewed(needer);
        }
        while let Some(needer) = open.pop() {
            for pick in needs.of(self, &needer)? {
                let name = pick.name.clone();
                open.push(pick.needer());
                let newest = pick.newest()?;
                let (locked, set) = self.take(&name, &newest)?;
                self.want(&name, Content::Locked(locked), false, Some(set));
            }
        }
        self.restore.fetched.settle_needs(&mut needs);
        Ok(Some(needs))
    }

    /// Adds to `open` the locked skills that need others which nothing names any more, as after a merge that
    /// lost an entry.
    fn torn(&mut self, request: &InstallRequest, open: &mut Vec<Needer>) -> Result<()> {
        let is_there = |name: &String| {
            SkillName::new(name).is_ok_and(|name| {
                self.files.lock.skills.contains_key(&name) || self.files.manifest.skills().contains_key(&name)
            })
        };
        let settled = |name: &SkillName| open.iter().any(|needer| needer.name == *name);
        let torn = self.files.lock.skills.iter().filter(|(name, locked)| {
            self.is_wanted(name, locked) && !locked.dependencies.iter().all(is_there) && !settled(name)
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
            let set = self.content(name, locked)?;
            open.extend(Needer::locked(name, locked, &set)?);
        }
        Ok(())
    }

    /// The skills that are to stay: those that the manifest asks for, and what they need by what was found.
    pub(super) fn kept(&self) -> BTreeSet<SkillName> {
        let wanted = self.restore.fetched.wanted.iter();
        let anew = wanted.filter_map(|one| Some((&one.name, Some(one.content.locked()?)))).collect();
        self.files.staying(std::iter::empty(), &anew)
    }

    /// The skills of which it is said already what is to be there.
    pub(super) fn settled(&self) -> BTreeSet<SkillName> {
        self.restore.fetched.wanted.iter().map(|wanted| wanted.name.clone()).collect()
    }
}
