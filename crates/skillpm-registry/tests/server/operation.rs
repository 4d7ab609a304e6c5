//! What operators do with the files of a registry: verify, back up, and mend by hand.

use crate::support::{self, Server};

/// What a server passes over to go on serving, a verification does not.
#[tokio::test]
async fn a_damaged_directory_is_not_vouched_for() {
    let server = Server::start("");
    let alice = server.token("alice", &[]);
    for (name, version) in [("docx", "1.0.0"), ("pdf", "1.0.0"), ("pdf", "1.1.0")] {
        assert_eq!(server.publish(&alice, name, version).await.status, 201);
    }
    let dir = std::path::PathBuf::from(server.registry());
    let verify = || {
        let output = server.admin(&["verify"]);
        (output.status.code(), String::from_utf8(output.stdout).expect("text"))
    };
    assert_eq!(verify(), (Some(0), String::new()));
    let read = |path: &str| std::fs::read(dir.join(path)).expect("is read");
    let other = read("index/docx/1.0.0.json");
    let archive = std::fs::read_dir(dir.join("artifacts/sha256")).expect("archives").next();
    let archive = archive.expect("one").expect("an entry").file_name().into_string().expect("UTF-8");
    let archive = format!("artifacts/sha256/{archive}");
    let mut flipped = read(&archive);
    flipped[40] ^= 1;
    let later = read("index/pdf/1.1.0.json");
    let cases: [(&str, Option<&[u8]>); 18] = [
        ("index/pdf/1.0.0.json", Some(b"{")),
        ("index/pdf/1.0.0.json", Some(b"")),
        ("index/pdf/1.0.0.json", Some(&later[..later.len() / 2])),
        ("index/pdf/1.0.0.json", Some(&other)),
        ("index/pdf/1.0.0.json", Some(&later)),
        ("index/pdf/1.0.0.json", None),
        ("index/docx/1.0.0.json", None),
        ("index/pdf/events/1.json", Some(b"no event")),
        ("index/pdf/events/1.json", None),
        ("log/0/2.json", Some(b"no entry")),
        ("log/0/2.json", None),
        ("log/0/1.json", None),
        ("log/0/3.json", None),
        (&archive, Some(&flipped)),
        (&archive, Some(&flipped[1..])),
        (&archive, None),
        ("index/pdf.json", None),
        ("search.json", Some(b"{}")),
    ];
    for (path, bytes) in cases {
        let before = read(path);
        match bytes {
            Some(bytes) => std::fs::write(dir.join(path), bytes).expect("is written"),
            None => std::fs::remove_file(dir.join(path)).expect("is removed"),
        }
        let (code, told) = verify();
        assert!(code == Some(5) && !told.is_empty(), "{path} {bytes:?}: {code:?} {told}");
        std::fs::write(dir.join(path), before).expect("is written");
    }
    assert_eq!(verify(), (Some(0), String::new()));
}

