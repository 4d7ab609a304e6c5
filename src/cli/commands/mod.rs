//! One file per command: from arguments to a request, from an outcome to the screen.

mod agents;
mod audit;
mod bump;
mod cache;
mod catalog;
mod completions;
mod create;
mod diff;
mod disable;
mod doctor;
mod explain;
mod export;
mod fmt;
mod import;
mod install;
mod invoke;
mod link;
mod list;
mod lsp;
mod man;
mod mcp;
mod outdated;
mod pack;
mod policy;
mod publish;
mod read;
mod registry;
mod remove;
mod run;
mod search;
mod self_check;
mod show;
mod test;
mod tools;
mod tree;
mod trust;
mod undo;
mod update;
mod usage;
pub(super) mod validate;
mod verify;
mod why;

use std::error::Error as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use clap::Subcommand;

use super::App;
use super::args::{ScopeArg, ScopeArgs};
use skillpm_core::engine::load::MAX_SKILL_FILE;
use skillpm_core::paths::{Changes, Target};
use skillpm_format::advice::{Call, Opt, message};
use skillpm_format::scope_kind::ScopeKind;
use skillpm_sources::error::{Error, ErrorKind, Result};

/// The effect of a command on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Nature {
    /// Whether it may start another program: a script, or `git`.
    pub(crate) may_start_others: bool,
    /// Whether it makes all of its changes in one transaction.
    pub(crate) changes_as_one: bool,
}

const READS: Nature = Nature { may_start_others: false, changes_as_one: false };
const STARTS: Nature = Nature { may_start_others: true, changes_as_one: false };
const CHANGES: Nature = Nature { may_start_others: false, changes_as_one: true };
const CHANGES_AND_STARTS: Nature = Nature { may_start_others: true, changes_as_one: true };

