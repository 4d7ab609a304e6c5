//! Requests: redirects, credentials, retries and limits.
//!
//! Only this module knows the HTTP library, and that it is asynchronous. Its promises: a credential goes to the origin that
//! it was given for and to no other, also after redirects; `https` never becomes `http`; no answer is larger than its caller
//! allows; every wait has an end.

mod agent;
mod ask;
mod authorization;
mod body;
mod credentials;
mod error;
mod events;
mod login;
mod message;
mod names;
mod netrc;
mod progress;
mod proxy;
mod rate_limit;
mod reach;
mod redirect;
mod request;
mod retry;
mod roots;
mod runtime;
mod submit;
mod time;
mod translate;
mod upload;
mod url;

use std::fmt;
use std::io::Write;
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::header::{self, HeaderMap, HeaderName};

use crate::fs::Sink;
use crate::reporter::{Reporter, Requested};
use crate::settings::{Http, Settings};

use self::agent::Reply;
use self::authorization::{Outward, headers_for, insert};
use self::message::message;
use self::progress::Progress;
use self::redirect::target;
use self::runtime::Pulse;

pub use crate::text::percent_encoded as encode;
pub use credentials::CredentialsFile;
pub use error::HttpError;
pub use login::Login;
pub use message::said;
pub use request::{Answer, Credential, Head, Question, Replied, Request};
pub use upload::{Content, Method, Submitted, Upload};
pub use url::{Origin, Url};

/// Redirects that are followed for one request.
const MOST_REDIRECTS: usize = 10;

/// Bytes of the body of a refusal that are examined for a message.
const REFUSAL_BYTES: u64 = 16 * 1024;

/// Bytes of all headers of an answer.
const HEAD_BYTES: usize = 64 * 1024;

/// Makes requests as the settings want them made.
pub struct Client {
    settings: Http,
    offline: bool,
    reporter: Arc<dyn Reporter>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the settings: a proxy's address may hold a password.
        f.debug_struct("Client").field("offline", &self.offline).finish_non_exhaustive()
    }
}

impl Client {
    /// Returns a client that does nothing until the first request.
    pub fn new(settings: &Settings, reporter: Arc<dyn Reporter>) -> Self {
        Self { settings: settings.http.clone(), offline: settings.offline, reporter }
    }

    /// Returns who hears of the work.
    pub(crate) fn reporter(&self) -> &dyn Reporter {
        &*self.reporter
    }

    /// Fetches a text of at most `limit` bytes, trying again after failures that may pass.
    ///
    /// # Errors
    ///
    /// Fails for any [`HttpError`].
    pub fn get_text(&self, request: &Request, limit: u64) -> Result<Answer, HttpError> {
        self.persist(
            &request.url,
            |_| true,
            || {
                let (url, reply) = self.send(request)?;
                if reply.status() == 304 {
                    return Ok(Answer::NotModified);
                }
                let etag = text_of(reply.headers(), &header::ETAG);
                let mut bytes = Vec::new();
                body::copy(&url, reply, &self.settings, limit, &mut bytes)?;
                let text = String::from_utf8(bytes).map_err(|_| HttpError::Malformed {
                    host: url.origin().to_string(),
                    reason: "it is not UTF-8".to_owned(),
                })?;
                Ok(Answer::Text { text, etag, url })
            },
        )
    }

    /// Downloads at most `limit` bytes into `sink`, telling the reporter that it is `what`, and returns their number.
    /// After a failure that may pass, `sink` is restarted and all comes again.
    ///
    /// # Errors
    ///
    /// Fails with any [`HttpError`]; what `sink` holds is then worthless.
    pub fn download(
        &self,
        request: &Request,
        what: &str,
        limit: u64,
        sink: &mut dyn Sink,
    ) -> Result<u64, HttpError> {
        Ok(self.receive(request, Some(what), limit, sink)?.map_or(0, |(_, length)| length))
    }

    /// Fetches at most `limit` bytes into `sink`; `None` if what is known already still holds. The reporter hears of it
    /// as `what`, if that is given.
    pub fn fetch(
        &self,
        request: &Request,
        what: Option<&str>,
        limit: u64,
        sink: &mut dyn Sink,
    ) -> Result<Option<Head>, HttpError> {
        Ok(self.receive(request, what, limit, sink)?.map(|(head, _)| head))
    }

    /// Asks whether what is known already still holds, and reads nothing of what came since. The
    /// request is the one of [`Client::fetch`]: some servers refuse to tell more than they send.
    pub fn is_unchanged(&self, request: &Request) -> Result<bool, HttpError> {
        self.persist(
            &request.url,
            |_| true,
            || {
                let (_, reply) = self.send(request)?;
                let tag = text_of(reply.headers(), &header::ETAG);
                let same = tag.is_some() && tag == request.if_none_match;
                Ok(same || reply.status() == 304)
            },
        )
    }

