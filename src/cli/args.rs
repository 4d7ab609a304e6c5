//! What can be typed: the commands, and the arguments that several of them take. The arguments of one
//! command are with it in `commands/`. The comments of these types are the texts of `--help`.

use clap::{ArgAction, Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

use super::commands::agents::AgentsArgs;
use super::commands::audit::AuditArgs;
use super::commands::cache::CacheArgs;
use super::commands::catalog::CatalogArgs;
use super::commands::completions::CompletionsArgs;
use super::commands::create::CreateArgs;
use super::commands::diff::DiffArgs;
use super::commands::disable::DisableArgs;
use super::commands::doctor::DoctorArgs;
use super::commands::explain::ExplainArgs;
use super::commands::export::ExportArgs;
use super::commands::fmt::FmtArgs;
use super::commands::import::ImportArgs;
use super::commands::install::{InstallArgs, InstallHow};
use super::commands::invoke::InvokeArgs;
use super::commands::link::LinkArgs;
use super::commands::list::ListArgs;
use super::commands::man::ManArgs;
use super::commands::outdated::OutdatedArgs;
use super::commands::policy::PolicyArgs;
use super::commands::read::ReadArgs;
use super::commands::remove::RemoveArgs;
use super::commands::run::RunArgs;
use super::commands::show::ShowArgs;
use super::commands::tools::ToolsArgs;
use super::commands::tree::TreeArgs;
use super::commands::trust::{TrustArgs, UntrustArgs};
use super::commands::undo::UndoArgs;
use super::commands::update::UpdateArgs;
use super::commands::validate::ValidateArgs;
use super::commands::verify::VerifyArgs;
use super::commands::why::WhyArgs;
use super::{appearance, help, version};

/// install, check and use Agent Skills
#[derive(Debug, Parser)]
#[command(
    name = "skillpm",
    bin_name = "skillpm",
    version = version::VERSION.as_str(),
    after_help = help::program(),
    styles = help::STYLES,
    max_term_width = 100,
    arg_required_else_help = true,
    disable_help_flag = true,
    disable_help_subcommand = true,
    disable_version_flag = true,
    subcommand_value_name = "COMMAND",
    override_usage = "skillpm [OPTIONS] <COMMAND>"
)]
pub(crate) struct Cli {
    /// Flags of all commands.
    #[command(flatten)]
    pub(crate) global: Global,

    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,

    /// show version, commit and home page
    #[arg(short = 'V', long, action = ArgAction::Version, help_heading = help::GLOBAL)]
    pub(super) version: Option<bool>,
}

/// The program with all commands, whose own help page has groups of them.
pub(super) fn program() -> clap::Command {
    program_in(appearance::help_columns())
}

/// As [`program`], for a page of so many columns.
pub(super) fn program_in(columns: usize) -> clap::Command {
    let program = Cli::command();
    let template = help::template(&program, columns);
    program.help_template(template)
}

/// Flags that every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = help::GLOBAL)]
pub(crate) struct Global {
    /// use no network: only what is in the store and on this machine
    #[arg(long, global = true)]
    pub(crate) offline: bool,

    /// when to use colours: `auto` (on terminals, unless `NO_COLOR` is set), `always` or `never`
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = ColorWhen::Auto)]
    #[arg(hide_possible_values = true)]
    pub(crate) color: ColorWhen,

    /// print only warnings and errors
    #[arg(short, long, global = true, conflicts_with = "verbose", overrides_with = "quiet")]
    pub(crate) quiet: bool,

    /// say every request and what else helps to find a reason
    #[arg(short, long, global = true, overrides_with = "verbose")]
    pub(crate) verbose: bool,

    /// show this help; `-h` leaves the examples out
    #[arg(short, long, global = true, action = ArgAction::Help)]
    help: Option<bool>,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On terminals.
    #[value(help = None::<&str>)]
    Auto,
    /// Also in pipes and files.
    #[value(help = None::<&str>)]
    Always,
    /// Nowhere.
    #[value(help = None::<&str>)]
    Never,
}

