//! Finding out the current state of sources, with as little traffic as possible.
//!
//! Ids reveal the result of a download in advance: the commit of a reference, the git tree of a skill's directory, the tag
//! of a file on the web, the digests of a site's index. They only decide what is shown and fetched. Every download is
//! checked as always, so a lying server can hide a version, but cannot slip one in.

use schemars::JsonSchema;
use serde::Serialize;

#[cfg(any(feature = "git", feature = "http"))]
mod commits;
mod opened;
mod shape;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use super::of;
use crate::codes;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::reporter::{Reporter, Requested};
use crate::scope_kind::ScopeRoot;
use crate::spec::{Identity, Origin, Reference};
use crate::version::{Version, VersionRange};
use crate::workers;
#[cfg(any(feature = "git", feature = "http"))]
pub(super) use commits::{compare, fixed};
use opened::OpenedSource;
#[cfg(feature = "http")]
pub(super) use opened::hashed;
use shape::Shape;

/// The number of sources that are queried at once.
const CONNECTIONS: usize = 4;

/// A query about a locked skill for its source.
#[derive(Debug, Clone)]
pub struct Query<'a> {
    /// The lockfile entry.
    pub locked: &'a Locked,
    /// The requested revision; `None` is the default branch.
    pub reference: Option<Reference>,
    /// Whether the skill may be in any directory of the source, because none was named.
    pub anywhere: bool,
}

impl<'a> Query<'a> {
    /// Returns the query for what the manifest requests. Without an entry there, uses what was requested when
    /// the skill was locked.
    pub fn new(locked: &'a Locked, requirement: Option<&Requirement>) -> Self {
        let (reference, anywhere) = match requirement {
            Some(entry) => (entry.reference.clone(), entry.path.is_none()),
            None => (locked.requested.as_deref().map(Reference::from_lockfile), false),
        };
        Self { locked, reference, anywhere }
    }

    /// Returns the directory of the skill in its source; empty is its root.
    pub(super) fn path(&self) -> &str {
        self.locked.path.as_deref().unwrap_or_default()
    }

    /// Returns the answer of a source whose revision of this skill, which stands for its files, is `now`.
    fn compared(&self, now: Identity) -> NewestRevision {
        let (revision, files) = match now {
            Identity::Id(id) if self.locked.revision.as_ref() == Some(&id) => (Some(id), Files::Same),
            Identity::Id(id) => (Some(id), Files::Changed),
            Identity::Absent => (None, Files::Gone),
            Identity::Unknown => (None, Files::Unknown),
        };
        NewestRevision { revision, files }
    }
}

/// The current state of a skill in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewestRevision {
    /// The revision as a lockfile records it; `None` if the source has none or it is not known.
    pub revision: Option<String>,
    /// How the skill's own files compare with the locked ones.
    pub files: Files,
}

/// How the files of a skill in its source compare with the locked ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Files {
    /// They are the same.
    Same,
    /// They differ.
    Changed,
    /// They are no longer where the skill was.
    Gone,
    /// They are no longer where the skill was, but another directory in the source may be the skill; only a
    /// download can tell.
    Moved,
    /// Only a download would show this.
    Unknown,
}

/// The answer about the skills of one source at one reference.
#[derive(Debug)]
pub struct Answer {
    /// The positions of the queries that it answers.
    pub at: Vec<usize>,
    /// The results, in the order of `at`, or why the source could not be queried.
    pub newest: Result<Vec<NewestRevision>>,
    /// The newer reference, as [`latest`] returns it; `None` if that was not requested.
    pub latest: Result<Option<Reference>>,
}

/// The revisions of a source, as far as they are known without its files.
pub trait Revisions {
    /// Returns the revision that `reference` always means, without a request.
    fn fixed(&self, _reference: Option<&Reference>, _locked: &Locked) -> Option<String> {
        None
    }

    /// Returns the revision that `reference` means now, as a lockfile records it, if there is one. Fails for a reference that
    /// the source does not have.
    fn tip(&mut self, reference: Option<&Reference>) -> Result<Option<String>>;

    /// Compares the skill of `query` at the revision `now`, which is fixed or the last tip, with the locked one.
    fn compare(&mut self, now: Option<String>, query: &Query<'_>) -> Result<NewestRevision>;

    /// Returns the names of the source's tags that begin with `prefix`.
    fn tags(&mut self, _prefix: &str) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// Prepares to ask `origin` for its revisions at `references`.
fn revisions<'a>(
    context: &'a Context,
    scope: ScopeRoot<'a>,
    origin: &'a Origin,
    references: &[Option<&Reference>],
) -> Result<Box<dyn Revisions + 'a>> {
    let source = of(origin);
    let revisions = source.revisions(context, scope, references)?;
    Ok(revisions.unwrap_or_else(|| Box::new(OpenedSource::new(context, scope, source))))
}

