//! `JUnit` XML: one test case for each skill.

use std::fmt::Write as _;

use super::{LintReport, SkillReport, span};
use crate::document::LineIndex;
use crate::lint::{Finding, Severity};
use crate::text::xml;

/// Returns the report as an XML document. A skill fails as it does on the command line; warnings that do not fail it
/// are in the output of its test case.
pub fn junit(report: &LintReport<'_>) -> String {
    let fails = |skill: &SkillReport<'_>| {
        let least = if report.strict { Severity::Warning } else { Severity::Error };
        skill.findings.iter().any(|finding| finding.severity >= least)
    };
    let failures = report.skills.iter().filter(|skill| fails(skill)).count();
    let tests = report.skills.len();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\"");
    // Writing to a string cannot fail.
    let _ = writeln!(out, "<testsuites name=\"skillpm validate\" {counts}>");
    let _ = writeln!(out, "  <testsuite name=\"skillpm validate\" {counts} skipped=\"0\">");
    for skill in &report.skills {
        let path = xml(&one_line(&skill.path));
        let _ = write!(out, "    <testcase classname=\"skillpm.validate\" name=\"{path}\" file=\"{path}\"");
        if skill.findings.is_empty() {
            out.push_str("/>\n");
            continue;
        }
        let lines = xml(&findings(skill));
        if fails(skill) {
            let of = |severity| skill.findings.iter().find(|finding| finding.severity == severity);
            let first =
                of(Severity::Error).or_else(|| of(Severity::Warning)).map_or("", |finding| finding.rule);
            let _ = writeln!(
                out,
                ">\n      <failure type=\"{first}\" message=\"{}\">{lines}</failure>",
                counted(skill)
            );
        } else {
            let _ = writeln!(out, ">\n      <system-out>{lines}</system-out>");
        }
        out.push_str("    </testcase>\n");
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
