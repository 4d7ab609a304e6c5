//! The checks. Pure: what lies on disk was read before.

use std::collections::BTreeMap;
use std::path::Path;

use super::look::{AgentDirectory, Fault, Goes, Here, LockFault, Look, Thing, is_locked};
use super::{Finding, Remedy, problem};
use crate::digest::Digest;
use crate::install::agents::Agent;
use crate::install::plan::{Place, Step};
use crate::install::scope::ScopeKind;
use crate::install::sight::alike;
use crate::lockfile::{LockError, Locked, Lockfile};
use crate::name::SkillName;

const RESTORE: &str = "`skillpm install` brings it back";
const BY_HAND: &str = "move it away, then run `skillpm doctor --fix`";

/// Returns all that is wrong or worth knowing, the worst kind first.
pub fn check(look: &Look) -> Vec<Finding> {
    let mut found = Vec::new();
    runs(look, &mut found);
    files(look, &mut found);
    entries(look, &mut found);
    canonical(look, &mut found);
    for dir in &look.agents {
        directory(look, dir, &mut found);
    }
    for here in &look.here {
        agent(look, here, &mut found);
    }
    for path in &look.unwritable {
        let message = format!("`{}` cannot be written by this user", path.display());
        found.push(
            Finding::new(&problem::DIRECTORY_UNWRITABLE, path, message)
                .advice("nothing can be installed there: change its owner or mode, or use the other scope"),
        );
    }
    for finding in &mut found {
        finding.scope = Some(look.scope.kind);
    }
    found.sort_by(|a, b| a.order().cmp(&b.order()));
    found
}

fn runs(look: &Look, found: &mut Vec<Finding>) {
    if look.cut_off {
        let dir = look.scope.work_dir();
        let message = format!("a run of skillpm was killed in `{}`, and is to be finished", dir.display());
        found.push(Finding::new(&problem::RUN_CUT_OFF, dir, message).remedy(Remedy::Finish));
    }
    for path in &look.leftovers {
        let message = format!("`{}` was left by a run that was killed", path.display());
        let left = Finding::new(&problem::LEFTOVER, path, message);
        // Until that run is finished, it may be the only whole copy.
        found.push(if look.cut_off {
            left.advice("it is looked at again once the run is finished")
        } else {
            left.remedy(Remedy::Sweep)
        });
    }
}

fn files(look: &Look, found: &mut Vec<Finding>) {
    let (manifest, lockfile) = (&look.scope.manifest, &look.scope.lockfile);
    if let Err(error) = &look.manifest {
        let hint = error.hints().first().cloned().unwrap_or_else(|| "correct the file".to_owned());
        found.push(Finding::new(&problem::MANIFEST_UNREADABLE, manifest, error.to_string()).advice(hint));
    }
    let place = lockfile.display();
    let fault = match &look.lock {
        Ok(_) => None,
        Err(LockFault::File(error)) => Some((
            &problem::LOCK_UNREADABLE,
            format!("{error}: {}", error.source),
            "check who owns the file, and its mode",
        )),
        Err(LockFault::Content(error @ LockError::MergeConflict { .. })) => Some((
            &problem::LOCK_CONFLICT,
            format!("{place}:{error}"),
            "take either side, then run `skillpm install`: it adds what the manifest asks for",
        )),
        Err(LockFault::Content(error @ LockError::Version(_))) => Some((
            &problem::LOCK_NEWER,
            format!("{place}: {error}"),
            "update skillpm, or delete the file and run `skillpm install`",
        )),
        Err(LockFault::Content(error)) => {
            let colon = if matches!(error, LockError::Malformed { .. }) { "" } else { " " };
            Some((
                &problem::LOCK_UNREADABLE,
                format!("{place}:{colon}{error}"),
                "restore the file from version control, or delete it and run `skillpm install`",
            ))
        }
    };
    found.extend(
        fault.map(|(problem, message, advice)| Finding::new(problem, lockfile, message).advice(advice)),
    );
}

