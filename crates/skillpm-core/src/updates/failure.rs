//! Why sources could not be asked, or no longer have what is requested of them.

use super::candidate::{Status, UpdateCandidate};
use crate::advice::{Opt, Verb, Warning, message};
use crate::codes;
use crate::error::Error;
use crate::scope_kind::ScopeKind;
use crate::spec::{Origin, Reference};

/// Why nothing is known about some skills.
#[derive(Debug)]
pub(crate) struct CheckFailure {
    /// The positions of the candidates.
    pub at: Vec<usize>,
    /// The reason.
    pub error: Error,
    /// The sources that could not be asked; empty if they answered or were not to be asked.
    sources: Vec<String>,
}

impl CheckFailure {
    /// Returns the failure with what it is about, as a verb reports it that only shows `candidates`.
    fn into_error(self, candidates: &[UpdateCandidate<'_>]) -> Error {
        let joined = |quoted: Vec<String>| quoted.join(", ");
        if !self.sources.is_empty() {
            let sources = joined(self.sources.iter().map(|source| format!("`{source}`")).collect());
            return self.error.context(format!("{sources} cannot be checked for newer versions"));
        }
        let about = self.at.iter().filter_map(|at| candidates.get(*at));
        let gone: Vec<_> = about.filter(|one| one.status == Status::RefGone).collect();
        if gone.is_empty() {
            return self.error;
        }
        let names = joined(gone.iter().map(|one| format!("`{}`", one.name)).collect());
        let message = message!(names, ": ", self.error.message());
        self.error.retold(message)
    }
}

/// Returns `failures` as a verb reports them that only shows `candidates`: what it could not do, and what it found. It is
/// neither that without the network nothing is known.
pub(crate) fn errors_and_warnings(
    failures: Vec<CheckFailure>,
    candidates: &[UpdateCandidate<'_>],
) -> (Vec<Error>, Vec<Warning>) {
    let (mut failed, mut found) = (Vec::new(), Vec::new());
    for failure in failures {
        match failure.at.first().and_then(|at| candidates.get(*at)).map(|one| one.status) {
            Some(Status::NotAsked) => {}
            Some(Status::RefGone) => found.push(failure.into_error(candidates).warning()),
            _ => failed.push(failure.into_error(candidates)),
        }
    }
    (failed, found)
}

/// Returns that nothing is known about those of `candidates` that the network would be needed for.
pub(crate) fn not_asked(candidates: &[UpdateCandidate<'_>]) -> Option<Warning> {
    let number = candidates.iter().filter(|one| one.status == Status::NotAsked).count();
    let skills = if number == 1 { "1 skill".to_owned() } else { format!("{number} skills") };
    let message = || format!("without the network, nothing is known about {skills}");
    (number > 0).then(|| Warning::new(codes::OFFLINE, message()))
}

impl CheckFailure {
    /// Returns that the candidates `at` cannot be asked about, for another reason than that their source is silent.
    pub(super) fn refused(at: Vec<usize>, error: Error) -> Self {
        Self { at, error, sources: Vec::new() }
    }

    /// Adds to `failures` that `source` could not tell of the candidates `at`. Equal failures are one.
    pub(super) fn add(failures: &mut Vec<Self>, source: String, at: &[usize], error: Error) {
        let is_same = |other: &&mut Self| {
            !other.sources.is_empty()
                && other.error.with_causes() == error.with_causes()
                && other.error.hints() == error.hints()
        };
        match failures.iter_mut().find(is_same) {
            Some(other) => {
                other.at.extend_from_slice(at);
                other.at.sort_unstable();
                other.at.dedup();
                if !other.sources.contains(&source) {
                    other.sources.push(source);
                }
            }
            None => failures.push(Self { at: at.to_vec(), error, sources: vec![source] }),
        }
    }
}

/// Returns the error for the source `origin`, as it is typed in the working directory, which no longer has `reference`, as
/// `error` says. Unless one of its skills is `asked_for` by the manifest, those that need them have the reference.
pub(super) fn reference_gone(
    scope: ScopeKind,
    (origin, reference): (&Origin, &Reference),
    asked_for: bool,
    error: &Error,
) -> Error {
    let origin = origin.typed();
    let gone = Error::new(error.kind(), format!("{} of `{origin}` no longer exists", kind_of(reference)));
    let close = error.hints().iter().filter(|hint| hint.starts_with("did you mean")).cloned();
    let gone = close.fold(gone.coded(codes::REVISION_UNKNOWN), Error::hint);
    if !asked_for {
        return gone.hint(message!("update the skills that need it, or name another one in `skillpm.toml`"));
    }
    gone.hint(message!(
        "name another one in `skillpm.toml`; ",
        Verb::Install.within(scope).flag(Opt::List).word(&origin),
        " shows what the default branch has"
    ))
}

fn kind_of(reference: &Reference) -> String {
    let kind = match reference {
        Reference::Any(_) => "the tag or branch",
        Reference::Tag(_) => "the tag",
        Reference::Branch(_) => "the branch",
        Reference::Rev(_) => "the commit",
        Reference::Range(_) => "a version in the range",
    };
    format!("{kind} `{}`", reference.name())
}
