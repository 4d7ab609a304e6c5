//! Several servers on one store, and a store that fails.

use std::collections::BTreeMap;
use std::sync::Arc;

use skillpm_testing::archive::{stored, zip};

use super::change::Published;
use super::*;
use crate::codes;
use crate::registry::{Record, files, registry_name, registry_version};
use crate::storage::Objects;
use crate::testing::{Store, app as server, archive, caller, text};
use crate::version::Version;

const ALL: &[Scope] = &[Scope::Read, Scope::Publish, Scope::Yank, Scope::Owner];

fn name(text: &str) -> SkillName {
    registry_name(text).expect("a name")
}

fn version(text: &str) -> Version {
    registry_version(text).expect("a version")
}

fn time() -> Timestamp {
    Timestamp::new(1_795_730_400)
}

async fn publish(app: &App, who: &Caller, skill: &str, number: &str) -> Result<Published> {
    app.publish(who, &name(skill), &version(number), archive(skill, number), time()).await
}

async fn see(app: &App) {
    app.catalog.refresh(&app.storage).await.expect("a log");
}

fn versions(app: &App, skill: &str) -> Vec<String> {
    let skill = app.catalog.history(&name(skill));
    skill.records().iter().map(|record| record.version.to_string()).collect()
}

fn code<T>(result: Result<T>) -> Option<String> {
    result.err().map(|error| error.code().to_owned())
}

#[tokio::test]
async fn a_second_server_sees_what_the_first_publishes() {
    let store = Store::new();
    let (one, other) = (server(&store).await, server(&store).await);
    let alice = caller("alice", ALL);
    let published = publish(&one, &alice, "pdf", "1.0").await.expect("published");
    assert!(!published.already);
    assert!(versions(&other, "pdf").is_empty());
    see(&other).await;
    assert_eq!(versions(&other, "pdf"), ["1.0"]);
    let again = publish(&other, &alice, "pdf", "1.0").await.expect("the same");
    assert!(again.already);
    assert!(
        other
            .yank(&alice, &name("pdf"), &version("1.0"), Some("broken".to_owned()), time())
            .await
            .expect("yanked")
    );
    see(&one).await;
    assert_eq!(one.catalog.history(&name("pdf")).yanked(&version("1.0")), Some("broken"));
    // One that starts later reads the same from the files.
    let late = server(&store).await;
    assert_eq!(late.catalog.history(&name("pdf")), one.catalog.history(&name("pdf")));
}

/// The requests of a publication to a bucket: the new entries of the log, then the archive and the entry of the log at once,
/// for a new skill the claim, then the record.
#[tokio::test]
async fn a_publication_makes_few_calls() {
    let store = Store::new();
    let app = server(&store).await;
    let alice = caller("alice", &[Scope::Publish]);
    let mut calls = Vec::new();
    for version in ["1.0.0", "1.1.0"] {
        // As it does each second.
        see(&app).await;
        store.take_calls();
        publish(&app, &alice, "pdf", version).await.expect("published");
        calls.push(store.take_calls());
    }
    assert_eq!(
        calls,
        [BTreeMap::from([("read", 1), ("write", 4)]), BTreeMap::from([("read", 1), ("write", 3)])]
    );
}

#[tokio::test]
async fn a_name_belongs_to_whoever_publishes_it_first() {
    let store = Store::new();
    let (one, other) = (server(&store).await, server(&store).await);
    let (alice, bob) = (caller("alice", ALL), caller("bob", ALL));
    publish(&one, &alice, "pdf", "1.0").await.expect("published");
    // The other server has not heard of it yet, and loses all the same.
    assert_eq!(code(publish(&other, &bob, "pdf", "2.0").await).as_deref(), Some(codes::NOT_PERMITTED));
    see(&other).await;
    assert_eq!(versions(&other, "pdf"), ["1.0"]);
    let pdf = name("pdf");
    assert_eq!(
        code(one.own(&bob, &pdf, "bob".parse().expect("an account"), true, time()).await).as_deref(),
        Some(codes::NOT_PERMITTED)
    );
    assert!(one.own(&alice, &pdf, "bob".parse().expect("an account"), true, time()).await.expect("added"));
    see(&other).await;
    publish(&other, &bob, "pdf", "2.0").await.expect("published");
    assert!(
        other.own(&bob, &pdf, "alice".parse().expect("an account"), false, time()).await.expect("removed")
    );
    see(&one).await;
    assert_eq!(code(publish(&one, &alice, "pdf", "3.0").await).as_deref(), Some(codes::NOT_PERMITTED));
    assert!(one.own(&bob, &pdf, "bob".parse().expect("an account"), false, time()).await.is_err());
}

