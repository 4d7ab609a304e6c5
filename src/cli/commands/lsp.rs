//! `lsp`.

use clap::Args;
use skillpm_lsp::serve_stdio;

use crate::cli::App;
use crate::cli::help::after;
use crate::cli::printer::terminals;
use skillpm_sources::context::Context;
use skillpm_sources::error::{Error, Result};

pub(super) const EXAMPLES: &str = after!("lsp",
    "skillpm lsp             what an editor starts: it checks each `SKILL.md` while it is written"
    "skillpm lsp --stdio     the same, for editors that say how they speak"
);

// Arguments of `lsp`.
#[derive(Debug, Clone, Args)]
pub(crate) struct LspArgs {
    /// speak over standard input and output, as it does without this too
    #[arg(long)]
    stdio: bool,
}

pub(super) fn run(app: &App, _: &LspArgs) -> Result<u8> {
    if terminals().0 {
        app.printer.note("waiting for an editor: it starts this command and speaks with it; Ctrl-C ends it");
    }
    let context = Context::silent(app.context.settings.clone());
    serve_stdio(context).map_err(|error| Error::io("the connection to the editor broke").because(error))
}
