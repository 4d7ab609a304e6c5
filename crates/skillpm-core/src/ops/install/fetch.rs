//! Preparation of chosen skills for installation: read, checked and stored, with their dependencies.

mod ingest;
mod versions;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use self::ingest::{Ingest, IngestJob, Ready};
use super::choose::unprotected;
use super::chosen::{Chosen, Selection};
use super::desired::{Desired, DesiredNotes, left_out, left_out_with};
use super::editable;
use super::request::InstallRequest;
use crate::admission::PolicySubject;
use crate::advice::{Opt, Verb, Warning, message};
use crate::codes;
use crate::digest::Digest;
use crate::error::{Error, NamedFailure, Result};
use crate::fetch::dependencies::{self, Asked, Brought, BroughtSkill, Deciding, Unsatisfied};
use crate::fetch::fetcher::{Sources, asked, dependent, locked};
use crate::fetch::names::{check_alphabet, install_name};
use crate::fetch::select::unclear_name;
use crate::fetch::typed_source::{source_of, typed};
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::path::SafePath;
use crate::resolve::{Assignment, Dependent};
use crate::scope::plan::{Content, Wanted};
use crate::scope::state::Files;
use crate::source::FetchedSource;
use crate::source::discover::{self, Candidate};
use crate::spec::{Reference, SourceSpec, check_directory};
use crate::text::visible_name;
use crate::tree::FileSet;
use crate::workers;

/// Skills that are ready to be installed.
pub(super) struct Fetched<'a> {
    /// The sources that were opened.
    sources: Sources<'a>,
    /// The chosen skills.
    chosen: Vec<Chosen>,
    /// The skills that should be installed.
    wanted: Vec<Wanted>,
    /// The index of each skill in `wanted`, by the key under which names collide.
    by_key: BTreeMap<String, usize>,
    /// Their files.
    contents: BTreeMap<SkillName, FileSet>,
    /// Warnings for the user.
    warnings: Vec<Warning>,
    /// The requested skills that could not be ingested; the warnings say why.
    left_out: Vec<NamedFailure>,
    /// The skills that were taken in and whose dependencies are not resolved yet.
    incoming: Vec<Dependent>,
    /// Which skill satisfies which dependency.
    assignment: Assignment,
}

/// How a skill is taken in.
#[derive(Debug, Clone, Copy, Default)]
struct As<'r> {
    /// The name that it gets instead of its own.
    alias: Option<&'r str>,
    /// Whether to make a link to its directory instead of a copy.
    editable: bool,
}

/// Takes in the skills of `selection`, which `request` chose, with their dependencies. `files` are the
/// manifest and the lockfile of the scope, which is neither locked nor changed.
pub(super) fn fetch<'a>(
    sources: Sources<'a>,
    request: &InstallRequest,
    selection: Selection,
    files: &Files,
) -> Result<Fetched<'a>> {
    let Selection { sources: chosen, warnings, left_out } = selection;
    let mut fetched = Fetched { warnings, left_out, ..Fetched::new(sources) };
    // Fetching may take long, so the scope is not locked meanwhile.
    let coming = chosen.iter().flat_map(|one| &one.candidates).filter_map(|one| one.meta.as_ref().ok());
    let installed = files.lock.skills.keys().map(ToString::to_string);
    let beside = coming.map(|meta| meta.name.clone()).chain(installed).collect();
    let ingest = Ingest::new(fetched.sources.context, beside);
    let chosen = fetched.take_chosen(request, chosen, files, &ingest)?;
    fetched.warnings.extend(ingest.warning());
    fetched.chosen = chosen;
    Ok(fetched)
}

impl<'a> Fetched<'a> {
    /// Returns an empty value, to which skills that the policy of `sources` admits can be added.
    fn new(sources: Sources<'a>) -> Self {
        Self {
            sources,
            chosen: Vec::new(),
            wanted: Vec::new(),
            by_key: BTreeMap::new(),
            contents: BTreeMap::new(),
            warnings: Vec::new(),
            left_out: Vec::new(),
            incoming: Vec::new(),
            assignment: Assignment::default(),
        }
    }

