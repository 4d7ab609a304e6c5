//! The sentences of an explanation.

use std::collections::{BTreeMap, BTreeSet};

use pubgrub::VersionSet;

use super::conflict::{Conflict, Fact};
use super::shortage::{about_excluded, excluded, shortage};
use super::{Explanation, MAX_SENTENCES};
use crate::advice::{Message, Verb, message};
use crate::resolve::ordinals::Ordinals;
use crate::resolve::problem::VersionLimit;
use crate::resolve::provider::Provider;
use crate::resolve::search::Package;
use crate::resolve::solution::Asker;
use crate::resolve::universe::{BoundBy, PlacedState, Universe};
use crate::text;
use crate::version::Version;

/// The number of groups of versions of one skill whose requirements on another one are listed.
const GROUPS: usize = 3;

/// The number of ranges that a conclusion lists.
const RANGES: usize = 4;

/// The state of an explanation that is being made.
pub(super) struct Explainer<'e, 'a, P: Provider> {
    universe: &'e mut Universe<'a, P>,
    conflict: &'e Conflict,
    requirements: Vec<Message>,
    conclusions: Vec<Message>,
    explanation: Explanation,
}

/// Some versions of a skill that have the same requirement on another one.
struct Group {
    /// The ordinals, the highest first.
    versions: Vec<u32>,
    limit: VersionLimit,
}

impl<'e, 'a, P: Provider> Explainer<'e, 'a, P> {
    pub(super) fn new(universe: &'e mut Universe<'a, P>, conflict: &'e Conflict) -> Self {
        let explanation = Explanation::default();
        Self { universe, conflict, requirements: Vec::new(), conclusions: Vec::new(), explanation }
    }

    /// Explains the conflict.
    pub(super) fn explain(&mut self) {
        let packages = self.conflict.packages();
        for package in &packages {
            match package {
                Package::Root | Package::Manifest => self.root_requirements(),
                Package::Skill(number) => self.requirements_of(*number),
            }
        }
        for package in packages {
            if let Package::Skill(number) = package {
                self.conclude(number);
            }
        }
        if self.conclusions.is_empty() {
            self.conclusions.push("no choice of versions satisfies all of that".into());
        }
        self.root_hints();
        let skills = self.conflict.packages().into_iter().filter_map(|package| match package {
            Package::Skill(number) => self.universe.skill(number).map(|skill| skill.name.clone()),
            Package::Root | Package::Manifest => None,
        });
        self.explanation.skills = skills.collect();
    }

    /// Returns the explanation, without the middle of a long one.
    pub(super) fn finish(self) -> Explanation {
        let Self { mut requirements, mut conclusions, mut explanation, .. } = self;
        conclusions.truncate(MAX_SENTENCES);
        let more = requirements.len().saturating_sub(MAX_SENTENCES);
        if more > 1 {
            let start = MAX_SENTENCES / 2;
            let left_out = Message::from(format!("and so on, with {more} more requirements"));
            requirements.splice(start..start + more, [left_out]);
        }
        explanation.sentences = requirements.into_iter().chain(conclusions).collect();
        explanation
    }

    /// Adds the root requirements on skills that have no requirements of their own in this conflict. The others are
    /// mentioned with those.
    fn root_requirements(&mut self) {
        let facts = self.conflict.facts_of(Package::Root);
        let skills: BTreeSet<u32> = facts.iter().map(|fact| fact.skill).collect();
        let is_short = |fact: &Fact| fact.accepted.is_empty();
        for number in skills.into_iter().filter(|skill| !self.conflict.has_facts(Package::Skill(*skill))) {
            let is_all = facts.len() == 1 && facts.iter().all(is_short);
            if let Some(texts) = self.asked_for(number).filter(|_| !is_all) {
                self.requirements.push(format!("you asked for {texts}").into());
            }
        }
    }

    /// Returns what the user asked for of the skill `number`.
    fn asked_for(&self, number: u32) -> Option<String> {
        let skill = self.universe.skill(number)?;
        let texts: BTreeSet<String> = if skill.registry.is_some() {
            self.universe.roots_of(number).map(|root| format!("`{}`", root.text)).collect()
        } else {
            let is_asked = self.universe.bound(&skill.name).is_some_and(|bound| bound.by == BoundBy::User);
            is_asked.then(|| format!("`{}`", skill.name)).into_iter().collect()
        };
        (!texts.is_empty()).then(|| text::and(&texts.into_iter().collect::<Vec<_>>()))
    }

