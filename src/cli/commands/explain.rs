//! `explain`.

use clap::Args;

use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::explain::{ExplainRequest, explain};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("explain",
    "skillpm explain name-directory     one rule, with an example"
    "skillpm explain                    all rules, a line each"
);

// Arguments of `explain`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExplainArgs {
    /// the rule, as findings name it [default: a list of all]
    #[arg(value_name = "RULE")]
    rule: Option<String>,

    /// print the rules as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &ExplainArgs) -> Result<u8> {
    let rules = explain(&ExplainRequest { rule: args.rule.clone() })?;
    match &rules[..] {
        rules if args.json => render::explain::json(&app.printer, rules),
        [rule] => render::explain::one(&app.printer, rule),
        rules => render::explain::list(&app.printer, rules),
    }
    Ok(exit::SUCCESS)
}
