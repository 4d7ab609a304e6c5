//! Skills that a lockfile names, and that are not to be changed just because a search found them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Target;
use crate::context::Context;
use crate::error::Result;
use crate::fs;
use crate::install::agents;
use crate::install::scope::{Scope, ScopeKind};
use crate::install::state::read_lock;

/// Which files are left alone: those of installed skills, whose bytes are locked, unless somebody named them.
#[derive(Debug)]
pub(in crate::ops) struct Installed {
    cwd: PathBuf,
    /// The trees of locked skills, links followed: the canonical and disabled ones, and the copies of agents.
    trees: BTreeSet<PathBuf>,
    /// The directories that somebody named, links followed.
    named: BTreeSet<PathBuf>,
}

impl Installed {
    /// Knows what the lockfile of the project around the working directory names, and what `targets` name.
    ///
    /// # Errors
    ///
    /// A lockfile that is wrong; a directory that cannot be looked at.
    pub(in crate::ops) fn new(context: &Context, targets: &[Target]) -> Result<Self> {
        let settings = &context.settings;
        let scope = Scope::new(settings, ScopeKind::Project)?;
        let mut trees = BTreeSet::new();
        for (name, locked) in &read_lock(&scope)?.skills {
            let own = locked.agents.iter().filter_map(|id| agents::find(id).ok());
            let dirs = own.filter_map(|agent| scope.agent_dir(settings, agent));
            for dir in [scope.skills_dir(), scope.disabled_dir()].into_iter().chain(dirs) {
                trees.extend(fs::real_path(&dir.join(name.as_str()))?);
            }
        }
        let cwd = settings.cwd.clone();
        let mut named = BTreeSet::new();
        for target in targets {
            let Target::Path(typed) = target else { continue };
            let at = cwd.join(typed);
            named.extend(fs::real_path(&at)?);
            // Who names the file names its skill.
            named.extend(
                directory(&at)?.filter(|_| fs::kind(&at).is_ok_and(|kind| kind != Some(fs::Kind::Directory))),
            );
        }
        Ok(Self { cwd, trees, named })
    }

    /// Whether the skill's file that is shown as `file` is left alone.
    ///
    /// # Errors
    ///
    /// Where its directory cannot be looked at.
    pub(in crate::ops) fn holds(&self, file: &Path) -> Result<bool> {
        if self.trees.is_empty() {
            return Ok(false);
        }
        let Some(dir) = directory(&self.cwd.join(file))? else { return Ok(false) };
        Ok(!self.named.contains(&dir) && dir.ancestors().any(|dir| self.trees.contains(dir)))
    }
}

/// The directory that holds `file`, links followed.
fn directory(file: &Path) -> Result<Option<PathBuf>> {
    Ok(file.parent().map(fs::real_path).transpose()?.flatten())
}