#[tokio::test]
async fn what_is_private_is_as_if_it_did_not_exist() {
    let app = server(&Store::new()).await;
    let (alice, bob) = (caller("alice", ALL), caller("bob", ALL));
    publish(&app, &alice, "pdf", "1.0").await.expect("published");
    let pdf = name("pdf");
    assert!(app.show_to(&alice, &pdf, Visibility::Private, time()).await.expect("hidden"));
    let digest = app.catalog.history(&pdf).records()[0].artifact.digest;
    for stranger in [Caller(None), bob, caller("carol", &[Scope::Read])] {
        assert_eq!(code(app.skill(&stranger, &pdf)), code(app.skill(&stranger, &name("docx"))));
        assert!(app.catalog.with_archive(&digest).iter().all(|skill| !app.is_seen(&stranger, skill)));
    }
    for known in [alice, caller("alice", &[Scope::Read]), caller("root", &[Scope::Admin])] {
        assert!(app.skill(&known, &pdf).is_ok());
    }
    // Its owner knows that it exists, and learns what the token lacks.
    let only = caller("alice", &[Scope::Publish]);
    assert_eq!(code(app.skill(&only, &pdf)).as_deref(), Some(codes::NOT_PERMITTED));
    publish(&app, &only, "pdf", "1.1").await.expect("published");
}

#[tokio::test]
async fn a_token_allows_what_it_says() {
    let app = server(&Store::new()).await;
    let read = caller("alice", &[Scope::Read]);
    assert_eq!(code(publish(&app, &read, "pdf", "1.0").await).as_deref(), Some(codes::NOT_PERMITTED));
    assert_eq!(code(publish(&app, &Caller(None), "pdf", "1.0").await).as_deref(), Some(codes::TOKEN_REFUSED));
    let mut only = caller("alice", ALL);
    if let Some(token) = &mut only.0 {
        token.names = vec!["pdf-*".to_owned(), "docx".to_owned()];
    }
    publish(&app, &only, "pdf-forms", "1.0").await.expect("published");
    publish(&app, &only, "docx", "1.0").await.expect("published");
    assert_eq!(code(publish(&app, &only, "xlsx", "1.0").await).as_deref(), Some(codes::NOT_PERMITTED));
}

#[tokio::test]
async fn the_names_of_a_token_bound_whatever_it_allows() {
    let app = server(&Store::new()).await;
    publish(&app, &caller("alice", ALL), "pdf", "1.0").await.expect("published");
    let mut admin = caller("root", &[Scope::Admin]);
    publish(&app, &admin, "pdf", "1.1").await.expect("published");
    assert!(app.show_to(&admin, &name("pdf"), Visibility::Private, time()).await.expect("hidden"));
    assert!(app.skill(&admin, &name("pdf")).is_ok());
    let mut own = caller("alice", ALL);
    for token in [&mut admin.0, &mut own.0] {
        token.as_mut().expect("a token").names = vec!["acme-*".to_owned()];
    }
    assert!(app.skill(&admin, &name("pdf")).is_err() && app.skill(&own, &name("pdf")).is_err());
    assert_eq!(code(publish(&app, &admin, "pdf", "1.2").await).as_deref(), Some(codes::NOT_PERMITTED));
}

#[tokio::test]
async fn what_cannot_be_read_hides_nothing_else() {
    let store = Store::new();
    let (one, other) = (server(&store).await, server(&store).await);
    let alice = caller("alice", ALL);
    publish(&one, &alice, "pdf", "1.0").await.expect("published");
    let files = Objects::new(Arc::new(store.clone()), "skills");
    for (path, bytes) in
        [("index/bad/notes.json", "{"), ("log/0/2.json", "{"), ("index/worse/events/3.json", "{}")]
    {
        assert!(files.create(path, bytes.into()).await.expect("is written"));
    }
    publish(&one, &alice, "docx", "1.0").await.expect("published");
    see(&other).await;
    let late = server(&store).await;
    see(&late).await;
    for app in [&other, &late] {
        assert_eq!((versions(app, "pdf").len(), versions(app, "docx").len()), (1, 1));
        assert_eq!(app.catalog.complete_to(), 3);
    }
}

