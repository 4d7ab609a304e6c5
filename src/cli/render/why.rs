//! `why`: a page for each scope that has the skill.

use super::{asked_for, listing, one_line, short_revision};
use crate::cli::printer::Printer;
use crate::cli::words::worded;
use skillpm_core::ops::list::{ListedSkill, SkillState};
use skillpm_core::ops::why::{Elsewhere, RequestedIn, SeenBy, WhyOutcome, WhySkill};
use skillpm_core::scope::agent_view::Form;
use skillpm_format::advice::{Verb, message};
use skillpm_format::scope_kind::{DISABLED_DIR, ScopeKind};
use skillpm_format::text::without_secrets;

pub(crate) fn json(printer: &Printer, outcome: &WhyOutcome) {
    printer.warnings(&outcome.warnings);
    printer.json(outcome);
}

pub(crate) fn show(printer: &Printer, outcome: &WhyOutcome) {
    printer.warnings(&outcome.warnings);
    let mut pages: Vec<_> = outcome.installed.iter().map(|skill| page(outcome, skill)).collect();
    if !outcome.elsewhere.is_empty() {
        let lines: Vec<_> = outcome.elsewhere.iter().map(|other| elsewhere(outcome, other)).collect();
        let head = if outcome.installed.is_empty() {
            "a skill of this name is in:\n"
        } else {
            "the same name is in:\n"
        };
        pages.push(format!("{head}{}", lines.concat()));
    }
    if !pages.is_empty() {
        printer.data(&pages.join("\n"));
    }
    if outcome.installed.is_empty() {
        let end = outcome.scope.map(|scope| format!(" {}", scope.within())).unwrap_or_default();
        printer.note(&format!("`{}` is not installed{end}", one_line(&outcome.name)));
        printer.hints(&outcome.hints());
    }
}

fn page(outcome: &WhyOutcome, why: &WhySkill) -> String {
    let skill = &why.skill;
    let version = skill.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
    let owner = match skill.scope {
        ScopeKind::Project => "in the project",
        ScopeKind::User => "of the user",
    };
    let mut text = one_line(&format!("{}{version}, {owner}", skill.name)) + "\n";
    let mut line = |words: &str| {
        text.push_str("  ");
        text.push_str(&one_line(&without_secrets(words)));
        text.push('\n');
    };
    match &why.asked {
        Some(asked) => line(&asked_in(outcome, asked)),
        None if why.needed_by.is_empty() => {
            line("not requested: no manifest names it, and no skill needs it");
        }
        None => {}
    }
    if !why.needed_by.is_empty() {
        line(&format!("needed by {}", why.needed_by.join(", ")));
    }
    if let Some(source) = &skill.source {
        // The path in a registry is the name of the skill there.
        let is_of_registry = skill.source_type == Some("registry");
        let path = skill.path.as_deref().filter(|_| !is_of_registry);
        let path = path.map(|path| format!(", directory {path}")).unwrap_or_default();
        // An alias hides the name that others know.
        let own =
            skill.alias_of.as_deref().map(|own| format!(", where its name is {own}")).unwrap_or_default();
        line(&format!("from {source}{path}{own}"));
    }
    if let Some(revision) = &skill.revision {
        let asked = asked_for(skill).map(|asked| format!(", requested: {asked}")).unwrap_or_default();
        line(&format!("locked at {}{asked}", short_revision(revision)));
    }
    line(&lies(skill, &short(outcome, &skill.location)));
    for seen in &why.seen {
        line(&seen_by(outcome, seen));
    }
    if why.seen.is_empty() {
        line("seen by no agent on this machine");
    }
    for listed in &why.listed {
        line(&format!("{}: {}", listed.agent, listing::sentence(&listed.skill, &outcome.roots)));
    }
    for hidden in &why.shadows {
        line(&format!("skillpm takes it before {}", short(outcome, hidden)));
    }
    if let Some(used) = &why.shadowed_by {
        line(&format!("skillpm takes {} before it", short(outcome, used)));
    }
    text
}

