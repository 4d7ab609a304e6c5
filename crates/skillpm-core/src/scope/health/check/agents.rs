//! Checks of agents' directories, and of what agents see.

use std::collections::BTreeSet;
use std::path::Path;

use super::{broken, closed, leads_somewhere, restore, twins};
use crate::advice::{Message, Opt, Verb, message};
use crate::digest::Digest;
use crate::name::SkillName;
use crate::scope::agent_view;
use crate::scope::health::inspection::{
    AgentDirectory, DesiredSkill, Inspection, LinkTarget, PresentAgent, is_locked, real,
};
use crate::scope::health::{Finding, Remedy};
use crate::scope::on_disk::OnDisk;
use crate::scope::ownership::Ownership;
use crate::scope::problem;
use crate::scope::step::{Location, Step};
use crate::scope_kind::ScopeKind;
use crate::text::{and, shell_word};

/// Returns the advice to act by hand, after which `doctor` can do the rest.
fn by_hand() -> Message {
    message!("move it away, then run ", Verb::Doctor.call().flag(Opt::Fix))
}

/// Checks the content of a directory of agents.
pub(super) fn directory(look: &Inspection<'_>, dir: &AgentDirectory, found: &mut Vec<Finding>) {
    let entries = match &dir.entries {
        Ok(entries) => entries,
        Err(fault) => return found.push(closed(&dir.path, fault).agent(dir.agent().map(|agent| agent.id))),
    };
    twins(&dir.path, entries.keys(), found);
    for (name, there) in entries {
        let path = dir.path.join(name);
        let about = AgentEntry { look, dir, name, path: &path };
        let finding = match there {
            OnDisk::Absent => continue,
            OnDisk::OurLink | OnDisk::OtherLink(_) | OnDisk::Loop => about.link(there),
            OnDisk::Tree(digest) => about.tree(*digest),
            OnDisk::Written => about.written(),
            OnDisk::Other => about.file(),
        };
        found.extend(finding.map(|finding| finding.skill(name).agent(dir.agent().map(|agent| agent.id))));
    }
}

/// An entry of an agent's directory.
struct AgentEntry<'a> {
    look: &'a Inspection<'a>,
    dir: &'a AgentDirectory,
    name: &'a str,
    path: &'a Path,
}

