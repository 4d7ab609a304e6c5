//! What a script requires and does not get.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use crate::advice::{Opt, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::engine::Skill;
use crate::engine::prerequisites::{Machine, lacking, of_script};
use crate::engine::run::{Programs, Script};
use crate::skill::prerequisites::{CheckedPrerequisite, PrerequisiteKind};

/// Returns the warning about what `script` of `skill` lacks, if one of `programs` runs it with the variables `env`. It may
/// run nevertheless.
pub(super) fn warning(
    context: &Context,
    skill: &Skill,
    script: &Script,
    env: &BTreeMap<OsString, OsString>,
    programs: &Programs,
) -> Option<Warning> {
    let settings = &context.settings;
    let at =
        if script.base.is_empty() { script.path.clone() } else { format!("{}/{}", script.base, script.path) };
    let bytes = script.files.read(script.files.get(&at)?).ok()?;
    let paths = script.files.files().iter().map(|file| file.path.as_str());
    let all = of_script(&skill.real, (&script.path, &bytes), paths);
    let machine = Machine::of_script(settings, (&script.path, &bytes), env, programs, &all);
    let checked = machine.check(&skill.real, all);
    let words = lacking(&checked)?;
    let is_set = |name: &&String| settings.env.vars.contains_key(OsStr::new(name));
    let variables =
        |one: &&CheckedPrerequisite| one.is_lacking() && one.prerequisite.kind == PrerequisiteKind::Variable;
    let variable =
        checked.iter().filter(variables).find_map(|one| one.prerequisite.any_of.iter().find(is_set));
    let variable = variable.map(|name| message!((Opt::Env, name), " passes the variable on"));
    let has_packages = checked
        .iter()
        .any(|one| one.is_lacking() && one.prerequisite.kind == PrerequisiteKind::PythonPackage);
    let packages = has_packages.then(|| {
        message!(
            "install `uv`, which provides what a script names, or choose a Python that has it with ",
            (Opt::Interpreter, "python=PROGRAM")
        )
    });
    let told = format!("`{}` of `{}` may fail: it lacks {words}", script.path, script.skill);
    Some(Warning {
        hints: variable.into_iter().chain(packages).collect(),
        ..Warning::new(codes::PREREQUISITE_MISSING, told)
    })
}
