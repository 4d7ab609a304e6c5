//! Which files of a skill's directory go into its package.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::fs::{self, Looked, Walk};
use crate::interop::cyclonedx;
use crate::skill::find::is_skill_file;
use crate::tree::ignore::{IGNORE_FILE, IgnoreRules, MAX_IGNORE_FILE, Verdict};
use crate::tree::leftovers::{directories, is_pending, leftover_in};
use crate::tree::{Node, Tree};
use crate::version::Version;

/// The directory of a skill that holds its evaluations.
const EVALUATIONS: &str = "evals";

/// The directory of git, which a scan never enters.
const GIT: &str = ".git";

/// The directories in which other version control systems keep their data.
const VERSION_CONTROL: [&str; 7] = [".hg", ".svn", ".jj", ".bzr", ".pijul", "_darcs", "CVS"];

/// A file or directory that is not packed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// The path below the skill's directory; a directory, with everything in it, ends in `/`.
    pub path: String,
    /// The reason.
    pub reason: LeaveReason,
}

/// The reason why something is not packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeaveReason {
    /// A rule of `.skillpmignore`.
    Ignored,
    /// It is `.skillpmignore` itself.
    IgnoreFile,
    /// It holds the skill's evaluations.
    Evaluation,
    /// It holds the data of a version control system.
    VersionControl,
    /// A tool or an editor left it.
    Leftover,
    /// It is an earlier package of this skill.
    Package,
}

/// A skill's directory, divided.
pub(super) struct Selection {
    /// The packed files.
    pub(super) tree: Tree,
    /// The other files, sorted.
    pub(super) left_out: Vec<LeftOut>,
}

/// Returns what of `tree`, which was read by [`scan`], goes into the package of the skill `name`.
pub(super) fn select(dir: &Path, tree: Tree, rules: &IgnoreRules, name: Option<&str>) -> Result<Selection> {
    let mut left_out: BTreeMap<String, LeaveReason> =
        tree.skipped().iter().map(|path| (format!("{path}/"), reason_of_skipped(path))).collect();
    if fs::kind(&dir.join(GIT))?.is_some() {
        left_out.insert(format!("{GIT}/"), LeaveReason::VersionControl);
    }
    let selector = Selector { rules, name };
    let mut out = BTreeSet::new();
    for (path, entry) in tree.entries() {
        if let Some((top, reason)) = selector.left_out(path, entry.node == Node::Symlink) {
            let is_directory = top.len() < path.len();
            left_out.insert(format!("{top}{}", if is_directory { "/" } else { "" }), reason);
            out.insert(path.to_owned());
        }
    }
    let left_out = left_out.into_iter().map(|(path, reason)| LeftOut { path, reason }).collect();
    Ok(Selection { tree: tree.without(|path| out.contains(path)), left_out })
}

fn reason_of_skipped(path: &str) -> LeaveReason {
    let name = path.rsplit('/').next().unwrap_or(path);
    if VERSION_CONTROL.contains(&name) { LeaveReason::VersionControl } else { LeaveReason::Leftover }
}

/// Reads the directory `dir`. What no rule can bring into a package is not entered: it may hold more than any skill.
pub(super) fn scan(dir: &Path, rules: &IgnoreRules) -> Result<Tree> {
    let leftovers = if rules.has_exceptions() { &[] } else { directories() };
    let skip: Vec<&str> = VERSION_CONTROL.iter().chain(leftovers).copied().collect();
    Ok(fs::scan(dir, Walk { skip: &skip, ..Walk::ALL })?)
}

/// Reads the rules in the directory `dir`; there are none without a file.
pub(super) fn rules(dir: &Path) -> Result<IgnoreRules> {
    let file = dir.join(IGNORE_FILE);
    let mut bytes = Vec::new();
    let text = match fs::read_regular(&file, MAX_IGNORE_FILE, &mut bytes)? {
        Looked::Absent => return Ok(IgnoreRules::default()),
        Looked::Read => String::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned()),
        Looked::Other => Err(format!("is not a regular file of at most {} MiB", MAX_IGNORE_FILE >> 20)),
    };
    let text = text.map_err(|reason| Error::config(format!("`{}` {reason}", file.display())))?;
    Ok(IgnoreRules::parse(&text))
}

struct Selector<'a> {
    rules: &'a IgnoreRules,
    /// The name of the skill, if it has one.
    name: Option<&'a str>,
}

