//! Runs a script for a client: with consent, progress and cancellation.

use std::time::{Duration, Instant};

use rmcp::model::{CallToolRequestParams, CallToolResponse, ProgressNotificationParam};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use skillpm_core::engine::run::{Stream, Watch};
use skillpm_core::toolkit::{Answer, Attempt, Call, Question};
use skillpm_sources::interrupt;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::consent::{Consent, unable};
use super::{Server, convert};
use crate::offer::Offer;

/// The time between two reports of progress.
const INTERVAL: Duration = Duration::from_millis(250);
/// The number of characters of a line that a report quotes.
const MAX_LINE: usize = 200;

impl Server {
    /// Runs `script`; asks a person first if a policy wants that.
    pub(super) async fn run(
        &self,
        script: Call,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let _request = self.begin()?;
        let questions = &self.shared.questions;
        let agreed = questions.agreed(request)?;
        let question = match self.attempt(script.clone(), agreed, context).await? {
            Attempt::Done(answer) => return Ok(convert::answer(answer).into()),
            Attempt::Ask(question) => question,
        };
        let refused = |reason: &str| Answer::refused(&format!("the script does not run: {reason}"));
        Ok(match questions.ask(&question, &script.details(&self.shared.offer.kit), request, context).await {
            Consent::Pending(result) => CallToolResponse::InputRequired(*result),
            Consent::Refused(reason) => convert::answer(refused(reason)).into(),
            Consent::Unable => convert::answer(refused(unable(context)?)).into(),
            Consent::Given => match self.attempt(script, Some(question), context).await? {
                Attempt::Done(answer) => convert::answer(answer).into(),
                Attempt::Ask(_) => convert::answer(refused("it changed while the user was asked")).into(),
            },
        })
    }

    /// Runs `script` on a thread of its own, once few enough others run, and reports its output to the client.
    async fn attempt(
        &self,
        script: Call,
        agreed: Option<Question>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Attempt, ErrorData> {
        let slot = tokio::select! {
            slot = self.shared.scripts.acquire() => slot.ok(),
            () = context.ct.cancelled() => None,
            () = self.closed.cancelled() => None,
        };
        let Some(slot) = slot else {
            return Ok(Attempt::Done(Answer::refused("the script does not run: the call was cancelled")));
        };
        let (sender, mut lines) = mpsc::channel::<String>(1);
        let stop = [context.ct.clone(), self.closed.clone()];
        let run = async {
            let work = move |offer: &Offer| {
                let mut watch = Followed { stop, lines: sender, line: Vec::new(), reported: Instant::now() };
                Ok(script.attempt(&offer.kit, agreed, &mut watch))
            };
            let attempt = self.on_thread(work).await;
            // Reports to a client that does not read may take longer.
            drop(slot);
            attempt
        };
        let token = context.meta.get_progress_token();
        let report = async {
            let mut count = 0.0;
            while let Some(line) = lines.recv().await {
                if let Some(token) = &token {
                    count += 1.0;
                    let progress = ProgressNotificationParam::new(token.clone(), count).with_message(line);
                    // A client that is gone needs no news.
                    let _ = context.peer.notify_progress(progress).await;
                }
            }
        };
        let (attempt, ()) = tokio::join!(run, report);
        // A signal that came meanwhile ended the script alone: the server's own end waited for that.
        if interrupt::asked() {
            self.shared.stopped.cancel();
        }
        attempt
    }
}

/// Follows a script: passes on its last line from time to time, and stops it when the client cancels or leaves.
struct Followed {
    stop: [CancellationToken; 2],
    lines: mpsc::Sender<String>,
    line: Vec<u8>,
    reported: Instant,
}

impl Watch for Followed {
    fn output(&mut self, _stream: Stream, bytes: &[u8]) {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let Some(end) = whole else {
            self.line.extend_from_slice(&bytes[..bytes.len().min(MAX_LINE.saturating_sub(self.line.len()))]);
            return;
        };
        let start = bytes[..end].iter().rposition(|byte| *byte == b'\n');
        let last = if let Some(start) = start {
            &bytes[start + 1..end]
        } else {
            self.line.extend_from_slice(&bytes[..end]);
            &self.line
        };
        let text: String = String::from_utf8_lossy(last).chars().take(MAX_LINE).collect();
        if self.reported.elapsed() >= INTERVAL && self.lines.try_send(text).is_ok() {
            self.reported = Instant::now();
        }
        self.line = bytes[end + 1..].iter().copied().take(MAX_LINE).collect();
    }

    fn is_stopped(&mut self) -> bool {
        self.stop.iter().any(CancellationToken::is_cancelled)
    }
}
