//! Uploads: sending content, and reading what the server replies.

use reqwest::header;

use super::authorization::{Outward, headers_for, insert};
use super::redirect::target;
use super::{Client, HttpError, Method, Submitted, Upload, body, challenge_of, rate_limit, text_of};

/// The largest reply to an upload, or to a question that was refused, in bytes.
pub(super) const SUBMITTED_BYTES: u64 = 256 * 1024;

impl Client {
    /// Sends `upload` and returns what the server says: that it did what it was asked to do, or that it refuses. After
    /// a failure that may pass it is sent again: with [`Method::Post`] and [`Method::Patch`] only if there was no
    /// connection, since the server may have taken the content in.
    ///
    /// # Errors
    ///
    /// Fails for any [`HttpError`]: also for a redirect, which is not followed, and for a server that has a problem
    /// (5xx).
    pub fn submit(&self, upload: &Upload) -> Result<Submitted, HttpError> {
        let may_repeat = |error: &HttpError| upload.method.is_idempotent() || error.is_unsent();
        self.persist(&upload.url, may_repeat, || self.submit_once(upload))
    }

    fn submit_once(&self, upload: &Upload) -> Result<Submitted, HttpError> {
        let url = &upload.url;
        if self.offline {
            return Err(HttpError::Offline(url.clone()));
        }
        let mut headers = headers_for(upload.accept, url)?;
        insert(&mut headers, header::CONTENT_TYPE, upload.content_type, url)?;
        if upload.is_new {
            insert(&mut headers, header::IF_NONE_MATCH, "*", url)?;
        }
        if let Some(first) = upload.first_byte {
            let last = (first + upload.content.len()).saturating_sub(1);
            insert(&mut headers, header::CONTENT_RANGE, &format!("{first}-{last}"), url)?;
        }
        let method = match upload.method {
            Method::Put => reqwest::Method::PUT,
            Method::Post => reqwest::Method::POST,
            Method::Patch => reqwest::Method::PATCH,
            Method::Delete => reqwest::Method::DELETE,
        };
        let credential = upload.credential.as_ref();
        let outward = Outward { method, headers, credential, content: Some(upload.content.clone()) };
        let reply = self.exchange(url, None, &outward)?;
        match reply.status() {
            301 | 302 | 303 | 307 | 308 => {
                let to = target(url, reply.headers())?.to_string();
                Err(HttpError::Redirect { from: url.clone(), to, reason: "an upload is not sent elsewhere" })
            }
            status @ (200..=299 | 400..=499) if rate_limit::read(status, reply.headers()).is_none() => {
                let location = text_of(reply.headers(), &header::LOCATION);
                let challenge = challenge_of(reply.headers());
                let mut body = Vec::new();
                body::copy(url, reply, &self.settings, SUBMITTED_BYTES, &mut body)?;
                Ok(Submitted { status, location, challenge, body })
            }
            _ => Err(self.refusal(url.clone(), reply, credential)),
        }
    }
}
