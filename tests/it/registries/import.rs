//! What skills that `import` adopts need of registries.

use super::*;

/// A project in which another tool has installed the skills `skills` from directories: names, and what they need.
fn adopted(files: &RegistryFiles, skills: &[(&str, &str)]) -> Sandbox {
    let sandbox = project(files);
    let mut entries = Vec::new();
    for (name, needs) in skills {
        let text = format!(
            "---\nname: {name}\ndescription: D.\nmetadata:\n  skill-dependencies: \"{needs}\"\n---\n"
        );
        for dir in ["src", ".agents/skills"] {
            sandbox.write(&format!("{dir}/{name}/SKILL.md"), &text);
        }
        entries.push(format!(
            r#""{name}": {{"source": "./src/{name}", "sourceType": "local", "computedHash": "0"}}"#
        ));
    }
    let lock = format!(r#"{{"version": 1, "skills": {{{}}}}}"#, entries.join(", "));
    sandbox.write("skills-lock.json", lock);
    sandbox
}

/// An installed skill gets the version that the adopted one needs.
#[test]
fn an_installed_skill_changes_its_version() {
    let sandbox = adopted(&usual(), &[("tool", "base@^2")]);
    sandbox.write("skillpm.toml", "[registries]\ndefault = \"../registry\"\n[skills]\nbase = \">=1\"\n");
    RegistryFiles::default().add("base", "1.0.0", "").write(&sandbox, "../registry");
    sandbox.ok(&["install"]);
    let requested_before = requested(&sandbox)[0].clone();
    usual().write(&sandbox, "../registry");
    let outcome = json_of(&sandbox, &["import", "--json"]);
    assert_eq!(locked(&sandbox), ["base 2.0.0", "tool -"], "{outcome}");
    assert!(sandbox.read(".agents/skills/base/SKILL.md").contains("Version 2.0.0."));
    assert_eq!((requested(&sandbox)[0].clone(), outcome["needed"].clone()), (requested_before, json!([])));
    sandbox.ok(&["install", "--locked"]);
}

/// A dependency that cannot be read, fetched or placed is a warning, and the other skills bring theirs.
#[test]
fn what_is_missing_is_a_warning() {
    let files = usual().add("lost", "1.0.0", "").add("full", "1.0.0", "");
    let needs = |name: &str| format!("registry:../registry//{name}");
    let (gone, lost, full) = ("registry:../gone//x".to_owned(), needs("lost"), needs("full"));
    let (base, both) = (needs("base"), format!("{gone} {}", needs("base")));
    let skills = [("a", &*gone), ("b", &*lost), ("c", &*full), ("d", &*base), ("e", &*both)];
    let sandbox = adopted(&files, &skills);
    let file = sandbox.root().join("registry/artifacts/sha256");
    for entry in fs::read_dir(&file).expect("a directory") {
        let path = entry.expect("an entry").path();
        if fs::read(&path).expect("reads").windows(10).any(|part| part == b"name: lost") {
            fs::remove_file(path).expect("removes");
        }
    }
    sandbox.write(".agents/skills/full/SKILL.md", "---\nname: full\ndescription: Mine.\n---\n");
    let outcome = json_of(&sandbox, &["import", "--json"]);
    let verdicts = outcome["skills"].as_array().expect("a list").iter();
    let adopted: Vec<_> =
        verdicts.filter(|one| one["verdict"] == "adopted").map(|one| &one["name"]).collect();
    assert_eq!(adopted, ["a", "b", "c", "d", "e"], "{outcome:#}");
    assert_eq!(outcome["needed"], json!(["base"]), "{outcome:#}");
    let warnings = outcome["warnings"].to_string();
    for needed in ["`a` needs", "`b` needs `lost`", "`c` needs `full`", "`e` needs"] {
        assert!(warnings.contains(needed), "{needed}: {outcome:#}");
    }
}
