//! The dependencies of an installed skill, according to the lockfile and its own file.

use std::collections::BTreeSet;
use std::path::Path;

use crate::engine::load::{frontmatter, skill_file};
use crate::name::SkillName;
use crate::requirement::Requirement;
use crate::resolve::declared::{Declared, declared};
use crate::skill;
use crate::spec::SourceSpec;

/// A dependency of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The text as written.
    pub(crate) text: String,
    /// The name of the skill, if the text states it or the skill is known.
    pub(crate) name: Option<String>,
    /// Why the text is invalid.
    pub(crate) problem: Option<String>,
}

/// Returns the dependencies of the skill in directory `dir`: the `locked` ones, then those that its
/// `SKILL.md` declares in addition. `installed` returns the name of a skill from its source. A file that
/// cannot be read declares nothing; other commands report what is wrong with it.
pub(crate) fn dependencies(
    dir: &Path,
    locked: &[String],
    installed: impl Fn(&SourceSpec) -> Option<SkillName>,
) -> Vec<Dependency> {
    let named = |name: &String| Dependency { text: name.clone(), name: Some(name.clone()), problem: None };
    let mut all: Vec<Dependency> = locked.iter().map(named).collect();
    let mut declared = declared_in(dir, installed).unwrap_or_default();
    name_paths(&mut declared, locked);
    for need in declared {
        let known =
            |other: &Dependency| other.text == need.text || (need.name.is_some() && other.name == need.name);
        match all.iter_mut().find(|other| known(other)) {
            // The declaration has more than a name: a range, or a source.
            Some(other) => *other = need,
            None => all.push(need),
        }
    }
    all
}

/// Gives names to dependencies that are declared by a path, if they are locked under a name that no other
/// dependency has: a requested skill of that name stays, wherever it came from.
fn name_paths(declared: &mut [Dependency], locked: &[String]) {
    let named: BTreeSet<String> = declared.iter().filter_map(|need| need.name.clone()).collect();
    let mut free: Vec<&String> = locked.iter().filter(|name| !named.contains(*name)).collect();
    let mut paths: Vec<&mut Dependency> =
        declared.iter_mut().filter(|need| need.name.is_none() && need.problem.is_none()).collect();
    // Most directories have the name of their skill.
    paths.retain_mut(|need| {
        let last = need.text.trim_end_matches('/').rsplit('/').next();
        let same = free.iter().position(|name| Some(name.as_str()) == last);
        need.name = same.map(|at| free.remove(at).clone());
        need.name.is_none()
    });
    if let ([need], [name]) = (&mut paths[..], &free[..]) {
        need.name = Some((*name).clone());
    }
}

fn declared_in(dir: &Path, installed: impl Fn(&SourceSpec) -> Option<SkillName>) -> Option<Vec<Dependency>> {
    let document = frontmatter(&skill_file(dir).ok()??).ok()?;
    let directory = dir.file_name().and_then(|name| name.to_str());
    let loaded = skill::load_in(&document, directory).ok()?;
    let entries = declared(&loaded.meta).into_iter().map(|Declared { text, requirement }| {
        // The text does not decide under which name a source is installed.
        let known = match &requirement {
            Ok(Requirement::Source(spec)) => installed(spec).map(String::from),
            _ => None,
        };
        let written = || requirement.as_ref().ok().and_then(|one| one.name()).map(ToOwned::to_owned);
        let name = known.or_else(written);
        Dependency { text, name, problem: requirement.err().map(|error| error.to_string()) }
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
        assert!(dependencies(dir.path(), &[], |_| None).is_empty());
        let text = "---\nname: x\ndescription: X.\nmetadata:\n  skill-dependencies: base@^1.2, acme/skills/fonts#v2 Wrong\n---\n";
        fs::write_atomic(&dir.path().join("SKILL.md"), text.as_bytes()).expect("writes");
        let locked = ["base".to_owned(), "other".to_owned()];
        let shown = |known: Option<&str>| -> Vec<String> {
            let installed = |_: &SourceSpec| known.and_then(|name| SkillName::new(name).ok());
            let needs = dependencies(dir.path(), &locked, installed).into_iter();
            needs.map(|need| format!("{} {:?} {}", need.text, need.name, need.problem.is_some())).collect()
        };
        let known = shown(Some("other"));
        assert_eq!(known[1..2], ["acme/skills/fonts#v2 Some(\"other\") false"]);
        assert_eq!(known.len(), 3, "what is known to be locked is told once");
        assert_eq!(
            shown(None),
            [
                "base@^1.2 Some(\"base\") false",
                "other Some(\"other\") false",
                "acme/skills/fonts#v2 Some(\"fonts\") false",
                "Wrong None true",
            ]
        );
    }

    /// If the requested skill stays, the declared path leads to another one.
    #[test]
    fn a_path_means_the_skill_that_is_locked_for_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let shown = |declared: &str, locked: &[&str]| -> Vec<String> {
            let text =
                format!("---\nname: x\ndescription: X.\nmetadata:\n  skill-dependencies: {declared}\n---\n");
            fs::write_atomic(&dir.path().join("SKILL.md"), text.as_bytes()).expect("writes");
            let locked: Vec<_> = locked.iter().map(|name| (*name).to_owned()).collect();
            let needs = dependencies(dir.path(), &locked, |_| None).into_iter();
            needs.map(|need| format!("{} is {}", need.text, need.name.unwrap_or_default())).collect()
        };
        assert_eq!(shown("../base", &["base"]), ["../base is base"]);
        assert_eq!(shown("../dir", &["base"]), ["../dir is base"]);
        assert_eq!(shown("fonts ../dir/", &["base", "fonts"]), ["../dir/ is base", "fonts is fonts"]);
        assert_eq!(shown("../one ../base", &["base", "two"]), ["../base is base", "../one is two"]);
        assert_eq!(shown("../one ../two", &["base"]), ["base is base", "../one is ", "../two is "]);
        assert_eq!(shown("../base", &[]), ["../base is "]);
    }
}
