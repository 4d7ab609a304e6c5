//! The agents that should see each skill.
//!
//! The skill's own entry (`agents = [...]`) comes first, then the default of the scope (`[agents] targets`), then the
//! lockfile: if the manifest lists no agents, a skill keeps the agents that it has. So no later run adds an agent that was
//! not chosen, on any machine.

mod dependencies;

use std::collections::{BTreeMap, BTreeSet};

use crate::advice::{Opt, Verb, Warning, message};
use crate::agents::{self, Agent, Presence, UnknownAgent};
use crate::codes;
use crate::error::{Error, Result};
use crate::fetch::dependencies::dependents_of;
use crate::fetch::select::ALL;
use crate::fs::{self, Kind};
use crate::manifest::{Agents, Requirement};
use crate::name::SkillName;
use crate::scope::Scope;
use crate::scope::in_use::InUse;
use crate::scope::plan::Wanted;
use crate::scope::state::Files;
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;
use crate::skill::SKILL_FILE;
use crate::text::and;

/// The ids of agents.
pub(crate) type Ids = BTreeSet<&'static str>;

/// The choice of agents for each skill.
#[derive(Debug)]
pub(crate) struct AgentTargets<'a> {
    settings: &'a Settings,
    scope: &'a Scope,
    files: &'a Files,
    /// The agents that the lockfile has for each skill.
    locked: BTreeMap<SkillName, Ids>,
    /// The skills that the manifest requests, and those that they need.
    kept: BTreeSet<SkillName>,
    /// Skills that are not requested, with those that need them: an agent that sees one of the latter also sees the former.
    dependents: BTreeMap<SkillName, BTreeSet<SkillName>>,
    before: Choice,
    now: Choice,
    in_use: InUse,
    /// What [`InUse::said`] was in the file.
    said_before: Option<Ids>,
    /// Agents that the user removed.
    taken: Ids,
    /// The skills that become requested with this change.
    asked: BTreeSet<SkillName>,
}

/// The choices that a manifest makes.
#[derive(Debug, Clone, Default)]
struct Choice {
    /// The default of the scope, if there is one.
    default: Option<Ids>,
    /// Skills that name their own agents.
    own: BTreeMap<SkillName, Ids>,
}

impl<'a> AgentTargets<'a> {
    /// Reads the manifest's and the lockfile's choices.
    pub(crate) fn read(settings: &'a Settings, scope: &'a Scope, files: &'a Files) -> Result<Self> {
        let (locked, now) = read_choices(scope, files)?;
        Ok(Self::of_choices(settings, scope, files, locked, now))
    }

    /// Checks what [`AgentTargets::read`] reads.
    pub(crate) fn check(scope: &Scope, files: &Files) -> Result<()> {
        read_choices(scope, files).map(drop)
    }

    /// Returns the agents that `given` names; `*` means all on this machine.
    pub(crate) fn named(settings: &Settings, scope: &Scope, given: &[String]) -> Result<Ids> {
        let mut ids = Ids::new();
        for given in given {
            if given == ALL {
                let in_use = InUse::read(settings);
                let here = |agent: &&Agent| is_here(&in_use, settings, scope, agent);
                ids.extend(agents::all().iter().filter(here).map(|agent| agent.id));
                continue;
            }
            let agent =
                agents::find(given).map_err(|error| unknown(&error, error.to_string(), Error::usage))?;
            if scope.agent_dir(settings, agent).is_none() {
                return Err(Error::usage(format!(
                    "agent `{}` has no directory for your own skills",
                    agent.id
                ))
                .hint(message!("install into a project, with ", (Opt::Scope, "project"))));
            }
            ids.insert(agent.id);
        }
        Ok(ids)
    }

