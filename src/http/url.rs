//! Addresses, and which of them belong together.

use std::fmt;
use std::sync::Arc;

use ureq::http::Uri;

use super::HttpError;

/// An `http` or `https` address without a user name or password.
///
/// [`Display`](fmt::Display) leaves the query out: the addresses that servers redirect to may carry
/// secrets there.
#[derive(Clone, PartialEq, Eq)]
pub struct Url(Arc<Uri>);

/// Scheme, host and port: what a credential is given for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// Whether the scheme is `https`.
    pub https: bool,
    /// The host in lower case.
    pub host: String,
    /// The port, the scheme's own where the address has none.
    pub port: u16,
}

impl Url {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// [`HttpError::Address`] for other schemes, addresses without a host, with a user name or
    /// password, and texts that are no address.
    pub fn parse(text: &str) -> Result<Self, HttpError> {
        let wrong = |reason| HttpError::Address { address: redacted(text), reason };
        let uri: Uri = text.parse().map_err(|_| wrong("it is not an address"))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(wrong("only `https` and `http` are supported"));
        }
        if uri.authority().is_none_or(|authority| authority.as_str().contains('@')) {
            return Err(wrong("an address with a user name or password is not used"));
        }
        if uri.host().is_none_or(str::is_empty) || uri.authority().is_some_and(|a| bad_port(a.as_str())) {
            return Err(wrong("it has no host, or a port that is none"));
        }
        Ok(Self(Arc::new(uri)))
    }

    /// Reads `location`, as a redirect at this address gives it.
    ///
    /// # Errors
    ///
    /// As [`Url::parse`].
    pub fn join(&self, location: &str) -> Result<Self, HttpError> {
        let scheme = self.0.scheme_str().unwrap_or("https");
        let authority = self.0.authority().map_or("", |authority| authority.as_str());
        // A colon before the first slash ends a scheme: `file:/x` is no relative path.
        let first = location.split(['/', '?', '#']).next().unwrap_or(location);
        let text = if first.contains(':') {
            location.to_owned()
        } else if location.starts_with("//") {
            format!("{scheme}:{location}")
        } else if location.starts_with('/') {
            format!("{scheme}://{authority}{location}")
        } else {
            let dir = self.0.path().rsplit_once('/').map_or("", |(dir, _)| dir);
            format!("{scheme}://{authority}{dir}/{location}")
        };
        Self::parse(&text)
    }

    /// Where a credential for this address may go.
    pub fn origin(&self) -> Origin {
        let https = self.is_https();
        Origin {
            https,
            host: self.host().to_ascii_lowercase(),
            port: self.0.port_u16().unwrap_or(if https { 443 } else { 80 }),
        }
    }

    /// The host.
    pub fn host(&self) -> &str {
        self.0.host().unwrap_or_default()
    }

    /// Whether the scheme is `https`.
    pub fn is_https(&self) -> bool {
        self.0.scheme_str() == Some("https")
    }

    pub(super) fn uri(&self) -> &Uri {
        &self.0
    }

    /// The whole address, query included, for what is not shown: the name of a cached answer.
    pub fn secret_text(&self) -> String {
        self.0.to_string()
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let authority = self.0.authority().map_or("", |authority| authority.as_str());
        write!(f, "{}://{authority}{}", self.0.scheme_str().unwrap_or_default(), self.0.path())
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)?;
        if self.port == if self.https { 443 } else { 80 } { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

/// `uri.port_u16()` is silent about ports that are too large.
fn bad_port(authority: &str) -> bool {
    let after_host = authority.rsplit_once(']').map_or(authority, |(_, rest)| rest);
    after_host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_err())
}

/// `text` without user name, password, query and fragment, as far as it has the shape of an
/// address; made for messages, so it is short and free of control characters.
pub(super) fn redacted(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    let shown = match text.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            format!("{scheme}://{host}{path}")
        }
        None => text.rsplit_once('@').map_or(text, |(_, rest)| rest).to_owned(),
    };
    shown.chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect(text)
    }

    #[test]
    fn origins_compare_scheme_host_and_port() {
        assert_eq!(url("https://API.example.com/a").origin(), url("https://api.example.com:443/b").origin());
        for other in ["http://api.example.com", "https://example.com", "https://api.example.com:444"] {
            assert_ne!(url(other).origin(), url("https://api.example.com").origin(), "{other}");
        }
        assert_eq!(url("http://[::1]:8080/").origin().to_string(), "[::1]:8080");
    }

    #[test]
    fn h09_locations_are_read_as_the_standard_says() {
        let base = url("https://a.example/x/y?q=1");
        let joined = |location| base.join(location).map(|url| url.secret_text()).map_err(|e| e.to_string());
        assert_eq!(joined("https://b.example/z?t=s#f").as_deref(), Ok("https://b.example/z?t=s"));
        assert_eq!(joined("//b.example/z").as_deref(), Ok("https://b.example/z"));
        assert_eq!(joined("/z").as_deref(), Ok("https://a.example/z"));
        assert_eq!(joined("z").as_deref(), Ok("https://a.example/x/z"));
        for bad in ["file:///etc/passwd", "ftp://a/b", "data:x", "https://", "https://u:p@b.example/"] {
            assert!(joined(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn secrets_are_never_shown() {
        assert_eq!(url("https://a.example:1/x?token=s3cret").to_string(), "https://a.example:1/x");
        for text in
            ["https://u:s3cret@h/p?x=s3cret", "u:s3cret@h", "ftp://s3cret@h/", "http://s3cret@h:99999"]
        {
            let error = Url::parse(text).expect_err(text).to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
