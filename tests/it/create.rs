//! New skills, end to end: what a person types, what is said, what lies on disk, and that an agent can
//! use it.

use crate::support::{Forge, Sandbox, Tree};

/// What lies in the project.
fn shape(sandbox: &Sandbox) -> String {
    sandbox.tree(&sandbox.project()).join("\n")
}

/// S4-19: each template from nothing to what an agent gets, without one word of complaint.
#[test]
fn every_template_is_created_validated_installed_and_invoked() {
    for template in ["basic", "script", "reference", "workflow"] {
        let sandbox = Sandbox::new();
        let created = sandbox.run(&["create", "release-notes", "--template", template, "--path", "skills"]);
        assert_eq!(created.code, Some(0), "{template}: {created}");
        // The only findings: the text is still that of the template.
        for (flags, code) in [(&[][..], 0), (&["--profile", "publish"], 1)] {
            let args = [&["validate", "skills/release-notes", "--json"], flags].concat();
            let validated = sandbox.run(&args);
            assert_eq!(validated.code, Some(code), "{template}: {validated}");
            let outcome: serde_json::Value = serde_json::from_str(&validated.stdout).expect("JSON");
            let findings = outcome["skills"][0]["findings"].as_array().expect("a list");
            let rules: Vec<_> = findings.iter().map(|finding| &finding["rule"]).collect();
            assert_eq!(rules, ["template-text", "template-untouched"], "{template}");
        }
        let installed = sandbox.run(&["install", "./skills/release-notes"]);
        assert_eq!(installed.code, Some(0), "{template}: {installed}");
        assert!(!installed.stderr.contains("warning"), "{template}: {installed}");
        let invoked = sandbox.run(&["invoke", "release-notes", "for 1.2"]);
        assert_eq!(invoked.code, Some(0), "{template}: {invoked}");
        assert!(invoked.stdout.contains("# Release notes\n"), "{invoked}");
    }
}

