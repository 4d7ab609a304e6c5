//! `verify`: the differences.

use super::{count, one_line};
use crate::cli::printer::Printer;
use skillpm_core::ops::verify::{UnlockedCode, VerifiedPlace, VerifiedSkill, VerifyOutcome};
use skillpm_core::scope::differences::FileChange;
use skillpm_core::scope::state::SkillState;

/// The number of files of one place to show, unless all are requested.
const FILES: usize = 20;

pub(crate) fn json(printer: &Printer, outcome: &VerifyOutcome) {
    printer.json(outcome);
    printer.warnings(&outcome.warnings);
}

pub(crate) fn show(printer: &Printer, outcome: &VerifyOutcome) {
    let all = printer.look().verbose;
    let fails = |skill: &VerifiedSkill| outcome.strict && skill.has_code();
    let is_shown = |skill: &VerifiedSkill| all || skill.verdict != SkillState::Ok || fails(skill);
    let text: String = outcome
        .skills
        .iter()
        .filter(|skill| is_shown(skill))
        .map(|skill| lines(skill, all, fails(skill)))
        .collect();
    if !text.is_empty() {
        printer.data(&text);
    }
    printer.warnings(&outcome.warnings);
    if outcome.skills.is_empty() {
        return printer.note("no skills are installed here");
    }
    for skill in outcome.skills.iter().filter(|skill| !is_shown(skill) || !all && !fails(skill)) {
        if let Some(told) = code(skill) {
            printer.note(&one_line(&told));
        }
    }
    printer.note(&summary(&outcome.skills));
    printer.hints(&outcome.hints());
}

/// Returns a sentence about the code in `skill` that is not part of it; `None` without such code.
fn code(skill: &VerifiedSkill) -> Option<String> {
    let all: Vec<_> = skill.places.iter().flat_map(|place| &place.code).collect();
    let first = all.iter().find(|code| code.shadows.is_some()).or(all.first())?;
    let more = match all.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Some(format!("`{}` has code that no digest covers: {}{more}", skill.name, of_code(first)))
}

fn of_code(code: &UnlockedCode) -> String {
    match &code.shadows {
        Some(script) => format!("`{}`, which can run in place of `{script}`", code.path),
        None => format!("`{}`", code.path),
    }
}

/// Returns the lines about `skill`: with `all` about everything, with `code` about code that is not part of it.
fn lines(skill: &VerifiedSkill, all: bool, code: bool) -> String {
    let mut text = format!("{}: {}, {}\n", skill.verdict.word(), one_line(&skill.name), skill.scope);
    let mut line = |indent: &str, words: &str| {
        text.push_str(indent);
        text.push_str(&one_line(words));
        text.push('\n');
    };
    let is_shown =
        |place: &&VerifiedPlace| all || place.verdict != SkillState::Ok || code && !place.code.is_empty();
    for place in skill.places.iter().filter(is_shown) {
        line("  ", &of_place(place));
        let files = place.files.as_deref().unwrap_or_default();
        let shown = if all { files.len() } else { FILES };
        for file in files.iter().take(shown) {
            line("    ", &format!("{}: {}", change(file.change), file.path));
        }
        if let Some(more) = files.len().checked_sub(shown).filter(|more| *more > 0) {
            line("    ", &format!("and {more} more, shown with `--verbose`"));
        }
        for leftover in place.leftovers.iter().filter(|_| all) {
            line("    ", &format!("left by a tool, not part of the skill: {leftover}"));
        }
        for code in place.code.iter().filter(|_| all || code) {
            line("    ", &format!("code that no digest covers: {}", of_code(code)));
        }
        if place.found.is_some() && place.files.is_none() {
            line("    ", "it is unknown which files differ: the store has no copy of the locked version");
        }
    }
    text
}

