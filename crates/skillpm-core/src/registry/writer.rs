//! Changing a registry.

use super::derive::{Change, Derived, Plan, plan, plan_all};
use super::dir_staging::DirStaging;
use super::staging::{BucketStaging, StagedFile, Staging};
use super::{
    Carrier, Event, Ledger, LogChange, LogEntry, Objects, Package, Record, Staged, Timestamp, files,
};
use crate::advice::{Verb, message};
use crate::error::{Error, ErrorKind, Result};
use crate::name::SkillName;
use crate::version::Version;

/// A change of a registry. What it is told to change is staged first, and gets its place by [`Writer::commit`]; dropped
/// before that, it has changed nothing. In a directory, no other process changes the registry meanwhile.
#[derive(Debug)]
pub struct Writer<'a> {
    pub(super) stage: Box<dyn Staging + 'a>,
    objects: &'a dyn Objects,
    pub(super) ledger: Ledger<'a>,
    artifacts: Vec<StagedFile>,
    /// Whether archives got their places before all others.
    pub(super) has_placed: bool,
    /// New records and events.
    truth: Vec<StagedFile>,
    /// What the log will say about them.
    changes: Vec<LogChange>,
    /// The time of the newest of them.
    time: Timestamp,
    /// Who changes the registry, if that is known.
    by: Option<String>,
}

