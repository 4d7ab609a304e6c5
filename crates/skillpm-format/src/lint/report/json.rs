//! skillpm's own JSON format, described by `schema/report-v1.schema.json`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{LeftOut, LintReport, SkillReport, rule_page, span};
use crate::advice::Message;
use crate::document::LineIndex;
use crate::lint::{Edit, Finding, Fix, Safety, Severity};

/// The version of the format. Raise it with any change that could break a reader; new fields do not count.
pub const VERSION: u32 = 1;

/// A report in its written form.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Report")]
pub struct Json<'a> {
    /// The version of the format: 1. New fields do not change it.
    version: u32,
    /// The program that wrote it.
    tool: Tool,
    /// The profile that the first skill was checked against.
    profile: String,
    /// The number of skills and of findings.
    summary: Summary,
    /// The skills that were checked, sorted by path.
    skills: Vec<Skill<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Tool {
    /// The name.
    name: &'static str,
    /// The version.
    version: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Summary {
    /// The number of skills.
    skills: usize,
    /// The number of errors.
    errors: usize,
    /// The number of warnings.
    warnings: usize,
    /// The number of notes.
    notes: usize,
    #[serde(flatten)]
    left_out: LeftOut,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Skill<'a> {
    /// The file as it was named, `/`-separated; `<stdin>` for standard input.
    path: &'a str,
    /// The profile that it was checked against.
    profile: String,
    /// The findings, in the order of their positions.
    findings: Vec<Item<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Finding")]
struct Item<'a> {
    /// The name of the rule.
    rule: &'static str,
    /// How bad it is.
    severity: Severity,
    /// The problem.
    message: &'a str,
    /// Where it begins.
    start: JsonLocation,
    /// Where it ends; the same as `start` if it is about a position.
    end: JsonLocation,
    /// The element at this position.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    /// The hint.
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a Message>,
    /// The address of the rule's documentation.
    docs: String,
    /// A repair, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<Repair<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Location")]
struct JsonLocation {
    /// The line, from 1.
    line: usize,
    /// The column, from 1, in characters.
    column: usize,
    /// The number of bytes before it.
    offset: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Repair<'a> {
    /// Whether it can change the meaning of the skill.
    safety: Safety,
    /// The title.
    title: &'a str,
    /// The edits, all or none of which are made; empty if the file gets another name.
    edits: Vec<Replacement<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Replacement<'a> {
    /// Where the replaced text begins.
    start: JsonLocation,
    /// Where it ends.
    end: JsonLocation,
    /// The new text.
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
            left_out: report.left_out,
        },
        skills: report.skills.iter().map(skill).collect(),
    }
}

fn skill<'a>(skill: &'a SkillReport<'a>) -> Skill<'a> {
    let writer = Writer { text: skill.text, lines: LineIndex::new(skill.text) };
    let findings = skill.findings.iter().map(|finding| writer.item(finding)).collect();
    Skill { path: &skill.path, profile: skill.profile.to_string(), findings }
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
            severity: finding.severity,
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
        Repair { safety: fix.safety, title: &fix.title, edits: fix.edits.iter().map(replacement).collect() }
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
            "errors": 2,
            "warnings": 1,
            "notes": 2,
            "excluded": 0,
            "unchanged": 0,
            "unread": 0,
            "known": 0,
            "gone": 0
          },
          "skills": [
            {
              "path": "skills/my pdf,a:b/SKILL.md",
              "profile": "spec",
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
                  "help": "call it `pdf`, as its directory",
                  "docs": "https://github.com/skillpm/skillpm/blob/main/docs/reference/rules/name-alphabet.md",
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
                  "severity": "note",
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
                  "docs": "https://github.com/skillpm/skillpm/blob/main/docs/reference/rules/description-when.md"
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
                  "help": "write it without: claude.ai refuses the upload",
                  "docs": "https://github.com/skillpm/skillpm/blob/main/docs/reference/rules/description-markup.md"
                },
                {
                  "rule": "hidden-character",
                  "severity": "error",
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
                  "docs": "https://github.com/skillpm/skillpm/blob/main/docs/reference/rules/hidden-character.md",
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
                  "severity": "note",
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
                  "docs": "https://github.com/skillpm/skillpm/blob/main/docs/reference/rules/unknown-field.md",
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
              "profile": "spec",
              "findings": []
            }
          ]
        }
        "#);
    }
}