/// The commands.
// The flags of each are set up only when it is the one that was typed. A doc comment of a type with
// the flags would then be the text of the command, so these have comments of the other kind.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// install skills from GitHub, directories or archives; without a source, what the lockfile names
    #[command(visible_aliases = ["add", "i"], after_help = help::INSTALL)]
    Install(InstallArgs),

    /// install exactly what manifest and lockfile say: `install` without a source
    #[command(after_help = help::SYNC)]
    Sync(InstallHow),

    /// update installed skills to newer versions, and keep your edits
    #[command(visible_alias = "upgrade", after_help = help::UPDATE)]
    Update(UpdateArgs),

    /// list installed skills
    #[command(visible_alias = "ls", after_help = help::LIST)]
    List(ListArgs),

    /// show which skills have changed in their sources, without a download where possible
    #[command(after_help = help::OUTDATED)]
    Outdated(OutdatedArgs),

    /// show what you edited, or what a newer version of a skill would bring
    #[command(after_help = help::DIFF)]
    Diff(DiffArgs),

    /// remove skills: copies, links and their entries in manifest and lockfile
    #[command(visible_aliases = ["rm", "uninstall"], after_help = help::REMOVE)]
    Remove(RemoveArgs),

    /// link installed skills for more agents
    #[command(after_help = help::LINK)]
    Link(LinkArgs),

    /// remove the links of agents to installed skills
    #[command(after_help = help::UNLINK)]
    Unlink(LinkArgs),

    /// hide skills from agents without uninstalling them
    #[command(after_help = help::DISABLE)]
    Disable(DisableArgs),

    /// show disabled skills to agents again
    #[command(after_help = help::ENABLE)]
    Enable(DisableArgs),

    /// undo the last change, whichever command made it
    #[command(after_help = help::UNDO)]
    Undo(UndoArgs),

    /// check skills against the specification
    #[command(visible_alias = "lint", after_help = help::VALIDATE)]
    Validate(ValidateArgs),

    /// explain what a rule of `validate` looks for, and why
    #[command(after_help = help::EXPLAIN)]
    Explain(ExplainArgs),

    /// bring skills into canonical form: the frontmatter, blank lines around it, the last line end
    #[command(visible_alias = "format", after_help = help::FMT)]
    Fmt(FmtArgs),

    /// make a new skill
    #[command(visible_aliases = ["new", "init"], after_help = help::CREATE)]
    Create(CreateArgs),

    /// show which agents are on this machine, where each reads and what it sees
    #[command(after_help = help::AGENTS)]
    Agents(AgentsArgs),

    /// show installed skills with their sources and the skills that they need
    #[command(after_help = help::TREE)]
    Tree(TreeArgs),

    /// explain why a skill is installed, who sees it and what it hides
    #[command(after_help = help::WHY)]
    Why(WhyArgs),

    /// compare every byte and link of installed skills with the lockfile
    #[command(after_help = help::VERIFY)]
    Verify(VerifyArgs),

    /// find what is broken, and repair what can be repaired safely
    #[command(after_help = help::DOCTOR)]
    Doctor(DoctorArgs),

    /// manage the store and the downloads
    #[command(after_help = help::CACHE, arg_required_else_help = true, disable_help_subcommand = true)]
    #[command(
        subcommand_value_name = "ACTION",
        subcommand_help_heading = "Actions",
        override_usage = "skillpm cache [OPTIONS] <ACTION>"
    )]
    Cache(CacheArgs),

    /// show everything about a skill: its fields, files, source and size, and what it hides
    #[command(visible_alias = "info", after_help = help::SHOW)]
    Show(ShowArgs),

    /// print a file of a skill, or the names of its files
    #[command(after_help = help::READ)]
    Read(ReadArgs),

    /// show what an agent learns about all skills before it uses one
    #[command(after_help = help::CATALOG)]
    Catalog(CatalogArgs),

    /// show what an agent gets when it activates a skill
    #[command(after_help = help::INVOKE, override_usage = "skillpm invoke [OPTIONS] <NAME> [ARGS]...")]
    Invoke(InvokeArgs),

    /// list the scripts of skills that an agent can call, and what they take
    #[command(after_help = help::TOOLS)]
    Tools(ToolsArgs),

    /// run a script of a skill; the exit code is the script's, or 124 after a timeout
    #[command(after_help = help::RUN, override_usage = "skillpm run [OPTIONS] <NAME> <SCRIPT> [ARGS]...")]
    Run(RunArgs),

    /// show what may be installed and run here, and which line of which file says so
    #[command(after_help = help::POLICY)]
    Policy(PolicyArgs),

    /// allow scripts of unlocked skills in a directory to run, or list the trusted directories
    #[command(after_help = help::TRUST)]
    Trust(TrustArgs),

    /// stop trusting directories
    #[command(after_help = help::UNTRUST)]
    Untrust(UntrustArgs),

    /// show which skills were activated, which scripts ran and which were refused
    #[command(after_help = help::AUDIT)]
    Audit(AuditArgs),

    /// take over what other tools installed
    #[command(after_help = help::IMPORT)]
    Import(ImportArgs),

    /// write the lockfile of another tool
    #[command(after_help = help::EXPORT)]
    Export(ExportArgs),

    /// print the script that teaches a shell to complete commands, options and the names of your skills
    #[command(after_help = help::COMPLETIONS)]
    Completions(CompletionsArgs),

    /// print a page of the manual, or write all pages
    #[command(after_help = help::MAN)]
    Man(ManArgs),
}

