use proptest::prelude::*;

use super::records::Window;
use super::*;
use crate::engine::discover::{Diagnostic, discover_again};
use crate::engine::testing::{World, skill_text};
use crate::engine::{Library, SourceKind, default_sources, discover};
use crate::policy::Policy;
use crate::skill::{SkillMeta, Texts};

fn moment() -> impl Strategy<Value = Moment> {
    (any::<i64>(), 0..1_000_000_000_u32).prop_map(|(seconds, nanoseconds)| Moment { seconds, nanoseconds })
}

fn stat() -> impl Strategy<Value = FileStat> {
    (any::<u64>(), any::<u32>(), any::<u64>(), moment(), moment()).prop_map(
        |(inode, mode, size, modified, changed)| FileStat { device: 7, inode, mode, size, modified, changed },
    )
}

fn meta() -> impl Strategy<Value = SkillMeta> {
    let texts = || proptest::collection::vec(".{0,9}", 0..3);
    let text = || proptest::option::of(".{0,9}");
    let map = || {
        proptest::collection::btree_map("[a-z]{1,5}", ".{0,9}", 0..3).prop_map(|map| {
            map.into_iter()
                .map(|(key, value)| (key, serde_json::Value::from(value)))
                .collect::<serde_json::Map<_, _>>()
        })
    };
    let first = (".{0,9}", ".{0,99}", text(), text(), text());
    (first, texts(), texts(), texts(), map(), map()).prop_map(
        |(
            (name, description, version, license, compatibility),
            tags,
            dependencies,
            allowed_tools,
            metadata,
            extra,
        )| {
            SkillMeta {
                name,
                description,
                version,
                tags,
                dependencies,
                license,
                compatibility,
                allowed_tools,
                metadata,
                extra,
            }
        },
    )
}

/// What is remembered of a skill in a directory on the file system 7.
fn known() -> impl Strategy<Value = Known> {
    (stat(), meta(), any::<bool>()).prop_map(|(stat, meta, at_home)| {
        let mut bytes = Vec::new();
        let directory = if at_home { &*meta.name } else { "abc" };
        let record = record::put(&mut bytes, &stat, &Texts::of(&meta), directory).expect("small enough");
        assert_eq!(record.signs().extra, !meta.extra.is_empty());
        let source = Source::new(SourceKind::Project, "/d".into());
        let (policy, place) = (Arc::new(Policy::DEFAULT), (Path::new("/d"), Path::new("/d")));
        let home = Home::new(&source, policy, place, Arc::default(), 7);
        let group = Group { home: Arc::new(home), records: Arc::new(Records::in_memory(bytes)) };
        Known::Recorded(Arc::new(Skill::brief(Arc::new(group), 0, record)))
    })
}

fn memory() -> impl Strategy<Value = Memory> {
    let entries = proptest::collection::btree_map("[a-zé.]{3,6}", proptest::option::of(known()), 0..4);
    let dir = (proptest::option::of(stat()), entries).prop_map(|(stat, entries)| {
        let (mut listing, mut skills) = (Listing::default(), Vec::new());
        for (name, known) in entries {
            if !matches!(name.as_str(), "." | "..") && listing.push(&name, Kind::Directory) {
                skills.push(known);
            }
        }
        SeenDir { stat, device: 7, listing: Arc::new(listing), skills, changed: true }
    });
    let dirs = proptest::collection::hash_map("/[a-z/]{0,9}".prop_map(PathBuf::from), dir, 0..3);
    (dirs, moment()).prop_map(|(dirs, newest)| Memory {
        dirs,
        records: Arc::default(),
        newest: Some(newest),
        changed: false,
        kept: None,
    })
}

fn key() -> Digest {
    Digest::of(b"key")
}

fn encode(memory: &Memory, key: &Digest) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    format::encode(memory, key, &mut bytes).ok()?;
    Some(bytes)
}