    /// Adds the requirements of the skill `number`.
    fn requirements_of(&mut self, number: u32) {
        let facts: Vec<Fact> = self.conflict.facts_of(Package::Skill(number)).to_vec();
        let relevant = self.conflict.relevant(number);
        let skills: BTreeSet<u32> = facts.iter().map(|fact| fact.skill).collect();
        let mut origin = self.origin(number);
        for skill in skills {
            let on_skill = facts.iter().filter(|fact| fact.skill == skill);
            let mut groups: Vec<Group> =
                on_skill.flat_map(|fact| self.groups(number, fact, &relevant)).collect();
            groups.sort_by_key(|group| std::cmp::Reverse(self.highest(number, group)));
            let others: usize = groups.iter().skip(GROUPS).map(|group| group.versions.len()).sum();
            for group in groups.iter().take(GROUPS) {
                let sentence =
                    self.requirement(number, skill, group, &relevant, &std::mem::take(&mut origin));
                self.requirements.push(sentence);
            }
            if others > 0 {
                self.requirements.push(self.other_versions(number, skill, others));
            }
        }
    }

    /// Returns the clause that the user asked for the skill `number`, with commas around it.
    fn origin(&self, number: u32) -> String {
        let own = format!("`{}`", self.name(number));
        match self.asked_for(number) {
            None => String::new(),
            Some(texts) if texts == own => ", which you asked for,".to_owned(),
            Some(texts) => format!(", which you asked for as {texts},"),
        }
    }

    /// Groups the versions of the skill `number` in `fact` by the requirement that they declare.
    fn groups(&mut self, number: u32, fact: &Fact, relevant: &Ordinals) -> Vec<Group> {
        let versions = self.members(number, &fact.versions.intersection(relevant));
        let mut groups: BTreeMap<String, Group> = BTreeMap::new();
        for ordinal in versions {
            let Some(needs) = self.universe.needs.get(&(number, ordinal)).cloned() else { continue };
            for (_, limit) in needs.limits.iter().filter(|(needed, _)| *needed == fact.skill) {
                let (limit, key) = (limit.clone(), limit.to_string());
                if self.universe.accepted(fact.skill, &limit) == fact.accepted {
                    let group = groups.entry(key).or_insert_with(|| Group { versions: Vec::new(), limit });
                    group.versions.push(ordinal);
                }
            }
        }
        groups.into_values().collect()
    }

    /// Returns the highest version of a group of versions of the skill `number`.
    fn highest(&self, number: u32, group: &Group) -> Option<Version> {
        Version::new(&self.universe.version(number, *group.versions.first()?)?).ok()
    }

    /// Returns the ordinals of the skill `number` that are in `set`, the highest first.
    fn members(&self, number: u32, set: &Ordinals) -> Vec<u32> {
        let Some(skill) = self.universe.skill(number) else { return Vec::new() };
        let newest = skill.listing.newest().into_iter().map(|(ordinal, ..)| ordinal);
        let placed = (0..).zip(&skill.placed).map(|(ordinal, _)| ordinal);
        newest.chain(placed).filter(|ordinal| set.contains(ordinal)).collect()
    }

    /// Returns the sentence that a group of versions of the skill `number` needs the skill `needed`.
    fn requirement(
        &self,
        number: u32,
        needed: u32,
        group: &Group,
        relevant: &Ordinals,
        origin: &str,
    ) -> Message {
        let name = self.name(number);
        let version = |ordinal: &u32| self.version(number, *ordinal);
        let all = self.members(number, relevant).len();
        let (subject, verb) = match group.versions.as_slice() {
            [one] => (label(&name, &version(one)), "needs"),
            [one, other] => (format!("`{name}` {} and {}", version(one), version(other)), "need"),
            more if more.len() == all => (format!("all {all} versions of `{name}` that fit"), "need"),
            [one, more @ ..] => {
                (format!("`{name}` {} and {} other versions", version(one), more.len()), "need")
            }
            [] => (format!("`{name}`"), "needs"),
        };
        let object = self.requirement_text(needed, &group.limit);
        format!("{subject}{origin} {verb} {object}").into()
    }

    /// Returns the sentence about `count` versions of the skill `number` whose requirements are not listed.
    fn other_versions(&self, number: u32, needed: u32, count: usize) -> Message {
        let (name, needed) = (self.name(number), self.name(needed));
        let (versions, need) = if count == 1 { ("version", "needs") } else { ("versions", "need") };
        format!("{count} other {versions} of `{name}` {need} versions of `{needed}` that do not fit either")
            .into()
    }

