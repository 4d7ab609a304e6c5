//! Lockfiles, manifests and journals of strangers: lk.

use super::{Scene, Want, Way};
use crate::support::Tree;

use Want::Fails;

/// `demo` from a repository, with the texts of lockfile and manifest.
fn scene() -> (Scene, String, String) {
    let control = Tree::new().file("demo/SKILL.md", super::BEFORE);
    let scene = Scene::new(Way::Repository, &control.archive("acme/demo", &"d".repeat(40)));
    let (lock, manifest) = (scene.sandbox.read("skillpm.lock"), scene.sandbox.read("skillpm.toml"));
    scene.forge.clear_requests();
    (scene, lock, manifest)
}

/// All verbs that read the lockfile.
const VERBS: &[&[&str]] = &[
    &["install", "--frozen"],
    &["install", "--locked"],
    &["install", "--offline"],
    &["remove", "demo"],
    &["remove", "demo", "--force"],
    &["disable", "demo"],
    &["link", "--agent", "cursor"],
    &["list"],
    &["doctor"],
];

/// lk01, lk04, lk09, lk16, lk19, lk23: a lockfile is checked before anything is done by it, by all verbs;
/// it is told where it is wrong, and stays as it is.
#[test]
fn lockfiles() {
    let (_, lock, _) = scene();
    let revision = "d".repeat(40);
    let digest = lock.lines().find(|line| line.starts_with("digest = ")).expect("a digest");
    let deep =
        |open: &str, close: &str| format!("{lock}x = {}{}\n", open.repeat(50_000), close.repeat(50_000));
    let cases = [
        ("lk01-name-dotdot", lock.replace("\"demo\"", "\"../../CANARY\""), "skill `../../CANARY`: the name"),
        (
            "lk01, absolute",
            lock.replace("name = \"demo\"", "name = \"/tmp/CANARY\""),
            "skill `/tmp/CANARY`: the name",
        ),
        ("lk01, an agent", format!("{lock}agents = [\"../../CANARY\"]\n"), "skillpm.lock:"),
        ("lk01, a path", lock.replace("path = \"demo\"", "path = \"../../CANARY\""), "../../CANARY"),
        ("lk04-digest-missing", lock.replace(&format!("{digest}\n"), ""), "missing field `digest`"),
        ("lk04, an empty one", lock.replace(digest, "digest = \"\""), "is not a digest"),
        ("lk09-conflict", format!("<<<<<<< HEAD\n{lock}=======\n>>>>>>> theirs\n"), "merge-conflict markers"),
        ("lk16-url-ext", lock.replace("github:acme/demo", "git:ext::sh -c touch% CANARY"), "skillpm.lock"),
        (
            "lk16, an option",
            lock.replace("github:acme/demo", "git:--upload-pack=touch CANARY"),
            "skillpm.lock",
        ),
        ("lk19-rev-branch", lock.replace(&revision, "main"), "40 hexadecimal digits"),
        ("lk23-deep", deep("[", "]"), "skillpm.lock:"),
        ("lk23, tables", deep("{a=", "}"), "skillpm.lock:"),
        ("lk23, keys", format!("{lock}x{} = 1\n", ".x".repeat(50_000)), "skillpm.lock:"),
    ];
    let (scene, _, _) = scene();
    for (at, (id, text, part)) in cases.into_iter().enumerate() {
        assert_ne!(text, lock, "{id}");
        scene.sandbox.write("skillpm.lock", text);
        let before = scene.look();
        // All of them read it by one function: the first file shows that each does.
        for args in VERBS.iter().filter(|args| at == 0 || matches!(args[0], "install" | "list" | "doctor")) {
            let output = scene.run(args);
            // `doctor` tells of it as of a finding, and mends nothing.
            let code = if args[0] == "doctor" { 1 } else { 3 };
            if args[0] == "doctor" {
                assert_eq!(output.code, Some(code), "{id} {args:?}: {output}");
                assert_eq!(scene.look(), before, "{id}");
            } else {
                scene.judge(&format!("{id} {args:?}"), Fails(code, part), &before, &output);
            }
        }
        assert!(scene.forge.requests().is_empty(), "{id}: nobody was asked");
    }
}

