//! Addresses on other machines, in any text.

/// An address.
pub(super) struct Address<'a> {
    /// The byte at which it starts.
    pub(super) at: usize,
    pub(super) text: &'a str,
    /// The machine, in lower case, without user and port.
    pub(super) host: String,
}

/// The maximum number of bytes of an address that count.
const MAX_ADDRESS: usize = 2048;

/// Returns all addresses with a scheme and a host, `https://example.org/x`, in the order of the text. For an address
/// inside another one, only the start is reported.
pub(super) fn find(text: &str) -> Vec<Address<'_>> {
    let mut found = Vec::new();
    // The end of the last scheme, and of the last address.
    let (mut from, mut last) = (0, 0);
    for colon in memchr::memmem::find_iter(text.as_bytes(), "://") {
        let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let before = text.as_bytes()[from..colon].iter().rev().take(32);
        let at = colon - before.take_while(|byte| is_scheme(byte)).count();
        from = colon + 3;
        let inner = from < last;
        let end = if inner { last } else { end(text, from) };
        last = last.max(end);
        let Some(host) = host(&text[from..end]).filter(|_| at < colon) else { continue };
        let shown = if inner { from + machine(&text[from..end]).len() } else { end };
        found.push(Address { at, text: &text[at..shown], host });
    }
    found
}

/// Returns where the address ends whose scheme ends at byte `from`.
fn end(text: &str, from: usize) -> usize {
    let rest = &text[from..];
    let rest = &rest[..rest.floor_char_boundary(MAX_ADDRESS)];
    let rest = &rest[..rest.find(ends).unwrap_or(rest.len())];
    // A sentence, or a Markdown link, may end after it.
    from + rest.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', ')', ']', '}']).len()
}

/// Reports whether an address ends before `c`.
fn ends(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '|' | '\\' | '^')
}

/// Returns `user@host:port` of `user@host:port/path`.
fn machine(rest: &str) -> &str {
    &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())]
}

/// Returns the machine in `user@host:port/path`. Returns `None` for `file:///x`.
fn host(rest: &str) -> Option<String> {
    let machine = machine(rest).rsplit('@').next().unwrap_or_default();
    let name = match machine.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None => machine.split(':').next().unwrap_or_default(),
    };
    let name = name.trim_end_matches(['.', ')', ']', '}']).to_lowercase();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_their_hosts() {
        let text = "See https://Example.org/a?b#c. (http://u:p@x.y:8080/z) <ssh://git@h/r> `ws://[::1]:9/` \
                    file:///etc https://github.com@evil.test/ https://a.b\\@c.d ://no [x](https://l.m/n), https:// https://web.test/https://q.r/s?t";
        let found: Vec<_> = find(text).into_iter().map(|a| (a.text, a.host)).collect();
        let wanted = [
            ("https://Example.org/a?b#c", "example.org"),
            ("http://u:p@x.y:8080/z", "x.y"),
            ("ssh://git@h/r", "h"),
            ("ws://[::1]:9/", "::1"),
            ("https://github.com@evil.test/", "evil.test"),
            ("https://a.b", "a.b"),
            ("https://l.m/n", "l.m"),
            ("https://web.test/https://q.r/s?t", "web.test"),
            ("https://q.r", "q.r"),
        ];
        assert_eq!(found, wanted.map(|(text, host)| (text, host.to_owned())));
    }
}
