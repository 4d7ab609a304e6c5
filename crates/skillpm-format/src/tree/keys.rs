//! Finds keys of services in texts: everyone who has such a text can use them.
//!
//! Only keys that their services mark by a prefix are found, so that hardly anything else is. Keys of manuals are not
//! reported: they are marked as examples, or too regular to be random.

use std::ops::Range;

use memchr::memmem;

/// A key in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundKey {
    /// The kind of key, with its article: `a token of GitHub`.
    pub kind: &'static str,
    /// The key without its secret part: `ghp_…`.
    pub shown: String,
    /// Where it is, in bytes.
    pub span: Range<usize>,
    /// The line, from 1.
    pub line: usize,
}

/// A kind of key.
struct Kind {
    name: &'static str,
    prefix: &'static str,
    /// The least and the largest number of characters after the prefix.
    length: (usize, usize),
    /// The characters after the prefix, beside letters and digits.
    others: &'static [u8],
}

const fn kind(
    name: &'static str,
    prefix: &'static str,
    length: (usize, usize),
    others: &'static [u8],
) -> Kind {
    Kind { name, prefix, length, others }
}

/// More characters than any key has.
const ANY: usize = 1024;

/// The kinds of keys. A prefix that another one begins with is behind it.
const KINDS: &[Kind] = &[
    kind("an access key of AWS", "AKIA", (16, 16), b""),
    kind("an access key of AWS", "ASIA", (16, 16), b""),
    kind("a token of GitHub", "ghp_", (36, 36), b""),
    kind("a token of GitHub", "gho_", (36, 36), b""),
    kind("a token of GitHub", "ghu_", (36, 36), b""),
    kind("a token of GitHub", "ghs_", (36, 36), b""),
    kind("a token of GitHub", "ghr_", (36, 76), b""),
    kind("a token of GitHub", "github_pat_", (60, ANY), b"_"),
    kind("a token of GitLab", "glpat-", (20, ANY), b"-_."),
    kind("a key of Anthropic", "sk-ant-", (32, ANY), b"-_"),
    kind("a key of OpenAI", "sk-proj-", (40, ANY), b"-_"),
    kind("a key of OpenAI", "sk-svcacct-", (40, ANY), b"-_"),
    kind("a key of OpenAI", "sk-admin-", (40, ANY), b"-_"),
    kind("a key of OpenRouter", "sk-or-v1-", (64, 64), b""),
    kind("a key of OpenAI or of a service like it", "sk-", (32, 64), b""),
    kind("a key of Stripe", "sk_live_", (24, ANY), b""),
    kind("a key of Stripe", "rk_live_", (24, ANY), b""),
    kind("a token of Slack", "xoxa-", (24, ANY), b"-"),
    kind("a token of Slack", "xoxb-", (24, ANY), b"-"),
    kind("a token of Slack", "xoxp-", (24, ANY), b"-"),
    kind("a token of Slack", "xoxr-", (24, ANY), b"-"),
    kind("a token of Slack", "xoxs-", (24, ANY), b"-"),
    kind("a key of Google", "AIza", (35, 35), b"-_"),
    kind("a token of npm", "npm_", (36, 36), b""),
    kind("a token of PyPI", "pypi-AgEI", (80, ANY), b"-_"),
    kind("a token of Hugging Face", "hf_", (34, 34), b""),
];

/// The start of a private key, before its kind.
const PEM: &[u8] = b"-----BEGIN ";
/// The end of that line.
const PEM_END: &[u8] = b"PRIVATE KEY-----";
/// The start of its last line.
const PEM_LAST: &[u8] = b"-----END";
/// The longest kind of a private key: `ENCRYPTED `, `OPENSSH `.
const PEM_KIND: usize = 24;
/// The number of bytes behind that line in which the key begins.
const PEM_HEADERS: usize = 400;
/// The number of characters in a row that only a key has.
const PEM_LINE: usize = 40;

/// Words in the keys of manuals, in lower case.
const EXAMPLES: &[&[u8]] = &[
    b"abcde",
    b"12345",
    b"98765",
    b"xxxx",
    b"....",
    b"example",
    b"dummy",
    b"fake",
    b"here",
    b"placeholder",
    b"redacted",
    b"replace",
    b"sample",
    b"secret",
    b"token",
    b"your",
    b"mykey",
    b"apikey",
];

/// The number of bytes at the start of a file that show whether it is a text.
const START: usize = 8000;