/// The memory in a file with those `bytes`.
fn decode(bytes: &[u8], key: &Digest) -> Option<Memory> {
    let mut file = fs::anonymous_temp_file().expect("a file");
    std::io::Write::write_all(&mut file, bytes).expect("writes");
    format::decode(SharedFile::from_file(file).expect("a file"), key)
}

/// How long the head in `bytes` is.
fn head(bytes: &[u8]) -> usize {
    let (_, length) = bytes.split_last_chunk().expect("a length");
    u32::from_le_bytes(*length) as usize
}

/// Makes the sums those of `bytes` as they are now, of which the metadata are one piece.
fn set_sums(bytes: &mut [u8]) {
    let head = head(bytes);
    let end = bytes.len() - 4;
    for part in [0..head, head..end] {
        if let Some((summed, sum)) = bytes[part].split_last_chunk_mut() {
            *sum = crc32fast::hash(summed).to_le_bytes();
        }
    }
}

/// All that a memory says, with metadata read.
fn said(memory: &Memory) -> Vec<String> {
    let mut lines: Vec<_> = memory
        .dirs
        .iter()
        .map(|(path, dir)| {
            let skills = dir.skills.iter().map(|known| {
                let known = known.as_ref()?;
                let record = known.record(&memory.records)?;
                Some((known.stat(7, &memory.records), record.meta("abc"), record.signs))
            });
            format!("{path:?} {:?} {:?} {:?}", dir.stat, dir.listing, skills.collect::<Vec<_>>())
        })
        .collect();
    lines.sort();
    lines
}

proptest! {
    #[test]
    fn what_is_written_is_read(memory in memory()) {
        let bytes = encode(&memory, &key()).expect("small enough");
        let read = decode(&bytes, &key()).expect("whole");
        prop_assert_eq!(said(&read), said(&memory));
        prop_assert_eq!(encode(&read, &key()), Some(bytes.clone()), "from what was written, too");
        prop_assert!(decode(&bytes, &Digest::of(b"other")).is_none());
    }

    /// A cache that was damaged, or that somebody else wrote, is none; where only metadata were, nothing is
    /// known of the skills that they are of.
    #[test]
    fn a_changed_byte_or_a_cut_is_no_memory(memory in memory(), at: prop::sample::Index, bit in 0..8_u8) {
        let mut bytes = encode(&memory, &key()).expect("small enough");
        let (at, metas) = (at.index(bytes.len()), head(&bytes)..bytes.len() - 4);
        prop_assert!(decode(&bytes[..at], &key()).is_none());
        bytes[at] ^= 1 << bit;
        let read = decode(&bytes, &key());
        prop_assert_eq!(read.is_some(), metas.contains(&at));
        let dirs = read.iter().flat_map(|read| read.dirs.values().map(|dir| (&dir.skills, &read.records)));
        for (skills, records) in dirs {
            prop_assert!(skills.iter().flatten().all(|known| known.record(records).is_none()));
        }
    }

    /// A right checksum proves nothing: whatever follows is read without a panic.
    #[test]
    fn hostile_bytes_are_read_safely(memory in memory(), at: prop::sample::Index, noise: [u8; 4]) {
        let mut bytes = encode(&memory, &key()).expect("small enough");
        let at = at.index(bytes.len() - 4);
        for (byte, noise) in bytes[at..].iter_mut().zip(noise) {
            *byte = noise;
        }
        if (head(&bytes) + 4) < bytes.len() {
            set_sums(&mut bytes);
        }
        if let Some(read) = decode(&bytes, &key()) {
            for dir in read.dirs.values() {
                prop_assert_eq!(dir.listing.len(), dir.skills.len());
                prop_assert!(dir.listing.iter().all(|(name, _)| !name.contains('/') && name != ".."));
                for known in dir.skills.iter().flatten() {
                    let record = known.record(&read.records).expect("inside");
                    let _ = (record.meta("abc"), record.name("abc"), record.description());
                }
            }
        }
    }
}

/// All that the tests write is long gone then.
const LATER: Moment = Moment { seconds: 1 << 40, nanoseconds: 0 };

