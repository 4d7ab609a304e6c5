//! Repositories of others, fetched into bare ones of the cache.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use git2::Oid;
use tempfile::TempDir;

use super::objects::{self, Damaged, Found, ListError, Listing, Objects};
use super::program::{Fault, Job, Program};
use super::said::{self, Meaning};
use super::{At, Opened, full, short};
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, DirLock};
use crate::refusal::Limits;
use crate::spec::{Reference, Transport, is_commit};

/// What the server is called in the configuration of each run.
pub(super) const REMOTE: &str = "skillpm";
/// As deep as there is.
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

/// A repository of another place.
pub(super) struct Remote<'a> {
    pub(super) context: &'a Context,
    pub(super) url: String,
    pub(super) limits: Limits,
    program: Program<'a>,
    /// The directory of this repository in the cache, where there is a cache.
    kept: Option<PathBuf>,
}

/// A bare repository that can be fetched into.
pub(super) struct Place {
    pub(super) git_dir: PathBuf,
    /// Held while it is written.
    _lock: Option<DirLock>,
    /// Where there is no cache, the repository goes with the last of its readers.
    once: Option<Arc<TempDir>>,
}

/// Why an attempt to fetch brought nothing.
pub(super) enum Failed {
    /// What lies here is damaged, or not what the server takes it for.
    Anew(Error),
    /// The user is to be told.
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

impl<'a> Remote<'a> {
    pub(super) fn new(context: &'a Context, url: &str, transport: Transport, limits: &Limits) -> Self {
        // Servers may be known to the user under other names (`url.*.insteadOf`), but a foreign
        // address never leads to files of this machine.
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

    /// Opens what is wanted, from the cache where that is enough.
    pub(super) fn open(&self, at: At<'_>) -> Result<Opened> {
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

    /// What the cache has of what is wanted, where no server needs to be asked: a commit, or without
    /// a network what a name meant last.
    fn known(&self, at: At<'_>) -> Option<Result<Opened>> {
        let git_dir = self.kept.as_ref()?.join("repository");
        let reference = match at {
            At::Commit(commit) => commit_name(commit),
            At::Reference(Some(reference)) if full(reference).is_some() => commit_name(&full(reference)?),
            At::Reference(reference) if self.context.settings.offline => asked_name(reference),
            At::Reference(_) => return None,
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

    /// The repository in the cache, locked; one for this time only where the cache cannot be written.
    pub(super) fn place(&self) -> Result<Place> {
        if let Some(dir) = &self.kept
            && fs::create_dir_all(dir).is_ok()
            && fs::temp_dir_in(dir, ".try-").is_ok()
        {
            let lock = DirLock::acquire(dir, || self.context.reporter.waiting_for_lock(dir))?;
            return Ok(Place { git_dir: dir.join("repository"), _lock: Some(lock), once: None });
        }
        let dir = fs::temp_dir()?;
        Ok(Place { git_dir: dir.path().join("repository"), _lock: None, once: Some(Arc::new(dir)) })
    }

    /// Fetches and opens what is wanted; without the contents that no skill needs where `partial` is set
    /// and the server can leave them out.
    fn attempt(&self, place: &Place, at: At<'_>, partial: bool) -> Result<Opened, Failed> {
        let git_dir = &place.git_dir;
        let objects = repository(git_dir)?;
        let fresh = objects.references().is_empty();
        let fetch = Fetch { remote: self, git_dir, objects: &objects, partial, fresh };
        let commit = match at {
            At::Commit(commit) => fetch.commit(commit, true)?,
            At::Reference(reference) => fetch.reference(reference)?,
        };
        // Read anew: libgit2 may have looked before the fetch.
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
                return Err(self.damaged(&git2::Error::from_str("some files did not come")));
            }
        }
        // Under its id too, which says that it is whole.
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
    ) -> Result<Opened, Failed> {
        let dir = self.kept.clone().filter(|_| once.is_none());
        let git_dir = git_dir.to_owned();
        let damaged: Damaged = Box::new(move || {
            // The directory for one time lives as long as this.
            let _ = &once;
            if let Some(_lock) = dir.as_deref().and_then(DirLock::try_acquire) {
                // Where it cannot be removed, the next run meets the same damage.
                let _ = fs::remove_tree(&git_dir);
            }
        });
        objects.tree(commit, listing, &self.url, Some(damaged)).map_err(|error| self.damaged(&error))
    }

    fn damaged(&self, error: &git2::Error) -> Failed {
        Failed::Anew(
            Error::network(format!("what came from `{}` is incomplete or damaged", self.url))
                .because(std::io::Error::other(error.message().to_owned()))
                .hint("try again; `git clone` shows whether the server has a whole repository"),
        )
    }

    pub(super) fn offline(&self, at: At<'_>) -> Error {
        let what = match at {
            At::Commit(commit) => format!("commit `{commit}` of `{}`", self.url),
            At::Reference(Some(reference)) => format!("`{}` of `{}`", reference.name(), self.url),
            At::Reference(None) => format!("`{}`", self.url),
        };
        Error::network(format!("{what} was not fetched before, and `--offline` allows no network"))
            .hint("run the command once without `--offline`")
    }
}

/// The name that a commit is kept under.
fn commit_name(commit: &str) -> String {
    format!("refs/skillpm/commit/{commit}")
}

/// The name under which is kept what `reference` meant last. A slash in it would make a directory,
/// which could stand in the way of a name.
pub(super) fn asked_name(reference: Option<&Reference>) -> String {
    let escaped = |name: &str| name.replace('%', "%25").replace('/', "%2F");
    match reference {
        None => "refs/skillpm/head".to_owned(),
        Some(Reference::Tag(name)) => format!("refs/skillpm/tag/{}", escaped(name)),
        Some(Reference::Branch(name)) => format!("refs/skillpm/branch/{}", escaped(name)),
        Some(Reference::Any(name) | Reference::Rev(name)) => format!("refs/skillpm/any/{}", escaped(name)),
    }
}

/// Opens the repository at `git_dir`, made anew where it is not there or cannot be opened.
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

/// Removes what a fetch that was killed left behind.
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

/// Fetches into one repository.
pub(super) struct Fetch<'a> {
    pub(super) remote: &'a Remote<'a>,
    pub(super) git_dir: &'a Path,
    pub(super) objects: &'a Objects,
    pub(super) partial: bool,
    /// Whether nothing was fetched into it before.
    pub(super) fresh: bool,
}

impl Fetch<'_> {
    /// Runs the program with `args`.
    pub(super) fn run(&self, args: &[&str], input: Option<Vec<u8>>) -> Result<Vec<u8>, Fault> {
        self.run_in(self.git_dir, args, input)
    }