    /// Reads the manifest's and the lockfile's choices, and skips unknown agents.
    pub(crate) fn known(settings: &'a Settings, scope: &'a Scope, files: &'a Files) -> Self {
        fn listed<'b>(list: impl IntoIterator<Item = &'b String>) -> Ids {
            list.into_iter().filter_map(|id| agents::find(id).ok()).map(|agent| agent.id).collect()
        }
        let skills = files.manifest.skills().iter();
        let now = Choice {
            default: files.manifest.agents().targets.as_ref().map(listed),
            own: skills
                .filter_map(|(name, entry)| Some((name.clone(), listed(entry.agents.as_ref()?))))
                .collect(),
        };
        let locked = files.lock.skills.iter();
        let locked = locked.map(|(name, entry)| (name.clone(), listed(&entry.agents))).collect();
        Self::of_choices(settings, scope, files, locked, now)
    }

    fn of_choices(
        settings: &'a Settings,
        scope: &'a Scope,
        files: &'a Files,
        locked: BTreeMap<SkillName, Ids>,
        now: Choice,
    ) -> Self {
        let kept = files.kept();
        let dependents = dependents_of(files, &kept, &BTreeSet::new(), &BTreeMap::new());
        let before = now.clone();
        let in_use = InUse::read(settings);
        Self {
            settings,
            scope,
            files,
            locked,
            kept,
            dependents,
            before,
            now,
            said_before: in_use.said().cloned(),
            in_use,
            taken: Ids::new(),
            asked: BTreeSet::new(),
        }
    }

    /// Reports whether no choice was made in this scope: nothing is installed, and the manifest lists no agents.
    pub(crate) fn is_untouched(&self) -> bool {
        let editable = self.files.manifest.skills().values().any(|requirement| requirement.editable);
        self.now.default.is_none() && self.files.lock.skills.is_empty() && !editable
    }

    /// Chooses agents for the installation of `names`, for which the user named the agents `named`. The first
    /// installation in a scope decides for those that follow: `named`, or the agents of this machine if `named` is
    /// `None`. Later, the named agents apply only to the skills being installed.
    pub(crate) fn install(&mut self, names: &[SkillName], named: Option<&Ids>) {
        match named {
            // What a person uses is theirs: each installation links it, and the team decides by `--agent` or `link`.
            None if self.in_use.said().is_some() => {}
            None if self.is_untouched() => {
                let found: Ids = found(&self.in_use, self.settings, self.scope).into_iter().collect();
                self.now.default = Some(found).filter(|found| !found.is_empty());
            }
            Some(named) if self.is_untouched() => {
                self.now.default = Some(named.clone()).filter(|named| !named.is_empty());
            }
            None => {}
            Some(named) => self.add(named, Some(names)),
        }
    }

    /// Adds agents to the skills `names`, or to the default of the scope if there are none.
    pub(crate) fn add(&mut self, named: &Ids, names: Option<&[SkillName]>) {
        // All other agents read the canonical copy, whether they are listed or not.
        let named: Ids = named.iter().copied().filter(|id| needs_link(id)).collect();
        self.change(names, |ids| ids | &named);
    }

    /// Removes agents from the skills `names`, or from the whole scope if there are none.
    pub(crate) fn take(&mut self, named: &Ids, names: Option<&[SkillName]>) {
        self.change(names, |ids| ids - named);
        if names.is_none() {
            let default = &self.now.default;
            // A skill whose own list is the default no longer needs that list.
            self.now.own.retain(|_, ids| {
                let less = &*ids - named;
                let is_usual = less != *ids && Some(&less) == default.as_ref();
                *ids = less;
                !is_usual
            });
        }
        self.taken.extend(named);
    }

    /// Remembers that the user uses the agents `named`, or forgets it with `None`.
    pub(crate) fn remember(&mut self, named: Option<&Ids>) {
        self.in_use.say(named.cloned());
    }

    fn change(&mut self, names: Option<&[SkillName]>, change: impl Fn(&Ids) -> Ids) {
        let Some(names) = names else {
            let default = match &self.now.default {
                Some(default) => default.clone(),
                None => self.settle(),
            };
            // Skills with agents different from the rest keep them, and get the change.
            let settled: Vec<_> =
                self.now.own.keys().filter(|name| !self.before.own.contains_key(*name)).cloned().collect();
            for name in settled {
                self.now.own.entry(name).and_modify(|ids| *ids = change(ids));
            }
            self.now.default = Some(change(&default));
            return;
        };
        for name in names {
            let old = self.of(name);
            let new = change(&old);
            if new == old {
                // The manifest's list for it still applies.
                continue;
            }
            if new == self.inherited(name) {
                self.now.own.remove(name);
            } else {
                self.now.own.insert(name.clone(), new);
            }
        }
    }

    /// Returns the default of the scope. If the manifest has none, makes one of the agents that the skills
    /// have in common. Skills with more agents get a list of their own, so that the default changes nothing
    /// for them.
    fn settle(&mut self) -> Ids {
        let common = self.silent().map(|(_, ids)| ids.clone()).reduce(|a, b| &a & &b).unwrap_or_default();
        let more: Vec<_> = self
            .silent()
            .filter(|(_, ids)| **ids != common)
            .map(|(name, ids)| (name.clone(), ids.clone()))
            .collect();
        self.now.own.extend(more);
        common
    }

    /// Returns the agents that should see the skill `name`.
    fn of(&self, name: &SkillName) -> Ids {
        self.now.own.get(name).cloned().unwrap_or_else(|| self.inherited(name))
    }

    /// Returns the agents that see `name` if it names none itself: those of the skills that need it, otherwise the
    /// usual ones.
    fn inherited(&self, name: &SkillName) -> Ids {
        self.of_dependents(name, &mut BTreeSet::new()).unwrap_or_else(|| self.usual(name))
    }

    /// Returns the agents that should see `name` if it names none itself.
    fn usual(&self, name: &SkillName) -> Ids {
        match self.locked.get(name).filter(|_| self.now.default.is_none()) {
            Some(locked) => locked.clone(),
            None => self.of_new(),
        }
    }

    /// Returns the agents that see a skill that is new here: the default, or those of the skills that name none
    /// themselves.
    fn of_new(&self) -> Ids {
        let in_use = || self.silent().flat_map(|(_, ids)| ids.iter().copied()).collect();
        self.now.default.clone().unwrap_or_else(in_use)
    }

    /// Returns the locked agents of the skills that name none themselves. Skills that came because others
    /// need them have the agents of those, and do not count for the scope.
    fn silent(&self) -> impl Iterator<Item = (&SkillName, &Ids)> {
        let is_silent = |name| !self.now.own.contains_key(name) && !self.dependents.contains_key(name);
        self.locked.iter().filter(move |(name, _)| is_silent(name))
    }

    /// Sets the agents of `wanted`, and of its manifest entry if that changes or is new.
    pub(crate) fn assign(&self, wanted: &mut Wanted) {
        let mut ids = self.of(&wanted.name);
        wanted.personal = &self.personal(&wanted.name) - &ids;
        ids.extend(&wanted.personal);
        let has_dir = |agent: &&Agent| self.scope.agent_dir(self.settings, agent).is_some();
        wanted.agents = agents::all().iter().filter(|agent| ids.contains(agent.id)).filter(has_dir).collect();
        let old = match self.before.own.get(&wanted.name).or(self.before.default.as_ref()) {
            Some(old) => old.clone(),
            None => Ids::new(),
        };
        wanted.leaving = old.iter().chain(&self.taken).copied().filter(|id| !ids.contains(id)).collect();
        let changed = self.before.own.get(&wanted.name) != self.now.own.get(&wanted.name);
        let entry = wanted.requirement.take().or_else(|| self.entry(&wanted.name).filter(|_| changed));
        let (agents, disabled) = (self.text(&wanted.name), wanted.disabled);
        wanted.requirement = entry.map(|entry| Requirement { agents, disabled, ..entry });
    }

    /// Returns the agents that the user's own manifest adds to those that the files of the scope name for `name`. Files that
    /// give no agent a link, or name the agents of this skill, have decided.
    fn personal(&self, name: &SkillName) -> Ids {
        let is_decided =
            self.now.default.as_ref().is_some_and(Ids::is_empty) || self.now.own.contains_key(name);
        let said = self.in_use.said().into_iter().flatten().copied();
        said.filter(|id| !is_decided && needs_link(id) && !self.taken.contains(id)).collect()
    }

    /// Returns the manifest entries whose agents change, except those of the skills `but`.
    pub(crate) fn entries(&self, but: &BTreeSet<&SkillName>) -> BTreeMap<SkillName, Requirement> {
        let known = self.before.own.keys().chain(self.now.own.keys()).filter(|name| !but.contains(name));
        let changed = known.filter(|name| self.before.own.get(*name) != self.now.own.get(*name));
        let entry = |name: &SkillName| {
            let entry = self.entry(name)?;
            Some((name.clone(), Requirement { agents: self.text(name), ..entry }))
        };
        changed.filter_map(entry).collect()
    }

    /// Returns the manifest entry of `name`, or the one that it needs if there is only a lockfile.
    pub(crate) fn entry(&self, name: &SkillName) -> Option<Requirement> {
        let entry = self.files.entry(name, &self.kept)?;
        let dependency = entry.dependency && !self.asked.contains(name);
        Some(Requirement { dependency, ..entry })
    }

    /// Returns the agents for the entry of `name`.
    fn text(&self, name: &SkillName) -> Option<Vec<String>> {
        let old =
            self.files.manifest.skills().get(name).and_then(|requirement| requirement.agents.as_deref());
        self.now.own.get(name).map(|ids| list(old, ids))
    }

    /// Returns the new content of `[agents]`, if that changes.
    pub(crate) fn manifest(&self, copy: bool) -> Option<Agents> {
        let old = self.files.manifest.agents();
        let targets = match &self.now.default {
            Some(ids) if self.now.default != self.before.default => Some(list(old.targets.as_deref(), ids)),
            _ => old.targets.clone(),
        };
        let is_own = self.scope.kind == ScopeKind::User && self.in_use.said() != self.said_before.as_ref();
        let said = || self.in_use.said().map(|said| list(old.used.as_deref(), said));
        let used = if is_own { said() } else { old.used.clone() };
        Some(Agents { targets, used, copy: copy || old.copy, ..old.clone() }).filter(|new| new != old)
    }

    /// Returns all agents that the user chose for something here.
    pub(crate) fn chosen(&self) -> Ids {
        let lists = self.now.default.iter().chain(self.now.own.values()).chain(self.locked.values());
        lists.flatten().copied().filter(|id| needs_link(id)).collect()
    }

    /// Returns the skills that name their own agents, so that the default does not apply, and none of `named` among
    /// them.
    pub(crate) fn apart(&self, named: &Ids) -> Vec<String> {
        let own = self.before.own.iter();
        let apart =
            own.filter(|(_, own)| !named.iter().filter(|id| needs_link(id)).all(|id| own.contains(id)));
        apart.map(|(name, _)| name.to_string()).collect()
    }

    /// Returns a warning about those of the agents `named` that the user uses everywhere: the next installation links them
    /// again.
    pub(crate) fn still_used(&self, named: &Ids) -> Option<Warning> {
        let said =
            self.in_use.said().filter(|_| self.now.default.as_ref().is_none_or(|ids| !ids.is_empty()))?;
        let used: Vec<&str> = said.intersection(named).copied().filter(|id| needs_link(id)).collect();
        let left: Vec<_> = said.difference(named).collect();
        let call = Verb::Agents.call().word("use");
        let call = if left.is_empty() { call.flag(Opt::Forget) } else { call.words(left) };
        let (is, one, it) = if used.len() == 1 { ("is", "one", "it") } else { ("are", "some", "them") };
        let told = format!(
            "{} {is} {one} of the agents that you use, so the next installation links {it} again: ",
            and(&used)
        );
        (!used.is_empty()).then(|| Warning::new(codes::AGENT_IN_USE, message!(told, call, " ends that")))
    }

    /// Returns those of the agents `named` that read the same directory as an agent of `wanted`.
    pub(crate) fn still_seeing(&self, named: &Ids, wanted: &Wanted) -> Vec<(&'static str, &'static str)> {
        let dir = |agent: &Agent| self.scope.agent_dir(self.settings, agent);
        let mut told = Vec::new();
        for agent in named.iter().filter_map(|id| agents::find(id).ok()) {
            let other = wanted.agents.iter().find(|other| !other.is_universal() && dir(other) == dir(agent));
            told.extend(other.map(|other| (agent.id, other.id)));
        }
        told
    }
}

