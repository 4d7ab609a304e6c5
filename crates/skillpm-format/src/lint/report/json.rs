//! skillpm's own JSON format, described by `schema/report-v1.schema.json`.

use serde::Serialize;

use super::{LintReport, SkillReport, rule_page, span};
use crate::advice::Message;
use crate::document::LineIndex;
use crate::lint::{Edit, Finding, Fix, Safety, Severity};

/// The version of the format. Raise it with any change that could break a reader; new fields do not count.
pub const VERSION: u32 = 1;

/// A report in its written form.
#[derive(Debug, Serialize)]
pub struct Json<'a> {
    version: u32,
    tool: Tool,
    profile: String,
    summary: Summary,
    skills: Vec<Skill<'a>>,
}

#[derive(Debug, Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

#[derive(Debug, Serialize)]
struct Summary {
    skills: usize,
    errors: usize,
    warnings: usize,
    notes: usize,
}

#[derive(Debug, Serialize)]
struct Skill<'a> {
    path: &'a str,
    findings: Vec<Item<'a>>,
}

#[derive(Debug, Serialize)]
struct Item<'a> {
    rule: &'static str,
    severity: String,
    message: &'a str,
    start: JsonLocation,
    end: JsonLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a Message>,
    docs: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<Repair<'a>>,
}

#[derive(Debug, Serialize)]
struct JsonLocation {
    line: usize,
    column: usize,
    offset: usize,
}

#[derive(Debug, Serialize)]
struct Repair<'a> {
    safety: &'static str,
    title: &'a str,
    edits: Vec<Replacement<'a>>,
}

#[derive(Debug, Serialize)]
struct Replacement<'a> {
    start: JsonLocation,
    end: JsonLocation,
    text: &'a str,
}

/// Returns `report` as a value that serializes to the format.
pub fn json<'a>(report: &'a LintReport<'a>) -> Json<'a> {
    Json {
        version: VERSION,
        tool: Tool { name: "skillpm", version: env!("CARGO_PKG_VERSION") },
        profile: report.profile.to_string(),
        summary: Summary {
            skills: report.skills.len(),
            errors: report.count(Severity::Error),
            warnings: report.count(Severity::Warning),
            notes: report.count(Severity::Note),
        },
        skills: report.skills.iter().map(skill).collect(),
    }
}

fn skill<'a>(skill: &'a SkillReport<'a>) -> Skill<'a> {
    let writer = Writer { text: skill.text, lines: LineIndex::new(skill.text) };
    Skill { path: &skill.path, findings: skill.findings.iter().map(|finding| writer.item(finding)).collect() }
}

struct Writer<'a> {
    text: &'a str,
    lines: LineIndex<'a>,
}

