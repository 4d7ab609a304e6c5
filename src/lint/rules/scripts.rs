//! Scripts of a skill, for the rules about them. No rule itself.

use crate::lint::{SkillFile, SkillFileKind};

/// Endings of scripts that a system can run by their first line.
const ENDINGS: &[&str] = &["sh", "bash", "zsh", "fish", "py", "js", "mjs", "cjs", "rb", "pl"];

/// The scripts below `scripts/`: path, executable bit, shebang.
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

/// What stands after the last dot of `path`.
pub(super) fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Whether `text` names the script `name`: by its name, or by its stem as a module or a command.
pub(super) fn is_mentioned(text: &str, name: &str, stem: &str) -> bool {
    mentions(text, name).next().is_some()
        || ["scripts.", "scripts/"]
            .iter()
            .any(|start| mentions(text, &format!("{start}{stem}")).next().is_some())
}

/// Where `name` stands in `text` as a name of its own.
pub(super) fn mentions<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(name)
        .map(|(at, _)| at)
        .filter(move |at| !text[..*at].ends_with(part) && !text[at + name.len()..].starts_with(part))
}
