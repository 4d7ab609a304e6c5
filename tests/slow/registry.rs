//! Faults at every call of the system that changes a registry: what a reader sees is old or new, what it names is
//! there, and the next writer completes what was begun. See docs/design/registry.md.

#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::inject::{Disturbance, all_disturbances, came_to_a_read, check_run, injections, pin, require};
use crate::support::snapshot::{self, Snapshot};
use crate::support::{Sandbox, Tree, strace};

/// The files of a registry that count for readers, with their bytes.
type Served = BTreeMap<String, Vec<u8>>;

fn text(name: &str, version: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: Reads {name} files. Use it for {name} files.\nlicense: MIT\n\
         metadata:\n  version: '{version}'\n---\n\n# {name}\n"
    )
}

fn zip(name: &str, version: &str) -> Vec<u8> {
    Tree::new().file("SKILL.md", text(name, version)).file("references/a.md", version).zip()
}

/// A registry with two skills, and archives of newer versions.
fn prepare() -> Sandbox {
    let mut sandbox = Sandbox::in_memory();
    sandbox.env("SOURCE_DATE_EPOCH", "1795730400");
    sandbox.ok(&["registry", "init", "site", "--name", "acme"]);
    for (name, version) in [("pdf", "1.0"), ("docx", "1.0"), ("pdf", "1.1"), ("xlsx", "1.0"), ("next", "1.0")]
    {
        sandbox.write(&format!("{name}-{version}.zip"), zip(name, version));
    }
    sandbox.ok(&["registry", "add", "-r", "site", "pdf-1.0.zip", "docx-1.0.zip"]);
    sandbox.ok(&["registry", "init", "upstream", "--name", "acme"]);
    sandbox.ok(&["registry", "add", "-r", "upstream", "pdf-1.0.zip", "pdf-1.1.zip"]);
    sandbox.ok(&["registry", "yank", "-r", "upstream", "pdf@1.0"]);
    sandbox.write("work/pdf/SKILL.md", text("pdf", "1.1"));
    sandbox
}

fn served(sandbox: &Sandbox) -> Served {
    let site = sandbox.project().join("site");
    let lines = sandbox.tree(&site);
    let paths = lines.iter().filter_map(|line| line.split_once(' ').map(|(_, path)| path.to_owned()));
    let counts = |path: &String| !path.starts_with("pending/") && path != "lock";
    paths.filter(counts).map(|path| (path.clone(), std::fs::read(site.join(path)).expect("a file"))).collect()
}

/// Each file is old or new, none is gone that stays, and every version that a list names is there.
fn check_served(now: &Served, before: &Served, after: &Served) -> Result<(), String> {
    for (path, bytes) in now {
        let is_known = [before, after].iter().any(|known| known.get(path) == Some(bytes));
        require(is_known, || format!("`{path}` is neither old nor new: {}", String::from_utf8_lossy(bytes)))?;
    }
    for path in before.keys().filter(|path| after.contains_key(*path)) {
        require(now.contains_key(path), || format!("`{path}` is gone"))?;
    }
    for (path, bytes) in now {
        let parts: Vec<_> = path.split('/').collect();
        let ["index", file] = parts[..] else { continue };
        let name = file.strip_suffix(".json").expect("a list");
        let list: Value = serde_json::from_slice(bytes).expect("JSON");
        for version in list["versions"].as_array().expect("a list") {
            let hex = version["artifact"]["digest"].as_str().and_then(|digest| digest.split(':').nth(1));
            let artifact = format!("artifacts/sha256/{}.zip", hex.expect("a digest"));
            let record = format!("index/{name}/{}.0.json", version["version"].as_str().expect("a version"));
            for named in [artifact, record] {
                require(now.contains_key(&named), || {
                    format!("`{path}` names `{named}`, which does not exist")
                })?;
            }
        }
    }
    Ok(())
}

