//! Answers to command lines that clap does not turn into a command: help pages and mistakes.

mod elsewhere;

use std::ffi::OsString;

use clap::Args as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use self::elsewhere::{
    ACTIONS_ELSEWHERE, VERBS_ELSEWHERE, elsewhere, of_another_verb, of_other_tools, pinned,
};
use super::args::Global;
use super::commands::Command;
use super::printer::Printer;
use super::words::{PROGRAM, command_of, help_of};
use super::{exit, help};
use skillpm_format::advice::{Message, Verb, message};
use skillpm_format::text::{and, closest, shell_word};
use skillpm_sources::error::{Error, Result};

/// Prints the requested help page, or returns the mistake in our own form.
///
/// `arguments` are the parsed words, the program's name first.
pub(crate) fn answer(error: &clap::Error, arguments: &[OsString], printer: &Printer) -> Result<u8> {
    match error.kind() {
        ErrorKind::DisplayVersion => {
            printer.data(&error.render().to_string());
            Ok(exit::SUCCESS)
        }
        ErrorKind::DisplayHelp => {
            let is_short = !arguments.iter().any(|word| word == "--help");
            printer.styled_data(&page(error, arguments, printer, is_short));
            Ok(exit::SUCCESS)
        }
        // Programs cannot read a page, and who typed an option knows the program.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if printer.look().json => {
            Err(nothing_to_do(arguments))
        }
        ErrorKind::MissingSubcommand => Err(nothing_to_do(arguments)),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            printer.styled_talk(&page(error, arguments, printer, true));
            Ok(exit::USAGE)
        }
        ErrorKind::InvalidSubcommand => Err(unknown_command(error, arguments)),
        _ => Err(mistake(error, arguments)),
    }
}

/// Returns the help page that clap would print.
fn page(error: &clap::Error, arguments: &[OsString], printer: &Printer, is_short: bool) -> String {
    let text = error.render().to_string();
    help::of(&command(&text, arguments), printer.look().help_columns(), is_short).unwrap_or(text)
}

/// Returns the error for a command line without a command, or without an action.
fn nothing_to_do(arguments: &[OsString]) -> Error {
    let typed = named(arguments).0;
    let what = if typed == PROGRAM { "a command" } else { "an action" };
    Error::usage(format!("`{typed}` needs {what}")).hint(message!(help_of(&typed), " lists them"))
}

fn unknown_command(error: &clap::Error, arguments: &[OsString]) -> Error {
    let word = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => word.as_str(),
        _ => "",
    };
    let (typed, command) = named(arguments);
    if let Some(command) = command.filter(clap::Command::has_subcommands) {
        let new = Error::usage(format!("there is no action `{word}` of `{typed}`"));
        let lists = || message!(help_of(&typed), " lists the actions");
        return new.hint(meant_action(&typed, &command, word).unwrap_or_else(lists));
    }
    let new = Error::usage(format!("there is no command `{word}`"));
    match (elsewhere(&VERBS_ELSEWHERE, word), closest(word, Command::names())) {
        (Some(hint), _) => new.hint(hint),
        (None, Some(name)) => new.hint(message!("did you mean ", command_of(name), "?")),
        (None, None) => new.hint(message!(help_of(PROGRAM), " lists the commands")),
    }
}

/// Returns advice to take the action of `command`, which was typed as `typed`, that `word` was probably meant to be.
fn meant_action(typed: &str, command: &clap::Command, word: &str) -> Option<Message> {
    let others = || {
        let of_it = ACTIONS_ELSEWHERE.iter().filter(|(verb, _)| verb.name() == command.get_name());
        of_it.map(|(_, other)| other)
    };
    let own = command.get_subcommands().map(clap::Command::get_name);
    let near = closest(word, own.chain(others().flat_map(|(words, _)| words.iter().copied())))?;
    let other = elsewhere(others(), near);
    Some(other.unwrap_or_else(|| message!(format_args!("did you mean `{typed} {near}`?"))))
}