#[tokio::test]
async fn a_server_that_starts_waits_for_what_is_announced() {
    let store = Store::new();
    let alice = caller("alice", ALL);
    // The archive and the entry of the log are written, in either order, the event and the record are not. Writing the
    // configuration shows that it exists.
    server(&store).await;
    let broken = server(&store.failing_after(3, false)).await;
    assert!(publish(&broken, &alice, "pdf", "1.0").await.is_err());
    let late = server(&store).await;
    see(&late).await;
    assert_eq!(late.catalog.complete_to(), 0);
    publish(&server(&store).await, &alice, "pdf", "1.0").await.expect("published");
    see(&late).await;
    // The second announcement is an entry of its own, after the first.
    assert_eq!((versions(&late, "pdf").len(), late.catalog.complete_to()), (1, 2));
}

#[tokio::test]
async fn names_that_are_confused_are_not_given_out() {
    let app = server(&Store::new()).await;
    let alice = caller("alice", ALL);
    publish(&app, &alice, "pdf-tools", "1.0").await.expect("published");
    for taken in ["pdftools", "pdf-too1s", "skillpm", "skill-pm", "adm1n", "api"] {
        assert_eq!(
            code(publish(&app, &alice, taken, "1.0").await).as_deref(),
            Some(codes::NAME_NOT_AVAILABLE),
            "{taken}"
        );
    }
}

#[tokio::test]
async fn the_archive_is_what_the_address_says() {
    let app = server(&Store::new()).await;
    let alice = caller("alice", ALL);
    let other = app.publish(&alice, &name("pdf"), &version("1.0"), archive("docx", "1.0"), time()).await;
    assert_eq!(code(other).as_deref(), Some(codes::RELEASE_REFUSED));
    let other = app.publish(&alice, &name("pdf"), &version("1.1"), archive("pdf", "1.0"), time()).await;
    assert_eq!(code(other).as_deref(), Some(codes::RELEASE_REFUSED));
    assert!(app.publish(&alice, &name("pdf"), &version("1.1"), "no zip".into(), time()).await.is_err());
    assert!(app.catalog.all().is_empty());
}

