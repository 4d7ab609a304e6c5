//! Reading a registry.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ledger::unknown;
use super::{Carrier, Config, History, Objects, ReadFiles, config, exact_name, files, registry_name};
use crate::advice::{Opt, Verb, message};
use crate::codes;
use crate::error::{Error, Result};
use crate::fs::{self, Base, Kind, SharedFile};
use crate::name::SkillName;
use crate::path::normal;

/// A directory that is a registry.
#[derive(Debug)]
pub struct RegistryDir {
    pub(super) base: Base,
    pub(super) config: Config,
}

impl RegistryDir {
    /// Returns the default name of a registry at `place`: the last part of the path.
    ///
    /// # Errors
    ///
    /// Fails if that is not a valid name.
    pub fn default_name(place: &Path) -> Result<SkillName> {
        let name = normal(place).file_name().map(|name| name.to_string_lossy().into_owned());
        let slug = name.as_deref().and_then(SkillName::slug);
        slug.filter(|slug| registry_name(slug.as_str()).is_ok()).ok_or_else(|| {
            Error::usage(format!("`{}` gives a registry no name", place.display()))
                .hint("name it: 1 to 64 of `a` to `z`, `0` to `9` and single hyphens between them")
        })
    }

    /// Opens the registry in `dir`.
    ///
    /// # Errors
    ///
    /// Fails if `dir` is not a registry, or one of a newer format.
    pub fn open(dir: &Path) -> Result<Self> {
        let missing = || {
            let error =
                Error::usage(format!("`{}` is not a registry: it has no `{}`", dir.display(), files::CONFIG))
                    .coded(codes::REGISTRY_ABSENT);
            // In a directory with anything else, such as a project, its files would be in the way.
            let is_free = fs::list_dir(dir).is_ok_and(|names| names.is_empty());
            error.hint(if is_free || !fs::exists(dir) {
                message!(Verb::Registry.call().word("init").path(dir), " makes it one")
            } else {
                message!((Opt::Registry, "DIR"), " names the directory of a registry")
            })
        };
        if fs::kind(&fs::real_path(dir)?.unwrap_or_else(|| dir.to_owned()))? != Some(Kind::Directory) {
            return Err(missing());
        }
        let base = Base::open(dir)?;
        let config = config(&base)?.ok_or_else(missing)?;
        Ok(Self { base, config })
    }

    /// Opens the registry in `dir`, which is to be a copy of the registry `name`; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::open`] does, and for a copy of another registry.
    pub fn open_copy(dir: &Path, name: &SkillName) -> Result<Option<Self>> {
        match Self::open(dir) {
            Ok(there) if there.config.name == *name => Ok(Some(there)),
            Ok(Self { config: Config { name: other, .. }, .. }) => {
                let told = format!("`{}` is the registry `{other}`, not a copy of `{name}`", dir.display());
                Err(Error::usage(told).hint("name another directory"))
            }
            Err(error) if error.code() == codes::REGISTRY_ABSENT => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        self.base.path()
    }

    /// Returns the configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the names of all skills that have a directory of records, sorted. Other entries are left out.
    ///
    /// # Errors
    ///
    /// Fails if the directory cannot be read.
    pub fn names(&self) -> Result<Vec<SkillName>> {
        let entries = fs::list_dir(&self.path_of(files::INDEX))?;
        let mut names = Vec::new();
        for entry in entries {
            // A file has a dot in its name and a skill has none.
            if let Some(name) = exact_name(&entry)
                && self.kind(&format!("{}/{entry}", files::INDEX))? == Some(Kind::Directory)
            {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Works like [`Self::history`], for a skill that the registry has.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::history`] does, and if the registry has no such skill.
    pub fn known(&self, name: &SkillName) -> Result<History> {
        let history = self.history(name)?;
        if history.records().is_empty() {
            return Err(unknown(&history, None, &self.names().unwrap_or_default()));
        }
        Ok(history)
    }

    /// Returns the names that a writer was at work on when it was killed, sorted.
    ///
    /// # Errors
    ///
    /// Fails if the directory of markers cannot be read.
    pub fn pending(&self) -> Result<Vec<SkillName>> {
        let entries = fs::list_dir(&self.path_of(files::PENDING))?;
        Ok(entries.iter().filter_map(|entry| exact_name(entry)).collect())
    }

    /// Returns the path of the file or directory at `below`.
    pub(super) fn path_of(&self, below: &str) -> PathBuf {
        self.path().join(below)
    }

    /// Returns the kind of what is at `below`.
    pub(super) fn kind(&self, below: &str) -> Result<Option<Kind>> {
        Ok(self.base.kind(Path::new(below))?)
    }
}

impl ReadFiles for RegistryDir {
    fn get(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        self.base.get(path, limit)
    }

    fn open(&self, path: &str, limit: u64) -> Result<Option<Arc<SharedFile>>> {
        self.base.open(path, limit)
    }
}

impl Objects for RegistryDir {
    fn head(&self, path: &str) -> Result<Option<u64>> {
        Ok(SharedFile::open_plain(&self.path_of(path))?.map(|file| file.len()))
    }

    fn list(&self, below: &str) -> Result<Vec<String>> {
        let (mut found, mut left) = (Vec::new(), vec![below.to_owned()]);
        while let Some(dir) = left.pop() {
            for entry in fs::list_dir(&self.path_of(&dir))? {
                let path = if dir.is_empty() { entry } else { format!("{dir}/{entry}") };
                // A file is checked by its name here, and by its content when it is read.
                let is_file = matches!(path.rsplit_once('.'), Some((_, "json" | "zip")));
                let is_dir = !is_file && self.kind(&path)? == Some(Kind::Directory);
                if is_dir { left.push(path) } else { found.push(path) }
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    fn carrier(&self) -> Carrier<'_> {
        Carrier::Directory(self)
    }

    /// Finds the last entry also if some before it are missing.
    fn log_length(&self) -> Result<u64> {
        let last = |dir: &str, ending: &str| -> Result<Option<u64>> {
            let entries = fs::list_dir(&self.path_of(dir))?;
            Ok(entries.iter().filter_map(|entry| entry.strip_suffix(ending)?.parse().ok()).max())
        };
        let Some(thousand) = last(files::LOG, "")? else { return Ok(0) };
        Ok(last(&format!("{}/{thousand}", files::LOG), ".json")?
            .unwrap_or_else(|| thousand.saturating_mul(1000).saturating_sub(1)))
    }
}
