//! A change from its beginning to its end.

use std::collections::BTreeMap;

use super::kept::{add_contents, foreign_left, keep_copies, keep_left, keep_replaced, kept_by};
use super::lacking::lacking;
use super::listings::Listings;
use super::plan::make_plan;
use crate::advice::Warning;
use crate::change::consent::{Agreed, ConsentGate};
use crate::codes;
use crate::context::Context;
use crate::error::Result;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::scope::changes::{self, PathChange};
use crate::scope::merges::{self, Unresolved};
use crate::scope::plan::{Goal, Plan};
use crate::scope::state::{Depth, Files, ScopeState};
use crate::scope::transaction::Transaction;
use crate::scope_kind::ScopeKind;
use crate::tree::FileSet;

/// A scope that is about to be changed. No other process changes it while this value exists, except during a dry run,
/// which takes no lock and repairs nothing.
pub(crate) struct Begun<'a> {
    context: &'a Context,
    scope: &'a Scope,
    transaction: Option<Transaction<'a>>,
    state: ScopeState<'a>,
}

impl<'a> Begun<'a> {
    /// Locks `scope`, finishes what a killed run left behind, and reads the manifest and the lockfile.
    pub(crate) fn begin(context: &'a Context, scope: &'a Scope, dry_run: bool) -> Result<Self> {
        Self::begin_reading(context, scope, dry_run, Files::read)
    }

    /// Works like [`Begun::begin`], but reads the two files with `read`.
    pub(crate) fn begin_reading(
        context: &'a Context,
        scope: &'a Scope,
        dry_run: bool,
        read: impl FnOnce(&Scope) -> Result<Files>,
    ) -> Result<Self> {
        let begin = || Transaction::begin(scope, &context.settings, &*context.reporter);
        let transaction = (!dry_run).then(begin).transpose()?;
        let state = ScopeState::of(&context.settings, scope, read(scope)?, Depth::Metadata);
        Ok(Self { context, scope, transaction, state })
    }

    /// Returns the start of a dry run from `files`, which were read before.
    pub(crate) fn of_files(context: &'a Context, scope: &'a Scope, files: Files) -> Self {
        let state = ScopeState::of(&context.settings, scope, files, Depth::Metadata);
        Self { context, scope, transaction: None, state }
    }

    /// Returns the state of the scope before the change.
    pub(crate) fn state(&self) -> &ScopeState<'a> {
        &self.state
    }

    /// Returns the manifest and the lockfile, as they were before the change.
    pub(crate) fn files(&self) -> &Files {
        &self.state.files
    }

    /// Plans the steps that lead to `goal`.
    pub(crate) fn plan(&self, goal: Goal) -> Result<Planned<'_, 'a>> {
        let plan = make_plan(self.context, &self.state, &goal)?;
        let paths = changes::of_plan(&self.context.settings, self.scope, &plan);
        let foreign = foreign_left(self.context, self.scope, &plan)?;
        Ok(Planned { begun: self, goal, plan, paths, foreign, agreed: Agreed::default() })
    }
}

/// A planned change. Nothing has been written yet.
pub(crate) struct Planned<'b, 'a> {
    begun: &'b Begun<'a>,
    goal: Goal,
    plan: Plan,
    paths: Vec<PathChange>,
    foreign: Vec<Warning>,
    /// The new versions that were agreed to.
    agreed: Agreed,
}

/// The merges that a change leaves open or ends.
#[derive(Debug, Default)]
pub(crate) struct Merges {
    /// The merges that the user has to resolve.
    pub(crate) open: Vec<(SkillName, Unresolved)>,
    /// The skills whose merges end.
    pub(crate) ended: Vec<SkillName>,
}

impl Planned<'_, '_> {
    /// Returns the plan.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the paths that the plan changes.
    pub(crate) fn paths(&self) -> &[PathChange] {
        &self.paths
    }