fn of_place(place: &VerifiedPlace) -> String {
    let agent = place.agent.map(|agent| format!("{agent}, ")).unwrap_or_default();
    let path = format!("{agent}`{}`", place.path);
    let path = match &place.target {
        Some(target) => format!("{path} leads to `{target}`"),
        None => path,
    };
    let end = match (place.verdict, &place.reason) {
        (_, Some(reason)) => format!(": {reason}"),
        (SkillState::Missing, None) => " does not exist".to_owned(),
        (SkillState::Modified, None) => " is not what is locked".to_owned(),
        (SkillState::LineEnds, None) => " differs from what is locked in line ends only".to_owned(),
        (SkillState::Conflict, None) => " has conflicts that an update left".to_owned(),
        (SkillState::Editable, None) => " cannot be verified: it is not locked".to_owned(),
        (SkillState::Untracked | SkillState::Unlocked, None) => " is not in the lockfile".to_owned(),
        _ => String::new(),
    };
    format!("{path}{end}")
}

fn change(change: FileChange) -> &'static str {
    match change {
        FileChange::Changed => "changed",
        FileChange::Missing => "missing",
        FileChange::Extra => "extra",
        FileChange::Mode => "mode",
    }
}

/// Returns a text such as `3 skills: 1 ok, 2 edited`.
fn summary(skills: &[VerifiedSkill]) -> String {
    let parts = SkillState::ALL.into_iter().filter_map(|verdict| {
        let number = skills.iter().filter(|skill| skill.verdict == verdict).count();
        (number > 0).then(|| format!("{number} {}", verdict.word()))
    });
    format!("{}: {}", count(skills.len(), "skill"), parts.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_core::scope::differences::ChangedFile;
    use skillpm_format::advice::Warning;
    use skillpm_format::scope_kind::ScopeKind;

    fn place(verdict: SkillState) -> VerifiedPlace {
        VerifiedPlace {
            agent: None,
            path: "/p/.agents/skills/pdf".to_owned(),
            verdict,
            found: None,
            target: None,
            reason: None,
            files: None,
            leftovers: Vec::new(),
            code: Vec::new(),
        }
    }

    fn outcome() -> VerifyOutcome {
        let digest = Some(format!("sha256:{}", "0".repeat(64)));
        let skill = |verdict: SkillState| VerifiedSkill {
            name: verdict.word().to_owned(),
            scope: ScopeKind::Project,
            verdict,
            digest: digest.clone().filter(|_| verdict != SkillState::Untracked),
            places: vec![place(verdict)],
            source_gone: false,
        };
        // A verification finds neither of them.
        let is_found = |state: &SkillState| !matches!(state, SkillState::Disabled | SkillState::Foreign);
        let mut skills: Vec<_> = SkillState::ALL.into_iter().filter(is_found).map(skill).collect();
        let changes = [FileChange::Changed, FileChange::Missing, FileChange::Extra, FileChange::Mode];
        let files = (0..21).map(|at| ChangedFile { path: format!("f{at}"), change: changes[at % 4] });
        let with_files = VerifiedPlace {
            found: digest.clone(),
            files: Some(files.collect()),
            ..place(SkillState::Modified)
        };
        skills[1].places[0].found.clone_from(&digest);
        skills[1].places.push(with_files);
        skills[5].places[0].target = Some("/x\u{1b}".to_owned());
        skills[6].places[0].agent = Some("claude-code");
        skills[6].places[0].reason = Some("permission denied".to_owned());
        VerifyOutcome { skills, strict: false, warnings: vec![Warning::new("odd", "odd")] }
    }

    /// Each hint is about one scope: the command does not act on the other.
    #[test]
    fn what_to_do_is_told_by_scope() {
        let all = outcome().skills;
        let of = |at: usize, scope| VerifiedSkill { scope, ..all[at].clone() };
        let skills = vec![of(4, ScopeKind::Project), of(1, ScopeKind::User)];
        let (talking, _, err) = printer(Appearance::PLAIN);
        show(&talking, &VerifyOutcome { skills, ..VerifyOutcome::default() });
        insta::assert_snapshot!(err.text(), @"
        2 skills: 1 edited, 1 missing
        hint: `skillpm install` restores what is missing
        hint: `skillpm install -g --force` restores what is locked; the store keeps your copy
        ");
        let (talking, _, err) = printer(Appearance::PLAIN);
        show(&talking, &VerifyOutcome { skills: vec![of(4, ScopeKind::User)], ..VerifyOutcome::default() });
        assert!(err.text().ends_with("hint: `skillpm install -g` restores what is missing\n"));
    }

    #[test]
    fn what_differs_and_how() {
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &outcome());
        insta::assert_snapshot!(out.text(), @r"
        edited: edited, project
          `/p/.agents/skills/pdf` is not what is locked
            it is unknown which files differ: the store has no copy of the locked version
          `/p/.agents/skills/pdf` is not what is locked
            changed: f0
            missing: f1
            extra: f2
            mode: f3
            changed: f4
            missing: f5
            extra: f6
            mode: f7
            changed: f8
            missing: f9
            extra: f10
            mode: f11
            changed: f12
            missing: f13
            extra: f14
            mode: f15
            changed: f16
            missing: f17
            extra: f18
            mode: f19
            and 1 more, shown with `--verbose`
        line ends: line ends, project
          `/p/.agents/skills/pdf` differs from what is locked in line ends only
        conflict: conflict, project
          `/p/.agents/skills/pdf` has conflicts that an update left
        missing: missing, project
          `/p/.agents/skills/pdf` does not exist
        elsewhere: elsewhere, project
          `/p/.agents/skills/pdf` leads to `/x\u{1b}`
        unreadable: unreadable, project
          claude-code, `/p/.agents/skills/pdf`: permission denied
        not locked: not locked, project
          `/p/.agents/skills/pdf` is not in the lockfile
        untracked: untracked, project
          `/p/.agents/skills/pdf` is not in the lockfile
        editable: editable, project
          `/p/.agents/skills/pdf` cannot be verified: it is not locked
        ");
        insta::assert_snapshot!(err.text(), @"
        warning: odd
        10 skills: 1 ok, 1 edited, 1 line ends, 1 conflict, 1 missing, 1 elsewhere, 1 unreadable, 1 not locked, 1 untracked, 1 editable
        hint: resolve the conflicts in `conflict`, or run `skillpm update conflict` with `--ours`, `--theirs` or `--abort`
        ");
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &VerifyOutcome::default());
        assert_eq!((out.text().as_str(), err.text().as_str()), ("", "no skills are installed here\n"));
    }

    /// Code that tools left is named in any case, and by file where it counts.
    #[test]
    fn code_beside_a_skill_is_told() {
        let code = |path: &str, shadows: Option<&str>| UnlockedCode {
            path: path.to_owned(),
            shadows: shadows.map(ToOwned::to_owned),
        };
        let both = vec![code("venv", None), code("__pycache__/a.pyc", Some("a.py"))];
        let mut skills = outcome().skills;
        skills.truncate(1);
        skills[0].places[0].code = both;
        let (talking, out, err) = printer(Appearance::PLAIN);
        let plain = VerifyOutcome { skills, ..VerifyOutcome::default() };
        show(&talking, &plain);
        assert_eq!((out.text().as_str(), plain.is_ok()), ("", true));
        insta::assert_snapshot!(err.text(), @"
        `ok` has code that no digest covers: `__pycache__/a.pyc`, which can run in place of `a.py`, and 1 more
        1 skill: 1 ok
        ");
        let strict = VerifyOutcome { strict: true, ..plain };
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &strict);
        assert!(!strict.is_ok());
        insta::assert_snapshot!(out.text(), @"
        ok: ok, project
          `/p/.agents/skills/pdf`
            code that no digest covers: `venv`
            code that no digest covers: `__pycache__/a.pyc`, which can run in place of `a.py`
        ");
        insta::assert_snapshot!(err.text(), @"
        1 skill: 1 ok
        hint: unlocked files were not reviewed: remove them, or keep them out of version control
        ");
    }
}
