//! The files as they are written, and malformed ones.

use proptest::prelude::*;

use super::*;
use crate::digest::Digest;
use crate::document::Document;
use crate::name::SkillName;
use crate::skill;
use crate::version::Version;

fn name(text: &str) -> SkillName {
    registry_name(text).expect(text)
}

fn version(text: &str) -> Version {
    registry_version(text).expect(text)
}

fn record(name: &str, version: &str) -> Record {
    Record {
        name: self::name(name),
        version: self::version(version),
        description: format!("Reads {name}."),
        license: None,
        tags: Vec::new(),
        digest: Digest::of(version.as_bytes()),
        artifact: Artifact { digest: Digest::of(b"zip"), size: 3 },
        dependencies: Vec::new(),
        published: Timestamp::new(1_795_730_400),
        provenance: None,
    }
}

fn history(versions: &[&str], events: Vec<Event>) -> History {
    let records = versions.iter().map(|version| record("pdf", version)).collect();
    History::new(name("pdf"), records, events).expect("a history")
}

fn yank(version: &str, reason: &str) -> Event {
    Event::Yank { version: self::version(version), reason: reason.to_owned(), time: Timestamp::new(0) }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn a_record_leaves_out_what_is_empty() {
    let zip = Digest::of(b"zip");
    let expected = format!(
        "{{\"name\":\"pdf\",\"version\":\"1.0\",\"description\":\"Reads pdf.\",\"digest\":\"{}\",\
         \"artifact\":{{\"digest\":\"{zip}\",\"size\":3}},\"published\":\"2026-11-26T22:00:00Z\"}}\n",
        Digest::of(b"1.0"),
    );
    let bytes = record("pdf", "1.0").to_bytes();
    assert_eq!(text(bytes.clone()), expected);
    assert_eq!(Record::parse(&bytes, &name("pdf"), "1.0.0"), Ok(record("pdf", "1.0")));
}

#[test]
fn a_record_is_about_what_its_path_names() {
    let bytes = record("pdf", "1.0").to_bytes();
    let other = Record::parse(&bytes, &name("docx"), "1.0.0");
    assert!(matches!(other, Err(FileError::OtherName { .. })), "{other:?}");
    for key in ["1.0", "1.0.1", "01.0.0", "1.0.0.json", ""] {
        let other = Record::parse(&bytes, &name("pdf"), key);
        assert!(matches!(other, Err(FileError::OtherVersion { .. })), "{key}: {other:?}");
    }
}

#[test]
fn wrong_values_are_told_with_their_position() {
    let right = text(record("pdf", "1.0").to_bytes());
    for (from, to) in [
        ("\"pdf\"", "\"PDF\""),
        ("\"pdf\"", "\" pdf\""),
        ("\"pdf\"", "\"pаypal\""),
        ("\"pdf\"", "\"../x\""),
        ("\"pdf\"", "\"con\""),
        ("\"pdf\"", "\"技能\""),
        ("\"1.0\"", "\"01.0\""),
        ("\"1.0\"", "\"1.0/../../x\""),
        ("\"1.0\"", "1.0"),
        ("sha256:", "md5:"),
        ("\"size\":3", "\"size\":-3"),
        ("\"size\":3", "\"size\":3.5"),
        ("2026-11-26", "2026-11-31"),
        (",\"published\"", ",\"name\":\"pdf\",\"published\""),
        (",\"published\"", ",\"issued\""),
        ("}\n", ""),
    ] {
        assert!(right.contains(from), "{from}");
        let wrong = right.replacen(from, to, 1);
        let error = Record::parse(wrong.as_bytes(), &name("pdf"), "1.0.0").expect_err(&wrong);
        assert!(matches!(error, FileError::Json { line: 1, .. }), "{to}: {error}");
    }
}

#[test]
fn fields_of_later_formats_are_ignored() {
    let right = text(record("pdf", "1.0").to_bytes()).replacen('{', "{\"signature\":[{}],", 1);
    assert!(Record::parse(right.as_bytes(), &name("pdf"), "1.0.0").is_ok());
    let event = Event::parse(br#"{"event":"owners","owners":["a"],"time":3}"#);
    assert_eq!(event, Ok(Event::Unknown));
}

#[test]
fn one_file_for_versions_that_ranges_cannot_tell_apart() {
    for (text, key) in [
        ("1", "1.0.0"),
        ("1.0", "1.0.0"),
        ("1.0.0", "1.0.0"),
        ("1.0.0+b2", "1.0.0"),
        ("1.10", "1.10.0"),
        ("1.0-RC.1", "1.0.0-rc.1"),
        ("1.0.0-rc.1+5", "1.0.0-rc.1"),
    ] {
        assert_eq!(files::version_key(&version(text)), key);
    }
    assert!(registry_version(&format!("1.0.0-{}", "a".repeat(MAX_VERSION_CHARS))).is_err());
}

#[test]
fn names_that_a_registry_refuses() {
    for (text, kind) in [
        ("pdf", "taken"),
        (" pdf ", "taken"),
        ("a--b", "name"),
        ("", "name"),
        ("../x", "name"),
        ("技能", "ascii"),
        ("ｐｄｆ", "ascii"),
        ("com1", "device"),
        ("aux", "device"),
        ("console", "taken"),
    ] {
        let found = match registry_name(text) {
            Ok(_) => "taken",
            Err(NameRefusal::Name(_)) => "name",
            Err(NameRefusal::NotAscii(_)) => "ascii",
            Err(NameRefusal::Device(_)) => "device",
        };
        assert_eq!(found, kind, "{text}");
    }
}

#[test]
fn the_format_is_read_before_anything_else() {
    let config = Config::new(name("acme"));
    assert_eq!(text(config.to_bytes()), "{\n  \"format\": 1,\n  \"name\": \"acme\"\n}\n");
    assert_eq!(Config::parse(&config.to_bytes()), Ok(config));
    assert_eq!(Config::parse(br#"{"format":2,"names":[]}"#), Err(FileError::Format(2)));
    assert_eq!(Config::parse(br#"{"format":0,"name":"acme"}"#), Err(FileError::Format(0)));
    for wrong in
        ["", "[]", "{}", r#"{"format":1}"#, r#"{"format":"1","name":"a"}"#, r#"{"format":1,"name":"A B"}"#]
    {
        assert!(matches!(Config::parse(wrong.as_bytes()), Err(FileError::Json { .. })), "{wrong}");
    }
}

#[test]
fn the_last_event_of_a_version_counts() {
    let unyank = Event::Unyank { version: version("1.0.0+b"), time: Timestamp::new(0) };
    let events = vec![yank("1.0", "broken"), yank("1.1", ""), Event::Unknown, unyank];
    let history = history(&["1.1", "1.0"], events);
    assert_eq!(history.yanked(&version("1.0.0")), None);
    assert_eq!(history.yanked(&version("1.1.0")), Some(""));
    let list = history.list();
    let yanked: Vec<_> =
        list.versions.iter().map(|listed| (listed.version.as_str(), &listed.yanked)).collect();
    assert_eq!(yanked, [("1.0", &None), ("1.1", &Some(String::new()))]);
    assert_eq!(NameList::parse(&list.to_bytes(), &name("pdf")), Ok(list));
}

/// A version whose record was removed by hand: the others are unaffected.
#[test]
fn a_version_without_a_record_is_missing() {
    let events = vec![yank("2", ""), yank("1.0", "old")];
    let mut history = History::new(name("pdf"), vec![record("pdf", "1.0")], events).expect("a history");
    assert_eq!(history.missing().map(Version::as_str).collect::<Vec<_>>(), ["2"]);
    assert_eq!((history.yanked(&version("1.0")), history.event_count()), (Some("old"), 2));
    assert_eq!(history.list().versions.len(), 1);
    assert_eq!(history.next_patch(&version("2.0")), "2.0.1", "its number is taken");
    history.insert(record("pdf", "2.0.0"));
    assert_eq!((history.missing().count(), history.yanked(&version("2"))), (0, Some("")));
}

#[test]
fn reasons_are_lines_that_everybody_sees() {
    for fine in ["", " loses pages ", "می\u{200c}خواهم", "✔︎ é 葛\u{e0100}"] {
        assert_eq!(yank_reason(fine), Ok(fine.trim()));
    }
    for (wrong, why) in [
        ("two\nlines", ReasonRefusal::Lines),
        ("two\u{2028}lines", ReasonRefusal::Lines),
        ("\u{1b}[31mred", ReasonRefusal::Hidden(0x1b)),
        ("a\tb", ReasonRefusal::Hidden(9)),
        ("a\u{202e}b", ReasonRefusal::Hidden(0x202e)),
        ("a\u{200b}b", ReasonRefusal::Hidden(0x200b)),
    ] {
        assert_eq!(yank_reason(wrong), Err(why), "{wrong:?}");
    }
    assert_eq!(yank_reason(&"x".repeat(501)), Err(ReasonRefusal::TooLong(501)));
}

#[test]
fn dependencies_are_limited() {
    let needs = |count: usize| (0..count).map(|at| format!("s{at}")).collect::<Vec<_>>();
    let facts = |count: usize| {
        let text = format!(
            "---\nname: pdf\ndescription: x\nmetadata:\n  version: '1'\n  skill-dependencies: {}\n---\n",
            needs(count).join(" ")
        );
        Facts::of(&skill::load(&Document::parse(text)).expect("a skill").meta)
    };
    assert_eq!(facts(MAX_DEPENDENCIES).map(|facts| facts.dependencies.len()), Ok(MAX_DEPENDENCIES));
    assert_eq!(facts(MAX_DEPENDENCIES + 1), Err(FactsError::TooManyDependencies(MAX_DEPENDENCIES + 1)));
    let mut list = history(&["1.0", "1.1", "1.2"], Vec::new()).list();
    list.versions[0].dependencies = needs(MAX_DEPENDENCIES);
    list.versions[1].dependencies = needs(MAX_DEPENDENCIES + 1);
    assert_eq!(list.take_oversized(), [(version("1.1"), MAX_DEPENDENCIES + 1)]);
    assert_eq!((list.versions.len(), list.take_oversized()), (2, Vec::new()));
}

#[test]
fn the_next_version_is_free() {
    let history = history(&["1.0", "1.0.3", "1.1.0-rc.1", "2.0.7"], Vec::new());
    for (version, next) in
        [("1.0", "1.0.4"), ("1.0.3+b", "1.0.4"), ("1.1.0-rc.1", "1.1.0"), ("2.0.7", "2.0.8")]
    {
        assert_eq!(history.next_patch(&self::version(version)), next);
    }
    let mut grown = history.clone();
    grown.insert(record("pdf", "1.0.1"));
    let versions: Vec<_> = grown.records().iter().map(|record| record.version.as_str()).collect();
    assert_eq!(versions, ["1.0", "1.0.1", "1.0.3", "1.1.0-rc.1", "2.0.7"]);
}

#[test]
fn the_newest_version_is_neither_yanked_nor_early() {
    for (versions, yanked, newest) in [
        (&["1.9", "1.10", "2.0-rc.1"][..], &[][..], Some("1.10")),
        (&["1.0-rc.1", "1.0-rc.2"], &[], Some("1.0-rc.2")),
        (&["1.0", "1.1"], &["1.1"], Some("1.0")),
        (&["1.0", "2.0-rc.1"], &["1.0"], Some("2.0-rc.1")),
        (&["1.0"], &["1.0"], None),
        (&[], &[], None),
    ] {
        let history = history(versions, yanked.iter().map(|version| yank(version, "")).collect());
        assert_eq!(history.newest().map(|record| record.version.as_str()), newest, "{versions:?} {yanked:?}");
        assert_eq!(super::versions(&history).is_some(), newest.is_some());
    }
}

#[test]
fn lists_are_ascending_and_limited() {
    let right = history(&["1.0", "1.1"], Vec::new()).list();
    let parse = |list: &NameList| NameList::parse(&list.to_bytes(), &name("pdf"));
    let mut wrong = right.clone();
    wrong.versions.reverse();
    assert!(matches!(parse(&wrong), Err(FileError::Order { .. })));
    let mut twice = right.clone();
    twice.versions[1].version = version("1.0.0+b");
    assert!(matches!(parse(&twice), Err(FileError::Order { .. })));
    let other = NameList::parse(&right.to_bytes(), &name("docx"));
    assert!(matches!(other, Err(FileError::OtherName { .. })));
    let many = |count: usize| NameList {
        name: name("pdf"),
        versions: (0..count)
            .map(|at| Listed { version: version(&format!("0.0.{at}")), ..right.versions[0].clone() })
            .collect(),
    };
    let most = many(MAX_VERSIONS);
    assert_eq!(most.get(&version("0.0.777")).map(|listed| listed.version.as_str()), Some("0.0.777"));
    assert_eq!(parse(&most), Ok(most));
    assert_eq!(parse(&many(MAX_VERSIONS + 1)), Err(FileError::TooManyVersions(MAX_VERSIONS + 1)));
    let records: Vec<_> = (0..=MAX_VERSIONS).map(|at| record("pdf", &format!("0.0.{at}"))).collect();
    assert!(matches!(History::new(name("pdf"), records, Vec::new()), Err(HistoryError::TooManyVersions(_))));
}

#[test]
fn the_files_that_other_tools_read() {
    let history = history(&["1.0", "1.1", "2.0-rc.1", "0.9"], vec![yank("1.0", "x")]);
    let head = history.head().expect("one");
    let hex = Digest::of(b"zip").hex();
    let expected = format!(
        r#"{{
  "$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
  "skills": [
    {{
      "name": "pdf",
      "type": "archive",
      "description": "Reads pdf.",
      "url": "../../artifacts/sha256/{hex}.zip",
      "digest": "sha256:{hex}",
      "version": "1.1"
    }}
  ]
}}
"#
    );
    assert_eq!(text(discovery([&head])), expected);
    let expected = "{\n  \"latest\": \"1.1\",\n  \"versions\": [\n    \"0.9\",\n    \"1.1\",\n    \"2.0-rc.1\"\n  ]\n}\n";
    assert_eq!(text(versions(&history).expect("some")), expected);
    let expected = format!(
        r#"{{
  "specVersion": "1.0",
  "host": {{
    "displayName": "acme"
  }},
  "entries": [
    {{
      "identifier": "acme/pdf",
      "displayName": "pdf",
      "type": "application/agent-skills+zip",
      "url": "../artifacts/sha256/{hex}.zip",
      "description": "Reads pdf.",
      "version": "1.1"
    }}
  ]
}}
"#
    );
    assert_eq!(text(ai_catalog(&Config::new(name("acme")), [&head])), expected);
}

#[test]
fn heads_are_read_from_the_files_that_they_make() {
    let tagged = Record { tags: vec!["a".to_owned()], ..record("docx", "1.0") };
    let both = [Head::of(&tagged), Head::of(&record("pdf", "2.0"))];
    let (search, index) = (SearchIndex::of(&both), discovery(&both));
    let read = heads(&search.to_bytes(), &index).expect("fit");
    assert_eq!(read.into_values().collect::<Vec<_>>(), both);
    for wrong in [
        SearchIndex { skills: search.skills[..1].to_vec() },
        SearchIndex { skills: search.skills.iter().rev().cloned().collect() },
        SearchIndex::default(),
    ] {
        assert_eq!(heads(&wrong.to_bytes(), &index), None);
    }
    let twice = [both[0].clone(), both[0].clone()];
    assert_eq!(heads(&SearchIndex::of(&twice).to_bytes(), &discovery(&twice)), None);
}

#[test]
fn facts_are_those_of_the_skill() {
    let facts = |frontmatter: &str| {
        let text = format!("---\ndescription: Reads PDF.\n{frontmatter}\n---\n");
        Facts::of(&skill::load(&Document::parse(text)).expect("loads").meta)
    };
    let right = "name: pdf\nlicense: MIT\nmetadata:\n  version: '1.0'\n  tags: [x]\n  skill-dependencies: b@>=1, <2 o/r";
    let read = facts(right).expect("facts");
    assert_eq!(read.dependencies, ["b@>=1,<2", "o/r"]);
    let mut record = Record {
        description: "Reads PDF.".to_owned(),
        license: Some("MIT".to_owned()),
        tags: vec!["x".to_owned()],
        dependencies: vec!["b@>=1, <2".to_owned(), "github:o/r".to_owned()],
        ..record("pdf", "1.0")
    };
    assert_eq!(record.difference(&read), None);
    record.version = version("1.0.0");
    assert_eq!(record.difference(&read), Some("version"));
    record.version = version("1.0");
    record.dependencies.pop();
    assert_eq!(record.difference(&read), Some("dependencies"));
    assert_eq!(facts("name: pdf"), Err(FactsError::NoVersion));
    assert!(matches!(facts("name: pdf\nmetadata: {version: '01.0'}"), Err(FactsError::Version(_))));
    assert!(matches!(facts("name: nul\nmetadata: {version: '1.0'}"), Err(FactsError::Name(_))));
}

#[test]
fn owners_publishers_and_visibility_follow_from_events() {
    let time = Timestamp::new(0);
    let account = |text: &str| text.parse::<Account>().expect("an account");
    let publisher = |environment: Option<&str>| {
        let texts = ["https://issuer.example", "acme/skills", "publish.yml"].map(str::to_owned);
        let [issuer, repository, workflow] = texts;
        TrustedPublisher::new(issuer, repository, workflow, environment.map(str::to_owned))
            .expect("a publisher")
    };
    let add = |owner: &str| Event::AddOwner { owner: account(owner), time };
    let events = vec![
        add("alice"),
        add("bob"),
        Event::RemoveOwner { owner: account("alice"), time },
        Event::AddPublisher { publisher: publisher(Some("release")), time },
        Event::SetVisibility { visibility: Visibility::Private, time },
    ];
    let history = history(&["1.0"], events);
    assert_eq!(history.owners().iter().map(Account::as_str).collect::<Vec<_>>(), ["bob"]);
    assert!(!history.is_listed());
    let allowed = history.publishers().iter().next().expect("a publisher");
    assert!(allowed.allows(&publisher(Some("release"))));
    assert!(!allowed.allows(&publisher(None)) && !allowed.allows(&publisher(Some("test"))));
    assert!(publisher(None).allows(&publisher(Some("test"))));
    let json = text(Event::AddPublisher { publisher: publisher(None), time }.to_bytes());
    assert!(!json.contains("repository-id"));
    assert!(Event::parse(json.replace("acme/skills", "acme").as_bytes()).is_err());
}

#[test]
fn the_id_of_a_repository_is_added_to_its_publisher() {
    let time = Timestamp::new(0);
    let publisher = |id: Option<&str>, environment: Option<&str>| {
        let texts = ["https://issuer.example", "acme/skills", "publish.yml"].map(str::to_owned);
        let [issuer, repository, workflow] = texts;
        TrustedPublisher::new(issuer, repository, workflow, environment.map(str::to_owned))
            .and_then(|publisher| publisher.with_id(id.map(str::to_owned)))
            .expect("a publisher")
    };
    let add = |id: Option<&str>, environment: Option<&str>| Event::AddPublisher {
        publisher: publisher(id, environment),
        time,
    };
    let pinned = add(Some("74"), None);
    assert_eq!(Event::parse(&pinned.to_bytes()), Ok(pinned.clone()));
    let mut skill = history(&["1.0"], vec![add(None, None), pinned]);
    let known = |skill: &History| skill.publishers().iter().cloned().collect::<Vec<_>>();
    assert_eq!(known(&skill), [publisher(Some("74"), None)]);
    let (own, other) = (publisher(Some("74"), Some("release")), publisher(Some("75"), Some("release")));
    assert!(skill.publisher_of(&own).is_some() && skill.publisher_of(&other).is_none());
    // A second entry of the same repository is no way around the id.
    skill.happen(add(None, Some("release")));
    assert!(skill.publisher_of(&own).is_some() && skill.publisher_of(&other).is_none());
    skill.happen(add(Some("75"), Some("release")));
    assert!(skill.publisher_of(&own).is_some() && skill.publisher_of(&other).is_some());
    skill.happen(Event::RemovePublisher { publisher: publisher(None, None), time });
    assert_eq!(known(&skill), [publisher(Some("75"), Some("release"))]);
}

proptest! {
    #[test]
    fn a_record_reads_back(
        skill in "[a-z][a-z0-9]{0,8}",
        number in "[0-9]{1,2}(\\.[0-9]{1,2}){0,2}",
        description in "\\PC{0,20}",
        tags in proptest::collection::vec("\\PC{0,5}", 0..3),
        reason in proptest::option::of("\\PC{0,9}"),
    ) {
        prop_assume!(registry_name(&skill).is_ok() && registry_version(&number).is_ok());
        let record = Record { description, tags, ..record(&skill, &number) };
        let key = files::version_key(&record.version);
        prop_assert_eq!(Record::parse(&record.to_bytes(), &record.name, &key), Ok(record.clone()));
        let events = reason.into_iter().map(|reason| yank(&number, &reason)).collect::<Vec<_>>();
        for event in &events {
            prop_assert_eq!(Event::parse(&event.to_bytes()), Ok(event.clone()));
            let (name, event) = (record.name.clone(), event.clone());
            let changes = vec![LogChange::Event { name, number: 1, event }];
            let entry = LogEntry { time: record.published, by: None, changes };
            prop_assert_eq!(LogEntry::parse(&entry.to_bytes()), Ok(entry));
        }
        let history = History::new(record.name.clone(), vec![record], events).expect("a history");
        prop_assert_eq!(NameList::parse(&history.list().to_bytes(), history.name()), Ok(history.list()));
        if let Some(head) = history.head() {
            let search = SearchIndex::of([&head]).to_bytes();
            let read = heads(&search, &discovery([&head])).expect("fit");
            prop_assert_eq!(read.into_values().collect::<Vec<_>>(), [head]);
        }
    }

    #[test]
    fn nothing_panics(text in "(\\{|\\}|\\[|\\]|:|,|\"(name|version|versions|skills|event|yank|format|size|digest|é|1\\.0)\"|1|-1|null){0,40}") {
        let bytes = text.as_bytes();
        let _ = (Config::parse(bytes), Event::parse(bytes), LogEntry::parse(bytes), SearchIndex::parse(bytes), heads(bytes, bytes));
        let _ = (Record::parse(bytes, &name("a"), "1.0.0"), NameList::parse(bytes, &name("a")));
    }
}

#[test]
fn only_files_of_a_registry_have_a_kind() {
    use files::FileKind;
    let name = registry_name("pdf").expect("a name");
    for (path, kind) in [
        ("config.json", FileKind::Config),
        (files::DISCOVERY, FileKind::Discovery),
        ("index/pdf.json", FileKind::List(name.clone())),
        ("index/pdf/1.0.0.json", FileKind::Record(name.clone(), "1.0.0".to_owned())),
        ("index/pdf/events/2.json", FileKind::Event(name.clone(), 2)),
        ("log/1/1000.json", FileKind::Log(1000)),
        (&files::versions(&name), FileKind::Versions(name.clone())),
    ] {
        assert_eq!(FileKind::of(path), Some(kind), "{path}");
    }
    for wrong in [
        "private/tokens/a.json",
        "index/../private/tokens/a.json",
        "index/PDF.json",
        "index/pdf/events/0.json",
        "index/pdf/events/02.json",
        "index//1.0.0.json",
        "log/0/1000.json",
        "log/0/0.json",
        "artifacts/sha256/..zip",
        "lock",
        "pending/pdf",
        "/config.json",
    ] {
        assert_eq!(FileKind::of(wrong), None, "{wrong}");
    }
}
