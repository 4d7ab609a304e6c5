//! Skills that somebody else took out of manifest and lockfile: a restore takes away what this machine placed.

#![cfg(unix)]

use std::path::PathBuf;

use crate::support::Sandbox;

fn write_skill(sandbox: &Sandbox, path: &str, name: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\nfirst\n");
    sandbox.write(&format!("{path}/SKILL.md"), text);
    sandbox.write(&format!("{path}/scripts/run.sh"), "#!/bin/sh\necho first\n");
}

/// A project with two skills, linked for Claude Code, and one that nobody installed.
fn installed() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["pdf", "docx"] {
        write_skill(&sandbox, &format!("src/{name}"), name);
    }
    sandbox.ok(&["install", "./src", "--skill", "*", "--agent", "claude-code"]);
    write_skill(&sandbox, ".agents/skills/own", "own");
    sandbox
}

/// The manifest and the lockfile.
fn texts(sandbox: &Sandbox) -> [String; 2] {
    ["skillpm.toml", "skillpm.lock"].map(|file| sandbox.read(file))
}

fn check_out(sandbox: &Sandbox, texts: &[String; 2]) {
    sandbox.write("skillpm.toml", &texts[0]);
    sandbox.write("skillpm.lock", &texts[1]);
}

/// What another machine commits after it removed `pdf`.
fn without_pdf() -> [String; 2] {
    let other = installed();
    other.ok(&["remove", "pdf"]);
    texts(&other)
}

fn is_there(sandbox: &Sandbox, path: &str) -> bool {
    sandbox.project().join(path).symlink_metadata().is_ok()
}

/// Whether `pdf` lies where it was installed, and its link.
fn pdf(sandbox: &Sandbox) -> [bool; 2] {
    [".agents/skills/pdf/SKILL.md", ".claude/skills/pdf"].map(|path| is_there(sandbox, path))
}

/// The records of what was placed.
fn records(sandbox: &Sandbox) -> Vec<PathBuf> {
    let dir = sandbox.home().join(".local/state/skillpm/placed");
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// As other package managers do: what the lockfile dropped goes, on every machine.
#[test]
fn what_somebody_else_removed_goes() {
    let sandbox = installed();
    check_out(&sandbox, &without_pdf());
    let pulled = texts(&sandbox);
    sandbox.tells(
        &["list"],
        0,
        ": name scope state agents found_in",
        &[
            "docx project ok claude-code -",
            "own project untracked - directory",
            "pdf project untracked claude-code directory",
        ],
    );
    sandbox.tells(&["doctor"], 1, "findings: id severity skill", &["no-longer-asked warning pdf"]);
    sandbox.tells(
        &["install", "--locked", "--dry-run"],
        0,
        "skills: name change; agents:",
        &["docx unchanged", "pdf removed", "claude-code"],
    );
    assert_eq!(pdf(&sandbox), [true, true]);
    sandbox.tells(
        &["install", "--locked"],
        0,
        "skills: name change; agents:",
        &["docx unchanged", "pdf removed", "claude-code"],
    );
    assert_eq!(pdf(&sandbox), [false, false]);
    for path in [".agents/skills/docx", ".claude/skills/docx", ".agents/skills/own"] {
        assert!(is_there(&sandbox, path), "{path}");
    }
    assert_eq!(texts(&sandbox), pulled, "neither file changes");
    sandbox.ok(&["doctor"]);
    let again = sandbox.ok(&["install"]).to_string();
    assert!(!again.contains("pdf"), "{again}");
}

/// What was taken away comes back, and is then the user's.
#[test]
fn it_is_taken_back() {
    let sandbox = installed();
    let before = sandbox.scope();
    check_out(&sandbox, &without_pdf());
    sandbox.ok(&["install"]);
    sandbox.tells(&["undo"], 0, "skills: name change", &["pdf back"]);
    assert_eq!(pdf(&sandbox), [true, true]);
    sandbox.ok(&["install"]);
    assert_eq!(pdf(&sandbox), [true, true]);
    // What an `undo` brought into the lockfile was placed here as well.
    let sandbox = installed();
    sandbox.ok(&["remove", "pdf"]);
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.scope(), before);
    check_out(&sandbox, &without_pdf());
    sandbox.ok(&["install"]);
    assert_eq!(pdf(&sandbox), [false, false]);
}

