//! From the errors of the HTTP library to ours.
//!
//! The library wraps the errors of those below it, so that what happened is somewhere in the chain.

use std::error::Error;
use std::io;
use std::iter;

use crate::settings::Http;

use super::agent::Failure;
use super::reach::Inward;
use super::upload::Unreadable;
use super::url::{Url, redacted};
use super::{HttpError, agent, proxy};

/// The reason of a proxy that requires a login.
pub(super) const LOGIN_OF_PROXY: &str = "it answered with status 407";

/// The start of the library's texts if an HTTP proxy failed.
const TUNNEL: &str = "tunnel error: ";

/// The same for a proxy that speaks SOCKS.
const SOCKS: &str = "SOCKS error: ";

/// Their end if there was no connection to the proxy.
const NO_CONNECTION: &str = "failed to create underlying connection";

/// Says in our terms why the request for `url` failed before its body.
///
/// `led_by` is the address that led to `url`, if one did.
pub(super) fn before_body(failure: Failure, url: &Url, led_by: Option<&Url>, settings: &Http) -> HttpError {
    let proxy = proxy::choose(settings, url);
    let host = url.origin().to_string();
    // Names and connections are the proxy's if there is one.
    let peer = || proxy.map_or_else(|| host.clone(), |proxy| format!("{} (proxy)", redacted(proxy)));
    let inward = || HttpError::Inward { from: led_by.unwrap_or(url).clone(), to: url.clone() };
    let error = match failure {
        Failure::Silence => return timed_out(host, settings, true),
        Failure::Inward => return inward(),
        Failure::Lost => return HttpError::Dns(led_by.unwrap_or(url).host().to_owned()),
        Failure::Library(error) => error,
    };
    if find::<Inward>(&error).is_some() {
        return inward();
    }
    if let Some(Unreadable(error)) = find(&error) {
        return HttpError::Read(copy(error));
    }
    if error.is_dns() {
        return HttpError::Dns(peer());
    }
    if error.is_connect() && error.is_timeout() {
        return timed_out(peer(), settings, false);
    }
    if let Some(error) = find::<rustls::Error>(&error) {
        return tls(host, &error.to_string());
    }
    let io = find::<io::Error>(&error);
    if let Some(reason) = refusal(&error) {
        let proxy = proxy.map(redacted).unwrap_or_default();
        return HttpError::Proxy { proxy, host, reason };
    }
    if error.is_connect() {
        return match io {
            Some(error) if is_broken(error) => HttpError::Broken(host, copy(error)),
            Some(error) if error.kind() == io::ErrorKind::TimedOut => timed_out(peer(), settings, false),
            Some(error) => HttpError::Connect(peer(), copy(error)),
            None => HttpError::Connect(peer(), io::Error::other(innermost(&error))),
        };
    }
    match (find::<hyper::Error>(&error), io) {
        (Some(error), _) if error.is_parse() => HttpError::Malformed { host, reason: error.to_string() },
        (_, Some(error)) => HttpError::Broken(host, copy(error)),
        (Some(error), None) => HttpError::Broken(host, io::Error::other(innermost(error))),
        (None, None) => HttpError::Malformed { host, reason: innermost(&error) },
    }
}

/// Says in our terms why the body of `url` broke off after `received` of `expected` bytes.
pub(super) fn in_body(
    failure: Failure,
    url: &Url,
    settings: &Http,
    received: u64,
    expected: Option<u64>,
) -> HttpError {
    let host = url.origin().to_string();
    let Failure::Library(error) = failure else { return stalled(host, settings, received) };
    match find::<io::Error>(&error) {
        Some(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            HttpError::Truncated { host, received, expected }
        }
        Some(error) if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) => {
            HttpError::Malformed { host, reason: in_lower_case(&error.to_string()) }
        }
        Some(error) => HttpError::Broken(host, copy(error)),
        None if find::<hyper::Error>(&error).is_some_and(hyper::Error::is_incomplete_message) => {
            HttpError::Truncated { host, received, expected }
        }
        None => HttpError::Broken(host, io::Error::other(innermost(&error))),
    }
}

