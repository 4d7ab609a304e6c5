//! Repairs of a skill's file: computing and writing them.

use std::path::{Path, PathBuf};

use crate::document::Document;
use crate::engine::load::{self, SKILL_FILE, Unusable};
use crate::error::{Error, Result};
use crate::fs;
use crate::lint::{self, Finding, Fix, Fixed, Safety};
use crate::skill::find::is_skill_file;

use super::diff;

/// The repaired content of a file, which is not written yet.
#[derive(Debug)]
pub struct Repair {
    /// The current text of the file.
    pub before: String,
    /// The text after the repairs, and the remaining findings.
    pub fixed: Fixed,
    /// The new name of the file, if its name has another spelling.
    pub rename: Option<Rename>,
}

/// Another name for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    /// The current path.
    pub from: PathBuf,
    /// The new path: `SKILL.md` in the same directory, where nothing exists.
    pub to: PathBuf,
}

impl Repair {
    /// Reports whether there is anything to do.
    pub fn is_empty(&self) -> bool {
        self.before == self.fixed.document.text() && self.rename.is_none()
    }

    /// Returns the repairs as a unified diff of the file shown as `path`, with its new name if it gets one,
    /// as `git` writes that. Returns `None` if there is nothing to do.
    pub fn diff(&self, path: &Path) -> Option<String> {
        let after = self.fixed.document.text();
        match self.rename.as_ref().and_then(|rename| rename.to.file_name()) {
            Some(name) => Some(diff::renamed(path, &path.with_file_name(name), &self.before, after)),
            None => diff::unified(path, &self.before, after),
        }
    }
}

/// Computes the repairs of `document`, read from `file`. Writes nothing. `check` returns the findings for a
/// content under a file name.
///
/// A file that is not UTF-8 gets no repairs: its text differs from its bytes.
///
/// # Errors
///
/// Fails if the file's directory cannot be read.
pub fn repair(
    file: &Path,
    document: &Document,
    safety: Safety,
    check: impl Fn(&Document, &str) -> Vec<Finding>,
) -> Result<Repair> {
    let rename = rename(file)?;
    let name = rename.as_ref().map_or(file, |rename| &rename.to).file_name();
    let name = name.unwrap_or_default().to_string_lossy();
    let find = |document: &Document| check(document, &name);
    let fixed = if lint::is_text(document) {
        lint::fix_all(document, safety, find)
    } else {
        Fixed { document: document.clone(), findings: find(document), applied: 0, skipped: 0 }
    };
    Ok(Repair { before: document.text().to_owned(), fixed, rename })
}

/// The rule whose repair is a new name for the file.
const RENAMES: &str = "file-name";

/// Adds to `findings` in `file` the repair that no rule can offer, as rules see no other files: a new name
/// for this file, if [`repair`] would give it one.
pub(super) fn announce_rename(file: &Path, findings: &mut [Finding]) {
    for finding in findings.iter_mut().filter(|finding| finding.rule == RENAMES) {
        // A file that cannot be examined cannot be repaired either.
        if matches!(rename(file), Ok(Some(_))) {
            finding.fix = Some(Fix::safe(format!("rename the file to `{SKILL_FILE}`"), Vec::new()));
        }
    }
}

/// Returns the new name of a file with a name such as `skill.md`. The repair is safe: programs that read
/// another spelling prefer `SKILL.md`, and it is only made if no other file has that name.
fn rename(file: &Path) -> Result<Option<Rename>> {
    let name = file.file_name().unwrap_or_default();
    if name == SKILL_FILE || !is_skill_file(name) {
        return Ok(None);
    }
    let dir = file.parent().unwrap_or(Path::new(""));
    // The names as listed: on a case-insensitive file system the file itself answers to both.
    let taken = fs::list_dir(dir)?.iter().any(|name| name == SKILL_FILE);
    Ok((!taken).then(|| Rename { from: file.to_owned(), to: dir.join(SKILL_FILE) }))
}

/// Writes the repairs and renames the file. Returns its path afterwards. A link to a file of the same skill
/// stays a link, and the mode stays the same.
///
/// # Errors
///
/// Fails if the file changed meanwhile, is no longer a file of its skill, or cannot be written. The old
/// content is then untouched.
pub fn write(file: &Path, repair: &Repair) -> Result<PathBuf> {
    replace(file, &repair.before, repair.fixed.document.text())?;
    match &repair.rename {
        None => Ok(file.to_owned()),
        Some(Rename { from, to }) => {
            fs::move_new(from, to)?;
            Ok(to.clone())
        }
    }
}

