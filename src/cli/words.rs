//! Words of the command line that no message has: the program itself, and its help pages.

use skillpm_format::advice::{Call, CommandLine, Message};

/// The name of the program.
pub(crate) const PROGRAM: &str = "skillpm";

/// How to print the version, and where the program is from.
pub(crate) const VERSION: &str = "`skillpm --version`";

/// How to see all commands.
pub(crate) const ALL_COMMANDS: &str = "`skillpm help --all`";

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
    CommandLine::typed(PROGRAM, call)
}

/// Returns `message` in the words of the command line.
pub(crate) fn worded(message: &Message) -> String {
    message.worded(&CommandLine)
}

#[cfg(test)]
mod tests {
    use crate::cli::commands::Command;
    use skillpm_format::advice::{Opt, Verb};

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
