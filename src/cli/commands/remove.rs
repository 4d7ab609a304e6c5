//! `remove`.

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::{App, exit, render, several};
use skillpm_core::hints;
use skillpm_core::ops::remove::{ALL, RemoveRequest, removable, remove};
use skillpm_format::scope_kind::ScopeKind;
use skillpm_sources::error::{Error, ErrorKind, Result};

pub(super) const EXAMPLES: &str = after!("remove",
    "skillpm remove pdf               from the project"
    "skillpm remove pdf docx -g       two of yours"
    "skillpm remove --all --yes       everything, without a question"
    "skillpm remove pdf --dry-run     what would be removed"
);

// Arguments of `remove`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct RemoveArgs {
    /// the names of the installed skills; `'*'` is all of them [default: a person picks]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// the name of an installed skill too, as for `install`; can be repeated
    #[arg(short, long = "skill", value_name = "NAME", hide_short_help = true)]
    skills: Vec<String>,

    /// remove all skills of the scope
    #[arg(long, conflicts_with_all = ["names", "skills"])]
    all: bool,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// show what would be removed, do nothing
    #[arg(long)]
    dry_run: bool,

    /// also remove skills that you edited; the edited copy is kept in the store
    #[arg(short, long)]
    force: bool,

    /// do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &RemoveArgs) -> Result<u8> {
    let scope = scope(&args.scope);
    let mut names: Vec<String> = args.names.iter().chain(&several::listed(&args.skills)).cloned().collect();
    if args.all {
        names = vec![ALL.to_owned()];
    } else if names.is_empty() {
        names = pick(app, scope)?;
    }
    let request = RemoveRequest { names, scope, dry_run: args.dry_run, force: args.force };
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
