//! `undo`.

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::kept::{RestoreRequest, kept, restore};
use skillpm_core::ops::undo::{UndoRequest, forget, undo};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("undo",
    "skillpm undo               undo the last change; again to redo it"
    "skillpm undo -g --dry-run     what would be done for your own skills"
    "skillpm undo --forget         free the space that the record of the last change takes"
);

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
    #[arg(hide_short_help = true)]
    forget: bool,

    /// list the copies of edited skills that are kept: the name, when and why
    #[arg(long, conflicts_with_all = ["dry_run", "force", "forget", "scope", "global", "project"])]
    list: bool,

    /// bring a copy that is kept back instead of the installed skill: its name, or `NAME@DIGITS` for one of several
    #[arg(long, value_name = "NAME", conflicts_with_all = ["force", "forget", "list"])]
    restore: Option<String>,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &UndoArgs) -> Result<u8> {
    if args.list {
        let copies = kept(&app.context)?;
        if args.json {
            render::kept::json(&app.printer, &copies);
        } else {
            render::kept::list(&app.printer, &copies);
        }
        return Ok(exit::SUCCESS);
    }
    if let Some(name) = &args.restore {
        let request = RestoreRequest { name: name.clone(), scope: scope(&args.scope), dry_run: args.dry_run };
        let outcome = restore(&app.context, &request)?;
        if args.json {
            app.printer.json(&outcome);
        } else {
            render::kept::restored(&app.printer, &outcome);
        }
        return Ok(exit::SUCCESS);
    }
    let request = UndoRequest { scope: scope(&args.scope), dry_run: args.dry_run, force: args.force };
    if args.forget {
        let outcome = forget(&app.context, &request)?;
        if args.json {
            app.printer.json(&outcome);
        } else {
            render::undo::forgotten(&app.printer, outcome);
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
