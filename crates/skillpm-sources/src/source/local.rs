//! Directories and archives on this machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::discover::MAX_DEPTH;
use super::{FetchedSource, Source, Wanted, file};
use crate::advice::{Message, Verb, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs::{self, SharedFile, Walk, relative};
use crate::lockfile::{self, Lockfile};
use crate::manifest;
use crate::name::SkillName;
use crate::path::normal;
use crate::refusal::Limits;
use crate::scope_kind::{CANONICAL_DIR, DISABLED_DIR, ScopeKind, ScopeRoot};
use crate::settings::{Settings, no_home};
use crate::skill::SKILL_FILE;
use crate::skill::skipped::SKIPPED;
use crate::spec::{LocalPath, Origin, file_stem};
use crate::text::{closest_path, shell_word};

/// The largest lockfile that is examined, in bytes.
const MAX_LOCK: u64 = 16 << 20;

impl Source for LocalPath {
    fn open(&self, context: &Context, scope: ScopeRoot<'_>, _: Wanted<'_>) -> Result<FetchedSource> {
        let path = resolve(&context.settings, scope, &self.0)?;
        check_extent(&context.settings, &path)?;
        open(scope, &path, &Limits::default())
    }

    fn settle(&self, context: &Context, scope: ScopeRoot<'_>) -> Result<Option<Origin>> {
        let path = settle(&context.settings, scope, &self.0)?;
        #[cfg(feature = "git")]
        if let Some(repository) = super::git::if_bare(context, scope, &path)? {
            return Ok(Some(repository));
        }
        Ok(Some(Origin::local(path)))
    }

    #[cfg(feature = "git")]
    fn with_revisions(&self, context: &Context, scope: ScopeRoot<'_>) -> Result<Option<Origin>> {
        super::git::at_path(context, scope, &self.0)
    }

    fn place(&self, settings: &Settings, scope: ScopeRoot<'_>) -> Result<Option<PathBuf>> {
        resolve(settings, scope, &self.0).map(Some)
    }

    fn here(&self, settings: &Settings, scope: ScopeRoot<'_>) -> Option<Origin> {
        typed_here(settings, scope, &self.0).map(Origin::local)
    }
}

/// Resolves `path`: from the home directory after `~/`, otherwise from the root of `scope`.
///
/// # Errors
///
/// Fails if `~` is used and the home directory is not known.
pub fn resolve(settings: &Settings, scope: ScopeRoot<'_>, path: &str) -> Result<PathBuf> {
    Ok(normal(&expand(settings, scope.root, path)?))
}

/// Resolves `path`, which was typed in the working directory, as [`resolve`] does.
pub fn resolve_typed(settings: &Settings, path: &str) -> Result<PathBuf> {
    Ok(normal(&expand(settings, &settings.cwd, path)?))
}

/// Returns the part after `~` in a path from the home directory.
fn from_home(path: &str) -> Option<&str> {
    path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns `path` from the home directory after `~/`, otherwise from `base`.
pub(super) fn expand(settings: &Settings, base: &Path, path: &str) -> Result<PathBuf> {
    match from_home(path) {
        Some(rest) => {
            let home = settings.home.as_ref().ok_or_else(|| no_home("a path that starts with `~`", None))?;
            Ok(home.join(rest.trim_start_matches('/')))
        }
        None => Ok(base.join(path)),
    }
}

/// Returns `path`, which is from the manifest of `scope`, as it is typed in the working directory, if it
/// means something else there.
pub(super) fn typed_here(settings: &Settings, scope: ScopeRoot<'_>, path: &str) -> Option<String> {
    if settings.cwd == scope.root || from_home(path).is_some() || Path::new(path).is_absolute() {
        return None;
    }
    portable(&settings.cwd, &normal(&scope.root.join(path)))
}

/// Returns the relative path from `dir` to `place`, with `/`, and in a form that is recognizable as a path.
/// Returns `None` if it is not UTF-8.
pub fn portable(dir: &Path, place: &Path) -> Option<String> {
    let path = relative(dir, place);
    let text = path.to_str()?;
    let text = if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() };
    Some(match text.as_str() {
        "" => ".".to_owned(),
        ".." => text,
        _ if text.starts_with("../") => text,
        _ => format!("./{text}"),
    })
}

/// Returns a path that was typed in the working directory in the form that the manifest of `scope` keeps:
/// relative to a project, so that it means the same on every machine; from the home directory in the user
/// scope.
pub(super) fn settle(settings: &Settings, scope: ScopeRoot<'_>, typed: &str) -> Result<String> {
    let path = expand(settings, &settings.cwd, typed)?;
    let Some(real) = fs::real_path(&path)? else {
        let error = Error::usage(format!("`{typed}` does not exist"));
        let whole = typed.split(['#', '@']).next().unwrap_or(typed);
        return Err(if whole != typed && fs::kind(&expand(settings, &settings.cwd, whole)?)?.is_some() {
            error.hint(format!(
                "`#` and `@` are parts of a path: write `git+{typed}` for a git repository, or leave out `{}`",
                &typed[whole.len()..]
            ))
        } else {
            let unlike = || "check the path; `owner/repo` means a repository on GitHub".into();
            error.hint(meant(Path::new(typed), &path).unwrap_or_else(unlike))
        });
    };
    // A `SKILL.md` stands for its directory.
    let real = match real.file_name() {
        Some(name) if name.eq_ignore_ascii_case(SKILL_FILE) => real.parent().unwrap_or(&real).to_owned(),
        _ => real,
    };
    let text = |path: &Path| {
        let fault = |what| {
            Error::usage(format!("the path `{}` {what}", path.display()))
                .hint("rename the directory: the path is written into `skillpm.toml`")
        };
        let text = path.to_str().ok_or_else(|| fault("is not UTF-8"))?;
        if text.chars().any(char::is_control) {
            return Err(fault("has a control character"));
        }
        // On other systems, a backslash is an ordinary character.
        Ok::<_, Error>(if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() })
    };
    let root = fs::real_path(scope.root)?.unwrap_or_else(|| scope.root.to_owned());
    Ok(match scope.kind {
        ScopeKind::Project => {
            let inside = text(&relative(&root, &real))?;
            if inside.starts_with("../") || inside == ".." { inside } else { format!("./{inside}") }
        }
        ScopeKind::User => match real.strip_prefix(&root) {
            Ok(inside) => format!("~/{}", text(inside)?),
            Err(_) => text(&real)?,
        },
    })
}

