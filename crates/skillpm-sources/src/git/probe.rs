//! The state of a repository without the contents of its files: references, tags, ids of directories.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use git2::Oid;

use super::cache::{Remote, RepositoryDir, asked_name, repository};
use super::fetch::{Fetch, REMOTE};
use super::names;
use super::objects::{self, Objects};
use super::program::ProgramError;
use super::{WantedRevision, check};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::refusal::Limits;
use crate::spec::Identity;
use crate::spec::{Reference, Transport, is_object_id};

/// Enough for some four hundred thousand tags.
const LIST_BYTES: usize = 32 << 20;

/// A repository that can be queried.
pub struct Probe<'a> {
    shown: String,
    asked: ProbeTarget<'a>,
}

enum ProbeTarget<'a> {
    /// A repository on this machine, read in place.
    Here(Objects),
    /// A remote repository, queried by the program through the repository in the cache.
    There(Box<ProbedRefs<'a>>),
}

struct ProbedRefs<'a> {
    remote: Remote<'a>,
    place: RepositoryDir,
    /// The server's references and their commits; requested once.
    names: RefCell<Option<BTreeMap<String, String>>>,
    /// The references to request.
    wanted: Vec<String>,
    /// The repository in the cache, once it is open.
    objects: RefCell<Option<Objects>>,
    /// Commits that were fetched, or could not be: each is requested once.
    tried: RefCell<BTreeSet<Oid>>,
    offline: bool,
}

impl<'a> Probe<'a> {
    /// Prepares to ask the repository at `url` for `references`. Sends no request yet.
    ///
    /// # Errors
    ///
    /// Fails if there is no place for fetched data.
    pub fn fetching(
        context: &'a Context,
        url: &str,
        transport: Transport,
        references: &[Option<&Reference>],
    ) -> Result<Self> {
        let remote = Remote::new(context, url, transport, &Limits::default());
        let place = remote.place()?;
        let wanted = references.iter().chain(&[None]).flat_map(|reference| names(*reference)).collect();
        let offline = context.settings.offline;
        let there = ProbedRefs {
            remote,
            place,
            names: RefCell::default(),
            wanted,
            objects: RefCell::default(),
            tried: RefCell::default(),
            offline,
        };
        Ok(Self { shown: url.to_owned(), asked: ProbeTarget::There(Box::new(there)) })
    }

    /// Opens the repository whose own files are in directory `git_dir`. Returns `None` if only the program
    /// can read it. `shown` is the name for messages.
    ///
    /// # Errors
    ///
    /// Fails for a directory that is not a repository.
    pub fn local(git_dir: &Path, shown: &str) -> Result<Option<Self>> {
        let objects = objects::open_at(git_dir, shown)?;
        Ok(objects.map(|objects| Self { shown: shown.to_owned(), asked: ProbeTarget::Here(objects) }))
    }

    /// Returns the commit that `reference` means now. Returns `None` if that takes all commits, as for the
    /// first digits of one. Offline, returns the commit that it meant when it was last fetched.
    ///
    /// # Errors
    ///
    /// Fails for a repository that cannot be reached, or for a reference that it does not have.
    pub fn tip(&self, reference: Option<&Reference>) -> Result<Option<String>> {
        check(WantedRevision::Reference(reference))?;
        if let Some(commit) = reference.and_then(Reference::commit) {
            return Ok(Some(commit));
        }
        match &self.asked {
            ProbeTarget::Here(objects) => {
                names::tip(objects, reference, &self.shown).map(|commit| Some(commit.to_string()))
            }
            ProbeTarget::There(there) => there.tip(reference, &self.shown),
        }
    }

    /// Returns the id of directory `path` (empty is the root) in `commit`. Fetches a missing commit with its
    /// trees.
    pub fn tree(&self, commit: &str, path: &str) -> Identity {
        let Ok(id) = Oid::from_str(commit) else { return Identity::Unknown };
        match &self.asked {
            ProbeTarget::Here(objects) => objects.tree_at(id, path),
            ProbeTarget::There(there) => there.tree(id, path),
        }
    }

    /// Returns the names of the tags that begin with `prefix`.
    ///
    /// # Errors
    ///
    /// Fails for a repository that cannot be reached, or for one with an implausible number of tags.
    pub fn tags(&self, prefix: &str) -> Result<Vec<String>> {
        let full = format!("refs/tags/{prefix}");
        let names = match &self.asked {
            ProbeTarget::Here(objects) => objects.references(),
            ProbeTarget::There(there) if there.offline => {
                return Err(there.remote.offline(WantedRevision::Reference(None)));
            }
            ProbeTarget::There(there) => {
                let patterns = [format!("{full}*")];
                there.remote.listed(&there.place, &["--tags", "--refs"], &patterns)?.into_keys().collect()
            }
        };
        let begins = |name: &String| name.starts_with(&full);
        Ok(names.into_iter().filter(begins).map(|name| name["refs/tags/".len()..].to_owned()).collect())
    }
}

