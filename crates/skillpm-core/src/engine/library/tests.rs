use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::*;
use crate::engine::SourceKind;
use crate::engine::sources_of;
use crate::engine::testing::{World, skill_text};
use crate::error::{Error, ErrorKind};
use crate::fs;

fn library(world: &World, freshness: Freshness) -> Library {
    let profile = LoadProfile { freshness, ..LoadProfile::DEFAULT };
    Library::of_places(&world.settings(&[]), profile).expect("places")
}

fn names(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.skills().iter().map(|skill| skill.meta.name.as_str()).collect()
}

fn text(name: &str, version: usize) -> String {
    let words = format!("{name} {version} ").repeat(50);
    format!(
        "---\nname: {name}\ndescription: {words}\nmetadata:\n  version: \"{version}\"\n---\n\nBody {version}\n"
    )
}

/// Returns the instructions of the skill `name`.
fn instructions(library: &Library, name: &str) -> Result<Instructions, LookupError> {
    Ok(library.instructions(&library.get(name)?)?)
}

/// S3-NFR-6: a reader during a rescan sees every skill, and each as it was written at one time.
#[test]
fn readers_see_whole_views_while_skills_change() {
    const SKILLS: usize = 12;
    const ROUNDS: usize = 15;
    let world = World::new();
    let name = |number: usize| format!("skill-{number:02}");
    let write = |number: usize, version: usize| {
        world.write(&format!(".agents/skills/{}/SKILL.md", name(number)), &text(&name(number), version));
    };
    for number in 0..SKILLS {
        write(number, 0);
    }
    let expected: Vec<_> = (0..SKILLS).map(name).collect();
    for freshness in [Freshness::Stat, Freshness::Ttl(Duration::from_micros(50)), Freshness::Session] {
        let library = library(&world, freshness);
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let read = || {
                let mut newest = [0; SKILLS];
                while !done.load(Ordering::Relaxed) {
                    let snapshot = library.snapshot().expect("no error");
                    assert_eq!(names(&snapshot), expected);
                    for (skill, newest) in snapshot.skills().iter().zip(&mut newest) {
                        let version = skill.meta.version.as_deref().expect("a version");
                        let words = format!("{} {version} ", skill.meta.name).repeat(50);
                        assert_eq!(skill.meta.description, words.trim());
                        let version: usize = version.parse().expect("a number");
                        assert!(version >= *newest, "time runs one way");
                        *newest = version;
                    }
                    let read = instructions(&library, "skill-03").expect("reads");
                    let version = read.skill.meta.version.as_deref().expect("a version");
                    assert_eq!(read.body.trim(), format!("Body {version}"));
                }
            };
            let readers: Vec<_> = (0..8).map(|_| scope.spawn(read)).collect();
            for version in 1..ROUNDS {
                for number in 0..SKILLS {
                    write(number, version);
                }
                if version % 5 == 0 {
                    library.invalidate();
                }
            }
            done.store(true, Ordering::Relaxed);
            for reader in readers {
                reader.join().expect("no panic");
            }
        });
        library.invalidate();
        let last = library.snapshot().expect("no error");
        assert!(last.skills().iter().all(|skill| skill.meta.version.as_deref() == Some("14")));
        for number in 0..SKILLS {
            write(number, 0);
        }
    }
}

/// S3-NFR-6: a library can be shared between threads.
#[test]
fn a_library_goes_to_other_threads() {
    fn check<T: Send + Sync>() {}
    check::<Library>();
    check::<Snapshot>();
    check::<LookupError>();
}

/// Conflict C17, S3-FR-8, S3-FR-13, S3-US-4: fresh by stat data, for the session, or for a time.
#[test]
fn freshness() {
    let world = World::new();
    world.skill(".agents/skills/a", "a");
    let asked = |library: &Library| names(&library.snapshot().expect("no error")).join(" ");
    let hour = Duration::from_hours(1);
    let [stat, session, ttl, no_time] =
        [Freshness::Stat, Freshness::Session, Freshness::Ttl(hour), Freshness::Ttl(Duration::ZERO)]
            .map(|freshness| library(&world, freshness));
    let all = [&stat, &session, &ttl, &no_time];
    assert_eq!(all.map(&asked), ["a"; 4]);
    let held = session.snapshot().expect("no error");
    world.skill(".agents/skills/b", "b");
    assert_eq!(all.map(&asked), ["a b", "a", "a", "a b"]);
    fs::remove_tree(&world.project().join(".agents/skills/a")).expect("removes");
    world.write(".agents/skills/b/SKILL.md", &skill_text("c"));
    assert_eq!(all.map(&asked), ["c", "a", "a", "c"]);
    for library in all {
        library.invalidate();
    }
    assert_eq!(all.map(&asked), ["c"; 4]);
    assert_eq!(names(&held), ["a"], "a snapshot stays as it was");
}

