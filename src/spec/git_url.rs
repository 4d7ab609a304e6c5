//! Addresses of git repositories.

use std::fmt;

use super::address::is_host;
use super::{SpecError, is_local};
use crate::text::percent_decoded;

/// Where a git repository lies: `https://host/repo.git`, `ssh://git@host/repo`, `git@host:repo`,
/// `file:///repo.git` or a path on this machine.
///
/// It is safe to hand to the `git` program: it is no option, names no helper program
/// (`ext::…`), and its host is one. It holds no password, so it may be committed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GitUrl(String);

/// How a repository is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// `https://` or `http://`.
    Http,
    /// `ssh://` or `user@host:path`.
    Ssh,
    /// `file://` or a path.
    File,
}

impl GitUrl {
    /// Reads an address. The user name of an `https` address is left out: which one it is differs
    /// from person to person, and `git` asks its credential helpers.
    ///
    /// # Errors
    ///
    /// [`SpecError::Credentials`] where it holds a password; [`SpecError::Unsupported`] for other
    /// schemes and texts that are no address of a repository.
    pub fn new(text: &str) -> Result<Self, SpecError> {
        let unsupported = || SpecError::Unsupported(text.to_owned());
        if text.chars().any(char::is_control) {
            return Err(unsupported());
        }
        if is_local(text) {
            return Ok(Self(text.to_owned()));
        }
        if text.contains(char::is_whitespace) || text.contains(['#', '?']) || text.contains("::") {
            return Err(unsupported());
        }
        let Some((scheme, rest)) = text.split_once("://") else { return Self::scp(text) };
        let scheme = scheme.to_ascii_lowercase();
        if scheme == "file" {
            return if rest.starts_with('/') && rest.len() > 1 {
                Ok(Self(format!("file://{}", rest.trim_end_matches('/'))))
            } else {
                Err(unsupported())
            };
        }
        let (authority, path) = rest.split_once('/').ok_or_else(unsupported)?;
        let path = path.trim_end_matches('/');
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        if user.is_some_and(|user| user.contains(':')) {
            return Err(SpecError::Credentials);
        }
        if !is_host(host) || path.is_empty() || path.contains("//") {
            return Err(unsupported());
        }
        let host = host.to_ascii_lowercase();
        match scheme.as_str() {
            "https" | "http" => Ok(Self(format!("{scheme}://{host}/{path}"))),
            "ssh" => match user {
                Some(user) if !is_user(user) => Err(unsupported()),
                Some(user) => Ok(Self(format!("ssh://{user}@{host}/{path}"))),
                None => Ok(Self(format!("ssh://{host}/{path}"))),
            },
            _ => Err(unsupported()),
        }
    }

    /// `user@host:path`.
    fn scp(text: &str) -> Result<Self, SpecError> {
        let unsupported = || SpecError::Unsupported(text.to_owned());
        let (login, path) = text.split_once(':').ok_or_else(unsupported)?;
        let (user, host) = login.split_once('@').ok_or_else(unsupported)?;
        let path = path.trim_end_matches('/');
        if !is_user(user) || !is_host(host) || path.is_empty() || path.starts_with('-') || path.contains("//")
        {
            return Err(unsupported());
        }
        Ok(Self(format!("{user}@{}:{path}", host.to_ascii_lowercase())))
    }

    /// The text, as the `git` program takes it; a path on this machine is as it was typed.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How it is reached.
    pub fn transport(&self) -> Transport {
        if self.0.starts_with("https://") || self.0.starts_with("http://") {
            Transport::Http
        } else if self.0.starts_with("file://") || is_local(&self.0) {
            Transport::File
        } else {
            Transport::Ssh
        }
    }

    /// The path on this machine as it was typed, where it is one and not a `file://` address.
    pub fn local_path(&self) -> Option<&str> {
        is_local(&self.0).then_some(self.0.as_str())
    }

    /// The path that a `file://` address leads to.
    pub fn file_path(&self) -> Option<String> {
        let path = percent_decoded(self.0.strip_prefix("file://")?);
        // `file:///C:/skills.git`: the drive is the first part, not a directory.
        let drive =
            path.strip_prefix('/').filter(|rest| cfg!(windows) && is_local(rest)).map(ToOwned::to_owned);
        Some(drive.unwrap_or_else(|| path.into_owned()))
    }

    /// What the repository is called: the last part of its address, without `.git`.
    pub fn name(&self) -> &str {
        let last = self.0.rsplit(['/', ':', '\\']).find(|part| !part.is_empty()).unwrap_or(&self.0);
        last.strip_suffix(".git").unwrap_or(last)
    }
}

impl fmt::Display for GitUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_user(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+'))
}
