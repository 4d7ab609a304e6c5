//! What the skills that a change brings require, and this machine lacks.

use crate::advice::{Verb, Warning, message};
use crate::codes;
use crate::engine::prerequisites::{Machine, lacking as in_words, of_directory};
use crate::name::SkillName;
use crate::scope::Scope;
use crate::scope::plan::{Location, Plan, Step};
use crate::settings::Settings;
use crate::text::and_more;
use crate::workers;

/// The maximum number of skills that the warning names.
const MAX_SKILLS: usize = 3;

/// Returns one warning about all skills that `plan` brought into sight of agents and that lack something.
pub(super) fn lacking(settings: &Settings, scope: &Scope, plan: &Plan) -> Option<Warning> {
    let brings =
        |step: &&Step| matches!(step, Step::Put { place: Location::Canonical, .. } | Step::Edit { .. });
    let names: Vec<&SkillName> = plan.steps.iter().filter(brings).map(Step::name).collect();
    let machine = Machine::new(settings);
    let of = |(): &mut (), name: &&SkillName| {
        let dir = scope.skill_dir(name);
        in_words(&machine.check(&dir, of_directory(&dir)))
    };
    let lacking: Vec<_> = workers::map(&names, workers::FEW, || (), of).collect();
    let lacking: Vec<_> =
        names.iter().zip(lacking).filter_map(|(name, lacks)| Some((name, lacks?))).collect();
    let told = match &lacking[..] {
        [] => return None,
        [(name, lacks)] => format!("`{name}` lacks {lacks}"),
        all => {
            let each: Vec<_> = all.iter().map(|(name, lacks)| format!("`{name}` ({lacks})")).collect();
            format!("{} skills lack what they require: {}", all.len(), and_more(&each, MAX_SKILLS))
        }
    };
    let hint = message!(Verb::Show.within(scope.kind).word(lacking[0].0), " has more");
    Some(Warning { hints: vec![hint], ..Warning::new(codes::PREREQUISITE_MISSING, told) })
}