#[test]
fn the_page() {
    let sandbox = Sandbox::new();
    let output = sandbox.run(&["new", "log-reader", "--template", "script", "--resources", "references"]);
    insta::assert_snapshot!(output, @"
    exit: 0
    --- stderr
    created `log-reader` from the template `script`
      SKILL.md
      references/guide.md
      scripts/inspect.sh (executable)
    hint: write `log-reader/SKILL.md`, then run `skillpm validate log-reader`
    hint: `skillpm invoke ./log-reader` shows what an agent gets
    ");
    insta::assert_snapshot!(shape(&sandbox), @"
    644 log-reader/SKILL.md
    644 log-reader/references/guide.md
    755 log-reader/scripts/inspect.sh
    log-reader/
    log-reader/references/
    log-reader/scripts/
    ");
    insta::assert_snapshot!(sandbox.read("log-reader/SKILL.md").split("# Log").next().expect("a head"), @r#"
    ---
    name: log-reader
    description: "[TODO: what this skill does, and when to use it]"
    compatibility: Needs a POSIX shell and its standard tools.
    metadata:
      version: 0.1.0
    ---
    "#);
    let output = sandbox.run(&["init", "log-reader"]);
    insta::assert_snapshot!(output, @"
    exit: 2
    --- stderr
    error: `log-reader` already exists
    hint: choose another name, or another directory with `--path`
    ");
    let output = sandbox.run(&["create", "pdf", "--scope", "project", "--dry-run"]);
    insta::assert_snapshot!(output, @"
    exit: 0
    --- stderr
    would create `skills/pdf` from the template `basic`
      SKILL.md
    ");
    let output = sandbox.run(&["create", "--list-templates"]);
    insta::assert_snapshot!(output, @"
    exit: 0
    --- stdout
    basic      instructions in one file
    script     instructions, and a script that they run
    reference  short instructions, and texts to read when needed
    workflow   phases with checks between them, and a form for the report
    --- stderr
    hint: use one with `skillpm create NAME --template workflow`; `./directory` and `owner/repo/directory` work too
    ");
    let output = sandbox.run(&["create", "--list-templates", "--json"]);
    let templates: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(templates[1]["name"], "script");
    assert!(
        templates
            .as_array()
            .is_some_and(|all| all.len() == 4 && all.iter().all(|one| one["summary"].is_string()))
    );
    assert_eq!(sandbox.run(&["create", "pdf", "--list-templates"]).code, Some(2));
    let output = sandbox.run(&["create"]);
    insta::assert_snapshot!(output, @"
    exit: 2
    --- stderr
    error: the skill needs a name
    hint: `skillpm create NAME` makes a skill of that name
    ");
    let output = sandbox.run(&["create", "pdf", "--template", "skript"]);
    insta::assert_snapshot!(output, @"
    exit: 2
    --- stderr
    error: there is no template `skript`
    hint: did you mean `script`?
    hint: `skillpm create --list-templates` lists the built-in ones; others are `./dir` or `owner/repo/dir`
    ");
    let output = sandbox.run(&["create", "pdf", "--scope", "user", "--path", "x"]);
    insta::assert_snapshot!(output, @"
    exit: 2
    --- stderr
    error: the argument `--scope <SCOPE>` cannot be used with `--path <DIR>`
    hint: `skillpm create --help` shows all options
    ");
}

/// What `validate --profile publish` would refuse is not written; the place is told.
#[test]
fn what_cannot_be_published_is_refused() {
    let sandbox = Sandbox::new();
    let description = "Helps with {{ x }}. Use when logs are long.";
    sandbox.fails(
        &["create", "log-reader", "--description", description, "--license", "MIT"],
        2,
        "usage",
        &["{{ x }}", "skillpm explain template-text"],
    );
    assert_eq!(shape(&sandbox), "");
}

/// A template from a repository, with a variable that has to be given.
#[test]
fn a_template_from_a_repository() {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let skill = "---\nname: {{ name }}\ndescription: {{ description }}\nlicense: {{ license }}\n---\n\n\
        # {{ title }} for {{ audience }}\n\n[notes](references/notes.md), [run](scripts/run)\n";
    let tree = Tree::new()
        .file("templates/report/SKILL.md", skill)
        .file("templates/report/template.toml", "[variables.audience]\nprompt = \"who reads it\"\n")
        .file("templates/report/references/notes.md", "{{ not filled in }}\n")
        .file("templates/report/scripts/run", "#!/bin/sh\n");
    let commit = forge.repo("acme/templates").commit(&tree);
    forge.repo("acme/templates").tag("v2", &commit);
    let template = "acme/templates/templates/report";
    sandbox.fails(
        &["create", "pdf", "--template", template],
        2,
        "usage",
        &["acme/templates/templates/report", "--var audience=VALUE"],
    );
    let tagged = format!("{template}#v2");
    let args = ["create", "pdf", "--template", &tagged, "--var", "audience=testers", "--license", "MIT"];
    sandbox.ok(&args);
    insta::assert_snapshot!(shape(&sandbox), @"
    644 pdf/SKILL.md
    644 pdf/references/notes.md
    755 pdf/scripts/run
    pdf/
    pdf/references/
    pdf/scripts/
    ");
    insta::assert_snapshot!(sandbox.read("pdf/SKILL.md"), @r#"
    ---
    name: pdf
    description: "[TODO: what this skill does, and when to use it]"
    license: MIT
    ---

    # Pdf for testers

    [notes](references/notes.md), [run](scripts/run)
    "#);
    let missing = sandbox.run(&["create", "docx", "--template", "acme/templates/nowhere"]);
    assert_eq!(missing.code, Some(2), "{missing}");
    let value = sandbox.run(&["create", "docx", "--template", template, "--var", "audience"]);
    assert_eq!(value.code, Some(2), "{value}");
}

/// Names that no skill may have are refused in templates, and nothing is left behind.
#[test]
fn a_hostile_template_writes_nothing() {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let skill = "---\nname: {{ name }}\ndescription: {{ description }}\n---\n";
    for (number, path) in
        ["a/.git/hooks/pre-commit", "a/x:y", "a/b\\..\\c", "a/.skillpm-tx/journal.json"].iter().enumerate()
    {
        let repository = format!("acme/t{number}");
        forge.repo(&repository).commit(&Tree::new().file("a/SKILL.md", skill).file(path, "x"));
        let output = sandbox.run(&["create", "pdf", "--template", &format!("{repository}/a")]);
        assert_eq!(output.code, Some(5), "{path}: {output}");
        assert_eq!(shape(&sandbox), "", "{path}");
    }
}

/// The script of the template does what its help says: exit codes, output, no questions.
#[cfg(unix)]
#[test]
fn the_script_works() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&["create", "log-reader", "--template", "script"]).code, Some(0));
    sandbox.write("two lines", "a\nb");
    sandbox.write("empty", "");
    let run = |args: &[&str]| {
        let script = sandbox.project().join("log-reader/scripts/inspect.sh");
        let output = std::process::Command::new(script)
            .args(args)
            .current_dir(sandbox.project())
            .stdin(std::process::Stdio::null())
            .output()
            .expect("it is executable");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, help, _) = run(&["--help"]);
    assert_eq!(code, Some(0));
    assert!(help.starts_with("usage: inspect.sh [--help] FILE..."), "{help}");
    assert_eq!(run(&["two lines"]), (Some(0), "ok\t2\ttwo lines\n".into(), String::new()));
    assert_eq!(
        run(&["--", "two lines", "empty", "-x"]),
        (Some(1), "ok\t2\ttwo lines\nempty\t0\tempty\nmissing\t0\t-x\n".into(), String::new())
    );
    assert_eq!(run(&[]).0, Some(2));
    let (code, stdout, stderr) = run(&["-x"]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.starts_with("inspect.sh: there is no option -x\n"), "{stderr}");
}

/// For programs: where it is, and what is in it.
#[test]
fn json() {
    let sandbox = Sandbox::new();
    let run = |args: &[&str]| {
        let output =
            sandbox.run(&[&["create", "log-reader", "--template", "script", "--json"], args].concat());
        assert!(output.code == Some(0) && output.stderr.is_empty(), "{output}");
        serde_json::from_str::<serde_json::Value>(&output.stdout).expect("JSON")
    };
    let plan = run(&["--dry-run"]);
    assert!(plan["dry_run"] == true && !sandbox.project().join("log-reader").exists(), "{plan}");
    let made = run(&[]);
    assert_eq!((&made["name"], &made["path"]), (&"log-reader".into(), &"[DIR]/project/log-reader".into()));
    assert_eq!(made["files"][1], serde_json::json!({ "path": "scripts/inspect.sh", "executable": true }));
}
