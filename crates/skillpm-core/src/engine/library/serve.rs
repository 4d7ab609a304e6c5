//! What a library hands out of a skill.

use std::sync::Arc;

use super::{Instructions, Library, LookupError};
use crate::engine::resources::{self, Content, Unreadable};
use crate::engine::{Activation, Arguments, Form, Skill, activate};
use crate::error::Error;
use crate::tree::ReadError;

/// Why a file of a skill is not handed out.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// There is no such skill.
    #[error(transparent)]
    Skill(#[from] LookupError),
    /// There is one, and the file is not read.
    #[error("the file `{file}` of the skill `{}` is not read: {reason}", skill.meta.name)]
    File {
        /// The skill.
        skill: Arc<Skill>,
        /// The file's name, as it was asked for.
        file: String,
        /// Why.
        reason: Unreadable,
    },
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Skill(error) => error.into(),
            FileError::File { skill, file, reason } => reason.into_error(&skill.meta.name, &file),
        }
    }
}

/// A skill with everything that an agent is told of it.
#[derive(Debug)]
pub struct Opened {
    /// The skill.
    pub skill: Arc<Skill>,
    /// Its instructions, without the blank lines that authors leave after the frontmatter.
    pub body: String,
    /// Its other files that the policy lists, as `/`-separated paths below its directory.
    pub files: Vec<String>,
    /// Why no files are listed, where they cannot be: what lies in a directory is no reason not to use the
    /// skill.
    pub unlisted: Option<ReadError>,
}

/// A skill that an agent has asked for.
#[derive(Debug)]
pub struct Activated {
    /// The skill.
    pub skill: Arc<Skill>,
    /// What the agent gets.
    pub activation: Activation,
    /// As [`Opened::unlisted`].
    pub unlisted: Option<ReadError>,
}

impl Library {
    /// Reads the instructions of the skill `name`, and lists its files where `files` says so.
    ///
    /// # Errors
    ///
    /// As [`Library::instructions`].
    pub fn open(&self, name: &str, files: bool) -> Result<Opened, LookupError> {
        let Instructions { skill, body } = self.instructions(name)?;
        let body = body.trim_start_matches(['\r', '\n']).to_owned();
        let mut opened = Opened { skill, body, files: Vec::new(), unlisted: None };
        if files {
            match resources::list(&opened.skill.dir, self.policy.listing) {
                Ok(files) => opened.files = files,
                Err(error) => opened.unlisted = Some(error),
            }
        }
        Ok(opened)
    }

    /// Activates the skill `name` with `arguments`, as the policy has placeholders. Its files are listed where
    /// `form` lists them.
    ///
    /// # Errors
    ///
    /// As [`Library::instructions`].
    pub fn activate(&self, name: &str, arguments: &Arguments, form: Form) -> Result<Activated, LookupError> {
        let Opened { skill, body, files, unlisted } = self.open(name, form.lists_files())?;
        let (meta, placeholders) = (skill.meta.clone(), self.policy.placeholders);
        let mut activation = activate(meta, &body, &skill.dir, arguments, placeholders);
        activation.files = files;
        Ok(Activated { skill, activation, unlisted })
    }

    /// Reads the file `file` of the skill `name`, if it has no more than `max` bytes; see [`resources::read`].
    ///
    /// # Errors
    ///
    /// As [`Library::get`], and as [`resources::read`].
    pub fn read_file(&self, name: &str, file: &str, max: u64) -> Result<(Arc<Skill>, Content), FileError> {
        let skill = self.get(name)?;
        match resources::read(&skill.dir, file, &self.policy, max) {
            Ok(content) => Ok((skill, content)),
            Err(reason) => Err(FileError::File { skill, file: file.to_owned(), reason }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;
    use crate::policy::Policy;

    fn library(world: &World) -> Library {
        Library::of_places(&world.settings(&[]), Policy::DEFAULT).expect("places")
    }

    /// S0-US3.1, S0-US5.5, S0-FR-006, S0-SC-002: the same as `invoke`, whatever lies beside the instructions.
    #[test]
    fn activation() {
        let world = World::new();
        world.write(
            ".agents/skills/pdf/SKILL.md",
            "---\nname: pdf\ndescription: d\n---\n\n\nRead $ARGUMENTS.\n",
        );
        world.write(".agents/skills/pdf/references/a.md", "a");
        let library = library(&world);
        let active = |form| library.activate("pdf", &Arguments::new("x  y"), form).expect("works");
        let Activated { activation: plain, unlisted, .. } = active(Form::Plain);
        assert!(plain.files.is_empty() && unlisted.is_none());
        let dir = world.project().join(".agents/skills/pdf");
        let expected = format!("Base directory for this skill: {}\n\nRead x  y.\n", dir.display());
        assert_eq!(plain.render(Form::Plain), expected);
        assert_eq!(active(Form::Json).activation.files, ["references/a.md"]);
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::ffi::OsStrExt;
            let odd = dir.join(std::ffi::OsStr::from_bytes(b"\xff"));
            crate::fs::write_atomic(&odd, b"").expect("writes");
            let Activated { activation: listed, unlisted, .. } = active(Form::Json);
            assert!(listed.files == ["references/a.md"] && unlisted.is_none(), "{:?}", listed.files);
            // Deeper than any path leads.
            let flags = rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC;
            let open = |at: &std::os::fd::OwnedFd, name: &str| {
                rustix::fs::openat(at, name, flags, 0.into()).expect("opens")
            };
            let mut at = rustix::fs::open(&dir, flags, 0.into()).expect("opens");
            let name = "d".repeat(250);
            for _ in 0..20 {
                rustix::fs::mkdirat(&at, &name, 0o755.into()).expect("is made");
                at = open(&at, &name);
            }
            let Activated { activation: deep, unlisted, .. } = active(Form::Json);
            assert!(deep.files.is_empty() && unlisted.is_some());
            assert_eq!(deep.body, "Read x  y.\n");
        }
    }

    /// S3-FR-11: a file of the skill, and nothing else.
    #[test]
    fn files() {
        let world = World::new();
        world.skill(".agents/skills/pdf", "pdf");
        world.write(".agents/skills/pdf/references/a.md", "a");
        let library = library(&world);
        let read = |name: &str, file: &str| library.read_file(name, file, 9).map(|(_, content)| content);
        assert_eq!(read("pdf", "references/a.md").expect("reads"), Content::Text("a".into()));
        let error = Error::from(read("pdf", "../pdf/SKILL.md").expect_err("refused"));
        assert!(error.to_string().ends_with("of the skill `pdf` is not read: it has `..`"), "{error}");
        assert!(matches!(read("word", "a"), Err(FileError::Skill(LookupError::Unknown(_)))));
        assert!(matches!(
            read("pdf", "SKILL.md"),
            Err(FileError::File {
                reason: Unreadable::Refused(crate::fs::BeneathError::TooLarge { .. }),
                ..
            })
        ));
    }
}
