//! Reads a skill's own file, and nothing outside its directory.

use std::io;
use std::path::{Path, PathBuf};

pub use super::find::skill_file;
use crate::advice::{Verb, message};
use crate::document::{Document, Split, split_prefix};
use crate::error::{Error, ErrorKind};
use crate::fs::{self, BeneathError, Kind, PathError};
use crate::skill::LoadError;
pub use crate::skill::{MAX_SKILL_FILE, SKILL_FILE};

/// The reason why a skill cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unusable {
    /// The file is gone.
    #[error("the file no longer exists")]
    Gone,
    /// The specification requires another spelling of the file's name.
    #[error("its name is not `{SKILL_FILE}`")]
    Misspelled,
    /// The file is not a regular file.
    #[error("it is {0}, not a regular file")]
    NotAFile(&'static str),
    /// The file is a link whose target does not exist.
    #[error("it is a link to `{}`, which does not exist", .0.display())]
    Dangling(PathBuf),
    /// The file is a link to a path outside the skill's directory.
    #[error("it is a link that leads out of the skill's directory, to `{}`", .0.display())]
    Outside(PathBuf),
    /// The file is an absolute link, although it leads to a file of the skill.
    #[error("it is an absolute link, to `{}`; only relative links are followed", .0.display())]
    Absolute(PathBuf),
    /// The name of its directory is not UTF-8, so it cannot be reported to an agent.
    #[error("the name of its directory is not UTF-8; give it another one")]
    OddName,
    /// The file has more than [`MAX_SKILL_FILE`] bytes.
    #[error("it has more than {} MiB", MAX_SKILL_FILE >> 20)]
    TooLarge,
    /// The system denies access to the file.
    #[error("{}: {}", .0, .0.source)]
    Unreadable(#[from] PathError),
    /// The content of the file is not a usable skill.
    #[error(transparent)]
    Content(#[from] LoadError),
}

impl Unusable {
    /// Returns the error for a skill that was requested as `name` and whose file is `file`.
    pub fn into_error(self, name: &str, file: &Path) -> Error {
        self.to_error(name, file)
    }

    /// Works like [`Self::into_error`] without taking ownership.
    pub(crate) fn to_error(&self, name: &str, file: &Path) -> Error {
        let shown = file.display();
        let message = format!("the skill `{name}` cannot be loaded: `{shown}`: {self}");
        let error = match self {
            // The system's own message has the path.
            Self::Unreadable(PathError { action, path, source }) => {
                let source = match source.raw_os_error() {
                    Some(code) => io::Error::from_raw_os_error(code),
                    None => io::Error::new(source.kind(), source.to_string()),
                };
                let error = PathError { action, path: path.clone(), source };
                Error::from(error).context(format!("the skill `{name}` cannot be loaded"))
            }
            Self::Content(_) => Error::new(ErrorKind::Findings, message)
                .hint(message!(Verb::Validate.call().path(file), " shows the place and what to do")),
            Self::TooLarge => Error::integrity(message)
                .hint("move long parts into files beside it, which an agent reads when it needs them"),
            _ => Error::integrity(message).hint("put a regular file there, or remove the skill"),
        };
        error.coded(self.code())
    }
}

/// Reads the whole of `file`, which is in a skill's directory.
///
/// # Errors
///
/// Fails with any [`Unusable`] except those about the content.
pub fn document(file: &Path) -> Result<Document, Unusable> {
    Ok(Document::from_bytes(read(file, |_| false)?.0))
}

/// Reads the frontmatter of `file`, which is in a skill's directory, and nothing after it.
pub fn frontmatter(file: &Path) -> Result<Document, Unusable> {
    Ok(frontmatter_and_size(file)?.0)
}

/// Works like [`frontmatter`], and also returns the size of the file in bytes; of a link, only the number of bytes
/// read.
pub(super) fn frontmatter_and_size(file: &Path) -> Result<(Document, u64), Unusable> {
    let (bytes, size) = read(file, |prefix| split_prefix(prefix) != Split::NeedMore)?;
    Ok((of_start(bytes), size))
}

/// Returns the document whose file starts with `bytes`, without its body.
fn of_start(mut bytes: Vec<u8>) -> Document {
    if let Split::Found(parts) = split_prefix(&bytes) {
        return Document::of_start(bytes, parts);
    }
    // Reading may have stopped in the middle of a character, which is not an error of the file.
    if let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    Document::from_bytes(bytes)
}

/// Reads `file` until `enough` returns `true`; returns these bytes and the size of the file in bytes.
fn read(file: &Path, enough: impl Fn(&[u8]) -> bool) -> Result<(Vec<u8>, u64), Unusable> {
    match fs::read_start(file, MAX_SKILL_FILE, &enough) {
        Ok(bytes) => bytes.ok_or(Unusable::Gone),
        Err(error) if error.source.kind() == io::ErrorKind::FileTooLarge => Err(Unusable::TooLarge),
        // `read_start` follows no links and reads only regular files: find out what this is.
        Err(_) if fs::kind(file)? == Some(Kind::Symlink) => {
            let bytes = read_linked(file, enough)?;
            let size = bytes.len() as u64;
            Ok((bytes, size))
        }
        Err(error) => regular(file.to_owned()).and(Err(error.into())),
    }
}

/// Reads the target of the link `file`, which must be in the same directory even if files are moved meanwhile.
fn read_linked(file: &Path, enough: impl Fn(&[u8]) -> bool) -> Result<Vec<u8>, Unusable> {
    let (Some(dir), Some(name)) = (file.parent(), file.file_name()) else { return Err(Unusable::Gone) };
    let read = fs::read_beneath(&fs::Base::open(dir)?, Path::new(name), MAX_SKILL_FILE, enough);
    let target = || Ok::<_, PathError>(fs::read_link(file)?.unwrap_or_default());
    read.map_err(|error| match error {
        // Only the path of the target is reported; its content is not read.
        BeneathError::Outside => match (target(), fs::real_path(file)) {
            (Ok(text), Ok(Some(real))) if text.is_absolute() && contained(file).is_ok() => {
                Unusable::Absolute(real)
            }
            (_, Ok(Some(real))) => Unusable::Outside(real),
            (Ok(text), Ok(None)) => Unusable::Outside(text),
            (Err(error), _) | (_, Err(error)) => error.into(),
        },
        BeneathError::Absent | BeneathError::Loop => match target() {
            Ok(text) => Unusable::Dangling(text),
            Err(error) => error.into(),
        },
        BeneathError::NotAFile(kind) => Unusable::NotAFile(kind),
        BeneathError::TooLarge { .. } => Unusable::TooLarge,
        BeneathError::Unreadable(error) => error.into(),
    })
}

/// Returns the regular file that `file` is or leads to. A link may not leave the file's directory: otherwise a skill
/// from a stranger could show an agent any file on the machine.
pub fn contained(file: &Path) -> Result<PathBuf, Unusable> {
    if fs::kind(file)? != Some(Kind::Symlink) {
        return regular(file.to_owned());
    }
    let Some(real) = fs::real_path(file)? else {
        return Err(Unusable::Dangling(fs::read_link(file)?.unwrap_or_default()));
    };
    let dir = fs::real_path(file.parent().unwrap_or(Path::new("")))?.ok_or(Unusable::Gone)?;
    if real.starts_with(dir) { regular(real) } else { Err(Unusable::Outside(real)) }
}

fn regular(path: PathBuf) -> Result<PathBuf, Unusable> {
    match fs::kind(&path)? {
        Some(Kind::File) => Ok(path),
        Some(Kind::Directory) => Err(Unusable::NotAFile("a directory")),
        Some(_) => Err(Unusable::NotAFile("a pipe, socket or device")),
        None => Err(Unusable::Gone),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{World, skill_text};

    /// S0-US2.1, S0-FR-016: the body is not read.
    #[test]
    fn only_the_frontmatter_is_read() {
        let world = World::new();
        world.write("s/SKILL.md", &(skill_text("s") + &"x".repeat(11 << 20)));
        let file = world.project().join("s/SKILL.md");
        let document = frontmatter(&file).expect("reads");
        assert_eq!((document.name(), document.body()), (Some("s"), ""));
        assert!(matches!(super::document(&file), Err(Unusable::TooLarge)));
    }

    #[test]
    fn what_has_no_end_of_frontmatter_is_told_from_its_start() {
        let world = World::new();
        let file = world.project().join("SKILL.md");
        let message = |text: &str| {
            world.write("SKILL.md", text);
            let document = frontmatter(&file).expect("reads");
            crate::skill::load(&document).expect_err("refused").to_string()
        };
        assert!(message("---\nname: x\n").contains("never closed"));
        assert!(message(&format!("---\nname: {}", "x".repeat(1 << 20))).contains("never closed"));
        assert!(message(&format!("{}é", "x".repeat(4095))).contains("no frontmatter"));
    }

    #[cfg(unix)]
    #[test]
    fn nothing_outside_of_the_directory_is_read() {
        let world = World::new();
        world.write("secret", "---\nname: x\ndescription: y\n---\n");
        world.write("s/docs/real.md", &skill_text("s"));
        let file = world.project().join("s/SKILL.md");
        let answer = |target: &str| {
            world.link(target, "s/SKILL.md");
            frontmatter(&file).map(|document| document.name().map(str::to_owned))
        };
        assert_eq!(answer("docs/real.md").expect("inside").as_deref(), Some("s"));
        assert!(matches!(answer("../secret"), Err(Unusable::Outside(_))));
        assert!(matches!(answer("docs/../../secret"), Err(Unusable::Outside(_))));
        assert!(matches!(answer("/etc/passwd"), Err(Unusable::Outside(_))));
        assert!(matches!(answer("nowhere"), Err(Unusable::Dangling(_))));
        assert!(matches!(answer("SKILL.md"), Err(Unusable::Dangling(_))));
        assert!(matches!(answer("docs"), Err(Unusable::NotAFile("a directory"))));
        let absolute = world.project().join("s/docs/real.md");
        assert!(matches!(answer(absolute.to_str().expect("text")), Err(Unusable::Absolute(_))));
        fs::remove_link(&file).expect("removes");
        assert!(matches!(frontmatter(&file), Err(Unusable::Gone)));
        fs::create_dir(&file).expect("creates");
        assert!(matches!(frontmatter(&file), Err(Unusable::NotAFile("a directory"))));
        fs::remove_tree(&file).expect("removes");
        rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("a pipe");
        assert!(matches!(document(&file), Err(Unusable::NotAFile(_))), "it does not hang");
    }
}
