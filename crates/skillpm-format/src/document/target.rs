//! The target of a link in a skill, determined from its text alone.

use crate::text::percent_decoded;

/// The target of a link, determined from its text alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A file or directory of the skill: the path below its directory, without `.` and `..`.
    Inside(String),
    /// A place outside the skill's directory, reached by `..`: the path from there, without `.`, and `..` at the start
    /// alone.
    Outside(String),
    /// A place on one machine: `/x`, `~/x`, `file:///x`.
    Absolute,
    /// A path in Windows form: `a\b`, `C:/x`.
    Windows,
    /// Another machine, a place in the same file, or no place at all, as for a placeholder.
    Elsewhere,
}

impl Target {
    /// Returns the target of `link` in a file in `directory` of the skill.
    pub(crate) fn of(link: &str, directory: &str) -> Self {
        if directory.is_empty() && is_plain(link) {
            return Self::Inside(link.to_owned());
        }
        Self::of_any(link, directory)
    }

    /// Computes [`Self::of`] without the fast path.
    fn of_any(link: &str, directory: &str) -> Self {
        let end = memchr::memchr2(b'#', b'?', link.as_bytes()).unwrap_or(link.len());
        let path = link[..end].trim();
        if path.is_empty() || is_placeholder(link) {
            return Self::Elsewhere;
        }
        if is_drive(path) || (path.contains('\\') && !path.contains("://")) {
            return Self::Windows;
        }
        if path.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("file:")) {
            return Self::Absolute;
        }
        if has_scheme(path) || path.starts_with("//") {
            return Self::Elsewhere;
        }
        if path.starts_with('/') || path == "~" || path.starts_with("~/") {
            return Self::Absolute;
        }
        let path = percent_decoded(path);
        let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
        let mut outside = String::new();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    if parts.pop().is_none() {
                        outside.push_str("../");
                    }
                }
                part => parts.push(part),
            }
        }
        let path = parts.join("/");
        if outside.is_empty() { Self::Inside(path) } else { Self::Outside(outside + &path) }
    }
}

/// Reports whether the link is a placeholder for a real one: `path/to/file`, `{name}.md`, `...`.
fn is_placeholder(link: &str) -> bool {
    link.bytes().any(|byte| matches!(byte, b'{' | b'}' | b'<' | b'>' | b'*' | b'|' | b'$' | b'[' | b']'))
        || (!link.is_ascii() && link.contains('…'))
        || link.contains("...")
        || link.contains("path/to/")
        // A single word, as in `[text](url)`.
        || link.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// Reports whether `path` starts with a drive: `C:\x`, `c:/x`.
fn is_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic())
}

fn has_scheme(path: &str) -> bool {
    let Some((scheme, _)) = path.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

/// Reports whether `link` is clearly a path, as nearly every one is: parts made of letters, digits, dashes and single
/// dots inside them. From the skill's directory it leads [`Inside`](Target::Inside).
pub(super) fn is_plain(link: &str) -> bool {
    let bytes = link.as_bytes();
    // A single word is a placeholder.
    let mut is_path = false;
    let mut before = b'/';
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => {}
            b'.' | b'/' if !matches!(before, b'.' | b'/') => {
                if *byte == b'/' && bytes[..at].ends_with(b"path/to") {
                    return false;
                }
                is_path = true;
            }
            _ => return false,
        }
        before = *byte;
    }
    is_path && before != b'/'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn where_links_lead() {
        let outside = |path: &str| Target::Outside(path.to_owned());
        let inside = |path: &str| Target::Inside(path.to_owned());
        for (link, target) in [
            ("references/a.md", inside("references/a.md")),
            ("./a/../b.md#part", inside("b.md")),
            ("a%20b.md?x=1", inside("a b.md")),
            ("100%.md", inside("100%.md")),
            ("../other/SKILL.md", outside("../other/SKILL.md")),
            ("a/../../b.md", outside("../b.md")),
            ("/etc/passwd", Target::Absolute),
            ("~/notes.md", Target::Absolute),
            ("FILE:///x", Target::Absolute),
            ("scripts\\a.py", Target::Windows),
            ("C:/x", Target::Windows),
            ("https://x.y/a\\b", Target::Elsewhere),
            ("mailto:a@b.c", Target::Elsewhere),
            ("//host/x", Target::Elsewhere),
            ("#part", Target::Elsewhere),
            ("", Target::Elsewhere),
            ("url", Target::Elsewhere),
            ("{name}.md", Target::Elsewhere),
            ("path/to/file.md", Target::Elsewhere),
        ] {
            assert_eq!(Target::of(link, ""), target, "{link}");
        }
        assert_eq!(Target::of("../b.md", "references"), inside("b.md"));
        assert_eq!(Target::of("b.md", "references"), inside("references/b.md"));
    }

    proptest! {
        #[test]
        fn the_short_way_is_the_long_one(link in "(a|b\\.md|\\.|/|path|to|path/to/|-|_|7|C:|%20|é|#|~|\\{| ){0,9}") {
            prop_assert_eq!(Target::of(&link, ""), Target::of_any(&link, ""), "{}", link);
        }

        #[test]
        fn what_is_inside_never_leaves(link in "(\\.|/|\\.\\./|%2e|%|a|é|:|#|\\\\){0,20}") {
            for directory in ["", "references"] {
                if let Target::Inside(path) = Target::of(&link, directory) {
                    prop_assert!(!path.starts_with('/') && !path.ends_with('/') && !path.contains("//"));
                    prop_assert!(path.split('/').all(|part| part != ".." && part != "."), "{}", path);
                }
            }
        }
    }
}
