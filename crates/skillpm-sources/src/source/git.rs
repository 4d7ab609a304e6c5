//! Git repositories, local and remote.

mod newest;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::newest::Revisions;
use super::{FetchedSource, Released, Source, Wanted, local};
use crate::advice::{Opt, Verb, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs::{self, Kind};
use crate::git::{self, Probe, WantedRevision};
use crate::refusal::Limits;
use crate::scope_kind::ScopeRoot;
use crate::settings::Settings;
use crate::spec::{GitUrl, Origin, Reference, SpecError, Transport};

/// The largest `.git` file that is read, in bytes: it holds one path.
const MAX_LINK: u64 = 64 << 10;

impl Source for GitUrl {
    fn open(&self, context: &Context, scope: ScopeRoot<'_>, wanted: Wanted<'_>) -> Result<FetchedSource> {
        open(context, scope, self, wanted, &Limits::default())
    }

    fn revisions<'a>(
        &'a self,
        context: &'a Context,
        scope: ScopeRoot<'a>,
        references: &[Option<&Reference>],
    ) -> Result<Option<Box<dyn Revisions + 'a>>> {
        Ok(Some(Box::new(newest::Repository::new(context, scope, self, references)?)))
    }

    /// Settles a path like any other path, so that it means the same on every machine.
    fn settle(&self, context: &Context, scope: ScopeRoot<'_>) -> Result<Option<Origin>> {
        let Some(path) = self.local_path() else { return Ok(None) };
        repository_at(&local::settle(&context.settings, scope, path)?).map(Some)
    }

    fn place(&self, settings: &Settings, scope: ScopeRoot<'_>) -> Result<Option<PathBuf>> {
        match (self.file_path(), self.local_path()) {
            (Some(path), _) => Ok(Some(PathBuf::from(path))),
            (None, Some(path)) => local::resolve(settings, scope, path).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn released(&self, _: &Context, _: Option<&str>) -> Result<Released> {
        Ok(Released::OnceOpened)
    }

    fn here(&self, settings: &Settings, scope: ScopeRoot<'_>) -> Option<Origin> {
        let typed = local::typed_here(settings, scope, self.local_path()?)?;
        Self::new(&typed).ok().map(Origin::from)
    }
}

/// Returns the repository at `path` as a source.
fn repository_at(path: &str) -> Result<Origin> {
    GitUrl::new(path).map(Origin::from).map_err(|error: SpecError| Error::usage(error.to_string()))
}

/// Opens the repository at `url`. Paths are relative to the root of `scope`.
pub fn open(
    context: &Context,
    scope: ScopeRoot<'_>,
    url: &GitUrl,
    wanted: Wanted<'_>,
    limits: &Limits,
) -> Result<FetchedSource> {
    let at = match wanted {
        Wanted::Now(reference) => WantedRevision::Reference(reference),
        Wanted::Locked(commit) => WantedRevision::Commit(commit),
    };
    let opened = if url.transport() == Transport::File {
        let shown = &*shown(context, scope, url);
        let git_dir = own_files(context, scope, url, shown)?;
        if let Some(opened) = git::open_local(&git_dir, shown, at, limits)? {
            opened
        } else {
            // Only the program can handle partial clones and new reference formats.
            git::fetch(context, text(&git_dir, shown)?, Transport::File, at, limits)?
        }
    } else {
        git::fetch(context, url.as_str(), url.transport(), at, limits)?
    };
    let released = Some(opened.time);
    Ok(FetchedSource { released, ..FetchedSource::new(opened.tree, Some(opened.commit), url.name()) })
}

/// Prepares to ask the repository at `url` for its state at `references`. Paths are relative to the root of
/// `scope`.
///
/// # Errors
///
/// Fails for a path without a repository.
pub fn probe<'a>(
    context: &'a Context,
    scope: ScopeRoot<'_>,
    url: &GitUrl,
    references: &[Option<&Reference>],
) -> Result<Probe<'a>> {
    if url.transport() != Transport::File {
        return Probe::fetching(context, url.as_str(), url.transport(), references);
    }
    let shown = &*shown(context, scope, url);
    let git_dir = own_files(context, scope, url, shown)?;
    match Probe::local(&git_dir, shown)? {
        Some(probe) => Ok(probe),
        None => Probe::fetching(context, text(&git_dir, shown)?, Transport::File, references),
    }
}

/// Returns the directory of git's own files of the repository at `url`, a path that messages show as `shown`.
fn own_files(context: &Context, scope: ScopeRoot<'_>, url: &GitUrl, shown: &str) -> Result<PathBuf> {
    let path = path_of(context, scope, url)?;
    git_dir(&path)?.ok_or_else(|| match fs::kind(&path) {
        Ok(None) => Error::usage(format!("`{shown}` does not exist")).hint("check the spelling"),
        _ => Error::usage(format!("`{shown}` is not a git repository")).hint(message!(
            Verb::Install.call().flag(Opt::List).path(&path),
            " shows what is there without git"
        )),
    })
}

