//! `import`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::several::or_all;
use crate::cli::{App, exit, render};
use skillpm_core::ops::import::{ImportRequest, import};
use skillpm_format::advice::Verb;
use skillpm_sources::error::{Error, Result};

pub(super) const EXAMPLES: &str = after!("import",
    "skillpm import                       what other tools left in the project"
    "skillpm import -g                    the same for your own skills"
    "skillpm import my-skill              a hand-written skill there, as your own"
    "skillpm import --dry-run             what would be adopted, and what not"
);

// Arguments of `import`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ImportArgs {
    /// a `skills-lock.json` or `.skill-lock.json`, or hand-written skills where agents look
    ///
    /// the skills are named by name or directory, and move to `skills/` [default: everything that other tools left in the
    /// scope: their lockfiles, and directories of skills]
    #[arg(value_name = "FILE|SKILL")]
    pub(crate) what: Vec<String>,

    /// Where.
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,

    /// show what would be adopted, do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// do not ask: it never does
    #[arg(short, long)]
    pub(crate) yes: bool,

    /// print the outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn run(app: &App, args: &ImportArgs) -> Result<u8> {
    run_here(app, args)
        .map_err(|error| super::or_elsewhere(error, Verb::Import.call().words(&args.what), &args.scope))
}

fn run_here(app: &App, args: &ImportArgs) -> Result<u8> {
    let outcome = import(&app.context, &request(args)?)?;
    if args.json {
        render::import::json(&app.printer, &outcome);
    } else {
        render::import::show(&app.printer, &outcome);
    }
    Ok(if outcome.has_findings() { exit::FINDINGS } else { exit::SUCCESS })
}

/// Converts the arguments. An extension distinguishes a file from a skill: the name of a skill has no dot.
fn request(args: &ImportArgs) -> Result<ImportRequest> {
    let is_file = |what: &&String| Path::new(what).extension().is_some_and(|end| end == "json");
    let what = or_all(&args.what);
    let files: Vec<_> = what.iter().filter(is_file).collect();
    let file = match &files[..] {
        [] => None,
        [file] if what.len() == 1 => Some(PathBuf::from(file)),
        _ => {
            return Err(Error::usage("a lockfile of another tool is imported alone")
                .hint("run the command once for each file, and once for the skills"));
        }
    };
    let skills = if file.is_some() { Vec::new() } else { what };
    Ok(ImportRequest { file, skills, scope: scope(&args.scope), dry_run: args.dry_run })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_help_page() {
        insta::assert_snapshot!(crate::cli::help::testing::page("import"), @"
        take over what other tools installed

        Usage: skillpm import [OPTIONS] [FILE|SKILL]...

        Arguments:
          [FILE|SKILL]...  a `skills-lock.json` or `.skill-lock.json`, or hand-written skills where agents
                           look; the skills are named by name or directory, and move to `skills/` [default:
                           everything that other tools left in the scope: their lockfiles, and directories
                           of skills]

        Options:
              --scope <SCOPE>  `project`: the project around the working directory; `user`: your own skills,
                               in every project [default: project; both where nothing is changed]
          -g, --global         your own skills, in every project: short for `--scope user`
          -p, --project        this project's skills: short for `--scope project`
              --dry-run        show what would be adopted, do nothing
          -y, --yes            do not ask: it never does
              --json           print the outcome as JSON

        Options of all commands:
              --offline       use no network: only what is in the store and on this machine
              --color <WHEN>  when to use colours: `auto` (on terminals, unless `NO_COLOR` is set), `always`
                              or `never` [default: auto]
          -q, --quiet         print only warnings and errors
          -v, --verbose       say every request and what else helps to find a reason
          -h, --help          show this page; `-h` shows a short one

        Examples:
          skillpm import                       what other tools left in the project
          skillpm import -g                    the same for your own skills
          skillpm import my-skill              a hand-written skill there, as your own
          skillpm import --dry-run             what would be adopted, and what not

        Docs: https://github.com/skillpm/skillpm/blob/main/docs/reference/cli/import.md
        ");
    }
}
