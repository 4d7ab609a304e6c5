//! How much of each skill an agent lists, and the text that it makes of them.

mod characters;
mod form;
mod others;
mod tokens;

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::Serialize;

use self::form::Line;
use super::config::Config;
use super::{Asked, Candidate, State, Why};
use crate::agents::rules::{Budget, Form, Rules};

/// What a budget counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Characters of the listing, as JavaScript counts them.
    #[default]
    Characters,
    /// Tokens, of which each line takes a quarter of its bytes.
    Tokens,
    /// Bytes of names and descriptions.
    Bytes,
}

/// How much of each skill is listed, what that takes, and the text.
#[derive(Debug)]
pub(super) struct Fitted {
    /// How much of each is listed.
    pub states: Vec<State>,
    /// Why no more of each is.
    pub whys: Vec<Option<Why>>,
    /// The line of each as it stands if the budget allows, in a form that is known to the byte.
    pub lines: Vec<Option<String>>,
    /// What each takes when it is whole, in units.
    pub sizes: Vec<u64>,
    /// What the listing holds, in units; `None` if that is unknown.
    pub used: Option<u64>,
    /// What it would hold if every description were whole, in units; `None` if that is unknown.
    pub whole: Option<u64>,
    /// The number of those whose whole descriptions do not fit: the least and the most.
    pub lacking: RangeInclusive<usize>,
    /// What is counted.
    pub unit: Unit,
    /// What the listing may hold, in units; `None` without a limit, or if it is unknown.
    pub budget: Option<u64>,
    /// The model's window in tokens, where the budget depends on it.
    pub window: Option<u64>,
    /// The listing; `None` if its form is not known to the byte.
    pub text: Option<String>,
}

/// Fits `listed`, in the order of the listing, into the budget of the agent.
pub(super) fn fit(rules: &Rules, asked: Asked<'_>, config: &Config, listed: &[Candidate]) -> Fitted {
    let lines: Vec<_> = listed.iter().map(|candidate| Line::new(rules, config, candidate)).collect();
    let window = |usual| asked.window.or(config.window).unwrap_or(usual);
    let fitted = match rules.budget {
        Budget::PartInCharacters { part, window: usual } => {
            let window = window(usual);
            let allowed = share(window, CHARACTERS_PER_TOKEN * config.part.unwrap_or(part));
            let budget = config.budget.unwrap_or(allowed).max(1);
            Fitted { window: Some(window), ..characters::fit(rules, listed, &lines, budget) }
        }
        Budget::PartInTokens { part, window: usual } => {
            let window = window(usual);
            let known = (window > 0).then(|| share(window, part));
            let allowed = config.budget.or(known);
            Fitted { window: Some(window), ..tokens::fit(listed, &lines, allowed) }
        }
        _ => others::fit(rules, listed, &lines),
    };
    let why = |(line, state): (&Line, &State)| match state {
        state if *state == line.most => line.why.clone(),
        State::Uncertain => None,
        _ => Some(Why::NoRoom),
    };
    let whys: Vec<_> = lines.iter().zip(&fitted.states).map(why).collect();
    let certain = whys.iter().filter(|why| **why == Some(Why::NoRoom)).count();
    let lacking = fitted.lacking.start() + certain..=fitted.lacking.end() + certain;
    let is_told = rules.is_exact && rules.form != Form::Aliased;
    let told = |line: &Line| is_told.then(|| line.with(rules.form, line.shown(&line.most)));
    Fitted { whys, lacking, lines: lines.iter().map(told).collect(), ..fitted }
}

impl Default for Fitted {
    fn default() -> Self {
        Self {
            states: Vec::new(),
            whys: Vec::new(),
            lines: Vec::new(),
            sizes: Vec::new(),
            used: None,
            whole: None,
            lacking: 0..=0,
            unit: Unit::default(),
            budget: None,
            window: None,
            text: None,
        }
    }
}

/// How many characters the agents count for a token.
const CHARACTERS_PER_TOKEN: f64 = 4.0;

/// Returns `part` of a window, rounded down.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the agents compute with doubles, and no window has as many tokens as these hold"
)]
fn share(window: u64, part: f64) -> u64 {
    (window as f64 * part) as u64
}
