//! What can be typed. The comments of these types are the texts of `--help`.

use std::path::PathBuf;

use clap::{ArgAction, ArgGroup, Args, Parser, Subcommand, ValueEnum};

use super::commands::agents::AgentsArgs;
use super::commands::cache::CacheArgs;
use super::commands::diff::DiffArgs;
use super::commands::doctor::DoctorArgs;
use super::commands::export::ExportArgs;
use super::commands::import::ImportArgs;
use super::commands::outdated::OutdatedArgs;
use super::commands::policy::PolicyArgs;
use super::commands::tree::TreeArgs;
use super::commands::undo::UndoArgs;
use super::commands::update::UpdateArgs;
use super::commands::verify::VerifyArgs;
use super::commands::why::WhyArgs;
use super::commands::{DisableArgs, LinkArgs};
use super::{help, version};

/// install, check and use Agent Skills
#[derive(Debug, Parser)]
#[command(
    name = "skillpm",
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
    version: Option<bool>,
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

    /// say nothing but warnings and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// say every step
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,

    /// show this help
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
    /// install skills from GitHub, directories or archives; without a source, what the lockfile says
    #[command(visible_alias = "add", alias = "i", after_help = help::INSTALL)]
    Install(InstallArgs),

    /// install exactly what manifest and lockfile say: `install` without a source
    #[command(after_help = help::SYNC)]
    Sync(InstallHow),

    /// bring newer versions of installed skills, and keep what you edited
    #[command(visible_alias = "upgrade", after_help = help::UPDATE)]
    Update(UpdateArgs),

    /// list installed skills
    #[command(visible_alias = "ls", after_help = help::LIST)]
    List(ListArgs),

    /// show which skills have changed in their sources, without a download where that can be told
    #[command(after_help = help::OUTDATED)]
    Outdated(OutdatedArgs),

    /// show what you edited, or what a newer version of a skill would bring
    #[command(after_help = help::DIFF)]
    Diff(DiffArgs),

    /// remove skills: copies, links and their entries in manifest and lockfile
    #[command(visible_alias = "rm", alias = "uninstall", after_help = help::REMOVE)]
    Remove(RemoveArgs),

    /// link installed skills for agents that came later
    #[command(after_help = help::LINK)]
    Link(LinkArgs),

    /// take the links of agents to installed skills away
    #[command(after_help = help::UNLINK)]
    Unlink(LinkArgs),

    /// take skills out of agents' sight without uninstalling them
    #[command(after_help = help::DISABLE)]
    Disable(DisableArgs),

    /// show disabled skills to agents again
    #[command(after_help = help::ENABLE)]
    Enable(DisableArgs),

    /// take back the last change of a scope, whichever command made it
    #[command(after_help = help::UNDO)]
    Undo(UndoArgs),

    /// check skills against the specification
    #[command(visible_alias = "lint", after_help = help::VALIDATE)]
    Validate(ValidateArgs),

    /// say what a rule of `validate` looks for, and why
    #[command(after_help = help::EXPLAIN)]
    Explain(ExplainArgs),

    /// bring the frontmatter of skills into canonical form
    #[command(alias = "format", after_help = help::FMT)]
    Fmt(FmtArgs),

    /// make a new skill
    #[command(visible_alias = "new", alias = "init", after_help = help::CREATE)]
    Create(CreateArgs),

    /// show which agents are on this machine, where each reads and what it sees
    #[command(after_help = help::AGENTS)]
    Agents(AgentsArgs),

    /// show installed skills with their sources and the skills that they need
    #[command(after_help = help::TREE)]
    Tree(TreeArgs),

    /// say why a skill is here, who sees it and what it hides
    #[command(after_help = help::WHY)]
    Why(WhyArgs),

    /// compare every byte and link of installed skills with the lockfile
    #[command(after_help = help::VERIFY)]
    Verify(VerifyArgs),

    /// look for what is broken, and repair what can be repaired safely
    #[command(after_help = help::DOCTOR)]
    Doctor(DoctorArgs),

    /// look after the store and the downloads
    #[command(after_help = help::CACHE, arg_required_else_help = true, disable_help_subcommand = true)]
    #[command(
        subcommand_value_name = "ACTION",
        subcommand_help_heading = "Actions",
        override_usage = "skillpm cache [OPTIONS] <ACTION>"
    )]
    Cache(CacheArgs),

    /// show what an agent gets when it activates a skill
    #[command(after_help = help::INVOKE, override_usage = "skillpm invoke [OPTIONS] <NAME> [ARGS]...")]
    Invoke(InvokeArgs),

    /// run a script of a skill; the exit code is the script's, 124 where its time was over
    #[command(after_help = help::RUN, override_usage = "skillpm run [OPTIONS] <NAME> <SCRIPT> [ARGS]...")]
    Run(super::commands::RunArgs),

    /// show what may be installed here, and which line of which file says so
    #[command(after_help = help::POLICY)]
    Policy(PolicyArgs),
    /// adopt what other tools installed
    #[command(after_help = help::IMPORT)]
    Import(ImportArgs),

    /// write the lockfile of another tool
    #[command(after_help = help::EXPORT)]
    Export(ExportArgs),
}

