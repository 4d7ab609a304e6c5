//! The reasons why no version of a skill meets a single requirement.

use std::collections::BTreeSet;

use crate::advice::{Message, Verb, message};
use crate::resolve::choice::{DAY, Exclusion, ReleaseAge};
use crate::resolve::problem::VersionLimit;
use crate::resolve::universe::Skill;
use crate::text;
use crate::version::Version;

/// The number of versions that a sentence lists.
const LISTED: usize = 3;

/// A version that would meet the requirements but cannot be selected.
pub(super) struct Excluded {
    version: Version,
    exclusion: Exclusion,
    published: Option<i64>,
    /// Why it was withdrawn; may be empty.
    reason: String,
}

/// Returns the versions of `skill` that all `limits` accept but that cannot be selected, the highest first.
pub(super) fn excluded<C>(skill: &Skill<C>, limits: &[&Vec<VersionLimit>]) -> Vec<Excluded> {
    let accepts = |version: &Version| limits.iter().all(|any| any.iter().any(|limit| limit.accepts(version)));
    let newest = skill.listing.newest().into_iter();
    let fit = newest.filter(|(_, release, _)| accepts(&release.version));
    fit.filter_map(|(_, release, exclusion)| {
        let (version, published) = (release.version.clone(), release.published);
        let reason = release.yanked.clone().unwrap_or_default();
        Some(Excluded { version, exclusion: exclusion?, published, reason })
    })
    .collect()
}

/// Returns the sentence about `excluded`, versions of the skill `name`, and hints.
pub(super) fn about_excluded(
    name: &str,
    excluded: &[Excluded],
    age: Option<ReleaseAge>,
) -> (Vec<Message>, Vec<Message>) {
    let of = |kind: Exclusion| excluded.iter().filter(move |one| one.exclusion == kind).collect::<Vec<_>>();
    let (yanked, young) = (of(Exclusion::Yanked), of(Exclusion::Young));
    let (mut sentences, mut hints) = (Vec::new(), Vec::new());
    if !yanked.is_empty() {
        let versions = listed(yanked.iter().map(|one| one.version.to_string()));
        let reason = match &yanked[..] {
            [one] if !one.reason.is_empty() => format!(": {}", text::visible(&one.reason)),
            _ => String::new(),
        };
        let be = be(yanked.len(), "yanked");
        sentences.push(format!("`{name}` {versions} would fit, but {be}{reason}").into());
        hints.push(message!(format!(
            "a yanked version stays only where it is locked: ask the publisher of `{name}` for a new version"
        )));
    }
    if !young.is_empty() {
        let versions = listed(young.iter().map(|one| one.version.to_string()));
        let be = be(young.len(), "too young for the minimum release age");
        sentences.push(format!("`{name}` {versions} would fit, but {be}").into());
        hints.push(wait(name, &young, age));
    }
    (sentences, hints)
}

/// Returns the hint to wait for the first of `young`, versions of the skill `name`.
fn wait(name: &str, young: &[&Excluded], age: Option<ReleaseAge>) -> Message {
    let dated = young.iter().filter_map(|one| Some((age?, one.published?, &one.version)));
    match dated.min_by_key(|(_, published, _)| *published) {
        Some((age, published, version)) => {
            let left = age.old_enough_at(published).saturating_sub(age.now);
            let days = left / DAY + i64::from(left % DAY > 0);
            let unit = if days == 1 { "day" } else { "days" };
            let date = age.old_enough_on(published);
            message!(format!("`{name}` {version} is old enough in {days} {unit}, on {date}"))
        }
        None => message!(format!(
            "the registry does not say when `{name}` was published: exempt it from the minimum release age"
        )),
    }
}

/// Returns the reason why no version of `skill` is in `limit`, as sentences, and hints. `by_user` states whether the user
/// asked for it.
pub(super) fn shortage<C>(
    skill: &Skill<C>,
    limit: &VersionLimit,
    registry: &str,
    by_user: bool,
) -> (Vec<Message>, Vec<Message>) {
    let name = skill.name.as_str();
    if !skill.exists {
        return (vec![format!("{registry} has no skill `{name}`").into()], Vec::new());
    }
    if skill.listing.len() == 0 {
        return (vec![format!("{registry} has no version of `{name}`").into()], Vec::new());
    }
    let excluded = excluded(skill, &[&vec![limit.clone()]]);
    if !excluded.is_empty() {
        let (mut sentences, hints) = about_excluded(name, &excluded, skill.listing.age());
        sentences.insert(0, format!("no other version of `{name}` is {}", within(limit)).into());
        sentences.rotate_left(1);
        return (sentences, hints);
    }
    let pre_releases = pre_releases(skill, limit);
    if let Some(highest) = pre_releases.first() {
        let versions = listed(pre_releases.iter().cloned());
        let sentence = format!("only pre-releases of `{name}` are {}: {versions}", within(limit));
        let call = Verb::Install.call().word(format!("{name}@{highest}"));
        let hint = by_user.then(|| message!(call, " accepts a pre-release"));
        return (vec![sentence.into()], hint.into_iter().collect());
    }
    let newest = skill.listing.newest().into_iter().map(|(_, release, exclusion)| match exclusion {
        Some(Exclusion::Yanked) => format!("{} (yanked)", release.version),
        Some(Exclusion::Young) => format!("{} (too young)", release.version),
        None => release.version.to_string(),
    });
    let newest: Vec<String> = newest.take(LISTED).collect();
    let are = if newest.len() == 1 { "the newest is" } else { "the newest are" };
    let sentence = format!("no version of `{name}` is {}: {are} {}", within(limit), text::and(&newest));
    (vec![sentence.into()], Vec::new())
}

/// Returns the pre-releases that would be in `limit` if they were no pre-releases, the highest first.
fn pre_releases<C>(skill: &Skill<C>, limit: &VersionLimit) -> Vec<String> {
    let is_near = |version: &Version| {
        let mut released = version.number().clone();
        released.pre = semver::Prerelease::EMPTY;
        let released = Version::new(&released.to_string());
        !version.number().pre.is_empty() && released.is_ok_and(|released| limit.accepts(&released))
    };
    let newest = skill.listing.newest().into_iter();
    let near = newest.filter(|(_, release, why)| why.is_none() && is_near(&release.version));
    near.map(|(_, release, _)| release.version.to_string()).collect()
}

/// Returns `limit` as a place that versions are in.
fn within(limit: &VersionLimit) -> String {
    if limit.is_any() { "there".to_owned() } else { format!("in `{limit}`") }
}

/// Returns the first of `versions`, and how many more there are.
fn listed(versions: impl Iterator<Item = String>) -> String {
    let mut seen = BTreeSet::new();
    let mut versions: Vec<String> = versions.filter(|version| seen.insert(version.clone())).collect();
    let more = versions.len().saturating_sub(LISTED);
    versions.truncate(LISTED);
    if more > 0 {
        versions.push(format!("{more} more"));
    }
    text::and(&versions)
}

/// Returns that `count` versions are `so`.
fn be(count: usize, so: &str) -> String {
    if count == 1 { format!("it is {so}") } else { format!("they are {so}") }
}
