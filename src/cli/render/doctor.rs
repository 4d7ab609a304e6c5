//! `doctor`: each finding with its remedy.

use super::{count, one_line};
use crate::cli::printer::Printer;
use crate::cli::words::worded;
use skillpm_core::ops::doctor::{Diagnosis, DoctorOutcome};
use skillpm_core::scope::health::problem::Severity;
use skillpm_format::scope_kind::ScopeKind;

pub(crate) fn show(printer: &Printer, outcome: &DoctorOutcome, fix: bool) {
    let all = printer.look().verbose;
    let mut text = String::new();
    for finding in &outcome.findings {
        if finding.severity > Severity::Note || all {
            text.push_str(&lines(finding, outcome, fix));
        }
    }
    if !text.is_empty() {
        printer.data(&text);
    }
    for kept in &outcome.kept {
        printer.note(&worded(kept));
    }
    printer.note(&summary(outcome, all));
    if !fix {
        printer.hints(&outcome.hints());
    }
}

fn lines(finding: &Diagnosis, outcome: &DoctorOutcome, fix: bool) -> String {
    let severity = match finding.severity {
        _ if finding.fixed => "fixed",
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    // What is not marked is about the project, or about no scope at all.
    let scope = if finding.scope == Some(ScopeKind::User) { ", user" } else { "" };
    let mut lines = format!("{severity}: {} [{}{scope}]\n", one_line(&worded(&finding.message)), finding.id);
    let mut more = |label: &str, text: &str| {
        lines.push_str("  ");
        lines.push_str(label);
        lines.push_str(&one_line(text));
        lines.push('\n');
    };
    match (&finding.fix, &finding.failure) {
        _ if finding.fixed => {}
        (_, Some(failure)) => more("cannot be repaired: ", &worded(failure)),
        (Some(what), None) if fix && outcome.dry_run => more("would be repaired: ", what),
        (Some(what), None) => more("`--fix` can ", what),
        (None, None) => {}
    }
    if let Some(advice) = finding.advice.as_ref().filter(|_| !finding.fixed) {
        more("", &worded(advice));
    }
    lines
}

fn summary(outcome: &DoctorOutcome, all: bool) -> String {
    let number = |severity| outcome.wrong().filter(|finding| finding.severity == severity).count();
    let (errors, warnings) = (number(Severity::Error), number(Severity::Warning));
    let notes = outcome.findings.iter().filter(|finding| finding.severity == Severity::Note).count();
    let fixed = outcome.findings.iter().filter(|finding| finding.fixed).count();
    let mut text = match (errors, warnings) {
        (0, 0) => "nothing is wrong".to_owned(),
        _ => format!("{}, {}", count(errors, "error"), count(warnings, "warning")),
    };
    if fixed > 0 {
        text = format!("{fixed} repaired, {text}");
    }
    if notes > 0 && !all {
        text = format!("{text}; {} (shown with `--verbose`)", count(notes, "note"));
    }
    if outcome.dry_run {
        text.push_str("; nothing was changed: this was a dry run");
    }
    text
}
