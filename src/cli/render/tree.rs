//! `tree`: lines and branches.

use std::collections::BTreeSet;

use super::{one_line, short_revision};
use crate::cli::printer::Printer;
use skillpm_core::hints::first_install;
use skillpm_core::ops::tree::{NeedView, TreeOutcome, TreeSkill};
use skillpm_format::scope_kind::ScopeKind;
use skillpm_format::text::without_secrets;

/// The maximum depth of a drawn tree.
const DEPTH: usize = 50;

pub(crate) fn json(printer: &Printer, outcome: &TreeOutcome) {
    printer.warnings(&outcome.warnings);
    let wanted = |one: &&TreeSkill| outcome.scope.is_none_or(|only| one.skill.scope == only);
    printer.json(&outcome.skills.iter().filter(wanted).collect::<Vec<_>>());
}

pub(crate) fn show(printer: &Printer, outcome: &TreeOutcome, agents: bool) {
    printer.warnings(&outcome.warnings);
    if outcome.skills.is_empty() {
        printer.note("no skills are installed here");
        printer.hints([&first_install(outcome.scope)]);
        return;
    }
    let mut drawing = Drawing {
        outcome,
        agents,
        text: String::new(),
        drawn: BTreeSet::new(),
        lacks: false,
        above: Vec::new(),
    };
    if let Some(name) = &outcome.absent {
        drawing.end_line(&format!("{}: not installed", one_line(name)));
        if outcome.inverted {
            drawing.branches(outcome.lacking(name).into_iter().map(Branch::Skill).collect(), "");
        }
    }
    for scope in [ScopeKind::Project, ScopeKind::User] {
        let roots: Vec<_> =
            outcome.roots.iter().filter(|at| outcome.skills[**at].skill.scope == scope).collect();
        if !roots.is_empty() {
            let place = outcome.places.get(&scope).map_or("", String::as_str);
            drawing.end_line(&format!("{scope} ({})", one_line(place)));
            drawing.branches(roots.into_iter().map(|at| Branch::Skill(*at)).collect(), "");
        }
    }
    printer.data(&drawing.text);
    if drawing.lacks {
        printer.note("some skills need others that are not installed");
    }
}

struct Drawing<'a> {
    outcome: &'a TreeOutcome,
    agents: bool,
    text: String,
    /// Skills whose branches have been drawn.
    drawn: BTreeSet<usize>,
    /// Whether something needed is missing.
    lacks: bool,
    /// The skills on the path to the current line.
    above: Vec<usize>,
}

/// A line below another one.
enum Branch<'a> {
    Skill(usize),
    Absent(&'a NeedView),
}

impl<'a> Drawing<'a> {
    fn end_line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn branches(&mut self, branches: Vec<Branch<'a>>, prefix: &str) {
        let count = branches.len();
        for (number, branch) in branches.into_iter().enumerate() {
            let last = number + 1 == count;
            let (line, below) = if last { ("└── ", "    ") } else { ("├── ", "│   ") };
            self.text.push_str(prefix);
            self.text.push_str(line);
            match branch {
                Branch::Skill(at) => self.skill(at, &format!("{prefix}{below}")),
                Branch::Absent(need) => {
                    self.lacks = true;
                    let why = need.problem.as_deref().unwrap_or("not installed");
                    self.end_line(&format!("{}: {}", one_line(&need.text), one_line(why)));
                }
            }
        }
    }

    fn skill(&mut self, at: usize, prefix: &str) {
        let one = &self.outcome.skills[at];
        self.text.push_str(&self.line(one));
        let below = self.below(at);
        let end = if self.above.contains(&at) {
            " (cycle)"
        } else if self.above.len() >= DEPTH && !below.is_empty() {
            " (and so on)"
        } else if self.drawn.contains(&at) && !below.is_empty() {
            " (above)"
        } else {
            ""
        };
        self.text.push_str(end);
        self.text.push('\n');
        if end.is_empty() {
            self.drawn.insert(at);
            self.above.push(at);
            self.branches(below, prefix);
            self.above.pop();
        }
    }

    fn below(&self, at: usize) -> Vec<Branch<'a>> {
        let outcome: &'a TreeOutcome = self.outcome;
        if outcome.inverted {
            return outcome.dependents(at).iter().map(|other| Branch::Skill(*other)).collect();
        }
        let branch = |(need, target): (&'a NeedView, Option<usize>)| {
            target.map_or(Branch::Absent(need), Branch::Skill)
        };
        outcome.dependencies(at).map(branch).collect()
    }

    fn line(&self, one: &TreeSkill) -> String {
        let skill = &one.skill;
        let mut line = skill.name.clone();
        if let Some(version) = &skill.version {
            line = format!("{line} {version}");
        }
        // Below a skill of the project, one of the user is marked.
        let elsewhere =
            self.above.last().is_some_and(|above| self.outcome.skills[*above].skill.scope != skill.scope);
        if elsewhere {
            line = format!("{line}, of the {}", skill.scope);
        }
        if let Some(own) = &skill.alias_of {
            line = format!("{line}, alias of {own}");
        }
        if let Some(source) = &skill.source {
            let at = skill.revision.as_deref().map(|revision| format!(" at {}", short_revision(revision)));
            line = format!("{line} ({}{})", without_secrets(source), at.unwrap_or_default());
        }
        let marks = one.marks();
        if !marks.is_empty() {
            line = format!("{line}: {}", marks.join(", "));
        }
        if self.agents && !skill.agents.is_empty() {
            line = format!("{line} [{}]", skill.agents.join(", "));
        }
        one_line(&line)
    }
}
