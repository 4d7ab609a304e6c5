//! A session: the skills of a set of places, as one front end offers them.
//!
//! Every front end goes through a session, so that a name leads to the same skill everywhere, with the same warnings,
//! and every use is written to the same log.

pub(crate) mod activations;
mod disabled;
mod error;
pub mod named;
pub mod permit;
pub mod places;
pub mod provenance;
pub(crate) mod record;

use std::path::PathBuf;
use std::sync::Arc;

use self::activations::Activations;
use self::disabled::{Disabled, disabled};
pub use self::error::{SessionError, WrongManifest};
use crate::advice::Warning;
use crate::agents;
use crate::codes;
use crate::context::Context;
use crate::engine::catalog::{Catalog, Options, selected};
use crate::engine::resources::{self, Content};
use crate::engine::tools::ToolSet;
use crate::engine::{
    Hit, Instructions, Library, Skill, Snapshot, Source, SourceKind, failed, sources_of, with_least,
};
use crate::error::Result;
use crate::profile::{Freshness, LoadProfile, ScriptPlaces};
use crate::scope::Scope;
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;
use crate::tree::ReadError;

/// The options of a session: which skills it offers, and how it reads them.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// How skills are found and loaded.
    pub profile: LoadProfile,
    /// Whether to include the skills of the project.
    pub project: bool,
    /// Whether to include the skills of the user.
    pub user: bool,
    /// Only what this agent reads in those scopes, by id or alias, in its order.
    pub agent: Option<String>,
    /// Further directories of skills, which the others override, each with the name of its source if it has one. Relative paths
    /// start from the working directory of the process.
    pub directories: Vec<(Option<String>, PathBuf)>,
    /// Whether a path such as `./pdf` means the skill in that directory: right for a person at a keyboard, wrong for a
    /// model.
    pub paths: bool,
}

impl SessionOptions {
    /// Returns the options of a person who types commands: all places, names and paths.
    pub fn of_person() -> Self {
        // One command asks about one skill: the others need not be read.
        let profile = LoadProfile { freshness: Freshness::Stat, ..LoadProfile::DEFAULT };
        Self { profile, project: true, user: true, agent: None, directories: Vec::new(), paths: true }
    }
}

/// The skills of a set of places, for the lifetime of a program. It can be shared between threads.
pub struct Session {
    context: Context,
    library: Library,
    /// The scopes whose manifests disable skills.
    scopes: Vec<Scope>,
    activations: Activations,
    paths: bool,
}

/// A skill with everything that an agent gets to know about it.
#[derive(Debug)]
pub struct OpenedSkill {
    /// The skill.
    pub skill: Arc<Skill>,
    /// Its instructions, without the blank lines that authors leave after the frontmatter.
    pub body: String,
    /// Its other files that the profile lists, as `/`-separated paths below its directory.
    pub files: Vec<String>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// The skills that some options select.
#[derive(Debug)]
pub struct SelectedSkills {
    /// All skills that were found.
    pub snapshot: Arc<Snapshot>,
    /// Those that are selected, in the order of the sources.
    pub skills: Vec<Arc<Skill>>,
    /// Warnings about the manifests.
    pub warnings: Vec<Warning>,
}

impl Session {
    /// Opens a session. No search takes place yet.
    ///
    /// # Errors
    ///
    /// Fails if the root of the project cannot be found.
    pub fn new(context: Context, options: SessionOptions) -> Result<Self> {
        let SessionOptions { profile, project, user, agent, directories, paths } = options;
        let settings = &context.settings;
        let is_wanted = |source: &Source| match source.kind {
            SourceKind::Project => project,
            SourceKind::User => user || project && source.is_of(SourceKind::Project),
            SourceKind::Extra | SourceKind::Bundled => true,
        };
        let scopes = [(project, ScopeKind::Project), (user, ScopeKind::User)];
        let scopes = scopes.into_iter().filter_map(|(is_wanted, kind)| is_wanted.then_some(kind));
        // Without a home directory the user has no manifest.
        let scopes: Vec<Scope> = scopes.filter_map(|kind| Scope::new(settings, kind).ok()).collect();
        let sources = match agent {
            Some(agent) => places::of_agent(settings, agents::find(&agent)?, &scopes)?,
            None => sources_of(settings, &profile)?.into_iter().filter(is_wanted).collect(),
        };
        let more = directories.into_iter().map(|(name, dir)| {
            // A directory that is named explicitly is the one that the process sees under that name.
            let mut source = Source::new(SourceKind::Extra, settings.env.cwd.join(dir));
            if let Some(name) = name {
                source.name = name.into();
            }
            source
        });
        let sources = with_least(sources, more, &profile);
        Ok(Self { paths, ..Self::of_library(context, Library::new(sources, profile), scopes) })
    }

