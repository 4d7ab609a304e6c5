//! Opened sources, with the skills chosen from them.

use super::request::InstallRequest;
use crate::advice::Warning;
use crate::error::NamedFailure;
use crate::fetch::select::ALL;
use crate::source::FetchedSource;
use crate::source::discover::Candidate;
use crate::spec::SourceSpec;

/// The choice that a request made from its sources.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// The sources, with the chosen skills.
    pub(super) sources: Vec<Chosen>,
    /// Warnings for the user.
    pub(super) warnings: Vec<Warning>,
    /// The requested skills that are not available; the warnings say why.
    pub(super) left_out: Vec<NamedFailure>,
}

/// An opened source, with the skills chosen from it.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) spec: SourceSpec,
    pub(super) opened: FetchedSource,
    pub(super) candidates: Vec<Candidate>,
    /// Whether the user named exactly these skills, so that none may be skipped.
    pub(super) named: bool,
    /// Names that were given for several sources and do not occur in this one.
    pub(super) missed: Vec<String>,
}

/// Marks `sources`, from which `request` chose, according to whether the user named exactly these skills.
pub(super) fn mark_named(request: &InstallRequest, sources: &mut [Chosen]) {
    let named = request.skills.iter().any(|name| name != ALL);
    let alone = sources.iter().map(|source| source.candidates.len()).sum::<usize>() == 1;
    for source in sources {
        source.named = named || alone;
    }
}
