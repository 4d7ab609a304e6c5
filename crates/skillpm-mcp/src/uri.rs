//! The addresses of skills and their files: `skill://<scope>/<path>/<name>/<file>`.

use skillpm_format::text::percent_encoded;

/// The scheme, with its separator.
const SCHEME: &str = "skill://";

/// Returns the address of `path`, a `/`-separated path that starts with a scope.
pub(crate) fn encode(path: &str) -> String {
    format!("{SCHEME}{}", percent_encoded(path))
}

/// Returns the path of an address. Returns `None` for another scheme, for a query or a fragment, and for what is not
/// UTF-8 when it is decoded.
pub(crate) fn decode(uri: &str) -> Option<String> {
    let (scheme, path) = uri.split_at_checked(SCHEME.len())?;
    if !scheme.eq_ignore_ascii_case(SCHEME) || path.contains(['?', '#']) {
        return None;
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits)
            .ok()
            .filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reserved_characters_are_encoded() {
        assert_eq!(encode("project/größe/a b?.md"), "skill://project/gr%C3%B6%C3%9Fe/a%20b%3F.md");
    }

    #[test]
    fn what_is_no_address_has_no_path() {
        for uri in [
            "",
            "skill:/",
            "file:///a",
            "skill://a?b",
            "skill://a#b",
            "skill://a%",
            "skill://a%4",
            "skill://%+1",
            "skill://%FF",
        ] {
            assert_eq!(decode(uri), None, "{uri}");
        }
        assert_eq!(decode("SKILL://a%2fb").as_deref(), Some("a/b"));
    }

    proptest! {
        #[test]
        fn every_path_comes_back(path in ".*") {
            prop_assert_eq!(decode(&encode(&path)), Some(path));
        }
    }
}
