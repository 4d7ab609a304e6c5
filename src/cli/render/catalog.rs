//! `catalog`: messages about what was cut, and the result for a file.

use super::{count, one_line};
use crate::cli::printer::Printer;
use skillpm_core::hints;
use skillpm_core::ops::catalog::{CatalogOutcome, Written};
use skillpm_format::advice::Call;

/// Reports what could not be used and what was cut, or that there is nothing.
pub(crate) fn warn(printer: &Printer, outcome: &CatalogOutcome) {
    printer.warnings(&outcome.warnings);
    if outcome.catalog.count == 0 && outcome.written.is_none() {
        printer.note("there are no skills that a model may start");
    }
    if outcome.for_people > 0 {
        let skills = count(outcome.for_people, "skill");
        let are = if outcome.for_people == 1 { "is" } else { "are" };
        printer.note(&format!("{skills} {are} left out, which only people start: `--hidden` shows all"));
    }
    printer.hints(&outcome.hints());
}

/// Reports the result for the file, or, if nothing is written, that `update` brings it up to date.
pub(crate) fn file(printer: &Printer, written: &Written, update: Option<Call>) {
    let file = one_line(&written.file.display().to_string());
    match (written.changed, update) {
        _ if written.none => printer.note(&format!("there are no skills: `{file}` was not written")),
        (false, _) => printer.note(&format!("`{file}` is up to date")),
        (true, None) => printer.status("updated", &format!("`{file}`")),
        (true, Some(update)) => {
            printer.warning(&format!("the catalog in `{file}` is not up to date"));
            printer.hint(&hints::update_file(update));
        }
    }
}
