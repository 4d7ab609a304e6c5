//! Opening a repository: from a reference to its files.

use std::borrow::Cow;
use std::sync::Arc;

use super::GitHub;
use crate::advice::{Opt, message};
use crate::archive::{self, Archive};
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::http::Client;
use crate::refusal::{Limits, Refusal};
use crate::settings::{self, Settings};
use crate::source::{FetchedSource, Wanted};
use crate::spec::{PUBLIC_HOST, Repository, is_commit};
use crate::tree::ReadError;

/// Opens `repository` at the wanted commit.
///
/// # Errors
///
/// Fails as [`GitHub::resolve`] and [`GitHub::download`] do, and for an archive that is refused or is of
/// another commit.
pub fn open(
    context: &Context,
    repository: &Repository,
    wanted: Wanted<'_>,
    limits: &Limits,
) -> Result<FetchedSource> {
    let settings = settings_for(&context.settings, repository);
    let client = Client::new(&settings, Arc::clone(&context.reporter));
    let github = GitHub::new(&client, &settings, repository)?;
    let commit = match wanted {
        Wanted::Now(reference) => github.resolve(reference)?,
        Wanted::Locked(commit) => commit.to_owned(),
    };
    let cached = github.is_cached(&commit);
    let archive = match unpack(&github, &commit, limits) {
        // An archive that was intact when it was downloaded may have been damaged since.
        Err(error) if cached && !context.settings.offline => {
            unpack(&github, &commit, limits).map_err(|_| error)?
        }
        Err(error) if cached => {
            return Err(error.hint(message!(
                "it came from the store: run the command without ",
                Opt::Offline,
                " to download it again"
            )));
        }
        other if matches!(wanted, Wanted::Locked(_)) => {
            other.map_err(|error| if_gone(error, repository, &commit))?
        }
        other => other?,
    };
    Ok(FetchedSource::new(archive.tree.without_wrapper(), Some(commit), &repository.name))
}

/// Returns the time of `commit` of `repository`, in seconds since 1970.
pub fn released(context: &Context, repository: &Repository, commit: &str) -> Result<i64> {
    let settings = settings_for(&context.settings, repository);
    let client = Client::new(&settings, Arc::clone(&context.reporter));
    let released = GitHub::new(&client, &settings, repository)?.released(commit);
    released.map_err(|error| if_gone(error, repository, commit))
}

/// Returns `error`, the answer to a request for `commit`, a full id, or a clearer error if it means that
/// there is no such commit.
fn if_gone(error: Error, repository: &Repository, commit: &str) -> Error {
    match error.kind() {
        // The repository exists, and this was the only thing requested from it.
        ErrorKind::Usage => Error::commit_gone(&repository.to_string(), commit),
        _ => error,
    }
}

/// Returns the settings for the server of `repository`. If they name an Enterprise server, the public one is
/// asked without a token, since the token may not be meant for it.
pub fn settings_for<'a>(settings: &'a Settings, repository: &Repository) -> Cow<'a, Settings> {
    if repository.host.is_some() || settings.github.host == PUBLIC_HOST {
        return Cow::Borrowed(settings);
    }
    Cow::Owned(Settings { github: settings::GitHub::public(), ..settings.clone() })
}

/// Downloads and opens the archive of `commit`. Does not keep one that is refused.
fn unpack(github: &GitHub<'_>, commit: &str, limits: &Limits) -> Result<Archive> {
    let file = github.download(commit, limits.archive_bytes)?;
    let archive = archive::open_zip(file, limits).map_err(|error| {
        let is_name = matches!(
            &error,
            ReadError::Refused(Refusal::Name { .. } | Refusal::NameEncoding(_) | Refusal::Collision(..))
        );
        let error = Error::from(error);
        // A single bad name anywhere refuses an archive, since programs read such a name in different ways.
        // With git, only the skill that contains it is refused.
        if is_name { error.hint(over_git(github)) } else { error }
    });
    let archive = archive.and_then(|archive| {
        check_commit(&archive, commit)?;
        Ok(archive)
    });
    archive.map_err(|error| {
        // The error of the archive is the one to report.
        let _ = github.forget(commit);
        error.context(format!("the archive of `{}` is refused", github.repository))
    })
}

/// Returns the advice to let git itself fetch the same repository.
fn over_git(github: &GitHub<'_>) -> String {
    let Repository { host, owner, name } = &github.repository;
    let host = host.as_deref().unwrap_or(PUBLIC_HOST);
    format!("name the source as `git+https://{host}/{owner}/{name}`: git fetches it without an archive")
}

/// Checks the commit in the archive's comment, where GitHub writes it: a cheap check that the server sent the requested
/// commit. The digest in the lockfile is the proof.
fn check_commit(archive: &Archive, commit: &str) -> Result<()> {
    match archive.comment.as_deref().map(str::trim) {
        Some(found) if is_commit(found) && found != commit => {
            Err(Refusal::WrongCommit { expected: commit.to_owned(), found: found.to_owned() }.into())
        }
        _ => Ok(()),
    }
}
