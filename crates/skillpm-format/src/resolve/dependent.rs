//! Skills that depend on others, and skills that satisfy dependencies.

use super::declared::{Declared, declared};
use crate::name::SkillName;
use crate::skill::SkillMeta;
use crate::spec::SourceSpec;

/// A skill whose dependencies are to be resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependent {
    /// The name under which it is installed.
    pub name: SkillName,
    /// Its source and reference, and its directory in that source.
    pub place: SourceSpec,
    /// The locked revision at which its source is read; `None` reads its current state.
    pub revision: Option<String>,
    /// The version that it declares.
    pub version: Option<String>,
    /// The dependencies that it declares.
    pub declared: Vec<Declared>,
    /// Whether it is a link to a directory, about which the lockfile records nothing.
    pub editable: bool,
}

/// A skill that is installed from outside of registries, or from a registry under another name than its own.
#[derive(Debug, Clone)]
pub struct Installed {
    /// The name under which it is installed.
    pub name: SkillName,
    /// Its source and reference, and its directory in that source.
    pub place: SourceSpec,
    /// The version that it declares.
    pub version: Option<String>,
    /// Whether the user requested it.
    pub by_user: bool,
    /// The names of the skills that it depends on, according to the lockfile.
    pub dependencies: Vec<SkillName>,
    /// Whether it may limit the versions of skills of registries, so that its declarations have to be read.
    pub limits: bool,
    /// Whether the skills that need it come from another reference of its source now, so that it comes from there too if
    /// that has it.
    pub follows: bool,
}

impl Dependent {
    /// Returns the skill that `place` currently contains and that is to be installed as `name`. A skill without `meta`
    /// depends on nothing.
    pub fn new(name: SkillName, place: SourceSpec, meta: Option<&SkillMeta>) -> Self {
        Self {
            name,
            place,
            revision: None,
            version: meta.and_then(|meta| meta.version.clone()),
            declared: meta.map(declared).unwrap_or_default(),
            editable: false,
        }
    }

    /// Reports whether it depends on nothing.
    pub fn is_independent(&self) -> bool {
        self.declared.is_empty()
    }
}

/// Reports whether the skill `name`, which comes from `place`, is the one that `spec` means: it has the same source,
/// reference and directory. If `spec` names a skill rather than a directory, the names are compared.
pub fn comes_from(name: &SkillName, place: &SourceSpec, spec: &SourceSpec) -> bool {
    let text = |spec: &SourceSpec| spec.reference.as_ref().map(ToString::to_string);
    let is_it = match (&spec.path, &spec.skill) {
        (path, None) => *path == place.path,
        (None, Some(skill)) => *skill == *name.as_str(),
        (Some(_), Some(_)) => false,
    };
    place.origin == spec.origin && text(place) == text(spec) && is_it
}
