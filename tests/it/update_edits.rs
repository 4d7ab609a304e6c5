//! `update` of skills that somebody edited: nothing that a user wrote is lost.

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;

use crate::support::Sandbox;
use crate::support::numbers::cases;
use crate::update::{skill, state};

const KEPT: &str = ".local/share/skillpm/store-v2/kept";
const HOME: &str = ".agents/skills/pdf";

/// The body of a skill, a line each.
fn body(lines: &[&str]) -> String {
    skill("pdf", &lines.join("\n"))
}

fn source(sandbox: &Sandbox, lines: &[&str]) {
    sandbox.write("src/pdf/SKILL.md", body(lines));
}

fn mine(sandbox: &Sandbox, lines: &[&str]) {
    sandbox.write(&format!("{HOME}/SKILL.md"), body(lines));
}

fn there(sandbox: &Sandbox) -> String {
    sandbox.read(&format!("{HOME}/SKILL.md"))
}

/// A machine with the skill `pdf` from a path.
fn scene(args: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    source(&sandbox, &["1", "2", "3", "4", "5"]);
    sandbox.ok(&[&["install", "./src/pdf", "-a", "claude-code"], args].concat());
    sandbox
}

/// Everything that is kept in the store of what users edited.
fn kept(sandbox: &Sandbox) -> BTreeSet<Vec<u8>> {
    let kept = sandbox.home().join(KEPT);
    if !kept.exists() {
        return BTreeSet::new();
    }
    let files = sandbox.tree(&kept).into_iter().filter_map(|line| Some(line.split_once(' ')?.1.to_owned()));
    files.filter_map(|path| std::fs::read(kept.join(path)).ok()).collect()
}

/// Asserts that the list calls the skill one in conflict.
fn listed_as_conflict(sandbox: &Sandbox) {
    insta::allow_duplicates! {
        sandbox.tells(&["list"], 0, ": name scope state agents", &["pdf project conflict claude-code"]);
    }
}

/// Agents may read the marks: to `doctor` and `show` it is no mere edit.
#[test]
fn a_merge_that_nobody_finished_is_a_problem() {
    let sandbox = scene(&[]);
    mine(&sandbox, &["mine", "2", "3", "4", "5"]);
    source(&sandbox, &["theirs", "2", "3", "4", "5"]);
    assert_eq!(sandbox.run(&["update"]).code, Some(1));
    sandbox.tells(
        &["doctor", "--scope", "project"],
        1,
        "findings: id severity skill",
        &["merge-unfinished error pdf"],
    );
    let show = sandbox.ok(&["show", "pdf"]).to_string();
    assert!(show.contains("in conflict") && !show.contains("edited since"), "{show}");
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["show", "pdf", "--json"]).stdout).expect("JSON");
    assert_eq!(json["installed"]["state"], "conflict");
    // Whoever tries it out is told as an agent would not be.
    let invoked = sandbox.run(&["invoke", "pdf"]);
    assert!(invoked.stdout.contains("<<<<<<<"), "{invoked}");
    assert_eq!(
        invoked.stderr,
        "warning: `pdf` has unresolved conflicts of an update, and agents read the markers; `skillpm update pdf` lists them\n"
    );
    assert!(sandbox.run(&["invoke", "./src/pdf"]).stderr.is_empty(), "another skill");
    // Where agents do not see it, it is one all the same.
    sandbox.ok(&["disable", "pdf"]);
    let doctor = sandbox.run(&["doctor"]);
    assert!(doctor.code == Some(1) && doctor.to_string().contains("merge-unfinished"), "{doctor}");
    sandbox.ok(&["enable", "pdf"]);
    sandbox.ok(&["update", "pdf", "--ours"]);
    assert!(sandbox.run(&["invoke", "pdf"]).stderr.is_empty(), "it is settled");
    let doctor = sandbox.run(&["doctor", "--verbose"]);
    assert!(doctor.code == Some(0) && doctor.to_string().contains("skill-edited"), "{doctor}");
    assert!(sandbox.ok(&["show", "pdf"]).to_string().contains("edited since"));
}