/// Returns the name of the repository at `url` for messages: a path is shown relative to the working
/// directory, since git accepts no other form.
fn shown<'a>(context: &Context, scope: ScopeRoot<'_>, url: &'a GitUrl) -> Cow<'a, str> {
    match url.here(&context.settings, scope) {
        Some(here) => here.written().into(),
        None => url.as_str().into(),
    }
}

fn text<'a>(path: &'a Path, shown: &str) -> Result<&'a str> {
    path.to_str().ok_or_else(|| Error::usage(format!("`{shown}` is not UTF-8")))
}

/// Returns the git repository at `path`, a path as in the manifest of `scope`, if it is a bare one, which has
/// no files to install from directly. A directory with a work tree stays a directory.
pub(super) fn if_bare(context: &Context, scope: ScopeRoot<'_>, path: &str) -> Result<Option<Origin>> {
    if is_bare(&local::resolve(&context.settings, scope, path)?)? {
        return repository_at(path).map(Some);
    }
    Ok(None)
}

/// Returns the git repository at the path `typed`, if there is one: the user gave a revision, which
/// directories do not have.
pub(super) fn at_path(context: &Context, scope: ScopeRoot<'_>, typed: &str) -> Result<Option<Origin>> {
    let path = local::settle(&context.settings, scope, typed)?;
    if git_dir(&local::resolve(&context.settings, scope, &path)?)?.is_none() {
        return Ok(None);
    }
    repository_at(&path).map(Some)
}

fn path_of(context: &Context, scope: ScopeRoot<'_>, url: &GitUrl) -> Result<PathBuf> {
    let path = url.place(&context.settings, scope)?;
    Ok(path.unwrap_or_else(|| PathBuf::from(url.as_str())))
}

/// Returns the directory of git's own files of the repository at `path`, if there is one.
fn git_dir(path: &Path) -> Result<Option<PathBuf>> {
    let inner = path.join(".git");
    let Some(real) = fs::real_path(&inner)? else {
        return Ok(if is_bare(path)? { fs::real_path(path)? } else { None });
    };
    match fs::kind(&real)? {
        Some(Kind::Directory) => Ok(Some(real)),
        // A second work tree, or a submodule: the file names the directory.
        Some(Kind::File) => {
            let text = fs::read_text(&real, MAX_LINK)?.unwrap_or_default();
            let Some(target) = text.strip_prefix("gitdir: ") else { return Ok(None) };
            Ok(fs::real_path(&path.join(target.trim_end_matches(['\r', '\n'])))?)
        }
        _ => Ok(None),
    }
}

fn is_bare(path: &Path) -> Result<bool> {
    let is = |name: &str, kind| Ok::<_, Error>(fs::kind(&path.join(name))? == Some(kind));
    Ok(is("HEAD", Kind::File)? && is("objects", Kind::Directory)? && is("refs", Kind::Directory)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Env;
    use crate::scope_kind::ScopeKind;

    /// Git accepts a path only as it is typed in the working directory.
    #[test]
    fn a_path_is_told_as_it_is_typed_here() {
        let dir = tempfile::tempdir().expect("a directory");
        let top = fs::real_path(dir.path()).expect("there").expect("there");
        git2::Repository::init(top.join("r")).expect("a repository");
        let project = top.join("project");
        fs::create_dir_all(&project.join("sub")).expect("creates");
        let mut env = Env { cwd: project.clone(), ..Env::default() };
        env.vars.insert("HOME".into(), top.join("home").into());
        let mut context = Context::silent(Settings::from_env(env).expect("valid"));
        let lockfile = project.join("skillpm.lock");
        let scope =
            ScopeRoot { kind: ScopeKind::Project, root: &project, lockfile: &lockfile, agent_dirs: &[] };
        let (url, tag) = (GitUrl::new("../r").expect("a path"), Reference::Tag("v9".to_owned()));
        for (cwd, typed) in [("", "../r"), ("sub", "../../r")] {
            context.settings.cwd = project.join(cwd);
            let expected = [format!("`git ls-remote -- {typed}` lists them")];
            let wanted = Wanted::Now(Some(&tag));
            let error = open(&context, scope, &url, wanted, &Limits::default()).expect_err("no such tag");
            assert_eq!(error.hints(), expected);
            let probe = probe(&context, scope, &url, &[Some(&tag)]).expect("a repository");
            assert_eq!(probe.tip(Some(&tag)).expect_err("no such tag").hints(), expected);
        }
    }
}
