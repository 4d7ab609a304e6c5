//! `mcp`: the changes of clients' files, and which clients are set up.

use super::table::Table;
use super::{diff, one_line};
use crate::cli::printer::Printer;
use skillpm_core::ops::mcp::{ClientChange, ClientStatus, Effect, McpChangeOutcome, McpStatusOutcome};
use skillpm_format::text::shell_word;

/// Prints the change of each file.
pub(crate) fn diffs(printer: &Printer, outcome: &McpChangeOutcome) {
    for text in outcome.clients.iter().filter_map(|client| client.diff.as_deref()) {
        diff::show(printer, text);
    }
}

/// Reports what was done, a line for each client.
pub(crate) fn changed(printer: &Printer, outcome: &McpChangeOutcome, json: bool) {
    if json {
        return printer.json(outcome);
    }
    for client in &outcome.clients {
        let (sign, text) = effect(client);
        printer.status(sign, &text);
    }
    if outcome.clients.is_empty() {
        printer.note("no client has the server");
    } else if outcome.dry_run {
        printer.note("nothing was changed: this was a dry run");
    } else if outcome.clients.iter().any(|client| is_set_up(client.effect)) {
        printer.note("restart the client: it reads its configuration when it starts");
        printer.tips(&outcome.hints());
    }
}

fn is_set_up(effect: Effect) -> bool {
    matches!(effect, Effect::Created | Effect::Added | Effect::Changed | Effect::Replaced)
}

/// Returns the sign and the text of a line.
fn effect(client: &ClientChange) -> (&'static str, String) {
    let (title, file) = (&client.title, one_line(&client.file));
    let in_file = |text: &str| format!("{title}: {text} in `{file}`");
    let name = one_line(&client.name);
    match client.effect {
        Effect::Created => ("+", format!("{title}: `{name}` in the new file `{file}`")),
        Effect::Added => ("+", in_file(&format!("`{name}`"))),
        Effect::Changed => ("~", in_file(&format!("the command of `{name}`"))),
        Effect::Replaced => ("~", in_file(&format!("another server `{name}`"))),
        Effect::Unchanged => ("=", in_file(&format!("`{name}` is already"))),
        Effect::Restored => ("-", format!("{title}: `{file}` is as it was before")),
        Effect::Deleted => ("-", format!("{title}: `{file}`, which has nothing else")),
        Effect::Removed => ("-", in_file(&format!("`{name}`"))),
        Effect::Absent => ("=", in_file(&format!("no `{name}`"))),
    }
}

/// Prints a line for each client and scope.
pub(crate) fn status(printer: &Printer, outcome: &McpStatusOutcome) {
    if outcome.clients.is_empty() {
        printer.note("no client was found on this machine");
        return printer.hints(&outcome.hints());
    }
    let mut table = Table::new(&["client", "scope", "command", "file"]);
    for client in &outcome.clients {
        let commands: Vec<_> = client.servers.iter().map(|server| words(&server.command)).collect();
        let command = match (&client.problem, &commands[..]) {
            (Some(_), _) => "?".to_owned(),
            (None, []) => "-".to_owned(),
            (None, all) => all.join("; "),
        };
        table.row([&client.client, &client.scope.to_string(), &command, &client.file]);
    }
    table.show(printer);
    for client in &outcome.clients {
        problems(printer, client);
    }
    printer.hints(&outcome.hints());
}

fn problems(printer: &Printer, client: &ClientStatus) {
    if let Some(problem) = &client.problem {
        printer.warning(problem);
    }
    for server in client.servers.iter().filter(|server| !server.found) {
        let program = server.command.first().map_or("", String::as_str);
        printer.warning(&format!("`{}`, which {} starts, does not exist", one_line(program), client.title));
        printer.hint(&client.repair_hint(&server.name));
    }
}

fn words(command: &[String]) -> String {
    command.iter().map(shell_word).collect::<Vec<_>>().join(" ")
}
