//! Parsing of the command line.

use std::ffi::OsString;
use std::mem;

use clap::{ArgMatches, Args as _, FromArgMatches as _};

use super::args::{self, Cli, Global};
use super::commands::Command;

/// A valid command line.
pub(crate) struct Parsed {
    pub(crate) cli: Cli,
    /// Whether JSON was requested.
    pub(crate) json: bool,
}

/// Parses `arguments`, the program's name first.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Parsed, clap::Error> {
    let mut program = args::program();
    let mut matches = program.try_get_matches_from_mut(arguments)?;
    let json = requests_json(&matches);
    match Cli::from_arg_matches_mut(&mut matches) {
        Ok(cli) => Ok(Parsed { cli, json }),
        Err(error) => Err(error.format(&mut program)),
    }
}

/// Reports whether a command or one of its actions has `--json` or `--format json`.
fn requests_json(matches: &ArgMatches) -> bool {
    let flag = matches!(matches.try_get_one::<bool>("json"), Ok(Some(true)));
    let mut formats = matches.try_get_raw("format").ok().flatten().into_iter().flatten();
    flag || formats.any(|format| format == "json")
        || matches.subcommand().is_some_and(|(_, matches)| requests_json(matches))
}

/// Returns `arguments` with a command's options moved after the command: `-g list` becomes `list -g`. Options
/// of all commands may precede it anyway. Leaves arguments that begin with any other word unchanged.
pub(crate) fn command_first(arguments: Vec<OsString>) -> Vec<OsString> {
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    if !arguments.get(1).is_some_and(is_option) {
        return arguments;
    }
    let place = |at: &usize| {
        let before = arguments.get(1..*at)?;
        let command = Command::alone(arguments[*at].to_str()?)?;
        are_of(&command, before).then_some(())
    };
    let ends = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
    match (2..ends).find(|at| place(at).is_some()) {
        Some(at) => {
            let mut ordered = arguments;
            ordered[1..=at].rotate_right(1);
            ordered
        }
        None => arguments,
    }
}

/// Returns `arguments` with the registry that an action of `registry` takes as a word where the action expects it: `registry
/// mirror m -r acme` becomes `registry mirror acme m`.
pub(crate) fn registry_in_place(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let own_name = |word: &OsString| word.to_str().and_then(Command::own_name);
    let command = arguments.iter().enumerate().skip(1).find_map(|(at, word)| Some((at, own_name(word)?)));
    let Some((at, "registry")) = command else { return arguments };
    let action = arguments.get(at + 1).and_then(|word| word.to_str());
    let action = action.and_then(|word| Command::alone("registry")?.find_subcommand(word).cloned());
    let takes_word =
        |action: &clap::Command| !action.has_subcommands() && takes_next_word(action, "--registry").is_none();
    if !action.is_some_and(|action| takes_word(&action)) {
        return arguments;
    }
    let ends = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
    let is_it = |word: &OsString| word == "-r" || word == "--registry";
    // What stands before the command is not the action's.
    let own = || (at + 2..ends).filter_map(|at| Some((at, arguments.get(at)?)));
    let apart = own().find(|(option, word)| is_it(word) && option + 1 < ends).map(|(option, _)| option);
    let (option, value) = if let Some(option) = apart {
        (option, arguments.remove(option + 1))
    } else {
        let of = |word: &OsString| word.to_str()?.strip_prefix("--registry=").map(OsString::from);
        let Some(joined) = own().find_map(|(at, word)| Some((at, of(word)?))) else { return arguments };
        joined
    };
    arguments.remove(option);
    arguments.insert(at + 2, value);
    arguments
}

/// Reports whether all of `words` are options and their values, and at least one belongs to `command` and not
/// to all commands.
fn are_of(command: &clap::Command, words: &[OsString]) -> bool {
    let global = Global::augment_args(clap::Command::new("skillpm"));
    let (mut own, mut takes_next) = (false, false);
    for word in words {
        if mem::take(&mut takes_next) {
            continue;
        }
        let Some(word) = word.to_str().filter(|word| word.starts_with('-')) else { return false };
        match (takes_next_word(&global, word), takes_next_word(command, word)) {
            (Some(takes), _) => takes_next = takes,
            (None, Some(takes)) => (own, takes_next) = (true, takes),
            (None, None) => return false,
        }
    }
    own && !takes_next
}

