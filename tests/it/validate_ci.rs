//! `validate` in a repository of many skills: known findings, changes, and reports that stay readable.

use serde_json::Value;

use crate::support::{GitRepo, Output, Sandbox, fields};

const CLEAN: &str =
    "---\nname: pdf\ndescription: Reads PDF files. Use it when a PDF must be read.\n---\n\n# PDF\n";

/// A skill with two warnings about it, and one about each of its lines with a path of Windows.
fn skill(name: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: Reads all of {name}.\nlicence: MIT\n---\n\n## When to use\n\n\
         See scripts\\a.py.\n"
    )
}

/// A repository with 80 skills and more than 300 findings.
fn old_repository() -> Sandbox {
    let sandbox = Sandbox::new();
    for number in 0..80 {
        let dir = format!("skills/s{number:02}");
        let wrong = if number % 10 == 0 { "Name: all of it" } else { "it" };
        let text = skill(&format!("s{number:02}")).replace("Reads all", &format!("Reads {wrong}, all"));
        sandbox.write(&format!("{dir}/SKILL.md"), text + "\nSee scripts\\b.py.\n");
    }
    sandbox
}

/// Commits all files.
fn commit(repo: &GitRepo) {
    repo.git(&["add", "--all"]);
    repo.commit_index();
}

fn rules(output: &Output) -> Vec<String> {
    fields(&output.json(), "skills.findings: rule")
}

/// The five commands of the guide, as a person types them.
#[cfg(unix)]
#[test]
fn the_guide_takes_a_repository_into_ci() {
    let guide = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide/ci.md");
    let Ok(guide) = std::fs::read_to_string(guide) else { return };
    let blocks: Vec<_> = guide.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let sandbox = old_repository();
    let repo = GitRepo::new(&sandbox.project());
    let commands: Vec<_> = blocks[0].lines().collect();
    assert_eq!(commands.len(), 5);
    let before = sandbox.ok(&["validate", "--json", "--rule", "yaml-unquoted-colon=warning"]).json();
    assert_eq!(before["summary"]["skills"], 80);
    assert!(before["summary"]["warnings"].as_u64() > Some(300), "{}", before["summary"]);
    let type_in = |line: &str| sandbox.output(&mut sandbox.shell(line));
    let outputs: Vec<_> = commands.iter().map(|line| type_in(line)).collect();
    let codes: Vec<_> = outputs.iter().map(|output| output.code).collect();
    assert_eq!(codes, [Some(1), Some(0), Some(0), Some(0), Some(0)], "{}", outputs[1]);
    assert!(outputs[0].stdout.contains("unknown-field"), "{}", outputs[0]);
    let known = outputs[4].stderr.trim_end();
    assert_eq!(known, "80 skills: no problems found; 160 known by the baseline");
    // From now on what is new fails.
    sandbox.write("skills/s03/SKILL.md", skill("s03").replace("MIT\n", "MIT\ncompatability: git\n"));
    let fails = type_in(commands[4]);
    assert_eq!((fails.code, fails.stdout.matches("[unknown-field]").count()), (Some(1), 1), "{fails}");
    // The command for large repositories.
    commit(&repo);
    repo.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let none = type_in(blocks[1].trim());
    assert_eq!((none.code, none.stderr.as_str()), (Some(0), "0 skills: no problems found; 80 unchanged\n"));
}

