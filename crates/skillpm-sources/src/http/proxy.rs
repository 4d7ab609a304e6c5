//! Which proxy an address goes through.

use reqwest::{Proxy, Url as Wire};

use crate::settings::Http;

use super::HttpError;
use super::url::{Url, redacted};

/// Returns the proxy that `settings` name for `url`, as they name it.
pub(super) fn choose<'a>(settings: &'a Http, url: &Url) -> Option<&'a str> {
    let proxy = if url.is_https() { &settings.https_proxy } else { &settings.http_proxy };
    let proxy = proxy.as_deref().filter(|proxy| !proxy.is_empty())?;
    let excepted = settings.no_proxy.iter().any(|entry| excepts(entry, url));
    (!excepted).then_some(proxy)
}

/// Reports whether an entry of `NO_PROXY` excepts `url`. As with curl, `example.com` and `.example.com` both mean the
/// host and all hosts below it, and a port may follow.
fn excepts(entry: &str, url: &Url) -> bool {
    let origin = url.origin();
    let entry = entry.trim().to_ascii_lowercase();
    if entry == "*" {
        return true;
    }
    let (name, port) = match entry.rsplit_once(':') {
        // A second colon makes it an IPv6 address, unless brackets end before the port.
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, port.parse().ok()),
        _ => (entry.as_str(), None),
    };
    if port.is_some_and(|port: u16| port != origin.port) {
        return false;
    }
    let bare = |host: &'_ str| host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let (host, name) = (bare(&origin.host), bare(name.trim_start_matches('*').trim_start_matches('.')));
    !name.is_empty() && (host == name || host.strip_suffix(&name).is_some_and(|above| above.ends_with('.')))
}

/// Kinds of proxies. With `socks5h` and `socks4a` it is the proxy that looks names up.
const KINDS: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

/// Reads the address of a proxy; without a scheme it is one of `http`.
pub(super) fn parse(text: &str) -> Result<Proxy, HttpError> {
    let bad = || HttpError::BadProxy(redacted(text));
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let address = Wire::parse(&whole).map_err(|_| bad())?;
    let is_usable =
        KINDS.contains(&address.scheme()) && address.host_str().is_some_and(|host| !host.is_empty());
    if !is_usable {
        return Err(bad());
    }
    Proxy::all(whole).map_err(|_| bad())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_proxy_means_hosts_and_those_below_them() {
        let excepted = |entry, url| excepts(entry, &Url::parse(url).expect(url));
        let github = "https://api.github.com/x";
        for entry in ["*", "github.com", ".github.com", "*.github.com", "API.GitHub.com", "github.com:443"] {
            assert!(excepted(entry, github), "{entry}");
        }
        for entry in ["hub.com", "github.com:80", "", ".", "api", "github.co"] {
            assert!(!excepted(entry, github), "{entry}");
        }
        assert!(excepted("127.0.0.1", "http://127.0.0.1:8080/"));
        assert!(excepted("::1", "http://[::1]:8080/"));
        assert!(excepted("[::1]:8080", "http://[::1]:8080/"));
        assert!(!excepted("[::1]:81", "http://[::1]:8080/"));
    }

    #[test]
    fn each_scheme_has_its_proxy() {
        let settings = Http {
            https_proxy: Some("http://p:1".into()),
            http_proxy: Some(String::new()),
            no_proxy: vec!["ghe.example.com".into()],
            ..Http::default()
        };
        let chosen = |url| choose(&settings, &Url::parse(url).expect(url));
        assert_eq!(chosen("https://github.com/"), Some("http://p:1"));
        assert_eq!(chosen("http://github.com/"), None);
        assert_eq!(chosen("https://ghe.example.com/"), None);
    }

    #[test]
    fn proxies_that_cannot_be_used_are_told_without_their_passwords() {
        for text in ["foo://u:s3cret@h", "http://u:s3cret@", "socks6://u:s3cret@h:1"] {
            let error = parse(text).expect_err(text).to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
        for text in ["proxy.example.com:8080", "proxy", "user:word@proxy:1", "https://p:1", "socks5h://u:w@p"]
        {
            assert!(parse(text).is_ok(), "{text}");
        }
    }
}
