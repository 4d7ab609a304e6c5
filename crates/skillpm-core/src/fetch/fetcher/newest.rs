//! The current versions of skills in their sources.

use std::collections::BTreeSet;

use super::keep::keep;
use super::scoped::Fetcher;
use crate::advice::{Message, Opt, Verb, message};
use crate::codes;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fetch::incomplete::incomplete;
use crate::fetch::names::install_name;
use crate::fetch::select::{candidates, is_called, of_name};
use crate::fetch::typed_source::source_of;
use crate::lockfile::Locked;
use crate::manifest::{self, Requirement};
use crate::name::SkillName;
use crate::refusal::Limits;
use crate::resolve::{Dependent, directory_of};
use crate::source::discover::{Candidate, discover_in};
use crate::source::{self, FetchedSource, Released};
use crate::spec::{Reference, SourceSpec};
use crate::tree::FileSet;
use crate::updates::moved;

/// The current version of a skill in a source.
#[derive(Debug)]
pub(crate) struct Newest {
    spec: SourceSpec,
    /// The skill's own name, if it is installed under another one.
    own: Option<String>,
    opened: FetchedSource,
    candidate: Candidate,
    /// The files.
    pub(crate) set: FileSet,
}

impl Newest {
    /// Returns the skill that `opened`, the source that `spec` means, has delivered as `candidate`. `own` is its original
    /// name, if it is installed under another one.
    pub(crate) fn new(
        spec: SourceSpec,
        own: Option<String>,
        opened: FetchedSource,
        candidate: Candidate,
    ) -> Result<Self> {
        let set = opened.tree.skill(&candidate.path, &Limits::default()).map_err(|refusal| {
            let name = candidate.title(&opened.name);
            Error::from(refusal).context(format!("the skill `{name}` of `{spec}` is refused"))
        })?;
        Ok(Self { spec, own, opened, candidate, set })
    }

    /// Returns the skill under the name `name`, in order to resolve its dependencies.
    pub(crate) fn dependent(&self, name: &SkillName) -> Dependent {
        dependent(name, &self.spec, &self.candidate)
    }

    /// Returns the name of the skill in its source, if the user named no skill and it differs from `name`.
    pub(crate) fn other_name(&self, name: &SkillName) -> Option<&str> {
        let written = self.candidate.title(&self.opened.name);
        let is_it = install_name(&self.candidate, &self.opened.name).is_ok_and(|own| own == *name);
        (self.own.is_none() && !is_it).then_some(written)
    }

    /// Returns its lock entry. `digest` is that of its files.
    pub(crate) fn locked(&self, digest: Digest) -> Locked {
        locked(&self.spec, &self.opened, &self.candidate, self.own.clone(), digest)
    }
}

/// Returns the source that `requirement` names.
pub(crate) fn spec_of(requirement: &Requirement) -> SourceSpec {
    SourceSpec {
        origin: requirement.origin.clone(),
        path: requirement.path.clone(),
        reference: requirement.reference.clone(),
        skill: None,
    }
}

/// Returns the lock entry of `candidate`, which was found in `opened`, the source that `spec` means; `own` is its own
/// name, if it gets another one.
pub(crate) fn locked(
    spec: &SourceSpec,
    opened: &FetchedSource,
    candidate: &Candidate,
    own: Option<String>,
    digest: Digest,
) -> Locked {
    Locked {
        version: candidate.meta.as_ref().ok().and_then(|meta| meta.version.clone()),
        origin: spec.origin.clone(),
        path: Some(candidate.path.clone()).filter(|path| !path.is_empty()),
        // A range is the manifest's alone: a version that is in another one, too, stays locked.
        requested: spec.reference.as_ref().filter(|_| !spec.origin.has_versions()).map(ToString::to_string),
        revision: opened.revision.clone(),
        digest,
        dependencies: Vec::new(),
        alias_of: own,
        agents: BTreeSet::new(),
    }
}

/// Returns the skill `candidate` of the source `spec`, which is to be installed as `name`, in order to
/// resolve its dependencies.
pub(crate) fn dependent(name: &SkillName, spec: &SourceSpec, candidate: &Candidate) -> Dependent {
    Dependent::new(name.clone(), directory_of(spec, &candidate.path), candidate.meta.as_ref().ok())
}

/// Returns the new directory in `opened` of the skill that calls itself `own`, if it is no longer in `old`, and exactly one
/// skill of that name is elsewhere.
pub(crate) fn moved_to(opened: &FetchedSource, old: Option<&str>, own: &str) -> Option<String> {
    let is_there = !discover_in(&opened.tree, old?).is_empty();
    if is_there { None } else { of_name(opened, own).map(|candidate| candidate.path) }
}

/// Returns the error for the skill `name`, whose directory is not in `opened`, as `error` says: it names the new place, if
/// there is one.
fn not_found(name: &SkillName, requirement: &Requirement, opened: &FetchedSource, error: Error) -> Error {
    let own = requirement.name.as_deref().unwrap_or(name.as_str());
    let path = requirement.path.as_deref();
    let Some(now) = moved_to(opened, path, own) else {
        let told = message!(format_args!("`{name}`: "), error.message());
        return error.retold(told);
    };
    let key = if requirement.origin.local_path().is_some() { "subdir" } else { "path" };
    let told = Error::new(error.kind(), moved(name, &requirement.origin, (path, Some(&now))));
    told.hint(if now.is_empty() {
        format!("leave `{key}` out of its entry in `{}`", manifest::FILE_NAME)
    } else {
        format!("write `{key} = \"{now}\"` into its entry in `{}`", manifest::FILE_NAME)
    })
}

