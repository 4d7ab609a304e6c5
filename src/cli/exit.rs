//! Exit codes. Scripts rely on them: codes are only ever added.

use skillpm_core::engine::run::{Ended, Exit, Ran};
use skillpm_core::ops::diff::DiffOutcome;
use skillpm_core::ops::fmt::{FmtOutcome, Form};
use skillpm_core::ops::install::InstallOutcome;
use skillpm_core::ops::outdated::{OutdatedOutcome, OutdatedSkill};
use skillpm_core::ops::registry::mirror::MirrorOutcome;
use skillpm_core::ops::search::SearchOutcome;
use skillpm_core::ops::update::UpdateOutcome;
use skillpm_core::ops::validate::ValidateOutcome;
use skillpm_format::lint::Severity;
use skillpm_sources::error::{Error, ErrorKind};

/// Success.
pub const SUCCESS: u8 = 0;
/// A check found something, or not everything requested was done.
pub const FINDINGS: u8 = ErrorKind::Findings as u8;
/// The request is invalid, or names something that does not exist.
pub const USAGE: u8 = ErrorKind::Usage as u8;
/// A settings file, manifest or lockfile is invalid.
pub const CONFIG: u8 = ErrorKind::Config as u8;
/// A failure of the network, a server or a login.
pub const NETWORK: u8 = ErrorKind::Network as u8;
/// Bytes that differ from what was promised, or that no skill may have.
pub const INTEGRITY: u8 = ErrorKind::Integrity as u8;
/// A failure of the file system.
pub const IO: u8 = ErrorKind::Io as u8;

/// All codes with their meaning, for help and reference.
pub const CODES: &[(u8, &str)] = &[
    (SUCCESS, "success"),
    (FINDINGS, "a check found something, or edited skills were left as is"),
    (USAGE, "the command line is wrong, or names something that does not exist"),
    (CONFIG, "a manifest, lockfile or setting is wrong"),
    (NETWORK, "network, server or login"),
    (INTEGRITY, "content that is not what was locked, or that a skill must not have"),
    (IO, "files or directories that cannot be read or written"),
];

/// Returns the code of `install`. Skills that were left as they are count as not done. If some skills could
/// not be installed, returns the code of their error if it is the same for all.
pub(crate) fn install(outcome: &InstallOutcome) -> u8 {
    let InstallOutcome { left_modified, left_in_conflict, left_unreadable, .. } = outcome;
    let left = [left_modified, left_in_conflict, left_unreadable].iter().any(|names| !names.is_empty());
    shared(outcome.left_out.iter().map(|left| left.why.exit_code).chain(left.then_some(FINDINGS)))
}

/// Returns the code for several failures with the codes `failures`: theirs if they share one, else that of findings;
/// success without any.
fn shared(mut failures: impl Iterator<Item = u8>) -> u8 {
    match failures.next() {
        Some(first) if failures.all(|code| code == first) => first,
        Some(_) => FINDINGS,
        None => SUCCESS,
    }
}

/// Returns the code of `outdated`: that of the sources that could not be queried, or otherwise, with
/// `exit_code`, 1 if something is outdated.
pub(crate) fn outdated(outcome: &OutdatedOutcome, exit_code: bool) -> u8 {
    shown(&outcome.failures, exit_code && outcome.skills.iter().any(OutdatedSkill::is_outdated))
}

/// Returns the code of `search`: that of the registries that could not be searched. It is no error that nothing matches.
pub(crate) fn search(outcome: &SearchOutcome) -> u8 {
    shown(&outcome.failures, false)
}

/// Returns the code of `diff`: that of the skills that could not be compared, or otherwise, with `exit_code`, 1
/// if something differs.
pub(crate) fn diff(outcome: &DiffOutcome, exit_code: bool) -> u8 {
    shown(&outcome.failures, exit_code && !outcome.skills.is_empty())
}

/// Returns the code of a verb that changes nothing: that of its failures, otherwise that of findings if it has `found`
/// something.
fn shown(failures: &[Error], found: bool) -> u8 {
    match shared(failures.iter().map(|error| error.kind().exit_code())) {
        SUCCESS if found => FINDINGS,
        code => code,
    }
}

/// Returns the code of `update`: if something could not be queried or used, the code of the failures if they
/// share one. Merges that the user has to resolve are findings.
pub(crate) fn update(outcome: &UpdateOutcome) -> u8 {
    let failures = outcome.failures.iter().map(|failure| failure.why.exit_code);
    shared(failures.chain(outcome.has_open_merges().then_some(FINDINGS)))
}