    /// Opens the session of a person who types commands.
    pub fn of_person(context: &Context) -> Result<Self> {
        Self::new(context.clone(), SessionOptions::of_person())
    }

    /// Opens a session with the skills of `library`, without those that the manifests of `scopes` disable.
    pub(crate) fn of_library(context: Context, library: Library, scopes: Vec<Scope>) -> Self {
        let activations = Activations::new(&context.settings);
        Self { library, activations, context, scopes, paths: false }
    }

    /// Reads where installed skills come from.
    ///
    /// # Errors
    ///
    /// Fails for a lockfile that cannot be read.
    pub fn origins(&self) -> Result<provenance::Origins> {
        provenance::Origins::read(&self.context)
    }

    /// Returns the places that the session searches for skills, in order.
    pub fn sources(&self) -> &[Source] {
        self.library.sources()
    }

    /// Returns the profile: what the session tolerates, and when it searches again.
    pub fn profile(&self) -> &LoadProfile {
        self.library.profile()
    }

    /// Returns the library that holds the skills.
    pub(crate) fn library(&self) -> &Library {
        &self.library
    }

    /// Returns what the session works with.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the log of the skills that the session hands out.
    pub(crate) fn activations(&self) -> &Activations {
        &self.activations
    }

    /// Returns the settings that the session uses.
    pub fn settings(&self) -> &Settings {
        &self.context.settings
    }

    /// Returns all skills, as up to date as the profile requires.
    pub fn snapshot(&self) -> Result<Arc<Snapshot>, SessionError> {
        Ok(self.library.snapshot()?)
    }

    /// Discards everything that was read: the next call waits for a new search.
    pub fn invalidate(&self) {
        self.library.invalidate();
    }

    /// Finds the skill `name`, or `source:name` for one that another skill hides. Returns it with warnings
    /// for the user.
    ///
    /// # Errors
    ///
    /// Fails if there is no such skill, or if it cannot be loaded.
    pub fn find(&self, name: &str) -> Result<Hit, SessionError> {
        let by_name = || {
            let snapshot = self.library.around(name)?;
            Ok(named::find_among(&self.context, name, &snapshot, None)?)
        };
        if self.paths { named::path_or(&self.context, name, by_name) } else { by_name() }
    }

    /// Reads the skill `name` with its instructions, and lists its files.
    pub fn open(&self, name: &str) -> Result<OpenedSkill, SessionError> {
        let Hit { skill, mut warnings } = self.find(name)?;
        let Instructions { skill, body } = self.instructions(&skill, name)?;
        let files = resources::list(&skill.dir, self.profile().listing).unwrap_or_else(|error| {
            warnings.push(not_listed(name, &error));
            Vec::new()
        });
        Ok(OpenedSkill { body: body.trim_start_matches(['\r', '\n']).to_owned(), skill, files, warnings })
    }

    /// Reads `file` of the skill `name`, if it has at most `max` bytes.
    ///
    /// # Errors
    ///
    /// Fails as [`Session::find`] does, for a path that leads out of the skill or to nothing, and for a file that is
    /// too large.
    pub fn read(&self, name: &str, file: &str, max: u64) -> Result<(Hit, Content), SessionError> {
        let hit = self.find(name)?;
        let content = self.read_as(&hit.skill, name, file, max)?;
        Ok((hit, content))
    }

    /// Works like [`Session::read`], for a `skill` that was already found: its name is not looked up again.
    ///
    /// # Errors
    ///
    /// Fails for a path that leads out of the skill or to nothing, and for a file that is too large.
    pub fn read_found(&self, skill: &Arc<Skill>, file: &str, max: u64) -> Result<Content, SessionError> {
        self.read_as(skill, &skill.meta.name, file, max)
    }

    fn read_as(&self, skill: &Arc<Skill>, name: &str, file: &str, max: u64) -> Result<Content, SessionError> {
        resources::read(&skill.dir, file, self.profile(), max).map_err(|reason| {
            let (name, file) = (name.to_owned(), file.to_owned());
            SessionError::File { skill: Arc::clone(skill), name, file, reason }
        })
    }

