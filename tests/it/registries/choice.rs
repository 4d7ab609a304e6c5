//! Which version is taken: ages, overrides and ranges, by whichever way a skill comes.

use super::*;

/// A day, in seconds.
const DAY: i64 = 86_400;

/// The time `seconds` ago.
fn ago(seconds: i64) -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time").as_secs();
    i64::try_from(now).expect("a time") - seconds
}

/// A directory `own` with a skill that needs `needs`.
fn own(sandbox: &Sandbox, needs: &str) {
    let text = format!("---\nname: own\ndescription: Own.\nmetadata:\n  skill-dependencies: {needs}\n---\n");
    sandbox.write("own/SKILL.md", text);
}

/// An override holds for what a skill from elsewhere needs, too, and may name a version that the skill excludes.
#[test]
fn an_override_holds_for_skills_from_elsewhere() {
    let sandbox = project(&usual());
    sandbox
        .write("skillpm.toml", "[registries]\ndefault = \"../registry\"\n\n[override]\nbase = \"=1.0.0\"\n");
    own(&sandbox, "registry:../registry//base#^2");
    sandbox.ok(&["install", "./own"]);
    assert_eq!(locked(&sandbox), ["base 1.0.0", "own -"]);
}

/// A skill of a directory that needs one of a registry limits its versions, as the manifest does.
#[test]
fn skills_from_directories_have_a_say() {
    let sandbox = project(&usual());
    own(&sandbox, "registry:../registry//base#^1");
    sandbox.ok(&["install", "./own"]);
    assert_eq!(locked(&sandbox), ["base 1.2", "own -"]);
    let before = sandbox.read("skillpm.lock");
    let failed = sandbox.run(&["install", "base@^2"]);
    assert_eq!(failed.code, Some(1), "{failed}");
    assert!(
        failed.stderr.contains("`own`, which you asked for, needs `base@^1`")
            && failed.stderr.contains("you asked for `base@^2`"),
        "{failed}"
    );
    assert_eq!(refusal(&sandbox, "report@^1.1"), "versions-conflict");
    assert_eq!(sandbox.read("skillpm.lock"), before);
    sandbox.ok(&["install", "report"]);
    assert_eq!(locked(&sandbox), ["base 1.2", "own -", "report 1.0.0"]);
    // A new version in the range comes with `update`, also of what only such a skill needs.
    sandbox.ok(&["remove", "report"]);
    usual().add("base", "1.3.0", "").write(&sandbox, "../registry");
    assert_eq!(json_of(&sandbox, &["outdated", "base", "--json"])[0]["newest"], json!("1.3.0"));
    sandbox.ok(&["update"]);
    assert_eq!(locked(&sandbox), ["base 1.3.0", "own -"]);
    // Another spelling of the registry is the same registry.
    let registry = sandbox.root().join("registry");
    own(&sandbox, &format!("registry:{}//base#^2", registry.display()));
    sandbox.write("skillpm.toml", sandbox.read("skillpm.toml") + "report = \"^1.1\"\n");
    sandbox.ok(&["update", "own", "--allow-new-capabilities=own"]);
    sandbox.ok(&["install"]);
    assert_eq!(locked(&sandbox), ["base 2.0.0", "own -", "report 1.1.0"]);
}

