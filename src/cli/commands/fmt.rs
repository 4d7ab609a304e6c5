//! `fmt`.

use crate::cli::args::FmtArgs;
use crate::cli::{App, exit, render};
use crate::error::Result;
use crate::ops::fmt::{FmtRequest, fmt};

pub(super) fn run(app: &App, args: &FmtArgs) -> Result<u8> {
    let dry_run = args.check || args.diff;
    let request = FmtRequest { targets: super::targets(&args.paths, None)?, dry_run };
    let outcome = fmt(&app.context, &request)?;
    // Where only the verdict or the difference is wanted, no text is passed on.
    for text in outcome.files.iter().filter_map(|file| file.text.as_deref()).filter(|_| !dry_run) {
        app.printer.content(text);
    }
    render::fmt::show(&app.printer, &outcome, args.check, args.diff);
    Ok(exit::fmt(&outcome, args.check))
}
