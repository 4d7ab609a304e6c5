//! Renders an activated skill in the form that a program asked for.

mod xml;

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::Serialize;

use self::xml::{attribute, section};
use super::placeholders::Activation;
use crate::text::{self, closest, visible_name};

/// The maximum number of files that a text lists. JSON, which programs read, lists all.
const MAX_FILES: usize = 200;
/// The maximum number of commands that a note lists.
const MAX_COMMANDS: usize = 5;

/// A form of the answer (conflict C9).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// A line with the skill's directory, then the instructions, as skillkit has it.
    #[default]
    Plain,
    /// The instructions alone, as langchain-skillkit has it.
    Bare,
    /// Like plain, followed by a list of the skill's files.
    Markdown,
    /// A JSON object, as Langflow has it.
    Json,
    /// An XML element, as the guide for clients describes it.
    Xml,
    /// The instructions, then the files with their absolute paths, as btw has it.
    Btw,
}

impl Form {
    /// All forms, with the names that select them.
    pub const NAMES: [(&'static str, Self); 6] = [
        ("plain", Self::Plain),
        ("bare", Self::Bare),
        ("markdown", Self::Markdown),
        ("json", Self::Json),
        ("xml", Self::Xml),
        ("btw", Self::Btw),
    ];

    /// Reports whether this form lists the skill's files.
    pub(crate) fn lists_files(self) -> bool {
        !matches!(self, Self::Plain | Self::Bare)
    }
}

/// The error for a text that names no form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", match .closest {
    Some(name) => format!("did you mean `{name}`?"),
    None => "`plain`, `bare`, `markdown`, `json`, `xml` or `btw` is expected".to_owned(),
})]
pub struct UnknownForm {
    /// The name that was probably meant.
    pub closest: Option<&'static str>,
}

impl FromStr for Form {
    type Err = UnknownForm;

    /// Parses a name; `s0` is an alias of `plain`.
    fn from_str(text: &str) -> Result<Self, UnknownForm> {
        let found = Self::NAMES.into_iter().find(|(name, _)| *name == text);
        let found = found.map(|(_, form)| form).or((text == "s0").then_some(Self::Plain));
        let closest = || closest(text, Self::NAMES.iter().map(|(name, _)| *name));
        found.ok_or_else(|| UnknownForm { closest: closest() })
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain",
            Self::Bare => "bare",
            Self::Markdown => "markdown",
            Self::Json => "json",
            Self::Xml => "xml",
            Self::Btw => "btw",
        })
    }
}

/// The answer of `load_skill` (S3-FR-14).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoadedSkill<'a> {
    /// The skill's name.
    pub skill_name: &'a str,
    /// The description.
    pub description: &'a str,
    /// The instructions, filled in.
    pub instructions: Cow<'a, str>,
    /// The other files, as `/`-separated paths below its directory.
    pub available_files: &'a [String],
}

impl Activation {
    /// Returns the answer in `form`.
    pub fn render(&self, form: Form) -> String {
        let instructions = self.instructions();
        match form {
            Form::Plain => self.headed(&instructions),
            Form::Bare => instructions.into_owned(),
            Form::Markdown => self.markdown(&instructions),
            // A value without maps and foreign types always serializes.
            Form::Json => serde_json::to_string(&self.as_json()).unwrap_or_default(),
            Form::Xml => self.xml(&instructions),
            Form::Btw => self.btw(instructions.into_owned()),
        }
    }

