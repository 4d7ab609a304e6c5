//! Which release of a skill can be taken, and which of these is the best.

use semver::VersionReq;

use super::declared::Declared;
use super::problem::VersionLimit;
use crate::text;
use crate::version::Version;

/// A day, in seconds.
pub(super) const DAY: i64 = 86_400;

/// One version that a registry lists.
#[derive(Debug, Clone)]
pub struct Release {
    /// The version.
    pub version: Version,
    /// The dependencies that it declares.
    pub dependencies: Vec<Declared>,
    /// If it was withdrawn, the reason, which may be empty: it is not selected unless it is locked.
    pub yanked: Option<String>,
    /// The time of publication, in seconds since 1970, if the registry states it.
    pub published: Option<i64>,
}

/// The minimum age of a release.
#[derive(Debug, Clone, Copy)]
pub struct ReleaseAge {
    /// The current time, in seconds since 1970.
    pub now: i64,
    /// The minimum age, in seconds.
    pub minimum: i64,
}

/// The criteria for selecting a release.
#[derive(Debug, Clone, Copy)]
pub struct ReleaseFacts<'r> {
    /// The version.
    pub version: &'r Version,
    /// Whether it was withdrawn.
    pub yanked: bool,
    /// The time of publication, in seconds since 1970, if the registry states it.
    pub published: Option<i64>,
}

/// The reason why a version cannot be selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exclusion {
    /// It was withdrawn.
    Yanked,
    /// It is too young.
    Young,
}

/// The rules for the choice of a release of one skill.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReleaseRules<'a> {
    /// The accepted versions; `None` accepts all but pre-releases.
    pub range: Option<&'a VersionReq>,
    /// The range that replaces `range`, because the user overrides it.
    pub overridden: Option<&'a VersionReq>,
    /// The minimum age of a release.
    pub age: Option<ReleaseAge>,
    /// The locked version, which can be taken even if it is yanked or too young.
    pub locked: Option<&'a Version>,
}

impl ReleaseRules<'_> {
    /// Returns the highest of `releases` that can be taken.
    pub fn highest<'r>(
        &self,
        releases: impl IntoIterator<Item = ReleaseFacts<'r>>,
    ) -> Option<ReleaseFacts<'r>> {
        let limit = VersionLimit::of(self.overridden.or(self.range));
        let can_be_taken = |release: &ReleaseFacts<'_>| {
            let is_locked = self.locked == Some(release.version);
            limit.accepts(release.version) && (is_locked || exclusion(*release, self.age).is_none())
        };
        releases.into_iter().filter(can_be_taken).max_by(|a, b| a.version.cmp(b.version))
    }
}

/// Returns the reason why `release` cannot be selected, apart from its version.
pub(super) fn exclusion(release: ReleaseFacts<'_>, age: Option<ReleaseAge>) -> Option<Exclusion> {
    if release.yanked {
        Some(Exclusion::Yanked)
    } else {
        age.filter(|age| age.refuses(release.published)).map(|_| Exclusion::Young)
    }
}

impl Release {
    /// Returns what decides whether it can be taken.
    pub fn facts(&self) -> ReleaseFacts<'_> {
        ReleaseFacts { version: &self.version, yanked: self.yanked.is_some(), published: self.published }
    }
}

impl ReleaseAge {
    /// Reports whether a release is too young. `published` is in seconds since 1970; a release without a time of
    /// publication counts as too young.
    pub(super) fn refuses(self, published: Option<i64>) -> bool {
        published.is_none_or(|time| self.old_enough_at(time) > self.now)
    }

    /// Returns the time at which a release from the time `published` is old enough. Both are in seconds since 1970.
    pub(super) fn old_enough_at(self, published: i64) -> i64 {
        published.saturating_add(self.minimum)
    }

    /// Returns the first day, as `2026-12-04`, on all of which a release from the time `published`, in seconds since 1970,
    /// is old enough.
    pub fn old_enough_on(self, published: i64) -> String {
        let time = self.old_enough_at(published).saturating_add(DAY - 1);
        let day = text::timestamp(time, 0);
        day.split('T').next().unwrap_or_default().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn highest(rules: ReleaseRules<'_>) -> Option<String> {
        let releases = [
            ("1.0.0", false, Some(10)),
            ("1.1.0", false, Some(90)),
            ("1.2.0", true, Some(10)),
            ("2.0.0", false, Some(10)),
            ("2.1.0", false, None),
            ("3.0.0-rc.1", false, Some(10)),
        ];
        let versions = releases.map(|(text, ..)| Version::new(text).expect(text));
        let facts = versions.iter().zip(releases).map(|(version, (_, yanked, published))| ReleaseFacts {
            version,
            yanked,
            published,
        });
        rules.highest(facts).map(|release| release.version.to_string())
    }

    #[test]
    fn ranges_ages_overrides_and_locks_decide_together() {
        let range = |text: &str| VersionReq::parse(text).expect(text);
        let (one, two, pre) = (range("^1"), range("=2.0.0"), range("^3.0.0-rc"));
        let age = Some(ReleaseAge { now: 100, minimum: 50 });
        let locked = Version::new("1.2").expect("a version");
        let rules = ReleaseRules::default();
        assert_eq!(highest(rules).as_deref(), Some("2.1.0"));
        assert_eq!(highest(ReleaseRules { age, ..rules }).as_deref(), Some("2.0.0"));
        assert_eq!(highest(ReleaseRules { range: Some(&pre), ..rules }).as_deref(), Some("3.0.0-rc.1"));
        let rules = ReleaseRules { range: Some(&one), ..rules };
        assert_eq!(highest(rules).as_deref(), Some("1.1.0"));
        assert_eq!(highest(ReleaseRules { age, ..rules }).as_deref(), Some("1.0.0"));
        assert_eq!(highest(ReleaseRules { locked: Some(&locked), ..rules }).as_deref(), Some("1.2.0"));
        assert_eq!(highest(ReleaseRules { overridden: Some(&two), age, ..rules }).as_deref(), Some("2.0.0"));
    }
}
