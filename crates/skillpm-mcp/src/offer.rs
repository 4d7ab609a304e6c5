//! The skills that a server offers, and their addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use skillpm_core::engine::catalog::Options;
use skillpm_core::engine::load::SKILL_FILE;
use skillpm_core::engine::resources;
use skillpm_core::engine::{Diagnostic, Skill, Snapshot};
use skillpm_core::session::provenance::Origins;
use skillpm_core::session::{SelectedSkills, Session};
use skillpm_format::admission::Scripts;
use skillpm_format::advice::{Warning, Wording};
use skillpm_format::codes;
use skillpm_format::lint::Severity;
use skillpm_format::profile::Listing;
use skillpm_sources::error::{Error, Result};

use crate::entry::NotCarried;
use crate::{addresses, uri};

/// The number of warnings that are remembered, so that none is printed twice.
pub(crate) const MAX_WARNED: usize = 10_000;

/// Which of the skills of a session are served, and what of them.
#[derive(Debug, Clone)]
pub struct Selection {
    /// Only these skills, by name; if empty, all.
    pub names: Vec<String>,
    /// Only skills that have one of these tags; if empty, all.
    pub tags: Vec<String>,
    /// Whether there are no tools, for clients that load skills by themselves.
    pub no_tools: bool,
    /// Whether their scripts run if no policy decides; with `Deny`, no tool runs any.
    pub scripts: Scripts,
    /// Whether scripts are cut off from the network.
    pub no_network: bool,
    /// How long a script may take, whatever its skill says; if it is `None`, as long as that says, or the usual time.
    pub timeout: Option<Duration>,
    /// The programs that run scripts, by language; others are run by the usual ones.
    pub interpreters: BTreeMap<String, OsString>,
}

/// The skills that a server offers.
pub struct Offer {
    pub(crate) session: Session,
    /// Whether there are no tools.
    pub(crate) no_tools: bool,
    /// Whether scripts run if no policy decides.
    pub(crate) scripts: Scripts,
    /// Whether scripts are cut off from the network.
    pub(crate) no_network: bool,
    /// How long a script may take, if the user says so.
    pub(crate) timeout: Option<Duration>,
    /// The programs that run scripts, by language.
    pub(crate) interpreters: BTreeMap<String, OsString>,
    /// The words for what only a person can do.
    pub(crate) user: &'static (dyn Wording + Send + Sync),
    selection: Selection,
    /// Called with each warning for the user, once.
    warn: Box<dyn Fn(&Warning) + Send + Sync>,
    warned: Mutex<BTreeSet<String>>,
    view: Mutex<Option<Arc<View>>>,
}

/// The skills at one time.
#[derive(Debug)]
pub(crate) struct View {
    /// All of them, in the order of the session's sources.
    pub(crate) skills: Vec<Arc<Served>>,
    /// Why selected skills were found but cannot be used.
    pub(crate) problems: Vec<String>,
    snapshot: Arc<Snapshot>,
    /// The indices of the skills, by [`Served::path`].
    by_path: BTreeMap<String, usize>,
}

/// A skill with its address.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) skill: Arc<Skill>,
    /// The address of its directory without the scheme, decoded: `user/team/pdf`; `None` if only tools offer it.
    pub(crate) path: Option<String>,
}

/// A file of a skill, or its directory.
pub(crate) struct Located {
    pub(crate) served: Arc<Served>,
    /// The path below the skill's directory; empty for the directory itself.
    pub(crate) below: String,
}

impl Offer {
    /// Returns the offer of the skills of `session` that `selection` selects. What only a person can do is said in the
    /// words of `user`. `warn` gets what the user should know.
    pub fn new(
        session: Session,
        selection: Selection,
        user: &'static (dyn Wording + Send + Sync),
        warn: impl Fn(&Warning) + Send + Sync + 'static,
    ) -> Self {
        Self {
            session,
            no_tools: selection.no_tools,
            scripts: selection.scripts,
            no_network: selection.no_network,
            timeout: selection.timeout,
            interpreters: selection.interpreters.clone(),
            user,
            selection,
            warn: Box::new(warn),
            warned: Mutex::default(),
            view: Mutex::default(),
        }
    }

    /// Returns the current skills, also those that only a person may start. If nothing changed, this is the same value.
    pub(crate) fn view(&self) -> Result<Arc<View>> {
        let options = Options { hidden: true, tags: self.selection.tags.clone(), ..Options::default() };
        let SelectedSkills { snapshot, mut skills, warnings } = self.session.skills(options)?;
        for warning in &warnings {
            self.warn(warning);
        }
        skills.retain(|skill| self.selection.has_name(&skill.meta.name));
        let view = {
            let mut current = self.view.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(view) = current.as_ref().filter(|view| view.is_of(&snapshot, &skills)) {
                return Ok(Arc::clone(view));
            }
            Arc::clone(current.insert(Arc::new(View::new(skills, snapshot, &self.selection))))
        };
        for diagnostic in view.snapshot.diagnostics() {
            self.warn(&Warning::from(&**diagnostic));
        }
        for served in view.skills.iter().filter(|served| served.path.is_none()) {
            self.leave_out(served, &NotCarried::Address);
        }
        Ok(view)
    }