/// Each write of a publication fails once, with and without having written. A second attempt succeeds, and nothing is
/// published twice or half.
#[tokio::test]
async fn a_publication_that_breaks_off_can_be_tried_again() {
    let alice = caller("alice", ALL);
    for writes in [false, true] {
        for works in 0..4 {
            let store = Store::new();
            // The configuration exists before anything fails.
            server(&store).await;
            let broken = server(&store.failing_after(works, writes)).await;
            let result = publish(&broken, &alice, "pdf", "1.0").await;
            let late = server(&store).await;
            assert!(
                versions(&late, "pdf").len() <= usize::from(writes || result.is_ok()),
                "{works} {writes}"
            );
            publish(&late, &alice, "pdf", "1.0").await.expect("the second try");
            assert_eq!(versions(&late, "pdf"), ["1.0"]);
            assert_eq!(late.catalog.history(&name("pdf")).owners().len(), 1);
            let later = server(&store).await;
            assert_eq!(later.catalog.history(&name("pdf")), late.catalog.history(&name("pdf")));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_publishers_on_two_servers_lose_nothing() {
    let store = Store::new();
    let servers = [Arc::new(server(&store).await), Arc::new(server(&store).await)];
    let mut tasks = Vec::new();
    for publisher in 0..8 {
        let app = Arc::clone(&servers[publisher % 2]);
        tasks.push(tokio::spawn(async move {
            let who = caller(&format!("team-{publisher}"), ALL);
            for number in 0..5 {
                let (own, version) = (format!("own-{publisher}"), format!("1.{number}"));
                publish(&app, &who, &own, &version).await.expect("its own");
                // All want this one; one of them gets it.
                let _ = publish(&app, &who, "wanted", &format!("{publisher}.{number}")).await;
            }
        }));
    }
    for task in tasks {
        task.await.expect("a publisher");
    }
    for app in &servers {
        see(app).await;
    }
    let late = server(&store).await;
    for app in servers.iter().map(AsRef::as_ref).chain([&late]) {
        for publisher in 0..8 {
            assert_eq!(versions(app, &format!("own-{publisher}")).len(), 5);
        }
        let wanted = app.catalog.history(&name("wanted"));
        assert_eq!(wanted.owners().len(), 1);
        assert_eq!(wanted, late.catalog.history(&name("wanted")));
        let majors: std::collections::BTreeSet<_> =
            wanted.records().iter().map(|record| record.version.number().major).collect();
        assert_eq!(majors.len(), 1, "versions of one owner");
    }
}

/// Different files of one version, published at the same moment through two servers: one of them is the version, and only
/// its publisher gets a success.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_version_is_published_once() {
    let store = Store::new();
    let servers = [Arc::new(server(&store).await), Arc::new(server(&store).await)];
    for round in 0..20 {
        let number = format!("1.{round}.0");
        let mut tasks = Vec::new();
        for publisher in 0..8 {
            let (app, number) = (Arc::clone(&servers[publisher % 2]), number.clone());
            tasks.push(tokio::spawn(async move {
                let text = format!("{}{publisher}\n", text("pdf", &number));
                let bytes = Bytes::from(zip(&[stored("SKILL.md", text)]));
                let alice = caller("alice", ALL);
                let published = app.publish(&alice, &name("pdf"), &version(&number), bytes, time()).await;
                published.ok().map(|published| published.record.artifact.digest)
            }));
        }
        let mut published = Vec::new();
        for task in tasks {
            published.extend(task.await.expect("a publisher"));
        }
        let late = server(&store).await;
        let history = late.catalog.history(&name("pdf"));
        let record = history.get(&version(&number)).expect("the version");
        assert_eq!(published, [record.artifact.digest], "{number}");
    }
}

/// Whichever way an archive is asked for first, other bytes than were published are no archive.
#[tokio::test]
async fn damaged_archives_are_found_whoever_asks() {
    let store = Store::new();
    let app = server(&store).await;
    publish(&app, &caller("alice", ALL), "pdf", "1.0").await.expect("published");
    let record = app.catalog.history(&name("pdf")).records()[0].clone();
    store.put(&files::artifact(&record.artifact.digest), Bytes::from_static(b"other bytes")).await;
    let found = [
        code(app.contents(&record).await),
        code(app.contained(&record, "SKILL.md").await),
        code(app.layer(&record).await),
        code(app.archive(&record.artifact).await),
    ];
    assert!(found.iter().all(|code| code.as_deref() == Some(codes::REGISTRY_MISMATCH)), "{found:?}");
    // What was never an archive is the registry's mistake, too, and a token that cannot be read.
    let bytes = Bytes::from_static(b"no archive");
    let artifact = Artifact { digest: Digest::of(&bytes), size: bytes.len() as u64 };
    store.put(&files::artifact(&artifact.digest), bytes).await;
    let wrong = Record { artifact, ..record };
    assert_eq!(code(app.contents(&wrong).await).as_deref(), Some(codes::REGISTRY_UNUSABLE));
    let token = format!("private/tokens/{}.json", Digest::of(b"skpm_damaged").hex());
    store.put(&token, Bytes::from_static(b"{")).await;
    assert_eq!(
        code(app.tokens.check("skpm_damaged", time()).await).as_deref(),
        Some(codes::REGISTRY_UNUSABLE)
    );
}

/// Names that look alike, published at the same moment: one of them is free.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn names_that_look_alike_are_given_out_once() {
    let app = Arc::new(server(&Store::new()).await);
    let mut tasks = Vec::new();
    for skill in ["pdf-tools", "pdftools", "p-dftools", "pd-ftools", "pdft-ools", "pdf-to-ols", "pdf-too1s"] {
        let app = Arc::clone(&app);
        tasks.push(tokio::spawn(
            async move { publish(&app, &caller("alice", ALL), skill, "1.0").await.is_ok() },
        ));
    }
    let mut count = 0;
    for task in tasks {
        count += usize::from(task.await.expect("a publisher"));
    }
    assert_eq!((count, app.catalog.all().len()), (1, 1));
}
