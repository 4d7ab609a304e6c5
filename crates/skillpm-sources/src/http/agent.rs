//! The agents: clients of the HTTP library that share their connections. With `translate.rs` the only code that knows
//! reqwest beyond its header types.

use std::collections::BTreeMap;
use std::io;
use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use reqwest::header::HeaderMap;
use reqwest::redirect;
use rustls::RootCertStore;
use tower::util::MapFutureLayer;

use crate::settings::Http;

use super::names::{self, Names, Unreachable};
use super::reach::Inward;
use super::runtime::{Pulse, Runtime};
use super::{HttpError, Url, proxy, roots};

/// The name of the program in requests to servers.
const USER_AGENT: &str = concat!("skillpm/", env!("CARGO_PKG_VERSION"));

/// Open connections that are kept for each host without HTTP/2: as many as there are requests at once.
const MOST_IDLE: usize = 8;

/// How long an idle connection is kept: less than most servers keep it, since a request on a connection that the server
/// closes at that moment fails.
const IDLE: Duration = Duration::from_secs(30);

/// Agents that are kept. A program that runs for long may meet any number of hosts that lead to others.
const MOST_AGENTS: usize = 32;

/// The state that all requests of this process share.
static SHARED: Mutex<Option<Shared>> = Mutex::new(None);

struct Shared {
    /// The process that started the runtime: its copies have no such thread.
    process: u32,
    runtime: Arc<Runtime>,
    agents: BTreeMap<Way, Agent>,
}

/// The settings that requests on shared connections have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    proxy: Option<String>,
    /// Whether TLS is spoken: reading certificates takes time, which a plain address need not pay.
    tls: bool,
    /// The host that led there, if it matters.
    led_by: Option<String>,
    timeout: Option<Duration>,
    certificates: (Option<PathBuf>, Option<PathBuf>),
}

/// Makes requests of one kind.
#[derive(Debug, Clone)]
pub(super) struct Agent {
    client: reqwest::Client,
    runtime: Arc<Runtime>,
    /// Beats when a connection has been made or given up, and lives while one is being made.
    connecting: Pulse,
    led_by: Option<String>,
    /// The longest time without any data.
    timeout: Option<Duration>,
}

/// Why there is no answer, or no more of it.
#[derive(Debug)]
pub(super) enum Failure {
    /// Nothing came for the whole timeout.
    Silence,
    /// The library says why.
    Library(reqwest::Error),
    /// The host is in another network than the one that led to it.
    Inward,
    /// The host that led there was not found.
    Lost,
}

/// An answer whose body has not been read.
#[derive(Debug)]
pub(super) struct Reply {
    response: reqwest::Response,
    agent: Agent,
}

/// Returns the agent for `url`, which the host of `led_by` led to, if one did that matters.
pub(super) fn find(settings: &Http, url: &Url, led_by: Option<&Url>) -> Result<Agent, HttpError> {
    let proxy = proxy::choose(settings, url);
    let way = Way {
        tls: url.is_https() || proxy.is_some_and(|proxy| proxy.starts_with("https:")),
        // Behind a proxy it is the proxy that looks names up: it says where one may go.
        led_by: led_by.filter(|_| proxy.is_none()).map(|url| url.host().to_owned()),
        proxy: proxy.map(ToOwned::to_owned),
        timeout: timeout(settings),
        certificates: settings.certificates.clone(),
    };
    // Agents are whole or absent, so a panic elsewhere cannot have left a half-made one.
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let shared = match &mut *shared {
        Some(shared) if shared.process == std::process::id() => shared,
        other => {
            let started =
                Shared::start().map_err(|error| HttpError::Connect(url.origin().to_string(), error))?;
            // After a fork the parent's state is leaked: it must not even be dropped here.
            mem::forget(other.take());
            other.insert(started)
        }
    };
    shared.agent(way)
}

impl Shared {
    fn start() -> io::Result<Self> {
        Ok(Self {
            process: std::process::id(),
            runtime: Arc::new(Runtime::start()?),
            agents: BTreeMap::new(),
        })
    }

    fn agent(&mut self, way: Way) -> Result<Agent, HttpError> {
        if let Some(agent) = self.agents.get(&way) {
            return Ok(agent.clone());
        }
        let agent = Agent::build(&way, Arc::clone(&self.runtime))?;
        if self.agents.len() >= MOST_AGENTS {
            self.agents.clear();
        }
        self.agents.insert(way, agent.clone());
        Ok(agent)
    }
}

