//! The server of one client, and what the servers of all clients share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ErrorData;
use skillpm_core::toolkit::{MAX_ERROR, shortened};
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio_util::sync::CancellationToken;

use super::ServeError;
use super::changes::{Changes, News};
use super::consent::Questions;
use crate::offer::Offer;

/// The number of requests of one client that may be under way. One more fails.
const MAX_REQUESTS: usize = 1_000;
/// The number of scripts that may run at once, of all clients together. Others wait: a script needs a thread for as long
/// as it runs, and reading needs threads, too.
const MAX_SCRIPTS: usize = 8;

/// What the servers of all clients share.
pub(super) struct Shared {
    pub(super) offer: Arc<Offer>,
    pub(super) changes: Arc<Changes>,
    pub(super) questions: Questions,
    /// The scripts that may still start.
    pub(super) scripts: Semaphore,
    /// Cancelled once a signal has ended a script: then the process ends, too.
    pub(super) stopped: CancellationToken,
}

impl Shared {
    /// Returns what the servers of `offer` share. Must be called in a runtime.
    pub(super) fn new(offer: Offer) -> Result<Arc<Self>, ServeError> {
        // Whoever starts the server learns of it now, not each client later.
        offer.view()?;
        let offer = Arc::new(offer);
        Ok(Arc::new(Self {
            changes: Changes::watch(&offer),
            questions: Questions::default(),
            scripts: Semaphore::new(MAX_SCRIPTS),
            stopped: CancellationToken::new(),
            offer,
        }))
    }
}

/// The server of one client. Over HTTP, a client without a session has one for each request.
pub(super) struct Server {
    pub(super) shared: Arc<Shared>,
    /// Cancelled once the client is gone, or the process ends, so that scripts end.
    pub(super) closed: CancellationToken,
    /// The requests that may still come.
    requests: Semaphore,
    /// The skills that the client has loaded, whose scripts are tools of their own.
    loaded: Mutex<Vec<String>>,
    /// Sends when the client has more tools.
    tools: watch::Sender<()>,
    /// Whether an older client is notified of changes.
    is_announced: AtomicBool,
}

impl Server {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            closed: shared.stopped.child_token(),
            requests: Semaphore::new(MAX_REQUESTS),
            loaded: Mutex::default(),
            tools: watch::Sender::new(()),
            is_announced: AtomicBool::new(false),
            shared: Arc::clone(shared),
        }
    }

    /// Returns the skills that the client has loaded.
    pub(super) fn loaded(&self) -> Vec<String> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers that the client has loaded `skill`, and notifies it if it has more tools now.
    pub(super) fn remember(&self, skill: &str) {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if self.shared.offer.kit.selection.scripts && !loaded.iter().any(|name| name == skill) {
            loaded.push(skill.to_owned());
            self.tools.send_replace(());
        }
    }

    /// Returns the changes from now on.
    pub(super) fn news(&self) -> News {
        self.shared.changes.subscribe(&self.tools)
    }

    /// Returns the changes from now on at the first call, and `None` later: an older client is notified of each change once.
    pub(super) fn first_news(&self) -> Option<News> {
        (!self.is_announced.swap(true, Ordering::Relaxed)).then(|| self.news())
    }

    /// Counts a request, until the result is dropped.
    pub(super) fn begin(&self) -> Result<SemaphorePermit<'_>, ErrorData> {
        self.requests.try_acquire().map_err(|_| {
            let message =
                format!("{MAX_REQUESTS} requests are under way: wait for answers before you send more");
            ErrorData::internal_error(message, None)
        })
    }

    /// Does `work`, which reads files, on a thread that may wait.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Offer) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let _request = self.begin()?;
        self.on_thread(work).await.map_err(brief)
    }

    /// Does `work` on a thread that may wait.
    pub(super) async fn on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Offer) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let offer = Arc::clone(&self.shared.offer);
        let done = tokio::task::spawn_blocking(move || work(&offer)).await;
        done.unwrap_or_else(|_| Err(ErrorData::internal_error("the request failed unexpectedly", None)))
    }
}

/// Shortens what `error` quotes: a client may have sent any amount of it.
pub(super) fn brief(mut error: ErrorData) -> ErrorData {
    error.message = shortened(error.message.into_owned(), MAX_ERROR).into();
    error.data = error.data.filter(|data| data.to_string().len() <= MAX_ERROR);
    error
}
