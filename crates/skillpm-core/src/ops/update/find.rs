//! Finds what is newer, and what else has to be done. Sources are asked and versions fetched, but nothing is changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::edits;
use super::outcome::{MergedPath, UpdateChange, UpdateFailure, UpdatedSkill};
use super::request::UpdateRequest;
use crate::advice::{Message, Verb, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Failure, Result};
use crate::fetch::dependencies::VersionRequest;
use crate::fetch::fetcher::{Fetcher, admit};
use crate::fetch::policy_check::PolicyDecision;
use crate::fs::{self, Kind};
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::merge::Prefer;
use crate::name::SkillName;
use crate::ops::diff::VersionDiff;
use crate::refusal::Limits;
use crate::resolve::Dependent;
use crate::scope::Scope;
use crate::scope::merges::{MergeChoice, Other, Unresolved};
use crate::scope::not_installed::{is_missing, not_locked_error};
use crate::scope::state;
use crate::spec::{Origin, Reference};
use crate::store::Store;
use crate::tree::{FileSet, Memory};
use crate::updates::{SourceState, Status};

/// The update of one skill.
pub(super) struct UpdateJob {
    pub(super) name: SkillName,
    /// The new manifest entry, if that changes.
    pub(super) entry: Option<Requirement>,
    /// Whether it is currently hidden from agents.
    pub(super) disabled: bool,
    pub(super) work: Work,
}

pub(super) enum Work {
    /// A new version takes the place of the one that is locked.
    New(Box<Newer>),
    /// A skill is added: others need it, or it was removed when others were merged.
    Added(Box<Added>),
    /// An earlier merge is made again for one side.
    Decide {
        record: Unresolved,
        locked: Locked,
        base: FileSet,
        mine: FileSet,
        theirs: FileSet,
        prefer: Prefer,
    },
    /// An earlier merge is taken back.
    Abort { record: Unresolved, locked: Locked, mine: FileSet },
}

/// A new version.
pub(super) struct Newer {
    pub(super) old: Locked,
    pub(super) new: Locked,
    /// The files of the new version.
    pub(super) set: FileSet,
    /// The files of the locked version, if they are available.
    pub(super) base: Option<FileSet>,
    /// The changes in it.
    pub(super) diff: VersionDiff,
}

/// A skill that is added.
pub(super) struct Added {
    pub(super) locked: Locked,
    pub(super) set: FileSet,
    /// All of it, as what is new; `None` if it was there before.
    pub(super) diff: Option<VersionDiff>,
}

impl UpdateJob {
    /// Returns how much the skill could do that it cannot do now.
    pub(super) fn new_capabilities(&self) -> usize {
        match &self.work {
            Work::New(newer) => newer.diff.review.new_capabilities(),
            Work::Added(added) => added.diff.as_ref().map_or(0, |diff| diff.review.new_capabilities()),
            // All of them were seen when they were merged.
            Work::Decide { .. } | Work::Abort { .. } => 0,
        }
    }

    /// Returns its new lock entry, if that is a new version.
    pub(super) fn new_version(&self) -> Option<&Locked> {
        match &self.work {
            Work::New(newer) => Some(&newer.new),
            Work::Added(added) => added.diff.as_ref().map(|_| &added.locked),
            Work::Decide { .. } | Work::Abort { .. } => None,
        }
    }

    /// Returns which version it brings, for comparison.
    pub(super) fn version(&self) -> (SkillName, Digest) {
        (self.name.clone(), self.locks().digest)
    }

    /// Returns its lock entry when this is done.
    pub(super) fn locks(&self) -> &Locked {
        match &self.work {
            Work::New(newer) => &newer.new,
            Work::Added(added) => &added.locked,
            Work::Decide { locked, .. } => locked,
            Work::Abort { record, .. } => &record.before,
        }
    }

    /// Reports whether an earlier merge is over when it is done.
    pub(super) fn ends_a_merge(&self) -> bool {
        matches!(self.work, Work::Decide { .. } | Work::Abort { .. })
    }
}

/// The findings.
#[derive(Default)]
pub(super) struct FoundUpdates {
    pub(super) jobs: Vec<UpdateJob>,
    pub(super) others: Vec<UpdatedSkill>,
    /// Skills with an earlier merge that a user has resolved since.
    pub(super) resolved: Vec<SkillName>,
    pub(super) failures: Vec<UpdateFailure>,
    pub(super) warnings: Vec<Warning>,
    pub(super) decided: Vec<PolicyDecision>,
    /// The states of the skills' sources.
    pub(super) states: BTreeMap<String, SourceState>,
}