/// A skill of a repository that needs a name in a range limits the versions of that name.
#[test]
fn skills_of_repositories_have_a_say() {
    let (forge, mut sandbox) = (Forge::start(), project(&usual()));
    sandbox.forge(&forge);
    let text = "---\nname: tool\ndescription: Tool.\nmetadata:\n  version: \"3.1\"\n  skill-dependencies: base@^1\n---\n";
    let repo = forge.repo("acme/skills");
    repo.branch("main", &repo.commit(&Tree::new().file("tool/SKILL.md", text)));
    sandbox.ok(&["install", "base@^1"]);
    sandbox.ok(&["install", "acme/skills/tool"]);
    let manifest = sandbox.read("skillpm.toml");
    sandbox.write("skillpm.toml", manifest.replace("base = \"^1\"", "base = \">=1\""));
    sandbox.ok(&["update"]);
    assert_eq!(locked(&sandbox)[0], "base 1.2");
    sandbox.write("skillpm.toml", manifest.replace("base = \"^1\"", "base = \"^2\""));
    let failed = sandbox.run(&["install"]);
    assert_eq!(failed.code, Some(1), "{failed}");
    assert!(failed.stderr.contains("`tool` 3.1, which you asked for, needs `base@^1`"), "{failed}");
    // An override decides against the range of the skill.
    sandbox.write("skillpm.toml", manifest.replace("[skills]", "[override]\nbase = \"=2.0.0\"\n\n[skills]"));
    sandbox.ok(&["install"]);
    assert_eq!(locked(&sandbox)[0], "base 2.0.0");
}

/// A skill of a repository that comes meets the manifest in one search: `install` refuses what `update` would refuse.
#[test]
fn what_comes_from_a_repository_has_a_say() {
    let (forge, mut sandbox) = (Forge::start(), project(&usual()));
    sandbox.forge(&forge);
    let document = |name: &str, needs: &str| {
        format!(
            "---\nname: {name}\ndescription: D.\nmetadata:\n  version: \"1.0\"\n  skill-dependencies: {needs}\n---\n"
        )
    };
    let registry = sandbox.root().join("registry").display().to_string();
    let repo = forge.repo("acme/skills");
    let tree = Tree::new()
        .file("lint/SKILL.md", document("lint", "base@^1"))
        .file("style/SKILL.md", document("style", "lint"));
    repo.branch("main", &repo.commit(&tree));
    sandbox.ok(&["install", "base@^2"]);
    let before = sandbox.scope();
    assert_eq!(refusal(&sandbox, "acme/skills/lint"), "versions-conflict");
    assert_eq!(refusal(&sandbox, "acme/skills/style"), "versions-conflict");
    assert_eq!(sandbox.scope(), before);
    // A wider range of the manifest lets the version go down with what comes.
    sandbox.write("skillpm.toml", sandbox.read("skillpm.toml").replace("^2", ">=1"));
    sandbox.ok(&["install", "acme/skills/style"]);
    assert_eq!(locked(&sandbox)[0], "base 1.2");
    let lock = sandbox.read("skillpm.lock");
    sandbox.ok(&["install"]);
    sandbox.ok(&["update"]);
    assert_eq!(sandbox.read("skillpm.lock"), lock);
    // Two directories that need different versions cannot be installed together.
    for (name, range) in [("one", "^1"), ("two", "^2")] {
        sandbox.write(
            &format!("{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: D.\nmetadata:\n  skill-dependencies: registry:{registry}//base#{range}\n---\n"),
        );
    }
    let failed = sandbox.run(&["install", "./one", "./two"]);
    assert!(failed.code == Some(1) && failed.stderr.contains("no versions fit together"), "{failed}");
}

