//! Answers to command lines that clap does not turn into a command: help pages and mistakes.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::args::Command;
use super::exit;
use super::printer::Printer;
use crate::error::{Error, Result};
use crate::text::{closest, shell_word};

/// Prints the page that was asked for, or returns the mistake in our own form.
///
/// `arguments` are the words that were read, the program's name first.
pub(crate) fn answer(error: &clap::Error, arguments: &[OsString], printer: &Printer) -> Result<u8> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            printer.styled_data(&error.render().ansi().to_string());
            Ok(exit::SUCCESS)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            printer.styled_talk(&error.render().ansi().to_string());
            Ok(exit::USAGE)
        }
        ErrorKind::InvalidSubcommand => Err(unknown_command(error)),
        _ => Err(mistake(error, arguments)),
    }
}

fn unknown_command(error: &clap::Error) -> Error {
    let word = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => word.as_str(),
        _ => "",
    };
    let new = Error::usage(format!("there is no command `{word}`"));
    if let Some((_, hint)) = VERBS_ELSEWHERE.iter().find(|(words, _)| words.contains(&word)) {
        return new.hint(*hint);
    }
    match closest(word, Command::names()) {
        Some(name) => new.hint(format!("did you mean `skillpm {name}`?")),
        None => new.hint("`skillpm --help` lists the commands"),
    }
}

/// Verbs of other tools, and what does the same here.
const VERBS_ELSEWHERE: [(&[&str], &str); 8] = [
    (&["check"], "`skillpm outdated` tells what is newer, `skillpm verify` whether all is as locked"),
    (&["ci", "restore"], "`skillpm install --frozen` installs what is locked, and nothing else"),
    (&["find", "search"], "`skillpm install --list owner/repo` shows which skills a repository has"),
    (&["inspect", "view"], "`skillpm show NAME` tells what is known of a skill"),
    (&["preview", "use"], "`skillpm invoke NAME` shows what an agent gets"),
    (
        &["pin", "unpin"],
        "`skillpm install owner/repo --tag v1` pins a skill, `skillpm update NAME --latest` goes past that",
    ),
    (&["prune"], "`skillpm cache prune` removes what was not used for long"),
    (&["scan"], "`skillpm validate` checks skills"),
];

/// Takes message and tips out of clap's text, which looks like
/// `error: message\n\n  tip: text\n\nUsage: skillpm list [OPTIONS]\n\nFor more ...`.
fn mistake(error: &clap::Error, arguments: &[OsString]) -> Error {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let (message, rest) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut new = Error::usage(in_our_words(message));
    // clap gives no tip where the command takes no words.
    let behind = behind_option(error, arguments).or_else(|| of_other_tools(error, arguments));
    let tips = rest.lines().filter_map(|line| line.trim_start().strip_prefix("tip: "));
    for tip in tips.filter(|tip| behind.is_none() || !tip.starts_with(AS_A_VALUE)) {
        let word = if tip.starts_with(AS_A_VALUE) { taken_for_option(error, arguments) } else { None };
        new = new.hint(match word {
            Some((_, value)) => format!("to pass it as a value, write `-- {}`", shell_word(value)),
            None => in_our_words(tip),
        });
    }
    new = behind.into_iter().fold(new, Error::hint);
    new.hint(format!("`{} --help` shows what is possible", command(rest, arguments)))
}

/// How the tip begins that tells how to pass an argument as what it is. It names its first letter alone.
const AS_A_VALUE: &str = "to pass";

/// The argument that was taken for an option, whole and as it was typed, and the one before it.
fn taken_for_option<'a>(error: &clap::Error, arguments: &'a [OsString]) -> Option<(&'a str, &'a OsString)> {
    let Some(ContextValue::String(start)) = error.get(ContextKind::InvalidArg) else { return None };
    let at = arguments.iter().position(|word| word.to_string_lossy().starts_with(start.as_str()))?;
    Some((arguments[at.checked_sub(1)?].to_str()?, &arguments[at]))
}

/// How the argument that was taken for an option is passed to the option before it, which takes a value.
fn behind_option(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    let (before, value) = taken_for_option(error, arguments)?;
    let is_before = |arg: &clap::Arg| {
        arg.get_long().is_some_and(|long| before == format!("--{long}"))
            || arg.get_short().is_some_and(|short| before == format!("-{short}"))
    };
    let takes_it = |arg: &clap::Arg| arg.get_action().takes_values() && is_before(arg);
    let command = named(arguments).1?;
    let takes_it = command.get_arguments().any(takes_it);
    takes_it.then(|| format!("to pass it as a value, write `{before}={}`", shell_word(value)))
}

/// What options of other tools are called here, of the command that installs.
const OPTIONS_ELSEWHERE: [(&str, &str); 3] = [
    ("--all", "`--skill '*'` takes all skills, `--agent '*'` links them for all agents on this machine"),
    ("--pin", "`--tag`, `--branch` or `--rev` names a revision, or `#` behind the source"),
    ("--ref", "`--tag`, `--branch` or `--rev` names a revision, or `#` behind the source"),
];

/// What the option is called here that another tool has under the name that was typed.
fn of_other_tools(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return None };
    let is_install = named(arguments).1.is_some_and(|command| command.get_name() == "install");
    let (_, hint) = OPTIONS_ELSEWHERE.iter().find(|(name, _)| is_install && name == typed)?;
    Some((*hint).to_owned())
}

/// One line, with backticks around literals.
fn in_our_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('\'', "`")
}

/// Returns the command that the usage line names; where there is none, as where a value is wrong, the one that was
/// typed.
fn command(text: &str, arguments: &[OsString]) -> String {
    if let Some(usage) = text.lines().find_map(|line| line.strip_prefix("Usage: ")) {
        let is_word = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
        return usage.split(' ').take_while(is_word).collect::<Vec<_>>().join(" ");
    }
    named(arguments).0
}