impl Agent {
    /// Builds an agent.
    ///
    /// Connecting has the timeout as its total. From then on it is one of silence, which is not the library's but that
    /// of [`Runtime::wait`]: a large file on a slow line may take as long as it takes. Redirects are not followed here
    /// but in `mod.rs`, where the credential is decided on again at each hop.
    fn build(way: &Way, runtime: Arc<Runtime>) -> Result<Self, HttpError> {
        let broken = |reason: String| HttpError::Tls { host: "this machine".to_owned(), reason };
        let roots = if way.tls { roots::load(&way.certificates)? } else { RootCertStore::empty() };
        let tls = roots::config(roots).map_err(|error| broken(error.to_string()))?;
        let connecting = Pulse::new();
        let counting = connecting.clone();
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .user_agent(USER_AGENT)
            .redirect(redirect::Policy::none())
            .referer(false)
            // Without this line the library might read the environment by itself.
            .no_proxy()
            .pool_max_idle_per_host(MOST_IDLE)
            .pool_idle_timeout(IDLE)
            .dns_resolver(Names { led_by: way.led_by.clone() })
            .connector_layer(MapFutureLayer::new(move |connection| counting.hold(connection)));
        if let Some(proxy) = &way.proxy {
            builder = builder.proxy(proxy::parse(proxy)?);
        }
        if let Some(timeout) = way.timeout {
            builder = builder.connect_timeout(timeout);
        }
        let client = builder.build().map_err(|error| broken(error.to_string()))?;
        Ok(Self { client, runtime, connecting, led_by: way.led_by.clone(), timeout: way.timeout })
    }

    /// Sends `request` and returns the answer as soon as its head is there. While a body is sent, each piece of it
    /// that is taken counts in `sent` as a sign of life.
    pub(super) fn send(&self, request: reqwest::Request, sent: &Pulse) -> Result<Reply, Failure> {
        let began = Instant::now();
        // No connection takes longer than the limit, after which that of the answer begins.
        let most = began.checked_add(self.timeout.unwrap_or_default()).unwrap_or(began);
        let last = || sent.last().max(self.connecting.last().min(most));
        let answer = async {
            self.check_literal(request.url()).await?;
            self.client.execute(request).await.map_err(Failure::Library)
        };
        let response = self.runtime.wait(answer, self.timeout, last).ok_or(Failure::Silence)??;
        Ok(Reply { response, agent: self.clone() })
    }

    /// Checks the host of `url` if it is an address: no resolver is asked for it.
    async fn check_literal(&self, url: &reqwest::Url) -> Result<(), Failure> {
        let address = url.host_str().and_then(names::literal);
        let (Some(from), Some(address)) = (&self.led_by, address) else { return Ok(()) };
        let refused = |error: Unreachable| if error.is::<Inward>() { Failure::Inward } else { Failure::Lost };
        names::check_reach([address].into_iter(), from).await.map_err(refused)
    }
}

impl Reply {
    /// Returns the status.
    pub(super) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Returns the headers.
    pub(super) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Returns the number of bytes that the body has, if the server says it.
    pub(super) fn length(&self) -> Option<u64> {
        self.response.content_length()
    }

    /// Returns the next piece of the body, `None` at its end.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        let began = Instant::now();
        let piece = self.agent.runtime.wait(self.response.chunk(), self.agent.timeout, || began);
        piece.ok_or(Failure::Silence)?.map_err(Failure::Library)
    }
}

/// Returns the timeout, `None` if it is switched off with zero.
pub(super) fn timeout(settings: &Http) -> Option<Duration> {
    (!settings.timeout.is_zero()).then_some(settings.timeout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_of_zero_is_none() {
        let none = Http { timeout: Duration::ZERO, ..Http::default() };
        assert_eq!((timeout(&none), timeout(&Http::default())), (None, Some(Duration::from_secs(30))));
        let url = Url::parse("http://a.example/").expect("an address");
        assert!(find(&none, &url, None).is_ok_and(|agent| agent.timeout.is_none()));
    }

    #[test]
    fn agents_do_not_add_up() {
        let url = |text: &str| Url::parse(text).expect(text);
        let to = url("http://a.example/");
        for number in 0..3 * MOST_AGENTS {
            let from = url(&format!("http://{number}.b.example/"));
            assert!(find(&Http::default(), &to, Some(&from)).is_ok());
        }
        let shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(shared.as_ref().is_some_and(|shared| shared.agents.len() <= MOST_AGENTS));
    }
}
