//! `remove`.

use super::scope;
use crate::cli::args::RemoveArgs;
use crate::cli::{App, exit, render};
use crate::error::Result;
use crate::ops::remove::{RemoveRequest, remove};

pub(super) fn run(app: &App, args: &RemoveArgs) -> Result<u8> {
    let request = RemoveRequest {
        names: args.names.clone(),
        scope: scope(&args.scope),
        dry_run: args.dry_run,
        force: args.force,
    };
    let outcome = remove(&app.context, &request)?;
    if args.json {
        app.printer.json(&outcome);
    } else {
        render::remove::show(&app.printer, &outcome);
    }
    Ok(exit::SUCCESS)
}
