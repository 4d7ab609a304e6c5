//! `doctor`: everything that can be wrong is seen, and what is repaired costs nobody a byte.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use skillpm_sources::fs::DirLock;

use crate::support::sandbox::Output;
use crate::support::{GitRepo, Mount, Sandbox, fields};

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
    let seen = sandbox.run(&["doctor", "--fix", "--dry-run", "--json"]);
    assert_eq!((ids(&seen, false), seen.code), ([id.to_owned()].into(), Some(1)), "{id}: {seen}");
    let findings = seen.json()["findings"].as_array().cloned().unwrap_or_default();
    let wrong: Vec<_> = findings.into_iter().filter(|finding| finding["severity"] != "note").collect();
    assert!(wrong.iter().all(|finding| finding["fix"].is_string() == mended), "{id}: {seen}");
    assert_eq!(everything(sandbox), before, "{id}: looking changes nothing");
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
    } else {
        assert_eq!(fixed.code, Some(1), "{id}: {fixed}");
        assert_eq!(everything(sandbox).0, before.0, "{id}: it is left as it is");
    }
    fields(&wrong.into(), ": severity message fix advice").join("\n")
}

/// Checks that what was found, and what to do about it, name all `values`.
#[track_caller]
fn names(told: &str, values: &[&str]) {
    for value in values {
        assert!(told.contains(value), "nothing names `{value}`: {told}");
    }
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
    names(&case("link-missing", true, |sandbox| remove(sandbox, LINK)), &["error", ".claude/skills/pdf"]);
    // The whole directory of the agent.
    case("link-missing", true, |sandbox| remove(sandbox, ".claude"));
    // Other tools' layouts that are gone.
    names(
        &case("link-broken", false, |sandbox| link(sandbox, "../../.skill-hub/pdf", LINK)),
        &["warning", "../../.skill-hub/pdf", "rm [DIR]/project/.claude/skills/pdf"],
    );
    case("link-broken", false, |sandbox| link(sandbox, "pdf", LINK));
    // Skillpm did not make it.
    case("link-broken", false, |sandbox| {
        link(sandbox, "../../.agents/skills/gone", ".claude/skills/gone");
    });
    names(
        &case("link-broken", false, |sandbox| {
            link(sandbox, "../../.skill-hub/other", ".claude/skills/other");
        }),
        &["warning", "../../.skill-hub/other", "rm [DIR]/project/.claude/skills/other"],
    );
    case("link-broken", false, |sandbox| link(sandbox, "../../hub/x", ".agents/skills/x"));
    // The directory of an agent that is not here is nobody's business.
    let sandbox = machine();
    link(&sandbox, "../../hub/x", ".cursor/skills/x");
    sandbox.ok(&["doctor"]);
    names(
        &case("link-wrong", false, |sandbox| link(sandbox, "../../.agents/skills/docx", LINK)),
        &["warning", "../../.agents/skills/docx", "rm [DIR]/project/.claude/skills/pdf", "`doctor"],
    );
    case("link-wrong", false, |sandbox| link(sandbox, "../../src/pdf", LINK));
    let absolute = |sandbox: &Sandbox| {
        let target = std::fs::canonicalize(sandbox.project().join(COPY)).expect("is there");
        link(sandbox, &target.display().to_string(), LINK);
    };
    names(&case("link-absolute", true, absolute), &["warning", ".claude/skills/pdf", ".agents/skills/pdf"]);
}

