//! Checks of the manifest and the lockfile, and of leftovers of killed runs.

use std::collections::BTreeSet;
use std::path::Path;

use crate::advice::{Opt, Verb, message};
use crate::lockfile::{LockError, Locked, Lockfile};
use crate::name::SkillName;
use crate::resolve::graph::closure;
use crate::scope::health::inspection::{Inspection, LockFault};
use crate::scope::health::{Finding, Remedy};
use crate::scope::problem;

/// Finds killed runs and their leftovers.
pub(super) fn runs(look: &Inspection<'_>, found: &mut Vec<Finding>) {
    if look.cut_off {
        let dir = look.scope.work_dir();
        let message = format!("a run of skillpm was interrupted in `{}` and must be finished", dir.display());
        found.push(Finding::new(&problem::RUN_CUT_OFF, dir, message).remedy(Remedy::Finish));
    }
    for path in &look.leftovers {
        let message = format!("`{}` was left behind by an interrupted run", path.display());
        let left = Finding::new(&problem::LEFTOVER, path, message);
        // Until that run is completed, it may be the only intact copy.
        found.push(if look.cut_off {
            left.advice("it is checked again once the run is finished")
        } else {
            left.remedy(Remedy::Sweep)
        });
    }
}

/// Finds files that cannot be read.
pub(super) fn files(look: &Inspection<'_>, found: &mut Vec<Finding>) {
    let (manifest, lockfile) = (&look.scope.manifest, &look.scope.lockfile);
    if let Err(error) = &look.manifest {
        let hint = error.hints().first().cloned().unwrap_or_else(|| "correct the file".into());
        found.push(Finding::new(&problem::MANIFEST_UNREADABLE, manifest, error.with_causes()).advice(hint));
    }
    let place = lockfile.display();
    let install = || Verb::Install.within(look.scope.kind);
    let fault = match &look.lock {
        Ok(_) => None,
        Err(LockFault::File(error)) => Some((
            &problem::LOCK_UNREADABLE,
            error.with_causes(),
            error.hints().first().cloned().unwrap_or_else(|| "restore the file".into()),
        )),
        Err(LockFault::Content(error)) if error.is_of_merge() => Some((
            &problem::LOCK_CONFLICT,
            format!("{place}:{error}").into(),
            message!("run ", install(), ": it repairs it, or says what to do first"),
        )),
        Err(LockFault::Content(error @ LockError::Version(_))) => Some((
            &problem::LOCK_NEWER,
            format!("{place}: {error}").into(),
            message!("update skillpm, or delete the file and run ", install()),
        )),
        Err(LockFault::Content(error)) => {
            let colon = if matches!(error, LockError::Malformed { .. }) { "" } else { " " };
            Some((
                &problem::LOCK_UNREADABLE,
                format!("{place}:{colon}{error}").into(),
                message!("restore the file from version control, or delete it and run ", install()),
            ))
        }
    };
    found.extend(
        fault.map(|(problem, message, advice)| Finding::new(problem, lockfile, message).advice(advice)),
    );
}

