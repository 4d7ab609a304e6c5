//! Finds one skill by its name.

use std::path::Path;
use std::sync::Arc;

use super::diagnostic::{Diagnostic, key};
use super::find::Disk;
use super::library::{LookupError, NotFound, Snapshot};
use super::load::SKILL_FILE;
use super::scan::read;
use super::skill::Skill;
use super::sources::{SkillDir, Source, SourceKind, default_sources};
use crate::advice::{Verb, Warning, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs::{self, Kind};
use crate::profile::LoadProfile;
use crate::skill::find::{Holds, is_skill_file};
use crate::source::local;

/// The maximum number of diagnostics that an error lists.
const MAX_DIAGNOSTICS: usize = 20;

/// A skill that was found.
#[derive(Debug)]
pub struct Hit {
    /// The skill.
    pub skill: Arc<Skill>,
    /// Warnings about the skill.
    pub warnings: Vec<Warning>,
}

/// Finds the skill `name` in `snapshot`, as [`Snapshot::get`] does, with warnings about it.
pub(crate) fn find_among(snapshot: &Snapshot, name: &str) -> Result<Hit, NotFound> {
    match snapshot.get(name) {
        Ok(skill) => Ok(Hit { skill: Arc::clone(skill), warnings: warnings(snapshot, skill, name) }),
        Err(LookupError::Unknown(unknown)) => {
            let told = snapshot.diagnostics().iter().filter(|diagnostic| diagnostic.is_told());
            let diagnostics = told.take(MAX_DIAGNOSTICS);
            let error = unknown.clone().into_error(diagnostics.map(ToString::to_string));
            Err(NotFound { reason: unknown.into(), error })
        }
        Err(LookupError::Failed(diagnostic)) => Err(failed(name, diagnostic)),
    }
}

/// Returns the error for a skill that was requested as `name` and cannot be used because of `diagnostic`.
pub(crate) fn failed(name: &str, diagnostic: Arc<Diagnostic>) -> NotFound {
    match &*diagnostic {
        Diagnostic::Skill { file, reason } => {
            let error = reason.to_error(name, file);
            NotFound { reason: LookupError::Failed(diagnostic), error }
        }
        _ => LookupError::Failed(diagnostic).into(),
    }
}

/// Reads the skill at `path`, which is its directory or its `SKILL.md`, anywhere on disk; `typed` is the text that the
/// user typed. If a search would cover the directory, the result is the skill that the search finds there.
pub(crate) fn find_at(context: &Context, path: &Path, typed: &str) -> Result<Hit> {
    let no_skill = |why: &str| {
        Err(Error::usage(format!("`{typed}` {why}")).hint(message!(
            format_args!("a skill is a directory with a `{SKILL_FILE}`; "),
            Verb::Create.call().word("NAME"),
            " makes one"
        )))
    };
    let Some(mut real) = fs::real_path(path)? else {
        let meant = local::meant(Path::new(typed), path).unwrap_or_else(|| "check the spelling".into());
        return Err(Error::usage(format!("`{typed}` does not exist")).hint(meant));
    };
    if fs::kind(&real)? != Some(Kind::Directory) {
        let is_skill = real.file_name().is_some_and(is_skill_file);
        if !is_skill || !real.pop() {
            return no_skill(&format!("is neither a directory nor a `{SKILL_FILE}`"));
        }
    }
    let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
        return no_skill("is not the directory of a skill");
    };
    let mut known = default_sources(&context.settings)?.into_iter();
    let known = known.find(|source| source.real().is_ok_and(|dir| dir.as_deref() == Some(parent)));
    let source = known.unwrap_or_else(|| Source::new(SourceKind::Extra, parent.to_owned()));
    let entry = SkillDir { dir: source.dir.join(name), real: real.clone() };
    let Holds::Skill(file) = Disk::default().holds(&entry)? else {
        return no_skill(&format!("has no skills: there is no `{SKILL_FILE}` in it"));
    };
    match read(&LoadProfile::DEFAULT, &source, &entry, &file) {
        Ok((skill, _)) => {
            let mut warnings = Vec::new();
            if name.to_str().is_none_or(|name| key(&skill.meta.name) != key(name)) {
                warnings.push(calls_itself(&skill));
            }
            warnings.extend(skill.misspelled().map(|diagnostic| Warning::from(&diagnostic)));
            Ok(Hit { skill: Arc::new(skill), warnings })
        }
        Err(Diagnostic::Skill { file, reason }) => Err(reason.to_error(typed, &file)),
        Err(other) => Err(Error::integrity(other.to_string())),
    }
}

