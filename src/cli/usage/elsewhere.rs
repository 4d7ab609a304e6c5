//! The words of other tools, and what to type here: with the words that were typed.

use std::ffi::OsString;

use clap::Args as _;
use clap::error::{ContextKind, ContextValue};

use super::named;
use crate::cli::args::Global;
use crate::cli::commands::Command;
use crate::cli::parse::takes_next_word;
use crate::cli::words::{PROGRAM, VERSION, command_of, help_of};
use skillpm_format::advice::Opt::{Branch, Fix, Force, Format, Frozen, Json, Latest, Rev, Skill, Store, Tag};
use skillpm_format::advice::{Message, Opt, Part, Verb, message};
use skillpm_format::spec::SourceSpec;
use skillpm_format::text::shell_word;

/// Words of other tools, and the answer to them.
pub(super) type Elsewhere = (&'static [&'static str], fn() -> Message);

/// Returns the answer to `word` in `table`.
pub(super) fn elsewhere<'a>(table: impl IntoIterator<Item = &'a Elsewhere>, word: &str) -> Option<Message> {
    table.into_iter().find(|(words, _)| words.contains(&word)).map(|(_, hint)| hint())
}

/// Verbs of other tools, and the equivalent here.
pub(super) const VERBS_ELSEWHERE: [Elsewhere; 29] = [
    (&["about", "ver", "version"], || {
        let check = Verb::SelfCheck.call().word("check");
        message!(VERSION, " prints the version, ", check, " whether there is a newer one")
    }),
    (&["bug", "issue", "issues"], || message!(VERSION, " names the home page, where problems are reported")),
    (&["cat"], || message!(Verb::Read.call().word("NAME").word("SKILL.md"), " prints a file of a skill")),
    (&["check"], || {
        message!(Verb::Outdated, " shows what is newer, ", Verb::Verify, " whether everything is as locked")
    }),
    (&["ci", "restore"], || message!(Verb::Install.call().flag(Frozen), " installs exactly what is locked")),
    (&["clean"], || message!(Verb::Cache.call().word("clean"), " removes all downloads")),
    (&["completion"], || {
        let bash = Verb::Completions.call().word("bash");
        message!(bash, " prints what bash needs to complete the words of `skillpm`")
    }),
    (&["config", "env", "set"], || {
        message!("`skillpm.toml` holds the settings of a project, ", Verb::Policy, " shows what holds here")
    }),
    (&["del", "delete", "erase", "purge"], || message!(Verb::Remove.call().word("NAME"), " removes a skill")),
    (&["doc", "docs", "manual"], || {
        let page = help_of(&format!("{PROGRAM} COMMAND"));
        message!(page, " names the page of a command, ", Verb::Man, " prints a manual")
    }),
    (&["exec", "x"], || message!(Verb::Run.call().word("NAME").word("SCRIPT"), " runs a script of a skill")),
    (&["fetch", "get", "pull"], || {
        let install = Verb::Install.call().word("owner/repo");
        message!(install, " installs skills, ", Verb::Update, " brings newer versions")
    }),
    (&["fix", "repair"], || {
        message!(
            Verb::Doctor.call().flag(Fix),
            " repairs what is installed, ",
            Verb::Validate.call().flag(Fix),
            " what you write"
        )
    }),
    (&["inspect", "view"], || message!(Verb::Show.call().word("NAME"), " shows everything about a skill")),
    (&["lock"], || {
        message!(Verb::Install, " writes `skillpm.lock`, ", Verb::Update, " updates it to newer versions")
    }),
    (&["auth", "login", "logout"], || {
        message!(
            Verb::Registry.call().word("login"),
            " keeps a token for a registry; `GITHUB_TOKEN` is for GitHub, `SKILLPM_TOKEN_<HOST>` or `~/.netrc` for \
             other hosts, and git uses its own"
        )
    }),
    (&["metadata", "freeze"], || {
        message!(Verb::List.call().flag(Json), " prints what is installed, for programs")
    }),
    (&["preview", "use"], || message!(Verb::Invoke.call().word("NAME"), " shows what an agent gets")),
    (&["pin", "unpin"], || {
        let pin = Verb::Install.call().word("owner/repo").option(Tag, "v1");
        let past = Verb::Update.call().word("NAME").flag(Latest);
        message!(pin, " pins a skill, ", past, " goes past that")
    }),
    (&["prune"], || {
        message!(Verb::Cache.call().word("prune"), " removes what has not been used for a while")
    }),
    (&["release"], || {
        message!(
            Verb::Publish,
            " publishes a skill to a registry; or push it to a git repository, so that ",
            Verb::Install.call().word("owner/repo"),
            " finds it"
        )
    }),
    (&["ref", "checkout", "switch"], || {
        let branch = Verb::Install.call().word("owner/repo").option(Branch, "NAME");
        message!(branch, " takes another branch, ", Tag, " and ", Rev, " a fixed version")
    }),
    (&["reinstall"], || {
        let force = Verb::Install.call().flag(Force);
        message!(Verb::Verify, " shows what differs, ", force, " replaces what you edited")
    }),
    (&["revert", "rollback"], || message!(Verb::Undo, " undoes the last change")),
    (&["scan"], || message!(Verb::Validate, " checks skills")),
    (&["self-update", "selfupdate"], || {
        message!(
            Verb::SelfCheck.call().word("check"),
            " shows how skillpm was installed and whether there is a newer version; ",
            Verb::Update,
            " is for skills"
        )
    }),
    (&["status"], || {
        message!(Verb::List, " shows what is installed and edited, ", Verb::Doctor, " what is broken")
    }),
    (&["store"], || message!(Verb::Cache.call().word("dir"), " shows where the store is, and its size")),
    (&["where", "which"], || {
        message!(Verb::Why.call().word("NAME"), " explains why a skill is installed, and where it is")
    }),
];