/// A skill that agents are not to see can be in conflict, too, and the list says so before they see it again.
#[test]
fn disabled_skills_in_conflict_are_listed_as_such() {
    let sandbox = scene(&[]);
    mine(&sandbox, &["mine", "2", "3", "4", "5"]);
    sandbox.ok(&["disable", "pdf"]);
    source(&sandbox, &["theirs", "2", "3", "4", "5"]);
    assert_eq!(sandbox.run(&["update"]).code, Some(1));
    sandbox.tells(&["list"], 0, ": name scope state disabled", &["pdf project conflict true"]);
    let list = sandbox.run(&["list", "--json"]).stdout;
    assert!(list.contains(r#""state": "conflict""#) && list.contains(r#""disabled": true"#), "{list}");
    // Nor do they see it again without a word.
    sandbox.tells(
        &["enable", "pdf"],
        0,
        "skills: name changed agents; warnings: code",
        &["pdf true claude-code", "merge-unfinished"],
    );
    sandbox.ok(&["disable", "pdf"]);
    sandbox.ok(&["update", "pdf", "--ours"]);
    let list = sandbox.ok(&["list"]).to_string();
    assert!(list.contains("disabled, edited"), "{list}");
}

/// Issue 5: edits are merged, and the next update merges from the version that was merged then.
#[test]
fn edits_are_merged_again_and_again() {
    let sandbox = scene(&[]);
    mine(&sandbox, &["one", "2", "3", "4", "5"]);
    sandbox.write(&format!("{HOME}/notes.md"), "mine\n");
    source(&sandbox, &["1", "2", "3", "4", "five"]);
    sandbox.tells(
        &["update"],
        0,
        "skills: name change status; skills.files: path; skills.merge: path result; warnings: code",
        &["pdf merged changed", "SKILL.md", "SKILL.md merged", "notes.md ours", "edited-saved"],
    );
    assert_eq!(there(&sandbox), body(&["one", "2", "3", "4", "five"]));
    assert_eq!(sandbox.read(&format!("{HOME}/notes.md")), "mine\n");
    let list = sandbox.ok(&["list"]).to_string();
    assert!(list.contains("edited"), "{list}");
    sandbox.ok(&["update"]);
    // From here on the first merge is the user's version, and what was new then the base.
    source(&sandbox, &["1", "2", "3", "4", "five", "six"]);
    let lock = sandbox.read("skillpm.lock");
    sandbox.ok(&["update"]);
    assert_eq!(there(&sandbox), body(&["one", "2", "3", "4", "five", "six"]));
    assert_ne!(sandbox.read("skillpm.lock"), lock);
    assert!(!sandbox.project().join(".agents/.skillpm-merge").exists());
    // What was edited comes upstream: then nothing is edited any more.
    source(&sandbox, &["one", "2", "3", "4", "five", "six"]);
    std::fs::remove_file(sandbox.project().join(HOME).join("notes.md")).expect("removed");
    sandbox.ok(&["update"]);
    assert!(!sandbox.ok(&["list"]).to_string().contains("edited"));
}

/// Issue 5: markers only where both changed the same lines, the user's file beside it, exit 1; then by
/// hand.
#[test]
fn conflicts_are_told_and_resolved_by_hand() {
    let sandbox = scene(&[]);
    mine(&sandbox, &["one", "2", "3", "4", "5"]);
    source(&sandbox, &["uno", "2", "3", "4", "five"]);
    let before = state(&sandbox);
    sandbox.tells(
        &["update", "--dry-run"],
        1,
        "skills: name change status; skills.files: path; skills.merge: path result",
        &["pdf conflict changed", "SKILL.md", "SKILL.md conflict"],
    );
    assert_eq!(state(&sandbox), before);
    sandbox.tells(
        &["update"],
        1,
        "skills: name change status; skills.files: path; skills.merge: path result; warnings: code",
        &["pdf conflict changed", "SKILL.md", "SKILL.md conflict", "edited-saved"],
    );
    insta::assert_snapshot!(there(&sandbox), @"
    ---
    name: pdf
    description: Does pdf. Use it in tests.
    ---

    <<<<<<< your edits
    one
    =======
    uno
    >>>>>>> path:./src/pdf
    2
    3
    4
    five
    ");
    assert_eq!(sandbox.read(&format!("{HOME}/SKILL.md.mine")), body(&["one", "2", "3", "4", "5"]));
    assert_eq!(sandbox.read(".agents/.skillpm-merge/.gitignore"), "*\n");
    // Until somebody has looked at it, every list says so and no update goes over it.
    listed_as_conflict(&sandbox);
    source(&sandbox, &["uno", "2", "3", "4", "five", "six"]);
    let before = state(&sandbox);
    sandbox.tells(
        &["update"],
        1,
        "skills: name change status; skills.merge: path result",
        &["pdf unresolved -", "SKILL.md conflict"],
    );
    sandbox.fails(
        &["update", "pdf"],
        1,
        "findings",
        &["SKILL.md", "skillpm update pdf --ours", "--theirs", "skillpm update pdf --abort"],
    );
    assert_eq!(state(&sandbox), before);
    mine(&sandbox, &["one and uno", "2", "3", "4", "five"]);
    // Until the kept file is gone, the update can be taken back.
    assert_eq!(sandbox.run(&["doctor"]).code, Some(1));
    std::fs::remove_file(sandbox.project().join(HOME).join("SKILL.md.mine")).expect("removes");
    assert!(sandbox.run(&["list"]).stdout.contains("edited"), "nothing is left to look at");
    sandbox.ok(&["update"]);
    assert_eq!(there(&sandbox), body(&["one and uno", "2", "3", "4", "five", "six"]));
    assert!(!sandbox.project().join(".agents/.skillpm-merge").exists());
}

/// Issue 5, `--abort`: the tree as the user had it, and the old entry of the lockfile.
#[test]
fn a_merge_is_taken_back() {
    let sandbox = scene(&[]);
    mine(&sandbox, &["one", "2", "3", "4", "5"]);
    let before = state(&sandbox);
    source(&sandbox, &["uno", "2", "3", "4", "5"]);
    assert_eq!(sandbox.run(&["update"]).code, Some(1));
    sandbox.tells(&["update", "--abort", "--dry-run"], 0, "skills: name change status", &["pdf aborted -"]);
    sandbox.tells(&["update", "--abort"], 0, "skills: name change status", &["pdf aborted -"]);
    source(&sandbox, &["1", "2", "3", "4", "5"]);
    assert_eq!(state(&sandbox), before);
    sandbox.fails(&["update", "--abort"], 2, "usage", &["no merge to undo"]);
    sandbox.fails(&["update", "pdf", "--abort"], 2, "usage", &["`pdf`"]);
    // What was written after the merge is kept, too.
    source(&sandbox, &["uno", "2", "3", "4", "5"]);
    assert_eq!(sandbox.run(&["update"]).code, Some(1));
    mine(&sandbox, &["half done"]);
    let told = sandbox.ok(&["update", "pdf", "--abort"]).to_string();
    assert!(told.contains("your edited `pdf` was saved"), "{told}");
    assert_eq!(there(&sandbox), body(&["one", "2", "3", "4", "5"]));
    assert!(kept(&sandbox).contains(body(&["half done"]).as_bytes()));
}

/// `--abort` after `--latest`: the manifest asks for the old tag again.
#[test]
fn taking_back_also_takes_back_the_pin() {
    let forge = crate::support::Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let repo = forge.repo("acme/pdf");
    let tree = |lines: &[&str]| crate::support::Tree::new().file("SKILL.md", body(lines));
    repo.tag("v1.0.0", &repo.commit(&tree(&["1"])));
    sandbox.ok(&["install", "acme/pdf", "--tag", "v1.0.0"]);
    mine(&sandbox, &["mine"]);
    let before = state(&sandbox);
    repo.tag("v1.1.0", &repo.commit(&tree(&["one"])));
    assert_eq!(sandbox.run(&["update", "--latest"]).code, Some(1));
    assert!(sandbox.read("skillpm.toml").contains("v1.1.0"));
    let label = there(&sandbox).lines().find(|line| line.starts_with(">>>>>>> ")).map(str::to_owned);
    assert!(label.as_deref().is_some_and(|label| label.starts_with(">>>>>>> github:acme/pdf at ")));
    sandbox.ok(&["update", "--abort"]);
    assert_eq!(state(&sandbox), before);
}

/// `--abort` after `--latest`: a commit is pinned again as it was, and what only others need stays out of the
/// manifest.
#[test]
fn taking_back_leaves_the_manifest_as_it_was() {
    let forge = crate::support::Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let repo = forge.repo("acme/pdf");
    let needs =
        "---\nname: doc\ndescription: Use it in tests.\nmetadata:\n  skill-dependencies: pdf\n---\n\n# doc\n";
    let tree = |lines: &[&str]| {
        crate::support::Tree::new().file("pdf/SKILL.md", body(lines)).file("doc/SKILL.md", needs)
    };
    let first = repo.commit(&tree(&["1"]));
    repo.tag("v1.0.0", &first);
    let second = tree(&["one"]);
    for (args, expected) in [
        (&["install", "acme/pdf@pdf", "--rev", &first[..10]][..], "rev = "),
        (&["install", "acme/pdf@doc", "--tag", "v1.0.0"], "doc = "),
    ] {
        sandbox.ok(args);
        mine(&sandbox, &["mine"]);
        let manifest = sandbox.read("skillpm.toml");
        assert!(manifest.contains(expected), "{manifest}");
        let lock = sandbox.read("skillpm.lock");
        repo.tag("v1.1.0", &repo.commit(&second));
        assert_eq!(sandbox.run(&["update", "--latest"]).code, Some(1));
        let latest = sandbox.read("skillpm.toml");
        sandbox.ok(&["update", "pdf", "--abort"]);
        if expected == "rev = " {
            assert_eq!(sandbox.read("skillpm.toml"), manifest);
            assert_eq!(sandbox.read("skillpm.lock"), lock);
        } else {
            assert_eq!(sandbox.read("skillpm.toml"), latest, "nobody asked for `pdf`");
        }
        assert!(there(&sandbox).ends_with("mine\n"));
        sandbox.ok(&["remove", if expected == "rev = " { "pdf" } else { "doc" }, "--force"]);
        assert!(!sandbox.project().join(HOME).exists(), "nothing needs it");
    }
}

/// Issue 5, `--ours` and `--theirs`: at once, or to end a merge that was left.
#[test]
fn a_side_decides_conflicts() {
    for (flag, first, end, what) in [
        ("--ours", "one", "your version is kept where the two conflict", "your version is kept"),
        (
            "--theirs",
            "uno",
            "the new version is taken where the two conflict",
            "the new version replaces yours",
        ),
    ] {
        for at_once in [true, false] {
            let sandbox = scene(&[]);
            mine(&sandbox, &["one", "2", "3", "4", "5"]);
            sandbox.write(&format!("{HOME}/notes.md"), "mine\n");
            source(&sandbox, &["uno", "2", "3", "4", "5"]);
            sandbox.write("src/pdf/new.md", "new\n");
            let what = format!("edited SKILL.md: {what}\n");
            if at_once {
                let told = sandbox.ok(&["update", flag]).to_string();
                assert!(told.contains(&what), "{told}");
            } else {
                assert_eq!(sandbox.run(&["update"]).code, Some(1));
                let told = sandbox.ok(&["update", "pdf", flag]).to_string();
                assert!([end, &what, "1 skill resolved"].iter().all(|text| told.contains(text)), "{told}");
            }
            assert_eq!(there(&sandbox), body(&[first, "2", "3", "4", "5"]), "{flag}");
            let names = sandbox.tree(&sandbox.project().join(HOME));
            assert_eq!(names, ["644 SKILL.md", "644 new.md", "644 notes.md"]);
            assert!(!sandbox.project().join(".agents/.skillpm-merge").exists());
            assert!(kept(&sandbox).contains(body(&["one", "2", "3", "4", "5"]).as_bytes()));
            sandbox.ok(&["update"]);
        }
    }
    assert_eq!(Sandbox::new().run(&["update", "--ours", "--theirs"]).code, Some(2));
}

/// `undo` of what ended a merge brings the conflict back with what is told of it, so that a merge can be ended
/// in another way.
#[test]
fn what_ended_a_merge_is_taken_back() {
    for flag in ["--abort", "--ours", "--theirs"] {
        let sandbox = scene(&[]);
        mine(&sandbox, &["one", "2", "3", "4", "5"]);
        source(&sandbox, &["uno", "2", "3", "4", "5"]);
        assert_eq!(sandbox.run(&["update"]).code, Some(1));
        let before = sandbox.scope();
        sandbox.ok(&["update", "pdf", flag]);
        let after = sandbox.scope();
        assert!(!sandbox.project().join(".agents/.skillpm-merge").exists(), "{flag}");
        for round in 0..2 {
            sandbox.ok(&["undo"]);
            assert_eq!(sandbox.scope(), before, "{flag}, taken back, round {round}");
            sandbox.ok(&["undo"]);
            assert_eq!(sandbox.scope(), after, "{flag}, done again, round {round}");
        }
        sandbox.ok(&["undo"]);
        listed_as_conflict(&sandbox);
        let told = sandbox.ok(&["update", "pdf", "--ours"]).to_string();
        assert!(told.contains("1 skill resolved"), "{flag}: {told}");
        assert_eq!(there(&sandbox), body(&["one", "2", "3", "4", "5"]), "{flag}");
    }
}

/// What is no text, and what one side deleted.
#[test]
fn other_conflicts() {
    let sandbox = Sandbox::new();
    source(&sandbox, &["1"]);
    for (path, bytes) in [("a.png", &b"\0"[..]), ("here.md", b"x\n"), ("there.md", b"x\n")] {
        sandbox.write(&format!("src/pdf/{path}"), bytes);
    }
    sandbox.ok(&["install", "./src/pdf"]);
    sandbox.write(&format!("{HOME}/a.png"), b"\0mine");
    std::fs::remove_file(sandbox.project().join(HOME).join("here.md")).expect("removed");
    sandbox.write(&format!("{HOME}/there.md"), "mine\n");
    sandbox.write("src/pdf/a.png", b"\0new");
    sandbox.write("src/pdf/here.md", "new\n");
    std::fs::remove_file(sandbox.project().join("src/pdf/there.md")).expect("removed");
    sandbox.tells(
        &["update"],
        1,
        "skills: name change status; skills.files: path; skills.merge: path result; warnings: code",
        &[
            "pdf conflict changed",
            "a.png",
            "here.md",
            "there.md",
            "a.png conflict",
            "here.md conflict",
            "there.md conflict",
            "edited-saved",
        ],
    );
    let names = sandbox.tree(&sandbox.project().join(HOME));
    assert_eq!(names, ["644 SKILL.md", "644 a.png", "644 a.png.mine", "644 here.md", "644 there.md"]);
    assert_eq!(sandbox.run(&["update"]).code, Some(1), "the kept file has to go first");
    std::fs::remove_file(sandbox.project().join(HOME).join("a.png.mine")).expect("removed");
    sandbox.ok(&["update"]);
}

/// A merge that leaves all as the user has it replaces nothing, and can be taken back all the same, even
/// after the user went on.
#[test]
fn a_merge_that_is_all_the_users_can_be_taken_back() {
    let sandbox = Sandbox::new();
    source(&sandbox, &["1"]);
    sandbox.write("src/pdf/there.md", "x\n");
    sandbox.ok(&["install", "./src/pdf"]);
    let there = format!("{HOME}/there.md");
    sandbox.write(&there, "mine\n");
    std::fs::remove_file(sandbox.project().join("src/pdf/there.md")).expect("removed");
    let output = sandbox.run(&["update"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("conflict there.md"), "{output}");
    assert_eq!(sandbox.read(&there), "mine\n");
    sandbox.write(&there, "later\n");
    sandbox.ok(&["update", "--abort"]);
    assert_eq!(sandbox.read(&there), "mine\n");
    assert!(kept(&sandbox).contains(&b"later\n"[..]), "what was written since is not lost");
}

/// A disabled skill is merged where it lies, and executable bits of both sides stay.
#[cfg(unix)]
#[test]
fn disabled_skills_and_modes_are_merged() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new();
    source(&sandbox, &["1", "2", "3"]);
    sandbox.write("src/pdf/run", "a\nb\nc\n");
    sandbox.ok(&["install", "./src/pdf", "-a", "claude-code"]);
    sandbox.ok(&["disable", "pdf"]);
    let aside = ".agents/.skillpm-disabled/pdf";
    sandbox.write(&format!("{aside}/SKILL.md"), body(&["one", "2", "3"]));
    let run = sandbox.project().join(aside).join("run");
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o755)).expect("set");
    source(&sandbox, &["1", "2", "three"]);
    sandbox.write("src/pdf/run", "a\nb\nd\n");
    sandbox.ok(&["update"]);
    assert_eq!(sandbox.read(&format!("{aside}/SKILL.md")), body(&["one", "2", "three"]));
    assert_eq!(sandbox.tree(&sandbox.project().join(aside)), ["644 SKILL.md", "755 run"]);
    assert_eq!(sandbox.read(&format!("{aside}/run")), "a\nb\nd\n");
    assert!(!sandbox.project().join(".claude/skills/pdf").exists());
}

/// Copies of agents follow, edited ones are a conflict as everywhere, and `--force` keeps them.
#[test]
fn copies_follow_and_edited_copies_are_not_lost() {
    let sandbox = scene(&["--copy"]);
    let copy = ".claude/skills/pdf/SKILL.md";
    mine(&sandbox, &["one", "2", "3", "4", "5"]);
    source(&sandbox, &["1", "2", "3", "4", "five"]);
    sandbox.ok(&["update"]);
    assert_eq!(sandbox.read(copy), body(&["one", "2", "3", "4", "five"]));
    // A restore leaves the edited skill and the copies that follow it, without a word about force.
    let output = sandbox.run(&["install"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert_eq!(sandbox.read(copy), there(&sandbox));
    // The copies of the last merge follow, though the skill was edited since.
    mine(&sandbox, &["one", "two", "3", "4", "five"]);
    source(&sandbox, &["1", "2", "3", "4", "5", "6"]);
    let told = sandbox.run(&["update"]);
    assert_eq!(told.code, Some(0), "{told}");
    assert_eq!(sandbox.read(copy), body(&["one", "two", "3", "4", "5", "6"]));
    sandbox.write(copy, "elsewhere");
    source(&sandbox, &["1", "2", "3", "4", "5", "7"]);
    let told = sandbox.ok(&["update"]);
    assert!(told.stderr.contains("`.claude/skills/pdf` was edited and was left as is"), "{told}");
    assert_eq!(sandbox.read(copy), "elsewhere");
    sandbox.ok(&["link", "--agent", "claude-code", "--force", "pdf"]);
    assert_eq!(there(&sandbox), body(&["one", "two", "3", "4", "5", "7"]), "edits are merged all the same");
    assert_eq!(sandbox.read(copy), there(&sandbox));
    assert!(kept(&sandbox).contains(&b"elsewhere"[..]));
}

/// A copy that was kept for its user once, and came back, is still the user's: merges keep theirs beside it.
#[test]
fn an_edited_copy_that_was_kept_is_not_replaced() {
    let sandbox = scene(&["--copy"]);
    let copy = ".claude/skills/pdf/SKILL.md";
    sandbox.write(copy, "elsewhere");
    sandbox.ok(&["install", "--force"]);
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.read(copy), "elsewhere");
    source(&sandbox, &["1", "2", "3", "4", "5", "6"]);
    let output = sandbox.ok(&["update"]);
    assert!(output.stderr.contains("was edited and was left as is"), "{output}");
    assert_eq!(sandbox.read(copy), "elsewhere");
}

/// The version that was edited is gone from store and source: nothing is guessed.
#[test]
fn without_a_base_a_person_decides() {
    for (flag, wanted) in [("--ours", "one"), ("--theirs", "uno"), ("--force", "uno")] {
        let sandbox = scene(&[]);
        mine(&sandbox, &["one"]);
        sandbox.write(&format!("{HOME}/notes.md"), "mine\n");
        source(&sandbox, &["uno"]);
        std::fs::remove_dir_all(sandbox.home().join(".local")).expect("removed");
        let before = state(&sandbox);
        if flag == "--ours" {
            sandbox.fails(
                &["update", "pdf"],
                5,
                "integrity",
                &[
                    "path:./src/pdf",
                    "sha256:4",
                    "sha256:839696",
                    "skillpm update pdf --ours",
                    "--theirs",
                    "--force",
                ],
            );
            assert_eq!(state(&sandbox), before);
        }
        sandbox.ok(&["update", flag, "--allow-new-capabilities"]);
        assert_eq!(there(&sandbox), body(&[wanted]), "{flag}");
        assert_eq!(sandbox.project().join(HOME).join("notes.md").exists(), flag != "--force");
        // Where all of it stays, there is nothing to keep.
        assert_eq!(kept(&sandbox).contains(body(&["one"]).as_bytes()), flag != "--ours", "{flag}");
    }
}

/// A store that lost the base gets it again from the commit that was locked.
#[test]
fn a_lost_base_is_fetched_again() {
    let forge = crate::support::Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let repo = forge.repo("acme/pdf");
    let tree = |lines: &[&str]| crate::support::Tree::new().file("SKILL.md", body(lines));
    repo.commit(&tree(&["1", "2", "3"]));
    sandbox.ok(&["install", "acme/pdf"]);
    mine(&sandbox, &["one", "2", "3"]);
    repo.commit(&tree(&["1", "2", "three"]));
    for dir in [".local", ".cache"] {
        let _ = std::fs::remove_dir_all(sandbox.home().join(dir));
    }
    sandbox.ok(&["update"]);
    assert_eq!(there(&sandbox), body(&["one", "2", "three"]));
}

/// THREATS: the record of a merge may be a stranger's. It names nothing that could be reached, and one
/// that is about another version is not read.
#[cfg(unix)]
#[test]
fn a_strange_record_does_no_harm() {
    let sandbox = scene(&[]);
    mine(&sandbox, &["one", "2", "3", "4", "5"]);
    source(&sandbox, &["uno", "2", "3", "4", "5"]);
    assert_eq!(sandbox.run(&["update"]).code, Some(1));
    let record = sandbox.read(".agents/.skillpm-merge/pdf.json");
    sandbox.ok(&["update", "--abort"]);
    // As if a run had been killed between the record and its transaction.
    let path = ".agents/.skillpm-merge/pdf.json";
    sandbox.write(path, &record);
    assert_eq!(sandbox.run(&["update", "pdf", "--abort"]).code, Some(2));
    assert_eq!(sandbox.run(&["update"]).code, Some(1), "and it is merged again");
    for strange in [
        "",
        "{}",
        "null",
        &record.replace("\"SKILL.md\"", "\"../../x\""),
        &record.replace("SKILL.md.mine", "/etc/passwd"),
        &record.replace("name = \\\"pdf\\\"", "name = \\\"../pdf\\\""),
        &record.replace("\"version\": 1", "\"version\": 2"),
        &record.replace("[skills]\\npdf", "[skills]\\ndoc"),
        &"[".repeat(100_000),
    ] {
        sandbox.write(path, strange);
        let before = state(&sandbox);
        for args in [&["update", "pdf"][..], &["update", "--abort"], &["update", "--theirs"]] {
            let output = sandbox.run(args);
            assert!(matches!(output.code, Some(3)), "{strange}: {output}");
            assert!(output.stderr.contains("pdf.json` cannot be read"), "{output}");
        }
        assert_eq!(state(&sandbox), before);
    }
    // A digest that nobody has.
    let digest = serde_json::from_str::<serde_json::Value>(&record).expect("JSON")["mine"].clone();
    let digest = digest.as_str().expect("a digest");
    sandbox.write(path, record.replace(digest, &format!("sha256:{}", "0".repeat(64))));
    assert_eq!(sandbox.run(&["update", "--abort"]).code, Some(5));
    // A link out of the project in place of the directory.
    let dir = sandbox.project().join(".agents/.skillpm-merge");
    std::fs::remove_dir_all(&dir).expect("removed");
    let outside = sandbox.home().join("outside");
    std::fs::create_dir(&outside).expect("made");
    std::os::unix::fs::symlink(&outside, &dir).expect("linked");
    assert_eq!(sandbox.run(&["update", "pdf"]).code, Some(5));
    assert_eq!(sandbox.tree(&outside), [""; 0]);
}

/// Whatever is installed over it, removed or forced ends the merge.
#[test]
fn a_merge_ends_with_the_version_it_is_about() {
    for args in [&["remove", "pdf", "--force"][..], &["install", "./other", "--force"]] {
        let sandbox = scene(&[]);
        sandbox.write("other/SKILL.md", body(&["other"]));
        mine(&sandbox, &["one", "2", "3", "4", "5"]);
        source(&sandbox, &["uno", "2", "3", "4", "5"]);
        assert_eq!(sandbox.run(&["update"]).code, Some(1));
        sandbox.ok(args);
        assert!(!sandbox.project().join(".agents/.skillpm-merge").exists(), "{args:?}");
    }
}

/// Lines of few different texts, so that the sides meet.
fn text() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec("[a-e]{1}", 0..8)
}

/// The files of one side.
fn files() -> impl Strategy<Value = Vec<Option<Vec<String>>>> {
    proptest::collection::vec(proptest::option::weighted(0.8, text()), 3)
}

const NAMES: [&str; 3] = ["SKILL.md", "a.md", "refs/b.md"];

fn put(sandbox: &Sandbox, dir: &str, files: &[Option<Vec<String>>], side: &str) {
    for (name, lines) in NAMES.iter().zip(files) {
        let path = sandbox.project().join(dir).join(name);
        let lines: Option<Vec<_>> = lines.as_ref().map(|lines| {
            lines
                .iter()
                .map(|line| if line == "e" { format!("{side} {name}") } else { line.clone() })
                .collect()
        });
        match (lines, *name) {
            (lines, "SKILL.md") => {
                let text = skill("pdf", &lines.unwrap_or_default().join("\n"));
                sandbox.write(&format!("{dir}/{name}"), text);
            }
            (Some(lines), _) => drop(sandbox.write(&format!("{dir}/{name}"), lines.join("\n"))),
            (None, _) => drop(std::fs::remove_file(path)),
        }
    }
}

/// The lines of all files below `dir`.
fn lines(dir: &Path) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => all.extend(lines(&path)),
            path => {
                let text = std::fs::read(path).expect("reads");
                all.extend(String::from_utf8_lossy(&text).lines().map(ToOwned::to_owned));
            }
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(96), ..ProptestConfig::default() })]

    /// Issue 5: every line that a user wrote is afterwards in the installed skill, in a file beside, or
    /// in the copy that the store keeps; without conflict it is in the installed skill itself, unless
    /// it was there before.
    #[test]
    fn no_line_of_the_user_is_lost(base in files(), ours in files(), theirs in files(), flag in 0..4_usize) {
        let sandbox = Sandbox::new();
        put(&sandbox, "src/pdf", &base, "base");
        sandbox.ok(&["install", "./src/pdf"]);
        put(&sandbox, HOME, &ours, "mine");
        let wrote = lines(&sandbox.project().join(HOME));
        put(&sandbox, "src/pdf", &theirs, "new");
        let flag: &[&str] = [&[][..], &["--ours"], &["--theirs"], &["--force"]][flag];
        let output = sandbox.run(&[&["update", "--allow-new-capabilities"], flag].concat());
        prop_assert!(matches!(output.code, Some(0 | 1)), "{}", output);
        let installed = lines(&sandbox.project().join(HOME));
        let mut all = lines(&sandbox.home().join(KEPT));
        all.extend(installed.iter().cloned());
        for line in &wrote {
            prop_assert!(all.contains(line), "{}: {}", line, output);
        }
        // Nobody but the user wrote these, so they are where the user can see them.
        if flag.first() != Some(&"--theirs") {
            for line in wrote.iter().filter(|line| line.starts_with("mine ")) {
                prop_assert!(installed.contains(line), "{}: {}", line, output);
            }
        }
        if output.code == Some(1) {
            sandbox.ok(&["update", "--abort"]);
            prop_assert_eq!(lines(&sandbox.project().join(HOME)), wrote);
        }
    }
}

