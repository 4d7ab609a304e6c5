//! `export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::export::{ExportRequest, Output, export};
use skillpm_sources::error::{Error, Result};

pub(super) const EXAMPLES: &str = after!("export",
    "skillpm export skills-lock                 write `skills-lock.json`"
    "skillpm export skills-lock --output -      print it"
);

// Arguments of `export`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportArgs {
    /// what to write: `skills-lock`, the lockfile of the npm tool `skills`
    #[arg(value_name = "FORMAT", value_enum, hide_possible_values = true)]
    pub(crate) format: ExportFormat,

    /// where to write it; `-` is standard output [default: `skills-lock.json` in the project's root]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// print what was written and what was left out as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A format of another tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// `skills-lock.json`.
    #[value(help = None::<&str>)]
    SkillsLock,
}

pub(super) fn run(app: &App, args: &ExportArgs) -> Result<u8> {
    let ExportFormat::SkillsLock = args.format;
    let output = match &args.output {
        None => Output::Project,
        Some(file) if file.as_os_str() == "-" => Output::Text,
        Some(file) => Output::File(file.clone()),
    };
    if output == Output::Text && args.json {
        return Err(Error::usage("`--json` and `--output -` would both print to standard output")
            .hint("leave one of them out"));
    }
    let outcome = export(&app.context, &ExportRequest { output })?;
    if args.json {
        render::export::json(&app.printer, &outcome);
    } else {
        render::export::show(&app.printer, &outcome);
    }
    Ok(if outcome.left_out.is_empty() { exit::SUCCESS } else { exit::FINDINGS })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_help_page() {
        insta::assert_snapshot!(crate::cli::help::testing::page("export"), @"
        write the lockfile of another tool

        Usage: skillpm export [OPTIONS] <FORMAT>

        Arguments:
          <FORMAT>  what to write: `skills-lock`, the lockfile of the npm tool `skills`

        Options:
          -o, --output <FILE>  where to write it; `-` is standard output [default: `skills-lock.json` in the
                               project's root]
              --json           print what was written and what was left out as JSON

        Options of all commands:
              --offline       use no network: only what is in the store and on this machine
              --color <WHEN>  when to use colours: `auto` (on terminals, unless `NO_COLOR` is set), `always`
                              or `never` [default: auto]
          -q, --quiet         print only warnings and errors
          -v, --verbose       say every request and what else helps to find a reason
          -h, --help          show this page; `-h` shows a short one

        Examples:
          skillpm export skills-lock                 write `skills-lock.json`
          skillpm export skills-lock --output -      print it

        Docs: https://github.com/skillpm/skillpm/blob/main/docs/reference/cli/export.md
        ");
    }
}
