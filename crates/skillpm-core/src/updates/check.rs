//! The check itself: policy, versions, sources.

use std::collections::BTreeSet;

use super::candidate::{Latest, Status, UpdateCandidate};
use super::failure::{CheckFailure, reference_gone};
use super::releases::complete;
use super::rules::{Aim, How, Rules};
use crate::admission::PolicySubject;
use crate::advice::Warning;
use crate::codes;
use crate::context::Context;
use crate::error::{Error, ErrorKind};
use crate::name::SkillName;
use crate::scope::Scope;
use crate::scope::state::Files;
use crate::source;
use crate::source::newest::{self, Answer, Query};

/// The answers about the skills of a scope.
#[derive(Debug)]
pub(crate) struct Check<'a> {
    /// The skills that were asked about, by name.
    pub candidates: Vec<UpdateCandidate<'a>>,
    /// Why nothing is known about some of them.
    pub failures: Vec<CheckFailure>,
    /// The warnings about the sources.
    pub warnings: Vec<Warning>,
}

/// Returns the skills of `files` that `given` names, or all if it is empty.
pub(crate) fn names<'a>(files: &'a Files, given: &[String]) -> BTreeSet<&'a SkillName> {
    let all = files.names();
    all.filter(|name| given.is_empty() || given.iter().any(|one| one == name.as_str())).collect()
}

/// Asks the sources of the skills `names` of `scope`, whose files are `files`, what they have now: each source once, and
/// without a download where ids reveal what changed. What cannot be known is a failure of the outcome.
pub(crate) fn check<'a>(
    context: &Context,
    scope: &Scope,
    files: &'a Files,
    names: impl IntoIterator<Item = &'a SkillName>,
    (rules, how): (&mut dyn Rules, &How),
) -> Check<'a> {
    let kept = files.kept();
    let candidate = |name: &'a SkillName| UpdateCandidate::new(files, name, kept.contains(name));
    let candidates = names.into_iter().map(candidate).collect();
    let (failures, warnings) = (Vec::new(), Vec::new());
    let mut checking = Checking { context, scope, files, rules, how, candidates, failures, warnings };
    let admitted = checking.admit();
    let asked = checking.decide(admitted);
    checking.ask(asked);
    let Checking { candidates, failures, warnings, .. } = checking;
    Check { candidates, failures, warnings }
}

struct Checking<'c, 'a> {
    context: &'c Context,
    scope: &'c Scope,
    files: &'a Files,
    rules: &'c mut dyn Rules,
    how: &'c How,
    candidates: Vec<UpdateCandidate<'a>>,
    failures: Vec<CheckFailure>,
    warnings: Vec<Warning>,
}

/// Returns the question to a policy about `candidate`.
fn subject<'c>(candidate: &'c UpdateCandidate<'_>) -> PolicySubject<'c> {
    // Of a skill that is locked from there, the directory is known.
    let locked = candidate.locked.filter(|_| candidate.status != Status::LockedOtherwise);
    let path = locked.map_or(candidate.entry.path.as_deref(), |locked| locked.path.as_deref());
    PolicySubject { origin: &candidate.entry.origin, path, reference: candidate.entry.reference.as_ref() }
}

impl Checking<'_, '_> {
    /// Returns the positions of the candidates whose sources can be asked: the policy admits them.
    fn admit(&mut self) -> Vec<usize> {
        let mut admitted = Vec::new();
        for (at, candidate) in self.candidates.iter_mut().enumerate() {
            if !matches!(candidate.status, Status::Unknown | Status::LockedOtherwise) {
                continue;
            }
            match self.rules.admit(subject(candidate)) {
                Ok(()) => admitted.push(at),
                Err(error) => {
                    candidate.status = Status::Refused;
                    self.failures.push(CheckFailure::refused(vec![at], error));
                }
            }
        }
        admitted
    }

    /// Completes those of `admitted` whose sources list several versions, and returns the others.
    fn decide(&mut self, admitted: Vec<usize>) -> Vec<usize> {
        let (listed, others): (Vec<_>, Vec<_>) =
            admitted.into_iter().partition(|at| self.candidates[*at].entry.released().is_some());
        if listed.is_empty() {
            return others;
        }
        let asked: Vec<_> = listed.iter().map(|at| &self.candidates[*at]).collect();
        match self.rules.decide(self.files, &asked, self.how) {
            Ok(warnings) => self.warnings.extend(warnings),
            Err(error) => {
                self.unreachable(&listed, error);
                return others;
            }
        }
        for at in listed {
            let candidate = &mut self.candidates[at];
            if candidate.status != Status::Unknown {
                continue;
            }
            match self.rules.releases(candidate) {
                Ok(releases) => complete(candidate, self.files, &releases, (&*self.rules, self.how)),
                Err(error) => self.unreachable(&[at], error),
            }
        }
        others
    }

