//! Which configuration a file is checked by: that of the manifest nearest to it.

use std::collections::BTreeMap;
use std::path::{MAIN_SEPARATOR_STR, Path, PathBuf};
use std::sync::Arc;

use super::request::LintOptions;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs;
use crate::lint::{LintConfig, Ruleset};
use crate::manifest::{self, LintSettings, ManifestError};
use crate::paths::Searched;
use crate::scope::state::{manifest_error, read_manifest_at};
use crate::scope::{ProjectDirs, project_root};

/// The configuration of a directory.
#[derive(Debug, Default)]
pub(super) struct Config {
    /// The directory to which its paths are relative.
    pub(super) dir: PathBuf,
    /// The manifest, if there is one.
    file: PathBuf,
    pub(super) lint: LintConfig,
    /// What counts around it, and may exclude files here.
    outer: Option<Arc<Self>>,
}

/// The configurations of all files of a run. Each manifest is read once, and each directory is examined once.
#[derive(Debug)]
pub(super) struct Configs {
    options: LintOptions,
    cwd: PathBuf,
    /// The root of the project, for files below no manifest.
    root: PathBuf,
    projects: ProjectDirs,
    /// What counts in each directory.
    by_dir: BTreeMap<PathBuf, Arc<Config>>,
    /// What counted earlier, by the manifest's directory, for manifests that are wrong now.
    earlier: BTreeMap<PathBuf, Arc<Config>>,
    /// The first manifest that is wrong.
    pub(super) error: Option<Error>,
    /// The different sets of rules, and what they are made of.
    rulesets: Vec<Ruleset>,
    known: BTreeMap<(PathBuf, Vec<usize>), usize>,
}

impl Configs {
    /// Returns the configurations as `options` choose them. No manifest is read before a file needs it.
    pub(super) fn new(context: &Context, options: &LintOptions) -> Result<Self> {
        let mut configs = Self {
            options: options.clone(),
            cwd: context.settings.cwd.clone(),
            root: project_root(&context.settings)?,
            projects: ProjectDirs::new(&context.settings)?,
            by_dir: BTreeMap::new(),
            earlier: BTreeMap::new(),
            error: None,
            rulesets: Vec::new(),
            known: BTreeMap::new(),
        };
        if let Some(file) = &options.config {
            let at = configs.cwd.join(file);
            if fs::real_path(&at)?.is_none() {
                let message = format!("`{}` does not exist", file.display());
                return Err(Error::usage(message).hint("name a `skillpm.toml` with a table `[lint]`"));
            }
            let config = Config {
                dir: configs.cwd.clone(),
                lint: read(&at)?.unwrap_or_default(),
                file: at,
                outer: None,
            };
            configs.by_dir.insert(PathBuf::new(), Arc::new(config));
        }
        Ok(configs)
    }

    /// Returns the same as [`Self::new`], and takes for a manifest that is wrong by now what `earlier` read of it.
    pub(super) fn after(context: &Context, earlier: &Self) -> Result<Self> {
        let mut configs = Self::new(context, &earlier.options)?;
        configs.earlier.clone_from(&earlier.earlier);
        let read = earlier.by_dir.values().map(|config| (config.dir.clone(), Arc::clone(config)));
        configs.earlier.extend(read);
        Ok(configs)
    }

    /// Returns what counts for files in the directory `dir`, which is absolute.
    pub(super) fn of_dir(&mut self, dir: &Path, searched: &mut Searched) -> Result<Arc<Config>> {
        let dir = if self.options.config.is_some() { Path::new("") } else { dir };
        if let Some(config) = self.by_dir.get(dir) {
            return Ok(Arc::clone(config));
        }
        let file = dir.join(manifest::FILE_NAME);
        searched.at(|| file.clone());
        let outer = match dir.parent() {
            Some(parent) => self.of_dir(parent, searched)?,
            None => Arc::new(Config { dir: self.root.clone(), ..Config::default() }),
        };
        let has_own = self.projects.holds(dir, manifest::FILE_NAME)? && !outer.excludes(&file);
        let config = match has_own.then(|| read(&file)).transpose() {
            // A manifest without `[lint]` says nothing about it.
            Ok(None | Some(None)) => outer,
            Ok(Some(Some(lint))) => {
                Arc::new(Config { dir: dir.to_owned(), file: file.clone(), lint, outer: Some(outer) })
            }
            Err(error) => {
                self.error.get_or_insert(error);
                self.earlier.get(dir).cloned().unwrap_or(outer)
            }
        };
        self.by_dir.insert(dir.to_owned(), Arc::clone(&config));
        Ok(config)
    }

    /// Returns the number of the set of rules for the file `name` in `dir`; `None` if it is not to be checked. Whoever names
    /// a file wants it checked.
    pub(super) fn of_file(
        &mut self,
        (dir, name): (&Path, &Path),
        is_named: bool,
        searched: &mut Searched,
    ) -> Result<Option<usize>> {
        let config = self.of_dir(dir, searched)?;
        let path = config.path(&dir.join(name));
        if (!is_named || self.options.force_exclude) && config.excludes(&dir.join(name)) {
            return Ok(None);
        }
        let key = (config.dir.clone(), config.lint.sections(&path));
        let (rulesets, options) = (&mut self.rulesets, &self.options.rules);
        let number = self.known.entry(key).or_insert_with_key(|(_, sections)| {
            rulesets.push(config.lint.rules(sections, options));
            rulesets.len() - 1
        });
        Ok(Some(*number))
    }

    /// Returns the sets of rules.
    pub(super) fn rulesets(&self) -> &[Ruleset] {
        &self.rulesets
    }
}

impl Config {
    /// Returns the error about something in the manifest.
    pub(super) fn error(&self, error: ManifestError) -> Error {
        manifest_error(&self.file, error)
    }

    /// Reports whether this configuration, or one around it, excludes `file`.
    fn excludes(&self, file: &Path) -> bool {
        self.lint.excludes(&self.path(file)) || self.outer.as_ref().is_some_and(|outer| outer.excludes(file))
    }

    /// Returns the path that the manifest calls `name`.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.file.parent().unwrap_or(&self.dir).join(name)
    }

    /// Returns the path of `file` from the directory of this configuration, `/`-separated; unchanged if it is not below.
    pub(super) fn path(&self, file: &Path) -> String {
        let path = file.strip_prefix(&self.dir).unwrap_or(file);
        path.to_string_lossy().replace(MAIN_SEPARATOR_STR, "/")
    }
}

/// Reads the configuration in the manifest `file`; `None` if it has none.
fn read(file: &Path) -> Result<Option<LintConfig>> {
    let (manifest, _) = read_manifest_at(file)?;
    if *manifest.lint() == LintSettings::default() {
        return Ok(None);
    }
    LintConfig::new(manifest.lint()).map(Some).map_err(|error| manifest_error(file, error))
}

/// Returns the rules for the file `name` in the directory `dir`, as the manifest nearest to it and `options` say.
///
/// # Errors
///
/// Fails for an invalid manifest, or one that names an unknown rule or profile.
pub fn rules_of(context: &Context, dir: &Path, name: &Path, options: &LintOptions) -> Result<Ruleset> {
    let mut configs = Configs::new(context, options)?;
    let number = configs.of_file((dir, name), true, &mut Searched::default())?;
    configs.error.map_or_else(|| Ok(configs.rulesets.swap_remove(number.unwrap_or_default())), Err)
}