// Which scope.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ScopeArgs {
    /// `project`: for the project around the working directory; `user`: for you, in every project
    /// [default: project, or both for commands that look]
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

// Arguments of `install`.
#[derive(Debug, Clone, Default, Args)]
#[command(group = ArgGroup::new("wanted").multiple(true).args(["sources", "marketplace", "from_project"]))]
pub(crate) struct InstallArgs {
    /// where skills come from: `owner/repo`, `owner/repo/directory`, `owner/repo#ref`,
    /// `owner/repo@skill`, the address of a git repository such as `https://host/repo.git` or
    /// `git@host:repo.git`, of a page on GitHub, of a file or of a site, `./directory`,
    /// `./archive.zip`, or an installed package such as `npm:name`; with `--marketplace` the names of
    /// its plugins
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,

    /// take plugins from the marketplace in this source
    #[arg(long, value_name = "SOURCE")]
    pub(crate) marketplace: Option<String>,

    /// take the skills that the packages of this project bring along
    #[arg(long, conflicts_with_all = ["sources", "marketplace", "revision"])]
    pub(crate) from_project: bool,

    /// install the skill of this name; can be repeated, `*` means all
    #[arg(short, long = "skill", value_name = "NAME")]
    pub(crate) skills: Vec<String>,

    /// install the one skill that is meant under this name, where its own is taken
    #[arg(long = "as", value_name = "NAME", requires = "sources", conflicts_with = "list")]
    pub(crate) alias: Option<String>,

    /// link to the directories on this machine in place of copying them: edits show at once
    #[arg(short, long, requires = "sources", conflicts_with_all = ["copy", "list"])]
    pub(crate) editable: bool,

    /// show the skills of the sources, install nothing
    #[arg(short, long, requires = "wanted")]
    pub(crate) list: bool,

    /// take the sources at this tag
    #[arg(long, value_name = "NAME", group = "revision", requires = "wanted")]
    pub(crate) tag: Option<String>,

    /// take the sources at this branch
    #[arg(long, value_name = "NAME", group = "revision", requires = "wanted")]
    pub(crate) branch: Option<String>,

    /// take the sources at this commit
    #[arg(long, value_name = "COMMIT", group = "revision", requires = "wanted")]
    pub(crate) rev: Option<String>,

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

    /// link the skills for this agent, such as `claude-code`; can be repeated, `*` means all agents
    /// on this machine [default: the agents in use]
    #[arg(short, long = "agent", value_name = "AGENT")]
    pub(crate) agents: Vec<String>,

    /// give agents copies in place of links
    #[arg(long)]
    pub(crate) copy: bool,

    /// show what would be done, do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// replace what is in the way, such as skills that you edited; it is kept in the store
    #[arg(short, long)]
    pub(crate) force: bool,

    /// ask nothing: take all skills where several are found
    #[arg(short, long)]
    pub(crate) yes: bool,

    /// tell which lines of a policy decided
    #[arg(long)]
    pub(crate) explain: bool,

    /// fail if `skillpm.lock` would change
    #[arg(long)]
    pub(crate) locked: bool,

    /// resolve nothing: only the revisions in `skillpm.lock`
    #[arg(long)]
    pub(crate) frozen: bool,

    /// print the outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

// Arguments of `list`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ListArgs {
    /// Where.
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,

    /// print a JSON array
    #[arg(long)]
    pub(crate) json: bool,
}

// Arguments of `remove`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RemoveArgs {
    /// the names under which the skills are installed
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,

    /// Where.
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,

    /// show what would be removed, do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// also remove skills that you edited; the edited copy is kept in the store
    #[arg(short, long)]
    pub(crate) force: bool,

    /// print the outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

