//! The files of a skill beside its `SKILL.md`, for rules that look at them.

use std::path::Path;

use crate::fs;
use crate::lint::{SkillFile, SkillFileKind};
use crate::tree::Node;

/// The files and links below the skill's directory `dir`, sorted by path, its `SKILL.md` left out.
/// Nothing is said of a directory that cannot be read.
pub fn of_skill(dir: &Path) -> Vec<SkillFile> {
    let Ok(tree) = fs::tree_of(dir) else { return Vec::new() };
    let beside = tree.entries().filter(|(path, _)| !path.eq_ignore_ascii_case("SKILL.md"));
    let files = beside.filter_map(|(path, entry)| {
        let kind = match entry.node {
            Node::File { executable, .. } => {
                SkillFileKind::File { executable, shebang: false, markdown: None }
            }
            Node::Symlink => SkillFileKind::Link,
            Node::Special(_) => return None,
        };
        Some(SkillFile { path: path.to_owned(), kind })
    });
    files.collect()
}