/// An installed skill, and what the manifest says about it.
pub(super) struct Installed<'a> {
    pub(super) name: &'a SkillName,
    pub(super) entry: Requirement,
    pub(super) locked: &'a Locked,
}

/// Finds out what is to be done about the skills `names`.
pub(super) fn find(
    context: &Context,
    scope: &Scope,
    files: &state::Files,
    request: &UpdateRequest,
    names: &[SkillName],
) -> Result<FoundUpdates> {
    let fetcher = Fetcher::new(context, scope, files)?;
    let mut finder = Finder {
        context,
        scope,
        files,
        request,
        fetcher,
        kept: files.kept(),
        unreachable: BTreeMap::new(),
        gone: BTreeMap::new(),
        incoming: Vec::new(),
        requests: Vec::new(),
        found: FoundUpdates::default(),
    };
    let mut asked = Vec::new();
    for name in names {
        let Some(installed) = finder.installed(name)? else { continue };
        match finder.earlier(&installed) {
            Ok(true) => {}
            Ok(false) => asked.push(installed),
            Err(error) => finder.fail(&installed, error)?,
        }
    }
    let (released, others) = finder.ask(asked)?;
    for one in others {
        finder.get(one)?;
    }
    if request.abort {
        finder.drop_unneeded();
    } else {
        finder.complete(released)?;
    }
    let Finder { fetcher, mut found, .. } = finder;
    if request.abort && found.jobs.is_empty() && found.failures.is_empty() {
        return Err(Error::usage("there is no merge to undo")
            .hint("a merge can be undone after an update with conflicts, until they are resolved"));
    }
    found.warnings.extend(fetcher.warnings);
    found.decided = fetcher.sources.gate.decided();
    Ok(found)
}

pub(super) struct Finder<'a> {
    pub(super) context: &'a Context,
    pub(super) scope: &'a Scope,
    pub(super) files: &'a state::Files,
    pub(super) request: &'a UpdateRequest,
    pub(super) fetcher: Fetcher<'a>,
    /// The skills that the manifest requests, and those that they need.
    kept: BTreeSet<SkillName>,
    /// New versions, whose dependencies are not resolved.
    pub(super) incoming: Vec<Dependent>,
    /// The requests to registries besides those of the manifest, when the versions were decided.
    pub(super) requests: Vec<VersionRequest>,
    /// Sources that could not be reached, with their place among the failures: each is tried once.
    pub(super) unreachable: BTreeMap<(Origin, Option<Reference>), usize>,
    /// Why locked revisions are no longer available, of those that were asked for.
    pub(super) gone: BTreeMap<(Origin, Option<String>), Option<Message>>,
    pub(super) found: FoundUpdates,
}

impl<'a> Finder<'a> {
    /// Reports whether skills were named.
    pub(super) fn is_named(&self) -> bool {
        !self.request.names.is_empty()
    }

