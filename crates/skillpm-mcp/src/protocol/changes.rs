//! Notices that skills were added, removed or edited, and notifies clients.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::offer::{Offer, View};

/// The time between two looks at the directories.
const INTERVAL: Duration = Duration::from_secs(2);
/// Looking takes at most this part of the time of a processor.
const SHARE: u32 = 50;

/// The changes of the skills so far.
#[derive(Debug)]
pub(super) struct Changes {
    /// Of the skills that there are, and what their frontmatter says.
    skills: watch::Sender<()>,
    /// Of their files alone.
    files: watch::Sender<()>,
}

impl Changes {
    /// Looks at the directories of `offer` from time to time, for as long as somebody holds the result. Comparing what a
    /// search finds works for every file system and for links; notifications of the system do not.
    pub(super) fn watch(offer: &Arc<Offer>) -> Arc<Self> {
        let changes = Arc::new(Self { skills: watch::Sender::new(()), files: watch::Sender::new(()) });
        tokio::spawn(look(Arc::downgrade(offer), Arc::downgrade(&changes)));
        changes
    }

    /// Returns the changes from now on for a client, whose own tools change with `tools`.
    pub(super) fn subscribe(&self, tools: &watch::Sender<()>) -> News {
        News { skills: self.skills.subscribe(), files: self.files.subscribe(), tools: tools.subscribe() }
    }
}

async fn look(offer: Weak<Offer>, changes: Weak<Changes>) {
    let mut last: Option<(Arc<View>, u64)> = None;
    while let Some(offer) = offer.upgrade() {
        let began = Instant::now();
        let look = move || offer.view().ok().map(|view| (view.found.fingerprint(), view));
        let found = tokio::task::spawn_blocking(look).await.ok().flatten();
        let pause = INTERVAL.max(began.elapsed() * SHARE);
        let Some(changes) = changes.upgrade() else { return };
        if let Some((files, view)) = found {
            match last.replace((Arc::clone(&view), files)) {
                Some((before, _)) if !Arc::ptr_eq(&before, &view) => changes.skills.send_replace(()),
                Some((_, before)) if before != files => changes.files.send_replace(()),
                _ => {}
            }
        }
        drop(changes);
        tokio::time::sleep(pause).await;
    }
}

/// What changes for one client.
pub(super) struct News {
    skills: watch::Receiver<()>,
    files: watch::Receiver<()>,
    tools: watch::Receiver<()>,
}

/// A change for one client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// Skills, and with them all lists.
    Skills,
    /// Files of skills, and with them what the list of resources says of them.
    Files,
    /// The tools of this client.
    Tools,
}

impl Change {
    fn is_of_tools(self) -> bool {
        self != Self::Files
    }

    fn is_of_prompts(self) -> bool {
        self == Self::Skills
    }

    fn is_of_resources(self) -> bool {
        self != Self::Tools
    }
}

impl News {
    /// Waits for the next change. Returns `None` once the client's session has ended.
    async fn next(&mut self) -> Option<Change> {
        tokio::select! {
            changed = self.skills.changed() => changed.ok().map(|()| Change::Skills),
            changed = self.files.changed() => changed.ok().map(|()| Change::Files),
            changed = self.tools.changed() => changed.ok().map(|()| Change::Tools),
        }
    }

    /// Notifies an older client of each change until it is gone.
    pub(super) async fn announce(mut self, peer: Peer<RoleServer>) {
        while let Some(change) = self.next().await {
            let mut sent = false;
            if change.is_of_tools() {
                sent |= peer.notify_tool_list_changed().await.is_ok();
            }
            if change.is_of_prompts() {
                sent |= peer.notify_prompt_list_changed().await.is_ok();
            }
            if change.is_of_resources() {
                sent |= peer.notify_resource_list_changed().await.is_ok();
            }
            if !sent || peer.is_transport_closed() {
                return;
            }
        }
    }

    /// Notifies a modern client of each change that it subscribed to, until it cancels the subscription, or until
    /// `closed` is cancelled because the client is gone.
    pub(super) async fn publish(mut self, subscription: &SubscriptionContext, closed: &CancellationToken) {
        let (sink, accepted) = (subscription.sink(), subscription.accepted());
        loop {
            let change = tokio::select! {
                change = self.next() => change,
                () = subscription.cancelled() => None,
                () = closed.cancelled() => None,
            };
            let Some(change) = change else { return };
            let mut sent = Ok(());
            if change.is_of_tools() && accepted.tools_list_changed == Some(true) {
                sent = sent.and(sink.notify_tool_list_changed().await);
            }
            if change.is_of_prompts() && accepted.prompts_list_changed == Some(true) {
                sent = sent.and(sink.notify_prompt_list_changed().await);
            }
            if change.is_of_resources() && accepted.resources_list_changed == Some(true) {
                sent = sent.and(sink.notify_resource_list_changed().await);
            }
            if sent.is_err() {
                return;
            }
        }
    }
}
