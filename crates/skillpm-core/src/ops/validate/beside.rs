//! What the rules look at beside a `SKILL.md`: each file that it names, and the list of all only if that does not do.

use std::path::Path;

use crate::engine::files::{self, Contents};
use crate::fs::{self, Kind};
use crate::lint::{Named, Needs, Plan, SkillFile, Subject};

/// What the active rules examine besides the `SKILL.md`.
pub(super) struct Wanted {
    files: bool,
    /// What says which files it is about, where not all of them are wanted.
    paths: Vec<for<'a> fn(&Subject<'a>) -> Vec<Named<'a>>>,
}

/// What was found next to a `SKILL.md`.
#[derive(Default)]
pub(super) struct Beside {
    pub(super) files: Option<Vec<SkillFile>>,
    pub(super) absent: Vec<String>,
}

impl Wanted {
    pub(super) fn by(plan: &Plan<'_>) -> Self {
        let mut wanted = Self { files: false, paths: Vec::new() };
        for rule in plan.rules() {
            match rule.needs {
                Needs::Document => {}
                Needs::Paths(named) => wanted.paths.push(named),
                Needs::Files => wanted.files = true,
            }
        }
        wanted
    }

    /// Reports whether all files of a skill are listed.
    pub(super) fn files(&self) -> bool {
        self.files
    }

    /// Returns what of a skill's files is examined where they are listed.
    pub(super) fn contents(&self) -> Contents {
        if self.files { Contents::Read } else { Contents::Unread }
    }

    /// Looks at what is wanted of the skill in `dir`: at each file that it names, and at all of them only if that does
    /// not do.
    pub(super) fn look(&self, subject: &Subject<'_>, dir: &Path) -> Beside {
        let list = || files::of_skill(dir, self.contents());
        if self.files {
            return Beside { files: list(), absent: Vec::new() };
        }
        let mut absent = Vec::new();
        for named in self.paths.iter().flat_map(|named| named(subject)) {
            match has(dir, &named.path) {
                Some(true) => {}
                Some(false) if !named.or_list => absent.push(named.path.into_owned()),
                _ => return Beside { files: list(), absent: Vec::new() },
            }
        }
        Beside { files: None, absent }
    }
}

/// Whether a path in another case may lead to the same file, so that only a list tells the right case.
const ANY_CASE: bool = cfg!(any(windows, target_vendor = "apple"));

/// Reports whether `path` is a file or link of the skill in `dir`; `None` if only the list of all files tells.
///
/// A directory of the skill that is a link is followed here and not in the list: to tell that
/// would take a second look for nearly every file.
fn has(dir: &Path, path: &str) -> Option<bool> {
    // No file of a list has such a path, and on Windows it may lead anywhere.
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Some(false);
    }
    if ANY_CASE || path.contains('\\') {
        return None;
    }
    match fs::kind(&dir.join(path)) {
        Ok(Some(Kind::File | Kind::Symlink)) => Some(true),
        Ok(None) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::engine::load::SKILL_FILE;
    use crate::engine::testing::World;
    use crate::lint::{Level, Profile, RULES, Ruleset, SkillFileKind};

    /// What a rule says that it needs is what it looks at.
    #[test]
    fn rules_look_at_no_more_than_they_say() {
        let texts = RULES.iter().flat_map(|rule| [rule.docs.bad, rule.docs.good]);
        for text in texts {
            let document = Document::parse(text.to_owned());
            let subject = Subject::new(&document, Some("pdf"), SKILL_FILE);
            for rule in RULES {
                let found = |subject: &Subject<'_>| {
                    let mut findings = Vec::new();
                    rule.look(subject, &mut findings);
                    findings
                };
                let known = match rule.needs {
                    Needs::Files => continue,
                    Needs::Document => Vec::new(),
                    Needs::Paths(named) => named(&subject),
                };
                // With all files that it names, a rule has nothing to say about files.
                let file =
                    |named: Named<'_>| SkillFile { path: named.path.into_owned(), kind: SkillFileKind::Link };
                let files: Vec<SkillFile> = known.into_iter().map(file).collect();
                assert_eq!(found(&subject), found(&subject.with_files(&files)), "{}", rule.id);
            }
        }
    }

    fn needs_files(rules: &Ruleset) -> bool {
        Wanted::by(&Plan::new(rules)).files
    }

    /// The default profile lists no files, which takes longer than all else.
    #[test]
    fn files_are_listed_for_the_rules_that_need_them() {
        let mut rules = Ruleset::new(Profile::Spec);
        assert!(!needs_files(&rules));
        rules.set("reference-depth", Level::Warning).expect("a rule");
        assert!(needs_files(&rules));
        for (profile, files, paths) in [
            (Profile::Spec, false, 2),
            (Profile::Reference, false, 0),
            (Profile::ClaudeCode, true, 2),
            (Profile::Publish, true, 2),
            (Profile::Lenient, false, 0),
        ] {
            let rules = Ruleset::new(profile);
            let wanted = Wanted::by(&Plan::new(&rules));
            assert_eq!((wanted.files, wanted.paths.len()), (files, paths), "{profile}");
        }
    }

    /// A look at the single files and a list of all of them come to the same.
    #[test]
    fn single_files_tell_what_the_list_tells() {
        let world = World::new();
        world.write("pdf/a.md", "");
        world.write("pdf/b/c.md", "");
        world.write("pdf/b/d/e.md", "");
        world.write("other/x.md", "");
        #[cfg(unix)]
        {
            world.link("nowhere", "pdf/link.md");
        }
        fs::create_dir_all(&world.project().join("pdf/empty")).expect("creates");
        let dir = world.project().join("pdf");
        let listed = files::of_skill(&dir, Contents::Unread).expect("a directory");
        for (path, expected) in [
            ("a.md", Some(true)),
            ("b/c.md", Some(true)),
            ("b/d/e.md", Some(true)),
            ("b", None),
            ("empty", None),
            ("A.md", Some(false)),
            ("b/c.md/d", Some(false)),
            ("x.md", Some(false)),
            ("../other/x.md", Some(false)),
            ("/etc/passwd", Some(false)),
            ("b//c.md", Some(false)),
            ("a\0", None),
            ("b\\c.md", None),
            #[cfg(unix)]
            ("link.md", Some(true)),
        ] {
            let found = has(&dir, path);
            assert_eq!(found, if ANY_CASE && expected == Some(true) { None } else { expected }, "{path}");
            if let Some(there) = found {
                assert_eq!(there, listed.iter().any(|file| file.path == path), "{path}");
            }
        }
    }
}
