//! `publish`: what goes out, and where to.

use super::cache::size;
use super::{count, one_line, pack};
use crate::cli::printer::Printer;
use skillpm_core::ops::publish::PublishOutcome;

pub(crate) fn show(printer: &Printer, outcome: &PublishOutcome) {
    if outcome.dry_run {
        printer.data(&pack::list(&outcome.files));
    }
    pack::left_out(printer, &outcome.left_out);
    printer.warnings(&outcome.warnings);
    for path in &outcome.uncommitted {
        printer.note(&format!("`{}` is not committed", one_line(path)));
    }
    let verb = match (outcome.already, outcome.dry_run) {
        (true, _) => "already published",
        (false, true) => "would publish",
        (false, false) => "published",
    };
    let (name, version) = (one_line(&outcome.name), one_line(&outcome.version));
    let (files, size) = (count(outcome.files.len(), "file"), size(outcome.artifact.size));
    printer.status(verb, &format!("`{name}` {version}: {files}, {size}"));
    printer.note(&format!("  to      {}", one_line(&outcome.registry)));
    if let Some(release) = &outcome.release {
        printer.note(&format!("  tag     {}", one_line(&release.tag)));
        printer.note(&format!("  commit  {}", release.commit));
    }
    printer.note(&format!("  archive {}", outcome.artifact.digest));
    printer.note(&format!("  tree    {}", outcome.digest));
    if let Some(url) = outcome.release.as_ref().and_then(|release| release.url.as_deref()) {
        printer.note(&format!("  page    {}", one_line(url)));
    }
}
