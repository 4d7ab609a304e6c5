//! Remote repositories, fetched into bare repositories in the cache.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use git2::Oid;
use tempfile::TempDir;

use super::fetch::{Failed, Fetch};
use super::objects::{self, Damaged, ListError, Listing, Objects};
use super::program::Program;
use super::{OpenRepository, WantedRevision};
use crate::advice::{Opt, message};
use crate::codes;
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, DirLock};
use crate::refusal::Limits;
use crate::spec::{Reference, Transport};

/// A remote repository.
pub(super) struct Remote<'a> {
    pub(super) context: &'a Context,
    pub(super) url: String,
    pub(super) limits: Limits,
    pub(super) program: Program<'a>,
    /// The directory of this repository in the cache, if there is a cache.
    kept: Option<PathBuf>,
}

/// A bare repository that can be fetched into.
pub(super) struct RepositoryDir {
    pub(super) git_dir: PathBuf,
    /// Held while the repository is written.
    _lock: Option<DirLock>,
    /// The temporary directory of the repository if there is no cache; removed with its last reader.
    once: Option<Arc<TempDir>>,
}

impl<'a> Remote<'a> {
    pub(super) fn new(context: &'a Context, url: &str, transport: Transport, limits: &Limits) -> Self {
        // The user may have other names for servers (`url.*.insteadOf`), but a foreign address never leads to
        // files of this machine.
        let schemes = if transport == Transport::File { "file" } else { "https:http:ssh" };
        let name: String = url
            .trim_end_matches(".git")
            .rsplit(['/', ':', '\\'])
            .next()
            .unwrap_or_default()
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
            .take(40)
            .collect();
        let key = format!("{name}-{}", &Digest::of(url.as_bytes()).hex()[..16]);
        Self {
            context,
            url: url.to_owned(),
            limits: limits.clone(),
            program: Program { settings: &context.settings, reporter: &*context.reporter, schemes },
            kept: context.settings.dirs.cache.as_ref().map(|cache| cache.join("git").join(key)),
        }
    }

    /// Opens the wanted revision, from the cache if that is enough.
    pub(super) fn open(&self, at: WantedRevision<'_>) -> Result<OpenRepository> {
        if let Some(opened) = self.known(at) {
            return opened;
        }
        if self.context.settings.offline {
            return Err(self.offline(at));
        }
        let place = self.place()?;
        match self.attempt(&place, at, true) {
            Ok(opened) => Ok(opened),
            Err(Failed::Error(error)) => Err(error),
            // Once more, from nothing, and with all contents: no server refuses that.
            Err(Failed::Anew(_)) => {
                fs::remove_tree(&place.git_dir)?;
                self.attempt(&place, at, false).map_err(Error::from)
            }
        }
    }

    /// Returns the wanted revision from the cache, if no server needs to be asked: a commit, or offline the
    /// last known meaning of a name.
    fn known(&self, at: WantedRevision<'_>) -> Option<Result<OpenRepository>> {
        let git_dir = self.kept.as_ref()?.join("repository");
        let reference = match at {
            WantedRevision::Commit(commit) => commit_name(commit),
            WantedRevision::Reference(Some(reference)) if reference.commit().is_some() => {
                commit_name(&reference.commit()?)
            }
            WantedRevision::Reference(reference) if self.context.settings.offline => asked_name(reference),
            WantedRevision::Reference(_) => return None,
        };
        let objects = Objects::open(&git_dir).ok()?;
        let commit = objects.commit_at(&reference)?;
        match objects.list(commit, &self.limits) {
            Ok(listing) if listing.missing().is_empty() => {
                Some(self.tree(&objects, commit, listing, &git_dir, None).map_err(Error::from))
            }
            Err(ListError::Refused(refusal)) => Some(Err(objects::refused(&self.url, refusal))),
            Ok(_) | Err(ListError::Incomplete(_)) => None,
        }
    }

    /// Returns the repository in the cache, locked, or a temporary one if the cache cannot be written.
    pub(super) fn place(&self) -> Result<RepositoryDir> {
        if let Some(dir) = &self.kept
            && fs::create_dir_all(dir).is_ok()
            && fs::temp_dir_in(dir, ".try-").is_ok()
        {
            let lock = DirLock::acquire(dir, || self.context.reporter.waiting_for_lock(dir))?;
            return Ok(RepositoryDir { git_dir: dir.join("repository"), _lock: Some(lock), once: None });
        }
        let dir = fs::temp_dir()?;
        Ok(RepositoryDir { git_dir: dir.path().join("repository"), _lock: None, once: Some(Arc::new(dir)) })
    }

