//! `publish`.

use std::path::PathBuf;

use clap::Args;

use super::validate::RuleArgs;
use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::pack::examine;
use skillpm_core::ops::publish::{PublishRequest, publish};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("publish",
    "skillpm publish --to ../registry --dry-run       show each file that would go out"
    "skillpm publish skills/pdf --to ../registry      publish a version of the skill"
    "skillpm publish skills/pdf --to github           as a release of the repository on GitHub"
    "skillpm publish --to oci://ghcr.io/acme/pdf      as an artifact in an OCI registry"
);

// Arguments of `publish`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct PublishArgs {
    /// the skill's directory, or its `SKILL.md`
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,

    /// the registry, or `github` for a release on GitHub
    ///
    /// a registry's directory, its address or its name in `[registries]`; `oci://HOST/NAME` for a repository of an OCI
    /// registry; `github` for the repository of the remote `origin`, `github:OWNER/REPO` for another one
    #[arg(long, value_name = "TARGET")]
    to: String,

    /// the tag in an OCI registry [default: the version], or of a release on GitHub [default: `vVERSION`, or `NAME-vVERSION` if the repository has other skills]
    #[arg(long, value_name = "TAG")]
    #[arg(hide_short_help = true)]
    tag: Option<String>,

    /// publish files that git has not committed
    #[arg(long)]
    allow_dirty: bool,

    /// publish files that may hold secrets, by their name or a key in their text, without asking
    #[arg(long)]
    allow_secrets: bool,

    /// show each file that would be published, publish nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    rules: RuleArgs,

    /// print the outcome as JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(app: &App, args: &PublishArgs) -> Result<u8> {
    let examined = examine(&app.context, &args.dir, &args.rules.options()?)?;
    if examined.is_refused() {
        render::pack::refused(&app.printer, "published", examined.findings(), &args.dir, args.json);
        return Ok(exit::FINDINGS);
    }
    let request = PublishRequest {
        to: args.to.clone(),
        tag: args.tag.clone(),
        allow_dirty: args.allow_dirty,
        allow_secrets: args.allow_secrets,
        dry_run: args.dry_run,
    };
    let outcome = publish(&app.context, examined, &request)?;
    if args.json {
        app.printer.json(&outcome);
    } else {
        render::publish::show(&app.printer, &outcome);
    }
    Ok(exit::SUCCESS)
}
