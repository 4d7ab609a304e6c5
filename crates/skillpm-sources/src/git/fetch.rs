//! Runs of the `git` program that fetch into one repository: a reference, a commit, or contents by their ids.

use std::ffi::OsString;
use std::path::Path;

use git2::Oid;

use super::cache::{Remote, asked_name};
use super::errors::{self, Meaning};
use super::names;
use super::objects::{FoundObject, Objects};
use super::program::{ProgramError, ProgramRun};
use crate::error::{Error, Result};
use crate::fs;
use crate::spec::Reference;

/// The name of the server in the configuration of each run.
pub(super) const REMOTE: &str = "skillpm";
/// Unlimited depth.
const WHOLE_DEPTH: &str = "--depth=2147483647";
/// The options of each fetch.
const FETCH: &[&str] = &[
    "fetch",
    "--progress",
    "--force",
    "--no-tags",
    "--no-recurse-submodules",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
];

/// Why a fetch failed.
pub(super) enum Failed {
    /// The local repository is damaged, or not what the server expects: fetch again from nothing.
    Anew(Error),
    /// An error for the user.
    Error(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Anew(error) | Failed::Error(error) => error,
        }
    }
}

impl From<fs::PathError> for Failed {
    fn from(error: fs::PathError) -> Self {
        Self::Error(error.into())
    }
}

/// Fetches into one repository.
pub(super) struct Fetch<'a> {
    pub(super) remote: &'a Remote<'a>,
    pub(super) git_dir: &'a Path,
    pub(super) objects: &'a Objects,
    pub(super) partial: bool,
    /// Whether this is the first fetch into the repository.
    pub(super) fresh: bool,
}

