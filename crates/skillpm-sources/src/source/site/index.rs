//! The index of a site, in discovery versions 0.1 and 0.2.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::digest::Digest;
use crate::http::{Url, encode};
use crate::name::SkillName;
use crate::path::SafePath;
use crate::text::visible_name;

/// The `$schema` of an index of version 0.2. An index of version 0.1 has none.
const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";

/// The index of a site.
#[derive(Debug)]
pub(super) struct Index {
    /// The address of the index: relative addresses in it are relative to this.
    pub(super) url: Url,
    /// The skills, in the order of the index.
    pub(super) entries: Vec<IndexEntry>,
}

/// A skill of an index.
#[derive(Debug)]
pub(super) struct IndexEntry {
    /// The name. In a usable entry, the specification accepts it.
    pub(super) name: String,
    /// What the skill does and when to use it.
    pub(super) description: String,
    /// The location of its files, or why they cannot be fetched.
    pub(super) content: Result<Content, String>,
}

/// The location of a skill's files.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// One by one (version 0.1).
    Files(Vec<(SafePath, Url)>),
    /// In one file, an archive or the `SKILL.md` itself (version 0.2).
    Artifact {
        url: Url,
        digest: Digest,
        /// Whether the index declares the file to be the `SKILL.md` itself.
        document: bool,
    },
}

/// Why a text is not an index.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum IndexError {
    #[error("it is {0}")]
    OtherFile(&'static str),
    #[error("{line}:{column}: it is not JSON: {message}")]
    Json { line: usize, column: usize, message: String },
    #[error("it has no list `skills`")]
    NoSkills,
    #[error("its format `{}` is not known to this skillpm", visible_name(.0))]
    Schema(String),
}

impl Index {
    /// Parses the index `bytes`, which came from `url`. `most` is the largest number of files in a skill.
    ///
    /// An error in an entry affects only that entry: the others can be used.
    pub(super) fn parse(bytes: &[u8], url: Url, most: u64) -> Result<Self, IndexError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{' | b'[') => {}
            Some(b'<') => return Err(IndexError::OtherFile("a page, not an index")),
            Some(_) => return Err(IndexError::OtherFile("a file that is not JSON")),
            None => return Err(IndexError::OtherFile("an empty file")),
        }
        let value: Value = serde_json::from_slice(bytes).map_err(|error| IndexError::Json {
            line: error.line(),
            column: error.column(),
            message: error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
        })?;
        let has_digests = match value.get("$schema") {
            None => false,
            Some(Value::String(schema)) if schema == SCHEMA => true,
            Some(other) => {
                return Err(IndexError::Schema(
                    other.as_str().map_or_else(|| other.to_string(), ToOwned::to_owned),
                ));
            }
        };
        let Some(list) = value.get("skills").and_then(Value::as_array) else {
            return Err(IndexError::NoSkills);
        };
        let read = |(at, entry)| read(entry, at, &url, has_digests, most);
        let entries = once(list.iter().enumerate().map(read));
        Ok(Self { url, entries })
    }
}

/// Keeps one of several entries with the same name and marks it unusable: it is ambiguous which one is meant.
fn once(entries: impl Iterator<Item = IndexEntry>) -> Vec<IndexEntry> {
    let mut kept: Vec<IndexEntry> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for entry in entries {
        if let Some(first) = places.get(&entry.name).and_then(|at| kept.get_mut(*at)) {
            first.content = Err("the index lists it more than once".to_owned());
        } else {
            places.insert(entry.name.clone(), kept.len());
            kept.push(entry);
        }
    }
    kept
}

fn read(value: &Value, at: usize, base: &Url, has_digests: bool, most: u64) -> IndexEntry {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let name = text("name").map_or_else(|| format!("skills[{at}]"), ToOwned::to_owned);
    let content = value
        .as_object()
        .ok_or_else(|| "its entry in the index is not an object".to_owned())
        .and_then(|object| check(object, base, has_digests, most));
    IndexEntry { name, description: text("description").unwrap_or_default().to_owned(), content }
}

fn check(entry: &Map<String, Value>, base: &Url, has_digests: bool, most: u64) -> Result<Content, String> {
    let name = string(entry, "name")?;
    if !name.is_ascii() {
        return Err("its `name` in the index has letters other than `a` to `z`".to_owned());
    }
    SkillName::new(name).map_err(|error| format!("its `name` in the index is invalid: {error}"))?;
    string(entry, "description")?;
    if has_digests { artifact(entry, base) } else { files(entry, name, base, most) }
}

fn string<'a>(entry: &'a Map<String, Value>, key: &str) -> Result<&'a str, String> {
    match entry.get(key) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text),
        Some(Value::String(_)) => Err(format!("its entry in the index has an empty `{key}`")),
        Some(_) => Err(format!("its entry in the index has a `{key}` that is not text")),
        None => Err(format!("its entry in the index has no `{key}`")),
    }
}

