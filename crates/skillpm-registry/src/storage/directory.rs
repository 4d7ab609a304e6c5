//! A registry in a directory of this machine.

use std::sync::Arc;

use super::{Change, Loaded, Publication};
use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::registry::{History, LogEntry, RegistryDir, Staged, Timestamp, Writer};

/// The directory. Its files are changed as `skillpm registry` changes them, so both may be at work at once.
#[derive(Debug, Clone)]
pub(super) struct Directory(Arc<RegistryDir>);

impl Directory {
    pub(super) fn new(dir: RegistryDir) -> Self {
        Self(Arc::new(dir))
    }

    pub(super) async fn load(&self) -> Result<Loaded> {
        // The length first: what is published meanwhile is read twice, not missed.
        self.blocking(|dir| Ok(Loaded { position: dir.log_length()?, histories: dir.histories()? })).await
    }

    pub(super) async fn history(&self, name: &SkillName) -> Result<History> {
        let name = name.clone();
        self.blocking(move |dir| dir.history(&name)).await
    }

    pub(super) async fn log_entry(&self, number: u64) -> Result<Option<LogEntry>> {
        self.blocking(move |dir| dir.log_entry(number)).await
    }

    pub(super) async fn publish(&self, publication: Publication) -> Result<(Staged, History)> {
        self.blocking(move |dir| {
            let Publication { package, permit, time, by, .. } = publication;
            let mut writer = Writer::new(dir, || ())?.by(by);
            let name = &package.facts.name;
            let claim = permit(writer.ledger().history(name)?)?;
            if let Some(event) = claim {
                writer.event(name, event, time)?;
            }
            let staged = writer.stage(&package, time)?;
            let history = writer.ledger().history(name)?.clone();
            if matches!(staged, Staged::New(_)) {
                writer.commit()?;
            }
            Ok((staged, history))
        })
        .await
    }

    pub(super) async fn change(
        &self,
        name: &SkillName,
        change: Change,
        by: Option<String>,
        time: Timestamp,
    ) -> Result<(bool, History)> {
        let name = name.clone();
        self.blocking(move |dir| {
            let mut writer = Writer::new(dir, || ())?.by(by);
            let history = writer.ledger().history(&name)?;
            let Some(event) = change(history)? else { return Ok((false, history.clone())) };
            writer.event(&name, event, time)?;
            let history = writer.ledger().history(&name)?.clone();
            writer.commit()?;
            Ok((true, history))
        })
        .await
    }

    /// Calls `work` on a thread that may wait for the disk.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&RegistryDir) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let dir = Arc::clone(&self.0);
        let done = tokio::task::spawn_blocking(move || work(&dir)).await;
        done.map_err(|error| Error::io("a thread of the server ended early").because(error))?
    }
}
