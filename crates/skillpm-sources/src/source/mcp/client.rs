//! The client of the Model Context Protocol: JSON-RPC, as far as reading skills needs it.
//!
//! Servers of the revision 2026-07-28 take requests that stand alone. Older ones begin a session with `initialize`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::http::Http;
use super::message::{Answer, MODERN, Object, Peer, Refused, Reply, Transport};
use super::program::Program;
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::spec::{McpServer, SourceFacts as _};

/// The extension for skills.
const SKILLS: &str = "io.modelcontextprotocol/skills";
/// The revisions with sessions, newest first.
const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The largest answer about the server itself, in bytes.
const GREETING_BYTES: u64 = 1 << 20;

/// The client of one server.
pub(super) struct McpClient {
    /// The server as it is typed, for messages.
    typed: String,
    transport: Box<dyn Transport>,
    /// The agreed protocol, once the server was asked.
    peer: Mutex<Option<Peer>>,
    last_id: AtomicU64,
}

impl McpClient {
    /// Returns a client that does nothing until the first request.
    pub(super) fn new(context: &Context, server: &McpServer) -> Result<Self> {
        let transport: Box<dyn Transport> = match server {
            McpServer::Web(address) => Box::new(Http::new(context, address)?),
            McpServer::Program(name) => Box::new(Program::new(context, name)),
        };
        Ok(Self { typed: server.typed(), transport, peer: Mutex::default(), last_id: AtomicU64::new(0) })
    }

    /// Calls `method` and returns its result, of at most `limit` bytes.
    pub(super) fn call(
        &self,
        method: &str,
        params: Value,
        limit: u64,
    ) -> Result<std::result::Result<Object, Refused>> {
        let peer = self.peer()?;
        match self.send(&peer, method, params, limit)? {
            Reply::Result(result) => Ok(Ok(result)),
            Reply::Refused(refused) => Ok(Err(refused)),
            Reply::Other(_) => Err(self.unusable(method, "it is not an answer of JSON-RPC")),
        }
    }

    /// Returns the error for an answer to `method` that breaks the protocol.
    pub(super) fn unusable(&self, method: &str, why: &str) -> Error {
        Error::network(format!("the answer of `{}` to `{method}` cannot be used: {why}", self.typed))
            .coded(codes::MCP_UNUSABLE)
            .hint("report it to the owner of the server")
    }

    /// Returns the error for a server that answers `method` with an error.
    pub(super) fn refused(&self, method: &str, refused: &Refused) -> Error {
        let told = self.transport.shown(&refused.message).map(|told| format!(": {told}")).unwrap_or_default();
        Error::network(format!("`{}` refuses `{method}` (error {}){told}", self.typed, refused.code))
            .coded(codes::MCP_REFUSED)
    }

    fn peer(&self) -> Result<Peer> {
        // It is set or not, even after a panic of another thread.
        let mut peer = self.peer.lock().unwrap_or_else(PoisonError::into_inner);
        match &*peer {
            Some(peer) => Ok(peer.clone()),
            None => Ok(peer.insert(self.greet()?).clone()),
        }
    }

    /// Agrees with the server on a revision of the protocol.
    fn greet(&self) -> Result<Peer> {
        let method = "server/discover";
        let modern = Peer { version: MODERN.to_owned(), session: None };
        let reply = match self.send(&modern, method, json!({}), GREETING_BYTES) {
            // Some older programs end at a request that they do not know. They are started anew.
            Err(error) if error.code() == codes::MCP_ENDED => return self.initialize(),
            reply => reply?,
        };
        if let Reply::Result(result) = reply {
            let versions = result.get("supportedVersions").and_then(Value::as_array);
            let versions = versions.ok_or_else(|| self.unusable(method, "it lists no versions"))?;
            if versions.iter().any(|version| version == MODERN) {
                self.check_skills(&result)?;
                return Ok(modern);
            }
            if !versions.iter().any(|version| LEGACY.iter().any(|known| version == known)) {
                return Err(
                    self.unusable(method, "the server knows no version of the protocol that skillpm knows")
                );
            }
        }
        self.initialize()
    }

    /// Begins a session, as servers of the older revisions want it.
    fn initialize(&self) -> Result<Peer> {
        let method = "initialize";
        let params = json!({
            "protocolVersion": LEGACY[0],
            "capabilities": capabilities(),
            "clientInfo": client_info(),
        });
        let Answer { reply, session } =
            self.transport.ask(None, &self.message(method, &params), GREETING_BYTES)?;
        let result = match reply {
            Reply::Result(result) => result,
            Reply::Refused(refused) => return Err(self.refused(method, &refused)),
            Reply::Other(error) => return Err(error),
        };
        let version = result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        if !LEGACY.contains(&version) {
            return Err(
                self.unusable(method, "the server knows no version of the protocol that skillpm knows")
            );
        }
        self.check_skills(&result)?;
        let peer = Peer { version: version.to_owned(), session };
        let notification = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.transport.notify(&peer, &notification);
        Ok(peer)
    }

    /// Checks that the server with this `greeting` offers skills.
    fn check_skills(&self, greeting: &Object) -> Result<()> {
        let capabilities = greeting.get("capabilities");
        let has = |path: &[&str]| {
            let found = path.iter().try_fold(capabilities?, |at, key| at.get(key));
            found.filter(|found| found.is_object())
        };
        if has(&["extensions", SKILLS]).is_some() {
            return Ok(());
        }
        let error = Error::network(format!("the MCP server `{}` offers no skills", self.typed))
            .coded(codes::MCP_NO_SKILLS);
        Err(if has(&["tools"]).is_some() {
            error.hint("its tools cannot be installed: add the server to the settings of an agent")
        } else {
            error.hint(format!("skills are offered by servers with the extension `{SKILLS}`"))
        })
    }

    /// Sends a request as `peer` takes it and reads the answer.
    fn send(&self, peer: &Peer, method: &str, mut params: Value, limit: u64) -> Result<Reply> {
        if let Some(params) = params.as_object_mut().filter(|_| peer.is_modern()) {
            let key = |name: &str| format!("io.modelcontextprotocol/{name}");
            let meta = [
                (key("protocolVersion"), peer.version.clone().into()),
                (key("clientInfo"), client_info()),
                (key("clientCapabilities"), capabilities()),
            ];
            params.insert("_meta".to_owned(), Value::Object(meta.into_iter().collect()));
        }
        Ok(self.transport.ask(Some(peer), &self.message(method, &params), limit)?.reply)
    }

    /// Returns the request for `method`.
    fn message(&self, method: &str, params: &Value) -> Value {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }
}

fn client_info() -> Value {
    json!({"name": "skillpm", "version": env!("CARGO_PKG_VERSION")})
}

fn capabilities() -> Value {
    json!({"extensions": {SKILLS: {}}})
}
