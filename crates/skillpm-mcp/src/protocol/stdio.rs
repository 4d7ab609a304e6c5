//! Serves over standard input and output.

use std::time::Duration;

use rmcp::model::{ClientRequest, GetMeta as _, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::io::stdio_pipes;
use rmcp::{RoleServer, ServiceExt as _};
use skillpm_sources::interrupt;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::lines::Lines;
use super::pace::Pace;
use super::{ServeError, Server, Shared, runtime};
use crate::offer::Offer;

/// The time for the last answers to a client that asks for nothing more. It may not even read them.
const GRACE: Duration = Duration::from_secs(5);

/// Serves `offer` on standard input and output until the client closes them.
///
/// # Errors
///
/// Fails if the skills cannot be searched, and for a client that does not speak the protocol.
pub fn serve_stdio(offer: Offer) -> Result<(), ServeError> {
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let server = Server::new(&Shared::new(offer)?);
        let closed = server.closed.clone();
        let (input, output) = stdio_pipes();
        let transport = Patient::new(Lines::new(input, output), closed.clone());
        let running = match server.serve(transport).await {
            Ok(running) => running,
            // A client that leaves before it says anything has not failed.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Session(error.to_string())),
        };
        let left_unread = async {
            closed.cancelled().await;
            // After a signal nobody waits for answers.
            if !interrupt::asked() {
                tokio::time::sleep(GRACE).await;
            }
        };
        tokio::select! {
            ended = running.waiting() => ended.map(drop).map_err(|error| ServeError::Session(error.to_string())),
            () = left_unread => Ok(()),
        }
    });
    // A read of standard input cannot be cancelled.
    runtime.shutdown_background();
    served
}

/// Reads a client at its pace: what a client sends too fast stays in the pipe, where it fills no memory.
///
/// Leaves out what comes before a session but belongs to one, such as the cancellation of a request that was already
/// answered. The library would end the server for it.
struct Patient<T> {
    inner: T,
    pace: Pace,
    is_open: bool,
    /// Cancelled once no more messages come.
    closed: CancellationToken,
}

impl<T> Patient<T> {
    fn new(inner: T, closed: CancellationToken) -> Self {
        Self { inner, pace: Pace::new(Instant::now()), is_open: false, closed }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Patient<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // The library may drop this future at each wait: nothing that was read may be lost by that.
            tokio::time::sleep_until(self.pace.next(Instant::now())).await;
            let Some(message) = self.inner.receive().await else {
                self.closed.cancel();
                return None;
            };
            self.pace.count(Instant::now());
            if let JsonRpcMessage::Request(request) = &message {
                self.is_open |= opens(&request.request);
                return Some(message);
            }
            if self.is_open {
                return Some(message);
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.inner.close()
    }
}

/// Reports whether a request starts a session: `initialize`, or any that says which version it speaks and is no probe.
fn opens(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        other => other.get_meta().protocol_version().is_some(),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use serde_json::json;

    use super::*;

    /// A client that sends `messages` as fast as they are read.
    struct Hasty(std::vec::IntoIter<RxJsonRpcMessage<RoleServer>>);

    impl Transport<RoleServer> for Hasty {
        type Error = Infallible;

        fn send(
            &mut self,
            _message: TxJsonRpcMessage<RoleServer>,
        ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
            std::future::ready(Ok(()))
        }

        fn receive(&mut self) -> impl Future<Output = Option<RxJsonRpcMessage<RoleServer>>> + Send {
            std::future::ready(self.0.next())
        }

        fn close(&mut self) -> impl Future<Output = Result<(), Infallible>> + Send {
            std::future::ready(Ok(()))
        }
    }

    /// Everything counts: each request, also those that cost nothing, notifications, and answers to questions.
    #[test]
    fn every_message_has_its_pace() {
        let messages = [
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } } }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }),
            json!({ "jsonrpc": "2.0", "id": 3, "method": "none/such", "params": {} }),
            json!({ "jsonrpc": "2.0", "id": 4, "method": "subscriptions/listen", "params": { "notifications": {} } }),
            json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/list" }),
            json!({ "jsonrpc": "2.0", "id": 6, "result": {} }),
        ];
        let messages = messages.map(|message| serde_json::from_value(message).expect("a message")).to_vec();
        let (count, began) = (u32::try_from(messages.len()).expect("few"), Instant::now());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let (patient, received) = runtime.block_on(async {
            let mut patient = Patient::new(Hasty(messages.into_iter()), CancellationToken::new());
            let mut received = 0;
            while patient.receive().await.is_some() {
                received += 1;
            }
            (patient, received)
        });
        assert!(patient.pace.has_counted(count, began), "{:?}", patient.pace);
        // The first one came before the session.
        assert_eq!(received, count - 1);
        assert!(patient.closed.is_cancelled());
    }
}