    /// Returns the skill `name` among those that a model may start.
    pub(crate) fn for_model(&self, name: &str) -> Result<Arc<Served>> {
        let view = self.view()?;
        if let Some(served) = view.skills.iter().find(|served| served.skill.meta.name == name) {
            if served.skill.is_for_people() {
                return Err(Error::usage(format!("only a person may start the skill `{name}`")));
            }
            return Ok(Arc::clone(served));
        }
        let names = view.for_models().map(|served| served.skill.meta.name.as_str());
        let error = Error::usage(format!("there is no skill `{name}`"));
        Err(match skillpm_format::text::closest(name, names) {
            Some(similar) => error.hint(format!("did you mean `{similar}`?")),
            None => error.hint("`list_skills` names all skills"),
        })
    }

    /// Returns where the skills come from; `None` if a lockfile cannot be read, of which the user is warned.
    pub(crate) fn origins(&self) -> Option<Origins> {
        self.session.origins().map_err(|error| self.warn(&Warning::from(error))).ok()
    }

    /// Warns the user why `served` is not among the skills of the extension.
    pub(crate) fn leave_out(&self, served: &Served, reason: &NotCarried) {
        let (name, file) = (&served.skill.meta.name, served.skill.file.display());
        let text = format!("the skill `{name}` is offered by tools only: {reason} (`{file}`)");
        self.warn(&Warning::new(codes::SKILL_NOT_CARRIED, text));
    }

    /// Passes `warning` on to the user, unless that was done before.
    pub(crate) fn warn(&self, warning: &Warning) {
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
}

#[cfg(test)]
impl Offer {
    /// Reports whether somebody holds a lock.
    pub(crate) fn is_locked(&self) -> bool {
        self.warned.try_lock().is_err() || self.view.try_lock().is_err()
    }

    /// Returns the number of warnings that are remembered.
    pub(crate) fn remembered(&self) -> usize {
        self.warned.lock().expect("no panic").len()
    }
}

impl Selection {
    fn has_name(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wanted| wanted == name)
    }

    /// Reports whether a selected skill may be missing because of `diagnostic`. Of a skill that cannot be loaded only the
    /// directory is known, and no tags.
    fn is_affected_by(&self, diagnostic: &Diagnostic) -> bool {
        let is_wanted = || {
            self.tags.is_empty()
                && (self.names.is_empty() || self.names.iter().any(|name| diagnostic.is_of_directory(name)))
        };
        diagnostic.severity() == Severity::Error
            && (!matches!(diagnostic, Diagnostic::Skill { .. }) || is_wanted())
    }
}

impl View {
    fn new(skills: Vec<Arc<Skill>>, snapshot: Arc<Snapshot>, selection: &Selection) -> Self {
        let by_path = addresses::assign(&skills, snapshot.sources());
        let mut paths = vec![None; skills.len()];
        for (path, at) in &by_path {
            paths[*at] = Some(path.clone());
        }
        let served = skills.into_iter().zip(paths).map(|(skill, path)| Arc::new(Served { skill, path }));
        let problems =
            snapshot.diagnostics().iter().filter(|diagnostic| selection.is_affected_by(diagnostic));
        let problems = problems.map(ToString::to_string).collect();
        Self { skills: served.collect(), problems, snapshot, by_path }
    }

    /// Reports whether it has these skills, which were selected from `snapshot`. What a manifest disables may change while
    /// the snapshot stays.
    fn is_of(&self, snapshot: &Arc<Snapshot>, skills: &[Arc<Skill>]) -> bool {
        Arc::ptr_eq(&self.snapshot, snapshot)
            && self.skills.len() == skills.len()
            && self.skills.iter().zip(skills).all(|(served, skill)| Arc::ptr_eq(&served.skill, skill))
    }

    /// Returns a number that another one follows when a file of a skill changes.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for served in &self.skills {
            resources::fingerprint(&served.skill.dir).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Returns the skills that a model may start by itself.
    pub(crate) fn for_models(&self) -> impl Iterator<Item = &Arc<Served>> {
        self.skills.iter().filter(|served| !served.skill.is_for_people())
    }

    /// Returns the paths of files that start with `start`: of the skills' own files, until one skill is meant.
    pub(crate) fn paths(&self, start: &str) -> Vec<String> {
        if let Some((skill, at)) =
            self.by_path.iter().find(|(path, _)| start.starts_with(&format!("{path}/")))
        {
            let files = resources::list(&self.skills[*at].skill.dir, Listing::All).unwrap_or_default();
            let paths = files.into_iter().map(|file| format!("{skill}/{file}"));
            return paths.filter(|path| path.starts_with(start)).collect();
        }
        let main = self.by_path.keys().map(|path| format!("{path}/{SKILL_FILE}"));
        main.filter(|path| path.starts_with(start)).collect()
    }

    /// Finds the skill, and the path below it, that an address means.
    pub(crate) fn locate(&self, address: &str) -> Option<Located> {
        let path = uri::decode(address)?;
        let mut ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.find_map(|end| {
            let served = &self.skills[*self.by_path.get(&path[..end])?];
            let below = path[end..].trim_start_matches('/').to_owned();
            Some(Located { served: Arc::clone(served), below })
        })
    }
}

impl Served {
    /// Returns the address of its `SKILL.md`, if it has one.
    pub(crate) fn uri(&self) -> Option<String> {
        Some(uri::encode(&format!("{}/{SKILL_FILE}", self.path.as_deref()?)))
    }
}
