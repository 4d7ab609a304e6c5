//! The templates of `skillpm create`: each is a directory beside this file, which is compiled in.

use schemars::JsonSchema;
use serde::Serialize;

/// A template that is part of the program. The JSON form is an interface: fields are only added.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// The paths and contents of its files.
    #[serde(skip)]
    pub files: &'static [(&'static str, &'static str)],
}

macro_rules! file {
    ($template:literal, $path:literal) => {
        ($path, include_str!(concat!($template, "/", $path)))
    };
}

/// All built-in templates. The first is used if none is named.
pub static BUILTIN: &[Builtin] = &[
    Builtin { name: "basic", summary: "instructions in one file", files: &[file!("basic", "SKILL.md")] },
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