impl Writer<'_> {
    fn item<'a>(&self, finding: &'a Finding) -> Item<'a> {
        let (start, end) = self.places(&finding.span);
        Item {
            rule: finding.rule,
            severity: finding.severity.to_string(),
            message: &finding.message,
            start,
            end,
            label: finding.label.as_deref(),
            help: finding.help.as_ref(),
            docs: rule_page(finding.rule),
            fix: finding.fix.as_ref().map(|fix| self.repair(fix)),
        }
    }

    fn repair<'a>(&self, fix: &'a Fix) -> Repair<'a> {
        let replacement = |edit: &'a Edit| {
            let (start, end) = self.places(&edit.span);
            Replacement { start, end, text: &edit.text }
        };
        Repair {
            safety: match fix.safety {
                Safety::Safe => "safe",
                Safety::Unsafe => "unsafe",
            },
            title: &fix.title,
            edits: fix.edits.iter().map(replacement).collect(),
        }
    }

    fn places(&self, bytes: &std::ops::Range<usize>) -> (JsonLocation, JsonLocation) {
        let bytes = span(self.text, bytes);
        (self.place(bytes.start), self.place(bytes.end))
    }

    fn place(&self, offset: usize) -> JsonLocation {
        let at = self.lines.position(offset);
        JsonLocation { line: at.line, column: at.column, offset }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, report};
    use super::*;

    #[test]
    fn the_format() {
        let findings = findings();
        let text = serde_json::to_string_pretty(&json(&report(&findings))).expect("a value");
        insta::assert_snapshot!(text, @r#"
        {
          "version": 1,
          "tool": {
            "name": "skillpm",
            "version": "0.1.0"
          },
          "profile": "spec",
          "summary": {
            "skills": 2,
            "errors": 1,
            "warnings": 4,
            "notes": 0
          },
          "skills": [
            {
              "path": "skills/my pdf,a:b/SKILL.md",
              "findings": [
                {
                  "rule": "name-alphabet",
                  "severity": "error",
                  "message": "the name `PDF` has an upper-case letter \u001b[2J <&\">]]> 100%, a:b\nnext",
                  "start": {
                    "line": 2,
                    "column": 7,
                    "offset": 10
                  },
                  "end": {
                    "line": 2,
                    "column": 10,
                    "offset": 13
                  },
                  "help": "call it `pdf`, and its directory too",
                  "docs": "https://github.com/skillpm/skillpm/blob/main/docs/reference/rules.md#name-alphabet",
                  "fix": {
                    "safety": "unsafe",
                    "title": "write the name in lower case",
                    "edits": [
                      {
                        "start": {
                          "line": 2,
                          "column": 7,
                          "offset": 10
                        },
                        "end": {
                          "line": 2,
                          "column": 10,
                          "offset": 13
                        },
                        "text": "pdf"
                      }
                    ]
                  }
                },
                {
                  "rule": "description-when",
                  "severity": "warning",
                  "message": "the description does not say when to use the skill",
                  "start": {
                    "line": 3,
                    "column": 14,
                    "offset": 27
                  },
                  "end": {
                    "line": 3,
                    "column": 29,
                    "offset": 45
                  },
                  "help": "add a sentence such as `Use when the user …`",
                  "docs": "https://github.com/skillpm/skillpm/blob/main/docs/reference/rules.md#description-when"
                },
                {
                  "rule": "description-markup",
                  "severity": "warning",
                  "message": "the description has the XML tag `<b>`",
                  "start": {
                    "line": 3,
                    "column": 14,
                    "offset": 27
                  },
                  "end": {
                    "line": 3,
                    "column": 17,
                    "offset": 30
                  },
                  "help": "write it without angle brackets",
                  "docs": "https://github.com/skillpm/skillpm/blob/main/docs/reference/rules.md#description-markup"
                },
                {
                  "rule": "hidden-character",
                  "severity": "warning",
                  "message": "a hidden character: U+202E, a direction control",
                  "start": {
                    "line": 3,
                    "column": 18,
                    "offset": 32
                  },
                  "end": {
                    "line": 3,
                    "column": 19,
                    "offset": 35
                  },
                  "help": "delete it; no script needs it",
                  "docs": "https://github.com/skillpm/skillpm/blob/main/docs/reference/rules.md#hidden-character",
                  "fix": {
                    "safety": "unsafe",
                    "title": "delete what is hidden",
                    "edits": [
                      {
                        "start": {
                          "line": 3,
                          "column": 18,
                          "offset": 32
                        },
                        "end": {
                          "line": 3,
                          "column": 19,
                          "offset": 35
                        },
                        "text": ""
                      }
                    ]
                  }
                },
                {
                  "rule": "unknown-field",
                  "severity": "warning",
                  "message": "the specification has no field `author`",
                  "start": {
                    "line": 4,
                    "column": 1,
                    "offset": 46
                  },
                  "end": {
                    "line": 4,
                    "column": 7,
                    "offset": 52
                  },
                  "help": "move it under `metadata`, as `  author: …`",
                  "docs": "https://github.com/skillpm/skillpm/blob/main/docs/reference/rules.md#unknown-field",
                  "fix": {
                    "safety": "unsafe",
                    "title": "move `author` under `metadata`",
                    "edits": [
                      {
                        "start": {
                          "line": 4,
                          "column": 1,
                          "offset": 46
                        },
                        "end": {
                          "line": 5,
                          "column": 1,
                          "offset": 57
                        },
                        "text": "metadata:\n  author: \"me\"\n"
                      }
                    ]
                  }
                }
              ]
            },
            {
              "path": "skills/ok/SKILL.md",
              "findings": []
            }
          ]
        }
        "#);
    }

    #[test]
    fn the_schema_describes_the_format() {
        let rules: Vec<_> = crate::lint::documented().map(|rule| rule.id).collect();
        let profiles: Vec<_> = crate::lint::Profile::ALL.iter().map(|(name, _)| *name).collect();
        let schema = skillpm_testing::Schema::read("report-v1.schema.json");
        schema.assert_generated("/$defs/rule/enum", &rules.into());
        schema.assert_generated("/properties/profile/enum", &profiles.into());
        let schema = skillpm_testing::Schema::read("report-v1.schema.json");
        assert_eq!(schema.at("/properties/version/const"), VERSION);
        let findings = findings();
        let value = serde_json::to_value(json(&report(&findings))).expect("a value");
        assert_eq!(schema.faults(&value), [""; 0]);
        let mut wrong = value;
        wrong["skills"][0]["findings"][0]["rule"] = "no-such-rule".into();
        wrong["summary"]["errors"] = "many".into();
        assert_eq!(schema.faults(&wrong).len(), 2);
    }
}