    /// Returns a requirement on the skill `number`, as written in dependencies.
    fn requirement_text(&self, number: u32, limit: &VersionLimit) -> String {
        let name = self.name(number);
        if let VersionLimit::At(_, source) = limit {
            return format!("`{source}`");
        }
        let overridden = self.is_overridden(number);
        let range = if limit.is_any() { String::new() } else { format!("@{limit}") };
        let by = if overridden { ", as overridden" } else { "" };
        format!("`{name}{range}`{by}")
    }

    fn is_overridden(&self, number: u32) -> bool {
        let skill = self.universe.skill(number);
        skill.is_some_and(|skill| self.universe.problem.overrides.contains_key(&skill.name))
    }

    /// Adds the conclusion about the skill `number`, if requirements meet on it.
    fn conclude(&mut self, number: u32) {
        let constraints = self.constraints_on(number);
        let mut seen = BTreeSet::new();
        let limits = constraints.iter().flat_map(|((package, _), any)| any.iter().map(|one| (*package, one)));
        let limits: Vec<_> = limits.filter(|(_, limit)| seen.insert(limit.to_string())).collect();
        if let Some((_, short)) =
            limits.iter().find(|(_, limit)| self.universe.accepted(number, limit).is_empty())
        {
            return self.conclude_shortage(number, short);
        }
        let mut accepted = |limit: &VersionLimit| self.universe.accepted(number, limit);
        let of_any =
            constraints.values().filter_map(|any| any.iter().map(&mut accepted).reduce(|a, b| a.union(&b)));
        let common = of_any.reduce(|a, b| a.intersection(&b));
        if constraints.len() < 2 || common.is_some_and(|common| !common.is_empty()) {
            return;
        }
        if self.universe.skill(number).is_some_and(|skill| skill.registry.is_none()) {
            self.conclude_place(number, &limits);
            return;
        }
        let texts: Vec<String> = limits.iter().map(|(_, limit)| format!("`{limit}`")).collect();
        let name = self.name(number);
        let sentence = match texts.as_slice() {
            [one, other] => format!("no version of `{name}` is in both {one} and {other}"),
            texts if texts.len() <= RANGES => {
                format!("no version of `{name}` is in all of {}", text::and(texts))
            }
            _ => format!("no version of `{name}` satisfies all of that"),
        };
        self.conclusions.push(sentence.into());
        if let Some(skill) = self.universe.skill(number) {
            let excluded = excluded(skill, &constraints.values().collect::<Vec<_>>());
            let (sentences, hints) = about_excluded(skill.name.as_str(), &excluded, skill.listing.age());
            self.conclusions.extend(sentences);
            self.explanation.hints.extend(hints);
        }
        self.meeting_hints(number, &limits);
    }

    /// Adds that different skills of the name of the skill `number`, which are outside of registries, are needed.
    fn conclude_place(&mut self, number: u32, limits: &[(Package, &VersionLimit)]) {
        let name = self.name(number);
        self.conclusions.push(format!("only one skill can be installed as `{name}`").into());
        let calls = limits.iter().filter_map(|(_, limit)| match limit {
            VersionLimit::At(_, source) => Some(Verb::Install.call().word(source)),
            VersionLimit::Range(_) => None,
        });
        let hints = calls.map(|call| message!(call, " asks for that one, which all of them then use"));
        self.explanation.hints.extend(hints);
    }

    /// Adds that no version of the skill `number` is in `limit`, and why.
    fn conclude_shortage(&mut self, number: u32, limit: &VersionLimit) {
        let by_user = self.is_asked_for(number);
        let Some(skill) = self.universe.skill(number) else { return };
        let registry = self.universe.place_text(number, 0).unwrap_or_default();
        let exists = skill.exists;
        let (sentences, hints) = shortage(skill, limit, &registry, by_user);
        self.conclusions.extend(sentences);
        self.explanation.hints.extend(hints);
        if exists && (!by_user || self.is_overridden(number)) {
            self.override_hint(number);
        }
    }

