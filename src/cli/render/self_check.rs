//! `self check`: a line for each fact, and what to do.

use super::one_line;
use crate::cli::printer::Printer;
use skillpm_core::ops::self_check::{Manager, SelfOutcome};

pub(crate) fn show(printer: &Printer, outcome: &SelfOutcome) {
    let commit = outcome.commit.as_ref().map(|commit| format!(", commit {commit}")).unwrap_or_default();
    let program = outcome.program.as_deref().map_or_else(|| "unknown".to_owned(), one_line);
    let newest = match (&outcome.newest, outcome.outdated) {
        (Some(newest), true) => newest.clone(),
        (Some(newest), false) => format!("{newest}; this one is up to date"),
        (None, _) => "unknown".to_owned(),
    };
    let version = format!("{} for {}{commit}", outcome.version, outcome.target);
    let facts = [
        ("version", &*version),
        ("program", &program),
        ("installed", how(outcome.installed.by)),
        ("newest", &newest),
    ];
    for (name, fact) in facts {
        printer.data(&format!("{name:<11}{fact}"));
    }
    printer.hints(&outcome.hints());
}

/// Says what installed the program.
fn how(by: Manager) -> &'static str {
    match by {
        Manager::Cargo => "by cargo",
        Manager::Homebrew => "by Homebrew",
        Manager::Npm => "by npm",
        Manager::Python => "with the Python package `skillpm-py`",
        Manager::Scoop => "by Scoop",
        Manager::Winget => "by winget",
        Manager::Dpkg => "as a Debian package",
        Manager::Rpm => "as an RPM package",
        Manager::Source => "not installed: a build of the source",
        Manager::Unknown => "as a file, by no package manager that skillpm knows",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_core::ops::self_check::Installed;

    #[test]
    fn a_line_for_each_fact() {
        let installed = Installed {
            by: Manager::Homebrew,
            update: Some("brew upgrade skillpm"),
            page: "https://x.example",
        };
        let outcome = SelfOutcome {
            version: "0.1.0".to_owned(),
            commit: Some("0123456789".to_owned()),
            target: "aarch64-apple-darwin".to_owned(),
            program: Some("/opt/homebrew/Cellar/skillpm/0.1.0/bin/skillpm".to_owned()),
            installed: installed.clone(),
            newest: Some("0.2.0".to_owned()),
            outdated: true,
            warnings: Vec::new(),
            failed: None,
        };
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &outcome);
        let installed = Installed { by: Manager::Dpkg, update: None, ..installed };
        show(&talking, &SelfOutcome { installed, ..outcome.clone() });
        show(
            &talking,
            &SelfOutcome { newest: None, outdated: false, commit: None, program: None, ..outcome.clone() },
        );
        insta::assert_snapshot!(out.text(), @"
        version    0.1.0 for aarch64-apple-darwin, commit 0123456789
        program    /opt/homebrew/Cellar/skillpm/0.1.0/bin/skillpm
        installed  by Homebrew
        newest     0.2.0
        version    0.1.0 for aarch64-apple-darwin, commit 0123456789
        program    /opt/homebrew/Cellar/skillpm/0.1.0/bin/skillpm
        installed  as a Debian package
        newest     0.2.0
        version    0.1.0 for aarch64-apple-darwin
        program    unknown
        installed  by Homebrew
        newest     unknown
        ");
        insta::assert_snapshot!(err.text(), @"
        hint: `brew upgrade skillpm` updates it
        hint: <https://x.example> says how to update it
        ");
    }
}
