//! Speaks the Model Context Protocol, by the library `rmcp`. Nothing outside of this module knows its types.
//!
//! One server answers both eras: clients that `initialize` (2024-11-05 to 2025-11-25) and clients that `discover`
//! (2026-07-28). The library decides per request and adapts the answers.

mod changes;
mod consent;
mod convert;
mod handler;
mod http;
mod lines;
mod message;
mod pace;
mod page;
mod running;
mod server;
mod stdio;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rmcp::RoleServer;
use rmcp::model::ProtocolVersion;
use rmcp::service::RequestContext;
use skillpm_sources::error::Error;

pub use self::http::serve_http;
use self::server::{Server, Shared};
pub use self::stdio::serve_stdio;

/// The number of bytes of a text that nobody can guess.
const RANDOM: usize = 24;

/// The reason why a server ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The directories of skills cannot be searched.
    #[error(transparent)]
    Skills(#[from] Error),
    /// The system refused threads or files.
    #[error("the server cannot start: {0}")]
    Start(#[from] std::io::Error),
    /// The client did not start a session as the protocol says.
    #[error("the client did not start a session: {0}")]
    Session(String),
}

/// Returns what drives a server.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

/// Returns a text that nobody can guess.
fn random_text() -> std::io::Result<String> {
    let mut bytes = [0; RANDOM];
    getrandom::fill(&mut bytes)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// Reports whether the client speaks the protocol of 2026-07-28 or later.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}