fn artifact(entry: &Map<String, Value>, base: &Url) -> Result<Content, String> {
    let kind = string(entry, "type")?;
    if !matches!(kind, "skill-md" | "archive") {
        return Err(format!(
            "its entry in the index has the `type` `{kind}`, which is neither `skill-md` nor `archive`"
        ));
    }
    let reference = string(entry, "url")?;
    let digest = string(entry, "digest")?.parse().map_err(|error: crate::digest::DigestError| {
        format!("the `digest` in its entry in the index: {error}")
    })?;
    let wrong = |why: &str| format!("its entry in the index has the `url` `{}`: {why}", shown(reference));
    if !reference.bytes().all(|b| b.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&b)) {
        return Err(wrong("it has characters that addresses cannot have"));
    }
    let url = base.join(reference).map_err(|error| match error {
        crate::http::HttpError::Address { reason, .. } => wrong(reason),
        other => wrong(&other.to_string()),
    })?;
    if base.is_https() && !url.is_https() {
        return Err(wrong("this would leave the secure connection"));
    }
    Ok(Content::Artifact { url, digest, document: kind == "skill-md" })
}

fn files(entry: &Map<String, Value>, name: &str, base: &Url, most: u64) -> Result<Content, String> {
    let Some(Value::Array(list)) = entry.get("files") else {
        return Err(
            "its entry in the index has no list `files`, which one without `$schema` needs".to_owned()
        );
    };
    if list.len() as u64 > most {
        return Err(format!("its entry in the index lists {} files, {most} are allowed", list.len()));
    }
    let mut seen = BTreeSet::new();
    let mut files = Vec::with_capacity(list.len());
    for path in list {
        let Some(path) = path.as_str() else {
            return Err("its entry in the index lists a file that is not a path".to_owned());
        };
        let safe = SafePath::new(path)
            .map_err(|reason| format!("its entry in the index lists the file `{}`: {reason}", shown(path)))?;
        if !seen.insert(path) {
            return Err(format!("its entry in the index lists the file `{path}` twice"));
        }
        let url = base
            .join(&format!("{name}/{}", encode(path)))
            .map_err(|error| format!("its file `{path}` in the index: {error}"))?;
        files.push((safe, url));
    }
    if !seen.iter().any(|path| path.eq_ignore_ascii_case("SKILL.md")) {
        return Err("its entry in the index lists no `SKILL.md`".to_owned());
    }
    Ok(Content::Files(files))
}

/// Returns the start of a text for a message.
fn shown(text: &str) -> String {
    // A user name or password before the host is not repeated.
    let end = text.find('@').map_or(text.len(), |at| at + 1);
    let text = if text[..end].contains("//") && end < text.len() { &text[end..] } else { text };
    text.split('?').next().unwrap_or_default().chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn url(text: &str) -> Url {
        Url::parse(text).expect(text)
    }

    /// Returns the address of the artifact that an entry of the index at `base` names as `reference`.
    fn artifact(base: &str, reference: &str) -> Result<String, String> {
        let entry = serde_json::json!({
            "name": "pdf", "description": "D.", "type": "archive", "url": reference, "digest": DIGEST,
        });
        let index = serde_json::json!({"$schema": SCHEMA, "skills": [entry]}).to_string();
        let index = Index::parse(index.as_bytes(), url(base), 9).expect("an index");
        match &index.entries[0].content {
            Ok(Content::Artifact { url, .. }) => Ok(url.secret_text()),
            other => Err(format!("{other:?}")),
        }
    }

    /// INTEROP 6: relative to the index, other hosts allowed, never from https to http.
    #[test]
    fn artifacts_lie_relative_to_the_index() {
        let base = "https://h.example/team/.well-known/agent-skills/index.json";
        let cases = [
            ("pdf.zip", "https://h.example/team/.well-known/agent-skills/pdf.zip"),
            ("../../x/pdf.zip?v=1#f", "https://h.example/team/x/pdf.zip?v=1"),
            ("../../../../../pdf.zip", "https://h.example/pdf.zip"),
            ("/pdf.zip", "https://h.example/pdf.zip"),
            ("//cdn.example/pdf.zip", "https://cdn.example/pdf.zip"),
            ("https://cdn.example:8443/pdf.zip", "https://cdn.example:8443/pdf.zip"),
        ];
        for (reference, expected) in cases {
            assert_eq!(artifact(base, reference).as_deref(), Ok(expected), "{reference}");
        }
        for reference in ["http://h.example/pdf.zip", "http://127.0.0.1/x"] {
            let problem = artifact(base, reference).expect_err(reference);
            assert!(problem.contains("this would leave the secure connection"), "{problem}");
        }
        assert!(artifact("http://h.example/index.json", "http://h.example/pdf.zip").is_ok());
    }

    #[test]
    fn a_mark_of_byte_order_is_passed_over() {
        let text = "\u{feff}{\"skills\": []}";
        assert!(Index::parse(text.as_bytes(), url("https://h/"), 9).is_ok());
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "(\\{|\\}|\\[|\\]|:|,|\"(skills|name|files|url|digest|type|\\$schema|SKILL.md|é|\\.\\./x)\"|1|null){0,40}") {
            let _ = Index::parse(text.as_bytes(), url("https://h/"), 9);
            let index = format!("{{\"skills\": [{text}]}}");
            let _ = Index::parse(index.as_bytes(), url("https://h/"), 9);
        }
    }
}
