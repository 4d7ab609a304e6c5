//! Files on the web: archives, and single `SKILL.md`s.

use super::web::Web;
use super::{Opened, file};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::refusal::{Limits, Refusal};
use crate::spec::Address;
use crate::tree::ReadError;

/// Downloads and opens the file at `address`. One that has not changed since the last time is not
/// downloaded again.
///
/// There is no revision: the digest in a lockfile decides whether it is the same.
///
/// # Errors
///
/// A file that is not there, may not be read or cannot be reached; one that is refused.
pub fn open(context: &Context, address: &Address, limits: &Limits) -> Result<Opened> {
    let web = Web::new(context, address)?;
    let what = address.to_string();
    let got = web.get(&web.url, Some(&what), limits.archive_bytes).map_err(|missed| missed.told(&web))?;
    let tree = file::read(&got.file, address.path(), limits).map_err(|error| {
        // A login page is not worth keeping, and what is cut off comes anew.
        web.forget(&web.url);
        let text = matches!(&error, ReadError::Refused(Refusal::NotAnArchive { found: "a text file", .. }));
        let error = Error::from(error).context(format!("`{address}` is refused"));
        if text {
            error.hint("a single `SKILL.md` begins with `---`, and its address ends in `.md`")
        } else {
            error
        }
    })?;
    Ok(Opened::new(tree, None, address.file_stem()))
}
