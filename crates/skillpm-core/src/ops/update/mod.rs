//! `update`: newer versions of installed skills, and what the user wrote stays.
//!
//! First the sources are asked, and what is new is fetched and compared with what is locked; nothing
//! is changed, so a front end can show it and ask. Only then is the scope locked, what the user wrote
//! is merged into what is new, and the scope is changed as one.

mod ask;
mod dependencies;
mod edits;
mod find;
mod outcome;
mod settle;

use std::collections::BTreeSet;

pub(super) use self::edits::{has_conflicts, unsettled};
pub use self::outcome::{
    ChangedFile, MergedPath, UpdateChange, UpdateFailure, UpdateOutcome, UpdatedSkill, Version,
};

use self::edits::DIGITS;
use self::find::UpdateJob;
use self::settle::SettleError;
use super::absent::{installed_names, no_manifest};
use super::change::Begun;
use super::policy_check::PolicyDecision;
use crate::advice::{Call, Opt, Verb, Warning, message};
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::install::scope::{Scope, ScopeKind};
use crate::install::state::Files;
use crate::install::transaction::Transaction;
use crate::lockfile::Locked;
use crate::merge::Prefer;
use crate::name::SkillName;
use crate::reporter::Choice;
use crate::resolve::graph::closure;

/// The number of skills that are named in the command of a hint.
const MOST_NAMED: usize = 8;

/// What is to be updated.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of its own, and all combinations have a meaning"
)]
pub struct UpdateRequest {
    /// The names under which the skills are installed; none: all of the scope.
    pub names: Vec<String>,
    /// The scope; the project if it is `None`.
    pub scope: Option<ScopeKind>,
    /// Go past the tags and commits that the manifest names, and write the new ones into it.
    pub latest: bool,
    /// The skills that may bring new capabilities without a person's review.
    pub allow: Allow,
    /// Whose file stands where both changed it and cannot be merged; it also ends earlier merges that have to be
    /// examined.
    pub prefer: Option<Prefer>,
    /// Take earlier merges back that have to be examined.
    pub abort: bool,
    /// Replace what is in the way and cannot be merged; it is kept in the store.
    pub force: bool,
    /// Plan only.
    pub dry_run: bool,
    /// Leave what skills need as it is locked.
    pub no_deps: bool,
}

impl UpdateRequest {
    /// Returns the options that say what an update brings, as they are typed, for hints.
    fn options(&self) -> impl Iterator<Item = Opt> {
        let options = [
            (self.latest, Opt::Latest),
            (self.prefer == Some(Prefer::Ours), Opt::Ours),
            (self.prefer == Some(Prefer::Theirs), Opt::Theirs),
            (self.force, Opt::Force),
            (self.no_deps, Opt::NoDeps),
        ];
        options.into_iter().filter_map(|(is_on, option)| is_on.then_some(option))
    }
}

/// The skills that may bring new capabilities.
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

/// The newer versions in the sources, before anything is changed.
pub struct Prepared<'a> {
    context: &'a Context,
    request: &'a UpdateRequest,
    scope: Scope,
    /// Manifest and lockfile, as they were when the sources were asked.
    files: Files,
    /// What is to be done.
    jobs: Vec<UpdateJob>,
    /// Skills of which nothing changes.
    others: Vec<UpdatedSkill>,
    /// Merges that were examined since.
    resolved: Vec<SkillName>,
    /// Skills that bring new capabilities and may not.
    refused: Vec<SkillName>,
    failures: Vec<UpdateFailure>,
    warnings: Vec<Warning>,
    decided: Vec<PolicyDecision>,
}

/// Updates skills.
///
/// # Errors
///
/// Fails as [`prepare`] does and [`Prepared::apply`]; nothing has been changed then.
pub fn update(context: &Context, request: &UpdateRequest) -> Result<UpdateOutcome> {
    let mut prepared = prepare(context, request)?;
    if request.dry_run { prepared.plan() } else { prepared.apply(false) }
}

