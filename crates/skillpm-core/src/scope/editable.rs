//! Editable skills: the canonical place is a link to the directory where the skill is written.

use std::path::{Path, PathBuf};

use super::Scope;
use super::on_disk::real_dir;
use crate::advice::{Message, Verb, message};
use crate::error::Result;
use crate::fs::{self, LinkKind, System};
use crate::manifest::Requirement;
use crate::path::normal;
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;
use crate::source::local;

/// The directory of an editable skill, and the link to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Editable {
    /// The directory, with links resolved as far as it exists.
    pub directory: PathBuf,
    /// The link for the canonical place.
    pub link: LinkKind,
}

impl Editable {
    /// Returns the directory and link of `requirement` in `scope`, whether a skill is there or not. Returns
    /// `None` if it is not editable.
    ///
    /// A path that is relative in the manifest gives a relative link, so that both move with the project; an
    /// absolute path, or one that starts with `~`, gives an absolute link.
    ///
    /// # Errors
    ///
    /// Fails for a path that starts with `~` if the home directory is not known, and for a directory that
    /// cannot be examined.
    pub fn of(settings: &Settings, scope: &Scope, requirement: &Requirement) -> Result<Option<Self>> {
        let path = requirement.origin.local_path().filter(|_| requirement.editable);
        let Some(path) = path else { return Ok(None) };
        let below = |dir: PathBuf| match &requirement.path {
            Some(sub) => dir.join(sub),
            None => dir,
        };
        let parent = real_dir(&scope.skills_dir())?;
        let target = below(local::resolve(settings, scope.as_root(), path)?);
        let system = System::default();
        let link = if path.starts_with('~') || Path::new(path).is_absolute() {
            LinkKind::absolute(system, &parent, &target)
        } else {
            let root = fs::real_path(&scope.root)?.unwrap_or_else(|| scope.root.clone());
            LinkKind::choose(system, &parent, &below(normal(&root.join(path))))
        };
        Ok(Some(Self { directory: fs::real_path(&target)?.unwrap_or(target), link }))
    }

    /// Reports whether the directory exists.
    pub fn is_there(&self) -> bool {
        fs::exists(&self.directory)
    }
}

/// Returns advice for an editable skill whose directory is missing: no installation restores it.
pub(crate) fn put_back(scope: ScopeKind, name: &str) -> Message {
    message!("restore the directory, or remove the skill with ", Verb::Remove.within(scope).word(name))
}