impl AgentEntry<'_> {
    /// Returns the name, if a skill with that name is known.
    fn known(&self) -> Option<SkillName> {
        let name = SkillName::new(self.name).ok().filter(|name| name.as_str() == self.name)?;
        let locked = self.look.locked().is_some_and(|lock| lock.skills.contains_key(&name));
        (locked || self.look.desired.contains_key(&name)).then_some(name)
    }

    fn wish(&self) -> Option<&DesiredSkill> {
        self.look.desired.get(&self.known()?)
    }

    /// Reports whether the agents of this directory should see the skill, or `None` if that cannot be
    /// determined.
    fn wanted(&self) -> Option<bool> {
        let wish = self.wish().filter(|wish| !matches!(wish.editable, Some(Err(_))))?;
        let agents = &self.dir.agents;
        if agents.is_empty() || self.look.lock.is_err() {
            return None;
        }
        // An agent that reads the canonical copies needs no link, but may still have one.
        if !wish.disabled && agents.iter().all(|agent| agent.is_universal()) {
            return None;
        }
        Some(!wish.disabled && wish.linked().any(|agent| agents.iter().any(|own| own.id == agent.id)))
    }

    /// Returns the step that makes a link to the canonical copy here, if there should be one and that copy
    /// exists.
    fn link_step(&self) -> Option<Step> {
        let name = self.known()?;
        let agent = self.dir.agent().filter(|agent| !agent.is_universal() && self.wanted() != Some(false))?;
        let skills = self.look.scope.skills_dir();
        let there = self
            .look
            .canonical(&name)
            .is_some_and(|there| leads_somewhere(self.look, &skills, name.as_str(), there));
        there.then(|| Step::Link { agent: agent.id.to_owned(), name })
    }

    /// Returns the finding for a link to a skill that the agents of this directory should not see.
    fn unwanted(&self) -> Option<Finding> {
        let (name, wish, agent) = (self.known()?, self.wish()?, self.dir.agent()?);
        let ours = self.look.owned(self.dir, &name, Ownership::of_link);
        let shown = self.path.display();
        let why = if wish.disabled {
            "which is disabled".to_owned()
        } else {
            format!("which {} should not see", agent.name)
        };
        let message = format!("`{shown}` leads to `{name}`, {why}");
        let finding = Finding::new(&problem::LINK_UNWANTED, self.path, message);
        Some(if let Some(owned) = ours {
            finding.remedy(Remedy::Steps(vec![owned.unlink()]))
        } else {
            // `unlink` removes only what skillpm made.
            let remove = format!("remove it with `rm {}`", shell_word(self.path));
            if wish.disabled {
                finding.advice(remove)
            } else {
                let link = Verb::Link.within(self.look.scope.kind).option(Opt::Agent, agent.id).word(&name);
                finding.advice(message!(link, " keeps it; else ", remove))
            }
        })
    }

    /// Returns the finding for a file that contains a link's text in place of our link.
    fn written(&self) -> Option<Finding> {
        let message = format!("`{}` is a file that says where the link should lead", self.path.display());
        let finding = Finding::new(&problem::LINK_MISSING, self.path, message);
        match self.link_step() {
            Some(step) => Some(finding.remedy(Remedy::Steps(vec![step]))),
            None => self.file(),
        }
    }

    fn link(&self, there: &OnDisk) -> Option<Finding> {
        let (target, goes) = self.look.link(&self.dir.path, self.name, there)?;
        let leads = leads_somewhere(self.look, &self.dir.path, self.name, there);
        let shown = self.path.display();
        let to = target.display();
        let wrong = match &goes {
            LinkTarget::Canonical(to) => to != self.name,
            LinkTarget::Elsewhere | LinkTarget::Nowhere => true,
        };
        if !wrong && self.wanted() == Some(false) {
            return self.unwanted();
        }
        // The missing canonical copy has its own finding, and the link is correct.
        if !wrong && self.known().is_some() && !leads {
            return None;
        }
        if !leads {
            let broken = broken(self.path, &target);
            // A link of ours to a skill that is gone.
            let name =
                SkillName::exact(self.name).filter(|_| matches!(goes, LinkTarget::Canonical(_)) && !wrong);
            let ours = name.and_then(|name| self.look.owned(self.dir, &name, Ownership::of_link));
            return Some(match ours {
                Some(owned) => broken.remedy(Remedy::Steps(vec![owned.unlink()])),
                None => broken,
            });
        }
        if wrong && self.known().is_some() && self.wanted() != Some(false) {
            let message = format!("`{shown}` leads to `{to}`, not to the installed skill `{}`", self.name);
            let advice = message!(
                format_args!(
                    "if that is unintended, remove it with `rm {}`, then run ",
                    shell_word(self.path)
                ),
                Verb::Doctor.call().flag(Opt::Fix)
            );
            return Some(Finding::new(&problem::LINK_WRONG, self.path, message).advice(advice));
        }
        if !wrong && target.is_absolute() && self.look.scope.kind == ScopeKind::Project && !cfg!(windows) {
            let message = format!("`{shown}` leads to `{to}`: it breaks when the project is moved or cloned");
            let finding = Finding::new(&problem::LINK_ABSOLUTE, self.path, message);
            let ours = self
                .known()
                .is_some_and(|name| self.look.owned(self.dir, &name, Ownership::of_link).is_some());
            return Some(match self.link_step().filter(|_| ours) {
                Some(step) => finding.remedy(Remedy::Steps(vec![step])),
                None => finding
                    .advice(message!(Verb::Install, " makes relative links for the skills that it installs")),
            });
        }
        None
    }

    /// Returns the finding for a file where a link should be: git writes such files if it cannot make links.
    fn file(&self) -> Option<Finding> {
        let agent = self.dir.agent().filter(|_| self.wanted() == Some(true))?;
        let shown = self.path.display();
        let message = format!("{} does not see `{}`: `{shown}` is a file, not a link", agent.name, self.name);
        let advice = message!(
            format_args!(
                "if git wrote it (`core.symlinks`) or you do not need it, remove it with `rm {}`, then run ",
                shell_word(self.path)
            ),
            Verb::Doctor.call().flag(Opt::Fix)
        );
        Some(Finding::new(&problem::LINK_MISSING, self.path, message).advice(advice))
    }

    /// Returns the finding for a directory where a link should be.
    fn tree(&self, digest: Option<Digest>) -> Option<Finding> {
        let name = self.known()?;
        let wish = self.wish();
        let editable = wish.and_then(|wish| wish.editable.as_ref());
        // The agent reads the very directory in which the skill is written.
        if let Some(Ok(editable)) = editable
            && editable.directory == real(self.path)
        {
            return None;
        }
        // It belongs to its author, and is not a copy.
        if self.look.state.sources().contains(&real(self.path)) {
            return None;
        }
        let locked = self.look.locked().and_then(|lock| lock.skills.get(&name)).map(|locked| locked.digest);
        // A skill that may change at any time is never copied.
        let copies = editable.is_none() && self.look.asked().is_some_and(|manifest| manifest.agents().copy);
        let there = if wish.is_some_and(|wish| wish.disabled) {
            self.look.disabled(&name)
        } else {
            self.look.canonical(&name)
        };
        let shown = self.path.display();
        let canonical = match there {
            Some(OnDisk::Tree(digest)) => *digest,
            _ => None,
        };
        let equal = digest.is_some() && (digest == locked || digest == canonical);
        let wanted = self.wanted();
        // Foreign files are their user's. They are reported only where they differ from what the agent should see.
        let owned = self.look.owned(self.dir, &name, Ownership::of_tree);
        if owned.is_none() && (wanted != Some(true) || self.look.tracked.contains(self.path)) {
            return None;
        }
        if equal && copies && wanted != Some(false) {
            return None;
        }
        // The digest does not cover a repository.
        if equal && self.look.scope.index.trees().inside(self.path).repository {
            let message = format!("`{shown}` is a copy of `{name}` with a git repository in it");
            let advice = message!("keep what you need of it, and ", by_hand());
            return Some(Finding::new(&problem::STRAY_COPY_DIFFERS, self.path, message).advice(advice));
        }
        let is_edited = || {
            let skill = self.look.state.skill(&name).ok().flatten();
            skill.is_some_and(|skill| {
                skill.copies.iter().any(|copy| copy.path == *self.path && copy.is_edited)
            })
        };
        if let (true, Some(agent)) = (copies && wanted != Some(false), self.dir.agent())
            && is_edited()
        {
            let message = format!("`{shown}`, the copy of `{name}` for {}, was edited", agent.name);
            let link = Verb::Link.within(self.look.scope.kind).option(Opt::Agent, agent.id).flag(Opt::Force);
            let advice = message!(link.word(&name), " replaces it; the store keeps your copy");
            return Some(Finding::new(&problem::STRAY_COPY_DIFFERS, self.path, message).advice(advice));
        }
        if !equal {
            let message = format!("`{shown}` is a copy of `{name}` that differs from the installed one");
            let installed = self.look.scope.skill_dir(&name);
            let advice = message!(
                format_args!("compare it with `{}`, keep what you need of it, and ", installed.display()),
                by_hand()
            );
            return Some(Finding::new(&problem::STRAY_COPY_DIFFERS, self.path, message).advice(advice));
        }
        let message = match (wanted, wish) {
            (Some(false), Some(wish)) if wish.disabled => {
                format!("`{shown}` is a copy of `{name}`, which is disabled")
            }
            _ => format!("`{shown}` is a copy of `{name}` that no update will reach"),
        };
        let finding = Finding::new(&problem::STRAY_COPY, self.path, message);
        if let (None, Some(agent)) = (&owned, self.dir.agent()) {
            let link = Verb::Link.within(self.look.scope.kind).option(Opt::Agent, agent.id).flag(Opt::Force);
            return Some(finding.advice(message!(
                "skillpm did not make it; ",
                link.word(&name),
                " moves it into the store and puts a link in its place"
            )));
        }
        // Removing the copy loses nothing only if the same bytes stay in the canonical place.
        let same = digest == canonical;
        Some(match (owned, digest) {
            (Some(owned), Some(old)) if same => {
                let mut steps = vec![owned.remove(old)];
                steps.extend(self.link_step());
                finding.remedy(Remedy::Steps(steps))
            }
            _ => {
                finding.advice(format!("if you do not need it, remove it: `rm -r {}`", shell_word(self.path)))
            }
        })
    }
}