/// The skills' names and descriptions, as a run of the program at `now` finds them with its memory.
fn run(world: &World, now: Moment) -> Vec<(String, String)> {
    let settings = world.settings(&[]);
    let sources = default_sources(&settings).expect("places");
    let mut memory = Memory::kept_at(&settings, &sources, &Policy::DEFAULT, now);
    let found = discover_again(&sources, &Policy::DEFAULT, &mut memory, now).expect("no error");
    let skills = found.skills.iter();
    skills.map(|skill| (skill.meta.name.clone(), skill.meta.description.clone())).collect()
}

/// As [`run`], of which all is what a run without a memory finds; the names.
fn names(world: &World) -> String {
    let settings = world.settings(&[]);
    let sources = default_sources(&settings).expect("places");
    let mut memory = Memory::kept_at(&settings, &sources, &Policy::DEFAULT, LATER);
    let found = discover_again(&sources, &Policy::DEFAULT, &mut memory, LATER).expect("no error");
    let fresh = discover(&sources);
    assert_eq!(found.skills, fresh.skills);
    let told = |list: &[Arc<Diagnostic>]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(told(&found.diagnostics), told(&fresh.diagnostics));
    found.skills.iter().map(|skill| skill.meta.name.as_str()).collect::<Vec<_>>().join(" ")
}

/// The file of the cache.
fn file(world: &World) -> Option<PathBuf> {
    let dir = world.settings(&[]).dirs.cache.expect("a cache").join(INDEXES);
    fs::list_dir(&dir).expect("lists").first().map(|name| dir.join(name))
}

/// Conflict C17: whatever is done between two runs, the second tells what a run without a memory does.
#[cfg(unix)]
#[test]
fn a_memory_never_tells_what_is_no_longer_so() {
    let world = World::new();
    for (dir, name) in [("a", "a"), ("b", "b"), ("group/c", "c"), ("none/x/y", "y")] {
        world.skill(&format!(".agents/skills/{dir}"), name);
    }
    world.write(".agents/skills/broken/SKILL.md", "---\nname: broken\n---\n");
    let odd = "---\nname: odd\ndescription: d\nhooks: x\nmetadata:\n  a: b\n---\n";
    world.write(".agents/skills/odd/SKILL.md", odd);
    for _ in 0..3 {
        assert_eq!(names(&world), "a b c y odd");
    }
    world.write(".agents/skills/b/SKILL.md", &skill_text("b").replace("Does", "DOES"));
    assert!(run(&world, LATER)[1].1.starts_with("DOES"), "of the same length");
    world.skill(".agents/skills/group/d", "d");
    assert_eq!(names(&world), "a b c d y odd");
    fs::remove_tree(&world.project().join(".agents/skills/a")).expect("removes");
    assert_eq!(names(&world), "b c d y odd");
    world.skill("elsewhere", "linked");
    world.link("../../elsewhere", ".agents/skills/a");
    assert_eq!(names(&world), "linked b c d y odd");
    world.skill("elsewhere", "changed");
    assert_eq!(names(&world), "changed b c d y odd");
    world.write(".agents/skills/b/SKILL.md", "no frontmatter");
    assert_eq!(names(&world), "changed c d y odd");
    world.skill(".agents/skills/none", "none");
    assert_eq!(names(&world), "changed c d none odd");
}

/// What is as it was is not read: what the memory says of it is believed.
#[cfg(unix)]
#[test]
fn what_is_remembered_is_not_read_again() {
    let world = World::new();
    world.skill(".agents/skills/a", "a");
    let before = run(&world, LATER);
    assert_eq!(run(&world, LATER), before);
    let file = file(&world).expect("a file");
    let mut bytes = fs::read_capped(&file, MAX_FILE).expect("reads").expect("there");
    let at = memchr::memmem::find(&bytes, b"Does a").expect("the description");
    bytes[at] = b'G';
    set_sums(&mut bytes);
    fs::write_small(&file, &bytes).expect("writes");
    assert!(run(&world, LATER)[0].1.starts_with("Goes a"));
    for at in [20, at] {
        bytes[at] ^= 1;
        fs::write_small(&file, &bytes).expect("writes");
        assert_eq!(run(&world, LATER), before, "a damaged one is none");
    }
}