/// To another branch and back: the store has what went, even if it had lost it before.
#[test]
fn a_branch_and_back() {
    for cleared in [false, true] {
        let sandbox = installed();
        let (here, there) = (texts(&sandbox), without_pdf());
        if cleared {
            sandbox.ok(&["cache", "clean", "--store"]);
        }
        check_out(&sandbox, &there);
        sandbox.ok(&["install", "--frozen"]);
        assert_eq!(pdf(&sandbox), [false, false]);
        std::fs::remove_dir_all(sandbox.project().join("src")).expect("removed");
        check_out(&sandbox, &here);
        sandbox.ok(&["install", "--frozen"]);
        assert_eq!(pdf(&sandbox), [true, true], "the store was cleared: {cleared}");
        check_out(&sandbox, &there);
        sandbox.ok(&["install", "--frozen"]);
        assert_eq!(pdf(&sandbox), [false, false]);
    }
}

/// What somebody edited is theirs: it stays, and that is told once.
#[test]
fn an_edited_one_stays() {
    for force in [&["install"][..], &["install", "--force"]] {
        let sandbox = installed();
        sandbox.write(".agents/skills/pdf/notes.md", "mine");
        check_out(&sandbox, &without_pdf());
        let listed = sandbox.ok(&["list"]).to_string();
        assert!(!listed.contains("removes it"), "{listed}");
        let output = sandbox.ok(force);
        let told = "warning: `pdf` is no longer requested, but `.agents/skills/pdf` was edited \
                    since it was installed: it was kept, and is yours from now on";
        assert!(output.to_string().contains(told), "{output}");
        assert_eq!(sandbox.read(".agents/skills/pdf/notes.md"), "mine");
        assert_eq!(pdf(&sandbox), [true, true]);
        let again = sandbox.ok(force).to_string();
        assert!(!again.contains("pdf"), "{again}");
        // Not even when the edit is gone: nobody remembers that it was ours.
        std::fs::remove_file(sandbox.project().join(".agents/skills/pdf/notes.md")).expect("removed");
        sandbox.ok(force);
        assert_eq!(pdf(&sandbox), [true, true]);
    }
    // An agent's own copy that was edited stays, and all else goes.
    let sandbox = installed();
    sandbox.ok(&["install", "--copy"]);
    sandbox.write(".claude/skills/pdf/notes.md", "mine");
    check_out(&sandbox, &without_pdf());
    let output = sandbox.ok(&["install"]).to_string();
    assert!(output.contains("`.claude/skills/pdf` was edited"), "{output}");
    assert_eq!(pdf(&sandbox), [false, true]);
}

/// A disabled one goes from where it lies, and an unchanged copy of an agent goes too.
#[test]
fn wherever_it_lies() {
    let sandbox = installed();
    sandbox.ok(&["disable", "pdf"]);
    assert!(is_there(&sandbox, ".agents/.skillpm-disabled/pdf"));
    check_out(&sandbox, &without_pdf());
    let output = sandbox.run(&["doctor"]);
    assert!(output.stdout.contains("[no-longer-asked]") && !output.stdout.contains("leftover"), "{output}");
    sandbox.ok(&["install"]);
    assert!(!is_there(&sandbox, ".agents/.skillpm-disabled/pdf"));
    let sandbox = installed();
    sandbox.ok(&["install", "--copy"]);
    check_out(&sandbox, &without_pdf());
    sandbox.ok(&["install"]);
    assert_eq!(pdf(&sandbox), [false, false]);
    // Where version control took the skill away, its link goes.
    let sandbox = installed();
    std::fs::remove_dir_all(sandbox.project().join(".agents/skills/pdf")).expect("removed");
    check_out(&sandbox, &without_pdf());
    sandbox.ok(&["install"]);
    assert_eq!(pdf(&sandbox), [false, false]);
}

