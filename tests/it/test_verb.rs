//! `test`: does the right skill win?

use std::path::PathBuf;

use crate::support::{GitRepo, Output, Sandbox, fields, testdata};

const EVALS: &str = r#"[
  { "query": "please fill in this form for me", "should_trigger": true },
  { "query": "turn these numbers into a chart", "should_trigger": false }
]
"#;

/// Three skills, one of them with requests.
fn skills() -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, description) in [
        ("pdf", "Fills in forms of PDF documents. Use when a form must be filled in."),
        ("xlsx", "Makes charts from numbers in spreadsheets."),
        ("mail", "Writes letters to customers."),
    ] {
        sandbox.write(
            &format!("skills/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: {description}\n---\n\nDo it.\n"),
        );
    }
    sandbox.write("skills/pdf/evals/trigger-eval.json", EVALS);
    sandbox
}

/// What came out of each request.
fn verdicts(output: &Output) -> Vec<String> {
    fields(&output.json(), "files.cases: verdict")
}

#[test]
fn the_right_skill_has_to_win_and_the_wrong_one_must_not() {
    let sandbox = skills();
    let output = sandbox.ok(&["test"]);
    assert_eq!(output.stdout, "");
    let lines: Vec<_> = output.stderr.lines().collect();
    assert_eq!(
        lines,
        [
            "2 requests for 1 skill, ranked among 3 listed skills: 2 passed",
            "without requests: `mail` and `xlsx`"
        ]
    );

    // A request for another skill, one that the wrong skill wins, and one whose words nobody has.
    let more = r#"{ "evals": [
      { "id": "other", "prompt": "make a chart of it", "expected_skill": "xlsx" },
      { "id": "wrong", "prompt": "fill in forms by hand", "should_trigger": false },
      { "id": "far", "prompt": "draw a horse" },
      { "id": "unknown", "prompt": "make a slide", "expected_skill": "pptx" },
      { "id": "none" }
    ] }"#;
    sandbox.write("skills/pdf/evals/evals.json", more);
    let output = sandbox.run(&["test", "--top", "1"]);
    assert_eq!(output.code, Some(1), "{output}");
    insta::assert_snapshot!(output.stdout, @r#"
    skills/pdf/evals/evals.json
      3:34  `pdf` collides: it ranks 1st for a request that is not meant for it
            "fill in forms by hand"
      4:32  `pdf` does not rank: its name and description share no word with the request
            "draw a horse"
      5:36  `pptx` is invisible: no skill of that name is among those that compete
            "make a slide"
    "#);
    let json = sandbox.run(&["test", "--json"]);
    assert_eq!(
        verdicts(&json),
        ["passed", "collides", "ranks-low", "invisible", "passed", "passed"],
        "{json}"
    );
    assert_eq!(json.json()["files"][0]["unread"], 1);
    assert!(output.stderr.contains("evals.json`: 1 entry without a request"), "{output}");
}