/// Replaces the content of `file`, which belongs to a skill, with `new` if it is still `old`.
pub(super) fn replace(file: &Path, old: &str, new: &str) -> Result<()> {
    if old == new {
        return Ok(());
    }
    let shown = file.display();
    let unusable = |reason: Unusable| match reason {
        Unusable::Unreadable(error) => Error::from(error),
        reason => Error::integrity(format!("`{shown}` cannot be written: {reason}")),
    };
    if load::document(file).map_err(unusable)?.text() != old {
        return Err(Error::io(format!("`{shown}` changed while it was being read"))
            .hint("nothing was written; run the command again"));
    }
    Ok(fs::write_atomic(&load::contained(file).map_err(unusable)?, new.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;
    use crate::lint::{Subject, check};

    fn repaired(world: &World, file: &str) -> (PathBuf, Repair) {
        let file = world.project().join(file);
        let document = load::document(&file).expect("reads");
        let find = |document: &Document, name: &str| check(&Subject::new(document, Some("s"), name));
        let repair = repair(&file, &document, Safety::Safe, find).expect("reads");
        (file, repair)
    }

    #[test]
    fn repairs_are_shown_then_written() {
        let world = World::new();
        world.write("s/SKILL.md", "---\nname: s\ndescription: Use: when asked\n---\n");
        let (file, repair) = repaired(&world, "s/SKILL.md");
        assert!(!repair.is_empty() && repair.fixed.findings.is_empty());
        let diff = repair.diff(Path::new("s/SKILL.md")).expect("a diff");
        assert!(
            diff.contains("-description: Use: when asked\n+description: \"Use: when asked\"\n"),
            "{diff}"
        );
        assert_eq!(write(&file, &repair).expect("writes"), file);
        assert_eq!(load::document(&file).expect("reads").text(), repair.fixed.document.text());
        assert!(repaired(&world, "s/SKILL.md").1.is_empty());
        // Another process was faster.
        let error = write(&file, &repair).expect_err("changed");
        assert!(error.to_string().contains("changed while"), "{error}");
    }

    #[test]
    fn the_file_gets_its_name_unless_that_is_taken() {
        let world = World::new();
        world.skill("s", "s");
        let text = crate::engine::testing::skill_text("s");
        world.write("t/Skill.md", &text);
        let (file, repair) = repaired(&world, "t/Skill.md");
        assert_eq!(repair.fixed.findings, [], "under its new name there is nothing to say");
        assert_eq!(write(&file, &repair).expect("renames"), world.project().join("t/SKILL.md"));
        world.write("t/skill.md", &text);
        if fs::list_dir(&world.project().join("t")).expect("reads").len() == 2 {
            assert_eq!(repaired(&world, "t/skill.md").1.rename, None);
        }
    }

    #[test]
    fn what_is_no_utf_8_is_left_alone() {
        let world = World::new();
        let file = world.project().join("SKILL.md");
        fs::write_atomic(&file, b"\n---\nname: s\ndescription: a\n---\n\xff").expect("writes");
        assert!(repaired(&world, "SKILL.md").1.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn nothing_outside_of_the_skill_is_written() {
        let world = World::new();
        let text = "\n---\nname: s\ndescription: a\n---\n";
        world.write("s/real.md", text);
        world.write("secret", text);
        world.link("real.md", "s/SKILL.md");
        let (file, repair) = repaired(&world, "s/SKILL.md");
        write(&file, &repair).expect("writes");
        assert_eq!(fs::kind(&file).expect("there"), Some(fs::Kind::Symlink));
        world.write("t/SKILL.md", text);
        let (file, repair) = repaired(&world, "t/SKILL.md");
        fs::remove_tree(&world.project().join("t")).expect("removes");
        fs::create_dir_all(&world.project().join("t")).expect("creates");
        world.link("../secret", "t/SKILL.md");
        assert!(write(&file, &repair).is_err());
        let secret = fs::read_text(&world.project().join("secret"), 99).expect("reads");
        assert_eq!(secret.as_deref(), Some(text));
    }
}