#[test]
fn known_findings_are_quiet_and_new_ones_fail() {
    let sandbox = Sandbox::new();
    sandbox.write("skills/a/SKILL.md", skill("a"));
    sandbox.write("skills/b/SKILL.md", skill("b"));
    let written = sandbox.ok(&["validate", "--strict", "--write-baseline"]);
    assert!(written.stderr.contains("skillpm-baseline.json`: 6 findings known"), "{written}");
    let check = |args: &[&str]| {
        let baseline = ["validate", "--json", "--baseline", "skillpm-baseline.json"];
        let output = sandbox.run(&[&baseline, args].concat());
        let summary = fields(&output.json(), "summary: known gone").concat();
        (summary, rules(&output))
    };
    assert_eq!(check(&[]), ("6 0".into(), vec![]));
    // Lines move, one finding more is new, one less is gone.
    sandbox
        .write("skills/a/SKILL.md", skill("a").replace("\nSee", "\nMore.\n\nSee") + "\nSee scripts\\a.py.\n");
    assert_eq!(check(&[]), ("6 0".into(), vec!["windows-path".into()]));
    sandbox.write("skills/a/SKILL.md", skill("a").replace("licence: MIT\n", ""));
    assert_eq!(check(&[]), ("5 1".into(), vec![]));
    assert_eq!(check(&["--ignore", "unknown-field"]).0, "4 0", "that rule was not applied");
    assert_eq!(check(&["skills/b"]).0, "3 0", "the other one was not checked");
    std::fs::remove_dir_all(sandbox.project().join("skills/b")).expect("is removed");
    assert_eq!(check(&[]).0, "2 4");
    sandbox.ok(&["validate", "--write-baseline"]);
    assert_eq!(check(&[]).0, "2 0");
    // The manifest names it; paths are relative to the file, wherever skillpm runs.
    sandbox.write("skills/skillpm.toml", "[lint]\nbaseline = \"known/all.json\"\n");
    sandbox.fails(
        &["validate"],
        3,
        "manifest-unreadable",
        &["skills/skillpm.toml:2:12", "known/all.json", "--write-baseline"],
    );
    std::fs::create_dir(sandbox.project().join("skills/known")).expect("a directory");
    let written = sandbox.ok(&["validate", "--write-baseline"]);
    assert!(!written.stderr.contains("hint"), "{written}");
    assert_eq!(
        sandbox.ok(&["validate", "skills/a", "--strict"]).stderr,
        "1 skill: no problems found; 2 known by the baseline\n"
    );
    assert!(sandbox.read("skills/known/all.json").contains("\"../a\": {"));
}

#[test]
fn a_baseline_that_cannot_be_read_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("pdf/SKILL.md", CLEAN);
    sandbox.fails(
        &["validate", "--baseline", "none.json"],
        2,
        "usage",
        &["none.json` does not exist", "--write-baseline"],
    );
    for (text, words) in [
        ("{}", ["b.json:1:2", "missing field `version`"]),
        ("{\n\"version\": 1,\n<<<<<<< HEAD", ["b.json:3:1", "key must be a string"]),
        ("{\"version\": 9, \"skills\": {}}", ["b.json:1:1", "version 9"]),
    ] {
        sandbox.write("b.json", text);
        sandbox.fails(&["validate", "--baseline", "b.json"], 3, "configuration", &words);
        sandbox.fails(&["validate", "--write-baseline=b.json"], 3, "configuration", &words);
        assert_eq!(sandbox.read("b.json"), text);
    }
}

/// Skills of which any file changed, as git tells.
#[test]
fn only_changed_skills_are_checked() {
    let sandbox = Sandbox::new();
    for name in ["a", "b", "c", "ab"] {
        sandbox.write(&format!("skills/{name}/SKILL.md"), skill(name));
        sandbox.write(&format!("skills/{name}/references/x.md"), "x");
    }
    sandbox.fails(&["validate", "--changed"], 2, "usage", &["not in a git repository"]);
    sandbox.write(".git/HEAD", "nothing");
    sandbox.fails(
        &["validate", "--changed"],
        2,
        "usage",
        &["git does not tell what changed", "`git status`"],
    );
    std::fs::remove_dir_all(sandbox.project().join(".git")).expect("is removed");
    let repo = GitRepo::new(&sandbox.project());
    let checked = |args: &[&str]| {
        let output = sandbox.run(&[&["validate", "--json"], args].concat());
        fields(&output.json(), "skills: path").join(" ").replace("./skills/", "").replace("/SKILL.md", "")
    };
    assert_eq!(checked(&["--changed"]), "a ab b c", "all are new");
    commit(&repo);
    assert_eq!(checked(&["--changed"]), "");
    sandbox.write("skills/a/references/x.md", "y");
    sandbox.write("skills/b/new.md", "");
    std::fs::remove_file(sandbox.project().join("skills/c/references/x.md")).expect("is removed");
    repo.git(&["add", "skills/a"]);
    assert_eq!(checked(&["--changed"]), "a b c", "staged, untracked, deleted");
    std::fs::remove_file(sandbox.project().join("skills/c/SKILL.md")).expect("is removed");
    assert_eq!(checked(&["--changed"]), "a b", "what is deleted is no skill");
    repo.git(&["checkout", "--quiet", "-b", "work"]);
    commit(&repo);
    // What others did since is not what this branch changed.
    repo.git(&["checkout", "--quiet", "main"]);
    sandbox.write("skills/ab/references/x.md", "y");
    commit(&repo);
    repo.git(&["checkout", "--quiet", "work"]);
    assert_eq!((checked(&["--since", "main"]), checked(&["--changed"])), ("a b".into(), String::new()));
    sandbox.write("skills/ab/y.md", "y");
    assert_eq!(checked(&["--since", "main"]), "a ab b", "with what is not committed");
    for wrong in ["nowhere", "--output=x", "HEAD:skills"] {
        let since = format!("--since={wrong}");
        sandbox.fails(&["validate", &since], 2, "usage", &["knows no commit", wrong, "fetch-depth"]);
    }
}

