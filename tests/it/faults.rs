//! Faults in the middle of a change, what strangers leave in a project, and file systems that are
//! not one: nothing is lost, nothing outside is touched, and the next run mends.

#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use skillpm_core::ops::disable::{DisableRequest, disable, enable};
use skillpm_core::ops::install::{InstallRequest, install};
use skillpm_core::ops::remove::{RemoveRequest, remove};
use skillpm_format::digest::Digest;
use skillpm_sources::context::Context;
use skillpm_sources::reporter::Reporter;

use crate::support::{Mount, Sandbox};

fn write_skill(sandbox: &Sandbox, name: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n{body}\n");
    sandbox.write(&format!("src/{name}/SKILL.md"), text);
    sandbox.write(&format!("src/{name}/scripts/run.sh"), format!("#!/bin/sh\necho {body}\n"));
}

/// A sandbox with the skill `pdf` installed from `./src`.
fn installed(args: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf", "first");
    sandbox.ok(&[&["install", "./src/pdf"], args].concat());
    sandbox
}

fn digest(sandbox: &Sandbox) -> String {
    let lock = sandbox.read("skillpm.lock");
    let line = lock.lines().find_map(|line| line.strip_prefix("digest = ")).expect("a digest");
    line.trim_matches('"').to_owned()
}

/// Writes a journal as a killed run, or a stranger, would have left it.
fn journal(sandbox: &Sandbox, steps: &str, lockfile: &str) {
    let text = format!(r#"{{"version":1,"steps":[{steps}],"manifest":null,"lockfile":{lockfile}}}"#);
    sandbox.write(".agents/.skillpm-tx/journal.json", text);
}

fn copy_dir(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory");
    for entry in std::fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_dir(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).expect("copied");
        }
    }
}

