//! Reading one skill.

use crate::advice::Warning;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::install::editable::Editable;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::install::alarms::alarms;
use crate::ops::install::incomplete::incomplete;
use crate::ops::install::intake::{Intake, Taken};
use crate::ops::install::select::off_specification;
use crate::refusal::Limits;
use crate::source::discover::Candidate;
use crate::tree::{FileSet, Tree};

/// A skill that is to be taken in.
pub(super) struct Job<'a> {
    pub(super) name: SkillName,
    /// Where its files are.
    pub(super) tree: &'a Tree,
    pub(super) candidate: &'a Candidate,
    /// Its own name, where it gets another one.
    pub(super) own: Option<String>,
    pub(super) requirement: Requirement,
    /// The name of its directory; none of a file, which is the whole of a skill.
    pub(super) directory: Option<&'a str>,
    /// Where it lies, if it is to be a link to there.
    pub(super) editable: Option<Editable>,
}

/// A skill that was read.
pub(super) struct Ready {
    /// Its digest; `None` of an editable one.
    pub(super) digest: Option<Digest>,
    pub(super) set: Option<FileSet>,
    /// What a person should know.
    pub(super) warnings: Vec<Warning>,
}

impl Job<'_> {
    /// Reads the skill; what is to be installed goes into `intake`.
    pub(super) fn read(&self, intake: &Intake) -> Result<Ready> {
        let set = self.tree.skill(&self.candidate.path, &Limits::default()).map_err(Error::from);
        if self.editable.is_some() {
            // A link leads to files that no copy could have, too.
            let set = set.ok();
            let warnings = set.as_ref().map(|set| self.warnings(set)).transpose()?.unwrap_or_default();
            return Ok(Ready { digest: None, set, warnings });
        }
        let refused = |error: Error| error.context(format!("the skill `{}` is refused", self.name));
        let look = |set: &FileSet| self.warnings(set);
        let taken = set.and_then(|set| intake.take(set, look));
        let (Taken { digest, set }, warnings) = taken.map_err(refused)?;
        Ok(Ready { digest: Some(digest), set: Some(set), warnings })
    }

    /// What a person should know of the files.
    fn warnings(&self, set: &FileSet) -> Result<Vec<Warning>> {
        let Self { name, candidate, .. } = self;
        let mut warnings = Vec::new();
        if let Some(file) = set.get(&candidate.file_name) {
            let directory = self.directory.unwrap_or(name.as_str());
            let document = candidate.document(set.read(file)?);
            warnings.extend(off_specification(name, directory, &candidate.file_name, &document));
            warnings.extend(alarms(name, set, &document)?);
        }
        warnings.extend(unportable(name, set));
        warnings.extend(incomplete(name, self.tree, &candidate.path, set));
        Ok(warnings)
    }
}

fn unportable(name: &SkillName, set: &FileSet) -> Option<Warning> {
    let file = set.files().iter().find(|file| file.path.is_unportable())?;
    let told = format!("`{name}` has the file `{}`, a name that Windows does not allow", file.path);
    Some(Warning::new("unportable-name", told))
}
