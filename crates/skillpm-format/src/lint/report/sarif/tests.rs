use super::super::testing::{TEXT, findings, report};
use super::*;
use crate::document::Document;
use crate::lint::{Subject, check};

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
          "text": "the name `PDF` has an upper-case letter \\u{1b}[2J <&\">]]> 100%, a:b\nnext\ncall it `pdf`, as its directory"
        },
        "partialFingerprints": {
          "primaryLocationLineHash": "00301a72eaec2343:1"
        },
        "ruleId": "name-alphabet",
        "ruleIndex": 22
      },
      {
        "level": "note",
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
        "ruleIndex": 44
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
                "charLength": 3,
                "charOffset": 27,
                "endColumn": 17,
                "endLine": 3,
                "startColumn": 14,
                "startLine": 3
              }
            }
          }
        ],
        "message": {
          "text": "the description has the XML tag `<b>`\nwrite it without: claude.ai refuses the upload"
        },
        "partialFingerprints": {
          "primaryLocationLineHash": "3a79aa2e5f843d78:1"
        },
        "ruleId": "description-markup",
        "ruleIndex": 46
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
        "level": "error",
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
          "text": "a hidden character: U+202E, a direction control\ndelete it; no script needs it"
        },
        "partialFingerprints": {
          "primaryLocationLineHash": "f1f271f45c276594:1"
        },
        "ruleId": "hidden-character",
        "ruleIndex": 48
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
                      "charLength": 11,
                      "charOffset": 43,
                      "endColumn": 1,
                      "endLine": 5,
                      "startColumn": 1,
                      "startLine": 4
                    },
                    "insertedContent": {
                      "text": "metadata:\n  author: \"me\"\n"
                    }
                  }
                ]
              }
            ],
            "description": {
              "text": "move `author` under `metadata`"
            }
          }
        ],
        "level": "note",
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
          "text": "the specification has no field `author`\nmove it under `metadata`, as `  author: …`"
        },
        "partialFingerprints": {
          "primaryLocationLineHash": "1750d9ad30eea02a:1"
        },
        "ruleId": "unknown-field",
        "ruleIndex": 37
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
        "text": "Looks for top-level keys other than the six of the specification and those that an agent defines (`client-field`). A key that does not resemble a known one is a note: most readers ignore it. Tools ignore them or, like the reference validator, refuse the file. The place for your own keys is `metadata`."
      },
      "help": {
        "markdown": "Looks for top-level keys other than the six of the specification and those that an agent defines (`client-field`). A key that does not resemble a known one is a note: most readers ignore it. Tools ignore them or, like the reference validator, refuse the file. The place for your own keys is `metadata`.\n\n**Wrong**\n\n```text\n---\nname: pdf\ndescription: Reads PDF files.\nauthor: me\n---\n```\n\n**Right**\n\n```text\n---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  author: me\n---\n```\n\nSource: the specification is silent; the reference validator refuses them, Claude Code ignores them.",
        "text": "Looks for top-level keys other than the six of the specification and those that an agent defines (`client-field`). A key that does not resemble a known one is a note: most readers ignore it. Tools ignore them or, like the reference validator, refuse the file. The place for your own keys is `metadata`. Source: the specification is silent; the reference validator refuses them, Claude Code ignores them."
      },
      "helpUri": "https://github.com/skillpm/skillpm/blob/main/docs/reference/rules/unknown-field.md",
      "id": "unknown-field",
      "properties": {
        "tags": [
          "agent-skills",
          "specification"
        ]
      },
      "shortDescription": {
        "text": "the frontmatter has known fields only"
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
        let skill = SkillReport { path: "SKILL.md".into(), profile: Profile::Spec, text, findings: &moved };
        let rules: Vec<_> = documented().collect();
        let results = results(&skill, &rules).into_iter();
        results.map(|result| result["partialFingerprints"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(prints(TEXT), prints(&format!("\n\n{TEXT}")));
}

/// The specification of a byte-order mark: no number about a text counts it.
#[test]
fn places_do_not_depend_on_a_byte_order_mark() {
    let results = |text: &str| {
        let document = Document::parse(text.to_owned());
        let findings = check(&Subject::new(&document, Some("pdf"), "SKILL.md"));
        let skill =
            SkillReport { path: "SKILL.md".into(), profile: Profile::Spec, text, findings: &findings };
        results(&skill, &documented().collect::<Vec<_>>())
    };
    let text = "---\r\nname: PDF\rdescription: é 😀 e\u{301} \tUse it for PDF.\nauthor: 😀\n---\n";
    let (plain, mut marked) = (results(text), results(&format!("\u{feff}{text}")));
    let region = |result: &Value| result["locations"][0]["physicalLocation"]["region"].clone();
    let mark = marked.remove(0);
    assert_eq!(mark["ruleId"], "byte-order-mark");
    assert_eq!((&region(&mark)["charOffset"], &region(&mark)["charLength"]), (&json!(0), &json!(0)));
    let replacement = &mark["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(replacement["deletedRegion"], json!({ "byteOffset": 0, "byteLength": 3 }));
    assert_eq!(plain, marked);
    let author = plain.iter().find(|result| result["ruleId"] == "unknown-field").expect("a finding");
    let before = text[..text.find("author").expect("a field")].chars().count();
    assert_eq!(
        region(author),
        json!({
            "startLine": 4, "startColumn": 1, "endLine": 4, "endColumn": 7, "charOffset": before, "charLength": 6
        })
    );
}

/// `file-name`: the format requires replacements in every fix, and a new file name is not one.
#[test]
fn a_repair_without_edits_is_left_out() {
    let mut findings = findings();
    findings.truncate(1);
    findings[0].fix = Some(Fix::safe("rename the file to `SKILL.md`", Vec::new()));
    let skill =
        SkillReport { path: "SKILL.md".into(), profile: Profile::Spec, text: TEXT, findings: &findings };
    let rules: Vec<_> = documented().collect();
    assert!(results(&skill, &rules).iter().all(|result| result.get("fixes").is_none()));
}

#[test]
fn paths_are_addresses() {
    let skill =
        |path: &str| SkillReport { path: path.into(), profile: Profile::Spec, text: "", findings: &[] };
    let artifact = |path: &str| {
        let skill = skill(path);
        Writer { skill: &skill, lines: LineIndex::new("") }.artifact()["uri"].clone()
    };
    assert_eq!(artifact("./a b/é#%.md"), "a%20b/%C3%A9%23%25.md");
    assert_eq!(artifact("/a/SKILL.md"), "file:///a/SKILL.md");
}
