//! Paths have the same meaning for each verb: each case is tested with all that take paths.

use super::*;
use crate::engine::testing::World;
use crate::error::ErrorKind;
use crate::ops::fmt::{FmtRequest, fmt};
use crate::ops::validate::{ValidateRequest, validate};

/// Returns the files that `paths` mean, as they are shown, or the message: the same for every verb.
#[track_caller]
fn files(world: &World, paths: &[&str]) -> Result<Vec<String>> {
    let context = world.context();
    let targets: Vec<Target> = paths.iter().map(|path| Target::Path(path.into())).collect();
    let shown = |path: &Path| path.to_string_lossy().replace('\\', "/");
    let request = FmtRequest { targets: targets.clone(), dry_run: true };
    let formatted = fmt(&context, &request);
    let formatted: Result<Vec<String>> =
        formatted.map(|outcome| outcome.files.iter().map(|file| shown(&file.file)).collect());
    let request = ValidateRequest { targets, ..ValidateRequest::default() };
    let validated = validate(&context, &request);
    let validated: Result<Vec<String>> =
        validated.map(|outcome| outcome.skills.iter().map(|skill| shown(&skill.file)).collect());
    match (&formatted, &validated) {
        (Ok(one), Ok(other)) => assert_eq!(one, other, "{paths:?}"),
        (Err(one), Err(other)) => {
            assert_eq!((one.kind(), one.to_string()), (other.kind(), other.to_string()), "{paths:?}");
            assert_eq!(one.hints(), other.hints(), "{paths:?}");
        }
        _ => panic!("{paths:?}: {formatted:?} and {validated:?}"),
    }
    validated
}

/// A file, a skill's directory, a directory of skills, a whole repository, a pattern.
#[test]
fn every_way_to_name_skills() {
    let world = World::new();
    for dir in ["skills/b", "skills/a", "skills/a/nested", "elsewhere/deep/c", ".agents/skills/d"] {
        world.skill(dir, "x");
    }
    for dir in ["node_modules/e", "target/e", ".git/e", ".venv/lib/e", "conda/e", "cache/e"] {
        world.skill(dir, "x");
    }
    for file in [".venv/pyvenv.cfg", "conda/conda-meta/history", "cache/CACHEDIR.TAG"] {
        world.write(file, "");
    }
    let deep = ["deep"; 40].join("/");
    world.skill(&deep, "x");
    let deepest = format!("./{deep}/SKILL.md");
    world.write("skills/mixed/Skill.md", "x");
    for file in ["skills/README.md", "skills/a/scripts/x.py", "skills/b/x"] {
        world.write(file, "x");
    }
    let repository = [
        "./.agents/skills/d/SKILL.md",
        &deepest,
        "./elsewhere/deep/c/SKILL.md",
        "./skills/a/SKILL.md",
        "./skills/a/nested/SKILL.md",
        "./skills/b/SKILL.md",
        "./skills/mixed/Skill.md",
    ];
    let absolute = world.project().join("skills/b").to_string_lossy().into_owned();
    let in_absolute = format!("{absolute}/SKILL.md");
    for (paths, expected) in [
        (&["skills/a/SKILL.md"][..], &["skills/a/SKILL.md"][..]),
        (&["skills/mixed/Skill.md"], &["skills/mixed/Skill.md"]),
        (&["skills/a"], &["skills/a/SKILL.md", "skills/a/nested/SKILL.md"]),
        (&["skills/a/scripts/x.py", "skills/b/x"], &["skills/a/SKILL.md", "skills/b/SKILL.md"]),
        (&["skills/a/nested/../scripts/x.py"], &["skills/a/nested/../SKILL.md"]),
        (&["./skills/b/"], &["./skills/b/SKILL.md"]),
        (&["skills/a/nested"], &["skills/a/nested/SKILL.md"]),
        (&["."], &repository),
        (&[".venv"], &[".venv/lib/e/SKILL.md"]),
        (&[&absolute], &[&in_absolute]),
        (
            &["skills/*"],
            &["skills/a/SKILL.md", "skills/a/nested/SKILL.md", "skills/b/SKILL.md", "skills/mixed/Skill.md"],
        ),
        (&["skills/**/SKILL.md"], &["skills/a/SKILL.md", "skills/a/nested/SKILL.md", "skills/b/SKILL.md"]),
        (&["skills/[b]"], &["skills/b/SKILL.md"]),
        (
            &["skills/b", "skills/*", "skills/a/../a"],
            &["skills/b/SKILL.md", "skills/a/SKILL.md", "skills/a/nested/SKILL.md", "skills/mixed/Skill.md"],
        ),
    ] {
        assert_eq!(files(&world, paths).expect("found"), expected, "{paths:?}");
    }
}

#[test]
fn what_names_no_skill_is_a_wrong_request() {
    let world = World::new();
    world.write("docs/README.md", "");
    for (path, message) in [
        ("nowhere", "`nowhere` does not exist"),
        ("nowhere/SKILL.md", "`nowhere/SKILL.md` does not exist"),
        ("docs/README.md/x", "`docs/README.md/x` does not exist"),
        ("docs", "`docs` has no skills: there is no `SKILL.md` in it"),
        ("docs/README.md", "`docs/README.md` belongs to no skill: there is no `SKILL.md` above it"),
        ("docs/*", "`docs/*` matches no skill"),
        ("docs/[a", "`docs/[a` is not a pattern: invalid range pattern"),
    ] {
        let error = files(&world, &[path]).expect_err(path);
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Usage, message));
        assert!(!error.hints().is_empty());
    }
}

