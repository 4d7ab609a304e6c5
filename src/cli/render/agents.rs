//! `agents`: a table of agents, or everything that one of them sees.

use std::fmt::Write as _;

use super::table::Table;
use super::{and, count, one_line};
use super::{listing, steps};
use crate::cli::printer::Printer;
use skillpm_core::ops::agents::{AgentView, AgentsOutcome, CheckOutcome, DirectoryView, SkillView};
use skillpm_core::ops::link::UseAgentsOutcome;
use skillpm_core::scope::agent_view::{Form, Role};
use skillpm_core::scope::plan::{Location, NewLink};
use skillpm_format::scope_kind::ScopeKind;

pub(crate) fn json(printer: &Printer, outcome: &AgentsOutcome) {
    printer.warnings(&outcome.warnings);
    printer.json(&outcome.agents);
}

pub(crate) fn table(printer: &Printer, outcome: &AgentsOutcome) {
    printer.warnings(&outcome.warnings);
    if nobody(printer, outcome) {
        return;
    }
    let header = ["agent", "found by", "in a project", "for the user", "links", "sees", "twice"];
    let mut table = Table::new(&header).state("links").number("sees").number("twice");
    for agent in &outcome.agents {
        let found = agent.found_by.first().map(|path| short(outcome, path)).unwrap_or_default();
        let links = match (agent.universal, agent.chosen.is_empty()) {
            (false, false) => "yes",
            (false, true) => "not chosen",
            _ => "not needed",
        };
        // That several directories lead to one skill is as it should be.
        let twice = match agent.twice.iter().filter(|twice| !twice.same).count() {
            0 => String::new(),
            some => some.to_string(),
        };
        table.row([
            agent.id,
            &found,
            &serving(outcome, agent, ScopeKind::Project),
            &serving(outcome, agent, ScopeKind::User),
            links,
            &agent.sees.to_string(),
            &twice,
        ]);
    }
    table.show(printer);
    printer.hints(&outcome.hints());
}

/// Returns the directory of `scope` that serves `agent`.
fn serving(outcome: &AgentsOutcome, agent: &AgentView, scope: ScopeKind) -> String {
    let dir = agent.directories.iter().find(|dir| dir.scope == scope);
    dir.map(|dir| short(outcome, &dir.path)).unwrap_or_default()
}

pub(crate) fn full(printer: &Printer, outcome: &AgentsOutcome) {
    printer.warnings(&outcome.warnings);
    if nobody(printer, outcome) {
        return;
    }
    for (at, agent) in outcome.agents.iter().enumerate() {
        let between = if at == 0 { "" } else { "\n" };
        printer.data(&format!("{between}{}", page(outcome, agent, printer.look().verbose)));
        if let Some(found) = &agent.listing {
            listing::details(printer, found, &outcome.roots);
        }
    }
    printer.hints(&outcome.hints());
}

/// Prints which agents the user uses, and who sees what now.
pub(crate) fn used(printer: &Printer, outcome: &UseAgentsOutcome) {
    printer.warnings(&outcome.warnings);
    for NewLink { place, name, .. } in &outcome.links {
        if let Location::Agent(agent) = place {
            printer.status("+", &format!("{name} for {agent}"));
        }
    }
    if outcome.dry_run {
        return steps::plan(printer, &outcome.paths);
    }
    printer.note(&match &outcome.agents {
        Some(agents) if agents.is_empty() => format!("you use no agents: `{}` says so", outcome.manifest),
        Some(agents) => format!("you use {}: `{}` says so", and(agents), outcome.manifest),
        None => "the agents that are found on the machine count as yours".to_owned(),
    });
}

