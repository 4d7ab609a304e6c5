//! Comparison of two versions of a skill, file by file.

use std::collections::BTreeSet;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use similar::ChangeTag;

use super::lines::{by_lines, hunks, shown};
use crate::path::SafePath;
use crate::review::{Review, review};
use crate::tree::{FileEntry, FileSet, ReadError};

/// The longest text that is compared line by line, in bytes.
pub const MAX_FILE: usize = 1 << 20;
/// The largest number of lines of such a text.
pub const MAX_LINES: usize = 50_000;
/// The maximum number of bytes of hunks; files after that are only named.
pub const MAX_SHOWN: usize = 8 << 20;

/// The changes in a version of a skill: first what a reviewer must see, then every line.
///
/// ```
/// use std::sync::Arc;
///
/// use skillpm_core::ops::diff::{FileStatus, VersionDiff};
/// use skillpm_format::path::SafePath;
/// use skillpm_format::refusal::Limits;
/// use skillpm_format::tree::{FileEntry, FileSet, Memory};
///
/// let skill = |text: &str| {
///     let path = SafePath::new("SKILL.md").expect("a safe path");
///     let entry = FileEntry::new(path, false, text.len() as u64, 0);
///     let content = Arc::new(Memory(vec![text.as_bytes().to_vec()]));
///     FileSet::new(vec![entry], content, &Limits::default()).expect("within the limits")
/// };
/// let diff = VersionDiff::new(&skill("one\n"), &skill("one\nSee https://example.org\n"))?;
/// assert_eq!(diff.review.new_capabilities(), 1);
/// assert_eq!(diff.diff.files[0].status, FileStatus::Changed);
/// assert_eq!(diff.diff.counts.added_lines, 1);
/// # Ok::<(), skillpm_format::tree::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VersionDiff {
    /// The review: what a reviewer must see.
    pub review: Review,
    /// All differences.
    #[serde(flatten)]
    pub diff: TreeDiff,
}

/// The files that differ between two versions of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct TreeDiff {
    /// The number of changes.
    pub counts: Counts,
    /// The files, sorted by path.
    pub files: Vec<FileDiff>,
}

/// The number of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Counts {
    /// Added files.
    pub added: usize,
    /// Removed files.
    pub removed: usize,
    /// Changed files.
    pub changed: usize,
    /// Added lines, in the files that are compared line by line.
    pub added_lines: usize,
    /// Removed lines.
    pub removed_lines: usize,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileDiff {
    /// The path below the skill's directory.
    pub path: SafePath,
    /// The status of the file.
    pub status: FileStatus,
    /// Whether it was executable; `None` if it did not exist.
    pub was_executable: Option<bool>,
    /// Whether it is executable; `None` if it was removed.
    pub is_executable: Option<bool>,
    /// The difference in its content.
    pub content: ContentDiff,
}

/// The status of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileStatus {
    /// It was added.
    Added,
    /// It was removed.
    Removed,
    /// It was changed.
    Changed,
}

/// The difference in the content of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ContentDiff {
    /// None: only the mode differs.
    Same,
    /// Line by line.
    Text {
        /// Headers and hunks, as `diff -u` writes them. The lines are not escaped: the code that prints them
        /// does that.
        unified: String,
        /// Added lines.
        added: usize,
        /// Removed lines.
        removed: usize,
    },
    /// The old or the new version is not text.
    Binary {
        /// The old size in bytes; 0 if it did not exist.
        old_size: u64,
        /// The new size in bytes.
        new_size: u64,
    },
    /// It is too long, or comes after too many other differences.
    TooLong {
        /// The old size in bytes; 0 if it did not exist.
        old_size: u64,
        /// The new size in bytes.
        new_size: u64,
    },
}

impl VersionDiff {
    /// Compares two versions.
    ///
    /// # Errors
    ///
    /// Fails if a version cannot be read, as [`FileSet::read`].
    pub fn new(old: &FileSet, new: &FileSet) -> Result<Self, ReadError> {
        Ok(Self { review: review(Some(old), new)?, diff: TreeDiff::new(old, new)? })
    }
}

