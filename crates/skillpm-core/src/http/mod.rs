//! Requests: redirects, credentials, retries and limits.
//!
//! Only this module knows the HTTP library. What it promises: a credential goes to the origin that
//! it was given for and to no other, whatever a server redirects to; `https` never becomes `http`;
//! no answer is larger than its caller allows; every wait has an end.

mod agent;
mod body;
mod error;
mod limit;
mod login;
mod names;
mod netrc;
mod proxy;
mod reach;
mod request;
mod retry;
mod time;
mod translate;
mod url;

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ureq::http::{Response, header};
use ureq::{Agent, Body};

use crate::fs::Sink;
use crate::reporter::{Reporter, Requested};
use crate::settings::{Http, Settings};

pub use error::HttpError;
pub use login::Login;
pub use request::{Answer, Credential, Head, Request};
pub use time::parse_timestamp;
pub use url::{Origin, Url, encode};

/// Redirects that are followed for one request.
const MOST_REDIRECTS: usize = 10;

/// Bytes of the body of a refusal that are examined for a message.
const REFUSAL_BYTES: u64 = 16 * 1024;

/// Makes requests as the settings want them made.
pub struct Client {
    settings: Http,
    offline: bool,
    reporter: Arc<dyn Reporter>,
    /// Agents by the way that they go, made when they are first needed.
    agents: Mutex<BTreeMap<Way, Agent>>,
}

/// A proxy, whether TLS is spoken, and the host that led there.
type Way = (Option<String>, bool, Option<String>);

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the settings: a proxy's address may hold a password.
        f.debug_struct("Client").field("offline", &self.offline).finish_non_exhaustive()
    }
}

impl Client {
    /// Returns a client that does nothing until the first request.
    pub fn new(settings: &Settings, reporter: Arc<dyn Reporter>) -> Self {
        Self {
            settings: settings.http.clone(),
            offline: settings.offline,
            reporter,
            agents: Mutex::new(BTreeMap::new()),
        }
    }

