//! Changing a registry.

use std::collections::BTreeSet;

use super::derive::{Change, Derived, Plan, plan, plan_all};
use super::staging::{StagedFile, Staging};
use super::{Ledger, Package, RegistryDir, Staged, Timestamp, files};
use crate::advice::{Verb, message};
use crate::error::{Error, Result};
use crate::fs::{self, FileLock};
use crate::name::SkillName;
use crate::version::Version;

/// The one process that changes a registry. What it is told to change is written beside its place first, and gets its
/// place by [`Writer::commit`]; dropped before that, it has changed nothing.
#[derive(Debug)]
pub struct Writer<'a> {
    pub(super) stage: Staging<'a>,
    dir: &'a RegistryDir,
    pub(super) ledger: Ledger<'a>,
    artifacts: Vec<StagedFile>,
    /// Whether archives got their places before all others.
    pub(super) has_placed: bool,
    /// New records and events.
    pub(super) truth: Vec<StagedFile>,
    // Released last.
    _lock: FileLock,
}

impl<'a> Writer<'a> {
    /// Waits until no other process changes the registry `dir`; calls `on_wait` if one does.
    ///
    /// # Errors
    ///
    /// Fails if the registry cannot be written.
    pub fn new(dir: &'a RegistryDir, on_wait: impl Fn()) -> Result<Self> {
        let lock = FileLock::acquire(&dir.path_of(files::LOCK), on_wait)?;
        let stage = Staging::new(dir)?;
        let (artifacts, truth) = (Vec::new(), Vec::new());
        Ok(Self { stage, dir, ledger: Ledger::new(dir), artifacts, has_placed: false, truth, _lock: lock })
    }

    /// Stages `package` for publication at the time `published`.
    ///
    /// # Errors
    ///
    /// Fails as [`Ledger::publish`] does, and if a file cannot be written.
    pub fn stage(&mut self, package: &Package, published: Timestamp) -> Result<Staged> {
        let staged = self.ledger.publish(package, published)?;
        if let Staged::New(record) = &staged {
            if self.dir.archive(&package.artifact).is_none() {
                let path = files::artifact(&package.artifact.digest);
                self.artifacts.push(self.stage.write(path, &package.bytes)?);
            }
            let path = files::record(&record.name, &record.version);
            self.truth.push(self.stage.write(path, &record.to_bytes())?);
        }
        Ok(staged)
    }

    /// Stages that `version` of `name` is yanked for `reason`, or with `None` no longer is. Returns whether that is new.
    ///
    /// # Errors
    ///
    /// Fails as [`Ledger::yank`] does, and if a file cannot be written.
    pub fn yank(
        &mut self,
        name: &SkillName,
        version: &Version,
        reason: Option<&str>,
        time: Timestamp,
    ) -> Result<bool> {
        let Some((number, event)) = self.ledger.yank(name, version, reason, time)? else { return Ok(false) };
        self.truth.push(self.stage.write(files::event(name, number), &event.to_bytes())?);
        Ok(true)
    }

    /// Publishes what was staged, and derives the skills that a killed writer left.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be written. Unless the error says otherwise, nothing was published then.
    pub fn commit(mut self) -> Result<Derived> {
        let pending = self.dir.pending()?;
        if self.truth.is_empty() && pending.is_empty() {
            return Ok(Derived::default());
        }
        for name in pending {
            self.ledger.history(&name)?;
        }
        let plan = plan(self.dir, self.ledger.touched())?;
        self.carry_out(plan)
    }

    /// Derives everything from records and events.
    ///
    /// # Errors
    ///
    /// Fails for a record or event that is damaged, and if a file cannot be written.
    pub fn index(mut self) -> Result<Derived> {
        for name in self.dir.pending()? {
            self.ledger.history(&name)?;
        }
        let plan = plan_all(self.dir, self.ledger.touched())?;
        self.carry_out(plan)
    }

    /// Gives everything that was staged its place, and then what is derived from it.
    fn carry_out(mut self, plan: Plan) -> Result<Derived> {
        if plan.changes.is_empty() && self.truth.is_empty() {
            self.unmark_all();
            return Ok(Derived { skills: plan.skills, versions: plan.versions, ..Derived::default() });
        }
        let derived = self.stage_derived(plan.changes)?;
        let marked = self.mark()?;
        let published = self.publish();
        if let Err((error, count)) = published {
            if count == 0 {
                for name in &marked {
                    self.unmark(name);
                }
                return Err(error);
            }
            return Err(unfinished(error));
        }
        let (mut written, mut removed) = (Vec::new(), Vec::new());
        for change in derived {
            match change {
                Placing::Replace(file) => {
                    self.stage.replace(&file).map_err(unfinished)?;
                    written.push(file.to);
                }
                Placing::Remove(path) => {
                    self.stage.remove(&path).map_err(unfinished)?;
                    removed.push(path);
                }
            }
        }
        self.stage.sync().map_err(unfinished)?;
        self.unmark_all();
        Ok(Derived { skills: plan.skills, versions: plan.versions, written, removed })
    }

    /// Writes the derived files beside their places.
    fn stage_derived(&mut self, changes: Vec<Change>) -> Result<Vec<Placing>> {
        let stage = &mut self.stage;
        let place = |Change { path, bytes }| match bytes {
            Some(bytes) => stage.write(path, &bytes).map(Placing::Replace),
            None => Ok(Placing::Remove(path)),
        };
        changes.into_iter().map(place).collect()
    }

    /// Marks the skills that change, so that they are derived again should this process be killed. Returns those that
    /// were not marked before.
    fn mark(&mut self) -> Result<BTreeSet<SkillName>> {
        let before: BTreeSet<_> = self.dir.pending()?.into_iter().collect();
        let new: BTreeSet<_> =
            self.ledger.touched().keys().filter(|name| !before.contains(*name)).cloned().collect();
        let marked =
            new.iter().try_for_each(|name| self.dir.base.write_new(&files::pending(name), [&b""[..]]));
        if let Err(error) = marked.map_err(Error::from).and_then(|()| self.stage.sync()) {
            for name in &new {
                self.unmark(name);
            }
            return Err(error);
        }
        Ok(new)
    }

    /// Removes the marks of all skills that were touched.
    fn unmark_all(&self) {
        self.ledger.touched().keys().for_each(|name| self.unmark(name));
    }

    /// Removes the mark of the skill `name`. A mark that stays harms nothing: the next writer derives the same again.
    fn unmark(&self, name: &SkillName) {
        let _ = fs::remove_tree(&self.dir.path_of(&files::pending(name)));
    }

    /// Moves archives, records and events to their places. An error comes with the number of records and events that
    /// were published before.
    fn publish(&mut self) -> Result<(), (Error, usize)> {
        for artifact in &self.artifacts {
            self.stage.replace(artifact).map_err(|error| (error, 0))?;
        }
        if self.has_placed || !self.artifacts.is_empty() {
            self.stage.sync().map_err(|error| (error, 0))?;
        }
        for (count, file) in self.truth.iter().enumerate() {
            self.stage.create(file).map_err(|error| (error, count))?;
        }
        let count = self.truth.len();
        if count > 0 { self.stage.sync().map_err(|error| (error, count)) } else { Ok(()) }
    }
}

/// What happens to a derived file.
enum Placing {
    Replace(StagedFile),
    Remove(String),
}

/// Returns `error` as the reason why derived files are behind records or events that were published.
fn unfinished(error: Error) -> Error {
    error
        .context("the registry was changed, but not all files that are derived from it")
        .hint(message!(Verb::Registry.call().word("index"), " completes it"))
}
