//! Storing skills, if the store can be written.

use crate::advice::{Warning, message};
use crate::codes;
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::store::Store;
use crate::tree::FileSet;

/// Puts `set` into the store and returns the stored files. If the store cannot be written, the skill is
/// installed without it, and the reason is reported once.
pub(crate) fn keep(
    context: &Context,
    set: FileSet,
    warnings: &mut Vec<Warning>,
) -> Result<(Digest, FileSet)> {
    let store = Store::new(&context.settings);
    match store.and_then(|store| Ok((store.put(&set)?, store))) {
        Ok((digest, store)) => Ok((digest, store.get(&digest)?.unwrap_or(set))),
        Err(error) if error.kind() == ErrorKind::Integrity => Err(error),
        Err(error) => {
            let warning = unwritable(&error);
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
            Ok((set.digest()?, set))
        }
    }
}

/// Returns the warning for a store that cannot be written.
pub(crate) fn unwritable(error: &Error) -> Warning {
    let text = "the store is not writable, so restoring will need the source again: ";
    Warning::new(codes::STORE_UNWRITABLE, message!(text, error.with_causes()))
}
