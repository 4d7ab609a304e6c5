//! `outdated`: a table.

use super::table::Table;
use super::{count, error, short_revision, skills_are};
use crate::cli::printer::Printer;
use crate::cli::words::worded;
use skillpm_core::ops::outdated::{OutdatedOutcome, OutdatedSkill};
use skillpm_core::updates::Status;
use skillpm_format::spec::Reference;
use skillpm_format::text::without_secrets;

pub(crate) fn json(printer: &Printer, outcome: &OutdatedOutcome) {
    warn(printer, outcome);
    printer.json(&outcome.skills);
}

/// Shows the skills with something to report, or all of them if they were `named`.
pub(crate) fn show(printer: &Printer, outcome: &OutdatedOutcome, named: bool) {
    warn(printer, outcome);
    let skills = &outcome.skills;
    let is_told = |skill: &&OutdatedSkill| {
        let is_off =
            matches!(skill.status, Status::Changed | Status::Unknown | Status::Failed | Status::Refused);
        named || is_off || skill.held_back.is_some() || skill.is_outdated()
    };
    let told: Vec<_> = skills.iter().filter(is_told).collect();
    if !told.is_empty() {
        table(&told).show(printer);
    }
    let outdated = skills.iter().filter(|skill| skill.is_outdated()).count();
    let of = |status| skills.iter().filter(|skill| skill.status == status).count();
    match (skills.len(), outdated) {
        (0, _) if outcome.warnings.is_empty() => printer.note("no skills are installed here"),
        (0, _) => {}
        (all, 0) if of(Status::Current) + of(Status::Editable) == all => {
            printer.note(&format!("{} up to date", skills_are(all)));
        }
        // Sources that could not be queried have been reported.
        (_, 0) if of(Status::Current) == 0 => {}
        (all, outdated) => printer.note(&format!("{} outdated", of_all(outdated, all))),
    }
    for note in &outcome.notes {
        printer.note(&worded(&note.message));
    }
    if of(Status::Unknown) > 0 {
        printer.note(
            "where the state is `unknown`, only a download shows whether the skill's own files changed",
        );
    }
    printer.hints(&outcome.hints());
}

/// Returns a text such as `1 of 3 skills is`, or `3 skills are` if it is all of them.
fn of_all(some: usize, all: usize) -> String {
    let are = if some == 1 { "is" } else { "are" };
    if some == all { skills_are(all) } else { format!("{some} of {} {are}", count(all, "skill")) }
}

fn warn(printer: &Printer, outcome: &OutdatedOutcome) {
    printer.warnings(&outcome.warnings);
    error::partial(printer, &outcome.failures);
}

fn table(skills: &[&OutdatedSkill]) -> Table {
    let header = ["name", "locked", "newest", "latest", "state", "scope", "source"];
    let mut table = Table::new(&header).state("state");
    for skill in skills {
        table.row([
            &skill.name,
            &locked(skill),
            &newest(skill),
            &skill.latest.as_deref().map(short_revision).unwrap_or_default(),
            &state(skill),
            &skill.scope.to_string(),
            &without_secrets(&skill.source),
        ]);
    }
    table
}

/// Returns the tag to which a skill is pinned, or otherwise its revision.
fn locked(skill: &OutdatedSkill) -> String {
    match skill.requested.as_deref().map(Reference::from_lockfile) {
        Some(Reference::Tag(tag)) => tag,
        Some(Reference::Any(tag)) if skill.latest.is_some() => short_revision(&tag),
        _ => skill.locked.as_deref().map(short_revision).unwrap_or_default(),
    }
}

fn newest(skill: &OutdatedSkill) -> String {
    if skill.newest == skill.locked && skill.newest.is_some() {
        return locked(skill);
    }
    skill.newest.as_deref().map(short_revision).unwrap_or_default()
}

/// Reports whether the manifest states a range of versions, or nothing.
fn is_range(skill: &OutdatedSkill) -> bool {
    matches!(skill.requested.as_deref().map(Reference::from_lockfile), None | Some(Reference::Range(_)))
}