/// Compares manifest and lockfile.
pub(super) fn entries(look: &Inspection<'_>, found: &mut Vec<Finding>) {
    let Some(manifest) = look.asked() else { return };
    let (file, lockfile) = (&look.scope.manifest, &look.scope.lockfile);
    for target in manifest.agents().targets.iter().flatten() {
        found.extend(unknown(file, target, ""));
    }
    for (name, requirement) in manifest.skills() {
        let whose = format!(", which skill `{name}` names");
        let own = requirement.agents.iter().flatten();
        found.extend(
            own.filter_map(|id| unknown(file, id, &whose)).map(|finding| finding.skill(name.as_str())),
        );
    }
    // Without a readable lockfile, it is unknown what is locked.
    let empty = Lockfile::default();
    let Ok(lock) = &look.lock else { return };
    let lock = lock.as_ref().unwrap_or(&empty);
    for (name, requirement) in manifest.skills() {
        let decided = requirement.agents.is_some() || manifest.agents().targets.is_some();
        let finding = match lock.skills.get(name) {
            // An editable skill is not locked.
            None if requirement.editable => continue,
            // An unrequested skill comes with the skill that needs it.
            None if requirement.dependency => continue,
            Some(_) if requirement.editable => {
                let message = format!("`{name}` is locked, and editable in `{}`", file.display());
                Finding::new(&problem::LOCKED_OTHERWISE, file, message)
                    .advice(message!(Verb::Install.within(look.scope.kind), " removes it from the lockfile"))
            }
            None => {
                let message = format!("`{name}` is in `{}` and not locked", file.display());
                Finding::new(&problem::NOT_LOCKED, file, message)
                    .advice(message!(Verb::Install.within(look.scope.kind), " locks and installs it"))
            }
            Some(locked) if !locked.is_allowed_by(manifest, requirement) => {
                let message =
                    format!("`{name}` is locked as something other than what `{}` asks for", file.display());
                Finding::new(&problem::LOCKED_OTHERWISE, file, message)
                    .advice(message!(Verb::Install.within(look.scope.kind), " locks it again"))
            }
            Some(locked) if decided && has_other_agents(look, name, locked) => {
                let message =
                    format!("`{name}` is locked with agents other than those in `{}`", file.display());
                Finding::new(&problem::LOCKED_OTHERWISE, file, message)
                    .advice(message!(Verb::Install.within(look.scope.kind), " locks what the manifest says"))
            }
            Some(locked) if !decided => {
                let whose = format!(", which skill `{name}` names");
                let unknown = locked.agents.iter().filter_map(|id| unknown(lockfile, id, &whose));
                found.extend(unknown.map(|finding| finding.skill(name.as_str())));
                continue;
            }
            Some(_) => continue,
        };
        found.push(finding.skill(name.as_str()));
    }
    let kept = closure(manifest.asked(), |name| lock.skills.get(name));
    for name in lock.skills.keys().filter(|name| !kept.contains(*name)) {
        let message = format!("`{name}` is in `{}` and not in `{}`", lockfile.display(), file.display());
        let advice = message!(
            Verb::Install.within(look.scope.kind),
            " removes it; ",
            Verb::Remove.within(look.scope.kind).word(name),
            " removes only this one"
        );
        found.push(
            Finding::new(&problem::NOT_IN_MANIFEST, lockfile, message).skill(name.as_str()).advice(advice),
        );
    }
    for name in &look.left {
        let path = look.scope.skill_dir(name);
        let message = format!("`{name}` was installed here but is no longer requested");
        let advice = message!(Verb::Install.within(look.scope.kind), " removes it");
        found
            .push(Finding::new(&problem::NO_LONGER_ASKED, path, message).skill(name.as_str()).advice(advice));
    }
}

/// Finds dependencies of locked skills that no file contains.
pub(super) fn dependencies(look: &Inspection<'_>, found: &mut Vec<Finding>) {
    let Ok(Some(lock)) = &look.lock else { return };
    let lockfile = &look.scope.lockfile;
    let wanted: BTreeSet<&SkillName> = match look.asked() {
        // A skill that nothing requests any more needs nothing.
        Some(manifest) => manifest.asked().collect(),
        None => lock.skills.keys().collect(),
    };
    let kept = closure(wanted, |name| lock.skills.get(name));
    let is_known = |name: &SkillName| {
        lock.skills.contains_key(name)
            || look.asked().is_some_and(|manifest| manifest.skills().contains_key(name))
    };
    for (name, locked) in lock.skills.iter().filter(|(name, _)| kept.contains(*name)) {
        for needed in locked.dependencies.iter().filter_map(|text| SkillName::new(text).ok()) {
            if !is_known(&needed) {
                let message = format!("`{name}` needs `{needed}`, which is not in `{}`", lockfile.display());
                found.push(
                    Finding::new(&problem::NEED_NOT_LOCKED, lockfile, message)
                        .skill(name.as_str())
                        .advice(message!(Verb::Install.within(look.scope.kind), " installs it")),
                );
            }
        }
    }
}

/// Returns the finding for an unknown agent that is named in `file`.
fn unknown(file: &Path, id: &str, whose: &str) -> Option<Finding> {
    let error = crate::agents::find(id).err()?;
    let message = format!("{}: {error}{whose}", file.display());
    let finding = Finding::new(&problem::AGENT_UNKNOWN, file, message);
    Some(match error.closest {
        Some(close) => finding.advice(format!("did you mean `{close}`?")),
        None => finding.advice(message!(Verb::Agents.call().flag(Opt::All), " lists the agents")),
    })
}

/// Reports whether the lockfile lists other agents for `name` than those that should see it.
fn has_other_agents(look: &Inspection<'_>, name: &SkillName, locked: &Locked) -> bool {
    let Some(wish) = look.desired.get(name) else { return false };
    let wished: BTreeSet<&str> =
        wish.linked().map(|agent| agent.id).filter(|id| !wish.personal.contains(id)).collect();
    wished != locked.agents.iter().map(String::as_str).collect()
}
