//! Consent to new capabilities: the one gate for versions that take the place of others.
//!
//! For any cause, a source that was typed, a pin that was edited, a lockfile that was edited or deleted: if a version of a
//! skill is new to this scope, it is compared with the one before it. A person, or a name in the request, must consent to
//! its new capabilities. [`Planned::apply`](crate::change::Planned::apply) asks this gate before it writes anything, so no
//! verb goes around it.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::{Verb, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::review::{Review, review};
use crate::scope::Scope;
use crate::scope::plan::{Content, Goal, Plan, Step, Wanted};
use crate::scope::reviewed::ReviewedVersions;
use crate::scope::state::Files;
use crate::store::Store;
use crate::tree::FileSet;

/// The skills that may bring new capabilities without being asked about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Allow {
    /// None.
    #[default]
    None,
    /// These.
    Only(Vec<String>),
    /// All.
    All,
}

impl Allow {
    /// Reports whether `name` may.
    pub(crate) fn admits(&self, name: &SkillName) -> bool {
        match self {
            Self::None => false,
            Self::Only(only) => only.iter().any(|one| one == name.as_str()),
            Self::All => true,
        }
    }
}

/// The consent that was given before a change.
#[derive(Debug, Clone, Default)]
pub(crate) struct Agreed {
    /// Skills, in any version.
    pub(crate) allow: Allow,
    /// Versions that were reviewed, and agreed to if that was necessary.
    pub(crate) versions: BTreeSet<(SkillName, Digest)>,
}

/// A version of a skill in the place of another. The JSON form is an interface: fields are only ever added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NewVersion {
    /// The name under which it is installed.
    pub name: String,
    /// The digest of the version that it is compared with.
    pub from: String,
    /// The digest.
    pub to: String,
    /// The changes from the version before.
    pub review: Review,
    /// Whether it has new capabilities without consent.
    pub refused: bool,
    #[serde(skip)]
    version: (SkillName, Digest),
    /// Whether the version before is no longer available, so that everything counts as new.
    #[serde(skip)]
    is_uncompared: bool,
}

impl NewVersion {
    /// Returns the version of `name` with the digest `to`, in the place of the one with the digest `from`.
    pub fn new(name: SkillName, (from, to): (Digest, Digest), review: Review) -> Self {
        Self {
            name: name.to_string(),
            from: from.to_string(),
            to: to.to_string(),
            review,
            refused: false,
            version: (name, to),
            is_uncompared: false,
        }
    }

    /// Returns the warning that there was nothing to compare it with.
    pub(crate) fn warning(&self) -> Option<Warning> {
        let told = format!(
            "the version of `{}` before is not available, so everything in the new one counts as new",
            self.name
        );
        self.is_uncompared.then(|| Warning::new(codes::LOCKED_VERSION_UNAVAILABLE, told))
    }

    /// Returns the version with consent.
    pub(crate) fn accepted(self) -> Self {
        Self { refused: false, ..self }
    }

    /// Returns the name and the digest.
    pub(crate) fn version(&self) -> (SkillName, Digest) {
        self.version.clone()
    }
}

/// The trees that a change brings.
pub(crate) type Contents = BTreeMap<SkillName, FileSet>;

/// The gate of one scope.
pub(crate) struct ConsentGate<'a> {
    context: &'a Context,
    scope: &'a Scope,
    files: &'a Files,
    known: ReviewedVersions,
}

impl<'a> ConsentGate<'a> {
    /// Returns the gate of `scope` with the manifest and lockfile `files`.
    pub(crate) fn new(context: &'a Context, scope: &'a Scope, files: &'a Files) -> Self {
        Self { context, scope, files, known: ReviewedVersions::read(&context.settings, scope) }
    }

    /// Reports whether this version was let into the scope before.
    pub(crate) fn has(&self, name: &SkillName, digest: &Digest) -> bool {
        self.known.has(name, digest)
    }

