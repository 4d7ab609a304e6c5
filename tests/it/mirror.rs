//! `registry mirror` and `registry bundle`: a registry in another place, whole or in part.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Forge, Sandbox, Tree};

/// The archive of a version that needs `needs`.
fn packed(name: &str, version: &str, needs: &str) -> Vec<u8> {
    let needs = if needs.is_empty() { String::new() } else { format!("\n  skill-dependencies: {needs}") };
    let text = format!(
        "---\nname: {name}\ndescription: Reads {name} files. Use it when the user mentions {name}.\n\
         license: MIT\nmetadata:\n  version: '{version}'{needs}\n---\n\n# {name}\n\nVersion {version}.\n"
    );
    Tree::new().file("SKILL.md", text).zip()
}

/// A sandbox with the registry `upstream`: `report` and `chart` need `base`, `report` also one from elsewhere.
fn upstream() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.env("SOURCE_DATE_EPOCH", "1795730400");
    sandbox.ok(&["registry", "init", "upstream", "--name", "acme"]);
    for (name, version, needs) in [
        ("base", "1.0", ""),
        ("base", "1.2.0", ""),
        ("chart", "0.9.1", "base"),
        ("report", "1.0.0", "base@^1, owner/repo, absent"),
        ("lone", "1.0.0", ""),
    ] {
        publish(&sandbox, name, version, needs);
    }
    sandbox
}

fn publish(sandbox: &Sandbox, name: &str, version: &str, needs: &str) {
    sandbox.write("new.zip", packed(name, version, needs));
    sandbox.ok(&["registry", "add", "-r", "upstream", "new.zip"]);
    std::fs::remove_file(sandbox.project().join("new.zip")).expect("removes");
}

/// The files of the registry in `dir` that are served, with their bytes, but for the log: a mirror has its own.
fn files(sandbox: &Sandbox, dir: &str) -> BTreeMap<String, Vec<u8>> {
    let at = sandbox.project().join(dir);
    let lines = sandbox.tree(&at);
    let paths = lines.iter().filter_map(|line| line.split_once(' ').map(|(_, path)| path.to_owned()));
    let is_own = |path: &str| path == "lock" || path.starts_with("pending/") || path.starts_with("log/");
    let served = paths.filter(|path| !is_own(path));
    served.map(|path| (path.clone(), std::fs::read(at.join(path)).expect("a file"))).collect()
}

fn serve(sandbox: &Sandbox, forge: &Forge) {
    for (path, bytes) in files(sandbox, "upstream") {
        forge.serve(&format!("/team/{path}"), bytes);
    }
}

fn mirror(sandbox: &Sandbox, source: &str, args: &[&str]) -> Value {
    let output = sandbox.ok(&[&["registry", "mirror", source, "copy", "--json"], args].concat());
    serde_json::from_str(&output.stdout).expect("JSON")
}

/// What `registry verify` finds wrong in `dir`, and what belongs to nothing.
fn wrong(sandbox: &Sandbox, dir: &str) -> Vec<Value> {
    let output = sandbox.run(&["registry", "verify", "-r", dir, "--json"]);
    let found: Value =
        serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"));
    let all = ["defects", "strays", "pending"].iter().filter_map(|key| found[key].as_array().cloned());
    all.flatten().collect()
}

/// The paths that were asked for since the last time, below the registry.
fn asked(forge: &Forge) -> Vec<String> {
    let asked = forge.asked().into_iter().filter_map(|path| path.strip_prefix("/team/").map(str::to_owned));
    let mut asked: Vec<_> = asked.collect();
    asked.sort();
    forge.clear_requests();
    asked
}

