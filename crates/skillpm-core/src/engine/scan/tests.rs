use std::path::PathBuf;

use super::*;
use crate::engine::discover::{Discovery, discover_with};
use crate::engine::testing::{World, skill_text};
use crate::engine::{Diagnostic, SourceKind, discover, sources_of, with_least};
use crate::lint::Severity;
use crate::profile::Tolerance;

/// Returns the project's sources `names`.
fn sources(world: &World, names: &[&str]) -> Vec<Source> {
    names.iter().map(|name| Source::new(SourceKind::Extra, world.project().join(name))).collect()
}

fn found(world: &World, names: &[&str], profile: &LoadProfile) -> Discovery {
    discover_with(&sources(world, names), profile).expect("no error")
}

/// Returns the directories of the skills that are used, below the project.
fn used(world: &World, found: &Discovery) -> Vec<String> {
    let below = |dir: &Path| dir.strip_prefix(world.project()).expect("below").to_owned();
    found.skills.iter().map(|s| below(&s.dir).to_string_lossy().replace('\\', "/")).collect()
}

/// Returns the tolerated deviations of the skills that are used.
fn deviations(found: &Discovery) -> impl Iterator<Item = Diagnostic> {
    found.skills.iter().flat_map(|skill| skill.told())
}

fn told(found: &Discovery) -> Vec<String> {
    found.diagnostics.iter().map(ToString::to_string).collect()
}

/// Conflict C1: the first skill of a name, the last, or none is used; both paths are reported.
#[test]
fn one_name_twice() {
    let world = World::new();
    for dir in ["a/copy", "a/pdf", "a/zzz", "b/pdf", "c/other"] {
        world.skill(dir, "pdf");
    }
    world.skill("b/docx", "docx");
    let all = ["a", "b", "c"];
    let first = found(&world, &all, &LoadProfile::DEFAULT);
    assert_eq!(used(&world, &first), ["a/pdf", "b/docx"]);
    assert_eq!((first.shadowed.len(), first.diagnostics.len()), (4, 4));
    let last = found(&world, &all, &LoadProfile::LANGFLOW);
    assert_eq!(used(&world, &last), ["b/docx", "c/other"]);
    assert_eq!((last.shadowed.len(), last.diagnostics.len()), (4, 4));
    assert_eq!(
        used(&world, &found(&world, &["a"], &LoadProfile::LANGFLOW)),
        ["a/pdf"],
        "at home in its source"
    );
    let strict = LoadProfile { names: crate::profile::NameRule::AsIs, ..LoadProfile::STRICT };
    let error = discover_with(&sources(&world, &all), &strict).expect_err("an error");
    assert!(
        matches!(&*error, Diagnostic::Shadowed { name, used, .. } if name == "pdf" && used.ends_with("a/pdf"))
    );
}

/// S4-15, conflict C8: no skill makes discovery fail, even if nothing is tolerated.
#[test]
fn one_bad_skill_spoils_nothing() {
    let world = World::new();
    world.skill("s/good", "good");
    world.write("s/yaml/SKILL.md", "---\nname: yaml\ndescription: a: b\n---\n");
    world.write("s/field/SKILL.md", "---\nname: field\ndescription: d\nhooks: x\n---\n");
    world.write("s/empty/SKILL.md", "");
    for (name, profile) in LoadProfile::ALL {
        let found = found(&world, &["s"], &profile);
        assert!(used(&world, &found).contains(&"s/good".to_owned()), "{name}");
        assert!(!told(&found).is_empty(), "{name}: the empty file is told");
    }
    let strict = found(&world, &["s"], &LoadProfile::STRICT);
    assert_eq!(used(&world, &strict), ["s/good"]);
    assert!(told(&strict)[1].ends_with(
        "field/SKILL.md` cannot be loaded: the specification has no field `hooks` (line 4, column 1)"
    ));
    let lenient = found(&world, &["s"], &LoadProfile::DEFAULT);
    assert_eq!(used(&world, &lenient), ["s/field", "s/good", "s/yaml"]);
    let lines: Vec<_> = deviations(&lenient).map(|d| d.to_string()).collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].ends_with("field/SKILL.md`, line 4: the specification has no field `hooks`"));
    let silent =
        LoadProfile { unknown_fields: Tolerance::Accept, text: Tolerance::Accept, ..LoadProfile::DEFAULT };
    assert_eq!(deviations(&found(&world, &["s"], &silent)).count(), 0);
}

