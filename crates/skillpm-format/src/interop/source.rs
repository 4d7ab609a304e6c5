//! Conversion between the sources of other tools and skillpm's.

use super::skills_lock::LockedEntry;
pub use crate::spec::NotExpressible;
use crate::spec::{Foreign, KINDS, Origin, PUBLIC_HOST, Reference, SourceSpec, is_commit};

/// The fields with which another tool records the source of a skill.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fields<'a> {
    /// `sourceType`.
    pub kind: &'a str,
    /// `source`.
    pub source: &'a str,
    /// `sourceUrl`.
    pub url: Option<&'a str>,
    /// `ref`.
    pub reference: Option<&'a str>,
    /// `skillPath`, the path of the `SKILL.md`.
    pub skill_path: Option<&'a str>,
}

/// Returns the source that `fields` mean, without the name of a skill. A local path stays as in the file.
///
/// # Errors
///
/// Returns why there is no such source, as the end of a sentence.
pub fn spec(fields: Fields<'_>) -> Result<SourceSpec, String> {
    let Some(kind) = KINDS.iter().find(|kind| kind.foreign_types.contains(&fields.kind)) else {
        return Err(format!("skillpm does not support sources of the type `{}`", fields.kind));
    };
    let mut spec = (kind.from_foreign)(fields.source, fields.url)?;
    // GitHub always means the public one for these tools, also on a machine with another default host.
    spec.origin = spec.origin.or_on_host(PUBLIC_HOST);
    if let Some(reference) = fields.reference.filter(|_| spec.origin.has_revisions()) {
        spec.reference = Some(read_reference(reference)?);
    }
    if let Some(path) = fields.skill_path {
        spec.path = directory(path)?;
    }
    Ok(spec)
}

/// Returns the reference that `text` means: `refs/tags/v1`, `refs/heads/main`, a commit, or a bare name.
///
/// # Errors
///
/// Fails on a name that no git server accepts.
pub fn read_reference(text: &str) -> Result<Reference, String> {
    let (name, kind): (_, fn(String) -> Reference) = if let Some(name) = text.strip_prefix("refs/tags/") {
        (name, Reference::Tag)
    } else if let Some(name) = text.strip_prefix("refs/heads/") {
        (name, Reference::Branch)
    } else if is_commit(text) {
        (text, Reference::Rev)
    } else {
        (text, Reference::Any)
    };
    Reference::check(name).map_err(|error| error.to_string())?;
    Ok(kind(name.to_owned()))
}

/// Returns the directory of a `SKILL.md`; `None` is the root.
///
/// # Errors
///
/// Fails on a path that leaves the source.
pub fn directory(skill_path: &str) -> Result<Option<String>, String> {
    let path = skill_path.trim_end_matches('/');
    let lower = path.to_ascii_lowercase();
    let directory = match lower.strip_suffix("skill.md") {
        Some(rest) if rest.is_empty() || rest.ends_with('/') => path[..rest.len()].trim_end_matches('/'),
        _ => path,
    };
    if directory.is_empty() {
        return Ok(None);
    }
    crate::spec::check_directory(directory).map_err(|error| error.to_string())?;
    Ok(Some(directory.to_owned()))
}

