//! Addresses on the web.

use std::fmt;

use super::{Origin, SourceSpec, SpecError, skill_name, split_directory, split_suffixes, subdirectory};

/// An `http` or `https` address without credentials and without a fragment, in the form for manifests and lockfiles.
/// The host is in lower case, and there is neither a trailing slash nor the port that the scheme implies.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(String);

/// Extensions of files that can be installed from.
const FILES: &[&str] = &[".zip", ".skill", ".tar.gz", ".tgz", ".tar", ".md"];
/// Extensions of files that cannot be installed from but are not sites either: reading them reports that.
const OTHER_FILES: &[&str] = &[".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tar.zst", ".gz", ".7z", ".rar"];
/// The path where sites list their skills.
const WELL_KNOWN: &str = "/.well-known/";

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// Fails with [`SpecError::Credentials`] if it contains a user name or password, which must not end up in a
    /// committed file, and with [`SpecError::Unsupported`] for anything that is not such an address.
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
        let implied = if scheme == "https" { ":443" } else { ":80" };
        let authority = authority.strip_suffix(implied).unwrap_or(authority);
        Ok(Self(format!("{scheme}://{}{path}", authority.to_ascii_lowercase())))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path of the address, without its query: empty, or with a slash at its start.
    pub fn path(&self) -> &str {
        let rest = self.0.split_once("://").map_or("", |(_, rest)| rest);
        let path = rest.find(['/', '?']).map_or("", |at| &rest[at..]);
        path.split('?').next().unwrap_or(path)
    }

    /// Returns the host, without a port; an IPv6 address is in brackets.
    pub fn host(&self) -> &str {
        let rest = self.0.split_once("://").map_or("", |(_, rest)| rest);
        let authority = rest.split(['/', '?']).next().unwrap_or(rest);
        match authority.rfind(':') {
            Some(at) if !authority.ends_with(']') => &authority[..at],
            _ => authority,
        }
    }

    /// Reports whether its path ends like that of an archive or a Markdown file.
    pub fn is_file(&self) -> bool {
        let path = self.path().to_ascii_lowercase();
        FILES.iter().chain(OTHER_FILES).any(|ending| path.ends_with(ending))
    }

    /// Reports whether its content is safe from tampering in transit: it is `https`, or never leaves this machine.
    pub fn is_private(&self) -> bool {
        self.0.starts_with("https:") || is_loopback(self.host())
    }

    /// Returns the name of a file at this address: the last part of its path without its extension, for a `SKILL.md`
    /// the part before it, and the host if the path has no such part.
    pub fn file_stem(&self) -> &str {
        let mut parts = self.path().split('/').rev().filter(|part| !part.is_empty());
        let last = parts.next();
        let named =
            if last.is_some_and(|last| last.eq_ignore_ascii_case("SKILL.md")) { parts.next() } else { last };
        named.map_or(self.host(), file_stem)
    }

    /// Returns the site of this address: an address of its index means the site too.
    pub(super) fn site(self) -> Self {
        let end = match self.0.split_once(WELL_KNOWN) {
            Some((site, "agent-skills" | "agent-skills/index.json" | "skills" | "skills/index.json")) => {
                site.len()
            }
            _ => return self,
        };
        Self(self.0[..end].trim_end_matches('/').to_owned())
    }
}

/// Reads `URL//directory@skill`; `origin` creates the origin at the URL.
pub(super) fn typed(text: &str, origin: impl FnOnce(Address) -> Origin) -> Result<SourceSpec, SpecError> {
    // An `@` before the first slash belongs to a user name, which is refused.
    let start = text.find("://").map_or(0, |at| at + 3);
    let first = text[start..].find('/').map_or(text.len(), |at| start + at);
    // A query may contain anything, so nothing can follow it.
    let (rest, reference, skill) =
        if text.contains('?') { (&text[first..], None, None) } else { split_suffixes(&text[first..]) };
    if reference.is_some() {
        return Err(SpecError::NoRevisions(text[..first + rest.len()].to_owned()));
    }
    let (place, path) = split_directory(&text[..first + rest.len()]);
    Ok(SourceSpec {
        origin: origin(Address::new(place)?),
        path: subdirectory(path)?,
        reference: None,
        skill: skill.map(skill_name).transpose()?,
    })
}

/// Returns the name of a file without an extension of archives or Markdown files.
pub fn file_stem(name: &str) -> &str {
    let ending = FILES.iter().find(|ending| {
        let start = name.len().checked_sub(ending.len()).filter(|start| *start > 0);
        start.and_then(|start| name.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(ending))
    });
    ending.map_or(name, |ending| &name[..name.len() - ending.len()])
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reports whether `host` is this machine: `localhost`, or a loopback address.
pub fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Splits `https://rest` and returns the scheme in lower case.
pub(super) fn split_scheme(text: &str) -> Option<(&'static str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    ["https", "http"].into_iter().find(|known| scheme.eq_ignore_ascii_case(known)).map(|known| (known, rest))
}

/// Reports whether `text` is a host, with or without a port.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        Address::new(text).expect(text)
    }

    #[test]
    fn files_and_what_they_are_called() {
        let cases = [
            ("https://h.example/a/pdf.zip", true, "pdf"),
            ("https://h.example/a/pdf.TAR.GZ?x=1", true, "pdf"),
            ("https://h.example/a/my.skills.tgz", true, "my.skills"),
            ("https://h.example/a/pdf/SKILL.md", true, "pdf"),
            ("https://h.example/SKILL.md", true, "h.example"),
            ("https://h.example/pdf.md", true, "pdf"),
            ("https://h.example/x.tar.xz", true, "x.tar.xz"),
            ("https://h.example/.zip", true, ".zip"),
            ("https://h.example/zip", false, "zip"),
            ("https://h.example:8443/?x=a.zip", false, "h.example"),
        ];
        for (text, is_file, stem) in cases {
            assert_eq!((address(text).is_file(), address(text).file_stem()), (is_file, stem), "{text}");
        }
    }

    #[test]
    fn hosts_and_who_listens() {
        let cases = [
            ("https://h.example:8443/x", "h.example", true),
            ("http://h.example/x", "h.example", false),
            ("http://LOCALHOST:80", "localhost", true),
            ("http://127.0.0.2", "127.0.0.2", true),
            ("http://[::1]:80/x", "[::1]", true),
            ("http://[::2]/x", "[::2]", false),
            ("http://127.0.0.1.example", "127.0.0.1.example", false),
        ];
        for (text, host, private) in cases {
            assert_eq!((address(text).host(), address(text).is_private()), (host, private), "{text}");
        }
    }

    #[test]
    fn the_address_of_an_index_means_its_site() {
        let cases = [
            ("https://h/.well-known/agent-skills/index.json", "https://h"),
            ("https://h/team/.well-known/skills/index.json", "https://h/team"),
            ("https://h/.well-known/skills/", "https://h"),
            ("https://h/.well-known/other", "https://h/.well-known/other"),
        ];
        for (text, site) in cases {
            assert_eq!(address(text).site().as_str(), site, "{text}");
        }
    }
}
