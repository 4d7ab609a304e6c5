//! The differences between a copy that another tool installed and its source.

use super::gh;
use crate::tree::{FileEntry, FileSet, ReadError};

/// A file that the npm tool leaves out of its copies.
const NOT_COPIED: &str = "metadata.json";
/// Directories that it leaves out.
const DIRECTORIES_NOT_COPIED: [&str; 3] = [".git", "__pycache__", "__pypackages__"];

/// The likeness of a copy to its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Likeness {
    /// Every byte is the same as in the source.
    Same,
    /// The copy is what a tool makes from the source; it was not edited.
    Made {
        /// Files of the source that the tool leaves out.
        left_out: Vec<String>,
        /// Whether `gh skill` added to its frontmatter.
        injected: bool,
    },
    /// The copy was edited, or is another version.
    Different {
        /// The files that differ, are missing or are extra.
        files: Vec<String>,
    },
}

/// Compares `copy` with its `source`. Modes do not count: not every tool keeps them.
///
/// # Errors
///
/// Fails on content that cannot be read.
pub fn compare(source: &FileSet, copy: &FileSet) -> Result<Likeness, ReadError> {
    if source.digest()? == copy.digest()? {
        return Ok(Likeness::Same);
    }
    let (mut left_out, mut injected, mut files) = (Vec::new(), false, Vec::new());
    for file in source.files() {
        let path = file.path.as_str();
        match copy.get(path) {
            Some(other) if is_same(source, file, copy, other)? => {}
            Some(other)
                if path == "SKILL.md" && gh::says_the_same(&source.read(file)?, &copy.read(other)?) =>
            {
                injected = true;
            }
            None if is_left_out(path) => left_out.push(path.to_owned()),
            _ => files.push(path.to_owned()),
        }
    }
    let more = copy.files().iter().filter(|file| source.get(file.path.as_str()).is_none());
    files.extend(more.map(|file| file.path.as_str().to_owned()));
    Ok(if files.is_empty() { Likeness::Made { left_out, injected } } else { Likeness::Different { files } })
}

fn is_same(one: &FileSet, a: &FileEntry, other: &FileSet, b: &FileEntry) -> Result<bool, ReadError> {
    Ok(a.size == b.size && one.read(a)? == other.read(b)?)
}

fn is_left_out(path: &str) -> bool {
    let mut parts: Vec<&str> = path.split('/').collect();
    let name = parts.pop();
    name == Some(NOT_COPIED) || parts.iter().any(|part| DIRECTORIES_NOT_COPIED.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Limits;
    use crate::testing::tree;

    fn likeness(source: &[(&str, &str)], copy: &[(&str, &str)]) -> Likeness {
        let [source, copy] =
            [source, copy].map(|files| tree(files).skill("", &Limits::default()).expect("a skill"));
        compare(&source, &copy).expect("reads")
    }

    /// INTEROP, section 1: what the npm tool leaves out is not an edit.
    #[test]
    fn what_tools_do_is_no_edit() {
        let skill = "---\nname: x\ndescription: y\n---\nbody\n";
        let by_gh =
            "---\ndescription: y\nmetadata:\n    github-repo: https://github.com/o/r\nname: x\n---\nbody\n";
        let source: &[(&str, &str)] =
            &[("SKILL.md", skill), ("metadata.json", "{}"), ("s/run.sh*", ""), ("s/__pycache__/a.pyc", "")];
        assert_eq!(likeness(source, source), Likeness::Same);
        let left_out = vec!["metadata.json".to_owned(), "s/__pycache__/a.pyc".to_owned()];
        assert_eq!(
            likeness(source, &[("SKILL.md", skill), ("s/run.sh", "")]),
            Likeness::Made { left_out: left_out.clone(), injected: false }
        );
        assert_eq!(
            likeness(source, &[("SKILL.md", by_gh), ("s/run.sh*", "")]),
            Likeness::Made { left_out, injected: true }
        );
        let different =
            |files: &[&str]| Likeness::Different { files: files.iter().map(ToString::to_string).collect() };
        assert_eq!(likeness(source, &[("SKILL.md", skill), ("more", "")]), different(&["s/run.sh", "more"]));
        assert_eq!(
            likeness(source, &[("SKILL.md", "---\nname: x\n---\n"), ("s/run.sh", "x")]),
            different(&["SKILL.md", "s/run.sh"])
        );
    }
}
