//! Tests of the lockfile.

use proptest::prelude::*;

use super::*;
use crate::text::is_conflict_mark;

const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

fn lock(fields: &str) -> Result<Lockfile, LockError> {
    Lockfile::parse(&format!("version = 1\n[[skill]]\n{fields}"))
}

#[test]
fn the_text_is_the_one_of_the_design() {
    let text = format!(
        "# Written by skillpm; `skillpm install` restores exactly this.\nversion = 1\n\n[[skill]]\nname = \"pdf\"\nversion = \"1.10\"\n\
             source = \"github:anthropics/skills\"\npath = \"skills/pdf\"\nrequested = \"main\"\nrevision = \"{COMMIT}\"\n\
             digest = \"{DIGEST}\"\ndependencies = [\"office-base\"]\n"
    );
    assert_eq!(Lockfile::parse(&text).expect("valid").to_string(), text);
    assert_eq!(Lockfile::parse("version = 1\n").expect("valid"), Lockfile::default());
}

/// lk01, lk04, lk09, lk16, lk19, lk23 of the threat model, and the version that comes after ours.
#[test]
fn hostile_lockfiles() {
    let github = "source = \"github:a/b\"\n";
    let digest = format!("digest = \"{DIGEST}\"\n");
    let revision = format!("revision = \"{COMMIT}\"\n");
    let cases = [
        (
            format!("name = \"../../canary\"\n{github}{revision}{digest}"),
            "skill `../../canary`: the name `../../canary` contains `.`; only letters, digits and hyphens are allowed",
        ),
        (format!("name = \"x\"\n{github}{revision}"), "2:1: missing field `digest`"),
        (
            format!("name = \"x\"\n{github}{revision}digest = \"sha256:00\""),
            "skill `x`: `sha256:00` is not a digest: expected `sha256:` and 64 lower-case hexadecimal digits",
        ),
        (
            format!("name = \"x\"\nsource = \"ext::sh -c touch CANARY\"\n{revision}{digest}"),
            "skill `x`: `ext::sh -c touch CANARY` is not a source",
        ),
        (
            format!("name = \"x\"\n{github}revision = \"main\"\n{digest}"),
            "skill `x`: the revision `main` is not a commit: 40 hexadecimal digits are expected",
        ),
        (format!("name = \"x\"\n{github}{digest}"), "skill `x`: there is no `revision`"),
        (
            format!("name = \"x\"\n{github}path = \"../y\"\n{revision}{digest}"),
            "skill `x`: `../y` is not a directory inside a repository",
        ),
        (
            format!("name = \"x\"\n{github}{revision}{digest}install = \"sh\""),
            "7:1: unknown field `install`, expected one of `name`, `version`, `source`, `path`, `requested`, `revision`, `digest`, `dependencies`, `alias-of`, `agents`",
        ),
    ];
    for (fields, message) in cases {
        assert_eq!(lock(&fields).expect_err(&fields).to_string(), message);
    }
    let entry = format!("name = \"x\"\n{github}{revision}{digest}");
    assert_eq!(
        lock(&format!("{entry}[[skill]]\n{entry}")).expect_err("twice").to_string(),
        "7:1: the skill `x` appears twice"
    );
    let error =
        Lockfile::parse("version = 1\n<<<<<<< ours\n=======\n>>>>>>> theirs\n").expect_err("conflict");
    assert_eq!(error, LockError::MergeConflict { line: 2 });
    assert_eq!(Lockfile::parse("version = 2\nnew = 1\n"), Err(LockError::Version(2)));
    assert!(matches!(Lockfile::parse(""), Err(LockError::Malformed { .. })));
    let deep = format!("version = 1\nx = {}{}", "[".repeat(50_000), "]".repeat(50_000));
    assert!(matches!(Lockfile::parse(&deep), Err(LockError::Malformed { .. })));
}

fn entry(name: &str, commit: char) -> String {
    let commit = commit.to_string().repeat(40);
    format!(
        "\n[[skill]]\nname = \"{name}\"\nsource = \"github:a/b\"\nrevision = \"{commit}\"\ndigest = \"{DIGEST}\"\n"
    )
}

