//! `install` and `sync`.

use clap::{ArgGroup, Args};

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::help::after;
use crate::cli::{App, exit, render, several};
use skillpm_core::ops::install::{Allow, InstallRequest, install};
use skillpm_format::advice::{Opt, Verb};
use skillpm_format::spec::Reference;
use skillpm_sources::error::{Error, Result};

pub(super) const SYNC_EXAMPLES: &str = after!("sync",
    "skillpm sync              install exactly what `skillpm.lock` names"
    "skillpm sync --locked     the same on a build machine: fail if the lockfile is out of date"
);

pub(super) const EXAMPLES: &str = after!("install",
    "skillpm install anthropics/skills --skill pdf     one skill of a repository"
    "skillpm install anthropics/skills --list          what a repository holds"
    "skillpm install ./my-skills -g --agent cursor     from a directory, for you, linked for Cursor"
    "skillpm install                                   what `skillpm.lock` names"
);

// Arguments of `install`.
#[derive(Debug, Clone, Default, Args)]
#[command(group = ArgGroup::new("wanted").multiple(true).args(["sources", "marketplace", "from_project"]))]
pub(crate) struct InstallArgs {
    /// where skills come from, such as `owner/repo` or `./directory`
    ///
    /// also `owner/repo/directory`, `owner/repo#ref`, `owner/repo@skill`, the address of a git repository such as
    /// `https://host/repo.git` or `git@host:repo.git`, of a page on GitHub, of a file or of a site, `./archive.zip`, a
    /// registry such as `registry:https://host//name` or `oci://host/name`, an MCP server such as `mcp:https://host/mcp`, or
    /// an installed package such as `npm:name`; with `--marketplace` the names of its plugins
    #[arg(value_name = "SOURCE")]
    sources: Vec<String>,

    /// take plugins from the marketplace in this source
    #[arg(long, value_name = "SOURCE")]
    #[arg(hide_short_help = true)]
    marketplace: Option<String>,

    /// install the skills that come with this project's packages
    #[arg(long, conflicts_with_all = ["sources", "marketplace", "revision"])]
    #[arg(hide_short_help = true)]
    from_project: bool,

    /// install the skill of this name or path; `*` means all
    ///
    /// several may follow, with blanks or commas between them
    #[arg(short, long = "skill", value_name = "NAME")]
    skills: Vec<String>,

    /// install the skill under this name, for example because its own is taken
    #[arg(long = "as", value_name = "NAME", requires = "sources", conflicts_with = "list")]
    #[arg(hide_short_help = true)]
    alias: Option<String>,

    /// link to the directories on this machine instead of copying them: edits show at once
    #[arg(short, long, requires = "sources", conflicts_with_all = ["copy", "list"])]
    #[arg(hide_short_help = true)]
    editable: bool,

    /// show the skills of the sources, install nothing
    #[arg(short, long, requires = "wanted")]
    list: bool,

    /// take the sources at this tag
    #[arg(long, value_name = "NAME", group = "revision", requires = "wanted")]
    tag: Option<String>,

    /// take the sources at this branch
    #[arg(long, value_name = "NAME", group = "revision", requires = "wanted")]
    #[arg(hide_short_help = true)]
    branch: Option<String>,

    /// take the sources at this commit
    #[arg(long, value_name = "COMMIT", group = "revision", requires = "wanted")]
    #[arg(hide_short_help = true)]
    rev: Option<String>,

    /// How it is done.
    #[command(flatten)]
    pub(crate) how: InstallHow,
}

