//! From sources to trees that can be installed.

mod job;
mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use self::job::{Job, Ready};
pub(super) use self::sources::OpenedOnce;
#[cfg(feature = "create")]
pub(in crate::ops) use self::sources::check_no_directory;
pub(in crate::ops) use self::sources::{asked, open, unprotected};
pub(super) use self::sources::{check_missed, list, parse};
use self::sources::{choose_from, names_of, open_typed, told_query};

use super::editable;
use super::intake::Intake;
use super::needs::{Needer, Needs};
use super::select::{by_path, candidates, check_alphabet, elsewhere, install_name, source_of, typed};
use super::{InstallRequest, LeftOut};
use crate::admission::Asked;
use crate::advice::{Opt, Verb, Warning, message};
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::install::plan::{Content, Wanted};
use crate::install::scope::Scope;
use crate::install::state::Files;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::gate::Gate;
use crate::path::SafePath;
use crate::source::discover::{self, Candidate};
use crate::source::{Opened, local};
use crate::spec::{SourceSpec, check_directory};
use crate::text::visible_name;
use crate::tree::FileSet;
use crate::workers;

/// Skills that are ready to be installed.
#[derive(Debug, Default)]
pub(in crate::ops) struct Fetched {
    /// What is to be there.
    pub(in crate::ops) wanted: Vec<Wanted>,
    /// Where in `wanted` a skill is, by the key under which names fall together.
    by_key: BTreeMap<String, usize>,
    /// Their files.
    pub(in crate::ops) contents: BTreeMap<SkillName, FileSet>,
    /// What a person should know.
    pub(in crate::ops) warnings: Vec<Warning>,
    /// What was asked for among others and could not be taken; the warnings say why.
    pub(in crate::ops) left_out: Vec<LeftOut>,
    /// Sources that were opened.
    sources: OpenedOnce,
    /// Lets in what the policy admits.
    pub(in crate::ops) gate: Gate,
    /// What was taken in, as skills of which is to be looked at what they need.
    pub(super) came: Vec<Needer>,
}

/// A source that was opened, and those of its skills that are meant.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) spec: SourceSpec,
    pub(super) opened: Opened,
    pub(super) candidates: Vec<Candidate>,
    /// Whether somebody meant these very skills: then none may be passed over.
    pub(super) named: bool,
    /// Names that were given for several sources and that this one does not have.
    pub(super) missed: Vec<String>,
}

/// Says of `sources`, from which `request` chose, whether somebody meant these very skills.
pub(super) fn mark_named(request: &InstallRequest, sources: &mut [Chosen]) {
    let named = request.skills.iter().any(|name| name != super::select::ALL);
    let alone = sources.iter().map(|source| source.candidates.len()).sum::<usize>() == 1;
    for source in sources {
        source.named = named || alone;
    }
}

impl Fetched {
    /// Nothing yet; what `gate` admits can be added.
    pub(super) fn new(gate: Gate) -> Self {
        Self { gate, ..Self::default() }
    }

    /// Opens source `spec`, which `text` was read as, and chooses the skills that `request` means.
    ///
    /// # Errors
    ///
    /// A source that cannot be opened; skills that are not there.
    pub(super) fn choose(
        &mut self,
        context: &Context,
        scope: &Scope,
        request: &InstallRequest,
        text: &str,
        spec: &SourceSpec,
    ) -> Result<Chosen> {
        if request.editable {
            editable::check(context, scope, spec)?;
        }
        local::check_outside(&context.settings, scope.as_root(), &spec.origin)?;
        let (spec, opened) = open_typed(context, scope, (text, spec), &mut self.gate, &mut self.sources)?;
        self.warnings.extend(unprotected(&spec.origin));
        self.warnings.extend(told_query(&spec.origin));
        let found = candidates(&opened, &spec)?;
        let named = names_of(request, &spec).iter().any(|name| name != super::select::ALL);
        if !named {
            self.warnings.extend(elsewhere(&spec, &opened, &found));
        }
        let passed_over: Vec<Candidate> = match opened.shelf {
            Some(_) => found.iter().filter(|candidate| candidate.meta.is_err()).cloned().collect(),
            None => Vec::new(),
        };
        let (chosen, missed) = choose_from(context, request, &spec, &opened, found)?;
        if chosen.is_empty() {
            let told =
                format!("nothing comes from `{}`: it has none of the skills that are named", spec.typed());
            self.warnings.push(Warning::new("source-unused", told));
        }
        if let (Some(alias), false) = (&request.alias, chosen.len() == 1) {
            let number = chosen.len();
            return Err(Error::usage(message!(
                (Opt::As, alias),
                format_args!(" is for one skill, but {number} were chosen")
            ))
            .hint(message!("name the one with ", (Opt::Skill, "NAME"))));
        }
        self.warnings.extend(unusable(&spec, &passed_over, &chosen));
        let named = named || chosen.len() == 1;
        Ok(Chosen { spec, opened, candidates: chosen, named, missed })
    }

