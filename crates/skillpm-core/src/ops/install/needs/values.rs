//! Skills that need others, and those that are there or come.

use std::collections::BTreeSet;

use super::place::place_of;
use crate::document::Document;
use crate::error::Result;
use crate::install::plan::requirement_of;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::install::restore::{Newest, skill_file};
use crate::resolve::declared::{Declared, declared};
use crate::skill;
use crate::source::Opened;
use crate::source::discover::Candidate;
use crate::spec::{Origin, SourceSpec};
use crate::tree::FileSet;

/// A skill that comes, of which is looked at what it needs.
#[derive(Debug, Clone)]
pub(in crate::ops) struct Needer {
    /// The name under which it is installed.
    pub(in crate::ops) name: SkillName,
    /// Where it lies: its source and reference, and its directory in that.
    pub(super) place: SourceSpec,
    /// The revision of the lockfile at which its source is looked into; now where it is `None`.
    pub(super) revision: Option<String>,
    pub(super) version: Option<String>,
    pub(super) needs: Vec<Declared>,
    /// Whether it is a link to a directory, of which the lockfile says nothing.
    pub(super) editable: bool,
}

/// A skill that is to come because another one needs it, as its source delivered it.
#[derive(Debug)]
pub(in crate::ops) struct Pick {
    /// The name under which it is to be installed.
    pub(in crate::ops) name: SkillName,
    /// The source that has it.
    pub(super) spec: SourceSpec,
    pub(super) opened: Opened,
    pub(super) candidate: Candidate,
}

/// A skill that is there or comes.
#[derive(Debug, Clone)]
pub(super) struct There {
    pub(super) name: SkillName,
    pub(super) origin: Origin,
    pub(super) path: Option<String>,
    pub(super) requested: Option<String>,
    pub(super) version: Option<String>,
    pub(super) hold: Hold,
}

/// What keeps a skill as it is.
#[derive(Debug, Clone)]
pub(super) enum Hold {
    /// Somebody asked for it.
    Asked,
    /// These need it.
    Needed(BTreeSet<SkillName>),
}

impl Needer {
    /// The skill that was found as `candidate` in the source `spec` and comes as `name`.
    pub(in crate::ops) fn new(
        name: &SkillName,
        spec: &SourceSpec,
        candidate: &Candidate,
        editable: bool,
    ) -> Self {
        let meta = candidate.meta.as_ref().ok();
        Self {
            name: name.clone(),
            place: place_of(spec, &candidate.path),
            revision: None,
            version: meta.and_then(|meta| meta.version.clone()),
            needs: meta.map(declared).unwrap_or_default(),
            editable,
        }
    }

    /// Whether it needs nothing.
    pub(in crate::ops) fn is_content(&self) -> bool {
        self.needs.is_empty()
    }

    /// A skill that is installed as `locked` says, whose files are `set`; `None` where it cannot be loaded.
    ///
    /// # Errors
    ///
    /// Where its file cannot be read.
    pub(in crate::ops) fn locked(name: &SkillName, locked: &Locked, set: &FileSet) -> Result<Option<Self>> {
        let Some(file) = skill_file(set) else { return Ok(None) };
        let document = Document::from_bytes(set.read(file)?);
        let Ok(loaded) = skill::load_in(&document, Some(name.as_str())) else { return Ok(None) };
        let Requirement { origin, path, reference, .. } = requirement_of(locked);
        Ok(Some(Self {
            name: name.clone(),
            place: SourceSpec { origin, path, reference, skill: None },
            revision: locked.revision.clone(),
            version: loaded.meta.version.clone(),
            needs: declared(&loaded.meta),
            editable: false,
        }))
    }
}

impl Pick {
    /// What needs to be looked at of it next.
    pub(in crate::ops) fn needer(&self) -> Needer {
        Needer::new(&self.name, &self.spec, &self.candidate, false)
    }

    /// As an update and a restore take it.
    ///
    /// # Errors
    ///
    /// Files that no skill may have.
    pub(in crate::ops) fn newest(self) -> Result<Newest> {
        let own = self.candidate.meta.as_ref().ok().map(|meta| meta.name.clone());
        let own = own.filter(|own| own != self.name.as_str());
        Newest::new(self.spec, own, self.opened, self.candidate)
    }
}

impl There {
    pub(super) fn of(needer: &Needer, hold: Hold) -> Self {
        Self { version: needer.version.clone(), hold, ..Self::at(&needer.name, &needer.place) }
    }

    /// The skill `name` that comes from `place`.
    pub(super) fn at(name: &SkillName, place: &SourceSpec) -> Self {
        Self {
            name: name.clone(),
            origin: place.origin.clone(),
            path: place.path.clone(),
            requested: place.reference.as_ref().map(ToString::to_string),
            version: None,
            hold: Hold::Asked,
        }
    }

    /// Whether it comes from the source, reference and directory of `spec`. Where `spec` names a skill in place
    /// of a directory, names are compared.
    pub(super) fn is_from(&self, spec: &SourceSpec) -> bool {
        let requested = spec.reference.as_ref().map(ToString::to_string);
        let is_it = match (&spec.path, &spec.skill) {
            (path, None) => *path == self.path,
            (None, Some(skill)) => *skill == *self.name.as_str(),
            (Some(_), Some(_)) => false,
        };
        self.origin == spec.origin && self.requested == requested && is_it
    }

    /// Where it comes from, for people.
    pub(super) fn source(&self) -> String {
        let path = self.path.as_deref().map(|path| format!(", directory `{path}`")).unwrap_or_default();
        let reference = self.requested.as_deref().map(|text| format!(" at `{text}`")).unwrap_or_default();
        format!("`{}`{reference}{path}", self.origin.typed())
    }
}
