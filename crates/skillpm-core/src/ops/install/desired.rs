//! The desired state of an installation, determined without looking at the current state.

use std::collections::BTreeMap;

use crate::advice::{Warning, message};
use crate::error::{Error, ErrorKind, Failure, NamedFailure};
use crate::fetch::policy_check::PolicyDecision;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::scope::plan::Wanted;
use crate::tree::FileSet;

/// The desired state after an installation.
#[derive(Debug, Clone, Default)]
pub(in crate::ops) struct Desired {
    /// The skills that should be installed.
    pub(in crate::ops) wanted: Vec<Wanted>,
    /// The files of those that come from elsewhere.
    pub(in crate::ops) contents: BTreeMap<SkillName, FileSet>,
    /// New manifest entries of skills that are otherwise left alone.
    pub(in crate::ops) entries: BTreeMap<SkillName, Requirement>,
    /// Locked skills that the manifest no longer requests.
    pub(in crate::ops) orphans: Vec<SkillName>,
    /// The remarks.
    pub(in crate::ops) notes: DesiredNotes,
}

/// The remarks about the desired state, for the report after an installation.
#[derive(Debug, Clone, Default)]
pub(in crate::ops) struct DesiredNotes {
    /// Skills that were edited and are left as they are.
    pub(in crate::ops) modified: Vec<SkillName>,
    /// Skills in which an update left conflicts, and that are left as they are; the warnings say so.
    pub(in crate::ops) conflicts: Vec<SkillName>,
    /// Skills that cannot be read and are left as they are.
    pub(in crate::ops) unreadable: Vec<SkillName>,
    /// The requested skills that could not be ingested; the warnings say why.
    pub(in crate::ops) left_out: Vec<NamedFailure>,
    /// Warnings for the user.
    pub(in crate::ops) warnings: Vec<Warning>,
    /// The policy lines that decided about the sources.
    pub(in crate::ops) decided: Vec<PolicyDecision>,
}

/// Returns that `name`, a skill or plugin that was requested among others, was left out because of `error`.
pub(in crate::ops) fn left_out(name: String, error: &Error) -> NamedFailure {
    let message = message!(format_args!("`{name}` was left out: "), error.with_causes());
    NamedFailure { name, why: Failure { message, ..Failure::from(error) } }
}

/// Returns that `name` was left out, as `warning` says.
pub(in crate::ops) fn left_out_with(name: String, warning: &Warning) -> NamedFailure {
    NamedFailure::new(name, &Error::new(ErrorKind::Findings, warning.message.clone()).coded(warning.code))
}