/// A whole mirror has the bytes of the registry, and a second run only asks whether the lists changed.
#[test]
fn whole_and_then_what_is_new() {
    let (forge, sandbox) = (Forge::start(), upstream());
    sandbox.ok(&["registry", "yank", "-r", "upstream", "base@1.2.0", "--reason", "loses pages"]);
    serve(&sandbox, &forge);
    let outcome = mirror(&sandbox, &forge.url("/team"), &[]);
    assert_eq!(
        (&outcome["skills"], &outcome["versions"], &outcome["fetched"], &outcome["failures"]),
        (&json!(4), &json!(5), &json!(5), &json!([]))
    );
    assert_eq!(files(&sandbox, "copy"), files(&sandbox, "upstream"));
    assert_eq!(wrong(&sandbox, "copy"), [] as [Value; 0]);
    let first = asked(&forge);
    assert_eq!(first.iter().filter(|path| path.starts_with("artifacts/")).count(), 5, "{first:?}");

    // Nothing is new: four lists and the two files about all, and none is sent again.
    let outcome = mirror(&sandbox, &forge.url("/team"), &[]);
    assert_eq!((&outcome["fetched"], &outcome["added"]), (&json!(0), &json!([])));
    let requests = forge.requests();
    assert!(requests.iter().all(|request| request.header("if-none-match").is_some()), "{requests:?}");
    let lists = ["base", "chart", "lone", "report"].map(|name| format!("index/{name}.json"));
    assert_eq!(
        asked(&forge),
        [&["config.json".to_owned()], &lists[..], &["search.json".to_owned()]].concat()
    );

    // A new version, and one that is available again: what is about these is fetched.
    publish(&sandbox, "lone", "1.1.0", "");
    sandbox.ok(&["registry", "unyank", "-r", "upstream", "base@1.2.0"]);
    serve(&sandbox, &forge);
    let outcome = mirror(&sandbox, &forge.url("/team"), &[]);
    assert_eq!((&outcome["fetched"], &outcome["added"][0]["version"]), (&json!(1), &json!("1.1.0")));
    assert_eq!(
        (&outcome["yanked"][0]["name"], &outcome["yanked"][0]["yanked"]),
        (&json!("base"), &Value::Null)
    );
    assert_eq!(files(&sandbox, "copy"), files(&sandbox, "upstream"));
    let paths = asked(&forge);
    assert_eq!(paths.iter().filter(|path| path.starts_with("artifacts/")).count(), 1, "{paths:?}");
    assert!(paths.contains(&"index/lone/1.1.0.json".to_owned()), "{paths:?}");
}

/// Skills by name come with what they need, or alone; what the registry does not have is told.
#[test]
fn by_name() {
    let sandbox = upstream();
    let names = |outcome: &Value| -> Vec<String> {
        let added = outcome["added"].as_array().expect("a list").iter();
        added.map(|added| format!("{} {}", added["name"], added["version"]).replace('"', "")).collect()
    };
    let outcome = mirror(&sandbox, "./upstream", &["chart", "--no-deps"]);
    assert_eq!(names(&outcome), ["chart 0.9.1"]);
    let outcome = mirror(&sandbox, "./upstream", &["report"]);
    assert_eq!(names(&outcome), ["base 1.0", "base 1.2.0", "report 1.0.0"]);
    assert_eq!(outcome["elsewhere"], json!(["absent"]));
    assert_eq!(wrong(&sandbox, "copy"), [] as [Value; 0]);
    let before = files(&sandbox, "copy");
    for (code, args) in [
        (2, &["upstream", "copy", "nothing"][..]),
        (2, &["upstream", "copy", "Not A Name"]),
        (2, &["upstream", "copy", "lone", "--locked"]),
        (2, &["./nowhere", "copy"]),
    ] {
        let output = sandbox.run(&[&["registry", "mirror"], args].concat());
        assert_eq!(output.code, Some(code), "{args:?}: {output}");
    }
    // Another registry is not mixed in.
    sandbox.ok(&["registry", "init", "other", "--name", "other"]);
    assert_eq!(sandbox.run(&["registry", "mirror", "upstream", "other"]).code, Some(2));
    assert_eq!(files(&sandbox, "copy"), before);
}