// Arguments of `validate`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ValidateArgs {
    /// directories of skills, `SKILL.md` files, directories to look for skills in, patterns such as
    /// `'skills/**/SKILL.md'`, or `-` for standard input
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,

    /// whose view to take: `spec`, `reference`, `claude-code`, `publish` or `lenient` [default: spec]
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,

    /// fail on warnings too
    #[arg(long)]
    pub(crate) strict: bool,

    /// `human`, or for programs `json`, `sarif`, `github` (annotations of a workflow) or `junit`
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = FormatArg::Human)]
    #[arg(hide_possible_values = true)]
    pub(crate) format: FormatArg,

    /// write the report into this file, not to standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// the file that standard input is to be, for its name, that of its directory, and messages
    #[arg(long, value_name = "FILE")]
    pub(crate) stdin_filename: Option<PathBuf>,

    /// repair what can be repaired without a change of meaning; `--fix=unsafe` also repairs what
    /// somebody should look at
    #[arg(long, value_name = "KIND", value_enum, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "safe", hide_possible_values = true)]
    pub(crate) fix: Option<FixArg>,

    /// write nothing, show what `--fix` or `--fix=unsafe` would change
    #[arg(long, conflicts_with_all = ["format", "output"])]
    pub(crate) diff: bool,

    /// check again whatever changes, until `Ctrl-C`
    #[arg(long, conflicts_with_all = ["format", "output", "fix", "diff"])]
    pub(crate) watch: bool,
}

/// Which repairs are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FixArg {
    /// Those that change no meaning.
    #[value(help = None::<&str>)]
    Safe,
    /// All of them.
    #[value(help = None::<&str>)]
    Unsafe,
}

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// For people.
    #[value(help = None::<&str>)]
    Human,
    /// Of our own, with a schema.
    #[value(help = None::<&str>)]
    Json,
    /// For code scanning.
    #[value(help = None::<&str>)]
    Sarif,
    /// Annotations of GitHub's workflows.
    #[value(help = None::<&str>)]
    Github,
    /// For test reports.
    #[value(help = None::<&str>)]
    Junit,
}

// Arguments of `explain`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExplainArgs {
    /// the rule, as findings name it [default: a list of all]
    #[arg(value_name = "RULE")]
    pub(crate) rule: Option<String>,

    /// print the rules as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

// Arguments of `create`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CreateArgs {
    /// the skill's name: lower-case letters, digits and single hyphens, at most 64 characters
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// what it does and when to use it, at most 1024 characters [default: a line made of the name]
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) description: Option<String>,

    /// its license as an SPDX expression, such as `MIT` or `Apache-2.0` [default: none]
    #[arg(long, value_name = "SPDX")]
    pub(crate) license: Option<String>,

    /// who wrote it [default: nobody is named]
    #[arg(long, value_name = "NAME")]
    pub(crate) author: Option<String>,

    /// what it is made from: a built-in template, `./directory` or `owner/repo/directory#ref`
    /// [default: basic]
    #[arg(short, long, value_name = "TEMPLATE")]
    pub(crate) template: Option<String>,

    /// a value for a variable of the template; can be repeated
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = variable)]
    pub(crate) variables: Vec<(String, String)>,

    /// directories that get a first file: `scripts`, `references`, `assets`, with commas between
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',', hide_possible_values = true)]
    pub(crate) resources: Vec<ResourceArg>,

    /// make it among the skills of the `project` or of the `user`, where agents find it
    #[arg(long, value_name = "SCOPE", value_enum, hide_possible_values = true, conflicts_with = "path")]
    pub(crate) scope: Option<ScopeArg>,

    /// the directory in which the skill's own is made [default: the working directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,

    /// list the built-in templates, make nothing
    #[arg(long, exclusive = true)]
    pub(crate) list_templates: bool,

    /// show what would be made, make nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// ask nothing: what is not given gets its default
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// A directory that skills keep files in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResourceArg {
    /// Programs.
    #[value(help = None::<&str>)]
    Scripts,
    /// Texts.
    #[value(help = None::<&str>)]
    References,
    /// Files to work with.
    #[value(help = None::<&str>)]
    Assets,
}

/// Reads `NAME=VALUE`.
fn variable(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("`NAME=VALUE` is expected")?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

// Arguments of `invoke`.
#[derive(Debug, Clone, Args)]
pub(crate) struct InvokeArgs {
    /// the skill, and the arguments it gets: all that follows the name, also what starts with `-`
    // One list, so that clap reads no flag of its own after the name.
    #[arg(value_name = "NAME", required = true, num_args = 1.., trailing_var_arg = true)]
    pub(crate) words: Vec<String>,
}

// Arguments of `fmt`.
#[derive(Debug, Clone, Args)]
pub(crate) struct FmtArgs {
    /// directories of skills, `SKILL.md` files, directories to look for skills in, patterns such as
    /// `'skills/**/SKILL.md'`; `-` formats standard input to standard output
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,

    /// write nothing, fail if a file would change
    #[arg(long)]
    pub(crate) check: bool,

    /// write nothing, show what would change
    #[arg(long)]
    pub(crate) diff: bool,
}
