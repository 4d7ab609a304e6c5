//! The questions about updates, and the rules for the answers.

use std::sync::Arc;

use super::candidate::UpdateCandidate;
use crate::admission::PolicySubject;
use crate::advice::Warning;
use crate::error::Result;
use crate::resolve::{Release, ReleaseAge};
use crate::scope::state::Files;
use crate::version::Version;

/// The rules about sources and versions besides the two files: the policy, and one choice of versions for all skills of
/// registries.
pub(crate) trait Rules {
    /// Asks the policy about a source, before it is contacted.
    fn admit(&mut self, subject: PolicySubject<'_>) -> Result<()>;

    /// Returns why `revision` of a source is not old enough, with the line of the policy.
    fn held_back(&mut self, subject: PolicySubject<'_>, revision: Option<&str>) -> Result<Option<String>>;

    /// Returns why a release of a registry is not old enough, with what follows from it, `so`, and the line of the policy.
    fn too_young(&self, subject: PolicySubject<'_>, published: Option<i64>, so: &str) -> Option<String>;

    /// Decides the versions of the skills of registries `asked`, together with what they need.
    fn decide(&mut self, files: &Files, asked: &[&UpdateCandidate<'_>], how: &How) -> Result<Vec<Warning>>;

    /// Returns what the registry of `candidate` lists, and what was decided.
    fn releases(&mut self, candidate: &UpdateCandidate<'_>) -> Result<Releases>;

    /// Returns the directory of the only skill in the source of `candidate` that has its name, if it has moved. Finding that
    /// out takes a download.
    fn moved_to(&mut self, candidate: &UpdateCandidate<'_>) -> Option<String>;
}

/// The questions about the skills.
#[derive(Debug, Clone, Default)]
pub(crate) struct How {
    /// The version that is wanted.
    pub aim: Aim,
    /// Whether what is past pins and ranges is asked for, too.
    pub past: bool,
    /// Whether skills of registries get the lowest versions that fit instead of the highest.
    pub minimal: bool,
    /// Whether what skills need stays as it is locked.
    pub alone: bool,
}

/// The version that is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Aim {
    /// The newest that the manifest allows.
    #[default]
    Newest,
    /// The newest of all, past what the manifest allows.
    Latest,
    /// This version of a registry, within what the manifest allows.
    Exactly(Version),
}

/// The releases of a skill that a registry lists.
#[derive(Debug, Default)]
pub(crate) struct Releases {
    /// All of them; `None` if the registry does not have the skill.
    pub list: Option<Arc<Vec<Release>>>,
    /// The version that was decided; `None` if nothing needs the skill any more.
    pub decided: Option<Version>,
    /// The minimum age of a release, if a policy requires one.
    pub age: Option<ReleaseAge>,
}
