//! Messages over streamable HTTP.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::message::{Answer, Peer, Reply, Transport, answer};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::http::{Client, Login, Question, Replied, Url, said};
use crate::spec::Address;

/// The largest answer to a notification, in bytes.
const NOTHING_BYTES: u64 = 1 << 20;

/// The way to a server at an address.
pub(super) struct Http {
    url: Url,
    client: Client,
    login: Login,
}

impl Http {
    /// Returns the way to the server at `address`. Nothing is sent yet.
    pub(super) fn new(context: &Context, address: &Address) -> Result<Self> {
        if address.as_str().contains('?') {
            let error =
                Error::usage(format!("`mcp:{address}` is not the address of an MCP server: it has a query"));
            return Err(match crate::source::query_variable(address) {
                Some(variable) => error.hint(format!("leave the query out, and set `{variable}` to it")),
                None => error,
            });
        }
        let url = Url::parse(address.as_str())?;
        let settings = &context.settings;
        let login = Login::find(settings, &url)?;
        if let Some(exposure) = login.exposure() {
            context.reporter.warning(exposure);
        }
        let client = Client::new(settings, Arc::clone(&context.reporter));
        Ok(Self { url: login.complete(&url)?, client, login })
    }
}

impl Transport for Http {
    fn ask(&self, peer: Option<&Peer>, message: &Value, limit: u64) -> Result<Answer> {
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
        let replied = self.client.ask(&question, limit, &|data| answer(id, data).is_some())?;
        let reply = answer(id, &replied.body).unwrap_or_else(|| Reply::Other(no_server(&replied)));
        if let status @ (401 | 403) = replied.status {
            let detail = match &reply {
                Reply::Refused(refused) => self.shown(&refused.message),
                Reply::Result(_) | Reply::Other(_) => None,
            };
            return Err(self.login.refused(&replied.url, status, detail.as_deref()));
        }
        Ok(Answer { reply, session: replied.header("mcp-session-id").map(ToOwned::to_owned) })
    }

    fn notify(&self, peer: &Peer, message: &Value) {
        let _ = self.ask(Some(peer), message, NOTHING_BYTES);
    }

    fn shown(&self, text: &str) -> Option<String> {
        said(text, self.login.credential())
    }
}

/// Returns the headers that repeat the subject of `message`, so that proxies need not read it.
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

fn no_server(replied: &Replied) -> Error {
    Error::network(format!(
        "there is no MCP server at `{}`: it answered with status {}",
        replied.url, replied.status
    ))
    .coded(codes::MCP_NO_SERVER)
    .hint("the address of a server often ends in `/mcp`")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
