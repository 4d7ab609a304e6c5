//! `explain`.

use crate::cli::args::ExplainArgs;
use crate::cli::{App, exit, render};
use crate::error::Result;
use crate::ops::explain::{ExplainRequest, explain};

pub(super) fn run(app: &App, args: &ExplainArgs) -> Result<u8> {
    let rules = explain(&ExplainRequest { rule: args.rule.clone() })?;
    match &rules[..] {
        rules if args.json => render::explain::json(&app.printer, rules),
        [rule] => render::explain::one(&app.printer, rule),
        rules => render::explain::list(&app.printer, rules),
    }
    Ok(exit::SUCCESS)
}
