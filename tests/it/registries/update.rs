//! What `update` decides for skills of registries holds when it brings what new versions need.

use super::*;

/// A skill `name` of a repository that needs `needs`.
fn document(name: &str, needs: &str) -> String {
    let needs = if needs.is_empty() { String::new() } else { format!("  skill-dependencies: {needs}\n") };
    format!("---\nname: {name}\ndescription: D.\nmetadata:\n  version: \"1.0\"\n{needs}---\n")
}

/// The changes of an update, each with the name of its skill.
fn changes(outcome: &Value) -> Vec<String> {
    let skills = outcome["skills"].as_array().expect("a list").iter();
    skills.map(|skill| format!("{} {}", skill["name"], skill["change"]).replace('"', "")).collect()
}

/// A version past the range comes with what only it needs, and the range follows.
#[test]
fn the_latest_version_comes_with_what_it_needs() {
    let files = || RegistryFiles::default().add("pdf", "1.0.0", "");
    let sandbox = project(&files());
    sandbox.ok(&["install", "pdf@^1"]);
    let more = files().add("pdf", "1.1.0", "").add("pdf", "2.0.0", "extra").add("extra", "1.0.0", "");
    more.write(&sandbox, "../registry");
    sandbox.ok(&["update", "--latest", "--allow-new-capabilities=pdf"]);
    assert_eq!(locked(&sandbox), ["extra 1.0.0", "pdf 2.0.0"]);
    assert_eq!(requested(&sandbox), ["pdf = \"^2.0.0\""]);
    let lock = sandbox.read("skillpm.lock");
    assert!(lock.contains("dependencies = [\"extra\"]"), "{lock}");
    assert!(sandbox.read(".agents/skills/pdf/SKILL.md").contains("Version 2.0.0."));
    sandbox.ok(&["install", "--locked"]);
}

/// A version that was decided stays away if what comes from elsewhere excludes it.
#[test]
fn what_comes_from_a_repository_takes_a_version_back() {
    let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
    sandbox.forge(&forge);
    let files = || RegistryFiles::default().add("base", "1.2", "");
    files().write(&sandbox, "../registry");
    sandbox.write("skillpm.toml", "[registries]\ndefault = \"../registry\"\n");
    let repo = forge.repo("acme/skills");
    repo.branch("main", &repo.commit(&Tree::new().file("tool/SKILL.md", document("tool", ""))));
    sandbox.ok(&["install", "base@>=1"]);
    sandbox.ok(&["install", "acme/skills/tool"]);
    files().add("base", "2.0.0", "").write(&sandbox, "../registry");
    repo.branch("main", &repo.commit(&Tree::new().file("tool/SKILL.md", document("tool", "base@^1"))));
    let outcome = json_of(&sandbox, &["update", "--json", "--allow-new-capabilities=tool"]);
    assert_eq!(changes(&outcome), ["base unchanged", "tool updated"], "{outcome}");
    assert_eq!(locked(&sandbox)[0], "base 1.2");
    assert!(sandbox.read(".agents/skills/base/SKILL.md").contains("Version 1.2."));
    sandbox.ok(&["install", "--locked"]);
}

/// The version between the locked and the latest one comes if it is what fits, and the range follows as far.
#[test]
fn what_comes_from_a_repository_limits_the_latest_version() {
    let (forge, mut sandbox) = (Forge::start(), project(&usual()));
    sandbox.forge(&forge);
    let repo = forge.repo("acme/skills");
    repo.branch("main", &repo.commit(&Tree::new().file("tool/SKILL.md", document("tool", ""))));
    sandbox.ok(&["install", "base@=1.0.0"]);
    sandbox.ok(&["install", "acme/skills/tool"]);
    repo.branch("main", &repo.commit(&Tree::new().file("tool/SKILL.md", document("tool", "base@^1"))));
    sandbox.ok(&["update", "--latest", "--allow-new-capabilities=tool"]);
    assert_eq!(locked(&sandbox)[0], "base 1.2");
    assert!(requested(&sandbox).contains(&"base = \"^1.2.0\"".to_owned()), "{:?}", requested(&sandbox));
    sandbox.ok(&["install", "--locked"]);
}