impl Fetch<'_> {
    /// Runs the program with `args`.
    pub(super) fn run(&self, args: &[&str], input: Option<Vec<u8>>) -> Result<Vec<u8>, ProgramError> {
        self.run_in(self.git_dir, args, input)
    }

    fn run_in(&self, git_dir: &Path, args: &[&str], input: Option<Vec<u8>>) -> Result<Vec<u8>, ProgramError> {
        self.start(git_dir, args, input, None)
    }

    /// Runs the program with `args` and returns all that it prints, at most `limit` bytes.
    pub(super) fn run_whole(&self, args: &[&str], limit: usize) -> Result<Vec<u8>, ProgramError> {
        self.start(self.git_dir, args, None, Some(limit))
    }

    fn start(
        &self,
        git_dir: &Path,
        args: &[&str],
        input: Option<Vec<u8>>,
        whole: Option<usize>,
    ) -> Result<Vec<u8>, ProgramError> {
        let url = self.remote.url.as_str();
        let mut all: Vec<OsString> = Vec::new();
        for setting in [
            format!("remote.{REMOTE}.url={url}"),
            // Without it, git reports a fetch that leaves out contents as damaged.
            format!("remote.{REMOTE}.promisor=true"),
        ] {
            all.extend(["-c".into(), setting.into()]);
        }
        all.extend(args.iter().map(OsString::from));
        let fetch = args.contains(&"fetch").then_some((git_dir, url));
        let job = ProgramRun { args: all, input, fetch, limit: self.remote.limits.archive_bytes, whole };
        self.remote.program.run(git_dir, url, &job)
    }

    /// Fetches `refspecs`, to the given `depth`.
    pub(super) fn fetch(
        &self,
        depth: Option<&str>,
        options: &[&str],
        refspecs: &[&str],
    ) -> Result<(), ProgramError> {
        let mut args = FETCH.to_vec();
        args.extend(depth);
        if self.partial {
            args.push("--filter=blob:none");
        }
        args.extend(options);
        args.extend(["--", REMOTE]);
        args.extend(refspecs);
        match self.run(&args, None) {
            // Servers that only serve files do not support shallow fetches.
            Err(ProgramError::Said(text))
                if depth.is_some() && errors::meaning(&text) == Meaning::OnlyFiles =>
            {
                self.fetch(None, options, refspecs)
            }
            result => result.map(drop),
        }
    }

    /// Interprets an error of the program for the caller. Damage may be behind an error that is not
    /// understood.
    pub(super) fn failed(&self, fault: ProgramError) -> Failed {
        match fault {
            ProgramError::Error(error) => Failed::Error(error),
            ProgramError::TooLarge => self.too_large(),
            ProgramError::Said(text) => {
                let error = errors::error(&self.remote.url, &text);
                if errors::meaning(&text) == Meaning::Other && !self.fresh {
                    Failed::Anew(error)
                } else {
                    Failed::Error(error)
                }
            }
        }
    }

    /// Discards what was fetched: if it stayed, the next fetch would need little more, and pass the limit.
    fn too_large(&self) -> Failed {
        let (url, limit) = (&self.remote.url, self.remote.limits.archive_bytes);
        if let Err(error) = fs::remove_tree(self.git_dir) {
            return error.into();
        }
        let error = Error::integrity(format!("`{url}` sends more than {limit} bytes, which is too large"));
        Failed::Error(error.hint("use a smaller repository, with nothing in it but skills"))
    }

    /// Fetches the newest commit of what `reference` names.
    pub(super) fn reference(&self, reference: Option<&Reference>) -> Result<Oid, Failed> {
        if let Some(commit) = reference.and_then(Reference::commit) {
            return self.commit(&commit, false);
        }
        let asked = match reference {
            None => "HEAD".to_owned(),
            Some(Reference::Tag(name)) => format!("refs/tags/{name}"),
            Some(range @ Reference::Range(_)) => {
                return Err(names::no_reference(self.remote.url.as_str(), range, &[]).into());
            }
            Some(Reference::Branch(name)) => format!("refs/heads/{name}"),
            Some(Reference::Any(name)) => name.clone(),
            Some(rev @ Reference::Rev(_)) => return self.digits(rev),
        };
        let name = asked_name(reference);
        let url = self.remote.url.as_str();
        match self.fetch(Some("--depth=1"), &[], &[&format!("+{asked}:{name}")]) {
            Ok(()) => self
                .objects
                .commit_at(&name)
                .ok_or_else(|| names::not_a_commit(url, reference.map_or("HEAD", Reference::name)).into()),
            Err(ProgramError::Said(text)) if errors::meaning(&text) == Meaning::NoRevision => match reference
            {
                Some(any @ Reference::Any(_)) if any.commit_digits().is_some() => self.digits(any),
                reference => Err(self.no_reference(reference)),
            },
            Err(fault) => Err(self.failed(fault)),
        }
    }

    /// Fetches commit `id`. `locked` says that a lockfile names it.
    pub(super) fn commit(&self, id: &str, locked: bool) -> Result<Oid, Failed> {
        let url = self.remote.url.as_str();
        let none = || Failed::Error(names::no_commit(url, id, locked));
        let oid = Oid::from_str(id).map_err(|_| none())?;
        let name = format!("refs/skillpm/fetched/{id}");
        match self.fetch(Some("--depth=1"), &[], &[&format!("+{id}:{name}")]) {
            Ok(()) => {}
            Err(ProgramError::Said(text)) => match errors::meaning(&text) {
                Meaning::NoRevision => return Err(none()),
                Meaning::NotServed | Meaning::OnlyFiles => self.everything()?,
                _ => return Err(self.failed(ProgramError::Said(text))),
            },
            Err(fault) => return Err(self.failed(fault)),
        }
        // Opened again, since lookups before the fetch are cached.
        let objects = Objects::open(self.git_dir).map_err(|error| self.remote.damaged(&error))?;
        if objects.has_commit(oid) { Ok(oid) } else { Err(none()) }
    }

    /// Fetches all branches and tags, for servers that serve nothing else.
    fn everything(&self) -> Result<(), Failed> {
        let all = ["+refs/heads/*:refs/skillpm/all/heads/*", "+refs/tags/*:refs/skillpm/all/tags/*"];
        self.fetch(Some(WHOLE_DEPTH), &["--prune"], &all).map_err(|fault| self.failed(fault))
    }

    /// Finds and fetches the commit whose first digits `reference` has.
    fn digits(&self, reference: &Reference) -> Result<Oid, Failed> {
        let (url, name) = (self.remote.url.as_str(), reference.name());
        let none = || Failed::Error(names::no_commit(url, name, false));
        let digits = reference.commit_digits().ok_or_else(none)?;
        // Only the server knows all commits. They are fetched without trees and contents, into a repository
        // of their own: in the other one they would look complete.
        let parent = self.git_dir.parent().unwrap_or(self.git_dir);
        let dir = fs::temp_dir_in(parent, ".commits-")?;
        let git_dir = dir.path().join("repository");
        Objects::init(&git_dir).map_err(|error| self.remote.damaged(&error))?;
        let mut args = FETCH.to_vec();
        args.extend([
            "--filter=tree:0",
            "--",
            REMOTE,
            "+refs/heads/*:refs/heads/*",
            "+refs/tags/*:refs/tags/*",
        ]);
        self.run_in(&git_dir, &args, None).map_err(|fault| self.failed(fault))?;
        let found = Objects::open(&git_dir).and_then(|objects| objects.by_digits(&digits));
        match found.map_err(|error| self.remote.damaged(&error))? {
            FoundObject::One(commit) => self.commit(&commit.to_string(), false),
            FoundObject::Many => Err(names::ambiguous(url, name).into()),
            FoundObject::None => Err(none()),
        }
    }

    /// Fetches contents by their ids, all at once.
    pub(super) fn blobs(&self, ids: &[Oid]) -> Result<(), Failed> {
        let mut args = vec!["-c", "fetch.negotiationAlgorithm=noop"];
        args.extend(FETCH);
        args.extend(["--filter=blob:none", "--stdin", "--", REMOTE]);
        let mut list = String::with_capacity(ids.len() * 41);
        for id in ids {
            list.push_str(&id.to_string());
            list.push('\n');
        }
        match self.run(&args, Some(list.into_bytes())) {
            Ok(_) => Ok(()),
            // Some servers leave contents out and then refuse to serve them by their ids.
            Err(ProgramError::Said(text)) => Err(Failed::Anew(errors::error(&self.remote.url, &text))),
            Err(fault) => Err(self.failed(fault)),
        }
    }

    /// Returns the error for a name that the server does not have. Asks the server for the names that it has,
    /// since the message may then help.
    fn no_reference(&self, reference: Option<&Reference>) -> Failed {
        let url = self.remote.url.as_str();
        let listed = match self.run(&["ls-remote", "--", REMOTE], None) {
            Ok(listed) => String::from_utf8_lossy(&listed).into_owned(),
            Err(fault) => return self.failed(fault),
        };
        let names: Vec<String> = listed
            .lines()
            .filter_map(|line| Some(line.split_once('\t')?.1.trim_end_matches("^{}").to_owned()))
            .collect();
        Failed::Error(match reference {
            None => names::no_head(url, &names),
            Some(_) if names.is_empty() => names::no_head(url, &names),
            Some(reference) => names::no_reference(url, reference, &names),
        })
    }
}
