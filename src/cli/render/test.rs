//! `test`: each failure with its place, then a summary.

use std::fmt::Write as _;
use std::path::Path;

use super::finding::WIDTH;
use super::validate::{for_people, of_verb, print};
use super::{count, entries, json_text, one_line};
use crate::cli::commands::validate::FormatArg;
use crate::cli::printer::Printer;
use skillpm_core::ops::test::{Runs, TestOutcome, TestedCase, TestedFile, Verdict};
use skillpm_core::ops::validate::{Checked, Tree, ValidateOutcome};
use skillpm_format::lint::report::junit::{CaseResult, TestCase, document};
use skillpm_format::lint::{Finding, Profile, Severity};
use skillpm_sources::error::Result;
use skillpm_sources::fs;
use skillpm_sources::settings::Settings;

/// The pairs of skills and the skills without requests that are named.
const TOLD: usize = 5;
/// The id of a file that cannot be read, in reports.
const UNREADABLE: &str = "test-unreadable";

/// Prints the outcome in `format`, or writes it into `file`.
pub(crate) fn show(
    printer: &Printer,
    settings: &Settings,
    outcome: &TestOutcome,
    format: FormatArg,
    file: Option<&Path>,
) -> Result<()> {
    let failures = failures(outcome);
    let look = printer.look();
    let text = match format {
        FormatArg::Human | FormatArg::Full | FormatArg::Concise if file.is_none() => {
            let text = match format {
                FormatArg::Human if !look.verbose => lines(outcome, look.width.unwrap_or(WIDTH)),
                FormatArg::Human => for_people(&failures, FormatArg::Full, look.out_colour, look.width),
                format => for_people(&failures, format, look.out_colour, look.width),
            };
            print(printer, &text);
            None
        }
        FormatArg::Json => Some(json_text(outcome)),
        FormatArg::Junit => Some(junit(outcome)),
        FormatArg::Sarif | FormatArg::Github | FormatArg::Gitlab => {
            Some(of_verb("test", &failures, format, false, Some(&Tree::around(settings)?)))
        }
        FormatArg::Human => Some(lines(outcome, WIDTH)),
        FormatArg::Full | FormatArg::Concise => Some(of_verb("test", &failures, format, false, None)),
    };
    match (text, file) {
        (Some(text), Some(file)) => fs::write_out(file, text.as_bytes())?,
        (Some(text), None) => printer.data(&text),
        (None, _) => {}
    }
    end(printer, outcome);
    Ok(())
}

/// Returns two lines for each failure: what came out, and the request.
fn lines(outcome: &TestOutcome, width: usize) -> String {
    let mut text = String::new();
    for file in &outcome.files {
        let failures: Vec<_> = file.cases.iter().filter(|case| case.verdict.fails()).collect();
        if failures.is_empty() && file.problem.is_none() {
            continue;
        }
        let path = file.file.strip_prefix(".").unwrap_or(&file.file);
        let _ = writeln!(text, "{}", one_line(&path.display().to_string()));
        if let Some(problem) = &file.problem {
            let message = one_line(&problem.message);
            let _ = writeln!(text, "  {}:{}  it cannot be read: {message}", problem.line, problem.column);
        }
        for case in failures {
            let at = format!("{}:{}", case.line, case.column);
            let query = cut(&case.query, width.saturating_sub(at.len() + 6));
            let _ = writeln!(text, "  {at}  {}", one_line(&case.message()));
            let _ = writeln!(text, "  {:1$}  \"{query}\"", "", at.len());
        }
        text.push('\n');
    }
    text
}

