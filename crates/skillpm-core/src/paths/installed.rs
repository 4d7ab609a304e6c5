//! Locked skills, which are not changed just because a search found them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::target::Target;
use crate::agents;
use crate::context::Context;
use crate::error::Result;
use crate::fs;
use crate::lockfile::Lockfile;
use crate::path::normal;
use crate::scope::Scope;
use crate::scope::state::read_lock;
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;
use crate::skill::find::is_skill_file;

/// The files that are left alone: those of installed skills, whose bytes are locked, unless the user named
/// them.
#[derive(Debug)]
pub(crate) struct Installed<'a> {
    settings: &'a Settings,
    /// The lockfiles that were read.
    asked: BTreeSet<PathBuf>,
    /// The trees of locked skills, with links resolved: canonical and disabled ones, and copies for agents.
    trees: BTreeSet<PathBuf>,
    /// The directories that the user named, with links resolved.
    named: BTreeSet<PathBuf>,
}

impl<'a> Installed<'a> {
    /// Collects the skills in the lockfiles of the user and of the project around the working directory, and
    /// the directories in `targets`.
    pub(crate) fn new(context: &'a Context, targets: &[Target]) -> Result<Self> {
        let settings = &context.settings;
        let mut named = BTreeSet::new();
        for target in targets {
            let Target::Path(typed) = target else { continue };
            let at = settings.cwd.join(typed);
            named.extend(fs::real_path(&at)?);
            // Naming its `SKILL.md` names the skill.
            named.extend(directory(&at)?.filter(|_| at.file_name().is_some_and(is_skill_file)));
        }
        let project = Scope::new(settings, ScopeKind::Project)?;
        let asked = [project.lockfile.clone()].into();
        let mut known = Self { settings, asked, trees: BTreeSet::new(), named };
        known.learn(&project, &read_lock(&project)?)?;
        // Without a home directory there are no skills of the user.
        if let Ok(user) = Scope::new(settings, ScopeKind::User) {
            known.ask(&user)?;
        }
        Ok(known)
    }

    /// Records the skills in the lockfile of `scope`, which may be a project that the user did not name.
    fn ask(&mut self, scope: &Scope) -> Result<()> {
        if !self.asked.insert(scope.lockfile.clone()) {
            return Ok(());
        }
        if let Ok(lock) = read_lock(scope) {
            return self.learn(scope, &lock);
        }
        // It cannot be determined what is locked: nothing installed is touched.
        for dir in [scope.skills_dir(), scope.disabled_dir()] {
            self.trees.extend(fs::real_path(&dir)?);
        }
        Ok(())
    }

    /// Records the skills that `lock` lists for `scope`.
    fn learn(&mut self, scope: &Scope, lock: &Lockfile) -> Result<()> {
        for (name, locked) in &lock.skills {
            let agents = locked.agents.iter().filter_map(|id| agents::find(id).ok());
            let dirs = agents.filter_map(|agent| scope.agent_dir(self.settings, agent));
            for dir in [scope.skills_dir(), scope.disabled_dir()].into_iter().chain(dirs) {
                self.trees.extend(fs::real_path(&dir.join(name.as_str()))?);
            }
        }
        Ok(())
    }

    /// Reports whether the skill's file that is shown as `file` is left alone. Reads the lockfile of every
    /// project that contains it, as a search may start above or beside it.
    pub(crate) fn holds(&mut self, file: &Path) -> Result<bool> {
        let file = self.settings.cwd.join(file);
        let Some(dir) = directory(&file)? else { return Ok(false) };
        if self.named.contains(&dir) {
            return Ok(false);
        }
        // An agent's directory may be a link to somewhere else. No skill is installed into a root itself.
        let file = normal(&file);
        let typed = file.parent().into_iter().flat_map(Path::ancestors).skip(2);
        for root in typed.chain(dir.ancestors().skip(2)) {
            self.ask(&Scope::project(self.settings, root))?;
        }
        Ok(dir.ancestors().any(|dir| self.trees.contains(dir)))
    }
}

/// Returns the directory that holds `file`, with links resolved.
fn directory(file: &Path) -> Result<Option<PathBuf>> {
    Ok(file.parent().map(fs::real_path).transpose()?.flatten())
}