/// The command that was typed, with the verb of a verb where there is one: what it is called, and its arguments.
fn named(arguments: &[OsString]) -> (String, Option<clap::Command>) {
    let mut typed = arguments.iter().skip(1).filter_map(|word| word.to_str());
    let Some((word, command)) = typed.find_map(|word| Some((word, Command::alone(word)?))) else {
        return ("skillpm".to_owned(), None);
    };
    let verb = typed.find_map(|word| Some((word, command.find_subcommand(word)?.clone())));
    match verb {
        Some((verb, inner)) => (format!("skillpm {word} {verb}"), Some(inner)),
        None => (format!("skillpm {word}"), Some(command)),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::args::Cli;

    fn told(line: &str) -> (String, Vec<String>) {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = Cli::try_parse_from(&arguments).expect_err(line);
        let (printer, ..) = crate::cli::printer::testing::printer(crate::cli::look::Look::PLAIN);
        let error = answer(&error, &arguments, &printer).expect_err(line);
        assert_eq!(error.kind().exit_code(), exit::USAGE);
        (error.to_string(), error.hints().to_vec())
    }

    #[test]
    fn unknown_commands_name_the_closest() {
        for (typed, meant) in
            [("instal", "install"), ("isntall", "install"), ("lst", "list"), ("unistall", "uninstall")]
        {
            let (message, hints) = told(&format!("skillpm {typed}"));
            assert_eq!(message, format!("there is no command `{typed}`"));
            assert_eq!(hints, [format!("did you mean `skillpm {meant}`?")]);
        }
        assert_eq!(told("skillpm xyzzy").1, ["`skillpm --help` lists the commands"]);
    }

    #[test]
    fn mistakes_say_what_where_and_how() {
        assert_eq!(
            told("skillpm install --skil x o/r"),
            (
                "unexpected argument `--skil` found".to_owned(),
                vec![
                    "a similar argument exists: `--skill`".to_owned(),
                    "`skillpm install --help` shows what is possible".to_owned()
                ]
            )
        );
        assert_eq!(
            told("skillpm remove"),
            (
                "the following required arguments were not provided: <NAME>...".to_owned(),
                vec!["`skillpm remove --help` shows what is possible".to_owned()]
            )
        );
        let (message, hints) = told("skillpm install o/r --scope here");
        assert_eq!(message, "invalid value `here` for `--scope <SCOPE>` [possible values: project, user]");
        assert_eq!(hints, ["`skillpm install --help` shows what is possible"]);
        // With the verbs of a verb, whether clap tells its usage or not.
        for line in ["skillpm cache prune --nothing", "skillpm cache prune --older-than x"] {
            assert_eq!(told(line).1, ["`skillpm cache prune --help` shows what is possible"]);
        }
    }

    /// What is told of a verb of another tool is a command of this one.
    #[test]
    fn verbs_of_other_tools() {
        let known: Vec<_> = Command::names().collect();
        for (words, hint) in VERBS_ELSEWHERE {
            for word in words {
                assert_eq!(told(&format!("skillpm {word} x")).1, [hint]);
                assert!(!known.contains(word), "{word} is a command");
            }
            for command in hint.split("`skillpm ").skip(1) {
                let verb = command.split([' ', '`']).next().expect("a word");
                assert!(known.contains(&verb), "{verb}");
            }
        }
    }

    #[test]
    fn options_of_other_tools() {
        for line in ["skillpm install o/r --all", "skillpm add o/r -g --all -y"] {
            let (_, hints) = told(line);
            assert!(hints[0].starts_with("`--skill '*'` takes all skills"), "{hints:?}");
            assert_eq!(hints.len(), 2, "{hints:?}");
        }
        assert!(told("skillpm install o/r --ref v1").1.iter().any(|hint| hint.starts_with("`--tag`")));
        assert!(told("skillpm list --all").1.iter().all(|hint| !hint.contains("'*'")));
    }

    /// The whole argument, so that the command can be typed.
    #[test]
    fn values_that_begin_with_a_sign_of_options() {
        for (line, hint) in [
            ("skillpm create x -d -Lists.", "`-d=-Lists.`"),
            ("skillpm create x --description -Lists.", "`--description=-Lists.`"),
            ("skillpm create -y -Lists.", "`-- -Lists.`"),
            ("skillpm read pdf -dash.md", "`-- -dash.md`"),
            ("skillpm cache prune --older-than -30d", "`--older-than=-30d`"),
        ] {
            let (_, hints) = told(line);
            assert_eq!(hints[0], format!("to pass it as a value, write {hint}"), "{line}");
            let right = line.rsplit_once(' ').map_or(line, |(right, _)| right).to_owned();
            let (option, value) = hint.trim_matches('`').split_once(['=', ' ']).expect("two parts");
            let right = match option {
                "--" => format!("{right} -- {value}"),
                option => format!("{}{option}={value}", right.trim_end_matches(option)),
            };
            // What a value may be is the next question.
            let kind = Cli::try_parse_from(right.split(' ')).err().map(|error| error.kind());
            assert!(matches!(kind, None | Some(ErrorKind::ValueValidation)), "{right}: {kind:?}");
        }
    }

    /// The page is that of `skillpm`, by whatever name the program was called.
    #[test]
    fn the_name_of_the_program_does_not_matter() {
        for program in ["skillpm.exe", "/opt/skill_pm"] {
            let (_, hints) = told(&format!("{program} list --nothing"));
            assert_eq!(hints, ["`skillpm list --help` shows what is possible"], "{program}");
        }
    }
}