/// What a model does not see cannot win: the agent's rules decide.
#[test]
fn an_agent_s_listing_is_what_counts() {
    let sandbox = skills();
    let seen = |agent: &str| sandbox.run(&["test", "--agent", agent, "--json"]);
    assert_eq!(verdicts(&seen("claude-code")), ["passed", "passed"]);
    // What is installed competes, and is replaced by the skill under test.
    sandbox.write(
        "../home/.claude/skills/form-filler/SKILL.md",
        "---\nname: form-filler\ndescription: Fill in this form, please fill it in. Forms.\n---\n",
    );
    let mine =
        sandbox.write("../home/.claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: old\n---\n");
    let output = sandbox.run(&["test", "--agent", "claude-code"]);
    assert!(output.stdout.contains("has the same name and wins"), "{output}");
    std::fs::remove_file(mine).expect("is removed");
    let output = seen("claude-code");
    assert_eq!(verdicts(&output), ["passed", "passed"]);
    assert_eq!(output.json()["listed"], 4);
    assert_eq!(output.json()["files"][0]["cases"][0]["before"][0], "form-filler");
    let output = sandbox.run(&["test", "--agent", "claude-code", "--top", "1", "--json"]);
    assert_eq!(verdicts(&output), ["ranks-low", "passed"]);

    sandbox.write(".claude/settings.json", r#"{"skillOverrides": {"pdf": "off"}}"#);
    let output = sandbox.run(&["test", "--agent", "claude-code"]);
    assert_eq!(output.code, Some(1));
    assert!(output.stdout.contains("`pdf` is invisible: `skillOverrides"), "{output}");
    let output = sandbox.run(&["test", "--agent", "cursor"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("how `cursor` lists skills is unknown"), "{output}");
}

#[test]
fn reports_for_build_machines() {
    let sandbox = skills();
    let evals = EVALS.replace("form", "house").replace("fill in", "paint");
    sandbox.write("skills/pdf/evals/trigger-eval.json", evals);
    let report = |format: &str| {
        let output = sandbox.run(&["test", "--format", format]);
        assert_eq!(output.code, Some(1), "{output}");
        output.stdout
    };
    insta::assert_snapshot!(report("github"), @"::error file=skills/pdf/evals/trigger-eval.json,line=2,endLine=2,col=14,endColumn=45,title=test-ranks-low::`pdf` does not rank: its name and description share no word with the request%0Asay in the description when to use the skill, in the words of such requests");
    insta::assert_snapshot!(report("junit"), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="skillpm test" tests="2" failures="1" errors="0">
      <testsuite name="skillpm test" tests="2" failures="1" errors="0" skipped="0">
        <testcase classname="skillpm.test" name="pdf: 1" file="./skills/pdf/evals/trigger-eval.json">
          <failure type="test-ranks-low" message="`pdf` does not rank: its name and description share no word with the request">./skills/pdf/evals/trigger-eval.json:2:14: `pdf` does not rank: its name and description share no word with the request
    please paint this house for me</failure>
        </testcase>
        <testcase classname="skillpm.test" name="pdf: 2" file="./skills/pdf/evals/trigger-eval.json"/>
      </testsuite>
    </testsuites>
    "#);
    let sarif: serde_json::Value = serde_json::from_str(&report("sarif")).expect("JSON");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "test-ranks-low");
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 2);
    assert!(report("concise").contains("trigger-eval.json:2:14: error test-ranks-low: "));

    // A file that cannot be read fails, with its place.
    sandbox.write("skills/pdf/evals/trigger-eval.json", "[\n  { \"query\": }\n]\n");
    let output = sandbox.run(&["test"]);
    assert_eq!(output.code, Some(1));
    assert!(output.stdout.contains("\n  2:14  it cannot be read: "), "{output}");
}

#[test]
fn only_changed_skills_are_tested_and_all_compete() {
    let sandbox = skills();
    let repo = GitRepo::new(&sandbox.project());
    repo.git(&["add", "--all"]);
    repo.commit_index();
    let output = sandbox.ok(&["test", "--changed"]);
    assert_eq!(
        output.stderr.trim_end(),
        "0 requests for 0 skills, ranked among 3 listed skills: 3 skills unchanged"
    );
    // A changed skill without requests does not fail.
    sandbox.write("skills/mail/notes.md", "new\n");
    let output = sandbox.ok(&["test", "--changed"]);
    assert!(output.stderr.ends_with("without requests: `mail`\n"), "{output}");
    std::fs::remove_file(sandbox.project().join("skills/mail/notes.md")).expect("is removed");
    sandbox.write("skills/pdf/notes.md", "new\n");
    sandbox.write("deep/er/x", "");
    let output = sandbox.output(
        sandbox.command(&["test", "--all", "--changed"]).current_dir(sandbox.project().join("deep/er")),
    );
    assert!(
        output.stderr.starts_with("2 requests for 1 skill, ranked among 3 listed skills: 2 passed"),
        "{output}"
    );
}

#[test]
fn new_skills_come_with_requests_that_pass() {
    let sandbox = Sandbox::new();
    let output = sandbox.run(&["test"]);
    assert_eq!(output.code, Some(2));
    sandbox.ok(&["create", "release-notes", "--evals", "--yes"]);
    sandbox.ok(&["validate", "release-notes"]);
    let output = sandbox.ok(&["test", "release-notes"]);
    assert!(
        output.stderr.contains("3 requests for 1 skill, ranked among 1 listed skill: 3 passed"),
        "{output}"
    );
    sandbox.ok(&["create", "other", "--yes"]);
    let output = sandbox.run(&["test", "other"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("no skill here has requests"), "{output}");
}

/// A program that stands for an agent: it uses the skill in whose text the request stands, as the formats of real ones say it.
#[cfg(unix)]
#[test]
fn an_agent_can_be_asked() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = skills();
    let agent = "#!/bin/sh\n\
        for last; do :; done\n\
        case $last in *form*) skill=pdf;; *) skill=xlsx;; esac\n\
        if [ -f .agents/skills/$skill/SKILL.md ]; then\n\
        [ -e .agents/skills/$skill/evals ] && exit 3\n\
        printf '{\"type\":\"item.completed\",\"item\":{\"type\":\"command_execution\",\"command\":\"cat .agents/skills/%s/SKILL.md\"}}\\n' $skill\n\
        fi\n\
        echo '{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":100,\"output_tokens\":5}}'\n";
    let program = sandbox.write("codex", agent);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("is made executable");
    assert!(program.is_absolute());
    let command = "./codex exec --json".to_owned();
    let output = sandbox.ok(&["test", "--agent", &command, "--repeat", "3", "--keep", "kept", "--json"]);
    let json = output.json();
    assert_eq!(verdicts(&output), ["passed", "passed"]);
    let trial = &json["files"][0]["cases"][0]["trial"];
    assert_eq!((&trial["with"]["count"], &trial["with"]["used"]), (&3.into(), &3.into()), "{trial}");
    assert_eq!((&trial["without"]["count"], &trial["without"]["used"]), (&3.into(), &0.into()), "{trial}");
    assert_eq!(trial["with"]["tokens"], 315);
    assert!(sandbox.project().join("kept/pdf-1-with-3.txt").is_file());
    let output = sandbox.ok(&["test", "--agent", &command]);
    assert!(output.stderr.contains("\nwith the skills: 2 runs of the agent, "), "{output}");

    // The wrong skill, a failure, silence, and no program.
    sandbox.write("codex", agent.replace("*form*", "*chart*"));
    let output = sandbox.run(&["test", "--agent", &command]);
    assert_eq!(output.code, Some(1));
    assert!(output.stdout.contains("the agent used `pdf` in 0 of 1 runs; it used `xlsx`"), "{output}");
    sandbox.write("codex", "#!/bin/sh\necho 'not logged in' >&2\nexit 1\n");
    let output = sandbox.run(&["test", "--agent", &command]);
    assert!(output.stdout.contains("the agent failed: not logged in"), "{output}");
    sandbox.write("codex", "#!/bin/sh\nexit 3\n");
    let output = sandbox.run(&["test", "--agent", &command]);
    assert!(output.stdout.contains("the agent failed: exit status: 3"), "{output}");
    sandbox.write("codex", "#!/bin/sh\necho done\n");
    let output = sandbox.run(&["test", "--agent", &command]);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("add `--json` to its command"), "{output}");
    let output = sandbox.run(&["test", "--agent", "no-such-program -p"]);
    assert!(output.stderr.contains("`no-such-program` cannot be started"), "{output}");
}