// How skills are installed.
#[derive(Debug, Clone, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct InstallHow {
    /// Where.
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,

    /// link the skills for this agent, such as `claude-code`
    ///
    /// several may follow, with blanks or commas between them, `*` means all agents on this machine [default: the agents in
    /// use]
    #[arg(short, long = "agent", value_name = "AGENT")]
    agents: Vec<String>,

    /// give agents copies instead of links
    #[arg(long)]
    #[arg(hide_short_help = true)]
    copy: bool,

    /// show what would be done, do nothing
    #[arg(long)]
    dry_run: bool,

    /// replace what is in the way, such as skills that you edited
    ///
    /// the store keeps it
    #[arg(short, long)]
    force: bool,

    /// do not ask: take all skills where several are found
    ///
    /// new capabilities must still be allowed
    #[arg(short, long)]
    pub(crate) yes: bool,

    /// let these skills come in versions with new commands, addresses, scripts, hooks, tools or hidden text
    /// without asking; without names, all skills
    #[arg(long, value_name = "NAME", num_args = 0.., require_equals = true, value_delimiter = ',')]
    #[arg(help_heading = "Versions", hide_short_help = true)]
    allow_new_capabilities: Option<Vec<String>>,

    /// leave out the skills that others need
    #[arg(long)]
    #[arg(help_heading = "Versions", hide_short_help = true)]
    no_deps: bool,

    /// take the lowest versions from registries that fit, to test what a skill states
    #[arg(long)]
    #[arg(help_heading = "Versions", hide_short_help = true)]
    minimal: bool,

    /// show which policy lines decided
    #[arg(long)]
    #[arg(hide_short_help = true)]
    explain: bool,

    /// fail if `skillpm.lock` would change
    #[arg(long)]
    #[arg(help_heading = "Versions", hide_short_help = true)]
    locked: bool,

    /// resolve nothing: only the revisions in `skillpm.lock`
    #[arg(long)]
    #[arg(help_heading = "Versions")]
    frozen: bool,

    /// print the outcome as JSON
    #[arg(long)]
    #[arg(hide_short_help = true)]
    json: bool,
}

impl InstallArgs {
    /// Returns what `install SOURCES` means.
    pub(super) fn of(sources: Vec<String>) -> Self {
        Self { sources, ..Self::default() }
    }
}

pub(super) fn run(app: &App, args: &InstallArgs) -> Result<u8> {
    let typed = || {
        let skills = args.skills.iter().map(|skill| (Opt::Skill, skill));
        Verb::Install.call().words(&args.sources).options(skills)
    };
    // The other scope has a manifest of its own.
    let is_source = !args.sources.is_empty();
    run_here(app, args)
        .map_err(|error| if is_source { super::or_elsewhere(error, typed(), &args.how.scope) } else { error })
}

fn run_here(app: &App, args: &InstallArgs) -> Result<u8> {
    let request = request(args)?;
    let outcome = install(&app.context, &request)?;
    let plugins = request.list && request.marketplace.is_some() && request.sources.is_empty();
    match (request.list, args.how.json) {
        (true, false) if plugins => render::plugins::show(&app.printer, &outcome),
        (true, true) if plugins => render::plugins::json(&app.printer, &outcome),
        (true, false) => render::available::show(&app.printer, &outcome),
        (true, true) => render::available::json(&app.printer, &outcome),
        (false, false) => render::install::show(&app.printer, &outcome),
        (false, true) => render::install::json(&app.printer, &outcome),
    }
    if args.how.explain {
        render::policy::explain(&app.printer, &outcome.decided);
    }
    Ok(exit::install(&outcome))
}

/// Runs `sync`, which is `install` without sources, under the name that other package managers use.
pub(super) fn sync(app: &App, how: &InstallHow) -> Result<u8> {
    run(app, &InstallArgs { how: how.clone(), ..InstallArgs::default() })
}

fn request(args: &InstallArgs) -> Result<InstallRequest> {
    let how = args.how.clone();
    Ok(InstallRequest {
        sources: args.sources.clone(),
        marketplace: args.marketplace.clone(),
        from_project: args.from_project,
        skills: several::listed(&args.skills),
        alias: args.alias.clone(),
        editable: args.editable,
        reference: reference(args)?,
        scope: scope(&how.scope),
        agents: several::listed(&how.agents),
        copy: how.copy,
        dry_run: how.dry_run,
        force: how.force,
        yes: how.yes,
        allow: allowed(how.allow_new_capabilities),
        no_deps: how.no_deps,
        minimal: how.minimal,
        list: args.list,
        locked: how.locked,
        frozen: how.frozen,
    })
}

