//! The life of a registry on disk.

#![expect(clippy::disallowed_methods, reason = "the tests damage files")]

use std::collections::BTreeSet;
use std::path::Path;

use skillpm_testing::archive::{ZipEntry, stored, zip};

use super::*;
use crate::codes;
use crate::error::ErrorKind;
use crate::name::SkillName;
use crate::version::Version;

const TIME: i64 = 1_795_730_400;

fn time() -> Timestamp {
    Timestamp::new(TIME)
}

fn name(text: &str) -> SkillName {
    registry_name(text).expect(text)
}

fn version(text: &str) -> Version {
    registry_version(text).expect(text)
}

fn text(name: &str, version: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Reads {name}.\nmetadata:\n  version: '{version}'\n---\n{body}\n")
}

fn package(name: &str, version: &str, body: &str) -> Package {
    let entries: [ZipEntry; 2] =
        [stored("SKILL.md", text(name, version, body)), stored("references/a.md", body)];
    Package::new(zip(&entries)).expect("a package")
}

fn registry() -> (tempfile::TempDir, RegistryDir) {
    let dir = tempfile::tempdir().expect("a directory");
    let registry = new(dir.path()).create(|| ()).expect("a registry");
    (dir, registry)
}

fn new(dir: &Path) -> NewRegistry {
    NewRegistry::new(dir, Some(&name("acme"))).expect("it can be one")
}

fn writer(registry: &RegistryDir) -> Writer<'_> {
    Writer::new(registry, || ()).expect("a writer")
}

/// Publishes these packages in one change.
fn publish(registry: &RegistryDir, packages: &[Package]) -> Derived {
    let mut writer = writer(registry);
    for package in packages {
        assert!(matches!(writer.stage(package, time()).expect("is staged"), Staged::New(_)));
    }
    writer.commit().expect("is published")
}

/// The list of the versions of a skill.
fn list_of(registry: &RegistryDir, name: &SkillName) -> Option<NameList> {
    let bytes = registry.get(&files::list(name), MAX_FILE).expect("reads")?;
    Some(NameList::parse(&bytes, name).expect("a list"))
}

#[track_caller]
fn assert_clean(registry: &RegistryDir) -> Verified {
    let verified = verify(registry).expect("is verified");
    assert_eq!(verified.defects, []);
    assert_eq!((&verified.strays, &verified.pending), (&Vec::new(), &Vec::new()));
    verified
}

