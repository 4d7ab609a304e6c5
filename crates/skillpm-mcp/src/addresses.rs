//! Which address leads to which skill.
//!
//! Whoever writes a skill chooses its name and its directories, and must not be able to put it in the place of another
//! skill's files. Skills are never nested in directories, so their addresses must not be nested either. A skill whose
//! address would be nested, or is taken, gets none.

use std::collections::BTreeMap;
use std::sync::Arc;

use skillpm_core::engine::{Skill, Source};

/// Returns the addresses of `skills`, which were found in `sources`, and the index of the skill that each leads to. They
/// have no scheme and are not encoded: `user/team/pdf`.
///
/// If two skills cannot both have an address, it goes to the one whose directory has its name, then to the first.
pub(crate) fn assign(skills: &[Arc<Skill>], sources: &[Source]) -> BTreeMap<String, usize> {
    let mut order: Vec<_> = (0..skills.len()).collect();
    order.sort_by_key(|at| !has_name_of_directory(&skills[*at]));
    let mut assigned = BTreeMap::new();
    for at in order {
        if let Some(path) = path_of(&skills[at], sources)
            && is_free(&path, &assigned)
        {
            assigned.insert(path, at);
        }
    }
    assigned
}

/// Returns the address that the skill should have; `None` if its name cannot be a part of one.
fn path_of(skill: &Skill, sources: &[Source]) -> Option<String> {
    let name = &skill.meta.name;
    // Clients resolve `.` and `..`, even if they are encoded.
    if name.contains('/') || matches!(name.as_str(), "" | "." | "..") {
        return None;
    }
    let source = sources.iter().find(|source| source.name == skill.source)?;
    let below = skill.path_below(source)?;
    // The last part of an address is the skill's name, whatever its directory is called.
    let parents = below.rsplit_once('/').map(|(parents, _)| format!("{parents}/")).unwrap_or_default();
    Some(format!("{}/{parents}{name}", skill.kind))
}

/// Reports whether no `assigned` address is `path`, or is inside it or around it.
fn is_free(path: &str, assigned: &BTreeMap<String, usize>) -> bool {
    let start = format!("{path}/");
    let has_inner =
        assigned.range(start.clone()..).next().is_some_and(|(other, _)| other.starts_with(&start));
    let mut around = start.match_indices('/').map(|(end, _)| &path[..end]);
    !has_inner && around.all(|outer| !assigned.contains_key(outer))
}

fn has_name_of_directory(skill: &Skill) -> bool {
    skill.dir.file_name().is_some_and(|dir| dir == skill.meta.name.as_str())
}