/// Checks what an agent on this machine sees.
pub(super) fn agent(look: &Inspection<'_>, here: &PresentAgent, found: &mut Vec<Finding>) {
    if !here.unseen.is_empty()
        && !here.served
        && let Some(dir) = &here.dir
    {
        let there = look.desired.values().filter(|wish| !wish.disabled).count();
        let is_user = look.scope.kind == ScopeKind::User;
        let (whose, what) =
            if is_user { ("your own skills", "own skills") } else { ("the skills here", "skills here") };
        let skills = match here.unseen.len() {
            all if all == there => format!("any of {whose}"),
            1 => format!("`{}`{}", here.unseen[0], if is_user { ", one of your own skills" } else { "" }),
            some => format!("{some} of {} {there} {what}", if is_user { "your" } else { "the" }),
        };
        let message = format!("{} is on this machine and does not see {skills}", here.agent.name);
        found.push(
            Finding::new(&problem::AGENT_READS_NOTHING, dir, message)
                .agent(Some(here.agent.id))
                .advice(agent_view::way_to_see(Some(look.scope.kind), &[here.agent.id], &look.state.used())),
        );
    }
    let same: Vec<_> = here.twice.iter().filter(|twice| twice.same).collect();
    if let Some(first) = same.first() {
        let names: Vec<_> = same.iter().map(|twice| format!("`{}`", twice.name)).collect();
        let message = format!(
            "{} finds {} in more than one of its directories: each is one skill",
            here.agent.name,
            and(&names)
        );
        let finding = Finding::new(&problem::SEEN_TWICE, &first.places[0], message);
        found.push(finding.agent(Some(here.agent.id)));
    }
    for twice in here.twice.iter().filter(|twice| !twice.same) {
        let installed = look.locked().is_some_and(|lock| is_locked(lock, &twice.name));
        let places: Vec<_> = twice.places.iter().map(|path| format!("`{}`", path.display())).collect();
        let (name, who) = (&twice.name, here.agent.name);
        let places = places.join(" and ");
        if installed {
            // The differing copy has its own finding.
            continue;
        }
        let message = format!("{who} finds different skills named `{name}`, in {places}");
        let finding = Finding::new(&problem::SEEN_DIFFERENT, &twice.places[0], message)
            .advice("rename or remove one of them");
        found.push(finding.skill(name).agent(Some(here.agent.id)));
    }
}