    /// Returns the skill `name` with the scripts that an agent can call: those in `places`.
    ///
    /// # Errors
    ///
    /// Fails as [`Session::find`] does, and for a manifest of scripts that is wrong.
    pub fn tools(&self, name: &str, places: ScriptPlaces) -> Result<(Hit, Arc<ToolSet>), SessionError> {
        let hit = self.find(name)?;
        let set = self.tools_found(&hit.skill, places)?;
        Ok((hit, set))
    }

    /// Returns the scripts in `places` of a `skill` that was already found.
    ///
    /// # Errors
    ///
    /// Fails for a manifest of scripts that is wrong.
    pub fn tools_found(
        &self,
        skill: &Arc<Skill>,
        places: ScriptPlaces,
    ) -> Result<Arc<ToolSet>, SessionError> {
        let set = self.library.tools(skill, places);
        match WrongManifest::of(&set) {
            Some(_) => Err(SessionError::Manifest { skill: Arc::clone(skill), set }),
            None => Ok(set),
        }
    }

    /// Returns the catalog of all skills that are not disabled, and the warnings about the manifests and about what was cut.
    pub fn catalog(&self, mut options: Options) -> Result<(Catalog, Vec<Warning>), SessionError> {
        let Disabled { names, mut warnings } = disabled(self.settings(), &self.scopes);
        options.disabled.extend(names);
        let catalog = self.library.catalog(&options)?;
        warnings.extend(catalog.warning());
        Ok((catalog, warnings))
    }

    /// Returns the skills that [`Session::catalog`] describes, in the order of the sources.
    pub fn skills(&self, mut options: Options) -> Result<SelectedSkills, SessionError> {
        let Disabled { names, warnings } = disabled(self.settings(), &self.scopes);
        options.disabled.extend(names);
        let snapshot = self.library.snapshot()?;
        let skills = selected(snapshot.skills(), &options).cloned().collect();
        Ok(SelectedSkills { snapshot, skills, warnings })
    }

    /// Reads the instructions of `skill`, which was found as `name`.
    pub(crate) fn instructions(&self, skill: &Arc<Skill>, name: &str) -> Result<Instructions, SessionError> {
        Ok(self.library.instructions(skill).map_err(|diagnostic| failed(name, diagnostic))?)
    }
}

/// Returns the warning for a skill `name` whose files are not listed.
pub(crate) fn not_listed(name: &str, problem: &ReadError) -> Warning {
    Warning::new(
        codes::FILES_NOT_LISTED,
        format!("the files of the skill `{name}` are not listed: {problem}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::resources::Unreadable;
    use crate::engine::testing::World;
    use crate::engine::{LookupError, NotFound};
    use crate::error::Error;

    fn session(world: &World) -> Session {
        Session::new(world.context(), SessionOptions { paths: false, ..SessionOptions::of_person() })
            .expect("opens")
    }

    /// S3-FR-11: a file of the skill, and nothing else.
    #[test]
    fn files() {
        let world = World::new();
        world.skill(".agents/skills/pdf", "pdf");
        world.write(".agents/skills/pdf/references/a.md", "a");
        let session = session(&world);
        let read = |name: &str, file: &str| session.read(name, file, 9).map(|(_, content)| content);
        assert_eq!(read("pdf", "references/a.md").expect("reads"), Content::Text("a".into()));
        let error = Error::from(read("pdf", "../pdf/SKILL.md").expect_err("refused"));
        assert!(error.to_string().ends_with("of the skill `pdf` is not read: it has `..`"), "{error}");
        assert!(matches!(
            read("word", "a"),
            Err(SessionError::Skill(NotFound { reason: LookupError::Unknown(_), .. }))
        ));
        assert!(matches!(
            read("pdf", "SKILL.md"),
            Err(SessionError::File {
                reason: Unreadable::Refused(crate::fs::BeneathError::TooLarge { .. }),
                ..
            })
        ));
    }

    /// A model that requests `./x` gets a skill of that name, never a directory.
    #[test]
    fn only_who_types_may_name_a_directory() {
        let world = World::new();
        world.skill("drafts/pdf", "pdf");
        let typed = Session::of_person(&world.context()).expect("opens");
        assert!(typed.find("./drafts/pdf").is_ok());
        assert!(matches!(session(&world).find("./drafts/pdf"), Err(SessionError::Skill(_))));
    }
}