/// Of an editable skill our link goes, and nothing else; a link that somebody else made stays.
#[test]
fn only_the_link_to_an_editable_skill_goes() {
    let sandbox = installed();
    let before = texts(&sandbox);
    write_skill(&sandbox, "../brand", "brand");
    for ours in [true, false] {
        sandbox.ok(&["install", "--editable", "../brand"]);
        check_out(&sandbox, &before);
        let link = sandbox.project().join(".agents/skills/brand");
        if !ours {
            std::fs::remove_file(&link).expect("removed");
            std::os::unix::fs::symlink(sandbox.project().join("src/pdf"), &link).expect("linked");
        }
        let output = sandbox.ok(&["install"]).to_string();
        assert_eq!(output.contains("- brand (path:../brand, editable)"), ours, "{output}");
        assert_eq!(is_there(&sandbox, ".agents/skills/brand"), !ours);
        assert_eq!(is_there(&sandbox, ".claude/skills/brand"), !ours);
        assert!(is_there(&sandbox, "../brand/SKILL.md"));
    }
}

/// A record that is damaged, foreign or not to be read is none, and the next restore writes it anew.
#[test]
fn a_record_that_is_of_no_use() {
    let sandbox = installed();
    let [record] = &records(&sandbox)[..] else { panic!("one record") };
    let text = std::fs::read_to_string(record).expect("a record");
    let (heading, lock) = text.split_once('\n').expect("two parts");
    let here = without_pdf();
    for damaged in [
        String::new(),
        "#".to_owned(),
        lock.to_owned(),
        format!("# {{}}\n{lock}"),
        format!("{}\n{lock}", heading.replace("project/.agents", "other/.agents")),
        format!("{heading}\n{}", lock.replace("version = 1", "version = 99")),
        format!("{heading}\n<<<<<<< ours\n{lock}"),
        format!("{heading}\n{}", &lock[..lock.len() / 2]),
        text.replace("sha256:", "sha256:0"),
    ] {
        std::fs::write(record, &damaged).expect("written");
        check_out(&sandbox, &here);
        // Other bytes each time, so that nobody remembers that all was in order.
        sandbox.write("skillpm.toml", format!("{}# {}\n", here[0], damaged.len()));
        sandbox.ok(&["install"]);
        assert_eq!(pdf(&sandbox), [true, true], "{damaged}");
        let now = std::fs::read_to_string(record).expect("a record");
        // What was put there is no longer known.
        assert_eq!(now.split_once('\n').map(|(_, lock)| lock), Some(&*here[1]), "{damaged}");
    }
    for bytes in [b"\xff\xfe".to_vec(), vec![b'#'; 18 << 20]] {
        std::fs::write(record, &bytes).expect("written");
        sandbox.write("skillpm.toml", format!("{}# {} bytes\n", here[0], bytes.len()));
        sandbox.ok(&["install"]);
        assert_eq!(pdf(&sandbox), [true, true]);
    }
    std::fs::remove_file(record).expect("removed");
    std::fs::create_dir(record).expect("a directory");
    sandbox.ok(&["install"]);
    sandbox.ok(&["list"]);
    assert_eq!(pdf(&sandbox), [true, true]);
}

/// A record whose bytes are not those that lie there takes nothing away.
#[test]
fn only_the_very_bytes_go() {
    let sandbox = installed();
    let [record] = &records(&sandbox)[..] else { panic!("one record") };
    let text = std::fs::read_to_string(record).expect("a record");
    let text = text.replace("name = \"pdf\"", "name = \"own\"").replace("\"pdf\":{", "\"own\":{");
    std::fs::write(record, text).expect("written");
    check_out(&sandbox, &without_pdf());
    let output = sandbox.ok(&["install"]).to_string();
    assert!(output.contains("warning: `own` is no longer requested"), "{output}");
    assert!(is_there(&sandbox, ".agents/skills/own/SKILL.md"));
}

