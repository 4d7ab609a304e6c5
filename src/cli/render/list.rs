//! `list`: a table.

use std::collections::BTreeSet;

use super::table::Table;
use super::{install, one_line};
use crate::cli::printer::Printer;
use crate::cli::words::{scope_flag, worded};
use crate::install::editable::put_back;
use crate::install::scope::ScopeKind;
use crate::ops::import::FoundIn;
use crate::ops::list::{ListOutcome, ListedSkill, SkillState};
use crate::text::without_secrets;

/// Prints the table of `outcome`, requested for `scope` alone or for both.
pub(crate) fn show(printer: &Printer, outcome: &ListOutcome, scope: Option<ScopeKind>) {
    printer.warnings(&outcome.warnings);
    if outcome.skills.is_empty() {
        printer.note("no skills are installed here");
        match &outcome.other_lock {
            Some(lock) => printer.hint(&adopt(ScopeKind::Project, lock)),
            None => printer.hint(&super::how_to_install(scope)),
        }
        return;
    }
    table(&outcome.skills).show(printer);
    for scope in [ScopeKind::Project, ScopeKind::User] {
        let is_missing = |skill: &&ListedSkill| skill.scope == scope && skill.state == SkillState::Missing;
        let missing = || outcome.skills.iter().filter(is_missing);
        if let Some(gone) = missing().find(|skill| skill.source_gone) {
            let name = one_line(&gone.name);
            printer.hint(&format!(
                "`{name}` is editable, but its directory is gone: {}",
                worded(&put_back(scope, &name))
            ));
        } else if missing().next().is_some() {
            printer.hint(&format!("`skillpm install{}` restores missing skills", scope_flag(scope)));
        }
    }
    if let Some(skill) = outcome.skills.iter().find(|skill| skill.state == SkillState::LineEnds) {
        let flag = scope_flag(skill.scope);
        printer.hint(&format!(
            "git or an editor changed line ends, and nothing else: `skillpm install{flag}` brings back those that are locked"
        ));
    }
    for scope in [ScopeKind::Project, ScopeKind::User] {
        unknown(printer, outcome, scope);
    }
    for (scope, unseen) in &outcome.unseen {
        install::unseen(printer, Some(*scope), unseen);
    }
    if let Some(skill) = outcome.skills.iter().find(|skill| skill.state == SkillState::Conflict) {
        let (flag, name) = (scope_flag(skill.scope), one_line(&skill.name));
        printer.hint(&format!("`skillpm update{flag} {name}` shows what to resolve"));
    }
    if let Some((skill, agent)) =
        outcome.skills.iter().find_map(|skill| Some((skill, skill.edited_copies.first()?)))
    {
        let name = one_line(&skill.name);
        printer.hint(&format!("{agent}'s copy of `{name}` was edited: `skillpm doctor` shows where it is"));
    }
}

/// Prints how to adopt the skills in `scope` that skillpm did not install.
fn unknown(printer: &Printer, outcome: &ListOutcome, scope: ScopeKind) {
    let of_scope =
        |skill: &&ListedSkill| skill.scope == scope && skill.outer.is_none() && skill.state.is_unknown();
    let by_hand = |skill: &&ListedSkill| skill.found_in == Some(FoundIn::Directory);
    let by_tool = |skill: &&ListedSkill| tool(skill).is_some();
    let unknown = || outcome.skills.iter().filter(of_scope);
    if let Some(skill) = unknown().find(by_tool) {
        printer.hint(&format!(
            "`skillpm import{}` adopts what other tools installed, such as `{}`",
            scope_flag(scope),
            one_line(&skill.name)
        ));
    } else if let (ScopeKind::Project, Some(lock)) = (scope, &outcome.other_lock) {
        printer.hint(&adopt(scope, lock));
    }
    if let Some(skill) = unknown().find(by_hand) {
        let name = one_line(&skill.name);
        printer.hint(&format!(
            "`{name}` was not installed by skillpm: `skillpm import{} {name}` adopts it",
            scope_flag(scope)
        ));
    }
}

