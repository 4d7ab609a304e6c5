//! Where what is needed lies: a path of the same source, a place of this machine, or an address.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::values::There;
use super::{Needer, Pick};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::install::plan::requirement_of;
use crate::install::scope::Scope;
use crate::install::state::Files;
use crate::name::SkillName;
use crate::ops::install::restore::{Worker, spec_of};
use crate::ops::install::select::install_name;
use crate::path::normal;
use crate::source::discover::Candidate;
use crate::source::{Opened, local, settled};
use crate::spec::{Origin, SourceSpec};

/// The skill in the directory `path` of the source `spec`.
pub(super) fn place_of(spec: &SourceSpec, path: &str) -> SourceSpec {
    let path = Some(path.to_owned()).filter(|path| !path.is_empty());
    SourceSpec { path, skill: None, ..spec.clone() }
}

/// Where `spec` leads that `needer` names, and at which revision its source is looked into. A path leads from
/// the directory of the skill to another one of its source.
///
/// # Errors
///
/// A path out of the source, for all but skills of this machine, where it may lead to any directory.
pub(super) fn settle<'a>(
    worker: &Worker<'_>,
    needer: &'a Needer,
    spec: &SourceSpec,
) -> Result<(SourceSpec, Option<&'a str>)> {
    Ok(match inside(&needer.place, spec) {
        Some(sibling) => (sibling, needer.revision.as_deref()),
        None => (outside(worker.context(), worker.scope(), &needer.place, spec)?, None),
    })
}

/// The skill of the source of the skill `own` to which the path `spec` leads from there.
fn inside(own: &SourceSpec, spec: &SourceSpec) -> Option<SourceSpec> {
    let text = spec.origin.local_path()?;
    join(own.path.as_deref().unwrap_or_default(), text).map(|path| place_of(own, &path))
}

/// Where `spec` leads from the skill `own`, to a place that is not in the source of that.
fn outside(context: &Context, scope: &Scope, own: &SourceSpec, spec: &SourceSpec) -> Result<SourceSpec> {
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

/// The directory of the skill `place`, where its source is a path of this machine.
///
/// # Errors
///
/// As [`local::resolve`].
fn directory(context: &Context, scope: &Scope, place: &SourceSpec) -> Result<Option<PathBuf>> {
    let Some(root) = place.origin.local_path() else { return Ok(None) };
    let root = local::resolve(&context.settings, scope.as_root(), root)?;
    Ok(Some(root.join(place.path.as_deref().unwrap_or_default())))
}

/// Where the skills of a scope come from, to find the ones that texts mean.
pub(in crate::ops) struct Installed<'a> {
    context: &'a Context,
    scope: &'a Scope,
    files: &'a Files,
    places: BTreeMap<&'a SkillName, SourceSpec>,
    /// Those that come from a directory of this machine: its path may be written in several ways.
    directories: BTreeMap<PathBuf, &'a SkillName>,
}

impl<'a> Installed<'a> {
    /// Those of `files`.
    pub(in crate::ops) fn new(context: &'a Context, scope: &'a Scope, files: &'a Files) -> Self {
        let locked = files.lock.skills.iter().map(|(name, locked)| (name, spec_of(&requirement_of(locked))));
        let editable = files.manifest.skills().iter().filter(|(_, entry)| entry.editable);
        // What was locked before it became editable comes from elsewhere now.
        let places: BTreeMap<_, _> =
            locked.chain(editable.map(|(name, entry)| (name, spec_of(entry)))).collect();
        let directory = |place: &SourceSpec| directory(context, scope, place).ok().flatten();
        let directories = places.iter().filter_map(|(name, place)| Some((normal(&directory(place)?), *name)));
        Self { context, scope, files, directories: directories.collect(), places }
    }

    /// The skill that `spec` means, which the skill `needer` names; `None` where there is none, or only the source
    /// could tell which.
    pub(in crate::ops) fn find(&self, needer: &SkillName, spec: &SourceSpec) -> Option<&'a SkillName> {
        let Self { context, scope, .. } = self;
        let own = self.places.get(needer)?;
        if let (Some(text), Some(from)) = (spec.origin.local_path(), directory(context, scope, own).ok()?) {
            let target = if text.starts_with('~') {
                local::resolve(&context.settings, scope.as_root(), text).ok()?
            } else {
                from.join(text)
            };
            return self.directories.get(&normal(&target)).copied();
        }
        let spec = match inside(own, spec) {
            Some(sibling) => sibling,
            None => outside(context, scope, own, spec).ok()?,
        };
        let mut all = self.places.iter();
        if let Some((name, _)) = all.find(|(name, place)| There::at(name, place).is_from(&spec)) {
            return Some(name);
        }
        // Of the only skill of a source the text does not say the directory; it is locked who was found there.
        let is_alone = spec.path.is_none() && spec.skill.is_none();
        let needed = &self.files.lock.skills.get(needer).filter(|_| is_alone)?.dependencies;
        let needed = needed.iter().filter_map(|text| self.places.get_key_value(&SkillName::new(text).ok()?));
        let mut found = needed.filter(|(name, place)| {
            There::at(name, &SourceSpec { path: None, ..(*place).clone() }).is_from(&spec)
        });
        let (name, _) = found.next()?;
        found.next().is_none().then_some(*name)
    }
}

/// The directory to which the relative path `text` leads from `dir`, if that is inside the source.
fn join(dir: &str, text: &str) -> Option<String> {
    if !text.starts_with('.') || text.contains(['\\', '\0']) {
        return None;
    }
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Takes `candidate` of `opened` if the policy lets it in.
pub(super) fn deliver(
    worker: &mut Worker<'_>,
    spec: SourceSpec,
    opened: Opened,
    candidate: Candidate,
) -> Result<Pick> {
    worker.admit_now(&place_of(&spec, &candidate.path))?;
    let (opened, candidate) = match opened.deliver(&candidate)? {
        Some(delivered) => delivered,
        None => (opened, candidate),
    };
    let name = install_name(&candidate, &opened.name)?;
    Ok(Pick { name, spec: SourceSpec { skill: None, ..spec }, opened, candidate })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_its_source() {
        let join = |dir, text| join(dir, text);
        assert_eq!(join("skills/report", "../base").as_deref(), Some("skills/base"));
        assert_eq!(join("report", "../").as_deref(), Some(""));
        assert_eq!(join("", "./skills//a/./b/..").as_deref(), Some("skills/a"));
        for out in ["../../../base", "../../x/../..", "/etc", "~/x", "..\\base", "./a\0"] {
            assert_eq!(join("skills/report", out), None, "{out:?}");
        }
    }
}