/// Makes a command from each row: its help text, its name and arguments, the function that runs it, and its
/// nature.
macro_rules! commands {
    ($($group:literal { $($(#[$meta:meta])* $name:ident($args:ty) => $run:path, $nature:expr;)+ })+) => {
        /// The commands.
        // The flags of each are only set up if it is the command that was typed. A doc comment on a type with
        // the flags would then be the text of the command, so these types have comments of the other kind.
        #[derive(Debug, Subcommand)]
        #[command(defer = true)]
        pub(crate) enum Command {
            $($($(#[$meta])* $name($args),)+)+
        }

        impl Command {
            /// The groups of the help page, each with the variants of its commands: see [`word`].
            pub(crate) const GROUPS: &[(&str, &[&str])] = &[$(($group, &[$(stringify!($name)),+])),+];

            /// Runs the command and returns the exit code.
            pub(crate) fn run(&self, app: &App) -> Result<u8> {
                match self {
                    $($(Self::$name(args) => $run(app, args),)+)+
                }
            }

            /// Returns its effect on this machine.
            pub(crate) fn nature(&self) -> Nature {
                match self {
                    $($(Self::$name(_) => $nature,)+)+
                }
            }
        }
    };
}

commands! {
    "Use skills" {
        /// install skills from GitHub, directories or archives
        ///
        /// without a source, what the lockfile names
        #[command(visible_aliases = ["add", "i"], after_help = install::EXAMPLES)]
        Install(install::InstallArgs) => install::run, CHANGES_AND_STARTS;

        /// install exactly what manifest and lockfile say
        ///
        /// the same as `install` without a source
        #[command(after_help = install::SYNC_EXAMPLES)]
        Sync(install::InstallHow) => install::sync, CHANGES_AND_STARTS;

        /// search your registries and the skills that you have
        #[command(visible_alias = "find", after_help = search::EXAMPLES)]
        Search(search::SearchArgs) => search::run, CHANGES_AND_STARTS;

        /// list installed skills
        #[command(visible_alias = "ls", after_help = list::EXAMPLES)]
        List(list::ListArgs) => list::run, READS;

        /// show what an agent gets when it activates a skill
        #[command(after_help = invoke::EXAMPLES, override_usage = "skillpm invoke [OPTIONS] <NAME> [ARGS]...")]
        Invoke(invoke::InvokeArgs) => invoke::run, READS;

        /// run a script of a skill
        ///
        /// the exit code is the script's, or 124 after a timeout
        #[command(after_help = run::EXAMPLES, override_usage = "skillpm run [OPTIONS] <NAME> <SCRIPT> [ARGS]...")]
        Run(run::RunArgs) => run::run, STARTS;

        /// hide skills from agents without uninstalling them
        #[command(after_help = disable::EXAMPLES)]
        Disable(disable::DisableArgs) => disable::run, CHANGES;

        /// show disabled skills to agents again
        #[command(after_help = disable::ENABLE_EXAMPLES)]
        Enable(disable::DisableArgs) => disable::undo, CHANGES;

        /// remove skills: copies, links, and entries in manifest and lockfile
        #[command(visible_aliases = ["rm", "uninstall"], after_help = remove::EXAMPLES)]
        Remove(remove::RemoveArgs) => remove::run, CHANGES;
    }

    "Keep them up to date" {
        /// show which skills have changed in their sources
        ///
        /// nothing is downloaded where that is possible
        #[command(after_help = outdated::EXAMPLES)]
        Outdated(outdated::OutdatedArgs) => outdated::run, STARTS;

        /// update installed skills to newer versions, and keep your edits
        #[command(visible_alias = "upgrade", after_help = update::EXAMPLES)]
        Update(update::UpdateArgs) => update::run, CHANGES_AND_STARTS;

        /// show what you edited, or what a newer version of a skill would bring
        #[command(after_help = diff::EXAMPLES)]
        Diff(diff::DiffArgs) => diff::run, STARTS;

        /// compare every byte and link of installed skills with the lockfile
        #[command(after_help = verify::EXAMPLES)]
        Verify(verify::VerifyArgs) => verify::run, READS;

        /// undo the last change, whichever command made it
        #[command(after_help = undo::EXAMPLES)]
        Undo(undo::UndoArgs) => undo::run, CHANGES_AND_STARTS;
    }

    "Write skills" {
        /// make a new skill
        #[command(visible_aliases = ["new", "init"], after_help = create::EXAMPLES)]
        Create(create::CreateArgs) => create::run, STARTS;

        /// check skills against the specification
        #[command(visible_alias = "lint", after_help = validate::EXAMPLES)]
        Validate(validate::ValidateArgs) => validate::run, READS;

        /// test whether the right skill wins for a request
        ///
        /// authors keep such requests beside their skills
        #[command(after_help = test::EXAMPLES)]
        Test(test::TestArgs) => test::run, STARTS;

        /// explain what a rule of `validate` looks for, and why
        #[command(after_help = explain::EXAMPLES)]
        Explain(explain::ExplainArgs) => explain::run, READS;

        /// bring skills into canonical form
        ///
        /// the frontmatter, blank lines around it, and the last line end
        #[command(visible_alias = "format", after_help = fmt::EXAMPLES)]
        Fmt(fmt::FmtArgs) => fmt::run, READS;

        /// serve an editor that you write skills in
        ///
        /// with findings, repairs and completion
        #[command(after_help = lsp::EXAMPLES)]
        Lsp(lsp::LspArgs) => lsp::run, READS;

        /// raise the version of a skill in its `SKILL.md`
        #[command(after_help = bump::EXAMPLES)]
        Bump(bump::BumpArgs) => bump::run, READS;

        /// pack a skill into a zip archive
        ///
        /// it has the same bytes wherever it is made
        #[command(after_help = pack::EXAMPLES)]
        Pack(pack::PackArgs) => pack::run, READS;
    }

    "Share skills" {
        /// publish a version of a skill
        ///
        /// to a registry, or as a release on GitHub
        #[command(after_help = publish::EXAMPLES)]
        Publish(publish::PublishArgs) => publish::run, STARTS;

        /// keep a registry of published skills
        ///
        /// a registry is a directory, which any web server can serve
        #[command(after_help = registry::EXAMPLES, arg_required_else_help = true, disable_help_subcommand = true)]
        #[command(
            subcommand_value_name = "ACTION",
            subcommand_help_heading = "Actions",
            override_usage = "skillpm registry [OPTIONS] <ACTION>"
        )]
        Registry(registry::RegistryArgs) => registry::run, READS;
    }

    "Look inside" {
        /// show everything about a skill
        ///
        /// its fields, files, source and size, and what it hides
        #[command(visible_alias = "info", after_help = show::EXAMPLES)]
        Show(show::ShowArgs) => show::run, READS;

        /// print a file of a skill, or the names of its files
        #[command(after_help = read::EXAMPLES)]
        Read(read::ReadArgs) => read::run, READS;

        /// show what an agent learns about all skills before it uses one
        #[command(after_help = catalog::EXAMPLES)]
        Catalog(catalog::CatalogArgs) => catalog::run, READS;

        /// list the scripts of skills that an agent can call, and what they take
        #[command(after_help = tools::EXAMPLES)]
        Tools(tools::ToolsArgs) => tools::run, READS;

        /// show installed skills with their sources and the skills that they need
        #[command(after_help = tree::EXAMPLES)]
        Tree(tree::TreeArgs) => tree::run, READS;

        /// explain why a skill is installed, who sees it and what it hides
        #[command(after_help = why::EXAMPLES)]
        Why(why::WhyArgs) => why::run, READS;
    }

    "Agents and this machine" {
        /// serve skills over MCP, or set up a program that speaks it
        ///
        /// MCP is the Model Context Protocol
        #[command(after_help = mcp::EXAMPLES, disable_help_subcommand = true)]
        #[command(subcommand_value_name = "ACTION", subcommand_help_heading = "Actions")]
        Mcp(mcp::McpArgs) => mcp::run, STARTS;

        /// show which agents are on this machine, and what each sees
        ///
        /// with the directories that it reads
        #[command(after_help = agents::EXAMPLES)]
        Agents(agents::AgentsArgs) => agents::run, READS;

        /// show which skills agents used, and which never
        ///
        /// when and how often, from their sessions on this machine
        #[command(after_help = usage::EXAMPLES)]
        Usage(usage::UsageArgs) => usage::run, READS;

        /// link installed skills for more agents
        #[command(after_help = link::EXAMPLES)]
        Link(link::LinkArgs) => link::run, CHANGES;

        /// remove the links of agents to installed skills
        #[command(after_help = link::UNLINK_EXAMPLES)]
        Unlink(link::LinkArgs) => link::undo, CHANGES;

        /// take over what other tools installed
        #[command(after_help = import::EXAMPLES)]
        Import(import::ImportArgs) => import::run, CHANGES_AND_STARTS;

        /// write the lockfile of another tool
        #[command(after_help = export::EXAMPLES)]
        Export(export::ExportArgs) => export::run, READS;

        /// find what is broken, and repair what can be repaired safely
        #[command(after_help = doctor::EXAMPLES)]
        Doctor(doctor::DoctorArgs) => doctor::run, STARTS;

        /// manage the store and the downloads
        #[command(after_help = cache::EXAMPLES, arg_required_else_help = true, disable_help_subcommand = true)]
        #[command(
            subcommand_value_name = "ACTION",
            subcommand_help_heading = "Actions",
            override_usage = "skillpm cache [OPTIONS] <ACTION>"
        )]
        Cache(cache::CacheArgs) => cache::run, READS;

        /// show what may be installed and run here
        ///
        /// with the line of a policy that decides
        #[command(after_help = policy::EXAMPLES)]
        Policy(policy::PolicyArgs) => policy::run, READS;

        /// trust directories, or list those that are trusted
        ///
        /// scripts of unlocked skills may run there
        #[command(after_help = trust::EXAMPLES)]
        Trust(trust::TrustArgs) => trust::run, READS;

        /// stop trusting directories
        #[command(after_help = trust::UNTRUST_EXAMPLES)]
        Untrust(trust::UntrustArgs) => trust::undo, READS;

        /// show which skills were activated and which scripts ran
        ///
        /// and which scripts were refused
        #[command(after_help = audit::EXAMPLES)]
        Audit(audit::AuditArgs) => audit::run, READS;

        /// show what this program is, and whether there is a newer one
        ///
        /// with its version, and how it was installed
        #[command(name = "self", after_help = self_check::EXAMPLES, arg_required_else_help = true, disable_help_subcommand = true)]
        #[command(
            subcommand_value_name = "ACTION",
            subcommand_help_heading = "Actions",
            override_usage = "skillpm self [OPTIONS] <ACTION>"
        )]
        SelfCheck(self_check::SelfArgs) => self_check::run, READS;

        /// print a script that teaches your shell to complete words
        ///
        /// commands, options and the names of your skills
        #[command(after_help = completions::EXAMPLES)]
        Completions(completions::CompletionsArgs) => completions::run, READS;

        /// print a page of the manual, or write all pages
        #[command(after_help = man::EXAMPLES)]
        Man(man::ManArgs) => man::run, READS;
    }
}

/// Returns what is typed for a variant of [`Command`]: its name in lower case. `Self` is a word of Rust.
pub(crate) fn word(variant: &str) -> String {
    if variant == "SelfCheck" { "self".to_owned() } else { variant.to_lowercase() }
}

/// The names of each command, its own name first.
static NAMES: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    let names = |command: &clap::Command| {
        let aliases = command.get_all_aliases();
        std::iter::once(command.get_name()).chain(aliases).map(str::to_owned).collect()
    };
    Command::all().get_subcommands().map(names).collect()
});

