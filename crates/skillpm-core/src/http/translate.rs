//! From ureq's errors to ours.

use std::io;

use ureq::{Error, Timeout};

use crate::settings::Http;

use super::names::NobodyToAsk;
use super::reach::Inward;
use super::url::{Url, redacted};
use super::{HttpError, agent, proxy};

/// Says in our terms why the request for `url` failed before its body.
///
/// `led_by` is the address that led to `url`, if one did.
pub(super) fn before_body(error: Error, url: &Url, led_by: Option<&Url>, settings: &Http) -> HttpError {
    let proxy = proxy::choose(settings, url);
    let host = url.origin().to_string();
    // Names and connections are the proxy's if there is one.
    let peer = || proxy.map_or_else(|| host.clone(), |proxy| format!("{} (proxy)", redacted(proxy)));
    match error {
        Error::HostNotFound => HttpError::Dns(peer()),
        Error::Other(error) if error.is::<NobodyToAsk>() => HttpError::NobodyToAsk(peer()),
        Error::Other(error) if error.is::<Inward>() => {
            HttpError::Inward { from: led_by.unwrap_or(url).clone(), to: url.clone() }
        }
        Error::ConnectProxyFailed(reason) => {
            let reason = proxy_answer(&reason).unwrap_or(reason);
            HttpError::Proxy { proxy: proxy.map(redacted).unwrap_or_default(), host, reason }
        }
        Error::Timeout(Timeout::Resolve | Timeout::Connect) => timed_out(peer(), settings, false),
        Error::Timeout(_) => timed_out(host, settings, true),
        Error::Io(error) => match error.kind() {
            io::ErrorKind::InvalidData if url.is_https() => tls(host, &error.to_string()),
            io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::NetworkDown
            | io::ErrorKind::AddrNotAvailable
            | io::ErrorKind::PermissionDenied => HttpError::Connect(peer(), error),
            io::ErrorKind::TimedOut => timed_out(peer(), settings, false),
            _ => HttpError::Broken(host, error),
        },
        Error::ConnectionFailed => HttpError::Connect(peer(), io::ErrorKind::ConnectionRefused.into()),
        Error::Rustls(error) => tls(host, &error.to_string()),
        Error::Tls(reason) => tls(host, reason),
        Error::Pem(error) => tls(host, &error.to_string()),
        other => HttpError::Malformed { host, reason: other.to_string() },
    }
}

/// Returns what ureq says of a proxy's status, `proxy server responded 403/403`, in plain words.
fn proxy_answer(reason: &str) -> Option<String> {
    let (_, status) = reason.strip_prefix("proxy server responded ")?.split_once('/')?;
    Some(format!("it answered with status {status}"))
}

/// Says in our terms why the body of `url` broke off after `received` of `expected` bytes.
pub(super) fn in_body(
    error: io::Error,
    url: &Url,
    settings: &Http,
    received: u64,
    expected: Option<u64>,
) -> HttpError {
    let host = url.origin().to_string();
    match Error::from(error) {
        Error::Timeout(_) => stalled(host, settings, received),
        Error::Io(error) if matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) => {
            stalled(host, settings, received)
        }
        Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            HttpError::Truncated { host, received, expected }
        }
        Error::Io(error) => HttpError::Broken(host, error),
        other => HttpError::Malformed { host, reason: other.to_string() },
    }
}

/// Returns the error for a body that does not go on.
pub(super) fn stalled(host: String, settings: &Http, received: u64) -> HttpError {
    HttpError::Stalled { host, limit: settings.timeout, received }
}

fn timed_out(host: String, settings: &Http, connected: bool) -> HttpError {
    HttpError::Timeout { host, limit: agent::timeout(settings).unwrap_or_default(), connected }
}

/// Puts the frequent reasons into plain words; rustls names them by its own types.
fn tls(host: String, reason: &str) -> HttpError {
    let plain = [
        ("UnknownIssuer", "its certificate was issued by an authority that is not trusted here"),
        ("Expired", "its certificate has expired, or the clock of this machine is wrong"),
        ("NotValidYet", "its certificate is not valid yet, or the clock of this machine is wrong"),
        ("NotValidForName", "its certificate is for another host"),
        ("not valid for name", "its certificate is for another host"),
        ("InvalidContentType", "it does not speak TLS on this port"),
    ];
    let known = plain.iter().find(|(mark, _)| reason.contains(mark));
    let reason = known.map_or_else(|| reason.to_owned(), |(_, words)| (*words).to_owned());
    HttpError::Tls { host, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_certificates_in_plain_words() {
        let told = |reason| tls("h".into(), reason).to_string();
        assert_eq!(
            told("invalid peer certificate: UnknownIssuer"),
            "no secure connection to `h`: its certificate was issued by an authority that is not trusted here"
        );
        assert!(told("invalid peer certificate: Expired").contains("expired"));
        assert!(told("something else").ends_with("something else"));
    }

    #[test]
    fn a_proxy_is_named_without_its_password() {
        let settings = Http { https_proxy: Some("http://u:s3cret@proxy:1".into()), ..Http::default() };
        let url = Url::parse("https://a.example/").expect("an address");
        for error in [Error::HostNotFound, Error::ConnectionFailed, Error::ConnectProxyFailed("x".into())] {
            let told = before_body(error, &url, None, &settings).to_string();
            assert!(told.contains("http://proxy:1") && !told.contains("s3cret"), "{told}");
        }
    }
}
