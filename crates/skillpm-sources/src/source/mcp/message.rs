//! The messages of JSON-RPC, and the two ways in which they travel.

use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// A JSON object.
pub(super) type Object = Map<String, Value>;

/// The revision of the protocol without sessions.
pub(super) const MODERN: &str = "2026-07-28";
/// The codes of errors for parameters that name nothing: the usual one, and that of older servers for resources.
const UNKNOWN: [i64; 2] = [-32602, -32002];

/// How messages reach a server, and its answers come back.
pub(super) trait Transport: Send + Sync {
    /// Sends the request `message` as `peer` takes it, and returns the answer, of at most `limit` bytes.
    fn ask(&self, peer: Option<&Peer>, message: &Value, limit: u64) -> Result<Answer>;

    /// Sends the notification `message`, which has no answer. A server that does not get it says so at the next request.
    fn notify(&self, peer: &Peer, message: &Value);

    /// Returns `text`, which the server says, fit to be shown. Returns `None` if it repeats a secret, or is empty.
    fn shown(&self, text: &str) -> Option<String>;
}

/// The protocol that was agreed with a server.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    /// The revision of the protocol.
    pub(super) version: String,
    /// The session, if the server opened one.
    pub(super) session: Option<String>,
}

impl Peer {
    /// Reports whether requests stand alone.
    pub(super) fn is_modern(&self) -> bool {
        self.version == MODERN
    }
}

/// The answer of a server.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) reply: Reply,
    /// The session that the server opened with it.
    pub(super) session: Option<String>,
}

/// The content of an answer.
#[derive(Debug)]
pub(super) enum Reply {
    Result(Object),
    Refused(Refused),
    /// Nothing of the protocol. Holds the error for a server whose first answer this is.
    Other(Error),
}

/// An error that a server answers with.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) code: i64,
    pub(super) message: String,
}

impl Refused {
    /// Reports whether the server does not have what it was asked for.
    pub(super) fn is_unknown(&self) -> bool {
        UNKNOWN.contains(&self.code)
    }
}

/// Returns what `data` answers to the request `id`. Returns `None` if it is not an answer to it. Some servers do not
/// repeat the id in an error.
pub(super) fn answer(id: Option<&Value>, data: &[u8]) -> Option<Reply> {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_belong_to_requests() {
        let of = |text: &str| match answer(Some(&json!(7)), text.as_bytes()) {
            Some(Reply::Result(result)) => Value::Object(result).to_string(),
            Some(Reply::Refused(refused)) => format!("{} {}", refused.code, refused.message),
            Some(Reply::Other(_)) | None => "none".to_owned(),
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
}