impl TreeDiff {
    /// Compares two versions.
    pub fn new(old: &FileSet, new: &FileSet) -> Result<Self, ReadError> {
        let paths: BTreeSet<&SafePath> =
            [old, new].iter().flat_map(|set| set.files()).map(|file| &file.path).collect();
        let mut diff = Self::default();
        let mut room = MAX_SHOWN;
        for path in paths {
            let (before, after) = (old.get(path.as_str()), new.get(path.as_str()));
            let content = content(path, &Side::read(old, before)?, &Side::read(new, after)?, &mut room);
            let (was, is) = (before.map(|file| file.executable), after.map(|file| file.executable));
            let status = match (was, is) {
                (None, _) => FileStatus::Added,
                (_, None) => FileStatus::Removed,
                (was, is) if was == is && content == ContentDiff::Same => continue,
                _ => FileStatus::Changed,
            };
            diff.counts.add(status, &content);
            let path = path.clone();
            diff.files.push(FileDiff { path, status, was_executable: was, is_executable: is, content });
        }
        Ok(diff)
    }
}

impl Counts {
    fn add(&mut self, status: FileStatus, content: &ContentDiff) {
        match status {
            FileStatus::Added => self.added += 1,
            FileStatus::Removed => self.removed += 1,
            FileStatus::Changed => self.changed += 1,
        }
        if let ContentDiff::Text { added, removed, .. } = content {
            self.added_lines += added;
            self.removed_lines += removed;
        }
    }

    /// Returns the number of files that differ.
    pub fn files(&self) -> usize {
        self.added + self.removed + self.changed
    }
}

/// The content of a file in one version; empty if it does not exist.
struct Side {
    bytes: Option<Vec<u8>>,
}

impl Side {
    fn read(set: &FileSet, file: Option<&FileEntry>) -> Result<Self, ReadError> {
        Ok(Self { bytes: file.map(|file| set.read(file)).transpose()? })
    }

    fn size(&self) -> u64 {
        self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)
    }

    fn text(&self) -> Option<&str> {
        let bytes = self.bytes.as_deref().unwrap_or_default();
        std::str::from_utf8(bytes).ok().filter(|_| memchr::memchr(0, bytes).is_none())
    }

    /// Returns the name in a header of a diff.
    fn name(&self, side: &str, path: &SafePath) -> String {
        let name = || format!("{side}/{}", shown(Path::new(path.as_str())));
        self.bytes.as_ref().map_or_else(|| "/dev/null".to_owned(), |_| name())
    }
}

