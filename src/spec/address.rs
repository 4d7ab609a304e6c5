//! Addresses on the web.

use std::fmt;

use super::SpecError;

/// An `http` or `https` address without credentials and without a fragment, as manifests and
/// lockfiles may hold it. The host is in lower case, and no slash ends it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(String);

/// Endings of the files that can be installed from.
const FILES: &[&str] = &[".zip", ".skill", ".tar", ".tar.gz", ".tgz", "/skill.md"];

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// [`SpecError::Credentials`] where it carries a user name or password, which must not end up
    /// in a file that is committed; [`SpecError::Unsupported`] for anything that is no such address.
    pub fn new(text: &str) -> Result<Self, SpecError> {
        let unsupported = || SpecError::Unsupported(text.to_owned());
        let (scheme, rest) = split_scheme(text).ok_or_else(unsupported)?;
        if rest.contains('#')
            || text.chars().any(|c| c.is_whitespace() || c.is_control() || "\"\\<>^`{|}".contains(c))
        {
            return Err(unsupported());
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            return Err(SpecError::Credentials);
        }
        if !is_host(authority) {
            return Err(unsupported());
        }
        let path = if path.contains('?') { path } else { path.trim_end_matches('/') };
        Ok(Self(format!("{scheme}://{}{path}", authority.to_ascii_lowercase())))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of the address, without its query; empty or with a slash at its start.
    pub fn path(&self) -> &str {
        let rest = self.0.split_once("://").map_or("", |(_, rest)| rest);
        let path = rest.find(['/', '?']).map_or("", |at| &rest[at..]);
        path.split('?').next().unwrap_or(path)
    }

    /// Whether its path ends as that of an archive or a `SKILL.md` does.
    pub fn is_file(&self) -> bool {
        let path = self.path().to_ascii_lowercase();
        FILES.iter().any(|ending| path.ends_with(ending))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether `host` is this machine: `localhost`, or an address of the loopback.
pub fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Splits `https://rest`; the scheme comes back in lower case.
pub(super) fn split_scheme(text: &str) -> Option<(&'static str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    ["https", "http"].into_iter().find(|known| scheme.eq_ignore_ascii_case(known)).map(|known| (known, rest))
}

/// Whether `text` is a host, with or without a port.
pub(super) fn is_host(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((inner, port)) => {
            let digits = inner.chars().all(|c| c.is_ascii_hexdigit() || c == ':' || c == '.');
            return digits && !inner.is_empty() && (port.is_empty() || is_port(port));
        }
        None => text.find(':').map_or((text, ""), |at| text.split_at(at)),
    };
    let name = !host.is_empty()
        && !host.starts_with(['-', '.'])
        && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_'));
    name && (port.is_empty() || is_port(port))
}

fn is_port(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
}
