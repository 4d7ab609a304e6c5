//! Which skills a skill says that it needs. Nothing is resolved: what is declared is told.

use std::path::Path;

use crate::engine::load::{frontmatter, skill_file};
use crate::requirement::{KEY, parse_list};
use crate::skill;

/// A skill that another one needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// As it is written.
    pub text: String,
    /// The name of the skill, where the text says it.
    pub name: Option<String>,
    /// Why the text says nothing.
    pub problem: Option<String>,
}

/// Returns what the skill in directory `dir` needs: what is `locked`, then what its `SKILL.md` declares
/// besides. A file that cannot be read declares nothing; other commands say what is wrong with it.
pub fn needs(dir: &Path, locked: &[String]) -> Vec<Need> {
    let named = |name: &String| Need { text: name.clone(), name: Some(name.clone()), problem: None };
    let mut needs: Vec<Need> = locked.iter().map(named).collect();
    for need in declared(dir).unwrap_or_default() {
        let known =
            |other: &Need| other.text == need.text || (need.name.is_some() && other.name == need.name);
        match needs.iter_mut().find(|other| known(other)) {
            // What is declared says more than a name: a range, or a source.
            Some(other) => *other = need,
            None => needs.push(need),
        }
    }
    needs
}

fn declared(dir: &Path) -> Option<Vec<Need>> {
    let document = frontmatter(&skill_file(dir).ok()??).ok()?;
    let loaded = skill::load(&document).ok()?;
    let text = loaded.meta.metadata.get(KEY)?.as_str()?;
    let entries = parse_list(text).into_iter().map(|entry| Need {
        text: entry.text.to_owned(),
        name: entry.requirement.as_ref().ok().and_then(|one| one.name()).map(ToOwned::to_owned),
        problem: entry.requirement.as_ref().err().map(ToString::to_string),
    });
    Some(entries.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs;

    #[test]
    fn what_is_locked_and_what_is_declared() {
        let dir = tempfile::tempdir().expect("a directory");
        assert!(needs(dir.path(), &[]).is_empty());
        let text = "---\nname: x\ndescription: X.\nmetadata:\n  skill-dependencies: base@^1.2, acme/skills/fonts#v2 Wrong\n---\n";
        fs::write_atomic(&dir.path().join("SKILL.md"), text.as_bytes()).expect("writes");
        let shown: Vec<_> = needs(dir.path(), &["base".to_owned(), "other".to_owned()])
            .into_iter()
            .map(|need| format!("{} {:?} {}", need.text, need.name, need.problem.is_some()))
            .collect();
        assert_eq!(
            shown,
            [
                "base@^1.2 Some(\"base\") false",
                "other Some(\"other\") false",
                "acme/skills/fonts#v2 Some(\"fonts\") false",
                "Wrong None true",
            ]
        );
    }
}
