//! `tools`: what an agent can call.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use skillpm_core::engine::tools::{TypedBy, tools};
use skillpm_format::profile::ScriptPlaces;

use crate::support::testdata::{self, REPOSITORIES};
use crate::support::{Sandbox, Tree};

/// A project with the example skills that have tools.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/tools");
    let output = sandbox.run(&["install", &examples.display().to_string(), "--skill", "*"]);
    assert_eq!(output.code, Some(0), "{output}");
    sandbox
}

/// S1-T: calculator (add, multiply) and file-processor (`read_file`, `write_file`); S1-D3, S1-FR-203.2.
#[test]
fn the_page() {
    let sandbox = project();
    insta::assert_snapshot!(sandbox.run(&["tools"]), @"
    exit: 0
    --- stdout
    tool                        script                 takes                description
    calculator__add             scripts/add.py         a b                  Add two numbers.
    calculator__multiply        scripts/multiply.py    a [b]                Multiply two numbers.
    file-processor__read_file   scripts/read_file.py   path [first] [last]  Print a text file, or some of its lines.
    file-processor__write_file  scripts/write_file.sh  [f] path text        Write a text to a file.
    ");
    insta::assert_snapshot!(sandbox.run(&["tools", "calculator", "--format", "anthropic"]), @r#"
    exit: 0
    --- stdout
    [
      {
        "description": "Add two numbers.",
        "input_schema": {
          "additionalProperties": false,
          "properties": {
            "a": {
              "description": "The first number.",
              "type": "number"
            },
            "b": {
              "description": "The second number.",
              "type": "number"
            }
          },
          "required": [
            "a",
            "b"
          ],
          "type": "object"
        },
        "name": "calculator__add"
      },
      {
        "description": "Multiply two numbers.",
        "input_schema": {
          "additionalProperties": false,
          "properties": {
            "a": {
              "description": "The first number.",
              "type": "number"
            },
            "b": {
              "default": 1,
              "description": "The second number.",
              "type": "number"
            }
          },
          "required": [
            "a"
          ],
          "type": "object"
        },
        "name": "calculator__multiply"
      }
    ]
    "#);
    let output = sandbox.run(&["tools", "file-processor", "--json"]);
    let tools: Vec<Value> = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(tools[0]["input_schema"]["properties"]["first"]["type"], "integer");
    assert_eq!((&tools[0]["typed_by"], &tools[1]["typed_by"]), (&"argparse".into(), &"usage".into()));
    for (form, key) in [("openai", "/0/function/parameters/type"), ("mcp", "/0/inputSchema/type")] {
        let output = sandbox.run(&["tools", "file-processor", "--format", form]);
        let tools: Value = serde_json::from_str(&output.stdout).expect("JSON");
        assert_eq!(tools.pointer(key), Some(&"object".into()), "{form}");
    }
}

/// S1-AC-1, S1-AC-2, S1-FR-201.4.
#[test]
fn scripts_that_say_nothing_and_skills_without() {
    let sandbox = Sandbox::new();
    let skill = |name: &str| format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n");
    sandbox.write(".agents/skills/two/SKILL.md", skill("two"));
    sandbox.write(".agents/skills/none/SKILL.md", skill("none"));
    let main = "def main():\n    \"\"\"Process a file and return results.\"\"\"\n";
    sandbox.write(".agents/skills/two/scripts/tool1.py", main);
    sandbox.write(".agents/skills/two/scripts/tool2.sh", "exit 3\n");
    sandbox.write(".agents/skills/two/scripts/helper.txt", "");
    sandbox.write(".agents/skills/two/scripts/lib/more.py", "");
    sandbox.tells(&["tools", "two"], 0, ": skill name language", &["two tool1 python", "two tool2 shell"]);
    sandbox.tells(&["tools", "none"], 0, ": skill name", &[]);
    assert!(sandbox.run(&["tools", "two", "--recursive"]).stdout.contains("scripts/lib/more.py"));
}

/// S1-FR-202.3: a wrong manifest is an error where its skill is asked for, and hides no other skill.
#[test]
fn a_wrong_manifest() {
    let sandbox = project();
    let text =
        "tools:\n  - name: add\n    script: add.py\n  - name: add\n    script: ad.py\n    parameter: []\n";
    sandbox.write(".agents/skills/calculator/scripts/manifest.yml", text);
    sandbox.fails(
        &["tools", "calculator"],
        3,
        "configuration",
        &[".agents/skills/calculator/scripts/manifest.yml:4:11", "`add`"],
    );
    sandbox.tells(
        &["tools"],
        0,
        ": skill name language",
        &["file-processor read_file python", "file-processor write_file shell"],
    );
}

#[test]
fn an_unknown_skill() {
    project().fails(
        &["tools", "calculater"],
        2,
        "skill-not-found",
        &["there is no skill `calculater`", "did you mean `calculator`?"],
    );
}

/// The 295 real skills: whatever their files are called and hold, nothing fails. The data has the names and
/// sizes of scripts, and in their place texts that say nothing.
#[test]
fn real_skills() {
    let Some(testdata) = testdata::dir() else { return };
    let (mut skills, mut with_tools, mut typed) = (0, 0, BTreeMap::<TypedBy, usize>::new());
    for name in REPOSITORIES {
        let sandbox = Sandbox::in_memory();
        let tree: Tree = testdata::repository(&testdata, name);
        tree.write(&sandbox.project());
        for expected in testdata::expected(&testdata).into_iter().filter(|skill| skill.repo == name) {
            let dir = sandbox.project().join(expected.dir());
            let set = tools(&dir, expected.lenient.name.as_deref().unwrap_or("x"), ScriptPlaces::Root);
            skills += 1;
            with_tools += usize::from(!set.tools.is_empty());
            for tool in set.tools {
                assert!((1..=64).contains(&tool.tool_name.len()), "{}", tool.tool_name);
                assert!(!tool.description.is_empty(), "{}", tool.script);
                *typed.entry(tool.input.typed_by).or_default() += 1;
            }
        }
    }
    println!("{skills} skills, {with_tools} of them with tools, typed by: {typed:?}");
    assert_eq!(skills, 295);
}
