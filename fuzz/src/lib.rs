//! What the fuzz targets do: read bytes from anywhere, and hold the readers to their promises.
//!
//! Each function takes any bytes and panics where a promise is broken. cargo-fuzz calls them from
//! `fuzz_targets/`; `tests/slow/fuzz_smoke.rs` includes this file and calls them with fixed inputs,
//! so that they are compiled and run by `cargo test` too.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use skillpm_core::engine::tools::{self, Language};
use skillpm_format::document::{Document, MAX_NODES, Node, Split, Value, split, split_prefix};
use skillpm_format::lint::{self, Profile, Ruleset, Subject};
use skillpm_format::lockfile::Lockfile;
use skillpm_format::manifest::Manifest;
use skillpm_format::path::SafePath;
use skillpm_format::refusal::Limits;
use skillpm_format::skill;
use skillpm_format::spec::{Reference, Repository, SourceSpec};
use skillpm_format::tree::{Node as Entry, ReadError};
use skillpm_sources::archive::{self, Archive};
use skillpm_sources::fs::SharedFile;

/// Frontmatter is read from any bytes, and every place in it is a place of the text.
pub fn frontmatter(bytes: &[u8]) {
    let document = Document::from_bytes(bytes.to_vec());
    let text = document.text();
    let holds = |span: &Range<usize>| assert!(text.get(span.clone()).is_some(), "{span:?}");
    holds(&document.opening_span());
    document.yaml_span().iter().for_each(holds);
    assert!(text.ends_with(document.body()));
    for problem in document.problems() {
        holds(&problem.span);
        assert!(!problem.to_string().is_empty());
        assert!(document.position(problem.span.start).line > 0);
    }
    let mut nodes: Vec<&Node> = document.frontmatter().into_iter().collect();
    let mut count = 0;
    while let Some(node) = nodes.pop() {
        holds(&node.span);
        count += 1;
        match &node.value {
            Value::Scalar { .. } => {}
            Value::Sequence { items, .. } => nodes.extend(items),
            Value::Mapping { pairs, .. } => nodes.extend(pairs.iter().flat_map(|(key, value)| [key, value])),
        }
    }
    // A frontmatter that is read key by key has the limit for each of its lines.
    assert!(count <= MAX_NODES + bytes.len(), "{count} values");
    if let (Split::Found(early), Split::Found(parts)) = (split_prefix(bytes), split(bytes)) {
        assert_eq!(early, parts, "the start of a file says the same as all of it");
    }
}

/// A `SKILL.md` is loaded and checked in every profile; findings and repairs lie in the text.
pub fn document(bytes: &[u8]) {
    let document = Document::from_bytes(bytes.to_vec());
    let text = document.text();
    if let Ok(loaded) = skill::load(&document) {
        assert!(!loaded.meta.name.trim().is_empty() && !loaded.meta.description.trim().is_empty());
    }
    let subject = Subject::new(&document, Some("pdf"), "SKILL.md");
    for (_, profile) in Profile::ALL {
        let findings = lint::check_with(&subject, &Ruleset::new(profile));
        assert!(findings.is_sorted_by_key(|finding| finding.span.start));
        for finding in findings {
            assert!(text.get(finding.span.clone()).is_some(), "{finding:?}");
            for edit in finding.fix.iter().flat_map(|fix| &fix.edits) {
                assert!(text.get(edit.span.clone()).is_some(), "{edit:?}");
            }
        }
    }
}

/// A zip archive is read or refused.
pub fn zip(bytes: &[u8]) {
    read_archive(bytes, |file, limits| archive::open_zip(Arc::new(file), limits));
}

/// A tar archive is read or refused, plain or in gzip.
pub fn tar(bytes: &[u8]) {
    read_archive(bytes, |file, limits| archive::open_tar(Arc::new(file), limits));
    read_archive(bytes, |file, limits| archive::open_tar_gz(&file, limits));
}

