//! `catalog`: messages about what was cut, and the result for a file.

use super::{count, one_line, quoted};
use crate::cli::printer::Printer;
use skillpm_core::hints;
use skillpm_core::ops::catalog::{CatalogOutcome, Written};
use skillpm_format::advice::Call;

/// The maximum number of names listed.
const MAX_NAMES: usize = 5;

/// Reports what could not be used and what was cut.
pub(crate) fn warn(printer: &Printer, outcome: &CatalogOutcome) {
    printer.warnings(&outcome.warnings);
    let catalog = &outcome.catalog;
    let Some((most, budget)) = catalog.most.zip(catalog.budget) else { return };
    if !catalog.cut.is_empty() {
        let names: Vec<_> = catalog.cut.iter().take(MAX_NAMES).map(|cut| &cut.name).collect();
        let more = match catalog.cut.len() - names.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let kept = catalog.cut.iter().map(|cut| cut.kept).max().unwrap_or(0);
        let cut = count(catalog.cut.len(), "description");
        let names = if more.is_empty() { quoted(&names) } else { listed(&names) };
        printer.warning(&format!(
            "{cut} cut to {} for {budget} tokens: {names}{more}",
            count(kept, "character")
        ));
    }
    if catalog.is_over_budget() {
        printer.warning(&format!("without any description it may be {most} tokens, more than {budget}"));
    }
    printer.hints(&outcome.hints());
}

/// Returns the words in backticks, separated by commas.
fn listed(words: &[&String]) -> String {
    words.iter().map(|word| format!("`{}`", one_line(word))).collect::<Vec<_>>().join(", ")
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
