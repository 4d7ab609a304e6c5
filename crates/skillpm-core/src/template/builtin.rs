//! The templates that are part of the program.

use super::{BUILTIN, Builtin, Resource, Template, TemplateFile};
use crate::path::SafePath;

/// Returns the template `builtin`.
pub(super) fn template(builtin: &Builtin) -> Template {
    let files = builtin.files.iter().filter_map(|(path, text)| template_file(path, text)).collect();
    Template { name: builtin.name.to_owned(), variables: Vec::new(), files }
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
