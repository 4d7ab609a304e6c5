//! The skills that a server offers, and their addresses.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use skillpm_core::engine::load::SKILL_FILE;
use skillpm_core::engine::{Skill, resources};
use skillpm_core::session::Session;
use skillpm_core::toolkit::{self, Selection, Toolkit};
use skillpm_format::advice::{Warning, Wording};
use skillpm_format::codes;
use skillpm_format::profile::Listing;
use skillpm_sources::error::Result;

use crate::entry::NotCarried;
use crate::{addresses, uri};

/// The skills that a server offers.
pub struct Offer {
    pub(crate) kit: Toolkit,
    view: Mutex<Option<Arc<View>>>,
}

/// The skills at one time, with their addresses.
#[derive(Debug)]
pub(crate) struct View {
    /// All of them, in the order of the session's sources.
    pub(crate) skills: Vec<Arc<Served>>,
    /// What they were before they had addresses.
    pub(crate) found: Arc<toolkit::View>,
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
        let kit = Toolkit::new(Arc::new(session), selection, user, warn);
        Self { kit, view: Mutex::default() }
    }

    /// Returns the current skills, also those that only a person may start. If nothing changed, this is the same value.
    pub(crate) fn view(&self) -> Result<Arc<View>> {
        let found = self.kit.view()?;
        let view = {
            let mut current = self.view.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(view) = current.as_ref().filter(|view| Arc::ptr_eq(&view.found, &found)) {
                return Ok(Arc::clone(view));
            }
            Arc::clone(current.insert(Arc::new(View::new(found))))
        };
        for served in view.skills.iter().filter(|served| served.path.is_none()) {
            self.leave_out(served, &NotCarried::Address);
        }
        Ok(view)
    }

    /// Warns the user why `served` is not among the skills of the extension.
    pub(crate) fn leave_out(&self, served: &Served, reason: &NotCarried) {
        let (name, file) = (&served.skill.meta.name, served.skill.file.display());
        let text = format!("the skill `{name}` is offered by tools only: {reason} (`{file}`)");
        self.kit.warn(&Warning::new(codes::SKILL_NOT_CARRIED, text));
    }
}

impl View {
    fn new(found: Arc<toolkit::View>) -> Self {
        let by_path = addresses::assign(&found.skills, found.snapshot.sources());
        let mut paths = vec![None; found.skills.len()];
        for (path, at) in &by_path {
            paths[*at] = Some(path.clone());
        }
        let served = found.skills.iter().cloned().zip(paths);
        let skills = served.map(|(skill, path)| Arc::new(Served { skill, path })).collect();
        Self { skills, found, by_path }
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