/// A directory that came after the run was killed, and that no skill could be, is the user's.
#[test]
fn a_journal_never_replaces_what_it_does_not_name() {
    let sandbox = installed(&[]);
    let digest = digest(&sandbox);
    let skill = sandbox.project().join(".agents/skills/pdf");
    copy_dir(&skill, &sandbox.project().join(".agents/.skillpm-tx/tree-0"));
    journal(
        &sandbox,
        &format!(r#"{{"put":{{"place":"canonical","name":"pdf","digest":"{digest}","replaces":null}}}}"#),
        "null",
    );
    std::fs::remove_dir_all(&skill).expect("removed");
    sandbox.write(".agents/skills/pdf/mine", "mine");
    symlink("/etc/hostname", skill.join("link")).expect("a link that no skill may have");
    assert_eq!(sandbox.run(&["install"]).code, Some(1), "it is told as edited");
    assert_eq!(std::fs::read_to_string(skill.join("mine")).expect("still there"), "mine");
}

/// A skill that was removed, and put back by `git checkout` before the next run.
#[test]
fn a_removal_that_was_done_is_not_done_again() {
    let sandbox = installed(&[]);
    let skill = sandbox.project().join(".agents/skills/pdf");
    copy_dir(&skill, &sandbox.project().join(".agents/.skillpm-tx/tree-0"));
    let digest = digest(&sandbox);
    journal(
        &sandbox,
        &format!(r#"{{"remove":{{"place":"canonical","name":"pdf","old":"{digest}"}}}}"#),
        "null",
    );
    sandbox.ok(&["install"]);
    assert!(skill.join("SKILL.md").exists());
    assert!(!sandbox.project().join(".agents/.skillpm-tx").exists());
}

/// Where no rename is possible, in a layer of a container, a directory is removed file by file. A run
/// that is killed in that moment leaves a part of it, and the next one goes on.
#[test]
fn a_part_of_what_was_being_taken_away_is_no_edit() {
    for gone in ["SKILL.md", "scripts/run.sh", "scripts", "."] {
        for removal in [true, false] {
            let sandbox = installed(&[]);
            let (old, skill) = (digest(&sandbox), sandbox.project().join(".agents/skills/pdf"));
            let work = sandbox.project().join(".agents/.skillpm-tx");
            let aside = if removal { "tree-0" } else { ".skillpm-moving-tree-0" };
            copy_dir(&skill, &work.join(aside));
            let step = if removal {
                format!(r#"{{"remove":{{"place":"canonical","name":"pdf","old":"{old}"}}}}"#)
            } else {
                let other = Sandbox::new();
                write_skill(&other, "pdf", "second");
                other.ok(&["install", "./src/pdf"]);
                copy_dir(&other.project().join("src/pdf"), &work.join("tree-0"));
                let new = digest(&other);
                format!(
                    r#"{{"put":{{"place":"canonical","name":"pdf","digest":"{new}","replaces":"{old}"}}}}"#
                )
            };
            journal(&sandbox, &step, "null");
            let torn = skill.join(gone);
            if gone == "." {
                std::fs::remove_dir_all(&skill)
            } else if torn.is_dir() {
                std::fs::remove_dir_all(torn)
            } else {
                std::fs::remove_file(torn)
            }
            .expect("gone");
            let output = sandbox.run(&["install"]);
            let body = if removal { "first\n" } else { "second\n" };
            assert!(
                sandbox.read(".agents/skills/pdf/SKILL.md").ends_with(body),
                "{gone} {removal}: {output}"
            );
            assert!(sandbox.read(".agents/skills/pdf/scripts/run.sh").ends_with(body), "{gone} {removal}");
            assert!(!work.exists());
        }
    }
}

/// A stranger's journal must not bring a file of the user into the project.
#[test]
fn a_journal_copies_no_file_from_outside() {
    let sandbox = installed(&[]);
    let secret = sandbox.home().join("secret");
    std::fs::write(&secret, "SECRET").expect("a file");
    let lock = sandbox.read("skillpm.lock");
    let (old, other) = (Digest::of(lock.as_bytes()), Digest::of(b"SECRET"));
    for new in [other, Digest::of(b"whatever")] {
        journal(&sandbox, "", &format!(r#"{{"old":"{old}","new":"{new}"}}"#));
        symlink(&secret, sandbox.project().join(".agents/.skillpm-tx/skillpm.lock.new")).expect("a link");
        sandbox.ok(&["install"]);
        assert_eq!(sandbox.read("skillpm.lock"), lock);
    }
    journal(&sandbox, "", &format!(r#"{{"old":"{old}","new":"{other}"}}"#));
    sandbox.write(".agents/.skillpm-tx/skillpm.lock.new", "not what the journal says");
    sandbox.ok(&["install"]);
    assert_eq!(sandbox.read("skillpm.lock"), lock);
}

/// What is not a directory in the place of the transaction's is removed, not followed.
#[test]
fn a_link_in_the_place_of_the_transaction_is_not_followed() {
    let sandbox = installed(&[]);
    let outside = sandbox.home().join("outside");
    std::fs::create_dir(&outside).expect("a directory");
    let foreign = r#"{"version":1,"steps":[],"manifest":null,"lockfile":null}"#;
    std::fs::write(outside.join("journal.json"), foreign).expect("a file");
    let place = sandbox.project().join(".agents/.skillpm-tx");
    symlink(&outside, &place).expect("a link");
    sandbox.ok(&["install"]);
    assert!(outside.join("journal.json").exists(), "what is outside stays");
    std::fs::write(&place, "a file").expect("a file");
    sandbox.ok(&["install"]);
    sandbox.write(".agents/.skillpm-tx/x", "");
    symlink(outside.join("journal.json"), place.join("journal.json")).expect("a link");
    sandbox.ok(&["install"]);
    assert!(outside.join("journal.json").exists() && !place.exists());
}

/// Journals that cannot be read say where they are and how to go on; they are not guessed at.
#[test]
fn a_journal_that_cannot_be_read() {
    let deep = "[".repeat(100_000);
    let bad = [
        "",
        "{",
        "null",
        r#"{"version":2,"steps":[],"manifest":null,"lockfile":null}"#,
        &deep,
        r#"{"version":1,"steps":[{"unlink":{"place":"canonical","name":"../../x"}}],"manifest":null,"lockfile":null}"#,
        r#"{"version":1,"steps":[],"manifest":null,"lockfile":null,"more":1}"#,
    ];
    for text in bad {
        let sandbox = installed(&[]);
        sandbox.write(".agents/.skillpm-tx/journal.json", text);
        let before = sandbox.tree(&sandbox.project());
        for args in [&["install"][..], &["remove", "pdf"]] {
            let output = sandbox.run(args);
            assert_eq!(output.code, Some(3), "{output}");
            assert!(output.stderr.contains("journal.json` cannot be read"), "{output}");
            assert!(
                output.stderr.contains("hint: a run of skillpm was interrupted there; delete"),
                "{output}"
            );
        }
        assert_eq!(sandbox.tree(&sandbox.project()), before);
    }
    let sandbox = installed(&[]);
    journal(&sandbox, r#"{"link":{"agent":"no-such-agent","name":"pdf"}}"#, "null");
    sandbox.fails(&["install"], 3, "configuration", &["no-such-agent"]);
}

/// What lies in the sandbox's project, with the content of the files.
fn everything(sandbox: &Sandbox) -> Vec<String> {
    let content = |line: &String| {
        let path = line.split_once(' ').map(|(_, path)| sandbox.project().join(path));
        path.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default()
    };
    sandbox.tree(&sandbox.project()).iter().map(|line| format!("{line} {}", content(line))).collect()
}

/// A step that fails after others were done: all of them are taken back, the last first.
#[test]
fn what_was_done_is_taken_back_when_a_step_fails() {
    let sandbox = installed(&["--agent", "claude-code"]);
    write_skill(&sandbox, "docx", "first");
    write_skill(&sandbox, "pdf", "second");
    // Junie comes after Claude Code: by then two skills are updated, added and linked.
    sandbox.write(".junie/skills", "a file");
    symlink("/somewhere", sandbox.project().join(".claude/skills/docx")).expect("a link of the user's");
    let before = everything(&sandbox);
    sandbox.fails(
        &["install", "./src", "-s", "docx", "-s", "pdf", "-a", "claude-code", "-a", "junie", "--force"],
        6,
        "storage",
        &[".junie/skills"],
    );
    assert_eq!(everything(&sandbox), before);
}

/// The same for who sees what: the last step fails, and what was moved and linked is as it was.
#[test]
fn what_was_moved_and_linked_is_taken_back_when_a_step_fails() {
    for args in [
        &["link", "-a", "windsurf", "-a", "junie"][..],
        &["enable", "docx", "--force"],
        &["install", "-e", "./src/pdf", "-a", "junie", "--force"],
        &["install", "-e", "./src/new", "-a", "junie"],
    ] {
        let sandbox = installed(&["--agent", "claude-code"]);
        for name in ["docx", "new"] {
            write_skill(&sandbox, name, "first");
        }
        sandbox.ok(&["install", "./src/docx", "--agent", "junie"]);
        sandbox.ok(&["disable", "docx"]);
        sandbox.write(".agents/.skillpm-disabled/docx/SKILL.md", "mine");
        sandbox.write(".agents/skills/pdf/SKILL.md", "mine");
        sandbox.write(".junie/skills", "a file");
        let before = everything(&sandbox);
        let output = sandbox.run(args);
        assert_eq!(output.code, Some(6), "{args:?}: {output}");
        assert_eq!(everything(&sandbox), before, "{args:?}");
    }
}

/// The last thing that is written cannot be: the manifest's directory is a file.
#[test]
fn what_was_done_is_taken_back_when_the_files_cannot_be_written() {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf", "first");
    std::fs::create_dir(sandbox.home().join(".config")).expect("a directory");
    std::fs::write(sandbox.home().join(".config/skillpm"), "a file").expect("a file");
    let output = sandbox.run(&["install", "./src/pdf", "-g", "-a", "claude-code"]);
    assert_eq!(output.code, Some(6), "{output}");
    let left = sandbox.tree(&sandbox.home());
    assert!(left.iter().all(|line| !line.contains(".agents") && !line.contains(".claude")), "{left:?}");
}

/// Does something when a step is announced: what another program does in that moment.
struct Meanwhile<F>(&'static str, F);

impl<F: Fn() + Send + Sync> Reporter for Meanwhile<F> {
    fn step(&self, step: &str) {
        if step == self.0 {
            (self.1)();
        }
    }
}

fn meanwhile(sandbox: &Sandbox, step: &'static str, deed: impl Fn() + Send + Sync + 'static) -> Context {
    Context { reporter: Arc::new(Meanwhile(step, deed)), ..Context::silent(sandbox.settings()) }
}

/// An editor that saves while skillpm is at work: its text is not lost.
#[test]
fn an_edit_in_the_last_moment_is_not_lost() {
    for step in ["journal", "put pdf"] {
        let sandbox = installed(&[]);
        write_skill(&sandbox, "pdf", "second");
        let file = sandbox.project().join(".agents/skills/pdf/SKILL.md");
        let edited = file.clone();
        let context = meanwhile(&sandbox, step, move || std::fs::write(&edited, "mine").expect("edits"));
        let lock = sandbox.read("skillpm.lock");
        let request = InstallRequest { sources: vec!["./src/pdf".to_owned()], ..InstallRequest::default() };
        let error = install(&context, &request).expect_err("it was edited");
        assert!(error.to_string().ends_with("was changed while skillpm was running"), "{error}");
        assert_eq!(std::fs::read_to_string(&file).expect("there"), "mine");
        assert_eq!(sandbox.read("skillpm.lock"), lock);
    }
    let sandbox = installed(&[]);
    let file = sandbox.project().join(".agents/skills/pdf/SKILL.md");
    let edited = file.clone();
    let context = meanwhile(&sandbox, "remove pdf", move || std::fs::write(&edited, "mine").expect("edits"));
    let request = RemoveRequest { names: vec!["pdf".to_owned()], ..RemoveRequest::default() };
    remove(&context, &request).expect_err("it was edited");
    assert_eq!(std::fs::read_to_string(&file).expect("there"), "mine");
    assert!(sandbox.read("skillpm.lock").contains("pdf"));
}

/// A skill that is edited in the moment in which it moves is edited in its new place; what appears
/// there in that moment is not replaced.
#[test]
fn what_happens_while_a_skill_moves() {
    let sandbox = installed(&["-a", "claude-code"]);
    let (there, aside) = (".agents/skills/pdf", ".agents/.skillpm-disabled/pdf");
    let request = DisableRequest { names: vec!["pdf".to_owned()], ..DisableRequest::default() };
    let file = sandbox.project().join(there).join("SKILL.md");
    let context = meanwhile(&sandbox, "disable pdf", move || std::fs::write(&file, "mine").expect("edits"));
    disable(&context, &request).expect("moves");
    assert_eq!(sandbox.read(&format!("{aside}/SKILL.md")), "mine");
    let before = everything(&sandbox);
    let made = sandbox.project().join(there);
    let context =
        meanwhile(&sandbox, "enable pdf", move || std::fs::create_dir_all(&made).expect("a directory"));
    enable(&context, &request).expect_err("something is there");
    std::fs::remove_dir(sandbox.project().join(there)).expect("empty");
    std::fs::remove_dir(sandbox.project().join(".agents/skills")).expect("empty");
    assert_eq!(everything(&sandbox), before);
    sandbox.ok(&["enable", "pdf"]);
    assert_eq!(sandbox.read(&format!("{there}/SKILL.md")), "mine");
}

/// Journals with steps that move and link: what they do not name exactly stays, and a link leads
/// nowhere but to the directory that the manifest names.
#[test]
fn journals_of_strangers_that_move_and_link() {
    let other = Digest::of(b"other");
    for step in ["disable", "enable"] {
        for digest in [format!("\"{other}\""), "null".to_owned()] {
            let sandbox = installed(&["-a", "claude-code"]);
            if step == "enable" {
                sandbox.ok(&["disable", "pdf"]);
            }
            let before = everything(&sandbox);
            journal(&sandbox, &format!(r#"{{"{step}":{{"name":"pdf","digest":{digest}}}}}"#), "null");
            sandbox.ok(&["install"]);
            assert_eq!(everything(&sandbox), before, "{step} {digest}");
        }
    }
    let sandbox = installed(&["-a", "claude-code"]);
    let before = everything(&sandbox);
    for name in ["pdf", "new"] {
        journal(&sandbox, &format!(r#"{{"edit":{{"name":"{name}"}}}}"#), "null");
        sandbox.ok(&["install"]);
        assert_eq!(everything(&sandbox), before, "{name}");
    }
    let digest = digest(&sandbox);
    symlink("../../home", sandbox.project().join(".agents/.skillpm-disabled")).expect("a link");
    journal(&sandbox, &format!(r#"{{"disable":{{"name":"pdf","digest":"{digest}"}}}}"#), "null");
    let output = sandbox.run(&["install"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert!(!sandbox.home().join("pdf").exists());
}

/// Where no rename is possible, the skill is copied and what it was is removed file by file: a run that
/// is killed in that moment leaves the whole in the new place and a part in the old one.
#[test]
fn a_part_of_what_was_moving_is_no_edit() {
    for gone in ["SKILL.md", "scripts"] {
        let sandbox = installed(&["-a", "claude-code"]);
        let skill = sandbox.project().join(".agents/skills/pdf");
        copy_dir(&skill, &sandbox.project().join(".agents/.skillpm-disabled/pdf"));
        let torn = skill.join(gone);
        if torn.is_dir() { std::fs::remove_dir_all(torn) } else { std::fs::remove_file(torn) }.expect("gone");
        let digest = digest(&sandbox);
        journal(&sandbox, &format!(r#"{{"disable":{{"name":"pdf","digest":"{digest}"}}}}"#), "null");
        let text = sandbox.read("skillpm.toml").replace("/pdf\" }", "/pdf\", disabled = true }");
        sandbox.write("skillpm.toml", text);
        sandbox.ok(&["install"]);
        assert!(!skill.exists(), "{gone}");
        assert!(sandbox.project().join(".agents/.skillpm-disabled/pdf/SKILL.md").exists());
    }
}

/// A directory that appears while skillpm is at work is not replaced either.
#[test]
fn a_directory_that_appears_in_the_last_moment_stays() {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf", "first");
    let dir = sandbox.project().join(".agents/skills/pdf");
    let made = dir.clone();
    let context = meanwhile(&sandbox, "put pdf", move || {
        std::fs::create_dir_all(&made).expect("a directory");
        std::fs::write(made.join("mine"), "mine").expect("a file");
    });
    let request = InstallRequest { sources: vec!["./src/pdf".to_owned()], ..InstallRequest::default() };
    install(&context, &request).expect_err("something is there");
    assert_eq!(std::fs::read_to_string(dir.join("mine")).expect("there"), "mine");
    assert!(!sandbox.project().join("skillpm.lock").exists());
}

/// Agents' directories, or that of the skills, on a file system of their own.
#[test]
fn directories_on_another_file_system() {
    for elsewhere in [".claude/skills", ".agents/skills"] {
        let sandbox = Sandbox::new();
        let dir = sandbox.project().join(elsewhere);
        std::fs::create_dir_all(&dir).expect("a directory");
        let Some(_disk) = Mount::tmpfs(&dir, "size=1m") else { return };
        for (body, args) in [
            ("first", &["--agent", "claude-code"][..]),
            ("second", &[]),
            ("second", &["--copy"]),
            ("third", &["--copy"]),
        ] {
            write_skill(&sandbox, "pdf", body);
            sandbox.ok(&[&["install", "./src/pdf"], args].concat());
            for dir in [".agents/skills", ".claude/skills"] {
                assert!(
                    sandbox.read(&format!("{dir}/pdf/SKILL.md")).ends_with(&format!("{body}\n")),
                    "{dir}"
                );
                let names: Vec<_> = std::fs::read_dir(sandbox.project().join(dir)).expect("there").collect();
                assert_eq!(names.len(), 1, "nothing is left beside: {names:?}");
            }
        }
        // Out of sight and back, edits included.
        sandbox.write(".agents/skills/pdf/SKILL.md", "mine");
        sandbox.ok(&["install", "--force"]);
        sandbox.write(".agents/skills/pdf/extra", "mine");
        sandbox.ok(&["disable", "pdf"]);
        assert!(!sandbox.project().join(".agents/skills/pdf").exists());
        assert_eq!(sandbox.read(".agents/.skillpm-disabled/pdf/extra"), "mine");
        sandbox.ok(&["enable", "pdf"]);
        assert_eq!(sandbox.read(".agents/skills/pdf/extra"), "mine");
        std::fs::remove_file(sandbox.project().join(".agents/skills/pdf/extra")).expect("removed");
        // What fails later is taken back across the border too.
        write_skill(&sandbox, "pdf", "fourth");
        sandbox.write(".junie/skills", "a file");
        let before = everything(&sandbox);
        assert_eq!(sandbox.run(&["install", "./src/pdf", "-a", "junie"]).code, Some(6));
        assert_eq!(everything(&sandbox), before);
        sandbox.ok(&["remove", "pdf"]);
        assert_eq!(std::fs::read_dir(&dir).expect("there").count(), 0);
    }
}

/// Links that a stranger committed: a dry run refuses what the real run refuses, and the manifest and
/// lockfile of a project are not written through a link that leads out of it.
#[test]
fn links_out_of_the_project_are_refused_by_a_dry_run_too() {
    for (link, target) in [
        (".claude/skills", "../../home"),
        (".claude/skills", "missing"),
        ("skillpm.toml", "../home/empty"),
        ("skillpm.lock", "../home/missing"),
        (".agents", ".agents"),
    ] {
        let sandbox = Sandbox::new();
        write_skill(&sandbox, "pdf", "first");
        let outside = sandbox.home().join("empty");
        std::fs::write(&outside, "").expect("a file");
        std::fs::create_dir_all(sandbox.project().join(link).parent().expect("a parent")).expect("made");
        symlink(target, sandbox.project().join(link)).expect("a link");
        let before = everything(&sandbox);
        for args in [&["--dry-run"][..], &[]] {
            let output = sandbox.run(&[&["install", "./src/pdf", "-a", "claude-code"], args].concat());
            assert_eq!(output.code, Some(5), "{link} {args:?}: {output}");
            assert!(output.stderr.contains(&format!("`{link}` is a link")), "{output}");
            assert!(output.stderr.contains("hint: remove the link"), "{output}");
            assert_eq!(everything(&sandbox), before);
        }
        assert_eq!(std::fs::read_to_string(&outside).expect("there"), "");
    }
}
