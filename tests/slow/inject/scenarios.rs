//! The commands that are disturbed.

use std::sync::LazyLock;

use super::{Scenario, inject};
use crate::support::{Forge, Sandbox, Tree, snapshot, strace};

/// The texts of the user's edits.
const EDIT: &str = "a line of the user's";
const FILE: &str = "a file of the user's";

const PLAIN: Scenario = Scenario {
    what: "",
    prepare: |_| (),
    args: &[],
    code: 0,
    next: &["install"],
    precious: &[],
    mount: None,
    fails: None,
    absent: false,
    toggles: false,
};

fn write_skill(sandbox: &Sandbox, name: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n{body}\n");
    sandbox.write(&format!("src/{name}/SKILL.md"), text);
    sandbox.write(&format!("src/{name}/scripts/run.sh"), format!("#!/bin/sh\necho {body}\n"));
}

fn sources(sandbox: &Sandbox, body: &str) {
    for name in ["one", "two"] {
        write_skill(sandbox, name, body);
    }
}

const INSTALL: &[&str] = &["install", "./src", "-s", "*", "-a", "claude-code"];

fn installed(sandbox: &mut Sandbox) {
    sources(sandbox, "first");
    run(sandbox, INSTALL);
}

fn run(sandbox: &Sandbox, args: &[&str]) {
    let output = sandbox.run(args);
    assert_eq!(output.code, Some(0), "{args:?}: {output}");
}

fn outdated(sandbox: &mut Sandbox) {
    installed(sandbox);
    sources(sandbox, "second");
}

fn edited(sandbox: &mut Sandbox) {
    outdated(sandbox);
    sandbox.write(".agents/skills/one/SKILL.md", EDIT);
    sandbox.write(".agents/skills/one/notes.md", FILE);
}

fn disabled(sandbox: &mut Sandbox) {
    installed(sandbox);
    run(sandbox, &["disable", "one"]);
}

/// Disabled, with an edit, which moves along.
fn disabled_and_edited(sandbox: &mut Sandbox) {
    disabled(sandbox);
    sandbox.write(".agents/.skillpm-disabled/one/notes.md", FILE);
}

fn installed_and_edited(sandbox: &mut Sandbox) {
    installed(sandbox);
    sandbox.write(".agents/skills/one/notes.md", FILE);
}

/// Locked, and not there.
fn cloned(sandbox: &mut Sandbox) {
    installed(sandbox);
    for dir in [".agents", ".claude"] {
        std::fs::remove_dir_all(sandbox.project().join(dir)).expect("removed");
    }
}

/// As after `git clone` on another machine, whose store is empty.
fn cloned_elsewhere(sandbox: &mut Sandbox) {
    cloned(sandbox);
    std::fs::remove_dir_all(sandbox.home().join(".local")).expect("removed");
}

/// What a run leaves that is killed between two of its steps.
fn cut_off(sandbox: &mut Sandbox) {
    outdated(sandbox);
    let is_second = |call: &&strace::Call| call.is_rename() && call.path().ends_with(".agents/skills/two");
    let saved = Sandbox::in_memory();
    snapshot::restore(sandbox.root(), saved.root());
    let plain = strace::run(sandbox, INSTALL, &[]);
    let call = plain.calls.iter().find(is_second).expect("the second step");
    snapshot::restore(saved.root(), sandbox.root());
    strace::run(sandbox, INSTALL, &[format!("{}:signal=KILL:when={}", call.name, call.nth)]);
    assert!(sandbox.project().join(".agents/.skillpm-tx/journal.json").exists());
}

/// A repository with two skills, on a server.
static FORGE: LazyLock<Forge> = LazyLock::new(|| {
    let forge = Forge::start();
    forge.repo("acme/skills").commit(&Tree::new().skill("one", "one").skill("two", "two"));
    forge
});

fn online(sandbox: &mut Sandbox) {
    sandbox.forge(&FORGE);
}

/// A skill that needs another one of its source.
fn needy(sandbox: &mut Sandbox) {
    sources(sandbox, "first");
    needs(sandbox, "two");
}

