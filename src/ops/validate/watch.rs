//! Checking again what was changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{Checked, Target, ValidateOutcome, ValidateRequest, validate};
use crate::context::Context;
use crate::error::Result;
use crate::fs::{self, Stamp};

/// Knows what checked files looked like when they were checked.
#[derive(Debug)]
pub struct Watch {
    request: ValidateRequest,
    /// The files, as they are shown.
    files: BTreeMap<PathBuf, Option<Stamp>>,
    /// Their directories and those above: a skill that comes or goes shows there.
    dirs: BTreeMap<PathBuf, Option<Stamp>>,
}

/// What changed from one look at stamps to the next.
fn changed(before: &BTreeMap<PathBuf, Option<Stamp>>, cwd: &Path) -> BTreeSet<PathBuf> {
    before
        .iter()
        .filter(|(path, stamp)| fs::stamp(&cwd.join(path)) != **stamp)
        .map(|(p, _)| p.clone())
        .collect()
}

impl Watch {
    /// Watches what `outcome` came from.
    pub fn new(context: &Context, request: ValidateRequest, outcome: &ValidateOutcome) -> Self {
        let mut watch = Self { request, files: BTreeMap::new(), dirs: BTreeMap::new() };
        watch.stamp(&context.settings.cwd, &outcome.skills);
        watch
    }

    /// Checks the files that were changed since the last call, or are new; `None` where there are
    /// none. It looks at stamps only: how often it is called is the caller's choice.
    ///
    /// # Errors
    ///
    /// As [`validate`]. A file that is gone is no longer watched, which is no error.
    pub fn poll(&mut self, context: &Context) -> Result<Option<ValidateOutcome>> {
        let cwd = &context.settings.cwd;
        let mut again = changed(&self.files, cwd);
        if !changed(&self.dirs, cwd).is_empty() {
            // What is left where all skills went is an error of another moment.
            let all = validate(context, &self.request).unwrap_or_default();
            let known = |skill: &&Checked| !self.files.contains_key(&skill.file);
            again.extend(all.skills.iter().filter(known).map(|skill| skill.file.clone()));
            // Whatever changed the directories is seen; a name may also have come and gone.
            self.dirs = self.dirs.keys().map(|dir| (dir.clone(), fs::stamp(&cwd.join(dir)))).collect();
        }
        for path in &again {
            self.files.remove(path);
        }
        // Stamped first: what is written while it is read shows at the next look.
        let stamps = again.into_iter().map(|path| (fs::stamp(&cwd.join(&path)), path));
        let stamps: Vec<_> = stamps.filter(|(stamp, _)| stamp.is_some()).collect();
        if stamps.is_empty() {
            return Ok(None);
        }
        let targets = stamps.iter().map(|(_, path)| Target::Path(path.clone())).collect();
        let request = ValidateRequest { targets, ..self.request.clone() };
        let outcome = validate(context, &request)?;
        self.stamp(cwd, &outcome.skills);
        self.files.extend(stamps.into_iter().map(|(stamp, path)| (path, stamp)));
        Ok(Some(outcome))
    }

    fn stamp(&mut self, cwd: &Path, skills: &[Checked]) {
        for skill in skills {
            let dirs = skill.file.ancestors().skip(1).take(2);
            self.dirs.extend(dirs.map(|dir| (dir.to_owned(), fs::stamp(&cwd.join(dir)))));
            self.files.insert(skill.file.clone(), fs::stamp(&cwd.join(&skill.file)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{World, skill_text};

    #[test]
    fn only_what_changed_is_checked_again() {
        let world = World::new();
        world.skill("skills/a", "a");
        world.skill("skills/b", "b");
        let context = world.context();
        let request = ValidateRequest { targets: vec![Target::Path("skills".into())], ..Default::default() };
        let outcome = validate(&context, &request).expect("checks");
        let mut watch = Watch::new(&context, request, &outcome);
        let mut polled = || {
            let outcome = watch.poll(&context).expect("checks").unwrap_or_default();
            let one =
                |skill: &Checked| (skill.file.to_string_lossy().replace('\\', "/"), skill.findings.len());
            outcome.skills.iter().map(one).collect::<Vec<_>>()
        };
        assert_eq!(polled(), []);
        world.write("skills/a/SKILL.md", &(skill_text("other") + "more"));
        assert_eq!(polled(), [("skills/a/SKILL.md".to_owned(), 1)]);
        assert_eq!(polled(), []);
        world.skill("skills/a", "a");
        world.skill("skills/new", "new");
        assert_eq!(polled(), [("skills/a/SKILL.md".to_owned(), 0), ("skills/new/SKILL.md".to_owned(), 0)]);
        fs::remove_tree(&world.project().join("skills/b")).expect("removes");
        assert_eq!(polled(), [], "nothing is left to be checked");
        world.write("skills/new/SKILL.md", &skill_text("changed"));
        assert_eq!(polled(), [("skills/new/SKILL.md".to_owned(), 1)]);
    }
}
