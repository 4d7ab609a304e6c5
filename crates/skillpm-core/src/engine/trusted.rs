//! Leaves out the skills of projects that the user does not trust.

use super::diagnostic::Diagnostic;
use super::sources::{Source, SourceKind};
use crate::fs;
use crate::settings::Settings;
use crate::trust::{Standing, TrustedDirs};

/// Returns those of `sources` that may be searched, and a diagnostic if one of the others has files. Trust is read anew
/// each time, because the user may give it or take it back at any time.
///
/// A directory that belongs to both the user and the project stays.
pub(super) fn trusted(settings: &Settings, sources: &[Source]) -> (Vec<Source>, Option<Diagnostic>) {
    let trusted = TrustedDirs::read(settings);
    let (kept, left_out): (Vec<_>, Vec<_>) = sources
        .iter()
        .cloned()
        .partition(|source| source.kind != SourceKind::Project || is_trusted(&trusted, source));
    let has_files = |source: &Source| !fs::list_dir(&source.dir).unwrap_or_default().is_empty();
    let dirs: Vec<_> = left_out.into_iter().filter(has_files).map(|source| source.dir).collect();
    (kept, (!dirs.is_empty()).then_some(Diagnostic::Untrusted(dirs)))
}

/// Reports whether the directory of `source` is trusted. One that does not exist is judged by the nearest directory above
/// it that does.
fn is_trusted(trusted: &TrustedDirs, source: &Source) -> bool {
    let real = source.dir.ancestors().find_map(|dir| fs::real_path(dir).transpose());
    real.is_some_and(|real| {
        real.is_ok_and(|real| matches!(trusted.standing(&real), Ok(Standing::Trusted(_))))
    })
}