    /// Asks the sources of the candidates `asked`.
    fn ask(&mut self, asked: Vec<usize>) {
        let tells = |at: &usize| self.candidates[*at].status == Status::Unknown;
        let (asked, otherwise): (Vec<usize>, Vec<usize>) = asked.into_iter().partition(tells);
        let query = |at: &usize| {
            let UpdateCandidate { name, locked, .. } = &self.candidates[*at];
            Some(Query::new((*locked)?, self.files.manifest.skills().get(*name)))
        };
        let queries: Vec<_> = asked.iter().filter_map(query).collect();
        for answer in newest::ask(self.context, self.scope.as_root(), &queries, self.how.past) {
            let Answer { at, newest, latest } = answer;
            let at: Vec<usize> = at.into_iter().map(|at| asked[at]).collect();
            match newest {
                Ok(newest) => {
                    for (at, newest) in at.iter().zip(newest) {
                        self.take(*at, newest);
                    }
                }
                Err(error) => self.without_answer(&at, error),
            }
            match latest {
                Ok(latest) => {
                    for at in at {
                        self.candidates[at].latest = latest.clone().map(Latest::from);
                    }
                }
                Err(error) if self.is_silent(&error) => {}
                Err(error) => self.failed(&at, error),
            }
        }
        if self.how.aim == Aim::Latest {
            for at in otherwise {
                self.ask_past(at);
            }
        }
    }

    /// Asks what is past the reference of the candidate `at`, which is locked from elsewhere.
    fn ask_past(&mut self, at: usize) {
        let candidate = &mut self.candidates[at];
        let (origin, reference) = (&candidate.entry.origin, candidate.entry.reference.as_ref());
        match newest::latest(self.context, self.scope.as_root(), origin, reference) {
            Ok(latest) => candidate.latest = latest.map(Latest::from),
            Err(error) => self.failed(&[at], error),
        }
    }

    /// Takes in what the source of the candidate `at` says.
    fn take(&mut self, at: usize, newest: newest::NewestRevision) {
        let candidate = &mut self.candidates[at];
        candidate.newest = newest.revision;
        candidate.status = newest.files.into();
        if newest.files == newest::Files::Moved {
            candidate.moved_to = self.rules.moved_to(candidate);
            candidate.status = if candidate.moved_to.is_some() { Status::Moved } else { Status::Gone };
        }
        if matches!(candidate.status, Status::Changed | Status::Moved | Status::Unknown) {
            match self.rules.held_back(subject(candidate), candidate.newest.as_deref()) {
                Ok(reason) => candidate.held_back = reason,
                Err(error) if self.is_silent(&error) => {}
                Err(error) => self.failed(&[at], error),
            }
        }
    }

    /// Takes in that the source of the candidates `at` gave no answer.
    fn without_answer(&mut self, at: &[usize], error: Error) {
        if error.code() != codes::REVISION_UNKNOWN {
            return self.unreachable(at, error);
        }
        self.set(at, Status::RefGone);
        let Some(first) = at.first().map(|at| &self.candidates[*at]) else { return };
        let here = source::here(&self.context.settings, self.scope.as_root(), &first.entry.origin);
        let origin = here.as_ref().unwrap_or(&first.entry.origin);
        let reference = first.entry.reference.as_ref();
        let asked_for = |one: &&UpdateCandidate<'_>| !self.files.is_only_needed(one.name);
        let asked_for = at.iter().map(|at| &self.candidates[*at]).any(|one| asked_for(&one));
        let error = match reference {
            Some(reference) => reference_gone(self.scope.kind, (origin, reference), asked_for, &error),
            None => error,
        };
        self.failures.push(CheckFailure::refused(at.to_vec(), error));
    }

    /// Takes in that the source of the candidates `at` could not be asked.
    fn unreachable(&mut self, at: &[usize], error: Error) {
        let status = if self.is_silent(&error) { Status::NotAsked } else { Status::Failed };
        self.set(at, status);
        self.failed(at, error);
    }

    fn failed(&mut self, at: &[usize], error: Error) {
        let source = at.first().map(|at| self.candidates[*at].entry.origin.typed());
        CheckFailure::add(&mut self.failures, source.unwrap_or_default(), at, error);
    }

    fn set(&mut self, at: &[usize], status: Status) {
        for at in at {
            self.candidates[*at].status = status;
        }
    }

    /// Reports whether `error` only means that the user allowed no network.
    fn is_silent(&self, error: &Error) -> bool {
        self.context.settings.offline && error.kind() == ErrorKind::Network
    }
}
