//! `fmt`: exit codes, standard input, and what is written.

use std::io::Write as _;
use std::process::{Output, Stdio};

use crate::support::sandbox::Sandbox;

/// Runs the program with `input`.
fn fed(sandbox: &Sandbox, args: &[&str], input: &[u8]) -> Output {
    let mut command = sandbox.command(args);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    child.stdin.take().expect("a pipe").write_all(input).expect("is read");
    child.wait_with_output().expect("ends")
}

#[test]
fn a_check_fails_where_a_file_would_change_and_writes_nothing() {
    let sandbox = Sandbox::new();
    let odd = "---\r\ndescription:   x\r\nname: pdf # é\r\n---\r\nbody";
    let file = sandbox.write("pdf/SKILL.md", odd);
    let code = |args: &[&str]| sandbox.command(args).output().expect("runs").status.code();
    assert_eq!(code(&["fmt", "--check"]), Some(1));
    assert_eq!(code(&["fmt", "--diff"]), Some(0));
    assert_eq!(std::fs::read_to_string(&file).expect("reads"), odd);
    assert_eq!(code(&["fmt"]), Some(0));
    assert_eq!(
        std::fs::read_to_string(&file).expect("reads"),
        "---\r\nname: pdf # é\r\ndescription: x\r\n---\r\n\r\nbody\r\n"
    );
    assert_eq!(code(&["fmt", "--check"]), Some(0));
    sandbox.write("bad/SKILL.md", "---\nname: bad\ndescription: a: b\n---\n");
    assert_eq!(code(&["fmt"]), Some(1), "what cannot be parsed is told");
    assert_eq!(code(&["fmt", "nowhere"]), Some(2));
}

/// A pipe often ends in the log of a build, which people read: nothing there is hidden or turned round. Files are
/// written with what they have.
#[test]
fn a_difference_hides_nothing() {
    let sandbox = Sandbox::new();
    let hidden = ['\u{202e}', '\u{2066}', '\u{200b}', '\u{200f}', '\u{e0041}', '\u{1b}'];
    let marks: String = hidden.iter().collect();
    let odd = format!("---\r\nname: 'pdf'\r\ndescription: x\r\n---\r\na{marks}b 👩\u{200d}💻 é\r\n");
    let file = sandbox.write("pdf/SKILL.md", &odd);
    let output = sandbox.command(&["fmt", "--diff"]).output().expect("runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(!text.contains(hidden), "{text:?}");
    let shown = " a\\u{202e}\\u{2066}\\u{200b}\\u{200f}\\u{e0041}\\u{1b}b 👩\u{200d}💻 é\r\n";
    assert!(text.contains(shown), "{text:?}");
    assert_eq!(std::fs::read_to_string(&file).expect("reads"), odd);
}

#[test]
fn standard_input_is_formatted_to_standard_output() {
    let sandbox = Sandbox::new();
    let output = fed(&sandbox, &["fmt", "-"], b"---\nname:  x\n---\n\n\nb\x1b\n");
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"---\nname: x\n---\n\nb\x1b\n"[..]));
    let output = fed(&sandbox, &["fmt", "-"], b"---\nname: a: b\n---\n");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "nothing half done is passed on");
    let output = fed(&sandbox, &["fmt", "-", "--check"], b"---\nname:  x\n---\n");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert_eq!(fed(&sandbox, &["fmt", "-", "x"], b"").status.code(), Some(2));
}

/// Standard input goes to standard output, files are written where they are, in one run.
#[test]
fn standard_input_may_stand_beside_files_once() {
    let sandbox = Sandbox::new();
    let odd = "---\nname:  a\ndescription: x\n---\n";
    let file = sandbox.write("skills/a/SKILL.md", odd);
    let text = || std::fs::read_to_string(&file).expect("reads");
    for verb in ["fmt", "validate"] {
        let output = fed(&sandbox, &[verb, "-", "skills", "-"], b"");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{verb}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.starts_with("error: `-` is given twice"), "{verb}: {said}");
    }
    assert_eq!(text(), odd);
    let output = fed(&sandbox, &["fmt", "-", "skills/*"], odd.as_bytes());
    let canonical = "---\nname: a\ndescription: x\n---\n";
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), canonical.as_bytes()));
    assert_eq!(text(), canonical);
}