/// Copies of other tools, such as `gh skill`, in an agent's own directory.
#[test]
fn stray_copies() {
    let equal = |sandbox: &Sandbox| {
        remove(sandbox, LINK);
        write_skill(sandbox, LINK);
    };
    names(&case("stray-copy", false, equal), &["warning", ".claude/skills/pdf", "`link"]);
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
    names(
        &case("stray-copy-differs", false, edited),
        &["warning", ".claude/skills/pdf", ".agents/skills/pdf", "`doctor"],
    );
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
    names(&case("skill-missing", true, |sandbox| remove(sandbox, COPY)), &["error", ".agents/skills/pdf"]);
    names(
        &case("skill-missing", false, |sandbox| {
            remove(sandbox, COPY);
            std::fs::remove_dir_all(sandbox.home().join(".local")).expect("the store goes too");
        }),
        &["error", ".agents/skills/pdf", "`install"],
    );
    case("skill-no-directory", false, |sandbox| {
        remove(sandbox, COPY);
        sandbox.write(COPY, "a file");
    });
    // What a user edited is worth a note, and left as it is.
    let sandbox = machine();
    sandbox.write(".agents/skills/pdf/notes.md", "what I wrote");
    sandbox.tells(&["doctor", "--fix"], 0, "findings: id severity skill", &["skill-edited note pdf"]);
    sandbox.tells(&["doctor", "--verbose"], 0, "findings: id severity skill", &["skill-edited note pdf"]);
    assert_eq!(sandbox.read(".agents/skills/pdf/notes.md"), "what I wrote");
}

#[test]
fn manifest_and_lockfile() {
    let text = |sandbox: &Sandbox, path: &str| sandbox.read(path);
    names(
        &case("not-locked", false, |sandbox| {
            let manifest = text(sandbox, "skillpm.toml")
                .replace("[skills]\n", "[skills]\nnew = { path = \"./src/new\" }\n");
            sandbox.write("skillpm.toml", manifest);
        }),
        &["warning", "new", "skillpm.toml", "`install"],
    );
    names(
        &case("not-in-manifest", false, |sandbox| {
            let manifest = text(sandbox, "skillpm.toml");
            let kept: Vec<_> = manifest.lines().filter(|line| !line.starts_with("pdf")).collect();
            sandbox.write("skillpm.toml", kept.join("\n") + "\n");
        }),
        &["warning", "pdf", "skillpm.lock", "skillpm.toml", "`install", "`remove"],
    );
    names(
        &case("need-not-locked", false, |sandbox| {
            let lock = text(sandbox, "skillpm.lock");
            let at = lock.find("name = \"pdf\"").expect("locked");
            let (before, entry) = lock.split_at(at + lock[at..].find("digest").expect("a digest"));
            let (digest, rest) = entry.split_once('\n').expect("a line");
            sandbox.write("skillpm.lock", format!("{before}{digest}\ndependencies = [\"fonts\"]\n{rest}"));
        }),
        &["warning", "pdf", "fonts", "skillpm.lock", "`install"],
    );
    names(
        &case("no-longer-asked", false, |sandbox| {
            for (file, before) in [("skillpm.toml", "\n"), ("skillpm.lock", "\n\n")] {
                let text = text(sandbox, file);
                let kept: Vec<_> = text.split(before).filter(|part| !part.contains("pdf")).collect();
                sandbox.write(file, kept.join(before) + "\n");
            }
        }),
        &["warning", "pdf", "`install"],
    );
    names(
        &case("locked-otherwise", false, |sandbox| {
            let manifest = text(sandbox, "skillpm.toml").replace("\"pdf\"", "\"docx\"");
            sandbox.write("skillpm.toml", manifest);
        }),
        &["warning", "pdf", "skillpm.toml", "`install"],
    );
    names(
        &case("agent-unknown", false, |sandbox| {
            let manifest =
                text(sandbox, "skillpm.toml").replace("\"claude-code\"", "\"claude-code\", \"cluade\"");
            sandbox.write("skillpm.toml", manifest);
        }),
        &["error", "cluade", "claude-code"],
    );
    names(
        &case("manifest-unreadable", false, |sandbox| {
            drop(sandbox.write("skillpm.toml", "[skils]\n"));
        }),
        &["error", "skils", "skills"],
    );
    names(
        &case("manifest-unreadable", false, |sandbox| {
            std::fs::remove_file(sandbox.project().join("skillpm.toml")).expect("removed");
            symlink("nowhere.toml", sandbox.project().join("skillpm.toml")).expect("links");
        }),
        &["error", "skillpm.toml", "nowhere.toml"],
    );
    names(
        &case("policy-unreadable", false, |sandbox| {
            let manifest = text(sandbox, "skillpm.toml");
            sandbox.write("skillpm.toml", format!("{manifest}\n[policy]\nrequire-pin = \"x\"\n"));
        }),
        &["error", "x", "tag", "commit"],
    );
    // One file for both scopes is told once, with its own path.
    let mut sandbox = machine();
    sandbox.ok(&["install", "./src/pdf", "-g"]);
    sandbox.env("SKILLPM_POLICY", "/nope/policy.toml");
    sandbox.tells(&["doctor"], 1, "findings: id severity", &["policy-unreadable error"]);
    let found: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["doctor", "--json"]).stdout).expect("JSON");
    let paths: Vec<_> =
        found["findings"].as_array().expect("a list").iter().map(|one| &one["path"]).collect();
    assert_eq!(paths, ["/nope/policy.toml"]);
    // lk01: it is never taken for an empty one, and the rest is looked at all the same.
    names(
        &case("lock-conflict", false, |sandbox| {
            let lock = text(sandbox, "skillpm.lock");
            sandbox.write("skillpm.lock", format!("<<<<<<< ours\n{lock}=======\n>>>>>>> theirs\n"));
        }),
        &["error", "`install"],
    );
    names(
        &case("lock-newer", false, |sandbox| {
            drop(sandbox.write("skillpm.lock", "version = 9\nnews = true\n"));
        }),
        &["error", "`install"],
    );
    names(
        &case("lock-unreadable", false, |sandbox| {
            drop(sandbox.write(
                "skillpm.lock",
                "version = 1\n[[skill]]\nname = \"../../canary\"\nsource = \"path:x\"\ndigest = \"\"\n",
            ));
        }),
        &["error", "../../canary", "`install"],
    );
}

