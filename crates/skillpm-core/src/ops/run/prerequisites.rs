//! What a script requires and does not get.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use crate::advice::{Opt, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::engine::Skill;
use crate::engine::prerequisites::{Machine, lacking, of_script};
use crate::engine::run::Script;
use crate::skill::prerequisites::{CheckedPrerequisite, PrerequisiteKind};

/// Returns the warning about what `script` of `skill` lacks, if it gets the variables `env`. It may run nevertheless.
pub(super) fn warning(
    context: &Context,
    skill: &Skill,
    script: &Script,
    env: &BTreeMap<OsString, OsString>,
) -> Option<Warning> {
    let settings = &context.settings;
    let at =
        if script.base.is_empty() { script.path.clone() } else { format!("{}/{}", script.base, script.path) };
    let bytes = script.files.read(script.files.get(&at)?).ok()?;
    let paths = script.files.files().iter().map(|file| file.path.as_str());
    let all = of_script(&skill.real, (&script.path, &bytes), paths);
    let machine = Machine::of_script(settings, (&script.path, &bytes), env, &all);
    let checked = machine.check(&skill.real, all);
    let words = lacking(&checked)?;
    let is_set = |name: &&String| settings.env.vars.contains_key(OsStr::new(name));
    let variables =
        |one: &&CheckedPrerequisite| one.is_lacking() && one.prerequisite.kind == PrerequisiteKind::Variable;
    let variable =
        checked.iter().filter(variables).find_map(|one| one.prerequisite.any_of.iter().find(is_set));
    let hint = variable.map(|name| message!((Opt::Env, name), " passes the variable on"));
    let told = format!("`{}` of `{}` may fail: it lacks {words}", script.path, script.skill);
    Some(Warning { hints: hint.into_iter().collect(), ..Warning::new(codes::PREREQUISITE_MISSING, told) })
}
