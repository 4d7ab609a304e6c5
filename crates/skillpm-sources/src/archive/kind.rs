//! Detection of a file's kind by its first bytes.

use std::io;

use super::bytes::at_most;
use crate::fs::SharedFile;
use crate::refusal::Refusal;

/// The kinds of archive that can be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Zip,
    Gzip,
    Tar,
}

/// Returns the first 512 bytes of `file`, or all if there are fewer.
pub(super) fn head(file: &SharedFile) -> io::Result<Vec<u8>> {
    let mut head = vec![0; at_most(file.len(), 512)];
    file.read_exact_at(&mut head, 0)?;
    Ok(head)
}

/// Returns the kind of archive that starts with `head`, if it is one.
pub(super) fn of(head: &[u8]) -> Option<Kind> {
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        Some(Kind::Zip)
    } else if head.starts_with(&[0x1F, 0x8B]) {
        Some(Kind::Gzip)
    } else if head.get(257..262) == Some(b"ustar") {
        Some(Kind::Tar)
    } else {
        None
    }
}

/// Returns the refusal of a file that starts with `head` if `expected` was requested.
pub(super) fn refusal(expected: &'static str, head: &[u8]) -> Refusal {
    Refusal::NotAnArchive { expected, found: describe(head) }
}

/// Describes what a file that starts with `head` looks like, with an article.
///
/// A download that is not the archive is most often a login page or an error in JSON.
fn describe(head: &[u8]) -> &'static str {
    const MAGIC: &[(&[u8], &str)] = &[
        (b"\xFD7zXZ\0", "an xz file"),
        (b"BZh", "a bzip2 file"),
        (b"\x28\xB5\x2F\xFD", "a zstd file"),
        (b"7z\xBC\xAF\x27\x1C", "a 7z archive"),
        (b"Rar!", "a rar archive"),
        (b"%PDF", "a PDF document"),
        (b"PK", "a part of a zip archive"),
        (b"version https://git-lfs", "a Git LFS pointer"),
    ];
    match of(head) {
        Some(Kind::Zip) => return "a zip archive",
        Some(Kind::Gzip) => return "a gzip file",
        Some(Kind::Tar) => return "a tar archive",
        None => {}
    }
    if head.is_empty() {
        return "an empty file";
    }
    if let Some((_, name)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return name;
    }
    describe_text(head)
}

fn describe_text(head: &[u8]) -> &'static str {
    // The cut after 512 bytes may split a character.
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return "binary data",
    };
    let text = text.trim_start_matches('\u{feff}').trim_start().to_ascii_lowercase();
    if text.starts_with("<!doctype html") || text.starts_with('<') && text.contains("<html") {
        "an HTML page"
    } else if text.starts_with('<') {
        "an XML document"
    } else if text.starts_with(['{', '[']) {
        "JSON"
    } else if text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        "binary data"
    } else {
        "a text file"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_no_archives_are_named() {
        let cases: &[(&[u8], &str)] = &[
            (b"", "an empty file"),
            (b"\n<!DOCTYPE html><title>Sign in</title>", "an HTML page"),
            (b"<?xml version='1.0'?><html>", "an HTML page"),
            (b"<?xml version='1.0'?><Error/>", "an XML document"),
            (b"{\"message\":\"Not Found\"}", "JSON"),
            (b"404: Not Found", "a text file"),
            (b"---\nname: x\n---\n", "a text file"),
            (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
            (b"\x1F\x8B\x08", "a gzip file"),
            (b"\xFD7zXZ\0", "an xz file"),
            (b"\xFF\xFE\x00", "binary data"),
            (b"a\0b", "binary data"),
            ("é".as_bytes().split_at(1).0, "a text file"),
        ];
        for (head, found) in cases {
            assert_eq!(describe(head), *found, "{head:?}");
        }
    }
}
