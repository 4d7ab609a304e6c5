//! What `serve` makes of a place that is no registry yet.

use crate::store::{REGISTRY, Store};
use crate::support::{Server, program};

#[tokio::test]
async fn a_directory_with_nothing_in_it_becomes_a_registry() {
    let place = tempfile::tempdir().expect("a directory");
    let empty = place.path().join("Team Skills");
    std::fs::create_dir(&empty).expect("a directory");
    let created = |server: Server| server.stop().matches("created a registry in ").count();
    for (dir, name) in [(empty, "team-skills"), (place.path().join("not/there"), "there")] {
        let dir = dir.to_str().expect("UTF-8");
        let server = Server::of(dir, "", &[]);
        assert_eq!(server.get("/config.json").await.json()["name"], name);
        // Whatever a static host would serve is there as well.
        assert_eq!(server.get("/search.json").await.status, 200);
        assert!(std::path::Path::new(dir).join("search.json").is_file());
        let alice = server.token("alice", &[]);
        assert_eq!(server.publish(&alice, "pdf", "1.0.0").await.status, 201);
        assert_eq!(created(server), 1);
        let again = Server::of(dir, "", &[]);
        assert_eq!(again.get("/index/pdf.json").await.status, 200);
        assert_eq!(created(again), 0);
    }
}

/// The error comes before an address is announced.
#[test]
fn a_registry_must_be_named() {
    let place = tempfile::tempdir().expect("a directory");
    let refused =
        program(&["serve", "--listen", "127.0.0.1:0"]).current_dir(place.path()).output().expect("ends");
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && told.contains("no registry is named"), "{told}");
    assert!(refused.stdout.is_empty(), "{}", String::from_utf8_lossy(&refused.stdout));
}

/// A mistake is told in the words of `skillpm`, which passes such lines on.
#[test]
fn a_mistake_names_what_is_missing_and_the_command() {
    for (line, told) in [
        ("site reg", "error: `--out` is required\nhint: `skillpm-registry site --help` shows all options\n"),
        (
            "token revoke",
            "error: `ID` is required\nhint: `skillpm-registry token revoke --help` shows all options\n",
        ),
        (
            "serve --nope",
            "error: unexpected argument `--nope` found\nhint: `skillpm-registry serve --help` shows all options\n",
        ),
    ] {
        let args: Vec<_> = line.split(' ').collect();
        let refused = program(&args).output().expect("ends");
        assert_eq!((refused.status.code(), &*String::from_utf8_lossy(&refused.stderr)), (Some(2), told));
    }
}

#[test]
fn what_somebody_has_is_not_made_a_registry() {
    let place = tempfile::tempdir().expect("a directory");
    let notes = place.path().join("notes.txt");
    std::fs::write(&notes, "mine").expect("is written");
    for dir in [place.path(), &notes, &notes.join("below")] {
        let refused = program(&["serve", dir.to_str().expect("UTF-8"), "--listen", "127.0.0.1:0"]).output();
        let refused = refused.expect("ends");
        let told = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && !told.contains("created a registry"), "{told}");
        if dir == place.path() {
            assert!(refused.status.code() == Some(2) && told.contains("is not a registry"), "{told}");
        }
    }
    assert_eq!(std::fs::read_dir(place.path()).expect("is read").count(), 1);
}

#[tokio::test]
async fn a_bucket_with_nothing_in_it_becomes_a_registry() {
    let store = Store::start().await;
    // Whichever is first.
    let (one, other) = tokio::join!(store.serve(), store.serve());
    let name = REGISTRY.rsplit('/').next();
    for server in [&one, &other] {
        assert_eq!(server.get("/config.json").await.json()["name"].as_str(), name);
    }
    let token = store.admin(&["token", "create", "--account", "alice"]).await;
    assert_eq!(one.publish(&token, "pdf", "1.0.0").await.status, 201);

    let store = Store::start().await;
    store.damage("team/notes.txt", b"mine");
    let refused = store.run(&["serve", "--listen", "127.0.0.1:0"]).await;
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && told.contains("is not a registry"), "{told}");
    assert_eq!(store.paths("").len(), 1);
}

/// A store that replaces what exists could lose published versions, so no server uses it.
#[tokio::test]
async fn a_store_that_ignores_conditions_is_refused() {
    let (store, _) = Store::with_registry().await;
    let before = store.paths("");
    store.ignore_conditions();
    let careless = Store::start().await;
    careless.ignore_conditions();
    for (store, args) in [
        (&careless, &["init", "--name", "acme"][..]),
        (&careless, &["serve", "--listen", "127.0.0.1:0"]),
        (&store, &["serve", "--listen", "127.0.0.1:0"]),
    ] {
        let refused = store.run(args).await;
        let told = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(3), "{told}");
        assert!(told.contains("If-None-Match") && told.contains("use a store that honours"), "{told}");
    }
    assert_eq!((store.paths(""), careless.paths("")), (before, Vec::new()), "no probe is left");
}