/// A digest of nothing that is there.
const OTHER: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

/// lk07-digest-other: with both digests; what is locked is never replaced by what came.
#[test]
fn lk07_the_digest_of_other_bytes() {
    let (scene, lock, _) = scene();
    let digest = lock.lines().find_map(|line| line.strip_prefix("digest = ")).expect("a digest");
    scene.sandbox.write("skillpm.lock", lock.replace(digest.trim_matches('"'), OTHER));
    std::fs::remove_dir_all(scene.sandbox.project().join(".agents")).expect("removed");
    std::fs::remove_dir_all(scene.sandbox.project().join(".claude")).expect("removed");
    let before = scene.look();
    for args in
        [&["install", "--frozen"][..], &["install", "--locked"], &["install"], &["install", "--force"]]
    {
        let output = scene.run(args);
        scene.judge("lk07-digest-other", Want::Refused(OTHER), &before, &output);
        assert!(output.stderr.contains(digest.trim_matches('"')), "{output}");
    }
}

/// lk14-url-host: only hosts that the manifest names are asked, whatever the lockfile says.
#[test]
fn lk14_an_address_at_another_host() {
    let control = Tree::new().file("demo/SKILL.md", super::BEFORE).zip();
    let scene = Scene::new(Way::Download("zip"), &control);
    let (lock, url) = (scene.sandbox.read("skillpm.lock"), scene.source());
    let other = scene.forge.other_url("/offered.zip");
    scene.sandbox.write("skillpm.lock", lock.replace(&url, &other));
    for dir in [".agents", ".claude", "../home/.local", "../home/.cache"] {
        let _ = std::fs::remove_dir_all(scene.sandbox.project().join(dir));
    }
    scene.forge.clear_requests();
    let before = scene.look();
    for args in [&["install", "--frozen"][..], &["install", "--locked"]] {
        let output = scene.run(args);
        scene.judge("lk14-url-host", Fails(3, "skillpm.lock"), &before, &output);
    }
    let output = scene.run(&["install"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(scene.sandbox.read("skillpm.lock").contains(&url), "what the manifest says is locked again");
    for request in scene.forge.requests() {
        assert_eq!(request.host, scene.forge.api_host(), "{request:?}");
    }
}

/// d03 and d08 for the files that skillpm itself reads: pipes, directories, holes and links in their
/// places end with an error, not with a wait.
#[test]
fn files_of_ours_that_are_none() {
    use rustix::fs::{CWD, FileType, mknodat};
    for name in ["skillpm.lock", "skillpm.toml", ".agents/.skillpm-tx/journal.json"] {
        for kind in ["pipe", "directory", "hole", "link"] {
            let (scene, _, _) = scene();
            let path = scene.sandbox.project().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
            let _ = std::fs::remove_file(&path);
            match kind {
                "pipe" => mknodat(CWD, &path, FileType::Fifo, 0o600.into(), 0).expect("a pipe"),
                "directory" => std::fs::create_dir(&path).expect("a directory"),
                "hole" => std::fs::File::create(&path).and_then(|f| f.set_len(8 << 30)).expect("a hole"),
                _ => std::os::unix::fs::symlink(scene.outside().join("secret"), &path).expect("a link"),
            }
            let before = scene.look();
            for args in [&["install", "--frozen"][..], &["remove", "demo"], &["list"], &["doctor"]] {
                let output = scene.run(args);
                let id = format!("{name} as a {kind}, {args:?}");
                assert!(output.code.is_some(), "{id}: {output}");
                assert!(!format!("{output}").contains("TOPSECRET"), "{id}: {output}");
                assert_eq!(
                    std::fs::read_to_string(scene.outside().join("secret")).expect("there"),
                    "TOPSECRET",
                    "{id}"
                );
                // A journal that is no file is none, and is swept.
                if !name.ends_with("journal.json") {
                    assert_ne!(output.code, Some(0), "{id}: {output}");
                    assert_eq!(scene.look(), before, "{id}: {output}");
                }
            }
        }
    }
}