/// Reports whether `error` means that a source no longer has the locked revision.
fn is_gone(error: &Error) -> bool {
    error.code() == codes::REVISION_GONE
}

impl Fetcher<'_> {
    /// Opens the source of a locked skill at the locked revision, with its files.
    fn open_part(&mut self, locked: &Locked) -> Result<FetchedSource> {
        let (path, revision) = (locked.path.as_deref().unwrap_or_default(), locked.revision.as_deref());
        self.sources.open_locked(&locked.origin, revision)?.subtree(path, revision)
    }

    /// Returns why the `locked` version is no longer available. Returns `None` if it is, or if its source
    /// does not say.
    pub(crate) fn gone(&mut self, locked: &Locked) -> Option<Error> {
        // A small request instead of an archive, if the source supports it.
        let asked = source::released(self.context, &locked.origin, locked.revision.as_deref());
        let opened = asked.and_then(|released| match released {
            Released::At(_) => Ok(()),
            Released::OnceOpened | Released::Untold => self.open_part(locked).map(drop),
        });
        opened.err().filter(is_gone)
    }

    /// Returns a hint on how to lock the current version of `name` in its source, if `error` means that the
    /// source no longer has the locked commit.
    pub(crate) fn hint_where_gone(
        &self,
        name: &SkillName,
        locked: &Locked,
        error: &Error,
    ) -> Option<Message> {
        let entry = self.files.manifest.skills().get(name).cloned();
        let reference = entry.unwrap_or_else(|| locked.requirement()).reference;
        let is_pinned = match reference {
            Some(Reference::Rev(_)) => true,
            Some(reference) => reference.commit().is_some(),
            None => false,
        };
        let update = Verb::Update.within(self.scope.kind).word(name);
        let update = if is_pinned { update.flag(Opt::Latest) } else { update };
        let hint = || message!(update, " locks what is there now");
        (is_gone(error) && locked.origin.has_revisions()).then(hint)
    }

    /// Puts the version of the skill `name` from a source into the store, if the policy admits it.
    pub(crate) fn take(&mut self, name: &SkillName, newest: &Newest) -> Result<(Locked, FileSet)> {
        self.warnings.extend(incomplete(name, &newest.opened.tree, &newest.candidate.path, &newest.set));
        let (digest, set) = keep(self.context, newest.set.clone(), &mut self.warnings)?;
        self.sources.gate.content(name, &newest.candidate, &set)?;
        Ok((newest.locked(digest), set))
    }

    /// Returns the new directory of the skill `name` in the source of `requirement`, if it is no longer in
    /// the one that `requirement` names, and exactly one skill of that name is elsewhere.
    pub(crate) fn moved(&mut self, name: &SkillName, requirement: &Requirement) -> Option<String> {
        let opened = self.sources.open_outside(&spec_of(requirement)).ok()?;
        let own = requirement.name.as_deref().unwrap_or(name.as_str());
        moved_to(&opened, requirement.path.as_deref(), own)
    }

    /// Resolves the current meaning of `requirement` for the skill `name`. Stores nothing yet, and checks
    /// only the source against the policy.
    pub(crate) fn newest(&mut self, name: &SkillName, requirement: &Requirement) -> Result<Newest> {
        let spec = spec_of(requirement);
        let opened = self.sources.open_outside(&spec)?;
        let own = requirement.name.as_deref().unwrap_or(name.as_str());
        let decided = spec
            .path
            .as_deref()
            .and_then(|path| Some((path, self.sources.versions.get(&spec.origin, path)?)));
        let found = match decided {
            Some((path, version)) => vec![Candidate::listed_as(path.to_owned(), version.to_string())],
            None => {
                candidates(&opened, &spec).map_err(|error| not_found(name, requirement, &opened, error))?
            }
        };
        let matching: Vec<_> = match &found[..] {
            // Without a name, the only skill is meant.
            [one] if requirement.name.is_none() => vec![one],
            all => all.iter().filter(|c| is_called(c, &opened.name, own)).collect(),
        };
        let [candidate] = matching[..] else {
            let error = match matching.len() {
                0 => Error::config(format!("`{name}`: `{spec}` has no skill named `{own}`"))
                    .hint(message!("correct its entry in `skillpm.toml`; ", Verb::Install.call().flag(Opt::List).word(source_of(&spec, &opened)), " shows what is available")),
                many => Error::config(format!("`{name}`: `{spec}` has {many} skills named `{own}`"))
                    .hint("set its directory in `skillpm.toml`, with `path`, or with `subdir` for a path on this machine"),
            };
            return Err(error);
        };
        let (opened, candidate) = match opened.fetch(candidate)? {
            Some(delivered) => delivered,
            None => (opened.clone(), (*candidate).clone()),
        };
        // A skill that cannot be loaded fails here.
        install_name(&candidate, &opened.name)?;
        Newest::new(spec, requirement.name.clone(), opened, candidate)
    }
}