/// What lay there before, or was written by somebody else since, is nobody's to take away, though its bytes are those
/// that are locked: a copy of another tool, what version control checks out, and what has a repository in it.
#[test]
fn what_nobody_put_there_stays() {
    type Change = fn(&Sandbox, &str);
    let path = ".agents/skills/pdf/SKILL.md";
    let sandbox = Sandbox::new();
    sandbox.write("skillpm.toml", "# ours\n");
    write_skill(&sandbox, "src/pdf", "pdf");
    write_skill(&sandbox, ".agents/skills/pdf", "pdf");
    std::fs::remove_file(sandbox.project().join("src/pdf/scripts/run.sh")).expect("removed");
    std::fs::remove_dir_all(sandbox.project().join(".agents/skills/pdf/scripts")).expect("removed");
    let before = [sandbox.read("skillpm.toml"), "version = 1\n".to_owned()];
    sandbox.ok(&["install", "./src"]);
    check_out(&sandbox, &before);
    sandbox.ok(&["install"]);
    assert!(is_there(&sandbox, path), "it was taken over");
    let changes: [Change; 2] = [
        |sandbox, path| {
            let text = sandbox.read(path);
            let file = sandbox.project().join(path);
            std::fs::remove_file(&file).expect("removed");
            // Another number, whichever the system gives a new file.
            sandbox.write("other", "");
            std::fs::rename(sandbox.project().join("other"), &file).expect("renamed");
            sandbox.write(path, text);
        },
        |sandbox, _| drop(sandbox.write(".agents/skills/pdf/.git/HEAD", "ref: refs/heads/wip\n")),
    ];
    for change in changes {
        let sandbox = installed();
        change(&sandbox, path);
        check_out(&sandbox, &without_pdf());
        assert!(!sandbox.ok(&["list"]).to_string().contains("no longer asked for"));
        sandbox.ok(&["install"]);
        assert!(is_there(&sandbox, path));
    }
}

/// The directory that a skill came from is its author's, also where an agent looks into it.
#[test]
fn the_source_stays() {
    let sandbox = Sandbox::new();
    sandbox.write("skillpm.toml", "# ours\n");
    let before = [sandbox.read("skillpm.toml"), "version = 1\n".to_owned()];
    write_skill(&sandbox, ".claude/skills/pdf", "pdf");
    write_skill(&sandbox, ".windsurf/skills/pdf", "pdf");
    sandbox.ok(&["install", "./.claude/skills/pdf", "--agent", "codex"]);
    assert!(is_there(&sandbox, ".agents/skills/pdf/SKILL.md"));
    check_out(&sandbox, &before);
    let output = sandbox.ok(&["install"]).to_string();
    assert!(output.contains("- pdf"), "{output}");
    let left = [".agents", ".claude", ".windsurf"]
        .map(|dir| is_there(&sandbox, &format!("{dir}/skills/pdf/SKILL.md")));
    assert_eq!(left, [false, true, true], "what skillpm put there goes");
}

/// Without a manifest nobody says that something is not to be here; once there is one again, it counts.
#[test]
fn without_a_manifest_nothing_goes() {
    let sandbox = installed();
    let here = without_pdf();
    for file in ["skillpm.toml", "skillpm.lock"] {
        std::fs::remove_file(sandbox.project().join(file)).expect("removed");
    }
    assert_eq!(sandbox.run(&["install"]).code, Some(2));
    assert_eq!(pdf(&sandbox), [true, true]);
    sandbox.write("skillpm.lock", &here[1]);
    for _ in 0..2 {
        sandbox.ok(&["install"]);
        assert_eq!(pdf(&sandbox), [true, true]);
    }
    check_out(&sandbox, &here);
    sandbox.ok(&["install"]);
    assert_eq!(pdf(&sandbox), [false, false]);
}

/// Other changes leave it alone and do not forget it.
#[test]
fn other_changes_do_not_forget_it() {
    let sandbox = installed();
    write_skill(&sandbox, "more/xlsx", "xlsx");
    check_out(&sandbox, &without_pdf());
    for change in [
        &["install", "./more/xlsx"][..],
        &["link", "--agent", "junie"],
        &["disable", "docx"],
        &["undo"],
        &["remove", "xlsx"],
        &["undo"],
    ] {
        sandbox.ok(change);
        assert_eq!(pdf(&sandbox), [true, true], "{change:?}");
    }
    let output = sandbox.ok(&["install"]).to_string();
    assert!(output.contains("- pdf (path:./src)"), "{output}");
    assert_eq!(pdf(&sandbox), [false, false]);
}

