//! The certificates that are trusted, and the settings of TLS.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

use super::HttpError;

/// The protocols that are offered to servers, the preferred one first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// A file and a directory of certificates that take the place of the system's.
pub(super) type Named = (Option<PathBuf>, Option<PathBuf>);

/// Returns the settings of TLS with `roots` as the only authorities.
pub(super) fn config(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    Ok(config)
}

/// Returns the certificates that are trusted: those that `named` names, otherwise the system's, else, if there are
/// none at all as in a slim container, Mozilla's as they were when this was built.
pub(super) fn load(named: &Named) -> Result<RootCertStore, HttpError> {
    let (file, dir) = (named.0.as_deref(), named.1.as_deref());
    if file.is_some() || dir.is_some() {
        return load_named(file, dir);
    }
    let system = trust(rustls_native_certs::load_native_certs().certs);
    Ok(if system.is_empty() { bundled() } else { system })
}

fn load_named(file: Option<&Path>, dir: Option<&Path>) -> Result<RootCertStore, HttpError> {
    let loaded = rustls_native_certs::load_certs_from_paths(file, dir);
    let roots = trust(loaded.certs);
    if roots.is_empty() {
        let path = file.or(dir).map(|path| path.display().to_string()).unwrap_or_default();
        let reason = loaded.errors.first().map_or_else(|| "none was found".to_owned(), ToString::to_string);
        return Err(HttpError::Certificates { path, reason });
    }
    Ok(roots)
}

/// Returns Mozilla's list.
fn bundled() -> RootCertStore {
    trust(webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned())
}

/// Returns a store of `certs`, without those that cannot be read: a system has some old ones.
fn trust(certs: impl IntoIterator<Item = CertificateDer<'static>>) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certs);
    roots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_always_certificates() {
        // Mozilla's, which serve where the system has none.
        assert!(bundled().len() > 50);
        assert!(load(&(None, None)).is_ok_and(|roots| !roots.is_empty()));
        assert!(config(RootCertStore::empty()).is_ok());
    }
}
