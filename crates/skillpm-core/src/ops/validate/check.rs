//! Checks of skills, each by itself and among the others.

use super::one::{Again, Checker};
use super::outcome::{Checked, ValidateOutcome};
use super::repair::{self, Repairing};
use super::request::{Repairs, ValidateRequest};
use crate::context::Context;
use crate::error::Result;
use crate::lint::{OtherSkill, Profile, Ruleset};
use crate::manifest;
use crate::paths::{Finder, Searched, Target};
use crate::scope::project_root;
use crate::scope::state::{manifest_error, read_manifest_at};
use crate::workers;

/// Returns the rules of the project around the working directory, as its manifest switches them, by `profile` if one was
/// chosen.
///
/// # Errors
///
/// Fails for an invalid manifest, or one that names an unknown rule or profile.
pub fn rules(context: &Context, profile: Option<Profile>) -> Result<Ruleset> {
    // Not by the scope, which hashes its path to find its memory: a short command would spend a fiftieth of its time on
    // asking the processor how it hashes.
    let file = project_root(&context.settings)?.join(manifest::FILE_NAME);
    let (manifest, _) = read_manifest_at(&file)?;
    Ruleset::from_settings(profile, manifest.lint()).map_err(|error| manifest_error(&file, error))
}

/// Checks skills, each once, in the order of the targets and below one by the bytes of their paths.
///
/// # Errors
///
/// Fails for a path that is not there, cannot be read, or holds no skill.
pub fn validate(context: &Context, request: &ValidateRequest) -> Result<ValidateOutcome> {
    validate_noting(context, request, &mut Searched::default())
}

/// Works like [`validate`]. Where skills are looked for is noted in `searched`, also if that fails.
pub(super) fn validate_noting(
    context: &Context,
    request: &ValidateRequest,
    searched: &mut Searched,
) -> Result<ValidateOutcome> {
    let (mut skills, mut again) = (Vec::new(), Vec::new());
    let cwd = &context.settings.cwd;
    let checker = Checker::new(&request.rules, &[]);
    let mut finder = Finder::new(cwd, searched);
    for target in &request.targets {
        match target {
            Target::Text { .. } if request.repairs != Repairs::None => {
                return Err(Target::no_place("repaired"));
            }
            Target::Text { bytes, file } => {
                let at = file.as_ref().map(|file| cwd.join(file));
                let shown = Target::shown(file.as_deref());
                skills.push(checker.text(bytes.clone(), at.as_deref(), shown));
            }
            Target::Path(typed) => {
                let found = finder.find(typed)?;
                for checked in workers::map(&found, workers::PIECE, || (), |(), place| checker.file(place)) {
                    let Some((checked, needs)) = checked? else { continue };
                    again.extend(needs.map(|needs| (skills.len(), needs)));
                    skills.push(checked);
                }
            }
        }
    }
    let others = among_each_other(&mut skills, &again, &request.rules);
    let checker = Checker::new(&request.rules, &others);
    let Repairing { repaired, installed, outside } = repair::repair(context, &mut skills, &checker, request)?;
    Ok(ValidateOutcome { skills, repaired, installed, outside })
}

/// Checks the skills that need others a second time, now that all of these are known. One that
/// needs none is in no circle. Returns all of these.
fn among_each_other(skills: &mut [Checked], again: &[(usize, Again)], rules: &Ruleset) -> Vec<OtherSkill> {
    if again.len() < 2 {
        return Vec::new();
    }
    let others: Vec<OtherSkill> = again.iter().map(|(_, again)| again.skill.clone()).collect();
    let checker = Checker::new(rules, &others);
    for (index, again) in again {
        skills[*index] = checker.again(again);
    }
    others
}