    /// Takes the skills of a source that was asked for, at least one.
    ///
    /// # Errors
    ///
    /// As [`Fetched::add_chosen`]; where none can be taken.
    pub(super) fn add(
        &mut self,
        context: &Context,
        scope: &Scope,
        request: &InstallRequest,
        chosen: &Chosen,
        intake: &Intake,
    ) -> Result<()> {
        let none = self.add_chosen(context, scope, request, chosen, intake)? == 0;
        if none && !chosen.candidates.is_empty() {
            let (number, spec) = (chosen.candidates.len(), &chosen.spec);
            return Err(Error::integrity(format!(
                "none of the {number} skills of `{spec}` can be installed"
            ))
            .hint(message!(
                Verb::Install.call().flag(Opt::List).word(source_of(spec, &chosen.opened)),
                " says why"
            )));
        }
        Ok(())
    }

    /// Takes the skills `chosen`, and returns how many could be taken.
    ///
    /// # Errors
    ///
    /// Where they were named: one that is refused; two different skills of one name.
    pub(super) fn add_chosen(
        &mut self,
        context: &Context,
        scope: &Scope,
        request: &InstallRequest,
        chosen: &Chosen,
        intake: &Intake,
    ) -> Result<usize> {
        let Chosen { opened, candidates, .. } = chosen;
        let wanted = candidates.iter().filter(|candidate| candidate.meta.is_ok());
        opened.prefetch(&wanted.map(|candidate| (candidate.path.as_str(), None)).collect::<Vec<_>>())?;
        if opened.shelf.is_none() {
            return self.take_in(context, scope, request, chosen, opened, candidates, intake);
        }
        let mut installed = 0;
        // One by one: each may hold all of its files in memory.
        for candidate in candidates {
            let delivered = opened.deliver(candidate)?;
            let (opened, candidate) = match &delivered {
                Some((opened, candidate)) => (opened, candidate),
                None => (opened, candidate),
            };
            let one = std::slice::from_ref(candidate);
            installed += self.take_in(context, scope, request, chosen, opened, one, intake)?;
        }
        Ok(installed)
    }

