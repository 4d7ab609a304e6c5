//! `fmt`: brings skills' files into canonical form.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::context::Context;
use crate::document::{self, Document, Position};
use crate::engine::load::{self, Unusable};
use crate::error::Result;
use crate::workers;

use super::diff;
use super::fix;
use crate::paths::{Content, FileLocation, Finder, Inside, Installed, Searched};

pub use crate::paths::Target;

/// A request to format skills.
#[derive(Debug, Clone, Default)]
pub struct FmtRequest {
    /// The targets. A text is not written anywhere: the outcome has it.
    pub targets: Vec<Target>,
    /// Whether to write nothing.
    pub dry_run: bool,
}

/// The result for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formatted {
    /// The path of the file for display.
    pub file: PathBuf,
    /// The state in which it was found.
    pub form: Form,
    /// The canonical form of a text that is in no file; `None` if it has none.
    pub text: Option<String>,
}

/// The state in which a text was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// It is canonical.
    Canonical,
    /// It is not canonical, but has a canonical form.
    Changed {
        /// The old text.
        before: String,
        /// The canonical form.
        after: String,
    },
    /// It has no canonical form, and is left alone.
    Refused {
        /// The reason.
        reason: String,
        /// The position, if it is in the text.
        at: Option<Position>,
    },
}

impl Formatted {
    /// Returns the change as a unified diff; `None` without a change.
    pub fn diff(&self) -> Option<String> {
        match &self.form {
            Form::Changed { before, after } => diff::unified(&self.file, before, after),
            Form::Canonical | Form::Refused { .. } => None,
        }
    }
}

impl Serialize for Formatted {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let (state, reason, at) = match &self.form {
            Form::Canonical => ("canonical", None, None),
            Form::Changed { .. } => ("changed", None, None),
            Form::Refused { reason, at } => ("refused", Some(reason.as_str()), at.as_ref()),
        };
        let (path, diff) = (self.file.display().to_string(), self.diff());
        Json { path, state, diff, text: self.text.as_deref(), reason, at }.serialize(serializer)
    }
}

/// The result for one file, in JSON.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Formatted")]
struct Json<'a> {
    /// The path of the file.
    path: String,
    /// `canonical`, `changed` if it is not canonical but has a canonical form, or `refused` if it has none.
    state: &'static str,
    /// The change as a unified diff.
    diff: Option<String>,
    /// The canonical form of a text from standard input.
    text: Option<&'a str>,
    /// Why it has no canonical form.
    reason: Option<&'a str>,
    /// The position of the reason, if it is in the text.
    at: Option<&'a Position>,
}

skillpm_format::schema_of!(Formatted as Json<'static>);

/// The outcome of formatting. The JSON form is an interface: fields are only ever added.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct FmtOutcome {
    /// Whether nothing was written.
    pub dry_run: bool,
    /// The files, sorted by path.
    #[serde(rename = "skills")]
    pub files: Vec<Formatted>,
    /// The number of files that are not canonical but left alone, because they belong to installed skills: a
    /// lockfile records their bytes. They are not in `files`.
    #[serde(rename = "left_locked")]
    pub installed: usize,
}

/// Brings skills' files into canonical form, and writes those that change unless it is a dry run. Writes
/// nothing before all of them are found and read. Installed skills that were found by a search stay as they
/// are locked.
///
/// # Errors
///
/// Fails for a path that does not exist, holds no skill, or cannot be read or written.
pub fn fmt(context: &Context, request: &FmtRequest) -> Result<FmtOutcome> {
    let cwd = &context.settings.cwd;
    let mut outcome = FmtOutcome { dry_run: request.dry_run, ..FmtOutcome::default() };
    let mut searched = Searched::default();
    let mut finder = Finder::new(cwd, &mut searched);
    for target in &request.targets {
        match target {
            Target::Text { bytes, file } => {
                outcome.files.push(text(bytes.clone(), Target::shown(file.as_deref())));
            }
            Target::Path(typed) => {
                let found = finder.find(typed)?;
                for file in workers::map(&found, workers::PIECE, || (), |(), place| file(place)) {
                    outcome.files.extend(file?);
                }
            }
        }
    }
    leave_installed(context, request, &mut outcome)?;
    refuse_outside(context, request, &mut outcome)?;
    if !request.dry_run {
        for file in outcome.files.iter().filter(|file| file.text.is_none()) {
            if let Form::Changed { before, after } = &file.form {
                fix::replace(&cwd.join(&file.file), before, after)?;
            }
        }
    }
    Ok(outcome)
}

