//! The requirements that cannot be met together.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;

use pubgrub::{DerivationTree, Derived, External, VersionSet};

use crate::resolve::ordinals::Ordinals;
use crate::resolve::search::Package;

/// The requirements that cannot be met together: the leaves of a proof.
pub(super) struct Conflict {
    facts: BTreeMap<Package, Vec<Fact>>,
    /// The requirements on each skill, as packages and indices of their requirements.
    incoming: BTreeMap<u32, Vec<(Package, usize)>>,
}

/// Some versions of a package need one of some versions of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fact {
    /// The versions of the package.
    pub(super) versions: Ordinals,
    /// The number of the skill.
    pub(super) skill: u32,
    /// The accepted versions of the skill.
    pub(super) accepted: Ordinals,
}

impl Conflict {
    /// Returns the requirements in `tree`, and takes it apart: it may be too deep to be dropped recursively.
    pub(super) fn of(tree: DerivationTree<Package, Ordinals, Infallible>) -> Self {
        let mut facts: BTreeMap<Package, Vec<Fact>> = BTreeMap::new();
        let mut open = vec![Arc::new(tree)];
        while let Some(node) = open.pop() {
            // Of a shared node only the last reference counts, so each is visited once.
            match Arc::into_inner(node) {
                Some(DerivationTree::Derived(Derived { cause1, cause2, .. })) => {
                    open.extend([cause1, cause2]);
                }
                Some(DerivationTree::External(External::FromDependencyOf(
                    from,
                    versions,
                    Package::Skill(skill),
                    accepted,
                ))) => {
                    // Installed skills are as fixed as new ones.
                    let from = if from == Package::Manifest { Package::Root } else { from };
                    facts.entry(from).or_default().push(Fact { versions, skill, accepted });
                }
                _ => {}
            }
        }
        let mut incoming: BTreeMap<u32, Vec<(Package, usize)>> = BTreeMap::new();
        for (package, facts) in &mut facts {
            facts.sort_by_cached_key(|fact| {
                (fact.skill, fact.versions.to_string(), fact.accepted.to_string())
            });
            facts.dedup();
            for (index, fact) in facts.iter().enumerate() {
                incoming.entry(fact.skill).or_default().push((*package, index));
            }
        }
        Self { facts, incoming }
    }

    /// Returns the requirements of `package`.
    pub(super) fn facts_of(&self, package: Package) -> &[Fact] {
        self.facts.get(&package).map_or(&[], Vec::as_slice)
    }

    /// Reports whether `package` has requirements.
    pub(super) fn has_facts(&self, package: Package) -> bool {
        !self.facts_of(package).is_empty()
    }

    /// Returns the packages from the root downwards.
    pub(super) fn packages(&self) -> Vec<Package> {
        let mut seen = BTreeSet::from([Package::Root]);
        let mut open = VecDeque::from([Package::Root]);
        let mut order = Vec::new();
        while let Some(package) = open.pop_front() {
            order.push(package);
            let needed = self.facts_of(package).iter().map(|fact| Package::Skill(fact.skill));
            open.extend(needed.filter(|needed| seen.insert(*needed)));
        }
        order
    }

    /// Returns the requirements on the skill `number`, each with the package that has it.
    pub(super) fn facts_on(&self, number: u32) -> impl Iterator<Item = (Package, &Fact)> {
        let incoming = self.incoming.get(&number).into_iter().flatten();
        incoming.filter_map(|(package, index)| Some((*package, self.facts_of(*package).get(*index)?)))
    }

    /// Returns the versions of the skill `number` that can be needed at all: those that all root requirements accept,
    /// or without any, those that some other requirement accepts.
    pub(super) fn relevant(&self, number: u32) -> Ordinals {
        let is_root = |(package, _): &(Package, &Fact)| *package == Package::Root;
        let accepted = |(_, fact): (Package, &Fact)| fact.accepted.clone();
        let by_roots = self.facts_on(number).filter(is_root).map(accepted);
        let by_others = || self.facts_on(number).map(accepted).reduce(|a, b| a.union(&b));
        by_roots.reduce(|a, b| a.intersection(&b)).or_else(by_others).unwrap_or_else(Ordinals::empty)
    }
}
