//! A baseline: findings that a project knows and does not want to hear about again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Finding;
use super::report::fingerprint;
use crate::document::LineIndex;

/// The version of the format.
const VERSION: u32 = 1;

/// How often each finding occurs, by its rule and its fingerprint.
type Counts = BTreeMap<String, BTreeMap<String, usize>>;

/// The known findings of skills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    version: u32,
    /// By the directory of the skill, relative to the file of the baseline and `/`-separated.
    skills: BTreeMap<String, Counts>,
}

/// Why a text is not a baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The reason.
    pub message: String,
}

impl Default for Baseline {
    fn default() -> Self {
        Self { version: VERSION, skills: BTreeMap::new() }
    }
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    ///
    /// Fails for a text that is not a baseline, or of a newer version, with the position.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let read: Self = serde_json::from_str(text).map_err(|error| {
            let all = error.to_string();
            let message = all.rsplit_once(" at line ").map_or(&*all, |(message, _)| message).to_owned();
            BaselineError { line: error.line().max(1), column: error.column().max(1), message }
        })?;
        if read.version != VERSION {
            let message = format!("version {} of the format is not known here, only {VERSION}", read.version);
            return Err(BaselineError { line: 1, column: 1, message });
        }
        Ok(read)
    }

    /// Returns the text of the file, sorted, so that changes are easy to review and to merge.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Returns the number of findings of each skill, with its directory.
    pub fn skills(&self) -> impl Iterator<Item = (&str, usize)> {
        let count = |counts: &Counts| {
            counts.values().flat_map(BTreeMap::values).fold(0, |all: usize, one| all.saturating_add(*one))
        };
        self.skills.iter().map(move |(dir, counts)| (dir.as_str(), count(counts)))
    }

    /// Keeps only the skills in the directories for which `keep` holds.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.skills.retain(|dir, _| keep(dir));
    }

    /// Replaces what is known of the skill in the directory `dir` by `findings` in its `text`. Rules that are not
    /// `applied` stay as they are.
    pub fn replace(&mut self, dir: &str, text: &str, findings: &[Finding], applied: impl Fn(&str) -> bool) {
        let mut counts = self.skills.remove(dir).unwrap_or_default();
        counts.retain(|rule, _| !applied(rule));
        let lines = LineIndex::new(text);
        for finding in findings {
            let of_rule = counts.entry(finding.rule.to_owned()).or_default();
            *of_rule.entry(fingerprint(text, &lines, finding)).or_default() += 1;
        }
        if !counts.is_empty() {
            self.skills.insert(dir.to_owned(), counts);
        }
    }

    /// Removes the known ones from `findings` in the `text` of the skill in the directory `dir`. Returns how many there were,
    /// and how many known findings of rules that are `applied` no longer occur. What occurs more often than is known is
    /// new.
    pub fn quiet(
        &self,
        dir: &str,
        text: &str,
        findings: &mut Vec<Finding>,
        applied: impl Fn(&str) -> bool,
    ) -> (usize, usize) {
        let Some(counts) = self.skills.get(dir) else { return (0, 0) };
        let mut left = counts.clone();
        let (lines, before) = (LineIndex::new(text), findings.len());
        findings.retain(|finding| {
            let count = left.get_mut(finding.rule);
            match count.and_then(|counts| counts.get_mut(&fingerprint(text, &lines, finding))) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            }
        });
        let gone = left
            .iter()
            .filter(|(rule, _)| applied(rule))
            .flat_map(|(_, counts)| counts.values())
            .fold(0, |all: usize, one| all.saturating_add(*one));
        (before - findings.len(), gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::lint::{Subject, check};

    fn found(text: &str) -> Vec<Finding> {
        check(&Subject::new(&Document::parse(text.to_owned()), Some("pdf"), "SKILL.md"))
    }

    const OLD: &str = "---\nname: pdf\ndescription: Reads. Use when asked.\nauthor: me\n---\nsee scripts\\a.py\n\nsee scripts\\a.py\n";

    #[test]
    fn what_is_known_is_quiet_and_what_is_new_is_not() {
        let mut baseline = Baseline::default();
        baseline.replace("skills/pdf", OLD, &found(OLD), |_| true);
        let baseline = Baseline::parse(&baseline.to_text()).expect("is read again");
        assert_eq!(baseline.skills().collect::<Vec<_>>(), [("skills/pdf", 3)]);
        let quiet = |dir: &str, text: &str| {
            let mut findings = found(text);
            let (known, gone) = baseline.quiet(dir, text, &mut findings, |rule| rule != "description-when");
            (known, gone, findings.iter().map(|finding| finding.rule).collect::<Vec<_>>())
        };
        assert_eq!(quiet("skills/pdf", OLD), (3, 0, vec![]));
        assert_eq!(
            quiet("skills/pdf", &OLD.replace("author", "license: MIT\nauthor")),
            (3, 0, vec![]),
            "it moved"
        );
        let more = format!("{OLD}see scripts\\a.py\n");
        assert_eq!(quiet("skills/pdf", &more), (3, 0, vec!["windows-path"]), "one more");
        assert_eq!(quiet("skills/pdf", &OLD.replace("author", "owner")), (2, 1, vec!["unknown-field"]));
        assert_eq!(
            quiet("skills/pdf", &OLD.replace("see scripts\\a.py\n\n", "")),
            (2, 1, vec![]),
            "one is gone"
        );
        assert_eq!(quiet("skills/other", OLD).0, 0);
    }

    #[test]
    fn rules_that_were_not_applied_stay() {
        let mut baseline = Baseline::default();
        baseline.replace("a", OLD, &found(OLD), |_| true);
        baseline.replace("a", "", &[], |rule| rule == "windows-path");
        assert_eq!(baseline.skills().collect::<Vec<_>>(), [("a", 1)]);
        baseline.replace("a", "", &[], |_| true);
        assert_eq!(baseline, Baseline::default());
    }

    /// Each way in which a file can be damaged.
    #[test]
    fn damage_is_reported_with_its_position() {
        for (text, line, column, message) in [
            ("", 1, 1, "EOF while parsing a value"),
            ("{\n  \"version\": 1,\n<<<<<<< HEAD\n", 3, 1, "key must be a string"),
            ("{\"version\": 2, \"skills\": {}}", 1, 1, "version 2 of the format is not known here, only 1"),
            ("{\"version\": 1}", 1, 14, "missing field `skills`"),
            (
                "{\"version\": 1, \"skills\": {}, \"x\": 1}",
                1,
                32,
                "unknown field `x`, expected `version` or `skills`",
            ),
            (
                "{\"version\": 1, \"skills\": {\"a\": {\"r\": {\"f\": -1}}}}",
                1,
                45,
                "invalid value: integer `-1`, expected usize",
            ),
        ] {
            let error = Baseline::parse(text).expect_err(text);
            assert_eq!((error.line, error.column, &*error.message), (line, column, message), "{text}");
        }
    }
}