/// Returns the state of the skills `queries` in `source`, all at `reference`, which is looked up once.
fn newest(
    source: &mut dyn Revisions,
    reference: Option<&Reference>,
    queries: &[&Query<'_>],
) -> Result<Vec<NewestRevision>> {
    let mut tip: Option<Option<String>> = None;
    let mut answer = |query: &&Query<'_>| {
        let now = match (source.fixed(reference, query.locked), &tip) {
            (Some(fixed), _) => Some(fixed),
            (None, Some(tip)) => tip.clone(),
            (None, None) => tip.insert(source.tip(reference)?).clone(),
        };
        source.compare(now, query)
    };
    queries.iter().map(&mut answer).collect()
}

/// Returns the tag that `range` means now: the highest version in it, written as `1.2.3` or `v1.2.3`.
pub(super) fn tag_in(
    context: &Context,
    scope: ScopeRoot<'_>,
    origin: &Origin,
    range: &VersionRange,
) -> Result<Reference> {
    highest_in(origin, &version_tags(context, scope, origin)?, range)
}

/// A tag that is a version.
type VersionTag = (Version, String);

/// Returns the version that `tag` is, written as `1.2.3` or `v1.2.3`.
fn version_of(tag: &str) -> Option<Version> {
    Version::new(tag.strip_prefix('v').unwrap_or(tag)).ok()
}

/// Returns the tags of `origin` that are versions, in ascending order.
fn version_tags(context: &Context, scope: ScopeRoot<'_>, origin: &Origin) -> Result<Vec<VersionTag>> {
    let tags = revisions(context, scope, origin, &[None])?.tags("")?.into_iter();
    let usable = tags.filter(|tag| Reference::check(tag).is_ok());
    let mut versions: Vec<_> = usable.filter_map(|tag| Some((version_of(&tag)?, tag))).collect();
    versions.sort();
    Ok(versions)
}

/// Returns the highest of `versions`, the tags of `origin`, in `range`.
fn highest_in(origin: &Origin, versions: &[VersionTag], range: &VersionRange) -> Result<Reference> {
    if let Some((_, tag)) = versions.iter().rev().find(|(version, _)| range.contains(version)) {
        return Ok(Reference::Tag(tag.clone()));
    }
    let origin = origin.typed();
    let error = Error::usage(format!("no tag of `{origin}` is a version in the range `{range}`"))
        .coded(codes::REVISION_UNKNOWN);
    let newest: Vec<_> = versions.iter().rev().take(3).map(|(_, tag)| format!("`{tag}`")).collect();
    Err(if newest.is_empty() {
        error.hint("its tags are not versions such as `1.2.0` or `v1.2.0`: name a tag or a branch")
    } else {
        error.hint(format!("its newest versions are {}", newest.join(", ")))
    })
}

/// Returns the highest of `versions` that is no pre-release, if it is above all versions in `range`.
fn beyond(versions: &[VersionTag], range: &VersionRange) -> Option<Reference> {
    let mut descending = versions.iter().rev();
    let (version, tag) = descending.find(|(version, _)| version.number().pre.is_empty())?;
    let is_above = |(other, _): &VersionTag| !range.contains(other) || version > other;
    versions.iter().all(is_above).then(|| Reference::Tag(tag.clone()))
}

/// Returns `latest`, which is newer than `reference`, as a manifest with `reference` is to state it: a range stays one.
pub fn restated(reference: Option<&Reference>, latest: Reference) -> Reference {
    let is_range = reference.is_some_and(|reference| reference.range().is_some());
    match version_of(latest.name()).filter(|_| is_range && latest.range().is_none()) {
        Some(version) => Reference::Range(VersionRange::compatible_with(&version)),
        None => latest,
    }
}

/// Returns what is newer than `reference`: for a tag, the highest version among the tags of the same shape; for a range,
/// the tag with the highest version; for a commit, the newest commit of the default branch. Returns `None` for another
/// reference, or if nothing is newer.
pub fn latest(
    context: &Context,
    scope: ScopeRoot<'_>,
    origin: &Origin,
    reference: Option<&Reference>,
) -> Result<Option<Reference>> {
    let reference = reference.filter(|_| origin.has_revisions());
    if let Some(range) = reference.and_then(Reference::range) {
        return Ok(beyond(&version_tags(context, scope, origin)?, range));
    }
    match reference.filter(|reference| is_pin(reference)) {
        Some(pin) => past(&mut *revisions(context, scope, origin, &[None])?, pin, true),
        None => Ok(None),
    }
}

