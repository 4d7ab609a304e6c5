//! The lines that git leaves where it could not merge two versions.

/// A marker of a merge conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConflictMark {
    /// `<<<<<<<`, before the one side.
    Start,
    /// `|||||||`, before what both sides had.
    Base,
    /// `=======`, before the other side.
    Middle,
    /// `>>>>>>>`, behind it.
    End,
}

impl ConflictMark {
    /// Returns the marker that `line` is: seven signs, with nothing or a blank and a label behind them.
    ///
    /// Source: git-merge, how conflicts are presented.
    pub(crate) fn of(line: &str) -> Option<Self> {
        let all = [
            ("<<<<<<<", Self::Start),
            ("|||||||", Self::Base),
            ("=======", Self::Middle),
            (">>>>>>>", Self::End),
        ];
        let (_, mark) = all.into_iter().find(|(signs, _)| {
            line.strip_prefix(signs).is_some_and(|rest| rest.starts_with(' ') || rest.trim_end().is_empty())
        })?;
        Some(mark)
    }
}

/// Returns the line, from 1, of the first merge conflict marker that git left.
pub fn conflict_line(text: &str) -> Option<usize> {
    text.lines().position(is_conflict_mark).map(|line| line + 1)
}

/// Reports whether `line` is the first or the last marker of a merge conflict: in other formats the ones between may be
/// something else.
pub fn is_conflict_mark(line: &str) -> bool {
    matches!(ConflictMark::of(line), Some(ConflictMark::Start | ConflictMark::End))
}