/// Installed skills are locked: what a search finds of them is not changed, what is named is.
#[test]
fn installed_skills_stay_as_they_are_locked() {
    use crate::support::Sandbox;
    let sandbox = Sandbox::new();
    // Both commands have something to do.
    sandbox.write(
        "src/pdf/SKILL.md",
        "---\nname: pdf\ndescription: >\n    Reads PDF. Use it in tests.\nmetadata: {a: b}\n---\n\nBody.\n",
    );
    sandbox.ok(&["install", "./src/pdf", "--agent", "claude-code", "--copy"]);
    sandbox.write(
        "skills/own/SKILL.md",
        "---\ndescription:  Does own. Use it in tests.\nname: own\nmetadata: {a: b}\n---\n\nBody.\n",
    );
    std::fs::remove_dir_all(sandbox.project().join("src")).expect("removes");
    sandbox.tells(&["fmt"], 0, "skills: path state", &["./skills/own/SKILL.md changed"]);
    let fixed = sandbox.run(&["validate", "--fix"]);
    assert_eq!(
        fixed.stdout.matches("--> ./.agents/skills/pdf/SKILL.md").count(),
        1,
        "it is checked: {fixed}"
    );
    assert!(fixed.stderr.contains("\n2 installed skills left as locked\n"), "{fixed}");
    for args in
        [&["verify"][..], &["fmt", "--check"], &["fmt", "--check", ".agents/skills", ".claude/skills"]]
    {
        sandbox.ok(args);
    }
    let locked = sandbox.read(".agents/skills/pdf/SKILL.md");
    assert_eq!(sandbox.read(".claude/skills/pdf/SKILL.md"), locked);
    sandbox.ok(&["fmt", ".", ".agents/skills/pdf"]);
    assert_ne!(sandbox.read(".agents/skills/pdf/SKILL.md"), locked, "it was named");
    sandbox.ok(&["validate", "--fix", ".claude/skills/pdf/SKILL.md"]);
    assert_ne!(sandbox.read(".claude/skills/pdf/SKILL.md"), locked);
}

/// As above, wherever the search began: each lockfile says what is installed in its project, or for the user.
#[test]
fn installed_skills_of_other_projects_and_of_the_user_stay_as_they_are_locked() {
    use crate::support::Sandbox;
    let sandbox = Sandbox::new();
    let text = |name: &str| {
        format!(
            "---\nname: {name}\ndescription: >\n    Reads PDF. Use it in tests.\nmetadata: {{a: b}}\n---\n\nBody.\n"
        )
    };
    sandbox.write("src/pdf/SKILL.md", text("pdf"));
    sandbox.write("app/skillpm.toml", "");
    let app = sandbox.project().join("app");
    let install = ["install", "../src/pdf", "--agent", "claude-code", "--copy"];
    let output = sandbox.output(sandbox.command(&install).current_dir(&app));
    assert_eq!(output.code, Some(0), "{output}");
    sandbox.ok(&["install", "-g", "./src/pdf", "--agent", "claude-code", "--copy"]);
    // This one was written where others are installed.
    sandbox.write("app/.claude/skills/own/SKILL.md", text("own"));
    std::fs::remove_dir_all(sandbox.project().join("src")).expect("removes");
    let home = sandbox.home();
    let skills = [&app, &home]
        .map(|root| [".agents", ".claude"].map(|dir| root.join(dir).join("skills/pdf/SKILL.md")));
    let same = |after: &str| {
        for file in skills.iter().flatten() {
            let now = std::fs::read_to_string(file).expect("a skill");
            assert_eq!(now, text("pdf"), "{after}: {}", file.display());
        }
    };
    for dir in [sandbox.project(), app.join(".agents")] {
        for args in [&["fmt"][..], &["validate", "--fix"]] {
            let targets = [app.clone(), home.join(".agents"), home.join(".claude")];
            let targets = targets.iter().map(|target| target.to_str().expect("UTF-8"));
            let args: Vec<&str> = args.iter().copied().chain(targets).collect();
            let output = sandbox.output(sandbox.command(&args).current_dir(&dir));
            assert!(output.stderr.contains("4 installed skills left as locked"), "{args:?}: {output}");
            same(args[0]);
        }
    }
    assert_ne!(sandbox.read("app/.claude/skills/own/SKILL.md"), text("own"), "nobody installed it");
    // Where nobody can tell, nothing changes.
    sandbox.write("app/skillpm.lock", "no lockfile");
    sandbox.ok(&["fmt", "app/.agents"]);
    same("a wrong lockfile");
}

