//! A request to update skills.

use crate::advice::{Call, Opt, Verb};
pub use crate::change::consent::Allow;
use crate::merge::Prefer;
use crate::scope_kind::ScopeKind;
use crate::version::Version;

/// The request of an update.
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
    /// The version that the skills of registries are to have, within the ranges of the manifest.
    pub precise: Option<Version>,
    /// Whether skills of registries get the lowest versions that fit instead of the highest.
    pub minimal: bool,
    /// The skills that may bring new capabilities without a person's review.
    pub allow: Allow,
    /// The side whose file wins where both changed it and it cannot be merged; it also ends earlier merges that have to be
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
    /// Returns the call that makes it, with the options that say what an update brings, without names.
    pub(super) fn call(&self) -> Call {
        let options = [
            (self.latest, Opt::Latest),
            (self.prefer == Some(Prefer::Ours), Opt::Ours),
            (self.prefer == Some(Prefer::Theirs), Opt::Theirs),
            (self.force, Opt::Force),
            (self.no_deps, Opt::NoDeps),
            (self.minimal, Opt::Minimal),
        ];
        let given = options.into_iter().filter_map(|(is_on, option)| is_on.then_some(option));
        given.fold(Verb::Update.call(), Call::flag)
    }
}