/// Real requests of real repositories: all shapes are read, and the right skill is nearly always among the first.
#[test]
fn real_requests() {
    let Some(data) = testdata::dir() else { return };
    let sandbox = Sandbox::new();
    let skills: PathBuf = data.join("repos/coreyhaines31+marketingskills/skills");
    let signed = data.join("signed/nvidia/skills");
    let (skills, signed) = (skills.display().to_string(), signed.display().to_string());
    let output = sandbox.run(&["test", &skills, &signed, "--json"]);
    let verdicts = verdicts(&output);
    let passed = verdicts.iter().filter(|verdict| *verdict == "passed").count();
    assert!(verdicts.len() > 300, "{}", verdicts.len());
    assert!(passed * 100 >= verdicts.len() * 85, "{passed} of {}", verdicts.len());
}

/// Runs cost money: after a signal no other one begins.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_runs() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = skills();
    let log = sandbox.project().join("log");
    let agent = format!("#!/bin/sh\necho started >> '{}'\nkill -INT $PPID\nsleep 30\n", log.display());
    let program = sandbox.write("agent", agent);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("is made executable");
    let output = sandbox.run(&["test", "--agent", "./agent -p"]);
    assert_eq!((output.code, output.stdout.as_str()), (None, ""), "{output}");
    assert_eq!(sandbox.read("log"), "started\n");
}
