//! Repositories on GitHub.

use std::fmt;

use super::SpecError;
use super::address::is_host;

/// The host of the public GitHub.
pub const PUBLIC_HOST: &str = "github.com";

/// A repository on GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Repository {
    /// The server, where one was named: `github.com` or that of an Enterprise server. In manifests
    /// and lockfiles, which must mean the same everywhere, `None` is `github.com`.
    pub host: Option<String>,
    /// The user or organisation.
    pub owner: String,
    /// The repository's name.
    pub name: String,
}

impl Repository {
    /// Returns the repository `owner/name` on `host`.
    ///
    /// # Errors
    ///
    /// Names that GitHub does not give out, and a host that is none.
    pub fn new(host: Option<&str>, owner: &str, name: &str) -> Result<Self, SpecError> {
        let owner_ok = !owner.is_empty()
            && owner.len() <= 64
            && !owner.starts_with('-')
            && owner.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        if !owner_ok {
            return Err(SpecError::BadName(owner.to_owned(), "owner"));
        }
        let name = name.strip_suffix(".git").unwrap_or(name);
        let name_ok = !matches!(name, "" | "." | "..")
            && name.len() <= 100
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
        if !name_ok {
            return Err(SpecError::BadName(name.to_owned(), "name"));
        }
        // It becomes part of an address, where a `?` or `@` in it would change whose address that is.
        if let Some(host) = host.filter(|host| !is_host(host)) {
            return Err(SpecError::BadName(host.to_owned(), "host"));
        }
        let host = host.map(str::to_ascii_lowercase);
        Ok(Self { host, owner: owner.to_owned(), name: name.to_owned() })
    }

    /// Returns the repository as manifests and lockfiles name it; `default` is the host that is
    /// meant where none was named.
    #[must_use]
    pub fn on(self, default: &str) -> Self {
        let host = self.host.unwrap_or_else(|| default.to_owned());
        Self { host: Some(host).filter(|host| host != PUBLIC_HOST), ..self }
    }

    /// Reads `owner/name` or `host/owner/name` from a manifest or lockfile.
    ///
    /// # Errors
    ///
    /// As [`Repository::new`]; more or fewer parts.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        match text.split('/').collect::<Vec<_>>()[..] {
            [owner, name] => Self::new(None, owner, name),
            [host, owner, name] if host.contains('.') => {
                Ok(Self::new(Some(host), owner, name)?.on(PUBLIC_HOST))
            }
            _ => Err(SpecError::Unsupported(text.to_owned())),
        }
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(host) = &self.host {
            write!(f, "{host}/")?;
        }
        write!(f, "{}/{}", self.owner, self.name)
    }
}

/// Hosts that speak GitHub's addresses: the public one, and Enterprise servers by their usual name.
/// Other Enterprise hosts are written `github:host/owner/repo`.
pub fn is_github_host(host: &str) -> bool {
    host.eq_ignore_ascii_case("github.com")
        || host.starts_with("github.")
        || host.starts_with("ghe.")
        || host.ends_with(".ghe.com")
}
