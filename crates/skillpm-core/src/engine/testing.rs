//! A project and a home directory for the engine's tests.

use std::path::Path;
use std::sync::Arc;

use crate::context::Context;
use crate::engine::{
    Hit, Library, LookupError, NotFound, Skill, Snapshot, default_sources, find_among, sources_of,
};
use crate::env::Env;
use crate::error::Result;
use crate::fs;
use crate::profile::LoadProfile;
use crate::settings::Settings;

/// A temporary project and a home directory beside it, removed on drop.
pub(crate) struct World {
    dir: tempfile::TempDir,
    project: std::path::PathBuf,
    home: std::path::PathBuf,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let root = fs::real_path(dir.path()).expect("there").expect("there");
        let (project, home) = (root.join("project"), root.join("home"));
        // The project has its own root, wherever the temporary directory is.
        fs::create_dir_all(&project.join(".git")).expect("creates");
        fs::create_dir_all(&home).expect("creates");
        Self { dir, project, home }
    }

    pub(crate) fn root(&self) -> &Path {
        self.project.parent().unwrap_or(self.dir.path())
    }

    pub(crate) fn project(&self) -> &Path {
        &self.project
    }

    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    pub(crate) fn settings(&self, vars: &[(&str, &str)]) -> Settings {
        let mut env = Env { cwd: self.project.clone(), ..Env::default() };
        env.vars.insert("HOME".into(), self.home.clone().into());
        env.vars.extend(vars.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        Settings::from_env(env).expect("valid")
    }

    pub(crate) fn context(&self) -> Context {
        Context::silent(self.settings(&[]))
    }

    /// Finds the skill `name` in the default sources.
    pub(crate) fn find(&self, name: &str) -> Result<Hit, NotFound> {
        let sources = default_sources(&self.settings(&[])).expect("places");
        find_among(&Snapshot::of(&sources, &LoadProfile::DEFAULT)?, name)
    }

    /// Writes `text` to `path` in the project.
    pub(crate) fn write(&self, path: &str, text: &str) {
        assert!(Path::new(path).is_relative(), "{path} is not of the project");
        let path = self.project.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
        fs::write_atomic(&path, text.as_bytes()).expect("writes");
    }

    /// Writes a skill called `name` to the directory `dir` in the project.
    pub(crate) fn skill(&self, dir: &str, name: &str) {
        self.write(&format!("{dir}/SKILL.md"), &skill_text(name));
    }

    /// Makes a link at `link` in the project.
    #[cfg(unix)]
    pub(crate) fn link(&self, target: &str, link: &str) {
        fs::symlink(Path::new(target), &self.project.join(link)).expect("links");
    }
}

/// Returns a valid `SKILL.md`.
pub(crate) fn skill_text(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n\n# {name}\n")
}

impl Library {
    /// Returns the library of the directories that `profile` selects under `settings`.
    pub(crate) fn of_places(settings: &Settings, profile: LoadProfile) -> Result<Self> {
        Ok(Self::new(sources_of(settings, &profile)?, profile))
    }

    /// Finds the skill `name`.
    pub(crate) fn get(&self, name: &str) -> std::result::Result<Arc<Skill>, LookupError> {
        self.around(name)?.get(name).cloned()
    }
}
