//! What tools leave in installed skills is no edit, and neither are line ends that git changed.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::Value;

use crate::support::{Output, Sandbox};

const SKILL: &str = ".agents/skills/pdf";
/// What tools leave: caches, packages, an environment with links out of it, droppings of file managers and editors.
const LEFT: [&str; 8] = [
    ".#SKILL.md",
    ".DS_Store",
    ".SKILL.md.swp",
    ".venv",
    "SKILL.md~",
    "scripts/__pycache__",
    "scripts/node_modules",
    "scripts/old.pyc",
];

/// A project with the skill `pdf`, linked for one agent and copied for none.
fn installed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("src/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads. Use it in tests.\n---\n\n# pdf\n");
    let script = sandbox.write("src/pdf/scripts/run.sh", "#!/bin/sh\nls -A \"$(dirname \"$0\")\"\n");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).expect("chmod");
    let output = sandbox.run(&["install", "./src/pdf", "-a", "claude-code"]);
    assert_eq!(output.code, Some(0), "{output}");
    sandbox
}

fn litter(sandbox: &Sandbox) {
    for path in [
        ".DS_Store",
        ".SKILL.md.swp",
        ".venv/bin/activate",
        "SKILL.md~",
        "scripts/__pycache__/run.cpython-312.pyc",
        "scripts/node_modules/a/SKILL.md",
        "scripts/old.pyc",
    ] {
        sandbox.write(&format!("{SKILL}/{path}"), "left");
    }
    let skill = sandbox.project().join(SKILL);
    symlink("/usr/bin/python3", skill.join(".venv/bin/python")).expect("links");
    symlink("me@host.1:2", skill.join(".#SKILL.md")).expect("links");
}

fn ok(output: &Output) -> String {
    assert_eq!(output.code, Some(0), "{output}");
    output.stdout.clone()
}

fn state(sandbox: &Sandbox) -> String {
    let listed: Value = serde_json::from_str(&ok(&sandbox.run(&["list", "--json"]))).expect("JSON");
    listed[0]["state"].as_str().expect("a state").to_owned()
}

fn is_there(sandbox: &Sandbox, path: &str) -> bool {
    sandbox.project().join(path).symlink_metadata().is_ok()
}

#[test]
fn what_tools_leave_is_no_edit() {
    let sandbox = installed();
    litter(&sandbox);
    for _ in 0..2 {
        assert_eq!(state(&sandbox), "ok");
        ok(&sandbox.run(&["install"]));
    }
    ok(&sandbox.run(&["install", "--locked"]));
    ok(&sandbox.run(&["diff", "--exit-code"]));
    let value: Value = serde_json::from_str(&ok(&sandbox.run(&["verify", "--json"]))).expect("JSON");
    assert_eq!(value["skills"][0]["places"][0]["leftovers"], serde_json::json!(LEFT));
    let verbose = ok(&sandbox.run(&["verify", "-v"]));
    assert!(verbose.contains("left by a tool, not part of the skill: scripts/__pycache__\n"), "{verbose}");
    assert!(!ok(&sandbox.run(&["verify"])).contains("__pycache__"));
    let doctor: Value = serde_json::from_str(&ok(&sandbox.run(&["doctor", "--json"]))).expect("JSON");
    let finding = doctor["findings"].as_array().expect("a list").iter().find(|one| one["id"] == "tool-files");
    assert_eq!(finding.expect("told")["severity"], "note");
    // A script sees the files of the skill, and nothing else.
    assert_eq!(ok(&sandbox.run(&["run", "pdf", "run"])), "run.sh\n");
    // They go with the skill, and come back with it.
    ok(&sandbox.run(&["disable", "pdf"]));
    ok(&sandbox.run(&["enable", "pdf"]));
    assert!(is_there(&sandbox, &format!("{SKILL}/.venv/bin/python")));
    ok(&sandbox.run(&["remove", "pdf"]));
    assert!(!is_there(&sandbox, SKILL));
    ok(&sandbox.run(&["undo"]));
    assert!(is_there(&sandbox, &format!("{SKILL}/.venv/bin/python")));
    assert_eq!(state(&sandbox), "ok");
}