    /// Returns a warning about each path that skillpm did not make and that is left as it is.
    pub(crate) fn foreign(&self) -> &[Warning] {
        &self.foreign
    }

    /// Returns the goal of the plan.
    pub(crate) fn goal(&self) -> &Goal {
        &self.goal
    }

    /// Returns the plan with the consent to new versions. Without it, those with new capabilities are refused.
    pub(crate) fn agreed(self, agreed: Agreed) -> Self {
        Self { agreed, ..self }
    }

    /// Carries the plan out: saves what it replaces, then changes everything in one transaction. `contents` holds the
    /// trees that come from elsewhere. A dry run changes nothing.
    pub(crate) fn apply(self, contents: BTreeMap<SkillName, FileSet>) -> Result<Applied> {
        self.apply_with(contents, Merges::default())
    }

    /// Works like [`Planned::apply`], and records `merges`.
    pub(crate) fn apply_with(
        self,
        mut contents: BTreeMap<SkillName, FileSet>,
        merges: Merges,
    ) -> Result<Applied> {
        let Self { begun, goal, mut plan, paths, foreign, agreed } = self;
        let Begun { context, scope, transaction, state } = begun;
        let files = &state.files;
        let Merges { open, ended } = merges;
        plan.ended.extend(ended);
        plan.ended.retain(|name| open.iter().all(|(other, _)| other != name));
        let (mut saved, mut warnings, mut undoable) = (Vec::new(), Vec::new(), false);
        if let Some(transaction) = transaction {
            let gate = ConsentGate::new(context, scope, files);
            gate.check((&goal, &plan), &contents, &agreed)?;
            let told = keep_replaced(context, scope, &plan)?;
            keep_left(context, scope, &goal, &plan, &mut warnings)?;
            add_contents(context, scope, &plan, &mut contents)?;
            keep_copies(context, &plan, files, &contents);
            for (name, record) in &open {
                record.write(scope, name)?;
            }
            let listings = Listings::before(state, &goal, &plan, &context.settings);
            transaction.apply(&plan, files, &contents).inspect_err(|_| {
                for (name, _) in &open {
                    // The record is about a version that is not locked, so it will not be read.
                    let _ = merges::forget(scope, name);
                }
            })?;
            gate.pass(&goal, &plan);
            warnings
                .extend(listings.into_iter().flat_map(|listings| listings.after(&plan, &context.settings)));
            warnings.extend(lacking(&context.settings, scope, &plan));
            saved = kept_by(transaction, scope, told);
            undoable = transaction.is_undoable();
            // If nothing else changes, no transaction has done it.
            for name in &plan.ended {
                merges::forget(scope, name)?;
            }
        }
        Ok(Applied { scope: scope.kind, plan, paths, foreign, saved, warnings, undoable })
    }
}

/// A change that was made, or planned in a dry run.
#[derive(Debug)]
pub(crate) struct Applied {
    scope: ScopeKind,
    /// The steps that were or would be taken.
    pub(crate) plan: Plan,
    /// The paths that were or would be changed.
    pub(crate) paths: Vec<PathChange>,
    /// Warnings about what skillpm did not make and left as it is.
    pub(crate) foreign: Vec<Warning>,
    /// Warnings about edited copies that were saved, with the command that restores them.
    pub(crate) saved: Vec<Warning>,
    /// Other warnings for the user.
    pub(crate) warnings: Vec<Warning>,
    /// Whether `undo` takes the change back.
    pub(crate) undoable: bool,
}

impl Applied {
    /// Returns the warnings about skills that stay in place because the other scope in the same directory has
    /// them too.
    pub(crate) fn shared(&self) -> impl Iterator<Item = Warning> {
        let whose = match self.scope {
            ScopeKind::Project => "your own skills have",
            ScopeKind::User => "the project in your home directory has",
        };
        let told = move |name| Warning::new(codes::KEPT_SHARED, format!("`{name}` was kept: {whose} it too"));
        self.plan.shared.iter().map(told)
    }
}