/// Verifies the registry and returns what was found.
fn verify(sandbox: &Sandbox) -> Result<Value, String> {
    let output = sandbox.run(&["registry", "verify", "-r", "site", "--json"]);
    serde_json::from_str(&output.stdout).map_err(|error| format!("{error}: {output}"))
}

fn items<'a>(found: &'a Value, key: &str) -> &'a [Value] {
    found[key].as_array().map_or(&[], Vec::as_slice)
}

/// What a fault leaves is whole but for derived files that are behind, and then the next writer knows. It completes
/// them, and the command, given again, reaches what it was to reach.
fn check_mended(sandbox: &Sandbox, args: &[&str], after: &Served) -> Result<(), String> {
    let found = verify(sandbox)?;
    let is_outdated = |defect: &&Value| defect["kind"] == "outdated";
    require(items(&found, "defects").iter().all(|defect| is_outdated(&defect)), || {
        format!("damage: {found}")
    })?;
    let is_known = items(&found, "defects").is_empty() || !items(&found, "pending").is_empty();
    require(is_known, || format!("nobody will know: {found}"))?;
    let next = sandbox.run(&["registry", "add", "-r", "site", "next-1.0.zip"]);
    require(next.code == Some(0), || format!("the next writer: {next}"))?;
    let found = verify(sandbox)?;
    let is_whole = items(&found, "defects").is_empty() && items(&found, "pending").is_empty();
    require(is_whole, || format!("after the next writer: {found}"))?;
    // An archive whose version did not come about waits for the command to be given again.
    let is_archive = |stray: &Value| stray.as_str().is_some_and(|path| path.starts_with("artifacts/"));
    require(items(&found, "strays").iter().all(is_archive), || format!("left over: {found}"))?;
    let again = sandbox.run(args);
    // What is published is not published twice.
    let is_published = args[0] == "publish" && again.code == Some(2);
    require(again.code == Some(0) || is_published, || format!("given again: {again}"))?;
    let found = verify(sandbox)?;
    let is_clean = ["defects", "pending", "strays"].iter().all(|key| items(&found, key).is_empty());
    require(is_clean, || format!("after all: {found}"))?;
    let now = served(sandbox);
    let missing = after.keys().find(|path| !now.contains_key(*path));
    require(missing.is_none(), || format!("`{}` did not come about", missing.map_or("", String::as_str)))
}

/// Disturbs `args` at each call that changes something.
fn walk(what: &str, args: &[&str]) {
    if !strace::is_possible() {
        return;
    }
    let _pinned = pin();
    let (sandbox, saved) = (prepare(), Sandbox::in_memory());
    snapshot::restore(sandbox.root(), saved.root());
    let reset = || snapshot::restore(saved.root(), sandbox.root());
    let before = served(&sandbox);
    let plain = strace::run(&sandbox, args, &[]);
    assert_eq!(plain.output.code, Some(0), "{what}: {}", plain.output);
    let after = served(&sandbox);
    let points: Vec<usize> = (0..plain.calls.len())
        .filter(|at| plain.calls[*at].changes() && plain.calls[*at].is_below(sandbox.root()))
        .collect();
    assert!(points.len() > 10, "{what}: the calls were seen");
    let (mut mended, mut faults, mut runs) = (BTreeSet::new(), Vec::new(), 0);
    for (at, disturbance) in all_disturbances(&plain.calls, &points) {
        let call = &plain.calls[at];
        reset();
        let traced = strace::run(&sandbox, args, &injections(&plain.calls, at, disturbance));
        if came_to_a_read(&traced) {
            continue;
        }
        runs += 1;
        let now = served(&sandbox);
        let state = Snapshot::of(&sandbox.project().join("site"));
        let is_done = traced.output.code != Some(0) || now == after;
        let checked = check_run(disturbance, &traced)
            .and_then(|()| require(is_done, || "it was not done".to_owned()))
            .and_then(|()| check_served(&now, &before, &after))
            .and_then(|()| if mended.insert(state) { check_mended(&sandbox, args, &after) } else { Ok(()) });
        if let Err(fault) = checked {
            let output = &traced.output;
            faults.push(format!("{disturbance:?} at {} {}\n{fault}\nit said: {output}", call.nth, call.text));
        }
    }
    println!("| {what} | {runs} | {} |", mended.len());
    assert!(
        faults.is_empty(),
        "{what}: {} faults\n{}",
        faults.len(),
        faults[..faults.len().min(6)].join("\n---\n")
    );
}

