//! Sources that were opened, and those of their skills that are meant.

use super::InstallRequest;
use super::select::ALL;
use crate::source::Opened;
use crate::source::discover::Candidate;
use crate::spec::SourceSpec;

/// A source that was opened, and those of its skills that are meant.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) spec: SourceSpec,
    pub(super) opened: Opened,
    pub(super) candidates: Vec<Candidate>,
    /// Whether somebody meant these very skills: then none may be passed over.
    pub(super) named: bool,
    /// Names that were given for several sources and that this one does not have.
    pub(super) missed: Vec<String>,
}

/// Says of `sources`, from which `request` chose, whether somebody meant these very skills.
pub(super) fn mark_named(request: &InstallRequest, sources: &mut [Chosen]) {
    let named = request.skills.iter().any(|name| name != ALL);
    let alone = sources.iter().map(|source| source.candidates.len()).sum::<usize>() == 1;
    for source in sources {
        source.named = named || alone;
    }
}
