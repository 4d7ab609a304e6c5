//! How a merge ends that somebody had to look at: all of what it changed goes back, and no note of it stays.

use crate::support::Sandbox;

const RECORDS: &str = ".agents/.skillpm-merge";
const HOME: &str = ".agents/skills/pdf/SKILL.md";

/// A `SKILL.md` of `pdf` with `line`, which needs the skills `needs`.
fn text(line: &str, needs: &str) -> String {
    let metadata = if needs.is_empty() {
        String::new()
    } else {
        format!("metadata:\n  skill-dependencies: \"{needs}\"\n")
    };
    format!("---\nname: pdf\ndescription: Does pdf. Use it in tests.\n{metadata}---\n\n{line}\n")
}

/// `pdf` needs `base`, was edited, and its next version needs nothing and conflicts.
fn scene() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/base/SKILL.md",
        "---\nname: base\ndescription: Is needed. Use it in tests.\n---\n\nbase\n",
    );
    sandbox.write("src/pdf/SKILL.md", text("one", "../base"));
    sandbox.ok(&["install", "./src", "--skill", "pdf", "-a", "claude-code"]);
    sandbox.write(HOME, text("mine", "../base"));
    sandbox.write("src/pdf/SKILL.md", text("new", ""));
    sandbox
}

fn update(sandbox: &Sandbox) {
    let output = sandbox.run(&["update"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(sandbox.project().join(RECORDS).exists());
}

/// What the update took away because nothing needs it any more comes back with what needs it.
#[test]
fn what_is_needed_again_comes_back() {
    let sandbox = scene();
    let before = sandbox.scope();
    update(&sandbox);
    assert!(!sandbox.project().join(".agents/skills/base").exists());
    sandbox.tells(
        &["update", "--abort"],
        0,
        "skills: name change status",
        &["base added -", "pdf aborted -"],
    );
    assert_eq!(sandbox.scope(), before);
    sandbox.ok(&["doctor"]);
    // Where it cannot be had any more, that is told, and an installation asks for it.
    let lock = sandbox.read("skillpm.lock");
    let (_, digest) = lock.split_once("sha256:").expect("`base` is the first one");
    update(&sandbox);
    let store = sandbox.home().join(".local/share/skillpm/store-v2/sha256");
    std::fs::remove_file(store.join(&digest[..2]).join(&digest[2..64])).expect("is there");
    sandbox.tells(
        &["update", "--abort"],
        0,
        "skills: name change status; warnings: code",
        &["pdf aborted -", "dependency-not-restored"],
    );
    let output = sandbox.run(&["doctor"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(
        output.stdout.contains("`pdf` needs `base`, which is not in `[DIR]/project/skillpm.lock`"),
        "{output}"
    );
    let output = sandbox.run(&["install"]);
    assert!(sandbox.project().join(".agents/skills/base/SKILL.md").exists(), "{output}");
}

/// A policy that came meanwhile says what may come back.
#[test]
fn what_a_policy_refuses_does_not_come_back() {
    let sandbox = scene();
    update(&sandbox);
    let manifest = sandbox.read("skillpm.toml");
    sandbox.write("skillpm.toml", format!("{manifest}\n[policy]\ndeny = [\"path:./src/base\"]\n"));
    let output = sandbox.run(&["update", "--abort"]);
    assert!(!sandbox.project().join(".agents/skills/base").exists(), "{output}");
}

/// Nobody is told of a merge that was taken back with all else, whatever comes later.
#[test]
fn an_update_that_was_taken_back_leaves_no_note() {
    let sandbox = scene();
    let before = sandbox.scope();
    update(&sandbox);
    let after = sandbox.scope();
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.scope(), before);
    assert!(!sandbox.project().join(RECORDS).exists());
    // Done again, it has its note again.
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.scope(), after);
    assert!(sandbox.project().join(RECORDS).exists());
    sandbox.ok(&["undo"]);
    sandbox.write(HOME, text("one", "../base"));
    sandbox.ok(&["update"]);
    let output = sandbox.run(&["update", "pdf", "--abort"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("there is no merge of `pdf` to undo"), "{output}");
}

/// The same of what a run left that was killed before its change began.
#[test]
fn a_version_that_comes_whole_ends_every_merge_into_it() {
    for verb in ["update", "install"] {
        let sandbox = scene();
        update(&sandbox);
        let record = sandbox.read(&format!("{RECORDS}/pdf.json"));
        let lock = sandbox.read("skillpm.lock");
        sandbox.ok(&["undo"]);
        sandbox.write(&format!("{RECORDS}/pdf.json"), &record);
        sandbox.write(HOME, text("one", "../base"));
        if verb == "install" {
            // Somebody else's update, as version control brings it.
            sandbox.write("skillpm.lock", lock);
        }
        sandbox.ok(&[verb]);
        assert_eq!(sandbox.read(HOME), text("new", ""), "{verb}");
        let output = sandbox.run(&["update", "pdf", "--abort"]);
        assert_eq!(output.code, Some(2), "{verb}: {output}");
    }
}

/// The source of `name`, with `line`, which needs the skills `needs`.
fn write(sandbox: &Sandbox, name: &str, line: &str, needs: &str) {
    sandbox.write(&format!("src/{name}/SKILL.md"), text(line, needs).replace("pdf", name));
}

/// `pdf` needs `tables`, which needs `brand`. The next versions need nothing, and `brand` is gone.
fn chain() -> Sandbox {
    let sandbox = Sandbox::new();
    write(&sandbox, "solo", "one", "");
    write(&sandbox, "brand", "one", "");
    write(&sandbox, "tables", "one", "../brand");
    write(&sandbox, "pdf", "one", "../tables");
    sandbox.ok(&["install", "./src", "--skill", "pdf", "--skill", "solo", "-a", "claude-code"]);
    write(&sandbox, "solo", "new", "");
    write(&sandbox, "tables", "new", "");
    std::fs::remove_dir_all(sandbox.project().join("src/brand")).expect("removed");
    sandbox
}

/// A skill that goes because nothing needs it is not one that stays because its source is gone.
#[test]
fn what_goes_does_not_stay_as_it_is() {
    let sandbox = chain();
    sandbox.tells(
        &["update"],
        0,
        "skills: name change status; skills.files: path",
        &[
            "brand removed gone",
            "pdf unchanged current",
            "solo updated changed",
            "tables updated changed",
            "SKILL.md",
            "SKILL.md",
        ],
    );
}

/// What an update of a skill brought along goes back with it, exactly; what has nothing to do with it stays.
#[test]
fn what_is_needed_goes_back_too() {
    for edited in [false, true] {
        let sandbox = chain();
        let tables = ".agents/skills/tables/SKILL.md";
        let solo = ".agents/skills/solo/SKILL.md";
        sandbox.write(HOME, text("mine", "../tables"));
        if edited {
            sandbox.write(tables, sandbox.read(tables) + "\nmine at the end\n");
        }
        write(&sandbox, "pdf", "new", "../tables");
        let before = (sandbox.read(tables), sandbox.read("skillpm.lock"), sandbox.read(HOME));
        update(&sandbox);
        assert!(!sandbox.project().join(".agents/skills/brand").exists());
        assert_ne!(sandbox.read(tables), before.0);
        let output = sandbox.ok(&["update", "pdf", "--abort"]);
        assert_eq!((sandbox.read(tables), sandbox.read(HOME)), (before.0, before.2), "{output}");
        assert!(sandbox.project().join(".agents/skills/brand/SKILL.md").exists());
        assert!(sandbox.read(solo).contains("new"), "it has nothing to do with it");
        let after = (sandbox.scope(), sandbox.read("skillpm.lock"));
        assert_eq!(sandbox.run(&["install", "--locked"]).code, Some(1), "edited skills are left as is");
        assert_eq!((sandbox.scope(), sandbox.read("skillpm.lock")), after);
        let lock = before.1.replace(digest_of(&before.1, "solo"), digest_of(&after.1, "solo"));
        assert_eq!(after.1, lock, "but for `solo` it is what it was");
    }
}

/// What was changed since stays, and what nothing needs then does not come back as an orphan.
#[test]
fn what_was_changed_since_stays() {
    let sandbox = chain();
    sandbox.write(HOME, text("mine", "../tables"));
    write(&sandbox, "pdf", "new", "../tables");
    update(&sandbox);
    write(&sandbox, "tables", "newer", "");
    sandbox.ok(&["update", "tables"]);
    let output = sandbox.ok(&["update", "pdf", "--abort"]);
    let told = "`tables`, which `pdf` needs, does not go back to what it was: it was changed since";
    assert!(output.stderr.contains(told), "{output}");
    assert!(sandbox.read(".agents/skills/tables/SKILL.md").contains("newer"));
    assert!(!sandbox.project().join(".agents/skills/brand").exists(), "{output}");
    let lock = sandbox.read("skillpm.lock");
    assert_eq!(sandbox.run(&["install", "--locked"]).code, Some(1), "edited skills are left as is");
    assert_eq!(sandbox.read("skillpm.lock"), lock);
}

/// The digest of `name` in a lockfile.
fn digest_of<'a>(lock: &'a str, name: &str) -> &'a str {
    let (_, entry) = lock.split_once(&format!("name = \"{name}\"")).expect("an entry");
    let (_, digest) = entry.split_once("digest = \"").expect("a digest");
    digest.split('"').next().expect("its end")
}
