//! `undo`.

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::{App, exit, render};
use crate::error::Result;
use crate::ops::undo::{UndoRequest, forget, undo};

// Arguments of `undo`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct UndoArgs {
    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// show what would be done, do nothing
    #[arg(long)]
    dry_run: bool,

    /// also undo what you changed since; the store keeps your copy
    #[arg(short, long, conflicts_with = "forget")]
    force: bool,

    /// undo nothing: forget the last change, so that it can no longer be undone
    #[arg(long)]
    forget: bool,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &UndoArgs) -> Result<u8> {
    let request = UndoRequest { scope: scope(&args.scope), dry_run: args.dry_run, force: args.force };
    if args.forget {
        let outcome = forget(&app.context, &request)?;
        if args.json {
            render::undo::forgotten_json(&app.printer, outcome, args.dry_run);
        } else {
            render::undo::forgotten(&app.printer, outcome, args.dry_run);
        }
        return Ok(exit::SUCCESS);
    }
    let outcome = undo(&app.context, &request)?;
    if args.json {
        render::undo::json(&app.printer, &outcome);
    } else {
        render::undo::show(&app.printer, &outcome);
    }
    Ok(exit::SUCCESS)
}
