//! Scripts of a skill, for the rules about them. This file is not a rule.

use crate::lint::{SkillFile, SkillFileKind};

/// Extensions of scripts that a system can run by their first line.
pub(crate) const ENDINGS: &[&str] = &["sh", "bash", "zsh", "fish", "py", "js", "mjs", "cjs", "rb", "pl"];

/// Returns the scripts below `scripts/`: path, executable bit, shebang.
pub(super) fn scripts(files: &[SkillFile]) -> impl Iterator<Item = (&str, bool, bool)> {
    files.iter().filter_map(|file| match file.kind {
        SkillFileKind::File { executable, shebang, .. } if is_script(&file.path) => {
            Some((file.path.as_str(), executable, shebang))
        }
        _ => None,
    })
}

fn is_script(path: &str) -> bool {
    path.starts_with("scripts/") && ENDINGS.contains(&ending(path))
}

/// Returns the text after the last dot of `path`.
pub(crate) fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Reports whether `text` names the script `name`: by its name, or by its stem as a module or a command
/// (`scripts.stem`, `scripts/stem`). A name starts with its stem, so one search finds all three.
pub(super) fn is_mentioned(text: &str, name: &str, stem: &str) -> bool {
    let is_whole =
        |at: usize, length: usize| !text[..at].ends_with(part) && !text[at + length..].starts_with(part);
    memchr::memmem::find_iter(text.as_bytes(), stem).any(|at| {
        if text[at..].starts_with(name) && is_whole(at, name.len()) {
            return true;
        }
        let before = text[..at].strip_suffix("scripts.").or_else(|| text[..at].strip_suffix("scripts/"));
        before.is_some_and(|before| is_whole(before.len(), at + stem.len() - before.len()))
    })
}

/// Returns where `name` occurs in `text` as a whole name.
pub(super) fn mentions<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    memchr::memmem::find_iter(text.as_bytes(), name)
        .filter(move |at| !text[..*at].ends_with(part) && !text[at + name.len()..].starts_with(part))
}

/// Reports whether `c` would make the name beside it part of a longer one.
fn part(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}
