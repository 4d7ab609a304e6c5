//! `trust` and `untrust`: a line for each directory.

use super::one_line;
use crate::cli::printer::Printer;
use skillpm_core::ops::trust::TrustOutcome;

/// Prints the trusted directories, with the reason for those whose trust is not valid any more.
pub(crate) fn list(printer: &Printer, outcome: &TrustOutcome) {
    for dir in &outcome.directories {
        printer.data(&one_line(&dir.path));
        if let Some(reason) = &dir.reason {
            printer.warning(&format!("`{}` is no longer trusted: {reason}", one_line(&dir.path)));
        }
    }
    if outcome.directories.is_empty() {
        printer.note("no directory is trusted: only scripts of locked skills run");
        printer.hints(&outcome.hints());
    }
}

/// Reports the changes.
pub(crate) fn changed(printer: &Printer, outcome: &TrustOutcome, trusted: bool) {
    for path in &outcome.changed {
        printer.status(if trusted { "+" } else { "-" }, &one_line(path));
    }
    match (outcome.changed.is_empty(), trusted) {
        (true, _) => printer.note("nothing was changed: all of them are already trusted"),
        (false, true) => {
            printer.note("scripts of skills in there may run, locked or not");
            printer.tips(&outcome.change_hints(trusted));
        }
        (false, false) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_core::ops::trust::{TrustState, Trusted};

    #[test]
    fn a_line_for_each_directory() {
        let dir = |path: &str, state, reason: Option<&str>| Trusted {
            path: path.to_owned(),
            since: "2026-11-21T08:49:37.250Z".to_owned(),
            state,
            reason: reason.map(ToOwned::to_owned),
        };
        let outcome = TrustOutcome {
            directories: vec![
                dir("/home/ann/work", TrustState::Trusted, None),
                dir("/srv/a\nb", TrustState::Exposed, Some("every user may write to it")),
            ],
            changed: vec!["/home/ann/work".to_owned()],
            warnings: Vec::new(),
        };
        let (talking, out, err) = printer(Appearance::PLAIN);
        list(&talking, &outcome);
        changed(&talking, &outcome, true);
        changed(&talking, &outcome, false);
        changed(&talking, &TrustOutcome::default(), true);
        list(&talking, &TrustOutcome::default());
        insta::assert_snapshot!(out.text(), @"
        /home/ann/work
        /srv/a b
        ");
        insta::assert_snapshot!(err.text(), @"
        warning: `/srv/a b` is no longer trusted: every user may write to it
        + /home/ann/work
        scripts of skills in there may run, locked or not
        hint: `skillpm untrust /home/ann/work` revokes that
        - /home/ann/work
        nothing was changed: all of them are already trusted
        no directory is trusted: only scripts of locked skills run
        hint: `skillpm trust .` allows scripts of unlocked skills in this directory
        ");
    }
}