/// Compares manifest and lockfile.
fn entries(look: &Look, found: &mut Vec<Finding>) {
    let Some(manifest) = look.asked() else { return };
    let (file, lockfile) = (&look.scope.manifest, &look.scope.lockfile);
    for target in manifest.agents().targets.iter().flatten() {
        if let Err(error) = crate::install::agents::find(target) {
            let message = format!("{}: {error}", file.display());
            let finding = Finding::new(&problem::AGENT_UNKNOWN, file, message);
            found.push(match error.closest {
                Some(close) => finding.advice(format!("did you mean `{close}`?")),
                None => finding.advice("`skillpm agents --all` lists the agents"),
            });
        }
    }
    // Without a lockfile that can be read nothing is known of what is locked.
    let empty = Lockfile::default();
    let Ok(lock) = &look.lock else { return };
    let lock = lock.as_ref().unwrap_or(&empty);
    for (name, requirement) in manifest.skills() {
        let finding = match lock.skills.get(name) {
            None => {
                let message = format!("`{name}` is in `{}` and not locked", file.display());
                Finding::new(&problem::NOT_LOCKED, file, message)
                    .advice("`skillpm install` locks and installs it")
            }
            Some(locked) if !locked.meets(requirement) => {
                let message =
                    format!("`{name}` is locked as something else than `{}` asks for", file.display());
                Finding::new(&problem::LOCKED_OTHERWISE, file, message)
                    .advice("`skillpm install` locks it anew")
            }
            Some(_) => continue,
        };
        found.push(finding.skill(name.as_str()));
    }
    for name in lock.skills.keys().filter(|name| !manifest.skills().contains_key(*name)) {
        let message = format!("`{name}` is in `{}` and not in `{}`", lockfile.display(), file.display());
        let advice =
            format!("`skillpm install` removes it; `skillpm remove {name}` does so without the others");
        found.push(
            Finding::new(&problem::NOT_IN_MANIFEST, lockfile, message).skill(name.as_str()).advice(advice),
        );
    }
}

fn canonical(look: &Look, found: &mut Vec<Finding>) {
    let dir = look.scope.skills_dir();
    let things = match &look.canonical {
        Ok(things) => things,
        Err(fault) => return found.push(closed(&dir, fault)),
    };
    let locked = || look.locked().into_iter().flat_map(|lock| &lock.skills);
    twins(&dir, things.keys().chain(&locked().map(|(name, _)| name.to_string()).collect::<Vec<_>>()), found);
    for (name, locked) in locked() {
        let path = look.scope.skill_dir(name);
        let shown = path.display();
        let finding = match things.get(name.as_str()) {
            None => {
                let message = format!("`{name}` is locked, and `{shown}` is not there");
                let missing = Finding::new(&problem::SKILL_MISSING, &path, message);
                if look.stored.contains(name) {
                    let (place, digest) = (Place::Canonical, locked.digest);
                    let put = Step::Put { place, name: name.clone(), digest, replaces: None };
                    missing.remedy(Remedy::Steps(vec![put]))
                } else {
                    missing.advice(RESTORE)
                }
            }
            Some(Thing::Tree(digest)) if *digest == Some(locked.digest) => continue,
            Some(Thing::Tree(_)) => {
                let message = format!("`{shown}` is not what is locked: it was edited");
                Finding::new(&problem::SKILL_EDITED, &path, message)
            }
            Some(Thing::Link { .. } | Thing::Other) => {
                let message = format!("`{shown}` is no directory, though `{name}` is locked");
                let advice = "move it away, then run `skillpm install`";
                Finding::new(&problem::SKILL_NO_DIRECTORY, &path, message).advice(advice)
            }
        };
        found.push(finding.skill(name.as_str()));
    }
    // Links of other tools from the canonical directory into places of their own.
    for (name, thing) in things {
        let locked = look.locked().is_some_and(|lock| is_locked(lock, name));
        if let (Thing::Link { target, goes: Goes::Nowhere | Goes::Canonical(_) }, false) = (thing, locked)
            && !leads_somewhere(look, thing)
        {
            let path = dir.join(name);
            found.push(
                broken(&path, target)
                    .skill(name)
                    .advice(format!("make what it leads to, or remove the link: `rm '{}'`", path.display())),
            );
        }
    }
}

/// Whether something that is no link lies where `thing` leads.
fn leads_somewhere(look: &Look, thing: &Thing) -> bool {
    match thing {
        Thing::Link { goes: Goes::Canonical(name), .. } => {
            let there = look.canonical.as_ref().ok().and_then(|things| things.get(name));
            there.is_some_and(|there| {
                there != thing && !matches!(there, Thing::Link { goes: Goes::Nowhere, .. })
            })
        }
        Thing::Link { goes, .. } => *goes == Goes::Elsewhere,
        Thing::Tree(_) | Thing::Other => true,
    }
}

fn directory(look: &Look, dir: &AgentDirectory, found: &mut Vec<Finding>) {
    let things = match &dir.things {
        Ok(things) => things,
        Err(fault) => return found.push(closed(&dir.path, fault).agent(dir.agent.map(|agent| agent.id))),
    };
    twins(&dir.path, things.keys(), found);
    for (name, thing) in things {
        let path = dir.path.join(name);
        let about = Entry { look, dir, name, path: &path };
        let finding = match thing {
            Thing::Link { target, goes } => about.link(thing, target, goes),
            Thing::Tree(digest) => about.tree(*digest),
            Thing::Other => None,
        };
        found.extend(finding.map(|finding| finding.skill(name).agent(dir.agent.map(|agent| agent.id))));
    }
}