/// Of thousands of skills the metadata are in several pieces. Read piece by piece they are the same, and the skills
/// of a damaged one are read again.
#[cfg(unix)]
#[test]
fn metadata_are_in_pieces() {
    let world = World::new();
    let long = "A long text. ".repeat(70);
    for number in 0..200 {
        // A name of its own stands in the metadata.
        let (dir, name) = (format!(".agents/skills/s{number:03}/SKILL.md"), number % 7);
        let name = if name == 0 { "other".into() } else { format!("s{number:03}") };
        world.write(&dir, &format!("---\nname: {name}\ndescription: {number} {long}\n---\n"));
    }
    let settings = world.settings(&[]);
    let sources = default_sources(&settings).expect("places");
    let found = || {
        let mut memory = Memory::kept_at(&settings, &sources, &Policy::DEFAULT, LATER);
        let found = discover_again(&sources, &Policy::DEFAULT, &mut memory, LATER).expect("no error");
        found.skills
    };
    let text = |skill: &Skill, window: &mut Window| {
        let (name, description) = skill.texts_in(window);
        format!("{name}: {description}")
    };
    let fresh = discover(&sources).skills;
    found();
    let file = file(&world).expect("a file");
    let mut bytes = fs::read_capped(&file, MAX_FILE).expect("reads").expect("there");
    assert!(bytes.len() - head(&bytes) > 2 * (64 << 10), "several pieces");
    for _ in 0..2 {
        let mut window = Window::default();
        let skills = found();
        for (skill, fresh) in skills.iter().zip(&fresh).chain(skills.iter().zip(&fresh).rev()) {
            assert_eq!(text(skill, &mut window), text(fresh, &mut Window::default()));
        }
        assert_eq!(skills, fresh);
        // Then once more with damage in the second piece.
        let at = head(&bytes) + (70 << 10);
        bytes[at] ^= 1;
        fs::write_small(&file, &bytes).expect("writes");
    }
}

/// git's race: what is young may change once more and look the same, so it is read again.
#[cfg(unix)]
#[test]
fn what_is_young_is_not_remembered() {
    let world = World::new();
    world.skill(".agents/skills/a", "a");
    let remembered = || {
        let bytes = fs::read_capped(&file(&world).expect("a file"), MAX_FILE).expect("reads").expect("there");
        memchr::memmem::find(&bytes, b"Does a").is_some()
    };
    run(&world, Moment { seconds: 1, nanoseconds: 0 });
    assert!(!remembered(), "it is younger than the reading");
    run(&world, LATER);
    assert!(remembered());
    run(&world, Moment::now());
    assert!(!remembered(), "the clock was set back");
}

/// Without a place nothing is remembered, and with another policy the same files are other skills.
#[test]
fn memories_are_kept_apart() {
    let world = World::new();
    world.write(".agents/skills/a/SKILL.md", "---\nname: a\ndescription: d\n---\n");
    let library = |policy: Policy| {
        let settings = world.settings(&[]);
        Library::of_places(&settings, policy).expect("places").remembered(&settings)
    };
    let versioned = Policy { default_version: Some("1.0"), ..Policy::DEFAULT };
    for _ in 0..2 {
        assert_eq!(library(Policy::DEFAULT).get("a").expect("found").meta.version, None);
        assert_eq!(library(versioned.clone()).get("a").expect("found").meta.version.as_deref(), Some("1.0"));
    }
    let mut nowhere = world.settings(&[]);
    nowhere.dirs.cache = None;
    let library = Library::of_places(&nowhere, Policy::DEFAULT).expect("places").remembered(&nowhere);
    assert!(library.get("a").is_ok());
}
