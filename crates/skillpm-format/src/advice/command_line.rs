//! Wording of messages for the command line: verbs as commands that can be pasted, options as flags.

use std::fmt::Write as _;

use super::{Argument, Call, Opt, Wording};
use crate::scope_kind::ScopeKind;
use crate::text::shell_word;

/// The wording of the command line, for the programs that have one and for the commands that other front ends name.
#[derive(Debug, Clone, Copy)]
pub struct CommandLine;

impl CommandLine {
    /// Returns the words that pass `arguments`, quoted where a shell needs it.
    pub fn words<'a>(arguments: impl IntoIterator<Item = &'a Argument>) -> Vec<String> {
        let word = |argument: &Argument| match argument {
            Argument::Word(word) => shell_word(word),
            Argument::Option(option, value) => flag(*option, value.as_deref()),
        };
        arguments.into_iter().map(word).collect()
    }

    /// Returns `call` as it is typed for `program`.
    pub fn typed(program: &str, call: &Call) -> String {
        let scope = call.scope.map_or("", scope_flag);
        let mut text = format!("{program} {}{scope}", call.verb.name());
        for word in Self::words(&call.arguments) {
            // Writing to a string cannot fail.
            let _ = write!(text, " {word}");
        }
        text
    }
}

/// Returns the flag that chooses `scope`, as typed after a verb, with a space before it. Empty for the project, which is
/// the default.
fn scope_flag(scope: ScopeKind) -> &'static str {
    match scope {
        ScopeKind::Project => "",
        ScopeKind::User => " -g",
    }
}

impl Wording for CommandLine {
    fn call(&self, call: &Call) -> String {
        let mut text = format!("`{}`", Self::typed("skillpm", call));
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
    if matches!(option, Opt::AllowNewCapabilities | Opt::Fix | Opt::WriteBaseline) { '=' } else { ' ' }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::{Verb, message};

    #[test]
    fn commands_and_flags() {
        let call =
            Verb::Install.within(ScopeKind::User).flag(Opt::List).word("git+x;y").option(Opt::Skill, "*");
        let told = message!("so: ", call, ", or ", (Opt::Tag, "NAME"), ", ", Opt::Force);
        assert_eq!(
            told.worded(&CommandLine),
            "so: `skillpm install -g --list 'git+x;y' --skill '*'`, or `--tag NAME`, `--force`"
        );
        let call = Verb::Undo.within(ScopeKind::Project).project(Some("/x".as_ref()));
        assert_eq!(message!(call).worded(&CommandLine), "`skillpm undo` in `/x`");
    }
}