    /// Returns the desired state of a scope with the manifest and lockfile `files`.
    pub(super) fn desired(mut self, files: &Files) -> Desired {
        self.set_apart(files);
        Desired {
            entries: dependencies::request_for_editable(&self.assignment, files),
            wanted: self.wanted,
            contents: self.contents,
            notes: DesiredNotes {
                left_out: self.left_out,
                warnings: self.warnings,
                decided: self.sources.gate.decided(),
                ..DesiredNotes::default()
            },
            ..Desired::default()
        }
    }

    /// Takes in the `chosen` skills, at least one of each typed source, or one of any other, and what they need. Returns
    /// them with the skills of registries in the versions that fit together.
    fn take_chosen(
        &mut self,
        request: &InstallRequest,
        chosen: Vec<Chosen>,
        files: &Files,
        ingest: &Ingest,
    ) -> Result<Vec<Chosen>> {
        let mut chosen: Vec<Chosen> = chosen.into_iter().flat_map(|one| one.apart(files)).collect();
        let requests = versions::requests(&chosen, request.alias.as_deref());
        self.warnings.extend(versions::others_with_the_name(&mut self.sources, files, &requests));
        let mut taken = 0;
        for one in chosen.iter().filter(|one| !one.is_released()) {
            taken += self.ingest_source(request, one, ingest)?;
        }
        for Chosen { spec, opened, .. } in chosen.iter().filter(|one| !one.is_released()) {
            self.sources.note(spec, opened);
        }
        let incoming = std::mem::take(&mut self.incoming);
        let is_alone = request.no_deps || incoming.iter().all(Dependent::is_independent);
        let brought = if is_alone && requests.is_empty() {
            Brought::default()
        } else {
            let how = Deciding { minimal: request.minimal, alone: request.no_deps, ..Deciding::default() };
            let asked = Asked { requests: &requests, incoming, by_user: true, how, ..Asked::default() };
            dependencies::resolve(&mut self.sources, files, asked)?
        };
        for one in chosen.iter_mut().filter(|one| one.is_released()) {
            one.decide(&self.sources.versions);
            taken += self.ingest_source(request, one, ingest)?;
        }
        let each = request.marketplace.is_none() && !request.from_project;
        if !each && taken == 0 {
            let error = Error::integrity("none of the skills that were chosen can be installed");
            return Err(std::mem::take(&mut self.warnings).into_iter().fold(error, Error::hint));
        }
        self.ingest_dependencies(brought, files, ingest)?;
        Ok(chosen)
    }

    /// Takes in the skills of one source, and returns their number.
    fn ingest_source(&mut self, request: &InstallRequest, one: &Chosen, ingest: &Ingest) -> Result<usize> {
        let how = As { alias: request.alias.as_deref(), editable: request.editable };
        let each = request.marketplace.is_none() && !request.from_project;
        let number = self.add(how, one, ingest)?;
        if each && number == 0 && !one.candidates.is_empty() {
            return Err(nothing_of(one));
        }
        Ok(number)
    }

    /// Takes in what comes because others need it, and what changes its version with it.
    fn ingest_dependencies(&mut self, brought: Brought, files: &Files, ingest: &Ingest) -> Result<()> {
        let Brought { assignment, skills, warnings, .. } = brought;
        for BroughtSkill { name, offered, found } in skills {
            let locked = files.lock.skills.get(&name).filter(|_| found.is_none());
            let is_alias = locked.is_some_and(|locked| locked.alias_of.is_some());
            let alias = is_alias.then_some(name.as_str());
            self.warnings.extend(unprotected(&offered.spec.origin));
            self.add(As { alias, editable: false }, &Chosen::offered(offered), ingest)
                .map_err(|error| Unsatisfied::new(&name, found, error))?;
            let at = self.by_key.get(&name.collision_key());
            if let Some(wanted) = at.and_then(|at| self.wanted.get_mut(*at)) {
                // The manifest states the same range as before, or does not mention it.
                wanted.requirement = wanted.requirement.take().filter(|_| locked.is_none());
            }
        }
        dependencies::write_all(&assignment, &mut self.wanted);
        self.warnings.extend(warnings);
        self.assignment = assignment;
        Ok(())
    }

