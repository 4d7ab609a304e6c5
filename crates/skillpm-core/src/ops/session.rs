//! A session: the skills of a set of places, as one front end offers them.
//!
//! Every front end goes through a session, so that a name leads to the same skill everywhere, with the same warnings,
//! and every use is written to the same log.

mod error;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use self::error::SessionError;
use super::audit::{Activations, not_written};
use super::catalog::{Disabled, disabled};
use super::invoke::{InvokeOutcome, InvokeRequest, invoked};
use super::named;
use super::run::{self, CallRequest, RunOutcome, RunRequest};
use super::tools::WrongManifest;
use crate::advice::Warning;
use crate::codes;
use crate::context::Context;
use crate::engine::catalog::{Catalog, Options, selected};
use crate::engine::resources::{self, Content};
use crate::engine::run::Watch;
use crate::engine::tools::ToolSet;
use crate::engine::{
    Hit, Instructions, Library, Skill, Snapshot, Source, SourceKind, failed, sources_of, with_least,
};
use crate::error::Result;
use crate::profile::{Freshness, LoadProfile, ScriptPlaces};
use crate::reporter::Interact;
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
        Self { profile, project: true, user: true, directories: Vec::new(), paths: true }
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
        let SessionOptions { profile, project, user, directories, paths } = options;
        let settings = &context.settings;
        let is_wanted = |source: &Source| match source.kind {
            SourceKind::Project => project,
            SourceKind::User => user || project && source.is_of(SourceKind::Project),
            SourceKind::Extra | SourceKind::Bundled => true,
        };
        let sources = sources_of(settings, &profile)?.into_iter().filter(is_wanted).collect();
        let more = directories.into_iter().map(|(name, dir)| {
            // A directory that is named explicitly is the one that the process sees under that name.
            let mut source = Source::new(SourceKind::Extra, settings.env.cwd.join(dir));
            if let Some(name) = name {
                source.name = name.into();
            }
            source
        });
        let sources = with_least(sources, more, &profile);
        let scopes = [(project, ScopeKind::Project), (user, ScopeKind::User)];
        let scopes = scopes.into_iter().filter_map(|(is_wanted, kind)| is_wanted.then_some(kind));
        // Without a home directory the user has no manifest.
        let scopes = scopes.filter_map(|kind| Scope::new(settings, kind).ok()).collect();
        Ok(Self { paths, ..Self::of_library(context, Library::new(sources, profile), scopes) })
    }

    /// Opens the session of a person who types commands.
    pub fn of_person(context: &Context) -> Result<Self> {
        Self::new(context.clone(), SessionOptions::of_person())
    }

    /// Opens a session with the skills of `library`, without those that the manifests of `scopes` disable.
    pub(super) fn of_library(context: Context, library: Library, scopes: Vec<Scope>) -> Self {
        let activations = Activations::new(&context.settings);
        Self { library, activations, context, scopes, paths: false }
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
    pub(super) fn library(&self) -> &Library {
        &self.library
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

    /// Returns what an agent gets from a skill, and records that in the audit log unless the request says otherwise.
    /// Nothing is run.
    pub fn invoke(&self, request: &InvokeRequest) -> Result<InvokeOutcome, SessionError> {
        let began = Instant::now();
        let hit = self.find(&request.name)?;
        self.invoke_hit(hit, request, began)
    }

    /// Works like [`Session::invoke`], for a `skill` that was already found: its name is not looked up again.
    ///
    /// # Errors
    ///
    /// Fails if the skill can no longer be loaded.
    pub fn invoke_found(
        &self,
        skill: &Arc<Skill>,
        request: &InvokeRequest,
    ) -> Result<InvokeOutcome, SessionError> {
        let hit = Hit { skill: Arc::clone(skill), warnings: Vec::new() };
        self.invoke_hit(hit, request, Instant::now())
    }

    fn invoke_hit(
        &self,
        hit: Hit,
        request: &InvokeRequest,
        began: Instant,
    ) -> Result<InvokeOutcome, SessionError> {
        let Instructions { skill, body } = self.instructions(&hit.skill, &request.name)?;
        let mut outcome = invoked(&self.context, self.profile(), &skill, &body, request);
        outcome.warnings.splice(..0, hit.warnings);
        if request.record {
            outcome.warnings.extend(self.record(&skill, request, began.elapsed()));
        }
        Ok(outcome)
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

    /// Returns the catalog of all skills that are not disabled, and the warnings about the manifests.
    pub fn catalog(&self, mut options: Options) -> Result<(Catalog, Vec<Warning>), SessionError> {
        let Disabled { names, warnings } = disabled(self.settings(), &self.scopes);
        options.disabled.extend(names);
        Ok((self.library.catalog(&options)?, warnings))
    }

    /// Returns the skills that [`Session::catalog`] describes, in the order of the sources.
    pub fn skills(&self, mut options: Options) -> Result<SelectedSkills, SessionError> {
        let Disabled { names, warnings } = disabled(self.settings(), &self.scopes);
        options.disabled.extend(names);
        let snapshot = self.library.snapshot()?;
        let skills = selected(snapshot.skills(), &options).cloned().collect();
        Ok(SelectedSkills { snapshot, skills, warnings })
    }

    /// Runs a script of a skill to its end, if that is permitted. A script that fails is not an error.
    ///
    /// # Errors
    ///
    /// Fails as [`Session::find`] does, and for a script that is not there or may not run.
    pub fn run(&self, request: &RunRequest, watch: &mut dyn Watch) -> Result<RunOutcome, SessionError> {
        let hit = self.find(&request.skill).inspect_err(|error| {
            run::not_found(&self.context, request, error);
        })?;
        let mut outcome = run::run_found(&self.context, &hit.skill, request, watch)?;
        outcome.warnings.splice(..0, hit.warnings);
        Ok(outcome)
    }

    /// Calls a script of a skill as a tool, with named arguments that follow its schema. Asks a person through
    /// `context` if a policy requires that.
    ///
    /// # Errors
    ///
    /// Fails as [`Session::run`] does, and for arguments that do not fit.
    pub fn call(
        &self,
        call: &CallRequest,
        interact: Arc<dyn Interact>,
        watch: &mut dyn Watch,
    ) -> Result<RunOutcome, SessionError> {
        let hit = self.find(&call.request.skill)?;
        self.call_found(&hit.skill, call, interact, watch)
    }

    /// Works like [`Session::call`], for a `skill` that was already found: its name is not looked up again.
    ///
    /// # Errors
    ///
    /// Fails for a script that is not there or may not run, and for arguments that do not fit.
    pub fn call_found(
        &self,
        skill: &Skill,
        call: &CallRequest,
        interact: Arc<dyn Interact>,
        watch: &mut dyn Watch,
    ) -> Result<RunOutcome, SessionError> {
        let set = self.library.tools(skill, self.profile().scripts);
        let request = call.prepared(skill, &set)?;
        let context = Context { interact, ..self.context.clone() };
        Ok(run::run_found(&context, skill, &request, watch)?)
    }

    fn instructions(&self, skill: &Arc<Skill>, name: &str) -> Result<Instructions, SessionError> {
        Ok(self.library.instructions(skill).map_err(|diagnostic| failed(name, diagnostic))?)
    }

    /// Records that somebody, perhaps an agent, got the instructions of `skill`. Returns a warning for the
    /// user if that fails.
    fn record(&self, skill: &Skill, request: &InvokeRequest, took: Duration) -> Option<Warning> {
        let given = match request.arguments.text() {
            "" => Vec::new(),
            text => vec![OsString::from(text)],
        };
        let written = self.activations.write(skill, &given, took, request.session.as_deref());
        written.err().map(|error| Warning::new(codes::AUDIT_NOT_WRITTEN, not_written(&error)))
    }
}

/// Returns the warning for a skill `name` whose files are not listed.
pub(super) fn not_listed(name: &str, problem: &ReadError) -> Warning {
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
    use crate::engine::{Arguments, Form, LookupError, NotFound};
    use crate::error::Error;

    fn session(world: &World) -> Session {
        Session::new(world.context(), SessionOptions { paths: false, ..SessionOptions::of_person() })
            .expect("opens")
    }

    /// Another skill that takes the name meanwhile is not meant.
    #[test]
    fn a_skill_that_was_found_is_not_looked_up_again() {
        let world = World::new();
        let write = |dir: &str| {
            let text = format!("---\nname: pdf\ndescription: d\n---\nFrom {dir}.\n");
            world.write(&format!("{dir}/skills/pdf/SKILL.md"), &text);
            world.write(&format!("{dir}/skills/pdf/a.md"), dir);
        };
        write(".claude");
        let profile = LoadProfile { freshness: Freshness::Stat, ..LoadProfile::DEFAULT };
        let options = SessionOptions { profile, ..SessionOptions::of_person() };
        let session = Session::new(world.context(), options).expect("opens");
        let found = session.find("pdf").expect("there").skill;
        write(".agents");
        let request = InvokeRequest::new("pdf");
        let content = session.invoke_found(&found, &request).expect("invokes").content;
        assert!(content.trim_end().ends_with("From .claude."), "{content}");
        assert_eq!(session.read_found(&found, "a.md", 99).expect("reads"), Content::Text(".claude".into()));
        let content = session.invoke(&request).expect("invokes").content;
        assert!(content.trim_end().ends_with("From .agents."), "{content}");
    }

    /// S0-US3.1, S0-US5.5, S0-FR-006, S0-SC-002: whatever is next to the instructions.
    #[test]
    fn activation() {
        let world = World::new();
        world.write(
            ".agents/skills/pdf/SKILL.md",
            "---\nname: pdf\ndescription: d\n---\n\n\nRead $ARGUMENTS.\n",
        );
        world.write(".agents/skills/pdf/references/a.md", "a");
        let session = session(&world);
        let active = |form| {
            let request =
                InvokeRequest { arguments: Arguments::new("x  y"), form, ..InvokeRequest::new("pdf") };
            session.invoke(&request).expect("works")
        };
        let plain = active(Form::Plain);
        assert!(plain.activation.files.is_empty() && plain.warnings.is_empty());
        let dir = world.project().join(".agents/skills/pdf");
        let expected = format!("Base directory for this skill: {}\n\nRead x  y.\n", dir.display());
        assert_eq!(plain.content, expected);
        assert_eq!(active(Form::Json).activation.files, ["references/a.md"]);
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::ffi::OsStrExt;
            let odd = dir.join(std::ffi::OsStr::from_bytes(b"\xff"));
            crate::fs::write_atomic(&odd, b"").expect("writes");
            let listed = active(Form::Json);
            assert!(listed.activation.files == ["references/a.md"] && listed.warnings.is_empty());
            // Deeper than any path.
            let flags = rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC;
            let open = |at: &std::os::fd::OwnedFd, name: &str| {
                rustix::fs::openat(at, name, flags, 0.into()).expect("opens")
            };
            let mut at = rustix::fs::open(&dir, flags, 0.into()).expect("opens");
            let name = "d".repeat(250);
            for _ in 0..20 {
                rustix::fs::mkdirat(&at, &name, 0o755.into()).expect("is made");
                at = open(&at, &name);
            }
            let deep = active(Form::Json);
            assert!(deep.activation.files.is_empty() && deep.warnings.len() == 1);
            assert_eq!(deep.activation.body, "Read x  y.\n");
        }
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