impl Selector<'_> {
    /// Returns the part of `path` that stays out, as far up as possible, and why. Returns `None` if it stays in.
    fn left_out<'p>(&self, path: &'p str, is_link: bool) -> Option<(&'p str, LeaveReason)> {
        // Without it there is no skill.
        if is_skill_file(path) {
            return None;
        }
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        for part in ends.map(|end| &path[..end]) {
            let is_directory = part.len() < path.len();
            let reason = match self.rules.verdict(part, is_directory) {
                Some(Verdict::Out) => Some(LeaveReason::Ignored),
                Some(Verdict::In) => None,
                None if is_directory => by_default_directory(part),
                None => self.by_default_file(part, is_link),
            };
            if let Some(reason) = reason {
                return Some((part, reason));
            }
        }
        None
    }

    fn by_default_file(&self, path: &str, is_link: bool) -> Option<LeaveReason> {
        let file_name = path.rsplit('/').next().unwrap_or(path);
        if path == IGNORE_FILE {
            Some(LeaveReason::IgnoreFile)
        } else if leftover_in(file_name, is_link).is_some() {
            Some(LeaveReason::Leftover)
        } else if self.is_package(path) {
            Some(LeaveReason::Package)
        } else {
            None
        }
    }

    /// Reports whether `path` is where a package of this skill, or what goes with it, is written by default.
    fn is_package(&self, path: &str) -> bool {
        let rest = self.name.and_then(|name| path.strip_prefix(name)?.strip_prefix('-'));
        let version = rest.and_then(|rest| {
            rest.strip_suffix(super::packed::ENDING).or_else(|| rest.strip_suffix(cyclonedx::ENDING))
        });
        version.is_some_and(|version| Version::new(version).is_ok())
    }
}

fn by_default_directory(path: &str) -> Option<LeaveReason> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if path == EVALUATIONS {
        Some(LeaveReason::Evaluation)
    } else if directories().contains(&name) || is_pending(name) {
        Some(LeaveReason::Leftover)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_left_out(rules: &str, cases: &[(&str, Option<(&str, LeaveReason)>)]) {
        let rules = IgnoreRules::parse(rules);
        let selector = Selector { rules: &rules, name: Some("pdf") };
        for (path, expected) in cases {
            assert_eq!(selector.left_out(path, false), *expected, "{path}");
        }
    }

    #[test]
    fn what_stays_out_by_default() {
        use LeaveReason::{Evaluation, IgnoreFile, Leftover, Package};
        assert_left_out(
            "",
            &[
                ("SKILL.md", None),
                ("evals/a/evals.json", Some(("evals", Evaluation))),
                ("references/evals/a.md", None),
                ("evals.md", None),
                (".skillpmignore", Some((".skillpmignore", IgnoreFile))),
                ("a/.skillpmignore", None),
                ("scripts/__pycache__/a.pyc", Some(("scripts/__pycache__", Leftover))),
                ("a/.DS_Store", Some(("a/.DS_Store", Leftover))),
                ("pdf-1.2.0.zip", Some(("pdf-1.2.0.zip", Package))),
                ("pdf-1.2.cdx.json", Some(("pdf-1.2.cdx.json", Package))),
                ("pdf-form.zip", None),
                ("assets/pdf-1.2.0.zip", None),
                ("docx-1.2.0.zip", None),
                (".gitignore", None),
            ],
        );
    }

    #[test]
    fn rules_win_over_defaults_and_never_leave_out_the_skill() {
        use LeaveReason::{Evaluation, Ignored, Leftover};
        assert_left_out(
            "!/evals/\n!a.pyc\n/tests/\n*.psd\n!keep.psd\n",
            &[
                ("evals/evals.json", None),
                ("scripts/a.pyc", None),
                ("scripts/b.pyc", Some(("scripts/b.pyc", Leftover))),
                ("tests/a/b", Some(("tests", Ignored))),
                ("assets/a.psd", Some(("assets/a.psd", Ignored))),
                ("assets/keep.psd", None),
            ],
        );
        // In a directory that stays out nothing stays in.
        assert_left_out("!/evals/evals.json\n", &[("evals/evals.json", Some(("evals", Evaluation)))]);
        assert_left_out(
            "*\n!/scripts/\n!/scripts/*\n",
            &[("SKILL.md", None), ("scripts/a.py", None), ("a.md", Some(("a.md", Ignored)))],
        );
    }
}
