//! The versions of one skill, in order.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use pubgrub::VersionSet;

use super::choice::{Exclusion, Release, ReleaseAge, exclusion};
use super::ordinals::Ordinals;
use super::problem::VersionLimit;
use crate::version::Version;

/// The versions of one skill that a registry lists.
///
/// Each has an ordinal: versions that can be selected come before those that cannot, releases before pre-releases, and
/// lower before higher ones. So the versions that a range accepts usually have adjacent ordinals, and sets of them are
/// small values.
pub(super) struct Listing {
    /// The releases, in the order of the provider.
    releases: Arc<Vec<Release>>,
    /// The indices into `releases`, by ordinal.
    order: Vec<usize>,
    /// The reasons why versions cannot be selected, by index.
    exclusions: Vec<Option<Exclusion>>,
    /// The ordinals of the pre-releases, and of the versions that cannot be selected.
    others: Ordinals,
    locked: Option<u32>,
    /// A version that could not be selected, and is only if no other can: it is installed.
    last: Option<u32>,
    age: Option<ReleaseAge>,
    /// The selectable versions that limits accept, by the texts of the limits.
    accepted: BTreeMap<String, Ordinals>,
}

impl Listing {
    /// Returns the listing of a skill that is `locked`, or whose version `last` stays if no other fits, and whose releases
    /// must have the minimum `age`.
    pub(super) fn new(
        releases: Arc<Vec<Release>>,
        (locked, last): (Option<&Version>, Option<&Version>),
        age: Option<ReleaseAge>,
    ) -> Self {
        let index_of = |version: Option<&Version>| locked_index(&releases, version?);
        let excluded = |index: usize| exclusion(releases[index].facts(), age);
        let locked = index_of(locked);
        let last = index_of(last).filter(|index| excluded(*index).is_some());
        let stays = |index| Some(index) == locked || Some(index) == last;
        let exclusions: Vec<_> =
            (0..releases.len()).map(|index| excluded(index).filter(|_| !stays(index))).collect();
        let block = |index: usize| (exclusions[index].is_some(), is_pre_release(&releases[index]));
        let mut order: Vec<usize> = (0..releases.len()).collect();
        order.sort_unstable_by(|a, b| {
            let versions = || compare(&releases[*a], &releases[*b]);
            block(*a).cmp(&block(*b)).then_with(versions).then(a.cmp(b))
        });
        let others = Ordinals::of(order.iter().map(|index| block(*index) != (false, false)));
        let ordinal = |wanted: Option<usize>| {
            (0..).zip(&order).find(|(_, index)| Some(**index) == wanted).map(|(ordinal, _)| ordinal)
        };
        let (locked, last) = (ordinal(locked), ordinal(last));
        Self { releases, order, exclusions, others, locked, last, age, accepted: BTreeMap::new() }
    }

    /// Returns the number of versions.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns the index of the version `ordinal` in the list of the provider.
    fn index(&self, ordinal: u32) -> Option<usize> {
        self.order.get(usize::try_from(ordinal).ok()?).copied()
    }

    /// Returns the release of the version `ordinal`.
    pub(super) fn release(&self, ordinal: u32) -> Option<&Release> {
        self.releases.get(self.index(ordinal)?)
    }

    /// Returns all versions with their ordinals and the reasons why they cannot be selected, from the highest to the
    /// lowest.
    pub(super) fn newest(&self) -> Vec<(u32, &Release, Option<Exclusion>)> {
        let all = (0..).zip(&self.order);
        let mut all: Vec<_> =
            all.map(|(n, index)| (n, &self.releases[*index], self.exclusions[*index])).collect();
        all.sort_by(|(_, a, _), (_, b, _)| compare(b, a));
        all
    }

    /// Returns the minimum age of the releases.
    pub(super) fn age(&self) -> Option<ReleaseAge> {
        self.age
    }

    /// Reports whether a version is locked.
    pub(super) fn is_locked(&self) -> bool {
        self.locked.is_some()
    }

    /// Returns the versions that can be selected and that `limit` accepts.
    pub(super) fn accepted(&mut self, limit: &VersionLimit) -> Ordinals {
        let key = limit.to_string();
        if let Some(known) = self.accepted.get(&key) {
            return known.clone();
        }
        let accepts = |index: &usize| {
            self.exclusions[*index].is_none() && limit.accepts(&self.releases[*index].version)
        };
        let accepted = Ordinals::of(self.order.iter().map(accepts));
        self.accepted.insert(key, accepted.clone());
        accepted
    }

    /// Returns the preferred version of `accepted`: the locked one, otherwise the highest, or the lowest if `minimal`; as the
    /// last the one that only stays.
    pub(super) fn preferred(&self, accepted: &Ordinals, minimal: bool) -> Option<u32> {
        if let Some(locked) = self.locked.filter(|locked| accepted.contains(locked)) {
            return Some(locked);
        }
        let last = self.last.filter(|last| accepted.contains(last));
        let others = last.map(|last| accepted.intersection(&Ordinals::singleton(last).complement()));
        let accepted = others.as_ref().unwrap_or(accepted);
        let best = |set: &Ordinals| if minimal { set.lowest() } else { set.highest() };
        let release = best(&accepted.intersection(&self.others.complement()));
        let pre_release = best(&accepted.intersection(&self.others));
        let version = |ordinal: &u32| self.release(*ordinal).map(|release| &release.version);
        let both = [release, pre_release].into_iter().flatten();
        let best = if minimal { both.min_by_key(version) } else { both.max_by_key(version) };
        best.or(last)
    }
}

fn is_pre_release(release: &Release) -> bool {
    !release.version.number().pre.is_empty()
}

/// Returns the index of the version `locked`. If several are equal to it, the text decides.
fn locked_index(releases: &[Release], locked: &Version) -> Option<usize> {
    let equal = releases.iter().enumerate().filter(|(_, release)| release.version == *locked);
    let is_text = |release: &Release| release.version.as_str() == locked.as_str();
    let order = |(_, a): &(usize, &Release), (_, b): &(usize, &Release)| {
        is_text(a).cmp(&is_text(b)).then_with(|| compare(a, b))
    };
    equal.max_by(order).map(|(index, _)| index)
}

/// Orders releases by version. A registry should list each version once; if it does not, the rest of the release
/// decides, so that the order of the list never does.
fn compare(a: &Release, b: &Release) -> Ordering {
    let rest = |release: &Release| {
        let texts = release.dependencies.iter().map(|declared| declared.text.clone()).collect::<Vec<_>>();
        (release.version.as_str().to_owned(), release.yanked.clone(), release.published, texts)
    };
    a.version.cmp(&b.version).then_with(|| rest(a).cmp(&rest(b)))
}