/// Returns the agents that the lockfile of `scope` has for each skill, and the choices of its manifest.
fn read_choices(scope: &Scope, files: &Files) -> Result<(BTreeMap<SkillName, Ids>, Choice)> {
    let place = scope.manifest.display();
    let listed = |list: &[String], whose: &str| {
        let find = |id: &String| match agents::find(id) {
            Ok(agent) => Ok(agent.id),
            Err(error) => {
                Err(unknown(&error, format!("{place}: there is no agent `{id}`{whose}"), Error::config))
            }
        };
        list.iter().map(find).collect::<Result<Ids>>()
    };
    let mut now = Choice::default();
    if let Some(targets) = &files.manifest.agents().targets {
        now.default = Some(listed(targets, "")?);
    }
    for (name, requirement) in files.manifest.skills() {
        if let Some(own) = &requirement.agents {
            now.own.insert(name.clone(), listed(own, &format!(", which skill `{name}` names"))?);
        }
    }
    let mut locked = BTreeMap::new();
    for (name, entry) in &files.lock.skills {
        let mut ids = Ids::new();
        for id in &entry.agents {
            match agents::find(id) {
                Ok(agent) => drop(ids.insert(agent.id)),
                // If the manifest decides, it does not matter what the lockfile had.
                Err(_) if now.default.is_some() || now.own.contains_key(name) => {}
                Err(_) => {
                    let place = scope.lockfile.display();
                    return Err(Error::config(format!(
                        "{place}: there is no agent `{id}`, which skill `{name}` names"
                    ))
                    .hint("update skillpm, or name other agents in `skillpm.toml`"));
                }
            }
        }
        locked.insert(name.clone(), ids);
    }
    Ok((locked, now))
}

