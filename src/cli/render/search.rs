//! `search`: a table of matches, each with what to type next.

use std::collections::BTreeSet;

use super::table::Table;
use super::{error, one_line};
use crate::cli::printer::Printer;
use crate::cli::words::typed;
use skillpm_core::ops::search::{FoundIn, FoundSkill, SearchOutcome};
use skillpm_format::advice::Verb;
use skillpm_format::text::and;

pub(crate) fn json(printer: &Printer, outcome: &SearchOutcome) {
    warn(printer, outcome);
    printer.json(outcome);
}

/// Shows what was found for `words`.
pub(crate) fn show(printer: &Printer, outcome: &SearchOutcome, words: &str) {
    warn(printer, outcome);
    if outcome.skills.is_empty() {
        printer.note(&format!("no skill matches `{}`", one_line(words)));
        return printer.hints(&outcome.hints());
    }
    table(&outcome.skills).show(printer);
    let mut told = BTreeSet::new();
    for skill in outcome.skills.iter().filter(|skill| !skill.also_in.is_empty()) {
        if told.insert(&skill.name) {
            let registries: Vec<_> =
                skill.registry.iter().chain(&skill.also_in).map(|name| format!("`{name}`")).collect();
            printer.note(&format!(
                "`{}` is in {} registries, {}: these may be different skills",
                one_line(&skill.name),
                registries.len(),
                and(&registries)
            ));
        }
    }
    printer.hints(&outcome.hints());
}

fn warn(printer: &Printer, outcome: &SearchOutcome) {
    printer.warnings(&outcome.warnings);
    error::partial(printer, &outcome.failures);
    if let Some(file) = &outcome.remembered {
        printer.note(&format!(
            "`{}` keeps your answer: `skills-sh` under `[search]`",
            one_line(&file.display().to_string())
        ));
    }
}

fn table(skills: &[FoundSkill]) -> Table {
    let mut table = Table::new(&["name", "version", "where", "next", "description"]).state("next");
    for skill in skills {
        let next = match &skill.source {
            Some(source) => Verb::Install.call().word(source),
            None => Verb::Show.call().word(&skill.name),
        };
        let next = typed(&next);
        let version = skill.version.as_deref().unwrap_or_default();
        table.row([&skill.name, version, &place(skill), &next, &skill.about()]);
    }
    table
}

fn place(skill: &FoundSkill) -> String {
    match (skill.found_in, &skill.registry, skill.scope) {
        (FoundIn::Registry, Some(registry), _) => registry.clone(),
        (FoundIn::Installed, _, Some(scope)) => format!("installed ({scope})"),
        (FoundIn::SkillsSh, ..) => "skills.sh".to_owned(),
        _ => "installed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_core::engine::SourceKind;

    fn skills() -> Vec<FoundSkill> {
        let registry = |name: &str, registry: &str, source: &str| FoundSkill {
            name: name.to_owned(),
            version: Some("1.2.0".to_owned()),
            description: "Reads PDF files.\nUse it for forms in PDF documents.".to_owned(),
            tags: vec!["files".to_owned()],
            found_in: FoundIn::Registry,
            registry: Some(registry.to_owned()),
            scope: None,
            source: Some(source.to_owned()),
            installed: true,
            also_in: Vec::new(),
            installs: None,
        };
        let twin = |mut skill: FoundSkill, other: &str| {
            skill.also_in = vec![other.to_owned()];
            skill
        };
        let here = FoundSkill {
            found_in: FoundIn::Installed,
            registry: None,
            scope: Some(SourceKind::Project),
            source: None,
            version: None,
            ..registry("pdf", "", "")
        };
        let site = FoundSkill {
            found_in: FoundIn::SkillsSh,
            registry: None,
            description: String::new(),
            installs: Some(61_234),
            installed: false,
            ..registry("pdf\u{1b}[2J", "", "acme/skills@pdf")
        };
        vec![
            twin(registry("pdf", "default", "pdf"), "corp"),
            twin(registry("pdf", "corp", "corp:pdf"), "default"),
            here,
            site,
        ]
    }

    /// In a pipe, the longest description pads no other row.
    #[test]
    fn each_row_has_what_to_type() {
        let outcome = SearchOutcome { skills: skills(), total: 7, ..SearchOutcome::default() };
        let (talking, out, err) = printer(Appearance { width: Some(100), ..Appearance::PLAIN });
        show(&talking, &outcome, "pdf");
        insta::assert_snapshot!(out.text(), @r"
        name          version  where                next                             description
        pdf           1.2.0    default              skillpm install pdf              Reads PDF files. Use i…
        pdf           1.2.0    corp                 skillpm install corp:pdf         Reads PDF files. Use i…
        pdf           -        installed (project)  skillpm show pdf                 Reads PDF files. Use i…
        pdf\u{1b}[2J  1.2.0    skills.sh            skillpm install acme/skills@pdf  61,234 installs, from …
        ");
        insta::assert_snapshot!(err.text(), @"
        `pdf` is in 2 registries, `default` and `corp`: these may be different skills
        hint: 4 of 7 matches are shown: `--limit 7` shows all
        ");
        let (piped, out, _) = printer(Appearance::PLAIN);
        show(&piped, &outcome, "pdf");
        assert_eq!(
            out.text().lines().nth(1),
            Some(
                "pdf           1.2.0    default              skillpm install pdf              Reads PDF files. Use it for forms in PDF documents."
            )
        );
        assert!(out.text().lines().next().is_some_and(|header| header.ends_with("  description")));
    }

    #[test]
    fn nothing_is_found_with_a_way_on() {
        let suggestions = vec!["pdf".to_owned(), "pdf-forms".to_owned()];
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &SearchOutcome { suggestions, ..SearchOutcome::default() }, "pfd");
        assert_eq!(out.text(), "");
        assert_eq!(err.text(), "no skill matches `pfd`\nhint: did you mean `pdf` or `pdf-forms`?\n");
    }
}