/// Adds the arguments of a command to it.
type Augment = fn(clap::Command) -> clap::Command;

/// The names of each command, its own first, and its arguments.
const ARGUMENTS: &[(&[&str], Augment)] = &[
    (&["install", "add", "i"], InstallArgs::augment_args),
    (&["sync"], InstallHow::augment_args),
    (&["update", "upgrade"], UpdateArgs::augment_args),
    (&["list", "ls"], ListArgs::augment_args),
    (&["remove", "rm", "uninstall"], RemoveArgs::augment_args),
    (&["link"], LinkArgs::augment_args),
    (&["unlink"], LinkArgs::augment_args),
    (&["disable"], DisableArgs::augment_args),
    (&["enable"], DisableArgs::augment_args),
    (&["validate", "lint"], ValidateArgs::augment_args),
    (&["outdated"], OutdatedArgs::augment_args),
    (&["diff"], DiffArgs::augment_args),
    (&["explain"], ExplainArgs::augment_args),
    (&["fmt", "format"], FmtArgs::augment_args),
    (&["create", "new", "init"], CreateArgs::augment_args),
    (&["agents"], AgentsArgs::augment_args),
    (&["undo"], UndoArgs::augment_args),
    (&["tree"], TreeArgs::augment_args),
    (&["why"], WhyArgs::augment_args),
    (&["verify"], VerifyArgs::augment_args),
    (&["doctor"], DoctorArgs::augment_args),
    (&["cache"], CacheArgs::augment_args),
    (&["catalog"], CatalogArgs::augment_args),
    (&["show", "info"], ShowArgs::augment_args),
    (&["read"], ReadArgs::augment_args),
    (&["invoke"], InvokeArgs::augment_args),
    (&["tools"], ToolsArgs::augment_args),
    (&["run"], RunArgs::augment_args),
    (&["policy"], PolicyArgs::augment_args),
    (&["trust"], TrustArgs::augment_args),
    (&["untrust"], UntrustArgs::augment_args),
    (&["audit"], AuditArgs::augment_args),
    (&["import"], ImportArgs::augment_args),
    (&["export"], ExportArgs::augment_args),
    (&["completions"], CompletionsArgs::augment_args),
    (&["man"], ManArgs::augment_args),
];

impl Command {
    /// All names and aliases of commands that are words, for suggestions.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        let names = ARGUMENTS.iter().flat_map(|(names, _)| *names).copied();
        names.filter(|name| name.len() > 1).chain(["help"])
    }

    /// The own name of the command that has this name.
    pub(super) fn own_name(name: &str) -> Option<&'static str> {
        ARGUMENTS.iter().find(|(names, _)| names.contains(&name))?.0.first().copied()
    }

    /// The command alone that has this name, with its arguments and without what help pages say.
    pub(super) fn alone(name: &str) -> Option<clap::Command> {
        let (names, augment) = ARGUMENTS.iter().find(|(names, _)| names.contains(&name))?;
        let (own, others) = names.split_first()?;
        Some(augment(clap::Command::new(*own).aliases(others.iter().copied())))
    }
}

// Which scope.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ScopeArgs {
    /// `project`: the project around the working directory; `user`: your own skills, in every project
    /// [default: project; both where nothing is changed]
    #[arg(long, value_name = "SCOPE", value_enum, hide_possible_values = true)]
    #[arg(conflicts_with_all = ["global", "project"])]
    pub(crate) scope: Option<ScopeArg>,

    /// short for `--scope user`
    #[arg(short, long, conflicts_with = "project")]
    pub(crate) global: bool,

    /// short for `--scope project`
    #[arg(short, long)]
    pub(crate) project: bool,
}

/// A scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArg {
    /// The project around the working directory.
    #[value(help = None::<&str>)]
    Project,
    /// The user, in every project.
    #[value(help = None::<&str>, alias = "global")]
    User,
}
