//! The templates that are part of the program.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Resource, Template, TemplateFile};
use crate::path::SafePath;

/// A template that is part of the program. The JSON form is an interface: fields are only added.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// The paths and contents of its files.
    #[serde(skip)]
    pub(super) files: &'static [(&'static str, &'static str)],
}

/// The template that is used if none is named.
pub(crate) const DEFAULT: &str = "basic";

macro_rules! file {
    ($template:literal, $path:literal) => {
        ($path, include_str!(concat!("../../templates/", $template, "/", $path)))
    };
}

/// All built-in templates, the default one first.
pub static BUILTIN: &[Builtin] = &[
    Builtin { name: DEFAULT, summary: "instructions in one file", files: &[file!("basic", "SKILL.md")] },
    Builtin {
        name: "script",
        summary: "instructions, and a script that they run",
        files: &[file!("script", "SKILL.md"), file!("script", "scripts/inspect.sh")],
    },
    Builtin {
        name: "reference",
        summary: "short instructions, and texts to read when needed",
        files: &[
            file!("reference", "SKILL.md"),
            file!("reference", "references/examples.md"),
            file!("reference", "references/guide.md.jinja"),
        ],
    },
    Builtin {
        name: "workflow",
        summary: "phases with checks between them, and a form for the report",
        files: &[file!("workflow", "SKILL.md"), file!("workflow", "assets/report.md")],
    },
];

impl Builtin {
    /// Returns the template.
    pub(super) fn template(&self) -> Template {
        let files = self.files.iter().filter_map(|(path, text)| template_file(path, text)).collect();
        Template { name: self.name.to_owned(), variables: Vec::new(), files }
    }
}

/// Returns a file of a built-in template. The paths are constants; a test checks that all of them are safe.
fn template_file(path: &str, text: &str) -> Option<TemplateFile> {
    let path = SafePath::new(path).ok()?;
    let bytes = text.as_bytes().to_vec();
    Some(TemplateFile { executable: super::is_script(&path, &bytes), path, bytes })
}

/// Returns the first file of `resource`, and a description of it for the instructions.
pub(super) fn first_file(resource: Resource) -> Option<(TemplateFile, &'static str)> {
    let (template, path, text) = match resource {
        Resource::Scripts => (
            "script",
            "scripts/inspect.sh",
            "run it to see which files can be processed; `scripts/inspect.sh --help` says how",
        ),
        Resource::References => {
            ("reference", "references/guide.md.jinja", "the rules to read before deciding anything")
        }
        Resource::Assets => ("workflow", "assets/report.md", "the form for the report to fill in"),
    };
    let files = BUILTIN.iter().find(|builtin| builtin.name == template)?.files;
    let (path, content) = files.iter().find(|(name, _)| *name == path)?;
    Some((template_file(path, content)?, text))
}