/// Returns advice on the path `at`, which was typed as `typed` and does not exist: the skill that was probably meant, of those
/// in the nearest directory above that exists, and in its `skills`.
pub fn meant(typed: &Path, at: &Path) -> Option<Message> {
    let (above, dir) = typed.ancestors().zip(at.ancestors()).skip(1).find(|(_, dir)| fs::exists(dir))?;
    let skills = |inside: &str| {
        let names = fs::list_dir(&dir.join(inside)).unwrap_or_default().into_iter();
        let paths = names.map(|name| format!("{inside}{name}"));
        paths.filter(|path| fs::exists(&dir.join(path).join(SKILL_FILE))).collect::<Vec<_>>()
    };
    let all = [skills(""), skills("skills/")].concat();
    let close = closest_path(typed.strip_prefix(above).ok()?.to_str()?, all.iter().map(String::as_str))?;
    Some(format!("did you mean `{}`?", shell_word(above.join(close))).into())
}

/// Refuses `origin` if it is in a directory that skillpm manages for `scope`: the installed skill would be
/// its own source, would be removed with it, and would not be available to others.
///
/// # Errors
///
/// Fails for such a path, and for one that cannot be examined.
pub fn check_outside(settings: &Settings, scope: ScopeRoot<'_>, origin: &Origin) -> Result<()> {
    let Some(path) = super::place(settings, scope, origin)? else { return Ok(()) };
    let Some(real) = fs::real_path(&path)? else { return Ok(()) };
    for dir in MANAGED {
        let dir = scope.root.join(dir);
        let ours = fs::real_path(&dir)?.unwrap_or_else(|| dir.clone());
        if real.starts_with(&ours) {
            let (typed, shown) = (origin.typed(), ours.display());
            let error = Error::usage(format!(
                "`{typed}` is in `{shown}`, which belongs to skillpm, so it is not a source"
            ));
            let name = skill_in(&ours, &real);
            // `import` adopts neither what is where adopted skills go, nor what has a history of its own.
            let stays = fs::kind(&dir)? == Some(fs::Kind::Symlink)
                || fs::kind(&ours.join(&name).join(".git"))?.is_some();
            return Err(if stays {
                error
            } else {
                error.hint(message!(
                    Verb::Import.within(scope.kind).word(name),
                    " makes a skill that you wrote there your own, in `skills/`; installed skills can be edited in place"
                ))
            });
        }
    }
    Ok(())
}

/// Returns the name of the skill in the directory `ours` that `path` leads to, or into; `NAME` if it has none.
fn skill_in(ours: &Path, path: &Path) -> String {
    let first = path.strip_prefix(ours).ok().and_then(|inside| inside.components().next());
    let name = first.map(|name| name.as_os_str().to_string_lossy().into_owned());
    name.filter(|name| SkillName::exact(name).is_some()).unwrap_or_else(|| "NAME".to_owned())
}

