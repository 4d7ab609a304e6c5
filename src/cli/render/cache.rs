//! `cache`: places and sizes.

use super::table::Table;
use super::{count, entries, one_line};
use crate::cli::printer::Printer;
use skillpm_core::ops::cache::{CacheDirs, RemovedOutcome, VerifyOutcome};

pub(crate) fn places(printer: &Printer, places: &CacheDirs) {
    let mut table = Table::new(&["what", "size", "holds", "directory"]).number("size").number("holds");
    let store = &places.store;
    table.row(["store", &size(store.bytes), &count(store.count, "skill"), &shown(&store.path)]);
    let total = places.rooms.iter().map(|room| room.bytes).sum();
    let downloads = places.rooms.iter().map(|room| room.count).sum();
    table.row(["downloads", &size(total), &count(downloads, "download"), &shown(&places.downloads)]);
    if places.rooms.len() > 1 {
        for room in &places.rooms {
            let name = format!("downloads of {}", room.name);
            table.row([&name, &size(room.bytes), &count(room.count, "download"), &shown(&room.path)]);
        }
    }
    table.show(printer);
}

pub(crate) fn removed(printer: &Printer, outcome: &RemovedOutcome, json: bool) {
    printer.warnings(&outcome.warnings);
    if json {
        return printer.json(outcome);
    }
    for removed in &outcome.removed {
        let line = format!("{} ({})", shown(&removed.path), size(removed.bytes));
        if outcome.dry_run {
            printer.data(&format!("would remove {line}"));
        } else {
            printer.detail(&format!("removed {line}"));
        }
    }
    for path in &outcome.in_use {
        printer.note(&format!("`{}` is in use and was kept", shown(path)));
    }
    let bytes: u64 = outcome.removed.iter().map(|removed| removed.bytes).sum();
    let what = entries(outcome.removed.len());
    printer.note(&match (outcome.removed.len(), outcome.dry_run) {
        (0, _) => "there is nothing to remove".to_owned(),
        (_, true) => format!("{what}, {}; nothing was removed: this was a dry run", size(bytes)),
        (_, false) => format!("{what} removed, {}", size(bytes)),
    });
    if let Some(first) = outcome.kept.first() {
        let copies = if outcome.kept.len() == 1 { "copy" } else { "copies" };
        let number = outcome.kept.len();
        printer.note(&format!(
            "your edited copies stay in the store: {number} {copies}, such as `{}`",
            shown(first)
        ));
    }
}

pub(crate) fn verified(printer: &Printer, outcome: &VerifyOutcome, fix: bool) {
    for damaged in &outcome.damaged {
        let end = match (damaged.removed, damaged.kept, fix) {
            (true, ..) => "; it was deleted",
            (false, true, _) => "; it holds your edits, so it was kept",
            (false, false, true) if outcome.dry_run => "; it would be deleted",
            (false, false, true) => "; it is in use and was kept",
            (false, false, false) => "",
        };
        printer.data(&format!("{}: {}{end}", shown(&damaged.path), one_line(&damaged.reason)));
    }
    printer.note(&format!("{} checked, {} damaged", entries(outcome.checked), outcome.damaged.len()));
    printer.hints(&outcome.hints(fix));
}

fn shown(path: &str) -> String {
    one_line(path)
}

/// Returns a size such as `512 bytes` or `1.2 MB`.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") };
    }
    // Tenths of a unit, so that no floating-point rounding is needed.
    let (mut tenths, mut unit) = (bytes / 100, 0);
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1000;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (bytes, shown) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1000, "1.0 kB"),
            (1_250, "1.2 kB"),
            (999_999, "999.9 kB"),
            (1_000_000, "1.0 MB"),
            (u64::MAX, "18446744.0 TB"),
        ] {
            assert_eq!(size(bytes), shown);
        }
    }
}
