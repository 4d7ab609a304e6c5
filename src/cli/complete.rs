//! Shell completion. The script of a shell asks skillpm itself, so that it knows the installed skills.

use std::ffi::{OsStr, OsString};
use std::io;

use clap::CommandFactory as _;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, ValueCompleter};
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};
use dialoguer::console::truncate_str;

use super::args::Cli;
use super::commands::Command;
use super::exit;
use super::printer::Printer;
use super::render::one_line;
use skillpm_core::agents;
use skillpm_core::session::named::{known, scripts_of};
use skillpm_format::lint;
use skillpm_sources::env::{self, Env};
use skillpm_sources::error::{Error, Result};
use skillpm_sources::settings::Settings;

/// The largest part of a description shown next to a name, in columns.
const MOST_HELP: usize = 60;

/// The end of the zsh script. zsh reads a file of `fpath` when completion is first requested, and must then
/// offer words immediately.
const AT_FIRST_CALL: &str = r#"
if [ "$funcstack[1]" = "_skillpm" ]; then
    _clap_dynamic_completer_skillpm "$@"
fi
"#;

/// Returns the script that teaches the shell `name` to ask.
pub(super) fn script(name: &str) -> Result<String> {
    let mut script = Vec::new();
    let program = "skillpm";
    let written =
        shell(name)?.write_registration(env::SKILLPM_COMPLETE, program, program, program, &mut script);
    written.map_err(not_made)?;
    if name == "zsh" {
        script.extend_from_slice(AT_FIRST_CALL.as_bytes());
    }
    String::from_utf8(script).map_err(|error| not_made(io::Error::other(error)))
}

/// Answers the script of a shell, whose name is in `env`. `arguments` are this program's name, `--` and the
/// typed words.
pub(super) fn answer(env: &Env, arguments: &[OsString], printer: &Printer) -> Result<u8> {
    let name = env.get(env::SKILLPM_COMPLETE).unwrap_or_default();
    printer.content(&candidates(env, name, arguments)?);
    Ok(exit::SUCCESS)
}

fn candidates(env: &Env, name: &str, arguments: &[OsString]) -> Result<String> {
    let shell = shell(name)?;
    let start = arguments.iter().position(|word| word == "--").map_or(arguments.len(), |at| at + 1);
    let words = arguments[start..].to_vec();
    if words.is_empty() {
        return Ok(String::new());
    }
    let settings = Settings::from_env(env.clone())?;
    let cwd = settings.cwd.clone();
    let (mut program, mut text) = (program(&settings, &words), Vec::new());
    shell.write_complete(&mut program, words, Some(&cwd), &mut text).map_err(not_made)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn shell(name: &str) -> Result<&'static dyn EnvCompleter> {
    Ok(match name {
        "bash" => &Bash,
        "zsh" => &Zsh,
        "fish" => &Fish,
        "powershell" => &Powershell,
        "elvish" => &Elvish,
        _ => {
            return Err(Error::usage(format!("there is no shell `{name}`"))
                .hint("`bash`, `zsh`, `fish`, `powershell` and `elvish` are known"));
        }
    })
}

fn not_made(error: io::Error) -> Error {
    Error::usage("the words could not be completed").because(error)
}

/// Returns the program with all commands, whose arguments know their possible values.
fn program(settings: &Settings, words: &[OsString]) -> clap::Command {
    let whole = Cli::command();
    let mut program = whole.clone();
    for command in whole.get_subcommands() {
        let name = command.get_name().to_owned();
        let Some(alone) = Command::alone(&name) else { continue };
        let about = command.get_about().cloned().unwrap_or_default();
        let alone = alone.about(about).mut_args(|arg| with_values(arg, &name, settings, words));
        program = program.mut_subcommand(&name, |_| alone);
    }
    program
}

/// Commands whose `NAME` is not that of an installed skill.
const NEW_NAMES: &[&str] = &["create", "install"];

/// Options whose `NAME` is that of an installed skill. That of others names a registry, a tag or an author.
const SKILL_OPTIONS: &[&str] = &["allow-new-capabilities", "restore", "skill"];

fn with_values(arg: clap::Arg, command: &str, settings: &Settings, words: &[OsString]) -> clap::Arg {
    let named = arg.get_value_names().and_then(|names| names.first()).map(|name| name.as_str().to_owned());
    let is_skill = arg.get_long().is_none_or(|long| SKILL_OPTIONS.contains(&long));
    let kind = match named.as_deref() {
        Some("NAME") if is_skill && !NEW_NAMES.contains(&command) => Kind::Skill,
        Some("AGENT") => Kind::Agent,
        Some("RULE") => Kind::Rule,
        Some("COMMAND") => Kind::Command,
        _ => return arg,
    };
    let follows = match command {
        "run" => Follows::Script,
        "invoke" => Follows::Anything,
        _ => Follows::Same,
    };
    arg.add(ArgValueCompleter::new(Values {
        kind,
        follows,
        settings: settings.clone(),
        words: words.to_vec(),
    }))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Skill,
    Agent,
    Rule,
    Command,
}

/// The kind of words after the first value of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Follows {
    /// More values of the same kind.
    Same,
    /// A script and its arguments.
    Script,
    /// Unknown.
    Anything,
}

/// Offers the possible values of an argument.
struct Values {
    kind: Kind,
    follows: Follows,
    settings: Settings,
    words: Vec<OsString>,
}

impl ValueCompleter for Values {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let values: Vec<(String, String)> = match (self.kind, self.follows) {
            (Kind::Skill, Follows::Same) => known(&self.settings).into_iter().collect(),
            (Kind::Skill, _) => self.skill_or_script(),
            (Kind::Agent, _) => {
                agents::all().iter().map(|agent| (agent.id.to_owned(), agent.name.to_owned())).collect()
            }
            (Kind::Rule, _) => {
                lint::RULES.iter().map(|rule| (rule.id.to_owned(), rule.summary.to_owned())).collect()
            }
            (Kind::Command, _) => Command::names().map(|name| (name.to_owned(), String::new())).collect(),
        };
        beginning_with(current, values)
    }
}

impl Values {
    /// Returns skills if no skill was typed yet, then the scripts of the typed skill, and nothing after that.
    fn skill_or_script(&self) -> Vec<(String, String)> {
        let names = known(&self.settings);
        let typed: Vec<_> = self.words.iter().filter_map(|word| word.to_str()).collect();
        let before = typed.split_last().map_or(&[][..], |(_, before)| before);
        let Some(at) = before.iter().position(|word| names.contains_key(*word)) else {
            return names.into_iter().collect();
        };
        if self.follows != Follows::Script || at + 1 < before.len() {
            return Vec::new();
        }
        scripts_of(&self.settings, before[at]).into_iter().map(|script| (script, String::new())).collect()
    }
}

fn beginning_with(current: &OsStr, values: Vec<(String, String)>) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let fitting = values.into_iter().filter(|(value, _)| value.starts_with(&*current));
    let candidate = |(value, help): (String, String)| {
        let help = truncate_str(&one_line(&help), MOST_HELP, "…").into_owned();
        CompletionCandidate::new(value).help(Some(help).filter(|help| !help.is_empty()).map(Into::into))
    };
    fitting.map(candidate).collect()
}
