//! `create`.

use crate::cli::args::CreateArgs;
use crate::cli::{App, exit, render};
use crate::error::Result;
use crate::ops::create::{CreateRequest, create};

pub(super) fn run(app: &App, args: &CreateArgs) -> Result<u8> {
    let request = CreateRequest {
        name: args.name.clone(),
        description: args.description.clone(),
        parent: args.path.clone(),
    };
    let outcome = create(&app.context, &request)?;
    render::create::show(&app.printer, &outcome, &app.context.settings.cwd);
    Ok(exit::SUCCESS)
}
