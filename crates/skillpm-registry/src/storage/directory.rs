//! A registry in a directory of this machine.

use std::sync::Arc;

use tokio::sync::Mutex;

use super::{Change, Loaded, Publication, usable};
use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::registry::{History, LogEntry, RegistryDir, Staged, Timestamp, Verified, Writer};

/// The directory. Its files are changed as `skillpm registry` changes them, so both may be at work at once.
#[derive(Debug)]
pub(super) struct Directory {
    dir: Arc<RegistryDir>,
    /// Held by the one change that waits for the lock of the files: others must not wait on threads that reads need.
    changes: Mutex<()>,
}

impl Directory {
    pub(super) fn new(dir: RegistryDir) -> Self {
        Self { dir: Arc::new(dir), changes: Mutex::new(()) }
    }

    pub(super) async fn load(&self) -> Result<Loaded> {
        // The length first: what is published meanwhile is read twice, not missed.
        self.blocking(|dir| {
            let position = dir.log_length()?;
            let names = dir.names()?;
            let histories = names.iter().map(|name| dir.history(name)).filter_map(usable).collect();
            Ok(Loaded { histories, position })
        })
        .await
    }

    pub(super) async fn verify(&self) -> Result<Verified> {
        self.blocking(RegistryDir::verify).await
    }

    pub(super) async fn history(&self, name: &SkillName) -> Result<History> {
        let name = name.clone();
        self.blocking(move |dir| dir.history(&name)).await
    }

    pub(super) async fn log_entry(&self, number: u64) -> Result<Option<LogEntry>> {
        self.blocking(move |dir| dir.log_entry(number)).await
    }

    pub(super) async fn publish(&self, publication: Publication) -> Result<(Staged, History)> {
        let _turn = self.changes.lock().await;
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
        let _turn = self.changes.lock().await;
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

    /// Reports whether the file at `path` is one, and no link that leads elsewhere.
    pub(super) async fn is_plain(&self, path: &str) -> Result<bool> {
        let path = path.to_owned();
        self.blocking(move |dir| dir.is_plain(&path)).await
    }

    /// Calls `work` on a thread that may wait for the disk.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&RegistryDir) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let dir = Arc::clone(&self.dir);
        let done = tokio::task::spawn_blocking(move || work(&dir)).await;
        done.map_err(|error| Error::io("a thread of the server ended early").because(error))?
    }
}
