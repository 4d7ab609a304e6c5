//! What is to be installed, as a front end asks for it.

use crate::advice::Opt;
use crate::scope::ScopeKind;
use crate::spec::Reference;

/// What is to be installed.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of its own, and all combinations have a meaning"
)]
pub struct InstallRequest {
    /// Sources as they were typed. None: restore what manifest and lockfile say.
    pub sources: Vec<String>,
    /// A source with a marketplace; `sources` are names of its plugins then.
    pub marketplace: Option<String>,
    /// Take the skills of the packages that the project uses.
    pub from_project: bool,
    /// Names of skills in the sources; `*` is all of them.
    pub skills: Vec<String>,
    /// The name to install the one skill under that is meant, instead of its own.
    pub alias: Option<String>,
    /// A link to the directory takes the place of a copy.
    pub editable: bool,
    /// The revision, where it was given by a flag.
    pub reference: Option<Reference>,
    /// The scope; the project where it is `None`.
    pub scope: Option<ScopeKind>,
    /// Agents that are to see the skills, by id or alias; `*` is all that are on the machine.
    pub agents: Vec<String>,
    /// Copies instead of links.
    pub copy: bool,
    /// Plan only.
    pub dry_run: bool,
    /// Replace what is in the way; it is kept in the store.
    pub force: bool,
    /// Take all skills where several are found and none is named.
    pub yes: bool,
    /// Show what the sources hold, install nothing.
    pub list: bool,
    /// Fail where the lockfile would change.
    pub locked: bool,
    /// Use no network to find out what is meant: only what is locked.
    pub frozen: bool,
    /// Leave out the skills that others need.
    pub no_deps: bool,
}

impl InstallRequest {
    /// Reports whether nothing new is asked for: what manifest and lockfile say is put back.
    pub(super) fn restores(&self) -> bool {
        self.sources.is_empty() && self.marketplace.is_none() && !self.from_project
    }

    /// Returns the option that forbids changes of the lockfile, if one was passed.
    pub(super) fn forbids_change(&self) -> Option<Opt> {
        match (self.locked, self.frozen) {
            (true, _) => Some(Opt::Locked),
            (_, true) => Some(Opt::Frozen),
            _ => None,
        }
    }
}