/// Every file below `dir` with its bytes.
fn files_of(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).expect("a directory").flatten() {
            if entry.file_type().expect("a type").is_dir() {
                open.push(entry.path());
            } else {
                let path = entry.path().strip_prefix(dir).expect("below").display().to_string();
                found.push((path, std::fs::read(entry.path()).expect("reads")));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn what_is_published_is_there_and_nothing_else() {
    let (dir, registry) = registry();
    publish(&registry, &[package("pdf", "1.0", "one"), package("docx", "2.0.0-rc.1", "x")]);
    publish(&registry, &[package("pdf", "1.1.0+b7", "two")]);
    let verified = assert_clean(&registry);
    assert_eq!((verified.skills, verified.versions), (2, 3));
    let paths: Vec<_> = files_of(dir.path()).into_iter().map(|(path, _)| path).collect();
    let artifacts = paths.iter().filter(|path| path.starts_with("artifacts/sha256/")).count();
    let others: Vec<_> = paths.iter().filter(|path| !path.starts_with("artifacts/")).collect();
    assert_eq!(artifacts, 3);
    assert_eq!(
        others,
        [
            ".well-known/agent-skills/docx/versions.json",
            ".well-known/agent-skills/index.json",
            ".well-known/agent-skills/pdf/versions.json",
            ".well-known/ai-catalog.json",
            "config.json",
            "index/docx.json",
            "index/docx/2.0.0-rc.1.json",
            "index/pdf.json",
            "index/pdf/1.0.0.json",
            "index/pdf/1.1.0.json",
            "lock",
            "log/0/1.json",
            "log/0/2.json",
            "search.json",
        ]
    );
    let list = list_of(&registry, &name("pdf")).expect("a list");
    let versions: Vec<_> = list.versions.iter().map(|listed| listed.version.as_str()).collect();
    assert_eq!(versions, ["1.0", "1.1.0+b7"]);
    // A derivation from nothing makes the same files.
    let before = files_of(dir.path());
    for (path, _) in before.iter().filter(|(path, _)| !is_truth(path)) {
        std::fs::remove_file(dir.path().join(path)).expect("removes");
    }
    let derived = writer(&registry).index().expect("is derived");
    assert_eq!((derived.skills, derived.versions, derived.written.len()), (2, 3, 7));
    assert_eq!(files_of(dir.path()), before);
    assert_eq!(writer(&registry).index().expect("is derived").written, [""; 0]);
}

#[test]
fn the_log_has_every_change_in_its_order() {
    let (_dir, registry) = registry();
    assert_eq!(registry.log_length().expect("a log"), 0);
    publish(&registry, &[package("pdf", "1.0", "one"), package("docx", "1.0", "x")]);
    let (pdf, time) = (name("pdf"), time());
    let mut yanking = writer(&registry).by(Some("alice".to_owned()));
    assert!(yanking.yank(&pdf, &version("1.0"), Some("broken"), time).expect("stages"));
    yanking
        .event(&pdf, Event::AddOwner { owner: "bob".parse().expect("an account"), time }, time)
        .expect("stages");
    yanking.commit().expect("commits");
    // Nothing changes, so nothing is announced.
    let mut again = writer(&registry);
    again.stage(&package("pdf", "1.0", "one"), time).expect("is staged");
    again.commit().expect("commits");
    assert_eq!(registry.log_length().expect("a log"), 2);
    let entry = |number| registry.log_entry(number).expect("reads").expect("an entry");
    let published = entry(1).changes;
    assert!(
        matches!(&published[..], [LogChange::Publish { name: one, .. }, LogChange::Publish { name: other, .. }]
        if one.as_str() == "pdf" && other.as_str() == "docx")
    );
    let second = entry(2);
    assert_eq!((second.by.as_deref(), second.time), (Some("alice"), time));
    assert!(matches!(
        &second.changes[..],
        [
            LogChange::Event { number: 1, event: Event::Yank { .. }, .. },
            LogChange::Event { number: 2, event: Event::AddOwner { .. }, .. },
        ]
    ));
    assert_eq!(registry.log_entry(3).expect("reads"), None);
    assert_clean(&registry);
    std::fs::remove_file(registry.path().join(files::log(1))).expect("removes");
    let missing = verify(&registry).expect("verifies").defects;
    assert_eq!(missing.iter().map(|defect| defect.path.as_str()).collect::<Vec<_>>(), ["log/0/1.json"]);
}

#[test]
fn no_derived_file_has_a_private_skill() {
    let (dir, registry) = registry();
    publish(&registry, &[package("pdf", "1.0", "one"), package("docx", "1.0", "x")]);
    let (pdf, time) = (name("pdf"), time());
    let set = |visibility| {
        let mut writer = writer(&registry);
        writer.event(&pdf, Event::SetVisibility { visibility, time }, time).expect("stages");
        writer.commit().expect("commits");
    };
    let before = files_of(dir.path());
    set(Visibility::Private);
    let derived = files_of(dir.path()).into_iter().filter(|(path, _)| !is_truth(path));
    for (path, bytes) in derived {
        assert!(!String::from_utf8_lossy(&bytes).contains("pdf") && !path.contains("pdf"), "{path}");
    }
    publish(&registry, &[package("pdf", "1.1", "two")]);
    assert_eq!(list_of(&registry, &pdf), None);
    assert_clean(&registry);
    set(Visibility::Public);
    assert!(list_of(&registry, &pdf).is_some());
    assert!(files_of(dir.path()).len() > before.len());
    assert_clean(&registry);
}

/// Whether nothing derives the file at `path`.
fn is_truth(path: &str) -> bool {
    let is_record = path.starts_with("index/") && path.matches('/').count() > 1;
    is_record || path.starts_with("artifacts/") || path.starts_with("log/") || path == "config.json"
}

#[test]
fn a_version_is_published_once() {
    let (dir, registry) = registry();
    publish(&registry, &[package("pdf", "1.0", "one"), package("pdf", "1.0.3", "x")]);
    let before = files_of(dir.path());
    let again = writer(&registry).stage(&package("pdf", "1.0", "one"), Timestamp::new(0)).expect("is known");
    assert!(matches!(again, Staged::Already(record) if record.published == time()));
    for text in ["1.0", "1", "1.0.0", "1.0.0+other"] {
        let error = writer(&registry).stage(&package("pdf", text, "two"), time()).expect_err(text);
        assert_eq!((error.code(), error.kind()), (codes::VERSION_EXISTS, ErrorKind::Usage));
        assert!(error.hints()[0].to_string().contains("`1.0.4`"), "{:?}", error.hints());
    }
    // Nor within one change.
    let mut both = writer(&registry);
    both.stage(&package("docx", "1.0", "one"), time()).expect("is staged");
    let error = both.stage(&package("docx", "1", "two"), time()).expect_err("the same version");
    assert_eq!(error.code(), codes::VERSION_EXISTS);
    drop(both);
    assert_eq!(files_of(dir.path()), before, "what was not published left nothing");
    assert_clean(&registry);
}

#[test]
fn the_last_event_counts_and_the_newest_version_follows() {
    let (_dir, registry) = registry();
    publish(&registry, &[package("pdf", "1.0", "one"), package("pdf", "1.1", "two")]);
    let yank = |version: &str, reason: Option<&str>| {
        let mut writer = writer(&registry);
        let changed = writer.yank(&name("pdf"), &registry_version(version).expect("one"), reason, time());
        let changed = changed.expect("there is such a version");
        writer.commit().expect("is written");
        changed
    };
    let search = || {
        SearchIndex::parse(&registry.get(files::SEARCH, MAX_FILE).expect("reads").expect("a file"))
            .expect("one")
    };
    let newest = || search().skills.first().map(|skill| skill.version.to_string());
    assert!(yank("1.1.0", Some("loses pages")));
    assert!(!yank("1.1", Some("loses pages")));
    assert_eq!(newest().as_deref(), Some("1.0"));
    assert!(yank("1.0", Some("")));
    assert_eq!(newest(), None);
    assert!(
        registry.get(&files::versions(&name("pdf")), MAX_FILE).expect("reads").is_none(),
        "no version is offered"
    );
    assert_clean(&registry);
    assert!(yank("1.1", None) && !yank("1.1", None));
    assert_eq!(newest().as_deref(), Some("1.1"));
    assert_eq!(registry.history(&name("pdf")).expect("reads").event_count(), 3);
    assert_clean(&registry);
    let error = writer(&registry).yank(&name("pdf"), &version("3.0"), None, time()).expect_err("no such one");
    assert_eq!(error.code(), codes::RELEASE_UNKNOWN);
    let error =
        writer(&registry).yank(&name("none"), &version("1.0"), None, time()).expect_err("no such one");
    assert_eq!(error.code(), codes::RELEASE_UNKNOWN);
}

#[test]
fn the_next_writer_completes_what_a_killed_one_began() {
    let (dir, registry) = registry();
    publish(&registry, &[package("pdf", "1.0", "one"), package("docx", "1.0", "x")]);
    let at = |path: &str| dir.path().join(path);
    // As after a kill between record and lists.
    std::fs::remove_file(at("index/pdf.json")).expect("removes");
    std::fs::write(at("pending/pdf"), "").expect("writes");
    std::fs::write(at("pending/new.1"), "half").expect("writes");
    let verified = verify(&registry).expect("is verified");
    assert_eq!((verified.pending, verified.strays), (vec![name("pdf")], vec!["pending/new.1".to_owned()]));
    publish(&registry, &[package("xlsx", "1.0", "x")]);
    assert_eq!(assert_clean(&registry).skills, 3);
    // Files about all skills that do not fit together are derived from the records.
    for (path, bytes) in
        [("search.json", "{\"skills\":[]}"), (files::DISCOVERY, "{"), (files::AI_CATALOG, "")]
    {
        std::fs::write(at(path), bytes).expect("writes");
        publish(&registry, &[package("pptx", &format!("1.0.{}", path.len()), path)]);
        assert_clean(&registry);
    }
}

#[test]
fn what_is_wrong_is_found() {
    let (dir, registry) = registry();
    publish(&registry, &[package("pdf", "1.0", "one"), package("docx", "1.0", "x")]);
    let at = |path: &str| dir.path().join(path);
    let artifact = |name: &str| {
        let list = list_of(&registry, &registry_name(name).expect("one")).expect("a list");
        files::artifact(&list.versions[0].artifact.digest)
    };
    let pdf = artifact("pdf");
    let record = std::fs::read_to_string(at("index/pdf/1.0.0.json")).expect("reads");
    let whole = std::fs::read(at(&pdf)).expect("reads");
    let mut flipped = whole.clone();
    flipped[40] ^= 1;
    let found = |path: &str, bytes: Option<&[u8]>| {
        let before = std::fs::read(at(path)).ok();
        match bytes {
            Some(bytes) => std::fs::write(at(path), bytes).expect("writes"),
            None => std::fs::remove_file(at(path)).expect("removes"),
        }
        let verified = verify(&registry).expect("is verified");
        match before {
            Some(before) => std::fs::write(at(path), before).expect("writes"),
            None => std::fs::remove_file(at(path)).expect("removes"),
        }
        let defects: Vec<_> = verified.defects.into_iter().map(|defect| (defect.path, defect.kind)).collect();
        (defects, verified.strays)
    };
    let defect = |path: &str, kind| (vec![(path.to_owned(), kind)], Vec::new());
    let stray = |path: &str| (Vec::new(), vec![path.to_owned()]);
    assert_eq!(found(&pdf, Some(&flipped)), defect(&pdf, DefectKind::ArtifactDiffers));
    assert_eq!(found(&pdf, Some(&whole[1..])), defect(&pdf, DefectKind::ArtifactDiffers));
    assert_eq!(found(&pdf, None), defect(&pdf, DefectKind::ArtifactMissing));
    let at_record = "index/pdf/1.0.0.json";
    for (from, to) in [
        ("\"pdf\"", "\"xlsx\""),
        ("\"1.0\"", "\"1.1\""),
        ("sha256:", "sha1:"),
        ("{", ""),
        ("\"size\":", "\"size\":-"),
    ] {
        let wrong = record.replacen(from, to, 1);
        assert_eq!(found(at_record, Some(wrong.as_bytes())), defect(at_record, DefectKind::Damaged), "{to}");
    }
    // The derived files do not match a record.
    for (from, to) in [("Reads pdf.", "Writes."), ("\"version\":\"1.0\"", "\"version\":\"1\"")] {
        let (defects, _) = found(at_record, Some(record.replacen(from, to, 1).as_bytes()));
        assert!(defects.contains(&(at_record.to_owned(), DefectKind::ContentDiffers)), "{to}: {defects:?}");
    }
    for path in [files::SEARCH, files::DISCOVERY, files::AI_CATALOG, "index/pdf.json"] {
        assert_eq!(found(path, Some(b"{}")), defect(path, DefectKind::Outdated));
        assert_eq!(found(path, None), defect(path, DefectKind::Outdated));
    }
    let gone = br#"{"name":"gone","versions":[]}"#;
    assert_eq!(found("index/gone.json", Some(gone)), defect("index/gone.json", DefectKind::Outdated));
    assert_eq!(
        found("index/gone.json", Some(b"{}")),
        stray("index/gone.json"),
        "others may keep files there"
    );
    assert_eq!(found("index/PDF", Some(b"")), stray("index/PDF"));
    assert_eq!(found("index/pdf/notes.txt", Some(b"")), stray("index/pdf/notes.txt"));
    assert_eq!(found("artifacts/sha256/x.zip", Some(b"")), stray("artifacts/sha256/x.zip"));
    assert_eq!(found("README.md", Some(b"")), (Vec::new(), Vec::new()), "others may keep files there");
    let (defects, _) = found("index/pdf/01.0.json", Some(record.as_bytes()));
    assert_eq!(defects, [("index/pdf/01.0.json".to_owned(), DefectKind::Damaged)]);
    std::fs::create_dir(at("index/pdf/events")).expect("creates");
    let later = br#"{"event":"later"}"#;
    let gap = defect("index/pdf/events/1.json", DefectKind::Damaged);
    assert_eq!(found("index/pdf/events/2.json", Some(later)), gap);
    let unknown = br#"{"event":"yank","version":"9.0","time":"2026-11-26T22:00:00Z"}"#;
    let missing = defect("index/pdf/9.0.0.json", DefectKind::RecordMissing);
    assert_eq!(found("index/pdf/events/1.json", Some(unknown)), missing);
    assert_eq!(found("index/pdf/events/1.txt", Some(b"")), stray("index/pdf/events/1.txt"));
    std::fs::remove_dir(at("index/pdf/events")).expect("removes");
    assert_clean(&registry);
}

#[test]
fn other_directories_and_formats_are_no_registries() {
    let dir = tempfile::tempdir().expect("a directory");
    let open = |path: &Path| RegistryDir::open(path).map(drop).map_err(|error| error.code());
    assert_eq!(open(dir.path()), Err(codes::REGISTRY_ABSENT));
    assert_eq!(open(&dir.path().join("none")), Err(codes::REGISTRY_ABSENT));
    let config = dir.path().join("config.json");
    assert_eq!(open(&config), Err(codes::REGISTRY_ABSENT));
    for (text, code) in [
        ("{\"format\":2,\"future\":[]}", codes::REGISTRY_UNUSABLE),
        ("{\"format\":1}", codes::REGISTRY_UNUSABLE),
        ("{\"format\":1,\"name\":\"Acme\"}", codes::REGISTRY_UNUSABLE),
        ("", codes::REGISTRY_UNUSABLE),
    ] {
        std::fs::write(&config, text).expect("writes");
        assert_eq!(open(dir.path()), Err(code), "{text}");
        assert!(NewRegistry::new(dir.path(), Some(&name("acme"))).and_then(|new| new.check()).is_err());
        assert_eq!(std::fs::read_to_string(&config).expect("reads"), text);
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    let outside = tempfile::tempdir().expect("a directory");
    for place in ["index/pdf", "artifacts/sha256", ".well-known/agent-skills/pdf"] {
        let (dir, registry) = registry();
        let link = dir.path().join(place);
        std::fs::create_dir_all(link.parent().expect("a parent")).expect("creates");
        std::os::unix::fs::symlink(outside.path(), &link).expect("links");
        let mut writer = writer(&registry);
        let error = writer.stage(&package("pdf", "1.0", "one"), time()).map(drop);
        let error = error.and_then(|()| writer.commit().map(drop)).expect_err(place);
        assert_eq!(error.code(), codes::REGISTRY_UNUSABLE, "{place}");
        assert_eq!(files_of(outside.path()), [], "{place}");
        std::fs::remove_file(link).expect("removes");
        publish(&registry, &[package("pdf", "1.0", "one")]);
        assert_clean(&registry);
    }
}

#[test]
fn archives_that_hold_no_skill_are_refused() {
    let refused = |entries: &[ZipEntry]| Package::new(zip(entries)).map(drop).map_err(|error| error.code());
    let right = text("pdf", "1.0", "x");
    assert_eq!(refused(&[stored("SKILL.md", &right)]), Ok(()));
    for (entries, code) in [
        (vec![], codes::RELEASE_REFUSED),
        (vec![stored("pdf/SKILL.md", &right)], codes::RELEASE_REFUSED),
        (vec![stored("SKILL.md", "no frontmatter")], codes::RELEASE_REFUSED),
        (vec![stored("SKILL.md", right.replace("version: '1.0'", "author: x"))], codes::VERSION_NOT_STATED),
        (vec![stored("SKILL.md", text("pdf", "01.0", "x"))], codes::VERSION_MALFORMED),
        (vec![stored("SKILL.md", text("con", "1.0", "x"))], codes::NAME_NOT_PUBLISHABLE),
        (vec![stored("SKILL.md", text("pаypal", "1.0", "x"))], codes::NAME_NOT_PUBLISHABLE),
    ] {
        assert_eq!(refused(&entries), Err(code));
    }
    assert_eq!(refused(&[stored("SKILL.md", &right), stored("../x", "x")]), Err(codes::INTEGRITY));
    assert!(Package::new(b"PK".to_vec()).is_err());
}

#[test]
fn several_writers_take_turns() {
    let (dir, registry) = registry();
    drop(registry);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let dir = dir.path();
            scope.spawn(move || {
                let registry = RegistryDir::open(dir).expect("opens");
                for version in 0..4 {
                    let name = if writer % 2 == 0 { "even" } else { "odd" };
                    publish(&registry, &[package(name, &format!("{writer}.{version}"), "x")]);
                }
            });
        }
    });
    let registry = RegistryDir::open(dir.path()).expect("opens");
    let verified = assert_clean(&registry);
    assert_eq!((verified.skills, verified.versions), (2, 16));
}

