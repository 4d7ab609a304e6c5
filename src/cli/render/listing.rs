//! `agents NAME`: what the model of an agent gets to see.

use std::collections::BTreeSet;

use super::table::Table;
use super::{and, count, one_line, quoted, short_path};
use crate::cli::printer::Printer;
use skillpm_core::agents::listing::Unit;
use skillpm_core::agents::rules::Evidence;
use skillpm_core::ops::agents::{LackingView, ListedState, ListedView, ListingView};
use skillpm_core::scope::Roots;

/// The rows that fit a screen; `-v` shows all.
const ROWS: usize = 15;
/// The names, descriptions and pairs that are told in a line.
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
    (ListedState::Omitted, "no room"),
    (ListedState::Hidden, "hidden"),
    (ListedState::Shadowed, "same name as another"),
    (ListedState::NotLoaded, "not loaded"),
];

/// Returns the lines that sum a listing up.
pub(super) fn summary(listing: &ListingView) -> Vec<String> {
    let mut lines = Vec::new();
    let counted = |states: &[(ListedState, &str)]| {
        let counts = states.iter().map(|(state, words)| (listing.range(*state), *words));
        let told = counts.filter(|(count, _)| count.most > 0);
        told.map(|(count, words)| format!("{} {words}", range(count))).collect::<Vec<_>>().join(", ")
    };
    let seen = count(listing.listed(), "skill");
    lines.push(match (listing.listed(), listing.count(ListedState::Whole)) {
        (0, _) => "its model sees no skill".to_owned(),
        (all, whole) if all == whole => format!("its model sees {seen}, whole"),
        _ => format!("its model sees {seen}: {}", counted(&LISTED)),
    });
    let others = counted(&NOT_LISTED);
    if !others.is_empty() {
        lines.push(format!("not listed: {others}"));
    }
    if let Some(budget) = listing.budget {
        let used = listing.used.map_or_else(|| "room for".to_owned(), |used| format!("{used} of"));
        let window = listing.window.map(|window| format!(", at a window of {window} tokens"));
        let whole = listing.whole.filter(|_| listing.is_over());
        let over = whole.map(|whole| format!("; all would take {whole}"));
        let (unit, window) = (unit(listing.unit), window.unwrap_or_default());
        lines.push(format!("{used} {budget} {unit}{window}{}", over.unwrap_or_default()));
    } else if !listing.knows_budget {
        lines.push("whether there is a limit is unknown".to_owned());
    }
    if listing.count(ListedState::Uncertain) > 0 {
        lines.push(
            "it drops the descriptions of the least used skills first; how it counts use is unknown"
                .to_owned(),
        );
    }
    if !listing.missed.is_empty() {
        let dirs: Vec<_> = listing.missed.iter().map(|dir| quoted(&[dir])).collect();
        lines
            .push(format!("it looks only into the directory that it is started in: not into {}", and(&dirs)));
    }
    if !listing.uncounted.is_empty() {
        lines.push(format!("not counted here: {}", listing.uncounted.join("; ")));
    }
    // Of an agent whose settings are read, the others are for those who want to know everything.
    if !listing.unread.is_empty() && listing.settings.is_empty() {
        lines.push(format!("its settings are not read: {}", listing.unread.join("; ")));
    }
    let evidence = evidence(listing.evidence);
    lines.push(format!("rules of version {} ({}), {evidence}", listing.version, listing.date));
    lines
}

/// Returns a text such as `3` or `2 to 5`.
fn range(LackingView { least, most }: LackingView) -> String {
    if least == most { most.to_string() } else { format!("{least} to {most}") }
}

/// Prints what is not whole, and what would make it so.
pub(super) fn details(printer: &Printer, listing: &ListingView, roots: &Roots) {
    let verbose = printer.look().verbose;
    let rows = rows(listing, roots, verbose);
    if !rows.is_empty() {
        let mut table = Table::new(&["skill", "listed", "why"]).state("listed").prose("why");
        let most = if verbose { rows.len() } else { ROWS };
        for [name, listed, why] in rows.iter().take(most) {
            table.row([name, listed, why]);
        }
        table.show(printer);
        if let Some(more) = rows.len().checked_sub(most).filter(|more| *more > 0) {
            printer.note(&format!("{more} more: `-v` shows all"));
        }
    }
    let mut least: Vec<_> =
        listing.skills.iter().filter(|skill| skill.state < ListedState::Contested).collect();
    least.retain(|skill| skill.uses.is_some());
    least.sort_by_key(|skill| skill.uses);
    if !least.is_empty() {
        let uses = |skill: &&ListedView| match skill.uses {
            Some(0) | None => format!("{} (never)", quoted(&[&skill.name])),
            Some(uses) => format!("{} ({})", quoted(&[&skill.name]), count(uses, "use")),
        };
        let most = if verbose { least.len() } else { TOLD };
        let told: Vec<_> = least.iter().take(most).map(uses).collect();
        printer.note(&format!("used least, by its sessions: {}", and(&told)));
    }
    if listing.is_over() {
        // What the agent cuts anyway would free nothing.
        let takes = |skill: &&ListedView| match skill.state {
            ListedState::Cut => skill.lacks_room,
            state => state <= ListedState::NameOnly,
        };
        let longest: Vec<_> = listing.skills.iter().filter(takes).collect();
        let gain = |skill: &&ListedView| {
            let over = skill.characters.checked_sub(SHORT).filter(|over| *over > 0)?;
            let gained = skill.size * over as u64 / skill.characters as u64;
            Some((gained, quoted(&[&skill.name])))
        };
        let told = |(at, (gained, name))| match at {
            0 => format!("{gained} {} of {name}", unit(listing.unit)),
            _ => format!("{gained} of {name}"),
        };
        let mut gains: Vec<_> = longest.iter().filter_map(gain).collect();
        gains.sort_by_key(|(gained, _)| std::cmp::Reverse(*gained));
        let gains: Vec<_> = gains.into_iter().take(TOLD).enumerate().map(told).collect();
        if !gains.is_empty() {
            printer.note(&format!("shortening to {SHORT} characters would free: {}", and(&gains)));
        }
    }
    if verbose {
        let pair = |names: &[String; 2], percent| {
            format!("{} and {} ({percent} %)", quoted(&names[..1]), quoted(&names[1..]))
        };
        let pairs = listing.alike.iter().take(TOLD).map(|alike| pair(&alike.names, alike.percent));
        let pairs: Vec<_> = pairs.collect();
        if !pairs.is_empty() {
            printer.note(&format!(
                "descriptions that share words, so that one may be taken for the other: {}",
                and(&pairs)
            ));
        }
        if !listing.unread.is_empty() && !listing.settings.is_empty() {
            printer.note(&format!("settings that are not read: {}", listing.unread.join("; ")));
        }
        listing.notes.iter().for_each(|text| printer.note(text));
    }
}

