//! `create`: what was made, where it is, and what to do with it.

use std::path::Path;

use super::one_line;
use crate::cli::printer::Printer;
use crate::ops::create::{Builtin, CreateOutcome};
use crate::source::local::portable;
use crate::text::shell_word;

pub(crate) fn show(printer: &Printer, outcome: &CreateOutcome, cwd: &Path) {
    let path = outcome.path.strip_prefix(cwd).unwrap_or(&outcome.path);
    let shown = one_line(&path.display().to_string());
    let verb = if outcome.dry_run { "would create" } else { "created" };
    printer.status(verb, &format!("`{shown}` from the template `{}`", one_line(&outcome.template)));
    for file in &outcome.files {
        let mark = if file.executable { " (executable)" } else { "" };
        printer.note(&format!("  {}{mark}", one_line(&file.path)));
    }
    if !outcome.dry_run {
        let words = one_line(&shell_word(path));
        printer.hint(&format!("write `{shown}/SKILL.md`, then run `skillpm validate {words}`"));
        if let Some(typed) = portable(cwd, &outcome.path) {
            let typed = one_line(&shell_word(typed));
            printer.hint(&format!("`skillpm invoke {typed}` shows what an agent gets of it"));
        }
    }
}

/// The built-in templates, a line each.
pub(crate) fn templates(printer: &Printer, templates: &[Builtin]) {
    let width = templates.iter().map(|template| template.name.len()).max().unwrap_or_default();
    let line = |template: &Builtin| format!("{:width$}  {}\n", template.name, template.summary);
    printer.data(&templates.iter().map(line).collect::<String>());
    printer.hint("`skillpm create NAME --template TEMPLATE` uses one; `./directory` and `owner/repo/directory` work too");
}