    /// Takes in the skills `chosen`, and returns their number.
    fn add(&mut self, how: As<'_>, chosen: &Chosen, ingest: &Ingest) -> Result<usize> {
        let Chosen { opened, candidates, .. } = chosen;
        let wanted = candidates.iter().filter(|candidate| candidate.meta.is_ok());
        let wanted = wanted.map(|candidate| (candidate.path.as_str(), candidate.revision.as_deref()));
        opened.prefetch(&wanted.collect::<Vec<_>>())?;
        if opened.shelf.is_none() {
            return self.ingest_all(how, chosen, opened, candidates, ingest);
        }
        let mut installed = 0;
        // One by one: each may hold all of its files in memory.
        for candidate in candidates {
            let delivered = match opened.fetch(candidate) {
                Ok(delivered) => delivered,
                Err(error)
                    if !chosen.named && opened.shelf.as_ref().is_some_and(|it| it.is_of_one(&error)) =>
                {
                    self.leave_out(opened, candidate, &error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let (opened, candidate) = match &delivered {
                Some((opened, candidate)) => (opened, candidate),
                None => (opened, candidate),
            };
            let before = self.wanted.len();
            let number = self.ingest_all(how, chosen, opened, std::slice::from_ref(candidate), ingest)?;
            if number > 0 && self.wanted.len() == before {
                let path = visible_name(&candidate.path);
                let told = format!(
                    "`{path}` was left out: it has the files of another skill of its name, which is installed"
                );
                self.warnings.push(Warning::new(codes::NAMES_EQUAL, told));
            }
            installed += number;
        }
        Ok(installed)
    }

    /// Takes in `candidates`, which `opened` has delivered, and returns their number.
    fn ingest_all(
        &mut self,
        how: As<'_>,
        chosen: &Chosen,
        opened: &FetchedSource,
        candidates: &[Candidate],
        ingest: &Ingest,
    ) -> Result<usize> {
        let mut jobs = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let job = self.job(how, &chosen.spec, opened, candidate);
            let stop = job.is_err() && chosen.named;
            jobs.push(Mutex::new(Some(job)));
            if stop {
                break;
            }
        }
        // The result does not depend on the order in which the threads run.
        let done = workers::map(
            &jobs,
            workers::FEW,
            || (),
            |(), job| {
                let job = job.lock().unwrap_or_else(PoisonError::into_inner).take();
                job.map(|job| job.and_then(|job| Ok((job.read(ingest)?, job))))
            },
        );
        let done: Vec<_> = candidates.iter().zip(done).filter_map(|(c, done)| Some((c, done?))).collect();
        let unclear = if chosen.named { BTreeMap::new() } else { unclear(&done) };
        for paths in unclear.values() {
            let warning = unclear_name(&chosen.spec, opened, paths);
            let left = paths.iter().map(|path| left_out_with(visible_name(path), &warning));
            self.left_out.extend(left);
            self.warnings.push(warning);
        }
        let mut installed = 0;
        for (candidate, done) in done {
            if done.as_ref().is_ok_and(|(_, job)| unclear.contains_key(&job.name.collision_key())) {
                continue;
            }
            match done.and_then(|(ready, job)| self.finish(&chosen.spec, opened, job, ready)) {
                Ok(()) => installed += 1,
                // Among many, those that cannot be used are skipped with a warning.
                Err(error) if !chosen.named => self.leave_out(opened, candidate, &error),
                Err(error) => return Err(error),
            }
        }
        Ok(installed)
    }

    /// Leaves out `candidate`, one of many that `opened` has, which cannot be used because of `error`.
    fn leave_out(&mut self, opened: &FetchedSource, candidate: &Candidate, error: &Error) {
        let left = left_out(visible_name(candidate.title(&opened.name)), error);
        self.warnings.push(left.warning());
        self.left_out.push(left);
    }

    /// Returns the job of taking in `candidate`, if its source may be used.
    fn job<'b>(
        &mut self,
        how: As<'_>,
        spec: &SourceSpec,
        opened: &'b FetchedSource,
        candidate: &'b Candidate,
    ) -> Result<IngestJob<'b>> {
        let name = match how.alias {
            Some(alias) => alias_of(candidate, &opened.name, alias)?,
            None => install_name(candidate, &opened.name)?,
        };
        let path = Some(candidate.path.as_str()).filter(|path| !path.is_empty());
        // It could not be written to a manifest, or would look like another one there.
        if let Some(path) = path.filter(|path| check_directory(path).is_err() || visible_name(path) != *path)
        {
            let place = visible_name(path);
            return Err(Error::integrity(format!(
                "the directory `{place}` has a name that a skill must not have"
            )));
        }
        // The directory may be denied even if the source is not.
        self.sources.gate.source(PolicySubject { path, ..asked(spec) })?;
        let written = candidate.meta.as_ref().ok().map(|meta| meta.name.clone());
        // A name that no manifest could hold is only found by its path.
        let writable = |text: &String| !text.is_empty() && !text.chars().any(char::is_control);
        let own = written.filter(|written| written != name.as_str()).filter(writable);
        if let (Some(_), Some(own)) = (how.alias, &own) {
            let told = format!(
                "agents that take the name from `SKILL.md` still call `{name}` `{}`",
                visible_name(own)
            );
            self.warnings.push(Warning::new("name-directory", told));
        }
        let requirement = Requirement {
            path: Some(candidate.path.clone()).filter(|path| !path.is_empty()),
            reference: spec.reference.clone(),
            name: own.clone(),
            editable: how.editable,
            ..Requirement::new(spec.origin.clone())
        };
        let Sources { context, scope, .. } = self.sources;
        let find = || editable::find(context, scope, &name, &requirement);
        let editable = how.editable.then(find).transpose()?;
        // A skill that is a single file has no directory whose name could differ.
        let whole = candidate.path.is_empty() && spec.origin.is_file();
        let directory = (!whole).then(|| candidate.directory_name(&opened.name));
        Ok(IngestJob { name, tree: &opened.tree, candidate, own, requirement, directory, editable })
    }