/// What goes into a file is a patch, whatever the line ends are and wherever the skill lies.
#[test]
fn a_difference_in_a_file_can_be_applied() {
    let sandbox = Sandbox::new();
    let odd = "---\r\nname: pdf\r\ndescription:   Reads. Use when.\r\n---\r\n\r\nbody\r\n";
    let file = sandbox.write("b c/pdf/SKILL.md", odd);
    let diff = |args: &[&str]| sandbox.command(args).output().expect("runs").stdout;
    let apply = |patch: &[u8]| {
        sandbox.write("patch", patch);
        let mut git = std::process::Command::new("git");
        let status = git.args(["apply", "patch"]).current_dir(sandbox.project()).status().expect("git runs");
        assert!(status.success(), "{}", String::from_utf8_lossy(patch));
    };
    let patch = diff(&["fmt", "--diff", "-q"]);
    apply(&patch);
    let text = std::fs::read_to_string(&file).expect("reads");
    assert_eq!(text, "---\r\nname: pdf\r\ndescription: Reads. Use when.\r\n---\r\n\r\nbody\r\n");
    assert!(patch.starts_with(b"--- a/b c/pdf/SKILL.md\t\n+++ b/b c/pdf/SKILL.md\t\n"));
    // A new name is a part of it, with other changes and alone.
    let good = "---\nname: NAME\ndescription: Reads. Use when.\n---\n\nbody\n";
    sandbox.write("b c/one/skill.md", good.replace("NAME", "one").replace("Reads.", "Reads:"));
    sandbox.write("two/skill.md", good.replace("NAME", "two"));
    apply(&diff(&["validate", "--diff", "-q"]));
    assert!(sandbox.read("b c/one/SKILL.md").contains("description: \"Reads: Use when.\""));
    assert!(sandbox.read("two/SKILL.md").contains("name: two"));
    assert!(!sandbox.project().join("two/skill.md").exists());
}

/// For programs: what would change, what changed, and a text that is in no file.
#[test]
fn json() {
    let sandbox = Sandbox::new();
    let file = sandbox.write("skills/a/SKILL.md", "---\nname:  a\ndescription: x\n---\n");
    let run = |args: &[&str], input: &[u8]| {
        let output = fed(&sandbox, &[&["fmt", "--json"], args].concat(), input);
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (output.status.code(), value)
    };
    let (code, value) = run(&["--check"], b"");
    assert_eq!(
        (code, &value["dry_run"], &value["skills"][0]["state"]),
        (Some(1), &true.into(), &"changed".into())
    );
    assert!(value["skills"][0]["diff"].as_str().is_some_and(|diff| diff.contains("-name:  a\n+name: a\n")));
    let (code, value) = run(&["skills"], b"");
    assert_eq!((code, &value["skills"][0]["path"]), (Some(0), &"skills/a/SKILL.md".into()));
    assert_eq!(std::fs::read_to_string(&file).expect("reads"), "---\nname: a\ndescription: x\n---\n");
    let (code, value) = run(&["-"], b"---\nname:  x\n---\n");
    assert_eq!((code, &value["skills"][0]["text"]), (Some(0), &"---\nname: x\n---\n".into()));
    let (code, value) = run(&["-"], b"---\nname: a: b\n---\n");
    assert_eq!((code, &value["skills"][0]["state"]), (Some(1), &"refused".into()));
}