/// Removes from `outcome` the files that would change although a lockfile records them and the user did not
/// name them.
fn leave_installed(context: &Context, request: &FmtRequest, outcome: &mut FmtOutcome) -> Result<()> {
    let changes = |file: &Formatted| file.text.is_none() && matches!(file.form, Form::Changed { .. });
    if !outcome.files.iter().any(changes) {
        return Ok(());
    }
    let mut installed = Installed::new(context, &request.targets)?;
    let mut files = Vec::with_capacity(outcome.files.len());
    for file in outcome.files.drain(..) {
        if changes(&file) && installed.holds(&file.file)? {
            outcome.installed += 1;
        } else {
            files.push(file);
        }
    }
    outcome.files = files;
    Ok(())
}

/// Refuses to change a file that a link leads to out of the project.
fn refuse_outside(context: &Context, request: &FmtRequest, outcome: &mut FmtOutcome) -> Result<()> {
    let changes = |file: &&mut Formatted| file.text.is_none() && matches!(file.form, Form::Changed { .. });
    let inside = Inside::new(context, &request.targets)?;
    for file in outcome.files.iter_mut().filter(changes) {
        if let Some(real) = inside.leads_out(&file.file)? {
            let reason =
                format!("a link leads out of the project; to change `{}`, name that path", real.display());
            file.form = Form::Refused { reason, at: None };
        }
    }
    Ok(())
}

/// Formats a text that is in no file.
fn text(bytes: Vec<u8>, file: PathBuf) -> Formatted {
    let document = Document::from_bytes(bytes);
    let form = form(&document);
    let text = match &form {
        Form::Canonical => Some(document.into_text()),
        Form::Changed { after, .. } => Some(after.clone()),
        Form::Refused { .. } => None,
    };
    Formatted { file, form, text }
}

/// Reads and formats the file at `place`. Returns `None` if it no longer exists.
fn file(place: &FileLocation) -> Result<Option<Formatted>> {
    let form = match place.read()? {
        None => return Ok(None),
        Some(Content::Bytes(bytes)) => form(&Document::from_bytes(bytes)),
        Some(Content::Unread) => match load::document(&place.file()) {
            Ok(document) => form(&document),
            Err(Unusable::Unreadable(error)) => return Err(error.into()),
            Err(reason) => Form::Refused { reason: reason.to_string(), at: None },
        },
    };
    Ok(Some(Formatted { file: place.shown.clone(), form, text: None }))
}

