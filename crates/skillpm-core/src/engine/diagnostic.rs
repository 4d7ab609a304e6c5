//! Problems of a search.

use std::borrow::Cow;
use std::path::PathBuf;

use super::find::MAX_DIRECTORIES;
use super::load::{MAX_SKILL_FILE, SKILL_FILE, Unusable};
use crate::fs::PathError;
use crate::name::SkillName;
use crate::skill::Deviation;

/// A problem that kept a skill from being found, or that a person should know about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Diagnostic {
    /// A source exists but cannot be read.
    #[error("no skills were looked for in `{}`: {}", .0.path.display(), .0.source)]
    Source(PathError),
    /// A skill that no agent can use.
    #[error("`{}` cannot be loaded: {reason}", file.display())]
    Skill {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: Unusable,
    },
    /// A file whose name differs from `SKILL.md` in case.
    #[error("`{}`: most tools look for `{SKILL_FILE}` only; rename the file", .0.display())]
    Spelling(PathBuf),
    /// A second file whose name differs from `SKILL.md` in case only.
    #[error("`{}` is ignored: `{SKILL_FILE}` is beside it", .0.display())]
    SecondFile(PathBuf),
    /// A file whose frontmatter was read but that is too large to be loaded.
    #[error("`{}` has more than {} MiB: it is listed, but cannot be loaded; move long parts into files beside it", .0.display(), MAX_SKILL_FILE >> 20)]
    TooLarge(PathBuf),
    /// A source whose directory does not exist.
    #[error("there is no directory `{}`", .0.display())]
    Missing(PathBuf),
    /// Sources of a project that the user does not trust: their directories.
    #[error("the project is not trusted, so its skills are left out: {}", quoted(.0))]
    Untrusted(Vec<PathBuf>),
    /// A source with more directories than are searched.
    #[error("`{}` has more than {MAX_DIRECTORIES} directories; the others were not searched", .0.display())]
    TooManyDirectories(PathBuf),
    /// A deviation in a skill that was loaded.
    #[error("`{}`, line {}: {deviation}", file.display(), deviation.at.line)]
    Deviation {
        /// The file.
        file: PathBuf,
        /// The deviation and its position.
        deviation: Box<Deviation>,
    },
    /// A skill that another skill with the same name hides.
    #[error("the skill `{name}` was found twice: `{}` is used, `{}` is ignored", used.display(), hidden.display())]
    Shadowed {
        /// The name.
        name: String,
        /// The directory of the skill that is used.
        used: PathBuf,
        /// The directory of the hidden skill.
        hidden: PathBuf,
    },
}

impl Diagnostic {
    /// Reports whether it is about a skill that cannot be loaded, in a directory called `name`.
    pub fn is_of_directory(&self, name: &str) -> bool {
        let Self::Skill { file, .. } = self else { return false };
        // The directory itself, if that is what cannot be read.
        [Some(&**file), file.parent()]
            .into_iter()
            .flatten()
            .any(|path| path.file_name().is_some_and(|dir| dir == name))
    }
}

/// Returns the paths as a text.
fn quoted(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
}

/// Returns the key by which names are compared: spellings of a valid name are equal, any other name equals only itself.
pub(super) fn key(name: &str) -> Cow<'_, str> {
    SkillName::new(name).map_or(Cow::Borrowed(name), |name| Cow::Owned(name.into()))
}