/// Returns the keys in a file with the content `bytes`, in order; none if it is no text.
pub fn keys(bytes: &[u8]) -> Vec<FoundKey> {
    if memchr::memchr(0, &bytes[..bytes.len().min(START)]).is_some() {
        return Vec::new();
    }
    let mut found: Vec<FoundKey> = Vec::new();
    for kind in KINDS {
        for at in memmem::find_iter(bytes, kind.prefix) {
            if found.iter().all(|other| other.span.start != at)
                && let Some(end) = kind.end(bytes, at)
            {
                found.push(FoundKey {
                    kind: kind.name,
                    shown: format!("{}…", kind.prefix),
                    span: at..end,
                    line: 0,
                });
            }
        }
    }
    found.extend(memmem::find_iter(bytes, PEM).filter_map(|at| private_key(bytes, at)));
    found.sort_by_key(|key| key.span.start);
    for key in &mut found {
        key.line = memchr::memchr_iter(b'\n', &bytes[..key.span.start]).count() + 1;
    }
    found
}

impl Kind {
    /// Returns the end of the key of this kind whose prefix is at `at`; `None` if the text is not a key.
    fn end(&self, bytes: &[u8], at: usize) -> Option<usize> {
        if at > 0 && is_in_word(bytes[at - 1]) {
            return None;
        }
        let start = at + self.prefix.len();
        let is_of_key = |byte: &u8| byte.is_ascii_alphanumeric() || self.others.contains(byte);
        let length = bytes[start..].iter().take_while(|byte| is_of_key(byte)).count();
        let (least, most) = self.length;
        let next = bytes.get(start + length);
        let is_whole = (least..=most).contains(&length) && next.is_none_or(|next| *next != b'_');
        (is_whole && is_drawn(&bytes[start..start + length])).then_some(start + length)
    }
}

/// Reports whether `byte` belongs to the word that a prefix behind it is a part of: `task-`, `_npm_`.
fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || !byte.is_ascii()
}

/// Reports whether the secret part of a key looks as if it was drawn by lot.
fn is_drawn(secret: &[u8]) -> bool {
    let lower = secret.to_ascii_lowercase();
    let mut seen = [false; 256];
    for byte in secret {
        seen[usize::from(*byte)] = true;
    }
    let distinct = seen.iter().filter(|seen| **seen).count();
    let has_digits = secret.iter().any(u8::is_ascii_digit);
    let has_letters = secret.iter().any(u8::is_ascii_alphabetic);
    distinct >= secret.len().min(30) / 3
        && has_letters
        && (has_digits || secret.len() < 20)
        && !EXAMPLES.iter().any(|word| memmem::find(&lower, word).is_some())
}

