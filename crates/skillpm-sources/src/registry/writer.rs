//! Changing a registry.

use super::derive::{Derived, plan, plan_all};
use super::dir_staging::DirStaging;
use super::staging::{Batch, BucketStaging, Staging};
use super::{
    Carrier, Event, Ledger, LogChange, Objects, Package, Record, RegistryDir, Staged, Timestamp, files,
};
use crate::error::{Error, ErrorKind, Result};
use crate::name::SkillName;
use crate::version::Version;

/// A change of a registry. Its parts are staged first, and get their places by [`Writer::commit`]; dropped before that, it
/// has changed nothing. In a directory, no other process changes the registry meanwhile.
#[derive(Debug)]
pub struct Writer<'a> {
    pub(super) stage: Staging<'a>,
    pub(super) ledger: Ledger<'a>,
    pub(super) batch: Batch,
}

impl<'a> Writer<'a> {
    /// Waits until no other process changes the registry with these files, if they lie in a directory; calls `on_wait` if
    /// one does.
    ///
    /// # Errors
    ///
    /// Fails if the registry cannot be written.
    pub fn new(objects: &'a dyn Objects, on_wait: impl Fn()) -> Result<Self> {
        let stage = match objects.carrier() {
            Carrier::Directory(dir) => Staging::Directory(DirStaging::new(dir, on_wait)?),
            Carrier::Bucket(bucket) => Staging::Bucket(BucketStaging::new(bucket)),
        };
        Ok(Self { stage, ledger: Ledger::new(objects), batch: Batch::default() })
    }

    /// Lets the log say that `by` changes the registry.
    #[must_use]
    pub fn by(mut self, by: Option<String>) -> Self {
        self.batch.by = by;
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
            // In a bucket, to create it costs no more than to ask for it.
            let is_there = match &self.stage {
                Staging::Directory(dir) => dir.registry().archive(&package.artifact).is_some(),
                Staging::Bucket(_) => false,
            };
            if !is_there {
                let path = files::artifact(&package.artifact.digest);
                self.batch.archives.push(self.stage.write(path, &package.bytes)?);
            }
            self.stage_record(record, &record.to_bytes())?;
        }
        Ok(staged)
    }

    /// Stages a record, which the ledger has, with its `bytes`.
    pub(super) fn stage_record(&mut self, record: &Record, bytes: &[u8]) -> Result<()> {
        self.batch.truth.push(self.stage.write(files::record(&record.name, &record.version), bytes)?);
        let (name, version, digest) = (record.name.clone(), record.version.clone(), record.digest);
        self.announce(LogChange::Publish { name, version, digest }, record.published);
        Ok(())
    }

    fn announce(&mut self, change: LogChange, time: Timestamp) {
        self.batch.changes.push(change);
        self.batch.time = self.batch.time.max(time);
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
        self.batch.truth.push(self.stage.write(files::event(name, number), &event.to_bytes())?);
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
        let Self { stage, ledger, batch } = &mut self;
        match stage {
            Staging::Directory(dir) => {
                let is_behind = touch_pending(dir.registry(), ledger)?;
                if batch.truth.is_empty() && !is_behind {
                    return Ok(Some(Derived::default()));
                }
                let plan = plan(dir.registry(), ledger.touched())?;
                dir.carry_out(batch, ledger.touched(), plan).map(Some)
            }
            Staging::Bucket(_) if batch.truth.is_empty() => Ok(Some(Derived::default())),
            Staging::Bucket(bucket) => Ok(bucket.publish(batch)?.then(Derived::default)),
        }
    }

    /// Derives everything from records and events. A skill that is damaged is left out. In a bucket nothing is derived.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read or written.
    pub fn index(mut self) -> Result<Derived> {
        let Self { stage, ledger, batch } = &mut self;
        let Staging::Directory(dir) = stage else { return Ok(Derived::default()) };
        touch_pending(dir.registry(), ledger)?;
        let plan = plan_all(dir.registry(), ledger.touched())?;
        dir.carry_out(batch, ledger.touched(), plan)
    }
}

/// Counts the skills that a killed writer left as touched. One that is damaged since keeps its mark, and does not keep the
/// others from being changed. Returns whether there are any.
fn touch_pending(dir: &RegistryDir, ledger: &mut Ledger<'_>) -> Result<bool> {
    let pending = dir.pending()?;
    for name in &pending {
        match ledger.history(name) {
            Err(error) if error.kind() == ErrorKind::Integrity => {}
            read => drop(read?),
        }
    }
    Ok(!pending.is_empty())
}

fn contended() -> Error {
    Error::io("the registry is changed by too many at the same time").hint("try again")
}
