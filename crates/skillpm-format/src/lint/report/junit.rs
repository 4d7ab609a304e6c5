//! `JUnit` XML: one test case for each skill, or for each request of a test.

use std::fmt::Write as _;

use super::{LintReport, SkillReport, span};
use crate::document::LineIndex;
use crate::lint::{Finding, Severity};
use crate::text::xml;

/// A test case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestCase {
    /// The name.
    pub name: String,
    /// The file that it is about.
    pub file: String,
    /// What came out.
    pub result: CaseResult,
}

/// What came out of a test case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseResult {
    /// It passed, and printed this.
    Passed(String),
    /// It was not decided, for this reason.
    Skipped(String),
    /// It failed: the kind of failure, a short text, and a long one.
    Failed(&'static str, String, String),
}

/// Returns the report as an XML document. A skill fails as it does on the command line; warnings that do not fail it
/// are in the output of its test case.
pub fn junit(report: &LintReport<'_>) -> String {
    let least = if report.strict { Severity::Warning } else { Severity::Error };
    let case = |skill: &SkillReport<'_>| {
        let lines = findings(skill);
        let of = |severity| skill.findings.iter().find(|finding| finding.severity == severity);
        let first = of(Severity::Error).or_else(|| of(Severity::Warning));
        let result = match first.filter(|first| first.severity >= least) {
            Some(first) => CaseResult::Failed(first.rule, counted(skill), lines),
            None => CaseResult::Passed(lines),
        };
        TestCase { name: skill.path.clone(), file: skill.path.clone(), result }
    };
    document(report.verb, &report.skills.iter().map(case).collect::<Vec<_>>())
}

/// Returns test cases of `verb` as an XML document.
pub fn document(verb: &str, cases: &[TestCase]) -> String {
    let count = |is: fn(&CaseResult) -> bool| cases.iter().filter(|case| is(&case.result)).count();
    let failures = count(|result| matches!(result, CaseResult::Failed(..)));
    let skipped = count(|result| matches!(result, CaseResult::Skipped(_)));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\"", cases.len());
    // Writing to a string cannot fail.
    let _ = writeln!(out, "<testsuites name=\"skillpm {verb}\" {counts}>");
    let _ = writeln!(out, "  <testsuite name=\"skillpm {verb}\" {counts} skipped=\"{skipped}\">");
    for TestCase { name, file, result } in cases {
        let (name, file) = (xml(&one_line(name)), xml(&one_line(file)));
        let _ = write!(out, "    <testcase classname=\"skillpm.{verb}\" name=\"{name}\" file=\"{file}\"");
        let inner = match result {
            CaseResult::Passed(lines) if lines.is_empty() => {
                out.push_str("/>\n");
                continue;
            }
            CaseResult::Passed(lines) => format!("<system-out>{}</system-out>", xml(lines)),
            CaseResult::Skipped(why) => format!("<skipped message=\"{}\"/>", xml(why)),
            CaseResult::Failed(kind, short, lines) => {
                format!("<failure type=\"{kind}\" message=\"{}\">{}</failure>", xml(short), xml(lines))
            }
        };
        let _ = writeln!(out, ">\n      {inner}\n    </testcase>");
    }
    out + "  </testsuite>\n</testsuites>\n"
}

/// Returns `2 errors, 1 warning`.
fn counted(skill: &SkillReport<'_>) -> String {
    let number = |severity| {
        let count = skill.count(severity);
        format!("{count} {severity}{}", if count == 1 { "" } else { "s" })
    };
    format!("{}, {}", number(Severity::Error), number(Severity::Warning))
}

/// Returns one line for each finding, and one for its help.
fn findings(skill: &SkillReport<'_>) -> String {
    let index = LineIndex::new(skill.text);
    let (path, mut lines) = (one_line(&skill.path), String::new());
    for Finding { rule, severity, message, span: bytes, help, .. } in skill.findings {
        let at = index.position(span(skill.text, bytes).start);
        let message = one_line(message);
        let _ = writeln!(lines, "{path}:{}:{}: {severity}[{rule}]: {message}", at.line, at.column);
        if let Some(help) = help {
            let _ = writeln!(lines, "  help: {}", one_line(&help.to_string()));
        }
    }
    lines
}

/// Returns `text` without line ends, so that a line of a file cannot pass for a finding.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, report};
    use super::*;

    #[test]
    fn the_format() {
        let findings = findings();
        insta::assert_snapshot!(junit(&report(&findings)), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="skillpm validate" tests="2" failures="1" errors="0">
          <testsuite name="skillpm validate" tests="2" failures="1" errors="0" skipped="0">
            <testcase classname="skillpm.validate" name="skills/my pdf,a:b/SKILL.md" file="skills/my pdf,a:b/SKILL.md">
              <failure type="name-alphabet" message="2 errors, 1 warning">skills/my pdf,a:b/SKILL.md:2:7: error[name-alphabet]: the name `PDF` has an upper-case letter \u{1b}[2J &lt;&amp;&quot;&gt;]]&gt; 100%, a:b next
          help: call it `pdf`, as its directory
        skills/my pdf,a:b/SKILL.md:3:14: note[description-when]: the description does not say when to use the skill
          help: add a sentence such as `Use when the user …`
        skills/my pdf,a:b/SKILL.md:3:14: warning[description-markup]: the description has the XML tag `&lt;b&gt;`
          help: write it without: claude.ai refuses the upload
        skills/my pdf,a:b/SKILL.md:3:18: error[hidden-character]: a hidden character: U+202E, a direction control
          help: delete it; no script needs it
        skills/my pdf,a:b/SKILL.md:4:1: note[unknown-field]: the specification has no field `author`
          help: move it under `metadata`, as `  author: …`
        </failure>
            </testcase>
            <testcase classname="skillpm.validate" name="skills/ok/SKILL.md" file="skills/ok/SKILL.md"/>
          </testsuite>
        </testsuites>
        "#);
    }

    #[test]
    fn nothing_starts_a_line() {
        let mut findings = findings();
        findings[0].help = Some("write `a\n::error::b`".into());
        let mut report = report(&findings);
        report.skills[0].path = "a\n::error::y/SKILL.md".to_owned();
        let text = junit(&report);
        assert!(text.contains("::error::b") && text.contains("a ::error::y/SKILL.md"), "{text}");
        assert!(!text.lines().any(|line| line.starts_with("::")), "{text}");
    }

    #[test]
    fn warnings_fail_only_where_they_are_to() {
        let mut findings = findings();
        findings.retain(|finding| finding.severity == Severity::Warning);
        let mut report = report(&findings);
        assert!(junit(&report).contains("failures=\"0\"") && junit(&report).contains("<system-out>"));
        report.strict = true;
        assert!(junit(&report).contains("failures=\"1\"") && junit(&report).contains("<failure type="));
    }

    #[test]
    fn nothing_leaves_its_element() {
        assert_eq!(
            xml("]]></failure>\"'&\u{0}\u{fffe}"),
            "]]&gt;&lt;/failure&gt;&quot;&apos;&amp;\\u{0}\\u{fffe}"
        );
    }
}
