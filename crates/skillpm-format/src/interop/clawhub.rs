//! The fingerprint by which `clawhub`, the client of the registry ClawHub, identifies an installed version.
//!
//! It covers the files that the client takes for text. The client asks the registry which version has it.

use super::order::{self, OrderError};
use crate::digest::Digest;

/// The number of bytes at the start of a file by which one without an extension is taken for text.
const SAMPLE: usize = 4096;

/// The extensions of text files.
const TEXT: &[&str] = &[
    "md",
    "mdx",
    "txt",
    "json",
    "json5",
    "yaml",
    "yml",
    "toml",
    "js",
    "cjs",
    "mjs",
    "ts",
    "tsx",
    "jsx",
    "py",
    "sh",
    "ps1",
    "psm1",
    "psd1",
    "r",
    "rb",
    "go",
    "rs",
    "swift",
    "kt",
    "java",
    "cs",
    "cpp",
    "c",
    "h",
    "hpp",
    "sql",
    "csv",
    "tsv",
    "ini",
    "cfg",
    "conf",
    "env",
    "properties",
    "dat",
    "xml",
    "html",
    "css",
    "scss",
    "sass",
    "svg",
];

/// Reports whether the fingerprint of a skill covers the file at `path` with the content `bytes`.
pub fn covers(path: &str, bytes: &[u8]) -> bool {
    if path.split('/').any(|part| part.starts_with('.') || part == "node_modules") {
        return false;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && !extension.is_empty() => {
            TEXT.contains(&extension.to_lowercase().as_str())
        }
        _ => {
            let sample = &bytes[..bytes.len().min(SAMPLE)];
            // A letter that the end of the sample cuts makes it no text, as in the client.
            !sample.contains(&0) && std::str::from_utf8(sample).is_ok()
        }
    }
}

/// Returns the fingerprint of a skill, of whose files `files` has the path and the digest of those that [`covers`] reports.
/// Files that say what to ignore, such as `.gitignore`, are not heeded.
///
/// # Errors
///
/// Fails if the order of the paths is not known.
pub fn fingerprint<'a>(files: impl IntoIterator<Item = (&'a str, Digest)>) -> Result<Digest, OrderError> {
    let files: std::collections::BTreeMap<_, _> = files.into_iter().collect();
    let mut paths: Vec<&str> = files.keys().copied().collect();
    order::sort(&mut paths)?;
    let lines: Vec<_> = paths.iter().map(|path| format!("{path}:{}", files[path].hex())).collect();
    Ok(Digest::of(lines.join("\n").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_outside_hidden_places_is_covered() {
        let cut = ["x".repeat(SAMPLE - 1).as_bytes(), "é".as_bytes()].concat();
        for (path, bytes, expected) in [
            ("SKILL.md", &b""[..], true),
            ("references/A.JSON", b"", true),
            ("assets/logo.png", b"text", false),
            ("LICENSE", b"text", true),
            ("LICENSE.", b"text", true),
            ("bin/tool", b"\x7fELF\0", false),
            ("bin/latin", b"\xe9", false),
            ("bin/cut", &cut, false),
            (".env", b"", false),
            (".github/x.md", b"", false),
            ("a/node_modules/x.js", b"", false),
            ("a.b/LICENSE", b"text", true),
        ] {
            assert_eq!(covers(path, bytes), expected, "{path}");
        }
    }

    /// The values that `clawhub` 0.20.0 computes.
    #[test]
    fn a_fingerprint_is_that_of_the_client() {
        let files = ["SKILL.md", "references/a.md", "LICENSE", "references/B.md"];
        let of = |files: &[&'static str]| {
            fingerprint(files.iter().map(|path| (*path, Digest::of(path.as_bytes())))).expect("an order")
        };
        assert_eq!(of(&files).hex(), "5cb24e204bb5869cd151686b5acf501adfd08754152678af2950685d410a25d3");
        assert_eq!(of(&[]), Digest::of(b""));
    }
}
