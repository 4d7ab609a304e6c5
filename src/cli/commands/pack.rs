//! `pack`.

use std::path::PathBuf;

use clap::Args;

use super::validate::RuleArgs;
use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::pack::{PackRequest, examine, write};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("pack",
    "skillpm pack                         the skill in this directory, as `./NAME-VERSION.zip`"
    "skillpm pack skills/pdf --list       what would be in the package"
    "skillpm pack --out dist --sbom       into `dist`, with a bill of materials"
);

// Arguments of `pack`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct PackArgs {
    /// the skill's directory, or its `SKILL.md`
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,

    /// the file to write, or an existing directory for it [default: `./NAME-VERSION.zip`]
    #[arg(short, long, value_name = "PATH")]
    out: Option<PathBuf>,

    /// replace a file that has other content
    #[arg(long)]
    force: bool,

    /// also write a CycloneDX bill of materials beside it, `NAME-VERSION.cdx.json`
    #[arg(long)]
    sbom: bool,

    /// pack files that may hold secrets, by their name or a key in their text, without asking
    #[arg(long)]
    allow_secrets: bool,

    /// list what would be in the package, write nothing
    #[arg(long, conflicts_with_all = ["out", "force", "sbom"])]
    list: bool,

    #[command(flatten)]
    rules: RuleArgs,

    /// print the outcome as JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(app: &App, args: &PackArgs) -> Result<u8> {
    let examined = examine(&app.context, &args.dir, &args.rules.options()?)?;
    if examined.is_refused() {
        render::pack::refused(&app.printer, "packed", examined.findings(), &args.dir, args.json);
        return Ok(exit::FINDINGS);
    }
    let request = PackRequest {
        out: args.out.clone(),
        force: args.force,
        sbom: args.sbom,
        allow_secrets: args.allow_secrets,
        dry_run: args.list,
    };
    let outcome = write(&app.context, examined.pack()?, &request)?;
    if args.json {
        app.printer.json(&outcome);
    } else {
        render::pack::show(&app.printer, &outcome, &app.context.settings.cwd);
    }
    Ok(exit::SUCCESS)
}
