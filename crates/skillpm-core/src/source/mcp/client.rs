//! The client of the Model Context Protocol: JSON-RPC over streamable HTTP, as far as reading skills needs it.
//!
//! Servers of the revision 2026-07-28 take requests that stand alone. Older ones begin a session with `initialize`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::http::{Client, HttpError, Login, Question, Replied, Url, said};
use crate::spec::{McpServer, SourceFacts as _};

/// The extension for skills.
const SKILLS: &str = "io.modelcontextprotocol/skills";
/// The revision of the protocol without sessions.
const MODERN: &str = "2026-07-28";
/// The revisions with sessions, newest first.
const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The largest answer about the server itself, in bytes.
const GREETING_BYTES: u64 = 1 << 20;
/// The codes of errors for parameters that name nothing: the usual one, and that of older servers for resources.
const UNKNOWN: [i64; 2] = [-32602, -32002];

/// A JSON object.
pub(super) type Object = Map<String, Value>;

/// The client of one server.
pub(super) struct McpClient {
    /// The server as it is typed, for messages.
    typed: String,
    url: Url,
    client: Client,
    login: Login,
    /// What was agreed with the server, once it was asked.
    peer: Mutex<Option<Peer>>,
    last_id: AtomicU64,
}

/// What was agreed with a server.
#[derive(Debug, Clone)]
struct Peer {
    /// The revision of the protocol.
    version: String,
    /// The session, if the server opened one.
    session: Option<String>,
}

/// An error that a server answers with.
#[derive(Debug)]
pub(super) struct Refused {
    code: i64,
    message: String,
}

impl Refused {
    /// Reports whether the server does not have what it was asked for.
    pub(super) fn is_unknown(&self) -> bool {
        UNKNOWN.contains(&self.code)
    }
}

/// What came back for a message.
enum Reply {
    Result(Object),
    Refused(Refused),
    /// Nothing of the protocol.
    Other,
}

impl McpClient {
    /// Returns a client that does nothing until the first request.
    ///
    /// # Errors
    ///
    /// Fails for an address that cannot be requested, and for a login that cannot be used.
    pub(super) fn new(context: &Context, server: &McpServer) -> Result<Self> {
        let url = Url::parse(server.0.as_str())?;
        let settings = &context.settings;
        let login = Login::find(settings, &url)?;
        if let Some(exposure) = login.exposure() {
            context.reporter.warning(exposure);
        }
        Ok(Self {
            typed: server.typed(),
            url: login.complete(&url)?,
            client: Client::new(settings, Arc::clone(&context.reporter)),
            login,
            peer: Mutex::default(),
            last_id: AtomicU64::new(0),
        })
    }

