//! `bump`: the version in a skill's file.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::pack::{about, skill_at};
use super::{diff, fix};
use crate::advice::{Opt, Verb, message};
use crate::codes;
use crate::context::Context;
use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::lint::set_version;
use crate::paths::{Content, FileLocation, Inside, Installed, Target};
use crate::version::{Bump, Version};

/// The version that a skill without one gets.
const FIRST: &str = "0.1.0";

/// A request to change the version of a skill.
#[derive(Debug, Clone)]
pub struct BumpRequest {
    /// The skill's directory or its `SKILL.md`, relative to the working directory.
    pub skill: PathBuf,
    /// The version that it gets.
    pub to: BumpTo,
    /// Whether to write nothing.
    pub dry_run: bool,
    /// Whether it may be lower than the version before.
    pub lower: bool,
}

/// The version that a skill gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BumpTo {
    /// The next one.
    Next(Bump),
    /// This one.
    Version(Version),
}

/// The outcome. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BumpOutcome {
    /// The file, as it is to be shown.
    pub path: String,
    /// The version before, as written, if there was one.
    pub old: Option<String>,
    /// The version now.
    pub new: String,
    /// Whether the file changed, or would change.
    pub changed: bool,
    /// Whether nothing was to be written.
    pub dry_run: bool,
    /// The change of the file as a unified diff, if it changed.
    pub diff: Option<String>,
}

/// Changes `metadata.version` of one skill in its file. Everything else in the file stays as it is.
///
/// # Errors
///
/// Fails if there is no skill, if it has a version that is not one and the next one is wanted, if the frontmatter cannot
/// be edited safely, and if the file cannot be read or written.
pub fn bump(context: &Context, request: &BumpRequest) -> Result<BumpOutcome> {
    let place = skill_at(context, &request.skill)?;
    let shown = place.shown.display().to_string();
    let document = read(&place)?;
    let old = document.version().map(str::to_owned);
    let new = match &request.to {
        BumpTo::Version(version) => version.clone(),
        BumpTo::Next(bump) => next(old.as_deref(), *bump).map_err(|error| about(error, &request.skill))?,
    };
    let text = set_version(&document, &new).ok_or_else(|| not_set(&shown, &new))?;
    let changed = text != document.text();
    if changed {
        refuse_installed(context, &place)?;
        agree_to_lower(context, request, old.as_deref(), &new)?;
    }
    if changed && !request.dry_run {
        refuse_outside(context, &request.skill, &place)?;
        fix::replace(&place.file(), document.text(), &text)?;
    }
    let diff = diff::unified(&place.shown, document.text(), &text);
    Ok(BumpOutcome { path: shown, old, new: new.to_string(), changed, dry_run: request.dry_run, diff })
}

/// Refuses an installed skill: a lockfile records its bytes, and its source has another version.
fn refuse_installed(context: &Context, place: &FileLocation) -> Result<()> {
    if !Installed::new(context, &[])?.holds(&place.shown)? {
        return Ok(());
    }
    let shown = place.shown.display();
    Err(Error::usage(format!("`{shown}` is installed, and stays as it is locked")).hint(message!(
        "raise the version where the skill is written, then ",
        Verb::Update,
        " gets it"
    )))
}

/// Asks whether a version may be followed by a lower one: tools that compare them take no notice of it then.
fn agree_to_lower(context: &Context, request: &BumpRequest, old: Option<&str>, new: &Version) -> Result<()> {
    let old = old.and_then(|old| Version::new(old).ok());
    let Some(old) = old.filter(|old| new < old && !request.lower) else { return Ok(()) };
    let told = format!("`{new}` is lower than `{old}`");
    match context.interact.confirm(&format!("{told}: write it?")) {
        Some(true) => Ok(()),
        Some(false) => Err(Error::usage(format!("{told}: nothing was changed"))),
        None => {
            let again = Verb::Bump.call().word(new.to_string()).path(&request.skill);
            Err(Error::usage(format!("{told}: who has `{old}` does not get it as an update"))
                .hint(message!(again.flag(Opt::Yes), " writes it all the same")))
        }
    }
}

fn read(place: &FileLocation) -> Result<Document> {
    let shown = place.shown.display();
    match place.read()? {
        Some(Content::Bytes(bytes)) => Ok(Document::from_bytes(bytes)),
        Some(Content::Unread) => {
            Err(Error::integrity(format!("`{shown}` is not a regular file of a skill's size")))
        }
        None => Err(Error::io(format!("`{shown}` no longer exists"))),
    }
}

/// Returns the version after `old`.
fn next(old: Option<&str>, bump: Bump) -> Result<Version> {
    let first = || Version::new(FIRST).map_err(|error| Error::usage(error.to_string()));
    let Some(old) = old else { return first() };
    let old = Version::new(old).map_err(|error| {
        Error::new(ErrorKind::Findings, error.to_string())
            .coded(codes::VERSION_MALFORMED)
            .hint(message!("name the new version: ", Verb::Bump.call().word("1.0.0")))
    })?;
    old.bumped(bump).ok_or_else(|| {
        Error::new(ErrorKind::Findings, format!("no version follows `{old}`: a number in it is too large"))
            .coded(codes::VERSION_MALFORMED)
            // Any that can be followed is lower.
            .hint(message!("name the new version: ", Verb::Bump.call().word("1.0.0").flag(Opt::Yes)))
    })
}