    /// Adds a skill that was read, if the policy admits it.
    fn finish(
        &mut self,
        spec: &SourceSpec,
        opened: &FetchedSource,
        job: IngestJob<'_>,
        ready: Ready,
    ) -> Result<()> {
        let IngestJob { name, candidate, own, requirement, editable, .. } = job;
        let Ready { digest, set, warnings } = ready;
        let is_editable = editable.is_some();
        let content = match (editable, digest, &set) {
            (None, Some(digest), Some(set)) => {
                self.sources.gate.content(&name, candidate, set)?;
                Content::Locked(locked(spec, opened, candidate, own, digest))
            }
            (Some(editable), ..) => {
                self.sources.gate.directory(&name, &editable.directory)?;
                Content::Editable(editable)
            }
            _ => return Err(Error::io(format!("the files of `{name}` are missing"))),
        };
        let key = name.collision_key();
        if let Some(other) = self.by_key.get(&key).and_then(|at| self.wanted.get(*at)) {
            if other.content.is_same(&content) {
                return Ok(());
            }
            let other = other.requirement.as_ref().unwrap_or(&requirement);
            let place = |of: &Requirement| {
                let source = typed(&of.origin, of.reference.as_ref());
                format!("\n  {source} {}", of.path.as_deref().unwrap_or("."))
            };
            let places = place(other) + &place(&requirement);
            return Err(Error::usage(format!(
                "two different skills would be installed as `{name}`:{places}"
            ))
            .hint(message!(
                "name one of them by its path, such as `owner/repo/path`, or install one alone with ",
                (Opt::As, "NAME")
            )));
        }
        self.warnings.extend(warnings);
        if SafePath::new(name.as_str()).is_ok_and(|path| path.is_device()) {
            let told = message!(
                format_args!("`{name}` is the name of a device on Windows, where nobody can install it; "),
                (Opt::As, "NAME"),
                " gives it another one"
            );
            self.warnings.push(Warning::new(codes::UNPORTABLE_NAME, told));
        }
        self.warnings.extend(newer(&name, &requirement, &content));
        self.incoming.push(Dependent { editable: is_editable, ..dependent(&name, spec, candidate) });
        self.by_key.insert(key, self.wanted.len());
        self.wanted.push(Wanted::new(name.clone(), content, Some(requirement)));
        self.contents.extend(set.map(|set| (name, set)));
        Ok(())
    }

