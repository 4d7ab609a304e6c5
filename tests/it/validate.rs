//! `validate` and `explain`, as a person or a build machine sees them.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::support::sandbox::Output;
use crate::support::{Sandbox, fields};

const CLEAN: &str =
    "---\nname: pdf\ndescription: Reads PDF files. Use it when a PDF must be read.\n---\n\n# PDF\n";
const WARNS: &str = "---\nname: csv\ndescription: Reads CSV files. Use it when a table must be read.\nlicence: MIT\n---\n\n# CSV\n";
const FAILS: &str = "---\nname: Papers\ndescription: Use it for docs: all of them.\n---\n\n# Docs\n";

/// The fields of findings that tests look at.
const FINDINGS: &str = "skills.findings: rule severity start.line";

/// A project with a right skill, one with a warning and one with errors.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("skills/pdf/SKILL.md", CLEAN);
    sandbox.write("skills/csv/SKILL.md", WARNS);
    sandbox.write("more/docs/SKILL.md", FAILS);
    sandbox
}

/// Runs the program with `text` as its standard input.
fn with_input(sandbox: &Sandbox, args: &[&str], text: &str) -> Output {
    piped(sandbox.command(args), text)
}

/// Runs `command` with `text` as its standard input.
fn piped(mut command: Command, text: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    // A program that refuses its arguments reads nothing.
    let _ = child.stdin.take().expect("a pipe").write_all(text.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Output { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

/// Files of several skills are open together, in each thread: as many as the system allows.
#[cfg(unix)]
#[test]
fn many_skills_where_few_files_may_be_open() {
    let sandbox = Sandbox::new();
    for number in 0..300 {
        let text = if number % 3 == 0 { WARNS } else { CLEAN };
        sandbox.write(&format!("skills/s{number}/SKILL.md"), text);
    }
    for verb in [&["validate", "skills"][..], &["catalog", "--dir", "skills"]] {
        let all = sandbox.run(verb).to_string();
        std::fs::remove_dir_all(sandbox.home().join(".cache")).ok();
        assert_eq!(sandbox.run_with_files(24, verb).to_string(), all);
    }
}

/// What a person sees of a right skill, of one with errors, and of a rule, word for word.
#[test]
fn the_page() {
    insta::assert_snapshot!(project().run(&["validate", "skills/pdf"]), @"
    exit: 0
    --- stderr
    1 skill: no problems found
    ");
    insta::assert_snapshot!(project().run(&["validate", "more"]), @r#"
    exit: 1
    --- stdout
    error[name-alphabet]: the name `Papers` has an upper-case letter
     --> more/docs/SKILL.md:2:7
      |
    2 | name: Papers
      |       ^^^^^^
      |
      = help: call it `docs`, as its directory

    error[name-directory]: the name `Papers` differs from the directory's name `docs`
     --> more/docs/SKILL.md:2:7
      |
    2 | name: Papers
      |       ^^^^^^
      |
      = help: give the directory and the skill the same name

    error[yaml-unquoted-colon]: the value of `description` is not valid YAML: it has `: ` in it, which starts a new key unless the value is in quotes
     --> more/docs/SKILL.md:3:29
      |
    3 | description: Use it for docs: all of them.
      |                             ^ this colon
      |
      = help: put the whole value in quotes: `description: "Use it for docs: all of them."`

    --- stderr
    1 skill: 3 errors, 0 warnings
    hint: `--fix` repairs some of them, `--fix=unsafe` more; with `--diff` they show how
    hint: `skillpm explain name-alphabet` says more
    "#);
}

#[test]
fn warnings_fail_with_strict() {
    let sandbox = project();
    assert_eq!(sandbox.run(&["validate", "skills/csv"]).code, Some(0));
    sandbox.tells(&["validate", "skills/csv", "--strict"], 1, FINDINGS, &["unknown-field warning 4"]);
}

#[test]
fn several_paths_each_skill_once() {
    let sandbox = project();
    let output = sandbox.run(&["validate", "more/docs/SKILL.md", "skills", "more", "-q"]);
    assert_eq!(output.code, Some(1));
    assert_eq!(output.stdout.matches("error[name-alphabet]").count(), 1);
    assert_eq!(output.stderr, "", "nothing but findings");
}

#[test]
fn a_whole_repository() {
    project().tells(&["lint"], 1, "summary: skills errors warnings", &["3 3 1"]);
}

#[test]
fn quoted_patterns() {
    let sandbox = project();
    sandbox.tells(&["validate", "skills/**/SKILL.md"], 0, "summary: skills errors warnings", &["2 0 1"]);
    sandbox.fails(&["validate", "skills/x*"], 2, "usage", &["`skills/x*`", "`skills/**/SKILL.md`"]);
}

/// More skills than one thread takes at once, told in the order of their paths.
#[test]
fn the_order_does_not_depend_on_threads() {
    let sandbox = Sandbox::new();
    for number in 0..300 {
        sandbox.write(&format!("skills/s{number:03}/SKILL.md"), FAILS);
    }
    let output = sandbox.run(&["validate", "--format", "concise"]);
    let paths: Vec<_> = output.stdout.lines().filter(|line| line.contains("name-alphabet")).collect();
    assert_eq!(paths.len(), 300);
    assert!(paths.is_sorted());
}

#[test]
fn standard_input() {
    let sandbox = project();
    let run = |args: &[&str], text| with_input(&sandbox, args, text);
    let output = run(&["validate", "-", "--json"], FAILS);
    assert_eq!(output.code, Some(1), "{output}");
    let expected = ["name-alphabet error 2", "yaml-unquoted-colon error 3"];
    assert_eq!(fields(&output.json(), FINDINGS), expected);
    let output = run(&["validate", "-", "--json", "--stdin-filename", "skills/other/SKILL.md"], CLEAN);
    assert_eq!(output.code, Some(1), "{output}");
    assert_eq!(fields(&output.json(), FINDINGS), ["name-directory error 2"]);
    let sandbox = Sandbox::new();
    sandbox.write("skills/pdf/scripts/x.sh", "");
    let typed = |path: &str| {
        let mut command = sandbox.command(&["validate", "-", "--stdin-filename", path]);
        command.current_dir(sandbox.project().join("skills/pdf/scripts"));
        piped(command, CLEAN).code
    };
    assert_eq!(typed("../SKILL.md"), Some(0), "the directory's real name counts, as of a file that is there");
    let output = run(&["validate", "--json", "--stdin-filename", "x/SKILL.md"], CLEAN);
    output.failed_with(2, "usage", &["--stdin-filename"]);
}

/// S4-20.
#[test]
fn json() {
    let output = project().ok(&["validate", "skills", "--format", "json"]).json();
    assert_eq!((&output["version"], &output["profile"]), (&1.into(), &"spec".into()));
    assert_eq!(
        fields(&output, "summary: skills errors warnings notes; skills: path"),
        ["2 0 1 0", "skills/csv/SKILL.md", "skills/pdf/SKILL.md"]
    );
    let finding = &output["skills"][0]["findings"][0];
    assert_eq!(
        fields(finding, ": rule severity; start: line column offset; end: line column offset"),
        ["unknown-field warning", "4 1 78", "4 8 85"]
    );
    assert!(finding["docs"].as_str().expect("a page").ends_with("/rules/unknown-field.md"), "{finding}");
    let fix = &finding["fix"];
    assert_eq!(
        fields(fix, ": safety; edits.start: line column; edits.end: line column; edits: text"),
        ["unsafe", "4 1", "4 8", "license"]
    );
}

#[test]
fn annotations_of_github() {
    let output = project().run(&["validate", "skills", "more", "--format", "github"]);
    assert_eq!(output.code, Some(1), "{output}");
    let commands: Vec<_> = output.stdout.lines().filter_map(|line| line.rsplit_once("::the ")).collect();
    let commands: Vec<_> = commands.iter().map(|(command, _)| *command).collect();
    let docs = "file=more/docs/SKILL.md,";
    assert_eq!(
        commands,
        [
            "::warning file=skills/csv/SKILL.md,line=4,endLine=4,col=1,endColumn=7,title=unknown-field",
            &format!("::error {docs}line=2,endLine=2,col=7,endColumn=12,title=name-alphabet"),
            &format!("::error {docs}line=2,endLine=2,col=7,endColumn=12,title=name-directory"),
            &format!("::error {docs}line=3,endLine=3,col=29,endColumn=29,title=yaml-unquoted-colon"),
        ]
    );
}

#[test]
fn junit() {
    let output = project().run(&["validate", "skills", "more", "--format", "junit"]);
    assert_eq!(output.code, Some(1), "{output}");
    for part in [
        "<testsuites name=\"skillpm validate\" tests=\"3\" failures=\"1\" errors=\"0\">",
        "name=\"skills/csv/SKILL.md\" file=\"skills/csv/SKILL.md\">\n      <system-out>",
        "name=\"skills/pdf/SKILL.md\" file=\"skills/pdf/SKILL.md\"/>",
        "name=\"more/docs/SKILL.md\" file=\"more/docs/SKILL.md\">\n      <failure type=\"name-alphabet\"",
        "more/docs/SKILL.md:2:7: error[name-directory]",
        "&quot;",
    ] {
        assert!(output.stdout.contains(part), "{part}: {output}");
    }
}

#[test]
fn sarif_into_a_file() {
    let sandbox = project();
    let output = sandbox.run(&["validate", "more", "--format", "sarif", "-o", "out.sarif"]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""), "{output}");
    let log: serde_json::Value = serde_json::from_str(&sandbox.read("out.sarif")).expect("JSON");
    let results = &log["runs"][0]["results"];
    let ids: Vec<_> = results.as_array().expect("a list").iter().map(|result| &result["ruleId"]).collect();
    assert_eq!(ids, ["name-alphabet", "name-directory", "yaml-unquoted-colon"]);
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "more/docs/SKILL.md");
    assert_eq!(place["region"]["startLine"], 2);
    let dash = sandbox.run(&["validate", "more", "--format", "json", "-o", "-"]);
    assert!(dash.stdout.starts_with('{') && !sandbox.project().join("-").exists(), "{dash}");
    let before = sandbox.read("more/docs/SKILL.md");
    sandbox.fails(
        &["validate", "more", "-o", "more/docs/SKILL.md"],
        2,
        "usage",
        &["more/docs/SKILL.md", "--output"],
    );
    assert_eq!(sandbox.read("more/docs/SKILL.md"), before);
}

/// A file whose parts try to pass for something else in each format.
#[test]
fn nothing_of_a_file_acts_on_a_report() {
    let sandbox = Sandbox::new();
    sandbox.write("x/SKILL.md", "---\nname: \"x\\e[2J\\n::error::y<&]]>\u{202e}\"\ndescription: d\n---\n");
    for format in ["human", "full", "concise", "json", "sarif", "github", "gitlab", "junit"] {
        let output = sandbox.run(&["validate", "--format", format]);
        assert_eq!(output.code, Some(1), "{format}");
        assert!(!output.stdout.contains(['\u{1b}', '\u{202e}']), "{format}: {}", output.stdout);
        assert!(output.stdout.lines().all(|line| !line.starts_with("::error::")), "{format}");
        assert!(format != "junit" || !output.stdout.contains("]]>"), "{}", output.stdout);
    }
}

#[test]
fn an_unknown_profile_gets_a_suggestion() {
    project().fails(&["validate", "--profile", "referense"], 2, "usage", &["`referense`", "`reference`"]);
    project().fails(&["validate", "--profile", "x"], 2, "usage", &["`x`", "`claude-code`"]);
}

#[test]
fn profiles_differ() {
    let sandbox = project();
    for (profile, code) in [("spec", 0), ("lenient", 0), ("claude-ai", 1)] {
        let output = sandbox.run(&["validate", "skills/csv", "--profile", profile]);
        assert_eq!(output.code, Some(code), "{profile}: {output}");
    }
}

#[test]
fn a_path_that_is_not_there() {
    project().fails(&["validate", "skils"], 2, "usage", &["`skils`"]);
}

#[test]
fn explain() {
    let sandbox = Sandbox::new();
    sandbox.tells(&["explain", "name-hyphens"], 0, ": id group fix", &["name-hyphens spec unsafe"]);
    sandbox.fails(&["explain", "name-hypens"], 2, "usage", &["`name-hypens`", "`name-hyphens`"]);
    let all = sandbox.run(&["explain"]);
    assert!(all.stdout.lines().any(|line| line.starts_with("file-kind ")), "{all}");
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["explain", "--json"]).stdout).expect("JSON");
    assert_eq!(json.as_array().expect("a list").len() + 1, all.stdout.lines().count());
}

/// A skill with a fault that is repaired safely and one that is not.
const REPAIRABLE: &str =
    "---\nname: Reader\ndescription: Reads PDF: all of it. Use it when a PDF must be read.\n---\n\n# PDF\n";

#[test]
fn repairs_are_shown_then_made() {
    let sandbox = Sandbox::new();
    sandbox.write("skills/pdf/SKILL.md", REPAIRABLE);
    let output = sandbox.run(&["validate", "--diff"]);
    assert_eq!(output.code, Some(1), "{output}");
    let quoted = "\n+description: \"Reads PDF: all of it. Use it when a PDF must be read.\"\n";
    assert!(output.stdout.contains(quoted), "{output}");
    assert_eq!(sandbox.read("skills/pdf/SKILL.md"), REPAIRABLE);
    sandbox.tells(&["validate", "--fix"], 1, FINDINGS, &["name-alphabet error 2", "name-directory error 2"]);
    sandbox.tells(&["validate", "--fix=unsafe"], 0, FINDINGS, &[]);
    sandbox.tells(&["validate"], 0, FINDINGS, &[]);
    let repaired = REPAIRABLE
        .replace("Reader", "pdf")
        .replace("Reads PDF: all", "\"Reads PDF: all")
        .replace("be read.\n", "be read.\"\n");
    assert_eq!(sandbox.read("skills/pdf/SKILL.md"), repaired);
}

#[test]
fn the_manifest_switches_rules() {
    let sandbox = project();
    sandbox.write("skillpm.toml", "[lint]\nprofile = \"publish\"\nrules = { unknown-field = \"off\" }\n");
    assert_eq!(sandbox.run(&["validate", "skills/csv"]).stdout, "");
    sandbox.write("skillpm.toml", "[lint]\nrules = { unknown-feild = \"off\" }\n");
    sandbox.fails(
        &["validate", "skills/csv"],
        3,
        "manifest-unreadable",
        &["skillpm.toml:2:11", "`unknown-feild`", "`unknown-field`"],
    );
}

/// Whose manifest counts: the nearest one above each file, wherever skillpm runs.
#[test]
fn the_nearest_manifest_counts() {
    let sandbox = project();
    sandbox.write("skillpm.toml", "[lint]\nprofile = \"publish\"\n");
    sandbox
        .write("more/skillpm.toml", "[lint]\nprofile = \"lenient\"\nrules = { name-alphabet = \"off\" }\n");
    let at = |dir: &str, args: &[&str]| {
        let mut command = sandbox.command(&[&["validate", "--json"], args].concat());
        let output = command.current_dir(sandbox.project().join(dir)).output().expect("runs");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        fields(&json, "skills: profile; skills.findings: rule severity").join(", ")
    };
    let both = "publish, lenient, unknown-field warning, name-directory warning, yaml-unquoted-colon warning";
    for (dir, paths) in [("", ["skills/csv", "more"]), ("more", ["../skills/csv", "."])] {
        assert_eq!(at(dir, &paths), both, "{dir}");
    }
    assert_eq!(
        at("", &["skills/csv", "more", "--profile", "lenient"]),
        "lenient, lenient, name-directory warning, yaml-unquoted-colon warning"
    );
    let all = at("skills", &["../more", "--config", "../skillpm.toml"]);
    assert!(all.starts_with("publish, name-alphabet error"), "{all}");
    sandbox.fails(&["validate", "--config", "none.toml"], 2, "usage", &["`none.toml`", "`[lint]`"]);
    sandbox.write("more/skillpm.toml", "[lint]\nprofile = 1\n");
    sandbox.fails(&["validate", "more"], 3, "manifest-unreadable", &["more/skillpm.toml:2:11"]);
    assert_eq!(sandbox.run(&["validate", "skills/pdf"]).code, Some(0), "it is not asked");
    // What is packed is checked by it too.
    sandbox.write("skills/skillpm.toml", "[lint.rules]\nname-length = \"loud\"\n");
    sandbox.fails(&["pack", "skills/pdf"], 3, "manifest-unreadable", &["skills/skillpm.toml:2:15"]);
}

#[test]
fn files_are_excluded_and_paths_have_rules_of_their_own() {
    let sandbox = project();
    sandbox.write("draft/x/SKILL.md", FAILS);
    sandbox.write(
        "skillpm.toml",
        "[lint]\nexclude = [\"draft/\"]\n[lint.per-path.\"more/**\"]\nprofile = \"publish\"\nrules = { name-alphabet = \"note\" }\n",
    );
    let json = sandbox.run(&["validate", "--json"]).json();
    let expected = ["publish", "spec", "spec", "name-alphabet note", "name-directory error"];
    assert_eq!(fields(&json, "skills: profile; skills.findings: rule severity")[..5], expected);
    assert_eq!(json["summary"]["excluded"], 1);
    assert_eq!(sandbox.run(&["validate", "draft/x"]).code, Some(1), "it was named");
    let hook =
        sandbox.ok(&["validate", "draft/x/SKILL.md", "skillpm.toml", "--force-exclude", "--ignore-unknown"]);
    assert_eq!(hook.stderr, "0 skills: no problems found; 1 is excluded\n");
    sandbox.fails(&["validate", "skillpm.toml"], 2, "usage", &["`skillpm.toml` belongs to no skill"]);
    sandbox.write("skillpm.toml", "[lint]\ninclude = [\"skills\"]\n");
    assert_eq!(sandbox.ok(&["validate", "--json"]).json()["summary"]["excluded"], 2);
    sandbox.write("skillpm.toml", "[lint]\nexclude = [\"[\"]\n");
    sandbox.fails(&["validate"], 3, "manifest-unreadable", &["skillpm.toml:2:12", "`[` is not a pattern"]);
}

#[test]
fn rules_are_chosen_for_one_run() {
    let sandbox = project();
    let found = |flags: &[&str], code: i32, expected: &[&str]| {
        sandbox.tells(
            &[&["validate", "skills", "more"], flags].concat(),
            code,
            "skills.findings: rule severity",
            expected,
        );
    };
    found(
        &["--select", "unknown-field, name-directory"],
        1,
        &["unknown-field warning", "name-directory error"],
    );
    found(
        &["--ignore", "name-alphabet", "--ignore", "yaml-unquoted-colon", "--rule", "name-directory=note"],
        0,
        &["unknown-field warning", "name-directory note"],
    );
    for (flags, words) in [
        (["--select", "unknown-feild"], ["`unknown-feild`", "`unknown-field`"]),
        (["--ignore", "zzz"], ["`zzz`", "`skillpm explain`"]),
        (["--rule", "name-ascii"], ["`name-ascii`", "`name-ascii=error`"]),
        (["--rule", "name-asci=error"], ["`name-asci`", "`name-ascii`"]),
        (["--rule", "name-ascii=eror"], ["`eror`", "`error`"]),
    ] {
        sandbox.fails(&[&["validate"], &flags[..]].concat(), 2, "usage", &words);
    }
}

/// Where the rule about kinds of files is off, what cannot be read is counted.
#[cfg(unix)]
#[test]
fn what_cannot_be_read_may_be_skipped() {
    let sandbox = project();
    std::fs::create_dir(sandbox.project().join("skills/gone")).expect("a directory");
    std::os::unix::fs::symlink("nowhere", sandbox.project().join("skills/gone/SKILL.md")).expect("a link");
    assert_eq!(sandbox.run(&["validate", "skills"]).code, Some(1));
    let output = sandbox.ok(&["validate", "skills", "--ignore", "file-kind"]);
    assert!(output.stderr.starts_with("2 skills: 0 errors, 1 warning; 1 cannot be read\n"), "{output}");
    sandbox.write("skillpm.toml", "[lint.rules]\nfile-kind = \"off\"\n");
    assert_eq!(sandbox.ok(&["validate", "--json", "skills"]).json()["summary"]["unread"], 1);
}

/// The files of a change are told from the root of the repository, wherever skillpm runs.
#[test]
fn reports_for_a_repository_count_paths_from_its_root() {
    let sandbox = Sandbox::new();
    sandbox.write(".git/HEAD", "ref: refs/heads/main\n");
    sandbox.write("pkg/skills/pdf/SKILL.md", "---\nname: PDF\ndescription: Does. Use when.\n---\n");
    let told = |path: &str, format: &str| {
        let mut command = sandbox.command(&["validate", path, "--format", format, "-q"]);
        let output = command.current_dir(sandbox.project().join("pkg/skills")).output().expect("runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    for path in [".", "..", "pdf"] {
        assert!(told(path, "github").starts_with("::error file=pkg/skills/pdf/SKILL.md,"), "{path}");
        assert!(told(path, "sarif").contains("\"uri\": \"pkg/skills/pdf/SKILL.md\""), "{path}");
    }
    assert!(told("pdf", "json").contains("\"pdf/SKILL.md\""), "as it was named");
}

/// `--json` is what other verbs have, and cannot be meant together with another form.
#[test]
fn json_in_short() {
    let sandbox = Sandbox::new();
    sandbox.write("pdf/SKILL.md", "---\nname: pdf\n---\n");
    assert_eq!(sandbox.run(&["validate", "--json"]), sandbox.run(&["validate", "--format", "json"]));
    for other in ["--format=sarif", "--diff", "--watch"] {
        let output = sandbox.run(&["validate", "--json", other]);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(
            output.stderr.contains("`--json` cannot be used with `")
                || output.stderr.contains("cannot be used with `--json`"),
            "{output}"
        );
    }
    sandbox.ok(&["create", "notes", "--path", ".agents/skills"]);
    let invoked = sandbox.run(&["invoke", "--json", "notes", "--json"]);
    assert_eq!(invoked, sandbox.run(&["invoke", "--format", "json", "notes", "--json"]));
    assert!(invoked.stdout.contains("\"skill_name\": \"notes\""), "{invoked}");
}

/// Their agent looks for them at the top: no advice, and no repair, takes them from there.
#[test]
fn fields_of_claude_code_stay_where_they_are() {
    let sandbox = Sandbox::new();
    let text = "---\nname: triage\ndescription: Sorts issues. Use when there are new ones.\nargument-hint: \"[issue]\"\n\
                disable-model-invocation: true\n---\n\n# Triage\n";
    sandbox.write("triage/SKILL.md", text);
    let told = sandbox.run(&["validate", "triage", "--strict"]);
    assert_eq!(told.code, Some(0), "{told}");
    assert!(
        told.stdout.contains("note[client-field]: `argument-hint` is a field of Claude Code and VS Code;"),
        "{told}"
    );
    assert!(told.stderr.contains("1 skill: no problems found, 2 notes"), "{told}");
    let quiet = sandbox.run(&["validate", "triage", "--profile", "claude-code", "--strict"]);
    assert_eq!((quiet.code, quiet.stdout.as_str()), (Some(0), ""), "{quiet}");
    sandbox.run(&["validate", "triage", "--fix=unsafe"]);
    assert_eq!(sandbox.read("triage/SKILL.md"), text);
    assert_eq!(sandbox.run(&["validate", "triage", "--profile", "reference"]).code, Some(1));
}

/// One limit for all verbs.
#[test]
fn a_large_skill_that_is_valid_can_be_installed() {
    let sandbox = Sandbox::new();
    let text = format!(
        "---\nname: big\ndescription: Reads. Use when asked.\n---\n\n{}\n",
        "word ".repeat(1_300_000)
    );
    sandbox.write("src/big/SKILL.md", text);
    assert_eq!(sandbox.run(&["validate", "src/big", "-q"]).code, Some(0));
    let installed = sandbox.run(&["install", "./src/big"]);
    assert_eq!(installed.code, Some(0), "{installed}");
    sandbox.write("src/plain/SKILL.md", "---\ndescription: Reads. Use when asked.\n---\nbody\n");
    let nameless = sandbox.run(&["install", "./src/plain"]);
    assert_eq!(nameless.code, Some(0), "{nameless}");
    assert!(nameless.stderr.contains("the required field `name` is missing"), "{nameless}");
    assert!(sandbox.run(&["invoke", "plain"]).stdout.contains("body"));
}

/// What a link leads to out of the project is somebody else's.
#[cfg(unix)]
#[test]
fn a_link_out_of_the_project_is_not_repaired() {
    let sandbox = Sandbox::new();
    let text = "---\nname: pdf\ndescription: Reads PDF: all. Use when asked.\n---\n";
    sandbox.write("../elsewhere/pdf/SKILL.md", text);
    let link = sandbox.write("skills/other.md", "").with_file_name("pdf");
    std::os::unix::fs::symlink("../../elsewhere/pdf", link).expect("links");
    let told = sandbox.run(&["validate", "skills", "--fix"]);
    assert!(told.stderr.contains("was not changed: a link leads out of the project"), "{told}");
    assert_eq!(sandbox.read("../elsewhere/pdf/SKILL.md"), text);
}
