//! Turns the notices and errors of a resolution into messages for a person.

use super::provider::too_hard;
use crate::advice::{Opt, Verb, Warning, message};
use crate::codes;
use crate::error::{Error, ErrorKind};
use crate::resolve::{Has, Notice, SolveError, Unresolved};
use crate::scope_kind::ScopeKind;
use crate::spec::SourceSpec;

/// Adds a hint to `error`, which is about a dependency, on how to do without it.
pub(crate) fn can_be_left_out(error: Error) -> Error {
    error.hint(message!(Opt::NoDeps, " leaves out what skills need"))
}

/// Returns the error for a problem without a solution.
pub(crate) fn error_of(error: SolveError<Error>) -> Error {
    let explanation = match error {
        SolveError::Provider(error) => return error,
        SolveError::Unresolved(unresolved) => return unavailable(*unresolved),
        SolveError::NoSolution(explanation) => *explanation,
        SolveError::TooMany { name, what, limit } => {
            return can_be_left_out(Error::integrity(format!(
                "more than {limit} {what} are needed, including `{name}`"
            )));
        }
        SolveError::TooHard => return too_hard(),
    };
    let sentences = explanation.sentences.into_iter();
    let text = sentences
        .fold(message!("no versions fit together:"), |text, sentence| message!(text, "\n  ", sentence));
    let error = Error::new(ErrorKind::Findings, text).coded(codes::VERSIONS_CONFLICT);
    explanation.hints.into_iter().fold(error, Error::hint)
}

/// Returns the error for a dependency that nothing satisfies.
pub(crate) fn unavailable(unresolved: Unresolved<Error>) -> Error {
    let Unresolved { dependent, text, error, .. } = unresolved;
    can_be_left_out(error.context(format!("`{dependent}` needs `{text}`, which is not available")))
}

/// Returns the warning for `notice`, which is about a scope of the kind `scope`.
pub(crate) fn warning_of(notice: &Notice, scope: ScopeKind) -> Warning {
    match notice {
        Notice::Malformed { dependent, text, error } => {
            let message = format!("what `{dependent}` needs cannot be read: `{text}`: {error}");
            Warning::new(codes::DEPENDENCY_UNREADABLE, message)
        }
        Notice::OutOfRange { dependent, text, version } => {
            let is = version_of(version.as_ref());
            let message = format!("`{dependent}` needs `{text}`, but the installed version is {is}");
            Warning::new(codes::DEPENDENCY_OUT_OF_RANGE, message)
        }
        Notice::Overridden { dependent, text, name, version, range, .. } => {
            let message = format!(
                "`{dependent}` needs `{text}`, and your `[override]` of `{name}` replaces that range with \
                 `{range}`: it is {version}"
            );
            Warning::new(codes::DEPENDENCY_OUT_OF_RANGE, message)
        }
        Notice::NowOutOfRange { dependent, text, name, version } => {
            let is = version_of(version.as_ref());
            let message = format!("`{dependent}` needs `{text}`, but `{name}` now has {is}");
            Warning::new(codes::DEPENDENCY_OUT_OF_RANGE, message)
        }
        Notice::Missing { dependent, text, source, has } => {
            let (source, has) = (source.typed(), text_of_has(has));
            let message = message!(
                format_args!(
                    "`{dependent}` needs `{text}`, which is not installed, and `{source}` has {has}: "
                ),
                Verb::Install.within(scope).word("SOURCE"),
                " installs it"
            );
            Warning::new(codes::DEPENDENCY_MISSING, message)
        }
        Notice::RequestedStays { dependent, spec, name, place } => {
            let from = source_of(place);
            let message = format!(
                "`{dependent}` needs `{name}` from `{spec}`; kept the one that you requested, from {from}"
            );
            Warning::new(codes::DEPENDENCY_ELSEWHERE, message)
        }
        Notice::NoRoom { dependent, name } => {
            let message = format!("`{dependent}` needs `{name}`, but something else is in its place");
            Warning::new(codes::IN_THE_WAY, message)
        }
    }
}

fn text_of_has(has: &Has) -> String {
    match has {
        Has::Version(version) => version_of(version.as_ref()),
        Has::Several => "more than one of that name".to_owned(),
        Has::Nothing => "no such skill".to_owned(),
    }
}

fn version_of(version: Option<&String>) -> String {
    version.map_or("a version that it does not declare".to_owned(), |version| format!("version {version}"))
}

/// Returns where the skill at `place` comes from.
fn source_of(place: &SourceSpec) -> String {
    let path = place.path.as_deref().map(|path| format!(", directory `{path}`")).unwrap_or_default();
    let reference =
        place.reference.as_ref().map(|reference| format!(" at `{reference}`")).unwrap_or_default();
    format!("`{}`{reference}{path}", place.origin.typed())
}
