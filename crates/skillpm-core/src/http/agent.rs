//! The ureq agents: certificates, proxies and timeouts. With `translate.rs` the only code that
//! knows ureq beyond its header types.

use std::path::Path;
use std::time::Duration;

use ureq::Agent;
use ureq::config::Config;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::transport::DefaultConnector;

use crate::settings::Http;

use super::names::Names;
use super::{HttpError, Url, proxy};

/// What the program calls itself to servers.
const USER_AGENT: &str = concat!("skillpm/", env!("CARGO_PKG_VERSION"));

/// Open connections that are kept for each host: as many as there are requests at once.
const MOST_IDLE: usize = 8;

/// Builds an agent that goes through `proxy` and can speak TLS if `tls` is set: reading the
/// system's certificates takes time, which a plain address need not pay.
///
/// The timeout is one of silence, not of the whole: a read that brings no byte for so long ends the request
/// (`timeout_per_read`), while a large file on a slow line may take as long as it takes. Connection, request and
/// headers each have it as their total. Redirects are not followed here but in `mod.rs`, where the credential is
/// decided on again at each hop.
///
/// With `led_by`, an address that led to where it goes, it goes to no host of a network that the one of that address
/// is not in.
pub(super) fn build(
    settings: &Http,
    proxy: Option<&str>,
    tls: bool,
    led_by: Option<&Url>,
) -> Result<Agent, HttpError> {
    let timeout = timeout(settings);
    let mut config = Config::builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(USER_AGENT)
        .accept_encoding("identity")
        .timeout_resolve(timeout)
        .timeout_connect(timeout)
        .timeout_send_request(timeout)
        .timeout_recv_response(timeout)
        .timeout_per_read(timeout)
        .timeout_per_write(timeout)
        .max_idle_connections_per_host(MOST_IDLE)
        // Without this line ureq would read the environment by itself.
        .proxy(proxy.map(proxy::parse).transpose()?);
    if tls {
        config = config.tls_config(TlsConfig::builder().root_certs(roots(settings)?).build());
    }
    Ok(Agent::with_parts(config.build(), DefaultConnector::default(), Names::new(settings, led_by)))
}

/// Returns the timeout, `None` if it is switched off with zero.
pub(super) fn timeout(settings: &Http) -> Option<Duration> {
    (!settings.timeout.is_zero()).then_some(settings.timeout)
}

/// Returns the certificates that are trusted: those that the settings name, otherwise the system's, else, if there are
/// none at all as in a slim container, Mozilla's as they were when this was built.
fn roots(settings: &Http) -> Result<RootCerts, HttpError> {
    let (file, dir) = (settings.certificates.0.as_deref(), settings.certificates.1.as_deref());
    if file.is_some() || dir.is_some() {
        return named_roots(file, dir);
    }
    let system = rustls_native_certs::load_native_certs().certs;
    Ok(trust(if system.is_empty() { webpki_root_certs::TLS_SERVER_ROOT_CERTS } else { &system }))
}

fn named_roots(file: Option<&Path>, dir: Option<&Path>) -> Result<RootCerts, HttpError> {
    let loaded = rustls_native_certs::load_certs_from_paths(file, dir);
    if loaded.certs.is_empty() {
        let path = file.or(dir).map(|path| path.display().to_string()).unwrap_or_default();
        let reason = loaded.errors.first().map_or_else(|| "none was found".to_owned(), ToString::to_string);
        return Err(HttpError::Certificates { path, reason });
    }
    Ok(trust(&loaded.certs))
}

fn trust(certs: &[impl AsRef<[u8]>]) -> RootCerts {
    let certs: Vec<_> = certs.iter().map(|cert| Certificate::from_der(cert.as_ref()).to_owned()).collect();
    RootCerts::new_with_certs(&certs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_always_certificates() {
        // Mozilla's, which serve where the system has none.
        let RootCerts::Specific(bundled) = trust(webpki_root_certs::TLS_SERVER_ROOT_CERTS) else {
            panic!("these are specific");
        };
        assert!(bundled.len() > 50);
        assert!(matches!(roots(&Http::default()), Ok(RootCerts::Specific(certs)) if !certs.is_empty()));
    }

    #[test]
    fn a_timeout_of_zero_is_none() {
        let none = Http { timeout: Duration::ZERO, ..Http::default() };
        assert_eq!((timeout(&none), timeout(&Http::default())), (None, Some(Duration::from_secs(30))));
        assert!(build(&none, None, false, None).is_ok());
    }
}