    /// Returns the version of `name` that the version `new` is compared with; `None` if `new` was let in before, or is the
    /// first one that this scope has.
    ///
    /// Usually that is the locked version. If this machine let in others but not the locked one, the lockfile was changed
    /// elsewhere, and it does not count. A lockfile that this machine has never seen has the consent of the team that
    /// committed it.
    pub(crate) fn before(&self, name: &SkillName, new: &Digest) -> Option<Digest> {
        if self.known.has(name, new) {
            return None;
        }
        let locked = self.files.lock.skills.get(name).map(|locked| locked.digest);
        let known = self.known.of(name);
        let before = match (locked, known.last()) {
            (Some(locked), Some(_)) if known.contains(&locked) => Some(locked),
            (_, Some(last)) => Some(*last),
            (Some(locked), None) => Some(locked),
            (None, None) => self.installed(name),
        };
        before.filter(|before| before != new)
    }

    /// Returns the version of `name` that is in its place, if it came from a source.
    fn installed(&self, name: &SkillName) -> Option<Digest> {
        let store = Store::new(&self.context.settings).ok()?;
        let places = [self.scope.skill_dir(name), self.scope.disabled_skill_dir(name)];
        let found = places.into_iter().filter(|place| matches!(crate::fs::kind(place), Ok(Some(_))));
        found.filter_map(|place| self.scope.index.trees().digest(&place)).find(|digest| store.has(digest))
    }

    /// Returns the tree of `name` with this digest, from where it is installed or from the store.
    pub(crate) fn tree(&self, name: &SkillName, digest: &Digest) -> Option<FileSet> {
        let places = [self.scope.skill_dir(name), self.scope.disabled_skill_dir(name)];
        let read = |place| self.scope.index.trees().read(place).ok().filter(|lying| lying.digest == *digest);
        if let Some(lying) = places.iter().find_map(|place| read(place)) {
            return Some(lying.files);
        }
        let stored = Store::new(&self.context.settings).ok()?.get(digest).ok()??;
        stored.digest().is_ok_and(|found| found == *digest).then_some(stored)
    }

    /// Returns the review of the versions that `plan` brings to reach `goal`, with the trees `contents`, in the place
    /// of others. What `agreed` covers by version was reviewed. `fetch` gets a locked version that is nowhere on this
    /// machine.
    pub(crate) fn review(
        &self,
        (goal, plan): (&Goal, &Plan),
        contents: &Contents,
        agreed: &Agreed,
        mut fetch: impl FnMut(&SkillName, &Locked) -> Option<FileSet>,
    ) -> Result<Vec<NewVersion>> {
        let (mut versions, steps) = (Vec::new(), steps(plan));
        for wanted in &goal.put {
            let name = &wanted.name;
            let Some(digest) = self.coming(wanted, plan, &steps) else { continue };
            let version = (name.clone(), digest);
            if agreed.versions.contains(&version) {
                continue;
            }
            let Some(before) = self.before(name, &digest) else { continue };
            let set = match (&wanted.content, contents.get(name)) {
                (Content::Editable(editable), _) => {
                    self.scope.index.trees().read(&editable.directory).ok().map(|l| l.files)
                }
                (_, Some(set)) => Some(set.clone()),
                (_, None) => self.tree(name, &digest),
            };
            // Without its files it cannot be put there either.
            let Some(set) = set else { continue };
            let locked = self.files.lock.skills.get(name).filter(|locked| locked.digest == before);
            let old = self.tree(name, &before).or_else(|| fetch(name, locked?));
            // Of a skill that was removed long ago nothing may be left to compare with.
            if old.is_none() && locked.is_none() && wanted.requirement.is_some() {
                continue;
            }
            let review = review(old.as_ref(), &set)?;
            versions.push(NewVersion {
                refused: review.new_capabilities() > 0 && !agreed.allow.admits(name),
                is_uncompared: old.is_none(),
                ..NewVersion::new(name.clone(), (before, digest), review)
            });
        }
        Ok(versions)
    }

