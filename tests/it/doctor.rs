//! `doctor`: everything that can be wrong is seen, and what is repaired costs nobody a byte.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use skillpm_sources::fs::DirLock;

use crate::support::sandbox::Output;
use crate::support::{GitRepo, Mount, Sandbox};

fn write_skill(sandbox: &Sandbox, path: &str) {
    let name = path.rsplit('/').next().expect("a name");
    sandbox.write(
        &format!("{path}/SKILL.md"),
        format!("---\nname: {name}\ndescription: Does {name}. Use it.\n---\n"),
    );
    sandbox.write(&format!("{path}/notes.md"), format!("what {name} is about\n"));
}

/// A project with two skills, linked for Claude Code.
fn machine() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.home().join(".claude")).expect("a directory");
    write_skill(&sandbox, "src/pdf");
    write_skill(&sandbox, "src/docx");
    assert_eq!(sandbox.run(&["install", "./src", "--skill", "*"]).code, Some(0));
    assert_eq!(sandbox.run(&["doctor"]).to_string(), "exit: 0\n--- stderr\nnothing is wrong\n");
    sandbox
}

/// The ids of what is wrong, notes left out unless they are wanted, and the exit code.
fn ids(output: &Output, notes: bool) -> BTreeSet<String> {
    let value: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    let findings = value["findings"].as_array().expect("a list");
    findings
        .iter()
        .filter(|finding| notes || finding["severity"] != "note")
        .map(|finding| finding["id"].as_str().expect("a text").to_owned())
        .collect()
}

/// The content of every file on the machine, but for what is noted of the last change and of what was placed: the next
/// change takes its place.
fn contents(sandbox: &Sandbox) -> BTreeSet<Vec<u8>> {
    let mut contents = BTreeSet::new();
    let mut open = vec![sandbox.home(), sandbox.project()];
    while let Some(path) = open.pop() {
        let kind = std::fs::symlink_metadata(&path).expect("looks").file_type();
        let notes = [".agents/.skillpm-undo", ".local/state/skillpm/undo", ".local/state/skillpm/placed"];
        if notes.iter().any(|note| path.ends_with(note)) {
            continue;
        }
        if kind.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a directory");
            let entries = entries.map(|entry| entry.expect("an entry").path());
            // What is remembered of trees is none of a user's.
            open.extend(entries.filter(|path| !path.ends_with("skillpm/index-v1")));
        } else if kind.is_file() {
            contents.insert(std::fs::read(&path).expect("reads"));
        }
    }
    contents
}

fn everything(sandbox: &Sandbox) -> (Vec<String>, BTreeSet<Vec<u8>>) {
    let mut tree = sandbox.tree(&sandbox.home());
    tree.extend(sandbox.tree(&sandbox.project()));
    (tree, contents(sandbox))
}

/// Damages a machine and looks at what is found, at what `--fix` would do, and at what it does: where it is
/// `mended`, the project is as it was. In no case is a byte of any file lost.
fn case(id: &str, mended: bool, damage: impl Fn(&Sandbox)) -> String {
    case_on(&machine(), id, mended, damage)
}

fn case_on(sandbox: &Sandbox, id: &str, mended: bool, damage: impl Fn(&Sandbox)) -> String {
    let healthy = sandbox.tree(&sandbox.project());
    damage(sandbox);
    let before = everything(sandbox);
    let seen = sandbox.run(&["doctor", "--json"]);
    assert_eq!((ids(&seen, false), seen.code), ([id.to_owned()].into(), Some(1)), "{id}: {seen}");
    let dry = sandbox.run(&["doctor", "--fix", "--dry-run"]);
    assert_eq!(dry.code, Some(1), "{id}: {dry}");
    assert_eq!(dry.stdout.contains("would be repaired: "), mended, "{id}: {dry}");
    assert_eq!(everything(sandbox), before, "{id}: looking changes nothing");
    let shown = sandbox.run(&["doctor"]);
    let fixed = sandbox.run(&["doctor", "--fix"]);
    let lost: Vec<_> = before
        .1
        .difference(&contents(sandbox))
        .map(|text| String::from_utf8_lossy(text).into_owned())
        .collect();
    assert!(lost.is_empty(), "{id}: lost {lost:?}");
    if mended {
        assert_eq!(fixed.code, Some(0), "{id}: {fixed}");
        assert_eq!(sandbox.tree(&sandbox.project()), healthy, "{id}");
        assert_eq!(sandbox.run(&["doctor"]).code, Some(0), "{id}");
    } else {
        assert_eq!(fixed.code, Some(1), "{id}: {fixed}");
        assert_eq!(everything(sandbox).0, before.0, "{id}: it is left as it is");
    }
    shown.stdout
}

fn link(sandbox: &Sandbox, target: &str, path: &str) {
    let path = sandbox.project().join(path);
    if path.is_symlink() {
        std::fs::remove_file(&path).expect("removes");
    }
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
    symlink(target, path).expect("links");
}

fn remove(sandbox: &Sandbox, path: &str) {
    let path = sandbox.project().join(path);
    if path.is_dir() && !path.is_symlink() {
        std::fs::remove_dir_all(path).expect("removes");
    } else {
        std::fs::remove_file(path).expect("removes");
    }
}

const LINK: &str = ".claude/skills/pdf";
const COPY: &str = ".agents/skills/pdf";