/// Returns the warnings about `skill` of `snapshot`, which was requested as `name`.
fn warnings(snapshot: &Snapshot, skill: &Skill, name: &str) -> Vec<Warning> {
    let named_so = |asked: &str| key(&skill.meta.name) == key(asked);
    let is_asked_for = named_so(name)
        || snapshot.sources().iter().any(|source| {
            let inside = source.inside(name);
            inside
                .is_some_and(|inside| named_so(inside) || skill.path_below(source).as_deref() == Some(inside))
        });
    let mut warnings = Vec::new();
    if !is_asked_for {
        warnings.push(calls_itself(skill));
    }
    warnings.extend(skill.misspelled().map(|diagnostic| Warning::from(&diagnostic)));
    let diagnostics = snapshot.diagnostics().iter();
    let of_sources = diagnostics.clone().filter(|diagnostic| matches!(***diagnostic, Diagnostic::Source(_)));
    let hidden = diagnostics.filter(
        |diagnostic| matches!(&***diagnostic, Diagnostic::Shadowed { used, .. } if *used == skill.dir),
    );
    let hidden = hidden.filter(|diagnostic| diagnostic.is_told());
    let diagnostics = hidden.chain(snapshot.broken(name)).chain(of_sources);
    warnings.extend(diagnostics.map(|diagnostic| Warning::from(&**diagnostic)));
    warnings
}