impl Command {
    /// Returns the program with all commands and nothing else. Only the requested command gets its arguments.
    fn all() -> clap::Command {
        Self::augment_subcommands(clap::Command::new("skillpm"))
    }

    /// Returns all names and aliases of commands that are words, for suggestions.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().flatten().map(String::as_str).filter(|name| name.len() > 1).chain(["help"])
    }

    /// Returns the command's own name for a name or alias.
    pub(crate) fn own_name(name: &str) -> Option<&'static str> {
        NAMES.iter().find(|names| names.iter().any(|other| other == name))?.first().map(String::as_str)
    }

    /// Returns only the command with this name, with its arguments.
    pub(crate) fn alone(name: &str) -> Option<clap::Command> {
        let mut command = Self::all().find_subcommand(name)?.clone().disable_help_flag(true);
        command.build();
        Some(command)
    }

    /// Reports whether a flag says not to ask questions.
    pub(crate) fn asks_nothing(&self) -> bool {
        match self {
            Self::Install(args) => args.how.yes,
            Self::Sync(how) => how.yes,
            Self::Update(args) => args.yes,
            Self::Create(args) => args.yes,
            Self::Remove(args) => args.yes,
            Self::Search(args) => args.json,
            Self::Pack(args) => args.json,
            Self::Publish(args) => args.json,
            Self::Mcp(args) => args.asks_nothing(),
            _ => false,
        }
    }
}