/// Returns the skills that `--allow-new-capabilities` names; without names, it allows all.
pub(super) fn allowed(names: Option<Vec<String>>) -> Allow {
    match names {
        None => Allow::None,
        Some(names) if names.is_empty() => Allow::All,
        Some(names) => Allow::Only(names),
    }
}

fn reference(args: &InstallArgs) -> Result<Option<Reference>> {
    let plain =
        |name: &String, kind: fn(String) -> Reference| Reference::check(name).map(|()| kind(name.clone()));
    let reference = match (&args.tag, &args.branch, &args.rev) {
        (Some(name), ..) => Reference::tag(name),
        (_, Some(name), _) => plain(name, Reference::Branch),
        (.., Some(name)) => Reference::rev(name),
        (None, None, None) => return Ok(None),
    };
    reference.map(Some).map_err(|error| Error::usage(error.to_string()))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::args::Cli;
    use crate::cli::commands::Command;
    use skillpm_format::scope_kind::ScopeKind;

    fn parse(line: &str) -> std::result::Result<InstallRequest, String> {
        let cli = Cli::try_parse_from(line.split(' ')).map_err(|error| error.kind().to_string())?;
        match cli.command {
            Command::Install(args) => request(&args).map_err(|error| error.to_string()),
            command => panic!("{command:?}"),
        }
    }

    #[test]
    fn every_flag() {
        let all = parse(
            "skillpm install o/r ./x -s a --skill * --scope user -a codex --agent * --copy --dry-run --force \
             --yes --rev abc --locked --frozen --list --json --offline",
        )
        .unwrap();
        assert_eq!(all.sources, ["o/r", "./x"]);
        assert_eq!(all.skills, ["a", "*"]);
        assert_eq!(all.agents, ["codex", "*"]);
        assert_eq!((all.scope, all.reference), (Some(ScopeKind::User), Some(Reference::Rev("abc".into()))));
        assert!(all.copy && all.dry_run && all.force && all.yes && all.list && all.locked && all.frozen);
    }

    #[test]
    fn short_flags_and_aliases() {
        for name in ["install", "add", "i"] {
            let some = parse(&format!("skillpm {name} o/r -g -f -y -l --tag v1")).unwrap();
            assert_eq!(
                (some.scope, some.force, some.yes, some.list),
                (Some(ScopeKind::User), true, true, true)
            );
            assert_eq!(some.reference, Some(Reference::Tag("v1".into())));
        }
        assert_eq!(parse("skillpm install -p").unwrap().scope, Some(ScopeKind::Project));
        assert_eq!(parse("skillpm install").unwrap().scope, None);
        let branch = parse("skillpm install o/r --branch dev").unwrap().reference;
        assert_eq!(branch, Some(Reference::Branch("dev".into())));
    }

    #[test]
    fn new_capabilities_are_allowed_by_name() {
        let allow = |line: &str| parse(line).map(|request| (request.allow, request.sources.len()));
        let all = Ok((Allow::All, 1));
        assert_eq!(
            allow("skillpm install --allow-new-capabilities o/r"),
            all,
            "the source is no value of the flag"
        );
        let only = Allow::Only(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(allow("skillpm install --allow-new-capabilities=a,b"), Ok((only, 0)));
        assert_eq!(allow("skillpm install o/r -y"), Ok((Allow::None, 1)));
    }

    #[test]
    fn the_help_page() {
        insta::assert_snapshot!(crate::cli::help::testing::page("install"), @"
        install skills from GitHub, directories or archives; without a source, what the lockfile names

        Usage: skillpm install [OPTIONS] [SOURCE]...

        Arguments:
          [SOURCE]...  where skills come from, such as `owner/repo` or `./directory`; also
                       `owner/repo/directory`, `owner/repo#ref`, `owner/repo@skill`, the address of a git
                       repository such as `https://host/repo.git` or `git@host:repo.git`, of a page on
                       GitHub, of a file or of a site, `./archive.zip`, a registry such as
                       `registry:https://host//name` or `oci://host/name`, an MCP server such as
                       `mcp:https://host/mcp`, or an installed package such as `npm:name`; with
                       `--marketplace` the names of its plugins

        Options:
              --marketplace <SOURCE>  take plugins from the marketplace in this source
              --from-project          install the skills that come with this project's packages
          -s, --skill <NAME>          install the skill of this name or path; `*` means all; several may
                                      follow, with blanks or commas between them
              --as <NAME>             install the skill under this name, for example because its own is
                                      taken
          -e, --editable              link to the directories on this machine instead of copying them: edits
                                      show at once
          -l, --list                  show the skills of the sources, install nothing
              --tag <NAME>            take the sources at this tag
              --branch <NAME>         take the sources at this branch
              --rev <COMMIT>          take the sources at this commit
              --scope <SCOPE>         `project`: the project around the working directory; `user`: your own
                                      skills, in every project [default: project; both where nothing is
                                      changed]
          -g, --global                your own skills, in every project: short for `--scope user`
          -p, --project               this project's skills: short for `--scope project`
          -a, --agent <AGENT>         link the skills for this agent, such as `claude-code`; several may
                                      follow, with blanks or commas between them, `*` means all agents on
                                      this machine [default: the agents in use]
              --copy                  give agents copies instead of links
              --dry-run               show what would be done, do nothing
          -f, --force                 replace what is in the way, such as skills that you edited; the store
                                      keeps it
          -y, --yes                   do not ask: take all skills where several are found; new capabilities
                                      must still be allowed
              --explain               show which policy lines decided
              --json                  print the outcome as JSON

        Versions:
              --allow-new-capabilities[=<NAME>...]
                  let these skills come in versions with new commands, addresses, scripts, hooks, tools or
                  hidden text without asking; without names, all skills
              --no-deps
                  leave out the skills that others need
              --minimal
                  take the lowest versions from registries that fit, to test what a skill states
              --locked
                  fail if `skillpm.lock` would change
              --frozen
                  resolve nothing: only the revisions in `skillpm.lock`

        Options of all commands:
              --offline       use no network: only what is in the store and on this machine
              --color <WHEN>  when to use colours: `auto` (on terminals, unless `NO_COLOR` is set), `always`
                              or `never` [default: auto]
          -q, --quiet         print only warnings and errors
          -v, --verbose       say every request and what else helps to find a reason
          -h, --help          show this page; `-h` shows a short one

        Examples:
          skillpm install anthropics/skills --skill pdf     one skill of a repository
          skillpm install anthropics/skills --list          what a repository holds
          skillpm install ./my-skills -g --agent cursor     from a directory, for you, linked for Cursor
          skillpm install                                   what `skillpm.lock` names

        Docs: https://github.com/skillpm/skillpm/blob/main/docs/reference/cli/install.md
        ");
    }

    #[test]
    fn what_excludes_each_other() {
        for flags in [
            "o/r --tag a --branch b",
            "o/r --branch a --rev b",
            "o/r --tag a --rev b",
            "--scope user -g",
            "--scope user --project",
            "-g -p",
            "-q -v",
        ] {
            let kind = parse(&format!("skillpm install {flags}")).expect_err(flags);
            assert!(kind.contains("cannot be used with"), "{flags}: {kind}");
        }
        for flags in ["--list", "--tag a", "--branch a", "--rev a"] {
            let kind = parse(&format!("skillpm install {flags}")).expect_err(flags);
            assert!(kind.contains("not provided"), "{flags}: {kind}");
        }
        assert!(parse("skillpm sync o/r").is_err());
        assert_eq!(
            parse("skillpm install o/r --tag a..b").expect_err("no tag"),
            "`a..b` is not the name of a tag, branch or commit"
        );
    }
}