    /// Takes `candidates`, which `opened` has delivered, and returns how many could be taken.
    #[expect(clippy::too_many_arguments, reason = "a step of `add_chosen`, with all that it knows")]
    fn take_in(
        &mut self,
        context: &Context,
        scope: &Scope,
        request: &InstallRequest,
        chosen: &Chosen,
        opened: &Opened,
        candidates: &[Candidate],
        intake: &Intake,
    ) -> Result<usize> {
        let mut jobs = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let job = self.job(context, scope, request, &chosen.spec, opened, candidate);
            let stop = job.is_err() && chosen.named;
            jobs.push(Mutex::new(Some(job)));
            if stop {
                break;
            }
        }
        // What is written is the same in whatever order the threads come by it.
        let done = workers::map(
            &jobs,
            workers::FEW,
            || (),
            |(), job| {
                let job = job.lock().unwrap_or_else(PoisonError::into_inner).take();
                job.map(|job| job.and_then(|job| Ok((job.read(intake)?, job))))
            },
        );
        let done: Vec<_> = candidates.iter().zip(done).filter_map(|(c, done)| Some((c, done?))).collect();
        let unclear = if chosen.named { BTreeMap::new() } else { unclear(&done) };
        for paths in unclear.values() {
            self.warnings.push(told_unclear(&chosen.spec, opened, paths));
            let left = paths
                .iter()
                .map(|path| LeftOut { name: visible_name(path), code: ErrorKind::Findings.exit_code() });
            self.left_out.extend(left);
        }
        let mut installed = 0;
        for (candidate, done) in done {
            if done.as_ref().is_ok_and(|(_, job)| unclear.contains_key(&job.name.collision_key())) {
                continue;
            }
            match done.and_then(|(ready, job)| self.finish(&chosen.spec, opened, job, ready)) {
                Ok(()) => installed += 1,
                // Of many, the ones that cannot be used are passed over, and told.
                Err(error) if !chosen.named => {
                    let name = visible_name(candidate.title(&opened.name));
                    let told = message!(format_args!("`{name}` was left out: "), error.with_causes());
                    self.warnings.push(Warning::new(error.code(), told));
                    self.left_out.push(LeftOut { name, code: error.kind().exit_code() });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(installed)
    }

    /// What is to be done to take `candidate` in, if its source may be used.
    fn job<'a>(
        &mut self,
        context: &Context,
        scope: &Scope,
        request: &InstallRequest,
        spec: &SourceSpec,
        opened: &'a Opened,
        candidate: &'a Candidate,
    ) -> Result<Job<'a>> {
        let name = match &request.alias {
            Some(alias) => alias_of(candidate, &opened.name, alias)?,
            None => install_name(candidate, &opened.name)?,
        };
        let path = Some(candidate.path.as_str()).filter(|path| !path.is_empty());
        // What could be written into no manifest, or would look there like another one.
        if let Some(path) = path.filter(|path| check_directory(path).is_err() || visible_name(path) != *path)
        {
            let place = visible_name(path);
            return Err(Error::integrity(format!(
                "the directory `{place}` has a name that a skill must not have"
            )));
        }
        // The directory may be denied where the source is not.
        self.gate.source(Asked { path, ..asked(spec) })?;
        let written = candidate.meta.as_ref().ok().map(|meta| meta.name.clone());
        // What no manifest could hold is found by its path alone.
        let writable = |text: &String| !text.is_empty() && !text.chars().any(char::is_control);
        let own = written.filter(|written| written != name.as_str()).filter(writable);
        if let (Some(_), Some(own)) = (&request.alias, &own) {
            let told = format!(
                "agents that go by the name in `SKILL.md` still call `{name}` `{}`",
                visible_name(own)
            );
            self.warnings.push(Warning::new("name-directory", told));
        }
        let requirement = Requirement {
            path: Some(candidate.path.clone()).filter(|path| !path.is_empty()),
            reference: spec.reference.clone(),
            name: own.clone(),
            editable: request.editable,
            ..Requirement::new(spec.origin.clone())
        };
        let editable =
            request.editable.then(|| editable::find(context, scope, &name, &requirement)).transpose()?;
        // What is the whole of a file has no directory whose name could differ.
        let whole = candidate.path.is_empty() && spec.origin.is_file();
        let directory = (!whole).then(|| candidate.directory_name(&opened.name));
        Ok(Job { name, tree: &opened.tree, candidate, own, requirement, directory, editable })
    }