/// Returns the private key whose first line begins at `at`; `None` if there are only its first and its last line, as in
/// a manual or a program that looks for one.
fn private_key(bytes: &[u8], at: usize) -> Option<FoundKey> {
    let name = at + PEM.len();
    let near = &bytes[name..bytes.len().min(name + PEM_KIND + PEM_END.len())];
    let end = name + memmem::find(near, PEM_END)? + PEM_END.len();
    let is_kind =
        bytes[name..end - PEM_END.len()].iter().all(|byte| byte.is_ascii_uppercase() || *byte == b' ');
    let rest = &bytes[end..bytes.len().min(end + PEM_HEADERS)];
    let rest = &rest[..memmem::find(rest, PEM_LAST).unwrap_or(rest.len())];
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let mut lines = rest.split(|byte| !is_base64(byte));
    let has_key = lines.any(|line| line.len() >= PEM_LINE && is_drawn(line));
    (is_kind && has_key).then(|| FoundKey {
        kind: "a private key",
        shown: "-----BEGIN … PRIVATE KEY-----".to_owned(),
        span: at..end,
        line: 0,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Keys that no service ever gave, put together here so that no program takes this file for one that has them.
    fn made_up() -> Vec<(&'static str, String)> {
        let drawn = "q7Rk2VbT9xWm4ZcL8nHs3YpJ6dGf1KaE5uQoB0iXwN7tMvC2rPzD4hSy9lUjF6eAgOq8W1k";
        let of = |prefix: &str, length: usize| format!("{prefix}{}", &drawn[..length]);
        vec![
            ("an access key of AWS", ["AK", "IAQ7RK2VBT4XWM6ZCL"].concat()),
            ("a token of GitHub", of("ghp_", 36)),
            ("a token of GitHub", format!("github_pat_{}_{}", &drawn[..22], &drawn[..59])),
            ("a token of GitLab", of("glpat-", 20)),
            ("a key of Anthropic", format!("sk-ant-api03-{}-{}", &drawn[..40], &drawn[20..60])),
            ("a key of OpenAI", of("sk-proj-", 60)),
            ("a key of OpenAI or of a service like it", of("sk-", 48)),
            ("a key of Stripe", of("sk_live_", 24)),
            ("a token of Slack", format!("xoxb-730191371927-{}", &drawn[..24])),
            ("a key of Google", of("AIza", 35)),
            ("a token of npm", of("npm_", 36)),
            ("a token of Hugging Face", of("hf_", 34)),
            (
                "a private key",
                format!(
                    "{}OPENSSH {}\n{}\n{}\n",
                    "-----BEGIN ",
                    "PRIVATE KEY-----",
                    &drawn[..64],
                    &drawn[..64]
                ),
            ),
            ("a private key", format!("{}{}\\n{}\\n", "-----BEGIN ", "PRIVATE KEY-----", &drawn[..64])),
        ]
    }

    #[test]
    fn keys_are_found_with_their_lines_and_not_shown() {
        for (kind, key) in made_up() {
            for (before, after) in [("", ""), ("x\ny = \"", "\"\n"), ("é\n- `", "`."), ("a\nK=", "\n")] {
                let text = format!("{before}{key}{after}");
                let found = keys(text.as_bytes());
                assert_eq!(found.len(), 1, "{text}: {found:?}");
                assert_eq!(found[0].kind, kind);
                assert_eq!(found[0].line, before.lines().count().max(1), "{text}");
                assert_eq!(found[0].span.start, before.len());
                assert!(key.starts_with(&text[found[0].span.clone()]), "{text}");
                let secret = key.rsplit(['-', '_']).next().unwrap_or_default();
                assert!(!found[0].shown.contains(secret) && found[0].shown.contains('…'), "{:?}", found[0]);
            }
            // No part of a word, and no binary file.
            assert_eq!(
                keys(format!("x{key}").as_bytes()).len(),
                usize::from(kind == "a private key"),
                "{key}"
            );
            assert_eq!(keys(format!("\0{key}").as_bytes()), []);
        }
        let all: Vec<_> = made_up().into_iter().map(|(_, key)| key).collect();
        let found = keys(all.join("\n").as_bytes());
        assert_eq!(found.len(), all.len());
        assert!(found.is_sorted_by_key(|key| key.line));
    }

    #[test]
    fn keys_of_manuals_are_not_reported() {
        for text in [
            "AKIAIOSFODNN7EXAMPLE AKIAI44QH8DHBEXAMPLE AKIAXXXXXXXXXXXXXXXX AKIA1234567890ABCDEF AKIA",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx ghp_your_token_here ghp_... ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "ghp_000000000000000000000000000000000000 ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "github_pat_11AAAAAAA0000000000000_11AAAAAAA00000000000000000000000000000000000000000000000000",
            "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx sk-ant-your-key-goes-right-in-this-place-1",
            "sk-proj-abcdefghijklmnopqrstuvwxyz1234567890abcdefgh sk-... sk-1234567890abcdef1234567890abcdef",
            "task-7Rk2VbT9xWm4ZcL8nHs3YpJ6dGf1KaE5uQoB0iXw risk-management-of-things-that-are-many",
            "xoxb-your-bot-token-goes-here-1 xoxb-1234567890123-1234567890123-abcdefghijklmnopqrstuvwx",
            "AIzaSyXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX npm_config_cache npm_package_version_of_something_very_long_is_no",
            "hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx glpat-xxxxxxxxxxxxxxxxxxxx glpat-<TOKEN>",
            "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n",
            "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA...\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\nq7Rk2VbT9xWm4ZcL8nHs3YpJ6dGf1KaE5uQoB0iXwN7tMvC2rPzD",
            "if text.startswith('-----BEGIN OPENSSH PRIVATE KEY-----'):\n    raise ValueError('a private key')",
            "-----BEGIN CERTIFICATE-----\nq7Rk2VbT9xWm4ZcL8nHs3YpJ6dGf1KaE5uQoB0iXwN7tMvC2rPzD4hSy9lUjF6eA\n",
            "-----BEGIN PUBLIC KEY-----\nq7Rk2VbT9xWm4ZcL8nHs3YpJ6dGf1KaE5uQoB0iXwN7tMvC2rPzD4hSy9lUjF6eA\n",
        ] {
            assert_eq!(keys(text.as_bytes()), [], "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(start in any::<Vec<u8>>(), kind in 0..KINDS.len(), rest in "[A-Za-z0-9_ -]{0,90}") {
            for prefix in [KINDS[kind].prefix, "-----BEGIN ", "-----BEGIN PRIVATE KEY-----"] {
                let bytes = [&start[..], prefix.as_bytes(), rest.as_bytes()].concat();
                for key in keys(&bytes) {
                    prop_assert!(bytes.get(key.span).is_some());
                }
            }
        }
    }
}