/// Returns the warning for a skill whose name differs from that of its directory.
pub(crate) fn calls_itself(skill: &Skill) -> Warning {
    let told = format!("the skill in `{}` calls itself `{}`", skill.dir.display(), skill.meta.name);
    Warning::new("name-directory", told)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Library;
    use crate::engine::testing::World;
    use crate::error::ErrorKind;

    fn hit(world: &World, name: &str) -> (String, Vec<String>) {
        let hit = world.find(name).expect(name);
        let dir =
            hit.skill.dir.strip_prefix(world.root()).expect("below").to_string_lossy().replace('\\', "/");
        (dir, hit.warnings.iter().map(ToString::to_string).collect())
    }

    /// S0-US2.2, S0-FR-018, S0-FR-040.
    #[test]
    fn by_directory_and_by_the_name_inside() {
        let world = World::new();
        world.skill(".agents/skills/pdf", "pdf");
        world.skill(".claude/skills/readers", "Word Reader!");
        assert_eq!(hit(&world, "pdf"), ("project/.agents/skills/pdf".into(), vec![]));
        assert_eq!(hit(&world, "ｐｄｆ").0, "project/.agents/skills/pdf");
        assert_eq!(hit(&world, "Word Reader!"), ("project/.claude/skills/readers".into(), vec![]));
        let (dir, warnings) = hit(&world, "readers");
        assert_eq!(dir, "project/.claude/skills/readers", "as it is listed");
        assert!(warnings[0].ends_with("readers` calls itself `Word Reader!`"), "{warnings:?}");
    }

    /// An author can check a skill before publishing it, as an agent would get it.
    #[test]
    fn a_directory_wherever_it_lies() {
        let world = World::new();
        world.skill("src/pdf", "pdf");
        world.skill("src/readers", "word");
        world.write("src/empty/notes.md", "x");
        world.write("src/bad/SKILL.md", "---\nname: [\n---\n");
        let at = |path: &str| find_at(&world.context(), &world.project().join(path), path);
        for path in ["src/pdf", "src/pdf/SKILL.md", "src/empty/../pdf/"] {
            let hit = at(path).expect(path);
            assert!(hit.skill.real.ends_with("project/src/pdf"), "{path}");
            assert_eq!((hit.skill.kind, hit.warnings.len()), (SourceKind::Extra, 0), "{path}");
        }
        let warnings = at("src/readers").expect("found").warnings;
        assert!(warnings[0].to_string().ends_with("readers` calls itself `word`"), "{warnings:?}");
        for (path, message) in [
            ("src/none", "`src/none` does not exist"),
            ("src/empty", "`src/empty` has no skills: there is no `SKILL.md` in it"),
            ("src/empty/notes.md", "`src/empty/notes.md` is neither a directory nor a `SKILL.md`"),
            ("/", "`/` is not the directory of a skill"),
        ] {
            let error = at(path).expect_err(path);
            assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Usage, message));
        }
        assert_eq!(at("src/bad").expect_err("cannot be loaded").kind(), ErrorKind::Findings);
        // In a directory that is searched, it is the skill that agents find.
        world.skill(".claude/skills/docx", "docx");
        let hit = at(".claude/skills/docx").expect("found").skill;
        assert_eq!((hit.kind, &*hit.source), (SourceKind::Project, "project-claude"));
    }

    /// S0-E7, conflict C1: the result is the same as in a discovery, and both paths are reported.
    #[test]
    fn the_first_source_wins() {
        let world = World::new();
        world.skill(".claude/skills/other", "pdf");
        world.skill("../home/.agents/skills/pdf", "pdf");
        assert_eq!(hit(&world, "pdf").1, [""; 0], "both have the same files");
        world.write("../home/.agents/skills/pdf/more.md", "x");
        let (dir, warnings) = hit(&world, "pdf");
        assert_eq!(dir, "project/.claude/skills/other", "a nearer scope before a better directory");
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        assert!(warning.contains(".claude/skills/other` is used"), "{warning}");
        assert!(warning.contains("home/.agents/skills/pdf` is ignored"), "{warning}");
        let sources = default_sources(&world.context().settings).expect("sources");
        assert!(crate::engine::discover(&sources).skills[0].dir.ends_with("other"));
    }

    /// Conflict C1: of two skills in one source whose directories have their name, the same one is used for every
    /// request.
    #[test]
    fn one_wins_in_a_source_whoever_asks() {
        let world = World::new();
        for (dir, name) in [
            ("a/pdf", "pdf"),
            ("pdf", "pdf"),
            ("a/x", "word"),
            ("b/word", "word"),
            ("c/word", "word"),
            ("a/1", "odt"),
            ("b/2", "odt"),
        ] {
            world.skill(&format!(".agents/skills/{dir}"), name);
        }
        let library = Library::of_places(&world.context().settings, LoadProfile::DEFAULT).expect("places");
        for (name, dir) in [("pdf", "pdf"), ("word", "b/word"), ("odt", "a/1")] {
            for asked in [name.to_owned(), format!("project:{name}")] {
                assert_eq!(hit(&world, &asked).0, format!("project/.agents/skills/{dir}"));
                assert!(library.get(&asked).expect(name).dir.ends_with(dir), "{asked}");
            }
        }
        // If another source hides all of them, each is still found by its source.
        for name in ["pdf", "word", "odt"] {
            world.skill(&format!("../home/.agents/skills/{name}"), name);
        }
        let settings = world.context().settings;
        let mut sources = default_sources(&settings).expect("sources");
        sources.rotate_left(3);
        let library = Library::new(sources.clone(), LoadProfile::DEFAULT);
        for (name, dir) in [("pdf", "pdf"), ("word", "b/word"), ("odt", "a/1")] {
            let asked = format!("project:{name}");
            assert!(
                find_among(&Snapshot::of(&sources, &LoadProfile::DEFAULT).expect("found"), &asked)
                    .expect(name)
                    .skill
                    .dir
                    .ends_with(dir),
                "{asked}"
            );
            assert!(library.get(&asked).expect(name).dir.ends_with(dir), "{asked}");
        }
    }

    /// Conflict C1: a hidden skill is found by its source, as in a library.
    #[test]
    fn the_source_tells_which() {
        let world = World::new();
        world.skill(".agents/skills/pdf", "pdf");
        world.skill(".claude/skills/reader", "pdf");
        world.skill("../home/.agents/skills/pdf", "pdf");
        world.skill("../home/.agents/skills/b/pdf", "pdf");
        world.skill("../home/.agents/skills/c", "PDF reader: fast");
        let library = Library::of_places(&world.context().settings, LoadProfile::DEFAULT).expect("places");
        for (name, dir) in [
            ("project:pdf", "project/.agents/skills/pdf"),
            ("project-claude:pdf", "project/.claude/skills/reader"),
            ("project-claude:reader", "project/.claude/skills/reader"),
            ("user:pdf", "home/.agents/skills/pdf"),
            ("user:b/pdf", "home/.agents/skills/b/pdf"),
            ("user:c", "home/.agents/skills/c"),
            ("PDF reader: fast", "home/.agents/skills/c"),
        ] {
            assert_eq!(hit(&world, name).0, dir, "{name}");
            assert_eq!(library.get(name).expect(name).dir, world.find(name).expect(name).skill.dir);
        }
        for name in ["user:", ":pdf", "user:word", "nobody:pdf", "user:../.agents/skills/pdf", "user:b"] {
            let error = Error::from(world.find(name).expect_err(name));
            assert_eq!(error.to_string(), format!("there is no skill `{name}`"));
        }
    }

    /// S0-E8, S0-FR-019, conflict C15.
    #[test]
    fn an_unknown_name_gets_one_hint() {
        let world = World::new();
        let unknown = |name: &str| Error::from(world.find(name).expect_err("unknown"));
        assert!(unknown("pdf").hints()[0].to_string().contains("`install "));
        for number in 10..35 {
            world.skill(&format!(".agents/skills/pdf-{number}"), &format!("pdf-{number}"));
        }
        let error = unknown("pdf-1");
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::Usage, "there is no skill `pdf-1`")
        );
        assert!(error.hints()[0].starts_with("did you mean `pdf-"), "{:?}", error.hints());
        assert_eq!(error.hints().len(), 1, "{:?}", error.hints());
        let error = unknown("word");
        assert!(error.hints()[0].starts_with("`list` shows what is installed"), "{:?}", error.hints());
        assert_eq!(error.hints().len(), 1, "{:?}", error.hints());
    }

    /// S0-A12, conflict C2: a text that is not a valid name never becomes a path.
    #[test]
    fn a_name_never_leads_out_of_the_sources() {
        let world = World::new();
        world.skill("etc", "../../etc");
        world.skill(".agents/skills/a", "a");
        for name in ["../../etc", "../skills/a", "./a", "a/", "/", "..", "", "a\\..\\a", "a\0"] {
            let error = Error::from(world.find(name).expect_err(name));
            assert_eq!(error.kind(), ErrorKind::Usage, "{name:?}");
        }
        world.skill(".agents/skills/b", "../../etc");
        assert_eq!(hit(&world, "../../etc").0, "project/.agents/skills/b", "as a key it is as good as any");
    }

    /// Conflict C8.
    #[test]
    fn a_skill_that_cannot_be_loaded_says_why_unless_there_is_another() {
        let world = World::new();
        world.write(".agents/skills/pdf/SKILL.md", "---\nname: pdf\n---\n");
        let error = Error::from(world.find("pdf").expect_err("cannot be loaded"));
        assert_eq!(error.kind(), ErrorKind::Findings);
        let message = error.to_string();
        assert!(message.starts_with("the skill `pdf` cannot be loaded: `"), "{message}");
        assert!(message.contains("SKILL.md`: the required field `description` is missing"), "{message}");
        assert!(error.hints()[0].to_string().contains("`validate "), "{:?}", error.hints());
        world.skill("../home/.agents/skills/pdf", "pdf");
        let (dir, warnings) = hit(&world, "pdf");
        assert_eq!(dir, "home/.agents/skills/pdf");
        assert!(warnings[0].contains("cannot be loaded"), "{warnings:?}");
    }

    /// A link to a directory beside it is an alias and not a second skill: every request gets the same answer.
    #[cfg(unix)]
    #[test]
    fn a_link_to_a_neighbour_is_the_neighbour() {
        let world = World::new();
        for (dir, name) in [("one", "one"), ("m-real", "pdf"), ("g/word", "word"), ("m-word", "word")] {
            world.skill(&format!(".agents/skills/{dir}"), name);
        }
        for (to, link) in
            [("one", "alias"), ("one", "zzz"), ("m-real", "pdf"), ("m-word", "word"), (".", "self")]
        {
            world.link(to, &format!(".agents/skills/{link}"));
        }
        let library = Library::of_places(&world.context().settings, LoadProfile::DEFAULT).expect("places");
        for (name, dir) in [("one", "one"), ("pdf", "m-real"), ("word", "g/word")] {
            let dir = world.project().join(".agents/skills").join(dir);
            assert_eq!(world.find(name).expect(name).skill.dir, dir, "{name}");
            assert_eq!(library.get(name).expect(name).dir, dir, "{name}");
        }
        let (dir, warnings) = hit(&world, "alias");
        assert_eq!(dir, "project/.agents/skills/one");
        assert!(warnings[0].ends_with("one` calls itself `one`"), "{warnings:?}");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_neither_twins_nor_ways_out() {
        let world = World::new();
        world.skill(".agents/skills/pdf", "pdf");
        world.link("../../.agents/skills/pdf", ".claude/skills/pdf");
        assert_eq!(hit(&world, "pdf"), ("project/.agents/skills/pdf".into(), vec![]));
        world.write("secret", "---\nname: x\ndescription: y\n---\n");
        fs::create_dir_all(&world.project().join(".agents/skills/x")).expect("creates");
        world.link("../../../secret", ".agents/skills/x/SKILL.md");
        let error = Error::from(world.find("x").expect_err("refused"));
        assert_eq!(error.kind(), ErrorKind::Integrity);
        assert!(error.to_string().contains("leads out of the skill's directory"), "{error}");
    }
}