#[test]
fn what_tools_leave_does_not_keep_an_update_or_hide_an_edit() {
    let sandbox = installed();
    litter(&sandbox);
    sandbox.write("src/pdf/new.md", "new\n");
    ok(&sandbox.run(&["update"]));
    assert!(is_there(&sandbox, &format!("{SKILL}/new.md")));
    assert_eq!(state(&sandbox), "ok");
    litter(&sandbox);
    sandbox.write(&format!("{SKILL}/mine.md"), "mine\n");
    assert_eq!(state(&sandbox), "modified");
    let output = sandbox.run(&["verify"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert!(output.stdout.contains("extra: mine.md") && !output.stdout.contains("node_modules"), "{output}");
    assert_eq!(sandbox.run(&["install"]).code, Some(1));
    let diff = sandbox.run(&["diff"]).stdout;
    assert!(diff.contains("mine.md") && !diff.contains("pyc"), "{diff}");
    ok(&sandbox.run(&["install", "--force"]));
    assert!(!is_there(&sandbox, &format!("{SKILL}/mine.md")));
    // An edit is merged without them.
    litter(&sandbox);
    sandbox.write(&format!("{SKILL}/mine.md"), "mine\n");
    sandbox.write("src/pdf/new.md", "newer\n");
    ok(&sandbox.run(&["update"]));
    assert!(
        is_there(&sandbox, &format!("{SKILL}/mine.md")) && !is_there(&sandbox, &format!("{SKILL}/SKILL.md~"))
    );
}

/// What a source delivers is a part of the skill, whatever it is called; what tools left in a directory is not.
#[test]
fn a_source_s_own_files_are_compared() {
    let sandbox = Sandbox::new();
    let repo = crate::support::GitRepo::new(&sandbox.project().join("repo"));
    let text = "---\nname: pdf\ndescription: Reads. Use it in tests.\n---\n";
    repo.commit(&crate::support::Tree::new().file("SKILL.md", text).file("assets/.DS_Store", "own"));
    ok(&sandbox.run(&["install", &format!("file://{}", repo.path().display())]));
    assert!(is_there(&sandbox, &format!("{SKILL}/assets/.DS_Store")));
    sandbox.write(&format!("{SKILL}/.DS_Store"), "new");
    assert_eq!(state(&sandbox), "ok");
    sandbox.write(&format!("{SKILL}/assets/.DS_Store"), "edited");
    assert_eq!(state(&sandbox), "modified");
    ok(&sandbox.run(&["install", "--force"]));
    assert_eq!(state(&sandbox), "ok");
    // Where nobody committed anything, nobody wrote them either.
    let local = installed();
    local.write("src/pdf/.DS_Store", "left");
    local.write("src/pdf/scripts/__pycache__/a.pyc", "left");
    let output = local.run(&["update"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(!is_there(&local, &format!("{SKILL}/.DS_Store")));
}

#[test]
fn line_ends_of_windows_are_told_and_mended() {
    let sandbox = installed();
    let skill = sandbox.project().join(SKILL).join("SKILL.md");
    let text = fs::read_to_string(&skill).expect("reads");
    fs::write(&skill, text.replace('\n', "\r\n")).expect("writes");
    assert_eq!(state(&sandbox), "line-ends");
    let output = sandbox.run(&["verify"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert!(output.stdout.contains("differs from what is locked in line ends only"), "{output}");
    assert!(output.stderr.contains("`skillpm install`") && !output.stderr.contains("--force"), "{output}");
    for args in [&["diff"][..], &["diff", "pdf", "--stat"]] {
        let output = sandbox.run(args);
        assert!(output.stdout.ends_with("only line ends differ, in 1 file\n"), "{output}");
        assert!(output.stderr.contains("`skillpm install` brings back the line ends"), "{output}");
    }
    let told: Value = serde_json::from_str(&sandbox.run(&["diff", "--json"]).stdout).expect("JSON");
    assert_eq!((&told[0]["line_ends"], &told[0]["review"]["changes"]), (&true.into(), &Value::Array(vec![])));
    let output = sandbox.run(&["run", "pdf", "run"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert!(output.stderr.contains("`skillpm install` brings back the line ends"), "{output}");
    ok(&sandbox.run(&["install"]));
    assert_eq!(fs::read_to_string(&skill).expect("reads"), text);
    assert_eq!(state(&sandbox), "ok");
    // A word that somebody wrote is an edit, whatever the line ends are.
    fs::write(&skill, text.replace('\n', "\r\n").replace("# pdf", "# mine")).expect("writes");
    assert_eq!(state(&sandbox), "modified");
    assert!(sandbox.run(&["diff"]).stdout.contains("+# mine"));
    assert_eq!(sandbox.run(&["install"]).code, Some(1));
}

/// A script can rewrite its own skill, and the digest in the lockfile: the next run does not start what it wrote.
#[test]
fn a_digest_that_only_the_lockfile_knows_starts_nothing() {
    let sandbox = installed();
    sandbox.write(&format!("{SKILL}/scripts/run.sh"), "#!/bin/sh\necho evil\n");
    let output = sandbox.run(&["verify", "--json"]);
    let value: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let (old, new) = (&value["skills"][0]["digest"], &value["skills"][0]["places"][0]["found"]);
    let lock = sandbox.project().join("skillpm.lock");
    let text = fs::read_to_string(&lock).expect("reads");
    let forged = text.replace(old.as_str().expect("locked"), new.as_str().expect("found"));
    assert_ne!(text, forged);
    fs::write(&lock, forged).expect("writes");
    assert_eq!(state(&sandbox), "ok");
    for _ in 0..2 {
        let output = sandbox.run(&["run", "pdf", "run"]);
        assert_eq!(output.code, Some(5), "{output}");
        assert!(output.stderr.contains("only `skillpm.lock` vouches"), "{output}");
        // The source has other bytes: an installation does not make these known.
        let output = sandbox.run(&["install"]);
        assert!(output.stderr.contains("the scripts of `pdf` do not run"), "{output}");
    }
}

/// Who clones a project with its skills in it runs their scripts once they are checked.
#[test]
fn a_clone_with_its_skills_needs_one_install() {
    let sandbox = installed();
    fs::remove_dir_all(sandbox.home().join(".local/share/skillpm")).expect("removes");
    let output = sandbox.run(&["run", "pdf", "run"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert!(output.stderr.contains("`skillpm install` checks them against the source"), "{output}");
    ok(&sandbox.run(&["install"]));
    assert_eq!(ok(&sandbox.run(&["run", "pdf", "run"])), "run.sh\n");
}

/// `core.symlinks=false`: git writes the text of a link into a file.
#[test]
fn a_file_with_the_text_of_a_link_of_ours_is_replaced() {
    let sandbox = installed();
    let link = sandbox.project().join(".claude/skills/pdf");
    let says = fs::read_link(&link).expect("a link");
    let write = || {
        fs::remove_file(&link).expect("removes");
        fs::write(&link, says.to_str().expect("a text")).expect("writes");
    };
    write();
    let output = sandbox.run(&["verify"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert!(output.stdout.contains("a file that says where the link should lead"), "{output}");
    ok(&sandbox.run(&["install"]));
    assert_eq!(fs::read_link(&link).expect("a link"), says);
    write();
    ok(&sandbox.run(&["doctor", "--fix"]));
    assert_eq!(fs::read_link(&link).expect("a link"), says);
    write();
    ok(&sandbox.run(&["install", "--copy"]));
    assert!(link.join("SKILL.md").is_file() && !link.is_symlink());
    ok(&sandbox.run(&["install", "--force"]));
    write_text(&link, "../../.agents/skills/docx");
    let output = sandbox.run(&["install"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert_eq!(fs::read_to_string(&link).expect("stays"), "../../.agents/skills/docx");
    write_text(&link, says.to_str().expect("a text"));
    ok(&sandbox.run(&["remove", "pdf"]));
    assert!(!link.exists());
}

/// What cannot be installed because it is elsewhere is told as that.
#[test]
fn a_skill_in_the_place_of_a_submodule_is_told() {
    let sandbox = Sandbox::new();
    let repo = crate::support::GitRepo::new(&sandbox.project().join("repo"));
    let text = "---\nname: docx\ndescription: Reads. Use it in tests.\n---\n";
    repo.commit(&crate::support::Tree::new().file("skills/docx/SKILL.md", text));
    let commit = repo.git(&["rev-parse", "HEAD"]);
    let info = format!("160000,{},skills/pdf", commit.trim());
    repo.git(&["update-index", "--add", "--cacheinfo", &info]);
    repo.git(&["commit", "-qm", "a submodule"]);
    let output = sandbox.run(&["install", &format!("git+file://{}@pdf", repo.path().display())]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(
        output.stderr.contains("`skills/pdf` in") && output.stderr.contains("is a submodule"),
        "{output}"
    );
}

/// Git writes what is committed with the line ends of Windows, unless it is told not to.
#[test]
fn git_is_told_to_leave_the_bytes_alone() {
    const OURS: &str = "* -text\n";
    let sandbox = installed();
    let file = sandbox.project().join(".agents/.gitattributes");
    assert!(!file.exists(), "there is no repository");
    let repo = crate::support::GitRepo::new(&sandbox.project());
    ok(&sandbox.run(&["install", "./src/pdf"]));
    assert!(fs::read_to_string(&file).expect("is written").ends_with(OURS));
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-qm", "all"]);
    let clone = sandbox.root().join("clone");
    repo.git(&["-c", "core.autocrlf=true", "clone", "-q", ".", clone.to_str().expect("a path")]);
    let read = |dir: &std::path::Path| fs::read(dir.join(SKILL).join("SKILL.md")).expect("reads");
    assert_eq!(read(&clone), read(&sandbox.project()));
    // What people wrote stays.
    fs::write(&file, "*.md diff=markdown").expect("writes");
    ok(&sandbox.run(&["install", "./src/pdf"]));
    let text = fs::read_to_string(&file).expect("reads");
    assert!(text.starts_with("*.md diff=markdown\n") && text.ends_with(OURS), "{text}");
    ok(&sandbox.run(&["install", "./src/pdf"]));
    assert_eq!(fs::read_to_string(&file).expect("reads"), text);
    fs::remove_file(&file).expect("removes");
    let manifest = sandbox.project().join("skillpm.toml");
    let with = fs::read_to_string(&manifest).expect("reads");
    let (head, off) = ("[agents]\n", "[agents]\ngitattributes = false\n");
    let without = if with.contains(head) { with.replace(head, off) } else { format!("{with}\n{off}") };
    fs::write(&manifest, without).expect("writes");
    ok(&sandbox.run(&["install", "./src/pdf"]));
    assert!(!file.exists());
    fs::write(&manifest, with).expect("writes");
    sandbox.write(".gitignore", ".agents/\n");
    ok(&sandbox.run(&["install", "./src/pdf"]));
    assert!(!file.exists());
    fs::remove_file(sandbox.project().join(".gitignore")).expect("removes");
    ok(&sandbox.run(&["install", "./src/pdf"]));
    assert!(file.exists());
    ok(&sandbox.run(&["remove", "pdf"]));
    assert!(!file.exists(), "it goes with the last skill");
}

/// Puts a file with this text in the place of what is at `path`.
fn write_text(path: &std::path::Path, text: &str) {
    let _ = fs::remove_dir_all(path);
    let _ = fs::remove_file(path);
    fs::write(path, text).expect("writes");
}

/// A merge that nobody settled is told as that: `--force` would drop it.
#[test]
fn a_conflict_is_no_edit_to_verify() {
    let sandbox = installed();
    let (source, skill) = ("src/pdf/SKILL.md", format!("{SKILL}/SKILL.md"));
    let text = fs::read_to_string(sandbox.project().join(source)).expect("reads");
    sandbox.write(source, text.replace("# pdf", "# theirs"));
    sandbox.write(&skill, text.replace("# pdf", "# mine"));
    sandbox.run(&["update"]);
    assert_eq!(state(&sandbox), "conflict");
    let output = sandbox.run(&["verify"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert!(output.stdout.starts_with("conflict: pdf, project\n"), "{output}");
    assert!(output.stderr.contains("`--abort`") && !output.stderr.contains("--force"), "{output}");
}

#[test]
fn directories_of_agents_go_with_what_was_in_them() {
    let sandbox = installed();
    ok(&sandbox.run(&["link", "-a", "junie"]));
    assert!(is_there(&sandbox, ".junie/skills/pdf"));
    ok(&sandbox.run(&["unlink", "-a", "junie"]));
    assert!(!is_there(&sandbox, ".junie") && is_there(&sandbox, ".claude/skills/pdf"));
    sandbox.write(".claude/settings.json", "{}");
    ok(&sandbox.run(&["remove", "pdf"]));
    assert!(!is_there(&sandbox, ".claude/skills") && is_there(&sandbox, ".claude/settings.json"));
    // An empty directory is no sign of an agent.
    let other = Sandbox::new();
    other.write("src/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads. Use it in tests.\n---\n");
    fs::create_dir_all(other.project().join(".junie/skills")).expect("a directory");
    ok(&other.run(&["install", "./src/pdf"]));
    assert!(!is_there(&other, ".junie/skills/pdf"));
}

#[test]
fn one_link_out_of_the_project_is_told_once() {
    let sandbox = installed();
    fs::rename(sandbox.project().join(".agents"), sandbox.root().join("elsewhere")).expect("moves");
    symlink("../elsewhere", sandbox.project().join(".agents")).expect("links");
    let output = sandbox.run(&["doctor"]);
    assert_eq!(output.stdout.matches("[directory-outside]").count(), 1, "{output}");
}

/// Ordinary life leaves compiled modules and packages in a skill, which is no difference; but no digest covers them, and
/// a script may run them.
#[test]
fn code_that_tools_left_is_named_and_refused_if_asked() {
    let sandbox = installed();
    sandbox.write("src/pdf/scripts/a.py", "import helper\n");
    sandbox.write("src/pdf/scripts/helper.py", "print('honest')\n");
    ok(&sandbox.run(&["update", "--allow-new-capabilities"]));
    sandbox.write(&format!("{SKILL}/.DS_Store"), "left");
    ok(&sandbox.run(&["verify", "--strict"]));
    assert!(!sandbox.run(&["install", "--frozen"]).stderr.contains("no digest"));
    for path in
        ["scripts/__pycache__/helper.cpython-311.pyc", "scripts/__pycache__/gone.pyc", "node_modules/a/a.js"]
    {
        sandbox.write(&format!("{SKILL}/{path}"), "evil");
    }
    let output = sandbox.run(&["verify"]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), ""), "{output}");
    let line = "`pdf` has code that no digest covers: `scripts/__pycache__/helper.cpython-311.pyc`, which can run in place of \
                `scripts/helper.py`, and 2 more\n";
    assert!(output.stderr.starts_with(line), "{output}");
    let plain: Value = serde_json::from_str(&ok(&sandbox.run(&["verify", "--json"]))).expect("JSON");
    let strict = sandbox.run(&["verify", "--strict", "--json"]);
    assert_eq!(strict.code, Some(5), "{strict}");
    let strict: Value = serde_json::from_str(&strict.stdout).expect("JSON");
    assert_eq!((&plain["ok"], &strict["ok"]), (&true.into(), &false.into()));
    for value in [plain, strict] {
        assert_eq!(
            value["skills"][0]["places"][0]["code"],
            serde_json::json!([
                {"path": "node_modules", "shadows": null},
                {"path": "scripts/__pycache__/gone.pyc", "shadows": null},
                {"path": "scripts/__pycache__/helper.cpython-311.pyc", "shadows": "scripts/helper.py"},
            ])
        );
    }
    let output = sandbox.run(&["verify", "--strict"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert!(output.stdout.contains("    code that no digest covers: `node_modules`\n"), "{output}");
    // In a fresh clone, somebody committed it.
    let frozen = sandbox.run(&["install", "--frozen"]);
    assert_eq!(frozen.code, Some(0), "{frozen}");
    assert!(
        frozen.stderr.contains("warning: `pdf` has code that no digest covers: `node_modules`"),
        "{frozen}"
    );
    assert!(frozen.stderr.contains("`skillpm verify --strict pdf` names each file"), "{frozen}");
    assert!(!sandbox.run(&["install"]).stderr.contains("no digest"));
}
