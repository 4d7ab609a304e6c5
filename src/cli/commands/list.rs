//! `list`.

use super::scope;
use crate::cli::args::ListArgs;
use crate::cli::{App, exit, render};
use crate::error::Result;
use crate::ops::list::{ListRequest, list};

pub(super) fn run(app: &App, args: &ListArgs) -> Result<u8> {
    let outcome = list(&app.context, &ListRequest { scope: scope(&args.scope) })?;
    if args.json {
        render::list::json(&app.printer, &outcome);
    } else {
        render::list::show(&app.printer, &outcome);
    }
    Ok(exit::SUCCESS)
}