/// Returns the error for a body that does not go on.
pub(super) fn stalled(host: String, settings: &Http, received: u64) -> HttpError {
    HttpError::Stalled { host, limit: settings.timeout, received }
}

fn timed_out(host: String, settings: &Http, connected: bool) -> HttpError {
    HttpError::Timeout { host, limit: agent::timeout(settings).unwrap_or_default(), connected }
}

/// Returns `error` and those that caused it, the last cause at the end. What an error of the system's kind is made of
/// belongs to them, though it is not its cause.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| {
        let error: &'a (dyn Error + 'static) = *error;
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(made_of) => Some(made_of),
            None => error.source(),
        }
    })
}

/// Returns the last error of the type `E` in the chain of `error`.
fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    chain(error).filter_map(|error| error.downcast_ref()).last()
}

/// Returns why a proxy refused, if that is what `error` says. The library has no types for it, only texts.
fn refusal(error: &(dyn Error + 'static)) -> Option<String> {
    let text = chain(error).map(ToString::to_string).find(|text| {
        (text.starts_with(TUNNEL) || text.starts_with(SOCKS)) && !text.ends_with(NO_CONNECTION)
    })?;
    let reason = match text.strip_prefix(TUNNEL) {
        Some("proxy authorization required") => LOGIN_OF_PROXY,
        Some("unsuccessful") => "it refused",
        Some("unexpected end of file") => "it hung up",
        Some(other) => other,
        None => match text.trim_start_matches(SOCKS) {
            "credentials not accepted" => "it does not accept the login",
            "failed parsing server response" => "it does not speak SOCKS on this port",
            "io error during SOCKS handshake" => "it hung up",
            other => other,
        },
    };
    Some(reason.to_owned())
}

/// Returns the text of the last cause of `error`.
fn innermost(error: &(dyn Error + 'static)) -> String {
    chain(error).last().map(ToString::to_string).unwrap_or_default()
}

/// Returns `text` without the capital that it may begin with, as a part of a message.
fn in_lower_case(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// Reports whether `error` says that a connection broke, not that none came about.
fn is_broken(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, InvalidData, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | InvalidData | UnexpectedEof)
}

/// Returns an error like `error`, which is part of another.
fn copy(error: &io::Error) -> io::Error {
    error
        .raw_os_error()
        .map_or_else(|| io::Error::new(error.kind(), error.to_string()), io::Error::from_raw_os_error)
}

/// Puts the frequent reasons into plain words; rustls names them by its own types.
fn tls(host: String, reason: &str) -> HttpError {
    let plain = [
        ("UnknownIssuer", "its certificate was issued by an authority that is not trusted here"),
        ("Expired", "its certificate has expired, or the clock of this machine is wrong"),
        ("expired", "its certificate has expired, or the clock of this machine is wrong"),
        ("NotValidYet", "its certificate is not valid yet, or the clock of this machine is wrong"),
        ("not valid yet", "its certificate is not valid yet, or the clock of this machine is wrong"),
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
    fn what_happened_is_found_in_the_chain() {
        let inner = rustls::Error::DecryptError;
        let error = io::Error::other(io::Error::new(io::ErrorKind::InvalidData, inner.clone()));
        assert_eq!(find::<rustls::Error>(&error), Some(&inner));
        assert_eq!(find::<io::Error>(&error).map(io::Error::kind), Some(io::ErrorKind::InvalidData));
        assert_eq!(innermost(&error), inner.to_string());
        let refused = io::Error::other("tunnel error: proxy authorization required");
        assert!(refusal(&refused).is_some_and(|reason| reason.contains("407")));
        let socks = io::Error::other("SOCKS error: host unreachable");
        assert_eq!(refusal(&socks).as_deref(), Some("host unreachable"));
        assert_eq!(refusal(&io::Error::other(format!("{TUNNEL}{NO_CONNECTION}"))), None);
        assert_eq!(refusal(&error), None);
    }
}
