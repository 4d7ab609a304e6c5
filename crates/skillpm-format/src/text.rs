//! Positions in a text, and texts from outside.

mod closest;
mod conflict;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::ops::Range;

use chrono::{DateTime, NaiveDate, NaiveTime, SecondsFormat, Utc};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

pub(crate) use self::closest::distance;
pub use self::closest::{closest, closest_path, closest_paths};
pub(crate) use self::conflict::ConflictMark;
pub use self::conflict::{conflict_line, is_conflict_mark};

/// Returns the line and column of byte `offset`, both from 1; columns count characters.
pub fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset.min(text.len()))];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1, before[line_start..].chars().count() + 1)
}

/// Returns where the line with byte `at` starts. Lines end with LF, CRLF or CR.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1)
}

/// Returns the lines of `span` of `text` with their offsets, without line ends. CRLF adds an empty line.
pub(crate) fn lines(text: &str, span: Range<usize>) -> impl Iterator<Item = (usize, &str)> {
    let start = span.start;
    text[span].split_inclusive(['\n', '\r']).scan(start, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line.trim_end_matches(['\n', '\r'])))
    })
}

/// Formats a time according to RFC 3339, in UTC and to the millisecond: `2026-11-21T08:49:37.250Z`. `seconds` are
/// counted from 1970; earlier times become 1970.
pub fn timestamp(seconds: i64, milliseconds: u32) -> String {
    let time = DateTime::from_timestamp(seconds.max(0), milliseconds.min(999) * 1_000_000);
    time.unwrap_or(DateTime::<Utc>::MAX_UTC).to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Parses a time in the format of RFC 3339, and returns it in milliseconds since 1970.
pub fn milliseconds(timestamp: &str) -> Option<i64> {
    DateTime::parse_from_rfc3339(timestamp).ok().map(|time| time.timestamp_millis())
}

/// Parses a time that a person wrote, and returns it in milliseconds since 1970: a date in UTC such as `2026-11-01`, a time
/// in the format of RFC 3339, or how long before `now` it was, in hours, days or weeks: `12h`, `30d`, `2w`. `now` is in
/// milliseconds too.
pub fn past_time(text: &str, now: i64) -> Option<i64> {
    let text = text.trim();
    if let Some((at, unit)) = text.char_indices().next_back()
        && let Some(hours) = [('h', 1), ('d', 24), ('w', 7 * 24)].iter().find(|(letter, _)| *letter == unit)
    {
        let count = text[..at].parse::<u32>().ok()?;
        return Some(now - i64::from(count) * hours.1 * 60 * 60 * 1000);
    }
    let date = || Some(text.parse::<NaiveDate>().ok()?.and_time(NaiveTime::MIN).and_utc().timestamp_millis());
    date().or_else(|| milliseconds(text))
}

/// Returns `text` with `%20` and similar codes decoded, as in the path of an address. Invalid codes, and codes that
/// would not result in UTF-8, stay as they are.
pub fn percent_decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8().unwrap_or(Cow::Borrowed(text))
}

/// Returns `text` as a part of an address: the unreserved characters of RFC 3986 (section 2.3) and slashes stay.
pub fn percent_encoded(text: &str) -> String {
    const CODED: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
    utf8_percent_encode(text, CODED).to_string()
}

/// Returns `text` without surrounding white space. For nearly every text, two bytes show that it has none.
pub(crate) fn trimmed(text: &str) -> &str {
    match text.as_bytes() {
        [b'!'..=b'~', .., b'!'..=b'~'] => text,
        _ => text.trim(),
    }
}

/// Returns `text` without what may be secret in its addresses: the query of each is replaced by `?…`, and a user name and
/// password by `…@`. The name alone stays where ssh takes it.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find("://").filter(|at| text[*at..].contains(['?', '@'])) else {
        return Cow::Borrowed(text);
    };
    let (mut shown, mut rest) = (text[..first].to_owned(), &text[first..]);
    loop {
        let ends = |c: char| c.is_whitespace() || matches!(c, '`' | '\'' | '"' | '<' | '>');
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        // Punctuation that follows an address in a sentence.
        let (address, behind) = rest.split_at(word.trim_end_matches([')', ',', '.', ':', ';']).len());
        let address = without_login(address, shown.ends_with("ssh"));
        match address.split_once('?').filter(|(_, query)| !query.is_empty()) {
            Some((place, _)) => shown.extend([place, "?…"]),
            None => shown.push_str(&address),
        }
        let next = behind.find("://").unwrap_or(behind.len());
        shown.push_str(&behind[..next]);
        rest = &behind[next..];
        if rest.is_empty() {
            return Cow::Owned(shown);
        }
    }
}

/// Returns `address`, which begins with `://`, without user name and password.
fn without_login(address: &str, is_ssh: bool) -> Cow<'_, str> {
    let Some(rest) = address.strip_prefix("://") else { return Cow::Borrowed(address) };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        // The placeholder of a hint.
        Some(("name:password", _)) => Cow::Borrowed(address),
        Some((user, host)) if !is_ssh || user.contains(':') => Cow::Owned(format!("://…@{host}{path}")),
        _ => Cow::Borrowed(address),
    }
}