/// Finds the links or copies that agents should have but do not.
pub(super) fn missing(look: &Inspection<'_>, found: &mut Vec<Finding>) {
    let copies = look.asked().is_some_and(|manifest| manifest.agents().copy);
    // A change for one agent applies to all that share its directory.
    let mut done = BTreeSet::new();
    for here in look.here.iter().filter(|here| !here.served) {
        let Some(dir) = here.dir.as_deref().filter(|dir| !look.is_closed(dir)) else { continue };
        let (agent, entries) = (here.agent, look.in_directory(dir));
        for (name, wish) in look.desired.iter().filter(|(_, wish)| !wish.disabled) {
            let there = entries.is_some_and(|entries| entries.contains_key(name.as_str()));
            let path = dir.join(name.as_str());
            if there || !wish.linked().any(|wished| wished.id == agent.id) || !done.insert(real(&path)) {
                continue;
            }
            // A link to a missing copy would be useless, unless the copy is restored too.
            let skills = look.scope.skills_dir();
            let leads = |there: &&OnDisk| leads_somewhere(look, &skills, name.as_str(), there);
            let canonical = look.canonical(name).filter(leads);
            let comes = |step: &Step| matches!(step, Step::Enable { .. } | Step::Edit { .. });
            let comes = wish.home.as_ref().is_ok_and(|steps| steps.iter().any(comes));
            let message =
                format!("{} does not see `{name}`: `{}` does not exist", agent.name, path.display());
            let locked = look.locked().and_then(|lock| lock.skills.get(name));
            let finding = match (canonical, locked) {
                (None, _) if !comes || copies && wish.editable.is_none() => continue,
                (Some(OnDisk::Other | OnDisk::Written), _) => continue,
                (Some(OnDisk::Tree(digest)), Some(locked)) if copies && wish.editable.is_none() => {
                    let missing = Finding::new(&problem::COPY_MISSING, path, message);
                    if *digest == Some(locked.digest) {
                        let place = Location::Agent(agent.id.to_owned());
                        let step =
                            Step::Put { place, name: name.clone(), digest: locked.digest, replaces: None };
                        missing.remedy(Remedy::Steps(vec![step]))
                    } else {
                        missing.advice(restore(look))
                    }
                }
                // A link in the place of a locked skill has its own finding.
                (Some(OnDisk::OurLink | OnDisk::OtherLink(_) | OnDisk::Loop), _)
                    if wish.editable.is_none() =>
                {
                    continue;
                }
                _ => {
                    let step = Step::Link { agent: agent.id.to_owned(), name: name.clone() };
                    Finding::new(&problem::LINK_MISSING, path, message).remedy(Remedy::Steps(vec![step]))
                }
            };
            found.push(finding.skill(name.as_str()).agent(Some(agent.id)));
        }
    }
}
