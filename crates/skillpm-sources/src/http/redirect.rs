//! Where a redirect leads.

use reqwest::header::{self, HeaderMap};

use super::{HttpError, Url, url};

/// Returns where a redirect leads, if it is a place to go to.
pub(super) fn target(from: &Url, headers: &HeaderMap) -> Result<Url, HttpError> {
    let refused =
        |to: &str, reason| Err(HttpError::Redirect { from: from.clone(), to: url::redacted(to), reason });
    let location = headers.get(header::LOCATION).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let Some(location) = location.filter(|location| !location.trim().is_empty()) else {
        return Err(HttpError::RedirectNowhere(from.clone()));
    };
    match from.join(&location) {
        Ok(to) if from.is_https() && !to.is_https() => {
            refused(&location, "this would leave the secure connection")
        }
        Ok(to) => Ok(to),
        Err(HttpError::Address { reason, .. }) => refused(&location, reason),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    /// As browsers read them.
    #[test]
    fn redirects_may_have_blanks_and_other_letters() {
        let to = |location: &[u8]| {
            let location = HeaderValue::from_bytes(location).expect("a value");
            let headers = [(header::LOCATION, location)].into_iter().collect();
            target(&Url::parse("https://a.example/x").expect("an address"), &headers)
                .map(|url| url.to_string())
        };
        assert_eq!(to("/ok/é.zip".as_bytes()).expect("a place"), "https://a.example/ok/%C3%A9.zip");
        assert_eq!(to(b" /ok/a b%20c.zip ").expect("a place"), "https://a.example/ok/a%20b%20c.zip");
        for nowhere in [&b""[..], b" "] {
            assert!(matches!(to(nowhere), Err(HttpError::RedirectNowhere(_))), "{nowhere:?}");
        }
        assert!(matches!(to(b"/a\tb"), Err(HttpError::Redirect { .. })));
    }

    #[test]
    fn h12_https_never_becomes_http() {
        let to = |from: &str, location: &str| {
            let location = HeaderValue::from_str(location).expect("a value");
            let headers = [(header::LOCATION, location)].into_iter().collect();
            target(&Url::parse(from).expect(from), &headers).map_err(|error| error.to_string())
        };
        assert_eq!(
            to("https://a.example/x", "http://b.example/y?token=s3cret"),
            Err("`https://a.example/x` redirects to `http://b.example/y`: this would leave the secure connection"
                .to_owned())
        );
        assert!(to("http://a.example/x", "https://b.example/").is_ok());
        assert!(to("https://a.example/x", "//b.example/").is_ok_and(|url| url.is_https()));
    }
}
