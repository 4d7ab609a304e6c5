//! `install --marketplace --list`: the plugins of a marketplace.

use dialoguer::console::truncate_str;

use super::one_line;
use crate::cli::printer::Printer;
use crate::cli::words::worded;
use skillpm_core::ops::install::{InstallOutcome, OfferedPlugin};

pub(crate) fn show(printer: &Printer, outcome: &InstallOutcome) {
    let width = printer.look().width.unwrap_or(usize::MAX);
    let text: String = outcome.plugins.iter().map(|plugin| entry(plugin, width)).collect();
    printer.data(&text);
    if outcome.plugins.is_empty() {
        printer.note("the marketplace has no plugins");
    } else {
        printer.hints(&outcome.list_hints());
    }
}

pub(crate) fn json(printer: &Printer, outcome: &InstallOutcome) {
    printer.json(&outcome.plugins);
}

/// Returns the name, with its details below, a line each.
fn entry(plugin: &OfferedPlugin, width: usize) -> String {
    let mut lines = vec![match &plugin.version {
        Some(version) => format!("{} {}", one_line(&plugin.name), one_line(version)),
        None => one_line(&plugin.name),
    }];
    if !plugin.description.trim().is_empty() {
        lines.push(format!("  {}", one_line(&plugin.description)));
    }
    if let Some(source) = &plugin.source {
        lines.push(format!("  from {}", one_line(source)));
    }
    if let Some(problem) = &plugin.problem {
        lines.push(format!("  cannot be installed: {}", one_line(&worded(problem))));
    }
    match plugin.skills.as_deref() {
        Some([]) => lines.push("  has no skills".to_owned()),
        Some(skills) => lines.extend(skills.iter().map(|path| {
            let path = if path.is_empty() { "." } else { path };
            format!("  skill {}", one_line(path))
        })),
        None => {}
    }
    lines.iter().map(|line| truncate_str(line, width, "…").into_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;

    #[test]
    fn plugins_with_their_skills_and_problems() {
        let plugin = |name: &str, skills: Option<&[&str]>, problem: Option<&str>| OfferedPlugin {
            name: name.to_owned(),
            description: format!("Does\n{name}."),
            version: (name == "docs").then(|| "1.2".to_owned()),
            source: problem.is_none().then(|| "github:o/r".to_owned()),
            skills: skills.map(|paths| paths.iter().map(ToString::to_string).collect()),
            problem: problem.map(Into::into),
        };
        let plugins = vec![
            plugin("docs", Some(&["skills/pdf", ""]), None),
            plugin("far", None, None),
            plugin("empty", Some(&[]), None),
            plugin("npm", None, Some("it is the npm package `x`")),
        ];
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &InstallOutcome { plugins, ..InstallOutcome::default() });
        insta::assert_snapshot!(out.text(), @"
        docs 1.2
          Does docs.
          from github:o/r
          skill skills/pdf
          skill .
        far
          Does far.
          from github:o/r
        empty
          Does empty.
          from github:o/r
          has no skills
        npm
          Does npm.
          cannot be installed: it is the npm package `x`
        ");
        insta::assert_snapshot!(err.text(), @"hint: name a plugin instead of `--list` to install its skills, or after `--list` to see them");
    }
}