/// Returns name, extent and reason of what is not listed whole: what is not listed at all first, for people look for that.
/// One setting that is about many skills has one row, and so has a name with several files of which any may be listed.
fn rows(listing: &ListingView, roots: &Roots, verbose: bool) -> Vec<[String; 3]> {
    let is_told = |skill: &&ListedView| match skill.state {
        ListedState::Whole => false,
        ListedState::Uncertain => verbose,
        _ => true,
    };
    let mut told: Vec<_> = listing.skills.iter().filter(is_told).collect();
    told.sort_by_key(|skill| (skill.state < ListedState::Contested, skill.state));
    let mut seen = BTreeSet::new();
    let mut rows = Vec::new();
    for skill in &told {
        let is_same = |other: &&&ListedView| match (skill.state, &skill.by) {
            (ListedState::Contested, _) => other.state == skill.state && other.name == skill.name,
            (_, Some(by)) => {
                (other.state, other.by.as_ref(), &other.why) == (skill.state, Some(by), &skill.why)
            }
            (ListedState::NameOnly, None) if skill.why.is_some() => {
                (other.state, &other.why) == (skill.state, &skill.why)
            }
            _ => std::ptr::eq(**other, *skill),
        };
        let same: Vec<_> = told.iter().filter(is_same).collect();
        if same.first().is_some_and(|first| !std::ptr::eq(**first, *skill)) {
            continue;
        }
        if skill.state == ListedState::Contested || same.len() == 1 {
            rows.push([one_line(&skill.name), word(skill), why(skill, roots)]);
            continue;
        }
        let names = same.iter().map(|skill| one_line(&skill.name)).filter(|name| seen.insert(name.clone()));
        let mut names: Vec<_> = names.collect();
        names.sort();
        let most = if verbose { names.len() } else { names.len().min(TOLD) };
        let more = names.len() - most;
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let reason = reason(skill, roots);
        rows.push([
            count(same.len(), "skill"),
            word(skill),
            format!("{reason}: {}{more}", names[..most].join(", ")),
        ]);
    }
    rows
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
        Evidence::Source => "from its source",
        Evidence::Documented => "from its documentation",
        Evidence::Described => "as others describe it",
    }
}

/// Says in a sentence how much of a skill is listed.
pub(super) fn sentence(skill: &ListedView, roots: &Roots) -> String {
    let why = why(skill, roots);
    match skill.state {
        ListedState::Whole => "its model sees it whole".to_owned(),
        ListedState::Cut => format!("its model sees {} characters of its description: {why}", word(skill)),
        ListedState::Uncertain => format!("its model may see only its name: {why}"),
        ListedState::NameOnly => format!("its model sees only its name: {why}"),
        ListedState::Contested => format!("its model may see another one: {why}"),
        _ => format!("its model does not see it: {why}"),
    }
}

fn word(skill: &ListedView) -> String {
    match skill.state {
        ListedState::Whole => "whole".to_owned(),
        ListedState::Cut => format!("{} of {}", skill.kept.unwrap_or_default(), skill.characters),
        ListedState::Uncertain => "whole or by name".to_owned(),
        ListedState::NameOnly => "by name".to_owned(),
        ListedState::Contested => "in doubt".to_owned(),
        ListedState::Omitted | ListedState::Hidden | ListedState::Shadowed | ListedState::NotLoaded => {
            "no".to_owned()
        }
    }
}

/// Returns why a skill is not listed whole, and where it is.
fn why(skill: &ListedView, roots: &Roots) -> String {
    let place = |file: &String| {
        short_path(
            roots,
            file.strip_suffix("SKILL.md").map_or(file.as_str(), |dir| dir.trim_end_matches(['/', '\\'])),
        )
    };
    let (own, others) = (place(&skill.file), skill.others.iter().map(place).collect::<Vec<_>>());
    match skill.state {
        ListedState::Shadowed => format!("{own}: {} wins", and(&others)),
        ListedState::Contested => {
            let files: Vec<_> = std::iter::once(own).chain(others).collect();
            format!("{}: which one differs from start to start", files.join(" or "))
        }
        ListedState::Uncertain => format!("{own}: no room for all, and the least used go first"),
        _ => format!("{own}: {}", reason(skill, roots)),
    }
}

/// Returns the reason in words, with short paths.
fn reason(skill: &ListedView, roots: &Roots) -> String {
    let why = skill.why.as_deref().unwrap_or_default();
    let why = skill
        .by
        .as_ref()
        .map_or_else(|| why.to_owned(), |file| why.replace(file.as_str(), &short_path(roots, file)));
    one_line(&why)
}