fn state(skill: &OutdatedSkill) -> String {
    let mut state = match skill.status {
        // The tag or commit is unchanged, and there is a newer one.
        Status::Current if skill.latest.is_some() && !is_range(skill) => "pinned",
        Status::Current => "current",
        Status::Changed => "changed",
        Status::Gone => "gone",
        Status::Moved => "moved",
        Status::RefGone => "ref gone",
        Status::Unknown => "unknown",
        Status::Failed => "not reached",
        Status::NotAsked => "not asked",
        Status::Refused => "refused",
        Status::Editable => "editable",
        // These have no rows.
        Status::LockedOtherwise | Status::NotInstalled | Status::NoLongerAsked => "not compared",
    }
    .to_owned();
    for (is_so, mark) in [
        (skill.held_back.is_some(), "held back"),
        (skill.yanked, "yanked"),
        (skill.tag_moved, "tag moved"),
        (skill.modified, "edited"),
        (skill.disabled, "disabled"),
    ] {
        if is_so {
            state = format!("{state}, {mark}");
        }
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_format::advice::Warning;
    use skillpm_format::scope_kind::ScopeKind;

    fn skill(status: Status) -> OutdatedSkill {
        OutdatedSkill {
            name: "pdf".into(),
            scope: ScopeKind::Project,
            source: "github:acme/skills".into(),
            path: None,
            requested: None,
            locked: Some("1a2b3c4d".repeat(5)),
            newest: (status == Status::Changed).then(|| "99999999".repeat(5)),
            latest: None,
            status,
            held_back: None,
            moved_to: (status == Status::Moved).then(|| "skills/new".into()),
            tag_moved: false,
            yanked: false,
            modified: false,
            disabled: false,
        }
    }

    #[test]
    fn what_is_current_is_not_told() {
        let (talking, out, err) = printer(Appearance::PLAIN);
        let skills = vec![skill(Status::Current), skill(Status::Editable)];
        show(&talking, &OutdatedOutcome { skills: skills.clone(), ..OutdatedOutcome::default() }, false);
        assert_eq!((out.text().as_str(), err.text().as_str()), ("", "2 skills are up to date\n"));
        let (talking, out, _) = printer(Appearance::PLAIN);
        show(&talking, &OutdatedOutcome { skills, ..OutdatedOutcome::default() }, true);
        assert_eq!(out.text().lines().count(), 3);
        let (talking, _, err) = printer(Appearance::PLAIN);
        show(&talking, &OutdatedOutcome::default(), false);
        assert_eq!(err.text(), "no skills are installed here\n");
    }

    #[test]
    fn marks_and_pins() {
        let mut moved = skill(Status::Changed);
        moved.requested = Some("tags/v1.0".into());
        (moved.tag_moved, moved.modified, moved.disabled) = (true, true, true);
        let mut pinned = skill(Status::Current);
        (pinned.requested, pinned.newest, pinned.latest) =
            (Some("tags/v1.0".into()), pinned.locked.clone(), Some("v1.1\u{1b}[2J".into()));
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &OutdatedOutcome { skills: vec![moved, pinned], ..OutdatedOutcome::default() }, false);
        insta::assert_snapshot!(out.text(), @r"
        name  locked  newest   latest         state                                 scope    source
        pdf   v1.0    9999999  -              changed, tag moved, edited, disabled  project  github:acme/skills
        pdf   v1.0    v1.0     v1.1\u{1b}[2J  pinned                                project  github:acme/skills
        ");
        insta::assert_snapshot!(err.text(), @"
        2 skills are outdated
        hint: `skillpm diff --newest` shows what would change, `skillpm update` installs it
        hint: `skillpm update --latest` goes past the versions that the manifest names
        ");
    }

    /// A command without `-g` would update the project.
    #[test]
    fn each_scope_has_a_command_of_its_own() {
        let told = |scopes: &[ScopeKind]| {
            let latest = Some("v2".to_owned());
            let of = |scope: &ScopeKind| OutdatedSkill {
                scope: *scope,
                latest: latest.clone(),
                ..skill(Status::Changed)
            };
            let skills = scopes.iter().map(of).chain([skill(Status::Current)]).collect();
            let (talking, _, err) = printer(Appearance::PLAIN);
            show(&talking, &OutdatedOutcome { skills, ..OutdatedOutcome::default() }, false);
            err.text().lines().skip(1).collect::<Vec<_>>().join("\n")
        };
        insta::assert_snapshot!(told(&[ScopeKind::User]), @"
        hint: `skillpm diff --newest` shows what would change, `skillpm update -g` installs it
        hint: `skillpm update -g --latest` goes past the versions that the manifest names
        ");
        insta::assert_snapshot!(told(&[ScopeKind::Project, ScopeKind::User]), @"
        hint: `skillpm diff --newest` shows what would change, `skillpm update` and `skillpm update -g` install it
        hint: `skillpm update --latest` and `skillpm update -g --latest` go past the versions that the manifests name
        ");
    }

    #[test]
    fn what_is_held_back_is_told_and_not_offered() {
        let reason = "was released only 2d ago: skillpm.toml:2:23: `minimum-release-age = \"7d\"` says so";
        let held = OutdatedSkill { held_back: Some(reason.into()), ..skill(Status::Changed) };
        let (talking, out, err) = printer(Appearance::PLAIN);
        let skills = vec![held, skill(Status::Current)];
        let notes =
            vec![Warning::new("skill-held-back", format!("`pdf` is held back: the newest version {reason}"))];
        show(&talking, &OutdatedOutcome { skills, notes, ..OutdatedOutcome::default() }, false);
        insta::assert_snapshot!(out.text(), @"
        name  locked   newest   latest  state               scope    source
        pdf   1a2b3c4  9999999  -       changed, held back  project  github:acme/skills
        ");
        insta::assert_snapshot!(err.text(), @r#"
        0 of 2 skills are outdated
        `pdf` is held back: the newest version was released only 2d ago: skillpm.toml:2:23: `minimum-release-age = "7d"` says so
        "#);
    }
}