/// Whoever asks for it again gets it, and what another skill needs stays.
#[test]
fn what_is_needed_again_stays() {
    let sandbox = installed();
    check_out(&sandbox, &without_pdf());
    sandbox.write(
        "src/report/SKILL.md",
        "---\nname: report\ndescription: Makes reports. Use it in tests.\nmetadata:\n  skill-dependencies: pdf\n---\n",
    );
    let manifest = sandbox
        .read("skillpm.toml")
        .replace("[skills]\n", "[skills]\nreport = { path = \"./src\", subdir = \"report\" }\n");
    sandbox.write("skillpm.toml", manifest);
    std::fs::remove_file(sandbox.project().join(".claude/skills/pdf")).expect("removed");
    let output = sandbox.ok(&["install"]).to_string();
    assert!(!output.contains("- pdf"), "{output}");
    assert_eq!(pdf(&sandbox), [true, true]);
    assert!(sandbox.read("skillpm.lock").contains("\"pdf\""));
}

/// In the home directory both scopes have one directory: what the other one has stays.
#[test]
fn two_scopes_in_one_directory() {
    for of_user in [true, false] {
        let sandbox = Sandbox::new();
        write_skill(&sandbox, "../home/src/pdf", "pdf");
        let run = |args: &[&str]| {
            let output = sandbox.output(sandbox.command(args).current_dir(sandbox.home()));
            assert_eq!(output.code, Some(0), "{args:?}: {output}");
        };
        run(&["install", "-p", "./src/pdf"]);
        if of_user {
            run(&["install", "-g", "./src/pdf"]);
        }
        assert_eq!(records(&sandbox).len(), 1 + usize::from(of_user));
        sandbox.write("../home/skillpm.toml", "[skills]\n");
        std::fs::remove_file(sandbox.home().join("skillpm.lock")).expect("removed");
        run(&["install"]);
        assert_eq!(is_there(&sandbox, "../home/.agents/skills/pdf/SKILL.md"), of_user);
    }
}

/// So it does where somebody takes the skill out of one of the two, or out of sight there.
#[test]
fn a_skill_of_two_scopes_stays_for_the_other_one() {
    for (verb, flag, told) in [
        ("remove", "-p", "`pdf` was kept: your own skills have it too"),
        ("remove", "-g", "`pdf` was kept: the project in your home directory has it too"),
        ("disable", "-p", "`pdf` was kept: your own skills have it too"),
    ] {
        let sandbox = Sandbox::new();
        write_skill(&sandbox, "../home/src/pdf", "pdf");
        let run = |args: &[&str]| {
            let output = sandbox.output(sandbox.command(args).current_dir(sandbox.home()));
            assert_eq!(output.code, Some(0), "{args:?}: {output}");
            output.to_string()
        };
        run(&["install", "-g", "./src/pdf", "-a", "claude-code"]);
        run(&["install", "-p", "./src/pdf", "-a", "claude-code"]);
        let output = run(&[verb, flag, "pdf"]);
        assert!(output.contains(told), "{output}");
        for place in ["../home/.agents/skills/pdf/SKILL.md", "../home/.claude/skills/pdf/SKILL.md"] {
            assert!(is_there(&sandbox, place), "{verb} {flag}: {place}");
        }
        if verb == "disable" {
            let listed = run(&["list"]);
            let told =
                "but agents see it: your own skills include it too; `skillpm remove pdf` leaves it to them";
            assert!(listed.contains(told), "{listed}");
        }
        let other = if flag == "-p" { "-g" } else { "-p" };
        assert!(run(&["verify", other]).contains("1 skill"), "{verb} {flag}");
        // The other one takes it away: nobody has it any more.
        if verb == "remove" {
            run(&["remove", other, "pdf"]);
            assert!(!is_there(&sandbox, "../home/.agents/skills/pdf"));
            assert!(!is_there(&sandbox, "../home/.claude/skills/pdf"));
        }
    }
}