fn not_set(file: &str, version: &Version) -> Error {
    Error::new(ErrorKind::Findings, format!("the frontmatter of `{file}` cannot be edited safely"))
        .coded(codes::VERSION_NOT_EDITABLE)
        .hint(format!("write `version: \"{version}\"` below `metadata:` yourself"))
        .hint(message!(Verb::Validate.call().word(file), " shows what is wrong with the file"))
}

/// Refuses a file to which a link leads out of the project: who made the link is not who runs the command.
fn refuse_outside(context: &Context, typed: &Path, place: &FileLocation) -> Result<()> {
    let target = Target::Path(typed.to_owned());
    match Inside::new(context, std::slice::from_ref(&target))?.leads_out(&place.shown)? {
        None => Ok(()),
        Some(real) => Err(Error::integrity(format!(
            "`{}` was not changed: a link leads out of the project",
            place.shown.display()
        ))
        .hint(format!("to change `{}`, name that path", real.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;

    fn bumped(world: &World, to: BumpTo, dry_run: bool) -> Result<BumpOutcome> {
        bump(&world.context(), &BumpRequest { skill: "s".into(), to, dry_run, lower: false })
    }

    fn text(world: &World) -> String {
        crate::fs::read_text(&world.project().join("s/SKILL.md"), 999).expect("reads").expect("there")
    }

    #[test]
    fn a_version_is_raised_and_nothing_else_changes() {
        let world = World::new();
        let before =
            "---\r\nname: s # x\r\ndescription: 'a'\r\nmetadata:\r\n  version: '1.9'\r\n---\r\n\r\nb";
        world.write("s/SKILL.md", before);
        let to = || BumpTo::Next(Bump::Minor);
        let outcome = bumped(&world, to(), true).expect("can be raised");
        assert_eq!((outcome.old.as_deref(), outcome.new.as_str()), (Some("1.9"), "1.10"));
        assert!(outcome.changed && outcome.diff.is_some_and(|diff| diff.contains("+  version: '1.10'")));
        assert_eq!(text(&world), before, "a dry run");
        bumped(&world, to(), false).expect("writes");
        assert_eq!(text(&world), before.replace("1.9", "1.10"));
        let same = BumpTo::Version(Version::new("1.10").expect("a version"));
        assert!(!bumped(&world, same, false).expect("nothing to do").changed);
    }

    #[test]
    fn a_skill_without_a_version_gets_the_first_one() {
        let world = World::new();
        world.skill("s", "s");
        let outcome = bumped(&world, BumpTo::Next(Bump::Major), false).expect("writes");
        assert_eq!((outcome.old, outcome.new.as_str()), (None, "0.1.0"));
        assert_eq!(Document::parse(text(&world)).metadata_get("version"), Some("0.1.0"));
    }

    #[test]
    fn what_cannot_be_raised_is_told() {
        let world = World::new();
        let code = |text: &str, to: BumpTo| {
            world.write("s/SKILL.md", text);
            bumped(&world, to, false).expect_err("refused").code()
        };
        let next = || BumpTo::Next(Bump::Patch);
        let malformed = "---\nname: s\ndescription: a\nmetadata:\n  version: latest\n---\n";
        assert_eq!(code(malformed, next()), codes::VERSION_MALFORMED);
        assert_eq!(code("---\n{name: s, description: a}\n---\n", next()), codes::VERSION_NOT_EDITABLE);
        world.write("s/SKILL.md", malformed);
        let to = BumpTo::Version(Version::new("2.0.0").expect("a version"));
        assert_eq!(bumped(&world, to, false).expect("writes").new, "2.0.0");
        world.write("many/a/SKILL.md", malformed);
        let many = BumpRequest { skill: "many".into(), to: next(), dry_run: false, lower: false };
        assert_eq!(bump(&world.context(), &many).expect_err("not one").kind(), ErrorKind::Usage);
    }

    /// Who has the higher version would never be told of the lower one.
    #[test]
    fn a_lower_version_is_asked_for() {
        let world = World::new();
        world.write("s/SKILL.md", "---\nname: s\ndescription: a\nmetadata:\n  version: 0.2.0\n---\n");
        let to = || BumpTo::Version(Version::new("0.1.5").expect("a version"));
        let error = bumped(&world, to(), false).expect_err("no person can be asked");
        assert_eq!(
            error.to_string(),
            "`0.1.5` is lower than `0.2.0`: who has `0.2.0` does not get it as an update"
        );
        let hints: Vec<_> = error.hints().iter().map(ToString::to_string).collect();
        assert_eq!(hints, ["`bump 0.1.5 s` with `yes` writes it all the same"]);
        let request = BumpRequest { skill: "s".into(), to: to(), dry_run: false, lower: true };
        assert_eq!(bump(&world.context(), &request).expect("writes").new, "0.1.5");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_outside_of_the_project_stays() {
        let world = World::new();
        let elsewhere = tempfile::tempdir().expect("a directory");
        let other = crate::fs::real_path(elsewhere.path()).expect("reads").expect("there").join("s");
        crate::fs::create_dir_all(&other).expect("creates");
        let text = crate::engine::testing::skill_text("s");
        crate::fs::write_atomic(&other.join("SKILL.md"), text.as_bytes()).expect("writes");
        world.link(&other.to_string_lossy(), "s");
        assert!(bumped(&world, BumpTo::Next(Bump::Patch), false).is_err());
        let now = crate::fs::read_text(&other.join("SKILL.md"), 999).expect("reads");
        assert_eq!(now.as_deref(), Some(&*text));
    }
}
