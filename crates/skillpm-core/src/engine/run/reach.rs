//! Determines the reach of a script: its working directory, and the files that it may read and write.

use std::path::{Path, PathBuf};

use super::interpreter::Interpreter;
use super::plan::Open;
use super::private_copy::PrivateCopy;
use super::{Mode, Options, WorkDir};
use crate::advice::{Opt, message};
use crate::error::{Error, Result};
use crate::fs;
use crate::settings::Settings;

/// Names of directories of programs. Their parent directories hold the files that the programs need.
const OF_PROGRAMS: &[&str] = &["bin", "shims", "Scripts"];

/// The maximum size in bytes of the settings of a virtual environment.
const MAX_SETTINGS: u64 = 16 << 10;

/// The reach of a script.
pub(super) struct Reach {
    /// The working directory.
    pub(super) cwd: PathBuf,
    /// The files that it may access, if access to files is restricted.
    pub(super) open: Open,
    /// The caller's files that it may write.
    pub(super) own_write: Vec<PathBuf>,
    /// The caller's files that it may read.
    pub(super) own_read: Vec<PathBuf>,
    /// Why its working directory is closed to it.
    pub(super) closed: Option<String>,
}

impl Reach {
    /// Determines the reach of a script that `interpreter` runs from `stage`.
    pub(super) fn of(
        settings: &Settings,
        work_dir: &WorkDir,
        options: &Options,
        stage: &PrivateCopy,
        interpreter: &Interpreter,
        search: &[PathBuf],
    ) -> Result<Self> {
        let cwd = match work_dir {
            WorkDir::Skill => stage.skill().to_owned(),
            WorkDir::Here => directory(&settings.cwd)?,
            WorkDir::Dir(dir) => directory(dir)?,
        };
        let home = Home::of(settings)?;
        let own_read = real(settings, &options.read)?;
        let mut own_write = real(settings, &options.write)?;
        let closed = match work_dir {
            WorkDir::Skill => None,
            _ => too_wide(settings, &home, stage.skill(), &cwd)?,
        };
        if closed.is_none() && *work_dir != WorkDir::Skill {
            own_write.push(cwd.clone());
        }
        let open = if options.sandbox == Mode::Off {
            Open::default()
        } else {
            let mut read = own_read.clone();
            read.push(stage.skill().to_owned());
            let searched: Vec<_> = search.iter().filter_map(|dir| fs::real_path(dir).ok()?).collect();
            let Interpreter { program, is_chosen, environment, starter, .. } = interpreter;
            let dir = program.parent().and_then(|dir| fs::real_path(dir).ok().flatten());
            // A program that the script chose must not choose what is opened.
            let is_users =
                *is_chosen || environment.is_some() || dir.is_some_and(|dir| searched.contains(&dir));
            read.extend(installation(&home, program, is_users));
            read.extend(starter.iter().flat_map(|starter| installation(&home, starter, true)));
            read.extend(searched.into_iter().filter(|dir| !home.is_in(dir)));
            let mut write = own_write.clone();
            write.push(stage.private().to_owned());
            Open { read, write }
        };
        Ok(Self { cwd, open, own_write, own_read, closed })
    }
}

/// Returns the working directory of a script that runs where the caller is, and why it is closed to the script, if it is.
///
/// # Errors
///
/// Fails if it is not a directory.
pub fn work_dir_here(settings: &Settings) -> Result<(PathBuf, Option<String>)> {
    let cwd = directory(&settings.cwd)?;
    let temporary = fs::temp_place();
    let temporary = fs::real_path(&temporary)?.unwrap_or(temporary);
    let closed = too_wide(settings, &Home::of(settings)?, &temporary, &cwd)?;
    Ok((cwd, closed))
}

/// Returns the directory `dir` with all links followed.
fn directory(dir: &Path) -> Result<PathBuf> {
    let missing = || {
        Error::usage(format!("there is no directory `{}` to run in", dir.display()))
            .hint(message!("create it, or choose another with ", Opt::Cwd))
    };
    let real = fs::real_path(dir)?.ok_or_else(missing)?;
    if fs::kind(&real)? == Some(fs::Kind::Directory) { Ok(real) } else { Err(missing()) }
}

/// Returns `paths`, which may be relative to the caller's working directory, with all links followed.
fn real(settings: &Settings, paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let real = |path: &PathBuf| {
        let path = settings.cwd.join(path);
        fs::real_path(&path)?.ok_or_else(|| {
            Error::usage(format!("`{}` does not exist, so no script can get access to it", path.display()))
                .hint("check the spelling, or create it first")
        })
    };
    paths.iter().map(real).collect()
}