/// Answers all `queries`. Queries each source once and several at a time. With `latest`, also returns what is
/// newer than the pins.
pub fn ask(context: &Context, scope: ScopeRoot<'_>, queries: &[Query<'_>], latest: bool) -> Vec<Answer> {
    let mut sources: BTreeMap<&Origin, BTreeMap<Option<&Reference>, Vec<usize>>> = BTreeMap::new();
    for (at, query) in queries.iter().enumerate() {
        let references = sources.entry(&query.locked.origin).or_default();
        references.entry(query.reference.as_ref()).or_default().push(at);
    }
    let context = Context { reporter: Arc::new(Quiet(Arc::clone(&context.reporter))), ..context.clone() };
    let jobs: Vec<_> = sources.into_iter().collect();
    let answers = Mutex::new(Vec::new());
    let Ok(()) = workers::wait_for(&jobs, CONNECTIONS, |(origin, references)| {
        let told = ask_one(&context, scope, origin, references, queries, latest);
        answers.lock().unwrap_or_else(PoisonError::into_inner).extend(told);
        Ok::<(), Infallible>(())
    });
    let mut answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    answers.sort_by_key(|answer| answer.at.first().copied());
    answers
}

/// Queries one source for everything that is requested from it.
fn ask_one(
    context: &Context,
    scope: ScopeRoot<'_>,
    origin: &Origin,
    references: &BTreeMap<Option<&Reference>, Vec<usize>>,
    queries: &[Query<'_>],
    latest: bool,
) -> Vec<Answer> {
    let (ranges, references): (BTreeMap<_, _>, BTreeMap<_, _>) =
        references.iter().partition(|(reference, _)| {
            origin.has_revisions() && reference.is_some_and(|one| one.range().is_some())
        });
    let mut answers: Vec<Answer> = Vec::new();
    for (reference, at) in ranges {
        let Some(range) = reference.and_then(Reference::range) else { continue };
        let asked: Vec<_> = at.iter().map(|at| &queries[*at]).collect();
        let (newest, past) = ask_range(context, scope, origin, range, &asked);
        answers.push(Answer { at: at.clone(), newest, latest: Ok(past.filter(|_| latest)) });
    }
    if references.is_empty() {
        return answers;
    }
    let names: Vec<_> = references.keys().map(|name| **name).collect();
    let mut source = match revisions(context, scope, origin, &names) {
        Ok(source) => source,
        Err(error) => {
            let at = references.values().flat_map(|at| at.iter().copied()).collect();
            answers.push(Answer { at, newest: Err(error), latest: Ok(None) });
            return answers;
        }
    };
    for (reference, at) in references {
        // A source that cannot be reached is not tried again for each of its references.
        if let Some(last) = answers.last_mut().filter(|answer| unreachable(answer)) {
            last.at.extend(at);
            continue;
        }
        let asked: Vec<_> = at.iter().map(|at| &queries[*at]).collect();
        let newest = newest(&mut *source, *reference, &asked);
        let latest = match (reference.filter(|reference| latest && is_pin(reference)), &newest) {
            (Some(pin), Ok(_)) => past(&mut *source, pin, true),
            // The pinned revision may be gone. Otherwise one error is enough.
            (Some(pin), Err(error)) if error.kind() != ErrorKind::Network => {
                Ok(past(&mut *source, pin, false).unwrap_or_default())
            }
            _ => Ok(None),
        };
        answers.push(Answer { at: at.clone(), newest, latest });
    }
    answers
}

/// Queries a repository for the skills `asked` in the highest version in `range`, and for what is past the range.
fn ask_range(
    context: &Context,
    scope: ScopeRoot<'_>,
    origin: &Origin,
    range: &VersionRange,
    asked: &[&Query<'_>],
) -> (Result<Vec<NewestRevision>>, Option<Reference>) {
    let versions = match version_tags(context, scope, origin) {
        Ok(versions) => versions,
        Err(error) => return (Err(error), None),
    };
    let newest = highest_in(origin, &versions, range).and_then(|tag| {
        let tag = Some(&tag);
        newest(&mut *revisions(context, scope, origin, &[tag])?, tag, asked)
    });
    let is_reached = !newest.as_ref().is_err_and(|error| error.kind() == ErrorKind::Network);
    (newest, beyond(&versions, range).filter(|_| is_reached))
}

fn unreachable(answer: &Answer) -> bool {
    answer.newest.as_ref().is_err_and(|error| error.kind() == ErrorKind::Network)
}

/// Reports whether `reference` is fixed on purpose: a commit, or a tag that reads as a version.
fn is_pin(reference: &Reference) -> bool {
    match reference {
        Reference::Rev(_) => true,
        Reference::Any(name) => reference.commit().is_some() || Shape::of(name).is_some(),
        Reference::Tag(name) => Shape::of(name).is_some(),
        Reference::Branch(_) | Reference::Range(_) => false,
    }
}

/// Returns what is newer than `pin` in `source`, which has it if `is_there`.
fn past(source: &mut dyn Revisions, pin: &Reference, is_there: bool) -> Result<Option<Reference>> {
    let commit = match pin {
        Reference::Rev(commit) => Some(commit.to_ascii_lowercase()),
        _ => pin.commit(),
    };
    if let Some(commit) = commit {
        let head = source.tip(None)?;
        let is_new = |head: &String| !head.starts_with(&commit);
        return Ok(head.filter(is_new).map(Reference::Rev));
    }
    let Some(shape) = Shape::of(pin.name()) else { return Ok(None) };
    let tags = source.tags(shape.prefix())?;
    // A branch may look like a version, too.
    if is_there && matches!(pin, Reference::Any(_)) && tags.iter().all(|tag| tag != pin.name()) {
        return Ok(None);
    }
    let higher = shape.highest(tags.iter().map(String::as_str)).map(ToOwned::to_owned);
    Ok(higher.map(if matches!(pin, Reference::Any(_)) { Reference::Any } else { Reference::Tag }))
}

/// A reporter that shows waiting but not small downloads, since several sources are asked at once.
struct Quiet(Arc<dyn Reporter>);

impl Reporter for Quiet {
    fn retrying(&self, why: &str, seconds: u64, tried: u32, most: u32) {
        self.0.retrying(why, seconds, tried, most);
    }

    fn requested(&self, request: &Requested<'_>) {
        self.0.requested(request);
    }

    fn waiting_for_lock(&self, dir: &std::path::Path) {
        self.0.waiting_for_lock(dir);
    }

    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    struct Tags(&'static [&'static str]);

    impl Revisions for Tags {
        fn tip(&mut self, _: Option<&Reference>) -> Result<Option<String>> {
            Ok(Some("a".repeat(40)))
        }

        fn compare(&mut self, _: Option<String>, _: &Query<'_>) -> Result<NewestRevision> {
            Err(Error::usage("not asked for"))
        }

        fn tags(&mut self, prefix: &str) -> Result<Vec<String>> {
            Ok(self.0.iter().filter(|tag| tag.starts_with(prefix)).map(ToString::to_string).collect())
        }
    }

    fn past_pin(pin: &Reference, tags: &'static [&'static str]) -> Option<Reference> {
        past(&mut Tags(tags), pin, true).expect("an answer")
    }

    #[test]
    fn a_pin_keeps_its_kind() {
        let tags = &["v1.0.0", "v1.1.0"];
        let tag = |name: &str| Reference::Tag(name.to_owned());
        let any = |name: &str| Reference::Any(name.to_owned());
        assert_eq!(past_pin(&tag("v1.0.0"), tags), Some(tag("v1.1.0")));
        assert_eq!(past_pin(&any("v1.0.0"), tags), Some(any("v1.1.0")));
        assert_eq!(past_pin(&any("v0.9"), tags), None, "a branch may have that name");
        let gone = past(&mut Tags(tags), &any("v0.9"), false).expect("an answer");
        assert_eq!(gone, Some(any("v1.1.0")), "no branch has it");
        let head = Reference::Rev("a".repeat(40));
        assert_eq!(past_pin(&Reference::Rev("b".repeat(40)), tags), Some(head.clone()));
        assert_eq!(past_pin(&any(&"b".repeat(40)), tags), Some(head));
        assert_eq!(past_pin(&Reference::Rev("AAAAAAA".into()), tags), None);
    }

    #[test]
    fn what_moves_is_no_pin() {
        for reference in [Reference::Branch("v1.0".into()), Reference::Any("main".into())] {
            assert!(!is_pin(&reference), "{reference:?}");
        }
    }
}