#[test]
fn add_version() {
    walk("`registry add` of a version", &["registry", "add", "-r", "site", "pdf-1.1.zip"]);
}

/// Whatever of a version had come about when its publisher was cut off, other files under the same version are published
/// instead of it or refused: the log never has two digests of it. A registry whose creation was cut off is completed.
#[test]
fn what_follows_something_else() {
    if !strace::is_possible() {
        return;
    }
    let _pinned = pin();
    let (sandbox, saved) = (prepare(), Sandbox::in_memory());
    let other = Tree::new().file("SKILL.md", text("pdf", "1.1")).file("references/a.md", "other").zip();
    sandbox.write("other.zip", other);
    snapshot::restore(sandbox.root(), saved.root());
    let follow: [(&[&str], &[&str], &[i32]); 2] = [
        (
            &["registry", "add", "-r", "site", "pdf-1.1.zip"],
            &["registry", "add", "-r", "site", "other.zip"],
            &[0, 2],
        ),
        (
            &["registry", "init", "new", "--name", "acme"],
            &["registry", "init", "new", "--name", "acme"],
            &[0, 2],
        ),
    ];
    for (args, then, codes) in follow {
        snapshot::restore(saved.root(), sandbox.root());
        let plain = strace::run(&sandbox, args, &[]);
        let points: Vec<usize> = (0..plain.calls.len())
            .filter(|at| plain.calls[*at].changes() && plain.calls[*at].is_below(sandbox.root()))
            .collect();
        let registry = args.iter().find(|arg| ["site", "new"].contains(arg)).expect("a registry");
        for (at, disturbance) in all_disturbances(&plain.calls, &points) {
            snapshot::restore(saved.root(), sandbox.root());
            let traced = strace::run(&sandbox, args, &injections(&plain.calls, at, disturbance));
            let told = || format!("{disturbance:?} at {}\nit said: {}", plain.calls[at].text, traced.output);
            if args[1] == "init" && traced.output.code.is_some_and(|code| code != 0) {
                let left = sandbox.project().join("new").join("config.json").exists();
                // What cannot be removed either is left.
                assert!(!left || matches!(disturbance, Disturbance::From(_)), "it is left\n{}", told());
            }
            let next = sandbox.run(then);
            assert!(next.code.is_some_and(|code| codes.contains(&code)), "{next}\n{}", told());
            // A refusal publishes nothing, and so completes no list.
            sandbox.ok(&["registry", "index", "-r", registry]);
            let output = sandbox.run(&["registry", "verify", "-r", registry, "--json"]);
            let found: Value = serde_json::from_str(&output.stdout).expect("JSON");
            let is_whole = items(&found, "defects").is_empty() && items(&found, "pending").is_empty();
            assert!(is_whole, "{found}\n{}", told());
        }
    }
}

#[test]
fn add_two() {
    walk("`registry add` of two skills", &["registry", "add", "-r", "site", "pdf-1.1.zip", "xlsx-1.0.zip"]);
}

#[test]
fn yank() {
    walk("`registry yank`", &["registry", "yank", "-r", "site", "pdf@1.0", "--reason", "x"]);
}

/// One skill, so that one thread does all of it.
#[test]
fn mirror() {
    walk(
        "`registry mirror` of a version and a yank",
        &["registry", "mirror", "./upstream", "site", "pdf", "--no-deps"],
    );
}

#[test]
fn publish() {
    walk("`publish`", &["publish", "work/pdf", "--to", "./site"]);
}
