//! `disable` and `enable`: a line for each skill.

use super::{and, count, install, one_line, steps};
use crate::cli::printer::Printer;
use skillpm_core::ops::disable::DisableOutcome;

pub(crate) fn show(printer: &Printer, outcome: &DisableOutcome, disabled: bool) {
    if outcome.dry_run {
        steps::plan(printer, &outcome.paths);
    } else {
        done(printer, outcome, disabled);
    }
    printer.warnings(&outcome.warnings);
}

pub(crate) fn json(printer: &Printer, outcome: &DisableOutcome) {
    printer.json(outcome);
    printer.warnings(&outcome.warnings);
}

fn done(printer: &Printer, outcome: &DisableOutcome, disabled: bool) {
    let word = if disabled { "disabled" } else { "enabled" };
    let mut changed = Vec::new();
    for skill in &outcome.skills {
        let name = one_line(&skill.name);
        if !skill.changed {
            printer.status("=", &format!("{name} is already {word}"));
            continue;
        }
        let linked = if disabled || skill.agents.is_empty() {
            String::new()
        } else {
            format!(" (linked for {})", and(&skill.agents))
        };
        printer.status(if disabled { "-" } else { "+" }, &format!("{name}{linked}"));
        changed.push(name);
    }
    if changed.is_empty() {
        return;
    }
    printer.note(&format!("{} {word}", count(changed.len(), "skill")));
    install::files(printer, outcome.scope, outcome.files);
    printer.tips(&outcome.hints(disabled));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_core::ops::disable::DisabledSkill;
    use skillpm_core::scope::changes::PathEffect;
    use skillpm_core::scope::plan::{ChangedFiles, Step};
    use skillpm_format::advice::Warning;
    use skillpm_format::scope_kind::ScopeKind;

    fn skill(name: &str, changed: bool) -> DisabledSkill {
        let agents = vec!["claude-code".to_owned(), "junie".to_owned()];
        DisabledSkill { name: name.to_owned(), changed, agents }
    }

    #[test]
    fn a_line_for_each_skill() {
        let steps = vec![Step::Disable { name: "pdf".parse().unwrap(), digest: None }];
        let mut outcome = DisableOutcome {
            scope: Some(ScopeKind::Project),
            place: ".agents/.skillpm-disabled".to_owned(),
            skills: vec![skill("docx", false), skill("pdf", true)],
            steps,
            paths: vec![steps::path(".agents/skills/pdf", PathEffect::Deleted)],
            files: ChangedFiles { manifest: true, lockfile: false },
            warnings: vec![Warning::new("odd", "odd")],
            ..DisableOutcome::default()
        };
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &outcome, true);
        show(&talking, &outcome, false);
        assert_eq!(out.text(), "");
        outcome.dry_run = true;
        show(&talking, &outcome, true);
        insta::assert_snapshot!(err.text(), @"
        = docx is already disabled
        - pdf
        1 skill disabled
        `skillpm.toml` changed: commit it
        hint: `skillpm enable pdf` shows it to agents again, as it is, from `.agents/.skillpm-disabled`
        warning: odd
        = docx is already enabled
        + pdf (linked for claude-code and junie)
        1 skill enabled
        `skillpm.toml` changed: commit it
        warning: odd
        nothing was changed: this was a dry run
        warning: odd
        ");
        insta::assert_snapshot!(out.text(), @"
        would delete .agents/skills/pdf
        ");
        let (talking, out, _) = printer(Appearance::PLAIN);
        json(&talking, &outcome);
        let value: serde_json::Value = serde_json::from_str(&out.text()).unwrap();
        assert_eq!((&value["skills"][1]["changed"], &value["dry_run"]), (&true.into(), &true.into()));
    }
}
