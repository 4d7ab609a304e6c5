//! From the words of a command line to what they ask for.
//!
//! Before clap reads a word it sets up every command and gives each a copy of the flags of all commands: most of
//! what a start of the program takes. So a line is first read by a program that has one command, the one that
//! the line seems to name. What that program does not take is read again by the whole one, which alone tells of
//! mistakes and prints help pages.

use std::ffi::OsString;
use std::mem;

use clap::{ArgMatches, Args as _, FromArgMatches as _, Parser as _};

use super::args::{Cli, Command, Global};

/// Reads `arguments`, the program's name first.
///
/// # Errors
///
/// A mistake, or a page that was asked for.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    match alone(arguments) {
        Some(cli) => Ok(cli),
        None => Cli::try_parse_from(arguments),
    }
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

    fn told(cli: Result<Cli, clap::Error>) -> String {
        cli.map_or_else(|error| error.render().ansi().to_string(), |cli| format!("{cli:?}"))
    }

    fn both_agree(line: &str) {
        assert_eq!(told(parse(&words(line))), told(Cli::try_parse_from(words(line))), "{line}");
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
