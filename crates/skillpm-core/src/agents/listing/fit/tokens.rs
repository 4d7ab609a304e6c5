//! Codex's way to fit: descriptions are shortened evenly, then left out, then skills. Files are told below a table of the
//! directories, if more fits that way.
//!
//! Measured with version 0.171.0, exact to the byte.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::form::{Line, in_file};
use super::{Fitted, Unit};
use crate::agents::listing::{Candidate, State};

/// The budget in characters where the window of the model is not known.
const CHARACTERS: u64 = 8_000;
/// The bytes of the text around the lines: with a table of directories, and without one.
const AROUND_TABLE: usize = 310;
const AROUND: usize = 451;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    /// A quarter of the bytes of each line, rounded up.
    Tokens,
    /// Characters.
    Characters,
}

impl Count {
    fn of(self, bytes: usize, characters: usize) -> u64 {
        match self {
            Self::Tokens => bytes.div_ceil(4) as u64,
            Self::Characters => characters as u64,
        }
    }

    /// Returns what a line and its end take.
    fn line(self, line: &str) -> u64 {
        self.of(line.len() + 1, line.chars().count() + 1)
    }
}

/// A listing that fits.
struct Variant {
    /// How many characters of each description it has; `None` for a skill that is left out.
    kept: Vec<Option<usize>>,
    text: String,
    /// What it takes together with its table.
    used: u64,
    sizes: Vec<u64>,
}

impl Variant {
    /// The more skills, then the more of their descriptions, then the shorter, the better.
    fn is_better_than(&self, other: &Self) -> bool {
        let rank = |variant: &Self| {
            let listed = variant.kept.iter().flatten();
            (listed.clone().count(), listed.sum::<usize>(), std::cmp::Reverse(variant.used))
        };
        rank(self) > rank(other)
    }
}

/// Fits `lines`, those of `listed`, into `budget` tokens; without one, into a number of characters. Without skills there
/// is no text.
pub(super) fn fit(listed: &[Candidate], lines: &[Line], budget: Option<u64>) -> Fitted {
    let (count, unit) = match budget {
        Some(_) => (Count::Tokens, Unit::Tokens),
        None => (Count::Characters, Unit::Characters),
    };
    let budget = budget.map_or(CHARACTERS, |budget| budget.max(1));
    let plain: Vec<_> = lines.iter().map(|line| line.file.replace('\\', "/")).collect();
    let roots = roots(listed);
    let mut table = String::from("### Skill roots\n");
    for (at, root) in roots.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "- `r{at}` = `{root}`");
    }
    let with_table = count.of(AROUND_TABLE - 16 + table.len(), AROUND_TABLE - 16 + table.chars().count());
    let overhead = with_table.saturating_sub(count.of(AROUND, AROUND));
    let mut best = variant(count, lines, &plain, budget, 0, "");
    if overhead < budget {
        let short: Vec<_> = plain.iter().map(|file| aliased(&roots, file)).collect();
        let other = variant(count, lines, &short, budget - overhead, overhead, &table);
        if other.is_better_than(&best) {
            best = other;
        }
    }
    let states = lines.iter().zip(&best.kept).map(|(line, kept)| match kept {
        None => State::Omitted,
        Some(0) => State::NameOnly,
        Some(kept) if *kept == line.description.chars().count() => line.most.clone(),
        Some(kept) => State::Cut(*kept),
    });
    Fitted {
        states: states.collect(),
        whole: Some(best.sizes.iter().sum()),
        sizes: best.sizes,
        used: Some(best.used),
        unit,
        budget: Some(budget),
        text: Some(if lines.is_empty() { String::new() } else { best.text }),
        ..Fitted::default()
    }
}

fn variant(
    count: Count,
    lines: &[Line],
    files: &[String],
    budget: u64,
    overhead: u64,
    table: &str,
) -> Variant {
    let with = |at: usize, description: &str| in_file(&lines[at].name, description, &files[at]);
    let bare: Vec<_> = (0..lines.len()).map(|at| with(at, "")).collect();
    let rows: Vec<_> =
        bare.iter().zip(lines).map(|(bare, line)| Row { bare, description: &line.description }).collect();
    let kept = shorten(count, &rows, budget);
    let mut text = format!("{table}### Available skills");
    let mut used = overhead;
    for (at, kept) in kept.iter().enumerate() {
        let Some(kept) = kept else { continue };
        let line = with(at, lines[at].shown(&State::Cut(*kept)));
        used += count.line(&line);
        text.push('\n');
        text.push_str(&line);
    }
    let sizes = (0..lines.len()).map(|at| count.line(&with(at, &lines[at].description))).collect();
    Variant { kept, text, used, sizes }
}