/// Asks the sources of skills what is newer, fetches that, and compares it with what is locked.
///
/// # Errors
///
/// Fails for a manifest or lockfile that cannot be read, or for a skill that is not installed. Of skills that were
/// named: a source that cannot be reached or no longer has it, a policy that refuses it, a merge that somebody has to
/// resolve first. Where none was named, these are reported in the outcome.
pub fn prepare<'a>(context: &'a Context, request: &'a UpdateRequest) -> Result<Prepared<'a>> {
    let scope = Scope::new(&context.settings, request.scope.unwrap_or(ScopeKind::Project))?;
    let begin = || Transaction::begin(&scope, &context.settings, &*context.reporter);
    if !request.dry_run && Transaction::is_begun(&scope) {
        // What a killed run has begun is finished first: it may lock other versions.
        drop(begin()?);
    }
    let files = Files::read(&scope);
    let before = files.as_ref().ok().map(texts);
    let found = files.and_then(|files| look(context, request, scope.clone(), files));
    if found.is_err() && !request.dry_run && is_at_work(&scope, before.as_ref()) {
        // What is read while another run changes it may be inconsistent.
        let _alone = begin()?;
        let files = Files::read(&scope)?;
        return look(context, request, scope.clone(), files);
    }
    found
}

/// The texts of manifest and lockfile.
type Texts = (Option<String>, Option<String>);

fn texts(files: &Files) -> Texts {
    (files.manifest_text.clone(), files.lock_text.clone())
}

/// Returns whether another run is changing `scope`, or has changed it since its files had the texts `before`.
fn is_at_work(scope: &Scope, before: Option<&Texts>) -> bool {
    let now = Files::read(scope);
    Transaction::is_begun(scope) || before != now.as_ref().ok().map(texts).as_ref()
}

/// Works like [`prepare`], from what is in `scope` and its `files` now.
fn look<'a>(
    context: &'a Context,
    request: &'a UpdateRequest,
    scope: Scope,
    files: Files,
) -> Result<Prepared<'a>> {
    if files.manifest_text.is_none() && files.lock_text.is_none() && !request.names.is_empty() {
        return Err(no_manifest(&scope));
    }
    let mut names = installed_names(context, &scope, &files, (Verb::Update, &request.names))?;
    if request.names.is_empty() {
        names = files.manifest.skills().keys().chain(files.lock.skills.keys()).cloned().collect();
        names.sort();
        names.dedup();
    }
    let found = find::find(context, &scope, &files, request, &names)?;
    if let Allow::Only(only) = &request.allow {
        // A skill that comes because others need it is not installed yet.
        let comes = |name: &&String| found.jobs.iter().any(|job| job.name.as_str() == *name);
        let others: Vec<_> = only.iter().filter(|name| !comes(name)).cloned().collect();
        installed_names(context, &scope, &files, (Verb::Update, &others))?;
    }
    let is_allowed = |name: &SkillName| match &request.allow {
        Allow::None => false,
        Allow::Only(only) => only.iter().any(|one| one == name.as_str()),
        Allow::All => true,
    };
    let refused = found.jobs.iter().filter(|job| job.new_capabilities() > 0).map(|job| job.name.clone());
    let refused = refused.filter(|name| !is_allowed(name)).collect();
    Ok(Prepared {
        context,
        request,
        scope,
        files,
        jobs: found.jobs,
        others: found.others,
        resolved: found.resolved,
        refused,
        failures: found.failures,
        warnings: found.warnings,
        decided: found.decided,
    })
}

