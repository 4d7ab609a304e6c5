//! Ingestion: each skill is read once, hashed, examined, and written to the store.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::advice::Warning;
use crate::codes;
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, ErrorKind, Result};
use crate::fetch::alarms::alarms;
use crate::fetch::fetcher::unwritable;
use crate::fetch::incomplete::incomplete;
use crate::fetch::names::off_specification;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::refusal::Limits;
use crate::scope::editable::Editable;
use crate::source::discover::Candidate;
use crate::store::{Session, Store};
use crate::tree::{FileSet, Tree};

/// A skill to take in.
pub(super) struct IngestJob<'a> {
    pub(super) name: SkillName,
    /// The tree with its files.
    pub(super) tree: &'a Tree,
    pub(super) candidate: &'a Candidate,
    /// The original name, if it gets another one.
    pub(super) own: Option<String>,
    pub(super) requirement: Requirement,
    /// The name of its directory; `None` for a skill that is a single file.
    pub(super) directory: Option<&'a str>,
    /// The directory to link to, if it is to be editable.
    pub(super) editable: Option<Editable>,
}

/// A skill that was read.
pub(super) struct Ready {
    /// The digest; `None` for an editable one.
    pub(super) digest: Option<Digest>,
    pub(super) set: Option<FileSet>,
    /// Warnings for the user.
    pub(super) warnings: Vec<Warning>,
}

impl IngestJob<'_> {
    /// Reads the skill. Stores it in `ingest` if it is to be installed.
    pub(super) fn read(&self, ingest: &Ingest) -> Result<Ready> {
        let set = self.tree.skill(&self.candidate.path, &Limits::default()).map_err(Error::from);
        if self.editable.is_some() {
            // A link may lead to files that no copy could contain.
            let set = set.ok();
            let warnings =
                set.as_ref().map(|set| self.warnings(set, ingest)).transpose()?.unwrap_or_default();
            return Ok(Ready { digest: None, set, warnings });
        }
        let refused = |error: Error| error.context(format!("the skill `{}` is refused", self.name));
        let look = |set: &FileSet| self.warnings(set, ingest);
        let taken = set.and_then(|set| ingest.take(set, look));
        let (Taken { digest, set }, warnings) = taken.map_err(refused)?;
        Ok(Ready { digest: Some(digest), set: Some(set), warnings })
    }

    /// Returns the warnings about the files.
    fn warnings(&self, set: &FileSet, ingest: &Ingest) -> Result<Vec<Warning>> {
        let Self { name, candidate, .. } = self;
        let mut warnings = Vec::new();
        if let Some(file) = set.get(&candidate.file_name) {
            let directory = self.directory.unwrap_or(name.as_str());
            let document = candidate.document(set.read(file)?);
            warnings.extend(off_specification(name, directory, &candidate.file_name, &document));
            warnings.extend(alarms(name, set, &document, &|name| ingest.beside.contains(name))?);
        }
        warnings.extend(unportable(name, set));
        warnings.extend(incomplete(name, self.tree, &candidate.path, set));
        Ok(warnings)
    }
}

fn unportable(name: &SkillName, set: &FileSet) -> Option<Warning> {
    let file = set.files().iter().find(|file| file.path.is_unportable())?;
    let told = format!("`{name}` has the file `{}`, a name that Windows does not allow", file.path);
    Some(Warning::new(codes::UNPORTABLE_NAME, told))
}

/// The store for skills that come from sources. Any number of threads may use it at once.
pub(super) struct Ingest {
    store: Option<Session>,
    /// The names of the skills that are installed, or come now.
    beside: BTreeSet<String>,
    /// Why the store cannot be written; reported once.
    trouble: Mutex<Option<Warning>>,
}

/// A skill that was taken in.
struct Taken {
    digest: Digest,
    /// The files: those in the store if it could be written, otherwise those of the source.
    set: FileSet,
}

impl Ingest {
    /// Opens the store for writing. Skills are taken in without one if it cannot be opened.
    /// `beside` are the names of the skills that are installed, or come now.
    pub(super) fn new(context: &Context, beside: BTreeSet<String>) -> Self {
        let ingest = Self { store: None, beside, trouble: Mutex::default() };
        match Store::new(&context.settings).and_then(|store| store.writer()) {
            Ok(store) => Self { store: Some(store), ..ingest },
            Err(error) => {
                ingest.troubled(&error);
                ingest
            }
        }
    }

    /// Takes in `set`, the files of a skill. `look` gets them while they are in memory, unless there are too
    /// many for that.
    fn take<T>(&self, set: FileSet, look: impl FnOnce(&FileSet) -> Result<T>) -> Result<(Taken, T)> {
        let Some(held) = set.hold()? else {
            let taken = self.take_large(set)?;
            let seen = look(&taken.set)?;
            return Ok((taken, seen));
        };
        let seen = look(held.set())?;
        let stored = self.store.as_ref().and_then(|store| match store.put(&held) {
            Ok(_) => Some(store.stored(&held)),
            Err(error) => {
                self.troubled(&error);
                None
            }
        });
        Ok((Taken { digest: held.digest(), set: stored.unwrap_or(set) }, seen))
    }

    fn take_large(&self, set: FileSet) -> Result<Taken> {
        let put = self.store.as_ref().map(|store| store.put_large(&set)).transpose();
        let digest = match put {
            Ok(digest) => digest,
            Err(error) if error.kind() == ErrorKind::Integrity => return Err(error),
            Err(error) => {
                self.troubled(&error);
                None
            }
        };
        let stored = match (&self.store, digest) {
            (Some(store), Some(digest)) => store.get(&digest)?.map(|stored| (digest, stored)),
            _ => None,
        };
        let (digest, set) = match stored {
            Some(stored) => stored,
            None => (set.digest()?, set),
        };
        Ok(Taken { digest, set })
    }

    fn troubled(&self, error: &Error) {
        let told = unwritable(error);
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(told);
    }

    /// Returns the warning that the store could not be written, if there is one.
    pub(super) fn warning(self) -> Option<Warning> {
        self.trouble.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
