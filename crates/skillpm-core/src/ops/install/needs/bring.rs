//! Bringing what is needed along with what was asked for, and taking away what nothing needs any more.

use super::{Needer, Needs, Pick, can_be_left_out};
use crate::context::Context;
use crate::error::Result;
use crate::install::plan::{Content, Wanted};
use crate::install::scope::Scope;
use crate::install::state::Files;
use crate::name::SkillName;
use crate::ops::install::InstallRequest;
use crate::ops::install::fetch::{Chosen, Fetched, unprotected};
use crate::ops::install::intake::Intake;
use crate::ops::install::restore::Worker;

/// Takes the skills in that those need which were `chosen` and taken in, and so on.
pub(in crate::ops::install) fn bring(
    context: &Context,
    scope: &Scope,
    request: &InstallRequest,
    files: &Files,
    fetched: &mut Fetched,
    chosen: &[Chosen],
    intake: &Intake,
) -> Result<Option<Needs>> {
    let mut open = std::mem::take(&mut fetched.came);
    if request.no_deps || open.iter().all(Needer::is_content) {
        return Ok(None);
    }
    // What was said of the skills that were asked for says nothing of those that they need.
    let plain = InstallRequest { alias: None, editable: false, ..request.clone() };
    let mut worker = Worker::resume(context, scope, files, std::mem::take(fetched))?;
    for Chosen { spec, opened, .. } in chosen {
        worker.is_open(spec, opened);
    }
    let mut needs = Needs::new(files);
    for needer in &open {
        needs.asked(needer);
    }
    while let Some(needer) = open.pop() {
        for Pick { name, spec, opened, candidate } in needs.of(&mut worker, &needer)? {
            let fetched = &mut worker.restore.fetched;
            fetched.warnings.extend(unprotected(&spec.origin));
            let chosen =
                Chosen { spec, opened, candidates: vec![candidate], named: true, missed: Vec::new() };
            fetched.add_chosen(context, scope, &plain, &chosen, intake).map_err(|error| {
                let what = format!("`{}` needs `{name}`, which cannot be installed", needer.name);
                can_be_left_out(error.context(what))
            })?;
            open.append(&mut fetched.came);
        }
    }
    *fetched = std::mem::take(&mut worker.restore.fetched);
    fetched.settle_needs(&mut needs);
    Ok(Some(needs))
}

/// Leaves what the lockfile says that skills need as it is: nobody has looked at it.
pub(in crate::ops::install) fn keep(files: &Files, fetched: &mut Fetched) {
    for wanted in &mut fetched.wanted {
        if let (Content::Locked(locked), Some(old)) =
            (&mut wanted.content, files.lock.skills.get(&wanted.name))
        {
            locked.dependencies.clone_from(&old.dependencies);
        }
    }
}

/// The skills that others needed and that nobody needs any more when `wanted` is there and the manifest asks for
/// `entries` as well.
pub(in crate::ops) fn unneeded<'a>(
    files: &'a Files,
    wanted: &'a [Wanted],
    entries: impl Iterator<Item = &'a SkillName>,
) -> Vec<SkillName> {
    let anew = wanted.iter().map(|one| (&one.name, one.content.locked())).collect();
    let asked = wanted.iter().filter(|one| one.is_asked()).map(|one| &one.name);
    let stay = files.staying(asked.chain(entries), &anew);
    let lock = &files.lock.skills;
    files.kept().into_iter().filter(|name| lock.contains_key(name) && !stay.contains(name)).collect()
}