impl Prepared<'_> {
    /// Reports whether there is anything to change.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Returns what a person should know before anything is changed.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Returns how many skills get a new version.
    pub fn new_versions(&self) -> usize {
        self.jobs.iter().filter(|job| job.new_version().is_some()).count()
    }

    /// Returns what is to be done.
    pub fn request(&self) -> &UpdateRequest {
        self.request
    }

    /// Returns the skills with a new version, for a person who picks some of them. Those with new capabilities that
    /// nobody agreed to are not picked beforehand.
    pub fn choices(&self) -> Vec<Choice> {
        let choice = |job: &UpdateJob| {
            let find::Work::New(newer) = &job.work else { return None };
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
            let picked = !self.refused.contains(&job.name);
            Some(Choice { picked, ..Choice::new(job.name.as_str(), &format!("{versions}{what}")) })
        };
        self.jobs.iter().filter_map(choice).collect()
    }

    /// With the new capabilities agreed to that were in `seen`, which a person has examined.
    #[must_use]
    pub fn agreed(mut self, seen: &Self) -> Self {
        let seen = seen.versions();
        let jobs = &self.jobs;
        self.refused
            .retain(|name| !jobs.iter().any(|job| job.name == *name && seen.contains(&job.version())));
        self
    }

    /// Returns what [`Prepared::apply`] would do, as things are now. Nothing is changed. Where another run is changing
    /// the same skills, all is examined again.
    ///
    /// # Errors
    ///
    /// Fails for edits that cannot be merged, and if something is in the way.
    pub fn plan(&mut self) -> Result<UpdateOutcome> {
        match self.outcome() {
            Err(_) if !self.request.dry_run && is_at_work(&self.scope, Some(&texts(&self.files))) => {
                let (scope, context) = (self.scope.clone(), self.context);
                let _alone = Transaction::begin(&scope, &context.settings, &*context.reporter)?;
                let files = Files::read(&scope)?;
                *self = look(context, self.request, scope.clone(), files)?;
                Ok(self.outcome()?)
            }
            outcome => Ok(outcome?),
        }
    }

    /// Returns what would be done by the files that were read when the sources were asked.
    fn outcome(&self) -> std::result::Result<UpdateOutcome, SettleError> {
        let begun = Begun::of_files(self.context, &self.scope, self.files.clone());
        let settled = settle::settle(self, &begun)?;
        Ok(UpdateOutcome { dry_run: true, ..settled.outcome })
    }

    /// Reports whether manifest and lockfile say the same as before of what is to be changed. Other skills may have
    /// been changed meanwhile: the plan is made again.
    fn still_holds(&self, now: &Files) -> bool {
        let mut names = self.jobs.iter().map(|job| &job.name).chain(&self.resolved);
        names.all(|name| {
            self.files.manifest.skills().get(name) == now.manifest.skills().get(name)
                && self.files.lock.skills.get(name) == now.lock.skills.get(name)
        })
    }

    /// Does it. With `consent` somebody has seen the review and agreed to new capabilities.
    ///
    /// # Errors
    ///
    /// Fails for new capabilities that nobody agreed to, for edits that cannot be merged, if something is in the way,
    /// or for files that somebody else changed meanwhile. Nothing has been changed then.
    pub fn apply(self, consent: bool) -> Result<UpdateOutcome> {
        if !consent {
            self.check_capabilities()?;
        }
        if self.is_empty() && self.resolved.is_empty() {
            return Ok(UpdateOutcome { dry_run: false, ..self.outcome()? });
        }
        let scope = self.scope.clone();
        let begun = Begun::begin(self.context, &scope, false)?;
        if self.still_holds(begun.files()) {
            match settle::settle(&self, &begun) {
                Ok(settled) => return settled.apply(),
                Err(SettleError::Other(error)) => return Err(error),
                Err(SettleError::Stale(_)) => {}
            }
        }
        // Others were faster. Nobody else changes anything from here on, so what is seen now holds.
        let mut again = look(self.context, self.request, scope.clone(), begun.files().clone())?;
        if consent {
            again = again.agreed(&self);
        }
        again.check_capabilities()?;
        settle::settle(&again, &begun)?.apply()
    }

    /// Returns the new versions, as a person has seen them.
    fn versions(&self) -> BTreeSet<(SkillName, Digest)> {
        self.jobs.iter().map(UpdateJob::version).collect()
    }

    /// Refuses new capabilities that nobody agreed to.
    fn check_capabilities(&self) -> Result<()> {
        if self.refused.is_empty() {
            return Ok(());
        }
        let quoted: Vec<_> = self.refused.iter().map(|name| format!("`{name}`")).collect();
        let only: Vec<_> = self.refused.iter().map(SkillName::as_str).collect();
        let comes = |name: &SkillName| !self.files.lock.skills.contains_key(name);
        let what = if self.refused.iter().any(comes) {
            format!("{} can do what was not allowed", quoted.join(", "))
        } else {
            format!("the new version of {} has new capabilities", quoted.join(", "))
        };
        let error = Error::new(ErrorKind::Findings, what);
        let update = || self.request.options().fold(Verb::Update.within(self.scope.kind), Call::flag);
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
        let free = self.jobs.iter().filter(|job| self.is_unsuspicious(job));
        let names: Vec<_> = free.map(|job| job.name.as_str()).collect();
        if names.len() > MOST_NAMED { Vec::new() } else { names }
    }

    fn is_unsuspicious(&self, job: &UpdateJob) -> bool {
        let lock = |name: &SkillName| match self.jobs.iter().find(|job| job.name == *name) {
            Some(job) => Some(job.locks()),
            None => self.files.lock.skills.get(name),
        };
        matches!(job.work, find::Work::New(_))
            && !self.files.is_only_needed(&job.name)
            && closure([&job.name], lock).iter().all(|needed| !self.refused.contains(needed))
    }
}
