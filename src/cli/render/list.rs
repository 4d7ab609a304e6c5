//! `list`: a table.

use super::one_line;
use super::table::Table;
use crate::cli::printer::Printer;
use crate::install::editable::put_back;
use crate::install::scope::ScopeKind;
use crate::ops::list::{ListOutcome, ListedSkill, SkillState};

/// The table of `outcome`, which was asked for of `scope` alone or of both.
pub(crate) fn show(printer: &Printer, outcome: &ListOutcome, scope: Option<ScopeKind>) {
    printer.warnings(&outcome.warnings);
    if outcome.skills.is_empty() {
        printer.note("no skills are installed here");
        printer.hint(&super::how_to_install(scope));
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
                put_back(scope, &name)
            ));
        } else if missing().next().is_some() {
            printer.hint(&format!("`skillpm install{}` restores missing skills", scope.flag()));
        }
    }
    if let Some(skill) = outcome.skills.iter().find(|skill| skill.state == SkillState::LineEnds) {
        let flag = skill.scope.flag();
        printer.hint(&format!(
            "git or an editor changed line ends, and nothing else: `skillpm install{flag}` brings back those that are locked"
        ));
    }
    if let Some(skill) = outcome.skills.iter().find(|skill| skill.state == SkillState::Conflict) {
        let (flag, name) = (skill.scope.flag(), one_line(&skill.name));
        printer.hint(&format!("`skillpm update{flag} {name}` shows what to resolve"));
    }
    if let Some((skill, agent)) =
        outcome.skills.iter().find_map(|skill| Some((skill, skill.edited_copies.first()?)))
    {
        let name = one_line(&skill.name);
        printer.hint(&format!("{agent}'s copy of `{name}` was edited: `skillpm doctor` shows where it is"));
    }
}

pub(crate) fn json(printer: &Printer, outcome: &ListOutcome) {
    printer.warnings(&outcome.warnings);
    printer.json(&outcome.skills);
}

fn table(skills: &[ListedSkill]) -> Table {
    let mut table = Table::new(&["name", "version", "scope", "source", "agents", "state"]).state("state");
    for skill in skills {
        table.row([
            &skill.name,
            skill.version.as_deref().unwrap_or(""),
            &skill.scope.to_string(),
            skill.source.as_deref().unwrap_or(""),
            &skill.agents.join(","),
            &state(skill),
        ]);
    }
    table
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
    };
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

    /// A skill in a state; `docx` is edited, and `pdf` has a version and agents.
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
            source_gone: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::skill;
    use super::*;
    use crate::cli::look::Look;
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
        ];
        let (printer, out, err) = printer(Look::PLAIN);
        show(&printer, &ListOutcome { skills, warnings: vec!["odd".into()] }, None);
        insta::assert_snapshot!(out.text(), @r#"
        name           version  scope    source                    agents             state
        pdf            1.0      project  github:anthropics/skills  claude-code,goose  ok
        code-reviewer  -        project  github:anthropics/skills  -                  missing
        own            -        project  -                         -                  untracked
        docx           -        project  github:anthropics/skills  -                  disabled, edited
        mine           -        project  github:anthropics/skills  -                  editable
        xlsx           -        project  github:anthropics/skills  -                  conflict
        "#);
        insta::assert_snapshot!(err.text(), @r#"
        warning: odd
        hint: `skillpm install` restores missing skills
        hint: `skillpm update xlsx` shows what to resolve
        "#);
    }

    /// Each hint is about one scope: the command restores no other.
    #[test]
    fn what_is_missing_is_told_by_scope() {
        let user = ListedSkill { scope: ScopeKind::User, ..skill("docx", SkillState::Missing) };
        let (talking, _, err) = printer(Look::PLAIN);
        show(&talking, &ListOutcome { skills: vec![user.clone()], warnings: Vec::new() }, None);
        assert_eq!(err.text(), "hint: `skillpm install -g` restores missing skills\n");
        let (talking, _, err) = printer(Look::PLAIN);
        let skills = vec![skill("pdf", SkillState::Missing), user];
        show(&talking, &ListOutcome { skills, warnings: Vec::new() }, None);
        insta::assert_snapshot!(err.text(), @"
        hint: `skillpm install` restores missing skills
        hint: `skillpm install -g` restores missing skills
        ");
    }

    /// No installation brings back what somebody works on elsewhere.
    #[test]
    fn what_to_do_about_a_directory_that_is_gone() {
        let gone = ListedSkill {
            scope: ScopeKind::User,
            source_gone: true,
            editable: true,
            ..skill("brand", SkillState::Missing)
        };
        let (talking, _, err) = printer(Look::PLAIN);
        show(&talking, &ListOutcome { skills: vec![gone], warnings: Vec::new() }, None);
        insta::assert_snapshot!(err.text(), @"hint: `brand` is editable, but its directory is gone: restore the directory, or remove the skill with `skillpm remove -g brand`");
    }

    #[test]
    fn nothing_is_said_with_a_way_on() {
        let (talking, out, err) = printer(Look::PLAIN);
        show(&talking, &ListOutcome::default(), None);
        assert_eq!(out.text(), "");
        assert!(err.text().contains("hint: `skillpm install owner"), "{}", err.text());
        let (talking, _, err) = printer(Look::PLAIN);
        show(&talking, &ListOutcome::default(), Some(ScopeKind::User));
        assert!(err.text().contains("hint: `skillpm install -g owner"), "{}", err.text());
        let (talking, out, err) = printer(Look::PLAIN);
        json(&talking, &ListOutcome::default());
        assert_eq!((out.text().as_str(), err.text().as_str()), ("[]\n", ""));
    }

    /// The schema says what is printed, with every state.
    #[test]
    fn the_schema_describes_the_json() {
        let states = [
            SkillState::Ok,
            SkillState::Modified,
            SkillState::LineEnds,
            SkillState::Conflict,
            SkillState::Missing,
            SkillState::Untracked,
            SkillState::Disabled,
            SkillState::Editable,
        ];
        let names = states.map(|state| serde_json::to_value(state).expect("a text"));
        let schema = crate::testing::Schema::read("list.schema.json");
        schema.assert_generated("/$defs/skill/properties/state/enum", &names.to_vec().into());
        let scopes = serde_json::json!([ScopeKind::Project, ScopeKind::User]);
        schema.assert_generated("/$defs/skill/properties/scope/enum", &scopes);
        let mut skills = states.map(|state| skill("pdf", state)).to_vec();
        skills[0].revision = Some("1a2b3c4d".repeat(5));
        skills[0].digest = Some(format!("sha256:{}", "0".repeat(64)));
        skills[0].path = Some("skills/pdf".to_owned());
        let (printer, out, _) = printer(Look::PLAIN);
        json(&printer, &ListOutcome { skills, warnings: Vec::new() });
        let mut value: serde_json::Value = serde_json::from_str(&out.text()).expect("JSON");
        assert_eq!(schema.faults(&value), [""; 0]);
        value[0]["state"] = "lost".into();
        value[1]["new"] = "a field that nobody described".into();
        value[2].as_object_mut().expect("an object").remove("agents");
        assert_eq!(schema.faults(&value).len(), 3);
    }
}