fn needs(sandbox: &Sandbox, name: &str) {
    let text = sandbox.read("src/one/SKILL.md");
    let metadata = format!("metadata:\n  skill-dependencies: {name}\n---\n");
    let start = text.find("metadata:").or_else(|| text.find("---\nfirst")).expect("an end");
    sandbox.write("src/one/SKILL.md", text[..start].to_owned() + &metadata + "second\n");
}

fn with_its_needs(sandbox: &mut Sandbox) {
    needy(sandbox);
    run(sandbox, NEEDY);
}

/// A newer version that needs another skill than the one before.
fn with_other_needs(sandbox: &mut Sandbox) {
    with_its_needs(sandbox);
    write_skill(sandbox, "three", "first");
    needs(sandbox, "three");
}

/// A download, a tree that nobody needs, and a copy of what the user edited.
fn used(sandbox: &mut Sandbox) {
    edited(sandbox);
    run(sandbox, &["install", "./src/one", "--force"]);
    for (path, bytes) in
        [("github/refs/a.json", "{}"), ("git/b.git/HEAD", "ref: x"), ("git/b.git/objects/x", "x")]
    {
        let path = sandbox.home().join(".cache/skillpm").join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, bytes).expect("a file");
    }
}

fn updated(sandbox: &mut Sandbox) {
    outdated(sandbox);
    run(sandbox, INSTALL);
}

fn removed_by_force(sandbox: &mut Sandbox) {
    installed_and_edited(sandbox);
    run(sandbox, &["remove", "one", "--force"]);
}

/// A newer version, and a file of the user's in the installed one.
fn added_to(sandbox: &mut Sandbox) {
    outdated(sandbox);
    sandbox.write(".agents/skills/one/notes.md", FILE);
}

/// A newer version that changes the line that the user changed.
fn in_conflict(sandbox: &mut Sandbox) {
    outdated(sandbox);
    let text = sandbox.read(".agents/skills/one/SKILL.md").replace("first", EDIT);
    sandbox.write(".agents/skills/one/SKILL.md", text);
}

fn merged(sandbox: &mut Sandbox) {
    in_conflict(sandbox);
    assert_eq!(sandbox.run(UPDATE).code, Some(1));
}

/// Not in canonical form.
fn unformatted(sandbox: &mut Sandbox) {
    sandbox.write(
        "src/one/SKILL.md",
        "---\ndescription:   Does one. Use it in tests.\nname: one\n---\n\n\n\nx\n",
    );
}

fn versioned(sandbox: &mut Sandbox) {
    let text = "---\nname: one\ndescription: Does one. Use it in tests.\nlicense: MIT\nmetadata:\n  version: \"1.0.0\"\n---\n\n# One\n";
    sandbox.write("src/one/SKILL.md", text);
}

macro_rules! scenarios {
    ($($name:ident, $what:literal, $prepare:expr, $args:expr $(, $field:ident: $value:expr)*;)*) => {$(
        #[test]
        fn $name() {
            inject(&Scenario { what: $what, prepare: $prepare, args: $args, $($field: $value,)* ..PLAIN });
        }
    )*};
}

const FORCE: &[&str] = &["install", "./src", "-s", "*", "--force"];
const CREATE: &[&str] = &["create", "three", "--description", "Does three. Use it in tests.", "-y"];
const CREATE_HERE: &[&str] =
    &["create", "three", "--scope", "project", "--description", "Does three. Use it in tests.", "-y"];
const PACK: &[&str] = &["pack", "src/one", "--force"];
const EXPORT: &[&str] = &["export", "skills-lock"];
const CATALOG: &[&str] = &["catalog", "--write", "AGENTS.md"];
const UPDATE: &[&str] = &["update", "--allow-new-capabilities"];
const NEEDY: &[&str] = &["install", "./src", "-s", "one", "-a", "claude-code"];
const EDITS: &[&str] = &[EDIT, FILE];