/// Reports whether the agent `id` needs a link to see a skill.
pub(crate) fn needs_link(id: &str) -> bool {
    agents::find(id).is_ok_and(|agent| !agent.is_universal())
}

/// Returns the list `old`, reduced and extended to the agents in `ids`. Remaining entries keep their order
/// and spelling.
fn list(old: Option<&[String]>, ids: &Ids) -> Vec<String> {
    let id = |text: &String| agents::find(text).ok().map(|agent| agent.id).filter(|id| ids.contains(id));
    let mut list: Vec<String> =
        old.unwrap_or_default().iter().filter(|text| id(text).is_some()).cloned().collect();
    let named: Ids = list.iter().filter_map(id).collect();
    list.extend(ids.difference(&named).map(|id| (*id).to_owned()));
    list
}

fn unknown(error: &UnknownAgent, message: String, kind: fn(String) -> Error) -> Error {
    match error.closest {
        Some(close) => kind(message).hint(format!("did you mean `{close}`?")),
        None => kind(message).hint(message!(Verb::Agents.call().flag(Opt::All), " lists the agents")),
    }
}

fn is_here(in_use: &InUse, settings: &Settings, scope: &Scope, agent: &Agent) -> bool {
    in_use.has(settings, scope, agent) && scope.agent_dir(settings, agent).is_some()
}

