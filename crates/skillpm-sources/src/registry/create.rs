//! Making a directory a registry.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::derive::plan_all;
use super::dir_staging::PREFIX;
use super::{Config, Objects as _, RegistryDir, Writer, config, exact_name, files};
use crate::codes;
use crate::error::{Error, ErrorKind, Result};
use crate::fs::{self, Base};
use crate::name::SkillName;
use crate::text::and_more;

/// The number of paths that an error names.
const SHOWN: usize = 20;

/// A directory that is to become a registry, with what is in the way. Nothing is written before [`Self::create`].
#[derive(Debug)]
pub struct NewRegistry {
    dir: PathBuf,
    config: Config,
    /// Whether it already has the configuration, from a run that was killed.
    is_begun: bool,
    replaced: Vec<String>,
    removed: Vec<String>,
    /// The directories that do not exist, innermost first.
    absent: Vec<PathBuf>,
    /// The files that are not there yet, below the registry: what a failure takes back.
    new_files: Vec<String>,
}

impl NewRegistry {
    /// Examines `dir`, which need not exist and is to be a registry called `name`, or else as its directory is called. A
    /// registry without skills that was left unfinished is completed.
    ///
    /// # Errors
    ///
    /// Fails if it already is a registry, has files that a registry would read as its own and cannot use, or cannot be
    /// read.
    pub fn new(dir: &Path, name: Option<&SkillName>) -> Result<Self> {
        let default = || name.cloned().map_or_else(|| RegistryDir::default_name(dir), Ok);
        let Some(real) = fs::real_path(dir)? else {
            let absent = dir.ancestors().take_while(|dir| matches!(fs::kind(dir), Ok(None)));
            return Ok(Self {
                absent: absent.map(Path::to_owned).collect(),
                new_files: own_files().map(str::to_owned).collect(),
                dir: dir.to_owned(),
                config: Config::new(default()?),
                is_begun: false,
                replaced: Vec::new(),
                removed: Vec::new(),
            });
        };
        let base = Base::open(&real)?;
        let mut replaced = Vec::new();
        let (config, is_begun) = match config(&base) {
            Ok(Some(config)) => (config, true),
            Ok(None) => (Config::new(default()?), false),
            // Another program's, or damaged.
            Err(error) if error.kind() == ErrorKind::Integrity => {
                replaced.push(files::CONFIG.to_owned());
                (Config::new(default()?), false)
            }
            Err(error) => return Err(error),
        };
        let already =
            || Error::usage(format!("`{}` already is the registry `{}`", dir.display(), config.name));
        if is_begun && name.is_some_and(|name| *name != config.name) {
            return Err(already());
        }
        let there = RegistryDir { base, config: config.clone() };
        let plan = plan_all(&there, &BTreeMap::new())?;
        if is_begun && (plan.changes.is_empty() || plan.versions > 0 || there.log_length()? > 0) {
            return Err(already());
        }
        if let Some(left_out) = plan.left_out.first() {
            let told = format!(
                "`{}` has files where a registry has its own, and they are not: {}",
                dir.display(),
                left_out.why.message
            );
            return Err(Error::usage(told).coded(codes::OUTPUT_DIFFERS).hint(format!(
                "move `{}/{}` away",
                files::INDEX,
                left_out.name
            )));
        }
        let mut removed = Vec::new();
        for change in plan.changes {
            if there.kind(&change.path)?.is_some() {
                let to = if change.bytes.is_some() { &mut replaced } else { &mut removed };
                to.push(change.path);
            }
        }
        if plan.versions == 0 {
            removed.extend(foreign(&there)?);
        }
        for paths in [&mut replaced, &mut removed] {
            paths.sort_unstable();
            paths.dedup();
        }
        let mut new_files = Vec::new();
        for path in own_files() {
            if there.kind(path)?.is_none() {
                new_files.push(path.to_owned());
            }
        }
        Ok(Self { dir: real, config, is_begun, replaced, removed, absent: Vec::new(), new_files })
    }

    /// Returns the name that the registry gets.
    pub fn name(&self) -> &SkillName {
        &self.config.name
    }