/// Something in an agent's directory.
struct Entry<'a> {
    look: &'a Look,
    dir: &'a AgentDirectory,
    name: &'a str,
    path: &'a Path,
}

impl Entry<'_> {
    /// The entry of the lockfile for this name.
    fn locked(&self) -> Option<(SkillName, &Locked)> {
        let name = SkillName::new(self.name).ok().filter(|name| name.as_str() == self.name)?;
        let locked = self.look.locked()?.skills.get(&name)?;
        Some((name, locked))
    }

    /// The step that makes a link to the canonical copy here, where skillpm makes links and that copy is there.
    fn link_step(&self) -> Option<Step> {
        let (name, _) = self.locked()?;
        let agent = self.dir.agent.filter(|agent| !agent.is_universal())?;
        let there = self.look.canonical.as_ref().ok()?.get(self.name);
        matches!(there, Some(Thing::Tree(_))).then(|| Step::Link { agent: agent.id.to_owned(), name })
    }

    fn link(&self, thing: &Thing, target: &Path, goes: &Goes) -> Option<Finding> {
        let shown = self.path.display();
        let to = target.display();
        let wrong = match goes {
            Goes::Canonical(to) => to != self.name,
            Goes::Elsewhere | Goes::Nowhere => true,
        };
        // The canonical copy is missing: that is told, and the link is right.
        if !wrong && self.locked().is_some() && !leads_somewhere(self.look, thing) {
            return None;
        }
        if !leads_somewhere(self.look, thing) {
            let broken = broken(self.path, target);
            // A link of ours to a skill that is gone, or one in whose place ours belongs.
            let ours =
                SkillName::new(self.name).ok().filter(|_| matches!(goes, Goes::Canonical(_)) && !wrong);
            return Some(match (self.link_step(), ours, self.dir.agent) {
                (Some(step), ..) => broken.remedy(Remedy::Steps(vec![step])),
                (None, Some(name), Some(agent)) => {
                    let place = Place::Agent(agent.id.to_owned());
                    broken.remedy(Remedy::Steps(vec![Step::Unlink { place, name }]))
                }
                _ => broken.advice(format!("make what it leads to, or remove the link: `rm '{shown}'`")),
            });
        }
        if wrong && self.locked().is_some() {
            let message = format!("`{shown}` leads to `{to}`, not to the installed skill `{}`", self.name);
            let advice = format!(
                "if that is not meant, remove it with `rm '{shown}'`, then run `skillpm doctor --fix`"
            );
            return Some(Finding::new(&problem::LINK_WRONG, self.path, message).advice(advice));
        }
        if !wrong && target.is_absolute() && self.look.scope.kind == ScopeKind::Project && !cfg!(windows) {
            let message = format!("`{shown}` leads to `{to}`: it breaks when the project is moved or cloned");
            let finding = Finding::new(&problem::LINK_ABSOLUTE, self.path, message);
            return Some(match self.link_step() {
                Some(step) => finding.remedy(Remedy::Steps(vec![step])),
                None => {
                    finding.advice("`skillpm install` makes relative links for the skills that it installs")
                }
            });
        }
        None
    }

    /// A directory where a link should be.
    fn tree(&self, digest: Option<Digest>) -> Option<Finding> {
        let (name, locked) = self.locked()?;
        let copies = self.look.asked().is_some_and(|manifest| manifest.agents().copy);
        let there = self.look.canonical.as_ref().ok()?.get(self.name);
        let shown = self.path.display();
        let canonical = match there {
            Some(Thing::Tree(digest)) => *digest,
            _ => None,
        };
        let equal = digest.is_some() && (digest == Some(locked.digest) || digest == canonical);
        if !equal {
            let message = format!("`{shown}` is a copy of `{name}` with other files than the installed one");
            let advice = format!(
                "compare it with `{}`, keep what you need of it, and {BY_HAND}",
                self.look.scope.skill_dir(&name).display()
            );
            return Some(Finding::new(&problem::STRAY_COPY_DIFFERS, self.path, message).advice(advice));
        }
        if copies {
            return None;
        }
        let message = format!("`{shown}` is a copy of `{name}`, and no update will reach it");
        let finding = Finding::new(&problem::STRAY_COPY, self.path, message);
        // Only where the same bytes stay in the canonical place does nothing go with the copy.
        let same = digest == canonical;
        Some(match (self.dir.agent, digest) {
            (Some(agent), Some(old)) if same => {
                let place = Place::Agent(agent.id.to_owned());
                let mut steps = vec![Step::Remove { place, name, old }];
                steps.extend(self.link_step());
                finding.remedy(Remedy::Steps(steps))
            }
            _ => finding.advice(format!("if nobody needs it, remove it: `rm -r '{shown}'`")),
        })
    }
}