/// Returns why the working directory `cwd` is not opened to a script, if so: because it contains more than one project.
/// A user who wants to open it can name it.
fn too_wide(settings: &Settings, home: &Home, private: &Path, cwd: &Path) -> Result<Option<String>> {
    let shown = cwd.display();
    if private.starts_with(cwd) {
        return Ok(Some(format!("`{shown}` holds temporary files of other programs")));
    }
    if home.is_in(cwd) {
        return Ok(Some(format!("`{shown}` holds the home directory")));
    }
    let dirs = &settings.dirs;
    for dir in [&dirs.config, &dirs.data, &dirs.cache, &dirs.state].into_iter().flatten() {
        let dir = fs::real_path(dir)?.unwrap_or_else(|| dir.clone());
        if dir.starts_with(cwd) || cwd.starts_with(&dir) {
            return Ok(Some(format!("`{shown}` holds files of skillpm")));
        }
    }
    let log = settings.audit.file.as_ref().map(|file| (file, "the audit log"));
    let policies = &settings.policies;
    let policies = [&policies.machine, &policies.named].into_iter().flatten();
    for (file, what) in log.into_iter().chain(policies.map(|file| (file, "a policy"))) {
        if places(file).iter().any(|place| place.starts_with(cwd)) {
            return Ok(Some(format!("`{shown}` holds {what}")));
        }
    }
    Ok(None)
}

/// Returns the paths at which the content of `file` is decided: its own, which may not exist, and that of its target.
/// If this user cannot access a path, their scripts cannot either.
fn places(file: &Path) -> Vec<PathBuf> {
    let real = |path: &Path| fs::real_path(path).ok().flatten();
    let above = file.parent().and_then(real);
    let beside = above.zip(file.file_name()).map(|(above, name)| above.join(name));
    [beside, real(file), Some(file.to_owned())].into_iter().flatten().collect()
}

/// The home directory, as its configured path and its real path.
struct Home(Vec<PathBuf>);

impl Home {
    fn of(settings: &Settings) -> Result<Self> {
        let Some(home) = &settings.home else { return Ok(Self(Vec::new())) };
        let real = fs::real_path(home)?;
        Ok(Self([Some(home.clone()), real].into_iter().flatten().collect()))
    }

    /// Reports whether the home directory is `dir` or is in it; the root contains everything.
    fn is_in(&self, dir: &Path) -> bool {
        dir.parent().is_none() || self.0.iter().any(|home| home.starts_with(dir))
    }
}

/// Returns the directories in which `program`, its link target and the Python that its virtual environment is made of are
/// installed with all files that they need, such as that of a Python version in the user's home. Returns only the directory
/// of the program itself if that would open too much, or unless `is_users`: the user chose it, or it is in their `PATH`.
///
/// The paths have all links followed. A path such as `/usr/../bin/sh` would otherwise open the root.
fn installation(home: &Home, program: &Path, is_users: bool) -> Vec<PathBuf> {
    let real = |path: &Path| fs::real_path(path).ok().flatten();
    let target = real(program);
    let base = Some(program).filter(|_| is_users).and_then(base_of);
    let of = |program: &Path| -> Option<PathBuf> {
        let dir = program.parent()?;
        let is_of_programs =
            dir.file_name().is_some_and(|name| OF_PROGRAMS.iter().any(|known| *known == name));
        let prefix = dir.parent().filter(|_| is_users && is_of_programs);
        // `~/.local` holds the user's keys besides programs.
        let prefix = prefix.and_then(real).filter(|prefix| !prefix.ends_with(".local"));
        [prefix, real(dir)].into_iter().flatten().find(|wanted| !home.is_in(wanted))
    };
    [Some(program), target.as_deref(), base.as_deref()].into_iter().flatten().filter_map(of).collect()
}

/// Returns the Python that the virtual environment of the Python `program` is made of. Source: `home` in `pyvenv.cfg`,
/// PEP 405.
fn base_of(program: &Path) -> Option<PathBuf> {
    let file = program.parent()?.parent()?.join("pyvenv.cfg");
    let bytes = fs::read_capped(&file, MAX_SETTINGS).ok()??;
    let value = |line: &str| {
        let (name, value) = line.split_once('=')?;
        (name.trim().eq_ignore_ascii_case("home")).then(|| PathBuf::from(value.trim()))
    };
    let dir = std::str::from_utf8(&bytes).ok()?.lines().find_map(value).filter(|dir| dir.is_absolute())?;
    // Nothing but an installation of Python is opened.
    let own = program.file_name()?.to_str().filter(|name| name.starts_with("python"));
    let names = own.into_iter().chain(["python3", "python"]);
    names.map(|name| dir.join(name)).find(|base| fs::may_execute(base))
}