    fn run_in(&self, git_dir: &Path, args: &[&str], input: Option<Vec<u8>>) -> Result<Vec<u8>, Fault> {
        self.start(git_dir, args, input, None)
    }

    /// Runs the program with `args` and returns all that it prints, at most `limit` bytes.
    pub(super) fn run_whole(&self, args: &[&str], limit: usize) -> Result<Vec<u8>, Fault> {
        self.start(self.git_dir, args, None, Some(limit))
    }

    fn start(
        &self,
        git_dir: &Path,
        args: &[&str],
        input: Option<Vec<u8>>,
        whole: Option<usize>,
    ) -> Result<Vec<u8>, Fault> {
        let url = self.remote.url.as_str();
        let mut all: Vec<OsString> = Vec::new();
        for setting in [
            format!("remote.{REMOTE}.url={url}"),
            // Without it, a fetch that leaves out contents is taken for a damaged one.
            format!("remote.{REMOTE}.promisor=true"),
        ] {
            all.extend(["-c".into(), setting.into()]);
        }
        all.extend(args.iter().map(OsString::from));
        let fetch = args.contains(&"fetch").then_some((git_dir, url));
        let job = Job { args: all, input, fetch, limit: self.remote.limits.archive_bytes, whole };
        self.remote.program.run(git_dir, url, &job)
    }

    /// Fetches `refspecs`, as deep as `depth` says.
    pub(super) fn fetch(
        &self,
        depth: Option<&str>,
        options: &[&str],
        refspecs: &[&str],
    ) -> Result<(), Fault> {
        let mut args = FETCH.to_vec();
        args.extend(depth);
        if self.partial {
            args.push("--filter=blob:none");
        }
        args.extend(options);
        args.extend(["--", REMOTE]);
        args.extend(refspecs);
        match self.run(&args, None) {
            // Servers that only have files cannot cut anything off.
            Err(Fault::Said(text)) if depth.is_some() && said::meaning(&text) == Meaning::OnlyFiles => {
                self.fetch(None, options, refspecs)
            }
            result => result.map(drop),
        }
    }

    /// What a failure means for the caller: damage may lie behind what is not understood.
    pub(super) fn failed(&self, fault: Fault) -> Failed {
        match fault {
            Fault::Error(error) => Failed::Error(error),
            Fault::TooLarge => self.too_large(),
            Fault::Said(text) => {
                let error = said::error(&self.remote.url, &text);
                if said::meaning(&text) == Meaning::Other && !self.fresh {
                    Failed::Anew(error)
                } else {
                    Failed::Error(error)
                }
            }
        }
    }

