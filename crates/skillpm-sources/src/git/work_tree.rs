//! Questions to git about a work tree on this machine, without a server.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::program::environment;
use crate::settings::Settings;

/// Reports whether git ignores `path` in the repository around the directory `dir`, by the rules of both the
/// repository and the user. Returns `None` if `git` cannot be run.
pub fn is_ignored(settings: &Settings, dir: &Path, path: &Path) -> Option<bool> {
    let mut command = local(settings, dir);
    command.args(["check-ignore", "--quiet", "--no-index", "--"]).arg(path);
    match command.stdout(Stdio::null()).status().ok()?.code()? {
        0 => Some(true),
        1 => Some(false),
        _ => None,
    }
}

/// Reports whether git tracks `path`, a file below the directory `dir`. Returns `false` if `dir` is in no work tree of git,
/// or no `git` can be run.
pub fn is_tracked(settings: &Settings, dir: &Path, path: &Path) -> bool {
    let mut command = local(settings, dir);
    command.args(["ls-files", "--error-unmatch", "--"]).arg(path);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Returns the paths below the directory `dir`, relative to it and sorted, that are not as the newest commit has them:
/// changed, deleted, added and untracked files. Files that git ignores are not among them. Returns `None` if `dir` is in
/// no work tree of git, or no `git` can be run.
pub fn uncommitted(settings: &Settings, dir: &Path) -> Option<Vec<String>> {
    // The paths of a status begin at the root of the work tree.
    let prefix = output(settings, dir, &["rev-parse", "--show-prefix"])?;
    let prefix = line(&prefix);
    let args = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--", "."];
    let status = output(settings, dir, &args)?;
    let path = |line: &str| Some(line.get(3..)?.strip_prefix(prefix)?.to_owned());
    let mut paths: Vec<String> = status.split('\0').filter_map(path).collect();
    paths.sort_unstable();
    Some(paths)
}

/// Why git does not tell what changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unchanged {
    /// Whether the commit is unknown. Otherwise there is no repository, or `git` cannot run.
    pub is_revision: bool,
}

/// Returns the files of the work tree `root` that are not as the newest commit has them, or that differ from where the
/// histories of that and of `since` part, as absolute paths. Untracked files are among them, and deleted ones.
///
/// # Errors
///
/// Fails if git does not tell, with the reason.
pub fn changed(settings: &Settings, root: &Path, since: Option<&str>) -> Result<Vec<PathBuf>, Unchanged> {
    let mut paths = uncommitted(settings, root).ok_or(Unchanged { is_revision: false })?;
    if let Some(since) = since {
        let wanted = format!("{since}^{{commit}}");
        let commit = output(settings, root, &["rev-parse", "--verify", "--end-of-options", &wanted]);
        let unknown = Unchanged { is_revision: true };
        let commit = commit.ok_or(unknown)?;
        // A clone without history knows no common commit.
        let base = output(settings, root, &["merge-base", line(&commit), "HEAD"]).unwrap_or(commit);
        let args = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--relative", line(&base)];
        let files = output(settings, root, &args).ok_or(unknown)?;
        paths.extend(files.split_terminator('\0').map(ToOwned::to_owned));
    }
    Ok(paths.into_iter().map(|path| root.join(path)).collect())
}

/// Returns the newest commit of the work tree around the directory `dir`, as its full id. Returns `None` if it has no
/// commit, or if `git` cannot be run.
pub fn head(settings: &Settings, dir: &Path) -> Option<String> {
    output(settings, dir, &["rev-parse", "--verify", "HEAD^{commit}"]).map(|id| line(&id).to_owned())
}

/// Returns the paths of all files in `commit` of the repository around the directory `dir`, from the root of the
/// repository. Returns `None` if the commit does not exist, or if `git` cannot be run.
pub fn files_of(settings: &Settings, dir: &Path, commit: &str) -> Option<Vec<String>> {
    let files = output(settings, dir, &["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit])?;
    Some(files.split_terminator('\0').map(ToOwned::to_owned).collect())
}

/// Returns the address of the remote called `name` of the repository around the directory `dir`, with the user's
/// replacements. Returns `None` if the remote does not exist, or if `git` cannot be run.
pub fn remote(settings: &Settings, dir: &Path, name: &str) -> Option<String> {
    output(settings, dir, &["remote", "get-url", name]).map(|url| line(&url).to_owned())
}

/// Returns what git prints when it is run in the directory `dir` with `args`; `None` if it fails.
fn output(settings: &Settings, dir: &Path, args: &[&str]) -> Option<String> {
    let output = local(settings, dir).args(args).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns `text` without the end of its only line.
fn line(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// Returns a command of git in the directory `dir` that neither asks a server nor writes.
fn local(settings: &Settings, dir: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts git")]
    let mut command = Command::new("git");
    command.env_clear().envs(environment(&settings.env, "")).current_dir(dir);
    // A repository can name a program that git starts when it reads the index.
    command.args(["--no-optional-locks", "-c", "core.fsmonitor=false"]);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    command
}
