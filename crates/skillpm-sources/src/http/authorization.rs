//! Requests as they go out.

use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};

use super::runtime::Pulse;
use super::upload::Outgoing;
use super::{Content, Credential, HttpError, Url};

/// A request as it goes out: the same for each address that a redirect leads to.
pub(super) struct Outward<'a> {
    pub(super) method: reqwest::Method,
    pub(super) headers: HeaderMap,
    pub(super) credential: Option<&'a Credential>,
    pub(super) content: Option<Content>,
}

impl Outward<'_> {
    /// Returns the request for `url`, which goes through a proxy if `is_proxied` is set. The credential goes along if it
    /// is for the origin of `url`; a proxy must not read it. Each piece of the content that is taken counts in `sent`.
    pub(super) fn request(
        &self,
        url: &Url,
        is_proxied: bool,
        sent: &Pulse,
    ) -> Result<reqwest::Request, HttpError> {
        let mut request = reqwest::Request::new(self.method.clone(), url.wire());
        *request.headers_mut() = self.headers.clone();
        let is_for = |credential: &&Credential| credential.origin == url.origin();
        if let Some(credential) = self.credential.filter(is_for).filter(|_| url.is_https() || !is_proxied) {
            let mut value = header_value(&credential.value, url)?;
            value.set_sensitive(true);
            request.headers_mut().insert(header::AUTHORIZATION, value);
        }
        if let Some(content) = &self.content {
            *request.body_mut() = Some(reqwest::Body::wrap(Outgoing::new(content.clone(), sent.clone())));
        }
        Ok(request)
    }
}

/// Returns the headers of every request for `url`.
pub(super) fn headers_for(accept: &str, url: &Url) -> Result<HeaderMap, HttpError> {
    let mut headers = HeaderMap::new();
    insert(&mut headers, header::ACCEPT, accept, url)?;
    insert(&mut headers, header::ACCEPT_ENCODING, "identity", url)?;
    Ok(headers)
}

/// Sets the header `name` of a request for `url`.
pub(super) fn insert(
    headers: &mut HeaderMap,
    name: HeaderName,
    value: &str,
    url: &Url,
) -> Result<(), HttpError> {
    headers.insert(name, header_value(value, url)?);
    Ok(())
}

/// Returns `value` as the value of a header of a request for `url`. The error does not show it: it may be a secret.
fn header_value(value: &str, url: &Url) -> Result<HeaderValue, HttpError> {
    let reason = "a header would have characters that it cannot have";
    HeaderValue::from_str(value).map_err(|_| HttpError::Address { address: url.to_string(), reason })
}
