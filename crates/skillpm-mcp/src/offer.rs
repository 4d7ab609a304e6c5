//! The skills that a server offers, and their addresses.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use skillpm_core::admission::Scripts;
use skillpm_core::advice::Warning;
use skillpm_core::codes;
use skillpm_core::engine::catalog::Options;
use skillpm_core::engine::load::SKILL_FILE;
use skillpm_core::engine::resources;
use skillpm_core::engine::{Skill, Snapshot};
use skillpm_core::error::{Error, Result};
use skillpm_core::ops::session::Session;
use skillpm_core::policy::Listing;

use crate::entry::NotCarried;
use crate::uri;

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
    selection: Selection,
    /// Called with each warning for the user, once.
    warn: Box<dyn Fn(&Warning) + Send + Sync>,
    warned: Mutex<Vec<String>>,
    view: Mutex<Option<Arc<View>>>,
}

/// The skills at one time.
#[derive(Debug)]
pub(crate) struct View {
    /// All of them, in the order of the session's sources.
    pub(crate) skills: Vec<Arc<Served>>,
    snapshot: Arc<Snapshot>,
    by_path: BTreeMap<String, usize>,
}

/// A skill with its address.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) skill: Arc<Skill>,
    /// The address of its directory without the scheme, decoded: `user/team/pdf`.
    pub(crate) path: String,
}

/// A file of a skill, or its directory.
pub(crate) struct Located {
    pub(crate) served: Arc<Served>,
    /// The path below the skill's directory; empty for the directory itself.
    pub(crate) below: String,
}

impl Offer {
    /// Returns the offer of the skills of `session` that `selection` selects. `warn` gets what the user should know.
    pub fn new(
        session: Session,
        selection: Selection,
        warn: impl Fn(&Warning) + Send + Sync + 'static,
    ) -> Self {
        Self {
            session,
            no_tools: selection.no_tools,
            scripts: selection.scripts,
            no_network: selection.no_network,
            selection,
            warn: Box::new(warn),
            warned: Mutex::default(),
            view: Mutex::default(),
        }
    }

    /// Returns the current skills, also those that only a person may start. If nothing changed, this is the same value.
    ///
    /// # Errors
    ///
    /// Fails if the directories of skills cannot be searched.
    pub(crate) fn view(&self) -> Result<Arc<View>> {
        let options = Options { hidden: true, tags: self.selection.tags.clone(), ..Options::default() };
        let snapshot = self.session.snapshot()?;
        let (skills, warnings) = self.session.skills(options)?;
        for warning in &warnings {
            self.warn(warning);
        }
        let wanted = |skill: &Skill| {
            let names = &self.selection.names;
            names.is_empty() || names.contains(&skill.meta.name)
        };
        let skills: Vec<_> = skills.into_iter().filter(|skill| wanted(skill)).collect();
        let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = view.as_ref().filter(|view| view.is_of(&skills)) {
            return Ok(Arc::clone(view));
        }
        for diagnostic in snapshot.diagnostics() {
            self.warn(&Warning::from(&**diagnostic));
        }
        Ok(Arc::clone(view.insert(Arc::new(View::new(skills, snapshot)))))
    }

    /// Returns the skill `name` among those that a model may start.
    ///
    /// # Errors
    ///
    /// Fails if it is not served, with the names of similar skills; or if only a person may start it.
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
        Err(match skillpm_core::text::closest(name, names) {
            Some(similar) => error.hint(format!("did you mean `{similar}`?")),
            None => error.hint("`list_skills` names all skills"),
        })
    }

    /// Tells the user why `served` is not among the skills of the extension.
    pub(crate) fn leave_out(&self, served: &Served, reason: &NotCarried) {
        let (name, file) = (&served.skill.meta.name, served.skill.file.display());
        let text = format!("the skill `{name}` is offered by tools only: {reason} (`{file}`)");
        self.warn(&Warning::new(codes::SKILL_NOT_CARRIED, text));
    }

    /// Tells the user of `warning`, unless that has been done.
    pub(crate) fn warn(&self, warning: &Warning) {
        let text = warning.to_string();
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if !warned.contains(&text) {
            (self.warn)(warning);
            warned.push(text);
        }
    }
}

impl View {
    fn new(skills: Vec<Arc<Skill>>, snapshot: Arc<Snapshot>) -> Self {
        let served = skills.into_iter().map(|skill| Arc::new(Served::new(skill, &snapshot)));
        let skills: Vec<_> = served.collect();
        let by_path = skills.iter().enumerate().map(|(at, served)| (served.path.clone(), at)).collect();
        Self { skills, snapshot, by_path }
    }

    fn is_of(&self, skills: &[Arc<Skill>]) -> bool {
        self.skills.len() == skills.len()
            && self.skills.iter().zip(skills).all(|(served, skill)| Arc::ptr_eq(&served.skill, skill))
    }

    /// Returns the skills that a model may start by itself.
    pub(crate) fn for_models(&self) -> impl Iterator<Item = &Arc<Served>> {
        self.skills.iter().filter(|served| !served.skill.is_for_people())
    }

    /// Returns why skills were found but cannot be used.
    pub(crate) fn problems(&self) -> impl Iterator<Item = String> {
        let errors = self.snapshot.diagnostics().iter();
        errors
            .filter(|diagnostic| diagnostic.severity() == skillpm_core::lint::Severity::Error)
            .map(ToString::to_string)
    }

    /// Returns the paths of files that start with `start`: of the skills' own files, until one skill is meant.
    pub(crate) fn paths(&self, start: &str) -> Vec<String> {
        if let Some(served) =
            self.skills.iter().find(|served| start.starts_with(&format!("{}/", served.path)))
        {
            let files = resources::list(&served.skill.dir, Listing::All).unwrap_or_default();
            let paths = files.into_iter().map(|file| format!("{}/{file}", served.path));
            return paths.filter(|path| path.starts_with(start)).collect();
        }
        let main = self.skills.iter().map(|served| format!("{}/{SKILL_FILE}", served.path));
        main.filter(|path| path.starts_with(start)).collect()
    }

    /// Finds the skill, and the path below it, that an address means.
    pub(crate) fn locate(&self, address: &str) -> Option<Located> {
        let path = uri::decode(address)?;
        let mut ends: Vec<_> = path.match_indices('/').map(|(at, _)| at).chain([path.len()]).collect();
        // A skill may be inside of another one: the longest path counts.
        ends.reverse();
        ends.into_iter().find_map(|end| {
            let served = &self.skills[*self.by_path.get(&path[..end])?];
            let below = path[end..].trim_start_matches('/').to_owned();
            Some(Located { served: Arc::clone(served), below })
        })
    }
}

impl Served {
    fn new(skill: Arc<Skill>, snapshot: &Snapshot) -> Self {
        let source = snapshot.sources().iter().find(|source| source.name == skill.source);
        let below = source.and_then(|source| skill.path_below(source)).unwrap_or_default();
        // The last part of an address is the skill's name, whatever its directory is called.
        let parents = below.rsplit_once('/').map(|(parents, _)| format!("{parents}/")).unwrap_or_default();
        let path = format!("{}/{parents}{}", skill.kind, skill.meta.name);
        Self { skill, path }
    }

    /// Returns the address of the file `path` of this skill.
    pub(crate) fn uri(&self, path: &str) -> String {
        uri::encode(&format!("{}/{path}", self.path))
    }
}