/// lk09: entries on which both sides agree are kept, and the others are reported.
#[test]
fn the_sides_of_a_conflict_are_put_together() {
    let (both, ours, theirs) = (entry("both", 'a'), entry("ours", 'b'), entry("theirs", 'c'));
    let (one, other) = (entry("x", 'd'), entry("x", 'e'));
    for base in [String::new(), format!("||||||| 123\n{}", entry("base", 'f'))] {
        let text = format!(
            "version = 1\n{both}<<<<<<< HEAD\n{ours}{one}{base}=======\n{theirs}{other}>>>>>>> branch\n"
        );
        let mended = Mended::parse(&text).expect("two sides");
        let names: Vec<_> = mended.lock.skills.keys().map(SkillName::as_str).collect();
        assert_eq!(names, ["both", "ours", "theirs", "x"]);
        let x = SkillName::new("x").expect("a name");
        assert_eq!(mended.lock.skills[&x].revision, Some("d".repeat(40)));
        assert_eq!(mended.others[&x].revision, Some("e".repeat(40)));
        assert_eq!(mended.others.len(), 1);
    }
    // The agents of both sides stay, and alone they are no conflict.
    let linked = |entry: &str, agents: &str| format!("{entry}agents = [{agents}]\n");
    let x = SkillName::new("x").expect("a name");
    for (other, conflicts) in [(&one, 0), (&other, 1)] {
        let (ours, theirs) = (linked(&one, "\"a\", \"b\""), linked(other, "\"b\", \"c\""));
        let text = format!("version = 1\n<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> branch\n");
        let mended = Mended::parse(&text).expect("two sides");
        assert_eq!(mended.lock.skills[&x].agents.iter().map(String::as_str).collect::<String>(), "abc");
        assert_eq!(mended.others.len(), conflicts);
        assert!(mended.others.values().all(|other| other.agents.len() == 3));
    }
    // Git shares lines between entries that are alike.
    let (head, tail) = one.split_at(one.find("revision").expect("there"));
    let (_, tail_of_other) = other.split_at(other.find("revision").expect("there"));
    let text = format!("version = 1\n{head}<<<<<<< a\n{tail}=======\n{tail_of_other}>>>>>>> b\n");
    assert_eq!(Mended::parse(&text).expect("two sides").others.len(), 1);
}

/// Git's merges of entries that have lines in common: one twice, half of one, one made of two.
#[test]
fn entries_that_a_merge_took_apart() {
    let (one, other) = (entry("x", 'd'), entry("x", 'e'));
    let text = format!("version = 1\n{one}{}{other}{one}", entry("y", 'a'));
    let error = Lockfile::parse(&text).expect_err("twice");
    assert!(error.is_of_merge() && error.to_string() == "15:1: the skill `x` appears twice", "{error}");
    let mended = Mended::parse(&text).expect("each once");
    assert_eq!(mended.lock.skills.len(), 2);
    assert!(mended.others.len() == 1 && !mended.is_torn, "{mended:?}");
    // Half of one is left out.
    let text = format!("version = 1\n<<<<<<< a\n{one}[[skill]]\nname = \"z\"\n=======\n{one}>>>>>>> b\n");
    let mended = Mended::parse(&text).expect("two sides");
    assert!(mended.lock.skills.len() == 1 && mended.others.is_empty() && mended.is_torn, "{mended:?}");
    // An entry of one side in the directory of another one may be made of two.
    let at = |name: &str, path: &str| {
        entry(name, 'a').replace("revision", &format!("path = \"{path}\"\nrevision"))
    };
    let text =
        |ours: &str, theirs: &str| format!("version = 1\n<<<<<<< a\n{ours}=======\n{theirs}>>>>>>> b\n");
    let others = |text: &str| Mended::parse(text).expect("two sides").others.len();
    let (right, wrong) = (at("pdf", "skills/pdf"), at("pdf", "skills/docs"));
    assert_eq!(others(&text(&right, "")), 0);
    assert_eq!(others(&text(&wrong, "")), 1);
    assert_eq!(others(&text(&wrong, &wrong)), 0, "both sides have it");
}

#[test]
fn conflicts_that_cannot_be_told_apart() {
    for (text, line) in [
        ("version = 1\n<<<<<<< a\n", 2),
        ("version = 1\n<<<<<<< a\n=======\n", 2),
        ("version = 1\n>>>>>>> a\n", 2),
        ("<<<<<<< a\nversion = 1\n<<<<<<< a\n=======\n>>>>>>> b\n", 3),
    ] {
        assert_eq!(Mended::parse(text), Err(LockError::MergeConflict { line }), "{text}");
    }
    for head in ["version = 2\n", "version = 1\nversion = 1\n", ""] {
        let text = format!("{head}<<<<<<< a\n[[skill]]\n=======\n>>>>>>> b\n");
        assert!(Mended::parse(&text).is_err(), "{text}");
    }
    let alike =
        format!("version = 1\n<<<<<<< a\n{}=======\n{}>>>>>>> b\n", entry("ss", 'a'), entry("ß", 'b'));
    assert!(matches!(Mended::parse(&alike), Err(LockError::Entry { .. })), "{:?}", Mended::parse(&alike));
}