/// S0-A2, conflict C11: each profile searches its own directories.
#[test]
fn places() {
    let world = World::new();
    let settings = world.settings(&[]);
    let dirs = |profile: &LoadProfile| -> Vec<PathBuf> {
        let sources = sources_of(&settings, profile).expect("places").into_iter();
        sources.map(|source| source.dir.strip_prefix(world.root()).expect("below").to_owned()).collect()
    };
    let default = crate::engine::default_sources(&settings).expect("places");
    assert_eq!(sources_of(&settings, &LoadProfile::DEFAULT).expect("places"), default);
    assert_eq!(dirs(&LoadProfile::SKILLKIT), [Path::new("project/.claude/skills")]);
    assert_eq!(dirs(&LoadProfile::LANGCHAIN_SKILLKIT), [""; 0].map(Path::new));
    assert_eq!(
        dirs(&LoadProfile::BTW),
        [
            "home/.config/R/btw/skills",
            "home/.agents/skills",
            "project/.btw/skills",
            "project/.agents/skills",
            "project/.claude/skills"
        ]
        .map(Path::new),
        "later ones override"
    );
    let mut homeless = world.settings(&[]);
    homeless.home = None;
    assert_eq!(sources_of(&homeless, &LoadProfile::BTW).expect("places").len(), 3);
}

/// S4-5, S4-6, conflict C34: all of them are searched, and a later one takes precedence.
#[test]
fn the_places_of_btw() {
    let world = World::new();
    let places = [
        "../home/.config/R/btw/skills",
        "../home/.agents/skills",
        ".btw/skills",
        ".agents/skills",
        ".claude/skills",
    ];
    for (number, place) in places.iter().enumerate() {
        world.skill(&format!("{place}/pdf"), "pdf");
        world.skill(&format!("{place}/own-{number}"), &format!("own-{number}"));
    }
    for left in (1..=places.len()).rev() {
        let sources = sources_of(&world.settings(&[]), &LoadProfile::BTW).expect("places");
        let found = discover_with(&sources, &LoadProfile::BTW).expect("no error");
        let names: Vec<_> = found.skills.iter().map(|skill| skill.meta.name.as_str()).collect();
        assert_eq!(names.iter().filter(|name| name.starts_with("own-")).count(), left, "{names:?}");
        let pdf = found.skills.iter().find(|skill| skill.meta.name == "pdf").expect("found");
        let place = places[left - 1].trim_start_matches("../");
        assert!(pdf.dir.ends_with(Path::new(place).join("pdf")), "{}", pdf.dir.display());
        fs::remove_tree(&world.project().join(places[left - 1])).expect("removes");
    }
}

/// S4-5, conflict C1: a directory that a caller names, such as that of an R package, overrides no other place, whether
/// the first or the last skill of a name wins.
#[test]
fn named_directories_override_nothing() {
    let world = World::new();
    for place in ["bundled", ".agents/skills"] {
        world.skill(&format!("{place}/pdf"), "pdf");
    }
    world.skill("bundled/more", "more");
    for profile in [LoadProfile::DEFAULT, LoadProfile::BTW] {
        let named = Source::new(SourceKind::Extra, world.project().join("bundled"));
        let places = sources_of(&world.settings(&[]), &profile).expect("places");
        let sources = with_least(places, std::iter::once(named), &profile);
        let found = discover_with(&sources, &profile).expect("no error");
        let mut used = used(&world, &found);
        used.sort();
        assert_eq!(used, [".agents/skills/pdf", "bundled/more"], "{profile}");
    }
}

