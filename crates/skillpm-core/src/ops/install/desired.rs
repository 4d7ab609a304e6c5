//! The desired state of an installation, determined without looking at the current state.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::{Warning, message};
use crate::error::{Error, ErrorKind, Failure};
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
    /// What to report about it.
    pub(in crate::ops) notes: DesiredNotes,
}

/// What to report about the desired state after an installation.
#[derive(Debug, Clone, Default)]
pub(in crate::ops) struct DesiredNotes {
    /// Skills that were edited and are left as they are.
    pub(in crate::ops) modified: Vec<SkillName>,
    /// Skills in which an update left conflicts, and that are left as they are; the warnings say so.
    pub(in crate::ops) conflicts: Vec<SkillName>,
    /// Skills that cannot be read and are left as they are.
    pub(in crate::ops) unreadable: Vec<SkillName>,
    /// What was requested among others and could not be taken in; the warnings say why.
    pub(in crate::ops) left_out: Vec<LeftOut>,
    /// Warnings for the user.
    pub(in crate::ops) warnings: Vec<Warning>,
    /// The policy lines that decided about the sources.
    pub(in crate::ops) decided: Vec<PolicyDecision>,
}

/// A skill or plugin that was requested among others and could not be installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// Its name, or its directory if several have the same name.
    pub name: String,
    /// The reason.
    #[serde(flatten)]
    pub why: Failure,
}

impl LeftOut {
    /// Returns the report about `name`, which could not be installed because of `error`.
    pub(in crate::ops) fn new(name: String, error: &Error) -> Self {
        let message = message!(format_args!("`{name}` was left out: "), error.with_causes());
        Self { name, why: Failure { message, ..Failure::from(error) } }
    }

    /// Returns the report about `name`, of which `warning` says why it was left out.
    pub(in crate::ops) fn because_of(name: String, warning: &Warning) -> Self {
        let error = Error::new(ErrorKind::Findings, warning.message.clone()).coded(warning.code);
        Self { name, why: Failure::from(&error) }
    }

    /// Returns the warning that says why.
    pub fn warning(&self) -> Warning {
        Warning::new(self.why.code, self.why.message.clone())
    }
}