/// The log is the point of no return: what it announces comes about, and a version never has two digests.
#[test]
fn what_the_log_announces_comes_about() {
    let (dir, registry) = registry();
    publish(&registry, &[package("docx", "1.0", "x")]);
    publish(&registry, &[package("pdf", "1.0", "one")]);
    let at = |path: &str| dir.path().join(path);
    let record = std::fs::read(at("index/pdf/1.0.0.json")).expect("reads");
    // As after a kill between the log and the record.
    std::fs::rename(at("index/pdf/1.0.0.json"), at("pending/new.2")).expect("moves");
    std::fs::remove_file(at("index/pdf.json")).expect("removes");
    std::fs::write(at("pending/new.1"), "half").expect("writes");
    std::fs::write(at("pending/pdf"), "").expect("writes");
    let verified = verify(&registry).expect("is verified");
    let kinds: BTreeSet<_> = verified.defects.iter().map(|defect| format!("{:?}", defect.kind)).collect();
    assert_eq!(kinds, BTreeSet::from(["Outdated".to_owned()]), "{:?}", verified.defects);
    let other = writer(&registry).stage(&package("pdf", "1.0", "two"), time()).map_err(|error| error.code());
    assert_eq!(other, Err(codes::VERSION_EXISTS));
    assert_eq!(std::fs::read(at("index/pdf/1.0.0.json")).expect("reads"), record);
    writer(&registry).commit().expect("derives");
    assert_eq!(assert_clean(&registry).versions, 2);

    // An event is in the log as a whole.
    let mut yank = writer(&registry);
    assert!(yank.yank(&name("pdf"), &version("1.0"), Some("bad"), time()).expect("is staged"));
    yank.commit().expect("is yanked");
    std::fs::remove_file(at("index/pdf/events/1.json")).expect("removes");
    std::fs::write(at("pending/pdf"), "").expect("writes");
    writer(&registry).commit().expect("derives");
    assert_eq!(registry.history(&name("pdf")).expect("reads").yanked(&version("1.0")), Some("bad"));
    assert_clean(&registry);

    // Two digests of one version, and a version that is announced and not there, are defects.
    let entry = std::fs::read_to_string(at("log/0/2.json")).expect("reads");
    let digest = entry.split("sha256:").nth(1).expect("a digest")[..64].to_owned();
    let more = [entry.replace(&digest, &"0".repeat(64)), entry.replace("\"1.0\"", "\"3.0\"")];
    for (wrong, path, kind) in [
        (&more[0], "log/0/4.json", DefectKind::ContentDiffers),
        (&more[1], "index/pdf/3.0.0.json", DefectKind::RecordMissing),
    ] {
        std::fs::write(at("log/0/4.json"), wrong).expect("writes");
        let defects = verify(&registry).expect("is verified").defects;
        let found: Vec<_> = defects.iter().map(|defect| (defect.path.as_str(), defect.kind)).collect();
        assert_eq!(found, [(path, kind)]);
    }
    // Two servers on a bucket can announce a version at the same time, and one of them gets it.
    let by = |text: &str| text.replace("\"changes\"", "\"by\":\"alice\",\"changes\"");
    std::fs::write(at("log/0/2.json"), by(&entry)).expect("writes");
    std::fs::write(at("log/0/4.json"), by(&more[0])).expect("writes");
    assert_clean(&registry);
}