/// Without a directory of state, or in a project that was moved, all is as if there were no record.
#[test]
fn without_a_record_nothing_goes() {
    let mut sandbox = Sandbox::new();
    let file = sandbox.write("src/file", "");
    sandbox.env("XDG_STATE_HOME", &file.display().to_string());
    for name in ["pdf", "docx"] {
        write_skill(&sandbox, &format!("src/{name}"), name);
    }
    sandbox.ok(&["install", "./src", "--skill", "*", "--agent", "claude-code"]);
    check_out(&sandbox, &without_pdf());
    sandbox.ok(&["install"]);
    assert_eq!(pdf(&sandbox), [true, true]);
    let sandbox = installed();
    let moved = sandbox.root().join("moved");
    std::fs::rename(sandbox.project(), &moved).expect("moved");
    std::fs::create_dir(sandbox.project()).expect("a directory");
    check_out(&sandbox, &without_pdf());
    for file in ["skillpm.toml", "skillpm.lock"] {
        std::fs::rename(sandbox.project().join(file), moved.join(file)).expect("moved");
    }
    let output = sandbox.output(sandbox.command(&["install"]).current_dir(&moved));
    assert_eq!(output.code, Some(0), "{output}");
    assert!(moved.join(".agents/skills/pdf/SKILL.md").exists());
}

/// The records of scopes that are gone do not pile up, and what holds nothing has none.
#[test]
fn records_go() {
    let sandbox = installed();
    sandbox.ok(&["cache", "prune", "--older-than", "0d"]);
    assert_eq!(records(&sandbox).len(), 1);
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
    sandbox.ok(&["cache", "prune"]);
    assert_eq!(records(&sandbox).len(), 1, "it is new");
    sandbox.ok(&["cache", "prune", "--older-than", "0d"]);
    assert_eq!(records(&sandbox).len(), 0);
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "src/pdf", "pdf");
    sandbox.ok(&["install", "./src/pdf"]);
    sandbox.ok(&["undo"]);
    assert_eq!(records(&sandbox).len(), 0, "there is no lockfile any more");
}

/// One side of a merge was taken, or the lockfile is gone: what skillpm put there and nobody edited is in nobody's way,
/// whatever lies elsewhere.
#[test]
fn what_lost_its_entry_is_still_ours() {
    for cleared in [false, true] {
        let sandbox = installed();
        sandbox.write(
            "src/pdf/SKILL.md",
            "---\nname: pdf\ndescription: Does pdf. Use it in tests.\n---\nsecond\n",
        );
        let lock = sandbox.read("skillpm.lock");
        let start = lock.find("[[skill]]\nname = \"pdf\"").expect("an entry");
        sandbox.write("skillpm.lock", lock[..start].trim_end().to_owned() + "\n");
        if cleared {
            sandbox.ok(&["cache", "clean", "--store"]);
        }
        sandbox.ok(&["install"]);
        sandbox.ok(&["verify"]);
        assert!(sandbox.read(".agents/skills/pdf/SKILL.md").contains("second"));
        // Who goes back to what was there finds it in the store.
        sandbox.write("skillpm.lock", &lock);
        sandbox.ok(&["install", "--frozen", "--offline"]);
        assert!(
            sandbox.read(".agents/skills/pdf/SKILL.md").contains("first"),
            "the store was cleared: {cleared}"
        );
    }
    // What was edited, and what somebody else put there in its place, is in the way.
    let other = "pdf` has other files than what comes, and no lockfile says where they are from";
    for (path, text, expected) in
        [("scripts/run.sh", "mine", "pdf` was edited since it was installed"), ("SKILL.md", "", other)]
    {
        let sandbox = installed();
        let file = sandbox.project().join(".agents/skills/pdf").join(path);
        let text =
            if text.is_empty() { std::fs::read_to_string(&file).expect("reads") } else { text.to_owned() };
        std::fs::remove_file(&file).expect("removes");
        std::fs::write(&file, text).expect("writes");
        sandbox.write("src/pdf/more.md", "more");
        std::fs::remove_file(sandbox.project().join("skillpm.lock")).expect("removes");
        let told = sandbox.run(&["install"]);
        assert_eq!(told.code, Some(1), "{told}");
        assert!(told.stderr.contains(expected), "{told}");
    }
}