/// A copy is the last thing that is left when the registry is damaged.
#[tokio::test]
async fn a_copy_is_not_overwritten() {
    let server = Server::start("");
    let alice = server.token("alice", &[]);
    assert_eq!(server.publish(&alice, "pdf", "1.0.0").await.status, 201);
    let (dir, place) =
        (std::path::PathBuf::from(server.registry()), tempfile::tempdir().expect("a directory"));
    let copy = place.path().join("copy");
    let backup = |from: &std::path::Path, to: &std::path::Path| {
        let args = ["backup", from.to_str().expect("UTF-8"), to.to_str().expect("UTF-8")];
        let output = support::program(&args).output().expect("starts");
        let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.code(), told)
    };
    let state = |dir: &std::path::Path| -> std::collections::BTreeMap<_, _> {
        let files = support::files(dir).into_iter();
        files.map(|file| (file.clone(), std::fs::read(file).expect("is read"))).collect()
    };
    assert_eq!(backup(&dir, &copy).0, Some(0));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(copy.join("private")).expect("a directory").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
    let good = state(&copy);
    assert_eq!(server.publish(&alice, "pdf", "1.1.0").await.status, 201);
    for path in ["index/pdf/1.0.0.json", "index/pdf/events/1.json", "log/0/1.json"] {
        let bytes = std::fs::read(dir.join(path)).expect("is read");
        std::fs::write(dir.join(path), "{").expect("is written");
        let (code, told) = backup(&dir, &copy);
        assert!(code == Some(5) && told.contains(path), "{path}: {told}");
        assert!(state(&copy) == good, "{path}: nothing is changed, nothing new is copied");
        std::fs::write(dir.join(path), bytes).expect("is written");
    }
    let archive =
        good.keys().find(|path| path.ends_with("zip") || path.extension().is_some_and(|end| end == "zip"));
    let archive = archive.expect("an archive").clone();
    std::fs::write(&archive, "PK").expect("is written");
    let (code, told) = backup(&dir, &copy);
    let name = archive.file_name().and_then(|name| name.to_str()).expect("UTF-8");
    assert!(code == Some(5) && told.contains(name), "{told}");
    std::fs::write(&archive, &good[&archive]).expect("is written");
    // Another registry, also one of the same name, and a directory of something else.
    let name = server.get("/config.json").await.json()["name"].as_str().expect("a name").to_owned();
    for (name, code, part) in
        [("other", 2, "not a copy of `other`"), (name.as_str(), 5, "of another registry")]
    {
        let other = place.path().join(format!("{name}-registry"));
        let made = support::program(&["init", other.to_str().expect("UTF-8"), "--name", name]).output();
        assert!(made.expect("starts").status.success());
        let (ended, told) = backup(&other, &copy);
        assert!(ended == Some(code) && told.contains(part), "{told}");
        assert!(state(&copy) == good);
    }
    let mine = place.path().join("mine");
    std::fs::create_dir(&mine).expect("a directory");
    std::fs::write(mine.join("search.json"), "MINE").expect("is written");
    let (code, told) = backup(&dir, &mine);
    assert!(code == Some(2) && told.contains("`search.json`"), "{told}");
    assert_eq!(state(&mine).len(), 1);
    // What is new is copied once both are right again.
    assert_eq!(backup(&dir, &copy).0, Some(0));
    assert!(copy.join("index/pdf/1.1.0.json").is_file());
    assert_eq!(
        support::program(&["verify", copy.to_str().expect("UTF-8")]).output().expect("starts").status.code(),
        Some(0)
    );
}

/// Missing files make one version unavailable, and its skill can be changed as before.
#[tokio::test]
async fn a_removed_version_takes_no_other_with_it() {
    let server = Server::start("");
    let alice = server.token("alice", &[]);
    for version in ["1.0.0", "1.1.0"] {
        assert_eq!(server.publish(&alice, "pdf", version).await.status, 201);
    }
    let yank = "/api/v1/skills/pdf/versions/1.1.0/yank";
    let escape = server.send("POST", yank, Some(&alice), r#"{"reason":"\u001b[31mred"}"#).await;
    assert_eq!(escape.status, 422, "{}", escape.text());
    assert_eq!(server.send("POST", yank, Some(&alice), r#"{"reason":"leaks a key"}"#).await.status, 200);
    std::fs::remove_file(std::path::Path::new(server.registry()).join("index/pdf/1.1.0.json"))
        .expect("is removed");
    let again = server.again("");
    let versions = async || {
        let list = again.get("/index/pdf.json").await.json();
        let versions = list["versions"].as_array().cloned().unwrap_or_default();
        versions.iter().map(|one| one["version"].as_str().expect("text").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(versions().await, ["1.0.0"]);
    assert_eq!(again.publish(&alice, "pdf", "1.2.0").await.status, 201);
    assert_eq!(again.publish(&alice, "pdf", "1.1.0").await.status, 409);
    assert_eq!(versions().await, ["1.0.0", "1.2.0"]);
    assert_eq!(again.admin(&["verify"]).status.code(), Some(5));
}

/// Making pages does not replace a file of any other kind without `--force`.
#[tokio::test]
async fn a_site_replaces_no_file_of_others() {
    let server = Server::start("");
    let alice = server.token("alice", &[]);
    assert_eq!(server.publish(&alice, "pdf", "1.0.0").await.status, 201);
    let out = tempfile::tempdir().expect("a directory");
    std::fs::write(out.path().join("index.html"), "MINE").expect("is written");
    std::fs::write(out.path().join("notes.txt"), "MINE").expect("is written");
    let site = |more: &[&str]| {
        let output = server.admin(&[&["site", "--out", out.path().to_str().expect("UTF-8")], more].concat());
        let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.code(), told)
    };
    let (code, told) = site(&[]);
    assert!(code == Some(2) && told.contains("`index.html`") && told.contains("--force"), "{told}");
    assert_eq!(std::fs::read_dir(out.path()).expect("is read").count(), 2);
    let (code, told) = site(&["--force"]);
    assert!(code == Some(0) && told.contains("replaced `index.html`"), "{told}");
    assert_eq!(site(&[]).0, Some(0), "they are its own now");
    assert_eq!(std::fs::read_to_string(out.path().join("notes.txt")).expect("is read"), "MINE");
}
