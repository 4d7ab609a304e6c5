//! Code Quality reports of GitLab: <https://docs.gitlab.com/ci/testing/code_quality/>.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::fingerprint::numbered;
use super::{LintReport, SkillReport, in_tree, span};
use crate::digest::Digest;
use crate::document::LineIndex;
use crate::lint::Severity;
use crate::text::visible;

/// Returns the report as a list of problems.
pub fn gitlab(report: &LintReport<'_>) -> Value {
    report.skills.iter().flat_map(problems).collect()
}

fn problems(skill: &SkillReport<'_>) -> Vec<Value> {
    let lines = LineIndex::new(skill.text);
    let (path, mut seen) = (in_tree(&skill.path), BTreeMap::new());
    let problem = |finding| {
        let (hash, count) = numbered(skill.text, &lines, finding, &mut seen);
        // Fingerprints must differ in the whole report.
        let unique = Digest::of(format!("{path}\0{hash}\0{count}").as_bytes()).hex();
        let severity = match finding.severity {
            Severity::Error => "major",
            Severity::Warning => "minor",
            Severity::Note => "info",
        };
        let begin = lines.position(span(skill.text, &finding.span).start).line;
        json!({
            "description": visible(&finding.message),
            "check_name": finding.rule,
            "fingerprint": unique,
            "severity": severity,
            "location": { "path": path, "lines": { "begin": begin } },
        })
    };
    skill.findings.iter().map(problem).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::testing::{findings, report};
    use super::*;

    #[test]
    fn the_format() {
        let mut findings = findings();
        let twice = findings[0].clone();
        findings.insert(1, twice);
        let list = gitlab(&report(&findings));
        let list = list.as_array().expect("a list");
        let prints: BTreeSet<_> = list.iter().map(|problem| problem["fingerprint"].to_string()).collect();
        assert_eq!(prints.len(), findings.len());
        insta::assert_snapshot!(serde_json::to_string_pretty(&list[0]).expect("a value"), @r#"
        {
          "check_name": "name-alphabet",
          "description": "the name `PDF` has an upper-case letter \\u{1b}[2J <&\">]]> 100%, a:b\nnext",
          "fingerprint": "6286d4743842ab824f48ad598a09afcedb7a74202fea43dfeaf766f7cf6b7df6",
          "location": {
            "lines": {
              "begin": 2
            },
            "path": "skills/my pdf,a:b/SKILL.md"
          },
          "severity": "major"
        }
        "#);
    }
}
