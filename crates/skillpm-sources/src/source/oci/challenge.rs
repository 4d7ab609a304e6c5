//! How a registry wants clients to log in: the header `WWW-Authenticate` (RFC 7235).

/// A way to log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Challenge {
    /// With a name and a password.
    Basic,
    /// With a token that another server gives.
    Bearer {
        /// The address of that server.
        realm: String,
        /// The name of the registry there.
        service: Option<String>,
    },
}

impl Challenge {
    /// Reads the header. A token is preferred to a password; other ways are not known.
    pub(super) fn parse(header: &str) -> Option<Self> {
        let mut basic = None;
        for (scheme, params) in schemes(header) {
            let param = |name: &str| {
                let found = params.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
                found.map(|(_, value)| value.clone())
            };
            if scheme.eq_ignore_ascii_case("bearer") {
                if let Some(realm) = param("realm") {
                    return Some(Self::Bearer { realm, service: param("service") });
                }
            } else if scheme.eq_ignore_ascii_case("basic") {
                basic = Some(Self::Basic);
            }
        }
        basic
    }
}

/// Returns the schemes of a header, each with its parameters.
fn schemes(header: &str) -> Vec<(&str, Vec<(&str, String)>)> {
    let mut found: Vec<(&str, Vec<(&str, String)>)> = Vec::new();
    for item in items(header) {
        let (before, value) =
            item.split_once('=').map_or((item, None), |(before, value)| (before, Some(value)));
        let mut words = before.split_ascii_whitespace();
        let (first, second) = (words.next().unwrap_or_default(), words.next());
        let (scheme, key) = match (second, value) {
            (Some(key), Some(_)) => (Some(first), Some(key)),
            (None, Some(_)) => (None, Some(first)),
            (_, None) => (Some(first), None),
        };
        found.extend(scheme.map(|scheme| (scheme, Vec::new())));
        if let (Some((_, params)), Some(key), Some(value)) = (found.last_mut(), key, value) {
            params.push((key, unquoted(value.trim())));
        }
    }
    found
}

/// Splits a header at the commas that are in no quotes.
fn items(header: &str) -> Vec<&str> {
    let (mut items, mut start) = (Vec::new(), 0);
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in header.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => {
                items.push(header[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(header[start..].trim());
    items.retain(|item| !item.is_empty());
    items
}

fn unquoted(text: &str) -> String {
    let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return text.to_owned();
    };
    let mut escaped = false;
    let kept = inner.chars().filter(|c| {
        let skipped = *c == '\\' && !escaped;
        escaped = skipped;
        !skipped
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_registries_send() {
        let bearer = |realm: &str, service: Option<&str>| {
            Some(Challenge::Bearer { realm: realm.to_owned(), service: service.map(ToOwned::to_owned) })
        };
        for (header, expected) in [
            (
                r#"Bearer realm="https://ghcr.io/token",service="ghcr.io",scope="repository:user/image:pull,push""#,
                bearer("https://ghcr.io/token", Some("ghcr.io")),
            ),
            (r#"Basic realm="a, b=c", Bearer realm="https://h/t?x=1""#, bearer("https://h/t?x=1", None)),
            (
                r#"bearer  Realm=https://h/t , service = "a \"b\" \\" "#,
                bearer("https://h/t", Some(r#"a "b" \"#)),
            ),
            (r#"Basic realm="Registry""#, Some(Challenge::Basic)),
            ("BASIC", Some(Challenge::Basic)),
            ("Negotiate, Basic realm=x", Some(Challenge::Basic)),
            ("Bearer", None),
            (r#"Digest realm="x""#, None),
            ("realm=x", None),
            ("", None),
        ] {
            assert_eq!(Challenge::parse(header), expected, "{header}");
        }
    }

    proptest! {
        #[test]
        fn no_header_panics(text in "[ -~é]{0,60}") {
            let _ = Challenge::parse(&text);
        }
    }
}