/// What many skills have is told once, and all has counts.
#[test]
fn many_findings_fit_a_few_screens() {
    let sandbox = old_repository();
    sandbox.write(
        "skills/own/SKILL.md",
        "---\nname: other\ndescription: Use it when asked.\nlicence: x\nmetdata: y\n---\n",
    );
    insta::assert_snapshot!(sandbox.run(&["validate", "skills"]), @"
    exit: 1
    --- stdout
    skills/own/SKILL.md
      2:7     error    the name `other` differs from the directory's name `own`  name-directory

    8 skills  error    the value of `description` is not valid YAML: it has `: ` in it, which starts a new key unless the value is in quotes  yaml-unquoted-colon
      skills/s00, skills/s10, skills/s20 and 5 more

    81 skills  warning  the specification has no field `…`  unknown-field  (82 in all)
      skills/own, skills/s00, skills/s01 and 78 more

    80 skills  warning  the body says when to use the skill, and the description does not: a model chooses by that  description-when
      skills/s00, skills/s01, skills/s02 and 77 more

    80 skills  warning  `…` is a Windows path  windows-path  (160 in all)
      skills/s00, skills/s01, skills/s02 and 77 more

    --- stderr
    81 skills: 9 errors, 322 warnings
    windows-path 160, unknown-field 82, description-when 80, yaml-unquoted-colon 8, name-directory 1
    `--verbose` shows each with its lines
    hint: `--fix` repairs some of them, `--fix=unsafe` more; with `--diff` they show how
    hint: `skillpm explain name-directory` says more
    ");
    let lines = |args: &[&str]| sandbox.run(&[&["validate"], args].concat()).stdout.lines().count();
    assert!(lines(&["-v"]) > 1000 && lines(&["--format", "full"]) > 1000);
    let all = sandbox.run(&["validate", "--format", "concise"]);
    assert!(
        all.stdout.contains(
            "skills/s01/SKILL.md:4:1: warning unknown-field: the specification has no field `licence`\n"
        ),
        "{all}"
    );
    insta::assert_snapshot!(sandbox.run(&["validate", "skills", "--statistics"]), @"
    exit: 1
    --- stdout
    count  level    rule                 fixable
      160  warning  windows-path             160
       82  warning  unknown-field             82
       80  warning  description-when           0
        8  error    yaml-unquoted-colon        8
        1  error    name-directory             1
    --- stderr
    81 skills: 9 errors, 322 warnings
    ");
}

#[test]
fn reports_for_machines() {
    let sandbox = old_repository();
    let list: Value = sandbox.run(&["validate", "--format", "gitlab"]).json();
    let first = &list[0];
    assert_eq!(
        fields(first, ": check_name severity; location: path; location.lines: begin").concat(),
        "description-when minorskills/s00/SKILL.md3"
    );
    let file = sandbox.write("summary.md", "before\n");
    let mut command = sandbox.command(&["validate", "--format", "github", "-q"]);
    let output = sandbox.output(command.env("GITHUB_STEP_SUMMARY", &file));
    assert_eq!(output.stdout.lines().filter(|line| line.starts_with("::warning ")).count(), 10, "{output}");
    let summary = sandbox.read("summary.md");
    assert!(summary.starts_with("before\n### skillpm validate\n"), "{summary}");
    assert!(summary.contains("| skills/s79/SKILL.md | 0 | "), "{summary}");
}
