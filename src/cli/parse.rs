//! From the words of a command line to what they ask for.
//!
//! Before clap reads a word it sets up every command and gives each a copy of the flags of all commands: most of
//! what a start of the program takes. So a line is first read by a program that has one command, the one that
//! the line seems to name. What that program does not take is read again by the whole one, which alone tells of
//! mistakes and prints help pages.

use std::ffi::OsString;
use std::mem;

use clap::{ArgMatches, Args as _, FromArgMatches as _};

use super::args::{self, Cli, Command, Global};

/// Reads `arguments`, the program's name first.
///
/// # Errors
///
/// A mistake, or a page that was asked for.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    match alone(arguments) {
        Some(cli) => Ok(cli),
        None => by_the_whole_program(arguments),
    }
}

fn by_the_whole_program(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let mut program = args::program();
    let mut matches = program.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut program))
}

/// `arguments` with the options of a command behind it: `-g list` becomes `list -g`. Options of all commands may stand
/// before it anyway. What begins with another word is left as it is.
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

/// Whether all of `words` are options and their values, and one of them is of `command` and not of all commands.
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

/// Whether the next word is a value of the option of `command` that `word` names, also the last of several short ones in
/// one word; `None` where that is no option of it.
fn takes_next_word(command: &clap::Command, word: &str) -> Option<bool> {
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

/// Whether the value of an option may be left away: then it is never the next word.
fn is_optional(arg: &clap::Arg) -> bool {
    arg.get_num_args().is_some_and(|range| range.min_values() == 0)
}

/// Reads `arguments` by the command alone that the first word names which is no flag. That word may be the value
/// of a flag, and then no command has its name, or the flag does not take it.
fn alone(arguments: &[OsString]) -> Option<Cli> {
    let word = arguments.iter().skip(1).find(|word| !word.as_encoded_bytes().starts_with(b"-"))?;
    let command = Command::alone(word.to_str()?)?;
    let mut program = Global::augment_args(clap::Command::new("skillpm"))
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .disable_version_flag(true)
        .subcommand(command);
    let mut matches = program.try_get_matches_from_mut(arguments).ok()?;
    let cli = from_matches(&mut matches).ok();
    // A process reads one line. To take apart what that was read with costs a short command more than it does.
    mem::forget((program, matches));
    cli
}

fn from_matches(matches: &mut ArgMatches) -> Result<Cli, clap::Error> {
    Ok(Cli {
        global: Global::from_arg_matches_mut(matches)?,
        command: Command::from_arg_matches_mut(matches)?,
        version: None,
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use proptest::prelude::*;

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

    fn told(cli: Result<Cli, clap::Error>) -> String {
        cli.map_or_else(|error| error.render().ansi().to_string(), |cli| format!("{cli:?}"))
    }

    fn both_agree(line: &str) {
        assert_eq!(told(parse(&words(line))), told(by_the_whole_program(&words(line))), "{line}");
    }

    #[test]
    fn every_command_is_read_alone_by_each_of_its_names() {
        let mut names = Vec::new();
        for command in Cli::command().get_subcommands() {
            for name in command.get_all_aliases().chain([command.get_name()]) {
                assert!(Command::alone(name).is_some(), "{name}");
                names.extend((name.len() > 1).then(|| name.to_owned()));
                for rest in ["", " x", " x y", " list", " --help", " -V", " --quiet", " --unknown", " -qv"] {
                    both_agree(&format!("{name}{rest}"));
                }
            }
        }
        names.push("help".to_owned());
        names.sort_unstable();
        let mut suggested: Vec<_> = Command::names().collect();
        suggested.sort_unstable();
        assert_eq!(names, suggested);
        for line in ["list", "ls --json", "-q --color=always add o/r --skill x", "validate --offline -- -x"] {
            assert!(alone(&words(line)).is_some(), "{line}");
        }
    }

    #[test]
    fn what_is_not_plainly_one_command_is_read_by_the_whole_program() {
        for line in
            ["", "-V", "--help", "-q", "lst", "--color always list", "--color list validate", "list --help"]
        {
            assert!(alone(&words(line)).is_none(), "{line}");
            both_agree(line);
        }
    }

    proptest! {
        #[test]
        fn lines_are_read_as_by_the_whole_program(
            words in proptest::collection::vec(
                "list|ls|validate|install|cache|clean|invoke|run|help|-q|-v|-qv|--color|--color=never|always|--offline|-g|-p|--scope|user|--json|-h|-V|--|-|x|--skill|--format|json|--fix|--fix=unsafe|--strict|é|",
                0..6,
            ),
        ) {
            both_agree(&words.join(" "));
        }
    }
}
