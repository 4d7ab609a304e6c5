//! What installed skills require and this machine lacks: other skills, and programs, variables, packages and systems.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::advice::{Verb, message};
use crate::context::Context;
use crate::engine::prerequisites::{Machine, lacking as in_words, of_directory};
use crate::fs;
use crate::ops::tree::{self, TreeSkill};
use crate::scope::Scope;
use crate::scope::health::{Finding, problem};
use crate::settings::Settings;
use crate::skill::SKILL_FILE;
use crate::skill::prerequisites::CheckedPrerequisite;
use crate::text::and;
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

/// Returns a finding for each skill of `scopes` that names others which are not installed: an edited copy may need what an
/// update removed. What cannot be read is a finding of its own.
pub(super) fn unmet(context: &Context, scopes: &[Scope]) -> Vec<Finding> {
    let all = tree::survey(context, None).map(|found| found.skills).unwrap_or_default();
    let here = all
        .iter()
        .filter(|one| !one.skill.disabled && scopes.iter().any(|scope| scope.kind == one.skill.scope));
    let finding = |one: &TreeSkill| {
        let unmet = one.needs.iter().filter(|need| need.scope.is_none() && need.problem.is_none());
        let names: Vec<_> = unmet.map(|need| format!("`{}`", need.text)).collect();
        if names.is_empty() {
            return None;
        }
        let (name, are) = (&one.skill.name, if names.len() == 1 { "is" } else { "are" });
        let told = format!("`{name}` needs {}, which {are} not installed", and(&names));
        let shows = message!(Verb::Tree.within(one.skill.scope).word(name), " shows what it needs");
        let found =
            Finding::new(&problem::DEPENDENCY_MISSING, &one.skill.location, told).skill(name).advice(shows);
        Some(Finding { scope: Some(one.skill.scope), ..found })
    };
    here.filter_map(finding).collect()
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
