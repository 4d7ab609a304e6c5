//! The links of a skill with where they lead.

use super::{SkillFile, Subject};
use crate::document::{Link, Target};

/// Directories that nobody lists: what lies in them is not known.
const UNLISTED: [&str; 3] = [".git", "node_modules", "target"];

/// The links of the body that lead where it is `wanted`. Nothing is parsed where no such link can be.
pub(super) fn links<'a>(
    subject: &Subject<'a>,
    wanted: impl Fn(&Target) -> bool,
) -> impl Iterator<Item = (&'a Link, Target)> {
    let any = subject.document.sketch().may_lead(&wanted);
    let links: &[Link] = if any { &subject.document.markdown().links } else { &[] };
    links.iter().map(|link| (link, Target::of(&link.target, ""))).filter(move |(_, target)| wanted(target))
}

/// The paths of the skill's own files to which the body may link, in any order: at least those to
/// which it does. What nobody lists is not among them.
pub(super) fn paths(subject: &Subject<'_>) -> Vec<String> {
    let sketch = subject.document.sketch();
    let inside = |target: Target| match target {
        Target::Inside(path) if !is_known(&path) => Some(path),
        _ => None,
    };
    match sketch.targets() {
        Some(targets) => targets.iter().cloned().filter_map(inside).collect(),
        None => links(subject, |_| true).filter_map(|(_, target)| inside(target)).collect(),
    }
}

/// Whether `files` has `path`, a file or a directory. What is not listed is taken to be there.
pub(super) fn exists(files: &[SkillFile], path: &str) -> bool {
    is_known(path)
        || files.iter().any(|file| {
            file.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
}

/// Whether `path` is taken to be there without a look.
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
