//! The names that are free, and the names under which the user's files are kept.

use std::collections::BTreeMap;

use crate::path::{SafePath, collision_key};

/// The maximum length to which file names are cut if the whole path would become too long.
const MAX_STEM: usize = 100;

/// The names of files and directories that are taken.
#[derive(Default)]
pub(super) struct Names {
    /// By the key that some file systems use for the name: its spelling, and whether it is a file's.
    taken: BTreeMap<String, (String, bool)>,
}

impl Names {
    /// Takes the name of the file `path` and of the directories above it. If one of them cannot be taken, returns the
    /// number of bytes of `path` up to the end of the first such name.
    pub(super) fn take(&mut self, path: &SafePath) -> Result<(), usize> {
        let names = || path.ancestors().map(|name| (name, false)).chain([(path.as_str(), true)]);
        for (name, is_file) in names() {
            match self.taken.get(&*collision_key(name)) {
                None => {}
                Some((other, false)) if other == name && !is_file => {}
                Some(_) => return Err(name.len()),
            }
        }
        for (name, is_file) in names() {
            self.taken.insert(collision_key(name).into_owned(), (name.to_owned(), is_file));
        }
        Ok(())
    }
}

/// Returns an endless sequence of names under which the user's file at `path` may be kept, the best first. The first
/// `at` bytes of the path are the name that is taken.
pub(super) fn beside(path: &SafePath, at: usize) -> impl Iterator<Item = SafePath> {
    (1_usize..).filter_map(move |number| {
        let suffix = if number == 1 { ".mine".to_owned() } else { format!(".mine-{number}") };
        let (taken, rest) = path.as_str().split_at(at);
        // A prefix of a valid name with the suffix added is valid.
        let name = path.file_name();
        let stem = &name[..name.floor_char_boundary(MAX_STEM)];
        let directory = path.parent().map_or_else(String::new, |parent| format!("{parent}/"));
        let candidates = [
            format!("{taken}{suffix}{rest}"),
            if at == path.as_str().len() { format!("{directory}{stem}{suffix}") } else { String::new() },
            format!("{stem}{suffix}"),
        ];
        candidates.iter().find_map(|candidate| SafePath::new(candidate).ok())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(text: &str) -> SafePath {
        SafePath::new(text).expect(text)
    }

    fn first(text: &str, at: usize) -> Vec<String> {
        beside(&path(text), at).take(2).map(|path| path.to_string()).collect()
    }

    #[test]
    fn names_that_meet_are_not_taken_twice() {
        let mut names = Names::default();
        for (name, taken) in [
            ("a/b.md", Ok(())),
            ("a/c.md", Ok(())),
            ("a/B.md", Err(6)),
            ("A/d.md", Err(1)),
            ("a", Err(1)),
            ("a/b.md/x", Err(6)),
            ("a/b.md", Err(6)),
            ("ﬁle", Ok(())),
            ("FILE", Err(4)),
        ] {
            assert_eq!(names.take(&path(name)), taken, "{name}");
        }
    }

    #[test]
    fn kept_files_stand_beside() {
        assert_eq!(first("SKILL.md", 8), ["SKILL.md.mine", "SKILL.md.mine-2"]);
        assert_eq!(first("a/b/c", 1), ["a.mine/b/c", "a.mine-2/b/c"]);
        let long = "n".repeat(236);
        assert_eq!(first(&format!("d/{long}"), 238)[0], format!("d/{}.mine", "n".repeat(100)));
        let deep = [&*"d".repeat(200), "123456789012345678901234567890123456"].join("/");
        assert_eq!(first(&deep, 237)[0], "123456789012345678901234567890123456.mine");
    }

    proptest! {
        #[test]
        fn there_is_always_a_name(text in "([a-c]{1,3}|é{1,130}|\\.x|y ){1}(/([a-b]{1,80}|日{1,60}|\\.gi|e)){0,5}") {
            if let Ok(path) = SafePath::new(&text) {
                for at in path.ancestors().map(str::len).chain([path.as_str().len()]) {
                    let names: Vec<_> = beside(&path, at).take(5).collect();
                    prop_assert_eq!(names.len(), 5);
                    prop_assert!(names.iter().all(|name| *name != path));
                }
            }
        }
    }
}