/// A file with a huge number is a defect, like every gap, and the numbers before it are not enumerated.
#[test]
fn a_huge_number_is_only_a_gap() {
    let (dir, registry) = registry();
    publish(&registry, &[package("pdf", "1.0", "x")]);
    for (path, missing) in [
        ("index/pdf/events/9223372036854775807.json", "index/pdf/events/1.json"),
        ("index/pdf/events/18446744073709551615.json", "index/pdf/events/1.json"),
        ("log/9007199254740/9007199254740999.json", "log/0/2.json"),
        ("log/18446744073709551/18446744073709551615.json", "log/0/2.json"),
    ] {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("creates");
        std::fs::write(&path, "{}").expect("writes");
        let defects = verify(&registry).expect("is verified").defects;
        assert!(defects.iter().any(|defect| defect.path == missing), "{defects:?}");
        if missing.starts_with("index") {
            assert_eq!(
                registry.history(&name("pdf")).map_err(|error| error.kind()).err(),
                Some(ErrorKind::Integrity)
            );
        }
        if path.ends_with("18446744073709551615.json") {
            let mut writer = writer(&registry);
            let refused = writer.stage(&package("pdf", "2.0", "y"), time()).and_then(|_| writer.commit());
            assert_eq!(refused.map_err(|error| error.kind()).err(), Some(ErrorKind::Integrity), "{missing}");
        }
        std::fs::remove_dir_all(path.parent().expect("a directory")).expect("removes");
    }
    assert_clean(&registry);
}

