//! The checks. Pure: what lies on disk was read before.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::look::{AgentDirectory, Fault, Goes, Here, LockFault, Look, Thing, Wish, is_locked, real};
use super::{Finding, Remedy, problem};
use crate::digest::Digest;
use crate::error::Error;
use crate::install::agents::Agent;
use crate::install::editable::Editable;
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
    aside(look, &mut found);
    for dir in &look.agents {
        directory(look, dir, &mut found);
    }
    missing(look, &mut found);
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
        found.extend(unknown(file, target, ""));
    }
    for (name, requirement) in manifest.skills() {
        let whose = format!(", which skill `{name}` names");
        let own = requirement.agents.iter().flatten();
        found.extend(
            own.filter_map(|id| unknown(file, id, &whose)).map(|finding| finding.skill(name.as_str())),
        );
    }
    // Without a lockfile that can be read nothing is known of what is locked.
    let empty = Lockfile::default();
    let Ok(lock) = &look.lock else { return };
    let lock = lock.as_ref().unwrap_or(&empty);
    for (name, requirement) in manifest.skills() {
        let decided = requirement.agents.is_some() || manifest.agents().targets.is_some();
        let finding = match lock.skills.get(name) {
            // What somebody works on is not locked.
            None if requirement.editable => continue,
            Some(_) if requirement.editable => {
                let message = format!("`{name}` is locked, and editable in `{}`", file.display());
                Finding::new(&problem::LOCKED_OTHERWISE, file, message)
                    .advice("`skillpm install` takes it out of the lockfile")
            }
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
            Some(locked) if decided && has_other_agents(look, name, locked) => {
                let message =
                    format!("`{name}` is locked with other agents than `{}` asks for", file.display());
                Finding::new(&problem::LOCKED_OTHERWISE, file, message)
                    .advice("`skillpm install` locks what the manifest says")
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
    for name in lock.skills.keys().filter(|name| !manifest.skills().contains_key(*name)) {
        let message = format!("`{name}` is in `{}` and not in `{}`", lockfile.display(), file.display());
        let advice =
            format!("`skillpm install` removes it; `skillpm remove {name}` does so without the others");
        found.push(
            Finding::new(&problem::NOT_IN_MANIFEST, lockfile, message).skill(name.as_str()).advice(advice),
        );
    }
}

/// An agent that is not known, named in `file`.
fn unknown(file: &Path, id: &str, whose: &str) -> Option<Finding> {
    let error = crate::install::agents::find(id).err()?;
    let message = format!("{}: {error}{whose}", file.display());
    let finding = Finding::new(&problem::AGENT_UNKNOWN, file, message);
    Some(match error.closest {
        Some(close) => finding.advice(format!("did you mean `{close}`?")),
        None => finding.advice("`skillpm agents --all` lists the agents"),
    })
}

/// Whether the lockfile has other agents for `name` than are to see it.
fn has_other_agents(look: &Look, name: &SkillName, locked: &Locked) -> bool {
    let Some(wish) = look.wishes.get(name) else { return false };
    let wished: BTreeSet<&str> = wish.linked().map(|agent| agent.id).collect();
    wished != locked.agents.iter().map(String::as_str).collect()
}

fn canonical(look: &Look, found: &mut Vec<Finding>) {
    let dir = look.scope.skills_dir();
    let things = match &look.canonical {
        Ok(things) => things,
        Err(fault) => return found.push(closed(&dir, fault)),
    };
    let locked = || look.locked().into_iter().flat_map(|lock| &lock.skills);
    twins(&dir, things.keys().chain(&locked().map(|(name, _)| name.to_string()).collect::<Vec<_>>()), found);
    for (name, wish) in &look.wishes {
        let finding = match &wish.editable {
            _ if wish.disabled => visible(look, name, wish),
            Some(editable) => editable_link(look, name, wish, editable),
            None => None,
        };
        found.extend(finding.map(|finding| finding.skill(name.as_str())));
    }
    for (name, locked) in locked() {
        let wish = look.wishes.get(name);
        if wish.is_some_and(|wish| wish.editable.is_some()) {
            continue;
        }
        found.extend(tree_of(look, name, locked, wish).map(|finding| finding.skill(name.as_str())));
    }
    // Links of other tools from the canonical directory into places of their own.
    for (name, thing) in things {
        let known = look.locked().is_some_and(|lock| is_locked(lock, name))
            || SkillName::new(name).is_ok_and(|name| look.wishes.contains_key(&name));
        if let (Thing::Link { target, goes: Goes::Nowhere | Goes::Canonical(_) }, false) = (thing, known)
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

/// A disabled skill that lies where agents see it.
fn visible(look: &Look, name: &SkillName, wish: &Wish) -> Option<Finding> {
    look.canonical(name)?;
    let path = look.scope.skill_dir(name);
    let also = match look.aside(name) {
        Some(_) => format!(", and in `{}` too", look.scope.disabled_dir().join(name.as_str()).display()),
        None => String::new(),
    };
    let message = format!("`{name}` is disabled and lies where agents see it, in `{}`{also}", path.display());
    Some(at_home(Finding::new(&problem::DISABLED_VISIBLE, path, message), wish))
}

/// What is wrong with the directory of an editable skill that is not disabled, or with the link to it.
fn editable_link(
    look: &Look,
    name: &SkillName,
    wish: &Wish,
    editable: &Result<Editable, Error>,
) -> Option<Finding> {
    let path = look.scope.skill_dir(name);
    let editable = match editable {
        Ok(editable) => editable,
        Err(error) => {
            let finding = Finding::new(&problem::EDITABLE_GONE, path, error.to_string());
            let hint = error.hints().first().cloned();
            return Some(
                finding.advice(hint.unwrap_or_else(|| "correct its entry in `skillpm.toml`".to_owned())),
            );
        }
    };
    let (shown, to) = (path.display(), editable.directory.display());
    let message = match look.canonical(name) {
        Some(Thing::Link { target, .. }) if editable.link.says(target) => return None,
        None => format!("`{name}` is editable, and `{shown}` is not there"),
        Some(Thing::Link { target, .. }) => {
            format!("`{name}` is editable, and `{shown}` leads to `{}`, not to `{to}`", target.display())
        }
        Some(Thing::Tree(_) | Thing::Other) => {
            format!("`{name}` is editable, and `{shown}` is no link to `{to}`")
        }
    };
    Some(at_home(Finding::new(&problem::EDITABLE_LINK, path, message), wish))
}

/// What is wrong with the tree of a locked skill, wherever it is to lie.
fn tree_of(look: &Look, name: &SkillName, locked: &Locked, wish: Option<&Wish>) -> Option<Finding> {
    let (canonical, aside) = (look.canonical(name), look.aside(name));
    // Where nothing can be known of what is asked for, it is right wherever it lies.
    let disabled = wish.map_or(canonical.is_none() && aside.is_some(), |wish| wish.disabled);
    let put_away = look.scope.disabled_dir().join(name.as_str());
    if disabled && aside.is_none() && canonical.is_some() {
        // It is told that it lies in the wrong place.
        return None;
    }
    if let (false, None, Some(Thing::Tree(_)), Some(wish)) = (disabled, canonical, aside, wish) {
        let message =
            format!("`{name}` is not disabled and lies where no agent looks, in `{}`", put_away.display());
        return Some(at_home(
            Finding::new(&problem::SKILL_MISSING, look.scope.skill_dir(name), message),
            wish,
        ));
    }
    let (place, path, thing) = if disabled {
        (Place::Disabled, put_away, aside)
    } else {
        (Place::Canonical, look.scope.skill_dir(name), canonical)
    };
    let shown = path.display();
    Some(match thing {
        None => {
            let message = format!("`{name}` is locked, and `{shown}` is not there");
            let missing = Finding::new(&problem::SKILL_MISSING, &path, message);
            if look.stored.contains(name) {
                let put = Step::Put { place, name: name.clone(), digest: locked.digest, replaces: None };
                missing.remedy(Remedy::Steps(vec![put]))
            } else {
                missing.advice(RESTORE)
            }
        }
        Some(Thing::Tree(digest)) if *digest == Some(locked.digest) => return None,
        Some(Thing::Tree(_)) => {
            let message = format!("`{shown}` is not what is locked: it was edited");
            Finding::new(&problem::SKILL_EDITED, &path, message)
        }
        Some(Thing::Link { .. } | Thing::Other) => {
            let message = format!("`{shown}` is no directory, though `{name}` is locked");
            let advice = "move it away, then run `skillpm install`";
            Finding::new(&problem::SKILL_NO_DIRECTORY, &path, message).advice(advice)
        }
    })
}

/// `finding` with what an installation would do about it.
fn at_home(finding: Finding, wish: &Wish) -> Finding {
    match &wish.home {
        Ok(steps) if !steps.is_empty() => finding.remedy(Remedy::Steps(steps.clone())),
        Ok(_) => finding.advice("move it away, then run `skillpm install`"),
        Err(error) => {
            let advice =
                format!("{error}: keep what you need of it, move it away, and run `skillpm doctor --fix`");
            finding.advice(advice)
        }
    }
}

/// What lies among the disabled skills and is none of them.
fn aside(look: &Look, found: &mut Vec<Finding>) {
    let dir = look.scope.disabled_dir();
    let things = match &look.disabled {
        Ok(things) => things,
        Err(fault) => return found.push(closed(&dir, fault)),
    };
    // Without a manifest that can be read, nobody knows what is disabled.
    if look.manifest.is_err() {
        return;
    }
    for text in things.keys() {
        let name = SkillName::new(text).ok().filter(|name| name.as_str() == text);
        let wish = name.as_ref().and_then(|name| look.wishes.get(name));
        let locked = look.locked().is_some_and(|lock| is_locked(lock, text));
        let there = name.as_ref().is_some_and(|name| look.canonical(name).is_some());
        let path = dir.join(text);
        let finding = match wish {
            Some(wish) if wish.disabled && wish.editable.is_none() => continue,
            // It is told that the skill itself is not there, or that nothing asks for it.
            Some(wish) if !there && wish.editable.is_none() => continue,
            None if locked => continue,
            Some(wish) => {
                let what = if wish.disabled { "editable" } else { "not disabled" };
                let message = format!("`{text}` is {what}, and a copy of it lies in `{}`", path.display());
                at_home(Finding::new(&problem::DISABLED_LEFTOVER, &path, message), wish)
            }
            None => {
                let message =
                    format!("`{}` lies among the disabled skills, and nothing asks for it", path.display());
                Finding::new(&problem::DISABLED_LEFTOVER, &path, message)
                    .advice(format!("keep what you need of it, then remove it: `rm -r '{}'`", path.display()))
            }
        };
        found.push(finding.skill(text));
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
        Err(fault) => return found.push(closed(&dir.path, fault).agent(dir.agent().map(|agent| agent.id))),
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
        found.extend(finding.map(|finding| finding.skill(name).agent(dir.agent().map(|agent| agent.id))));
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
    /// The name, where something is known of a skill that has it.
    fn known(&self) -> Option<SkillName> {
        let name = SkillName::new(self.name).ok().filter(|name| name.as_str() == self.name)?;
        let locked = self.look.locked().is_some_and(|lock| lock.skills.contains_key(&name));
        (locked || self.look.wishes.contains_key(&name)).then_some(name)
    }

    fn wish(&self) -> Option<&Wish> {
        self.look.wishes.get(&self.known()?)
    }

    /// Whether the agents of this directory are to see the skill; `None` where nobody can tell.
    fn wanted(&self) -> Option<bool> {
        let wish = self.wish().filter(|wish| !matches!(wish.editable, Some(Err(_))))?;
        let agents = &self.dir.agents;
        if agents.is_empty() || self.look.lock.is_err() {
            return None;
        }
        // Who reads the canonical copies needs no link, and may have one all the same.
        if !wish.disabled && agents.iter().all(|agent| agent.is_universal()) {
            return None;
        }
        Some(!wish.disabled && wish.linked().any(|agent| agents.iter().any(|own| own.id == agent.id)))
    }

    /// The step that makes a link to the canonical copy here, where there is to be one and that copy is there.
    fn link_step(&self) -> Option<Step> {
        let name = self.known()?;
        let agent = self.dir.agent().filter(|agent| !agent.is_universal() && self.wanted() != Some(false))?;
        let there = self.look.canonical(&name).is_some_and(|there| leads_somewhere(self.look, there));
        there.then(|| Step::Link { agent: agent.id.to_owned(), name })
    }

    /// A link to a skill that the agents of this directory are not to see.
    fn unwanted(&self) -> Option<Finding> {
        let (name, wish, agent) = (self.known()?, self.wish()?, self.dir.agent()?);
        let locked = self.look.locked().and_then(|lock| lock.skills.get(&name));
        let ours =
            locked.is_some_and(|locked| self.dir.agents.iter().any(|own| locked.agents.contains(own.id)));
        let shown = self.path.display();
        let why = if wish.disabled {
            "which is disabled".to_owned()
        } else {
            format!("which {} is not to see", agent.name)
        };
        let message = format!("`{shown}` leads to `{name}`, {why}");
        let finding = Finding::new(&problem::LINK_UNWANTED, self.path, message);
        Some(if wish.disabled || ours {
            finding.remedy(Remedy::Steps(vec![unlink_step(agent, name)]))
        } else {
            let flag = if self.look.scope.kind == ScopeKind::User { " -g" } else { "" };
            finding.advice(format!(
                "`skillpm link{flag} --agent {0} {name}` keeps it, `skillpm unlink{flag} --agent {0} {name}` removes it",
                agent.id
            ))
        })
    }

    fn link(&self, thing: &Thing, target: &Path, goes: &Goes) -> Option<Finding> {
        let shown = self.path.display();
        let to = target.display();
        let wrong = match goes {
            Goes::Canonical(to) => to != self.name,
            Goes::Elsewhere | Goes::Nowhere => true,
        };
        if !wrong && self.wanted() == Some(false) {
            return self.unwanted();
        }
        // The canonical copy is missing: that is told, and the link is right.
        if !wrong && self.known().is_some() && !leads_somewhere(self.look, thing) {
            return None;
        }
        if !leads_somewhere(self.look, thing) {
            let broken = broken(self.path, target);
            // A link of ours to a skill that is gone, or one in whose place ours belongs.
            let ours =
                SkillName::new(self.name).ok().filter(|_| matches!(goes, Goes::Canonical(_)) && !wrong);
            return Some(match (self.link_step(), ours, self.dir.agent()) {
                (Some(step), ..) => broken.remedy(Remedy::Steps(vec![step])),
                (None, Some(name), Some(agent)) => {
                    broken.remedy(Remedy::Steps(vec![unlink_step(agent, name)]))
                }
                _ => broken.advice(format!("make what it leads to, or remove the link: `rm '{shown}'`")),
            });
        }
        if wrong && self.known().is_some() && self.wanted() != Some(false) {
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
        let name = self.known()?;
        let wish = self.wish();
        let editable = wish.and_then(|wish| wish.editable.as_ref());
        // It looks into the very directory that somebody works on.
        if let Some(Ok(editable)) = editable
            && editable.directory == real(self.path)
        {
            return None;
        }
        let locked = self.look.locked().and_then(|lock| lock.skills.get(&name)).map(|locked| locked.digest);
        // What changes at any time is never copied.
        let copies = editable.is_none() && self.look.asked().is_some_and(|manifest| manifest.agents().copy);
        let there = if wish.is_some_and(|wish| wish.disabled) {
            self.look.aside(&name)
        } else {
            self.look.canonical(&name)
        };
        let shown = self.path.display();
        let canonical = match there {
            Some(Thing::Tree(digest)) => *digest,
            _ => None,
        };
        let equal = digest.is_some() && (digest == locked || digest == canonical);
        if !equal {
            let message = format!("`{shown}` is a copy of `{name}` with other files than the installed one");
            let advice = format!(
                "compare it with `{}`, keep what you need of it, and {BY_HAND}",
                self.look.scope.skill_dir(&name).display()
            );
            return Some(Finding::new(&problem::STRAY_COPY_DIFFERS, self.path, message).advice(advice));
        }
        let wanted = self.wanted();
        if copies && wanted != Some(false) {
            return None;
        }
        let message = match (wanted, wish) {
            (Some(false), Some(wish)) if wish.disabled => {
                format!("`{shown}` is a copy of `{name}`, which is disabled")
            }
            _ => format!("`{shown}` is a copy of `{name}`, and no update will reach it"),
        };
        let finding = Finding::new(&problem::STRAY_COPY, self.path, message);
        // Only where the same bytes stay in the canonical place does nothing go with the copy.
        let same = digest == canonical;
        Some(match (self.dir.agent(), digest) {
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

/// What an agent that is here sees.
fn agent(look: &Look, here: &Here, found: &mut Vec<Finding>) {
    let anything = look.wishes.values().any(|wish| !wish.disabled);
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
                .advice(format!("`skillpm link{flag} --agent {}` links them", here.agent.id)),
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

/// The step that takes the link of `agent` away.
fn unlink_step(agent: &Agent, name: SkillName) -> Step {
    Step::Unlink { place: Place::Agent(agent.id.to_owned()), name }
}

/// The links or copies that agents should have and do not.
fn missing(look: &Look, found: &mut Vec<Finding>) {
    let copies = look.asked().is_some_and(|manifest| manifest.agents().copy);
    // What is done for one of those that share a directory is done for all.
    let mut done = BTreeSet::new();
    for here in look.here.iter().filter(|here| !here.served) {
        let Some(dir) = here.dir.as_deref().filter(|dir| !look.is_closed(dir)) else { continue };
        let (agent, things) = (here.agent, look.in_directory(dir));
        for (name, wish) in look.wishes.iter().filter(|(_, wish)| !wish.disabled) {
            let there = things.is_some_and(|things| things.contains_key(name.as_str()));
            let path = dir.join(name.as_str());
            if there || !wish.linked().any(|wished| wished.id == agent.id) || !done.insert(real(&path)) {
                continue;
            }
            // A link to a copy that is missing itself would help nobody, unless that comes back from here.
            let canonical = look.canonical(name).filter(|there| leads_somewhere(look, there));
            let comes = |step: &Step| matches!(step, Step::Enable { .. } | Step::Edit { .. });
            let comes = wish.home.as_ref().is_ok_and(|steps| steps.iter().any(comes));
            let message = format!("{} does not see `{name}`: `{}` is not there", agent.name, path.display());
            let locked = look.locked().and_then(|lock| lock.skills.get(name));
            let finding = match (canonical, locked) {
                (None, _) if !comes || copies && wish.editable.is_none() => continue,
                (Some(Thing::Other), _) => continue,
                (Some(Thing::Tree(digest)), Some(locked)) if copies && wish.editable.is_none() => {
                    let missing = Finding::new(&problem::COPY_MISSING, path, message);
                    if *digest == Some(locked.digest) {
                        let place = Place::Agent(agent.id.to_owned());
                        let step =
                            Step::Put { place, name: name.clone(), digest: locked.digest, replaces: None };
                        missing.remedy(Remedy::Steps(vec![step]))
                    } else {
                        missing.advice(RESTORE)
                    }
                }
                // A link in the place of a locked skill is told.
                (Some(Thing::Link { .. }), _) if wish.editable.is_none() => continue,
                _ => {
                    let step = Step::Link { agent: agent.id.to_owned(), name: name.clone() };
                    Finding::new(&problem::LINK_MISSING, path, message).remedy(Remedy::Steps(vec![step]))
                }
            };
            found.push(finding.skill(name.as_str()).agent(Some(agent.id)));
        }
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
