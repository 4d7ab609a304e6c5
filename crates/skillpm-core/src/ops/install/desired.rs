//! What is to be there after an installation, before anybody looked at what is there.

use std::collections::BTreeMap;

use crate::advice::Warning;
use crate::error::Error;
use crate::install::plan::Wanted;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::policy_check::PolicyDecision;
use crate::tree::FileSet;

/// What is to be there after an installation.
#[derive(Debug, Default)]
pub(in crate::ops) struct Desired {
    /// The skills that are to be there.
    pub(in crate::ops) wanted: Vec<Wanted>,
    /// Their files, of those that come from elsewhere.
    pub(in crate::ops) contents: BTreeMap<SkillName, FileSet>,
    /// What the manifest is to say of skills that are otherwise left alone.
    pub(in crate::ops) entries: BTreeMap<SkillName, Requirement>,
    /// Locked skills that the manifest no longer requests.
    pub(in crate::ops) orphans: Vec<SkillName>,
    /// What is reported about it.
    pub(in crate::ops) notes: DesiredNotes,
}

/// What is reported about what is to be there after an installation.
#[derive(Debug, Default)]
pub(in crate::ops) struct DesiredNotes {
    /// Skills that were edited and are left as they are.
    pub(in crate::ops) modified: Vec<SkillName>,
    /// Skills that cannot be read and are left as they are.
    pub(in crate::ops) unreadable: Vec<SkillName>,
    /// What was asked for among others and could not be taken; the warnings say why.
    pub(in crate::ops) left_out: Vec<LeftOut>,
    /// What a person should know.
    pub(in crate::ops) warnings: Vec<Warning>,
    /// Which lines of which policy decided about the sources.
    pub(in crate::ops) decided: Vec<PolicyDecision>,
}

/// A skill or plugin that was asked for among others and could not be installed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct LeftOut {
    /// Its name, or its directory where several have one name.
    pub name: String,
    /// What went wrong, for programs.
    pub code: &'static str,
    /// The exit code of what went wrong.
    pub exit_code: u8,
}

impl LeftOut {
    /// Returns what is reported about `name`, which `error` kept out.
    pub(in crate::ops) fn new(name: String, error: &Error) -> Self {
        Self { name, code: error.code(), exit_code: error.kind().exit_code() }
    }
}