/// Returns the entry of `skills-lock.json` for a skill from `origin`, whose directory in it is `path`.
///
/// `local` is the path of a local source relative to the file. `hash` is the `computedHash`. The `wellKnownDigest` of a
/// skill of a site is not included.
///
/// # Errors
///
/// Fails for sources that the tool cannot express.
pub fn entry(
    origin: &Origin,
    path: Option<&str>,
    reference: Option<&Reference>,
    local: &str,
    hash: &str,
) -> Result<LockedEntry, NotExpressible> {
    let Foreign { kind, source, url, in_repository } = origin.foreign()?;
    let skill_path = path.map_or_else(|| "SKILL.md".to_owned(), |path| format!("{path}/SKILL.md"));
    Ok(LockedEntry::new([
        ("source", Some(source.as_deref().unwrap_or(local))),
        ("sourceUrl", url.as_deref()),
        ("ref", reference.map(Reference::name).filter(|_| in_repository)),
        ("sourceType", Some(kind)),
        ("skillPath", Some(skill_path.as_str()).filter(|_| in_repository)),
        ("computedHash", Some(hash)),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(
        kind: &str,
        source: &str,
        url: Option<&str>,
        reference: Option<&str>,
        path: Option<&str>,
    ) -> String {
        let fields = Fields { kind, source, url, reference, skill_path: path };
        spec(fields).map_or_else(|error| format!("error: {error}"), |spec| spec.to_string())
    }

    #[test]
    fn every_type_of_source() {
        let cases = [
            (read("github", "o/r", None, None, Some("skills/x/SKILL.md")), "github:o/r/skills/x"),
            (read("github", "o/r", None, Some("v1"), Some("SKILL.md")), "github:o/r#v1"),
            (
                read("git", "git@h:o/r.git", Some("git@h:o/r.git"), None, Some("x/SKILL.md")),
                "git+git@h:o/r.git//x",
            ),
            (read("git", "git@github.com:o/r.git", None, None, None), "github:o/r"),
            (
                read("git", "file:///srv/r", Some("file:///srv/r"), Some("refs/heads/b"), None),
                "git+file:///srv/r#b",
            ),
            (
                read("gitlab", "o/r", Some("https://gitlab.com/g/s/r.git"), None, None),
                "git+https://gitlab.com/g/s/r.git",
            ),
            (read("local", "../x", None, Some("v1"), None), "../x"),
            (
                read("well-known", "h.example", Some("https://h.example/docs"), None, None),
                "site:https://h.example/docs",
            ),
            (read("node_modules", "@s/p", None, None, Some("skills/x/SKILL.md")), "npm:@s/p//skills/x"),
            (read("git", "o/r", None, None, None), "error: `o/r` does not say which server it is on"),
            (read("oci", "x", None, None, None), "error: skillpm does not support sources of the type `oci`"),
            (
                read("github", "o/r", None, None, Some("../../etc/SKILL.md")),
                "error: `../../etc` is not a directory inside a repository",
            ),
            (
                read("github", "o/r", None, Some("--upload-pack=x"), None),
                "error: `--upload-pack=x` is not the name of a tag, branch or commit",
            ),
            (
                read("git", "ext::sh -c touch x", None, None, None),
                "error: `ext::sh -c touch x` is not an address that skillpm can install from",
            ),
        ];
        for (read, expected) in cases {
            assert_eq!(read, expected);
        }
    }

    /// A written entry reads back as the same source.
    #[test]
    fn entries_read_back() {
        let tag = Reference::Any("v1".to_owned());
        for origin in [
            "github:o/r",
            "github:ghe.example.com/o/r",
            "git:https://gitlab.com/g/r.git",
            "git:git@h:o/r.git",
            "git:https://h.example/r.git",
            "git:file:///srv/r",
            "site:https://www.h.example:8443/docs",
            "path:./x",
        ] {
            let origin: Origin = origin.parse().expect(origin);
            let (path, reference) =
                if origin.has_revisions() { (Some("a/b"), Some(&tag)) } else { (None, None) };
            let entry = entry(&origin, path, reference, "./x", "h").expect("expressible");
            let get = |field| entry.get(field);
            let fields = Fields {
                kind: get("sourceType").expect("a type"),
                source: get("source").expect("a source"),
                url: get("sourceUrl"),
                reference: get("ref"),
                skill_path: get("skillPath"),
            };
            let spec = spec(fields).expect("reads");
            assert_eq!(
                (&spec.origin, spec.path.as_deref(), spec.reference.as_ref()),
                (&origin, path, reference)
            );
        }
        for origin in [
            "git:https://h.example/r",
            "git:/srv/r",
            "npm:x",
            "url:https://h/x.zip",
            "site:https://github.com",
        ] {
            let origin: Origin = origin.parse().expect(origin);
            assert!(entry(&origin, None, None, "", "h").is_err(), "{origin}");
        }
    }
}
