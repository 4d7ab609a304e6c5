//! How a request can fail, and the error for a person.

use std::io;
use std::time::Duration;

use crate::advice::{Message, Opt, message};
use crate::codes;
use crate::env;
use crate::error::{Error, ErrorKind};

use super::time;
use super::url::Url;

/// A failed request. No message holds a credential, a query string or a name with a password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The network is switched off by the settings.
    #[error("`{0}` is not in the cache, and the network is not to be used")]
    Offline(Url),
    /// The caller has stopped waiting.
    #[error("the request of `{0}` was stopped")]
    Stopped(Url),
    /// A text that is no usable address.
    #[error("`{address}` cannot be requested: {reason}")]
    Address {
        /// The text without its secrets.
        address: String,
        /// Why not.
        reason: &'static str,
    },
    /// The proxy in the settings is no usable address.
    #[error("`{0}` is not the address of a proxy that skillpm can use")]
    BadProxy(String),
    /// The certificates that the settings name cannot be read.
    #[error("`{path}` holds no certificates: {reason}")]
    Certificates {
        /// The file or directory.
        path: String,
        /// Why not.
        reason: String,
    },
    /// The host has no address.
    #[error("the host `{0}` was not found")]
    Dns(String),
    /// No connection came about.
    #[error("failed to connect to `{0}`")]
    Connect(String, #[source] io::Error),
    /// The proxy refused.
    #[error("the proxy `{proxy}` made no connection to `{host}`: {reason}")]
    Proxy {
        /// The proxy, without name and password.
        proxy: String,
        /// Where the connection was to lead.
        host: String,
        /// The proxy's reason.
        reason: String,
    },
    /// Nothing came before the body.
    #[error("`{host}` did not answer within {}", seconds(*limit))]
    Timeout {
        /// The host.
        host: String,
        /// How long it had.
        limit: Duration,
        /// Whether there was a connection at least.
        connected: bool,
    },
    /// The body stopped, or came too slowly.
    #[error("the response from `{host}` stalled: no data for {} after {received} bytes", seconds(*limit))]
    Stalled {
        /// The host.
        host: String,
        /// How long nothing came.
        limit: Duration,
        /// Bytes that had come.
        received: u64,
    },
    /// The connection broke before the body.
    #[error("the connection to `{0}` broke off")]
    Broken(String, #[source] io::Error),
    /// The body ended early.
    #[error("the response from `{host}` was cut off: {received} bytes arrived, {} were expected", or_more(*expected))]
    Truncated {
        /// The host.
        host: String,
        /// Bytes that came.
        received: u64,
        /// Bytes that the server had announced, where it had.
        expected: Option<u64>,
    },
    /// The secure connection failed.
    #[error("no secure connection to `{host}`: {reason}")]
    Tls {
        /// The host.
        host: String,
        /// Why not.
        reason: String,
    },
    /// The server led from address to address.
    #[error("`{0}` redirects too often")]
    TooManyRedirects(Url),
    /// A redirect without an address that can be read.
    #[error("`{0}` redirects without saying where to")]
    RedirectNowhere(Url),
    /// The server led to a place that is not gone to.
    #[error("`{from}` redirects to `{to}`: {reason}")]
    Redirect {
        /// The address that answered.
        from: Url,
        /// The place, without its secrets.
        to: String,
        /// Why it is not gone to.
        reason: &'static str,
    },
    /// A host of a network that only this machine can see, and that an address without `https` led to.
    #[error("`{from}` leads to `{to}`, which is in a private network")]
    Inward {
        /// The address that led there.
        from: Url,
        /// Where to.
        to: Url,
    },
    /// The server allows no more requests for now.
    #[error("the rate limit of `{host}` is reached{}", ends(*seconds))]
    RateLimit {
        /// The host.
        host: String,
        /// Seconds until the limit ends, where the server says.
        seconds: Option<u64>,
        /// Whether the request may be sent again after that time, in this run.
        passing: bool,
        /// Whether the request carried a credential.
        authorized: bool,
    },
    /// An answer with another status than was hoped for.
    #[error("`{url}` answered with status {status}{}", detail.as_ref().map(|d| format!(": {d}")).unwrap_or_default())]
    Status {
        /// The address.
        url: Url,
        /// The status.
        status: u16,
        /// The server's message.
        detail: Option<String>,
        /// Seconds after which the server may be asked again.
        retry_after: Option<u64>,
        /// How the server wants clients to log in (`WWW-Authenticate`).
        challenge: Option<String>,
    },
    /// A compression that was not asked for: it could hide a body of any size.
    #[error("`{url}` answered in the encoding `{encoding}`, which was not requested")]
    Encoding {
        /// The address.
        url: Url,
        /// The encoding.
        encoding: String,
    },
    /// More bytes than are allowed.
    #[error("the response from `{host}` has more than {limit} bytes")]
    TooLarge {
        /// The host.
        host: String,
        /// How many are allowed.
        limit: u64,
    },
    /// Bytes that are not HTTP, or not the text that was expected.
    #[error("the response from `{host}` cannot be read: {reason}")]
    Malformed {
        /// The host.
        host: String,
        /// The problem.
        reason: String,
    },
    /// The bytes that were to be sent could not be read.
    #[error("failed to read the bytes to send")]
    Read(#[source] io::Error),
    /// The bytes came, but could not be stored.
    #[error("failed to store the downloaded bytes")]
    Write(#[source] io::Error),
}

fn seconds(limit: Duration) -> String {
    match limit.as_secs() {
        1 => "1 second".to_owned(),
        seconds => format!("{seconds} seconds"),
    }
}

fn or_more(expected: Option<u64>) -> String {
    expected.map_or_else(|| "more".to_owned(), |expected| expected.to_string())
}

fn ends(seconds: Option<u64>) -> String {
    // A limit that has ended and is still there says nothing.
    let seconds = seconds.filter(|seconds| *seconds > 0);
    seconds.map(|seconds| format!("; it ends {}", time::until(seconds, env::now()))).unwrap_or_default()
}

impl HttpError {
    /// Reports whether the server has seen nothing of the request.
    pub(super) fn is_unsent(&self) -> bool {
        matches!(self, Self::Dns(_) | Self::Connect(..) | Self::Timeout { connected: false, .. })
    }

    /// Returns why `host` did not answer at all, where that is what happened: it is not asked again for something else.
    pub(super) fn silence(&self, host: &str) -> Option<io::Error> {
        match self {
            Self::Dns(peer) if peer == host => Some(io::ErrorKind::NotFound.into()),
            Self::Connect(peer, error) if peer == host => {
                Some(io::Error::new(error.kind(), error.to_string()))
            }
            Self::Timeout { host: peer, connected: false, .. } if peer == host => {
                Some(io::ErrorKind::TimedOut.into())
            }
            _ => None,
        }
    }

    /// Returns the error for `host`, which did not answer a moment ago, as [`HttpError::silence`] says why.
    pub(super) fn silent(host: String, why: io::Error, limit: Duration) -> Self {
        match why.kind() {
            io::ErrorKind::NotFound => Self::Dns(host),
            io::ErrorKind::TimedOut => Self::Timeout { host, limit, connected: false },
            _ => Self::Connect(host, why),
        }
    }

    /// Returns what happened, with the options that matter.
    fn message(&self) -> Message {
        match self {
            Self::Offline(url) => message!(
                format_args!("`{url}` is not in the cache, and "),
                Opt::Offline,
                " forbids the network"
            ),
            other => other.to_string().into(),
        }
    }

    /// Returns what a person can do about it, a line each.
    fn hints(&self) -> Vec<Message> {
        match self {
            Self::Offline(_) => {
                vec![message!("run it again without ", Opt::Offline, ", and with `SKILLPM_OFFLINE` unset")]
            }
            Self::Dns(_) | Self::Connect(..) | Self::Timeout { .. } => vec![
                "check the connection; behind a proxy, set `HTTPS_PROXY`".into(),
                message!("skills in the store can be installed without a network: ", Opt::Offline),
            ],
            other => other.advice().iter().map(|hint| (*hint).into()).collect(),
        }
    }

    /// Returns the hints that name no option.
    fn advice(&self) -> &'static [&'static str] {
        match self {
            Self::BadProxy(_) => {
                &["set `HTTPS_PROXY` to an address such as `http://proxy.example.com:8080`, or unset it"]
            }
            Self::Certificates { .. } => &[
                "set `SSL_CERT_FILE` to a file of certificates in PEM form, or unset it and `SSL_CERT_DIR` to use the system's",
            ],
            Self::Proxy { reason, .. } if reason.contains("407") || reason.contains("login") => &[
                "put name and password into the proxy's address: `HTTPS_PROXY=http://name:password@host:port`",
            ],
            Self::Proxy { .. } => {
                &["check `HTTPS_PROXY`, or list the host in `NO_PROXY` if it can be reached without a proxy"]
            }
            Self::Stalled { .. } => {
                &["run it again; for a slow connection, set `SKILLPM_HTTP_TIMEOUT` to more seconds"]
            }
            Self::Broken(..) | Self::Truncated { .. } => &["run it again"],
            Self::Inward { .. } => &[
                "over `http` anyone on the way can redirect a request: use `https`, or install from that address itself",
            ],
            Self::Tls { .. } => &[
                "if a proxy on your network replaces certificates, set `SSL_CERT_FILE` to the file that holds it",
            ],
            Self::RateLimit { authorized: true, .. } => &["wait until then, or use another token"],
            Self::RateLimit { .. } => &["run it again when the limit has reset"],
            Self::Status { status: 407, .. } => &["the proxy requires a login: see `HTTPS_PROXY`"],
            Self::Status { status: 500.., .. } => &["the server has a problem: try again later"],
            Self::Encoding { .. }
            | Self::Malformed { .. }
            | Self::RedirectNowhere(_)
            | Self::Status { status: 304, .. } => &["a proxy or a login page may have changed the response"],
            _ => &[],
        }
    }

    /// Returns the code of what has one of its own.
    fn code(&self) -> Option<&'static str> {
        Some(match self {
            Self::Offline(_) => codes::OFFLINE,
            Self::Dns(_) | Self::Connect(..) => codes::HOST_UNREACHABLE,
            Self::Proxy { .. } | Self::BadProxy(_) => codes::PROXY,
            Self::Timeout { .. } | Self::Stalled { .. } => codes::REQUEST_TIMEOUT,
            Self::Broken(..) | Self::Truncated { .. } => codes::RESPONSE_CUT_OFF,
            Self::Tls { .. } | Self::Certificates { .. } => codes::TLS,
            Self::TooManyRedirects(_)
            | Self::RedirectNowhere(_)
            | Self::Redirect { .. }
            | Self::Inward { .. } => codes::REDIRECT_REFUSED,
            Self::RateLimit { .. } => codes::RATE_LIMIT,
            Self::Status { .. } => codes::HTTP_STATUS,
            Self::TooLarge { .. } => codes::TOO_LARGE,
            _ => return None,
        })
    }

    fn kind(&self) -> ErrorKind {
        match self {
            Self::BadProxy(_) | Self::Certificates { .. } | Self::Address { .. } => ErrorKind::Config,
            Self::TooLarge { .. } => ErrorKind::Integrity,
            Self::Read(_) | Self::Write(_) => ErrorKind::Io,
            _ => ErrorKind::Network,
        }
    }
}

impl From<HttpError> for Error {
    fn from(error: HttpError) -> Self {
        let mut new = Self::new(error.kind(), error.message());
        for hint in error.hints() {
            new = new.hint(hint);
        }
        if let Some(code) = error.code() {
            new = new.coded(code);
        }
        match error {
            HttpError::Connect(_, source)
            | HttpError::Broken(_, source)
            | HttpError::Read(source)
            | HttpError::Write(source) => new.because(source),
            _ => new,
        }
    }
}
