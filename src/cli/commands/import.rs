//! `import`.

use std::path::PathBuf;

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::{App, exit, render};
use crate::error::Result;
use crate::ops::import::{ImportRequest, import};

/// Arguments of `import`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ImportArgs {
    /// a `skills-lock.json` or `.skill-lock.json` [default: everything that other tools left in the
    /// scope: their lockfiles, and directories of skills]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Where.
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,

    /// show what would be adopted, do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// print the outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn run(app: &App, args: &ImportArgs) -> Result<u8> {
    let request = ImportRequest { file: args.file.clone(), scope: scope(&args.scope), dry_run: args.dry_run };
    let outcome = import(&app.context, &request)?;
    if args.json {
        render::import::json(&app.printer, &outcome);
    } else {
        render::import::show(&app.printer, &outcome);
    }
    Ok(if outcome.has_findings() { exit::FINDINGS } else { exit::SUCCESS })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_help_page() {
        insta::assert_snapshot!(crate::cli::help::testing::page("import"));
    }
}