/// Returns the directories in which the skills were found, in the order in which the agent reads them. Plugins of one
/// marketplace with one skill each share that of the marketplace.
fn roots(listed: &[Candidate]) -> Vec<String> {
    let mut found: Vec<_> = listed.iter().map(|candidate| &candidate.found).collect();
    found.sort_by_key(|found| found.at);
    let mut skills: BTreeMap<&Path, usize> = BTreeMap::new();
    for (_, version) in found.iter().filter_map(|found| cached(&found.root)) {
        *skills.entry(version).or_default() += 1;
    }
    let mut roots: Vec<String> = Vec::new();
    for found in found {
        let shared = cached(&found.root).filter(|(_, version)| skills.get(version) == Some(&1));
        let root = shared.map_or(found.root.as_path(), |(market, _)| market);
        let root = root.display().to_string().replace('\\', "/");
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    roots
}

/// Returns the directories of the marketplace and of the version of the plugin that `root` is in:
/// `plugins/cache/MARKETPLACE/PLUGIN/VERSION`.
fn cached(root: &Path) -> Option<(&Path, &Path)> {
    let market =
        root.ancestors().find(|dir| dir.parent().is_some_and(|cache| cache.ends_with("plugins/cache")))?;
    let depth = market.components().count() + 2;
    let version = root.ancestors().find(|dir| dir.components().count() == depth)?;
    Some((market, version))
}

/// Returns `file` as a path below the number of the innermost root around it.
fn aliased(roots: &[String], file: &str) -> String {
    let below = |root: &String| file.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/');
    let inside = roots.iter().enumerate().filter_map(|(at, root)| Some((root.len(), at, below(root)?)));
    let innermost = inside.max_by_key(|(length, at, _)| (*length, std::cmp::Reverse(*at)));
    innermost.map_or_else(|| file.to_owned(), |(_, at, below)| format!("r{at}/{below}"))
}

/// A line without its description, and the description that may be put into it.
struct Row<'a> {
    bare: &'a str,
    description: &'a str,
}

impl Row<'_> {
    /// Returns what it takes with so much of the description.
    fn size(&self, count: Count, bytes: usize, characters: usize) -> u64 {
        // A blank follows the description, and each line has an end.
        let more = 1 + usize::from(characters > 0);
        count.of(self.bare.len() + bytes + more, self.bare.chars().count() + characters + more)
    }
}

/// Returns how many characters of each description fit into `budget`; `None` for a skill that is left out.
fn shorten(count: Count, rows: &[Row<'_>], budget: u64) -> Vec<Option<usize>> {
    let length = |row: &Row<'_>| row.description.chars().count();
    let whole: u64 = rows.iter().map(|row| row.size(count, row.description.len(), length(row))).sum();
    if whole <= budget {
        return rows.iter().map(|row| Some(length(row))).collect();
    }
    let bare: Vec<u64> = rows.iter().map(|row| row.size(count, 0, 0)).collect();
    let least: u64 = bare.iter().sum();
    if least > budget {
        // A long line is left out, and a later one may still fit.
        let mut used = 0;
        let kept = bare.iter().map(|size| {
            let fits = used + size <= budget;
            used += if fits { *size } else { 0 };
            fits.then_some(0)
        });
        return kept.collect();
    }
    // Each gets one more character in turn, until none fits.
    let mut room = budget - least;
    let mut rest: Vec<_> = rows.iter().map(|row| row.description.chars()).enumerate().collect();
    let mut kept = vec![(0, 0, 0); rows.len()];
    loop {
        let mut is_changed = false;
        rest.retain_mut(|(at, chars)| {
            let (bytes, characters, more) = kept[*at];
            let Some(next) = chars.clone().next() else { return false };
            let bytes = bytes + next.len_utf8();
            let size = rows[*at].size(count, bytes, characters + 1) - bare[*at];
            if size - more <= room {
                room -= size - more;
                kept[*at] = (bytes, characters + 1, size);
                chars.next();
                is_changed = true;
            }
            true
        });
        if !is_changed {
            return kept.into_iter().map(|(_, characters, _)| Some(characters)).collect();
        }
    }
}