    /// Returns the files that are not the registry's and that it replaces, below the directory.
    pub fn replaced(&self) -> &[String] {
        &self.replaced
    }

    /// Returns the files that are not the registry's and that would be in its way, so they are removed.
    pub fn removed(&self) -> &[String] {
        &self.removed
    }

    /// Fails if a file that is not the registry's would be replaced or removed. The error names all of them.
    ///
    /// # Errors
    ///
    /// See above.
    pub fn check(&self) -> Result<()> {
        let paths = self.replaced.iter().chain(&self.removed);
        let paths: Vec<_> = paths.map(|path| format!("`{path}`")).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let told = format!(
            "`{}` is no registry, and has files in the places of one: {}",
            self.dir.display(),
            and_more(&paths, SHOWN)
        );
        Err(Error::usage(told).coded(codes::OUTPUT_DIFFERS))
    }

    /// Makes the directory a registry without skills, and waits for other writers, for which it calls `on_wait`. If that
    /// fails, what it made is removed again.
    ///
    /// # Errors
    ///
    /// Fails if the directory cannot be written.
    pub fn create(self, on_wait: impl Fn()) -> Result<RegistryDir> {
        self.make(on_wait).inspect_err(|_| self.take_back())
    }

    fn make(&self, on_wait: impl Fn()) -> Result<RegistryDir> {
        fs::create_dir_all(&self.dir)?;
        if !self.is_begun {
            fs::write_atomic(&self.dir.join(files::CONFIG), &self.config.to_bytes())?;
        }
        for path in &self.removed {
            fs::remove_tree(&self.dir.join(path))?;
        }
        let registry = RegistryDir { base: Base::open(&self.dir)?, config: self.config.clone() };
        Writer::new(&registry, on_wait)?.index()?;
        Ok(registry)
    }

    /// Removes what a creation that failed has made.
    fn take_back(&self) {
        // The leftovers are an unfinished registry, which the next attempt completes.
        let is_own = |path: &&String| !self.is_begun || *path != files::CONFIG;
        for path in self.new_files.iter().filter(is_own) {
            let _ = fs::remove_if_there(&self.dir.join(path));
        }
        for below in [files::PENDING, files::AGENT_SKILLS, ".well-known"] {
            fs::remove_dir_if_empty(&self.dir.join(below));
        }
        for dir in &self.absent {
            fs::remove_dir_if_empty(dir);
        }
    }
}

/// Returns the paths of the files of a registry without skills.
fn own_files() -> impl Iterator<Item = &'static str> {
    [files::AI_CATALOG, files::DISCOVERY, files::SEARCH, files::LOCK, files::CONFIG].into_iter()
}

/// Returns the files in a directory without records that would be taken for a registry's.
fn foreign(dir: &RegistryDir) -> Result<Vec<String>> {
    let entries = |below: &str| fs::list_dir(&dir.path_of(below));
    let mut found = Vec::new();
    let is_list = |entry: &&String| entry.strip_suffix(".json").and_then(exact_name).is_some();
    found.extend(
        entries(files::INDEX)?.iter().filter(is_list).map(|entry| format!("{}/{entry}", files::INDEX)),
    );
    for name in entries(files::AGENT_SKILLS)?.iter().filter_map(|entry| exact_name(entry)) {
        let path = files::versions(&name);
        if dir.kind(&path)?.is_some() {
            found.push(path);
        }
    }
    let is_pending = |entry: &&String| exact_name(entry).is_some() || entry.starts_with(PREFIX);
    let pending = entries(files::PENDING)?;
    found.extend(pending.iter().filter(is_pending).map(|entry| format!("{}/{entry}", files::PENDING)));
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    for thousand in entries(files::LOG)?.iter().filter(|entry| is_number(entry)) {
        let dir = format!("{}/{thousand}", files::LOG);
        let is_entry = |entry: &&String| entry.strip_suffix(".json").is_some_and(is_number);
        found.extend(entries(&dir)?.iter().filter(is_entry).map(|entry| format!("{dir}/{entry}")));
    }
    Ok(found)
}