/// Copies that a merge made are nobody's edits: once the conflict is resolved, agents get what is locked.
#[test]
fn copies_of_a_resolved_conflict_give_way() {
    let sandbox = scene(&["--copy"]);
    let copy = || sandbox.read(".claude/skills/pdf/SKILL.md");
    mine(&sandbox, &["1", "mine", "3", "4", "5"]);
    source(&sandbox, &["1", "theirs", "3", "4", "5"]);
    assert_eq!(sandbox.run(&["update"]).code, Some(1));
    assert!(copy().contains("<<<<<<<"), "{}", copy());
    let root = sandbox.project().join(HOME);
    for file in std::fs::read_dir(&root).expect("lists").flatten() {
        std::fs::remove_file(file.path()).expect("removes");
    }
    mine(&sandbox, &["1", "theirs", "3", "4", "5"]);
    sandbox.ok(&["update"]);
    sandbox.ok(&["install"]);
    assert_eq!(copy(), there(&sandbox));
    assert!(!copy().contains("<<<<<<<"), "{}", copy());
    sandbox.ok(&["unlink", "--agent", "claude-code"]);
}

/// What users wrote may be for nobody else.
#[cfg(unix)]
#[test]
fn what_is_kept_is_its_owner_s_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = scene(&[]);
    sandbox.write(&format!("{HOME}/.env"), "KEY=1\n");
    sandbox.ok(&["remove", "pdf", "--force"]);
    let mode = std::fs::metadata(sandbox.home().join(KEPT)).expect("is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(kept(&sandbox).contains(&b"KEY=1\n"[..]));
}