/// Adds to the error of a command that installs skills (`typed`) a hint about another scope, if this scope
/// cannot be written. Other commands work on skills where they are.
fn or_elsewhere(error: Error, typed: Call, args: &ScopeArgs) -> Error {
    use std::io::{self, ErrorKind as Io};

    let (mut next, mut is_closed) = (error.source(), false);
    while let Some(cause) = next {
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        is_closed |= matches!(kind, Some(Io::PermissionDenied | Io::ReadOnlyFilesystem));
        next = cause.source();
    }
    if is_closed && error.kind() == ErrorKind::Io {
        error.hint(if scope(args) == Some(ScopeKind::User) {
            message!(typed.flag(Opt::Project), " works in this project instead")
        } else {
            let own = Call { scope: Some(ScopeKind::User), ..typed };
            message!(own, " works on your own skills instead")
        })
    } else {
        error
    }
}

/// Returns which skills `--since` and `--changed` choose.
fn changes(since: Option<&String>, changed: bool) -> Changes {
    match since {
        Some(reference) => Changes::Since(reference.clone()),
        None if changed => Changes::Uncommitted,
        None => Changes::All,
    }
}

/// Reports whether `path` means standard input.
fn is_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns the targets in `paths`. `-` means standard input, which is to become the file `input`.
fn targets(paths: &[PathBuf], input: Option<&Path>) -> Result<Vec<Target>> {
    if paths.iter().filter(|path| is_input(path)).count() > 1 {
        return Err(Error::usage("`-` is given twice, but standard input can be read only once")
            .hint("leave one of them out"));
    }
    let target = |path: &PathBuf| {
        if is_input(path) {
            Ok(Target::Text { bytes: standard_input()?, file: input.map(Path::to_owned) })
        } else {
            Ok(Target::Path(path.clone()))
        }
    };
    paths.iter().map(target).collect()
}

/// Reads all of standard input, the text of a skill.
fn standard_input() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_SKILL_FILE + 1).read_to_end(&mut bytes);
    read.map_err(|error| Error::io("failed to read standard input").because(error))?;
    if bytes.len() as u64 > MAX_SKILL_FILE {
        return Err(Error::usage(format!("standard input has more than {} MiB", MAX_SKILL_FILE >> 20))
            .hint("a `SKILL.md` should be a few pages of text"));
    }
    Ok(bytes)
}

/// Returns the scope that the flags name.
fn scope(args: &ScopeArgs) -> Option<ScopeKind> {
    match (args.scope, args.global, args.project) {
        (Some(ScopeArg::User), ..) | (None, true, _) => Some(ScopeKind::User),
        (Some(ScopeArg::Project), ..) | (None, _, true) => Some(ScopeKind::Project),
        (None, false, false) => None,
    }
}
