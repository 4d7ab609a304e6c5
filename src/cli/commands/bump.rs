//! `bump`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::bump::{BumpRequest, BumpTo, bump};
use skillpm_format::advice::{Verb, message};
use skillpm_format::version::{Bump, Version, VersionError};
use skillpm_sources::error::{Error, Result};

pub(super) const EXAMPLES: &str = after!("bump",
    "skillpm bump patch                      1.2.0 becomes 1.2.1: the skill in this directory"
    "skillpm bump minor skills/pdf           1.2.0 becomes 1.3.0"
    "skillpm bump 2.0.0-rc.1 --dry-run       show what would change"
);

// Arguments of `bump`.
#[derive(Debug, Clone, Args)]
pub(crate) struct BumpArgs {
    /// the part to raise, `patch`, `minor` or `major`, or the new version itself
    #[arg(value_name = "PART|VERSION")]
    to: String,

    /// the skill's directory, or its `SKILL.md`
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,

    /// write nothing, show what would change
    #[arg(long)]
    dry_run: bool,

    /// write a version that is lower than the one before, without a question
    #[arg(long, short = 'y')]
    yes: bool,

    /// print the old and the new version as JSON, with what changed
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &BumpArgs) -> Result<u8> {
    let request =
        BumpRequest { skill: args.dir.clone(), to: to(args)?, dry_run: args.dry_run, lower: args.yes };
    let outcome = bump(&app.context, &request)?;
    if args.json {
        app.printer.json(&outcome);
    } else {
        render::bump::show(&app.printer, &outcome);
    }
    Ok(exit::SUCCESS)
}

/// Returns what the skill's version is to become. Fails for what is neither a part nor a version; if the arguments are
/// swapped, the hint shows them in the right order.
fn to(args: &BumpArgs) -> Result<BumpTo> {
    read(&args.to).map_err(|error| {
        let dir = args.dir.to_string_lossy();
        let error = Error::usage(error.to_string());
        if read(&dir).is_ok() {
            error.hint(message!("the version comes first: ", Verb::Bump.call().word(&dir).word(&args.to)))
        } else {
            error.hint("name `patch`, `minor`, `major` or a version such as `1.2.0`")
        }
    })
}

fn read(text: &str) -> Result<BumpTo, VersionError> {
    Ok(match text {
        "major" => BumpTo::Next(Bump::Major),
        "minor" => BumpTo::Next(Bump::Minor),
        "patch" => BumpTo::Next(Bump::Patch),
        _ => BumpTo::Version(Version::new(text)?),
    })
}
