//! Digests of files and of trees.

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::path::SafePath;

/// A SHA-256 digest, written as `sha256:` and 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

/// An error for text that is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a digest: expected `sha256:` and 64 lower-case hexadecimal digits")]
pub struct DigestError(String);

const PREFIX: &str = "sha256:";

impl Digest {
    /// Returns the digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the digest with these bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns its bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the digest with these 64 hexadecimal digits. Returns `None` if `hex` is anything else.
    pub fn from_hex(hex: &str) -> Option<Self> {
        if hex.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Some(Self(bytes))
    }

    /// Returns the 64 hexadecimal digits, without the prefix.
    pub fn hex(&self) -> String {
        String::from_utf8_lossy(&self.hex_bytes()).into_owned()
    }

    /// Returns the same digits as [`Digest::hex`], in ASCII.
    pub fn hex_bytes(&self) -> [u8; 64] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut hex = [0; 64];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        hex
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        f.write_str(std::str::from_utf8(&self.hex_bytes()).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let hex = text.strip_prefix(PREFIX).and_then(Self::from_hex);
        hex.ok_or_else(|| DigestError(text.chars().take(90).collect()))
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl TryFrom<String> for Digest {
    type Error = DigestError;

    fn try_from(text: String) -> Result<Self, DigestError> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

/// A writer that hashes everything it passes on to `inner`.
#[derive(Debug)]
pub struct HashingWriter<W> {
    inner: W,
    hasher: Sha256,
    written: u64,
}

impl<W: Write> HashingWriter<W> {
    /// Returns a writer that has not written anything yet.
    pub fn new(inner: W) -> Self {
        Self { inner, hasher: Sha256::new(), written: 0 }
    }

    /// Returns the digest of everything written and its length in bytes.
    pub fn finish(self) -> (Digest, u64) {
        (Digest(self.hasher.finalize().into()), self.written)
    }
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(buf)?;
        self.hasher.update(&buf[..count]);
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Returns the digest of a tree: SHA-256 over one line for each regular file, sorted by the bytes of the path:
/// `path \0 mode \0 hex-sha256(content) \n`, where mode is `755` for a file with any executable bit and `644` for the
/// others.
///
/// Directories, owners, times and other mode bits do not count, so an empty directory changes nothing.
pub fn tree_digest<'a>(files: impl IntoIterator<Item = (&'a SafePath, bool, Digest)>) -> Digest {
    let mut lines: Vec<_> = files.into_iter().collect();
    lines.sort_by(|a, b| a.0.as_str().as_bytes().cmp(b.0.as_str().as_bytes()));
    let mut hasher = Sha256::new();
    for (path, executable, content) in lines {
        let mode: &[u8] = if executable { b"\x00755\x00" } else { b"\x00644\x00" };
        for part in [path.as_str().as_bytes(), mode, &content.hex_bytes(), b"\n"] {
            hasher.update(part);
        }
    }
    Digest(hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Path, whether it is executable, content.
    type File = (&'static str, bool, &'static str);

    fn tree(files: &[File]) -> Digest {
        let paths: Vec<SafePath> = files.iter().map(|f| SafePath::new(f.0).expect(f.0)).collect();
        tree_digest(paths.iter().zip(files).map(|(path, f)| (path, f.1, Digest::of(f.2.as_bytes()))))
    }

    /// The published vectors: docs/reference/files.md carries the same table, and any tool with
    /// `sha256sum` can reproduce them.
    #[test]
    fn vectors() {
        let vectors: &[(&[File], &str)] = &[
            (&[], "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (
                &[("SKILL.md", false, "")],
                "sha256:448d81e523aec4641978b21cfabf736e3bc2c810b25c705968e5857267135259",
            ),
            (
                &[("SKILL.md", false, "# Skill\n"), ("scripts/run.sh", true, "#!/bin/sh\n")],
                "sha256:15977e9bba45ef57cab1685318c3209e5ec7e0934bd14545e7d4cdcd80660a9f",
            ),
            (
                &[("a-b", false, "1"), ("a/b", false, "2"), ("a.b", false, "3"), ("é", false, "4")],
                "sha256:ef5860f6aa4609931798a7166c866cee10d150ed0120bfe7b550b25aa8911d92",
            ),
        ];
        for (files, digest) in vectors {
            assert_eq!(tree(files).to_string(), *digest, "{files:?}");
        }
    }

    #[test]
    fn order_of_the_input_does_not_matter_but_mode_and_name_do() {
        let one = tree(&[("a", false, "1"), ("b", false, "2")]);
        assert_eq!(one, tree(&[("b", false, "2"), ("a", false, "1")]));
        assert_ne!(one, tree(&[("a", true, "1"), ("b", false, "2")]));
        assert_ne!(one, tree(&[("a", false, "2"), ("b", false, "1")]));
    }

    #[test]
    fn text_round_trips_and_hostile_texts_are_refused() {
        let digest = Digest::of(b"abc");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        let upper = digest.to_string().to_uppercase();
        for text in ["", "sha256:", "sha256:00", &upper, "md5:00", &format!("{digest}0"), &"é".repeat(40)] {
            assert!(text.parse::<Digest>().is_err(), "{text}");
        }
    }
}
