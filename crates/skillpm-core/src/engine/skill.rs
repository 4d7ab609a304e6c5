//! A skill, as a search found it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::diagnostic::{Diagnostic, key};
use super::load::SKILL_FILE;
use super::sources::{Source, SourceKind};
use crate::skill::{Deviation, SkillMeta};

/// A skill that an agent can use. Its body has not been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// The metadata from its frontmatter.
    pub meta: SkillMeta,
    /// The name of the source in which it was found.
    pub source: Arc<str>,
    /// The kind of that source.
    pub kind: SourceKind,
    /// The directory, below that of its source.
    pub dir: PathBuf,
    /// The file.
    pub file: PathBuf,
    /// The directory with all links followed.
    pub real: PathBuf,
    /// The deviations in its file that were tolerated.
    pub deviations: Vec<Deviation>,
}

impl Skill {
    /// Reports whether its frontmatter says that only a person may start it.
    pub fn is_for_people(&self) -> bool {
        match self.meta.extra.get("disable-model-invocation") {
            Some(Value::Bool(hidden)) => *hidden,
            Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
            _ => false,
        }
    }

    /// Returns the rank of this skill among skills of the same name in `source`; the lowest wins. It is 0 if its
    /// directory has its name and is directly in the source, 1 if its directory has its name and is further below, and
    /// 2 otherwise.
    pub(super) fn rank_in(&self, source: &Source) -> u8 {
        if self.dir.file_name().is_none_or(|dir| dir != &*key(&self.meta.name)) {
            return 2;
        }
        u8::from(self.dir.parent() != Some(&*source.dir))
    }

    /// Reports whether it has the same name as `other`, in which case only one of the two is used.
    pub(crate) fn has_name_of(&self, other: &Self) -> bool {
        key(&self.meta.name) == key(&other.meta.name)
    }

    /// Returns its tolerated deviations, each with its file and position.
    pub(super) fn told(&self) -> impl Iterator<Item = Diagnostic> {
        self.deviations.iter().map(|deviation| {
            let (file, deviation) = (self.file.clone(), Box::new(deviation.clone()));
            Diagnostic::Deviation { file, deviation }
        })
    }

    /// Returns a diagnostic if its file has another name than `SKILL.md`.
    pub(super) fn misspelled(&self) -> Option<Diagnostic> {
        let is_right = self.file.file_name().is_some_and(|name| name == SKILL_FILE);
        (!is_right).then(|| Diagnostic::Spelling(self.file.clone()))
    }

    /// Returns its path below the directory of `source`, with `/` between the components; `None` if it is elsewhere or
    /// the path is not UTF-8.
    pub fn path_below(&self, source: &Source) -> Option<String> {
        let below = self.dir.strip_prefix(&source.dir).ok()?;
        let parts: Option<Vec<_>> = below.iter().map(|part| part.to_str()).collect();
        Some(parts?.join("/"))
    }

    /// Returns the diagnostic for this skill when the one in `used` hides it.
    pub(super) fn shadowed_by(&self, used: &Path) -> Diagnostic {
        let (name, hidden) = (self.meta.name.clone(), self.dir.clone());
        Diagnostic::Shadowed { name, used: used.to_owned(), hidden }
    }
}