fn content(path: &SafePath, old: &Side, new: &Side, room: &mut usize) -> ContentDiff {
    let (old_size, new_size) = (old.size(), new.size());
    if old.bytes.as_deref().unwrap_or_default() == new.bytes.as_deref().unwrap_or_default() {
        return ContentDiff::Same;
    }
    let (Some(before), Some(after)) = (old.text(), new.text()) else {
        return ContentDiff::Binary { old_size, new_size };
    };
    let lines = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count();
    if before.len().max(after.len()) > MAX_FILE || lines(before).max(lines(after)) > MAX_LINES || *room == 0 {
        return ContentDiff::TooLong { old_size, new_size };
    }
    let diff = by_lines(before, after);
    let unified = hunks(&diff, &old.name("a", path), &new.name("b", path));
    if unified.len() > *room {
        *room = 0;
        return ContentDiff::TooLong { old_size, new_size };
    }
    *room -= unified.len();
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    ContentDiff::Text { unified, added: count(ChangeTag::Insert), removed: count(ChangeTag::Delete) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{File, file_set as set};

    fn diff(old: &[File<'_>], new: &[File<'_>]) -> TreeDiff {
        TreeDiff::new(&set(old), &set(new)).expect("a diff")
    }

    #[test]
    fn each_file_that_differs_is_told() {
        let diff = diff(
            &[("SKILL.md", b"1\n2\n"), ("a.png", b"\0"), ("gone", b"x\n"), ("mode", b"m"), ("same", b"s")],
            &[
                ("SKILL.md", b"1\ntwo\n3\n"),
                ("a.png", b"\0\0"),
                ("mode*", b"m"),
                ("new*", b"y"),
                ("same", b"s"),
            ],
        );
        let text =
            |unified: &str, added, removed| ContentDiff::Text { unified: unified.to_owned(), added, removed };
        let told: Vec<_> = diff
            .files
            .iter()
            .map(|f| (f.path.as_str(), f.status, f.is_executable, f.content.clone()))
            .collect();
        assert_eq!(
            told,
            [
                (
                    "SKILL.md",
                    FileStatus::Changed,
                    Some(false),
                    text("--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1,2 +1,3 @@\n 1\n-2\n+two\n+3\n", 2, 1)
                ),
                ("a.png", FileStatus::Changed, Some(false), ContentDiff::Binary { old_size: 1, new_size: 2 }),
                (
                    "gone",
                    FileStatus::Removed,
                    None,
                    text("--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", 0, 1)
                ),
                ("mode", FileStatus::Changed, Some(true), ContentDiff::Same),
                (
                    "new",
                    FileStatus::Added,
                    Some(true),
                    text("--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+y\n\\ No newline at end of file\n", 1, 0)
                ),
            ]
        );
        let counts = Counts { added: 1, removed: 1, changed: 3, added_lines: 3, removed_lines: 2 };
        assert_eq!((diff.counts, diff.counts.files()), (counts, 5));
    }

    #[test]
    fn an_empty_file_that_came_is_told() {
        let diff = diff(&[], &[("a", b"")]);
        assert_eq!((diff.files[0].status, &diff.files[0].content), (FileStatus::Added, &ContentDiff::Same));
    }

    #[test]
    fn long_files_and_long_diffs_are_only_named() {
        for large in ["x".repeat(MAX_FILE + 1), "\n".repeat(MAX_LINES + 1)] {
            assert_eq!(
                diff(&[("a", b"x")], &[("a", large.as_bytes())]).files[0].content,
                ContentDiff::TooLong { old_size: 1, new_size: large.len() as u64 }
            );
        }
        let text = format!("{}\n", "x".repeat(29)).repeat(34_000);
        let names: Vec<String> = (0..9).map(|n| format!("f{n}")).collect();
        let files: Vec<File<'_>> = names.iter().map(|name| (&**name, text.as_bytes())).collect();
        let diff = diff(&[], &files);
        let too_long = diff.files.iter().filter(|file| matches!(file.content, ContentDiff::TooLong { .. }));
        assert_eq!((diff.files.len(), too_long.count()), (9, 2));
        assert_eq!(diff.counts.added_lines, 7 * 34_000);
    }

    #[test]
    fn the_json_has_the_review_first() {
        let diff = VersionDiff::new(&set(&[]), &set(&[("SKILL.md", b"`curl x`\n")])).expect("a diff");
        insta::assert_snapshot!(serde_json::to_string_pretty(&diff).expect("JSON"), @r#"
        {
          "review": {
            "changes": [
              {
                "kind": "command",
                "new_capability": true,
                "path": "SKILL.md",
                "line": 1,
                "text": "curl x"
              }
            ],
            "omitted": 0,
            "omitted_capabilities": 0
          },
          "counts": {
            "added": 1,
            "removed": 0,
            "changed": 0,
            "added_lines": 1,
            "removed_lines": 0
          },
          "files": [
            {
              "path": "SKILL.md",
              "status": "added",
              "was_executable": null,
              "is_executable": false,
              "content": {
                "kind": "text",
                "unified": "--- /dev/null\n+++ b/SKILL.md\n@@ -0,0 +1 @@\n+`curl x`\n",
                "added": 1,
                "removed": 0
              }
            }
          ]
        }
        "#);
    }
}
