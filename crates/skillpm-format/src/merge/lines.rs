//! Merging three texts into one, line by line.
//!
//! The result is that of `git merge-file`: changes with an unchanged line between them are both taken; others conflict,
//! unless they are equal. Lines common to both sides of a conflict are placed outside its markers, unless there are so
//! few that extra markers would be harder to read.

use std::iter::Peekable;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::Labels;
use crate::text::visible;

/// The maximum number of lines between two conflicts that are joined into one.
const MAX_GAP: usize = 3;

/// A merged text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) text: String,
    /// Whether it contains conflict markers.
    pub(super) conflict: bool,
}

/// Merges `ours` and `theirs`, which are both based on `base`.
///
/// If the texts have different line endings, these do not count as changes of lines: the result has the line endings of
/// the side that changed them.
pub(super) fn merge(base: &str, ours: &str, theirs: &str, labels: &Labels<'_>) -> Lines {
    let ends = [base, ours, theirs].map(Ends::of);
    let [of_base, of_ours, of_theirs] = ends;
    let told: Vec<Ends> = ends.into_iter().filter(|ends| *ends != Ends::None).collect();
    if told.contains(&Ends::Mixed) || told.windows(2).all(|pair| pair[0] == pair[1]) {
        return merge_exact(base, ours, theirs, labels);
    }
    let [base, ours, theirs] = [base, ours, theirs].map(|text| text.replace("\r\n", "\n"));
    let merged = merge_exact(&base, &ours, &theirs, labels);
    let wanted = if of_ours == of_base || of_ours == Ends::None { of_theirs } else { of_ours };
    match wanted {
        Ends::Crlf => Lines { text: merged.text.replace('\n', "\r\n"), ..merged },
        _ => merged,
    }
}

/// The line endings of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// There is one line, and it has no line ending.
    None,
    Lf,
    Crlf,
    Mixed,
}

impl Ends {
    fn of(text: &str) -> Self {
        let all = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let crlf = memchr::memmem::find_iter(text.as_bytes(), "\r\n").count();
        match (all, crlf) {
            (0, _) => Self::None,
            (_, 0) => Self::Lf,
            _ if all == crlf => Self::Crlf,
            _ => Self::Mixed,
        }
    }
}

/// A change on one side: the lines of the base, and the lines that replace them.
#[derive(Debug, Clone)]
struct Hunk {
    base: Range<usize>,
    side: Range<usize>,
}

/// A part of the result, in lines of the sides.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// Lines common to both sides.
    Both(Range<usize>),
    Ours(Range<usize>),
    Theirs(Range<usize>),
    Conflict(Range<usize>, Range<usize>),
}

fn merge_exact(base: &str, ours: &str, theirs: &str, labels: &Labels<'_>) -> Lines {
    let [base, ours, theirs] = [base, ours, theirs].map(split);
    let (here, there) = (hunks(&base, &ours), hunks(&base, &theirs));
    let parts = join(parts(&here, &there, &ours, &theirs), &ours);
    Writer::new(&ours, &theirs, labels).write(&parts)
}

fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns the changes from `base` to `side`; between two of them there are lines common to both.
fn hunks(base: &[&str], side: &[&str]) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, base, side) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (base, side) = (op.old_range(), op.new_range());
        match hunks.last_mut() {
            Some(last) if last.base.end == base.start && last.side.end == side.start => {
                *last = Hunk { base: last.base.start..base.end, side: last.side.start..side.end };
            }
            _ => hunks.push(Hunk { base, side }),
        }
    }
    settled(hunks, base, side)
}

/// Moves changes that only add or only delete lines to one of several possible places: after `a b`, is the new `b` in
/// `a b b` the first or the second one? As in git, it is the last one.
fn settled(hunks: Vec<Hunk>, base: &[&str], side: &[&str]) -> Vec<Hunk> {
    let mut settled: Vec<Hunk> = Vec::with_capacity(hunks.len());
    for mut hunk in hunks.into_iter().rev() {
        loop {
            let next = settled.last().map_or(base.len(), |next| next.base.start);
            let room = next - hunk.base.end;
            let (lines, changed) = match (hunk.base.is_empty(), hunk.side.is_empty()) {
                (false, true) => (base, &mut hunk.base),
                (true, false) => (side, &mut hunk.side),
                _ => break,
            };
            let Range { start, end } = changed.clone();
            let steps = (0..room).take_while(|step| lines[start + step] == lines[end + step]).count();
            for range in [&mut hunk.base, &mut hunk.side] {
                *range = range.start + steps..range.end + steps;
            }
            if steps < room || settled.is_empty() {
                break;
            }
            // It reached the next change, and both may move on together.
            if let Some(next) = settled.pop() {
                hunk = Hunk { base: hunk.base.start..next.base.end, side: hunk.side.start..next.side.end };
            }
        }
        settled.push(hunk);
    }
    settled.reverse();
    settled
}

/// The changes of one side, read from the start.
struct Reader<'a> {
    hunks: Peekable<std::slice::Iter<'a, Hunk>>,
    /// The positions in base and side after the last change: from there on they advance together.
    base: usize,
    side: usize,
}

impl<'a> Reader<'a> {
    fn new(hunks: &'a [Hunk]) -> Self {
        Self { hunks: hunks.iter().peekable(), base: 0, side: 0 }
    }

    /// Returns where the next change starts in the base.
    fn next_start(&mut self) -> Option<usize> {
        self.hunks.peek().map(|hunk| hunk.base.start)
    }

    /// Reads the next change if it starts at line `end` of the base or before.
    fn read(&mut self, end: usize) -> Option<Hunk> {
        let hunk = self.hunks.next_if(|hunk| hunk.base.start <= end)?;
        (self.base, self.side) = (hunk.base.end, hunk.side.end);
        Some(hunk.clone())
    }

