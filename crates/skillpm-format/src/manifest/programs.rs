//! The table `[mcp]`: names for programs that serve skills over the Model Context Protocol.

use std::collections::BTreeMap;

use toml_edit::{Item, Key};

use super::error::ManifestError;
use super::read::{Reader, fault};
use super::settings::LocatedText;
use crate::advice::Message;
use crate::spec::is_program_name;

/// The programs that a manifest names, each with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Programs(BTreeMap<String, Vec<LocatedText>>);

impl Programs {
    /// Returns the program called `name` and its arguments.
    pub fn get(&self, name: &str) -> Option<impl Iterator<Item = &str>> {
        self.0.get(name).map(|command| command.iter().map(|word| word.text.as_str()))
    }

    /// Returns the names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the error for a manifest that may not name programs, with `hint`, if it names one.
    pub fn misplaced(&self, hint: impl FnOnce() -> Message) -> Option<ManifestError> {
        let (name, command) = self.0.first_key_value()?;
        let message = format!("`[mcp.{name}]` names a program to start, which only your own manifest may do");
        Some(command.first()?.error(message, Some(hint())))
    }
}

impl Reader<'_> {
    /// Reads `[mcp]`.
    pub(super) fn programs(&self, item: &Item) -> Result<Programs, ManifestError> {
        let table = self.table(item, "`mcp`")?;
        let mut programs = BTreeMap::new();
        for (name, item) in table.iter() {
            if !is_program_name(name) {
                let message =
                    format!("`{name}` cannot be the name of an MCP server: use `a` to `z`, digits and `-`");
                return Err(fault(self.text, table.key(name).and_then(Key::span), message));
            }
            programs.insert(name.to_owned(), self.command(name, item)?);
        }
        Ok(Programs(programs))
    }

    fn command(&self, name: &str, item: &Item) -> Result<Vec<LocatedText>, ManifestError> {
        let wrong = |item: &Item, message: String| ManifestError {
            hint: Some("write `command = [\"PROGRAM\", \"ARGUMENT\"]`".into()),
            ..self.fault(item, message)
        };
        let table = item
            .as_table_like()
            .ok_or_else(|| wrong(item, format!("`mcp.{name}` must be a table with `command`")))?;
        self.known(table, &["command"])?;
        let Some(at) = table.get("command") else {
            return Err(wrong(item, format!("`[mcp.{name}]` has no `command`")));
        };
        let command = self.list(table, "command").map_err(|error| wrong(at, error.message))?;
        if command.first().is_none_or(|program| program.text.is_empty()) {
            return Err(wrong(at, "`command` names no program".to_owned()));
        }
        if command.iter().any(|word| word.text.contains('\0')) {
            return Err(wrong(at, "`command` must not contain NUL characters".to_owned()));
        }
        Ok(command)
    }
}

#[cfg(test)]
mod tests {
    use crate::manifest::Manifest;

    #[test]
    fn programs_have_names_and_arguments() {
        let text = "[mcp.docs]\ncommand = [\"docs-server\", \"--root\", \"a b\\n\"]\n[mcp]\nx1 = { command = [\"/x\"] }\n";
        let manifest = Manifest::parse(text).expect("valid");
        let programs = manifest.programs();
        assert_eq!(programs.names().collect::<Vec<_>>(), ["docs", "x1"]);
        let words: Vec<_> = programs.get("docs").expect("is there").collect();
        assert_eq!(words, ["docs-server", "--root", "a b\n"]);
        assert!(programs.get("other").is_none());
        let error = programs.misplaced(|| "move it".into()).expect("an error");
        assert_eq!((error.line, error.column), (2, 12));
        assert!(error.message.contains("[mcp.docs]"), "{error}");
        assert!(Manifest::default().programs().misplaced(|| "x".into()).is_none());
    }

    #[test]
    fn what_is_no_program_is_refused_where_it_is() {
        for (text, expected) in [
            ("mcp = 1", "1:7: `mcp` must be a table"),
            ("[mcp]\ndocs = \"x\"", "2:8: `mcp.docs` must be a table with `command`"),
            ("[mcp.docs]\n", "1:1: `[mcp.docs]` has no `command`"),
            ("[mcp.docs]\ncommand = \"x\"", "2:11: `command` must be a list of strings"),
            ("[mcp.docs]\ncommand = [\"x\", 1]", "2:11: `command` must be a list of strings"),
            ("[mcp.docs]\ncommand = []", "2:11: `command` names no program"),
            ("[mcp.docs]\ncommand = [\"\"]", "2:11: `command` names no program"),
            ("[mcp.docs]\ncommand = [\"x\", \"\\u0000\"]", "2:11: `command` must not contain NUL"),
            ("[mcp.docs]\ncommand = [\"x\"]\nargs = []", "3:1: the key `args` is not known here"),
            ("[mcp.Docs]\ncommand = [\"x\"]", "1:6: `Docs` cannot be the name of an MCP server"),
        ] {
            let error = Manifest::parse(text).expect_err(text);
            assert!(error.to_string().starts_with(expected), "{text}: {error}");
            assert!(error.hint.is_some() || text.contains("Docs") || text.contains("= 1"), "{text}");
        }
    }
}