#[test]
fn directories() {
    names(
        &case("directory-outside", false, |sandbox| {
            remove(sandbox, ".claude");
            std::fs::create_dir(sandbox.project().join(".claude")).expect("creates");
            link(sandbox, "../../home", ".claude/skills");
        }),
        &["error", ".claude/skills", "[DIR]/home", "scope=user"],
    );
    names(
        &case("directory-unreadable", false, |sandbox| {
            remove(sandbox, ".claude/skills");
            drop(sandbox.write(".claude/skills", "a file"));
        }),
        &["error", ".claude/skills"],
    );
    names(
        &case("directory-unreadable", false, |sandbox| {
            remove(sandbox, ".agents");
            drop(sandbox.write(".agents", "a file"));
        }),
        &["error", ".agents"],
    );
    names(
        &case("name-twins", false, |sandbox| write_skill(sandbox, ".agents/skills/PDF")),
        &["warning", "PDF", "pdf", ".agents/skills"],
    );
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
    sandbox.tells(
        &["doctor", "--verbose"],
        1,
        "findings: id severity skill agent",
        &["seen-twice note - cursor", "seen-twice note - goose", "agent-reads-nothing warning - windsurf"],
    );
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

/// Two skills under different names that call themselves the same: who goes by that name takes one, and Claude Code both.
#[test]
fn skills_that_call_themselves_the_same() {
    let sandbox = machine();
    write_skill(&sandbox, "../other/pdf");
    sandbox.write("../other/pdf/notes.md", "another one");
    sandbox.ok(&["install", "../other", "--as", "pdf-two"]);
    sandbox.ok(&["doctor"]);
    // The library takes one as well, as `catalog` warns.
    assert!(sandbox.ok(&["catalog"]).stderr.contains("the skill `pdf` was found twice"));
    let told = "note: `pdf` and `pdf-two` have the name `pdf` in their `SKILL.md`: skillpm, which goes by that, takes one of them";
    let output = sandbox.ok(&["doctor", "--verbose"]);
    assert!(output.stdout.contains(told), "{output}");
    // Codex lists both, as its listing says.
    std::fs::create_dir_all(sandbox.home().join(".codex")).expect("a directory");
    sandbox.ok(&["doctor"]);
    std::fs::create_dir_all(sandbox.home().join(".config/goose")).expect("a directory");
    let output = sandbox.run(&["doctor"]);
    assert_eq!(output.code, Some(1), "{output}");
    let told = "`pdf` and `pdf-two` have the name `pdf` in their `SKILL.md`: skillpm and Goose, which go by that, take one of them";
    assert!(output.stdout.contains(told), "{output}");
    assert!(output.stdout.contains("`skillpm disable pdf-two` leaves the other"), "{output}");
    sandbox.ok(&["disable", "pdf-two"]);
    assert!(!sandbox.ok(&["doctor", "--verbose"]).stdout.contains("have the name"));
    // What nobody installed is not disabled.
    write_skill(&sandbox, ".agents/skills/mine/pdf");
    sandbox.write(".agents/skills/mine/pdf/notes.md", "a third one");
    let output = sandbox.run(&["doctor"]);
    let told = "`pdf` and `mine/pdf` have the name `pdf`";
    assert!(output.stdout.contains(told) && output.stdout.contains("rename or remove one"), "{output}");
}

/// A run that was killed between its steps is finished, and a part of a move is kept before it goes.
#[test]
fn what_killed_runs_left() {
    names(
        &case("run-cut-off", true, |sandbox| {
            // The step that makes the link was done, and the rest was not.
            sandbox.write(".agents/.skillpm-tx/.gitignore", "*\n");
            let journal = r#"{"version":1,"steps":[{"link":{"agent":"claude-code","name":"pdf"}}],"manifest":null,"lockfile":null}"#;
            sandbox.write(".agents/.skillpm-tx/journal.json", journal);
            // Both are rubbish once the run is finished; a copy shows that no other file is lost.
            sandbox.write("../home/journal", journal);
            drop(sandbox.write("../home/gitignore", "*\n"));
        }),
        &["error", ".agents"],
    );
    names(
        &case("leftover", true, |sandbox| {
            write_skill(sandbox, ".claude/skills/.skillpm-moving-pdf");
            drop(
                sandbox.write(".claude/skills/.skillpm-moving-pdf/notes.md", "the last copy of what I wrote"),
            );
        }),
        &["warning", ".claude/skills/.skillpm-moving-pdf"],
    );
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
    sandbox.tells(&["doctor", "--fix"], 1, "findings: id severity", &["run-cut-off error"]);
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
    sandbox.tells(
        &["doctor"],
        1,
        "findings: id severity",
        &["store-stage warning", "download-damaged warning", "download-rest warning"],
    );
    sandbox.tells(
        &["doctor", "--fix"],
        0,
        "findings: id severity fixed",
        &["store-stage warning true", "download-damaged warning true", "download-rest warning true"],
    );
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

/// Several things at once, of which one stops no other: what a person sees, word for word.
#[test]
fn the_page() {
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
          "lacks": [],
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
          "lacks": [],
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
    names(
        &case_on(&with_editable(), "editable-link", true, |sandbox| remove(sandbox, BRAND)),
        &["error", ".agents/skills/brand"],
    );
    names(
        &case_on(&with_editable(), "editable-link", true, |sandbox| link(sandbox, "../../src/pdf", BRAND)),
        &["error", ".agents/skills/brand", "../../src/pdf", "work/brand"],
    );
    // Something of the user's lies there: an installation would not take it away either.
    names(
        &case_on(&with_editable(), "editable-link", false, |sandbox| {
            remove(sandbox, BRAND);
            write_skill(sandbox, BRAND);
            drop(sandbox.write(".agents/skills/brand/notes.md", "what I wrote"));
        }),
        &["error", ".agents/skills/brand", "work/brand", "`doctor"],
    );
    names(
        &case_on(&with_editable(), "editable-gone", false, |sandbox| {
            rename(sandbox, "work/brand", "elsewhere/brand");
        }),
        &["error", "./work/brand", "`remove"],
    );
    names(
        &case_on(&with_editable(), "editable-gone", false, |sandbox| {
            rename(sandbox, "work/brand/SKILL.md", "work/brand/draft.md");
        }),
        &["error", "./work/brand", "SKILL.md", "skillpm.toml", "subdir"],
    );
    case_on(&with_editable(), "link-missing", true, |sandbox| remove(sandbox, ".claude/skills/brand"));
    case_on(&with_editable(), "link-wrong", false, |sandbox| {
        link(sandbox, "../../work/brand", ".claude/skills/brand");
    });
    names(
        &case_on(&with_editable(), "disabled-leftover", false, |sandbox| {
            write_skill(sandbox, ".agents/.skillpm-disabled/brand");
        }),
        &["warning", ".agents/.skillpm-disabled/brand", "`doctor"],
    );
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
    sandbox.tells(
        &["doctor", "--fix"],
        1,
        "findings: id severity skill fixed",
        &["locked-otherwise warning pdf false", "editable-link error pdf true"],
    );
    let link = std::fs::read_link(sandbox.project().join(COPY)).expect("a link");
    assert_eq!(link, Path::new("../../src/pdf"));
    sandbox.ok(&["install"]);
    sandbox.ok(&["doctor"]);
}

#[test]
fn disabled_skills() {
    with_disabled().ok(&["doctor"]);
    // It lies where agents see it.
    names(
        &case_on(&with_disabled(), "disabled-visible", true, |sandbox| rename(sandbox, ASIDE, COPY)),
        &["warning", ".agents/skills/pdf"],
    );
    case_on(&with_disabled(), "disabled-visible", true, |sandbox| {
        rename(sandbox, ASIDE, COPY);
        drop(sandbox.write(".agents/skills/pdf/notes.md", "what I wrote"));
    });
    // In both places: the same, edited in one, edited in both.
    names(
        &case_on(&with_disabled(), "disabled-visible", true, |sandbox| write_skill(sandbox, COPY)),
        &["warning", ".agents/skills/pdf", ".agents/.skillpm-disabled/pdf"],
    );
    case_on(&with_disabled(), "disabled-visible", true, |sandbox| {
        write_skill(sandbox, COPY);
        drop(sandbox.write(&format!("{ASIDE}/notes.md"), "what I wrote"));
    });
    names(
        &case_on(&with_disabled(), "disabled-visible", false, |sandbox| {
            write_skill(sandbox, COPY);
            drop(sandbox.write(".agents/skills/pdf/notes.md", "what I wrote"));
        }),
        &["warning", ".agents/skills/pdf", ".agents/.skillpm-disabled/pdf", "`doctor"],
    );
    names(
        &case_on(&with_disabled(), "skill-missing", true, |sandbox| remove(sandbox, ASIDE)),
        &["error", ".agents/.skillpm-disabled/pdf"],
    );
    case_on(&with_disabled(), "skill-no-directory", false, |sandbox| {
        remove(sandbox, ASIDE);
        drop(sandbox.write(ASIDE, "a file"));
    });
    // Links and copies that somebody put back.
    names(
        &case_on(&with_disabled(), "link-unwanted", true, |sandbox| {
            link(sandbox, "../../.agents/skills/pdf", LINK);
        }),
        &["warning", ".claude/skills/pdf"],
    );
    names(
        &case_on(&with_disabled(), "stray-copy", true, |sandbox| write_skill(sandbox, LINK)),
        &["warning", ".claude/skills/pdf"],
    );
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
    names(
        &case("disabled-leftover", false, |sandbox| {
            write_skill(sandbox, ".agents/.skillpm-disabled/old");
        }),
        &["warning", "rm -r [DIR]/project/.agents/.skillpm-disabled/old"],
    );
    // An installed skill of which a copy was left there.
    names(
        &case("disabled-leftover", true, |sandbox| write_skill(sandbox, ASIDE)),
        &["warning", ".agents/.skillpm-disabled/pdf"],
    );
    case("disabled-leftover", false, |sandbox| {
        write_skill(sandbox, ASIDE);
        drop(sandbox.write(&format!("{ASIDE}/notes.md"), "what I wrote"));
    });
    // It lies there alone.
    names(
        &case("skill-missing", true, |sandbox| {
            rename(sandbox, COPY, ASIDE);
            drop(sandbox.write(&format!("{ASIDE}/notes.md"), "what I wrote"));
        }),
        &["error", ".agents/.skillpm-disabled/pdf"],
    );
    case("directory-outside", false, |sandbox| link(sandbox, "../../home", ".agents/.skillpm-disabled"));
}

/// Disabled and enabled by hand, in the manifest.
#[test]
fn the_manifest_decides_who_is_disabled() {
    let sandbox = machine();
    let healthy = sandbox.tree(&sandbox.project());
    rewrite(&sandbox, "subdir = \"pdf\"", "subdir = \"pdf\", disabled = true");
    sandbox.write(".agents/skills/pdf/notes.md", "what I wrote");
    sandbox.tells(
        &["doctor", "--fix"],
        0,
        "findings: id severity skill agent fixed",
        &[
            "disabled-visible warning pdf - true",
            "link-unwanted warning pdf claude-code true",
            "skill-edited note pdf - false",
        ],
    );
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
    names(
        &case_on(&own(), "link-missing", true, |sandbox| remove(sandbox, ".windsurf/skills/pdf")),
        &["error", ".windsurf/skills/pdf"],
    );
    names(
        &case_on(&own(), "link-unwanted", false, |sandbox| {
            link(sandbox, "../../.agents/skills/docx", ".windsurf/skills/docx");
        }),
        &["warning", "`link", "rm [DIR]/project/.windsurf/skills/docx"],
    );
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
    sandbox.tells(
        &["doctor", "--fix"],
        1,
        "findings: id severity skill agent fixed",
        &[
            "locked-otherwise warning docx - false",
            "locked-otherwise warning pdf - false",
            "link-unwanted warning docx claude-code true",
            "link-unwanted warning pdf claude-code true",
        ],
    );
    assert!(!sandbox.project().join(LINK).is_symlink());
    sandbox.ok(&["install"]);
    sandbox.ok(&["doctor"]);
    // Agents that there are not, in the entry of a skill and in the lockfile.
    names(
        &case("agent-unknown", false, |sandbox| {
            rewrite(sandbox, "subdir = \"pdf\"", "subdir = \"pdf\", agents = [\"claude-code\", \"cluade\"]");
        }),
        &["error", "cluade", "pdf", "claude-code"],
    );
    names(
        &case_on(&silent(), "agent-unknown", false, |sandbox| {
            let lock =
                sandbox.read("skillpm.lock").replacen("\"claude-code\"", "\"claude-code\", \"cluade\"", 1);
            drop(sandbox.write("skillpm.lock", lock));
        }),
        &["error", "cluade", "docx", "claude-code"],
    );
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
        &["link", "--agent", "junie", "pdf", "brand"],
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
    sandbox.tells(
        &["doctor"],
        1,
        "findings: id severity skill agent",
        &["link-missing error pdf claude-code"],
    );
    sandbox.ok(&["doctor", "--fix"]);
    sandbox.ok(&["verify"]);
    // What says anything else is somebody's.
    std::fs::remove_file(sandbox.project().join(".claude/skills/pdf")).expect("removes");
    sandbox.write(".claude/skills/pdf", "../../.agents/skills/pdf\n");
    sandbox.tells(
        &["doctor"],
        1,
        "findings: id severity skill agent",
        &["link-missing error pdf claude-code"],
    );
    let told = sandbox.run(&["install", "--force"]);
    assert_eq!(told.code, Some(1), "{told}");
    assert!(told.stderr.contains("pdf` is a file where skillpm would put a skill or a link"), "{told}");
    std::fs::remove_file(sandbox.project().join(".claude/skills/pdf")).expect("removes");
    sandbox.ok(&["doctor", "--fix"]);
    sandbox.ok(&["verify"]);
}
