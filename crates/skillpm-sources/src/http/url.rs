//! Addresses, and which of them belong together.

use std::fmt;
use std::net::Ipv6Addr;
use std::sync::Arc;

use hyper::Uri;

use super::HttpError;
use crate::spec::is_loopback;

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
    /// Fails with [`HttpError::Address`] for other schemes, for addresses without a host or with a user name or
    /// password, and for texts that are not addresses.
    pub fn parse(text: &str) -> Result<Self, HttpError> {
        let wrong = |reason| HttpError::Address { address: redacted(text), reason };
        let uri: Uri = text.parse().map_err(|_| wrong("it is not an address"))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(wrong("only `https` and `http` are supported"));
        }
        if uri.authority().is_none_or(|authority| authority.as_str().contains('@')) {
            return Err(wrong("addresses with a user name or password are not allowed"));
        }
        if uri.host().is_none_or(str::is_empty) || uri.authority().is_some_and(|a| bad_port(a.as_str())) {
            return Err(wrong("it has no host, or an invalid port"));
        }
        let url = Self(Arc::new(uri));
        match url.wire() {
            Some(wire) if url.is_host_of(&wire) => Ok(url),
            Some(_) => Err(wrong("its host is written in an unusual way")),
            None => Err(wrong("it is not an address")),
        }
    }

    /// Returns the address as the HTTP library takes it, by the rules of browsers.
    pub(super) fn wire(&self) -> Option<reqwest::Url> {
        reqwest::Url::parse(&self.0.to_string()).ok()
    }

    /// Reports whether the host of `wire` is the one of this address: a browser takes `0x7f.1` for `127.0.0.1`, and
    /// `%61.example` for `a.example`, so that it would go to another host than the one that was examined.
    fn is_host_of(&self, wire: &reqwest::Url) -> bool {
        let address = |host: &str| host.trim_matches(['[', ']']).parse::<Ipv6Addr>().ok();
        let (own, other) = (self.host(), wire.host_str().unwrap_or_default());
        let port = wire.port_or_known_default();
        port == Some(self.origin().port)
            && (own.eq_ignore_ascii_case(other)
                || address(own).is_some_and(|own| address(other) == Some(own)))
    }

    /// Reads `reference`, as an answer from this address gives it: relative to it, as RFC 3986
    /// (section 5.2) says.
    ///
    /// # Errors
    ///
    /// Fails as [`Url::parse`] does.
    pub fn join(&self, reference: &str) -> Result<Self, HttpError> {
        let reference = reference.split('#').next().unwrap_or_default();
        let scheme = self.0.scheme_str().unwrap_or("https");
        let authority = self.0.authority().map_or("", |authority| authority.as_str());
        // A colon before the first slash ends a scheme: `file:/x` is no relative path.
        let first = reference.split(['/', '?']).next().unwrap_or(reference);
        if first.contains(':') {
            return Self::parse(reference);
        }
        if reference.starts_with("//") {
            return Self::parse(&format!("{scheme}:{reference}"));
        }
        let (path, query) = match reference.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None if reference.is_empty() => ("", self.0.query()),
            None => (reference, None),
        };
        let path = if path.is_empty() {
            self.0.path().to_owned()
        } else if path.starts_with('/') {
            without_dots(path)
        } else {
            let dir = self.0.path().rsplit_once('/').map_or("", |(dir, _)| dir);
            without_dots(&format!("{dir}/{path}"))
        };
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        Self::parse(&format!("{scheme}://{authority}{path}{query}"))
    }

    /// Returns where a credential for this address may go.
    pub fn origin(&self) -> Origin {
        let https = self.is_https();
        Origin {
            https,
            host: self.host().to_ascii_lowercase(),
            port: self.0.port_u16().unwrap_or(if https { 443 } else { 80 }),
        }
    }

    /// Returns the host.
    pub fn host(&self) -> &str {
        self.0.host().unwrap_or_default()
    }

    /// Reports whether it has a query.
    pub fn has_query(&self) -> bool {
        self.0.query().is_some()
    }

    /// Reports whether the scheme is `https`.
    pub fn is_https(&self) -> bool {
        self.0.scheme_str() == Some("https")
    }

    /// Reports whether nobody on the way can read or change what is sent: it is `https`, or never leaves this machine.
    pub fn is_private(&self) -> bool {
        self.is_https() || is_loopback(self.host())
    }

    /// Returns the whole address, query included, for what is not shown: the name of a cached answer.
    pub fn secret_text(&self) -> String {
        self.0.to_string()
    }
}

impl Url {
    /// Returns the address as it is shown; `?…` stands for a query, whose values may be secrets.
    pub(super) fn without_query(&self) -> String {
        let query = if self.0.query().is_some() { "?…" } else { "" };
        format!("{self}{query}")
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

/// Takes `.` and `..` out of a path, as RFC 3986 (section 5.2.4) says: nothing leads above the root.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut parts = path.split('/').skip(1).peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        if part == ".." {
            kept.pop();
        }
        match part {
            // A directory ends with a slash, also where dots named it.
            "." | ".." if is_last => kept.push(""),
            "." | ".." => {}
            part => kept.push(part),
        }
    }
    format!("/{}", kept.join("/"))
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

    /// The examples of RFC 3986, section 5.4, but for those of other schemes.
    #[test]
    fn references_are_resolved_as_rfc_3986_says() {
        let base = url("http://a/b/c/d;p?q");
        let cases = [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g/"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("g?y#s", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../../g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"),
            ("g/./h", "http://a/b/c/g/h"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("g//h", "http://a/b/c/g//h"),
        ];
        for (reference, joined) in cases {
            assert_eq!(base.join(reference).expect(reference).secret_text(), joined, "{reference}");
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
