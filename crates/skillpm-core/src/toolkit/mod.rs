//! The tools by which an agent uses skills: `list_skills`, `search_skills`, `load_skill`, `read_skill_file` and
//! `run_skill_script`.
//!
//! A [`Toolkit`] decides which skills an agent gets, defines the tools and answers their calls. Front ends hand over
//! calls and answers, each as its protocol or framework has them. An answer is bounded: it has at most so much of a
//! file, of instructions and of output as the [`Selection`] says, and tells how to go on.

mod answer;
mod scripts;
mod skills;
mod words;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use answer::{Answer, Definition, MAX_ERROR, MAX_TEXT, shortened};
pub use scripts::{Attempt, Call, Question};
pub use skills::{Loaded, MAX_DESCRIPTION, SEARCH, one_line};

use crate::admission::Scripts;
use crate::advice::{Warning, Wording};
use crate::engine::catalog::{Catalog, Options, catalog};
use crate::engine::{Diagnostic, Hit, Skill, Snapshot, resources};
use crate::error::{Error, Result};
use crate::lint::Severity;
use crate::ops::run::RunRequest;
use crate::session::provenance::Origins;
use crate::session::{SelectedSkills, Session};

/// The number of warnings that are remembered, so that none is printed twice.
pub const MAX_WARNED: usize = 10_000;

/// The number of skills that a model is told of when it asks for another one.
const NAMED: usize = 20;

/// Which of the skills of a session an agent gets, and how.
#[derive(Debug, Clone)]
pub struct Selection {
    /// Only these skills, by name; if empty, all.
    pub names: Vec<String>,
    /// Without these skills, by name.
    pub excluded: Vec<String>,
    /// Only skills that have one of these tags; if empty, all.
    pub tags: Vec<String>,
    /// Whether there are no tools, for clients that load skills by themselves.
    pub no_tools: bool,
    /// Whether tools run scripts.
    pub scripts: bool,
    /// How scripts run; each call sets the skill, the script and its arguments.
    pub run: RunRequest,
    /// How long a script may take, whatever its skill says; if it is `None`, as long as that says, or the usual time.
    pub timeout: Option<Duration>,
    /// The number of bytes of a file, of instructions and of output that one answer has, unless a call asks for more.
    pub most: usize,
}

impl Default for Selection {
    /// Returns the selection of all skills, of which no script runs.
    fn default() -> Self {
        let run = RunRequest { default_decision: Scripts::Deny, ..RunRequest::new("", "") };
        Self {
            names: Vec::new(),
            excluded: Vec::new(),
            tags: Vec::new(),
            no_tools: false,
            scripts: false,
            run,
            timeout: None,
            most: MAX_TEXT,
        }
    }
}

/// The skills that an agent gets, and the tools for them.
pub struct Toolkit {
    /// Where the skills are.
    pub session: Arc<Session>,
    /// Which of them the agent gets.
    pub selection: Selection,
    /// The words for what only a person can do.
    user: &'static (dyn Wording + Send + Sync),
    /// Called with each warning for the user, once.
    warn: Box<dyn Fn(&Warning) + Send + Sync>,
    warned: Mutex<BTreeSet<String>>,
    view: Mutex<Option<Arc<View>>>,
}

/// The skills at one time.
#[derive(Debug)]
pub struct View {
    /// All of them, in the order of the session's sources.
    pub skills: Vec<Arc<Skill>>,
    /// Why selected skills were found but cannot be used.
    pub problems: Vec<String>,
    /// The search that found them.
    pub snapshot: Arc<Snapshot>,
}

impl Toolkit {
    /// Returns the tools for the skills of `session` that `selection` selects. What only a person can do is said in the
    /// words of `user`. `warn` gets what the user should know.
    pub fn new(
        session: Arc<Session>,
        selection: Selection,
        user: &'static (dyn Wording + Send + Sync),
        warn: impl Fn(&Warning) + Send + Sync + 'static,
    ) -> Self {
        Self {
            session,
            selection,
            user,
            warn: Box::new(warn),
            warned: Mutex::default(),
            view: Mutex::default(),
        }
    }

    /// Returns the current skills, also those that only a person may start. If nothing changed, this is the same value.
    ///
    /// # Errors
    ///
    /// Fails if the skills cannot be looked for.
    pub fn view(&self) -> Result<Arc<View>> {
        let options = Options { hidden: true, tags: self.selection.tags.clone(), ..Options::default() };
        let SelectedSkills { snapshot, mut skills, warnings } = self.session.skills(options)?;
        for warning in &warnings {
            self.warn(warning);
        }
        skills.retain(|skill| self.selection.has(&skill.meta.name));
        let view = {
            let mut current = self.view.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(view) = current.as_ref().filter(|view| view.is_of(&snapshot, &skills)) {
                return Ok(Arc::clone(view));
            }
            Arc::clone(current.insert(Arc::new(View::new(skills, snapshot, &self.selection))))
        };
        for diagnostic in view.snapshot.diagnostics().iter().filter(|diagnostic| diagnostic.is_told()) {
            self.warn(&Warning::from(&**diagnostic));
        }
        Ok(view)
    }

    /// Returns the catalog of the skills that a model may start, in the order of the sources.
    ///
    /// # Errors
    ///
    /// Fails if the skills cannot be looked for.
    pub fn catalog(&self, options: &Options) -> Result<Catalog> {
        let options = Options { hidden: false, ..options.clone() };
        Ok(catalog(&self.view()?.skills, &options))
    }

