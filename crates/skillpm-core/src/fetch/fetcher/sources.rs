//! The sources that a command opens, each only once, if the policy admits them.

use std::collections::BTreeMap;

use super::versions::Versions;
use crate::admission::PolicySubject;
use crate::advice::Warning;
use crate::context::Context;
use crate::error::Result;
use crate::fetch::policy_check::{PolicyCheck, now};
use crate::manifest::{Manifest, Registries};
use crate::resolve::ReleaseAge;
use crate::scope::Scope;
use crate::source::{self, FetchedSource, local};
use crate::spec::{Origin, Reference, SourceSpec};

/// The revision at which a source was opened.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum OpenedAt {
    Now(Option<Reference>),
    Locked(String),
}

/// The sources that one command opens: each once, however many of its skills are used.
pub(crate) struct Sources<'a> {
    pub(crate) context: &'a Context,
    pub(crate) scope: &'a Scope,
    /// The check against the policy.
    pub(crate) gate: PolicyCheck,
    /// The registries that the manifest names.
    pub(crate) registries: Registries,
    opened: BTreeMap<(Origin, OpenedAt), FetchedSource>,
    /// The warnings that were reported.
    told: Vec<Warning>,
    /// The versions that were decided for skills of registries.
    pub(crate) versions: Versions,
}

impl<'a> Sources<'a> {
    /// Returns the sources that the policy of `scope`, whose manifest is `manifest`, admits. None is open yet.
    pub(crate) fn new(context: &'a Context, scope: &'a Scope, manifest: &Manifest) -> Result<Self> {
        let gate = PolicyCheck::new(context, scope, manifest)?;
        let registries = manifest.registries().clone();
        let (opened, versions) = (BTreeMap::new(), Versions::default());
        Ok(Self { context, scope, gate, registries, opened, told: Vec::new(), versions })
    }

    /// Returns the minimum age of the releases of the skill `name` of the registry `origin`.
    pub(crate) fn minimum_age(&self, origin: &Origin, name: &str) -> Option<ReleaseAge> {
        let subject = PolicySubject { origin, path: Some(name), reference: None };
        let minimum = self.gate.minimum_age(subject)?;
        Some(ReleaseAge { now: now(), minimum })
    }

    /// Asks the policy about the source of `spec`, before the source is contacted.
    pub(crate) fn admit(&mut self, spec: &SourceSpec) -> Result<()> {
        self.gate.source(asked(spec))
    }

    /// Opens the source of `spec` as it is now, if the policy admits it.
    pub(crate) fn open(&mut self, spec: &SourceSpec) -> Result<FetchedSource> {
        self.admit(spec)?;
        self.open_admitted(spec)
    }

    /// Works like [`Sources::open`], but refuses a directory that skillpm manages itself.
    pub(crate) fn open_outside(&mut self, spec: &SourceSpec) -> Result<FetchedSource> {
        self.admit(spec)?;
        local::check_outside(&self.context.settings, self.scope.as_root(), &spec.origin)?;
        self.open_admitted(spec)
    }

    fn open_admitted(&mut self, spec: &SourceSpec) -> Result<FetchedSource> {
        let opened = self.open_at(&spec.origin, OpenedAt::Now(spec.reference.clone()))?;
        // The versions of a registry have ages of their own, which decide which of them is taken.
        if !spec.origin.has_versions() {
            self.gate.release(self.context, asked(spec), &opened)?;
        }
        Ok(opened)
    }

    /// Opens `origin` at the locked `revision`. Does not ask the policy.
    pub(crate) fn open_locked(&mut self, origin: &Origin, revision: Option<&str>) -> Result<FetchedSource> {
        // The skills of a site each have their own revision, and share one index.
        let revision = revision.filter(|_| !origin.delivers_each());
        self.open_at(
            origin,
            revision.map_or(OpenedAt::Now(None), |revision| OpenedAt::Locked(revision.to_owned())),
        )
    }

    /// Opens `origin` as it is at `reference` now. Does not ask the policy.
    pub(crate) fn open_now(
        &mut self,
        origin: &Origin,
        reference: Option<&Reference>,
    ) -> Result<FetchedSource> {
        self.open_at(origin, OpenedAt::Now(reference.cloned()))
    }

    /// Opens the source of `spec` for a skill that depends on something in it: at the locked revision if
    /// there is one, otherwise in its current state.
    pub(crate) fn open_for_dependent(
        &mut self,
        spec: &SourceSpec,
        revision: Option<&str>,
    ) -> Result<FetchedSource> {
        match revision {
            Some(_) => {
                self.admit(spec)?;
                self.open_locked(&spec.origin, revision)
            }
            None => self.open_outside(spec),
        }
    }

    /// Records that the source of `spec` was opened elsewhere in its current state.
    pub(crate) fn note(&mut self, spec: &SourceSpec, opened: &FetchedSource) {
        self.opened.insert((spec.origin.clone(), OpenedAt::Now(spec.reference.clone())), opened.clone());
    }

    /// Returns what a person should know of the lists that the open sources have read, each warning once.
    pub(crate) fn take_warnings(&mut self) -> Vec<Warning> {
        let shelves = self.opened.values().filter_map(|opened| opened.shelf.as_ref());
        let warnings = shelves.flat_map(|shelf| shelf.take_warnings()).collect();
        self.tell(warnings)
    }

    /// Returns those of `warnings` that were not reported before.
    pub(crate) fn tell(&mut self, mut warnings: Vec<Warning>) -> Vec<Warning> {
        warnings.retain(|warning| {
            let is_new = !self.told.contains(warning);
            if is_new {
                self.told.push(warning.clone());
            }
            is_new
        });
        warnings
    }

    fn open_at(&mut self, origin: &Origin, at: OpenedAt) -> Result<FetchedSource> {
        let key = (origin.clone(), at);
        if let Some(opened) = self.opened.get(&key) {
            return Ok(opened.clone());
        }
        let wanted = match &key.1 {
            OpenedAt::Now(reference) => source::Wanted::Now(reference.as_ref()),
            OpenedAt::Locked(revision) => source::Wanted::Locked(revision),
        };
        let opened = source::open(self.context, self.scope.as_root(), origin, wanted)?;
        self.opened.insert(key, opened.clone());
        Ok(opened)
    }
}

/// Returns the question to a policy about `spec`.
pub(crate) fn asked(spec: &SourceSpec) -> PolicySubject<'_> {
    PolicySubject { origin: &spec.origin, path: spec.path.as_deref(), reference: spec.reference.as_ref() }
}
