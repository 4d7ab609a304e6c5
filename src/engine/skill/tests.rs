use super::*;
use crate::engine::scan::{self, Seeing};
use crate::engine::sources::Entry;
use crate::engine::testing::World;
use crate::engine::{discover, discover_with};

/// All that can be asked of a skill without its parts.
fn answers(skill: &Skill, source: &Source) -> String {
    let texts = (skill.name(), skill.description(), skill.file(), skill.directory());
    let odd = (skill.has_extra(), skill.oddities(), skill.misspelled());
    let place = (skill.rank_in(source), skill.is_named_as_in(source), skill.path_below(source));
    let (mut window, mut path) = (Window::default(), String::new());
    let told = (skill.texts_in(&mut window), skill.file_text_in(&mut path));
    format!("{texts:?} {odd:?} {place:?} {told:?}")
}

/// A skill that is made of a record is the one that is made of its file, and gives the same answers, before
/// and after its parts were asked for.
#[test]
fn a_record_tells_what_the_file_does() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/engine");
    let world = World::new();
    world.skill("more/plain", "plain");
    world.skill("more/other", "another-name");
    let all = "---\nname: all\ndescription: >\n  d\n  e\nlicense: MIT\ncompatibility: git\nallowed-tools: Read Bash(a b)\nmetadata:\n  version: 1.0\n  tags: a, b\nhooks: [x, {y: z}]\n---\n";
    world.write("more/all/SKILL.md", all);
    world.write("more/é/SKILL.md", "---\nname: é\ndescription: \"ü\"\n---\n");
    let mut recorded = 0;
    for dir in [fixtures, world.project().join("more")] {
        let source = Source::new(SourceKind::Extra, dir);
        for (_, policy) in Policy::PRESETS {
            let Ok(found) = discover_with(std::slice::from_ref(&source), &policy) else { continue };
            for skill in found.skills.iter().chain(&found.shadowed) {
                recorded += usize::from(skill.record().is_some());
                let before = answers(skill, &source);
                let entry = Entry { dir: skill.dir.clone(), real: skill.real.clone() };
                let Seeing::Skill(read) = scan::read(&policy, &source, entry) else { panic!("{skill:?}") };
                assert!(read.record().is_none());
                assert_eq!(*read, **skill);
                assert_eq!(before, answers(&read, &source));
                assert_eq!(before, answers(skill, &source));
            }
        }
    }
    assert!(!cfg!(unix) || recorded > 20, "{recorded}");
}

/// What was not asked for is not made.
#[cfg(unix)]
#[test]
fn the_parts_of_thousands_are_not_made_to_be_found() {
    let world = World::new();
    world.skill("s/a", "a");
    let found = discover(&[Source::new(SourceKind::Extra, world.project().join("s"))]);
    let is_made = |skill: &Skill| !matches!(&skill.0, Form::Brief(_, parts) if parts.get().is_none());
    let skill = &found.skills[0];
    assert_eq!(skill.name(), "a");
    assert!(!is_made(skill));
    assert_eq!(skill.meta.name, "a");
    assert!(is_made(skill));
}