/// Directories of the home directory belong to the user and to the project, and are searched once.
#[test]
fn the_places_of_btw_at_home() {
    let world = World::new();
    let mut settings = world.settings(&[]);
    settings.home = Some(world.project().to_owned());
    let sources = sources_of(&settings, &LoadProfile::BTW).expect("places");
    let canonical: Vec<_> = sources.iter().filter(|source| source.dir.ends_with(".agents/skills")).collect();
    let [one] = canonical[..] else { panic!("{canonical:?}") };
    assert!(one.kind == SourceKind::User && one.is_of(SourceKind::Project), "{one:?}");
}

/// S0-A9, conflict C12: the search goes as deep as the profile says, never below a skill or into third-party
/// directories.
#[test]
fn depth() {
    let world = World::new();
    for dir in ["s/a", "s/a/inner", "s/g/b", "s/1/2/3/4/c", "s/1/2/3/4/5/d", "s/node_modules/e", "s/x/.git/f"]
    {
        world.skill(dir, dir.rsplit('/').next().expect("a name"));
    }
    let all = |profile: &LoadProfile| used(&world, &found(&world, &["s"], profile));
    assert_eq!(all(&LoadProfile::DEFAULT), ["s/1/2/3/4/c", "s/a", "s/g/b"]);
    for profile in [LoadProfile::SKILLKIT, LoadProfile::LANGCHAIN_SKILLKIT, LoadProfile::BTW] {
        assert_eq!(all(&profile), ["s/a"]);
    }
    assert_eq!(all(&LoadProfile { depth: 2, ..LoadProfile::DEFAULT }), ["s/a", "s/g/b"]);
    assert_eq!(
        all(&LoadProfile { depth: 0, ..LoadProfile::DEFAULT }),
        ["s/a"],
        "a source itself is always searched"
    );
}

/// Conflict C12: the search is bounded, and says so.
#[test]
fn a_source_without_end() {
    let world = World::new();
    for number in 0..=MAX_DIRECTORIES {
        fs::create_dir_all(&world.project().join(format!("s/{number:04}"))).expect("creates");
    }
    world.skill("s/zzz", "zzz");
    let found = found(&world, &["s"], &LoadProfile::DEFAULT);
    assert_eq!(used(&world, &found), ["s/zzz"], "what is in the source itself is found");
    assert!(matches!(&*found.diagnostics[0], Diagnostic::TooManyDirectories(_)), "{:?}", told(&found));
}

#[cfg(unix)]
#[test]
fn a_walk_follows_no_links_and_ends() {
    let world = World::new();
    world.skill("elsewhere/pdf", "pdf");
    world.skill("s/g/real", "real");
    world.link("../../s", "s/g/loop");
    world.link("../../elsewhere/pdf", "s/g/pdf");
    world.link("../elsewhere", "s/linked");
    let found = found(&world, &["s"], &LoadProfile::DEFAULT);
    assert_eq!(used(&world, &found), ["s/g/real", "s/linked/pdf"], "links in the source itself are followed");
}

/// A link to a neighbouring directory loses, under any name; a link to its own directory or one above adds no skill.
#[cfg(unix)]
#[test]
fn links_among_neighbours_show_nothing_twice() {
    let world = World::new();
    world.skill("s/one", "one");
    world.skill("s/group/two", "two");
    world.skill("s/other/three", "three");
    for (to, link) in [("one", "alias"), ("one", "z"), (".", "self"), ("..", "above"), ("group", "a-group")] {
        world.link(to, &format!("s/{link}"));
    }
    let sources = sources(&world, &["s"]);
    let found = discover(&sources);
    assert_eq!(used(&world, &found), ["s/group/two", "s/one", "s/other/three"]);
    assert_eq!(told(&found), [""; 0]);
}

/// A skill that is listed but cannot be loaded is reported.
#[test]
fn a_file_that_is_too_large_is_told() {
    let world = World::new();
    world.skill("s/a", "a");
    world.write("s/big/SKILL.md", &(skill_text("big") + &"x".repeat(11 << 20)));
    let sources = sources(&world, &["s"]);
    let found = discover(&sources);
    assert_eq!(used(&world, &found), ["s/a", "s/big"]);
    let [told] = &told(&found)[..] else { panic!("{:?}", told(&found)) };
    assert!(
        told.contains("s/big/SKILL.md` has more than 10 MiB: it is listed, but cannot be loaded"),
        "{told}"
    );
}

