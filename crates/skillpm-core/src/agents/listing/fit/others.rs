//! The ways to fit of all other agents, as their sources have them.

use super::characters::length;
use super::form::{self, Line};
use super::{Fitted, Unit};
use crate::agents::listing::{Candidate, State};
use crate::agents::rules::{Budget, Form, Rules};

/// The longest description in OpenClaw's shorter form, in characters, and the shortest.
const COMPACT: std::ops::RangeInclusive<usize> = 4..=220;

pub(super) fn fit(rules: &Rules, listed: &[Candidate], lines: &[Line]) -> Fitted {
    let is_counted = !matches!(rules.form, Form::Described(_) | Form::Unknown);
    let size = |line: &Line, state: &State| match state {
        State::Omitted => 0,
        _ if !is_counted => 0,
        state => length(&line.with(rules.form, line.shown(state))) + 1,
    };
    let mut states: Vec<State> = lines.iter().map(|line| line.most.clone()).collect();
    let mut sizes: Vec<u64> = lines.iter().map(|line| size(line, &line.most)).collect();
    let sum = |states: &[State]| lines.iter().zip(states).map(|(line, state)| size(line, state)).sum::<u64>();
    let (mut unit, mut budget) = (Unit::Characters, None);
    let mut used = None;
    match rules.budget {
        Budget::FirstLines { characters } => {
            budget = Some(characters as u64);
            if sum(&states) > characters as u64 {
                let own = listed.iter().map(|candidate| &candidate.texts.description);
                for ((line, state), own) in lines.iter().zip(&mut states).zip(own) {
                    let first = own.lines().next().unwrap_or_default();
                    if *state != State::NameOnly && first.len() < line.description.len() {
                        *state = State::Cut(first.chars().count());
                    }
                }
            }
        }
        Budget::Prefix { bytes } => {
            (unit, budget) = (Unit::Bytes, Some(bytes as u64));
            let bytes_of =
                |(candidate, line): (&Candidate, &Line)| candidate.name.len() + line.description.len();
            sizes = listed.iter().zip(lines).map(|pair| bytes_of(pair) as u64).collect();
            let mut room = bytes as u64;
            let end = sizes.iter().position(|size| room.checked_sub(*size).map(|left| room = left).is_none());
            states[end.unwrap_or(lines.len())..].fill(State::Omitted);
            used = Some(bytes as u64 - room);
        }
        Budget::Whole { skills, characters } => {
            budget = Some(characters as u64);
            states.iter_mut().skip(skills).for_each(|state| *state = State::Omitted);
            compact(lines, characters as u64, &mut states, &sum);
        }
        _ => {}
    }
    let used = used.or_else(|| is_counted.then(|| sum(&states)));
    let whole = used.map(|_| sizes.iter().sum());
    let text = form::text(rules.form, lines, &states);
    Fitted { states, sizes, used, whole, unit, budget, text, ..Fitted::default() }
}

/// Shortens all descriptions to the greatest length that fits into `budget`, then leaves skills out from the end.
fn compact(lines: &[Line], budget: u64, states: &mut [State], sum: &dyn Fn(&[State]) -> u64) {
    if sum(states) <= budget {
        return;
    }
    let shortened = |most: usize| -> Vec<State> {
        let shorten = |(line, state): (&Line, &State)| match state {
            State::Omitted => State::Omitted,
            state if line.description.chars().count() <= most => state.clone(),
            _ => State::Cut(most),
        };
        lines.iter().zip(states.iter()).map(shorten).collect()
    };
    let fitting = COMPACT.rev().map(shortened).find(|states| sum(states) <= budget);
    let mut shorter = fitting.unwrap_or_else(|| {
        let bare = |state: &State| if *state == State::Omitted { State::Omitted } else { State::NameOnly };
        states.iter().map(bare).collect()
    });
    for at in (0..shorter.len()).rev() {
        if sum(&shorter) <= budget {
            break;
        }
        shorter[at] = State::Omitted;
    }
    states.clone_from_slice(&shorter);
}