    /// Fetches a text of at most `limit` bytes, trying again after failures that may pass.
    ///
    /// # Errors
    ///
    /// Fails for any [`HttpError`].
    pub fn get_text(&self, request: &Request, limit: u64) -> Result<Answer, HttpError> {
        self.persist(&request.url, || {
            let (url, response) = self.send(request)?;
            let (parts, body) = response.into_parts();
            if parts.status.as_u16() == 304 {
                return Ok(Answer::NotModified);
            }
            let mut bytes = Vec::new();
            body::copy(&url, &parts.headers, body, &self.settings, limit, &mut bytes)?;
            let text = String::from_utf8(bytes).map_err(|_| HttpError::Malformed {
                host: url.origin().to_string(),
                reason: "it is not UTF-8".to_owned(),
            })?;
            let etag = parts.headers.get(header::ETAG).and_then(|tag| tag.to_str().ok());
            Ok(Answer::Text { text, etag: etag.map(ToOwned::to_owned) })
        })
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
    ///
    /// # Errors
    ///
    /// Fails as [`Client::download`] does.
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
    ///
    /// # Errors
    ///
    /// Fails as [`Client::download`] does.
    pub fn is_unchanged(&self, request: &Request) -> Result<bool, HttpError> {
        self.persist(&request.url, || {
            let (_, response) = self.send(request)?;
            let tag = response.headers().get(header::ETAG).and_then(|tag| tag.to_str().ok());
            let same = tag.is_some() && tag == request.if_none_match.as_deref();
            Ok(same || response.status().as_u16() == 304)
        })
    }

    fn receive(
        &self,
        request: &Request,
        what: Option<&str>,
        limit: u64,
        sink: &mut dyn Sink,
    ) -> Result<Option<(Head, u64)>, HttpError> {
        let mut fresh = true;
        self.persist(&request.url, || {
            if !mem::take(&mut fresh) {
                sink.restart().map_err(HttpError::Write)?;
            }
            let (url, response) = self.send(request)?;
            let (parts, body) = response.into_parts();
            if parts.status.as_u16() == 304 {
                return Ok(None);
            }
            let mut progress;
            let sink: &mut dyn Write = match what {
                Some(what) => {
                    progress = Progress::start(&*self.reporter, what, body.content_length(), sink);
                    &mut progress
                }
                None => sink,
            };
            let length = body::copy(&url, &parts.headers, body, &self.settings, limit, sink)?;
            let text = |name| parts.headers.get(name).and_then(|value| value.to_str().ok());
            let etag = text(header::ETAG).map(ToOwned::to_owned);
            let last_modified = text(header::LAST_MODIFIED).map(ToOwned::to_owned);
            Ok(Some((Head { url, etag, last_modified }, length)))
        })
    }

    /// Repeats `attempt` as long as its failures may pass and the settings allow.
    fn persist<T>(
        &self,
        url: &Url,
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
            let Some(wait) = retry::wait(&error, tried, self.settings.retries) else {
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

    /// Sends `request` once, follows redirects and returns the last address with its answer, whose
    /// status is 200, or 304 where that was asked for.
    fn send(&self, request: &Request) -> Result<(Url, Response<Body>), HttpError> {
        if self.offline {
            return Err(HttpError::Offline(request.url.clone()));
        }
        let mut url = request.url.clone();
        let mut led_by = request.led_by.clone();
        for _ in 0..=MOST_REDIRECTS {
            let credential = request.credential.as_ref().filter(|c| c.origin == url.origin());
            let response = self.exchange(&url, led_by.as_ref(), request, credential)?;
            match response.status().as_u16() {
                200 => return Ok((url, response)),
                304 if request.is_conditional() => return Ok((url, response)),
                301 | 302 | 303 | 307 | 308 => {
                    let next = target(&url, &response)?;
                    led_by = Some(mem::replace(&mut url, next));
                }
                _ => return Err(self.refusal(url, response, request)),
            }
        }
        Err(HttpError::TooManyRedirects(request.url.clone()))
    }

    /// One request and the head of its answer; `led_by` is the address that led to `url`, if one did.
    fn exchange(
        &self,
        url: &Url,
        led_by: Option<&Url>,
        request: &Request,
        credential: Option<&Credential>,
    ) -> Result<Response<Body>, HttpError> {
        // Who answers over https is who was asked. Else anybody on the way may have said where to go next.
        let led_by = led_by.filter(|from| !from.is_https() && from.host() != url.host());
        let mut call = self.agent(url, led_by)?.get(url.uri()).header(header::ACCEPT, request.accept);
        if let Some(credential) = credential {
            call = call.header(header::AUTHORIZATION, &credential.value);
        }
        if let Some(tag) = &request.if_none_match {
            call = call.header(header::IF_NONE_MATCH, tag);
        }
        if let Some(time) = &request.if_modified_since {
            call = call.header(header::IF_MODIFIED_SINCE, time);
        }
        let began = Instant::now();
        let answer = call.call();
        let outcome = match &answer {
            Ok(answer) if answer.status().as_u16() == 304 => "304, from the cache".to_owned(),
            Ok(answer) => answer.status().as_u16().to_string(),
            Err(_) => "no answer".to_owned(),
        };
        self.tell(url, &outcome, Some(began.elapsed()));
        answer.map_err(|error| translate::before_body(error, url, led_by, &self.settings))
    }

    /// Tells that `url` was not asked for: what it holds was downloaded before, and never changes.
    pub fn not_needed(&self, url: &Url) {
        self.tell(url, "from the cache", None);
    }

    fn tell(&self, url: &Url, outcome: &str, took: Option<Duration>) {
        let address = url.without_query();
        self.reporter.requested(&Requested { method: "GET", address: &address, outcome, took });
    }

    fn agent(&self, url: &Url, led_by: Option<&Url>) -> Result<Agent, HttpError> {
        let proxy = proxy::choose(&self.settings, url);
        let tls = url.is_https() || proxy.is_some_and(|proxy| proxy.starts_with("https:"));
        // Behind a proxy it is the proxy that looks names up: it says where one may go.
        let led_by = led_by.filter(|_| proxy.is_none());
        let key = (proxy.map(ToOwned::to_owned), tls, led_by.map(|url| url.origin().to_string()));
        // An agent is whole or absent, so a panic elsewhere cannot have left a half-made one.
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(agent) = agents.get(&key) {
            return Ok(agent.clone());
        }
        let agent = agent::build(&self.settings, proxy, tls, led_by)?;
        agents.insert(key, agent.clone());
        Ok(agent)
    }

    /// Returns the error for an answer that is neither content nor a redirect.
    fn refusal(&self, url: Url, response: Response<Body>, request: &Request) -> HttpError {
        let (parts, body) = response.into_parts();
        let status = parts.status.as_u16();
        if let Some(limit) = limit::read(status, &parts.headers) {
            return HttpError::RateLimit {
                host: url.origin().to_string(),
                seconds: limit.seconds,
                passing: limit.passing,
                authorized: request.credential.is_some(),
            };
        }
        let mut bytes = Vec::new();
        // The message is a courtesy: without it the status says enough.
        let read = body::copy(&url, &parts.headers, body, &self.settings, REFUSAL_BYTES, &mut bytes);
        let detail = read.ok().and_then(|_| message(&bytes, request.credential.as_ref()));
        HttpError::Status { url, status, detail, retry_after: limit::retry_after(&parts.headers) }
    }
}

/// Returns where a redirect leads, if it is a place to go to.
fn target(from: &Url, response: &Response<Body>) -> Result<Url, HttpError> {
    let refused =
        |to: &str, reason| Err(HttpError::Redirect { from: from.clone(), to: url::redacted(to), reason });
    let Some(location) = response.headers().get(header::LOCATION).and_then(|l| in_ascii(l.as_bytes())) else {
        return Err(HttpError::RedirectNowhere(from.clone()));
    };
    match from.join(&location) {
        Ok(to) if from.is_https() && !to.is_https() => {
            refused(&location, "this would leave the secure connection")
        }
        Ok(to) => Ok(to),
        Err(HttpError::Address { reason, .. }) => refused(&location, reason),
        Err(error) => Err(error),
    }
}

/// Returns the address `bytes` of a redirect, with what stands for blanks and other letters than those of ASCII: some
/// servers send them as they are, and browsers take them. `None` if there is none, or it has control characters.
fn in_ascii(bytes: &[u8]) -> Option<String> {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes.trim_ascii() {
        match byte {
            b'!'..=b'~' => text.push(char::from(*byte)),
            // Writing to a string cannot fail.
            b' ' | 0x80.. => write!(text, "%{byte:02X}").unwrap_or_default(),
            _ => return None,
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Returns the field `message` of an answer in JSON, fit to be shown: short, on one line, and without the secret, which
/// a server might repeat.
fn message(bytes: &[u8], credential: Option<&Credential>) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    let text = value.get("message")?.as_str()?;
    if text.is_empty() || credential.is_some_and(|credential| credential.is_told_in(text)) {
        return None;
    }
    let plain = |c: &char| c.is_ascii_graphic() || *c == ' ' || c.is_alphanumeric();
    Some(text.chars().filter(plain).take(200).collect())
}

/// A sink that reports what passes through it to the reporter.
struct Progress<'a> {
    reporter: &'a dyn Reporter,
    sink: &'a mut dyn Sink,
}

impl<'a> Progress<'a> {
    fn start(reporter: &'a dyn Reporter, what: &str, total: Option<u64>, sink: &'a mut dyn Sink) -> Self {
        reporter.download_started(what, total);
        Self { reporter, sink }
    }
}

impl Write for Progress<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.reporter.is_stopped() {
            return Err(io::Error::other("the download was stopped"));
        }
        let count = self.sink.write(buf)?;
        self.reporter.download_progressed(count as u64);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.reporter.download_finished();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As browsers read them.
    #[test]
    fn redirects_may_have_blanks_and_other_letters() {
        let to = |location: &[u8]| {
            let response = Response::builder().status(302).header("location", location);
            let response = response.body(Body::builder().data("")).expect("a response");
            target(&Url::parse("https://a.example/x").expect("an address"), &response)
                .map(|url| url.to_string())
        };
        assert_eq!(to("/ok/é.zip".as_bytes()).expect("a place"), "https://a.example/ok/%C3%A9.zip");
        assert_eq!(to(b" /ok/a b%20c.zip ").expect("a place"), "https://a.example/ok/a%20b%20c.zip");
        for nowhere in [&b""[..], b" ", b"/a\tb"] {
            assert!(matches!(to(nowhere), Err(HttpError::RedirectNowhere(_))), "{nowhere:?}");
        }
    }

    #[test]
    fn h12_https_never_becomes_http() {
        let to = |from: &str, location: &str| {
            let response = Response::builder().status(302).header("location", location);
            let response = response.body(Body::builder().data("")).expect("a response");
            target(&Url::parse(from).expect(from), &response).map_err(|error| error.to_string())
        };
        assert_eq!(
            to("https://a.example/x", "http://b.example/y?token=s3cret"),
            Err("`https://a.example/x` redirects to `http://b.example/y`: this would leave the secure connection"
                .to_owned())
        );
        assert!(to("http://a.example/x", "https://b.example/").is_ok());
        assert!(to("https://a.example/x", "//b.example/").is_ok_and(|url| url.is_https()));
    }

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
    }

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