/// A skill whose name cannot be reported to an agent is not ignored in silence.
#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_no_text_is_told() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let world = World::new();
    world.skill("s/a", "a");
    for (name, holds) in [(&b"s/caf\xe9"[..], true), (b"s/other\xff", false)] {
        let dir = world.project().join(OsStr::from_bytes(name));
        fs::create_dir_all(&dir).expect("creates");
        if holds {
            fs::write_atomic(&dir.join(SKILL_FILE), skill_text("cafe").as_bytes()).expect("writes");
        }
    }
    world.link("s", "same");
    let sources = sources(&world, &["s", "same"]);
    let found = discover(&sources);
    assert_eq!(used(&world, &found), ["s/a"]);
    let [told] = &told(&found)[..] else { panic!("{:?}", told(&found)) };
    assert!(told.ends_with(
        "SKILL.md` cannot be loaded: the name of its directory is not UTF-8; give it another one"
    ));
}

/// Conflict C13 and oddities 35 and 36: the exact spelling wins.
#[test]
fn spellings() {
    let world = World::new();
    world.write("s/a/skill.md", &skill_text("a"));
    world.skill("s/b", "b");
    let all = |profile: &LoadProfile| {
        let found = found(&world, &["s"], profile);
        (used(&world, &found), told(&found))
    };
    let (skills, diagnostics) = all(&LoadProfile::DEFAULT);
    assert_eq!(skills, ["s/a", "s/b"]);
    assert!(diagnostics[0].contains("most tools look for `SKILL.md` only"), "{diagnostics:?}");
    assert_eq!(all(&LoadProfile::SKILLKIT), (vec!["s/a".into(), "s/b".into()], vec![]));
    let (skills, diagnostics) = all(&LoadProfile::STRICT);
    assert_eq!(skills, ["s/b"]);
    assert!(diagnostics[0].ends_with("skill.md` cannot be loaded: its name is not `SKILL.md`"));
    world.write("s/b/skill.md", "other");
    // On a file system that folds case, there is only one file now.
    if fs::list_dir(&world.project().join("s/b")).expect("lists").len() == 2 {
        let (skills, diagnostics) = all(&LoadProfile::STRICT);
        assert_eq!(skills, ["s/b"]);
        assert!(
            diagnostics[1].ends_with("b/skill.md` is ignored: `SKILL.md` is beside it"),
            "{diagnostics:?}"
        );
    }
}

/// Conflict C14: a missing source is empty, or an error. If it was named, it is reported.
#[test]
fn a_source_that_is_not_there() {
    let world = World::new();
    for (name, profile) in LoadProfile::ALL {
        match discover_with(&sources(&world, &["nowhere"]), &profile) {
            Ok(found) => {
                assert!(found.skills.is_empty() && !profile.strict_sources, "{name}");
                let [told] = &found.diagnostics[..] else { panic!("{:?}", found.diagnostics) };
                assert_eq!((told.code(), told.severity()), ("source-missing", Severity::Warning));
            }
            Err(error) => {
                assert!(profile.strict_sources, "{name}");
                assert!(error.to_string().ends_with("/nowhere`"), "{error}");
            }
        }
    }
    let mine = Source::new(SourceKind::User, world.home().join(".agents/skills"));
    assert!(discover(&[mine]).diagnostics.is_empty(), "skills are not expected there");
}

/// Conflict C15: the error for an unknown skill names the one that was meant.
#[test]
fn an_unknown_skill() {
    let world = World::new();
    world.skill(".agents/skills/group/release-notes", "release-notes");
    let error = world.find("release-note").expect_err("unknown");
    assert_eq!(error.error.to_string(), "there is no skill `release-note`");
    assert_eq!(error.error.hints(), ["did you mean `release-notes`?"]);
    assert!(world.find("release-notes").is_ok(), "as deep as discovery looks");
}
