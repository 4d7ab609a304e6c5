//! Resolves a declared dependency to an installed skill, and to an address.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::context::Context;
use crate::document::Document;
use crate::error::{Error, Result};
use crate::fetch::fetcher::spec_of;
use crate::fetch::policy_check::skill_file;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::path::normal;
use crate::resolve::{Dependent, comes_from, sibling};
use crate::scope::Scope;
use crate::scope::state::Files;
use crate::skill;
use crate::source::{local, settled};
use crate::spec::{Origin, SourceSpec};
use crate::tree::FileSet;

/// Resolves `spec`, which the skill `own` declares, to a place outside the source of that skill.
pub(crate) fn outside(
    context: &Context,
    scope: &Scope,
    own: &SourceSpec,
    spec: &SourceSpec,
) -> Result<SourceSpec> {
    if let (Some(text), Some(from)) = (spec.origin.local_path(), directory(context, scope, own)?) {
        let origin =
            if text.starts_with('~') { text.to_owned() } else { from.join(text).display().to_string() };
        let origin = settled(context, scope.as_root(), Origin::local(origin))?;
        return Ok(SourceSpec { origin, ..spec.clone() });
    }
    if spec.origin.path_here().is_some() && own.origin.path_here().is_none() {
        return Err(Error::integrity(format!(
            "it leads out of `{}`, to another path on this machine",
            own.origin.typed()
        ))
        .hint("a skill may need what is in its own source, or what has an address that others can reach"));
    }
    let origin = settled(context, scope.as_root(), spec.origin.clone())?;
    Ok(SourceSpec { origin, ..spec.clone() })
}

/// Returns the skill that is installed as `locked` and has the files `set`, in order to resolve its
/// dependencies. Returns `None` if it cannot be loaded.
pub(crate) fn locked_dependent(
    name: &SkillName,
    locked: &Locked,
    set: &FileSet,
) -> Result<Option<Dependent>> {
    let Some(file) = skill_file(set) else { return Ok(None) };
    let document = Document::from_bytes(set.read(file)?);
    let Ok(loaded) = skill::load_in(&document, Some(name.as_str())) else { return Ok(None) };
    let Requirement { origin, path, reference, .. } = locked.requirement();
    let place = SourceSpec { origin, path, reference, skill: None };
    let dependent = Dependent::new(name.clone(), place, Some(&loaded.meta));
    Ok(Some(Dependent { revision: locked.revision.clone(), ..dependent }))
}

/// Returns the directory of the skill `place`, if its source is a path on this machine.
fn directory(context: &Context, scope: &Scope, place: &SourceSpec) -> Result<Option<PathBuf>> {
    let Some(root) = place.origin.local_path() else { return Ok(None) };
    let root = local::resolve(&context.settings, scope.as_root(), root)?;
    Ok(Some(root.join(place.path.as_deref().unwrap_or_default())))
}

/// The origins of the skills of a scope, for finding the skills that dependencies mean.
pub(crate) struct InstalledOrigins<'a> {
    context: &'a Context,
    scope: &'a Scope,
    files: &'a Files,
    places: BTreeMap<&'a SkillName, SourceSpec>,
    /// The skills from directories on this machine, whose paths may be written in several ways.
    directories: BTreeMap<PathBuf, &'a SkillName>,
}

impl<'a> InstalledOrigins<'a> {
    /// Returns the origins of the skills in `files`.
    pub(crate) fn new(context: &'a Context, scope: &'a Scope, files: &'a Files) -> Self {
        let locked = files.lock.skills.iter().map(|(name, locked)| (name, spec_of(&locked.requirement())));
        let editable = files.manifest.skills().iter().filter(|(_, entry)| entry.editable);
        // A skill that was locked before it became editable now comes from elsewhere.
        let places: BTreeMap<_, _> =
            locked.chain(editable.map(|(name, entry)| (name, spec_of(entry)))).collect();
        let directory = |place: &SourceSpec| directory(context, scope, place).ok().flatten();
        let directories = places.iter().filter_map(|(name, place)| Some((normal(&directory(place)?), *name)));
        Self { context, scope, files, directories: directories.collect(), places }
    }

    /// Returns the skill that `spec` means, which the skill `dependent` declares. Returns `None` if there is
    /// none, or only the source could tell which.
    pub(crate) fn find(&self, dependent: &SkillName, spec: &SourceSpec) -> Option<&'a SkillName> {
        let Self { context, scope, .. } = self;
        let own = self.places.get(dependent)?;
        if let (Some(text), Some(from)) = (spec.origin.local_path(), directory(context, scope, own).ok()?) {
            let target = if text.starts_with('~') {
                local::resolve(&context.settings, scope.as_root(), text).ok()?
            } else {
                from.join(text)
            };
            return self.directories.get(&normal(&target)).copied();
        }
        let spec = match sibling(own, spec) {
            Some(sibling) => sibling,
            None => outside(context, scope, own, spec).ok()?,
        };
        let mut all = self.places.iter();
        if let Some((name, _)) = all.find(|(name, place)| comes_from(name, place, &spec)) {
            return Some(name);
        }
        // For the only skill of a source, the text does not state the directory; the lockfile records the skill that
        // was found.
        let is_alone = spec.path.is_none() && spec.skill.is_none();
        let needed = &self.files.lock.skills.get(dependent).filter(|_| is_alone)?.dependencies;
        let needed = needed.iter().filter_map(|text| self.places.get_key_value(&SkillName::new(text).ok()?));
        let mut found = needed
            .filter(|(name, place)| comes_from(name, &SourceSpec { path: None, ..(*place).clone() }, &spec));
        let (name, _) = found.next()?;
        found.next().is_none().then_some(*name)
    }
}