/// Works like the advice on unknown actions for `word` of `verb`, which takes other words, too.
pub(crate) fn action_of(verb: Verb, word: &str) -> Option<Message> {
    meant_action(&format!("{PROGRAM} {}", verb.name()), &Command::alone(verb.name())?, word)
}

/// Extracts message and tips from clap's text, which looks like `error: message\n\n  tip: text\n\nUsage:
/// skillpm list [OPTIONS]\n\nFor more ...`.
fn mistake(error: &clap::Error, arguments: &[OsString]) -> Error {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let (message, rest) = text.split_once("\n\n").unwrap_or((text, ""));
    if let Some(missing) = missing(error) {
        let help = help_of(&command(rest, arguments));
        return Error::usage(missing).hint(message!(help, " shows all options"));
    }
    let mut new = Error::usage(in_our_words(message));
    // clap gives no tip if the command takes no words, does not know other tools, and calls alike what is not.
    let ours = behind_option(error, arguments)
        .or_else(|| of_another_verb(error, arguments))
        .or_else(|| pinned(error, arguments))
        .or_else(|| of_other_tools(error, arguments));
    let tips = rest.lines().filter_map(|line| line.trim_start().strip_prefix("tip: "));
    let mut hints: Vec<_> = match ours {
        Some(hint) => vec![hint],
        None => tips.filter_map(|tip| tip_of(tip, error, arguments)).collect(),
    };
    if hints.is_empty() {
        hints.extend(similar(error, arguments));
    }
    new = hints.into_iter().fold(new, Error::hint);
    new.hint(message!(help_of(&command(rest, arguments)), " shows all options"))
}

/// Returns what is missing, if a required argument or the value of one is.
fn missing(error: &clap::Error) -> Option<String> {
    let names = match (error.kind(), error.get(ContextKind::InvalidArg)?) {
        (ErrorKind::MissingRequiredArgument, ContextValue::Strings(names)) => names.as_slice(),
        (ErrorKind::TooFewValues, ContextValue::String(name)) => std::slice::from_ref(name),
        (ErrorKind::InvalidValue, ContextValue::String(name)) => match error.get(ContextKind::InvalidValue) {
            Some(ContextValue::String(value)) if value.is_empty() => {
                return Some(format!("{} needs a value", named_in_words(name)));
            }
            _ => return None,
        },
        _ => return None,
    };
    let words: Vec<_> = names.iter().map(|name| named_in_words(name)).collect();
    Some(format!("{} {} required", and(&words), if names.len() == 1 { "is" } else { "are" }))
}

/// Returns what people call the argument `name`, which is `--to <TARGET>` or `<WORD>...`.
fn named_in_words(name: &str) -> String {
    if name.starts_with('-') {
        return format!("`{}`", name.split([' ', '=', '[']).next().unwrap_or(name));
    }
    let inner = name.trim_start_matches(['<', '[']).split(['>', ']']).next().unwrap_or_default();
    match inner {
        "NAME" => "the name of a skill".to_owned(),
        "DIR" => "a directory".to_owned(),
        "NAME@VERSION" => "a version, such as `pdf@1.2.0`,".to_owned(),
        "PART|VERSION" => "a version, or the part of it to raise: `patch`, `minor` or `major`,".to_owned(),
        "SOURCE" => "a source, such as `owner/repo`,".to_owned(),
        "SHELL" => "a shell, `bash`, `zsh`, `fish`, `powershell` or `elvish`,".to_owned(),
        "VISIBILITY" => "a visibility".to_owned(),
        _ => {
            let word = inner.to_lowercase();
            format!("{} {word}", if word.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" })
        }
    }
}

/// Returns advice to take the option, or the value, that is nearest to what was typed.
fn similar(error: &clap::Error, arguments: &[OsString]) -> Option<Message> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let near = match error.kind() {
        ErrorKind::InvalidValue => {
            let Some(ContextValue::Strings(known)) = error.get(ContextKind::ValidValue) else { return None };
            closest(text(ContextKind::InvalidValue)?, known.iter().map(String::as_str))?.to_owned()
        }
        ErrorKind::UnknownArgument => {
            let typed = text(ContextKind::InvalidArg)?.strip_prefix("--")?;
            let all = clap::Command::new(PROGRAM);
            let all = Global::augment_args(named(arguments).1.unwrap_or(all));
            let shown = all.get_arguments().filter(|arg| !arg.is_hide_set());
            let known = shown.filter_map(clap::Arg::get_long_and_visible_aliases).flatten();
            format!("--{}", closest(typed, known)?)
        }
        _ => return None,
    };
    Some(message!(format_args!("did you mean `{near}`?")))
}