/// Conflict C17: if nothing changed, the snapshot is the same as before.
#[test]
fn what_did_not_change_is_the_same_snapshot() {
    let world = World::new();
    for name in ["a", "b"] {
        world.skill(&format!(".agents/skills/{name}"), name);
    }
    let library = library(&world, Freshness::Stat);
    let first = library.snapshot().expect("no error");
    assert!(Arc::ptr_eq(&first, &library.snapshot().expect("no error")));
    world.skill(".agents/skills/c", "c");
    assert_eq!(names(&library.snapshot().expect("no error")), ["a", "b", "c"]);
}

/// Conflict C1: a hidden skill can still be requested, by its source and by its path in it.
#[test]
fn source_and_name() {
    let world = World::new();
    for dir in
        [".agents/skills/copy", ".agents/skills/pdf", ".claude/skills/pdf", "../home/.agents/skills/pdf"]
    {
        world.skill(dir, "pdf");
    }
    world.skill("../home/.claude/skills/group/odd: one", "user:x y");
    world.skill("more/skills/pdf", "pdf");
    world.skill("even/skills/pdf", "pdf");
    let settings = world.settings(&[]);
    let mut sources = sources_of(&settings, &LoadProfile::DEFAULT).expect("places");
    for dir in ["more/skills", "even/skills"] {
        sources.push(Source::new(SourceKind::Extra, world.project().join(dir)));
    }
    sources.push(Source::new(SourceKind::Bundled, world.project().join("none")));
    let library = Library::new(sources, LoadProfile::DEFAULT);
    let snapshot = library.snapshot().expect("no error");
    let names: Vec<_> = snapshot.sources().iter().map(|source| &*source.name).collect();
    assert_eq!(
        names,
        [
            "project",
            "project-claude",
            "project-skillpm",
            "user",
            "user-claude",
            "user-skillpm",
            "skills",
            "skills-2",
            "bundled"
        ]
    );
    let dir = |name: &str| {
        let skill = library.get(name).expect(name);
        skill.dir.strip_prefix(world.root()).expect("below").to_string_lossy().replace('\\', "/")
    };
    assert_eq!(dir("pdf"), "project/.agents/skills/pdf");
    assert_eq!(dir("project:pdf"), "project/.agents/skills/pdf");
    assert_eq!(dir("project:copy"), "project/.agents/skills/copy", "two of one name in one source");
    assert_eq!(dir("project-claude:pdf"), "project/.claude/skills/pdf");
    assert_eq!(dir("user:pdf"), "home/.agents/skills/pdf");
    assert_eq!(dir("skills-2:pdf"), "project/even/skills/pdf");
    assert_eq!(dir("copy"), "project/.agents/skills/copy", "as it is listed");
    // The name itself has a colon.
    for name in ["user:x y", "user-claude:user:x y", "user-claude:group/odd: one", "odd: one"] {
        assert_eq!(dir(name), "home/.claude/skills/group/odd: one", "{name}");
    }
    for name in ["bundled:pdf", "user-claude:pdf", "nowhere:pdf", "user:../pdf", "user:", ":", "project:/pdf"]
    {
        assert!(matches!(library.get(name), Err(LookupError::Unknown(_))), "{name}");
    }
    assert_eq!(snapshot.shadowed().iter().filter(|skill| skill.meta.name == "pdf").count(), 5);
}

