//! `list`: a table.

use std::collections::BTreeSet;

use super::quoted;
use super::table::Table;
use crate::cli::printer::Printer;
use skillpm_core::ops::import::FoundIn;
use skillpm_core::ops::list::{ListOutcome, ListedSkill, SkillState};
use skillpm_format::text::without_secrets;

/// Prints the table of `outcome`.
pub(crate) fn show(printer: &Printer, outcome: &ListOutcome, agents: &[String]) {
    printer.warnings(&outcome.warnings);
    if outcome.skills.is_empty() {
        printer.note(&match agents {
            [] => "no skills are installed here".to_owned(),
            [agent] => format!("{} sees no skills here", quoted(&[agent])),
            agents => format!("{} see no skills here", quoted(agents)),
        });
    } else {
        table(&outcome.skills).show(printer);
    }
    printer.hints(&outcome.hints);
}

pub(crate) fn json(printer: &Printer, outcome: &ListOutcome) {
    printer.warnings(&outcome.warnings);
    printer.json(&outcome.skills);
}

fn table(skills: &[ListedSkill]) -> Table {
    let mut table = Table::new(&["name", "version", "scope", "source", "seen by", "state"]).state("state");
    for skill in skills {
        let scope = match &skill.outer {
            Some(outer) => format!("{} {outer}", skill.scope),
            None => skill.scope.to_string(),
        };
        table.row([
            &skill.name,
            skill.version.as_deref().unwrap_or(""),
            &scope,
            &without_secrets(skill.source.as_deref().unwrap_or("")),
            &seen_by(skill),
            &state(skill),
        ]);
    }
    table
}

/// The maximum number of agents named; with more, the column would be wider than all others together.
const MOST_AGENTS: usize = 3;

/// Returns the agents that see `skill`: those that have a link or copy, and those that read its directory.
fn seen_by(skill: &ListedSkill) -> String {
    let by: BTreeSet<&str> = skill.agents.iter().chain(&skill.seen_by).map(String::as_str).collect();
    let named: Vec<&str> = by.iter().copied().take(MOST_AGENTS).collect();
    match by.len() - named.len() {
        0 => named.join(","),
        more => format!("{} +{more}", named.join(",")),
    }
}

fn state(skill: &ListedSkill) -> String {
    let state = skill.state.word_for(skill.editable);
    if let Some(tool) = skill.found_in.and_then(FoundIn::tool) {
        return format!("{state}, by {tool}");
    }
    let edited = skill.modified && !skill.state.is_modified();
    let disabled = skill.disabled && skill.state == SkillState::Conflict;
    let copies = if skill.edited_copies.is_empty() { "" } else { ", copy edited" };
    match (edited, disabled) {
        (true, _) => format!("{state}, edited{copies}"),
        (_, true) => format!("disabled, {state}{copies}"),
        _ => format!("{state}{copies}"),
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use skillpm_format::scope_kind::ScopeKind;

    /// Returns a skill in a state; `docx` is edited, and `pdf` has a version and agents.
    pub(crate) fn skill(name: &str, state: SkillState) -> ListedSkill {
        ListedSkill {
            name: name.to_owned(),
            version: (name == "pdf").then(|| "1.0".to_owned()),
            scope: ScopeKind::Project,
            source: (state != SkillState::Untracked).then(|| "github:anthropics/skills".to_owned()),
            path: None,
            revision: None,
            digest: None,
            edited_copies: if name == "copied" { vec!["cursor".into()] } else { Vec::new() },
            agents: if name == "pdf" { vec!["claude-code".into(), "junie".into()] } else { Vec::new() },
            state,
            modified: name == "docx" || state == SkillState::Conflict,
            alias_of: None,
            disabled: state == SkillState::Disabled,
            editable: state == SkillState::Editable,
            location: format!(".agents/skills/{name}"),
            source_type: None,
            source_url: None,
            requested: None,
            dependencies: Vec::new(),
            seen_by: Vec::new(),
            found_in: (state == SkillState::Foreign).then_some(FoundIn::GhSkill),
            outer: None,
            source_gone: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::skill;
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_format::advice::{Verb, Warning, message};
    use skillpm_format::scope_kind::ScopeKind;

    #[test]
    fn a_table_with_a_header() {
        let skills = vec![
            skill("pdf", SkillState::Ok),
            skill("code-reviewer", SkillState::Missing),
            skill("own", SkillState::Untracked),
            skill("docx", SkillState::Disabled),
            skill("mine", SkillState::Editable),
            skill("xlsx", SkillState::Conflict),
            skill("theirs", SkillState::Foreign),
        ];
        let (printer, out, err) = printer(Appearance::PLAIN);
        show(
            &printer,
            &ListOutcome { skills, warnings: vec![Warning::new("odd", "odd")], ..ListOutcome::default() },
            &[],
        );
        insta::assert_snapshot!(out.text(), @r#"
        name           version  scope    source                    seen by            state
        pdf            1.0      project  github:anthropics/skills  claude-code,junie  ok
        code-reviewer  -        project  github:anthropics/skills  -                  missing
        own            -        project  -                         -                  untracked
        docx           -        project  github:anthropics/skills  -                  disabled, edited
        mine           -        project  github:anthropics/skills  -                  editable
        xlsx           -        project  github:anthropics/skills  -                  conflict
        theirs         -        project  github:anthropics/skills  -                  foreign, by gh skill
        "#);
        insta::assert_snapshot!(err.text(), @r#"
        warning: odd
        "#);
    }

    #[test]
    fn hints_follow() {
        let hints = vec![message!(Verb::Install.within(ScopeKind::User).word("a b"), " does it")];
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &ListOutcome { hints, ..ListOutcome::default() }, &[]);
        assert_eq!(out.text(), "");
        assert_eq!(err.text(), "no skills are installed here\nhint: `skillpm install -g 'a b'` does it\n");
        let (talking, out, err) = printer(Appearance::PLAIN);
        json(&talking, &ListOutcome::default());
        assert_eq!((out.text().as_str(), err.text().as_str()), ("[]\n", ""));
    }
}