/// Returns the state of `document`.
pub fn form(document: &Document) -> Form {
    match document::format(document) {
        Ok(after) if after == document.text() => Form::Canonical,
        Ok(after) => Form::Changed { before: document.text().to_owned(), after },
        Err(error) => {
            let at = Some(document.position(error.span.start));
            Form::Refused { reason: error.reason, at }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::engine::testing::World;
    use crate::fs;

    fn formatted(world: &World, paths: &[&str], dry_run: bool) -> Vec<Formatted> {
        let targets = paths.iter().map(|path| Target::Path(path.into())).collect();
        let request = FmtRequest { targets, dry_run };
        fmt(&world.context(), &request).expect("formats").files
    }

    fn text(world: &World, path: &str) -> String {
        load::document(&world.project().join(path)).expect("reads").text().to_owned()
    }

    #[test]
    fn files_that_change_are_written_and_no_others() {
        let world = World::new();
        world.skill("skills/a", "a");
        let odd = "---\ndescription:  x\nname: b\n---\n";
        world.write("skills/b/SKILL.md", odd);
        world.write("skills/c/SKILL.md", "---\nname: c\ndescription: a: b\n---\n");
        let files = formatted(&world, &["skills"], true);
        assert_eq!(files[0].form, Form::Canonical);
        assert!(files[1].diff().is_some_and(|diff| diff.starts_with("--- a/skills/b/SKILL.md\n")));
        let Form::Refused { reason, at: Some(at) } = &files[2].form else { panic!("{:?}", files[2]) };
        assert!(reason.starts_with("the value of `description` is not valid YAML"), "{reason}");
        assert_eq!((at.line, at.column), (3, 15));
        assert_eq!(text(&world, "skills/b/SKILL.md"), odd, "a dry run");
        formatted(&world, &["skills", "skills/b"], false);
        assert_eq!(text(&world, "skills/b/SKILL.md"), "---\nname: b\ndescription: x\n---\n");
        assert_eq!(formatted(&world, &["skills/b"], false)[0].form, Form::Canonical);
    }

    #[cfg(unix)]
    #[test]
    fn modes_stay_and_nothing_is_written_where_nothing_changes() {
        use std::os::unix::fs::MetadataExt as _;
        let world = World::new();
        let file = world.project().join("a/SKILL.md");
        world.write("a/SKILL.md", "---\nname:  a\ndescription: x\n---\n");
        let inode = |file: &Path| Path::metadata(file).map(|m| (m.ino(), m.mode())).expect("there");
        let (old, mode) = inode(&file);
        formatted(&world, &["a"], false);
        let (new, new_mode) = inode(&file);
        assert!(old != new && mode == new_mode);
        formatted(&world, &["a"], false);
        assert_eq!(inode(&file), (new, mode), "it is the same file");
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_skill_are_left_alone() {
        let world = World::new();
        let odd = "---\nname:  a\ndescription: x\n---\n";
        world.write("secret", odd);
        world.link("../secret", "a/SKILL.md");
        let files = formatted(&world, &["a"], false);
        assert!(matches!(&files[0].form, Form::Refused { at: None, .. }), "{files:?}");
        assert_eq!(fs::read_text(&world.project().join("secret"), 99).expect("reads").as_deref(), Some(odd));
    }

    /// The author of a link is not the user who runs the command.
    #[cfg(unix)]
    #[test]
    fn what_a_link_leads_to_out_of_the_project_is_left_alone() {
        let world = World::new();
        let odd = "---\nname:  a\ndescription: x\n---\n";
        let elsewhere = tempfile::tempdir().expect("a directory");
        let other = fs::real_path(elsewhere.path()).expect("reads").expect("there").join("a");
        fs::create_dir_all(&other).expect("creates");
        fs::write_atomic(&other.join("SKILL.md"), odd.as_bytes()).expect("writes");
        world.link(&other.to_string_lossy(), "skills/a");
        world.write("src/b/SKILL.md", odd);
        world.link("../src/b", "skills/b");
        let read = |file: &Path| fs::read_text(file, 99).expect("reads").expect("there");
        let files = formatted(&world, &["skills/a", "skills/b"], false);
        let Form::Refused { reason, at: None } = &files[0].form else { panic!("{files:?}") };
        assert!(reason.starts_with("a link leads out of the project"), "{reason}");
        assert_eq!(read(&other.join("SKILL.md")), odd);
        assert!(matches!(files[1].form, Form::Changed { .. }), "inside the project it is the same file");
        let named = formatted(&world, &[&other.to_string_lossy()], false);
        assert!(matches!(named[0].form, Form::Changed { .. }) && read(&other.join("SKILL.md")) != odd);
    }
}
