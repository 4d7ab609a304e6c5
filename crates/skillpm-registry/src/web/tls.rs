//! The certificate of the server.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use skillpm_sources::fs;
use tokio_rustls::TlsAcceptor;

use crate::config::Config;
use crate::error::{Error, Result};

/// The largest file with certificates or a key, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// A certificate with its key, and the files that have them.
#[derive(Debug)]
pub(crate) struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    current: RwLock<Arc<ServerConfig>>,
}

impl Tls {
    /// Reads the certificate and the key that `config` names; `None` if it names none. Fails if only one of both is named, if
    /// one cannot be read, and if they are no pair.
    pub(crate) fn of(config: &Config) -> Result<Option<Self>> {
        let (certificate, key) = match (&config.tls_certificate, &config.tls_key) {
            (Some(certificate), Some(key)) => (certificate.clone(), key.clone()),
            (None, None) => return Ok(None),
            (Some(_), None) => return Err(alone("tls-certificate", "tls-key")),
            (None, Some(_)) => return Err(alone("tls-key", "tls-certificate")),
        };
        let current = RwLock::new(read(&certificate, &key)?);
        Ok(Some(Self { certificate, key, current }))
    }

    /// Reads the files again. After an error the old certificate stays. Fails if one of them cannot be read, and if they are no
    /// pair.
    pub(crate) fn read_again(&self) -> Result<()> {
        let new = read(&self.certificate, &self.key)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(())
    }

    /// Returns what makes the handshake of a new connection.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)).into()
    }
}

fn alone(set: &str, absent: &str) -> Error {
    Error::config(format!("`{set}` is set and `{absent}` is not")).hint("set both, or neither")
}

fn read(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>> {
    crate::encrypt_with_ring();
    let wrong = |path: &Path, what: &str| Error::config(format!("`{}` {what}", path.display()));
    let chain = CertificateDer::pem_slice_iter(&bytes(certificate)?)
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(|error| wrong(certificate, "is not PEM").because(error))?;
    if chain.is_empty() {
        return Err(wrong(certificate, "has no certificate in PEM"));
    }
    let secret = PrivateKeyDer::from_pem_slice(&bytes(key)?)
        .map_err(|error| wrong(key, "has no private key in PEM").because(error))?;
    let mut config =
        ServerConfig::builder().with_no_client_auth().with_single_cert(chain, secret).map_err(|error| {
            let what = format!("and the key `{}` are not a pair that can be used", key.display());
            wrong(certificate, &what).because(error)
        })?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    fs::read_capped(path, MAX_FILE)?
        .ok_or_else(|| Error::config(format!("`{}` does not exist", path.display())))
}