/// Exactly what the lockfile has, from which the project is restored.
#[test]
fn what_a_lockfile_needs() {
    let sandbox = upstream();
    sandbox.write("skillpm.toml", "[registries]\nacme = \"./upstream\"\n");
    sandbox.ok(&["install", "acme:chart"]);
    publish(&sandbox, "base", "1.3.0", "");
    sandbox.ok(&["registry", "yank", "-r", "upstream", "base@1.0"]);
    let outcome = mirror(&sandbox, "acme", &["--locked"]);
    assert_eq!((&outcome["skills"], &outcome["versions"]), (&json!(2), &json!(2)));
    let records: Vec<_> =
        files(&sandbox, "copy").into_keys().filter(|path| path.matches('/').count() == 2).collect();
    let records: Vec<_> = records.iter().filter(|path| path.starts_with("index/")).collect();
    assert_eq!(records, ["index/base/1.2.0.json", "index/chart/0.9.1.json"]);
    assert_eq!(wrong(&sandbox, "copy"), [] as [Value; 0]);
    // A version that is locked and gone fails, and changes nothing.
    let before = files(&sandbox, "copy");
    let lock = sandbox.read("skillpm.lock").replace("revision = \"1.2.0\"", "revision = \"1.9.9\"");
    sandbox.write("skillpm.lock", lock);
    let output = sandbox.run(&["registry", "mirror", "acme", "copy", "--locked"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert_eq!(files(&sandbox, "copy"), before);
    std::fs::remove_file(sandbox.project().join("skillpm.lock")).expect("removes");
    assert_eq!(sandbox.run(&["registry", "mirror", "acme", "copy", "--locked"]).code, Some(2));
}

/// One lie at a time about `base`: it is told, nothing of it is mirrored, and the others are.
#[test]
fn a_registry_that_lies() {
    type Lie = fn(&Sandbox);
    fn edit(sandbox: &Sandbox, path: &str, change: impl Fn(&mut Value)) {
        let path = format!("upstream/{path}");
        let mut value: Value = serde_json::from_str(&sandbox.read(&path)).expect("JSON");
        change(&mut value);
        sandbox.write(&path, value.to_string());
    }
    /// The archive of `base` 1.2.0.
    fn archive(sandbox: &Sandbox) -> String {
        let record: Value =
            serde_json::from_str(&sandbox.read("upstream/index/base/1.2.0.json")).expect("JSON");
        let digest = record["artifact"]["digest"].as_str().expect("a digest").to_owned();
        format!("upstream/artifacts/sha256/{}.zip", &digest["sha256:".len()..])
    }
    let lies: [(&str, Lie); 9] = [
        ("bytes", |sandbox| drop(sandbox.write(&archive(sandbox), packed("base", "1.2.0", "x")))),
        ("no archive", |sandbox| {
            std::fs::remove_file(sandbox.project().join(archive(sandbox))).expect("removes");
        }),
        ("size", |sandbox| {
            edit(sandbox, "index/base.json", |list| list["versions"][1]["artifact"]["size"] = json!(7));
        }),
        ("tree", |sandbox| {
            let tree = format!("sha256:{}", "0".repeat(64));
            edit(sandbox, "index/base.json", |list| list["versions"][1]["digest"] = json!(tree));
            edit(sandbox, "index/base/1.2.0.json", |record| record["digest"] = json!(tree));
        }),
        ("description", |sandbox| {
            edit(sandbox, "index/base/1.2.0.json", |record| record["description"] = json!("Another one."));
        }),
        ("other version", |sandbox| {
            edit(sandbox, "index/base.json", |list| list["versions"][1]["version"] = json!("1.5.0"));
        }),
        ("no record", |sandbox| {
            std::fs::remove_file(sandbox.project().join("upstream/index/base/1.2.0.json")).expect("removes");
        }),
        ("no list", |sandbox| drop(sandbox.write("upstream/index/base.json", "[]"))),
        ("climbs", |sandbox| {
            edit(sandbox, "index/base.json", |list| list["versions"][1]["version"] = json!("../../x"));
        }),
    ];
    for (what, lie) in lies {
        let (forge, sandbox) = (Forge::start(), upstream());
        lie(&sandbox);
        serve(&sandbox, &forge);
        for source in ["./upstream".to_owned(), forge.url("/team")] {
            let args = ["registry", "mirror", &source, "copy", "--json"];
            let output = sandbox.run(&args);
            let outcome: Value = serde_json::from_str(&output.stdout)
                .unwrap_or_else(|error| panic!("{what}: {error}: {output}"));
            let failures = outcome["failures"].as_array().expect("a list");
            assert!(failures.len() == 1 && failures[0]["name"] == "base", "{what}: {outcome}");
            assert_eq!(
                output.code,
                failures[0]["exit_code"].as_i64().map(|code| i32::try_from(code).expect("a code")),
                "{what}"
            );
            let copy = files(&sandbox, "copy");
            assert!(!copy.keys().any(|path| path.starts_with("index/base")), "{what}");
            assert!(copy.contains_key("index/report/1.0.0.json"), "{what}");
            let output = sandbox.run(&["registry", "verify", "-r", "copy"]);
            assert_eq!(output.code, Some(0), "{what}: {output}");
            std::fs::remove_dir_all(sandbox.project().join("copy")).expect("removes");
        }
    }
}

/// A version that was mirrored never changes, whatever the registry says later.
#[test]
fn a_changed_version_is_refused() {
    let sandbox = upstream();
    mirror(&sandbox, "upstream", &[]);
    let before = files(&sandbox, "copy");
    std::fs::remove_dir_all(sandbox.project().join("upstream")).expect("removes");
    sandbox.ok(&["registry", "init", "upstream", "--name", "acme"]);
    publish(&sandbox, "base", "1.0", "lone");
    publish(&sandbox, "base", "3.0", "");
    let output = sandbox.run(&["registry", "mirror", "upstream", "copy"]);
    assert!(output.code == Some(5) && output.stderr.contains("`base`"), "{output}");
    assert_eq!(files(&sandbox, "copy"), before);
}

/// A registry that vanishes midway leaves a whole mirror, and the next run goes on without fetching again.
#[test]
fn a_registry_that_vanishes() {
    let (forge, sandbox) = (Forge::start(), upstream());
    serve(&sandbox, &forge);
    mirror(&sandbox, &forge.url("/team"), &["lone"]);
    // An archive that arrived before the run was cut off has its place, and no record.
    let archives: Vec<_> =
        files(&sandbox, "upstream").into_iter().filter(|(path, _)| path.starts_with("artifacts/")).collect();
    for (path, bytes) in archives.iter().take(2) {
        sandbox.write(&format!("copy/{path}"), bytes);
    }
    for path in ["config.json", "index/report.json"] {
        forge.unserve(&format!("/team/{path}"));
    }
    let output = sandbox.run(&["--offline", "registry", "mirror", &forge.url("/team"), "copy"]);
    assert_ne!(output.code, Some(0), "{output}");
    assert_eq!(sandbox.run(&["registry", "verify", "-r", "copy"]).code, Some(0));
    serve(&sandbox, &forge);
    asked(&forge);
    mirror(&sandbox, &forge.url("/team"), &[]);
    let fetched = asked(&forge);
    let here = |path: &String| sandbox.project().join("copy").join(path).is_file();
    assert!(archives.iter().all(|(path, _)| here(path)));
    assert!(!archives.iter().take(2).any(|(path, _)| fetched.contains(path)), "{fetched:?}");
    assert_eq!(files(&sandbox, "copy"), files(&sandbox, "upstream"));
}

/// One file, the same bytes each time, from which a machine without a network installs.
#[test]
fn a_bundle_is_a_registry_in_one_file() {
    let (forge, mut sandbox) = (Forge::start(), upstream());
    sandbox.ok(&["registry", "yank", "-r", "upstream", "base@1.2.0"]);
    serve(&sandbox, &forge);
    sandbox.ok(&["registry", "bundle", &forge.url("/team"), "one.zip", "--json"]);
    // Another day, from a directory, and from a bundle.
    sandbox.env("SOURCE_DATE_EPOCH", "1895730400");
    sandbox.ok(&["registry", "bundle", "upstream", "two.zip"]);
    sandbox.ok(&["registry", "bundle", "./two.zip", "three.zip"]);
    let bytes = |file: &str| std::fs::read(sandbox.project().join(file)).expect("a file");
    assert!(bytes("one.zip") == bytes("two.zip") && bytes("two.zip") == bytes("three.zip"));
    // A file that is there stays, unless that is asked for.
    let output = sandbox.run(&["registry", "bundle", "upstream", "one.zip", "lone"]);
    assert!(output.code == Some(2) && bytes("one.zip") == bytes("two.zip"), "{output}");
    let output = sandbox.ok(&["registry", "bundle", "upstream", "three.zip", "chart", "--force"]);
    assert!(output.stderr.contains("replaced `") && output.stderr.contains("three.zip`\n"), "{output}");
    // A directory is no file that can be replaced.
    sandbox.write("dir.zip/notes.md", "mine");
    let output = sandbox.run(&["registry", "bundle", "upstream", "dir.zip", "--force"]);
    assert_eq!((output.code, sandbox.read("dir.zip/notes.md").as_str()), (Some(2), "mine"), "{output}");
    assert!(bytes("three.zip").len() < bytes("two.zip").len());

    let other = Sandbox::new();
    other.write("bundle.zip", bytes("three.zip"));
    other.write("skillpm.toml", "[registries]\ndefault = \"./bundle.zip\"\n");
    other.ok(&["--offline", "install", "chart"]);
    assert!(other.read(".agents/skills/base/SKILL.md").contains("version: '1.0'"));
    other.ok(&["--offline", "install", "registry:./bundle.zip//base#=1.0"]);
    std::fs::remove_dir_all(other.project().join(".agents")).expect("removes");
    std::fs::remove_dir_all(other.home().join(".local")).expect("removes");
    other.ok(&["--offline", "install", "--locked"]);
    assert_eq!(other.run(&["--offline", "install", "lone"]).code, Some(2));
    other.ok(&["registry", "mirror", "./bundle.zip", "copy"]);
    assert_eq!(wrong(&other, "copy"), [] as [Value; 0]);
}

/// A bundle that is damaged, or lies, is refused.
#[test]
fn a_bundle_that_lies() {
    let sandbox = upstream();
    let failed = |file: &str| sandbox.run(&["install", &format!("registry:./{file}//base")]).code;
    sandbox.ok(&["registry", "bundle", "upstream", "good.zip", "base"]);
    let good = std::fs::read(sandbox.project().join("good.zip")).expect("a file");
    sandbox.write("cut.zip", &good[..good.len() - 30]);
    assert_eq!(failed("cut.zip"), Some(5));
    sandbox.write("text.zip", "no archive");
    assert_eq!(failed("text.zip"), Some(5));
    sandbox.write("other.zip", packed("base", "1.0", ""));
    assert_ne!(failed("other.zip"), Some(0));
    let lie = Tree::new()
        .file("config.json", sandbox.read("upstream/config.json"))
        .file("index/base.json", sandbox.read("upstream/index/base.json"))
        .file("search.json", sandbox.read("upstream/search.json"));
    let lie = files(&sandbox, "upstream")
        .into_keys()
        .filter(|path| path.starts_with("artifacts/"))
        .fold(lie, |lie, path| lie.file(&path, packed("base", "9.9", "")));
    sandbox.write("lie.zip", lie.zip());
    assert_eq!(failed("lie.zip"), Some(5));
    assert!(!sandbox.project().join("skillpm.lock").exists());
    // A registry that lies is not bundled.
    sandbox.write("upstream/index/base.json", "[]");
    let before = sandbox.tree(&sandbox.project());
    let output = sandbox.run(&["registry", "bundle", "upstream", "new.zip"]);
    assert_eq!((output.code, sandbox.tree(&sandbox.project())), (Some(5), before), "{output}");
}

/// A mirror is made only where nothing is lost, and removes nothing that it did not put there.
#[test]
fn files_of_others_stay() {
    let sandbox = upstream();
    sandbox.write("m/index/notes.json", "MINE");
    sandbox.write("m/search.json", "MINE");
    let output = sandbox.run(&["registry", "mirror", "./upstream", "m"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(
        ["`search.json`", "`index/notes.json`", "--force"].iter().all(|part| output.stderr.contains(part))
    );
    assert_eq!(files(&sandbox, "m").len(), 2);
    let outcome = mirror(&sandbox, "./upstream", &["--force"]);
    assert_eq!((&outcome["replaced"], &outcome["removed"]), (&json!([]), &json!([])), "another directory");
    let output = sandbox.run(&["registry", "mirror", "./upstream", "m", "--force", "--json"]);
    let outcome: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(outcome["replaced"], json!(["search.json"]));
    assert_eq!(outcome["removed"], json!(["index/notes.json"]));
    assert_eq!(files(&sandbox, "m"), files(&sandbox, "upstream"));
    // In a mirror that is there, too.
    sandbox.write("m/index/notes.json", "MINE");
    sandbox.write("m/search.json", "damaged");
    publish(&sandbox, "lone", "1.3.0", "");
    sandbox.ok(&["registry", "mirror", "./upstream", "m"]);
    assert_eq!(sandbox.read("m/index/notes.json"), "MINE");
    assert_eq!(sandbox.read("m/search.json"), sandbox.read("upstream/search.json"));
}