/// A tree that came with version control was never in this machine's store, and the copy that an agent got of it is
/// ours all the same.
#[test]
fn a_copy_of_what_was_committed_follows_the_lockfile() {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "src/pdf", "pdf");
    sandbox.ok(&["install", "./src/pdf", "--agent", "claude-code", "--copy"]);
    // As in a clone on another machine, where agents' directories are not committed.
    std::fs::remove_dir_all(sandbox.project().join(".claude")).expect("removes");
    std::fs::remove_dir_all(sandbox.home().join(".local")).expect("removes");
    sandbox.ok(&["install"]);
    // Another update is pulled, with its tree.
    let changed = "---\nname: pdf\ndescription: Does pdf. Use it in tests.\n---\nsecond\n";
    sandbox.write("src/pdf/SKILL.md", changed);
    let other = Sandbox::new();
    write_skill(&other, "src/pdf", "pdf");
    other.write("src/pdf/SKILL.md", changed);
    other.ok(&["install", "./src/pdf", "--agent", "claude-code", "--copy"]);
    check_out(&sandbox, &texts(&other));
    sandbox.write(".agents/skills/pdf/SKILL.md", changed);
    sandbox.ok(&["install", "--locked"]);
    assert_eq!(sandbox.read(".claude/skills/pdf/SKILL.md"), changed);
    sandbox.ok(&["verify"]);
    // An edited copy stays as it is.
    sandbox.write(".claude/skills/pdf/SKILL.md", "mine");
    check_out(&sandbox, &{
        write_skill(&other, "src/pdf", "pdf");
        other.ok(&["update"]);
        texts(&other)
    });
    write_skill(&sandbox, ".agents/skills/pdf", "pdf");
    let output = sandbox.ok(&["install"]);
    assert!(output.stderr.contains("`.claude/skills/pdf` was edited and was left as is"), "{output}");
    assert_eq!(sandbox.read(".claude/skills/pdf/SKILL.md"), "mine");
}

/// Where the tree was committed, its removal comes with version control; the copy that an agent got goes with the next
/// restore, whatever was changed before that.
#[test]
fn copies_of_what_version_control_removed_go() {
    for between in
        [&["link", "--agent", "junie"][..], &["disable", "docx"], &["install", "./src", "-s", "zip"]]
    {
        let sandbox = Sandbox::new();
        for name in ["pdf", "docx", "zip"] {
            write_skill(&sandbox, &format!("src/{name}"), name);
        }
        sandbox.ok(&["install", "./src", "-s", "pdf", "-s", "docx", "--agent", "claude-code", "--copy"]);
        let other = Sandbox::new();
        write_skill(&other, "src/docx", "docx");
        other.ok(&["install", "./src", "-s", "docx", "--agent", "claude-code", "--copy"]);
        std::fs::remove_dir_all(sandbox.project().join(".agents/skills/pdf")).expect("removes");
        check_out(&sandbox, &texts(&other));
        sandbox.ok(between);
        sandbox.ok(&["install"]);
        assert_eq!(pdf(&sandbox), [false, false], "{between:?}");
    }
}

/// Somebody else took a skill from an agent: a restore takes the link or the copy away that this machine made.
#[test]
fn what_somebody_else_unlinked_goes() {
    for copy in [false, true] {
        let make = || {
            let sandbox = Sandbox::new();
            for name in ["pdf", "docx"] {
                write_skill(&sandbox, &format!("src/{name}"), name);
            }
            let args =
                ["install", "./src", "--skill", "*", "--agent", "claude-code", "--agent", "junie", "--copy"];
            sandbox.ok(if copy { &args } else { &args[..8] });
            sandbox
        };
        let (sandbox, other) = (make(), make());
        other.ok(&["unlink", "--agent", "claude-code", "pdf"]);
        check_out(&sandbox, &texts(&other));
        let dry = sandbox.ok(&["install", "--dry-run"]).to_string();
        assert!(dry.contains("pdf") && !dry.contains("docx"), "{dry}");
        assert_eq!(pdf(&sandbox), [true, true]);
        sandbox.ok(&["install", "--locked"]);
        assert_eq!(pdf(&sandbox), [true, false], "copy: {copy}");
        for path in [".claude/skills/docx", ".junie/skills/pdf", ".junie/skills/docx"] {
            assert!(is_there(&sandbox, path), "{path}");
        }
        sandbox.ok(&["doctor"]);
        // What somebody puts there themselves afterwards is theirs.
        write_skill(&sandbox, ".claude/skills/pdf", "pdf");
        sandbox.ok(&["install"]);
        assert_eq!(pdf(&sandbox), [true, true]);
    }
}
