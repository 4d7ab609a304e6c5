//! An installation, as a front end requests it.

use crate::advice::{Call, Opt, Verb};
use crate::change::consent::Allow;
use crate::scope_kind::ScopeKind;
use crate::spec::Reference;

/// A request to install skills.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of its own, and all combinations have a meaning"
)]
pub struct InstallRequest {
    /// The sources as they were typed. If empty, the manifest and lockfile are restored.
    pub sources: Vec<String>,
    /// A source with a marketplace; `sources` are then names of its plugins.
    pub marketplace: Option<String>,
    /// Whether to take the skills of the packages that the project uses.
    pub from_project: bool,
    /// Names of skills in the sources; `*` is all of them.
    pub skills: Vec<String>,
    /// The name to install the one chosen skill under, instead of its own.
    pub alias: Option<String>,
    /// Whether to make a link to the directory instead of a copy.
    pub editable: bool,
    /// The revision, if it was given by a flag.
    pub reference: Option<Reference>,
    /// The scope; `None` means the project.
    pub scope: Option<ScopeKind>,
    /// The agents that should see the skills, by id or alias; `*` means all on the machine.
    pub agents: Vec<String>,
    /// Whether to make copies instead of links.
    pub copy: bool,
    /// Whether to plan only.
    pub dry_run: bool,
    /// Whether to replace what is in the way, which is saved in the store.
    pub force: bool,
    /// Whether to take all skills if several are found and none is named.
    pub yes: bool,
    /// The skills that may bring new capabilities without a person's review.
    pub allow: Allow,
    /// Whether to show what the sources hold and install nothing.
    pub list: bool,
    /// Whether to fail if the lockfile would change.
    pub locked: bool,
    /// Whether to resolve nothing over the network, and install only what is locked.
    pub frozen: bool,
    /// Whether to leave out the skills that others need.
    pub no_deps: bool,
    /// Whether skills of registries come in the lowest versions that fit instead of the highest.
    pub minimal: bool,
}

impl InstallRequest {
    /// Reports whether nothing new is requested, so that the manifest and lockfile are restored.
    pub(super) fn restores(&self) -> bool {
        self.sources.is_empty() && self.marketplace.is_none() && !self.from_project
    }

    /// Returns the call that makes this request in a scope of `kind`, for hints.
    pub(super) fn call(&self, kind: ScopeKind) -> Call {
        let flags = [
            (self.from_project, Opt::FromProject),
            (self.editable, Opt::Editable),
            (self.copy, Opt::Copy),
            (self.force, Opt::Force),
            (self.locked, Opt::Locked),
            (self.frozen, Opt::Frozen),
            (self.no_deps, Opt::NoDeps),
            (self.minimal, Opt::Minimal),
        ];
        let reference = self.reference.as_ref().map(|reference| match reference {
            Reference::Branch(name) => (Opt::Branch, name.as_str()),
            Reference::Rev(commit) => (Opt::Rev, commit.as_str()),
            other => (Opt::Tag, other.name()),
        });
        let values = self.marketplace.iter().map(|source| (Opt::Marketplace, source.as_str()));
        let values = values.chain(self.skills.iter().map(|skill| (Opt::Skill, skill.as_str())));
        let values = values.chain(self.alias.iter().map(|name| (Opt::As, name.as_str()))).chain(reference);
        let values = values.chain(self.agents.iter().map(|agent| (Opt::Agent, agent.as_str())));
        let call = Verb::Install.within(kind).words(&self.sources).options(values);
        flags.into_iter().filter(|(is_on, _)| *is_on).fold(call, |call, (_, flag)| call.flag(flag))
    }

    /// Returns the option that forbids changes to the lockfile, if one was passed.
    pub(super) fn forbids_change(&self) -> Option<Opt> {
        match (self.locked, self.frozen) {
            (true, _) => Some(Opt::Locked),
            (_, true) => Some(Opt::Frozen),
            _ => None,
        }
    }
}
