//! `tools`: a table.

use super::table::Table;
use crate::cli::printer::Printer;
use crate::engine::tools::{Input, ToolFormat};
use crate::ops::tools::{ListedTool, ToolsOutcome};

/// How much of a description the table shows, in characters.
const SHOWN: usize = 72;

pub(crate) fn show(printer: &Printer, outcome: &ToolsOutcome) {
    warn(printer, outcome);
    if outcome.tools.is_empty() {
        printer.note(&match &outcome.name {
            Some(name) => format!("the skill `{}` has no script tools", super::one_line(name)),
            None => "no skill here has script tools".to_owned(),
        });
        printer.hint("tools are the files in a skill's `scripts/` that end in `.py`, `.sh` or `.js`, or begin with `#!`");
        return;
    }
    let mut table = Table::new(&["tool", "script", "takes", "description"]);
    for listed in &outcome.tools {
        table.row([&listed.tool_name, &listed.script, &takes(&listed.tool.input), &short(listed)]);
    }
    printer.data(&table.render());
}

pub(crate) fn json(printer: &Printer, outcome: &ToolsOutcome) {
    warn(printer, outcome);
    printer.json(&outcome.tools);
}

pub(crate) fn definitions(printer: &Printer, outcome: &ToolsOutcome, format: ToolFormat) {
    warn(printer, outcome);
    printer.json(&outcome.definitions(format));
}

fn warn(printer: &Printer, outcome: &ToolsOutcome) {
    for warning in &outcome.warnings {
        printer.warning(warning);
    }
}

/// The names of the parameters, in brackets where they need not be there.
fn takes(input: &Input) -> String {
    if input.open && input.parameters.is_empty() {
        return "any object".to_owned();
    }
    if !input.is_typed() {
        return "any words".to_owned();
    }
    let one = |name: &str, required: bool| if required { name.to_owned() } else { format!("[{name}]") };
    input
        .parameters
        .iter()
        .map(|parameter| one(&parameter.name, parameter.required))
        .collect::<Vec<_>>()
        .join(" ")
}

fn short(listed: &ListedTool) -> String {
    let line = super::one_line(&listed.description);
    if line.chars().count() <= SHOWN {
        return line;
    }
    line.chars().take(SHOWN - 3).collect::<String>() + "..."
}
