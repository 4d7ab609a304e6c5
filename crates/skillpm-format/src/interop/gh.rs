//! The data that `gh skill` writes into the frontmatter of the copies that it installs.
//!
//! It reads the frontmatter, adds its keys to `metadata` and rewrites everything: in another order, with other quotes.
//! So a copy is compared with its source by meaning.

use crate::document::{Document, Node, Style, Value};

/// The keys of `metadata`; the last two were written by older versions.
pub const INJECTED: &[&str] = &[
    "github-repo",
    "github-ref",
    "github-tree-sha",
    "github-path",
    "github-pinned",
    "local-path",
    "github-owner",
    "github-sha",
];

/// The source of a copy according to `gh skill`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Provenance {
    /// A repository.
    GitHub {
        /// The address.
        repository: String,
        /// `refs/tags/v1`, `refs/heads/main` or a commit.
        reference: Option<String>,
        /// The directory of the skill, or the path of its `SKILL.md`.
        path: Option<String>,
        /// The id that git gives the skill's directory.
        tree: Option<String>,
    },
    /// A directory on the machine where it was installed.
    Local(String),
}

/// Reads the data that `gh skill` wrote into `document`; `None` if it wrote nothing.
pub fn provenance(document: &Document) -> Option<Provenance> {
    let get = |key| document.metadata_get(key).filter(|text| !text.is_empty()).map(ToOwned::to_owned);
    if let Some(repository) = get("github-repo") {
        return Some(Provenance::GitHub {
            repository,
            reference: get("github-ref"),
            path: get("github-path"),
            tree: get("github-tree-sha"),
        });
    }
    get("local-path").map(Provenance::Local)
}

/// Reports whether `copy` has the same meaning as `source`, apart from the keys that `gh skill` adds.
pub fn says_the_same(source: &[u8], copy: &[u8]) -> bool {
    let [source, copy] = [source, copy].map(|bytes| Document::from_bytes(bytes.to_vec()));
    let body = |document: &Document| document.body().replace("\r\n", "\n").trim_matches('\n').to_owned();
    match (source.frontmatter(), copy.frontmatter()) {
        (Some(one), Some(other)) => same_entries(one, other, true) && body(&source) == body(&copy),
        _ => false,
    }
}

/// Reports whether two mappings have the same entries in any order. At the top level, `metadata` is compared without
/// the added keys, and counts as missing if nothing else is in it.
fn same_entries(one: &Node, other: &Node, top: bool) -> bool {
    let counts = |(key, value): &&(Node, Node)| {
        let metadata = top && key.text() == Some("metadata");
        !(metadata
            && without_injected(value).next().is_none()
            && !matches!(value.value, Value::Sequence { .. }))
    };
    let entries = |node: &Node| node.pairs().iter().filter(counts).count();
    entries(one) == entries(other)
        && one.pairs().iter().filter(counts).all(|(key, value)| {
            let Some(found) = key.text().and_then(|key| other.get(key)) else { return false };
            if top && key.text() == Some("metadata") {
                let pairs = |node| without_injected(node).collect::<Vec<_>>();
                let (one, other) = (pairs(value), pairs(found));
                let there = |(key, value): &&(Node, Node)| {
                    other.iter().any(|(name, found)| name.text() == key.text() && same(value, found))
                };
                return one.len() == other.len() && one.iter().all(there);
            }
            same(value, found)
        })
}

fn without_injected(node: &Node) -> impl Iterator<Item = &(Node, Node)> {
    node.pairs().iter().filter(|(key, _)| key.text().is_none_or(|text| !INJECTED.contains(&text)))
}

fn same(one: &Node, other: &Node) -> bool {
    match (&one.value, &other.value) {
        (Value::Mapping { .. }, Value::Mapping { .. }) => same_entries(one, other, false),
        (Value::Sequence { items: one, .. }, Value::Sequence { items: other, .. }) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Scalar { text: a, style: left }, Value::Scalar { text: b, style: right }) => {
            let number = |text: &str| text.parse::<f64>().ok();
            let empty = |text: &str| matches!(text, "" | "~" | "null");
            a.trim_end() == b.trim_end()
                || ([left, right].iter().all(|style| **style == Style::Plain)
                    && ((empty(a) && empty(b)) || number(a).is_some_and(|a| Some(a) == number(b))))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "---\nname: pdf\ndescription: >-\n  Reads PDF files.\n  Use it.\nlicense: \"MIT\"\nmetadata:\n  \
                          version: 1.0\n  tags: [a, b]\n---\n\n# PDF\n";
    /// A copy as `gh` writes it: sorted, four spaces deep.
    const COPY: &str = "---\ndescription: Reads PDF files. Use it.\nlicense: MIT\nmetadata:\n    github-path: skills/pdf\n    \
                        github-ref: refs/tags/v1\n    github-repo: https://github.com/o/r\n    github-tree-sha: 7a5507\n    \
                        tags:\n        - a\n        - b\n    version: 1.0\nname: pdf\n---\n# PDF\n";

    /// INTEROP, section 3.
    #[test]
    fn a_copy_says_what_its_source_says() {
        let same = |one: &str, other: &str| says_the_same(one.as_bytes(), other.as_bytes());
        assert!(same(SOURCE, COPY));
        assert!(same(SOURCE, &SOURCE.replace('\n', "\r\n")));
        for (from, to) in [
            ("# PDF", "# PDF!"),
            ("license: MIT", "license: BSD"),
            ("        - b\n", ""),
            ("    version: 1.0\n", "    version: 1.1\n"),
            ("name: pdf\n", "name: pdf\nallowed-tools: Bash\n"),
            ("license: MIT\n", ""),
        ] {
            let edited = COPY.replace(from, to);
            assert_ne!(edited, COPY, "{from}");
            assert!(!same(SOURCE, &edited), "{from}");
        }
        let bare = "---\nname: x\ndescription: y\n---\nbody\n";
        assert!(same(bare, "---\nname: x\nmetadata:\n    local-path: /x\ndescription: y\n---\nbody\n"));
        assert!(!same(
            bare,
            "---\nname: x\nmetadata:\n    own: 1\n    local-path: /x\ndescription: y\n---\nbody\n"
        ));
        assert!(!same("no frontmatter", "no frontmatter"));
    }

    #[test]
    fn where_a_copy_comes_from() {
        let read = |text: &str| provenance(&Document::parse(text.to_owned()));
        assert_eq!(
            read(COPY),
            Some(Provenance::GitHub {
                repository: "https://github.com/o/r".to_owned(),
                reference: Some("refs/tags/v1".to_owned()),
                path: Some("skills/pdf".to_owned()),
                tree: Some("7a5507".to_owned()),
            })
        );
        assert_eq!(read("---\nmetadata:\n  local-path: /x\n---\n"), Some(Provenance::Local("/x".to_owned())));
        assert_eq!(read(SOURCE), None);
    }
}
