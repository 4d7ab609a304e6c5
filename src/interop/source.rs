//! From the sources of other tools to ours, and back.

use super::skills_lock::{Entry, FILE_NAME};
use crate::spec::{Origin, PUBLIC_HOST, Package, Reference, Repository, SourceSpec, is_commit};

/// What another tool writes about where a skill comes from.
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

/// The source that `fields` mean, without the name of a skill. The path of a local one is as it stands
/// in the file.
///
/// # Errors
///
/// Why there is none, as the end of a sentence.
pub fn spec(fields: Fields<'_>) -> Result<SourceSpec, String> {
    let said = |error: crate::spec::SpecError| error.to_string();
    let mut spec = match fields.kind {
        "local" => SourceSpec::local(fields.source),
        "github" => format!("github:{}", fields.source.trim_end_matches(".git")).parse().map_err(said)?,
        "git" | "gitlab" => {
            let address = fields.url.unwrap_or(fields.source);
            if !address.contains(':') {
                return Err(format!("`{address}` does not say which server it is on"));
            }
            let spec: SourceSpec = address.parse().map_err(said)?;
            match spec.origin {
                Origin::GitHub(_) | Origin::Git(_) => spec,
                _ => format!("git+{address}").parse().map_err(said)?,
            }
        }
        "well-known" => format!("site:{}", fields.url.unwrap_or(fields.source)).parse().map_err(said)?,
        "node_modules" => {
            let package = format!("npm:{}", fields.source).parse::<Package>().map_err(said)?;
            SourceSpec { origin: Origin::Package(package), ..SourceSpec::local("") }
        }
        other => return Err(format!("skillpm does not support sources of the type `{other}`")),
    };
    // What the tools call GitHub is the public one, whatever this machine takes for it.
    if let Origin::GitHub(repository) = spec.origin {
        spec.origin = Origin::GitHub(repository.on(PUBLIC_HOST));
    }
    if let Some(reference) = fields.reference.filter(|_| spec.origin.has_revisions()) {
        spec.reference = Some(read_reference(reference)?);
    }
    if let Some(path) = fields.skill_path {
        spec.path = directory(path)?;
    }
    Ok(spec)
}

/// The reference that `text` means: `refs/tags/v1`, `refs/heads/main`, a commit, or a bare name.
///
/// # Errors
///
/// A name that no git server accepts.
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

/// The directory of a `SKILL.md`; `None` is the root.
///
/// # Errors
///
/// A path that leaves the source.
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

/// Why a source does not stand in `skills-lock.json`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotExpressible {
    /// The tool does not lock this kind of source, or not in a way that skillpm can write.
    #[error("`{FILE_NAME}` has no entries for {0}")]
    Kind(&'static str),
    /// The tool would take the address for something else.
    #[error("the npm tool would treat `{0}` as a website, because it does not end in `.git`")]
    Address(String),
}

/// The entry of `skills-lock.json` for a skill from `origin`, whose directory in it is `path`.
///
/// `local` is the path of a local source as it is seen from the file. `hash` is the `computedHash`. The
/// `wellKnownDigest` of a skill of a site is not in it.
///
/// # Errors
///
/// Sources that the tool cannot express.
pub fn entry(
    origin: &Origin,
    path: Option<&str>,
    reference: Option<&Reference>,
    local: &str,
    hash: &str,
) -> Result<Entry, NotExpressible> {
    let skill_path = path.map_or_else(|| "SKILL.md".to_owned(), |path| format!("{path}/SKILL.md"));
    let reference = reference.map(Reference::name);
    let git = |url: &str, kind: &str| {
        Entry::new([
            ("source", Some(url)),
            ("sourceUrl", Some(url)),
            ("ref", reference),
            ("sourceType", Some(kind)),
            ("skillPath", Some(&skill_path)),
            ("computedHash", Some(hash)),
        ])
    };
    match origin {
        Origin::GitHub(Repository { host: None, owner, name }) => Ok(Entry::new([
            ("source", Some(format!("{owner}/{name}").as_str())),
            ("ref", reference),
            ("sourceType", Some("github")),
            ("skillPath", Some(&skill_path)),
            ("computedHash", Some(hash)),
        ])),
        Origin::GitHub(Repository { host, owner, name }) => {
            let host = host.as_deref().unwrap_or(PUBLIC_HOST);
            Ok(git(&format!("https://{host}/{owner}/{name}.git"), "git"))
        }
        Origin::Git(url) if url.local_path().is_some() => {
            Err(NotExpressible::Kind("git repositories that are named by a path"))
        }
        Origin::Git(url) => {
            let text = url.as_str();
            let host = text.split_once("://").and_then(|(_, rest)| rest.split('/').next());
            let is_web = text.starts_with("https://") || text.starts_with("http://");
            match host {
                Some("gitlab.com") => Ok(git(&format!("{}.git", text.trim_end_matches(".git")), "gitlab")),
                _ if is_web && text.strip_suffix(".git").is_none() && !text.contains("/_git/") => {
                    Err(NotExpressible::Address(text.to_owned()))
                }
                _ => Ok(git(text, "git")),
            }
        }
        Origin::Local(_) => Ok(Entry::new([
            ("source", Some(local)),
            ("sourceType", Some("local")),
            ("computedHash", Some(hash)),
        ])),
        Origin::Site(address) => {
            let host = address.host();
            if ["github.com", "gitlab.com", "huggingface.co"].contains(&host) {
                return Err(NotExpressible::Kind("sites on hosts of repositories"));
            }
            Ok(Entry::new([
                ("source", Some(host.strip_prefix("www.").unwrap_or(host))),
                ("sourceUrl", Some(address.as_str())),
                ("sourceType", Some("well-known")),
                ("computedHash", Some(hash)),
            ]))
        }
        Origin::Download(_) => Err(NotExpressible::Kind("downloads")),
        Origin::Package(_) => Err(NotExpressible::Kind("packages that skillpm found")),
    }
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

    /// What is written reads back as the same source.
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