/// Returns the code of `registry mirror`: if skills were not as the registry says, the code of these failures if they
/// share one.
pub(crate) fn mirror(outcome: &MirrorOutcome) -> u8 {
    shared(outcome.failures.iter().map(|failure| failure.why.exit_code))
}

/// The reader of a script's output is gone: the code that shells use for `SIGPIPE`.
pub(crate) const CLOSED_PIPE: u8 = 141;

/// A script exceeded its time limit, as with `timeout`.
pub(crate) const TIMEOUT: u8 = 124;

/// Returns the code of `run`: the script's own, or what shells derive from its end.
pub(crate) fn run(ran: &Ran) -> u8 {
    let of_signal = |signal: i32| u8::try_from(128 + signal).unwrap_or(u8::MAX);
    match (ran.ended, ran.exit) {
        (Some(Ended::Timeout), _) => TIMEOUT,
        // As if it had been killed, whatever its last output was.
        (Some(Ended::Processes), _) => of_signal(9),
        (Some(Ended::Stopped), _) => of_signal(2),
        (None, Exit::Signal(signal)) => of_signal(signal),
        (None, Exit::Code(code)) => u8::try_from(code).unwrap_or(u8::MAX),
        // It may have failed.
        (None, Exit::Unknown) => ErrorKind::Io.exit_code(),
    }
}

/// Returns the code of `validate`: errors fail, and with `strict` warnings do too.
pub(crate) fn validate(outcome: &ValidateOutcome, strict: bool) -> u8 {
    let least = if strict { Severity::Warning } else { Severity::Error };
    let found = outcome.findings().any(|finding| finding.severity >= least);
    if found { FINDINGS } else { SUCCESS }
}

/// Returns the code of `fmt`: a file without a canonical form fails, and with `check` so does one that would
/// change.
pub(crate) fn fmt(outcome: &FmtOutcome, check: bool) -> u8 {
    let fails = |form: &Form| match form {
        Form::Canonical => false,
        Form::Changed { .. } => check,
        Form::Refused { .. } => true,
    };
    if outcome.files.iter().any(|file| fails(&file.form)) { FINDINGS } else { SUCCESS }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillpm_core::ops::validate::Checked;
    use skillpm_format::lint::{Finding, Profile};
    use skillpm_sources::error::NamedFailure;

    fn outcome(severity: Severity) -> ValidateOutcome {
        let finding = Finding::new("x", severity, "", 0..0);
        let text = String::new();
        let skills =
            vec![Checked { file: "x".into(), profile: Profile::Spec, text, findings: vec![finding] }];
        ValidateOutcome { skills, ..ValidateOutcome::default() }
    }

    #[test]
    fn warnings_fail_only_where_they_are_to() {
        assert_eq!(validate(&ValidateOutcome::default(), true), SUCCESS);
        assert_eq!(validate(&outcome(Severity::Warning), false), SUCCESS);
        assert_eq!(validate(&outcome(Severity::Warning), true), FINDINGS);
        assert_eq!(validate(&outcome(Severity::Note), true), SUCCESS);
        assert_eq!(validate(&outcome(Severity::Error), false), FINDINGS);
    }

    #[test]
    fn failures_go_before_what_was_found() {
        let failed =
            |kinds: &[ErrorKind]| kinds.iter().map(|kind| Error::new(*kind, "x")).collect::<Vec<_>>();
        let (network, usage) = (ErrorKind::Network, ErrorKind::Usage);
        assert_eq!(shown(&failed(&[network, network]), true), NETWORK);
        assert_eq!(shown(&failed(&[network, usage]), false), FINDINGS);
        assert_eq!((shown(&[], true), shown(&[], false)), (FINDINGS, SUCCESS));
    }

    #[test]
    fn edited_skills_that_stay_are_no_success() {
        let left = InstallOutcome { left_modified: vec!["pdf".to_owned()], ..InstallOutcome::default() };
        assert_eq!(install(&left), FINDINGS);
        let out = |kind| NamedFailure::new("x", &Error::new(kind, "x"));
        let (integrity, usage) = (ErrorKind::Integrity, ErrorKind::Usage);
        for (kinds, expected) in [([integrity, integrity], 5), ([integrity, usage], 1)] {
            let left_out = kinds.into_iter().map(out).collect();
            assert_eq!(install(&InstallOutcome { left_out, ..InstallOutcome::default() }), expected);
        }
        let left = InstallOutcome { left_unreadable: vec!["pdf".to_owned()], ..InstallOutcome::default() };
        assert_eq!(install(&left), FINDINGS);
        assert_eq!(install(&InstallOutcome::default()), SUCCESS);
    }
}
