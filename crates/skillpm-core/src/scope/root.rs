//! Scopes: a project or the user.

use std::path::{Path, PathBuf};

use super::index::Index;
use super::step::Location;
use crate::advice::{Opt, message};
use crate::agents::{self, Agent};
use crate::error::{Error, Result};
use crate::fs::{self, Kind};
use crate::name::SkillName;
use crate::scope_kind::{CANONICAL_DIR, DISABLED_DIR, ScopeKind, ScopeRoot};
use crate::settings::{Settings, no_home};
use crate::{lockfile, manifest};

/// A scope and its places.
#[derive(Debug, Clone)]
pub struct Scope {
    /// Which scope it is.
    pub kind: ScopeKind,
    /// The project's root, or the user's home.
    pub root: PathBuf,
    /// `skillpm.toml`.
    pub manifest: PathBuf,
    /// `skillpm.lock`.
    pub lockfile: PathBuf,
    /// The user's manifest, also in the scope of a project; `None` without a configuration directory.
    pub user_manifest: Option<PathBuf>,
    /// The cached digests of the trees in it.
    pub index: Index,
}

/// The scopes that a verb works on.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    /// The available scopes, the project's first.
    pub there: Vec<Scope>,
    /// Why a scope that was not explicitly requested is not available: usually because there is no home
    /// directory.
    pub missing: Vec<Error>,
}

impl Scopes {
    /// Returns the scope `only`, or both. Touches nothing.
    pub(crate) fn new(settings: &Settings, only: Option<ScopeKind>) -> Result<Self> {
        let mut scopes = Self::default();
        for kind in [ScopeKind::Project, ScopeKind::User] {
            if only.is_some_and(|only| only != kind) {
                continue;
            }
            match Scope::new(settings, kind) {
                Ok(scope) => scopes.there.push(scope),
                Err(error) if only.is_none() => scopes.missing.push(error),
                Err(error) => return Err(error),
            }
        }
        Ok(scopes)
    }

    /// Reports whether both scopes are available and keep their skills in one directory, which is so if the
    /// home directory is the project.
    pub(crate) fn are_twins(&self, settings: &Settings) -> Result<bool> {
        match &self.there[..] {
            [project, _] => Ok(project.other_scope(settings)?.is_some()),
            _ => Ok(false),
        }
    }

    /// Drops the project if it is the user's home and has neither file: what is there belongs to the user
    /// scope. Returns whether both scopes are still available and keep their skills in one directory.
    pub(crate) fn settle_twins(&mut self, settings: &Settings) -> Result<bool> {
        let (true, [project, _]) = (self.are_twins(settings)?, &self.there[..]) else { return Ok(false) };
        let is_used = fs::kind(&project.manifest)?.is_some() || fs::kind(&project.lockfile)?.is_some();
        if !is_used {
            self.there.remove(0);
        }
        Ok(is_used)
    }
}

impl Scope {
    /// Returns the scope of `kind`. Touches nothing.
    ///
    /// A project's root is the nearest directory, from the working directory up, with a `skillpm.toml`,
    /// otherwise the nearest with a `.git`, otherwise the working directory.
    ///
    /// # Errors
    ///
    /// Fails if the user's home is not known, or a directory cannot be examined.
    pub fn new(settings: &Settings, kind: ScopeKind) -> Result<Self> {
        let (root, files) = match kind {
            ScopeKind::Project => {
                return Ok(Self::project(settings, &project_root(settings)?));
            }
            ScopeKind::User => {
                let root = settings.home.clone().ok_or_else(|| no_home("skills of the user", None))?;
                let config = settings
                    .dirs
                    .config
                    .clone()
                    .ok_or_else(|| no_home("the user's manifest", Some(crate::env::XDG_CONFIG_HOME)))?;
                (root, config)
            }
        };
        Ok(Self::of(settings, kind, root, &files))
    }

    fn of(settings: &Settings, kind: ScopeKind, root: PathBuf, files: &Path) -> Self {
        let (manifest, lockfile) = (files.join(manifest::FILE_NAME), files.join(lockfile::FILE_NAME));
        let index = Index::new(settings, &root, &kind.to_string(), &lockfile);
        let user_manifest = settings.dirs.config.as_ref().map(|dir| dir.join(manifest::FILE_NAME));
        Self { kind, root, manifest, lockfile, user_manifest, index }
    }

