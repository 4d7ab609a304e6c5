//! Error messages of servers, fit to be shown.

use super::Credential;

/// Returns the error message in an answer in JSON: its `message`, the `detail` of RFC 9457, or the `message` of the first of
/// its `errors` as OCI registries have it, as [`said`] shows it.
pub(super) fn message(bytes: &[u8], credential: Option<&Credential>) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    let text = ["/message", "/detail", "/errors/0/message"].iter().find_map(|field| value.pointer(field))?;
    said(text.as_str()?, credential)
}

/// Returns `text`, which a server says, fit to be shown: short and on one line; `None` if it is empty or contains the
/// secret, which a server might repeat.
pub fn said(text: &str, credential: Option<&Credential>) -> Option<String> {
    if text.is_empty() || credential.is_some_and(|credential| credential.is_told_in(text)) {
        return None;
    }
    let plain = |c: &char| c.is_ascii_graphic() || *c == ' ' || c.is_alphanumeric();
    Some(text.chars().filter(plain).take(200).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Url;

    #[test]
    fn messages_of_servers_are_made_harmless() {
        let origin = Url::parse("https://a.example").expect("an address").origin();
        let credential = Credential { origin, value: "Bearer s3cret".into() };
        let shown = |text: &str| {
            let body = serde_json::json!({ "message": text }).to_string();
            message(body.as_bytes(), Some(&credential))
        };
        assert_eq!(shown("Not\n\u{1b}[31m Found\u{202e}").as_deref(), Some("Not[31m Found"));
        assert_eq!(shown("the token s3cret is bad"), None);
        assert_eq!(shown(&"x".repeat(1000)).map(|text| text.len()), Some(200));
        assert_eq!(message(b"<html>", None), None);
        assert_eq!(message(br#"{"status":403,"detail":"no"}"#, None).as_deref(), Some("no"));
    }
}
