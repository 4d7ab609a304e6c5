//! The sentences of an explanation.

use std::collections::{BTreeMap, BTreeSet};

use pubgrub::VersionSet;

use super::conflict::{Conflict, Fact};
use super::shortage::{about_excluded, excluded, shortage};
use super::{Explanation, MAX_SENTENCES, registry};
use crate::advice::{Message, Verb, message};
use crate::resolve::versions::ordinals::Ordinals;
use crate::resolve::versions::problem::{Asker, ReleaseProvider, RootRequirement, VersionLimit};
use crate::resolve::versions::search::Package;
use crate::resolve::versions::universe::Universe;
use crate::text;
use crate::version::Version;

/// The number of groups of versions of one skill whose requirements on another one are listed.
const GROUPS: usize = 3;

/// The number of ranges that a conclusion lists.
const RANGES: usize = 4;

/// The state of an explanation that is being made.
pub(super) struct Explainer<'e, 'a, P: ReleaseProvider> {
    universe: &'e mut Universe<'a, P>,
    roots: &'e [&'e RootRequirement],
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

impl<'e, 'a, P: ReleaseProvider> Explainer<'e, 'a, P> {
    pub(super) fn new(
        universe: &'e mut Universe<'a, P>,
        roots: &'e [&'e RootRequirement],
        conflict: &'e Conflict,
    ) -> Self {
        let explanation = Explanation::default();
        Self { universe, roots, conflict, requirements: Vec::new(), conclusions: Vec::new(), explanation }
    }

    /// Explains the conflict.
    pub(super) fn explain(&mut self) {
        let packages = self.conflict.packages();
        for package in &packages {
            match package {
                Package::Root => self.root_requirements(),
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

    /// Adds the root requirements on skills that have no requirements of their own in this conflict. The others are told
    /// with those.
    fn root_requirements(&mut self) {
        let facts = self.conflict.facts_of(Package::Root);
        let skills: BTreeSet<u32> = facts.iter().map(|fact| fact.skill).collect();
        let is_short = |fact: &Fact| fact.accepted.is_empty();
        for number in skills.into_iter().filter(|skill| !self.conflict.has_facts(Package::Skill(*skill))) {
            for (by, texts) in self.askers(number) {
                let is_all = facts.len() == 1 && facts.iter().all(is_short) && by == Asker::User;
                if !is_all {
                    self.requirements.push(format!("{} {texts}", party(&by)).into());
                }
            }
        }
    }

    /// Returns the parties that require the skill `number` from outside, with what they ask for.
    fn askers(&self, number: u32) -> Vec<(Asker, String)> {
        let Some(skill) = self.universe.skill(number) else { return Vec::new() };
        let mut askers: BTreeMap<Asker, BTreeSet<String>> = BTreeMap::new();
        for root in self.roots.iter().filter(|root| root.id() == skill.id) {
            askers.entry(root.by.clone()).or_default().insert(format!("`{}`", root.text));
        }
        let joined = |texts: BTreeSet<String>| text::and(&texts.into_iter().collect::<Vec<_>>());
        askers.into_iter().map(|(by, texts)| (by, joined(texts))).collect()
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

    /// Returns the clause about the parties outside of the registries that require the skill `number`, with commas
    /// around it.
    fn origin(&self, number: u32) -> String {
        let name = self.name(number);
        let clauses = self.askers(number).into_iter().map(|(by, texts)| {
            let texts = if texts == format!("`{name}`") { String::new() } else { format!(" as {texts}") };
            match by {
                Asker::User => format!("you asked for{texts}"),
                Asker::Skill { .. } => format!("{} needs{texts}", by_name(&by)),
            }
        });
        let clauses: Vec<String> = clauses.collect();
        if clauses.is_empty() { String::new() } else { format!(", which {},", text::and(&clauses)) }
    }

    /// Groups the versions of the skill `number` in `fact` by the requirement that they declare.
    fn groups(&mut self, number: u32, fact: &Fact, relevant: &Ordinals) -> Vec<Group> {
        let versions = self.members(number, &fact.versions.intersection(relevant));
        let Some(needed) = self.universe.skill(fact.skill).map(|skill| skill.id.clone()) else {
            return Vec::new();
        };
        let mut groups: BTreeMap<String, Group> = BTreeMap::new();
        for ordinal in versions {
            let dependencies = self.universe.dependencies(number, ordinal);
            let limits = dependencies.into_iter().filter(|(id, _)| *id == needed).map(|(_, limit)| limit);
            for limit in limits {
                if self.universe.accepted(fact.skill, &limit) == fact.accepted {
                    let group = groups
                        .entry(limit.to_string())
                        .or_insert_with(|| Group { versions: Vec::new(), limit });
                    group.versions.push(ordinal);
                }
            }
        }
        groups.into_values().collect()
    }

    /// Returns the highest version of a group of versions of the skill `number`.
    fn highest(&self, number: u32, group: &Group) -> Option<Version> {
        let release = self.universe.release(number, *group.versions.first()?);
        release.map(|release| release.version.clone())
    }

    /// Returns the ordinals of the skill `number` that are in `set`, the highest first.
    fn members(&self, number: u32, set: &Ordinals) -> Vec<u32> {
        let Some(skill) = self.universe.skill(number) else { return Vec::new() };
        let newest = skill.listing.newest().into_iter().map(|(ordinal, ..)| ordinal);
        newest.filter(|ordinal| set.contains(ordinal)).collect()
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
            [one] => (format!("`{name}` {}", version(one)), "needs"),
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
        let overridden = self.is_overridden(number);
        let range = if limit.is_any() { String::new() } else { format!("@{limit}") };
        let by = if overridden { ", as overridden" } else { "" };
        format!("`{name}{range}`{by}")
    }

    fn is_overridden(&self, number: u32) -> bool {
        let skill = self.universe.skill(number);
        skill.is_some_and(|skill| self.universe.problem.overrides.contains_key(&skill.id.1))
    }

    /// Adds the conclusion about the skill `number`, if requirements meet on it.
    fn conclude(&mut self, number: u32) {
        let constraints = self.conflict.constraints_on(number);
        let limits = self.limits_on(number);
        if let Some((_, short)) =
            limits.iter().find(|(_, limit)| self.universe.accepted(number, limit).is_empty())
        {
            self.conclude_shortage(number, &short.clone());
            return;
        }
        let common = constraints.iter().map(|(_, accepted)| accepted.clone());
        let meets = common.reduce(|a, b| a.intersection(&b)).is_some_and(|common| common.is_empty());
        if constraints.len() < 2 || !meets {
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
        self.conclude_excluded(number);
        self.meeting_hints(number, &limits);
    }

    /// Adds that no version of the skill `number` is in `limit`, and why.
    fn conclude_shortage(&mut self, number: u32, limit: &VersionLimit) {
        let Some(skill) = self.universe.skill(number) else { return };
        if !skill.exists {
            self.explanation.missing.insert(skill.id.clone());
        }
        let registry = registry(self.universe.problem, &skill.id);
        let exists = skill.exists;
        let by_user = self.is_asked_for(number);
        let (sentences, hints) = shortage(self.universe, number, limit, &registry, by_user);
        self.conclusions.extend(sentences);
        self.explanation.hints.extend(hints);
        if exists && (!by_user || self.is_overridden(number)) {
            self.override_hint(number);
        }
    }

    /// Adds the versions of the skill `number` that would meet all requirements if they could be selected.
    fn conclude_excluded(&mut self, number: u32) {
        let mut by_package: BTreeMap<(Package, String), Vec<VersionLimit>> = BTreeMap::new();
        for (package, limit) in self.all_limits_on(number) {
            let key = if package == Package::Root { limit.to_string() } else { String::new() };
            by_package.entry((package, key)).or_default().push(limit);
        }
        let limits: Vec<_> = by_package.into_values().collect();
        let Some(skill) = self.universe.skill(number) else { return };
        let excluded = excluded(skill, &limits);
        let name = skill.id.1.as_str();
        let (sentences, hints) = about_excluded(name, &excluded, skill.listing.age());
        self.conclusions.extend(sentences);
        self.explanation.hints.extend(hints);
    }

    /// Returns the limits on the skill `number`, each once, with the first package that has it.
    fn limits_on(&mut self, number: u32) -> Vec<(Package, VersionLimit)> {
        let mut seen = BTreeSet::new();
        let all = self.all_limits_on(number).into_iter();
        all.filter(|(_, limit)| seen.insert(limit.to_string())).collect()
    }

    /// Returns all limits on the skill `number`, with the packages that have them.
    fn all_limits_on(&mut self, number: u32) -> Vec<(Package, VersionLimit)> {
        let facts: Vec<(Package, Fact)> =
            self.conflict.facts_on(number).map(|(package, fact)| (package, fact.clone())).collect();
        let mut limits = Vec::new();
        for (package, fact) in facts {
            match package {
                Package::Root => {
                    let of_roots = self.root_limits(number);
                    let fits = |limit: &VersionLimit| self.universe.accepted(number, limit) == fact.accepted;
                    limits.extend(of_roots.into_iter().filter(fits).map(|limit| (package, limit)));
                }
                Package::Skill(by) => {
                    let relevant = self.conflict.relevant(by);
                    let groups = self.groups(by, &fact, &relevant);
                    limits.extend(groups.into_iter().map(|group| (package, group.limit)));
                }
            }
        }
        limits
    }

    /// Returns the limits of the root requirements on the skill `number`.
    fn root_limits(&self, number: u32) -> Vec<VersionLimit> {
        let Some(skill) = self.universe.skill(number) else { return Vec::new() };
        let roots = self.roots.iter().filter(|root| root.id() == skill.id);
        roots.map(|root| self.universe.problem.limit(&root.name, root.range.as_ref())).collect()
    }

    /// Adds what helps if requirements meet on the skill `number`.
    fn meeting_hints(&mut self, number: u32, limits: &[(Package, VersionLimit)]) {
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
        self.askers(number).iter().any(|(by, _)| *by == Asker::User)
    }

    /// Adds what helps against root requirements.
    fn root_hints(&mut self) {
        let skills: BTreeSet<u32> =
            self.conflict.facts_of(Package::Root).iter().map(|fact| fact.skill).collect();
        for number in skills {
            for (by, texts) in self.askers(number) {
                let name = self.name(number);
                match by {
                    Asker::User if texts != format!("`{name}`") => {
                        let hint = format!("ask for another range of `{name}` than {texts}");
                        self.explanation.hints.push(hint.into());
                    }
                    Asker::User => {}
                    Asker::Skill { name: by, .. } => {
                        let call = Verb::Update.call().word(&by);
                        let hint = message!(
                            call,
                            format!(" gets a newer version, which may accept other versions of `{name}`")
                        );
                        self.explanation.hints.push(hint);
                    }
                }
            }
        }
    }

    fn name(&self, number: u32) -> String {
        self.universe.skill(number).map(|skill| skill.id.1.to_string()).unwrap_or_default()
    }

    fn version(&self, number: u32, ordinal: u32) -> String {
        let release = self.universe.release(number, ordinal);
        release.map(|release| release.version.to_string()).unwrap_or_default()
    }
}

/// Returns `by` as the subject of a sentence, with its verb.
fn party(by: &Asker) -> String {
    match by {
        Asker::User => "you asked for".to_owned(),
        Asker::Skill { .. } => format!("{} needs", by_name(by)),
    }
}

/// Returns how sentences name `by`.
fn by_name(by: &Asker) -> String {
    match by {
        Asker::User => "you".to_owned(),
        Asker::Skill { name, version: None } => format!("`{name}`"),
        Asker::Skill { name, version: Some(version) } => format!("`{name}` {version}"),
    }
}

/// Returns `by` as the subject of a sentence, with its verb.
pub(super) fn asked_by(by: &BTreeSet<Asker>) -> String {
    let names: Vec<String> = by.iter().map(by_name).collect();
    match by.iter().collect::<Vec<_>>().as_slice() {
        [one] => party(one),
        _ => format!("{} need", text::and(&names)),
    }
}