/// Returns the first `most` characters of a request, on one line.
fn cut(query: &str, most: usize) -> String {
    let words: Vec<&str> = query.split_whitespace().collect();
    let line = one_line(&words.join(" "));
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Returns the failures as findings in the files of the requests.
fn failures(outcome: &TestOutcome) -> ValidateOutcome {
    let skills = outcome.files.iter().map(|file| {
        let mut findings: Vec<Finding> =
            file.cases.iter().filter(|case| case.verdict.fails()).map(finding).collect();
        findings.extend(file.problem.as_ref().map(|problem| {
            let message = format!("the file cannot be read: {}", problem.message);
            let finding = Finding::new(UNREADABLE, Severity::Error, message, problem.span.clone());
            Finding { help: problem.hint.clone().map(Into::into), ..finding }
        }));
        Checked { file: file.file.clone(), profile: Profile::Spec, text: file.text.clone(), findings }
    });
    ValidateOutcome { skills: skills.collect(), ..ValidateOutcome::default() }
}

fn finding(case: &TestedCase) -> Finding {
    let finding = Finding::new(case.verdict.id(), Severity::Error, case.message(), case.span.clone());
    Finding { help: case.help().map(Into::into), ..finding }
}

/// Returns the requests as test cases.
fn junit(outcome: &TestOutcome) -> String {
    let of_file = |file: &TestedFile| {
        let path = file.file.display().to_string().replace(std::path::MAIN_SEPARATOR, "/");
        let mut cases: Vec<TestCase> = Vec::new();
        for case in &file.cases {
            let lines = format!("{path}:{}:{}: {}\n{}", case.line, case.column, case.message(), case.query);
            let result = match case.verdict {
                Verdict::Passed => CaseResult::Passed(String::new()),
                Verdict::Undecided => CaseResult::Skipped(case.message()),
                verdict => CaseResult::Failed(verdict.id(), case.message(), lines),
            };
            cases.push(TestCase { name: format!("{}: {}", case.skill, case.id), file: path.clone(), result });
        }
        cases.extend(file.problem.as_ref().map(|problem| TestCase {
            name: path.clone(),
            file: path.clone(),
            result: CaseResult::Failed(UNREADABLE, problem.message.clone(), String::new()),
        }));
        cases
    };
    document("test", &outcome.files.iter().flat_map(of_file).collect::<Vec<_>>())
}

/// Prints what stands after all failures.
fn end(printer: &Printer, outcome: &TestOutcome) {
    printer.note(&summary(outcome));
    for pair in outcome.collisions.iter().take(TOLD) {
        let (skill, winner) = (one_line(&pair.skill), one_line(&pair.winner));
        printer.note(&format!("`{winner}` ranks 1st for {} for `{skill}`", count(pair.requests, "request")));
    }
    for file in outcome.files.iter().filter(|file| file.problem.is_none()) {
        let path = one_line(&file.file.display().to_string());
        match (file.cases.len(), file.unread) {
            (0, _) => printer.note(&format!("`{path}` has no request in a shape that is read")),
            (_, 0) => {}
            (_, unread) => printer.note(&format!("`{path}`: {} without a request", entries(unread))),
        }
    }
    if !outcome.without.is_empty() {
        let names: Vec<String> = outcome.without.iter().map(|name| format!("`{}`", one_line(name))).collect();
        let most = if printer.look().verbose { names.len() } else { TOLD };
        let told = skillpm_format::text::and_more(&names, most);
        printer.note(&format!("without requests: {told}"));
    }
    if let Some((with, without)) = runs(outcome) {
        printer.note(&format!("with the skills: {}", cost(&with)));
        printer.note(&format!("without: {}", cost(&without)));
    }
}

/// Returns a text such as `12 requests for 3 skills among 40: 10 passed, 1 invisible`.
fn summary(outcome: &TestOutcome) -> String {
    let files = outcome.files.iter().filter(|file| !file.cases.is_empty());
    let mut skills: Vec<&str> = files.map(|file| &*file.skill).collect();
    skills.dedup();
    let all = outcome.cases().count();
    let mut parts = Vec::new();
    for (verdict, words) in [
        (Verdict::Passed, "passed"),
        (Verdict::Invisible, "for a skill that is invisible"),
        (Verdict::RanksLow, "for a skill that ranks too low"),
        (Verdict::Collides, "won by a skill that should not"),
        (Verdict::Failed, "failed"),
        (Verdict::Undecided, "undecided"),
    ] {
        match outcome.count(verdict) {
            0 => {}
            number => parts.push(format!("{number} {words}")),
        }
    }
    let broken = outcome.files.iter().filter(|file| file.problem.is_some()).count();
    if broken > 0 {
        parts.push(format!("{} cannot be read", count(broken, "file")));
    }
    if outcome.unchanged > 0 {
        parts.push(format!("{} unchanged", count(outcome.unchanged, "skill")));
    }
    let (requests, skills) = (count(all, "request"), count(skills.len(), "skill"));
    let listed = count(outcome.listed, "listed skill");
    let parts = if parts.is_empty() { "nothing to test".to_owned() } else { parts.join(", ") };
    format!("{requests} for {skills}, ranked among {listed}: {parts}")
}

/// Returns all runs with the skills and all without, if an agent was asked.
fn runs(outcome: &TestOutcome) -> Option<(Runs, Runs)> {
    let trials: Vec<_> = outcome.cases().filter_map(|case| case.trial.as_ref()).collect();
    let all = |runs: Vec<&Runs>| runs.into_iter().fold(Runs::default(), Runs::with);
    let with = all(trials.iter().map(|trial| &trial.with).collect());
    let without = all(trials.iter().map(|trial| &trial.without).collect());
    (!trials.is_empty()).then_some((with, without))
}

fn cost(runs: &Runs) -> String {
    let mut text = format!("{} of the agent, {:.0} s", count(runs.count, "run"), runs.seconds);
    if let Some(tokens) = runs.tokens {
        let _ = write!(text, ", {tokens} tokens");
    }
    if let Some(dollars) = runs.dollars {
        let _ = write!(text, ", ${dollars:.2}");
    }
    if runs.failed > 0 {
        let _ = write!(text, ", {} failed", runs.failed);
    }
    text
}
