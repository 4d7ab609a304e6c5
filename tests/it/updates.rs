//! What is newer: `outdated`, `diff --newest` and `update` tell the same of the same skill.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::registries::RegistryFiles;
use crate::support::{Forge, Sandbox, Tree};

/// What a verb says of a skill: its status, where it is now, and whether it is held back.
type State = (Value, Value, bool);

fn state(row: &Value) -> State {
    (row["status"].clone(), row["moved_to"].clone(), row["held_back"].is_string())
}

/// The rows of a verb, by name.
fn rows(list: &Value) -> BTreeMap<String, State> {
    let rows = list.as_array().expect("rows").iter();
    rows.map(|row| (row["name"].as_str().expect("a name").to_owned(), state(row))).collect()
}

fn json_of(sandbox: &Sandbox, args: &[&str]) -> Value {
    let output = sandbox.run(args);
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}: {output}"))
}

/// Asks all three verbs, compares what they say, and returns it with what `diff` has compared.
fn agreed(sandbox: &Sandbox, more: &[&str]) -> (BTreeMap<String, State>, Vec<String>) {
    let with = |args: &[&'static str]| [args, more].concat();
    let outdated = rows(&json_of(sandbox, &with(&["outdated", "-p", "--json"])));
    let updated = rows(&json_of(sandbox, &with(&["update", "--dry-run", "--json"]))["skills"]);
    assert_eq!(outdated, updated, "`outdated` and `update`");
    let compared = rows(&json_of(sandbox, &with(&["diff", "--newest", "-p", "--json"])));
    for (name, state) in &compared {
        assert_eq!(outdated.get(name), Some(state), "`outdated` and `diff`: {name}");
    }
    (outdated, compared.into_keys().collect())
}

fn text(name: &str, line: &str) -> String {
    format!("---\nname: {name}\ndescription: Does what {name} does.\n---\n\n# {name}\n\n{line}\n")
}

/// Skills in their directories, with a line of text each.
fn tree(skills: &[(&str, &str, &str)]) -> Tree {
    skills
        .iter()
        .fold(Tree::new(), |tree, (dir, name, line)| tree.file(&format!("{dir}/SKILL.md"), text(name, line)))
}

/// Skills of a repository in all states that one source can have at once.
fn scene() -> (Forge, Sandbox) {
    let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
    sandbox.forge(&forge);
    let skills = forge.repo("acme/skills");
    skills.commit(&tree(&[
        ("skills/edited", "edited", "one"),
        ("skills/gone", "gone", "one"),
        ("skills/mover", "mover", "one"),
        ("skills/newer", "newer", "one"),
        ("skills/off", "off", "one"),
        ("skills/same", "same", "one"),
        ("skills/torn", "torn", "one"),
    ]));
    sandbox.ok(&["install", "acme/skills", "--skill", "*"]);
    let branchy = forge.repo("acme/branchy");
    branchy.branch("feat", &branchy.commit(&tree(&[("skills/branchy", "branchy", "one")])));
    sandbox.ok(&["install", "acme/branchy", "--branch", "feat"]);
    branchy.unbranch("feat");
    let tagged = forge.repo("acme/tagged");
    tagged.tag("v1.0.0", &tagged.commit(&tree(&[("skills/tagged", "tagged", "one")])));
    sandbox.ok(&["install", "acme/tagged", "--tag", "v1.0.0"]);
    tagged.tag("v1.0.0", &tagged.commit(&tree(&[("skills/tagged", "tagged", "two")])));
    forge.serve("/lost.md", text("lost", "one"));
    sandbox.ok(&["install", &forge.url("/lost.md")]);
    forge.unserve("/lost.md");
    sandbox.write("mine/SKILL.md", text("mine", "one"));
    sandbox.write("own/SKILL.md", text("own", "one"));
    sandbox.ok(&["install", "--editable", "./mine"]);
    sandbox.ok(&["install", "./own"]);
    sandbox.write("own/SKILL.md", text("own", "two"));
    sandbox.ok(&["disable", "off"]);
    for name in ["edited", "torn"] {
        sandbox.write(&format!(".agents/skills/{name}/SKILL.md"), text(name, "mine"));
    }
    skills.commit(&tree(&[
        ("skills/edited", "edited", "one"),
        ("skills/newer", "newer", "two"),
        ("skills/off", "off", "two"),
        ("skills/other/mover", "mover", "two"),
        ("skills/same", "same", "one"),
        ("skills/torn", "torn", "two"),
    ]));
    (forge, sandbox)
}

fn plain(status: &str) -> State {
    (json!(status), Value::Null, false)
}

#[test]
fn the_verbs_agree_about_each_state() {
    let (_forge, sandbox) = scene();
    let (told, compared) = agreed(&sandbox, &[]);
    let expected = [
        ("branchy", plain("ref-gone")),
        ("edited", plain("current")),
        ("gone", plain("gone")),
        ("lost", plain("failed")),
        ("mine", plain("editable")),
        ("mover", (json!("moved"), json!("skills/other/mover"), false)),
        ("newer", plain("changed")),
        ("off", plain("changed")),
        ("own", plain("changed")),
        ("same", plain("current")),
        ("tagged", plain("changed")),
        ("torn", plain("changed")),
    ];
    assert_eq!(told, expected.map(|(name, state)| (name.to_owned(), state)).into());
    assert_eq!(compared, ["mover", "newer", "off", "own", "tagged", "torn"]);
    let planned = json_of(&sandbox, &["update", "--dry-run", "--json"]);
    let change = |name: &str| {
        let skills = planned["skills"].as_array().expect("skills").iter();
        skills.clone().find(|skill| skill["name"] == name).expect(name)["change"].clone()
    };
    let changes = ["branchy", "gone", "mover", "newer", "same", "torn"].map(change);
    assert_eq!(changes, ["failed", "failed", "updated", "updated", "unchanged", "conflict"]);
}

/// What is gone or moved is a finding and no failure, and is told in the same words.
#[test]
fn what_is_gone_or_moved_is_told_in_the_same_words() {
    let (forge, sandbox) = scene();
    forge.serve("/lost.md", text("lost", "one"));
    let moved = "`mover` moved from `skills/mover` to `skills/other/mover` in `acme/skills`";
    let gone = "`gone` is no longer found in `github:acme/skills/skills/gone`";
    let branch = "the branch `feat` of `acme/branchy` no longer exists";
    for args in
        [&["outdated"][..], &["diff", "--newest"], &["diff", "--newest", "--json"], &["update", "--dry-run"]]
    {
        let output = sandbox.run(args);
        assert_eq!(output.code, Some(i32::from(args[0] == "update")), "{args:?}: {output}");
        assert!(!output.stderr.contains("`: there is no directory"), "{args:?}: once is enough: {output}");
        assert!(!output.stderr.contains("gone was left as is"), "{args:?}: {output}");
        for told in [moved, gone, branch] {
            // `outdated --json` has it in the rows.
            assert_eq!(output.stderr.matches(told).count(), 1, "{args:?}: {told}: {output}");
        }
    }
    let hint = "`skillpm install --list acme/branchy` shows what the default branch has";
    assert!(sandbox.run(&["diff", "branchy", "--newest"]).stderr.contains(hint));
}

/// The hint of a branch that is gone runs, whatever became of its skills elsewhere.
#[test]
fn the_hint_of_a_branch_that_is_gone_shows_what_there_is() {
    let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
    sandbox.forge(&forge);
    let repo = forge.repo("acme/kit");
    let needs = "---\nname: kit\ndescription: Kit.\nmetadata:\n  skill-dependencies: tool\n---\n";
    let tree = tree(&[("skills/tool", "tool", "one")]).file("skills/kit/SKILL.md", needs);
    repo.branch("feat", &repo.commit(&tree));
    sandbox.ok(&["install", "acme/kit", "--branch", "feat", "--skill", "kit"]);
    repo.unbranch("feat");
    for args in [&["outdated"][..], &["diff", "--newest"], &["update", "--dry-run"]] {
        let output = sandbox.run(args);
        assert!(output.stderr.contains("`skillpm install --list acme/kit` shows"), "{args:?}: {output}");
    }
}

/// A dependency that follows an entry to another branch is not reported as gone with the old one.
#[test]
fn what_follows_an_entry_to_another_branch_is_no_failure() {
    let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
    sandbox.forge(&forge);
    let repo = forge.repo("acme/kit");
    let kit = |text: &str| {
        let needs = "---\nname: kit\ndescription: Kit.\nmetadata:\n  skill-dependencies: tool\n---\n";
        tree(&[("skills/tool", "tool", text)]).file("skills/kit/SKILL.md", format!("{needs}{text}\n"))
    };
    repo.branch("feat", &repo.commit(&kit("one")));
    sandbox.ok(&["install", "acme/kit", "--branch", "feat", "--skill", "kit"]);
    repo.unbranch("feat");
    repo.commit(&kit("two"));
    let manifest = sandbox.read("skillpm.toml").replace(", branch = \"feat\"", "");
    sandbox.write("skillpm.toml", manifest);
    let updated = sandbox.ok(&["update"]).stderr;
    assert!(updated.contains("2 skills updated") && !updated.contains("left as is"), "{updated}");
}

/// An entry whose skill moved before anybody locked it: the error says where it is now, and what to write.
#[test]
fn an_entry_whose_skill_moved_is_told_with_the_new_place() {
    let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
    sandbox.forge(&forge);
    let repo = forge.repo("acme/kit");
    repo.commit(&tree(&[("extra/alone", "alone", "one"), ("skills/pdf", "pdf", "one")]));
    let entry =
        |name: &str| format!("[skills]\n{name} = {{ github = \"acme/kit\", path = \"skills/{name}\" }}\n");
    sandbox.write("skillpm.toml", entry("alone"));
    let moved = sandbox.run(&["install"]);
    assert!(
        moved.stderr.contains("`alone` moved from `skills/alone` to `extra/alone` in `acme/kit`"),
        "{moved}"
    );
    assert!(moved.stderr.contains("write `path = \"extra/alone\"` into its entry"), "{moved}");
    sandbox.write("skillpm.toml", entry("gone"));
    let gone = sandbox.run(&["install"]);
    assert!(gone.stderr.contains("`gone`: there is no directory `skills/gone`"), "{gone}");
    sandbox.write("skillpm.toml", entry("alone").replace("skills/alone", "extra/alone"));
    sandbox.ok(&["install"]);
}

/// A policy holds back what is too young, and refuses a source before it is asked.
#[test]
fn the_verbs_agree_about_policies() {
    let (_forge, sandbox) = scene();
    let manifest = sandbox.read("skillpm.toml");
    let policy = "[policy]\nminimum-release-age = \"9000w\"\nminimum-release-age-exclude = \
                  [\"github:acme/tagged\"]\ndeny = [\"path:./own\"]\n";
    sandbox.write("skillpm.toml", format!("{manifest}\n{policy}"));
    let (told, compared) = agreed(&sandbox, &[]);
    assert_eq!(told["newer"], (json!("changed"), Value::Null, true));
    assert_eq!(told["tagged"], plain("changed"));
    assert_eq!(told["own"], plain("refused"));
    assert_eq!(compared, ["tagged"]);
    let words = "`newer` is held back: the newest version was released only";
    for args in [&["outdated", "newer"][..], &["diff", "--newest", "newer"]] {
        let output = sandbox.ok(args);
        assert!(output.stderr.contains(words), "{args:?}: {output}");
    }
}

/// Registries list versions, of which those that fit together are the newest.
#[test]
fn the_verbs_agree_about_registries() {
    let sandbox = Sandbox::new();
    let usual =
        || RegistryFiles::default().add("back", "1.0.0", "").add("far", "1.0.0", "").add("near", "1.0.0", "");
    usual().write(&sandbox, "../registry");
    sandbox.write("skillpm.toml", "[registries]\ndefault = \"../registry\"\n");
    sandbox.ok(&["install", "back@^1", "far@^1", "near@^1"]);
    RegistryFiles::default()
        .add("back", "1.0.0", "")
        .yanked()
        .add("back", "1.0.1", "")
        .add("far", "1.0.0", "")
        .add("far", "2.0.0", "")
        .add("near", "1.0.0", "")
        .add("near", "1.1.0", "")
        .write(&sandbox, "../registry");
    let (told, compared) = agreed(&sandbox, &[]);
    assert_eq!((&told["far"], &told["near"]), (&plain("current"), &plain("changed")));
    assert_eq!(compared, ["back", "near"]);
    let outdated = json_of(&sandbox, &["outdated", "--json"]);
    assert_eq!((&outdated[0]["yanked"], &outdated[1]["latest"]), (&json!(true), &json!("2.0.0")));
    // For one skill as for all.
    let one = json_of(&sandbox, &["outdated", "near", "--json"]);
    assert_eq!((&one[0]["newest"], &one[0]["status"]), (&json!("1.1.0"), &json!("changed")));
}

/// A withdrawn version stays where no other fits, also when all are free to move; one that fits comes instead, and a later
/// one of the manifest's own range.
#[test]
fn a_withdrawn_version_stays_where_no_other_fits() {
    let sandbox = Sandbox::new();
    let publish = |more: &[&'static str]| {
        let files = RegistryFiles::default().add("pdf", "1.0.0", "").add("pdf", "1.1.0", "").yanked();
        more.iter()
            .fold(files, |files, version| files.add("pdf", version, ""))
            .write(&sandbox, "../registry");
    };
    RegistryFiles::default().add("pdf", "1.1.0", "").write(&sandbox, "../registry");
    sandbox.write("skillpm.toml", "[registries]\ndefault = \"../registry\"\n");
    sandbox.ok(&["install", "pdf@^1.1"]);
    publish(&[]);
    let told = "`pdf` 1.1.0 was withdrawn from its registry";
    for args in [&["outdated"][..], &["update", "--dry-run"], &["update"], &["update", "pdf"]] {
        let output = sandbox.ok(args);
        assert!(output.stderr.contains(told), "{args:?}: {output}");
        assert!(output.stderr.contains("which has no other version that fits"), "{args:?}: {output}");
    }
    let row = json_of(&sandbox, &["outdated", "--json"])[0].clone();
    assert_eq!((&row["status"], &row["yanked"]), (&json!("current"), &json!(true)));
    publish(&["1.1.1"]);
    assert!(sandbox.ok(&["update"]).stderr.contains("goes on to 1.1.1"));
    assert!(sandbox.read("skillpm.lock").contains("revision = \"1.1.1\""));
    // A new installation does not take what is withdrawn.
    std::fs::remove_file(sandbox.project().join("skillpm.lock")).expect("removes");
    publish(&[]);
    assert_ne!(sandbox.run(&["install", "pdf@^1.1", "--force"]).code, Some(0));
}

/// Without the network, nothing is known of what was never asked for.
#[test]
fn the_verbs_agree_offline() {
    let (_forge, sandbox) = scene();
    std::fs::remove_dir_all(sandbox.home().join(".cache")).expect("removes");
    let (told, compared) = agreed(&sandbox, &["--offline"]);
    assert_eq!((&told["newer"], &told["own"]), (&plain("not-asked"), &plain("changed")));
    assert_eq!(compared, ["own"]);
    for args in [&["outdated", "newer", "--offline"][..], &["diff", "--newest", "newer", "--offline"]] {
        let output = sandbox.ok(args);
        assert!(output.stderr.contains("nothing is known about 1 skill"), "{args:?}: {output}");
    }
}