    /// Returns the constraints on the skill `number`, at least one of which cannot be met if the conflict is about it: each
    /// limit of the root requirements, and for each other package any of the limits of its versions.
    fn constraints_on(&mut self, number: u32) -> BTreeMap<(Package, String), Vec<VersionLimit>> {
        let mut constraints: BTreeMap<_, Vec<VersionLimit>> = BTreeMap::new();
        for (package, fact) in self.conflict.facts_on(number) {
            let limits: Vec<VersionLimit> = match package {
                Package::Root | Package::Manifest => {
                    let mut limits = self.root_limits(number);
                    limits.retain(|limit| self.universe.accepted(number, limit) == fact.accepted);
                    limits
                }
                Package::Skill(by) => {
                    let groups = self.groups(by, fact, &self.conflict.relevant(by));
                    groups.into_iter().map(|group| group.limit).collect()
                }
            };
            for limit in limits {
                let key = if package == Package::Root { limit.to_string() } else { String::new() };
                constraints.entry((package, key)).or_default().push(limit);
            }
        }
        constraints
    }

    /// Returns the limits of the root requirements on the skill `number`.
    fn root_limits(&self, number: u32) -> Vec<VersionLimit> {
        let roots = self.universe.roots_of(number);
        let limits = roots.map(|root| self.universe.problem.limit(&root.name, root.range.as_ref()));
        let given = self.universe.numbers_of(|state| !matches!(state, PlacedState::Found(..)));
        limits.chain(given.into_iter().filter(|(one, _)| *one == number).map(|(_, limit)| limit)).collect()
    }

    /// Adds what helps if requirements meet on the skill `number`.
    fn meeting_hints(&mut self, number: u32, limits: &[(Package, &VersionLimit)]) {
        let name = self.name(number);
        let by_user = self.is_asked_for(number);
        let other = limits.iter().find(|(package, _)| *package != Package::Root);
        if let (true, Some((_, other))) = (by_user, other) {
            let call = Verb::Install.call().word(format!("{name}@{other}"));
            self.explanation.hints.push(message!(call, " asks for a version that the others accept"));
        }
        self.override_hint(number);
    }

    /// Adds that an override of the skill `number` replaces its ranges.
    fn override_hint(&mut self, number: u32) {
        let name = self.name(number);
        let change = if self.is_overridden(number) { "change the" } else { "add an" };
        let hint =
            format!("{change} `[override]` of `{name}` in the manifest, which replaces all ranges of it");
        self.explanation.hints.push(hint.into());
    }

    /// Reports whether the user asked for the skill `number`.
    fn is_asked_for(&self, number: u32) -> bool {
        self.asked_for(number).is_some()
    }

    /// Adds what helps against root requirements.
    fn root_hints(&mut self) {
        let facts = self.conflict.facts_of(Package::Root).iter();
        let is_placed = |number| self.universe.skill(number).is_some_and(|skill| skill.registry.is_none());
        let skills: BTreeSet<_> = facts.map(|fact| (is_placed(fact.skill), fact.skill)).collect();
        for (_, number) in skills {
            let Some(skill) = self.universe.skill(number) else { continue };
            let name = &skill.name;
            let is_installed = |one: &PlacedState<_>| matches!(one, PlacedState::Installed(_));
            let hint: Message = match self.asked_for(number).filter(|texts| *texts != format!("`{name}`")) {
                Some(texts) => format!("ask for another range of `{name}` than {texts}").into(),
                None if skill.placed.first().is_some_and(|one| is_installed(&one.state)) => {
                    message!(
                        Verb::Update.call().word(name),
                        " gets a newer version, which may need something else"
                    )
                }
                None => continue,
            };
            self.explanation.hints.push(hint);
        }
    }

    fn name(&self, number: u32) -> String {
        self.universe.skill(number).map(|skill| skill.name.to_string()).unwrap_or_default()
    }

    fn version(&self, number: u32, ordinal: u32) -> String {
        self.universe.version(number, ordinal).unwrap_or_default()
    }
}

/// Returns the skill `name` in `version`, which is empty if it has none.
fn label(name: &str, version: &str) -> String {
    if version.is_empty() { format!("`{name}`") } else { format!("`{name}` {version}") }
}

/// Returns how sentences name `by`.
fn by_name(by: &Asker) -> String {
    match by {
        Asker::User => "you".to_owned(),
        Asker::Skill { name, version } => label(name.as_str(), version.as_deref().unwrap_or_default()),
    }
}

/// Returns `by` as the subject of a sentence, with its verb.
pub(super) fn asked_by(by: &BTreeSet<Asker>) -> String {
    let names: Vec<String> = by.iter().map(by_name).collect();
    match by.iter().collect::<Vec<_>>().as_slice() {
        [Asker::User] => "you asked for".to_owned(),
        [_] => format!("{} needs", names.concat()),
        _ => format!("{} need", text::and(&names)),
    }
}
