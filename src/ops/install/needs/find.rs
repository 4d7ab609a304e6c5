//! What one entry means: a skill that is there, or one that is to come.

use semver::VersionReq;

use super::place::{deliver, place_of, settle};
use super::values::{Hold, There};
use super::{Found, Needer, Needs};
use crate::advice::{Verb, Warning, message};
use crate::error::{Error, ErrorKind, Result};
use crate::name::SkillName;
use crate::ops::install::restore::Worker;
use crate::ops::install::select::{candidates, install_name, select};
use crate::requirement::Requirement;
use crate::resolve::declared::Declared;
use crate::source::discover::Candidate;
use crate::spec::SourceSpec;
use crate::version::Version;

impl Needs {
    /// A skill that is needed by its name: what is there or comes, else what the source of `needer` has.
    pub(super) fn named(
        &mut self,
        worker: &mut Worker<'_>,
        needer: &Needer,
        text: &str,
        name: &SkillName,
        range: Option<&VersionReq>,
    ) -> Result<Found> {
        if let Some(there) = self.there(name) {
            let (name, version) = (there.name.clone(), there.version.clone());
            if !meets(range, version.as_ref()) {
                let is = told(version.as_ref());
                let told = format!("`{}` needs `{text}`, but the installed version is {is}", needer.name);
                self.warnings.push(Warning::new("dependency-out-of-range", told));
            }
            return Ok(Found::There(name));
        }
        let whole = SourceSpec { path: None, skill: None, ..needer.place.clone() };
        let opened = worker.opened_for(&whole, needer.revision.as_deref())?;
        // That the source lists no skills at all is nothing that was asked.
        let listed = candidates(&opened, &whole).unwrap_or_default();
        let is_it = |one: &&Candidate| install_name(one, &opened.name).is_ok_and(|own| own == *name);
        let all: Vec<&Candidate> = listed.iter().filter(is_it).collect();
        let fit =
            |one: &&Candidate| meets(range, one.meta.as_ref().ok().and_then(|meta| meta.version.as_ref()));
        // A site tells no versions until a skill is fetched.
        if let [one] = all[..]
            && (opened.shelf.is_some() || fit(&one))
        {
            let pick = deliver(worker, whole.clone(), opened.clone(), one.clone())?;
            if fit(&&pick.candidate) {
                return Ok(Found::Pick(Box::new(pick)));
            }
        }
        if !self.has_the_user(worker.context(), worker.scope(), name) {
            let source = needer.place.origin.typed();
            let has = match all[..] {
                [one] => told(one.meta.as_ref().ok().and_then(|meta| meta.version.as_ref())),
                [] => "no such skill".to_owned(),
                _ => "more than one of that name".to_owned(),
            };
            let told = message!(
                format_args!(
                    "`{}` needs `{text}`, which is not installed, and `{source}` has {has}: ",
                    needer.name
                ),
                Verb::Install.within(worker.scope().kind).word("SOURCE"),
                " installs it"
            );
            self.warnings.push(Warning::new("dependency-missing", told));
        }
        Ok(Found::Nothing)
    }

    /// Warns where what comes is out of a range that `needer` has, which stays as it is.
    pub(in crate::ops) fn of_unchanged(&mut self, needer: &Needer) {
        for Declared { text, requirement } in &needer.needs {
            let Ok(Requirement::Named { name, range }) = requirement else { continue };
            let Some(there) = self.coming.get(&name.collision_key()) else { continue };
            if !meets(range.as_ref(), there.version.as_ref()) {
                let is = told(there.version.as_ref());
                let told = format!("`{}` needs `{text}`, but `{name}` now has {is}", needer.name);
                self.warnings.push(Warning::new("dependency-out-of-range", told));
            }
        }
    }

    /// A skill that is needed from the source `spec`, as it was written.
    pub(super) fn source(
        &mut self,
        worker: &mut Worker<'_>,
        needer: &Needer,
        spec: &SourceSpec,
    ) -> Result<Found> {
        let (spec, revision) = settle(worker, needer, spec)?;
        let is_it = |there: &&There| there.is_from(&spec);
        let known = self.coming.values().find(is_it).or_else(|| {
            self.installed
                .values()
                .filter(|one| !self.coming.contains_key(&one.name.collision_key()))
                .find(is_it)
        });
        if let Some(there) = known {
            return Ok(Found::There(there.name.clone()));
        }
        let opened = worker.opened_for(&spec, revision)?;
        let found = candidates(&opened, &spec)?;
        let names: Vec<String> = spec.skill.iter().cloned().collect();
        if found.len() > 1 && names.is_empty() {
            return Err(Error::usage(format!(
                "`{spec}` has {} skills, but the dependency names none",
                found.len()
            ))
            .hint(format!("the author of `{}` must name one, as in `{spec}@NAME`", needer.name)));
        }
        let chosen = select(worker.context(), &spec, &opened, found, &names, true)?;
        let [one] = &chosen[..] else {
            return Err(Error::usage(format!("`{spec}` has no skill")));
        };
        let origin = opened.typed_here(&spec.origin).clone();
        let pick = deliver(worker, spec.clone(), opened, one.clone())?;
        let Some(there) = self.there(&pick.name) else { return Ok(Found::Pick(Box::new(pick))) };
        if there.is_from(&place_of(&spec, &pick.candidate.path)) {
            return Ok(Found::There(there.name.clone()));
        }
        let by = match &there.hold {
            Hold::Asked => {
                let (name, is) = (there.name.clone(), there.source());
                let told = format!(
                    "`{}` needs `{name}` from `{spec}`; kept the one that you requested, from {is}",
                    needer.name
                );
                self.warnings.push(Warning::new("dependency-elsewhere", told));
                return Ok(Found::There(name));
            }
            Hold::Needed(by) => by.iter().filter(|by| **by != needer.name && self.is_live(by, &there.name)),
        };
        let by: Vec<_> = by.map(|by| format!("`{by}`")).collect();
        if by.is_empty() {
            return Ok(Found::Pick(Box::new(pick)));
        }
        Err(Error::new(
            ErrorKind::Findings,
            format!("{} needs `{}` from {}", by.join(", "), there.name, there.source()),
        )
        .hint(message!(
            "install the one that both can use: ",
            Verb::Install.call().word(SourceSpec { origin, ..spec }.to_string()),
            " or the other source"
        )))
    }
}

/// Whether `version` is in `range`, where there is one.
fn meets(range: Option<&VersionReq>, version: Option<&String>) -> bool {
    range.is_none_or(|range| {
        version.and_then(|text| Version::new(text).ok()).is_some_and(|v| range.matches(v.number()))
    })
}

/// A version in words.
fn told(version: Option<&String>) -> String {
    version.map_or("a version that it does not declare".to_owned(), |version| format!("version {version}"))
}
