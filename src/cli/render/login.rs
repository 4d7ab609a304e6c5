//! `registry login` and `registry logout`.

use super::one_line;
use super::table::Table;
use crate::cli::printer::Printer;
use skillpm_core::ops::registry::{LoginOutcome, LoginsOutcome, LogoutOutcome};

pub(crate) fn logged_in(printer: &Printer, outcome: &LoginOutcome, json: bool) {
    printer.warnings(&outcome.warnings);
    if json {
        return printer.json(outcome);
    }
    let kept = if outcome.replaced { "replaced" } else { "kept" };
    printer.note(&format!(
        "the token for `{}` is {kept} in `{}`, and sent nowhere else; of an OCI registry it goes to the host that gives its \
         tokens, which the registry names",
        outcome.origin,
        one_line(&outcome.file)
    ));
}

pub(crate) fn logged_out(printer: &Printer, outcome: &LogoutOutcome, json: bool) {
    printer.warnings(&outcome.warnings);
    if json {
        return printer.json(outcome);
    }
    let (origin, file) = (&outcome.origin, one_line(&outcome.file));
    printer.note(&if outcome.removed {
        format!("the token for `{origin}` was removed from `{file}`; the server still accepts it until it is revoked there")
    } else {
        format!("no token for `{origin}` is kept in `{file}`")
    });
}

pub(crate) fn logins(printer: &Printer, outcome: &LoginsOutcome, json: bool) {
    printer.warnings(&outcome.warnings);
    if json {
        return printer.json(outcome);
    }
    if outcome.logins.is_empty() {
        return printer.note(&format!("no tokens are kept in `{}`", one_line(&outcome.file)));
    }
    let mut table = Table::new(&["origin", "registries"]);
    for login in &outcome.logins {
        table.row([&login.origin, &login.registries.join(",")]);
    }
    table.show(printer);
}
