//! `import`.

use std::path::PathBuf;

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::{App, exit, render};
use crate::error::Result;
use crate::ops::import::{ImportRequest, import};

// Arguments of `import`.
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
        insta::assert_snapshot!(crate::cli::help::testing::page("import"), @"
        take over what other tools installed

        Usage: skillpm import [OPTIONS] [FILE]

        Arguments:
          [FILE]  a `skills-lock.json` or `.skill-lock.json` [default: everything that other tools left in
                  the scope: their lockfiles, and directories of skills]

        Options:
              --scope <SCOPE>  `project`: the project around the working directory; `user`: your own skills,
                               in every project [default: project; both where nothing is changed]
          -g, --global         short for `--scope user`
          -p, --project        short for `--scope project`
              --dry-run        show what would be adopted, do nothing
              --json           print the outcome as JSON

        Options of all commands:
              --offline       use no network: only what is in the store and on this machine
              --color <WHEN>  when to use colours: `auto` (on terminals, unless `NO_COLOR` is set), `always`
                              or `never` [default: auto]
          -q, --quiet         print only warnings and errors
          -v, --verbose       say every request and what else helps to find a reason
          -h, --help          show this help; `-h` leaves the examples out

        Examples:
          skillpm import                       what other tools left in the project
          skillpm import -g                    the same for your own skills
          skillpm import --dry-run             what would be adopted, and what not

        Docs: https://github.com/skillpm/skillpm/blob/main/docs/reference/cli.md#import
        ");
    }
}