/// Reports whether the next word is the value of the option of `command` that `word` names, or of the last of
/// several short ones in one word. Returns `None` if it is not an option of `command`.
pub(crate) fn takes_next_word(command: &clap::Command, word: &str) -> Option<bool> {
    let takes_value = |arg: &clap::Arg| arg.get_action().takes_values() && !is_optional(arg);
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        let mut of_name = command.get_arguments();
        let arg =
            of_name.find(|arg| arg.get_long_and_visible_aliases().is_some_and(|all| all.contains(&name)))?;
        return Some(value.is_none() && takes_value(arg));
    }
    let mut letters = word.strip_prefix('-')?.chars();
    loop {
        let letter = letters.next()?;
        let arg = command.get_arguments().find(|arg| arg.get_short() == Some(letter))?;
        let rest = letters.as_str();
        if rest.is_empty() || arg.get_action().takes_values() {
            return Some(rest.is_empty() && takes_value(arg));
        }
    }
}

/// Reports whether the value of an option may be omitted: then it is never the next word.
fn is_optional(arg: &clap::Arg) -> bool {
    arg.get_num_args().is_some_and(|range| range.min_values() == 0)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        ["skillpm"].into_iter().chain(line.split(' ')).map(OsString::from).collect()
    }

    #[test]
    fn options_of_a_command_may_stand_before_it() {
        for (typed, meant) in [
            ("-g list", "list -g"),
            ("--json list", "list --json"),
            ("-q -g list --json", "list -q -g --json"),
            ("--scope user list", "list --scope user"),
            ("--scope=user list", "list --scope=user"),
            ("--skill list install o/r", "install --skill list o/r"),
            ("-gs pdf add o/r", "add -gs pdf o/r"),
            ("-g run pdf x", "-g run pdf x"),
            ("-v list", "-v list"),
            ("--color always list -g", "--color always list -g"),
            ("--json --color always list", "list --json --color always"),
            ("-g lst install o/r", "-g lst install o/r"),
            ("--nothing list", "--nothing list"),
            ("-g -- list", "-g -- list"),
            ("list -g", "list -g"),
            ("-g", "-g"),
            ("--help list", "--help list"),
        ] {
            assert_eq!(command_first(words(typed)), words(meant), "{typed}");
        }
        assert!(parse(&command_first(words("-g list"))).is_ok());
    }

    #[test]
    fn a_registry_is_named_in_one_way() {
        for (typed, meant) in [
            ("registry mirror -r acme m", "registry mirror acme m"),
            ("registry mirror m pdf --registry acme --json", "registry mirror acme m pdf --json"),
            ("-q registry bundle --registry=acme b.zip", "-q registry bundle acme b.zip"),
            ("registry login -r acme --with-token", "registry login acme --with-token"),
            ("registry logout -r acme", "registry logout acme"),
            ("registry init -r site --name acme", "registry init site --name acme"),
            ("registry site -r x --out y", "registry site x --out y"),
            ("registry serve --listen 1 -r x", "registry serve x --listen 1"),
            // These have the option.
            ("registry list -r acme pdf", "registry list -r acme pdf"),
            ("registry owner list pdf -r acme", "registry owner list pdf -r acme"),
            ("registry mirror -r", "registry mirror -r"),
            ("-r acme registry logout", "-r acme registry logout"),
            ("--registry=acme registry logout", "--registry=acme registry logout"),
            ("registry serve -- -r x", "registry serve -- -r x"),
            ("run registry mirror -r x", "run registry mirror -r x"),
            ("registry", "registry"),
        ] {
            assert_eq!(registry_in_place(words(typed)), words(meant), "{typed}");
        }
    }

    #[test]
    fn who_requests_json() {
        for (line, expected) in [
            ("list --json", true),
            ("list", false),
            ("validate --format json x", true),
            ("validate --format sarif x", false),
            ("registry verify --json", true),
            ("invoke pdf --json", false),
            ("run x y --json", false),
        ] {
            assert_eq!(parse(&words(line)).map(|parsed| parsed.json).ok(), Some(expected), "{line}");
        }
    }

    #[test]
    fn every_command_is_known_by_each_of_its_names() {
        let mut names = Vec::new();
        for command in Cli::command().get_subcommands() {
            for name in command.get_all_aliases().chain([command.get_name()]) {
                assert!(Command::alone(name).is_some(), "{name}");
                names.extend((name.len() > 1).then(|| name.to_owned()));
            }
        }
        names.push("help".to_owned());
        names.sort_unstable();
        let mut suggested: Vec<_> = Command::names().collect();
        suggested.sort_unstable();
        assert_eq!(names, suggested);
    }
}
