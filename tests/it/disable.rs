//! `disable` and `enable`: out of agents' sight, and nothing is lost.

use crate::support::Sandbox;

fn write_skill(sandbox: &Sandbox, name: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n{body}\n");
    sandbox.write(&format!("src/{name}/SKILL.md"), text);
}

fn installed(args: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["docx", "pdf"] {
        write_skill(&sandbox, name, "first");
    }
    sandbox.ok(&[&["install", "./src", "-s", "*", "-a", "claude-code"], args].concat());
    sandbox
}

/// What lies in the project, but for the source.
fn shape(sandbox: &Sandbox) -> String {
    let lines = sandbox.tree(&sandbox.project()).into_iter();
    lines.filter(|line| !line.contains("src/")).collect::<Vec<_>>().join("\n")
}

fn states(sandbox: &Sandbox) -> Vec<(String, String, bool)> {
    let skills: Vec<serde_json::Value> =
        serde_json::from_str(&sandbox.run(&["list", "--json"]).stdout).expect("JSON");
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    skills.iter().map(|s| (text(&s["name"]), text(&s["state"]), s["modified"] == true)).collect()
}

/// Issue 4: not uninstalled, not seen, nothing lost, nothing downloaded to get it back.
#[test]
fn the_page() {
    let sandbox = installed(&[]);
    let (shape_before, lock) = (shape(&sandbox), sandbox.read("skillpm.lock"));
    let manifest = sandbox.read("skillpm.toml");
    sandbox.write(".agents/skills/pdf/SKILL.md", "mine");
    insta::assert_snapshot!(sandbox.run(&["disable", "pdf", "--dry-run"]), @"
    exit: 0
    --- stdout
    would create .agents/.skillpm-disabled/pdf
    would delete .agents/skills/pdf
    would delete .claude/skills/pdf
    would replace skillpm.toml
    --- stderr
    nothing was changed: this was a dry run
    ");
    assert_eq!(shape(&sandbox), shape_before);
    insta::assert_snapshot!(sandbox.run(&["disable", "pdf"]), @"
    exit: 0
    --- stderr
    - pdf
    1 skill disabled
    `skillpm.toml` changed: commit it
    hint: `skillpm enable pdf` shows it to agents again, as it is, from `.agents/.skillpm-disabled`
    ");
    insta::assert_snapshot!(shape(&sandbox), @"
    .agents/
    .agents/.skillpm-disabled/
    .agents/.skillpm-disabled/pdf/
    .agents/skills/
    .agents/skills/docx/
    .claude/
    .claude/skills/
    .claude/skills/docx -> ../../.agents/skills/docx
    644 .agents/.skillpm-disabled/pdf/SKILL.md
    644 .agents/skills/docx/SKILL.md
    644 skillpm.lock
    644 skillpm.toml
    ");
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    docx = { path = "./src", subdir = "docx" }
    pdf = { path = "./src", subdir = "pdf", disabled = true }

    [agents]
    targets = ["claude-code"]
    "#);
    assert_eq!(sandbox.read("skillpm.lock"), lock, "its digest and its agents stay locked");
    insta::assert_snapshot!(sandbox.run(&["list"]), @"
    exit: 0
    --- stdout
    name  version  scope    source      seen by      state
    docx  -        project  path:./src  claude-code  ok
    pdf   -        project  path:./src  -            disabled, edited
    ");
    assert_eq!(sandbox.run(&["invoke", "pdf"]).code, Some(2), "it is not found");
    // Neither the store nor the source is needed.
    for dir in ["src", "../home/.local"] {
        std::fs::remove_dir_all(sandbox.project().join(dir)).expect("removed");
    }
    insta::assert_snapshot!(sandbox.run(&["enable", "pdf"]), @"
    exit: 0
    --- stderr
    + pdf (linked for claude-code)
    1 skill enabled
    `skillpm.toml` changed: commit it
    ");
    assert_eq!(shape(&sandbox), shape_before);
    assert_eq!(sandbox.read(".agents/skills/pdf/SKILL.md"), "mine");
    assert_eq!((sandbox.read("skillpm.toml"), sandbox.read("skillpm.lock")), (manifest, lock));
    insta::assert_snapshot!(sandbox.run(&["enable", "pdf", "docx"]), @"
    exit: 0
    --- stderr
    = docx is already enabled
    = pdf is already enabled
    ");
}

/// A restore keeps it disabled, brings its files back where they belong, and follows the manifest.
#[test]
fn a_restore_keeps_it_disabled() {
    let sandbox = installed(&[]);
    sandbox.ok(&["disable", "pdf"]);
    let disabled = shape(&sandbox);
    for flags in [&[][..], &["--locked"], &["--frozen"]] {
        sandbox.ok(&[&["install"], flags].concat());
        assert_eq!(shape(&sandbox), disabled);
    }
    for dir in [".agents", ".claude"] {
        std::fs::remove_dir_all(sandbox.project().join(dir)).expect("removed");
    }
    assert_eq!(states(&sandbox)[1], ("pdf".into(), "missing".into(), false));
    sandbox.ok(&["install", "--frozen"]);
    assert_eq!(shape(&sandbox), disabled);
    // By hand, in either direction.
    let text = sandbox.read("skillpm.toml");
    sandbox.write("skillpm.toml", text.replace(", disabled = true", ""));
    sandbox.tells(
        &["install"],
        0,
        "skills: name change; agents:",
        &["docx unchanged", "pdf enabled", "claude-code"],
    );
    sandbox.write("skillpm.toml", &text);
    let listed = sandbox.run(&["list"]);
    assert!(listed.stderr.contains("`pdf` is disabled in `skillpm.toml`, but agents see it"), "{listed}");
    sandbox.tells(
        &["install"],
        0,
        "skills: name change disabled; agents:",
        &["docx unchanged false", "pdf disabled true", "claude-code"],
    );
    assert_eq!(shape(&sandbox), disabled);
    // An update is out of sight, too.
    write_skill(&sandbox, "pdf", "second");
    sandbox.tells(
        &["install", "./src/pdf"],
        0,
        "skills: name change disabled; warnings: code",
        &["pdf updated true", "still-disabled"],
    );
    assert!(sandbox.read(".agents/.skillpm-disabled/pdf/SKILL.md").ends_with("second\n"));
    sandbox.ok(&["remove", "pdf"]);
    assert!(!shape(&sandbox).contains("pdf"), "{}", shape(&sandbox));
    assert!(!sandbox.project().join(".agents/.skillpm-disabled").exists());
}

/// What no skill may have, such as links, moves along: it is a rename.
#[cfg(unix)]
#[test]
fn files_that_no_skill_may_have_move_along() {
    let sandbox = installed(&[]);
    let dir = |place: &str| sandbox.project().join(".agents").join(place).join("pdf/system");
    std::os::unix::fs::symlink("/usr", dir("skills")).expect("a link");
    sandbox.ok(&["disable", "pdf"]);
    assert!(dir(".skillpm-disabled").is_symlink() && !dir("skills").is_symlink());
    assert_eq!(states(&sandbox)[1], ("pdf".into(), "disabled".into(), true));
    sandbox.ok(&["enable", "pdf"]);
    assert!(dir("skills").is_symlink());
}

#[test]
fn copies_of_agents_go_and_come() {
    let sandbox = installed(&["--copy"]);
    let copy = sandbox.project().join(".claude/skills/pdf/SKILL.md");
    sandbox.ok(&["disable", "pdf"]);
    assert!(!copy.exists());
    sandbox.ok(&["enable", "pdf"]);
    std::fs::write(&copy, "mine").expect("edited");
    sandbox.fails(&["disable", "pdf"], 1, "findings", &[".claude/skills/pdf", "--force"]);
    assert_eq!(states(&sandbox)[1].1, "ok", "nothing was changed");
    let forced = sandbox.ok(&["disable", "pdf", "--force"]).to_string();
    assert!(forced.contains("your edited `pdf` was saved"), "{forced}");
}

/// A lockfile is enough: the manifest that is needed to remember it names everything that is locked.
#[test]
fn a_lockfile_alone() {
    let sandbox = installed(&[]);
    std::fs::remove_file(sandbox.project().join("skillpm.toml")).expect("removed");
    sandbox.ok(&["disable", "pdf"]);
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    docx = { path = "./src", subdir = "docx" }
    pdf = { path = "./src", subdir = "pdf", disabled = true }
    "#);
    sandbox.ok(&["install", "--locked"]);
    assert_eq!(states(&sandbox).iter().map(|s| s.1.as_str()).collect::<Vec<_>>(), ["ok", "disabled"]);
    sandbox.ok(&["enable", "pdf"]);
    assert!(sandbox.project().join(".claude/skills/pdf/SKILL.md").exists(), "the lockfile knew who had it");
}

#[test]
fn the_scope_of_the_user() {
    let sandbox = installed(&["-g"]);
    sandbox.ok(&["disable", "-g", "pdf", "docx"]);
    assert!(sandbox.home().join(".agents/.skillpm-disabled/docx/SKILL.md").exists());
    assert!(!sandbox.home().join(".agents/skills").exists());
    let output = sandbox.run(&["enable", "pdf"]);
    assert_eq!(output.code, Some(2), "it is not the project's: {output}");
    sandbox.ok(&["enable", "-g", "pdf", "docx"]);
    assert!(sandbox.home().join(".claude/skills/docx/SKILL.md").exists());
    assert!(!sandbox.home().join(".agents/.skillpm-disabled").exists());
}

/// What lies in both places: the locked bytes go, an edited tree is in the way.
#[test]
fn a_skill_in_both_places() {
    let sandbox = installed(&[]);
    sandbox.ok(&["disable", "pdf"]);
    let text = sandbox.read(".agents/.skillpm-disabled/pdf/SKILL.md");
    sandbox.write(".agents/skills/pdf/SKILL.md", &text);
    sandbox.ok(&["install"]);
    assert!(!sandbox.project().join(".agents/skills/pdf").exists());
    sandbox.write(".agents/skills/pdf/SKILL.md", "mine");
    for args in [&["install"][..], &["disable", "pdf"]] {
        let output = sandbox.run(args);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("skills/pdf` was edited since it was installed"), "{output}");
    }
    // To enable it, the edited one may stay where it is.
    sandbox.ok(&["enable", "pdf"]);
    assert_eq!(sandbox.read(".agents/skills/pdf/SKILL.md"), "mine");
    assert!(!sandbox.project().join(".agents/.skillpm-disabled").exists());
}

/// A missing tree is no hindrance, and comes back from the store when it is wanted again.
#[test]
fn a_skill_that_is_missing() {
    let sandbox = installed(&[]);
    std::fs::remove_dir_all(sandbox.project().join(".agents/skills/pdf")).expect("removed");
    sandbox.ok(&["disable", "pdf"]);
    std::fs::remove_dir_all(sandbox.project().join("src")).expect("removed");
    sandbox.ok(&["enable", "pdf", "--offline"]);
    assert_eq!(states(&sandbox)[1], ("pdf".into(), "ok".into(), false));
}

/// What the manifest asks for and nobody has installed yet can be told about, too.
#[test]
fn a_skill_that_was_never_installed() {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf", "first");
    sandbox.write("skillpm.toml", "[skills.pdf]\npath = \"./src/pdf\" # ours\n");
    sandbox.ok(&["disable", "pdf"]);
    sandbox.ok(&["link", "-a", "junie", "pdf"]);
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills.pdf]
    path = "./src/pdf" # ours
    disabled = true
    agents = ["junie"]
    "#);
    sandbox.ok(&["install"]);
    assert_eq!(states(&sandbox), [("pdf".into(), "disabled".into(), false)]);
    std::fs::remove_file(sandbox.project().join("skillpm.lock")).expect("removed");
    // Now its tree would have to move, and nobody knows what it is.
    let output = sandbox.run(&["enable", "pdf"]);
    assert_eq!(output.code, Some(3), "{output}");
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
    sandbox.tells(
        &["enable", "pdf"],
        0,
        "skills: name changed; warnings: code",
        &["pdf true", "not-installed-yet"],
    );
    sandbox.ok(&["install"]);
    assert!(sandbox.project().join(".junie/skills/pdf/SKILL.md").exists());
}

#[test]
fn bad_requests() {
    let sandbox = installed(&[]);
    let before = shape(&sandbox);
    for args in [&["disable", "pfd"][..], &["enable", "x"], &["disable", "pdf", "../x"], &["disable"]] {
        let output = sandbox.run(args);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains("hint: "), "{output}");
    }
    assert_eq!(shape(&sandbox), before);
}

/// A directory that a link leads out of the project is refused, before anything is done.
#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_disabled() {
    let sandbox = installed(&[]);
    let place = sandbox.project().join(".agents/.skillpm-disabled");
    std::os::unix::fs::symlink("../../home", &place).expect("a link");
    for args in [&["disable", "pdf", "--dry-run"][..], &["disable", "pdf"]] {
        let output = sandbox.run(args);
        assert_eq!(output.code, Some(5), "{output}");
        assert!(output.stderr.contains("is a link that leads out of the project"), "{output}");
    }
    assert!(!sandbox.home().join("pdf").exists());
    assert!(sandbox.project().join(".agents/skills/pdf/SKILL.md").exists());
}

/// What is disabled stays a skill of the project while no lockfile knows it: nobody is told to delete it, and nobody
/// that it is enabled.
#[test]
fn a_disabled_skill_without_a_lockfile_is_not_forgotten() {
    let sandbox = installed(&[]);
    sandbox.ok(&["disable", "pdf"]);
    std::fs::remove_file(sandbox.project().join("skillpm.lock")).expect("removes");
    let doctor = sandbox.run(&["doctor"]);
    assert!(!doctor.stdout.contains("rm -r") && !doctor.stdout.contains("nothing asks for it"), "{doctor}");
    assert!(doctor.stdout.contains("`pdf` is in `[DIR]/project/skillpm.toml` and not locked"), "{doctor}");
    assert!(states(&sandbox).contains(&("pdf".to_owned(), "disabled".to_owned(), false)));
    let why = sandbox.run(&["why", "pdf"]);
    assert!(why.code == Some(0) && why.stdout.contains("skillpm.toml"), "{why}");
    let before = sandbox.scope();
    sandbox.fails(
        &["enable", "pdf"],
        3,
        "configuration",
        &[".agents/.skillpm-disabled/pdf", "skillpm install", "skillpm enable pdf"],
    );
    assert_eq!(sandbox.scope(), before);
    sandbox.ok(&["install"]);
    sandbox.ok(&["enable", "pdf"]);
    assert!(sandbox.project().join(".agents/skills/pdf/SKILL.md").is_file());
    std::fs::remove_file(sandbox.project().join("skillpm.lock")).expect("removes");
    let output = sandbox.run(&["disable", "pdf"]);
    assert_eq!(output.code, Some(3), "it would stay in sight: {output}");
    assert_eq!(sandbox.run(&["enable", "pdf"]).code, Some(0), "it is");
}

/// Issue 5: what is moved and then replaced is looked at where it lies until then.
#[test]
fn what_is_moved_and_replaced_is_kept_from_where_it_lies() {
    // Files that nothing knows of.
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf", "pdf");
    sandbox.write(".agents/.skillpm-disabled/pdf/notes.md", "mine");
    sandbox.fails(&["install", "./src"], 1, "findings", &[".agents/.skillpm-disabled/pdf", "--force"]);
    let output = sandbox.ok(&["install", "./src", "--force"]);
    let saved = "`.agents/.skillpm-disabled/pdf`, which is not skillpm's, was saved";
    assert!(output.stderr.contains(saved), "{output}");
    assert!(sandbox.read(".agents/skills/pdf/SKILL.md").contains("pdf"));
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.read(".agents/.skillpm-disabled/pdf/notes.md"), "mine");
}

const SEEN: &str = ".agents/skills/pdf";
const ASIDE: &str = ".agents/.skillpm-disabled/pdf";

/// A skill that somebody has disabled or enabled in the manifest since, with the place where it still lies.
fn switched(disabled: bool) -> (Sandbox, &'static str) {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf", "one\ntwo\nthree\nfour");
    sandbox.ok(&["install", "./src"]);
    if !disabled {
        sandbox.ok(&["disable", "pdf"]);
    }
    let manifest = sandbox.read("skillpm.toml");
    let manifest = if disabled {
        manifest.replace(" }", ", disabled = true }")
    } else {
        manifest.replace(", disabled = true", "")
    };
    sandbox.write("skillpm.toml", manifest);
    (sandbox, if disabled { SEEN } else { ASIDE })
}

/// What `install` and `update` do with a skill that is edited, older than its lock, or a repository does not depend
/// on that it moves on the way.
#[test]
fn skills_that_move_are_judged_where_they_lie() {
    for disabled in [true, false] {
        // Replaced by force.
        let (sandbox, lies) = switched(disabled);
        sandbox.write(&format!("{lies}/notes.md"), "mine");
        sandbox.ok(&["install", "--force", "--dry-run"]);
        let output = sandbox.ok(&["install", "--force"]);
        assert!(output.stderr.contains("your edited `pdf` was saved"), "{output}");
        sandbox.ok(&["verify"]);
        sandbox.ok(&["undo"]);
        assert_eq!(sandbox.read(&format!("{lies}/notes.md")), "mine");

        // Merged.
        write_skill(&sandbox, "pdf", "one\ntwo\nthree\nfive");
        sandbox.ok(&["update"]);
        let there = if disabled { ASIDE } else { SEEN };
        assert_eq!(sandbox.read(&format!("{there}/notes.md")), "mine");
        assert!(sandbox.read(&format!("{there}/SKILL.md")).contains("five"));

        // Somebody else has updated it.
        let (sandbox, lies) = switched(disabled);
        let (manifest, old) = (sandbox.read("skillpm.toml"), sandbox.read("skillpm.lock"));
        write_skill(&sandbox, "pdf", "new");
        sandbox.ok(&["update"]);
        let new = sandbox.read("skillpm.lock");
        assert_ne!(old, new);
        sandbox.ok(&["undo"]);
        sandbox.write("skillpm.toml", manifest);
        sandbox.write("skillpm.lock", new);
        assert!(sandbox.project().join(lies).exists());
        sandbox.ok(&["install"]);
        assert!(sandbox.read(&format!("{there}/SKILL.md")).contains("new"));

        // A repository.
        let (sandbox, lies) = switched(disabled);
        sandbox.write(&format!("{lies}/.git/HEAD"), "mine");
        write_skill(&sandbox, "pdf", "new");
        for args in [&["update", "--dry-run"][..], &["update"], &["update", "--force"]] {
            let output = sandbox.run(args);
            assert_eq!(output.code, Some(1), "{output}");
            let told = format!("{lies}` holds a git repository");
            assert!(output.stderr.contains(&told), "{disabled}: {output}");
        }
        assert_eq!(sandbox.read(&format!("{lies}/.git/HEAD")), "mine");
    }
}
