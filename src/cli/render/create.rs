//! `create`: the created files, their place, and what to do with them.

use std::path::Path;

use super::{and, install, one_line};
use crate::cli::printer::Printer;
use skillpm_core::hints::use_template;
use skillpm_core::ops::create::{Builtin, CreateOutcome};
use skillpm_format::scope_kind::CANONICAL_DIR;

pub(crate) fn show(printer: &Printer, outcome: &CreateOutcome, cwd: &Path) {
    let shown = one_line(&outcome.typed(cwd).display().to_string());
    let verb = if outcome.dry_run { "would create" } else { "created" };
    printer.status(verb, &format!("`{shown}` from the template `{}`", one_line(&outcome.template)));
    for file in &outcome.files {
        let mark = if file.executable { " (executable)" } else { "" };
        printer.note(&format!("  {}{mark}", one_line(&file.path)));
    }
    if let Some(installed) = &outcome.installed {
        let by = match &installed.seen_by[..] {
            [] => String::new(),
            by => format!("{}, and to ", and(by)),
        };
        printer.note(&format!(
            "installed as an editable skill: available to {by}agents that read `{CANONICAL_DIR}`, edits show at once"
        ));
        install::files(printer, Some(installed.scope), installed.files_changed);
        printer.warnings(&installed.warnings);
    }
    printer.tips(&outcome.hints(cwd));
}

pub(crate) fn json(printer: &Printer, outcome: &CreateOutcome) {
    printer.json(outcome);
}

/// Prints the built-in templates, a line each.
pub(crate) fn templates(printer: &Printer, templates: &[Builtin]) {
    let width = templates.iter().map(|template| template.name.len()).max().unwrap_or_default();
    let line = |template: &Builtin| format!("{:width$}  {}\n", template.name, template.summary);
    printer.data(&templates.iter().map(line).collect::<String>());
    printer.tips(&use_template(templates));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_core::ops::create::CreatedFile;

    #[test]
    fn programs_are_told_where_it_is_and_what_is_in_it() {
        let file = |path: &str, executable| CreatedFile { path: path.to_owned(), executable };
        let outcome = CreateOutcome {
            name: "pdf".to_owned(),
            path: "/p/pdf".into(),
            template: "script".to_owned(),
            files: vec![file("SKILL.md", false), file("scripts/fill.py", true)],
            dry_run: true,
            installed: None,
        };
        let (talking, out, err) = printer(Appearance::PLAIN);
        json(&talking, &outcome);
        assert_eq!(err.text(), "");
        let value: serde_json::Value = serde_json::from_str(&out.text()).unwrap();
        assert_eq!((&value["path"], &value["files"][1]["executable"]), (&"/p/pdf".into(), &true.into()));
    }
}
