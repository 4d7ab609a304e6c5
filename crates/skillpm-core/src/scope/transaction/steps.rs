//! Steps of a transaction: doing them, repeating them after a crash, and taking them back.

use std::path::{Path, PathBuf};

use super::Transaction;
use super::record::of_text;
use crate::advice::{Opt, message};
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::fs::{self, Kind, LinkKind, System};
use crate::name::SkillName;
use crate::scope::editable::Editable;
use crate::scope::on_disk::Inside;
use crate::scope::step::{Location, Step};
use crate::scope::trees::{Trees, inside_as, is_tree};
use crate::store;

impl Transaction<'_> {
    /// Does one step for the first time. The plan was made a moment ago: anything that has changed since is
    /// the user's work, and an error.
    pub(super) fn step(&self, at: usize, step: &Step) -> Result<()> {
        let target = self.target(step)?;
        if let Step::Put { replaces: None, .. } = step {
            self.make_parent(&target)?;
            return fs::move_new(&self.tree(at), &target).map_err(|error| match error.source.kind() {
                std::io::ErrorKind::AlreadyExists => changed(&target),
                _ => error.into(),
            });
        }
        // Usually nothing is there, which shows when the link is made.
        if let Step::Link { .. } = step
            && self.there.borrow().contains(target.parent().unwrap_or(&target))
            && let Some(kind) = self.kind_of_link(&target, step)?
            && matches!(fs::make_new(&kind, &target), Ok(true))
        {
            return Ok(());
        }
        self.clear_written(&target, step)?;
        let (on_disk, tree) = (fs::kind(&target)?, self.tree(at));
        match (step, on_disk) {
            (Step::Put { replaces: Some(old), .. }, Some(Kind::Directory)) => {
                fs::exchange(&tree, &target)?;
                unchanged(&tree, old, &target)
            }
            (Step::Remove { old, .. }, Some(Kind::Directory)) => {
                fs::move_new(&target, &tree)?;
                unchanged(&tree, old, &target)
            }
            (Step::Link { .. } | Step::Edit { .. }, None) => self.link(&target, step),
            (Step::Link { .. } | Step::Edit { .. }, Some(Kind::Symlink)) => {
                fs::move_new(&target, &tree)?;
                self.link(&target, step)
            }
            // A last-moment edit moves along, so nothing has to be compared.
            (Step::Disable { .. } | Step::Enable { .. }, Some(Kind::Directory)) => {
                let other = self.destination(step)?.unwrap_or(tree);
                self.make_parent(&other)?;
                Ok(fs::move_new(&target, &other)?)
            }
            (Step::Unlink { .. }, Some(Kind::Symlink)) => Ok(fs::move_new(&target, &tree)?),
            (Step::Relink { says: text, .. }, None) if says(&tree, text) => {
                self.make_parent(&target)?;
                Ok(fs::move_new(&tree, &target)?)
            }
            (Step::Relink { says: text, .. }, Some(Kind::Symlink)) if says(&tree, text) => {
                Ok(fs::exchange(&tree, &target)?)
            }
            // Already removed by another program.
            (Step::Remove { .. } | Step::Unlink { .. }, None) => Ok(()),
            _ => Err(changed(&target)),
        }
    }

    /// Does one step of a journal that an earlier run left. It may have been done already, the user may have
    /// worked since, and the journal may be a stranger's: only what matches it exactly is touched.
    pub(super) fn step_again(&self, at: usize, step: &Step) -> Result<()> {
        let (target, tree) = (self.target(step)?, self.tree(at));
        fs::clear_moves(&target)?;
        if let Some(other) = self.destination(step)? {
            return self.move_again(step, &target, &other);
        }
        clear_rest(step, &target, &tree)?;
        self.clear_written(&target, step)?;
        let (on_disk, staged) = (fs::kind(&target)?, fs::kind(&tree)?);
        match (step, on_disk, staged) {
            (Step::Put { digest, .. }, None, Some(Kind::Directory)) if holds(&tree, digest) => {
                self.make_parent(&target)?;
                Ok(fs::move_new(&tree, &target)?)
            }
            (Step::Put { digest, replaces: Some(old), .. }, Some(Kind::Directory), Some(Kind::Directory))
                if holds(&tree, digest) && is_untouched(&target, old) =>
            {
                Ok(fs::exchange(&tree, &target)?)
            }
            // If something is set aside already, the step was done, and the target came later.
            (Step::Remove { old, .. }, Some(Kind::Directory), None) if is_untouched(&target, old) => {
                Ok(fs::move_new(&target, &tree)?)
            }
            (Step::Link { .. } | Step::Edit { .. }, None, _) => self.link(&target, step),
            (Step::Link { .. } | Step::Edit { .. }, Some(Kind::Symlink), None)
                if !self.is_our_link(&target, step)? =>
            {
                fs::move_new(&target, &tree)?;
                self.link(&target, step)
            }
            (Step::Unlink { .. }, Some(Kind::Symlink), None) => Ok(fs::move_new(&target, &tree)?),
            (Step::Relink { says: text, .. }, None, Some(_)) if says(&tree, text) => {
                self.make_parent(&target)?;
                Ok(fs::move_new(&tree, &target)?)
            }
            // After the exchange, the link that was set aside has a different text.
            (Step::Relink { says: text, .. }, Some(Kind::Symlink), Some(_))
                if says(&tree, text) && !says(&target, text) =>
            {
                Ok(fs::exchange(&tree, &target)?)
            }
            _ => Ok(()),
        }
    }

    /// Moves the tree at `target` to `other`, for the journal of a killed run.
    fn move_again(&self, step: &Step, target: &Path, other: &Path) -> Result<()> {
        let (Step::Disable { digest, .. } | Step::Enable { digest, .. }) = step else { return Ok(()) };
        fs::clear_moves(other)?;
        // A tree that could not be moved by a rename was removed file by file: this is the rest of it.
        if digest.is_some_and(|digest| is_tree(other, &digest)) && is_part(target, other) {
            return Ok(fs::remove_tree(target)?);
        }
        match (fs::kind(target)?, fs::kind(other)?) {
            (Some(Kind::Directory), None) if is_as(target, digest.as_ref()) => {
                self.make_parent(other)?;
                Ok(fs::move_new(target, other)?)
            }
            _ => Ok(()),
        }
    }

    /// Takes back a step that may have been done fully, partly, or not at all. A new tree was in place for a while: if it
    /// was edited there, it is saved.
    pub(super) fn undo_step(&self, at: usize, step: &Step) -> Result<()> {
        self.move_back(at, step)?;
        let (Step::Put { name, digest, .. } | Step::Remove { name, old: digest, .. }) = step else {
            return Ok(());
        };
        let tree = self.tree(at);
        if fs::kind(&tree)? != Some(Kind::Directory) || is_untouched(&tree, digest) {
            return Ok(());
        }
        self.save(name, &tree).inspect_err(|_| {
            // The author looks for it there, and the next run continues from there.
            if let (Step::Put { .. }, Ok(target)) = (step, self.target(step)) {
                let _ = match fs::kind(&target) {
                    Ok(None) => fs::move_new(&tree, &target),
                    _ => fs::exchange(&tree, &target),
                };
            }
        })
    }

    fn move_back(&self, at: usize, step: &Step) -> Result<()> {
        let (target, tree) = (self.target(step)?, self.tree(at));
        rescue(step, &target, &tree)?;
        fs::clear_moves(&target)?;
        fs::clear_moves(&tree)?;
        if let Some(other) = self.destination(step)? {
            fs::clear_moves(&other)?;
            if is_part(&target, &other) && !is_part(&other, &target) {
                fs::remove_tree(&target)?;
            }
            return match (fs::kind(&target)?, fs::kind(&other)?) {
                (None, Some(Kind::Directory)) => Ok(fs::move_new(&other, &target)?),
                _ => Ok(()),
            };
        }
        let goes = match step {
            Step::Remove { .. } => true,
            Step::Put { digest, replaces, .. } => replaces.is_some() && !holds(&target, digest),
            _ => false,
        };
        if goes && is_part(&target, &tree) {
            fs::remove_tree(&target)?;
        }
        let (on_disk, in_journal) = (fs::kind(&target)?, fs::kind(&tree)?);
        match (step, on_disk, in_journal) {
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
            (Step::Put { replaces: Some(old), .. }, None, Some(_)) if holds(&tree, old) => {
                Ok(fs::move_new(&tree, &target)?)
            }
            (
                Step::Remove { .. } | Step::Unlink { .. } | Step::Link { .. } | Step::Edit { .. },
                None,
                Some(_),
            ) => Ok(fs::move_new(&tree, &target)?),
            (Step::Link { .. } | Step::Edit { .. }, Some(Kind::Symlink), _)
                if self.is_our_link(&target, step)? =>
            {
                fs::remove_link(&target)?;
                match in_journal {
                    Some(_) => Ok(fs::move_new(&tree, &target)?),
                    None => Ok(()),
                }
            }
            (Step::Relink { says: text, .. }, Some(Kind::Symlink), _) if says(&target, text) => {
                match in_journal {
                    None => Ok(fs::move_new(&target, &tree)?),
                    Some(_) if !says(&tree, text) => Ok(fs::exchange(&tree, &target)?),
                    Some(_) => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Returns the path that a step changes. Computed only from the scope and the table of agents.
    pub(super) fn target(&self, step: &Step) -> Result<PathBuf> {
        let (place, name) = step.place();
        self.places.of(&place, name)
    }

    /// Returns the path to which the step moves what is at [`Self::target`], if it is such a move.
    pub(super) fn destination(&self, step: &Step) -> Result<Option<PathBuf>> {
        let (_, name) = step.place();
        step.goes_to().map(|place| self.places.of(&place, name)).transpose()
    }

    /// Makes the link of `step` at `link`, where nothing exists.
    fn link(&self, link: &Path, step: &Step) -> Result<()> {
        self.make_parent(link)?;
        match self.kind_of_link(link, step)? {
            Some(kind) => fs::make_link(&kind, link).map_err(|error| {
                use std::io::ErrorKind as Io;
                let no_links = matches!(error.source.kind(), Io::PermissionDenied | Io::Unsupported);
                let error = Error::from(error);
                if no_links {
                    error.hint(message!("where no links can be made, ", Opt::Copy, " gives agents copies"))
                } else {
                    error
                }
            }),
            None => Ok(()),
        }
    }

    /// Removes the file at `target` that contains our link's text, if `step` makes or removes that link.
    /// Nothing is lost, so it is not set aside.
    fn clear_written(&self, target: &Path, step: &Step) -> Result<()> {
        let is_link = matches!(step, Step::Link { .. } | Step::Unlink { place: Location::Agent(_), .. });
        if is_link
            && fs::kind(target)? == Some(Kind::File)
            && let Some(parent) = target.parent()
            && let (Some(from), Some(to)) = (fs::real_path(parent)?, fs::real_path(&self.scope.skills_dir())?)
        {
            let link = LinkKind::Symlink(fs::relative(&from, &to.join(step.place().1.as_str())));
            if fs::is_written_link(target, &link) {
                fs::remove_if_there(target)?;
            }
        }
        Ok(())
    }

    fn is_our_link(&self, link: &Path, step: &Step) -> Result<bool> {
        let kind = self.kind_of_link(link, step)?;
        let text = fs::read_link(link)?;
        Ok(kind.zip(text).is_some_and(|(kind, text)| kind.says(&text)))
    }

    /// Returns the link that `step` makes at `link`, relative to its real location. Returns `None` if a
    /// journal names a skill for which the manifest has no directory.
    fn kind_of_link(&self, link: &Path, step: &Step) -> Result<Option<LinkKind>> {
        let (place, name) = step.place();
        if place == Location::Canonical {
            return self.link_to_source(name);
        }
        let parent = link.parent().unwrap_or(&self.scope.root);
        if let Some(link) = self.links.borrow().get(parent) {
            return Ok(Some(link.below(name.as_str())));
        }
        let real = |dir: &Path| fs::real_path(dir).map(|real| real.unwrap_or_else(|| dir.to_owned()));
        let link = LinkKind::choose(System::default(), &real(parent)?, &real(&self.scope.skills_dir())?);
        let below = link.below(name.as_str());
        // The location of the directories is final once they exist.
        if self.there.borrow().contains(parent) {
            self.links.borrow_mut().insert(parent.to_owned(), link);
        }
        Ok(Some(below))
    }

    /// Returns the link to the directory that the manifest names for `name`.
    fn link_to_source(&self, name: &SkillName) -> Result<Option<LinkKind>> {
        let manifest = self.manifest.borrow();
        let Some(requirement) = manifest.skills().get(name) else { return Ok(None) };
        Ok(Editable::of(self.settings, self.scope, requirement)?.map(|editable| editable.link))
    }
}

/// Removes the rest of a tree or link that a killed run was moving by copying, because no rename could: all
/// of it exists elsewhere, so nothing is lost.
fn clear_rest(step: &Step, target: &Path, tree: &Path) -> Result<()> {
    let is_rest = match step {
        Step::Put { digest, replaces: Some(old), .. } => {
            let copy = fs::beside(tree);
            holds(tree, digest) && !holds(target, old) && holds(&copy, old) && is_part(target, &copy)
        }
        Step::Remove { old, .. } => holds(tree, old) && is_part(target, tree),
        Step::Unlink { .. } | Step::Link { .. } | Step::Edit { .. } => {
            let there = fs::read_link(target)?;
            there.is_some() && there == fs::read_link(tree)?
        }
        Step::Put { .. } | Step::Disable { .. } | Step::Enable { .. } | Step::Relink { .. } => false,
    };
    if is_rest { Ok(fs::remove_tree(target)?) } else { Ok(()) }
}

/// Moves an intact old tree to `tree`, where it would be after the step. If a tree is replaced by copying,
/// because no rename could, the copy beside `tree` may be the only intact one.
fn rescue(step: &Step, target: &Path, tree: &Path) -> Result<()> {
    let Step::Put { replaces: Some(old), .. } = step else { return Ok(()) };
    let copy = fs::beside(tree);
    if holds(&copy, old) && !holds(tree, old) && !holds(target, old) {
        fs::exchange(&copy, tree)?;
    }
    Ok(())
}

/// Reports whether directory `dir` has only files that `whole` also has, with the same bytes.
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

/// Reports whether there is a link at `link` whose text has this `digest`.
fn says(link: &Path, digest: &Digest) -> bool {
    matches!(fs::read_link(link), Ok(Some(text)) if of_text(&text) == *digest)
}

fn holds(dir: &Path, digest: &Digest) -> bool {
    is_tree(dir, digest)
}

/// Reports whether the tree `dir` has this digest; if `digest` is `None`, whether it cannot be read as a
/// skill.
fn is_as(dir: &Path, digest: Option<&Digest>) -> bool {
    match digest {
        Some(digest) => is_tree(dir, digest),
        None => Trees::default().digest(dir).is_none(),
    }
}

/// Checks a tree that was taken from `target`: it may have been edited since the plan was made.
fn unchanged(taken: &Path, expected: &Digest, target: &Path) -> Result<()> {
    if is_untouched(taken, expected) { Ok(()) } else { Err(changed(target)) }
}

/// Reports whether the tree `dir` has this digest and may be removed: a tree that contains a git repository
/// was worked on.
fn is_untouched(dir: &Path, digest: &Digest) -> bool {
    inside_as(dir, digest) == Inside { digest: Some(*digest), repository: false }
}

fn changed(path: &Path) -> Error {
    Error::new(ErrorKind::Findings, format!("`{}` was changed while skillpm was running", path.display()))
        .hint("nothing was changed by skillpm: run the command again")
}
