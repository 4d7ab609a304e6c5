//! Places that skills come from.

use std::fmt;
use std::str::FromStr;

use super::{Address, GitUrl, PUBLIC_HOST, Package, Repository, SpecError, Transport, file_stem};

/// A place that skills come from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// A repository on GitHub or a GitHub Enterprise server.
    GitHub(Repository),
    /// Any other git repository.
    Git(GitUrl),
    /// A file on the network: an archive, or a single `SKILL.md`.
    Download(Address),
    /// A site that lists its skills under `/.well-known/`.
    Site(Address),
    /// What an installed package of another language brings along.
    Package(Package),
    /// A directory or archive on this machine, as it was typed.
    Local(String),
}

impl Origin {
    /// Returns what the address `address` is: a file by the ending of its path, else a site.
    pub fn at(address: Address) -> Self {
        if address.is_file() { Self::Download(address) } else { Self::Site(address.site()) }
    }

    /// Reads an address of a file or of a site. `url:` or `site:` before it says which of them it is.
    ///
    /// # Errors
    ///
    /// As [`Address::new`].
    pub fn on_the_web(text: &str) -> Result<Self, SpecError> {
        match text.split_once(':') {
            Some(("url", address)) => Address::new(address).map(Self::Download),
            Some(("site", address)) => Address::new(address).map(Self::Site),
            _ => Address::new(text).map(Self::at),
        }
    }

    /// Whether it is one file by its name: an archive, or a single `SKILL.md`.
    pub fn is_file(&self) -> bool {
        match self {
            Self::Download(_) => true,
            Self::Local(path) => file_stem(path) != path,
            _ => false,
        }
    }

    /// Whether nobody on the way can change what comes from it.
    pub fn is_private(&self) -> bool {
        match self {
            Self::Download(address) | Self::Site(address) => address.is_private(),
            _ => true,
        }
    }

    /// Whether it has revisions that can be asked for by name.
    pub fn has_revisions(&self) -> bool {
        matches!(self, Self::GitHub(_) | Self::Git(_))
    }

    /// Whether its bytes come from this machine.
    pub fn is_on_this_machine(&self) -> bool {
        match self {
            Self::Local(_) | Self::Package(_) => true,
            Self::Git(url) => url.transport() == Transport::File,
            _ => false,
        }
    }

    /// What kind of source it is, as the text before the colon in lockfiles says it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::GitHub(_) => "github",
            Self::Git(_) => "git",
            Self::Download(_) => "url",
            Self::Site(_) => "site",
            Self::Package(package) => package.ecosystem.key(),
            Self::Local(_) => "path",
        }
    }

    /// Its address, where it has one that does not depend on this machine.
    pub fn address(&self) -> Option<String> {
        match self {
            Self::GitHub(repository) => {
                let Repository { host, owner, name } = repository;
                Some(format!("https://{}/{owner}/{name}", host.as_deref().unwrap_or(PUBLIC_HOST)))
            }
            Self::Git(url) => Some(url.to_string()),
            Self::Download(address) | Self::Site(address) => Some(address.to_string()),
            Self::Package(_) | Self::Local(_) => None,
        }
    }

    /// What can be typed after `skillpm install` to mean it.
    pub fn typed(&self) -> String {
        match self {
            Self::GitHub(repository) => repository.to_string(),
            Self::Git(url) => format!("git+{url}"),
            // Where the address alone would be read as the other kind, the kind is said.
            Self::Download(address) | Self::Site(address) => match Self::at(address.clone()) {
                own if own == *self => address.to_string(),
                _ => self.to_string(),
            },
            Self::Package(package) => package.to_string(),
            Self::Local(path) => path.clone(),
        }
    }
}

/// The form in lockfiles: `github:owner/repo`, `git:https://host/repo.git`, `path:./skills`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GitHub(repository) => write!(f, "github:{repository}"),
            Self::Git(url) => write!(f, "git:{url}"),
            Self::Download(address) => write!(f, "url:{address}"),
            Self::Site(address) => write!(f, "site:{address}"),
            Self::Package(package) => write!(f, "{package}"),
            Self::Local(path) => write!(f, "path:{path}"),
        }
    }
}

impl FromStr for Origin {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let unsupported = || SpecError::Unsupported(text.to_owned());
        let (kind, rest) = text.split_once(':').ok_or_else(unsupported)?;
        match kind {
            "github" => Repository::parse(rest).map(Self::GitHub),
            "git" => GitUrl::new(rest).map(Self::Git),
            "url" => Address::new(rest).map(Self::Download),
            "site" => Address::new(rest).map(Self::Site),
            "path" if !rest.is_empty() && !rest.chars().any(char::is_control) => {
                Ok(Self::Local(rest.to_owned()))
            }
            "path" => Err(unsupported()),
            _ => text.parse().map(Self::Package),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_addresses() {
        let cases = [
            ("github:acme/skills", "github", Some("https://github.com/acme/skills")),
            ("github:ghe.example.com/acme/skills", "github", Some("https://ghe.example.com/acme/skills")),
            ("git:https://h/r.git", "git", Some("https://h/r.git")),
            ("url:https://h/x.zip", "url", Some("https://h/x.zip")),
            ("site:https://h", "site", Some("https://h")),
            ("npm:@s/x", "npm", None),
            ("crate:x", "crate", None),
            ("path:./x", "path", None),
        ];
        for (text, kind, address) in cases {
            let origin: Origin = text.parse().expect(text);
            assert_eq!(origin.kind(), kind, "{text}");
            assert_eq!(origin.address().as_deref(), address, "{text}");
            assert!(origin.to_string().starts_with(&format!("{kind}:")), "{text}");
        }
    }
}
