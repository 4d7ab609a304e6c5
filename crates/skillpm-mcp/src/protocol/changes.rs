//! Notices that skills were added, removed or edited, and tells clients.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::offer::Offer;

/// The time between two looks at the directories.
const INTERVAL: Duration = Duration::from_secs(2);
/// Looking takes at most this part of the time of a processor.
const SHARE: u32 = 50;

/// The changes so far.
#[derive(Debug)]
pub(super) struct Changes(watch::Sender<u64>);

impl Changes {
    /// Looks at the directories of `offer` from time to time, for as long as somebody holds the result. Comparing what a
    /// search finds works for every file system and for links; notifications of the system do not.
    pub(super) fn watch(offer: &Arc<Offer>) -> Arc<Self> {
        let changes = Arc::new(Self(watch::Sender::new(0)));
        tokio::spawn(look(Arc::downgrade(offer), Arc::downgrade(&changes)));
        changes
    }

    /// Adds a change.
    pub(super) fn add(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    /// Returns a receiver of the changes from now on.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}

async fn look(offer: Weak<Offer>, changes: Weak<Changes>) {
    let mut last = None;
    while let Some(offer) = offer.upgrade() {
        let began = Instant::now();
        let view = tokio::task::spawn_blocking(move || offer.view().ok()).await.ok().flatten();
        let pause = INTERVAL.max(began.elapsed() * SHARE);
        let Some(changes) = changes.upgrade() else { return };
        if let Some(view) = view
            && last.as_ref().is_none_or(|last| !Arc::ptr_eq(last, &view))
            && last.replace(view).is_some()
        {
            changes.add();
        }
        drop(changes);
        tokio::time::sleep(pause).await;
    }
}