/// Prints what the newest session says beside what is computed.
pub(crate) fn check(printer: &Printer, outcome: &CheckOutcome) {
    for line in &outcome.different {
        printer.data(&format!(
            "{}\n  computed: {}\n  listed:   {}\n",
            one_line(&line.name),
            one_line(&line.computed),
            one_line(&line.listed)
        ));
    }
    let told = |names: &[String], what: &str| {
        if !names.is_empty() {
            printer.note(&format!("{what}: {}", super::quoted(names)));
        }
    };
    told(&outcome.by_name, "listed by name only, for want of room");
    told(&outcome.not_listed, "computed, but not listed");
    told(&outcome.not_computed, "listed, but not computed: its own skills are among them");
    printer.note(&format!(
        "{} as computed, in {}",
        count(outcome.equal, "skill"),
        one_line(&outcome.session)
    ));
}

fn nobody(printer: &Printer, outcome: &AgentsOutcome) -> bool {
    if outcome.agents.is_empty() {
        printer.note("no agent was found on this machine");
        printer.hints(&outcome.hints());
    }
    outcome.agents.is_empty()
}

fn page(outcome: &AgentsOutcome, agent: &AgentView, verbose: bool) -> String {
    let mut text = format!("{} ({})\n", agent.id, agent.name);
    let mut line = |words: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {words}");
    };
    if agent.detected {
        let signs: Vec<_> = agent.found_by.iter().map(|path| short(outcome, path)).collect();
        line(&format!("found by {}", and(&signs)));
    } else {
        line("not found on this machine");
    }
    line(match (agent.universal, agent.chosen.is_empty()) {
        (false, false) => "gets a link to each skill",
        (false, true) => "needs links, but no `skillpm.toml` here names it: `--agent` adds it",
        _ => "reads the canonical copies and needs no links",
    });
    match &agent.listing {
        Some(found) => listing::summary(found).iter().for_each(|words| line(words)),
        None => line("how it lists skills is unknown: these are the directories that it is said to read"),
    }
    for dir in agent.directories.iter().filter(|dir| dir.exists || agent.listing.is_none()) {
        line(&directory(outcome, dir));
        // What its model sees says more.
        let skills = dir.skills.iter().filter(|_| verbose || agent.listing.is_none());
        for skill in skills {
            line(&format!("  {}", what(skill)));
        }
    }
    // Of an agent whose rules are known, what it lists says which one counts.
    let same = agent.twice.iter().filter(|twice| twice.same && agent.listing.is_none()).count();
    if same > 0 {
        let skills = count(same, "skill");
        line(&format!("finds {skills} in more than one of these directories: each is one skill"));
    }
    for twice in agent.twice.iter().filter(|twice| !twice.same && agent.listing.is_none()) {
        let places: Vec<_> = twice.places.iter().map(|path| short(outcome, path)).collect();
        line(&format!("twice: {} in {} (different directories)", one_line(&twice.name), and(&places)));
    }
    text
}

fn directory(outcome: &AgentsOutcome, dir: &DirectoryView) -> String {
    let role = match dir.role {
        Role::Canonical => "canonical copies",
        Role::Own => "its own",
        Role::Other => "in some versions or tools",
        Role::Shared => "another agent's directory, read too",
    };
    let seen = dir.skills.iter().filter(|skill| skill.form != Form::Broken).count();
    let holds = match (&dir.problem, dir.exists) {
        (Some(problem), _) => one_line(problem),
        (None, false) => "not there".to_owned(),
        (None, true) => count(seen, "skill"),
    };
    format!("{} of the {}, {role}: {holds}", short(outcome, &dir.path), dir.scope)
}

fn what(skill: &SkillView) -> String {
    let what = match skill.form {
        Form::Canonical => "canonical copy",
        Form::Link => "link to the canonical copy",
        Form::Copy => "copy",
        Form::Foreign => "not from skillpm",
        Form::Broken => "broken link",
    };
    let name = one_line(&skill.name);
    match &skill.target {
        Some(target) if skill.form != Form::Link => format!("{name}: {what}, link to {}", one_line(target)),
        _ => format!("{name}: {what}"),
    }
}

fn short(outcome: &AgentsOutcome, path: &str) -> String {
    super::short_path(&outcome.roots, path)
}
