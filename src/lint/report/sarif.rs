//! SARIF 2.1.0, for code scanning.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use serde_json::{Value, json};

use super::{Report, SkillReport, rule_page, span};
use crate::digest::Digest;
use crate::document::LineIndex;
use crate::lint::{Edit, Finding, Fix, Group, Level, Profile, Rule, Severity, documented};
use crate::text::visible;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Returns the report as a log with one run.
pub fn sarif(report: &Report<'_>) -> Value {
    let rules: Vec<&Rule> = documented().collect();
    let results: Vec<Value> = report.skills.iter().flat_map(|skill| results(skill, &rules)).collect();
    let rules: Vec<Value> = rules.iter().map(|rule| description(rule, report.profile)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": env!("CARGO_PKG_NAME"),
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// A rule as the table of a run describes it.
fn description(rule: &Rule, profile: Profile) -> Value {
    let docs = &rule.docs;
    let group = match rule.group {
        Group::Spec => "specification",
        Group::Quality => "quality",
        Group::Package => "package",
        Group::Quirk => "quirk",
    };
    let level = match rule.levels.of(profile) {
        Level::Error => "error",
        Level::Warning | Level::Off => "warning",
    };
    let text = format!("{} {} Source: {}.", docs.what, docs.why, docs.source);
    let block = |title: &str, code: &str| format!("**{title}**\n\n{}\n", fenced(code));
    let markdown = format!(
        "{} {}\n\n{}\n{}\nSource: {}.",
        docs.what,
        docs.why,
        block("Wrong", docs.bad),
        block("Right", docs.good),
        docs.source
    );
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.summary },
        "fullDescription": { "text": format!("{} {}", docs.what, docs.why) },
        "help": { "text": text, "markdown": markdown },
        "helpUri": rule_page(rule.id),
        "defaultConfiguration": {
            "enabled": rule.levels.of(profile) != Level::Off,
            "level": level,
        },
        "properties": { "tags": ["agent-skills", group] },
    })
}

/// A block of code, between more backticks than it has itself.
fn fenced(code: &str) -> String {
    let fence = if code.contains("```") { "````" } else { "```" };
    format!("{fence}text\n{}\n{fence}", code.trim_end())
}

fn results(skill: &SkillReport<'_>, rules: &[&Rule]) -> Vec<Value> {
    let writer = Writer { skill, lines: LineIndex::new(skill.text) };
    let mut seen = BTreeMap::new();
    skill.findings.iter().map(|finding| writer.result(finding, rules, &mut seen)).collect()
}

struct Writer<'a> {
    skill: &'a SkillReport<'a>,
    lines: LineIndex<'a>,
}

impl Writer<'_> {
    fn result(&self, finding: &Finding, rules: &[&Rule], seen: &mut BTreeMap<String, usize>) -> Value {
        let level = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let help = finding.help.as_deref().map(|help| format!("\n{help}")).unwrap_or_default();
        let mut result = json!({
            "ruleId": finding.rule,
            "level": level,
            "message": { "text": visible(&format!("{}{help}", finding.message)) },
            "locations": [{ "physicalLocation": {
                "artifactLocation": self.artifact(),
                "region": self.region(&finding.span),
            }}],
            "partialFingerprints": { "primaryLocationLineHash": self.fingerprint(finding, seen) },
        });
        if let Some(index) = rules.iter().position(|rule| rule.id == finding.rule) {
            result["ruleIndex"] = index.into();
        }
        if let Some(fix) = &finding.fix {
            result["fixes"] = json!([self.fix(fix)]);
        }
        result
    }

    fn artifact(&self) -> Value {
        let path = &self.skill.path;
        if path.starts_with('/') {
            return json!({ "uri": format!("file://{}", uri(path)) });
        }
        let path = path.strip_prefix("./").unwrap_or(path);
        json!({ "uri": uri(path), "uriBaseId": "%SRCROOT%" })
    }

    fn region(&self, bytes: &Range<usize>) -> Value {
        let text = self.skill.text;
        let bytes = span(text, bytes);
        let (start, end) = (self.lines.position(bytes.start), self.lines.position(bytes.end));
        // A byte-order mark is no character of the text.
        let before = text[..bytes.start].trim_start_matches('\u{feff}').chars().count();
        json!({
            "startLine": start.line,
            "startColumn": start.column,
            "endLine": end.line,
            "endColumn": end.column,
            "charOffset": before,
            "charLength": text[bytes].chars().count(),
        })
    }

    fn fix(&self, fix: &Fix) -> Value {
        let replacement = |edit: &Edit| {
            let mut replacement = json!({ "deletedRegion": self.region(&edit.span) });
            if !edit.text.is_empty() {
                replacement["insertedContent"] = json!({ "text": edit.text });
            }
            replacement
        };
        json!({
            "description": { "text": fix.title },
            "artifactChanges": [{
                "artifactLocation": self.artifact(),
                "replacements": fix.edits.iter().map(replacement).collect::<Vec<_>>(),
            }],
        })
    }

    /// What stays the same where lines above come and go: rule, line, and which of several it is.
    fn fingerprint(&self, finding: &Finding, seen: &mut BTreeMap<String, usize>) -> String {
        let text = self.skill.text;
        let at = span(text, &finding.span).start;
        let start = text[..at].rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let line = text[start..].lines().next().unwrap_or_default().trim();
        let mut hash = Digest::of(format!("{}\0{line}", finding.rule).as_bytes()).hex();
        hash.truncate(16);
        let count = seen.entry(hash.clone()).or_default();
        *count += 1;
        format!("{hash}:{count}")
    }
}

