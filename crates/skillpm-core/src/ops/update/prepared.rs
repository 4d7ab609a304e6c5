//! An update as it is shown before anything is changed.

use std::collections::BTreeSet;

use super::edits::DIGITS;
use super::find::{FoundUpdates, UpdateJob, Work};
use super::outcome::{UpdateChange, UpdateOutcome};
use super::request::UpdateRequest;
use crate::advice::{Call, Opt, Warning, message};
use crate::change::consent::refusal;
use crate::codes;
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::reporter::Choice;
use crate::resolve::graph::closure;
use crate::scope::Scope;
use crate::scope::state::Files;
use crate::text::visible_name;

/// The number of skills that are named in the command of a hint.
const MOST_NAMED: usize = 8;

/// The newer versions in the sources, before anything is changed.
pub struct Prepared<'a> {
    /// The context of the update.
    pub(super) context: &'a Context,
    /// The request.
    pub(super) request: &'a UpdateRequest,
    /// Where the skills are.
    pub(super) scope: Scope,
    /// Manifest and lockfile, as they were when the sources were asked.
    pub(super) files: Files,
    /// The updates and the other findings.
    pub(super) found: FoundUpdates,
    /// Skills that bring new capabilities and may not.
    pub(super) refused: Vec<SkillName>,
}

impl Prepared<'_> {
    /// Reports whether there is anything to change.
    pub fn is_empty(&self) -> bool {
        self.found.jobs.is_empty()
    }

    /// Returns what a person should know before anything is changed.
    pub fn warnings(&self) -> &[Warning] {
        &self.found.warnings
    }

    /// Returns how many skills get a new version.
    pub fn new_versions(&self) -> usize {
        self.found.jobs.iter().filter(|job| job.new_version().is_some()).count()
    }

    /// Returns what is to be done.
    pub fn request(&self) -> &UpdateRequest {
        self.request
    }

    /// Returns the skills with a new version, for a person who picks some of them, as `outcome` plans them. Those with new
    /// capabilities without consent are not picked beforehand, and neither are those that would have conflicts.
    pub fn choices(&self, outcome: &UpdateOutcome) -> Vec<Choice> {
        let choice = |job: &UpdateJob| {
            let Work::New(newer) = &job.work else { return None };
            let version = |locked: &Locked| {
                locked
                    .version
                    .clone()
                    .or_else(|| Some(locked.revision.as_ref()?.chars().take(DIGITS).collect()))
            };
            let versions = match (version(&newer.old), version(&newer.new)) {
                (Some(old), Some(new)) if old != new => format!("{old} -> {new}, "),
                _ => String::new(),
            };
            let what = match job.new_capabilities() {
                0 => "no new capabilities".to_owned(),
                1 => "1 new capability".to_owned(),
                number => format!("{number} new capabilities"),
            };
            let planned = outcome.skills.iter().find(|skill| skill.name == job.name.as_str());
            let conflicts = planned.is_some_and(|skill| skill.change == UpdateChange::Conflict);
            let place = planned.and_then(|skill| skill.state.moved_to.as_deref());
            let place = place.map_or(String::new(), |place| format!(", moved to `{}`", visible_name(place)));
            let edits = if conflicts { ", conflicts with your edits" } else { "" };
            let picked = !conflicts && !self.refused.contains(&job.name);
            Some(Choice {
                picked,
                ..Choice::new(job.name.as_str(), &format!("{versions}{what}{place}{edits}"))
            })
        };
        self.found.jobs.iter().filter_map(choice).collect()
    }

    /// With the new capabilities agreed to that were in `seen`, which a person has examined.
    #[must_use]
    pub fn agreed(mut self, seen: &Self) -> Self {
        let seen = seen.versions();
        let jobs = &self.found.jobs;
        self.refused
            .retain(|name| !jobs.iter().any(|job| job.name == *name && seen.contains(&job.version())));
        self
    }

    /// Reports whether manifest and lockfile say the same as before of what is to be changed. Other skills may have
    /// been changed meanwhile: the plan is made again.
    pub(super) fn still_holds(&self, now: &Files) -> bool {
        let mut names = self.found.jobs.iter().map(|job| &job.name).chain(&self.found.resolved);
        names.all(|name| {
            self.files.manifest.skills().get(name) == now.manifest.skills().get(name)
                && self.files.lock.skills.get(name) == now.lock.skills.get(name)
        })
    }

    /// Returns the new versions, as a person has seen them.
    fn versions(&self) -> BTreeSet<(SkillName, Digest)> {
        self.found.jobs.iter().map(UpdateJob::version).collect()
    }

    /// Refuses new capabilities without consent.
    pub(super) fn check_capabilities(&self) -> Result<()> {
        if self.refused.is_empty() {
            return Ok(());
        }
        let quoted: Vec<_> = self.refused.iter().map(|name| format!("`{name}`")).collect();
        let only: Vec<_> = self.refused.iter().map(SkillName::as_str).collect();
        let comes = |name: &SkillName| !self.files.lock.skills.contains_key(name);
        let error = if self.refused.iter().any(comes) {
            let what = format!("{} can do what was not allowed", quoted.join(", "));
            Error::new(ErrorKind::Findings, what).coded(codes::NEW_CAPABILITY)
        } else {
            refusal(&only)
        };
        let update = || Call { scope: Some(self.scope.kind), ..self.request.call() };
        let error = error.hint(message!(
            "nothing was changed; review the lines marked `!`, then run ",
            update().words(&self.request.names).option(Opt::AllowNewCapabilities, only.join(","))
        ));
        let rest = self.unsuspicious();
        Err(if rest.is_empty() {
            error
        } else {
            let updates = if rest.len() == 1 { "the other one" } else { "the others" };
            error.hint(message!(update().words(rest), format_args!(" updates {updates}")))
        })
    }

    /// Returns the skills that could be updated without those that bring new capabilities, where it is few enough to
    /// name them.
    fn unsuspicious(&self) -> Vec<&str> {
        let free = self.found.jobs.iter().filter(|job| self.is_unsuspicious(job));
        let names: Vec<_> = free.map(|job| job.name.as_str()).collect();
        if names.len() > MOST_NAMED { Vec::new() } else { names }
    }

    fn is_unsuspicious(&self, job: &UpdateJob) -> bool {
        let lock = |name: &SkillName| match self.found.jobs.iter().find(|job| job.name == *name) {
            Some(job) => Some(job.locks()),
            None => self.files.lock.skills.get(name),
        };
        matches!(job.work, Work::New(_))
            && closure([&job.name], lock).iter().all(|needed| !self.refused.contains(needed))
    }
}
