//! Comparison of a skill in two commits without a download.

use super::{Files, Query};
use crate::context::Context;
use crate::interop::hash::git_set_id;
use crate::lockfile::Locked;
use crate::spec::{Identity, Reference};
use crate::store::Store;

/// Returns the commit that `reference` names, if it cannot mean anything else: no server has to be asked.
pub(in crate::source) fn fixed(reference: Option<&Reference>, locked: &Locked) -> Option<String> {
    let reference = reference?;
    let of_locked = || {
        let Reference::Rev(digits) = reference else { return None };
        let locked = locked.revision.as_ref();
        locked.filter(|locked| locked.starts_with(&digits.to_ascii_lowercase())).cloned()
    };
    reference.commit().or_else(of_locked)
}

/// Compares the directory of a skill in the commit `now` with that in the locked one. `id` returns its id in a commit; for
/// the locked one that is only asked if local data does not decide.
pub(in crate::source) fn compare(
    context: &Context,
    query: &Query<'_>,
    now: &str,
    mut id: impl FnMut(&str) -> Identity,
) -> Files {
    let locked = query.locked.revision.as_deref();
    if locked == Some(now) {
        return Files::Same;
    }
    match id(now) {
        Identity::Unknown => Files::Unknown,
        Identity::Absent if query.anywhere => Files::Unknown,
        Identity::Absent => Files::Moved,
        // The store's copy has another id if the source has links, or leaves something out of archives.
        Identity::Id(new) if stored_id(context, query.locked).as_ref() == Some(&new) => Files::Same,
        Identity::Id(new) => match locked.map_or(Identity::Unknown, id) {
            Identity::Id(old) if old == new => Files::Same,
            Identity::Id(_) => Files::Changed,
            Identity::Absent | Identity::Unknown => Files::Unknown,
        },
    }
}

/// Returns the id that git would give the locked files, if the store has them.
fn stored_id(context: &Context, locked: &Locked) -> Option<String> {
    let set = Store::new(&context.settings).ok()?.get(&locked.digest).ok()??;
    git_set_id(&set).ok()?
}
