//! Standard input and output.

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, GetMeta as _, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;
use tokio_util::sync::CancellationToken;

/// Returns the messages that come in and go out. `closed` is cancelled once no more come.
pub(super) fn stdio(closed: CancellationToken) -> impl Transport<RoleServer> + 'static {
    let (input, output) = stdio_pipes();
    Patient { inner: AsyncRwTransport::new_server(input, output), is_open: false, closed }
}

/// Leaves out what comes before a session but belongs to one, such as the cancellation of a request that was already
/// answered. The library would end the server for it.
struct Patient<T> {
    inner: T,
    is_open: bool,
    closed: CancellationToken,
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
            let Some(message) = self.inner.receive().await else {
                self.closed.cancel();
                return None;
            };
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