/// Files from before these fields read, and say nothing of them when they are written.
#[test]
fn who_sees_it_and_what_it_is_called() {
    let old = format!("source = \"path:./x\"\ndigest = \"{DIGEST}\"\n");
    let read = lock(&format!("name = \"x\"\n{old}")).expect("valid");
    assert!(!read.to_string().contains("agents") && !read.to_string().contains("alias-of"));
    let new = "alias-of = \"My \\\"X\\\"\"\nagents = [\"junie\", \"claude-code\", \"junie\"]\n";
    let read = lock(&format!("name = \"x\"\n{old}{new}")).expect("valid");
    let text = read.to_string();
    assert!(text.contains("name = \"x\"\nalias-of = \"My \\\"X\\\"\"\nsource = "), "{text}");
    assert!(text.ends_with("agents = [\"claude-code\", \"junie\"]\n"), "{text}");
    assert_eq!(Lockfile::parse(&text), Ok(read));
    for agent in ["", "..", "a/b", "A", "-a", "a--b", "a\\nb"] {
        let error = lock(&format!("name = \"x\"\n{old}agents = [\"{agent}\"]\n")).expect_err(agent);
        assert!(error.to_string().ends_with("cannot be the id of an agent"), "{error}");
    }
}

/// A lockfile as it is written, of entries with and without each field.
fn written() -> impl Strategy<Value = String> {
    let text = || proptest::option::of("[a-zA-Z0-9 ./\"\\\\\t\u{e9}\u{7f}-]{1,6}");
    let source = prop_oneof![
        Just(("path:./x y".to_owned(), None)),
        Just(("github:a/b".to_owned(), Some(COMMIT.to_owned()))),
        Just(("npm:x".to_owned(), Some("1.0".to_owned()))),
    ];
    let list = || proptest::collection::vec("[a-z]{1,3}", 0..3);
    let entry = (text(), text(), source, text(), list(), list());
    proptest::collection::btree_map("[a-z\u{e9}]{1,3}", entry, 0..4).prop_map(|entries| {
        let mut lock = Lockfile::default();
        for (name, (version, alias_of, (origin, revision), requested, dependencies, agents)) in entries {
            let locked = Locked {
                version,
                origin: origin.parse().expect("a source"),
                path: None,
                requested,
                revision,
                digest: DIGEST.parse().expect("a digest"),
                dependencies,
                alias_of,
                agents: agents.into_iter().collect(),
            };
            lock.skills.insert(SkillName::new(&name).expect("a name"), locked);
        }
        lock.to_string()
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(text in written()) {
        let lock = Lockfile::parse(&text);
        prop_assert_eq!(lock.map(|lock| lock.to_string()), Ok(text));
    }

    /// A lockfile without marks has two equal sides; with any marks nothing panics.
    #[test]
    fn sides_of_any_text(text in "(<<<<<<< a\n|=======\n|>>>>>>> b\n|[|]{7} c\n|x\n){0,9}") {
        if let Ok(Sides { ours, theirs, .. }) = Sides::of(&text) {
            prop_assert!(text.contains("=======") || ours == theirs);
            prop_assert!(!ours.lines().chain(theirs.lines()).any(is_conflict_mark));
        }
    }

    #[test]
    fn any_text_survives(version in "\\PC{0,12}|[\\x00-\\x7f]{0,12}", path in "[a-z\"é]{1,8}") {
        let mut lock = Lockfile::default();
        lock.skills.insert(SkillName::new("x").expect("a name"), Locked {
            version: Some(version), origin: "path:./x".parse().expect("a source"), path: Some(path),
            requested: None, revision: None, digest: Digest::of(b""), dependencies: vec![],
            alias_of: None, agents: BTreeSet::new(),
        });
        prop_assert_eq!(Lockfile::parse(&lock.to_string()), Ok(lock));
    }

    #[test]
    fn nothing_panics(text in "(version = 1\n)?\\PC{0,80}") {
        let _ = Lockfile::parse(&text);
    }
}

/// The meaning of `revision` depends on the kind of source.
#[test]
fn each_kind_of_source_has_its_own_revision() {
    let digest = format!("digest = \"{DIGEST}\"\n");
    let cases = [
        ("git:git@h:r", Some(COMMIT), true),
        ("git:file:///r", Some(&DIGEST[7..]), true),
        ("git:file:///r", None, false),
        ("git:file:///r", Some("main"), false),
        ("url:https://h/x.zip", None, true),
        ("url:https://h/x.zip", Some(COMMIT), false),
        ("site:https://h", Some(DIGEST), true),
        ("site:https://h", None, true),
        ("site:https://h", Some("1"), false),
        ("npm:@s/x", Some("1.2.0"), true),
        ("path:./x", Some("1"), false),
        ("git:https://u:p@h/r", Some(COMMIT), false),
        ("git:ext::sh", Some(COMMIT), false),
    ];
    for (source, revision, right) in cases {
        let revision = revision.map(|text| format!("revision = \"{text}\"\n")).unwrap_or_default();
        let text = format!("name = \"x\"\nsource = \"{source}\"\n{revision}{digest}");
        let read = lock(&text);
        assert_eq!(read.is_ok(), right, "{text}{read:?}");
        if let Ok(read) = read {
            assert_eq!(Lockfile::parse(&read.to_string()), Ok(read));
        }
    }
}