    /// Marks skills that would replace a different skill from the same source: the skill installed under that
    /// name still exists at its place in the source. A skill that moved within its repository does not.
    fn set_apart(&mut self, files: &Files) {
        let Self { wanted, chosen, .. } = self;
        for wanted in wanted {
            let Some(new) = &wanted.requirement else { continue };
            let entry = files.manifest.skills().get(&wanted.name);
            // The lockfile says where it was found, which may be below what the manifest names.
            let locked = files.lock.skills.get(&wanted.name).filter(|locked| locked.origin == new.origin);
            let Some(old) = locked.map(|locked| &locked.path).or(entry.map(|entry| &entry.path)) else {
                continue;
            };
            let is_same = *old == new.path || entry.is_some_and(|entry| entry.path == new.path);
            let old = old.as_deref().unwrap_or_default();
            let is_there = |chosen: &Chosen| {
                chosen.spec.origin == new.origin && discover::is_skill(&chosen.opened.tree, old)
            };
            if !is_same && chosen.iter().any(is_there) {
                wanted.beside = Some(if old.is_empty() { ".".to_owned() } else { old.to_owned() });
            }
        }
    }
}

/// Returns a warning if `requirement` names a version and a later one comes: many other tools take a bare version for
/// exactly that one.
fn newer(name: &SkillName, requirement: &Requirement, content: &Content) -> Option<Warning> {
    let Some(Reference::Range(range)) = &requirement.reference else { return None };
    let (named, comes) = (range.as_version()?, content.locked()?.version.as_deref()?);
    if named.as_str() == comes {
        return None;
    }
    let told = format!("`{name}` {comes} comes for `{range}`, which allows compatible later versions");
    let exact = message!(Verb::Install.call().word(format!("{name}@={range}")), " takes exactly that one");
    Some(Warning { hints: vec![exact], ..Warning::new(codes::VERSION_NEWER, told) })
}

/// Returns the paths of different skills that would get the same name, by the key under which they would
/// collide: it is ambiguous which of them is meant. A skill that exists twice with the same bytes counts as
/// one.
fn unclear<'a>(done: &[(&'a Candidate, Result<(Ready, IngestJob<'_>)>)]) -> BTreeMap<String, Vec<&'a str>> {
    let mut found: BTreeMap<String, Vec<(&str, Option<Digest>)>> = BTreeMap::new();
    for (candidate, done) in done {
        if let Ok((ready, job)) = done {
            found.entry(job.name.collision_key()).or_default().push((&candidate.path, ready.digest));
        }
    }
    found.retain(|_, all| {
        all.iter().any(|(_, digest)| all.len() > 1 && (digest.is_none() || *digest != all[0].1))
    });
    found.into_iter().map(|(key, all)| (key, all.into_iter().map(|(path, _)| path).collect())).collect()
}

/// Returns the given alias for `candidate`. A skill that cannot be loaded fails here.
fn alias_of(candidate: &Candidate, root: &str, alias: &str) -> Result<SkillName> {
    let name = SkillName::new(alias).map_err(|error| {
        Error::usage(error.to_string()).hint(message!("give another name with ", Opt::As))
    })?;
    check_alphabet(&name)?;
    // The name may not be valid for an installation.
    match candidate.meta {
        Ok(_) => Ok(name),
        Err(_) => install_name(candidate, root),
    }
}

/// Returns the error for a source whose `chosen` skills cannot be installed.
fn nothing_of(chosen: &Chosen) -> Error {
    let Chosen { spec, opened, candidates, .. } = chosen;
    let number = candidates.len();
    Error::integrity(format!("none of the {number} skills of `{spec}` can be installed"))
        .hint(message!(Verb::Install.call().flag(Opt::List).word(source_of(spec, opened)), " says why"))
}