/// Returns a name on one line, with nothing hidden in it: file names may contain line ends, including characters that
/// only some programs treat as line ends.
pub fn visible_name(name: &str) -> String {
    visible(name).replace('\n', "\\u{a}")
}

/// Returns a path or another text as one word of a command line: in quotes if a shell would otherwise misread it.
pub fn shell_word(word: impl AsRef<OsStr>) -> String {
    let text = word.as_ref().to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:@%+=,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.into_owned();
    }
    if !text.chars().any(is_hidden) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    // Characters that are not displayed would not be typed either, and a terminal may act on them when they are pasted.
    let mut quoted = String::from("$'");
    for c in text.chars() {
        if is_hidden(c) {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\{byte:03o}");
            }
        } else {
            if matches!(c, '\'' | '\\') {
                quoted.push('\\');
            }
            quoted.push(c);
        }
    }
    quoted + "'"
}

/// Joins words as `a`, `a and b` or `a, b and c`.
pub fn and(words: &[impl AsRef<str>]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// Works like [`and`] for the first `most` of `words`, and says how many more there are.
pub fn and_more(words: &[impl AsRef<str>], most: usize) -> String {
    let mut shown: Vec<String> = words.iter().take(most).map(|word| word.as_ref().to_owned()).collect();
    if words.len() > most {
        shown.push(format!("{} more", words.len() - most));
    }
    and(&shown)
}

/// Makes a text from outside safe to display: characters that a terminal would act on or would not display are written
/// as their code points. Line feeds and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    let hidden = |c: char| !matches!(c, '\n' | '\t') && is_hidden(c);
    // The loop runs to the end, so that the compiler can process many bytes at a time: most texts are plain ASCII.
    let odd = text.bytes().fold(0, |any, byte| any | u8::from(!matches!(byte, b' '..=b'~' | b'\n' | b'\t')));
    if odd == 0 || !text.chars().any(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if hidden(c) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Reports whether `c` is a control, format, private-use or unassigned character, or a line end of Unicode, except for
/// the joiner and the variation selector used in emoji.
fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    matches!(c, '\u{2028}' | '\u{2029}')
        || !matches!(c, '\u{200d}' | '\u{fe0f}') && c.general_category_group() == GeneralCategoryGroup::Other
}

/// Reports whether `text` is empty or consists of words of printable ASCII separated by single spaces: most texts do.
pub fn is_plain_line(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && !text.starts_with(' ')
        && !text.ends_with(' ')
        && memchr::memmem::find(text.as_bytes(), b"  ").is_none()
}

/// Escapes a text for elements and attributes of XML, which has no way to write control characters.
pub fn xml(text: &str) -> String {
    xml_with(text, "&apos;")
}

/// Escapes a text for elements of XML, where quotes mean nothing.
pub fn xml_text(text: &str) -> String {
    xml_marks(text, |mark| matches!(mark, b'&' | b'<' | b'>'), "")
}

/// Escapes a text like [`xml`], with `apostrophe` for each apostrophe.
pub fn xml_with(text: &str, apostrophe: &str) -> String {
    xml_marks(text, |mark| matches!(mark, b'&' | b'<' | b'>' | b'"' | b'\''), apostrophe)
}

/// Escapes the characters that `is_mark` selects.
fn xml_marks(text: &str, is_mark: impl Fn(u8) -> bool, apostrophe: &str) -> String {
    let text = visible(text);
    let mut escaped = String::with_capacity(text.len() + 64);
    let mut rest = &*text;
    while let Some(at) = rest.bytes().position(&is_mark) {
        escaped.push_str(&rest[..at]);
        escaped.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            _ => apostrophe,
        });
        rest = &rest[at + 1..];
    }
    escaped.push_str(rest);
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_addresses() {
        assert_eq!(percent_encoded("feature/a b#c?d%é-._~"), "feature/a%20b%23c%3Fd%25%C3%A9-._~");
        for (text, decoded) in [("a%20b", "a b"), ("%c3%A9", "é"), ("%zz%4", "%zz%4"), ("%ff%20", "%ff%20")]
        {
            assert_eq!(percent_decoded(text), decoded);
        }
    }

    #[test]
    fn secrets_in_addresses_are_not_shown() {
        for (text, shown) in [
            ("HTTPS_PROXY=http://name:password@host:port", "HTTPS_PROXY=http://name:password@host:port"),
            ("url:https://h/a.md?sig=s", "url:https://h/a.md?…"),
            (
                "(https://h/a?s=1&t=(2) at 1), (http://h/b?x#y), `http://h/b?x`: is",
                "(https://h/a?…) at 1), (http://h/b?…), `http://h/b?…`: is",
            ),
            ("is it? https://h/a is", "is it? https://h/a is"),
            ("https://h/? and a?b", "https://h/? and a?b"),
            ("why?", "why?"),
            ("for 'https://me:s3cret@host/r.git/'", "for 'https://…@host/r.git/'"),
            ("`https://t0ken@host:8443`: `http://a:p@w@h?x=y`", "`https://…@host:8443`: `http://…@h?…`"),
            ("ssh://git@host/r and git+ssh://git:pw@host/r", "ssh://git@host/r and git+ssh://…@host/r"),
            ("https://h/@scope/x and a@b", "https://h/@scope/x and a@b"),
            ("https://h/a, ftp://u:p@h", "https://h/a, ftp://…@h"),
            ("nothing://", "nothing://"),
        ] {
            assert_eq!(without_secrets(text), shown);
        }
    }

    #[test]
    fn all_white_space_around_a_text_goes() {
        for inner in ["", "a", "ab", "a b", "é", "\u{7f}", "!~", "日本"] {
            for outer in
                ["", " ", "\t", "\r\n", "\u{b}", "\u{85}", "\u{a0}", "\u{2003}", "\u{3000}", "\0", "\u{200b}"]
            {
                for text in [[outer, inner, outer].concat(), [inner, outer].concat(), [outer, inner].concat()]
                {
                    assert_eq!(trimmed(&text), text.trim(), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn times() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_795_250_977, "2026-11-21T08:49:37.000Z"),
            (4_102_444_799, "2099-12-31T23:59:59.000Z"),
            (-1, "1970-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(timestamp(seconds, 0), text);
        }
        assert_eq!(timestamp(1, 7), "1970-01-01T00:00:01.007Z");
        assert_eq!(milliseconds("1970-01-01T00:00:01.007Z"), Some(1007));
        assert_eq!(milliseconds("1970-01-01T01:00:01+01:00"), Some(1000));
        assert_eq!(milliseconds("yesterday"), None);
    }

    #[test]
    fn times_that_people_write() {
        let now = 1_795_250_977_000;
        for (text, expected) in [
            ("1970-01-02", Some(86_400_000)),
            ("1970-01-01T00:00:01Z", Some(1000)),
            ("12h", Some(now - 12 * 3_600_000)),
            (" 30d ", Some(now - 30 * 86_400_000)),
            ("2w", Some(now - 14 * 86_400_000)),
            ("4294967295w", Some(now - 4_294_967_295 * 7 * 86_400_000)),
            ("4294967296w", None),
            ("-1d", None),
            ("d", None),
            ("30", None),
            ("1970-13-01", None),
            ("", None),
            ("é", None),
        ] {
            assert_eq!(past_time(text, now), expected, "{text}");
        }
    }

    #[test]
    fn places() {
        assert_eq!(line_column("ab\ncé=x", 0), (1, 1));
        assert_eq!(line_column("ab\ncé=x", 6), (2, 3));
        assert_eq!(line_column("ab", 99), (1, 3));
    }

    /// ms30-desc-escape, zn12-control-chars: nothing that a terminal acts on gets through.
    #[test]
    fn hostile_texts_are_shown_not_obeyed() {
        assert_eq!(visible("a\u{1b}]52;c;x\u{7}b"), "a\\u{1b}]52;c;x\\u{7}b");
        assert_eq!(visible("\u{9b}2J\u{202e}x\u{e0041}"), "\\u{9b}2J\\u{202e}x\\u{e0041}");
        assert_eq!(visible("a\u{2028}b\u{2029}c"), "a\\u{2028}b\\u{2029}c");
        assert_eq!(visible("plain\n\ttext é 👩‍🚀"), "plain\n\ttext é 👩‍🚀");
    }

    #[test]
    fn names_are_one_line() {
        assert_eq!(visible_name("a\nb\u{2028}c\u{2029}d\u{85}e"), "a\\u{a}b\\u{2028}c\\u{2029}d\\u{85}e");
        assert_eq!(visible_name("\u{3000}two  gaps\t"), "\u{3000}two  gaps\t");
    }

    #[test]
    fn words_of_a_command_line() {
        for (text, word) in [
            ("/srv/skills/pdf-1.2", "/srv/skills/pdf-1.2"),
            ("技能", "技能"),
            ("my skills", "'my skills'"),
            ("it's", r"'it'\''s'"),
            ("$(x)", "'$(x)'"),
            ("~/x", "'~/x'"),
            ("", "''"),
            ("r;touch${IFS}x", "'r;touch${IFS}x'"),
            ("http://h/x.zip?id=7&v=2", "'http://h/x.zip?id=7&v=2'"),
            // Nothing that a terminal acts on, or hides: bash, zsh and ksh read these digits as the bytes.
            ("a\n\u{1b}[2J", r"$'a\012\033[2J'"),
            ("it's\\\u{202e}", r"$'it\'s\\\342\200\256'"),
        ] {
            assert_eq!(shell_word(text), word);
        }
    }
}