    /// Returns the answer as a value for JSON.
    pub fn as_json(&self) -> LoadedSkill<'_> {
        LoadedSkill {
            skill_name: &self.meta.name,
            description: &self.meta.description,
            instructions: self.instructions(),
            available_files: &self.files,
        }
    }

    /// Returns a note to the agent about the commands that were not run; `None` if there are none.
    pub fn note(&self) -> Option<String> {
        (!self.commands.is_empty()).then(|| {
            format!(
                "NOTE: these commands in the instructions were not run and appear as \
                 written, not as their output: {}",
                self.command_list()
            )
        })
    }

    /// Returns the first commands as a text, and how many more there are.
    pub(crate) fn command_list(&self) -> String {
        let shown: Vec<_> = self.commands.iter().take(MAX_COMMANDS).map(|c| format!("`{c}`")).collect();
        match self.commands.len() - shown.len() {
            0 => shown.join(", "),
            more => format!("{} and {more} more", shown.join(", ")),
        }
    }

    /// Returns the body, followed by the note if there is one.
    fn instructions(&self) -> Cow<'_, str> {
        match self.note() {
            Some(note) => format!("{}\n\n{note}\n", self.body.trim_end_matches('\n')).into(),
            None => self.body.as_str().into(),
        }
    }

    /// S0-US3.4, S0-FR-022: the directory comes first.
    fn headed(&self, instructions: &str) -> String {
        format!("Base directory for this skill: {}\n\n{instructions}", self.base_dir.display())
    }

    fn markdown(&self, instructions: &str) -> String {
        let mut text = self.headed(instructions);
        if self.files.is_empty() {
            return text;
        }
        text.truncate(text.trim_end().len());
        text.push_str("\n\n## Files of this skill\n\nPaths are relative to the base directory.\n\n");
        for file in self.files.iter().take(MAX_FILES) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "- {}", visible_name(file));
        }
        if let Some(more) = self.more() {
            let _ = writeln!(text, "- {more}");
        }
        text
    }

    fn xml(&self, instructions: &str) -> String {
        let mut text = format!("<skill_content name=\"{}\">\n", attribute(&self.meta.name));
        let _ = write!(
            text,
            "<![CDATA[{}\n]]>\nSkill directory: {}\nRelative paths in this skill are relative to the skill directory.\n",
            section(instructions.trim_end()),
            text::xml(&visible_name(&self.base_dir.to_string_lossy()))
        );
        if !self.files.is_empty() {
            text.push_str("<skill_resources>\n");
            for file in self.files.iter().take(MAX_FILES) {
                let _ = writeln!(text, "<file>{}</file>", text::xml(&visible_name(file)));
            }
            if let Some(more) = self.more() {
                let _ = writeln!(text, "<!-- {more} -->");
            }
            text.push_str("</skill_resources>\n");
        }
        text.push_str("</skill_content>\n");
        text
    }

    fn btw(&self, mut text: String) -> String {
        let groups = [("Scripts", "scripts/"), ("References", "references/"), ("Assets", "assets/")];
        let lists = groups.map(|(title, top)| {
            let of_group = self.files.iter().filter(|file| file.starts_with(top));
            let lines: Vec<_> = of_group
                .map(|file| format!("- {}", visible_name(&self.base_dir.join(file).to_string_lossy())))
                .collect();
            (title, lines)
        });
        let lists: Vec<_> = lists.iter().filter(|(_, lines)| !lines.is_empty()).collect();
        for (index, (title, lines)) in lists.iter().enumerate() {
            text.push_str(if index == 0 { "\n\n---\n\n## Bundled Resources\n" } else { "\n" });
            let _ = write!(text, "\n**{title}:**\n{}", lines.join("\n"));
        }
        text
    }

    /// Returns the line that says how many files a text does not list.
    fn more(&self) -> Option<String> {
        let more = self.files.len().saturating_sub(MAX_FILES);
        (more > 0).then(|| format!("and {more} more"))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::engine::{Arguments, activate};
    use crate::profile::Placeholders;
    use crate::skill::SkillMeta;

    pub(super) fn active(body: &str, files: &[&str]) -> Activation {
        let meta =
            SkillMeta { name: "pdf".into(), description: "Reads \"PDF\".".into(), ..SkillMeta::default() };
        let mut active =
            activate(meta, body, Path::new("/s/pdf"), &Arguments::new("a.pdf"), Placeholders::All);
        active.files = files.iter().map(|file| (*file).to_owned()).collect();
        active
    }

    const FILES: &[&str] = &["LICENSE", "assets/a&b.png", "references/forms.md", "scripts/fill.py"];

    #[test]
    fn forms_are_found_by_their_names() {
        for (name, form) in Form::NAMES {
            assert_eq!((name.parse(), form.to_string()), (Ok(form), name.to_owned()));
        }
        assert_eq!("s0".parse(), Ok(Form::Plain));
        assert_eq!("xmll".parse::<Form>().expect_err("a slip").to_string(), "did you mean `xml`?");
        assert!("yaml".parse::<Form>().expect_err("no form").to_string().starts_with("`plain`, "));
    }

    /// S0-US3.1, S0-US3.4, S0-FR-022, S4-17, conflict C9.
    #[test]
    fn texts() {
        let body = "Fill $ARGUMENTS.\n";
        let render = |form| active(body, FILES).render(form);
        assert_eq!(render(Form::Bare), "Fill a.pdf.\n");
        assert_eq!(render(Form::Plain), "Base directory for this skill: /s/pdf\n\nFill a.pdf.\n");
        insta::assert_snapshot!(render(Form::Markdown), @"
        Base directory for this skill: /s/pdf

        Fill a.pdf.

        ## Files of this skill

        Paths are relative to the base directory.

        - LICENSE
        - assets/a&b.png
        - references/forms.md
        - scripts/fill.py
        ");
        insta::assert_snapshot!(render(Form::Btw), @"
        Fill a.pdf.


        ---

        ## Bundled Resources

        **Scripts:**
        - /s/pdf/scripts/fill.py

        **References:**
        - /s/pdf/references/forms.md

        **Assets:**
        - /s/pdf/assets/a&b.png
        ");
        insta::assert_snapshot!(render(Form::Xml), @r#"
        <skill_content name="pdf">
        <![CDATA[Fill a.pdf.
        ]]>
        Skill directory: /s/pdf
        Relative paths in this skill are relative to the skill directory.
        <skill_resources>
        <file>LICENSE</file>
        <file>assets/a&amp;b.png</file>
        <file>references/forms.md</file>
        <file>scripts/fill.py</file>
        </skill_resources>
        </skill_content>
        "#);
        for form in [Form::Markdown, Form::Btw] {
            let text = active(body, &[]).render(form);
            assert!(text.ends_with("Fill a.pdf.\n"), "{text}");
        }
        assert!(!active(body, &[]).render(Form::Xml).contains("resources"));
    }

    /// S3-FR-14: the object has exactly these keys.
    #[test]
    fn the_object_of_json() {
        assert_eq!(
            active("Fill $ARGUMENTS.", &["a.md"]).render(Form::Json),
            r#"{"skill_name":"pdf","description":"Reads \"PDF\".","instructions":"Fill a.pdf.","available_files":["a.md"]}"#
        );
    }

    /// In every form, the note about commands that were not run follows the instructions.
    #[test]
    fn commands_are_told() {
        let note = "NOTE: these commands in the instructions were not run and appear \
                    as written, not as their output: `git diff`, `a`, `b`, `c`, `d` and 1 more";
        let body = "$ARGUMENTS: !`git diff` !`a` !`b` !`c` !`d` !`e`";
        for (_, form) in Form::NAMES {
            let text = active(body, &[]).render(form);
            assert!(text.contains("!`git diff` !`a`") && text.contains(note), "{form}: {text}");
        }
        assert_eq!(
            active(body, &[]).render(Form::Bare),
            body.replace("$ARGUMENTS", "a.pdf") + "\n\n" + note + "\n"
        );
    }

    #[test]
    fn texts_list_no_more_files_than_somebody_reads() {
        let files: Vec<String> = (0..250).map(|number| format!("scripts/{number}")).collect();
        let mut active = active("x", &[]);
        active.files = files;
        for (form, more) in [(Form::Markdown, "\n- and 50 more\n"), (Form::Xml, "\n<!-- and 50 more -->\n")] {
            let text = active.render(form);
            assert!(text.contains(more) && !text.contains("scripts/200"), "{text}");
        }
        assert!(active.render(Form::Json).contains("scripts/249"));
    }
}
