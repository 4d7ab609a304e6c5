//! `verify`.

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::several::or_all;
use crate::cli::{App, exit, render};
use skillpm_core::ops::verify::{VerifyRequest, verify};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("verify",
    "skillpm verify                 all skills, of the project and yours"
    "skillpm verify pdf docx -p     two of the project"
    "skillpm verify --strict        also refuse code that tools left in a skill"
    "skillpm verify --json          for programs"
);

// Arguments of `verify`.
#[derive(Debug, Clone, Args)]
pub(crate) struct VerifyArgs {
    /// the names of installed skills [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// also fail for code in the directory of a skill that is not part of it: compiled modules, installed packages
    #[arg(long)]
    strict: bool,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &VerifyArgs) -> Result<u8> {
    let request =
        VerifyRequest { names: or_all(&args.names), scope: scope(&args.scope), strict: args.strict };
    let outcome = verify(&app.context, &request)?;
    if args.json {
        render::verify::json(&app.printer, &outcome);
    } else {
        render::verify::show(&app.printer, &outcome);
    }
    Ok(if outcome.is_ok() { exit::SUCCESS } else { exit::INTEGRITY })
}
