//! What people know from other tools works, or is one command away.

use serde_json::Value;

use crate::support::{Output, Sandbox};

/// `docx` and `pdf` are installed, and Claude Code sees `pdf`.
fn installed() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["docx", "pdf"] {
        let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\nDo it.\n");
        sandbox.write(&format!("src/{name}/SKILL.md"), text);
    }
    sandbox.ok(&["install", "./src", "-s", "*"]);
    sandbox.ok(&["link", "pdf", "-a", "claude-code"]);
    sandbox
}

fn names(output: &Output) -> Vec<String> {
    let Value::Array(skills) = output.json() else { panic!("{output}") };
    skills.iter().map(|skill| skill["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn a_list_of_some_skills() {
    let sandbox = installed();
    let list = |args: &[&str]| names(&sandbox.ok(&[&["list", "--json"], args].concat()));
    assert_eq!(list(&[]), ["docx", "pdf"]);
    assert_eq!(list(&["pdf"]), ["pdf"]);
    assert_eq!(list(&["pdf", "docx"]), ["docx", "pdf"]);
    assert_eq!(list(&["-a", "claude-code"]), ["pdf"]);
    assert_eq!(list(&["-a", "claude-code", "cursor"]), ["docx", "pdf"], "Cursor reads where they are");
    assert_eq!(list(&["docx", "--agent", "claude-code"]), [""; 0]);
    sandbox.fails(&["list", "pfd"], 2, "usage", &["`pfd`", "did you mean `pdf`?"]);
    sandbox.fails(&["list", "-a", "cluade-code"], 2, "usage", &["did you mean `claude-code`?"]);
    let told = sandbox.ok(&["list", "docx", "-a", "claude-code"]);
    assert!(told.stderr.contains("`claude-code` sees no skills here"), "{told}");
    assert!(sandbox.ok(&["list", "pdf"]).stderr.is_empty(), "about others there is nothing to say");
}

#[test]
fn removing_as_the_npm_tool_does() {
    for args in [
        &["remove", "--all", "-y"][..],
        &["rm", "--skill", "*", "-y"],
        &["remove", "-s", "pdf", "-s", "docx"],
    ] {
        let sandbox = installed();
        sandbox.ok(args);
        assert_eq!(names(&sandbox.ok(&["list", "--json", "-p"])), [""; 0], "{args:?}");
        assert!(!sandbox.project().join(".agents/skills").exists(), "{args:?}");
    }
    let sandbox = installed();
    sandbox.ok(&["remove", "docx", "--yes"]);
    assert_eq!(names(&sandbox.ok(&["list", "--json"])), ["pdf"]);
    sandbox.ok(&["remove", "--all", "--dry-run"]);
    assert_eq!(names(&sandbox.ok(&["list", "--json"])), ["pdf"]);
    assert_eq!(sandbox.run(&["remove", "--all", "pdf"]).code, Some(2));
    // An agent that others have for this is another command here.
    let told = sandbox.run(&["remove", "pdf", "-a", "claude-code", "-y"]);
    assert!(told.stderr.contains("hint: `skillpm unlink pdf -a claude-code` "), "{told}");
}

/// What `install` would remove is told before.
#[test]
fn a_list_tells_what_is_no_longer_requested() {
    let sandbox = installed();
    let manifest = sandbox.read("skillpm.toml");
    let rest: Vec<_> = manifest.lines().filter(|line| !line.starts_with("docx")).collect();
    sandbox.write("skillpm.toml", rest.join("\n") + "\n");
    let told = sandbox.ok(&["list"]);
    assert!(
        told.stderr.contains("warning: `docx` is no longer requested: `skillpm install` removes it"),
        "{told}"
    );
    assert_eq!(told.stderr.matches("no longer requested").count(), 1, "{told}");
    sandbox.ok(&["install"]);
    assert!(!sandbox.project().join(".agents/skills/docx").exists());
}

/// Agents that need no link are told apart from those that got one.
#[test]
fn agents_that_need_no_link() {
    let sandbox = installed();
    let told = sandbox.ok(&["link", "docx", "-a", "claude-code", "cursor", "codex"]);
    assert!(told.stderr.contains("1 skill linked for claude-code\n"), "{told}");
    assert!(told.stderr.contains("\n`codex` and `cursor` read `.agents/skills` themselves"), "{told}");
    assert!(!told.stderr.contains("warning:"), "{told}");
    let told = sandbox.ok(&["link", "docx", "-a", "cursor"]);
    assert!(!told.stderr.contains("linked for") && told.stderr.contains("needs no link"), "{told}");
}

#[test]
fn all_skills_are_disabled_and_enabled() {
    let sandbox = installed();
    sandbox.ok(&["disable", "*"]);
    assert!(!sandbox.project().join(".agents/skills/pdf").exists());
    assert!(!sandbox.project().join(".agents/skills/docx").exists());
    sandbox.ok(&["enable", "*"]);
    assert!(sandbox.project().join(".agents/skills/pdf").exists());
    sandbox.ok(&["disable", "--all"]);
    assert!(!sandbox.project().join(".agents/skills/pdf").exists());
    sandbox.ok(&["enable", "--all"]);
    assert!(sandbox.project().join(".agents/skills/pdf").exists());
    assert_eq!(sandbox.run(&["disable", "--all", "pdf"]).code, Some(2));
    sandbox.ok(&["verify"]);
}

/// All are meant by `'*'`, as without a name.
#[test]
fn all_by_a_star() {
    let sandbox = installed();
    for verb in ["diff", "import", "link", "list", "outdated", "update", "verify"] {
        let how: &[&str] = if verb == "link" { &["-a", "claude-code", "--dry-run"] } else { &[] };
        let all = sandbox.ok(&[&[verb, "*"], how].concat());
        assert_eq!(all.to_string(), sandbox.ok(&[&[verb], how].concat()).to_string());
    }
    sandbox.fails(&["import", "--all"], 2, "usage", &["leave out the name to use all skills"]);
}

/// A new skill of the user's own.
#[test]
fn create_for_the_user() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["create", "notes", "-g", "-y"]);
    assert_eq!(names(&sandbox.ok(&["list", "-g", "--json"])), ["notes"]);
    sandbox.fails(&["create", "notes", "-g", "--path", "x"], 2, "usage", &["`--global`", "`--path"]);
}

