//! `tools`: a table.

use super::table::Table;
use crate::cli::printer::Printer;
use skillpm_core::engine::tools::{Input, ToolFormat};
use skillpm_core::ops::tools::ToolsOutcome;

pub(crate) fn show(printer: &Printer, outcome: &ToolsOutcome) {
    warn(printer, outcome);
    if outcome.tools.is_empty() {
        printer.note(&match &outcome.name {
            Some(name) => format!("the skill `{}` has no script tools", super::one_line(name)),
            None => "no skill here has script tools".to_owned(),
        });
        printer.hints(&outcome.hints());
        return;
    }
    let mut table = Table::new(&["tool", "script", "takes", "description"]).prose("description");
    for listed in &outcome.tools {
        table.row([&listed.tool_name, &listed.script, &takes(&listed.tool.input), &listed.description]);
    }
    table.show(printer);
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
    printer.warnings(&outcome.warnings);
}

/// Returns the names of the parameters, with brackets around optional ones.
fn takes(input: &Input) -> String {
    if input.open && input.parameters.is_empty() {
        return "any object".to_owned();
    }
    if !input.is_typed() {
        return "any words".to_owned();
    }
    let one = |name: &str, required: bool| if required { name.to_owned() } else { format!("[{name}]") };
    let names = input.parameters.iter().map(|parameter| one(&parameter.name, parameter.required));
    names.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_format::advice::Warning;

    use skillpm_core::ops::tools::{ToolsRequest, tools};
    use skillpm_core::session::Session;
    use skillpm_sources::fs;

    fn outcome() -> ToolsOutcome {
        let dir = tempfile::tempdir().expect("a directory");
        let skill = dir.path().join(".agents/skills/calc");
        fs::create_dir_all(&skill.join("scripts")).expect("creates");
        let long = format!("// \u{1b}[2J {}\n", "word ".repeat(30));
        for (path, text) in [
            ("SKILL.md", "---\nname: calc\ndescription: Calculates.\n---\n"),
            ("scripts/json.py", "import sys, json\njson.load(sys.stdin)\n"),
            ("scripts/say.sh", "# Usage: say.sh [-l] <text>\n"),
            ("scripts/words.js", &long),
        ] {
            fs::write_atomic(&skill.join(path), text.as_bytes()).expect("writes");
        }
        let session = Session::of_person(&crate::context_in(dir.path())).expect("opens");
        let mut outcome = tools(&session, &ToolsRequest::default()).expect("tools");
        outcome.warnings.push(Warning::new("odd", "odd"));
        outcome
    }

    #[test]
    fn a_table_of_tools() {
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &outcome());
        insta::assert_snapshot!(out.text(), @r"
        tool         script            takes       description
        calc__json   scripts/json.py   any object  Execute json
        calc__say    scripts/say.sh    [l] text    Execute say
        calc__words  scripts/words.js  any words   \u{1b}[2J word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word
        ");
        assert_eq!(err.text(), "warning: odd\n");
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &ToolsOutcome { name: Some("pdf".into()), ..ToolsOutcome::default() });
        assert_eq!(out.text(), "");
        insta::assert_snapshot!(err.text(), @"
        the skill `pdf` has no script tools
        hint: tools are the files in a skill's `scripts/` that end in `.py`, `.sh` or `.js`, or begin with `#!`
        ");
    }
}