/// Refuses the root of the file system, and a home directory that is not laid out as a source: searching all of it is
/// never intended.
fn check_extent(settings: &Settings, path: &Path) -> Result<()> {
    let Some(real) = fs::real_path(path)? else { return Ok(()) };
    let home = settings.home.as_deref().map(fs::real_path).transpose()?.flatten();
    let is_of_author = || [SKILL_FILE, "skills"].iter().any(|name| fs::exists(&real.join(name)));
    let what = match real.parent() {
        None => "the root of the file system",
        Some(_) if home.as_ref() == Some(&real) && !is_of_author() => "your home directory",
        Some(_) => return Ok(()),
    };
    Err(Error::usage(format!("`{}` is {what}, not a source of skills", path.display()))
        .hint("name a directory with a `SKILL.md`, or one that has skills in it"))
}

/// Opens the directory or archive at `path`. Leaves out what skillpm itself wrote for `scope`.
///
/// # Errors
///
/// Fails if nothing is there, or the archive is refused.
pub fn open(scope: ScopeRoot<'_>, path: &Path, limits: &Limits) -> Result<FetchedSource> {
    let shown = path.display();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match fs::real_path(path)? {
        None => Err(Error::usage(format!("`{shown}` does not exist")).hint(message!(
            "the path is in `skillpm.toml`; restore the files, or remove the skill with ",
            Verb::Remove.within(scope.kind).word("NAME")
        ))),
        Some(real) if fs::kind(&real)? == Some(fs::Kind::Directory) => {
            let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let walk = Walk { skip: SKIPPED, depth: MAX_DEPTH, entries: limits.archive_entries };
            let tree = fs::scan(&real, walk)
                .map_err(|error| Error::from(error).context(format!("`{shown}` cannot be read")))?;
            let ours = Installed::below(scope, &real)?;
            // Leftovers of tools were not written by the author.
            let tree = tree.without(|path| ours.holds(path)).without_leftovers(|_| false);
            Ok(FetchedSource::new(tree, None, &name))
        }
        Some(real) => {
            let file = Arc::new(SharedFile::open(&real)?);
            let tree = file::read(&file, &name, limits)
                .map_err(|error| Error::from(error).context(format!("`{shown}` is refused")))?;
            Ok(FetchedSource::new(tree, None, file_stem(&name)))
        }
    }
}

/// The directory of a scope, below its root.
const OWN: &str = ".agents";

/// The directories that skillpm manages, below the root of a scope. Other programs also use `.agents`.
const MANAGED: [&str; 4] = [CANONICAL_DIR, DISABLED_DIR, ".agents/.skillpm-tx", ".agents/.skillpm-undo"];

/// The files that skillpm wrote for a scope, as paths below a source. Authors install from the repository that they work in:
/// without this, the copy of a skill would contain the copies of the previous run.
#[derive(Debug, Default)]
struct Installed {
    files: Vec<String>,
    dirs: Vec<String>,
}

impl Installed {
    /// Returns what skillpm wrote below directory `source`; empty if the scope is elsewhere.
    fn below(scope: ScopeRoot<'_>, source: &Path) -> Result<Self> {
        let root = fs::real_path(scope.root)?.unwrap_or_else(|| scope.root.to_owned());
        let Ok(prefix) = root.strip_prefix(source) else {
            // The source may be a parent of the managed directories.
            let below = MANAGED
                .iter()
                .filter_map(|dir| root.join(dir).strip_prefix(source).ok()?.to_str().map(ToOwned::to_owned));
            return Ok(Self { files: Vec::new(), dirs: below.collect() });
        };
        let path = |path: &str| {
            let path = prefix.join(path).to_string_lossy().into_owned();
            if cfg!(windows) { path.replace('\\', "/") } else { path }
        };
        // All of it: a file that skillpm writes there in one run must not be a file of the skill in the next.
        let mut dirs = vec![path(OWN)];
        // There may be copies without a lockfile, and links without their copies.
        let mut names = fs::list_dir(&scope.root.join(CANONICAL_DIR))?;
        let lock = fs::read_text(scope.lockfile, MAX_LOCK)?.and_then(|text| Lockfile::parse(&text).ok());
        names.extend(lock.iter().flat_map(|lock| lock.skills.keys().map(ToString::to_string)));
        for name in names {
            // A directory without a leading dot, such as `skills/`, is where authors keep what they write.
            let hidden = scope.agent_dirs.iter().filter(|dir| dir.starts_with('.'));
            dirs.extend(hidden.map(|dir| path(&format!("{dir}/{name}"))));
        }
        Ok(Self { files: vec![path(manifest::FILE_NAME), path(lockfile::FILE_NAME)], dirs })
    }

    fn holds(&self, path: &str) -> bool {
        let is_in = |dir: &String| {
            path.strip_prefix(dir.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.files.iter().any(|file| file == path) || self.dirs.iter().any(is_in)
    }
}
