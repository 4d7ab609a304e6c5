//! What installed skills require and this machine lacks.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::advice::{Verb, message};
use crate::engine::prerequisites::{Machine, lacking as in_words, of_directory};
use crate::fs;
use crate::scope::Scope;
use crate::scope::health::{Finding, problem};
use crate::settings::Settings;
use crate::skill::SKILL_FILE;
use crate::skill::prerequisites::CheckedPrerequisite;
use crate::workers;

/// Returns a finding for each skill of `scopes` that lacks something. The interpreter of Python is asked once, for all.
pub(super) fn lacking(settings: &Settings, scopes: &[Scope]) -> Vec<Finding> {
    let skills = skills(scopes);
    let of = |(.., dir): &(&Scope, String, PathBuf)| of_directory(dir);
    let all: Vec<_> = workers::map(&skills, workers::FEW, || (), |(), skill| of(skill)).collect();
    let machine = Machine::new(settings).asking_python(all.iter().flatten());
    let mut found = Vec::new();
    for ((scope, name, dir), all) in skills.iter().zip(all) {
        let mut lacks = machine.check(dir, all);
        lacks.retain(CheckedPrerequisite::is_lacking);
        let Some(words) = in_words(&lacks) else { continue };
        let show = Verb::Show.within(scope.kind).word(name);
        let finding = Finding::new(&problem::PREREQUISITE_MISSING, dir, format!("`{name}` lacks {words}"))
            .skill(name)
            .advice(message!(show, " shows where it says so"));
        found.push(Finding { scope: Some(scope.kind), lacks, ..finding });
    }
    found
}

/// Returns the skills in the canonical directories of `scopes`, each directory once.
fn skills(scopes: &[Scope]) -> Vec<(&Scope, String, PathBuf)> {
    let (mut skills, mut known) = (Vec::new(), BTreeSet::new());
    for scope in scopes {
        let dir = scope.skills_dir();
        // What cannot be listed is a finding of its own.
        for name in fs::list_dir(&dir).unwrap_or_default() {
            let skill = dir.join(&name);
            let has_file = matches!(fs::kind(&skill.join(SKILL_FILE)), Ok(Some(_)));
            if has_file && fs::real_path(&skill).is_ok_and(|real| known.insert(real)) {
                skills.push((scope, name, skill));
            }
        }
    }
    skills
}
