//! `remove`.

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::hints;
use skillpm_core::ops::remove::{RemoveRequest, removable, remove};
use skillpm_format::scope_kind::ScopeKind;
use skillpm_sources::error::{Error, ErrorKind, Result};

pub(super) const EXAMPLES: &str = after!("remove",
    "skillpm remove pdf               from the project"
    "skillpm remove pdf docx -g       two of yours"
    "skillpm remove pdf --dry-run     what would be removed"
);

// Arguments of `remove`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RemoveArgs {
    /// the names of the installed skills; `'*'` is all of them [default: a person picks]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// show what would be removed, do nothing
    #[arg(long)]
    dry_run: bool,

    /// also remove skills that you edited; the edited copy is kept in the store
    #[arg(short, long)]
    force: bool,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &RemoveArgs) -> Result<u8> {
    let names = if args.names.is_empty() { pick(app, scope(&args.scope))? } else { args.names.clone() };
    let request =
        RemoveRequest { names, scope: scope(&args.scope), dry_run: args.dry_run, force: args.force };
    let outcome = remove(&app.context, &request)?;
    if args.json {
        app.printer.json(&outcome);
    } else {
        render::remove::show(&app.printer, &outcome);
    }
    Ok(exit::SUCCESS)
}

/// Lets the user pick skills.
fn pick(app: &App, scope: Option<ScopeKind>) -> Result<Vec<String>> {
    let items = removable(&app.context, scope)?;
    if items.is_empty() {
        return Err(Error::usage("no skills are installed here").hint(hints::installed_elsewhere()));
    }
    match app.context.interact.choose("which skills do you want to remove?", &items) {
        Some(picked) if picked.is_empty() => {
            Err(Error::new(ErrorKind::Findings, "nothing was changed: no skill was chosen"))
        }
        Some(picked) => Ok(picked.into_iter().filter_map(|at| Some(items.get(at)?.title.clone())).collect()),
        None => Err(Error::usage("name the skills to remove").hint(hints::name_what_goes())),
    }
}
