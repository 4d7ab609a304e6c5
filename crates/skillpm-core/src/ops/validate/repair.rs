//! Repairs of what was found.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::one::{Checker, Examined};
use super::outcome::{Checked, Repaired};
use super::request::{Repairs, ValidateRequest};
use crate::context::Context;
use crate::engine::load;
use crate::error::Result;
use crate::fs;
use crate::lint::{Finding, Safety};
use crate::ops::fix;
use crate::paths::{FileLocation, Inside, Installed};

/// The result for all findings.
#[derive(Debug, Default)]
pub(super) struct Repairing {
    /// The files that were repaired.
    pub(super) repaired: Vec<Repaired>,
    /// How many could be repaired and are installed.
    pub(super) installed: usize,
    /// Those that could be repaired, and where a link leads to from them, out of the project.
    pub(super) outside: Vec<(PathBuf, PathBuf)>,
}

/// Repairs `skills`, and checks again what was written. Installed ones that were found by a search stay as they are
/// locked, and those that a link leads to out of the project stay as they are.
pub(super) fn repair<'a>(
    context: &Context,
    skills: &mut [Checked],
    checker: impl Fn(usize) -> &'a Checker<'a>,
    request: &ValidateRequest,
) -> Result<Repairing> {
    let cwd = &context.settings.cwd;
    let (safety, write) = match request.repairs {
        Repairs::None => return Ok(Repairing::default()),
        Repairs::Show(safety) => (safety, false),
        Repairs::Make(safety) => (safety, true),
    };
    let can = |finding: &Finding| finding.fix.as_ref().is_some_and(|fix| fix.safety <= safety);
    let (mut done, mut known) = (Repairing::default(), None);
    for (at, skill) in skills.iter_mut().enumerate().filter(|(_, skill)| skill.findings.iter().any(can)) {
        // Most runs find nothing to repair, and need no lockfile.
        let (installed, inside) = match &mut known {
            Some(known) => known,
            none => {
                let targets = &request.targets;
                none.insert((Installed::new(context, targets)?, Inside::new(context, targets)?))
            }
        };
        if installed.holds(&skill.file)? {
            done.installed += 1;
        } else if let Some(real) = inside.leads_out(&skill.file)? {
            done.outside.push((skill.file.clone(), real));
        } else {
            done.repaired.extend(one(cwd, skill, checker(at), safety, write)?);
        }
    }
    Ok(done)
}

fn one(
    cwd: &Path,
    skill: &mut Checked,
    checker: &Checker<'_>,
    safety: Safety,
    write: bool,
) -> Result<Option<Repaired>> {
    let at = cwd.join(&skill.file);
    // A path that is not a file, or no longer exists, has no text to repair.
    let Ok(document) = load::document(&at) else { return Ok(None) };
    let dir = at.parent().unwrap_or(Path::new(""));
    let dir = fs::real_path(dir)?.unwrap_or_else(|| dir.to_owned());
    let repair = fix::repair(&at, &document, safety, |document, name| {
        checker.lint_in(document, Some(OsStr::new(name)), dir.file_name(), Some(&dir))
    })?;
    if repair.is_empty() {
        return Ok(None);
    }
    let new_name = repair.rename.as_ref().and_then(|rename| rename.to.file_name());
    let renamed = new_name.map(|name| skill.file.with_file_name(name));
    let repaired = Repaired {
        file: skill.file.clone(),
        diff: repair.diff(&skill.file),
        count: repair.fixed.applied,
        renamed: renamed.clone(),
    };
    if write {
        let file = fix::write(&at, &repair)?;
        let name = file.file_name().unwrap_or_default().to_owned();
        let shown = renamed.unwrap_or_else(|| skill.file.clone());
        let place = FileLocation { dir, name, shown, is_named: false };
        if let Examined::Checked(checked, ..) = checker.file(&place)? {
            *skill = checked;
        }
    }
    Ok(Some(repaired))
}

#[cfg(test)]
mod tests {
    use super::super::{Target, ValidateOutcome, validate};
    use super::*;
    use crate::engine::testing::World;

