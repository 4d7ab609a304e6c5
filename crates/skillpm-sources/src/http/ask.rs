//! Questions sent as the body of a request; the answer is the body of the response or one event of a stream.

use std::sync::Arc;

use reqwest::header::{self, HeaderName};

use super::authorization::{Outward, headers_for, insert};
use super::events::{self, Events};
use super::submit::SUBMITTED_BYTES;
use super::{Client, Content, HttpError, Question, Replied, body, rate_limit, text_of};

impl Client {
    /// Sends `question` and returns the answer, of at most `limit` bytes. In a stream of events, the answer is the data
    /// of the first event that `is_answer`; nothing after it is read. A redirect that keeps the method is followed. The
    /// question is sent again after failures that may pass.
    ///
    /// # Errors
    ///
    /// Fails for any [`HttpError`]. A refusal with a status of 4xx is an answer.
    pub fn ask(
        &self,
        question: &Question,
        limit: u64,
        is_answer: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Replied, HttpError> {
        self.persist(&question.url, |_| true, || self.ask_once(question, limit, is_answer))
    }

    fn ask_once(
        &self,
        question: &Question,
        limit: u64,
        is_answer: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Replied, HttpError> {
        if self.offline {
            return Err(HttpError::Offline(question.url.clone()));
        }
        let mut headers = headers_for(question.accept, &question.url)?;
        insert(&mut headers, header::CONTENT_TYPE, question.content_type, &question.url)?;
        for (name, value) in &question.headers {
            insert(&mut headers, HeaderName::from_static(name), value, &question.url)?;
        }
        let content = Some(Content::Bytes(Arc::clone(&question.content)));
        let credential = question.credential.as_ref();
        let outward = Outward { method: reqwest::Method::POST, headers, credential, content };
        let (url, reply) = self.follow(&question.url, None, &outward, &[307, 308])?;
        let (status, headers) = (reply.status(), reply.headers().clone());
        let (limit, is_success) = match status {
            200..=299 => (limit, true),
            400..=499 if rate_limit::read(status, &headers).is_none() => (limit.min(SUBMITTED_BYTES), false),
            _ => return Err(self.refusal(url, reply, credential)),
        };
        let is_stream = text_of(&headers, &header::CONTENT_TYPE)
            .is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with(events::EVENT_STREAM));
        let (mut body, mut events, mut answer) = (Vec::new(), Events::default(), None);
        let mut take = |piece: &[u8]| {
            if is_stream {
                answer = events.next(piece, is_answer);
            } else {
                body.extend_from_slice(piece);
            }
            Ok(answer.is_none())
        };
        let read = body::read(&url, reply, &self.settings, limit, &mut take);
        match (read, answer) {
            (_, Some(answer)) => body = answer,
            // The body of a refusal is optional: the status is enough.
            (Err(error), None) if is_success => return Err(error),
            (Ok(_), None) if is_stream && is_success => {
                let reason = "its stream of events ended without an answer".to_owned();
                return Err(HttpError::Malformed { host: url.origin().to_string(), reason });
            }
            _ => {}
        }
        Ok(Replied { url, status, body, headers })
    }
}
