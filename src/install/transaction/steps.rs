//! The steps of a transaction: doing one, doing it again after a crash, and taking it back.

use std::path::{Path, PathBuf};

use super::Transaction;
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::fs::{self, Kind};
use crate::install::plan::Step;
use crate::install::state::{digest_of, relative};
use crate::name::SkillName;
use crate::store;

impl Transaction<'_> {
    /// Does one step for the first time. The plan was made a moment ago: what is no longer as it was
    /// then is the user's work, and an error.
    pub(super) fn step(&self, at: usize, step: &Step) -> Result<()> {
        let (target, tree) = (self.target(step)?, self.tree(at));
        let lies = fs::kind(&target)?;
        match (step, lies) {
            (Step::Put { replaces: None, .. }, None) => {
                self.make_parent(&target)?;
                Ok(fs::move_new(&tree, &target)?)
            }
            (Step::Put { replaces: Some(old), .. }, Some(Kind::Directory)) => {
                fs::exchange(&tree, &target)?;
                unchanged(&tree, old, &target)
            }
            (Step::Remove { old, .. }, Some(Kind::Directory)) => {
                fs::move_new(&target, &tree)?;
                unchanged(&tree, old, &target)
            }
            (Step::Link { name, .. }, None) => self.link(&target, name),
            (Step::Link { name, .. }, Some(Kind::Symlink)) => {
                fs::move_new(&target, &tree)?;
                self.link(&target, name)
            }
            (Step::Unlink { .. }, Some(Kind::Symlink)) => Ok(fs::move_new(&target, &tree)?),
            // Gone already: somebody else did it.
            (Step::Remove { .. } | Step::Unlink { .. }, None) => Ok(()),
            _ => Err(changed(&target)),
        }
    }

    /// Does one step of a journal that was found. It may have been done already, the user may have
    /// worked since, and the journal may be a stranger's: only what is exactly as it says is touched.
    pub(super) fn step_again(&self, at: usize, step: &Step) -> Result<()> {
        let (target, tree) = (self.target(step)?, self.tree(at));
        fs::clear_moves(&target)?;
        clear_rest(step, &target, &tree)?;
        let (lies, staged) = (fs::kind(&target)?, fs::kind(&tree)?);
        match (step, lies, staged) {
            (Step::Put { digest, .. }, None, Some(Kind::Directory)) if holds(&tree, digest) => {
                self.make_parent(&target)?;
                Ok(fs::move_new(&tree, &target)?)
            }
            (Step::Put { digest, replaces: Some(old), .. }, Some(Kind::Directory), Some(Kind::Directory))
                if holds(&tree, digest) && holds(&target, old) =>
            {
                Ok(fs::exchange(&tree, &target)?)
            }
            // Where something is set aside already, the step was done, and what lies there came later.
            (Step::Remove { old, .. }, Some(Kind::Directory), None) if holds(&target, old) => {
                Ok(fs::move_new(&target, &tree)?)
            }
            (Step::Link { name, .. }, None, _) => self.link(&target, name),
            (Step::Link { name, .. }, Some(Kind::Symlink), None) if !self.is_our_link(&target, name)? => {
                fs::move_new(&target, &tree)?;
                self.link(&target, name)
            }
            (Step::Unlink { .. }, Some(Kind::Symlink), None) => Ok(fs::move_new(&target, &tree)?),
            _ => Ok(()),
        }
    }

    /// Takes a step back, which may have been done, or a part of it, or nothing.
    pub(super) fn undo_step(&self, at: usize, step: &Step) -> Result<()> {
        let (target, tree) = (self.target(step)?, self.tree(at));
        fs::clear_moves(&target)?;
        fs::clear_moves(&tree)?;
        let (lies, aside) = (fs::kind(&target)?, fs::kind(&tree)?);
        match (step, lies, aside) {
            (Step::Put { replaces: None, digest, .. }, Some(Kind::Directory), None)
                if holds(&target, digest) =>
            {
                Ok(fs::move_new(&target, &tree)?)
            }
            (Step::Put { replaces: Some(_), digest, .. }, Some(Kind::Directory), Some(_))
                if !holds(&tree, digest) =>
            {
                Ok(fs::exchange(&tree, &target)?)
            }
            (Step::Remove { .. } | Step::Unlink { .. } | Step::Link { .. }, None, Some(_)) => {
                Ok(fs::move_new(&tree, &target)?)
            }
            (Step::Link { name, .. }, Some(Kind::Symlink), _) if self.is_our_link(&target, name)? => {
                fs::remove_link(&target)?;
                match aside {
                    Some(_) => Ok(fs::move_new(&tree, &target)?),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// The path that a step is about. Computed from the scope and the table of agents alone.
    pub(super) fn target(&self, step: &Step) -> Result<PathBuf> {
        let (place, name) = step.place();
        self.scope.place(self.settings, &place, name)
    }

    /// Makes the link to the canonical copy at `link`, where nothing lies.
    fn link(&self, link: &Path, name: &SkillName) -> Result<()> {
        self.make_parent(link)?;
        Ok(fs::symlink(&self.link_target(link, name)?, link)?)
    }

    fn is_our_link(&self, link: &Path, name: &SkillName) -> Result<bool> {
        Ok(fs::read_link(link)? == Some(self.link_target(link, name)?))
    }

    /// What a link to the canonical copy says, seen from where the link really lies.
    fn link_target(&self, link: &Path, name: &SkillName) -> Result<PathBuf> {
        let parent = link.parent().unwrap_or(&self.scope.root);
        let from = fs::real_path(parent)?.unwrap_or_else(|| parent.to_owned());
        let canonical = self.scope.skills_dir();
        let to = fs::real_path(&canonical)?.unwrap_or(canonical);
        Ok(relative(&from, &to).join(name.as_str()))
    }
}

/// Removes what is left of a tree or link that a killed run was taking away by a copy, because no
/// rename could: a part of what is whole elsewhere, so nothing is lost.
fn clear_rest(step: &Step, target: &Path, tree: &Path) -> Result<()> {
    let is_rest = match step {
        Step::Put { digest, replaces: Some(old), .. } => {
            let copy = fs::beside(tree);
            holds(tree, digest) && !holds(target, old) && holds(&copy, old) && is_part(target, &copy)
        }
        Step::Remove { old, .. } => holds(tree, old) && is_part(target, tree),
        Step::Unlink { .. } | Step::Link { .. } => {
            let there = fs::read_link(target)?;
            there.is_some() && there == fs::read_link(tree)?
        }
        Step::Put { .. } => false,
    };
    if is_rest { Ok(fs::remove_tree(target)?) } else { Ok(()) }
}

/// Whether directory `dir` has only files that `whole` has too, with the same bytes.
fn is_part(dir: &Path, whole: &Path) -> bool {
    let (Ok(Some(Kind::Directory)), Ok(part), Ok(whole)) =
        (fs::kind(dir), store::read(dir), store::read(whole))
    else {
        return false;
    };
    part.files().iter().all(|file| {
        whole.get(file.path.as_str()).is_some_and(|other| {
            file.size == other.size
                && matches!((part.read(file), whole.read(other)), (Ok(one), Ok(two)) if one == two)
        })
    })
}

fn holds(dir: &Path, digest: &Digest) -> bool {
    digest_of(dir).as_ref() == Some(digest)
}

/// Checks what was taken away from `target`: it may have been edited since the plan was made.
fn unchanged(taken: &Path, expected: &Digest, target: &Path) -> Result<()> {
    if holds(taken, expected) { Ok(()) } else { Err(changed(target)) }
}

fn changed(path: &Path) -> Error {
    Error::new(ErrorKind::Findings, format!("`{}` was changed while skillpm was at work", path.display()))
        .hint("nothing was changed by skillpm: run the command again")
}