    /// Returns the line of this side at line `base` of the base, which is not before the last change.
    fn line(&self, base: usize) -> usize {
        self.side + (base - self.base)
    }
}

/// Returns all parts in order. Changes that overlap or touch each other form one part.
fn parts(here: &[Hunk], there: &[Hunk], ours: &[&str], theirs: &[&str]) -> Vec<Part> {
    let (mut here, mut there) = (Reader::new(here), Reader::new(there));
    let mut parts = Vec::new();
    // The line of ours up to which everything is in a part.
    let mut at = 0;
    while let Some(start) = [here.next_start(), there.next_start()].into_iter().flatten().min() {
        let (ours_start, theirs_start) = (here.line(start), there.line(start));
        push_both(&mut parts, at..ours_start);
        let (mut end, mut by_us, mut by_them) = (start, false, false);
        loop {
            if let Some(hunk) = here.read(end) {
                by_us = true;
                end = end.max(hunk.base.end);
            } else if let Some(hunk) = there.read(end) {
                by_them = true;
                end = end.max(hunk.base.end);
            } else {
                break;
            }
        }
        let (in_ours, in_theirs) = (ours_start..here.line(end), theirs_start..there.line(end));
        at = in_ours.end;
        match (by_us, by_them) {
            (true, true) => refine(&mut parts, ours, in_ours, theirs, in_theirs),
            (true, false) => parts.push(Part::Ours(in_ours)),
            (false, _) => parts.push(Part::Theirs(in_theirs)),
        }
    }
    push_both(&mut parts, at..ours.len());
    parts
}

/// Appends lines common to both sides, to the previous part if that has such lines too.
fn push_both(parts: &mut Vec<Part>, lines: Range<usize>) {
    match parts.last_mut() {
        _ if lines.is_empty() => {}
        Some(Part::Both(last)) if last.end == lines.start => last.end = lines.end,
        _ => parts.push(Part::Both(lines)),
    }
}

/// Appends the changes of both sides: as conflicts only where they differ.
fn refine(
    parts: &mut Vec<Part>,
    ours: &[&str],
    in_ours: Range<usize>,
    theirs: &[&str],
    in_theirs: Range<usize>,
) {
    let mut at = in_ours.start;
    for hunk in hunks(&ours[in_ours.clone()], &theirs[in_theirs.clone()]) {
        let start = in_ours.start + hunk.base.start;
        push_both(parts, at..start);
        at = in_ours.start + hunk.base.end;
        let side = in_theirs.start + hunk.side.start..in_theirs.start + hunk.side.end;
        parts.push(Part::Conflict(start..at, side));
    }
    push_both(parts, at..in_ours.end);
}

/// Joins conflicts that have almost nothing between them.
fn join(parts: Vec<Part>, ours: &[&str]) -> Vec<Part> {
    let mut joined: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        match (joined.as_mut_slice(), part) {
            ([.., Part::Conflict(here, there), Part::Both(gap)], Part::Conflict(next_here, next_there))
                if is_little(&ours[gap.clone()]) =>
            {
                (here.end, there.end) = (next_here.end, next_there.end);
                joined.pop();
            }
            (_, part) => joined.push(part),
        }
    }
    joined
}

/// Reports whether `lines` are few, or contain nothing meaningful.
fn is_little(lines: &[&str]) -> bool {
    lines.len() <= MAX_GAP || !lines.iter().any(|line| line.contains(char::is_alphanumeric))
}

/// A writer for the result.
struct Writer<'a> {
    ours: &'a [&'a str],
    theirs: &'a [&'a str],
    /// The labels, each on one harmless line.
    labels: [String; 2],
    text: String,
}

impl<'a> Writer<'a> {
    fn new(ours: &'a [&'a str], theirs: &'a [&'a str], labels: &Labels<'_>) -> Self {
        let labels = [labels.ours, labels.theirs].map(|label| visible(label).replace(['\n', '\t'], " "));
        Self { ours, theirs, labels, text: String::new() }
    }

    fn write(mut self, parts: &[Part]) -> Lines {
        let mut conflict = false;
        for part in parts {
            match part {
                Part::Both(lines) | Part::Ours(lines) => self.lines(&self.ours[lines.clone()]),
                Part::Theirs(lines) => self.lines(&self.theirs[lines.clone()]),
                Part::Conflict(here, there) => {
                    conflict = true;
                    self.conflict(&self.ours[here.clone()], &self.theirs[there.clone()]);
                }
            }
        }
        Lines { text: self.text, conflict }
    }

    fn lines(&mut self, lines: &[&str]) {
        self.text.extend(lines.iter().copied());
    }

    fn conflict(&mut self, here: &[&str], there: &[&str]) {
        // Like the lines around the markers, so that an editor does not see two kinds of line endings.
        let before = Some(self.text.as_str()).filter(|text| !text.is_empty());
        let mut around = before.into_iter().chain(here.iter().chain(there).copied());
        let crlf = around.find(|text| text.ends_with('\n')).is_some_and(|text| text.ends_with("\r\n"));
        let end = if crlf { "\r\n" } else { "\n" };
        let [ours, theirs] = self.labels.clone();
        self.marker(&format!("<<<<<<< {ours}"), end);
        self.lines(here);
        self.marker("=======", end);
        self.lines(there);
        self.marker(&format!(">>>>>>> {theirs}"), end);
    }

    /// Writes a marker on its own line, even after a last line without a line ending.
    fn marker(&mut self, marker: &str, end: &str) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push_str(end);
        }
        self.text.push_str(marker);
        self.text.push_str(end);
    }
}

#[cfg(test)]
mod tests;