/// Opens `bytes` and reads all that is in them: every content has the size that was declared.
fn read_archive(bytes: &[u8], open: impl Fn(SharedFile, &Limits) -> Result<Archive, ReadError>) {
    // Small, so that a bomb is told from patience.
    let limits = Limits { archive_bytes: 1 << 20, archive_content: 8 << 20, ..Limits::default() };
    let mut file = skillpm_sources::fs::anonymous_temp_file().expect("a temporary file");
    file.write_all(bytes).expect("room for it");
    let file = SharedFile::from_file(file).expect("a file has a length");
    let Ok(archive) = open(file, &limits) else { return };
    for (path, entry) in archive.tree.entries() {
        assert!(!path.is_empty() && !path.starts_with('/'), "{path:?}");
        assert!(path.split('/').all(|part| !matches!(part, "" | "." | "..")), "{path:?}");
        if let Entry::File { size, .. } = entry.node
            && let Ok(content) = archive.tree.read(path, limits.archive_content)
        {
            assert_eq!(content.len() as u64, size, "{path:?}");
        }
    }
    if let Ok(files) = archive.tree.without_wrapper().skill("", &limits) {
        // The content may still be refused.
        drop(files.digest());
    }
}

/// A lockfile that is accepted says the same when it is written and read again.
pub fn lockfile(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok(lockfile) = Lockfile::parse(text) {
        let written = lockfile.to_string();
        let again = Lockfile::parse(&written).expect("what was written can be read");
        assert_eq!(written, again.to_string());
    }
}

/// A manifest that is accepted is written as it was read.
pub fn manifest(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok(manifest) = Manifest::parse(text) {
        let again = Manifest::parse(&manifest.to_string()).expect("what was written can be read");
        assert_eq!(manifest.skills(), again.skills());
        assert_eq!(manifest.agents(), again.agents());
    }
}

/// What was meant by a source does not change when it is shown and read again, but for directories
/// and revisions with `@` or `#`: only the address of a page can name those.
pub fn spec(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let is_short = |spec: &SourceSpec| {
        let parts =
            [spec.path.as_deref(), spec.reference.as_ref().map(Reference::name), spec.skill.as_deref()];
        !parts.into_iter().flatten().any(|part| part.contains(['@', '#']))
    };
    if let Ok(spec) = text.parse::<SourceSpec>()
        && is_short(&spec)
    {
        let shown = spec.to_string();
        let again = shown.parse::<SourceSpec>().unwrap_or_else(|error| panic!("{shown:?}: {error}"));
        assert_eq!(spec, again, "{shown:?}");
    }
    if let Ok(repository) = Repository::parse(text) {
        assert_eq!(Repository::parse(&repository.to_string()), Ok(repository));
    }
    if let Ok(reference) = Reference::any(text) {
        assert!(!reference.name().starts_with('-'), "{reference}");
    }
}

/// A path that is accepted stays below the directory that it is joined to.
pub fn safe_path(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(path) = SafePath::new(text) else { return };
    assert_eq!(path.as_str(), text);
    let below = path.to_path_buf();
    assert!(below.components().all(|part| matches!(part, std::path::Component::Normal(_))), "{text:?}");
    assert_eq!(below.components().count(), text.split('/').count(), "{text:?}");
    assert!(path.ancestors().all(|dir| SafePath::new(dir).is_ok()), "{text:?}");
    assert!(!path.collision_key().is_empty());
}

/// A script of any language is looked at, and what is told of it is a schema with names that differ. A
/// manifest of tools is read or refused.
pub fn script(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for language in [Language::Python, Language::Shell, Language::JavaScript, Language::Other(String::new())]
    {
        let (description, input) = tools::read_script(&language, &text, "x.py");
        assert!(description.is_none_or(|text| !text.trim().is_empty()));
        let Some(input) = input else { continue };
        let schema = input.schema();
        let count = schema["properties"].as_object().map(serde_json::Map::len);
        assert_eq!(count, Some(input.parameters.len()), "{schema}");
    }
    if let Err(faults) = tools::check_manifest(&text) {
        assert!(!faults.is_empty() && faults.iter().all(|fault| fault.at.line > 0));
    }
}
