//! Findings of many skills: a line each, grouped by skill, and once what is found in many.

use std::collections::{BTreeMap, BTreeSet};
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

/// Returns findings, a line each, below a line for their skill. Those of one skill that are the same are one line, and those
/// of many skills follow at the end.
pub(super) fn grouped(skills: &[Checked], colour: bool) -> String {
    let mut places: BTreeMap<Shape, BTreeSet<usize>> = BTreeMap::new();
    for (at, skill) in skills.iter().enumerate() {
        for finding in &skill.findings {
            places.entry(shape(finding)).or_default().insert(at);
        }
    }
    places.retain(|_, skills| skills.len() >= MANY);
    let mut text = String::new();
    for skill in skills {
        let mut own: Vec<(&Finding, Shape, usize)> = Vec::new();
        for finding in &skill.findings {
            let shape = shape(finding);
            match own.iter_mut().find(|(_, known, _)| *known == shape) {
                Some((.., more)) => *more += 1,
                None if !places.contains_key(&shape) => own.push((finding, shape, 0)),
                None => {}
            }
        }
        of_skill(&mut text, skill, &own, colour);
    }
    let mut common: Vec<_> = places.iter().collect();
    common.sort_by_key(|((severity, ..), skills)| std::cmp::Reverse((*severity, skills.len())));
    for (shape, at) in common {
        let of: Vec<_> = at.iter().map(|at| &skills[*at]).collect();
        of_many(&mut text, shape, &of, colour);
    }
    text
}

fn of_skill(text: &mut String, skill: &Checked, own: &[(&Finding, Shape, usize)], colour: bool) {
    if own.is_empty() {
        return;
    }
    paint(text, &one_line(&skill.file.display().to_string()), STRONG, colour);
    text.push('\n');
    let lines = LineIndex::new(&skill.text);
    for (finding, _, more) in own {
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

fn of_many(text: &mut String, shape: &Shape, skills: &[&Checked], colour: bool) {
    let (severity, rule, general) = shape;
    let same = |finding: &&Finding| self::shape(finding) == *shape;
    let found: Vec<_> = skills.iter().flat_map(|skill| skill.findings.iter().filter(same)).collect();
    let first = found.first().map_or("", |finding| &finding.message);
    let message = if found.iter().all(|finding| finding.message == first) { first } else { general };
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

/// Returns a text such as `description-when 32, yaml-tab 2`.
pub(super) fn rules(outcome: &ValidateOutcome) -> String {
    let rules = rule_counts(outcome.findings()).into_iter();
    rules.map(|rule| format!("{} {}", rule.rule, rule.count)).collect::<Vec<_>>().join(", ")
}
