use super::*;
use crate::engine::default_sources;
use crate::engine::testing::World;

fn found(world: &World) -> Discovery {
    discover(&default_sources(&world.context().settings).expect("sources"))
}

/// Returns the directories of `skills` below the world's root, with `/`.
fn dirs(world: &World, skills: &[Arc<Skill>]) -> Vec<String> {
    let below = |skill: &Arc<Skill>| skill.dir.strip_prefix(world.root()).expect("below").to_owned();
    skills.iter().map(|skill| below(skill).to_string_lossy().replace('\\', "/")).collect()
}

/// S0-US1.1, S0-FR-001, S0-FR-003, S0-FR-017, S0-FR-038.
#[test]
fn three_skills_are_found_with_their_metadata() {
    let world = World::new();
    for name in ["c", "a", "b"] {
        world.skill(&format!(".claude/skills/{name}"), name);
    }
    let found = found(&world);
    let skills: Vec<_> =
        found.skills.iter().map(|s| (s.meta.name.as_str(), s.meta.description.as_str())).collect();
    assert_eq!(
        skills,
        [
            ("a", "Does a. Use it in tests."),
            ("b", "Does b. Use it in tests."),
            ("c", "Does c. Use it in tests."),
        ]
    );
    assert!(found.diagnostics.is_empty());
}

/// S0-US1.2, S0-US1.3, S0-E9, S0-FR-004, S0-FR-005, S0-FR-038, S0-SC-007, conflict C14. A file stands in for a
/// directory without read permission, which would not stop tests that run as the superuser.
#[test]
fn missing_empty_and_unreadable_sources_are_empty() {
    let world = World::new();
    assert!(found(&world).skills.is_empty());
    fs::create_dir_all(&world.project().join(".claude/skills")).expect("creates");
    assert!(found(&world).diagnostics.is_empty());
    world.write(".agents/skills", "a file");
    world.skill(".claude/skills/a", "a");
    let found = found(&world);
    assert_eq!(found.skills.len(), 1, "the other sources are searched");
    let message = found.diagnostics[0].to_string();
    assert!(message.starts_with("no skills were looked for in `"), "{message}");
    assert!(message.contains(".agents/skills`: "), "{message}");
}

/// S0-E3, S0-FR-006, S0-SC-007, conflict C8: a bad skill does not affect the others.
#[test]
fn what_is_no_skill_is_skipped_and_what_is_a_bad_one_is_told() {
    let world = World::new();
    world.write(".agents/skills/README.md", "");
    world.write(".agents/skills/none/notes.md", "");
    world.write(".agents/skills/bad/SKILL.md", "---\nname: bad\n---\n");
    world.skill(".agents/skills/good", "good");
    world.write(".agents/skills/good/.hidden", "");
    world.write(".agents/skills/good/scripts/\u{1}.py", "\0");
    let found = found(&world);
    assert_eq!(dirs(&world, &found.skills), ["project/.agents/skills/good"]);
    let [diagnostic] = &found.diagnostics[..] else { panic!("{:?}", found.diagnostics) };
    let message = diagnostic.to_string();
    assert!(
        message.ends_with(
            "SKILL.md` cannot be loaded: the required field `description` is missing from the frontmatter"
        ),
        "{message}"
    );
}

/// S0-FR-002, conflict C13.
#[test]
fn another_case_is_found_and_told() {
    let world = World::new();
    world.write(".agents/skills/a/Skill.md", "---\nname: a\ndescription: x\n---\n");
    let found = found(&world);
    assert_eq!(found.skills[0].meta.name, "a");
    assert!(matches!(&*found.diagnostics[0], Diagnostic::Spelling(file) if file.ends_with("a/Skill.md")));
}

/// S0-E6, conflict C2: a name is a key, with any characters.
#[test]
fn names_are_used_as_they_are() {
    let world = World::new();
    for (dir, name) in [("a", "My Skill: v2!"), ("b", "../../etc")] {
        world.write(
            &format!(".agents/skills/{dir}/SKILL.md"),
            &format!("---\nname: '{name}'\ndescription: x\n---\n"),
        );
    }
    let names: Vec<_> = found(&world).skills.iter().map(|skill| skill.meta.name.clone()).collect();
    assert_eq!(names, ["My Skill: v2!", "../../etc"]);
}

/// S0-E7, S0-A11, conflict C1.
#[test]
fn the_first_of_a_name_is_used_and_the_others_are_told() {
    let world = World::new();
    for dir in
        [".agents/skills/copy", ".agents/skills/pdf", ".claude/skills/pdf", "../home/.agents/skills/pdf"]
    {
        world.skill(dir, "pdf");
    }
    world.skill("../home/.claude/skills/x", "x");
    let found = found(&world);
    assert_eq!(dirs(&world, &found.skills), ["project/.agents/skills/pdf", "home/.claude/skills/x"]);
    assert_eq!(
        dirs(&world, &found.shadowed),
        ["project/.agents/skills/copy", "project/.claude/skills/pdf", "home/.agents/skills/pdf"]
    );
    assert_eq!(found.diagnostics.len(), 3);
    let message = found.diagnostics[1].to_string();
    assert!(message.contains(".agents/skills/pdf` is used, `"), "{message}");
    assert!(message.ends_with(".claude/skills/pdf` is ignored"), "{message}");
}

/// S0-US2.1, S0-FR-016, S3-FR-7: a skill that cannot be loaded as a whole, because of text after its frontmatter, is
/// found.
#[test]
fn no_body_is_read() {
    let world = World::new();
    let text = crate::engine::testing::skill_text("a").replace("---\n\n", "allowed-tools: Read\n---\n\n");
    world.write(".claude/skills/a/SKILL.md", &(text + &"x".repeat(11 << 20)));
    let found = found(&world);
    let [skill] = &found.skills[..] else { panic!("{:?}", found.diagnostics) };
    assert_eq!(
        (skill.meta.name.as_str(), skill.meta.description.as_str()),
        ("a", "Does a. Use it in tests.")
    );
    assert_eq!(skill.meta.allowed_tools, ["Read"]);
    assert!(skill.dir.ends_with(".claude/skills/a"));
    assert!(matches!(*found.diagnostics[0], Diagnostic::TooLarge(_)), "{:?}", found.diagnostics);
    let library = crate::engine::Library::of_places(&world.settings(&[]), LoadProfile::DEFAULT);
    let library = library.expect("places");
    assert!(library.get("a").and_then(|skill| Ok(library.instructions(&skill)?)).is_err(), "too large");
}

#[cfg(unix)]
#[test]
fn a_link_to_another_source_s_skill_is_that_skill() {
    let world = World::new();
    world.skill(".agents/skills/pdf", "pdf");
    world.link("../../.agents/skills/pdf", ".claude/skills/pdf");
    world.link("../.agents/skills", "../home/.claude/skills");
    fs::create_dir_all(&world.home().join(".agents")).expect("creates");
    world.link("../../project/.agents/skills", "../home/.agents/skills");
    let found = found(&world);
    assert_eq!(dirs(&world, &found.skills), ["project/.agents/skills/pdf"]);
    assert!(found.shadowed.is_empty() && found.diagnostics.is_empty(), "{:?}", found.diagnostics);
}