scenarios! {
    install, "`install` of two skills", |s| sources(s, "first"), INSTALL;
    install_copies, "`install --copy`", |s| sources(s, "first"), &["install", "./src", "-s", "*", "-a", "claude-code", "--copy"];
    install_newer, "`install` of newer versions", outdated, INSTALL;
    install_force, "`install --force` over edits", edited, FORCE, precious: EDITS;
    install_fails, "`install --force` over edits, taken back", edited, FORCE, precious: EDITS, fails: Some(("rename", "project/skillpm.lock"));
    install_first_fails, "`install`, taken back", |s| sources(s, "first"), INSTALL, fails: Some(("rename", "project/skillpm.toml"));
    download, "`install owner/repo`", online, &["install", "acme/skills", "-s", "*"];
    restore, "`install` from lockfile and store", cloned, &["install"];
    restore_without_store, "`install` from lockfile and source", cloned_elsewhere, &["install"];
    recover, "`install` after a run that was killed", cut_off, &["install"];
    install_needs, "`install` of a skill with what it needs", needy, NEEDY;
    update_needs, "`update` of a skill that needs another one now", with_other_needs, UPDATE;
    remove_needs, "`remove` of a skill with what only it needs", with_its_needs, &["remove", "one"];
    remove, "`remove`", installed, &["remove", "one"];
    remove_force, "`remove --force` of an edited skill", installed_and_edited, &["remove", "one", "--force"], precious: &[FILE];
    disable, "`disable` of an edited skill", installed_and_edited, &["disable", "one"], precious: &[FILE];
    enable, "`enable` of an edited skill", disabled_and_edited, &["enable", "one"], precious: &[FILE];
    link, "`link`", installed, &["link", "-a", "junie"];
    unlink, "`unlink`", installed, &["unlink", "-a", "claude-code"];
    update, "`update`", outdated, UPDATE;
    update_merge, "`update` that merges a file of the user's", added_to, UPDATE, precious: &[FILE];
    update_conflict, "`update` that ends in a conflict", in_conflict, UPDATE, code: 1, precious: &[EDIT];
    update_abort, "`update --abort`", merged, &["update", "--abort"], precious: &[EDIT];
    update_across, "`update` that merges, skills on another disk", added_to, UPDATE, precious: &[FILE], mount: Some(".agents/skills");
    undo_newer, "`undo` of newer versions", updated, &["undo"], toggles: true;
    undo_remove, "`undo` of a removal by force", removed_by_force, &["undo"], toggles: true, precious: &[FILE];
    undo_first, "`undo` of the first installation", installed, &["undo"], toggles: true;
    undo_across, "`undo` of newer versions, skills on another disk", updated, &["undo"], toggles: true, mount: Some(".agents/skills");
    editable, "`install --editable`", installed, &["install", "-e", "./src/one"], absent: true;
    create, "`create`", |_| (), CREATE, next: CREATE;
    create_in_project, "`create --scope project`", |_| (), CREATE_HERE, next: CREATE_HERE;
    fmt, "`fmt`", unformatted, &["fmt", "src/one"], next: &["fmt", "src/one"];
    pack, "`pack`", versioned, PACK, next: PACK;
    export, "`export`", installed, EXPORT, next: EXPORT;
    catalog, "`catalog --write`", installed, CATALOG, next: CATALOG;
    cache_clean, "`cache clean --store`", used, &["cache", "clean", "--store"], precious: EDITS;
    cache_prune, "`cache prune`", used, &["cache", "prune", "--older-than", "0d"], precious: EDITS;
    install_newer_across, "`install` of newer versions, skills on another disk", outdated, INSTALL, mount: Some(".agents/skills");
    install_force_across, "`install --force` over edits, skills on another disk", edited, FORCE, precious: EDITS, mount: Some(".agents/skills");
    remove_across, "`remove`, skills on another disk", installed, &["remove", "one"], mount: Some(".agents/skills");
    disable_across, "`disable` of an edited skill, skills on another disk", installed_and_edited, &["disable", "one"], precious: &[FILE], mount: Some(".agents/skills");
}