    /// Returns the part of the scope that sources need.
    pub fn as_root(&self) -> ScopeRoot<'_> {
        ScopeRoot {
            kind: self.kind,
            root: &self.root,
            lockfile: &self.lockfile,
            agent_dirs: agents::project_dirs(),
        }
    }

    /// Returns the scope of the project whose root is `root`, independent of the working directory. Touches
    /// nothing.
    pub fn project(settings: &Settings, root: &Path) -> Self {
        Self::of(settings, ScopeKind::Project, root.to_owned(), root)
    }

    /// Returns the projects around this one, the nearest first: the directories up to the root of the
    /// repository that have a manifest or skills. Agents that search upwards to that root also see their
    /// skills.
    ///
    /// # Errors
    ///
    /// Fails if a directory cannot be examined.
    pub fn outer(&self, settings: &Settings) -> Result<Vec<Self>> {
        if self.kind == ScopeKind::User {
            return Ok(Vec::new());
        }
        let around = projects_around(settings, &self.root)?;
        Ok(around.iter().map(|root| Self::project(settings, root)).collect())
    }

    /// Returns the other scope that keeps its skills in the same directory: the user's home can also be a project.
    pub(crate) fn other_scope(&self, settings: &Settings) -> Result<Option<Self>> {
        if self.kind == ScopeKind::User {
            return Ok(Some(Self::project(settings, &self.root)));
        }
        let (Some(home), Some(config)) = (&settings.home, &settings.dirs.config) else { return Ok(None) };
        let is_home = self.is_root(home)?;
        Ok(is_home.then(|| Self::of(settings, ScopeKind::User, home.clone(), config)))
    }

    /// Reports whether `dir` is the root, perhaps under another name.
    ///
    /// # Errors
    ///
    /// Fails if a directory cannot be examined.
    pub fn is_root(&self, dir: &Path) -> Result<bool> {
        Ok(dir == self.root || fs::real_path(dir)? == fs::real_path(&self.root)?)
    }

    /// Returns the path `path` for people: below the user's home with `~` if the scope is the user's,
    /// relative to the working directory if that is also in the project, otherwise in full.
    pub fn shown(&self, settings: &Settings, path: &Path) -> String {
        match self.kind {
            ScopeKind::User => match path.strip_prefix(&self.root) {
                Ok(inside) => format!("~/{}", inside.display()),
                Err(_) => path.display().to_string(),
            },
            ScopeKind::Project if settings.cwd.starts_with(&self.root) && path.starts_with(&self.root) => {
                let shown = fs::relative(&settings.cwd, path);
                if shown.as_os_str().is_empty() { ".".to_owned() } else { shown.display().to_string() }
            }
            ScopeKind::Project => path.display().to_string(),
        }
    }

    /// Returns the same scope without cached digests, for deciding what may be discarded.
    #[must_use]
    pub(crate) fn unindexed(&self) -> Self {
        Self { index: self.index.forgetful(), ..self.clone() }
    }

    /// Returns the directory that holds the canonical copies.
    pub(crate) fn skills_dir(&self) -> PathBuf {
        self.root.join(CANONICAL_DIR)
    }

    /// Returns the directory that holds the skills that are disabled.
    pub(crate) fn disabled_dir(&self) -> PathBuf {
        self.root.join(DISABLED_DIR)
    }

    /// Returns the directory of the skill `name` while it is disabled.
    pub(crate) fn disabled_skill_dir(&self, name: &SkillName) -> PathBuf {
        self.disabled_dir().join(name.as_str())
    }

    /// Returns the directory that is locked while the scope changes. It is next to the skills, so that staged
    /// trees can be renamed into place, and outside the directories that agents scan.
    pub fn work_dir(&self) -> PathBuf {
        self.root.join(".agents")
    }

    /// Returns the canonical copy of the skill `name`.
    pub(crate) fn skill_dir(&self, name: &SkillName) -> PathBuf {
        self.skills_dir().join(name.as_str())
    }

    /// Returns the directory in which `agent` looks for skills, or `None` if it has none in this scope.
    pub(crate) fn agent_dir(&self, settings: &Settings, agent: &Agent) -> Option<PathBuf> {
        match self.kind {
            ScopeKind::Project => Some(self.root.join(agent.project_dir())),
            ScopeKind::User => agent.present_user_dir(settings, &fs::exists),
        }
    }

    /// Returns the path of the skill `name` at `place`.
    ///
    /// # Errors
    ///
    /// Fails for an agent that is unknown or has no directory in this scope, and for a directory that a link
    /// leads out of the project.
    pub fn place(&self, settings: &Settings, place: &Location, name: &SkillName) -> Result<PathBuf> {
        let dir = self.dir(settings, place)?;
        self.check_inside(&dir)?;
        Ok(dir.join(name.as_str()))
    }

    /// Returns the place of the skill `name`: where it should be, or else where it may still be.
    pub(crate) fn home_of(
        &self,
        settings: &Settings,
        name: &SkillName,
        disabled: bool,
    ) -> Result<Option<PathBuf>> {
        let mut places = [Location::Canonical, Location::Disabled];
        if disabled {
            places.reverse();
        }
        let mut there = None;
        for place in &places {
            let path = self.place(settings, place, name)?;
            if there.is_none() && fs::kind(&path)?.is_some() {
                there = Some(path);
            }
        }
        Ok(there)
    }

    /// Returns the directory of `place`, wherever it leads: for messages.
    ///
    /// # Errors
    ///
    /// Fails for an agent that is unknown or has no directory in this scope.
    pub fn dir(&self, settings: &Settings, place: &Location) -> Result<PathBuf> {
        match place {
            Location::Canonical => Ok(self.skills_dir()),
            Location::Disabled => Ok(self.disabled_dir()),
            Location::Agent(id) => {
                let agent = agents::find(id).map_err(|error| Error::config(error.to_string()))?;
                let dir = self.agent_dir(settings, agent);
                dir.ok_or_else(|| Error::config(format!("agent `{id}` has no directory in this scope")))
            }
        }
    }

    /// Reports whether `path` exists, following links. In a project, a directory with only empty directories
    /// does not count: no agent works there.
    pub fn is_used(&self, path: &Path) -> bool {
        let may_be_empty = self.kind == ScopeKind::Project && path.starts_with(&self.root);
        fs::exists(path) && !(may_be_empty && is_empty(path, 3))
    }

    /// Refuses the directories of skills, disabled or not, if a link leads them out of the project.
    pub(crate) fn check_skills_inside(&self) -> Result<()> {
        self.check_inside(&self.skills_dir())?;
        self.check_inside(&self.disabled_dir())
    }

    /// Refuses a directory or file that a link leads out of the project: a stranger's repository could
    /// otherwise make us write anywhere.
    pub(crate) fn check_inside(&self, dir: &Path) -> Result<()> {
        if self.kind == ScopeKind::User {
            return Ok(());
        }
        let Some(root) = fs::real_path(&self.root)? else { return Ok(()) };
        // The nearest existing part of the path decides: what is missing will be created in it.
        let mut there = Some(dir);
        while let Some(path) = there.filter(|path| path.starts_with(&self.root)) {
            let dangling = fs::kind(path)? == Some(Kind::Symlink);
            match fs::real_path(path)? {
                Some(real) if real.starts_with(&root) => return Ok(()),
                Some(real) => {
                    let (link, to) = self.link_out(path, &root)?.unwrap_or_else(|| (path.to_owned(), real));
                    return Err(outside(&link, &to));
                }
                None if dangling => return Err(nowhere(path, &fs::read_link(path)?.unwrap_or_default())),
                None => there = path.parent(),
            }
        }
        Ok(())
    }

    /// Returns the link on the way from the scope's root to `path` that leads out of `root`, which is that
    /// root with links resolved, and its target.
    fn link_out(&self, path: &Path, root: &Path) -> Result<Option<(PathBuf, PathBuf)>> {
        let mut way: Vec<_> = path.ancestors().take_while(|dir| **dir != *self.root).collect();
        while let Some(dir) = way.pop() {
            if fs::kind(dir)? == Some(Kind::Symlink)
                && let Some(real) = fs::real_path(dir)?
                && !real.starts_with(root)
            {
                return Ok(Some((dir.to_owned(), real)));
            }
        }
        Ok(None)
    }
}