/// What an agent that is here should have, and what it sees.
fn agent(look: &Look, here: &Here, found: &mut Vec<Finding>) {
    if let (true, false, Some(dir)) = (here.chosen, here.served, &here.dir)
        && !look.is_closed(dir)
    {
        missing(look, here.agent, dir, found);
    }
    let anything = look.locked().is_some_and(|lock| !lock.skills.is_empty());
    if here.sees == 0
        && anything
        && !here.chosen
        && !here.served
        && let Some(dir) = &here.dir
    {
        let message = format!("{} is on this machine and sees none of the skills here", here.agent.name);
        let flag = if look.scope.kind == ScopeKind::User { " -g" } else { "" };
        found.push(
            Finding::new(&problem::AGENT_READS_NOTHING, dir, message)
                .agent(Some(here.agent.id))
                .advice(format!("`skillpm install{flag} --agent {}` links them", here.agent.id)),
        );
    }
    for twice in &here.twice {
        let installed = look.locked().is_some_and(|lock| is_locked(lock, &twice.name));
        let places: Vec<_> = twice.places.iter().map(|path| format!("`{}`", path.display())).collect();
        let (name, who) = (&twice.name, here.agent.name);
        let places = places.join(" and ");
        let finding = if twice.same {
            let message = format!("{who} finds `{name}` in {places}: one skill, by several ways");
            Finding::new(&problem::SEEN_TWICE, &twice.places[0], message)
        } else if installed {
            // The copy that differs is told on its own.
            continue;
        } else {
            let message = format!("{who} finds different skills of the name `{name}`, in {places}");
            Finding::new(&problem::SEEN_DIFFERENT, &twice.places[0], message)
                .advice("rename or remove one of them")
        };
        found.push(finding.skill(name).agent(Some(here.agent.id)));
    }
}

/// The links or copies that a chosen agent should have and does not.
fn missing(look: &Look, agent: &Agent, dir: &Path, found: &mut Vec<Finding>) {
    let (Some(lock), Ok(canonical)) = (look.locked(), &look.canonical) else { return };
    let copies = look.asked().is_some_and(|manifest| manifest.agents().copy);
    let things = look.in_directory(dir);
    for (name, locked) in &lock.skills {
        let there = things.is_some_and(|things| things.contains_key(name.as_str()));
        // A link to a copy that is missing itself would help nobody.
        let Some(Thing::Tree(digest)) = canonical.get(name.as_str()) else { continue };
        if there {
            continue;
        }
        let path = dir.join(name.as_str());
        let message = format!("{} does not see `{name}`: `{}` is not there", agent.name, path.display());
        let finding = if !copies {
            let step = Step::Link { agent: agent.id.to_owned(), name: name.clone() };
            Finding::new(&problem::LINK_MISSING, path, message).remedy(Remedy::Steps(vec![step]))
        } else if *digest == Some(locked.digest) {
            let place = Place::Agent(agent.id.to_owned());
            let step = Step::Put { place, name: name.clone(), digest: locked.digest, replaces: None };
            Finding::new(&problem::COPY_MISSING, path, message).remedy(Remedy::Steps(vec![step]))
        } else {
            Finding::new(&problem::COPY_MISSING, path, message).advice(RESTORE)
        };
        found.push(finding.skill(name.as_str()).agent(Some(agent.id)));
    }
}

fn closed(dir: &Path, fault: &Fault) -> Finding {
    match fault {
        Fault::Unreadable(error) => {
            let message = format!("{error}: {}", error.source);
            Finding::new(&problem::DIRECTORY_UNREADABLE, dir, message)
                .advice("check what it is, who owns it, and its mode")
        }
        Fault::Outside(error) => Finding::new(&problem::DIRECTORY_OUTSIDE, dir, error.to_string())
            .advice("remove the link, or install for the user with `--scope user`"),
    }
}

fn broken(path: &Path, target: &Path) -> Finding {
    let message = format!("`{}` leads to `{}`, which is not there", path.display(), target.display());
    Finding::new(&problem::LINK_BROKEN, path, message)
}

/// Names in one directory that are one on some file systems.
fn twins<'a>(dir: &Path, names: impl Iterator<Item = &'a String>, found: &mut Vec<Finding>) {
    let mut by_key: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in names {
        let alike = by_key.entry(alike(name)).or_default();
        if !alike.contains(&name.as_str()) {
            alike.push(name);
        }
    }
    for names in by_key.into_values().filter(|names| names.len() > 1) {
        let shown: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        let message =
            format!("{} in `{}` are one name on some file systems", shown.join(" and "), dir.display());
        found.push(
            Finding::new(&problem::NAME_TWINS, dir.join(names[0]), message)
                .skill(names[0])
                .advice("rename or remove one of them"),
        );
    }
}