    /// Adds a skill that was read, if the policy lets it in.
    fn finish(&mut self, spec: &SourceSpec, opened: &Opened, job: Job<'_>, ready: Ready) -> Result<()> {
        let Job { name, candidate, own, requirement, editable, .. } = job;
        let Ready { digest, set, warnings } = ready;
        let is_editable = editable.is_some();
        let content = match (editable, digest, &set) {
            (None, Some(digest), Some(set)) => {
                self.gate.content(&name, candidate, set)?;
                Content::Locked(locked(spec, opened, candidate, own, digest))
            }
            (Some(editable), ..) => {
                self.gate.directory(&name, &editable.directory)?;
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
            self.warnings.push(Warning::new("unportable-name", told));
        }
        self.came.push(Needer::new(&name, spec, candidate, is_editable));
        self.by_key.insert(key, self.wanted.len());
        self.wanted.push(Wanted::new(name.clone(), content, Some(requirement)));
        self.contents.extend(set.map(|set| (name, set)));
        Ok(())
    }

    /// Marks what would take the place of another skill of its own source: one is still where the installed skill of
    /// that name came from. A skill that moved in its repository is not there any more.
    pub(super) fn set_apart(&mut self, files: &Files, chosen: &[Chosen]) {
        for wanted in &mut self.wanted {
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

    /// Writes into what is to be locked which skills each one needs. Of what comes for that alone the manifest
    /// says nothing.
    pub(super) fn settle_needs(&mut self, needs: &mut Needs) {
        for wanted in &mut self.wanted {
            if needs.is_brought(&wanted.name) {
                wanted.requirement = needs.entry(wanted);
            }
            if let Content::Locked(locked) | Content::AsItIs(locked) = &mut wanted.content {
                needs.write(&wanted.name, locked);
            }
        }
        self.warnings.extend(needs.warnings());
    }
}

/// The paths of different skills that would get one name, by what they would collide in: nobody said which of them is
/// meant. A skill that lies there twice with the same bytes is one.
fn unclear<'a>(done: &[(&'a Candidate, Result<(Ready, Job<'_>)>)]) -> BTreeMap<String, Vec<&'a str>> {
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

/// What is told of the skills at `paths`, which would all get one name.
fn told_unclear(spec: &SourceSpec, opened: &Opened, paths: &[&str]) -> Warning {
    let shown = |path: &str| if path.is_empty() { ".".to_owned() } else { visible_name(path) };
    let list: Vec<_> = paths.iter().map(|path| format!("`{}`", shown(path))).collect();
    let told = message!(
        format_args!(
            "{} were left out: they are different skills of one name; name one by its path, such as ",
            list.join(" and ")
        ),
        by_path(spec, opened, paths[0])
    );
    Warning::new("name-twins", told)
}

/// The name that was typed for `candidate`. What cannot be loaded says so here.
fn alias_of(candidate: &Candidate, root: &str, alias: &str) -> Result<SkillName> {
    let name = SkillName::new(alias).map_err(|error| {
        Error::usage(error.to_string()).hint(message!("give another name with ", Opt::As))
    })?;
    check_alphabet(&name)?;
    // Its own name may be one that no skill could be installed under.
    match candidate.meta {
        Ok(_) => Ok(name),
        Err(_) => install_name(candidate, root),
    }
}

/// What to tell of the skills that a source lists wrongly and that were not asked for, if any: its
/// owner may not know.
fn unusable(spec: &SourceSpec, listed: &[Candidate], chosen: &[Candidate]) -> Vec<Warning> {
    const MOST: usize = 20;
    let others = listed.iter().filter(|listed| chosen.iter().all(|chosen| chosen.path != listed.path));
    let mut told: Vec<String> = others
        .filter_map(|listed| {
            let problem = listed.meta.as_ref().err()?;
            let path = visible_name(&listed.path);
            Some(format!("`{path}` of `{}` cannot be installed: {problem}", spec.origin.typed()))
        })
        .collect();
    if told.len() > MOST {
        let more = told.len() - MOST;
        told.truncate(MOST);
        told.push(format!("`{}` has {more} more that cannot be installed", spec.origin.typed()));
    }
    told.into_iter().map(|told| Warning::new("listed-wrongly", told)).collect()
}

/// What is locked of `candidate`, which was found in `opened`, the source that `spec` means; `own` is
/// its own name, where it gets another one.
pub(in crate::ops) fn locked(
    spec: &SourceSpec,
    opened: &Opened,
    candidate: &Candidate,
    own: Option<String>,
    digest: Digest,
) -> Locked {
    Locked {
        version: candidate.meta.as_ref().ok().and_then(|meta| meta.version.clone()),
        origin: spec.origin.clone(),
        path: Some(candidate.path.clone()).filter(|path| !path.is_empty()),
        requested: spec.reference.as_ref().map(ToString::to_string),
        revision: opened.revision.clone(),
        digest,
        dependencies: Vec::new(),
        alias_of: own,
        agents: BTreeSet::new(),
    }
}

/// The error that nothing of what was chosen can be installed; `reasons` say why.
pub(super) fn nothing(reasons: Vec<Warning>) -> Error {
    let error = Error::integrity("none of the skills that were chosen can be installed");
    reasons.into_iter().fold(error, Error::hint)
}
