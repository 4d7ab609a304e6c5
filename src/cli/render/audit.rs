//! `audit`: a row for each line of the log.

use super::table::Table;
use crate::cli::printer::Printer;
use skillpm_core::ops::audit::AuditOutcome;
use skillpm_core::trust::audit::AuditRecord;

pub(crate) fn show(printer: &Printer, outcome: &AuditOutcome) {
    let Some(file) = &outcome.file else {
        printer.note("the audit log is switched off");
        printer.hints(&outcome.hints());
        return;
    };
    if outcome.records.is_empty() {
        printer.note(&format!("no such event is recorded in `{}`", file.display()));
    } else {
        let header = ["time", "event", "skill", "script", "outcome", "session"];
        let mut table = Table::new(&header).state("outcome");
        for record in &outcome.records {
            table.row([
                &record.time,
                &record.event.to_string(),
                &record.skill,
                record.script.as_deref().unwrap_or_default(),
                &ending(record),
                &record.session,
            ]);
        }
        table.show(printer);
    }
    if outcome.unreadable > 0 {
        printer.warning(&format!("{} cannot be read", super::count(outcome.unreadable, "line")));
    }
}

/// Returns how the event ended, and how long it took.
fn ending(record: &AuditRecord) -> String {
    let end = match (&record.ended, record.exit_code, record.signal) {
        (Some(ended), ..) => ended.clone(),
        (None, Some(code), _) => format!("exit {code}"),
        (None, None, Some(signal)) => format!("signal {signal}"),
        (None, None, None) => record.reason.clone().unwrap_or_default(),
    };
    let time = record.duration_ms.map(|duration| format!("{duration} ms"));
    let parts = [Some(end).filter(|end| !end.is_empty()), time];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_core::trust::audit::{AuditLog, Event, Rotation, Sandboxed, Subject};

    fn recorded() -> AuditOutcome {
        let dir = tempfile::tempdir().expect("a directory");
        let log = AuditLog {
            file: Some(dir.path().join("audit.jsonl")),
            rotation: Rotation::default(),
            arguments: true,
            session: "s1".to_owned(),
        };
        let subject = Subject { skill: "pdf".to_owned(), ..Subject::default() };
        let run = |exit_code, signal, ended| Event::Run {
            script: "scripts/a b.py",
            arguments: &[],
            duration: Duration::from_millis(12),
            exit_code,
            signal,
            ended,
            sandbox: Sandboxed { landlock: Some(6), seccomp: true, no_network: false, no_unix_sockets: true },
        };
        for event in [
            run(Some(3), None, None),
            run(None, Some(9), None),
            run(None, Some(9), Some("timeout")),
            Event::Refused { script: "x\ny", reason: "nobody trusts it" },
            Event::Activation { arguments: &[], duration: Duration::ZERO },
        ] {
            log.write(&subject, &event).expect("writes");
        }
        let mut records = log.last(9, |_| true).expect("reads").records;
        records.reverse();
        for record in &mut records {
            "2026-11-21T08:49:37.250Z".clone_into(&mut record.time);
        }
        AuditOutcome { file: Some("/state/audit.jsonl".into()), records, unreadable: 1 }
    }

    #[test]
    fn a_row_for_each_line() {
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &recorded());
        insta::assert_snapshot!(out.text(), @"
        time                      event       skill  script          outcome           session
        2026-11-21T08:49:37.250Z  run         pdf    scripts/a b.py  exit 3, 12 ms     s1
        2026-11-21T08:49:37.250Z  run         pdf    scripts/a b.py  signal 9, 12 ms   s1
        2026-11-21T08:49:37.250Z  run         pdf    scripts/a b.py  timeout, 12 ms    s1
        2026-11-21T08:49:37.250Z  refused     pdf    x y             nobody trusts it  s1
        2026-11-21T08:49:37.250Z  activation  pdf    -               0 ms              s1
        ");
        show(&talking, &AuditOutcome::default());
        show(&talking, &AuditOutcome { records: Vec::new(), unreadable: 0, ..recorded() });
        insta::assert_snapshot!(err.text(), @"
        warning: 1 line cannot be read
        the audit log is switched off
        hint: unset `SKILLPM_AUDIT` to switch it on; without a home directory, set it to a file
        no such event is recorded in `/state/audit.jsonl`
        ");
    }
}