/// A version whose files were removed by hand is missing, and the others are unaffected.
#[test]
fn a_removed_version_takes_no_other_with_it() {
    let (dir, registry) = registry();
    publish(
        &registry,
        &[package("docx", "1.0", "x"), package("pdf", "1.0", "one"), package("pdf", "1.1", "two")],
    );
    let mut yank = writer(&registry);
    yank.yank(&name("pdf"), &version("1.1"), Some("leaks a key"), time()).expect("is staged");
    yank.commit().expect("is yanked");
    let record =
        registry.history(&name("pdf")).expect("reads").get(&version("1.1")).expect("a record").clone();
    std::fs::remove_file(dir.path().join("index/pdf/1.1.0.json")).expect("removes");
    std::fs::remove_file(dir.path().join(files::artifact(&record.artifact.digest))).expect("removes");
    let defects = || verify(&registry).expect("is verified").defects;
    let missing = |defect: &Defect| (defect.path == "index/pdf/1.1.0.json", defect.kind);
    assert!(defects().iter().any(|defect| missing(defect) == (true, DefectKind::RecordMissing)));
    let derived = writer(&registry).index().expect("is derived");
    assert_eq!((derived.skills, derived.versions, derived.left_out), (2, 2, Vec::new()));
    let found: Vec<_> = defects().iter().map(missing).collect();
    assert_eq!(found, [(true, DefectKind::RecordMissing)]);
    publish(&registry, &[package("pdf", "1.2", "three")]);
    let again = writer(&registry).stage(&package("pdf", "1.1", "four"), time()).map_err(|error| error.code());
    assert_eq!(again, Err(codes::VERSION_EXISTS), "a version never gets other files");
    let list = list_of(&registry, &name("pdf")).expect("a list");
    assert_eq!(list.versions.iter().map(|one| one.version.as_str()).collect::<Vec<_>>(), ["1.0", "1.2"]);

    // A damaged skill is left out, and what was derived of it stays.
    let before = files_of(dir.path());
    std::fs::write(dir.path().join("index/docx/1.0.0.json"), "{").expect("writes");
    std::fs::remove_file(dir.path().join("index/pdf.json")).expect("removes");
    let derived = writer(&registry).index().expect("is derived");
    assert_eq!(derived.left_out.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["docx"]);
    assert_eq!(derived.written, ["index/pdf.json"]);
    let after = files_of(dir.path()).into_iter().filter(|(path, _)| !path.contains("docx/"));
    assert!(after.eq(before.into_iter().filter(|(path, _)| !path.contains("docx/"))));
}

