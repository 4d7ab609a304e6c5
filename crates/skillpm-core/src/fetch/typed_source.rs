//! Sources in the form in which users type them.

use crate::source::FetchedSource;
use crate::spec::{Origin, Reference, SourceSpec};

/// Returns the source without the part that selects skills in it, as people would type it in their working
/// directory.
pub(crate) fn source_of(spec: &SourceSpec, opened: &FetchedSource) -> String {
    typed(opened.typed_here(&spec.origin), spec.reference.as_ref())
}

/// Returns the text that a user types for `reference` of `origin`.
pub(crate) fn typed(origin: &Origin, reference: Option<&Reference>) -> String {
    let reference = reference.map(|reference| format!("#{}", reference.name()));
    origin.typed() + &reference.unwrap_or_default()
}
