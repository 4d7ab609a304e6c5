//! Writing `metadata.version` into a skill's file.

use serde_json::Value as Json;

use super::apply::patched;
use super::edits::{newline, set_value};
use super::entries::{Moved, insert_metadata, is_simple, move_below};
use super::{Edit, Fix, Subject, is_text};
use crate::document::{self, Document, Node, Style, Value};
use crate::skill::SKILL_FILE;
use crate::version::Version;

const KEY: &str = "version";

/// Returns the text of `document` with `version` as its `metadata.version`, which is added if it is missing. A `version` at
/// the top level is moved there first. Everything else stays byte for byte, and the quotes of the value stay as they are if
/// every reader then reads it as text.
///
/// Returns `None` if the frontmatter has a form in which that cannot be done safely.
pub fn set_version(document: &Document, version: &Version) -> Option<String> {
    if !is_text(document) {
        return None;
    }
    let moved = moved(document)?;
    let start = moved.as_ref().unwrap_or(document);
    let edits = edits(start, version)?;
    let new = Document::parse(edited(start, edits));
    let is_set = new.metadata_get(KEY) == Some(version.as_str());
    let same = new.body() == document.body()
        && new.problems().len() <= document.problems().len()
        && other_fields(&new, false) == other_fields(document, moved.is_some());
    (is_set && same).then(|| new.into_text())
}

fn edited(document: &Document, edits: Vec<Edit>) -> String {
    patched(document.text(), &[&Fix::safe(KEY, edits)])
}

/// Returns the document with its top-level version below `metadata`. Returns `None` inside if it needs no move, and
/// `None` if it cannot be moved.
#[expect(clippy::option_option, reason = "nothing to do is not a failure")]
fn moved(document: &Document) -> Option<Option<Document>> {
    let subject = Subject::new(document, None, SKILL_FILE);
    let below = document.get("metadata").and_then(|metadata| metadata.get(KEY));
    let Some((key, value)) = subject.field(KEY).filter(|(_, value)| below.is_none() && !value.is_absent())
    else {
        return Some(None);
    };
    let (_, edits) = move_below(&subject, vec![Moved::new(&subject, KEY, key, value)?])?;
    Some(Some(Document::parse(edited(document, edits))))
}

/// Returns the edits that set `metadata.version`.
fn edits(document: &Document, version: &Version) -> Option<Vec<Edit>> {
    if let Some((key, value)) = document.get("metadata").and_then(|metadata| metadata.entry(KEY)) {
        return set_value(document, key, value, &written(value, version.as_str()));
    }
    let subject = Subject::new(document, None, SKILL_FILE);
    let at = document.yaml_span()?.end;
    if !is_simple(&subject) || !document.text().get(..at)?.ends_with('\n') {
        return None;
    }
    let entry = (KEY, document::double_quoted(version.as_str()), "");
    Some(vec![insert_metadata(&subject, &[entry], at, newline(document))?])
}

/// Returns `version` in the quotes of `old`, if it is text in them, otherwise in double quotes.
fn written(old: &Node, version: &str) -> String {
    match old.value {
        Value::Scalar { style: Style::SingleQuoted, .. } => format!("'{version}'"),
        Value::Scalar { style: Style::Plain, .. } if !old.is_absent() => document::write_scalar(version),
        _ => document::double_quoted(version),
    }
}

