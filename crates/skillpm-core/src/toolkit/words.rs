//! How a model reads messages: by the names of its tools, where they do what a message suggests.

use crate::advice::{Argument, Call, Message, Opt, Part, Verb, Wording};

/// The wording of the tools, with that of the user for everything else.
struct Tools<'a>(&'a dyn Wording);

impl Wording for Tools<'_> {
    fn call(&self, call: &Call) -> String {
        tool(call).unwrap_or_else(|| self.0.call(call))
    }

    fn option(&self, option: Opt, value: Option<&str>) -> String {
        self.0.option(option, value)
    }

    fn setting(&self, key: &str, value: &str) -> String {
        self.0.setting(key, value)
    }
}

/// Returns the call of a tool that does what `call` says, if there is one.
fn tool(call: &Call) -> Option<String> {
    let arguments: Option<Vec<&str>> = call.arguments.iter().map(word).collect();
    let with = |tool: &str, keys: &[&str]| {
        let arguments = arguments.as_ref().filter(|arguments| arguments.len() == keys.len())?;
        let pairs = keys.iter().zip(arguments).map(|(key, value)| format!("`{key}` `{value}`"));
        let pairs: Vec<_> = pairs.collect();
        let pairs = if pairs.is_empty() { String::new() } else { format!(" with {}", pairs.join(" and ")) };
        Some(format!("`{tool}`{pairs}"))
    };
    match call.verb {
        Verb::Catalog | Verb::List => with("list_skills", &[]),
        Verb::Search => with("search_skills", &["query"]),
        Verb::Invoke | Verb::Show => with("load_skill", &["name"]),
        // Without a file it lists them, as loading does.
        Verb::Read => with("load_skill", &["name"]).or_else(|| with("read_skill_file", &["name", "path"])),
        _ => None,
    }
}

fn word(argument: &Argument) -> Option<&str> {
    match argument {
        Argument::Word(word) => Some(word),
        Argument::Option(..) => None,
    }
}

/// Returns `message` in the words of the tools, and in those of `user` where no tool does what it suggests.
pub(super) fn worded(message: &Message, user: &dyn Wording) -> String {
    message.worded(&Tools(user))
}

/// Returns a hint to a model. What no tool can do is not for the model to try, but for its user to hear.
pub(super) fn hint(message: &Message, user: &dyn Wording) -> String {
    let is_for_tools = message.parts().iter().all(|part| match part {
        Part::Text(_) => true,
        Part::Run(call) => tool(call).is_some(),
        Part::Option(..) | Part::Setting(..) => false,
    });
    let text = worded(message, user);
    if is_for_tools { text } else { format!("for the user, on the command line: {text}") }
}

#[cfg(test)]
mod tests {
    use crate::advice::message;

    use super::*;

    /// The words of a command line.
    struct Typed;

    impl Wording for Typed {
        fn call(&self, call: &Call) -> String {
            format!("`skillpm {}`", call.verb.name())
        }

        fn option(&self, option: Opt, _value: Option<&str>) -> String {
            format!("`--{}`", option.name())
        }
    }

    #[test]
    fn hints_name_tools_or_are_for_the_user() {
        for (told, expected) in [
            (message!("did you mean `a`?"), "did you mean `a`?"),
            (
                message!(Verb::Read.call().word("pdf"), " lists its files"),
                "`load_skill` with `name` `pdf` lists its files",
            ),
            (
                message!(Verb::Read.call().word("pdf").word("a.md"), " shows it"),
                "`read_skill_file` with `name` `pdf` and `path` `a.md` shows it",
            ),
            (message!(Verb::List, " shows them"), "`list_skills` shows them"),
            (
                message!(Opt::AllowModified, " runs it as it is"),
                "for the user, on the command line: `--allow-modified` runs it as it is",
            ),
            (
                message!("then run ", Verb::Trust.call().word("/x")),
                "for the user, on the command line: then run `skillpm trust`",
            ),
        ] {
            assert_eq!(hint(&told, &Typed), expected);
        }
    }
}