/// S0-E8, S0-FR-019, S3-FR-15, S4-18, conflict C15: the error lists the names, and the closest one.
#[test]
fn an_unknown_skill_names_those_there_are() {
    let world = World::new();
    for name in ["pdf-tools", "docx"] {
        world.skill(&format!(".agents/skills/{name}"), name);
    }
    let text = "---\nname: docx\ndescription: d\ndisable-model-invocation: true\n---\n";
    world.write(".agents/skills/docx/SKILL.md", text);
    world.write(".agents/skills/broken/SKILL.md", "---\nname: broken\n---\n");
    let library = library(&world, Freshness::Stat);
    let Err(LookupError::Unknown(unknown)) = library.get("pdf-tool") else { panic!("unknown") };
    assert_eq!(unknown.available, ["docx", "pdf-tools"]);
    assert_eq!(unknown.closest.as_deref(), Some("pdf-tools"));
    assert_eq!(unknown.for_people, ["docx"]);
    let error = Error::from(*unknown);
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::Usage, "there is no skill `pdf-tool`")
    );
    assert_eq!(error.hints(), ["did you mean `pdf-tools`?"]);
    let error = Error::from(library.get("xlsx").expect_err("unknown"));
    assert_eq!(error.hints(), ["there are `docx` and `pdf-tools`"]);
    let error = Error::from(library.get("broken").expect_err("cannot be loaded"));
    assert_eq!(error.kind(), ErrorKind::Findings);
    assert!(error.to_string().starts_with("the skill `broken` cannot be loaded: `"), "{error}");
    assert!(error.to_string().contains("`description` is missing"), "{error}");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 64, ..Default::default() })]

    /// Conflict C1: a request for one skill gets the one that a search of everything finds, in every layout.
    #[test]
    fn one_name_is_the_one_of_all(layout in proptest::collection::vec(0..6_u8, 12)) {
        let world = World::new();
        let sources = [".agents/skills", ".claude/skills", "../home/.agents/skills"];
        let dirs = ["pdf", "a", "b/pdf", "c/d"];
        let places = sources.iter().flat_map(|source| dirs.iter().map(move |dir| format!("{source}/{dir}")));
        for (place, what) in places.zip(layout) {
            match what {
                1 => world.skill(&place, "pdf"),
                2 => world.skill(&place, "word"),
                // A link to a directory that several links lead to, and one to another entry of the source.
                #[cfg(unix)]
                4 | 5 => {
                    world.skill("elsewhere/pdf", "pdf");
                    let source = place.split("/skills/").next().unwrap_or_default();
                    let inside = format!("{source}/skills/a");
                    let to = if what == 4 { "elsewhere/pdf" } else { inside.as_str() };
                    let parent = world.project().join(&place);
                    fs::create_dir_all(parent.parent().expect("a parent")).expect("creates");
                    if matches!(fs::kind(&parent), Ok(None)) {
                        world.link(&world.project().join(to).display().to_string(), &place);
                    }
                }
                3 => world.write(&format!("{place}/SKILL.md"), "---\nname: pdf\n---\n"),
                _ => {}
            }
        }
        let library = library(&world, Freshness::Stat);
        let all = library.snapshot().expect("found");
        for name in ["pdf", "word", "a", "project:pdf", "none"] {
            let dir = |found: Result<&Arc<Skill>, LookupError>| {
                found.map(|skill| skill.dir.clone()).map_err(|error| error.to_string())
            };
            proptest::prop_assert_eq!(dir(library.get(name).as_ref().map_err(Clone::clone)), dir(all.get(name)));
        }
    }
}

/// S3-FR-9: instructions are cached if the profile says so, and only as long as their file is unchanged.
#[test]
fn instructions_are_read_again_or_kept() {
    let world = World::new();
    let write = |version| world.write(".agents/skills/a/SKILL.md", &text("a", version));
    let body = |library: &Library| instructions(library, "a").expect("reads").body.trim().to_owned();
    let kept = LoadProfile { keep_bodies: true, ..LoadProfile::DEFAULT };
    let [fresh, kept, session] =
        [LoadProfile::DEFAULT, kept.clone(), LoadProfile { freshness: Freshness::Session, ..kept }]
            .map(|profile| Library::of_places(&world.settings(&[]), profile).expect("places"));
    let all = [&fresh, &kept, &session];
    write(1);
    assert_eq!(all.map(body), ["Body 1"; 3]);
    let before = instructions(&session, "a").expect("reads");
    assert!(Arc::ptr_eq(&before.body, &instructions(&session, "a").expect("reads").body), "read once");
    write(2);
    assert_eq!(all.map(body), ["Body 2", "Body 2", "Body 1"]);
    session.invalidate();
    assert_eq!(body(&session), "Body 2");
    fs::remove_tree(&world.project().join(".agents/skills/a")).expect("removes");
    assert_eq!(body(&session), "Body 2", "in the session it is still there");
    assert!(instructions(&fresh, "a").is_err() && instructions(&kept, "a").is_err());
}

/// Conflict C14: a missing source is empty, or an error if the profile says so.
#[test]
fn a_strict_library_wants_its_sources() {
    let world = World::new();
    let source = || vec![Source::new(SourceKind::Extra, world.project().join("nowhere"))];
    assert!(Library::new(source(), LoadProfile::DEFAULT).snapshot().expect("empty").skills().is_empty());
    let error = Library::new(source(), LoadProfile::STRICT).snapshot().expect_err("an error");
    assert_eq!(Error::from(error).kind(), ErrorKind::Usage);
}
