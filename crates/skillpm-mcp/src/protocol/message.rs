//! Reads the messages of a client, and says what is wrong with what is none.

use rmcp::RoleServer;
use rmcp::model::ErrorCode;
use rmcp::service::RxJsonRpcMessage;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use skillpm_core::toolkit::{MAX_ERROR, shortened};

/// The mark that some programs write in front of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Why bytes are not a message.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Refusal {
    /// The id of the request; `null` if it has none that can be read.
    id: Value,
    code: ErrorCode,
    message: String,
    /// Whether it is a notification, to which nobody waits for an answer.
    pub(super) is_notification: bool,
}

/// What can be read of a message whatever else is in it: values of the other fields are skipped, and may be nested to
/// any depth.
#[derive(Deserialize)]
struct Envelope {
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    #[serde(default)]
    method: Option<Value>,
}

/// Reads a field that is there, also as `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Reads a message.
pub(super) fn read(bytes: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Refusal> {
    let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
    serde_json::from_slice(bytes).map_err(|_| Refusal::of(bytes))
}

impl Refusal {
    /// Returns the refusal of a message that has more than `max` bytes, and of which nothing was read.
    pub(super) fn too_long(max: usize) -> Self {
        let message = format!("the message has more than {max} bytes");
        Self { id: Value::Null, code: ErrorCode::INVALID_REQUEST, message, is_notification: false }
    }

    /// Returns why `bytes` are no message.
    fn of(bytes: &[u8]) -> Self {
        let refused = |code, message: String| Self {
            id: Value::Null,
            code,
            message: shortened(message, MAX_ERROR),
            is_notification: false,
        };
        // It skips what it reads without going into it, so it knows only what is JSON.
        if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(bytes) {
            return refused(ErrorCode::PARSE_ERROR, format!("this is not JSON: {error}"));
        }
        let message = match serde_json::from_slice::<Value>(bytes) {
            Ok(Value::Object(_)) => "this is not a message of the protocol".to_owned(),
            Ok(Value::Array(_)) => "this is a list: send one message at a time".to_owned(),
            Ok(_) => "this is not an object".to_owned(),
            Err(error) => format!("this cannot be read: {error}"),
        };
        let refusal = refused(ErrorCode::INVALID_REQUEST, message);
        let Ok(Envelope { id, method: Some(method) }) = serde_json::from_slice(bytes) else {
            // An id without a method is that of a question to the client, who would take it for one of its own.
            return refusal;
        };
        match id {
            None => Self { is_notification: method.is_string(), ..refusal },
            Some(id) if id.is_string() || id.is_i64() || id.is_u64() => Self { id, ..refusal },
            Some(_) => refusal,
        }
    }

    /// Returns the answer. The library cannot write one whose id is `null`, as JSON-RPC wants it.
    pub(super) fn to_json(&self) -> Value {
        let error = json!({ "code": self.code.0, "message": self.message });
        json!({ "jsonrpc": "2.0", "id": self.id, "error": error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the code and the id of the answer; `None` if there is none.
    fn refused(text: &str) -> Option<(i64, Value)> {
        let refusal = read(text.as_bytes()).expect_err(text);
        let answer = refusal.to_json();
        assert!(answer["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{answer}");
        let code = answer["error"]["code"].as_i64().expect("a number");
        (!refusal.is_notification).then(|| (code, answer["id"].clone()))
    }

    #[test]
    fn what_is_no_message_is_told_apart() {
        let deep = |start: &str| format!("{start}{}{}}}", "[".repeat(200), "]".repeat(200));
        let (parse, invalid) = (-32700, -32600);
        for (text, answer) in [
            ("x", Some((parse, Value::Null))),
            ("{", Some((parse, Value::Null))),
            ("\u{1}", Some((parse, Value::Null))),
            ("null", Some((invalid, Value::Null))),
            ("[]", Some((invalid, Value::Null))),
            (r#"{"jsonrpc":"2.0"}"#, Some((invalid, Value::Null))),
            (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, Some((invalid, json!(7)))),
            (r#"{"jsonrpc":"2.0","id":"a","method":7}"#, Some((invalid, json!("a")))),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Some((invalid, Value::Null))),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, Some((invalid, Value::Null))),
            (r#"{"jsonrpc":"1.0","id":7,"result":{}}"#, Some((invalid, Value::Null))),
            (r#"{"jsonrpc":"1.0","method":"notifications/none"}"#, None),
        ] {
            assert_eq!(refused(text), answer, "{text}");
        }
        // A client waits for the answer to this request: it gets one by its id.
        let request = deep(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":"#);
        assert_eq!(refused(&request), Some((invalid, json!(7))));
        assert_eq!(refused(&deep(r#"{"jsonrpc":"2.0","id":"#)), Some((invalid, Value::Null)));
        assert_eq!(refused(&"[".repeat(100_000)), Some((parse, Value::Null)));
        assert!(read(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}").is_ok());
        assert!(read(b"\xff").is_err());
    }

    #[test]
    fn an_answer_quotes_little() {
        let long = format!(r#"{{"jsonrpc":"1.0","id":7,"method":"{}"}}"#, "m".repeat(1 << 20));
        let answer = read(long.as_bytes()).expect_err("another version").to_json().to_string();
        assert!(answer.len() < 5_000, "{}", answer.len());
    }
}
