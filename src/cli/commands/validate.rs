//! `validate`.

use crate::cli::args::ValidateArgs;
use crate::cli::{App, exit, render};
use crate::error::Result;
use crate::ops::validate::{ValidateRequest, validate};

pub(super) fn run(app: &App, args: &ValidateArgs) -> Result<u8> {
    let outcome = validate(&app.context, &ValidateRequest { paths: args.paths.clone() })?;
    render::validate::show(&app.printer, &outcome);
    Ok(exit::validate(&outcome, args.strict))
}
