//! Which skills a skill says that it needs, and which locked skills are there for that reason alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::engine::load::{frontmatter, skill_file};
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::requirement::{KEY, Requirement, RequirementError, parse_list};
use crate::skill::{self, SkillMeta};
use crate::spec::SourceSpec;

/// What a skill declares in `metadata.skill-dependencies`: one entry of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// As it is written.
    pub text: String,
    /// What it says.
    pub requirement: Result<Requirement, RequirementError>,
}

/// What the skill with the metadata `meta` declares; a list of texts counts as one text.
pub fn declared(meta: &SkillMeta) -> Vec<Declared> {
    let texts = match meta.metadata.get(KEY) {
        Some(Value::String(text)) => vec![text.as_str()],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let entries = texts.into_iter().flat_map(parse_list);
    entries.map(|entry| Declared { text: entry.text.to_owned(), requirement: entry.requirement }).collect()
}

/// A skill that another one needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// As it is written.
    pub text: String,
    /// The name of the skill, where the text says it or it is known which one is meant.
    pub name: Option<String>,
    /// Why the text says nothing.
    pub problem: Option<String>,
}

/// Returns what the skill in directory `dir` needs: what is `locked`, then what its `SKILL.md` declares
/// besides; `installed` tells the name of a skill that comes from a source. A file that cannot be read declares
/// nothing; other commands say what is wrong with it.
pub fn needs(
    dir: &Path,
    locked: &[String],
    installed: impl Fn(&SourceSpec) -> Option<SkillName>,
) -> Vec<Need> {
    let named = |name: &String| Need { text: name.clone(), name: Some(name.clone()), problem: None };
    let mut needs: Vec<Need> = locked.iter().map(named).collect();
    let mut declared = declared_in(dir, installed).unwrap_or_default();
    name_paths(&mut declared, locked);
    for need in declared {
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

/// Names what is declared by a path, where it is locked under a name that nothing else has: a skill of that name that was
/// asked for stays, wherever it came from.
fn name_paths(declared: &mut [Need], locked: &[String]) {
    let named: BTreeSet<String> = declared.iter().filter_map(|need| need.name.clone()).collect();
    let mut free: Vec<&String> = locked.iter().filter(|name| !named.contains(*name)).collect();
    let mut paths: Vec<&mut Need> =
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

fn declared_in(dir: &Path, installed: impl Fn(&SourceSpec) -> Option<SkillName>) -> Option<Vec<Need>> {
    let document = frontmatter(&skill_file(dir).ok()??).ok()?;
    let directory = dir.file_name().and_then(|name| name.to_str());
    let loaded = skill::load_in(&document, directory).ok()?;
    let entries = declared(&loaded.meta).into_iter().map(|Declared { text, requirement }| {
        // Under which name a source is installed is not for the text to say.
        let known = match &requirement {
            Ok(Requirement::Source(spec)) => installed(spec).map(String::from),
            _ => None,
        };
        let written = || requirement.as_ref().ok().and_then(|one| one.name()).map(ToOwned::to_owned);
        let name = known.or_else(written);
        Need { text, name, problem: requirement.err().map(|error| error.to_string()) }
    });
    Some(entries.collect())
}

/// The skills `roots` and all that they need, directly or not, by what is locked: names that `lock` does not
/// have are among them.
pub fn reach<'a>(
    roots: impl IntoIterator<Item = &'a SkillName>,
    lock: impl Fn(&SkillName) -> Option<&'a Locked>,
) -> BTreeSet<SkillName> {
    let mut reached: BTreeSet<SkillName> = BTreeSet::new();
    let mut open: Vec<SkillName> = roots.into_iter().cloned().collect();
    while let Some(name) = open.pop() {
        let needed = lock(&name).into_iter().flat_map(|locked| &locked.dependencies);
        let needed: Vec<SkillName> = needed.filter_map(|text| SkillName::new(text).ok()).collect();
        if reached.insert(name) {
            open.extend(needed.into_iter().filter(|name| !reached.contains(name)));
        }
    }
    reached
}

/// The skills of `locked` that need another one directly, by the name of that.
pub fn needers<'a>(
    locked: impl IntoIterator<Item = (&'a SkillName, &'a Locked)>,
) -> BTreeMap<SkillName, BTreeSet<SkillName>> {
    let mut needers: BTreeMap<SkillName, BTreeSet<SkillName>> = BTreeMap::new();
    for (name, locked) in locked {
        for needed in locked.dependencies.iter().filter_map(|text| SkillName::new(text).ok()) {
            if needed != *name {
                needers.entry(needed).or_default().insert(name.clone());
            }
        }
    }
    needers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::fs;
    use crate::lockfile::Lockfile;

    #[test]
    fn what_is_locked_and_what_is_declared() {
        let dir = tempfile::tempdir().expect("a directory");
        assert!(needs(dir.path(), &[], |_| None).is_empty());
        let text = "---\nname: x\ndescription: X.\nmetadata:\n  skill-dependencies: base@^1.2, acme/skills/fonts#v2 Wrong\n---\n";
        fs::write_atomic(&dir.path().join("SKILL.md"), text.as_bytes()).expect("writes");
        let locked = ["base".to_owned(), "other".to_owned()];
        let shown = |known: Option<&str>| -> Vec<String> {
            let installed = |_: &SourceSpec| known.and_then(|name| SkillName::new(name).ok());
            let needs = needs(dir.path(), &locked, installed).into_iter();
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

    /// Where the one that was asked for stays, the path that is declared leads to another one.
    #[test]
    fn a_path_means_the_skill_that_is_locked_for_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let shown = |declared: &str, locked: &[&str]| -> Vec<String> {
            let text =
                format!("---\nname: x\ndescription: X.\nmetadata:\n  skill-dependencies: {declared}\n---\n");
            fs::write_atomic(&dir.path().join("SKILL.md"), text.as_bytes()).expect("writes");
            let locked: Vec<_> = locked.iter().map(|name| (*name).to_owned()).collect();
            let needs = needs(dir.path(), &locked, |_| None).into_iter();
            needs.map(|need| format!("{} is {}", need.text, need.name.unwrap_or_default())).collect()
        };
        assert_eq!(shown("../base", &["base"]), ["../base is base"]);
        assert_eq!(shown("../dir", &["base"]), ["../dir is base"]);
        assert_eq!(shown("fonts ../dir/", &["base", "fonts"]), ["../dir/ is base", "fonts is fonts"]);
        assert_eq!(shown("../one ../base", &["base", "two"]), ["../base is base", "../one is two"]);
        assert_eq!(shown("../one ../two", &["base"]), ["base is base", "../one is ", "../two is "]);
        assert_eq!(shown("../base", &[]), ["../base is "]);
    }

    #[test]
    fn lists_are_read_as_texts_are() {
        let texts = |value: &str| -> Vec<String> {
            let text =
                format!("---\nname: x\ndescription: X.\nmetadata:\n  skill-dependencies: {value}\n---\n");
            let document = Document::parse(text);
            let loaded = skill::load(&document).expect("loads");
            declared(&loaded.meta).into_iter().map(|declared| declared.text).collect()
        };
        assert_eq!(texts("a, b@1 c"), ["a", "b@1", "c"]);
        assert_eq!(texts("[a, b@1 c]"), ["a", "b@1", "c"]);
        assert_eq!(texts("{a: b}"), [""; 0]);
    }

    /// Conflict C32: what nobody asks for stays for as long as somebody needs it.
    #[test]
    fn who_is_needed_and_by_whom() {
        let name = |text: &str| SkillName::new(text).expect(text);
        let entry = |(text, needs): &(&str, &str)| {
            let digest = "0".repeat(64);
            format!(
                "[[skill]]\nname = \"{text}\"\nsource = \"path:./{text}\"\ndigest = \"sha256:{digest}\"\ndependencies = [{needs}]\n"
            )
        };
        let skills = [("a", "'b', 'absent', 'Not a name'"), ("b", "'c', 'a', 'b'"), ("c", ""), ("d", "'c'")];
        let text: String = skills.iter().map(entry).collect();
        let lock = Lockfile::parse(&format!("version = 1\n{text}")).expect("a lockfile").skills;
        let reached = |roots: &[&str]| -> Vec<String> {
            let roots: Vec<_> = roots.iter().map(|root| name(root)).collect();
            let reached = reach(&roots, |name| lock.get(name));
            reached.into_iter().map(String::from).collect()
        };
        assert_eq!(reached(&["a"]), ["a", "absent", "b", "c"]);
        assert_eq!(reached(&["d"]), ["c", "d"]);
        assert_eq!(reached(&[]), [""; 0]);
        let needers: Vec<_> =
            needers(&lock).into_iter().map(|(name, by)| (name.to_string(), by.len())).collect();
        assert_eq!(needers, [("a", 1), ("absent", 1), ("b", 1), ("c", 2)].map(|(n, c)| (n.to_owned(), c)));
    }
}