    /// Returns the skill `name` among those that a model may start. `source:name` finds one that another of its name hides.
    ///
    /// # Errors
    ///
    /// Fails if there is no such skill, or if only a person may start it.
    pub fn for_model(&self, name: &str) -> Result<Arc<Skill>> {
        let mut view = self.view()?;
        let by_name = |view: &View| view.skills.iter().find(|skill| skill.meta.name == name).cloned();
        let mut found = by_name(&view);
        if found.is_none() {
            // It may have come since the last search, or another skill may hide it.
            found = self.hidden(name);
            view = self.view()?;
            found = by_name(&view).or(found);
        }
        if let Some(skill) = found {
            if skill.is_for_people() {
                return Err(Error::usage(format!("only a person may start the skill `{name}`")));
            }
            return Ok(skill);
        }
        let names: Vec<&str> = view.for_models().map(|skill| skill.meta.name.as_str()).collect();
        let error = Error::usage(format!("there is no skill `{name}`"));
        let quoted = |name: &&str| format!("`{name}`");
        Err(match crate::text::closest(name, names.iter().copied()) {
            Some(similar) => error.hint(format!("did you mean `{similar}`?")),
            None if names.is_empty() => error,
            None if names.len() <= NAMED => {
                let names: Vec<_> = names.iter().map(quoted).collect();
                error.hint(format!("the skills are {}", names.join(", ")))
            }
            None => error.hint("`search_skills` finds skills by what they are for"),
        })
    }

    /// Returns the selected skill that `source:name` finds, after a new search where one is due.
    fn hidden(&self, name: &str) -> Option<Arc<Skill>> {
        let Hit { skill, .. } = self.session.find(name).ok()?;
        let is_selected = self.selection.has(&skill.meta.name) && self.selection.has_tag(&skill);
        (name.contains(':') && is_selected).then_some(skill)
    }

    /// Returns where the skills come from; `None` if a lockfile cannot be read, of which the user is warned.
    fn origins(&self) -> Option<Origins> {
        self.session.origins().map_err(|error| self.warn(&Warning::from(error))).ok()
    }

    /// Returns the answer that says why a call failed.
    pub fn failed(&self, error: &Error) -> Answer {
        Answer::failed(error, self.user)
    }

    /// Passes `warning` on to the user, unless that was done before.
    pub fn warn(&self, warning: &Warning) {
        let is_new = {
            let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
            // It is better to repeat some than to keep all that a server meets in its life.
            if warned.len() == MAX_WARNED {
                warned.clear();
            }
            warned.insert(warning.to_string())
        };
        // Nobody waits for a lock while standard error takes its time.
        if is_new {
            (self.warn)(warning);
        }
    }

    /// Reports whether somebody holds a lock, for tests.
    #[doc(hidden)]
    pub fn is_locked(&self) -> bool {
        self.warned.try_lock().is_err() || self.view.try_lock().is_err()
    }

    /// Returns the number of warnings that are remembered, for tests.
    #[doc(hidden)]
    pub fn remembered(&self) -> usize {
        self.warned.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Selection {
    /// Reports whether it selects skills named `name`.
    fn has(&self, name: &str) -> bool {
        let is_in = |names: &[String]| names.iter().any(|other| other == name);
        (self.names.is_empty() || is_in(&self.names)) && !is_in(&self.excluded)
    }

    /// Reports whether it selects the tags of `skill`.
    fn has_tag(&self, skill: &Skill) -> bool {
        self.tags.is_empty() || skill.meta.tags.iter().any(|tag| self.tags.contains(tag))
    }

    /// Reports whether a selected skill may be missing because of `diagnostic`. Of a skill that cannot be loaded only the
    /// directory is known, and no tags.
    fn is_affected_by(&self, diagnostic: &Diagnostic) -> bool {
        let is_wanted = || {
            let is_of = |names: &[String]| names.iter().any(|name| diagnostic.is_of_directory(name));
            self.tags.is_empty() && (self.names.is_empty() || is_of(&self.names)) && !is_of(&self.excluded)
        };
        diagnostic.severity() == Severity::Error
            && (!matches!(diagnostic, Diagnostic::Skill { .. }) || is_wanted())
    }
}

impl View {
    fn new(skills: Vec<Arc<Skill>>, snapshot: Arc<Snapshot>, selection: &Selection) -> Self {
        let problems =
            snapshot.diagnostics().iter().filter(|diagnostic| selection.is_affected_by(diagnostic));
        let problems = problems.map(ToString::to_string).collect();
        Self { skills, problems, snapshot }
    }

    /// Reports whether it has these skills, which were selected from `snapshot`. What a manifest disables may change while
    /// the snapshot stays.
    fn is_of(&self, snapshot: &Arc<Snapshot>, skills: &[Arc<Skill>]) -> bool {
        Arc::ptr_eq(&self.snapshot, snapshot)
            && self.skills.len() == skills.len()
            && self.skills.iter().zip(skills).all(|(skill, other)| Arc::ptr_eq(skill, other))
    }

    /// Returns a number that another one follows when a file of a skill changes.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for skill in &self.skills {
            resources::fingerprint(&skill.dir).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Returns the skills that a model may start by itself.
    pub fn for_models(&self) -> impl Iterator<Item = &Arc<Skill>> {
        self.skills.iter().filter(|skill| !skill.is_for_people())
    }
}
