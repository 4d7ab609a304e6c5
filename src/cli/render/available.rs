//! `install --list`: the content of sources.

use dialoguer::console::truncate_str;

use super::one_line;
use crate::cli::printer::Printer;
use skillpm_core::ops::install::{Available, InstallOutcome};
use skillpm_format::text::without_secrets;

pub(crate) fn show(printer: &Printer, outcome: &InstallOutcome) {
    printer.warnings(&outcome.warnings);
    let width = printer.look().width.unwrap_or(usize::MAX);
    let text: String = outcome.available.iter().map(|skill| entry(skill, width)).collect();
    printer.data(&text);
    if outcome.available.iter().any(|skill| skill.problem.is_none()) {
        printer.hints(&outcome.list_hints());
    } else {
        printer.note("no skill can be installed");
    }
}

pub(crate) fn json(printer: &Printer, outcome: &InstallOutcome) {
    printer.warnings(&outcome.warnings);
    printer.json(&outcome.available);
}

/// Returns the name, with its details below, a line each.
fn entry(skill: &Available, width: usize) -> String {
    let path = if skill.path.is_empty() { "." } else { &skill.path };
    let mut lines = vec![one_line(&skill.name)];
    if !skill.description.trim().is_empty() {
        lines.push(format!("  {}", one_line(&skill.description)));
    }
    lines.push(format!("  {} in {}", one_line(path), one_line(&without_secrets(&skill.source))));
    if let Some(problem) = &skill.problem {
        lines.push(format!("  cannot be installed: {}", one_line(problem)));
    }
    lines.iter().map(|line| truncate_str(line, width, "…").into_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;

    #[test]
    fn names_descriptions_paths_and_problems() {
        let skill = |name: &str, description: &str, path: &str, problem: Option<&str>| Available {
            source: "github:o/r".to_owned(),
            name: name.to_owned(),
            description: description.to_owned(),
            path: path.to_owned(),
            problem: problem.map(ToOwned::to_owned),
        };
        let available = vec![
            skill("pdf", "Reads PDF files.\nUse it for PDF, and for much more that fits no line.", "", None),
            skill("bad", "", "skills/bad", Some("there is no description")),
        ];
        let outcome = InstallOutcome { available, ..InstallOutcome::default() };
        let (talking, out, err) = printer(Appearance { width: Some(40), ..Appearance::PLAIN });
        show(&talking, &outcome);
        insta::assert_snapshot!(out.text(), @r#"
        pdf
          Reads PDF files. Use it for PDF, and …
          . in github:o/r
        bad
          skills/bad in github:o/r
          cannot be installed: there is no desc…
        "#);
        insta::assert_snapshot!(err.text(), @"
        hint: `--skill pdf` instead of `--list` installs `pdf`, `--skill '*'` all
        ");
    }
}
