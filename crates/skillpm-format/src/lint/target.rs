//! The links of a skill and their targets.

use std::borrow::Cow;

use super::{SkillFile, Subject};
use crate::document::{Link, Target};

/// Directories that are never listed: their contents are not known.
const UNLISTED: [&str; 3] = [".git", "node_modules", "target"];

/// Returns the links of the body that lead to a `wanted` target. Parses nothing if there cannot be such a link.
pub(super) fn links<'a>(
    subject: &Subject<'a>,
    wanted: impl Fn(&Target) -> bool,
) -> impl Iterator<Item = (&'a Link, Target)> {
    let any = subject.document.sketch().may_lead(&wanted);
    let links: &[Link] = if any { &subject.document.markdown().links } else { &[] };
    links.iter().map(|link| (link, Target::of(&link.target, ""))).filter(move |(_, target)| wanted(target))
}

/// Returns the paths of the skill's own files to which the body may link, in any order: at least those to which it
/// does. Paths that are never listed are left out.
pub(super) fn paths<'a, T>(subject: &Subject<'a>, make: impl Fn(Cow<'a, str>) -> T) -> Vec<T> {
    let unknown = |path: &Cow<'_, str>| !is_known(path);
    if let Some(targets) = subject.document.sketch().targets() {
        let inside = targets.iter().filter_map(|target| match target {
            Target::Inside(path) => Some(Cow::Borrowed(path.as_str())),
            _ => None,
        });
        return inside.filter(unknown).map(make).collect();
    }
    let inside = links(subject, |_| true).filter_map(|(_, target)| match target {
        Target::Inside(path) => Some(Cow::Owned(path)),
        _ => None,
    });
    inside.filter(unknown).map(make).collect()
}

/// Reports whether `files` contains `path`, a file or a directory. Paths that are not listed are assumed to exist.
pub(super) fn exists(files: &[SkillFile], path: &str) -> bool {
    is_known(path)
        || files.iter().any(|file| {
            file.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
}

/// Reports whether `path` is assumed to exist without a check.
fn is_known(path: &str) -> bool {
    path.is_empty() || path == "SKILL.md" || path.split('/').any(|part| UNLISTED.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::SkillFileKind;

    #[test]
    fn files_and_the_directories_that_they_lie_in_are_there() {
        let files = [SkillFile { path: "a/b/c.md".into(), kind: SkillFileKind::Link }];
        for (path, there) in [
            ("a/b/c.md", true),
            ("a/b", true),
            ("", true),
            ("a/b/c", false),
            ("a/B", false),
            ("x", false),
            ("node_modules/x.js", true),
        ] {
            assert_eq!(exists(&files, path), there, "{path}");
        }
    }
}