/// Options of other tools for what another verb does here: the command, the options, the verb, and what it does.
const OTHER_VERBS: [(&str, &[&str], Verb, &str); 7] = [
    ("list", &["-o", "--outdated"], Verb::Outdated, " shows what is newer"),
    ("update", &["--check"], Verb::Outdated, " shows what is newer, with `--exit-code` as a check"),
    ("outdated", &["--check"], Verb::Outdated, " shows what is newer, with `--exit-code` as a check"),
    ("remove", &["-a", "--agent"], Verb::Unlink, " takes skills from agents and leaves them installed"),
    ("disable", &["-a", "--agent"], Verb::Unlink, " takes skills from agents and leaves them installed"),
    ("enable", &["-a", "--agent"], Verb::Link, " shows skills to agents"),
    ("install", &["-U", "--upgrade", "--update"], Verb::Update, " brings newer versions"),
];

/// Options for a revision, which here is a part of the source, each with the verbs that do not have it.
const PINS: [(Verb, &[&str]); 2] = [
    (Verb::Install, &["--pin", "--ref", "--version"]),
    (Verb::Update, &["--branch", "--pin", "--ref", "--rev", "--tag"]),
];

/// Words of other tools for the actions of a command, each with the command.
pub(super) const ACTIONS_ELSEWHERE: [(Verb, Elsewhere); 12] = [
    (Verb::Agents, (&["list", "ls", "show"], || message!(Verb::Agents, " lists the agents on this machine"))),
    (
        Verb::Agents,
        (&["add", "enable", "set"], || {
            let agents = Verb::Agents.call().word("use").word("claude-code").word("cursor");
            message!(agents, " remembers which agents you use")
        }),
    ),
    (
        Verb::Cache,
        (&["du", "info", "list", "location", "ls", "path", "show", "size", "status"], || {
            let dir = Verb::Cache.call().word("dir");
            message!(dir, " shows where the store and the downloads are, and their size")
        }),
    ),
    (
        Verb::Cache,
        (&["clear", "delete", "empty", "purge", "remove", "rm"], || {
            message!(
                Verb::Cache.call().word("clean"),
                " removes all downloads, with ",
                Store,
                " the store too"
            )
        }),
    ),
    (
        Verb::Cache,
        (&["gc"], || {
            message!(Verb::Cache.call().word("prune"), " removes what has not been used for a while")
        }),
    ),
    (
        Verb::Cache,
        (&["check", "fix", "repair"], || {
            let verify = Verb::Cache.call().word("verify");
            message!(verify, " checks everything; with ", Fix, " it deletes what is damaged")
        }),
    ),
    (
        Verb::Mcp,
        (&["run", "serve", "server", "start", "stdio"], || {
            message!(Verb::Mcp, " serves the skills; a client starts it")
        }),
    ),
    (
        Verb::Mcp,
        (&["add", "register", "setup"], || {
            message!(Verb::Mcp.call().word("install"), " sets up a client, so that it starts the server")
        }),
    ),
    (
        Verb::Mcp,
        (&["check", "list", "ls", "show"], || {
            message!(Verb::Mcp.call().word("status"), " shows which clients are set up")
        }),
    ),
    (
        Verb::Registry,
        (&["create", "new"], || {
            message!(Verb::Registry.call().word("init"), " makes a directory a registry")
        }),
    ),
    (
        Verb::Registry,
        (&["publish", "push"], || {
            message!(Verb::Registry.call().word("add").word("DIR"), " publishes the skill in `DIR`")
        }),
    ),
    (
        Verb::Registry,
        (&["delete", "remove", "rm"], || {
            let yank = Verb::Registry.call().word("yank").word("NAME@VERSION");
            message!(yank, " hides a version from new installations")
        }),
    ),
];

/// The names of other tools' options here, and the commands that have them, if these are not all commands with the
/// options in the hint.
const OPTIONS_ELSEWHERE: [(&[&str], Elsewhere); 5] = [
    (
        &["install"],
        (&["--all"], || {
            message!(
                (Skill, "*"),
                " takes all skills, ",
                (Opt::Agent, "*"),
                " links them for all agents on this machine"
            )
        }),
    ),
    (
        &["diff", "import", "outdated", "update", "verify"],
        (&["--all"], || message!("leave out the name to use all skills")),
    ),
    (&[], (&["--user"], || message!(Opt::Global, " is for your own skills, in every project"))),
    (&[], (&["--output-format", "--reporter"], || message!(Format, " chooses the format"))),
    (&[], (&["--format", "--output-format"], || message!(Json, " prints JSON"))),
];