#[test]
fn a_directory_with_files_of_others_is_no_new_registry() {
    let dir = tempfile::tempdir().expect("a directory");
    let at = |path: &str| dir.path().join(path);
    let mine =
        ["search.json", "index/pdf.json", files::DISCOVERY, files::AI_CATALOG, "log/0/1.json", "pending/x"];
    for path in mine {
        std::fs::create_dir_all(at(path).parent().expect("a parent")).expect("creates");
        std::fs::write(at(path), "MINE").expect("writes");
    }
    std::fs::write(at("README.md"), "MINE").expect("writes");
    let before = files_of(dir.path());
    let found = new(dir.path());
    let error = found.check().expect_err("it is refused");
    assert_eq!(error.code(), codes::OUTPUT_DIFFERS);
    assert!(mine.iter().all(|path| error.to_string().contains(&format!("`{path}`"))), "{error}");
    assert_eq!(found.replaced(), [files::DISCOVERY, files::AI_CATALOG, "search.json"]);
    assert_eq!(found.removed(), ["index/pdf.json", "log/0/1.json", "pending/x"]);
    assert_eq!(files_of(dir.path()), before);
    let registry = found.create(|| ()).expect("a registry");
    assert_clean(&registry);
    assert_eq!(std::fs::read_to_string(at("README.md")).expect("reads"), "MINE");
    // A file that a registry would take for its own and cannot use is never replaced.
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::create_dir_all(dir.path().join("index/sub")).expect("creates");
    std::fs::write(dir.path().join("index/sub/x.json"), "MINE").expect("writes");
    let refused = NewRegistry::new(dir.path(), Some(&name("acme"))).map_err(|error| error.code());
    assert_eq!(refused.map(drop), Err(codes::OUTPUT_DIFFERS));
    assert_eq!(files_of(dir.path()).len(), 1);
}

