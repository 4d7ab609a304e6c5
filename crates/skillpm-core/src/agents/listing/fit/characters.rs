//! Claude Code's way to fit: all names stay, and descriptions are whole or left out.
//!
//! Two independent descriptions of the program agree on it; the vendor documents the part of the window, that names stay,
//! and that the descriptions of the least used skills go first. How use is counted is unknown, so the number of descriptions
//! that are left out is told, and not their names.

use std::ops::RangeInclusive;

use super::Fitted;
use super::form::{self, Line};
use crate::agents::listing::{Candidate, State};
use crate::agents::rules::{Owner, Rules};

pub(super) fn fit(rules: &Rules, listed: &[Candidate], lines: &[Line], budget: u64) -> Fitted {
    let size = |line: &Line, state: &State| length(&line.with(rules.form, line.shown(state)));
    let mut states: Vec<State> = lines.iter().map(|line| line.most.clone()).collect();
    let sizes: Vec<u64> = lines.iter().map(|line| size(line, &line.most)).collect();
    let bare: Vec<u64> = lines.iter().map(|line| size(line, &State::NameOnly)).collect();
    let line_ends = (lines.len() as u64).saturating_sub(1);
    let whole = sizes.iter().sum::<u64>() + line_ends;
    let mut lacking = 0..=0;
    if whole > budget {
        // What comes with the agent is always whole.
        let is_fixed = |at: usize| listed[at].found.owner == Owner::BuiltIn;
        let least: u64 = (0..lines.len()).map(|at| if is_fixed(at) { sizes[at] } else { bare[at] }).sum();
        let room = budget.saturating_sub(least + line_ends);
        let more = |at: usize| if is_fixed(at) { 0 } else { sizes[at] - bare[at] };
        (0..lines.len()).filter(|at| more(*at) > room).for_each(|at| states[at] = State::NameOnly);
        let mut fitting: Vec<u64> =
            (0..lines.len()).map(more).filter(|more| (1..=room).contains(more)).collect();
        fitting.sort_unstable();
        lacking = left_out(&fitting, room);
        if *lacking.end() > 0 {
            let in_doubt = (0..lines.len()).filter(|at| (1..=room).contains(&more(*at)));
            in_doubt.for_each(|at| states[at] = State::Uncertain);
        }
    }
    let used = lines.iter().zip(&states).map(|(line, state)| size(line, state)).sum::<u64>() + line_ends;
    let used = (*lacking.end() == 0).then_some(used);
    let text = form::text(rules.form, lines, &states);
    let (whole, budget) = (Some(whole), Some(budget));
    Fitted { states, sizes, used, whole, lacking, budget, text, ..Fitted::default() }
}

/// Returns how many of the descriptions of these sizes, sorted, do not fit into `room`: the least and the most. The agent
/// takes them in an unknown order, each that fits into what is left.
fn left_out(sizes: &[u64], room: u64) -> RangeInclusive<usize> {
    let fill = |sizes: &mut dyn Iterator<Item = &u64>, room: u64| {
        let mut sum = 0;
        sizes
            .take_while(|size| {
                sum += **size;
                sum <= room
            })
            .count()
    };
    let most = fill(&mut sizes.iter(), room);
    if most == sizes.len() {
        return 0..=0;
    }
    // Where one does not fit any more, less room is left than the largest takes.
    let filled = room - sizes.last().copied().unwrap_or_default();
    let least = fill(&mut sizes.iter().rev(), filled) + 1;
    sizes.len() - most..=sizes.len() - least.min(most)
}

/// Returns the length of a text as JavaScript counts it.
pub(super) fn length(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}