/// Returns the command here that does what another tool does with an option: with the words that were typed.
pub(super) fn of_another_verb(error: &clap::Error, arguments: &[OsString]) -> Option<Message> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return None };
    let (_, command) = named(arguments);
    let (command, words) = (command?, words_behind(arguments)?);
    let is_it = |(name, options, ..): &&(&str, &[&str], Verb, &str)| {
        *name == command.get_name() && options.contains(&typed.as_str())
    };
    let (_, _, verb, does) = OTHER_VERBS.iter().find(is_it)?;
    let other = Command::alone(verb.name())?;
    let global = Global::augment_args(clap::Command::new(PROGRAM));
    let (mut line, mut is_value) = (verb.name().to_owned(), false);
    for word in words {
        let text = word.to_str()?;
        if !std::mem::take(&mut is_value) {
            let takes = [&other, &global].into_iter().find_map(|command| takes_next_word(command, text));
            let is_option = text.starts_with('-');
            // What comes from somewhere is not what is installed, and all is meant without a name.
            if is_option && takes.is_none() || text == "*" || text.parse::<SourceSpec>().is_ok() {
                continue;
            }
            is_value = is_option && takes == Some(true);
        }
        line = format!("{line} {}", shell_word(word));
    }
    Some(message!(command_of(&line), *does))
}

/// Returns the command that installs a revision, which other tools name by an option: with the words that were typed.
pub(super) fn pinned(error: &clap::Error, arguments: &[OsString]) -> Option<Message> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return None };
    let command = named(arguments).1?;
    let is_it =
        |(verb, pins): &&(Verb, &[&str])| verb.name() == command.get_name() && pins.contains(&typed.as_str());
    let takes_names = PINS.iter().find(is_it)?.0 == Verb::Update;
    let source = |word: &str| word.parse::<SourceSpec>().ok().filter(|_| !word.starts_with('-'));
    let mut words =
        words_behind(arguments)?.iter().map(|word| word.to_string_lossy().into_owned()).peekable();
    let sources = words.clone().filter(|word| source(word).is_some()).count();
    let (mut others, mut revision) = (Vec::new(), None);
    while let Some(word) = words.next() {
        match word.strip_prefix(typed.as_str()) {
            // A branch such as `fix/typo` looks like a source; if there is only one source, it is not the revision.
            Some("") => {
                let may_be = |next: &str| takes_names || sources > 1 || source(next).is_none();
                revision = words.next_if(|next| !next.starts_with('-') && may_be(next));
            }
            Some(value) if value.starts_with('=') => revision = Some(value[1..].to_owned()),
            _ if takes_names && !word.starts_with('-') => others.extend(["-s".to_owned(), word]),
            _ => others.push(word),
        }
    }
    let revision = revision.unwrap_or_else(|| "REF".to_owned());
    let mut is_there = false;
    for word in &mut others {
        let Some(spec) = source(word).filter(|spec| spec.reference.is_none()) else { continue };
        is_there = true;
        *word = match (spec.skill, word.rsplit_once('@')) {
            (Some(skill), Some((source, last))) if last == skill => format!("{source}#{revision}@{skill}"),
            _ => format!("{word}#{revision}"),
        };
    }
    if !is_there {
        others.insert(0, format!("owner/repo#{revision}"));
    }
    let line: Vec<_> = others.iter().map(shell_word).collect();
    Some(message!(command_of(&format!("{} {}", Verb::Install.name(), line.join(" "))), " pins a revision"))
}

/// Returns the words behind the command that was typed.
fn words_behind(arguments: &[OsString]) -> Option<&[OsString]> {
    let is_command = |word: &OsString| word.to_str().is_some_and(|word| Command::alone(word).is_some());
    let at = arguments.iter().skip(1).position(is_command)?;
    arguments.get(at + 2..)
}

/// Returns the name here of another tool's option that was typed.
pub(super) fn of_other_tools(error: &clap::Error, arguments: &[OsString]) -> Option<Message> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return None };
    let command = named(arguments).1?;
    let has = |part: &Part| match part {
        Part::Option(option, _) => command.get_arguments().any(|arg| arg.get_long() == Some(option.name())),
        Part::Text(_) | Part::Run(_) | Part::Setting(..) => true,
    };
    let fits = |commands: &[&str], hint: &Message| match commands {
        [] => hint.parts().iter().all(has),
        commands => commands.contains(&command.get_name()),
    };
    OPTIONS_ELSEWHERE
        .iter()
        .filter(|(_, (names, _))| names.contains(&typed.as_str()))
        .map(|(commands, (_, hint))| (commands, hint()))
        .find(|(commands, hint)| fits(commands, hint))
        .map(|(_, hint)| hint)
}