fn adopt(scope: ScopeKind, lock: &str) -> String {
    format!("`skillpm import{}` adopts the skills that `{}` names", scope_flag(scope), one_line(lock))
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

/// Returns the tool that installed a skill that skillpm does not know.
fn tool(skill: &ListedSkill) -> Option<&'static str> {
    match skill.found_in? {
        FoundIn::SkillsLock | FoundIn::GlobalLock => Some("npx skills"),
        FoundIn::GhSkill => Some("gh skill"),
        FoundIn::Directory => None,
    }
}

fn state(skill: &ListedSkill) -> String {
    let state = match skill.state {
        SkillState::Ok => "ok",
        SkillState::Modified if skill.editable => "not linked",
        SkillState::Modified => "edited",
        SkillState::LineEnds => "line ends",
        SkillState::Conflict => "conflict",
        SkillState::Missing => "missing",
        SkillState::Untracked => "untracked",
        SkillState::Disabled => "disabled",
        SkillState::Editable => "editable",
        SkillState::Foreign => "foreign",
    };
    if let Some(tool) = tool(skill) {
        return format!("{state}, by {tool}");
    }
    let edited = skill.modified
        && !matches!(skill.state, SkillState::Modified | SkillState::LineEnds | SkillState::Conflict);
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
            agents: if name == "pdf" { vec!["claude-code".into(), "goose".into()] } else { Vec::new() },
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
    use crate::advice::Warning;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;

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
            None,
        );
        insta::assert_snapshot!(out.text(), @r#"
        name           version  scope    source                    seen by            state
        pdf            1.0      project  github:anthropics/skills  claude-code,goose  ok
        code-reviewer  -        project  github:anthropics/skills  -                  missing
        own            -        project  -                         -                  untracked
        docx           -        project  github:anthropics/skills  -                  disabled, edited
        mine           -        project  github:anthropics/skills  -                  editable
        xlsx           -        project  github:anthropics/skills  -                  conflict
        theirs         -        project  github:anthropics/skills  -                  foreign, by gh skill
        "#);
        insta::assert_snapshot!(err.text(), @r#"
        warning: odd
        hint: `skillpm install` restores missing skills
        hint: `skillpm import` adopts what other tools installed, such as `theirs`
        hint: `skillpm update xlsx` shows what to resolve
        "#);
    }

    /// Each hint is about one scope: the command does not restore the other.
    #[test]
    fn what_is_missing_is_told_by_scope() {
        let user = ListedSkill { scope: ScopeKind::User, ..skill("docx", SkillState::Missing) };
        let (talking, _, err) = printer(Appearance::PLAIN);
        show(&talking, &ListOutcome { skills: vec![user.clone()], ..ListOutcome::default() }, None);
        assert_eq!(err.text(), "hint: `skillpm install -g` restores missing skills\n");
        let (talking, _, err) = printer(Appearance::PLAIN);
        let skills = vec![skill("pdf", SkillState::Missing), user];
        show(&talking, &ListOutcome { skills, ..ListOutcome::default() }, None);
        insta::assert_snapshot!(err.text(), @"
        hint: `skillpm install` restores missing skills
        hint: `skillpm install -g` restores missing skills
        ");
    }

    /// No installation restores a directory that somebody works on elsewhere.
    #[test]
    fn what_to_do_about_a_directory_that_is_gone() {
        let gone = ListedSkill {
            scope: ScopeKind::User,
            source_gone: true,
            editable: true,
            ..skill("brand", SkillState::Missing)
        };
        let (talking, _, err) = printer(Appearance::PLAIN);
        show(&talking, &ListOutcome { skills: vec![gone], ..ListOutcome::default() }, None);
        insta::assert_snapshot!(err.text(), @"hint: `brand` is editable, but its directory is gone: restore the directory, or remove the skill with `skillpm remove -g brand`");
    }

    #[test]
    fn nothing_is_said_with_a_way_on() {
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &ListOutcome::default(), None);
        assert_eq!(out.text(), "");
        assert!(err.text().contains("hint: `skillpm install owner"), "{}", err.text());
        let (talking, _, err) = printer(Appearance::PLAIN);
        show(&talking, &ListOutcome::default(), Some(ScopeKind::User));
        assert!(err.text().contains("hint: `skillpm install -g owner"), "{}", err.text());
        let (talking, out, err) = printer(Appearance::PLAIN);
        json(&talking, &ListOutcome::default());
        assert_eq!((out.text().as_str(), err.text().as_str()), ("[]\n", ""));
    }
}