#[test]
fn an_unfinished_registry_is_completed() {
    let dir = tempfile::tempdir().expect("a directory");
    let config = Config::new(name("acme")).to_bytes();
    std::fs::write(dir.path().join("config.json"), config).expect("writes");
    let other = NewRegistry::new(dir.path(), Some(&name("other"))).map(drop);
    assert!(other.is_err(), "it has another name");
    let found = NewRegistry::new(dir.path(), None).expect("it is unfinished");
    found.check().expect("nothing is in the way");
    assert_clean(&found.create(|| ()).expect("a registry"));
    let again = NewRegistry::new(dir.path(), Some(&name("acme"))).map_err(|error| error.to_string());
    assert!(again.is_err_and(|error| error.contains("already is the registry `acme`")));
}

/// After a failed creation the directory is as before.
#[cfg(unix)]
#[test]
fn a_creation_that_fails_leaves_nothing() {
    let parent = tempfile::tempdir().expect("a directory");
    let dir = parent.path().join("a/b");
    let found = new(&dir);
    std::fs::create_dir_all(&dir).expect("creates");
    // Another process is faster, and has a file where the registry needs a directory.
    std::fs::write(dir.join(".well-known"), "MINE").expect("writes");
    assert!(found.create(|| ()).is_err());
    assert_eq!(files_of(&dir), [(".well-known".to_owned(), b"MINE".to_vec())]);
    std::fs::remove_file(dir.join(".well-known")).expect("removes");
    assert!(std::fs::remove_dir(&dir).is_ok(), "no directory is left in it");
}