/// An existing name with pattern characters is a name.
#[cfg(unix)]
#[test]
fn a_path_that_is_there_is_no_pattern() {
    let world = World::new();
    world.skill("[ab]", "x");
    world.skill("a", "a");
    assert_eq!(files(&world, &["[ab]"]).expect("found"), ["[ab]/SKILL.md"]);
}

/// Agents' directories are full of links; the traversal below them follows none.
#[cfg(unix)]
#[test]
fn links_to_skills_are_followed_at_the_top_only() {
    let world = World::new();
    world.skill(".agents/skills/pdf", "pdf");
    world.skill("apart/deep", "deep");
    world.link("../../.agents/skills/pdf", ".claude/skills/alias");
    world.link("../../.agents/skills/pdf", ".claude/skills/pdf");
    world.link("../../nowhere", ".claude/skills/gone");
    world.link("../../../apart", ".claude/skills/more/link");
    assert_eq!(files(&world, &[".claude/skills"]).expect("found"), [".claude/skills/alias/SKILL.md"]);
    let both = files(&world, &[".agents/skills", ".claude/skills"]).expect("found");
    assert_eq!(both, [".agents/skills/pdf/SKILL.md"], "each once");
    world.link("nowhere", "dangling/SKILL.md");
    assert_eq!(files(&world, &["dangling"]).expect("there"), ["dangling/SKILL.md"]);
}

/// The order depends neither on the number of threads nor on the file system.
#[test]
fn many_skills_come_in_the_order_of_their_paths() {
    let world = World::new();
    let mut expected = Vec::new();
    for number in 0..150 {
        let dir = if number % 3 == 0 { format!("s/{number}/deep") } else { format!("s/{number}") };
        world.skill(&dir, "x");
        expected.push(format!("{dir}/SKILL.md"));
    }
    expected.sort_by(|a, b| Path::new(a).cmp(Path::new(b)));
    assert_eq!(files(&world, &["s"]).expect("found"), expected);
}

/// Several files are read before the first is processed, but not large ones.
#[test]
fn a_file_is_read_the_same_among_others() {
    let world = World::new();
    let line = "A line of a text that is longer than what is read ahead.\n";
    for (number, lines) in [0, 10_000, 1, 200_000, 2].into_iter().enumerate() {
        let text = format!("---\nname: s{number}\ndescription: x\n---\n{}", line.repeat(lines));
        world.write(&format!("all/s{number}/SKILL.md"), &text);
    }
    let found = |paths: &[String]| {
        let targets = paths.iter().map(|path| Target::Path(path.into())).collect();
        let request = ValidateRequest { targets, ..ValidateRequest::default() };
        let skills = validate(&world.context(), &request).expect("checks").skills;
        skills.into_iter().map(|skill| (skill.file, skill.findings)).collect::<Vec<_>>()
    };
    let together = found(&["all".to_owned()]);
    let alone: Vec<String> = (0..5).map(|number| format!("all/s{number}")).collect();
    assert_eq!(together, found(&alone));
    let kinds: Vec<_> =
        together.iter().map(|(_, findings)| findings.iter().any(|f| f.rule == "file-kind")).collect();
    assert_eq!(kinds, [false, false, false, true, false], "one is larger than any skill may be");
}

/// Texts and files keep the order in which the user named them.
#[test]
fn a_text_stands_among_files() {
    let world = World::new();
    world.write("a/SKILL.md", "---\nname: 'a'\ndescription: x\n---\n");
    let text = |name: &str| Target::Text {
        bytes: format!("---\nname:  {name}\ndescription: x\n---\n").into_bytes(),
        file: (name == "b").then(|| "b/SKILL.md".into()),
    };
    let targets = vec![text("b"), Target::Path("a".into()), text("c")];
    let outcome = fmt(&world.context(), &FmtRequest { targets: targets.clone(), dry_run: false });
    let outcome = outcome.expect("formats");
    let shown: Vec<_> = outcome.files.iter().map(|file| file.file.to_string_lossy()).collect();
    assert_eq!(shown, ["b/SKILL.md", "a/SKILL.md", "<stdin>"]);
    let texts: Vec<_> = outcome.files.iter().map(|file| file.text.as_deref()).collect();
    let canonical = |name: &str| format!("---\nname: {name}\ndescription: x\n---\n");
    assert_eq!(texts, [Some(&*canonical("b")), None, Some(&*canonical("c"))]);
    assert_eq!(fs::kind(&world.project().join("b")).expect("looks"), None, "a text is written nowhere");
    let outcome = validate(&world.context(), &ValidateRequest { targets, ..ValidateRequest::default() });
    let outcome = outcome.expect("checks");
    let shown: Vec<_> = outcome.skills.iter().map(|skill| skill.file.to_string_lossy()).collect();
    assert_eq!(shown, ["b/SKILL.md", "a/SKILL.md", "<stdin>"]);
}

/// An error in one of several paths leaves all files as they are.
#[test]
fn nothing_is_written_where_a_path_is_wrong() {
    let world = World::new();
    let odd = "---\nname: 'a'\ndescription: x\n---\n";
    world.write("a/SKILL.md", odd);
    let targets = vec![Target::Path("a".into()), Target::Path("nowhere".into())];
    fmt(&world.context(), &FmtRequest { targets, dry_run: false }).expect_err("one does not exist");
    let text = fs::read_text(&world.project().join("a/SKILL.md"), 99).expect("reads");
    assert_eq!(text.as_deref(), Some(odd));
}
