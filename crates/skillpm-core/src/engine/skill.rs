//! A skill as it was found.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::discover::{Diagnostic, key};
use super::load::SKILL_FILE;
use super::sources::{Source, SourceKind};
use crate::skill::{Deviation, SkillMeta};

/// A skill that an agent can use. Its body has not been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// What its frontmatter says.
    pub meta: SkillMeta,
    /// The name of the source in which it was found.
    pub source: Arc<str>,
    /// Whose source that is.
    pub kind: SourceKind,
    /// Its directory, below that of its source.
    pub dir: PathBuf,
    /// Its file.
    pub file: PathBuf,
    /// Its directory with all links followed.
    pub real: PathBuf,
    /// The deviations in its file that were tolerated.
    pub deviations: Vec<Deviation>,
}

impl Skill {
    /// Reports whether it says that only a person is to start it.
    pub fn is_for_people(&self) -> bool {
        match self.meta.extra.get("disable-model-invocation") {
            Some(Value::Bool(hidden)) => *hidden,
            Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
            _ => false,
        }
    }

    /// Returns how well it is served in `source` where others there have its name, the smallest best: 0 in the
    /// directory of its name right in the source; 1 in one of its name further below; else 2.
    pub(super) fn rank_in(&self, source: &Source) -> u8 {
        if self.dir.file_name().is_none_or(|dir| dir != &*key(&self.meta.name)) {
            return 2;
        }
        u8::from(self.dir.parent() != Some(&*source.dir))
    }

    /// Reports whether it has the name of `other`: then only one of the two is used.
    pub fn has_name_of(&self, other: &Self) -> bool {
        key(&self.meta.name) == key(&other.meta.name)
    }

    /// Returns the deviations in it that were tolerated, each with its file and place.
    pub(super) fn told(&self) -> impl Iterator<Item = Diagnostic> {
        self.deviations.iter().map(|deviation| {
            let (file, deviation) = (self.file.clone(), Box::new(deviation.clone()));
            Diagnostic::Deviation { file, deviation }
        })
    }

    /// Returns what is to be said of the name of its file.
    pub(super) fn misspelled(&self) -> Option<Diagnostic> {
        let is_right = self.file.file_name().is_some_and(|name| name == SKILL_FILE);
        (!is_right).then(|| Diagnostic::Spelling(self.file.clone()))
    }

    /// Returns where it is below the directory of `source`, with `/` between the parts; `None` if it does not, and for
    /// names that are not text.
    pub fn path_below(&self, source: &Source) -> Option<String> {
        let below = self.dir.strip_prefix(&source.dir).ok()?;
        let parts: Option<Vec<_>> = below.iter().map(|part| part.to_str()).collect();
        Some(parts?.join("/"))
    }

    /// Returns what is to be said where the skill in `used` is used instead of this one.
    pub(super) fn shadowed_by(&self, used: &Path) -> Diagnostic {
        let (name, hidden) = (self.meta.name.clone(), self.dir.clone());
        Diagnostic::Shadowed { name, used: used.to_owned(), hidden }
    }
}