    /// Returns what is installed as `name`, if that can be updated at all; what to report about it is reported.
    fn installed(&mut self, name: &'a SkillName) -> Result<Option<Installed<'a>>> {
        let locked = self.files.lock.skills.get(name);
        let entry = self.files.manifest.skills().get(name);
        let other = |change, status: Status| {
            let entry = entry.map(|entry| entry.origin.to_string()).unwrap_or_default();
            UpdatedSkill { state: status.into(), ..UpdatedSkill::new(name.as_str(), entry, change, None) }
        };
        match (entry, locked) {
            (Some(entry), _) if entry.editable => {
                self.found.others.push(other(UpdateChange::Editable, Status::Editable));
            }
            (None, Some(_)) if !self.kept.contains(name) => {
                if self.is_named() {
                    let manifest = self.scope.manifest.display();
                    return Err(Error::config(format!(
                        "`{name}` is in the lockfile and not in `{manifest}`"
                    ))
                    .hint(message!(
                        Verb::Install,
                        " removes what the manifest does not name; restore the entry to keep it"
                    )));
                }
            }
            (_, None) if self.is_named() => {
                return Err(not_locked_error(self.scope, name));
            }
            (_, None) => self.found.others.push(other(UpdateChange::Missing, Status::NotInstalled)),
            (entry, Some(locked)) => {
                let entry = entry.cloned().unwrap_or_else(|| locked.requirement());
                return Ok(Some(Installed { name, entry, locked }));
            }
        }
        Ok(None)
    }

    /// Leaves what cannot be asked or used as it is; a skill that was named is the whole request.
    pub(super) fn fail(&mut self, installed: &Installed<'_>, error: Error) -> Result<()> {
        self.fail_all(&[installed], error)
    }

    pub(super) fn fail_all(&mut self, installed: &[&Installed<'_>], error: Error) -> Result<()> {
        if self.is_named() {
            return Err(error);
        }
        for one in installed {
            self.other(one, UpdateChange::Failed);
        }
        let names = installed.iter().map(|one| one.name.to_string()).collect();
        self.found.failures.push(UpdateFailure { names, why: Failure::from(&error) });
        Ok(())
    }

    /// Handles an earlier merge that a user had to resolve, and returns whether nothing else has to be done for the skill.
    pub(super) fn earlier(&mut self, installed: &Installed<'_>) -> Result<bool> {
        let Installed { name, entry, locked } = installed;
        // It is restored together with one that needs it.
        if self.found.jobs.iter().any(|job| job.name == **name) {
            return Ok(true);
        }
        let record = Unresolved::read(self.scope, name, locked)?;
        let Some(record) = record else {
            if self.request.abort && self.is_named() {
                return Err(Error::usage(format!("there is no merge of `{name}` to undo")));
            }
            return Ok(self.request.abort);
        };
        let mut job = |entry, work| {
            let (name, disabled) = ((*name).clone(), installed.entry.disabled);
            self.found.jobs.push(UpdateJob { name, entry, disabled, work });
        };
        if self.request.abort {
            let mine = mine(self.context, name, &record)?;
            let before = asked_before(self.files.manifest.skills().get(*name), &record);
            let (mut gone, others) = (record.gone.clone(), record.others.clone());
            job(before, Work::Abort { record, locked: (*locked).clone(), mine });
            gone.extend(self.take_back(name, others));
            self.bring_back(name, gone);
            return Ok(true);
        }
        let on_disk = match tree(self.context, self.scope, name, entry.disabled)? {
            Some((path, Some(_))) => self.scope.index.trees().read(&path)?.files,
            _ => nothing(),
        };
        let open = edits::open(&record, locked, &on_disk)?;
        if open.is_empty() {
            if !self.found.resolved.contains(name) {
                self.found.resolved.push((*name).clone());
            }
            return Ok(false);
        }
        let Some(prefer) = self.request.prefer else {
            if self.is_named() {
                return Err(edits::unresolved(self.scope.kind, name, &open));
            }
            let source = locked.origin.to_string();
            let mut skill = UpdatedSkill::new(name.as_str(), source, UpdateChange::Unresolved, Some(locked));
            skill.merge = open.into_iter().map(MergedPath::open).collect();
            self.found.others.push(skill);
            return Ok(true);
        };
        let mine = mine(self.context, name, &record)?;
        let base = self.fetcher.content(name, &record.before)?;
        let theirs = self.fetcher.content(name, locked)?;
        job(None, Work::Decide { record, locked: (*locked).clone(), base, mine, theirs, prefer });
        Ok(true)
    }

    /// Takes back what the update that has left the merge of `name` made of the skills that `name` needs, as far as they
    /// are still so, and returns what was locked of those that are gone since.
    fn take_back(
        &mut self,
        name: &SkillName,
        others: BTreeMap<SkillName, Other>,
    ) -> BTreeMap<SkillName, Locked> {
        let mut gone = BTreeMap::new();
        for (other, changed) in others {
            let entry = self.files.manifest.skills().get(&other);
            let Some(locked) = self.files.lock.skills.get(&other) else {
                gone.insert(other, changed.before);
                continue;
            };
            let is_ours = locked.digest == changed.new && locked.origin == changed.before.origin;
            let set = if is_ours {
                self.stored(&other, &changed.before, &changed.mine).and_then(|set| {
                    set.ok_or_else(|| Error::integrity("the store no longer has it as it was".to_owned()))
                })
            } else {
                Err(Error::new(ErrorKind::Findings, "it was changed since"))
            };
            match set {
                Ok(mine) => {
                    let record = changed.into_record();
                    let (before, disabled) =
                        (asked_before(entry, &record), entry.is_some_and(|e| e.disabled));
                    let work = Work::Abort { record, locked: locked.clone(), mine };
                    self.found.jobs.retain(|job| job.name != other);
                    self.found.jobs.push(UpdateJob { name: other, entry: before, disabled, work });
                }
                Err(error) => self.found.warnings.push(Warning::new(
                    codes::DEPENDENCY_NOT_RESTORED,
                    message!(
                        format_args!("`{other}`, which `{name}` needs, does not go back to what it was: "),
                        error.with_causes()
                    ),
                )),
            }
        }
        gone
    }

    /// Brings back what the update took away that has left the merge of `name`. A record may be a stranger's, so only what
    /// was here before comes from it.
    fn bring_back(&mut self, name: &SkillName, gone: BTreeMap<SkillName, Locked>) {
        for (needed, locked) in gone {
            let is_coming = self.found.jobs.iter().any(|job| job.name == needed);
            if is_coming || self.files.knows(&needed) {
                continue;
            }
            let why = match self.stored(&needed, &locked, &locked.digest) {
                Ok(Some(set)) => {
                    let work = Work::Added(Box::new(Added { locked, set, diff: None }));
                    self.found.jobs.push(UpdateJob { name: needed, entry: None, disabled: false, work });
                    continue;
                }
                Ok(None) => "the store no longer has it".into(),
                Err(error) => error.with_causes(),
            };
            self.found.warnings.push(Warning::new(
                codes::DEPENDENCY_NOT_RESTORED,
                message!(
                    format_args!("`{needed}`, which `{name}` needs, was not restored: "),
                    why,
                    "; ",
                    Verb::Install.within(self.scope.kind),
                    " installs it again"
                ),
            ));
        }
    }

    /// Returns the files with the digest `tree`, which are `locked` or what a user made of it, if the store has them
    /// and the policy admits them.
    fn stored(&mut self, name: &SkillName, locked: &Locked, tree: &Digest) -> Result<Option<FileSet>> {
        let gate = &mut self.fetcher.sources.gate;
        admit(gate, self.files, name, locked)?;
        let set = Store::new(&self.context.settings)?.get(tree)?;
        let whole = |set: &FileSet| set.digest().is_ok_and(|digest| digest == *tree);
        let Some(set) = set.filter(whole) else { return Ok(None) };
        // A user's version is in its place.
        if *tree == locked.digest {
            gate.skill(name, &set)?;
        }
        Ok(Some(set))
    }

    /// Reports a skill that stays as it is.
    pub(super) fn other(&mut self, installed: &Installed<'_>, change: UpdateChange) {
        let Installed { name, entry, locked } = installed;
        let is_there =
            || !matches!(self.scope.home_of(&self.context.settings, name, entry.disabled), Ok(None));
        if change == UpdateChange::Unchanged && !is_there() {
            self.found.warnings.push(is_missing(self.scope.kind, name));
        }
        let skill = UpdatedSkill::new(name.as_str(), locked.origin.to_string(), change, Some(locked));
        self.found.others.push(UpdatedSkill { disabled: entry.disabled, ..skill });
    }
}

/// Returns the directory in which the skill `name` is, and the digest of its files where these can be a skill's; `None`
/// if no directory is there.
pub(super) fn tree(
    context: &Context,
    scope: &Scope,
    name: &SkillName,
    disabled: bool,
) -> Result<Option<(PathBuf, Option<Digest>)>> {
    let Some(path) = scope.home_of(&context.settings, name, disabled)? else { return Ok(None) };
    if fs::kind(&path)? != Some(Kind::Directory) {
        return Ok(None);
    }
    let digest = scope.index.trees().digest(&path);
    Ok(Some((path, digest)))
}

/// Returns what the manifest is to say again once the merge of `record` is taken back, if that is not what it says now:
/// `entry`. What it does not name it does not name afterwards either.
fn asked_before(entry: Option<&Requirement>, record: &Unresolved) -> Option<Requirement> {
    let entry = entry?;
    let reference = match &record.asked {
        MergeChoice::Entry(before) => before.reference.clone(),
        MergeChoice::Nothing => return None,
        MergeChoice::Unknown => record.before.requirement().reference,
    };
    (reference != entry.reference).then(|| Requirement { reference, ..entry.clone() })
}

/// Returns the skill as the user had it before the merge of `record`.
fn mine(context: &Context, name: &SkillName, record: &Unresolved) -> Result<FileSet> {
    let store = Store::new(&context.settings)?;
    let set = store.get(&record.mine)?;
    let whole = |set: &FileSet| set.digest().is_ok_and(|digest| digest == record.mine);
    set.filter(whole).ok_or_else(|| {
        Error::integrity(format!("the store no longer has `{name}` as it was before the merge"))
            .hint("resolve the conflicts by hand: your files are kept beside them")
    })
}

/// No files.
pub(super) fn nothing() -> FileSet {
    // Without files there is nothing that could be wrong.
    FileSet::new(Vec::new(), Arc::new(Memory::default()), &Limits::default())
        .unwrap_or_else(|_| unreachable!("an empty set is within all limits"))
}
