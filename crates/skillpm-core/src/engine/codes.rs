//! The code, severity and position of a [`Diagnostic`], for programs.

use std::path::Path;

use super::diagnostic::Diagnostic;
use super::load::Unusable;
use super::resources::Unreadable;
use crate::advice::{Verb, Warning, message};
use crate::codes;
use crate::document::Position;
use crate::fs::BeneathError;
use crate::lint::Severity;
use crate::scope::trees::Trees;

impl Diagnostic {
    /// Returns the code: that of the lint rule that reports the same problem, otherwise a code of its own. Codes never
    /// change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Source(_) => codes::SOURCE_UNREADABLE,
            Self::Skill { reason, .. } => reason.code(),
            Self::Spelling(_) => "file-name",
            Self::SecondFile(_) => codes::SECOND_FILE,
            Self::TooLarge(_) => codes::TOO_LARGE,
            Self::Missing(_) => codes::SOURCE_MISSING,
            Self::Untrusted(_) => codes::PROJECT_NOT_TRUSTED,
            Self::TooManyDirectories(_) => codes::TOO_MANY_DIRECTORIES,
            Self::Deviation { deviation, .. } => deviation.kind.code(),
            Self::Shadowed { .. } => codes::SHADOWED,
        }
    }

    /// Returns the severity: an error keeps skills from being used.
    pub fn severity(&self) -> Severity {
        match self {
            Self::Source(_) | Self::Skill { .. } | Self::TooManyDirectories(_) => Severity::Error,
            Self::Missing(_)
            | Self::Untrusted(_)
            | Self::Spelling(_)
            | Self::SecondFile(_)
            | Self::TooLarge(_)
            | Self::Deviation { .. }
            | Self::Shadowed { .. } => Severity::Warning,
        }
    }

    /// Reports whether a person who did not ask should be told. One skill in two scopes, or a copy for an agent, has the
    /// same files: it makes no difference which is used. They are only read for this question.
    pub(crate) fn is_told(&self) -> bool {
        let Self::Shadowed { used, hidden, .. } = self else { return true };
        let digest = |dir: &Path| Trees::default().digest(dir);
        digest(hidden).is_none_or(|hidden| digest(used) != Some(hidden))
    }

    /// Returns the file or directory that has the problem.
    pub fn path(&self) -> &Path {
        match self {
            Self::Source(error) => &error.path,
            Self::Skill { file, .. } | Self::Deviation { file, .. } => file,
            Self::Spelling(path)
            | Self::SecondFile(path)
            | Self::TooLarge(path)
            | Self::Missing(path)
            | Self::TooManyDirectories(path) => path,
            Self::Untrusted(dirs) => dirs.first().map_or(Path::new(""), |dir| dir),
            Self::Shadowed { hidden, .. } => hidden,
        }
    }

    /// Returns the position in the file, if the problem has one.
    pub fn at(&self) -> Option<Position> {
        match self {
            Self::Skill { reason: Unusable::Content(error), .. } => error.at(),
            Self::Deviation { deviation, .. } => Some(deviation.at),
            _ => None,
        }
    }
}

impl From<&Diagnostic> for Warning {
    fn from(diagnostic: &Diagnostic) -> Self {
        let text = diagnostic.to_string();
        match diagnostic {
            Diagnostic::Untrusted(_) => {
                Self::new(diagnostic.code(), message!(text, "; ", Verb::Trust.call().word("."), " trusts it"))
            }
            _ => Self::new(diagnostic.code(), text),
        }
    }
}

impl Unusable {
    /// Returns the code that [`Diagnostic::code`] has for this.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Gone => codes::GONE,
            Self::Misspelled => "file-name",
            Self::NotAFile(_) => codes::NOT_A_FILE,
            Self::Dangling(_) => codes::LINK_DANGLING,
            Self::Outside(_) | Self::Absolute(_) => "link-outside",
            Self::OddName => codes::DIRECTORY_NOT_UTF8,
            Self::TooLarge => codes::TOO_LARGE,
            Self::Unreadable(_) => codes::UNREADABLE,
            Self::Content(error) => error.code(),
        }
    }
}

impl Unreadable {
    /// Returns the code. Codes never change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty => codes::PATH_EMPTY,
            Self::Nul => codes::PATH_NUL,
            Self::Absolute => codes::PATH_ABSOLUTE,
            Self::Dots => codes::PATH_PARENT,
            Self::Absent(_) | Self::Refused(BeneathError::Absent) => codes::FILE_NOT_FOUND,
            Self::Directory(_) => codes::FILE_IS_DIRECTORY,
            Self::Refused(BeneathError::Outside | BeneathError::Loop) => codes::PATH_OUTSIDE,
            Self::Refused(BeneathError::NotAFile(_)) => codes::NOT_A_FILE,
            Self::Refused(BeneathError::TooLarge { .. }) => codes::TOO_LARGE,
            Self::Refused(BeneathError::Unreadable(_)) => codes::UNREADABLE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;
    use crate::engine::{default_sources, discover};

    /// S0-E1, S0-E2: each diagnostic has a code, a severity and a position.
    #[test]
    fn facts_of_what_is_found() {
        use Severity::{Error, Warning};

        let world = World::new();
        world.write(".agents/skills/a/SKILL.md", "---\nname: a\ndescription: b\nnonsense\n---\n");
        world.write(".agents/skills/empty/SKILL.md", "");
        world.skill(".agents/skills/pdf", "pdf");
        world.skill(".claude/skills/pdf", "pdf");
        world.write("../home/.agents/skills/word/skill.md", &crate::engine::testing::skill_text("word"));
        world.write("../home/.claude/skills", "no directory");
        let found = discover(&default_sources(&world.context().settings).expect("sources"));
        let facts: Vec<_> = found
            .diagnostics
            .iter()
            .map(|told| {
                let path = told.path().strip_prefix(world.root()).expect("below");
                let path = path.to_string_lossy().replace('\\', "/");
                (told.code(), told.severity(), path, told.at().map(|at| at.line))
            })
            .collect();
        let expected = [
            ("yaml-syntax", Error, "project/.agents/skills/a/SKILL.md", Some(4)),
            ("frontmatter-missing", Error, "project/.agents/skills/empty/SKILL.md", None),
            ("source-unreadable", Error, "home/.claude/skills", None),
            ("shadowed", Warning, "project/.claude/skills/pdf", None),
            ("file-name", Warning, "home/.agents/skills/word/skill.md", None),
        ];
        let mut expected: Vec<_> =
            expected.map(|(code, severity, path, line)| (code, severity, path.to_owned(), line)).into();
        let mut facts = facts;
        facts.sort();
        expected.sort();
        assert_eq!(facts, expected);
    }
}
