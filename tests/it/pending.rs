//! What a killed run was writing: the next run clears it, `doctor --fix` finds it anywhere, and it is never a file of a
//! skill. `tests/slow/inject.rs` kills the program itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::support::{GitRepo, Sandbox, Tree};

/// A name as the program gives it to what it is writing.
const NAME: &str = ".skillpm-tmp-a1B2c3";

fn skill(version: &str) -> String {
    format!(
        "---\nname: pdf\ndescription: Reads PDF files. Use it when a file ends in pdf.\nlicense: MIT\nmetadata:\n  \
         version: \"{version}\"\n---\n\n# PDF\n"
    )
}

/// A project with the skill `pdf`, which is installed from where it is written.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("skills/pdf/SKILL.md", skill("1.0.0"));
    sandbox.ok(&["install", "./skills/pdf"]);
    sandbox
}

/// Leaves a file and a directory in `dir`, as a killed run does.
fn leave(dir: &Path) -> [PathBuf; 2] {
    let (file, below) = (dir.join(NAME), dir.join(format!("{NAME}4/registry")));
    fs::create_dir_all(&below).expect("creates");
    fs::write(&file, "half").expect("writes");
    fs::write(below.join("config.json"), "half").expect("writes");
    [file, dir.join(format!("{NAME}4"))]
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

#[test]
fn the_next_run_clears_what_a_killed_one_was_writing() {
    let cases: &[(&[&str], &str)] = &[
        (&["bump", "minor", "skills/pdf"], "project/skills/pdf"),
        (&["fmt", "odd"], "project/odd"),
        (&["validate", "--fix", "faulty"], "project/faulty"),
        (&["pack", "skills/pdf", "--out", "out"], "project/out"),
        (&["export", "skills-lock"], "project"),
        (&["catalog", "--write", "AGENTS.md"], "project"),
        (&["mcp", "install", "-c", "cursor", "-y"], "home/.cursor"),
        (&["registry", "init", "r", "--name", "r"], "project/r"),
        (&["registry", "bundle", "registry", "out/r.zip"], "project/out"),
    ];
    for (args, dir) in cases {
        let sandbox = project();
        sandbox.write(
            "odd/SKILL.md",
            "---\ndescription:   Does odd things. Use it in tests.\nname: odd\n---\n\n\n\nX\n",
        );
        sandbox.write(
            "faulty/SKILL.md",
            "---\nname: faulty\ndescription: Does: things. Use it in tests.\n---\n\nX\n",
        );
        sandbox.write("out/other", "");
        sandbox.ok(&["registry", "init", "registry", "--name", "acme"]);
        let left = leave(&sandbox.root().join(dir));
        sandbox.run(args);
        for path in left {
            assert!(!is_there(&path), "{args:?}: {}", path.display());
        }
        assert!(is_there(&sandbox.project().join("out/other")));
    }
}

/// THREATS: a token does not stay behind. Not even where a login that was killed had not kept it yet.
#[test]
fn a_token_goes_with_the_next_login_or_logout() {
    let sandbox = Sandbox::new();
    let file = sandbox.home().join(format!(".config/skillpm/{NAME}"));
    let commands: [&[&str]; 2] = [
        &["registry", "logout", "https://skills.example.com"],
        &["registry", "login", "https://skills.example.com", "--with-token"],
    ];
    for args in commands {
        fs::create_dir_all(file.parent().expect("a parent")).expect("creates");
        fs::write(&file, "token = \"s3cret\"").expect("writes");
        let mut command = sandbox.command(args);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let _ = std::io::Write::write_all(&mut stdin, b"t0ken\n");
        drop(stdin);
        assert!(child.wait().expect("ends").success(), "{args:?}");
        assert!(!file.exists(), "{args:?}");
    }
}

#[test]
fn what_a_killed_run_was_writing_is_no_file_of_a_skill() {
    let sandbox = project();
    let lock = sandbox.read("skillpm.lock");
    let package = |sandbox: &Sandbox| -> Value {
        let output = sandbox.ok(&["pack", "skills/pdf", "--out", "out.zip", "--json"]);
        fs::remove_file(sandbox.project().join("out.zip")).expect("removes");
        serde_json::from_str(&output.stdout).expect("JSON")
    };
    let before = package(&sandbox);
    leave(&sandbox.project().join("skills/pdf"));
    leave(&sandbox.project().join("skills/pdf/scripts"));
    let after = package(&sandbox);
    assert_eq!((&after["digest"], &after["artifact"]), (&before["digest"], &before["artifact"]));
    let left: Vec<_> =
        after["left_out"].as_array().expect("a list").iter().map(|left| &left["path"]).collect();
    assert_eq!(left.len(), 4, "{left:?}");
    sandbox.ok(&["validate", "skills/pdf"]);
    sandbox.ok(&["install", "./skills/pdf", "--force"]);
    assert_eq!(sandbox.read("skillpm.lock"), lock);
    sandbox.ok(&["registry", "init", "r", "--name", "r"]);
    sandbox.ok(&["publish", "skills/pdf", "--to", "./r", "--allow-dirty"]);
    // What is installed is compared without it too.
    leave(&sandbox.project().join(".agents/skills/pdf"));
    sandbox.ok(&["verify", "--strict"]);
    // Somebody committed it.
    let repo = GitRepo::new(&sandbox.project().join("repo"));
    repo.commit(&Tree::new().file("SKILL.md", skill("1.0.0").replace("pdf", "doc")).file(NAME, "half"));
    sandbox.ok(&["install", &format!("file://{}", repo.path().display())]);
    assert!(is_there(&sandbox.project().join(".agents/skills/doc/SKILL.md")));
    assert!(!is_there(&sandbox.project().join(format!(".agents/skills/doc/{NAME}"))));
}

#[test]
fn doctor_finds_what_killed_runs_were_writing() {
    let sandbox = project();
    fs::create_dir_all(sandbox.home().join(".local/state/skillpm/mcp")).expect("creates");
    let dirs = [
        "project",
        "project/.agents",
        "project/.agents/skills",
        "project/.agents/skills/pdf",
        "project/skills",
        "project/skills/pdf",
        "project/.cursor",
        "home",
        "home/.cursor",
        "home/.config/skillpm",
        "home/.local/state/skillpm/mcp",
        "home/.local/share/skillpm",
    ];
    let mut left: Vec<PathBuf> = dirs.iter().flat_map(|dir| leave(&sandbox.root().join(dir))).collect();
    // A new skill whose files were not complete.
    let new = sandbox.write("skills/.skillpm-moving-new/SKILL.md", "half");
    left.push(new.parent().expect("a parent").to_owned());
    sandbox.write(".skillpm-config", "a name that a person chose");
    let found = |args: &[&str]| -> Vec<Value> {
        let value: Value = serde_json::from_str(&sandbox.run(args).stdout).expect("JSON");
        let all = value["findings"].as_array().expect("a list").clone();
        all.into_iter().filter(|finding| finding["id"] == "leftover").collect()
    };
    let told = found(&["doctor", "--json"]);
    let mut paths: Vec<_> = told.iter().map(|finding| finding["path"].as_str().expect("a path")).collect();
    paths.sort_unstable();
    let root = sandbox.root().to_str().expect("UTF-8");
    let mut expected: Vec<_> =
        left.iter().map(|path| path.to_str().expect("UTF-8").replacen(root, "[DIR]", 1)).collect();
    expected.sort();
    assert_eq!(paths, expected);
    let fixed = found(&["doctor", "--fix", "--json"]);
    assert!(fixed.len() == left.len() && fixed.iter().all(|finding| finding["fixed"] == true), "{fixed:?}");
    assert!(!left.iter().any(|path| is_there(path)));
    assert!(is_there(&sandbox.project().join(".skillpm-config")));
    assert_eq!(found(&["doctor", "--json"]), [Value::Null; 0]);
}

/// A skill that was made and not installed, because the run was killed between the two, is what the next run makes.
#[test]
fn a_new_skill_that_was_not_installed_is_completed() {
    let create = |sandbox: &Sandbox| {
        sandbox.run(&[
            "create",
            "new",
            "--scope",
            "project",
            "--template",
            "script",
            "--license",
            "MIT",
            "-y",
        ])
    };
    let whole = Sandbox::new();
    assert_eq!(create(&whole).code, Some(0));
    let sandbox = Sandbox::new();
    sandbox.ok(&["create", "new", "--path", "skills", "--template", "script", "--license", "MIT", "-y"]);
    let output = create(&sandbox);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(sandbox.read("skillpm.toml"), whole.read("skillpm.toml"));
    assert!(sandbox.project().join(".agents/skills/new").is_symlink());
    // What somebody wrote is nobody's rest.
    let other = Sandbox::new();
    other.ok(&["create", "new", "--path", "skills", "--template", "script", "--license", "MIT", "-y"]);
    other.write("skills/new/notes.md", "mine");
    let output = create(&other);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("`skillpm install --editable "), "{output}");
    assert!(!is_there(&other.project().join("skillpm.toml")));
    // Without a scope there is nothing to complete.
    let output = other.run(&["create", "new", "--path", "skills", "-y"]);
    assert_eq!(output.code, Some(2), "{output}");
}