fn outside(path: &Path, real: &Path) -> Error {
    Error::integrity(format!(
        "`{}` is a link that leads out of the project, to `{}`",
        path.display(),
        real.display()
    ))
    .hint(message!("remove the link, or install for the user with ", (Opt::Scope, "user")))
}

/// Returns the error for a link at `path` whose `target` does not exist.
pub(crate) fn nowhere(path: &Path, target: &Path) -> Error {
    Error::integrity(format!(
        "`{}` is a link to `{}`, which does not exist",
        path.display(),
        target.display()
    ))
    .hint("remove the link, or create its target")
}

/// Reports whether `path` is a directory with only empty directories, to this depth.
fn is_empty(path: &Path, depth: usize) -> bool {
    matches!(fs::kind(path), Ok(Some(Kind::Directory)))
        && fs::list_dir(path)
            .is_ok_and(|names| names.iter().all(|name| depth > 0 && is_empty(&path.join(name), depth - 1)))
}

/// Returns the root of the project around the working directory: see [`Scope::new`].
pub(crate) fn project_root(settings: &Settings) -> Result<PathBuf> {
    let projects = ProjectDirs::new(settings)?;
    for marker in [manifest::FILE_NAME, ".git"] {
        for dir in settings.cwd.ancestors() {
            if projects.holds(dir, marker)? {
                return Ok(dir.to_owned());
            }
        }
    }
    Ok(settings.cwd.clone())
}

