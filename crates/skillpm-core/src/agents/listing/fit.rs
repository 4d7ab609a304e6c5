//! How much of each skill an agent lists, and the text that it makes of them.

mod characters;
mod form;
mod others;
mod tokens;

use schemars::JsonSchema;
use serde::Serialize;

use self::form::Line;
use super::config::Config;
use super::{Asked, Candidate, State};
use crate::agents::rules::{Budget, Rules};

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
#[derive(Debug, Default)]
pub(super) struct Fitted {
    /// How much of each is listed.
    pub states: Vec<State>,
    /// What each takes when it is whole, in units.
    pub sizes: Vec<u64>,
    /// What is listed takes so much.
    pub used: u64,
    /// All would take so much.
    pub whole: u64,
    /// What is counted.
    pub unit: Unit,
    /// So much is allowed; `None` if there is no limit, or nobody knows it.
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
    match rules.budget {
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
