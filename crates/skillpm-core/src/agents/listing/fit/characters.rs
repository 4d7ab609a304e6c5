//! Claude Code's way to fit: all names stay, and descriptions are whole or left out.
//!
//! Two independent descriptions of the program agree on it; the vendor documents the part of the window, that names stay,
//! and that the descriptions of the least used skills go first.

use super::form::{self, Line};
use super::{Fitted, Unit};
use crate::agents::listing::{Candidate, State};
use crate::agents::rules::{Owner, Rules};

pub(super) fn fit(rules: &Rules, listed: &[Candidate], lines: &[Line], budget: u64) -> Fitted {
    let size = |line: &Line, state: &State| length(&line.with(rules.form, line.shown(state)));
    let mut states: Vec<State> = lines.iter().map(|line| line.most.clone()).collect();
    let sizes: Vec<u64> = lines.iter().map(|line| size(line, &line.most)).collect();
    let bare: Vec<u64> = lines.iter().map(|line| size(line, &State::NameOnly)).collect();
    let line_ends = (lines.len() as u64).saturating_sub(1);
    let whole = sizes.iter().sum::<u64>() + line_ends;
    if whole > budget {
        // What comes with the agent is always whole.
        let is_fixed = |at: &usize| listed[*at].found.owner == Owner::BuiltIn;
        let least: u64 = (0..lines.len()).map(|at| if is_fixed(&at) { sizes[at] } else { bare[at] }).sum();
        let mut room = budget.saturating_sub(least + line_ends);
        for at in (0..lines.len()).filter(|at| !is_fixed(at)) {
            let more = sizes[at] - bare[at];
            if more <= room {
                room -= more;
            } else {
                states[at] = State::NameOnly;
            }
        }
    }
    let used = lines.iter().zip(&states).map(|(line, state)| size(line, state)).sum::<u64>() + line_ends;
    let text = form::text(rules.form, lines, &states);
    Fitted { states, sizes, used, whole, unit: Unit::Characters, budget: Some(budget), window: None, text }
}

/// Returns the length of a text as JavaScript counts it.
pub(super) fn length(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}
