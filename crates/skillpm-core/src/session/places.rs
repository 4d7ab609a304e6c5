//! The places whose skills a front end offers: by scope, by agent, with further directories.

use std::path::PathBuf;

use super::Session;
use crate::advice::Warning;
use crate::agents::listing::{Asked, precedence};
use crate::agents::rules::{Name, rules};
use crate::agents::{self, Agent};
use crate::context::Context;
use crate::engine::{Library, Source, SourceKind, each_once, sources_of, with_least};
use crate::error::Result;
use crate::path::normal;
use crate::profile::{LoadProfile, NameRule};
use crate::scope::agent_view;
use crate::scope::{Scope, Scopes, project_root};
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;

/// The places whose skills are offered.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Only skills of this scope. `None` means both.
    pub scope: Option<ScopeKind>,
    /// Only skills that this agent reads, by id or alias.
    pub agent: Option<String>,
    /// More directories of skills, which the others override.
    pub dirs: Vec<PathBuf>,
    /// Whether to leave out the skills of the projects around this one.
    pub alone: bool,
    /// Whether to leave out the skills of a project that the user does not trust, at the time of each search.
    pub only_trusted: bool,
}

/// A session with the skills of [`Places`].
pub struct OpenedPlaces {
    /// The session. No search has taken place yet.
    pub session: Session,
    /// The scopes that are searched.
    pub scopes: Vec<Scope>,
    /// Why some skills are missing.
    pub warnings: Vec<Warning>,
}

impl Places {
    /// Opens a session with the skills of these places, under `profile`.
    ///
    /// # Errors
    ///
    /// Fails for an unknown agent, for a scope that was named and does not exist here, and if the root of the project
    /// cannot be found.
    pub fn open(&self, context: &Context, profile: LoadProfile) -> Result<OpenedPlaces> {
        let settings = &context.settings;
        let Scopes { there: mut scopes, missing } = Scopes::new(settings, self.scope)?;
        let warnings: Vec<_> = missing.into_iter().map(Warning::from).collect();
        let disabling = scopes.clone();
        // Skills that outer projects disable are where no agent looks.
        if !self.alone {
            around(settings, &mut scopes)?;
        }
        let agent = self.agent.as_deref().map(agents::find).transpose()?;
        let profile = match agent.and_then(|agent| rules(agent.id)) {
            Some(rules) if rules.name == Name::Directory && profile.names == NameRule::Lenient => {
                LoadProfile { names: NameRule::Directory, ..profile }
            }
            _ => profile,
        };
        let sources = self.sources(settings, &profile, &scopes, agent)?;
        let library = Library::new(sources, profile);
        let library = if self.only_trusted { library.only_trusted(settings.clone()) } else { library };
        let session = Session::of_library(context.clone(), library, disabling);
        Ok(OpenedPlaces { session, scopes, warnings })
    }

    /// Returns the places that are searched, in order.
    fn sources(
        &self,
        settings: &Settings,
        profile: &LoadProfile,
        scopes: &[Scope],
        agent: Option<&Agent>,
    ) -> Result<Vec<Source>> {
        let sources = if let Some(agent) = agent {
            of_agent(settings, agent, scopes)?
        } else {
            let mut left_out = scopes.to_vec();
            around(settings, &mut left_out)?;
            left_out.retain(|scope| scopes.iter().all(|wanted| wanted.root != scope.root));
            let is_of = |scope: &Scope, source: &Source| source.dir.starts_with(&scope.root);
            let is_wanted = |source: &Source| {
                let mut wanted = scopes.iter().filter(|scope| source.is_of(scope.kind.into())).peekable();
                let is_outer = left_out.iter().any(|outer| is_of(outer, source));
                wanted.peek().is_some() && (!is_outer || wanted.any(|scope| is_of(scope, source)))
            };
            sources_of(settings, profile)?.into_iter().filter(is_wanted).collect::<Vec<_>>()
        };
        let more = self.dirs.iter();
        let more = more.map(|dir| Source::new(SourceKind::Extra, normal(&settings.cwd.join(dir))));
        Ok(with_least(sources, more, profile))
    }
}

/// Returns the places that `agent` reads in `scopes`, in its order: of skills with one name, it decides which counts.
pub(super) fn of_agent(settings: &Settings, agent: &Agent, scopes: &[Scope]) -> Result<Vec<Source>> {
    let dirs = scopes.iter().flat_map(|scope| {
        let kind = SourceKind::from(scope.kind);
        let dirs = agent_view::directories(settings, scope, agent).into_iter();
        dirs.map(move |dir| Source::new(kind, dir.path))
    });
    let mut sources = each_once(dirs);
    let project = project_root(settings)?;
    let asked = Asked { settings, project: &project, window: None };
    if let Some(dirs) = precedence(agent, asked) {
        let rank = |source: &Source| dirs.iter().position(|(dir, _)| *dir == source.dir);
        sources.sort_by_key(|source| rank(source).unwrap_or(dirs.len()));
    }
    Ok(sources)
}

/// Adds to `scopes` the projects around theirs, behind it: agents that search up to the root of the repository also see
/// their skills.
fn around(settings: &Settings, scopes: &mut Vec<Scope>) -> Result<()> {
    let Some(at) = scopes.iter().position(|scope| scope.kind == ScopeKind::Project) else { return Ok(()) };
    let outer = scopes[at].outer(settings)?;
    let behind = at + 1;
    drop(scopes.splice(behind..behind, outer));
    Ok(())
}
