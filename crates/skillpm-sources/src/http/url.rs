//! Addresses, and which of them belong together.

use std::fmt;
use std::net::Ipv6Addr;
use std::sync::Arc;

use super::HttpError;
use crate::spec::is_loopback;

/// An `http` or `https` address without a user name or password.
///
/// [`Display`](fmt::Display) leaves the query out: the addresses that servers redirect to may carry
/// secrets there.
#[derive(Clone, PartialEq, Eq)]
pub struct Url(Arc<reqwest::Url>);

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
    /// Fails with [`HttpError::Address`] for other schemes, for addresses without a host or with a user name or
    /// password, and for texts that are not addresses.
    pub fn parse(text: &str) -> Result<Self, HttpError> {
        let url = Self::checked(reqwest::Url::parse(text).ok(), text)?;
        let reason = "its host is written in an unusual way";
        let has_host = url.has_host_of(text);
        has_host.then_some(url).ok_or_else(|| HttpError::Address { address: redacted(text), reason })
    }

    /// Reads `reference`, as an answer from this address gives it: relative to it.
    ///
    /// # Errors
    ///
    /// Fails as [`Url::parse`] does, though any spelling of a host is read.
    pub fn join(&self, reference: &str) -> Result<Self, HttpError> {
        Self::checked(self.0.join(reference).ok(), reference)
    }

    /// Returns `url`, which `text` was read as, if it is one that may be requested.
    fn checked(url: Option<reqwest::Url>, text: &str) -> Result<Self, HttpError> {
        let wrong = |reason| HttpError::Address { address: redacted(text), reason };
        let mut url =
            url.filter(|_| !text.contains(char::is_control)).ok_or_else(|| wrong("it is not an address"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("only `https` and `http` are supported"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("addresses with a user name or password are not allowed"));
        }
        url.set_fragment(None);
        Ok(Self(Arc::new(url)))
    }

    /// Reports whether `text` names the host as this address does: `0x7f.1` is read as `127.0.0.1`, and `%61.example` as
    /// `a.example`, so that what people read, and what rules about hosts compare, would be another host.
    fn has_host_of(&self, text: &str) -> bool {
        let authority = text.split_once("://").map_or("", |(_, rest)| rest);
        let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
        let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
        let host =
            authority.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(authority, |(host, _)| host);
        let address = |host: &str| host.trim_matches(['[', ']']).parse::<Ipv6Addr>().ok();
        host.eq_ignore_ascii_case(self.host())
            || address(host).is_some_and(|own| address(self.host()) == Some(own))
    }

    /// Returns the address as the HTTP library takes it.
    pub(super) fn wire(&self) -> reqwest::Url {
        (*self.0).clone()
    }

    /// Returns where a credential for this address may go.
    pub fn origin(&self) -> Origin {
        let port = self.0.port_or_known_default().unwrap_or_default();
        Origin { https: self.is_https(), host: self.host().to_owned(), port }
    }

    /// Returns the host.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Reports whether it has a query.
    pub(crate) fn has_query(&self) -> bool {
        self.0.query().is_some()
    }

    /// Reports whether the scheme is `https`.
    pub(crate) fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Reports whether the connection is protected: it is `https`, or never leaves this machine.
    pub fn is_private(&self) -> bool {
        self.is_https() || is_loopback(self.host())
    }

    /// Returns the whole address, query included, for what is not shown: the name of a cached answer.
    pub fn secret_text(&self) -> String {
        self.0.to_string()
    }

    /// Returns the address as it is shown; `?…` stands for a query, whose values may be secrets.
    pub(super) fn without_query(&self) -> String {
        let query = if self.has_query() { "?…" } else { "" };
        format!("{self}{query}")
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().split('?').next().unwrap_or_default())
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Origin {
    /// Returns it as an address: `https://skills.example.com`, `http://127.0.0.1:8000`.
    pub fn address(&self) -> String {
        format!("{}://{self}", if self.https { "https" } else { "http" })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)?;
        if self.port == if self.https { 443 } else { 80 } { Ok(()) } else { write!(f, ":{}", self.port) }
    }
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
    fn hosts_are_written_as_they_are() {
        for odd in ["http://0x7f.1/", "http://127.1/", "http://2130706433/", "http://%61.example/"] {
            assert!(Url::parse(odd).is_err(), "{odd}");
        }
        for plain in
            ["http://127.0.0.1/", "http://[::1]/", "http://[0:0::1]/", "http://A.Example/", "http://a_b.c./"]
        {
            assert!(Url::parse(plain).is_ok(), "{plain}");
        }
    }

    #[test]
    fn what_is_private() {
        for private in ["https://a.example", "http://localhost:1", "http://127.0.0.2", "http://[::1]:8080/x"]
        {
            assert!(url(private).is_private(), "{private}");
        }
        for open in ["http://a.example", "http://localhost.example", "http://10.0.0.1", "http://[::2]/"] {
            assert!(!url(open).is_private(), "{open}");
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
