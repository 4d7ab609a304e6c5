//! `usage`: a row for each skill, and whose records were read.

use super::table::Table;
use super::{count, one_line};
use crate::cli::printer::Printer;
use skillpm_core::ops::usage::{RecordsOf, SkillUsage, UsageOutcome, UsageState};

pub(crate) fn json(printer: &Printer, outcome: &UsageOutcome) {
    printer.warnings(&outcome.warnings);
    printer.json(outcome);
}

pub(crate) fn show(printer: &Printer, outcome: &UsageOutcome) {
    printer.warnings(&outcome.warnings);
    let is_told = |skill: &&SkillUsage| skill.state != UsageState::Unknown || printer.look().verbose;
    let told: Vec<_> = outcome.skills.iter().filter(is_told).collect();
    if told.is_empty() {
        printer.note("no use of a skill is recorded");
    } else {
        table(&told).show(printer);
    }
    if printer.look().verbose {
        for skill in &told {
            places(printer, skill);
        }
    }
    records(printer, outcome);
    let unknown = outcome.skills.len() - told.len();
    // With a filter, their agents may have other sessions.
    if unknown > 0 && outcome.since.is_none() && outcome.project.is_none() {
        printer.note(&format!(
            "{} seen only by agents whose sessions are not known",
            super::skills_are(unknown)
        ));
    }
}

fn table(skills: &[&SkillUsage]) -> Table {
    let header = ["skill", "state", "uses", "by people", "failed", "listed", "agents", "last", "projects"];
    let mut table = Table::new(&header).state("state");
    for number in ["uses", "by people", "failed", "listed", "projects"] {
        table = table.number(number);
    }
    for skill in skills {
        let agents: Vec<_> = skill.agents.iter().map(|agent| agent.id).collect();
        table.row([
            &skill.name,
            state(skill.state),
            &skill.uses.to_string(),
            &number(skill.by_person),
            &number(skill.failed),
            &number(skill.listed),
            &agents.join(","),
            date(skill.last.as_deref()),
            &number(skill.projects.len()),
        ]);
    }
    table
}

fn state(state: UsageState) -> &'static str {
    match state {
        UsageState::Used => "used",
        UsageState::Missing => "missing",
        UsageState::NeverPicked => "never-picked",
        UsageState::NeverUsed => "never-used",
        UsageState::Unknown => "unknown",
    }
}

fn number(number: usize) -> String {
    if number == 0 { String::new() } else { number.to_string() }
}

/// Returns the day of a time.
fn date(time: Option<&str>) -> &str {
    time.and_then(|time| time.split('T').next()).unwrap_or_default()
}

/// Tells where a skill was used.
fn places(printer: &Printer, skill: &SkillUsage) {
    if skill.projects.is_empty() {
        return;
    }
    let lines = skill.projects.iter().map(|project| {
        let failed = if project.failed > 0 { format!(", {} failed", project.failed) } else { String::new() };
        format!("  {}: {}{failed}\n", one_line(&project.path), count(project.uses, "use"))
    });
    let text = format!("\n{}\n{}", one_line(&skill.name), lines.collect::<String>());
    printer.data(&text);
}

/// Tells what was read, and from when on: what is older was deleted or never recorded.
fn records(printer: &Printer, outcome: &UsageOutcome) {
    for agent in &outcome.agents {
        let left_out = agent.left_out;
        if left_out.files + left_out.lines > 0 {
            printer.warning(&format!(
                "records of {} cannot be read: {} and {}",
                agent.name,
                count(left_out.files, "file"),
                count(left_out.lines, "line")
            ));
        }
        if agent.sessions > 0 {
            printer.note(&records_of(agent));
        }
        if left_out.long_lines > 0 {
            printer.detail(&format!(
                "{}: {} left out as too long",
                agent.name,
                count(left_out.long_lines, "line")
            ));
        }
    }
}

fn records_of(agent: &RecordsOf) -> String {
    let since = agent.first.as_deref().map(|first| format!(", from {} on", date(Some(first))));
    let deletes = match agent.id {
        "claude-code" => "; it deletes sessions after `cleanupPeriodDays`, 30 days unless set",
        _ => "",
    };
    let sessions = count(agent.sessions, "session");
    format!(
        "{}: {} in {sessions}{}{deletes}",
        agent.name,
        count(agent.uses, "use"),
        since.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_core::agents::sessions::LeftOut;
    use skillpm_core::ops::usage::{AgentUsage, ProjectUsage};

    fn skill(name: &str, state: UsageState, uses: usize) -> SkillUsage {
        SkillUsage {
            name: name.to_owned(),
            state,
            uses,
            failed: 0,
            by_model: uses,
            by_person: 0,
            first: None,
            last: None,
            listed: 0,
            agents: Vec::new(),
            projects: Vec::new(),
            installed: Vec::new(),
            found: None,
        }
    }

    #[test]
    fn a_row_for_each_skill() {
        let agent = |id| AgentUsage { id, uses: 2, failed: 1, listed: 3 };
        let project = ProjectUsage { path: "/w/a\u{1b}[2J".to_owned(), uses: 2, failed: 1 };
        let used = SkillUsage {
            failed: 1,
            by_person: 1,
            last: Some("2026-11-21T08:49:37.250Z".to_owned()),
            listed: 3,
            agents: vec![agent("claude-code"), agent("codex")],
            projects: vec![project],
            ..skill("pdf", UsageState::Used, 2)
        };
        let records = RecordsOf {
            id: "claude-code",
            name: "Claude Code",
            sessions: 1,
            uses: 2,
            first: Some("2026-11-01T08:49:37.250Z".to_owned()),
            left_out: LeftOut { files: 1, lines: 0, long_lines: 2 },
        };
        let outcome = UsageOutcome {
            agents: vec![records.clone(), RecordsOf { id: "codex", name: "Codex", sessions: 0, ..records }],
            skills: vec![
                used,
                skill("xlsx", UsageState::NeverPicked, 0),
                skill("own", UsageState::Unknown, 0),
            ],
            ..UsageOutcome::default()
        };
        let (talking, out, err) = printer(Appearance { verbose: false, ..Appearance::PLAIN });
        show(&talking, &outcome);
        insta::assert_snapshot!(out.text(), @"
        skill  state         uses  by people  failed  listed  agents             last        projects
        pdf    used             2          1       1       3  claude-code,codex  2026-11-21         1
        xlsx   never-picked     0          -       -       -  -                  -                  -
        ");
        insta::assert_snapshot!(err.text(), @"
        warning: records of Claude Code cannot be read: 1 file and 0 lines
        Claude Code: 2 uses in 1 session, from 2026-11-01 on; it deletes sessions after `cleanupPeriodDays`, 30 days unless set
        warning: records of Codex cannot be read: 1 file and 0 lines
        1 skill is seen only by agents whose sessions are not known
        ");
        let (talking, out, _err) = printer(Appearance { verbose: true, ..Appearance::PLAIN });
        show(&talking, &outcome);
        assert!(out.text().contains("/w/a\\u{1b}[2J: 2 uses, 1 failed"), "{}", out.text());
        assert!(out.text().contains("own    unknown"), "{}", out.text());
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &UsageOutcome::default());
        assert_eq!((out.text().as_str(), err.text().as_str()), ("", "no use of a skill is recorded\n"));
    }
}