    fn repaired(world: &World, repairs: Repairs) -> Result<ValidateOutcome> {
        let targets = vec![Target::Path(".".into())];
        validate(&world.context(), &ValidateRequest { targets, repairs, ..ValidateRequest::default() })
    }

    fn text(world: &World, path: &str) -> String {
        fs::read_text(&world.project().join(path), 1 << 20).expect("reads").expect("is there")
    }

    #[test]
    fn repairs_are_shown_or_made_and_what_is_left_is_told() {
        let world = World::new();
        let wrong = "---\nname: a\ndescription: Reads: all. Use it for tests.\n---\n\n# A\n";
        world.write("s/a/SKILL.md", wrong);
        world.write("s/b/skill.md", &crate::engine::testing::skill_text("b"));
        world.skill("s/c", "other");
        let shown = repaired(&world, Repairs::Show(Safety::Safe)).expect("no error");
        assert_eq!(shown.repaired.len(), 2);
        assert!(shown.repaired[0].diff.as_ref().is_some_and(|diff| diff.contains("+description: \"Reads")));
        assert_eq!(shown.repaired[1].renamed.as_deref(), Some(Path::new("./s/b/SKILL.md")));
        assert_eq!(
            shown.repaired[1].diff.as_deref(),
            Some(
                "diff --git a/s/b/skill.md b/s/b/SKILL.md\nrename from s/b/skill.md\nrename to s/b/SKILL.md\n"
            )
        );
        assert_eq!(text(&world, "s/a/SKILL.md"), wrong, "nothing is written");
        let made = repaired(&world, Repairs::Make(Safety::Safe)).expect("no error");
        assert_eq!(made.repaired, shown.repaired);
        let left: Vec<_> = made.findings().map(|finding| finding.rule).collect();
        assert_eq!(left, ["name-directory"], "this one is not safe");
        assert_eq!(repaired(&world, Repairs::Make(Safety::Safe)).expect("no error").repaired, []);
        assert!(text(&world, "s/b/SKILL.md").contains("name: b"));
    }

    /// The rule `file-name`: its repair is counted and reported where it would be made, and there only.
    #[test]
    fn another_name_is_a_repair_where_it_is_free() {
        let world = World::new();
        let skill = crate::engine::testing::skill_text("a");
        world.write("s/a/skill.md", &skill);
        let fix = |outcome: &ValidateOutcome| {
            let found: Vec<_> = outcome.findings().filter(|finding| finding.rule == "file-name").collect();
            assert_eq!(found.len(), 1);
            found[0].fix.as_ref().map(|fix| (fix.safety, fix.title.clone(), fix.edits.len()))
        };
        let told = repaired(&world, Repairs::None).expect("no error");
        assert_eq!(fix(&told), Some((Safety::Safe, "rename the file to `SKILL.md`".to_owned(), 0)));
        let targets = vec![Target::Text { bytes: skill.clone().into(), file: Some("s/a/skill.md".into()) }];
        let text = validate(&world.context(), &ValidateRequest { targets, ..ValidateRequest::default() });
        assert_eq!(fix(&text.expect("no error")), None, "what is not a file yet has no name to change");
        world.write("s/a/SKILL.md", &skill);
        if fs::list_dir(&world.project().join("s/a")).expect("reads").len() == 2 {
            let targets = vec![Target::Path("s/a/skill.md".into())];
            let request = ValidateRequest { targets, ..ValidateRequest::default() };
            let told = validate(&world.context(), &request).expect("no error");
            assert_eq!(fix(&told), None, "the name is taken");
        }
    }

    #[test]
    fn standard_input_is_not_repaired() {
        let world = World::new();
        let bytes = b"---\nname: a\ndescription: a: b\n---\n".to_vec();
        let request = ValidateRequest {
            targets: vec![Target::Text { bytes, file: None }],
            repairs: Repairs::Make(Safety::Safe),
            ..ValidateRequest::default()
        };
        assert!(validate(&world.context(), &request).is_err());
    }
}