/// Paths that nearly lead to a skill, and files of one.
#[test]
fn paths_to_a_skill() {
    let sandbox = installed();
    sandbox.write("kit/skills/solo/SKILL.md", "---\nname: solo\ndescription: Works alone.\n---\n");
    for (line, meant) in [
        ("install ./kit/solo", "./kit/skills/solo"),
        ("install ./kit/skills/slo", "./kit/skills/solo"),
        ("validate kit/solo", "kit/skills/solo"),
        ("show ./src/pfd", "./src/pdf"),
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let hint = format!("did you mean `{meant}`?");
        sandbox.fails(&args, 2, "usage", &[&format!("`{}` does not exist", args[1]), &hint]);
        sandbox.ok(&[args[0], meant]);
    }
    sandbox.fails(&["install", "./other/solo"], 2, "usage", &["check the path"]);
    sandbox.fails(&["install", "./src", "-s", "nope"], 2, "usage", &["it has `docx` and `pdf`", "--list"]);
    let file = "kit/skills/solo/SKILL.md";
    let told = format!("`./{file}` is the file, `github:{file}` the repository");
    sandbox.fails(&["install", file], 2, "usage", &[&format!("`{file}` is a file here"), &told]);
    sandbox.fails(
        &["show", file],
        2,
        "skill-not-found",
        &["`./kit/skills/solo` is the skill in that directory"],
    );
    for verb in ["install", "show", "validate"] {
        sandbox.ok(&[verb, "./kit/skills/solo/SKILL.md"]);
    }
}

/// `import` asks nothing, and may be told so.
#[test]
fn yes_to_an_import() {
    let sandbox = Sandbox::new();
    let first = sandbox.run(&["import"]);
    assert_eq!(sandbox.run(&["import", "-y"]).to_string(), first.to_string());
}

/// Names that were mistyped, by letters and by case, in whatever asks for one.
#[test]
fn near_misses() {
    let sandbox = installed();
    for (line, meant) in [
        ("remove pfd", "pdf"),
        ("remove PDF", "pdf"),
        ("invoke pfd", "pdf"),
        ("update dcox", "docx"),
        ("install ./src -s DOCX", "docx"),
        ("explain NAME-LENGTH", "name-length"),
        ("agents claude-cod", "claude-code"),
        ("completions bsh", "bash"),
        ("list --globl", "--global"),
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let told = sandbox.run(&args);
        assert_eq!(told.code, Some(2), "{told}");
        assert!(told.stderr.contains(&format!("hint: did you mean `{meant}`?")), "{line}: {told}");
    }
    for line in ["completions tcsh", "tools --format nope", "list --nope", "remove alone", "explain nothing"]
    {
        let args: Vec<&str> = line.split(' ').collect();
        let told = sandbox.run(&args);
        assert_eq!(told.code, Some(2), "{told}");
        assert!(!told.stderr.contains("did you mean") && !told.stderr.contains("similar"), "{line}: {told}");
    }
}

/// Actions of commands that were mistyped, or that other tools have.
#[test]
fn actions() {
    let sandbox = Sandbox::new();
    for (line, told) in [
        ("cache cleer", "there is no action `cleer` of `skillpm cache`|`skillpm cache clean` removes"),
        ("help cache cleer", "there is no action `cleer` of `skillpm cache`|`skillpm cache clean` removes"),
        ("agents lsit", "there is no agent `lsit`|`skillpm agents` lists"),
        ("agents ls", "there is no agent `ls`|`skillpm agents` lists"),
        ("agents us", "there is no agent `us`|did you mean `skillpm agents use`?"),
        ("mcp serve", "there is no action `serve` of `skillpm mcp`|`skillpm mcp` serves"),
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let told: Vec<&str> = told.split('|').collect();
        sandbox.fails(&args, 2, "usage", &told);
    }
}

/// The ways to a help page: short ones on one screen, and whole ones.
#[test]
fn help() {
    let sandbox = Sandbox::new();
    let short = sandbox.ok(&["-h"]).stdout;
    assert!(short.lines().count() <= 24 && !short.contains("completions"), "{short}");
    let nothing = sandbox.run(&[]);
    assert_eq!((nothing.code, nothing.stderr), (Some(2), short));
    let whole = sandbox.ok(&["--help"]).stdout;
    assert!(whole.contains("completions") && whole.contains("Exit codes:"), "{whole}");
    assert_eq!(sandbox.ok(&["help", "--all"]).stdout, whole);
    assert_eq!(sandbox.ok(&["help"]).stdout, whole);
    assert_eq!(sandbox.ok(&["help", "help"]).stdout, whole);
    let page = sandbox.ok(&["list", "--help"]).stdout;
    assert!(page.contains("Examples:") && page.contains("--scope"), "{page}");
    assert_eq!(sandbox.ok(&["help", "list"]).stdout, page);
    assert!(!sandbox.ok(&["ls", "-h"]).stdout.contains("Examples:"));
    sandbox.fails(&["help", "lst"], 2, "usage", &["`lst`", "did you mean `skillpm list`?"]);
    assert!(sandbox.ok(&["help", "registry", "yank"]).stdout.contains("--reason"));
}
