//! The links of a skill and their targets.

use super::{SkillFile, SkillFileKind, Subject};
use crate::document::{Link, Target};
use crate::skill::skipped::is_skipped;

/// Returns the links of the body that lead to a `wanted` target. Parses nothing if there cannot be such a link.
pub(super) fn links<'a>(
    subject: &Subject<'a>,
    wanted: impl Fn(&Target) -> bool,
) -> impl Iterator<Item = (&'a Link, Target)> {
    let any = subject.document.sketch().may_lead(&wanted);
    let links: &[Link] = if any { &subject.document.markdown().links } else { &[] };
    links.iter().map(|link| (link, Target::of(&link.target, ""))).filter(move |(_, target)| wanted(target))
}

/// Returns the links of the body to files and directories of the skill, each with its path.
pub(super) fn inside<'a>(subject: &Subject<'a>) -> impl Iterator<Item = (&'a Link, String)> {
    links(subject, |target| matches!(target, Target::Inside(_))).filter_map(|(link, target)| match target {
        Target::Inside(path) => Some((link, path)),
        _ => None,
    })
}

/// Returns the links of the body out of the skill's directory, each with its path from there.
pub(super) fn outside<'a>(subject: &Subject<'a>) -> impl Iterator<Item = (&'a Link, String)> {
    links(subject, |target| matches!(target, Target::Outside(_))).filter_map(|(link, target)| match target {
        Target::Outside(path) => Some((link, path)),
        _ => None,
    })
}

/// Reports whether the body may link to a file of the skill that has to be looked up: never false if it does.
pub(super) fn may_lead_to_file(subject: &Subject<'_>) -> bool {
    let is_file = |target: &Target| matches!(target, Target::Inside(path) if !is_known(path));
    subject.document.sketch().may_lead(is_file)
}

/// Reports whether `files` contains `path`, a file or a directory. Paths that are not listed are assumed to exist.
pub(super) fn exists(files: &[SkillFile], path: &str) -> bool {
    is_file(files, path) || files.iter().any(|file| is_below(&file.path, path))
}

/// Reports whether `files` contains the file `path`. Paths that are not listed are assumed to exist.
pub(super) fn is_file(files: &[SkillFile], path: &str) -> bool {
    let leads_there = |file: &SkillFile| file.kind == SkillFileKind::Link && is_below(path, &file.path);
    is_known(path) || files.iter().any(|file| file.path == path || leads_there(file))
}

/// Reports whether `path` is in the directory `dir`.
fn is_below(path: &str, dir: &str) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
}

/// Reports whether `path` is assumed to exist without a check: directories that are skipped are never listed.
fn is_known(path: &str) -> bool {
    path.is_empty() || path == "SKILL.md" || path.split('/').any(|part| is_skipped(part.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::FileFacts;

    #[test]
    fn files_and_their_directories_exist() {
        let kind = SkillFileKind::File(FileFacts::default());
        let files = [
            SkillFile { path: "a/b/c.md".into(), kind },
            SkillFile { path: "link".into(), kind: SkillFileKind::Link },
        ];
        for (path, there, file) in [
            ("a/b/c.md", true, true),
            ("a/b", true, false),
            ("", true, true),
            ("SKILL.md", true, true),
            ("a/b/c", false, false),
            ("a/b/c.md/d", false, false),
            ("a/B", false, false),
            ("x", false, false),
            ("node_modules/x.js", true, true),
            // A link is not followed: where it leads may be any file.
            ("link", true, true),
            ("link/x.md", true, true),
            ("link.md", false, false),
        ] {
            assert_eq!((exists(&files, path), is_file(&files, path)), (there, file), "{path}");
        }
    }
}
