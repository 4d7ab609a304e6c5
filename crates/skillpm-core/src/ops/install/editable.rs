//! Editable skills: a link to the directory in which they are written, instead of a copy.

use crate::advice::{Opt, Verb, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs::{self, Kind, LinkKind};
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::scope::editable::{Editable, put_back};
use crate::skill::find::is_skill_file;
use crate::source::local;
use crate::spec::SourceSpec;

/// Refuses a source that no link can lead to.
pub(super) fn check(context: &Context, scope: &Scope, spec: &SourceSpec) -> Result<()> {
    let Some(path) = spec.origin.local_path() else {
        return Err(Error::usage(format!("`{spec}` cannot be editable: it is not on this machine"))
            .hint(message!("name a directory, such as `./skills/brand`, or leave out ", Opt::Editable)));
    };
    check_directory(scope, path, &local::resolve(&context.settings, scope.as_root(), path)?)
}

fn check_directory(scope: &Scope, typed: &str, dir: &std::path::Path) -> Result<()> {
    let Some(real) = fs::real_path(dir)? else { return Ok(()) };
    if fs::kind(&real)? != Some(Kind::Directory) {
        return Err(Error::usage(format!("`{typed}` cannot be editable: it is not a directory"))
            .hint(message!("unpack it and name the directory, or leave out ", Opt::Editable)));
    }
    let work_dir = scope.work_dir();
    let ours = fs::real_path(&work_dir)?.unwrap_or(work_dir);
    if real.starts_with(&ours) {
        return Err(Error::usage(format!(
            "`{typed}` cannot be editable: it is in `{}`, which belongs to skillpm",
            ours.display()
        ))
        .hint(message!(Verb::Import.within(scope.kind).word("NAME"), " makes a skill that you wrote there your own, in `skills/`; installed skills can be edited in place")));
    }
    if ours.starts_with(&real) {
        return Err(Error::usage(format!(
            "`{typed}` cannot be editable: `.agents` is inside it, so the link would be circular"
        ))
        .hint(message!("move the skill to a directory of its own, or leave out ", Opt::Editable)));
    }
    Ok(())
}

/// Returns the directory of the skill `name` that `requirement` names, and the link to it.
pub(in crate::ops) fn find(
    context: &Context,
    scope: &Scope,
    name: &SkillName,
    requirement: &Requirement,
) -> Result<Editable> {
    let path = shown(requirement);
    let wrong = |what: &str| Error::config(format!("`{name}` is editable, but `{path}` {what}"));
    let Some(editable) = Editable::of(&context.settings, scope, requirement)? else {
        return Err(wrong("is not on this machine"));
    };
    if fs::real_path(&editable.directory)?.is_none() {
        return Err(wrong("does not exist").hint(put_back(scope.kind, name.as_str())));
    }
    check_directory(scope, &path, &editable.directory)?;
    let is_skill = |file: &String| is_skill_file(file);
    if !fs::list_dir(&editable.directory)?.iter().any(is_skill) {
        return Err(wrong("has no `SKILL.md`")
            .hint("a link leads to one skill: name its directory in `skillpm.toml` with `subdir`"));
    }
    if editable.link == LinkKind::Copy {
        return Err(wrong("is on another machine, and a link cannot lead there")
            .hint("remove `editable = true` to copy the skill"));
    }
    Ok(editable)
}

/// Returns the directory as the manifest names it.
fn shown(requirement: &Requirement) -> String {
    match &requirement.path {
        Some(sub) => format!("{}/{sub}", requirement.origin.typed()),
        None => requirement.origin.typed(),
    }
}