/// Returns a tip of clap in our own form, or `None` if it would not help.
fn tip_of(tip: &str, error: &clap::Error, arguments: &[OsString]) -> Option<Message> {
    let told = in_our_words(tip);
    if tip.starts_with("a similar") || tip.starts_with("some similar") {
        return None;
    }
    if tip.starts_with(AS_A_VALUE) {
        let Some((_, value)) = taken_for_option(error, arguments) else { return Some(told.into()) };
        let is_value = !is_option_name(&value.to_string_lossy());
        let value = shell_word(value);
        return is_value.then(|| message!(format_args!("to pass it as a value, write `-- {value}`")));
    }
    // The tip is about an option before its command.
    let moved = told.strip_prefix('`').and_then(|told| told.strip_suffix("` exists"));
    let moved = moved.map(|line| message!("options go after the command: ", command_of(line)));
    Some(moved.unwrap_or_else(|| told.into()))
}

/// Reports whether a word looks like an option, and not like a value that begins with a dash: `--json` and
/// `-j`, but not `-dash.md`.
fn is_option_name(word: &str) -> bool {
    let is_word = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic());
    match word.strip_prefix("--") {
        Some(name) => {
            let name = name.split('=').next().unwrap_or(name);
            is_word(name) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        }
        None => word.strip_prefix('-').is_some_and(|name| name.len() == 1 && name != "-"),
    }
}

/// The beginning of clap's tip on how to pass an argument as a value. The tip names only its first letter.
const AS_A_VALUE: &str = "to pass";

/// Returns the whole argument that was taken for an option, as typed, and the one before it.
fn taken_for_option<'a>(error: &clap::Error, arguments: &'a [OsString]) -> Option<(&'a str, &'a OsString)> {
    let Some(ContextValue::String(start)) = error.get(ContextKind::InvalidArg) else { return None };
    let at = arguments.iter().position(|word| word.to_string_lossy().starts_with(start.as_str()))?;
    Some((arguments[at.checked_sub(1)?].to_str()?, &arguments[at]))
}

/// Returns how to pass the argument that was taken for an option to the option before it, which takes a
/// value.
fn behind_option(error: &clap::Error, arguments: &[OsString]) -> Option<Message> {
    let (before, value) = taken_for_option(error, arguments)?;
    let is_before = |arg: &clap::Arg| {
        arg.get_long().is_some_and(|long| before == format!("--{long}"))
            || arg.get_short().is_some_and(|short| before == format!("-{short}"))
    };
    let takes_it = |arg: &clap::Arg| arg.get_action().takes_values() && is_before(arg);
    let command = named(arguments).1?;
    let takes_it = command.get_arguments().any(takes_it);
    let value = shell_word(value);
    takes_it.then(|| message!(format_args!("to pass it as a value, write `{before}={value}`")))
}

/// Returns the text as one line, with backticks around literals.
fn in_our_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('\'', "`")
}

/// Returns the command in the usage line; without one, as for an invalid value, the typed command.
fn command(text: &str, arguments: &[OsString]) -> String {
    if let Some(usage) = text.lines().find_map(|line| line.strip_prefix("Usage: ")) {
        let is_word = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
        return usage.split(' ').take_while(is_word).collect::<Vec<_>>().join(" ");
    }
    named(arguments).0
}