/// Returns the fields other than `metadata.version`, in their order; with `without_legacy` also without the one at the
/// top level.
fn other_fields(document: &Document, without_legacy: bool) -> Vec<(Option<String>, Json)> {
    let mut fields = Vec::new();
    for (key, value) in document.frontmatter().map(Node::pairs).unwrap_or_default() {
        let (key, mut value) = (key.flat_text(), value.to_json());
        match key.as_deref() {
            Some(KEY) if without_legacy => continue,
            Some("metadata") => {
                if let Some(metadata) = value.as_object_mut() {
                    metadata.remove(KEY);
                }
                // It may be there for the version alone.
                if value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty) {
                    continue;
                }
            }
            _ => {}
        }
        fields.push((key, value));
    }
    fields
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn set(yaml: &str) -> Option<String> {
        let document = Document::parse(format!("---\n{yaml}---\nBody\n"));
        let text = set_version(&document, &Version::new("1.3").expect("a version"))?;
        Some(text.strip_prefix("---\n")?.strip_suffix("---\nBody\n")?.to_owned())
    }

    #[test]
    fn the_value_is_replaced_in_its_place() {
        for (before, after) in [
            (
                "metadata:\n  version: \"1.2\" # why\n  a: b\n",
                "metadata:\n  version: \"1.3\" # why\n  a: b\n",
            ),
            ("metadata:\n  version: '1.2'\nname: x\n", "metadata:\n  version: '1.3'\nname: x\n"),
            // Without quotes it would be a number.
            ("metadata:\n  version: 1.2\n", "metadata:\n  version: \"1.3\"\n"),
            ("metadata:\n  version:   1.2.0\n", "metadata:\n  version: \"1.3\"\n"),
            ("metadata:\n  version:\n", "metadata:\n  version: \"1.3\"\n"),
            ("metadata:\r\n    version: latest\r\n", "metadata:\r\n    version: \"1.3\"\r\n"),
            ("metadata: {a: b, version: '1.2'}\n", "metadata: {a: b, version: '1.3'}\n"),
            ("{name: x, metadata: {version: '1.2'}}\n", "{name: x, metadata: {version: '1.3'}}\n"),
        ] {
            assert_eq!(set(before).as_deref(), Some(after), "{before}");
        }
        let document = Document::parse("---\nmetadata:\n  version: 1.2.9\n---\n".to_owned());
        let text = set_version(&document, &Version::new("1.2.10").expect("a version"));
        assert_eq!(text.as_deref(), Some("---\nmetadata:\n  version: 1.2.10\n---\n"));
    }

    #[test]
    fn it_is_added_or_moved() {
        for (before, after) in [
            ("name: x # n\n", "name: x # n\nmetadata:\n  version: \"1.3\"\n"),
            (
                "name: x\nmetadata:\n    # c\n    a: b\n",
                "name: x\nmetadata:\n    # c\n    version: \"1.3\"\n    a: b\n",
            ),
            ("metadata:\nname: x\n", "metadata:\n  version: \"1.3\"\nname: x\n"),
            ("metadata: {a: b}\n", "metadata: {version: \"1.3\", a: b}\n"),
            ("version: 1.2 # v\nname: x\n", "metadata:\n  version: \"1.3\" # v\nname: x\n"),
        ] {
            assert_eq!(set(before).as_deref(), Some(after), "{before}");
        }
        let document = Document::parse("---\r\nname: x\r\n---\r\n".to_owned());
        let text = set_version(&document, &Version::new("0.1.0").expect("a version"));
        assert_eq!(text.as_deref(), Some("---\r\nname: x\r\nmetadata:\r\n  version: \"0.1.0\"\r\n---\r\n"));
    }

    #[test]
    fn where_something_would_be_lost_nothing_is_changed() {
        for yaml in [
            "{name: x}\n",
            "metadata: text\n",
            "metadata:\n  - a\n",
            "version: {a: b}\nname: x\n",
            "version: |\n  1\n",
            "description: a: b\n",
            "metadata:\n  version: &v 1.2\n  other: *v\n",
        ] {
            assert_eq!(set(yaml), None, "{yaml}");
        }
        assert_eq!(set_version(&Document::parse("# No skill\n".into()), &Version::new("1").unwrap()), None);
        let bytes = b"---\nname: x\n---\n\xff".to_vec();
        assert_eq!(set_version(&Document::from_bytes(bytes), &Version::new("1").unwrap()), None);
    }

    proptest! {
        /// Only the version changes.
        #[test]
        fn only_the_version_changes(yaml in "(name: x\n|metadata:\n  ([a-z]: [a-z\"'{}]{0,4}( #c)?\n|  )|  version: [0-9.'\"]{0,4}\n|version: [0-9]\n|\\PC{0,8}\n){0,6}") {
            let document = Document::parse(format!("---\n{yaml}---\nBody\n"));
            if let Some(text) = set_version(&document, &Version::new("7.0.0").expect("a version")) {
                let new = Document::parse(text.clone());
                prop_assert_eq!(new.version(), Some("7.0.0"));
                let lines = |text: &str| -> Vec<String> {
                    text.lines().filter(|line| !line.contains("version") && *line != "metadata:").map(str::to_owned).collect()
                };
                let in_braces = yaml.contains('{');
                prop_assert!(in_braces || lines(&text) == lines(document.text()));
            }
        }
    }
}