impl ProbedRefs<'_> {
    fn tip(&self, reference: Option<&Reference>, shown: &str) -> Result<Option<String>> {
        if self.offline {
            let known = Objects::open(&self.place.git_dir)
                .ok()
                .and_then(|objects| objects.commit_at(&asked_name(reference)));
            return known
                .map(|commit| Some(commit.to_string()))
                .ok_or_else(|| self.remote.offline(WantedRevision::Reference(reference)));
        }
        let mut listed = self.names.borrow_mut();
        if listed.is_none() {
            *listed = Some(self.remote.listed(&self.place, &[], &self.wanted)?);
        }
        let known = listed.get_or_insert_default();
        let found = names(reference).into_iter().find_map(|name| known.get(&name).cloned());
        match (found, reference) {
            (Some(commit), _) => Ok(Some(commit)),
            (None, Some(reference)) if reference.commit_digits().is_some() => Ok(None),
            (None, Some(reference)) => {
                let names: Vec<String> = known.keys().cloned().collect();
                Err(names::no_reference(shown, reference, &names))
            }
            (None, None) => Err(Error::usage(format!("`{shown}` has no default branch"))
                .hint("name a branch in `skillpm.toml`, with `branch = \"NAME\"`")),
        }
    }

    fn tree(&self, commit: Oid, path: &str) -> Identity {
        let known = self.look(commit, path);
        if known != Identity::Unknown || self.offline || !self.tried.borrow_mut().insert(commit) {
            return known;
        }
        // The id stays unknown if a server does not serve trees alone, or not this commit.
        if self.remote.bring(&self.place, commit).is_err() {
            return Identity::Unknown;
        }
        // Opened again: libgit2 may have read the directory before the fetch.
        self.objects.borrow_mut().take();
        self.look(commit, path)
    }

    /// Returns the id as the repository in the cache has it.
    fn look(&self, commit: Oid, path: &str) -> Identity {
        let mut objects = self.objects.borrow_mut();
        if objects.is_none() {
            *objects = Objects::open(&self.place.git_dir).ok();
        }
        objects.as_ref().map_or(Identity::Unknown, |objects| objects.tree_at(commit, path))
    }
}

impl Remote<'_> {
    /// Returns the server's references that match `patterns`, with their commits.
    fn listed(
        &self,
        place: &RepositoryDir,
        options: &[&str],
        patterns: &[String],
    ) -> Result<BTreeMap<String, String>> {
        let (objects, git_dir) = (repository(&place.git_dir)?, &*place.git_dir);
        let fetch = Fetch { remote: self, git_dir, objects: &objects, partial: true, fresh: true };
        let mut args = vec!["ls-remote"];
        args.extend(options);
        args.extend(["--", REMOTE]);
        args.extend(patterns.iter().map(String::as_str));
        let out = match fetch.run_whole(&args, LIST_BYTES) {
            Ok(out) => out,
            Err(ProgramError::TooLarge) => {
                return Err(Error::integrity(format!(
                    "`{}` lists more than {} MiB of references, which is too much",
                    self.url,
                    LIST_BYTES >> 20
                )));
            }
            Err(fault) => return Err(fetch.failed(fault).into()),
        };
        // A malformed line, such as one in another encoding, names nothing that was requested.
        let lines = out.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
        let pairs = lines.filter_map(|line| line.split_once('\t')).filter(|(id, _)| is_object_id(id));
        Ok(pairs.map(|(id, name)| (name.to_owned(), id.to_owned())).collect())
    }

    /// Fetches `commit` with its trees, and without the contents of files if the server can leave them out.
    fn bring(&self, place: &RepositoryDir, commit: Oid) -> Result<()> {
        let (objects, git_dir) = (repository(&place.git_dir)?, &*place.git_dir);
        let fetch = Fetch { remote: self, git_dir, objects: &objects, partial: true, fresh: true };
        let refspec = format!("+{commit}:refs/skillpm/fetched/{commit}");
        fetch.fetch(Some("--depth=1"), &[], &[&refspec]).map_err(|fault| fetch.failed(fault).into())
    }
}

/// Returns the possible full names of `reference` on a server, in the order in which git tries them. A name
/// that may be an object of its own, as tags are, comes with the commit that it leads to.
fn names(reference: Option<&Reference>) -> Vec<String> {
    let Some(reference) = reference else { return vec!["HEAD".to_owned()] };
    let mut names = Vec::new();
    for name in names::candidates(reference) {
        if name.starts_with("refs/") && !name.starts_with("refs/heads/") {
            names.push(format!("{name}^{{}}"));
        }
        names.push(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_tried_in_the_order_of_git() {
        let any = |name: &str| names(Some(&Reference::Any(name.to_owned())));
        assert_eq!(any("v1"), ["refs/v1^{}", "refs/v1", "refs/tags/v1^{}", "refs/tags/v1", "refs/heads/v1"]);
        assert_eq!(any("refs/heads/main")[0], "refs/heads/main");
        assert_eq!(any("refs/tags/v1")[..2], ["refs/tags/v1^{}", "refs/tags/v1"]);
        assert_eq!(names(Some(&Reference::Tag("v1".to_owned()))), ["refs/tags/v1^{}", "refs/tags/v1"]);
        assert_eq!(any("HEAD")[0], "HEAD");
        assert_eq!(names(None), ["HEAD"]);
    }
}
