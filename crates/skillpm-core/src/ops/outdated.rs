//! `outdated`: finds the skills that have changed in their sources, without a download.

mod registries;
mod skill;

use std::collections::BTreeMap;

pub use self::skill::{OutdatedSkill, Status};
use super::absent::{no_longer_asked, not_installed, not_yet_installed};
use super::install::of_name;
use super::list::{ListRequest, ListedSkill, installed};
use super::policy_check::PolicyCheck;
use crate::admission::PolicySubject;
use crate::advice::{Opt, Verb, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::install::health::problem;
use crate::install::scope::{Scope, ScopeKind, Scopes};
use crate::install::state::Files;
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::source;
use crate::source::newest::{self, Query, ask};
use crate::spec::{Origin, Reference};

/// A request for skills that have changed in their sources.
#[derive(Debug, Clone, Default)]
pub struct OutdatedRequest {
    /// The skills; all if empty.
    pub names: Vec<String>,
    /// The scope; `None` means both.
    pub scope: Option<ScopeKind>,
}

/// The outcome: the state of the skills in their sources.
#[derive(Debug, Default)]
pub struct OutdatedOutcome {
    /// The requested skills, project before user, then by name.
    pub skills: Vec<OutdatedSkill>,
    /// Why sources could not be queried.
    pub failures: Vec<Error>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

impl OutdatedOutcome {
    /// Returns the kind of failure to exit with, if any: network failures come first.
    pub fn failed(&self) -> Option<ErrorKind> {
        let network = |error: &&Error| error.kind() == ErrorKind::Network;
        self.failures.iter().find(network).or(self.failures.first()).map(Error::kind)
    }
}

/// Queries the sources of the installed skills for their current versions. Changes nothing, and downloads
/// nothing if an id or a tag is enough.
///
/// # Errors
///
/// Fails for a manifest, lockfile or policy that cannot be read, and for a name that is not installed. A
/// source that cannot be queried is not an error: the outcome says why, and contains the others.
pub fn outdated(context: &Context, request: &OutdatedRequest) -> Result<OutdatedOutcome> {
    let listed = installed(context, &ListRequest { scope: request.scope })?;
    let mut outcome = OutdatedOutcome { warnings: listed.warnings, ..OutdatedOutcome::default() };
    let mut known = Vec::new();
    let mut scopes = Vec::new();
    // `list` has reported the missing ones.
    for scope in Scopes::new(&context.settings, request.scope)?.there {
        let files = Files::read(&scope)?;
        known.extend(files.manifest.skills().keys().chain(files.lock.skills.keys()).cloned());
        scopes.push((scope, files));
    }
    for name in &request.names {
        if known.iter().all(|known| known.as_str() != name) {
            return Err(not_installed(request.scope, name, known.iter().map(SkillName::as_str)));
        }
    }
    for (scope, files) in &scopes {
        let here = listed.skills.iter().filter(|skill| skill.scope == scope.kind);
        let here: BTreeMap<&str, &ListedSkill> = here.map(|skill| (skill.name.as_str(), skill)).collect();
        ask_scope(context, scope, files, &here, &request.names, &mut outcome)?;
    }
    Ok(outcome)
}

fn ask_scope(
    context: &Context,
    scope: &Scope,
    files: &Files,
    listed: &BTreeMap<&str, &ListedSkill>,
    names: &[String],
    outcome: &mut OutdatedOutcome,
) -> Result<()> {
    let mut gate = PolicyCheck::new(context, scope, &files.manifest)?;
    let is_meant = |name: &SkillName| names.is_empty() || names.iter().any(|one| one == name.as_str());
    let first = outcome.skills.len();
    let kept = files.kept();
    let (mut queries, mut rows) = (Vec::new(), Vec::new());
    for (name, locked) in files.lock.skills.iter().filter(|(name, _)| is_meant(name)) {
        if !kept.contains(name) {
            outcome.warnings.push(no_longer_asked(scope.kind, name));
            continue;
        }
        let entry = files.manifest.skills().get(name);
        if entry.is_some_and(|entry| entry.editable) {
            continue;
        }
        // The locked version proves nothing about another skill.
        if let Some(entry) = entry.filter(|entry| !locked.is_skill_of(entry)) {
            let other = if entry.origin == locked.origin { "place in its source" } else { "source" };
            let told = message!(
                format_args!("`{name}` is locked from a {other} other than the one in the manifest: "),
                Verb::Install.within(scope.kind),
                " resolves it"
            );
            outcome.warnings.push(Warning::new(problem::LOCKED_OTHERWISE.id, told));
            continue;
        }
        let query = Query::new(locked, entry);
        let mut row = row(name, scope.kind, locked, &query);
        if let Some(skill) = listed.get(name.as_str()) {
            (row.modified, row.disabled) = (skill.modified, skill.disabled);
        }
        let (origin, path) = (&locked.origin, locked.path.as_deref());
        let reference = query.reference.clone();
        match gate.source(PolicySubject { origin, path, reference: reference.as_ref() }) {
            Ok(()) => {
                queries.push(query);
                rows.push(outcome.skills.len());
            }
            Err(error) => outcome.failures.push(error),
        }
        outcome.skills.push(row);
    }
    for (name, entry) in files.manifest.skills().iter().filter(|(name, _)| is_meant(name)) {
        if entry.editable {
            outcome.skills.push(editable(name, scope.kind, &entry.origin.to_string(), listed));
        } else if !files.lock.skills.contains_key(name) {
            outcome.warnings.push(not_yet_installed(scope.kind, name));
        }
    }
    let mut failures = Failures::default();
    let of_registry = |(row, query): (&usize, &Query<'_>)| query.locked.origin.has_versions().then_some(*row);
    let of_registries: Vec<usize> = rows.iter().zip(&queries).filter_map(of_registry).collect();
    ask_registries(context, scope, files, (&queries, &rows), outcome, &mut failures);
    let (queries, rows): (Vec<_>, Vec<_>) =
        queries.into_iter().zip(rows).filter(|(_, row)| !of_registries.contains(row)).unzip();
    for answer in ask(context, scope.as_root(), &queries, true) {
        let source = answer.at.first().map(|at| queries[*at].locked.origin.typed()).unwrap_or_default();
        let silent = |error: &Error| context.settings.offline && error.kind() == ErrorKind::Network;
        let found = match answer.newest {
            Ok(newest) => newest.into_iter().map(Some).collect(),
            Err(error) => {
                let status = match error.code() {
                    _ if silent(&error) => Status::NotAsked,
                    codes::REVISION_UNKNOWN => Status::RefGone,
                    _ => Status::Failed,
                };
                for at in &answer.at {
                    outcome.skills[rows[*at]].status = status;
                }
                match status {
                    Status::RefGone => {
                        let names: Vec<_> =
                            answer.at.iter().map(|at| outcome.skills[rows[*at]].name.clone()).collect();
                        let query = &queries[answer.at[0]];
                        let here = source::here(&context.settings, scope.as_root(), &query.locked.origin);
                        let origin = here.as_ref().unwrap_or(&query.locked.origin);
                        let place = (origin, query.reference.as_ref());
                        let error =
                            reference_gone(scope.kind, place, names.iter().map(String::as_str), error);
                        let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
                        let message = message!(quoted.join(", "), ": ", error.message());
                        outcome.failures.push(error.retold(message));
                    }
                    Status::Failed => failures.add(&source, error),
                    _ => {}
                }
                vec![None; answer.at.len()]
            }
        };
        let latest = match answer.latest {
            Ok(latest) => latest.as_ref().map(|latest| latest.name().to_owned()),
            Err(error) => {
                if !silent(&error) {
                    failures.add(&source, error);
                }
                None
            }
        };
        for (at, newest) in answer.at.iter().zip(found) {
            let row = &mut outcome.skills[rows[*at]];
            row.latest.clone_from(&latest);
            let Some(newest) = newest else { continue };
            let query = &queries[*at];
            let moved = query.locked.moved_tag(query.reference.as_ref(), newest.revision.as_deref());
            row.tag_moved = moved.is_some();
            row.newest = newest.revision;
            row.status = newest.files.into();
            if row.status == Status::Gone && may_have_moved(newest.files, &query.locked.origin) {
                row.moved_to = moved_to(context, scope, query, row);
                row.status = if row.moved_to.is_some() { Status::Moved } else { Status::Gone };
            }
            if matches!(row.status, Status::Changed | Status::Unknown) {
                let (origin, path) = (&query.locked.origin, query.locked.path.as_deref());
                let asked = PolicySubject { origin, path, reference: query.reference.as_ref() };
                match gate.held_back(context, asked, row.newest.as_deref()) {
                    Ok(reason) => row.held_back = reason,
                    Err(error) if silent(&error) => {}
                    Err(error) => failures.add(&source, error),
                }
            }
        }
    }
    outcome.failures.extend(failures.told());
    outcome.skills[first..].sort_by(|a, b| a.name.cmp(&b.name));
    Ok(())
}

/// Completes the rows of skills of registries.
fn ask_registries(
    context: &Context,
    scope: &Scope,
    files: &Files,
    (queries, rows): (&[Query<'_>], &[usize]),
    outcome: &mut OutdatedOutcome,
    failures: &mut Failures,
) {
    let query = |at: usize| rows.iter().position(|row| *row == at).map(|at| &queries[at]);
    let all = outcome.skills.iter_mut().enumerate().filter_map(|(at, row)| Some((row, query(at)?)));
    let mut ours: Vec<_> = all.filter(|(_, query)| query.locked.origin.has_versions()).collect();
    if let Err(error) = registries::compare(context, scope, files, &mut ours) {
        let is_silent = context.settings.offline && error.kind() == ErrorKind::Network;
        for (row, _) in &mut ours {
            row.status = if is_silent { Status::NotAsked } else { Status::Failed };
        }
        if let Some((row, _)) = ours.first().filter(|_| !is_silent) {
            failures.add(&row.source, error);
        }
    }
}

/// Reports whether a missing skill may be elsewhere in its source: GitHub answers that without a download.
fn may_have_moved(files: newest::Files, origin: &Origin) -> bool {
    match files {
        newest::Files::Moved => true,
        newest::Files::Gone => origin.hides_moves(),
        _ => false,
    }
}

/// Returns the new place in its source of the skill of `row`, which is no longer where it was. Only a
/// download tells.
fn moved_to(context: &Context, scope: &Scope, query: &Query<'_>, row: &OutdatedSkill) -> Option<String> {
    let locked = query.locked;
    let wanted = match &row.newest {
        Some(revision) => source::Wanted::Locked(revision),
        None => source::Wanted::Now(query.reference.as_ref()),
    };
    let opened = source::open(context, scope.as_root(), &locked.origin, wanted).ok()?;
    of_name(&opened, locked.alias_of.as_deref().unwrap_or(&row.name)).map(|candidate| candidate.path)
}

/// Returns the error for the skills `names` of the source `origin`, as it is typed in the working directory,
/// if `error` means that the source no longer has `reference`. Returns any other error unchanged.
pub(super) fn reference_gone<'a>(
    scope: ScopeKind,
    (origin, reference): (&Origin, Option<&Reference>),
    names: impl Iterator<Item = &'a str>,
    error: Error,
) -> Error {
    let Some(reference) = reference.filter(|_| error.code() == codes::REVISION_UNKNOWN) else { return error };
    let origin = origin.typed();
    let gone = Error::new(error.kind(), format!("{} of `{origin}` no longer exists", kind_of(reference)));
    let close = error.hints().iter().filter(|hint| hint.starts_with("did you mean")).cloned();
    close.fold(gone.coded(codes::REVISION_UNKNOWN), Error::hint).hint(message!(
        "name another one in `skillpm.toml`, or ",
        Verb::Install.within(scope).word(&origin).options(names.map(|name| (Opt::Skill, name))),
        " for the default branch"
    ))
}

fn kind_of(reference: &Reference) -> String {
    let kind = match reference {
        Reference::Any(_) => "the tag or branch",
        Reference::Tag(_) => "the tag",
        Reference::Branch(_) => "the branch",
        Reference::Rev(_) => "the commit",
        Reference::Range(_) => "a version in the range",
    };
    format!("{kind} `{}`", reference.name())
}

/// The reasons why sources could not be asked: equal failures are reported as one.
#[derive(Default)]
struct Failures(Vec<(Vec<String>, Error)>);

impl Failures {
    fn add(&mut self, source: &str, error: Error) {
        let is_same = |other: &&mut (Vec<String>, Error)| {
            other.1.with_causes() == error.with_causes() && other.1.hints() == error.hints()
        };
        match self.0.iter_mut().find(is_same) {
            Some((sources, _)) if sources.iter().any(|other| other == source) => {}
            Some((sources, _)) => sources.push(source.to_owned()),
            None => self.0.push((vec![source.to_owned()], error)),
        }
    }

    fn told(self) -> impl Iterator<Item = Error> {
        self.0.into_iter().map(|(sources, error)| {
            let quoted: Vec<_> = sources.iter().map(|source| format!("`{source}`")).collect();
            error.context(format!("{} cannot be checked for newer versions", quoted.join(", ")))
        })
    }
}

/// Returns the row of the skill `name` before its source is queried.
fn row(name: &SkillName, scope: ScopeKind, locked: &Locked, query: &Query<'_>) -> OutdatedSkill {
    OutdatedSkill {
        name: name.to_string(),
        scope,
        source: locked.origin.to_string(),
        path: locked.path.clone(),
        requested: query.reference.as_ref().map(Reference::to_string),
        locked: locked.revision.clone(),
        newest: None,
        latest: None,
        status: Status::Failed,
        held_back: None,
        moved_to: None,
        tag_moved: false,
        yanked: false,
        modified: false,
        disabled: false,
    }
}

fn editable(
    name: &SkillName,
    scope: ScopeKind,
    source: &str,
    listed: &BTreeMap<&str, &ListedSkill>,
) -> OutdatedSkill {
    let listed = listed.get(name.as_str());
    OutdatedSkill {
        name: name.to_string(),
        scope,
        source: source.to_owned(),
        path: listed.and_then(|skill| skill.path.clone()),
        requested: None,
        locked: None,
        newest: None,
        latest: None,
        status: Status::Editable,
        held_back: None,
        moved_to: None,
        tag_moved: false,
        yanked: false,
        modified: listed.is_some_and(|skill| skill.modified),
        disabled: listed.is_some_and(|skill| skill.disabled),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;
    use crate::ops::diff::{DiffRequest, diff};

    /// A hint without `-g` would act on the project.
    #[test]
    fn what_is_missing_is_installed_in_its_own_scope() {
        let world = World::new();
        let text = "[skills]\npdf = { path = \"pdf\" }\n";
        for (scope, manifest, command) in [
            (ScopeKind::Project, "skillpm.toml", "`install`"),
            (ScopeKind::User, "../home/.config/skillpm/skillpm.toml", "`install` with `scope=user`"),
        ] {
            world.write(manifest, text);
            let expected = [format!("`pdf` is not installed yet: {command} installs it")];
            let scope = Some(scope);
            let request = OutdatedRequest { scope, ..OutdatedRequest::default() };
            let told = outdated(&world.context(), &request).expect("works").warnings;
            assert_eq!(told, expected);
            let request = DiffRequest { scope, ..DiffRequest::default() };
            let told = diff(&world.context(), &request).expect("works").warnings;
            assert_eq!(told, expected);
        }
    }
}
