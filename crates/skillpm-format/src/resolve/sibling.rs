//! Relative paths in declared dependencies, which lead from one skill of a source to another.

use crate::spec::SourceSpec;

/// Returns the skill in the directory `path` of the source `spec`; an empty path is the root.
pub fn directory_of(spec: &SourceSpec, path: &str) -> SourceSpec {
    let path = Some(path.to_owned()).filter(|path| !path.is_empty());
    SourceSpec { path, skill: None, ..spec.clone() }
}

/// Returns the skill of the same source to which the relative path `spec` leads from the skill at `place`. Returns
/// `None` if `spec` is not such a path, or leads out of the source.
pub fn sibling(place: &SourceSpec, spec: &SourceSpec) -> Option<SourceSpec> {
    let text = spec.origin.local_path()?;
    join(place.path.as_deref().unwrap_or_default(), text).map(|path| directory_of(place, &path))
}

/// Returns the directory to which the relative path `text` leads from `dir`, if that is inside the source.
fn join(dir: &str, text: &str) -> Option<String> {
    if !text.starts_with('.') || text.contains(['\\', '\0']) {
        return None;
    }
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_its_source() {
        let join = |dir, text| join(dir, text);
        assert_eq!(join("skills/report", "../base").as_deref(), Some("skills/base"));
        assert_eq!(join("report", "../").as_deref(), Some(""));
        assert_eq!(join("", "./skills//a/./b/..").as_deref(), Some("skills/a"));
        for out in ["../../../base", "../../x/../..", "/etc", "~/x", "..\\base", "./a\0"] {
            assert_eq!(join("skills/report", out), None, "{out:?}");
        }
    }
}