/// Escapes a path for an address.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TEXT, findings, report};
    use super::*;

    #[test]
    fn a_result() {
        let findings = findings();
        let log = sarif(&report(&findings));
        let results = &log["runs"][0]["results"];
        insta::assert_snapshot!(serde_json::to_string_pretty(results).expect("a value"), @r#"
        [
          {
            "fixes": [
              {
                "artifactChanges": [
                  {
                    "artifactLocation": {
                      "uri": "skills/my%20pdf%2Ca%3Ab/SKILL.md",
                      "uriBaseId": "%SRCROOT%"
                    },
                    "replacements": [
                      {
                        "deletedRegion": {
                          "charLength": 3,
                          "charOffset": 10,
                          "endColumn": 10,
                          "endLine": 2,
                          "startColumn": 7,
                          "startLine": 2
                        },
                        "insertedContent": {
                          "text": "pdf"
                        }
                      }
                    ]
                  }
                ],
                "description": {
                  "text": "write the name in lower case"
                }
              }
            ],
            "level": "error",
            "locations": [
              {
                "physicalLocation": {
                  "artifactLocation": {
                    "uri": "skills/my%20pdf%2Ca%3Ab/SKILL.md",
                    "uriBaseId": "%SRCROOT%"
                  },
                  "region": {
                    "charLength": 3,
                    "charOffset": 10,
                    "endColumn": 10,
                    "endLine": 2,
                    "startColumn": 7,
                    "startLine": 2
                  }
                }
              }
            ],
            "message": {
              "text": "the name `PDF` has an upper-case letter \\u{1b}[2J <&\">]]> 100%, a:b\nnext\ncall it `pdf`, and its directory too"
            },
            "partialFingerprints": {
              "primaryLocationLineHash": "3dfe6bb3f224bf75:1"
            },
            "ruleId": "name-alphabet",
            "ruleIndex": 21
          },
          {
            "level": "warning",
            "locations": [
              {
                "physicalLocation": {
                  "artifactLocation": {
                    "uri": "skills/my%20pdf%2Ca%3Ab/SKILL.md",
                    "uriBaseId": "%SRCROOT%"
                  },
                  "region": {
                    "charLength": 15,
                    "charOffset": 27,
                    "endColumn": 29,
                    "endLine": 3,
                    "startColumn": 14,
                    "startLine": 3
                  }
                }
              }
            ],
            "message": {
              "text": "the description does not say when to use the skill\nadd a sentence such as `Use when the user …`"
            },
            "partialFingerprints": {
              "primaryLocationLineHash": "f14288844b1caacc:1"
            },
            "ruleId": "description-when",
            "ruleIndex": 37
          },
          {
            "fixes": [
              {
                "artifactChanges": [
                  {
                    "artifactLocation": {
                      "uri": "skills/my%20pdf%2Ca%3Ab/SKILL.md",
                      "uriBaseId": "%SRCROOT%"
                    },
                    "replacements": [
                      {
                        "deletedRegion": {
                          "charLength": 1,
                          "charOffset": 31,
                          "endColumn": 19,
                          "endLine": 3,
                          "startColumn": 18,
                          "startLine": 3
                        }
                      }
                    ]
                  }
                ],
                "description": {
                  "text": "delete what is hidden"
                }
              }
            ],
            "level": "warning",
            "locations": [
              {
                "physicalLocation": {
                  "artifactLocation": {
                    "uri": "skills/my%20pdf%2Ca%3Ab/SKILL.md",
                    "uriBaseId": "%SRCROOT%"
                  },
                  "region": {
                    "charLength": 1,
                    "charOffset": 31,
                    "endColumn": 19,
                    "endLine": 3,
                    "startColumn": 18,
                    "startLine": 3
                  }
                }
              }
            ],
            "message": {
              "text": "a hidden character: U+202E, a control of direction\ndelete it; it is nothing that writing needs"
            },
            "partialFingerprints": {
              "primaryLocationLineHash": "f1f271f45c276594:1"
            },
            "ruleId": "hidden-character",
            "ruleIndex": 41
          },
          {
            "level": "warning",
            "locations": [
              {
                "physicalLocation": {
                  "artifactLocation": {
                    "uri": "skills/my%20pdf%2Ca%3Ab/SKILL.md",
                    "uriBaseId": "%SRCROOT%"
                  },
                  "region": {
                    "charLength": 6,
                    "charOffset": 43,
                    "endColumn": 7,
                    "endLine": 4,
                    "startColumn": 1,
                    "startLine": 4
                  }
                }
              }
            ],
            "message": {
              "text": "the specification has no field `author`\nmove it below `metadata`, as `  author: …`"
            },
            "partialFingerprints": {
              "primaryLocationLineHash": "1fef0be175109b69:1"
            },
            "ruleId": "unknown-field",
            "ruleIndex": 32
          }
        ]
        "#);
    }

    #[test]
    fn the_table_describes_every_rule_and_results_point_into_it() {
        let findings = findings();
        let log = sarif(&report(&findings));
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
        assert_eq!(rules.len(), documented().count());
        for result in run["results"].as_array().expect("results") {
            let index = usize::try_from(result["ruleIndex"].as_u64().expect("a number")).expect("small");
            assert_eq!(rules[index]["id"], result["ruleId"]);
        }
        let rule = rules.iter().find(|rule| rule["id"] == "unknown-field").expect("a rule");
        insta::assert_snapshot!(serde_json::to_string_pretty(rule).expect("a value"), @r#"
        {
          "defaultConfiguration": {
            "enabled": true,
            "level": "warning"
          },
          "fullDescription": {
            "text": "Looks for top-level keys other than the six of the specification. Tools ignore them or, like the reference validator, refuse the file. The place for your own keys is `metadata`."
          },
          "help": {
            "markdown": "Looks for top-level keys other than the six of the specification. Tools ignore them or, like the reference validator, refuse the file. The place for your own keys is `metadata`.\n\n**Wrong**\n\n```text\n---\nname: pdf\ndescription: Reads PDF files.\nauthor: me\n---\n```\n\n**Right**\n\n```text\n---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  author: me\n---\n```\n\nSource: the specification is silent; the reference validator refuses them.",
            "text": "Looks for top-level keys other than the six of the specification. Tools ignore them or, like the reference validator, refuse the file. The place for your own keys is `metadata`. Source: the specification is silent; the reference validator refuses them."
          },
          "helpUri": "https://github.com/skillpm/skillpm/blob/main/docs/reference/rules.md#unknown-field",
          "id": "unknown-field",
          "properties": {
            "tags": [
              "agent-skills",
              "specification"
            ]
          },
          "shortDescription": {
            "text": "the frontmatter has the specification's fields only"
          }
        }
        "#);
    }

    #[test]
    fn fingerprints_stay_when_lines_move() {
        let prints = |text: &str| {
            let findings = findings();
            let moved = text.len() - TEXT.len();
            let moved: Vec<_> = findings
                .into_iter()
                .map(|f| Finding { span: f.span.start + moved..f.span.end + moved, ..f })
                .collect();
            let skill = SkillReport { path: "SKILL.md".into(), text, findings: &moved };
            let rules: Vec<_> = documented().collect();
            let results = results(&skill, &rules).into_iter();
            results.map(|result| result["partialFingerprints"].to_string()).collect::<Vec<_>>()
        };
        assert_eq!(prints(TEXT), prints(&format!("\n\n{TEXT}")));
    }

    #[test]
    fn paths_are_addresses() {
        assert_eq!(uri("a b/é#%.md"), "a%20b/%C3%A9%23%25.md");
        let skill = |path: &str| SkillReport { path: path.into(), text: "", findings: &[] };
        let artifact = |path: &str| {
            let skill = skill(path);
            Writer { skill: &skill, lines: LineIndex::new("") }.artifact()["uri"].clone()
        };
        assert_eq!(artifact("./a/SKILL.md"), "a/SKILL.md");
        assert_eq!(artifact("/a/SKILL.md"), "file:///a/SKILL.md");
    }
}
