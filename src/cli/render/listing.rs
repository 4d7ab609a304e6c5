//! `agents NAME`: what the model of an agent gets to see.

use std::collections::BTreeMap;

use super::table::Table;
use super::{and, count, one_line, quoted, short_path};
use crate::cli::printer::Printer;
use skillpm_core::agents::listing::Unit;
use skillpm_core::agents::rules::Evidence;
use skillpm_core::ops::agents::{ListedState, ListedView, ListingView};
use skillpm_format::scope_kind::ScopeKind;

/// The rows that fit a screen; `-v` shows all.
const ROWS: usize = 15;
/// The descriptions and pairs that are told in a line.
const TOLD: usize = 5;
/// The length to which a long description can be shortened and still say what a skill does and when, in characters.
const SHORT: usize = 200;

/// The states with their words: those that are listed, then those that are not.
const LISTED: [(ListedState, &str); 4] = [
    (ListedState::Whole, "whole"),
    (ListedState::Cut, "shortened"),
    (ListedState::NameOnly, "by name only"),
    (ListedState::Contested, "in doubt"),
];
const NOT_LISTED: [(ListedState, &str); 4] = [
    (ListedState::Omitted, "for want of room"),
    (ListedState::Hidden, "hidden"),
    (ListedState::Shadowed, "behind another of its name"),
    (ListedState::NotLoaded, "not loaded"),
];

/// Returns the lines that sum a listing up.
pub(super) fn summary(listing: &ListingView) -> Vec<String> {
    let mut lines = Vec::new();
    let counted = |states: &[(ListedState, &str)]| {
        let counts = states.iter().map(|(state, words)| (listing.count(*state), *words));
        counts
            .filter(|(count, _)| *count > 0)
            .map(|(count, words)| format!("{count} {words}"))
            .collect::<Vec<_>>()
    };
    let listed = counted(&LISTED);
    let seen = count(listing.listed(), "skill");
    lines.push(match (listing.listed(), listing.count(ListedState::Whole)) {
        (0, _) => "its model sees no skill".to_owned(),
        (all, whole) if all == whole => format!("its model sees {seen}, whole"),
        _ => format!("its model sees {seen}: {}", listed.join(", ")),
    });
    let others = counted(&NOT_LISTED);
    if !others.is_empty() {
        lines.push(format!("not listed: {}", others.join(", ")));
    }
    if let Some(budget) = listing.budget {
        let window = listing.window.map(|window| format!(" for a window of {window} tokens"));
        let over =
            if listing.is_over() { format!("; all would take {}", listing.whole) } else { String::new() };
        lines.push(format!(
            "{} of {budget} {}{}{over}",
            listing.used,
            unit(listing.unit),
            window.unwrap_or_default()
        ));
    }
    lines.push(format!(
        "as version {} of {} does, {}",
        listing.version,
        listing.date,
        evidence(listing.evidence)
    ));
    lines
}

/// Prints what is not whole, and what would make it so.
pub(super) fn details(printer: &Printer, listing: &ListingView, roots: &BTreeMap<ScopeKind, String>) {
    let mut told: Vec<_> = listing.skills.iter().filter(|skill| skill.state != ListedState::Whole).collect();
    // What is not listed at all is what people look for.
    told.sort_by_key(|skill| (skill.state < ListedState::Contested, skill.state));
    if !told.is_empty() {
        let mut table = Table::new(&["skill", "listed", "why"]).state("listed").prose("why");
        let most = if printer.look().verbose { told.len() } else { ROWS };
        for skill in told.iter().take(most) {
            table.row([&skill.name, &word(skill), &why(skill, roots)]);
        }
        table.show(printer);
        if let Some(more) = told.len().checked_sub(most).filter(|more| *more > 0) {
            printer.note(&format!("{more} more: `-v` shows all"));
        }
    }
    if listing.is_over() {
        let mut longest: Vec<_> =
            listing.skills.iter().filter(|skill| skill.state <= ListedState::NameOnly).collect();
        longest.sort_by_key(|skill| std::cmp::Reverse(skill.size));
        let gain = |skill: &&ListedView| {
            let over = skill.characters.checked_sub(SHORT).filter(|over| *over > 0)?;
            let gained = skill.size * over as u64 / skill.characters as u64;
            Some(format!("{gained} by {} ({})", quoted(&[&skill.name]), skill.characters))
        };
        let gains: Vec<_> = longest.iter().filter_map(gain).take(TOLD).collect();
        if !gains.is_empty() {
            let unit = unit(listing.unit);
            printer
                .note(&format!("{unit} that are gained if {SHORT} characters say the same: {}", and(&gains)));
        }
    }
    let pair = |names: &[String; 2], percent| {
        format!("{} and {} ({percent} %)", quoted(&names[..1]), quoted(&names[1..]))
    };
    let pairs: Vec<_> =
        listing.alike.iter().take(TOLD).map(|alike| pair(&alike.names, alike.percent)).collect();
    if !pairs.is_empty() {
        printer.note(&format!(
            "descriptions that share words, so that one may be taken for the other: {}",
            and(&pairs)
        ));
    }
    for note in listing.notes {
        printer.detail(note);
    }
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Characters => "characters",
        Unit::Tokens => "tokens",
        Unit::Bytes => "bytes",
    }
}

fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Measured => "compared with its program",
        Evidence::Source => "by its source",
        Evidence::Documented => "by its documentation",
        Evidence::Described => "as others describe it",
    }
}

/// Says in a sentence how much of a skill is listed.
pub(super) fn sentence(skill: &ListedView, roots: &BTreeMap<ScopeKind, String>) -> String {
    match skill.state {
        ListedState::Whole => "its model sees it whole".to_owned(),
        ListedState::Cut => format!("its model sees {} characters of its description", word(skill)),
        ListedState::NameOnly => format!("its model sees only its name: {}", why(skill, roots)),
        _ => format!("its model does not see it: {}", why(skill, roots)),
    }
}

fn word(skill: &ListedView) -> String {
    match skill.state {
        ListedState::Whole => "whole".to_owned(),
        ListedState::Cut => format!("{} of {}", skill.kept.unwrap_or_default(), skill.characters),
        ListedState::NameOnly => "by name".to_owned(),
        ListedState::Contested => "in doubt".to_owned(),
        ListedState::Omitted | ListedState::Hidden | ListedState::Shadowed | ListedState::NotLoaded => {
            "no".to_owned()
        }
    }
}

fn why(skill: &ListedView, roots: &BTreeMap<ScopeKind, String>) -> String {
    let file = |file: &String| short_path(roots, file);
    match (skill.state, &skill.why) {
        (_, Some(why)) => format!("{}: {}", file(&skill.file), one_line(why)),
        (ListedState::Shadowed, None) => {
            let by: Vec<_> = skill.others.iter().map(file).collect();
            format!("{}: {} wins", file(&skill.file), and(&by))
        }
        (ListedState::Contested, None) => {
            let others: Vec<_> = skill.others.iter().map(file).collect();
            format!("{}, or {}: it differs from start to start", file(&skill.file), and(&others))
        }
        (ListedState::NameOnly, None) if skill.characters == 0 => "it has no description".to_owned(),
        (ListedState::Cut, None) => "characters of the description".to_owned(),
        _ => "no room for more".to_owned(),
    }
}
