//! `update`.

use clap::Args;

use super::install::allowed;
use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::several::or_all;
use crate::cli::{App, exit, render};
use skillpm_core::hints;
use skillpm_core::ops::update::{Prepared, UpdateOutcome, UpdateRequest, prepare};
use skillpm_format::advice::Warning;
use skillpm_format::merge::Prefer;
use skillpm_format::version::Version;
use skillpm_sources::error::{Error, ErrorKind, Result};

pub(super) const EXAMPLES: &str = after!("update",
    "skillpm update                    all skills of the project, as far as the manifest allows"
    "skillpm update pdf --latest       one skill, past the tag or commit that the manifest names"
    "skillpm update --dry-run          what would change, and what to look at before it does"
    "skillpm update pdf --abort        undo a merge with conflicts"
);

// Arguments of `update`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct UpdateArgs {
    /// the names of the installed skills [default: all of the scope]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// go past the tag or commit that the manifest names
    ///
    /// the new one is written into it
    #[arg(long)]
    #[arg(help_heading = "Versions")]
    latest: bool,

    /// accept new commands, addresses, scripts, hooks, tools or hidden text in these skills
    /// without asking; without names, in all skills
    #[arg(long, value_name = "NAME", num_args = 0.., require_equals = true, value_delimiter = ',')]
    #[arg(help_heading = "Versions", hide_short_help = true)]
    allow_new_capabilities: Option<Vec<String>>,

    /// where you and the new version changed a file, keep yours
    ///
    /// also resolves an earlier merge
    #[arg(long, conflicts_with = "theirs")]
    #[arg(help_heading = "Conflicts")]
    ours: bool,

    /// where you and the new version changed a file, take the new one
    ///
    /// also resolves an earlier merge
    #[arg(long)]
    #[arg(help_heading = "Conflicts")]
    theirs: bool,

    /// undo a merge with conflicts
    ///
    /// the skill is as you had it, and locked as before
    #[arg(long, conflicts_with_all = ["latest", "allow_new_capabilities", "ours", "theirs"])]
    #[arg(help_heading = "Conflicts")]
    abort: bool,

    /// leave the skills that others need as they are locked
    #[arg(long)]
    #[arg(help_heading = "Versions", hide_short_help = true)]
    no_deps: bool,

    /// the version that a skill of a registry is to have, higher or lower, as far as the manifest allows
    #[arg(long, value_name = "VERSION", requires = "names", conflicts_with = "latest")]
    #[arg(help_heading = "Versions", hide_short_help = true)]
    precise: Option<Version>,

    /// take the lowest versions from registries that fit, to test what a skill states
    #[arg(long, conflicts_with_all = ["latest", "precise"])]
    #[arg(help_heading = "Versions", hide_short_help = true)]
    minimal: bool,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// show what would be done, do nothing
    #[arg(long)]
    dry_run: bool,

    /// replace what is in the way and cannot be merged, such as agents' copies that you
    /// edited; the store keeps it
    #[arg(short, long)]
    #[arg(hide_short_help = true)]
    force: bool,

    /// do not ask; new capabilities must still be allowed
    #[arg(short, long)]
    pub(crate) yes: bool,

    /// show which policy lines decided
    #[arg(long)]
    #[arg(hide_short_help = true)]
    explain: bool,

    /// print the outcome as JSON
    #[arg(long)]
    #[arg(hide_short_help = true)]
    json: bool,
}

pub(super) fn run(app: &App, args: &UpdateArgs) -> Result<u8> {
    let request = request(args);
    let mut prepared = prepare(&app.context, &request)?;
    let (outcome, told) =
        if args.dry_run { (prepared.plan()?, Vec::new()) } else { carry_out(app, prepared)? };
    match (args.json, args.dry_run) {
        (true, _) => render::update::json(&app.printer, &outcome, &told),
        (false, true) => {
            render::update::plan(&app.printer, &outcome, true);
            render::update::dry_run(&app.printer, &outcome);
        }
        (false, false) => render::update::done(&app.printer, &outcome, &told),
    }
    if args.explain {
        render::policy::explain(&app.printer, &outcome.decided);
    }
    Ok(exit::update(&outcome))
}

/// Shows the planned changes, asks the user if possible, and makes them. Also returns the warnings that were
/// shown before.
fn carry_out(app: &App, mut prepared: Prepared<'_>) -> Result<(UpdateOutcome, Vec<Warning>)> {
    if prepared.is_empty() {
        return Ok((prepared.apply(false)?, Vec::new()));
    }
    // Standard output is for the changes that were made.
    let planned = prepared.plan()?;
    render::update::plan(&app.printer, &planned, false);
    let told = prepared.warnings().to_vec();
    app.printer.warnings(&told);
    let items = prepared.choices(&planned);
    let picked = match &items[..] {
        // Ending an earlier merge was requested by a flag of its own.
        [] if prepared.new_versions() == 0 => None,
        // A skill that comes because others need it is not a choice of its own.
        [] | [_] => {
            app.context.interact.confirm("update this skill?").map(|yes| if yes { vec![0] } else { vec![] })
        }
        items => app.context.interact.choose("which skills do you want to update?", items),
    };
    let Some(picked) = picked else { return Ok((prepared.apply(false)?, told)) };
    if picked.is_empty() {
        return Err(Error::new(ErrorKind::Findings, "nothing was changed: the answer was no")
            .hint(hints::name_what_changes()));
    }
    if picked.len() >= items.len() {
        return Ok((prepared.apply(true)?, told));
    }
    let names = picked.into_iter().filter_map(|at| Some(items.get(at)?.title.clone())).collect();
    let request = UpdateRequest { names, ..prepared.request().clone() };
    Ok((prepare(&app.context, &request)?.agreed(&prepared).apply(false)?, told))
}