/// Knows which directories may be the root of a project.
#[derive(Debug)]
pub(crate) struct ProjectDirs {
    /// The home directory, unless it is the working directory.
    home: Option<PathBuf>,
}

impl ProjectDirs {
    pub(crate) fn new(settings: &Settings) -> Result<Self> {
        // The working directory has no links, whereas the home directory is as configured.
        let home = match &settings.home {
            Some(home) => fs::real_path(home)?.or_else(|| Some(home.clone())),
            None => None,
        };
        Ok(Self { home: home.filter(|home| *home != settings.cwd) })
    }

    /// Reports whether `dir` may be a root and has `marker`. The user's own manifest is elsewhere, and a repository in the
    /// home directory (for dot files) does not make every directory below it one project.
    pub(crate) fn holds(&self, dir: &Path, marker: &str) -> Result<bool> {
        Ok(self.home.as_deref() != Some(dir) && fs::kind(&dir.join(marker))?.is_some())
    }
}

/// Returns the nearest directory from `dir` upwards that has a `.git` and satisfies `counts`: the root of a
/// repository.
pub(crate) fn repository_of(dir: &Path, counts: impl Fn(&Path) -> bool) -> Result<Option<PathBuf>> {
    for dir in dir.ancestors().filter(|dir| counts(dir)) {
        if fs::kind(&dir.join(".git"))?.is_some() {
            return Ok(Some(dir.to_owned()));
        }
    }
    Ok(None)
}

/// Returns the roots of the projects around the one at `root`: see [`Scope::outer`]. Everything in the user's
/// home belongs to the user scope.
pub(crate) fn projects_around(settings: &Settings, root: &Path) -> Result<Vec<PathBuf>> {
    let home = settings.home.as_deref().map(fs::real_path).transpose()?.flatten();
    let is_home = |dir: &Path| settings.home.as_deref() == Some(dir) || home.as_deref() == Some(dir);
    let mut around = Vec::new();
    if is_home(root) || fs::kind(&root.join(".git"))?.is_some() {
        return Ok(around);
    }
    for dir in root.ancestors().skip(1).take_while(|dir| !is_home(dir)) {
        for name in [manifest::FILE_NAME, CANONICAL_DIR] {
            if fs::kind(&dir.join(name))?.is_some() {
                around.push(dir.to_owned());
                break;
            }
        }
        if fs::kind(&dir.join(".git"))?.is_some() {
            return Ok(around);
        }
    }
    // Without a repository, it is unknown how far up agents search.
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Env;

    fn settings(cwd: &Path, home: &Path) -> Settings {
        let vars = [("HOME".into(), home.into())].into();
        Settings::from_env(Env { vars, cwd: cwd.to_owned(), interactive: false }).expect("valid")
    }

    #[test]
    fn the_root_is_the_manifest_s_directory_then_the_repository_s() {
        let dir = tempfile::tempdir().expect("a directory");
        let home = dir.path();
        let deep = home.join("repo/app/src");
        fs::create_dir_all(&deep).expect("creates");
        fs::create_dir_all(&home.join(".git")).expect("creates");
        let root = |cwd: &Path| Scope::new(&settings(cwd, home), ScopeKind::Project).expect("valid").root;
        assert_eq!(root(&deep), deep, "the home's own repository does not count");
        #[cfg(unix)]
        {
            let link = home.join("link");
            fs::symlink(home, &link).expect("links");
            let linked = Scope::new(&settings(&deep, &link), ScopeKind::Project).expect("valid");
            assert_eq!(linked.root, deep, "nor through a link");
        }
        fs::create_dir_all(&home.join("repo/.git")).expect("creates");
        assert_eq!(root(&deep), home.join("repo"));
        fs::write_atomic(&home.join("repo/app/skillpm.toml"), b"").expect("writes");
        assert_eq!(root(&deep), home.join("repo/app"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_project_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let project = dir.path().join("project");
        fs::create_dir_all(&project.join("inside")).expect("creates");
        let scope = Scope::new(&settings(&project, dir.path()), ScopeKind::Project).expect("valid");
        scope.check_inside(&scope.skills_dir()).expect("nothing is there yet");
        for (target, allowed) in [("inside", true), ("..", false), ("../missing", false)] {
            fs::symlink(Path::new(target), &scope.work_dir()).expect("links");
            assert_eq!(scope.check_inside(&scope.skills_dir()).is_ok(), allowed, "{target}");
        }
    }
}