/// One skill stays as it is because what it needs cannot be fetched; what another one decides holds all the same.
#[test]
fn another_attempt_brings_what_the_first_decided() {
    let (forge, mut sandbox) = (Forge::start(), project(&RegistryFiles::default().add("base", "1.0.0", "")));
    sandbox.forge(&forge);
    let other = sandbox.root().join("other");
    RegistryFiles::default().add("extra", "1.0.0", "").write(&sandbox, "../other");
    fs::remove_dir_all(other.join("artifacts")).expect("removes");
    let repo = forge.repo("acme/skills");
    let commit = |lint: &str, style: &str| {
        let tree = Tree::new()
            .file("lint/SKILL.md", document("lint", lint))
            .file("style/SKILL.md", document("style", style));
        repo.branch("main", &repo.commit(&tree));
    };
    commit("", "");
    sandbox.ok(&["install", "base@>=1"]);
    sandbox.ok(&["install", "acme/skills", "--skill", "*"]);
    usual().write(&sandbox, "../registry");
    commit("base@^1", &format!("registry:{}//extra", other.display()));
    let outcome = json_of(&sandbox, &["update", "--json", "--allow-new-capabilities=lint"]);
    assert_eq!(changes(&outcome), ["base updated", "lint updated", "style failed"], "{outcome}");
    assert_eq!(locked(&sandbox)[0], "base 1.2");
    assert!(sandbox.read(".agents/skills/base/SKILL.md").contains("Version 1.2."));
}

/// A skill with an unresolved merge is not merged again because another one needs a newer version of it.
#[test]
fn an_unresolved_merge_is_not_merged_over() {
    let files = || RegistryFiles::default().add("base", "1.0.0", "");
    let (forge, mut sandbox) = (Forge::start(), project(&files()));
    sandbox.forge(&forge);
    let repo = forge.repo("acme/skills");
    repo.branch("main", &repo.commit(&Tree::new().file("tool/SKILL.md", document("tool", ""))));
    sandbox.ok(&["install", "base@>=1"]);
    sandbox.ok(&["install", "acme/skills/tool"]);
    let at = ".agents/skills/base/SKILL.md";
    sandbox.write(at, sandbox.read(at).replace("Version 1.0.0.", "Version of mine."));
    files().add("base", "1.1.0", "").write(&sandbox, "../registry");
    sandbox.run(&["update", "base"]);
    assert_eq!(locked(&sandbox)[0], "base 1.1.0");
    files().add("base", "1.1.0", "").add("base", "2.0.0", "").write(&sandbox, "../registry");
    repo.branch("main", &repo.commit(&Tree::new().file("tool/SKILL.md", document("tool", "base@^2"))));
    let before = (sandbox.read("skillpm.lock"), sandbox.read(at));
    let failed = sandbox.run(&["update", "tool", "--allow-new-capabilities=tool"]);
    assert_ne!(failed.code, Some(0), "{failed}");
    assert!(failed.stderr.contains("base") && failed.stderr.contains("--abort"), "{failed}");
    assert_eq!((sandbox.read("skillpm.lock"), sandbox.read(at)), before);
}

/// What is wrong with one skill whose version changes is said of that one, and the others are updated.
#[test]
fn one_skill_that_cannot_change_does_not_stop_the_others() {
    let files = || RegistryFiles::default().add("pdf", "1.0.0", "").add("xlsx", "1.0.0", "");
    let sandbox = project(&files());
    sandbox.ok(&["install", "pdf@>=1", "xlsx@>=1"]);
    let at = ".agents/skills/xlsx/SKILL.md";
    sandbox.write(at, sandbox.read(at).replace("Version 1.0.0.", "Version of mine."));
    RegistryFiles::default().add("pdf", "1.1.0", "").add("xlsx", "1.1.0", "").write(&sandbox, "../registry");
    fs::remove_dir_all(sandbox.home().join(".local/share/skillpm/store-v2")).expect("removes");
    let failed = sandbox.run(&["update", "--json"]);
    assert_eq!(failed.code, Some(5), "{failed}");
    let outcome: Value = serde_json::from_str(&failed.stdout).expect("JSON");
    assert_eq!(changes(&outcome), ["pdf updated", "xlsx failed"], "{outcome}");
    assert_eq!(outcome["failures"][0]["names"], serde_json::json!(["xlsx"]), "{outcome}");
    assert_eq!(locked(&sandbox), ["pdf 1.1.0", "xlsx 1.0.0"]);
    assert!(sandbox.read(at).contains("Version of mine."));
}
