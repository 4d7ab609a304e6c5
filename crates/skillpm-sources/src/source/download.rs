//! Files on the web: archives, and single `SKILL.md`s.

use super::newest::{Files, NewestRevision, Query, Revisions, hashed};
use super::web::{Got, Web};
use super::{FetchedSource, Source, Wanted, file};
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::refusal::{Limits, Refusal};
use crate::scope_kind::ScopeRoot;
use crate::spec::{Address, Download, Reference};
use crate::tree::ReadError;

/// The number of bytes of a single `SKILL.md` that are read to see whether it has changed.
const SMALL: u64 = 1 << 20;

impl Source for Download {
    fn open(&self, context: &Context, _: ScopeRoot<'_>, _: Wanted<'_>) -> Result<FetchedSource> {
        open(context, &self.0, &Limits::default())
    }

    fn revisions<'a>(
        &'a self,
        context: &'a Context,
        _: ScopeRoot<'a>,
        _: &[Option<&Reference>],
    ) -> Result<Option<Box<dyn Revisions + 'a>>> {
        Ok(Some(Box::new(CachedDownload { context, address: &self.0, current: None })))
    }
}

/// A downloaded file, with what its server reports about it now.
struct CachedDownload<'a> {
    context: &'a Context,
    address: &'a Address,
    /// The file, if its server reports the cached one as unchanged. It need not be the locked one: its bytes decide.
    current: Option<FetchedSource>,
}

impl Revisions for CachedDownload<'_> {
    fn tip(&mut self, _: Option<&Reference>) -> Result<Option<String>> {
        self.current = current(self.context, self.address, &Limits::default())?;
        Ok(None)
    }

    fn compare(&mut self, now: Option<String>, query: &Query<'_>) -> Result<NewestRevision> {
        let files = self.current.as_ref().map_or(Files::Unknown, |opened| hashed(&opened.tree, query));
        Ok(NewestRevision { revision: now, files })
    }
}

/// Downloads and opens the file at `address`. A file that has not changed since the last time is not
/// downloaded again.
///
/// There is no revision: the digest in a lockfile decides whether the file is the same.
///
/// # Errors
///
/// Fails for a file that does not exist, may not be read or cannot be reached, and for a file that is
/// refused.
pub fn open(context: &Context, address: &Address, limits: &Limits) -> Result<FetchedSource> {
    let web = Web::new(context, address)?;
    let what = address.to_string();
    let got = web.get(&web.url, Some(&what), limits.archive_bytes).map_err(|missed| missed.told(&web))?;
    read(&web, address, &got, limits)
}

/// Opens the cached file of `address`, if its server reports it as unchanged. Downloads a changed single
/// `SKILL.md`: that costs no more than the request. Returns `None` if only a download would tell.
pub fn current(context: &Context, address: &Address, limits: &Limits) -> Result<Option<FetchedSource>> {
    if file::is_markdown(address.path()) {
        let limits = Limits { archive_bytes: limits.archive_bytes.min(SMALL), ..limits.clone() };
        match open(context, address, &limits) {
            Err(error) if error.kind() == ErrorKind::Integrity => {}
            opened => return opened.map(Some),
        }
    }
    let web = Web::new(context, address)?;
    web.current(&web.url)?.map(|got| read(&web, address, &got, limits)).transpose()
}

fn read(web: &Web, address: &Address, got: &Got, limits: &Limits) -> Result<FetchedSource> {
    let tree = file::read(&got.file, address.path(), limits).map_err(|error| {
        // A login page is not worth keeping, and a truncated file is downloaded again.
        web.forget(&web.url);
        let text = matches!(&error, ReadError::Refused(Refusal::NotAnArchive { found: "a text file", .. }));
        let error = Error::from(error).context(format!("`{address}` is refused"));
        if text {
            error.hint("a single `SKILL.md` begins with `---`, and its address ends in `.md`")
        } else {
            error
        }
    })?;
    Ok(FetchedSource::new(tree, None, address.file_stem()))
}