    /// Calls `method` and returns its result, of at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// Fails for a server that cannot be reached, does not let the request in, or offers no skills. The inner error is
    /// that of the server.
    pub(super) fn call(
        &self,
        method: &str,
        params: Value,
        limit: u64,
    ) -> Result<std::result::Result<Object, Refused>> {
        let peer = self.peer()?;
        match self.send(Some(&peer), method, params, limit)? {
            Reply::Result(result) => Ok(Ok(result)),
            Reply::Refused(refused) => Ok(Err(refused)),
            Reply::Other => Err(self.unusable(method, "it is not an answer of JSON-RPC")),
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
        let told = said(&refused.message, self.login.credential());
        let told = told.map(|told| format!(": {told}")).unwrap_or_default();
        Error::network(format!("`{}` refuses `{method}` (error {}){told}", self.typed, refused.code))
            .coded(codes::MCP_REFUSED)
    }

    fn peer(&self) -> Result<Peer> {
        // It is there or not, whatever happened to another thread.
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
        if let Reply::Result(result) = self.send(Some(&modern), method, json!({}), GREETING_BYTES)? {
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
        let (replied, reply) = self.post(None, &self.message(method, &params), GREETING_BYTES)?;
        let result = match reply {
            Reply::Result(result) => result,
            Reply::Refused(refused) => return Err(self.refused(method, &refused)),
            Reply::Other => return Err(no_server(&replied)),
        };
        let version = result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        if !LEGACY.contains(&version) {
            return Err(
                self.unusable(method, "the server knows no version of the protocol that skillpm knows")
            );
        }
        self.check_skills(&result)?;
        let session = replied.header("mcp-session-id").map(ToOwned::to_owned);
        let peer = Peer { version: version.to_owned(), session };
        let notification = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        // Nothing is answered, and a server that did not hear it says so to the next request.
        let _ = self.post(Some(&peer), &notification, GREETING_BYTES);
        Ok(peer)
    }

    /// Checks that the server, which said `greeting`, offers skills.
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

    /// Sends a request as `peer` wants it and reads the answer.
    fn send(&self, peer: Option<&Peer>, method: &str, mut params: Value, limit: u64) -> Result<Reply> {
        if let (Some(params), Some(peer)) = (params.as_object_mut(), peer.filter(|peer| peer.is_modern())) {
            let key = |name: &str| format!("io.modelcontextprotocol/{name}");
            let meta = [
                (key("protocolVersion"), peer.version.clone().into()),
                (key("clientInfo"), client_info()),
                (key("clientCapabilities"), capabilities()),
            ];
            params.insert("_meta".to_owned(), Value::Object(meta.into_iter().collect()));
        }
        self.post(peer, &self.message(method, &params), limit).map(|(_, reply)| reply)
    }

    /// Returns the request for `method`.
    fn message(&self, method: &str, params: &Value) -> Value {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    /// Sends `message` as `peer` wants it, and returns the answer and what it says.
    fn post(&self, peer: Option<&Peer>, message: &Value, limit: u64) -> Result<(Replied, Reply)> {
        let mut headers = Vec::new();
        if let Some(peer) = peer {
            headers.push(("mcp-protocol-version", peer.version.clone()));
            headers.extend(peer.session.clone().map(|session| ("mcp-session-id", session)));
            if peer.is_modern() {
                headers.extend(named_in_headers(message));
            }
        }
        let question = Question {
            url: self.url.clone(),
            accept: "application/json, text/event-stream",
            credential: self.login.credential().cloned(),
            headers,
            content_type: "application/json",
            content: message.to_string().into_bytes().into(),
        };
        let id = message.get("id");
        let replied = self.client.ask(&question, limit, &|data| answer(id, data).is_some()).map_err(told)?;
        let reply = answer(id, &replied.body).unwrap_or(Reply::Other);
        if let status @ (401 | 403) = replied.status {
            let detail = match &reply {
                Reply::Refused(refused) => said(&refused.message, self.login.credential()),
                Reply::Result(_) | Reply::Other => None,
            };
            return Err(self.login.refused(&replied.url, status, detail.as_deref()));
        }
        Ok((replied, reply))
    }
}

impl Peer {
    fn is_modern(&self) -> bool {
        self.version == MODERN
    }
}

fn client_info() -> Value {
    json!({"name": "skillpm", "version": env!("CARGO_PKG_VERSION")})
}

fn capabilities() -> Value {
    json!({"extensions": {SKILLS: {}}})
}

/// Returns the headers that repeat what `message` asks for, so that what lies between need not read it.
fn named_in_headers(message: &Value) -> Vec<(&'static str, String)> {
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
    let mut headers = vec![("mcp-method", method.to_owned())];
    if method == "resources/read"
        && let Some(uri) = message.pointer("/params/uri").and_then(Value::as_str)
    {
        let is_plain = uri.bytes().all(|byte| byte.is_ascii_graphic()) && !uri.starts_with("=?");
        let encoded = || format!("=?base64?{}?=", BASE64_STANDARD.encode(uri));
        headers.push(("mcp-name", if is_plain { uri.to_owned() } else { encoded() }));
    }
    headers
}

/// Returns what `data` answers to the request `id`. Returns `None` if it is not an answer to it. Some servers do not
/// repeat the id in an error.
fn answer(id: Option<&Value>, data: &[u8]) -> Option<Reply> {
    let mut message: Object = serde_json::from_slice(data).ok()?;
    if message.get("jsonrpc")? != "2.0" || id.is_none() {
        return None;
    }
    if let Some(error) = message.get("error") {
        let text = error.get("message").and_then(Value::as_str).unwrap_or_default();
        return Some(Reply::Refused(Refused {
            code: error.get("code")?.as_i64()?,
            message: text.to_owned(),
        }));
    }
    if message.get("id") != id {
        return None;
    }
    match message.remove("result")? {
        Value::Object(result) => Some(Reply::Result(result)),
        _ => None,
    }
}

fn no_server(replied: &Replied) -> Error {
    Error::network(format!(
        "there is no MCP server at `{}`: it answered with status {}",
        replied.url, replied.status
    ))
    .coded(codes::MCP_NO_SERVER)
    .hint("the address of a server often ends in `/mcp`")
}

/// Turns a failed request into an error for a person.
fn told(error: HttpError) -> Error {
    match error {
        // The hints of this error are about GitHub.
        HttpError::RateLimit { .. } => Error::network(error.to_string())
            .coded(codes::RATE_LIMIT)
            .hint("run it again when the limit has reset"),
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_belong_to_requests() {
        let of = |text: &str| match answer(Some(&json!(7)), text.as_bytes()) {
            Some(Reply::Result(result)) => Value::Object(result).to_string(),
            Some(Reply::Refused(refused)) => format!("{} {}", refused.code, refused.message),
            Some(Reply::Other) | None => "none".to_owned(),
        };
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#, r#"{"a":1}"#),
            (r#"{"jsonrpc":"2.0","id":8,"result":{}}"#, "none"),
            (r#"{"jsonrpc":"2.0","id":"7","result":{}}"#, "none"),
            (r#"{"jsonrpc":"2.0","id":7,"result":[]}"#, "none"),
            (r#"{"jsonrpc":"1.0","id":7,"result":{}}"#, "none"),
            (r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no"}}"#, "-32602 no"),
            (r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-1}}"#, "-1 "),
            (r#"{"jsonrpc":"2.0","id":7,"error":"no"}"#, "none"),
            (r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#, "none"),
            ("[]", "none"),
            ("<html>", "none"),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
        assert!(answer(None, br#"{"jsonrpc":"2.0","id":null,"error":{"code":1}}"#).is_none());
    }

    #[test]
    fn headers_repeat_what_is_asked_for() {
        let of = |uri: &str| named_in_headers(&json!({"method": "resources/read", "params": {"uri": uri}}));
        assert_eq!(of("skill://a/b c")[1], ("mcp-name", "=?base64?c2tpbGw6Ly9hL2IgYw==?=".to_owned()));
        assert_eq!(of("skill://a/b")[1].1, "skill://a/b");
        assert_eq!(
            named_in_headers(&json!({"method": "skills/list"})),
            [("mcp-method", "skills/list".to_owned())]
        );
    }
}
