//! The differences between two versions, new capabilities first.

use serde::Serialize;
use skillpm_core::ops::diff::{ContentDiff, FileStatus, VersionDiff};
use skillpm_format::tree::FileSet;

use super::contents::{Access, grouped};
use super::view::{bytes, printable};
use crate::error::Result;

/// The largest number of lines that are shown.
const LINES: usize = 5_000;

#[derive(Debug, Serialize)]
pub(super) struct Diff {
    /// The new capabilities of the skill.
    capabilities: Vec<Access>,
    /// Other additions to look at.
    others: Vec<Access>,
    /// Additions that are not listed.
    omitted: usize,
    files: Vec<File>,
    added_lines: usize,
    removed_lines: usize,
}

#[derive(Debug, Serialize)]
struct File {
    path: String,
    status: &'static str,
    /// The change of the mode.
    mode: Option<&'static str>,
    lines: Vec<Line>,
    /// Why no lines are shown.
    note: Option<String>,
}

#[derive(Debug, Serialize)]
struct Line {
    kind: &'static str,
    text: String,
}

impl Diff {
    /// Compares the files of two versions.
    pub(super) fn of(old: &FileSet, new: &FileSet) -> Result<Self> {
        let VersionDiff { review, diff } = VersionDiff::new(old, new)?;
        let mut room = LINES;
        let file = |file: &skillpm_core::ops::diff::FileDiff| {
            let (lines, note) = content(&file.content, &mut room);
            File {
                path: printable(file.path.as_str()),
                status: match file.status {
                    FileStatus::Added => "added",
                    FileStatus::Removed => "removed",
                    FileStatus::Changed => "changed",
                },
                mode: match (file.was_executable, file.is_executable) {
                    (Some(false) | None, Some(true)) => Some("now executable"),
                    (Some(true), Some(false)) => Some("no longer executable"),
                    _ => None,
                },
                lines,
                note,
            }
        };
        Ok(Self {
            capabilities: grouped(review.changes.iter().filter(|change| change.new_capability)),
            others: grouped(review.changes.iter().filter(|change| !change.new_capability)),
            omitted: review.omitted,
            added_lines: diff.counts.added_lines,
            removed_lines: diff.counts.removed_lines,
            files: diff.files.iter().map(file).collect(),
        })
    }
}

fn content(content: &ContentDiff, room: &mut usize) -> (Vec<Line>, Option<String>) {
    let sizes = |why: &str, old: u64, new: u64| {
        let reason = match (old, new) {
            (0, new) => bytes(new),
            (old, 0) => bytes(old),
            (old, new) => format!("{} before, {} now", bytes(old), bytes(new)),
        };
        (Vec::new(), Some(format!("{why}: {reason}")))
    };
    match content {
        ContentDiff::Same => (Vec::new(), None),
        ContentDiff::Binary { old_size, new_size } => sizes("binary file", *old_size, *new_size),
        ContentDiff::TooLong { old_size, new_size } => sizes("too long to show", *old_size, *new_size),
        ContentDiff::Text { unified, .. } => {
            // The first two lines name the file.
            let all = unified.split_terminator('\n').skip(2);
            let lines: Vec<Line> = all.clone().take(*room).map(line).collect();
            *room -= lines.len();
            let more = all.count() - lines.len();
            (lines, (more > 0).then(|| format!("and {more} more lines")))
        }
    }
}

fn line(text: &str) -> Line {
    let kind = match text.as_bytes().first() {
        Some(b'+') => "added",
        Some(b'-') => "removed",
        Some(b'@') => "hunk",
        _ => "same",
    };
    Line { kind, text: printable(text.strip_suffix('\r').unwrap_or(text)) }
}
