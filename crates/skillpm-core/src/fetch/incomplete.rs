//! Warnings about missing files: a pointer instead of a Git LFS file, or an empty directory or nothing
//! instead of a submodule.

use crate::advice::Warning;
use crate::codes;
use crate::name::SkillName;
use crate::source::discover::submodules;
use crate::text::visible_name;
use crate::tree::{FileSet, Tree};

/// The first line of a Git LFS pointer.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";
/// The sizes that a pointer may have: an oid, a size, and what extensions add.
const POINTER_SIZES: std::ops::RangeInclusive<u64> = 100..=1024;
/// The maximum number of files that a warning names.
const MOST: usize = 5;

/// Returns the warnings about the skill `name`, whose files `set` are those of directory `dir` of `tree`.
pub(crate) fn incomplete(name: &SkillName, tree: &Tree, dir: &str, set: &FileSet) -> Vec<Warning> {
    let pointers: Vec<String> = set
        .files()
        .iter()
        .filter(|file| POINTER_SIZES.contains(&file.size))
        .filter(|file| set.read(file).is_ok_and(|bytes| bytes.starts_with(POINTER)))
        .map(|file| file.path.to_string())
        .collect();
    let below = |path: String| match dir {
        "" => Some(path),
        dir => path.strip_prefix(dir)?.strip_prefix('/').map(ToOwned::to_owned),
    };
    let is_empty =
        |path: &String| set.files().iter().all(|file| !file.path.as_str().starts_with(&format!("{path}/")));
    let modules: Vec<String> = submodules(tree).into_iter().filter_map(below).filter(is_empty).collect();
    let mut told = Vec::new();
    if !pointers.is_empty() {
        told.push(format!(
            "`{name}` is incomplete: Git LFS keeps the content of {}, and only a pointer to it came",
            listed(&pointers)
        ));
    }
    if !modules.is_empty() {
        told.push(format!(
            "`{name}` is incomplete: {} belongs to another repository (a submodule), and did not come",
            listed(&modules)
        ));
    }
    told.into_iter().map(|told| Warning::new(codes::INCOMPLETE, told)).collect()
}

fn listed(paths: &[String]) -> String {
    let shown: Vec<_> = paths.iter().take(MOST).map(|path| format!("`{}`", visible_name(path))).collect();
    match paths.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