    /// Fetches and opens the wanted revision. With `partial`, leaves out the contents that no skill needs, if
    /// the server can.
    fn attempt(
        &self,
        place: &RepositoryDir,
        at: WantedRevision<'_>,
        partial: bool,
    ) -> Result<OpenRepository, Failed> {
        let git_dir = &place.git_dir;
        let objects = repository(git_dir)?;
        let fresh = objects.references().is_empty();
        let fetch = Fetch { remote: self, git_dir, objects: &objects, partial, fresh };
        let commit = match at {
            WantedRevision::Commit(commit) => fetch.commit(commit, true)?,
            WantedRevision::Reference(reference) => fetch.reference(reference)?,
        };
        // Opened again: libgit2 may have read the directory before the fetch.
        let objects = Objects::open(git_dir).map_err(|error| self.damaged(&error))?;
        let list = || {
            objects.list(commit, &self.limits).map_err(|error| match error {
                ListError::Incomplete(error) => self.damaged(&error),
                ListError::Refused(refusal) => Failed::Error(objects::refused(&self.url, refusal)),
            })
        };
        let mut listing = list()?;
        let missing = listing.missing();
        if !missing.is_empty() {
            fetch.blobs(&missing)?;
            listing = list()?;
            if !listing.missing().is_empty() {
                return Err(self.damaged(&git2::Error::from_str("some files are missing")));
            }
        }
        // Also stored under its id, which marks it as complete.
        objects.keep(&commit_name(&commit.to_string()), commit).map_err(|error| self.damaged(&error))?;
        self.tree(&objects, commit, listing, git_dir, place.once.clone())
    }

    fn tree(
        &self,
        objects: &Objects,
        commit: Oid,
        listing: Listing,
        git_dir: &Path,
        once: Option<Arc<TempDir>>,
    ) -> Result<OpenRepository, Failed> {
        let dir = self.kept.clone().filter(|_| once.is_none());
        let git_dir = git_dir.to_owned();
        let damaged: Damaged = Box::new(move || {
            // The temporary directory lives as long as this closure.
            let _ = &once;
            if let Some(_lock) = dir.as_deref().and_then(DirLock::try_acquire) {
                // If it cannot be removed, the next run finds the same damage.
                let _ = fs::remove_tree(&git_dir);
            }
        });
        objects.tree(commit, listing, &self.url, Some(damaged)).map_err(|error| self.damaged(&error))
    }

    pub(super) fn damaged(&self, error: &git2::Error) -> Failed {
        Failed::Anew(
            Error::network(format!("what `{}` sent is incomplete or damaged", self.url))
                .because(std::io::Error::other(error.message().to_owned()))
                .hint("try again; `git clone` shows whether the server has the whole repository"),
        )
    }

    pub(super) fn offline(&self, at: WantedRevision<'_>) -> Error {
        let what = match at {
            WantedRevision::Commit(commit) => format!("commit `{commit}` of `{}`", self.url),
            WantedRevision::Reference(Some(reference)) => format!("`{}` of `{}`", reference.name(), self.url),
            WantedRevision::Reference(None) => format!("`{}`", self.url),
        };
        Error::network(message!(
            format_args!("{what} is not in the store, and "),
            Opt::Offline,
            " forbids the network"
        ))
        .coded(codes::OFFLINE)
        .hint(message!("run the command once without ", Opt::Offline))
    }
}

/// Returns the name that stores a commit.
fn commit_name(commit: &str) -> String {
    format!("refs/skillpm/commit/{commit}")
}

/// Returns the name that stores the last known meaning of `reference`. It has no slash: a slash would make a
/// directory, which could be in the way of another name.
pub(super) fn asked_name(reference: Option<&Reference>) -> String {
    let escaped = |name: &str| name.replace('%', "%25").replace('/', "%2F");
    match reference {
        None => "refs/skillpm/head".to_owned(),
        Some(Reference::Tag(name)) => format!("refs/skillpm/tag/{}", escaped(name)),
        Some(Reference::Range(range)) => format!("refs/skillpm/range/{}", escaped(range.as_str())),
        Some(Reference::Branch(name)) => format!("refs/skillpm/branch/{}", escaped(name)),
        Some(Reference::Any(name) | Reference::Rev(name)) => format!("refs/skillpm/any/{}", escaped(name)),
    }
}

/// Opens the repository at `git_dir`. Creates it again if it does not exist or cannot be opened.
pub(super) fn repository(git_dir: &Path) -> Result<Objects> {
    if let Ok(objects) = Objects::open(git_dir) {
        tidy(git_dir)?;
        return Ok(objects);
    }
    fs::remove_tree(git_dir)?;
    Objects::init(git_dir).map_err(|error| {
        Error::io(format!("failed to make a repository in `{}`", git_dir.display()))
            .because(std::io::Error::other(error.message().to_owned()))
    })
}

/// Removes what a killed fetch left behind.
fn tidy(git_dir: &Path) -> Result<()> {
    for (dir, left) in [("objects/pack", "tmp_"), ("objects", "tmp_objdir-")] {
        let dir = git_dir.join(dir);
        for name in fs::list_dir(&dir)?.iter().filter(|name| name.starts_with(left)) {
            fs::remove_tree(&dir.join(name))?;
        }
    }
    for lock in ["shallow.lock", "packed-refs.lock", "config.lock"] {
        fs::remove_if_there(&git_dir.join(lock))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_references_never_stand_in_each_others_way() {
        let any = |name: &str| asked_name(Some(&Reference::Any(name.to_owned())));
        assert_eq!(any("feature/x"), "refs/skillpm/any/feature%2Fx");
        assert_ne!(any("a%2Fb"), any("a/b"));
        assert_eq!(asked_name(None), "refs/skillpm/head");
    }
}