    /// Returns the digest of the version of `wanted` that `plan` brings to agents, or locks.
    fn coming(&self, wanted: &Wanted, plan: &Plan, steps: &Steps<'_>) -> Option<Digest> {
        let name = &wanted.name;
        let is_locked_anew = |locked: &Locked| {
            let new = plan.lock.as_ref().and_then(|lock| lock.skills.get(name));
            let is_it = |entry: &Locked| entry.digest == locked.digest;
            new.is_some_and(is_it) && !self.files.lock.skills.get(name).is_some_and(is_it)
        };
        let mut steps = steps.get(name).into_iter().flatten();
        match &wanted.content {
            Content::Locked(locked) => {
                let shows = |step: &Step| {
                    matches!(step, Step::Put { .. })
                        || (!wanted.disabled && matches!(step, Step::Link { .. } | Step::Enable { .. }))
                };
                (steps.any(|step| shows(step)) || is_locked_anew(locked)).then_some(locked.digest)
            }
            // The edits are the user's own; agents' copies get what is locked.
            Content::AsItIs(locked) => {
                let puts = |step: &Step| matches!(step, Step::Put { digest, .. } if *digest == locked.digest);
                (steps.any(|step| puts(step)) || is_locked_anew(locked)).then_some(locked.digest)
            }
            Content::Merged(merged) => is_locked_anew(&merged.locked).then_some(merged.locked.digest),
            // A user who names a directory to work on knows its content; a user who restores a manifest may not.
            Content::Editable(editable) => {
                let comes =
                    wanted.requirement.is_none() && steps.any(|step| matches!(step, Step::Edit { .. }));
                comes.then(|| self.scope.index.digest_of(&editable.directory)).flatten()
            }
        }
    }

    /// Refuses new capabilities without consent.
    pub(crate) fn check(&self, change: (&Goal, &Plan), contents: &Contents, agreed: &Agreed) -> Result<()> {
        let versions = self.review(change, contents, agreed, |_, _| None)?;
        let refused: Vec<_> =
            versions.iter().filter(|one| one.refused).map(|one| one.name.as_str()).collect();
        if refused.is_empty() {
            return Ok(());
        }
        let install = Verb::Install.within(self.scope.kind);
        Err(refusal(&refused).hint(message!(
            "nothing was changed; ",
            install,
            " shows what is new, and asks"
        )))
    }

    /// Refuses the locked version `set` of `name` if it has new capabilities without consent.
    pub(crate) fn admit(&self, name: &SkillName, set: &FileSet) -> Result<()> {
        let Some(before) = self.before(name, &set.digest()?) else { return Ok(()) };
        let review = review(self.tree(name, &before).as_ref(), set)?;
        if review.new_capabilities() == 0 {
            return Ok(());
        }
        Err(refusal(&[name.as_str()]))
    }

    /// Records what the change `plan`, which has reached `goal`, has let in.
    pub(crate) fn pass(self, goal: &Goal, plan: &Plan) {
        let (mut passed, steps) = (BTreeSet::new(), steps(plan));
        for wanted in &goal.put {
            let first = || {
                let locked = wanted.content.locked().filter(|_| self.known.of(&wanted.name).is_empty());
                locked.map(|locked| locked.digest)
            };
            let digest = self.coming(wanted, plan, &steps).or_else(first);
            passed.extend(digest.map(|digest| (wanted.name.clone(), digest)));
        }
        for wanted in &goal.record {
            passed.extend(wanted.content.locked().map(|locked| (wanted.name.clone(), locked.digest)));
        }
        self.known.pass(passed);
    }
}

/// The steps of a plan, by skill.
type Steps<'p> = BTreeMap<&'p SkillName, Vec<&'p Step>>;

fn steps(plan: &Plan) -> Steps<'_> {
    let mut steps = Steps::new();
    for step in &plan.steps {
        steps.entry(step.name()).or_default().push(step);
    }
    steps
}

/// Returns the error for skills whose new versions have capabilities without consent.
pub(crate) fn refusal(names: &[&str]) -> Error {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    let have = if names.len() == 1 { "version of" } else { "versions of" };
    let verb = if names.len() == 1 { "has" } else { "have" };
    let what = format!("the new {have} {} {verb} new capabilities", quoted.join(", "));
    Error::new(ErrorKind::Findings, what).coded(codes::NEW_CAPABILITY)
}
