//! Findings of many skills: a line each, grouped by skill, and once what is found in many.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::Style;

use super::one_line;
use super::table::Table;
use crate::cli::appearance::Appearance;
use crate::cli::style::{BAD, CHANGED, FAINT, STRONG, paint};
use skillpm_core::ops::validate::{Checked, ValidateOutcome};
use skillpm_format::document::LineIndex;
use skillpm_format::lint::report::{RuleCount, rule_counts};
use skillpm_format::lint::{Finding, Severity};

/// The number of skills from which on the same finding is shown once.
const MANY: usize = 4;
/// The number of these skills that are named.
const NAMED: usize = 3;

/// What makes findings the same: severity, rule, and the message without what it quotes and counts.
type Shape = (Severity, &'static str, String);

/// A finding, with the number of its skill and its number there.
type Occurrence<'a> = (usize, usize, &'a Finding);

/// Returns findings, a line each, below a line for their skill. Those of one skill that are the same are one line, and those
/// of many skills follow at the end.
pub(super) fn grouped(skills: &[Checked], colour: bool) -> String {
    let mut places: BTreeMap<Shape, Vec<Occurrence<'_>>> = BTreeMap::new();
    for (at, skill) in skills.iter().enumerate() {
        for (number, finding) in skill.findings.iter().enumerate() {
            places.entry(shape(finding)).or_default().push((at, number, finding));
        }
    }
    let (mut own, mut common) = (Vec::new(), Vec::new());
    for (shape, found) in &places {
        let by_skill: Vec<_> = found.chunk_by(|one, other| one.0 == other.0).collect();
        if by_skill.len() < MANY {
            own.extend(by_skill.into_iter().map(|same| (same[0], same.len() - 1)));
        } else {
            let of: Vec<_> = by_skill.iter().map(|same| &skills[same[0].0]).collect();
            common.push((shape, found, of));
        }
    }
    own.sort_by_key(|((at, number, _), _)| (*at, *number));
    common.sort_by_key(|((severity, ..), _, skills)| std::cmp::Reverse((*severity, skills.len())));
    let mut text = String::new();
    for own in own.chunk_by(|one, other| one.0.0 == other.0.0) {
        of_skill(&mut text, &skills[own[0].0.0], own, colour);
    }
    for (shape, found, of) in common {
        of_many(&mut text, shape, found, &of, colour);
    }
    text
}

fn of_skill(text: &mut String, skill: &Checked, own: &[(Occurrence<'_>, usize)], colour: bool) {
    paint(text, &one_line(&skill.file.display().to_string()), STRONG, colour);
    text.push('\n');
    let lines = LineIndex::new(&skill.text);
    for ((.., finding), more) in own {
        let at = lines.position(finding.span.start);
        // Writing to a string cannot fail.
        let _ = write!(text, "  {:<7} ", format!("{}:{}", at.line, at.column));
        level(text, finding.severity, colour);
        let _ = write!(text, "  {}  ", one_line(&finding.message));
        paint(text, finding.rule, FAINT, colour);
        if *more > 0 {
            let _ = write!(text, "  (+{more})");
        }
        text.push('\n');
    }
    text.push('\n');
}

fn of_many(text: &mut String, shape: &Shape, found: &[Occurrence<'_>], skills: &[&Checked], colour: bool) {
    let (severity, rule, general) = shape;
    let first = found.first().map_or("", |(.., finding)| &finding.message);
    let message = if found.iter().all(|(.., finding)| finding.message == first) { first } else { general };
    paint(text, &format!("{} skills", skills.len()), STRONG, colour);
    text.push_str("  ");
    level(text, *severity, colour);
    let _ = write!(text, "  {}  ", one_line(message));
    paint(text, rule, FAINT, colour);
    if found.len() > skills.len() {
        let _ = write!(text, "  ({} in all)", found.len());
    }
    let dir = |skill: &&Checked| {
        let dir = skill.file.parent().unwrap_or(&skill.file);
        one_line(&dir.display().to_string())
    };
    let named: Vec<_> = skills.iter().take(NAMED).map(dir).collect();
    let _ = write!(text, "\n  {}", named.join(", "));
    if skills.len() > NAMED {
        let _ = write!(text, " and {} more", skills.len() - NAMED);
    }
    text.push_str("\n\n");
}

fn level(text: &mut String, severity: Severity, colour: bool) {
    let style = match severity {
        Severity::Error => BAD,
        Severity::Warning => CHANGED,
        Severity::Note => Style::new(),
    };
    paint(text, &format!("{:<7}", severity.to_string()), style, colour);
}

fn shape(finding: &Finding) -> Shape {
    let mut general = String::new();
    for (number, part) in finding.message.split('`').enumerate() {
        if number % 2 == 1 {
            general.push_str("`…`");
            continue;
        }
        for c in part.chars() {
            match c {
                '0'..='9' if general.ends_with('…') => {}
                '0'..='9' => general.push('…'),
                _ => general.push(c),
            }
        }
    }
    (finding.severity, finding.rule, general)
}

/// Returns findings, a line each.
pub(super) fn concise(skills: &[Checked]) -> String {
    let mut text = String::new();
    for skill in skills {
        let (path, lines) = (one_line(&skill.file.display().to_string()), LineIndex::new(&skill.text));
        for Finding { rule, severity, message, span, .. } in &skill.findings {
            let (at, message) = (lines.position(span.start), one_line(message));
            let _ = writeln!(text, "{path}:{}:{}: {severity} {rule}: {message}", at.line, at.column);
        }
    }
    text
}

/// Returns how often each rule found something.
pub(super) fn statistics(outcome: &ValidateOutcome, look: &Appearance) -> String {
    let mut table = Table::new(&["count", "level", "rule", "fixable"]).number("count").number("fixable");
    for RuleCount { rule, severity, count, fixable } in rule_counts(outcome.findings()) {
        table.row([&count.to_string(), &severity.to_string(), rule, &fixable.to_string()]);
    }
    table.render(look)
}