    /// Throws away what came: if it stayed, the next fetch would have little left to bring.
    fn too_large(&self) -> Failed {
        let (url, limit) = (&self.remote.url, self.remote.limits.archive_bytes);
        if let Err(error) = fs::remove_tree(self.git_dir) {
            return error.into();
        }
        let error = Error::integrity(format!("`{url}` sends more than {limit} bytes, which is too large"));
        Failed::Error(error.hint("what is not a skill does not belong there: use a smaller repository"))
    }

    /// Fetches the newest commit of what `reference` names.
    fn reference(&self, reference: Option<&Reference>) -> Result<Oid, Failed> {
        if let Some(commit) = reference.and_then(full) {
            return self.commit(&commit, false);
        }
        let asked = match reference {
            None => "HEAD".to_owned(),
            Some(Reference::Tag(name)) => format!("refs/tags/{name}"),
            Some(Reference::Branch(name)) => format!("refs/heads/{name}"),
            Some(Reference::Any(name)) => name.clone(),
            Some(Reference::Rev(digits)) => return self.digits(digits),
        };
        let name = asked_name(reference);
        let url = self.remote.url.as_str();
        match self.fetch(Some("--depth=1"), &[], &[&format!("+{asked}:{name}")]) {
            Ok(()) => self
                .objects
                .commit_at(&name)
                .ok_or_else(|| objects::not_a_commit(url, reference.map_or("HEAD", Reference::name)).into()),
            Err(Fault::Said(text)) if said::meaning(&text) == Meaning::NoReference => match reference {
                Some(Reference::Any(digits)) if short(digits).is_some() => self.digits(digits),
                reference => Err(self.no_reference(reference)),
            },
            Err(fault) => Err(self.failed(fault)),
        }
    }

    /// Fetches commit `id`; `locked` where a lockfile names it.
    fn commit(&self, id: &str, locked: bool) -> Result<Oid, Failed> {
        let url = self.remote.url.as_str();
        let none = || Failed::Error(objects::no_commit(url, id, locked));
        let oid = Oid::from_str(id).map_err(|_| none())?;
        let name = format!("refs/skillpm/fetched/{id}");
        match self.fetch(Some("--depth=1"), &[], &[&format!("+{id}:{name}")]) {
            Ok(()) => {}
            Err(Fault::Said(text)) => match said::meaning(&text) {
                Meaning::NoCommit | Meaning::NoReference => return Err(none()),
                Meaning::NotServed | Meaning::OnlyFiles => self.everything()?,
                _ => return Err(self.failed(Fault::Said(text))),
            },
            Err(fault) => return Err(self.failed(fault)),
        }
        // Fetched just now: what was looked up before is looked up again.
        let objects = Objects::open(self.git_dir).map_err(|error| self.remote.damaged(&error))?;
        if objects.has_commit(oid) { Ok(oid) } else { Err(none()) }
    }

    /// Fetches all that branches and tags lead to, for servers that hand out nothing else.
    fn everything(&self) -> Result<(), Failed> {
        let all = ["+refs/heads/*:refs/skillpm/all/heads/*", "+refs/tags/*:refs/skillpm/all/tags/*"];
        self.fetch(Some(WHOLE_DEPTH), &["--prune"], &all).map_err(|fault| self.failed(fault))
    }

    /// Finds and fetches the commit whose id begins with `digits`.
    fn digits(&self, digits: &str) -> Result<Oid, Failed> {
        let url = self.remote.url.as_str();
        let none = || Failed::Error(objects::no_commit(url, digits, false));
        let lower = short(digits).ok_or_else(none)?;
        if is_commit(&lower) {
            return self.commit(&lower, false);
        }
        // Only the server knows all commits. They come alone, without trees and contents, and into a
        // repository of their own: in the other one they would look like commits that are whole.
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
        let found = Objects::open(&git_dir).and_then(|objects| objects.by_digits(&lower));
        match found.map_err(|error| self.remote.damaged(&error))? {
            Found::One(commit) => self.commit(&commit.to_string(), false),
            Found::Many => Err(objects::ambiguous(url, digits).into()),
            Found::None => Err(none()),
        }
    }

    /// Fetches contents by their ids, all in one go.
    fn blobs(&self, ids: &[Oid]) -> Result<(), Failed> {
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
            // Some servers leave contents out and then hand out none by their ids.
            Err(Fault::Said(text)) => Err(Failed::Anew(said::error(&self.remote.url, &text))),
            Err(fault) => Err(self.failed(fault)),
        }
    }

    /// The error for a name that the server does not have. It is asked once more, for the names that
    /// it has: what is told may then help.
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
            None => objects::no_head(url, &names),
            Some(_) if names.is_empty() => objects::no_head(url, &names),
            Some(reference) => objects::no_reference(url, reference, &names),
        })
    }
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
