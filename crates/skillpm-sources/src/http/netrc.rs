//! The file `.netrc`: names and passwords by host, as curl, git and Python read it.
//!
//! The forms that these programs agree on are read: `machine`, `login`, `password`, `account`, `default`, `macdef`
//! (skipped to the next empty line), values in double quotes with `\` before a character, and lines that start with
//! `#`. Words that are none of these are skipped too: the file belongs to other programs, and what they put there is no
//! reason to fail.

/// A name and a password.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct NetrcMachine {
    pub(super) login: String,
    pub(super) password: String,
}

/// Returns what `text` has for `host`: the first whole entry for it, otherwise that of `default`.
///
/// An entry without a name or a password, or with a name that HTTP cannot send, is not used.
pub(super) fn find(text: &str, host: &str) -> Option<NetrcMachine> {
    let (mut own, mut default) = (None, None);
    let mut words = Words { rest: text };
    // The machine that the words are about; `None` is `default`.
    let mut machine: Option<Option<String>> = None;
    let (mut login, mut password) = (None, None);
    loop {
        let word = words.keyword();
        if matches!(word.as_deref(), Some("machine" | "default") | None) {
            let entry = whole(login.take(), password.take());
            match machine.take() {
                Some(Some(name)) if name.eq_ignore_ascii_case(host) => own = own.or(entry),
                Some(None) => default = default.or(entry),
                _ => {}
            }
        }
        match word.as_deref() {
            Some("machine") => machine = words.value().map(Some),
            Some("default") => machine = Some(None),
            Some("login") => login = words.value(),
            Some("password") => password = words.value(),
            Some("account") => drop(words.value()),
            Some("macdef") => words.skip_macro(),
            Some(_) => {}
            None => return own.or(default),
        }
    }
}

fn whole(login: Option<String>, password: Option<String>) -> Option<NetrcMachine> {
    let (login, password) = (login?, password?);
    let sendable = !login.contains(':') && !format!("{login}{password}").contains(char::is_control);
    (sendable && !password.is_empty()).then_some(NetrcMachine { login, password })
}

struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    /// Returns the next word where a keyword is expected, comments skipped.
    fn keyword(&mut self) -> Option<String> {
        loop {
            self.rest = self.rest.trim_start();
            if !self.rest.starts_with('#') {
                return self.value();
            }
            self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
        }
    }

    /// Returns the next word, which may stand in quotes.
    fn value(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start();
        if let Some(quoted) = self.rest.strip_prefix('"') {
            return Some(self.quoted(quoted));
        }
        let end = self.rest.find(char::is_whitespace).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then(|| word.to_owned())
    }

    fn quoted(&mut self, text: &'a str) -> String {
        let mut value = String::new();
        let mut chars = text.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    // The quotation mark is one byte.
                    self.rest = text[at..].get(1..).unwrap_or_default();
                    return value;
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, 'r')) => value.push('\r'),
                    Some((_, 't')) => value.push('\t'),
                    Some((_, c)) => value.push(c),
                    None => {}
                },
                c => value.push(c),
            }
        }
        self.rest = "";
        value
    }

    /// Passes over a macro: everything up to an empty line.
    fn skip_macro(&mut self) {
        while !self.rest.is_empty() {
            let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
            self.rest = rest;
            if rest.starts_with('\n') || rest.starts_with("\r\n") || line.trim().is_empty() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str, host: &str) -> Option<(String, String)> {
        find(text, host).map(|entry| (entry.login, entry.password))
    }

    #[test]
    fn entries_of_machines() {
        let text = "# hosts\nmachine a.example login ada password one\nmachine b.example\n  login bob\n  \
                    account x\n  password \"t w\\\"o\\\\\" machine c.example password p login l\n\
                    machine d.example login only\ndefault login any password thing\n";
        let cases = [
            ("a.example", Some(("ada", "one"))),
            ("A.EXAMPLE", Some(("ada", "one"))),
            ("b.example", Some(("bob", "t w\"o\\"))),
            ("c.example", Some(("l", "p"))),
            ("d.example", Some(("any", "thing"))),
            ("sub.a.example", Some(("any", "thing"))),
        ];
        for (host, entry) in cases {
            let entry = entry.map(|(login, password)| (login.to_owned(), password.to_owned()));
            assert_eq!(found(text, host), entry, "{host}");
        }
        assert_eq!(found("machine a.example login ada password one", "b.example"), None);
    }

    /// The commands after `macdef` may look like entries.
    #[test]
    fn macros_are_passed_over() {
        let text = "macdef init\ncd /\nmachine a.example login evil password evil\n\n\
                    machine a.example login ada password #one\n";
        assert_eq!(found(text, "a.example"), Some(("ada".into(), "#one".into())));
        assert_eq!(found("macdef x\nmachine a.example login l password p", "a.example"), None);
        let windows = "macdef x\r\nbin\r\n\r\nmachine a login l password p\r\n";
        assert_eq!(found(windows, "a"), Some(("l".into(), "p".into())));
    }

    #[test]
    fn what_cannot_be_sent_is_not_used() {
        for text in [
            "machine a login x:y password p",
            "machine a login l password \"\"",
            "machine a login l password \"a\\nb\"",
            "machine a login l",
            "machine",
            "machine a password \"unclosed",
        ] {
            assert_eq!(found(text, "a"), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "(machine|default|login|password|macdef|\"|\\\\|#|\n| |a|é){0,40}") {
            let _ = find(&text, "a");
        }
    }
}