fn request(args: &UpdateArgs) -> UpdateRequest {
    let allow = allowed(args.allow_new_capabilities.clone());
    let prefer = match (args.ours, args.theirs) {
        (true, _) => Some(Prefer::Ours),
        (_, true) => Some(Prefer::Theirs),
        _ => None,
    };
    UpdateRequest {
        names: or_all(&args.names),
        scope: scope(&args.scope),
        no_deps: args.no_deps,
        precise: args.precise.clone(),
        minimal: args.minimal,
        latest: args.latest,
        allow,
        prefer,
        abort: args.abort,
        force: args.force,
        dry_run: args.dry_run,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::args::Cli;
    use crate::cli::commands::Command;
    use skillpm_core::ops::update::Allow;

    fn parse(line: &str) -> std::result::Result<UpdateRequest, String> {
        let cli = Cli::try_parse_from(line.split(' ')).map_err(|error| error.kind().to_string())?;
        match cli.command {
            Command::Update(args) => Ok(request(&args)),
            command => panic!("{command:?}"),
        }
    }

    #[test]
    fn flags() {
        let all = parse("skillpm upgrade pdf docx -g --latest --theirs -f --dry-run --json -y").unwrap();
        assert_eq!(all.names, ["pdf", "docx"]);
        assert_eq!(
            (all.prefer, all.latest, all.force, all.dry_run),
            (Some(Prefer::Theirs), true, true, true)
        );
        assert_eq!(parse("skillpm update --ours").unwrap().prefer, Some(Prefer::Ours));
        assert!(parse("skillpm update pdf --abort").unwrap().abort);
        let allow =
            |flag: &str| parse(&format!("skillpm update {flag} pdf")).map(|r| (r.allow, r.names.len()));
        assert_eq!(
            allow("--allow-new-capabilities"),
            Ok((Allow::All, 1)),
            "the name is no value of the flag"
        );
        let only = Allow::Only(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(allow("--allow-new-capabilities=a,b"), Ok((only, 1)));
        for flags in ["--ours --theirs", "--abort --ours", "--abort --latest", "-g -p"] {
            let kind = parse(&format!("skillpm update {flags}")).expect_err(flags);
            assert!(kind.contains("cannot be used with"), "{flags}: {kind}");
        }
    }

    #[test]
    fn the_help_page() {
        insta::assert_snapshot!(crate::cli::help::testing::page("update"), @"
        update installed skills to newer versions, and keep your edits

        Usage: skillpm update [OPTIONS] [NAME]...

        Arguments:
          [NAME]...  the names of the installed skills [default: all of the scope]

        Options:
              --scope <SCOPE>  `project`: the project around the working directory; `user`: your own skills,
                               in every project [default: project; both where nothing is changed]
          -g, --global         your own skills, in every project: short for `--scope user`
          -p, --project        this project's skills: short for `--scope project`
              --dry-run        show what would be done, do nothing
          -f, --force          replace what is in the way and cannot be merged, such as agents' copies that
                               you edited; the store keeps it
          -y, --yes            do not ask; new capabilities must still be allowed
              --explain        show which policy lines decided
              --json           print the outcome as JSON

        Versions:
              --latest
                  go past the tag or commit that the manifest names; the new one is written into it
              --allow-new-capabilities[=<NAME>...]
                  accept new commands, addresses, scripts, hooks, tools or hidden text in these skills
                  without asking; without names, in all skills
              --no-deps
                  leave the skills that others need as they are locked
              --precise <VERSION>
                  the version that a skill of a registry is to have, higher or lower, as far as the manifest
                  allows
              --minimal
                  take the lowest versions from registries that fit, to test what a skill states

        Conflicts:
              --ours    where you and the new version changed a file, keep yours; also resolves an earlier
                        merge
              --theirs  where you and the new version changed a file, take the new one; also resolves an
                        earlier merge
              --abort   undo a merge with conflicts; the skill is as you had it, and locked as before

        Options of all commands:
              --offline       use no network: only what is in the store and on this machine
              --color <WHEN>  when to use colours: `auto` (on terminals, unless `NO_COLOR` is set), `always`
                              or `never` [default: auto]
          -q, --quiet         print only warnings and errors
          -v, --verbose       say every request and what else helps to find a reason
          -h, --help          show this page; `-h` shows a short one

        Examples:
          skillpm update                    all skills of the project, as far as the manifest allows
          skillpm update pdf --latest       one skill, past the tag or commit that the manifest names
          skillpm update --dry-run          what would change, and what to look at before it does
          skillpm update pdf --abort        undo a merge with conflicts

        Docs: https://github.com/skillpm/skillpm/blob/main/docs/reference/cli/update.md
        ");
    }
}