#[test]
fn links() {
    insta::assert_snapshot!(case("link-missing", true, |sandbox| remove(sandbox, LINK)), @"
    error: Claude Code does not see `pdf`: `[DIR]/project/.claude/skills/pdf` does not exist [link-missing]
      `--fix` can make the link
    ");
    // The whole directory of the agent.
    case("link-missing", true, |sandbox| remove(sandbox, ".claude"));
    // Other tools' layouts that are gone.
    insta::assert_snapshot!(case("link-broken", false, |sandbox| link(sandbox, "../../.skill-hub/pdf", LINK)), @"
    warning: `[DIR]/project/.claude/skills/pdf` leads to `../../.skill-hub/pdf`, which does not exist [link-broken]
      create its target, or remove the link: `rm [DIR]/project/.claude/skills/pdf`
    ");
    case("link-broken", false, |sandbox| link(sandbox, "pdf", LINK));
    // Skillpm did not make it.
    case("link-broken", false, |sandbox| {
        link(sandbox, "../../.agents/skills/gone", ".claude/skills/gone");
    });
    insta::assert_snapshot!(
        case("link-broken", false, |sandbox| link(sandbox, "../../.skill-hub/other", ".claude/skills/other")), @"
    warning: `[DIR]/project/.claude/skills/other` leads to `../../.skill-hub/other`, which does not exist [link-broken]
      create its target, or remove the link: `rm [DIR]/project/.claude/skills/other`
    ");
    case("link-broken", false, |sandbox| link(sandbox, "../../hub/x", ".agents/skills/x"));
    // The directory of an agent that is not here is nobody's business.
    let sandbox = machine();
    link(&sandbox, "../../hub/x", ".cursor/skills/x");
    sandbox.ok(&["doctor"]);
    insta::assert_snapshot!(case("link-wrong", false, |sandbox| link(sandbox, "../../.agents/skills/docx", LINK)), @"
    warning: `[DIR]/project/.claude/skills/pdf` leads to `../../.agents/skills/docx`, not to the installed skill `pdf` [link-wrong]
      if that is unintended, remove it with `rm [DIR]/project/.claude/skills/pdf`, then run `skillpm doctor --fix`
    ");
    case("link-wrong", false, |sandbox| link(sandbox, "../../src/pdf", LINK));
    let absolute = |sandbox: &Sandbox| {
        let target = std::fs::canonicalize(sandbox.project().join(COPY)).expect("is there");
        link(sandbox, &target.display().to_string(), LINK);
    };
    insta::assert_snapshot!(case("link-absolute", true, absolute), @"
    warning: `[DIR]/project/.claude/skills/pdf` leads to `[DIR]/project/.agents/skills/pdf`: it breaks when the project is moved or cloned [link-absolute]
      `--fix` can put a link to the installed skill in its place
    ");
}

/// Copies of other tools, such as `gh skill`, in an agent's own directory.
#[test]
fn stray_copies() {
    let equal = |sandbox: &Sandbox| {
        remove(sandbox, LINK);
        write_skill(sandbox, LINK);
    };
    insta::assert_snapshot!(case("stray-copy", false, equal), @"
    warning: `[DIR]/project/.claude/skills/pdf` is a copy of `pdf` that no update will reach [stray-copy]
      skillpm did not make it; `skillpm link --agent claude-code --force pdf` moves it into the store and puts a link in its place
    ");
    let sandbox = machine();
    equal(&sandbox);
    sandbox.ok(&["link", "--agent", "claude-code", "--force", "pdf"]);
    assert!(sandbox.project().join(LINK).is_symlink());
    sandbox.ok(&["doctor"]);
    // Under version control it is its author's.
    let sandbox = machine();
    equal(&sandbox);
    let repository = GitRepo::new(&sandbox.project());
    repository.git(&["add", ".claude"]);
    sandbox.ok(&["doctor"]);
    // A copy that skillpm made, for an agent that should have a link from now on.
    case("stray-copy", true, |sandbox| {
        sandbox.ok(&["install", "--copy"]);
        let text = sandbox.read("skillpm.toml").replace("copy = true", "copy = false");
        sandbox.write("skillpm.toml", text);
    });
    let edited = |sandbox: &Sandbox| {
        equal(sandbox);
        sandbox.write(".claude/skills/pdf/notes.md", "what I wrote");
    };
    insta::assert_snapshot!(case("stray-copy-differs", false, edited), @"
    warning: `[DIR]/project/.claude/skills/pdf` is a copy of `pdf` that differs from the installed one [stray-copy-differs]
      compare it with `[DIR]/project/.agents/skills/pdf`, keep what you need of it, and move it away, then run `skillpm doctor --fix`
    ");
    // In a directory in which skillpm makes no links.
    let sandbox = machine();
    write_skill(&sandbox, ".cursor/skills/pdf");
    sandbox.ok(&["doctor"]);
    // The copy is what is locked, and the installed skill was edited: both stay.
    case("stray-copy", false, |sandbox| {
        equal(sandbox);
        sandbox.write(".agents/skills/pdf/notes.md", "what I wrote");
    });
}

/// Where agents get copies, a missing one is made, and one that differs is told.
#[test]
fn copies_that_are_wanted() {
    let copied = |sandbox: &Sandbox| {
        assert_eq!(sandbox.run(&["install", "--copy"]).code, Some(0));
    };
    let sandbox = machine();
    copied(&sandbox);
    assert_eq!(sandbox.run(&["doctor"]).code, Some(0));
    let healthy = sandbox.tree(&sandbox.project());
    remove(&sandbox, LINK);
    assert_eq!(ids(&sandbox.run(&["doctor", "--json"]), false), ["copy-missing".to_owned()].into());
    assert_eq!(sandbox.run(&["doctor", "--fix"]).code, Some(0));
    assert_eq!(sandbox.tree(&sandbox.project()), healthy);
    sandbox.write(".claude/skills/pdf/notes.md", "what I wrote");
    case("stray-copy-differs", false, |sandbox| {
        copied(sandbox);
        sandbox.write(".claude/skills/pdf/notes.md", "what I wrote");
    });
}

#[test]
fn skills() {
    insta::assert_snapshot!(case("skill-missing", true, |sandbox| remove(sandbox, COPY)), @"
    error: `pdf` is locked, but `[DIR]/project/.agents/skills/pdf` is missing [skill-missing]
      `--fix` can restore it from the store
    ");
    insta::assert_snapshot!(case("skill-missing", false, |sandbox| {
        remove(sandbox, COPY);
        std::fs::remove_dir_all(sandbox.home().join(".local")).expect("the store goes too");
    }), @"
    error: `pdf` is locked, but `[DIR]/project/.agents/skills/pdf` is missing [skill-missing]
      `skillpm install` restores it
    ");
    case("skill-no-directory", false, |sandbox| {
        remove(sandbox, COPY);
        sandbox.write(COPY, "a file");
    });
    // What a user edited is worth a note, and left as it is.
    let sandbox = machine();
    sandbox.write(".agents/skills/pdf/notes.md", "what I wrote");
    insta::assert_snapshot!(sandbox.run(&["doctor", "--fix"]), @"
    exit: 0
    --- stderr
    nothing is wrong; 1 note (shown with `--verbose`)
    ");
    insta::assert_snapshot!(sandbox.run(&["doctor", "--verbose"]), @"
    exit: 0
    --- stdout
    note: `[DIR]/project/.agents/skills/pdf` is not what is locked: it was edited [skill-edited]
    --- stderr
    nothing is wrong
    ");
    assert_eq!(sandbox.read(".agents/skills/pdf/notes.md"), "what I wrote");
}

#[test]
fn manifest_and_lockfile() {
    let text = |sandbox: &Sandbox, path: &str| sandbox.read(path);
    insta::assert_snapshot!(case("not-locked", false, |sandbox| {
        let manifest = text(sandbox, "skillpm.toml").replace("[skills]\n", "[skills]\nnew = { path = \"./src/new\" }\n");
        sandbox.write("skillpm.toml", manifest);
    }), @"
    warning: `new` is in `[DIR]/project/skillpm.toml` and not locked [not-locked]
      `skillpm install` locks and installs it
    ");
    insta::assert_snapshot!(case("not-in-manifest", false, |sandbox| {
        let manifest = text(sandbox, "skillpm.toml");
        let kept: Vec<_> = manifest.lines().filter(|line| !line.starts_with("pdf")).collect();
        sandbox.write("skillpm.toml", kept.join("\n") + "\n");
    }), @"
    warning: `pdf` is in `[DIR]/project/skillpm.lock` and not in `[DIR]/project/skillpm.toml` [not-in-manifest]
      `skillpm install` removes it; `skillpm remove pdf` removes only this one
    ");
    insta::assert_snapshot!(case("need-not-locked", false, |sandbox| {
        let lock = text(sandbox, "skillpm.lock");
        let at = lock.find("name = \"pdf\"").expect("locked");
        let (before, entry) = lock.split_at(at + lock[at..].find("digest").expect("a digest"));
        let (digest, rest) = entry.split_once('\n').expect("a line");
        sandbox.write("skillpm.lock", format!("{before}{digest}\ndependencies = [\"fonts\"]\n{rest}"));
    }), @"
    warning: `pdf` needs `fonts`, which is not in `[DIR]/project/skillpm.lock` [need-not-locked]
      `skillpm install` installs it
    ");
    insta::assert_snapshot!(case("no-longer-asked", false, |sandbox| {
        for (file, before) in [("skillpm.toml", "\n"), ("skillpm.lock", "\n\n")] {
            let text = text(sandbox, file);
            let kept: Vec<_> = text.split(before).filter(|part| !part.contains("pdf")).collect();
            sandbox.write(file, kept.join(before) + "\n");
        }
    }), @"
    warning: `pdf` was installed here but is no longer requested [no-longer-asked]
      `skillpm install` removes it
    ");
    insta::assert_snapshot!(case("locked-otherwise", false, |sandbox| {
        let manifest = text(sandbox, "skillpm.toml").replace("\"pdf\"", "\"docx\"");
        sandbox.write("skillpm.toml", manifest);
    }), @"
    warning: `pdf` is locked as something other than what `[DIR]/project/skillpm.toml` asks for [locked-otherwise]
      `skillpm install` locks it again
    ");
    insta::assert_snapshot!(case("agent-unknown", false, |sandbox| {
        let manifest = text(sandbox, "skillpm.toml").replace("\"claude-code\"", "\"claude-code\", \"cluade\"");
        sandbox.write("skillpm.toml", manifest);
    }), @"
    error: [DIR]/project/skillpm.toml: there is no agent `cluade` [agent-unknown]
      did you mean `claude-code`?
    ");
    insta::assert_snapshot!(case("manifest-unreadable", false, |sandbox| {
        drop(sandbox.write("skillpm.toml", "[skils]\n"));
    }), @"
    error: [DIR]/project/skillpm.toml:1:2: the key `skils` is not known here [manifest-unreadable]
      did you mean `skills`?
    ");
    insta::assert_snapshot!(case("manifest-unreadable", false, |sandbox| {
        std::fs::remove_file(sandbox.project().join("skillpm.toml")).expect("removed");
        symlink("nowhere.toml", sandbox.project().join("skillpm.toml")).expect("links");
    }), @"
    error: `[DIR]/project/skillpm.toml` is a link to `nowhere.toml`, which does not exist [manifest-unreadable]
      remove the link, or create its target
    ");
    insta::assert_snapshot!(case("policy-unreadable", false, |sandbox| {
        let manifest = text(sandbox, "skillpm.toml");
        sandbox.write("skillpm.toml", format!("{manifest}\n[policy]\nrequire-pin = \"x\"\n"));
    }), @"
    error: [DIR]/project/skillpm.toml:9:15: `x` is not a kind of pin: expected `tag` or `commit` [policy-unreadable]
      correct the file
    ");
    // One file for both scopes is told once, with its own path.
    let mut sandbox = machine();
    sandbox.ok(&["install", "./src/pdf", "-g"]);
    sandbox.env("SKILLPM_POLICY", "/nope/policy.toml");
    insta::assert_snapshot!(sandbox.run(&["doctor"]), @"
    exit: 1
    --- stdout
    error: `SKILLPM_POLICY` names `/nope/policy.toml`, which does not exist [policy-unreadable]
      put the file there, or unset the variable
    --- stderr
    1 error, 0 warnings
    ");
    let found: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["doctor", "--json"]).stdout).expect("JSON");
    let paths: Vec<_> =
        found["findings"].as_array().expect("a list").iter().map(|one| &one["path"]).collect();
    assert_eq!(paths, ["/nope/policy.toml"]);
    // lk01: it is never taken for an empty one, and the rest is looked at all the same.
    insta::assert_snapshot!(case("lock-conflict", false, |sandbox| {
        let lock = text(sandbox, "skillpm.lock");
        sandbox.write("skillpm.lock", format!("<<<<<<< ours\n{lock}=======\n>>>>>>> theirs\n"));
    }), @"
    error: [DIR]/project/skillpm.lock:1:1: there are merge-conflict markers [lock-conflict]
      run `skillpm install`: it repairs it, or says what to do first
    ");
    insta::assert_snapshot!(case("lock-newer", false, |sandbox| {
        drop(sandbox.write("skillpm.lock", "version = 9\nnews = true\n"));
    }), @"
    error: [DIR]/project/skillpm.lock: it has version 9, this skillpm reads version 1 [lock-newer]
      update skillpm, or delete the file and run `skillpm install`
    ");
    insta::assert_snapshot!(case("lock-unreadable", false, |sandbox| {
        drop(sandbox.write("skillpm.lock", "version = 1\n[[skill]]\nname = \"../../canary\"\nsource = \"path:x\"\ndigest = \"\"\n"));
    }), @"
    error: [DIR]/project/skillpm.lock: skill `../../canary`: the name `../../canary` contains `.`; only letters, digits and hyphens are allowed [lock-unreadable]
      restore the file from version control, or delete it and run `skillpm install`
    ");
}

#[test]
fn directories() {
    insta::assert_snapshot!(case("directory-outside", false, |sandbox| {
        remove(sandbox, ".claude");
        std::fs::create_dir(sandbox.project().join(".claude")).expect("creates");
        link(sandbox, "../../home", ".claude/skills");
    }), @"
    error: `[DIR]/project/.claude/skills` is a link that leads out of the project, to `[DIR]/home` [directory-outside]
      remove the link, or install for the user with `--scope user`
    ");
    insta::assert_snapshot!(case("directory-unreadable", false, |sandbox| {
        remove(sandbox, ".claude/skills");
        drop(sandbox.write(".claude/skills", "a file"));
    }), @"
    error: failed to read `[DIR]/project/.claude/skills`: not a directory [directory-unreadable]
      check what it is, who owns it, and its mode
    ");
    insta::assert_snapshot!(case("directory-unreadable", false, |sandbox| {
        remove(sandbox, ".agents");
        drop(sandbox.write(".agents", "a file"));
    }), @"
    error: failed to read `[DIR]/project/.agents`: not a directory [directory-unreadable]
      check what it is, who owns it, and its mode
    ");
    insta::assert_snapshot!(case("name-twins", false, |sandbox| write_skill(sandbox, ".agents/skills/PDF")), @"
    warning: `PDF` and `pdf` in `[DIR]/project/.agents/skills` are one name on some file systems [name-twins]
      rename or remove one of them
    ");
    // NFKC: a full-width letter.
    case("name-twins", false, |sandbox| write_skill(sandbox, ".claude/skills/\u{ff50}df"));
}

/// A directory that is a link to the canonical one serves its agents: nothing is wrong there.
#[test]
fn a_directory_that_is_a_link_to_the_skills_is_right() {
    let sandbox = machine();
    remove(&sandbox, ".claude/skills");
    link(&sandbox, "../.agents/skills", ".claude/skills");
    assert_eq!(sandbox.run(&["doctor", "--json"]).code, Some(0));
}

#[test]
fn what_cannot_be_written_is_told_and_a_missing_home_is_no_failure() {
    let sandbox = machine();
    let config = sandbox.home().join(".config");
    std::fs::create_dir(&config).expect("creates");
    let sealed = sandbox.home().join(".config/skillpm");
    std::fs::create_dir(&sealed).expect("creates");
    if let Some(_mount) = Mount::tmpfs(&sealed, "ro") {
        let output = sandbox.run(&["doctor", "--json"]);
        assert_eq!(
            (ids(&output, false), output.code),
            (["directory-unwritable".to_owned()].into(), Some(1)),
            "{output}"
        );
        assert_eq!(sandbox.run(&["doctor", "--fix"]).code, Some(1));
    }
    let mut homeless = Sandbox::new();
    homeless.env("HOME", "");
    assert_eq!(homeless.run(&["doctor"]).code, Some(0));
    assert_eq!(homeless.run(&["doctor", "-g"]).code, Some(3));
    homeless.env("HOME", "/nowhere/at/all");
    assert_eq!(homeless.run(&["doctor", "--fix"]).code, Some(0));
    assert!(homeless.tree(&homeless.project()).is_empty(), "looking makes nothing");
}

/// What lies where many agents look: one that sees nothing, one that finds a skill twice.
#[test]
fn what_agents_see() {
    let sandbox = machine();
    for agent in [".cursor", ".config/goose", ".roo"] {
        std::fs::create_dir_all(sandbox.home().join(agent)).expect("a directory");
    }
    std::fs::create_dir_all(sandbox.home().join(".codeium/windsurf")).expect("a directory");
    let output = sandbox.run(&["doctor", "--verbose"]);
    insta::assert_snapshot!(output, @"
    exit: 1
    --- stdout
    note: Cursor finds `docx` in `[DIR]/project/.agents/skills/docx` and `[DIR]/project/.claude/skills/docx`: one skill, found in several ways [seen-twice]
    note: Cursor finds `pdf` in `[DIR]/project/.agents/skills/pdf` and `[DIR]/project/.claude/skills/pdf`: one skill, found in several ways [seen-twice]
    note: Goose finds `docx` in `[DIR]/project/.claude/skills/docx` and `[DIR]/project/.agents/skills/docx`: one skill, found in several ways [seen-twice]
    note: Goose finds `pdf` in `[DIR]/project/.claude/skills/pdf` and `[DIR]/project/.agents/skills/pdf`: one skill, found in several ways [seen-twice]
    warning: Windsurf is on this machine and does not see any of the skills here [agent-reads-nothing]
      `skillpm link --agent windsurf` links all skills, and those to come
    --- stderr
    0 errors, 1 warning
    ");
    write_skill(&sandbox, ".claude/skills/mine");
    write_skill(&sandbox, ".agents/skills/mine");
    sandbox.write(".agents/skills/mine/notes.md", "another one");
    let output = sandbox.run(&["doctor", "--json"]);
    assert_eq!(
        (ids(&output, false), output.code),
        (["agent-reads-nothing".to_owned(), "seen-different".to_owned()].into(), Some(1)),
        "{output}"
    );
}

/// A run that was killed between its steps is finished, and a part of a move is kept before it goes.
#[test]
fn what_killed_runs_left() {
    insta::assert_snapshot!(case("run-cut-off", true, |sandbox| {
        // The step that makes the link was done, and the rest was not.
        sandbox.write(".agents/.skillpm-tx/.gitignore", "*\n");
        let journal = r#"{"version":1,"steps":[{"link":{"agent":"claude-code","name":"pdf"}}],"manifest":null,"lockfile":null}"#;
        sandbox.write(".agents/.skillpm-tx/journal.json", journal);
        // Both are rubbish once the run is finished; a copy shows that no other file is lost.
        sandbox.write("../home/journal", journal);
        drop(sandbox.write("../home/gitignore", "*\n"));
    }), @"
    error: a run of skillpm was interrupted in `[DIR]/project/.agents` and must be finished [run-cut-off]
      `--fix` can finish it
    ");
    insta::assert_snapshot!(case("leftover", true, |sandbox| {
        write_skill(sandbox, ".claude/skills/.skillpm-moving-pdf");
        drop(sandbox.write(".claude/skills/.skillpm-moving-pdf/notes.md", "the last copy of what I wrote"));
    }), @"
    warning: `[DIR]/project/.claude/skills/.skillpm-moving-pdf` was left behind by an interrupted run [leftover]
      `--fix` can remove it; the store keeps what it does not have yet
    ");
    case("leftover", true, |sandbox| link(sandbox, "nowhere", ".agents/skills/.skillpm-moving-pdf"));
    let sandbox = machine();
    remove(&sandbox, LINK);
    let journal = r#"{"version":1,"steps":[{"link":{"agent":"claude-code","name":"pdf"}}],"manifest":null,"lockfile":null}"#;
    sandbox.write(".agents/.skillpm-tx/journal.json", journal);
    assert_eq!(sandbox.run(&["doctor", "--fix"]).code, Some(0));
    assert!(sandbox.project().join(LINK).is_symlink(), "what was begun is finished");
    // A journal that a stranger wrote, or one of another version: told, with the way out.
    let sandbox = machine();
    sandbox.write(".agents/.skillpm-tx/journal.json", "{}");
    insta::assert_snapshot!(sandbox.run(&["doctor", "--fix"]), @"
    exit: 1
    --- stdout
    error: a run of skillpm was interrupted in `[DIR]/project/.agents` and must be finished [run-cut-off]
      cannot be repaired: `[DIR]/project/.agents/.skillpm-tx/journal.json` cannot be read: missing field `version` at line 1 column 2; a run of skillpm was interrupted there; delete the directory to abandon it
    --- stderr
    1 error, 0 warnings
    ");
}

/// A run that is at work is neither cut off nor has it left anything.
#[test]
fn a_run_at_work_is_left_alone() {
    let sandbox = machine();
    sandbox.write(".agents/.skillpm-tx/journal.json", "{}");
    write_skill(&sandbox, ".agents/skills/.skillpm-moving-pdf");
    let _held = DirLock::acquire(&sandbox.project().join(".agents"), || ()).expect("locks");
    assert_eq!(sandbox.run(&["doctor", "-p"]).code, Some(0));
}

fn object(sandbox: &Sandbox) -> PathBuf {
    let store = sandbox.home().join(".local/share/skillpm/store-v2/sha256");
    let first = |dir: &Path| {
        std::fs::read_dir(dir).expect("a directory").next().expect("one").expect("an entry").path()
    };
    first(&first(&store))
}

#[test]
fn the_store_and_the_downloads() {
    let sandbox = machine();
    let damaged = object(&sandbox);
    std::fs::write(&damaged, "other bytes").expect("writes");
    let output = sandbox.run(&["doctor"]);
    assert_eq!(output.code, Some(1));
    assert!(output.stdout.contains("does not match the digest in its name [store-damaged]"), "{output}");
    assert_eq!(sandbox.run(&["doctor", "-p"]).code, Some(0), "the store is no part of a scope");
    assert_eq!(sandbox.run(&["doctor", "--fix"]).code, Some(0));
    assert!(!damaged.exists());

    let stage = damaged.parent().expect("sha256/ab").parent().expect("sha256").with_file_name("stage-x");
    std::fs::create_dir(&stage).expect("creates");
    let cache = sandbox.home().join(".cache/skillpm/github");
    std::fs::create_dir_all(&cache).expect("creates");
    std::fs::write(cache.join("x.zip"), "<html>").expect("writes");
    std::fs::write(cache.join(".download-x"), "half").expect("writes");
    let old = SystemTime::now() - Duration::from_hours(72);
    std::fs::File::open(cache.join(".download-x")).expect("opens").set_modified(old).expect("a time");
    let output = sandbox.run(&["doctor"]);
    insta::assert_snapshot!(output, @"
    exit: 1
    --- stdout
    warning: `[DIR]/home/.local/share/skillpm/store-v2/stage-x` was left behind by an interrupted run [store-stage]
      `--fix` can remove it
    warning: `[DIR]/home/.cache/skillpm/github/x.zip` cannot be opened: this is not a zip, tar or tar.gz archive: it looks like an HTML page [download-damaged]
      `--fix` can remove it
    warning: `[DIR]/home/.cache/skillpm/github/.download-x` was left behind by an interrupted run [download-rest]
      `--fix` can remove it
    --- stderr
    0 errors, 3 warnings
    hint: `skillpm doctor --fix` repairs 3 of them; nothing that you wrote is removed
    ");
    let output = sandbox.run(&["doctor", "--fix"]);
    insta::assert_snapshot!(output, @"
    exit: 0
    --- stdout
    fixed: `[DIR]/home/.local/share/skillpm/store-v2/stage-x` was left behind by an interrupted run [store-stage]
    fixed: `[DIR]/home/.cache/skillpm/github/x.zip` cannot be opened: this is not a zip, tar or tar.gz archive: it looks like an HTML page [download-damaged]
    fixed: `[DIR]/home/.cache/skillpm/github/.download-x` was left behind by an interrupted run [download-rest]
    --- stderr
    3 repaired, nothing is wrong
    ");
    assert!(!stage.exists() && !cache.exists());
}

/// A damaged copy of what a user edited is the best that there is of it.
#[test]
fn a_damaged_copy_of_a_user_stays() {
    let sandbox = machine();
    sandbox.write(".agents/skills/pdf/notes.md", "what I wrote");
    sandbox.write(".agents/skills/docx/notes.md", "what I wrote");
    assert_eq!(sandbox.run(&["install", "--force"]).code, Some(0));
    let kept = sandbox.home().join(".local/share/skillpm/store-v2/kept");
    let copies: Vec<_> =
        std::fs::read_dir(kept).expect("copies").map(|entry| entry.expect("an entry").path()).collect();
    assert_eq!(copies.len(), 2);
    let copy = &copies[0];
    std::fs::write(copy.join("more.md"), "damage").expect("writes");
    let output = sandbox.run(&["doctor", "--fix"]);
    assert_eq!(output.code, Some(1));
    assert!(output.stdout.contains("it holds a copy that you edited"), "{output}");
    assert_eq!(std::fs::read_to_string(copy.join("notes.md")).expect("reads"), "what I wrote");
}

/// The user's scope is repaired as the project's is, under its own lockfile.
#[test]
fn the_scope_of_the_user() {
    let sandbox = machine();
    assert_eq!(sandbox.run(&["install", "-g", "./src/pdf"]).code, Some(0));
    std::fs::remove_file(sandbox.home().join(".claude/skills/pdf")).expect("removes");
    assert_eq!(sandbox.run(&["doctor", "-p"]).code, Some(0));
    let output = sandbox.run(&["doctor", "-g", "--json"]);
    assert_eq!((ids(&output, false), output.code), (["link-missing".to_owned()].into(), Some(1)));
    assert_eq!(sandbox.run(&["doctor", "--fix"]).code, Some(0));
    let link = std::fs::read_link(sandbox.home().join(".claude/skills/pdf")).expect("a link");
    assert_eq!(link, Path::new("../../.agents/skills/pdf"));
}

#[test]
fn several_things_at_once_and_one_that_stops_no_other() {
    let sandbox = machine();
    remove(&sandbox, LINK);
    link(&sandbox, "../../.agents/skills/gone", ".claude/skills/gone");
    remove(&sandbox, ".agents/skills/docx");
    write_skill(&sandbox, ".agents/skills/.skillpm-moving-odd");
    // What the store cannot keep is not removed.
    symlink("/etc/passwd", sandbox.project().join(".agents/skills/.skillpm-moving-odd/l")).expect("links");
    insta::assert_snapshot!(sandbox.run(&["doctor", "--fix"]), @"
    exit: 1
    --- stdout
    warning: `[DIR]/project/.agents/skills/.skillpm-moving-odd` was left behind by an interrupted run [leftover]
      cannot be repaired: `l`: this is a symbolic link that leads out of the skill or to no regular file
    fixed: `docx` is locked, but `[DIR]/project/.agents/skills/docx` is missing [skill-missing]
    fixed: Claude Code does not see `pdf`: `[DIR]/project/.claude/skills/pdf` does not exist [link-missing]
    warning: `[DIR]/project/.claude/skills/gone` leads to `../../.agents/skills/gone`, which does not exist [link-broken]
      create its target, or remove the link: `rm [DIR]/project/.claude/skills/gone`
    --- stderr
    2 repaired, 0 errors, 2 warnings
    ");
    insta::assert_snapshot!(sandbox.run(&["doctor", "--json"]).stdout, @r#"
    {
      "findings": [
        {
          "id": "leftover",
          "severity": "warning",
          "scope": "project",
          "skill": null,
          "agent": null,
          "path": "[DIR]/project/.agents/skills/.skillpm-moving-odd",
          "message": "`[DIR]/project/.agents/skills/.skillpm-moving-odd` was left behind by an interrupted run",
          "fix": "remove it; the store keeps what it does not have yet",
          "advice": null,
          "fixed": false,
          "failure": null
        },
        {
          "id": "link-broken",
          "severity": "warning",
          "scope": "project",
          "skill": "gone",
          "agent": "claude-code",
          "path": "[DIR]/project/.claude/skills/gone",
          "message": "`[DIR]/project/.claude/skills/gone` leads to `../../.agents/skills/gone`, which does not exist",
          "fix": null,
          "advice": "create its target, or remove the link: `rm [DIR]/project/.claude/skills/gone`",
          "fixed": false,
          "failure": null
        }
      ],
      "dry_run": false
    }
    "#);
}

#[test]
fn mistakes() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&["doctor", "--dry-run"]).code, Some(2));
    assert_eq!(sandbox.run(&["doctor", "pdf"]).code, Some(2));
    assert_eq!(sandbox.run(&["doctor", "--fix"]).code, Some(0));
}

/// [`machine`] with `brand`, on which somebody works.
fn with_editable() -> Sandbox {
    let sandbox = machine();
    write_skill(&sandbox, "work/brand");
    sandbox.ok(&["install", "-e", "./work/brand"]);
    sandbox
}

/// [`machine`], where `pdf` is disabled.
fn with_disabled() -> Sandbox {
    let sandbox = machine();
    sandbox.ok(&["disable", "pdf"]);
    sandbox
}

fn rename(sandbox: &Sandbox, from: &str, to: &str) {
    let to = sandbox.project().join(to);
    std::fs::create_dir_all(to.parent().expect("a parent")).expect("creates");
    std::fs::rename(sandbox.project().join(from), to).expect("renames");
}

/// Replaces `from` in the manifest.
fn rewrite(sandbox: &Sandbox, from: &str, to: &str) {
    let text = sandbox.read("skillpm.toml");
    assert!(text.contains(from), "{text}");
    sandbox.write("skillpm.toml", text.replace(from, to));
}

const BRAND: &str = ".agents/skills/brand";
const ASIDE: &str = ".agents/.skillpm-disabled/pdf";

#[test]
fn editable_skills() {
    with_editable().ok(&["doctor"]);
    insta::assert_snapshot!(case_on(&with_editable(), "editable-link", true, |sandbox| remove(
        sandbox, BRAND
    )), @"
    error: `brand` is editable, but `[DIR]/project/.agents/skills/brand` does not exist [editable-link]
      `--fix` can link it to its directory
    ");
    insta::assert_snapshot!(case_on(&with_editable(), "editable-link", true, |sandbox| link(
        sandbox,
        "../../src/pdf",
        BRAND
    )), @"
    error: `brand` is editable, but `[DIR]/project/.agents/skills/brand` leads to `../../src/pdf`, not to `[DIR]/project/work/brand` [editable-link]
      `--fix` can link it to its directory
    ");
    // Something of the user's lies there: an installation would not take it away either.
    insta::assert_snapshot!(case_on(&with_editable(), "editable-link", false, |sandbox| {
        remove(sandbox, BRAND);
        write_skill(sandbox, BRAND);
        drop(sandbox.write(".agents/skills/brand/notes.md", "what I wrote"));
    }), @"
    error: `brand` is editable, but `[DIR]/project/.agents/skills/brand` is not a link to `[DIR]/project/work/brand` [editable-link]
      `[DIR]/project/.agents/skills/brand` already exists and was not installed by skillpm: keep what you need of it, move it away, and run `skillpm doctor --fix`
    ");
    insta::assert_snapshot!(case_on(&with_editable(), "editable-gone", false, |sandbox| {
        rename(sandbox, "work/brand", "elsewhere/brand");
    }), @"
    error: `brand` is editable, but `./work/brand` does not exist [editable-gone]
      restore the directory, or remove the skill with `skillpm remove brand`
    ");
    insta::assert_snapshot!(case_on(&with_editable(), "editable-gone", false, |sandbox| {
        rename(sandbox, "work/brand/SKILL.md", "work/brand/draft.md");
    }), @"
    error: `brand` is editable, but `./work/brand` has no `SKILL.md` [editable-gone]
      a link leads to one skill: name its directory in `skillpm.toml` with `subdir`
    ");
    case_on(&with_editable(), "link-missing", true, |sandbox| remove(sandbox, ".claude/skills/brand"));
    case_on(&with_editable(), "link-wrong", false, |sandbox| {
        link(sandbox, "../../work/brand", ".claude/skills/brand");
    });
    insta::assert_snapshot!(case_on(&with_editable(), "disabled-leftover", false, |sandbox| {
        write_skill(sandbox, ".agents/.skillpm-disabled/brand");
    }), @"
    warning: `brand` is not disabled, but a copy of it is in `[DIR]/project/.agents/.skillpm-disabled/brand` [disabled-leftover]
      `[DIR]/project/.agents/.skillpm-disabled/brand` already exists and was not installed by skillpm: keep what you need of it, move it away, and run `skillpm doctor --fix`
    ");
    // An absolute path gives an absolute link, which is right.
    let sandbox = machine();
    write_skill(&sandbox, "../brand");
    sandbox.ok(&["install", "-e", sandbox.project().with_file_name("brand").to_str().expect("UTF-8")]);
    sandbox.ok(&["doctor"]);
    // Somebody works on it where an agent looks.
    let sandbox = machine();
    write_skill(&sandbox, ".claude/skills/own");
    sandbox.ok(&["install", "-e", "./.claude/skills/own"]);
    sandbox.ok(&["doctor"]);
    // While it is disabled, nobody needs its directory.
    let sandbox = with_editable();
    sandbox.ok(&["disable", "brand"]);
    remove(&sandbox, "work/brand");
    sandbox.ok(&["doctor"]);
}

/// The manifest was changed by hand: what lies there follows, the lockfile is for `install`.
#[test]
fn a_skill_that_was_made_editable_by_hand() {
    let sandbox = machine();
    rewrite(&sandbox, "subdir = \"pdf\"", "subdir = \"pdf\", editable = true");
    let output = sandbox.run(&["doctor", "--fix"]);
    insta::assert_snapshot!(output, @"
    exit: 1
    --- stdout
    warning: `pdf` is locked, and editable in `[DIR]/project/skillpm.toml` [locked-otherwise]
      `skillpm install` removes it from the lockfile
    fixed: `pdf` is editable, but `[DIR]/project/.agents/skills/pdf` is not a link to `[DIR]/project/src/pdf` [editable-link]
    --- stderr
    1 repaired, 0 errors, 1 warning
    ");
    let link = std::fs::read_link(sandbox.project().join(COPY)).expect("a link");
    assert_eq!(link, Path::new("../../src/pdf"));
    sandbox.ok(&["install"]);
    sandbox.ok(&["doctor"]);
}

#[test]
fn disabled_skills() {
    with_disabled().ok(&["doctor"]);
    // It lies where agents see it.
    insta::assert_snapshot!(case_on(&with_disabled(), "disabled-visible", true, |sandbox| rename(
        sandbox, ASIDE, COPY
    )), @"
    warning: `pdf` is disabled, but agents see it in `[DIR]/project/.agents/skills/pdf` [disabled-visible]
      `--fix` can move it to the disabled skills, edits and all
    ");
    case_on(&with_disabled(), "disabled-visible", true, |sandbox| {
        rename(sandbox, ASIDE, COPY);
        drop(sandbox.write(".agents/skills/pdf/notes.md", "what I wrote"));
    });
    // In both places: the same, edited in one, edited in both.
    insta::assert_snapshot!(case_on(&with_disabled(), "disabled-visible", true, |sandbox| write_skill(
        sandbox, COPY
    )), @"
    warning: `pdf` is disabled, but agents see it in `[DIR]/project/.agents/skills/pdf`, and in `[DIR]/project/.agents/.skillpm-disabled/pdf` too [disabled-visible]
      `--fix` can remove it: the installed skill has the same files
    ");
    case_on(&with_disabled(), "disabled-visible", true, |sandbox| {
        write_skill(sandbox, COPY);
        drop(sandbox.write(&format!("{ASIDE}/notes.md"), "what I wrote"));
    });
    insta::assert_snapshot!(case_on(&with_disabled(), "disabled-visible", false, |sandbox| {
        write_skill(sandbox, COPY);
        drop(sandbox.write(".agents/skills/pdf/notes.md", "what I wrote"));
    }), @"
    warning: `pdf` is disabled, but agents see it in `[DIR]/project/.agents/skills/pdf`, and in `[DIR]/project/.agents/.skillpm-disabled/pdf` too [disabled-visible]
      `[DIR]/project/.agents/skills/pdf` was edited since it was installed: keep what you need of it, move it away, and run `skillpm doctor --fix`
    ");
    insta::assert_snapshot!(case_on(&with_disabled(), "skill-missing", true, |sandbox| remove(
        sandbox, ASIDE
    )), @"
    error: `pdf` is locked, but `[DIR]/project/.agents/.skillpm-disabled/pdf` is missing [skill-missing]
      `--fix` can restore it from the store
    ");
    case_on(&with_disabled(), "skill-no-directory", false, |sandbox| {
        remove(sandbox, ASIDE);
        drop(sandbox.write(ASIDE, "a file"));
    });
    // Links and copies that somebody put back.
    insta::assert_snapshot!(case_on(&with_disabled(), "link-unwanted", true, |sandbox| {
        link(sandbox, "../../.agents/skills/pdf", LINK);
    }), @"
    warning: `[DIR]/project/.claude/skills/pdf` leads to `pdf`, which is disabled [link-unwanted]
      `--fix` can remove the link
    ");
    insta::assert_snapshot!(case_on(&with_disabled(), "stray-copy", true, |sandbox| write_skill(
        sandbox, LINK
    )), @"
    warning: `[DIR]/project/.claude/skills/pdf` is a copy of `pdf`, which is disabled [stray-copy]
      `--fix` can remove it: the installed skill has the same files
    ");
    case_on(&with_disabled(), "stray-copy-differs", false, |sandbox| {
        write_skill(sandbox, LINK);
        drop(sandbox.write(".claude/skills/pdf/notes.md", "what I wrote"));
    });
    // What was edited before it was disabled is a note, and stays.
    let sandbox = with_disabled();
    sandbox.write(&format!("{ASIDE}/notes.md"), "what I wrote");
    assert_eq!(ids(&sandbox.run(&["doctor", "--fix", "--json"]), true), ["skill-edited".to_owned()].into());
    assert_eq!(sandbox.read(&format!("{ASIDE}/notes.md")), "what I wrote");
    // A manifest that cannot be read is no reason to show agents what they were not to see.
    case_on(&with_disabled(), "manifest-unreadable", false, |sandbox| {
        drop(sandbox.write("skillpm.toml", "[skils]\n"));
    });
}

#[test]
fn what_lies_among_the_disabled_and_is_not() {
    insta::assert_snapshot!(case("disabled-leftover", false, |sandbox| {
        write_skill(sandbox, ".agents/.skillpm-disabled/old");
    }), @"
    warning: `[DIR]/project/.agents/.skillpm-disabled/old` is among the disabled skills, but nothing requests it [disabled-leftover]
      keep what you need of it, then remove it: `rm -r [DIR]/project/.agents/.skillpm-disabled/old`
    ");
    // An installed skill of which a copy was left there.
    insta::assert_snapshot!(case("disabled-leftover", true, |sandbox| write_skill(sandbox, ASIDE)), @"
    warning: `pdf` is not disabled, but a copy of it is in `[DIR]/project/.agents/.skillpm-disabled/pdf` [disabled-leftover]
      `--fix` can remove it: the installed skill has the same files
    ");
    case("disabled-leftover", false, |sandbox| {
        write_skill(sandbox, ASIDE);
        drop(sandbox.write(&format!("{ASIDE}/notes.md"), "what I wrote"));
    });
    // It lies there alone.
    insta::assert_snapshot!(case("skill-missing", true, |sandbox| {
        rename(sandbox, COPY, ASIDE);
        drop(sandbox.write(&format!("{ASIDE}/notes.md"), "what I wrote"));
    }), @"
    error: `pdf` is not disabled, but is where no agent looks, in `[DIR]/project/.agents/.skillpm-disabled/pdf` [skill-missing]
      `--fix` can move it back, edits and all
    ");
    case("directory-outside", false, |sandbox| link(sandbox, "../../home", ".agents/.skillpm-disabled"));
}

/// Disabled and enabled by hand, in the manifest.
#[test]
fn the_manifest_decides_who_is_disabled() {
    let sandbox = machine();
    let healthy = sandbox.tree(&sandbox.project());
    rewrite(&sandbox, "subdir = \"pdf\"", "subdir = \"pdf\", disabled = true");
    sandbox.write(".agents/skills/pdf/notes.md", "what I wrote");
    insta::assert_snapshot!(sandbox.run(&["doctor", "--fix"]), @"
    exit: 0
    --- stdout
    fixed: `pdf` is disabled, but agents see it in `[DIR]/project/.agents/skills/pdf` [disabled-visible]
    fixed: `[DIR]/project/.claude/skills/pdf` leads to `pdf`, which is disabled [link-unwanted]
    --- stderr
    2 repaired, nothing is wrong; 1 note (shown with `--verbose`)
    ");
    assert_eq!(sandbox.read(&format!("{ASIDE}/notes.md")), "what I wrote");
    assert!(!sandbox.project().join(LINK).is_symlink());
    sandbox.ok(&["doctor"]);
    rewrite(&sandbox, ", disabled = true", "");
    sandbox.ok(&["doctor", "--fix"]);
    assert_eq!(sandbox.tree(&sandbox.project()), healthy);
    assert_eq!(sandbox.read(".agents/skills/pdf/notes.md"), "what I wrote");
}

#[test]
fn who_is_to_have_a_link() {
    // A skill with agents of its own.
    let own = || {
        let sandbox = machine();
        sandbox.ok(&["link", "--agent", "windsurf", "pdf"]);
        sandbox.ok(&["doctor"]);
        sandbox
    };
    insta::assert_snapshot!(case_on(&own(), "link-missing", true, |sandbox| remove(
        sandbox,
        ".windsurf/skills/pdf"
    )), @"
    error: Windsurf does not see `pdf`: `[DIR]/project/.windsurf/skills/pdf` does not exist [link-missing]
      `--fix` can make the link
    ");
    insta::assert_snapshot!(case_on(&own(), "link-unwanted", false, |sandbox| {
        link(sandbox, "../../.agents/skills/docx", ".windsurf/skills/docx");
    }), @"
    warning: `[DIR]/project/.windsurf/skills/docx` leads to `docx`, which Windsurf should not see [link-unwanted]
      `skillpm link --agent windsurf docx` keeps it; else remove it with `rm [DIR]/project/.windsurf/skills/docx`
    ");
    // Where the manifest is silent, the lockfile knows.
    let silent = || {
        let sandbox = machine();
        rewrite(&sandbox, "\n[agents]\ntargets = [\"claude-code\"]\n", "");
        sandbox.ok(&["doctor"]);
        sandbox
    };
    case_on(&silent(), "link-missing", true, |sandbox| remove(sandbox, LINK));
    let lockfile_alone = || {
        let sandbox = machine();
        remove(&sandbox, "skillpm.toml");
        sandbox.write(".git/HEAD", "ref: refs/heads/main\n");
        sandbox.ok(&["doctor"]);
        sandbox
    };
    case_on(&lockfile_alone(), "link-missing", true, |sandbox| remove(sandbox, LINK));
    // An agent that the manifest no longer names: the link goes, the lockfile is for `install`.
    let sandbox = machine();
    rewrite(&sandbox, "[\"claude-code\"]", "[]");
    insta::assert_snapshot!(sandbox.run(&["doctor", "--fix"]), @"
    exit: 1
    --- stdout
    warning: `docx` is locked with agents other than those in `[DIR]/project/skillpm.toml` [locked-otherwise]
      `skillpm install` locks what the manifest says
    warning: `pdf` is locked with agents other than those in `[DIR]/project/skillpm.toml` [locked-otherwise]
      `skillpm install` locks what the manifest says
    fixed: `[DIR]/project/.claude/skills/docx` leads to `docx`, which Claude Code should not see [link-unwanted]
    fixed: `[DIR]/project/.claude/skills/pdf` leads to `pdf`, which Claude Code should not see [link-unwanted]
    --- stderr
    2 repaired, 0 errors, 2 warnings
    ");
    assert!(!sandbox.project().join(LINK).is_symlink());
    sandbox.ok(&["install"]);
    sandbox.ok(&["doctor"]);
    // Agents that there are not, in the entry of a skill and in the lockfile.
    insta::assert_snapshot!(case("agent-unknown", false, |sandbox| {
        rewrite(sandbox, "subdir = \"pdf\"", "subdir = \"pdf\", agents = [\"claude-code\", \"cluade\"]");
    }), @"
    error: [DIR]/project/skillpm.toml: there is no agent `cluade`, which skill `pdf` names [agent-unknown]
      did you mean `claude-code`?
    ");
    insta::assert_snapshot!(case_on(&silent(), "agent-unknown", false, |sandbox| {
        let lock = sandbox.read("skillpm.lock").replacen("\"claude-code\"", "\"claude-code\", \"cluade\"", 1);
        drop(sandbox.write("skillpm.lock", lock));
    }), @"
    error: [DIR]/project/skillpm.lock: there is no agent `cluade`, which skill `docx` names [agent-unknown]
      did you mean `claude-code`?
    ");
}

/// An agent that reads the canonical copies may have a link besides, which its user made: it stays, and is named when the
/// skill goes out of sight.
#[test]
fn a_link_that_nobody_needs() {
    let sandbox = machine();
    sandbox.ok(&["install", "-g", "./src/pdf"]);
    let links = sandbox.home().join(".cursor/skills");
    std::fs::create_dir_all(&links).expect("a directory");
    symlink("../../.agents/skills/pdf", links.join("pdf")).expect("links");
    sandbox.ok(&["doctor", "-g"]);
    let output = sandbox.ok(&["disable", "-g", "pdf"]);
    assert!(output.stderr.contains("`~/.cursor/skills/pdf` is not skillpm's: left as it is"), "{output}");
    let output = sandbox.run(&["doctor", "-g", "--json"]);
    assert_eq!(ids(&output, false), ["link-unwanted".to_owned()].into(), "{output}");
    assert_eq!(sandbox.run(&["doctor", "-g", "--fix"]).code, Some(1));
    assert!(links.join("pdf").is_symlink());
}

/// A changed `name` is another skill.
#[test]
fn an_alias_of_another_skill() {
    let aliased = || {
        let sandbox = machine();
        sandbox.ok(&["install", "./src", "--skill", "pdf", "--as", "paper"]);
        sandbox.ok(&["doctor"]);
        sandbox
    };
    case_on(&aliased(), "locked-otherwise", false, |sandbox| {
        rewrite(sandbox, "name = \"pdf\"", "name = \"docx\"");
    });
    case_on(&aliased(), "link-missing", true, |sandbox| remove(sandbox, ".claude/skills/paper"));
}

/// Whatever a command leaves is as `doctor` wants it: in the project, and for the user.
#[test]
fn nothing_is_wrong_after_any_command() {
    let commands: &[&[&str]] = &[
        &["install", "SRC", "--skill", "pdf", "--skill", "docx"],
        &["install", "SRC", "--skill", "pdf", "--as", "paper"],
        &["install", "-e", "WORK"],
        &["link", "--agent", "windsurf"],
        &["link", "--agent", "goose", "pdf", "brand"],
        &["unlink", "--agent", "windsurf", "docx"],
        &["disable", "pdf", "paper", "brand"],
        &["link", "--agent", "roo", "pdf", "brand", "docx"],
        &["unlink", "--agent", "claude-code"],
        &["install"],
        &["enable", "pdf", "paper", "brand"],
        &["unlink", "--agent", "*", "pdf", "brand"],
        &["install", "--copy"],
        &["link", "--agent", "claude-code"],
        &["disable", "docx", "brand"],
        &["enable", "docx", "brand"],
        &["import"],
        &["install", "--locked"],
        &["remove", "pdf", "brand"],
        &["unlink", "--agent", "*"],
        &["disable", "docx"],
        &["remove", "docx", "paper"],
    ];
    for scope in ["-p", "-g"] {
        let sandbox = Sandbox::new();
        std::fs::create_dir(sandbox.home().join(".claude")).expect("a directory");
        for name in ["src/pdf", "src/docx", "work/brand"] {
            write_skill(&sandbox, name);
        }
        let path = |name: &str| sandbox.project().join(name).display().to_string();
        let (src, work) = (path("src"), path("work/brand"));
        for command in commands {
            let words = command.iter().map(|word| match *word {
                "SRC" => src.as_str(),
                "WORK" => work.as_str(),
                word => word,
            });
            let args: Vec<&str> = words.chain([scope]).collect();
            sandbox.ok(&args);
            let output = sandbox.run(&["doctor", "--json"]);
            let mut found = ids(&output, false);
            // Whoever takes the links of an agent that is here away is told that it sees less.
            let is_unseen = found.remove("agent-reads-nothing");
            assert_eq!(found, BTreeSet::new(), "{args:?}: {output}");
            assert_eq!(output.code, Some(i32::from(is_unseen)), "{args:?}: {output}");
        }
    }
}

/// An agent of this machine that does not see the skills is a warning until it sees them, or is not here.
#[test]
fn an_agent_that_sees_nothing_is_a_warning() {
    for scope in ["-p", "-g"] {
        let sandbox = Sandbox::new();
        write_skill(&sandbox, "src/pdf");
        let doctor = |unseen: bool| {
            let output = sandbox.run(&["doctor", "--json"]);
            let expected: BTreeSet<_> =
                unseen.then(|| "agent-reads-nothing".to_owned()).into_iter().collect();
            assert_eq!(ids(&output, false), expected, "{output}");
            assert_eq!(output.code, Some(i32::from(unseen)), "{output}");
        };
        sandbox.ok(&["install", "./src/pdf", scope]);
        doctor(false);
        // It comes later.
        std::fs::create_dir(sandbox.home().join(".claude")).expect("a directory");
        doctor(true);
        sandbox.ok(&["disable", "pdf", scope]);
        doctor(false);
        sandbox.ok(&["enable", "pdf", scope]);
        doctor(true);
        sandbox.ok(&["link", "--agent", "claude-code", scope]);
        doctor(false);
        // Nobody is to see it, and that was said.
        sandbox.ok(&["unlink", "--agent", "claude-code", scope]);
        doctor(false);
    }
}

/// What another tool made, adopted by `import`.
#[test]
fn nothing_is_wrong_after_an_import() {
    let sandbox = machine();
    write_skill(&sandbox, ".agents/skills/own");
    link(&sandbox, "../../.agents/skills/own", ".claude/skills/own");
    sandbox.ok(&["import"]);
    sandbox.ok(&["doctor"]);
}

/// In the home directory both scopes have the same directories: what the files of one know is neither left over nor a
/// stranger's in the other, wherever that is looked at from.
#[test]
fn in_the_home_directory() {
    let sandbox = Sandbox::new();
    let run = |args: &[&str]| sandbox.output(sandbox.command(args).current_dir(sandbox.home()));
    sandbox.write("src/b/SKILL.md", "---\nname: b\ndescription: Does b. Use it in tests.\n---\n");
    assert_eq!(run(&["install", "-p", "../project/src", "--agent", "claude-code"]).code, Some(0));
    let copy = sandbox.home().join(".agents/skills/b");
    std::fs::remove_dir_all(&copy).expect("removed");
    let output = run(&["doctor"]).to_string();
    assert!(output.contains("skill-missing") && !output.contains("link-broken"), "{output}");
    assert_eq!(run(&["doctor", "--fix"]).code, Some(0));
    assert!(copy.join("SKILL.md").exists() && sandbox.home().join(".claude/skills/b/SKILL.md").exists());
    std::fs::write(copy.join("more"), "").expect("written");
    let output = run(&["doctor", "--verbose"]).to_string();
    assert!(output.contains("skill-edited"), "{output}");
    assert_eq!(run(&["disable", "b"]).code, Some(0));
    for args in [&["doctor"][..], &["doctor", "-g"], &["doctor", "-p"]] {
        for output in [run(args), sandbox.run(args)] {
            assert_eq!(output.code, Some(0), "{output}");
            assert!(!output.to_string().contains("disabled-leftover"), "{output}");
        }
    }
    sandbox.write("../home/skillpm.lock", "garbage");
    let output = run(&["doctor"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.to_string().contains("lock-unreadable"), "{output}");
    assert!(!output.to_string().contains("disabled-leftover"), "{output}");
}

/// git without symbolic links writes a file with the text of the link.
#[test]
fn a_file_in_the_place_of_a_link() {
    let sandbox = Sandbox::new();
    sandbox.write("src/pdf/SKILL.md", "---\nname: pdf\ndescription: Does pdf.\n---\n");
    sandbox.ok(&["install", "./src/pdf", "--agent", "claude-code"]);
    std::fs::remove_file(sandbox.project().join(".claude/skills/pdf")).expect("removes");
    sandbox.write(".claude/skills/pdf", "../../.agents/skills/pdf");
    insta::assert_snapshot!(sandbox.run(&["doctor"]), @"
    exit: 1
    --- stdout
    error: `[DIR]/project/.claude/skills/pdf` is a file that says where the link should lead [link-missing]
      `--fix` can make the link
    --- stderr
    1 error, 0 warnings
    hint: `skillpm doctor --fix` repairs 1 of them; nothing that you wrote is removed
    ");
    sandbox.ok(&["doctor", "--fix"]);
    sandbox.ok(&["verify"]);
    // What says anything else is somebody's.
    std::fs::remove_file(sandbox.project().join(".claude/skills/pdf")).expect("removes");
    sandbox.write(".claude/skills/pdf", "../../.agents/skills/pdf\n");
    insta::assert_snapshot!(sandbox.run(&["doctor"]), @"
    exit: 1
    --- stdout
    error: Claude Code does not see `pdf`: `[DIR]/project/.claude/skills/pdf` is a file, not a link [link-missing]
      if git wrote it (`core.symlinks`) or you do not need it, remove it with `rm [DIR]/project/.claude/skills/pdf`, then run `skillpm doctor --fix`
    --- stderr
    1 error, 0 warnings
    ");
    let told = sandbox.run(&["install", "--force"]);
    assert_eq!(told.code, Some(1), "{told}");
    assert!(told.stderr.contains("pdf` is a file where skillpm would put a skill or a link"), "{told}");
    std::fs::remove_file(sandbox.project().join(".claude/skills/pdf")).expect("removes");
    sandbox.ok(&["doctor", "--fix"]);
    sandbox.ok(&["verify"]);
}
