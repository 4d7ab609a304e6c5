//! `update`.

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::{App, exit, render};
use crate::error::{Error, Result};
use crate::merge::Prefer;
use crate::ops::update::{Allow, Prepared, UpdateOutcome, UpdateRequest, prepare};

// Arguments of `update`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct UpdateArgs {
    /// the names under which the skills are installed [default: all of the scope]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// go past the tag or commit that the manifest names, and write the new one into it
    #[arg(long)]
    latest: bool,

    /// let these skills bring new commands, addresses, scripts, hooks, tools or hidden text without
    /// a question; all skills where none is named
    #[arg(long, value_name = "NAME", num_args = 0.., require_equals = true, value_delimiter = ',')]
    allow_new_capabilities: Option<Vec<String>>,

    /// where both you and the new version changed the same, keep your file; ends an earlier merge too
    #[arg(long, conflicts_with = "theirs")]
    ours: bool,

    /// where both changed the same, take the file of the new version; ends an earlier merge too
    #[arg(long)]
    theirs: bool,

    /// take a merge with conflicts back: the skill as you had it, and what was locked before
    #[arg(long, conflicts_with_all = ["latest", "allow_new_capabilities", "ours", "theirs"])]
    abort: bool,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// show what would be done, do nothing
    #[arg(long)]
    dry_run: bool,

    /// replace what is in the way and cannot be merged, such as copies for agents that you edited; it
    /// is kept in the store
    #[arg(short, long)]
    force: bool,

    /// ask nothing; new capabilities still have to be allowed
    #[arg(short, long)]
    pub(crate) yes: bool,

    /// tell which lines of a policy decided
    #[arg(long)]
    explain: bool,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &UpdateArgs) -> Result<u8> {
    let request = request(args);
    let prepared = prepare(&app.context, &request)?;
    let outcome = if args.dry_run { prepared.plan()? } else { carry_out(app, prepared)? };
    match (args.json, args.dry_run) {
        (true, _) => render::update::json(&app.printer, &outcome),
        (false, true) => {
            render::update::plan(&app.printer, &outcome, true);
            render::update::dry_run(&app.printer, &outcome);
        }
        (false, false) => render::update::done(&app.printer, &outcome),
    }
    if args.explain {
        render::policy::explain(&app.printer, &outcome.decided);
    }
    Ok(exit::update(&outcome))
}

/// Shows what is about to change, asks a person if there is one, and does it.
fn carry_out(app: &App, prepared: Prepared<'_>) -> Result<UpdateOutcome> {
    if prepared.is_empty() {
        return prepared.apply(false);
    }
    // Standard output is for what was done.
    render::update::plan(&app.printer, &prepared.plan()?, false);
    let new = prepared.new_versions();
    let question =
        if new == 1 { "update this skill?".to_owned() } else { format!("update these {new} skills?") };
    // What ends an earlier merge was asked for by a flag of its own.
    let answer = if new == 0 { None } else { app.context.interact.confirm(&question) };
    if answer == Some(false) {
        return Err(Error::usage("nothing was changed: the answer was no")
            .hint("`skillpm update NAME` updates only the skills that it names"));
    }
    prepared.apply(answer.is_some())
}

fn request(args: &UpdateArgs) -> UpdateRequest {
    let allow = match &args.allow_new_capabilities {
        None => Allow::None,
        Some(names) if names.is_empty() => Allow::All,
        Some(names) => Allow::Only(names.clone()),
    };
    let prefer = match (args.ours, args.theirs) {
        (true, _) => Some(Prefer::Ours),
        (_, true) => Some(Prefer::Theirs),
        _ => None,
    };
    UpdateRequest {
        names: args.names.clone(),
        scope: scope(&args.scope),
        latest: args.latest,
        allow,
        prefer,
        abort: args.abort,
        force: args.force,
        dry_run: args.dry_run,
    }
}
