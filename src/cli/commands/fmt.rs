//! `fmt`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::fmt::{FmtRequest, fmt};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("fmt",
    "skillpm fmt                     the skills in this directory"
    "skillpm fmt skills --check      fail if one is not in canonical form"
    "skillpm fmt skills --diff       what would change"
);

// Arguments of `fmt`.
#[derive(Debug, Clone, Args)]
pub(crate) struct FmtArgs {
    /// directories of skills, `SKILL.md` files, directories to look for skills in, patterns such as
    /// `'skills/**/SKILL.md'`; `-` formats standard input to standard output
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,

    /// write nothing, fail if a file would change
    #[arg(long)]
    check: bool,

    /// write nothing, show what would change
    #[arg(long)]
    diff: bool,

    /// print the outcome as JSON, with what changed, and the canonical form of standard input
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &FmtArgs) -> Result<u8> {
    let dry_run = args.check || args.diff;
    let request = FmtRequest { targets: super::targets(&args.paths, None)?, dry_run };
    let outcome = fmt(&app.context, &request)?;
    if args.json {
        render::fmt::json(&app.printer, &outcome);
        return Ok(exit::fmt(&outcome, args.check));
    }
    // With `--check` or `--diff`, only the verdict or the difference is printed.
    for text in outcome.files.iter().filter_map(|file| file.text.as_deref()).filter(|_| !dry_run) {
        app.printer.content(text);
    }
    render::fmt::show(&app.printer, &outcome, args.check, args.diff);
    Ok(exit::fmt(&outcome, args.check))
}