/// What is too young is neither the newest nor the latest version, and the day on which it can be taken is told.
#[test]
fn young_releases_are_held_back() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    let published = ago(DAY);
    RegistryFiles::default()
        .add("base", "1.0.0", "")
        .add("base", "1.1.0", "")
        .published(published)
        .add("chart", "1.0.0", "")
        .add("chart", "2.0.0", "")
        .add("chart", "3.0.0", "")
        .published(published)
        .serve(&forge, "/registry");
    let manifest = format!(
        "[registries]\ndefault = \"{}\"\n\n[policy]\nminimum-release-age = \"7d\"\n",
        forge.url("/registry")
    );
    sandbox.write("skillpm.toml", manifest);
    sandbox.ok(&["install", "base", "chart@^1"]);
    let rows = json_of(&sandbox, &["outdated", "--json"]);
    let row = |at: usize| ["newest", "latest", "status"].map(|key| rows[at][key].clone());
    assert_eq!(row(0), [json!("1.0.0"), Value::Null, json!("current")]);
    assert_eq!(row(1), [json!("1.0.0"), json!("2.0.0"), json!("current")]);
    let day = skillpm_format::text::timestamp(published + 8 * DAY - 1, 0);
    let day = day.split('T').next().expect("a day");
    for (at, version) in [(0, "1.1.0"), (1, "3.0.0")] {
        let held = rows[at]["held_back"].as_str().expect("a reason");
        assert!(held.starts_with(version) && held.contains(day), "{held}");
    }
    let told = sandbox.ok(&["outdated"]);
    assert!(told.stdout.contains("held back") && told.stderr.contains(day), "{told}");
    assert_eq!(sandbox.run(&["outdated", "base", "--exit-code"]).code, Some(0));
    sandbox.ok(&["update", "--latest"]);
    assert_eq!(locked(&sandbox), ["base 1.0.0", "chart 2.0.0"]);
}

/// The strictest rule about one registry is not a rule about another one.
#[test]
fn each_registry_has_its_own_minimum_age() {
    let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
    let files = |name: &'static str| {
        RegistryFiles::default().add(name, "1.0.0", "").add(name, "1.1.0", "").published(ago(2 * DAY))
    };
    files("base").serve(&forge, "/quick");
    files("chart").serve(&forge, "/slow");
    let named = sandbox.write("named.toml", "minimum-release-age = \"1d\"\n");
    sandbox.env("SKILLPM_POLICY", &named.display().to_string());
    sandbox.write(
        "skillpm.toml",
        format!(
            "[registries]\nquick = \"{}\"\nslow = \"{}\"\n\n[policy]\nminimum-release-age = \"7d\"\n\
             minimum-release-age-exclude = [\"registry:127.0.0.1:*/quick/*\"]\n",
            forge.url("/quick"),
            forge.url("/slow")
        ),
    );
    sandbox.ok(&["install", "slow:chart"]);
    sandbox.ok(&["install", "quick:base"]);
    assert_eq!(locked(&sandbox), ["base 1.1.0", "chart 1.0.0"]);
}

/// `diff` compares with what an update would bring, not with the highest version of all.
#[test]
fn differences_are_those_of_an_update() {
    let sandbox = project(&usual());
    sandbox.ok(&["install", "base@=1.0.0", "chart"]);
    let new = |how: &str| {
        let rows = json_of(&sandbox, &["diff", how, "--json"]);
        let rows = rows.as_array().expect("a list").clone();
        let new =
            rows.iter().map(|row| format!("{} {}", row["name"], row["new"]["revision"]).replace('"', ""));
        new.collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    assert_eq!(new("--newest"), none);
    sandbox.write("skillpm.toml", sandbox.read("skillpm.toml").replace("=1.0.0", ">=1"));
    assert_eq!(new("--newest"), ["base 1.2"], "chart does not allow more");
    sandbox.ok(&["update"]);
    assert_eq!(locked(&sandbox), ["base 1.2", "chart 0.9.1"]);
    sandbox.ok(&["remove", "chart"]);
    sandbox.write("skillpm.toml", sandbox.read("skillpm.toml").replace(">=1", "^1"));
    assert_eq!((new("--newest"), new("--latest")), (Vec::new(), vec!["base 2.0.0".to_owned()]));
}

/// What a person decides against is told by name: who states the range, and what replaces it.
#[test]
fn an_override_is_told() {
    let sandbox = project(&usual());
    sandbox
        .write("skillpm.toml", "[registries]\ndefault = \"../registry\"\n\n[override]\nbase = \"=2.0.0\"\n");
    let told = sandbox.ok(&["install", "chart"]);
    let expected =
        "`chart` needs `base@^1`, and your `[override]` of `base` replaces that range with `=2.0.0`";
    assert!(told.stderr.contains(expected), "{told}");
}