impl<'a> Writer<'a> {
    /// Waits until no other process changes the registry with these files, if they lie in a directory; calls `on_wait` if
    /// one does.
    ///
    /// # Errors
    ///
    /// Fails if the registry cannot be written.
    pub fn new(objects: &'a dyn Objects, on_wait: impl Fn()) -> Result<Self> {
        let stage: Box<dyn Staging + 'a> = match objects.carrier() {
            Carrier::Directory(dir) => Box::new(DirStaging::new(dir, on_wait)?),
            Carrier::Bucket(bucket) => Box::new(BucketStaging::new(bucket)),
        };
        Ok(Self {
            stage,
            objects,
            ledger: Ledger::new(objects),
            artifacts: Vec::new(),
            has_placed: false,
            truth: Vec::new(),
            changes: Vec::new(),
            time: Timestamp::new(0),
            by: None,
        })
    }

    /// Lets the log say that `by` changes the registry.
    #[must_use]
    pub fn by(mut self, by: Option<String>) -> Self {
        self.by = by;
        self
    }

    /// Returns the ledger: the skills as they will be.
    pub fn ledger(&mut self) -> &mut Ledger<'a> {
        &mut self.ledger
    }

    /// Stages `package` for publication at the time `published`.
    ///
    /// # Errors
    ///
    /// Fails as [`Ledger::publish`] does, and if a file cannot be written.
    pub fn stage(&mut self, package: &Package, published: Timestamp) -> Result<Staged> {
        let staged = self.ledger.publish(package, published)?;
        if let Staged::New(record) = &staged {
            if !self.stage.has_archive(&package.artifact) {
                let path = files::artifact(&package.artifact.digest);
                self.artifacts.push(self.stage.write(path, &package.bytes)?);
            }
            self.stage_record(record, &record.to_bytes())?;
        }
        Ok(staged)
    }

    /// Stages a record, which the ledger has, with its `bytes`.
    pub(super) fn stage_record(&mut self, record: &Record, bytes: &[u8]) -> Result<()> {
        self.truth.push(self.stage.write(files::record(&record.name, &record.version), bytes)?);
        let (name, version, digest) = (record.name.clone(), record.version.clone(), record.digest);
        self.announce(LogChange::Publish { name, version, digest }, record.published);
        Ok(())
    }

    fn announce(&mut self, change: LogChange, time: Timestamp) {
        self.changes.push(change);
        self.time = self.time.max(time);
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
        self.stage_event(name, number, event, time)?;
        Ok(true)
    }

    /// Stages an event about the whole skill `name`, which happens at `time`.
    ///
    /// # Errors
    ///
    /// Fails if the skill cannot be read, and if a file cannot be written.
    pub fn event(&mut self, name: &SkillName, event: Event, time: Timestamp) -> Result<()> {
        let history = self.ledger.history(name)?;
        history.happen(event.clone());
        let number = history.event_count();
        self.stage_event(name, number, event, time)
    }

    fn stage_event(&mut self, name: &SkillName, number: usize, event: Event, time: Timestamp) -> Result<()> {
        self.truth.push(self.stage.write(files::event(name, number), &event.to_bytes())?);
        self.announce(LogChange::Event { name: name.clone(), number, event }, time);
        Ok(())
    }

    /// Publishes what was staged, and derives the skills that a killed writer left.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be written, and if another writer of the bucket was faster. Unless the error says otherwise,
    /// nothing was published then.
    pub fn commit(self) -> Result<Derived> {
        self.try_commit()?.ok_or_else(contended)
    }

    /// Works like [`Self::commit`]. Returns `None` if another writer of the bucket changed the same skill: then nothing was
    /// published, and everything is to be decided again from what is there now.
    pub(super) fn try_commit(mut self) -> Result<Option<Derived>> {
        let pending = self.stage.pending()?;
        if self.truth.is_empty() && pending.is_empty() {
            return Ok(Some(Derived::default()));
        }
        self.touch(pending)?;
        let plan = match self.objects.carrier() {
            Carrier::Directory(dir) => plan(dir, self.ledger.touched())?,
            Carrier::Bucket(_) => Plan::default(),
        };
        self.carry_out(plan)
    }

    /// Counts the skills `pending`, which a killed writer left, as touched. One that is damaged since keeps its mark, and
    /// does not keep the others from being changed.
    fn touch(&mut self, pending: Vec<SkillName>) -> Result<()> {
        for name in pending {
            match self.ledger.history(&name) {
                Err(error) if error.kind() == ErrorKind::Integrity => {}
                read => drop(read?),
            }
        }
        Ok(())
    }

    /// Derives everything from records and events. A skill that is damaged is left out. In a bucket nothing is derived.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read or written.
    pub fn index(mut self) -> Result<Derived> {
        self.touch(self.stage.pending()?)?;
        let plan = match self.objects.carrier() {
            Carrier::Directory(dir) => plan_all(dir, self.ledger.touched())?,
            Carrier::Bucket(_) => Plan::default(),
        };
        self.carry_out(plan)?.ok_or_else(contended)
    }

    /// Gives everything that was staged its place, and then what is derived from it. Returns `None` if another writer was
    /// faster.
    fn carry_out(mut self, mut plan: Plan) -> Result<Option<Derived>> {
        if plan.changes.is_empty() && self.truth.is_empty() {
            self.unmark_all();
            let Plan { skills, versions, left_out, .. } = plan;
            return Ok(Some(Derived { skills, versions, left_out, ..Derived::default() }));
        }
        let log = self.stage_log()?;
        let derived = self.stage_derived(std::mem::take(&mut plan.changes))?;
        let marked = self.mark()?;
        match self.publish(log.as_ref()) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) if self.stage.is_decided() => return Err(unfinished(error)),
            Err(error) => {
                self.unmark(&marked);
                return Err(error);
            }
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
        let Plan { skills, versions, left_out, .. } = plan;
        Ok(Some(Derived { skills, versions, written, removed, left_out }))
    }

    /// Writes the entry of the log beside its place; `None` if there is nothing to announce.
    fn stage_log(&mut self) -> Result<Option<StagedFile>> {
        if self.changes.is_empty() {
            return Ok(None);
        }
        let changes = std::mem::take(&mut self.changes);
        let entry = LogEntry { time: self.time, by: self.by.clone(), changes };
        self.stage.write_log(&entry).map(Some)
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

    /// Marks the skills that change. Returns those that were not marked before.
    fn mark(&mut self) -> Result<Vec<SkillName>> {
        let before = self.stage.pending()?;
        let new: Vec<_> =
            self.ledger.touched().keys().filter(|name| !before.contains(*name)).cloned().collect();
        if let Err(error) = self.stage.mark(&new) {
            self.unmark(&new);
            return Err(error);
        }
        Ok(new)
    }

    /// Removes the marks of all skills that were touched.
    fn unmark_all(&self) {
        self.unmark(self.ledger.touched().keys());
    }

    fn unmark<'n>(&self, names: impl IntoIterator<Item = &'n SkillName>) {
        for name in names {
            self.stage.unmark(name);
        }
    }

    /// Gives archives, the entry of the log, records and events their places, in this order. Once the entry has its place
    /// the change of a directory is decided: if this fails afterwards, the next writer goes on. Returns whether all have
    /// their places.
    fn publish(&mut self, log: Option<&StagedFile>) -> Result<bool> {
        self.stage.announce(&self.artifacts, log, self.has_placed)?;
        for file in &self.truth {
            if !self.stage.create(file)? {
                return Ok(false);
            }
        }
        if !self.truth.is_empty() {
            self.stage.sync()?;
        }
        self.stage.finish();
        Ok(true)
    }
}

/// What happens to a derived file.
enum Placing {
    Replace(StagedFile),
    Remove(String),
}

/// Returns `error` as the reason why files are behind what the log announces.
fn unfinished(error: Error) -> Error {
    error
        .context("the registry was changed, but not all of its files")
        .hint(message!(Verb::Registry.call().word("index"), " completes it"))
}

fn contended() -> Error {
    Error::io("the registry is changed by too many at the same time").hint("try again")
}