/// Returns the place and state of a skill.
fn lies(skill: &ListedSkill, place: &str) -> String {
    let install = || Verb::Install.within(skill.scope);
    let awry = if skill.disabled && !skill.location.contains(DISABLED_DIR) {
        worded(&message!(" (it is disabled: ", install(), " hides it from agents)"))
    } else {
        String::new()
    };
    let edited = if skill.modified { ", edited since it was installed" } else { "" };
    match skill.state {
        SkillState::Ok => format!("is in {place}, as it is locked{awry}"),
        SkillState::Editable => {
            format!("editable: {place} is a link to its working directory{awry}")
        }
        SkillState::Modified | SkillState::Elsewhere if skill.editable => {
            format!("editable, and {place} is not a link to its directory{awry}")
        }
        SkillState::Modified => format!("is in {place}{edited}{awry}"),
        SkillState::Elsewhere => format!("is locked, but something else is in {place}{awry}"),
        SkillState::Unreadable => format!("is in {place}, and cannot be read{awry}"),
        SkillState::LineEnds => format!("is in {place}, with other line ends than are locked{awry}"),
        SkillState::Conflict => {
            format!("is in {place}, with unresolved conflicts of an update{awry}")
        }
        SkillState::Disabled if skill.editable => {
            format!("disabled and editable: it is edited in {place}, and no agent has a link to it")
        }
        SkillState::Disabled => format!("disabled: it is in {place}, where no agent looks{edited}"),
        SkillState::Missing if skill.editable && skill.disabled => {
            format!("disabled and editable: its directory {place} does not exist")
        }
        SkillState::Missing if skill.editable => {
            format!("editable: the link {place} or its target is missing")
        }
        SkillState::Unlocked => worded(&message!(
            format_args!("is in {place}, and not locked: "),
            install(),
            " locks what is needed"
        )),
        SkillState::Missing | SkillState::Untracked | SkillState::Foreign => {
            let does = if skill.digest.is_some() { " restores it" } else { " installs it" };
            worded(&message!(format_args!("missing from {place}: "), install(), does))
        }
    }
}

fn asked_in(outcome: &WhyOutcome, asked: &RequestedIn) -> String {
    let file = short(outcome, &asked.file);
    match (asked.line, &asked.text) {
        (Some(line), Some(text)) => format!("requested by {file}:{line}: {text}"),
        _ => format!("requested by {file}"),
    }
}

fn seen_by(outcome: &WhyOutcome, seen: &SeenBy) -> String {
    let how = match seen.form {
        Form::Link => ", a link",
        Form::Copy => ", a copy",
        Form::Canonical | Form::Foreign | Form::Broken => "",
    };
    format!("seen by {} in {}{how}", seen.agents.join(", "), short(outcome, &seen.path))
}

fn elsewhere(outcome: &WhyOutcome, other: &Elsewhere) -> String {
    let what = match (other.form, &other.target) {
        _ if other.installed => format!("installed, of the {}", other.scope),
        (Form::Broken, Some(target)) => format!("a link to {target}, which does not exist"),
        (_, Some(target)) => format!("a link to {target}"),
        (Form::Canonical, None) => "not in any lockfile".to_owned(),
        (_, None) => "not from skillpm".to_owned(),
    };
    let who = if other.agents.is_empty() {
        String::new()
    } else {
        format!(", seen by {}", other.agents.join(", "))
    };
    format!("  {}: {}\n", short(outcome, &other.path), one_line(&format!("{what}{who}")))
}

fn short(outcome: &WhyOutcome, path: &str) -> String {
    super::short_path(&outcome.roots, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::cli::render::list::testing::skill;

    /// A command without the flag would act on the project.
    #[test]
    fn advice_names_the_scope() {
        let user = |state, disabled| ListedSkill { scope: ScopeKind::User, disabled, ..skill("pdf", state) };
        assert_eq!(
            lies(&user(SkillState::Missing, false), "~/s/pdf"),
            "missing from ~/s/pdf: `skillpm install -g` installs it"
        );
        assert_eq!(
            lies(&user(SkillState::Ok, true), "~/s/pdf"),
            "is in ~/s/pdf, as it is locked (it is disabled: `skillpm install -g` hides it from agents)"
        );
        assert_eq!(
            lies(&skill("pdf", SkillState::Missing), "s/pdf"),
            "missing from s/pdf: `skillpm install` installs it"
        );
    }

    /// Only a repository has branches.
    #[test]
    fn what_was_asked_for() {
        let line = |source_type, requested: Option<&str>| {
            let requested = requested.map(str::to_owned);
            let revision = Some("1a2b3c4d".repeat(5));
            let listed = skill("pdf", SkillState::Ok);
            let skill = ListedSkill { revision, source_type, requested, ..listed };
            let why = WhySkill {
                skill,
                asked: None,
                needed_by: vec![],
                seen: vec![],
                shadows: vec![],
                listed: Vec::new(),
                shadowed_by: None,
            };
            let page = page(&WhyOutcome::default(), &why);
            page.lines().find(|line| line.contains("locked at")).map(|line| line.trim().to_owned())
        };
        for (source, requested, expected) in [
            ("github", None, "locked at 1a2b3c4, requested: the default branch"),
            ("git", Some("v1"), "locked at 1a2b3c4, requested: v1"),
            ("url", None, "locked at 1a2b3c4"),
            ("site", None, "locked at 1a2b3c4"),
            ("npm", None, "locked at 1a2b3c4"),
        ] {
            assert_eq!(line(Some(source), requested).as_deref(), Some(expected));
        }
    }
}