/// Returns the agents that get a link if none were chosen for the scope: those that the user uses. Among several that
/// share a directory, takes those that are really present, or the first if none is.
fn found(in_use: &InUse, settings: &Settings, scope: &Scope) -> Vec<&'static str> {
    let mut by_dir: BTreeMap<_, Vec<&Agent>> = BTreeMap::new();
    for agent in agents::all().iter().filter(|agent| wants_link(in_use, settings, scope, agent)) {
        by_dir.entry(scope.agent_dir(settings, agent)).or_default().push(agent);
    }
    let mut ids = Vec::new();
    for sharing in by_dir.values() {
        let here: Vec<_> = sharing.iter().filter(|agent| is_here(in_use, settings, scope, agent)).collect();
        if here.is_empty() {
            ids.extend(sharing.first().map(|agent| agent.id));
        }
        ids.extend(here.iter().map(|agent| agent.id));
    }
    ids
}

fn wants_link(in_use: &InUse, settings: &Settings, scope: &Scope, agent: &Agent) -> bool {
    let presence = match in_use.said() {
        Some(said) => Presence { named: said.contains(agent.id), ..Presence::default() },
        None => agent.presence(settings, &scope.root, false, &|path| scope.is_used(path)),
    };
    match scope.kind {
        ScopeKind::Project => agent.project_link_wanted(presence) && !is_written_in(scope, agent),
        ScopeKind::User => agent.user_link_wanted(presence),
    }
}

/// Reports whether an author keeps skills in the project's directory of `agent`, as in `skills/`: links beside them would
/// be published with them.
fn is_written_in(scope: &Scope, agent: &Agent) -> bool {
    let dir = agent.project_dir();
    if dir.starts_with('.') {
        return false;
    }
    let dir = scope.root.join(dir);
    let is_skill = |name: &String| {
        let skill = dir.join(name);
        matches!(fs::kind(&skill), Ok(Some(Kind::Directory)))
            && matches!(fs::kind(&skill.join(SKILL_FILE)), Ok(Some(Kind::File)))
    };
    fs::list_dir(&dir).is_ok_and(|names| names.iter().any(is_skill))
}
