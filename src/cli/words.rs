//! Wording of messages for the command line: verbs as commands that can be pasted, options as flags.

use std::fmt::Write as _;

use crate::advice::{Argument, Call, Message, Opt, Wording};
use crate::scope::ScopeKind;
use crate::text::shell_word;

/// The wording of the command line.
#[derive(Debug, Clone, Copy)]
pub struct CommandLine;

/// The name of the program.
pub(crate) const PROGRAM: &str = "skillpm";

/// How to print the version, and where the program is from.
pub(crate) const VERSION: &str = "`skillpm --version`";

/// Returns how to see the help page of `typed`: the program, or one of its commands.
pub(crate) fn help_of(typed: &str) -> String {
    format!("`{typed} --help`")
}

/// Returns how to type a command of the program, given the words after its name.
pub(crate) fn command_of(words: &str) -> String {
    format!("`{PROGRAM} {words}`")
}

/// Returns `call` as it is typed.
pub(crate) fn typed(call: &Call) -> String {
    CommandLine.call(call).trim_matches('`').to_owned()
}

/// Returns the words that pass `options`, as they are typed.
pub(crate) fn flags<'a>(options: impl IntoIterator<Item = &'a Argument>) -> Vec<String> {
    let flag = |argument: &Argument| match argument {
        Argument::Word(word) => shell_word(word),
        Argument::Option(option, value) => flag(*option, value.as_deref()),
    };
    options.into_iter().map(flag).collect()
}

/// Returns `message` in the words of the command line.
pub(crate) fn worded(message: &Message) -> String {
    message.worded(&CommandLine)
}

/// Returns the flag that chooses `scope`, as typed after a verb, with a space before it. Empty for the
/// project, which is the default.
pub(crate) fn scope_flag(scope: ScopeKind) -> &'static str {
    match scope {
        ScopeKind::Project => "",
        ScopeKind::User => " -g",
    }
}

impl Wording for CommandLine {
    fn call(&self, call: &Call) -> String {
        let scope = call.scope.map_or("", scope_flag);
        let mut text = format!("`skillpm {}{scope}", call.verb.name());
        for word in flags(&call.arguments) {
            // Writing to a string cannot fail.
            let _ = write!(text, " {word}");
        }
        text.push('`');
        if let Some(project) = &call.project {
            let _ = write!(text, " in `{}`", project.display());
        }
        text
    }

    fn option(&self, option: Opt, value: Option<&str>) -> String {
        format!("`{}`", flag(option, value))
    }
}

/// Returns the words that pass `option`.
fn flag(option: Opt, value: Option<&str>) -> String {
    let value = value.map_or_else(String::new, |value| format!("{}{}", behind(option), shell_word(value)));
    format!("--{}{value}", option.name())
}

/// Returns the separator between `option` and its value: `=` if the value is optional.
fn behind(option: Opt) -> char {
    if matches!(option, Opt::AllowNewCapabilities | Opt::Fix) { '=' } else { ' ' }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::{Verb, message};
    use crate::cli::commands::Command;

    #[test]
    fn commands_and_flags() {
        let call =
            Verb::Install.within(ScopeKind::User).flag(Opt::List).word("git+x;y").option(Opt::Skill, "*");
        let told = message!("so: ", call, ", or ", (Opt::Tag, "NAME"), ", ", Opt::Force);
        assert_eq!(
            worded(&told),
            "so: `skillpm install -g --list 'git+x;y' --skill '*'`, or `--tag NAME`, `--force`"
        );
        let call = Verb::Undo.within(ScopeKind::Project).project(Some("/x".as_ref()));
        assert_eq!(worded(&message!(call)), "`skillpm undo` in `/x`");
    }

    /// Everything that messages name can be typed.
    #[test]
    fn the_commands_and_their_options_exist() {
        let commands: Vec<_> = Verb::ALL.iter().filter_map(|verb| Command::alone(verb.name())).collect();
        assert_eq!(commands.len(), Verb::ALL.len(), "each verb is a command");
        let program = crate::cli::args::program();
        for option in Opt::ALL {
            let actions = commands.iter().flat_map(clap::Command::get_subcommands);
            let all = commands.iter().chain([&program]).chain(actions);
            let mut arguments = all.flat_map(clap::Command::get_arguments);
            let found = arguments.find(|argument| argument.get_long() == Some(option.name()));
            assert!(found.is_some(), "no command takes `--{}`", option.name());
        }
    }
}
