//! The wording of hints: commands of this program where it has them, else those of `skillpm`.

use skillpm_format::advice::{Call, CommandLine, Message, Opt, Verb, Wording};
use skillpm_format::text::shell_word;

/// The wording of the program.
struct Program;

/// Returns `hint` as it is typed on the machine of the server.
pub(crate) fn for_operator(hint: &Message) -> String {
    hint.worded(&Program)
}

/// Returns `hint` as those type it who publish and install.
pub(crate) fn for_client(hint: &Message) -> String {
    hint.worded(&CommandLine)
}

impl Wording for Program {
    fn call(&self, call: &Call) -> String {
        match &call.positional().collect::<Vec<_>>()[..] {
            ["init", dir] if call.verb == Verb::Registry => {
                format!("`skillpm-registry init {}`", shell_word(dir))
            }
            _ => CommandLine.call(call),
        }
    }

    fn option(&self, option: Opt, value: Option<&str>) -> String {
        CommandLine.option(option, value)
    }
}

#[cfg(test)]
mod tests {
    use skillpm_format::advice::message;

    use super::*;

    #[test]
    fn each_program_has_its_commands() {
        let init = message!(Verb::Registry.call().word("init").word("a b"), " makes it one");
        assert_eq!(for_operator(&init), "`skillpm-registry init 'a b'` makes it one");
        assert_eq!(for_client(&init), "`skillpm registry init 'a b'` makes it one");
        let bump = message!(Verb::Bump.call().word("1.0.1"));
        assert_eq!(
            (for_operator(&bump), for_client(&bump)),
            ("`skillpm bump 1.0.1`".into(), "`skillpm bump 1.0.1`".into())
        );
    }
}