    fn receive(
        &self,
        request: &Request,
        what: Option<&str>,
        limit: u64,
        sink: &mut dyn Sink,
    ) -> Result<Option<(Head, u64)>, HttpError> {
        let mut fresh = true;
        self.persist(
            &request.url,
            |_| true,
            || {
                if !mem::take(&mut fresh) {
                    sink.restart().map_err(HttpError::Write)?;
                }
                let (url, reply) = self.send(request)?;
                if reply.status() == 304 {
                    return Ok(None);
                }
                let mut progress;
                let sink: &mut dyn Write = match what {
                    Some(what) => {
                        progress = Progress::start(&*self.reporter, what, reply.length(), sink);
                        &mut progress
                    }
                    None => sink,
                };
                let etag = text_of(reply.headers(), &header::ETAG);
                let last_modified = text_of(reply.headers(), &header::LAST_MODIFIED);
                let link = text_of(reply.headers(), &header::LINK);
                let length = body::copy(&url, reply, &self.settings, limit, sink)?;
                Ok(Some((Head { url, etag, last_modified, link }, length)))
            },
        )
    }

    /// Repeats `attempt` as long as its failures may pass, `may_repeat` holds for them and the settings allow.
    fn persist<T>(
        &self,
        url: &Url,
        may_repeat: impl Fn(&HttpError) -> bool,
        mut attempt: impl FnMut() -> Result<T, HttpError>,
    ) -> Result<T, HttpError> {
        let host = url.origin().to_string();
        let mut tried = 0;
        loop {
            if self.reporter.is_stopped() {
                return Err(HttpError::Stopped(url.clone()));
            }
            // Anyone who asks for something else there would wait as long.
            if let Some(why) = self.settings.silent.known(&host).filter(|_| !self.offline) {
                return Err(HttpError::silent(host, why, self.settings.timeout));
            }
            let error = match attempt() {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            let wait = retry::wait(&error, tried, self.settings.retries);
            let Some(wait) = wait.filter(|_| may_repeat(&error)) else {
                if let Some(why) = error.silence(&host) {
                    self.settings.silent.learn(&host, &why);
                }
                return Err(error);
            };
            tried += 1;
            if self.settings.silent.is_news(&host, tried) {
                let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                let most = retry::most(&error, self.settings.retries);
                self.reporter.retrying(&error.to_string(), seconds, tried, most);
            }
            std::thread::sleep(wait);
        }
    }

    /// Reports whether there is something at the address of `request`, which a request of the method `HEAD` finds out.
    ///
    /// # Errors
    ///
    /// Fails with any [`HttpError`] but that nothing is there (404).
    pub fn is_there(&self, request: &Request) -> Result<bool, HttpError> {
        self.persist(
            &request.url,
            |_| true,
            || {
                let (url, reply) = self.read_from(request, reqwest::Method::HEAD)?;
                match reply.status() {
                    200 => Ok(true),
                    404 => Ok(false),
                    _ => Err(self.refusal(url, reply, request.credential.as_ref())),
                }
            },
        )
    }

    /// Returns how the server of `request` wants clients to log in, if it says so, with an answer of 200 or 401. The answer
    /// of another server, to which a redirect leads, does not count.
    ///
    /// # Errors
    ///
    /// Fails with any other [`HttpError`].
    pub fn challenge(&self, request: &Request) -> Result<Option<String>, HttpError> {
        self.persist(
            &request.url,
            |_| true,
            || {
                let (url, reply) = self.read_from(request, reqwest::Method::GET)?;
                match reply.status() {
                    200 | 401 if url.origin() != request.url.origin() => Ok(None),
                    200 | 401 => Ok(challenge_of(reply.headers())),
                    _ => Err(self.refusal(url, reply, request.credential.as_ref())),
                }
            },
        )
    }

    /// Sends `request` once, follows redirects and returns the last address with its answer, whose
    /// status is 200, or 304 where that was asked for.
    fn send(&self, request: &Request) -> Result<(Url, Reply), HttpError> {
        let (url, reply) = self.read_from(request, reqwest::Method::GET)?;
        match reply.status() {
            200 => Ok((url, reply)),
            304 if request.is_conditional() => Ok((url, reply)),
            _ => Err(self.refusal(url, reply, request.credential.as_ref())),
        }
    }

    /// Sends `request` once with this `method`, follows redirects and returns the last address with its answer.
    fn read_from(&self, request: &Request, method: reqwest::Method) -> Result<(Url, Reply), HttpError> {
        if self.offline {
            return Err(HttpError::Offline(request.url.clone()));
        }
        let mut headers = headers_for(request.accept, &request.url)?;
        if let Some(tag) = &request.if_none_match {
            insert(&mut headers, header::IF_NONE_MATCH, tag, &request.url)?;
        }
        if let Some(time) = &request.if_modified_since {
            insert(&mut headers, header::IF_MODIFIED_SINCE, time, &request.url)?;
        }
        let credential = request.credential.as_ref();
        let outward = Outward { method, headers, credential, content: None };
        self.follow(&request.url, request.led_by.as_ref(), &outward, &[301, 302, 303, 307, 308])
    }

    /// Sends `outward` once to `url`, which `led_by` led to if there is one, follows redirects of the statuses
    /// `followed` and returns the last address with its answer.
    fn follow(
        &self,
        url: &Url,
        led_by: Option<&Url>,
        outward: &Outward<'_>,
        followed: &[u16],
    ) -> Result<(Url, Reply), HttpError> {
        let (first, mut url, mut led_by) = (url, url.clone(), led_by.cloned());
        for _ in 0..=MOST_REDIRECTS {
            let reply = self.exchange(&url, led_by.as_ref(), outward)?;
            if !followed.contains(&reply.status()) {
                return Ok((url, reply));
            }
            let next = target(&url, reply.headers())?;
            led_by = Some(mem::replace(&mut url, next));
        }
        Err(HttpError::TooManyRedirects(first.clone()))
    }

    /// Sends `outward` to `url` and returns the answer with its head read; `led_by` is the address that led there, if
    /// one did. The credential goes along if it is for the origin of `url`.
    fn exchange(&self, url: &Url, led_by: Option<&Url>, outward: &Outward<'_>) -> Result<Reply, HttpError> {
        // Over https the answer is the requested server's. Otherwise anyone on the way may have redirected the request.
        let led_by = led_by.filter(|from| !from.is_https() && from.host() != url.host());
        let sent = Pulse::new();
        let proxy = proxy::choose(&self.settings, url);
        let request = outward.request(url, proxy.is_some(), &sent)?;
        let agent = agent::find(&self.settings, url, led_by)?;
        let began = Instant::now();
        let answer = agent.send(request, &sent);
        let outcome = match answer.as_ref().map(Reply::status) {
            Ok(304) => "304, from the cache".to_owned(),
            Ok(status) => status.to_string(),
            Err(_) => "no answer".to_owned(),
        };
        self.tell(outward.method.as_str(), url, &outcome, Some(began.elapsed()));
        let reply = answer.map_err(|failure| translate::before_body(failure, url, led_by, &self.settings))?;
        let host = || url.origin().to_string();
        if let Some(proxy) = proxy.filter(|_| reply.status() == 407) {
            let reason = translate::LOGIN_OF_PROXY.to_owned();
            return Err(HttpError::Proxy { proxy: url::redacted(proxy), host: host(), reason });
        }
        let head =
            reply.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum::<usize>();
        if head > HEAD_BYTES {
            let reason = format!("its head has more than {HEAD_BYTES} bytes");
            return Err(HttpError::Malformed { host: host(), reason });
        }
        Ok(reply)
    }

    /// Reports that `url` was not requested: its content was downloaded before, and never changes.
    pub(crate) fn not_needed(&self, url: &Url) {
        self.tell("GET", url, "from the cache", None);
    }

    fn tell(&self, method: &str, url: &Url, outcome: &str, took: Option<Duration>) {
        let address = url.without_query();
        self.reporter.requested(&Requested { method, address: &address, outcome, took });
    }

    /// Returns the error for an answer that is neither content nor a redirect; the request had this `credential`.
    fn refusal(&self, url: Url, reply: Reply, credential: Option<&Credential>) -> HttpError {
        let status = reply.status();
        if let Some(limit) = rate_limit::read(status, reply.headers()) {
            return HttpError::RateLimit {
                host: url.origin().to_string(),
                seconds: limit.seconds,
                passing: limit.passing,
                authorized: credential.is_some(),
            };
        }
        let retry_after = rate_limit::retry_after(reply.headers());
        let challenge = challenge_of(reply.headers());
        let mut bytes = Vec::new();
        // The message is a courtesy: without it the status says enough.
        let read = body::copy(&url, reply, &self.settings, REFUSAL_BYTES, &mut bytes);
        let detail = read.ok().and_then(|_| message(&bytes, credential));
        HttpError::Status { url, status, detail, retry_after, challenge }
    }
}

/// Returns all headers `WWW-Authenticate` as one list.
fn challenge_of(headers: &HeaderMap) -> Option<String> {
    let all = headers.get_all(header::WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
    let all: Vec<_> = all.collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Returns the header `name` if it is a text.
fn text_of(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_asked_where_nobody_waits() {
        struct Gone;
        impl Reporter for Gone {
            fn is_stopped(&self) -> bool {
                true
            }
        }
        let settings = Settings::from_env(crate::env::Env::default()).expect("settings");
        let url = Url::parse("http://a.invalid/").expect("an address");
        let answer = Client::new(&settings, Arc::new(Gone)).is_unchanged(&Request::new(url));
        assert!(matches!(answer, Err(HttpError::Stopped(_))), "{answer:?}");
    }

    #[test]
    fn clients_are_shared_between_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Client>();
    }
}
