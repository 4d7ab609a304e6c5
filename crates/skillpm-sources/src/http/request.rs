//! Requests and responses: values without a connection.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::HeaderMap;

use super::{Origin, Url};

/// A secret for the header `Authorization`, and the origin that may see it.
#[derive(Clone)]
pub struct Credential {
    /// The only origin that it is sent to.
    pub origin: Origin,
    /// The header's value: `Bearer <token>`.
    pub value: String,
}

impl Credential {
    /// Returns the credential of a token.
    pub fn bearer(origin: Origin, token: &str) -> Self {
        Self { origin, value: format!("Bearer {token}") }
    }

    /// Returns the credential of a name and a password (RFC 7617).
    pub fn basic(origin: Origin, name: &str, password: &str) -> Self {
        Self { origin, value: format!("Basic {}", BASE64_STANDARD.encode(format!("{name}:{password}"))) }
    }

    /// Reports whether `text` gives the secret away: as it is sent, or as it was before.
    pub(super) fn is_told_in(&self, text: &str) -> bool {
        let (scheme, sent) = self.value.split_once(' ').unwrap_or(("", &self.value));
        let decoded = (scheme == "Basic").then(|| BASE64_STANDARD.decode(sent).ok()).flatten();
        let login = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        let password = login.as_ref().and_then(|login| login.split_once(':')).map(|(_, password)| password);
        text.contains(sent)
            || password.is_some_and(|password| !password.is_empty() && text.contains(password))
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credential for {}", self.origin)
    }
}

/// A request to read something.
#[derive(Debug, Clone)]
pub struct Request {
    /// The address.
    pub url: Url,
    /// The address that pointed to this one, if that was not the one that people named.
    pub led_by: Option<Url>,
    /// The media type that is asked for.
    pub accept: &'static str,
    /// The credential, if there is one.
    pub credential: Option<Credential>,
    /// The tag of the answer that is known already.
    pub if_none_match: Option<String>,
    /// The time of the answer that is known already, as the server wrote it.
    pub if_modified_since: Option<String>,
}

impl Request {
    /// Returns a request for `url` and nothing more.
    pub fn new(url: Url) -> Self {
        Self {
            url,
            led_by: None,
            accept: "*/*",
            credential: None,
            if_none_match: None,
            if_modified_since: None,
        }
    }

    /// Reports whether the answer may be that nothing changed.
    pub(super) fn is_conditional(&self) -> bool {
        self.if_none_match.is_some() || self.if_modified_since.is_some()
    }
}

/// A question that is asked by POST and changes nothing, such as a request of JSON-RPC that reads.
#[derive(Debug, Clone)]
pub struct Question {
    /// The address.
    pub url: Url,
    /// The media types that are asked for.
    pub accept: &'static str,
    /// The credential, if there is one.
    pub credential: Option<Credential>,
    /// Further headers, with names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// The media type of the content.
    pub content_type: &'static str,
    /// The question itself.
    pub content: Arc<[u8]>,
}

/// The answer to a [`Question`].
#[derive(Debug)]
pub struct Replied {
    /// The address that answered, after all redirects.
    pub url: Url,
    /// The status: of success (2xx), or of a refusal (4xx).
    pub status: u16,
    /// The body, or the data of the event that is the answer.
    pub body: Vec<u8>,
    pub(super) headers: HeaderMap,
}

impl Replied {
    /// Returns the header `name` if there is one that is a text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// The metadata of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The address that answered, after all redirects.
    pub url: Url,
    /// The tag of these bytes, for [`Request::if_none_match`].
    pub etag: Option<String>,
    /// When they changed last, for [`Request::if_modified_since`].
    pub last_modified: Option<String>,
    /// Where related content is, such as the next page (`Link`).
    pub link: Option<String>,
}

/// The answer to a request for a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// A text.
    Text {
        /// The text.
        text: String,
        /// The tag, for the next request.
        etag: Option<String>,
        /// The address that it came from, after redirects.
        url: Url,
    },
    /// The known content is current; only after [`Request::if_none_match`].
    NotModified,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_secrets_too() {
        let origin = Url::parse("https://a.example").expect("an address").origin();
        let credential = Credential::basic(origin, "ada", "s3:cret");
        // RFC 7617 with this name and password.
        assert_eq!(credential.value, "Basic YWRhOnMzOmNyZXQ=");
        assert!(credential.is_told_in("YWRhOnMzOmNyZXQ=") && credential.is_told_in("no s3:cret"));
        assert!(!credential.is_told_in("the user ada has no rights"));
        assert!(!format!("{credential:?}").contains("YWRh"));
    }
}
