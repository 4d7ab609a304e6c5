//! `audit`.

use clap::{Args, ValueEnum};

use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::audit::{AuditRequest, audit};
use skillpm_core::trust::audit::EventKind;
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("audit",
    "skillpm audit                      what happened last"
    "skillpm audit pdf --event run      the scripts of one skill that ran"
    "skillpm audit -n 1000 --json       for programs"
);

// Arguments of `audit`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AuditArgs {
    /// only what happened to the skill with this name
    #[arg(value_name = "NAME")]
    skill: Option<String>,

    /// how many of the last lines
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 20)]
    last: usize,

    /// only one kind of line: `activation`, `run` or `refused`
    #[arg(long, value_name = "KIND", value_enum, hide_possible_values = true)]
    event: Option<EventArg>,

    /// print the lines as JSON
    #[arg(long)]
    json: bool,
}

/// A kind of line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum EventArg {
    Activation,
    Run,
    Refused,
}

pub(super) fn run(app: &App, args: &AuditArgs) -> Result<u8> {
    let event = args.event.map(|event| match event {
        EventArg::Activation => EventKind::Activation,
        EventArg::Run => EventKind::Run,
        EventArg::Refused => EventKind::Refused,
    });
    let outcome = audit(&app.context, &AuditRequest { last: args.last, skill: args.skill.clone(), event })?;
    if args.json {
        app.printer.json(&outcome);
    } else {
        render::audit::show(&app.printer, &outcome);
    }
    Ok(exit::SUCCESS)
}
