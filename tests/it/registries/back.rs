//! Registries that go back to what they were, and that change what they published.

use super::*;

fn warned(outcome: &Value) -> bool {
    let warnings = outcome["warnings"].as_array().cloned().unwrap_or_default();
    warnings.iter().any(|one| one["code"] == json!("registry-went-back"))
}

/// An older list than the cache has seen is told each time, and locks go on.
#[test]
fn an_older_list_on_the_web() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    let older = || RegistryFiles::default().add("base", "1.0.0", "").add("chart", "1.0.0", "base");
    older().add("base", "1.1.0", "").serve(&forge, "/team");
    sandbox.write("skillpm.toml", format!("[registries]\ndefault = \"{}\"\n", forge.url("/team")));
    sandbox.ok(&["install", "base"]);
    older().serve(&forge, "/team");
    for name in ["chart", "chart@^1"] {
        let outcome = json_of(&sandbox, &["install", name, "--json"]);
        assert!(warned(&outcome), "{outcome}");
        assert_eq!(locked(&sandbox), ["base 1.1.0", "chart 1.0.0"]);
    }
    // A version that is not listed is not taken anew.
    sandbox.ok(&["remove", "chart", "base"]);
    let outcome = json_of(&sandbox, &["install", "base@^1", "--json"]);
    assert!(warned(&outcome), "{outcome}");
    assert_eq!(locked(&sandbox), ["base 1.0.0"]);
    // And nothing is told once it is listed again.
    older().add("base", "1.1.0", "").serve(&forge, "/team");
    let outcome = json_of(&sandbox, &["update", "--json"]);
    assert!(!warned(&outcome), "{outcome}");
    assert_eq!(locked(&sandbox), ["base 1.1.0"]);
}

/// The lock has seen versions, too: in a directory, and on a new machine.
#[test]
fn an_older_list_than_the_lock() {
    let sandbox = project(&usual());
    sandbox.ok(&["install", "base"]);
    let list = "../registry/index/base.json";
    let mut json: Value = serde_json::from_str(&sandbox.read(list)).expect("JSON");
    json["versions"].as_array_mut().expect("a list").retain(|one| one["version"] != json!("2.0.0"));
    sandbox.write(list, json.to_string());
    let failed = sandbox.run(&["install", "report@=1.0.0"]);
    assert_eq!(failed.code, Some(1), "`base` is requested as ^2: {failed}");
    let outcome = json_of(&sandbox, &["install", "report", "--json"]);
    assert!(warned(&outcome), "{outcome}");
    assert_eq!(locked(&sandbox), ["base 2.0.0", "report 1.1.0"]);
}

/// A version that has other files than before is an error, whoever has seen it.
#[test]
fn a_version_that_changes() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    let files =
        |needs: &'static str| RegistryFiles::default().add("base", "1.0.0", needs).add("chart", "1.0.0", "");
    files("").serve(&forge, "/team");
    sandbox.write("skillpm.toml", format!("[registries]\ndefault = \"{}\"\n", forge.url("/team")));
    sandbox.ok(&["install", "base"]);
    let before = sandbox.read("skillpm.lock");
    files("chart").serve(&forge, "/team");
    for _ in 0..2 {
        assert_eq!(refusal(&sandbox, "base"), "registry-mismatch");
        let failed = sandbox.run(&["update", "base"]);
        assert_eq!(failed.code, Some(5), "{failed}");
    }
    // The cache has seen nothing, and the lock has.
    fs::remove_dir_all(sandbox.home().join(".cache")).expect("removes");
    let failed = sandbox.run(&["update", "base"]);
    assert_eq!(failed.code, Some(5), "{failed}");
    assert_eq!(sandbox.read("skillpm.lock"), before);
}