/// Returns the typed command and its action, if there is one: its name, and its arguments.
fn named(arguments: &[OsString]) -> (String, Option<clap::Command>) {
    let mut typed = arguments.iter().skip(1).filter_map(|word| word.to_str());
    let Some((word, command)) = typed.find_map(|word| Some((word, Command::alone(word)?))) else {
        return ("skillpm".to_owned(), None);
    };
    let (mut name, mut command) = (format!("{PROGRAM} {word}"), command);
    for word in typed {
        if let Some(inner) = command.find_subcommand(word).cloned() {
            (name, command) = (format!("{name} {word}"), inner);
        }
    }
    (name, Some(command))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::args::Cli;
    use crate::cli::words::worded;
    use skillpm_format::advice::Part;

    fn told(line: &str) -> (String, Vec<String>) {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = Cli::try_parse_from(&arguments).expect_err(line);
        let (printer, ..) = crate::cli::printer::testing::printer(crate::cli::appearance::Appearance::PLAIN);
        let error = answer(&error, &arguments, &printer).expect_err(line);
        assert_eq!(error.kind().exit_code(), exit::USAGE);
        (error.to_string(), error.hints().iter().map(worded).collect())
    }

    /// A page is for people.
    #[test]
    fn without_an_action_programs_get_an_error() {
        let look =
            crate::cli::appearance::Appearance { json: true, ..crate::cli::appearance::Appearance::PLAIN };
        for (line, message, help) in [
            ("skillpm", "`skillpm` needs a command", "`skillpm --help` lists them"),
            ("skillpm cache", "`skillpm cache` needs an action", "`skillpm cache --help` lists them"),
            ("skillpm -q", "`skillpm` needs a command", "`skillpm --help` lists them"),
        ] {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let error = Cli::try_parse_from(&arguments).expect_err(line);
            let (printer, ..) = crate::cli::printer::testing::printer(look.clone());
            let error = answer(&error, &arguments, &printer).expect_err(line);
            assert_eq!((error.to_string().as_str(), worded(&error.hints()[0]).as_str()), (message, help));
        }
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
        for far in ["xyzzy", "gem", "docsy", "homepage"] {
            assert_eq!(told(&format!("skillpm {far}")).1, ["`skillpm --help` lists the commands"], "{far}");
        }
    }

    #[test]
    fn mistakes_say_what_where_and_how() {
        assert_eq!(
            told("skillpm install --skil x o/r"),
            (
                "unexpected argument `--skil` found".to_owned(),
                vec![
                    "did you mean `--skill`?".to_owned(),
                    "`skillpm install --help` shows all options".to_owned()
                ]
            )
        );
        assert_eq!(
            told("skillpm disable"),
            (
                "the name of a skill is required".to_owned(),
                vec!["`skillpm disable --help` shows all options".to_owned()]
            )
        );
        let (message, hints) = told("skillpm install o/r --scope here");
        assert_eq!(message, "invalid value `here` for `--scope <SCOPE>` [possible values: project, user]");
        assert_eq!(hints, ["`skillpm install --help` shows all options"]);
        // With the action, whether clap prints its usage or not.
        for line in ["skillpm cache prune --nothing", "skillpm cache prune --older-than x"] {
            assert_eq!(told(line).1, ["`skillpm cache prune --help` shows all options"]);
        }
    }

    /// What a person reads has no angle brackets.
    #[test]
    fn what_is_required() {
        for (line, message) in [
            ("publish", "`--to` is required"),
            ("search", "a word is required"),
            ("link", "`--agent` is required"),
            ("bump", "a version, or the part of it to raise: `patch`, `minor` or `major`, is required"),
            ("registry mirror", "a registry and a directory are required"),
            ("registry yank", "a version, such as `pdf@1.2.0`, is required"),
            ("registry owner add pdf", "`--registry` and an account are required"),
            ("catalog --check", "`--write` is required"),
            ("export", "a format is required"),
            ("run", "the name of a skill is required"),
            ("install --skill", "`--skill` needs a value"),
        ] {
            assert_eq!(told(&format!("skillpm {line}")).0, message, "{line}");
        }
        for name in help::testing::names() {
            let line = format!("skillpm {name}");
            let arguments: Vec<OsString> = line.trim_end().split(' ').map(OsString::from).collect();
            let Err(error) = Cli::try_parse_from(&arguments) else { continue };
            if let Some(missing) = missing(&error) {
                assert!(!missing.contains(['<', '[', '|']), "{line}: {missing}");
            }
        }
    }

    /// Options and values, where clap takes for similar what is not.
    #[test]
    fn near_misses() {
        for (line, near) in [
            ("list --globl", Some("--global")),
            ("list --JSON", Some("--json")),
            ("install o/r --dry_run", Some("--dry-run")),
            ("list --verbos", Some("--verbose")),
            ("completions bsh", Some("bash")),
            ("completions tcsh", None),
            ("tools --format openapi", Some("openai")),
            ("tools --format nope", None),
            ("list --nope", None),
        ] {
            let hints = told(&format!("skillpm {line}")).1;
            let expected = near.map(|near| format!("did you mean `{near}`?"));
            let meant = hints.iter().find(|hint| hint.starts_with("did you mean"));
            assert_eq!(meant, expected.as_ref(), "{line}: {hints:?}");
            assert!(!hints.iter().any(|hint| hint.contains("similar")), "{line}: {hints:?}");
        }
    }

    /// The answer to a verb of another tool is a command of this one.
    #[test]
    fn verbs_of_other_tools() {
        let known: Vec<_> = Command::names().collect();
        for (words, hint) in VERBS_ELSEWHERE {
            for word in words {
                assert_eq!(told(&format!("skillpm {word} x")).1, [worded(&hint())]);
                assert!(!known.contains(word), "{word} is a command");
            }
        }
    }

    /// So are the answers to actions of other tools.
    #[test]
    fn actions_of_other_tools() {
        for (verb, (words, hint)) in ACTIONS_ELSEWHERE {
            let command = Command::alone(verb.name()).expect("a command");
            for word in words {
                assert_eq!(action_of(verb, word).as_ref().map(worded), Some(worded(&hint())), "{word}");
                assert!(command.find_subcommand(word).is_none(), "there is an action `{word}`");
            }
            let hint = hint();
            let Some(Part::Run(call)) = hint.parts().first() else { panic!("{hint}") };
            let action = call.positional().next();
            let is_known = action.is_none_or(|action| command.find_subcommand(action).is_some());
            assert!(call.verb == verb && is_known, "{hint}");
        }
        let clean = "`skillpm cache clean` removes all downloads, with `--store` the store too";
        for (typed, hint) in [
            ("cache clear", clean),
            ("cache cleer", clean),
            ("cache prnue", "did you mean `skillpm cache prune`?"),
            ("cache xyzzy", "`skillpm cache --help` lists the actions"),
            ("registry lst", "did you mean `skillpm registry list`?"),
            ("registry owner lsit", "did you mean `skillpm registry owner list`?"),
            ("registry clean", "`skillpm registry --help` lists the actions"),
            ("mcp instal", "did you mean `skillpm mcp install`?"),
            ("mcp serve", "`skillpm mcp` serves the skills; a client starts it"),
        ] {
            let (message, hints) = told(&format!("skillpm {typed}"));
            let (command, word) = typed.rsplit_once(' ').expect("two words");
            assert_eq!(message, format!("there is no action `{word}` of `skillpm {command}`"));
            assert_eq!(hints, [hint]);
        }
        assert!(Cli::try_parse_from(["skillpm", "registry", "ls"]).is_ok());
        assert_eq!(action_of(Verb::Agents, "nope"), None);
    }

    /// An unknown option is not a value, and the answer for a possible value says where it goes.
    #[test]
    fn options_that_there_are_not() {
        let help = "`skillpm install --help` shows all options";
        for line in
            ["skillpm install o/r --frobnicate", "skillpm install o/r -x", "skillpm install o/r --xyz=1"]
        {
            assert_eq!(told(line).1, [help], "{line}");
        }
        assert_eq!(
            told("skillpm install o/r --user").1[0],
            "`--global` is for your own skills, in every project"
        );
        assert_eq!(told("skillpm list --format json").1[0], "`--json` prints JSON");
        assert_eq!(told("skillpm validate --output-format json").1[0], "`--format` chooses the format");
        assert_eq!(told("skillpm update --all").1[0], "leave out the name to use all skills");
        assert_eq!(told("skillpm --json list").1[0], "options go after the command: `skillpm list --json`");
    }

    #[test]
    fn options_of_other_tools() {
        for line in ["skillpm install o/r --all", "skillpm add o/r -g --all -y"] {
            let (_, hints) = told(line);
            assert!(hints[0].starts_with("`--skill '*'` takes all skills"), "{hints:?}");
            assert_eq!(hints.len(), 2, "{hints:?}");
        }
        for (line, meant) in [
            ("install o/r --ref v1", "install 'o/r#v1'"),
            ("add o/r@pdf -g --pin=v1", "install 'o/r#v1@pdf' -g"),
            ("install o/r --pin", "install 'o/r#REF'"),
            ("install --pin v1 -s pdf", "install 'owner/repo#v1' -s pdf"),
            ("install o/r --pin -s pdf", "install 'o/r#REF' -s pdf"),
            ("install --pin o/r", "install 'o/r#REF'"),
            ("install --pin -s pdf o/r", "install -s pdf 'o/r#REF'"),
            ("install o/r@pdf --pin --offline", "install 'o/r#REF@pdf' --offline"),
            ("install o/r --pin fix/typo", "install 'o/r#fix/typo'"),
            ("update pdf --tag v1.1.0 -g", "install 'owner/repo#v1.1.0' -s pdf -g"),
            ("update --branch fix/typo pdf", "install 'owner/repo#fix/typo' -s pdf"),
            ("list --outdated pdf -g", "outdated pdf -g"),
            ("ls -o --json", "outdated --json"),
            ("outdated pdf --check", "outdated pdf"),
            ("update pdf --check -y", "outdated pdf"),
            ("rm pdf -a claude-code -y", "unlink pdf -a claude-code"),
            ("remove --all --agent cursor -g", "unlink --agent cursor -g"),
            ("remove -s '*' -a cursor", "unlink -a cursor"),
            ("disable pdf -a cursor", "unlink pdf -a cursor"),
            ("enable -a cursor -g", "link -a cursor -g"),
            ("install -U", "update"),
            ("install o/r -s pdf --upgrade", "update pdf"),
            ("i --upgrade pdf --dry-run", "update pdf --dry-run"),
        ] {
            let words: Vec<_> = line.split(' ').map(|word| word.trim_matches('\'')).collect();
            let (_, hints) = told(&format!("skillpm {}", words.join(" ")));
            assert!(hints[0].starts_with(&format!("`skillpm {meant}` ")), "{line}: {hints:?}");
        }
        assert!(told("skillpm sync --ref v1").1.iter().all(|hint| !hint.contains('#')));
        assert!(told("skillpm list --all").1.iter().all(|hint| !hint.contains("'*'")));
    }

    /// The whole argument is shown, so that the command can be typed.
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
            // Whether the value is valid is another question.
            let kind = Cli::try_parse_from(right.split(' ')).err().map(|error| error.kind());
            assert!(matches!(kind, None | Some(ErrorKind::ValueValidation)), "{right}: {kind:?}");
        }
    }

    /// The page is that of `skillpm`, under any name of the program.
    #[test]
    fn the_name_of_the_program_does_not_matter() {
        for program in ["skillpm.exe", "/opt/skill_pm"] {
            let (_, hints) = told(&format!("{program} list --nothing"));
            assert_eq!(hints, ["`skillpm list --help` shows all options"], "{program}");
        }
    }
}
